//! Fusion as text: Core before and after it, with the clean-up that follows.

mod common;

use dagaz_core::exp::Program;
use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{eliminate_dead_code, fuse_operations, insert_copies, simplify, unroll_small};
use expect_test::{Expect, expect};

fn fused(program: &mut Program) {
    fuse_operations(program);
}

fn check(input: &str, expected: Expect) {
    common::check(&[fused, simplify, eliminate_dead_code, insert_copies], input, expected);
}

#[test]
fn sums_over_the_same_array_are_one_pass() {
    check(
        r"def f (n: i64, xs: [n]f64, ys: [n]f64) : (a: f64, b: f64, c: f64, d: f64) =
            let (a: f64) = reduce n (xs) op \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.add x y
              in (z)
            neutral (0.0f64)
            let (b: f64) = reduce n (xs, ys)
            pre \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.mul x y
              in (z)
            op \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.add x y
              in (z)
            neutral (0.0f64)
            let (c: f64) = reduce n (xs) op \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.max x y
              in (z)
            neutral (0.0f64)
            let (d: f64) = reduce n (xs) op \(x: f64, y: f64) : (f64) ->
              let (s: f64) = f64.add x y
              let (p: f64) = f64.mul x y
              let (z: f64) = f64.sub s p
              in (z)
            neutral (0.0f64)
            in (a, b, c, d)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, ys_2: [n_0]f64) : (a_3: f64, b_4: f64, c_5: f64, d_6: f64) =
              let (a_7: f64, b_11: f64, c_18: f64) =
                reduce n_0 (xs_1, ys_2)
                  pre \(row_28: f64, y_13: f64) : (f64, f64, f64) ->
                    let (z_14: f64) = f64.mul row_28 y_13
                    in (row_28, z_14, row_28)
                  op \(x_8: f64, x_15: f64, x_19: f64, y_9: f64, y_16: f64, y_20: f64) : (f64, f64, f64) ->
                    let (z_10: f64) = f64.add x_8 y_9
                    let (z_17: f64) = f64.add x_15 y_16
                    let (z_21: f64) = f64.max x_19 y_20
                    in (z_10, z_17, z_21)
                  neutral (0.0f64, 0.0f64, 0.0f64)
              let (d_22: f64) =
                reduce n_0 (xs_1)
                  op \(x_23: f64, y_24: f64) : (f64) ->
                    let (s_25: f64) = f64.add x_23 y_24
                    let (p_26: f64) = f64.mul x_23 y_24
                    let (z_27: f64) = f64.sub s_25 p_26
                    in (z_27)
                  neutral (0.0f64)
              in (a_7, b_11, c_18, d_22)
        "#]],
    );
}

#[test]
fn a_later_reduction_joins_an_earlier_one_whose_result_was_needed() {
    check(
        r"def f (n: i64, xs: [n]f64) : (a: f64, b: f64) =
            let (a: f64) = reduce n (xs) op \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.max x y
              in (z)
            neutral (0.0f64)
            let (c: f64) = f64.exp a
            let (b: f64) = reduce n (xs) op \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.min x y
              in (z)
            neutral (0.0f64)
            in (c, b)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64) : (a_2: f64, b_3: f64) =
              let (a_4: f64, b_9: f64) =
                reduce n_0 (xs_1, xs_1)
                  op \(x_5: f64, x_10: f64, y_6: f64, y_11: f64) : (f64, f64) ->
                    let (z_7: f64) = f64.max x_5 y_6
                    let (z_12: f64) = f64.min x_10 y_11
                    in (z_7, z_12)
                  neutral (0.0f64, 0.0f64)
              let (c_8: f64) = f64.exp a_4
              in (c_8, b_9)
        "#]],
    );
}

