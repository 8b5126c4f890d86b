//! Loops that are split into nested loops, as the user has asked for with `#[stripmine(k)]` (thesis, section 3.3.2).
//!
//!     loop (y = y0) for i < n do f(i, y)    ==>    loop (z = y0) for b < ceil(n / m) do
//!                                                    loop (y = z) for c < min(m, n - b * m) do
//!                                                      f(b * m + c, y)
//!
//! Split k times, none of the loops has more than m = ceil(n^(1 / (k + 1))) iterations. Each saves what its own
//! iterations start with, so that reverse mode keeps about (k + 1) * m states instead of n, and runs the body up to
//! k + 1 times more.
//!
//! An array that every iteration writes all over is copied first in the outer loops, so that these save it once in an
//! iteration of theirs. In place, they would log what each iteration overwrites ([`super::log`]), and so keep n states after all.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Exp, Loc, LoopForm, LoopHints, Stm};
use dagaz_core::prim::{BinOp, Prim, PrimType, UnOp};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::bound;

use crate::context::{Ad, Res};
use crate::rename::Renamer;

use super::flow::Flow;
use super::log::{common_form, count};

/// The loop that is split.
struct Split<'a> {
    params: &'a [(Param, Atom)],
    counter: (VarId, PrimType),
    body: &'a Body,
    /// For every parameter, whether an iteration overwrites as many elements as it has, in place.
    rewritten: Vec<bool>,
    /// How many iterations each of the loops has at most.
    most: Atom,
    loc: Loc,
}

impl Ad<'_> {
    /// The statement, split if it is a loop for which that was asked.
    pub fn push_stripmined(&mut self, stm: Stm) -> Res<()> {
        let loc = stm.loc;
        match &stm.exp {
            Exp::Loop { params, form: LoopForm::For { var, ty, bound }, body, hints }
                if hints.stripmine > 0 =>
            {
                let n = self.b.convert(*ty, PrimType::I64, *bound, loc);
                let n = self.i64_op(BinOp::Max, n, Atom::i64(0), loc);
                let most = self.root_of(n, hints.stripmine + 1, loc);
                let rewritten = rewritten(params, body);
                let split = Split { params, counter: (*var, *ty), body, rewritten, most, loc };
                let inits: Vec<Atom> = params.iter().map(|(_, init)| *init).collect();
                let exp = self.nested_loops(&split, hints.stripmine, &inits, Atom::i64(0), n)?;
                self.push(Stm { pat: stm.pat.clone(), exp, loc });
            }
            _ => self.push(stm),
        }
        Ok(())
    }

    /// The smallest number, or one more, whose power `k` is at least `n`; at least one.
    fn root_of(&mut self, n: Atom, k: u32, loc: Loc) -> Atom {
        let real = self.b.convert(PrimType::I64, PrimType::F64, n, loc);
        let exponent = Atom::Const(Prim::F64(1.0 / f64::from(k)));
        let root = self.b.binop(BinOp::Pow, PrimType::F64, real, exponent, loc);
        let root = self.b.unop(UnOp::Ceil, PrimType::F64, root, loc);
        let root = self.b.convert(PrimType::F64, PrimType::I64, root, loc);
        self.i64_op(BinOp::Max, root, Atom::i64(1), loc)
    }

    /// The iterations from `start`, `n` of them, as nested loops.
    fn nested_loops(
        &mut self,
        split: &Split<'_>,
        depth: u32,
        inits: &[Atom],
        start: Atom,
        n: Atom,
    ) -> Res<Exp> {
        let loc = split.loc;
        let counter = self.b.fresh("i");
        self.b.types.insert(counter, Type::I64);
        if depth == 0 {
            let params = split.params.iter().map(|(p, _)| p.clone()).zip(inits.iter().copied()).collect();
            let body = self.body(|ad| {
                let i = ad.i64_op(BinOp::Add, start, counter.into(), loc);
                let (var, ty) = split.counter;
                let i = ad.b.convert(PrimType::I64, ty, i, loc);
                ad.push(Stm { pat: vec![Param::new(var, ty.into())], exp: Exp::Atom(i), loc });
                split.body.stms.iter().for_each(|s| ad.push(s.clone()));
                Ok(split.body.result.clone())
            })?;
            let form = LoopForm::For { var: counter, ty: PrimType::I64, bound: n };
            return Ok(Exp::Loop { params, form, body, hints: LoopHints::NONE });
        }
        let step = (1..depth).fold(split.most, |step, _| self.i64_op(BinOp::Mul, step, split.most, loc));
        let more = self.i64_op(BinOp::Sub, step, Atom::i64(1), loc);
        let padded = self.i64_op(BinOp::Add, n, more, loc);
        let blocks = self.i64_op(BinOp::Quot, padded, step, loc);
        let own = self.fresh_params(split.params);
        let body = self.body(|ad| {
            let before = ad.i64_op(BinOp::Mul, counter.into(), step, loc);
            let start = ad.i64_op(BinOp::Add, start, before, loc);
            let left = ad.i64_op(BinOp::Sub, n, before, loc);
            let here = ad.i64_op(BinOp::Min, step, left, loc);
            let values: Vec<Atom> = (own.iter().zip(&split.rewritten))
                .map(|(p, is_rewritten)| match is_rewritten {
                    true => ad.let_exp("copy", p.ty.clone(), Exp::Copy(p.var), loc),
                    false => p.var.into(),
                })
                .collect();
            let inner = ad.nested_loops(split, depth - 1, &values, start, here)?;
            let pat = ad.fresh_params(split.params);
            let results = pat.iter().map(|p| p.var.into()).collect();
            ad.push(Stm { pat, exp: inner, loc });
            Ok(results)
        })?;
        let params = own.into_iter().zip(inits.iter().copied()).collect();
        let form = LoopForm::For { var: counter, ty: PrimType::I64, bound: blocks };
        Ok(Exp::Loop { params, form, body, hints: LoopHints::NONE })
    }

    /// Parameters of the same types, which may mention each other.
    fn fresh_params(&mut self, params: &[(Param, Atom)]) -> Vec<Param> {
        let mut renamer = Renamer::new(self, HashMap::new());
        params.iter().map(|(p, _)| renamer.param(p)).collect()
    }
}

