//! A reduction, scan or histogram of several components that have nothing to do with each other is several of them,
//! each of which may have a rule that costs less:
//!
//!     reduce (\(a, b) (c, d) -> (a + c, max b d)) (0, -inf) xs ys     ==>     (reduce (+) 0 xs, reduce max (-inf) ys)

use std::collections::{HashMap, HashSet};

use dagaz_core::effects::{Effect, own_effect};
use dagaz_core::exp::{Body, Exp, Lambda, Stm};
use dagaz_core::types::{Atom, VarId};
use dagaz_core::visit::free_vars;

use crate::context::{Ad, Res};
use crate::prune::{Stays, prune};
use crate::rename::Renamer;
use crate::reverse::needed;

impl Ad<'_> {
    /// Pushes a statement for each group of components; says whether there is more than one.
    pub fn expand_components(&mut self, stm: &Stm) -> Res<bool> {
        let op = match &stm.exp {
            Exp::Reduce { pre: None, op, .. } | Exp::Scan { pre: None, op, .. } => op,
            Exp::Hist { pre: None, op, .. } => op,
            _ => return Ok(false),
        };
        let groups = groups(op);
        if groups.len() < 2 || self.may_stop_for_nothing(op) {
            return Ok(false);
        }
        for group in groups {
            let exp = match &stm.exp {
                Exp::Reduce { width, arrays, neutral, commutative, .. } => Exp::Reduce {
                    width: *width,
                    arrays: pick(arrays, &group),
                    pre: None,
                    op: self.part(op, &group),
                    neutral: pick(neutral, &group),
                    commutative: *commutative,
                },
                Exp::Scan { width, arrays, neutral, .. } => Exp::Scan {
                    width: *width,
                    arrays: pick(arrays, &group),
                    pre: None,
                    op: self.part(op, &group),
                    neutral: pick(neutral, &group),
                },
                Exp::Hist { width, arrays, dests, shape, neutral, .. } => {
                    let (indices, values) = arrays.split_at(shape.len());
                    Exp::Hist {
                        width: *width,
                        arrays: [indices.to_vec(), pick(values, &group)].concat(),
                        pre: None,
                        dests: pick(dests, &group),
                        shape: shape.clone(),
                        op: self.part(op, &group),
                        neutral: pick(neutral, &group),
                    }
                }
                _ => continue,
            };
            self.expand_stm(&Stm { pat: pick(&stm.pat, &group), exp, loc: stm.loc }, true)?;
        }
        Ok(true)
    }

    /// The operator on some of its components.
    fn part(&mut self, op: &Lambda, group: &[usize]) -> Lambda {
        let (left, right) = op.params.split_at(op.ret.len());
        let result = pick(&op.body.result, group);
        let body = Body { stms: needed(op.body.stms.clone(), &result), result };
        let params = [pick(left, group), pick(right, group)].concat();
        let part = Lambda { params, body, ret: pick(&op.ret, group) };
        Renamer::new(self, HashMap::new()).lambda(&part)
    }

    /// Whether the operator has statements whose only effect is that they may stop the program: they belong to no group.
    fn may_stop_for_nothing(&self, op: &Lambda) -> bool {
        let Body { stms, result } = &op.body;
        let again = HashSet::new();
        let kept = prune(stms.clone(), result, &Stays::new(stms, &self.b.types, &again));
        let without_effect = needed(stms.clone(), result);
        let has_effect = |stm: &Stm| own_effect(&stm.exp) == Effect::Acts;
        kept.len() != without_effect.len() || kept.iter().any(has_effect)
    }
}

fn pick<T: Clone>(items: &[T], group: &[usize]) -> Vec<T> {
    group.iter().map(|i| items[*i].clone()).collect()
}

/// The components in groups of those that depend on each other.
fn groups(op: &Lambda) -> Vec<Vec<usize>> {
    let n = op.ret.len();
    let mut sources: HashMap<VarId, HashSet<usize>> = HashMap::new();
    for (i, param) in op.params.iter().enumerate() {
        sources.insert(param.var, HashSet::from([i % n]));
    }
    for stm in &op.body.stms {
        let read: HashSet<usize> =
            free_vars(&stm.exp).iter().filter_map(|v| sources.get(v)).flatten().copied().collect();
        stm.pat.iter().for_each(|p| {
            sources.insert(p.var, read.clone());
        });
    }
    let mut group: Vec<usize> = (0..n).collect();
    for (i, result) in op.body.result.iter().enumerate() {
        let read = match result {
            Atom::Var(var) => sources.get(var).cloned().unwrap_or_default(),
            Atom::Const(_) => HashSet::new(),
        };
        for j in read {
            let (from, to) = (group[j], group[i]);
            group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
        }
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for leader in 0..n {
        let members: Vec<usize> = (0..n).filter(|i| group[*i] == leader).collect();
        if !members.is_empty() {
            groups.push(members);
        }
    }
    groups
}