#[test]
fn results_that_are_needed_are_kept() {
    check(
        r"def f (n: i64, xs: [n]f64) : (a: [n]f64, b: [n]f64, c: [n]f64) =
            let (a: [n]f64) = map n (xs) \(x: f64) : (f64) ->
              let (y: f64) = f64.sin x
              in (y)
            let (b: [n]f64) = map n (a) \(x: f64) : (f64) ->
              let (y: f64) = f64.mul x 2.0f64
              in (y)
            let (c: [n]f64) = map n (xs) \(x: f64) : (f64) ->
              let (y: f64) = f64.cos x
              in (y)
            in (a, b, c)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64) : (a_2: [n_0]f64, b_3: [n_0]f64, c_4: [n_0]f64) =
              let (a_5: [n_0]f64, b_8: [n_0]f64, c_11: [n_0]f64) =
                map n_0 (xs_1)
                  \(x_6: f64) : (f64, f64, f64) ->
                    let (y_7: f64) = f64.sin x_6
                    let (y_10: f64) = f64.mul y_7 2.0f64
                    let (y_13: f64) = f64.cos x_6
                    in (y_7, y_10, y_13)
              in (a_5, b_8, c_11)
        "#]],
    );
}

#[test]
fn rows_for_one_map_are_not_kept() {
    check(
        r"def f (n: i64, m: i64, xs: [n][m]f64) : (a: [n][m]f64, b: [n]f64) =
            let (a: [n][m]f64, rows: [n][m]f64) = map n (xs) \(row: [m]f64) : ([m]f64, [m]f64) ->
              let (ys: [m]f64) = scan m (row) op \(x: f64, y: f64) : (f64) ->
                let (z: f64) = f64.add x y
                in (z)
              neutral (0.0f64)
              let (zs: [m]f64) = map m (ys) \(x: f64) : (f64) ->
                let (y: f64) = f64.sin x
                in (y)
              in (ys, zs)
            let (b: [n]f64) = map n (rows) \(row: [m]f64) : (f64) ->
              let (s: f64) = reduce m (row) op \(x: f64, y: f64) : (f64) ->
                let (z: f64) = f64.add x y
                in (z)
              neutral (0.0f64)
              in (s)
            in (a, b)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, xs_2: [n_0][m_1]f64) : (a_3: [n_0][m_1]f64, b_4: [n_0]f64) =
              let (a_5: [n_0][m_1]f64, b_15: [n_0]f64) =
                map n_0 (xs_2)
                  \(row_7: [m_1]f64) : ([m_1]f64, f64) ->
                    let (ys_8: [m_1]f64) =
                      scan m_1 (row_7)
                        op \(x_9: f64, y_10: f64) : (f64) ->
                          let (z_11: f64) = f64.add x_9 y_10
                          in (z_11)
                        neutral (0.0f64)
                    let (zs_12: [m_1]f64) =
                      map m_1 (ys_8)
                        \(x_13: f64) : (f64) ->
                          let (y_14: f64) = f64.sin x_13
                          in (y_14)
                    let (s_17: f64) =
                      reduce m_1 (zs_12)
                        op \(x_18: f64, y_19: f64) : (f64) ->
                          let (z_20: f64) = f64.add x_18 y_19
                          in (z_20)
                        neutral (0.0f64)
                    in (ys_8, s_17)
              in (a_5, b_15)
        "#]],
    );
}

#[test]
fn rows_that_others_need_are_kept_and_read() {
    check(
        r"def f (n: i64, m: i64, xs: [n][m]f64) : (a: [n][m]f64, rows: [n][m]f64, b: [n]f64) =
            let (a: [n][m]f64, rows: [n][m]f64) = map n (xs) \(row: [m]f64) : ([m]f64, [m]f64) ->
              let (ys: [m]f64) = scan m (row) op \(x: f64, y: f64) : (f64) ->
                let (z: f64) = f64.add x y
                in (z)
              neutral (0.0f64)
              let (zs: [m]f64) = map m (ys) \(x: f64) : (f64) ->
                let (y: f64) = f64.sin x
                in (y)
              in (ys, zs)
            let (b: [n]f64) = map n (rows) \(row: [m]f64) : (f64) ->
              let (s: f64) = reduce m (row) op \(x: f64, y: f64) : (f64) ->
                let (z: f64) = f64.add x y
                in (z)
              neutral (0.0f64)
              in (s)
            in (a, rows, b)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, xs_2: [n_0][m_1]f64) : (a_3: [n_0][m_1]f64, rows_4: [n_0][m_1]f64, b_5: [n_0]f64) =
              let (a_6: [n_0][m_1]f64, rows_7: [n_0][m_1]f64) =
                map n_0 (xs_2)
                  \(row_8: [m_1]f64) : ([m_1]f64, [m_1]f64) ->
                    let (ys_9: [m_1]f64) =
                      scan m_1 (row_8)
                        op \(x_10: f64, y_11: f64) : (f64) ->
                          let (z_12: f64) = f64.add x_10 y_11
                          in (z_12)
                        neutral (0.0f64)
                    let (zs_13: [m_1]f64) =
                      map m_1 (ys_9)
                        \(x_14: f64) : (f64) ->
                          let (y_15: f64) = f64.sin x_14
                          in (y_15)
                    in (ys_9, zs_13)
              let (b_16: [n_0]f64) =
                map n_0 (rows_7)
                  \(row_17: [m_1]f64) : (f64) ->
                    let (s_18: f64) =
                      reduce m_1 (row_17)
                        op \(x_19: f64, y_20: f64) : (f64) ->
                          let (z_21: f64) = f64.add x_19 y_20
                          in (z_21)
                        neutral (0.0f64)
                    in (s_18)
              in (a_6, rows_7, b_16)
        "#]],
    );
}

