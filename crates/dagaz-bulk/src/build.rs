//! A builder of bulk programs: collects statements into nested scopes, invents variables and knows their types.

use std::collections::HashMap;

use dagaz_core::build::fold_binop;
use dagaz_core::exp::{Loc, Vars};
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType, UnOp};
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::term::{Body, Lambda, Op, Span, Stm};

pub(crate) struct Builder {
    pub vars: Vars,
    pub types: HashMap<VarId, Type>,
    /// The statements so far of each open scope, the innermost last.
    scopes: Vec<Vec<Stm>>,
    /// The place of what is being made.
    pub loc: Loc,
}

impl Builder {
    pub fn new(vars: Vars) -> Builder {
        Builder { vars, types: HashMap::new(), scopes: vec![Vec::new()], loc: Loc::NONE }
    }

    pub fn note(&mut self, param: &Param) {
        self.types.insert(param.var, param.ty.clone());
    }

    pub fn param(&mut self, hint: &str, ty: Type) -> Param {
        let param = Param::new(self.vars.fresh(hint), ty);
        self.note(&param);
        param
    }

    /// A new variable with the name of another one.
    pub fn param_like(&mut self, var: VarId, ty: Type) -> Param {
        let hint = self.vars.hint(var).to_owned();
        self.param(&hint, ty)
    }

    pub fn type_of(&self, atom: Atom) -> Type {
        match atom {
            Atom::Const(prim) => Type::Prim(prim.ty()),
            Atom::Var(var) => match self.types.get(&var) {
                Some(ty) => ty.clone(),
                None => panic!("{}_{} has no type", self.vars.hint(var), var.0),
            },
        }
    }

    pub fn dims_of(&self, var: VarId) -> Vec<Atom> {
        self.type_of(var.into()).dims().to_vec()
    }

    pub fn push(&mut self, pat: Vec<Param>, op: Op) {
        pat.iter().for_each(|param| self.note(param));
        let stm = Stm { pat, op, loc: self.loc };
        match self.scopes.last_mut() {
            Some(scope) => scope.push(stm),
            None => self.scopes.push(vec![stm]),
        }
    }

    pub fn open(&mut self) {
        self.scopes.push(Vec::new());
    }

    /// Opens a scope that was closed, to go on with it.
    pub fn reopen(&mut self, stms: Vec<Stm>) {
        self.scopes.push(stms);
    }

    pub fn close(&mut self) -> Vec<Stm> {
        self.scopes.pop().unwrap_or_default()
    }

    pub fn body(&mut self, build: impl FnOnce(&mut Builder) -> Vec<Atom>) -> Body {
        self.open();
        let result = build(self);
        Body { stms: self.close(), result }
    }

    /// Binds one new variable to the operation.
    pub fn var(&mut self, hint: &str, ty: Type, op: Op) -> VarId {
        let param = self.param(hint, ty);
        let var = param.var;
        self.push(vec![param], op);
        var
    }

    pub fn op(&mut self, hint: &str, ty: Type, op: Op) -> Atom {
        self.var(hint, ty, op).into()
    }

    /// The atom as a variable.
    pub fn as_var(&mut self, atom: Atom) -> VarId {
        match atom {
            Atom::Var(var) => var,
            Atom::Const(prim) => self.var("c", prim.ty().into(), Op::Atom(atom)),
        }
    }
}

/// Scalar operations on operands of one shape, or constants.
impl Builder {
    /// The shape that operands of a scalar operation have in common.
    fn shape(&self, operands: &[Atom]) -> Vec<Atom> {
        operands
            .iter()
            .filter_map(|atom| atom.as_var())
            .map(|var| self.dims_of(var))
            .next()
            .unwrap_or_default()
    }

    pub fn binop(&mut self, op: BinOp, ty: PrimType, x: Atom, y: Atom) -> Atom {
        let dims = self.shape(&[x, y]);
        // An operation with zero or one must not lose the shape of the other operand.
        match fold_binop(op, ty, x, y) {
            Some(folded) if dims.is_empty() || folded.as_var().is_some() => folded,
            _ => self.op(op.name(), Type::array(ty, dims), Op::BinOp(op, ty, x, y)),
        }
    }

    pub fn cmp(&mut self, op: CmpOp, ty: PrimType, x: Atom, y: Atom) -> Atom {
        if let (Atom::Const(x), Atom::Const(y)) = (x, y)
            && let Ok(folded) = dagaz_core::prim_eval::eval_cmpop(op, x, y)
        {
            return Atom::bool(folded);
        }
        let dims = self.shape(&[x, y]);
        self.op(op.name(), Type::array(PrimType::Bool, dims), Op::CmpOp(op, ty, x, y))
    }

    pub fn and(&mut self, x: Atom, y: Atom) -> Atom {
        self.binop(BinOp::And, PrimType::Bool, x, y)
    }

