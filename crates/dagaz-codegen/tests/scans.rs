//! What the loop of a scan does with its results.

use dagaz_codegen::generate_body;
use dagaz_core::parse::parse;
use expect_test::{Expect, expect};

/// A recurrence of `as` and `bs`, which gives `ps` and `xs`, and statements after it that give `result`. The loops are
/// shown, and what is allocated or written to arrays but those of chains and pieces.
fn check(rest: &str, result: &str, expected: Expect) {
    let core = format!(
        r#"def f (n: i64, as: [n]f64, bs: [n]f64) : (r: {result}) =
             let (ps: [n]f64, xs: [n]f64) = scan n (as, bs)
               op \(a: f64, b: f64, c: f64, d: f64) : (f64, f64) ->
                 let (e: f64) = f64.mul a c
                 let (g: f64) = f64.mul b c
                 let (h: f64) = f64.add g d
                 in (e, h)
               neutral (1.0f64, 0.0f64)
             {rest}
             in (r)
           entry "f" = f sizes 1 0
             param "as" : value "[]f64" [n]f64
             param "bs" : value "[]f64" [n]f64
             result value "{}" {result}"#,
        result.replace("[n]", "[]")
    );
    let program = parse(&core).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let is_shown = |line: &&str| {
        let is_inside = ["chain_", "part_"].iter().any(|name| line.starts_with(name));
        let writes =
            line.contains("] = ") && !is_inside && !line.contains("dims[") && !line.contains("_room[");
        line.starts_with("for (")
            || line.starts_with("#pragma")
            || line.contains("dz_alloc(")
            || line.contains("(dz_is_unique(")
            || writes
    };
    let shown: Vec<&str> = text.lines().map(str::trim).filter(is_shown).collect();
    expected.assert_eq(&(shown.join("\n") + "\n"));
}

