//! What reverse derivatives of loops cost: as the input grows eightfold, the work stays a small and constant multiple of
//! the original's, and memory grows as it should.

use dagaz::compile::compile_source;
use dagaz_core::formats::text;
use dagaz_core::interp::Counters;
use dagaz_core::value::Value;

/// The same programs at two sizes: `input n` is an array of `n` numbers between 0 and 1.
const SMALL: usize = 128;
const LARGE: usize = 8 * SMALL;

fn vector(n: usize, of: impl Fn(usize) -> f64) -> Value {
    let shown: Vec<String> = (0..n).map(|i| format!("{:?}f64", of(i))).collect();
    text::read_values(format!("[{}]", shown.join(", ")).as_bytes()).expect("a value").remove(0)
}

struct Costs {
    primal: Counters,
    reverse: Counters,
}

impl Costs {
    fn work_ratio(&self) -> f64 {
        self.reverse.work as f64 / self.primal.work as f64
    }

    fn span_ratio(&self) -> f64 {
        self.reverse.span as f64 / self.primal.span as f64
    }
}

/// What `f`, a function from `[n]f64` to `f64`, and its gradient cost.
fn costs(definition: &str, n: usize) -> Costs {
    let entries =
        "entry primal [n] (x: [n]f64) : f64 = f x\nentry reverse [n] (x: [n]f64) : [n]f64 = vjp f x 1";
    let compiled = compile_source("costs.fut", &format!("{definition}\n{entries}"));
    let compiled = compiled.unwrap_or_else(|failure| panic!("{failure}"));
    let mut session = compiled.session();
    let mut cost = |entry: &str| {
        let input = vector(n, |i| 0.25 + 0.5 * ((i * 37 % 101) as f64 / 101.0));
        session.call(entry, vec![input]).unwrap_or_else(|error| panic!("{entry}: {error}"));
        session.counters()
    };
    Costs { primal: cost("primal"), reverse: cost("reverse") }
}

/// The gradient's work is at most `limit` times the work of `f`, at either size, and the factor is the same.
fn check_work(definition: &str, limit: f64) -> (Costs, Costs) {
    let (small, large) = (costs(definition, SMALL), costs(definition, LARGE));
    let (first, second) = (small.work_ratio(), large.work_ratio());
    assert!(first <= limit && second <= limit, "factors {first:.2} and {second:.2} are above {limit}");
    assert!((first / second - 1.0).abs() <= 0.1, "the factor grows from {first:.2} to {second:.2}");
    let (first, second) = (small.span_ratio(), large.span_ratio());
    assert!(second <= 1.1 * first, "the factor of spans grows from {first:.2} to {second:.2}");
    (small, large)
}

/// How the memory of the gradient grows, in elements for each element of the input.
fn peak_per_element(costs: &(Costs, Costs)) -> (f64, f64) {
    (costs.0.reverse.peak_elements as f64 / SMALL as f64, costs.1.reverse.peak_elements as f64 / LARGE as f64)
}

#[test]
fn runge_kutta() {
    check_work(
        "def f [n] (x: [n]f64) : f64 =
           let slope (t: f64) (y: f64) = x[0] * y - y * y * f64.cos t
           let h = 0.01
           in loop y = x[1] for i < n do
                let t = f64.i64 i * h
                let a = slope t y
                let b = slope (t + h / 2) (y + h / 2 * a)
                let c = slope (t + h / 2) (y + h / 2 * b)
                let d = slope (t + h) (y + h * c)
                in y + h / 6 * (a + 2 * b + 2 * c + d)",
        8.0,
    );
}

#[test]
fn powers() {
    check_work("def f [n] (x: [n]f64) : f64 = loop y = 1 for _i < n do y * x[0]", 8.0);
}

#[test]
fn triangular_nest() {
    check_work(
        "def f [n] (x: [n]f64) : f64 = loop s = 0 for i < n do
           s + (loop t = x[i] for j < i do f64.sin t * x[j])",
        8.0,
    );
}

#[test]
fn sums_need_no_saved_values() {
    let costs = check_work("def f [n] (x: [n]f64) : f64 = loop s = 0 for i < n do s + x[i] * x[i]", 8.0);
    let (_, peak) = peak_per_element(&costs);
    assert!(peak <= 2.5, "{peak:.2} elements for each element");
}

#[test]
fn recurrence_in_place() {
    let costs = check_work(
        "def f [n] (x: [n]f64) : f64 =
           let y = loop y = copy x for i < n - 1 do y with [i + 1] = f64.sin y[i] * y[i + 1]
           in y[n - 1]",
        8.0,
    );
    let (small, large) = peak_per_element(&costs);
    assert!((small / large - 1.0).abs() <= 0.1, "{small:.2} and {large:.2} elements for each element");
}

