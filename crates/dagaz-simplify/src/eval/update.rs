//! `with`: functional updates of records, arrays, and arrays in records in arrays.
//!
//! ```text
//! a with [i].f = v   with a = Array n (Record (f: xs) (g: ys))     ==>     let xs' = xs with [i] = v
//! ```

use dagaz_core::exp::{Check, Exp as CoreExp};
use dagaz_core::types::Atom;
use dagaz_syntax::{Name, Span};
use dagaz_types::typed::{Access, Exp};

use crate::context::{Res, Simplifier};
use crate::eval::index::{Checked, Position, below_sizes};
use crate::value::{Env, SVal, as_var};
use crate::walk::{flatten, rebuild};

/// A step of the path, evaluated.
pub(crate) enum Step {
    Field(Name),
    Index(Vec<Position>, Span),
}

impl Simplifier<'_> {
    pub fn with_exp(
        &mut self,
        env: &mut Env,
        exp: &Exp,
        target: &Exp,
        path: &[Access],
        value: &Exp,
    ) -> Res<SVal> {
        let target = self.eval(env, target)?;
        let mut steps = Vec::with_capacity(path.len());
        for access in path {
            steps.push(match access {
                Access::Field(name) => Step::Field(*name),
                Access::Index(slice, span) => Step::Index(self.eval_slice(env, slice)?, *span),
            });
        }
        let value = self.eval(env, value)?;
        self.at(exp.span);
        self.update(&target, &[], None, &steps, &value)
    }

    /// `outer` are the sizes above the target and `at` the place in them that is updated.
    pub fn update(
        &mut self,
        target: &SVal,
        outer: &[Atom],
        at: Option<&Checked>,
        steps: &[Step],
        value: &SVal,
    ) -> Res<SVal> {
        match steps.split_first() {
            None => self.update_leaves(target, outer, at, value),
            Some((Step::Field(field), rest)) => {
                let SVal::Record(fields) = target else { return self.bug("a field of something else") };
                let mut result = Vec::with_capacity(fields.len());
                for (name, old) in fields.iter() {
                    let new = match name == field {
                        true => self.update(old, outer, at, rest, value)?,
                        false => old.clone(),
                    };
                    result.push((*name, new));
                }
                Ok(SVal::Record(result.into()))
            }
            Some((Step::Index(positions, span), rest)) => {
                self.at(*span);
                let (elem, sizes) = self.below(target, positions.len())?;
                let checked = self.check_slice(positions, &sizes);
                let all_sizes = [outer, &sizes].concat();
                let mut dims = at.map_or(Vec::new(), |at| at.dims.clone());
                dims.extend(checked.dims);
                let outer_check = at.map_or(Check::Certified, |at| at.check);
                let check = if outer_check == Check::Certified { checked.check } else { outer_check };
                let checked = Checked { dims, sizes: checked.sizes, check };
                let elem = if !checked.all_fixed() && rest.iter().any(|step| matches!(step, Step::Index(..)))
                {
                    // Positions inside of a slice: the slice is updated by itself and written back.
                    let part = self.take(&elem, &all_sizes, &checked)?;
                    let part = self.update(&part, &[], None, rest, value)?;
                    self.update_leaves(&elem, &all_sizes, Some(&checked), &part)?
                } else {
                    self.update(&elem, &all_sizes, Some(&checked), rest, value)?
                };
                Ok(sizes.iter().rev().fold(elem, |elem, size| SVal::array(*size, elem)))
            }
        }
    }

    fn update_leaves(
        &mut self,
        target: &SVal,
        outer: &[Atom],
        at: Option<&Checked>,
        value: &SVal,
    ) -> Res<SVal> {
        let Some(at) = at else { return Ok(value.clone()) };
        let flat = flatten(target);
        let wanted = [at.sizes.as_slice(), &flat.dims].concat();
        let values = flatten(&self.redim(value, &wanted)).atoms();
        let mut leaves = Vec::with_capacity(flat.leaves.len());
        for (leaf, value) in flat.leaves.iter().zip(values) {
            let ty = below_sizes(outer, &leaf.ty);
            let Some(array) = as_var(leaf.atom) else { return self.bug("an array that is a constant") };
            let dims = if at.all_fixed() { at.dims.clone() } else { at.padded(&ty) };
            let exp = CoreExp::Update { array, dims, value, check: at.check };
            leaves.push(self.emit("updated", ty, exp));
        }
        Ok(rebuild(target, &flat.dims, &leaves))
    }
}
