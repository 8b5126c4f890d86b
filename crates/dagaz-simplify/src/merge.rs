//! Branches: one value from two, of which one is chosen at run time.
//!
//! Both values are brought to a common skeleton. Functions with different code become a choice between them, as
//! data: a tag, and what each alternative captured. Sizes that differ become results in front of the arrays.
//!
//! ```text
//! if c then (\x -> x + a) else (\x -> x * b)
//! ==>     let (tag: i8, a': i32, b': i32) = if c then (0, a, 0) else (1, 0, b)
//! ```

use std::collections::BTreeMap;
use std::rc::Rc;

use dagaz_core::exp::{Body, Exp};
use dagaz_core::prim::{CmpOp, Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type};

use crate::context::{Res, Simplifier};
use crate::effects::{CellId, mentions_reference};
use crate::value::{ArrayVal, ChoiceVal, SVal, SumVal, tag};
use crate::walk::{Path, Walker, flatten, leaf_types, rebuild, walk};

/// A skeleton that both values can be brought to, if there is one. Its sizes and leaves mean nothing.
pub(crate) fn common_skeleton(a: &SVal, b: &SVal) -> Option<SVal> {
    Some(match (a, b) {
        (SVal::Absent, other) | (other, SVal::Absent) => other.clone(),
        (SVal::Scalar(p, _), SVal::Scalar(q, _)) if p == q => a.clone(),
        (SVal::Array(x), SVal::Array(y)) => SVal::array(x.dim, common_skeleton(&x.elem, &y.elem)?),
        (SVal::Record(xs), SVal::Record(ys)) if xs.len() == ys.len() => {
            let field = |((name, x), (_, y)): (&(_, SVal), &(_, SVal))| Some((*name, common_skeleton(x, y)?));
            SVal::Record(xs.iter().zip(ys.iter()).map(field).collect::<Option<_>>()?)
        }
        (SVal::Sum(x), SVal::Sum(y)) if x.constrs.len() == y.constrs.len() => {
            let mut constrs = Vec::new();
            for ((name, xs), (_, ys)) in x.constrs.iter().zip(&y.constrs) {
                let payload = xs.iter().zip(ys).map(|(x, y)| common_skeleton(x, y));
                constrs.push((*name, payload.collect::<Option<_>>()?));
            }
            SVal::Sum(Rc::new(SumVal { tag: x.tag, constrs }))
        }
        (SVal::Fun(_) | SVal::Choice(_), SVal::Fun(_) | SVal::Choice(_)) => {
            let mut alts = alternatives(a);
            for alt in alternatives(b) {
                if !alts.iter().any(|known| same_skeleton(known, &alt)) {
                    alts.push(alt);
                }
            }
            match alts.as_slice() {
                [_] => a.clone(),
                _ => SVal::Choice(Rc::new(ChoiceVal { tag: tag(0), alts })),
            }
        }
        (SVal::Acc(_), SVal::Acc(_)) | (SVal::Ref(_), SVal::Ref(_)) if same_skeleton(a, b) => a.clone(),
        _ => return None,
    })
}

pub(crate) fn same_skeleton(a: &SVal, b: &SVal) -> bool {
    flatten(a).tokens == flatten(b).tokens
}

fn alternatives(value: &SVal) -> Vec<SVal> {
    match value {
        SVal::Choice(choice) => choice.alts.clone(),
        _ => vec![value.clone()],
    }
}

/// Something of the same skeleton, for an alternative that is not taken: what is known where `mark` was taken stays, so that
/// arrays keep their sizes; all else is zero, and has no elements.
struct Blank<'s, 'a> {
    simplifier: &'s mut Simplifier<'a>,
    path: &'s [Atom],
    mark: Option<u32>,
}

impl Blank<'_, '_> {
    fn is_known(&self, atom: Atom) -> bool {
        self.mark.is_some_and(|mark| self.simplifier.is_outside(atom, mark))
    }
}

impl Walker for Blank<'_, '_> {
    fn dim(&mut self, dim: Atom) -> Atom {
        if self.is_known(dim) { dim } else { Atom::i64(0) }
    }

