//! Loops that read or write elements anywhere in arrays.

use dagaz_codegen::generate_body;
use dagaz_core::parse::parse;
use expect_test::{Expect, expect};

/// Shows loops, and what is fetched ahead, of a function of `xs`, `ks` and `bins`.
fn check(body: &str, result: &str, expected: Expect) {
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
    let is_shown = |line: &&str| {
        ["for (", "#pragma", "DZ_FETCH"].iter().any(|start| line.starts_with(start))
            || ["sums_", "is_large", "ahead", "DZ_FETCH"].iter().any(|word| line.contains(word))
    };
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
            for (i64 i_t7 = 0; i_t7 < blocks_t6; i_t7++) {
            #pragma GCC unroll 8
            for (i64 i_t8 = 0; i_t8 < 8; i_t8++) {
            f64 a_10 = sums_t5[i_t8];
            sums_t5[i_t8] = a_10;
            for (i64 i_t11 = 0; i_t11 < 8; i_t11++) {
            f64 b_11 = sums_t5[i_t11];
            for (i64 i_t13 = from_t3 + blocks_t6 * 8; i_t13 < to_t4; i_t13++) {
            for (i64 i_t15 = 0; i_t15 < (m_1 + grain_t1 - 1) / grain_t1; i_t15++) {
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
            bool is_large_t10 = (f64)(n_0) * sizeof(f64) > 1048576.0;
            #pragma GCC unroll 4
            for (i64 i_t11 = from_t7; i_t11 < to_t8; i_t11++) {
            if (is_large_t10) {
            i64 ahead_t12 = i_t11 + 64 < to_t8 ? i_t11 + 64 : i_t11;
            i32 k_8 = ks_3[ahead_t12];
            DZ_FETCH((u64)mine_t9 + (u64)(i_9) * sizeof(f64), true);
            for (i64 i_t16 = 0; i_t16 < copies_t2; i_t16++) {
            #pragma omp simd
            for (i64 i_t18 = from_t14; i_t18 < to_t15; i_t18++) {
            #pragma omp simd
            for (i64 i_t5 = 0; i_t5 < copies_t2 * bins_t1; i_t5++) {
            bool is_large_t20 = (f64)(n_0) * sizeof(f64) > 1048576.0;
            #pragma GCC unroll 4
            for (i64 i_t21 = 0; i_t21 < m_1; i_t21++) {
            if (is_large_t20) {
            i64 ahead_t22 = i_t21 + 64 < m_1 ? i_t21 + 64 : i_t21;
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
            bool is_large_t10 = (f64)(n_0) * sizeof(f64) > 1048576.0;
            #pragma GCC unroll 4
            for (i64 i_t11 = from_t7; i_t11 < to_t8; i_t11++) {
            if (is_large_t10) {
            i64 ahead_t12 = i_t11 + 64 < to_t8 ? i_t11 + 64 : i_t11;
            i32 k_8 = ks_3[ahead_t12];
            DZ_FETCH((u64)xs_2 + (u64)(i_9) * sizeof(f64), false);
            for (i64 i_t16 = 0; i_t16 < copies_t2; i_t16++) {
            #pragma omp simd
            for (i64 i_t18 = from_t14; i_t18 < to_t15; i_t18++) {
            #pragma omp simd
            for (i64 i_t5 = 0; i_t5 < copies_t2 * bins_t1; i_t5++) {
            bool is_large_t20 = (f64)(n_0) * sizeof(f64) > 1048576.0;
            #pragma GCC unroll 4
            for (i64 i_t21 = 0; i_t21 < m_1; i_t21++) {
            if (is_large_t20) {
            i64 ahead_t22 = i_t21 + 64 < m_1 ? i_t21 + 64 : i_t21;
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
            for (i64 i_t4 = 0; i_t4 < m_1; i_t4++) {
            bool is_large_t11 = (f64)(n_0 * m_1) * sizeof(f64) > 1048576.0;
            for (i64 i_t12 = from_t9; i_t12 < to_t10; i_t12++) {
            if (is_large_t11) for (i64 at_t13 = 0; at_t13 < i64_min((m_1) * sizeof(*row_14), 512); at_t13 += 64) DZ_FETCH((u64)row_14 + at_t13, false);
            for (i64 i_t7 = from_t5; i_t7 < to_t6; i_t7++) {
            bool is_large_t14 = (f64)(n_0 * m_1) * sizeof(f64) > 1048576.0;
            for (i64 i_t15 = 0; i_t15 < m_1; i_t15++) {
            if (is_large_t14) for (i64 at_t16 = 0; at_t16 < i64_min((m_1) * sizeof(*row_14), 512); at_t16 += 64) DZ_FETCH((u64)row_14 + at_t16, false);
            for (i64 i_t19 = 0; i_t19 < whole_t17; i_t19++) {
            for (i64 i_t28 = 0; i_t28 < m_1; i_t28++) {
            #pragma omp simd
            for (i64 i_t30 = 0; i_t30 < 8; i_t30++) {
            #pragma omp simd
            for (i64 i_t34 = 0; i_t34 < 8; i_t34++) {
            #pragma omp simd
            for (i64 i_t38 = 0; i_t38 < 8; i_t38++) {
            #pragma omp simd
            for (i64 i_t42 = 0; i_t42 < 8; i_t42++) {
            #pragma omp simd
            for (i64 i_t45 = 0; i_t45 < 8; i_t45++) {
            #pragma omp simd
            for (i64 i_t46 = 0; i_t46 < 8; i_t46++) {
            #pragma omp simd
            for (i64 i_t47 = 0; i_t47 < 8; i_t47++) {
            #pragma omp simd
            for (i64 i_t48 = 0; i_t48 < 8; i_t48++) {
            for (i64 i_t51 = 0; i_t51 < pairs_t50; i_t51++) {
            for (i64 i_t57 = 0; i_t57 < m_1; i_t57++) {
            #pragma omp simd
            for (i64 i_t59 = 0; i_t59 < 8; i_t59++) {
            #pragma omp simd
            for (i64 i_t63 = 0; i_t63 < 8; i_t63++) {
            #pragma omp simd
            for (i64 i_t66 = 0; i_t66 < 8; i_t66++) {
            #pragma omp simd
            for (i64 i_t67 = 0; i_t67 < 8; i_t67++) {
            for (i64 i_t70 = 0; i_t70 < m_1; i_t70++) {
            #pragma omp simd
            for (i64 i_t72 = 0; i_t72 < 8; i_t72++) {
            #pragma omp simd
            for (i64 i_t75 = 0; i_t75 < 8; i_t75++) {
            #pragma omp simd
            for (i64 i_t77 = 0; i_t77 < m_1; i_t77++) {
            for (i64 i_t78 = 0; i_t78 < m_1; i_t78++) {
            #pragma omp simd
            for (i64 i_t80 = 0; i_t80 < m_1; i_t80++) {
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
            for (i64 i_t4 = 0; i_t4 < m_1; i_t4++) {
            for (i64 i_t7 = from_t5; i_t7 < to_t6; i_t7++) {
            if ((f64)(n_0 * m_1) * sizeof(f64) > 1048576.0 && (m_1) * sizeof(f64) <= 16384) for (u64 at_t8 = 0; at_t8 < (m_1) * sizeof(f64); at_t8 += 64) DZ_FETCH_NEAR((u64)(v_4294967294 + m_1) + at_t8);
            #pragma omp simd
            for (i64 i_t12 = 0; i_t12 < whole_t9; i_t12++) {
            #pragma omp simd
            for (i64 i_t14 = 0; i_t14 < 8; i_t14++) {
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
        for (i64 i_t4 = 0; i_t4 < m_1; i_t4++) {
        for (i64 i_t7 = from_t5; i_t7 < to_t6; i_t7++) {
        #pragma omp simd
        for (i64 i_t9 = 0; i_t9 < m_1; i_t9++) {
    "#]],
    );
}
