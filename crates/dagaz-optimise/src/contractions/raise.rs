//! Takes sums of products out of the maps around them.

use std::collections::HashSet;

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Check, Exp, Lambda, Loc, Program, Stm, Vars};
use dagaz_core::prim::{BinOp, Prim, PrimType, UnOp};
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::dot::{Axes, Level, Nest, Term, View, is_sum};
use super::facts::Definitions;
use super::summed;
use dagaz_core::dead::keep;
use dagaz_core::effects::Effects;
use dagaz_core::visit::bodies_mut;

pub(super) fn raise(program: &mut Program) {
    let (facts, effects) = (Definitions::of(program), Effects::of(program));
    let vars = std::mem::take(&mut program.vars);
    let mut raiser = Raiser { facts, effects, vars, levels: Vec::new() };
    program.funs.iter_mut().for_each(|fun| raiser.separate(&mut fun.body));
    program.vars = raiser.vars;
}

struct Raiser {
    facts: Definitions,
    effects: Effects,
    vars: Vars,
    /// The maps around the place that is looked at.
    levels: Vec<Level>,
}

/// A contraction on its way out.
struct Rising {
    /// What it is called at the level that was reached: first an element of it, then a row, and so on.
    var: VarId,
    ty: Type,
    /// The outermost level that it leaves.
    target: usize,
    /// The levels that are axes of it.
    result: Vec<usize>,
    whole: Whole,
    loc: Loc,
}

/// What is computed for all iterations at once.
#[derive(Clone)]
enum Whole {
    /// A contraction, and the indices of the rows that its operands are, if they are not whole arrays.
    Product { exp: Box<Exp>, fixed: [Vec<Atom>; 2] },
    /// The sums of an array along its first dimension.
    ColumnSums { array: VarId, rows: Atom, columns: Vec<Atom> },
}

impl Raiser {
    /// A body that is not run once for every iteration of the maps around it, or not by itself.
    fn separate(&mut self, body: &mut Body) {
        let outside = std::mem::take(&mut self.levels);
        let rising = self.body(body);
        debug_assert!(rising.is_empty(), "nothing leaves a function");
        self.levels = outside;
    }

    /// What leaves the body, for the innermost level.
    fn body(&mut self, body: &mut Body) -> Vec<Rising> {
        let results: HashSet<VarId> = body.result.iter().filter_map(|a| a.as_var()).collect();
        let mut rising = Vec::new();
        let mut done = Vec::with_capacity(body.stms.len());
        for mut stm in std::mem::take(&mut body.stms) {
            if let Some((stms, raised)) = self.sum(&stm) {
                done.extend(stms);
                rising.extend(raised);
                continue;
            }
            let inner = self.inside(&mut stm, &results);
            let here = self.levels.len();
            let made: HashSet<VarId> = inner.iter().map(|raised| raised.var).collect();
            for raised in inner {
                if raised.target == here {
                    self.finish(raised, &mut done);
                } else {
                    rising.push(raised);
                }
            }
            done.extend(without_identities(stm, &made));
        }
        body.stms = done;
        rising
    }

    /// A contraction where it belongs, after the rows that it takes.
    fn finish(&mut self, raised: Rising, done: &mut Vec<Stm>) {
        let Rising { var, ty, whole, loc, .. } = raised;
        let (mut exp, fixed) = match whole {
            Whole::Product { exp, fixed } => (*exp, fixed),
            Whole::ColumnSums { array, rows, columns } => {
                let Some(elem) = ty.elem() else { return };
                let mut b = Builder::new(std::mem::take(&mut self.vars));
                let sums = summed::column_sums(&mut b, array, elem, (rows, &columns), loc);
                let stms;
                (self.vars, stms) = b.finish();
                done.extend(stms);
                return done.push(Stm { pat: vec![Param { var, ty }], exp: Exp::Atom(sums.into()), loc });
            }
        };
        if let Exp::Contract { left, right, .. } = &mut exp {
            for (operand, indices) in [left, right].into_iter().zip(fixed) {
                let row = self.facts.types.get(&operand.array).and_then(|ty| ty.peel(indices.len()));
                let Some(row) = row.filter(|_| !indices.is_empty()) else { continue };
                let (array, param) = (operand.array, Param::new(self.vars.fresh("operand"), row));
                operand.array = param.var;
                self.facts.types.insert(param.var, param.ty.clone());
                let exp = Exp::Index { array, indices, check: Check::Certified };
                done.push(Stm { pat: vec![param], exp, loc });
            }
        }
        done.push(Stm { pat: vec![Param { var, ty }], exp, loc });
    }

