//! Which functions call which.

use std::collections::HashSet;

use crate::exp::Fun;
use crate::types::FunId;
use crate::visit;

/// For each function, those that it calls, once for each call.
pub struct CallGraph(Vec<Vec<FunId>>);

impl CallGraph {
    pub fn of(funs: &[Fun]) -> CallGraph {
        CallGraph(funs.iter().map(|fun| visit::calls(&fun.body.stms)).collect())
    }

    pub fn callees(&self, id: FunId) -> &[FunId] {
        self.0.get(id.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// All functions, each after those that it calls, as far as there is such an order.
    pub fn callees_first(&self) -> Vec<FunId> {
        fn visit(id: FunId, graph: &CallGraph, seen: &mut HashSet<FunId>, order: &mut Vec<FunId>) {
            if !seen.insert(id) {
                return;
            }
            graph.callees(id).iter().for_each(|callee| visit(*callee, graph, seen, order));
            order.push(id);
        }
        let mut order = Vec::new();
        let mut seen = HashSet::new();
        self.ids().for_each(|id| visit(id, self, &mut seen, &mut order));
        order
    }

    /// All that a function calls, and what that calls, and so on.
    pub fn reachable(&self, id: FunId) -> HashSet<FunId> {
        let mut seen = HashSet::new();
        let mut todo = self.callees(id).to_vec();
        while let Some(next) = todo.pop() {
            if seen.insert(next) {
                todo.extend(self.callees(next));
            }
        }
        seen
    }

    /// Whether a function can come to call itself.
    pub fn is_recursive(&self, id: FunId) -> bool {
        self.reachable(id).contains(&id)
    }

    /// The functions that can come to call themselves.
    pub fn recursive(&self) -> HashSet<FunId> {
        self.ids().filter(|id| self.is_recursive(*id)).collect()
    }

    fn ids(&self) -> impl Iterator<Item = FunId> + use<> {
        (0..self.0.len()).filter_map(|index| u32::try_from(index).ok().map(FunId))
    }
}
