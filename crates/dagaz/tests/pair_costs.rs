//! What the gradients of sums over pairs cost, as in molecular dynamics and in kernel methods: memory for the points and not for the
//! pairs, by the counters of the interpreter, however the sum is written.

use dagaz::compile::compile_source;
use dagaz_core::formats::text;
use dagaz_core::value::Value;

const HELPERS: &str = "
def close (a: f64) (b: f64) : f64 = let d = a - b in f64.exp (-(d * d))
def distance (a: [3]f64) (b: [3]f64) : f64 = f64.sum (map2 (\\x y -> (x - y) ** 2) a b)
def energy (r2: f64) : f64 = let s = 1 / (r2 + 0.1) ** 3 in 4 * (s * s - s)
def points [n] (xs: [n]f64) : [n / 3][3]f64 = unflatten (xs :> [(n / 3) * 3]f64)
";

const CALLS: &str = "
entry primal [n] (xs: [n]f64) = f xs
entry reverse [n] (xs: [n]f64) = vjp f xs 1
";

/// The work of the function and of its gradient, and the most elements alive at once.
fn costs(definition: &str, n: usize) -> [(f64, f64); 2] {
    let program = compile_source("costs.fut", &format!("{HELPERS}{definition}{CALLS}"));
    let mut session = program.unwrap_or_else(|failure| panic!("{failure}")).session();
    let shown: Vec<String> =
        (0..n).map(|i| format!("{:?}f64", 0.1 + ((i * 37) % 101) as f64 / 1e2)).collect();
    let xs: Value =
        text::read_values(format!("[{}]", shown.join(", ")).as_bytes()).expect("a value").remove(0);
    ["primal", "reverse"].map(|entry| {
        session.call(entry, vec![xs.clone()]).unwrap_or_else(|error| panic!("{entry}: {error}"));
        let counters = session.counters();
        (counters.work as f64, counters.peak_elements as f64)
    })
}

fn check(definition: &str) {
    for n in [48, 192] {
        let [(work, memory), (reverse_work, reverse_memory)] = costs(definition, n);
        let size = n as f64;
        assert!(memory <= 8.0 * size, "{memory} elements for {n} of the function");
        assert!(reverse_memory <= 8.0 * size, "{reverse_memory} elements for {n}");
        assert!(
            reverse_work <= 8.0 * work,
            "the work is {:.2} times that of the function",
            reverse_work / work
        );
    }
}

macro_rules! pairs {
    ($($name:ident: $definition:literal;)*) => {
        $(#[test]
        fn $name() {
            check($definition);
        })*
    };
}

pairs! {
    sums_in_maps: "
        def f [n] (xs: [n]f64) = f64.sum (map (\\a -> f64.sum (map (\\b -> close a b) xs)) xs)";
    sums_by_indices: "
        def f [n] (xs: [n]f64) = f64.sum (for i -> f64.sum (for j -> close xs[i] xs[j]))";
    a_sum_over_two_indices: "
        def f [n] (xs: [n]f64) = f64.sum (flatten (for i j -> close xs[i] xs[j]))";
    a_sum_over_flattened_pairs: "
        def f [n] (xs: [n]f64) =
          f64.sum (map (\\(a, b) -> close a b) (flatten (map (\\a -> map (\\b -> (a, b)) xs) xs)))";
    pairs_of_points: "
        def f [n] (xs: [n]f64) =
          let ps = points xs
          in f64.sum (map (\\a -> f64.sum (map (\\b -> energy (distance a b)) ps)) ps)";
    pairs_of_different_points: "
        def f [n] (xs: [n]f64) =
          let ps = points xs
          in f64.sum (for i -> f64.sum (for j -> if i == j then 0 else energy (distance ps[i] ps[j])))";
    pairs_of_coordinates: "
        def f [n] (xs: [n]f64) =
          let ps = map (\\p -> (p[0], p[1], p[2])) (points xs)
          let term (a: (f64, f64, f64)) (b: (f64, f64, f64)) =
            1 / f64.sqrt ((a.0 - b.0) ** 2 + (a.1 - b.1) ** 2 + (a.2 - b.2) ** 2 + 0.1)
          in f64.sum (map (\\a -> f64.sum (map (term a) ps)) ps)";
    weighted_pairs: "
        def f [n] (xs: [n]f64) =
          let ps = points xs
          let w = map (\\p -> p[0] * p[1]) ps
          in f64.sum (flatten (for i j -> w[i] * w[j] * f64.exp (-distance ps[i] ps[j])))";
}
