//! Reductions of vectors, and of the columns of matrices: element by element, in place, along rows.
//!
//!     reduce (map2 (+)) zeros rows    ==>    out = zeros; for p { for q { out[q] += rows[p, q] } }
//!     map (reduce (+) 0) columns      ==>    the same
//!
//! Every result is in the order that it had. Long vectors are shared out among threads; else pieces of the rows are, each
//! with vectors of its own, which are added up in order. Inside of loops that have the threads already, the results of columns
//! are kept in registers, some at a time:
//!
//!     for q by 8 { sums = 0; for p { for l < 8 { sums[l] += rows[p, q + l] } } for l < 8 { out[q + l] = sums[l] } }

use dagaz_core::exp::Lambda;
use dagaz_core::machine;
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, VarId};

use super::emit::block_of;
use super::fetching::Fetch;
use super::folds::{Fold, piece_start};
use super::{Lower, Lowered};
use crate::imp::{Access, Expr, LoopKind, Operand, Repr, Runtime, StackArray, Stm, Var};

/// Binds or writes something at a row, and an element of it.
type At<'a> = dyn Fn(&mut Lower<'_>, &Var) -> Lowered<()> + 'a;
type AtElement<'a> = dyn Fn(&mut Lower<'_>, &Var, &Var) -> Lowered<()> + 'a;

struct Columns<'a> {
    /// How many rows there are, and how many elements they have.
    rows: Expr,
    length: Expr,
    /// What happens to an element of each result, the first parameters, and to one of the row, the last.
    scalar: &'a Lambda,
    elems: Vec<PrimType>,
    /// About how many operations a row takes.
    cost: Expr,
    /// What all elements of each vector begin as, if that is a scalar.
    neutral: Option<&'a [Atom]>,
    /// Fills vectors with what they begin as.
    start: &'a dyn Fn(&mut Lower<'_>, &[Var]) -> Lowered<()>,
    /// What a row needs before and after its elements are used.
    before: &'a At<'a>,
    after: &'a At<'a>,
    /// Binds the last parameters to the elements in a row and a column.
    element: &'a AtElement<'a>,
    /// Whether parts of a row can be had without the rest.
    has_parts: bool,
    /// What to ask memory for.
    fetch: Option<Fetch>,
    /// Rows that are matrices: how many rows they have themselves, of how many elements, and what binds one.
    matrix: Option<(Expr, Expr, &'a At<'a>)>,
}

