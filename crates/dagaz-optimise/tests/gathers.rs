//! Arrays of which few elements are read, as text.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{check_without_reading, compute_what_is_read, eliminate_dead_code, insert_copies};
use expect_test::{Expect, expect};

fn check(input: &str, expected: Expect) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    compute_what_is_read(&mut program);
    insert_copies(&mut program);
    let text = print_without_locs(&program);
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
    expected.assert_eq(&text);
}

#[test]
fn a_map_that_is_read_at_some_places() {
    check(
        r"def f (n: i64, m: i64, xs: [n]f64, is: [m]i64) : (zs: [m]f64) =
            let (ys: [n]f64) =
              map n (xs)
                \(x: f64) : (f64) ->
                  let (y: f64) = f64.exp x
                  in (y)
            let (zs: [m]f64) =
              map m (is)
                \(i: i64) : (f64) ->
                  let (z: f64) = ys[i]
                  in (z)
            in (zs)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, xs_2: [n_0]f64, is_3: [m_1]i64) : (zs_4: [m_1]f64) =
              let (mul_11: i64) = i64.mul m_1 2i64
              let (le_12: bool) = i64.le mul_11 n_0
              let (zs_8: [m_1]f64) =
                if le_12 then
                  let (sub_26: i64) = i64.sub n_0 1i64
                  let (at_30: [m_1]i64) =
                    map m_1 (is_3)
                      \(i_27: i64) : (i64) ->
                        let (max_28: i64) = i64.max i_27 0i64
                        let (min_29: i64) = i64.min max_28 sub_26
                        in (min_29)
                  let (read_33: [m_1]f64) =
                    map m_1 (at_30)
                      \(i_31: i64) : (f64) ->
                        let (elem_32: f64) = xs_2[i_31] certified
                        in (elem_32)
                  let (ys_36: [m_1]f64) =
                    map m_1 (read_33)
                      \(x_34: f64) : (f64) ->
                        let (y_35: f64) = f64.exp x_34
                        in (y_35)
                  let (range_37: [m_1]i64) = iota i64 m_1 0i64 1i64
                  let (zs_44: [m_1]f64) =
                    map m_1 (is_3, range_37)
                      \(i_38: i64, j_39: i64) : (f64) ->
                        let (le_40: bool) = i64.le 0i64 i_38
                        let (lt_41: bool) = i64.lt i_38 n_0
                        let (and_42: bool) = bool.and le_40 lt_41
                        let () = assert and_42 ("Index [", i_38, "] out of bounds for array of shape ", "[", n_0, "]", ".")
                        let (z_43: f64) = ys_36[j_39] certified
                        in (z_43)
                  in (zs_44)
                else
                  let (ys_47: [n_0]f64) =
                    map n_0 (xs_2)
                      \(x_45: f64) : (f64) ->
                        let (y_46: f64) = f64.exp x_45
                        in (y_46)
                  let (zs_50: [m_1]f64) =
                    map m_1 (is_3)
                      \(i_48: i64) : (f64) ->
                        let (z_49: f64) = ys_47[i_48]
                        in (z_49)
                  in (zs_50)
              in (zs_8)
        "#]],
    );
}

