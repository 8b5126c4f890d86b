//! Maps and reps that were left out: source in, source with all of them out.

mod common;

use common::check_maps;
use expect_test::expect;

#[test]
fn operators_are_lifted() {
    check_maps(
        r"def shift [n][d] (xs: [n][d]f64) (m: [d]f64) = xs - m",
        expect![[r#"def shift [n][d] (xs: [n][d]f64) (m: [d]f64) = map (\x -> map2 (-) x m) xs"#]],
    );
    check_maps(
        r"def two [n] (xs: [n]f64) = 2 * xs + 1",
        expect!["def two [n] (xs: [n]f64) = map (+ 1) (map (2 *) xs)"],
    );
    check_maps(
        r"def negate [n][m] (xs: [n][m]f64) = -xs",
        expect![[r#"def negate [n][m] (xs: [n][m]f64) = map (map (\x -> -x)) xs"#]],
    );
    check_maps(
        r"def not [n] (xs: [n]bool) = !xs",
        expect![[r#"def not [n] (xs: [n]bool) = map (\x -> !x) xs"#]],
    );
    check_maps(
        r"def between [n] (xs: [n]f64) = xs > 0 && xs < 3",
        expect!["def between [n] (xs: [n]f64) = map2 (&&) (map (> 0) xs) (map (< 3) xs)"],
    );
    check_maps(
        r"def left [n][m] (k: [m]f64) (x: [n][m]f64) = k * x",
        expect!["def left [n][m] (k: [m]f64) (x: [n][m]f64) = map (map2 (*) k) x"],
    );
    check_maps(
        r"def right [n][m] (k: [m]f64) (x: [n][m]f64) = x * (k + 1)",
        expect![[
            r#"def right [n][m] (k: [m]f64) (x: [n][m]f64) = let y = map (+ 1) k in map (\z -> map2 (*) z y) x"#
        ]],
    );
}

#[test]
fn functions_are_lifted() {
    check_maps(
        r"def roots [n] (xs: [n]f64) = f64.sqrt (xs * xs)",
        expect!["def roots [n] (xs: [n]f64) = map f64.sqrt (map2 (*) xs xs)"],
    );
    check_maps(
        r"def lerp (v: f64) (w: f64) (t: f64) = v + (w - v) * t
def a [n] (v: [n]f64) (w: [n]f64) (t: f64) = lerp v w t
def b [n] (v: [n]f64) (w: [n]f64) (t: [n]f64) = lerp v w t
def c [n] (v: f64) (w: f64) (t: [n]f64) = lerp v w t",
        expect![[r#"
            def lerp (v: f64) (w: f64) (t: f64) = v + (w - v) * t
            def a [n] (v: [n]f64) (w: [n]f64) (t: f64) = map2 (\x y -> lerp x y t) v w
            def b [n] (v: [n]f64) (w: [n]f64) (t: [n]f64) = map3 lerp v w t
            def c [n] (v: f64) (w: f64) (t: [n]f64) = map (lerp v w) t"#]],
    );
    check_maps(
        r"def outer [n][m] (xs: [n]f64) (ys: [m]f64) = map (\x -> x * ys) xs",
        expect![[r#"def outer [n][m] (xs: [n]f64) (ys: [m]f64) = map (\x -> map (x *) ys) xs"#]],
    );
    check_maps(
        r"def rows [n][m] (xss: [n][m]i64) = i64.sum xss",
        expect!["def rows [n][m] (xss: [n][m]i64) = map i64.sum xss"],
    );
    check_maps(
        r"def partial [n] (f: i64 -> i64 -> i64) (xs: [n]i64) (ys: [n]i64) = (f xs) ys",
        expect!["def partial [n] (f: i64 -> i64 -> i64) (xs: [n]i64) (ys: [n]i64) = map2 f xs ys"],
    );
    check_maps(
        r"def inner [n] (xs: [n]i64) = let f (x: i64) = x + 1 in f xs",
        expect!["def inner [n] (xs: [n]i64) = let f (x: i64) = x + 1 in map f xs"],
    );
}

#[test]
fn lambdas_do_not_repeat_work() {
    check_maps(
        r"def a [n] (xs: [n]f64) (ys: [n]f64) = xs - f64.sum ys",
        expect![[r#"def a [n] (xs: [n]f64) (ys: [n]f64) = let x = f64.sum ys in map (\y -> y - x) xs"#]],
    );
    check_maps(
        r"def b [n] (f: f64 -> f64 -> f64) (xs: [n]f64) (ys: [n]f64) = f xs (f64.sum ys)",
        expect![[
            r#"def b [n] (f: f64 -> f64 -> f64) (xs: [n]f64) (ys: [n]f64) = let x = f64.sum ys in map (\y -> f y x) xs"#
        ]],
    );
    check_maps(
        r"def x [n] (f: f64 -> f64 -> f64) (y: [n]f64) = f y (f64.sum y)",
        expect![[
            r#"def x [n] (f: f64 -> f64 -> f64) (y: [n]f64) = let z = f64.sum y in map (\x1 -> f x1 z) y"#
        ]],
    );
}

#[test]
fn sections() {
    check_maps(
        r"def a [n][m] (xss: [n][m]i64) = map (+ 1) xss",
        expect!["def a [n][m] (xss: [n][m]i64) = map (map (+ 1)) xss"],
    );
    check_maps(
        r"def b [n][m] (k: [m]i64) (xss: [n][m]i64) = map (+ k) xss",
        expect![[r#"def b [n][m] (k: [m]i64) (xss: [n][m]i64) = map (\x -> map2 (+) x k) xss"#]],
    );
    check_maps(
        r"def c [n][m] (k: [m]i64) (xss: [n][m]i64) = map (k +) xss",
        expect!["def c [n][m] (k: [m]i64) (xss: [n][m]i64) = map (map2 (+) k) xss"],
    );
}

#[test]
fn pipes_are_applications() {
    check_maps(
        r"def a [n] (xs: [n]f64) = xs |> f64.sqrt |> (+ 1) |> f64.sum",
        expect!["def a [n] (xs: [n]f64) = xs |> map f64.sqrt |> map (+ 1) |> f64.sum"],
    );
    check_maps(
        r"def b [n] (xs: [n]f64) (ys: [n]f64) = xs |> (+) ys",
        expect!["def b [n] (xs: [n]f64) (ys: [n]f64) = xs |> map2 (+) ys"],
    );
    check_maps(
        r"def c [n] (xs: [n]f64) = f64.sqrt <| xs",
        expect!["def c [n] (xs: [n]f64) = map f64.sqrt <| xs"],
    );
    check_maps(
        r"def d 'a [n] (A: [n]a) = let f (x: i64) = x + 1 in indices A |> f",
        expect!["def d 'a [n] (A: [n]a) = let f (x: i64) = x + 1 in indices A |> map f"],
    );
    check_maps(
        r"def pipe 'a 'b (x: a) (f: a -> b) = f x
def e 'a [n] (f: i64 -> i64) (A: [n]a) = pipe (indices A) f",
        expect![[r#"
            def pipe 'a 'b (x: a) (f: a -> b) = f x
            def e 'a [n] (f: i64 -> i64) (A: [n]a) = map (\x -> pipe x f) (indices A)"#]],
    );
}

#[test]
fn compositions_are_applications_too() {
    check_maps(
        r"def a [n] (f: [n]i64 -> [n]i64) = f >-> i64.abs",
        expect!["def a [n] (f: [n]i64 -> [n]i64) = f >-> map i64.abs"],
    );
    check_maps(
        r"def b [n] (f: [n]i64 -> [n]i64) = i64.abs <-< f",
        expect!["def b [n] (f: [n]i64 -> [n]i64) = map i64.abs <-< f"],
    );
    check_maps(
        r"def c (f: i64 -> i64) : i64 -> [3]i64 = f >-> (\(xs: [3]i64) -> reverse xs)",
        expect![[r#"def c (f: i64 -> i64) : i64 -> [3]i64 = f >-> (rep >-> (\(xs: [3]i64) -> reverse xs))"#]],
    );
}

#[test]
fn any_number_of_arrays() {
    check_maps(
        r"def f a b c d e f : i64 = a + b + c + d + e + f
def g [n] (xs: [n]i64) = f xs xs xs xs xs xs",
        expect![[r#"
            def f a b c d e f : i64 = a + b + c + d + e + f
            def g [n] (xs: [n]i64) = map (\(((((x, y), z), x1), x2), x3) -> f x y z x1 x2 x3) (zip (zip (zip (zip (zip xs xs) xs) xs) xs) xs)"#]],
    );
}

/// Lambdas whose parameters have no types leave much to the solver.
#[test]
fn long_definitions() {
    let steps: String = (1..40)
        .map(|i| format!("  let a{i} = map (\\p -> p * y + a{}) ys |> map f64.sum\n", i - 1))
        .collect();
    let source = format!("def f [n] (a0: [n]f64) (ys: [n]f64) (y: f64) =\n{steps}  in a39 - 1");
    let lifted: String = (1..40)
        .map(|i| format!("  let a{i} = map (\\p -> map ((p * y) +) a{}) ys |> map f64.sum\n", i - 1))
        .collect();
    let head = "def f [n] (a0: [n]f64) (ys: [n]f64) (y: f64) =";
    let expected = format!("{head}\n{lifted}  in map (\\x -> x - 1) a39");
    assert_eq!(common::with_maps(&source), expected);
}

#[test]
fn names_of_the_prelude_may_be_hidden() {
    check_maps(
        r"def f [n] (xs: [n]i64) (map: i64) = xs + map",
        expect![[r#"
            test.fut:1:37: error [type-mismatch]: Cannot apply "+" to this argument (invalid type)
              test.fut:1:37: has type "[]i64"
              expected type: a number type
              The type "[]i64" is not a number type
              with maps this is "map (+ map) xs", but then: Cannot apply "map" to this argument: it is not a function, or has too many arguments
        "#]],
    );
    check_maps(
        r"def rep (x: i64) = x
def f [n] (xs: [n]i64) (y: i64) = rep xs + y",
        expect![[r#"
            def rep (x: i64) = x
            def f [n] (xs: [n]i64) (y: i64) = map (+ y) (map rep xs)"#]],
    );
}

#[test]
fn arrays_by_their_indices() {
    check_maps(
        r"def f [n][m] (xs: [n][m]f64) (ys: [m]f64) = for i -> xs[i] + ys",
        expect!["def f [n][m] (xs: [n][m]f64) (ys: [m]f64) = for i -> map2 (+) xs[i] ys"],
    );
    check_maps(
        r"def f [n][m] (xs: [n][m]f64) : [(n, m)]f64 = for (i, j) -> f64.sum (xs[i] * xs[i, j])",
        expect![
            "def f [n][m] (xs: [n][m]f64) : [(n, m)]f64 = for (i, j) -> f64.sum (map (* xs[i, j]) xs[i])"
        ],
    );
}

#[test]
fn x_matrix() {
    check_maps(
        r"def outerprod f xs ys = map (\x -> f x ys) xs
def bidd A = outerprod (\x y -> map (== x) y) (indices A) (indices A)
def xmat A = bidd A || reverse (bidd A)
def check A = xmat A == (A != 0) |> flatten |> and",
        expect![[r#"
            def outerprod f xs ys = map (\x -> f x ys) xs
            def bidd A = outerprod (\x y -> map (== x) y) (indices A) (indices A)
            def xmat A = map2 (map2 (||)) (bidd A) (reverse (bidd A))
            def check A = (let x = map (!= 0) A in map (\y -> map2 (==) y x) (xmat A)) |> flatten |> and"#]],
    );
    check_maps(
        r"def outerprod f xs ys = map (\x -> f x ys) xs
def bidd A = outerprod (==) (indices A) (indices A)
def xmat A = bidd A || reverse (bidd A)
def check (A: [][]i32) = xmat A == (A != 0) |> flatten |> and",
        expect![[r#"
            def outerprod f xs ys = map (\x -> f x ys) xs
            def bidd A = map (outerprod (==) (indices A)) (indices A)
            def xmat A = map2 (map2 (||)) (bidd A) (reverse (bidd A))
            def check (A: [][]i32) = map2 (map2 (==)) (xmat A) (map (map (!= 0)) A) |> flatten |> and"#]],
    );
}

#[test]
fn comments_stay() {
    check_maps(
        r"def f [n] (xs: [n]f64) =
  xs -- the values
  + 1 -- the offset
",
        expect![[r#"
            def f [n] (xs: [n]f64) =
              -- the values
              map (+ 1) xs -- the offset
        "#]],
    );
}

#[test]
fn own_names_are_avoided() {
    check_maps(
        r"def f [n] (x: [n]f64) (y: f64) = let z = y in x - y * z",
        expect![[
            r#"def f [n] (x: [n]f64) (y: f64) = let z = y in let x1 = y * z in map (\x2 -> x2 - x1) x"#
        ]],
    );
}

#[test]
fn projections_are_lifted() {
    check_maps(
        r"def f [n] (xys: [n](f64, f64)) = xys.0 + xys.1",
        expect!["def f [n] (xys: [n](f64, f64)) = map2 (+) (map (.0) xys) (map (.1) xys)"],
    );
    check_maps(
        r"def f [n] (ps: [n]{x: f64, y: f64}) = f64.sum (ps.x * ps.y)",
        expect!["def f [n] (ps: [n]{x: f64, y: f64}) = f64.sum (map2 (*) (map (.x) ps) (map (.y) ps))"],
    );
    check_maps(
        r"def f [n][m] (ps: [n][m]{a: {b: i64}}) = ps.a.b",
        expect!["def f [n][m] (ps: [n][m]{a: {b: i64}}) = map (map (.b)) (map (map (.a)) ps)"],
    );
    check_maps(
        r"def f [n][m] (ps: [n]{a: [m]{b: i64}}) = ps.a.b",
        expect!["def f [n][m] (ps: [n]{a: [m]{b: i64}}) = map (map (.b)) (map (.a) ps)"],
    );
    check_maps(
        r"def f [n] (ps: [n](i64, i64)) = (map (\p -> p) ps).0",
        expect![[r#"def f [n] (ps: [n](i64, i64)) = map (.0) (map (\p -> p) ps)"#]],
    );
    check_maps(
        r"def f [n] (ps: [n](i64, f64)) = map (\p -> p.1 * 2) ps + ps.1",
        expect![[r#"def f [n] (ps: [n](i64, f64)) = map2 (+) (map (\p -> p.1 * 2) ps) (map (.1) ps)"#]],
    );
}

#[test]
fn conditions_are_lifted() {
    check_maps(
        r"def f [n] (bs: [n]bool) (xs: [n]f64) (ys: [n]f64) = if bs then xs else ys",
        expect![[
            r#"def f [n] (bs: [n]bool) (xs: [n]f64) (ys: [n]f64) = map3 (\x y z -> if x then y else z) bs xs ys"#
        ]],
    );
    check_maps(
        r"def relu [n] (xs: [n]f64) = if xs > 0 then xs else 0",
        expect![[r#"def relu [n] (xs: [n]f64) = map2 (\x y -> if x then y else 0) (map (> 0) xs) xs"#]],
    );
    check_maps(
        r"def relu [n][m] (xss: [n][m]f64) = if xss > 0 then xss else 0",
        expect![[
            r#"def relu [n][m] (xss: [n][m]f64) = map2 (map2 (\x y -> if x then y else 0)) (map (map (> 0)) xss) xss"#
        ]],
    );
    check_maps(
        r"def sign [n] (xs: [n]f64) = if xs > 0 then 1 else if xs < 0 then -1 else 0 : f64",
        expect![[
            r#"def sign [n] (xs: [n]f64) = map2 (\x y -> if x then 1 else y) (map (> 0) xs) (map (\x -> if x then -1 else 0 : f64) (map (< 0) xs))"#
        ]],
    );
    check_maps(
        r"def rows [n][m] (bs: [n]bool) (xss: [n][m]f64) (ys: [m]f64) = if bs then xss else ys",
        expect![[
            r#"def rows [n][m] (bs: [n]bool) (xss: [n][m]f64) (ys: [m]f64) = map2 (\x y -> if x then y else ys) bs xss"#
        ]],
    );
    check_maps(
        r"def f [n] (b: bool) (xs: [n]f64) = if b then xs + 1 else xs",
        expect!["def f [n] (b: bool) (xs: [n]f64) = if b then map (+ 1) xs else xs"],
    );
    check_maps(
        r"def f [n] (bs: [n]bool) (xs: [n]f64) = if bs then f64.sqrt (xs * xs) else f64.sum xs",
        expect![[
            r#"def f [n] (bs: [n]bool) (xs: [n]f64) = let x = f64.sum xs in map2 (\y z -> if y then z else x) bs (map f64.sqrt (map2 (*) xs xs))"#
        ]],
    );
}

#[test]
fn reads_are_lifted() {
    check_maps(
        r"def f [n][m] (xs: [n]f64) (is: [m]i64) = xs[is]",
        expect![[r#"def f [n][m] (xs: [n]f64) (is: [m]i64) = map (\x -> xs[x]) is"#]],
    );
    check_maps(
        r"def f [n][m] (xs: [n]f64) (is: [m]i64) = (map f64.sqrt xs)[is + 1]",
        expect![[
            r#"def f [n][m] (xs: [n]f64) (is: [m]i64) = let x = map f64.sqrt xs in map (\y -> x[y]) (map (+ 1) is)"#
        ]],
    );
    check_maps(
        r"def f [n][m][k] (xss: [n][m]f64) (is: [k]i64) (js: [k]i64) = xss[is, js]",
        expect![[
            r#"def f [n][m][k] (xss: [n][m]f64) (is: [k]i64) (js: [k]i64) = map2 (\x y -> xss[x, y]) is js"#
        ]],
    );
    check_maps(
        r"def f [n][m][k] (xss: [n][m]f64) (is: [k]i64) = xss[is, 0]",
        expect![[r#"def f [n][m][k] (xss: [n][m]f64) (is: [k]i64) = map (\x -> xss[x, 0]) is"#]],
    );
    check_maps(
        r"def f [n][m][k] (xss: [n][m]f64) (is: [k]i64) = f64.sum xss[is]",
        expect![[r#"def f [n][m][k] (xss: [n][m]f64) (is: [k]i64) = map f64.sum (map (\x -> xss[x]) is)"#]],
    );
    check_maps(
        r"def f [n][m][k] (xs: [n]f64) (iss: [m][k]i32) = xs[iss] * 2",
        expect![[
            r#"def f [n][m][k] (xs: [n]f64) (iss: [m][k]i32) = map (map (* 2)) (map (map (\x -> xs[x])) iss)"#
        ]],
    );
}
