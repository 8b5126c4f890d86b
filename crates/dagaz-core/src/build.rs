//! A builder of Core: collects statements into nested scopes and invents variables.
//!
//! ```
//! use dagaz_core::build::Builder;
//! use dagaz_core::exp::{Loc, Vars};
//! use dagaz_core::prim::PrimType;
//! use dagaz_core::types::{Atom, Type};
//!
//! let mut b = Builder::new(Vars::default());
//! let x = b.fresh_param("x", Type::Prim(PrimType::I64));
//! let body = b.body(|b| {
//!     let y = b.mul(PrimType::I64, x.var.into(), Atom::i64(1), Loc::NONE); // folds to x
//!     let z = b.add(PrimType::I64, y, Atom::i64(2), Loc::NONE);
//!     vec![z]
//! });
//! assert_eq!(body.stms.len(), 1);
//! ```

use std::collections::HashMap;

use crate::exp::{Body, Check, Exp, Lambda, Loc, Stm, Vars};
use crate::prim::{BinOp, CmpOp, Prim, PrimType, UnOp};
use crate::prim_eval::{convert, eval_binop, eval_cmpop, eval_unop};
use crate::types::{Atom, Param, Type, VarId};

#[derive(Clone, Debug, Default)]
pub struct Builder {
    pub vars: Vars,
    /// The types of the variables that were made or bound here, and of those that it was told.
    pub types: HashMap<VarId, Type>,
    /// The statements so far of each open scope, the innermost last. Never empty.
    scopes: Vec<Vec<Stm>>,
}

/// Variables, scopes and statements.
impl Builder {
    pub fn new(vars: Vars) -> Builder {
        Builder { vars, types: HashMap::new(), scopes: vec![Vec::new()] }
    }

    /// The variables, and the statements of the outermost scope.
    pub fn finish(mut self) -> (Vars, Vec<Stm>) {
        let stms = self.scopes.drain(..).flatten().collect();
        (self.vars, stms)
    }

    pub fn fresh(&mut self, hint: &str) -> VarId {
        self.vars.fresh(hint)
    }

    /// The name that a variable was given.
    pub fn hint(&self, var: VarId) -> String {
        self.vars.hint(var).to_owned()
    }

    pub fn fresh_param(&mut self, hint: &str, ty: Type) -> Param {
        let param = Param::new(self.fresh(hint), ty);
        self.note(&param);
        param
    }

    /// Notes the type of a variable that is bound elsewhere.
    pub fn note(&mut self, param: &Param) {
        self.types.insert(param.var, param.ty.clone());
    }

    pub fn push_scope(&mut self) {
        self.scopes.push(Vec::new());
    }

    /// Closes the innermost scope and returns its statements.
    pub fn pop_scope(&mut self) -> Vec<Stm> {
        let stms = self.scopes.pop().unwrap_or_default();
        if self.scopes.is_empty() {
            self.scopes.push(Vec::new());
        }
        stms
    }

    /// Appends a statement to the innermost scope.
    pub fn push(&mut self, stm: Stm) {
        stm.pat.iter().for_each(|param| self.note(param));
        match self.scopes.last_mut() {
            Some(scope) => scope.push(stm),
            None => self.scopes.push(vec![stm]),
        }
    }

    /// The statements that `build` adds and the atoms it returns, as a body.
    pub fn body(&mut self, build: impl FnOnce(&mut Builder) -> Vec<Atom>) -> Body {
        self.push_scope();
        let result = build(self);
        Body { stms: self.pop_scope(), result }
    }

    /// As [`Builder::body`], where `build` can fail.
    pub fn try_body<E>(
        &mut self,
        build: impl FnOnce(&mut Builder) -> Result<Vec<Atom>, E>,
    ) -> Result<Body, E> {
        self.push_scope();
        let result = build(self);
        let stms = self.pop_scope();
        Ok(Body { stms, result: result? })
    }

