//! Which accumulators are left in reverse derivatives, and that the derivatives are right: the reverse derivative is the
//! transpose of the forward one, which has no accumulators.
//!
//! A program defines `f`, of whatever is differentiated, and `entry primal`, `entry fwd` and `entry rev` over its
//! components; the latter take a tangent of the same shape and a cotangent of the result.

use dagaz::compile::compile_source;
use dagaz_core::formats::text;
use dagaz_core::print::print_without_locs;
use dagaz_core::value::Value;

fn numbers(values: &[Value]) -> Vec<f64> {
    let of = |value: &Value| -> Vec<f64> {
        match value {
            Value::Array(array) => array.prims().filter_map(|p| p.as_f64()).collect(),
            Value::Prim(prim) => prim.as_f64().into_iter().collect(),
        }
    };
    values.iter().flat_map(of).collect()
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len());
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

/// Numbers between -1 and 1 that look random.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn nested(&mut self, shape: &[usize]) -> String {
        match shape.split_first() {
            None => format!("{:?}f64", self.next()),
            Some((n, rest)) => {
                let rows: Vec<String> = (0..*n).map(|_| self.nested(rest)).collect();
                format!("[{}]", rows.join(", "))
            }
        }
    }

    fn like(&mut self, values: &[Value]) -> Vec<Value> {
        let shown: Vec<String> = values.iter().map(|value| self.nested(value.shape())).collect();
        text::read_values(shown.join(" ").as_bytes()).expect("values")
    }
}

/// Compiles the program, counts the accumulators in its reverse derivative, and compares that with the forward one at
/// random arguments of these shapes. `given` are further arguments, before the others.
fn check(program: &str, given: &str, shapes: &[&[usize]], accumulators: usize) {
    let compiled = compile_source("accumulators.fut", program).unwrap_or_else(|failure| panic!("{failure}"));
    let core = print_without_locs(compiled.core());
    let fun = core.split("\ndef ").find(|fun| fun.starts_with("rev ") || fun.starts_with("def rev "));
    let fun = fun.unwrap_or_else(|| panic!("no rev in\n{core}"));
    assert_eq!(fun.matches("with_acc").count(), accumulators, "{fun}");
    let mut random = Numbers(42);
    let shown: Vec<String> = shapes.iter().map(|shape| random.nested(shape)).collect();
    let given = text::read_values(given.as_bytes()).expect("values");
    let x = text::read_values(shown.join(" ").as_bytes()).expect("values");
    let mut session = compiled.session();
    let mut call = |entry: &str, args: &[&[Value]]| -> Vec<Value> {
        let args = [&given[..], &args.concat()].concat();
        session.call(entry, args).unwrap_or_else(|error| panic!("{entry}: {error}"))
    };
    let y = call("primal", &[&x]);
    for _ in 0..4 {
        let (v, w) = (random.like(&x), random.like(&y));
        let tangent = dot(&numbers(&call("fwd", &[&x, &v])), &numbers(&w));
        let adjoint = dot(&numbers(&call("rev", &[&x, &w])), &numbers(&v));
        let scale = 1.0 + tangent.abs().max(adjoint.abs());
        assert!((tangent - adjoint).abs() <= 1e-10 * scale, "{tangent} and {adjoint} in\n{fun}");
    }
}

/// The entry points for a function of one array.
fn of_one(definition: &str, of: &str, result: &str) -> String {
    let sizes = if of.contains("[m]") { "[n][m]" } else { "[n]" };
    format!(
        "{definition}
         entry primal {sizes} (x: {of}) = f x
         entry fwd {sizes} (x: {of}) (v: {of}) = jvp f x v
         entry rev {sizes} (x: {of}) (w: {result}) = vjp f x w"
    )
}

/// The entry points for a function of two arrays.
fn of_two(definition: &str, sizes: &str, a: &str, b: &str, result: &str) -> String {
    format!(
        "{definition}
         entry primal {sizes} (a: {a}) (b: {b}) = f (a, b)
         entry fwd {sizes} (a: {a}) (b: {b}) (v: {a}) (u: {b}) = jvp f (a, b) (v, u)
         entry rev {sizes} (a: {a}) (b: {b}) (w: {result}) = vjp f (a, b) w"
    )
}

#[test]
fn dot_products() {
    let f = "def f [n] (a: [n]f64, b: [n]f64) = f64.sum (map2 (*) a b)";
    check(&of_two(f, "[n]", "[n]f64", "[n]f64", "f64"), "", &[&[5], &[5]], 0);
    let f = "def f [n] (a: [n]f64, b: [n]f64) = f64.sum (tabulate n (\\i -> a[i] * b[i]))";
    check(&of_two(f, "[n]", "[n]f64", "[n]f64", "f64"), "", &[&[5], &[5]], 0);
}

