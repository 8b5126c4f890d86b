//! Scans of scalars, in pieces that run on threads.
//!
//! Every piece is folded; then it waits for what there is before it, hands on what there is after it, and scans its rows,
//! which are in the cache by now. Both are done for several parts of the piece at the same time, the chains: one alone would
//! wait for the result of every step. Rows at the border of the scan (see [`super::split_iteration_range`]) come before and after the
//! chains, and so do those that are left over.

use std::collections::HashSet;

use dagaz_core::exp::Lambda;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit;

use super::folds::{Fold, keeps_rows, piece_start, sum_operators};
use super::parallel::can_fail;
use super::scan_epilogues::{Follower, Group, Input, RowState, Work};
use super::scans_in_place::{Edge, Over, with_edges};
use super::split_iteration_range::{Interior, interior};
use super::{Form, Lower, Lowered, elem};
use crate::RemarkKind;
use crate::imp::{LoopKind, Stm as Imp};

/// So many parts of a piece are scanned at the same time.
const CHAINS: usize = 4;
/// With so many components an operator has enough to do for vector units, one element for each chain.
const WIDE: usize = 4;

/// What is before and after the chains, and they themselves.
const PARTS: usize = CHAINS + 2;

/// A scan at work.
struct Scan<'a> {
    fold: &'a Fold<'a>,
    /// What is made of a row away from the border, if it is simpler there.
    middle: Option<Interior>,
    kept: &'a [RowState],
    followers: Vec<Following<'a>>,
    /// The rows that the last steps of parts need from others, and the arrays with an element for each part.
    edges: Vec<(&'a Edge, String)>,
    bound: String,
    /// The values of the chains, for each component.
    chains: Vec<String>,
    /// The components that results depend on.
    needed: Vec<bool>,
    /// Whether vector units do a step of all chains.
    is_wide: bool,
}

/// An operation on the rows of a scan, at work.
struct Following<'a> {
    follower: &'a Follower,
    middle: Option<Interior>,
    /// What a map does in the last step of a part, if that is something else.
    at_edge: Option<Lambda>,
    /// For a reduction, what there is so far for each chain, and the arrays with the totals of pieces.
    sums: Vec<String>,
    totals: Vec<String>,
}

/// The rows of a piece that chains are made of: the first one, and how many there are in each.
struct Rows<'a> {
    from: &'a str,
    first: String,
    length: String,
    to: &'a str,
    /// How far it is to the piece that the same thread has next, more or less.
    ahead: String,
}

/// What goes over the rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Total,
    Results,
}

/// Where a row is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowPosition {
    Border,
    Middle,
    /// The last one of a part, if that is not like the others.
    Edge,
}

