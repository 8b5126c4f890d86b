//! Loops whose borders differ from their middle, and sums in which most rows count for nothing: loops, their limits and
//! their pieces in generated C. How large pieces are has nothing to do with sums at the border.

use dagaz_codegen::generate_body;
use dagaz_core::parse::parse;
use expect_test::{Expect, expect};

fn check(core: &str, expected: Expect) {
    let program = parse(core).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let is_shown = |line: &&str| {
        ["#pragma", "for (", "first_", "last_", "i64 first_", "i64 last_", "if (at_", "if (dz_parallel"]
            .iter()
            .any(|start| line.starts_with(start))
            || line.contains("i64_max(0, i64_min(")
    };
    let shown: Vec<&str> = text.lines().map(str::trim).filter(is_shown).collect();
    expected.assert_eq(&(shown.join("\n") + "\n"));
}

/// The gradient of a stencil with clamped indices: a sum at the border, and a place beyond which there is nothing.
#[test]
fn the_middle_of_a_gradient_has_neither_sums_nor_branches() {
    check(
        r#"def f (n: i64, xs: [n]f64) : (ys: [n]f64) =
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (end: i64) = i64.sub n 1i64
            let (ys: [n]f64) = map n (is)
              \(q: i64) : (f64) ->
                let (at_end: bool) = i64.eq q end
                let (border: f64) =
                  if at_end then
                    let (sum: f64) = reduce_comm n (is)
                      pre \(p: i64) : (f64) ->
                        let (next: i64) = i64.add p 1i64
                        let (beyond: bool) = i64.lt end next
                        let (part: f64) =
                          if beyond then let (x: f64) = xs[p] certified in (x) else in (0.0f64)
                        in (part)
                      op \(a: f64, b: f64) : (f64) -> let (c: f64) = f64.add a b in (c)
                      neutral (0.0f64)
                    in (sum)
                  else in (0.0f64)
                let (at_most: bool) = i64.lt end q
                let (at_least: bool) = bool.not at_most
                let (inner: f64) =
                  if at_least then let (y: f64) = xs[q] certified in (y) else in (0.0f64)
                let (z: f64) = f64.add border inner
                in (z)
            in (ys)

          entry "f" = f
            sizes 1 0
            param "xs" : value "[]f64" [n]f64
            result value "[]f64" [n]f64"#,
        expect![[r#"
            i64 first_t3 = from_t1;
            i64 last_t4 = to_t2;
            last_t4 = i64_min(last_t4, dz_plus(end_4, 0L));
            first_t3 = to_t2;
            last_t4 = to_t2;
            for (i64 i_t12 = 0L; i_t12 < 2L; i_t12++) {
            for (i64 i_t15 = start_t13; i_t15 < end_t14; i_t15++) {
            if (at_end_7) {
            i64 first_t16 = 0L;
            first_t16 = i64_max(first_t16, dz_plus(end_4, 0L));
            i64 last_t17 = n_0;
            #pragma omp simd reduction(+:a_15)
            for (i64 i_t19 = first_t16; i_t19 < last_t17; i_t19++) {
            if (at_least_19) {
            #pragma omp simd
            for (i64 i_t8 = first_t3; i_t8 < whole_t6; i_t8++) {
            #pragma omp simd
            for (i64 i_t10 = 0L; i_t10 < 8L; i_t10++) {
            if (dz_parallel(ctx, task_0, &env_0, n_0, dz_grain(n_0, 3.0))) return 1;
        "#]],
    );
}

/// A piece of the rows that count, and a sum that begins with something else than zero.
#[test]
fn sums_are_over_the_rows_that_count() {
    let sum = |neutral: &str| {
        format!(
            r#"def f (n: i64, k: i64, xs: [n]f64) : (s: f64) =
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (s: f64) = reduce_comm n (is)
              pre \(p: i64) : (f64) ->
                let (before: i64) = i64.sub p 2i64
                let (lt: bool) = i64.lt k before
                let (not: bool) = bool.not lt
                let (le: bool) = i64.le 3i64 p
                let (both: bool) = bool.and not le
                let (part: f64) =
                  if both then let (x: f64) = xs[p] certified in (x) else in (0.0f64)
                in (part)
              op \(a: f64, b: f64) : (f64) -> let (c: f64) = f64.add a b in (c)
              neutral ({neutral})
            in (s)

          entry "f" = f
            sizes 1 0
            param "k" : value "i64" i64
            param "xs" : value "[]f64" [n]f64
            result value "f64" f64"#
        )
    };
    check(
        &sum("0.0f64"),
        expect![[r#"
            i64 first_t5 = from_t3;
            first_t5 = i64_max(first_t5, dz_plus(3L, 0L));
            i64 last_t6 = to_t4;
            last_t6 = i64_min(last_t6, dz_plus(k_1, 3L));
            #pragma omp simd reduction(+:a_14)
            for (i64 i_t8 = first_t5; i_t8 < last_t6; i_t8++) {
            if (dz_parallel(ctx, task_0, &env_0, n_0, grain_t1)) return 1;
            for (i64 i_t10 = 0L; i_t10 < (n_0 + grain_t1 - 1L) / grain_t1; i_t10++) {
        "#]],
    );
    check(
        &sum("-0.0f64"),
        expect![[r#"
            #pragma omp simd reduction(+:a_14)
            for (i64 i_t6 = from_t3; i_t6 < to_t4; i_t6++) {
            if (dz_parallel(ctx, task_0, &env_0, n_0, grain_t1)) return 1;
            for (i64 i_t8 = 0L; i_t8 < (n_0 + grain_t1 - 1L) / grain_t1; i_t8++) {
        "#]],
    );
}

/// A stencil inside of a map, with so many products behind it.
fn check_products(count: usize, expected: Expect) {
    let mut products = String::new();
    for i in 0..count {
        products += &format!("let (p{}: f64) = f64.mul p{i} centre\n", i + 1);
    }
    check(
        &format!(
            r#"def f (m: i64, n: i64, xss: [m][n]f64) : (yss: [m][n]f64) =
                 let (is: [n]i64) = iota i64 n 0i64 1i64
                 let (yss: [m][n]f64) = map m (xss) \(xs: [n]f64) : ([n]f64) ->
                   let (ys: [n]f64) = map n (is) \(i: i64) : (f64) ->
                     let (before: i64) = i64.sub i 1i64
                     let (left: i64) = i64.max 0i64 before
                     let (p0: f64) = xs[left] certified
                     let (centre: f64) = xs[i] certified
                     {products}
                     in (p{count})
                   in (ys)
                 in (yss)

               entry "f" = f
                 sizes 2 0
                 param "xss" : value "[][]f64" [m][n]f64
                 result value "[][]f64" [m][n]f64"#
        ),
        expected,
    );
}

#[test]
fn a_little_code_is_there_for_each_part() {
    check_products(
        2,
        expect![[r#"
            for (i64 i_t3 = from_t1; i_t3 < to_t2; i_t3++) {
            i64 first_t4 = 0L;
            first_t4 = i64_max(first_t4, dz_plus(0L, 1L));
            i64 last_t5 = n_1;
            first_t4 = n_1;
            last_t5 = n_1;
            for (i64 i_t13 = 0L; i_t13 < first_t4; i_t13++) {
            #pragma omp simd
            for (i64 i_t9 = first_t4; i_t9 < whole_t7; i_t9++) {
            #pragma omp simd
            for (i64 i_t11 = 0L; i_t11 < 8L; i_t11++) {
            for (i64 i_t14 = last_t5; i_t14 < n_1; i_t14++) {
            #pragma omp simd
            for (i64 i_t16 = 0L; i_t16 < n_1; i_t16++) {
            if (dz_parallel(ctx, task_0, &env_0, m_0, dz_grain(m_0, 2.0 + (f64)n_1 * 8.0))) return 1;
        "#]],
    );
}

#[test]
fn much_code_is_there_for_the_border_and_for_blocks() {
    check_products(
        300,
        expect![[r#"
            for (i64 i_t3 = from_t1; i_t3 < to_t2; i_t3++) {
            i64 first_t4 = 0L;
            first_t4 = i64_max(first_t4, dz_plus(0L, 1L));
            i64 last_t5 = n_1;
            first_t4 = n_1;
            last_t5 = n_1;
            for (i64 i_t13 = 0L; i_t13 < 2L; i_t13++) {
            for (i64 i_t16 = start_t14; i_t16 < end_t15; i_t16++) {
            for (i64 i_t7 = 0L; i_t7 < blocks_t6; i_t7++) {
            #pragma omp simd
            for (i64 i_t11 = 0L; i_t11 < 16L; i_t11++) {
            if (dz_parallel(ctx, task_0, &env_0, m_0, dz_grain(m_0, 2.0 + (f64)n_1 * 306.0))) return 1;
        "#]],
    );
}

/// There is no row above the first one: the pointer is to the first one then, and the loop is for vector units all the same.
#[test]
fn pointers_to_rows_beyond_the_border_are_to_rows_at_it() {
    check(
        r#"def f (m: i64, n: i64, xss: [m][n]f64) : (yss: [m][n]f64) =
             let (is: [m]i64) = iota i64 m 0i64 1i64
             let (js: [n]i64) = iota i64 n 0i64 1i64
             let (yss: [m][n]f64) = map m (is) \(i: i64) : ([n]f64) ->
               let (inner: bool) = i64.lt 0i64 i
               let (above: i64) = i64.sub i 1i64
               let (ys: [n]f64) = map n (js) \(j: i64) : (f64) ->
                 let (y: f64) =
                   if inner then let (x: f64) = xss[above, j] certified in (x) else in (0.0f64)
                 in (y)
               in (ys)
             in (yss)

           entry "f" = f
             sizes 2 0
             param "xss" : value "[][]f64" [m][n]f64
             result value "[][]f64" [m][n]f64"#,
        expect![[r#"
            i64 first_t3 = from_t1;
            first_t3 = i64_max(first_t3, dz_plus(0L, 1L));
            i64 last_t4 = to_t2;
            first_t3 = to_t2;
            last_t4 = to_t2;
            for (i64 i_t8 = 0L; i_t8 < 2L; i_t8++) {
            for (i64 i_t11 = start_t9; i_t11 < end_t10; i_t11++) {
            #pragma omp simd
            for (i64 i_t13 = 0L; i_t13 < n_1; i_t13++) {
            for (i64 i_t5 = first_t3; i_t5 < last_t4; i_t5++) {
            #pragma omp simd
            for (i64 i_t7 = 0L; i_t7 < n_1; i_t7++) {
            if (dz_parallel(ctx, task_0, &env_0, m_0, dz_grain(m_0, 4.0 + (f64)n_1 * 4.0))) return 1;
        "#]],
    );
}

/// Parts of a gradient that there are at one border only are zeros in the middle. The first zero stays, as what is added to it
/// may be `-0.0`, and so does a zero that is added to a product.
#[test]
fn zeros_of_the_border_are_not_added_in_the_middle() {
    let core = r#"def f (n: i64, xs: [n]f64) : (ys: [n]f64, zs: [n]f64) =
        let (is: [n]i64) = iota i64 n 0i64 1i64
        let (end: i64) = i64.sub n 1i64
        let (ys: [n]f64, zs: [n]f64) = map n (is)
          \(q: i64) : (f64, f64) ->
            let (x: f64) = xs[q] certified
            let (at_start: bool) = i64.eq q 0i64
            let (a: f64) = if at_start then in (x) else in (0.0f64)
            let (at_end: bool) = i64.eq q end
            let (b: f64) = if at_end then in (x) else in (0.0f64)
            let (s: f64) = f64.add a x
            let (y: f64) = f64.add s b
            let (p: f64) = f64.mul s x
            let (z: f64) = f64.add p b
            in (y, z)
        in (ys, zs)

      entry "f" = f
        sizes 1 0
        param "xs" : value "[]f64" [n]f64
        result value "[]f64" [n]f64
        result value "[]f64" [n]f64"#;
    let program = parse(core).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let middle = text.split("#pragma omp simd").nth(1).expect("the middle is for vector units");
    let sums: Vec<&str> = middle.lines().map(str::trim).filter(|line| line.contains(" + ")).take(2).collect();
    expect![[r#"
        f64 s_14 = 0.0 + x_9;
        f64 z_17 = p_16 + 0.0;
    "#]]
    .assert_eq(&(sums.join("\n") + "\n"));
}
