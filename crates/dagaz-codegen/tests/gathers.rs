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
        result.replace("[n]", "[]")
    );
    let program = parse(&core).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let is_shown = |line: &&str| {
        ["for (", "#pragma", "DZ_FETCH"].iter().any(|start| line.starts_with(start))
            || ["sums_", "is_large", "ahead"].iter().any(|word| line.contains(word))
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
            f64 sums_t5[4] = {(-0.0), (-0.0), (-0.0), (-0.0)};
            for (i64 i_t7 = 0; i_t7 < blocks_t6; i_t7++) {
            #pragma GCC unroll 4
            for (i64 i_t8 = 0; i_t8 < 4; i_t8++) {
            f64 a_10 = sums_t5[i_t8];
            sums_t5[i_t8] = a_10;
            for (i64 i_t11 = 0; i_t11 < 4; i_t11++) {
            f64 b_11 = sums_t5[i_t11];
            for (i64 i_t13 = from_t3 + blocks_t6 * 4; i_t13 < to_t4; i_t13++) {
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
            for (i64 i_t21 = 0; i_t21 < m_1; i_t21++) {
            if (is_large_t20) {
            i64 ahead_t22 = i_t21 + 64 < m_1 ? i_t21 + 64 : i_t21;
            i32 k_8 = ks_3[ahead_t22];
            DZ_FETCH((u64)xs_2 + (u64)(i_9) * sizeof(f64), false);
        "#]],
    );
}
