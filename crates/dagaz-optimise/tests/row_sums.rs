//! Sums of rows as maps of sums.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::sum_rows_by_columns;
use expect_test::{Expect, expect};

fn check(neutral: &str, expected: Expect) {
    let core = format!(
        r"def f (n: i64, m: i64, d: i64, iss: [n][m]i64, xss: [m][d]f64, ys: [d]f64) : (zss: [n][d]f64) =
            let (zss: [n][d]f64) = map n (iss)
              \(is: [m]i64) : ([d]f64) ->
                let (zeros: [d]f64) = replicate [d] 0.0f64
                let (zs: [d]f64) = reduce m (is)
                  pre \(i: i64) : ([d]f64) -> let (xs: [d]f64) = xss[i] in (xs)
                  op \(as: [d]f64, bs: [d]f64) : ([d]f64) ->
                    let (cs: [d]f64) = map d (as, bs)
                      \(a: f64, b: f64) : (f64) -> let (c: f64) = f64.add a b in (c)
                    in (cs)
                  neutral ({neutral})
                in (zs)
            in (zss)"
    );
    let mut program = parse(&core).unwrap_or_else(|error| panic!("{error}"));
    sum_rows_by_columns(&mut program);
    let text = print_without_locs(&program);
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
    expected.assert_eq(&text);
}

#[test]
fn sums_are_made_for_columns() {
    check(
        "zeros",
        expect![[r#"
        def f (n_0: i64, m_1: i64, d_2: i64, iss_3: [n_0][m_1]i64, xss_4: [m_1][d_2]f64, ys_5: [d_2]f64) : (zss_6: [n_0][d_2]f64) =
          let (zss_7: [n_0][d_2]f64) =
            map n_0 (iss_3)
              \(is_8: [m_1]i64) : ([d_2]f64) ->
                let (zeros_9: [d_2]f64) = replicate [d_2] 0.0f64
                let () =
                  map m_1 (is_8)
                    \(i_19: i64) : () ->
                      let (xs_20: [d_2]f64) = xss_4[i_19]
                      in ()
                let (columns_21: [d_2]i64) = iota i64 d_2 0i64 1i64
                let (zs_10: [d_2]f64) =
                  map d_2 (columns_21)
                    \(column_22: i64) : (f64) ->
                      let (sum_23: f64) =
                        reduce m_1 (is_8)
                          pre \(i_11: i64) : (f64) ->
                            let (xs_12: f64) = xss_4[i_11, column_22] certified
                            in (xs_12)
                          op \(a_16: f64, b_17: f64) : (f64) ->
                            let (c_18: f64) = f64.add a_16 b_17
                            in (c_18)
                          neutral (0.0f64)
                      in (sum_23)
                in (zs_10)
          in (zss_7)
    "#]],
    );
}

#[test]
fn sums_from_any_vector_stay() {
    check(
        "ys",
        expect![[r#"
        def f (n_0: i64, m_1: i64, d_2: i64, iss_3: [n_0][m_1]i64, xss_4: [m_1][d_2]f64, ys_5: [d_2]f64) : (zss_6: [n_0][d_2]f64) =
          let (zss_7: [n_0][d_2]f64) =
            map n_0 (iss_3)
              \(is_8: [m_1]i64) : ([d_2]f64) ->
                let (zeros_9: [d_2]f64) = replicate [d_2] 0.0f64
                let (zs_10: [d_2]f64) =
                  reduce m_1 (is_8)
                    pre \(i_11: i64) : ([d_2]f64) ->
                      let (xs_12: [d_2]f64) = xss_4[i_11]
                      in (xs_12)
                    op \(as_13: [d_2]f64, bs_14: [d_2]f64) : ([d_2]f64) ->
                      let (cs_15: [d_2]f64) =
                        map d_2 (as_13, bs_14)
                          \(a_16: f64, b_17: f64) : (f64) ->
                            let (c_18: f64) = f64.add a_16 b_17
                            in (c_18)
                      in (cs_15)
                    neutral (ys_5)
                in (zs_10)
          in (zss_7)
    "#]],
    );
}