#[test]
fn no_read_moves_past_an_update() {
    check(
        r"def f (n: i64, xs: [n]f64) : (s: f64, ys: [n]f64) =
            let (zs: [n]f64) = copy xs
            let (a: [n]f64) = map n (zs) \(x: f64) : (f64) ->
              let (y: f64) = f64.sin x
              in (y)
            let (ys: [n]f64) = zs with [0i64] = 1.0f64
            let (s: f64) = reduce n (a) op \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.add x y
              in (z)
            neutral (0.0f64)
            in (s, ys)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64) : (s_2: f64, ys_3: [n_0]f64) =
              let (zs_4: [n_0]f64) = copy xs_1
              let (a_5: [n_0]f64) =
                map n_0 (zs_4)
                  \(x_6: f64) : (f64) ->
                    let (y_7: f64) = f64.sin x_6
                    in (y_7)
              let (ys_8: [n_0]f64) = zs_4 with [0i64] = 1.0f64
              let (s_9: f64) =
                reduce n_0 (a_5)
                  op \(x_10: f64, y_11: f64) : (f64) ->
                    let (z_12: f64) = f64.add x_10 y_11
                    in (z_12)
                  neutral (0.0f64)
              in (s_9, ys_8)
        "#]],
    );
}

#[test]
fn what_may_fail_moves_only_past_what_may_not() {
    check(
        r#"def f (n: i64, m: i64, xs: [n]f64, is: [m]i64, c: bool) : (s: f64, t: f64) =
            let (a: [m]f64) = map m (is) \(i: i64) : (f64) ->
              let (y: f64) = xs[i]
              in (y)
            let (s: f64) = reduce m (a) op \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.add x y
              in (z)
            neutral (0.0f64)
            let (b: [m]f64) = map m (is) \(i: i64) : (f64) ->
              let (j: i64) = i64.add i 1i64
              let (y: f64) = xs[j]
              in (y)
            let () = assert c ("no")
            let (t: f64) = reduce m (b) op \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.add x y
              in (z)
            neutral (0.0f64)
            in (s, t)"#,
        expect![[r#"
            def f (n_0: i64, m_1: i64, xs_2: [n_0]f64, is_3: [m_1]i64, c_4: bool) : (s_5: f64, t_6: f64) =
              let (s_10: f64) =
                reduce m_1 (is_3)
                  pre \(i_8: i64) : (f64) ->
                    let (y_9: f64) = xs_2[i_8]
                    in (y_9)
                  op \(x_11: f64, y_12: f64) : (f64) ->
                    let (z_13: f64) = f64.add x_11 y_12
                    in (z_13)
                  neutral (0.0f64)
              let (b_14: [m_1]f64) =
                map m_1 (is_3)
                  \(i_15: i64) : (f64) ->
                    let (j_16: i64) = i64.add i_15 1i64
                    let (y_17: f64) = xs_2[j_16]
                    in (y_17)
              let () = assert c_4 ("no")
              let (t_18: f64) =
                reduce m_1 (b_14)
                  op \(x_19: f64, y_20: f64) : (f64) ->
                    let (z_21: f64) = f64.add x_19 y_20
                    in (z_21)
                  neutral (0.0f64)
              in (s_10, t_18)
        "#]],
    );
}

#[test]
fn maps_and_copies_go_into_histograms() {
    check(
        r"def f (n: i64, m: i64, xs: [n]i64, to: [m]i64) : (h: [m]i64) =
            let (is: [n]i64) = map n (xs) \(x: i64) : (i64) ->
              let (y: i64) = i64.and x 7i64
              in (y)
            let (ones: [n]i64) = replicate [n] 1i64
            let (dest: [m]i64) = copy to
            let (h: [m]i64) = hist n (is, ones) into (dest) [m]
            op \(x: i64, y: i64) : (i64) ->
              let (z: i64) = i64.add x y
              in (z)
            neutral (0i64)
            in (h)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, xs_2: [n_0]i64, to_3: [m_1]i64) : (h_4: [m_1]i64) =
              let (dest_9: [m_1]i64) = copy to_3
              let (h_10: [m_1]i64) =
                hist n_0 (xs_2) into (dest_9) [m_1]
                  pre \(x_6: i64) : (i64, i64) ->
                    let (y_7: i64) = i64.and x_6 7i64
                    in (y_7, 1i64)
                  op \(x_11: i64, y_12: i64) : (i64) ->
                    let (z_13: i64) = i64.add x_11 y_12
                    in (z_13)
                  neutral (0i64)
              in (h_10)
        "#]],
    );
}

#[test]
fn small_vectors_are_scalars() {
    let input = r"def f (n: i64, ps: [n][3]f64, qs: [3]f64) : (ds: [n]f64, rs: [3]f64) =
        let (ds: [n]f64) = map n (ps) \(p: [3]f64) : (f64) ->
          let (v: [3]f64) = map 3i64 (p, qs) \(x: f64, y: f64) : (f64) ->
            let (z: f64) = f64.sub x y
            in (z)
          let (d: f64) = reduce 3i64 (v)
          pre \(x: f64) : (f64) ->
            let (z: f64) = f64.mul x x
            in (z)
          op \(x: f64, y: f64) : (f64) ->
            let (z: f64) = f64.add x y
            in (z)
          neutral (0.0f64)
          in (d)
        let (rs: [3]f64) = map 3i64 (qs) \(x: f64) : (f64) ->
          let (z: f64) = f64.neg x
          in (z)
        in (ds, rs)";
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    [unroll_small, simplify, eliminate_dead_code].iter().for_each(|pass| pass(&mut program));
    assert!(verify(&program).is_empty(), "{}", print_without_locs(&program));
    expect![[r#"
        def f (n_0: i64, ps_1: [n_0][3i64]f64, qs_2: [3i64]f64) : (ds_3: [n_0]f64, rs_4: [3i64]f64) =
          let (ds_5: [n_0]f64) =
            map n_0 (ps_1)
              \(p_6: [3i64]f64) : (f64) ->
                let (x_20: f64) = p_6[0i64] certified
                let (y_21: f64) = qs_2[0i64] certified
                let (z_22: f64) = f64.sub x_20 y_21
                let (x_23: f64) = p_6[1i64] certified
                let (y_24: f64) = qs_2[1i64] certified
                let (z_25: f64) = f64.sub x_23 y_24
                let (x_26: f64) = p_6[2i64] certified
                let (y_27: f64) = qs_2[2i64] certified
                let (z_28: f64) = f64.sub x_26 y_27
                let (z_30: f64) = f64.mul z_22 z_22
                let (z_32: f64) = f64.mul z_25 z_25
                let (z_33: f64) = f64.add z_30 z_32
                let (z_35: f64) = f64.mul z_28 z_28
                let (z_36: f64) = f64.add z_33 z_35
                in (z_36)
          let (x_37: f64) = qs_2[0i64] certified
          let (z_38: f64) = f64.neg x_37
          let (x_39: f64) = qs_2[1i64] certified
          let (z_40: f64) = f64.neg x_39
          let (x_41: f64) = qs_2[2i64] certified
          let (z_42: f64) = f64.neg x_41
          let (rs_17: [3i64]f64) = array f64 (z_38, z_40, z_42)
          in (ds_5, rs_17)
    "#]]
    .assert_eq(&print_without_locs(&program));
}

#[test]
fn the_cheap_end_of_a_map_moves_to_the_only_one_that_needs_it() {
    check(
        r"def f (n: i64, xs: [n]f64) : (ys: [n]f64, s: f64) =
            let (ys: [n]f64, zs: [n]f64) = map n (xs) \(x: f64) : (f64, f64) ->
              let (y: f64) = f64.exp x
              let (z: f64) = f64.neg y
              in (y, z)
            let (s: f64) = reduce n (zs) op \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.add x y
              in (z)
            neutral (0.0f64)
            in (ys, s)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64) : (ys_2: [n_0]f64, s_3: f64) =
              let (ys_4: [n_0]f64) =
                map n_0 (xs_1)
                  \(x_6: f64) : (f64) ->
                    let (y_7: f64) = f64.exp x_6
                    in (y_7)
              let (s_9: f64) =
                reduce n_0 (ys_4)
                  pre \(y_14: f64) : (f64) ->
                    let (z_15: f64) = f64.neg y_14
                    in (z_15)
                  op \(x_10: f64, y_11: f64) : (f64) ->
                    let (z_12: f64) = f64.add x_10 y_11
                    in (z_12)
                  neutral (0.0f64)
              in (ys_4, s_9)
        "#]],
    );
}

/// Two maps with a sum inside, whose elements are computed by these statements.
fn check_sums(one: &str, other: &str, expected: Expect) {
    let sum = |name: &str, element: &str| {
        format!(
            r"let ({name}: [n]f64) = map n (xs) \(x{name}: f64) : (f64) ->
              let (s{name}: f64) = reduce m (ys)
              pre \(y{name}: f64) : (f64) ->
                let (e{name}: f64) = f64.mul x{name} y{name}
                {element}
                in (v{name})
              op \(p{name}: f64, q{name}: f64) : (f64) ->
                let (r{name}: f64) = f64.add p{name} q{name}
                in (r{name})
              neutral (0.0f64)
              in (s{name})"
        )
    };
    check(
        &format!(
            "def f (n: i64, m: i64, xs: [n]f64, ys: [m]f64) : (a: [n]f64, b: [n]f64) =
               {}
               {}
               in (a, b)",
            sum("a", one),
            sum("b", other)
        ),
        expected,
    );
}

#[test]
fn sums_of_the_same_function_are_computed_together() {
    check_sums(
        "let (va: f64) = f64.sin ea",
        "let (fb: f64) = f64.sin eb
         let (vb: f64) = f64.mul fb fb",
        expect![[r#"
            def f (n_0: i64, m_1: i64, xs_2: [n_0]f64, ys_3: [m_1]f64) : (a_4: [n_0]f64, b_5: [n_0]f64) =
              let (a_6: [n_0]f64, b_15: [n_0]f64) =
                map n_0 (xs_2)
                  \(xa_7: f64) : (f64, f64) ->
                    let (sa_8: f64) =
                      reduce m_1 (ys_3)
                        pre \(ya_9: f64) : (f64) ->
                          let (ea_10: f64) = f64.mul xa_7 ya_9
                          let (va_11: f64) = f64.sin ea_10
                          in (va_11)
                        op \(pa_12: f64, qa_13: f64) : (f64) ->
                          let (ra_14: f64) = f64.add pa_12 qa_13
                          in (ra_14)
                        neutral (0.0f64)
                    let (sb_17: f64) =
                      reduce m_1 (ys_3)
                        pre \(yb_18: f64) : (f64) ->
                          let (eb_19: f64) = f64.mul xa_7 yb_18
                          let (fb_20: f64) = f64.sin eb_19
                          let (vb_21: f64) = f64.mul fb_20 fb_20
                          in (vb_21)
                        op \(pb_22: f64, qb_23: f64) : (f64) ->
                          let (rb_24: f64) = f64.add pb_22 qb_23
                          in (rb_24)
                        neutral (0.0f64)
                    in (sa_8, sb_17)
              in (a_6, b_15)
        "#]],
    );
}

#[test]
fn sums_of_different_functions_stay_apart() {
    check_sums(
        "let (va: f64) = f64.sin ea",
        "let (vb: f64) = f64.add eb 1.0f64",
        expect![[r#"
        def f (n_0: i64, m_1: i64, xs_2: [n_0]f64, ys_3: [m_1]f64) : (a_4: [n_0]f64, b_5: [n_0]f64) =
          let (a_6: [n_0]f64) =
            map n_0 (xs_2)
              \(xa_7: f64) : (f64) ->
                let (sa_8: f64) =
                  reduce m_1 (ys_3)
                    pre \(ya_9: f64) : (f64) ->
                      let (ea_10: f64) = f64.mul xa_7 ya_9
                      let (va_11: f64) = f64.sin ea_10
                      in (va_11)
                    op \(pa_12: f64, qa_13: f64) : (f64) ->
                      let (ra_14: f64) = f64.add pa_12 qa_13
                      in (ra_14)
                    neutral (0.0f64)
                in (sa_8)
          let (b_15: [n_0]f64) =
            map n_0 (xs_2)
              \(xb_16: f64) : (f64) ->
                let (sb_17: f64) =
                  reduce m_1 (ys_3)
                    pre \(yb_18: f64) : (f64) ->
                      let (eb_19: f64) = f64.mul xb_16 yb_18
                      let (vb_20: f64) = f64.add eb_19 1.0f64
                      in (vb_20)
                    op \(pb_21: f64, qb_22: f64) : (f64) ->
                      let (rb_23: f64) = f64.add pb_21 qb_22
                      in (rb_23)
                    neutral (0.0f64)
                in (sb_17)
          in (a_6, b_15)
    "#]],
    );
}

#[test]
fn reductions_of_what_one_map_makes_are_one() {
    check(
        r"def f (n: i64, xs: [n]f64) : (s: f64, t: f64) =
            let (as: [n]f64, bs: [n]f64) = map n (xs) \(x: f64) : (f64, f64) ->
              let (a: f64) = f64.sin x
              let (b: f64) = f64.mul a x
              in (a, b)
            let (s: f64) = reduce n (as) op \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.add x y
              in (z)
            neutral (0.0f64)
            let (t: f64) = reduce n (bs) op \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.add x y
              in (z)
            neutral (0.0f64)
            in (s, t)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64) : (s_2: f64, t_3: f64) =
              let (as_4: [n_0]f64, bs_5: [n_0]f64) =
                map n_0 (xs_1)
                  \(x_6: f64) : (f64, f64) ->
                    let (a_7: f64) = f64.sin x_6
                    let (b_8: f64) = f64.mul a_7 x_6
                    in (a_7, b_8)
              let (s_9: f64, t_13: f64) =
                reduce n_0 (as_4, bs_5)
                  op \(x_10: f64, x_14: f64, y_11: f64, y_15: f64) : (f64, f64) ->
                    let (z_12: f64) = f64.add x_10 y_11
                    let (z_16: f64) = f64.add x_14 y_15
                    in (z_12, z_16)
                  neutral (0.0f64, 0.0f64)
              in (s_9, t_13)
        "#]],
    );
}

#[test]
fn small_matrices_for_many_points_are_scalars() {
    let input = r"def f (n: i64, xs: [2][n]f64, m: [2][2]f64) : (qs: [n][2]f64) =
        let (ps: [n][2]f64) = rearrange (1, 0) xs
        let (qs: [n][2]f64) = map n (ps) \(p: [2]f64) : ([2]f64) ->
          let (q: [2]f64) = map 2i64 (m) \(row: [2]f64) : (f64) ->
            let (s: f64) = reduce 2i64 (row, p)
            pre \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.mul x y
              in (z)
            op \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.add x y
              in (z)
            neutral (0.0f64)
            in (s)
          in (q)
        in (qs)";
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    [unroll_small, simplify, eliminate_dead_code].iter().for_each(|pass| pass(&mut program));
    assert!(verify(&program).is_empty(), "{}", print_without_locs(&program));
    expect![[r#"
        def f (n_0: i64, xs_1: [2i64][n_0]f64, m_2: [2i64][2i64]f64) : (qs_3: [n_0][2i64]f64) =
          let (ps_4: [n_0][2i64]f64) = rearrange (1, 0) xs_1
          let (qs_5: [n_0][2i64]f64) =
            map n_0 (ps_4)
              \(p_6: [2i64]f64) : ([2i64]f64) ->
                let (x_24: f64) = m_2[0i64, 0i64] certified
                let (y_25: f64) = p_6[0i64] certified
                let (z_26: f64) = f64.mul x_24 y_25
                let (x_27: f64) = m_2[0i64, 1i64] certified
                let (y_28: f64) = p_6[1i64] certified
                let (z_29: f64) = f64.mul x_27 y_28
                let (z_30: f64) = f64.add z_26 z_29
                let (x_33: f64) = m_2[1i64, 0i64] certified
                let (y_34: f64) = p_6[0i64] certified
                let (z_35: f64) = f64.mul x_33 y_34
                let (x_36: f64) = m_2[1i64, 1i64] certified
                let (y_37: f64) = p_6[1i64] certified
                let (z_38: f64) = f64.mul x_36 y_37
                let (z_39: f64) = f64.add z_35 z_38
                let (q_7: [2i64]f64) = array f64 (z_30, z_39)
                in (q_7)
          in (qs_5)
    "#]]
    .assert_eq(&print_without_locs(&program));
}

/// Lanes of vector units would read elements of large rows that are far from each other.
#[test]
fn matrices_in_many_rows_stay_matrices() {
    let input = r"def f (n: i64, ms: [n][4][4]f64, v: [4]f64) : (qs: [n][4]f64) =
        let (qs: [n][4]f64) = map n (ms) \(m: [4][4]f64) : ([4]f64) ->
          let (q: [4]f64) = map 4i64 (m) \(row: [4]f64) : (f64) ->
            let (s: f64) = reduce 4i64 (row, v)
            pre \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.mul x y
              in (z)
            op \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.add x y
              in (z)
            neutral (0.0f64)
            in (s)
          in (q)
        in (qs)";
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    [unroll_small, simplify, eliminate_dead_code].iter().for_each(|pass| pass(&mut program));
    let text = print_without_locs(&program);
    assert!(text.contains("map 4i64 (m_"), "{text}");
}

/// Each copy of a branch binds its own variables.
#[test]
fn branches_are_written_out_with_the_maps_around_them() {
    let input = r"def f (n: i64, xs: [n]f64) : (qs: [n][2]f64) =
        let (seeds: [2]f64) = array f64 (1.0f64, 3.0f64)
        let (qs: [n][2]f64) = map n (xs) \(x: f64) : ([2]f64) ->
          let (c: bool) = f64.lt x 0.0f64
          let (q: [2]f64) = map 2i64 (seeds) \(seed: f64) : (f64) ->
            let (y: f64) = if c then
              let (a: f64) = f64.mul x seed
              let (b: f64) = f64.add a x
              in (b)
            else
              in (seed)
            in (y)
          in (q)
        in (qs)";
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    [unroll_small, simplify, eliminate_dead_code].iter().for_each(|pass| pass(&mut program));
    assert!(verify(&program).is_empty(), "{}", print_without_locs(&program));
    expect![[r#"
        def f (n_0: i64, xs_1: [n_0]f64) : (qs_2: [n_0][2i64]f64) =
          let (qs_4: [n_0][2i64]f64) =
            map n_0 (xs_1)
              \(x_5: f64) : ([2i64]f64) ->
                let (c_6: bool) = f64.lt x_5 0.0f64
                let (y_15: f64) =
                  if c_6 then
                    let (b_14: f64) = f64.add x_5 x_5
                    in (b_14)
                  else
                    in (1.0f64)
                let (y_19: f64) =
                  if c_6 then
                    let (a_17: f64) = f64.mul x_5 3.0f64
                    let (b_18: f64) = f64.add a_17 x_5
                    in (b_18)
                  else
                    in (3.0f64)
                let (q_7: [2i64]f64) = array f64 (y_15, y_19)
                in (q_7)
          in (qs_4)
    "#]]
    .assert_eq(&print_without_locs(&program));
}
