//! Short float sums and products, as there are inside of other loops.
//!
//! The C compiler adds up the lanes of a vector one after the other, which takes longer than a sum of a few dozen numbers
//! itself. Here the lanes are added in pairs, and what does not fill a vector is one vector more, with nothing in the lanes
//! that are too many:
//!
//!     for k < count / LANES { for l < LANES { part[l] = f(k * LANES + l) } lanes += part }
//!     if (any are left)     { for l < LANES { part[l] = is there one ? f(rest + l) : -0.0 } lanes += part }
//!     sum += total(lanes)
//!
//! The negative zero changes no sum, be it one of nothing or of negative zeros; for products, it is one. Where vector units cannot leave out lanes, the
//! rest is added up in order.

use dagaz_core::effects::can_fail;
use dagaz_core::exp::Body;
use dagaz_core::machine;
use dagaz_core::operator::components;
use dagaz_core::prim::{BinOp, Prim, PrimType};
use dagaz_core::types::Param;

use super::folds::Fold;
use super::maps::calls_vector_functions;
use super::{Lower, Lowered};
use crate::RemarkKind;
use crate::imp::{Combine, Expr, Len, LoopKind, Operand, Repr, Runtime, StackArray, Stm, Var};

/// What lanes are for.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    ty: PrimType,
    combine: Combine,
    op: BinOp,
    /// What changes nothing.
    neutral: f64,
}

/// The sums or products that all components of a fold are, if lanes can be used for it: nothing fails, and functions such as
/// `exp`, which are not there for lanes that may be too many, are not called.
pub(super) fn lanes_for(fold: &Fold<'_>) -> Option<Lanes> {
    let operations = components(fold.op)?;
    let first = *operations.first()?;
    let (op, ty) = (first.op, first.ty);
    let lanes = match op {
        BinOp::Add => Lanes { ty, combine: Combine::Add, op, neutral: -0.0 },
        BinOp::Mul => Lanes { ty, combine: Combine::Multiply, op, neutral: 1.0 },
        _ => return None,
    };
    let is_float = matches!(lanes.ty, PrimType::F32 | PrimType::F64)
        && operations.iter().all(|o| (o.op, o.ty) == (op, ty));
    let is_short = fold
        .width
        .as_const()
        .and_then(|p| p.as_i64())
        .is_some_and(|width| width < machine::UNROLLED_SUM_ROWS);
    let is_plain =
        |body: &Body| !body.stms.iter().any(|stm| can_fail(&stm.exp)) && !calls_vector_functions(body);
    (is_float && !is_short && fold.pre.is_none_or(|pre| is_plain(&pre.body))).then_some(lanes)
}

impl Lower<'_> {
    /// Adds the rows from `from` up to `to` to the left parameters of the operator, which have their first values.
    pub(super) fn fold_in_lanes(
        &mut self,
        fold: &Fold<'_>,
        lanes: Lanes,
        (from, to): (&Expr, &Expr),
    ) -> Lowered<()> {
        self.remark(RemarkKind::Simd, "a loop for vector units, which adds up in any order");
        let Lanes { ty, combine, .. } = lanes;
        let (left, right) = fold.sides();
        let width = || Expr::call(Runtime::CountLanes(ty), []);
        let blocks = self.int("blocks", (to - from) / width());
        let rest = self.int("rest", from + &blocks * width());
        let neutral = || Expr::call(Runtime::NeutralLanes(ty, combine), []);
        let sums: Vec<Var> =
            left.iter().map(|_| self.temp_with(Repr::Lanes(ty), "lanes", neutral())).collect();
        self.for_loop(LoopKind::Sequential, blocks, |l, block| {
            l.add_to_lanes(fold, lanes, &sums, from + block * width(), |l, i| {
                l.next_row(fold.arrays, fold.pre, right, i)?;
                right.iter().map(|param| l.var_of(param)).collect()
            })
        })?;
        let (then, ()) = self.nested(|l| l.add_rest_to_lanes(fold, lanes, &sums, (&rest, to)))?;
        let (otherwise, ()) = self.nested(|l| {
            l.loop_from(LoopKind::Sequential, &rest, to, |l, i| {
                l.next_row(fold.arrays, fold.pre, right, i)?;
                left.iter().for_each(|p| l.bind(p, true));
                l.combine(fold.op)
            })
        })?;
        let has_masks = Expr::call(Runtime::HasMasks, []);
        self.out.push(Stm::branch(has_masks.both(rest.is_below(to)), then, otherwise));
        for (param, lane) in left.iter().zip(sums) {
            let total = self.var_of(param)?;
            let lanes_together = Expr::call(Runtime::CombineLanes(ty, combine), [lane.expr()]);
            self.put(&total, total.op(lanes.op, lanes_together));
        }
        Ok(())
    }

    /// Adds the last rows, which are fewer than there are lanes.
    fn add_rest_to_lanes(
        &mut self,
        fold: &Fold<'_>,
        lanes: Lanes,
        sums: &[Var],
        (rest, to): (&Var, &Expr),
    ) -> Lowered<()> {
        let right = fold.sides().1;
        self.add_to_lanes(fold, lanes, sums, rest.expr(), |l, i| {
            let neutral = match lanes.ty {
                PrimType::F32 => Prim::F32(lanes.neutral as f32),
                _ => Prim::F64(lanes.neutral),
            };
            let values: Vec<Var> = right.iter().map(|_| l.temp_with(lanes.ty, "value", neutral)).collect();
            let (then, ()) = l.nested(|l| {
                l.next_row(fold.arrays, fold.pre, right, i)?;
                for (value, param) in values.iter().zip(right) {
                    l.put(value, l.var_of(param)?);
                }
                Ok(())
            })?;
            l.out.push(Stm::when(i.is_below(to), then));
            Ok(values)
        })
    }

    /// Adds the rows from `first` on, as many as there are lanes, each to its own one. `row` gives names of what to add.
    fn add_to_lanes(
        &mut self,
        fold: &Fold<'_>,
        Lanes { ty, op, .. }: Lanes,
        sums: &[Var],
        first: Expr,
        row: impl FnOnce(&mut Self, &Var) -> Lowered<Vec<Var>>,
    ) -> Lowered<()> {
        let right: &[Param] = fold.sides().1;
        let parts: Vec<Var> = right.iter().map(|_| self.temp(Repr::pointer(ty), "part")).collect();
        for part in &parts {
            self.out.push(Stm::StackArray(StackArray { len: Len::Lanes(1), ..StackArray::of(part, 0) }));
        }
        self.for_loop(LoopKind::SIMD, Expr::call(Runtime::CountLanes(ty), []), |l, lane| {
            let i = l.int("i", first + lane);
            let values = row(l, &i)?;
            for (part, value) in parts.iter().zip(&values) {
                l.write(part, lane, value);
            }
            Ok(())
        })?;
        for (sum, part) in sums.iter().zip(parts) {
            let loaded = Expr::call(Runtime::LoadLanes(ty), [part.expr()]);
            self.put(sum, sum.op(op, loaded));
        }
        Ok(())
    }
}
