//! What the gradients of whole programs cost, by the counters of the interpreter: at most eight times the work of the
//! function, the same factor at every size, and a span that stays logarithmic.

use dagaz::compile::compile_source;
use dagaz_core::formats::text;
use dagaz_core::value::Value;

const HELPERS: &str = "
def dot [n] (xs: [n]f64) (ys: [n]f64) = f64.sum (map2 (*) xs ys)
def matmul [n][m][k] (a: [n][m]f64) (b: [m][k]f64) = map (\\row -> map (dot row) (transpose b)) a
def rows [n] (k: i64) (xs: [n]f64) = unflatten (xs :> [(n / k) * k]f64)
def sigmoid (x: f64) = 1 / (1 + f64.exp (-x))
";

const CALLS: &str = "
entry primal [n] (xs: [n]f64) = f xs
entry forward [n] (xs: [n]f64) = jvp f xs xs
entry reverse [n] (xs: [n]f64) = vjp f xs 1
entry both [n] (xs: [n]f64) = jvp (\\xs -> vjp f xs 1) xs xs
";

/// Work and span.
#[derive(Clone, Copy)]
struct Cost {
    work: f64,
    span: f64,
}

/// The costs of the function, of both modes, and of one on top of the other.
fn costs(definition: &str, n: usize) -> [Cost; 4] {
    let program = compile_source("costs.fut", &format!("{HELPERS}{definition}{CALLS}"));
    let mut session = program.unwrap_or_else(|failure| panic!("{failure}")).session();
    let shown: Vec<String> =
        (0..n).map(|i| format!("{:?}f64", 0.1 + ((i * 37) % 101) as f64 / 1e3)).collect();
    let xs: Value =
        text::read_values(format!("[{}]", shown.join(", ")).as_bytes()).expect("a value").remove(0);
    ["primal", "forward", "reverse", "both"].map(|entry| {
        session.call(entry, vec![xs.clone()]).unwrap_or_else(|error| panic!("{entry}: {error}"));
        let counters = session.counters();
        Cost { work: counters.work as f64, span: counters.span as f64 }
    })
}

fn check(definition: &str) {
    let (small, large) = (costs(definition, 256), costs(definition, 8 * 256));
    let factor = |costs: &[Cost; 4], i: usize| costs[i].work / costs[0].work;
    let shown: Vec<String> = (1..4).map(|i| format!("{:.2}", factor(&large, i))).collect();
    println!(
        "{:?}: forward, reverse, forward over reverse by {}",
        std::thread::current().name(),
        shown.join(", ")
    );
    for (i, (mode, limit)) in [("forward", 4.0), ("reverse", 8.0), ("second", 32.0)].into_iter().enumerate() {
        let (before, after) = (factor(&small, i + 1), factor(&large, i + 1));
        assert!(after <= limit, "{mode}: the work is {after:.2} times that of the function");
        assert!(
            (after / before - 1.0).abs() <= 0.1,
            "{mode}: the factor changes from {before:.2} to {after:.2}"
        );
        let growth = large[i + 1].span / small[i + 1].span;
        assert!(growth <= 1.6, "{mode}: the span grows by {growth:.2}");
    }
}

macro_rules! costs {
    ($($name:ident: $definition:literal;)*) => {
        $(#[test]
        fn $name() {
            check($definition);
        })*
    };
}

