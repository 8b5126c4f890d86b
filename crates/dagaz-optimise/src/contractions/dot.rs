//! Sums of products inside of maps, and how far out they can go.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{AxesOf, Exp, Lambda};
use dagaz_core::operator::sum_type;
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, VarId};

use super::facts::{Def, Definitions};

/// A map around the place that is looked at, or another operation that applies a function to rows.
pub(super) struct Level {
    pub width: Atom,
    /// Rows, and the arrays that they are from.
    pub rows: HashMap<VarId, VarId>,
    /// What is bound directly in the function.
    pub bound: HashSet<VarId>,
    /// The next level inside is used as a result of this one, and for nothing else.
    pub is_perfect: bool,
}

impl Level {
    pub fn new(width: Atom, arrays: &[VarId], lambda: &Lambda) -> Level {
        let params = lambda.params.iter().map(|p| p.var);
        let bound = params.clone().chain(lambda.body.stms.iter().flat_map(|stm| &stm.pat).map(|p| p.var));
        let bound = bound.collect();
        let rows = params.zip(arrays.iter().copied()).collect();
        Level { width, rows, bound, is_perfect: false }
    }
}

/// The number of a level. The sum itself is the last one.
pub(super) type Label = usize;

/// An element of an array: first come indices that are the same everywhere, then those of levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct View {
    pub root: VarId,
    pub fixed: Vec<Atom>,
    pub labels: Vec<Label>,
}

/// A product in a sum: two elements that change with the summation, and factors that do not.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub negative: bool,
    pub factors: Vec<Atom>,
    pub elements: Vec<Atom>,
}

/// The axes of a contraction, by the operands that have them.
pub(super) struct Axes {
    pub result: Vec<Label>,
    pub has_rows: bool,
    pub has_columns: bool,
}

pub(super) struct Nest<'n> {
    pub facts: &'n Definitions,
    /// The levels from outside to inside, and then the summation.
    pub levels: &'n [Level],
}