    /// Looks into the functions of an expression. Gives what leaves it.
    fn inside(&mut self, stm: &mut Stm, results: &HashSet<VarId>) -> Vec<Rising> {
        let is_only_result =
            stm.pat.iter().all(|p| results.contains(&p.var) && self.facts.uses.get(&p.var) == Some(&1));
        match &mut stm.exp {
            Exp::Map { width, arrays, lambda } => {
                if let Some(outer) = self.levels.last_mut() {
                    outer.is_perfect = is_only_result;
                }
                self.level(*width, arrays, lambda)
            }
            Exp::Reduce { width, arrays, pre: Some(pre), op, .. }
            | Exp::Scan { width, arrays, pre: Some(pre), op, .. } => {
                self.separate(&mut op.body);
                if let Some(outer) = self.levels.last_mut() {
                    outer.is_perfect = false;
                }
                self.level(*width, arrays, pre)
            }
            exp => {
                bodies_mut(exp).into_iter().for_each(|body| self.separate(body));
                Vec::new()
            }
        }
    }

    fn level(&mut self, width: Atom, arrays: &mut Vec<VarId>, lambda: &mut Lambda) -> Vec<Rising> {
        let own = self.levels.len();
        self.levels.push(Level::new(width, arrays, lambda));
        let mut rising = self.body(&mut lambda.body);
        self.levels.pop();
        for raised in rising.iter_mut().filter(|r| r.result.contains(&own)) {
            lambda.params.push(Param { var: raised.var, ty: raised.ty.clone() });
            raised.var = self.vars.fresh("product");
            raised.ty = raised.ty.with_outer(&[width]);
            arrays.push(raised.var);
        }
        rising
    }

    /// A sum of products, as what is left to do at its place, and the contractions that it needs.
    fn sum(&mut self, stm: &Stm) -> Option<(Vec<Stm>, Vec<Rising>)> {
        let Exp::Reduce { width, arrays, pre: Some(pre), op, neutral, .. } = &stm.exp else { return None };
        let ty = is_sum(op).filter(|_| !self.levels.is_empty())?;
        self.levels.push(Level::new(*width, arrays, pre));
        let nest = Nest { facts: &self.facts, levels: &self.levels };
        let components: Option<Vec<Component<'_>>> = (stm.pat.iter().zip(&pre.body.result).zip(neutral))
            .filter(|((param, _), _)| self.facts.is_used(param.var))
            .map(|((param, value), start)| {
                let terms = nest.terms(*value)?.into_iter().map(|term| Some((raised(&nest, &term)?, term)));
                Some(Component { param, start: *start, terms: terms.collect::<Option<_>>()? })
            })
            .collect();
        self.levels.pop();
        // What the terms do not read may stop the program all the same, also if nobody needs the sum.
        let components = components.filter(|components| self.is_all(&pre.body, components));
        let mut b = Builder::new(std::mem::take(&mut self.vars));
        let mut rising = Vec::new();
        for component in components.iter().flatten() {
            component.emit(ty, stm.loc, &mut b, &mut rising);
        }
        let stms;
        (self.vars, stms) = b.finish();
        components.map(|_| (stms, rising))
    }
}

impl Raiser {
    /// Whether a function of rows does nothing but give the terms of these sums.
    fn is_all(&self, body: &Body, components: &[Component<'_>]) -> bool {
        let terms = components.iter().flat_map(|component| &component.terms);
        let elements: HashSet<VarId> =
            terms.flat_map(|(_, term)| &term.elements).filter_map(|atom| atom.as_var()).collect();
        let is_element = |stm: &Stm| stm.pat.iter().any(|p| elements.contains(&p.var));
        body.stms.iter().all(|stm| self.effects.is_removable(stm) || is_element(stm))
    }
}

/// One result of a reduction, as products.
struct Component<'s> {
    param: &'s Param,
    start: Atom,
    terms: Vec<(Raised, Term)>,
}

/// The contraction of a term, and how far out it goes.
#[derive(Clone)]
struct Raised {
    target: usize,
    result: Vec<usize>,
    whole: Whole,
}

impl Component<'_> {
    fn emit(&self, ty: PrimType, loc: Loc, b: &mut Builder, rising: &mut Vec<Rising>) {
        let mut push = |var: VarId, raised: &Raised| {
            let Raised { target, result, whole } = raised.clone();
            rising.push(Rising { var, ty: Type::Prim(ty), target, result, whole, loc });
        };
        let is_zero = self.start == Prim::zero(ty).into();
        if let [(raised, Term { negative: false, factors, .. })] = self.terms.as_slice()
            && factors.is_empty()
            && is_zero
        {
            return push(self.param.var, raised);
        }
        let mut sum = (!is_zero).then_some(self.start);
        for (raised, term) in &self.terms {
            let var = b.fresh("product");
            push(var, raised);
            let mut value = Atom::Var(var);
            for factor in &term.factors {
                value = b.mul(ty, *factor, value, loc);
            }
            sum = Some(match (sum, term.negative) {
                (Some(sum), true) => b.binop(BinOp::Sub, ty, sum, value, loc),
                (Some(sum), false) => b.binop(BinOp::Add, ty, sum, value, loc),
                (None, true) => b.unop(UnOp::Neg, ty, value, loc),
                (None, false) => value,
            });
        }
        let value = sum.unwrap_or(self.start);
        b.push(Stm { pat: vec![self.param.clone()], exp: Exp::Atom(value), loc });
    }
}

