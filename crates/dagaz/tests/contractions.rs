//! Programs with sums of products: how many of them become contractions, and that machine code, the interpreter and loops
//! give the same. Elements are small integers, so that sums are exact in any order.

use dagaz::{Backend, compile_source, data};
use dagaz_core::print::print_without_locs;

/// Elements, made by loops so that nothing is fused with them; products by maps, and by loops, which stay loops.
const COMMON: &str = r"
def fill2 (seed: i64) (n: i64) (m: i64) : [n][m]f64 =
  loop xs = replicate n (replicate m 0) for q < n * m do
    let (i, j) = (q / m, q % m)
    in xs with [i, j] = f64.i64 ((i * 7 + j * 3 + seed * 5 + i * j) % 11 - 5)
def fill3 (seed: i64) (b: i64) (n: i64) (m: i64) : [b][n][m]f64 =
  loop xs = replicate b (replicate n (replicate m 0)) for q < b do xs with [q] = fill2 (seed + q) n m
def dot [k] (x: [k]f64) (y: [k]f64) = f64.sum (map2 (*) x y)
def mm [n][k][m] (x: [n][k]f64) (y: [k][m]f64) : [n][m]f64 =
  map (\row -> map (\col -> dot row col) (transpose y)) x
def mv [n][k] (x: [n][k]f64) (y: [k]f64) : [n]f64 = map (\row -> dot row y) x
def loop_mm [n][k][m] (x: [n][k]f64) (y: [k][m]f64) : [n][m]f64 =
  map (\row -> map (\col -> loop s = 0 for p < k do s + row[p] * col[p]) (transpose y)) x
def loop_mv [n][k] (x: [n][k]f64) (y: [k]f64) : [n]f64 = map (\row -> loop s = 0 for p < k do s + row[p] * y[p]) x
";

/// `main` and `reference` take sizes. Checks the number of contractions in `main`, and the results for all `sizes`.
fn check(program: &str, contractions: usize, sizes: &[&str]) {
    let program = compile_source("test.fut", &format!("{COMMON}{program}"))
        .unwrap_or_else(|failure| panic!("{}", failure.summary()));
    let text = print_without_locs(program.core());
    let function = |name: &str| text.split("\n\n").find(|part| part.starts_with(&format!("def {name} ")));
    let count = |name: &str| function(name).expect("a function").matches("= contract ").count();
    assert_eq!(count("main"), contractions, "{text}");
    assert_eq!(count("reference"), 0, "{text}");
    for args in sizes {
        let args = data::read_values(args.as_bytes()).expect("values");
        let call = |backend, entry: &str| {
            let mut session = program.session_on(backend);
            assert_eq!(session.notice(), None);
            session.call(entry, args.clone()).map_err(|error| error.to_string())
        };
        let expected = call(Backend::Interpreter, "reference");
        assert!(expected.is_ok(), "{expected:?}");
        assert_eq!(call(Backend::Interpreter, "main"), expected);
        assert_eq!(call(Backend::C, "main"), expected);
    }
}

/// Small ones, ones for the library, empty ones.
const SIZES: &[&str] = &[
    "2i64 3i64 4i64",
    "1i64 1i64 1i64",
    "17i64 33i64 21i64",
    "0i64 3i64 2i64",
    "3i64 0i64 2i64",
    "2i64 3i64 0i64",
];

#[test]
fn products() {
    check(
        "entry main (n: i64) (k: i64) (m: i64) = mm (fill2 0 n k) (fill2 1 k m)
         entry reference (n: i64) (k: i64) (m: i64) = loop_mm (fill2 0 n k) (fill2 1 k m)",
        1,
        SIZES,
    );
}