#[test]
fn pointwise_programs() {
    check(
        &of_one("def f [n] (x: [n]f64) = map (\\a -> f64.sin a * a) x", "[n]f64", "[n]f64"),
        "",
        &[&[5]],
        0,
    );
    check(
        &of_one("def f [n] (x: [n]f64) = tabulate n (\\i -> x[i] * x[i])", "[n]f64", "[n]f64"),
        "",
        &[&[5]],
        0,
    );
    let f = "def f [n][m] (x: [n][m]f64) = tabulate_2d n m (\\i j -> f64.exp x[i, j] * f64.i64 (i + 2 * j))";
    check(&of_one(f, "[n][m]f64", "[n][m]f64"), "", &[&[3, 4]], 0);
    let f = "def f [n] (x: [n]f64) = map (\\a -> a * x[0] + x[n - 1]) x";
    check(&of_one(f, "[n]f64", "[n]f64"), "", &[&[5]], 0);
}

#[test]
fn matrices_times_vectors() {
    let f = "def f [n][m] (a: [n][m]f64, b: [m]f64) = map (\\r -> f64.sum (map2 (*) r b)) a";
    check(&of_two(f, "[n][m]", "[n][m]f64", "[m]f64", "[n]f64"), "", &[&[3, 4], &[4]], 0);
    let f = "def f [n][m] (a: [n][m]f64, b: [m]f64) =
               tabulate n (\\i -> f64.sum (tabulate m (\\j -> a[i, j] * b[j])))";
    check(&of_two(f, "[n][m]", "[n][m]f64", "[m]f64", "[n]f64"), "", &[&[3, 4], &[4]], 0);
}

#[test]
fn loops_inside_of_maps() {
    let f = "def f [n][m] (a: [n][m]f64, b: [m]f64) = map (\\r -> loop s = 0 for j < m do s + r[j] * b[j]) a";
    check(&of_two(f, "[n][m]", "[n][m]f64", "[m]f64", "[n]f64"), "", &[&[3, 4], &[4]], 0);
    let f = "def step [n] (x: [n]f64) =
               tabulate n (\\i -> if i > 0 && i < n - 1 then x[i - 1] * x[i] + x[i + 1] else x[i])
             def f [n] (x: [n]f64) = loop x for _i < 3i64 do step x";
    check(&of_one(f, "[n]f64", "[n]f64"), "", &[&[6]], 0);
}

#[test]
fn matrices_times_matrices() {
    let types = ("[n][k][m]", "[n][k]f64", "[k][m]f64", "[n][m]f64");
    let f = "def f [n][k][m] (a: [n][k]f64, b: [k][m]f64) =
               map (\\r -> map (\\c -> f64.sum (map2 (*) r c)) (transpose b)) a";
    check(&of_two(f, types.0, types.1, types.2, types.3), "", &[&[3, 4], &[4, 2]], 0);
    let f = "def f [n][k][m] (a: [n][k]f64, b: [k][m]f64) =
               tabulate_2d n m (\\i j -> f64.sum (tabulate k (\\l -> a[i, l] * b[l, j])))";
    check(&of_two(f, types.0, types.1, types.2, types.3), "", &[&[3, 4], &[4, 2]], 0);
    let f =
        "def f [n][k][m] (a: [n][k]f64, b: [m][k]f64) = map (\\r -> map (\\c -> f64.sum (map2 (*) r c)) b) a";
    check(&of_two(f, "[n][k][m]", "[n][k]f64", "[m][k]f64", "[n][m]f64"), "", &[&[3, 4], &[2, 4]], 0);
}

#[test]
fn cost_of_k_means() {
    let f = "def distance [d] (x: [d]f64) (y: [d]f64) = f64.sum (map (\\e -> e * e) (map2 (-) x y))
             def f [n][k][d] (points: [n][d]f64, centres: [k][d]f64) =
               f64.sum (map (\\p -> f64.minimum (map (distance p) centres)) points)";
    // Every point adds to its own centre alone, and which one that is depends on the data.
    check(&of_two(f, "[n][k][d]", "[n][d]f64", "[k][d]f64", "f64"), "", &[&[6, 2], &[3, 2]], 1);
}

#[test]
fn log_likelihood_of_a_mixture() {
    let f = "def log_sum_exp [n] (x: [n]f64) =
               let m = f64.maximum x
               in m + f64.log (f64.sum (map (\\a -> f64.exp (a - m)) x))
             def f [n][k][d] (points: [n][d]f64, means: [k][d]f64) =
               f64.sum (map (\\x ->
                 log_sum_exp (map (\\mean -> -0.5 * f64.sum (map2 (\\a b -> (a - b) * (a - b)) x mean)) means)) points)";
    check(&of_two(f, "[n][k][d]", "[n][d]f64", "[k][d]f64", "f64"), "", &[&[5, 2], &[3, 2]], 0);
}

