//! Which passes run, and in which order.

use dagaz_core::pass::Step::{self, All, IfChanged, Pass, UntilStable};

use crate::*;

/// What a pass that has changed something leaves behind.
const TIDY: &[Step] = &[Pass(&SIMPLIFY), Pass(&ELIMINATE_DEAD_CODE)];

/// The cheap part, for programs fresh from the simplifier.
pub const CLEAN_UP: &[Step] = &[Pass(&ELIMINATE_DEAD_CODE), Pass(&INSERT_COPIES)];

/// What saves derivatives work: an index that is the same in many iterations is kept once, and sizes are compared, and maps that only
/// rename rows are gone, before it is decided what to keep of loops. Arrays that were flattened for a sum have their dimensions back,
/// so that what is summed along each is seen.
pub const BEFORE_DERIVATIVES: &[Step] =
    &[All(TIDY), IfChanged(&[Pass(&NEST_FLAT_MAPS)], TIDY), Pass(&HOIST_INDICES)];

/// Everything, for programs without derivative forms that people read.
pub const FOR_PEOPLE: &[Step] =
    &[All(PREPARE), All(READ_DIRECTLY), All(FUSE), All(TAPES), All(SHARE), Pass(&INSERT_COPIES)];

/// Everything, for programs without derivative forms that CPUs run.
pub const FOR_CPU: &[Step] = &[
    All(PREPARE),
    All(READ_DIRECTLY),
    All(FUSE),
    All(TAPES),
    All(SHARE),
    All(CONTRACT),
    All(LAY_OUT),
    Pass(&INSERT_COPIES),
];

/// Everything but fusion, for programs without derivative forms that become operations on whole arrays.
pub const FOR_WHOLE_ARRAYS: &[Step] = &[
    All(PREPARE),
    All(READ_DIRECTLY),
    Pass(&ELIMINATE_COMMON_SUBEXPRESSIONS),
    Pass(&ELIMINATE_DEAD_CODE),
    Pass(&INSERT_COPIES),
];

/// Operations that are what they look like: no calls, no accumulators that are sums, no checks that cannot fail.
const PREPARE: &[Step] = &[
    Pass(&INLINE_CALLS),
    Pass(&SIMPLIFY),
    Pass(&EXPAND_POWERS),
    Pass(&ELIMINATE_DEAD_CODE),
    IfChanged(&[Pass(&SIMPLIFY_ACCUMULATORS)], &[Pass(&SIMPLIFY)]),
    Pass(&HOIST_INVARIANTS),
    Pass(&ELIMINATE_COMMON_SUBEXPRESSIONS),
    Pass(&PROVE_BOUNDS),
    Pass(&SIMPLIFY),
    IfChanged(
        &[Pass(&SINGLE_OUT_ROWS)],
        &[Pass(&SIMPLIFY_ACCUMULATORS), Pass(&SIMPLIFY), Pass(&PROVE_BOUNDS)],
    ),
    // Before what they read are rows of arrays.
    IfChanged(&[Pass(&ENUMERATE_NONZERO_TERMS)], &[Pass(&SIMPLIFY)]),
];

/// Arrays are read where their elements are, and those that are read at a few places are not made.
const READ_DIRECTLY: &[Step] = &[
    Pass(&READ_ROWS),
    Pass(&SIMPLIFY),
    // What was read is a row now, and functions of it are the same in every iteration further in.
    Pass(&HOIST_INVARIANTS),
    IfChanged(&[Pass(&NEST_FLAT_MAPS)], &[Pass(&SIMPLIFY)]),
    Pass(&ELIMINATE_DEAD_CODE),
    IfChanged(&[Pass(&CHECK_WITHOUT_READING)], &[Pass(&ELIMINATE_DEAD_CODE)]),
    Pass(&HOIST_UNIFORM_CHECKS),
    IfChanged(
        &[Pass(&COMPUTE_WHAT_IS_READ)],
        &[Pass(&SIMPLIFY), Pass(&READ_ROWS), Pass(&SIMPLIFY), Pass(&ELIMINATE_DEAD_CODE)],
    ),
    IfChanged(&[Pass(&SKIP_INITIAL_WRITES)], TIDY),
];

/// Nests of maps are fused from the outside in, one level at a time.
const MOST_FUSIONS: usize = 4;

/// What was fused further out brings maps together further in.
const FUSE: &[Step] = &[UntilStable(
    MOST_FUSIONS,
    &[
        Pass(&DELAY_UPDATES),
        Pass(&FUSE_OPERATIONS),
        Pass(&UNROLL_SMALL),
        Pass(&REPLACE_BY_SCALARS),
        All(TIDY),
        // The maps around a product are one now.
        Pass(&DIVIDE_PRODUCTS),
        Pass(&FOLD_SHIFTS_INTO_READS),
    ],
)];

/// What loops keep for return sweeps.
const TAPES: &[Step] =
    &[IfChanged(&[Pass(&SHRINK_TAPES)], TIDY), IfChanged(&[Pass(&UNSWITCH_MAPS)], &[Pass(&SIMPLIFY)])];

/// What is computed once instead of again.
const SHARE: &[Step] = &[
    Pass(&PRECOMPUTE_FUNCTIONS),
    Pass(&ELIMINATE_COMMON_SUBEXPRESSIONS),
    Pass(&ELIMINATE_DEAD_CODE),
    Pass(&REUSE_SWEEPS),
    // Nothing is fused any more, to which a check would be in the way.
    Pass(&JOIN_CHECKS),
];

/// Sums of products as contractions.
const CONTRACT: &[Step] = &[
    Pass(&SUM_ROWS_BY_COLUMNS),
    Pass(&INTERCHANGE_GATHERS),
    Pass(&SPLIT_OFF_COLUMNS),
    Pass(&RAISE_CONTRACTIONS),
    Pass(&SIMPLIFY),
    // Both sweeps of a derivative may have had the same product.
    Pass(&ELIMINATE_COMMON_SUBEXPRESSIONS),
    Pass(&ELIMINATE_DEAD_CODE),
    // Before blocks, in which sums go round a loop, and rows have other numbers.
    Pass(&NOTE_TRIANGLES),
];

/// The order of what is in memory.
const LAY_OUT: &[Step] =
    &[IfChanged(&[Pass(&COMPUTE_IN_BLOCKS)], TIDY), IfChanged(&[Pass(&PUT_ROWS_AXIS_LAST)], TIDY)];
