//! The C of small programs.

use dagaz_codegen::generate_body;
use dagaz_core::parse::parse;
use expect_test::{Expect, expect};

/// Compares the C of the first function.
fn check(core: &str, expected: Expect) {
    let program = parse(core).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let function = text.split("\n\n").nth(3).unwrap_or_default();
    let body = function.split_once(" {\n").map_or(function, |(_, body)| body);
    expected.assert_eq(body);
}

#[test]
fn sum_of_doubled_numbers() {
    check(
        r#"def f (n: i64, xs: [n]f64) : (s: f64) =
             let (s: f64) =
               reduce n (xs)
                 pre \(x: f64) : (f64) ->
                   let (y: f64) = f64.mul x 2.0f64
                   in (y)
                 op \(a: f64, b: f64) : (f64) ->
                   let (c: f64) = f64.add a b
                   in (c)
                 neutral (0.0f64)
             in (s)

           entry "f" = f
             sizes 1 0
             param "xs" : value "[]f64" [n]f64
             result value "f64" f64"#,
        expect![[r#"
              f64 *xs_1;
              f64 *part_t2;
              i64 grain_t1;
            };"#]],
    );
}

#[test]
fn nested_maps_write_into_one_array() {
    check(
        r#"def f (n: i64, m: i64, xs: [n][m]f64) : (ys: [n][m]f64) =
             let (ys: [n][m]f64) =
               map n (xs) \(row: [m]f64) : ([m]f64) ->
                 let (zs: [m]f64) =
                   map m (row) \(x: f64) : (f64) ->
                     let (y: f64) = f64.add x x
                     in (y)
                 in (zs)
             in (ys)

           entry "f" = f
             sizes 2 0
             param "xs" : value "[][]f64" [n][m]f64
             result value "[][]f64" [n][m]f64"#,
        expect![[r#"
              f64 *xs_2;
              i64 m_1;
              f64 *ys_4;
              dz_block *ys_4_mem;
              const i32 *sites;
            };"#]],
    );
}

#[test]
fn loops_that_do_the_same_share_a_function() {
    let core = r#"def rows (n: i64, m: i64, xs: [n][m]f64) : (ys: [n][m]f64) =
             let (ys: [n][m]f64) =
               map n (xs)
                 \(row: [m]f64) : ([m]f64) ->
                   let (new: [m]f64) =
                     map m (row)
                       \(x: f64) : (f64) ->
                         let (y: f64) = f64.mul x 2.0f64
                         in (y)
                   in (new)
             in (ys)
           def twice (k: i64, l: i64, as: [k][l]f64) : (cs: [k][l]f64) =
             let (bs: [k][l]f64) =
               map k (as)
                 \(row: [l]f64) : ([l]f64) ->
                   let (new: [l]f64) =
                     map l (row)
                       \(a: f64) : (f64) ->
                         let (b: f64) = f64.mul a 2.0f64
                         in (b)
                   in (new)
             let (cs: [k][l]f64) =
               map k (bs)
                 \(row: [l]f64) : ([l]f64) ->
                   let (new: [l]f64) =
                     map l (row)
                       \(b: f64) : (f64) ->
                         let (c: f64) = f64.add b 2.0f64
                         in (c)
                   in (new)
             in (cs)

           entry "rows" = rows
             sizes 2 0
             param "xs" : value "[][]f64" [n][m]f64
             result value "[][]f64" [n][m]f64

           entry "twice" = twice
             sizes 2 0
             param "as" : value "[][]f64" [k][l]f64
             result value "[][]f64" [k][l]f64"#;
    let program = parse(core).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let matters = ["env_", "sites", "static i32 task"];
    let is_shown = |line: &&str| matters.iter().any(|word| line.contains(word));
    let lines: Vec<String> =
        text.lines().map(str::trim).filter(is_shown).map(|line| format!("{line}\n")).collect();
    expect![[r#"
        struct env_0 {
        const i32 *sites;
        static i32 task_0(dz_ctx *ctx, const void *env, i64 from_t1, i64 to_t2) {
        const struct env_0 *outside = env;
        if (DZ_TICK(ctx)) return dz_fail(ctx, outside->sites[0]);
        static const i32 sites_0[] = {2};
        struct env_0 env_0 = {xs_2, m_1, ys_4, ys_4_mem, sites_0};
        if (dz_parallel(ctx, task_0, &env_0, n_0, dz_grain(n_0, 2.0 + (f64)m_1 * 3.0))) return 1;
        struct env_1 {
        const i32 *sites;
        static i32 task_1(dz_ctx *ctx, const void *env, i64 from_t11, i64 to_t12) {
        const struct env_1 *outside = env;
        if (DZ_TICK(ctx)) return dz_fail(ctx, outside->sites[0]);
        static const i32 sites_0[] = {5};
        struct env_0 env_0 = {as_11, l_10, bs_13, bs_13_mem, sites_0};
        if (dz_parallel(ctx, task_0, &env_0, k_9, dz_grain(k_9, 2.0 + (f64)l_10 * 3.0))) return 1;
        static const i32 sites_1[] = {7};
        struct env_1 env_1 = {bs_13, l_10, cs_18, cs_18_mem, sites_1};
        if (dz_parallel(ctx, task_1, &env_1, k_9, dz_grain(k_9, 2.0 + (f64)l_10 * 3.0))) return 1;
    "#]]
    .assert_eq(&lines.concat());
}

#[test]
fn many_constants_are_copied_from_a_table() {
    let constants: Vec<String> = (0..66).map(|i| format!("{i}.5f64")).collect();
    let table = |more: &str| {
        format!(
            r#"def f (x: f64, i: i64) : (r: f64) =
                 let (a: [68i64]f64) = array f64 ({}, x, {more})
                 let (r: f64) = a[i]
                 in (r)

               entry "f" = f
                 sizes 0 0
                 param "x" : value "f64" f64
                 param "i" : value "i64" i64
                 result value "f64" f64"#,
            constants.join(", ")
        )
    };
    let numbers: Vec<String> = (0..66).map(|i| format!("{i}.5")).collect();
    let program = parse(&table("f64.inf")).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let expected = format!(
        "{{ static const f64 table[] = {{{}, 0.0, 0.0}}; memcpy(a_3, table, sizeof table); }}",
        numbers.join(", ")
    );
    assert!(text.contains(&expected), "{text}");
    assert!(text.contains("a_3[66L] = x_0;"), "{text}");
    assert!(text.contains("a_3[67L] = dz_from_f64("), "{text}");
}
