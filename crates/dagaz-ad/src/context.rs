//! The state of the transformation: the code built so far, types, activity, and adjoints.

use std::collections::{HashMap, HashSet};
use std::fmt;

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Exp, Fun, Lambda, Loc, Stm, Vars};
use dagaz_core::operator::scalar_operator;
use dagaz_core::pass::Rejection;
use dagaz_core::prim::{BinOp, Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::prune::SavedResult;
use crate::recursive::Recursive;
use crate::reverse::one_hot::{OneHot, OneHotRows};
use crate::reverse::{Restored, SkippableLoop, size_operation};
use crate::scalar::plus_op;

/// What there is no derivative for so far.
pub(crate) fn not_yet(loc: Loc, what: impl fmt::Display) -> Rejection {
    Rejection { code: "not-yet", message: format!("{what} is not available yet"), loc }
}

pub(crate) type Res<T> = Result<T, Rejection>;

/// Where the adjoint of a variable is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Adj {
    Value(Atom),
    /// Contributions go to an accumulator over all dimensions of the array.
    Acc(VarId),
}

pub(crate) struct Ad<'p> {
    pub b: Builder,
    pub program: Known<'p>,
    pub forward: Forward,
    pub sweep: Sweep,
    /// Whether what is expanded is about to be differentiated in reverse mode.
    pub reverse_ahead: bool,
}

/// What is known of the program.
pub(crate) struct Known<'p> {
    pub funs: &'p [Fun],
    /// Functions that cannot be inlined.
    pub recursive: Recursive,
    /// How sizes are computed.
    pub sizes: HashMap<VarId, (BinOp, Atom, Atom)>,
}

/// The state of forward mode.
#[derive(Default)]
pub(crate) struct Forward {
    /// Tangents that are zero and, while a derivative is split, everything that depends on tangents.
    pub linear_vars: HashSet<VarId>,
    /// Whether the program of forward mode is about to be split.
    pub linear_ahead: bool,
    pub active: HashSet<VarId>,
    /// Whether what is differentiated has integers as results, and no floats.
    pub integer_results: bool,
    /// While a derivative is split: a statement on accumulators could not be.
    pub acc_not_split: bool,
    /// Accumulators that sum, which have other accumulators as tangents.
    pub sums: HashSet<VarId>,
    /// Tangents of active variables.
    pub tan: HashMap<VarId, Atom>,
}

/// The state of the return sweep of reverse mode.
pub(crate) struct Sweep {
    /// Adjoints so far; a variable without one has the adjoint zero.
    pub adj: HashMap<VarId, Adj>,
    /// Adjoints that are known to be zero but in one place.
    pub one_hots: HashMap<VarId, OneHot>,
    /// Adjoints whose rows are.
    pub one_hot_rows: HashMap<VarId, OneHotRows>,
    /// The cotangents of the arrays behind the accumulators of what is differentiated; none is a zero.
    pub acc_adj: HashMap<VarId, Vec<Option<Atom>>>,
    /// Variables of code that is run a second time, and so can be left out wherever it is not needed.
    pub recomputed: HashSet<VarId>,
    /// Numbers in code that is run a second time, and the variables that have their values from the first time.
    pub known: HashMap<VarId, VarId>,
    /// Those of them that were met.
    pub kept: HashMap<VarId, SavedResult>,
    /// The arrays whose contents the return sweep restores as it goes back.
    pub restored: Restored,
    /// Loops of the return sweep that need not run, by their first results.
    pub skippable_loops: HashMap<VarId, SkippableLoop>,
    /// Whether loops may keep the tapes of those inside.
    pub may_tape: bool,
}

impl Default for Sweep {
    fn default() -> Sweep {
        Sweep {
            adj: HashMap::new(),
            one_hots: HashMap::new(),
            one_hot_rows: HashMap::new(),
            acc_adj: HashMap::new(),
            recomputed: HashSet::new(),
            known: HashMap::new(),
            kept: HashMap::new(),
            restored: Restored::default(),
            skippable_loops: HashMap::new(),
            may_tape: true,
        }
    }
}

