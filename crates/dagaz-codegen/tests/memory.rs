//! Where the C of small programs gets memory, and what it copies.

mod statements;

use expect_test::{Expect, expect};

use statements::check;

/// Part of a matrix is made anew, from `input` and by `new`, and written where `place` says.
fn check_update(input: &str, new: &str, place: &str, expected: Expect) {
    check(
        &format!(
            r#"def f (n: i64, k: i64, a: [n][n]f64) : (r: [n][n]f64) =
                 let (b: [n][n]f64) = copy a
                 let (next: i64) = i64.add k 1i64
                 let (m: i64) = i64.sub n next
                 let (row: [m]f64) = slice b [k, next :+ m * 1i64]
                 let (part: [m][m]f64) = slice b [{input}]
                 let (new: [m][m]f64) =
                   map m (part) \(old: [m]f64) : ([m]f64) ->
                     {new}
                     in (made)
                 let (r: [n][n]f64) = b with [{place}] = new
                 in (r)

               entry "f" = f
                 sizes 1 0
                 param "k" : value "i64" i64
                 param "a" : value "[][]f64" [n][n]f64
                 result value "[][]f64" [n][n]f64"#
        ),
        expected,
    );
}

const PART: &str = "next :+ m * 1i64, next :+ m * 1i64";
const MINUS_ROW: &str = r"let (made: [m]f64) =
  map m (old, row) \(x: f64, y: f64) : (f64) ->
    let (z: f64) = f64.sub x y
    in (z)";

