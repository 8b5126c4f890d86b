//! What loops keep that choose among numbers, as text.

mod text;

use expect_test::expect;
use text::check;

#[test]
fn a_loop_that_is_linear_but_for_choices_keeps_these() {
    check(
        r"def f (n: i64, k: i64, w: [n][k]f64, xs: [k]f64, ct: [k]f64) : (adj: [n][k]f64) =
            let (js: [k]i64) = iota i64 k 0i64 1i64
            let (r: [k]f64, adj: [n][k]f64) = vjp (w) (ct) \(v: [n][k]f64) : ([k]f64) ->
              let (last: [k]f64) = loop (ys: [k]f64 = xs) for i: i64 < n do
                let (zs: [k]f64) = map k (js) \(j: i64) : (f64) ->
                  let (a: f64) = ys[j]
                  let (b: f64) = ys[0i64]
                  let (least: f64) = f64.min a b
                  let (more: f64) = v[i, j]
                  let (z: f64) = f64.add least more
                  in (z)
                in (zs)
              in (last)
            in (adj)",
        expect![[r#"
            def f (n_0: i64, k_1: i64, w_2: [n_0][k_1]f64, xs_3: [k_1]f64, ct_4: [k_1]f64) : (adj_5: [n_0][k_1]f64) =
              let (js_6: [k_1]i64) = iota i64 k_1 0i64 1i64
              let (v_9: [n_0][k_1]f64) = w_2
              let (max_20: i64) = i64.max n_0 0i64
              let (saved_47: [max_20][k_1]i8) = scratch i8 [max_20, k_1]
              let (last_10: [k_1]f64, saved_49: [max_20][k_1]i8) =
                loop (ys_11: [k_1]f64 = xs_3, saved_48: [max_20][k_1]i8 = saved_47) for i_12: i64 < n_0 do
                  let (zs_13: [k_1]f64) =
                    map k_1 (js_6)
                      \(j_14: i64) : (f64) ->
                        let (a_15: f64) = ys_11[j_14]
                        let (b_16: f64) = ys_11[0i64]
                        let (least_17: f64) = f64.min a_15 b_16
                        let (more_18: f64) = v_9[i_12, j_14]
                        let (z_19: f64) = f64.add least_17 more_18
                        in (z_19)
                  let (codes_29: [k_1]i8) =
                    map k_1 (js_6)
                      \(j_21: i64) : (i8) ->
                        let (a_22: f64) = ys_11[j_21] certified
                        let (b_23: f64) = ys_11[0i64] certified
                        let (least_24: f64) = f64.min a_22 b_23
                        let (eq_27: bool) = f64.eq least_24 a_22
                        let (i8_28: i8) = bool.to_i8 eq_27
                        in (i8_28)
                  let (saved_51: [max_20][k_1]i8) = saved_48 with [i_12] = codes_29 certified
                  in (zs_13, saved_51)
              let (zeros_53: [n_0][k_1]f64) = replicate [n_0, k_1] 0.0f64
              let (ys_adj_136: [k_1]f64, adj_137: [n_0][k_1]f64) =
                loop (ys_adj_52: [k_1]f64 = ct_4, adj_54: [n_0][k_1]f64 = zeros_53) for j_55: i64 < max_20 do
                  let (sub_56: i64) = i64.sub max_20 1i64
                  let (sub_57: i64) = i64.sub sub_56 j_55
                  let (known_89: [k_1]i8) = saved_49[sub_57] certified
                  let (codes_67: [k_1]i8) = known_89
                  let (zeros_91: [k_1]f64) = replicate [k_1] 0.0f64
                  let (adj_134: [k_1]f64, adj_135: [n_0][k_1]f64) =
                    with_acc
                      over [k_1] (zeros_91)
                        op \(x_92: f64, y_93: f64) : (f64) ->
                          let (add_94: f64) = f64.add x_92 y_93
                          in (add_94)
                        neutral (0.0f64)
                      over [n_0, k_1] (adj_54)
                        op \(x_96: f64, y_97: f64) : (f64) ->
                          let (add_98: f64) = f64.add x_96 y_97
                          in (add_98)
                        neutral (0.0f64)
                      body \(acc_95: acc [k_1] (f64), acc_99: acc [n_0, k_1] (f64)) : (acc [k_1] (f64), acc [n_0, k_1] (f64)) ->
                        let (adj_132: acc [k_1] (f64), adj_133: acc [n_0, k_1] (f64)) =
                          map k_1 (js_6, codes_67, ys_adj_52, acc_95, acc_99)
                            \(j_100: i64, code_101: i8, ct_120: f64, acc_121: acc [k_1] (f64), acc_122: acc [n_0, k_1] (f64)) : (acc [k_1] (f64), acc [n_0, k_1] (f64)) ->
                              let (and_102: i8) = i8.and code_101 1i8
                              let (eq_103: bool) = i8.eq and_102 0i8
                              let (not_104: bool) = bool.not eq_103
                              let (acc_124: acc [n_0, k_1] (f64)) = update_acc acc_122 [sub_57, j_100] (ct_120)
                              let (not_125: bool) = bool.not not_104
                              let (chosen_126: f64) =
                                if not_104 then
                                  in (1.0f64)
                                else
                                  in (0.0f64)
                              let (mul_127: f64) = f64.mul chosen_126 ct_120
                              let (chosen_128: f64) =
                                if not_125 then
                                  in (1.0f64)
                                else
                                  in (0.0f64)
                              let (mul_129: f64) = f64.mul chosen_128 ct_120
                              let (acc_130: acc [k_1] (f64)) = update_acc acc_121 [0i64] (mul_129)
                              let (acc_131: acc [k_1] (f64)) = update_acc acc_130 [j_100] (mul_127)
                              in (acc_131, acc_124)
                        in (adj_132, adj_133)
                  in (adj_134, adj_135)
              let (r_7: [k_1]f64) = last_10
              let (adj_8: [n_0][k_1]f64) = adj_137
              in (adj_8)
        "#]],
    );
}

#[test]
fn a_loop_whose_factors_are_its_own_numbers_keeps_these() {
    check(
        r"def f (n: i64, k: i64, xs: [k]f64, ct: [k]f64) : (adj: [k]f64) =
            let (r: [k]f64, adj: [k]f64) = vjp (xs) (ct) \(y0: [k]f64) : ([k]f64) ->
              let (last: [k]f64) = loop (ys: [k]f64 = y0) for i: i64 < n do
                let (zs: [k]f64) = map k (ys) \(y: f64) : (f64) ->
                  let (least: f64) = f64.min y 1.0f64
                  let (z: f64) = f64.mul least y
                  in (z)
                in (zs)
              in (last)
            in (adj)",
        expect![[r#"
            def f (n_0: i64, k_1: i64, xs_2: [k_1]f64, ct_3: [k_1]f64) : (adj_4: [k_1]f64) =
              let (y0_7: [k_1]f64) = xs_2
              let (max_15: i64) = i64.max n_0 0i64
              let (saved_16: [max_15][k_1]f64) = scratch f64 [max_15, k_1]
              let (last_8: [k_1]f64, saved_18: [max_15][k_1]f64) =
                loop (ys_9: [k_1]f64 = y0_7, saved_17: [max_15][k_1]f64 = saved_16) for i_10: i64 < n_0 do
                  let (saved_19: [max_15][k_1]f64) = saved_17 with [i_10] = ys_9 certified
                  let (zs_11: [k_1]f64) =
                    map k_1 (ys_9)
                      \(y_12: f64) : (f64) ->
                        let (least_13: f64) = f64.min y_12 1.0f64
                        let (z_14: f64) = f64.mul least_13 y_12
                        in (z_14)
                  in (zs_11, saved_19)
              let (ys_adj_42: [k_1]f64) =
                loop (ys_adj_20: [k_1]f64 = ct_3) for j_21: i64 < max_15 do
                  let (sub_22: i64) = i64.sub max_15 1i64
                  let (sub_23: i64) = i64.sub sub_22 j_21
                  let (ys_24: [k_1]f64) = saved_18[sub_23] certified
                  let (adj_41: [k_1]f64) =
                    map k_1 (ys_24, ys_adj_20)
                      \(y_29: f64, ct_32: f64) : (f64) ->
                        let (least_30: f64) = f64.min y_29 1.0f64
                        let (mul_33: f64) = f64.mul y_29 ct_32
                        let (mul_34: f64) = f64.mul least_30 ct_32
                        let (eq_35: bool) = f64.eq least_30 y_29
                        let (chosen_37: f64) =
                          if eq_35 then
                            in (1.0f64)
                          else
                            in (0.0f64)
                        let (mul_39: f64) = f64.mul chosen_37 mul_33
                        let (add_40: f64) = f64.add mul_34 mul_39
                        in (add_40)
                  in (adj_41)
              let (r_5: [k_1]f64) = last_8
              let (adj_6: [k_1]f64) = ys_adj_42
              in (adj_6)
        "#]],
    );
}

#[test]
fn a_branch_with_a_square_needs_its_numbers() {
    check(
        r"def f (n: i64, k: i64, xs: [k]f64, ct: [k]f64) : (adj: [k]f64) =
            let (r: [k]f64, adj: [k]f64) = vjp (xs) (ct) \(y0: [k]f64) : ([k]f64) ->
              let (last: [k]f64) = loop (ys: [k]f64 = y0) for i: i64 < n do
                let (zs: [k]f64) = map k (ys) \(y: f64) : (f64) ->
                  let (c: bool) = f64.lt y 1.0f64
                  let (z: f64) =
                    if c then
                      let (a: f64) = f64.add y 1.0f64
                      let (b: f64) = f64.mul a a
                      in (b)
                    else
                      in (y)
                  in (z)
                in (zs)
              in (last)
            in (adj)",
        expect![[r#"
            def f (n_0: i64, k_1: i64, xs_2: [k_1]f64, ct_3: [k_1]f64) : (adj_4: [k_1]f64) =
              let (y0_7: [k_1]f64) = xs_2
              let (max_17: i64) = i64.max n_0 0i64
              let (saved_18: [max_17][k_1]f64) = scratch f64 [max_17, k_1]
              let (last_8: [k_1]f64, saved_20: [max_17][k_1]f64) =
                loop (ys_9: [k_1]f64 = y0_7, saved_19: [max_17][k_1]f64 = saved_18) for i_10: i64 < n_0 do
                  let (saved_21: [max_17][k_1]f64) = saved_19 with [i_10] = ys_9 certified
                  let (zs_11: [k_1]f64) =
                    map k_1 (ys_9)
                      \(y_12: f64) : (f64) ->
                        let (c_13: bool) = f64.lt y_12 1.0f64
                        let (z_14: f64) =
                          if c_13 then
                            let (a_15: f64) = f64.add y_12 1.0f64
                            let (b_16: f64) = f64.mul a_15 a_15
                            in (b_16)
                          else
                            in (y_12)
                        in (z_14)
                  in (zs_11, saved_21)
              let (ys_adj_47: [k_1]f64) =
                loop (ys_adj_22: [k_1]f64 = ct_3) for j_23: i64 < max_17 do
                  let (sub_24: i64) = i64.sub max_17 1i64
                  let (sub_25: i64) = i64.sub sub_24 j_23
                  let (ys_26: [k_1]f64) = saved_20[sub_25] certified
                  let (adj_46: [k_1]f64) =
                    map k_1 (ys_26, ys_adj_22)
                      \(y_33: f64, ct_38: f64) : (f64) ->
                        let (c_34: bool) = f64.lt y_33 1.0f64
                        let (adj_45: f64) =
                          if c_34 then
                            let (a_39: f64) = f64.add y_33 1.0f64
                            let (mul_42: f64) = f64.mul a_39 ct_38
                            let (mul_43: f64) = f64.mul a_39 ct_38
                            let (add_44: f64) = f64.add mul_42 mul_43
                            in (add_44)
                          else
                            in (ct_38)
                        in (adj_45)
                  in (adj_46)
              let (r_5: [k_1]f64) = last_8
              let (adj_6: [k_1]f64) = ys_adj_47
              in (adj_6)
        "#]],
    );
}
