//! Differences that are the opposite of earlier ones, as `x - y` is of `y - x`.
//!
//! Even functions take the earlier one, so that what is computed of both is seen to be equal: distances between points are,
//! from whichever point they are looked at. The difference itself stays, for where it is zero its sign may matter.

use std::collections::HashMap;

use dagaz_core::exp::{Exp, Stm};
use dagaz_core::prim::{BinOp, PrimType, UnOp};
use dagaz_core::types::{Atom, VarId};

use crate::cse::{Key, key};

#[derive(Default)]
pub(crate) struct Opposites {
    /// By the later difference, the earlier one.
    earlier: HashMap<VarId, VarId>,
    /// By `-x`, `x`.
    negated: HashMap<VarId, VarId>,
}

impl Opposites {
    /// Notes a statement, which may be the opposite of one that is available.
    pub fn note(&mut self, stm: &Stm, available: &HashMap<Key, Vec<VarId>>) {
        let [param] = &stm.pat[..] else { return };
        match &stm.exp {
            Exp::UnOp(UnOp::Neg, _, Atom::Var(x)) => {
                self.negated.insert(param.var, *x);
            }
            Exp::BinOp(BinOp::Sub, ty, x, y) if x != y => {
                let opposite = Exp::BinOp(BinOp::Sub, *ty, *y, *x);
                if let Some(first) = find(opposite, stm, available) {
                    self.earlier.insert(param.var, first);
                }
            }
            _ => {}
        }
    }

    /// An even function of a difference becomes that of the earlier opposite.
    pub fn take_first(&self, stm: &mut Stm, available: &HashMap<Key, Vec<VarId>>) {
        match &stm.exp {
            Exp::UnOp(op @ (UnOp::Abs | UnOp::Cos | UnOp::Cosh), ty, Atom::Var(x)) => {
                if let Some(first) = self.earlier.get(x) {
                    stm.exp = Exp::UnOp(*op, *ty, (*first).into());
                }
            }
            Exp::BinOp(BinOp::Mul, ty, Atom::Var(x), Atom::Var(y)) => {
                if let Some((x, y)) = self.square(*ty, (*x, *y), stm, available) {
                    stm.exp = Exp::BinOp(BinOp::Mul, *ty, x.into(), y.into());
                }
            }
            _ => {}
        }
    }

    /// The factors of `x * x` or `-x * x`, of the earlier opposite.
    fn square(
        &self,
        ty: PrimType,
        (x, y): (VarId, VarId),
        stm: &Stm,
        available: &HashMap<Key, Vec<VarId>>,
    ) -> Option<(VarId, VarId)> {
        if x == y {
            return self.earlier.get(&x).map(|first| (*first, *first));
        }
        let of = match (self.negated.get(&x), self.negated.get(&y)) {
            (Some(of), _) if *of == y => y,
            (_, Some(of)) if *of == x => x,
            _ => return None,
        };
        let first = *self.earlier.get(&of)?;
        Some((find(Exp::UnOp(UnOp::Neg, ty, first.into()), stm, available)?, first))
    }
}

/// The variable that has the value of an expression, which would be computed in the place of a statement.
fn find(exp: Exp, stm: &Stm, available: &HashMap<Key, Vec<VarId>>) -> Option<VarId> {
    let key = key(&Stm { exp, pat: stm.pat.clone(), loc: stm.loc })?;
    available.get(&key)?.first().copied()
}
