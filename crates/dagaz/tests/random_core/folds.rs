//! Maps, reductions, scans, histograms, scatters and accumulators of random programs, and the operators of folds.

use dagaz_core::exp::{AccInput, Body, Exp, Lambda, Loc};
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::generate::Generator;

/// An associative operator with a neutral element.
enum Operator {
    /// Of one scalar.
    Binary(BinOp, PrimType, Prim),
    /// `(a, b) ∘ (c, d) = (a c, b c + d)`: linear recurrences, which do not commute.
    Recurrence(PrimType),
    /// The lesser key, and its number; the smaller number of equal keys.
    Least(PrimType),
}

impl Operator {
    fn types(&self) -> Vec<Type> {
        match self {
            Operator::Binary(_, ty, _) => vec![(*ty).into()],
            Operator::Recurrence(ty) => vec![(*ty).into(); 2],
            Operator::Least(key) => vec![(*key).into(), Type::I64],
        }
    }

    fn neutral(&self) -> Vec<Atom> {
        match self {
            Operator::Binary(_, _, neutral) => vec![(*neutral).into()],
            Operator::Recurrence(ty) => vec![Prim::one(*ty).into(), Prim::zero(*ty).into()],
            Operator::Least(key) => vec![Prim::highest(*key).into(), Atom::i64(i64::MAX)],
        }
    }

    fn is_commutative(&self) -> bool {
        !matches!(self, Operator::Recurrence(_))
    }
}

impl Generator {
    /// An operator whose first result has this type.
    fn operator(&mut self, ty: PrimType) -> Operator {
        if ty == PrimType::Bool {
            return match self.dice.below(2) {
                0 => Operator::Binary(BinOp::And, ty, Prim::Bool(true)),
                _ => Operator::Binary(BinOp::Or, ty, Prim::Bool(false)),
            };
        }
        match self.dice.below(7) {
            0 => Operator::Binary(BinOp::Max, ty, Prim::lowest(ty)),
            1 => Operator::Binary(BinOp::Min, ty, Prim::highest(ty)),
            2 if ty.is_int() => Operator::Binary(BinOp::Mul, ty, Prim::one(ty)),
            3 if ty.is_int() => Operator::Recurrence(ty),
            4 => Operator::Least(ty),
            // Sums of many numbers are not exact in small types.
            _ if ty == PrimType::F32 => Operator::Binary(BinOp::Max, ty, Prim::lowest(ty)),
            _ => Operator::Binary(BinOp::Add, ty, Prim::zero(ty)),
        }
    }

    fn lambda_of(&mut self, operator: &Operator) -> Lambda {
        let types = operator.types();
        let named: Vec<(&str, Type)> = types.iter().chain(&types).map(|ty| ("x", ty.clone())).collect();
        let loc = Loc::NONE;
        self.b.lambda(&named, types.clone(), |b, xs| match operator {
            Operator::Binary(op, ty, _) => {
                vec![b.let_exp("z", (*ty).into(), Exp::BinOp(*op, *ty, xs[0], xs[1]), loc)]
            }
            Operator::Recurrence(ty) => {
                let (scale, shifted) = (b.mul(*ty, xs[0], xs[2], loc), b.mul(*ty, xs[1], xs[2], loc));
                vec![scale, b.add(*ty, shifted, xs[3], loc)]
            }
            Operator::Least(key) => {
                let less = b.let_exp("c", Type::BOOL, Exp::CmpOp(CmpOp::Lt, *key, xs[0], xs[2]), loc);
                let same = b.let_exp("c", Type::BOOL, Exp::CmpOp(CmpOp::Eq, *key, xs[0], xs[2]), loc);
                let first =
                    b.let_exp("c", Type::BOOL, Exp::CmpOp(CmpOp::Le, PrimType::I64, xs[1], xs[3]), loc);
                let tie =
                    b.let_exp("c", Type::BOOL, Exp::BinOp(BinOp::And, PrimType::Bool, same, first), loc);
                let cond = b.let_exp("c", Type::BOOL, Exp::BinOp(BinOp::Or, PrimType::Bool, less, tie), loc);
                let side = |i: usize| Body { stms: Vec::new(), result: vec![xs[i], xs[i + 1]] };
                let exp = Exp::If { cond, then: side(0), otherwise: side(2) };
                b.let_exps("l", &types, exp, loc).into_iter().map(Atom::from).collect()
            }
        })
    }

