//! Leaves the last few cheap operations of a map to the one operation that needs their result, where the rest of the map is
//! needed elsewhere.
//!
//! ```text
//! let (ys: [n]f64, zs: [n]f64) = map n (xs)        let (ys: [n]f64) = map n (xs) \(x: f64) : (f64) ->
//!   \(x: f64) : (f64, f64) ->                        let (y: f64) = f64.exp x
//!     let (y: f64) = f64.exp x                       in (y)
//!     let (z: f64) = f64.neg y              ==>    let (s: f64) = reduce n (ys)
//!     in (y, z)                                      pre \(y: f64) : (f64) ->
//! let (s: f64) = reduce n (zs) op (+) …                let (z: f64) = f64.neg y
//!                                                      in (z)  op (+) …
//! ```
//!
//! One array less is written, and as many are read. Up to four additions, multiplications, comparisons and the like may
//! be done twice for that; divisions and elementary functions never are.
//!
//! An array of integers that is another one with smaller integers is converted wherever it is read, row by row, however
//! often that is: indices are `i64` in the end, and need not be so in memory.

use std::collections::HashSet;

use dagaz_core::cost::{Cost, scalar_cost};
use dagaz_core::exp::{Exp, Lambda, Stm};
use dagaz_core::machine;
use dagaz_core::rename::Substitution;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{direct_operands, operands_mut};

use super::{Fuser, Seen, rows};

/// What makes an element of an array out of an element of another one.
struct Tail {
    /// The place of the array among those that the operation takes.
    slot: usize,
    source: VarId,
    /// The variable that stands for an element of the source.
    element: VarId,
    stms: Vec<Stm>,
    result: VarId,
}

/// An array of integers as another one has them, converted.
pub(super) struct Widened {
    width: Atom,
    source: VarId,
    element: VarId,
    stms: Vec<Stm>,
    result: VarId,
}

