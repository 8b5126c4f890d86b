//! Linearised functions as text: Core in, Core out. Dead statements are left in. Transposes are in the folder `linear`.

use dagaz_ad::linearize;
use dagaz_core::exp::{Fun, Lambda};
use dagaz_core::parse::parse;
use dagaz_core::print::print_without_locs;
use dagaz_core::types::{Atom, Param, Type};
use dagaz_core::visit::free_vars_lambda;
use expect_test::{Expect, expect};

/// The primal of the first function and its derivative by the parameters after the first `constants`, as two functions: the
/// residuals are the last results of the first, and what both take beside the tangents.
fn check_linearised(constants: usize, input: &str, expected: Expect) {
    let mut program = parse(input).unwrap_or_else(|error| panic!("{error}"));
    let fun = program.funs[0].clone();
    let (known, params) = fun.params.split_at(constants);
    let ret = fun.ret.iter().map(|p| p.ty.clone()).collect();
    let lambda = Lambda { params: params.to_vec(), body: fun.body.clone(), ret };
    let parts = linearize(&mut program.vars, &[], known, &lambda).unwrap_or_else(|error| panic!("{error}"));
    let free = free_vars_lambda(&parts.derivative);
    let bound = parts.params.iter().chain(parts.primal.stms.iter().flat_map(|stm| &stm.pat));
    let residuals: Vec<Param> = bound.filter(|p| free.contains(&p.var)).cloned().collect();
    let mut named = |ty: &Type| Param { var: program.vars.fresh("result"), ty: ty.clone() };
    let both: Vec<Param> = lambda.ret.iter().chain(residuals.iter().map(|p| &p.ty)).map(&mut named).collect();
    let tangents: Vec<Param> = lambda.ret.iter().map(&mut named).collect();
    let mut primal = parts.primal;
    primal.result.extend(residuals.iter().map(|p| Atom::from(p.var)));
    let Lambda { params, body, .. } = parts.derivative;
    program.funs = vec![
        Fun { params: [known, &parts.params].concat(), ret: both, body: primal, ..fun.clone() },
        Fun {
            name: "derivative".to_owned(),
            params: [known, &residuals, &params].concat(),
            ret: tangents,
            body,
            loc: fun.loc,
        },
    ];
    expected.assert_eq(&print_without_locs(&program));
}

