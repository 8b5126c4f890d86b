//! Reductions, scans and scatters. The axis comes first, or last where elements are combined one by one.

use dagaz_core::exp::{self, AxesOf, Exp};
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::term::{Combine, Op, Stm, neutral};

use super::Back;

impl Back {
    fn rearranged(&mut self, array: VarId, perm: &[usize]) -> VarId {
        if perm.iter().copied().eq(0..perm.len()) {
            return array;
        }
        let dims = self.dims_of(array);
        let ty = Type::array(self.elem_of(array), perm.iter().map(|p| dims[*p]).collect());
        self.let_var("turned", ty, Exp::Rearrange { perm: perm.to_vec(), array })
    }

    /// A product without axes in its result, which is no contraction: all elements in the order of the axes, multiplied and added.
    pub(super) fn inner_product(&mut self, sizes: &[Atom], left: &AxesOf, right: &AxesOf) -> Exp {
        let count = self.b.product(sizes, self.loc);
        let elem = self.elem_of(left.array);
        let arrays: Vec<VarId> = [left, right]
            .into_iter()
            .map(|operand| {
                let place = |axis| operand.axes.iter().position(|own| *own == axis);
                let perm: Vec<usize> = (0..sizes.len()).filter_map(place).collect();
                let turned = self.rearranged(operand.array, &perm);
                self.flat(turned.into(), sizes, count, &elem.into())
            })
            .collect();
        let pre = Some(self.b.binop_lambda(BinOp::Mul, elem, self.loc));
        let op = self.b.binop_lambda(BinOp::Add, elem, self.loc);
        let start = neutral(BinOp::Add, elem).map_or(Atom::bool(false), Atom::Const);
        Exp::Reduce { width: count, arrays, pre, op, neutral: vec![start], commutative: true }
    }

    pub(super) fn fold_by(&mut self, op: BinOp, ty: PrimType, axis: usize, array: VarId) -> Exp {
        let rank = self.dims_of(array).len();
        let perm: Vec<usize> = (0..rank).filter(|i| *i != axis).chain([axis]).collect();
        let array = self.rearranged(array, &perm);
        let dims = self.dims_of(array);
        let (outer, width) = (&dims[..rank - 1], dims[rank - 1]);
        let start = neutral(op, ty).map_or(Atom::bool(false), Atom::Const);
        self.nest(outer, &[array.into()], ty.into(), &mut |back, now| {
            let arrays = now.iter().filter_map(|atom| atom.as_var()).collect();
            let op = back.b.binop_lambda(op, ty, back.loc);
            Exp::Reduce { width, arrays, pre: None, op, neutral: vec![start], commutative: true }
        })
    }

    pub(super) fn fold(&mut self, stm: &Stm) {
        let (axis, arrays, op, neutral) = match &stm.op {
            Op::Reduce { axis, arrays, op, neutral } | Op::Scan { axis, arrays, op, neutral } => {
                (*axis, arrays, op, neutral)
            }
            _ => return,
        };
        let turned: Vec<VarId> = arrays
            .iter()
            .map(|array| {
                let rank = self.dims_of(*array).len();
                let perm: Vec<usize> = [axis].into_iter().chain((0..rank).filter(|i| *i != axis)).collect();
                self.rearranged(*array, &perm)
            })
            .collect();
        let width = turned.first().and_then(|a| self.dims_of(*a).first().copied()).unwrap_or(Atom::i64(0));
        let (loc, neutral) = (self.loc, neutral.clone());
        let op = self.lambda(op);
        self.loc = loc;
        if let Op::Reduce { .. } = stm.op {
            let exp = Exp::Reduce { width, arrays: turned, pre: None, op, neutral, commutative: false };
            return self.push(&stm.pat, exp);
        }
        let pat: Vec<Param> = turned
            .iter()
            .map(|array| {
                let ty = self.type_of((*array).into());
                self.b.fresh_param("scanned", ty)
            })
            .collect();
        self.push(&pat, Exp::Scan { width, arrays: turned, pre: None, op, neutral });
        for (own, scanned) in stm.pat.iter().zip(pat) {
            let rank = own.ty.rank();
            let perm: Vec<usize> = (1..=axis).chain([0]).chain(axis + 1..rank).collect();
            self.push(std::slice::from_ref(own), Exp::Rearrange { perm, array: scanned.var });
        }
    }

