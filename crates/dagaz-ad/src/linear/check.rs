//! Whether a function is linear by its structure: every step on the way from an argument to a result is a sum, a product
//! with something that does not depend on the argument, or a move of elements.
//!
//!     \x -> 2 * x + y * x     linear           \x -> x + 1     adds a constant
//!     \x -> map (* a) x       linear           \x -> x * x     multiplies what depends on the argument
//!
//! Zero is linear and constant at once. The operator of a reduction may use constants to weigh its linear operands,
//! as the operators of forward mode do.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{AccInput, Body, Exp, Lambda, Loc, LoopForm, Stm};
use dagaz_core::pass::Rejection;
use dagaz_core::prim::{BinOp, Prim, PrimType, TernOp, UnOp};
use dagaz_core::types::{Atom, VarId};
use dagaz_core::visit::free_vars;

use crate::context::{Ad, Res};
use crate::has_integer_results;

/// How a value depends on the argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Zero,
    Constant,
    Linear,
}

struct Checker {
    kinds: HashMap<VarId, Kind>,
    /// By the first name of an accumulator: what each of its arrays holds. It is only written to, and so counts as zero
    /// itself.
    held: HashMap<VarId, Vec<Kind>>,
    first_names: HashMap<VarId, VarId>,
    /// Whether tangents may be rounded, as those of a function whose results are integers.
    integer_results: bool,
    loc: Loc,
}

impl Ad<'_> {
    /// An error names the first step that is not linear.
    pub fn check_linear(&self, lambda: &Lambda) -> Res<()> {
        let mut checker = Checker {
            kinds: HashMap::new(),
            held: HashMap::new(),
            first_names: HashMap::new(),
            integer_results: has_integer_results(lambda),
            loc: Loc::NONE,
        };
        for param in &lambda.params {
            checker.kinds.insert(param.var, Kind::Linear);
        }
        let results = checker.body(&lambda.body)?;
        if results.contains(&Kind::Constant) {
            return checker.refuse("a result that does not depend on the argument and is not zero");
        }
        Ok(())
    }
}

impl Checker {
    fn refuse<T>(&self, what: &str) -> Res<T> {
        let message = format!("this function is not linear and cannot be transposed: here is {what}");
        Err(Rejection { code: "not-linear", message, loc: self.loc })
    }

    fn kind(&self, atom: Atom) -> Kind {
        match atom {
            Atom::Const(prim) if prim == Prim::zero(prim.ty()) => Kind::Zero,
            Atom::Const(_) => Kind::Constant,
            Atom::Var(var) => self.kinds.get(&var).copied().unwrap_or(Kind::Constant),
        }
    }

    fn var(&self, var: VarId) -> Kind {
        self.kind(var.into())
    }

    /// Values that end up in one place.
    fn together(&self, kinds: impl IntoIterator<Item = Kind>) -> Res<Kind> {
        let mut all = Kind::Zero;
        for kind in kinds {
            all = match (all, kind) {
                (Kind::Zero, other) | (other, Kind::Zero) => other,
                (Kind::Linear, Kind::Linear) => Kind::Linear,
                (Kind::Constant, Kind::Constant) => Kind::Constant,
                (Kind::Linear, Kind::Constant) | (Kind::Constant, Kind::Linear) => {
                    return self.refuse("a constant added to or mixed with what depends on the argument");
                }
            };
        }
        Ok(all)
    }

    fn product(&self, a: Kind, b: Kind) -> Res<Kind> {
        match (a, b) {
            (Kind::Zero, _) | (_, Kind::Zero) => Ok(Kind::Zero),
            (Kind::Constant, Kind::Constant) => Ok(Kind::Constant),
            (Kind::Linear, Kind::Constant) | (Kind::Constant, Kind::Linear) => Ok(Kind::Linear),
            (Kind::Linear, Kind::Linear) => {
                self.refuse("a product of two values that depend on the argument")
            }
        }
    }

    fn constant(&self, atoms: impl IntoIterator<Item = Atom>, what: &str) -> Res<()> {
        match atoms.into_iter().any(|a| self.kind(a) == Kind::Linear) {
            true => self.refuse(&format!("{what} that depends on the argument")),
            false => Ok(()),
        }
    }

