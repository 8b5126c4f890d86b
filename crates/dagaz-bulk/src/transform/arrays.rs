//! Scalar operations, and operations that make and move arrays: one operation of Core is one bulk operation, with an assertion
//! in front where the former can stop the program.
//!
//! ```text
//! let (y: i64) = i64.div x n       ==>   let (ok: bool) = i64.eq n 0 …
//!                                        assert ok ("division by zero: ", x, "i64 divided by 0")
//!                                        let (y: i64) = i64.div x n
//! ```

use dagaz_core::effects::may_fail_at;
use dagaz_core::exp::{self, Check, DimSlice, Exp, MsgPart};
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::term::{Combine, Op, Span};

use super::{Transform, Transformed, unsupported};

fn text(text: &str) -> MsgPart {
    MsgPart::Text(text.to_owned())
}

impl Transform<'_> {
    /// Binds the only variable of a pattern.
    pub(super) fn bind_one(&mut self, pat: &[Param], op: Op) {
        let pat = pat.iter().map(|p| self.param(p)).collect();
        self.b.push(pat, op);
    }

    pub(super) fn assert(&mut self, cond: Atom, message: Vec<MsgPart>) {
        if cond != Atom::bool(true) {
            self.b.push(Vec::new(), Op::Assert { cond, message });
        }
    }

    pub(super) fn scalar(&mut self, stm: &exp::Stm) {
        let op = match &stm.exp {
            Exp::UnOp(op, ty, a) => Op::UnOp(*op, *ty, self.atom(*a)),
            Exp::BinOp(op, ty, a, b) => {
                let (x, y) = (self.atom(*a), self.atom(*b));
                self.check_binop(*op, *ty, x, y);
                Op::BinOp(*op, *ty, x, y)
            }
            Exp::TernOp(op, ty, operands) => Op::TernOp(*op, *ty, operands.map(|a| self.atom(a))),
            Exp::CmpOp(op, ty, a, b) => Op::CmpOp(*op, *ty, self.atom(*a), self.atom(*b)),
            Exp::Convert(from, to, a) => Op::Convert(*from, *to, self.atom(*a)),
            _ => return,
        };
        self.bind_one(&stm.pat, op);
    }

    fn check_binop(&mut self, op: BinOp, ty: PrimType, x: Atom, y: Atom) {
        if !may_fail_at(op, ty, y) {
            return;
        }
        let zero = Atom::Const(Prim::zero(ty));
        if op == BinOp::Pow {
            let ok = self.b.cmp(CmpOp::Le, ty, zero, y);
            let (base, exponent) = (MsgPart::Value(x), MsgPart::Value(y));
            let between = text(&format!("{ty} to the power "));
            self.assert(ok, vec![text("negative exponent: "), base, between, exponent, text(ty.name())]);
            return;
        }
        let is_zero = self.b.cmp(CmpOp::Eq, ty, y, zero);
        let ok = self.b.not(is_zero);
        let rest = text(&format!("{ty} divided by 0"));
        self.assert(ok, vec![text("division by zero: "), MsgPart::Value(x), rest]);
    }

    /// Asserts that indices are within an array.
    fn check_indices(&mut self, array: VarId, indices: &[Atom]) {
        let dims = self.b.dims_of(array);
        let mut ok = Atom::bool(true);
        for (index, size) in indices.iter().zip(&dims) {
            let low = self.b.cmp(CmpOp::Le, PrimType::I64, Atom::i64(0), *index);
            let high = self.b.cmp(CmpOp::Lt, PrimType::I64, *index, *size);
            ok = self.b.and(ok, low);
            ok = self.b.and(ok, high);
        }
        let mut message = vec![text("Index [")];
        for (i, index) in indices.iter().enumerate() {
            message.extend((i > 0).then(|| text(", ")));
            message.push(MsgPart::Value(*index));
        }
        message.push(text("] out of bounds for array of shape "));
        for dim in dims {
            message.extend([text("["), MsgPart::Value(dim), text("]")]);
        }
        message.push(text("."));
        self.assert(ok, message);
    }

    pub(super) fn part_of_array(&mut self, stm: &exp::Stm) -> Transformed<()> {
        match &stm.exp {
            Exp::Index { array, indices, check } => {
                let (array, indices) = (self.array(*array), self.atoms(indices));
                if *check == Check::Checked {
                    self.check_indices(array, &indices);
                }
                self.bind_one(&stm.pat, Op::Gather { array, indices });
            }
            Exp::Slice { array, dims } => {
                let array = self.array(*array);
                let spans = self.spans(array, dims);
                if dims.iter().all(|dim| matches!(dim, DimSlice::Range { .. })) {
                    self.bind_one(&stm.pat, Op::Slice { array, dims: spans });
                    return Ok(());
                }
                let part = self.b.slice(array, spans);
                let kept = stm.pat.iter().flat_map(|p| p.ty.dims().to_vec()).collect::<Vec<_>>();
                let dims = self.atoms(&kept);
                self.bind_one(&stm.pat, Op::Reshape { dims, array: part });
            }
            Exp::Update { array, dims, value, check } => {
                let array = self.array(*array);
                let fixed: Option<Vec<Atom>> = dims
                    .iter()
                    .map(|dim| match dim {
                        DimSlice::Fix(i) => Some(self.atom(*i)),
                        DimSlice::Range { .. } => None,
                    })
                    .collect();
                match fixed {
                    Some(indices) => {
                        if *check == Check::Checked {
                            self.check_indices(array, &indices);
                        }
                        let values = vec![self.atom(*value)];
                        let op =
                            Op::Scatter { dests: vec![array], indices, values, combine: Combine::Replace };
                        self.bind_one(&stm.pat, op);
                    }
                    None => {
                        let spans = self.spans(array, dims);
                        let Atom::Var(value) = self.atom(*value) else {
                            return unsupported("a slice that is overwritten by a constant", stm.loc);
                        };
                        let lens = spans.iter().map(|span| span.len).collect();
                        let value = self.b.reshape(value, lens);
                        self.bind_one(&stm.pat, Op::Update { array, dims: spans, value });
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Parts of all dimensions; those that are not mentioned are whole.
    fn spans(&self, array: VarId, dims: &[DimSlice]) -> Vec<Span> {
        let own = self.b.dims_of(array);
        let mentioned = dims.iter().map(|dim| match dim {
            DimSlice::Fix(i) => Span::at(self.atom(*i)),
            DimSlice::Range { start, len, stride } => {
                Span { start: self.atom(*start), len: self.atom(*len), stride: self.atom(*stride) }
            }
        });
        mentioned.chain(own.into_iter().skip(dims.len()).map(Span::all)).collect()
    }

    /// Asserts that sizes are not negative, where that is not known.
    fn check_sizes(&mut self, stm: &exp::Stm, sizes: &[Atom], what: &str) {
        if self.effects.is_makeable(stm) {
            return;
        }
        for size in sizes {
            let ok = self.b.cmp(CmpOp::Le, PrimType::I64, Atom::i64(0), *size);
            self.assert(ok, vec![text(&format!("{what} is negative: ")), MsgPart::Value(*size)]);
        }
    }

    pub(super) fn whole_array(&mut self, stm: &exp::Stm) {
        let op = match &stm.exp {
            Exp::Iota { ty, n, start, step } => {
                let (n, start, step) = (self.atom(*n), self.atom(*start), self.atom(*step));
                self.check_sizes(stm, &[n], "the size of an iota");
                self.iota(*ty, n, start, step)
            }
            Exp::Replicate { dims, value } => {
                let (mut dims, value) = (self.atoms(dims), self.atom(*value));
                self.check_sizes(stm, &dims, "the size of a replicate");
                let outer = dims.len();
                let ty = self.b.type_of(value);
                dims.extend(ty.dims());
                Op::Broadcast { dims, axes: (outer..outer + ty.rank()).collect(), value }
            }
            Exp::Rearrange { perm, array } => Op::Transpose { perm: perm.clone(), array: self.array(*array) },
            Exp::Reshape { dims, array } => Op::Reshape { dims: self.atoms(dims), array: self.array(*array) },
            Exp::Concat { arrays } => Op::Concat { axis: 0, arrays: self.arrays(arrays) },
            Exp::Scratch { elem, dims } => {
                let value = Prim::zero(*elem).into();
                Op::Broadcast { dims: self.atoms(dims), axes: Vec::new(), value }
            }
            Exp::ArrayLit { row, elems } => Op::Stack { row: self.ty(row), elems: self.atoms(elems) },
            _ => return,
        };
        self.bind_one(&stm.pat, op);
    }

    /// `start + i * step` for `i < n`.
    fn iota(&mut self, ty: PrimType, n: Atom, start: Atom, step: Atom) -> Op {
        let (zero, one) = (Atom::Const(Prim::zero(ty)), Atom::Const(Prim::one(ty)));
        let iota = Op::Iota { ty, n };
        if start == zero && step == one {
            return iota;
        }
        let row = Type::array(ty, vec![n]);
        let mut values = self.b.op("iota", row.clone(), iota);
        let wide = |t: &mut Self, atom: Atom| match atom {
            Atom::Const(_) => atom,
            Atom::Var(_) => t.b.replicate(&[n], atom).into(),
        };
        if step != one {
            let step = wide(self, step);
            values = self.b.op("steps", row, Op::BinOp(BinOp::Mul, ty, values, step));
        }
        let start = wide(self, start);
        Op::BinOp(BinOp::Add, ty, start, values)
    }

    pub(super) fn contract(&mut self, stm: &exp::Stm) {
        // Terms outside of the triangles are zero, or nobody reads their sums, so that they may be computed.
        let Exp::Contract { sizes, rank, left, right, plus, triangles: _ } = &stm.exp else { return };
        let operand = |o: &exp::AxesOf| exp::AxesOf { array: self.array(o.array), axes: o.axes.clone() };
        let op =
            Op::Dot { sizes: self.atoms(sizes), rank: *rank, left: operand(left), right: operand(right) };
        let Some(plus) = plus else { return self.bind_one(&stm.pat, op) };
        let plus = self.array(*plus);
        let ty = self.b.type_of(plus.into());
        let product = self.b.op("dot", ty.clone(), op);
        let elem = ty.elem().unwrap_or(PrimType::F64);
        self.bind_one(&stm.pat, Op::BinOp(BinOp::Add, elem, plus.into(), product));
    }
}