impl Fuser<'_> {
    /// Notes what is but a conversion of an array that keeps its elements.
    pub(super) fn note_widened(&mut self, stm: &Stm) {
        let Exp::Map { width, arrays, lambda } = &stm.exp else { return };
        for (param, result) in stm.pat.iter().zip(&lambda.body.result) {
            let Some(result) = result.as_var() else { continue };
            let is_made = |stm: &&Stm| stm.pat.iter().any(|p| p.var == result);
            let Some(made) = lambda.body.stms.iter().find(is_made) else { continue };
            let Exp::Convert(from, to, Atom::Var(element)) = made.exp else { continue };
            let Some(row) = lambda.params.iter().position(|p| p.var == element) else { continue };
            let source = arrays[row];
            let is_larger = from.is_int() && to.is_int() && from.bytes() <= to.bytes();
            let is_kept =
                !self.sharing.roots(source.into()).any(|root| self.sharing.consumed.contains(&root));
            if is_larger && is_kept && !self.numbers.contains(&source) {
                let stms = vec![made.clone()];
                self.widened.insert(param.var, Widened { width: *width, source, element, stms, result });
            }
        }
    }

    /// Whether the statement now does the last operations of a map itself.
    pub(super) fn sink(&mut self, stm: &mut Stm, seen: &Seen) -> bool {
        let Some(tail) = self.tail(stm, seen) else { return false };
        let Some(ty) = self.sharing.types.get(&tail.source).and_then(Type::row) else { return false };
        let loc = stm.loc;
        let Some((arrays, _)) = self.row_function(&mut stm.exp) else { return false };
        let made = std::mem::replace(&mut arrays[tail.slot], tail.source);
        self.uses.entry(made).and_modify(|uses| *uses -= 1);
        *self.uses.entry(tail.source).or_default() += 1;
        let mut copy = Substitution::default();
        let element = self.fresh_like(tail.element);
        copy.insert(tail.element, element.into());
        let mut stms = Vec::with_capacity(tail.stms.len() + 1);
        for mut stm in tail.stms {
            operands_mut(&mut stm.exp, &mut |atom| copy.apply(atom));
            for param in &mut stm.pat {
                let fresh = self.fresh_like(param.var);
                copy.insert(param.var, fresh.into());
                param.var = fresh;
            }
            stms.push(stm);
        }
        let Some((_, lambda)) = self.row_function(&mut stm.exp) else { return false };
        let param = std::mem::replace(&mut lambda.params[tail.slot], Param::new(element, ty));
        stms.push(Stm { pat: vec![param], exp: Exp::Atom(copy.of(tail.result.into())), loc });
        lambda.body.stms.splice(0..0, stms);
        true
    }

    fn fresh_like(&mut self, var: VarId) -> VarId {
        let hint = self.vars.hint(var).to_owned();
        self.vars.fresh(&hint)
    }

    fn tail(&self, stm: &Stm, seen: &Seen) -> Option<Tail> {
        let (width, arrays) = rows(&stm.exp)?;
        let widened = arrays.iter().enumerate().find_map(|(slot, array)| {
            let Widened { width: own, source, element, stms, result } = self.widened.get(array)?;
            let (source, element, result) = (*source, *element, *result);
            (*own == width).then(|| Tail { slot, source, element, stms: stms.clone(), result })
        });
        if widened.is_some() {
            return widened;
        }
        arrays.iter().enumerate().find_map(|(slot, array)| {
            let position = *seen.maps.get(array)?;
            let first = &seen.stms[position];
            let Exp::Map { width: own, arrays: inputs, lambda } = &first.exp else { return None };
            if *own != width || self.uses.get(array) != Some(&1) {
                return None;
            }
            let number = first.pat.iter().position(|p| p.var == *array)?;
            let result = lambda.body.result[number].as_var()?;
            let source_of = |var: VarId| -> Option<VarId> {
                let is_kept = |p: &Param| p.var != *array && self.uses.get(&p.var).is_some_and(|u| *u > 0);
                let results = first.pat.iter().zip(&lambda.body.result);
                let mut others = results.filter(|(p, r)| is_kept(p) && **r == Atom::Var(var));
                let other = others.next().map(|(p, _)| p.var);
                let row = || lambda.params.iter().position(|p| p.var == var).map(|i| inputs[i]);
                other.or_else(row)
            };
            let (stms, element) = slice(lambda, result, &|var| source_of(var).is_some())?;
            let source = source_of(element)?;
            let is_scalar = matches!(self.sharing.types.get(&source)?.row()?, Type::Prim(_));
            let tail = Tail { slot, source, element, stms, result };
            (is_scalar && !self.is_consumed_until(source, position, stm, seen)).then_some(tail)
        })
    }

    /// Whether an array is consumed after a statement, or by the one that is to read it.
    fn is_consumed_until(&self, array: VarId, position: usize, to: &Stm, seen: &Seen) -> bool {
        let mut consumed = HashSet::new();
        for stm in seen.stms[position + 1..].iter().chain([to]) {
            self.consumed_in(&stm.exp, &mut consumed);
        }
        self.sharing.roots(array.into()).chain([array]).any(|root| consumed.contains(&root))
    }
}

/// The statements that make the result from the one variable that is available, if they are few and cheap.
fn slice(lambda: &Lambda, result: VarId, is_available: &dyn Fn(VarId) -> bool) -> Option<(Vec<Stm>, VarId)> {
    let mut needed = HashSet::from([result]);
    let mut leaf = None;
    let mut stms = Vec::new();
    for stm in lambda.body.stms.iter().rev() {
        let [param] = &stm.pat[..] else {
            if stm.pat.iter().any(|p| needed.contains(&p.var)) {
                return None;
            }
            continue;
        };
        if !needed.remove(&param.var) {
            continue;
        }
        if param.var != result && is_available(param.var) {
            if leaf.replace(param.var).is_some_and(|other| other != param.var) {
                return None;
            }
            continue;
        }
        if stms.len() == machine::SUNK_STATEMENTS
            || scalar_cost(&stm.exp).is_none_or(|cost| cost > Cost::Short)
        {
            return None;
        }
        direct_operands(&stm.exp, &mut |atom| needed.extend(atom.as_var()));
        stms.push(stm.clone());
    }
    for param in lambda.params.iter().filter(|p| needed.contains(&p.var)) {
        if !is_available(param.var) || leaf.replace(param.var).is_some() {
            return None;
        }
    }
    stms.reverse();
    (!stms.is_empty()).then_some((stms, leaf?))
}
