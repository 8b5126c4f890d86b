//! The derivatives of branches, as text.

mod text;

use expect_test::expect;
use text::check;

#[test]
fn branch_backwards_is_run_again() {
    check(
        r"def f (c: bool, x: f64, ct: f64) : (x_adj: f64) =
            let (y: f64, x_adj: f64) = vjp (x) (ct) \(a: f64) : (f64) ->
              let (b: f64) =
                if c then
                  let (d: f64) = f64.exp a
                  in (d)
                else
                  in (a)
              in (b)
            in (x_adj)",
        expect![[r#"
            def f (c_0: bool, x_1: f64, ct_2: f64) : (x_adj_3: f64) =
              let (a_6: f64) = x_1
              let (b_7: f64) =
                if c_0 then
                  let (d_8: f64) = f64.exp a_6
                  in (d_8)
                else
                  in (a_6)
              let (adj_12: f64) =
                if c_0 then
                  let (d_9: f64) = b_7
                  let (mul_11: f64) = f64.mul d_9 ct_2
                  in (mul_11)
                else
                  in (ct_2)
              let (y_4: f64) = b_7
              let (x_adj_5: f64) = adj_12
              in (x_adj_5)
        "#]],
    );
}

#[test]
fn what_branches_compute_for_long_is_kept() {
    check(
        r"def f (c: bool, d: bool, x: f64, ct: f64) : (x_adj: f64) =
            let (y: f64, x_adj: f64) = vjp (x) (ct) \(a: f64) : (f64) ->
              let (b: f64) =
                if c then
                  let (e: f64) =
                    if d then
                      let (g: f64) = f64.sin a
                      let (h: f64) = f64.mul g a
                      in (h)
                    else
                      in (a)
                  let (k: f64) = f64.mul e e
                  in (k)
                else
                  let (l: f64) = f64.sqrt a
                  let (m: f64) = f64.mul l a
                  in (m)
              in (b)
            in (x_adj)",
        expect![[r#"
            def f (c_0: bool, d_1: bool, x_2: f64, ct_3: f64) : (x_adj_4: f64) =
              let (a_7: f64) = x_2
              let (b_8: f64, kept_16: f64, kept_17: f64) =
                if c_0 then
                  let (e_9: f64, kept_15: f64) =
                    if d_1 then
                      let (g_10: f64) = f64.sin a_7
                      let (h_11: f64) = f64.mul g_10 a_7
                      in (h_11, g_10)
                    else
                      in (a_7, 0.0f64)
                  let (k_12: f64) = f64.mul e_9 e_9
                  in (k_12, e_9, kept_15)
                else
                  let (l_13: f64) = f64.sqrt a_7
                  let (m_14: f64) = f64.mul l_13 a_7
                  in (m_14, l_13, 0.0f64)
              let (adj_48: f64) =
                if c_0 then
                  let (e_20: f64) = kept_16
                  let (kept_21: f64) = kept_17
                  let (mul_26: f64) = f64.mul e_20 ct_3
                  let (mul_27: f64) = f64.mul e_20 ct_3
                  let (add_28: f64) = f64.add mul_26 mul_27
                  let (adj_38: f64) =
                    if d_1 then
                      let (g_29: f64) = kept_21
                      let (mul_33: f64) = f64.mul a_7 add_28
                      let (mul_34: f64) = f64.mul g_29 add_28
                      let (cos_35: f64) = f64.cos a_7
                      let (mul_36: f64) = f64.mul cos_35 mul_33
                      let (add_37: f64) = f64.add mul_34 mul_36
                      in (add_37)
                    else
                      in (add_28)
                  in (adj_38)
                else
                  let (l_39: f64) = kept_16
                  let (mul_43: f64) = f64.mul a_7 ct_3
                  let (mul_44: f64) = f64.mul l_39 ct_3
                  let (div_45: f64) = f64.div 0.5f64 l_39
                  let (mul_46: f64) = f64.mul div_45 mul_43
                  let (add_47: f64) = f64.add mul_44 mul_46
                  in (add_47)
              let (y_5: f64) = b_8
              let (x_adj_6: f64) = adj_48
              in (x_adj_6)
        "#]],
    );
}

#[test]
fn a_branch_that_is_needed_for_nothing_else_keeps_nothing() {
    check(
        r"def f (n: i64, xs: [n]f64, cts: [n]f64) : (ys: [n]f64, xs_adj: [n]f64) =
            let (ys: [n]f64, xs_adj: [n]f64) = vjp (xs) (cts) \(as: [n]f64) : ([n]f64) ->
              let (bs: [n]f64) = map n (as) \(a: f64) : (f64) ->
                let (c: bool) = f64.lt a 0.0f64
                let (b: f64) =
                  if c then
                    let (d: f64) = f64.exp a
                    let (e: f64) = f64.mul d d
                    in (e)
                  else
                    in (a)
                in (b)
              in (bs)
            in (ys, xs_adj)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, cts_2: [n_0]f64) : (ys_3: [n_0]f64, xs_adj_4: [n_0]f64) =
              let (as_7: [n_0]f64) = xs_1
              let (bs_8: [n_0]f64) =
                map n_0 (as_7)
                  \(a_9: f64) : (f64) ->
                    let (c_10: bool) = f64.lt a_9 0.0f64
                    let (b_11: f64) =
                      if c_10 then
                        let (d_12: f64) = f64.exp a_9
                        let (e_13: f64) = f64.mul d_12 d_12
                        in (e_13)
                      else
                        in (a_9)
                    in (b_11)
              let (adj_30: [n_0]f64) =
                map n_0 (as_7, cts_2)
                  \(a_14: f64, ct_19: f64) : (f64) ->
                    let (c_15: bool) = f64.lt a_14 0.0f64
                    let (adj_29: f64) =
                      if c_15 then
                        let (d_23: f64) = f64.exp a_14
                        let (d_21: f64) = d_23
                        let (mul_25: f64) = f64.mul d_21 ct_19
                        let (mul_26: f64) = f64.mul d_21 ct_19
                        let (add_27: f64) = f64.add mul_25 mul_26
                        let (mul_28: f64) = f64.mul d_21 add_27
                        in (mul_28)
                      else
                        in (ct_19)
                    in (adj_29)
              let (ys_5: [n_0]f64) = bs_8
              let (xs_adj_6: [n_0]f64) = adj_30
              in (ys_5, xs_adj_6)
        "#]],
    );
}

#[test]
fn in_a_branch_that_runs_again_numbers_are_not_computed_once_more() {
    check(
        r"def f (n: i64, xs: [n]f64, c: bool, cts: [n]f64) : (xs_adj: [n]f64) =
            let (ys: [n]f64, xs_adj: [n]f64) = vjp (xs) (cts) \(as: [n]f64) : ([n]f64) ->
              let (bs: [n]f64) = map n (as) \(a: f64) : (f64) ->
                let (d: bool) = f64.lt a 0.0f64
                let (b: f64) =
                  if c then
                    let (e: f64) =
                      if d then
                        let (g: f64) = f64.sqrt a
                        let (h: f64) = g
                        in (h)
                      else
                        in (a)
                    let (k: f64) = f64.mul e e
                    in (k)
                  else
                    in (a)
                in (b)
              in (bs)
            in (xs_adj)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, c_2: bool, cts_3: [n_0]f64) : (xs_adj_4: [n_0]f64) =
              let (as_7: [n_0]f64) = xs_1
              let (bs_8: [n_0]f64) =
                map n_0 (as_7)
                  \(a_9: f64) : (f64) ->
                    let (d_10: bool) = f64.lt a_9 0.0f64
                    let (b_11: f64) =
                      if c_2 then
                        let (e_12: f64) =
                          if d_10 then
                            let (g_13: f64) = f64.sqrt a_9
                            let (h_14: f64) = g_13
                            in (h_14)
                          else
                            in (a_9)
                        let (k_15: f64) = f64.mul e_12 e_12
                        in (k_15)
                      else
                        in (a_9)
                    in (b_11)
              let (adj_42: [n_0]f64) =
                map n_0 (as_7, cts_3)
                  \(a_16: f64, ct_23: f64) : (f64) ->
                    let (d_17: bool) = f64.lt a_16 0.0f64
                    let (adj_41: f64) =
                      if c_2 then
                        let (e_29: f64) =
                          if d_17 then
                            let (g_25: f64) = f64.sqrt a_16
                            let (h_26: f64) = g_25
                            in (h_26)
                          else
                            in (a_16)
                        let (e_27: f64) = e_29
                        let (mul_31: f64) = f64.mul e_27 ct_23
                        let (mul_32: f64) = f64.mul e_27 ct_23
                        let (add_33: f64) = f64.add mul_31 mul_32
                        let (adj_40: f64) =
                          if d_17 then
                            let (g_34: f64) = e_27
                            let (div_38: f64) = f64.div 0.5f64 g_34
                            let (mul_39: f64) = f64.mul div_38 add_33
                            in (mul_39)
                          else
                            in (add_33)
                        in (adj_40)
                      else
                        in (ct_23)
                    in (adj_41)
              let (ys_5: [n_0]f64) = bs_8
              let (xs_adj_6: [n_0]f64) = adj_42
              in (xs_adj_6)
        "#]],
    );
}

#[test]
fn of_a_loop_in_a_branch_numbers_are_kept_and_states_saved_when_it_runs_again() {
    check(
        r"def f (c: bool, n: i64, x: f64, ct: f64) : (x_adj: f64) =
            let (y: f64, x_adj: f64) = vjp (x) (ct) \(a: f64) : (f64) ->
              let (b: f64) =
                if c then
                  let (s: f64, sign: f64) =
                    loop (t: f64 = 0.0f64, r: f64 = 1.0f64) for i: i64 < n do
                      let (u: f64) = f64.mul r a
                      let (v: f64) = f64.add t u
                      let (w: f64) = f64.neg r
                      in (v, w)
                  let (k: f64) = f64.mul s s
                  in (k)
                else
                  in (a)
              in (b)
            in (x_adj)",
        expect![[r#"
            def f (c_0: bool, n_1: i64, x_2: f64, ct_3: f64) : (x_adj_4: f64) =
              let (a_7: f64) = x_2
              let (b_8: f64, kept_18: f64) =
                if c_0 then
                  let (s_9: f64, sign_10: f64) =
                    loop (t_11: f64 = 0.0f64, r_12: f64 = 1.0f64) for i_13: i64 < n_1 do
                      let (u_14: f64) = f64.mul r_12 a_7
                      let (v_15: f64) = f64.add t_11 u_14
                      let (w_16: f64) = f64.neg r_12
                      in (v_15, w_16)
                  let (k_17: f64) = f64.mul s_9 s_9
                  in (k_17, s_9)
                else
                  in (a_7, 0.0f64)
              let (adj_58: f64) =
                if c_0 then
                  let (max_31: i64) = i64.max n_1 0i64
                  let (saved_35: [max_31]f64) = scratch f64 [max_31]
                  let (sign_30: f64, saved_37: [max_31]f64) =
                    loop (r_21: f64 = 1.0f64, saved_36: [max_31]f64 = saved_35) for i_22: i64 < n_1 do
                      let (saved_39: [max_31]f64) = saved_36 with [i_22] = r_21 certified
                      let (w_25: f64) = f64.neg r_21
                      in (w_25, saved_39)
                  let (s_26: f64) = kept_18
                  let (mul_41: f64) = f64.mul s_26 ct_3
                  let (mul_42: f64) = f64.mul s_26 ct_3
                  let (add_43: f64) = f64.add mul_41 mul_42
                  let (t_adj_56: f64, adj_57: f64) =
                    loop (t_adj_44: f64 = add_43, adj_45: f64 = 0.0f64) for j_46: i64 < max_31 do
                      let (sub_47: i64) = i64.sub max_31 1i64
                      let (sub_48: i64) = i64.sub sub_47 j_46
                      let (r_50: f64) = saved_37[sub_48] certified
                      let (mul_54: f64) = f64.mul r_50 t_adj_44
                      let (add_55: f64) = f64.add adj_45 mul_54
                      in (t_adj_44, add_55)
                  in (adj_57)
                else
                  in (ct_3)
              let (y_5: f64) = b_8
              let (x_adj_6: f64) = adj_58
              in (x_adj_6)
        "#]],
    );
}
