//! Entry points as Rust functions.

use dagaz::typed::{Data, Give};
use dagaz::{Entry, Error};
use expect_test::{Expect, expect};
use ndarray::{Array1, Array2, ArrayView1, array};

const SOURCE: &str = "
def square (x: f64) = x * x

-- How far planes are from 1 at some points.
entry loss [n][m] (xs: [n][m]f64) (w: [m]f64) : f64 =
  f64.sum (map (\\x -> square (f64.sum (map2 (*) x w) - 1)) xs)

entry scaled [n] (k: f32) (xs: [n]f32) : [n]f32 = map (* k) xs

entry minmax [n] (xs: [n]i32) : (i32, i32) = (i32.minimum xs, i32.maximum xs)

entry swap (p: (i32, f64)) : (f64, i32) = (p.1, p.0)

entry evens [n] (xs: [n]i64) : []i64 = filter (\\x -> x % 2 == 0) xs

entry nth [n] (xs: [n]f64) (i: i64) : f64 = xs[i]

entry answer : i32 = 42
";

fn program() -> dagaz::Program {
    dagaz::compile(SOURCE).unwrap()
}

type Loss = fn(Array2<f64>, Array1<f64>) -> f64;

fn data() -> (Array2<f64>, Array1<f64>) {
    (array![[1.0, 2.0], [3.0, 4.0]], array![0.5, 0.25])
}

fn check_message<T: std::fmt::Debug>(result: Result<T, Error>, expected: Expect) {
    expected.assert_eq(&result.unwrap_err().to_string());
}

#[test]
fn calls_take_references_views_and_slices() {
    let loss = program().entry::<Loss>("loss").unwrap();
    let (xs, w) = data();
    assert_eq!(loss.call(&xs, &w).unwrap(), 2.25);
    assert_eq!(loss.call(xs.view(), [0.5, 0.25]).unwrap(), 2.25);
    assert_eq!(loss.call(&xs, vec![0.5, 0.25]).unwrap(), 2.25);
    // Neither the rows nor the elements of this one are next to each other.
    let large = Array2::from_shape_fn((2, 5), |(i, j)| (10 * i + j) as f64);
    let part = large.t();
    assert_eq!(loss.call(part, &w).unwrap(), loss.call(part.to_owned(), w).unwrap());
}

#[test]
fn results_are_arrays_numbers_and_tuples() {
    let program = program();
    let scaled = program.entry::<fn(f32, Vec<f32>) -> Vec<f32>>("scaled").unwrap();
    assert_eq!(scaled.call(2.0, &[1.0, 2.5][..]).unwrap(), [2.0, 5.0]);
    let minmax = program.entry::<fn(Vec<i32>) -> (i32, i32)>("minmax").unwrap();
    assert_eq!(minmax.call([3, -1, 7]).unwrap(), (-1, 7));
    let swap = program.entry::<fn((i32, f64)) -> (f64, i32)>("swap").unwrap();
    assert_eq!(swap.call((3, 0.5)).unwrap(), (0.5, 3));
    let evens = program.entry::<fn(Array1<i64>) -> Array1<i64>>("evens").unwrap();
    assert_eq!(evens.call([1, 2, 3, 4]).unwrap(), array![2, 4]);
    let answer = program.entry::<fn() -> i32>("answer").unwrap();
    assert_eq!(answer.call().unwrap(), 42);
}

#[test]
fn derivatives() {
    let loss = program().entry::<Loss>("loss").unwrap();
    let (xs, w) = data();
    let gradient = array![9.0, 12.0];
    assert_eq!(loss.grad_at::<1>().unwrap().call(&xs, &w).unwrap(), gradient);
    assert_eq!(loss.value_and_grad_at::<1>().unwrap().call(&xs, &w).unwrap(), (2.25, gradient));
    let by_xs = loss.grad().unwrap().call(&xs, &w).unwrap();
    assert_eq!(by_xs, array![[0.0, 0.0], [1.5, 0.75]]);
    let direction = array![[1.0, 0.0], [0.0, 2.0]];
    let (value, change) = loss.jvp().unwrap().call(&xs, &w, &direction).unwrap();
    assert_eq!((value, change), (2.25, (&by_xs * &direction).sum()));
    assert_eq!(loss.vjp().unwrap().call(&xs, &w, 2.0).unwrap(), &by_xs * 2.0);
    // The second derivative of (x·w - 1)² is 2 w wᵀ, row by row.
    let product = loss.hvp().unwrap().call(&xs, &w, &direction).unwrap();
    let rows = direction.rows().into_iter().map(|row| &w * (2.0 * row.dot(&w)));
    let expected: Vec<f64> = rows.flat_map(|row| row.to_vec()).collect();
    assert_eq!(product.into_raw_vec_and_offset().0, expected);
    // Derivatives of derivatives are entry points like any other.
    let twice = loss.grad_at::<1>().unwrap().jvp().unwrap().call(&xs, &w, Array2::zeros((2, 2))).unwrap();
    assert_eq!(twice.1, Array1::<f64>::zeros(2));
}