    /// Arrays along this size, with the types of their rows: those that are there, or the numbers from zero on.
    fn rows(&mut self, width: Atom) -> (Vec<VarId>, Vec<Type>) {
        let (mut arrays, mut rows) = (Vec::new(), Vec::new());
        for _ in 0..1 + self.dice.below(2) {
            if let Some(array) = self.variable(|ty| ty.dims().first() == Some(&width)) {
                rows.extend(array.ty.row());
                arrays.push(array.var);
            }
        }
        if arrays.is_empty() || self.dice.once_in(2) {
            let (start, step) = (Atom::i64(0), Atom::i64(1));
            let iota = Exp::Iota { ty: PrimType::I64, n: width, start, step };
            let ty = Type::array(PrimType::I64, vec![width]);
            let numbers = self.bind(&ty, iota);
            arrays.push(self.as_var(&ty, numbers));
            rows.push(Type::I64);
        }
        (arrays, rows)
    }

    fn lambda(&mut self, rows: &[Type], ret: Vec<Type>, depth: usize) -> Lambda {
        let params: Vec<Param> = rows.iter().map(|ty| self.b.fresh_param("x", ty.clone())).collect();
        let body = self.body(&params, &ret, depth);
        Lambda { params, body, ret }
    }

    pub fn map(&mut self, ty: &Type, depth: usize) -> Atom {
        let (width, row) = (ty.dims()[0], ty.row().unwrap_or(Type::I64));
        let (arrays, rows) = self.rows(width);
        let mut ret = vec![row];
        if self.dice.once_in(3) {
            ret.push(self.any_type(2));
        }
        let lambda = self.lambda(&rows, ret.clone(), depth);
        let types: Vec<Type> = ret.iter().map(|ty| ty.with_outer(&[width])).collect();
        self.bind_all(&types, Exp::Map { width, arrays, lambda })
    }

    /// What a fold takes: an operator, arrays, and what comes before it.
    fn fold(&mut self, ty: PrimType, width: Atom, depth: usize) -> (Operator, Vec<VarId>, Lambda) {
        let operator = self.operator(ty);
        let (arrays, rows) = self.rows(width);
        let pre = self.lambda(&rows, operator.types(), depth);
        (operator, arrays, pre)
    }

    /// A scalar that a reduction gives.
    pub fn folded(&mut self, ty: PrimType, depth: usize) -> Atom {
        let width = self.size();
        let (operator, arrays, pre) = self.fold(ty, width, depth);
        let (op, neutral) = (self.lambda_of(&operator), operator.neutral());
        let commutative = operator.is_commutative() && self.dice.once_in(2);
        let exp = Exp::Reduce { width, arrays, pre: Some(pre), op, neutral, commutative };
        let total = self.bind_all(&operator.types(), exp);
        self.finite(ty, total)
    }

    /// Neutral elements can be infinite, and sums large.
    fn finite(&mut self, ty: PrimType, x: Atom) -> Atom {
        let Some(most) = Prim::of_f64(ty, 4096.0) else { return x };
        let least = Prim::of_f64(ty, -4096.0).unwrap_or(most);
        let x = self.bind(&ty.into(), Exp::BinOp(BinOp::Min, ty, x, most.into()));
        self.bind(&ty.into(), Exp::BinOp(BinOp::Max, ty, x, least.into()))
    }

    /// The same for all elements of a vector.
    fn all_finite(&mut self, ty: PrimType, width: Atom, xs: Atom) -> Atom {
        if !ty.is_float() {
            return xs;
        }
        let whole = Type::array(ty, vec![width]);
        let array = self.as_var(&whole, xs);
        let param = self.b.fresh_param("x", ty.into());
        self.b.push_scope();
        let outside = self.scope.len();
        let result = vec![self.finite(ty, param.var.into())];
        self.scope.truncate(outside);
        let body = Body { stms: self.b.pop_scope(), result };
        let lambda = Lambda { params: vec![param], body, ret: vec![ty.into()] };
        self.bind(&whole, Exp::Map { width, arrays: vec![array], lambda })
    }

    pub fn scan(&mut self, ty: PrimType, width: Atom, depth: usize) -> Atom {
        let (operator, arrays, pre) = self.fold(ty, width, depth);
        let (op, neutral) = (self.lambda_of(&operator), operator.neutral());
        let types: Vec<Type> = operator.types().iter().map(|ty| ty.with_outer(&[width])).collect();
        let all = self.bind_all(&types, Exp::Scan { width, arrays, pre: Some(pre), op, neutral });
        self.all_finite(ty, width, all)
    }

    /// A copy of an array, to be consumed.
    fn own(&mut self, ty: &Type, depth: usize) -> VarId {
        let value = self.value(ty, depth);
        let array = self.as_var(ty, value);
        self.bind_silently(ty, Exp::Copy(array))
    }

