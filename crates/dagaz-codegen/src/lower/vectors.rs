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
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Param, VarId};

use super::fetching::Fetch;
use super::folds::{Fold, piece_start};
use super::{Lower, Lowered};
use crate::SiteKind;
use crate::imp::{LoopKind, Stm};
use crate::scalar::type_code;

/// With so many results at most, rows are looked at once.
const FEW: usize = 4096;
/// From so many elements on, a vector is shared out.
const LONG: usize = 1024;
/// Parts of vectors have so many elements at least.
const PART: usize = 512;
/// Longer rows are looked at once each: memory is best read in order.
const MOST: usize = 256;
/// So many results fill the vectors of most machines.
const TILE: usize = 8;
/// Results of so many bytes are kept in registers at a time, which leaves some for the rest.
const REGISTERS: usize = 256;

/// Binds or writes something at a row, and an element of it.
type At<'a> = dyn Fn(&mut Lower<'_>, &str) -> Lowered<()> + 'a;
type AtElement<'a> = dyn Fn(&mut Lower<'_>, &str, &str) -> Lowered<()> + 'a;

struct Columns<'a> {
    /// How many rows there are, and how many elements they have.
    rows: String,
    length: String,
    /// What happens to an element of each result, the first parameters, and to one of the row, the last.
    scalar: &'a Lambda,
    elems: Vec<PrimType>,
    /// About how many operations a row takes.
    cost: String,
    /// What all elements of each vector begin as, if that is a scalar.
    neutral: Option<&'a [Atom]>,
    /// Fills vectors with what they begin as.
    start: &'a dyn Fn(&mut Lower<'_>, &[String]) -> Lowered<()>,
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
    matrix: Option<(String, String, &'a At<'a>)>,
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
                    l.store(target, "0", &param.ty, *value)?;
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
            cost: format!("(f64){length} * ({})", self.cost(&lambdas)),
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
        let length = format!("({height} * {width})");
        let columns = Columns {
            rows: rows.clone(),
            scalar: fold.op,
            elems: pat.iter().map(|p| super::elem(&p.ty)).collect::<Lowered<_>>()?,
            cost: format!("(f64){length} * ({})", self.cost(&lambdas)),
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
        let targets: Vec<String> = pat.iter().map(|p| self.name(p.var)).collect();
        let (then, ()) = self.nested(|l| {
            (columns.start)(l, &targets)?;
            l.vectors_for_pieces(&columns, &targets)
        })?;
        let (otherwise, ()) = self.nested(otherwise)?;
        let cond = format!("dz_times({height}, {width}) <= {FEW} && {rows} > {height}");
        self.out.push(Stm::If { cond, then, otherwise });
        Ok(())
    }

    fn reduce_columns(&mut self, pat: &[Param], columns: &Columns<'_>) -> Lowered<()> {
        for param in pat {
            self.allocate(param)?;
        }
        let targets: Vec<String> = pat.iter().map(|p| self.name(p.var)).collect();
        let Columns { rows, length, .. } = columns;
        if !self.is_outermost() {
            let in_memory = |l: &mut Self| {
                (columns.start)(l, &targets)?;
                l.repeatedly(|l| l.add_rows(columns, ("0", rows), ("0", length), &targets))
            };
            let Some(neutral) = columns.neutral else { return in_memory(self) };
            let (then, ()) = self.nested(|l| l.repeatedly(|l| l.in_tiles(columns, neutral, &targets)))?;
            let (otherwise, ()) = self.nested(in_memory)?;
            let is_short = format!("{length} >= {TILE} && {length} <= {MOST}");
            self.out.push(Stm::If { cond: is_short, then, otherwise });
            return Ok(());
        }
        (columns.start)(self, &targets)?;
        let (otherwise, ()) = self.nested(|l| l.vectors_for_pieces(columns, &targets))?;
        if !columns.has_parts {
            self.out.push(Stm::Block(otherwise));
            return Ok(());
        }
        let (then, ()) = self.nested(|l| {
            let cost = format!("(f64){rows} * ({}) / (1.0 + (f64){length})", columns.cost);
            let grain = format!("i64_max(dz_grain({length}, {cost}), {PART})");
            l.pieces_of(length, &grain, |l, from, to| l.add_rows(columns, ("0", rows), (from, to), &targets))
        })?;
        self.out.push(Stm::If { cond: format!("{length} >= {LONG}"), then, otherwise });
        Ok(())
    }

    /// Combines all rows for some tiles of columns after the other. The last tile begins earlier if it has to, and some results
    /// are then computed twice.
    fn in_tiles(&mut self, columns: &Columns<'_>, neutral: &[Atom], targets: &[String]) -> Lowered<()> {
        let Columns { length, .. } = columns;
        let bytes: usize = columns.elems.iter().map(|elem| elem.bytes()).sum();
        let most = (REGISTERS / (TILE * bytes.max(1))).max(2);
        let (whole, last) = (self.temp("whole"), self.temp("last"));
        self.set("i64", whole.as_str(), format!("{length} / {}", most * TILE));
        self.set("i64", last.as_str(), format!("{length} - {TILE}"));
        self.for_loop(LoopKind::Sequential, &whole, |l, group| {
            let places: Vec<String> =
                (0..most).map(|i| format!("{group} * {} + {}", most * TILE, i * TILE)).collect();
            l.tiles(columns, neutral, &places, targets)
        })?;
        let (rest, pairs) = (self.temp("rest"), self.temp("pairs"));
        self.set("i64", rest.as_str(), format!("{whole} * {}", most * TILE));
        self.set("i64", pairs.as_str(), format!("({length} - {rest} + {}) / {}", 2 * TILE - 1, 2 * TILE));
        self.for_loop(LoopKind::Sequential, &pairs, |l, pair| {
            let at = l.temp("at");
            l.set("i64", at.as_str(), format!("{rest} + {pair} * {}", 2 * TILE));
            let places = [format!("i64_min({at}, {last})"), format!("i64_min({at} + {TILE}, {last})")];
            let (then, ()) = l.nested(|l| l.tiles(columns, neutral, &places, targets))?;
            let (otherwise, ()) = l.nested(|l| l.tiles(columns, neutral, &places[..1], targets))?;
            l.out.push(Stm::If { cond: format!("{at} + {TILE} < {length}"), then, otherwise });
            Ok(())
        })
    }

    /// Combines all rows for tiles that begin at these places.
    fn tiles(
        &mut self,
        columns: &Columns<'_>,
        neutral: &[Atom],
        places: &[String],
        targets: &[String],
    ) -> Lowered<()> {
        let mut tiles = Vec::new();
        for own_place in places {
            let place = self.temp("place");
            self.set("i64", place.as_str(), own_place);
            let own: Vec<String> = targets.iter().map(|_| self.temp("tile")).collect();
            for ((tile, elem), start) in own.iter().zip(&columns.elems).zip(neutral) {
                let start = self.atom(*start);
                self.line(format!("{elem} {tile}[{TILE}] = {{{}}};", vec![start; TILE].join(", ")));
            }
            tiles.push((place, own));
        }
        self.fetch_first(columns.fetch.as_ref(), "0", &columns.rows)?;
        self.loop_from(LoopKind::Sequential, "0", &columns.rows, |l, p| {
            l.fetch_ahead(columns.fetch.as_ref(), p, &columns.rows)?;
            for (place, own) in &tiles {
                l.combine_elements(columns.scalar, ("0", &TILE.to_string()), own, &|l, lane| {
                    let q = l.temp("q");
                    l.set("i64", q.as_str(), format!("{place} + {lane}"));
                    (columns.element)(l, p, &q)
                })?;
            }
            Ok(())
        })?;
        for (place, own) in &tiles {
            for (tile, target) in own.iter().zip(targets) {
                self.for_loop(LoopKind::SIMD, &TILE.to_string(), |l, lane| {
                    l.line(format!("{target}[{place} + {lane}] = {tile}[{lane}];"));
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    /// Pieces of the rows have vectors of their own.
    fn vectors_for_pieces(&mut self, columns: &Columns<'_>, targets: &[String]) -> Lowered<()> {
        let Columns { rows, length, cost, .. } = columns;
        let (grain, pieces) = (self.temp("grain"), self.temp("pieces"));
        self.set("i64", grain.as_str(), format!("i64_max(dz_grain({rows}, {cost}), ({rows} + 63) / 64)"));
        self.set("i64", pieces.as_str(), format!("({rows} + {grain} - 1) / i64_max({grain}, 1)"));
        let mut own = Vec::new();
        for elem in &columns.elems {
            own.push(self.scratch_memory(*elem, &format!("dz_times({pieces}, {length})"))?);
        }
        self.pieces_of(rows, &format!("i64_max({grain}, 1)"), |l, from, to| {
            let mut mine = Vec::new();
            for (elem, own) in columns.elems.iter().zip(&own) {
                let name = l.temp("mine");
                let place = format!("{own} + {from} / {grain} * {length}");
                l.set(format!("{elem} *restrict "), name.as_str(), place);
                mine.push(name);
            }
            let nothing = piece_start(columns.scalar, &[]);
            if nothing.is_empty() {
                (columns.start)(l, &mine)?;
            }
            for (target, value) in mine.iter().zip(nothing) {
                let value = l.atom(value);
                l.simple_loop("0", length, &[], &|l, q| {
                    l.line(format!("{target}[{q}] = {value};"));
                    Ok(())
                })?;
            }
            l.add_rows(columns, (from, to), ("0", length), &mine)
        })?;
        let count = targets.len().min(columns.scalar.params.len());
        let right = &columns.scalar.params[count..];
        self.repeatedly(|l| {
            l.iterate("0", &pieces, |l, piece| {
                l.combine_elements(columns.scalar, ("0", length), targets, &|l, q| {
                    for (value, own) in right.iter().zip(&own) {
                        l.bind(value, true);
                        let (ty, name) = (super::elem(&value.ty)?, l.name(value.var));
                        l.set(ty.to_string(), name, format!("{own}[{piece} * {length} + {q}]"));
                    }
                    Ok(())
                })
            })
        })?;
        own.iter().for_each(|name| self.line(format!("dz_release(ctx, {name}_mem);")));
        Ok(())
    }

    /// Makes all elements of vectors the same, with a scalar for each vector.
    fn fill_vectors(&mut self, targets: &[String], values: &[Atom], length: &str) -> Lowered<()> {
        for (target, value) in targets.iter().zip(values) {
            let value = self.atom(*value);
            self.simple_loop("0", length, &[], &|l, q| {
                l.line(format!("{target}[{q}] = {value};"));
                Ok(())
            })?;
        }
        Ok(())
    }

    /// A pointer to memory for so many elements; its block has the same name with `_mem`.
    pub(super) fn scratch_memory(&mut self, elem: PrimType, count: &str) -> Lowered<String> {
        let (name, site, code) = (self.temp("own"), self.site(SiteKind::Memory), type_code(elem));
        let block = format!("{name}_mem");
        self.set(
            "dz_block *",
            block.as_str(),
            format!("dz_alloc(ctx, {site}, {count}, sizeof({elem}), {code})"),
        );
        self.line(format!("if (DZ_UNLIKELY(!{block})) return 1;"));
        self.set(format!("{elem} *"), name.as_str(), format!("{block}->data"));
        Ok(name)
    }

    /// Adds part of some rows to vectors.
    fn add_rows(
        &mut self,
        columns: &Columns<'_>,
        (first, last): (&str, &str),
        part: (&str, &str),
        targets: &[String],
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
                        let place = l.temp("place");
                        l.set(format!("{elem} *"), place.as_str(), format!("{target} + {row} * {width}"));
                        places.push(place);
                    }
                    l.combine_elements(columns.scalar, ("0", width), &places, &|l, q| {
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
        (from, to): (&str, &str),
        targets: &[String],
        bind: &At<'_>,
    ) -> Lowered<()> {
        let left = &scalar.params[..targets.len().min(scalar.params.len())];
        self.simple_loop(from, to, &[], &|l, q| {
            for (param, target) in left.iter().zip(targets) {
                l.bind(param, true);
                let name = l.name(param.var);
                l.set(super::elem(&param.ty)?.to_string(), name, format!("{target}[{q}]"));
            }
            bind(l, q)?;
            l.combine(scalar)?;
            for (param, target) in left.iter().zip(targets) {
                let name = l.name(param.var);
                l.line(format!("{target}[{q}] = {name};"));
            }
            Ok(())
        })
    }
}