#[test]
fn products_by_indices() {
    check(
        "def by_indices [n][k][m] (x: [n][k]f64) (y: [k][m]f64) : [n][m]f64 =
           tabulate_2d n m (\\i j -> f64.sum (map (\\p -> x[i, p] * y[p, j]) (iota k)))
         entry main (n: i64) (k: i64) (m: i64) = by_indices (fill2 0 n k) (fill2 1 k m)
         entry reference (n: i64) (k: i64) (m: i64) = loop_mm (fill2 0 n k) (fill2 1 k m)",
        1,
        SIZES,
    );
}

#[test]
fn products_of_several_panels() {
    check(
        "entry main (n: i64) (k: i64) (m: i64) = mm (fill2 0 n k) (fill2 1 k m)
         entry reference (n: i64) (k: i64) (m: i64) = loop_mm (fill2 0 n k) (fill2 1 k m)",
        1,
        &["1100i64 3i64 5i64", "3i64 4i64 1200i64"],
    );
}

#[test]
fn single_precision() {
    check(
        "def low = map (map f32.f64)
         entry main (n: i64) (k: i64) (m: i64) =
           map (\\row -> map (\\col -> f32.sum (map2 (*) row col)) (transpose (low (fill2 1 k m)))) (low (fill2 0 n k))
         entry reference (n: i64) (k: i64) (m: i64) = low (loop_mm (fill2 0 n k) (fill2 1 k m))",
        1,
        SIZES,
    );
}

#[test]
fn transposed_operands_and_results() {
    for (x, y) in [("n k", "m k"), ("k n", "k m"), ("k n", "m k")] {
        let left = if x == "n k" { "x" } else { "(transpose x)" };
        let right = if y == "k m" { "y" } else { "(transpose y)" };
        let program = format!(
            "entry main (n: i64) (k: i64) (m: i64) =
               let x = fill2 0 {x} let y = fill2 1 {y} in (mm {left} {right}, transpose (mm {left} {right}))
             entry reference (n: i64) (k: i64) (m: i64) =
               let x = fill2 0 {x} let y = fill2 1 {y} in (loop_mm {left} {right}, transpose (loop_mm {left} {right}))"
        );
        check(&program, 1, SIZES);
    }
}

#[test]
fn vectors() {
    check(
        "entry main (n: i64) (k: i64) (_: i64) =
           (mv (fill2 0 n k) (fill2 1 2 k)[1], mv (transpose (fill2 0 k n)) (fill2 1 2 k)[1])
         entry reference (n: i64) (k: i64) (_: i64) =
           (loop_mv (fill2 0 n k) (fill2 1 2 k)[1], loop_mv (transpose (fill2 0 k n)) (fill2 1 2 k)[1])",
        2,
        SIZES,
    );
}

#[test]
fn batches() {
    check(
        "entry main (b: i64) (n: i64) (k: i64) (m: i64) =
           (map2 mm (fill3 0 b n k) (fill3 1 b k m),
            map (\\x -> mm x (fill2 1 k m)) (fill3 0 b n k),
            map2 mv (fill3 0 b n k) (fill2 1 b k))
         entry reference (b: i64) (n: i64) (k: i64) (m: i64) =
           (map2 loop_mm (fill3 0 b n k) (fill3 1 b k m),
            map (\\x -> loop_mm x (fill2 1 k m)) (fill3 0 b n k),
            map2 loop_mv (fill3 0 b n k) (fill2 1 b k))",
        3,
        &["2i64 3i64 4i64 5i64", "3i64 16i64 20i64 24i64", "0i64 1i64 2i64 3i64", "2i64 3i64 0i64 5i64"],
    );
}

#[test]
fn axes_apart() {
    check(
        "entry main (b: i64) (n: i64) (k: i64) (m: i64) =
           let x = fill3 0 n b k
           let y = fill3 1 m b k
           in map (\\yj -> map (\\xi -> map2 dot xi yj) x) y
         entry reference (b: i64) (n: i64) (k: i64) (m: i64) =
           let x = fill3 0 n b k
           let y = fill3 1 m b k
           in map (\\yj -> map (\\xi -> map2 (\\u v -> loop s = 0 for p < k do s + u[p] * v[p]) xi yj) x) y",
        1,
        &["2i64 3i64 4i64 5i64", "3i64 16i64 20i64 24i64", "2i64 3i64 0i64 5i64"],
    );
}