/// For every parameter of a loop, whether the body updates it in place, and as many elements in all as it has.
fn rewritten(params: &[(Param, Atom)], body: &Body) -> Vec<bool> {
    let mut inside: HashSet<VarId> = params.iter().map(|(p, _)| p.var).collect();
    inside.extend(bound(&body.stms));
    let mut flow = Flow::default();
    params.iter().filter(|(p, _)| p.ty.is_array()).for_each(|(p, _)| flow.enter(p.var, p.var, false));
    let results = flow.body(body);
    let is_rewritten = |(param, result): (&Param, &Option<VarId>)| {
        if *result != Some(param.var) || flow.is_broken(param.var) {
            return None;
        }
        let form = common_form(flow.sites.get(&param.var)?, &inside)?;
        let mut elements = count(body, param.var, &flow, &inside)?.turns()?;
        elements.extend(form.part(&param.ty).dims());
        let mut dims = param.ty.dims().to_vec();
        elements.iter().for_each(|n| {
            dims.iter().position(|dim| is_same_size(*dim, *n)).map(|at| dims.swap_remove(at));
        });
        Some(dims.is_empty())
    };
    params.iter().map(|(p, _)| p).zip(&results).map(|pair| is_rewritten(pair).unwrap_or(false)).collect()
}

/// Whether two sizes, which may have different types, are known to be the same.
fn is_same_size(x: Atom, y: Atom) -> bool {
    let constant = |atom: Atom| atom.as_const().and_then(|n| n.as_i64());
    x == y || constant(x).is_some_and(|n| constant(y) == Some(n))
}
