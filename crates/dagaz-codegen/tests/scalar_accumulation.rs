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
            for (i64 i_t13 = 0L; i_t13 < k_1; i_t13++) {
            for (i64 i_t15 = first_t6 + from_t9; i_t15 < first_t6 + to_t10; i_t15++) {
            for (i64 i_t20 = (i64)(first_t6 == 0L); i_t20 < here_t8; i_t20++) {
            if (DZ_TICK(ctx)) return dz_fail(ctx, outside->sites[0]);
            for (i64 i_t22 = from_t18; i_t22 < to_t19; i_t22++) {
            for (i64 i_t5 = 0L; i_t5 < (copies_t1 + at_once_t3 - 1L) / at_once_t3; i_t5++) {
            if (DZ_TICK(ctx)) return dz_fail(ctx, 3);
            for (i64 i_t25 = 0L; i_t25 < n_0; i_t25++) {
        "#]],
    );
}

#[test]
fn iterations_with_loops_ask_whether_to_go_on() {
    check(
        "let (y: f64) = loop (z: f64 = x) for j: i64 < i do let (w: f64) = f64.mul z z in (w)",
        expect![[r#"
            for (i64 i_t9 = from_t6; i_t9 < to_t7; i_t9++) {
            if (DZ_TICK(ctx)) return dz_fail(ctx, outside->sites[1]);
            for (i64 i_t12 = 0L; i_t12 < chunks_t11; i_t12++) {
            if (DZ_TICK(ctx)) return dz_fail(ctx, outside->sites[2]);
            for (i64 i_t15 = from_t13; i_t15 < to_t14; i_t15++) {
            for (i64 i_t28 = 0L; i_t28 < k_1; i_t28++) {
            for (i64 i_t29 = first_t21 + from_t24; i_t29 < first_t21 + to_t25; i_t29++) {
            if (DZ_TICK(ctx)) return dz_fail(ctx, outside->sites[0]);
            for (i64 i_t32 = 0L; i_t32 < chunks_t31; i_t32++) {
            if (DZ_TICK(ctx)) return dz_fail(ctx, outside->sites[1]);
            for (i64 i_t35 = from_t33; i_t35 < to_t34; i_t35++) {
            for (i64 i_t40 = (i64)(first_t21 == 0L); i_t40 < here_t23; i_t40++) {
            if (DZ_TICK(ctx)) return dz_fail(ctx, outside->sites[0]);
            for (i64 i_t42 = from_t38; i_t42 < to_t39; i_t42++) {
            for (i64 i_t20 = 0L; i_t20 < (copies_t1 + at_once_t18 - 1L) / at_once_t18; i_t20++) {
            if (DZ_TICK(ctx)) return dz_fail(ctx, 7);
        "#]],
    );
}