impl Nest<'_> {
    fn sum(&self) -> Label {
        self.levels.len() - 1
    }

    /// Whether a variable is bound at one of the levels from a number on.
    pub fn is_bound_from(&self, from: Label, var: VarId) -> bool {
        self.levels[from..].iter().any(|level| level.bound.contains(&var))
    }

    /// A value as a sum of products.
    pub fn terms(&self, value: Atom) -> Option<Vec<Term>> {
        let inside = |atom: Atom| atom.as_var().filter(|v| self.is_bound_from(self.sum(), *v));
        let Some(var) = inside(value) else {
            return Some(vec![Term { negative: false, factors: vec![value], elements: Vec::new() }]);
        };
        match self.facts.defs.get(&var) {
            Some(Def::Alias(other)) => self.terms((*other).into()),
            Some(Def::Scalar(BinOp::Add, x, y)) => {
                let mut terms = self.terms(*x)?;
                terms.extend(self.terms(*y)?);
                Some(terms)
            }
            Some(Def::Scalar(BinOp::Sub, x, y)) => {
                let mut terms = self.terms(*x)?;
                terms.extend(self.terms(*y)?.into_iter().map(negated));
                Some(terms)
            }
            Some(Def::Negated(x)) => Some(self.terms(*x)?.into_iter().map(negated).collect()),
            Some(Def::Scalar(BinOp::Mul, x, y)) => {
                let (mut x, mut y) = (self.terms(*x)?, self.terms(*y)?);
                let (Some(mut product), Some(other)) = (x.pop(), y.pop()) else { return None };
                // Sums are not multiplied out: that would be more work.
                if !x.is_empty() || !y.is_empty() {
                    return None;
                }
                product.negative ^= other.negative;
                product.factors.extend(other.factors);
                product.elements.extend(other.elements);
                Some(vec![product])
            }
            Some(Def::Scalar(..) | Def::Numbers(_) | Def::Rearranged { .. }) => None,
            Some(Def::Read { .. }) | None => {
                Some(vec![Term { negative: false, factors: Vec::new(), elements: vec![var.into()] }])
            }
        }
    }

    /// The element that a variable is, of an array that is bound outside of the levels from a number on.
    pub fn view(&self, var: VarId, from: Label) -> Option<View> {
        let mut root = var;
        let mut labels: Vec<Label> = Vec::new();
        let mut fixed: Vec<Atom> = Vec::new();
        loop {
            let is_done = !fixed.is_empty();
            if let Some((level, array)) = self.row(root, from) {
                if is_done {
                    return None;
                }
                labels.insert(0, level);
                root = array;
                continue;
            }
            let is_inside = self.is_bound_from(from, root);
            match self.facts.defs.get(&root) {
                Some(Def::Alias(other)) => root = *other,
                Some(Def::Rearranged { perm, array }) => {
                    if is_done || perm.len() != labels.len() {
                        return None;
                    }
                    let mut inner = labels.clone();
                    perm.iter().zip(&labels).for_each(|(dim, label)| inner[*dim] = *label);
                    (root, labels) = (*array, inner);
                }
                Some(Def::Read { array, indices, is_certain }) if is_inside => {
                    let is_same = |i: &&Atom| i.as_var().is_none_or(|v| !self.is_bound_from(from, v));
                    let first = indices.iter().take_while(is_same).count();
                    if is_done || (first > 0 && !is_certain) {
                        return None;
                    }
                    fixed = indices[..first].to_vec();
                    let own: Option<Vec<Label>> =
                        indices[first..].iter().map(|i| self.label(*i, from)).collect();
                    let mut all = own?;
                    all.append(&mut labels);
                    (root, labels) = (*array, all);
                }
                _ if is_inside => return None,
                _ => break,
            }
        }
        let dims = self.facts.types.get(&root)?.dims().get(fixed.len()..)?;
        let sizes = labels.iter().map(|label| self.levels[*label].width);
        let distinct: HashSet<Label> = labels.iter().copied().collect();
        (dims.iter().copied().eq(sizes) && distinct.len() == labels.len()).then_some(View {
            root,
            fixed,
            labels,
        })
    }

    fn row(&self, var: VarId, from: Label) -> Option<(Label, VarId)> {
        let levels = self.levels.iter().enumerate().skip(from);
        levels.filter_map(|(i, level)| Some((i, *level.rows.get(&var)?))).next()
    }

    /// The level that an index counts.
    fn label(&self, index: Atom, from: Label) -> Option<Label> {
        let (level, numbers) = self.row(index.as_var()?, from)?;
        match self.facts.defs.get(&numbers) {
            Some(Def::Numbers(n)) if *n == self.levels[level].width => Some(level),
            _ => None,
        }
    }

    /// The axes of the contraction that leaves all levels from a number on, if all it needs is bound outside of them.
    pub fn axes(&self, left: &View, right: &View, from: Label) -> Option<Axes> {
        let is_outside = |atom: Atom| atom.as_var().is_none_or(|v| !self.is_bound_from(from, v));
        if !self.levels[from..].iter().all(|level| is_outside(level.width)) {
            return None;
        }
        let sum = self.sum();
        if !left.labels.contains(&sum) || !right.labels.contains(&sum) {
            return None;
        }
        let of = |view: &View, label: &Label| view.labels.contains(label);
        let result: Vec<Label> = (from..sum).filter(|l| of(left, l) || of(right, l)).collect();
        let has_rows = result.iter().any(|l| of(left, l) && !of(right, l));
        let has_columns = result.iter().any(|l| of(right, l) && !of(left, l));
        Some(Axes { result, has_rows, has_columns })
    }

    /// Whether loops over constant sizes are better left to the C compiler, which unrolls them.
    pub fn is_small(&self, left: &View, right: &View, axes: &Axes) -> bool {
        let size = |wanted: &dyn Fn(&Label) -> bool| {
            let sizes = axes.result.iter().filter(|l| wanted(l)).map(|l| self.levels[*l].width);
            sizes.map(constant).try_fold(1i64, |all, n| Some(all.saturating_mul(n?)))
        };
        let rows = size(&|l| !right.labels.contains(l));
        let columns = size(&|l| !left.labels.contains(l));
        let depth = constant(self.levels[self.sum()].width);
        [rows, columns, depth].iter().filter(|n| n.is_some_and(|n| n < 8)).count() > 1
    }

    pub fn contract(&self, left: &View, right: &View, axes: &Axes) -> Exp {
        let mut labels = axes.result.clone();
        labels.push(self.sum());
        let sizes = labels.iter().map(|l| self.levels[*l].width).collect();
        let operand = |view: &View| {
            let position = |label: &Label| labels.iter().position(|l| l == label);
            AxesOf { array: view.root, axes: view.labels.iter().filter_map(position).collect() }
        };
        let (left, right) = (operand(left), operand(right));
        Exp::Contract { sizes, rank: axes.result.len(), left, right, plus: None, triangles: Vec::new() }
    }
}

fn negated(term: Term) -> Term {
    Term { negative: !term.negative, ..term }
}

pub(super) fn constant(size: Atom) -> Option<i64> {
    size.as_const().and_then(|n| n.as_i64())
}

/// Whether the operator adds each component of what it is given, and in which type.
pub(super) fn is_sum(op: &Lambda) -> Option<PrimType> {
    sum_type(op).filter(|ty| matches!(ty, PrimType::F32 | PrimType::F64))
}