#[test]
fn dimensions_branches_loops_and_changes_of_shape_on_the_way() {
    check(
        r"def f (n: i64, m: i64, k: i64, c: bool, xs: [n][k]f64, is: [m]i32) : (zs: [m]f64) =
            let (columns: [k][n]f64) = rearrange (1, 0) xs
            let (zeros: [n]f64) = replicate [n] 0.0f64
            let (sums: [n]f64) =
              loop (s: [n]f64 = zeros) for j: i64 < k do
                let (column: [n]f64) = columns[j] certified
                let (t: [n]f64) =
                  map n (s, column)
                    \(a: f64, b: f64) : (f64) ->
                      let (d: f64) = f64.add a b
                      in (d)
                in (t)
            let (both: [2i64][n]f64) = array [n]f64 (sums, sums)
            let (chosen: [2i64][n]f64) =
              if c then
                in (both)
              else
                let (negated: [2i64][n]f64) =
                  map 2i64 (both)
                    \(row: [n]f64) : ([n]f64) ->
                      let (new: [n]f64) =
                        map n (row)
                          \(x: f64) : (f64) ->
                            let (y: f64) = f64.neg x
                            in (y)
                      in (new)
                in (negated)
            let (zs: [m]f64) =
              map m (is)
                \(i: i32) : (f64) ->
                  let (at: i64) = i32.to_i64 i
                  let (a: f64) = chosen[0i64, at] certified
                  let (b: f64) = chosen[1i64, at]
                  let (z: f64) = f64.mul a b
                  in (z)
            in (zs)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, c_3: bool, xs_4: [n_0][k_2]f64, is_5: [m_1]i32) : (zs_6: [m_1]f64) =
              let (mul_30: i64) = i64.mul m_1 2i64
              let (le_31: bool) = i64.le mul_30 n_0
              let (zs_24: [m_1]f64) =
                if le_31 then
                  let (at_50: [m_1]i64) =
                    map m_1 (is_5)
                      \(i_48: i32) : (i64) ->
                        let (at_49: i64) = i32.to_i64 i_48
                        in (at_49)
                  let (sub_51: i64) = i64.sub n_0 1i64
                  let (at_55: [m_1]i64) =
                    map m_1 (at_50)
                      \(i_52: i64) : (i64) ->
                        let (max_53: i64) = i64.max i_52 0i64
                        let (min_54: i64) = i64.min max_53 sub_51
                        in (min_54)
                  let (read_58: [m_1][k_2]f64) =
                    map m_1 (at_55)
                      \(i_56: i64) : ([k_2]f64) ->
                        let (elem_57: [k_2]f64) = xs_4[i_56] certified
                        in (elem_57)
                  let (columns_59: [k_2][m_1]f64) = rearrange (1, 0) read_58
                  let (zeros_60: [m_1]f64) = replicate [m_1] 0.0f64
                  let (sums_68: [m_1]f64) =
                    loop (s_61: [m_1]f64 = zeros_60) for j_62: i64 < k_2 do
                      let (column_63: [m_1]f64) = columns_59[j_62] certified
                      let (t_67: [m_1]f64) =
                        map m_1 (s_61, column_63)
                          \(a_64: f64, b_65: f64) : (f64) ->
                            let (d_66: f64) = f64.add a_64 b_65
                            in (d_66)
                      in (t_67)
                  let (both_69: [2i64][m_1]f64) = array [m_1]f64 (sums_68, sums_68)
                  let (chosen_75: [2i64][m_1]f64) =
                    if c_3 then
                      in (both_69)
                    else
                      let (negated_74: [2i64][m_1]f64) =
                        map 2i64 (both_69)
                          \(row_70: [m_1]f64) : ([m_1]f64) ->
                            let (new_73: [m_1]f64) =
                              map m_1 (row_70)
                                \(x_71: f64) : (f64) ->
                                  let (y_72: f64) = f64.neg x_71
                                  in (y_72)
                            in (new_73)
                      in (negated_74)
                  let (range_76: [m_1]i64) = iota i64 m_1 0i64 1i64
                  let (zs_86: [m_1]f64) =
                    map m_1 (is_5, range_76)
                      \(i_77: i32, j_78: i64) : (f64) ->
                        let (at_79: i64) = i32.to_i64 i_77
                        let (a_80: f64) = chosen_75[0i64, j_78] certified
                        let (le_81: bool) = i64.le 0i64 at_79
                        let (lt_82: bool) = i64.lt at_79 n_0
                        let (and_83: bool) = bool.and le_81 lt_82
                        let () = assert and_83 ("Index [", 1i64, ", ", at_79, "] out of bounds for array of shape ", "[", 2i64, "]", "[", n_0, "]", ".")
                        let (b_84: f64) = chosen_75[1i64, j_78] certified
                        let (z_85: f64) = f64.mul a_80 b_84
                        in (z_85)
                  in (zs_86)
                else
                  let (columns_87: [k_2][n_0]f64) = rearrange (1, 0) xs_4
                  let (zeros_88: [n_0]f64) = replicate [n_0] 0.0f64
                  let (sums_96: [n_0]f64) =
                    loop (s_89: [n_0]f64 = zeros_88) for j_90: i64 < k_2 do
                      let (column_91: [n_0]f64) = columns_87[j_90] certified
                      let (t_95: [n_0]f64) =
                        map n_0 (s_89, column_91)
                          \(a_92: f64, b_93: f64) : (f64) ->
                            let (d_94: f64) = f64.add a_92 b_93
                            in (d_94)
                      in (t_95)
                  let (both_97: [2i64][n_0]f64) = array [n_0]f64 (sums_96, sums_96)
                  let (chosen_103: [2i64][n_0]f64) =
                    if c_3 then
                      in (both_97)
                    else
                      let (negated_102: [2i64][n_0]f64) =
                        map 2i64 (both_97)
                          \(row_98: [n_0]f64) : ([n_0]f64) ->
                            let (new_101: [n_0]f64) =
                              map n_0 (row_98)
                                \(x_99: f64) : (f64) ->
                                  let (y_100: f64) = f64.neg x_99
                                  in (y_100)
                            in (new_101)
                      in (negated_102)
                  let (zs_109: [m_1]f64) =
                    map m_1 (is_5)
                      \(i_104: i32) : (f64) ->
                        let (at_105: i64) = i32.to_i64 i_104
                        let (a_106: f64) = chosen_103[0i64, at_105] certified
                        let (b_107: f64) = chosen_103[1i64, at_105]
                        let (z_108: f64) = f64.mul a_106 b_107
                        in (z_108)
                  in (zs_109)
              in (zs_24)
        "#]],
    );
}