#[test]
fn layers() {
    check(
        "entry main (n: i64) (k: i64) (m: i64) =
           let (w, b) = (fill2 1 m k, (fill2 2 m 1)[:, 0])
           in map (\\row -> map2 (\\w b -> f64.max 0 (b + dot row w)) w b) (fill2 0 n k)
         entry reference (n: i64) (k: i64) (m: i64) =
           map (\\row -> map2 f64.max (replicate m 0) (map2 (+) (fill2 2 m 1)[:, 0] row))
               (loop_mm (fill2 0 n k) (transpose (fill2 1 m k)))",
        1,
        SIZES,
    );
}

#[test]
fn attention_without_exponentials() {
    check(
        "def relu = map (f64.max 0)
         def head [n][k] (q: [n][k]f64) (x: [n][k]f64) (v: [n][k]f64) = mm (map relu (mm q (transpose x))) v
         def loop_head [n][k] (q: [n][k]f64) (x: [n][k]f64) (v: [n][k]f64) =
           loop_mm (map relu (loop_mm q (transpose x))) v
         entry main (b: i64) (n: i64) (k: i64) = map3 head (fill3 0 b n k) (fill3 1 b n k) (fill3 2 b n k)
         entry reference (b: i64) (n: i64) (k: i64) = map3 loop_head (fill3 0 b n k) (fill3 1 b n k) (fill3 2 b n k)",
        2,
        &["2i64 3i64 4i64", "3i64 20i64 24i64", "2i64 0i64 3i64"],
    );
}

#[test]
fn adjoints() {
    check(
        "entry main (n: i64) (k: i64) (m: i64) =
           vjp (\\(x, y) -> mm x y) (fill2 0 n k, fill2 1 k m) (fill2 2 n m)
         entry reference (n: i64) (k: i64) (m: i64) =
           (loop_mm (fill2 2 n m) (transpose (fill2 1 k m)), loop_mm (transpose (fill2 0 n k)) (fill2 2 n m))",
        2,
        SIZES,
    );
}

#[test]
fn tangents() {
    check(
        "entry main (n: i64) (k: i64) (m: i64) =
           jvp (\\(x, y) -> mm x y) (fill2 0 n k, fill2 1 k m) (fill2 2 n k, fill2 3 k m)
         entry reference (n: i64) (k: i64) (m: i64) =
           map2 (map2 (+)) (loop_mm (fill2 2 n k) (fill2 1 k m)) (loop_mm (fill2 0 n k) (fill2 3 k m))",
        2,
        SIZES,
    );
}

#[test]
fn second_derivatives() {
    check(
        "def squares [n][m] (x: [n][m]f64) = map (map (\\e -> e * e)) x
         entry main (n: i64) (k: i64) (m: i64) =
           let y = fill2 1 k m
           in jvp (\\x -> vjp (\\x -> squares (mm x y)) x (fill2 2 n m)) (fill2 0 n k) (fill2 3 n k)
         entry reference (n: i64) (k: i64) (m: i64) =
           let y = fill2 1 k m
           let dz = loop_mm (fill2 3 n k) y
           in loop_mm (map2 (map2 (\\c d -> 2 * c * d)) (fill2 2 n m) dz) (transpose y)",
        2,
        SIZES,
    );
}

