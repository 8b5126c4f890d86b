//! Calls of the run-time library as C writes them.

use crate::imp::{Combine, Runtime};
use crate::scalar::type_code;

use super::expr::{Level, Text};

pub(super) fn call(function: Runtime, operands: &[Text]) -> Text {
    let of = |operands: &[Text]| operands.iter().map(|x| x.text.clone()).collect::<Vec<_>>().join(", ");
    let plain = |name: &str| Text::primary(format!("{name}({})", of(operands)));
    let with_context = |name: &str| Text::primary(format!("{name}(ctx, {})", of(operands)));
    let operand = |number: usize| operands.get(number).map_or("", |x| x.text.as_str());
    let at = |number: usize| operands.get(number).map_or(String::new(), |x| x.at(Level::Unary));
    let bytes = |number: usize, elem: dagaz_core::prim::PrimType| {
        let count = operands.get(number).map_or(String::new(), |x| x.at(Level::Product));
        format!("{count} * sizeof({elem})")
    };
    // The place may be none of the array.
    let address = |elem| format!("(u64){} + (u64)({}) * sizeof({elem})", at(0), operand(1));
    match function {
        Runtime::SaturatingProduct => plain("dz_times"),
        Runtime::SaturatingSum => plain("dz_plus"),
        Runtime::Grain => plain("dz_grain"),
        Runtime::CountParts => with_context("dz_count_parts"),
        Runtime::Alloc(elem) | Runtime::Unique(elem) => {
            let name = if matches!(function, Runtime::Alloc(_)) { "dz_alloc" } else { "dz_unique" };
            Text::primary(format!("{name}(ctx, {}, sizeof({elem}), {})", of(operands), type_code(elem)))
        }
        Runtime::IsUnique => with_context("dz_is_unique"),
        Runtime::IsSharedBy => with_context("dz_is_shared_by"),
        Runtime::Retain => with_context("dz_retain"),
        Runtime::Release => with_context("dz_release"),
        Runtime::Copy(elem) => {
            Text::primary(format!("memcpy({}, {}, {})", operand(0), operand(1), bytes(2, elem)))
        }
        Runtime::CopyOnThreads(elem) => {
            Text::primary(format!("dz_copy(ctx, {}, {}, {})", operand(0), operand(1), bytes(2, elem)))
        }
        Runtime::Zero(elem) => Text::primary(format!("memset({}, 0, {})", operand(0), bytes(1, elem))),
        Runtime::Nothing(elem) => Text::unary(format!("(const {elem} *)dz_nothing")),
        Runtime::Fetch(elem) => Text::primary(format!("DZ_FETCH({}, {})", address(elem), operand(2))),
        Runtime::FetchRow(elem) => {
            Text::primary(format!("DZ_FETCH_ROW({}, {}, {})", address(elem), bytes(2, elem), operand(3)))
        }
        Runtime::FetchNextRow(elem) => {
            Text::primary(format!("DZ_FETCH_NEXT_ROW({}, {})", operand(0), bytes(1, elem)))
        }
        Runtime::CountCopies => plain("dz_copies"),
        Runtime::CountAccCopies => plain("dz_acc_copies"),
        Runtime::IsLogged => plain("dz_is_logged"),
        Runtime::LogGrain => plain("dz_log_grain"),
        Runtime::CountLogParts => Text::primary("DZ_PARTS"),
        Runtime::BeginTurns => plain("dz_begin_turns"),
        Runtime::OpenLog(elem) => Text::primary(format!(
            "DZ_UNLIKELY(dz_open_log_{elem}(ctx, {}, &{}, {}, {}, (char *)({}), {}))",
            operand(0),
            operand(1),
            operand(2),
            operand(3),
            operand(4),
            of(&operands[5..])
        )),
        Runtime::AddToLog(elem) => {
            Text::primary(format!("DZ_UNLIKELY(dz_add_{elem}(ctx, &{}))", of(operands)))
        }
        Runtime::CloseLog(elem) => {
            Text::primary(format!("DZ_UNLIKELY(dz_close_log_{elem}(ctx, &{}))", of(operands)))
        }
        Runtime::CountThreads => Text::primary("ctx->threads"),
        Runtime::WaitFor => with_context("dz_wait_for"),
        Runtime::Raise => {
            Text::primary(format!("__atomic_store_n(&{}[{}], 1, __ATOMIC_RELEASE)", operand(0), operand(1)))
        }
        Runtime::Choose(ty) => plain(&format!("dz_select_{ty}")),
        Runtime::InRegister => plain("DZ_IN_REGISTER"),
        Runtime::CountLanes(ty) => Text::primary(format!("DZ_LANES_{ty}")),
        // Adding zero to a vector of zeros would make them positive.
        Runtime::NeutralLanes(ty, Combine::Add) => Text::unary(format!("-(dz_sums_{ty}){{0}}")),
        Runtime::NeutralLanes(ty, _) => Text::new(Level::Sum, format!("(dz_sums_{ty}){{0}} + 1.0")),
        Runtime::LoadLanes(ty) => plain(&format!("dz_parts_{ty}")),
        Runtime::CombineLanes(ty, Combine::Add) => plain(&format!("dz_total_{ty}")),
        Runtime::CombineLanes(ty, _) => plain(&format!("dz_multiplied_{ty}")),
        Runtime::HasMasks => Text::primary("DZ_MASKS"),
        Runtime::RoomFor(_) => plain("dz_room_for"),
        Runtime::Turned => plain("dz_turned"),
        Runtime::Turn => plain("dz_turn"),
        Runtime::Enter => Text::primary("dz_enter(ctx)"),
        Runtime::Leave => Text::unary("ctx->depth--"),
        Runtime::Tick => Text::primary("DZ_TICK(ctx)"),
        Runtime::ProfileStart => Text::primary(format!("dz_profile_start(ctx, &{})", operand(0))),
        Runtime::ProfileStop => with_context("dz_profile_stop"),
    }
}
