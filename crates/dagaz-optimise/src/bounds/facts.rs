//! What is known about integers at the point that the walk has reached, and the search for proofs.
//!
//! Inequalities are forms that are not negative. Variables whose value is known as a form without any doubt about wrapping are
//! replaced by that form from the start; for the others, their definition is turned into facts when a goal mentions them
//! and the facts in scope exclude wrapping.
//!
//! A goal, a form that should not be negative, is shown by elimination, as Fourier and Motzkin do: some fact has to bound
//! the term that the fewest facts bound, and what is left after subtracting it is the next goal. Products of two variables
//! are bounded by facts about one of them times the other. Minima, maxima and branches are tried case by case.

use std::collections::{HashMap, HashSet};

use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, VarId};

use super::Form;

/// A product of variables, in ascending order.
type Product = Vec<VarId>;

/// How a variable was made, as far as it is of use.
#[derive(Clone, Debug)]
pub(super) enum Def {
    /// Equal to the form, but for wrapping.
    Wrapped(Form),
    /// An operation of two integers other than those that forms express.
    BinOp(BinOp, Atom, Atom),
    Branch {
        cond: Atom,
        then: Atom,
        otherwise: Atom,
    },
    Abs(Atom),
    Not(Atom),
    Compare {
        op: dagaz_core::prim::CmpOp,
        left: Atom,
        right: Atom,
    },
}

/// No array has as many elements, nor a dimension of that size.
pub(super) const MOST_ELEMENTS: i128 = 1 << 60;

const DEPTH: u32 = 7;
const STEPS: u32 = 150;

enum Undo {
    Fact,
    Interval(VarId, Option<(i128, i128)>),
    Linked(VarId, Option<usize>),
    Known(Product),
}

#[derive(Default)]
pub(super) struct Inequalities {
    facts: Vec<Form>,
    by_product: HashMap<Product, Vec<usize>>,
    pub defs: HashMap<VarId, Def>,
    pub types: HashMap<VarId, PrimType>,
    forms: HashMap<VarId, Form>,
    intervals: HashMap<VarId, (i128, i128)>,
    /// Variables whose definitions are facts already, or what the version was when that was tried.
    linked: HashMap<VarId, usize>,
    linking: HashSet<VarId>,
    /// Sizes, and products of sizes, that are facts already.
    known: HashSet<Product>,
    undo: Vec<Undo>,
    steps: u32,
    /// Changes with everything that is learnt.
    version: usize,
}

const LINKED: usize = usize::MAX;

/// A step towards a goal: another goal, or all cases of a variable.
enum Step {
    Goal(Form),
    Cases(Vec<(Option<(Atom, bool)>, Form)>),
}

impl Inequalities {
    pub fn mark(&self) -> usize {
        self.undo.len()
    }

    /// Forgets what was learnt since the mark.
    pub fn leave(&mut self, mark: usize) {
        while self.undo.len() > mark {
            match self.undo.pop() {
                Some(Undo::Fact) => {
                    let Some(fact) = self.facts.pop() else { continue };
                    for product in fact.terms.keys() {
                        self.by_product.get_mut(product).and_then(Vec::pop);
                    }
                }
                Some(Undo::Interval(var, old)) => restore(&mut self.intervals, var, old),
                Some(Undo::Linked(var, old)) => restore(&mut self.linked, var, old),
                Some(Undo::Known(product)) => {
                    self.known.remove(&product);
                }
                None => {}
            }
        }
    }

    pub fn form(&self, atom: Atom) -> Option<Form> {
        match atom {
            Atom::Const(prim) if prim.ty() == PrimType::U64 => {
                Some(Form::constant(i128::from(prim.as_i64()? as u64)))
            }
            Atom::Const(prim) => prim.as_i64().map(|n| Form::constant(n.into())),
            Atom::Var(var) => Some(self.forms.get(&var).cloned().unwrap_or_else(|| Form::var(var))),
        }
    }

