//! Factors that are the same for all iterations of a map are multiplied before it.
//!
//! ```text
//! map m (ys)                                           let (f: [k]f64) = map k (x, w) (*)
//!   \(y: [k]f64) : (f64) ->                            map m (ys)
//!     reduce k (x, w, y)                      ==>        \(y: [k]f64) : (f64) ->
//!       pre \(a: f64, b: f64, c: f64) : (f64) ->           reduce k (f, y)
//!         … a * b * c …                                      pre (*) op (+) neutral (0.0f64)
//!       op (+) neutral (0.0f64)
//! ```
//!
//! Then there are two factors, and the sum is one of a matrix with a vector; or of two matrices, if a further map is around
//! it, as in the products of all columns of a matrix with weights for its rows. Factors may be functions of elements, too.
//! Products are multiplied in another order than before, as sums are added.

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Check, Exp, Lambda, Loc, Program, Stm};
use dagaz_core::prim::{BinOp, PrimType, UnOp};
use dagaz_core::types::{Atom, Type, VarId};

use super::dot::{Level, Nest, View, constant, is_sum};
use super::facts::Definitions;
use crate::precompute::what_computes;
use dagaz_core::effects::cannot_fail;
use dagaz_core::rename::Substitution;
use dagaz_core::visit::bodies_mut;

pub(super) fn multiply_before(program: &mut Program) {
    let facts = Definitions::of(program);
    let b = Builder::new(std::mem::take(&mut program.vars));
    let mut pass = Factoring { facts, b, levels: Vec::new() };
    program.funs.iter_mut().for_each(|fun| pass.separate(&mut fun.body));
    program.vars = pass.b.finish().0;
}

struct Factoring {
    facts: Definitions,
    b: Builder,
    /// The maps around the place that is looked at.
    levels: Vec<Level>,
}

/// A term of a sum whose factors are to be joined.
struct Product {
    /// What the term is called.
    result: Atom,
    /// Factors that do not change with the map around the sum.
    before: Vec<Atom>,
    /// The factor that does.
    element: VarId,
    /// Factors that do not change with the sum.
    others: Vec<Atom>,
}

impl Factoring {
    /// A body that is not run once for every iteration of the maps around it, or not by itself.
    fn separate(&mut self, body: &mut Body) {
        let outside = std::mem::take(&mut self.levels);
        self.body(body);
        self.levels = outside;
    }

    /// Gives what is to be computed before the map whose body this is.
    fn body(&mut self, body: &mut Body) -> Vec<Stm> {
        let mut before = Vec::new();
        let mut done = Vec::with_capacity(body.stms.len());
        for mut stm in std::mem::take(&mut body.stms) {
            match &mut stm.exp {
                Exp::Map { width, arrays, lambda } => {
                    self.levels.push(Level::new(*width, arrays, lambda));
                    done.extend(self.body(&mut lambda.body));
                    self.levels.pop();
                }
                Exp::Reduce { .. } => before.extend(self.sum(&mut stm)),
                exp => bodies_mut(exp).into_iter().for_each(|body| self.separate(body)),
            }
            done.push(stm);
        }
        body.stms = done;
        before
    }

    /// The arrays of products that a sum is to take instead of their factors.
    fn sum(&mut self, stm: &mut Stm) -> Vec<Stm> {
        let loc = stm.loc;
        let Exp::Reduce { width, arrays, pre: Some(pre), op, .. } = &mut stm.exp else { return Vec::new() };
        let ([result], Some(ty)) = (pre.body.result.as_slice(), is_sum(op)) else { return Vec::new() };
        let Some(map) = self.levels.last() else { return Vec::new() };
        let is_outside = |atom: Atom| atom.as_var().is_none_or(|v| !map.bound.contains(&v));
        // Loops over so few are better left to the C compiler.
        let is_small = |size: Atom| constant(size).is_some_and(|n| n < 8);
        if !is_outside(*width) || is_small(*width) || is_small(map.width) {
            return Vec::new();
        }
        let result = *result;
        self.levels.push(Level::new(*width, arrays, pre));
        let products = self.terms(pre, result).unwrap_or_default();
        self.levels.pop();
        products.iter().map(|product| self.multiply(product, (*width, ty), arrays, pre, loc)).collect()
    }

    /// The terms of a sum whose factors have to be joined, if all are products that then have two.
    fn terms(&self, pre: &Lambda, value: Atom) -> Option<Vec<Product>> {
        match pre.body.stms.iter().find(|stm| binds(stm, value)).map(|stm| &stm.exp) {
            Some(Exp::BinOp(BinOp::Add | BinOp::Sub, _, x, y)) => {
                let mut terms = self.terms(pre, *x)?;
                terms.extend(self.terms(pre, *y)?);
                Some(terms)
            }
            Some(Exp::UnOp(UnOp::Neg, _, x)) => self.terms(pre, *x),
            Some(Exp::BinOp(BinOp::Mul, ..)) => self.product(pre, value),
            _ => None,
        }
    }

    fn product(&self, pre: &Lambda, result: Atom) -> Option<Vec<Product>> {
        let mut factors = Vec::new();
        factors_of(&pre.body, result, &mut factors);
        let (before, rest) = self.divide(pre, factors)?;
        let nest = Nest { facts: &self.facts, levels: &self.levels };
        let (map, sum) = (self.levels.len() - 2, self.levels.len() - 1);
        let is_inside = |atom: &Atom| atom.as_var().is_some_and(|v| nest.is_bound_from(sum, v));
        let (inside, others): (Vec<Atom>, Vec<Atom>) = rest.into_iter().partition(is_inside);
        let [Atom::Var(element)] = inside[..] else { return None };
        let view = self.view(element)?;
        if !view.labels.contains(&map) || !view.labels.contains(&sum) {
            return None;
        }
        match before.as_slice() {
            [] => None,
            [one] if self.view(one.as_var()?).is_some() => Some(Vec::new()),
            _ => Some(vec![Product { result, before, element, others }]),
        }
    }

