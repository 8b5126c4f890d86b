//! Passes from Core to Core, most of all for what differentiation leaves.
//!
//! Each pass is a function on a program, in a file of its own. Between [`dce`] and [`copies`], arrays are plain values:
//! a pass may use an array after an update has consumed it, as if every update were of a copy, and the last step
//! puts copies where they are needed. The pipelines, [`clean_up`], [`before_derivatives`], [`after_derivatives`] and [`for_machines`], are
//! the table of contents.

mod accumulators;
mod bounds;
mod checks;
mod columns;
mod contractions;
mod copies;
mod cse;
mod dce;
mod delay;
mod elementary;
mod enumerate_nonzero_terms;
mod expand_powers;
mod fold_shifts_into_reads;
mod fuse;
mod gathers;
mod hoist;
mod inline;
mod interchange;
mod join_checks;
mod peel_last_iteration;
mod precompute;
mod products;
mod reuse_sweeps;
mod row_sums;
mod rows;
mod scalar_replacement;
mod share_gathers;
mod sharing;
mod shrink_tapes;
mod simplify;
mod skip_initial_writes;
mod speculatable;
mod tape_in_place;
mod triangles;
mod unflatten;
mod uniform_checks;
mod unroll_small;
mod unswitch;
mod walk;

use dagaz_core::exp::Program;

pub use crate::accumulators::{simplify_accumulators, single_out_rows};
pub use crate::bounds::prove_bounds;
pub use crate::checks::check_without_reading;
pub use crate::columns::split_off_columns;
pub use crate::contractions::{compute_in_blocks, put_rows_axis_last, raise_contractions};
pub use crate::copies::insert_copies;
pub use crate::cse::eliminate_common_subexpressions;
pub use crate::dce::eliminate_dead_code;
pub use crate::delay::delay_updates;
pub use crate::enumerate_nonzero_terms::enumerate_nonzero_terms;
pub use crate::expand_powers::expand_powers;
pub use crate::fold_shifts_into_reads::fold_shifts_into_reads;
pub use crate::fuse::fuse_operations;
pub use crate::gathers::compute_what_is_read;
pub use crate::hoist::{hoist_indices, hoist_invariants};
pub use crate::inline::inline_calls;
pub use crate::interchange::interchange_gathers;
pub use crate::join_checks::join_checks;
pub use crate::peel_last_iteration::peel_last_iterations;
pub use crate::precompute::precompute_functions;
pub use crate::products::divide_products;
pub use crate::reuse_sweeps::reuse_sweeps;
pub use crate::row_sums::sum_rows_by_columns;
pub use crate::rows::read_rows;
pub use crate::scalar_replacement::replace_by_scalars;
pub use crate::share_gathers::share_gathers;
pub use crate::shrink_tapes::shrink_tapes;
pub use crate::simplify::simplify;
pub use crate::skip_initial_writes::skip_initial_writes;
pub use crate::tape_in_place::tape_in_place;
pub use crate::triangles::note_triangles;
pub use crate::unflatten::nest_flat_maps;
pub use crate::uniform_checks::hoist_uniform_checks;
pub use crate::unroll_small::unroll_small;
pub use crate::unswitch::unswitch_maps;

/// The cheap part, for programs fresh from the simplifier.
pub fn clean_up(program: &mut Program) {
    eliminate_dead_code(program);
    insert_copies(program);
}

/// What saves derivatives work: an index that is the same in many iterations is kept once, and sizes are compared, and maps that only
/// rename rows are gone, before it is decided what to keep of loops. Arrays that were flattened for a sum have their dimensions back,
/// so that what is summed along each is seen.
pub fn before_derivatives(program: &mut Program) {
    simplify(program);
    eliminate_dead_code(program);
    if nest_flat_maps(program) {
        simplify(program);
        eliminate_dead_code(program);
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
    eliminate_common_subexpressions(program);
    eliminate_dead_code(program);
    // Before blocks, in which sums go round a loop, and rows have other numbers.
    note_triangles(program);
    if compute_in_blocks(program) {
        simplify(program);
        eliminate_dead_code(program);
    }
    if put_rows_axis_last(program) {
        simplify(program);
        eliminate_dead_code(program);
    }
    if share_gathers(program) {
        simplify(program);
        eliminate_dead_code(program);
    }
    insert_copies(program);
}

/// Nests of maps are fused from the outside in, one level at a time.
const MOST_FUSIONS: usize = 4;

fn optimise(program: &mut Program) {
    inline_calls(program);
    simplify(program);
    expand_powers(program);
    eliminate_dead_code(program);
    if simplify_accumulators(program) {
        simplify(program);
    }
    hoist_invariants(program);
    eliminate_common_subexpressions(program);
    prove_bounds(program);
    simplify(program);
    if single_out_rows(program) {
        simplify_accumulators(program);
        simplify(program);
        prove_bounds(program);
    }
    // Before what they read are rows of arrays.
    if enumerate_nonzero_terms(program) {
        simplify(program);
    }
    read_rows(program);
    simplify(program);
    // What was read is a row now, and functions of it are the same in every iteration further in.
    hoist_invariants(program);
    if nest_flat_maps(program) {
        simplify(program);
    }
    eliminate_dead_code(program);
    if check_without_reading(program) {
        eliminate_dead_code(program);
    }
    hoist_uniform_checks(program);
    if compute_what_is_read(program) {
        simplify(program);
        read_rows(program);
        simplify(program);
        eliminate_dead_code(program);
    }
    if skip_initial_writes(program) {
        simplify(program);
        eliminate_dead_code(program);
    }
    // What was fused further out brings maps together further in.
    for _ in 0..MOST_FUSIONS {
        delay_updates(program);
        let has_changed = fuse_operations(program);
        unroll_small(program);
        replace_by_scalars(program);
        simplify(program);
        eliminate_dead_code(program);
        // The maps around a product are one now.
        let has_changed = divide_products(program) || has_changed;
        let has_changed = fold_shifts_into_reads(program) || has_changed;
        if !has_changed {
            break;
        }
    }
    if shrink_tapes(program) {
        simplify(program);
        eliminate_dead_code(program);
    }
    let has_changed = tape_in_place(program);
    if unswitch_maps(program) || has_changed {
        simplify(program);
    }
    peel_last_iterations(program);
    precompute_functions(program);
    eliminate_common_subexpressions(program);
    eliminate_dead_code(program);
    reuse_sweeps(program);
    // Nothing is fused any more, to which a check would be in the way.
    join_checks(program);
}
