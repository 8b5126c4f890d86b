//! Ranges such as `a..b..<c`, and the message of a failed size coercion.

use dagaz_core::exp::{Exp as CoreExp, MsgPart};
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType};
use dagaz_core::types::{Atom, Type};
use dagaz_syntax::ast::RangeKind;
use dagaz_types::typed::Exp;

use crate::context::{Res, Simplifier};
use crate::eval::int_literal;
use crate::shape::{Target, targets};
use crate::value::{EType, Env, SVal};
use crate::walk::flatten;

impl Simplifier<'_> {
    pub fn range(
        &mut self,
        env: &mut Env,
        exp: &Exp,
        start: &Exp,
        second: Option<&Exp>,
        end: &Exp,
        kind: RangeKind,
    ) -> Res<SVal> {
        let SVal::Scalar(prim, start) = self.eval(env, start)? else {
            return self.bug("a range that does not start with a number");
        };
        let second = second.map(|second| self.eval_scalar(env, second)).transpose()?;
        let end = self.eval_scalar(env, end)?;
        self.at(exp.span);
        let (n, step) = self.range_extent(prim, start, second, end, kind);
        let exp = CoreExp::Iota { ty: prim, n, start, step };
        let ty = Type::Array { elem: prim, dims: vec![n] };
        Ok(SVal::array(n, SVal::Scalar(prim, self.emit("range", ty, exp))))
    }

    /// How many numbers there are, and the difference of neighbours; asserts that the range is valid.
    fn range_extent(
        &mut self,
        prim: PrimType,
        start: Atom,
        second: Option<Atom>,
        end: Atom,
        kind: RangeKind,
    ) -> (Atom, Atom) {
        let downwards_by_default = kind == RangeKind::DownTo;
        let step = match second {
            Some(second) => self.binop(BinOp::Sub, prim, second, start),
            None => Atom::Const(int_literal(prim, if downwards_by_default { -1 } else { 1 })),
        };
        let (zero, one) = (Atom::i64(0), Atom::i64(1));
        // The step of an unsigned type is negative modulo two to its width, so its sign is that of the
        // signed number with the same bits.
        let step_i64 = self.signed(prim, step);
        let (stalls, downwards) = match second {
            None => (Atom::bool(false), Atom::bool(downwards_by_default)),
            Some(_) => (
                self.cmp(CmpOp::Eq, PrimType::I64, step_i64, zero),
                self.cmp(CmpOp::Lt, PrimType::I64, step_i64, zero),
            ),
        };
        let wrong_direction = match kind {
            RangeKind::Inclusive => Atom::bool(false),
            RangeKind::UpTo => downwards,
            RangeKind::DownTo => {
                let upwards = self.cmp(CmpOp::Lt, PrimType::I64, zero, step_i64);
                if second.is_some() { upwards } else { Atom::bool(false) }
            }
        };
        let descending = match kind {
            RangeKind::Inclusive => downwards,
            RangeKind::UpTo => Atom::bool(false),
            RangeKind::DownTo => Atom::bool(true),
        };
        let too_low = self.cmp(CmpOp::Lt, prim, start, end);
        let too_high = self.cmp(CmpOp::Lt, prim, end, start);
        let beyond = self.select(descending, PrimType::Bool, too_low, too_high);
        let stuck = self.or(wrong_direction, stalls);
        let invalid = self.or(stuck, beyond);
        let valid = self.not(invalid);
        let message = self.range_message(prim, start, second, end, kind);
        self.assert(valid, message);
        let down = self.binop(BinOp::Sub, prim, start, end);
        let up = self.binop(BinOp::Sub, prim, end, start);
        let distance = self.select(descending, prim, down, up);
        let distance = self.convert(prim, PrimType::I64, distance);
        let distance = match kind {
            RangeKind::Inclusive => self.add(distance, one),
            RangeKind::UpTo | RangeKind::DownTo => distance,
        };
        if second.is_none() {
            return (distance, step);
        }
        let opposite = self.sub(zero, step_i64);
        let size = self.select(downwards, PrimType::I64, opposite, step_i64);
        let padded = self.add(distance, size);
        let padded = self.sub(padded, one);
        (self.binop(BinOp::Div, PrimType::I64, padded, size), step)
    }

    /// An integer as an `i64`, by the sign bit of its own width.
    fn signed(&mut self, prim: PrimType, atom: Atom) -> Atom {
        let same_width = match prim {
            PrimType::U8 => PrimType::I8,
            PrimType::U16 => PrimType::I16,
            PrimType::U32 => PrimType::I32,
            PrimType::U64 => PrimType::I64,
            PrimType::I8 | PrimType::I16 | PrimType::I32 | PrimType::I64 => prim,
            PrimType::F16 | PrimType::F32 | PrimType::F64 | PrimType::Bool => prim,
        };
        let atom = self.convert(prim, same_width, atom);
        self.convert(same_width, PrimType::I64, atom)
    }

    fn range_message(
        &mut self,
        prim: PrimType,
        start: Atom,
        second: Option<Atom>,
        end: Atom,
        kind: RangeKind,
    ) -> Vec<MsgPart> {
        let shown = |s: &mut Self, atom| MsgPart::Value(s.convert(prim, PrimType::I64, atom));
        let mut parts = vec![MsgPart::Text("Range ".into()), shown(self, start)];
        if let Some(second) = second {
            parts.push(MsgPart::Text("..".into()));
            parts.push(shown(self, second));
        }
        let dots = match kind {
            RangeKind::Inclusive => "...",
            RangeKind::UpTo => "..<",
            RangeKind::DownTo => "..>",
        };
        parts.push(MsgPart::Text(dots.into()));
        parts.push(shown(self, end));
        parts.push(MsgPart::Text(" is invalid.".into()));
        parts
    }

    /// The check of `value :> ty`.
    pub fn assert_shape(&mut self, value: &SVal, ty: &EType) {
        let dims = flatten(value).dims;
        let wanted: Vec<Atom> = (targets(value, ty).iter().zip(&dims))
            .map(|(target, dim)| match target {
                Target::Known(atom) => *atom,
                Target::Free(_) | Target::Own => *dim,
            })
            .collect();
        let elem = match flatten(value).leaves.as_slice() {
            [leaf] => match &leaf.ty {
                Type::Prim(prim) | Type::Array { elem: prim, .. } => prim.name(),
                Type::Acc { .. } => "",
            },
            _ => "",
        };
        for (dim, want) in dims.iter().zip(&wanted) {
            self.assert_equal(*dim, *want, || {
                let mut parts = vec![MsgPart::Text("Value of (desugared) shape ".into())];
                show_shape(&dims, &mut parts);
                parts.push(MsgPart::Text(" cannot match shape of type \"".into()));
                show_shape(&wanted, &mut parts);
                parts.push(MsgPart::Text(format!("{elem}\".")));
                parts
            });
        }
    }
}

fn show_shape(dims: &[Atom], parts: &mut Vec<MsgPart>) {
    for dim in dims {
        match dim {
            Atom::Const(Prim::I64(size)) => parts.push(MsgPart::Text(format!("[{size}]"))),
            Atom::Const(_) | Atom::Var(_) => {
                parts.extend([MsgPart::Text("[".into()), MsgPart::Value(*dim), MsgPart::Text("]".into())])
            }
        }
    }
}