#[test]
fn map_keeps_residuals() {
    check_linearised(
        1,
        r"def f (n: i64, xs: [n]f64) : (ys: [n]f64) =
            let (ys: [n]f64) = map n (xs) \(x: f64) : (f64) ->
              let (y: f64) = f64.sin x
              in (y)
            in (ys)",
        expect![[r#"
            def f (n_0: i64, xs_10: [n_0]f64) : (result_28: [n_0]f64, result_29: [n_0]f64) =
              let (xs_6: [n_0]f64) = xs_10
              let (ys_9: [n_0]f64, residual_19: [n_0]f64) =
                map n_0 (xs_6)
                  \(x_7: f64) : (f64, f64) ->
                    let (y_8: f64) = f64.sin x_7
                    let (cos_13: f64) = f64.cos x_7
                    in (y_8, cos_13)
              in (ys_9, residual_19)

            def derivative (n_0: i64, residual_19: [n_0]f64, xs_tan_11: [n_0]f64) : (result_30: [n_0]f64) =
              let (ys_tan_27: [n_0]f64) =
                map n_0 (xs_tan_11, residual_19)
                  \(x_tan_23: f64, cos_24: f64) : (f64) ->
                    let (mul_25: f64) = f64.mul cos_24 x_tan_23
                    let (y_tan_26: f64) = mul_25
                    in (y_tan_26)
              in (ys_tan_27)
        "#]],
    );
}

#[test]
fn loop_keeps_residuals_of_iterations() {
    check_linearised(
        1,
        r"def f (n: i64, x: f64) : (y: f64) =
            let (y: f64) = loop (a: f64 = x) for i: i64 < n do
              let (b: f64) = f64.sin a
              in (b)
            in (y)",
        expect![[r#"
            def f (n_0: i64, x_12: f64) : (result_36: f64, result_37: [max_21]f64) =
              let (x_7: f64) = x_12
              let (max_21: i64) = i64.max n_0 0i64
              let (residual_22: [max_21]f64) = scratch f64 [max_21]
              let (y_11: f64, residual_24: [max_21]f64) =
                loop (a_8: f64 = x_7, residual_23: [max_21]f64 = residual_22) for i_9: i64 < n_0 do
                  let (b_10: f64) = f64.sin a_8
                  let (cos_15: f64) = f64.cos a_8
                  let (residual_25: [max_21]f64) = residual_23 with [i_9] = cos_15 certified
                  in (b_10, residual_25)
              in (y_11, residual_24)

            def derivative (n_0: i64, residual_24: [max_21]f64, x_tan_13: f64) : (result_38: f64) =
              let (y_tan_35: f64) =
                loop (a_tan_30: f64 = x_tan_13) for i_31: i64 < n_0 do
                  let (cos_32: f64) = residual_24[i_31] certified
                  let (mul_33: f64) = f64.mul cos_32 a_tan_30
                  let (b_tan_34: f64) = mul_33
                  in (b_tan_34)
              in (y_tan_35)
        "#]],
    );
}

#[test]
fn branches_keep_placeholders() {
    check_linearised(
        1,
        r"def f (c: bool, x: f64) : (y: f64) =
            let (y: f64) =
              if c then
                let (b: f64) = f64.sin x
                in (b)
              else
                in (x)
            in (y)",
        expect![[r#"
            def f (c_0: bool, x_8: f64) : (result_22: f64, result_23: f64) =
              let (x_5: f64) = x_8
              let (y_7: f64, residual_16: f64) =
                if c_0 then
                  let (b_6: f64) = f64.sin x_5
                  let (cos_10: f64) = f64.cos x_5
                  in (b_6, cos_10)
                else
                  in (x_5, 0.0f64)
              in (y_7, residual_16)

            def derivative (c_0: bool, residual_16: f64, x_tan_9: f64) : (result_24: f64) =
              let (y_tan_21: f64) =
                if c_0 then
                  let (mul_19: f64) = f64.mul residual_16 x_tan_9
                  let (b_tan_20: f64) = mul_19
                  in (b_tan_20)
                else
                  in (x_tan_9)
              in (y_tan_21)
        "#]],
    );
}

#[test]
fn sum_is_two_sums() {
    check_linearised(
        1,
        r"def f (n: i64, xs: [n]f64) : (y: f64) =
            let (y: f64) = reduce n (xs)
              op \(a: f64, b: f64) : (f64) ->
                let (c: f64) = f64.add a b
                in (c)
              neutral (0.0f64)
            in (y)",
        expect![[r#"
            def f (n_0: i64, xs_12: [n_0]f64) : (result_26: f64) =
              let (xs_7: [n_0]f64) = xs_12
              let (y_11: f64) =
                reduce n_0 (xs_7)
                  op \(a_8: f64, b_9: f64) : (f64) ->
                    let (c_10: f64) = f64.add a_8 b_9
                    in (c_10)
                  neutral (0.0f64)
              in (y_11)

            def derivative (n_0: i64, xs_tan_13: [n_0]f64) : (result_27: f64) =
              let (y_tan_25: f64) =
                reduce n_0 (xs_tan_13)
                  op \(a_tan_21: f64, b_tan_22: f64) : (f64) ->
                    let (add_23: f64) = f64.add a_tan_21 b_tan_22
                    let (c_tan_24: f64) = add_23
                    in (c_tan_24)
                  neutral (0.0f64)
              in (y_tan_25)
        "#]],
    );
}
