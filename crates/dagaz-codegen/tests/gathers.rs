//! Loops that read or write elements anywhere in arrays.

use dagaz_codegen::generate_body;
use dagaz_core::parse::parse;
use expect_test::{Expect, expect};

/// Shows loops, and what is fetched ahead, of a function of `xs`, `ks` and `bins`.
fn check(body: &str, result: &str, expected: Expect) {
    check_lines(body, result, &["for (", "#pragma", "DZ_FETCH", "sums_", "is_large", "ahead"], expected);
}

/// The lines that have one of some words in them.
fn check_lines(body: &str, result: &str, words: &[&str], expected: Expect) {
    let core = format!(
        r#"def f (n: i64, m: i64, xs: [n]f64, ks: [m]i32, bins: [n]f64) : (r: {result}) =
             {body}
             in (r)
           entry "f" = f sizes 2 0
             param "xs" : value "[]f64" [n]f64
             param "ks" : value "[]i32" [m]i32
             param "bins" : value "[]f64" [n]f64
             result value "{}" {result}"#,
        result.replace("[n]", "[]").replace("[m]", "[]")
    );
    let program = parse(&core).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let is_shown = |line: &&str| words.iter().any(|word| line.contains(word));
    let shown: Vec<&str> = text.lines().map(str::trim).filter(is_shown).collect();
    expected.assert_eq(&(shown.join("\n") + "\n"));
}

const PLUS: &str = r"op \(a: f64, b: f64) : (f64) ->
  let (c: f64) = f64.add a b
  in (c)
neutral (0.0f64)";