#[test]
fn a_map_of_a_part_and_another_row_writes_into_the_part() {
    check_update(
        PART,
        MINUS_ROW,
        PART,
        expect![[r#"
            made_11[i_t5] = z_14;
            b_4_mem = dz_unique(ctx, 1, b_4_mem, b_4, dz_times(n_0, n_0), sizeof(f64), 10);
            b_4_mem = dz_unique(ctx, 2, b_4_mem, b_4, dz_times(n_0, n_0), sizeof(f64), 10);
            r_15_mem = dz_unique(ctx, 4, r_15_mem, r_15, dz_times(n_0, n_0), sizeof(f64), 10);
        "#]],
    );
}

#[test]
fn parts_that_overlap_are_copied() {
    check_update(
        "k :+ m * 1i64, next :+ m * 1i64",
        MINUS_ROW,
        PART,
        expect![[r#"
            made_11[i_t5] = z_14;
            b_4_mem = dz_unique(ctx, 1, b_4_mem, b_4, dz_times(n_0, n_0), sizeof(f64), 10);
            dz_block *new_9_mem = dz_alloc(ctx, 2, dz_times(m_6, m_6), sizeof(f64), 10);
            r_15_mem = dz_unique(ctx, 4, r_15_mem, r_15, dz_times(n_0, n_0), sizeof(f64), 10);
            r_15[(next_5 + i_t6) * n_0 + (next_5 + i_t7)] = new_9[i_t6 * m_6 + i_t7];
        "#]],
    );
}

#[test]
fn reversed_rows_are_copied() {
    let reversed = r"let (last: i64) = i64.sub m 1i64
        let (back: [m]f64) = slice old [last :+ m * -1i64]
        let (made: [m]f64) =
          map m (old, back) \(x: f64, y: f64) : (f64) ->
            let (z: f64) = f64.sub x y
            in (z)";
    check_update(
        PART,
        reversed,
        PART,
        expect![[r#"
            made_13[i_t5] = z_16;
            b_4_mem = dz_unique(ctx, 1, b_4_mem, b_4, dz_times(n_0, n_0), sizeof(f64), 10);
            dz_block *new_9_mem = dz_alloc(ctx, 2, dz_times(m_6, m_6), sizeof(f64), 10);
            r_17_mem = dz_unique(ctx, 4, r_17_mem, r_17, dz_times(n_0, n_0), sizeof(f64), 10);
            r_17[(next_5 + i_t6) * n_0 + (next_5 + i_t7)] = new_9[i_t6 * m_6 + i_t7];
        "#]],
    );
}

#[test]
fn columns_are_copied() {
    let columns = r"let (first: i64) = i64.add next 0i64
        let (column: [m]f64) = slice b [next :+ m * 1i64, first]
        let (made: [m]f64) =
          map m (old, column) \(x: f64, y: f64) : (f64) ->
            let (z: f64) = f64.sub x y
            in (z)";
    check_update(
        PART,
        columns,
        PART,
        expect![[r#"
            made_13[i_t5] = z_16;
            b_4_mem = dz_unique(ctx, 1, b_4_mem, b_4, dz_times(n_0, n_0), sizeof(f64), 10);
            dz_block *new_9_mem = dz_alloc(ctx, 2, dz_times(m_6, m_6), sizeof(f64), 10);
            r_17_mem = dz_unique(ctx, 4, r_17_mem, r_17, dz_times(n_0, n_0), sizeof(f64), 10);
            r_17[(next_5 + i_t6) * n_0 + (next_5 + i_t7)] = new_9[i_t6 * m_6 + i_t7];
        "#]],
    );
}

#[test]
fn small_arrays_are_on_the_stack() {
    check(
        r#"def f (n: i64, xs: [n]f64) : (ys: [n]f64) =
             let (ys: [n]f64) =
               map n (xs) \(x: f64) : (f64) ->
                 let (both: [2]f64) = array f64 (x, 1.0f64)
                 let (i: i64) = f64.to_i64 x
                 let (y: f64) = both[i]
                 in (y)
             in (ys)

           entry "f" = f
             sizes 1 0
             param "xs" : value "[]f64" [n]f64
             result value "[]f64" [n]f64"#,
        expect![[r#"
            f64 both_5_room[2];
            both_5[0L] = x_4;
            both_5[1L] = 1.0;
            ys_3[i_t3] = y_7;
            dz_block *ys_3_mem = dz_alloc(ctx, 1, n_0, sizeof(f64), 10);
        "#]],
    );
}

#[test]
fn results_of_scans_that_nobody_reads_are_not_kept() {
    check(
        r#"def f (n: i64, xs: [n]f64, ys: [n]f64) : (r: [n]f64) =
             let (p: [n]f64, r: [n]f64) = scan n (xs, ys)
               pre \(x: f64, y: f64) : (f64, f64) ->
                 let (z: f64) = f64.mul x y
                 in (x, z)
               op \(a: f64, b: f64, c: f64, d: f64) : (f64, f64) ->
                 let (e: f64) = f64.mul a c
                 let (g: f64) = f64.mul b c
                 let (h: f64) = f64.add g d
                 in (e, h)
               neutral (1.0f64, 0.0f64)
             in (r)
           entry "f" = f sizes 1 0
             param "xs" : value "[]f64" [n]f64
             param "ys" : value "[]f64" [n]f64
             result value "[]f64" [n]f64"#,
        expect![[r#"
            chain_t11[i_t13] = 1.0;
            chain_t12[i_t13] = 0.0;
            chain_t11[0L] = a_9;
            chain_t12[0L] = b_10;
            chain_t11[i_t19 + 1L] = a_9;
            chain_t12[i_t19 + 1L] = b_10;
            chain_t11[5L] = a_9;
            chain_t12[5L] = b_10;
            chain_t11[i_t27] = a_9;
            chain_t12[i_t27] = b_10;
            part_t2[piece_t7 + 1L] = a_9;
            part_t3[piece_t7 + 1L] = b_10;
            chain_t12[0L] = b_10;
            r_5[at_t31] = b_10;
            chain_t12[i_t35 + 1L] = b_10;
            r_5[at_t36] = b_10;
            chain_t12[5L] = b_10;
            r_5[at_t40] = b_10;
            dz_block *r_5_mem = dz_alloc(ctx, 1, n_0, sizeof(f64), 10);
            f64 part_t2_room[1032];
            f64 part_t3_room[1032];
            char ready_t4_room[1032] = {1L};
            part_t2[0L] = 1.0;
            part_t3[0L] = 0.0;
        "#]],
    );
}

/// The squares of a row are on the stack if there are few, and numbers of rows are nowhere.
#[test]
fn small_arrays_of_iterations_are_on_the_stack() {
    check(
        r#"def f (n: i64, m: i64, xss: [n][m]f64) : (places: [n]i64) =
            let (js: [m]i64) = iota i64 m 0i64 1i64
            let (places: [n]i64) = map n (xss)
              \(xs: [m]f64) : (i64) ->
                let (squares: [m]f64) = map m (xs) \(x: f64) : (f64) -> let (y: f64) = f64.mul x x in (y)
                let (greatest: f64) = reduce m (squares)
                  op \(a: f64, b: f64) : (f64) -> let (c: f64) = f64.max a b in (c)
                  neutral (-f64.inf)
                let (place: i64) = reduce m (js, squares)
                  pre \(j: i64, y: f64) : (i64) ->
                    let (is_it: bool) = f64.eq y greatest
                    let (k: i64) = if is_it then in (j) else in (m)
                    in (k)
                  op \(a: i64, b: i64) : (i64) -> let (c: i64) = i64.min a b in (c)
                  neutral (m)
                in (place)
            in (places)

          entry "f" = f
            sizes 2 0
            param "xss" : value "[][]f64" [n][m]f64
            result value "[]i64" [n]i64"#,
        expect![[r#"
            f64 squares_7_room[64];
            squares_7_mem = dz_alloc(ctx, outside->sites[1], m_1, sizeof(f64), 10);
            squares_7[i_t5] = y_9;
            places_5[i_t3] = place_14;
            dz_block *places_5_mem = dz_alloc(ctx, 2, n_0, sizeof(i64), 3);
        "#]],
    );
}

/// What is on the stack is copied where it changes.
#[test]
fn arrays_on_the_stack_are_not_taken_over() {
    check(
        r#"def f (n: i64, m: i64, xss: [n][m]f64) : (sums: [n]f64) =
            let (sums: [n]f64) = map n (xss)
              \(xs: [m]f64) : (f64) ->
                let (squares: [m]f64) = map m (xs) \(x: f64) : (f64) -> let (y: f64) = f64.mul x x in (y)
                let (all: [m]f64) = copy squares
                let (changed: [m]f64) = all with [0i64] = 1.0f64
                let (sum: f64) = reduce m (changed)
                  op \(a: f64, b: f64) : (f64) -> let (c: f64) = f64.max a b in (c)
                  neutral (-f64.inf)
                in (sum)
            in (sums)

          entry "f" = f
            sizes 2 0
            param "xss" : value "[][]f64" [n][m]f64
            result value "[]f64" [n]f64"#,
        expect![[r#"
            f64 squares_6_room[64];
            squares_6_mem = dz_alloc(ctx, outside->sites[1], m_1, sizeof(f64), 10);
            squares_6[i_t5] = y_8;
            dz_block *all_9_mem = dz_alloc(ctx, outside->sites[2], m_1, sizeof(f64), 10);
            memcpy(all_9, squares_6, m_1 * sizeof(f64));
            changed_10_mem = dz_unique(ctx, outside->sites[4], changed_10_mem, changed_10, m_1, sizeof(f64), 10);
            changed_10[0L] = 1.0;
            sums_4[i_t3] = sum_11;
            dz_block *sums_4_mem = dz_alloc(ctx, 1, n_0, sizeof(f64), 10);
        "#]],
    );
}

/// States of a loop are kept, each in row `row`.
fn check_saving(row: &str, expected: Expect) {
    check(
        &format!(
            r#"def f (n: i64, k: i64, xs: [n]f64) : (r: [k][n]f64) =
                 let (saved: [k][n]f64) = scratch f64 [k, n]
                 let (last: [n]f64, r: [k][n]f64) =
                   loop (x: [n]f64 = xs, s: [k][n]f64 = saved) for i: i64 < k do
                     let (kept: [k][n]f64) = s with [{row}] = x
                     let (y: [n]f64) = map n (x) \(e: f64) : (f64) -> let (d: f64) = f64.mul e e in (d)
                     in (y, kept)
                 in (r)

               entry "f" = f
                 sizes 1 0
                 param "k" : value "i64" i64
                 param "xs" : value "[]f64" [n]f64
                 result value "[][]f64" [k][n]f64"#
        ),
        expected,
    );
}

#[test]
fn what_a_loop_fills_row_by_row_is_not_filled_before() {
    check_saving(
        "i",
        expect![[r#"
            y_11[i_t6] = d_13;
            dz_block *saved_4_mem = dz_alloc(ctx, 3, dz_times(k_1, n_0), sizeof(f64), 10);
            s_8_mem = dz_unique(ctx, 4, s_8_mem, s_8, dz_times(k_1, n_0), sizeof(f64), 10);
            dz_copy(ctx, kept_10 + i_9 * n_0, x_7, n_0 * sizeof(f64));
            if (dz_is_unique(ctx, x_7_mem)) {
            y_11_mem = dz_alloc(ctx, 7, n_0, sizeof(f64), 10);
        "#]],
    );
}

#[test]
fn what_a_loop_fills_elsewhere_has_zeros_before() {
    check_saving(
        "0i64",
        expect![[r#"
            y_11[i_t6] = d_13;
            dz_block *saved_4_mem = dz_alloc(ctx, 3, dz_times(k_1, n_0), sizeof(f64), 10);
            memset(saved_4, 0, k_1 * n_0 * sizeof(f64));
            s_8_mem = dz_unique(ctx, 4, s_8_mem, s_8, dz_times(k_1, n_0), sizeof(f64), 10);
            dz_copy(ctx, kept_10, x_7, n_0 * sizeof(f64));
            if (dz_is_unique(ctx, x_7_mem)) {
            y_11_mem = dz_alloc(ctx, 7, n_0, sizeof(f64), 10);
        "#]],
    );
}

/// The sums of a matrix and what is added to it in every step.
fn check_sums(row: &str, expected: Expect) {
    check(
        &format!(
            r#"def f (m: i64, n: i64, k: i64, xs: [m][n]f64) : (r: [m][n]f64) =
                 let (zeros: [m][n]f64) = replicate [m, n] 0.0f64
                 let (r: [m][n]f64) =
                   loop (sums: [m][n]f64 = zeros) for i: i64 < k do
                     let (next: [m][n]f64) = map m (sums, xs) \(s: [n]f64, x: [n]f64) : ([n]f64) ->
                       {row}
                       in (t)
                     in (next)
                 in (r)

               entry "f" = f
                 sizes 2 0
                 param "k" : value "i64" i64
                 param "xs" : value "[][]f64" [m][n]f64
                 result value "[][]f64" [m][n]f64"#
        ),
        expected,
    );
}

#[test]
fn a_map_writes_over_what_it_reads_for_the_last_time() {
    check_sums(
        r"let (t: [n]f64) = map n (s, x) \(a: f64, b: f64) : (f64) -> let (c: f64) = f64.add a b in (c)",
        expect![[r#"
            zeros_5[i_t3] = 0.0;
            t_12[i_t10] = c_15;
            dz_block *zeros_5_mem = dz_alloc(ctx, 3, dz_times(m_0, n_1), sizeof(f64), 10);
            if (dz_is_unique(ctx, sums_7_mem)) {
            next_9_mem = dz_alloc(ctx, 5, dz_times(m_0, n_1), sizeof(f64), 10);
        "#]],
    );
}

/// The last element of a row is needed by all others.
#[test]
fn rows_that_are_read_elsewhere_are_not_written_over() {
    check_sums(
        r"let (last: i64) = i64.sub n 1i64
          let (end: f64) = s[last] certified
          let (t: [n]f64) = map n (s, x) \(a: f64, b: f64) : (f64) -> let (c: f64) = f64.add end b in (c)",
        expect![[r#"
            zeros_5[i_t3] = 0.0;
            t_14[i_t10] = c_17;
            dz_block *zeros_5_mem = dz_alloc(ctx, 3, dz_times(m_0, n_1), sizeof(f64), 10);
            dz_block *next_9_mem = dz_alloc(ctx, 5, dz_times(m_0, n_1), sizeof(f64), 10);
        "#]],
    );
}

/// A map over an array that was made before, and used by a reduction.
fn check_reuse(afterwards: &str, expected: Expect) {
    check(
        &format!(
            r#"def f (n: i64, m: i64, xss: [n][m]f64) : (r: [n][m]f64, s: f64) =
                 let (a: [n][m]f64) =
                   map n (xss) \(xs: [m]f64) : ([m]f64) ->
                     let (ys: [m]f64) = map m (xs) \(x: f64) : (f64) ->
                       let (y: f64) = f64.exp x
                       in (y)
                     in (ys)
                 let (r: [n][m]f64) =
                   map n (a) \(ys: [m]f64) : ([m]f64) ->
                     let (most: f64) = reduce m (ys)
                       op \(p: f64, q: f64) : (f64) -> let (t: f64) = f64.add p q in (t)
                       neutral (0.0f64)
                     let (zs: [m]f64) = map m (ys) \(y: f64) : (f64) ->
                       let (z: f64) = f64.div y most
                       in (z)
                     in (zs)
                 let (s: f64) = {afterwards}[0i64, 0i64] certified
                 in (r, s)

               entry "f" = f
                 sizes 2 0
                 param "xss" : value "[][]f64" [n][m]f64
                 result value "[][]f64" [n][m]f64
                 result value "f64" f64"#
        ),
        expected,
    );
}

#[test]
fn a_map_takes_the_memory_of_what_it_uses_last() {
    check_reuse(
        "r",
        expect![[r#"
            ys_7[i_t7] = y_9;
            ys_7[i_t10] = y_9;
            part_t18[i_t19] = q_14;
            part_t21[i_t22] = value_t24;
            zs_16[i_t28] = z_18;
            if (dz_is_unique(ctx, xss_2_mem)) {
            a_5_mem = dz_alloc(ctx, 1, dz_times(n_0, m_1), sizeof(f64), 10);
            if (dz_is_unique(ctx, a_5_mem)) {
            r_10_mem = dz_alloc(ctx, 3, dz_times(n_0, m_1), sizeof(f64), 10);
        "#]],
    );
}

#[test]
fn what_is_used_afterwards_keeps_its_memory() {
    check_reuse(
        "a",
        expect![[r#"
            ys_7[i_t7] = y_9;
            ys_7[i_t10] = y_9;
            part_t18[i_t19] = q_14;
            part_t21[i_t22] = value_t24;
            zs_16[i_t28] = z_18;
            if (dz_is_unique(ctx, xss_2_mem)) {
            a_5_mem = dz_alloc(ctx, 1, dz_times(n_0, m_1), sizeof(f64), 10);
            dz_block *r_10_mem = dz_alloc(ctx, 3, dz_times(n_0, m_1), sizeof(f64), 10);
        "#]],
    );
}

#[test]
fn a_matrix_of_an_array_is_copied_at_once() {
    check(
        r#"def f (n: i64, m: i64, a: [n][m][m]f64, b: [n][m][m]f64) : (r: [n][m][m]f64) =
             let (c: [n][m][m]f64) = copy b
             let (r: [n][m][m]f64) =
               loop (x: [n][m][m]f64 = c) for i: i64 < n do
                 let (row: [m][m]f64) = a[i] certified
                 let (y: [n][m][m]f64) = x with [i] = row certified
                 in (y)
             in (r)

           entry "f" = f
             sizes 2 0
             param "a" : value "[][][]f64" [n][m][m]f64
             param "b" : value "[][][]f64" [n][m][m]f64
             result value "[][][]f64" [n][m][m]f64"#,
        expect![[r#"
            c_5_mem = dz_unique(ctx, 1, c_5_mem, c_5, dz_times(dz_times(n_0, m_1), m_1), sizeof(f64), 10);
            x_7_mem = dz_unique(ctx, 2, x_7_mem, x_7, dz_times(dz_times(n_0, m_1), m_1), sizeof(f64), 10);
            dz_copy(ctx, y_10 + i_8 * (m_1 * m_1), row_9, m_1 * m_1 * sizeof(f64));
        "#]],
    );
}
