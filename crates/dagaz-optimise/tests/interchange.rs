//! Sums of elements that data choose from many rows, from a turned table.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::interchange_gathers;
use expect_test::{Expect, expect};

/// For each row of indices, the sums of the elements there of all rows of a table, and of `index` otherwise.
fn check(index: &str, expected: Expect) {
    let core = format!(
        r"def f (r: i64, m: i64, k: i64, d: i64, rows: [r][m]i32, xss: [k][d]f32) : (zss: [r][k]f32) =
            let (numbers: [m]i64) = iota i64 m 0i64 1i64
            let (zss: [r][k]f32) = map r (rows)
              \(row: [m]i32) : ([k]f32) ->
                let (zs: [k]f32) = map k (xss)
                  \(xs: [d]f32) : (f32) ->
                    let (s: f32) = reduce_comm m (row, numbers)
                      pre \(i: i32, n: i64) : (f32) ->
                        let (j: i64) = i32.to_i64 i
                        let (x: f32) = xs[{index}]
                        in (x)
                      op \(a: f32, b: f32) : (f32) -> let (c: f32) = f32.add a b in (c)
                      neutral (0.0f32)
                    in (s)
                in (zs)
            in (zss)"
    );
    let mut program = parse(&core).unwrap_or_else(|error| panic!("{error}"));
    interchange_gathers(&mut program);
    let text = print_without_locs(&program);
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
    expected.assert_eq(&text);
}

#[test]
fn the_table_is_turned_if_it_is_read_often() {
    check(
        "j",
        expect![[r#"
        def f (r_0: i64, m_1: i64, k_2: i64, d_3: i64, rows_4: [r_0][m_1]i32, xss_5: [k_2][d_3]f32) : (zss_6: [r_0][k_2]f32) =
          let (numbers_7: [m_1]i64) = iota i64 m_1 0i64 1i64
          let (le_20: bool) = i64.le 4i64 k_2
          let (mul_21: i64) = i64.mul r_0 m_1
          let (le_22: bool) = i64.le d_3 mul_21
          let (and_23: bool) = bool.and le_20 le_22
          let (size_24: i64) =
            if and_23 then
              in (d_3)
            else
              in (0i64)
          let (view_25: [d_3][k_2]f32) = rearrange (1, 0) xss_5
          let (part_26: [size_24][k_2]f32) = slice view_25 [0i64 :+ size_24 * 1i64, 0i64 :+ k_2 * 1i64]
          let (turned_27: [size_24][k_2]f32) = copy part_26
          let (rows_28: [k_2]i64) = iota i64 k_2 0i64 1i64
          let (zss_8: [r_0][k_2]f32) =
            map r_0 (rows_4)
              \(row_9: [m_1]i32) : ([k_2]f32) ->
                let (zs_10: [k_2]f32) =
                  if and_23 then
                    let (elem_35: [d_3]f32) = xss_5[0i64] certified
                    let () =
                      map m_1 (row_9, numbers_7)
                        \(i_36: i32, n_37: i64) : () ->
                          let (j_38: i64) = i32.to_i64 i_36
                          let (elem_39: f32) = elem_35[j_38]
                          in ()
                    let (zs_50: [k_2]f32) =
                      map k_2 (xss_5, rows_28)
                        \(xs_40: [d_3]f32, row_41: i64) : (f32) ->
                          let (s_49: f32) =
                            reduce_comm m_1 (row_9, numbers_7)
                              pre \(i_42: i32, n_43: i64) : (f32) ->
                                let (j_44: i64) = i32.to_i64 i_42
                                let (x_45: f32) = turned_27[j_44, row_41] certified
                                in (x_45)
                              op \(a_46: f32, b_47: f32) : (f32) ->
                                let (c_48: f32) = f32.add a_46 b_47
                                in (c_48)
                              neutral (0.0f32)
                          in (s_49)
                    in (zs_50)
                  else
                    let (zs_60: [k_2]f32) =
                      map k_2 (xss_5)
                        \(xs_51: [d_3]f32) : (f32) ->
                          let (s_59: f32) =
                            reduce_comm m_1 (row_9, numbers_7)
                              pre \(i_52: i32, n_53: i64) : (f32) ->
                                let (j_54: i64) = i32.to_i64 i_52
                                let (x_55: f32) = xs_51[j_54]
                                in (x_55)
                              op \(a_56: f32, b_57: f32) : (f32) ->
                                let (c_58: f32) = f32.add a_56 b_57
                                in (c_58)
                              neutral (0.0f32)
                          in (s_59)
                    in (zs_60)
                in (zs_10)
          in (zss_8)
    "#]],
    );
}

#[test]
fn elements_that_are_neighbours_stay() {
    check(
        "n",
        expect![[r#"
        def f (r_0: i64, m_1: i64, k_2: i64, d_3: i64, rows_4: [r_0][m_1]i32, xss_5: [k_2][d_3]f32) : (zss_6: [r_0][k_2]f32) =
          let (numbers_7: [m_1]i64) = iota i64 m_1 0i64 1i64
          let (zss_8: [r_0][k_2]f32) =
            map r_0 (rows_4)
              \(row_9: [m_1]i32) : ([k_2]f32) ->
                let (zs_10: [k_2]f32) =
                  map k_2 (xss_5)
                    \(xs_11: [d_3]f32) : (f32) ->
                      let (s_12: f32) =
                        reduce_comm m_1 (row_9, numbers_7)
                          pre \(i_13: i32, n_14: i64) : (f32) ->
                            let (j_15: i64) = i32.to_i64 i_13
                            let (x_16: f32) = xs_11[n_14]
                            in (x_16)
                          op \(a_17: f32, b_18: f32) : (f32) ->
                            let (c_19: f32) = f32.add a_17 b_18
                            in (c_19)
                          neutral (0.0f32)
                      in (s_12)
                in (zs_10)
          in (zss_8)
    "#]],
    );
}
