//! What reverse derivatives of reductions, scans and histograms cost, by the counters of the interpreter: the work is at
//! most eight times that of the function and the factor does not grow with the input, and the span stays logarithmic.
//! Where histograms are sorted the factor is larger: it has a term for each bit of the number of bins, here five.

use dagaz::compile::compile_source;
use dagaz_core::formats::text;
use dagaz_core::value::Value;

/// The function is `f`, the weights of its results are `ct`.
const ENTRIES: &str = "
type m2 = (f64, f64, f64, f64)
def mul (a: m2) (b: m2) : m2 =
  (a.0 * b.0 + a.1 * b.2, a.0 * b.1 + a.1 * b.3, a.2 * b.0 + a.3 * b.2, a.2 * b.1 + a.3 * b.3)
def matmul (a: [2][2]f64) (b: [2][2]f64) : [2][2]f64 =
  map (\\row -> map (\\col -> f64.sum (map2 (*) row col)) (transpose b)) a
def to_matrix (y: f64) : [2][2]f64 = [[y, 0.5], [0.25, 1]]
def either (a: f64) (b: f64) = a + b - a * b
def segmented (a: (bool, f64)) (b: (bool, f64)) = (a.0 || b.0, if b.0 then b.1 else a.1 * b.1)
def bins [n] (op: f64 -> f64 -> f64) (ne: f64) (is: [n]i64) (xs: [n]f64) : [16]f64 =
  reduce_by_index (replicate 16 ne) op ne is xs
";

const CALLS: &str = "
entry primal [n] (is: [n]i64) (xs: [n]f64) = f is xs
entry reverse [n] (is: [n]i64) (xs: [n]f64) = vjp (f is) xs (ct xs)
";

/// Work and span of an entry point on `n` elements.
struct Cost {
    work: f64,
    span: f64,
}

fn array(n: usize, show: impl Fn(usize) -> String) -> Value {
    let shown: Vec<String> = (0..n).map(show).collect();
    text::read_values(format!("[{}]", shown.join(", ")).as_bytes()).expect("a value").remove(0)
}

/// The cost of the function and of its derivative at a size.
fn costs(definition: &str, n: usize) -> (Cost, Cost) {
    let program = compile_source("costs.fut", &format!("{ENTRIES}{definition}{CALLS}"));
    let mut session = program.unwrap_or_else(|failure| panic!("{failure}")).session();
    let is = array(n, |i| format!("{}i64", (i * 7919) % 16));
    let xs = array(n, |i| format!("{:?}f64", if i == 5 { 0.0 } else { 1.0 + ((i * 37) % 101) as f64 / 1e4 }));
    let mut cost = |entry: &str| {
        session.call(entry, vec![is.clone(), xs.clone()]).unwrap_or_else(|error| panic!("{entry}: {error}"));
        let counters = session.counters();
        Cost { work: counters.work as f64, span: counters.span as f64 }
    };
    (cost("primal"), cost("reverse"))
}

/// Checks that the work of the derivative is at most `factor` times that of the function, at any size.
fn check(definition: &str, factor: f64) {
    let (primal, reverse) = costs(definition, 256);
    let (large_primal, large_reverse) = costs(definition, 8 * 256);
    let (small, large) = (reverse.work / primal.work, large_reverse.work / large_primal.work);
    let (from, to) = (reverse.span, large_reverse.span);
    println!("{:?}: work by {large:.2}, span from {from} to {to}", std::thread::current().name());
    assert!(large <= factor, "the work is {large} times that of the function");
    assert!((large / small - 1.0).abs() <= 0.1, "the factor of the work changes from {small} to {large}");
    let growth = large_reverse.span / reverse.span;
    assert!(growth <= 1.5, "the span grows by {growth}");
}

macro_rules! costs {
    ($($name:ident: $factor:literal, $definition:literal;)*) => {
        $(#[test]
        fn $name() {
            check($definition, $factor);
        })*
    };
}

