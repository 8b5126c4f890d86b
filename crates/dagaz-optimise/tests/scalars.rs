//! Scalar operations: Core before and after simplification.

mod common;

use dagaz_optimise::{eliminate_dead_code, simplify};
use expect_test::{Expect, expect};

fn check(input: &str, expected: Expect) {
    common::check(&[simplify, eliminate_dead_code], input, expected);
}

#[test]
fn constants_and_identities() {
    check(
        r"def f (n: i64, x: f64) : (a: i64, b: f64, c: f64, d: bool) =
            let (p: i64) = i64.add n 1i64
            let (q: i64) = i64.sub p 1i64
            let (r: i64) = i64.add 2i64 3i64
            let (a: i64) = i64.mul q r
            let (y: f64) = f64.sub x 0.0f64
            let (b: f64) = f64.mul y 1.0f64
            let (c: f64) = f64.add x 0.0f64
            let (s: i64) = i64.sub n -3i64
            let (d: bool) = i64.eq s 7i64
            in (a, b, c, d)",
        expect![[r#"
            def f (n_0: i64, x_1: f64) : (a_2: i64, b_3: f64, c_4: f64, d_5: bool) =
              let (a_9: i64) = i64.mul n_0 5i64
              let (c_12: f64) = f64.add x_1 0.0f64
              let (d_14: bool) = i64.eq n_0 4i64
              in (a_9, x_1, c_12, d_14)
        "#]],
    );
}

#[test]
fn signs_of_floats_go_into_sums_and_constants() {
    check(
        r"def f (x: f32, y: f32) : (a: f32, b: f32, c: f32, d: f32, e: f32, g: f32, h: f32) =
            let (nx: f32) = f32.neg x
            let (ny: f32) = f32.neg y
            let (a: f32) = f32.add x ny
            let (b: f32) = f32.add nx y
            let (c: f32) = f32.sub x ny
            let (d: f32) = f32.mul 2.0f32 nx
            let (e: f32) = f32.mul nx ny
            let (g: f32) = f32.mul nx y
            let (h: f32) = f32.sub nx y
            in (a, b, c, d, e, g, h)",
        expect![[r#"
            def f (x_0: f32, y_1: f32) : (a_2: f32, b_3: f32, c_4: f32, d_5: f32, e_6: f32, g_7: f32, h_8: f32) =
              let (nx_9: f32) = f32.neg x_0
              let (a_11: f32) = f32.sub x_0 y_1
              let (b_12: f32) = f32.sub y_1 x_0
              let (c_13: f32) = f32.add x_0 y_1
              let (d_14: f32) = f32.mul -2.0f32 x_0
              let (e_15: f32) = f32.mul x_0 y_1
              let (g_16: f32) = f32.mul nx_9 y_1
              let (h_17: f32) = f32.sub nx_9 y_1
              in (a_11, b_12, c_13, d_14, e_15, g_16, h_17)
        "#]],
    );
}

#[test]
fn zeros_are_not_added_to_what_is_not_a_negative_zero() {
    check(
        r"def f (x: f64, y: f64) : (a: f64, b: f64, c: f64, d: f64) =
            let (z: f64) = f64.add 0.0f64 x
            let (s: f64) = f64.add y z
            let (a: f64) = f64.add s 0.0f64
            let (b: f64) = f64.add 0.0f64 z
            let (t: f64) = f64.add x y
            let (c: f64) = f64.add t 0.0f64
            let (m: f64) = f64.mul z y
            let (d: f64) = f64.add m 0.0f64
            in (a, b, c, d)",
        expect![[r#"
            def f (x_0: f64, y_1: f64) : (a_2: f64, b_3: f64, c_4: f64, d_5: f64) =
              let (z_6: f64) = f64.add 0.0f64 x_0
              let (s_7: f64) = f64.add y_1 z_6
              let (t_10: f64) = f64.add x_0 y_1
              let (c_11: f64) = f64.add t_10 0.0f64
              let (m_12: f64) = f64.mul z_6 y_1
              let (d_13: f64) = f64.add m_12 0.0f64
              in (s_7, z_6, c_11, d_13)
        "#]],
    );
}
