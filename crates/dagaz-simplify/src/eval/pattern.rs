//! Patterns: conditions under which they match, and the names they bind.

use dagaz_core::prim::{CmpOp, PrimType};
use dagaz_core::types::Atom;
use dagaz_types::typed::{Pat, PatKind};

use crate::context::{Res, Simplifier};
use crate::eval::{float_literal, int_literal};
use crate::value::{Env, SVal, SumVal, tag};

impl Simplifier<'_> {
    /// Binds the names of a pattern that is known to match.
    pub fn bind_pattern(&mut self, env: &mut Env, pat: &Pat, value: &SVal) -> Res<()> {
        match (&pat.kind, value) {
            (PatKind::Var(var, _), _) => {
                env.vars.insert(*var, value.clone());
            }
            (PatKind::Wildcard | PatKind::Int(_) | PatKind::Float(_) | PatKind::Bool(_), _) => {}
            (PatKind::Record(fields), _) => {
                for (name, field) in fields {
                    let value = self.project(value, *name)?;
                    self.bind_pattern(env, field, &value)?;
                }
            }
            (PatKind::Constr(name, pats), SVal::Sum(sum)) => {
                let (_, payload) = self.constructor(sum, *name)?;
                for (pat, value) in pats.iter().zip(payload) {
                    self.bind_pattern(env, pat, value)?;
                }
            }
            (PatKind::Constr(..), _) => return self.bug("a constructor pattern for another type"),
        }
        Ok(())
    }

    /// Whether a value matches, as a `bool`.
    pub fn pattern_matches(&mut self, pat: &Pat, value: &SVal) -> Res<Atom> {
        match (&pat.kind, value) {
            (PatKind::Var(..) | PatKind::Wildcard, _) => Ok(Atom::bool(true)),
            (PatKind::Int(literal), SVal::Scalar(prim, atom)) => {
                let literal = Atom::Const(int_literal(*prim, *literal));
                Ok(self.cmp(CmpOp::Eq, *prim, *atom, literal))
            }
            (PatKind::Float(literal), SVal::Scalar(prim, atom)) => {
                let literal = Atom::Const(float_literal(*prim, *literal));
                Ok(self.cmp(CmpOp::Eq, *prim, *atom, literal))
            }
            (PatKind::Bool(true), SVal::Scalar(_, atom)) => Ok(*atom),
            (PatKind::Bool(false), SVal::Scalar(_, atom)) => Ok(self.not(*atom)),
            (PatKind::Record(fields), _) => {
                let mut result = Atom::bool(true);
                for (name, field) in fields {
                    let value = self.project(value, *name)?;
                    let matches = self.pattern_matches(field, &value)?;
                    result = self.and(result, matches);
                }
                Ok(result)
            }
            (PatKind::Constr(name, pats), SVal::Sum(sum)) => {
                let (position, payload) = self.constructor(sum, *name)?;
                let mut result = match sum.constrs.len() {
                    1 => Atom::bool(true),
                    _ => self.cmp(CmpOp::Eq, PrimType::I8, sum.tag, tag(position)),
                };
                if result == Atom::bool(false) {
                    return Ok(result);
                }
                for (pat, value) in pats.iter().zip(payload) {
                    let matches = self.pattern_matches(pat, value)?;
                    result = self.and(result, matches);
                }
                Ok(result)
            }
            (PatKind::Int(_) | PatKind::Float(_) | PatKind::Bool(_) | PatKind::Constr(..), _) => {
                self.bug("a pattern for a value of another type")
            }
        }
    }

    fn constructor<'v>(&self, sum: &'v SumVal, name: dagaz_syntax::Name) -> Res<(usize, &'v [SVal])> {
        match sum.constrs.iter().position(|(n, _)| *n == name) {
            Some(position) => Ok((position, &sum.constrs[position].1)),
            None => self.bug(format!("there is no constructor #{name}")),
        }
    }
}
