//! Loops that are linear but for choices keep these, and no numbers.
//!
//! The derivative of a minimum needs to know which operand it was, and that of a sum needs nothing. Where a loop computes its
//! arrays by sums, minima and branches alone, the return sweep needs no number that an iteration started with, but a few bits
//! for each element:
//!
//!     loop (ys = y0) for i < n do             loop (ys = y0, kept = scratch) for i < n do
//!       let (zs) = map m (js) \j ->             let (codes: [m]i8) = map m (js) \j -> if least is ys[j] then 1 else 0
//!         let least = min ys[j] a               let (zs) = map m (js) \j -> …
//!         in (least + b[i, j])         ==>      in (zs, kept with [i] = codes)
//!       in (zs)                               loop (zs_ct = ct) for k < n do
//!                                               map m (js, kept[n - 1 - k], zs_ct) \j code ct ->
//!                                                 …ct goes to ys[j] if the code is 1, and always to b[i, j]…
//!
//! What is saved of the arrays themselves is then read nowhere, and goes (see [`crate::prune`]).

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Exp, Lambda, Loc, Stm};
use dagaz_core::prim::{BinOp, Prim, PrimType, UnOp};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{direct_operands, free_vars};

use crate::context::{Ad, Res};
use crate::rename::Renamer;

use super::costly::is_linear;

/// So many choices are in one code.
const BITS: usize = 7;

/// A loop that keeps choices.
pub(super) struct Chosen {
    /// The body of the forward sweep, and that of the return sweep, which reads the codes.
    pub run: Body,
    pub again: Body,
    pub codes: Vec<VarId>,
}

/// What depends on the arrays of a loop.
#[derive(Clone, Default)]
struct State {
    numbers: HashSet<VarId>,
    /// Conditions, which only choices may use.
    tests: HashSet<VarId>,
}

impl State {
    fn concerns(&self, exp: &Exp) -> bool {
        free_vars(exp).iter().any(|var| self.numbers.contains(var) || self.tests.contains(var))
    }

    fn has_test(&self, exp: &Exp) -> bool {
        free_vars(exp).iter().any(|var| self.tests.contains(var))
    }

    fn has_number(&self, atom: Atom) -> bool {
        atom.as_var().is_some_and(|var| self.numbers.contains(&var))
    }
}

/// What is chosen in a function, or in those inside of it.
#[derive(Default)]
struct Choices {
    /// Results of minima and maxima, with the first operand.
    extrema: Vec<(VarId, PrimType, Atom)>,
    /// Conditions of branches.
    tests: Vec<VarId>,
    /// Maps inside, by their first results.
    inside: HashMap<VarId, Choices>,
}

impl Choices {
    fn is_empty(&self) -> bool {
        self.count() == 0 && self.inside.values().all(Choices::is_empty)
    }

    fn count(&self) -> usize {
        self.extrema.len() + self.tests.len()
    }

    /// The same in a copy of the function.
    fn renamed(&self, renamer: &Renamer<'_, '_>) -> Choices {
        let extrema = self.extrema.iter().map(|(var, ty, x)| (renamer.var(*var), *ty, renamer.atom(*x)));
        let inside = self.inside.iter().map(|(var, own)| (renamer.var(*var), own.renamed(renamer)));
        let tests = self.tests.iter().map(|var| renamer.var(*var));
        Choices { extrema: extrema.collect(), tests: tests.collect(), inside: inside.collect() }
    }
}