#[test]
fn stencils_in_one_dimension() {
    let f = "def f [n] (x: [n]f64) =
               map (\\i -> if i == 0 then x[0] * x[1] else if i == n - 1 then x[n - 1]
                          else x[i - 1] * x[i] + x[i + 1] * x[i + 1]) (iota n)";
    check(&of_one(f, "[n]f64", "[n]f64"), "", &[&[6]], 0);
    let f = "def f [n] (x: [n]f64) =
               tabulate n (\\i -> if i > 0 && i < n - 1 then x[i - 1] * x[i + 1] else x[i])";
    check(&of_one(f, "[n]f64", "[n]f64"), "", &[&[6]], 0);
    let f = "def f [n] (x: [n]f64) =
               tabulate n (\\i -> x[i64.max 0 (i - 1)] * x[i] * x[i64.min (n - 1) (i + 1)])";
    check(&of_one(f, "[n]f64", "[n]f64"), "", &[&[6]], 0);
}

#[test]
fn stencils_that_wrap_around() {
    let f = "def f [n] (x: [n]f64) = tabulate n (\\i -> x[(i + 1) % n] * x[i] - x[(i - 2) % n])";
    check(&of_one(f, "[n]f64", "[n]f64"), "", &[&[6]], 0);
    check(&of_one("def f [n] (x: [n]f64) = map2 (*) x (rotate 2 x)", "[n]f64", "[n]f64"), "", &[&[6]], 0);
    check(&of_one("def f [n] (x: [n]f64) = map2 (*) x (reverse x)", "[n]f64", "[n]f64"), "", &[&[6]], 0);
}

#[test]
fn stencils_in_two_dimensions() {
    let f = "def f [n][m] (x: [n][m]f64) =
               tabulate_2d n m (\\i j ->
                 if i == 0 || i == n - 1 || j == 0 || j == m - 1 then x[i, j]
                 else x[i, j] * x[i - 1, j] + x[i + 1, j] * x[i, j - 1] + f64.sin x[i, j + 1])";
    check(&of_one(f, "[n][m]f64", "[n][m]f64"), "", &[&[4, 5]], 0);
    let f = "def f [n][m] (x: [n][m]f64) =
               map (\\i -> map (\\j ->
                 let up = if i == 0 then 0 else x[i - 1, j]
                 let left = if j == 0 then 0 else x[i, j - 1]
                 in x[i, j] * up + left * left) (iota m)) (iota n)";
    check(&of_one(f, "[n][m]f64", "[n][m]f64"), "", &[&[4, 5]], 0);
}

#[test]
fn convolutions_with_few_taps() {
    let f = "def f [n] (x: [n]f64) = tabulate n (\\i -> f64.sum (tabulate 3 (\\k -> if i + k < n then x[i + k] * f64.i64 k else 1)))";
    check(&of_one(f, "[n]f64", "[n]f64"), "", &[&[6]], 0);
}

#[test]
fn gathers_that_depend_on_data_keep_one_accumulator() {
    let program = "def f [n][m] (is: [m]i64) (x: [n]f64) = map (\\i -> x[i] * x[i]) is
                   entry primal [n][m] (is: [m]i64) (x: [n]f64) = f is x
                   entry fwd [n][m] (is: [m]i64) (x: [n]f64) (v: [n]f64) = jvp (f is) x v
                   entry rev [n][m] (is: [m]i64) (x: [n]f64) (w: [m]f64) = vjp (f is) x w";
    check(program, "[0i64, 3i64, 3i64, 1i64]", &[&[5]], 1);
}

#[test]
fn sparse_matrices_times_vectors_keep_one_accumulator() {
    let program = "def f [n][m][k] (columns: [n][k]i64) (values: [n][k]f64, x: [m]f64) =
                     map2 (\\cs vs -> f64.sum (map2 (\\c v -> v * x[c]) cs vs)) columns values
                   entry primal [n][m][k] (columns: [n][k]i64) (values: [n][k]f64) (x: [m]f64) =
                     f columns (values, x)
                   entry fwd [n][m][k] (columns: [n][k]i64) (values: [n][k]f64) (x: [m]f64) (v: [n][k]f64) (u: [m]f64) =
                     jvp (f columns) (values, x) (v, u)
                   entry rev [n][m][k] (columns: [n][k]i64) (values: [n][k]f64) (x: [m]f64) (w: [n]f64) =
                     vjp (f columns) (values, x) w";
    check(program, "[[0i64, 3i64], [3i64, 1i64], [2i64, 0i64]]", &[&[3, 2], &[4]], 1);
}

#[test]
fn biases_of_gates_in_a_loop() {
    let f = "def f [n][m] (x: [n][m]f64, b: [2 * m]f64) : [n][m]f64 =
               loop s = x for _i < 3i64 do
                 tabulate_2d n m (\\i j -> f64.cos (s[i, j] + b[j]) * f64.tanh (s[i, j] + b[m + j]))";
    let program = format!(
        "{f}
         entry primal [n][m] (a: [n][m]f64) (b: [2 * m]f64) = f (a, b)
         entry fwd [n][m] (a: [n][m]f64) (b: [2 * m]f64) (v: [n][m]f64) (u: [2 * m]f64) = jvp f (a, b) (v, u)
         entry rev [n][m] (a: [n][m]f64) (b: [2 * m]f64) (w: [n][m]f64) = vjp f (a, b) w"
    );
    check(&program, "", &[&[3, 4], &[8]], 0);
}
