//! Copies of matrices that loops keep for their products.

use dagaz_codegen::generate_body;
use dagaz_core::parse::parse;
use expect_test::{Expect, expect};

/// Compares loops and products, and what has to do with copies, of a function with matrices of one size.
fn check(body: &str, expected: Expect) {
    let core = format!(
        r#"def f (n: i64, x: [n][n]f64, w: [n][n]f64) : (r: [n][n]f64) =
             {body}
             in (r)

           entry "f" = f
             sizes 1 0
             param "x" : value "[][]f64" [n][n]f64
             param "w" : value "[][]f64" [n][n]f64
             result value "[][]f64" [n][n]f64"#
    );
    let program = parse(&core).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let matters = |line: &&str| ["kept", "dz_product", "for ("].iter().any(|word| line.contains(word));
    let lines: Vec<String> = text
        .lines()
        .filter(matters)
        .map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line)))
        .collect();
    expected.assert_eq(&lines.concat());
}

#[test]
fn a_matrix_that_is_the_same_in_all_iterations_is_copied_once() {
    check(
        "let (r: [n][n]f64) =
           loop (y: [n][n]f64 = x) for i: i64 < n do
             let (z: [n][n]f64) = contract [n, n] sum [n] y (0, 2) w (1, 2)
             in (z)",
        expect![[r#"
            dz_block *kept_t3 = NULL;
            for (i64 i_t1 = 0L; i_t1 < n_0; i_t1++) {
              if (dz_product_with_copy_f64(ctx, 3, (dz_product){1L, n_0, n_0, n_0, {0L, n_0, 1L}, {0L, 1L, n_0}, {0L, n_0, 1L}, false}, y_5, w_2, z_7, &kept_t3)) return 1;
            dz_release(ctx, kept_t3);
        "#]],
    );
}

#[test]
fn the_transposed_product_has_its_rows_next_to_each_other() {
    check(
        "let (r: [n][n]f64) =
           loop (y: [n][n]f64 = x) for i: i64 < n do
             let (z: [n][n]f64) = contract [n, n] sum [n] w (2, 1) y (0, 2)
             in (z)",
        expect![[r#"
            dz_block *kept_t3 = NULL;
            for (i64 i_t1 = 0L; i_t1 < n_0; i_t1++) {
              if (dz_product_with_copy_f64(ctx, 3, (dz_product){1L, n_0, n_0, n_0, {0L, n_0, 1L}, {0L, n_0, 1L}, {0L, n_0, 1L}, false}, y_5, w_2, z_7, &kept_t3)) return 1;
            dz_release(ctx, kept_t3);
        "#]],
    );
}

#[test]
fn the_loop_around_both_keeps_a_copy_for_both() {
    check(
        "let (r: [n][n]f64) =
           loop (y: [n][n]f64 = x) for i: i64 < n do
             let (first: [n][n]f64) = contract [n, n] sum [n] y (0, 2) w (1, 2)
             let (z: [n][n]f64) =
               loop (v: [n][n]f64 = first) for j: i64 < n do
                 let (next: [n][n]f64) = contract [n, n] sum [n] v (0, 2) w (1, 2)
                 in (next)
             in (z)",
        expect![[r#"
            dz_block *kept_t3 = NULL;
            for (i64 i_t1 = 0L; i_t1 < n_0; i_t1++) {
              if (dz_product_with_copy_f64(ctx, 3, (dz_product){1L, n_0, n_0, n_0, {0L, n_0, 1L}, {0L, 1L, n_0}, {0L, n_0, 1L}, false}, y_5, w_2, first_7, &kept_t3)) return 1;
              for (i64 i_t4 = 0L; i_t4 < n_0; i_t4++) {
                if (dz_product_with_copy_f64(ctx, 6, (dz_product){1L, n_0, n_0, n_0, {0L, n_0, 1L}, {0L, 1L, n_0}, {0L, n_0, 1L}, false}, v_9, w_2, next_11, &kept_t3)) return 1;
            dz_release(ctx, kept_t3);
        "#]],
    );
}

#[test]
fn a_matrix_that_the_loop_around_changes_is_copied_in_every_iteration_of_it() {
    check(
        "let (r: [n][n]f64) =
           loop (y: [n][n]f64 = x) for i: i64 < n do
             let (z: [n][n]f64) =
               loop (v: [n][n]f64 = w) for j: i64 < n do
                 let (next: [n][n]f64) = contract [n, n] sum [n] v (0, 2) y (1, 2)
                 in (next)
             in (z)",
        expect![[r#"
            for (i64 i_t1 = 0L; i_t1 < n_0; i_t1++) {
              dz_block *kept_t5 = NULL;
              for (i64 i_t3 = 0L; i_t3 < n_0; i_t3++) {
                if (dz_product_with_copy_f64(ctx, 4, (dz_product){1L, n_0, n_0, n_0, {0L, n_0, 1L}, {0L, 1L, n_0}, {0L, n_0, 1L}, false}, v_8, y_5, next_10, &kept_t5)) return 1;
              dz_release(ctx, kept_t5);
        "#]],
    );
}

#[test]
fn there_is_no_copy_of_a_matrix_that_changes() {
    check(
        "let (r: [n][n]f64) =
           loop (y: [n][n]f64 = x) for i: i64 < n do
             let (z: [n][n]f64) = contract [n, n] sum [n] w (0, 2) y (2, 1)
             in (z)",
        expect![[r#"
            for (i64 i_t1 = 0L; i_t1 < n_0; i_t1++) {
              dz_product_f64(ctx, (dz_product){1L, n_0, n_0, n_0, {0L, n_0, 1L}, {0L, n_0, 1L}, {0L, n_0, 1L}, false}, w_2, y_5, z_7);
        "#]],
    );
}
