//! Dimensions of one element, which cost nothing but hide what is behind them.
//!
//! ```text
//! let (ys: [n][1]f64) =                          let (zs: [n]f64) =
//!   map n (xs) \(x: [1]f64) : ([1]f64) ->          map n (reshape [n] xs) \(x: f64) : (f64) ->
//!     map 1 (x) \(a: f64) : (f64) ->       ==>       let (b: f64) = f64.mul a a
//!       let (b: f64) = f64.mul a a                   in (b)
//!       in (b)                                   let (ys: [n][1]f64) = reshape [n, 1] zs
//! ```
//!
//! A map over one row is its body. Such dimensions leave maps on both sides as changes of shape, where one undoes another;
//! a transposition that moves nothing else is a change of shape too.

use dagaz_core::exp::{Check, Exp, Lambda, Loc, Stm};
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::{Rewrite, Simplifier};

const ONE: Atom = Atom::Const(dagaz_core::prim::Prim::I64(1));

fn without_units(dims: &[Atom]) -> Vec<Atom> {
    dims.iter().copied().filter(|dim| *dim != ONE).collect()
}

impl Simplifier {
    /// Whether a statement is a map over one row, and then the statements of that row instead.
    pub(super) fn only_row(&mut self, stm: &Stm) -> bool {
        let Exp::Map { width, arrays, lambda } = &stm.exp else { return false };
        if *width != ONE || lambda.params.iter().any(|p| p.ty.is_acc()) {
            return false;
        }
        for (array, param) in arrays.iter().zip(&lambda.params) {
            let exp = Exp::Index { array: *array, indices: vec![Atom::i64(0)], check: Check::Certified };
            self.stm(Stm { pat: vec![param.clone()], exp, loc: stm.loc });
        }
        lambda.body.stms.iter().for_each(|inner| self.stm(inner.clone()));
        for ((param, row), result) in stm.pat.iter().zip(&lambda.ret).zip(&lambda.body.result) {
            let exp = match result {
                Atom::Var(array) if row.is_array() => {
                    let dims = [ONE].into_iter().chain(row.dims().iter().copied()).collect();
                    Exp::Reshape { dims, array: *array }
                }
                elem => Exp::ArrayLit { row: row.clone(), elems: vec![*elem] },
            };
            self.stm(Stm { pat: vec![param.clone()], exp, loc: stm.loc });
        }
        true
    }

    /// Rows come without dimensions of one element, and get them inside.
    pub(super) fn rows_without_units(&mut self, arrays: &mut [VarId], lambda: &mut Lambda, loc: Loc) {
        let mut inside = Vec::new();
        for (array, param) in arrays.iter_mut().zip(&mut lambda.params) {
            let Type::Array { elem, dims } = &param.ty else { continue };
            let inner = without_units(dims);
            let Some(outer) = self.types.get(array).and_then(|ty| ty.dims().first().copied()) else {
                continue;
            };
            if inner.len() == dims.len() {
                continue;
            }
            let row = Type::array(*elem, inner.clone());
            let all: Vec<Atom> = [outer].into_iter().chain(inner.iter().copied()).collect();
            let reshaped = Exp::Reshape { dims: all.clone(), array: *array };
            let Some(whole) = self.emit("rows", Type::array(*elem, all), reshaped, loc).as_var() else {
                continue;
            };
            let hint = self.b.hint(param.var);
            let bare = Param::new(self.b.fresh(&hint), row);
            let dims = dims.clone();
            let exp = match inner.is_empty() {
                true => Exp::Replicate { dims, value: bare.var.into() },
                false => Exp::Reshape { dims, array: bare.var },
            };
            inside.push(Stm { pat: vec![param.clone()], exp, loc });
            (*array, *param) = (whole, bare);
        }
        lambda.body.stms.splice(0..0, inside);
    }