costs! {
    dot_products: "def f [n] (xs: [n]f64) = dot xs (reverse xs)";
    matrix_times_vector: "def f [n] (xs: [n]f64) = f64.sum (map f64.sin (map (dot (take 16 xs)) (rows 16 xs)))";
    matrix_times_matrix: "
        def f [n] (xs: [n]f64) =
          f64.sum (map (\\row -> f64.sum (map f64.sin row)) (matmul (rows 16 xs) (rows 16 (take 256 xs) :> [16][16]f64)))";
    log_sum_exp: "
        def f [n] (xs: [n]f64) = let m = f64.maximum xs in m + f64.log (f64.sum (map (\\x -> f64.exp (x - m)) xs))";
    cost_of_k_means: "
        def f [n] (xs: [n]f64) =
          let centres = rows 4 (take 32 xs)
          let distance p c = f64.sum (map2 (\\a b -> (a - b) * (a - b)) p c)
          in f64.sum (map (\\p -> f64.minimum (map (distance p) centres)) (rows 4 xs))";
    mixture_of_gaussians: "
        def f [n] (xs: [n]f64) =
          let means = rows 4 (take 20 xs) :> [5][4]f64
          let scales = take 5 xs
          let log_density p m s = f64.log s - s * f64.sum (map2 (\\a b -> (a - b) * (a - b)) p m)
          let log_sum_exp ys = let m = f64.maximum ys in m + f64.log (f64.sum (map (\\y -> f64.exp (y - m)) ys))
          in f64.sum (map (\\p -> log_sum_exp (map2 (log_density p) means scales)) (rows 4 xs))";
    lstm_step: "
        def f [n] (xs: [n]f64) =
          let cells = n / 32
          let weights = unflatten_3d (xs :> [cells * 4 * 8]f64)
          let input = take 8 xs
          let gates = map (\\w -> map (\\row -> sigmoid (dot row input)) w) weights
          let state = map (\\g -> g[0] * 0.5 + g[1] * f64.tanh g[2]) gates
          in f64.sum (map2 (\\g c -> g[3] * f64.tanh c) gates state)";
    gathers_with_repeats: "
        def f [n] (xs: [n]f64) = f64.sum (map (\\i -> xs[i * i % n] * f64.sin xs[i / 2]) (iota n))";
    sparse_matrix_times_vector: "
        def f [n] (xs: [n]f64) =
          let product r = f64.sum (map (\\k -> xs[4 * r + k] * xs[(r * 17 + k * k * 5) % n]) (iota 4))
          in f64.sum (map f64.sin (map product (iota (n / 4))))";
    stencil_in_one_dimension: "
        def f [n] (xs: [n]f64) =
          f64.sum (tabulate n (\\i -> if i > 0 && i < n - 1 then f64.sin (xs[i - 1] * xs[i] + xs[i + 1]) else xs[i]))";
    stencil_in_two_dimensions: "
        def f [n] (xs: [n]f64) =
          let a = rows 16 xs
          let m = n / 16
          let at i j = if i > 0 && i < m - 1 && j > 0 && j < 15
                       then f64.sin (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1] - 4 * a[i, j])
                       else a[i, j]
          in f64.sum (map f64.sum (tabulate_2d m 16 at))";
    branches_in_maps: "
        def f [n] (xs: [n]f64) =
          f64.sum (map (\\x -> if x > 0.15 then f64.exp x * x else if x > 0.12 then f64.sin x else x * x * x) xs)";
    pointwise_chains: "def f [n] (xs: [n]f64) = f64.sum (map f64.exp (map f64.sin (map (* 0.5) xs)))";
}

/// The derivative as a linear function runs the primal once.
#[test]
fn linear_functions_share_the_primal() {
    let program = "
        def f [n] (xs: [n]f64) = map (\\x -> f64.sin (f64.exp (f64.cos (f64.exp (f64.sin x))))) xs
        entry primal [n] (xs: [n]f64) = f xs
        entry applied [n] (k: i64) (xs: [n]f64) =
          let (_, linear) = linearize f xs in map (\\i -> linear (map (* f64.i64 i) xs)) (iota k)
        entry transposed [n] (k: i64) (xs: [n]f64) =
          let (_, linear) = linearize f xs in map (\\i -> linear_transpose linear (map (* f64.i64 i) xs)) (iota k)
        entry seeds [n] (k: i64) (xs: [n]f64) = mjp f xs (replicate k xs)";
    let mut session =
        compile_source("costs.fut", program).unwrap_or_else(|failure| panic!("{failure}")).session();
    let xs = text::read_values(format!("[{}]", vec!["0.5f64"; 100].join(", ")).as_bytes()).expect("a value");
    let mut work = |entry: &str, turns: Option<i64>| {
        let turns =
            turns.map(|k| text::read_values(format!("{k}i64").as_bytes()).expect("a value").remove(0));
        let args = turns.into_iter().chain(xs.clone()).collect();
        session.call(entry, args).unwrap_or_else(|error| panic!("{entry}: {error}"));
        session.counters().work as f64
    };
    let primal = work("primal", None);
    for entry in ["applied", "transposed", "seeds"] {
        let (once, often) = (work(entry, Some(1)), work(entry, Some(11)));
        // One application is a few products for each element, less than the function with its residuals.
        let each = (often - once) / 10.0;
        assert!(once <= 5.0 * primal, "{entry}: {once} for {primal}");
        assert!(each <= 2.0 * primal, "{entry}: {each} for each application, {primal} for the function");
    }
}
