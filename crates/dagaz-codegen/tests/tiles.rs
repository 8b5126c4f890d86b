//! Rows that the chains of a scan read and write side by side.

use dagaz_codegen::generate_body;
use dagaz_core::parse::parse;
use expect_test::{Expect, expect};

/// A scan with two by two matrices in rows of `width` elements, of which it takes those at `places`, and what follows it. Shows the
/// loops over chains that have tiles, with what they copy, read and write.
fn check(width: usize, places: [usize; 4], (rest, result, ty): (&str, &str, &str), expected: Expect) {
    let [a, b, c, d] = places;
    let core = format!(
        r#"def f (n: i64, m: [n][{width}i64]f64, ys: [n]f64) : (r: {result}) =
             let (as: [n]f64, bs: [n]f64, cs: [n]f64, ds: [n]f64) = scan n (m)
               pre \(x: [{width}i64]f64) : (f64, f64, f64, f64) ->
                 let (x0: f64) = x[{a}i64] certified
                 let (x1: f64) = x[{b}i64] certified
                 let (x2: f64) = x[{c}i64] certified
                 let (x3: f64) = x[{d}i64] certified
                 in (x0, x1, x2, x3)
               op \(x0: f64, x1: f64, x2: f64, x3: f64, y0: f64, y1: f64, y2: f64, y3: f64) : (f64, f64, f64, f64) ->
                 let (a0: f64) = f64.mul x0 y0
                 let (a1: f64) = f64.mul x1 y2
                 let (a2: f64) = f64.add a0 a1
                 let (b0: f64) = f64.mul x0 y1
                 let (b1: f64) = f64.mul x1 y3
                 let (b2: f64) = f64.add b0 b1
                 let (c0: f64) = f64.mul x2 y0
                 let (c1: f64) = f64.mul x3 y2
                 let (c2: f64) = f64.add c0 c1
                 let (d0: f64) = f64.mul x2 y1
                 let (d1: f64) = f64.mul x3 y3
                 let (d2: f64) = f64.add d0 d1
                 in (a2, b2, c2, d2)
               neutral (1.0f64, 0.0f64, 0.0f64, 1.0f64)
             {rest}
             in (r)
           entry "f" = f sizes 1 0
             param "m" : value "[][{width}]f64" [n][{width}i64]f64
             param "ys" : value "[]f64" [n]f64
             result value "{ty}" {result}"#
    );
    let program = parse(&core).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_shown = |line: &&&str| ["tile_", "DZ_FETCH", "#pragma omp"].iter().any(|text| line.contains(text));
    let shown: Vec<&str> = lines.iter().filter(is_shown).copied().collect();
    expected.assert_eq(&(shown.join("\n") + "\n"));
}

/// A row of all results.
const ROWS: (&str, &str, &str) = (
    r"let (r: [n][4i64]f64) = map n (as, bs, cs, ds)
               \(p: f64, q: f64, s: f64, t: f64) : ([4i64]f64) ->
                 let (row: [4i64]f64) = array f64 (t, s, q, p)
                 in (row)",
    "[n][4i64]f64",
    "[][4]f64",
);

/// Reads where nothing is written before.
const SUM: (&str, &str, &str) = (
    r"let (r: f64) = reduce n (as)
               op \(x: f64, y: f64) : (f64) ->
                 let (z: f64) = f64.add x y
                 in (z)
               neutral (0.0f64)",
    "f64",
    "f64",
);

/// Something is read after the first result is written.
const TWO: (&str, &str, &str) = (
    r"let (r: [n][4i64]f64) = map n (as, bs, cs, ds)
               \(p: f64, q: f64, s: f64, t: f64) : ([4i64]f64) ->
                 let (row: [4i64]f64) = array f64 (t, s, q, p)
                 in (row)
             let (unused: [n]f64) = map n (as, ys)
               \(p: f64, y: f64) : (f64) ->
                 let (z: f64) = f64.mul p y
                 in (z)
             let (last: f64) = unused[0i64]",
    "[n][4i64]f64",
    "[][4]f64",
);