    fn body(&mut self, body: &Body) -> Res<Vec<Kind>> {
        // What the results do not need may be anything.
        let mut used: HashSet<VarId> = body.result.iter().filter_map(|a| a.as_var()).collect();
        let mut needed = Vec::new();
        for stm in body.stms.iter().rev() {
            if stm.pat.is_empty() || stm.pat.iter().any(|p| used.contains(&p.var) || p.ty.is_acc()) {
                used.extend(free_vars(&stm.exp));
                needed.push(stm);
            }
        }
        needed.into_iter().rev().try_for_each(|stm| self.stm(stm))?;
        Ok(body.result.iter().map(|a| self.kind(*a)).collect())
    }

    fn stm(&mut self, stm: &Stm) -> Res<()> {
        self.loc = stm.loc;
        let kinds = self.exp(stm)?;
        for (i, (param, kind)) in stm.pat.iter().zip(kinds).enumerate() {
            self.kinds.insert(param.var, kind);
            if param.ty.is_acc() {
                self.name_acc(param.var, result_of(&stm.exp, i));
            }
        }
        Ok(())
    }

    /// One more name of an accumulator.
    fn name_acc(&mut self, name: VarId, of: Option<Atom>) {
        if let Some(first) = of.and_then(Atom::as_var).and_then(|acc| self.first_names.get(&acc)).copied() {
            self.first_names.insert(name, first);
        }
    }

    fn lambda(&mut self, lambda: &Lambda, args: &[Kind]) -> Res<Vec<Kind>> {
        for (param, kind) in lambda.params.iter().zip(args) {
            self.kinds.insert(param.var, *kind);
        }
        self.body(&lambda.body)
    }

    fn exp(&mut self, stm: &Stm) -> Res<Vec<Kind>> {
        let one = |kind: Kind| Ok(vec![kind]);
        match &stm.exp {
            Exp::Convert(from, to, a) if from.is_float() && to.is_int() && !self.integer_results => {
                self.constant([*a], "a conversion to an integer of a value")?;
                one(self.kind(*a))
            }
            Exp::Atom(a) | Exp::Convert(_, _, a) => one(self.kind(*a)),
            Exp::UnOp(op, _, a) => one(self.unop(*op, self.kind(*a))?),
            Exp::BinOp(op, ty, a, b) => one(self.binop(*op, *ty, self.kind(*a), self.kind(*b))?),
            Exp::TernOp(op, _, [a, b, c]) => {
                one(self.ternop(*op, self.kind(*a), self.kind(*b), self.kind(*c))?)
            }
            Exp::CmpOp(_, _, a, b) => {
                self.constant([*a, *b], "a comparison of a value")?;
                one(Kind::Constant)
            }
            Exp::Index { array, indices, .. } => {
                self.constant(indices.iter().copied(), "an index")?;
                one(self.var(*array))
            }
            Exp::Slice { array, .. } | Exp::Rearrange { array, .. } | Exp::Reshape { array, .. } => {
                one(self.var(*array))
            }
            Exp::Copy(array) => one(self.var(*array)),
            Exp::Update { array, value, .. } => one(self.together([self.var(*array), self.kind(*value)])?),
            Exp::Iota { n, start, step, .. } => {
                self.constant([*n], "a size")?;
                one(self.together([self.kind(*start), self.kind(*step)])?)
            }
            Exp::Replicate { dims, value } => {
                self.constant(dims.iter().copied(), "a size")?;
                one(self.kind(*value))
            }
            Exp::Concat { arrays } => one(self.together(arrays.iter().map(|a| self.var(*a)))?),
            Exp::ArrayLit { elems, .. } => one(self.together(elems.iter().map(|a| self.kind(*a)))?),
            // Everything in it is written before it is read.
            Exp::Scratch { .. } => one(Kind::Zero),
            Exp::Assert { cond, .. } => {
                self.constant([*cond], "an assertion about a value")?;
                Ok(vec![])
            }
            Exp::Trace { values, .. } => Ok(values.iter().map(|a| self.kind(*a)).collect()),
            Exp::If { cond, then, otherwise } => {
                self.constant([*cond], "a branch")?;
                let (then, otherwise) = (self.body(then)?, self.body(otherwise)?);
                self.loc = stm.loc;
                then.into_iter().zip(otherwise).map(|(a, b)| self.together([a, b])).collect()
            }
            Exp::Loop { .. } => self.looped(&stm.exp),
            Exp::Map { .. } | Exp::Reduce { .. } | Exp::Scan { .. } => self.bulk(stm),
            Exp::Hist { .. } | Exp::Scatter { .. } | Exp::WithAcc { .. } => self.bulk(stm),
            Exp::UpdateAcc { acc, indices, values } => {
                self.constant(indices.iter().copied(), "an index")?;
                let held = self.first_names.get(acc).and_then(|first| self.held.get(first)).cloned();
                let held = held.unwrap_or_default();
                let new = held.iter().zip(values).map(|(held, v)| self.together([*held, self.kind(*v)]));
                let new: Res<Vec<Kind>> = new.collect();
                if let Some(first) = self.first_names.get(acc) {
                    self.held.insert(*first, new?);
                }
                one(Kind::Zero)
            }
            // A constant to derivatives, and so not linear.
            Exp::Detach(a) => {
                self.constant([*a], "a detached value")?;
                one(self.kind(*a))
            }
            // Expanded before.
            Exp::Call { .. } => self.refuse("a call of a recursive function"),
            Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::WithVjp { .. } => self.refuse("a derivative"),
            Exp::Transpose { .. } => self.refuse("a derivative"),
            Exp::Contract { .. } => self.refuse("a contraction"),
        }
    }

