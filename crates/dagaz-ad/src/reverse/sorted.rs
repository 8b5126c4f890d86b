//! Reverse mode of `hist` with any operator, by sorting (thesis, section 3.4.2).
//!
//! Sorted by bins, the values of a bin are a segment, and the histogram is a segmented reduction that starts with what
//! was in the bin. So the rule of `reduce` serves, with segmented scans:
//!
//!     xs  = for each value, its bin when the value has come        rs = the combination of later values of its bin
//!     xs_ct = map (\x r bin -> adjoint of x in x ⊙ r for ys_ct[bin]) xs rs bins
//!
//! Radix sort takes a pass of a scan and a scatter for each bit of the number of bins. What is out of bounds comes
//! behind the others and is left out.

use dagaz_core::exp::{Body, Exp, Lambda, Loc, LoopForm, LoopHints};
use dagaz_core::prim::{BinOp, PrimType, UnOp};
use dagaz_core::types::{Atom, Type, VarId};

use crate::context::{Ad, Res};

use super::operator::{Cotangent, Fold, atoms};

/// A histogram of `m` bins in one dimension, where the key of each value is its bin, or `m`.
pub(crate) struct FlatBins<'a> {
    pub n: Atom,
    pub m: Atom,
    pub keys: VarId,
    pub values: Vec<VarId>,
    pub dests: Vec<VarId>,
    pub op: &'a Lambda,
    pub neutral: &'a [Atom],
    pub loc: Loc,
}

impl<'a> FlatBins<'a> {
    /// The values as a reduction.
    pub fn fold(&self) -> Fold<'_> {
        Fold { n: self.n, arrays: &self.values, op: self.op, neutral: self.neutral, loc: self.loc }
    }
}

/// What sorting gives.
pub(crate) struct SortedBins {
    /// The adjoints of the values, in their own order; none where they have none.
    pub adjoints: Vec<Option<Atom>>,
    /// The combinations of the values of each bin.
    pub totals: Vec<VarId>,
}

/// The values in the order of their bins.
struct Segments {
    /// Whether a value is the first or the last of its bin.
    firsts: VarId,
    lasts: VarId,
    values: Vec<VarId>,
    /// The first values combined with what was in their bins, and the other values.
    starts: Vec<VarId>,
}

