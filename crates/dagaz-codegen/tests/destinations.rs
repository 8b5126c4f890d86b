//! Results that are computed where they belong: in rows of maps, in parts of concatenations, and in arrays that loops keep.

mod statements;

use expect_test::{Expect, expect};

use statements::check;

#[test]
fn branches_write_to_the_row_of_a_map() {
    check(
        r#"def f (n: i64, m: i64, xs: [n]f64) : (ys: [n][m]f64) =
             let (ys: [n][m]f64) =
               map n (xs) \(x: f64) : ([m]f64) ->
                 let (is_less: bool) = f64.lt x 0.0f64
                 let (row: [m]f64) =
                   if is_less then
                     let (same: [m]f64) = replicate [m] x
                     in (same)
                   else
                     let (zeros: [m]f64) = replicate [m] 0.0f64
                     let (first: [m]f64) = zeros with [0i64] = x certified
                     in (first)
                 in (row)
             in (ys)

           entry "f" = f
             sizes 1 0
             param "m" : value "i64" i64
             param "xs" : value "[]f64" [n]f64
             result value "[][]f64" [n][m]f64"#,
        expect![[r#"
            same_8[i_t4] = x_5;
            zeros_9[i_t5] = 0.0;
            first_10[0L] = x_5;
            dz_block *ys_4_mem = dz_alloc(ctx, 1, dz_times(n_0, m_1), sizeof(f64), 10);
        "#]],
    );
}

#[test]
fn loops_update_the_row_of_a_map_and_need_no_first_values() {
    check(
        r#"def f (n: i64, m: i64, xs: [n]f64) : (ys: [n][m]f64) =
             let (ys: [n][m]f64) =
               map n (xs) \(x: f64) : ([m]f64) ->
                 let (zeros: [m]f64) = replicate [m] 0.0f64
                 let (row: [m]f64) =
                   loop (a: [m]f64 = zeros) for i: i64 < m do
                     let (b: [m]f64) = a with [i] = x certified
                     in (b)
                 in (row)
             in (ys)

           entry "f" = f
             sizes 1 0
             param "m" : value "i64" i64
             param "xs" : value "[]f64" [n]f64
             result value "[][]f64" [n][m]f64"#,
        expect![[r#"
            b_10[i_9] = x_5;
            dz_block *ys_4_mem = dz_alloc(ctx, 1, dz_times(n_0, m_1), sizeof(f64), 10);
        "#]],
    );
}

/// Two maps and their concatenation; `use` may use the first of them once more.
fn check_concat(use_again: &str, result: &str, expected: Expect) {
    check(
        &format!(
            r#"def f (n: i64, m: i64, k: i64, xs: [n]f64, ys: [m]f64) : (r: [k]f64, s: f64) =
                 let (as: [n]f64) =
                   map n (xs) \(x: f64) : (f64) ->
                     let (a: f64) = f64.add x x
                     in (a)
                 let (bs: [m]f64) =
                   map m (ys) \(y: f64) : (f64) ->
                     let (b: f64) = f64.neg y
                     in (b)
                 {use_again}
                 let (r: [k]f64) = concat (as, bs)
                 in (r, {result})

               entry "f" = f
                 sizes 3 0
                 param "xs" : value "[]f64" [n]f64
                 param "ys" : value "[]f64" [m]f64
                 result value "[]f64" [k]f64
                 result value "f64" f64"#
        ),
        expected,
    );
}

#[test]
fn the_parts_of_a_concatenation_are_made_there() {
    check_concat(
        "",
        "0.0f64",
        expect![[r#"
        as_7[i_t4] = a_9;
        bs_10[i_t8] = b_12;
        dz_block *r_13_mem = dz_alloc(ctx, 1, k_2, sizeof(f64), 10);
    "#]],
    );
}

#[test]
fn a_part_that_is_used_once_more_is_copied() {
    check_concat(
        "let (first: f64) = as[0i64]",
        "first",
        expect![[r#"
            as_7[i_t4] = a_9;
            bs_10[i_t8] = b_12;
            if (dz_is_unique(ctx, xs_3_mem)) {
            as_7_mem = dz_alloc(ctx, 1, n_0, sizeof(f64), 10);
            dz_block *r_14_mem = dz_alloc(ctx, 2, k_2, sizeof(f64), 10);
            dz_copy(ctx, r_14, as_7, n_0 * sizeof(f64));
        "#]],
    );
}

#[test]
fn rows_are_made_in_the_array_that_they_are_written_out_in() {
    check(
        r#"def f (n: i64, xs: [n]f64) : (r: [n][2i64][3i64]f64) =
             let (r: [n][2i64][3i64]f64) =
               map n (xs) \(x: f64) : ([2i64][3i64]f64) ->
                 let (y: f64) = f64.neg x
                 let (a: [3i64]f64) = array f64 (x, y, x)
                 let (b: [3i64]f64) = array f64 (y, x, y)
                 let (c: [2i64][3i64]f64) = array [3i64]f64 (a, b)
                 in (c)
             in (r)

           entry "f" = f
             sizes 1 0
             param "xs" : value "[]f64" [n]f64
             result value "[][2][3]f64" [n][2i64][3i64]f64"#,
        expect![[r#"
            a_6[0L] = x_4;
            a_6[1L] = y_5;
            a_6[2L] = x_4;
            b_7[0L] = y_5;
            b_7[1L] = x_4;
            b_7[2L] = y_5;
            dz_block *r_3_mem = dz_alloc(ctx, 1, dz_times(dz_times(n_0, 2L), 3L), sizeof(f64), 10);
        "#]],
    );
}

/// A loop makes each row of two arrays from the row before, whose first one is there if there are rows.
#[test]
fn rows_that_a_map_makes_of_the_rows_before_are_written_where_they_belong() {
    check(
        r#"def f (k: i64, n: i64, xs: [n]f64) : (r: [k][n]f64, s: [k][n]f64) =
             let (a: [k][n]f64) = scratch f64 [k, n]
             let (b: [k][n]f64) = scratch f64 [k, n]
             let (some: bool) = i64.lt 0i64 k
             let (c: [k][n]f64, d: [k][n]f64) =
               if some then
                 let (c: [k][n]f64) = a with [0i64] = xs certified
                 let (d: [k][n]f64) = b with [0i64] = xs certified
                 in (c, d)
               else in (a, b)
             let (rows: i64) = i64.sub k 1i64
             let (r: [k][n]f64, s: [k][n]f64) =
               loop (p: [k][n]f64 = c, q: [k][n]f64 = d) for i: i64 < rows do
                 let (next: i64) = i64.add i 1i64
                 let (js: [n]i64) = iota i64 n 0i64 1i64
                 let (x: [n]f64, y: [n]f64) = map n (js) \(j: i64) : (f64, f64) ->
                   let (before: f64) = p[i, j] certified
                   let (other: f64) = q[i, j] certified
                   let (sum: f64) = f64.add before other
                   let (product: f64) = f64.mul before other
                   in (sum, product)
                 let (p1: [k][n]f64) = p with [next] = x certified
                 let (q1: [k][n]f64) = q with [next] = y certified
                 in (p1, q1)
             in (r, s)
           entry "f" = f sizes 2 0
             param "k" : value "i64" i64
             param "xs" : value "[]f64" [n]f64
             result value "[][]f64" [k][n]f64
             result value "[][]f64" [k][n]f64"#,
        expect![[r#"
            x_20[i_t5] = sum_25;
            y_21[i_t5] = product_26;
            dz_block *a_5_mem = dz_alloc(ctx, 3, dz_times(k_0, n_1), sizeof(f64), 10);
            dz_block *b_6_mem = dz_alloc(ctx, 6, dz_times(k_0, n_1), sizeof(f64), 10);
            c_10_mem = dz_unique(ctx, 7, c_10_mem, c_10, dz_times(k_0, n_1), sizeof(f64), 10);
            dz_copy(ctx, c_10, xs_2, n_1 * sizeof(f64));
            d_11_mem = dz_unique(ctx, 8, d_11_mem, d_11, dz_times(k_0, n_1), sizeof(f64), 10);
            dz_copy(ctx, d_11, xs_2, n_1 * sizeof(f64));
            p_15_mem = dz_unique(ctx, 9, p_15_mem, p_15, dz_times(k_0, n_1), sizeof(f64), 10);
            q_16_mem = dz_unique(ctx, 10, q_16_mem, q_16, dz_times(k_0, n_1), sizeof(f64), 10);
        "#]],
    );
}

/// A loop keeps products, of which it carries a row that `row` makes.
fn check_kept_product(row: &str, expected: Expect) {
    check(
        &format!(
            r#"def f (n: i64, m: i64, k: i64, x: [n][m][k]f64, w: [k][m]f64, first: [m]f64) : (r: [n][m][m]f64, s: [m]f64) =
                 let (none: [n][m][m]f64) = scratch f64 [n, m, m]
                 let (kept: [n][m][m]f64, last: [m]f64) =
                   loop (ks: [n][m][m]f64 = none, before: [m]f64 = first) for i: i64 < n do
                     let (a: [m][k]f64) = x[i] certified
                     let (p: [m][m]f64) = contract [m, m] sum [k] a (0, 2) w (2, 1)
                     {row}
                     let (later: [n][m][m]f64) = ks with [i] = p certified
                     in (later, row)
                 in (kept, last)

               entry "f" = f
                 sizes 3 0
                 param "x" : value "[][][]f64" [n][m][k]f64
                 param "w" : value "[][]f64" [k][m]f64
                 param "first" : value "[]f64" [m]f64
                 result value "[][][]f64" [n][m][m]f64
                 result value "[]f64" [m]f64"#
        ),
        expected,
    );
}

#[test]
fn a_product_is_made_where_it_is_kept_and_read_there() {
    let sums = r"let (row: [m]f64) = map m (p) \(own: [m]f64) : (f64) ->
      let (s: f64) = reduce m (own) op \(x: f64, y: f64) : (f64) ->
        let (z: f64) = f64.add x y
        in (z)
      neutral (0.0f64)
      in (s)";
    check_kept_product(
        sums,
        expect![[r#"
            part_t11[i_t12] = y_20;
            part_t14[i_t15] = value_t17;
            row_16[i_t6] = s_18;
            dz_block *none_8_mem = dz_alloc(ctx, 4, dz_times(dz_times(n_0, m_1), m_1), sizeof(f64), 10);
            ks_11_mem = dz_unique(ctx, 5, ks_11_mem, ks_11, dz_times(dz_times(n_0, m_1), m_1), sizeof(f64), 10);
            dz_block *row_16_mem = dz_alloc(ctx, 8, m_1, sizeof(f64), 10);
        "#]],
    );
}

#[test]
fn a_product_is_copied_to_where_it_is_kept_if_the_loop_has_a_row_of_it() {
    check_kept_product(
        "let (row: [m]f64) = p[0i64]",
        expect![[r#"
            dz_block *none_8_mem = dz_alloc(ctx, 4, dz_times(dz_times(n_0, m_1), m_1), sizeof(f64), 10);
            ks_11_mem = dz_unique(ctx, 5, ks_11_mem, ks_11, dz_times(dz_times(n_0, m_1), m_1), sizeof(f64), 10);
            dz_block *p_15_mem = dz_alloc(ctx, 7, dz_times(m_1, m_1), sizeof(f64), 10);
            dz_copy(ctx, later_17 + i_13 * (m_1 * m_1), p_15, m_1 * m_1 * sizeof(f64));
        "#]],
    );
}

#[test]
fn a_product_is_copied_to_where_it_is_kept_if_that_is_read_before() {
    check_kept_product(
        r"let (old: [m]f64) = ks[i, 0i64]
          let (row: [m]f64) = map m (old, before) \(x: f64, y: f64) : (f64) ->
            let (z: f64) = f64.add x y
            in (z)",
        expect![[r#"
            row_17[i_t7] = z_20;
            dz_block *none_8_mem = dz_alloc(ctx, 4, dz_times(dz_times(n_0, m_1), m_1), sizeof(f64), 10);
            memset(none_8, 0, n_0 * m_1 * m_1 * sizeof(f64));
            ks_11_mem = dz_unique(ctx, 5, ks_11_mem, ks_11, dz_times(dz_times(n_0, m_1), m_1), sizeof(f64), 10);
            dz_block *p_15_mem = dz_alloc(ctx, 7, dz_times(m_1, m_1), sizeof(f64), 10);
            if (dz_is_unique(ctx, before_12_mem)) {
            row_17_mem = dz_alloc(ctx, 10, m_1, sizeof(f64), 10);
            dz_copy(ctx, later_21 + i_13 * (m_1 * m_1), p_15, m_1 * m_1 * sizeof(f64));
        "#]],
    );
}

#[test]
fn what_a_loop_fills_is_made_where_an_outer_loop_keeps_it() {
    check(
        r#"def f (n: i64, m: i64, x: [m]f64) : (r: [n][m][m]f64) =
             let (none: [n][m][m]f64) = scratch f64 [n, m, m]
             let (kept: [n][m][m]f64) =
               loop (ks: [n][m][m]f64 = none) for i: i64 < n do
                 let (empty: [m][m]f64) = scratch f64 [m, m]
                 let (full: [m][m]f64) =
                   loop (rows: [m][m]f64 = empty) for j: i64 < m do
                     let (more: [m][m]f64) = rows with [j] = x certified
                     in (more)
                 let (later: [n][m][m]f64) = ks with [i] = full certified
                 in (later)
             in (kept)

           entry "f" = f
             sizes 2 0
             param "x" : value "[]f64" [m]f64
             result value "[][][]f64" [n][m][m]f64"#,
        expect![[r#"
            dz_block *none_4_mem = dz_alloc(ctx, 4, dz_times(dz_times(n_0, m_1), m_1), sizeof(f64), 10);
            ks_6_mem = dz_unique(ctx, 5, ks_6_mem, ks_6, dz_times(dz_times(n_0, m_1), m_1), sizeof(f64), 10);
            dz_copy(ctx, more_12 + j_11 * m_1, x_2, m_1 * sizeof(f64));
        "#]],
    );
}