#[test]
fn a_sum_of_elements_from_anywhere_is_several_sums() {
    check(
        &format!(
            r"let (r: f64) = reduce m (ks)
                pre \(k: i32) : (f64) ->
                  let (i: i64) = i32.to_i64 k
                  let (x: f64) = xs[i]
                  in (x)
                {PLUS}"
        ),
        "f64",
        expect![[r#"
            f64 sums_t5[8] = {(-0.0), (-0.0), (-0.0), (-0.0), (-0.0), (-0.0), (-0.0), (-0.0)};
            bool is_large_t6 = 1048576.0 < (f64)n_0 * 8.0;
            if (is_large_t6) {
            for (i64 i_t8 = 0L; i_t8 < blocks_t7; i_t8++) {
            #pragma GCC unroll 8
            for (i64 i_t9 = 0L; i_t9 < 8L; i_t9++) {
            i64 ahead_t11 = at_t10 + 64L < to_t4 ? at_t10 + 64L : at_t10;
            i32 k_7 = ks_3[ahead_t11];
            DZ_FETCH((u64)xs_2 + (u64)(i_8) * sizeof(f64), false);
            f64 a_10 = sums_t5[i_t9];
            sums_t5[i_t9] = a_10;
            for (i64 i_t13 = 0L; i_t13 < blocks_t7; i_t13++) {
            #pragma GCC unroll 8
            for (i64 i_t14 = 0L; i_t14 < 8L; i_t14++) {
            f64 a_10 = sums_t5[i_t14];
            sums_t5[i_t14] = a_10;
            for (i64 i_t17 = 0L; i_t17 < 8L; i_t17++) {
            f64 b_11 = sums_t5[i_t17];
            for (i64 i_t19 = from_t3 + blocks_t7 * 8L; i_t19 < to_t4; i_t19++) {
            for (i64 i_t21 = 0L; i_t21 < (m_1 + grain_t1 - 1L) / grain_t1; i_t21++) {
        "#]],
    );
}

#[test]
fn places_of_later_values_are_fetched() {
    check(
        &format!(
            r"let (own: [n]f64) = copy bins
              let (r: [n]f64) = hist m (ks) into (own) [n]
                pre \(k: i32) : (i64, f64) ->
                  let (i: i64) = i32.to_i64 k
                  in (i, 1.0f64)
                {PLUS}"
        ),
        "[n]f64",
        expect![[r#"
            bool is_large_t10 = 1048576.0 < (f64)n_0 * 8.0;
            #pragma GCC unroll 4
            for (i64 i_t11 = from_t7; i_t11 < to_t8; i_t11++) {
            if (is_large_t10) {
            i64 ahead_t12 = i_t11 + 64L < to_t8 ? i_t11 + 64L : i_t11;
            i32 k_8 = ks_3[ahead_t12];
            DZ_FETCH((u64)mine_t9 + (u64)(i_9) * sizeof(f64), true);
            for (i64 i_t16 = 0L; i_t16 < copies_t2; i_t16++) {
            #pragma omp simd
            for (i64 i_t18 = from_t14; i_t18 < to_t15; i_t18++) {
            #pragma omp simd
            for (i64 i_t5 = 0L; i_t5 < copies_t2 * bins_t1; i_t5++) {
            bool is_large_t20 = 1048576.0 < (f64)n_0 * 8.0;
            #pragma GCC unroll 4
            for (i64 i_t21 = 0L; i_t21 < m_1; i_t21++) {
            if (is_large_t20) {
            i64 ahead_t22 = i_t21 + 64L < m_1 ? i_t21 + 64L : i_t21;
            i32 k_8 = ks_3[ahead_t22];
            DZ_FETCH((u64)r_7 + (u64)(i_9) * sizeof(f64), true);
        "#]],
    );
}

#[test]
fn places_that_only_a_search_finds_are_not_fetched() {
    check(
        &format!(
            r"let (own: [n]f64) = copy bins
              let (r: [n]f64) = hist m (ks) into (own) [n]
                pre \(k: i32) : (i64, f64) ->
                  let (i: i64) = i32.to_i64 k
                  let (x: f64) = xs[i]
                  let (j: i64) = f64.to_i64 x
                  let (y: f64) = xs[j]
                  let (l: i64) = f64.to_i64 y
                  in (l, 1.0f64)
                {PLUS}"
        ),
        "[n]f64",
        expect![[r#"
            bool is_large_t10 = 1048576.0 < (f64)n_0 * 8.0;
            #pragma GCC unroll 4
            for (i64 i_t11 = from_t7; i_t11 < to_t8; i_t11++) {
            if (is_large_t10) {
            i64 ahead_t12 = i_t11 + 64L < to_t8 ? i_t11 + 64L : i_t11;
            i32 k_8 = ks_3[ahead_t12];
            DZ_FETCH((u64)xs_2 + (u64)(i_9) * sizeof(f64), false);
            for (i64 i_t16 = 0L; i_t16 < copies_t2; i_t16++) {
            #pragma omp simd
            for (i64 i_t18 = from_t14; i_t18 < to_t15; i_t18++) {
            #pragma omp simd
            for (i64 i_t5 = 0L; i_t5 < copies_t2 * bins_t1; i_t5++) {
            bool is_large_t20 = 1048576.0 < (f64)n_0 * 8.0;
            #pragma GCC unroll 4
            for (i64 i_t21 = 0L; i_t21 < m_1; i_t21++) {
            if (is_large_t20) {
            i64 ahead_t22 = i_t21 + 64L < m_1 ? i_t21 + 64L : i_t21;
            i32 k_8 = ks_3[ahead_t22];
            DZ_FETCH((u64)xs_2 + (u64)(i_9) * sizeof(f64), false);
        "#]],
    );
}

#[test]
fn rows_are_fetched_as_they_are_checked_and_added_up_in_tiles() {
    check(
        &format!(
            r"let (js: [m]i64) = iota i64 m 0i64 1i64
              let (xss: [n][m]f64) = map n (xs) \(x: f64) : ([m]f64) ->
                let (row: [m]f64) = replicate [m] x
                in (row)
              let (r: [n]f64) = map n (bins) \(bin: f64) : (f64) ->
                let () = map m (ks) \(k: i32) : () ->
                  let (i: i64) = i32.to_i64 k
                  let (row: [m]f64) = xss[i]
                  in ()
                let (totals: [m]f64) = map m (js) \(j: i64) : (f64) ->
                  let (s: f64) = reduce m (ks)
                    pre \(k: i32) : (f64) ->
                      let (i: i64) = i32.to_i64 k
                      let (x: f64) = xss[i, j] certified
                      in (x)
                    {PLUS}
                  in (s)
                let (first: f64) = totals[0i64]
                let (y: f64) = f64.add bin first
                in (y)"
        ),
        "[n]f64",
        expect![[r#"
            for (i64 i_t3 = from_t1; i_t3 < to_t2; i_t3++) {
            #pragma omp simd
            for (i64 i_t4 = 0L; i_t4 < m_1; i_t4++) {
            bool is_large_t11 = 1048576.0 < (f64)(n_0 * m_1) * 8.0;
            for (i64 i_t12 = from_t9; i_t12 < to_t10; i_t12++) {
            if (is_large_t11) {
            DZ_FETCH_ROW((u64)row_14 + (u64)(0L) * sizeof(f64), m_1 * sizeof(f64), false);
            for (i64 i_t7 = from_t5; i_t7 < to_t6; i_t7++) {
            bool is_large_t13 = 1048576.0 < (f64)(n_0 * m_1) * 8.0;
            for (i64 i_t14 = 0L; i_t14 < m_1; i_t14++) {
            if (is_large_t13) {
            DZ_FETCH_ROW((u64)row_14 + (u64)(0L) * sizeof(f64), m_1 * sizeof(f64), false);
            for (i64 i_t17 = 0L; i_t17 < whole_t15; i_t17++) {
            for (i64 i_t26 = 0L; i_t26 < m_1; i_t26++) {
            #pragma omp simd
            for (i64 i_t28 = 0L; i_t28 < 8L; i_t28++) {
            #pragma omp simd
            for (i64 i_t32 = 0L; i_t32 < 8L; i_t32++) {
            #pragma omp simd
            for (i64 i_t36 = 0L; i_t36 < 8L; i_t36++) {
            #pragma omp simd
            for (i64 i_t40 = 0L; i_t40 < 8L; i_t40++) {
            #pragma omp simd
            for (i64 i_t43 = 0L; i_t43 < 8L; i_t43++) {
            #pragma omp simd
            for (i64 i_t44 = 0L; i_t44 < 8L; i_t44++) {
            #pragma omp simd
            for (i64 i_t45 = 0L; i_t45 < 8L; i_t45++) {
            #pragma omp simd
            for (i64 i_t46 = 0L; i_t46 < 8L; i_t46++) {
            for (i64 i_t49 = 0L; i_t49 < pairs_t48; i_t49++) {
            for (i64 i_t55 = 0L; i_t55 < m_1; i_t55++) {
            #pragma omp simd
            for (i64 i_t57 = 0L; i_t57 < 8L; i_t57++) {
            #pragma omp simd
            for (i64 i_t61 = 0L; i_t61 < 8L; i_t61++) {
            #pragma omp simd
            for (i64 i_t64 = 0L; i_t64 < 8L; i_t64++) {
            #pragma omp simd
            for (i64 i_t65 = 0L; i_t65 < 8L; i_t65++) {
            for (i64 i_t68 = 0L; i_t68 < m_1; i_t68++) {
            #pragma omp simd
            for (i64 i_t70 = 0L; i_t70 < 8L; i_t70++) {
            #pragma omp simd
            for (i64 i_t73 = 0L; i_t73 < 8L; i_t73++) {
            #pragma omp simd
            for (i64 i_t75 = 0L; i_t75 < m_1; i_t75++) {
            for (i64 i_t76 = 0L; i_t76 < m_1; i_t76++) {
            #pragma omp simd
            for (i64 i_t78 = 0L; i_t78 < m_1; i_t78++) {
        "#]],
    );
}

#[test]
fn rows_of_later_iterations_are_fetched() {
    check_lines(
        &format!(
            r"let (js: [m]i64) = iota i64 m 0i64 1i64
              let (xss: [n][m]f64) = map n (xs) \(x: f64) : ([m]f64) ->
                let (row: [m]f64) = replicate [m] x
                in (row)
              let (zeros: [n][m]f64) = replicate [n, m] 0.0f64
              let (r: [n][m]f64) = with_acc
                over [n, m] (zeros)
                  {PLUS}
                body \(acc: acc [n, m] (f64)) : (acc [n, m] (f64)) ->
                  let (all: acc [n, m] (f64)) = map n (bins, acc)
                    \(bin: f64, acc1: acc [n, m] (f64)) : (acc [n, m] (f64)) ->
                      let (totals: [m]f64) = map m (js) \(j: i64) : (f64) ->
                        let (s: f64) = reduce m (ks)
                          pre \(k: i32) : (f64) ->
                            let (i: i64) = i32.to_i64 k
                            let (x: f64) = xss[i, j] certified
                            in (x)
                          {PLUS}
                        in (s)
                      let (some: acc [n, m] (f64)) = map m (ks, acc1)
                        \(k: i32, acc2: acc [n, m] (f64)) : (acc [n, m] (f64)) ->
                          let (i: i64) = i32.to_i64 k
                          let (row: acc [n, m] (f64)) = map m (js, totals, acc2)
                            \(j: i64, total: f64, acc3: acc [n, m] (f64)) : (acc [n, m] (f64)) ->
                              let (one: acc [n, m] (f64)) = update_acc acc3 [i, j] (total)
                              in (one)
                          in (row)
                      in (some)
                  in (all)"
        ),
        "[n][m]f64",
        &["DZ_FETCH", "is_large", "ahead"],
        expect![[r#"
            bool is_large_t22 = 1048576.0 < (f64)(n_0 * m_1) * 8.0;
            if (is_large_t22) {
            DZ_FETCH_ROW((u64)xss_7 + (u64)(i_23 * m_1) * sizeof(f64), m_1 * sizeof(f64), false);
            if (is_large_t22) {
            i64 ahead_t36 = i_t35 + 16L < m_1 ? i_t35 + 16L : i_t35;
            i32 k_22 = ks_3[ahead_t36];
            DZ_FETCH_ROW((u64)xss_7 + (u64)(i_23 * m_1) * sizeof(f64), m_1 * sizeof(f64), false);
            if (is_large_t22) {
            DZ_FETCH_ROW((u64)xss_7 + (u64)(i_23 * m_1) * sizeof(f64), m_1 * sizeof(f64), false);
            if (is_large_t22) {
            i64 ahead_t67 = i_t66 + 16L < m_1 ? i_t66 + 16L : i_t66;
            i32 k_22 = ks_3[ahead_t67];
            DZ_FETCH_ROW((u64)xss_7 + (u64)(i_23 * m_1) * sizeof(f64), m_1 * sizeof(f64), false);
            if (is_large_t22) {
            DZ_FETCH_ROW((u64)xss_7 + (u64)(i_23 * m_1) * sizeof(f64), m_1 * sizeof(f64), false);
            if (is_large_t22) {
            i64 ahead_t82 = i_t81 + 16L < m_1 ? i_t81 + 16L : i_t81;
            i32 k_22 = ks_3[ahead_t82];
            DZ_FETCH_ROW((u64)xss_7 + (u64)(i_23 * m_1) * sizeof(f64), m_1 * sizeof(f64), false);
            if (is_large_t22) {
            DZ_FETCH_ROW((u64)xss_7 + (u64)(i_23 * m_1) * sizeof(f64), m_1 * sizeof(f64), false);
            if (is_large_t22) {
            i64 ahead_t92 = i_t91 + 16L < m_1 ? i_t91 + 16L : i_t91;
            i32 k_22 = ks_3[ahead_t92];
            DZ_FETCH_ROW((u64)xss_7 + (u64)(i_23 * m_1) * sizeof(f64), m_1 * sizeof(f64), false);
            bool is_large_t96 = 1048576.0 < (f64)(n_0 * m_1) * 8.0;
            if (is_large_t96) {
            DZ_FETCH_ROW((u64)v_4294967294 + (u64)(i_31 * m_1) * sizeof(f64), m_1 * sizeof(f64), true);
            if (is_large_t96) {
            i64 ahead_t99 = i_t98 + 16L < m_1 ? i_t98 + 16L : i_t98;
            i32 k_29 = ks_3[ahead_t99];
            DZ_FETCH_ROW((u64)v_4294967294 + (u64)(i_31 * m_1) * sizeof(f64), m_1 * sizeof(f64), true);
            bool is_large_t110;
            bool is_large_t110 = outside->is_large_t110;
            if (is_large_t110) {
            DZ_FETCH_ROW((u64)xss_7 + (u64)(i_23 * m_1) * sizeof(f64), m_1 * sizeof(f64), false);
            if (is_large_t110) {
            i64 ahead_t135 = i_t134 + 16L < m_1 ? i_t134 + 16L : i_t134;
            i32 k_22 = ks_3[ahead_t135];
            DZ_FETCH_ROW((u64)xss_7 + (u64)(i_23 * m_1) * sizeof(f64), m_1 * sizeof(f64), false);
            bool is_large_t110;
            bool is_large_t110 = outside->is_large_t110;
            if (is_large_t110) {
            DZ_FETCH_ROW((u64)xss_7 + (u64)(i_23 * m_1) * sizeof(f64), m_1 * sizeof(f64), false);
            if (is_large_t110) {
            i64 ahead_t123 = i_t122 + 16L < to_t117 ? i_t122 + 16L : i_t122;
            i32 k_22 = ks_3[ahead_t123];
            DZ_FETCH_ROW((u64)xss_7 + (u64)(i_23 * m_1) * sizeof(f64), m_1 * sizeof(f64), false);
            bool is_large_t152 = 1048576.0 < (f64)(n_0 * m_1) * 8.0;
            if (is_large_t152) {
            DZ_FETCH_ROW((u64)v_4294967293 + (u64)(i_31 * m_1) * sizeof(f64), m_1 * sizeof(f64), true);
            if (is_large_t152) {
            i64 ahead_t155 = i_t154 + 16L < first_t144 + to_t148 ? i_t154 + 16L : i_t154;
            i32 k_29 = ks_3[ahead_t155];
            DZ_FETCH_ROW((u64)v_4294967293 + (u64)(i_31 * m_1) * sizeof(f64), m_1 * sizeof(f64), true);
            bool is_large_t110 = 1048576.0 < (f64)(n_0 * m_1) * 8.0;
            struct env_4 env_4 = {is_large_t110, m_1, ks_3, xss_7, totals_19, sites_4};
            struct env_5 env_5 = {own_t115, grain_t113, m_1, is_large_t110, ks_3, xss_7, sites_5};
            bool is_large_t165 = 1048576.0 < (f64)(n_0 * m_1) * 8.0;
            if (is_large_t165) {
            DZ_FETCH_ROW((u64)r_11 + (u64)(i_31 * m_1) * sizeof(f64), m_1 * sizeof(f64), true);
            if (is_large_t165) {
            i64 ahead_t168 = i_t167 + 16L < m_1 ? i_t167 + 16L : i_t167;
            i32 k_29 = ks_3[ahead_t168];
            DZ_FETCH_ROW((u64)r_11 + (u64)(i_31 * m_1) * sizeof(f64), m_1 * sizeof(f64), true);
        "#]],
    );
}

/// The map of a map over elements of `yss`, by a function with this in it.
fn check_rows(function: &str, expected: Expect) {
    check(
        &format!(
            r"let (is: [n]i64) = iota i64 n 0i64 1i64
              let (js: [m]i64) = iota i64 m 0i64 1i64
              let (yss: [n][m]f64) = map n (xs) \(x: f64) : ([m]f64) ->
                let (row: [m]f64) = replicate [m] x
                in (row)
              let (r: [n][m]f64) = map n (is, xs) \(i: i64, x: f64) : ([m]f64) ->
                let (zs: [m]f64) = map m (js) \(j: i64) : (f64) ->
                  let (y: f64) = yss[i, j] certified
                  {function}
                  in (z)
                in (zs)"
        ),
        "[n][m]f64",
        expected,
    );
}

#[test]
fn the_next_row_is_fetched_where_elements_take_long() {
    check_rows(
        r"let (a: f64) = f64.exp y
          let (b: f64) = f64.log a
          let (c: f64) = f64.sin b
          let (d: f64) = f64.cos c
          let (z: f64) = f64.mul d x",
        expect![[r#"
            for (i64 i_t3 = from_t1; i_t3 < to_t2; i_t3++) {
            #pragma omp simd
            for (i64 i_t4 = 0L; i_t4 < m_1; i_t4++) {
            for (i64 i_t7 = from_t5; i_t7 < to_t6; i_t7++) {
            DZ_FETCH_NEXT_ROW(v_4294967294, m_1 * sizeof(f64));
            #pragma omp simd
            for (i64 i_t11 = 0L; i_t11 < whole_t9; i_t11++) {
            #pragma omp simd
            for (i64 i_t13 = 0L; i_t13 < 8L; i_t13++) {
        "#]],
    );
}

#[test]
fn the_processor_finds_the_next_row_of_short_functions() {
    check_rows(
        r"let (z: f64) = f64.mul y x",
        expect![[r#"
            for (i64 i_t3 = from_t1; i_t3 < to_t2; i_t3++) {
            #pragma omp simd
            for (i64 i_t4 = 0L; i_t4 < m_1; i_t4++) {
            for (i64 i_t7 = from_t5; i_t7 < to_t6; i_t7++) {
            #pragma omp simd
            for (i64 i_t9 = 0L; i_t9 < m_1; i_t9++) {
        "#]],
    );
}
