//! Operations that move elements.

use dagaz_core::exp::{self, Check, Exp};
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType};
use dagaz_core::types::{Atom, Type, VarId};

use crate::term::{Op, Span};

use super::Back;

impl Back {
    /// Operations with one result, which has the type `ty`.
    pub(super) fn array_op(&mut self, op: &Op, ty: &Type) -> Exp {
        if let Some(exp) = self.elementwise(op, ty) {
            return exp;
        }
        match op {
            Op::Atom(atom) => Exp::Atom(*atom),
            Op::Iota { ty, n } => {
                Exp::Iota { ty: *ty, n: *n, start: Prim::zero(*ty).into(), step: Prim::one(*ty).into() }
            }
            Op::Broadcast { dims, axes, value } => self.broadcast(dims, 0, axes, *value),
            Op::Transpose { perm, array } => Exp::Rearrange { perm: perm.clone(), array: *array },
            Op::Reshape { dims, array } => Exp::Reshape { dims: dims.clone(), array: *array },
            Op::Slice { array, dims } => self.slice(*array, dims, Vec::new(), ty),
            Op::Update { array, dims, value } => self.update(*array, dims, *value),
            Op::Concat { axis, arrays } => self.concat(*axis, arrays, ty),
            Op::Stack { row, elems } => Exp::ArrayLit { row: row.clone(), elems: elems.clone() },
            Op::Gather { array, indices } => self.gather(*array, indices, ty),
            Op::Fold { op, ty: elem, axis, array } => self.fold_by(*op, *elem, *axis, *array),
            Op::Dot { sizes, rank: 0, left, right } => self.inner_product(sizes, left, right),
            Op::Dot { sizes, rank, left, right } => Exp::Contract {
                sizes: sizes.clone(),
                rank: *rank,
                left: left.clone(),
                right: right.clone(),
                plus: None,
                triangles: Vec::new(),
            },
            Op::UnOp(..)
            | Op::BinOp(..)
            | Op::TernOp(..)
            | Op::CmpOp(..)
            | Op::Convert(..)
            | Op::Select { .. } => {
                unreachable!("{op:?} is elementwise")
            }
            Op::Scatter { .. } | Op::Reduce { .. } | Op::Scan { .. } | Op::If { .. } | Op::Loop { .. } => {
                unreachable!("{op:?} has several results")
            }
            Op::Call { .. } | Op::Assert { .. } => unreachable!("{op:?} has several results, or none"),
        }
    }

    /// The value along dimensions `at…`; `axes` are those that it has itself.
    fn broadcast(&mut self, dims: &[Atom], at: usize, axes: &[usize], value: Atom) -> Exp {
        let rest = &dims[at..];
        if axes.len() == rest.len() {
            return Exp::Atom(value);
        }
        if axes.is_empty() {
            return Exp::Replicate { dims: rest.to_vec(), value };
        }
        let elem = self.type_of(value).elem().unwrap_or(PrimType::I64);
        let row = Type::array(elem, dims[at + 1..].to_vec());
        match (axes.split_first(), value) {
            (Some((first, others)), Atom::Var(array)) if *first == at => {
                self.map(rest[0], &[array], row.clone(), |back, rows| {
                    let exp = back.broadcast(dims, at + 1, others, rows[0]);
                    back.let_exp("row", row, exp)
                })
            }
            _ => {
                let exp = self.broadcast(dims, at + 1, axes, value);
                let value = self.let_exp("row", row, exp);
                Exp::Replicate { dims: vec![rest[0]], value }
            }
        }
    }

    fn i64(&mut self, op: BinOp, x: Atom, y: Atom) -> Atom {
        self.b.binop(op, PrimType::I64, x, y, self.loc)
    }

    /// A row or element, or zeros where the indices are outside of the array.
    fn read(&mut self, array: VarId, indices: &[Atom]) -> Exp {
        let ty = self.type_of(array.into());
        let row = ty.peel(indices.len()).unwrap_or(Type::I64);
        let mut inside = Atom::bool(true);
        for (index, size) in indices.iter().zip(ty.dims()) {
            let low = self.b.cmp(CmpOp::Le, PrimType::I64, Atom::i64(0), *index, self.loc);
            let high = self.b.cmp(CmpOp::Lt, PrimType::I64, *index, *size, self.loc);
            inside = self.b.and(inside, low, self.loc);
            inside = self.b.and(inside, high, self.loc);
        }
        let loc = self.loc;
        let then = self.b.body(|b| vec![b.index(array, &ty, indices.to_vec(), Check::Certified, loc)]);
        let zero = Atom::Const(Prim::zero(row.elem().unwrap_or(PrimType::I64)));
        let otherwise = self.b.body(|b| match row.dims() {
            [] => vec![zero],
            dims => vec![b.let_exp(
                "zeros",
                row.clone(),
                Exp::Replicate { dims: dims.to_vec(), value: zero },
                loc,
            )],
        });
        Exp::If { cond: inside, then, otherwise }
    }