#[test]
fn arrays_that_come_in_are_not_copied() {
    let count = 1 << 20;
    let program = dagaz::compile("entry last [n] (xs: [n]f64) (i: i64) : f64 = xs[i]").unwrap();
    let last = program.entry::<fn(Vec<f64>, i64) -> f64>("last").unwrap();
    let xs: Vec<f64> = (0..count).map(f64::from).collect();
    let mut given = Vec::new();
    Give::<Vec<f64>>::give(&xs, &mut given);
    let address = given[0].elems().unwrap().address();
    assert_eq!(address, xs.as_ptr().cast());
    assert_eq!(last.call(&xs, 77).unwrap(), 77.0);
}

#[test]
fn entry_points_run_on_several_threads_at_once() {
    let loss: Entry<Loss> = program().entry("loss").unwrap();
    loss.prepare().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let loss = loss.clone();
            scope.spawn(move || {
                let (xs, w) = data();
                (0..100).for_each(|_| assert_eq!(loss.call(&xs, &w).unwrap(), 2.25));
            });
        }
    });
}

#[test]
fn types_that_do_not_fit_are_said_in_both_languages() {
    let program = program();
    check_message(
        program.entry::<fn(Array1<f64>, Array1<f64>) -> f32>("loss"),
        expect![
            "`loss` takes (xs: [n][m]f64, w: [m]f64) and gives f64, which is fn(Array2<f64>, Array1<f64>) -> f64 in Rust and not fn(Array1<f64>, Array1<f64>) -> f32"
        ],
    );
    check_message(
        program.entry::<fn(Array1<f32>) -> Array1<f32>>("scaled"),
        expect![
            "`scaled` takes (k: f32, xs: [n]f32) and gives [n]f32, which is fn(f32, Array1<f32>) -> Array1<f32> in Rust and not fn(Array1<f32>) -> Array1<f32>"
        ],
    );
    check_message(
        program.entry::<fn() -> f64>("los"),
        expect!["there is no entry point `los`; there are: loss, scaled, minmax, swap, evens, nth, answer"],
    );
    check_message(
        program.entry::<fn((f64, f64)) -> (f64, i32)>("swap"),
        expect![
            "`swap` takes (p: (i32, f64)) and gives (f64, i32), which is fn((i32, f64)) -> (f64, i32) in Rust and not fn((f64, f64)) -> (f64, i32)"
        ],
    );
    assert_eq!(<(f64, Array2<u8>)>::rust_name(), "(f64, Array2<u8>)");
}

#[test]
fn what_has_no_derivative_is_refused() {
    let program = program();
    let minmax = program.entry::<fn(Vec<i32>) -> (i32, i32)>("minmax").unwrap();
    check_message(
        minmax.grad(),
        expect![
            "the parameter xs of minmax has the type [n]i32, which is not of floating-point numbers alone"
        ],
    );
    let scaled = program.entry::<fn(f32, Vec<f32>) -> Vec<f32>>("scaled").unwrap();
    check_message(scaled.grad(), expect!["scaled gives [n]f32, and not one floating-point number"]);
    let evens = program.entry::<fn(Vec<i64>) -> Vec<i64>>("evens").unwrap();
    check_message(
        evens.jvp(),
        expect!["the sizes of the result of evens are known only when it is computed"],
    );
}

#[test]
fn errors_show_the_place_in_the_program() {
    let program = program();
    let nth = program.entry::<fn(Array1<f64>, i64) -> f64>("nth").unwrap();
    check_message(
        nth.call(ArrayView1::from(&[1.0, 2.0]), 2),
        expect![[r#"
        error: Index [2] out of bounds for array of shape [2].
          --> program:16:45
           |
        16 | entry nth [n] (xs: [n]f64) (i: i64) : f64 = xs[i]
           |                                             ^"#]],
    );
    let loss = program.entry::<Loss>("loss").unwrap();
    check_message(
        loss.call(Array2::zeros((2, 3)), [1.0]),
        expect!["error: argument 'w' has type [1]f64, but dimension 0 must have size 3"],
    );
    check_message(
        dagaz::compile("entry f (x: f64) = x + true"),
        expect![[r#"
        error[type-mismatch]: Cannot apply "+" to this argument (invalid type)
         --> program:1:24
          |
        1 | entry f (x: f64) = x + true
          |                        ^^^^ has type "bool"
          |
          = help: expected type: f64
          = help: Types "f64" and "bool" do not match"#]],
    );
}
