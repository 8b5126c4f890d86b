//! Products in blocks of rows: Core in, Core out.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{compute_in_blocks, eliminate_dead_code, insert_copies, simplify};
use expect_test::{Expect, expect};

fn check(input: &str, expected: Expect) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    if compute_in_blocks(&mut program) {
        simplify(&mut program);
        eliminate_dead_code(&mut program);
    }
    insert_copies(&mut program);
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{}", errors[0], print_without_locs(&program));
    expected.assert_eq(&print_without_locs(&program));
}

/// Nothing is computed in blocks.
fn check_stays(input: &str) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    assert!(!compute_in_blocks(&mut program), "{}", print_without_locs(&program));
}

#[test]
fn a_reduction_of_rows() {
    check(
        r"def f (n: i64, m: i64, k: i64, x: [n][k]f64, w: [m][k]f64, ts: [n]f64) : (least: f64) =
            let (p: [n][m]f64) = contract [n, m] sum [k] x (0, 2) w (1, 2)
            let (least: f64) =
              reduce n (p, ts)
                pre \(row: [m]f64, t: f64) : (f64) ->
                  let (s: f64) =
                    reduce m (row)
                      op \(a: f64, b: f64) : (f64) ->
                        let (c: f64) = f64.max a b
                        in (c)
                      neutral (-f64.inf)
                  let (u: f64) = f64.mul s t
                  in (u)
                op \(a1: f64, b1: f64) : (f64) ->
                  let (c1: f64) = f64.min a1 b1
                  in (c1)
                neutral (f64.inf)
            in (least)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, x_3: [n_0][k_2]f64, w_4: [m_1][k_2]f64, ts_5: [n_0]f64) : (least_6: f64) =
              let (max_19: i64) = i64.max m_1 1i64
              let (quot_20: i64) = i64.quot 2048i64 max_19
              let (max_21: i64) = i64.max quot_20 1i64
              let (mul_22: i64) = i64.mul max_21 32i64
              let (sub_23: i64) = i64.sub mul_22 1i64
              let (add_24: i64) = i64.add n_0 sub_23
              let (quot_25: i64) = i64.quot add_24 mul_22
              let (least_8: f64) =
                loop (so_far_26: f64 = f64.inf) for block_27: i64 < quot_25 do
                  let (mul_28: i64) = i64.mul block_27 mul_22
                  let (sub_29: i64) = i64.sub n_0 mul_28
                  let (min_30: i64) = i64.min mul_22 sub_29
                  let (rows_31: [min_30][k_2]f64) = slice x_3 [mul_28 :+ min_30 * 1i64, 0i64 :+ k_2 * 1i64]
                  let (p_32: [min_30][m_1]f64) = contract [min_30, m_1] sum [k_2] rows_31 (0, 2) w_4 (1, 2)
                  let (rows_33: [min_30]f64) = slice ts_5 [mul_28 :+ min_30 * 1i64]
                  let (part_34: f64) =
                    reduce min_30 (p_32, rows_33)
                      pre \(row_9: [m_1]f64, t_10: f64) : (f64) ->
                        let (s_11: f64) =
                          reduce m_1 (row_9)
                            op \(a_12: f64, b_13: f64) : (f64) ->
                              let (c_14: f64) = f64.max a_12 b_13
                              in (c_14)
                            neutral (-f64.inf)
                        let (u_15: f64) = f64.mul s_11 t_10
                        in (u_15)
                      op \(a1_16: f64, b1_17: f64) : (f64) ->
                        let (c1_18: f64) = f64.min a1_16 b1_17
                        in (c1_18)
                      neutral (f64.inf)
                  let (c1_37: f64) = f64.min so_far_26 part_34
                  in (c1_37)
              in (least_8)
        "#]],
    );
}

