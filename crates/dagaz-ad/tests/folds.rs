//! The reverse derivatives of reductions, scans, histograms and scatters as text: Core in, Core out.

mod text;

use expect_test::expect;

use text::check;

#[test]
fn product_backwards_is_scanned_from_both_sides() {
    check(
        r"def f (n: i64, xs: [n]f64, ct: f64) : (xs_adj: [n]f64) =
            let (y: f64, xs_adj: [n]f64) = vjp (xs) (ct) \(as: [n]f64) : (f64) ->
              let (p: f64) = reduce n (as)
                op \(a: f64, b: f64) : (f64) ->
                  let (c: f64) = f64.mul a b
                  in (c)
                neutral (1.0f64)
              in (p)
            in (xs_adj)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, ct_2: f64) : (xs_adj_3: [n_0]f64) =
              let (as_6: [n_0]f64) = xs_1
              let (p_7: f64) =
                reduce n_0 (as_6)
                  op \(a_8: f64, b_9: f64) : (f64) ->
                    let (c_10: f64) = f64.mul a_8 b_9
                    in (c_10)
                  neutral (1.0f64)
              let (scanned_14: [n_0]f64) =
                scan n_0 (as_6)
                  op \(a_11: f64, b_12: f64) : (f64) ->
                    let (c_13: f64) = f64.mul a_11 b_12
                    in (c_13)
                  neutral (1.0f64)
              let (add_15: i64) = i64.add n_0 1i64
              let (first_16: [1i64]f64) = array f64 (1.0f64)
              let (longer_17: [add_15]f64) = concat (first_16, scanned_14)
              let (before_18: [n_0]f64) = slice longer_17 [0i64 :+ n_0 * 1i64]
              let (sub_22: i64) = i64.sub n_0 1i64
              let (reversed_23: [n_0]f64) = slice as_6 [sub_22 :+ n_0 * -1i64]
              let (scanned_24: [n_0]f64) =
                scan n_0 (reversed_23)
                  op \(b_20: f64, a_19: f64) : (f64) ->
                    let (c_21: f64) = f64.mul a_19 b_20
                    in (c_21)
                  neutral (1.0f64)
              let (add_25: i64) = i64.add n_0 1i64
              let (first_26: [1i64]f64) = array f64 (1.0f64)
              let (longer_27: [add_25]f64) = concat (first_26, scanned_24)
              let (before_28: [n_0]f64) = slice longer_27 [0i64 :+ n_0 * 1i64]
              let (sub_29: i64) = i64.sub n_0 1i64
              let (reversed_30: [n_0]f64) = slice before_28 [sub_29 :+ n_0 * -1i64]
              let (mapped_35: [n_0]f64) =
                map n_0 (reversed_30)
                  \(r_32: f64) : (f64) ->
                    let (mul_34: f64) = f64.mul r_32 ct_2
                    in (mul_34)
              let (adj_42: [n_0]f64) =
                map n_0 (before_18, mapped_35)
                  \(a_36: f64, ct_39: f64) : (f64) ->
                    let (mul_41: f64) = f64.mul a_36 ct_39
                    in (mul_41)
              let (y_4: f64) = p_7
              let (xs_adj_5: [n_0]f64) = adj_42
              in (xs_adj_5)
        "#]],
    );
}

#[test]
fn maximum_backwards_finds_the_first() {
    check(
        r"def f (n: i64, xs: [n]f64, ct: f64) : (xs_adj: [n]f64) =
            let (y: f64, xs_adj: [n]f64) = vjp (xs) (ct) \(as: [n]f64) : (f64) ->
              let (p: f64) = reduce n (as)
                op \(a: f64, b: f64) : (f64) ->
                  let (c: f64) = f64.max a b
                  in (c)
                neutral (-f64.inf)
              in (p)
            in (xs_adj)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, ct_2: f64) : (xs_adj_3: [n_0]f64) =
              let (as_6: [n_0]f64) = xs_1
              let (p_7: f64) =
                reduce n_0 (as_6)
                  op \(a_8: f64, b_9: f64) : (f64) ->
                    let (c_10: f64) = f64.max a_8 b_9
                    in (c_10)
                  neutral (-f64.inf)
              let (extreme_14: f64) =
                reduce n_0 (as_6)
                  op \(a_11: f64, b_12: f64) : (f64) ->
                    let (c_13: f64) = f64.max a_11 b_12
                    in (c_13)
                  neutral (-f64.inf)
              let (iota_15: [n_0]i64) = iota i64 n_0 0i64 1i64
              let (best_23: i64) =
                reduce_comm n_0 (as_6, iota_15)
                  pre \(x_16: f64, x_17: i64) : (i64) ->
                    let (eq_18: bool) = f64.eq x_16 extreme_14
                    let (chosen_19: i64) =
                      if eq_18 then
                        in (x_17)
                      else
                        in (n_0)
                    in (chosen_19)
                  op \(x_20: i64, y_21: i64) : (i64) ->
                    let (z_22: i64) = i64.min x_20 y_21
                    in (z_22)
                  neutral (n_0)
              let (lt_24: bool) = i64.lt best_23 n_0
              let (chosen_25: i64) =
                if lt_24 then
                  in (best_23)
                else
                  in (-1i64)
              let (zeros_26: [n_0]f64) = replicate [n_0] 0.0f64
              let (le_27: bool) = i64.le 0i64 chosen_25
              let (as_adj_31: [n_0]f64) =
                if le_27 then
                  let (part_28: f64) = zeros_26[chosen_25] certified
                  let (add_29: f64) = f64.add part_28 ct_2
                  let (as_adj_30: [n_0]f64) = zeros_26 with [chosen_25] = add_29 certified
                  in (as_adj_30)
                else
                  in (zeros_26)
              let (y_4: f64) = p_7
              let (xs_adj_5: [n_0]f64) = as_adj_31
              in (xs_adj_5)
        "#]],
    );
}