impl<'p> Ad<'p> {
    pub fn new(vars: Vars, funs: &'p [Fun]) -> Ad<'p> {
        let program = Known { funs, recursive: Recursive::of(funs), sizes: HashMap::new() };
        let (forward, sweep) = (Forward::default(), Sweep::default());
        Ad { b: Builder::new(vars), program, forward, sweep, reverse_ahead: false }
    }

    pub fn note(&mut self, param: &Param) {
        self.b.note(param);
    }

    pub fn ty(&self, atom: Atom) -> Type {
        match atom {
            Atom::Const(prim) => Type::Prim(prim.ty()),
            Atom::Var(var) => match self.b.types.get(&var) {
                Some(ty) => ty.clone(),
                None => panic!("{}_{} has no type", self.b.vars.hint(var), var.0),
            },
        }
    }

    pub fn ty_var(&self, var: VarId) -> Type {
        self.ty(var.into())
    }

    pub fn push(&mut self, stm: Stm) {
        if let (Some(operation), [pat]) = (size_operation(&stm.exp), stm.pat.as_slice()) {
            self.program.sizes.insert(pat.var, operation);
        }
        self.b.push(stm);
    }

    pub fn param(&mut self, hint: &str, ty: Type) -> Param {
        let param = self.b.fresh_param(hint, ty);
        self.note(&param);
        param
    }

    pub fn let_exp(&mut self, hint: &str, ty: Type, exp: Exp, loc: Loc) -> Atom {
        self.let_var(hint, ty, exp, loc).into()
    }

    pub fn let_var(&mut self, hint: &str, ty: Type, exp: Exp, loc: Loc) -> VarId {
        let param = self.param(hint, ty);
        let var = param.var;
        self.b.push(Stm { pat: vec![param], exp, loc });
        var
    }

    pub fn let_exps(&mut self, hint: &str, types: &[Type], exp: Exp, loc: Loc) -> Vec<VarId> {
        let pat: Vec<Param> = types.iter().map(|ty| self.param(hint, ty.clone())).collect();
        let vars = pat.iter().map(|p| p.var).collect();
        self.b.push(Stm { pat, exp, loc });
        vars
    }

    /// The atom as a variable.
    pub fn as_var(&mut self, hint: &str, atom: Atom, loc: Loc) -> VarId {
        match atom {
            Atom::Var(var) => var,
            Atom::Const(_) => {
                let ty = self.ty(atom);
                self.let_var(hint, ty, Exp::Atom(atom), loc)
            }
        }
    }

    /// What `build` adds to a new scope, and what it returns.
    pub fn scope<T>(&mut self, build: impl FnOnce(&mut Self) -> Res<T>) -> Res<(Vec<Stm>, T)> {
        self.b.push_scope();
        let result = build(self);
        let stms = self.b.pop_scope();
        Ok((stms, result?))
    }

    pub fn body(&mut self, build: impl FnOnce(&mut Self) -> Res<Vec<Atom>>) -> Res<Body> {
        let (stms, result) = self.scope(build)?;
        Ok(Body { stms, result })
    }

    pub fn lambda(
        &mut self,
        params: Vec<Param>,
        ret: Vec<Type>,
        build: impl FnOnce(&mut Self) -> Res<Vec<Atom>>,
    ) -> Res<Lambda> {
        Ok(Lambda { params, body: self.body(build)?, ret })
    }

    pub fn select(&mut self, cond: Atom, ty: Type, then: Atom, otherwise: Atom, loc: Loc) -> Atom {
        match cond {
            Atom::Const(Prim::Bool(true)) => then,
            Atom::Const(Prim::Bool(false)) => otherwise,
            _ => {
                let branch = |result| Body { stms: Vec::new(), result: vec![result] };
                self.let_exp(
                    "chosen",
                    ty,
                    Exp::If { cond, then: branch(then), otherwise: branch(otherwise) },
                    loc,
                )
            }
        }
    }

    /// A zero of the type.
    pub fn zero(&mut self, ty: &Type, loc: Loc) -> Atom {
        match ty {
            Type::Prim(prim) => Prim::zero(*prim).into(),
            Type::Array { elem, dims } => {
                let exp = Exp::Replicate { dims: dims.clone(), value: Prim::zero(*elem).into() };
                self.let_exp("zeros", ty.clone(), exp, loc)
            }
            Type::Acc { .. } => Atom::bool(false),
        }
    }

    /// `x + y`, of scalars or arrays of the type.
    pub fn sum(&mut self, ty: &Type, x: Atom, y: Atom, loc: Loc) -> Atom {
        let (Type::Array { elem, dims }, Some(xs), Some(ys)) = (ty, x.as_var(), y.as_var()) else {
            let prim = ty.elem().unwrap_or(PrimType::Bool);
            let zero: Atom = Prim::zero(prim).into();
            return match () {
                () if x == zero => y,
                () if y == zero => x,
                () => self.plus(prim, x, y, loc),
            };
        };
        let row = Type::array(*elem, dims[1..].to_vec());
        let lambda = self.plus_lambda(&row, loc);
        let exp = Exp::Map { width: dims[0], arrays: vec![xs, ys], lambda };
        self.let_exp("sum", ty.clone(), exp, loc)
    }

    /// `\x y -> x + y` on scalars or arrays of the type.
    pub fn plus_lambda(&mut self, ty: &Type, loc: Loc) -> Lambda {
        let (x, y) = (self.param("x", ty.clone()), self.param("y", ty.clone()));
        let (a, b) = (x.var.into(), y.var.into());
        self.b.push_scope();
        let sum = self.sum(ty, a, b, loc);
        let stms = self.b.pop_scope();
        Lambda { params: vec![x, y], body: Body { stms, result: vec![sum] }, ret: vec![ty.clone()] }
    }

    /// The sum of the rows of an array of `n` rows of the type.
    pub fn sum_rows(&mut self, n: Atom, array: VarId, row: &Type, loc: Loc) -> Atom {
        let op = self.plus_lambda(row, loc);
        let neutral = vec![self.zero(row, loc)];
        let exp = Exp::Reduce { width: n, arrays: vec![array], pre: None, op, neutral, commutative: true };
        self.let_exp("sum", row.clone(), exp, loc)
    }

    pub fn iota(&mut self, n: Atom, loc: Loc) -> VarId {
        let exp = Exp::Iota { ty: PrimType::I64, n, start: Atom::i64(0), step: Atom::i64(1) };
        self.let_var("iota", Type::array(PrimType::I64, vec![n]), exp, loc)
    }

    pub fn i64_op(&mut self, op: BinOp, x: Atom, y: Atom, loc: Loc) -> Atom {
        let result = self.b.binop(op, PrimType::I64, x, y, loc);
        if let Some(var) = result.as_var().filter(|var| x != Atom::from(*var) && y != Atom::from(*var)) {
            self.program.sizes.insert(var, (op, x, y));
        }
        result
    }

    pub fn hint(&self, var: VarId, suffix: &str) -> String {
        let hint = self.b.vars.hint(var);
        if hint.ends_with(suffix) { hint.to_owned() } else { format!("{hint}{suffix}") }
    }
}

/// Whether an operator is the sum that tangents use, of numbers or of arrays of them.
pub(crate) fn is_plus(op: &Lambda) -> bool {
    if let ([x, y], [stm]) = (op.params.as_slice(), op.body.stms.as_slice())
        && let (Exp::Map { arrays, lambda, .. }, [pat]) = (&stm.exp, stm.pat.as_slice())
    {
        let whole = arrays.as_slice() == [x.var, y.var] && op.body.result == [Atom::from(pat.var)];
        return whole && is_plus(lambda);
    }
    scalar_operator(op).is_some_and(|known| known.op == plus_op(known.ty) && known.ty != PrimType::Bool)
}
