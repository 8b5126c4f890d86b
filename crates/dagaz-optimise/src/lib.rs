//! Passes from Core to Core, most of all for what differentiation leaves.
//!
//! Each pass is a function on a program, in a file of its own. Between [`dead`] and [`copies`], arrays are plain values:
//! a pass may use an array after an update has consumed it, as if every update were of a copy, and the last step
//! puts copies where they are needed. The pipelines, [`clean_up`], [`before_derivatives`], [`after_derivatives`] and [`for_machines`], are
//! the table of contents.

mod accumulators;
mod anywhere;
mod bounds;
mod branches;
mod checks;
mod columns;
mod common;
mod contractions;
mod copies;
mod dead;
mod delay;
mod elementary;
mod few;
mod fresh;
mod fuse;
mod gathers;
mod hoist;
mod inline;
mod interchange;
mod join_checks;
mod keep;
mod last;
mod numbers;
mod once;
mod powers;
mod precompute;
mod products;
mod reuse;
mod row_sums;
mod rows;
mod scalars;
mod sharing;
mod shifts;
mod simplify;
mod small;
mod states;
mod triangles;
mod unflatten;
mod walk;

use dagaz_core::exp::Program;

pub use crate::accumulators::{simplify_accumulators, single_out_rows};
pub use crate::bounds::prove_bounds;
pub use crate::branches::branch_around_maps;
pub use crate::checks::check_without_reading;
pub use crate::columns::split_off_columns;
pub use crate::common::share_common_expressions;
pub use crate::contractions::{compute_in_blocks, raise_contractions, turn_products};
pub use crate::copies::insert_copies;
pub use crate::dead::remove_dead_code;
pub use crate::delay::delay_updates;
pub use crate::few::write_out_few_terms;
pub use crate::fresh::write_fresh_rows;
pub use crate::fuse::fuse_operations;
pub use crate::gathers::compute_what_is_read;
pub use crate::hoist::{hoist_indices, hoist_invariants};
pub use crate::inline::inline_calls;
pub use crate::interchange::interchange_gathers;
pub use crate::join_checks::join_checks;
pub use crate::keep::gather_once;
pub use crate::last::shorten_last_iterations;
pub use crate::numbers::keep_numbers;
pub use crate::once::check_once;
pub use crate::powers::multiply_powers;
pub use crate::precompute::precompute_functions;
pub use crate::products::divide_products;
pub use crate::reuse::reuse_loops;
pub use crate::row_sums::sum_rows_by_columns;
pub use crate::rows::read_rows;
pub use crate::scalars::take_small_arrays_apart;
pub use crate::shifts::read_in_place;
pub use crate::simplify::simplify;
pub use crate::small::unroll_small;
pub use crate::states::compute_where_kept;
pub use crate::triangles::note_triangles;
pub use crate::unflatten::nest_flat_maps;

/// The cheap part, for programs fresh from the simplifier.
pub fn clean_up(program: &mut Program) {
    remove_dead_code(program);
    insert_copies(program);
}

/// What saves derivatives work: an index that is the same in many iterations is kept once, and sizes are compared, and maps that only
/// rename rows are gone, before it is decided what to keep of loops. Arrays that were flattened for a sum have their dimensions back,
/// so that what is summed along each is seen.
pub fn before_derivatives(program: &mut Program) {
    simplify(program);
    remove_dead_code(program);
    if nest_flat_maps(program) {
        simplify(program);
        remove_dead_code(program);
    }
    hoist_indices(program);
}

/// Everything, for programs without derivative forms that people read.
pub fn after_derivatives(program: &mut Program) {
    optimise(program);
    insert_copies(program);
}

/// Everything, for programs without derivative forms that machines run.
pub fn for_machines(program: &mut Program) {
    optimise(program);
    sum_rows_by_columns(program);
    interchange_gathers(program);
    split_off_columns(program);
    raise_contractions(program);
    simplify(program);
    // Both sweeps of a derivative may have had the same product.
    share_common_expressions(program);
    remove_dead_code(program);
    // Before blocks, in which sums go round a loop, and rows have other numbers.
    note_triangles(program);
    if compute_in_blocks(program) {
        simplify(program);
        remove_dead_code(program);
    }
    if turn_products(program) {
        simplify(program);
        remove_dead_code(program);
    }
    if gather_once(program) {
        simplify(program);
        remove_dead_code(program);
    }
    insert_copies(program);
}

/// Nests of maps are fused from the outside in, one level at a time.
const MOST_FUSIONS: usize = 4;

fn optimise(program: &mut Program) {
    inline_calls(program);
    simplify(program);
    multiply_powers(program);
    remove_dead_code(program);
    if simplify_accumulators(program) {
        simplify(program);
    }
    hoist_invariants(program);
    share_common_expressions(program);
    prove_bounds(program);
    simplify(program);
    if single_out_rows(program) {
        simplify_accumulators(program);
        simplify(program);
        prove_bounds(program);
    }
    // Before what they read are rows of arrays.
    if write_out_few_terms(program) {
        simplify(program);
    }
    read_rows(program);
    simplify(program);
    // What was read is a row now, and functions of it are the same in every iteration further in.
    hoist_invariants(program);
    if nest_flat_maps(program) {
        simplify(program);
    }
    remove_dead_code(program);
    if check_without_reading(program) {
        remove_dead_code(program);
    }
    check_once(program);
    if compute_what_is_read(program) {
        simplify(program);
        read_rows(program);
        simplify(program);
        remove_dead_code(program);
    }
    if write_fresh_rows(program) {
        simplify(program);
        remove_dead_code(program);
    }
    // What was fused further out brings maps together further in.
    for _ in 0..MOST_FUSIONS {
        delay_updates(program);
        let has_changed = fuse_operations(program);
        unroll_small(program);
        take_small_arrays_apart(program);
        simplify(program);
        remove_dead_code(program);
        // The maps around a product are one now.
        let has_changed = divide_products(program) || has_changed;
        let has_changed = read_in_place(program) || has_changed;
        if !has_changed {
            break;
        }
    }
    if keep_numbers(program) {
        simplify(program);
        remove_dead_code(program);
    }
    let has_changed = compute_where_kept(program);
    if branch_around_maps(program) || has_changed {
        simplify(program);
    }
    shorten_last_iterations(program);
    precompute_functions(program);
    share_common_expressions(program);
    remove_dead_code(program);
    reuse_loops(program);
    // Nothing is fused any more, to which a check would be in the way.
    join_checks(program);
}
