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
              i64 grain_t1;
              f64 *part_t2;
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
              i64 m_1;
              f64 *xs_2;
              f64 *ys_4;
              dz_block *ys_4_mem;
            };"#]],
    );
}
