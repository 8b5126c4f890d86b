//! What is demanded of types that are not known yet.

use dagaz_syntax::Name;

use super::Infer;
use super::unify::{Constraint, PrimSet, Unified, mismatch};
use crate::context::Dialect;
use crate::types::{Liftedness, PrimType, Type, lifts_to};

impl Infer<'_> {
    /// Demand of a type what is in a constraint.
    pub(crate) fn constrain(&mut self, ty: &Type, c: Constraint) -> Unified {
        if c.liftedness != Liftedness::Lifted {
            self.restrict(ty, c.liftedness)?;
        }
        if c.is_trivial() {
            return Ok(());
        }
        if c.index {
            self.constrain_index(ty)?;
        }
        if let Some(set) = c.prims {
            self.constrain_prims(ty, set)?;
        }
        if c.equality {
            self.constrain_equality(ty)?;
        }
        if c.data {
            self.constrain_data(ty)?;
        }
        for (field, t) in c.fields {
            self.constrain_field(ty, field, &t)?;
        }
        for (constr, payload) in c.constrs {
            self.constrain_constr(ty, constr, payload)?;
        }
        Ok(())
    }

    fn constrain_prims(&mut self, ty: &Type, set: PrimSet) -> Unified {
        match self.scalar_root(ty) {
            Type::Prim(p) if set.contains(p) => Ok(()),
            Type::Meta(m) if self.metas[m as usize].constraint.index => {
                if !set.contains(PrimType::I64) {
                    return mismatch(format!("An index cannot be {}", set.describe()));
                }
                self.unify(ty, &Type::I64)
            }
            Type::Meta(m) => {
                let c = &mut self.metas[m as usize].constraint;
                if !c.fields.is_empty() || !c.constrs.is_empty() {
                    return mismatch(format!("A record or sum cannot be {}", set.describe()));
                }
                let both = c.prims.unwrap_or(PrimSet::ALL).intersect(set);
                if let (0, Some(old)) = (both.0, c.prims) {
                    let note = format!("A type cannot be both {} and {}", old.describe(), set.describe());
                    return mismatch(note);
                }
                c.prims = Some(both);
                Ok(())
            }
            Type::Named { id, args, .. } if self.cx.index_types.contains_key(&id) => {
                self.constrain_prims(&self.representation(id, &args), set)
            }
            t => mismatch(format!("The type \"{}\" is not {}", self.show(&t), set.describe())),
        }
    }

    /// What has fields or constructors is not a number.
    fn demand_compound(&self, m: u32) -> Unified {
        match self.metas[m as usize].constraint.prims {
            None => Ok(()),
            Some(set) => mismatch(format!("A record or sum cannot be {}", set.describe())),
        }
    }

    fn constrain_equality(&mut self, ty: &Type) -> Unified {
        match self.shallow(ty) {
            Type::Prim(_) => Ok(()),
            Type::Meta(m) => {
                self.metas[m as usize].constraint.equality = true;
                Ok(())
            }
            Type::Array { elem, .. } => self.constrain_equality(&elem),
            Type::Record(fields) => fields.iter().try_for_each(|(_, t)| self.constrain_equality(t)),
            Type::Sum(cs) => {
                cs.iter().try_for_each(|(_, ts)| ts.iter().try_for_each(|t| self.constrain_equality(t)))
            }
            Type::Named { id, args, .. } if self.cx.index_types.contains_key(&id) => {
                self.constrain_equality(&self.representation(id, &args))
            }
            t @ (Type::Arrow(_) | Type::Named { .. }) => {
                mismatch(format!("The type \"{}\" does not support equality", self.show(&t)))
            }
        }
    }

    fn constrain_data(&mut self, ty: &Type) -> Unified {
        match self.shallow(ty) {
            Type::Prim(_) | Type::Named { .. } => Ok(()),
            Type::Meta(m) => {
                self.metas[m as usize].constraint.data = true;
                Ok(())
            }
            Type::Array { elem, .. } => self.constrain_data(&elem),
            Type::Record(fields) => fields.iter().try_for_each(|(_, t)| self.constrain_data(t)),
            Type::Sum(cs) => {
                cs.iter().try_for_each(|(_, ts)| ts.iter().try_for_each(|t| self.constrain_data(t)))
            }
            t @ Type::Arrow(_) => mismatch(format!(
                "The type \"{}\" is functional: there are derivatives of functions between data only; is an argument missing?",
                self.show(&t)
            )),
        }
    }

    fn constrain_field(&mut self, ty: &Type, field: Name, t: &Type) -> Unified {
        match self.scalar_root(ty) {
            Type::Meta(m) => {
                self.demand_compound(m)?;
                let known =
                    self.metas[m as usize].constraint.fields.iter().find(|(f, _)| *f == field).cloned();
                match known {
                    Some((_, u)) => self.unify(&u, t),
                    None => {
                        self.metas[m as usize].constraint.fields.push((field, t.clone()));
                        Ok(())
                    }
                }
            }
            Type::Record(fields) => match fields.iter().find(|(f, _)| *f == field) {
                Some((_, u)) => self.unify(u, t),
                None => mismatch(format!("The type \"{}\" has no field \"{field}\"", self.show(ty))),
            },
            Type::Named { id, args, .. } if self.cx.index_types.contains_key(&id) => {
                self.constrain_field(&self.representation(id, &args), field, t)
            }
            t => mismatch(format!(
                "Attempt to access field \"{field}\" of a value of type \"{}\", with type that must be a record",
                self.show(&t)
            )),
        }
    }

    pub(crate) fn constrain_constr(&mut self, ty: &Type, constr: Name, payload: Vec<Type>) -> Unified {
        match self.scalar_root(ty) {
            Type::Meta(m) => {
                self.demand_compound(m)?;
                let known =
                    self.metas[m as usize].constraint.constrs.iter().find(|(c, _)| *c == constr).cloned();
                match known {
                    Some((_, old)) => self.unify_payloads(constr, &old, &payload),
                    None => {
                        self.metas[m as usize].constraint.constrs.push((constr, payload));
                        Ok(())
                    }
                }
            }
            Type::Sum(cs) => match cs.iter().find(|(c, _)| *c == constr) {
                Some((_, old)) => self.unify_payloads(constr, &old.clone(), &payload),
                None => mismatch(format!("The type \"{}\" has no constructor #{constr}", self.show(ty))),
            },
            t => mismatch(format!(
                "The type \"{}\" is not a sum type with a constructor #{constr}",
                self.show(&t)
            )),
        }
    }

    /// Demand that a type is not lifted beyond `max`: no functions, and for unlifted types no abstract types that may
    /// hide sizes.
    pub(crate) fn restrict(&mut self, ty: &Type, max: Liftedness) -> Unified {
        match self.shallow(ty) {
            Type::Prim(_) => Ok(()),
            Type::Meta(m) => {
                let c = &mut self.metas[m as usize].constraint;
                if lifts_to(max, c.liftedness) {
                    c.liftedness = max;
                }
                Ok(())
            }
            Type::Array { elem, .. } => self.restrict(&elem, max),
            Type::Record(fields) => fields.iter().try_for_each(|(_, t)| self.restrict(t, max)),
            Type::Sum(cs) => {
                cs.iter().try_for_each(|(_, ts)| ts.iter().try_for_each(|t| self.restrict(t, max)))
            }
            t @ Type::Arrow(_) if max != Liftedness::Lifted && self.cx.dialect == Dialect::Strict => {
                mismatch(format!(
                    "The type \"{}\" is functional: a function type cannot be used where a non-lifted type is needed",
                    self.show(&t)
                ))
            }
            Type::Arrow(_) => Ok(()),
            Type::Named { id, .. } if max != Liftedness::Lifted && self.cx.references.kind(id).is_some() => {
                mismatch(format!(
                    "The type \"{}\" is a reference, which cannot be in an array or in another reference, nor be the result of a branch, a loop or a handler",
                    self.show(ty)
                ))
            }
            Type::Named { id, .. } => {
                let have = self.cx.liftedness.get(&id).copied().unwrap_or(Liftedness::Unlifted);
                let functions_allowed = self.cx.dialect == Dialect::Dagaz && have == Liftedness::Lifted;
                if lifts_to(have, max) || functions_allowed {
                    return Ok(());
                }
                let what = match have {
                    Liftedness::Lifted => "is lifted and might contain function values",
                    Liftedness::SizeLifted | Liftedness::Unlifted => {
                        "is size-lifted and may have unknown sizes"
                    }
                };
                mismatch(format!(
                    "The type \"{}\" {what}, so it cannot be used where a non-lifted type is needed",
                    self.cx.type_name(id)
                ))
            }
        }
    }
}