impl Ad<'_> {
    /// The body of a loop, if its choices are all that the return sweep needs of its arrays, and take less memory.
    pub(super) fn with_choices(&mut self, params: &[(Param, Atom)], body: &Body) -> Res<Option<Chosen>> {
        let is_number = |ty: &Type| ty.is_array() && ty.elem().is_some_and(PrimType::is_float);
        let arrays: Vec<&Param> = params.iter().map(|(p, _)| p).filter(|p| is_number(&p.ty)).collect();
        let numbers = arrays.iter().map(|p| p.var).collect();
        let mut state = State { numbers, tests: HashSet::new() };
        let Some(choices) = self.choices(&body.stms, &mut state) else { return Ok(None) };
        let makes_tests = body.result.iter().any(|a| a.as_var().is_some_and(|v| state.tests.contains(&v)));
        if choices.is_empty() || choices.count() > 0 || makes_tests {
            return Ok(None);
        }
        let (mut run, mut again, mut codes) = (Vec::new(), Vec::new(), Vec::new());
        for stm in &body.stms {
            let own = stm.pat.first().and_then(|p| choices.inside.get(&p.var));
            let (Some(own), Exp::Map { width, arrays, lambda }) = (own, &stm.exp) else {
                [&mut run, &mut again].into_iter().for_each(|stms| stms.push(stm.clone()));
                continue;
            };
            let (made, types) = self.codes_of(lambda, own, stm.loc)?;
            let types: Vec<Type> = types.iter().map(|ty| ty.with_outer(&[*width])).collect();
            let pat: Vec<Param> = types.iter().map(|ty| self.param("codes", ty.clone())).collect();
            let read = self.with_codes(lambda, own, &types, stm.loc)?;
            codes.extend(pat.iter().map(|p| p.var));
            let all = arrays.iter().copied().chain(pat.iter().map(|p| p.var)).collect();
            let exp = Exp::Map { width: *width, arrays: arrays.clone(), lambda: made };
            let making = Stm { pat, exp, loc: stm.loc };
            run.extend([stm.clone(), making.clone()]);
            let exp = Exp::Map { width: *width, arrays: all, lambda: read };
            again.extend([making, Stm { pat: stm.pat.clone(), exp, loc: stm.loc }]);
        }
        // As many elements as the arrays have, of one byte each.
        let saved: Vec<_> = arrays.iter().map(|p| self.extent(p.ty.dims())).collect();
        let is_less = |code: &VarId| saved.contains(&self.extent(self.ty_var(*code).dims()));
        let body = |stms| Body { stms, result: body.result.clone() };
        let chosen = Chosen { run: body(run), again: body(again), codes };
        Ok(Some(chosen).filter(|c| c.codes.len() <= 2 * saved.len() && c.codes.iter().all(is_less)))
    }

    /// The choices of statements, if all else is linear in what depends on the arrays.
    fn choices(&self, stms: &[Stm], state: &mut State) -> Option<Choices> {
        let mut choices = Choices::default();
        for stm in stms {
            if !state.concerns(&stm.exp) {
                continue;
            }
            let first = stm.pat.first()?;
            match &stm.exp {
                Exp::BinOp(BinOp::Min | BinOp::Max, ty, x, _) if ty.is_float() => {
                    choices.extrema.push((first.var, *ty, *x));
                }
                Exp::CmpOp(_, ty, ..) if ty.is_float() => {
                    state.tests.insert(first.var);
                    continue;
                }
                Exp::BinOp(_, PrimType::Bool, ..) | Exp::UnOp(UnOp::Not, PrimType::Bool, _) => {
                    state.tests.insert(first.var);
                    continue;
                }
                Exp::If { cond, then, otherwise } => {
                    let are_linear =
                        [then, otherwise].iter().all(|body| self.are_linear_in(&body.stms, state));
                    are_linear.then_some(())?;
                    let gives_test = |a: &Atom| a.as_var().is_some_and(|v| state.tests.contains(&v));
                    let results = then.result.iter().chain(&otherwise.result);
                    (!results.into_iter().any(gives_test)).then_some(())?;
                    stm.pat.iter().all(|p| p.ty.elem().is_some_and(PrimType::is_float)).then_some(())?;
                    let test = cond.as_var().filter(|var| state.tests.contains(var));
                    choices.tests.extend(test.filter(|var| !choices.tests.contains(var)));
                }
                Exp::Map { arrays, lambda, .. } => {
                    let mut inner = state.clone();
                    let rows = arrays.iter().zip(&lambda.params);
                    inner.numbers.extend(rows.filter(|(a, _)| state.numbers.contains(a)).map(|(_, p)| p.var));
                    let own = self.choices(&lambda.body.stms, &mut inner)?;
                    let results: Vec<VarId> = lambda.body.result.iter().filter_map(|a| a.as_var()).collect();
                    (!results.iter().any(|var| inner.tests.contains(var))).then_some(())?;
                    choices.inside.insert(first.var, own);
                }
                exp => self.is_linear_in(exp, state).then_some(())?,
            }
            state.numbers.extend(stm.pat.iter().map(|p| p.var));
        }
        choices.inside.retain(|_, own| !own.is_empty());
        Some(choices)
    }

    /// Whether derivatives of the statements of a branch need nothing that depends on the arrays.
    fn are_linear_in(&self, stms: &[Stm], state: &State) -> bool {
        let mut state = state.clone();
        stms.iter().all(|stm| {
            let is_linear = self.is_linear_in(&stm.exp, &state);
            if state.concerns(&stm.exp) {
                state.numbers.extend(stm.pat.iter().map(|p| p.var));
            }
            is_linear
        })
    }

    /// Whether derivatives of an expression need nothing that depends on the arrays.
    fn is_linear_in(&self, exp: &Exp, state: &State) -> bool {
        let is_factor = |atom: Atom| !state.has_number(atom) && !self.is_active(atom);
        match exp {
            exp if !state.concerns(exp) => true,
            exp if state.has_test(exp) => false,
            Exp::BinOp(BinOp::Mul, ty, x, y) if ty.is_float() => is_factor(*x) || is_factor(*y),
            Exp::BinOp(BinOp::Div, ty, _, y) if ty.is_float() => is_factor(*y),
            Exp::Map { .. } => false,
            Exp::Index { indices, .. } => !indices.iter().any(|i| state.has_number(*i)) && is_linear(exp),
            _ => is_linear(exp),
        }
    }

    /// A function that gives codes for the choices of another one, and their types.
    fn codes_of(&mut self, lambda: &Lambda, choices: &Choices, loc: Loc) -> Res<(Lambda, Vec<Type>)> {
        let mut renamer = Renamer::again(self, HashMap::new());
        let copy = renamer.lambda(lambda);
        let choices = choices.renamed(&renamer);
        let mut types = Vec::new();
        let body = self.body(|ad| {
            let mut codes = Vec::new();
            for stm in copy.body.stms {
                let own = stm.pat.first().and_then(|p| choices.inside.get(&p.var));
                if let (Some(own), Exp::Map { width, arrays, lambda }) = (own, &stm.exp) {
                    let (lambda, inner) = ad.codes_of(lambda, own, loc)?;
                    let exp = Exp::Map { width: *width, arrays: arrays.clone(), lambda };
                    let inner: Vec<Type> = inner.iter().map(|ty| ty.with_outer(&[*width])).collect();
                    codes.extend(ad.let_exps("codes", &inner, exp, loc).into_iter().map(Atom::from));
                    types.extend(inner);
                }
                ad.push(stm);
            }
            let mut bits = Vec::new();
            for (result, ty, x) in &choices.extrema {
                bits.push(ad.b.eq(*ty, (*result).into(), *x, loc));
            }
            bits.extend(choices.tests.iter().map(|var| Atom::from(*var)));
            for some in bits.chunks(BITS) {
                codes.push(ad.code(some, loc));
                types.push(PrimType::I8.into());
            }
            Ok(codes)
        })?;
        Ok((Lambda { params: copy.params, body, ret: types.clone() }, types))
    }

    /// The number with the given bits.
    fn code(&mut self, bits: &[Atom], loc: Loc) -> Atom {
        let mut code = Atom::from(Prim::I8(0));
        for (k, bit) in bits.iter().enumerate() {
            let number = self.b.convert(PrimType::Bool, PrimType::I8, *bit, loc);
            let place = self.b.mul(PrimType::I8, number, Prim::I8(1 << k).into(), loc);
            code = self.b.add(PrimType::I8, code, place, loc);
        }
        code
    }

    /// A function that is given codes for its choices.
    fn with_codes(&mut self, lambda: &Lambda, choices: &Choices, types: &[Type], loc: Loc) -> Res<Lambda> {
        let rows: Vec<Type> = types.iter().filter_map(Type::row).collect();
        let codes: Vec<Param> = rows.iter().map(|ty| self.param("code", ty.clone())).collect();
        let (inner, own) = codes.split_at(rows.len() - choices.count().div_ceil(BITS));
        let mut inner = inner.iter();
        let body = self.body(|ad| {
            let mut bits = Vec::new();
            for k in 0..choices.count() {
                let code = own[k / BITS].var.into();
                let bit = ad.b.binop(BinOp::And, PrimType::I8, code, Prim::I8(1 << (k % BITS)).into(), loc);
                let is_unset = ad.b.eq(PrimType::I8, bit, Prim::I8(0).into(), loc);
                bits.push(ad.b.not(is_unset, loc));
            }
            let (of_extrema, of_tests) = bits.split_at(choices.extrema.len());
            for stm in &lambda.body.stms {
                let first = stm.pat.first().map(|p| p.var);
                let extremum = choices.extrema.iter().position(|(var, ..)| Some(*var) == first);
                let mut stm = stm.clone();
                let own = first.and_then(|var| choices.inside.get(&var));
                match (&mut stm.exp, extremum, own) {
                    (exp, Some(k), _) => *exp = ad.chosen_operand(exp, of_extrema[k], loc),
                    (Exp::If { cond, .. }, ..) => {
                        let test = choices.tests.iter().position(|var| Atom::from(*var) == *cond);
                        test.into_iter().for_each(|k| *cond = of_tests[k]);
                    }
                    (Exp::Map { arrays, lambda, .. }, _, Some(own)) => {
                        let count = codes_in(own);
                        let more: Vec<&Param> = inner.by_ref().take(count).collect();
                        let types: Vec<Type> = more.iter().map(|p| p.ty.clone()).collect();
                        *lambda = ad.with_codes(lambda, own, &types, loc)?;
                        arrays.extend(more.iter().map(|p| p.var));
                    }
                    _ => {}
                }
                ad.push(stm);
            }
            Ok(lambda.body.result.clone())
        })?;
        let params = lambda.params.iter().cloned().chain(codes.iter().cloned()).collect();
        Ok(Lambda { params, body, ret: lambda.ret.clone() })
    }

    /// A minimum or maximum whose adjoint goes to the first operand if the condition holds, and to the second otherwise.
    fn chosen_operand(&mut self, exp: &Exp, is_first: Atom, loc: Loc) -> Exp {
        let mut args = Vec::new();
        direct_operands(exp, &mut |atom| args.push(atom));
        let Exp::BinOp(op, ty, ..) = exp else { return exp.clone() };
        let (zero, one): (Atom, Atom) = (Prim::zero(*ty).into(), Prim::of_i64(*ty, 1).into());
        let elem: Type = (*ty).into();
        let [x, y, r, ct] = ["x", "y", "r", "ct"].map(|hint| self.param(hint, elem.clone()));
        self.b.push_scope();
        let result = self.b.binop(*op, *ty, x.var.into(), y.var.into(), loc);
        let body = Body { stms: self.b.pop_scope(), result: vec![result] };
        let lambda = Lambda { params: vec![x, y], body, ret: vec![elem.clone()] };
        self.b.push_scope();
        let is_second = self.b.not(is_first, loc);
        // Products, as in other rules: vector units compute both, and need no branches.
        let [to_first, to_second] = [is_first, is_second].map(|cond| {
            let factor = self.select(cond, elem.clone(), one, zero, loc);
            self.times(*ty, factor, ct.var.into(), loc)
        });
        let body = Body { stms: self.b.pop_scope(), result: vec![to_first, to_second] };
        let rule = Lambda { params: vec![r, ct], body, ret: vec![elem.clone(), elem] };
        Exp::WithVjp { lambda, rule, args }
    }
}

/// How many codes the choices of a function have.
fn codes_in(choices: &Choices) -> usize {
    choices.count().div_ceil(BITS) + choices.inside.values().map(codes_in).sum::<usize>()
}