impl Lower<'_> {
    pub(super) fn scan(&mut self, pat: &[Param], fold: &Fold<'_>) -> Lowered<()> {
        self.remark_fused(fold.pre);
        match self.following.take() {
            Some(group) => self.scan_in_pieces(pat, fold, group),
            None => self.fold_in_order(pat, fold.width, (fold.arrays, fold.pre), fold.op, fold.neutral, true),
        }
    }

    /// Memory for what a scan and what follows it give.
    fn allocate_for_scan(&mut self, pat: &[Param], fold: &Fold<'_>, group: &mut Group) -> Lowered<()> {
        for (param, kept) in pat.iter().zip(&mut group.kept) {
            self.bind(param, false);
            if matches!(kept, RowState::Nowhere) && keeps_rows(fold) {
                *kept = RowState::Forwards(param.clone());
            }
            if let (RowState::Forwards(array) | RowState::Backwards(array), false) =
                (&kept, group.are_together)
            {
                self.bind(array, true);
                self.allocate_scanned(array, group.over.as_ref())?;
            }
        }
        if group.are_together {
            self.allocate_together(pat, fold.width)?;
        }
        if !group.followers.is_empty() {
            self.remark(RemarkKind::Fused, "what is made of a row of the scan is made at once");
        }
        for follower in &group.followers {
            for param in &follower.pat {
                self.bind(param, true);
                match follower.work {
                    Work::Map(_) => self.allocate_scanned(param, group.over.as_ref())?,
                    Work::Reduce { .. } => self.declare(param),
                }
            }
        }
        Ok(())
    }

    fn scan_in_pieces(&mut self, pat: &[Param], fold: &Fold<'_>, mut group: Group) -> Lowered<()> {
        self.allocate_for_scan(pat, fold, &mut group)?;
        let Group { kept, followers, over, .. } = group;
        let bound = self.atom(fold.width);
        self.block(|l| {
            let lambdas = fold.pre.into_iter().chain([fold.op]);
            let lambdas: Vec<_> = lambdas.chain(followers.iter().flat_map(|f| f.work.lambdas())).collect();
            let grain = l.grain(&bound, &lambdas);
            let before = l.part_arrays(fold.op)?;
            let ready = l.temp("ready");
            l.line(format!("char {ready}_room[{}] = {{1}};", super::folds::MAX_PIECES));
            l.set("char *", ready.as_str(), format!("{ready}_room"));
            for (part, value) in before.iter().zip(fold.neutral) {
                let value = l.atom(*value);
                l.line(format!("{part}[0] = {value};"));
            }
            let mut following = Vec::new();
            for follower in &followers {
                let totals = match &follower.work {
                    Work::Map(_) => Vec::new(),
                    Work::Reduce { op, .. } => l.part_arrays(op)?,
                };
                let middle = l.middle_of_follower(fold.width, follower);
                let at_edge = match (&follower.work, &over) {
                    (Work::Map(lambda), Some(over)) => Some(with_edges(lambda, &over.edges)),
                    (Work::Map(_), None) | (Work::Reduce { .. }, _) => None,
                };
                following.push(Following { follower, middle, at_edge, sums: Vec::new(), totals });
            }
            let middle = fold.pre.and_then(|pre| {
                let counters = l.counters(fold.arrays, &pre.params);
                interior(&l.symbols, fold.width, pre, &counters)
            });
            let is_safe = !lambdas.iter().any(|lambda| lambda.body.stms.iter().any(|stm| can_fail(&stm.exp)));
            let is_wide = is_safe && fold.neutral.len() >= WIDE;
            let needed = needed_components(fold.op, &kept, &followers);
            let edges = over.iter().flat_map(|over| &over.edges);
            let edges: Vec<(&Edge, String)> = edges.map(|edge| (edge, l.temp("edge"))).collect();
            let mut scan = Scan {
                fold,
                middle,
                kept: &kept,
                followers: following,
                edges,
                bound: bound.clone(),
                chains: Vec::new(),
                needed,
                is_wide,
            };
            l.pieces_in_order(&bound, &grain, |l, from, to| {
                l.scan_piece(&mut scan, (from, to), &grain, &before, &ready)
            })?;
            for Following { follower, totals, .. } in &scan.followers {
                if let Work::Reduce { op, neutral, .. } = &follower.work {
                    l.block(|l| {
                        l.combine_parts(&follower.pat, (op, neutral), totals, (&scan.bound, &grain))
                    })?;
                }
            }
            Ok(())
        })
    }

    /// Memory for a result.
    fn allocate_scanned(&mut self, param: &Param, over: Option<&Over>) -> Lowered<()> {
        match over.filter(|over| over.target == param.var) {
            Some(over) => self.allocate_over(param, &over.sources),
            None => self.allocate(param),
        }
    }

    /// Memory for all results, with those for one row next to each other. Each of them has a reference to it.
    fn allocate_together(&mut self, pat: &[Param], width: Atom) -> Lowered<()> {
        let (Some(first), count) = (pat.first(), pat.len()) else { return Ok(()) };
        let elem = elem(&first.ty)?;
        let ty = Type::array(elem, vec![width, Atom::i64(count as i64)]);
        for all in &self.unnamed(&[ty]) {
            self.bind(all, true);
            self.allocate_new(all)?;
            let source = self.name(all.var);
            for (position, param) in pat.iter().enumerate() {
                let name = self.name(param.var);
                self.set_array(elem, &name, &format!("{source} + {position}"), &format!("{source}_mem"));
                if position > 0 {
                    self.line(format!("dz_retain(ctx, {name}_mem);"));
                }
                self.bind_as(param, Form::View { strides: vec![format!("{count}L")] });
                self.pointers.insert(param.var, (all.var, position.to_string()));
                self.sharing.insert(param.var);
            }
        }
        Ok(())
    }

    fn scan_piece(
        &mut self,
        scan: &mut Scan<'_>,
        (from, to): (&str, &str),
        grain: &str,
        before: &[String],
        ready: &str,
    ) -> Lowered<()> {
        let fold = scan.fold;
        let (left, right) = fold.sides();
        let piece = self.temp("piece");
        self.set("i64", piece.as_str(), format!("{from} / {grain}"));
        let rows = self.rows_of_chains(scan, (from, to), grain);
        scan.chains = self.chain_arrays(left)?;
        match sum_operators(fold.op) {
            Some(_) => self.totals_one_by_one(scan, &rows)?,
            None => {
                self.start_chains(&scan.chains, &piece_start(fold.op, fold.neutral))?;
                self.all_chains(scan, Pass::Total, &rows)?;
            }
        }
        self.line(format!("if (dz_wait_for(ctx, {ready}, {piece})) return 1;"));
        for (part, param) in before.iter().zip(left) {
            self.bind(param, true);
            let name = self.name(param.var);
            self.set(elem(&param.ty)?.to_string(), name, format!("{part}[{piece}]"));
        }
        // Every chain begins with what there is before it.
        self.for_loop(LoopKind::Sequential, &PARTS.to_string(), |l, part| {
            for ((chain, sum), total) in scan.chains.iter().zip(left).zip(right) {
                l.bind(total, true);
                let (name, sum, ty) = (l.name(total.var), l.name(sum.var), elem(&total.ty)?);
                l.set(ty.to_string(), name, format!("{chain}[{part}]"));
                l.line(format!("{chain}[{part}] = {sum};"));
            }
            l.combine(fold.op)
        })?;
        for (part, param) in before.iter().zip(left) {
            let sum = self.name(param.var);
            self.line(format!("{part}[{piece} + 1] = {sum};"));
        }
        self.read_edges(scan, &rows)?;
        self.line(format!("__atomic_store_n(&{ready}[{piece} + 1], 1, __ATOMIC_RELEASE);"));
        self.start_following(scan)?;
        self.all_chains(scan, Pass::Results, &rows)?;
        self.finish_following(scan, &piece)
    }

    /// Reads what the last steps of parts need from the first rows of others, before those are overwritten.
    fn read_edges(&mut self, scan: &Scan<'_>, Rows { first, length, to, .. }: &Rows<'_>) -> Lowered<()> {
        if scan.edges.is_empty() {
            return Ok(());
        }
        for (edge, name) in &scan.edges {
            self.line(format!("{} {name}[{PARTS}];", elem(&edge.param.ty)?));
        }
        self.for_loop(LoopKind::Sequential, &PARTS.to_string(), |l, part| {
            let row = l.temp("row");
            let end = format!("{part} <= {CHAINS} ? {first} + {part} * {length} : {to}");
            l.set("i64", row.as_str(), format!("{} - 1 - ({end})", scan.bound));
            for (edge, name) in &scan.edges {
                let element = l.element(edge.source, &[format!("i64_max({row}, 0)")])?;
                l.line(format!("{name}[{part}] = {element};"));
            }
            Ok(())
        })
    }

    /// The function of an operation that follows, away from the border.
    fn middle_of_follower(&self, width: Atom, follower: &Follower) -> Option<Interior> {
        let lambda = match &follower.work {
            Work::Map(lambda) => lambda,
            Work::Reduce { pre, .. } => pre.as_ref()?,
        };
        interior(&self.symbols, width, lambda, &self.counters_of_follower(follower, lambda))
    }

    /// The parameters of the function of an operation that follows which hold the number of its row.
    pub(super) fn counters_of_follower(&self, follower: &Follower, lambda: &Lambda) -> HashSet<VarId> {
        let mut counters = HashSet::new();
        for (input, param) in follower.inputs.iter().zip(&lambda.params) {
            if let Input::Array(array) = input {
                counters.extend(self.counters(&[*array], std::slice::from_ref(param)));
            }
        }
        counters
    }

    /// Cuts a piece into chains, which are away from the border.
    fn rows_of_chains<'a>(
        &mut self,
        scan: &Scan<'_>,
        (from, to): (&'a str, &'a str),
        grain: &str,
    ) -> Rows<'a> {
        let (first, last, length) = (self.temp("first"), self.temp("last"), self.temp("length"));
        self.set("i64", first.as_str(), from);
        self.set("i64", last.as_str(), to);
        let followers = scan.followers.iter().map(|f| (f.middle.as_ref(), f.follower.is_backwards));
        for (middle, is_backwards) in [(scan.middle.as_ref(), false)].into_iter().chain(followers) {
            let Some(middle) = middle else { continue };
            let sides =
                [(&first, "i64_max", &middle.from, &middle.to), (&last, "i64_min", &middle.to, &middle.from)];
            for (name, function, forwards, backwards) in sides {
                for (atom, number) in if is_backwards { backwards } else { forwards } {
                    let place = format!("dz_plus({}, {number}L)", self.atom(*atom));
                    let place = match is_backwards {
                        true => format!("{} - i64_max({place}, 0)", scan.bound),
                        false => place,
                    };
                    self.line(format!("{name} = {function}({name}, {place});"));
                }
            }
        }
        self.line(format!("if ({first} >= {last}) {first} = {last} = {to};"));
        self.set("i64", length.as_str(), format!("({last} - {first}) / {CHAINS}"));
        Rows { from, first, length, to, ahead: format!("{grain} * ctx->threads") }
    }

    /// An array for each of the parameters, with an element for each part.
    fn chain_arrays(&mut self, params: &[Param]) -> Lowered<Vec<String>> {
        let mut chains = Vec::new();
        for param in params {
            let chain = self.temp("chain");
            self.line(format!("{} {chain}[{PARTS}];", elem(&param.ty)?));
            chains.push(chain);
        }
        Ok(chains)
    }

    /// Has all parts begin with these values.
    fn start_chains(&mut self, chains: &[String], values: &[Atom]) -> Lowered<()> {
        self.for_loop(LoopKind::Sequential, &PARTS.to_string(), |l, part| {
            for (chain, value) in chains.iter().zip(values) {
                let value = l.atom(*value);
                l.line(format!("{chain}[{part}] = {value};"));
            }
            Ok(())
        })
    }

    /// The totals of all parts, each as fast as vector units can.
    fn totals_one_by_one(&mut self, scan: &Scan<'_>, rows: &Rows<'_>) -> Lowered<()> {
        let fold = scan.fold;
        let (left, right) = fold.sides();
        let nothing = piece_start(fold.op, fold.neutral);
        let Rows { from, first, length, to, .. } = rows;
        self.for_loop(LoopKind::Sequential, &PARTS.to_string(), |l, part| {
            let (start, end) = (l.temp("start"), l.temp("end"));
            l.set("i64", start.as_str(), format!("{part} ? {first} + ({part} - 1) * {length} : {from}"));
            let after = format!("{part} <= {CHAINS} ? {start} + {length} : {to}");
            l.set("i64", end.as_str(), format!("{part} ? {after} : {first}"));
            l.fold_piece(fold, &nothing, (&start, &end), true, &mut |l, i| {
                if keeps_rows(fold) { l.keep(scan, right, i) } else { Ok(()) }
            })?;
            for (chain, param) in scan.chains.iter().zip(left) {
                let sum = l.name(param.var);
                l.line(format!("{chain}[{part}] = {sum};"));
            }
            Ok(())
        })
    }

    /// Goes over the rows of a piece, with a step of each chain at a time.
    fn all_chains(&mut self, scan: &Scan<'_>, pass: Pass, rows: &Rows<'_>) -> Lowered<()> {
        let Rows { from, first, length, to, ahead } = rows;
        let (kind, after) = (LoopKind::Sequential, (PARTS - 1).to_string());
        let has_edges = pass == Pass::Results && !scan.edges.is_empty();
        let before_edge = |end: &str| if has_edges { format!("{end} - 1") } else { end.to_string() };
        self.loop_from(kind.clone(), from, &before_edge(first), |l, i| {
            l.chain_step(scan, pass, (i, "0"), RowPosition::Border)
        })?;
        self.loop_from(kind.clone(), "0", &before_edge(length), |l, j| {
            let kind = match scan.is_wide {
                true => LoopKind::SIMD,
                false => {
                    l.line(format!("#pragma GCC unroll {CHAINS}"));
                    LoopKind::Sequential
                }
            };
            l.for_loop(kind, &CHAINS.to_string(), |l, chain| {
                let place = format!("{first} + {chain} * {length} + {j}");
                l.chain_step(scan, pass, (&place, &format!("{chain} + 1")), RowPosition::Middle)
            })?;
            if scan.is_wide {
                let sums = scan.followers.iter().flat_map(|following| &following.sums);
                let later = (pass == Pass::Results).then_some((first.as_str(), ahead.as_str()));
                l.with_tiles(CHAINS, scan.chains.iter().chain(sums).cloned(), later);
            }
            Ok(())
        })?;
        let rest = format!("{first} + {CHAINS} * {length}");
        self.loop_from(kind.clone(), &rest, &before_edge(to), |l, i| {
            l.chain_step(scan, pass, (i, &after), RowPosition::Border)
        })?;
        if !has_edges {
            return Ok(());
        }
        self.for_loop(kind, &PARTS.to_string(), |l, part| {
            let (start, end) = (l.temp("start"), l.temp("end"));
            l.set("i64", start.as_str(), format!("{part} ? {first} + ({part} - 1) * {length} : {from}"));
            let after = format!("{part} <= {CHAINS} ? {start} + {length} : {to}");
            l.set("i64", end.as_str(), format!("{part} ? {after} : {first}"));
            let (step, ()) =
                l.nested(|l| l.chain_step(scan, pass, (&format!("{end} - 1"), part), RowPosition::Edge))?;
            l.out.push(Imp::If { cond: format!("{start} < {end}"), then: step, otherwise: Vec::new() });
            Ok(())
        })
    }

    /// Goes on with one chain of a scan.
    fn chain_step(
        &mut self,
        scan: &Scan<'_>,
        pass: Pass,
        (row, part): (&str, &str),
        place: RowPosition,
    ) -> Lowered<()> {
        let fold = scan.fold;
        let (left, right) = fold.sides();
        let i = self.temp("at");
        self.set("i64", i.as_str(), row);
        if pass == Pass::Results && keeps_rows(fold) {
            for (kept, value) in scan.kept.iter().zip(right) {
                self.bind(value, true);
                let (source, name) = (self.kept_at(scan, kept, &i)?, self.name(value.var));
                self.set(elem(&value.ty)?.to_string(), name, source.unwrap_or_default());
            }
        } else {
            let pre = fold.pre.map(|pre| in_place(pre, scan.middle.as_ref(), place));
            self.next_row(fold.arrays, pre, right, &i)?;
        }
        if pass == Pass::Total && keeps_rows(fold) {
            self.keep(scan, right, &i)?;
        }
        for (chain, param) in scan.chains.iter().zip(left) {
            self.bind(param, true);
            let name = self.name(param.var);
            self.set(elem(&param.ty)?.to_string(), name, format!("{chain}[{part}]"));
        }
        self.combine(fold.op)?;
        for ((sum, chain), is_needed) in left.iter().zip(&scan.chains).zip(&scan.needed) {
            if *is_needed || pass == Pass::Total {
                let sum = self.name(sum.var);
                self.line(format!("{chain}[{part}] = {sum};"));
            }
        }
        if pass == Pass::Results {
            self.keep(scan, left, &i)?;
            for following in &scan.followers {
                self.block(|l| l.follow_row(scan, following, (&i, part), place))?;
            }
        }
        Ok(())
    }

    /// Where a result for row `i` goes.
    fn kept_at(&self, scan: &Scan<'_>, kept: &RowState, i: &str) -> Lowered<Option<String>> {
        Ok(match kept {
            RowState::Nowhere => None,
            RowState::Forwards(array) => Some(self.element(array.var, &[i.to_string()])?),
            RowState::Backwards(array) => Some(format!("{}[{} - 1 - {i}]", self.name(array.var), scan.bound)),
        })
    }

    /// Writes row `i` where the results go, as far as they are kept.
    fn keep(&mut self, scan: &Scan<'_>, values: &[Param], i: &str) -> Lowered<()> {
        for (kept, value) in scan.kept.iter().zip(values) {
            if let Some(target) = self.kept_at(scan, kept, i)? {
                let value = self.name(value.var);
                self.line(format!("{target} = {value};"));
            }
        }
        Ok(())
    }

    /// Sets up what reductions of the rows have so far.
    fn start_following(&mut self, scan: &mut Scan<'_>) -> Lowered<()> {
        for following in &mut scan.followers {
            let Work::Reduce { op, neutral, .. } = &following.follower.work else { continue };
            following.sums = self.chain_arrays(&op.params[..neutral.len().min(op.params.len())])?;
            self.start_chains(&following.sums, &piece_start(op, neutral))?;
        }
        Ok(())
    }

    /// Hands row `i` of a scan to an operation that follows.
    fn follow_row(
        &mut self,
        scan: &Scan<'_>,
        following: &Following<'_>,
        (i, part): (&str, &str),
        place: RowPosition,
    ) -> Lowered<()> {
        let follower = following.follower;
        let i = match follower.is_backwards {
            true => {
                let back = self.temp("back");
                self.set("i64", back.as_str(), format!("{} - 1 - {i}", scan.bound));
                back
            }
            false => i.to_string(),
        };
        match &follower.work {
            Work::Map(lambda) => {
                let lambda = match (place, &following.at_edge) {
                    (RowPosition::Edge, Some(at_edge)) => at_edge,
                    _ => in_place(lambda, following.middle.as_ref(), place),
                };
                if place == RowPosition::Edge {
                    self.load_edges(scan, part)?;
                }
                self.load_following(scan, follower, &lambda.params, &i)?;
                self.body(&lambda.body, &lambda.params, |l| l.write_results(&follower.pat, lambda, &i, &[]))
            }
            Work::Reduce { pre, op, neutral } => {
                let (left, right) = op.params.split_at(neutral.len().min(op.params.len()));
                let pre = pre.as_ref().map(|pre| in_place(pre, following.middle.as_ref(), place));
                self.next_row_by(pre, right, |l, params| l.load_following(scan, follower, params, &i))?;
                for (sum, param) in following.sums.iter().zip(left) {
                    self.bind(param, true);
                    let name = self.name(param.var);
                    self.set(elem(&param.ty)?.to_string(), name, format!("{sum}[{part}]"));
                }
                self.combine(op)?;
                for (sum, param) in following.sums.iter().zip(left) {
                    let value = self.name(param.var);
                    self.line(format!("{sum}[{part}] = {value};"));
                }
                Ok(())
            }
        }
    }

    fn load_edges(&mut self, scan: &Scan<'_>, part: &str) -> Lowered<()> {
        for (edge, name) in &scan.edges {
            self.bind(&edge.param, false);
            let param = self.name(edge.param.var);
            self.set(elem(&edge.param.ty)?.to_string(), param, format!("{name}[{part}]"));
        }
        Ok(())
    }

    fn load_following(
        &mut self,
        scan: &Scan<'_>,
        follower: &Follower,
        params: &[Param],
        i: &str,
    ) -> Lowered<()> {
        let (left, _) = scan.fold.sides();
        for (input, param) in follower.inputs.iter().zip(params) {
            match input {
                Input::Array(array) => self.load_row(&[*array], std::slice::from_ref(param), i)?,
                Input::Component(component) => {
                    self.bind(param, false);
                    let (name, value) = (self.name(param.var), self.name(left[*component].var));
                    self.set(elem(&param.ty)?.to_string(), name, value);
                }
            }
        }
        Ok(())
    }

    /// The totals of a piece, for reductions of the rows.
    fn finish_following(&mut self, scan: &Scan<'_>, piece: &str) -> Lowered<()> {
        for following in &scan.followers {
            let Work::Reduce { op, neutral, .. } = &following.follower.work else { continue };
            let (left, right) = op.params.split_at(neutral.len().min(op.params.len()));
            self.block(|l| {
                for (sum, param) in following.sums.iter().zip(left) {
                    l.bind(param, true);
                    let name = l.name(param.var);
                    l.set(elem(&param.ty)?.to_string(), name, format!("{sum}[0]"));
                }
                l.loop_from(LoopKind::Sequential, "1", &PARTS.to_string(), |l, part| {
                    for (sum, param) in following.sums.iter().zip(right) {
                        l.bind(param, true);
                        let name = l.name(param.var);
                        l.set(elem(&param.ty)?.to_string(), name, format!("{sum}[{part}]"));
                    }
                    l.combine(op)
                })?;
                for (total, param) in following.totals.iter().zip(left) {
                    let value = l.name(param.var);
                    l.line(format!("{total}[{piece}] = {value};"));
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// What is made of a row there.
fn in_place<'a>(lambda: &'a Lambda, middle: Option<&'a Interior>, place: RowPosition) -> &'a Lambda {
    match (place, middle) {
        (RowPosition::Middle, Some(middle)) => &middle.lambda,
        (RowPosition::Middle, None) | (RowPosition::Border | RowPosition::Edge, _) => lambda,
    }
}

/// Which components of a scan its results depend on: those that are kept or used, and what these are computed from.
fn needed_components(op: &Lambda, kept: &[RowState], followers: &[Follower]) -> Vec<bool> {
    let is_used = |component: usize| {
        let inputs = followers.iter().flat_map(|follower| &follower.inputs);
        !matches!(kept[component], RowState::Nowhere)
            || inputs.into_iter().any(|input| matches!(input, Input::Component(used) if *used == component))
    };
    let mut needed: Vec<bool> = (0..kept.len()).map(is_used).collect();
    loop {
        let results = op.body.result.iter().zip(&needed).filter(|(_, is_needed)| **is_needed);
        let mut read: HashSet<VarId> = results.filter_map(|(result, _)| result.as_var()).collect();
        for stm in op.body.stms.iter().rev() {
            if stm.pat.iter().any(|param| read.contains(&param.var)) {
                read.extend(visit::free_vars(&stm.exp));
            }
        }
        let now: Vec<bool> = op
            .params
            .iter()
            .zip(&needed)
            .map(|(param, is_needed)| *is_needed || read.contains(&param.var))
            .collect();
        if now == needed {
            return needed;
        }
        needed = now;
    }
}
