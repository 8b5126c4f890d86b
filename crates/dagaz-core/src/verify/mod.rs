//! Checks that a program is well formed. What is checked:
//!
//! - Binding: every variable is bound exactly once in the program, and used only where it is in scope.
//! - Scalars: operands have the types that the operation names, and the operation exists at that type.
//! - Arrays: ranks and element types of operands; indices, sizes and widths are `i64`.
//! - Sizes: where two types must agree, so do their sizes, as atoms, up to `let x = y`. Sizes of a pattern may be
//!   earlier variables of the same pattern where the expression is an `if`, `loop` or `call`. `reshape` may rename
//!   sizes, and `concat` may name its outer one.
//! - Bodies: results of branches, loop bodies, lambdas and functions have the types that are stated; the types of
//!   lambda results mention only variables from outside.
//! - Calls: number and types of arguments and results, with sizes substituted.
//! - Entry points: their functions take and give what the entry point says ([`entry_points`]).
//! - Consumption: what an update, histogram, scatter, accumulator, loop or call consumes, and everything that may
//!   share its elements, is not used afterwards; a body that runs many times consumes nothing from outside; constants
//!   are never consumed. Not at stages where arrays are plain values.
//! - Derivative forms: there are none at stages that have none.
//! - Accumulators: each is used exactly once.
//!
//! All errors are collected, each with the statement it is in.

mod bulk;
mod consume;
mod entries;
mod exps;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;

pub use entries::entry_points;

use crate::exp::{Body, Fun, Lambda, Loc, Program, Stm};
use crate::pass::{Arrays, Forms, Stage};
use crate::print::{print_atom, print_stm, print_type, print_var};
use crate::types::{Atom, Param, Type, VarId};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    pub message: String,
    /// The function, or "constants".
    pub fun: String,
    /// The innermost statement, printed; empty for errors of a signature.
    pub stm: String,
    pub loc: Loc,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in {}: {}", self.fun, self.message)?;
        // A nested statement can be long; its beginning says which one it is.
        for line in self.stm.lines().take(12) {
            write!(f, "\n    {line}")?;
        }
        Ok(())
    }
}

impl std::error::Error for VerifyError {}

/// All that is wrong with a program at whatever stage: it may have derivative forms, and what is consumed is not used again.
pub fn verify(program: &Program) -> Vec<VerifyError> {
    verify_at(program, Stage { forms: Forms::MayOccur, arrays: Arrays::AreConsumed })
}

/// All that is wrong with a program at a stage.
pub fn verify_at(program: &Program, stage: Stage) -> Vec<VerifyError> {
    let mut effects: Vec<Effects> = vec![Effects::default(); program.funs.len()];
    // What a function consumes and shares depends on the functions it calls. The effects only grow.
    loop {
        let mut verifier = Verifier::new(program, stage, effects.clone());
        verifier.program();
        if verifier.effects == effects {
            return verifier.errors;
        }
        effects = verifier.effects;
    }
}

/// What a call does to its arguments.
#[derive(Clone, PartialEq, Eq, Default)]
struct Effects {
    /// Positions of parameters that the function consumes.
    consumes: BTreeSet<usize>,
    /// Per result, the positions of parameters that it may share elements with.
    shares: Vec<BTreeSet<usize>>,
}

struct Verifier<'p> {
    program: &'p Program,
    stage: Stage,
    errors: Vec<VerifyError>,
    effects: Vec<Effects>,
    fun: String,
    stms: Vec<&'p Stm>,
    /// Every variable bound so far, anywhere.
    bound: HashSet<VarId>,
    scope: HashMap<VarId, Type>,
    /// What is in scope, in the order of binding.
    order: Vec<VarId>,
    /// `let x = y` of sizes.
    same: HashMap<VarId, Atom>,
    /// The variables whose elements a variable may share; itself, where it has elements of its own.
    roots: HashMap<VarId, BTreeSet<VarId>>,
    consumed: HashSet<VarId>,
}

