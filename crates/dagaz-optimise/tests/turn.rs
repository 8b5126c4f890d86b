//! Products with triangles whose rows come last: Core in, Core out.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{eliminate_dead_code, insert_copies, put_rows_axis_last, simplify};
use expect_test::{Expect, expect};

fn check(input: &str, expected: Expect) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    assert!(put_rows_axis_last(&mut program), "{}", print_without_locs(&program));
    simplify(&mut program);
    eliminate_dead_code(&mut program);
    insert_copies(&mut program);
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{}", errors[0], print_without_locs(&program));
    expected.assert_eq(&print_without_locs(&program));
}

/// Nothing is turned.
fn check_stays(input: &str) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    assert!(!put_rows_axis_last(&mut program), "{}", print_without_locs(&program));
}

/// A function of points and triangles, up to their product.
const PRODUCT: &str = r"(n: i64, k: i64, d: i64, x: [n][d]f64, q: [k][d][d]f64, cs: [k][d]f64, ws: [k]f64)";

fn sum(array: &str) -> String {
    format!(
        r"reduce d ({array}, c)
            pre \(e: f64, ce: f64) : (f64) ->
              let (f: f64) = f64.sub e ce
              in (f)
            op \(a: f64, b: f64) : (f64) ->
              let (s: f64) = f64.add a b
              in (s)
            neutral (0.0f64)"
    )
}

