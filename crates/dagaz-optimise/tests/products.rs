//! Products of all other elements as text: Core before and after, with the clean-up that follows.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{divide_products, eliminate_dead_code, insert_copies, simplify};
use expect_test::{Expect, expect};

fn check(input: &str, expected: Expect) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    divide_products(&mut program);
    simplify(&mut program);
    eliminate_dead_code(&mut program);
    insert_copies(&mut program);
    let errors = verify(&program);
    let text = print_without_locs(&program);
    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
    expected.assert_eq(&text);
}

/// What is before each element and what is after it, by an operator.
fn both_sides(op: &str, neutral: &str, rest: &str) -> String {
    format!(
        r"def f (n: i64, c: f64, xs: [n]f64) : (ys: [n]f64) =
            let (scanned: [n]f64) = scan n (xs) op \(x: f64, y: f64) : (f64) ->
              let (z: f64) = f64.{op} x y
              in (z)
            neutral ({neutral})
            let (more: i64) = i64.add n 1i64
            let (last: i64) = i64.sub n 1i64
            let (first: [1i64]f64) = array f64 ({neutral})
            let (longer: [more]f64) = concat (first, scanned)
            let (ls: [n]f64) = slice longer [0i64 :+ n * 1i64]
            let (turned: [n]f64) = slice xs [last :+ n * -1i64]
            let (scanned_back: [n]f64) = scan n (turned) op \(y: f64, x: f64) : (f64) ->
              let (z: f64) = f64.{op} x y
              in (z)
            neutral ({neutral})
            let (longer_back: [more]f64) = concat (first, scanned_back)
            let (before: [n]f64) = slice longer_back [0i64 :+ n * 1i64]
            let (rs: [n]f64) = slice before [last :+ n * -1i64]
            {rest}"
    )
}

