//! Scans of scalars, in pieces that run on threads.
//!
//! Every piece is folded; then it waits for what there is before it, hands on what there is after it, and scans its rows,
//! which are in the cache by now. Both are done for several parts of the piece at the same time, the chains: one alone would
//! wait for the result of every step. Rows at the border of the scan (see [`super::split_iteration_range`]) come before and after the
//! chains, and so do those that are left over.

mod consumers;
pub(in crate::lower) mod epilogues;
mod in_place;

use dagaz_core::effects::can_fail;
use dagaz_core::exp::Lambda;
use dagaz_core::machine;
use dagaz_core::prim::BinOp;
use dagaz_core::types::{Atom, Param, Type};

use self::consumers::needed_components;
use self::epilogues::{Follower, Group, RowState, Work};
use self::in_place::{Edge, Over, with_edges};
use super::folds::{Fold, keeps_rows, piece_start, sum_operators};
use super::split_iteration_range::{Interior, interior};
use super::{Form, Lower, Lowered, elem};
use crate::RemarkKind;
use crate::imp::{Expr, LoopKind, Operand, Repr, Runtime, StackArray, Stm, Var};

/// What is before and after the chains, and they themselves.
const PARTS: usize = machine::SCAN_CHAINS + 2;

/// A scan at work.
struct Scan<'a> {
    fold: &'a Fold<'a>,
    /// What is made of a row away from the border, if it is simpler there.
    middle: Option<Interior>,
    kept: &'a [RowState],
    followers: Vec<Following<'a>>,
    /// The rows that the last steps of parts need from others, and the arrays with an element for each part.
    edges: Vec<(&'a Edge, Var)>,
    bound: Expr,
    /// The values of the chains, for each component.
    chains: Vec<Var>,
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
    sums: Vec<Var>,
    totals: Vec<Var>,
}