#[test]
fn adjoints_of_layers() {
    check(
        "def layer [n][k][m] (x: [n][k]f64) (w: [m][k]f64) (b: [m]f64) =
           map (\\row -> map2 (\\w b -> let z = b + dot row w in z * z) w b) x
         entry main (n: i64) (k: i64) (m: i64) =
           vjp (\\(x, w, b) -> layer x w b) (fill2 0 n k, fill2 1 m k, (fill2 2 m 1)[:, 0]) (fill2 3 n m)
         entry reference (n: i64) (k: i64) (m: i64) =
           let (x, w, b) = (fill2 0 n k, fill2 1 m k, (fill2 2 m 1)[:, 0])
           let z = map (map2 (+) b) (loop_mm x (transpose w))
           let dz = map2 (map2 (\\z c -> 2 * z * c)) z (fill2 3 n m)
           in (loop_mm dz w, loop_mm (transpose dz) x, map f64.sum (transpose dz))",
        3,
        SIZES,
    );
}

#[test]
fn products_that_are_added_up_in_a_loop() {
    check(
        "def add [n][m] (x: [n][m]f64) (y: [n][m]f64) : [n][m]f64 = map2 (map2 (+)) x y
         entry main (n: i64) (k: i64) (m: i64) =
           loop s = fill2 2 m n for i < 3 do add s (transpose (mm (fill2 i n k) (fill2 1 k m)))
         entry reference (n: i64) (k: i64) (m: i64) =
           loop s = fill2 2 m n for i < 3 do add s (transpose (loop_mm (fill2 i n k) (fill2 1 k m)))",
        1,
        SIZES,
    );
}

/// Kernels read both matrices where they are, with tiles that they do not fill.
#[test]
fn short_products_over_rows() {
    let sizes = &["50i64 70i64 81i64", "81i64 70i64 50i64", "130i64 64i64 70i64"];
    check(
        "entry main (n: i64) (k: i64) (m: i64) = mm (transpose (fill2 0 k n)) (fill2 1 k m)
         entry reference (n: i64) (k: i64) (m: i64) = loop_mm (transpose (fill2 0 k n)) (fill2 1 k m)",
        1,
        sizes,
    );
    check(
        "entry main (n: i64) (k: i64) (m: i64) = transpose (mm (transpose (fill2 0 k n)) (fill2 1 k m))
         entry reference (n: i64) (k: i64) (m: i64) = transpose (loop_mm (transpose (fill2 0 k n)) (fill2 1 k m))",
        1,
        sizes,
    );
}

/// The matrix is kept in the order of kernels, with panels that it does not fill.
#[test]
fn many_products_with_one_matrix() {
    let sizes = &["2i64 3i64 4i64", "50i64 33i64 37i64", "7i64 70i64 46i64", "0i64 3i64 2i64"];
    check(
        r"def small [n][m] (x: [n][m]f64) : [n][m]f64 = map (map (% 7f64)) x
          def steps [n][k][m] (x: [n][k]f64) (w: [m][k]f64) : [n][k]f64 =
            loop x for _i < 3 do small (mm (small (mm x (transpose w))) w)
          def loop_steps [n][k][m] (x: [n][k]f64) (w: [m][k]f64) : [n][k]f64 =
            loop x for _i < 3 do small (loop_mm (small (loop_mm x (transpose w))) w)
          def changing [n][k][m] (steps: [n][k]f64 -> [m][k]f64 -> [n][k]f64) (x: [n][k]f64) (w: [m][k]f64) : [n][k]f64 =
            let (x, _) = loop (x, w) for _i < 2 do (steps x w, small (map (map (+ 1)) w)) in x
          entry main (n: i64) (k: i64) (m: i64) = changing steps (fill2 0 n k) (fill2 1 m k)
          entry reference (n: i64) (k: i64) (m: i64) = changing loop_steps (fill2 0 n k) (fill2 1 m k)",
        2,
        sizes,
    );
    check(
        r"def small [n][m] (x: [n][m]f64) : [n][m]f64 = map (map (% 7f64)) x
          entry main (n: i64) (k: i64) (m: i64) =
            let w = fill2 1 m k
            in loop x = fill2 0 n k for _i < 3 do transpose (small (mm (transpose w) (small (mm w (transpose x)))))
          entry reference (n: i64) (k: i64) (m: i64) =
            let w = fill2 1 m k
            in loop x = fill2 0 n k for _i < 3 do transpose (small (loop_mm (transpose w) (small (loop_mm w (transpose x)))))",
        2,
        sizes,
    );
}

