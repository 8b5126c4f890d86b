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

use dagaz_core::exp::Body;
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::Param;

use super::folds::{Fold, components};
use super::parallel::{calls_vector_functions, can_fail};
use super::{Lower, Lowered};
use crate::RemarkKind;
use crate::imp::{LoopKind, Stm};

/// The C compiler unrolls sums of fewer rows, if it knows that.
const FEW: i64 = 16;

/// What lanes are for.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    ty: PrimType,
    operator: char,
    /// What changes nothing.
    neutral: &'static str,
    /// The function for all lanes together.
    total: &'static str,
}

/// The sums or products that all components of a fold are, if lanes can be used for it: nothing fails, and functions such as
/// `exp`, which are not there for lanes that may be too many, are not called.
pub(super) fn lanes_for(fold: &Fold<'_>) -> Option<Lanes> {
    let operations = components(fold.op)?;
    let first = *operations.first()?;
    let lanes = match first {
        (BinOp::Add, ty) => Lanes { ty, operator: '+', neutral: "-0.0", total: "total" },
        (BinOp::Mul, ty) => Lanes { ty, operator: '*', neutral: "1.0", total: "multiplied" },
        _ => return None,
    };
    let is_float =
        matches!(lanes.ty, PrimType::F32 | PrimType::F64) && operations.iter().all(|o| *o == first);
    let is_short = fold.width.as_const().and_then(|p| p.as_i64()).is_some_and(|width| width < FEW);
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
        (from, to): (&str, &str),
    ) -> Lowered<()> {
        self.remark(RemarkKind::Simd, "a loop for vector units, which adds up in any order");
        let Lanes { ty, operator, neutral, total } = lanes;
        let (left, right) = fold.sides();
        let (blocks, rest) = (self.temp("blocks"), self.temp("rest"));
        self.set("i64", blocks.as_str(), format!("({to} - {from}) / DZ_LANES_{ty}"));
        self.set("i64", rest.as_str(), format!("{from} + {blocks} * DZ_LANES_{ty}"));
        let names: Vec<String> = left.iter().map(|_| self.temp("lanes")).collect();
        for name in &names {
            // Adding zero to a vector of zeros would make them positive.
            let value = match operator {
                '+' => format!("-(dz_sums_{ty}){{0}}"),
                _ => format!("(dz_sums_{ty}){{0}} + {neutral}"),
            };
            self.set(format!("dz_sums_{ty}"), name.as_str(), value);
        }
        self.for_loop(LoopKind::Sequential, &blocks, |l, block| {
            l.add_to_lanes(fold, lanes, &names, &format!("{from} + {block} * DZ_LANES_{ty}"), |l, i| {
                l.next_row(fold.arrays, fold.pre, right, i)?;
                Ok(right.iter().map(|p| l.name(p.var)).collect())
            })
        })?;
        let (then, ()) = self.nested(|l| l.add_rest_to_lanes(fold, lanes, &names, (&rest, to)))?;
        let (otherwise, ()) = self.nested(|l| {
            l.loop_from(LoopKind::Sequential, &rest, to, |l, i| {
                l.next_row(fold.arrays, fold.pre, right, i)?;
                left.iter().for_each(|p| l.bind(p, true));
                l.combine(fold.op)
            })
        })?;
        self.out.push(Stm::If { cond: format!("DZ_MASKS && {rest} < {to}"), then, otherwise });
        for (param, name) in left.iter().zip(&names) {
            let sum = self.name(param.var);
            self.line(format!("{sum} {operator}= dz_{total}_{ty}({name});"));
        }
        Ok(())
    }

    /// Adds the last rows, which are fewer than there are lanes.
    fn add_rest_to_lanes(
        &mut self,
        fold: &Fold<'_>,
        lanes: Lanes,
        names: &[String],
        (rest, to): (&str, &str),
    ) -> Lowered<()> {
        let right = fold.sides().1;
        self.add_to_lanes(fold, lanes, names, rest, |l, i| {
            let values: Vec<String> = right.iter().map(|_| l.temp("value")).collect();
            for value in &values {
                l.set(lanes.ty.to_string(), value.as_str(), lanes.neutral);
            }
            let (then, ()) = l.nested(|l| {
                l.next_row(fold.arrays, fold.pre, right, i)?;
                for (value, param) in values.iter().zip(right) {
                    let computed = l.name(param.var);
                    l.line(format!("{value} = {computed};"));
                }
                Ok(())
            })?;
            l.out.push(Stm::If { cond: format!("{i} < {to}"), then, otherwise: Vec::new() });
            Ok(values)
        })
    }

    /// Adds the rows from `first` on, as many as there are lanes, each to its own one. `row` gives names of what to add.
    fn add_to_lanes(
        &mut self,
        fold: &Fold<'_>,
        Lanes { ty, operator, .. }: Lanes,
        names: &[String],
        first: &str,
        row: impl FnOnce(&mut Self, &str) -> Lowered<Vec<String>>,
    ) -> Lowered<()> {
        let right: &[Param] = fold.sides().1;
        let parts: Vec<String> = right.iter().map(|_| self.temp("part")).collect();
        for part in &parts {
            self.line(format!("{ty} {part}[DZ_LANES_{ty}];"));
        }
        self.for_loop(LoopKind::SIMD, &format!("DZ_LANES_{ty}"), |l, lane| {
            let i = l.temp("i");
            l.set("i64", i.as_str(), format!("{first} + {lane}"));
            let values = row(l, &i)?;
            for (part, value) in parts.iter().zip(&values) {
                l.line(format!("{part}[{lane}] = {value};"));
            }
            Ok(())
        })?;
        for (name, part) in names.iter().zip(&parts) {
            self.line(format!("{name} {operator}= dz_parts_{ty}({part});"));
        }
        Ok(())
    }
}
