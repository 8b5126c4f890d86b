//! Integer programs for ranks, in the form of 001 4.6.4, 4.8.2 and 4.10.3.
//!
//! Minimise the maps and the non-induced reps of all applications. Per application: at most one of maps and reps is
//! above zero, which takes two binary variables. A rep is induced, and costs nothing, as far as the maps of earlier
//! arguments call for it.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};

use super::ranks::{Linear, RankVar};

/// No array in practice has more dimensions than this, and large bounds are bad for the solver.
const LARGEST_RANK: i64 = 64;

/// How long the solver may take. Programs of thousands of applications take milliseconds; this is for those that were made
/// to be hard.
const PATIENCE: Duration = Duration::from_secs(5);

/// An application, some of whose numbers are open.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub maps: Linear,
    pub reps: Linear,
    /// As many reps as this cost nothing.
    pub induced: Linear,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct IntegerProgram {
    /// Each must be zero.
    pub equations: Vec<Linear>,
    pub choices: Vec<Choice>,
}

pub(crate) type Optimum = HashMap<RankVar, i64>;

impl IntegerProgram {
    /// The maps and reps of a solution that count.
    pub fn cost(&self, optimum: &Optimum) -> i64 {
        let value = |linear: &Linear| linear.value(&|var| optimum.get(&var).copied().unwrap_or(0));
        self.choices.iter().map(|c| value(&c.maps) + (value(&c.reps) - value(&c.induced)).max(0)).sum()
    }

    /// A best solution that differs in maps or reps from all in a list. None if there is none, or the solver gives up.
    pub fn solve(&self, other_than: &[Optimum]) -> Option<Optimum> {
        let mut model = Model::new(self);
        self.equations.iter().for_each(|equation| model.constrain(equation, ComparisonOp::Eq));
        for choice in &self.choices {
            model.choice(choice);
        }
        for optimum in other_than {
            model.differ(self.counted(), optimum);
        }
        model.solve()
    }

    /// The variables that tell solutions apart.
    fn counted(&self) -> BTreeSet<RankVar> {
        self.choices.iter().flat_map(|c| c.maps.terms.keys().chain(c.reps.terms.keys())).copied().collect()
    }

    fn variables(&self) -> BTreeSet<RankVar> {
        let choices = self.choices.iter().flat_map(|c| [&c.maps, &c.reps, &c.induced]);
        self.equations.iter().chain(choices).flat_map(|linear| linear.terms.keys().copied()).collect()
    }

    /// No variable of an optimum is above this: every rank comes from the constants of the equations.
    fn bound(&self) -> i64 {
        let choices = self.choices.iter().flat_map(|c| [&c.maps, &c.reps, &c.induced]);
        let sum: i64 = self.equations.iter().chain(choices).map(|linear| linear.constant.abs()).sum();
        (sum + 1).min(LARGEST_RANK)
    }
}

/// The problem as the solver sees it.
struct Model {
    problem: Problem,
    variables: HashMap<RankVar, Variable>,
    /// Whether a variable is above zero.
    signs: HashMap<RankVar, Variable>,
    bound: i64,
}

impl Model {
    fn new(program: &IntegerProgram) -> Model {
        let bound = program.bound();
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        problem.set_time_limit(PATIENCE);
        let maps: Vec<&Linear> = program.choices.iter().map(|c| &c.maps).collect();
        let variables = program
            .variables()
            .into_iter()
            .map(|var| {
                let cost: i64 = maps.iter().filter_map(|l| l.terms.get(&var)).sum();
                (var, problem.add_integer_var(cost as f64, (0, bound as i32)))
            })
            .collect();
        Model { problem, variables, signs: HashMap::new(), bound }
    }

    fn terms(&self, linear: &Linear) -> Vec<(Variable, f64)> {
        linear.terms.iter().map(|(var, c)| (self.variables[var], *c as f64)).collect()
    }

    /// `linear ⋚ 0`
    fn constrain(&mut self, linear: &Linear, comparison: ComparisonOp) {
        self.problem.add_constraint(self.terms(linear), comparison, -linear.constant as f64);
    }

    fn choice(&mut self, choice: &Choice) {
        if let (Some(maps), Some(reps)) = (choice.maps.as_variable(), choice.reps.as_variable()) {
            let signs = [(self.sign(maps), 1.0), (self.sign(reps), 1.0)];
            self.problem.add_constraint(signs, ComparisonOp::Le, 1.0);
        }
        // The non-induced reps: at least 0, and at least reps - induced. Being minimised, they are the larger of both.
        let excess = choice.reps.clone().minus(&choice.induced);
        let can_be_positive = excess.constant > 0 || excess.terms.values().any(|c| *c > 0);
        if can_be_positive {
            let counted = self.problem.add_var(1.0, (0.0, f64::INFINITY));
            let mut terms = self.terms(&excess);
            terms.push((counted, -1.0));
            self.problem.add_constraint(terms, ComparisonOp::Le, -excess.constant as f64);
        }
    }

    /// The binary variable that is 1 if and only if a variable is above zero.
    fn sign(&mut self, var: RankVar) -> Variable {
        if let Some(sign) = self.signs.get(&var) {
            return *sign;
        }
        let sign = self.problem.add_binary_var(0.0);
        let value = self.variables[&var];
        self.problem.add_constraint([(value, 1.0), (sign, -(self.bound as f64))], ComparisonOp::Le, 0.0);
        self.problem.add_constraint([(sign, 1.0), (value, -1.0)], ComparisonOp::Le, 0.0);
        self.signs.insert(var, sign);
        sign
    }

    /// Rule out a solution: some counted variable must be above or below its value there.
    fn differ(&mut self, counted: BTreeSet<RankVar>, optimum: &Optimum) {
        let mut differences = Vec::new();
        let mut certain = 0.0;
        for var in counted {
            let there = optimum[&var];
            let sign = self.sign(var);
            match there {
                0 => differences.push((sign, 1.0)),
                _ => {
                    differences.push((sign, -1.0));
                    certain += 1.0;
                    differences.push((self.above(var, there), 1.0));
                    if there > 1 {
                        differences.push((self.below(var, there), 1.0));
                    }
                }
            }
        }
        self.problem.add_constraint(differences, ComparisonOp::Ge, 1.0 - certain);
    }

    /// A binary variable that may be 1 only if `var > value`.
    fn above(&mut self, var: RankVar, value: i64) -> Variable {
        let above = self.problem.add_binary_var(0.0);
        // var >= (value + 1)·above
        let terms = [(self.variables[&var], 1.0), (above, -(value + 1) as f64)];
        self.problem.add_constraint(terms, ComparisonOp::Ge, 0.0);
        above
    }

    /// A binary variable that may be 1 only if `var < value`.
    fn below(&mut self, var: RankVar, value: i64) -> Variable {
        let below = self.problem.add_binary_var(0.0);
        // var <= bound - (bound - value + 1)·below
        let terms = [(self.variables[&var], 1.0), (below, (self.bound - value + 1) as f64)];
        self.problem.add_constraint(terms, ComparisonOp::Le, self.bound as f64);
        below
    }

    fn solve(&self) -> Option<Optimum> {
        let solution = self.problem.solve().ok()?.into_solution().ok()?;
        let value = |variable: &Variable| solution.var_value(*variable).round() as i64;
        Some(self.variables.iter().map(|(var, variable)| (*var, value(variable))).collect())
    }
}
