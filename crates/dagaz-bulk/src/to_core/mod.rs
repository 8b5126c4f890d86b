//! Back from operations on whole arrays to Core, so that every engine can run them: each operation as operations of Core.
//!
//! ```text
//! let (z: [n]f64) = f64.add xs ys     ==>     let (z: [n]f64) =
//!                                               map n (xs, ys) \(x: f64, y: f64) : (f64) -> … f64.add x y
//! ```
//!
//! Nothing is fused here, which the passes on Core do better. What is read outside of arrays is zero, and what may divide by zero
//! says so, as tests in the maps; proofs that they hold remove them. Arrays are plain values in the result.

mod arrays;
mod folds;
mod scalars;

use dagaz_core::build::Builder;
use dagaz_core::exp::{self, Exp, Loc};
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::term::{Body, Lambda, LoopForm, Op, Program, Stm};

/// The program as Core, at the stage at which arrays are values.
pub fn to_core(program: &Program) -> exp::Program {
    let mut back = Back { b: Builder::new(program.vars.clone()), loc: Loc::NONE };
    program.consts.iter().for_each(|stm| back.stm(stm));
    let consts = back.b.pop_scope();
    let mut funs = Vec::new();
    for fun in &program.funs {
        fun.params.iter().for_each(|p| back.b.note(p));
        let body = back.body(&fun.body);
        let (params, ret) = (fun.params.clone(), fun.ret.clone());
        funs.push(exp::Fun { name: fun.name.clone(), params, ret, body, loc: fun.loc });
    }
    let (vars, _) = back.b.finish();
    exp::Program { consts, funs, entries: program.entries.clone(), vars, locs: program.locs.clone() }
}

struct Back {
    b: Builder,
    loc: Loc,
}

impl Back {
    fn body(&mut self, body: &Body) -> exp::Body {
        self.b.push_scope();
        body.stms.iter().for_each(|stm| self.stm(stm));
        exp::Body { stms: self.b.pop_scope(), result: body.result.clone() }
    }

    fn lambda(&mut self, lambda: &Lambda) -> exp::Lambda {
        lambda.params.iter().for_each(|p| self.b.note(p));
        exp::Lambda { params: lambda.params.clone(), body: self.body(&lambda.body), ret: lambda.ret.clone() }
    }

    fn type_of(&self, atom: Atom) -> Type {
        match atom {
            Atom::Const(prim) => prim.ty().into(),
            Atom::Var(var) => match self.b.types.get(&var) {
                Some(ty) => ty.clone(),
                None => panic!("{}_{} has no type", self.b.hint(var), var.0),
            },
        }
    }

    fn dims_of(&self, var: VarId) -> Vec<Atom> {
        self.type_of(var.into()).dims().to_vec()
    }

    fn elem_of(&self, var: VarId) -> PrimType {
        self.type_of(var.into()).elem().unwrap_or(PrimType::I64)
    }

    fn push(&mut self, pat: &[Param], exp: Exp) {
        self.b.push(exp::Stm { pat: pat.to_vec(), exp, loc: self.loc });
    }

    fn let_exp(&mut self, hint: &str, ty: Type, exp: Exp) -> Atom {
        self.b.let_exp(hint, ty, exp, self.loc)
    }

    fn let_var(&mut self, hint: &str, ty: Type, exp: Exp) -> VarId {
        self.b.let_var(hint, ty, exp, self.loc)
    }