#[test]
fn what_a_product_is_added_to_may_be_needed_again() {
    check(
        "def add [n][m] (x: [n][m]f64) (y: [n][m]f64) : [n][m]f64 = map2 (map2 (+)) x y
         entry main (n: i64) (k: i64) (m: i64) =
           let s = fill2 2 n m in (s, add (mm (fill2 0 n k) (fill2 1 k m)) s, mm s (fill2 1 m n))
         entry reference (n: i64) (k: i64) (m: i64) =
           let s = fill2 2 n m in (s, add (loop_mm (fill2 0 n k) (fill2 1 k m)) s, loop_mm s (fill2 1 m n))",
        2,
        SIZES,
    );
}

#[test]
fn parts_of_matrices_in_products_that_are_added() {
    let program = |product: &str, name: &str| {
        format!(
            "entry {name} (n: i64) (k: i64) (m: i64) =
               let x = fill2 0 (n + 2) (k + m + 3)
               let part = x[1:n + 1, 2:k + 2] :> [n][k]f64
               let square = (fill2 1 (k + 1) (k + 2))[1:, 2:] :> [k][k]f64
               in x with [1:n + 1, 2:k + 2] = map2 (map2 (+)) part ({product} part square)
             "
        )
    };
    check(&(program("mm", "main") + &program("loop_mm", "reference")), 1, SIZES);
}

#[test]
fn products_of_several_factors() {
    check(
        "entry main (n: i64) (k: i64) (m: i64) =
           let (x, y, w) = (fill2 0 n k, fill2 1 k m, fill2 2 2 k)
           in for i j -> f64.sum (for p -> x[i, p] * w[0, p] * y[p, j] * (w[1, p] - 1)) + f64.i64 i
         entry reference (n: i64) (k: i64) (m: i64) =
           let (x, y, w) = (fill2 0 n k, fill2 1 k m, fill2 2 2 k)
           in for i j -> (loop s = 0 for p < k do s + x[i, p] * w[0, p] * y[p, j] * (w[1, p] - 1)) + f64.i64 i",
        1,
        SIZES,
    );
}

#[test]
fn the_gradient_of_a_mixture_is_products_of_matrices() {
    let source = include_str!("../../../benches/papers/gmm.fut");
    let program = compile_source("gmm.fut", source).unwrap_or_else(|failure| panic!("{}", failure.summary()));
    let text = print_without_locs(program.core());
    let derivative = text.split("\n\n").find(|part| part.starts_with("def derivative ")).expect("a function");
    // Two for each of the sums over points: one forwards, one backwards; and two for the means, which are small.
    assert_eq!(derivative.matches("= contract ").count(), 4, "{derivative}");
    // One operand is a triangle, or the result is read in one.
    assert_eq!(derivative.matches(" where ").count(), 4, "{derivative}");
}

/// Rows, columns and depth; a batch with a period of its own; those that are not multiples of anything.
const TRIANGLES: &[&str] =
    &["3i64 4i64 2i64", "64i64 72i64 5i64", "71i64 37i64 5i64", "300i64 16i64 2i64", "9i64 300i64 1i64"];

/// Checks that contractions have triangles, all of them, and what [`check`] does.
fn check_triangles(program: &str, contractions: usize) {
    let compiled = compile_source("test.fut", &format!("{COMMON}{program}"))
        .unwrap_or_else(|failure| panic!("{}", failure.summary()));
    let text = print_without_locs(compiled.core());
    let main = text.split("\n\n").find(|part| part.starts_with("def main ")).expect("a function");
    assert_eq!(main.matches(" where ").count(), contractions, "{main}");
    check(program, contractions, TRIANGLES);
}

