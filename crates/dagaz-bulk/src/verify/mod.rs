//! Checks that a program is well formed. What is checked:
//!
//! - Binding: every variable is bound exactly once in the program, and used only where it is in scope; so are sizes in types.
//! - Types: there are no accumulators; sizes are `i64`.
//! - Scalar operations and selections: operands have the type that the operation names and the shape of the result, or are
//!   constants.
//! - Arrays: ranks, axes and element types of operands; permutations; as many parts in a slice as dimensions. Indices are `i64`,
//!   all of one shape, and not more than dimensions.
//! - Shapes: where two shapes must agree, so do their sizes, as atoms, up to `let x = y`. `reshape` may rename sizes, `concat` may
//!   name the one that it adds up, and patterns of `if`, `loop` and `call` may name sizes that these give.
//! - Reductions, scans and scatters: operators take two values of each kind and give one, of the type of a slice or row; folds by
//!   an operation have a neutral element.
//! - Bodies, calls: results have the types that are stated; number and types of arguments. Conditions are scalars.
//!
//! All errors are collected, each with the statement it is in.

mod ops;

use std::collections::{HashMap, HashSet};
use std::fmt;

use dagaz_core::exp::Loc;
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::print::{print_stm, printer};
use crate::term::{Body, LoopForm, Op, Program, Stm};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    pub message: String,
    /// The innermost statement, printed; empty for errors of a signature.
    pub stm: String,
    pub loc: Loc,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        // A nested statement can be long; its beginning says which one it is.
        self.stm.lines().take(12).try_for_each(|line| write!(f, "\n    {line}"))
    }
}

impl std::error::Error for VerifyError {}

/// All that is wrong with a program.
pub fn verify(program: &Program) -> Vec<VerifyError> {
    let mut verifier = Verifier {
        program,
        bound: HashSet::new(),
        scope: HashMap::new(),
        same: HashMap::new(),
        errors: Vec::new(),
        stm: None,
    };
    program.consts.iter().for_each(|stm| verifier.stm(stm));
    for fun in &program.funs {
        let outside = verifier.scope.clone();
        fun.params.iter().for_each(|param| verifier.bind(param));
        let got = verifier.body_results(&fun.body);
        verifier.results(&got, &fun.body.result, &fun.ret);
        verifier.scope = outside;
    }
    verifier.errors
}

struct Verifier<'p> {
    program: &'p Program,
    bound: HashSet<VarId>,
    scope: HashMap<VarId, Type>,
    /// What variables stand for that are another name of something.
    same: HashMap<VarId, Atom>,
    errors: Vec<VerifyError>,
    stm: Option<&'p Stm>,
}

impl<'p> Verifier<'p> {
    fn error(&mut self, message: impl Into<String>) {
        let stm = self.stm.map_or(String::new(), |stm| print_stm(self.program, stm));
        let loc = self.stm.map_or(Loc::NONE, |stm| stm.loc);
        self.errors.push(VerifyError { message: message.into(), stm, loc });
    }

    fn ty(&self, ty: &Type) -> String {
        printer(self.program, false).ty(ty)
    }

    fn normal(&self, atom: Atom) -> Atom {
        atom.as_var().and_then(|var| self.same.get(&var)).copied().unwrap_or(atom)
    }

    fn same_size(&self, x: Atom, y: Atom) -> bool {
        self.normal(x) == self.normal(y)
    }

    fn same_sizes(&self, x: &[Atom], y: &[Atom]) -> bool {
        x.len() == y.len() && x.iter().zip(y).all(|(x, y)| self.same_size(*x, *y))
    }

    fn same_type(&self, x: &Type, y: &Type) -> bool {
        x.elem() == y.elem() && self.same_sizes(x.dims(), y.dims())
    }

    fn expect(&mut self, got: &Type, wanted: &Type, what: &str) {
        if !self.same_type(got, wanted) {
            let (got, wanted) = (self.ty(got), self.ty(wanted));
            self.error(format!("{what} has type {got}, not {wanted}"));
        }
    }

    /// The type of an operand that is in scope.
    fn atom(&mut self, atom: Atom) -> Option<Type> {
        let Atom::Var(var) = atom else { return atom.as_const().map(|prim| prim.ty().into()) };
        let found = self.scope.get(&var).cloned();
        if found.is_none() {
            let name = printer(self.program, false).var(var);
            self.error(format!("'{name}' is not in scope"));
        }
        found
    }

    fn has_type(&mut self, atom: Atom, wanted: &Type, what: &str) {
        if let Some(got) = self.atom(atom) {
            self.expect(&got, wanted, what);
        }
    }

    fn sizes(&mut self, sizes: &[Atom]) {
        sizes.iter().for_each(|size| self.has_type(*size, &Type::I64, "a size"));
    }