impl Ad<'_> {
    /// The adjoints of values, and through the operator those of its free variables.
    pub fn sort_bins(&mut self, all: &FlatBins<'_>, cts: &[Option<VarId>]) -> Res<SortedBins> {
        let (rows, loc) = (&all.op.ret, all.loc);
        let (keys, order) = self.sorted_order(all)?;
        let n = self.within_bounds(all)?;
        let (keys, order) = (self.beginning(keys, n, loc), self.beginning(order, n, loc));
        let bins = &FlatBins { n, keys, values: all.values.clone(), dests: all.dests.clone(), ..*all };
        let segments = self.segments(bins, order)?;
        for (value, sorted) in bins.values.iter().zip(&segments.values) {
            if self.is_active_var(*value) {
                self.forward.active.insert(*sorted);
            }
        }
        let op = self.segmented(bins.op, false, loc)?;
        let neutral: Vec<Atom> = [Atom::bool(false)].iter().chain(bins.neutral).copied().collect();
        let arrays = [vec![segments.firsts], segments.starts.clone()].concat();
        let xs = self.scanned(n, arrays, op, neutral.clone(), loc).split_off(1);
        let lefts = self.lefts(bins, &segments, &xs)?;
        let op = self.segmented(bins.op, true, loc)?;
        let flagged = [vec![segments.lasts], segments.values.clone()].concat();
        let flagged_rows = [vec![Type::BOOL], rows.clone()].concat();
        let turned = self.reversed(n, &flagged, &flagged_rows, loc);
        let onwards = self.scanned(n, turned, op, neutral, loc).split_off(1);
        let onwards = self.reversed(n, &onwards, rows, loc);
        let rights = self.rights(bins, &segments, &onwards)?;
        let cts = self.cts_of_keys(bins, cts)?;
        let fold = Fold { arrays: &segments.values, ..bins.fold() };
        let reached = self.reached(&fold, &xs, &rights, &cts)?;
        self.rev_map(n, &[lefts, segments.values.clone()].concat(), bins.op, &reached, loc)?;
        let mut adjoints = Vec::new();
        for (sorted, row) in segments.values.iter().zip(rows) {
            let adjoint = self.take_adj(*sorted);
            adjoints.push(adjoint.map(|adjoint| self.unsorted(all.n, bins, order, adjoint, row)));
        }
        let totals = self.totals(bins, &segments, &onwards)?;
        Ok(SortedBins { adjoints, totals })
    }

    /// The keys in ascending order, and the numbers of the values in that order, which is otherwise their own.
    fn sorted_order(&mut self, bins: &FlatBins<'_>) -> Res<(VarId, VarId)> {
        let (n, loc) = (bins.n, bins.loc);
        let array = Type::array(PrimType::I64, vec![n]);
        let zeros = self.b.unop(UnOp::Clz, PrimType::I64, bins.m, loc);
        let zeros = self.b.convert(UnOp::Clz.result(PrimType::I64), PrimType::I64, zeros, loc);
        let bits = self.i64_op(BinOp::Sub, Atom::i64(64), zeros, loc);
        let empty = self.b.eq(PrimType::I64, n, Atom::i64(0), loc);
        let bound = self.select(empty, Type::I64, Atom::i64(0), bits, loc);
        let numbers = self.iota(n, loc);
        let order = self.param("order", array.clone());
        let counter = self.param("bit", Type::I64).var;
        let body = self.body(|ad| {
            let sorted = ad.sorted_by_bit(bins, order.var, numbers, counter.into())?;
            Ok(vec![sorted.into()])
        })?;
        let params = vec![(order, numbers.into())];
        let form = LoopForm::For { var: counter, ty: PrimType::I64, bound };
        let order =
            self.let_var("order", array, Exp::Loop { params, form, body, hints: LoopHints::NONE }, loc);
        let param = self.param("number", Type::I64);
        let number = param.var.into();
        let lambda = self.lambda(vec![param], vec![Type::I64], |ad| {
            Ok(ad.rows_at(&[bins.keys], &[Type::I64], &[number], loc))
        })?;
        Ok((self.mapped(n, vec![order], lambda, loc)[0], order))
    }

    /// The order with the numbers of keys that have the bit moved behind the others. There are values.
    fn sorted_by_bit(&mut self, bins: &FlatBins<'_>, order: VarId, numbers: VarId, bit: Atom) -> Res<VarId> {
        let (n, loc) = (bins.n, bins.loc);
        let array = Type::array(PrimType::I64, vec![n]);
        let is_set = |ad: &mut Self, number: Atom| {
            let key = ad.rows_at(&[bins.keys], &[Type::I64], &[number], loc)[0];
            let shifted = ad.i64_op(BinOp::Lshr, key, bit, loc);
            ad.i64_op(BinOp::And, shifted, Atom::i64(1), loc)
        };
        let param = self.param("number", Type::I64);
        let number = param.var.into();
        let pre = Some(self.lambda(vec![param], vec![Type::I64], |ad| Ok(vec![is_set(ad, number)]))?);
        let op = self.b.binop_lambda(BinOp::Add, PrimType::I64, loc);
        let scan = Exp::Scan { width: n, arrays: vec![order], pre, op, neutral: vec![Atom::i64(0)] };
        let counts = self.let_var("counts", array.clone(), scan, loc);
        let last = self.i64_op(BinOp::Sub, n, Atom::i64(1), loc);
        let all_set = self.rows_at(&[counts], &[Type::I64], &[last], loc)[0];
        let last_unset = self.i64_op(BinOp::Sub, last, all_set, loc);
        let params = self.params("x", &vec![Type::I64; 3]);
        let x = atoms(&params);
        let pre = self.lambda(params, vec![Type::I64; 2], |ad| {
            let set = is_set(ad, x[0]);
            let cond = ad.b.eq(PrimType::I64, set, Atom::i64(0), loc);
            let then = ad.body(|ad| Ok(vec![ad.i64_op(BinOp::Sub, x[2], x[1], loc)]))?;
            let otherwise = ad.body(|ad| Ok(vec![ad.i64_op(BinOp::Add, last_unset, x[1], loc)]))?;
            let place = ad.let_exp("place", Type::I64, Exp::If { cond, then, otherwise }, loc);
            Ok(vec![place, x[0]])
        })?;
        let exp = Exp::Scratch { elem: PrimType::I64, dims: vec![n] };
        let dests = vec![self.let_var("scratch", array.clone(), exp, loc)];
        let (arrays, shape) = (vec![order, counts, numbers], vec![n]);
        let exp = Exp::Scatter { width: n, arrays, pre: Some(pre), dests, shape };
        Ok(self.let_var("sorted", array, exp, loc))
    }

    /// How many keys are of bins.
    fn within_bounds(&mut self, bins: &FlatBins<'_>) -> Res<Atom> {
        let loc = bins.loc;
        let param = self.param("key", Type::I64);
        let key = param.var.into();
        let pre = self.lambda(vec![param], vec![Type::I64], |ad| {
            let inside = ad.less(key, bins.m, loc);
            Ok(vec![ad.select(inside, Type::I64, Atom::i64(1), Atom::i64(0), loc)])
        })?;
        let op = self.b.binop_lambda(BinOp::Add, PrimType::I64, loc);
        let (arrays, neutral) = (vec![bins.keys], vec![Atom::i64(0)]);
        let exp = Exp::Reduce { width: bins.n, arrays, pre: Some(pre), op, neutral, commutative: true };
        Ok(self.let_exp("inside", Type::I64, exp, loc))
    }

    /// The first `n` numbers.
    fn beginning(&mut self, numbers: VarId, n: Atom, loc: Loc) -> VarId {
        let exp = Exp::Slice { array: numbers, dims: vec![super::whole(n)] };
        self.let_var("beginning", Type::array(PrimType::I64, vec![n]), exp, loc)
    }

    fn segments(&mut self, bins: &FlatBins<'_>, order: VarId) -> Res<Segments> {
        let (n, keys, rows, loc) = (bins.n, bins.keys, &bins.op.ret, bins.loc);
        let none = [Atom::i64(-1)];
        let before = self.shifted(n, &[keys], &[Type::I64], &none, loc)[0];
        let after = self.advanced(n, &[keys], &[Type::I64], &none, loc)[0];
        let params = self.params("x", &vec![Type::I64; 4]);
        let x = atoms(&params);
        let ret = [vec![Type::BOOL; 2], rows.clone(), rows.clone()].concat();
        let lambda = self.lambda(params, ret, |ad| {
            let same = ad.b.eq(PrimType::I64, x[1], x[2], loc);
            let first = ad.b.not(same, loc);
            let same = ad.b.eq(PrimType::I64, x[1], x[3], loc);
            let last = ad.b.not(same, loc);
            let values = ad.rows_at(&bins.values, rows, &[x[0]], loc);
            let then = ad.body(|ad| {
                let dest = ad.rows_at(&bins.dests, rows, &[x[1]], loc);
                Ok(ad.applied(bins.op, &dest, &values))
            })?;
            let otherwise = Body { stms: Vec::new(), result: values.clone() };
            let starts = ad.let_exps("start", rows, Exp::If { cond: first, then, otherwise }, loc);
            let starts = starts.into_iter().map(Atom::from);
            Ok([first, last].into_iter().chain(values).chain(starts).collect())
        })?;
        let mut all = self.mapped(n, vec![order, keys, before, after], lambda, loc);
        let starts = all.split_off(2 + rows.len());
        let values = all.split_off(2);
        Ok(Segments { firsts: all[0], lasts: all[1], values, starts })
    }

    /// The operator on flags and values that starts again where the flag of the second operand is set.
    fn segmented(&mut self, op: &Lambda, flipped: bool, loc: Loc) -> Res<Lambda> {
        let rows = op.ret.clone();
        let ret = [vec![Type::BOOL], rows.clone()].concat();
        let params = self.params("x", &[ret.clone(), ret.clone()].concat());
        let all = atoms(&params);
        let (one, two) = all.split_at(ret.len());
        self.lambda(params, ret, |ad| {
            let flag = ad.b.or(one[0], two[0], loc);
            let then = Body { stms: Vec::new(), result: two[1..].to_vec() };
            let otherwise = ad.body(|ad| {
                let (left, right) = if flipped { (two, one) } else { (one, two) };
                Ok(ad.applied(op, &left[1..], &right[1..]))
            })?;
            let values = ad.let_exps("value", &rows, Exp::If { cond: two[0], then, otherwise }, loc);
            Ok([flag].into_iter().chain(values.into_iter().map(Atom::from)).collect())
        })
    }

    /// The bins just before each value.
    fn lefts(&mut self, bins: &FlatBins<'_>, segments: &Segments, xs: &[VarId]) -> Res<Vec<VarId>> {
        let (n, rows, loc) = (bins.n, &bins.op.ret, bins.loc);
        let before = self.shifted(n, xs, rows, bins.neutral, loc);
        let params = [self.params("x", &[Type::BOOL, Type::I64]), self.params("before", rows)].concat();
        let x = atoms(&params);
        let lambda = self.lambda(params, rows.clone(), |ad| {
            let then = ad.body(|ad| Ok(ad.rows_at(&bins.dests, rows, &x[1..2], loc)))?;
            let otherwise = Body { stms: Vec::new(), result: x[2..].to_vec() };
            let vars = ad.let_exps("left", rows, Exp::If { cond: x[0], then, otherwise }, loc);
            Ok(vars.into_iter().map(Atom::from).collect())
        })?;
        let arrays = [vec![segments.firsts, bins.keys], before].concat();
        Ok(self.mapped(n, arrays, lambda, loc))
    }

    /// The combinations of the values after each in its bin.
    fn rights(&mut self, bins: &FlatBins<'_>, segments: &Segments, onwards: &[VarId]) -> Res<Vec<VarId>> {
        let (n, rows, loc) = (bins.n, &bins.op.ret, bins.loc);
        let after = self.advanced(n, onwards, rows, bins.neutral, loc);
        let params = [self.params("x", &[Type::BOOL]), self.params("after", rows)].concat();
        let x = atoms(&params);
        let lambda = self.lambda(params, rows.clone(), |ad| {
            let then = Body { stms: Vec::new(), result: bins.neutral.to_vec() };
            let otherwise = Body { stms: Vec::new(), result: x[1..].to_vec() };
            let vars = ad.let_exps("right", rows, Exp::If { cond: x[0], then, otherwise }, loc);
            Ok(vars.into_iter().map(Atom::from).collect())
        })?;
        Ok(self.mapped(n, [vec![segments.lasts], after].concat(), lambda, loc))
    }

    fn cts_of_keys(&mut self, bins: &FlatBins<'_>, cts: &[Option<VarId>]) -> Res<Vec<Option<Cotangent>>> {
        let mut each = Vec::new();
        for (ct, row) in cts.iter().zip(&bins.op.ret) {
            let Some(ct) = ct else {
                each.push(None);
                continue;
            };
            let param = self.param("key", Type::I64);
            let key = param.var.into();
            let rows = [row.clone()];
            let lambda = self
                .lambda(vec![param], rows.to_vec(), |ad| Ok(ad.rows_at(&[*ct], &rows, &[key], bins.loc)))?;
            each.push(Some(Cotangent::Each(self.mapped(bins.n, vec![bins.keys], lambda, bins.loc)[0])));
        }
        Ok(each)
    }

    /// Sorted rows in the order that they had before, and zeros for what was left out.
    fn unsorted(&mut self, n: Atom, bins: &FlatBins<'_>, order: VarId, sorted: Atom, row: &Type) -> Atom {
        let (ty, loc) = (row.with_outer(&[n]), bins.loc);
        let zeros = self.zero(&ty, loc);
        let dests = vec![self.as_var("zeros", zeros, loc)];
        let sorted = self.as_var("sorted", sorted, loc);
        let arrays = vec![order, sorted];
        let exp = Exp::Scatter { width: bins.n, arrays, pre: None, dests, shape: vec![n] };
        self.let_exp("unsorted", ty, exp, loc)
    }

    fn totals(&mut self, bins: &FlatBins<'_>, segments: &Segments, onwards: &[VarId]) -> Res<Vec<VarId>> {
        let (n, m, rows, loc) = (bins.n, bins.m, &bins.op.ret, bins.loc);
        let params = self.params("x", &[Type::BOOL, Type::I64]);
        let (first, key) = (params[0].var.into(), params[1].var.into());
        let lambda = self.lambda(params, vec![Type::I64], |ad| {
            Ok(vec![ad.select(first, Type::I64, key, Atom::i64(-1), loc)])
        })?;
        let places = self.mapped(n, vec![segments.firsts, bins.keys], lambda, loc)[0];
        let mut dests = Vec::new();
        let types: Vec<Type> = rows.iter().map(|row| row.with_outer(&[m])).collect();
        for (neutral, ty) in bins.neutral.iter().zip(&types) {
            let exp = Exp::Replicate { dims: vec![m], value: *neutral };
            dests.push(self.let_var("neutral", ty.clone(), exp, loc));
        }
        let arrays = [vec![places], onwards.to_vec()].concat();
        let exp = Exp::Scatter { width: n, arrays, pre: None, dests, shape: vec![m] };
        Ok(self.let_exps("totals", &types, exp, loc))
    }
}
