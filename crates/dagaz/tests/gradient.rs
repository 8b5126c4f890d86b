//! The derivative of an entry point as a program: what it looks like, that it checks, and that it gives the same numbers as
//! `vjp` does.

use dagaz::compile::compile_source;
use dagaz::data::{print, read_values};
use dagaz::gradient::{NoGradient, gradient};
use expect_test::{Expect, expect};

/// The derivative of `f`, as text.
fn derive(definitions: &str, wrt: &[&str]) -> Result<String, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("program.fut");
    std::fs::write(&path, definitions).expect("a file");
    let wrt: Vec<String> = wrt.iter().map(|name| (*name).to_owned()).collect();
    gradient(&path, "f", &wrt).map_err(|error| match error {
        NoGradient::Failure(failure) => failure.summary(),
        NoGradient::Refused(why) => why,
    })
}

/// Runs the derivative at the input, and the same with `reference`, an expression over the parameters.
fn same_numbers(definitions: &str, reference: &str, input: &str) -> String {
    let text = derive(definitions, &[]).unwrap_or_else(|error| panic!("{error}"));
    let run = |source: &str, entry: &str| -> Vec<String> {
        let program = compile_source("printed.fut", source);
        let program = program.unwrap_or_else(|failure| panic!("{failure}\n{source}"));
        let args = read_values(input.as_bytes()).expect("arguments");
        let results = program.session().call(entry, args).unwrap_or_else(|error| panic!("{error}\n{source}"));
        results.iter().map(print).collect()
    };
    let expected = run(&format!("{definitions}\n{reference}"), "expected");
    assert_eq!(run(&text, "f_grad"), expected, "{text}");
    text
}

