//! Linearised functions and their transposes as text: Core in, Core out. Dead statements are left in, as the pass leaves
//! them.

mod text;

use expect_test::expect;

use text::check;

#[test]
fn map_keeps_residuals() {
    check(
        r"def f (n: i64, xs: [n]f64, vs: [n]f64) : (ys_tan: [n]f64) =
            let (ys: [n]f64, h: bool) = linearize (xs) \(xs: [n]f64) : ([n]f64) ->
              let (ys: [n]f64) = map n (xs) \(x: f64) : (f64) ->
                let (y: f64) = f64.sin x
                in (y)
              in (ys)
            let (ys_tan: [n]f64) = apply_linear h (vs) : ([n]f64)
            in (ys_tan)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, vs_2: [n_0]f64) : (ys_tan_3: [n_0]f64) =
              let (xs_6: [n_0]f64) = xs_1
              let (ys_7: [n_0]f64, residual_19: [n_0]f64) =
                map n_0 (xs_6)
                  \(x_8: f64) : (f64, f64) ->
                    let (y_9: f64) = f64.sin x_8
                    let (cos_13: f64) = f64.cos x_8
                    in (y_9, cos_13)
              let (ys_4: [n_0]f64) = ys_7
              let (h_5: bool) = true
              let (ys_tan_27: [n_0]f64) =
                map n_0 (vs_2, residual_19)
                  \(x_tan_23: f64, cos_24: f64) : (f64) ->
                    let (mul_25: f64) = f64.mul cos_24 x_tan_23
                    let (y_tan_26: f64) = mul_25
                    in (y_tan_26)
              let (ys_tan_10: [n_0]f64) = ys_tan_27
              in (ys_tan_10)
        "#]],
    );
}