/// Triangles however they are written, on either side of a product, transposed or not.
#[test]
fn operands_that_are_triangles() {
    for condition in ["i < j", "i <= j", "j < i", "!(j <= i)", "i == j || i > j", "i != j || i < j && true"] {
        let program = format!(
            "def part [n] (x: [n][n]f64) : [n][n]f64 = tabulate_2d n n (\\i j -> if {condition} then 0 else x[i, j])
             entry main (n: i64) (d: i64) (k: i64) =
               let x = fill2 0 n d let q = map part (fill3 1 k d d)
               in (map (\\row -> map (\\q -> mv q row) q) x, map (\\q -> mm x q) q, mm (q[0]) (transpose x))
             entry reference (n: i64) (d: i64) (k: i64) =
               let x = fill2 0 n d let q = map part (fill3 1 k d d)
               in (map (\\row -> map (\\q -> loop_mv q row) q) x, map (\\q -> loop_mm x q) q, loop_mm (q[0]) (transpose x))"
        );
        match condition {
            // Zero where the diagonal is not.
            "i != j || i < j && true" => check(&program, 3, TRIANGLES),
            _ => check_triangles(&program, 3),
        }
    }
}

/// The rows of these products come last: sums along a triangle, and derivatives by it and by what it is applied to.
#[test]
fn sums_along_triangles_and_their_derivatives() {
    let program = |mv: &str| {
        format!(
            "let part (x: [d][d]f64) = tabulate_2d d d (\\i j -> if i < j then 0 else x[i, j])
             let f (w: [k][d][d]f64, c: [k][d]f64) =
               let q = map part w
               let term x q c = f64.sum (map2 (\\y c -> (y - c) * (y - c)) ({mv} q x) c)
               let weighted x i q c = x[i % d] * term x q c
               in f64.sum (map (\\x -> f64.sum (map3 (weighted x) (iota k) q c)) (fill2 0 n d))
             in (f (fill3 1 k d d, fill2 2 k d), vjp f (fill3 1 k d d, fill2 2 k d) 1)"
        )
    };
    check_triangles(
        &format!(
            "entry main (n: i64) (d: i64) (k: i64) = {}
             entry reference (n: i64) (d: i64) (k: i64) = {}",
            program("mv"),
            program("loop_mv")
        ),
        // FIXME: three, if it were known that `i % d` cannot fail where there is a row of size `d`.
        2,
    );
}

/// Copies of the columns of a triangle are kept for all products of a loop, whatever the number of rows is.
#[test]
fn many_products_with_one_triangle() {
    for (condition, order) in [("i < j", "q"), ("j < i", "q"), ("i < j", "(transpose q)")] {
        let program = |mm: &str| {
            format!(
                "let w = fill2 1 d d
                 let q = tabulate_2d d d (\\i j -> if {condition} then 0 else w[i, j])
                 in loop s = 0 for i < k do s + f64.sum (flatten ({mm} (fill2 i (n - i) d) {order}))"
            )
        };
        check_triangles(
            &format!(
                "entry main (n: i64) (d: i64) (k: i64) = {}
                 entry reference (n: i64) (d: i64) (k: i64) = {}",
                program("mm"),
                program("loop_mm")
            ),
            1,
        );
    }
}

/// Of these products, a triangle is read; the rest is not zero.
#[test]
fn results_of_which_a_triangle_is_read() {
    for (condition, order) in [("i < j", "p[i, j]"), ("j < i", "p[i, j]"), ("i <= j", "p[j, i]")] {
        let program = |mm: &str| {
            format!(
                "let (x, y) = (fill2 0 n d, fill3 1 k n d)
                 in map (\\y -> let p = {mm} (transpose y) x
                               in tabulate_2d d d (\\i j -> if {condition} then 1 else 2 * {order})) y"
            )
        };
        check_triangles(
            &format!(
                "entry main (n: i64) (d: i64) (k: i64) = {}
                 entry reference (n: i64) (d: i64) (k: i64) = {}",
                program("mm"),
                program("loop_mm")
            ),
            1,
        );
    }
}