impl<'p> Verifier<'p> {
    fn new(program: &'p Program, stage: Stage, effects: Vec<Effects>) -> Verifier<'p> {
        Verifier {
            program,
            stage,
            errors: Vec::new(),
            effects,
            fun: "constants".to_string(),
            stms: Vec::new(),
            bound: HashSet::new(),
            scope: HashMap::new(),
            order: Vec::new(),
            same: HashMap::new(),
            roots: HashMap::new(),
            consumed: HashSet::new(),
        }
    }

    fn error(&mut self, message: impl Into<String>) {
        let stm = self.stms.last();
        self.errors.push(VerifyError {
            message: message.into(),
            fun: self.fun.clone(),
            stm: stm.map_or(String::new(), |s| print_stm(self.program, s)),
            loc: stm.map_or(Loc::NONE, |s| s.loc),
        });
    }

    fn show(&self, ty: &Type) -> String {
        print_type(self.program, ty)
    }

    fn name(&self, var: VarId) -> String {
        print_var(self.program, var)
    }

    fn program(&mut self) {
        let program = self.program;
        for stm in &program.consts {
            self.stm(stm);
        }
        for (index, fun) in program.funs.iter().enumerate() {
            self.fun = format!("function {}", fun.name);
            self.function(index, fun);
        }
        self.errors.extend(entry_points(program));
    }

    fn function(&mut self, index: usize, fun: &'p Fun) {
        let consumed_before = self.consumed.clone();
        self.scoped(|v| {
            fun.params.iter().for_each(|p| v.bind(p));
            // The names of the results stand for results; in the body they do not exist.
            let result_atoms = fun.body.result.clone();
            let ret: Vec<Type> = fun.ret.iter().map(|p| substitute(&p.ty, &fun.ret, &result_atoms)).collect();
            v.scoped(|v| {
                fun.ret.iter().for_each(|p| v.bind(p));
                v.consumed.extend(fun.ret.iter().filter(|p| p.ty.is_acc()).map(|p| p.var));
            });
            v.body_with(&fun.body, |v| {
                v.check_results(&fun.body.result, &ret);
                let shares = fun.body.result.iter().map(|a| v.shared_params(*a, fun)).collect();
                let consumes = fun.params.iter().enumerate();
                let consumes =
                    consumes.filter(|(_, p)| v.consumed.contains(&p.var)).map(|(i, _)| i).collect();
                v.effects[index] = Effects { consumes, shares };
            });
        });
        for var in self.newly_consumed(&consumed_before) {
            if self.scope.contains_key(&var) {
                self.error(format!("the constant {} is consumed", self.name(var)));
            }
        }
        self.consumed = consumed_before;
    }

    fn shared_params(&self, atom: Atom, fun: &Fun) -> BTreeSet<usize> {
        let Atom::Var(var) = atom else { return BTreeSet::new() };
        let roots = self.roots.get(&var);
        let shared = |p: &Param| roots.is_some_and(|r| r.contains(&p.var));
        fun.params.iter().enumerate().filter(|(_, p)| shared(p)).map(|(i, _)| i).collect()
    }

    /// Runs with what is bound inside forgotten afterwards.
    fn scoped<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        let outside = self.order.len();
        let result = inside(self);
        let mut dropped = Vec::new();
        for var in self.order.split_off(outside) {
            let ty = self.scope.remove(&var);
            if ty.is_some_and(|ty| ty.is_acc()) && !self.consumed.contains(&var) {
                dropped.push(var);
            }
        }
        for var in dropped {
            self.error(format!("the accumulator {} is not used", self.name(var)));
        }
        result
    }

    fn bind(&mut self, param: &Param) {
        for dim in param.ty.all_dims() {
            self.expect_type(dim, &Type::I64, "a size");
        }
        self.bind_var(param.var, param.ty.clone());
    }

    fn bind_var(&mut self, var: VarId, ty: Type) {
        if !self.bound.insert(var) {
            self.error(format!("{} is bound twice", self.name(var)));
        }
        self.scope.insert(var, ty);
        self.order.push(var);
        self.roots.insert(var, BTreeSet::from([var]));
    }

    /// The type of an atom that is used here.
    fn atom(&mut self, atom: Atom) -> Option<Type> {
        match atom {
            Atom::Const(prim) => Some(Type::Prim(prim.ty())),
            Atom::Var(var) => self.var(var),
        }
    }