    fn gather(&mut self, array: VarId, indices: &[Atom], ty: &Type) -> Exp {
        let own = self.type_of(array.into()).peel(indices.len()).unwrap_or(Type::I64);
        let outer = ty.dims()[..ty.rank() - own.rank()].to_vec();
        self.nest(&outer, indices, own, &mut |back, now| back.read(array, now))
    }

    /// The slice from the first of `dims` on, given the indices of the dimensions before.
    fn slice(&mut self, array: VarId, dims: &[Span], before: Vec<Atom>, ty: &Type) -> Exp {
        let own = self.dims_of(array);
        let whole = |(span, size): (&Span, &Atom)| *span == Span::all(*size);
        if dims.iter().zip(&own[before.len()..]).all(whole) {
            return if before.is_empty() { Exp::Atom(array.into()) } else { self.read(array, &before) };
        }
        let Some((span, rest)) = dims.split_first() else { return Exp::Atom(array.into()) };
        let iota = Exp::Iota { ty: PrimType::I64, n: span.len, start: span.start, step: span.stride };
        let iota = self.let_var("at", Type::array(PrimType::I64, vec![span.len]), iota);
        let row = ty.row().unwrap_or(Type::I64);
        self.map(span.len, &[iota], row.clone(), |back, rows| {
            let before = before.into_iter().chain(rows.iter().copied()).collect();
            let exp = back.slice(array, rest, before, &row);
            back.let_exp("row", row.clone(), exp)
        })
    }

    /// One write for each row of the new part, behind the last dimension of which not all is written.
    fn update(&mut self, array: VarId, dims: &[Span], value: VarId) -> Exp {
        let own = self.dims_of(array);
        let last = dims.iter().zip(&own).rposition(|(span, size)| *span != Span::all(*size));
        let Some(last) = last else { return Exp::Atom(value.into()) };
        let written = &dims[..=last];
        let lens: Vec<Atom> = written.iter().map(|span| span.len).collect();
        let count = self.b.product(&lens, self.loc);
        let row = Type::array(self.elem_of(array), own[last + 1..].to_vec());
        let flat = row.with_outer(&[count]);
        let rows =
            self.let_var("rows", flat.clone(), Exp::Reshape { dims: flat.dims().to_vec(), array: value });
        let (zero, one) = (Atom::i64(0), Atom::i64(1));
        let iota = Exp::Iota { ty: PrimType::I64, n: count, start: zero, step: one };
        let numbers = self.let_var("numbers", Type::array(PrimType::I64, vec![count]), iota);
        let params = vec![self.b.fresh_param("i", Type::I64), self.b.fresh_param("row", row.clone())];
        let (mut number, value) = (Atom::Var(params[0].var), Atom::Var(params[1].var));
        self.b.push_scope();
        let mut result = Vec::new();
        for span in written.iter().rev() {
            // There are rows only where no size is zero.
            let at = self.i64(BinOp::Rem, number, span.len);
            number = self.i64(BinOp::Quot, number, span.len);
            let step = self.i64(BinOp::Mul, at, span.stride);
            result.insert(0, self.i64(BinOp::Add, span.start, step));
        }
        result.push(value);
        let body = exp::Body { stms: self.b.pop_scope(), result };
        let ret = vec![Type::I64; written.len()].into_iter().chain([row]).collect();
        let pre = Some(exp::Lambda { params, body, ret });
        let shape = own[..=last].to_vec();
        Exp::Scatter { width: count, arrays: vec![numbers, rows], pre, dests: vec![array], shape }
    }

    fn concat(&mut self, axis: usize, arrays: &[VarId], ty: &Type) -> Exp {
        if axis == 0 {
            return Exp::Concat { arrays: arrays.to_vec() };
        }
        let row = ty.row().unwrap_or(Type::I64);
        let width = ty.dims().first().copied().unwrap_or(Atom::i64(0));
        self.map(width, arrays, row.clone(), |back, rows| {
            let rows: Vec<VarId> = rows.iter().filter_map(|atom| atom.as_var()).collect();
            let exp = back.concat(axis - 1, &rows, &row);
            back.let_exp("row", row.clone(), exp)
        })
    }
}