#[test]
fn loop_keeps_residuals_of_iterations() {
    check(
        r"def f (n: i64, x: f64, v: f64) : (y_tan: f64) =
            let (y: f64, h: bool) = linearize (x) \(x: f64) : (f64) ->
              let (y: f64) = loop (a: f64 = x) for i: i64 < n do
                let (b: f64) = f64.sin a
                in (b)
              in (y)
            let (y_tan: f64) = apply_linear h (v) : (f64)
            in (y_tan)",
        expect![[r#"
            def f (n_0: i64, x_1: f64, v_2: f64) : (y_tan_3: f64) =
              let (x_6: f64) = x_1
              let (max_20: i64) = i64.max n_0 0i64
              let (residual_21: [max_20]f64) = scratch f64 [max_20]
              let (y_7: f64, residual_23: [max_20]f64) =
                loop (a_8: f64 = x_6, residual_22: [max_20]f64 = residual_21) for i_9: i64 < n_0 do
                  let (b_10: f64) = f64.sin a_8
                  let (cos_14: f64) = f64.cos a_8
                  let (residual_24: [max_20]f64) = residual_22 with [i_9] = cos_14 certified
                  in (b_10, residual_24)
              let (y_4: f64) = y_7
              let (h_5: bool) = true
              let (y_tan_34: f64) =
                loop (a_tan_29: f64 = v_2) for i_30: i64 < n_0 do
                  let (cos_31: f64) = residual_23[i_30] certified
                  let (mul_32: f64) = f64.mul cos_31 a_tan_29
                  let (b_tan_33: f64) = mul_32
                  in (b_tan_33)
              let (y_tan_11: f64) = y_tan_34
              in (y_tan_11)
        "#]],
    );
}

#[test]
fn branches_keep_placeholders() {
    check(
        r"def f (c: bool, x: f64, v: f64) : (y_tan: f64) =
            let (y: f64, h: bool) = linearize (x) \(x: f64) : (f64) ->
              let (y: f64) =
                if c then
                  let (b: f64) = f64.sin x
                  in (b)
                else
                  in (x)
              in (y)
            let (y_tan: f64) = apply_linear h (v) : (f64)
            in (y_tan)",
        expect![[r#"
            def f (c_0: bool, x_1: f64, v_2: f64) : (y_tan_3: f64) =
              let (x_6: f64) = x_1
              let (y_7: f64, residual_17: f64) =
                if c_0 then
                  let (b_8: f64) = f64.sin x_6
                  let (cos_11: f64) = f64.cos x_6
                  in (b_8, cos_11)
                else
                  in (x_6, 0.0f64)
              let (y_4: f64) = y_7
              let (h_5: bool) = true
              let (y_tan_22: f64) =
                if c_0 then
                  let (mul_20: f64) = f64.mul residual_17 v_2
                  let (b_tan_21: f64) = mul_20
                  in (b_tan_21)
                else
                  in (v_2)
              let (y_tan_9: f64) = y_tan_22
              in (y_tan_9)
        "#]],
    );
}

#[test]
fn sum_is_two_sums() {
    check(
        r"def f (n: i64, xs: [n]f64, vs: [n]f64) : (y_tan: f64) =
            let (y: f64, h: bool) = linearize (xs) \(xs: [n]f64) : (f64) ->
              let (y: f64) = reduce n (xs)
                op \(a: f64, b: f64) : (f64) ->
                  let (c: f64) = f64.add a b
                  in (c)
                neutral (0.0f64)
              in (y)
            let (y_tan: f64) = apply_linear h (vs) : (f64)
            in (y_tan)",
        expect![[r#"
            def f (n_0: i64, xs_1: [n_0]f64, vs_2: [n_0]f64) : (y_tan_3: f64) =
              let (xs_6: [n_0]f64) = xs_1
              let (y_7: f64) =
                reduce n_0 (xs_6)
                  op \(a_8: f64, b_9: f64) : (f64) ->
                    let (c_10: f64) = f64.add a_8 b_9
                    in (c_10)
                  neutral (0.0f64)
              let (y_4: f64) = y_7
              let (h_5: bool) = true
              let (y_tan_24: f64) =
                reduce n_0 (vs_2)
                  op \(a_tan_20: f64, b_tan_21: f64) : (f64) ->
                    let (add_22: f64) = f64.add a_tan_20 b_tan_21
                    let (c_tan_23: f64) = add_22
                    in (c_tan_23)
                  neutral (0.0f64)
              let (y_tan_11: f64) = y_tan_24
              in (y_tan_11)
        "#]],
    );
}

#[test]
fn transpose_of_a_product() {
    check(
        r"def f (a: f64, ct: f64) : (x_adj: f64) =
            let (x_adj: f64) = transpose (ct) \(x: f64) : (f64) ->
              let (y: f64) = f64.mul a x
              let (z: f64) = f64.add x y
              in (z)
            in (x_adj)",
        expect![[r#"
            def f (a_0: f64, ct_1: f64) : (x_adj_2: f64) =
              let (x_4: f64) = 0.0f64
              let (y_5: f64) = f64.mul a_0 x_4
              let (z_6: f64) = f64.add x_4 y_5
              let (mul_7: f64) = f64.mul a_0 ct_1
              let (add_8: f64) = f64.add ct_1 mul_7
              let (x_adj_3: f64) = add_8
              in (x_adj_3)
        "#]],
    );
}

#[test]
fn transpose_of_a_square() {
    check(
        r"def f (ct: f64) : (x_adj: f64) =
            let (x_adj: f64) = transpose (ct) \(x: f64) : (f64) ->
              let (y: f64) = f64.mul x x
              in (y)
            in (x_adj)",
        expect![[r#"
            not-linear: this function is not linear and cannot be transposed: here is a product of two values that depend on the argument
        "#]],
    );
}

#[test]
fn transpose_with_an_offset() {
    check(
        r"def f (ct: f64) : (x_adj: f64) =
            let (x_adj: f64) = transpose (ct) \(x: f64) : (f64) ->
              let (y: f64) = f64.add x 1.0f64
              in (y)
            in (x_adj)",
        expect![[r#"
            not-linear: this function is not linear and cannot be transposed: here is a constant added to or mixed with what depends on the argument
        "#]],
    );
}

#[test]
fn transpose_of_a_comparison() {
    check(
        r"def f (ct: f64) : (x_adj: f64) =
            let (x_adj: f64) = transpose (ct) \(x: f64) : (f64) ->
              let (c: bool) = f64.lt x 1.0f64
              let (y: f64) =
                if c then
                  in (x)
                else
                  in (0.0f64)
              in (y)
            in (x_adj)",
        expect![[r#"
            not-linear: this function is not linear and cannot be transposed: here is a comparison of a value that depends on the argument
        "#]],
    );
}

#[test]
fn detached_values_are_constants() {
    check(
        r"def f (x: f64, v: f64) : (y_tan: f64) =
            let (y: f64, y_tan: f64) = jvp (x) (v) \(x: f64) : (f64) ->
              let (d: f64) = detach x
              let (y: f64) = f64.mul x d
              in (y)
            in (y_tan)",
        expect![[r#"
            def f (x_0: f64, v_1: f64) : (y_tan_2: f64) =
              let (x_5: f64) = x_0
              let (d_6: f64) = x_5
              let (y_7: f64) = f64.mul x_5 d_6
              let (mul_8: f64) = f64.mul d_6 v_1
              let (y_tan_9: f64) = mul_8
              let (y_3: f64) = y_7
              let (y_tan_4: f64) = y_tan_9
              in (y_tan_4)
        "#]],
    );
}