costs! {
    products: 8.0, "def f [n] (_: [n]i64) (xs: [n]f64) = f64.product xs def ct _ : f64 = 1";
    maxima: 8.0, "def f [n] (_: [n]i64) (xs: [n]f64) = f64.maximum xs def ct _ : f64 = 1";
    log_sum_exp: 8.0, "
        def f [n] (_: [n]i64) (xs: [n]f64) =
          let m = f64.maximum xs in m + f64.log (f64.sum (map (\\x -> f64.exp (x - m)) xs))
        def ct _ : f64 = 1";
    reductions_of_matrices: 8.0, "
        def f [n] (_: [n]i64) (xs: [n]f64) = reduce mul (1, 0, 0, 1) (map (\\x -> (x, 0.5, 0.25, 1)) xs)
        def ct _ : m2 = (1, 2, 3, 4)";
    reductions_of_array_matrices: 8.0, "
        def f [n] (_: [n]i64) (xs: [n]f64) = reduce matmul [[1, 0], [0, 1]] (map to_matrix xs)
        def ct _ : [2][2]f64 = [[1, 2], [3, 4]]";
    reductions_by_columns: 8.0, "
        def f [n] (_: [n]i64) (xs: [n]f64) = reduce (map2 f64.max) (replicate 4 f64.lowest) (map (replicate 4) xs)
        def ct _ : [4]f64 = replicate 4 1";
    reductions_with_free_variables: 8.0, "
        def f [n] (_: [n]i64) (xs: [n]f64) = reduce (\\a b -> a + b + xs[0] * a * b) 0 xs
        def ct _ : f64 = 1";
    scans_of_products: 8.0, "def f [n] (_: [n]i64) (xs: [n]f64) = scan (*) 1 xs def ct [n] (xs: [n]f64) = xs";
    scans_of_maxima: 8.1, "def f [n] (_: [n]i64) (xs: [n]f64) = scan f64.max 0 xs def ct [n] (xs: [n]f64) = xs";
    linear_recurrences: 8.0, "
        def f [n] (_: [n]i64) (xs: [n]f64) =
          map (.1) (scan (\\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (map (\\x -> (x, x)) xs))
        def ct [n] (xs: [n]f64) = xs";
    scans_of_matrices: 8.0, "
        def f [n] (_: [n]i64) (xs: [n]f64) = scan mul (1, 0, 0, 1) (map (\\x -> (x, 0.5, 0.25, 1)) xs)
        def ct [n] (xs: [n]f64) = zip4 xs xs xs xs";
    scans_of_array_matrices: 8.0, "
        def f [n] (_: [n]i64) (xs: [n]f64) = scan matmul [[1, 0], [0, 1]] (map to_matrix xs)
        def ct [n] (xs: [n]f64) = map to_matrix xs";
    scans_by_columns: 8.0, "
        def f [n] (_: [n]i64) (xs: [n]f64) = scan (map2 (*)) (replicate 4 1) (map (replicate 4) xs)
        def ct [n] (xs: [n]f64) = map (replicate 4) xs";
    segmented_scans: 8.0, "
        def f [n] (is: [n]i64) (xs: [n]f64) =
          map (.1) (scan segmented (false, 1) (zip (map (== 3) is) xs))
        def ct [n] (xs: [n]f64) = xs";
    histograms_of_sums: 8.0, "def f [n] (is: [n]i64) (xs: [n]f64) = bins (+) 0 is xs def ct _ : [16]f64 = replicate 16 1";
    histograms_of_products: 8.0, "
        def f [n] (is: [n]i64) (xs: [n]f64) = bins (*) 1 is (map (+ 1) xs)
        def ct _ : [16]f64 = replicate 16 1";
    histograms_of_maxima: 8.0, "
        def f [n] (is: [n]i64) (xs: [n]f64) = bins f64.max f64.lowest is xs
        def ct _ : [16]f64 = replicate 16 1";
    histograms_by_columns: 8.0, "
        def f [n] (is: [n]i64) (xs: [n]f64) =
          reduce_by_index (replicate 16 (replicate 4 f64.lowest)) (map2 f64.max) (replicate 4 f64.lowest) is (map (replicate 4) xs)
        def ct _ : [16][4]f64 = replicate 16 (replicate 4 1)";
    scatters: 8.0, "
        def f [n] (is: [n]i64) (xs: [n]f64) = scatter (replicate 16 0) is xs
        def ct _ : [16]f64 = replicate 16 1";
    histograms_with_any_operator: 20.0, "
        def f [n] (is: [n]i64) (xs: [n]f64) = bins either 0 is xs
        def ct _ : [16]f64 = replicate 16 1";
    histograms_of_products_with_zeros: 10.0, "
        def f [n] (is: [n]i64) (xs: [n]f64) = bins (*) 1 is xs
        def ct _ : [16]f64 = replicate 16 1";
}