#[test]
fn independent_components_are_reduced_one_by_one() {
    check(
        r"def f (n: i64, xs: [n]f64, ys: [n]f64, c: f64, d: f64) : (xs_adj: [n]f64, ys_adj: [n]f64) =
            let (s: f64, t: f64, xs_adj: [n]f64, ys_adj: [n]f64) =
              vjp (xs, ys) (c, d) \(as: [n]f64, bs: [n]f64) : (f64, f64) ->
                let (p: f64, q: f64) = reduce n (as, bs)
                  op \(a1: f64, b1: f64, a2: f64, b2: f64) : (f64, f64) ->
                    let (a: f64) = f64.add a1 a2
                    let (b: f64) = f64.add b2 b1
                    in (a, b)
                  neutral (0.0f64, 0.0f64)
                in (p, q)
            in (xs_adj, ys_adj)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, ys_2: [n_0]f64, c_3: f64, d_4: f64) : (xs_adj_5: [n_0]f64, ys_adj_6: [n_0]f64) =
              let (as_11: [n_0]f64) = xs_1
              let (bs_12: [n_0]f64) = ys_2
              let (p_13: f64) =
                reduce n_0 (as_11)
                  op \(a1_21: f64, a2_22: f64) : (f64) ->
                    let (a_23: f64) = f64.add a1_21 a2_22
                    in (a_23)
                  neutral (0.0f64)
              let (q_14: f64) =
                reduce n_0 (bs_12)
                  op \(b1_24: f64, b2_25: f64) : (f64) ->
                    let (b_26: f64) = f64.add b2_25 b1_24
                    in (b_26)
                  neutral (0.0f64)
              let (ct_27: [n_0]f64) = replicate [n_0] d_4
              let (ct_28: [n_0]f64) = replicate [n_0] c_3
              let (s_7: f64) = p_13
              let (t_8: f64) = q_14
              let (xs_adj_9: [n_0]f64) = ct_28
              let (ys_adj_10: [n_0]f64) = ct_27
              in (xs_adj_9, ys_adj_10)
        "#]],
    );
}

