//! Which array a map writes over, if nobody else has it.

use dagaz_codegen::generate_body;
use dagaz_core::parse::parse;
use expect_test::{Expect, expect};

/// Compares the questions whether an array belongs to nobody else. `arrays` are read by a map, which could write over each.
fn check(arrays: &str, expected: Expect) {
    let core = format!(
        r#"def f (n: i64, xs: [n]f64, ys: [n]f64) : (r: [n]f64) =
             let (sums: [n]f64) =
               scan n (xs)
                 op \(a: f64, b: f64) : (f64) -> let (c: f64) = f64.add a b in (c)
                 neutral (0.0f64)
             let (first: f64) = sums[0i64]
             let (r: [n]f64) =
               map n ({arrays}) \(x: f64, s: f64) : (f64) ->
                 let (t: f64) = f64.mul x s
                 let (u: f64) = f64.add t first
                 in (u)
             in (r)

           entry "f" = f
             sizes 1 0
             param "xs" : value "[]f64" [n]f64
             param "ys" : value "[]f64" [n]f64
             result value "[]f64" [n]f64"#
    );
    let program = parse(&core).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let lines = text.lines().map(str::trim).filter(|line| line.contains("if (dz_is_unique("));
    expected.assert_eq(&lines.map(|line| format!("{line}\n")).collect::<String>());
}

#[test]
fn what_was_made_here_comes_before_arguments() {
    check(
        "xs, sums",
        expect![[r#"
        if (dz_is_unique(ctx, sums_4_mem)) {
    "#]],
    );
}

#[test]
fn arguments_are_better_than_nothing() {
    check(
        "xs, ys",
        expect![[r#"
        if (dz_is_unique(ctx, xs_1_mem)) {
    "#]],
    );
}