    /// The type of a variable that is used here. Using an accumulator uses it up.
    fn var(&mut self, var: VarId) -> Option<Type> {
        let Some(ty) = self.scope.get(&var).cloned() else {
            self.error(format!("{} is not in scope", self.name(var)));
            return None;
        };
        let consumed =
            self.roots.get(&var).and_then(|r| r.iter().find(|r| self.consumed.contains(r)).copied());
        if let Some(root) = consumed {
            let through = if root == var { String::new() } else { format!(", through {}", self.name(root)) };
            self.error(format!("{} is used after it was consumed{through}", self.name(var)));
        }
        if ty.is_acc() {
            self.consumed.insert(var);
        }
        Some(ty)
    }

    /// A size up to renaming.
    fn normal(&self, atom: Atom) -> Atom {
        let mut atom = atom;
        while let Atom::Var(var) = atom
            && let Some(next) = self.same.get(&var)
        {
            atom = *next;
        }
        atom
    }

    fn same_type(&self, x: &Type, y: &Type) -> bool {
        x.map_dims(&mut |d| self.normal(d)) == y.map_dims(&mut |d| self.normal(d))
    }

    fn same_size(&self, x: Atom, y: Atom) -> bool {
        self.normal(x) == self.normal(y)
    }

    fn expect_type(&mut self, atom: Atom, wanted: &Type, what: &str) {
        if let Some(got) = self.atom(atom)
            && !self.same_type(&got, wanted)
        {
            let shown = print_atom(self.program, atom);
            let (got, wanted) = (self.show(&got), self.show(wanted));
            self.error(format!("{what} {shown} has type {got}, but {wanted} is expected"));
        }
    }

    fn expect_same(&mut self, got: &Type, wanted: &Type, what: &str) {
        if !self.same_type(got, wanted) {
            let (got, wanted) = (self.show(got), self.show(wanted));
            self.error(format!("{what} has type {got}, but {wanted} is expected"));
        }
    }

    fn expect_count(&mut self, got: usize, wanted: usize, what: &str) -> bool {
        if got != wanted {
            self.error(format!("{got} {what}, but {wanted} are expected"));
        }
        got == wanted
    }

    fn check_results(&mut self, results: &[Atom], wanted: &[Type]) {
        if self.expect_count(results.len(), wanted.len(), "results") {
            for (result, wanted) in results.iter().zip(wanted) {
                self.expect_type(*result, wanted, "result");
            }
        }
    }

    fn stm(&mut self, stm: &'p Stm) {
        self.stms.push(stm);
        stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.stm_exp(stm));
        self.stms.pop();
    }

    /// Checks a body; `end` runs at its end, with everything in scope.
    fn body_with<T>(&mut self, body: &'p Body, end: impl FnOnce(&mut Self) -> T) -> T {
        self.scoped(|v| {
            body.stms.iter().for_each(|s| v.stm(s));
            end(v)
        })
    }

    /// Checks a lambda that runs many times, given the types of its arguments.
    fn lambda(&mut self, lambda: &'p Lambda, args: &[Type], what: &str) {
        if self.expect_count(lambda.params.len(), args.len(), &format!("parameters of {what}")) {
            for (param, arg) in lambda.params.iter().zip(args) {
                self.expect_same(&param.ty, arg, &format!("parameter {} of {what}", self.name(param.var)));
            }
        }
        for dim in lambda.ret.iter().flat_map(Type::all_dims) {
            self.expect_type(dim, &Type::I64, "a size");
        }
        let before = self.consumed.clone();
        self.scoped(|v| {
            lambda.params.iter().for_each(|p| v.bind(p));
            v.body_with(&lambda.body, |v| v.check_results(&lambda.body.result, &lambda.ret));
        });
        self.forbid_outer_consumption(&before, what);
    }
}

/// The type with each variable of `from` replaced by the atom in its place.
fn substitute(ty: &Type, from: &[Param], to: &[Atom]) -> Type {
    ty.map_dims(&mut |dim| {
        let position = dim.as_var().and_then(|var| from.iter().position(|p| p.var == var));
        position.and_then(|p| to.get(p).copied()).unwrap_or(dim)
    })
}
