//! Scalar operations: nests of maps over all dimensions. Those that could stop the program have other operands where they would.

use dagaz_core::effects::may_fail_at;
use dagaz_core::exp::Exp;
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType};
use dagaz_core::types::{Atom, Type};

use crate::term::Op;

use super::Back;

impl Back {
    /// A scalar operation or selection; none if it is another operation.
    pub(super) fn elementwise(&mut self, op: &Op, ty: &Type) -> Option<Exp> {
        let operands = match op {
            Op::UnOp(_, _, a) | Op::Convert(_, _, a) => vec![*a],
            Op::BinOp(_, _, a, b) | Op::CmpOp(_, _, a, b) => vec![*a, *b],
            Op::TernOp(_, _, operands) => operands.to_vec(),
            Op::Select { cond, yes, no } => vec![*cond, *yes, *no],
            _ => return None,
        };
        let elem = ty.elem()?;
        Some(self.nest(ty.dims(), &operands, elem.into(), &mut |back, now| match (op, now) {
            (Op::UnOp(op, ty, _), [a]) => Exp::UnOp(*op, *ty, *a),
            (Op::Convert(from, to, _), [a]) => Exp::Convert(*from, *to, *a),
            (Op::BinOp(op, ty, ..), [a, b]) => back.total(*op, *ty, *a, *b),
            (Op::CmpOp(op, ty, ..), [a, b]) => Exp::CmpOp(*op, *ty, *a, *b),
            (Op::TernOp(op, ty, _), [a, b, c]) => Exp::TernOp(*op, *ty, [*a, *b, *c]),
            (Op::Select { .. }, [cond, yes, no]) => back.choose(*cond, *yes, *no),
            _ => Exp::Atom(Prim::zero(elem).into()),
        }))
    }

    /// Zero where the operation would stop the program.
    fn total(&mut self, op: BinOp, ty: PrimType, x: Atom, y: Atom) -> Exp {
        if !may_fail_at(op, ty, y) {
            return Exp::BinOp(op, ty, x, y);
        }
        let (zero, one) = (Atom::Const(Prim::zero(ty)), Atom::Const(Prim::one(ty)));
        let test = if op == BinOp::Pow { CmpOp::Lt } else { CmpOp::Eq };
        let wrong = self.let_exp("wrong", Type::BOOL, Exp::CmpOp(test, ty, y, zero));
        let safe = self.choose(wrong, one, y);
        let safe = self.let_exp("safe", ty.into(), safe);
        let result = self.let_exp(op.name(), ty.into(), Exp::BinOp(op, ty, x, safe));
        self.choose(wrong, zero, result)
    }
}