/// As in the gradient of a mixture model: rows lead to rows, which are summed in several ways.
#[test]
fn a_product_over_the_rows_and_sums_of_columns() {
    check(
        r"def f (n: i64, m: i64, k: i64, x: [n][k]f64, w: [m][k]f64) : (sums: [m]f64, adj: [m][k]f64) =
            let (p: [n][m]f64) = contract [n, m] sum [k] x (0, 2) w (1, 2)
            let (ys: [n][m]f64) =
              map n (p)
                \(row: [m]f64) : ([m]f64) ->
                  let (y: [m]f64) =
                    map m (row)
                      \(a: f64) : (f64) ->
                        let (b: f64) = f64.exp a
                        in (b)
                  in (y)
            let (is: [n]i64) = iota i64 n 0i64 1i64
            let (js: [m]i64) = iota i64 m 0i64 1i64
            let (sums: [m]f64) =
              map m (js)
                \(j: i64) : (f64) ->
                  let (sum: f64) =
                    reduce_comm n (is)
                      pre \(i: i64) : (f64) ->
                        let (elem: f64) = ys[i, j] certified
                        in (elem)
                      op \(a1: f64, b1: f64) : (f64) ->
                        let (c1: f64) = f64.add a1 b1
                        in (c1)
                      neutral (0.0f64)
                  in (sum)
            let (adj: [m][k]f64) = contract [m, k] sum [n] x (2, 1) ys (2, 0)
            in (sums, adj)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, x_3: [n_0][k_2]f64, w_4: [m_1][k_2]f64) : (sums_5: [m_1]f64, adj_6: [m_1][k_2]f64) =
              let (js_14: [m_1]i64) = iota i64 m_1 0i64 1i64
              let (max_24: i64) = i64.max m_1 1i64
              let (quot_25: i64) = i64.quot 1024i64 max_24
              let (max_26: i64) = i64.max quot_25 1i64
              let (mul_27: i64) = i64.mul m_1 k_2
              let (mul_28: i64) = i64.mul max_24 64i64
              let (quot_29: i64) = i64.quot mul_27 mul_28
              let (max_30: i64) = i64.max max_26 quot_29
              let (mul_31: i64) = i64.mul max_30 64i64
              let (sub_32: i64) = i64.sub mul_31 1i64
              let (add_33: i64) = i64.add n_0 sub_32
              let (quot_34: i64) = i64.quot add_33 mul_31
              let (first_35: [m_1]f64) = replicate [m_1] 0.0f64
              let (zeros_37: [m_1][k_2]f64) = replicate [m_1, k_2] 0.0f64
              let (sums_15: [m_1]f64, adj_23: [m_1][k_2]f64) =
                loop (so_far_36: [m_1]f64 = first_35, so_far_38: [m_1][k_2]f64 = zeros_37) for block_39: i64 < quot_34 do
                  let (mul_40: i64) = i64.mul block_39 mul_31
                  let (sub_41: i64) = i64.sub n_0 mul_40
                  let (min_42: i64) = i64.min mul_31 sub_41
                  let (rows_43: [min_42][k_2]f64) = slice x_3 [mul_40 :+ min_42 * 1i64, 0i64 :+ k_2 * 1i64]
                  let (p_44: [min_42][m_1]f64) = contract [min_42, m_1] sum [k_2] rows_43 (0, 2) w_4 (1, 2)
                  let (ys_45: [min_42][m_1]f64) =
                    map min_42 (p_44)
                      \(row_9: [m_1]f64) : ([m_1]f64) ->
                        let (y_10: [m_1]f64) =
                          map m_1 (row_9)
                            \(a_11: f64) : (f64) ->
                              let (b_12: f64) = f64.exp a_11
                              in (b_12)
                        in (y_10)
                  let (numbers_46: [min_42]i64) = iota i64 min_42 0i64 1i64
                  let (parts_47: [m_1]f64) =
                    map m_1 (js_14)
                      \(j_16: i64) : (f64) ->
                        let (sum_17: f64) =
                          reduce_comm min_42 (numbers_46)
                            pre \(i_18: i64) : (f64) ->
                              let (elem_19: f64) = ys_45[i_18, j_16] certified
                              in (elem_19)
                            op \(a1_20: f64, b1_21: f64) : (f64) ->
                              let (c1_22: f64) = f64.add a1_20 b1_21
                              in (c1_22)
                            neutral (0.0f64)
                        in (sum_17)
                  let (sums_53: [m_1]f64) =
                    map m_1 (so_far_36, parts_47)
                      \(a_48: f64, b_49: f64) : (f64) ->
                        let (c1_52: f64) = f64.add a_48 b_49
                        in (c1_52)
                  let (sum_54: [m_1][k_2]f64) = contract [m_1, k_2] sum [min_42] rows_43 (2, 1) ys_45 (2, 0) plus so_far_38
                  in (sums_53, sum_54)
              in (sums_15, adj_23)
        "#]],
    );
}

