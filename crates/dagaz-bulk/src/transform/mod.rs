//! From Core to operations on whole arrays: the bulk-operation transform.
//!
//! ```text
//! map n (xs) \(x: f64) : (f64) ->          let (y: [n]f64) = f64.sin xs
//!   let (y: f64) = f64.sin x         ==>   let (c: [n]f64) = broadcast [n] () a
//!   let (z: f64) = f64.mul y a             let (z: [n]f64) = f64.mul y c
//!   in (z)
//! ```
//!
//! The body of a map is transformed as if it ran once, so that the maps inside of it are gone, and every statement is then
//! lifted to all iterations at once (`lanes`), which adds an outermost dimension to what differs between iterations. What is
//! the same in all iterations is computed once. Reductions, scans, scatters, products, branches and loops lift to themselves.
//!
//! Operations that stop the program become an assertion, and an operation that gives a value anyway ([`crate::term`]).
//! Accumulators are arrays that are scattered to; iterations of a map all add to the same one.

mod arrays;
mod control;
mod depend;
mod failures;
mod folds;
mod lanes;
mod lift;
mod loops;
mod ragged;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::rc::Rc;

use dagaz_core::calls::CallGraph;
use dagaz_core::effects::Effects;
use dagaz_core::exp::{self, Exp, Loc};
use dagaz_core::print::print_type;
use dagaz_core::types::{Atom, FunId, Param, Type, VarId};

use crate::build::Builder;
use crate::term::{Body, Combine, Fun, Op, Program, Stm};

/// Why a program has no bulk form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported {
    pub reason: String,
    pub loc: Loc,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Unsupported {}

pub(crate) type Transformed<T> = Result<T, Unsupported>;

/// The bulk form of a program of Core without derivative forms. The first construct without one is reported.
pub fn transform(core: &exp::Program) -> Result<Program, Unsupported> {
    let mut transform = Transform::new(core);
    for stm in &core.consts {
        transform.stm(stm)?;
    }
    let consts = transform.b.close();
    let mut funs = Vec::new();
    for fun in &core.funs {
        funs.push(transform.fun(fun)?);
    }
    let Transform { b, locs, .. } = transform;
    Ok(Program { consts, funs, entries: core.entries.clone(), vars: b.vars, locs })
}

/// What Core keeps apart as an accumulator: the arrays that are added to.
#[derive(Clone)]
struct Acc {
    id: usize,
    arrays: Vec<VarId>,
    combine: Rc<Combine>,
}

struct Transform<'c> {
    core: &'c exp::Program,
    effects: Effects,
    b: Builder,
    locs: Vec<exp::SourceLoc>,
    /// What variables of Core have become, where it is not a variable of the same number.
    names: HashMap<VarId, Atom>,
    accs: HashMap<VarId, Acc>,
    /// Arrays of accumulators, with the number of the accumulator and which of its arrays it is. All iterations of a map share them.
    shared: HashMap<VarId, (usize, usize)>,
    next_acc: usize,
    /// How many functions of Core there are around.
    depth: usize,
    /// The functions whose calls are being replaced by their bodies.
    inlining: Vec<FunId>,
    recursive: HashSet<FunId>,
}

fn unsupported<T>(reason: impl Into<String>, loc: Loc) -> Transformed<T> {
    Err(Unsupported { reason: reason.into(), loc })
}

