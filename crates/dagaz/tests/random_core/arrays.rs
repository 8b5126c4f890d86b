//! Arrays of random programs, and branches and loops of any type.

use dagaz_core::exp::{Body, Check, DimSlice, Exp, Loc, LoopForm, LoopHints, Stm};
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type};

use super::generate::Generator;

impl Generator {
    pub fn array(&mut self, elem: PrimType, dims: &[Atom], depth: usize) -> Atom {
        let ty = Type::array(elem, dims.to_vec());
        match (self.dice.below(14), dims) {
            (0, [size]) => self.scan(elem, *size, depth),
            (1, _) => self.hist(elem, dims, depth),
            (2, [size]) => self.scatter(elem, *size, depth),
            // Sums of many numbers are not exact in small types.
            (3, [size]) if elem != PrimType::F32 && elem != PrimType::Bool => {
                self.accumulated(elem, *size, depth)
            }
            (4, [outer, inner]) => self.transposed(elem, *outer, *inner, depth),
            (5, _) => self.reversed(&ty, depth),
            (6, _) => self.updated(&ty, depth),
            (7, [Atom::Const(_), ..]) => self.concatenated(&ty, depth),
            (8, [Atom::Const(_), ..]) => self.listed(&ty, depth),
            (8, _) => {
                let value = self.value(&elem.into(), depth);
                self.bind(&ty, Exp::Replicate { dims: dims.to_vec(), value })
            }
            (9, _) => self.row_of(&ty, depth),
            (10, [size]) => self.flattened(elem, *size, depth),
            _ => self.map(&ty, depth),
        }
    }

    fn transposed(&mut self, elem: PrimType, outer: Atom, inner: Atom, depth: usize) -> Atom {
        let other = Type::array(elem, vec![inner, outer]);
        let value = self.value(&other, depth);
        let array = self.as_var(&other, value);
        self.bind(&Type::array(elem, vec![outer, inner]), Exp::Rearrange { perm: vec![1, 0], array })
    }

    fn whole(size: Atom) -> DimSlice {
        DimSlice::Range { start: Atom::i64(0), len: size, stride: Atom::i64(1) }
    }

    /// The array turned round along its outermost dimension.
    fn reversed(&mut self, ty: &Type, depth: usize) -> Atom {
        let value = self.value(ty, depth);
        let (array, size) = (self.as_var(ty, value), ty.dims()[0]);
        let start = self.b.sub(PrimType::I64, size, Atom::i64(1), Loc::NONE);
        let turned = DimSlice::Range { start, len: size, stride: Atom::i64(-1) };
        let rest = ty.dims().iter().skip(1).map(|size| Self::whole(*size));
        self.bind(ty, Exp::Slice { array, dims: std::iter::once(turned).chain(rest).collect() })
    }

    /// An element or a row is another one.
    fn updated(&mut self, ty: &Type, depth: usize) -> Atom {
        let count = 1 + self.dice.below(ty.rank());
        let value_ty = ty.peel(count).unwrap_or(Type::I64);
        let value = self.value(&value_ty, depth);
        let indices: Vec<Atom> = ty.dims()[..count].iter().map(|size| self.index(*size, 1)).collect();
        let old = self.value(ty, depth);
        let old = self.as_var(ty, old);
        let array = self.bind_silently(ty, Exp::Copy(old));
        let dims = indices.into_iter().map(DimSlice::Fix).collect();
        self.bind(ty, Exp::Update { array, dims, value, check: Check::Checked })
    }

    fn concatenated(&mut self, ty: &Type, depth: usize) -> Atom {
        let size = constant(ty.dims()[0]);
        let first = self.dice.below(size + 1);
        let parts = [first, size - first].map(|part| {
            let mut dims = ty.dims().to_vec();
            dims[0] = Atom::i64(part as i64);
            let part = Type::array(ty.elem().unwrap_or(PrimType::I64), dims);
            let value = self.value(&part, depth);
            self.as_var(&part, value)
        });
        self.bind(ty, Exp::Concat { arrays: parts.to_vec() })
    }

    fn listed(&mut self, ty: &Type, depth: usize) -> Atom {
        let row = ty.row().unwrap_or(Type::I64);
        let elems = (0..constant(ty.dims()[0])).map(|_| self.value(&row, depth)).collect();
        self.bind(ty, Exp::ArrayLit { row, elems })
    }

