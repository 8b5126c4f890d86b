//! The cheapest numbers from which all results follow: a least cut through what depends on what.
//!
//! Every number is two nodes with an arc between them, as wide as the number has bytes, or without limit where it cannot be
//! kept. A greatest flow from what is read to what is wanted is as wide as the narrowest places together; of the narrowest
//! places, those nearest to the results are cut, after which there is least left to compute.

use std::collections::{HashMap, VecDeque};

use dagaz_core::types::VarId;

/// What depends on what, from what is read to what is wanted.
pub(super) struct Flow {
    numbers: Vec<VarId>,
    nodes: HashMap<VarId, usize>,
    /// The arcs that leave each node.
    leaving: Vec<Vec<usize>>,
    /// Where arcs lead to, and how much more fits through them. An arc and its reverse are neighbours.
    arcs: Vec<(usize, usize)>,
}

const READ: usize = 0;
const WANTED: usize = 1;
const UNLIMITED: usize = usize::MAX / 2;

impl Flow {
    pub fn new() -> Flow {
        Flow {
            numbers: Vec::new(),
            nodes: HashMap::new(),
            leaving: vec![Vec::new(), Vec::new()],
            arcs: Vec::new(),
        }
    }

    fn arc(&mut self, from: usize, to: usize, width: usize) {
        self.leaving[from].push(self.arcs.len());
        self.arcs.push((to, width));
        self.leaving[to].push(self.arcs.len());
        self.arcs.push((from, 0));
    }

    /// A number that takes so many bytes to keep, or cannot be kept.
    pub fn number(&mut self, var: VarId, bytes: Option<usize>) {
        let node = self.leaving.len();
        self.leaving.extend([Vec::new(), Vec::new()]);
        self.nodes.insert(var, node);
        self.numbers.push(var);
        self.arc(node, node + 1, bytes.unwrap_or(UNLIMITED));
    }

    pub fn has(&self, var: VarId) -> bool {
        self.nodes.contains_key(&var)
    }

    /// The number depends on what is read.
    pub fn reads(&mut self, var: VarId) {
        let node = self.nodes[&var];
        self.arc(READ, node, UNLIMITED);
    }

    pub fn depends(&mut self, var: VarId, on: VarId) {
        let (node, before) = (self.nodes[&var], self.nodes[&on]);
        self.arc(before + 1, node, UNLIMITED);
    }

    /// The number is a result, or of other use.
    pub fn is_wanted(&mut self, var: VarId) {
        let node = self.nodes[&var];
        self.arc(node + 1, WANTED, UNLIMITED);
    }

    /// The numbers to be kept, in order, if they have no more bytes in all than this.
    pub fn cut(mut self, most: usize) -> Option<Vec<VarId>> {
        let mut total = 0;
        while let Some(path) = self.path() {
            let width = path.iter().map(|arc| self.arcs[*arc].1).min().unwrap_or(0);
            for arc in path {
                self.arcs[arc].1 -= width;
                self.arcs[arc ^ 1].1 += width;
            }
            total += width;
            if total > most {
                return None;
            }
        }
        let reaches = self.reaches_wanted();
        let is_cut = |var: &VarId| !reaches[self.nodes[var]] && reaches[self.nodes[var] + 1];
        Some(self.numbers.iter().copied().filter(is_cut).collect())
    }

    /// A shortest way along which more can flow.
    fn path(&self) -> Option<Vec<usize>> {
        let mut by: Vec<Option<usize>> = vec![None; self.leaving.len()];
        let mut todo = VecDeque::from([READ]);
        while let Some(node) = todo.pop_front() {
            for arc in &self.leaving[node] {
                let (to, width) = self.arcs[*arc];
                if width > 0 && to != READ && by[to].is_none() {
                    by[to] = Some(*arc);
                    todo.push_back(to);
                }
            }
        }
        let mut path = Vec::new();
        let mut node = WANTED;
        while node != READ {
            let arc = by[node]?;
            path.push(arc);
            node = self.arcs[arc ^ 1].0;
        }
        Some(path)
    }

    /// The nodes from which more could flow to what is wanted.
    fn reaches_wanted(&self) -> Vec<bool> {
        let mut reaches = vec![false; self.leaving.len()];
        reaches[WANTED] = true;
        let mut todo = vec![WANTED];
        while let Some(node) = todo.pop() {
            for arc in &self.leaving[node] {
                let from = self.arcs[*arc].0;
                if self.arcs[arc ^ 1].1 > 0 && !reaches[from] {
                    reaches[from] = true;
                    todo.push(from);
                }
            }
        }
        reaches
    }
}
