//! Reads at other places as text: Core before and after, with the fusion and the clean-up that follow.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{eliminate_dead_code, fold_shifts_into_reads, fuse_operations, insert_copies, simplify};
use expect_test::{Expect, expect};

fn check(input: &str, expected: Expect) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    fold_shifts_into_reads(&mut program);
    fuse_operations(&mut program);
    simplify(&mut program);
    eliminate_dead_code(&mut program);
    insert_copies(&mut program);
    let errors = verify(&program);
    let text = print_without_locs(&program);
    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
    expected.assert_eq(&text);
}

#[test]
fn what_comes_before_is_read_one_place_before() {
    check(
        r"def f (n: i64, m: i64, xs: [n]f64) : (ys: [n]f64) =
            let (first: [1i64]f64) = array f64 (2.0f64)
            let (longer: [m]f64) = concat (first, xs)
            let (before: [n]f64) = slice longer [0i64 :+ n * 1i64]
            let (ys: [n]f64) = map n (before, xs) \(b: f64, x: f64) : (f64) ->
              let (y: f64) = f64.mul b x
              in (y)
            in (ys)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, xs_2: [n_0]f64) : (ys_3: [n_0]f64) =
              let (places_11: [n_0]i64) = iota i64 n_0 0i64 1i64
              let (ys_7: [n_0]f64) =
                map n_0 (places_11, xs_2)
                  \(i_12: i64, x_9: f64) : (f64) ->
                    let (lt_13: bool) = i64.lt 0i64 i_12
                    let (before_16: f64) =
                      if lt_13 then
                        let (sub_14: i64) = i64.sub i_12 1i64
                        let (elem_15: f64) = xs_2[sub_14] certified
                        in (elem_15)
                      else
                        in (2.0f64)
                    let (y_10: f64) = f64.mul before_16 x_9
                    in (y_10)
              in (ys_7)
        "#]],
    );
}

#[test]
fn everything_but_the_first_element_stays_a_slice() {
    check(
        r"def f (n: i64, m: i64, xs: [n]f64) : (ys: [n]f64) =
            let (first: [1i64]f64) = array f64 (2.0f64)
            let (longer: [m]f64) = concat (first, xs)
            let (ys: [n]f64) = slice longer [1i64 :+ n * 1i64]
            in (ys)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, xs_2: [n_0]f64) : (ys_3: [n_0]f64) =
              let (first_4: [1i64]f64) = array f64 (2.0f64)
              let (longer_5: [m_1]f64) = concat (first_4, xs_2)
              let (ys_6: [n_0]f64) = slice longer_5 [1i64 :+ n_0 * 1i64]
              in (ys_6)
        "#]],
    );
}