    /// A lambda with new parameters of the given hints and types.
    pub fn lambda(
        &mut self,
        params: &[(&str, Type)],
        ret: Vec<Type>,
        build: impl FnOnce(&mut Builder, &[Atom]) -> Vec<Atom>,
    ) -> Lambda {
        let params: Vec<Param> = params.iter().map(|(hint, ty)| self.fresh_param(hint, ty.clone())).collect();
        let atoms: Vec<Atom> = params.iter().map(|p| p.var.into()).collect();
        let body = self.body(|b| build(b, &atoms));
        Lambda { params, body, ret }
    }

    /// The lambda of one scalar operation, `\(x, y) -> x op y`: an operand of reductions and scans.
    pub fn binop_lambda(&mut self, op: BinOp, ty: PrimType, loc: Loc) -> Lambda {
        let params = [("x", ty.into()), ("y", ty.into())];
        self.lambda(&params, vec![ty.into()], |b, xy| {
            vec![b.let_exp("z", ty.into(), Exp::BinOp(op, ty, xy[0], xy[1]), loc)]
        })
    }

    /// Binds one new variable to the expression.
    pub fn let_exp(&mut self, hint: &str, ty: Type, exp: Exp, loc: Loc) -> Atom {
        self.let_var(hint, ty, exp, loc).into()
    }

    /// As [`Builder::let_exp`], for places that take a variable.
    pub fn let_var(&mut self, hint: &str, ty: Type, exp: Exp, loc: Loc) -> VarId {
        let param = self.fresh_param(hint, ty);
        let var = param.var;
        self.push(Stm { pat: vec![param], exp, loc });
        var
    }

    /// Binds several new variables whose types do not mention each other.
    pub fn let_exps(&mut self, hint: &str, types: &[Type], exp: Exp, loc: Loc) -> Vec<VarId> {
        let pat: Vec<Param> = types.iter().map(|ty| self.fresh_param(hint, ty.clone())).collect();
        let vars = pat.iter().map(|p| p.var).collect();
        self.push(Stm { pat, exp, loc });
        vars
    }

    /// The atom as a variable, bound if it is a constant.
    pub fn atom_var(&mut self, hint: &str, ty: Type, atom: Atom, loc: Loc) -> VarId {
        match atom {
            Atom::Var(var) => var,
            Atom::Const(_) => self.let_var(hint, ty, Exp::Atom(atom), loc),
        }
    }
}

/// Scalar operations, folded where the operands say so.
impl Builder {
    pub fn unop(&mut self, op: UnOp, ty: PrimType, x: Atom, loc: Loc) -> Atom {
        if let Atom::Const(x) = x
            && let Ok(folded) = eval_unop(op, x)
        {
            return folded.into();
        }
        self.let_exp(op.name(), op.result(ty).into(), Exp::UnOp(op, ty, x), loc)
    }

    pub fn binop(&mut self, op: BinOp, ty: PrimType, x: Atom, y: Atom, loc: Loc) -> Atom {
        fold_binop(op, ty, x, y)
            .unwrap_or_else(|| self.let_exp(op.name(), ty.into(), Exp::BinOp(op, ty, x, y), loc))
    }

    pub fn cmp(&mut self, op: CmpOp, ty: PrimType, x: Atom, y: Atom, loc: Loc) -> Atom {
        if let (Atom::Const(x), Atom::Const(y)) = (x, y)
            && let Ok(folded) = eval_cmpop(op, x, y)
        {
            return Atom::bool(folded);
        }
        if x == y && !ty.is_float() {
            return Atom::bool(op != CmpOp::Lt);
        }
        self.let_exp(op.name(), Type::BOOL, Exp::CmpOp(op, ty, x, y), loc)
    }

    pub fn convert(&mut self, from: PrimType, to: PrimType, x: Atom, loc: Loc) -> Atom {
        match x {
            _ if from == to => x,
            Atom::Const(x) => convert(to, x).into(),
            Atom::Var(_) => self.let_exp(to.name(), to.into(), Exp::Convert(from, to, x), loc),
        }
    }

    pub fn add(&mut self, ty: PrimType, x: Atom, y: Atom, loc: Loc) -> Atom {
        self.binop(BinOp::Add, ty, x, y, loc)
    }

