//! Products that make many matrices, and maps that take or give these one by one, some matrices at a time.

use dagaz_codegen::generate_body;
use dagaz_core::parse::parse;
use expect_test::{Expect, expect};

/// Compares loops and products, and what is released, of a function with many matrices of one size.
fn check(body: &str, expected: Expect) {
    let core = format!(
        r#"def f (k: i64, n: i64, as: [k][n][n]f64, x: [n][n]f64, ys: [k][n][n]f64) : (r: [k][n][n]f64) =
             {body}
             in (r)

           entry "f" = f
             sizes 2 0
             param "as" : value "[][][]f64" [k][n][n]f64
             param "x" : value "[][]f64" [n][n]f64
             param "ys" : value "[][][]f64" [k][n][n]f64
             result value "[][][]f64" [k][n][n]f64"#
    );
    let program = parse(&core).expect("the program is Core");
    let text = generate_body(&program).expect("the program becomes C");
    let words = ["dz_count_parts", "_product_", "dz_parallel", "from_t", "dz_release"];
    let function = text.split("static i32 f_f").last().unwrap_or_default();
    let lines = function.lines().take_while(|line| *line != "}");
    let lines = lines.filter(|line| words.iter().any(|word| line.contains(word)));
    let plain =
        |line: &str| line.split(" // ").next().map_or(String::new(), |line| format!("{}\n", &line[2..]));
    expected.assert_eq(&lines.map(plain).collect::<String>());
}

