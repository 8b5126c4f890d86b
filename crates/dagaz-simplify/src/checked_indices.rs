//! Indices that come from outside of the type system: arguments of entry points, and coercions.
//!
//! A value of an index type is used without a check, so that one whose type alone says that it is an index is checked
//! here:
//!
//! ```text
//! ks :> [2](idx [3])     ==>     map (\k -> assert (0 <= k && k < 3); k) ks
//! ```

use std::rc::Rc;

use dagaz_core::exp::MsgPart;
use dagaz_core::prim::{CmpOp, PrimType};
use dagaz_core::types::Atom;
use dagaz_types::types::{IDX, Type, TypeArg};

use crate::context::{Res, Simplifier};
use crate::effects::RegionKind;
use crate::index_set::{ESet, is_open};
use crate::value::{Env, SVal, SumVal, TypeBinding};
use crate::walk::flatten;

impl Simplifier<'_> {
    /// The same value, with an assertion for every index in it that it is one.
    pub fn checked_indices(&mut self, env: &mut Env, ty: &Type, value: &SVal) -> Res<SVal> {
        self.checked_where(env, ty, value, Atom::bool(true))
    }

    /// The same, if `active`: otherwise the value does not matter.
    fn checked_where(&mut self, env: &mut Env, ty: &Type, value: &SVal, active: Atom) -> Res<SVal> {
        if !has_indices(env, ty) {
            return Ok(value.clone());
        }
        match (ty, value) {
            (Type::Array { elem, .. }, SVal::Array(array)) => {
                self.map_rows(RegionKind::Map, array, None, |s, row| s.checked_where(env, elem, &row, active))
            }
            (Type::Record(types), SVal::Record(fields)) => {
                let mut checked = Vec::with_capacity(fields.len());
                for ((name, field), (_, ty)) in fields.iter().zip(types.iter()) {
                    checked.push((*name, self.checked_where(env, ty, field, active)?));
                }
                Ok(SVal::Record(checked.into()))
            }
            (Type::Sum(types), SVal::Sum(sum)) => self.checked_sum(env, types, sum, active),
            (Type::Named { id, args, .. }, _) => {
                let closure = match env.types.get(id) {
                    Some(TypeBinding::Closure(closure)) => closure.clone(),
                    Some(TypeBinding::Type(_) | TypeBinding::Index(..)) | None => return Ok(value.clone()),
                };
                if *id == IDX || closure.index.is_some() {
                    let set = self.eval_set(env, ty)?;
                    self.assert_in_set(&set, value, active)?;
                    return Ok(value.clone());
                }
                let args = self.eval_args(env, args)?;
                let mut inner = closure.env.clone();
                self.bind_type_params(&mut inner, &closure.params, &args);
                self.checked_where(&mut inner, &closure.body, value, active)
            }
            _ => Ok(value.clone()),
        }
    }

    fn checked_sum(
        &mut self,
        env: &mut Env,
        types: &[(dagaz_syntax::Name, Vec<Type>)],
        sum: &SumVal,
        active: Atom,
    ) -> Res<SVal> {
        let mut constrs = Vec::with_capacity(sum.constrs.len());
        for (position, ((name, payload), (_, types))) in sum.constrs.iter().zip(types).enumerate() {
            let chosen = self.cmp(CmpOp::Eq, PrimType::I8, sum.tag, crate::value::tag(position));
            let active = self.and(active, chosen);
            let mut checked = Vec::with_capacity(payload.len());
            for (value, ty) in payload.iter().zip(types) {
                checked.push(self.checked_where(env, ty, value, active)?);
            }
            constrs.push((*name, checked));
        }
        Ok(SVal::Sum(Rc::new(SumVal { tag: sum.tag, constrs })))
    }

    /// Assert that a value is an index of a set: its number is one of the set's, and it is the index of that number. A set
    /// of unknown size is the one that the value had before.
    fn assert_in_set(&mut self, set: &ESet, value: &SVal, active: Atom) -> Res<()> {
        if is_open(set) {
            return Ok(());
        }
        let size = self.cardinality(set)?;
        let number = self.number_of(set, value)?;
        let mut valid = self.in_bounds(number, size);
        if !matches!(set, ESet::Size(_)) {
            // Outside of the set, any index will do for the comparison.
            let inside = self.select(valid, PrimType::I64, number, Atom::i64(0));
            let index = self.index_at(set, inside)?;
            for (x, y) in flatten(&index).leaves.iter().zip(&flatten(value).leaves) {
                let dagaz_core::types::Type::Prim(prim) = x.ty else { continue };
                let same = self.cmp(CmpOp::Eq, prim, x.atom, y.atom);
                valid = self.and(valid, same);
            }
        }
        let idle = self.not(active);
        let valid = self.or(idle, valid);
        self.assert(valid, message(set, number, size));
        Ok(())
    }
}

fn message(set: &ESet, number: Atom, size: Atom) -> Vec<MsgPart> {
    let what = match set {
        ESet::Size(_) => "The number ",
        ESet::Bool | ESet::Record(_) | ESet::Sum(_) | ESet::Declared(_) => "The value with the number ",
    };
    vec![
        MsgPart::Text(what.into()),
        MsgPart::Value(number),
        MsgPart::Text(" is not an index: there are ".into()),
        MsgPart::Value(size),
        MsgPart::Text(".".into()),
    ]
}

/// Whether values of a type hold indices of sets that not every value of their representation is in.
fn has_indices(env: &Env, ty: &Type) -> bool {
    match ty {
        Type::Prim(_) | Type::Meta(_) | Type::Arrow(_) => false,
        Type::Array { elem, .. } => has_indices(env, elem),
        Type::Record(fields) => fields.iter().any(|(_, t)| has_indices(env, t)),
        Type::Sum(constrs) => constrs.iter().any(|(_, ts)| ts.iter().any(|t| has_indices(env, t))),
        Type::Named { id, args, .. } => {
            let in_args = args.iter().any(|arg| match arg {
                TypeArg::Size(_) => false,
                TypeArg::Type(t) => has_indices(env, t),
            });
            in_args
                || match env.types.get(id) {
                    Some(TypeBinding::Closure(closure)) => {
                        *id == IDX || closure.index.is_some() || has_indices(&closure.env, &closure.body)
                    }
                    Some(TypeBinding::Type(_) | TypeBinding::Index(..)) | None => false,
                }
        }
    }
}