#[test]
fn inside_of_a_map_the_choice_is_made_before_it() {
    check(
        r"def f (n: i64, m: i64, k: i64, xs: [n]f64, ys: [k]f64, is: [m]i64, js: [m]i64) : (zs: [k][m]f64) =
            let (zs: [k][m]f64) =
              map k (ys)
                \(y: f64) : ([m]f64) ->
                  let (scaled: [n]f64) =
                    map n (xs)
                      \(x: f64) : (f64) ->
                        let (p: f64) = f64.mul x y
                        in (p)
                  let (differences: [m]f64) =
                    map m (is, js)
                      \(i: i64, j: i64) : (f64) ->
                        let (a: f64) = scaled[i] certified
                        let (b: f64) = scaled[j] certified
                        let (d: f64) = f64.sub a b
                        in (d)
                  in (differences)
            in (zs)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, xs_3: [n_0]f64, ys_4: [k_2]f64, is_5: [m_1]i64, js_6: [m_1]i64) : (zs_7: [k_2][m_1]f64) =
              let (add_19: i64) = i64.add m_1 m_1
              let (mul_20: i64) = i64.mul add_19 2i64
              let (le_21: bool) = i64.le mul_20 n_0
              let (zs_8: [k_2][m_1]f64) =
                if le_21 then
                  let (at_35: [add_19]i64) = concat (is_5, js_6)
                  let (sub_36: i64) = i64.sub n_0 1i64
                  let (at_40: [add_19]i64) =
                    map add_19 (at_35)
                      \(i_37: i64) : (i64) ->
                        let (max_38: i64) = i64.max i_37 0i64
                        let (min_39: i64) = i64.min max_38 sub_36
                        in (min_39)
                  let (read_43: [add_19]f64) =
                    map add_19 (at_40)
                      \(i_41: i64) : (f64) ->
                        let (elem_42: f64) = xs_3[i_41] certified
                        in (elem_42)
                  let (zs_58: [k_2][m_1]f64) =
                    map k_2 (ys_4)
                      \(y_44: f64) : ([m_1]f64) ->
                        let (scaled_47: [add_19]f64) =
                          map add_19 (read_43)
                            \(x_45: f64) : (f64) ->
                              let (p_46: f64) = f64.mul x_45 y_44
                              in (p_46)
                        let (range_48: [m_1]i64) = iota i64 m_1 0i64 1i64
                        let (differences_57: [m_1]f64) =
                          map m_1 (is_5, js_6, range_48)
                            \(i_49: i64, j_50: i64, j_51: i64) : (f64) ->
                              let (add_52: i64) = i64.add m_1 j_51
                              let (add_53: i64) = i64.add m_1 m_1
                              let (a_54: f64) = scaled_47[j_51] certified
                              let (b_55: f64) = scaled_47[add_52] certified
                              let (d_56: f64) = f64.sub a_54 b_55
                              in (d_56)
                        in (differences_57)
                  in (zs_58)
                else
                  let (zs_69: [k_2][m_1]f64) =
                    map k_2 (ys_4)
                      \(y_59: f64) : ([m_1]f64) ->
                        let (scaled_62: [n_0]f64) =
                          map n_0 (xs_3)
                            \(x_60: f64) : (f64) ->
                              let (p_61: f64) = f64.mul x_60 y_59
                              in (p_61)
                        let (differences_68: [m_1]f64) =
                          map m_1 (is_5, js_6)
                            \(i_63: i64, j_64: i64) : (f64) ->
                              let (a_65: f64) = scaled_62[i_63] certified
                              let (b_66: f64) = scaled_62[j_64] certified
                              let (d_67: f64) = f64.sub a_65 b_66
                              in (d_67)
                        in (differences_68)
                  in (zs_69)
              in (zs_8)
        "#]],
    );
}