    /// A histogram of one operator, whose values come from a map of its own.
    pub fn hist(&mut self, ty: PrimType, dims: &[Atom], depth: usize) -> Atom {
        let operator = match self.operator(ty) {
            Operator::Recurrence(_) | Operator::Least(_) => {
                Operator::Binary(BinOp::Max, ty, Prim::lowest(ty))
            }
            operator @ Operator::Binary(..) => operator,
        };
        let whole = Type::array(ty, dims.to_vec());
        let width = self.size();
        let (arrays, rows) = self.rows(width);
        let ret: Vec<Type> = dims.iter().map(|_| Type::I64).chain([ty.into()]).collect();
        let pre = self.lambda(&rows, ret, depth);
        let dests = vec![self.own(&whole, depth)];
        let (op, neutral) = (self.lambda_of(&operator), operator.neutral());
        let exp = Exp::Hist { width, arrays, pre: Some(pre), dests, shape: dims.to_vec(), op, neutral };
        let var = self.bind_silently(&whole, exp);
        match dims {
            [width] => self.all_finite(ty, *width, var.into()),
            _ => var.into(),
        }
    }

    /// A scatter to different places: those of a step from a place on, some of which may not exist.
    pub fn scatter(&mut self, ty: PrimType, size: Atom, depth: usize) -> Atom {
        let whole = Type::array(ty, vec![size]);
        let width = self.size();
        let start = self.value(&Type::I64, depth.min(1));
        let start = self.bind(&Type::I64, Exp::BinOp(BinOp::Rem, PrimType::I64, start, Atom::i64(7)));
        let step = Atom::i64([1, -1, 2, 3][self.dice.below(4)]);
        let places = Exp::Iota { ty: PrimType::I64, n: width, start, step };
        let places = self.bind_silently(&Type::array(PrimType::I64, vec![width]), places);
        let (value_ty, dests) = (Type::array(ty, vec![width]), vec![self.own(&whole, depth)]);
        let values = self.value(&value_ty, depth);
        let arrays = vec![places, self.as_var(&value_ty, values)];
        self.bind(&whole, Exp::Scatter { width, arrays, pre: None, dests, shape: vec![size] })
    }

    /// An accumulator to which the iterations of a map add, some of them nothing.
    pub fn accumulated(&mut self, ty: PrimType, size: Atom, depth: usize) -> Atom {
        let whole = Type::array(ty, vec![size]);
        let acc_ty = Type::Acc { index_dims: vec![size], elems: vec![ty.into()] };
        let arrays = vec![self.own(&whole, depth)];
        let add = Operator::Binary(BinOp::Add, ty, Prim::zero(ty));
        let op = Some((self.lambda_of(&add), add.neutral()));
        let acc = self.b.fresh_param("acc", acc_ty.clone());
        self.b.push_scope();
        let outside = self.scope.len();
        let result = vec![self.adding(acc.var, &acc_ty, ty, depth)];
        self.scope.truncate(outside);
        let body = Body { stms: self.b.pop_scope(), result };
        let lambda = Lambda { params: vec![acc], body, ret: vec![acc_ty] };
        let inputs = vec![AccInput { shape: vec![size], arrays, op }];
        let total = self.bind_silently(&whole, Exp::WithAcc { inputs, lambda });
        self.all_finite(ty, size, total.into())
    }

    /// The map that adds.
    fn adding(&mut self, acc: VarId, acc_ty: &Type, ty: PrimType, depth: usize) -> Atom {
        let width = self.size();
        let (mut arrays, rows) = self.rows(width);
        let mut params: Vec<Param> = rows.iter().map(|ty| self.b.fresh_param("x", ty.clone())).collect();
        let inner = self.b.fresh_param("acc", acc_ty.clone());
        self.b.push_scope();
        let outside = self.scope.len();
        self.scope.extend(params.iter().cloned());
        let cond = self.value(&Type::BOOL, depth.min(1));
        let then = self.update(inner.var, acc_ty, ty, depth);
        let otherwise = Body { stms: Vec::new(), result: vec![inner.var.into()] };
        let exp = Exp::If { cond, then, otherwise };
        let result = vec![self.bind_silently(acc_ty, exp).into()];
        self.scope.truncate(outside);
        let body = Body { stms: self.b.pop_scope(), result };
        params.push(inner);
        arrays.push(acc);
        let lambda = Lambda { params, body, ret: vec![acc_ty.clone()] };
        self.bind_silently(acc_ty, Exp::Map { width, arrays, lambda }).into()
    }

    fn update(&mut self, acc: VarId, acc_ty: &Type, ty: PrimType, depth: usize) -> Body {
        let outside = self.scope.len();
        self.b.push_scope();
        let indices = vec![self.value(&Type::I64, depth)];
        let values = vec![self.value(&ty.into(), depth)];
        let result = vec![self.bind_silently(acc_ty, Exp::UpdateAcc { acc, indices, values }).into()];
        self.scope.truncate(outside);
        Body { stms: self.b.pop_scope(), result }
    }
}