    /// The variable is the form, but for wrapping.
    pub fn define(&mut self, var: VarId, ty: PrimType, form: Form) {
        let (least, most) = range(ty);
        let is_narrow =
            self.least(&form).is_some_and(|l| l >= least) && self.most(&form).is_some_and(|m| m <= most);
        let is_product = form.terms.keys().any(|product| product.len() > 1);
        if is_narrow || is_product && self.is_exact(&form, ty) {
            self.forms.insert(var, form);
        } else {
            self.defs.insert(var, Def::Wrapped(form));
        }
    }

    /// Learns that the form is not negative.
    pub fn learn(&mut self, form: Option<Form>) {
        let Some(form) = form.map(Form::tightened) else { return };
        if let (Some((product, factor)), 1) = (form.terms.iter().next(), form.terms.len())
            && let [var] = product[..]
        {
            let (least, most) = self.interval(var);
            let new = match *factor > 0 {
                true => (least.max(-form.constant), most),
                false => (least, most.min(form.constant)),
            };
            if new != (least, most) {
                self.version += 1;
                self.undo.push(Undo::Interval(var, self.intervals.insert(var, new)));
            }
            return;
        }
        let Some(first) = form.terms.keys().next() else { return };
        if self.about(first).any(|fact| *fact == form) {
            return;
        }
        self.version += 1;
        for product in form.terms.keys() {
            self.by_product.entry(product.clone()).or_default().push(self.facts.len());
        }
        self.facts.push(form);
        self.undo.push(Undo::Fact);
    }

    /// Learns, of a number that is below the bound, the greatest value that it can have because of that.
    pub fn learn_below(&mut self, number: &Form, bound: Atom) {
        let most = self.form(bound).and_then(|bound| self.most(&bound));
        self.learn(most.and_then(|most| Form::constant(most - 1).minus(number)));
    }

    /// Learns that no size of an array that exists is negative.
    pub fn learn_sizes(&mut self, dims: &[Atom]) {
        dims.iter().for_each(|dim| self.learn(self.form(*dim)));
    }

    /// Learns that there is an array in memory, or part of one, with these sizes. With an empty dimension, another one may
    /// be as large as it likes.
    pub fn exists(&mut self, dims: &[Atom]) {
        let sizes: Product = dims.iter().filter_map(|d| d.as_var()).collect();
        if sizes.is_empty() || self.known.contains(&sizes) {
            return;
        }
        self.learn_sizes(dims);
        let forms: Vec<Form> = dims.iter().filter_map(|dim| self.form(*dim)).collect();
        for (i, form) in forms.iter().enumerate() {
            let is_alone = forms.iter().enumerate().all(|(j, other)| i == j || self.least(other) >= Some(1));
            if is_alone {
                self.learn(Form::constant(MOST_ELEMENTS).minus(form));
            }
        }
        let elements = forms.iter().try_fold(Form::constant(1), |product, form| product.product(form));
        self.learn(elements.and_then(|e| Form::constant(MOST_ELEMENTS).minus(&e)));
        self.known.insert(sizes.clone());
        self.undo.push(Undo::Known(sizes));
    }

    /// Learns that a size is not zero: with nothing in one dimension, others could have been as large as they like, and now
    /// they cannot.
    pub fn learn_nonempty(&mut self, size: Atom) {
        let Some(form) = self.form(size) else { return };
        self.learn(form.offset(-1));
        let sizes: Vec<VarId> = form.terms.keys().flatten().copied().collect();
        let bounded = self.facts.iter().filter_map(|fact| match fact.terms.iter().next() {
            Some((product, factor)) if fact.terms.len() == 1 && *factor < 0 => {
                Some((product.clone(), fact.constant / -factor))
            }
            _ => None,
        });
        let bounded: Vec<(Product, i128)> =
            bounded.filter(|(product, _)| product.iter().any(|var| sizes.contains(var))).collect();
        for (product, most) in bounded {
            for (i, var) in product.iter().enumerate() {
                let mut others = product.iter().enumerate().filter(|(j, _)| i != *j);
                if others.all(|(_, other)| self.interval(*other).0 >= 1) {
                    self.learn(Form::constant(most).minus(&Form::var(*var)));
                }
            }
        }
    }