impl<'c> Transform<'c> {
    fn new(core: &'c exp::Program) -> Transform<'c> {
        Transform {
            core,
            effects: Effects::of(core),
            b: Builder::new(core.vars.clone()),
            locs: core.locs.clone(),
            names: HashMap::new(),
            accs: HashMap::new(),
            shared: HashMap::new(),
            next_acc: 0,
            depth: 0,
            inlining: Vec::new(),
            recursive: CallGraph::of(&core.funs).recursive(),
        }
    }

    fn fun(&mut self, fun: &exp::Fun) -> Transformed<Fun> {
        let signature = fun.params.iter().chain(&fun.ret);
        if signature.clone().any(|p| p.ty.is_acc()) {
            // It is only called where its body takes the place of the call.
            let body = Body::default();
            return Ok(Fun {
                name: fun.name.clone(),
                params: Vec::new(),
                ret: Vec::new(),
                body,
                loc: fun.loc,
            });
        }
        fun.params.iter().for_each(|p| self.b.note(p));
        let body = self.scope(&fun.body)?;
        Ok(Fun {
            name: fun.name.clone(),
            params: fun.params.clone(),
            ret: fun.ret.clone(),
            body,
            loc: fun.loc,
        })
    }

    /// A body in a scope of its own.
    fn scope(&mut self, body: &exp::Body) -> Transformed<Body> {
        self.b.open();
        let result = self.body(body);
        let stms = self.b.close();
        Ok(Body { stms, result: result? })
    }

    /// The statements of a body in the scope that is open, and its results, with the arrays of accumulators among them.
    fn body(&mut self, body: &exp::Body) -> Transformed<Vec<Atom>> {
        for stm in &body.stms {
            self.stm(stm)?;
        }
        Ok(self.flat(&body.result))
    }

    /// Atoms with those of accumulators replaced by their arrays.
    fn flat(&self, atoms: &[Atom]) -> Vec<Atom> {
        let each = atoms.iter().flat_map(|atom| match atom.as_var().and_then(|var| self.accs.get(&var)) {
            Some(acc) => acc.arrays.iter().map(|var| Atom::Var(*var)).collect(),
            None => vec![self.atom(*atom)],
        });
        each.collect()
    }

    fn atom(&self, atom: Atom) -> Atom {
        atom.as_var().and_then(|var| self.names.get(&var)).copied().unwrap_or(atom)
    }

    fn atoms(&self, atoms: &[Atom]) -> Vec<Atom> {
        atoms.iter().map(|atom| self.atom(*atom)).collect()
    }

    /// An array is a variable whatever it was renamed to.
    fn array(&self, var: VarId) -> VarId {
        self.atom(var.into()).as_var().unwrap_or(var)
    }

    fn arrays(&self, vars: &[VarId]) -> Vec<VarId> {
        vars.iter().map(|var| self.array(*var)).collect()
    }

    fn ty(&self, ty: &Type) -> Type {
        ty.map_dims(&mut |dim| self.atom(dim))
    }

    fn param(&mut self, param: &Param) -> Param {
        let param = Param::new(param.var, self.ty(&param.ty));
        self.b.note(&param);
        param
    }

    /// Gives the variables of a pattern their values, accumulators their arrays.
    fn bind(&mut self, pat: &[Param], values: &[Bound]) {
        for (param, value) in pat.iter().zip(values) {
            match value {
                Bound::Value(atom) => {
                    self.names.insert(param.var, *atom);
                }
                Bound::Acc(acc) => self.bind_acc(param.var, acc.clone()),
            }
        }
    }

    fn bind_acc(&mut self, var: VarId, acc: Acc) {
        for (i, array) in acc.arrays.iter().enumerate() {
            self.shared.insert(*array, (acc.id, i));
        }
        self.accs.insert(var, acc);
    }

    /// Binds the pattern of a statement to the operation, whose results are those of the pattern, accumulators as their arrays.
    /// `accs` has an accumulator for each that the pattern binds.
    fn bind_op(&mut self, pat: &[Param], accs: &[Option<Acc>], op: Op) {
        let mut flat = Vec::new();
        for (param, acc) in pat.iter().zip(accs) {
            match acc {
                None => flat.push(self.param(param)),
                Some(acc) => {
                    let fresh: Vec<Param> = acc.arrays.iter().map(|v| self.like(*v)).collect();
                    let arrays = fresh.iter().map(|p| p.var).collect();
                    flat.extend(fresh);
                    self.bind_acc(param.var, Acc { arrays, ..acc.clone() });
                }
            }
        }
        self.b.push(flat, op);
    }

    /// A new variable like another one.
    fn like(&mut self, var: VarId) -> Param {
        let ty = self.b.type_of(var.into());
        self.b.param_like(var, ty)
    }

    fn stm(&mut self, stm: &exp::Stm) -> Transformed<()> {
        self.b.loc = stm.loc;
        match &stm.exp {
            Exp::Atom(atom) | Exp::Detach(atom) => self.alias(&stm.pat, *atom),
            Exp::Copy(var) => self.alias(&stm.pat, (*var).into()),
            Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..) => {
                self.scalar(stm)
            }
            Exp::Index { .. } | Exp::Slice { .. } | Exp::Update { .. } => self.part_of_array(stm)?,
            Exp::Iota { .. } | Exp::Replicate { .. } | Exp::Rearrange { .. } | Exp::Reshape { .. } => {
                self.whole_array(stm)
            }
            Exp::Concat { .. } | Exp::Scratch { .. } | Exp::ArrayLit { .. } => self.whole_array(stm),
            Exp::Contract { .. } => self.contract(stm),
            Exp::If { cond, then, otherwise } => self.if_exp(&stm.pat, *cond, then, otherwise)?,
            Exp::Loop { .. } => self.loop_exp(stm)?,
            Exp::Call { fun, args } => self.call(stm, *fun, args)?,
            Exp::Assert { cond, message } => {
                let message = message.iter().map(|part| match part {
                    exp::MsgPart::Text(text) => exp::MsgPart::Text(text.clone()),
                    exp::MsgPart::Value(value) => exp::MsgPart::Value(self.atom(*value)),
                });
                let message = message.collect();
                self.assert(self.atom(*cond), message);
            }
            Exp::Trace { .. } => return unsupported("'trace' prints while the program runs", stm.loc),
            Exp::Map { .. } => self.map(stm)?,
            Exp::Reduce { .. } | Exp::Scan { .. } => self.fold(stm)?,
            Exp::Hist { .. } | Exp::Scatter { .. } => self.scatter(stm)?,
            Exp::WithAcc { inputs, lambda } => self.with_acc(&stm.pat, inputs, lambda)?,
            Exp::UpdateAcc { acc, indices, values } => self.update_acc(&stm.pat, *acc, indices, values),
            Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::WithVjp { .. } | Exp::Transpose { .. } => {
                return unsupported("derivative forms have to be expanded first", stm.loc);
            }
        }
        Ok(())
    }

    fn alias(&mut self, pat: &[Param], atom: Atom) {
        let acc = atom.as_var().and_then(|var| self.accs.get(&var)).cloned();
        let value = acc.map_or(Bound::Value(self.atom(atom)), Bound::Acc);
        self.bind(pat, &[value]);
    }

    /// The accumulators among atoms.
    fn accs_of(&self, atoms: &[Atom]) -> Vec<Option<Acc>> {
        atoms.iter().map(|atom| atom.as_var().and_then(|var| self.accs.get(&var)).cloned()).collect()
    }

    /// A message about a type of Core.
    fn shown(&self, ty: &Type) -> String {
        print_type(self.core, ty)
    }
}

/// What a variable of Core stands for.
enum Bound {
    Value(Atom),
    Acc(Acc),
}

/// Whether a statement is an assertion.
fn is_assert(stm: &Stm) -> bool {
    matches!(stm.op, Op::Assert { .. })
}
