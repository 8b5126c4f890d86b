//! The machine that code is made for, and every threshold of the choices that depend on it.
//!
//! Passes and the code generator choose among ways to compute the same: on threads or in order, by vectors or one by one, again
//! or from memory, once or twice in the code. Where such a choice rests on a number, the number is here, and so is what it
//! rests on. The numbers are those of the processors of today's workstations and servers, and were found by measurements of the
//! programs in `benches/`. Limits of analyses, which keep the compiler itself fast, stay with the analyses.

// What processors have.

/// The bytes of the largest vectors that code is made for; machines with smaller ones take several.
pub const VECTOR_BYTES: usize = 64;
/// The bytes that come from memory together.
pub const CACHE_LINE: usize = 64;

// Vectors and registers.

/// So many numbers of 64 bits fill the vectors of most machines.
pub const LANES_OF_F64: usize = VECTOR_BYTES / 8;
/// So many iterations are a block of a long loop: they fill a vector of `f32` on all machines, and two of `f64` on most.
pub const LANES_OF_F32: usize = VECTOR_BYTES / 4;
/// So many sums of gathered elements are added up at the same time, so that none waits for the one before.
pub const SUMS_AT_ONCE: usize = 8;
/// With more operations on what is gathered, vector units pay.
pub const SCALAR_GATHER_STATEMENTS: usize = 12;
/// So many parts of a piece are scanned at the same time: one alone would wait for the result of every step.
pub const SCAN_CHAINS: usize = 4;
/// With so many components an operator has enough to do for vector units, one element for each chain.
pub const WIDE_COMPONENTS: usize = 4;
/// The least or greatest of fewer rows is found before vectors of comparisons are set up and combined.
pub const SCALAR_EXTREMUM_ROWS: usize = 32;
/// The C compiler unrolls sums of fewer rows, if it knows that.
pub const UNROLLED_SUM_ROWS: i64 = 16;
/// A map of fewer rows fills no vector.
pub const VECTOR_MAP_ROWS: i64 = LANES_OF_F64 as i64;
/// Elements of rows that are not neighbours are written one by one, or by a detour, so that more are not worth it.
pub const NEIGHBOURING_ELEMENTS: usize = 4;
/// Unless there are so many statements for each of them, up to some number of elements.
pub const STATEMENTS_WORTH_AN_ELEMENT: usize = 8;
/// The most elements of a row that are written one by one.
pub const MOST_ELEMENTS_OF_ROWS: usize = 32;
/// Results of so many bytes are kept in registers at a time, which leaves some for the rest.
pub const REGISTER_BYTES: usize = 256;

// Memory.

/// Elements are fetched so many iterations ahead: about as long as memory takes.
pub const ELEMENTS_AHEAD: usize = 64;
/// The same for iterations that each use a row.
pub const ROWS_AHEAD: usize = 16;
/// Arrays of fewer bytes are in the cache of a core anyway.
pub const CACHED_BYTES: usize = 1 << 20;
/// Rows of more bytes last long enough for the processor to find out.
pub const FETCHED_ROW_BYTES: usize = 16 << 10;
/// So many operations for each element leave time to fetch others.
pub const FETCHING_OPERATIONS: f64 = 64.0;
/// Blocks of rows whose products are used up at once have so many elements: enough to occupy some threads, and few enough for
/// the caches.
pub const BLOCK_ELEMENTS: i64 = 1 << 16;
/// Blocks that end in a few sums have a multiple of so many rows, which fill the tiles of products.
pub const ROWS_OF_SUMMED_BLOCKS: i64 = 32;
/// The same for blocks that are added to a matrix, which is read and written for each of them.
pub const ROWS_OF_ADDED_BLOCKS: i64 = 64;
/// How many elements the tiles of a transposing copy have along each of two dimensions.
pub const COPY_TILE: i64 = 16;
/// Rows in a block that is transposed on its way to memory, `DZ_ROWS` in C.
pub const TURNED_ROWS: usize = 64;
/// Arrays of more elements are not on the stack.
pub const MOST_ELEMENTS_ON_STACK: usize = 64;
/// So many constants of a literal array are copied from a table.
pub const LEAST_TABLE: usize = 64;
/// Rows of so many numbers lie in a line of the cache.
pub const NUMBERS_OF_A_LINE: i64 = CACHE_LINE as i64 / 8;

// Work.