#[test]
fn a_map_takes_matrices_while_the_caches_have_them() {
    check(
        "let (p: [k][n][n]f64) = contract [k, n, n] sum [n] as (0, 1, 3) x (3, 2) where 3 <= 1
         let (s: [k][n]f64) = map k (p) \\(own: [n][n]f64) : ([n]f64) ->
           let (sums: [n]f64) = map n (own) \\(line: [n]f64) : (f64) ->
             let (sum: f64) = reduce n (line)
               op \\(a: f64, b: f64) : (f64) ->
                 let (c: f64) = f64.add a b
                 in (c)
               neutral (0.0f64)
             in (sum)
           in (sums)
         let (r: [k][n][n]f64) = map k (p, s) \\(own: [n][n]f64, ss: [n]f64) : ([n][n]f64) ->
           let (rows: [n][n]f64) = map n (own, ss) \\(line: [n]f64, s: f64) : ([n]f64) ->
             let (row: [n]f64) = map n (line) \\(z: f64) : (f64) ->
               let (y: f64) = f64.div z s
               in (y)
             in (row)
           in (rows)",
        expect![[r#"
            dz_release(ctx, ys_4_mem);
            i64 parts_t53 = dz_count_parts(ctx, k_0, dz_times(n_1, n_1), dz_times(n_1, n_1), 8L);
              i64 from_t1 = k_0 * i_t54 / parts_t53;
              i64 v_4294967294 = to_t2 - from_t1;
              dz_triangle_product_f64(ctx, (dz_product){1L, v_4294967294 * n_1, n_1, n_1, {0L, n_1, 1L}, {0L, n_1, 1L}, {0L, n_1, 1L}, false}, (dz_triangle){.row_period = n_1, .column_period = n_1, .depth_to_row = true, .is_far = true}, as_2 + from_t1 * (n_1 * n_1), x_3, p_6 + from_t1 * (n_1 * n_1));
                struct env_1 env_1 = {from_t1, p_6, n_1, s_7, s_7_mem, sites_1};
                if (dz_parallel(ctx, task_1, &env_1, v_4294967294, dz_grain(v_4294967294, 2.0 + (f64)n_1 * (3.0 + (f64)n_1 * 4.0)))) return 1;
                struct env_3 env_3 = {from_t1, p_6, n_1, s_7, r_15, r_15_mem, sites_3};
                if (dz_parallel(ctx, task_3, &env_3, v_4294967294, dz_grain(v_4294967294, 3.0 + (f64)n_1 * (4.0 + (f64)n_1 * 3.0)))) return 1;
            dz_release(ctx, as_2_mem);
            dz_release(ctx, x_3_mem);
            dz_release(ctx, p_6_mem);
            dz_release(ctx, s_7_mem);
            dz_release(ctx, r_15_mem);
        "#]],
    );
}

#[test]
fn a_product_takes_matrices_while_the_caches_have_them() {
    check(
        "let (zs: [k][n][n]f64) = map k (as) \\(a: [n][n]f64) : ([n][n]f64) ->
           let (rows: [n][n]f64) = map n (a) \\(line: [n]f64) : ([n]f64) ->
             let (row: [n]f64) = map n (line) \\(z: f64) : (f64) ->
               let (y: f64) = f64.mul z z
               in (y)
             in (row)
           in (rows)
         let (c: [k][n][n]f64) = copy ys
         let (r: [k][n][n]f64) = contract [k, n, n] sum [n] zs (0, 1, 3) as (0, 3, 2)",
        expect![[r#"
            dz_release(ctx, x_3_mem);
            i64 parts_t17 = dz_count_parts(ctx, k_0, dz_times(n_1, n_1), 0L, 8L);
              i64 from_t1 = k_0 * i_t18 / parts_t17;
              i64 v_4294967294 = to_t2 - from_t1;
                struct env_1 env_1 = {from_t1, as_2, n_1, zs_6, zs_6_mem, sites_1};
                if (dz_parallel(ctx, task_1, &env_1, v_4294967294, dz_grain(v_4294967294, 2.0 + (f64)n_1 * (3.0 + (f64)n_1 * 3.0)))) return 1;
              dz_product_f64(ctx, (dz_product){v_4294967294, n_1, n_1, n_1, {n_1 * n_1, n_1, 1L}, {n_1 * n_1, n_1, 1L}, {n_1 * n_1, n_1, 1L}, false}, zs_6 + from_t1 * (n_1 * n_1), as_2 + from_t1 * (n_1 * n_1), r_14 + from_t1 * (n_1 * n_1));
            dz_release(ctx, as_2_mem);
            dz_release(ctx, zs_6_mem);
            dz_release(ctx, c_13_mem);
            dz_release(ctx, ys_4_mem);
            dz_release(ctx, r_14_mem);
        "#]],
    );
}

#[test]
fn what_is_between_is_before_or_after() {
    check(
        "let (zs: [k][n][n]f64) = map k (as) \\(a: [n][n]f64) : ([n][n]f64) ->
           let (rows: [n][n]f64) = map n (a) \\(line: [n]f64) : ([n]f64) ->
             let (row: [n]f64) = map n (line) \\(z: f64) : (f64) ->
               let (y: f64) = f64.mul z z
               in (y)
             in (row)
           in (rows)
         let (flat: [n][n]f64) = zs[0]
         let (c: [n][n]f64) = copy flat
         let (wide: [n][n]f64) = rearrange (1, 0) x
         let (p: [k][n][n]f64) = contract [k, n, n] sum [n] zs (0, 1, 3) wide (3, 2) where 3 <= 1
         let (r: [k][n][n]f64) = p with [0] = c",
        expect![[r#"
            dz_release(ctx, ys_4_mem);
              if (dz_parallel(ctx, task_0, &env_0, (n_1 + 16L - 1L) / 16L, dz_grain((n_1 + 16L - 1L) / 16L, (f64)n_1 * 16.0))) return 1;
            dz_release(ctx, x_3_mem);
            i64 parts_t27 = dz_count_parts(ctx, k_0, dz_times(n_1, n_1), dz_times(n_1, n_1), 8L);
              i64 from_t11 = k_0 * i_t28 / parts_t27;
              i64 v_4294967294 = to_t12 - from_t11;
                struct env_2 env_2 = {from_t11, as_2, n_1, zs_6, zs_6_mem, sites_2};
                if (dz_parallel(ctx, task_2, &env_2, v_4294967294, dz_grain(v_4294967294, 2.0 + (f64)n_1 * (3.0 + (f64)n_1 * 3.0)))) return 1;
              dz_triangle_product_f64(ctx, (dz_product){1L, v_4294967294 * n_1, n_1, n_1, {0L, n_1, 1L}, {0L, n_1, 1L}, {0L, n_1, 1L}, false}, (dz_triangle){.row_period = n_1, .column_period = n_1, .depth_to_row = true}, zs_6 + from_t11 * (n_1 * n_1), wide_15, p_16 + from_t11 * (n_1 * n_1));
            dz_release(ctx, as_2_mem);
            dz_release(ctx, wide_15_mem);
            dz_release(ctx, zs_6_mem);
            dz_release(ctx, c_14_mem);
            dz_release(ctx, p_16_mem);
            dz_release(ctx, r_17_mem);
        "#]],
    );
}

#[test]
fn sums_that_depend_on_how_many_rows_there_are_are_made_at_once() {
    check(
        "let (p: [k][n][n]f64) = contract [k, n, n] sum [n] as (0, 1, 3) x (3, 2)
         let (r: [k][n][n]f64) = map k (p) \\(own: [n][n]f64) : ([n][n]f64) ->
           let (rows: [n][n]f64) = map n (own) \\(line: [n]f64) : ([n]f64) ->
             let (row: [n]f64) = map n (line) \\(z: f64) : (f64) ->
               let (y: f64) = f64.mul z z
               in (y)
             in (row)
           in (rows)",
        expect![[r#"
            dz_release(ctx, ys_4_mem);
            dz_product_f64(ctx, (dz_product){1L, k_0 * n_1, n_1, n_1, {0L, n_1, 1L}, {0L, n_1, 1L}, {0L, n_1, 1L}, false}, as_2, x_3, p_6);
            dz_release(ctx, as_2_mem);
            dz_release(ctx, x_3_mem);
              if (dz_parallel(ctx, task_1, &env_1, k_0, dz_grain(k_0, 2.0 + (f64)n_1 * (3.0 + (f64)n_1 * 3.0)))) return 1;
            dz_release(ctx, p_6_mem);
            dz_release(ctx, r_7_mem);
        "#]],
    );
}
