//! The laws of derivatives on reductions, scans, histograms and scatters with every kind of operator and element, and
//! exact second derivatives where rules for special operators lose them.

mod laws;

use dagaz::compile::compile_source;
use dagaz_core::formats::compare::first_difference;
use dagaz_core::formats::text;
use dagaz_core::value::Value;

/// Operators on small matrices, complex numbers and flags.
const OPERATORS: &str = "
type m2 = (f64, f64, f64, f64)
def mul (a: m2) (b: m2) : m2 =
  (a.0 * b.0 + a.1 * b.2, a.0 * b.1 + a.1 * b.3, a.2 * b.0 + a.3 * b.2, a.2 * b.1 + a.3 * b.3)
def to_m2 (y: f64) : m2 = (y, 1, f64.sin y, y * y)
def of_m2 (m: m2) = [m.0, m.1, m.2, m.3]
def matmul (a: [2][2]f64) (b: [2][2]f64) : [2][2]f64 =
  map (\\row -> map (\\col -> f64.sum (map2 (*) row col)) (transpose b)) a
def to_matrix (y: f64) : [2][2]f64 = [[y, 1], [f64.sin y, y * y]]
def complex (a: (f64, f64)) (b: (f64, f64)) = (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
def complex_row (a: [2]f64) (b: [2]f64) = [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
def either (a: f64) (b: f64) = a + b - a * b
def segmented (a: (bool, f64)) (b: (bool, f64)) = (a.0 || b.0, if b.0 then b.1 else a.1 * b.1)
";

macro_rules! fold_laws {
    ($($name:ident: $definition:literal;)*) => {
        $(#[test]
        fn $name() {
            laws::check(&format!("{OPERATORS}{}", $definition));
        })*

        #[test]
        fn machine_code() {
            laws::check_machine_code(OPERATORS, &[$((stringify!($name), $definition)),*]);
        }
    };
}

fold_laws! {
    product: "def f (x: [4]f64) = [f64.product x, reduce (\\a b -> b * a) 1 x]";
    product_with_one_zero: "def f (x: [4]f64) = [f64.product (copy x with [1] = x[0] - 0.7)]";
    product_with_two_zeros: "def f (x: [4]f64) = [f64.product [x[0] - 0.7, x[1], x[2] - 0.3, x[3], x[0]]]";
    extrema: "def f (x: [4]f64) = [f64.maximum (map (\\y -> y * y) x) * x[1], reduce (\\a b -> f64.min b a) f64.inf x]";
    independent_components: "
        def f (x: [4]f64) =
          let (a, b, c) = reduce (\\(a, b, c) (d, e, f) -> (a + d, f64.max b e, c * f)) (0, f64.lowest, 1)
                                 (map (\\y -> (y * y, f64.sin y, y)) x)
          in [a * b, c]";
    components_that_interact_in_part: "
        def f (x: [4]f64) =
          let (a, b, c) = reduce (\\(a, b, c) (d, e, f) -> (a * d, b * d + e, c + f)) (1, 0, 0)
                                 (map (\\y -> (y, y * y, f64.exp y)) x)
          in [a, b, c]";
    reduction_of_matrices: "def f (x: [4]f64) = of_m2 (reduce mul (1, 0, 0, 1) (map to_m2 x))";
    reduction_of_array_matrices: "def f (x: [4]f64) = flatten (reduce matmul [[1, 0], [0, 1]] (map to_matrix x))";
    reduction_of_rows: "def f (x: [4]f64) = reduce complex_row [1, 0] (map (\\y -> [y, f64.cos y]) x)";
    reduction_of_rows_by_elements: "def f (x: [4]f64) = reduce (map2 (\\a b -> either b a)) [0, 0] (map (\\y -> [y, y * y]) x)";
    reduction_of_row_sums: "def f (x: [4]f64) = reduce (map2 (+)) [0, 0] (map (\\y -> [y * y, f64.sin y]) x)";
    reduction_of_nested_rows: "
        def f (x: [4]f64) =
          flatten (reduce (map2 (map2 f64.max)) (replicate 2 (replicate 2 f64.lowest)) (map to_matrix x))";
    reduction_with_a_free_number: "def f (x: [4]f64) = [reduce (\\a b -> a + b + x[2] * a * b) 0 x]";
    reduction_with_a_free_array: "
        def f (x: [4]f64) =
          reduce (\\a b -> map3 (\\c a b -> a + b + c * a * b) (take 2 x) a b) [0, 0] (map (\\y -> [y, y * y]) x)";
    reduction_of_flags_and_numbers: "
        def f (x: [4]f64) =
          let (_, b) = reduce segmented (false, 1) (zip [false, true, false, false] x) in [b]";
    empty_and_single: "
        def f (x: [4]f64) =
          [f64.product (take 0 x), f64.maximum (take 0 x) |> f64.max x[0], f64.product (take 1 x), f64.minimum (take 1 x)]
          ++ of_m2 (reduce mul (1, 0, 0, 1) (map to_m2 (take 1 x))) ++ scan (*) 1 (take 1 x) ++ scan f64.max 0 (take 0 x)";
    scan_of_extrema: "def f (x: [4]f64) = scan f64.max f64.lowest (map (\\y -> y * y) x)";
    scan_of_products_with_zeros: "def f (x: [4]f64) = scan (*) 1 [x[0] - 0.7, x[1], x[2] - 0.3, x[3]]";
    scan_of_any_number: "def f (x: [4]f64) = scan either 0 x";
    scan_of_matrices: "def f (x: [4]f64) = flatten (map of_m2 (scan mul (1, 0, 0, 1) (map to_m2 x)))";
    scan_of_array_matrices: "
        def f (x: [4]f64) = flatten (map flatten (scan matmul [[1, 0], [0, 1]] (map to_matrix x)))";
    scan_of_rows: "def f (x: [4]f64) = flatten (scan complex_row [1, 0] (map (\\y -> [y, f64.cos y]) x))";
    scan_of_rows_by_elements: "def f (x: [4]f64) = flatten (scan (map2 (*)) [1, 1] (map (\\y -> [y, f64.sin y]) x))";
    scan_of_row_sums: "def f (x: [4]f64) = flatten (scan (map2 (+)) [0, 0] (map (\\y -> [y * y, f64.sin y]) x))";
    segmented_scan: "
        def f (x: [4]f64) = map (.1) (scan segmented (false, 1) (zip [false, false, true, false] (map f64.sin x)))";
    segmented_scan_of_pairs: "
        def op (f: bool, a: f64, b: f64) (g: bool, c: f64, d: f64) = (f || g, if g then c else a * c, if g then d else b * c + d)
        def f (x: [4]f64) =
          map (.2) (scan op (false, 1, 0) (zip3 [false, false, true, false] x (map f64.sin x)))";
    scan_with_a_free_number: "def f (x: [4]f64) = scan (\\a b -> a + b + x[2] * a * b) 0 x";
    scan_of_pairs_with_a_free_array: "
        def f (x: [4]f64) =
          let op (a, b) (c, d) = (a + c + x[1] * a * c, b + d + x[1] * a * d)
          in flatten (map (\\(a, b) -> [a, b]) (scan op (0, 0) (map (\\y -> (y, f64.sin y)) x)))";
    histogram_of_products: "
        def f (x: [4]f64) = reduce_by_index (map (* 2) (take 3 x)) (*) 1 [0, 2, 0, 5] (map f64.cos x)";
    histogram_of_products_with_zeros: "
        def f (x: [4]f64) =
          reduce_by_index [x[1], x[2], x[0] - 0.7, x[3]] (*) 1 [0, 0, 2, 1, 0, 2, -1]
                          [x[0] - 0.7, x[1], x[2], x[3], x[2] - 0.3, x[0], x[1]]";
    histogram_of_extrema: "
        def f (x: [4]f64) = reduce_by_index (map (* 2) (take 3 x)) f64.max f64.lowest [0, 2, 0, 5] (map (\\y -> y * y) x)
                         ++ reduce_by_index (replicate 3 f64.inf) f64.min f64.inf [0, 2, 0, 2] (map (\\y -> y * y) x)
                         |> map (\\y -> if f64.isinf y then 0 else y)";
    histogram_of_any_number: "
        def f (x: [4]f64) = reduce_by_index (map f64.sin x) either 0 [3, 0, 3, 7, 0, 3] (x ++ take 2 (map f64.cos x) :> [6]f64)";
    histogram_of_pairs: "
        def f (x: [4]f64) =
          let hs = reduce_by_index (map (\\y -> (y, 1)) (take 3 x)) complex (1, 0) [1, 2, 1, 1] (map (\\y -> (y, f64.sin y)) x)
          in flatten (map (\\(a, b) -> [a, b]) hs)";
    histogram_of_rows: "
        def f (x: [4]f64) =
          flatten (reduce_by_index (map (\\y -> [y, 1]) (take 3 x)) complex_row [1, 0] [1, 2, 1, 1] (map (\\y -> [y, f64.sin y]) x))";
    histogram_of_rows_by_elements: "
        def f (x: [4]f64) =
          let rows = map (\\y -> [y, f64.sin y]) x
          in flatten (reduce_by_index (map (\\y -> [1, y]) x) (map2 (*)) [1, 1] [0, 2, 0, 9] rows)
             ++ flatten (reduce_by_index (map (\\y -> [y, 1]) x) (map2 f64.max) (replicate 2 f64.lowest) [0, 2, 0, 9] rows)
             ++ flatten (reduce_by_index (map (\\y -> [y, 1]) x) (map2 either) [0, 0] [0, 2, 0, 9] rows)
             ++ flatten (reduce_by_index (map (\\y -> [y, 1]) x) (map2 (+)) [0, 0] [0, 2, 0, 9] rows)";
    histogram_with_a_free_number: "
        def f (x: [4]f64) = reduce_by_index (map f64.sin x) (\\a b -> a + b + x[2] * a * b) 0 [3, 0, 3, 7] x";
    histogram_of_independent_components: "
        def f (x: [4]f64) =
          let hs = reduce_by_index (map (\\y -> (y, y, y)) x) (\\(a, b, c) (d, e, f) -> (a + d, f64.max b e, either c f))
                                   (0, f64.lowest, 0) [0, 2, 0, 1] (map (\\y -> (y * y, f64.sin y, y)) x)
          in map (\\(a, b, c) -> a * b * c) hs";
    histogram_in_two_dimensions: "
        def f (x: [4]f64) =
          let is = [(0, 1), (1, 1), (0, 1), (2, 0)]
          let dest = [[x[0], x[1]], [x[2], x[3]]]
          in flatten (reduce_by_index_2d (copy dest) (*) 1 is (map f64.cos x))
             ++ flatten (reduce_by_index_2d (copy dest) f64.max f64.lowest is (map f64.cos x))
             ++ flatten (reduce_by_index_2d (copy dest) either 0 is (map f64.cos x))
             ++ flatten (reduce_by_index_2d (copy dest) (+) 0 is (map f64.cos x))";
    histogram_of_nothing: "
        def f (x: [4]f64) = reduce_by_index (map f64.sin x) either 0 [] [] ++ reduce_by_index (map f64.sin x) (*) 1 [] []";
    scatter_in_two_dimensions: "
        def f (x: [4]f64) =
          flatten (scatter_2d [[x[0], x[1]], [x[2], x[3]]] [(0, 1), (1, 0), (5, 0)] (map (\\y -> y * y) (take 3 x)))";
    log_sum_exp: "
        def lse (a: f64) (b: f64) =
          let m = f64.max a b in if f64.isinf m then m else m + f64.log (f64.exp (a - m) + f64.exp (b - m))
        def f (x: [4]f64) =
          [reduce lse (-f64.inf) x] ++ scan lse (-f64.inf) x
          ++ map (\\y -> if f64.isinf y then 0 else y)
                 (reduce_by_index (replicate 5 (-f64.inf)) lse (-f64.inf) [3, 1, 3, 9, -1] (map f64.sin x ++ [x[0]] :> [5]f64))";
    numbers_with_their_places: "
        def best (a: f64, i: i64) (b: f64, j: i64) = if a >= b then (a, i) else (b, j)
        def f (x: [4]f64) =
          let numbered = zip (map f64.sin x) (iota 4)
          let (v, i) = reduce best (f64.lowest, -1) numbered
          in [v * x[i]] ++ map (\\(v, i) -> v * x[i]) (scan best (f64.lowest, -1) numbered)
             ++ map (\\(v, i) -> if i < 0 then 0 else v * x[i])
                    (reduce_by_index (replicate 3 (f64.lowest, -1)) best (f64.lowest, -1) [2, 0, 2, 2] numbered)";
    numbers_of_two_types: "
        def f (x: [4]f64) =
          map (\\(a, b) -> f64.f32 a * b)
              (scan (\\(a, b) (c, d) -> (a * c, b * f64.f32 c + d)) (1f32, 0f64) (map (\\y -> (0.5f32, f64.sin y)) x))";
    only_what_was_in_the_bins: "
        def f (x: [4]f64) = reduce_by_index (copy x) either 0 [0, 2, 2] [0.5, 0.25, 2] ++ reduce_by_index (copy x) (*) 1 [0, 2, 2] [0.5, 0, 2]";
    reductions_in_maps: "
        def f (x: [4]f64) =
          map (\\a -> reduce (\\p q -> p + q + a * p * q) 0 (map (* a) x) + f64.maximum (map (\\b -> a * b * b) x)
                    + f64.product x * a) x";
    scans_in_maps: "
        def f (x: [4]f64) =
          map (\\a -> f64.sum (scan (\\p q -> p + q + x[1] * p * q) 0 (map (* a) x))
                    + (last (scan mul (1, 0, 0, 1) (map to_m2 x))).2) x";
    histograms_in_maps: "
        def f (x: [4]f64) =
          flatten (map (\\a -> reduce_by_index (map (* a) x) (\\p q -> p + q + x[1] * p * q) 0 [0, 2, 0, 1] (map f64.sin x)) x)
          ++ flatten (map (\\a -> reduce_by_index (map (* a) x) (*) 1 [0, 2, 0, 1] (map (+ a) x)) x)
          ++ flatten (map (\\a -> reduce_by_index (map (* a) x) f64.min f64.inf [0, 2, 0, 1] (map (+ a) x)) x)";
    scans_in_loops: "
        def f (x: [4]f64) = loop y = x for i < 3 do scan (\\a b -> a + b + x[1] * a * b) 0 (map (* 0.3) y)";
    histograms_in_loops: "
        def f (x: [4]f64) = loop y = x for i < 3 do reduce_by_index (copy x) either 0 [i, 1, i, 9] (map (* 0.3) y)";
    operators_with_loops_and_branches: "
        def f (x: [4]f64) =
          let op a b = if a > b then (loop c = a for i < 2 do c * 1.0) else b
          in [reduce op f64.lowest (map f64.sin x)] ++ scan op f64.lowest x ++ reduce_by_index (copy x) op f64.lowest [0, 1, 0, 1] (map f64.sin x)";
    operators_with_scans: "
        def f (x: [4]f64) =
          let op (a: [2]f64) (b: [2]f64) = let s = scan (+) 0 [a[0] * b[0], a[0] * b[1] + a[1] * b[0] - a[0] * b[0]] in s
          in reduce op [1, 0] (map (\\y -> [y, f64.sin y]) x) ++ flatten (scan op [1, 0] (map (\\y -> [y, f64.sin y]) x))";
    scatter_of_equal_values: "def f (x: [4]f64) = scatter (map f64.sin x) [1, 1, 3] [x[0] * x[2], x[0] * x[2], x[1]]";
}

/// Second derivatives of `f`, a function from `[n]f64` to `f64`, in every order of nesting.
const HESSIANS: &str = "
def unit (n: i64) (i: i64) : [n]f64 = tabulate n (\\j -> if i == j then 1 else 0)
entry fwd_rev [n] (x: [n]f64) = tabulate n (\\i -> jvp (\\x -> vjp f x 1) x (unit n i))
entry rev_fwd [n] (x: [n]f64) = tabulate n (\\i -> vjp (\\x -> jvp f x (unit n i)) x 1)
entry rev_rev [n] (x: [n]f64) = tabulate n (\\i -> vjp (\\x -> vjp f x 1) x (unit n i))
entry fwd [n] (x: [n]f64) = tabulate n (\\i -> jvp f x (unit n i))
entry rev [n] (x: [n]f64) = vjp f x 1
";

fn check_exactly(definition: &str, point: &str, gradient: &str, hessian: &str) {
    let compiled = compile_source("exact.fut", &format!("{OPERATORS}{definition}\n{HESSIANS}"));
    let mut session = compiled.unwrap_or_else(|failure| panic!("{failure}")).session();
    let read = |shown: &str| -> Value { text::read_values(shown.as_bytes()).expect("a value").remove(0) };
    for (entry, expected) in [
        ("fwd", gradient),
        ("rev", gradient),
        ("fwd_rev", hessian),
        ("rev_fwd", hessian),
        ("rev_rev", hessian),
    ] {
        let results =
            session.call(entry, vec![read(point)]).unwrap_or_else(|error| panic!("{entry}: {error}"));
        let difference = first_difference(&read(expected), &results[0], 0.0);
        assert_eq!(difference, None, "{entry} of {definition} at {point}");
    }
}

macro_rules! exact {
    ($($name:ident: $definition:literal at $point:literal gives $gradient:literal and $hessian:literal;)*) => {
        $(#[test]
        fn $name() {
            check_exactly($definition, $point, $gradient, $hessian);
        })*
    };
}

exact! {
    product_at_a_zero: "def f [n] (x: [n]f64) = f64.product x"
        at "[0f64, 2f64, 3f64]" gives "[6f64, 0f64, 0f64]" and "[[0f64, 3f64, 2f64], [3f64, 0f64, 0f64], [2f64, 0f64, 0f64]]";
    product_at_two_zeros: "def f [n] (x: [n]f64) = f64.product x"
        at "[0f64, 0f64, 3f64]" gives "[0f64, 0f64, 0f64]" and "[[0f64, 3f64, 0f64], [3f64, 0f64, 0f64], [0f64, 0f64, 0f64]]";
    product_of_one_zero: "def f [n] (x: [n]f64) = f64.product x" at "[0f64]" gives "[1f64]" and "[[0f64]]";
    product_of_nothing: "def f [n] (x: [n]f64) = f64.product x"
        at "empty([0]f64)" gives "empty([0]f64)" and "empty([0][0]f64)";
    any_operator_where_products_vanish: "def f [n] (x: [n]f64) = reduce either 0 x"
        at "[1f64, 1f64, 3f64]" gives "[0f64, 0f64, 0f64]" and "[[0f64, 2f64, 0f64], [2f64, 0f64, 0f64], [0f64, 0f64, 0f64]]";
    maximum_of_equal_numbers: "def f [n] (x: [n]f64) = f64.maximum (map (\\y -> y * y) x)"
        at "[1f64, 2f64, -2f64]" gives "[0f64, 4f64, 0f64]" and "[[0f64, 0f64, 0f64], [0f64, 2f64, 0f64], [0f64, 0f64, 0f64]]";
    minimum_of_equal_numbers_the_other_way_round: "def f [n] (x: [n]f64) = reduce (\\a b -> f64.min b a) f64.inf (map (\\y -> y * y) x)"
        at "[1f64, -1f64]" gives "[0f64, -2f64]" and "[[0f64, 0f64], [0f64, 2f64]]";
    maximum_of_nothing: "def f [n] (x: [n]f64) = f64.maximum x" at "empty([0]f64)" gives "empty([0]f64)" and "empty([0][0]f64)";
    scan_of_products_at_two_zeros: "def f [n] (x: [n]f64) = f64.sum (scan (*) 1 x)"
        at "[0f64, 0f64, 3f64]" gives "[1f64, 0f64, 0f64]" and "[[0f64, 4f64, 0f64], [4f64, 0f64, 0f64], [0f64, 0f64, 0f64]]";
    scan_of_equal_numbers: "def f [n] (x: [n]f64) = f64.sum (map (\\y -> y * y) (scan f64.max f64.lowest x))"
        at "[1f64, 1f64]" gives "[4f64, 0f64]" and "[[4f64, 0f64], [0f64, 0f64]]";
    bins_of_products_at_zeros: "def f [n] (x: [n]f64) = f64.sum (reduce_by_index [1, 1, 1] (*) 1 (tabulate n (\\i -> if i < 3 then 0 else 2)) x)"
        at "[0f64, 0f64, 3f64, 0f64]" gives "[0f64, 0f64, 0f64, 1f64]"
        and "[[0f64, 3f64, 0f64, 0f64], [3f64, 0f64, 0f64, 0f64], [0f64, 0f64, 0f64, 0f64], [0f64, 0f64, 0f64, 0f64]]";
    bins_of_products_that_held_zero: "def f [n] (x: [n]f64) = (reduce_by_index [x[2]] (*) 1 [0, 0] (take 2 x))[0]"
        at "[2f64, 0f64, 0f64]" gives "[0f64, 0f64, 0f64]" and "[[0f64, 0f64, 0f64], [0f64, 0f64, 2f64], [0f64, 2f64, 0f64]]";
    bins_of_maxima_that_held_as_much: "def f [n] (x: [n]f64) = let y = (reduce_by_index [x[2]] f64.max f64.lowest [0, 0] (take 2 x))[0] in y * y"
        at "[1f64, 1f64, 1f64]" gives "[0f64, 0f64, 2f64]" and "[[0f64, 0f64, 0f64], [0f64, 0f64, 0f64], [0f64, 0f64, 2f64]]";
    bins_of_equal_maxima: "def f [n] (x: [n]f64) = let y = (reduce_by_index [x[2]] f64.max f64.lowest [0, 0] (take 2 x))[0] in y * y"
        at "[1f64, 1f64, 0f64]" gives "[2f64, 0f64, 0f64]" and "[[2f64, 0f64, 0f64], [0f64, 0f64, 0f64], [0f64, 0f64, 0f64]]";
    no_bins: "def f [n] (x: [n]f64) = f64.sum (reduce_by_index [] either 0 (replicate n 0) x) + f64.sum (reduce_by_index [] (*) 1 (replicate n 0) x) + f64.product x"
        at "[1f64, 2f64]" gives "[2f64, 1f64]" and "[[0f64, 1f64], [1f64, 0f64]]";
    bins_of_any_operator_where_products_vanish: "def f [n] (x: [n]f64) = f64.sum (reduce_by_index [x[2], 5, x[0]] either 0 [0, 0, 3] (take 3 x))"
        at "[1f64, 1f64, 3f64]" gives "[1f64, 0f64, 0f64]" and "[[0f64, 2f64, 0f64], [2f64, 0f64, 0f64], [0f64, 0f64, 0f64]]";
}