    fn interval(&self, var: VarId) -> (i128, i128) {
        let of_type = || range(self.types.get(&var).copied().unwrap_or(PrimType::I64));
        self.intervals.get(&var).copied().unwrap_or_else(of_type)
    }

    fn least(&self, form: &Form) -> Option<i128> {
        form.terms.iter().try_fold(form.constant, |sum, (product, factor)| {
            let (least, most) = self.product_interval(product)?;
            sum.checked_add(factor.checked_mul(if *factor > 0 { least } else { most })?)
        })
    }

    fn most(&self, form: &Form) -> Option<i128> {
        self.least(&form.times(-1)?).map(|l| -l)
    }

    fn product_interval(&self, product: &[VarId]) -> Option<(i128, i128)> {
        product.iter().try_fold((1i128, 1i128), |(a, b), var| {
            let (c, d) = self.interval(*var);
            let all: [i128; 4] = [a.checked_mul(c)?, a.checked_mul(d)?, b.checked_mul(c)?, b.checked_mul(d)?];
            Some((all.into_iter().min()?, all.into_iter().max()?))
        })
    }
}

/// Proofs.
impl Inequalities {
    /// Whether the form is surely not negative.
    pub fn is_nonnegative(&mut self, goal: Option<Form>) -> bool {
        let Some(goal) = goal else { return false };
        let is_outermost = self.steps == 0;
        if is_outermost {
            self.steps = STEPS;
        }
        let is_proved = self.search(goal, DEPTH);
        if is_outermost {
            self.steps = 0;
        }
        is_proved
    }

    /// Whether the value of the form does not wrap in this type.
    fn is_exact(&mut self, form: &Form, ty: PrimType) -> bool {
        let (least, most) = range(ty);
        self.is_nonnegative(form.offset(-least)) && self.is_nonnegative(Form::constant(most).minus(form))
    }

    fn is_positive(&mut self, form: &Form) -> bool {
        self.is_nonnegative(form.offset(-1))
    }

    fn search(&mut self, goal: Form, depth: u32) -> bool {
        let goal = goal.tightened();
        if let Some(constant) = goal.as_constant() {
            return constant >= 0;
        }
        if self.least(&goal).is_some_and(|least| least >= 0) {
            return true;
        }
        if depth == 0 || self.steps <= 1 {
            return false;
        }
        self.steps -= 1;
        let vars: Vec<VarId> = goal.terms.keys().flatten().copied().collect();
        vars.into_iter().for_each(|var| self.link(var));
        // A case distinction loses nothing, whereas a fact may be the wrong one.
        let distinction = goal.terms.iter().find_map(|(product, factor)| match product[..] {
            [var] => self.cases(&goal, var, *factor),
            _ => None,
        });
        if let Some(step) = distinction {
            return self.step(step, depth);
        }
        // What bounds a product brings smaller terms with it, so products come first.
        let degree = goal.terms.keys().map(Vec::len).max();
        let mut fewest: Option<Vec<Form>> = None;
        for (product, factor) in goal.terms.iter().filter(|(product, _)| Some(product.len()) == degree) {
            let steps = self.steps_for(&goal, product, *factor);
            if fewest.as_ref().is_none_or(|f| steps.len() < f.len()) {
                fewest = Some(steps);
            }
        }
        fewest.into_iter().flatten().any(|goal| self.search(goal, depth - 1))
    }

    fn step(&mut self, step: Step, depth: u32) -> bool {
        match step {
            Step::Goal(goal) => self.search(goal, depth - 1),
            Step::Cases(cases) => cases.into_iter().all(|(assumption, goal)| {
                let mark = self.mark();
                assumption.into_iter().for_each(|(cond, holds)| self.assume(cond, holds));
                let is_proved = self.search(goal, depth - 1);
                self.leave(mark);
                is_proved
            }),
        }
    }

