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
              if (dz_enter(ctx)) return dz_fail(ctx, 0);
              f64 a_6;
              a_6 = 0.0;
              for (i64 i_t1 = 0; i_t1 < n_0; i_t1++) {
                f64 b_7;
                {
                  f64 x_4 = xs_1[i_t1];
                  f64 y_5 = x_4 * 2.0;
                  b_7 = y_5;
                }
                {
                  f64 next_t2;
                  f64 c_8 = a_6 + b_7;
                  next_t2 = c_8;
                  a_6 = next_t2;
                }
              }
              f64 s_3;
              s_3 = a_6;
              dz_release(ctx, xs_1_mem);
              f64 result0;
              result0 = s_3;
              *out0 = result0;
              ctx->depth--;
              return 0;
            }"#]],
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
              if (dz_enter(ctx)) return dz_fail(ctx, 0);
              dz_block *ys_4_mem = dz_alloc(ctx, 1, dz_times(n_0, m_1), sizeof(f64), 10);
              if (DZ_UNLIKELY(!ys_4_mem)) return 1;
              f64 *ys_4 = ys_4_mem->data;
              for (i64 i_t1 = 0; i_t1 < n_0; i_t1++) {
                if (DZ_TICK(ctx)) return dz_fail(ctx, 2);
                f64 *row_5 = xs_2 + i_t1 * (m_1);
                dz_block *row_5_mem = xs_2_mem;
                f64 *zs_6 = ys_4 + i_t1 * (m_1); dz_block *zs_6_mem = ys_4_mem;
            #pragma GCC ivdep
                for (i64 i_t2 = 0; i_t2 < m_1; i_t2++) {
                  f64 x_7 = row_5[i_t2];
                  f64 y_8 = x_7 + x_7;
                  zs_6[i_t2] = y_8;
                }
              }
              dz_release(ctx, xs_2_mem);
              f64 *result0; dz_block *result0_mem;
              result0 = ys_4; result0_mem = ys_4_mem;
              ys_4_mem = NULL;
              *out0 = result0;
              *out0_mem = result0_mem;
              dz_release(ctx, ys_4_mem);
              ctx->depth--;
              return 0;
            }"#]],
    );
}