#[test]
fn a_product_is_divided_where_it_is_a_normal_number() {
    let program = both_sides(
        "mul",
        "1.0f64",
        r"let (ys: [n]f64) = map n (rs, ls) \(r: f64, l: f64) : (f64) ->
              let (s: f64) = f64.mul r c
              let (y: f64) = f64.mul l s
              in (y)
            in (ys)",
    );
    check(
        &program,
        expect![[r#"
        def f (n_0: i64, c_1: f64, xs_2: [n_0]f64) : (ys_3: [n_0]f64) =
          let (more_8: i64) = i64.add n_0 1i64
          let (last_9: i64) = i64.sub n_0 1i64
          let (first_10: [1i64]f64) = array f64 (1.0f64)
          let (product_36: f64, product_37: f64) =
            reduce_comm n_0 (xs_2)
              pre \(x_26: f64) : (f64, f64) ->
                let (eq_27: bool) = f64.eq x_26 0.0f64
                let (chosen_28: f64) =
                  if eq_27 then
                    in (1.0f64)
                  else
                    in (x_26)
                let (chosen_29: f64) =
                  if eq_27 then
                    in (1.0f64)
                  else
                    in (0.0f64)
                in (chosen_28, chosen_29)
              op \(x_30: f64, m_31: f64, y_32: f64, k_33: f64) : (f64, f64) ->
                let (mul_34: f64) = f64.mul x_30 y_32
                let (add_35: f64) = f64.add m_31 k_33
                in (mul_34, add_35)
              neutral (1.0f64, 0.0f64)
          let (abs_38: f64) = f64.abs product_36
          let (le_39: bool) = f64.le 2.2250738585072014e-308f64 abs_38
          let (le_40: bool) = f64.le abs_38 1.7976931348623157e308f64
          let (and_41: bool) = bool.and le_39 le_40
          let (others_73: [n_0]f64) =
            if and_41 then
              let (eq_42: bool) = f64.eq product_37 1.0f64
              let (chosen_43: f64) =
                if eq_42 then
                  in (product_36)
                else
                  in (0.0f64)
              let (eq_44: bool) = f64.eq product_37 0.0f64
              let (chosen_45: f64) =
                if eq_44 then
                  in (product_36)
                else
                  in (0.0f64)
              let (others_50: [n_0]f64) =
                map n_0 (xs_2)
                  \(x_46: f64) : (f64) ->
                    let (eq_47: bool) = f64.eq x_46 0.0f64
                    let (div_48: f64) = f64.div chosen_45 x_46
                    let (chosen_49: f64) =
                      if eq_47 then
                        in (chosen_43)
                      else
                        in (div_48)
                    in (chosen_49)
              in (others_50)
            else
              let (scanned_58: [n_0]f64) =
                scan n_0 (xs_2)
                  op \(x_55: f64, y_56: f64) : (f64) ->
                    let (z_57: f64) = f64.mul x_55 y_56
                    in (z_57)
                  neutral (1.0f64)
              let (longer_59: [more_8]f64) = concat (first_10, scanned_58)
              let (ls_60: [n_0]f64) = slice longer_59 [0i64 :+ n_0 * 1i64]
              let (turned_61: [n_0]f64) = slice xs_2 [last_9 :+ n_0 * -1i64]
              let (scanned_back_65: [n_0]f64) =
                scan n_0 (turned_61)
                  op \(y_62: f64, x_63: f64) : (f64) ->
                    let (z_64: f64) = f64.mul x_63 y_62
                    in (z_64)
                  neutral (1.0f64)
              let (longer_back_66: [more_8]f64) = concat (first_10, scanned_back_65)
              let (before_67: [n_0]f64) = slice longer_back_66 [0i64 :+ n_0 * 1i64]
              let (rs_68: [n_0]f64) = slice before_67 [last_9 :+ n_0 * -1i64]
              let (others_72: [n_0]f64) =
                map n_0 (ls_60, rs_68)
                  \(x_69: f64, y_70: f64) : (f64) ->
                    let (z_71: f64) = f64.mul x_69 y_70
                    in (z_71)
              in (others_72)
          let (ys_21: [n_0]f64) =
            map n_0 (others_73)
              \(other_74: f64) : (f64) ->
                let (y_25: f64) = f64.mul other_74 c_1
                in (y_25)
          in (ys_21)
    "#]],
    );
}

#[test]
fn sums_are_not_products() {
    let program = both_sides(
        "add",
        "0.0f64",
        r"let (ys: [n]f64) = map n (ls, rs) \(l: f64, r: f64) : (f64) ->
              let (y: f64) = f64.mul l r
              in (y)
            in (ys)",
    );
    check(
        &program,
        expect![[r#"
        def f (n_0: i64, c_1: f64, xs_2: [n_0]f64) : (ys_3: [n_0]f64) =
          let (scanned_4: [n_0]f64) =
            scan n_0 (xs_2)
              op \(x_5: f64, y_6: f64) : (f64) ->
                let (z_7: f64) = f64.add x_5 y_6
                in (z_7)
              neutral (0.0f64)
          let (more_8: i64) = i64.add n_0 1i64
          let (last_9: i64) = i64.sub n_0 1i64
          let (first_10: [1i64]f64) = array f64 (0.0f64)
          let (longer_11: [more_8]f64) = concat (first_10, scanned_4)
          let (ls_12: [n_0]f64) = slice longer_11 [0i64 :+ n_0 * 1i64]
          let (turned_13: [n_0]f64) = slice xs_2 [last_9 :+ n_0 * -1i64]
          let (scanned_back_14: [n_0]f64) =
            scan n_0 (turned_13)
              op \(y_15: f64, x_16: f64) : (f64) ->
                let (z_17: f64) = f64.add x_16 y_15
                in (z_17)
              neutral (0.0f64)
          let (longer_back_18: [more_8]f64) = concat (first_10, scanned_back_14)
          let (before_19: [n_0]f64) = slice longer_back_18 [0i64 :+ n_0 * 1i64]
          let (rs_20: [n_0]f64) = slice before_19 [last_9 :+ n_0 * -1i64]
          let (ys_21: [n_0]f64) =
            map n_0 (ls_12, rs_20)
              \(l_22: f64, r_23: f64) : (f64) ->
                let (y_24: f64) = f64.mul l_22 r_23
                in (y_24)
          in (ys_21)
    "#]],
    );
}

#[test]
fn sides_that_are_needed_by_themselves_stay() {
    let program = both_sides(
        "mul",
        "1.0f64",
        r"let (ys: [n]f64) = map n (ls, rs) \(l: f64, r: f64) : (f64) ->
              let (z: f64) = f64.mul l r
              let (y: f64) = f64.add z l
              in (y)
            in (ys)",
    );
    check(
        &program,
        expect![[r#"
        def f (n_0: i64, c_1: f64, xs_2: [n_0]f64) : (ys_3: [n_0]f64) =
          let (scanned_4: [n_0]f64) =
            scan n_0 (xs_2)
              op \(x_5: f64, y_6: f64) : (f64) ->
                let (z_7: f64) = f64.mul x_5 y_6
                in (z_7)
              neutral (1.0f64)
          let (more_8: i64) = i64.add n_0 1i64
          let (last_9: i64) = i64.sub n_0 1i64
          let (first_10: [1i64]f64) = array f64 (1.0f64)
          let (longer_11: [more_8]f64) = concat (first_10, scanned_4)
          let (ls_12: [n_0]f64) = slice longer_11 [0i64 :+ n_0 * 1i64]
          let (turned_13: [n_0]f64) = slice xs_2 [last_9 :+ n_0 * -1i64]
          let (scanned_back_14: [n_0]f64) =
            scan n_0 (turned_13)
              op \(y_15: f64, x_16: f64) : (f64) ->
                let (z_17: f64) = f64.mul x_16 y_15
                in (z_17)
              neutral (1.0f64)
          let (longer_back_18: [more_8]f64) = concat (first_10, scanned_back_14)
          let (before_19: [n_0]f64) = slice longer_back_18 [0i64 :+ n_0 * 1i64]
          let (rs_20: [n_0]f64) = slice before_19 [last_9 :+ n_0 * -1i64]
          let (ys_21: [n_0]f64) =
            map n_0 (ls_12, rs_20)
              \(l_22: f64, r_23: f64) : (f64) ->
                let (z_24: f64) = f64.mul l_22 r_23
                let (y_25: f64) = f64.add z_24 l_22
                in (y_25)
          in (ys_21)
    "#]],
    );
}
