//! Takes one accumulator out of the statements that it goes through, and lets them give further results instead.

use std::collections::HashSet;

use dagaz_core::build::Builder;
use dagaz_core::dead::keep;
use dagaz_core::exp::{Body, Exp, Loc, Stm};
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::collect::{Scope, ScopeKind};
use super::emit::Handed;

pub(super) struct Stripper<'s> {
    pub b: &'s mut Builder,
    pub accs: HashSet<VarId>,
    pub scopes: Vec<Scope>,
    pub handed: Vec<Handed>,
}

impl Stripper<'_> {
    fn stays(&self, atoms: &[Atom]) -> Vec<bool> {
        atoms.iter().map(|a| !matches!(a, Atom::Var(var) if self.accs.contains(var))).collect()
    }

    pub fn body(&mut self, body: &mut Body) {
        for mut stm in std::mem::take(&mut body.stms) {
            if self.stm(&mut stm) {
                body.stms.push(stm);
            }
        }
    }

    /// What is handed out of this scope: values inside, their types there, and the names outside.
    pub fn handed_from(&self, is_scope: impl Fn(&Scope) -> bool) -> Vec<(Atom, Type, VarId)> {
        let from = self.handed.iter().filter(|h| is_scope(&self.scopes[h.scope]));
        from.map(|h| (h.atom, h.ty.clone(), h.name)).collect()
    }

    /// Whether anything is left of the statement.
    fn stm(&mut self, stm: &mut Stm) -> bool {
        let id = stm.pat.first().map(|p| p.var);
        match &mut stm.exp {
            Exp::UpdateAcc { acc, .. } => !self.accs.contains(acc),
            Exp::Atom(Atom::Var(var)) => !self.accs.contains(var),
            Exp::Map { width, arrays, lambda } if arrays.iter().any(|a| self.accs.contains(a)) => {
                let inputs: Vec<Atom> = arrays.iter().map(|a| (*a).into()).collect();
                let inputs = self.stays(&inputs);
                keep(arrays, &inputs);
                keep(&mut lambda.params, &inputs);
                self.body(&mut lambda.body);
                let results = self.stays(&lambda.body.result);
                keep(&mut lambda.body.result, &results);
                keep(&mut lambda.ret, &results);
                keep(&mut stm.pat, &results);
                for (atom, ty, name) in self.handed_from(|s| s.stm == id && id.is_some()) {
                    lambda.body.result.push(atom);
                    stm.pat.push(Param { var: name, ty: ty.with_outer(&[*width]) });
                    lambda.ret.push(ty);
                }
                true
            }
            Exp::If { then, otherwise, .. } => {
                if self.stays(&then.result).iter().all(|s| *s) && !stm.pat.iter().any(|p| p.ty.is_acc()) {
                    return true;
                }
                self.body(then);
                self.body(otherwise);
                // An accumulator is a result of both branches, under different names.
                let results = self.stays(&then.result);
                keep(&mut then.result, &results);
                keep(&mut otherwise.result, &results);
                keep(&mut stm.pat, &results);
                for taken in [true, false] {
                    let is_branch = |s: &Scope| {
                        s.stm == id && matches!(s.kind, ScopeKind::Branch { taken: t, .. } if t == taken)
                    };
                    for (atom, ty, name) in self.handed_from(is_branch) {
                        let (own, other) =
                            if taken { (&mut *then, &mut *otherwise) } else { (&mut *otherwise, &mut *then) };
                        own.result.push(atom);
                        zero(self.b, other, &ty, stm.loc);
                        stm.pat.push(Param { var: name, ty });
                    }
                }
                true
            }
            Exp::Loop { params, body, .. } if params.iter().any(|(p, _)| self.accs.contains(&p.var)) => {
                self.body(body);
                let vars: Vec<Atom> = params.iter().map(|(p, _)| p.var.into()).collect();
                let stays = self.stays(&vars);
                keep(params, &stays);
                keep(&mut body.result, &stays);
                keep(&mut stm.pat, &stays);
                true
            }
            Exp::WithAcc { inputs, lambda } if stm.pat.iter().any(|p| p.ty.is_acc()) => {
                self.body(&mut lambda.body);
                let results = self.stays(&lambda.body.result);
                keep(&mut lambda.body.result, &results);
                keep(&mut lambda.ret, &results);
                let arrays: usize = inputs.iter().map(|i| i.arrays.len()).sum();
                keep(&mut stm.pat, &[&vec![true; arrays], &results[inputs.len()..]].concat());
                for (atom, ty, name) in self.handed_from(|s| s.stm == id && id.is_some()) {
                    lambda.body.result.push(atom);
                    lambda.ret.push(ty.clone());
                    stm.pat.push(Param { var: name, ty });
                }
                true
            }
            _ => true,
        }
    }
}

/// A further result that nobody reads.
fn zero(b: &mut Builder, body: &mut Body, ty: &Type, loc: Loc) {
    let value = Atom::from(Prim::zero(ty.elem().unwrap_or(PrimType::Bool)));
    if ty.rank() == 0 {
        body.result.push(value);
        return;
    }
    let var = b.fresh("unread");
    let exp = Exp::Replicate { dims: ty.dims().to_vec(), value };
    body.stms.push(Stm { pat: vec![Param { var, ty: ty.clone() }], exp, loc });
    body.result.push(var.into());
}
