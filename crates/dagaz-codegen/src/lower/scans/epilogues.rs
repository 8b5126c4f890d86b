//! What is made of the results of a scan while they are at hand.
//!
//! Maps and reductions that take the rows of a scan, in order or from the last one on, become part of its loop. What nobody
//! else reads is never stored, and what others read from the last one on only is stored in that order:
//!
//!     let xs = scan n (as) …                        for i { x = x ⊙ as[i]; total += x * x }
//!     let total = reduce n (xs) (x * x) (+)  ==>
//!
//! They are cheap scalar operations that cannot fail: others are better off in a loop for vector units. What stands between
//! and has nothing to do with the scan goes before it.

use std::collections::{HashMap, HashSet};

use dagaz_core::effects::can_fail;
use dagaz_core::exp::{Body, DimSlice, Exp, Lambda, Stm};
use dagaz_core::machine;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit;

use super::in_place::Over;
use crate::lower::Lower;
use crate::lower::folds::{Fold, cheap_statements};

/// A scan together with the statements after it that are part of its loop.
pub(in crate::lower) struct Group {
    /// The numbers of these statements: operations, and the views that they take.
    pub(in crate::lower) covered: HashSet<usize>,
    /// Where the results of the scan go, one by one.
    pub(in crate::lower) kept: Vec<RowState>,
    pub(in crate::lower) followers: Vec<Follower>,
    /// The results are read together, element by element, and never as wholes.
    pub(in crate::lower) are_together: bool,
    /// What is written over arrays that are there.
    pub(in crate::lower) over: Option<Over>,
}

/// What becomes of a result of a scan.
pub(in crate::lower) enum RowState {
    Nowhere,
    Forwards(Param),
    /// Only this array is read, whose first row is the last one of the scan.
    Backwards(Param),
}

/// An operation on the rows of a scan.
pub(in crate::lower) struct Follower {
    pub(in crate::lower) pat: Vec<Param>,
    /// For every array that it takes, the result of the scan that it is, if it is one.
    pub(in crate::lower) inputs: Vec<Input>,
    pub(in crate::lower) is_backwards: bool,
    pub(in crate::lower) work: Work,
}

pub(in crate::lower) enum Input {
    Component(usize),
    Array(VarId),
}

pub(in crate::lower) enum Work {
    Map(Lambda),
    Reduce { pre: Option<Lambda>, op: Lambda, neutral: Vec<Atom> },
}

impl Work {
    pub(in crate::lower) fn lambdas(&self) -> Vec<&Lambda> {
        match self {
            Work::Map(lambda) => vec![lambda],
            Work::Reduce { pre, op, .. } => pre.iter().chain([op]).collect(),
        }
    }
}

/// How a variable shows a result of the scan.
#[derive(Clone, Copy)]
struct Shown {
    component: usize,
    is_backwards: bool,
}

/// What is known while the statements after a scan are looked at.
struct Search {
    width: Atom,
    shown: HashMap<VarId, Shown>,
    /// What the scan and what follows it make.
    made: HashSet<VarId>,
}

impl Search {
    fn new(scan: &Stm, width: Atom) -> Self {
        let vars = scan.pat.iter().enumerate().map(|(component, param)| (param.var, component));
        let shown = vars.map(|(var, component)| (var, Shown { component, is_backwards: false })).collect();
        Search { width, shown, made: scan.pat.iter().map(|p| p.var).collect() }
    }

    /// Whether the statement shows a result of the scan from the last row on.
    fn look_backwards(&mut self, stm: &Stm) -> bool {
        let (Exp::Slice { array, dims }, [param]) = (&stm.exp, stm.pat.as_slice()) else { return false };
        // All rows are there, so that the first one of them is the last one of the array.
        let [DimSlice::Range { len, stride, .. }] = dims.as_slice() else { return false };
        let Some(shown) = self.shown.get(array).filter(|shown| !shown.is_backwards).copied() else {
            return false;
        };
        if *len != self.width || *stride != Atom::i64(-1) {
            return false;
        }
        self.shown.insert(param.var, Shown { is_backwards: true, ..shown });
        self.made.insert(param.var);
        true
    }
}