    /// The goals that are left when a fact has removed a term.
    fn steps_for(&self, goal: &Form, product: &Product, factor: i128) -> Vec<Form> {
        let mut steps = Vec::new();
        let mut subtract = |fact: &Form| {
            let own = fact.terms.get(product).copied().unwrap_or(0);
            // For integers, `x >= 0` is `a * x + a - 1 >= 0`.
            if own.signum() == factor.signum()
                && let Some(scaled) = goal.times(own.abs()).and_then(|g| g.offset(own.abs() - 1))
                && let Some(rest) = scaled.plus(-factor.abs(), fact)
            {
                steps.push(rest);
            }
        };
        self.about(product).for_each(&mut subtract);
        if let [var] = product[..] {
            subtract(&self.bound(var, factor > 0));
        } else {
            for (i, var) in product.iter().enumerate() {
                let mut others = product.clone();
                others.remove(i);
                if self.product_interval(&others).is_none_or(|(least, _)| least < 0) {
                    continue;
                }
                let others = Form { terms: [(others, 1)].into(), constant: 0 };
                let alone = vec![*var];
                let facts = self.about(&alone).cloned().chain([self.bound(*var, factor > 0)]);
                facts.filter_map(|fact| fact.product(&others)).for_each(|fact| subtract(&fact));
            }
        }
        steps
    }

    fn about(&self, product: &Product) -> impl Iterator<Item = &Form> {
        self.by_product.get(product).into_iter().flatten().map(|i| &self.facts[*i])
    }

    /// `var - least`, or `most - var`.
    fn bound(&self, var: VarId, from_below: bool) -> Form {
        let (least, most) = self.interval(var);
        let (sign, constant) = if from_below { (1, -least) } else { (-1, most) };
        Form { terms: [(vec![var], sign)].into(), constant }
    }

    /// Steps by the definition of a variable.
    fn cases(&self, goal: &Form, var: VarId, factor: i128) -> Option<Step> {
        let with = |atom: &Atom| goal.replace(var, &self.form(*atom)?);
        match self.defs.get(&var)? {
            Def::BinOp(BinOp::Max, a, b) if factor < 0 => {
                Some(Step::Cases(vec![(None, with(a)?), (None, with(b)?)]))
            }
            Def::BinOp(BinOp::Min, a, b) if factor > 0 => {
                Some(Step::Cases(vec![(None, with(a)?), (None, with(b)?)]))
            }
            Def::Branch { cond, then, otherwise } => Some(Step::Cases(vec![
                (Some((*cond, true)), with(then)?),
                (Some((*cond, false)), with(otherwise)?),
            ])),
            // `q <= x` is `m * q < m * (x + 1)`, and `m * q` is bounded by `a` where `q = a / m`.
            Def::BinOp(BinOp::Div | BinOp::Quot, _, m @ Atom::Var(divisor)) => {
                let is_positive = self.interval(*divisor).0 > 0 || self.forms.contains_key(divisor);
                let m = self.form(*m)?;
                let is_positive = is_positive && self.least(&m).is_some_and(|least| least > 0);
                is_positive.then(|| goal.offset(1)?.product(&m)?.offset(-1).map(Step::Goal))?
            }
            Def::BinOp(..) | Def::Wrapped(_) | Def::Abs(_) | Def::Not(_) | Def::Compare { .. } => None,
        }
    }

    /// Turns the definition of a variable into facts, once what it needs is known.
    fn link(&mut self, var: VarId) {
        let tried = self.linked.get(&var).copied();
        if tried == Some(LINKED) || tried == Some(self.version) || self.linking.contains(&var) {
            return;
        }
        let Some(def) = self.defs.get(&var).cloned() else { return };
        if self.linking.len() > 4 {
            return;
        }
        self.linking.insert(var);
        let is_linked = self.facts_of(var, &def).is_some();
        self.linking.remove(&var);
        self.undo.push(Undo::Linked(var, tried));
        let state = if is_linked { LINKED } else { self.version };
        self.linked.insert(var, state);
    }