    pub fn not(&mut self, x: Atom) -> Atom {
        if let Atom::Const(Prim::Bool(b)) = x {
            return Atom::bool(!b);
        }
        let dims = self.shape(&[x]);
        self.op("not", Type::array(PrimType::Bool, dims), Op::UnOp(UnOp::Not, PrimType::Bool, x))
    }

    pub fn select(&mut self, ty: &Type, cond: Atom, yes: Atom, no: Atom) -> Atom {
        match cond {
            Atom::Const(Prim::Bool(true)) => yes,
            Atom::Const(Prim::Bool(false)) => no,
            _ if yes == no => yes,
            _ => self.op("select", ty.clone(), Op::Select { cond, yes, no }),
        }
    }
}

/// Arrays.
impl Builder {
    /// The value repeated along new outer dimensions.
    pub fn replicate(&mut self, outer: &[Atom], value: Atom) -> VarId {
        let ty = self.type_of(value);
        let axes = (outer.len()..outer.len() + ty.rank()).collect();
        let wide = ty.with_outer(outer);
        let dims = wide.dims().to_vec();
        let hint = value.as_var().map_or("same".to_owned(), |var| self.vars.hint(var).to_owned());
        self.var(&hint, wide, Op::Broadcast { dims, axes, value })
    }

    /// The value, which has the first dimensions of `dims` as its own, repeated along the others.
    pub fn extend(&mut self, value: VarId, dims: &[Atom]) -> VarId {
        let own = self.dims_of(value).len();
        if own == dims.len() {
            return value;
        }
        let elem = self.type_of(value.into()).elem().unwrap_or(PrimType::I64);
        let op = Op::Broadcast { dims: dims.to_vec(), axes: (0..own).collect(), value: value.into() };
        self.var("same", Type::array(elem, dims.to_vec()), op)
    }

    pub fn iota(&mut self, ty: PrimType, n: Atom) -> VarId {
        self.var("iota", Type::array(ty, vec![n]), Op::Iota { ty, n })
    }

    /// `0, 1, …` along one axis of an array of the shape.
    pub fn iota_along(&mut self, axis: usize, dims: &[Atom]) -> VarId {
        let n = dims.get(axis).copied().unwrap_or(Atom::i64(0));
        let iota = self.iota(PrimType::I64, n);
        if dims.len() == 1 {
            return iota;
        }
        let op = Op::Broadcast { dims: dims.to_vec(), axes: vec![axis], value: iota.into() };
        self.var("along", Type::array(PrimType::I64, dims.to_vec()), op)
    }

    pub fn fold(&mut self, op: BinOp, ty: PrimType, axis: usize, array: VarId) -> Atom {
        let mut dims = self.dims_of(array);
        dims.remove(axis.min(dims.len().saturating_sub(1)));
        self.op(op.name(), Type::array(ty, dims), Op::Fold { op, ty, axis, array })
    }

    pub fn gather(&mut self, hint: &str, array: VarId, indices: Vec<Atom>) -> Atom {
        let outer = self.shape(&indices);
        let row = self.type_of(array.into()).peel(indices.len()).unwrap_or(Type::I64);
        self.op(hint, row.with_outer(&outer), Op::Gather { array, indices })
    }

    pub fn slice(&mut self, array: VarId, dims: Vec<Span>) -> VarId {
        let elem = self.type_of(array.into()).elem().unwrap_or(PrimType::I64);
        let lens = dims.iter().map(|span| span.len).collect();
        self.var("slice", Type::array(elem, lens), Op::Slice { array, dims })
    }

    pub fn reshape(&mut self, array: VarId, dims: Vec<Atom>) -> VarId {
        let elem = self.type_of(array.into()).elem().unwrap_or(PrimType::I64);
        self.var("shaped", Type::array(elem, dims.clone()), Op::Reshape { dims, array })
    }

    /// Slice `j` along an axis.
    pub fn slice_at(&mut self, array: VarId, axis: usize, j: Atom) -> Atom {
        let mut dims = self.dims_of(array);
        if axis == 0 {
            return self.gather("row", array, vec![j]);
        }
        let span = |(i, len): (usize, &Atom)| if i == axis { Span::at(j) } else { Span::all(*len) };
        let spans = dims.iter().enumerate().map(span).collect();
        let part = self.slice(array, spans);
        dims.remove(axis);
        self.reshape(part, dims).into()
    }
}

/// The operation that an operator on two rows is, where it is one, and a commutative one.
pub(crate) fn as_binop(op: &Lambda) -> Option<BinOp> {
    let ([x, y], [stm], [result]) =
        (op.params.as_slice(), op.body.stms.as_slice(), op.body.result.as_slice())
    else {
        return None;
    };
    let Op::BinOp(binop, ty, a, b) = &stm.op else { return None };
    let operands = [*a, *b];
    let params = [Atom::Var(x.var), Atom::Var(y.var)];
    let in_order = operands == params || operands == [params[1], params[0]] && !ty.is_float();
    let bound = stm.pat.first().map(|p| Atom::Var(p.var));
    (in_order && bound == Some(*result) && crate::term::neutral(*binop, *ty).is_some()).then_some(*binop)
}
