//! Products with rows of one element: Core in, Core out.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{insert_copies, raise_contractions, remove_dead_code, simplify};
use expect_test::{Expect, expect};

fn check(input: &str, expected: Expect) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    raise_contractions(&mut program);
    simplify(&mut program);
    remove_dead_code(&mut program);
    insert_copies(&mut program);
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{}", errors[0], print_without_locs(&program));
    expected.assert_eq(&print_without_locs(&program));
}

#[test]
fn one_element_in_every_row() {
    check(
        r"def f (n: i64, m: i64, k: i64, x: [n][k]f64, is: [n]i64, vs: [n]f64) : (w: [m][k]f64) =
            let (rows: [n][m]f64) =
              map n (is, vs)
                \(i: i64, v: f64) : ([m]f64) ->
                  let (zeros: [m]f64) = replicate [m] 0.0f64
                  let (row: [m]f64) = zeros with [i] = v certified
                  in (row)
            let (w: [m][k]f64) = contract [m, k] sum [n] x (2, 1) rows (2, 0)
            in (w)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, x_3: [n_0][k_2]f64, is_4: [n_0]i64, vs_5: [n_0]f64) : (w_6: [m_1][k_2]f64) =
              let (rows_7: [n_0][m_1]f64) =
                map n_0 (is_4, vs_5)
                  \(i_8: i64, v_9: f64) : ([m_1]f64) ->
                    let (zeros_10: [m_1]f64) = replicate [m_1] 0.0f64
                    let (row_11: [m_1]f64) = zeros_10 with [i_8] = v_9 certified
                    in (row_11)
              let (w_12: [m_1][k_2]f64) = contract [m_1, k_2] sum [n_0] x_3 (2, 1) rows_7 (2, 0)
              in (w_12)
        "#]],
    );
}

