//! Loops that add numbers to accumulators: what of the generated C is about the loop rather than the sum.

use dagaz_codegen::generate_body;
use dagaz_core::parse::parse;
use expect_test::{Expect, expect};

/// Loops over iterations, questions whether to go on, and what is said about the memory of a piece.
fn check(element: &str, expected: Expect) {
    let core = format!(
        r#"def f (n: i64, k: i64, is: [n]i64, xs: [n]f64, base: [k]f64) : (ys: [k]f64) =
            let (ys: [k]f64) = with_acc
              over [k] (base)
                op \(p: f64, q: f64) : (f64) -> let (r: f64) = f64.add p q in (r)
                neutral (0.0f64)
              body \(acc: acc [k] (f64)) : (acc [k] (f64)) ->
                let (out: acc [k] (f64)) = map n (is, xs, acc)
                  \(i: i64, x: f64, a: acc [k] (f64)) : (acc [k] (f64)) ->
                  {element}
                  let (b: acc [k] (f64)) = update_acc a [i] (y)
                  in (b)
                in (out)
            in (ys)

          entry "f" = f
            sizes 2 0
            param "is" : value "[]i64" [n]i64
            param "xs" : value "[]f64" [n]f64
            param "base" : value "[]f64" [k]f64
            result value "[]f64" [k]f64"#
    );
    let program = parse(&core).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let is_shown = |line: &&str| {
        line.starts_with("for (") || line.contains("DZ_TICK") || line.contains("DZ_IN_REGISTER")
    };
    let shown: Vec<&str> = text.lines().map(str::trim).filter(is_shown).collect();
    expected.assert_eq(&(shown.join("\n") + "\n"));
}

#[test]
fn scalar_operations_do_not_ask_whether_to_go_on() {
    check(
        "let (y: f64) = f64.mul x x",
        expect![[r#"
            DZ_IN_REGISTER(v_4294967294);
            for (i64 i_t12 = 0; i_t12 < (k_1); i_t12++) {
            for (i64 i_t14 = first_t6 + from_t9; i_t14 < first_t6 + to_t10; i_t14++) {
            for (i64 i_t19 = 0; i_t19 < here_t8; i_t19++) {
            if (DZ_TICK(ctx)) return dz_fail(ctx, 4);
            for (i64 i_t21 = from_t17; i_t21 < to_t18; i_t21++) {
            for (i64 i_t5 = 0; i_t5 < (copies_t1 + at_once_t3 - 1) / at_once_t3; i_t5++) {
            if (DZ_TICK(ctx)) return dz_fail(ctx, 3);
            for (i64 i_t24 = 0; i_t24 < n_0; i_t24++) {
        "#]],
    );
}

#[test]
fn iterations_with_loops_ask_whether_to_go_on() {
    check(
        "let (y: f64) = loop (z: f64 = x) for j: i64 < i do let (w: f64) = f64.mul z z in (w)",
        expect![[r#"
            for (i64 i_t12 = 0; i_t12 < (k_1); i_t12++) {
            for (i64 i_t13 = first_t6 + from_t9; i_t13 < first_t6 + to_t10; i_t13++) {
            if (DZ_TICK(ctx)) return dz_fail(ctx, 4);
            for (i64 i_t16 = 0; i_t16 < chunks_t15; i_t16++) {
            if (DZ_TICK(ctx)) return dz_fail(ctx, 5);
            for (i64 i_t19 = from_t17; i_t19 < to_t18; i_t19++) {
            for (i64 i_t24 = 0; i_t24 < here_t8; i_t24++) {
            if (DZ_TICK(ctx)) return dz_fail(ctx, 6);
            for (i64 i_t26 = from_t22; i_t26 < to_t23; i_t26++) {
            for (i64 i_t5 = 0; i_t5 < (copies_t1 + at_once_t3 - 1) / at_once_t3; i_t5++) {
            if (DZ_TICK(ctx)) return dz_fail(ctx, 3);
            for (i64 i_t28 = 0; i_t28 < n_0; i_t28++) {
            if (DZ_TICK(ctx)) return dz_fail(ctx, 7);
            for (i64 i_t31 = 0; i_t31 < chunks_t30; i_t31++) {
            if (DZ_TICK(ctx)) return dz_fail(ctx, 8);
            for (i64 i_t34 = from_t32; i_t34 < to_t33; i_t34++) {
        "#]],
    );
}
