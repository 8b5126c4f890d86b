//! Where the C of small programs gets memory, and what it copies.

use dagaz_codegen::generate_body;
use dagaz_core::parse::parse;
use expect_test::{Expect, expect};

/// Compares the statements that allocate or copy, or write elements.
fn check(core: &str, expected: Expect) {
    let program = parse(core).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let matters = |line: &&str| {
        ["dz_alloc(", "dz_unique(", "dz_copy(", "memcpy(", "memset(", "_room[", "if (dz_is_unique("]
            .iter()
            .any(|word| line.contains(word))
            || line.contains("] = ") && !line.contains("dims[") && !line.contains("i32 sites_")
    };
    let lines: Vec<String> =
        text.lines().map(str::trim).filter(matters).map(|line| format!("{line}\n")).collect();
    expected.assert_eq(&lines.concat());
}

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