/// How often something runs if nobody knows.
pub const UNKNOWN_TIMES: f64 = 32.0;
/// What elementary functions, and calls of functions, cost beside an addition.
pub const FUNCTION_COST: f64 = 16.0;
/// So many cheap operations on a row are done a second time, and what they give is not kept.
pub const RECOMPUTED_STATEMENTS: usize = 40;
/// There must be so much else to do for each addition that is logged: to write it down and to read that takes longer than
/// the addition.
pub const LOGGING_COST: f64 = 12.0;
/// So many operations cost about as much as a value that is written and read again.
pub const STORED_VALUE_OPERATIONS: usize = 3;
/// Folds over fewer elements than this are computed again in return sweeps.
pub const RECOMPUTED_FOLD_ROWS: i64 = 16;
/// How many times larger than what a return sweep would need otherwise a value on the tape may be.
pub const MOST_TAPE_GROWTH: i64 = 8;

// Threads.

/// So many operations are worth threads inside of a loop that has some already.
pub const NESTED_WORK: f64 = 1_048_576.0;
/// So many operations are worth a call.
pub const CALL_WORK: f64 = 4096.0;
/// As many pieces as `dz_grain` makes, at most.
pub const MOST_PIECES: usize = 1032;
/// Loops without loops inside run so often before they ask whether to go on.
pub const ITERATIONS_BETWEEN_POLLS: i64 = 4096;
/// Accumulators of no more elements are copied for threads, if they can be.
pub const COPIED_ACCUMULATOR_ELEMENTS: usize = 65536;
/// With so many results at most, the rows of a sum of rows are looked at once.
pub const SUMMED_AT_ONCE: usize = 4096;
/// From so many elements on, a vector of sums is shared out among threads.
pub const SHARED_VECTOR_ELEMENTS: usize = 1024;
/// So many pieces of the rows have vectors of sums of their own.
pub const MOST_PIECES_WITH_VECTORS: usize = 64;
/// Parts of shared vectors have so many elements at least.
pub const LEAST_VECTOR_PART: usize = 512;
/// Longer rows of a sum are looked at once each: memory is best read in order.
pub const SUMMED_ROW_ELEMENTS: usize = 256;

// Size of code.

/// Code of more lines is not there twice to save a call or the setting up of a loop.
pub const MOST_LINES_TWICE: usize = 200;
/// Loops of no more statements may be there twice for the iterations that fill no vector.
pub const MOST_STATEMENTS_TWICE: usize = 64;
/// A border of so few iterations is over before vectors are set up.
pub const NARROW_BORDER: usize = 32;
/// Loops of no more statements in order are written out for some iterations.
pub const UNROLLED_STATEMENTS: usize = 12;
/// As many iterations of them.
pub const UNROLLED_ITERATIONS: usize = 4;
/// The largest width of an operation that is written out.
pub const UNROLLED_ROWS: i64 = 8;
/// The most statements that one operation may become.
pub const UNROLLED_OPERATION_STATEMENTS: usize = 48;
/// The most statements that the body of a longer map may become.
pub const UNROLLED_BODY_STATEMENTS: usize = 640;
/// The most elements of a row of a longer map that are written out.
pub const UNROLLED_ELEMENTS: i64 = NEIGHBOURING_ELEMENTS as i64;
/// Functions of at most so many statements are copied to every call.
pub const INLINED_STATEMENTS: usize = 24;
/// Nothing grows beyond so many statements by functions that are called more than once.
pub const MOST_STATEMENTS_BY_INLINING: usize = 4000;
/// The most elements of an array that is taken apart into scalars.
pub const REPLACED_ELEMENTS: i64 = 16;
/// Maps of no more statements are computed again where their results are read.
pub const SUNK_STATEMENTS: usize = 4;
/// More statements are not worth a second version.
pub const SECOND_VERSION_STATEMENTS: usize = 80;
/// Larger bodies gain nothing from being joined, and need more registers than there are.
pub const JOINED_STATEMENTS: usize = 60;
/// So many operations that two loops have in common are worth more than two simple loops.
pub const SHARED_OPERATIONS: usize = 8;
/// So many terms of a sum that is zero elsewhere are written out at most.
pub const NONZERO_TERMS: i64 = 2;
/// The largest exponent of which a product is made.
pub const MOST_FACTORS_OF_POWERS: i64 = 16;
/// Fewer rows of gathered sums are not worth a table.
pub const TABLE_ROWS: i64 = 4;
/// Regions of more statements are not worth a second version for the elements that are read.
pub const DEMANDED_REGION_STATEMENTS: usize = 3000;
/// The elements that are read are few if there are so many times as many in all.
pub const DEMANDED_SHARE: i64 = 2;
/// So many iterations are few: they are written out later.
pub const FEW_ITERATIONS: i64 = 8;
/// More alternatives for the terms of an accumulator are not worth their code.
pub const MOST_ALTERNATIVES: usize = 8;
