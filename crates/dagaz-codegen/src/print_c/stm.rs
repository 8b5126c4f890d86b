//! Statements as lines of C.

use std::fmt::Display;
use std::fmt::Write as _;

use dagaz_core::prim::PrimType;

use crate::imp::{
    Combine, Expr, Launch, Len, LoopKind, Note, Operand, OutputPart, Place, Rate, Repr, Runtime, Site,
    StackArray, Stm, Var,
};
use crate::scalar::type_code;

use super::expr::{Level, print, site, text, type_of};
use super::{product, runtime, scalar};

/// Lines of C with the statements around them.
pub(super) struct Printer {
    pub(super) text: String,
    depth: usize,
}

impl Printer {
    pub(super) fn new(text: String) -> Printer {
        Printer { text, depth: 0 }
    }

    pub(super) fn line(&mut self, line: impl Display) {
        let _ = writeln!(self.text, "{:width$}{line}", "", width = 2 * self.depth);
    }

    /// What `print` prints, further in.
    pub(super) fn inside(&mut self, print: impl FnOnce(&mut Printer)) {
        self.depth += 1;
        print(self);
        self.depth -= 1;
    }

    pub(super) fn stms(&mut self, stms: &[Stm]) {
        stms.iter().for_each(|stm| self.stm(stm));
    }

    /// Statements in braces.
    fn body(&mut self, head: impl Display, stms: &[Stm]) {
        self.line(head);
        self.inside(|p| p.stms(stms));
        self.line("}");
    }

    fn stm(&mut self, stm: &Stm) {
        match stm {
            Stm::Declare { var, value: None } => self.line(format_args!("{};", declaration(var))),
            Stm::Declare { var, value: Some(value) } => {
                self.line(format_args!("{} = {};", declaration(var), print(value)));
            }
            Stm::StackArray(array) => self.stack_array(array),
            Stm::CopyTable { elem, values, target } => {
                let values: Vec<String> = values.iter().map(|value| scalar::literal(*value)).collect();
                let table = format!("static const {elem} table[] = {{{}}};", values.join(", "));
                self.line(format_args!("{{ {table} memcpy({}, table, sizeof table); }}", print(target)));
            }
            Stm::Assign(place, value) => self.assign(place, value),
            Stm::Do(function, operands) => self.line(format_args!("{};", call(*function, operands))),
            Stm::Attempt { runtime, operands, site } => {
                self.unless(&call(*runtime, operands), "dz_fail", *site);
            }
            Stm::Call { function, operands, results, site } => {
                let operands = operands.iter().map(print);
                let results = results.iter().map(|result| format!("&{result}"));
                let all: Vec<String> =
                    std::iter::once("ctx".to_string()).chain(operands).chain(results).collect();
                self.unless(&format!("{function}({})", all.join(", ")), "dz_called", *site);
            }
            Stm::Require(block) => self.line(format_args!("if (DZ_UNLIKELY(!{block})) return 1;")),
            Stm::Note(value) => {
                let code = type_code(element_type(value));
                self.line(format_args!("dz_note_scalar(ctx, {code}, {});", bits(value)));
            }
            Stm::NoteArray { elem, pointer, dims } => self.note_array(*elem, pointer, dims),
            Stm::Trace(told) => {
                let site = site(*told);
                self.line(format_args!("ctx->host->trace(ctx->user, {site}, ctx->notes, ctx->note_count);"));
                self.line("dz_forget_notes(ctx);");
            }
            Stm::Fail(told) => self.line(format_args!("return dz_fail(ctx, {});", site(*told))),
            Stm::Return => self.line("return 0;"),
            Stm::Break => self.line("break;"),
            Stm::Product(product) => self.line(product::call(product)),
            Stm::Launch(launch) => self.launch(launch),
            Stm::Block(body) => self.body("{", body),
            // Outlining has left no parallel loop; as one piece it is a block.
            Stm::Parallel(parallel) => self.body("{", &parallel.body),
            Stm::Loop { kind, var, from, to, note, body } => {
                self.counted_loop(kind, (var, from, to), note, body)
            }
            Stm::Forever { note, body } => self.body(format_args!("for (;;) {{{}", comment(note)), body),
            Stm::If { cond, rate, then, otherwise } => self.branches(cond, *rate, then, otherwise),
        }
    }

    /// Ends the function if something has failed.
    fn unless(&mut self, failed: &str, tell: &str, told: Option<Site>) {
        let result = told.map_or("1".to_string(), |told| format!("{tell}(ctx, {})", site(told)));
        self.line(format_args!("if ({failed}) return {result};"));
    }

    fn stack_array(&mut self, array: &StackArray) {
        let elem = array.elem().map_or("char", |elem| elem.name());
        let len = match array.len {
            Len::Fixed(len) => len.to_string(),
            Len::Lanes(times) => format!("{times} * DZ_LANES_{elem}"),
        };
        let rows = array.rows.map_or(String::new(), |rows| format!("[{rows}]"));
        let aligned = if array.is_aligned { "_Alignas(64) " } else { "" };
        let values: Vec<String> = array.values.iter().map(print).collect();
        let values = if values.is_empty() { String::new() } else { format!(" = {{{}}}", values.join(", ")) };
        self.line(format_args!("{aligned}{elem} {}{rows}[{len}]{values};", array.var));
    }

