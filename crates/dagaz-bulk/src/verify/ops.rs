//! The rules of single operations.

use std::collections::HashMap;

use dagaz_core::exp::{AxesOf, MsgPart};
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, FunId, Type, VarId};

use crate::term::{Body, Combine, Lambda, Op, Span, neutral};

use super::{Given, Verifier};

impl<'p> Verifier<'p> {
    pub(super) fn op(&mut self, op: &'p Op) -> Option<Given> {
        Some(Given::Types(match op {
            Op::UnOp(op, ty, a) => vec![self.elementwise(op.result(*ty), &[(*a, *ty)])?],
            Op::BinOp(op, ty, a, b) => {
                vec![self.elementwise(*ty, &[(*a, *ty), (*b, op.second(*ty))])?]
            }
            Op::TernOp(_, ty, operands) => vec![self.elementwise(*ty, &operands.map(|a| (a, *ty)))?],
            Op::CmpOp(_, ty, a, b) => vec![self.elementwise(PrimType::Bool, &[(*a, *ty), (*b, *ty)])?],
            Op::Convert(from, to, a) => vec![self.elementwise(*to, &[(*a, *from)])?],
            Op::Select { cond, yes, no } => {
                let ty = self.atom(*yes)?.elem()?;
                vec![self.elementwise(ty, &[(*cond, PrimType::Bool), (*yes, ty), (*no, ty)])?]
            }
            Op::Reduce { axis, arrays, op, neutral } => self.fold(*axis, arrays, op, neutral)?,
            Op::Scan { axis, arrays, op, neutral } => {
                self.fold(*axis, arrays, op, neutral)?;
                arrays.iter().map(|array| self.atom((*array).into())).collect::<Option<_>>()?
            }
            Op::Scatter { dests, indices, values, combine } => {
                self.scatter(dests, indices, values, combine)?
            }
            Op::If { cond, then, otherwise } => {
                self.has_type(*cond, &Type::BOOL, "a condition");
                return self.if_op(then, otherwise);
            }
            Op::Loop { params, form, body, .. } => return self.loop_op(params, form, body),
            Op::Call { fun, args } => return self.call(*fun, args),
            Op::Assert { cond, message } => {
                self.has_type(*cond, &Type::BOOL, "the condition of an assertion");
                for part in message {
                    if let MsgPart::Value(value) = part {
                        self.atom(*value);
                    }
                }
                Vec::new()
            }
            Op::Atom(_) | Op::Iota { .. } | Op::Broadcast { .. } | Op::Transpose { .. } => {
                vec![self.array_op(op)?]
            }
            Op::Reshape { .. } | Op::Slice { .. } | Op::Update { .. } | Op::Concat { .. } => {
                vec![self.array_op(op)?]
            }
            Op::Stack { .. } | Op::Gather { .. } | Op::Fold { .. } | Op::Dot { .. } => {
                vec![self.array_op(op)?]
            }
        }))
    }

    /// Operands of one shape, or constants, of the given types.
    fn elementwise(&mut self, result: PrimType, operands: &[(Atom, PrimType)]) -> Option<Type> {
        let mut shape: Option<Vec<Atom>> = None;
        for (atom, ty) in operands {
            let found = self.atom(*atom)?;
            if found.elem() != Some(*ty) {
                let found = self.ty(&found);
                self.error(format!("an operand has type {found}, not elements of type {ty}"));
            }
            if atom.as_const().is_some() {
                continue;
            }
            match &shape {
                None => shape = Some(found.dims().to_vec()),
                Some(dims) if !self.same_sizes(dims, found.dims()) => {
                    self.error("operands of different shapes");
                }
                Some(_) => {}
            }
        }
        Some(Type::array(result, shape.unwrap_or_default()))
    }

    fn array(&mut self, var: VarId) -> Option<(PrimType, Vec<Atom>)> {
        match self.atom(var.into())? {
            Type::Array { elem, dims } => Some((elem, dims)),
            other => {
                let other = self.ty(&other);
                self.error(format!("an array is expected, not a value of type {other}"));
                None
            }
        }
    }

