//! How long a call from Rust takes beyond what the program does.
//!
//!     cargo bench -p dagaz --bench calls

use std::time::Instant;

const CALLS: u32 = 100_000;
const REPEATS: usize = 7;

fn main() {
    let program = dagaz::compile(
        "entry sum [n] (xs: [n]f64) : f64 = f64.sum xs
         entry double [n] (xs: [n]f64) : [n]f64 = map (* 2) xs",
    );
    let program = program.unwrap_or_else(|error| panic!("{error}"));
    let sum = program.entry::<fn(Vec<f64>) -> f64>("sum").unwrap_or_else(|error| panic!("{error}"));
    let double =
        program.entry::<fn(Vec<f64>) -> Vec<f64>>("double").unwrap_or_else(|error| panic!("{error}"));
    let xs = [1.0; 10];
    print_least("the sum of 10 numbers", || sum.call(xs).is_ok_and(|sum| sum == 10.0));
    print_least("10 numbers doubled", || double.call(xs).is_ok_and(|ys| ys == [2.0; 10]));
}

/// The least time of a call.
fn print_least(what: &str, call: impl Fn() -> bool) {
    assert!(call(), "{what} is wrong");
    let times = (0..REPEATS).map(|_| {
        let start = Instant::now();
        assert!((0..CALLS).all(|_| call()), "{what} is wrong");
        start.elapsed() / CALLS
    });
    println!("{what}: {:?} for a call", times.min().unwrap_or_default());
}
