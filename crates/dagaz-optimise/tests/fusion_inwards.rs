//! Fusion across branches and accumulators as text: Core before and after it, with the clean-up that follows.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{eliminate_dead_code, fuse_operations, insert_copies, simplify};
use expect_test::{Expect, expect};

fn check(input: &str, expected: Expect) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    for _ in 0..2 {
        fuse_operations(&mut program);
        simplify(&mut program);
        eliminate_dead_code(&mut program);
    }
    insert_copies(&mut program);
    let errors = verify(&program);
    let text = print_without_locs(&program);
    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
    expected.assert_eq(&text);
}

#[test]
fn a_reduction_goes_to_the_maps_in_branches() {
    check(
        r"def f (n: i64, c: bool, xs: [n]f64) : (s: f64) =
            let (ys: [n]f64) = if c then
                let (as: [n]f64) = map n (xs) \(x: f64) : (f64) ->
                  let (a: f64) = f64.exp x
                  in (a)
                in (as)
              else
                let (bs: [n]f64) = map n (xs) \(x: f64) : (f64) ->
                  let (b: f64) = f64.sin x
                  in (b)
                in (bs)
            let (s: f64) = reduce n (ys) op \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.add x y
              in (z)
            neutral (0.0f64)
            in (s)",
        expect![[r#"
            def f (n_0: i64, c_1: bool, xs_2: [n_0]f64) : (s_3: f64) =
              let (s_11: f64) =
                if c_1 then
                  let (s_22: f64) =
                    reduce n_0 (xs_2)
                      pre \(x_15: f64) : (f64) ->
                        let (a_16: f64) = f64.exp x_15
                        in (a_16)
                      op \(x_19: f64, y_20: f64) : (f64) ->
                        let (z_21: f64) = f64.add x_19 y_20
                        in (z_21)
                      neutral (0.0f64)
                  in (s_22)
                else
                  let (s_30: f64) =
                    reduce n_0 (xs_2)
                      pre \(x_23: f64) : (f64) ->
                        let (b_24: f64) = f64.sin x_23
                        in (b_24)
                      op \(x_27: f64, y_28: f64) : (f64) ->
                        let (z_29: f64) = f64.add x_27 y_28
                        in (z_29)
                      neutral (0.0f64)
                  in (s_30)
              in (s_11)
        "#]],
    );
}

#[test]
fn branches_whose_results_are_used_elsewhere_stay() {
    check(
        r"def f (n: i64, c: bool, xs: [n]f64) : (ys: [n]f64, s: f64) =
            let (ys: [n]f64) = if c then
                let (as: [n]f64) = map n (xs) \(x: f64) : (f64) ->
                  let (a: f64) = f64.exp x
                  in (a)
                in (as)
              else
                let (bs: [n]f64) = map n (xs) \(x: f64) : (f64) ->
                  let (b: f64) = f64.sin x
                  in (b)
                in (bs)
            let (s: f64) = reduce n (ys) op \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.add x y
              in (z)
            neutral (0.0f64)
            in (ys, s)",
        expect![[r#"
            def f (n_0: i64, c_1: bool, xs_2: [n_0]f64) : (ys_3: [n_0]f64, s_4: f64) =
              let (ys_5: [n_0]f64) =
                if c_1 then
                  let (as_6: [n_0]f64) =
                    map n_0 (xs_2)
                      \(x_7: f64) : (f64) ->
                        let (a_8: f64) = f64.exp x_7
                        in (a_8)
                  in (as_6)
                else
                  let (bs_9: [n_0]f64) =
                    map n_0 (xs_2)
                      \(x_10: f64) : (f64) ->
                        let (b_11: f64) = f64.sin x_10
                        in (b_11)
                  in (bs_9)
              let (s_12: f64) =
                reduce n_0 (ys_5)
                  op \(x_13: f64, y_14: f64) : (f64) ->
                    let (z_15: f64) = f64.add x_13 y_14
                    in (z_15)
                  neutral (0.0f64)
              in (ys_5, s_12)
        "#]],
    );
}

#[test]
fn a_map_goes_to_the_accumulation_of_its_results() {
    check(
        r"def f (n: i64, m: i64, is: [n]i64, xs: [n]f64) : (sums: [m]f64) =
            let (ys: [n]f64) = map n (xs) \(x: f64) : (f64) ->
              let (y: f64) = f64.exp x
              in (y)
            let (zeros: [m]f64) = replicate [m] 0.0f64
            let (sums: [m]f64) = with_acc over [m] (zeros)
                op \(x: f64, y: f64) : (f64) ->
                  let (z: f64) = f64.add x y
                  in (z)
                neutral (0.0f64)
              body \(acc: acc [m] (f64)) : (acc [m] (f64)) ->
                let (all: acc [m] (f64)) = map n (is, ys, acc)
                  \(i: i64, y: f64, own: acc [m] (f64)) : (acc [m] (f64)) ->
                    let (next: acc [m] (f64)) = update_acc own [i] (y)
                    in (next)
                in (all)
            in (sums)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, is_2: [n_0]i64, xs_3: [n_0]f64) : (sums_4: [m_1]f64) =
              let (zeros_8: [m_1]f64) = replicate [m_1] 0.0f64
              let (sums_9: [m_1]f64) =
                with_acc
                  over [m_1] (zeros_8)
                    op \(x_10: f64, y_11: f64) : (f64) ->
                      let (z_12: f64) = f64.add x_10 y_11
                      in (z_12)
                    neutral (0.0f64)
                  body \(acc_13: acc [m_1] (f64)) : (acc [m_1] (f64)) ->
                    let (all_14: acc [m_1] (f64)) =
                      map n_0 (xs_3, is_2, acc_13)
                        \(x_6: f64, i_15: i64, own_17: acc [m_1] (f64)) : (acc [m_1] (f64)) ->
                          let (y_7: f64) = f64.exp x_6
                          let (next_18: acc [m_1] (f64)) = update_acc own_17 [i_15] (y_7)
                          in (next_18)
                    in (all_14)
              in (sums_9)
        "#]],
    );
}

#[test]
fn a_map_stays_before_an_accumulation_into_one_of_its_results() {
    check(
        r"def f (n: i64, is: [n]i64, xs: [n]f64) : (sums: [n]f64) =
            let (ys: [n]f64, zs: [n]f64) = map n (xs) \(x: f64) : (f64, f64) ->
              let (y: f64) = f64.exp x
              let (z: f64) = f64.mul y y
              in (y, z)
            let (sums: [n]f64) = with_acc over [n] (zs)
                op \(x: f64, y: f64) : (f64) ->
                  let (z: f64) = f64.add x y
                  in (z)
                neutral (0.0f64)
              body \(acc: acc [n] (f64)) : (acc [n] (f64)) ->
                let (all: acc [n] (f64)) = map n (is, ys, acc)
                  \(i: i64, y: f64, own: acc [n] (f64)) : (acc [n] (f64)) ->
                    let (next: acc [n] (f64)) = update_acc own [i] (y)
                    in (next)
                in (all)
            in (sums)",
        expect![[r#"
            def f (n_0: i64, is_1: [n_0]i64, xs_2: [n_0]f64) : (sums_3: [n_0]f64) =
              let (ys_4: [n_0]f64, zs_5: [n_0]f64) =
                map n_0 (xs_2)
                  \(x_6: f64) : (f64, f64) ->
                    let (y_7: f64) = f64.exp x_6
                    let (z_8: f64) = f64.mul y_7 y_7
                    in (y_7, z_8)
              let (sums_9: [n_0]f64) =
                with_acc
                  over [n_0] (zs_5)
                    op \(x_10: f64, y_11: f64) : (f64) ->
                      let (z_12: f64) = f64.add x_10 y_11
                      in (z_12)
                    neutral (0.0f64)
                  body \(acc_13: acc [n_0] (f64)) : (acc [n_0] (f64)) ->
                    let (all_14: acc [n_0] (f64)) =
                      map n_0 (is_1, ys_4, acc_13)
                        \(i_15: i64, y_16: f64, own_17: acc [n_0] (f64)) : (acc [n_0] (f64)) ->
                          let (next_18: acc [n_0] (f64)) = update_acc own_17 [i_15] (y_16)
                          in (next_18)
                    in (all_14)
              in (sums_9)
        "#]],
    );
}

#[test]
fn smaller_integers_are_converted_where_they_are_read() {
    check(
        r"def f (n: i64, m: i64, is: [n]i32, xs: [m]f64, c: bool) : (ys: [n]f64, zs: [n]i64) =
            let (js: [n]i64) = map n (is) \(i: i32) : (i64) ->
              let (j: i64) = i32.to_i64 i
              in (j)
            let (ys: [n]f64) = map n (js) \(j: i64) : (f64) ->
              let (x: f64) = xs[j]
              in (x)
            let (zs: [n]i64) = if c then
                let (as: [n]i64) = map n (js) \(j: i64) : (i64) ->
                  let (a: i64) = i64.add j 1i64
                  in (a)
                in (as)
              else
                let (bs: [n]i64) = replicate [n] 0i64
                in (bs)
            in (ys, zs)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, is_2: [n_0]i32, xs_3: [m_1]f64, c_4: bool) : (ys_5: [n_0]f64, zs_6: [n_0]i64) =
              let (ys_10: [n_0]f64) =
                map n_0 (is_2)
                  \(i_8: i32) : (f64) ->
                    let (j_9: i64) = i32.to_i64 i_8
                    let (x_12: f64) = xs_3[j_9]
                    in (x_12)
              let (zs_13: [n_0]i64) =
                if c_4 then
                  let (as_14: [n_0]i64) =
                    map n_0 (is_2)
                      \(i_18: i32) : (i64) ->
                        let (j_19: i64) = i32.to_i64 i_18
                        let (a_16: i64) = i64.add j_19 1i64
                        in (a_16)
                  in (as_14)
                else
                  let (bs_17: [n_0]i64) = replicate [n_0] 0i64
                  in (bs_17)
              in (ys_10, zs_13)
        "#]],
    );
}
