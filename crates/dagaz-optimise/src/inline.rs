//! Calls become the bodies of the functions they call.
//!
//!     def f (n: i64, xs: [n]f64) : (s: f64) = let s = reduce … xs in s
//!     map k (xss) (\row -> let t = call f (n, row) in t)    ==>    map k (xss) (\row -> let s = reduce … row in s)
//!
//! Done where a function is called from one place only, or is small. The function itself stays for entry points. What
//! other passes do not see through a call, they see then: bounds, fusion, and which rows need no memory. Functions that
//! call themselves, however indirectly, stay as they are.

use std::collections::{HashMap, HashSet};

use dagaz_core::calls::CallGraph;
use dagaz_core::exp::{Body, Exp, Fun, Program, Stm};
use dagaz_core::machine;
use dagaz_core::pass::Pass;
use dagaz_core::rename::Copy;
use dagaz_core::types::{Atom, FunId};
use dagaz_core::visit::{self, bodies_mut, count_stms};

pub const INLINE_CALLS: Pass = Pass::always(
    "inline-calls",
    "Calls of small functions, and of those that are called once, become their bodies.",
    inline_calls,
);

pub fn inline_calls(program: &mut Program) {
    let calls = CallGraph::of(&program.funs);
    let count = count_calls(program, &calls);
    for id in calls.callees_first() {
        let index = id.0 as usize;
        let mut body = std::mem::take(&mut program.funs[index].body);
        let size = count_stms(&body.stms);
        Inliner { program, count: &count, size }.body(id, &mut body, &calls);
        program.funs[index].body = body;
    }
}

/// How often functions are called in what entry points and constants need.
fn count_calls(program: &Program, calls: &CallGraph) -> HashMap<FunId, usize> {
    let mut count: HashMap<FunId, usize> = HashMap::new();
    let mut todo: Vec<FunId> = visit::calls(&program.consts);
    todo.iter().for_each(|id| *count.entry(*id).or_default() += 1);
    todo.extend(program.entries.iter().map(|entry| entry.fun));
    let mut seen = HashSet::new();
    while let Some(id) = todo.pop() {
        if !seen.insert(id) {
            continue;
        }
        for callee in calls.callees(id) {
            *count.entry(*callee).or_default() += 1;
            todo.push(*callee);
        }
    }
    count
}

struct Inliner<'p> {
    program: &'p mut Program,
    count: &'p HashMap<FunId, usize>,
    /// Statements in the function at hand.
    size: usize,
}

impl Inliner<'_> {
    fn body(&mut self, own: FunId, body: &mut Body, calls: &CallGraph) {
        let stms = std::mem::take(&mut body.stms);
        for mut stm in stms {
            bodies_mut(&mut stm.exp).into_iter().for_each(|inner| self.body(own, inner, calls));
            match &stm.exp {
                Exp::Call { fun, args } if *fun != own && self.is_wanted(*fun, calls) => {
                    let (fun, args) = (*fun, args.clone());
                    body.stms.extend(self.instance(fun, &args, &stm));
                }
                _ => body.stms.push(stm),
            }
        }
    }

    fn is_wanted(&mut self, id: FunId, calls: &CallGraph) -> bool {
        let Some(fun) = self.program.fun(id) else { return false };
        let added = count_stms(&fun.body.stms);
        let is_only = self.count.get(&id) == Some(&1);
        let fits = is_only
            || added <= machine::INLINED_STATEMENTS
                && self.size + added <= machine::MOST_STATEMENTS_BY_INLINING;
        let is_wanted = fits && !calls.is_recursive(id);
        if is_wanted {
            self.size += added;
        }
        is_wanted
    }

    /// The statements of a function for one call.
    fn instance(&mut self, id: FunId, args: &[Atom], call: &Stm) -> Vec<Stm> {
        let Some(fun) = self.program.fun(id).cloned() else { return vec![call.clone()] };
        let Fun { params, body, .. } = fun;
        let names = params.iter().map(|p| p.var).zip(args.iter().copied()).collect();
        let mut copy = Copy::at_call(&mut self.program.vars, &mut self.program.locs, names, call.loc);
        let body = copy.body(&body);
        let mut stms = body.stms;
        for (param, result) in call.pat.iter().zip(body.result) {
            stms.push(Stm { pat: vec![param.clone()], exp: Exp::Atom(result), loc: call.loc });
        }
        stms
    }
}