    fn stm(&mut self, stm: &Stm) {
        self.loc = stm.loc;
        match &stm.op {
            Op::If { cond, then, otherwise } => {
                let (then, otherwise) = (self.body(then), self.body(otherwise));
                self.loc = stm.loc;
                self.push(&stm.pat, Exp::If { cond: *cond, then, otherwise });
            }
            Op::Loop { .. } => self.loop_op(stm),
            Op::Call { fun, args } => self.push(&stm.pat, Exp::Call { fun: *fun, args: args.clone() }),
            Op::Assert { cond, message } => {
                self.push(&stm.pat, Exp::Assert { cond: *cond, message: message.clone() });
            }
            Op::Reduce { .. } | Op::Scan { .. } => self.fold(stm),
            Op::Scatter { .. } => self.scatter(stm),
            Op::Atom(_) | Op::UnOp(..) | Op::BinOp(..) | Op::TernOp(..) | Op::CmpOp(..) => {
                self.one_result(stm)
            }
            Op::Convert(..) | Op::Select { .. } | Op::Iota { .. } | Op::Broadcast { .. } => {
                self.one_result(stm)
            }
            Op::Transpose { .. } | Op::Reshape { .. } | Op::Slice { .. } => self.one_result(stm),
            Op::Update { .. } | Op::Concat { .. } | Op::Stack { .. } => self.one_result(stm),
            Op::Gather { .. } | Op::Fold { .. } | Op::Dot { .. } => self.one_result(stm),
        }
    }

    /// An operation without bodies, whose result has the type of the pattern.
    fn one_result(&mut self, stm: &Stm) {
        let Some(param) = stm.pat.first() else { return };
        let exp = self.array_op(&stm.op, &param.ty);
        self.push(&stm.pat, exp);
    }

    fn loop_op(&mut self, stm: &Stm) {
        let Op::Loop { params, form, body, hints } = &stm.op else { return };
        params.iter().for_each(|(p, _)| self.b.note(p));
        let form = match form {
            LoopForm::For { var, ty, bound } => {
                self.b.note(&Param::new(*var, (*ty).into()));
                exp::LoopForm::For { var: *var, ty: *ty, bound: *bound }
            }
            LoopForm::While { cond } => exp::LoopForm::While { cond: self.body(cond) },
        };
        let body = self.body(body);
        self.loc = stm.loc;
        self.push(&stm.pat, Exp::Loop { params: params.clone(), form, body, hints: *hints });
    }

    /// The rows of arrays through a function of them: `width` results of the type `ret`.
    fn map(
        &mut self,
        width: Atom,
        arrays: &[VarId],
        ret: Type,
        f: impl FnOnce(&mut Back, &[Atom]) -> Atom,
    ) -> Exp {
        let mut params = Vec::new();
        for array in arrays {
            let row = self.type_of((*array).into()).row().unwrap_or(Type::I64);
            let hint = self.b.hint(*array);
            params.push(self.b.fresh_param(&hint, row));
        }
        let rows: Vec<Atom> = params.iter().map(|p| p.var.into()).collect();
        self.b.push_scope();
        let result = vec![f(self, &rows)];
        let body = exp::Body { stms: self.b.pop_scope(), result };
        let lambda = exp::Lambda { params, body, ret: vec![ret] };
        Exp::Map { width, arrays: arrays.to_vec(), lambda }
    }

    /// A value for each index of the dimensions: operands that are arrays are indexed, constants are the same everywhere.
    fn nest(
        &mut self,
        dims: &[Atom],
        operands: &[Atom],
        ret: Type,
        f: &mut dyn FnMut(&mut Back, &[Atom]) -> Exp,
    ) -> Exp {
        let Some((width, inner)) = dims.split_first() else { return f(self, operands) };
        let arrays: Vec<VarId> = operands.iter().filter_map(|atom| atom.as_var()).collect();
        let row = ret.with_outer(inner);
        self.map(*width, &arrays, row.clone(), |back, rows| {
            let mut rows = rows.iter();
            let now: Vec<Atom> = operands
                .iter()
                .map(|atom| if atom.as_var().is_some() { *rows.next().unwrap_or(atom) } else { *atom })
                .collect();
            let exp = back.nest(inner, &now, ret, f);
            back.let_exp("x", row, exp)
        })
    }

    /// One of two values that are there already.
    fn choose(&mut self, cond: Atom, yes: Atom, no: Atom) -> Exp {
        let body = |result: Atom| exp::Body { stms: Vec::new(), result: vec![result] };
        Exp::If { cond, then: body(yes), otherwise: body(no) }
    }
}