/// The rows of a piece that chains are made of: the first one, and how many there are in each.
struct Rows<'a> {
    from: &'a Expr,
    first: Var,
    length: Var,
    to: &'a Expr,
    /// How far it is to the piece that the same thread has next, more or less.
    ahead: Expr,
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
        match self.groups.following.take() {
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
            let ready = l.flags_of_pieces();
            for (part, value) in before.iter().zip(fold.neutral) {
                l.write(part, 0, l.atom(*value));
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
                interior(&l.scope.symbols, fold.width, pre, &counters)
            });
            let is_safe = !lambdas.iter().any(|lambda| lambda.body.stms.iter().any(|stm| can_fail(&stm.exp)));
            let is_wide = is_safe && fold.neutral.len() >= machine::WIDE_COMPONENTS;
            let needed = needed_components(fold.op, &kept, &followers);
            let mut edges: Vec<(&Edge, Var)> = Vec::new();
            for edge in over.iter().flat_map(|over| &over.edges) {
                edges.push((edge, l.temp(Repr::pointer(elem(&edge.param.ty)?), "edge")));
            }
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

    /// For each piece, whether what comes before it is known.
    fn flags_of_pieces(&mut self) -> Var {
        let ready = self.temp(Repr::Flags, "ready");
        let room = Var::new(Repr::Flags, format!("{ready}_room"));
        self.out.push(Stm::StackArray(StackArray {
            values: vec![1.expr()],
            ..StackArray::of(&room, machine::MOST_PIECES)
        }));
        self.set(&ready, room);
        ready
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
            let source = self.var_of(all)?;
            for (position, param) in pat.iter().enumerate() {
                self.set_array(&self.var_of(param)?, &source + position, self.mem(all.var));
                if position > 0 {
                    self.retain(&self.mem(param.var));
                }
                self.bind_as(param, Form::View { strides: vec![count.expr()] });
                self.memory.pointers.insert(param.var, (all.var, position.expr()));
                self.memory.sharing.insert(param.var);
            }
        }
        Ok(())
    }

    fn scan_piece(
        &mut self,
        scan: &mut Scan<'_>,
        (from, to): (&Expr, &Expr),
        grain: &Var,
        before: &[Var],
        ready: &Var,
    ) -> Lowered<()> {
        let fold = scan.fold;
        let (left, right) = fold.sides();
        let piece = self.int("piece", from / grain);
        let rows = self.rows_of_chains(scan, (from, to), grain);
        scan.chains = self.chain_arrays(left)?;
        match sum_operators(fold.op) {
            Some(_) => self.totals_one_by_one(scan, &rows)?,
            None => {
                self.start_chains(&scan.chains, &piece_start(fold.op, fold.neutral))?;
                self.all_chains(scan, Pass::Total, &rows)?;
            }
        }
        self.attempt(Runtime::WaitFor, [ready.expr(), piece.expr()]);
        self.bind_elements(left, before, &piece)?;
        // Every chain begins with what there is before it.
        self.for_loop(LoopKind::Sequential, PARTS, |l, part| {
            for ((chain, sum), total) in scan.chains.iter().zip(left).zip(right) {
                l.bind(total, true);
                l.set(&l.var_of(total)?, chain.at(part));
                l.write(chain, part, l.var_of(sum)?);
            }
            l.combine(fold.op)
        })?;
        self.write_elements_to(before, &piece + 1, left)?;
        self.read_edges(scan, &rows)?;
        self.run(Runtime::Raise, [ready.expr(), &piece + 1]);
        self.start_following(scan)?;
        self.all_chains(scan, Pass::Results, &rows)?;
        self.finish_following(scan, &piece)
    }

    /// Reads what the last steps of parts need from the first rows of others, before those are overwritten.
    fn read_edges(&mut self, scan: &Scan<'_>, Rows { first, length, to, .. }: &Rows<'_>) -> Lowered<()> {
        if scan.edges.is_empty() {
            return Ok(());
        }
        for (_, rows) in &scan.edges {
            self.out.push(Stm::StackArray(StackArray::of(rows, PARTS)));
        }
        self.for_loop(LoopKind::Sequential, PARTS, |l, part| {
            let end = part.is_at_most(machine::SCAN_CHAINS).select(first + part * length, *to);
            let row = l.int("row", &scan.bound - 1 - end);
            for (edge, rows) in &scan.edges {
                let element = l.element(edge.source, &[row.maximum(0)])?;
                l.write(rows, part, element);
            }
            Ok(())
        })
    }

    /// Cuts a piece into chains, which are away from the border.
    fn rows_of_chains<'a>(
        &mut self,
        scan: &Scan<'_>,
        (from, to): (&'a Expr, &'a Expr),
        grain: &Var,
    ) -> Rows<'a> {
        let (first, last) = (self.int("first", from), self.int("last", to));
        let followers = scan.followers.iter().map(|f| (f.middle.as_ref(), f.follower.is_backwards));
        for (middle, is_backwards) in [(scan.middle.as_ref(), false)].into_iter().chain(followers) {
            let Some(middle) = middle else { continue };
            let sides = [
                (&first, BinOp::Max, &middle.from, &middle.to),
                (&last, BinOp::Min, &middle.to, &middle.from),
            ];
            for (limit, op, forwards, backwards) in sides {
                for (atom, number) in if is_backwards { backwards } else { forwards } {
                    let place = Expr::call(Runtime::SaturatingSum, [self.atom(*atom), number.expr()]);
                    let place = match is_backwards {
                        true => &scan.bound - place.maximum(0),
                        false => place,
                    };
                    self.put(limit, limit.op(op, place));
                }
            }
        }
        self.leave_out(first.is_at_least(&last), [&first, &last], to);
        let length = self.int("length", (&last - &first) / machine::SCAN_CHAINS);
        Rows { from, first, length, to, ahead: grain * Expr::call(Runtime::CountThreads, []) }
    }

    /// An array for each of the parameters, with an element for each part.
    fn chain_arrays(&mut self, params: &[Param]) -> Lowered<Vec<Var>> {
        let mut chains = Vec::new();
        for param in params {
            chains.push(self.stack_array(elem(&param.ty)?, "chain", PARTS));
        }
        Ok(chains)
    }

    /// Has all parts begin with these values.
    fn start_chains(&mut self, chains: &[Var], values: &[Atom]) -> Lowered<()> {
        self.for_loop(LoopKind::Sequential, PARTS, |l, part| {
            for (chain, value) in chains.iter().zip(values) {
                l.write(chain, part, l.atom(*value));
            }
            Ok(())
        })
    }

    /// The totals of all parts, each as fast as vector units can.
    fn totals_one_by_one(&mut self, scan: &Scan<'_>, rows: &Rows<'_>) -> Lowered<()> {
        let fold = scan.fold;
        let (left, right) = fold.sides();
        let nothing = piece_start(fold.op, fold.neutral);
        self.for_loop(LoopKind::Sequential, PARTS, |l, part| {
            let (start, end) = l.rows_of_part(rows, part);
            l.fold_piece(fold, &nothing, (&start.expr(), &end.expr()), true, &mut |l, i| {
                if keeps_rows(fold) { l.keep(scan, right, i) } else { Ok(()) }
            })?;
            l.write_elements_to(&scan.chains, part, left)
        })
    }

    /// The first row of a part of a piece, and the one after its last.
    fn rows_of_part(&mut self, rows: &Rows<'_>, part: &Var) -> (Var, Var) {
        let Rows { from, first, length, to, .. } = rows;
        let is_first = part.equals(0);
        let start = self.int("start", is_first.select(*from, first + (part - 1) * length));
        let after = part.is_at_most(machine::SCAN_CHAINS).select(&start + length, *to);
        let end = self.int("end", is_first.select(first, after));
        (start, end)
    }

    /// Goes over the rows of a piece, with a step of each chain at a time.
    fn all_chains(&mut self, scan: &Scan<'_>, pass: Pass, rows: &Rows<'_>) -> Lowered<()> {
        let Rows { from, first, length, to, ahead } = rows;
        let has_edges = pass == Pass::Results && !scan.edges.is_empty();
        let before_edge = |end: Expr| if has_edges { end - 1 } else { end };
        self.loop_from(LoopKind::Sequential, *from, before_edge(first.expr()), |l, i| {
            l.chain_step(scan, pass, (i.expr(), 0.expr()), RowPosition::Border)
        })?;
        self.for_loop(LoopKind::Sequential, before_edge(length.expr()), |l, j| {
            let kind = if scan.is_wide { LoopKind::SIMD } else { LoopKind::Unrolled(machine::SCAN_CHAINS) };
            l.for_loop(kind, machine::SCAN_CHAINS, |l, chain| {
                l.chain_step(scan, pass, (first + chain * length + j, chain + 1), RowPosition::Middle)
            })?;
            if scan.is_wide {
                let sums = scan.followers.iter().flat_map(|following| &following.sums);
                let later = (pass == Pass::Results).then_some((first, ahead));
                l.with_tiles(machine::SCAN_CHAINS, scan.chains.iter().chain(sums), later);
            }
            Ok(())
        })?;
        let rest = first + length * machine::SCAN_CHAINS;
        self.loop_from(LoopKind::Sequential, rest, before_edge((*to).clone()), |l, i| {
            l.chain_step(scan, pass, (i.expr(), (PARTS - 1).expr()), RowPosition::Border)
        })?;
        if !has_edges {
            return Ok(());
        }
        self.for_loop(LoopKind::Sequential, PARTS, |l, part| {
            let (start, end) = l.rows_of_part(rows, part);
            let (step, ()) =
                l.nested(|l| l.chain_step(scan, pass, (&end - 1, part.expr()), RowPosition::Edge))?;
            l.out.push(Stm::when(start.is_below(&end), step));
            Ok(())
        })
    }

    /// Goes on with one chain of a scan.
    fn chain_step(
        &mut self,
        scan: &Scan<'_>,
        pass: Pass,
        (row, part): (Expr, Expr),
        place: RowPosition,
    ) -> Lowered<()> {
        let fold = scan.fold;
        let (left, right) = fold.sides();
        let i = self.int("at", row);
        if pass == Pass::Results && keeps_rows(fold) {
            for (kept, value) in scan.kept.iter().zip(right) {
                self.bind(value, true);
                let source = self.kept_at(scan, kept, &i)?.ok_or("internal error: a row that nobody kept")?;
                self.set(&self.var_of(value)?, source);
            }
        } else {
            let pre = fold.pre.map(|pre| for_row(pre, scan.middle.as_ref(), place));
            self.next_row(fold.arrays, pre, right, &i)?;
        }
        if pass == Pass::Total && keeps_rows(fold) {
            self.keep(scan, right, &i)?;
        }
        self.bind_elements(left, &scan.chains, &part)?;
        self.combine(fold.op)?;
        for ((sum, chain), is_needed) in left.iter().zip(&scan.chains).zip(&scan.needed) {
            if *is_needed || pass == Pass::Total {
                self.write(chain, &part, self.var_of(sum)?);
            }
        }
        if pass == Pass::Results {
            self.keep(scan, left, &i)?;
            for following in &scan.followers {
                self.block(|l| l.follow_row(scan, following, (&i, &part), place))?;
            }
        }
        Ok(())
    }

    /// Where a result for row `i` goes.
    fn kept_at(&self, scan: &Scan<'_>, kept: &RowState, i: &Var) -> Lowered<Option<Expr>> {
        Ok(match kept {
            RowState::Nowhere => None,
            RowState::Forwards(array) => Some(self.element(array.var, &[i.expr()])?),
            RowState::Backwards(array) => Some(self.var_of(array)?.at(&scan.bound - 1 - i)),
        })
    }

    /// Writes row `i` where the results go, as far as they are kept.
    fn keep(&mut self, scan: &Scan<'_>, values: &[Param], i: &Var) -> Lowered<()> {
        for (kept, value) in scan.kept.iter().zip(values) {
            if let Some(Expr::Load(place)) = self.kept_at(scan, kept, i)? {
                let [pointer, place] = *place;
                self.write(pointer, place, self.var_of(value)?);
            }
        }
        Ok(())
    }
}

/// What is made of a row there.
fn for_row<'a>(lambda: &'a Lambda, middle: Option<&'a Interior>, place: RowPosition) -> &'a Lambda {
    match (place, middle) {
        (RowPosition::Middle, Some(middle)) => &middle.lambda,
        (RowPosition::Middle, None) | (RowPosition::Border | RowPosition::Edge, _) => lambda,
    }
}