    fn assign(&mut self, place: &Place, value: &Expr) {
        let target = match place {
            Place::Var(var) => var.to_string(),
            Place::Element(pointer, place) => print(&pointer.at(place)),
            Place::Result(var) => format!("*{var}"),
            Place::Global(var) => print(&Expr::Global(var.clone())),
            Place::Output(number, OutputPart::Scalar) => {
                return self.line(format_args!("out[{number}].bits = {};", bits(value)));
            }
            Place::Output(number, OutputPart::Data) => format!("out[{number}].data"),
            Place::Output(number, OutputPart::Block) => format!("out[{number}].mem"),
            Place::Output(number, OutputPart::Dim(axis)) => format!("out[{number}].dims[{axis}]"),
        };
        self.line(format_args!("{target} = {};", print(value)));
    }

    fn note_array(&mut self, elem: PrimType, pointer: &Expr, dims: &[Expr]) {
        let (code, pointer, rank) = (type_code(elem), print(pointer), dims.len());
        let dims: Vec<String> = dims.iter().map(print).collect();
        let dims = format!("(i64[]){{{}}}", dims.join(", "));
        self.line(format_args!("dz_note_array(ctx, {code}, {pointer}, sizeof({elem}), {rank}, {dims});"));
    }

    fn counted_loop(
        &mut self,
        kind: &LoopKind,
        (var, from, to): (&Var, &Expr, &Expr),
        note: &Note,
        body: &[Stm],
    ) {
        self.kind(kind);
        let (from, to) = (print(from), text(to).above(Level::Relation));
        self.line(format_args!("for (i64 {var} = {from}; {var} < {to}; {var}++) {{{}", comment(note)));
        self.inside(|p| {
            if *kind == LoopKind::Scalar {
                p.line("DZ_NO_VECTORS();");
            }
            p.stms(body);
        });
        self.line("}");
    }

    fn branches(&mut self, cond: &Expr, rate: Rate, then: &[Stm], otherwise: &[Stm]) {
        match rate {
            Rate::Unknown => self.line(format_args!("if ({}) {{", print(cond))),
            Rate::Rarely => self.line(format_args!("if (DZ_UNLIKELY({})) {{", print(cond))),
        }
        self.inside(|p| p.stms(then));
        match otherwise.is_empty() {
            true => self.line("}"),
            false => self.body("} else {", otherwise),
        }
    }

    /// What the C compiler is told of a loop.
    fn kind(&mut self, kind: &LoopKind) {
        match kind {
            LoopKind::Sequential | LoopKind::Scalar => {}
            LoopKind::Unrolled(times) => self.line(format_args!("#pragma GCC unroll {times}")),
            LoopKind::Simd { sums } => {
                let clause =
                    |(combine, var): &(Combine, Var)| format!(" reduction({}:{var})", sign(*combine));
                let clauses: String = sums.iter().map(clause).collect();
                self.line(format_args!("#pragma omp simd{clauses}"));
            }
        }
    }

    fn launch(&mut self, launch: &Launch) {
        let Launch { task, outside, sites, count, grain, in_order, note } = launch;
        let mut fields: Vec<String> = outside.iter().map(Var::to_string).collect();
        self.line("{");
        self.inside(|p| {
            if !sites.is_empty() {
                let is_same = sites.iter().all(|site| matches!(site, Site::Number(_)));
                let kept = if is_same { "static " } else { "" };
                let sites: Vec<String> = sites.iter().map(|told| site(*told)).collect();
                p.line(format_args!("{kept}const i32 sites_{task}[] = {{{}}};", sites.join(", ")));
                fields.push(format!("sites_{task}"));
            }
            let fields = if fields.is_empty() { "0".to_string() } else { fields.join(", ") };
            p.line(format_args!("struct env_{task} env_{task} = {{{fields}}};{}", comment(note)));
            let run = if *in_order { "dz_parallel_in_order" } else { "dz_parallel" };
            let (count, grain) = (print(count), print(grain));
            p.line(format_args!("if ({run}(ctx, task_{task}, &env_{task}, {count}, {grain})) return 1;"));
        });
        self.line("}");
    }
}

/// A variable with its type.
pub(super) fn declaration(var: &Var) -> String {
    format!("{}{var}", type_of(var.repr))
}

fn comment(note: &Note) -> String {
    note.as_ref().map_or(String::new(), |note| format!(" // {note}"))
}

fn call(function: Runtime, operands: &[Expr]) -> String {
    let operands: Vec<_> = operands.iter().map(text).collect();
    runtime::call(function, &operands).text
}

fn element_type(value: &Expr) -> PrimType {
    match value.repr() {
        Repr::Scalar(ty) | Repr::Pointer(ty, _) | Repr::Lanes(ty) | Repr::Log(ty) => ty,
        Repr::Block | Repr::Flags => PrimType::I64,
    }
}

fn bits(value: &Expr) -> String {
    format!("dz_bits_{}({})", element_type(value), print(value))
}

/// The operator, as a clause of a loop has it.
fn sign(combine: Combine) -> &'static str {
    match combine {
        Combine::Add => "+",
        Combine::Multiply => "*",
        Combine::Min => "min",
        Combine::Max => "max",
        Combine::And => "&",
        Combine::Or => "|",
        Combine::Xor => "^",
    }
}