    /// A map gives its results without dimensions of one element; the statements that add them come after it.
    pub(super) fn results_without_units(&mut self, stm: &mut Stm) -> Vec<Stm> {
        let Exp::Map { width, lambda, .. } = &mut stm.exp else { return Vec::new() };
        let mut behind = Vec::new();
        let results = lambda.body.result.iter_mut().zip(&mut lambda.ret);
        for ((result, row), param) in results.zip(&mut stm.pat) {
            let Some(bare) = self.bare(*result) else { continue };
            let ty = match bare {
                Atom::Var(var) => self.types.get(&var).cloned(),
                Atom::Const(prim) => Some(prim.ty().into()),
            };
            let Some(ty) = ty else { continue };
            let hint = self.b.hint(param.var);
            let whole = Param::new(self.b.fresh(&hint), ty.with_outer(&[*width]));
            let exp = Exp::Reshape { dims: param.ty.dims().to_vec(), array: whole.var };
            behind.push(Stm { pat: vec![param.clone()], exp, loc: stm.loc });
            (*result, *row, *param) = (bare, ty, whole);
        }
        behind
    }

    /// What an array is that only adds dimensions of one element to it.
    fn bare(&self, atom: Atom) -> Option<Atom> {
        match self.def(atom)? {
            Exp::ArrayLit { row: Type::Prim(_), elems } if elems.len() == 1 => Some(elems[0]),
            Exp::Replicate { dims, value } if without_units(dims).is_empty() => {
                let is_scalar =
                    value.as_var().is_none_or(|var| self.types.get(&var).is_some_and(|ty| !ty.is_array()));
                is_scalar.then_some(*value)
            }
            Exp::Reshape { dims, array } => {
                let old = self.types.get(array)?.dims();
                (old.len() < dims.len() && without_units(dims) == old).then_some((*array).into())
            }
            _ => None,
        }
    }

    /// An array of one row is the row.
    pub(super) fn only_elem(&self, elems: &[Atom]) -> Option<Rewrite> {
        let [Atom::Var(row)] = elems else { return None };
        let dims = self.types.get(row).filter(|ty| ty.is_array())?.dims();
        let dims = [ONE].into_iter().chain(dims.iter().copied()).collect();
        Some(Rewrite::Become(Box::new(Exp::Reshape { dims, array: *row })))
    }

    /// A transposition that moves dimensions of one element only.
    pub(super) fn moved_units(&self, perm: &[usize], array: VarId) -> Option<Rewrite> {
        let dims = self.types.get(&array)?.dims();
        if !perm.iter().filter(|dim| dims[**dim] != ONE).is_sorted() {
            return None;
        }
        let dims = perm.iter().map(|dim| dims[*dim]).collect();
        Some(Rewrite::Become(Box::new(Exp::Reshape { dims, array })))
    }

    /// An element or a row of an array to which dimensions of one element were added, or from which they were taken.
    pub(super) fn without_unit_indices(
        &mut self,
        dims: &[Atom],
        array: VarId,
        indices: &[Atom],
        stm: &Stm,
    ) -> Option<Rewrite> {
        let ty = self.types.get(&array)?.clone();
        if without_units(dims) != without_units(ty.dims()) {
            return None;
        }
        let mut own =
            indices.iter().zip(dims).filter(|(_, dim)| **dim != ONE).map(|(index, _)| *index).peekable();
        let rest = &dims[indices.len()..];
        let mut inner = Vec::new();
        for dim in ty.dims() {
            match own.peek() {
                None if !rest.is_empty() => break,
                _ if *dim == ONE => inner.push(Atom::i64(0)),
                _ => inner.extend(own.next()),
            }
        }
        let row = ty.peel(inner.len())?;
        let exp = Exp::Index { array, indices: inner, check: Check::Certified };
        if row.dims() == rest {
            return Some(Rewrite::Become(Box::new(exp)));
        }
        let is_scalar = !row.is_array();
        let (dims, row) = (rest.to_vec(), self.emit("row", row, exp, stm.loc));
        let exp = match row {
            Atom::Var(array) if !is_scalar => Exp::Reshape { dims, array },
            value => Exp::Replicate { dims, value },
        };
        Some(Rewrite::Become(Box::new(exp)))
    }
}
