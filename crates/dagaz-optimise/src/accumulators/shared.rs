//! Values of updates that have something expensive in common, such as the adjoints of the gates of an LSTM cell.
//!
//! To compute each of them again where it is wanted would compute the common part once for each. Instead the map gives the
//! values as results, and the elements of the arrays are read from there.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Exp, Lambda};
use dagaz_core::types::{Atom, VarId};
use dagaz_core::visit::{bodies, free_vars};

use dagaz_core::cost::is_elementary_function;

use super::collect::{Collected, Def, ScopeId, ScopeKind, collect};

/// The values among those that the accumulators of the lambda take, or that maps on their ways give, that need the same
/// elementary function at the same arguments as another one does.
pub(super) fn shared_values(lambda: &Lambda, accumulators: usize) -> HashSet<VarId> {
    let mut users: HashMap<VarId, HashSet<VarId>> = HashMap::new();
    for which in 0..accumulators {
        let Some(found) = collect(lambda, which) else { continue };
        let updates = found.updates.iter().map(|update| (update.scope, update.value));
        for (scope, value) in updates.chain(found.plain_results.iter().copied()) {
            let Atom::Var(value) = value else { continue };
            for function in functions(&found, scope, value) {
                users.entry(function).or_default().insert(value);
            }
        }
    }
    users.into_values().filter(|values| values.len() > 1).flatten().collect()
}

/// The functions that a value needs in its own iteration.
fn functions(found: &Collected<'_>, scope: ScopeId, value: VarId) -> HashSet<VarId> {
    let own = iterations(found, scope);
    let mut functions = HashSet::new();
    let (mut seen, mut work) = (HashSet::from([value]), vec![value]);
    while let Some(var) = work.pop() {
        let Some(Def::Stm { exp, scope, .. }) = found.defs.get(&var) else { continue };
        if iterations(found, *scope) != own || !is_computed_again(exp) {
            continue;
        }
        if has_function(exp) {
            functions.insert(var);
        }
        work.extend(free_vars(exp).into_iter().filter(|operand| seen.insert(*operand)));
    }
    functions
}

fn iterations(found: &Collected<'_>, scope: ScopeId) -> usize {
    let is_iteration = |s: &ScopeId| matches!(found.scopes[*s].kind, ScopeKind::Iteration { .. });
    found.chain(scope).iter().filter(|s| is_iteration(s)).count()
}

/// Everything else is handed out by itself.
fn is_computed_again(exp: &Exp) -> bool {
    matches!(
        exp,
        Exp::Atom(_)
            | Exp::UnOp(..)
            | Exp::BinOp(..)
            | Exp::TernOp(..)
            | Exp::CmpOp(..)
            | Exp::Convert(..)
            | Exp::If { .. }
    )
}

fn has_function(exp: &Exp) -> bool {
    let inside = || bodies(exp).into_iter().flat_map(|body| &body.stms).any(|stm| has_function(&stm.exp));
    is_elementary_function(exp) || inside()
}