impl Lower<'_> {
    /// A reduction by an operator that does `scalar` to each of `width` elements.
    pub(super) fn reduce_vectors(
        &mut self,
        pat: &[Param],
        fold: &Fold<'_>,
        (width, scalar): (Atom, &Lambda),
    ) -> Lowered<()> {
        let (_, values) = fold.sides();
        let (_, right) = scalar.params.split_at(pat.len().min(scalar.params.len()));
        let vectors: Vec<VarId> = values.iter().map(|p| p.var).collect();
        let lambdas: Vec<&Lambda> = fold.pre.into_iter().chain([fold.op]).collect();
        let columns = Columns {
            rows: self.atom(fold.width),
            length: self.atom(width),
            scalar,
            elems: pat.iter().map(|p| super::elem(&p.ty)).collect::<Lowered<_>>()?,
            cost: self.cost(&lambdas),
            neutral: None,
            start: &|l, targets| {
                for ((target, param), value) in targets.iter().zip(pat).zip(fold.neutral) {
                    l.store(target, 0, &param.ty, *value)?;
                }
                Ok(())
            },
            before: &|l, p| l.next_row(fold.arrays, fold.pre, values, p),
            after: &|l, _| {
                values.iter().for_each(|value| l.release_owned(value.var));
                Ok(())
            },
            element: &|l, _, q| l.load_row(&vectors, right, q),
            has_parts: fold.pre.is_none(),
            fetch: None,
            matrix: None,
        };
        self.reduce_columns(pat, &columns)
    }

    /// A map whose iterations are reductions along columns: `fold` uses `rows`, whose elements are `params`.
    pub(super) fn map_of_columns(
        &mut self,
        pat: &[Param],
        (width, rows, params): (Atom, &[VarId], &[Param]),
        fold: &Fold<'_>,
    ) -> Lowered<()> {
        let (_, right) = fold.sides();
        let lambdas: Vec<&Lambda> = fold.pre.into_iter().chain([fold.op]).collect();
        let length = self.atom(width);
        let counters = self.counters(rows, params);
        let fetch =
            fold.pre.and_then(|pre| self.fetch_rows_read((fold.arrays, &pre.params), &pre.body, &counters));
        let columns = Columns {
            rows: self.atom(fold.width),
            scalar: fold.op,
            elems: pat.iter().map(|p| super::elem(&p.ty)).collect::<Lowered<_>>()?,
            cost: length.cast(PrimType::F64).times(self.cost(&lambdas)),
            neutral: Some(fold.neutral),
            start: &|l, targets| l.fill_vectors(targets, fold.neutral, &length),
            before: &|_, _| Ok(()),
            after: &|_, _| Ok(()),
            element: &|l, p, q| {
                l.load_row(rows, params, q)?;
                l.next_row(fold.arrays, fold.pre, right, p)
            },
            has_parts: true,
            length: length.clone(),
            fetch,
            matrix: None,
        };
        self.reduce_columns(pat, &columns)
    }

    /// Two maps whose iterations are reductions along columns, in the same way, if the results are few: each row is
    /// looked at once. Otherwise as `otherwise` says.
    pub(super) fn maps_of_columns(
        &mut self,
        pat: &[Param],
        outer: (Atom, &[VarId], &[Param]),
        inner: (Atom, &[VarId], &[Param]),
        fold: &Fold<'_>,
        otherwise: impl FnOnce(&mut Self) -> Lowered<()>,
    ) -> Lowered<()> {
        for param in pat {
            self.allocate(param)?;
        }
        let (_, right) = fold.sides();
        let lambdas: Vec<&Lambda> = fold.pre.into_iter().chain([fold.op]).collect();
        let (height, width, rows) = (self.atom(outer.0), self.atom(inner.0), self.atom(fold.width));
        let length = &height * &width;
        let columns = Columns {
            rows: rows.clone(),
            scalar: fold.op,
            elems: pat.iter().map(|p| super::elem(&p.ty)).collect::<Lowered<_>>()?,
            cost: length.cast(PrimType::F64).times(self.cost(&lambdas)),
            neutral: None,
            start: &|l, targets| l.fill_vectors(targets, fold.neutral, &length),
            before: &|_, _| Ok(()),
            after: &|_, _| Ok(()),
            element: &|l, p, q| {
                l.load_row(inner.1, inner.2, q)?;
                l.next_row(fold.arrays, fold.pre, right, p)
            },
            has_parts: false,
            fetch: None,
            matrix: Some((height.clone(), width.clone(), &|l, q| l.load_row(outer.1, outer.2, q))),
            length: length.clone(),
        };
        let targets = pat.iter().map(|param| self.var_of(param)).collect::<Lowered<Vec<Var>>>()?;
        let (then, ()) = self.nested(|l| {
            (columns.start)(l, &targets)?;
            l.vectors_for_pieces(&columns, &targets)
        })?;
        let (otherwise, ()) = self.nested(otherwise)?;
        let results = Expr::call(Runtime::SaturatingProduct, [height.clone(), width]);
        let are_few = results.is_at_most(machine::SUMMED_AT_ONCE).both(rows.is_above(height));
        self.out.push(Stm::branch(are_few, then, otherwise));
        Ok(())
    }

    fn reduce_columns(&mut self, pat: &[Param], columns: &Columns<'_>) -> Lowered<()> {
        for param in pat {
            self.allocate(param)?;
        }
        let targets = pat.iter().map(|param| self.var_of(param)).collect::<Lowered<Vec<Var>>>()?;
        let Columns { rows, length, .. } = columns;
        if !self.is_outermost() {
            let in_memory = |l: &mut Self| {
                (columns.start)(l, &targets)?;
                l.repeatedly(|l| l.add_rows(columns, (&0.expr(), rows), (&0.expr(), length), &targets))
            };
            let Some(neutral) = columns.neutral else { return in_memory(self) };
            let (then, ()) = self.nested(|l| l.repeatedly(|l| l.in_tiles(columns, neutral, &targets)))?;
            let (otherwise, ()) = self.nested(in_memory)?;
            let is_short = length
                .is_at_least(machine::LANES_OF_F64)
                .both(length.is_at_most(machine::SUMMED_ROW_ELEMENTS));
            self.out.push(Stm::branch(is_short, then, otherwise));
            return Ok(());
        }
        (columns.start)(self, &targets)?;
        let (otherwise, ()) = self.nested(|l| l.vectors_for_pieces(columns, &targets))?;
        if !columns.has_parts {
            self.out.push(Stm::Block(otherwise));
            return Ok(());
        }
        let (then, ()) = self.nested(|l| {
            let all = rows.cast(PrimType::F64).times(&columns.cost);
            let cost = all.op(BinOp::Div, 1.0.plus(length.cast(PrimType::F64)));
            let grain =
                Expr::call(Runtime::Grain, [length.clone(), cost]).maximum(machine::LEAST_VECTOR_PART);
            l.pieces_of(length, grain, |l, from, to| {
                l.add_rows(columns, (&0.expr(), rows), (from, to), &targets)
            })
        })?;
        self.out.push(Stm::branch(length.is_at_least(machine::SHARED_VECTOR_ELEMENTS), then, otherwise));
        Ok(())
    }

    /// Combines all rows for some tiles of columns after the other. The last tile begins earlier if it has to, and some results
    /// are then computed twice.
    fn in_tiles(&mut self, columns: &Columns<'_>, neutral: &[Atom], targets: &[Var]) -> Lowered<()> {
        let Columns { length, .. } = columns;
        let bytes: usize = columns.elems.iter().map(|elem| elem.bytes()).sum();
        let most = (machine::REGISTER_BYTES / (machine::LANES_OF_F64 * bytes.max(1))).max(2);
        let whole = self.int("whole", length / (most * machine::LANES_OF_F64));
        let last = self.int("last", length - machine::LANES_OF_F64);
        self.for_loop(LoopKind::Sequential, &whole, |l, group| {
            let places: Vec<Expr> = (0..most)
                .map(|i| group * (most * machine::LANES_OF_F64) + i * machine::LANES_OF_F64)
                .collect();
            l.tiles(columns, neutral, &places, targets)
        })?;
        let rest = self.int("rest", &whole * (most * machine::LANES_OF_F64));
        let pairs = self.int("pairs", (length - &rest).parts_of(2 * machine::LANES_OF_F64));
        self.for_loop(LoopKind::Sequential, &pairs, |l, pair| {
            let at = l.int("at", &rest + pair * (2 * machine::LANES_OF_F64));
            let places = [at.minimum(&last), (&at + machine::LANES_OF_F64).minimum(&last)];
            let (then, ()) = l.nested(|l| l.tiles(columns, neutral, &places, targets))?;
            let (otherwise, ()) = l.nested(|l| l.tiles(columns, neutral, &places[..1], targets))?;
            l.out.push(Stm::branch((&at + machine::LANES_OF_F64).is_below(length), then, otherwise));
            Ok(())
        })
    }

    /// Combines all rows for tiles that begin at these places.
    fn tiles(
        &mut self,
        columns: &Columns<'_>,
        neutral: &[Atom],
        places: &[Expr],
        targets: &[Var],
    ) -> Lowered<()> {
        let mut tiles = Vec::new();
        for own_place in places {
            let place = self.int("place", own_place);
            let mut own = Vec::new();
            for (elem, start) in columns.elems.iter().zip(neutral) {
                let tile = self.temp(Repr::pointer(*elem), "tile");
                let values = vec![self.atom(*start); machine::LANES_OF_F64];
                self.out.push(Stm::StackArray(StackArray {
                    values,
                    ..StackArray::of(&tile, machine::LANES_OF_F64)
                }));
                own.push(tile);
            }
            tiles.push((place, own));
        }
        self.fetch_first(columns.fetch.as_ref(), &0.expr(), &columns.rows)?;
        self.for_loop(LoopKind::Sequential, &columns.rows, |l, p| {
            l.fetch_ahead(columns.fetch.as_ref(), p, &columns.rows)?;
            for (place, own) in &tiles {
                l.combine_elements(
                    columns.scalar,
                    (&0.expr(), &machine::LANES_OF_F64.expr()),
                    own,
                    &|l, lane| {
                        let q = l.int("q", place + lane);
                        (columns.element)(l, p, &q)
                    },
                )?;
            }
            Ok(())
        })?;
        for (place, own) in &tiles {
            for (tile, target) in own.iter().zip(targets) {
                self.for_loop(LoopKind::SIMD, machine::LANES_OF_F64, |l, lane| {
                    l.write(target, place + lane, tile.at(lane));
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    /// Pieces of the rows have vectors of their own.
    fn vectors_for_pieces(&mut self, columns: &Columns<'_>, targets: &[Var]) -> Lowered<()> {
        let Columns { rows, length, cost, .. } = columns;
        let grain = Expr::call(Runtime::Grain, [rows.clone(), cost.clone()]);
        let grain = self.int("grain", grain.maximum(rows.parts_of(machine::MOST_PIECES_WITH_VECTORS)));
        let pieces = self.int("pieces", (rows + &grain - 1) / grain.maximum(1));
        let mut own = Vec::new();
        for elem in &columns.elems {
            let size = Expr::call(Runtime::SaturatingProduct, [pieces.expr(), length.clone()]);
            own.push(self.scratch_memory(*elem, size));
        }
        self.pieces_of(rows, grain.maximum(1), |l, from, to| {
            let mut mine = Vec::new();
            for (elem, own) in columns.elems.iter().zip(&own) {
                let repr = Repr::Pointer(*elem, Access::Unaliased);
                mine.push(l.temp_with(repr, "mine", own + from / &grain * length));
            }
            let nothing = piece_start(columns.scalar, &[]);
            if nothing.is_empty() {
                (columns.start)(l, &mine)?;
            }
            for (target, value) in mine.iter().zip(nothing) {
                l.fill(target, l.atom(value), length)?;
            }
            l.add_rows(columns, (from, to), (&0.expr(), length), &mine)
        })?;
        let count = targets.len().min(columns.scalar.params.len());
        let right = &columns.scalar.params[count..];
        self.repeatedly(|l| {
            l.iterate(0, &pieces, |l, piece| {
                l.combine_elements(columns.scalar, (&0.expr(), length), targets, &|l, q| {
                    l.bind_elements(right, &own, piece * length + q)
                })
            })
        })?;
        own.iter().for_each(|memory| self.release(&block_of(&memory.name)));
        Ok(())
    }

    /// Makes all elements of vectors the same, with a scalar for each vector.
    fn fill_vectors(&mut self, targets: &[Var], values: &[Atom], length: &Expr) -> Lowered<()> {
        for (target, value) in targets.iter().zip(values) {
            self.fill(target, self.atom(*value), length)?;
        }
        Ok(())
    }

    /// A pointer to memory for so many elements, which has a block.
    pub(super) fn scratch_memory(&mut self, elem: PrimType, count: Expr) -> Var {
        let memory = self.temp(Repr::pointer(elem), "own");
        let block = block_of(&memory.name);
        self.set_block(&block, elem, count);
        self.set(&memory, Expr::Data(elem, Box::new(block.expr())));
        memory
    }

    /// Adds part of some rows to vectors.
    fn add_rows(
        &mut self,
        columns: &Columns<'_>,
        (first, last): (&Expr, &Expr),
        part: (&Expr, &Expr),
        targets: &[Var],
    ) -> Lowered<()> {
        self.fetch_first(columns.fetch.as_ref(), first, last)?;
        self.iterate(first, last, |l, p| {
            l.fetch_ahead(columns.fetch.as_ref(), p, last)?;
            (columns.before)(l, p)?;
            match &columns.matrix {
                None => {
                    l.combine_elements(columns.scalar, part, targets, &|l, q| (columns.element)(l, p, q))?
                }
                Some((height, width, bind)) => l.for_loop(LoopKind::Sequential, height, |l, row| {
                    bind(l, row)?;
                    let mut places = Vec::new();
                    for (target, elem) in targets.iter().zip(&columns.elems) {
                        places.push(l.temp_with(Repr::pointer(*elem), "place", target + row * width));
                    }
                    l.combine_elements(columns.scalar, (&0.expr(), width), &places, &|l, q| {
                        (columns.element)(l, p, q)
                    })
                })?,
            }
            (columns.after)(l, p)
        })
    }

    /// Applies an operator on scalars to elements of vectors and to its last parameters, which `bind` binds.
    fn combine_elements(
        &mut self,
        scalar: &Lambda,
        (from, to): (&Expr, &Expr),
        targets: &[Var],
        bind: &At<'_>,
    ) -> Lowered<()> {
        let left = &scalar.params[..targets.len().min(scalar.params.len())];
        self.simple_loop(from, to, &[], &|l, q| {
            l.bind_elements(left, targets, q)?;
            bind(l, q)?;
            l.combine(scalar)?;
            l.write_elements_to(targets, q, left)
        })
    }
}
