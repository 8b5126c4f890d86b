//! Finds the ranks of a definition: as few maps and reps as possible.
//!
//! ```text
//! xs + 1        M1 + 0 = R1 + 1, M2 + M1 = R2 + 0        ==>        M1 = 1, R2 = 1
//! ```
//!
//! What follows from single equations is found here, by propagation and substitution (001 4.10.2). What is left falls
//! into parts that have no variable in common, and each part goes to the solver of integer programs (`program`), which
//! lists its solutions, the best ones first.

use std::collections::HashMap;

use super::program::{Choice, IntegerProgram, Optimum};
use super::ranks::{Linear, RankProblem, RankVar, Site};

/// The value of every rank variable.
pub(crate) type Ranks = Vec<i64>;

/// How many solutions of a part are listed at most.
const LISTED: usize = 16;

/// The solutions of a problem, part by part, the best ones first.
pub(crate) struct Solutions<'a> {
    reduction: Reduction<'a>,
    parts: Vec<Part>,
}

/// A part of a problem that has no variable in common with others.
struct Part {
    program: IntegerProgram,
    /// In the order of their costs.
    found: Vec<(i64, Optimum)>,
    is_complete: bool,
}

impl Part {
    /// What the solution of some number costs, if there are so many.
    fn cost(&mut self, number: usize) -> Option<i64> {
        while self.found.len() <= number && !self.is_complete {
            let known: Vec<Optimum> = self.found.iter().map(|(_, optimum)| optimum.clone()).collect();
            match self.program.solve(&known) {
                Some(next) if known.len() < LISTED => {
                    self.found.push((self.program.cost(&next), next));
                }
                _ => self.is_complete = true,
            }
        }
        self.found.get(number).map(|(cost, _)| *cost)
    }
}

impl<'a> Solutions<'a> {
    /// None if there is no solution.
    pub fn of(problem: &'a RankProblem) -> Option<Solutions<'a>> {
        let mut reduction = Reduction::new(problem);
        reduction.run()?;
        let programs = reduction.parts().into_iter();
        let mut parts: Vec<Part> =
            programs.map(|program| Part { program, found: Vec::new(), is_complete: false }).collect();
        parts.iter_mut().all(|part| part.cost(0).is_some()).then_some(Solutions { reduction, parts })
    }

    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// What a solution of one part costs, if there is one of this number.
    pub fn cost(&mut self, part: usize, number: usize) -> Option<i64> {
        self.parts[part].cost(number)
    }

    /// The solutions of a part that cost as much as this, and whether these are all.
    pub fn of_cost(&mut self, part: usize, cost: i64) -> (Vec<usize>, bool) {
        let numbers = (0..).take_while(|n| self.cost(part, *n).is_some_and(|other| other <= cost));
        let numbers: Vec<usize> = numbers.collect();
        let all = numbers.len() < LISTED;
        (numbers.into_iter().filter(|n| self.cost(part, *n) == Some(cost)).collect(), all)
    }

    /// The solution that consists of a solution of each part, which have been asked for before.
    pub fn ranks(&self, chosen: &[usize]) -> Option<Ranks> {
        let mut values = HashMap::new();
        for (part, number) in self.parts.iter().zip(chosen) {
            values.extend(part.found.get(*number)?.1.iter().map(|(var, value)| (*var, *value)));
        }
        let ranks = self.reduction.assignment(&values);
        satisfies(self.reduction.problem, &ranks).then_some(ranks)
    }
}

/// The solver computes with floating-point numbers, so what it says is checked.
fn satisfies(problem: &RankProblem, ranks: &Ranks) -> bool {
    let value = |linear: &Linear| linear.value(&|var| ranks[var.0 as usize]);
    let one_is_zero = |site: &Site| value(&site.maps) == 0 || value(&site.reps) == 0;
    ranks.iter().all(|rank| *rank >= 0)
        && problem.equations.iter().all(|equation| value(equation) == 0)
        && problem.sites.values().flatten().all(one_is_zero)
}

/// What an equation was good for.
#[derive(PartialEq, Eq)]
enum Use {
    /// It follows from what is known now.
    Gone,
    /// Something was learnt from it, and perhaps there is more.
    Some,
    None,
}

/// What is known about the variables while equations are used up.
struct Reduction<'a> {
    problem: &'a RankProblem,
    equations: Vec<Linear>,
    /// What a variable was found to be, in terms of others.
    definitions: Vec<Option<Linear>>,
    /// For each variable of an application, the other one: one of them must be zero.
    partners: HashMap<RankVar, RankVar>,
}