/// As in the gradient of clustering: the vector of places is kept for others.
#[test]
fn accumulators_and_vectors() {
    check(
        r"def f (n: i64, m: i64, k: i64, x: [n][k]f64, w: [m][k]f64, zeros: [m]f64) : (counts: [m]f64, places: [n]i64) =
            let (p: [n][m]f64) = contract [n, m] sum [k] x (0, 2) w (1, 2)
            let (counts: [m]f64, places: [n]i64) =
              with_acc
                over [m] (zeros)
                  op \(a: f64, b: f64) : (f64) ->
                    let (c: f64) = f64.add a b
                    in (c)
                  neutral (0.0f64)
                body \(acc: acc [m] (f64)) : (acc [m] (f64), [n]i64) ->
                  let (acc1: acc [m] (f64), ps: [n]i64) =
                    map n (p, acc)
                      \(row: [m]f64, acc2: acc [m] (f64)) : (acc [m] (f64), i64) ->
                        let (first: f64) = row[0i64] certified
                        let (place: i64) = f64.to_i64 first
                        let (acc3: acc [m] (f64)) = update_acc acc2 [place] (first)
                        in (acc3, place)
                  in (acc1, ps)
            in (counts, places)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, x_3: [n_0][k_2]f64, w_4: [m_1][k_2]f64, zeros_5: [m_1]f64) : (counts_6: [m_1]f64, places_7: [n_0]i64) =
              let (max_22: i64) = i64.max m_1 1i64
              let (quot_23: i64) = i64.quot 2048i64 max_22
              let (max_24: i64) = i64.max quot_23 1i64
              let (mul_25: i64) = i64.mul max_24 32i64
              let (sub_26: i64) = i64.sub mul_25 1i64
              let (add_27: i64) = i64.add n_0 sub_26
              let (quot_28: i64) = i64.quot add_27 mul_25
              let (room_30: [n_0]i64) = scratch i64 [n_0]
              let (counts_9: [m_1]f64, places_10: [n_0]i64) =
                loop (so_far_29: [m_1]f64 = zeros_5, so_far_31: [n_0]i64 = room_30) for block_32: i64 < quot_28 do
                  let (mul_33: i64) = i64.mul block_32 mul_25
                  let (sub_34: i64) = i64.sub n_0 mul_33
                  let (min_35: i64) = i64.min mul_25 sub_34
                  let (rows_36: [min_35][k_2]f64) = slice x_3 [mul_33 :+ min_35 * 1i64, 0i64 :+ k_2 * 1i64]
                  let (p_37: [min_35][m_1]f64) = contract [min_35, m_1] sum [k_2] rows_36 (0, 2) w_4 (1, 2)
                  let (so_far_38: [m_1]f64, places_39: [min_35]i64) =
                    with_acc
                      over [m_1] (so_far_29)
                        op \(a_11: f64, b_12: f64) : (f64) ->
                          let (c_13: f64) = f64.add a_11 b_12
                          in (c_13)
                        neutral (0.0f64)
                      body \(acc_14: acc [m_1] (f64)) : (acc [m_1] (f64), [min_35]i64) ->
                        let (acc1_15: acc [m_1] (f64), ps_16: [min_35]i64) =
                          map min_35 (p_37, acc_14)
                            \(row_17: [m_1]f64, acc2_18: acc [m_1] (f64)) : (acc [m_1] (f64), i64) ->
                              let (first_19: f64) = row_17[0i64] certified
                              let (place_20: i64) = f64.to_i64 first_19
                              let (acc3_21: acc [m_1] (f64)) = update_acc acc2_18 [place_20] (first_19)
                              in (acc3_21, place_20)
                        in (acc1_15, ps_16)
                  let (kept_40: [n_0]i64) = so_far_31 with [mul_33 :+ min_35 * 1i64] = places_39 certified
                  in (so_far_38, kept_40)
              in (counts_9, places_10)
        "#]],
    );
}

#[test]
fn rows_that_are_needed_whole_stay() {
    check_stays(
        r"def f (n: i64, m: i64, k: i64, x: [n][k]f64, w: [m][k]f64) : (p: [n][m]f64, sum: f64) =
            let (p: [n][m]f64) = contract [n, m] sum [k] x (0, 2) w (1, 2)
            let (sum: f64) =
              reduce n (p)
                pre \(row: [m]f64) : (f64) ->
                  let (first: f64) = row[0i64] certified
                  in (first)
                op \(a: f64, b: f64) : (f64) ->
                  let (c: f64) = f64.add a b
                  in (c)
                neutral (0.0f64)
            in (p, sum)",
    );
}