    /// The values along one dimension, instead of those of the indices or of none.
    fn flat(&mut self, value: Atom, outer: &[Atom], count: Atom, row: &Type) -> VarId {
        let ty = row.with_outer(&[count]);
        let dims = ty.dims().to_vec();
        match value {
            Atom::Const(_) => self.let_var("same", ty, Exp::Replicate { dims, value }),
            Atom::Var(_) if outer.is_empty() => {
                self.let_var("one", ty, Exp::Replicate { dims: vec![count], value })
            }
            Atom::Var(array) if outer.len() == 1 => array,
            Atom::Var(array) => self.let_var("flat", ty, Exp::Reshape { dims, array }),
        }
    }

    pub(super) fn scatter(&mut self, stm: &Stm) {
        let Op::Scatter { dests, indices, values, combine } = &stm.op else { return };
        let outer = indices.iter().find_map(|i| i.as_var()).map_or(Vec::new(), |i| self.dims_of(i));
        let count = match outer.as_slice() {
            [one] => *one,
            _ => self.b.product(&outer, self.loc),
        };
        let own = dests.first().map_or(Vec::new(), |d| self.dims_of(*d));
        let shape = own.iter().take(indices.len()).copied().collect();
        let mut arrays: Vec<VarId> =
            indices.iter().map(|index| self.flat(*index, &outer, count, &Type::I64)).collect();
        let mut rows = Vec::new();
        for (dest, value) in dests.iter().zip(values) {
            let row = self.type_of((*dest).into()).peel(indices.len()).unwrap_or(Type::I64);
            arrays.push(self.flat(*value, &outer, count, &row));
            rows.push(row);
        }
        let (width, pre, dests) = (count, None, dests.clone());
        let exp = match combine {
            Combine::Replace => Exp::Scatter { width, arrays, pre, dests, shape },
            Combine::Op(op, neutral) => {
                let loc = self.loc;
                let (op, neutral) = (self.lambda(op), neutral.clone());
                self.loc = loc;
                Exp::Hist { width, arrays, pre, dests, shape, op, neutral }
            }
            Combine::By(op) => {
                let row = rows.into_iter().next().unwrap_or(Type::I64);
                let (op, start) = self.row_operator(*op, &row);
                Exp::Hist { width, arrays, pre, dests, shape, op, neutral: vec![start] }
            }
        };
        self.push(&stm.pat, exp);
    }

    /// A scalar operation on all elements of two rows, and its neutral row.
    fn row_operator(&mut self, op: BinOp, row: &Type) -> (exp::Lambda, Atom) {
        let elem = row.elem().unwrap_or(PrimType::I64);
        let start = neutral(op, elem).map_or(Atom::bool(false), Atom::Const);
        let params = vec![self.b.fresh_param("x", row.clone()), self.b.fresh_param("y", row.clone())];
        let operands: Vec<Atom> = params.iter().map(|p| p.var.into()).collect();
        self.b.push_scope();
        let exp =
            self.nest(row.dims(), &operands, elem.into(), &mut |_, now| Exp::BinOp(op, elem, now[0], now[1]));
        let result = vec![self.let_exp("z", row.clone(), exp)];
        let body = exp::Body { stms: self.b.pop_scope(), result };
        let lambda = exp::Lambda { params, body, ret: vec![row.clone()] };
        let start = match row.dims() {
            [] => start,
            dims => self.let_exp("start", row.clone(), Exp::Replicate { dims: dims.to_vec(), value: start }),
        };
        (lambda, start)
    }
}