/// Takes a product out of as many levels as are good for it.
fn raised(nest: &Nest<'_>, term: &Term) -> Option<Raised> {
    let (x, y) = match term.elements.as_slice() {
        [x] => return column_sums(nest, x.as_var()?),
        [x, y] => (x.as_var()?, y.as_var()?),
        _ => return None,
    };
    let mut best: Option<(usize, View, View, Axes)> = None;
    let mut is_perfect = true;
    let innermost = nest.levels.len() - 2;
    for from in (0..=innermost).rev() {
        // What the next level inside leaves, this one gives as its result.
        is_perfect &= from == innermost || nest.levels[from].is_perfect;
        let (Some(left), Some(right)) = (nest.view(x, from), nest.view(y, from)) else { continue };
        let Some(axes) = nest.axes(&left, &right, from) else { continue };
        let is_product = axes.has_rows || axes.has_columns;
        let is_gain = match &best {
            None => is_product,
            Some((.., before)) => {
                let was_vector = !before.has_rows || !before.has_columns;
                is_perfect || (was_vector && axes.has_rows && axes.has_columns)
            }
        };
        if is_gain && !nest.is_small(&left, &right, &axes) {
            best = Some((from, left, right, axes));
        }
    }
    let (target, left, right, axes) = best?;
    let exp = Box::new(nest.contract(&left, &right, &axes));
    let whole = Whole::Product { exp, fixed: [left.fixed, right.fixed] };
    Some(Raised { target, result: axes.result, whole })
}

/// Takes a sum along the first dimension out of the levels that number the others, if there are several: one by one they
/// would read short pieces of far apart rows.
fn column_sums(nest: &Nest<'_>, element: VarId) -> Option<Raised> {
    let sum = nest.levels.len() - 1;
    (0..sum).find_map(|target| {
        let View { root, fixed, labels } = nest.view(element, target)?;
        let (first, result) = labels.split_first()?;
        let is_outside = |width: Atom| width.as_var().is_none_or(|v| !nest.is_bound_from(target, v));
        let fits = *first == sum && result.len() > 1 && result.is_sorted() && fixed.is_empty();
        if !fits || !nest.levels[target..].iter().all(|level| is_outside(level.width)) {
            return None;
        }
        let columns = result.iter().map(|label| nest.levels[*label].width).collect();
        let whole = Whole::ColumnSums { array: root, rows: nest.levels[sum].width, columns };
        Some(Raised { target, result: result.to_vec(), whole })
    })
}

/// A map that gives rows of contractions as they are gives those; and if it does nothing else, there is no map.
fn without_identities(stm: Stm, made: &HashSet<VarId>) -> Vec<Stm> {
    let Stm { pat, exp: Exp::Map { width, arrays, mut lambda }, loc } = stm else { return vec![stm] };
    let array_of = |result: &Atom| {
        let position = lambda.params.iter().position(|p| Atom::Var(p.var) == *result);
        position.map(|i| arrays[i]).filter(|array| made.contains(array))
    };
    let sources: Vec<Option<VarId>> = lambda.body.result.iter().map(array_of).collect();
    if pat.iter().any(|p| p.ty.is_acc()) || sources.iter().all(Option::is_none) {
        return vec![Stm { pat, exp: Exp::Map { width, arrays, lambda }, loc }];
    }
    let mut stms = Vec::new();
    let keeps: Vec<bool> = sources.iter().map(Option::is_none).collect();
    for (param, source) in pat.iter().zip(&sources) {
        if let Some(array) = source {
            stms.push(Stm { pat: vec![param.clone()], exp: Exp::Atom((*array).into()), loc });
        }
    }
    let mut pat = pat;
    keep(&mut pat, &keeps);
    keep(&mut lambda.body.result, &keeps);
    keep(&mut lambda.ret, &keeps);
    if !pat.is_empty() || !lambda.body.stms.is_empty() {
        stms.push(Stm { pat, exp: Exp::Map { width, arrays, lambda }, loc });
    }
    stms
}
