//! Views by offset and strides: element `[i, j, …]` is at `offset + i * s1 + j * s2 + …`.

use dagaz_core::exp::{Check, Exp, Lambda, MsgPart};
use dagaz_core::prim::{BinOp, CmpOp, PrimType};
use dagaz_core::types::{Atom, Type};

use crate::context::{Res, Simplifier};
use crate::eval::outer_type;
use crate::intrinsics::parallel::atoms;
use crate::value::{ArrayVal, SVal};
use crate::walk::{array_type, flatten, rebuild};

impl Simplifier<'_> {
    fn scalars(&self, args: &[SVal]) -> Res<Vec<Atom>> {
        let scalar = |arg: &SVal| match arg {
            SVal::Scalar(_, atom) => Ok(*atom),
            _ => self.bug("an offset or stride that is not a number"),
        };
        args.iter().map(scalar).collect()
    }

    /// The positions of a view in row-major order.
    fn positions(&mut self, offset: Atom, dims: &[(Atom, Atom)], total: Atom) -> Res<Atom> {
        let integer = Type::Prim(PrimType::I64);
        let iota = Exp::Iota { ty: PrimType::I64, n: total, start: Atom::i64(0), step: Atom::i64(1) };
        let ty = array_type(PrimType::I64, &[total]);
        let numbers = self.emit_var("numbers", ty.clone(), iota);
        let params = self.params("number", std::slice::from_ref(&integer));
        let mut rest = atoms(&params)[0];
        let body = self.body(|s| {
            let mut position = offset;
            for (size, stride) in dims.iter().rev() {
                let index = s.binop(BinOp::Rem, PrimType::I64, rest, *size);
                rest = s.binop(BinOp::Quot, PrimType::I64, rest, *size);
                let step = s.mul(index, *stride);
                position = s.add(position, step);
            }
            Ok(vec![position])
        })?;
        let lambda = Lambda { params, body, ret: vec![integer] };
        Ok(self.emit("positions", ty, Exp::Map { width: total, arrays: vec![numbers], lambda }))
    }

    /// Asserts that all positions of a view are within an array of `size` elements.
    fn check_view(&mut self, size: Atom, offset: Atom, dims: &[(Atom, Atom)], total: Atom) {
        let ty = PrimType::I64;
        let zero = Atom::i64(0);
        let (mut first, mut last) = (offset, offset);
        for (count, stride) in dims {
            let steps = self.sub(*count, Atom::i64(1));
            let reach = self.mul(steps, *stride);
            let down = self.binop(BinOp::Min, ty, reach, zero);
            let up = self.binop(BinOp::Max, ty, reach, zero);
            first = self.add(first, down);
            last = self.add(last, up);
        }
        let empty = self.cmp(CmpOp::Eq, ty, total, zero);
        let first_ok = self.in_bounds(first, size);
        let last_ok = self.in_bounds(last, size);
        let within = self.and(first_ok, last_ok);
        let valid = self.or(empty, within);
        let message = vec![
            MsgPart::Text("Flat slice from ".into()),
            MsgPart::Value(first),
            MsgPart::Text(" to ".into()),
            MsgPart::Value(last),
            MsgPart::Text(" out of bounds for array of shape [".into()),
            MsgPart::Value(size),
            MsgPart::Text("].".into()),
        ];
        self.assert(valid, message);
    }

    pub(super) fn flat_index(&mut self, array: &ArrayVal, args: &[SVal]) -> Res<SVal> {
        let scalars = self.scalars(args)?;
        let Some((offset, rest)) = scalars.split_first() else { return self.bug("a view without an offset") };
        let dims: Vec<(Atom, Atom)> = rest.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        let sizes: Vec<Atom> = dims.iter().map(|(size, _)| *size).collect();
        let total = sizes.iter().fold(Atom::i64(1), |total, size| self.mul(total, *size));
        self.check_view(array.dim, *offset, &dims, total);
        let positions = self.positions(*offset, &dims, total)?;
        let flat = flatten(&array.elem);
        let params = self.params("position", &[Type::Prim(PrimType::I64)]);
        let position = atoms(&params)[0];
        let body = self.body(|s| Ok(flatten(&s.element(array, position, Check::Checked)?).atoms()))?;
        let lambda = Lambda { params, body, ret: flat.types() };
        let types: Vec<Type> = flat.leaves.iter().map(|leaf| outer_type(total, &leaf.ty)).collect();
        let Atom::Var(positions) = positions else { return self.bug("positions that are a constant") };
        let exp = Exp::Map { width: total, arrays: vec![positions], lambda };
        let leaves = self.emit_all("view", &types, exp);
        self.reshape_outer(&rebuild(&array.elem, &flat.dims, &leaves), &sizes)
    }

    pub(super) fn flat_update(&mut self, array: &ArrayVal, args: &[SVal]) -> Res<SVal> {
        let Some((values, scalars)) = args.split_last() else { return self.bug("an update without values") };
        let scalars = self.scalars(scalars)?;
        let Some((offset, strides)) = scalars.split_first() else {
            return self.bug("a view without an offset");
        };
        let (elem, sizes) = self.below(values, strides.len())?;
        let dims: Vec<(Atom, Atom)> = sizes.iter().copied().zip(strides.iter().copied()).collect();
        let total = sizes.iter().fold(Atom::i64(1), |total, size| self.mul(total, *size));
        self.check_view(array.dim, *offset, &dims, total);
        let positions = self.positions(*offset, &dims, total)?;
        let values = self.reshape_outer(&elem, &[total])?;
        let dest = SVal::array(array.dim, array.elem.clone());
        self.scatter(1, &dest, &SVal::array(total, SVal::i64(positions)), &values)
    }
}
