//! Maps whose rows are a few scalars that are listed: points and small matrices.
//!
//! Each element is a result of its own, and the loop is one of scalar operations, for vector units:
//!
//!     map n (xs, ys) \x y -> …; let p = array (a, b) in p   ==>   for i { …; ps[i * 2] = a; ps[i * 2 + 1] = b }

use std::collections::HashMap;

use dagaz_core::exp::{Exp, Lambda, Stm};
use dagaz_core::machine;
use dagaz_core::prim::Prim;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::free_vars_body;

use super::access::strided;
use super::maps::statements;
use super::{Form, Lower, Lowered};
use crate::imp::{Expr, Operand, Var};

/// How many elements there are in a row, if it is known.
pub(super) fn elements(dims: &[Atom]) -> Option<usize> {
    dims.iter()
        .map(|dim| dim.as_const().and_then(Prim::as_i64).and_then(|n| usize::try_from(n).ok()))
        .product()
}

/// Adds the elements of an array to `all`, in order, and its variables to `listed`.
fn list(
    array: Atom,
    stms: &HashMap<VarId, &Exp>,
    all: &mut Vec<Atom>,
    listed: &mut Vec<VarId>,
) -> Option<()> {
    let var = array.as_var()?;
    match stms.get(&var)? {
        Exp::ArrayLit { row: Type::Prim(_), elems } => all.extend(elems),
        Exp::ArrayLit { elems, .. } => elems.iter().try_for_each(|row| list(*row, stms, all, listed))?,
        Exp::Replicate { dims, value: value @ Atom::Const(_) } => {
            all.extend(std::iter::repeat_n(
                *value,
                elements(dims).filter(|count| *count <= machine::MOST_ELEMENTS_OF_ROWS)?,
            ));
        }
        _ => return None,
    }
    listed.push(var);
    Some(())
}

impl Lower<'_> {
    /// The lambda with a result for each element of its results, if it is one of scalar operations then.
    pub(super) fn with_elements(&self, width: Atom, lambda: &Lambda) -> Option<Lambda> {
        let is_narrow =
            width.as_const().and_then(Prim::as_i64).is_some_and(|rows| rows < machine::VECTOR_MAP_ROWS);
        if is_narrow || lambda.ret.iter().all(|ty| matches!(ty, Type::Prim(_))) {
            return None;
        }
        let bound = |stm: &'_ Stm| stm.pat.first().map(|param| param.var);
        let stms: HashMap<VarId, &Exp> =
            lambda.body.stms.iter().filter_map(|stm| Some((bound(stm)?, &stm.exp))).collect();
        let (mut results, mut types, mut listed) = (Vec::new(), Vec::new(), Vec::new());
        for (ty, result) in lambda.ret.iter().zip(&lambda.body.result) {
            match ty {
                Type::Prim(_) => results.push(*result),
                Type::Array { .. } => list(*result, &stms, &mut results, &mut listed)?,
                Type::Acc { .. } => return None,
            }
            let elem = Type::Prim(ty.elem()?);
            types.resize(results.len(), elem);
        }
        let has_at_most = |most: usize| {
            lambda.ret.iter().all(|ty| elements(ty.dims()).is_some_and(|count| count > 0 && count <= most))
        };
        let is_worth_it = results.len() <= machine::MOST_ELEMENTS_OF_ROWS
            && statements(&lambda.body) >= machine::STATEMENTS_WORTH_AN_ELEMENT * results.len();
        if !has_at_most(if is_worth_it {
            machine::MOST_ELEMENTS_OF_ROWS
        } else {
            machine::NEIGHBOURING_ELEMENTS
        }) {
            return None;
        }
        let mut spread = lambda.clone();
        spread.ret = types;
        spread.body.result = results;
        spread.body.stms.retain(|stm| bound(stm).is_none_or(|var| !listed.contains(&var)));
        let is_read = free_vars_body(&spread.body).iter().any(|var| listed.contains(var));
        (!is_read && self.is_simple(&spread)).then_some(spread)
    }

    /// Writes the elements of row `i` of an array. Gives how many there were.
    pub(super) fn write_elements(&mut self, param: &Param, i: &Var, elems: &[Atom]) -> Lowered<usize> {
        let (target, row) = (self.var(param.var)?, param.ty.dims().get(1..).unwrap_or_default().to_vec());
        let count = elements(&row).unwrap_or(0);
        let elem = Type::Prim(super::elem(&param.ty)?);
        let form = self.info(param.var)?.form.clone();
        if let Some(room) = self.around.turned.get(&param.var).cloned() {
            for (k, value) in elems.iter().take(count).enumerate() {
                self.store(&room.elements, room.offset(i, k), &elem, *value)?;
            }
            return Ok(count);
        }
        for (k, value) in elems.iter().take(count).enumerate() {
            let offset = match &form {
                Form::View { strides } => strided(&indices(i, k, &row), strides),
                Form::Block { .. } | Form::Range { .. } | Form::Fill { .. } => i * count + k,
            };
            self.store(&target, offset, &elem, *value)?;
        }
        Ok(count)
    }
}

/// Where element `k` of row `i` is.
fn indices(i: &Var, k: usize, row: &[Atom]) -> Vec<Expr> {
    let mut rest = k;
    let mut indices: Vec<Expr> = Vec::new();
    for dim in row.iter().rev() {
        let size = elements(&[*dim]).unwrap_or(1).max(1);
        indices.push((rest % size).expr());
        rest /= size;
    }
    indices.push(i.expr());
    indices.reverse();
    indices
}