#[test]
fn products_of_vectors() {
    let text = same_numbers(
        "entry f [n] (xs: [n]f64) (ys: [n]f64) = f64.sum (map2 (*) xs ys)",
        "entry expected [n] (xs: [n]f64) (ys: [n]f64) = vjp (\\(xs, ys) -> f xs ys) (xs, ys) 1",
        "[1.0, 2.0] [3.0, 4.0]",
    );
    show(
        &text,
        expect![[r#"
        -- The derivative of f.

        entry f_grad [n] (xs: [n]f64) (ys: [n]f64) : ([n]f64, [n]f64) =
          (ys, xs)
    "#]],
    );
}

#[test]
fn products_of_matrices() {
    let text = same_numbers(
        "entry f [n][m][k] (a: [n][m]f64) (b: [m][k]f64) : [n][k]f64 =
           map (\\row -> map (\\col -> f64.sum (map2 (*) row col)) (transpose b)) a",
        "entry expected [n][m][k] (a: [n][m]f64) (b: [m][k]f64) (ct: [n][k]f64) = vjp (\\(a, b) -> f a b) (a, b) ct",
        "[[1.0, 2.0]] [[3.0, 4.0], [5.0, 6.0]] [[7.0, 8.0]]",
    );
    show(
        &text,
        expect![[r#"
        -- The derivative of f.

        entry f_grad [n] [n_2] [n_3] (a: [n][n_2]f64) (b: [n_2][n_3]f64) (result_ct: [n][n_3]f64) : ([n][n_2]f64, [n_2][n_3]f64) =
          let iota_2 = iota n_2
          let iota_3 = iota n_3
          let a_adj = map (\ct ->
            map (\b_2 ->
              let mapped = map2 (\b_3 ct_2 -> b_3 * ct_2) b_2 ct
              in reduce_comm (\x y -> x + y) 0.0f64 mapped)
              b)
            result_ct
          let iota_4 = iota n
          let b_adj = map (\q ->
            map (\q_2 ->
              let mapped_2 = map (\p -> a[p, q] * result_ct[p, q_2]) iota_4
              in reduce_comm (\x_2 y_2 -> x_2 + y_2) 0.0f64 mapped_2)
              iota_3)
            iota_2
          in (a_adj, b_adj)
    "#]],
    );
}

#[test]
fn least_squares() {
    let text = same_numbers(
        "entry f [n] (xs: [n]f64) (ys: [n]f64) (slope: f64) (offset: f64) =
           f64.sum (map2 (\\x y -> (slope * x + offset - y) ** 2) xs ys)",
        "entry expected [n] (xs: [n]f64) (ys: [n]f64) (s: f64) (o: f64) =
           vjp (\\(xs, ys, s, o) -> f xs ys s o) (xs, ys, s, o) 1",
        "[1.0, 2.0] [3.0, 5.0] 0.5 0.25",
    );
    show(
        &text,
        expect![[r#"
            -- The derivative of f.

            entry f_grad [n] (xs: [n]f64) (ys: [n]f64) (slope: f64) (offset: f64) : ([n]f64, [n]f64, f64, f64) =
              let (xs_adj, ys_adj, adj, adj_2) = unzip4 (map2 (\x y ->
                let sub = slope * x + offset - y
                let add = sub + sub
                in (slope * add, -add, x * add, add))
                xs ys)
              let slope_adj = reduce_comm (\x_2 y_2 -> x_2 + y_2) 0.0f64 adj
              let offset_adj = reduce_comm (\x_3 y_3 -> x_3 + y_3) 0.0f64 adj_2
              in (xs_adj, ys_adj, slope_adj, offset_adj)
        "#]],
    );
}

fn show(text: &str, expected: Expect) {
    expected.assert_eq(text);
}

macro_rules! same {
    ($($name:ident: $definition:literal, $reference:literal, $input:literal;)*) => {
        $(#[test]
        fn $name() {
            same_numbers($definition, concat!("entry expected ", $reference), $input);
        })*
    };
}

same! {
    loops: "entry f (x: f64) (n: i64) = loop y = 1 for i < n do y * x + f64.sin y",
        "(x: f64) (n: i64) = vjp (\\x -> f x n) x 1", "1.5 5i64";
    while_loops: "entry f (x: f64) = loop y = x while y < 100 do y * y + x",
        "(x: f64) = vjp f x 1", "1.5";
    updates: "entry f [n] (xs: [n]f64) = (loop ys = copy xs for i < n - 1 do ys with [i + 1] = ys[i] * ys[i + 1])[n - 1]",
        "(xs: []f64) = vjp f xs 1", "[1.5, 2.0, 0.5, 3.0]";
    constant_maps_around_others: "entry f [n] (xs: [n]f64) (is: [n]i64) = f64.sum (map (\\k -> f64.sum (map (\\i -> xs[i] * xs[i] * f64.i64 k) is)) (iota 3))",
        "[n] (xs: [n]f64) (is: [n]i64) = vjp (\\xs -> f xs is) xs 1", "[1.0, 2.0, 3.0] [0i64, 2i64, 2i64]";
    turned_shapes: "entry f [n] (xs: [n]f64) = f64.sum (map f64.product (unflatten (flatten (transpose (replicate 4 xs)) :> [4 * n]f64) :> [4][n]f64))",
        "[n] (xs: [n]f64) = vjp f xs 1", "[0.5, 1.5, 0.7]";
    branches: "entry f (x: f64) = if x < 0 then f64.sin x else x * x", "(x: f64) = vjp f x 1", "-0.5";
    gathers: "entry f [n][m] (xs: [n]f64) (is: [m]i64) = f64.sum (map (\\i -> xs[i] * xs[i]) is)",
        "(xs: []f64) (is: []i64) = vjp (\\xs -> f xs is) xs 1", "[1.0, 2.0, 3.0] [0i64, 2i64, 2i64]";
    products: "entry f [n] (xs: [n]f64) = f64.product xs", "(xs: []f64) = vjp f xs 1", "[1.0, 0.0, 3.0]";
    scans: "entry f [n] (xs: [n]f64) = scan (\\a b -> a * b + b) 0 xs",
        "[n] (xs: [n]f64) (ct: [n]f64) = vjp f xs ct", "[1.0, 0.5, 3.0] [1.0, 2.0, 3.0]";
    histograms: "entry f [n] (is: [n]i64) (xs: [n]f64) = hist (*) 1 3 is xs",
        "[n] (is: [n]i64) (xs: [n]f64) (ct: [3]f64) = vjp (f is) xs ct", "[0i64, 2i64, 0i64] [1.0, 0.5, 3.0] [1.0, 2.0, 3.0]";
    scatters: "entry f [n] (xs: [n]f64) = scatter (map f64.sin xs) [1, 0] [xs[0] * xs[1], 2]",
        "[n] (xs: [n]f64) (ct: [n]f64) = vjp f xs ct", "[1.0, 0.5, 3.0] [1.0, 2.0, 3.0]";
    stencils: "entry f [n] (xs: [n]f64) =
        f64.sum (tabulate n (\\i -> let l = if i == 0 then 0 else xs[i - 1] in l * xs[i] - xs[i]))",
        "(xs: []f64) = vjp f xs 1", "[1.0, 0.5, 3.0, -1.0]";
    shapes: "entry f (xs: [6]f64) = let m = unflatten (xs :> [2 * 3]f64) in flatten (map (map f64.sin) (transpose m)) ++ xs[1:3]",
        "(xs: [6]f64) (ct: [8]f64) = vjp (\\xs -> f xs :> [8]f64) xs ct",
        "[1.0, 2.0, 3.0, 4.0, 5.0, 6.0] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]";
    single_precision: "entry f (x: f32) (y: f32) = f32.atan2 x y + f32.exp (x * y)",
        "(x: f32) (y: f32) = vjp (\\(x, y) -> f x y) (x, y) 1", "0.5f32 0.25f32";
}

#[test]
fn some_parameters() {
    let text = derive("entry f (x: f64) (y: f64) = x * y", &["y"]).expect("a derivative");
    show(
        &text,
        expect![[r#"
        -- The derivative of f with respect to y.

        entry f_grad (x: f64) (y: f64) : f64 =
          x
    "#]],
    );
}

#[test]
fn questions_without_an_answer() {
    let ask = |definition: &str, wrt: &[&str]| derive(definition, wrt).expect_err("no answer");
    let answers = [
        ask("entry g (x: f64) = x", &[]),
        ask("entry f (x: f64) (y: f64) = x * y", &["z"]),
        ask("entry f (x: f64) (n: i64) = x * f64.i64 n", &["n"]),
        ask("entry f (n: i64) = f64.i64 n", &[]),
        ask("entry f (x: f64) = x < 1", &[]),
        ask("entry f (x: f64) = filter (> 0) [x]", &[]),
        ask("entry f (x: f64) = f64.gamma x", &[]),
    ];
    expect![[r#"
        there is no entry point f
        f has no parameter z; its parameters are x, y
        the parameter n contains no floating-point numbers
        f has no parameter that contains floating-point numbers
        the result of f contains no floating-point numbers
        the sizes of the result of f are known only when it is computed
        the derivative of f contains a derivative of the gamma function, which no function of the prelude gives, and cannot be shown as a program"#]].assert_eq(&answers.join("\n"));
}
