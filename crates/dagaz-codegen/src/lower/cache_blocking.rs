//! Products that make many matrices, and maps that take or give these one by one, some matrices at a time.
//!
//! Where there are more matrices than the caches hold, a map would fetch from far away what the product before it has just
//! written. So both happen for as many matrices as the caches hold, before they go on to the next ones:
//!
//!     p = contract [k, n, m] … a x …               memory for p and s
//!     s = map k (p) …                     ==>      for parts of k { p[part] = contract … a[part] x …
//!                                                                   for k in the part { s[k] = … } }
//!
//! Sizes decide when the program runs how many parts there are. The sums of a product must not depend on that: each matrix is a
//! product of its own, or one with a triangle, whose elements are all added up in the same order. What stands between the members
//! of such a group and has nothing to do with them goes before or after it.

use std::collections::HashSet;

use dagaz_core::exp::{AxesOf, Body, Exp, Lambda, Stm as CoreStm};
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit;

use super::overwriting::fails;
use super::scans::epilogues::is_movable;
use super::{Lower, Lowered};
use crate::RemarkKind;
use crate::imp::{Expr, LoopKind, Operand, Runtime, Stm, Var};

/// Statements next to each other that happen in parts.
pub(super) struct Group {
    pub(super) members: Vec<usize>,
    /// How many rows all of their arrays have.
    width: Atom,
    /// The array that the first of them makes.
    first: Param,
    made: HashSet<VarId>,
}

/// The part of a group that is being lowered.
#[derive(Clone)]
pub(super) struct Part {
    /// Where it begins, how many rows it has, and where it ends.
    pub(super) from: Var,
    pub(super) count: Param,
    to: Var,
    /// The numbers of elements of matrices that all parts read.
    again: Vec<Expr>,
    /// What the group makes.
    pub(super) made: HashSet<VarId>,
    /// What the members do for the part.
    work: Vec<Stm>,
}

/// Statements that could become a group.
struct Search {
    width: Atom,
    /// What the members make.
    made: HashSet<VarId>,
    /// What they read.
    read: HashSet<VarId>,
    /// What statements make that come after the group.
    later: HashSet<VarId>,
    before: Vec<usize>,
    members: Vec<usize>,
}