/// The sum over the rows relies on what is asserted, and that needs another sum.
#[test]
fn what_is_asserted_in_between_stays_before_what_relies_on_it() {
    check_stays(
        r"def f (n: i64, m: i64, k: i64, x: [n][k]f64, w: [m][k]f64, js: [n]i64) : (a: f64, b: f64) =
            let (p: [n][m]f64) = contract [n, m] sum [k] x (0, 2) w (1, 2)
            let (a: f64) =
              reduce n (p)
                pre \(row: [m]f64) : (f64) ->
                  let (first: f64) = row[0i64] certified
                  in (first)
                op \(a1: f64, b1: f64) : (f64) ->
                  let (c1: f64) = f64.add a1 b1
                  in (c1)
                neutral (0.0f64)
            let (ok: bool) = f64.lt 0.0f64 a
            let () = assert ok ()
            let (b: f64) =
              reduce n (p, js)
                pre \(row2: [m]f64, j: i64) : (f64) ->
                  let (e: f64) = row2[j] certified
                  in (e)
                op \(a2: f64, b2: f64) : (f64) ->
                  let (c2: f64) = f64.add a2 b2
                  in (c2)
                neutral (0.0f64)
            in (a, b)",
    );
}

/// A triangle stays, unless it is one of the rows, which have other numbers in a block.
#[test]
fn triangles() {
    check(
        r"def f (n: i64, k: i64, x: [n][k]f64, w: [n][k]f64) : (s: f64) =
            let (p: [n][n]f64) = contract [n, n] sum [k] x (0, 2) w (1, 2) where 2 <= 0, 2 <= 1
            let (s: f64) =
              reduce n (p)
                pre \(row: [n]f64) : (f64) ->
                  let (t: f64) =
                    reduce n (row)
                      op \(a: f64, b: f64) : (f64) ->
                        let (c: f64) = f64.max a b
                        in (c)
                      neutral (-f64.inf)
                  in (t)
                op \(a1: f64, b1: f64) : (f64) ->
                  let (c1: f64) = f64.add a1 b1
                  in (c1)
                neutral (0.0f64)
            in (s)",
        expect![[r#"
            def f (n_0: i64, k_1: i64, x_2: [n_0][k_1]f64, w_3: [n_0][k_1]f64) : (s_4: f64) =
              let (max_15: i64) = i64.max n_0 1i64
              let (quot_16: i64) = i64.quot 2048i64 max_15
              let (max_17: i64) = i64.max quot_16 1i64
              let (mul_18: i64) = i64.mul max_17 32i64
              let (sub_19: i64) = i64.sub mul_18 1i64
              let (add_20: i64) = i64.add n_0 sub_19
              let (quot_21: i64) = i64.quot add_20 mul_18
              let (s_6: f64) =
                loop (so_far_22: f64 = 0.0f64) for block_23: i64 < quot_21 do
                  let (mul_24: i64) = i64.mul block_23 mul_18
                  let (sub_25: i64) = i64.sub n_0 mul_24
                  let (min_26: i64) = i64.min mul_18 sub_25
                  let (rows_27: [min_26][k_1]f64) = slice x_2 [mul_24 :+ min_26 * 1i64, 0i64 :+ k_1 * 1i64]
                  let (p_28: [min_26][n_0]f64) = contract [min_26, n_0] sum [k_1] rows_27 (0, 2) w_3 (1, 2) where 2 <= 1
                  let (part_29: f64) =
                    reduce min_26 (p_28)
                      pre \(row_7: [n_0]f64) : (f64) ->
                        let (t_8: f64) =
                          reduce n_0 (row_7)
                            op \(a_9: f64, b_10: f64) : (f64) ->
                              let (c_11: f64) = f64.max a_9 b_10
                              in (c_11)
                            neutral (-f64.inf)
                        in (t_8)
                      op \(a1_12: f64, b1_13: f64) : (f64) ->
                        let (c1_14: f64) = f64.add a1_12 b1_13
                        in (c1_14)
                      neutral (0.0f64)
                  let (c1_32: f64) = f64.add so_far_22 part_29
                  in (c1_32)
              in (s_6)
        "#]],
    );
}