    fn leaf(&mut self, old: Type, new: Type, atom: Atom) -> Atom {
        if self.path.is_empty() && old == new && self.is_known(atom) {
            return atom;
        }
        let dims = |inner: &[Atom]| [self.path, inner].concat();
        match new {
            Type::Prim(prim) => self.simplifier.filled(Prim::zero(prim), &dims(&[])),
            Type::Array { elem, dims: inner } => {
                let dims = dims(&inner);
                self.simplifier.filled(Prim::zero(elem), &dims)
            }
            Type::Acc { .. } => atom,
        }
    }
}

impl Simplifier<'_> {
    /// Brings a value to a skeleton that has at least its alternatives. What the skeleton has from before `mark` is known
    /// here.
    pub fn adapt(&mut self, value: &SVal, skeleton: &SVal, mark: u32) -> Res<SVal> {
        self.adapt_below(value, skeleton, &[], mark)
    }

    /// The same for the elements of arrays of the given sizes.
    fn adapt_below(&mut self, value: &SVal, skeleton: &SVal, path: &[Atom], mark: u32) -> Res<SVal> {
        Ok(match (value, skeleton) {
            (SVal::Array(x), SVal::Array(y)) => {
                let elem = self.adapt_below(&x.elem, &y.elem, &[path, &[x.dim]].concat(), mark)?;
                SVal::Array(Rc::new(ArrayVal { dim: x.dim, elem }))
            }
            (SVal::Record(xs), SVal::Record(ys)) => {
                let mut fields = Vec::with_capacity(xs.len());
                for ((name, x), (_, y)) in xs.iter().zip(ys.iter()) {
                    fields.push((*name, self.adapt_below(x, y, path, mark)?));
                }
                SVal::Record(fields.into())
            }
            (SVal::Sum(x), SVal::Sum(y)) => {
                let mut constrs = Vec::with_capacity(x.constrs.len());
                for ((name, xs), (_, ys)) in x.constrs.iter().zip(&y.constrs) {
                    let pairs = xs.iter().zip(ys);
                    let payload: Res<_> = pairs.map(|(x, y)| self.adapt_below(x, y, path, mark)).collect();
                    constrs.push((*name, payload?));
                }
                SVal::Sum(Rc::new(SumVal { tag: x.tag, constrs }))
            }
            (SVal::Absent, _) => {
                let mut blank = Blank { simplifier: self, path, mark: None };
                walk(skeleton, &mut blank, &mut Path::default())
            }
            (SVal::Fun(_) | SVal::Choice(_), SVal::Choice(choice)) => {
                self.adapt_choice(value, choice, path, mark)?
            }
            _ => value.clone(),
        })
    }

    fn adapt_choice(&mut self, value: &SVal, choice: &ChoiceVal, path: &[Atom], mark: u32) -> Res<SVal> {
        let own = alternatives(value);
        let position = |alt: &SVal| choice.alts.iter().position(|other| same_skeleton(alt, other));
        let Some(positions) = own.iter().map(position).collect::<Option<Vec<usize>>>() else {
            return self.bug("an alternative that is lost");
        };
        let new_tag = match value {
            SVal::Choice(old) => self.renumber(old.tag, &positions, path)?,
            _ => self.filled(Prim::I8(positions[0] as i8), path),
        };
        let mut alts = Vec::with_capacity(choice.alts.len());
        for (i, alt) in choice.alts.iter().enumerate() {
            alts.push(match positions.iter().position(|p| *p == i) {
                Some(mine) => own[mine].clone(),
                None => {
                    let mut blank = Blank { simplifier: self, path, mark: Some(mark) };
                    walk(alt, &mut blank, &mut Path::default())
                }
            });
        }
        Ok(SVal::Choice(Rc::new(ChoiceVal { tag: new_tag, alts })))
    }

    /// The tag `i` becomes `positions[i]`.
    fn renumber(&mut self, old: Atom, positions: &[usize], path: &[Atom]) -> Res<Atom> {
        if positions.iter().enumerate().all(|(i, p)| i == *p) {
            return Ok(old);
        }
        if !path.is_empty() {
            return self.unsupported("arrays of functions with different code cannot be combined further");
        }
        let mut result = tag(positions.last().copied().unwrap_or(0));
        for (i, position) in positions.iter().enumerate().rev().skip(1) {
            let is_this = self.cmp(CmpOp::Eq, PrimType::I8, old, tag(i));
            result = self.select(is_this, PrimType::I8, tag(*position), result);
        }
        Ok(result)
    }

    /// The value of `if cond then … else …`.
    pub fn branch(
        &mut self,
        cond: Atom,
        then: impl FnOnce(&mut Self) -> Res<SVal>,
        otherwise: impl FnOnce(&mut Self) -> Res<SVal>,
    ) -> Res<SVal> {
        match cond {
            Atom::Const(Prim::Bool(true)) => return then(self),
            Atom::Const(Prim::Bool(false)) => return otherwise(self),
            Atom::Const(_) | Atom::Var(_) => {}
        }
        let mark = self.mark();
        let loc = self.loc;
        let (mut then_stms, (then_value, then_cells)) = self.scope(|s| s.observed(then))?;
        let (mut else_stms, (else_value, else_cells)) = self.scope(|s| s.observed(otherwise))?;
        self.loc = loc;
        let mut cells: Vec<CellId> = then_cells.keys().chain(else_cells.keys()).copied().collect();
        cells.sort_unstable();
        cells.dedup();
        // What a branch has changed is one more result of both.
        let before = self.cell_values(&cells)?;
        let with_cells = |value: SVal, changed: &BTreeMap<CellId, SVal>| match cells.is_empty() {
            true => value,
            false => {
                let now = |(id, before): (&CellId, &SVal)| changed.get(id).unwrap_or(before).clone();
                SVal::tuple(std::iter::once(value).chain(cells.iter().zip(&before).map(now)))
            }
        };
        let mut then_value = with_cells(then_value, &then_cells);
        let mut else_value = with_cells(else_value, &else_cells);
        if !same_skeleton(&then_value, &else_value) {
            let Some(skeleton) = common_skeleton(&then_value, &else_value) else {
                if mentions_reference(&then_value) {
                    return self.misuse("reference-escape", "a branch gives a reference");
                }
                return self.bug("branches of different types");
            };
            then_value = self.extend_scope(&mut then_stms, |s| s.adapt(&then_value, &skeleton, mark))?;
            else_value = self.extend_scope(&mut else_stms, |s| s.adapt(&else_value, &skeleton, mark))?;
        }
        let merged = self.merge(cond, mark, (then_stms, &then_value), (else_stms, &else_value));
        match &merged {
            SVal::Record(parts) if !cells.is_empty() => {
                self.set_cells(&cells, parts.iter().skip(1).map(|(_, value)| value.clone()));
                Ok(parts[0].1.clone())
            }
            _ => Ok(merged),
        }
    }

    /// Emits the `if`, whose results are the sizes and leaves that are not the same on both sides.
    fn merge(
        &mut self,
        cond: Atom,
        mark: u32,
        (then_stms, then_value): (Vec<dagaz_core::exp::Stm>, &SVal),
        (else_stms, else_value): (Vec<dagaz_core::exp::Stm>, &SVal),
    ) -> SVal {
        let (a, b) = (flatten(then_value), flatten(else_value));
        let mut pat: Vec<Param> = Vec::new();
        let mut results: Vec<(Atom, Atom)> = Vec::new();
        let mut dims = Vec::with_capacity(a.dims.len());
        for (&x, &y) in a.dims.iter().zip(&b.dims) {
            dims.push(if x == y && self.is_outside(x, mark) {
                x
            } else if let Some(known) = results.iter().position(|pair| *pair == (x, y)) {
                pat[known].var.into()
            } else {
                pat.push(self.param("size", Type::Prim(PrimType::I64)));
                results.push((x, y));
                pat[pat.len() - 1].var.into()
            });
        }
        let types = leaf_types(then_value, &dims);
        let mut leaves = Vec::with_capacity(a.leaves.len());
        for ((x, y), ty) in a.leaves.iter().zip(&b.leaves).zip(types) {
            if x.atom == y.atom && self.is_outside(x.atom, mark) && !matches!(ty, Type::Acc { .. }) {
                leaves.push(x.atom);
            } else {
                pat.push(self.param("chosen", ty));
                results.push((x.atom, y.atom));
                leaves.push(pat[pat.len() - 1].var.into());
            }
        }
        let (then_result, else_result) = results.into_iter().unzip();
        let then = Body { stms: then_stms, result: then_result };
        let otherwise = Body { stms: else_stms, result: else_result };
        self.push(pat, Exp::If { cond, then, otherwise });
        rebuild(then_value, &dims, &leaves)
    }
}