    /// Operations with one result and no bodies.
    fn array_op(&mut self, op: &Op) -> Option<Type> {
        match op {
            Op::Atom(atom) => self.atom(*atom),
            Op::Iota { ty, n } => {
                self.sizes(&[*n]);
                if !ty.is_int() {
                    self.error("an iota of something else than integers");
                }
                Some(Type::array(*ty, vec![*n]))
            }
            Op::Broadcast { dims, axes, value } => {
                self.sizes(dims);
                let ty = self.atom(*value)?;
                let placed: Vec<Atom> = axes.iter().filter_map(|axis| dims.get(*axis)).copied().collect();
                if !self.same_sizes(&placed, ty.dims()) || axes.windows(2).any(|w| w[0] >= w[1]) {
                    self.error("a broadcast along other axes than the value has");
                }
                Some(Type::array(ty.elem()?, dims.clone()))
            }
            Op::Transpose { perm, array } => {
                let (elem, dims) = self.array(*array)?;
                let mut sorted = perm.clone();
                sorted.sort_unstable();
                if !sorted.into_iter().eq(0..dims.len()) {
                    self.error(format!("not a permutation of {} dimensions", dims.len()));
                    return None;
                }
                Some(Type::array(elem, perm.iter().map(|p| dims[*p]).collect()))
            }
            Op::Reshape { dims, array } => {
                self.sizes(dims);
                let (elem, _) = self.array(*array)?;
                Some(Type::array(elem, dims.clone()))
            }
            _ => self.reading(op),
        }
    }

    /// Operations that read or combine parts of arrays.
    fn reading(&mut self, op: &Op) -> Option<Type> {
        match op {
            Op::Slice { array, dims } => self.slice(*array, dims),
            Op::Update { array, dims, value } => {
                let part = self.slice(*array, dims)?;
                self.has_type((*value).into(), &part, "the new part");
                self.atom((*array).into())
            }
            Op::Concat { axis, arrays } => self.concat(*axis, arrays),
            Op::Stack { row, elems } => {
                self.sizes(row.dims());
                for elem in elems {
                    self.has_type(*elem, row, "a row");
                }
                let n = i64::try_from(elems.len()).unwrap_or(i64::MAX);
                Some(row.with_outer(&[Atom::i64(n)]))
            }
            Op::Gather { array, indices } => {
                let outer = self.indices(indices)?;
                let ty = self.atom((*array).into())?;
                match ty.peel(indices.len()) {
                    Some(row) => Some(row.with_outer(&outer)),
                    None => {
                        self.error(format!("{} indices for {} dimensions", indices.len(), ty.rank()));
                        None
                    }
                }
            }
            Op::Fold { op, ty, axis, array } => {
                let (elem, mut dims) = self.array(*array)?;
                if neutral(*op, *ty).is_none() || elem != *ty {
                    self.error("a fold of another type, or without a neutral element");
                }
                self.remove_axis(&mut dims, *axis)?;
                Some(Type::array(elem, dims))
            }
            Op::Dot { sizes, rank, left, right } => self.dot(sizes, *rank, left, right),
            _ => None,
        }
    }

    fn remove_axis(&mut self, dims: &mut Vec<Atom>, axis: usize) -> Option<Atom> {
        if axis >= dims.len() {
            self.error(format!("axis {axis} of {} dimensions", dims.len()));
            return None;
        }
        Some(dims.remove(axis))
    }

    fn slice(&mut self, array: VarId, spans: &[Span]) -> Option<Type> {
        let (elem, dims) = self.array(array)?;
        if spans.len() != dims.len() {
            self.error(format!("{} parts of {} dimensions", spans.len(), dims.len()));
        }
        spans.iter().for_each(|s| self.sizes(&[s.start, s.len, s.stride]));
        Some(Type::array(elem, spans.iter().map(|s| s.len).collect()))
    }

    /// The pattern may name the size along the axis; it is not compared.
    fn concat(&mut self, axis: usize, arrays: &[VarId]) -> Option<Type> {
        let mut first: Option<(PrimType, Vec<Atom>)> = None;
        for array in arrays {
            let (elem, mut dims) = self.array(*array)?;
            self.remove_axis(&mut dims, axis)?;
            match &first {
                None => first = Some((elem, dims)),
                Some((other, rest)) if *other != elem || !self.same_sizes(rest, &dims) => {
                    self.error("a concatenation of different rows");
                }
                Some(_) => {}
            }
        }
        let (elem, mut dims) = first?;
        let named = self.stm.and_then(|stm| stm.pat.first()).and_then(|p| p.ty.dims().get(axis)).copied();
        dims.insert(axis, named?);
        Some(Type::array(elem, dims))
    }

    /// The shape of indices.
    fn indices(&mut self, indices: &[Atom]) -> Option<Vec<Atom>> {
        let operands: Vec<(Atom, PrimType)> = indices.iter().map(|i| (*i, PrimType::I64)).collect();
        Some(self.elementwise(PrimType::I64, &operands)?.dims().to_vec())
    }