    fn unop(&self, op: UnOp, kind: Kind) -> Res<Kind> {
        match (op, kind) {
            (_, Kind::Constant) => Ok(Kind::Constant),
            (UnOp::Neg | UnOp::FromBits | UnOp::ToBits, kind) => Ok(kind),
            (_, Kind::Zero) => Ok(Kind::Constant),
            (op, Kind::Linear) => self.refuse(&format!("{} of what depends on the argument", op.name())),
        }
    }

    fn binop(&self, op: BinOp, ty: PrimType, a: Kind, b: Kind) -> Res<Kind> {
        match op {
            BinOp::Add | BinOp::Sub => self.together([a, b]),
            BinOp::Or if ty == PrimType::Bool => self.together([a, b]),
            BinOp::Mul => self.product(a, b),
            BinOp::And if ty == PrimType::Bool => self.product(a, b),
            BinOp::Div | BinOp::Quot | BinOp::Ldexp if b != Kind::Linear => Ok(a),
            _ if a == Kind::Linear || b == Kind::Linear => {
                self.refuse(&format!("{} of what depends on the argument", op.name()))
            }
            _ => Ok(Kind::Constant),
        }
    }

    fn ternop(&self, op: TernOp, a: Kind, b: Kind, c: Kind) -> Res<Kind> {
        match op {
            TernOp::Fma | TernOp::Mad => self.together([self.product(a, b)?, c]),
            TernOp::Lerp => {
                let range = self.together([a, b])?;
                self.together([a, self.product(range, c)?])
            }
            TernOp::MadHi if [a, b, c].contains(&Kind::Linear) => {
                self.refuse("mad_hi of what depends on the argument")
            }
            TernOp::MadHi => Ok(Kind::Constant),
        }
    }

    /// Parameters start as what they are given, and become what the body makes of them.
    fn looped(&mut self, exp: &Exp) -> Res<Vec<Kind>> {
        let Exp::Loop { params, form, body, .. } = exp else { return Ok(vec![]) };
        let loc = self.loc;
        let mut kinds: Vec<Kind> = params.iter().map(|(_, init)| self.kind(*init)).collect();
        if let LoopForm::For { bound, .. } = form {
            self.constant([*bound], "a number of iterations")?;
        }
        loop {
            for ((param, init), kind) in params.iter().zip(&kinds) {
                self.kinds.insert(param.var, *kind);
                self.name_acc(param.var, Some(*init));
            }
            if let LoopForm::While { cond } = form
                && self.body(cond)?.contains(&Kind::Linear)
            {
                return self.refuse("a loop condition that depends on the argument");
            }
            let results = self.body(body)?;
            self.loc = loc;
            let next: Res<Vec<Kind>> =
                kinds.iter().zip(results).map(|(before, after)| self.together([*before, after])).collect();
            let next = next?;
            if next == kinds {
                return Ok(next);
            }
            kinds = next;
        }
    }