impl Lower<'_> {
    /// The statements of a body in an order in which what can follow scans stands behind them.
    pub(in crate::lower) fn with_followers(&self, body: &Body) -> Option<Body> {
        if !self.is_outermost() || !body.stms.iter().any(|stm| matches!(stm.exp, Exp::Scan { .. })) {
            return None;
        }
        let mut stms = body.stms.clone();
        let mut index = 0;
        while index < stms.len() {
            if let Some(mut search) = self.followed(&stms[index]) {
                let (before, group, end) = self.sorted(&stms, index, &mut search);
                let moved: Vec<Stm> =
                    before.iter().chain([&index]).chain(&group).map(|i| stms[*i].clone()).collect();
                stms.splice(index..end, moved);
                index += before.len() + group.len();
            }
            index += 1;
        }
        Some(Body { stms, result: body.result.clone() })
    }

    /// The numbers of statements after a scan that can stand before it, of those that belong to it, and where both end.
    fn sorted(&self, stms: &[Stm], scan: usize, search: &mut Search) -> (Vec<usize>, Vec<usize>, usize) {
        let (mut before, mut group) = (Vec::new(), Vec::new());
        for (index, stm) in stms.iter().enumerate().skip(scan + 1) {
            if search.look_backwards(stm) || self.follower(search, stm).is_some() {
                search.made.extend(stm.pat.iter().map(|p| p.var));
                group.push(index);
            } else if is_movable(&stm.exp)
                && !visit::free_vars(&stm.exp).iter().any(|v| search.made.contains(v))
            {
                before.push(index);
            } else {
                break;
            }
        }
        let end = group.last().map_or(scan + 1, |last| last + 1);
        before.retain(|index| *index < end);
        (before, group, end)
    }

    /// The statements right after a scan that are part of its loop.
    pub(in crate::lower) fn group(&self, body: &Body, scan: usize) -> Option<Group> {
        let mut search = self.followed(&body.stms[scan])?;
        let (mut group, mut views) = (HashSet::new(), Vec::new());
        let mut followers = Vec::new();
        for (index, stm) in body.stms.iter().enumerate().skip(scan + 1) {
            if search.look_backwards(stm) {
                views.push(index);
            } else if let Some(follower) = self.follower(&search, stm) {
                search.made.extend(stm.pat.iter().map(|p| p.var));
                group.insert(index);
                followers.push(follower);
            } else {
                break;
            }
        }
        // What is read by others, and not only by what follows.
        let mut read: HashSet<VarId> = body.result.iter().filter_map(|atom| atom.as_var()).collect();
        for (index, stm) in body.stms.iter().enumerate() {
            if !group.contains(&index) && !views.contains(&index) {
                read.extend(visit::free_vars(&stm.exp));
            }
        }
        let pat = &body.stms[scan].pat;
        let mut kept: Vec<RowState> = pat
            .iter()
            .map(|p| if read.contains(&p.var) { RowState::Forwards(p.clone()) } else { RowState::Nowhere })
            .collect();
        for index in views {
            let param = &body.stms[index].pat[0];
            let component = search.shown[&param.var].component;
            match &kept[component] {
                _ if !read.contains(&param.var) => {}
                RowState::Nowhere if self.needs_block(param) => {
                    kept[component] = RowState::Backwards(param.clone())
                }
                RowState::Nowhere => {
                    kept[component] = RowState::Forwards(pat[component].clone());
                    continue;
                }
                RowState::Forwards(_) | RowState::Backwards(_) => continue,
            }
            group.insert(index);
        }
        let are_kept = kept.iter().all(|kept| matches!(kept, RowState::Forwards(_)));
        let are_together = are_kept && self.are_together(body, scan, &search, &group);
        Some(Group { covered: group, kept, followers, are_together, over: None })
    }

    /// Whether there are several results, of one type, and whatever reads one of them reads all of them.
    fn are_together(&self, body: &Body, scan: usize, search: &Search, covered: &HashSet<usize>) -> bool {
        let pat = &body.stms[scan].pat;
        let all = pat.len();
        let is_apart = |param: &Param| {
            param.ty.elem() != pat[0].ty.elem()
                || self.memory.blocks.contains(&param.var)
                || self.memory.dests.contains_key(&param.var)
        };
        if all < 2 || pat.iter().any(is_apart) {
            return false;
        }
        let components = |vars: Vec<VarId>| -> HashSet<usize> {
            vars.iter().filter_map(|var| search.shown.get(var).map(|shown| shown.component)).collect()
        };
        let mut is_read = false;
        for (index, stm) in body.stms.iter().enumerate() {
            let shows = stm.pat.iter().any(|p| search.shown.contains_key(&p.var));
            if shows
                && (covered.contains(&index) || !stm.pat.iter().any(|p| self.memory.blocks.contains(&p.var)))
            {
                continue;
            }
            let used =
                if covered.contains(&index) { 0 } else { components(visit::free_vars(&stm.exp)).len() };
            is_read |= used > 0;
            if used != 0 && used != all {
                return false;
            }
        }
        is_read
    }

    /// A search for what follows a statement, if that is a scan in pieces.
    fn followed(&self, stm: &Stm) -> Option<Search> {
        let Exp::Scan { width, arrays, pre, op, neutral } = &stm.exp else { return None };
        let fold = Fold { width: *width, arrays, pre: pre.as_ref(), op, neutral };
        (self.is_outermost() && self.is_simple_fold(&fold)).then(|| Search::new(stm, *width))
    }

    /// The statement as an operation on the rows of a scan.
    fn follower(&self, search: &Search, stm: &Stm) -> Option<Follower> {
        let (width, arrays, work) = match &stm.exp {
            Exp::Map { width, arrays, lambda } => {
                let with_elements = self.with_elements(*width, lambda);
                (*width, arrays, Work::Map(with_elements.unwrap_or_else(|| lambda.clone())))
            }
            Exp::Reduce { width, arrays, pre, op, neutral, .. } => {
                let work = Work::Reduce { pre: pre.clone(), op: op.clone(), neutral: neutral.clone() };
                (*width, arrays, work)
            }
            _ => return None,
        };
        let lambdas = work.lambdas();
        let mut statements = Some(0);
        for lambda in &lambdas {
            let uses = visit::free_vars_lambda(lambda);
            let fails = lambda.body.stms.iter().any(|stm| can_fail(&stm.exp));
            if !self.is_simple(lambda) || fails || uses.iter().any(|var| search.made.contains(var)) {
                return None;
            }
            statements = Some(statements? + cheap_statements(&lambda.body)?);
        }
        let shown: Vec<Shown> = arrays.iter().filter_map(|array| search.shown.get(array).copied()).collect();
        let is_backwards = shown.first()?.is_backwards;
        let is_other = |array: &VarId| search.made.contains(array) && !search.shown.contains_key(array);
        let fits = width == search.width
            && statements.is_some_and(|count| count <= machine::RECOMPUTED_STATEMENTS)
            && shown.iter().all(|shown| shown.is_backwards == is_backwards)
            && !(is_backwards && matches!(work, Work::Reduce { .. }))
            && !stm.pat.iter().any(|p| matches!(p.ty, Type::Acc { .. }))
            && !arrays.iter().any(is_other);
        let input = |array: &VarId| match search.shown.get(array) {
            Some(shown) => Input::Component(shown.component),
            None => Input::Array(*array),
        };
        let inputs = arrays.iter().map(input).collect();
        fits.then(|| Follower { pat: stm.pat.clone(), inputs, is_backwards, work })
    }
}

/// Whether an expression takes no time, changes nothing and cannot fail, so that it can stand earlier.
pub(in crate::lower) fn is_movable(exp: &Exp) -> bool {
    match exp {
        Exp::BinOp(..) => !can_fail(exp),
        Exp::Slice { .. } | Exp::Rearrange { .. } | Exp::Iota { .. } => true,
        Exp::UnOp(..) | Exp::CmpOp(..) | Exp::Convert(..) => true,
        _ => false,
    }
}