#[test]
fn what_the_map_takes_is_computed_at_the_same_places() {
    check(
        r"def f (n: i64, m: i64, k: i64, xs: [n]f64, ys: [k]f64, is: [m]i64) : (zs: [k][m]f64) =
            let (squares: [n]f64) =
              map n (xs)
                \(x: f64) : (f64) ->
                  let (s: f64) = f64.mul x x
                  in (s)
            let (zs: [k][m]f64) =
              map k (ys)
                \(y: f64) : ([m]f64) ->
                  let (scaled: [n]f64) =
                    map n (squares)
                      \(x: f64) : (f64) ->
                        let (p: f64) = f64.mul x y
                        in (p)
                  let (some: [m]f64) =
                    map m (is)
                      \(i: i64) : (f64) ->
                        let (a: f64) = scaled[i] certified
                        in (a)
                  in (some)
            in (zs)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, xs_3: [n_0]f64, ys_4: [k_2]f64, is_5: [m_1]i64) : (zs_6: [k_2][m_1]f64) =
              let (mul_18: i64) = i64.mul m_1 2i64
              let (le_19: bool) = i64.le mul_18 n_0
              let (zs_10: [k_2][m_1]f64) =
                if le_19 then
                  let (sub_33: i64) = i64.sub n_0 1i64
                  let (at_37: [m_1]i64) =
                    map m_1 (is_5)
                      \(i_34: i64) : (i64) ->
                        let (max_35: i64) = i64.max i_34 0i64
                        let (min_36: i64) = i64.min max_35 sub_33
                        in (min_36)
                  let (read_40: [m_1]f64) =
                    map m_1 (at_37)
                      \(i_38: i64) : (f64) ->
                        let (elem_39: f64) = xs_3[i_38] certified
                        in (elem_39)
                  let (squares_43: [m_1]f64) =
                    map m_1 (read_40)
                      \(x_41: f64) : (f64) ->
                        let (s_42: f64) = f64.mul x_41 x_41
                        in (s_42)
                  let (read_44: [m_1]f64) = squares_43
                  let (zs_54: [k_2][m_1]f64) =
                    map k_2 (ys_4)
                      \(y_45: f64) : ([m_1]f64) ->
                        let (scaled_48: [m_1]f64) =
                          map m_1 (read_44)
                            \(x_46: f64) : (f64) ->
                              let (p_47: f64) = f64.mul x_46 y_45
                              in (p_47)
                        let (range_49: [m_1]i64) = iota i64 m_1 0i64 1i64
                        let (some_53: [m_1]f64) =
                          map m_1 (is_5, range_49)
                            \(i_50: i64, j_51: i64) : (f64) ->
                              let (a_52: f64) = scaled_48[j_51] certified
                              in (a_52)
                        in (some_53)
                  in (zs_54)
                else
                  let (squares_57: [n_0]f64) =
                    map n_0 (xs_3)
                      \(x_55: f64) : (f64) ->
                        let (s_56: f64) = f64.mul x_55 x_55
                        in (s_56)
                  let (zs_65: [k_2][m_1]f64) =
                    map k_2 (ys_4)
                      \(y_58: f64) : ([m_1]f64) ->
                        let (scaled_61: [n_0]f64) =
                          map n_0 (squares_57)
                            \(x_59: f64) : (f64) ->
                              let (p_60: f64) = f64.mul x_59 y_58
                              in (p_60)
                        let (some_64: [m_1]f64) =
                          map m_1 (is_5)
                            \(i_62: i64) : (f64) ->
                              let (a_63: f64) = scaled_61[i_62] certified
                              in (a_63)
                        in (some_64)
                  in (zs_65)
              in (zs_10)
        "#]],
    );
}

/// Such programs stay as they are.
fn check_stays(input: &str) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    let before = print_without_locs(&program);
    assert!(!compute_what_is_read(&mut program));
    assert_eq!(before, print_without_locs(&program));
}

fn doubled(consumer: &str) -> String {
    format!(
        r"def f (n: i64, m: i64, xs: [n]f64, is: [m]i64) : (zs: [m]f64, s: f64) =
            let (ys: [n]f64) =
              map n (xs)
                \(x: f64) : (f64) ->
                  let (y: f64) = f64.add x x
                  in (y)
            {consumer}
            in (zs, s)"
    )
}