    pub fn sub(&mut self, ty: PrimType, x: Atom, y: Atom, loc: Loc) -> Atom {
        self.binop(BinOp::Sub, ty, x, y, loc)
    }

    pub fn mul(&mut self, ty: PrimType, x: Atom, y: Atom, loc: Loc) -> Atom {
        self.binop(BinOp::Mul, ty, x, y, loc)
    }

    pub fn eq(&mut self, ty: PrimType, x: Atom, y: Atom, loc: Loc) -> Atom {
        self.cmp(CmpOp::Eq, ty, x, y, loc)
    }

    pub fn lt(&mut self, ty: PrimType, x: Atom, y: Atom, loc: Loc) -> Atom {
        self.cmp(CmpOp::Lt, ty, x, y, loc)
    }

    pub fn le(&mut self, ty: PrimType, x: Atom, y: Atom, loc: Loc) -> Atom {
        self.cmp(CmpOp::Le, ty, x, y, loc)
    }

    pub fn and(&mut self, x: Atom, y: Atom, loc: Loc) -> Atom {
        self.binop(BinOp::And, PrimType::Bool, x, y, loc)
    }

    pub fn or(&mut self, x: Atom, y: Atom, loc: Loc) -> Atom {
        self.binop(BinOp::Or, PrimType::Bool, x, y, loc)
    }

    pub fn not(&mut self, x: Atom, loc: Loc) -> Atom {
        self.unop(UnOp::Not, PrimType::Bool, x, loc)
    }

    /// The product of sizes.
    pub fn product(&mut self, sizes: &[Atom], loc: Loc) -> Atom {
        sizes.iter().fold(Atom::i64(1), |product, size| self.mul(PrimType::I64, product, *size, loc))
    }

    /// The sum of sizes.
    pub fn sum(&mut self, sizes: &[Atom], loc: Loc) -> Atom {
        sizes.iter().fold(Atom::i64(0), |sum, size| self.add(PrimType::I64, sum, *size, loc))
    }

    /// `array[indices]`, of the type that `array_ty` has after as many dimensions.
    pub fn index(
        &mut self,
        array: VarId,
        array_ty: &Type,
        indices: Vec<Atom>,
        check: Check,
        loc: Loc,
    ) -> Atom {
        let ty = array_ty.peel(indices.len()).unwrap_or_else(|| array_ty.clone());
        self.let_exp("elem", ty, Exp::Index { array, indices, check }, loc)
    }
}

/// Constants, and the identities that hold for every value of the type: not `x * 0.0`, which may be NaN,
/// nor `x + 0.0`, which loses the sign of a zero.
pub fn fold_binop(op: BinOp, ty: PrimType, x: Atom, y: Atom) -> Option<Atom> {
    if let (Atom::Const(x), Atom::Const(y)) = (x, y) {
        return eval_binop(op, x, y).ok().map(Atom::Const);
    }
    let is = |atom: Atom, prim: Prim| atom == Atom::Const(prim);
    let (zero, one) = (Prim::zero(ty), Prim::one(ty));
    if ty == PrimType::Bool {
        return match op {
            BinOp::And if is(x, one) || is(y, zero) => Some(y),
            BinOp::And if is(y, one) || is(x, zero) => Some(x),
            BinOp::Or if is(x, zero) || is(y, one) => Some(y),
            BinOp::Or if is(y, zero) || is(x, one) => Some(x),
            _ => None,
        };
    }
    match op {
        BinOp::Mul if is(x, one) => Some(y),
        BinOp::Mul | BinOp::Div if is(y, one) => Some(x),
        _ if ty.is_float() => None,
        BinOp::Add if is(x, zero) => Some(y),
        BinOp::Add | BinOp::Sub if is(y, zero) => Some(x),
        BinOp::Sub if x == y => Some(zero.into()),
        BinOp::Mul if is(x, zero) || is(y, zero) => Some(zero.into()),
        BinOp::Quot if is(y, one) => Some(x),
        _ => None,
    }
}