    /// Factors that change with the sum and not with the map around it, and the others. Nothing may fail that is to be
    /// computed before the map, which may have no iterations.
    fn divide(&self, pre: &Lambda, factors: Vec<Atom>) -> Option<(Vec<Atom>, Vec<Atom>)> {
        let [.., map, sum] = self.levels.as_slice() else { return None };
        let (mut before, mut rest) = (Vec::new(), Vec::new());
        for factor in factors {
            let Some(var) = factor.as_var().filter(|v| sum.bound.contains(v)) else {
                rest.push(factor);
                continue;
            };
            let (stms, needed) = what_computes([var], pre.body.stms.iter());
            let source = |var: &VarId| sum.rows.get(var).copied().unwrap_or(*var);
            let changes_with_sum = needed.iter().any(|var| sum.rows.contains_key(var));
            if !changes_with_sum || needed.iter().map(source).any(|var| map.bound.contains(&var)) {
                rest.push(factor);
            } else if stms.iter().all(|stm| cannot_fail(&stm.exp) || self.is_element(stm)) {
                before.push(factor);
            } else {
                return None;
            }
        }
        Some((before, rest))
    }

    /// The element that a variable is, of an array that is bound as far outside as possible, but at least outside of the map.
    fn view(&self, var: VarId) -> Option<View> {
        let nest = Nest { facts: &self.facts, levels: &self.levels };
        (0..self.levels.len() - 1).find_map(|from| nest.view(var, from))
    }

    /// Whether a statement reads an element by its numbers, which are right however often the map runs.
    fn is_element(&self, stm: &Stm) -> bool {
        let is_read = matches!(&stm.exp, Exp::Index { check: Check::Certified, .. });
        is_read && stm.pat.iter().all(|p| self.view(p.var).is_some_and(|view| self.is_there(&view)))
    }

    /// Whether indices that are the same everywhere are in bounds whatever they depend on.
    fn is_there(&self, view: &View) -> bool {
        let dims = self.facts.types.get(&view.root).map_or(&[][..], |ty| ty.dims());
        let is_in_bounds = |(index, dim): (&Atom, &Atom)| {
            constant(*index).zip(constant(*dim)).is_some_and(|(index, dim)| (0..dim).contains(&index))
        };
        view.fixed.len() <= dims.len() && view.fixed.iter().zip(dims).all(is_in_bounds)
    }

    /// The array of products, of which the sum takes the elements.
    fn multiply(
        &mut self,
        product: &Product,
        (width, ty): (Atom, PrimType),
        arrays: &mut Vec<VarId>,
        pre: &mut Lambda,
        loc: Loc,
    ) -> Stm {
        let wanted = product.before.iter().filter_map(|a| a.as_var());
        let (stms, needed) = what_computes(wanted, pre.body.stms.iter());
        let mut copy = Substitution::default();
        let (mut outer_arrays, mut params) = (Vec::new(), Vec::new());
        for (param, array) in pre.params.iter().zip(arrays.iter()).filter(|(p, _)| needed.contains(&p.var)) {
            let hint = self.b.hint(param.var);
            let fresh = self.b.fresh_param(&hint, param.ty.clone());
            copy.insert(param.var, fresh.var.into());
            params.push(fresh);
            outer_arrays.push(*array);
        }
        let stms = copy.copies(&mut self.b.vars, &stms);
        let body = self.b.body(|b| {
            stms.into_iter().for_each(|stm| b.push(stm));
            let factors = product.before.iter().map(|factor| copy.of(*factor));
            factors.reduce(|all, factor| b.mul(ty, all, factor, loc)).into_iter().collect()
        });
        let exp =
            Exp::Map { width, arrays: outer_arrays, lambda: Lambda { params, body, ret: vec![ty.into()] } };
        let result = self.b.fresh_param("factors", Type::array(ty, vec![width]));
        arrays.push(result.var);
        let element = self.b.fresh_param("factor", ty.into());
        let mut joined = self.b.body(|b| {
            let others = product.others.iter();
            vec![others.fold(element.var.into(), |all, factor| b.mul(ty, all, *factor, loc))]
        });
        pre.params.push(element);
        if let Some(at) = pre.body.stms.iter().position(|stm| binds(stm, product.result)) {
            let x = joined.result[0];
            pre.body.stms[at].exp = Exp::BinOp(BinOp::Mul, ty, x, product.element.into());
            pre.body.stms.splice(at..at, joined.stms.drain(..));
        }
        Stm { pat: vec![result], exp, loc }
    }
}

fn binds(stm: &Stm, atom: Atom) -> bool {
    stm.pat.iter().any(|p| Atom::Var(p.var) == atom)
}

fn factors_of(body: &Body, value: Atom, all: &mut Vec<Atom>) {
    match body.stms.iter().find(|stm| binds(stm, value)).map(|stm| &stm.exp) {
        Some(Exp::BinOp(BinOp::Mul, _, x, y)) => {
            factors_of(body, *x, all);
            factors_of(body, *y, all);
        }
        _ => all.push(value),
    }
}