    fn bulk(&mut self, stm: &Stm) -> Res<Vec<Kind>> {
        let loc = stm.loc;
        match &stm.exp {
            Exp::Map { arrays, lambda, .. } => {
                let rows: Vec<Kind> = arrays.iter().map(|a| self.var(*a)).collect();
                for (param, array) in lambda.params.iter().zip(arrays) {
                    self.name_acc(param.var, Some((*array).into()));
                }
                self.lambda(lambda, &rows)
            }
            Exp::Reduce { arrays, op, neutral, .. } | Exp::Scan { arrays, op, neutral, .. } => {
                let inputs: Vec<Kind> = arrays.iter().map(|a| self.var(*a)).collect();
                let neutral: Vec<Kind> = neutral.iter().map(|a| self.kind(*a)).collect();
                self.operator(op, inputs, &neutral, loc)
            }
            Exp::Hist { arrays, shape, dests, op, neutral, .. } => {
                let (indices, values) = arrays.split_at(shape.len());
                self.constant(indices.iter().map(|v| Atom::from(*v)), "an index")?;
                let inputs =
                    values.iter().zip(dests).map(|(v, d)| self.together([self.var(*v), self.var(*d)]));
                let inputs: Res<Vec<Kind>> = inputs.collect();
                let neutral: Vec<Kind> = neutral.iter().map(|a| self.kind(*a)).collect();
                self.operator(op, inputs?, &neutral, loc)
            }
            Exp::Scatter { arrays, shape, dests, .. } => {
                let (indices, values) = arrays.split_at(shape.len());
                self.constant(indices.iter().map(|v| Atom::from(*v)), "an index")?;
                values.iter().zip(dests).map(|(v, d)| self.together([self.var(*v), self.var(*d)])).collect()
            }
            Exp::WithAcc { inputs, lambda } => self.accumulated(inputs, lambda),
            _ => Ok(vec![]),
        }
    }

    /// Linear components stay so, whatever is combined; their neutral elements are zero.
    fn operator(&mut self, op: &Lambda, mut kinds: Vec<Kind>, neutral: &[Kind], loc: Loc) -> Res<Vec<Kind>> {
        loop {
            let operands = [kinds.as_slice(), kinds.as_slice()].concat();
            let results = self.lambda(op, &operands)?;
            self.loc = loc;
            let mut next = Vec::with_capacity(kinds.len());
            for ((kind, result), neutral) in kinds.iter().zip(results).zip(neutral) {
                next.push(self.together([*kind, result, *neutral])?);
            }
            if next == kinds {
                return Ok(next);
            }
            kinds = next;
        }
    }

    fn accumulated(&mut self, inputs: &[AccInput], lambda: &Lambda) -> Res<Vec<Kind>> {
        for (param, input) in lambda.params.iter().zip(inputs) {
            self.first_names.insert(param.var, param.var);
            self.held.insert(param.var, input.arrays.iter().map(|a| self.var(*a)).collect());
        }
        let loc = self.loc;
        let results = self.lambda(lambda, &vec![Kind::Zero; inputs.len()])?;
        let mut kinds = Vec::new();
        for (param, input) in lambda.params.iter().zip(inputs) {
            let held = self.held.get(&param.var).cloned().unwrap_or_default();
            kinds.extend(match &input.op {
                Some((op, neutral)) => {
                    let neutral: Vec<Kind> = neutral.iter().map(|a| self.kind(*a)).collect();
                    self.operator(op, held, &neutral, loc)?
                }
                None => held,
            });
        }
        kinds.extend(results.into_iter().skip(inputs.len()));
        Ok(kinds)
    }
}

/// What an accumulator among the results of an expression is a later name of.
fn result_of(exp: &Exp, i: usize) -> Option<Atom> {
    match exp {
        Exp::Atom(a) => Some(*a),
        Exp::UpdateAcc { acc, .. } => Some((*acc).into()),
        Exp::If { then, .. } => then.result.get(i).copied(),
        Exp::Loop { params, .. } => params.get(i).map(|(_, init)| *init),
        Exp::Map { lambda, .. } => lambda.body.result.get(i).copied(),
        _ => None,
    }
}
