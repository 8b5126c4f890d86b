//! Simpler programs of the same meaning, to the bit.
//!
//! ```text
//! let (i: [n]i64) = iota i64 n              ==>   let (y: [n]f64) = slice x [k :+ n * 1]
//! let (j: [n]i64) = i64.add i ks
//! let (y: [n]f64) = gather x [j]
//! ```
//!
//! - `scalars`: constants, identities, and operations on arrays that are the same along an axis, done once and broadcast.
//! - `shapes`: broadcasts, transposes and reshapes compose, and go if they change nothing.
//! - `gathers`: indices that are affine in the indices of the result make a slice, transposed and broadcast.
//! - `products`: a sum of products along an axis is a `dot`; reductions by an operation are folds.
//!
//! Operations that occur twice are done once, and what nobody reads and cannot stop the program goes.

mod dce;
mod gathers;
mod products;
mod scalars;
mod shapes;

use std::collections::HashMap;

use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::build::Builder;
use crate::term::{Body, Fun, Lambda, LoopForm, Op, Program, Stm};
use crate::visit::{lambda_mut, operands_mut};

/// How often the whole program is gone through at most; it is enough for what comes up in practice.
const ROUNDS: usize = 6;

/// How often one operation is replaced by a simpler one.
const STEPS: usize = 16;

pub fn simplify(mut program: Program) -> Program {
    for _ in 0..ROUNDS {
        let before = program.clone();
        let locs = std::mem::take(&mut program.locs);
        program = Simplifier::run(program);
        program.locs = locs;
        dce::remove_dead(&mut program);
        let changed = before.consts != program.consts || before.funs != program.funs;
        if !changed {
            break;
        }
    }
    program
}

/// What an operation is replaced by.
enum Simpler {
    Atom(Atom),
    Op(Op),
}

struct Simplifier {
    b: Builder,
    names: HashMap<VarId, Atom>,
    /// The operations that variables are bound to.
    defs: HashMap<VarId, Op>,
    /// Variables by the text of the operation that they are bound to.
    known: HashMap<String, VarId>,
}

impl Simplifier {
    fn run(program: Program) -> Program {
        let (names, defs, known) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut s = Simplifier { b: Builder::new(program.vars), names, defs, known };
        program.consts.iter().for_each(|stm| s.stm(stm));
        let consts = s.b.close();
        let mut funs = Vec::new();
        for fun in program.funs {
            fun.params.iter().for_each(|p| s.b.note(p));
            let body = s.body(&fun.body);
            funs.push(Fun { body, ..fun });
        }
        Program { consts, funs, entries: program.entries, vars: s.b.vars, locs: Vec::new() }
    }

    fn atom(&self, atom: Atom) -> Atom {
        atom.as_var().and_then(|var| self.names.get(&var)).copied().unwrap_or(atom)
    }

    fn ty(&self, ty: &Type) -> Type {
        ty.map_dims(&mut |dim| self.atom(dim))
    }

    fn param(&mut self, param: &Param) -> Param {
        let param = Param::new(param.var, self.ty(&param.ty));
        self.b.note(&param);
        param
    }

    /// A body in a scope of its own: what is known of it is forgotten behind it.
    fn body(&mut self, body: &Body) -> Body {
        let known = self.known.clone();
        self.b.open();
        body.stms.iter().for_each(|stm| self.stm(stm));
        let result = body.result.iter().map(|atom| self.atom(*atom)).collect();
        self.known = known;
        Body { stms: self.b.close(), result }
    }

    fn lambda(&mut self, lambda: &Lambda) -> Lambda {
        let params = lambda.params.iter().map(|p| self.param(p)).collect();
        let ret = lambda.ret.iter().map(|ty| self.ty(ty)).collect();
        Lambda { params, body: self.body(&lambda.body), ret }
    }