#[test]
fn a_sum_of_results_needs_no_memory_for_them() {
    check(
        r#"let (r: f64) = reduce n (xs)
             op \(x: f64, y: f64) : (f64) ->
               let (z: f64) = f64.add x y
               in (z)
             neutral (0.0f64)"#,
        "f64",
        expect![[r#"
            for (i64 i_t14 = 0L; i_t14 < 6L; i_t14++) {
            for (i64 i_t15 = from_t6; i_t15 < first_t9; i_t15++) {
            for (i64 i_t19 = 0L; i_t19 < length_t11; i_t19++) {
            #pragma GCC unroll 4
            for (i64 i_t20 = 0L; i_t20 < 4L; i_t20++) {
            for (i64 i_t24 = first_t9 + length_t11 * 4L; i_t24 < to_t7; i_t24++) {
            for (i64 i_t28 = 0L; i_t28 < 6L; i_t28++) {
            for (i64 i_t32 = 0L; i_t32 < 6L; i_t32++) {
            for (i64 i_t33 = from_t6; i_t33 < first_t9; i_t33++) {
            for (i64 i_t38 = 0L; i_t38 < length_t11; i_t38++) {
            #pragma GCC unroll 4
            for (i64 i_t39 = 0L; i_t39 < 4L; i_t39++) {
            for (i64 i_t44 = first_t9 + length_t11 * 4L; i_t44 < to_t7; i_t44++) {
            for (i64 i_t49 = 1L; i_t49 < 6L; i_t49++) {
            for (i64 i_t51 = 0L; i_t51 < (n_0 + grain_t1 - 1L) / grain_t1; i_t51++) {
        "#]],
    );
}

#[test]
fn results_from_the_last_one_on_are_written_in_that_order() {
    check(
        r#"let (end: i64) = i64.sub n 1i64
           let (r: [n]f64) = slice xs [end :+ n * -1i64]"#,
        "[n]f64",
        expect![[r#"
            for (i64 i_t13 = 0L; i_t13 < 6L; i_t13++) {
            for (i64 i_t14 = from_t5; i_t14 < first_t8; i_t14++) {
            for (i64 i_t18 = 0L; i_t18 < length_t10; i_t18++) {
            #pragma GCC unroll 4
            for (i64 i_t19 = 0L; i_t19 < 4L; i_t19++) {
            for (i64 i_t23 = first_t8 + length_t10 * 4L; i_t23 < to_t6; i_t23++) {
            for (i64 i_t27 = 0L; i_t27 < 6L; i_t27++) {
            for (i64 i_t30 = from_t5; i_t30 < first_t8; i_t30++) {
            r_14[n_0 - 1L - at_t31] = b_7;
            for (i64 i_t34 = 0L; i_t34 < length_t10; i_t34++) {
            #pragma GCC unroll 4
            for (i64 i_t35 = 0L; i_t35 < 4L; i_t35++) {
            r_14[n_0 - 1L - at_t36] = b_7;
            for (i64 i_t39 = first_t8 + length_t10 * 4L; i_t39 < to_t6; i_t39++) {
            r_14[n_0 - 1L - at_t40] = b_7;
            dz_block *r_14_mem = dz_alloc(ctx, 1, n_0, sizeof(f64), 10);
        "#]],
    );
}

#[test]
fn a_map_from_the_last_result_on_is_part_of_the_scan_and_has_a_border() {
    check(
        r#"let (end: i64) = i64.sub n 1i64
           let (back: [n]f64) = slice xs [end :+ n * -1i64]
           let (places: [n]i64) = iota i64 n 0i64 1i64
           let (r: [n]f64) = map n (places, back) \(i: i64, x: f64) : (f64) ->
             let (inside: bool) = i64.lt 0i64 i
             let (y: f64) = if inside then
                 let (before: i64) = i64.sub i 1i64
                 let (b: f64) = bs[before] certified
                 in (b)
               else
                 in (1.0f64)
             let (z: f64) = f64.mul x y
             in (z)"#,
        "[n]f64",
        expect![[r#"
            for (i64 i_t13 = 0L; i_t13 < 6L; i_t13++) {
            for (i64 i_t14 = from_t5; i_t14 < first_t8; i_t14++) {
            for (i64 i_t18 = 0L; i_t18 < length_t10; i_t18++) {
            #pragma GCC unroll 4
            for (i64 i_t19 = 0L; i_t19 < 4L; i_t19++) {
            for (i64 i_t23 = first_t8 + length_t10 * 4L; i_t23 < to_t6; i_t23++) {
            for (i64 i_t27 = 0L; i_t27 < 6L; i_t27++) {
            for (i64 i_t30 = from_t5; i_t30 < first_t8; i_t30++) {
            r_16[back_t34] = z_23;
            for (i64 i_t35 = 0L; i_t35 < length_t10; i_t35++) {
            #pragma GCC unroll 4
            for (i64 i_t36 = 0L; i_t36 < 4L; i_t36++) {
            r_16[back_t40] = z_23;
            for (i64 i_t41 = first_t8 + length_t10 * 4L; i_t41 < to_t6; i_t41++) {
            r_16[back_t45] = z_23;
            dz_block *r_16_mem = dz_alloc(ctx, 2, n_0, sizeof(f64), 10);
        "#]],
    );
}

#[test]
fn what_takes_long_is_left_to_vector_units() {
    check(
        r"let (r: [n]f64) = map n (xs) \(x: f64) : (f64) ->
            let (y: f64) = f64.exp x
            in (y)",
        "[n]f64",
        expect![[r#"
            for (i64 i_t13 = 0L; i_t13 < 6L; i_t13++) {
            for (i64 i_t14 = from_t5; i_t14 < first_t8; i_t14++) {
            for (i64 i_t18 = 0L; i_t18 < length_t10; i_t18++) {
            #pragma GCC unroll 4
            for (i64 i_t19 = 0L; i_t19 < 4L; i_t19++) {
            for (i64 i_t23 = first_t8 + length_t10 * 4L; i_t23 < to_t6; i_t23++) {
            for (i64 i_t27 = 0L; i_t27 < 6L; i_t27++) {
            for (i64 i_t30 = from_t5; i_t30 < first_t8; i_t30++) {
            xs_5[at_t31] = b_7;
            for (i64 i_t34 = 0L; i_t34 < length_t10; i_t34++) {
            #pragma GCC unroll 4
            for (i64 i_t35 = 0L; i_t35 < 4L; i_t35++) {
            xs_5[at_t36] = b_7;
            for (i64 i_t39 = first_t8 + length_t10 * 4L; i_t39 < to_t6; i_t39++) {
            xs_5[at_t40] = b_7;
            #pragma omp simd
            for (i64 i_t48 = from_t43; i_t48 < whole_t46; i_t48++) {
            r_13[i_t48] = y_15;
            #pragma omp simd
            for (i64 i_t50 = 0L; i_t50 < 8L; i_t50++) {
            r_13[i_t51] = y_15;
            dz_block *xs_5_mem = dz_alloc(ctx, 1, n_0, sizeof(f64), 10);
            if (dz_is_unique(ctx, xs_5_mem)) {
            r_13_mem = dz_alloc(ctx, 2, n_0, sizeof(f64), 10);
        "#]],
    );
}

#[test]
fn results_that_are_read_together_are_next_to_each_other() {
    check(
        r"let (r: [n]f64) = map n (as) \(a: f64) : (f64) ->
            let (i: i64) = f64.to_i64 a
            let (p: f64) = ps[i]
            let (x: f64) = xs[i] certified
            let (z: f64) = f64.mul x p
            in (z)",
        "[n]f64",
        expect![[r#"
            for (i64 i_t13 = 0L; i_t13 < 6L; i_t13++) {
            for (i64 i_t14 = from_t5; i_t14 < first_t8; i_t14++) {
            for (i64 i_t18 = 0L; i_t18 < length_t10; i_t18++) {
            #pragma GCC unroll 4
            for (i64 i_t19 = 0L; i_t19 < 4L; i_t19++) {
            for (i64 i_t23 = first_t8 + length_t10 * 4L; i_t23 < to_t6; i_t23++) {
            for (i64 i_t27 = 0L; i_t27 < 6L; i_t27++) {
            for (i64 i_t30 = from_t5; i_t30 < first_t8; i_t30++) {
            ps_4[at_t31 * 2L] = a_6;
            xs_5[at_t31 * 2L] = b_7;
            for (i64 i_t34 = 0L; i_t34 < length_t10; i_t34++) {
            #pragma GCC unroll 4
            for (i64 i_t35 = 0L; i_t35 < 4L; i_t35++) {
            ps_4[at_t36 * 2L] = a_6;
            xs_5[at_t36 * 2L] = b_7;
            for (i64 i_t39 = first_t8 + length_t10 * 4L; i_t39 < to_t6; i_t39++) {
            ps_4[at_t40 * 2L] = a_6;
            xs_5[at_t40 * 2L] = b_7;
            #pragma omp simd reduction(|:stop_t45)
            for (i64 i_t46 = from_t43; i_t46 < to_t44; i_t46++) {
            r_13[i_t46] = z_18;
            for (i64 i_t51 = from_t43; i_t51 < to_t44; i_t51++) {
            r_13[i_t51] = z_18;
            dz_block *v_4294967294_mem = dz_alloc(ctx, 1, dz_times(n_0, 2L), sizeof(f64), 10);
            dz_block *r_13_mem = dz_alloc(ctx, 2, n_0, sizeof(f64), 10);
            static const i32 sites_1[] = {3};
        "#]],
    );
}

/// The sums of `xs` from the last one on, times the element before.
const RETURN_SWEEP: &str = r"let (places: [n]i64) = iota i64 n 0i64 1i64
             let (last: i64) = i64.sub n 1i64
             let (back: [n]f64) = slice xs [last :+ n * -1i64]
             let (sums: [n]f64) = scan n (back)
               op \(x: f64, y: f64) : (f64) ->
                 let (z: f64) = f64.add x y
                 in (z)
               neutral (0.0f64)
             let (turned: [n]f64) = slice sums [last :+ n * -1i64]
             let (r: [n]f64) = map n (places, turned) \(i: i64, c: f64) : (f64) ->
               let (some: bool) = i64.lt 0i64 i
               let (before: f64) =
                 if some then
                   let (at: i64) = i64.sub i 1i64
                   let (x: f64) = xs[at] certified
                   in (x)
                 else in (1.0f64)
               let (y: f64) = f64.mul before c
               in (y)";

#[test]
fn a_scan_from_the_last_row_on_writes_over_what_it_goes_along() {
    check(
        RETURN_SWEEP,
        "[n]f64",
        expect![[r#"
            for (i64 i_t13 = 0L; i_t13 < 6L; i_t13++) {
            for (i64 i_t14 = from_t5; i_t14 < first_t8; i_t14++) {
            for (i64 i_t18 = 0L; i_t18 < length_t10; i_t18++) {
            #pragma GCC unroll 4
            for (i64 i_t19 = 0L; i_t19 < 4L; i_t19++) {
            for (i64 i_t23 = first_t8 + length_t10 * 4L; i_t23 < to_t6; i_t23++) {
            for (i64 i_t27 = 0L; i_t27 < 6L; i_t27++) {
            for (i64 i_t30 = from_t5; i_t30 < first_t8; i_t30++) {
            xs_5[at_t31] = b_7;
            for (i64 i_t34 = 0L; i_t34 < length_t10; i_t34++) {
            #pragma GCC unroll 4
            for (i64 i_t35 = 0L; i_t35 < 4L; i_t35++) {
            xs_5[at_t36] = b_7;
            for (i64 i_t39 = first_t8 + length_t10 * 4L; i_t39 < to_t6; i_t39++) {
            xs_5[at_t40] = b_7;
            for (i64 i_t54 = 0L; i_t54 < 6L; i_t54++) {
            #pragma omp simd reduction(+:x_17)
            for (i64 i_t58 = start_t55; i_t58 < end_t56; i_t58++) {
            for (i64 i_t60 = 0L; i_t60 < 6L; i_t60++) {
            for (i64 i_t62 = 0L; i_t62 < 6L; i_t62++) {
            edge_t46[i_t62] = xs_5[i64_max(row_t63, 0L)];
            for (i64 i_t64 = from_t47; i_t64 < first_t50 - 1L; i_t64++) {
            r_21[back_t67] = y_28;
            for (i64 i_t68 = 0L; i_t68 < length_t52 - 1L; i_t68++) {
            #pragma GCC unroll 4
            for (i64 i_t69 = 0L; i_t69 < 4L; i_t69++) {
            r_21[back_t72] = y_28;
            for (i64 i_t73 = first_t50 + length_t52 * 4L; i_t73 < to_t48 - 1L; i_t73++) {
            r_21[back_t76] = y_28;
            for (i64 i_t77 = 0L; i_t77 < 6L; i_t77++) {
            r_21[back_t82] = y_28;
            dz_block *xs_5_mem = dz_alloc(ctx, 2, n_0, sizeof(f64), 10);
            if (dz_is_unique(ctx, xs_5_mem)) {
            r_21_mem = dz_alloc(ctx, 3, n_0, sizeof(f64), 10);
        "#]],
    );
}

#[test]
fn what_is_read_after_a_scan_is_not_overwritten() {
    let rest = RETURN_SWEEP.replace("(r: [n]f64)", "(ys: [n]f64)");
    let rest = format!(
        r"{rest}
             let (r: f64) = xs[last]
             let (s: f64) = ys[last]"
    );
    check(
        &rest,
        "f64",
        expect![[r#"
            for (i64 i_t13 = 0L; i_t13 < 6L; i_t13++) {
            for (i64 i_t14 = from_t5; i_t14 < first_t8; i_t14++) {
            for (i64 i_t18 = 0L; i_t18 < length_t10; i_t18++) {
            #pragma GCC unroll 4
            for (i64 i_t19 = 0L; i_t19 < 4L; i_t19++) {
            for (i64 i_t23 = first_t8 + length_t10 * 4L; i_t23 < to_t6; i_t23++) {
            for (i64 i_t27 = 0L; i_t27 < 6L; i_t27++) {
            for (i64 i_t30 = from_t5; i_t30 < first_t8; i_t30++) {
            xs_5[at_t31] = b_7;
            for (i64 i_t34 = 0L; i_t34 < length_t10; i_t34++) {
            #pragma GCC unroll 4
            for (i64 i_t35 = 0L; i_t35 < 4L; i_t35++) {
            xs_5[at_t36] = b_7;
            for (i64 i_t39 = first_t8 + length_t10 * 4L; i_t39 < to_t6; i_t39++) {
            xs_5[at_t40] = b_7;
            for (i64 i_t53 = 0L; i_t53 < 6L; i_t53++) {
            #pragma omp simd reduction(+:x_17)
            for (i64 i_t57 = start_t54; i_t57 < end_t55; i_t57++) {
            for (i64 i_t59 = 0L; i_t59 < 6L; i_t59++) {
            for (i64 i_t61 = from_t46; i_t61 < first_t49; i_t61++) {
            ys_21[back_t64] = y_28;
            for (i64 i_t65 = 0L; i_t65 < length_t51; i_t65++) {
            #pragma GCC unroll 4
            for (i64 i_t66 = 0L; i_t66 < 4L; i_t66++) {
            ys_21[back_t69] = y_28;
            for (i64 i_t70 = first_t49 + length_t51 * 4L; i_t70 < to_t47; i_t70++) {
            ys_21[back_t73] = y_28;
            dz_block *xs_5_mem = dz_alloc(ctx, 2, n_0, sizeof(f64), 10);
            dz_block *ys_21_mem = dz_alloc(ctx, 3, n_0, sizeof(f64), 10);
        "#]],
    );
}

/// A piece waits for the sum of all before it, and so must not begin before the others.
#[test]
fn pieces_of_a_scan_begin_in_order_and_those_of_a_map_do_not() {
    let core = r#"def f (n: i64, as: [n]f64) : (sums: [n]f64, squares: [n]f64) =
             let (sums: [n]f64) = scan n (as)
               op \(a: f64, b: f64) : (f64) ->
                 let (c: f64) = f64.add a b
                 in (c)
               neutral (0.0f64)
             let (squares: [n]f64) = map n (as) \(a: f64) : (f64) ->
               let (square: f64) = f64.mul a a
               in (square)
             in (sums, squares)
           entry "f" = f sizes 1 0
             param "as" : value "[]f64" [n]f64
             result value "[]f64" [n]f64
             result value "[]f64" [n]f64"#;
    let text = generate_body(&parse(core).expect("the program is Core")).expect("the program becomes C");
    let calls = text.lines().filter_map(|line| line.trim().strip_prefix("if (dz_parallel"));
    let calls: Vec<&str> = calls.filter_map(|call| call.split("(ctx, ").next()).collect();
    assert_eq!(calls, ["_in_order", ""]);
}
