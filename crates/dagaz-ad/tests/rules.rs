//! The derivative of each construct as text: Core in, Core out. Forward mode leaves dead statements in.

mod text;

use expect_test::expect;

use text::check;

#[test]
fn product_forwards() {
    check(
        r"def f (x: f64, y: f64, v: f64) : (z: f64, z_tan: f64) =
            let (z: f64, z_tan: f64) = jvp (x) (v) \(a: f64) : (f64) ->
              let (b: f64) = f64.mul a y
              let (c: f64) = f64.sin b
              in (c)
            in (z, z_tan)",
        expect![[r#"
            def f (x_0: f64, y_1: f64, v_2: f64) : (z_3: f64, z_tan_4: f64) =
              let (a_7: f64) = x_0
              let (b_8: f64) = f64.mul a_7 y_1
              let (mul_10: f64) = f64.mul y_1 v_2
              let (b_tan_11: f64) = mul_10
              let (c_9: f64) = f64.sin b_8
              let (cos_12: f64) = f64.cos b_8
              let (mul_13: f64) = f64.mul cos_12 b_tan_11
              let (c_tan_14: f64) = mul_13
              let (z_5: f64) = c_9
              let (z_tan_6: f64) = c_tan_14
              in (z_5, z_tan_6)
        "#]],
    );
}

#[test]
fn product_backwards() {
    check(
        r"def f (x: f64, y: f64, ct: f64) : (x_adj: f64, y_adj: f64) =
            let (z: f64, x_adj: f64, y_adj: f64) = vjp (x, y) (ct) \(a: f64, b: f64) : (f64) ->
              let (c: f64) = f64.mul a b
              in (c)
            in (x_adj, y_adj)",
        expect![[r#"
            def f (x_0: f64, y_1: f64, ct_2: f64) : (x_adj_3: f64, y_adj_4: f64) =
              let (a_8: f64) = x_0
              let (b_9: f64) = y_1
              let (c_10: f64) = f64.mul a_8 b_9
              let (mul_11: f64) = f64.mul b_9 ct_2
              let (mul_12: f64) = f64.mul a_8 ct_2
              let (z_5: f64) = c_10
              let (x_adj_6: f64) = mul_11
              let (y_adj_7: f64) = mul_12
              in (x_adj_6, y_adj_7)
        "#]],
    );
}

#[test]
fn what_does_not_depend_on_the_argument_has_no_tangent() {
    check(
        r"def f (x: f64, y: f64, v: f64) : (z_tan: f64) =
            let (z: f64, z_tan: f64) = jvp (x) (v) \(a: f64) : (f64) ->
              let (b: f64) = f64.exp y
              in (b)
            in (z_tan)",
        expect![[r#"
            def f (x_0: f64, y_1: f64, v_2: f64) : (z_tan_3: f64) =
              let (a_6: f64) = x_0
              let (b_7: f64) = f64.exp y_1
              let (z_4: f64) = b_7
              let (z_tan_5: f64) = 0.0f64
              in (z_tan_5)
        "#]],
    );
}

#[test]
fn map_forwards() {
    check(
        r"def f (n: i64, xs: [n]f64, vs: [n]f64) : (ts: [n]f64) =
            let (ys: [n]f64, ts: [n]f64) = jvp (xs) (vs) \(as: [n]f64) : ([n]f64) ->
              let (bs: [n]f64) = map n (as) \(a: f64) : (f64) ->
                let (b: f64) = f64.mul a a
                in (b)
              in (bs)
            in (ts)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, vs_2: [n_0]f64) : (ts_3: [n_0]f64) =
              let (as_6: [n_0]f64) = xs_1
              let (bs_7: [n_0]f64, bs_tan_15: [n_0]f64) =
                map n_0 (as_6, vs_2)
                  \(a_8: f64, a_tan_10: f64) : (f64, f64) ->
                    let (b_9: f64) = f64.mul a_8 a_8
                    let (mul_11: f64) = f64.mul a_8 a_tan_10
                    let (mul_12: f64) = f64.mul a_8 a_tan_10
                    let (add_13: f64) = f64.add mul_11 mul_12
                    let (b_tan_14: f64) = add_13
                    in (b_9, b_tan_14)
              let (ys_4: [n_0]f64) = bs_7
              let (ts_5: [n_0]f64) = bs_tan_15
              in (ts_5)
        "#]],
    );
}

#[test]
fn reduction_forwards_has_a_dual_operator() {
    check(
        r"def f (n: i64, xs: [n]f64, vs: [n]f64) : (t: f64) =
            let (y: f64, t: f64) = jvp (xs) (vs) \(as: [n]f64) : (f64) ->
              let (p: f64) = reduce n (as)
                op \(a: f64, b: f64) : (f64) ->
                  let (c: f64) = f64.mul a b
                  in (c)
                neutral (1.0f64)
              in (p)
            in (t)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, vs_2: [n_0]f64) : (t_3: f64) =
              let (as_6: [n_0]f64) = xs_1
              let (p_7: f64, p_tan_17: f64) =
                reduce n_0 (as_6, vs_2)
                  op \(a_8: f64, a_tan_11: f64, b_9: f64, b_tan_12: f64) : (f64, f64) ->
                    let (c_10: f64) = f64.mul a_8 b_9
                    let (mul_13: f64) = f64.mul b_9 a_tan_11
                    let (mul_14: f64) = f64.mul a_8 b_tan_12
                    let (add_15: f64) = f64.add mul_13 mul_14
                    let (c_tan_16: f64) = add_15
                    in (c_10, c_tan_16)
                  neutral (1.0f64, 0.0f64)
              let (y_4: f64) = p_7
              let (t_5: f64) = p_tan_17
              in (t_5)
        "#]],
    );
}

#[test]
fn sum_backwards_spreads_its_cotangent() {
    check(
        r"def f (n: i64, xs: [n]f64, ct: f64) : (xs_adj: [n]f64) =
            let (y: f64, xs_adj: [n]f64) = vjp (xs) (ct) \(as: [n]f64) : (f64) ->
              let (s: f64) = reduce n (as)
                op \(a: f64, b: f64) : (f64) ->
                  let (c: f64) = f64.add a b
                  in (c)
                neutral (0.0f64)
              in (s)
            in (xs_adj)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, ct_2: f64) : (xs_adj_3: [n_0]f64) =
              let (as_6: [n_0]f64) = xs_1
              let (s_7: f64) =
                reduce n_0 (as_6)
                  op \(a_8: f64, b_9: f64) : (f64) ->
                    let (c_10: f64) = f64.add a_8 b_9
                    in (c_10)
                  neutral (0.0f64)
              let (ct_11: [n_0]f64) = replicate [n_0] ct_2
              let (y_4: f64) = s_7
              let (xs_adj_5: [n_0]f64) = ct_11
              in (xs_adj_5)
        "#]],
    );
}

#[test]
fn index_backwards_adds_at_the_index() {
    check(
        r"def f (n: i64, i: i64, xs: [n]f64, ct: f64) : (xs_adj: [n]f64) =
            let (y: f64, xs_adj: [n]f64) = vjp (xs) (ct) \(as: [n]f64) : (f64) ->
              let (a: f64) = as[i]
              in (a)
            in (xs_adj)",
        expect![[r#"
            def f (n_0: i64, i_1: i64, xs_2: [n_0]f64, ct_3: f64) : (xs_adj_4: [n_0]f64) =
              let (as_7: [n_0]f64) = xs_2
              let (a_8: f64) = as_7[i_1]
              let (zeros_9: [n_0]f64) = replicate [n_0] 0.0f64
              let (part_10: f64) = zeros_9[i_1] certified
              let (add_11: f64) = f64.add part_10 ct_3
              let (as_adj_12: [n_0]f64) = zeros_9 with [i_1] = add_11 certified
              let (y_5: f64) = a_8
              let (xs_adj_6: [n_0]f64) = as_adj_12
              in (xs_adj_6)
        "#]],
    );
}

#[test]
fn free_array_of_a_map_becomes_an_accumulator() {
    check(
        r"def f (n: i64, m: i64, is: [m]i64, xs: [n]f64, ct: [m]f64) : (xs_adj: [n]f64) =
            let (ys: [m]f64, xs_adj: [n]f64) = vjp (xs) (ct) \(as: [n]f64) : ([m]f64) ->
              let (bs: [m]f64) = map m (is) \(i: i64) : (f64) ->
                let (b: f64) = as[i]
                in (b)
              in (bs)
            in (xs_adj)",
        expect![[r#"
            def f (n_0: i64, m_1: i64, is_2: [m_1]i64, xs_3: [n_0]f64, ct_4: [m_1]f64) : (xs_adj_5: [n_0]f64) =
              let (as_8: [n_0]f64) = xs_3
              let (bs_9: [m_1]f64) =
                map m_1 (is_2)
                  \(i_10: i64) : (f64) ->
                    let (b_11: f64) = as_8[i_10]
                    in (b_11)
              let (zeros_12: [n_0]f64) = replicate [n_0] 0.0f64
              let (adj_23: [n_0]f64) =
                with_acc
                  over [n_0] (zeros_12)
                    op \(x_13: f64, y_14: f64) : (f64) ->
                      let (add_15: f64) = f64.add x_13 y_14
                      in (add_15)
                    neutral (0.0f64)
                  body \(acc_16: acc [n_0] (f64)) : (acc [n_0] (f64)) ->
                    let (adj_22: acc [n_0] (f64)) =
                      map m_1 (is_2, ct_4, acc_16)
                        \(i_17: i64, ct_19: f64, acc_20: acc [n_0] (f64)) : (acc [n_0] (f64)) ->
                          let (acc_21: acc [n_0] (f64)) = update_acc acc_20 [i_17] (ct_19)
                          in (acc_21)
                    in (adj_22)
              let (ys_6: [m_1]f64) = bs_9
              let (xs_adj_7: [n_0]f64) = adj_23
              in (xs_adj_7)
        "#]],
    );
}

#[test]
fn free_scalar_of_a_map_is_summed() {
    check(
        r"def f (n: i64, xs: [n]f64, k: f64, ct: [n]f64) : (k_adj: f64) =
            let (ys: [n]f64, k_adj: f64) = vjp (k) (ct) \(a: f64) : ([n]f64) ->
              let (bs: [n]f64) = map n (xs) \(x: f64) : (f64) ->
                let (b: f64) = f64.mul x a
                in (b)
              in (bs)
            in (k_adj)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, k_2: f64, ct_3: [n_0]f64) : (k_adj_4: f64) =
              let (a_7: f64) = k_2
              let (bs_8: [n_0]f64) =
                map n_0 (xs_1)
                  \(x_9: f64) : (f64) ->
                    let (b_10: f64) = f64.mul x_9 a_7
                    in (b_10)
              let (adj_15: [n_0]f64) =
                map n_0 (xs_1, ct_3)
                  \(x_11: f64, ct_13: f64) : (f64) ->
                    let (mul_14: f64) = f64.mul x_11 ct_13
                    in (mul_14)
              let (sum_19: f64) =
                reduce_comm n_0 (adj_15)
                  op \(x_16: f64, y_17: f64) : (f64) ->
                    let (add_18: f64) = f64.add x_16 y_17
                    in (add_18)
                  neutral (0.0f64)
              let (ys_5: [n_0]f64) = bs_8
              let (k_adj_6: f64) = sum_19
              in (k_adj_6)
        "#]],
    );
}

#[test]
fn loop_backwards_starts_from_saved_values() {
    check(
        r"def f (n: i64, x: f64, ct: f64) : (x_adj: f64) =
            let (y: f64, x_adj: f64) = vjp (x) (ct) \(a: f64) : (f64) ->
              let (b: f64) =
                loop (c: f64 = a) for i: i64 < n do
                  let (d: f64) = f64.sin c
                  in (d)
              in (b)
            in (x_adj)",
        expect![[r#"
            def f (n_0: i64, x_1: f64, ct_2: f64) : (x_adj_3: f64) =
              let (a_6: f64) = x_1
              let (max_11: i64) = i64.max n_0 0i64
              let (saved_12: [max_11]f64) = scratch f64 [max_11]
              let (b_7: f64, saved_14: [max_11]f64) =
                loop (c_8: f64 = a_6, saved_13: [max_11]f64 = saved_12) for i_9: i64 < n_0 do
                  let (saved_15: [max_11]f64) = saved_13 with [i_9] = c_8 certified
                  let (d_10: f64) = f64.sin c_8
                  in (d_10, saved_15)
              let (c_adj_24: f64) =
                loop (c_adj_16: f64 = ct_2) for j_17: i64 < max_11 do
                  let (sub_18: i64) = i64.sub max_11 1i64
                  let (sub_19: i64) = i64.sub sub_18 j_17
                  let (c_20: f64) = saved_14[sub_19] certified
                  let (cos_22: f64) = f64.cos c_20
                  let (mul_23: f64) = f64.mul cos_22 c_adj_16
                  in (mul_23)
              let (y_4: f64) = b_7
              let (x_adj_5: f64) = c_adj_24
              in (x_adj_5)
        "#]],
    );
}

#[test]
fn loop_that_only_adds_saves_nothing() {
    check(
        r"def f (n: i64, xs: [n]f64, ct: f64) : (xs_adj: [n]f64) =
            let (y: f64, xs_adj: [n]f64) = vjp (xs) (ct) \(as: [n]f64) : (f64) ->
              let (b: f64) =
                loop (c: f64 = 0.0f64) for i: i64 < n do
                  let (a: f64) = as[i]
                  let (d: f64) = f64.add c a
                  in (d)
              in (b)
            in (xs_adj)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, ct_2: f64) : (xs_adj_3: [n_0]f64) =
              let (as_6: [n_0]f64) = xs_1
              let (max_12: i64) = i64.max n_0 0i64
              let (b_7: f64) =
                loop (c_8: f64 = 0.0f64) for i_9: i64 < n_0 do
                  let (a_10: f64) = as_6[i_9]
                  let (d_11: f64) = f64.add c_8 a_10
                  in (d_11)
              let (zeros_18: [n_0]f64) = replicate [n_0] 0.0f64
              let (c_adj_29: f64, adj_30: [n_0]f64) =
                loop (c_adj_17: f64 = ct_2, adj_19: [n_0]f64 = zeros_18) for j_20: i64 < max_12 do
                  let (sub_21: i64) = i64.sub max_12 1i64
                  let (sub_22: i64) = i64.sub sub_21 j_20
                  let (part_26: f64) = adj_19[sub_22] certified
                  let (add_27: f64) = f64.add part_26 c_adj_17
                  let (as_adj_28: [n_0]f64) = adj_19 with [sub_22] = add_27 certified
                  in (c_adj_17, as_adj_28)
              let (y_4: f64) = b_7
              let (xs_adj_5: [n_0]f64) = adj_30
              in (xs_adj_5)
        "#]],
    );
}

#[test]
fn update_in_place_is_logged_and_undone() {
    check(
        r"def f (n: i64, xs: [n]f64, ct: [n]f64) : (xs_adj: [n]f64) =
            let (y: [n]f64, xs_adj: [n]f64) = vjp (xs) (ct) \(as: [n]f64) : ([n]f64) ->
              let (bs: [n]f64) = copy as
              let (cs: [n]f64) =
                loop (ds: [n]f64 = bs) for i: i64 < n do
                  let (d: f64) = ds[i]
                  let (e: f64) = f64.mul d d
                  let (es: [n]f64) = ds with [i] = e
                  in (es)
              in (cs)
            in (xs_adj)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, ct_2: [n_0]f64) : (xs_adj_3: [n_0]f64) =
              let (as_6: [n_0]f64) = xs_1
              let (bs_7: [n_0]f64) = copy as_6
              let (max_14: i64) = i64.max n_0 0i64
              let (undo_15: [max_14]f64) = scratch f64 [max_14]
              let (cs_8: [n_0]f64, undo_17: [max_14]f64) =
                loop (ds_9: [n_0]f64 = bs_7, undo_16: [max_14]f64 = undo_15) for i_10: i64 < n_0 do
                  let (d_11: f64) = ds_9[i_10]
                  let (e_12: f64) = f64.mul d_11 d_11
                  let (old_19: f64) = ds_9[i_10]
                  let (undo_20: [max_14]f64) = undo_16 with [i_10] = old_19 certified
                  let (es_13: [n_0]f64) = ds_9 with [i_10] = e_12
                  in (es_13, undo_20)
              let (ds_adj_40: [n_0]f64, ds_41: [n_0]f64) =
                loop (ds_adj_21: [n_0]f64 = ct_2, ds_22: [n_0]f64 = cs_8) for j_23: i64 < max_14 do
                  let (sub_24: i64) = i64.sub max_14 1i64
                  let (sub_25: i64) = i64.sub sub_24 j_23
                  let (at_27: f64) = undo_17[sub_25] certified
                  let (ds_28: [n_0]f64) = ds_22 with [sub_25] = at_27 certified
                  let (d_29: f64) = ds_28[sub_25] certified
                  let (part_32: f64) = ds_adj_21[sub_25] certified
                  let (ct_33: [n_0]f64) = ds_adj_21 with [sub_25] = 0.0f64 certified
                  let (mul_34: f64) = f64.mul d_29 part_32
                  let (mul_35: f64) = f64.mul d_29 part_32
                  let (add_36: f64) = f64.add mul_34 mul_35
                  let (part_37: f64) = ct_33[sub_25] certified
                  let (add_38: f64) = f64.add part_37 add_36
                  let (ds_adj_39: [n_0]f64) = ct_33 with [sub_25] = add_38 certified
                  in (ds_adj_39, ds_28)
              let (y_4: [n_0]f64) = cs_8
              let (xs_adj_5: [n_0]f64) = ds_adj_40
              in (xs_adj_5)
        "#]],
    );
}

#[test]
fn loop_is_split_as_asked() {
    check(
        r"def f (n: i64, x: f64, ct: f64) : (x_tan: f64) =
            let (y: f64, x_tan: f64) = jvp (x) (ct) \(a: f64) : (f64) ->
              let (b: f64) =
                loop stripmine 1 (c: f64 = a) for i: i32 < 100i32 do
                  let (d: f64) = f64.neg c
                  in (d)
              in (b)
            in (x_tan)",
        expect![[r#"
            def f (n_0: i64, x_1: f64, ct_2: f64) : (x_tan_3: f64) =
              let (a_6: f64) = x_1
              let (b_7: f64, b_tan_25: f64) =
                loop (c_12: f64 = a_6, c_tan_20: f64 = ct_2) for i_11: i64 < 10i64 do
                  let (mul_13: i64) = i64.mul i_11 10i64
                  let (sub_14: i64) = i64.sub 100i64 mul_13
                  let (min_15: i64) = i64.min 10i64 sub_14
                  let (c_19: f64, c_tan_24: f64) =
                    loop (c_8: f64 = c_12, c_tan_21: f64 = c_tan_20) for i_16: i64 < min_15 do
                      let (add_17: i64) = i64.add mul_13 i_16
                      let (i32_18: i32) = i64.to_i32 add_17
                      let (i_9: i32) = i32_18
                      let (d_10: f64) = f64.neg c_8
                      let (neg_22: f64) = f64.neg c_tan_21
                      let (d_tan_23: f64) = neg_22
                      in (d_10, d_tan_23)
                  in (c_19, c_tan_24)
              let (y_4: f64) = b_7
              let (x_tan_5: f64) = b_tan_25
              in (x_tan_5)
        "#]],
    );
}

#[test]
fn bounded_loop_counts_while_it_runs() {
    check(
        r"def f (x: f64, ct: f64) : (x_adj: f64) =
            let (y: f64, x_adj: f64) = vjp (x) (ct) \(a: f64) : (f64) ->
              let (b: f64) =
                loop bound 10 (c: f64 = a) while
                  let (more: bool) = f64.lt c 100.0f64
                  in (more)
                do
                  let (d: f64) = f64.mul c c
                  in (d)
              in (b)
            in (x_adj)",
        expect![[r#"
            def f (x_0: f64, ct_1: f64) : (x_adj_2: f64) =
              let (a_5: f64) = x_0
              let (saved_13: [10i64]f64) = scratch f64 [10i64]
              let (b_6: f64, n_11: i64, saved_15: [10i64]f64) =
                loop (c_7: f64 = a_5, i_10: i64 = 0i64, saved_14: [10i64]f64 = saved_13) while
                  let (more_8: bool) = f64.lt c_7 100.0f64
                  in (more_8)
                do
                  let (lt_16: bool) = i64.lt i_10 10i64
                  let () = assert lt_16 ("a loop runs more often than its attribute says, which is 10")
                  let (saved_17: [10i64]f64) = saved_14 with [i_10] = c_7 certified
                  let (d_9: f64) = f64.mul c_7 c_7
                  let (add_12: i64) = i64.add i_10 1i64
                  in (d_9, add_12, saved_17)
              let (c_adj_27: f64) =
                loop (c_adj_18: f64 = ct_1) for j_19: i64 < n_11 do
                  let (sub_20: i64) = i64.sub n_11 1i64
                  let (sub_21: i64) = i64.sub sub_20 j_19
                  let (c_22: f64) = saved_15[sub_21] certified
                  let (mul_24: f64) = f64.mul c_22 c_adj_18
                  let (mul_25: f64) = f64.mul c_22 c_adj_18
                  let (add_26: f64) = f64.add mul_24 mul_25
                  in (add_26)
              let (y_3: f64) = b_6
              let (x_adj_4: f64) = c_adj_27
              in (x_adj_4)
        "#]],
    );
}

#[test]
fn own_rule_is_used_backwards_and_not_forwards() {
    check(
        r"def f (x: f64, ct: f64) : (x_adj: f64, x_tan: f64) =
            let (y: f64, x_adj: f64) = vjp (x) (ct) \(a: f64) : (f64) ->
              let (b: f64) = with_vjp (a)
                \(c: f64) : (f64) ->
                  let (d: f64) = f64.exp c
                  in (d)
                rule \(r: f64, r_adj: f64) : (f64) ->
                  let (s: f64) = f64.add r r_adj
                  in (s)
              in (b)
            let (z: f64, x_tan: f64) = jvp (x) (ct) \(a: f64) : (f64) ->
              let (b: f64) = with_vjp (a)
                \(c: f64) : (f64) ->
                  let (d: f64) = f64.exp c
                  in (d)
                rule \(r: f64, r_adj: f64) : (f64) ->
                  in (r)
              in (b)
            in (x_adj, x_tan)",
        expect![[r#"
            def f (x_0: f64, ct_1: f64) : (x_adj_2: f64, x_tan_3: f64) =
              let (a_6: f64) = x_0
              let (d_21: f64) = f64.exp a_6
              let (b_7: f64) = d_21
              let (s_22: f64) = f64.add b_7 ct_1
              let (y_4: f64) = b_7
              let (x_adj_5: f64) = s_22
              let (a_15: f64) = x_0
              let (c_17: f64) = a_15
              let (d_18: f64) = f64.exp c_17
              let (mul_23: f64) = f64.mul d_18 ct_1
              let (d_tan_24: f64) = mul_23
              let (b_16: f64) = d_18
              let (z_13: f64) = b_16
              let (x_tan_14: f64) = d_tan_24
              in (x_adj_5, x_tan_14)
        "#]],
    );
}

#[test]
fn calls_are_inlined() {
    check(
        r"def square (x: f64) : (y: f64) =
            let (y: f64) = f64.mul x x
            in (y)
          def f (x: f64, v: f64) : (t: f64) =
            let (y: f64, t: f64) = jvp (x) (v) \(a: f64) : (f64) ->
              let (b: f64) = call square (a)
              in (b)
            in (t)",
        expect![[r#"
            def square (x_0: f64) : (y_1: f64) =
              let (y_2: f64) = f64.mul x_0 x_0
              in (y_2)

            def f (x_3: f64, v_4: f64) : (t_5: f64) =
              let (a_8: f64) = x_3
              let (y_10: f64) = f64.mul a_8 a_8
              let (mul_11: f64) = f64.mul a_8 v_4
              let (mul_12: f64) = f64.mul a_8 v_4
              let (add_13: f64) = f64.add mul_11 mul_12
              let (y_tan_14: f64) = add_13
              let (b_9: f64) = y_10
              let (y_6: f64) = b_9
              let (t_7: f64) = y_tan_14
              in (t_7)
        "#]],
    );
}

#[test]
fn recursive_functions_have_recursive_derivatives() {
    check(
        r"def down (x: f64) : (y: f64) =
            let (y: f64) = call down (x)
            in (y)
          def g (x: f64, v: f64) : (t: f64) =
            let (y: f64, t: f64) = vjp (x) (v) \(a: f64) : (f64) ->
              let (b: f64) = call down (a)
              in (b)
            in (t)",
        expect![[r#"
            def down (x_0: f64) : (y_1: f64) =
              let (y_2: f64) = call down (x_0)
              in (y_2)

            def g (x_3: f64, v_4: f64) : (t_5: f64) =
              let (a_8: f64) = x_3
              let (b_9: f64) = call down (a_8)
              let (adj_10: f64) = call down_vjp (a_8, v_4)
              let (y_6: f64) = b_9
              let (t_7: f64) = adj_10
              in (t_7)

            def down_vjp (x_11: f64, ct_12: f64) : (adj_13: f64) =
              let (x_14: f64) = x_11
              let (y_15: f64) = call down (x_14)
              let (adj_16: f64) = call down_vjp (x_14, ct_12)
              in (adj_16)
        "#]],
    );
}