impl<'a> Reduction<'a> {
    fn new(problem: &'a RankProblem) -> Reduction<'a> {
        let mut partners = HashMap::new();
        for site in problem.sites.values().flatten() {
            if let (Some(m), Some(r)) = (site.maps.as_variable(), site.reps.as_variable()) {
                partners.insert(m, r);
                partners.insert(r, m);
            }
        }
        let definitions = vec![None; problem.variables as usize];
        Reduction { problem, equations: problem.equations.clone(), definitions, partners }
    }

    /// An expression in terms of variables that are still open.
    fn reduce(&self, linear: &Linear) -> Linear {
        let mut result = linear.clone();
        while let Some((var, coefficient)) =
            result.terms.iter().find(|(var, _)| self.definitions[var.0 as usize].is_some())
        {
            let (var, coefficient) = (*var, *coefficient);
            result.terms.remove(&var);
            if let Some(definition) = &self.definitions[var.0 as usize] {
                result.add_scaled(definition, coefficient);
            }
        }
        result
    }

    /// None if a contradiction turns up.
    fn run(&mut self) -> Option<()> {
        loop {
            let mut changed = false;
            for equation in std::mem::take(&mut self.equations) {
                let equation = self.reduce(&equation);
                let usefulness = self.use_up(&equation)?;
                changed |= usefulness != Use::None;
                if usefulness != Use::Gone {
                    self.equations.push(equation);
                }
            }
            if !changed {
                return Some(());
            }
        }
    }

    /// Learn what can be learnt from an equation. None if it cannot hold.
    fn use_up(&mut self, equation: &Linear) -> Option<Use> {
        if equation.terms.is_empty() {
            return (equation.constant == 0).then_some(Use::Gone);
        }
        let positive = equation.terms.values().all(|c| *c > 0);
        let negative = equation.terms.values().all(|c| *c < 0);
        if positive || negative {
            return self.use_one_sided(equation, if positive { 1 } else { -1 });
        }
        if self.use_pair(equation) || self.eliminate(equation) {
            return Some(Use::Gone);
        }
        match self.superfluous_partner(equation) {
            Some(zero) => self.fix(zero, 0).map(|()| Use::Some),
            None => Some(Use::None),
        }
    }

    /// `Σ c·x = n` with positive `c`.
    fn use_one_sided(&mut self, equation: &Linear, sign: i64) -> Option<Use> {
        let sum = -sign * equation.constant;
        match (sum, equation.terms.len(), equation.terms.first_key_value()) {
            (0, _, _) => {
                for var in equation.terms.keys() {
                    self.fix(*var, 0)?;
                }
                Some(Use::Gone)
            }
            (n, _, _) if n < 0 => None,
            (n, 1, Some((var, c))) => {
                let c = sign * c;
                if n % c != 0 {
                    return None;
                }
                self.fix(*var, n / c)?;
                Some(Use::Gone)
            }
            _ => Some(Use::None),
        }
    }

    /// `M - R = n`, of which one is zero.
    fn use_pair(&mut self, equation: &Linear) -> bool {
        let terms: Vec<_> = equation.terms.iter().collect();
        let ([(x, 1), (y, -1)] | [(y, -1), (x, 1)]) = terms[..] else { return false };
        if self.partners.get(x) != Some(y) {
            return false;
        }
        let (x, y) = (*x, *y);
        let difference = -equation.constant;
        self.definitions[x.0 as usize] = Some(Linear::constant(difference.max(0)));
        self.definitions[y.0 as usize] = Some(Linear::constant((-difference).max(0)));
        true
    }

    /// `M - R = e` with no negative part in `e`: since one of both is zero, it is `R`. The other way round with no
    /// positive part.
    fn superfluous_partner(&self, equation: &Linear) -> Option<RankVar> {
        equation.terms.iter().find_map(|(var, coefficient)| {
            let partner = self.partners.get(var)?;
            let opposite = equation.terms.get(partner)?;
            let points_away = |c: i64| c.signum() != coefficient.signum();
            let others = equation.terms.iter().filter(|(other, _)| *other != var && *other != partner);
            let all_away = others.map(|(_, c)| *c).all(points_away) && points_away(equation.constant);
            (*opposite == -coefficient && all_away).then_some(*partner)
        })
    }

    /// `x = e` with no negative part in `e`, for a rank that needs no partner to be zero.
    fn eliminate(&mut self, equation: &Linear) -> bool {
        for (var, coefficient) in &equation.terms {
            let needs_zero = self.partners.get(var).is_some_and(|partner| !self.is_zero(*partner));
            if needs_zero || coefficient.abs() != 1 {
                continue;
            }
            let mut definition = Linear::default();
            definition.add_scaled(equation, -coefficient);
            definition.terms.remove(var);
            if definition.constant >= 0 && definition.terms.values().all(|c| *c > 0) {
                self.definitions[var.0 as usize] = Some(definition);
                return true;
            }
        }
        false
    }

    fn is_zero(&self, var: RankVar) -> bool {
        self.reduce(&Linear::variable(var)).known() == Some(0)
    }

    /// A variable has a value, and so perhaps its partner. None if that contradicts what is known.
    fn fix(&mut self, var: RankVar, value: i64) -> Option<()> {
        let current = self.reduce(&Linear::variable(var));
        if let Some(known) = current.known() {
            return (known == value).then_some(());
        }
        if current.as_variable() != Some(var) {
            self.equations.push(current.minus(&Linear::constant(value)));
            return Some(());
        }
        self.definitions[var.0 as usize] = Some(Linear::constant(value));
        match self.partners.get(&var) {
            Some(partner) if value > 0 => self.fix(*partner, 0),
            _ => Some(()),
        }
    }

    /// What is left, in parts that are independent of each other.
    fn parts(&self) -> Vec<IntegerProgram> {
        let mut groups = Groups::default();
        let mut choices = Vec::new();
        for node in &self.problem.order {
            for site in &self.problem.sites[node] {
                let maps = self.reduce(&site.maps);
                let reps = self.reduce(&site.reps);
                let induced = self.reduce(&site.induced);
                if maps.known().is_some() && reps.known().is_some() && induced.known().is_some() {
                    continue;
                }
                groups.join([&maps, &reps, &induced]);
                choices.push(Choice { maps, reps, induced });
            }
        }
        for equation in &self.equations {
            groups.join([equation]);
        }
        let mut programs: Vec<(RankVar, IntegerProgram)> = Vec::new();
        let mut program_of = |linears: &[&Linear], add: &mut dyn FnMut(&mut IntegerProgram)| {
            let Some(var) = linears.iter().find_map(|l| l.terms.keys().next()) else { return };
            let group = groups.find(*var);
            match programs.iter_mut().find(|(g, _)| *g == group) {
                Some((_, program)) => add(program),
                None => {
                    let mut program = IntegerProgram::default();
                    add(&mut program);
                    programs.push((group, program));
                }
            }
        };
        for choice in &choices {
            program_of(&[&choice.maps, &choice.reps, &choice.induced], &mut |p| {
                p.choices.push(choice.clone())
            });
        }
        for equation in &self.equations {
            program_of(&[equation], &mut |p| p.equations.push(equation.clone()));
        }
        programs.into_iter().map(|(_, program)| program).collect()
    }

    fn assignment(&self, values: &HashMap<RankVar, i64>) -> Ranks {
        let open = |var: RankVar| values.get(&var).copied().unwrap_or(0);
        (0..self.problem.variables)
            .map(|var| self.reduce(&Linear::variable(RankVar(var))).value(&open))
            .collect()
    }
}

/// Sets of variables that occur together.
#[derive(Default)]
struct Groups {
    parents: HashMap<RankVar, RankVar>,
}

impl Groups {
    fn find(&mut self, var: RankVar) -> RankVar {
        let mut root = var;
        while let Some(parent) = self.parents.get(&root).filter(|parent| **parent != root) {
            root = *parent;
        }
        self.parents.insert(var, root);
        root
    }

    fn join<const N: usize>(&mut self, linears: [&Linear; N]) {
        let vars: Vec<RankVar> = linears.iter().flat_map(|l| l.terms.keys().copied()).collect();
        for pair in vars.windows(2) {
            let (a, b) = (self.find(pair[0]), self.find(pair[1]));
            self.parents.insert(a, b);
        }
    }
}
