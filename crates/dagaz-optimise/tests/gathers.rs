//! Arrays of which few elements are read, as text.

use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_optimise::{check_without_reading, compute_what_is_read, insert_copies, remove_dead_code};
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
              let (mul_11: i64) = i64.mul m_1 3i64
              let (mul_12: i64) = i64.mul n_0 2i64
              let (le_13: bool) = i64.le mul_11 mul_12
              let (zs_8: [m_1]f64) =
                if le_13 then
                  let (sub_27: i64) = i64.sub n_0 1i64
                  let (at_31: [m_1]i64) =
                    map m_1 (is_3)
                      \(i_28: i64) : (i64) ->
                        let (max_29: i64) = i64.max i_28 0i64
                        let (min_30: i64) = i64.min max_29 sub_27
                        in (min_30)
                  let (read_34: [m_1]f64) =
                    map m_1 (at_31)
                      \(i_32: i64) : (f64) ->
                        let (elem_33: f64) = xs_2[i_32] certified
                        in (elem_33)
                  let (ys_37: [m_1]f64) =
                    map m_1 (read_34)
                      \(x_35: f64) : (f64) ->
                        let (y_36: f64) = f64.exp x_35
                        in (y_36)
                  let (range_38: [m_1]i64) = iota i64 m_1 0i64 1i64
                  let (zs_45: [m_1]f64) =
                    map m_1 (is_3, range_38)
                      \(i_39: i64, j_40: i64) : (f64) ->
                        let (le_41: bool) = i64.le 0i64 i_39
                        let (lt_42: bool) = i64.lt i_39 n_0
                        let (and_43: bool) = bool.and le_41 lt_42
                        let () = assert and_43 ("Index [", i_39, "] out of bounds for array of shape ", "[", n_0, "]", ".")
                        let (z_44: f64) = ys_37[j_40] certified
                        in (z_44)
                  in (zs_45)
                else
                  let (ys_48: [n_0]f64) =
                    map n_0 (xs_2)
                      \(x_46: f64) : (f64) ->
                        let (y_47: f64) = f64.exp x_46
                        in (y_47)
                  let (zs_51: [m_1]f64) =
                    map m_1 (is_3)
                      \(i_49: i64) : (f64) ->
                        let (z_50: f64) = ys_48[i_49]
                        in (z_50)
                  in (zs_51)
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
              let (mul_30: i64) = i64.mul m_1 3i64
              let (mul_31: i64) = i64.mul n_0 2i64
              let (le_32: bool) = i64.le mul_30 mul_31
              let (zs_24: [m_1]f64) =
                if le_32 then
                  let (at_51: [m_1]i64) =
                    map m_1 (is_5)
                      \(i_49: i32) : (i64) ->
                        let (at_50: i64) = i32.to_i64 i_49
                        in (at_50)
                  let (sub_52: i64) = i64.sub n_0 1i64
                  let (at_56: [m_1]i64) =
                    map m_1 (at_51)
                      \(i_53: i64) : (i64) ->
                        let (max_54: i64) = i64.max i_53 0i64
                        let (min_55: i64) = i64.min max_54 sub_52
                        in (min_55)
                  let (read_59: [m_1][k_2]f64) =
                    map m_1 (at_56)
                      \(i_57: i64) : ([k_2]f64) ->
                        let (elem_58: [k_2]f64) = xs_4[i_57] certified
                        in (elem_58)
                  let (columns_60: [k_2][m_1]f64) = rearrange (1, 0) read_59
                  let (zeros_61: [m_1]f64) = replicate [m_1] 0.0f64
                  let (sums_69: [m_1]f64) =
                    loop (s_62: [m_1]f64 = zeros_61) for j_63: i64 < k_2 do
                      let (column_64: [m_1]f64) = columns_60[j_63] certified
                      let (t_68: [m_1]f64) =
                        map m_1 (s_62, column_64)
                          \(a_65: f64, b_66: f64) : (f64) ->
                            let (d_67: f64) = f64.add a_65 b_66
                            in (d_67)
                      in (t_68)
                  let (both_70: [2i64][m_1]f64) = array [m_1]f64 (sums_69, sums_69)
                  let (chosen_76: [2i64][m_1]f64) =
                    if c_3 then
                      in (both_70)
                    else
                      let (negated_75: [2i64][m_1]f64) =
                        map 2i64 (both_70)
                          \(row_71: [m_1]f64) : ([m_1]f64) ->
                            let (new_74: [m_1]f64) =
                              map m_1 (row_71)
                                \(x_72: f64) : (f64) ->
                                  let (y_73: f64) = f64.neg x_72
                                  in (y_73)
                            in (new_74)
                      in (negated_75)
                  let (range_77: [m_1]i64) = iota i64 m_1 0i64 1i64
                  let (zs_87: [m_1]f64) =
                    map m_1 (is_5, range_77)
                      \(i_78: i32, j_79: i64) : (f64) ->
                        let (at_80: i64) = i32.to_i64 i_78
                        let (a_81: f64) = chosen_76[0i64, j_79] certified
                        let (le_82: bool) = i64.le 0i64 at_80
                        let (lt_83: bool) = i64.lt at_80 n_0
                        let (and_84: bool) = bool.and le_82 lt_83
                        let () = assert and_84 ("Index [", 1i64, ", ", at_80, "] out of bounds for array of shape ", "[", 2i64, "]", "[", n_0, "]", ".")
                        let (b_85: f64) = chosen_76[1i64, j_79] certified
                        let (z_86: f64) = f64.mul a_81 b_85
                        in (z_86)
                  in (zs_87)
                else
                  let (columns_88: [k_2][n_0]f64) = rearrange (1, 0) xs_4
                  let (zeros_89: [n_0]f64) = replicate [n_0] 0.0f64
                  let (sums_97: [n_0]f64) =
                    loop (s_90: [n_0]f64 = zeros_89) for j_91: i64 < k_2 do
                      let (column_92: [n_0]f64) = columns_88[j_91] certified
                      let (t_96: [n_0]f64) =
                        map n_0 (s_90, column_92)
                          \(a_93: f64, b_94: f64) : (f64) ->
                            let (d_95: f64) = f64.add a_93 b_94
                            in (d_95)
                      in (t_96)
                  let (both_98: [2i64][n_0]f64) = array [n_0]f64 (sums_97, sums_97)
                  let (chosen_104: [2i64][n_0]f64) =
                    if c_3 then
                      in (both_98)
                    else
                      let (negated_103: [2i64][n_0]f64) =
                        map 2i64 (both_98)
                          \(row_99: [n_0]f64) : ([n_0]f64) ->
                            let (new_102: [n_0]f64) =
                              map n_0 (row_99)
                                \(x_100: f64) : (f64) ->
                                  let (y_101: f64) = f64.neg x_100
                                  in (y_101)
                            in (new_102)
                      in (negated_103)
                  let (zs_110: [m_1]f64) =
                    map m_1 (is_5)
                      \(i_105: i32) : (f64) ->
                        let (at_106: i64) = i32.to_i64 i_105
                        let (a_107: f64) = chosen_104[0i64, at_106] certified
                        let (b_108: f64) = chosen_104[1i64, at_106]
                        let (z_109: f64) = f64.mul a_107 b_108
                        in (z_109)
                  in (zs_110)
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
              let (mul_20: i64) = i64.mul add_19 3i64
              let (mul_21: i64) = i64.mul n_0 2i64
              let (le_22: bool) = i64.le mul_20 mul_21
              let (zs_8: [k_2][m_1]f64) =
                if le_22 then
                  let (at_36: [add_19]i64) = concat (is_5, js_6)
                  let (sub_37: i64) = i64.sub n_0 1i64
                  let (at_41: [add_19]i64) =
                    map add_19 (at_36)
                      \(i_38: i64) : (i64) ->
                        let (max_39: i64) = i64.max i_38 0i64
                        let (min_40: i64) = i64.min max_39 sub_37
                        in (min_40)
                  let (read_44: [add_19]f64) =
                    map add_19 (at_41)
                      \(i_42: i64) : (f64) ->
                        let (elem_43: f64) = xs_3[i_42] certified
                        in (elem_43)
                  let (zs_59: [k_2][m_1]f64) =
                    map k_2 (ys_4)
                      \(y_45: f64) : ([m_1]f64) ->
                        let (scaled_48: [add_19]f64) =
                          map add_19 (read_44)
                            \(x_46: f64) : (f64) ->
                              let (p_47: f64) = f64.mul x_46 y_45
                              in (p_47)
                        let (range_49: [m_1]i64) = iota i64 m_1 0i64 1i64
                        let (differences_58: [m_1]f64) =
                          map m_1 (is_5, js_6, range_49)
                            \(i_50: i64, j_51: i64, j_52: i64) : (f64) ->
                              let (add_53: i64) = i64.add m_1 j_52
                              let (add_54: i64) = i64.add m_1 m_1
                              let (a_55: f64) = scaled_48[j_52] certified
                              let (b_56: f64) = scaled_48[add_53] certified
                              let (d_57: f64) = f64.sub a_55 b_56
                              in (d_57)
                        in (differences_58)
                  in (zs_59)
                else
                  let (zs_70: [k_2][m_1]f64) =
                    map k_2 (ys_4)
                      \(y_60: f64) : ([m_1]f64) ->
                        let (scaled_63: [n_0]f64) =
                          map n_0 (xs_3)
                            \(x_61: f64) : (f64) ->
                              let (p_62: f64) = f64.mul x_61 y_60
                              in (p_62)
                        let (differences_69: [m_1]f64) =
                          map m_1 (is_5, js_6)
                            \(i_64: i64, j_65: i64) : (f64) ->
                              let (a_66: f64) = scaled_63[i_64] certified
                              let (b_67: f64) = scaled_63[j_65] certified
                              let (d_68: f64) = f64.sub a_66 b_67
                              in (d_68)
                        in (differences_69)
                  in (zs_70)
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
              let (mul_18: i64) = i64.mul m_1 3i64
              let (mul_19: i64) = i64.mul n_0 2i64
              let (le_20: bool) = i64.le mul_18 mul_19
              let (zs_10: [k_2][m_1]f64) =
                if le_20 then
                  let (sub_34: i64) = i64.sub n_0 1i64
                  let (at_38: [m_1]i64) =
                    map m_1 (is_5)
                      \(i_35: i64) : (i64) ->
                        let (max_36: i64) = i64.max i_35 0i64
                        let (min_37: i64) = i64.min max_36 sub_34
                        in (min_37)
                  let (read_41: [m_1]f64) =
                    map m_1 (at_38)
                      \(i_39: i64) : (f64) ->
                        let (elem_40: f64) = xs_3[i_39] certified
                        in (elem_40)
                  let (squares_44: [m_1]f64) =
                    map m_1 (read_41)
                      \(x_42: f64) : (f64) ->
                        let (s_43: f64) = f64.mul x_42 x_42
                        in (s_43)
                  let (read_45: [m_1]f64) = squares_44
                  let (zs_55: [k_2][m_1]f64) =
                    map k_2 (ys_4)
                      \(y_46: f64) : ([m_1]f64) ->
                        let (scaled_49: [m_1]f64) =
                          map m_1 (read_45)
                            \(x_47: f64) : (f64) ->
                              let (p_48: f64) = f64.mul x_47 y_46
                              in (p_48)
                        let (range_50: [m_1]i64) = iota i64 m_1 0i64 1i64
                        let (some_54: [m_1]f64) =
                          map m_1 (is_5, range_50)
                            \(i_51: i64, j_52: i64) : (f64) ->
                              let (a_53: f64) = scaled_49[j_52] certified
                              in (a_53)
                        in (some_54)
                  in (zs_55)
                else
                  let (squares_58: [n_0]f64) =
                    map n_0 (xs_3)
                      \(x_56: f64) : (f64) ->
                        let (s_57: f64) = f64.mul x_56 x_56
                        in (s_57)
                  let (zs_66: [k_2][m_1]f64) =
                    map k_2 (ys_4)
                      \(y_59: f64) : ([m_1]f64) ->
                        let (scaled_62: [n_0]f64) =
                          map n_0 (squares_58)
                            \(x_60: f64) : (f64) ->
                              let (p_61: f64) = f64.mul x_60 y_59
                              in (p_61)
                        let (some_65: [m_1]f64) =
                          map m_1 (is_5)
                            \(i_63: i64) : (f64) ->
                              let (a_64: f64) = scaled_62[i_63] certified
                              in (a_64)
                        in (some_65)
                  in (zs_66)
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
    remove_dead_code(&mut program);
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
              let (mul_23: i64) = i64.mul add_22 3i64
              let (mul_24: i64) = i64.mul n_0 2i64
              let (le_25: bool) = i64.le mul_23 mul_24
              let (zs_16: [m_1]f64) =
                if le_25 then
                  let (at_49: [add_22]i64) = concat (is_3, is_3)
                  let (sub_50: i64) = i64.sub n_0 1i64
                  let (at_54: [add_22]i64) =
                    map add_22 (at_49)
                      \(i_51: i64) : (i64) ->
                        let (max_52: i64) = i64.max i_51 0i64
                        let (min_53: i64) = i64.min max_52 sub_50
                        in (min_53)
                  let (read_57: [add_22]f64) =
                    map add_22 (at_54)
                      \(i_55: i64) : (f64) ->
                        let (elem_56: f64) = xs_2[i_55] certified
                        in (elem_56)
                  let (ys_60: [add_22]f64) =
                    map add_22 (read_57)
                      \(x_58: f64) : (f64) ->
                        let (y_59: f64) = f64.add x_58 x_58
                        in (y_59)
                  let (range_61: [m_1]i64) = iota i64 m_1 0i64 1i64
                  let (ws_70: [m_1]f64) =
                    map m_1 (is_3, range_61)
                      \(i_62: i64, j_63: i64) : (f64) ->
                        let (add_64: i64) = i64.add m_1 j_63
                        let (add_65: i64) = i64.add m_1 m_1
                        let (le_66: bool) = i64.le 0i64 i_62
                        let (lt_67: bool) = i64.lt i_62 n_0
                        let (and_68: bool) = bool.and le_66 lt_67
                        let () = assert and_68 ("Index [", i_62, "] out of bounds for array of shape ", "[", n_0, "]", ".")
                        let (w_69: f64) = ys_60[j_63] certified
                        in (w_69)
                  let (ns_71: [n_0]f64) = reshape [n_0] ws_70
                  let (vs_74: [n_0]f64) =
                    map n_0 (ns_71)
                      \(a_72: f64) : (f64) ->
                        let (v_73: f64) = f64.neg a_72
                        in (v_73)
                  let (range_75: [m_1]i64) = iota i64 m_1 0i64 1i64
                  let (zs_86: [m_1]f64) =
                    map m_1 (is_3, range_75)
                      \(i_76: i64, j_77: i64) : (f64) ->
                        let (add_78: i64) = i64.add m_1 j_77
                        let (add_79: i64) = i64.add m_1 m_1
                        let (z_80: f64) = vs_74[i_76]
                        let (le_81: bool) = i64.le 0i64 i_76
                        let (lt_82: bool) = i64.lt i_76 n_0
                        let (and_83: bool) = bool.and le_81 lt_82
                        let () = assert and_83 ("Index [", i_76, "] out of bounds for array of shape ", "[", n_0, "]", ".")
                        let (y_84: f64) = ys_60[add_78] certified
                        let (x_85: f64) = f64.add z_80 y_84
                        in (x_85)
                  in (zs_86)
                else
                  let (ys_89: [n_0]f64) =
                    map n_0 (xs_2)
                      \(x_87: f64) : (f64) ->
                        let (y_88: f64) = f64.add x_87 x_87
                        in (y_88)
                  let (ws_92: [m_1]f64) =
                    map m_1 (is_3)
                      \(i_90: i64) : (f64) ->
                        let (w_91: f64) = ys_89[i_90]
                        in (w_91)
                  let (ns_93: [n_0]f64) = reshape [n_0] ws_92
                  let (vs_96: [n_0]f64) =
                    map n_0 (ns_93)
                      \(a_94: f64) : (f64) ->
                        let (v_95: f64) = f64.neg a_94
                        in (v_95)
                  let (zs_101: [m_1]f64) =
                    map m_1 (is_3)
                      \(i_97: i64) : (f64) ->
                        let (z_98: f64) = vs_96[i_97]
                        let (y_99: f64) = ys_89[i_97]
                        let (x_100: f64) = f64.add z_98 y_99
                        in (x_100)
                  in (zs_101)
              let (s_21: f64) = f64.add 1.0f64 1.0f64
              in (zs_16, s_21)
        "#]],
    );
}
