//! What loops keep for their return sweeps, as text.

mod text;

use expect_test::expect;
use text::check;

#[test]
fn what_a_loop_saves_is_not_computed_again() {
    check(
        r"def f (n: i64, k: i64, xs: [k]f64, ct: f64) : (adj: [k]f64) =
            let (s: f64, adj: [k]f64) = vjp (xs) (ct) \(ys: [k]f64) : (f64) ->
              let (last: [k]f64, total: f64) = loop (zs: [k]f64 = ys, sum: f64 = 0.0f64) for i: i64 < n do
                let (next: [k]f64) = map k (zs) \(z: f64) : (f64) ->
                  let (e: f64) = f64.sin z
                  in (e)
                let (first: f64) = next[0i64]
                let (square: f64) = f64.mul first first
                let (more: f64) = f64.add sum square
                in (next, more)
              in (total)
            in (adj)",
        expect![[r#"
            def f (n_0: i64, k_1: i64, xs_2: [k_1]f64, ct_3: f64) : (adj_4: [k_1]f64) =
              let (ys_7: [k_1]f64) = xs_2
              let (max_19: i64) = i64.max n_0 0i64
              let (add_20: i64) = i64.add max_19 1i64
              let (saved_21: [add_20][k_1]f64) = scratch f64 [add_20, k_1]
              let (last_8: [k_1]f64, total_9: f64, saved_23: [add_20][k_1]f64) =
                loop (zs_10: [k_1]f64 = ys_7, sum_11: f64 = 0.0f64, saved_22: [add_20][k_1]f64 = saved_21) for i_12: i64 < n_0 do
                  let (saved_27: [add_20][k_1]f64) = saved_22 with [i_12] = zs_10 certified
                  let (next_13: [k_1]f64) =
                    map k_1 (zs_10)
                      \(z_14: f64) : (f64) ->
                        let (e_15: f64) = f64.sin z_14
                        in (e_15)
                  let (first_16: f64) = next_13[0i64]
                  let (square_17: f64) = f64.mul first_16 first_16
                  let (more_18: f64) = f64.add sum_11 square_17
                  in (next_13, more_18, saved_27)
              let (saved_29: [add_20][k_1]f64) = saved_23 with [max_19] = last_8 certified
              let (zeros_30: [k_1]f64) = replicate [k_1] 0.0f64
              let (zs_adj_64: [k_1]f64, sum_adj_65: f64) =
                loop (zs_adj_31: [k_1]f64 = zeros_30, sum_adj_32: f64 = ct_3) for j_33: i64 < max_19 do
                  let (sub_34: i64) = i64.sub max_19 1i64
                  let (sub_35: i64) = i64.sub sub_34 j_33
                  let (zs_36: [k_1]f64) = saved_29[sub_35] certified
                  let (add_44: i64) = i64.add sub_35 1i64
                  let (known_45: [k_1]f64) = saved_29[add_44] certified
                  let (next_51: [k_1]f64) = known_45
                  let (next_40: [k_1]f64) = next_51
                  let (first_41: f64) = next_40[0i64] certified
                  let (mul_52: f64) = f64.mul first_41 sum_adj_32
                  let (mul_53: f64) = f64.mul first_41 sum_adj_32
                  let (add_54: f64) = f64.add mul_52 mul_53
                  let (part_55: f64) = zs_adj_31[0i64] certified
                  let (add_56: f64) = f64.add part_55 add_54
                  let (next_adj_57: [k_1]f64) = zs_adj_31 with [0i64] = add_56 certified
                  let (adj_63: [k_1]f64) =
                    map k_1 (zs_36, next_adj_57)
                      \(z_58: f64, ct_60: f64) : (f64) ->
                        let (cos_61: f64) = f64.cos z_58
                        let (mul_62: f64) = f64.mul cos_61 ct_60
                        in (mul_62)
                  in (adj_63, sum_adj_32)
              let (s_5: f64) = total_9
              let (adj_6: [k_1]f64) = zs_adj_64
              in (adj_6)
        "#]],
    );
}

#[test]
fn of_terms_that_take_long_to_compute_the_sum_is_kept() {
    check(
        r"def f (n: i64, k: i64, u: [k][k]f64, w: [k][k]f64, xs: [k]f64, ct: [k]f64) : (adj: [k]f64) =
            let (end: [k]f64, adj: [k]f64) = vjp (xs) (ct) \(ys: [k]f64) : ([k]f64) ->
              let (last: [k]f64) = loop (zs: [k]f64 = ys) for i: i64 < n do
                let (first: [k]f64) = map k (u) \(row_first: [k]f64) : (f64) ->
                  let (s_first: f64) = reduce k (row_first, zs)
                    pre \(a_first: f64, b_first: f64) : (f64) ->
                      let (p_first: f64) = f64.mul a_first b_first
                      in (p_first)
                    op \(c_first: f64, d_first: f64) : (f64) ->
                      let (e_first: f64) = f64.add c_first d_first
                      in (e_first)
                    neutral (0.0f64)
                  in (s_first)
                let (second: [k]f64) = map k (w) \(row_second: [k]f64) : (f64) ->
                  let (s_second: f64) = reduce k (row_second, zs)
                    pre \(a_second: f64, b_second: f64) : (f64) ->
                      let (p_second: f64) = f64.mul a_second b_second
                      in (p_second)
                    op \(c_second: f64, d_second: f64) : (f64) ->
                      let (e_second: f64) = f64.add c_second d_second
                      in (e_second)
                    neutral (0.0f64)
                  in (s_second)
                let (sums: [k]f64) = map k (first, second) \(x: f64, y: f64) : (f64) ->
                  let (z: f64) = f64.add x y
                  in (z)
                let (next: [k]f64) = map k (sums) \(d: f64) : (f64) ->
                  let (s: f64) = f64.sin d
                  in (s)
                in (next)
              in (last)
            in (adj)",
        expect![[r#"
            def f (n_0: i64, k_1: i64, u_2: [k_1][k_1]f64, w_3: [k_1][k_1]f64, xs_4: [k_1]f64, ct_5: [k_1]f64) : (adj_6: [k_1]f64) =
              let (ys_9: [k_1]f64) = xs_4
              let (max_40: i64) = i64.max n_0 0i64
              let (saved_44: [max_40][k_1]f64) = scratch f64 [max_40, k_1]
              let (last_10: [k_1]f64, saved_46: [max_40][k_1]f64) =
                loop (zs_11: [k_1]f64 = ys_9, saved_45: [max_40][k_1]f64 = saved_44) for i_12: i64 < n_0 do
                  let (first_13: [k_1]f64) =
                    map k_1 (u_2)
                      \(row_first_14: [k_1]f64) : (f64) ->
                        let (mapped_38: [k_1]f64) =
                          map k_1 (row_first_14, zs_11)
                            \(a_first_16: f64, b_first_17: f64) : (f64) ->
                              let (p_first_18: f64) = f64.mul a_first_16 b_first_17
                              in (p_first_18)
                        let (s_first_15: f64) =
                          reduce k_1 (mapped_38)
                            op \(c_first_19: f64, d_first_20: f64) : (f64) ->
                              let (e_first_21: f64) = f64.add c_first_19 d_first_20
                              in (e_first_21)
                            neutral (0.0f64)
                        in (s_first_15)
                  let (second_22: [k_1]f64) =
                    map k_1 (w_3)
                      \(row_second_23: [k_1]f64) : (f64) ->
                        let (mapped_39: [k_1]f64) =
                          map k_1 (row_second_23, zs_11)
                            \(a_second_25: f64, b_second_26: f64) : (f64) ->
                              let (p_second_27: f64) = f64.mul a_second_25 b_second_26
                              in (p_second_27)
                        let (s_second_24: f64) =
                          reduce k_1 (mapped_39)
                            op \(c_second_28: f64, d_second_29: f64) : (f64) ->
                              let (e_second_30: f64) = f64.add c_second_28 d_second_29
                              in (e_second_30)
                            neutral (0.0f64)
                        in (s_second_24)
                  let (sums_31: [k_1]f64) =
                    map k_1 (first_13, second_22)
                      \(x_32: f64, y_33: f64) : (f64) ->
                        let (z_34: f64) = f64.add x_32 y_33
                        in (z_34)
                  let (next_35: [k_1]f64) =
                    map k_1 (sums_31)
                      \(d_36: f64) : (f64) ->
                        let (s_37: f64) = f64.sin d_36
                        in (s_37)
                  let (saved_48: [max_40][k_1]f64) = saved_45 with [i_12] = sums_31 certified
                  in (next_35, saved_48)
              let (zs_adj_161: [k_1]f64) =
                loop (zs_adj_49: [k_1]f64 = ct_5) for j_50: i64 < max_40 do
                  let (sub_51: i64) = i64.sub max_40 1i64
                  let (sub_52: i64) = i64.sub sub_51 j_50
                  let (known_81: [k_1]f64) = saved_46[sub_52] certified
                  let (sums_87: [k_1]f64) = known_81
                  let (sums_77: [k_1]f64) = sums_87
                  let (adj_93: [k_1]f64) =
                    map k_1 (sums_77, zs_adj_49)
                      \(d_88: f64, ct_90: f64) : (f64) ->
                        let (cos_91: f64) = f64.cos d_88
                        let (mul_92: f64) = f64.mul cos_91 ct_90
                        in (mul_92)
                  let (adj_98: [k_1]f64, adj_99: [k_1]f64) =
                    map k_1 (adj_93)
                      \(ct_97: f64) : (f64, f64) ->
                        in (ct_97, ct_97)
                  let (zeros_100: [k_1]f64) = replicate [k_1] 0.0f64
                  let (adj_130: [k_1]f64) =
                    with_acc
                      over [k_1] (zeros_100)
                        op \(x_101: f64, y_102: f64) : (f64) ->
                          let (add_103: f64) = f64.add x_101 y_102
                          in (add_103)
                        neutral (0.0f64)
                      body \(acc_104: acc [k_1] (f64)) : (acc [k_1] (f64)) ->
                        let (adj_129: acc [k_1] (f64)) =
                          map k_1 (w_3, adj_99, acc_104)
                            \(row_second_105: [k_1]f64, ct_114: f64, acc_115: acc [k_1] (f64)) : (acc [k_1] (f64)) ->
                              let (ct_116: [k_1]f64) = replicate [k_1] ct_114
                              let (adj_122: [k_1]f64) =
                                map k_1 (row_second_105, ct_116)
                                  \(a_second_117: f64, ct_120: f64) : (f64) ->
                                    let (mul_121: f64) = f64.mul a_second_117 ct_120
                                    in (mul_121)
                              let (iota_123: [k_1]i64) = iota i64 k_1 0i64 1i64
                              let (acc_128: acc [k_1] (f64)) =
                                map k_1 (iota_123, adj_122, acc_115)
                                  \(i_124: i64, ct_125: f64, acc_126: acc [k_1] (f64)) : (acc [k_1] (f64)) ->
                                    let (acc_127: acc [k_1] (f64)) = update_acc acc_126 [i_124] (ct_125)
                                    in (acc_127)
                              in (acc_128)
                        in (adj_129)
                  let (adj_160: [k_1]f64) =
                    with_acc
                      over [k_1] (adj_130)
                        op \(x_131: f64, y_132: f64) : (f64) ->
                          let (add_133: f64) = f64.add x_131 y_132
                          in (add_133)
                        neutral (0.0f64)
                      body \(acc_134: acc [k_1] (f64)) : (acc [k_1] (f64)) ->
                        let (adj_159: acc [k_1] (f64)) =
                          map k_1 (u_2, adj_98, acc_134)
                            \(row_first_135: [k_1]f64, ct_144: f64, acc_145: acc [k_1] (f64)) : (acc [k_1] (f64)) ->
                              let (ct_146: [k_1]f64) = replicate [k_1] ct_144
                              let (adj_152: [k_1]f64) =
                                map k_1 (row_first_135, ct_146)
                                  \(a_first_147: f64, ct_150: f64) : (f64) ->
                                    let (mul_151: f64) = f64.mul a_first_147 ct_150
                                    in (mul_151)
                              let (iota_153: [k_1]i64) = iota i64 k_1 0i64 1i64
                              let (acc_158: acc [k_1] (f64)) =
                                map k_1 (iota_153, adj_152, acc_145)
                                  \(i_154: i64, ct_155: f64, acc_156: acc [k_1] (f64)) : (acc [k_1] (f64)) ->
                                    let (acc_157: acc [k_1] (f64)) = update_acc acc_156 [i_154] (ct_155)
                                    in (acc_157)
                              in (acc_158)
                        in (adj_159)
                  in (adj_160)
              let (end_7: [k_1]f64) = last_10
              let (adj_8: [k_1]f64) = zs_adj_161
              in (adj_8)
        "#]],
    );
}

#[test]
fn a_loop_keeps_what_takes_long_to_compute() {
    // The dot products of rows are kept, since there are as many as elements of the state; the square is computed again.
    check(
        r"def f (n: i64, k: i64, w: [k][k]f64, xs: [k]f64, ct: [k]f64) : (adj: [k]f64) =
            let (end: [k]f64, adj: [k]f64) = vjp (xs) (ct) \(ys: [k]f64) : ([k]f64) ->
              let (last: [k]f64) = loop (zs: [k]f64 = ys) for i: i64 < n do
                let (dots: [k]f64) = map k (w) \(row: [k]f64) : (f64) ->
                  let (products: [k]f64) = map k (row, zs) \(a: f64, b: f64) : (f64) ->
                    let (p: f64) = f64.mul a b
                    in (p)
                  let (sum: f64) = reduce k (products)
                    op \(a: f64, b: f64) : (f64) ->
                      let (c: f64) = f64.add a b
                      in (c)
                    neutral (0.0f64)
                  in (sum)
                let (next: [k]f64) = map k (dots) \(d: f64) : (f64) ->
                  let (square: f64) = f64.mul d d
                  let (s: f64) = f64.sin square
                  in (s)
                in (next)
              in (last)
            in (adj)",
        expect![[r#"
            def f (n_0: i64, k_1: i64, w_2: [k_1][k_1]f64, xs_3: [k_1]f64, ct_4: [k_1]f64) : (adj_5: [k_1]f64) =
              let (ys_8: [k_1]f64) = xs_3
              let (max_26: i64) = i64.max n_0 0i64
              let (saved_30: [max_26][k_1]f64) = scratch f64 [max_26, k_1]
              let (last_9: [k_1]f64, saved_32: [max_26][k_1]f64) =
                loop (zs_10: [k_1]f64 = ys_8, saved_31: [max_26][k_1]f64 = saved_30) for i_11: i64 < n_0 do
                  let (dots_12: [k_1]f64) =
                    map k_1 (w_2)
                      \(row_13: [k_1]f64) : (f64) ->
                        let (products_14: [k_1]f64) =
                          map k_1 (row_13, zs_10)
                            \(a_15: f64, b_16: f64) : (f64) ->
                              let (p_17: f64) = f64.mul a_15 b_16
                              in (p_17)
                        let (sum_18: f64) =
                          reduce k_1 (products_14)
                            op \(a_19: f64, b_20: f64) : (f64) ->
                              let (c_21: f64) = f64.add a_19 b_20
                              in (c_21)
                            neutral (0.0f64)
                        in (sum_18)
                  let (next_22: [k_1]f64) =
                    map k_1 (dots_12)
                      \(d_23: f64) : (f64) ->
                        let (square_24: f64) = f64.mul d_23 d_23
                        let (s_25: f64) = f64.sin square_24
                        in (s_25)
                  let (saved_34: [max_26][k_1]f64) = saved_31 with [i_11] = dots_12 certified
                  in (next_22, saved_34)
              let (zs_adj_102: [k_1]f64) =
                loop (zs_adj_35: [k_1]f64 = ct_4) for j_36: i64 < max_26 do
                  let (sub_37: i64) = i64.sub max_26 1i64
                  let (sub_38: i64) = i64.sub sub_37 j_36
                  let (known_54: [k_1]f64) = saved_32[sub_38] certified
                  let (dots_60: [k_1]f64) = known_54
                  let (dots_49: [k_1]f64) = dots_60
                  let (adj_70: [k_1]f64) =
                    map k_1 (dots_49, zs_adj_35)
                      \(d_61: f64, ct_64: f64) : (f64) ->
                        let (square_62: f64) = f64.mul d_61 d_61
                        let (cos_65: f64) = f64.cos square_62
                        let (mul_66: f64) = f64.mul cos_65 ct_64
                        let (mul_67: f64) = f64.mul d_61 mul_66
                        let (mul_68: f64) = f64.mul d_61 mul_66
                        let (add_69: f64) = f64.add mul_67 mul_68
                        in (add_69)
                  let (zeros_71: [k_1]f64) = replicate [k_1] 0.0f64
                  let (adj_101: [k_1]f64) =
                    with_acc
                      over [k_1] (zeros_71)
                        op \(x_72: f64, y_73: f64) : (f64) ->
                          let (add_74: f64) = f64.add x_72 y_73
                          in (add_74)
                        neutral (0.0f64)
                      body \(acc_75: acc [k_1] (f64)) : (acc [k_1] (f64)) ->
                        let (adj_100: acc [k_1] (f64)) =
                          map k_1 (w_2, adj_70, acc_75)
                            \(row_76: [k_1]f64, ct_85: f64, acc_86: acc [k_1] (f64)) : (acc [k_1] (f64)) ->
                              let (ct_87: [k_1]f64) = replicate [k_1] ct_85
                              let (adj_93: [k_1]f64) =
                                map k_1 (row_76, ct_87)
                                  \(a_88: f64, ct_91: f64) : (f64) ->
                                    let (mul_92: f64) = f64.mul a_88 ct_91
                                    in (mul_92)
                              let (iota_94: [k_1]i64) = iota i64 k_1 0i64 1i64
                              let (acc_99: acc [k_1] (f64)) =
                                map k_1 (iota_94, adj_93, acc_86)
                                  \(i_95: i64, ct_96: f64, acc_97: acc [k_1] (f64)) : (acc [k_1] (f64)) ->
                                    let (acc_98: acc [k_1] (f64)) = update_acc acc_97 [i_95] (ct_96)
                                    in (acc_98)
                              in (acc_99)
                        in (adj_100)
                  in (adj_101)
              let (end_6: [k_1]f64) = last_9
              let (adj_7: [k_1]f64) = zs_adj_102
              in (adj_7)
        "#]],
    );
}

#[test]
fn an_inner_loop_runs_once_where_its_tape_is_small() {
    // What the rows of the state held is kept by both loops, so that the return sweep runs neither again.
    check(
        r"def f (n: i64, m: i64, k: i64, xs: [m][k]f64, ct: [m][k]f64) : (adj: [m][k]f64) =
            let (end: [m][k]f64, adj: [m][k]f64) = vjp (xs) (ct) \(ys: [m][k]f64) : ([m][k]f64) ->
              let (last: [m][k]f64) = loop (zs: [m][k]f64 = ys) for i: i64 < n do
                let (inner: [m][k]f64) = loop (ws: [m][k]f64 = zs) for j: i64 < m do
                  let (row: [k]f64) = ws[j]
                  let (new: [k]f64) = map k (row) \(r: f64) : (f64) ->
                    let (s: f64) = f64.sin r
                    in (s)
                  let (next: [m][k]f64) = ws with [j] = new
                  in (next)
                in (inner)
              in (last)
            in (adj)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, xs_3: [m_1][k_2]f64, ct_4: [m_1][k_2]f64) : (adj_5: [m_1][k_2]f64) =
              let (ys_8: [m_1][k_2]f64) = xs_3
              let (max_20: i64) = i64.max n_0 0i64
              let (max_36: i64) = i64.max m_1 0i64
              let (saved_37: [max_20][max_36][k_2]f64) = scratch f64 [max_20, max_36, k_2]
              let (last_9: [m_1][k_2]f64, saved_39: [max_20][max_36][k_2]f64) =
                loop (zs_10: [m_1][k_2]f64 = ys_8, saved_38: [max_20][max_36][k_2]f64 = saved_37) for i_11: i64 < n_0 do
                  let (max_21: i64) = i64.max m_1 0i64
                  let (undo_22: [max_21][k_2]f64) = scratch f64 [max_21, k_2]
                  let (inner_12: [m_1][k_2]f64, undo_24: [max_21][k_2]f64) =
                    loop (ws_13: [m_1][k_2]f64 = zs_10, undo_23: [max_21][k_2]f64 = undo_22) for j_14: i64 < m_1 do
                      let (row_15: [k_2]f64) = ws_13[j_14]
                      let (new_16: [k_2]f64) =
                        map k_2 (row_15)
                          \(r_17: f64) : (f64) ->
                            let (s_18: f64) = f64.sin r_17
                            in (s_18)
                      let (old_26: [k_2]f64) = ws_13[j_14]
                      let (undo_27: [max_21][k_2]f64) = undo_23 with [j_14] = old_26 certified
                      let (next_19: [m_1][k_2]f64) = ws_13 with [j_14] = new_16
                      in (next_19, undo_27)
                  let (undo_51: [max_36][k_2]f64) = reshape [max_36, k_2] undo_24
                  let (saved_52: [max_20][max_36][k_2]f64) = saved_38 with [i_11] = undo_51 certified
                  in (inner_12, saved_52)
              let (zs_adj_109: [m_1][k_2]f64, zs_110: [m_1][k_2]f64) =
                loop (zs_adj_53: [m_1][k_2]f64 = ct_4, zs_54: [m_1][k_2]f64 = last_9) for j_55: i64 < max_20 do
                  let (sub_56: i64) = i64.sub max_20 1i64
                  let (sub_57: i64) = i64.sub sub_56 j_55
                  let (tape_76: [max_36][k_2]f64) = saved_39[sub_57] certified
                  let (max_77: i64) = i64.max m_1 0i64
                  let (inner_75: [m_1][k_2]f64) = zs_54
                  let (ws_adj_107: [m_1][k_2]f64, ws_108: [m_1][k_2]f64) =
                    loop (ws_adj_78: [m_1][k_2]f64 = zs_adj_53, ws_79: [m_1][k_2]f64 = inner_75) for j_80: i64 < max_77 do
                      let (sub_81: i64) = i64.sub max_77 1i64
                      let (sub_82: i64) = i64.sub sub_81 j_80
                      let (at_84: [k_2]f64) = tape_76[sub_82] certified
                      let (ws_85: [m_1][k_2]f64) = ws_79 with [sub_82] = at_84 certified
                      let (row_86: [k_2]f64) = ws_85[sub_82] certified
                      let (part_91: [k_2]f64) = ws_adj_78[sub_82] certified
                      let (part_92: [k_2]f64) = copy part_91
                      let (zeros_93: [k_2]f64) = replicate [k_2] 0.0f64
                      let (ct_94: [m_1][k_2]f64) = ws_adj_78 with [sub_82] = zeros_93 certified
                      let (adj_100: [k_2]f64) =
                        map k_2 (row_86, part_92)
                          \(r_95: f64, ct_97: f64) : (f64) ->
                            let (cos_98: f64) = f64.cos r_95
                            let (mul_99: f64) = f64.mul cos_98 ct_97
                            in (mul_99)
                      let (part_101: [k_2]f64) = ct_94[sub_82] certified
                      let (sum_105: [k_2]f64) =
                        map k_2 (part_101, adj_100)
                          \(x_102: f64, y_103: f64) : (f64) ->
                            let (add_104: f64) = f64.add x_102 y_103
                            in (add_104)
                      let (ws_adj_106: [m_1][k_2]f64) = ct_94 with [sub_82] = sum_105 certified
                      in (ws_adj_106, ws_85)
                  in (ws_adj_107, ws_108)
              let (end_6: [m_1][k_2]f64) = last_9
              let (adj_7: [m_1][k_2]f64) = zs_adj_109
              in (adj_7)
        "#]],
    );
}

/// The body calls a function, whose result has another name there.
#[test]
fn what_a_function_makes_and_uses_is_not_computed_again() {
    check(
        r"def step (k: i64, zs: [k]f64, sum: f64) : (next: [k]f64, more: f64) =
            let (next: [k]f64) = map k (zs) \(z: f64) : (f64) ->
              let (e: f64) = f64.sin z
              in (e)
            let (first: f64) = next[0i64]
            let (square: f64) = f64.mul first first
            let (more: f64) = f64.add sum square
            in (next, more)
          def f (n: i64, k: i64, xs: [k]f64, ct: f64) : (adj: [k]f64) =
            let (s: f64, adj: [k]f64) = vjp (xs) (ct) \(ys: [k]f64) : (f64) ->
              let (last: [k]f64, total: f64) = loop (zs: [k]f64 = ys, sum: f64 = 0.0f64) for i: i64 < n do
                let (next: [k]f64, more: f64) = call step (k, zs, sum)
                in (next, more)
              in (total)
            in (adj)",
        expect![[r#"
            def step (k_0: i64, zs_1: [k_0]f64, sum_2: f64) : (next_3: [k_0]f64, more_4: f64) =
              let (next_5: [k_0]f64) =
                map k_0 (zs_1)
                  \(z_6: f64) : (f64) ->
                    let (e_7: f64) = f64.sin z_6
                    in (e_7)
              let (first_8: f64) = next_5[0i64]
              let (square_9: f64) = f64.mul first_8 first_8
              let (more_10: f64) = f64.add sum_2 square_9
              in (next_5, more_10)

            def f (n_11: i64, k_12: i64, xs_13: [k_12]f64, ct_14: f64) : (adj_15: [k_12]f64) =
              let (ys_18: [k_12]f64) = xs_13
              let (max_32: i64) = i64.max n_11 0i64
              let (add_33: i64) = i64.add max_32 1i64
              let (saved_34: [add_33][k_12]f64) = scratch f64 [add_33, k_12]
              let (last_19: [k_12]f64, total_20: f64, saved_36: [add_33][k_12]f64) =
                loop (zs_21: [k_12]f64 = ys_18, sum_22: f64 = 0.0f64, saved_35: [add_33][k_12]f64 = saved_34) for i_23: i64 < n_11 do
                  let (saved_40: [add_33][k_12]f64) = saved_35 with [i_23] = zs_21 certified
                  let (next_28: [k_12]f64) =
                    map k_12 (zs_21)
                      \(z_26: f64) : (f64) ->
                        let (e_27: f64) = f64.sin z_26
                        in (e_27)
                  let (first_29: f64) = next_28[0i64]
                  let (square_30: f64) = f64.mul first_29 first_29
                  let (more_31: f64) = f64.add sum_22 square_30
                  in (next_28, more_31, saved_40)
              let (saved_42: [add_33][k_12]f64) = saved_36 with [max_32] = last_19 certified
              let (zeros_43: [k_12]f64) = replicate [k_12] 0.0f64
              let (zs_adj_79: [k_12]f64, sum_adj_80: f64) =
                loop (zs_adj_44: [k_12]f64 = zeros_43, sum_adj_45: f64 = ct_14) for j_46: i64 < max_32 do
                  let (sub_47: i64) = i64.sub max_32 1i64
                  let (sub_48: i64) = i64.sub sub_47 j_46
                  let (zs_49: [k_12]f64) = saved_42[sub_48] certified
                  let (add_59: i64) = i64.add sub_48 1i64
                  let (known_60: [k_12]f64) = saved_42[add_59] certified
                  let (next_66: [k_12]f64) = known_60
                  let (next_53: [k_12]f64) = next_66
                  let (first_54: f64) = next_53[0i64] certified
                  let (mul_67: f64) = f64.mul first_54 sum_adj_45
                  let (mul_68: f64) = f64.mul first_54 sum_adj_45
                  let (add_69: f64) = f64.add mul_67 mul_68
                  let (part_70: f64) = zs_adj_44[0i64] certified
                  let (add_71: f64) = f64.add part_70 add_69
                  let (next_adj_72: [k_12]f64) = zs_adj_44 with [0i64] = add_71 certified
                  let (adj_78: [k_12]f64) =
                    map k_12 (zs_49, next_adj_72)
                      \(z_73: f64, ct_75: f64) : (f64) ->
                        let (cos_76: f64) = f64.cos z_73
                        let (mul_77: f64) = f64.mul cos_76 ct_75
                        in (mul_77)
                  in (adj_78, sum_adj_45)
              let (s_16: f64) = total_20
              let (adj_17: [k_12]f64) = zs_adj_79
              in (adj_17)
        "#]],
    );
}

/// Nobody knows how much larger `p` is than `s`, but two vectors like `s` are all that is read of it.
#[test]
fn what_is_read_of_a_product_of_unknown_size_is_kept() {
    check(
        r"def f (n: i64, m: i64, k: i64, w: [m][k]f64, s0: [k]f64, ct: [k]f64) : (w_adj: [m][k]f64) =
            let (y: [k]f64, w_adj: [m][k]f64) = vjp (w) (ct) \(v: [m][k]f64) : ([k]f64) ->
              let (is: [k]i64) = iota i64 k 0i64 1i64
              let (r: [k]f64) =
                loop (s: [k]f64 = s0) for i: i64 < n do
                  let (p: [m]f64) = map m (v) \(row: [k]f64) : (f64) ->
                    let (qs: [k]f64) = map k (row, s) \(a: f64, b: f64) : (f64) ->
                      let (q: f64) = f64.mul a b
                      in (q)
                    let (sum: f64) = reduce k (qs)
                      op \(a: f64, b: f64) : (f64) ->
                        let (c: f64) = f64.add a b
                        in (c)
                      neutral (0.0f64)
                    in (sum)
                  let (g: [k]f64) = map k (is) \(j: i64) : (f64) ->
                    let (a: f64) = p[j]
                    let (l: i64) = i64.add j k
                    let (b: f64) = p[l]
                    let (c: f64) = f64.add a b
                    in (c)
                  let (t: [k]f64) = map k (g) \(a: f64) : (f64) ->
                    let (b: f64) = f64.tanh a
                    in (b)
                  in (t)
              in (r)
            in (w_adj)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, k_2: i64, w_3: [m_1][k_2]f64, s0_4: [k_2]f64, ct_5: [k_2]f64) : (w_adj_6: [m_1][k_2]f64) =
              let (v_9: [m_1][k_2]f64) = w_3
              let (is_10: [k_2]i64) = iota i64 k_2 0i64 1i64
              let (max_33: i64) = i64.max n_0 0i64
              let (saved_34: [max_33][k_2]f64) = scratch f64 [max_33, k_2]
              let (saved_37: [max_33][k_2]f64) = scratch f64 [max_33, k_2]
              let (r_11: [k_2]f64, saved_36: [max_33][k_2]f64, saved_39: [max_33][k_2]f64) =
                loop (s_12: [k_2]f64 = s0_4, saved_35: [max_33][k_2]f64 = saved_34, saved_38: [max_33][k_2]f64 = saved_37) for i_13: i64 < n_0 do
                  let (saved_40: [max_33][k_2]f64) = saved_35 with [i_13] = s_12 certified
                  let (p_14: [m_1]f64) =
                    map m_1 (v_9)
                      \(row_15: [k_2]f64) : (f64) ->
                        let (qs_16: [k_2]f64) =
                          map k_2 (row_15, s_12)
                            \(a_17: f64, b_18: f64) : (f64) ->
                              let (q_19: f64) = f64.mul a_17 b_18
                              in (q_19)
                        let (sum_20: f64) =
                          reduce k_2 (qs_16)
                            op \(a_21: f64, b_22: f64) : (f64) ->
                              let (c_23: f64) = f64.add a_21 b_22
                              in (c_23)
                            neutral (0.0f64)
                        in (sum_20)
                  let (g_24: [k_2]f64) =
                    map k_2 (is_10)
                      \(j_25: i64) : (f64) ->
                        let (a_26: f64) = p_14[j_25]
                        let (l_27: i64) = i64.add j_25 k_2
                        let (b_28: f64) = p_14[l_27]
                        let (c_29: f64) = f64.add a_26 b_28
                        in (c_29)
                  let (t_30: [k_2]f64) =
                    map k_2 (g_24)
                      \(a_31: f64) : (f64) ->
                        let (b_32: f64) = f64.tanh a_31
                        in (b_32)
                  let (saved_41: [max_33][k_2]f64) = saved_38 with [i_13] = g_24 certified
                  in (t_30, saved_40, saved_41)
              let (zeros_43: [m_1][k_2]f64) = replicate [m_1, k_2] 0.0f64
              let (s_adj_148: [k_2]f64, adj_149: [m_1][k_2]f64) =
                loop (s_adj_42: [k_2]f64 = ct_5, adj_44: [m_1][k_2]f64 = zeros_43) for j_45: i64 < max_33 do
                  let (sub_46: i64) = i64.sub max_33 1i64
                  let (sub_47: i64) = i64.sub sub_46 j_45
                  let (s_48: [k_2]f64) = saved_36[sub_47] certified
                  let (known_68: [k_2]f64) = saved_39[sub_47] certified
                  let (g_74: [k_2]f64) = known_68
                  let (g_64: [k_2]f64) = g_74
                  let (adj_89: [k_2]f64) =
                    map k_2 (g_64, s_adj_42)
                      \(a_75: f64, ct_77: f64) : (f64) ->
                        let (lt_78: bool) = f64.lt a_75 0.0f64
                        let (mul_79: f64) = f64.mul 2.0f64 a_75
                        let (mul_80: f64) = f64.mul -2.0f64 a_75
                        let (chosen_81: f64) =
                          if lt_78 then
                            in (mul_79)
                          else
                            in (mul_80)
                        let (exp_82: f64) = f64.exp chosen_81
                        let (add_83: f64) = f64.add 1.0f64 exp_82
                        let (div_84: f64) = f64.div 1.0f64 add_83
                        let (mul_85: f64) = f64.mul div_84 div_84
                        let (mul_86: f64) = f64.mul 4.0f64 exp_82
                        let (mul_87: f64) = f64.mul mul_86 mul_85
                        let (mul_88: f64) = f64.mul mul_87 ct_77
                        in (mul_88)
                  let (zeros_90: [m_1]f64) = replicate [m_1] 0.0f64
                  let (adj_105: [m_1]f64) =
                    with_acc
                      over [m_1] (zeros_90)
                        op \(x_91: f64, y_92: f64) : (f64) ->
                          let (add_93: f64) = f64.add x_91 y_92
                          in (add_93)
                        neutral (0.0f64)
                      body \(acc_94: acc [m_1] (f64)) : (acc [m_1] (f64)) ->
                        let (adj_104: acc [m_1] (f64)) =
                          map k_2 (is_10, adj_89, acc_94)
                            \(j_95: i64, ct_100: f64, acc_101: acc [m_1] (f64)) : (acc [m_1] (f64)) ->
                              let (l_97: i64) = i64.add j_95 k_2
                              let (acc_102: acc [m_1] (f64)) = update_acc acc_101 [l_97] (ct_100)
                              let (acc_103: acc [m_1] (f64)) = update_acc acc_102 [j_95] (ct_100)
                              in (acc_103)
                        in (adj_104)
                  let (zeros_106: [k_2]f64) = replicate [k_2] 0.0f64
                  let (adj_139: [k_2]f64, adj_140: [m_1][k_2]f64) =
                    with_acc
                      over [k_2] (zeros_106)
                        op \(x_107: f64, y_108: f64) : (f64) ->
                          let (add_109: f64) = f64.add x_107 y_108
                          in (add_109)
                        neutral (0.0f64)
                      body \(acc_110: acc [k_2] (f64)) : (acc [k_2] (f64), [m_1][k_2]f64) ->
                        let (adj_137: acc [k_2] (f64), adj_138: [m_1][k_2]f64) =
                          map m_1 (v_9, adj_105, acc_110)
                            \(row_111: [k_2]f64, ct_120: f64, acc_121: acc [k_2] (f64)) : (acc [k_2] (f64), [k_2]f64) ->
                              let (ct_122: [k_2]f64) = replicate [k_2] ct_120
                              let (adj_129: [k_2]f64, adj_130: [k_2]f64) =
                                map k_2 (row_111, s_48, ct_122)
                                  \(a_123: f64, b_124: f64, ct_126: f64) : (f64, f64) ->
                                    let (mul_127: f64) = f64.mul b_124 ct_126
                                    let (mul_128: f64) = f64.mul a_123 ct_126
                                    in (mul_127, mul_128)
                              let (iota_131: [k_2]i64) = iota i64 k_2 0i64 1i64
                              let (acc_136: acc [k_2] (f64)) =
                                map k_2 (iota_131, adj_130, acc_121)
                                  \(i_132: i64, ct_133: f64, acc_134: acc [k_2] (f64)) : (acc [k_2] (f64)) ->
                                    let (acc_135: acc [k_2] (f64)) = update_acc acc_134 [i_132] (ct_133)
                                    in (acc_135)
                              in (acc_136, adj_129)
                        in (adj_137, adj_138)
                  let (sum_147: [m_1][k_2]f64) =
                    map m_1 (adj_44, adj_140)
                      \(x_141: [k_2]f64, y_142: [k_2]f64) : ([k_2]f64) ->
                        let (sum_146: [k_2]f64) =
                          map k_2 (x_141, y_142)
                            \(x_143: f64, y_144: f64) : (f64) ->
                              let (add_145: f64) = f64.add x_143 y_144
                              in (add_145)
                        in (sum_146)
                  in (adj_139, sum_147)
              let (y_7: [k_2]f64) = r_11
              let (w_adj_8: [m_1][k_2]f64) = adj_149
              in (w_adj_8)
        "#]],
    );
}