#[test]
fn sums_along_the_triangle() {
    check(
        &format!(
            r"def f {PRODUCT} : (zs: [n]f64) =
                let (p: [n][k][d]f64) = contract [n, k, d] sum [d] q (1, 2, 3) x (0, 3) where 3 <= 2
                let (zs: [n]f64) =
                  map n (p)
                    \(row: [k][d]f64) : (f64) ->
                      let (ys: [k]f64) =
                        map k (row, cs, ws)
                          \(r: [d]f64, c: [d]f64, w: f64) : (f64) ->
                            let (v: f64) = f64.neg w
                            let (sum: f64) = {}
                            let (y: f64) = f64.mul sum v
                            in (y)
                      let (z: f64) =
                        reduce k (ys)
                          op \(a1: f64, b1: f64) : (f64) ->
                            let (m: f64) = f64.max a1 b1
                            in (m)
                          neutral (0.0f64)
                      in (z)
                in (zs)",
            sum("r")
        ),
        expect![[r#"
            def f (n_0: i64, k_1: i64, d_2: i64, x_3: [n_0][d_2]f64, q_4: [k_1][d_2][d_2]f64, cs_5: [k_1][d_2]f64, ws_6: [k_1]f64) : (zs_7: [n_0]f64) =
              let (turned_28: [k_1][d_2][n_0]f64) = contract [k_1, d_2, n_0] sum [d_2] q_4 (0, 1, 3) x_3 (2, 3) where 3 <= 1
              let (numbers_29: [n_0]i64) = iota i64 n_0 0i64 1i64
              let (sums_36: [k_1][n_0]f64) =
                map k_1 (turned_28, cs_5, ws_6)
                  \(own_31: [d_2][n_0]f64, c_13: [d_2]f64, w_14: f64) : ([n_0]f64) ->
                    let (v_15: f64) = f64.neg w_14
                    let (turned_32: [n_0][d_2]f64) = rearrange (1, 0) own_31
                    let (sums_34: [n_0]f64) =
                      map n_0 (turned_32)
                        \(r_12: [d_2]f64) : (f64) ->
                          let (sum_33: f64) =
                            reduce d_2 (r_12, c_13)
                              pre \(e_17: f64, ce_18: f64) : (f64) ->
                                let (f_19: f64) = f64.sub e_17 ce_18
                                in (f_19)
                              op \(a_20: f64, b_21: f64) : (f64) ->
                                let (s_22: f64) = f64.add a_20 b_21
                                in (s_22)
                              neutral (0.0f64)
                          in (sum_33)
                    let (results_35: [n_0]f64) =
                      map n_0 (sums_34)
                        \(sum_16: f64) : (f64) ->
                          let (y_23: f64) = f64.mul sum_16 v_15
                          in (y_23)
                    in (results_35)
              let (numbers_37: [k_1]i64) = iota i64 k_1 0i64 1i64
              let (zs_9: [n_0]f64) =
                map n_0 (numbers_29)
                  \(row_30: i64) : (f64) ->
                    let (ys_11: [k_1]f64) =
                      map k_1 (numbers_37)
                        \(part_38: i64) : (f64) ->
                          let (elem_39: f64) = sums_36[part_38, row_30] certified
                          in (elem_39)
                    let (z_24: f64) =
                      reduce k_1 (ys_11)
                        op \(a1_25: f64, b1_26: f64) : (f64) ->
                          let (m_27: f64) = f64.max a1_25 b1_26
                          in (m_27)
                        neutral (0.0f64)
                    in (z_24)
              in (zs_9)
        "#]],
    );
}

/// As in the gradient of a mixture model: elements of all rows, which depend on what the rows have given, are an operand of a
/// product, and their columns are added up.
#[test]
fn elements_for_a_product_and_for_sums() {
    check(
        &format!(
            r"def f {PRODUCT} : (m: i64, ys: [n][k]f64, sums: [m]f64, adj: [k][d][d]f64) =
                let (m: i64) = i64.mul k d
                let (p: [n][k][d]f64) = contract [n, k, d] sum [d] q (1, 2, 3) x (0, 3) where 3 <= 2
                let (ys: [n][k]f64, zs: [n][k][d]f64) =
                  map n (p)
                    \(row: [k][d]f64) : ([k]f64, [k][d]f64) ->
                      let (ys1: [k]f64) =
                        map k (row, cs)
                          \(r: [d]f64, c: [d]f64) : (f64) ->
                            let (sum: f64) = {}
                            in (sum)
                      let (zs1: [k][d]f64) =
                        map k (row, ys1)
                          \(r1: [d]f64, y: f64) : ([d]f64) ->
                            let (v: f64) = f64.neg y
                            let (z: [d]f64) =
                              map d (r1)
                                \(e1: f64) : (f64) ->
                                  let (g: f64) = f64.mul e1 v
                                  in (g)
                            in (z)
                      in (ys1, zs1)
                let (is: [n]i64) = iota i64 n 0i64 1i64
                let (js: [m]i64) = iota i64 m 0i64 1i64
                let (flat: [n][m]f64) = reshape [n, m] zs
                let (sums: [m]f64) =
                  map m (js)
                    \(j: i64) : (f64) ->
                      let (t: f64) =
                        reduce_comm n (is)
                          pre \(i: i64) : (f64) ->
                            let (elem: f64) = flat[i, j] certified
                            in (elem)
                          op \(a1: f64, b1: f64) : (f64) ->
                            let (s1: f64) = f64.add a1 b1
                            in (s1)
                          neutral (0.0f64)
                      in (t)
                let (adj: [k][d][d]f64) = contract [k, d, d] sum [n] x (3, 2) zs (3, 0, 1) where 2 <= 1
                in (m, ys, sums, adj)",
            sum("r")
        ),
        expect![[r#"
            def f (n_0: i64, k_1: i64, d_2: i64, x_3: [n_0][d_2]f64, q_4: [k_1][d_2][d_2]f64, cs_5: [k_1][d_2]f64, ws_6: [k_1]f64) : (m_7: i64, ys_8: [n_0][k_1]f64, sums_9: [m_7]f64, adj_10: [k_1][d_2][d_2]f64) =
              let (m_11: i64) = i64.mul k_1 d_2
              let (turned_45: [k_1][d_2][n_0]f64) = contract [k_1, d_2, n_0] sum [d_2] q_4 (0, 1, 3) x_3 (2, 3) where 3 <= 1
              let (numbers_46: [n_0]i64) = iota i64 n_0 0i64 1i64
              let (sums_53: [k_1][n_0]f64) =
                map k_1 (turned_45, cs_5)
                  \(own_48: [d_2][n_0]f64, c_18: [d_2]f64) : ([n_0]f64) ->
                    let (turned_49: [n_0][d_2]f64) = rearrange (1, 0) own_48
                    let (sums_51: [n_0]f64) =
                      map n_0 (turned_49)
                        \(r_17: [d_2]f64) : (f64) ->
                          let (sum_50: f64) =
                            reduce d_2 (r_17, c_18)
                              pre \(e_20: f64, ce_21: f64) : (f64) ->
                                let (f_22: f64) = f64.sub e_20 ce_21
                                in (f_22)
                              op \(a_23: f64, b_24: f64) : (f64) ->
                                let (s_25: f64) = f64.add a_23 b_24
                                in (s_25)
                              neutral (0.0f64)
                          in (sum_50)
                    in (sums_51)
              let (numbers_54: [k_1]i64) = iota i64 k_1 0i64 1i64
              let (ys_13: [n_0][k_1]f64) =
                map n_0 (numbers_46)
                  \(row_47: i64) : ([k_1]f64) ->
                    let (ys1_16: [k_1]f64) =
                      map k_1 (numbers_54)
                        \(part_55: i64) : (f64) ->
                          let (elem_56: f64) = sums_53[part_55, row_47] certified
                          in (elem_56)
                    in (ys1_16)
              let (turned_58: [k_1][n_0]f64) = rearrange (1, 0) ys_13
              let (turned_65: [k_1][d_2][n_0]f64) =
                map k_1 (turned_45, turned_58)
                  \(own_57: [d_2][n_0]f64, all_59: [n_0]f64) : ([d_2][n_0]f64) ->
                    let (factors_60: [n_0]f64) =
                      map n_0 (all_59)
                        \(y_28: f64) : (f64) ->
                          let (v_29: f64) = f64.neg y_28
                          in (v_29)
                    let (elements_64: [d_2][n_0]f64) =
                      map d_2 (own_57)
                        \(row_61: [n_0]f64) : ([n_0]f64) ->
                          let (elements_63: [n_0]f64) =
                            map n_0 (row_61, factors_60)
                              \(e1_31: f64, factor_62: f64) : (f64) ->
                                let (g_32: f64) = f64.mul e1_31 factor_62
                                in (g_32)
                          in (elements_63)
                    in (elements_64)
              let (js_34: [m_11]i64) = iota i64 m_11 0i64 1i64
              let (sums_71: [k_1][d_2]f64) =
                map k_1 (turned_65)
                  \(own_67: [d_2][n_0]f64) : ([d_2]f64) ->
                    let (sums_70: [d_2]f64) =
                      map d_2 (own_67)
                        \(line_68: [n_0]f64) : (f64) ->
                          let (sum_69: f64) =
                            reduce_comm n_0 (line_68)
                              op \(a1_41: f64, b1_42: f64) : (f64) ->
                                let (s1_43: f64) = f64.add a1_41 b1_42
                                in (s1_43)
                              neutral (0.0f64)
                          in (sum_69)
                    in (sums_70)
              let (sums_36: [m_11]f64) = reshape [m_11] sums_71
              let (adj_44: [k_1][d_2][d_2]f64) = contract [k_1, d_2, d_2] sum [n_0] x_3 (3, 2) turned_65 (0, 1, 3) where 2 <= 1
              in (m_11, ys_13, sums_36, adj_44)
        "#]],
    );
}

/// Without a triangle, and where all of the product is needed as it is.
#[test]
fn products_that_stay() {
    let program = |triangle: &str, result: &str| {
        format!(
            r"def f {PRODUCT} : (zs: [n][k]f64, all: [n][k][d]f64) =
                let (p: [n][k][d]f64) = contract [n, k, d] sum [d] q (1, 2, 3) x (0, 3){triangle}
                let (none: [n][k][d]f64) = scratch f64 [n, k, d]
                let (zs: [n][k]f64) =
                  map n (p)
                    \(row: [k][d]f64) : ([k]f64) ->
                      let (ys: [k]f64) =
                        map k (row, cs)
                          \(r: [d]f64, c: [d]f64) : (f64) ->
                            let (sum: f64) = {}
                            in (sum)
                      in (ys)
                in (zs, {result})",
            sum("r")
        )
    };
    check_stays(&program("", "none"));
    check_stays(&program(" where 3 <= 2", "p"));
    check_stays(&program(" where 3 <= 0", "none"));
}

/// Sums of another type would need another array.
#[test]
fn sums_that_become_integers() {
    check_stays(&format!(
        r"def f {PRODUCT} : (zs: [n][k]i64) =
            let (p: [n][k][d]f64) = contract [n, k, d] sum [d] q (1, 2, 3) x (0, 3) where 3 <= 2
            let (zs: [n][k]i64) =
              map n (p)
                \(row: [k][d]f64) : ([k]i64) ->
                  let (ys: [k]i64) =
                    map k (row, cs)
                      \(r: [d]f64, c: [d]f64) : (i64) ->
                        let (sum: f64) = {}
                        let (y: i64) = f64.to_i64 sum
                        in (y)
                  in (ys)
            in (zs)",
        sum("r")
    ));
}

/// The factors of a row are not known outside of it.
#[test]
fn elements_times_what_nobody_keeps() {
    check_stays(&format!(
        r"def f {PRODUCT} : (m: [k][d]f64) =
            let (p: [n][k][d]f64) = contract [n, k, d] sum [d] q (1, 2, 3) x (0, 3) where 3 <= 2
            let (es: [n][k][d]f64) =
              map n (p)
                \(row: [k][d]f64) : ([k][d]f64) ->
                  let (ys: [k]f64) =
                    map k (row, cs)
                      \(r: [d]f64, c: [d]f64) : (f64) ->
                        let (sum: f64) = {}
                        in (sum)
                  let (own: [k][d]f64) =
                    map k (row, ys)
                      \(r1: [d]f64, y: f64) : ([d]f64) ->
                        let (scaled: [d]f64) =
                          map d (r1)
                            \(e1: f64) : (f64) ->
                              let (g: f64) = f64.mul e1 y
                              in (g)
                        in (scaled)
                  in (own)
            let (m: [k][d]f64) = contract [k, d] sum [n] es (2, 0, 1) ws (0)
            in (m)",
        sum("r")
    ));
}