    fn dot(&mut self, sizes: &[Atom], rank: usize, left: &AxesOf, right: &AxesOf) -> Option<Type> {
        self.sizes(sizes);
        let mut elem = None;
        for operand in [left, right] {
            let (ty, dims) = self.array(operand.array)?;
            let own: Vec<Atom> = operand.axes.iter().filter_map(|axis| sizes.get(*axis)).copied().collect();
            if !self.same_sizes(&own, &dims) || elem.is_some_and(|elem| elem != ty) {
                self.error("a product of arrays of other sizes or types");
            }
            elem = Some(ty);
        }
        if !matches!(elem, Some(PrimType::F32 | PrimType::F64)) {
            self.error("a product of other elements than f32 or f64");
        }
        let of = |axis: usize| [left, right].map(|o| o.axes.contains(&axis));
        let fits = |axis| if axis < rank { of(axis) != [false, false] } else { of(axis) == [true, true] };
        if !(0..sizes.len()).all(fits) {
            self.error("an axis of a product that is not one of its operands");
        }
        Some(Type::array(elem?, sizes.get(..rank)?.to_vec()))
    }

    fn fold(&mut self, axis: usize, arrays: &[VarId], op: &'p Lambda, start: &[Atom]) -> Option<Vec<Type>> {
        let mut rows = Vec::new();
        let mut length = None;
        for array in arrays {
            let (elem, mut dims) = self.array(*array)?;
            let n = self.remove_axis(&mut dims, axis)?;
            if length.is_some_and(|length| !self.same_size(length, n)) {
                self.error("arrays of different sizes along the axis");
            }
            length = Some(n);
            rows.push(Type::array(elem, dims));
        }
        for (atom, row) in start.iter().zip(&rows) {
            self.has_type(*atom, row, "a neutral element");
        }
        if start.len() != rows.len() {
            self.error("one neutral element for each array is expected");
        }
        self.operator(op, &rows);
        Some(rows)
    }

    /// A function of two values of each type, with one result of each.
    fn operator(&mut self, op: &'p Lambda, rows: &[Type]) {
        let outside = self.scope.clone();
        if op.params.len() != 2 * rows.len() {
            self.error("an operator takes two values of each kind");
        }
        for (param, row) in op.params.iter().zip(rows.iter().chain(rows)) {
            self.expect(&param.ty, row, "a parameter of an operator");
            self.bind(param);
        }
        let got = self.body_results(&op.body);
        if got.len() != rows.len() || op.ret.len() != rows.len() {
            self.error("an operator gives one value of each kind");
        }
        for (got, row) in got.iter().zip(rows) {
            if let Some(got) = got {
                self.expect(got, row, "the result of an operator");
            }
        }
        self.scope = outside;
    }

    fn scatter(
        &mut self,
        dests: &[VarId],
        indices: &[Atom],
        values: &[Atom],
        combine: &'p Combine,
    ) -> Option<Vec<Type>> {
        let outer = self.indices(indices)?;
        let types: Vec<Type> = dests.iter().map(|d| self.atom((*d).into())).collect::<Option<_>>()?;
        if values.len() != dests.len() {
            self.error("one value for each destination is expected");
        }
        let mut rows = Vec::new();
        for (ty, value) in types.iter().zip(values) {
            let Some(row) = ty.peel(indices.len()) else {
                self.error(format!("{} indices for {} dimensions", indices.len(), ty.rank()));
                return None;
            };
            match value {
                Atom::Const(prim) if Some(prim.ty()) == row.elem() => {}
                _ => self.has_type(*value, &row.with_outer(&outer), "what is scattered"),
            }
            rows.push(row);
        }
        match combine {
            Combine::Replace => {}
            Combine::By(_) if rows.len() == 1 => {}
            Combine::By(_) => self.error("an operation combines the elements of one array"),
            Combine::Op(op, start) => {
                for (atom, row) in start.iter().zip(&rows) {
                    self.has_type(*atom, row, "a neutral element");
                }
                self.operator(op, &rows);
            }
        }
        Some(types)
    }

    /// The pattern names sizes that the branches give.
    fn if_op(&mut self, then: &'p Body, otherwise: &'p Body) -> Option<Given> {
        let pat = self.stm.map_or(&[][..], |stm| stm.pat.as_slice());
        for body in [then, otherwise] {
            let got = self.body_results(body);
            self.results(&got, &body.result, pat);
        }
        Some(Given::Named(pat.to_vec(), HashMap::new()))
    }

    fn call(&mut self, fun: FunId, args: &[Atom]) -> Option<Given> {
        let Some(callee) = self.program.fun(fun) else {
            self.error("a call of a function that does not exist");
            return None;
        };
        let got: Vec<Option<Type>> = args.iter().map(|arg| self.atom(*arg)).collect();
        self.results(&got, args, &callee.params);
        let values = callee.params.iter().map(|p| p.var).zip(args.iter().copied()).collect();
        Some(Given::Named(callee.ret.clone(), values))
    }
}