#[test]
fn what_is_used_as_a_whole_stays() {
    check_stays(&doubled(
        r"let (zs: [m]f64) =
            map m (is)
              \(i: i64) : (f64) ->
                let (z: f64) = ys[i]
                in (z)
          let (s: f64) = ys[0i64]",
    ));
}

#[test]
fn indices_that_only_count_stay() {
    check_stays(&doubled(
        r"let (range: [m]i64) = iota i64 m 0i64 1i64
          let (zs: [m]f64) =
            map m (range)
              \(i: i64) : (f64) ->
                let (j: i64) = i64.add i 1i64
                let (z: f64) = ys[j]
                in (z)
          let (s: f64) = f64.add 1.0f64 1.0f64",
    ));
}

#[test]
fn what_can_stop_the_program_stays() {
    check_stays(
        r"def f (n: i64, m: i64, xs: [n]i64, is: [m]i64) : (zs: [m]i64) =
            let (ys: [n]i64) =
              map n (xs)
                \(x: i64) : (i64) ->
                  let (y: i64) = i64.div 1i64 x
                  in (y)
            let (zs: [m]i64) =
              map m (is)
                \(i: i64) : (i64) ->
                  let (z: i64) = ys[i]
                  in (z)
            in (zs)",
    );
}

/// Like `check`, for arrays of which only the size is wanted.
fn check_checks(input: &str, expected: Expect) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    check_without_reading(&mut program);
    eliminate_dead_code(&mut program);
    let text = print_without_locs(&program);
    let errors = verify(&program);
    assert!(errors.is_empty(), "{}\n{text}", errors[0]);
    expected.assert_eq(&text);
}

