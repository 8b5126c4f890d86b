//! Patterns: conditions under which they match, and the names they bind.

use dagaz_core::prim::{CmpOp, PrimType};
use dagaz_core::types::Atom;
use dagaz_types::typed::{Pat, PatKind};

use crate::context::{Res, Simplifier};
use crate::eval::{float_literal, int_literal};
use crate::value::{Env, SVal, SumVal, tag};

/// What the simplifier calls variables that come from no name: parameters and results of operations.
const UNNAMED: &[&str] = &[
    "x",
    "y",
    "arg",
    "mapped",
    "reduced",
    "scanned",
    "carried",
    "chosen",
    "elem",
    "part",
    "result",
    "updated",
    "reshaped",
    "transposed",
    "copies",
    "range",
    "concat",
];

impl Simplifier<'_> {
    /// Binds the names of a pattern that is known to match.
    pub fn bind_pattern(&mut self, env: &mut Env, pat: &Pat, value: &SVal) -> Res<()> {
        match (&pat.kind, value) {
            (PatKind::Var(var, name), _) => {
                if !self.locs.is_in_prelude(pat.span) {
                    self.name_leaves(name.as_str(), value);
                }
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

    /// What the user calls a value is the name of its leaves, unless they have one already.
    fn name_leaves(&mut self, name: &str, value: &SVal) {
        match value {
            SVal::Scalar(_, Atom::Var(var)) => {
                let hint = &mut self.builder.vars.hints[var.0 as usize];
                if UNNAMED.contains(&&**hint) {
                    *hint = name.into();
                }
            }
            SVal::Array(array) => self.name_leaves(name, &array.elem),
            SVal::Record(fields) => {
                for (field, value) in fields.iter() {
                    self.name_leaves(&format!("{name}_{field}"), value);
                }
            }
            SVal::Scalar(_, Atom::Const(_))
            | SVal::Sum(_)
            | SVal::Fun(_)
            | SVal::Choice(_)
            | SVal::Acc(_)
            | SVal::Ref(_) => {}
            SVal::Def(_) | SVal::Alias(_) | SVal::SizeOf(..) | SVal::UnboundSize(_) | SVal::Absent => {}
        }
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
