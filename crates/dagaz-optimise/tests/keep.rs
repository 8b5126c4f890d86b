//! Elements that several operations read from a large array are gathered once.

mod common;

use dagaz_core::exp::Program;
use dagaz_core::parse::parse;
use dagaz_optimise::{eliminate_dead_code, share_gathers};
use expect_test::{Expect, expect};

fn program(list: &str, first: &str) -> String {
    format!(
        r"def f (n: i64, m: i64, k: i64, xs: [n]f64, is: [m]i32, ws: [m]f64, bins: [k]f64) : (ys: [m]f64, h: [k]f64) =
            let (js: [m]i32) = iota i32 m 0i32 1i32
            let (h: [k]f64) = hist m ({list}, ws) into (bins) [k]
              pre \(i: i32, w: f64) : (i64, f64) ->
                let (place: i64) = i32.to_i64 i
                {first}
                let (x: f64) = xs[place]
                let (y: f64) = f64.mul w x
                in (place, y)
              op \(a: f64, b: f64) : (f64) ->
                let (c: f64) = f64.add a b
                in (c)
              neutral (0.0f64)
            let (most: f64) = h[0i64]
            let (ys: [m]f64) = map m (ws, {list})
              \(w: f64, i: i32) : (f64) ->
                let (place: i64) = i32.to_i64 i
                let (x: f64) = xs[place] certified
                let (y: f64) = f64.mul x most
                in (y)
            in (ys, h)"
    )
}

fn check(list: &str, first: &str, expected: Expect) {
    let once: fn(&mut Program) = |program| assert!(share_gathers(program));
    common::check(&[once, eliminate_dead_code], &program(list, first), expected);
}

#[track_caller]
fn stays(list: &str, first: &str) {
    let mut program = parse(&program(list, first)).unwrap_or_else(|error| panic!("{error}"));
    assert!(!share_gathers(&mut program));
}

#[test]
fn elements_of_a_large_array_are_gathered_once() {
    check(
        "is",
        "",
        expect![[r#"
        def f (n_0: i64, m_1: i64, k_2: i64, xs_3: [n_0]f64, is_4: [m_1]i32, ws_5: [m_1]f64, bins_6: [k_2]f64) : (ys_7: [m_1]f64, h_8: [k_2]f64) =
          let (lt_26: bool) = i64.lt 131072i64 n_0
          let (h_10: [k_2]f64, ys_20: [m_1]f64) =
            if lt_26 then
              let (gathered_34: [m_1]f64) =
                map m_1 (is_4)
                  \(i_31: i32) : (f64) ->
                    let (place_32: i64) = i32.to_i64 i_31
                    let (x_33: f64) = xs_3[place_32]
                    in (x_33)
              let (h_43: [k_2]f64) =
                hist m_1 (is_4, ws_5, gathered_34) into (bins_6) [k_2]
                  pre \(i_35: i32, w_36: f64, x_37: f64) : (i64, f64) ->
                    let (place_38: i64) = i32.to_i64 i_35
                    let (y_39: f64) = f64.mul w_36 x_37
                    in (place_38, y_39)
                  op \(a_40: f64, b_41: f64) : (f64) ->
                    let (c_42: f64) = f64.add a_40 b_41
                    in (c_42)
                  neutral (0.0f64)
              let (most_44: f64) = h_43[0i64]
              let (ys_50: [m_1]f64) =
                map m_1 (gathered_34)
                  \(x_47: f64) : (f64) ->
                    let (y_49: f64) = f64.mul x_47 most_44
                    in (y_49)
              in (h_43, ys_50)
            else
              let (h_59: [k_2]f64) =
                hist m_1 (is_4, ws_5) into (bins_6) [k_2]
                  pre \(i_51: i32, w_52: f64) : (i64, f64) ->
                    let (place_53: i64) = i32.to_i64 i_51
                    let (x_54: f64) = xs_3[place_53]
                    let (y_55: f64) = f64.mul w_52 x_54
                    in (place_53, y_55)
                  op \(a_56: f64, b_57: f64) : (f64) ->
                    let (c_58: f64) = f64.add a_56 b_57
                    in (c_58)
                  neutral (0.0f64)
              let (most_60: f64) = h_59[0i64]
              let (ys_66: [m_1]f64) =
                map m_1 (is_4)
                  \(i_62: i32) : (f64) ->
                    let (place_63: i64) = i32.to_i64 i_62
                    let (x_64: f64) = xs_3[place_63] certified
                    let (y_65: f64) = f64.mul x_64 most_60
                    in (y_65)
              in (h_59, ys_66)
          in (ys_20, h_10)
    "#]],
    );
}

#[test]
fn an_index_is_checked_after_what_came_before_it() {
    stays("is", "let (seven: f64) = ws[7i64]");
}

#[test]
fn elements_in_order_are_read_where_they_are() {
    stays("js", "");
}