    fn bind(&mut self, param: &Param) {
        if param.ty.is_acc() {
            self.error("there are no accumulators here");
        }
        self.sizes(param.ty.dims());
        if !self.bound.insert(param.var) {
            let name = printer(self.program, false).var(param.var);
            self.error(format!("'{name}' is bound twice"));
        }
        self.scope.insert(param.var, param.ty.clone());
    }

    fn stm(&mut self, stm: &'p Stm) {
        let outer = self.stm.replace(stm);
        match self.op(&stm.op) {
            Some(Given::Types(types)) => {
                if types.len() != stm.pat.len() {
                    self.error(format!("{} variables for {} results", stm.pat.len(), types.len()));
                }
                for (param, ty) in stm.pat.iter().zip(&types) {
                    self.expect(&param.ty, ty, "the variable");
                    self.bind(param);
                }
            }
            Some(Given::Named(params, values)) => {
                self.named(&stm.pat, &params, &values);
                stm.pat.iter().for_each(|param| self.bind(param));
            }
            None => stm.pat.iter().for_each(|param| self.bind(param)),
        }
        if let (Op::Atom(atom), [param]) = (&stm.op, stm.pat.as_slice()) {
            self.same.insert(param.var, self.normal(*atom));
        }
        self.stm = outer;
    }

    /// Compares a pattern with results whose types may mention each other.
    fn named(&mut self, pat: &[Param], params: &[Param], values: &HashMap<VarId, Atom>) {
        if pat.len() != params.len() {
            self.error(format!("{} variables for {} results", pat.len(), params.len()));
        }
        let mut values = values.clone();
        for (own, result) in pat.iter().zip(params) {
            let wanted = result
                .ty
                .map_dims(&mut |dim| dim.as_var().and_then(|var| values.get(&var)).copied().unwrap_or(dim));
            self.expect(&own.ty, &wanted, "the variable");
            values.insert(result.var, own.var.into());
        }
    }

    /// The types of the results of a body, which is left again.
    fn body_results(&mut self, body: &'p Body) -> Vec<Option<Type>> {
        let outside = self.scope.clone();
        body.stms.iter().for_each(|stm| self.stm(stm));
        let types = body.result.iter().map(|atom| self.atom(*atom)).collect();
        self.scope = outside;
        types
    }

    /// Compares results with the variables that they are for; types of these may mention earlier ones.
    fn results(&mut self, got: &[Option<Type>], atoms: &[Atom], wanted: &[Param]) {
        if got.len() != wanted.len() {
            self.error(format!("{} results instead of {}", got.len(), wanted.len()));
        }
        let values: HashMap<VarId, Atom> = wanted.iter().map(|p| p.var).zip(atoms.iter().copied()).collect();
        for (got, wanted) in got.iter().zip(wanted) {
            let ty = wanted
                .ty
                .map_dims(&mut |dim| dim.as_var().and_then(|var| values.get(&var)).copied().unwrap_or(dim));
            if let Some(got) = got {
                self.expect(got, &ty, "a result");
            }
        }
    }

    fn loop_op(&mut self, params: &'p [(Param, Atom)], form: &'p LoopForm, body: &'p Body) -> Option<Given> {
        let outside = self.scope.clone();
        let own: Vec<Param> = params.iter().map(|(param, _)| param.clone()).collect();
        let inits: Vec<Atom> = params.iter().map(|(_, init)| *init).collect();
        let got: Vec<Option<Type>> = inits.iter().map(|init| self.atom(*init)).collect();
        self.results(&got, &inits, &own);
        own.iter().for_each(|param| self.bind(param));
        match form {
            LoopForm::For { var, ty, bound } => {
                let bound_type = self.scope_of(*bound, &outside);
                if bound_type.is_some_and(|found| found != Type::Prim(*ty)) {
                    self.error(format!("the bound of a loop is no {ty}"));
                }
                self.bind(&Param::new(*var, (*ty).into()));
            }
            LoopForm::While { cond } => {
                if self.body_results(cond) != [Some(Type::BOOL)] {
                    self.error("the condition of a loop is a scalar bool");
                }
            }
        }
        let got = self.body_results(body);
        self.results(&got, &body.result, &own);
        self.scope = outside;
        let values = own.iter().map(|p| p.var).zip(inits).collect();
        Some(Given::Named(own, values))
    }

    fn scope_of(&mut self, atom: Atom, outside: &HashMap<VarId, Type>) -> Option<Type> {
        match atom {
            Atom::Const(prim) => Some(prim.ty().into()),
            Atom::Var(var) => outside.get(&var).cloned().or_else(|| self.atom(atom)),
        }
    }
}

/// What an operation gives.
enum Given {
    Types(Vec<Type>),
    /// Variables whose types mention each other, and what such mentions stand for that are not among them.
    Named(Vec<Param>, HashMap<VarId, Atom>),
}