#[test]
fn rows_are_read_and_written_in_tiles() {
    check(
        4,
        [0, 1, 2, 3],
        ROWS,
        expect![[r#"
            f64 tile_t31[4][4];
            memcpy(tile_t31[i_t25], m_1 + (4L * first_t10 + 4L * i_t24 + 4L * i_t25 * length_t12), 4L * sizeof(f64));
            #pragma omp simd
            f64 x0_9 = tile_t31[i_t25][0L];
            f64 x1_10 = tile_t31[i_t25][1L];
            f64 x2_11 = tile_t31[i_t25][2L];
            f64 x3_12 = tile_t31[i_t25][3L];
            f64 tile_t56[4][4];
            f64 tile_t57[4][4];
            memcpy(tile_t56[i_t50], m_1 + (4L * first_t10 + 4L * i_t49 + 4L * i_t50 * length_t12), 4L * sizeof(f64));
            DZ_FETCH((u64)(m_1 + (4L * first_t10 + 4L * i_t49 + 4L * i_t50 * length_t12)) + (u64)(4L * (grain_t1 * ctx->threads)) * sizeof(f64), false);
            #pragma omp simd
            f64 x0_9 = tile_t56[i_t50][0L];
            f64 x1_10 = tile_t56[i_t50][1L];
            f64 x2_11 = tile_t56[i_t50][2L];
            f64 x3_12 = tile_t56[i_t50][3L];
            tile_t57[i_t50][0L] = t_37;
            tile_t57[i_t50][1L] = s_36;
            tile_t57[i_t50][2L] = q_35;
            tile_t57[i_t50][3L] = p_34;
            memcpy(r_33 + (4L * first_t10 + 4L * i_t49 + 4L * i_t50 * length_t12), tile_t57[i_t50], 4L * sizeof(f64));
        "#]],
    );
}

#[test]
fn a_tile_is_a_part_of_a_longer_row_in_any_order() {
    check(
        6,
        [4, 2, 3, 1],
        SUM,
        expect![[r#"
            f64 tile_t32[4][4];
            memcpy(tile_t32[i_t26], m_1 + (1L + 6L * first_t11 + 6L * i_t25 + 6L * i_t26 * length_t13), 4L * sizeof(f64));
            #pragma omp simd
            f64 x0_9 = tile_t32[i_t26][3L];
            f64 x1_10 = tile_t32[i_t26][1L];
            f64 x2_11 = tile_t32[i_t26][2L];
            f64 x3_12 = tile_t32[i_t26][0L];
            f64 tile_t61[4][4];
            memcpy(tile_t61[i_t54], m_1 + (1L + 6L * first_t11 + 6L * i_t53 + 6L * i_t54 * length_t13), 4L * sizeof(f64));
            DZ_FETCH((u64)(m_1 + (1L + 6L * first_t11 + 6L * i_t53 + 6L * i_t54 * length_t13)) + (u64)(6L * (grain_t1 * ctx->threads)) * sizeof(f64), false);
            #pragma omp simd
            f64 x0_9 = tile_t61[i_t54][3L];
            f64 x1_10 = tile_t61[i_t54][1L];
            f64 x2_11 = tile_t61[i_t54][2L];
            f64 x3_12 = tile_t61[i_t54][0L];
        "#]],
    );
}

#[test]
fn elements_that_are_apart_have_no_tile() {
    check(
        6,
        [0, 1, 2, 5],
        SUM,
        expect![[r#"
        #pragma omp simd
        #pragma omp simd
    "#]],
    );
}

#[test]
fn what_is_followed_by_reading_is_written_at_once() {
    check(
        4,
        [0, 1, 2, 3],
        TWO,
        expect![[r#"
            f64 tile_t31[4][4];
            memcpy(tile_t31[i_t25], m_1 + (4L * first_t10 + 4L * i_t24 + 4L * i_t25 * length_t12), 4L * sizeof(f64));
            #pragma omp simd
            f64 x0_9 = tile_t31[i_t25][0L];
            f64 x1_10 = tile_t31[i_t25][1L];
            f64 x2_11 = tile_t31[i_t25][2L];
            f64 x3_12 = tile_t31[i_t25][3L];
            f64 tile_t56[4][4];
            memcpy(tile_t56[i_t50], m_1 + (4L * first_t10 + 4L * i_t49 + 4L * i_t50 * length_t12), 4L * sizeof(f64));
            DZ_FETCH((u64)(m_1 + (4L * first_t10 + 4L * i_t49 + 4L * i_t50 * length_t12)) + (u64)(4L * (grain_t1 * ctx->threads)) * sizeof(f64), false);
            #pragma omp simd
            f64 x0_9 = tile_t56[i_t50][0L];
            f64 x1_10 = tile_t56[i_t50][1L];
            f64 x2_11 = tile_t56[i_t50][2L];
            f64 x3_12 = tile_t56[i_t50][3L];
        "#]],
    );
}