#[test]
fn reduction_of_rows_by_elements_is_one_of_columns() {
    check(
        r"def f (n: i64, k: i64, xs: [n][k]f64, ne: [k]f64, ct: [k]f64) : (xs_adj: [n][k]f64) =
            let (y: [k]f64, xs_adj: [n][k]f64) = vjp (xs) (ct) \(as: [n][k]f64) : ([k]f64) ->
              let (p: [k]f64) = reduce n (as)
                op \(a: [k]f64, b: [k]f64) : ([k]f64) ->
                  let (c: [k]f64) = map k (b, a) \(x: f64, y: f64) : (f64) ->
                    let (z: f64) = f64.min x y
                    in (z)
                  in (c)
                neutral (ne)
              in (p)
            in (xs_adj)",
        expect![[r#"
            def f (n_0: i64, k_1: i64, xs_2: [n_0][k_1]f64, ne_3: [k_1]f64, ct_4: [k_1]f64) : (xs_adj_5: [n_0][k_1]f64) =
              let (as_8: [n_0][k_1]f64) = xs_2
              let (columns_16: [k_1][n_0]f64) = rearrange (1, 0) as_8
              let (p_9: [k_1]f64) =
                map k_1 (columns_16, ne_3)
                  \(xs_17: [n_0]f64, ne_18: f64) : (f64) ->
                    let (column_22: f64) =
                      reduce n_0 (xs_17)
                        op \(y_20: f64, x_19: f64) : (f64) ->
                          let (z_21: f64) = f64.min x_19 y_20
                          in (z_21)
                        neutral (ne_18)
                    in (column_22)
              let (adj_51: [k_1][n_0]f64) =
                map k_1 (columns_16, ne_3, ct_4)
                  \(xs_23: [n_0]f64, ne_24: f64, ct_29: f64) : ([n_0]f64) ->
                    let (extreme_33: f64) =
                      reduce n_0 (xs_23)
                        op \(y_30: f64, x_31: f64) : (f64) ->
                          let (z_32: f64) = f64.min x_31 y_30
                          in (z_32)
                        neutral (ne_24)
                    let (iota_34: [n_0]i64) = iota i64 n_0 0i64 1i64
                    let (best_42: i64) =
                      reduce_comm n_0 (xs_23, iota_34)
                        pre \(x_35: f64, x_36: i64) : (i64) ->
                          let (eq_37: bool) = f64.eq x_35 extreme_33
                          let (chosen_38: i64) =
                            if eq_37 then
                              in (x_36)
                            else
                              in (-1i64)
                          in (chosen_38)
                        op \(x_39: i64, y_40: i64) : (i64) ->
                          let (z_41: i64) = i64.max x_39 y_40
                          in (z_41)
                        neutral (-1i64)
                    let (lt_43: bool) = i64.lt best_42 n_0
                    let (chosen_44: i64) =
                      if lt_43 then
                        in (best_42)
                      else
                        in (-1i64)
                    let (zeros_45: [n_0]f64) = replicate [n_0] 0.0f64
                    let (le_46: bool) = i64.le 0i64 chosen_44
                    let (xs_adj_50: [n_0]f64) =
                      if le_46 then
                        let (part_47: f64) = zeros_45[chosen_44] certified
                        let (add_48: f64) = f64.add part_47 ct_29
                        let (xs_adj_49: [n_0]f64) = zeros_45 with [chosen_44] = add_48 certified
                        in (xs_adj_49)
                      else
                        in (zeros_45)
                    in (xs_adj_50)
              let (ct_54: [n_0][k_1]f64) = rearrange (1, 0) adj_51
              let (y_6: [k_1]f64) = p_9
              let (xs_adj_7: [n_0][k_1]f64) = ct_54
              in (xs_adj_7)
        "#]],
    );
}

#[test]
fn scan_of_one_active_number_is_a_recurrence() {
    check(
        r"def f (n: i64, fs: [n]bool, xs: [n]f64, ct: [n]f64) : (xs_adj: [n]f64) =
            let (y: [n]f64, xs_adj: [n]f64) = vjp (xs) (ct) \(as: [n]f64) : ([n]f64) ->
              let (gs: [n]bool, bs: [n]f64) = scan n (fs, as)
                op \(f1: bool, a1: f64, f2: bool, a2: f64) : (bool, f64) ->
                  let (f: bool) = bool.or f1 f2
                  let (a: f64) =
                    if f2 then
                      in (a2)
                    else
                      let (p: f64) = f64.mul a1 a2
                      in (p)
                  in (f, a)
                neutral (false, 1.0f64)
              in (bs)
            in (xs_adj)",
        expect![[r#"
            def f (n_0: i64, fs_1: [n_0]bool, xs_2: [n_0]f64, ct_3: [n_0]f64) : (xs_adj_4: [n_0]f64) =
              let (as_7: [n_0]f64) = xs_2
              let (gs_8: [n_0]bool, bs_9: [n_0]f64) =
                scan n_0 (fs_1, as_7)
                  op \(f1_10: bool, a1_11: f64, f2_12: bool, a2_13: f64) : (bool, f64) ->
                    let (f_14: bool) = bool.or f1_10 f2_12
                    let (a_15: f64) =
                      if f2_12 then
                        in (a2_13)
                      else
                        let (p_16: f64) = f64.mul a1_11 a2_13
                        in (p_16)
                    in (f_14, a_15)
                  neutral (false, 1.0f64)
              let (add_17: i64) = i64.add n_0 1i64
              let (first_21: [1i64]f64) = array f64 (1.0f64)
              let (longer_22: [add_17]f64) = concat (first_21, bs_9)
              let (before_23: [n_0]f64) = slice longer_22 [0i64 :+ n_0 * 1i64]
              let (mapped_34: [n_0]f64) =
                map n_0 (fs_1, as_7)
                  \(a_26: bool, a_27: f64) : (f64) ->
                    let (adj_33: f64) =
                      if a_26 then
                        in (0.0f64)
                      else
                        in (a_27)
                    in (adj_33)
              let (sub_35: i64) = i64.sub n_0 1i64
              let (reversed_36: [n_0]f64) = slice ct_3 [sub_35 :+ n_0 * -1i64]
              let (reversed_37: [n_0]f64) = slice mapped_34 [sub_35 :+ n_0 * -1i64]
              let (add_38: i64) = i64.add n_0 1i64
              let (first_39: [1i64]f64) = array f64 (0.0f64)
              let (longer_40: [add_38]f64) = concat (first_39, reversed_37)
              let (before_41: [n_0]f64) = slice longer_40 [0i64 :+ n_0 * 1i64]
              let (scanned_49: [n_0]f64, scanned_50: [n_0]f64) =
                scan n_0 (reversed_36, before_41)
                  op \(m_42: f64, m_43: f64, m_44: f64, m_45: f64) : (f64, f64) ->
                    let (mul_46: f64) = f64.mul m_45 m_42
                    let (add_47: f64) = f64.add mul_46 m_44
                    let (mul_48: f64) = f64.mul m_45 m_43
                    in (add_47, mul_48)
                  neutral (0.0f64, 1.0f64)
              let (sub_51: i64) = i64.sub n_0 1i64
              let (reversed_52: [n_0]f64) = slice scanned_49 [sub_51 :+ n_0 * -1i64]
              let (adj_67: [n_0]f64) =
                map n_0 (before_23, fs_1, reversed_52)
                  \(a1_54: f64, f2_55: bool, ct_60: f64) : (f64) ->
                    let (adj_65: f64) =
                      if f2_55 then
                        in (ct_60)
                      else
                        let (mul_64: f64) = f64.mul a1_54 ct_60
                        in (mul_64)
                    in (adj_65)
              let (y_5: [n_0]f64) = bs_9
              let (xs_adj_6: [n_0]f64) = adj_67
              in (xs_adj_6)
        "#]],
    );
}

#[test]
fn scan_of_pairs_carries_elements_and_cotangents() {
    check(
        r"def f (n: i64, xs: [n]f64, ys: [n]f64, c: [n]f64, d: [n]f64) : (xs_adj: [n]f64, ys_adj: [n]f64) =
            let (s: [n]f64, t: [n]f64, xs_adj: [n]f64, ys_adj: [n]f64) =
              vjp (xs, ys) (c, d) \(as: [n]f64, bs: [n]f64) : ([n]f64, [n]f64) ->
                let (p: [n]f64, q: [n]f64) = scan n (as, bs)
                  op \(a1: f64, b1: f64, a2: f64, b2: f64) : (f64, f64) ->
                    let (a: f64) = f64.mul a1 a2
                    let (e: f64) = f64.mul b1 a2
                    let (b: f64) = f64.add e b2
                    in (a, b)
                  neutral (1.0f64, 0.0f64)
                in (p, q)
            in (xs_adj, ys_adj)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, ys_2: [n_0]f64, c_3: [n_0]f64, d_4: [n_0]f64) : (xs_adj_5: [n_0]f64, ys_adj_6: [n_0]f64) =
              let (as_11: [n_0]f64) = xs_1
              let (bs_12: [n_0]f64) = ys_2
              let (p_13: [n_0]f64, q_14: [n_0]f64) =
                scan n_0 (as_11, bs_12)
                  op \(a1_15: f64, b1_16: f64, a2_17: f64, b2_18: f64) : (f64, f64) ->
                    let (a_19: f64) = f64.mul a1_15 a2_17
                    let (e_20: f64) = f64.mul b1_16 a2_17
                    let (b_21: f64) = f64.add e_20 b2_18
                    in (a_19, b_21)
                  neutral (1.0f64, 0.0f64)
              let (add_22: i64) = i64.add n_0 1i64
              let (first_23: [1i64]f64) = array f64 (1.0f64)
              let (longer_24: [add_22]f64) = concat (first_23, p_13)
              let (before_25: [n_0]f64) = slice longer_24 [0i64 :+ n_0 * 1i64]
              let (first_26: [1i64]f64) = array f64 (0.0f64)
              let (longer_27: [add_22]f64) = concat (first_26, q_14)
              let (before_28: [n_0]f64) = slice longer_27 [0i64 :+ n_0 * 1i64]
              let (sub_50: i64) = i64.sub n_0 1i64
              let (reversed_51: [n_0]f64) = slice as_11 [sub_50 :+ n_0 * -1i64]
              let (reversed_52: [n_0]f64) = slice bs_12 [sub_50 :+ n_0 * -1i64]
              let (add_53: i64) = i64.add n_0 1i64
              let (first_54: [1i64]f64) = array f64 (1.0f64)
              let (longer_55: [add_53]f64) = concat (first_54, reversed_51)
              let (before_56: [n_0]f64) = slice longer_55 [0i64 :+ n_0 * 1i64]
              let (first_57: [1i64]f64) = array f64 (0.0f64)
              let (longer_58: [add_53]f64) = concat (first_57, reversed_52)
              let (before_59: [n_0]f64) = slice longer_58 [0i64 :+ n_0 * 1i64]
              let (sub_60: i64) = i64.sub n_0 1i64
              let (reversed_61: [n_0]f64) = slice c_3 [sub_60 :+ n_0 * -1i64]
              let (reversed_62: [n_0]f64) = slice d_4 [sub_60 :+ n_0 * -1i64]
              let (scanned_63: [n_0]f64, scanned_64: [n_0]f64, scanned_65: [n_0]f64, scanned_66: [n_0]f64) =
                scan n_0 (before_56, before_59, reversed_61, reversed_62)
                  op \(a_29: f64, a_30: f64, c_31: f64, c_32: f64, a_35: f64, a_36: f64, c_37: f64, c_38: f64) : (f64, f64, f64, f64) ->
                    let (a_39: f64) = f64.mul a_35 a_29
                    let (e_40: f64) = f64.mul a_36 a_29
                    let (b_41: f64) = f64.add e_40 a_30
                    let (mul_45: f64) = f64.mul a_35 c_32
                    let (mul_46: f64) = f64.mul a_35 c_31
                    let (add_47: f64) = f64.add mul_46 c_37
                    let (add_48: f64) = f64.add mul_45 c_38
                    in (a_39, b_41, add_47, add_48)
                  neutral (1.0f64, 0.0f64, 0.0f64, 0.0f64)
              let (sub_67: i64) = i64.sub n_0 1i64
              let (reversed_68: [n_0]f64) = slice scanned_65 [sub_67 :+ n_0 * -1i64]
              let (reversed_69: [n_0]f64) = slice scanned_66 [sub_67 :+ n_0 * -1i64]
              let (adj_84: [n_0]f64, adj_85: [n_0]f64) =
                map n_0 (before_25, before_28, reversed_68, reversed_69)
                  \(a1_70: f64, b1_71: f64, ct_77: f64, ct_78: f64) : (f64, f64) ->
                    let (mul_80: f64) = f64.mul b1_71 ct_78
                    let (mul_82: f64) = f64.mul a1_70 ct_77
                    let (add_83: f64) = f64.add mul_80 mul_82
                    in (add_83, ct_78)
              let (s_7: [n_0]f64) = p_13
              let (t_8: [n_0]f64) = q_14
              let (xs_adj_9: [n_0]f64) = adj_84
              let (ys_adj_10: [n_0]f64) = adj_85
              in (xs_adj_9, ys_adj_10)
        "#]],
    );
}

#[test]
fn maximum_of_bins_backwards_finds_the_first() {
    check(
        r"def f (n: i64, is: [n]i64, xs: [n]f64, ds: [3]f64, ct: [3]f64) : (ds_adj: [3]f64, xs_adj: [n]f64) =
            let (y: [3]f64, ds_adj: [3]f64, xs_adj: [n]f64) = vjp (ds, xs) (ct) \(es: [3]f64, as: [n]f64) : ([3]f64) ->
              let (p: [3]f64) = hist n (is, as) into (es) [3]
                op \(a: f64, b: f64) : (f64) ->
                  let (c: f64) = f64.max a b
                  in (c)
                neutral (-f64.inf)
              in (p)
            in (ds_adj, xs_adj)",
        expect![[r#"
            def f (n_0: i64, is_1: [n_0]i64, xs_2: [n_0]f64, ds_3: [3i64]f64, ct_4: [3i64]f64) : (ds_adj_5: [3i64]f64, xs_adj_6: [n_0]f64) =
              let (es_10: [3i64]f64) = ds_3
              let (as_11: [n_0]f64) = xs_2
              let (p_12: [3i64]f64) =
                hist n_0 (is_1, as_11) into (es_10) [3i64]
                  op \(a_13: f64, b_14: f64) : (f64) ->
                    let (c_15: f64) = f64.max a_13 b_14
                    in (c_15)
                  neutral (-f64.inf)
              let (nobody_16: [3i64]i64) = replicate [3i64] -1i64
              let (iota_17: [n_0]i64) = iota i64 n_0 0i64 1i64
              let (best_28: [3i64]f64, best_29: [3i64]i64) =
                hist n_0 (is_1, as_11, iota_17) into (es_10, nobody_16) [3i64]
                  op \(x_18: f64, x_19: i64, x_20: f64, x_21: i64) : (f64, i64) ->
                    let (max_22: f64) = f64.max x_18 x_20
                    let (le_23: bool) = f64.le x_20 x_18
                    let (eq_24: bool) = f64.eq x_18 x_20
                    let (le_25: bool) = i64.le x_19 x_21
                    let (chosen_26: bool) =
                      if eq_24 then
                        in (le_25)
                      else
                        in (le_23)
                    let (chosen_27: i64) =
                      if chosen_26 then
                        in (x_19)
                      else
                        in (x_21)
                    in (max_22, chosen_27)
                  neutral (-f64.inf, -1i64)
              let (zeros_30: [n_0]f64) = replicate [n_0] 0.0f64
              let (adj_31: [n_0]f64) =
                scatter 3i64 (best_29, ct_4) into (zeros_30) [n_0]
              let (mapped_36: [3i64]f64) =
                map 3i64 (best_29, ct_4)
                  \(x_32: i64, x_33: f64) : (f64) ->
                    let (le_34: bool) = i64.le 0i64 x_32
                    let (chosen_35: f64) =
                      if le_34 then
                        in (0.0f64)
                      else
                        in (x_33)
                    in (chosen_35)
              let (y_7: [3i64]f64) = p_12
              let (ds_adj_8: [3i64]f64) = mapped_36
              let (xs_adj_9: [n_0]f64) = adj_31
              in (ds_adj_8, xs_adj_9)
        "#]],
    );
}

#[test]
fn scatter_backwards_reads_where_it_wrote() {
    check(
        r"def f (n: i64, is: [n]i64, xs: [n]f64, ds: [3]f64, ct: [3]f64) : (ds_adj: [3]f64, xs_adj: [n]f64) =
            let (y: [3]f64, ds_adj: [3]f64, xs_adj: [n]f64) = vjp (ds, xs) (ct) \(es: [3]f64, as: [n]f64) : ([3]f64) ->
              let (p: [3]f64) = scatter n (is, as) into (es) [3]
              in (p)
            in (ds_adj, xs_adj)",
        expect![[r#"
            def f (n_0: i64, is_1: [n_0]i64, xs_2: [n_0]f64, ds_3: [3i64]f64, ct_4: [3i64]f64) : (ds_adj_5: [3i64]f64, xs_adj_6: [n_0]f64) =
              let (es_10: [3i64]f64) = ds_3
              let (as_11: [n_0]f64) = xs_2
              let (p_12: [3i64]f64) =
                scatter n_0 (is_1, as_11) into (es_10) [3i64]
              let (winners_13: [3i64]i64) = scratch i64 [3i64]
              let (iota_14: [n_0]i64) = iota i64 n_0 0i64 1i64
              let (winners_15: [3i64]i64) =
                scatter n_0 (is_1, iota_14) into (winners_13) [3i64]
              let (iota_18: [n_0]i64) = iota i64 n_0 0i64 1i64
              let (read_27: [n_0]f64) =
                map n_0 (is_1, iota_18)
                  \(i_16: i64, number_17: i64) : (f64) ->
                    let (le_19: bool) = i64.le 0i64 i_16
                    let (lt_20: bool) = i64.lt i_16 3i64
                    let (and_21: bool) = bool.and le_19 lt_20
                    let (won_24: bool) =
                      if and_21 then
                        let (elem_22: i64) = winners_15[i_16] certified
                        let (eq_23: bool) = i64.eq elem_22 number_17
                        in (eq_23)
                      else
                        in (false)
                    let (read_26: f64) =
                      if won_24 then
                        let (elem_25: f64) = ct_4[i_16] certified
                        in (elem_25)
                      else
                        in (0.0f64)
                    in (read_26)
              let (zeros_28: [n_0]f64) = replicate [n_0] 0.0f64
              let (ct_29: [3i64]f64) =
                scatter n_0 (is_1, zeros_28) into (ct_4) [3i64]
              let (y_7: [3i64]f64) = p_12
              let (ds_adj_8: [3i64]f64) = ct_29
              let (xs_adj_9: [n_0]f64) = read_27
              in (ds_adj_8, xs_adj_9)
        "#]],
    );
}

#[test]
fn the_least_of_a_map_is_differentiated_in_one_place() {
    check(
        r"def f (n: i64, xs: [n]f64, ct: f64) : (xs_adj: [n]f64) =
            let (y: f64, xs_adj: [n]f64) = vjp (xs) (ct) \(as: [n]f64) : (f64) ->
              let (bs: [n]f64) = map n (as) \(a: f64) : (f64) ->
                let (b: f64) = f64.mul a a
                in (b)
              let (p: f64) = reduce n (bs)
                op \(a: f64, b: f64) : (f64) ->
                  let (c: f64) = f64.min a b
                  in (c)
                neutral (f64.inf)
              in (p)
            in (xs_adj)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, ct_2: f64) : (xs_adj_3: [n_0]f64) =
              let (as_6: [n_0]f64) = xs_1
              let (bs_7: [n_0]f64) =
                map n_0 (as_6)
                  \(a_8: f64) : (f64) ->
                    let (b_9: f64) = f64.mul a_8 a_8
                    in (b_9)
              let (p_10: f64) =
                reduce n_0 (bs_7)
                  op \(a_11: f64, b_12: f64) : (f64) ->
                    let (c_13: f64) = f64.min a_11 b_12
                    in (c_13)
                  neutral (f64.inf)
              let (extreme_17: f64) =
                reduce n_0 (bs_7)
                  op \(a_14: f64, b_15: f64) : (f64) ->
                    let (c_16: f64) = f64.min a_14 b_15
                    in (c_16)
                  neutral (f64.inf)
              let (iota_18: [n_0]i64) = iota i64 n_0 0i64 1i64
              let (best_26: i64) =
                reduce_comm n_0 (bs_7, iota_18)
                  pre \(x_19: f64, x_20: i64) : (i64) ->
                    let (eq_21: bool) = f64.eq x_19 extreme_17
                    let (chosen_22: i64) =
                      if eq_21 then
                        in (x_20)
                      else
                        in (n_0)
                    in (chosen_22)
                  op \(x_23: i64, y_24: i64) : (i64) ->
                    let (z_25: i64) = i64.min x_23 y_24
                    in (z_25)
                  neutral (n_0)
              let (lt_27: bool) = i64.lt best_26 n_0
              let (chosen_28: i64) =
                if lt_27 then
                  in (best_26)
                else
                  in (-1i64)
              let (le_35: bool) = i64.le 0i64 chosen_28
              let (chosen_36: i64) =
                if le_35 then
                  in (1i64)
                else
                  in (0i64)
              let (max_37: i64) = i64.max chosen_28 0i64
              let (part_38: [chosen_36]f64) = slice as_6 [max_37 :+ chosen_36 * 1i64]
              let (ct_39: [chosen_36]f64) = replicate [chosen_36] ct_2
              let (adj_46: [chosen_36]f64) =
                map chosen_36 (part_38, ct_39)
                  \(a_40: f64, ct_42: f64) : (f64) ->
                    let (mul_43: f64) = f64.mul a_40 ct_42
                    let (mul_44: f64) = f64.mul a_40 ct_42
                    let (add_45: f64) = f64.add mul_43 mul_44
                    in (add_45)
              let (zeros_47: [n_0]f64) = replicate [n_0] 0.0f64
              let (part_48: [chosen_36]f64) = slice zeros_47 [max_37 :+ chosen_36 * 1i64]
              let (sum_52: [chosen_36]f64) =
                map chosen_36 (part_48, adj_46)
                  \(x_49: f64, y_50: f64) : (f64) ->
                    let (add_51: f64) = f64.add x_49 y_50
                    in (add_51)
              let (as_adj_53: [n_0]f64) = zeros_47 with [max_37 :+ chosen_36 * 1i64] = sum_52 certified
              let (y_4: f64) = p_10
              let (xs_adj_5: [n_0]f64) = as_adj_53
              in (xs_adj_5)
        "#]],
    );
}

#[test]
fn components_of_a_scan_that_nothing_reaches_are_left_out() {
    check(
        r"def f (n: i64, xs: [n]f64, ys: [n]f64, d: [n]f64) : (xs_adj: [n]f64, ys_adj: [n]f64) =
            let (t: [n]f64, xs_adj: [n]f64, ys_adj: [n]f64) =
              vjp (xs, ys) (d) \(as: [n]f64, bs: [n]f64) : ([n]f64) ->
                let (p: [n]f64, q: [n]f64) = scan n (as, bs)
                  op \(a1: f64, b1: f64, a2: f64, b2: f64) : (f64, f64) ->
                    let (a: f64) = f64.mul a1 a2
                    let (e: f64) = f64.mul b1 a2
                    let (b: f64) = f64.add e b2
                    in (a, b)
                  neutral (1.0f64, 0.0f64)
                in (q)
            in (xs_adj, ys_adj)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, ys_2: [n_0]f64, d_3: [n_0]f64) : (xs_adj_4: [n_0]f64, ys_adj_5: [n_0]f64) =
              let (as_9: [n_0]f64) = xs_1
              let (bs_10: [n_0]f64) = ys_2
              let (p_11: [n_0]f64, q_12: [n_0]f64) =
                scan n_0 (as_9, bs_10)
                  op \(a1_13: f64, b1_14: f64, a2_15: f64, b2_16: f64) : (f64, f64) ->
                    let (a_17: f64) = f64.mul a1_13 a2_15
                    let (e_18: f64) = f64.mul b1_14 a2_15
                    let (b_19: f64) = f64.add e_18 b2_16
                    in (a_17, b_19)
                  neutral (1.0f64, 0.0f64)
              let (add_20: i64) = i64.add n_0 1i64
              let (first_24: [1i64]f64) = array f64 (0.0f64)
              let (longer_25: [add_20]f64) = concat (first_24, q_12)
              let (before_26: [n_0]f64) = slice longer_25 [0i64 :+ n_0 * 1i64]
              let (mapped_34: [n_0]f64) =
                map n_0 (as_9)
                  \(a_29: f64) : (f64) ->
                    in (a_29)
              let (sub_35: i64) = i64.sub n_0 1i64
              let (reversed_36: [n_0]f64) = slice d_3 [sub_35 :+ n_0 * -1i64]
              let (reversed_37: [n_0]f64) = slice mapped_34 [sub_35 :+ n_0 * -1i64]
              let (add_38: i64) = i64.add n_0 1i64
              let (first_39: [1i64]f64) = array f64 (0.0f64)
              let (longer_40: [add_38]f64) = concat (first_39, reversed_37)
              let (before_41: [n_0]f64) = slice longer_40 [0i64 :+ n_0 * 1i64]
              let (scanned_49: [n_0]f64, scanned_50: [n_0]f64) =
                scan n_0 (reversed_36, before_41)
                  op \(m_42: f64, m_43: f64, m_44: f64, m_45: f64) : (f64, f64) ->
                    let (mul_46: f64) = f64.mul m_45 m_42
                    let (add_47: f64) = f64.add mul_46 m_44
                    let (mul_48: f64) = f64.mul m_45 m_43
                    in (add_47, mul_48)
                  neutral (0.0f64, 1.0f64)
              let (sub_51: i64) = i64.sub n_0 1i64
              let (reversed_52: [n_0]f64) = slice scanned_49 [sub_51 :+ n_0 * -1i64]
              let (adj_63: [n_0]f64, adj_64: [n_0]f64) =
                map n_0 (before_26, reversed_52)
                  \(b1_54: f64, ct_60: f64) : (f64, f64) ->
                    let (mul_62: f64) = f64.mul b1_54 ct_60
                    in (mul_62, ct_60)
              let (t_6: [n_0]f64) = q_12
              let (xs_adj_7: [n_0]f64) = adj_63
              let (ys_adj_8: [n_0]f64) = adj_64
              in (xs_adj_7, ys_adj_8)
        "#]],
    );
}

#[test]
fn minima_of_rows_pass_places_and_values_to_what_made_the_rows() {
    check(
        r"def f (n: i64, k: i64, xs: [n]f64, cs: [k]f64, ct: [n]f64) : (xs_adj: [n]f64) =
            let (y: [n]f64, xs_adj: [n]f64) = vjp (xs) (ct) \(as: [n]f64) : ([n]f64) ->
              let (rows: [n][k]f64) = map n (as) \(a: f64) : ([k]f64) ->
                let (row: [k]f64) = map k (cs) \(c: f64) : (f64) ->
                  let (b: f64) = f64.mul a c
                  in (b)
                in (row)
              let (ms: [n]f64) = map n (rows) \(row: [k]f64) : (f64) ->
                let (m: f64) = reduce k (row)
                  op \(u: f64, v: f64) : (f64) ->
                    let (w: f64) = f64.min u v
                    in (w)
                  neutral (f64.inf)
                in (m)
              in (ms)
            in (xs_adj)",
        expect![[r#"
            def f (n_0: i64, k_1: i64, xs_2: [n_0]f64, cs_3: [k_1]f64, ct_4: [n_0]f64) : (xs_adj_5: [n_0]f64) =
              let (as_8: [n_0]f64) = xs_2
              let (rows_9: [n_0][k_1]f64) =
                map n_0 (as_8)
                  \(a_10: f64) : ([k_1]f64) ->
                    let (row_11: [k_1]f64) =
                      map k_1 (cs_3)
                        \(c_12: f64) : (f64) ->
                          let (b_13: f64) = f64.mul a_10 c_12
                          in (b_13)
                    in (row_11)
              let (ms_14: [n_0]f64) =
                map n_0 (rows_9)
                  \(row_15: [k_1]f64) : (f64) ->
                    let (m_16: f64) =
                      reduce k_1 (row_15)
                        op \(u_17: f64, v_18: f64) : (f64) ->
                          let (w_19: f64) = f64.min u_17 v_18
                          in (w_19)
                        neutral (f64.inf)
                    in (m_16)
              let (adj_48: [n_0]i64, adj_49: [n_0]f64) =
                map n_0 (rows_9, ct_4)
                  \(row_20: [k_1]f64, ct_25: f64) : (i64, f64) ->
                    let (extreme_29: f64) =
                      reduce k_1 (row_20)
                        op \(u_26: f64, v_27: f64) : (f64) ->
                          let (w_28: f64) = f64.min u_26 v_27
                          in (w_28)
                        neutral (f64.inf)
                    let (iota_30: [k_1]i64) = iota i64 k_1 0i64 1i64
                    let (best_38: i64) =
                      reduce_comm k_1 (row_20, iota_30)
                        pre \(x_31: f64, x_32: i64) : (i64) ->
                          let (eq_33: bool) = f64.eq x_31 extreme_29
                          let (chosen_34: i64) =
                            if eq_33 then
                              in (x_32)
                            else
                              in (k_1)
                          in (chosen_34)
                        op \(x_35: i64, y_36: i64) : (i64) ->
                          let (z_37: i64) = i64.min x_35 y_36
                          in (z_37)
                        neutral (k_1)
                    let (lt_39: bool) = i64.lt best_38 k_1
                    let (chosen_40: i64) =
                      if lt_39 then
                        in (best_38)
                      else
                        in (-1i64)
                    in (chosen_40, ct_25)
              let (adj_74: [n_0]f64) =
                map n_0 (adj_48, adj_49)
                  \(at_54: i64, ct_55: f64) : (f64) ->
                    let (le_60: bool) = i64.le 0i64 at_54
                    let (chosen_61: i64) =
                      if le_60 then
                        in (1i64)
                      else
                        in (0i64)
                    let (max_62: i64) = i64.max at_54 0i64
                    let (part_63: [chosen_61]f64) = slice cs_3 [max_62 :+ chosen_61 * 1i64]
                    let (ct_64: [chosen_61]f64) = replicate [chosen_61] ct_55
                    let (adj_69: [chosen_61]f64) =
                      map chosen_61 (part_63, ct_64)
                        \(c_65: f64, ct_67: f64) : (f64) ->
                          let (mul_68: f64) = f64.mul c_65 ct_67
                          in (mul_68)
                    let (sum_73: f64) =
                      reduce_comm chosen_61 (adj_69)
                        op \(x_70: f64, y_71: f64) : (f64) ->
                          let (add_72: f64) = f64.add x_70 y_71
                          in (add_72)
                        neutral (0.0f64)
                    in (sum_73)
              let (y_6: [n_0]f64) = ms_14
              let (xs_adj_7: [n_0]f64) = adj_74
              in (xs_adj_7)
        "#]],
    );
}