#[test]
fn branches_in_place() {
    let costs = check_work(
        "def f [n] (x: [n]f64) : f64 =
           let y = loop y = copy x for i < n - 1 do
                     if y[i] > 0.3 then y with [i + 1] = f64.sin y[i] * y[i + 1] else y
           in y[n - 1]",
        8.0,
    );
    let (small, large) = peak_per_element(&costs);
    assert!((small / large - 1.0).abs() <= 0.1, "{small:.2} and {large:.2} elements for each element");
}

#[test]
fn dynamic_programming_in_a_matrix() {
    let costs = check_work(
        "def f [n] (x: [n]f64) : f64 =
           let m = n / 8
           let table = loop t = replicate m (replicate 8 0.5) for i < m - 1 do
             loop t for j < 7 do
               t with [i + 1, j + 1] = f64.sin t[i, j + 1] * t[i + 1, j] + x[i * 8 + j]
           in table[m - 1, 7]",
        8.0,
    );
    let (small, large) = peak_per_element(&costs);
    assert!((small / large - 1.0).abs() <= 0.1, "{small:.2} and {large:.2} elements for each element");
}

#[test]
fn rows_in_place() {
    let costs = check_work(
        "def f [n] (x: [n]f64) : f64 =
           let m = n / 8
           let table = loop t = replicate m (replicate 8 0.5) for i < m - 1 do
             t with [i + 1] = map2 (\\a j -> f64.sin a * x[i * 8 + j]) t[i] (iota 8)
           in f64.sum table[m - 1]",
        8.0,
    );
    let (small, large) = peak_per_element(&costs);
    assert!((small / large - 1.0).abs() <= 0.1, "{small:.2} and {large:.2} elements for each element");
}

#[test]
fn scatters_in_place() {
    let costs = check_work(
        "def f [n] (x: [n]f64) : f64 =
           let y = loop y = copy x for i < n - 2 do
                     scatter y [i + 1, i + 2] [f64.sin y[i] * y[i + 1], y[i] + y[i + 2]]
           in y[n - 1]",
        8.0,
    );
    let (small, large) = peak_per_element(&costs);
    assert!((small / large - 1.0).abs() <= 0.1, "{small:.2} and {large:.2} elements for each element");
}

#[test]
fn newton_iteration() {
    check_work(
        "def f [n] (x: [n]f64) : f64 =
           let turns = f64.i64 n
           let (y, _) = loop (y, k) = (x[0], 0) while k < turns && y * y + k > 0 do (y - 0.1 * (y * y - x[1]) / (2 * y + 1), k + 1)
           in y",
        8.0,
    );
}

/// A loop over a state of 16 numbers, split as often as given.
fn split_loop(times: u32) -> Costs {
    let attribute = if times == 0 { String::new() } else { format!("#[stripmine({times})]") };
    let definition = format!(
        "def f [n] (x: [n]f64) : f64 =
           let y = {attribute} loop y = replicate 16 x[0] for i < n do
                     map (\\a -> f64.sin a * x[1] + f64.cos a + f64.i64 i / 1000) y
           in f64.sum y"
    );
    costs(&definition, LARGE)
}

#[test]
fn splitting_saves_memory() {
    let [whole, once, twice] = [0, 1, 2].map(split_loop);
    // Beside the gradient itself.
    let states = |costs: &Costs| (costs.reverse.peak_elements - LARGE as u64) as f64 / 16.0;
    // One state for each of n iterations; then for 2 * sqrt(n) of them, and for 3 * cbrt(n); and a few at work.
    let n = LARGE as f64;
    for (costs, expected) in [(&whole, n), (&once, 2.0 * n.sqrt()), (&twice, 3.0 * n.cbrt())] {
        let found = states(costs);
        assert!((expected..=1.1 * expected + 8.0).contains(&found), "{found} states instead of {expected}");
    }
    // At the price of one more execution each time.
    for (costs, runs) in [(&once, 1.0), (&twice, 2.0)] {
        let more = (costs.reverse.work - whole.reverse.work) as f64 / whole.primal.work as f64;
        assert!(more <= 1.5 * runs, "{more:.2} times the work of the loop");
    }
}

#[test]
fn splitting_saves_memory_of_what_is_rewritten_in_place() {
    let states = |attribute: &str| {
        let definition = format!(
            "def f [n] (x: [n]f64) : f64 =
               let y = {attribute} loop y = replicate 16 x[0] for i < n do
                         loop y for j < 16 do y with [j] = f64.sin y[j] * x[1] + f64.i64 i / 1000
               in f64.sum y"
        );
        (costs(&definition, LARGE).reverse.peak_elements - LARGE as u64) as f64 / 16.0
    };
    let (whole, split) = (states(""), states("#[stripmine(1)]"));
    // Values and indices are logged in one strip, and a state of each is kept.
    let (n, most) = (LARGE as f64, 6.0 * (LARGE as f64).sqrt());
    assert!(whole >= n && split <= most, "{whole} states, and {split} of at most {most} with strips");
}