#[test]
fn maps_that_are_read_backwards_go_backwards() {
    check(
        r"def f (n: i64, last: i64, xs: [n]f64) : (ss: [n]f64) =
            let (as: [n]f64, bs: [n]f64) = map n (xs) \(x: f64) : (f64, f64) ->
              let (a: f64) = f64.add x 1.0f64
              let (b: f64) = f64.mul x x
              in (a, b)
            let (cs: [n]f64) = slice as [last :+ n * -1i64]
            let (ds: [n]f64) = slice bs [last :+ n * -1i64]
            let (ss: [n]f64) = scan n (cs, ds)
            pre \(c: f64, d: f64) : (f64) ->
              let (e: f64) = f64.sub c d
              in (e)
            op \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.add x y
              in (z)
            neutral (0.0f64)
            in (ss)",
        expect![[r#"
            def f (n_0: i64, last_1: i64, xs_2: [n_0]f64) : (ss_3: [n_0]f64) =
              let (sliced_18: [n_0]f64) = slice xs_2 [last_1 :+ n_0 * -1i64]
              let (ss_11: [n_0]f64) =
                scan n_0 (sliced_18)
                  pre \(x_6: f64) : (f64) ->
                    let (a_7: f64) = f64.add x_6 1.0f64
                    let (b_8: f64) = f64.mul x_6 x_6
                    let (e_14: f64) = f64.sub a_7 b_8
                    in (e_14)
                  op \(x_15: f64, y_16: f64) : (f64) ->
                    let (z_17: f64) = f64.add x_15 y_16
                    in (z_17)
                  neutral (0.0f64)
              in (ss_11)
        "#]],
    );
}

#[test]
fn maps_that_are_read_both_ways_stay() {
    check(
        r"def f (n: i64, last: i64, xs: [n]f64) : (as: [n]f64, bs: [n]f64) =
            let (as: [n]f64) = map n (xs) \(x: f64) : (f64) ->
              let (a: f64) = f64.add x 1.0f64
              in (a)
            let (bs: [n]f64) = slice as [last :+ n * -1i64]
            in (as, bs)",
        expect![[r#"
            def f (n_0: i64, last_1: i64, xs_2: [n_0]f64) : (as_3: [n_0]f64, bs_4: [n_0]f64) =
              let (as_5: [n_0]f64) =
                map n_0 (xs_2)
                  \(x_6: f64) : (f64) ->
                    let (a_7: f64) = f64.add x_6 1.0f64
                    in (a_7)
              let (bs_8: [n_0]f64) = slice as_5 [last_1 :+ n_0 * -1i64]
              in (as_5, bs_8)
        "#]],
    );
}

#[test]
fn columns_that_are_read_in_passing_are_views() {
    check(
        r"def f (n: i64, rows: [n][2i64]f64) : (s: f64, ps: [n]f64) =
            let (xs: [n]f64, ys: [n]f64) = map n (rows) \(row: [2i64]f64) : (f64, f64) ->
              let (x: f64) = row[0i64] certified
              let (y: f64) = row[1i64] certified
              in (x, y)
            let (s: f64) = reduce n (xs, ys)
            pre \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.mul x y
              in (z)
            op \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.add x y
              in (z)
            neutral (0.0f64)
            let (ps: [n]f64) = map n (xs, ys) \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.mul x s
              let (w: f64) = f64.mul z y
              in (w)
            in (s, ps)",
        expect![[r#"
            def f (n_0: i64, rows_1: [n_0][2i64]f64) : (s_2: f64, ps_3: [n_0]f64) =
              let (xs_4: [n_0]f64) = slice rows_1 [0i64 :+ n_0 * 1i64, 0i64]
              let (ys_5: [n_0]f64) = slice rows_1 [0i64 :+ n_0 * 1i64, 1i64]
              let (s_9: f64) =
                reduce n_0 (xs_4, ys_5)
                  pre \(x_10: f64, y_11: f64) : (f64) ->
                    let (z_12: f64) = f64.mul x_10 y_11
                    in (z_12)
                  op \(x_13: f64, y_14: f64) : (f64) ->
                    let (z_15: f64) = f64.add x_13 y_14
                    in (z_15)
                  neutral (0.0f64)
              let (ps_16: [n_0]f64) =
                map n_0 (xs_4, ys_5)
                  \(x_17: f64, y_18: f64) : (f64) ->
                    let (z_19: f64) = f64.mul x_17 s_9
                    let (w_20: f64) = f64.mul z_19 y_18
                    in (w_20)
              in (s_9, ps_16)
        "#]],
    );
}

#[test]
fn columns_that_an_operation_reads_again_and_again_are_made() {
    check(
        r"def f (n: i64, rows: [n][2i64]f64) : (ps: [n]f64) =
            let (xs: [n]f64, ys: [n]f64) = map n (rows) \(row: [2i64]f64) : (f64, f64) ->
              let (x: f64) = row[0i64] certified
              let (y: f64) = row[1i64] certified
              in (x, y)
            let (ps: [n]f64) = map n (xs) \(x: f64) : (f64) ->
              let (s: f64) = reduce n (ys)
              op \(a: f64, b: f64) : (f64) ->
                let (z: f64) = f64.add a b
                in (z)
              neutral (x)
              in (s)
            in (ps)",
        expect![[r#"
            def f (n_0: i64, rows_1: [n_0][2i64]f64) : (ps_2: [n_0]f64) =
              let (xs_3: [n_0]f64, ys_4: [n_0]f64) =
                map n_0 (rows_1)
                  \(row_5: [2i64]f64) : (f64, f64) ->
                    let (x_6: f64) = row_5[0i64] certified
                    let (y_7: f64) = row_5[1i64] certified
                    in (x_6, y_7)
              let (ps_8: [n_0]f64) =
                map n_0 (xs_3)
                  \(x_9: f64) : (f64) ->
                    let (s_10: f64) =
                      reduce n_0 (ys_4)
                        op \(a_11: f64, b_12: f64) : (f64) ->
                          let (z_13: f64) = f64.add a_11 b_12
                          in (z_13)
                        neutral (x_9)
                    in (s_10)
              in (ps_8)
        "#]],
    );
}