    /// A row of an array with one more dimension.
    fn row_of(&mut self, ty: &Type, depth: usize) -> Atom {
        let size = self.size();
        let larger = ty.with_outer(&[size]);
        let value = self.value(&larger, depth);
        let array = self.as_var(&larger, value);
        let indices = vec![self.index(size, 1)];
        self.bind(ty, Exp::Index { array, indices, check: Check::Checked })
    }

    /// An array of rows as one row, with an update so that it is not only another name.
    fn flattened(&mut self, elem: PrimType, size: Atom, depth: usize) -> Atom {
        let (matrix, vector) = (Type::array(elem, vec![Atom::i64(1), size]), Type::array(elem, vec![size]));
        let value = self.value(&matrix, depth);
        let array = self.as_var(&matrix, value);
        self.bind(&vector, Exp::Reshape { dims: vec![size], array })
    }

    pub fn control(&mut self, ty: &Type, depth: usize) -> Atom {
        match self.dice.below(4) {
            0 => self.counted(ty, depth),
            1 => self.conditional_loop(ty, depth),
            _ => self.branch(ty, depth),
        }
    }

    fn branch(&mut self, ty: &Type, depth: usize) -> Atom {
        let cond = self.value(&Type::BOOL, depth);
        let then = self.body(&[], std::slice::from_ref(ty), depth);
        if self.dice.once_in(4) {
            self.check(depth.min(1));
        }
        let otherwise = self.body(&[], std::slice::from_ref(ty), depth);
        self.bind(ty, Exp::If { cond, then, otherwise })
    }

    /// The body of a loop that carries a value, which stays small.
    fn carried(&mut self, params: &[Param], ty: &Type, depth: usize) -> Body {
        let outside = self.scope.len();
        self.scope.extend(params.iter().cloned());
        self.b.push_scope();
        let next = self.value(ty, depth);
        let next = match ty {
            Type::Prim(scalar) => self.tame(*scalar, next),
            Type::Array { .. } | Type::Acc { .. } => next,
        };
        self.scope.truncate(outside);
        Body { stms: self.b.pop_scope(), result: vec![next] }
    }

    fn counted(&mut self, ty: &Type, depth: usize) -> Atom {
        let bound = if self.dice.once_in(3) { self.size() } else { Atom::i64(self.dice.below(5) as i64) };
        let initial = self.value(ty, depth);
        let param = self.b.fresh_param("state", ty.clone());
        let counter = self.b.fresh_param("i", Type::I64);
        let body = self.carried(&[param.clone(), counter.clone()], ty, depth);
        let form = LoopForm::For { var: counter.var, ty: PrimType::I64, bound };
        self.bind(ty, Exp::Loop { params: vec![(param, initial)], form, body, hints: LoopHints::NONE })
    }

    /// A loop that counts itself, and may end before.
    fn conditional_loop(&mut self, ty: &Type, depth: usize) -> Atom {
        let (initial, most) = (self.value(ty, depth), Atom::i64(self.dice.below(6) as i64));
        let param = self.b.fresh_param("state", ty.clone());
        let count = self.b.fresh_param("count", Type::I64);
        let params = [param.clone(), count.clone()];
        let going = self.b.fresh_param("going", Type::BOOL);
        let less = Exp::CmpOp(CmpOp::Lt, PrimType::I64, count.var.into(), most);
        let cond = Body {
            stms: vec![Stm { pat: vec![going.clone()], exp: less, loc: Loc::NONE }],
            result: vec![going.var.into()],
        };
        let mut body = self.carried(&params, ty, depth);
        let next = self.b.fresh_param("next", Type::I64);
        let more = Exp::BinOp(BinOp::Add, PrimType::I64, count.var.into(), Prim::I64(1).into());
        body.stms.push(Stm { pat: vec![next.clone()], exp: more, loc: Loc::NONE });
        body.result.push(next.var.into());
        let exp = Exp::Loop {
            params: vec![(param, initial), (count, Atom::i64(0))],
            form: LoopForm::While { cond },
            body,
            hints: LoopHints::NONE,
        };
        self.bind_all(&[ty.clone(), Type::I64], exp)
    }
}

/// A constant size.
fn constant(size: Atom) -> usize {
    match size.as_const().and_then(Prim::as_i64) {
        Some(n) => usize::try_from(n).unwrap_or(0),
        None => 0,
    }
}