    /// `None` where something was missing.
    fn facts_of(&mut self, var: VarId, def: &Def) -> Option<()> {
        let own = Form::var(var);
        let ty = self.types.get(&var).copied().unwrap_or(PrimType::I64);
        match def {
            Def::Wrapped(form) => {
                if !self.is_exact(form, ty) {
                    return None;
                }
                self.learn(own.minus(form));
                self.learn(form.minus(&own));
            }
            Def::BinOp(op, a, b) => return self.facts_of_binop(*op, &own, *a, *b),
            Def::Abs(a) => {
                let a = self.form(*a)?;
                if !self.is_nonnegative(a.offset(-range(ty).0 - 1)) {
                    return None;
                }
                self.learn(own.minus(&a));
                self.learn(own.plus(1, &a));
                self.learn(Some(own));
            }
            Def::Branch { .. } | Def::Not(_) | Def::Compare { .. } => {}
        }
        Some(())
    }

    fn facts_of_binop(&mut self, op: BinOp, own: &Form, a: Atom, b: Atom) -> Option<()> {
        let (a, b) = (self.form(a)?, self.form(b)?);
        match op {
            BinOp::Min => [&a, &b].into_iter().for_each(|x| self.learn(x.minus(own))),
            BinOp::Max => [&a, &b].into_iter().for_each(|x| self.learn(own.minus(x))),
            BinOp::Mod | BinOp::Rem | BinOp::Div | BinOp::Quot => {
                let is_natural = self.is_nonnegative(Some(a.clone()));
                let is_known = is_natural || matches!(op, BinOp::Mod | BinOp::Div);
                if !is_known || !self.is_positive(&b) {
                    return None;
                }
                if is_natural {
                    self.learn(a.minus(own));
                    self.learn(Some(own.clone()));
                }
                if matches!(op, BinOp::Mod | BinOp::Rem) {
                    self.learn(Some(own.clone()));
                    self.learn(b.minus(own).and_then(|rest| rest.offset(-1)));
                } else {
                    let multiple = own.product(&b)?;
                    self.learn(a.minus(&multiple));
                    self.learn(multiple.plus(1, &b)?.offset(-1)?.minus(&a));
                }
            }
            BinOp::And => {
                let mut is_known = false;
                for x in [&a, &b] {
                    if self.is_nonnegative(Some(x.clone())) {
                        self.learn(Some(own.clone()));
                        self.learn(x.minus(own));
                        is_known = true;
                    }
                }
                return is_known.then_some(());
            }
            BinOp::Ashr | BinOp::Lshr => {
                let bits = u32::try_from(b.as_constant()?).ok().filter(|bits| *bits < 63)?;
                let is_natural = self.is_nonnegative(Some(a.clone()));
                if !is_natural && op == BinOp::Lshr {
                    return None;
                }
                let multiple = own.times(1 << bits)?;
                self.learn(a.minus(&multiple));
                self.learn(multiple.offset((1 << bits) - 1)?.minus(&a));
            }
            BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Pow | BinOp::Or | BinOp::Xor => {}
            BinOp::Shl | BinOp::Atan2 | BinOp::Atan2Pi | BinOp::Hypot | BinOp::NextAfter => {}
            BinOp::CopySign | BinOp::Ldexp | BinOp::Polygamma | BinOp::MulHi => {}
        }
        Some(())
    }
}

fn restore<T>(map: &mut HashMap<VarId, T>, var: VarId, old: Option<T>) {
    match old {
        Some(old) => map.insert(var, old),
        None => map.remove(&var),
    };
}

/// The least and the greatest value of an integer type.
pub(super) fn range(ty: PrimType) -> (i128, i128) {
    let bits = ty.bits();
    if ty.is_unsigned() { (0, (1 << bits) - 1) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) }
}
