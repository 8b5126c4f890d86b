//! Ranks of types as linear expressions over rank variables, and what one definition demands of them.
//!
//! The first pass over a definition (`crate::infer`) can run in a mode in which every application may be lifted. It
//! then collects a [`RankProblem`]: equations between ranks, and for each application the number of maps and reps that
//! is still to be found (001 4.5 and 4.6).

use std::collections::{BTreeMap, HashMap, HashSet};

use dagaz_syntax::ast::NodeId;

/// An unknown natural number: the rank of an open type, or how often an application is mapped or replicated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct RankVar(pub u32);

/// `constant + Σ coefficient · variable`; no coefficient is zero.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Linear {
    pub constant: i64,
    pub terms: BTreeMap<RankVar, i64>,
}

impl Linear {
    pub fn constant(constant: i64) -> Linear {
        Linear { constant, terms: BTreeMap::new() }
    }

    pub fn variable(var: RankVar) -> Linear {
        Linear { constant: 0, terms: BTreeMap::from([(var, 1)]) }
    }

    /// Add `factor · other`.
    pub fn add_scaled(&mut self, other: &Linear, factor: i64) {
        self.constant += factor * other.constant;
        for (var, coefficient) in &other.terms {
            self.add_term(*var, factor * coefficient);
        }
    }

    pub fn add_term(&mut self, var: RankVar, coefficient: i64) {
        let sum = self.terms.remove(&var).unwrap_or(0) + coefficient;
        if sum != 0 {
            self.terms.insert(var, sum);
        }
    }

    pub fn plus(mut self, other: &Linear) -> Linear {
        self.add_scaled(other, 1);
        self
    }

    pub fn minus(mut self, other: &Linear) -> Linear {
        self.add_scaled(other, -1);
        self
    }

    /// The value, if no variable is left.
    pub fn known(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The variable, if the expression is nothing else.
    pub fn as_variable(&self) -> Option<RankVar> {
        match (self.constant, self.terms.len(), self.terms.first_key_value()) {
            (0, 1, Some((var, 1))) => Some(*var),
            _ => None,
        }
    }

    pub fn value(&self, ranks: &impl Fn(RankVar) -> i64) -> i64 {
        self.constant + self.terms.iter().map(|(var, c)| c * ranks(*var)).sum::<i64>()
    }
}

/// The application of a function to one argument: `[]^maps []^frame parameter = []^reps argument`.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub maps: Linear,
    pub reps: Linear,
    /// The maps of the arguments before this one.
    pub frame: Linear,
    /// As many reps as this cost nothing, since they follow from maps.
    pub induced: Linear,
}

/// What one definition demands of ranks.
#[derive(Debug, Default)]
pub(crate) struct RankProblem {
    pub variables: u32,
    /// Each must be zero.
    pub equations: Vec<Linear>,
    /// For each node that applies something, its arguments in order.
    pub sites: HashMap<NodeId, Vec<Site>>,
    /// The nodes of [`RankProblem::sites`] in the order they were met.
    pub order: Vec<NodeId>,
    /// Uses of the prelude's `|>`, `<|`, `>->` and `<-<`, which stand for applications.
    pub pipes: HashSet<NodeId>,
    /// Whether `==` and `!=` compare what is not an array.
    pub scalar_equality: bool,
    /// Whether applications are to be taken as they are, as in sizes.
    pub rigid: bool,
}

impl RankProblem {
    pub fn fresh(&mut self) -> RankVar {
        self.variables += 1;
        RankVar(self.variables - 1)
    }

    pub fn equate(&mut self, a: Linear, b: &Linear) {
        let difference = a.minus(b);
        if difference.known() != Some(0) {
            self.equations.push(difference);
        }
    }

    /// Another argument at a node, whose rank is `excess` more than that of the lifted parameter before any maps.
    /// Gives the number of maps.
    pub fn site(&mut self, node: NodeId, frame: Linear, excess: Linear) -> Linear {
        let (maps, reps) = match (self.rigid, excess.known()) {
            (true, _) => {
                self.equate(excess, &Linear::default());
                (Linear::default(), Linear::default())
            }
            // An application whose ranks are all known needs no solver.
            (false, Some(n)) => (Linear::constant(n.max(0)), Linear::constant((-n).max(0))),
            (false, None) => {
                let maps = Linear::variable(self.fresh());
                let reps = Linear::variable(self.fresh());
                self.equate(excess.plus(&reps), &maps);
                (maps, reps)
            }
        };
        self.add(node, Site { maps: maps.clone(), reps, induced: frame.clone(), frame });
        maps
    }

    /// An argument that is not mapped over itself, but taken again in `reps` of the maps of the arguments before it.
    pub fn captured(&mut self, node: NodeId, frame: Linear, reps: Linear) {
        let taken_again = Linear::variable(self.fresh());
        let gone_over = Linear::variable(self.fresh());
        self.equate(taken_again.clone(), &reps);
        self.equate(taken_again.clone().plus(&gone_over), &frame);
        let induced = Linear::default();
        self.add(node, Site { maps: Linear::default(), reps: taken_again, frame, induced });
    }

    fn add(&mut self, node: NodeId, site: Site) {
        let sites = self.sites.entry(node).or_default();
        if sites.is_empty() {
            self.order.push(node);
        }
        sites.push(site);
    }
}