    fn stm(&mut self, stm: &Stm) {
        self.b.loc = stm.loc;
        let mut op = stm.op.clone();
        operands_mut(&mut op, &mut |atom| *atom = self.atom(*atom));
        self.inside(&mut op);
        self.b.loc = stm.loc;
        if let Op::Assert { cond, .. } = &op
            && *cond == Atom::bool(true)
        {
            return;
        }
        let pat: Vec<Param> = stm.pat.iter().map(|p| self.param(p)).collect();
        let [param] = pat.as_slice() else { return self.b.push(pat, op) };
        match self.simplified(op, &param.ty) {
            Simpler::Atom(atom) => drop(self.names.insert(param.var, atom)),
            Simpler::Op(op) => self.bind(param.clone(), op),
        }
    }

    fn bind(&mut self, param: Param, op: Op) {
        if crate::visit::bodies(&op).is_empty() && !matches!(op, Op::Call { .. }) {
            self.known.insert(format!("{op:?}"), param.var);
            self.defs.insert(param.var, op.clone());
        }
        self.b.push(vec![param], op);
    }

    /// The bodies inside of an operation.
    fn inside(&mut self, op: &mut Op) {
        match op {
            Op::If { then, otherwise, .. } => {
                *then = self.body(then);
                *otherwise = self.body(otherwise);
            }
            Op::Loop { params, form, body, .. } => {
                params.iter_mut().for_each(|(p, _)| *p = self.param(p));
                match form {
                    LoopForm::For { var, ty, .. } => self.b.note(&Param::new(*var, (*ty).into())),
                    LoopForm::While { cond } => *cond = self.body(cond),
                }
                *body = self.body(body);
            }
            op => {
                if let Some(lambda) = lambda_mut(op) {
                    *lambda = self.lambda(lambda);
                }
            }
        }
    }

    /// The simplest form of an operation whose result has the type.
    fn simplified(&mut self, mut op: Op, ty: &Type) -> Simpler {
        for _ in 0..STEPS {
            if let Some(var) = self.known.get(&format!("{op:?}"))
                && self.b.type_of((*var).into()) == *ty
            {
                return Simpler::Atom((*var).into());
            }
            match self.simpler(&op, ty) {
                None => break,
                Some(Simpler::Atom(atom)) => return Simpler::Atom(atom),
                Some(Simpler::Op(new)) => op = new,
            }
        }
        Simpler::Op(op)
    }

    fn simpler(&mut self, op: &Op, ty: &Type) -> Option<Simpler> {
        match op {
            Op::Atom(atom) => Some(Simpler::Atom(*atom)),
            Op::UnOp(..)
            | Op::BinOp(..)
            | Op::TernOp(..)
            | Op::CmpOp(..)
            | Op::Convert(..)
            | Op::Select { .. } => self.scalar(op, ty),
            Op::Broadcast { .. } | Op::Transpose { .. } | Op::Reshape { .. } | Op::Slice { .. } => {
                self.shape(op)
            }
            Op::Gather { array, indices } => self.gather(*array, indices, ty),
            Op::Fold { op, ty: elem, axis, array } => self.fold(*op, *elem, *axis, *array, ty),
            Op::Reduce { axis, arrays, op, neutral } => self.reduce(*axis, arrays, op, neutral),
            Op::Scatter { dests, indices, values, combine } => self.scatter(dests, indices, values, combine),
            Op::Dot { sizes, rank, left, right } => self.dot_of_transposed(sizes, *rank, [left, right]),
            Op::Iota { .. } | Op::Update { .. } | Op::Concat { .. } | Op::Stack { .. } => None,
            Op::Scan { .. } | Op::If { .. } | Op::Loop { .. } => None,
            Op::Call { .. } | Op::Assert { .. } => None,
        }
    }

    /// A new operation in front of the one that is being simplified.
    fn emit(&mut self, hint: &str, ty: Type, op: Op) -> Atom {
        match self.simplified(op, &ty) {
            Simpler::Atom(atom) => atom,
            Simpler::Op(op) => {
                let param = self.b.param(hint, ty);
                let var = param.var;
                self.bind(param, op);
                var.into()
            }
        }
    }

    fn def(&self, atom: Atom) -> Option<&Op> {
        atom.as_var().and_then(|var| self.defs.get(&var))
    }
}