/// As differentiation writes the gradient of a minimum, where there may be none. The other operand has its rows last.
#[test]
fn at_most_one_element_beside_an_accumulator() {
    check(
        r"def f (n: i64, m: i64, k: i64, x: [k][n]f64, is: [n]i64, start: [m]f64) : (counts: [m]f64, w: [k][m]f64) =
            let (counts: [m]f64, rows: [n][m]f64) =
              with_acc
                over [m] (start)
                  op \(a: f64, b: f64) : (f64) ->
                    let (c: f64) = f64.add a b
                    in (c)
                  neutral (0.0f64)
                body \(acc: acc [m] (f64)) : (acc [m] (f64), [n][m]f64) ->
                  let (acc1: acc [m] (f64), all: [n][m]f64) =
                    map n (is, acc)
                      \(i: i64, acc2: acc [m] (f64)) : (acc [m] (f64), [m]f64) ->
                        let (acc3: acc [m] (f64)) = update_acc acc2 [i] (1.0f64)
                        let (ok: bool) = i64.le 0i64 i
                        let (length: i64) =
                          if ok then
                            in (1i64)
                          else
                            in (0i64)
                        let (from: i64) = i64.max i 0i64
                        let (values: [length]f64) = replicate [length] 2.0f64
                        let (zeros: [m]f64) = replicate [m] 0.0f64
                        let (row: [m]f64) = zeros with [from :+ length * 1i64] = values certified
                        in (acc3, row)
                  in (acc1, all)
            let (w: [k][m]f64) = contract [k, m] sum [n] x (0, 2) rows (2, 1)
            in (counts, w)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, x_3: [k_2][n_0]f64, is_4: [n_0]i64, start_5: [m_1]f64) : (counts_6: [m_1]f64, w_7: [k_2][m_1]f64) =
              let (counts_8: [m_1]f64, places_32: [n_0]i64, values_33: [n_0]f64) =
                with_acc
                  over [m_1] (start_5)
                    op \(a_10: f64, b_11: f64) : (f64) ->
                      let (c_12: f64) = f64.add a_10 b_11
                      in (c_12)
                    neutral (0.0f64)
                  body \(acc_13: acc [m_1] (f64)) : (acc [m_1] (f64), [n_0]i64, [n_0]f64) ->
                    let (acc1_14: acc [m_1] (f64), places_30: [n_0]i64, values_31: [n_0]f64) =
                      map n_0 (is_4, acc_13)
                        \(i_16: i64, acc2_17: acc [m_1] (f64)) : (acc [m_1] (f64), i64, f64) ->
                          let (acc3_18: acc [m_1] (f64)) = update_acc acc2_17 [i_16] (1.0f64)
                          let (ok_19: bool) = i64.le 0i64 i_16
                          let (length_20: i64) =
                            if ok_19 then
                              in (1i64)
                            else
                              in (0i64)
                          let (from_21: i64) = i64.max i_16 0i64
                          let (values_22: [length_20]f64) = replicate [length_20] 2.0f64
                          let (lt_26: bool) = i64.lt 0i64 length_20
                          let (single_28: i64, single_29: f64) =
                            if lt_26 then
                              in (from_21, 2.0f64)
                            else
                              in (-1i64, 0.0f64)
                          in (acc3_18, single_28, single_29)
                    in (acc1_14, places_30, values_31)
              let (zeros_34: [k_2][m_1]f64) = replicate [k_2, m_1] 0.0f64
              let (turned_35: [n_0][k_2]f64) = rearrange (1, 0) x_3
              let (w_25: [k_2][m_1]f64) =
                with_acc
                  over [k_2, m_1] (zeros_34)
                    op \(x_36: f64, y_37: f64) : (f64) ->
                      let (z_38: f64) = f64.add x_36 y_37
                      in (z_38)
                    neutral (0.0f64)
                  body \(acc_39: acc [k_2, m_1] (f64)) : (acc [k_2, m_1] (f64)) ->
                    let (acc_51: acc [k_2, m_1] (f64)) =
                      map n_0 (places_32, values_33, turned_35, acc_39)
                        \(place_40: i64, value_41: f64, row_42: [k_2]f64, acc_43: acc [k_2, m_1] (f64)) : (acc [k_2, m_1] (f64)) ->
                          let (numbers_44: [k_2]i64) = iota i64 k_2 0i64 1i64
                          let (acc_50: acc [k_2, m_1] (f64)) =
                            map k_2 (numbers_44, row_42, acc_43)
                              \(i_45: i64, row_46: f64, acc_47: acc [k_2, m_1] (f64)) : (acc [k_2, m_1] (f64)) ->
                                let (mul_48: f64) = f64.mul row_46 value_41
                                let (acc_49: acc [k_2, m_1] (f64)) = update_acc acc_47 [i_45, place_40] (mul_48)
                                in (acc_49)
                          in (acc_50)
                    in (acc_51)
              in (counts_8, w_25)
        "#]],
    );
}

#[test]
fn rows_that_are_needed_otherwise_stay() {
    check(
        r"def f (n: i64, m: i64, k: i64, x: [n][k]f64, is: [n]i64) : (w: [m][k]f64, rows: [n][m]f64) =
            let (rows: [n][m]f64) =
              map n (is)
                \(i: i64) : ([m]f64) ->
                  let (zeros: [m]f64) = replicate [m] 0.0f64
                  let (row: [m]f64) = zeros with [i] = 1.0f64 certified
                  in (row)
            let (w: [m][k]f64) = contract [m, k] sum [n] x (2, 1) rows (2, 0)
            in (w, rows)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, x_3: [n_0][k_2]f64, is_4: [n_0]i64) : (w_5: [m_1][k_2]f64, rows_6: [n_0][m_1]f64) =
              let (rows_7: [n_0][m_1]f64) =
                map n_0 (is_4)
                  \(i_8: i64) : ([m_1]f64) ->
                    let (zeros_9: [m_1]f64) = replicate [m_1] 0.0f64
                    let (row_10: [m_1]f64) = zeros_9 with [i_8] = 1.0f64 certified
                    in (row_10)
              let (w_11: [m_1][k_2]f64) = contract [m_1, k_2] sum [n_0] x_3 (2, 1) rows_7 (2, 0)
              in (w_11, rows_7)
        "#]],
    );
}
