//! `==` on values of any type without functions: component by component.

use dagaz_core::exp::{Exp, Lambda};
use dagaz_core::prim::{BinOp, CmpOp, PrimType};
use dagaz_core::types::{Atom, Type};

use crate::context::{Res, Simplifier};
use crate::value::{ArrayVal, SVal, SumVal, tag};
use crate::walk::{flatten, rebuild};

impl Simplifier<'_> {
    pub(super) fn equal(&mut self, a: &SVal, b: &SVal) -> Res<Atom> {
        match (a, b) {
            (SVal::Scalar(prim, x), SVal::Scalar(_, y)) => Ok(self.cmp(CmpOp::Eq, *prim, *x, *y)),
            (SVal::Record(xs), SVal::Record(ys)) => {
                let mut result = Atom::bool(true);
                for ((_, x), (_, y)) in xs.iter().zip(ys.iter()) {
                    let equal = self.equal(x, y)?;
                    result = self.and(result, equal);
                }
                Ok(result)
            }
            (SVal::Sum(x), SVal::Sum(y)) => self.equal_sums(x, y),
            (SVal::Array(x), SVal::Array(y)) => self.equal_arrays(x, y),
            _ => self.bug("an equality of functions"),
        }
    }

    /// The same constructor, and the same payload of that one.
    fn equal_sums(&mut self, a: &SumVal, b: &SumVal) -> Res<Atom> {
        let mut result = self.cmp(CmpOp::Eq, PrimType::I8, a.tag, b.tag);
        for (i, ((_, xs), (_, ys))) in a.constrs.iter().zip(&b.constrs).enumerate() {
            if xs.is_empty() {
                continue;
            }
            let active = self.cmp(CmpOp::Eq, PrimType::I8, a.tag, tag(i));
            let inactive = self.not(active);
            let mut payload = Atom::bool(true);
            for (x, y) in xs.iter().zip(ys) {
                let equal = self.equal(x, y)?;
                payload = self.and(payload, equal);
            }
            let holds = self.or(inactive, payload);
            result = self.and(result, holds);
        }
        Ok(result)
    }

    /// The same shape, and then the same elements.
    fn equal_arrays(&mut self, a: &ArrayVal, b: &ArrayVal) -> Res<Atom> {
        let first = SVal::array(a.dim, a.elem.clone());
        let second = SVal::array(b.dim, b.elem.clone());
        let dims = flatten(&first).dims;
        let mut same_shape = Atom::bool(true);
        for (x, y) in dims.iter().zip(flatten(&second).dims) {
            let equal = self.cmp(CmpOp::Eq, PrimType::I64, *x, y);
            same_shape = self.and(same_shape, equal);
        }
        let result = self.branch(
            same_shape,
            |s| {
                let second = s.redim(&second, &dims);
                let (SVal::Array(x), SVal::Array(y)) = (&first, &second) else {
                    return s.bug("an array that is none");
                };
                Ok(SVal::bool(s.equal_rows(x, y)?))
            },
            |_| Ok(SVal::bool(Atom::bool(false))),
        )?;
        match result {
            SVal::Scalar(_, atom) => Ok(atom),
            _ => self.bug("a comparison that is not a boolean"),
        }
    }

    fn equal_rows(&mut self, a: &ArrayVal, b: &ArrayVal) -> Res<Atom> {
        let (x, y) = (flatten(&a.elem), flatten(&b.elem));
        if x.leaves.is_empty() {
            return Ok(Atom::bool(true));
        }
        let xs = self.params("x", &x.types());
        let ys = self.params("y", &y.types());
        let atoms = |params: &[dagaz_core::types::Param]| -> Vec<Atom> {
            params.iter().map(|p| p.var.into()).collect()
        };
        let row_a = rebuild(&a.elem, &x.dims, &atoms(&xs));
        let row_b = rebuild(&b.elem, &y.dims, &atoms(&ys));
        let body = self.body(|s| Ok(vec![s.equal(&row_a, &row_b)?]))?;
        let boolean = Type::Prim(PrimType::Bool);
        let pre = Lambda { params: [xs, ys].concat(), body, ret: vec![boolean.clone()] };
        let arrays = [self.array_vars(&x.leaves)?, self.array_vars(&y.leaves)?].concat();
        let op = self.builder.binop_lambda(BinOp::And, PrimType::Bool, self.loc);
        let exp = Exp::Reduce {
            width: a.dim,
            arrays,
            pre: Some(pre),
            op,
            neutral: vec![Atom::bool(true)],
            commutative: true,
        };
        Ok(self.emit("equal", boolean, exp))
    }
}