impl Lower<'_> {
    /// The statements of a body in an order in which the members of groups are next to each other.
    pub(super) fn with_groups_together(&self, body: &Body) -> Option<Body> {
        if !makes_matrices(body) {
            return None;
        }
        let mut stms = body.stms.clone();
        let mut has_changed = false;
        let mut index = 0;
        while index < stms.len() {
            if let Some(search) = self.search(&stms, index) {
                let first: Vec<usize> = search.before.iter().chain(&search.members).copied().collect();
                let rest = (index..stms.len()).filter(|at| !first.contains(at));
                let order: Vec<CoreStm> =
                    first.iter().copied().chain(rest).map(|at| stms[at].clone()).collect();
                stms.splice(index.., order);
                has_changed = true;
                index += first.len() - 1;
            }
            index += 1;
        }
        has_changed.then(|| Body { stms, result: body.result.clone() })
    }

    /// The groups of a body that is in order.
    pub(super) fn groups(&self, body: &Body) -> Vec<Group> {
        let mut groups = Vec::new();
        let mut index = if makes_matrices(body) { 0 } else { body.stms.len() };
        while index < body.stms.len() {
            let search = self.search(&body.stms, index);
            if let Some(search) = search.filter(|s| s.before.is_empty()) {
                index = search.members[search.members.len() - 1];
                let first = body.stms[search.members[0]].pat[0].clone();
                let Search { members, width, made, .. } = search;
                groups.push(Group { members, width, first, made });
            }
            index += 1;
        }
        groups
    }

    /// The group that begins with a statement.
    fn search(&self, stms: &[CoreStm], start: usize) -> Option<Search> {
        if !self.is_outermost() || self.fresh.is_profiled {
            return None;
        }
        let first = &stms[start];
        let width = self.rows_of_member(first)?;
        first.pat.iter().any(|p| p.ty.rank() > 2).then_some(())?;
        let mut search = Search {
            width,
            made: HashSet::new(),
            read: HashSet::new(),
            later: HashSet::new(),
            before: Vec::new(),
            members: Vec::new(),
        };
        search.add(start, first);
        for (index, stm) in stms.iter().enumerate().skip(start + 1) {
            let free = visit::free_vars(&stm.exp);
            let comes_later = free.iter().any(|var| search.later.contains(var));
            if !comes_later && self.follows(&search, stms, stm) {
                search.add(index, stm);
            } else if !comes_later
                && is_movable(&stm.exp)
                && !free.iter().any(|var| search.made.contains(var))
            {
                search.before.push(index);
            } else {
                search.later.extend(stm.pat.iter().map(|p| p.var));
            }
        }
        let is_product = |at: &usize| matches!(stms[*at].exp, Exp::Contract { .. });
        let last = *search.members.last()?;
        search.before.retain(|at| *at < last);
        (search.members.len() > 1 && search.members.iter().any(is_product)).then_some(search)
    }

    /// How many rows a statement makes, of which it could make some at a time.
    fn rows_of_member(&self, stm: &CoreStm) -> Option<Atom> {
        match &stm.exp {
            Exp::Contract { sizes, rank, left, right, triangles, .. } => {
                let [left_first, right_first] = [left, right].map(|o| o.axes.first() == Some(&0));
                let has = |operand: &AxesOf| operand.axes.contains(&0);
                let are_first = has(left) == left_first && has(right) == right_first;
                let is_same = !triangles.is_empty() || (left_first && right_first);
                // A loop keeps copies of what is the same in all iterations.
                let is_kept = [left, right].iter().any(|o| !has(o) && self.is_kept(o.array));
                let is_deep = sizes.len() == rank + 1;
                let concerns = triangles.iter().any(|t| t.low == 0 || t.high == 0);
                let fits = *rank > 2 && are_first && (left_first || right_first);
                (fits && is_same && is_deep && !is_kept && !concerns).then(|| sizes[0])
            }
            Exp::Map { width, arrays, lambda } => {
                let has_accs = lambda.ret.iter().any(Type::is_acc) || lambda.ret.is_empty();
                let is_plain = !has_accs && !self.is_simple(lambda) && !fails(&lambda.body);
                (is_plain && !self.runs_along_columns(&stm.pat, arrays, lambda)).then_some(*width)
            }
            _ => None,
        }
    }

    /// Whether a statement takes rows that a group makes, and makes one of its own of each.
    fn follows(&self, search: &Search, stms: &[CoreStm], stm: &CoreStm) -> bool {
        if self.rows_of_member(stm) != Some(search.width) {
            return false;
        }
        let is_made = |var: &VarId| search.made.contains(var);
        match &stm.exp {
            Exp::Contract { left, right, plus, .. } => {
                let is_row = |operand: &AxesOf| is_made(&operand.array) && operand.axes.first() == Some(&0);
                let is_other = |operand: &AxesOf| !is_made(&operand.array);
                // What it adds to changes earlier than before.
                let users = |sum| stms.iter().filter(|s| visit::free_vars(&s.exp).contains(&sum)).count();
                let is_alone = plus.is_none_or(|sum| !is_made(&sum) && users(sum) == 1);
                let takes =
                    (is_row(left) && (is_row(right) || is_other(right))) || (is_other(left) && is_row(right));
                takes && is_alone
            }
            Exp::Map { arrays, lambda, .. } => {
                // What it may write over is not what the others read.
                let is_apart = |var: &VarId| is_made(var) || !search.read.contains(var);
                arrays.iter().any(is_made)
                    && arrays.iter().all(is_apart)
                    && !visit::free_vars_lambda(lambda).iter().any(is_made)
            }
            _ => false,
        }
    }

    /// Before the first member of a group.
    pub(super) fn begin_parts(&mut self, group: &Group) {
        let [from, to] = ["from", "to"].map(|hint| self.temp(PrimType::I64, hint));
        let count = self.unnamed(&[Type::I64]).remove(0);
        self.groups.part =
            Some(Part { from, count, to, again: Vec::new(), made: group.made.clone(), work: Vec::new() });
    }

    /// Lowers what a member does for the part.
    pub(super) fn for_part(
        &mut self,
        mut part: Part,
        build: impl FnOnce(&mut Self, &Part) -> Lowered<()>,
    ) -> Lowered<()> {
        self.groups.part = None;
        let (work, ()) = self.nested(|l| build(l, &part))?;
        part.work.extend(work);
        self.groups.part = Some(part);
        Ok(())
    }

    /// Notes that a member reads all of an array for every part.
    pub(super) fn reads_again(&mut self, dims: &[Atom]) {
        let elements = self.count(dims);
        self.groups.part.iter_mut().for_each(|part| part.again.push(elements.clone()));
    }

    /// A member that is a map, whose results have their memory.
    pub(super) fn map_for_part(
        &mut self,
        part: Part,
        pat: &[Param],
        (width, arrays): (Atom, &[VarId]),
        lambda: &Lambda,
    ) -> Lowered<()> {
        self.for_part(part, |l, part| {
            let count = l.var_of(&part.count)?.expr();
            let grain = Expr::call(Runtime::Grain, [count.clone(), l.cost_of_map(width, arrays, lambda)]);
            l.pieces_of(count, grain, |l, start, end| {
                let first = l.int("first", &part.from + start);
                let last = l.int("last", &part.from + end);
                l.map_by_parts(pat, (width, arrays), lambda, &first.expr(), &last.expr(), false)
            })
        })
    }

    /// After the last member of a group: the loop over parts.
    pub(super) fn end_parts(&mut self, group: &Group) -> Lowered<()> {
        let Some(part) = self.groups.part.take() else { return Ok(()) };
        self.remark(RemarkKind::Fused, "matrices are used while the caches still have them");
        let width = self.atom(group.width);
        let (elements, elem) = (self.count(&group.first.ty.dims()[1..]), super::elem(&group.first.ty)?);
        let Part { from, count, to, work, again, .. } = part;
        let sum = |all, more| Expr::call(Runtime::SaturatingSum, [all, more]);
        let again = again.into_iter().reduce(sum).unwrap_or_else(|| 0.expr());
        let parts = [width.clone(), elements, again, elem.bytes().expr()];
        let parts = self.int("parts", Expr::call(Runtime::CountParts, parts));
        let count = self.var_of(&count)?;
        self.for_loop(LoopKind::Sequential, &parts, |l, i| {
            l.set(&from, &width * i / &parts);
            l.set(&to, &width * (i + 1) / &parts);
            l.set(&count, &to - &from);
            l.out.extend(work);
            Ok(())
        })
    }
}

/// Whether there is a product that makes many matrices.
fn makes_matrices(body: &Body) -> bool {
    body.stms.iter().any(|stm| matches!(stm.exp, Exp::Contract { rank, .. } if rank > 2))
}

impl Search {
    fn add(&mut self, index: usize, stm: &CoreStm) {
        self.members.push(index);
        self.made.extend(stm.pat.iter().map(|p| p.var));
        self.read.extend(visit::free_vars(&stm.exp));
    }
}
