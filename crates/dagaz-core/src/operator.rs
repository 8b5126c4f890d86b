//! What the operators of reductions, scans and histograms are, where they are scalar operations.

use crate::exp::{Exp, Lambda};
use crate::prim::{BinOp, PrimType};
use crate::types::{Atom, Param};

/// One scalar operation of both operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScalarOperator {
    pub op: BinOp,
    pub ty: PrimType,
    /// The right operand comes first.
    pub swapped: bool,
}

/// The operations that an operator consists of, one for each component, in either order of their operands.
pub fn components(op: &Lambda) -> Option<Vec<ScalarOperator>> {
    let (left, right) = op.params.split_at(op.body.result.len().min(op.params.len()));
    if left.len() != right.len() || op.body.stms.len() != op.body.result.len() {
        return None;
    }
    let component = |((x, y), result): ((&Param, &Param), &Atom)| {
        let stm = op.body.stms.iter().find(|stm| stm.pat.iter().any(|p| Atom::Var(p.var) == *result))?;
        let Exp::BinOp(op, ty, a, b) = &stm.exp else { return None };
        let (x, y) = (Atom::Var(x.var), Atom::Var(y.var));
        let found = ScalarOperator { op: *op, ty: *ty, swapped: (*a, *b) == (y, x) };
        ((*a, *b) == (x, y) || found.swapped).then_some(found)
    };
    left.iter().zip(right).zip(&op.body.result).map(component).collect()
}

/// The scalar operation that an operator is.
pub fn scalar_operator(op: &Lambda) -> Option<ScalarOperator> {
    match components(op)?.as_slice() {
        [operator] => Some(*operator),
        _ => None,
    }
}

/// The type of the numbers that an operator adds, component by component.
pub fn sum_type(op: &Lambda) -> Option<PrimType> {
    let components = components(op)?;
    let ty = components.first()?.ty;
    components.iter().all(|own| own.op == BinOp::Add && own.ty == ty).then_some(ty)
}
