//! Branches around maps as text: Core before and after.

mod common;

use dagaz_core::exp::Program;
use dagaz_optimise::unswitch_maps;
use expect_test::{Expect, expect};

fn check(input: &str, expected: Expect) {
    let passes: [fn(&mut Program); 1] = [|program| {
        unswitch_maps(program);
    }];
    common::check(&passes, input, expected);
}

#[test]
fn a_branch_that_is_the_same_for_all_elements_goes_around_all_maps() {
    check(
        r"def f (n: i64, m: i64, k: i64, xs: [n][m]f64, ys: [n][m]f64) : (r: [n][m]f64) =
            let (r: [n][m]f64) =
              map n (xs, ys)
                \(xrow: [m]f64, yrow: [m]f64) : ([m]f64) ->
                  let (row: [m]f64) =
                    map m (xrow, yrow)
                      \(x: f64, y: f64) : (f64) ->
                        let (first: bool) = i64.eq k 0i64
                        let (z: f64) =
                          if first then
                            let (more: f64) = f64.add x 1.0f64
                            in (more)
                          else
                            let (second: bool) = i64.eq k 1i64
                            let (other: f64) =
                              if second then
                                in (y)
                              else
                                in (0.0f64)
                            in (other)
                        in (z)
                  in (row)
            in (r)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, xs_3: [n_0][m_1]f64, ys_4: [n_0][m_1]f64) : (r_5: [n_0][m_1]f64) =
              let (first_12: bool) = i64.eq k_2 0i64
              let (r_6: [n_0][m_1]f64) =
                if first_12 then
                  let (r_27: [n_0][m_1]f64) =
                    map n_0 (xs_3)
                      \(xrow_7: [m_1]f64) : ([m_1]f64) ->
                        let (row_17: [m_1]f64) =
                          map m_1 (xrow_7)
                            \(x_10: f64) : (f64) ->
                              let (more_14: f64) = f64.add x_10 1.0f64
                              in (more_14)
                        in (row_17)
                  in (r_27)
                else
                  let (second_33: bool) = i64.eq k_2 1i64
                  let (r_40: [n_0][m_1]f64) =
                    if second_33 then
                      let (r_37: [n_0][m_1]f64) =
                        map n_0 (ys_4)
                          \(yrow_34: [m_1]f64) : ([m_1]f64) ->
                            let (row_36: [m_1]f64) =
                              map m_1 (yrow_34)
                                \(y_35: f64) : (f64) ->
                                  in (y_35)
                            in (row_36)
                      in (r_37)
                    else
                      let (r_39: [n_0][m_1]f64) =
                        map n_0 ()
                          \() : ([m_1]f64) ->
                            let (row_38: [m_1]f64) =
                              map m_1 ()
                                \() : (f64) ->
                                  in (0.0f64)
                            in (row_38)
                      in (r_39)
                  in (r_40)
              in (r_6)
        "#]],
    );
}

#[test]
fn what_depends_on_elements_stays() {
    check(
        r"def f (n: i64, xs: [n]f64) : (r: [n]f64) =
            let (r: [n]f64) =
              map n (xs)
                \(x: f64) : (f64) ->
                  let (is_less: bool) = f64.lt x 0.0f64
                  let (z: f64) =
                    if is_less then
                      in (0.0f64)
                    else
                      in (x)
                  in (z)
            in (r)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64) : (r_2: [n_0]f64) =
              let (r_3: [n_0]f64) =
                map n_0 (xs_1)
                  \(x_4: f64) : (f64) ->
                    let (is_less_5: bool) = f64.lt x_4 0.0f64
                    let (z_6: f64) =
                      if is_less_5 then
                        in (0.0f64)
                      else
                        in (x_4)
                    in (z_6)
              in (r_3)
        "#]],
    );
}

#[test]
fn what_does_more_than_branch_stays() {
    check(
        r"def f (n: i64, c: bool, xs: [n]f64) : (r: [n]f64) =
            let (r: [n]f64) =
              map n (xs)
                \(x: f64) : (f64) ->
                  let (y: f64) = f64.mul x x
                  let (z: f64) =
                    if c then
                      in (y)
                    else
                      in (x)
                  in (z)
            in (r)",
        expect![[r#"
            def f (n_0: i64, c_1: bool, xs_2: [n_0]f64) : (r_3: [n_0]f64) =
              let (r_4: [n_0]f64) =
                map n_0 (xs_2)
                  \(x_5: f64) : (f64) ->
                    let (y_6: f64) = f64.mul x_5 x_5
                    let (z_7: f64) =
                      if c_1 then
                        in (y_6)
                      else
                        in (x_5)
                    in (z_7)
              in (r_4)
        "#]],
    );
}