#[test]
fn an_array_that_is_read_for_the_check_alone() {
    check_checks(
        &doubled(
            r"let (unused: f64) = ys[m]
          let (zs: [m]f64) = replicate [m] 0.0f64
          let (s: f64) = f64.add 1.0f64 1.0f64",
        ),
        expect![[r#"
            def f (n_0: i64, m_1: i64, xs_2: [n_0]f64, is_3: [m_1]i64) : (zs_4: [m_1]f64, s_5: f64) =
              let (le_12: bool) = i64.le 0i64 m_1
              let (lt_13: bool) = i64.lt m_1 n_0
              let (and_14: bool) = bool.and le_12 lt_13
              let () = assert and_14 ("Index [", m_1, "] out of bounds for array of shape ", "[", n_0, "]", ".")
              let (zs_10: [m_1]f64) = replicate [m_1] 0.0f64
              let (s_11: f64) = f64.add 1.0f64 1.0f64
              in (zs_10, s_11)
        "#]],
    );
}

#[test]
fn an_array_of_which_an_element_is_used() {
    check_checks(
        &doubled(
            r"let (unused: f64) = ys[m]
          let (zs: [m]f64) = replicate [m] 0.0f64
          let (s: f64) = ys[n]",
        ),
        expect![[r#"
            def f (n_0: i64, m_1: i64, xs_2: [n_0]f64, is_3: [m_1]i64) : (zs_4: [m_1]f64, s_5: f64) =
              let (ys_6: [n_0]f64) =
                map n_0 (xs_2)
                  \(x_7: f64) : (f64) ->
                    let (y_8: f64) = f64.add x_7 x_7
                    in (y_8)
              let (unused_9: f64) = ys_6[m_1]
              let (zs_10: [m_1]f64) = replicate [m_1] 0.0f64
              let (s_11: f64) = ys_6[n_0]
              in (zs_10, s_11)
        "#]],
    );
}

#[test]
fn what_depends_on_a_first_reader_comes_after_it() {
    check(
        &doubled(
            r"let (ws: [m]f64) =
            map m (is)
              \(i: i64) : (f64) ->
                let (w: f64) = ys[i]
                in (w)
          let (ns: [n]f64) = reshape [n] ws
          let (vs: [n]f64) =
            map n (ns)
              \(a: f64) : (f64) ->
                let (v: f64) = f64.neg a
                in (v)
          let (zs: [m]f64) =
            map m (is)
              \(i: i64) : (f64) ->
                let (z: f64) = vs[i]
                let (y: f64) = ys[i]
                let (x: f64) = f64.add z y
                in (x)
          let (s: f64) = f64.add 1.0f64 1.0f64",
        ),
        expect![[r#"
            def f (n_0: i64, m_1: i64, xs_2: [n_0]f64, is_3: [m_1]i64) : (zs_4: [m_1]f64, s_5: f64) =
              let (add_22: i64) = i64.add m_1 m_1
              let (mul_23: i64) = i64.mul add_22 2i64
              let (le_24: bool) = i64.le mul_23 n_0
              let (zs_16: [m_1]f64) =
                if le_24 then
                  let (at_48: [add_22]i64) = concat (is_3, is_3)
                  let (sub_49: i64) = i64.sub n_0 1i64
                  let (at_53: [add_22]i64) =
                    map add_22 (at_48)
                      \(i_50: i64) : (i64) ->
                        let (max_51: i64) = i64.max i_50 0i64
                        let (min_52: i64) = i64.min max_51 sub_49
                        in (min_52)
                  let (read_56: [add_22]f64) =
                    map add_22 (at_53)
                      \(i_54: i64) : (f64) ->
                        let (elem_55: f64) = xs_2[i_54] certified
                        in (elem_55)
                  let (ys_59: [add_22]f64) =
                    map add_22 (read_56)
                      \(x_57: f64) : (f64) ->
                        let (y_58: f64) = f64.add x_57 x_57
                        in (y_58)
                  let (range_60: [m_1]i64) = iota i64 m_1 0i64 1i64
                  let (ws_69: [m_1]f64) =
                    map m_1 (is_3, range_60)
                      \(i_61: i64, j_62: i64) : (f64) ->
                        let (add_63: i64) = i64.add m_1 j_62
                        let (add_64: i64) = i64.add m_1 m_1
                        let (le_65: bool) = i64.le 0i64 i_61
                        let (lt_66: bool) = i64.lt i_61 n_0
                        let (and_67: bool) = bool.and le_65 lt_66
                        let () = assert and_67 ("Index [", i_61, "] out of bounds for array of shape ", "[", n_0, "]", ".")
                        let (w_68: f64) = ys_59[j_62] certified
                        in (w_68)
                  let (ns_70: [n_0]f64) = reshape [n_0] ws_69
                  let (vs_73: [n_0]f64) =
                    map n_0 (ns_70)
                      \(a_71: f64) : (f64) ->
                        let (v_72: f64) = f64.neg a_71
                        in (v_72)
                  let (range_74: [m_1]i64) = iota i64 m_1 0i64 1i64
                  let (zs_85: [m_1]f64) =
                    map m_1 (is_3, range_74)
                      \(i_75: i64, j_76: i64) : (f64) ->
                        let (add_77: i64) = i64.add m_1 j_76
                        let (add_78: i64) = i64.add m_1 m_1
                        let (z_79: f64) = vs_73[i_75]
                        let (le_80: bool) = i64.le 0i64 i_75
                        let (lt_81: bool) = i64.lt i_75 n_0
                        let (and_82: bool) = bool.and le_80 lt_81
                        let () = assert and_82 ("Index [", i_75, "] out of bounds for array of shape ", "[", n_0, "]", ".")
                        let (y_83: f64) = ys_59[add_77] certified
                        let (x_84: f64) = f64.add z_79 y_83
                        in (x_84)
                  in (zs_85)
                else
                  let (ys_88: [n_0]f64) =
                    map n_0 (xs_2)
                      \(x_86: f64) : (f64) ->
                        let (y_87: f64) = f64.add x_86 x_86
                        in (y_87)
                  let (ws_91: [m_1]f64) =
                    map m_1 (is_3)
                      \(i_89: i64) : (f64) ->
                        let (w_90: f64) = ys_88[i_89]
                        in (w_90)
                  let (ns_92: [n_0]f64) = reshape [n_0] ws_91
                  let (vs_95: [n_0]f64) =
                    map n_0 (ns_92)
                      \(a_93: f64) : (f64) ->
                        let (v_94: f64) = f64.neg a_93
                        in (v_94)
                  let (zs_100: [m_1]f64) =
                    map m_1 (is_3)
                      \(i_96: i64) : (f64) ->
                        let (z_97: f64) = vs_95[i_96]
                        let (y_98: f64) = ys_88[i_96]
                        let (x_99: f64) = f64.add z_97 y_98
                        in (x_99)
                  in (zs_100)
              let (s_21: f64) = f64.add 1.0f64 1.0f64
              in (zs_16, s_21)
        "#]],
    );
}
