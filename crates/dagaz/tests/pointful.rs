//! Programs by indices are as good as those by combinators: they give the same, have no checks where types prove indices
//! to be right, and no accumulators in their gradients.

use std::path::{Path, PathBuf};

use dagaz::Settings;
use dagaz::compile::compile_entry;
use dagaz::{Backend, compile_source, data};
use dagaz_core::print::print_without_locs;
use dagaz_core::value::Value;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../benches/pointful/{name}.fut"))
}

fn call(path: &Path, entry: &str, args: &str) -> Vec<Value> {
    let program = compile_entry(path, entry, &Settings::plain())
        .unwrap_or_else(|failure| panic!("{}", failure.summary()));
    let args = data::read_values(args.as_bytes()).expect("values");
    let mut session = program.session_on(Backend::Interpreter);
    session.call(entry, args).unwrap_or_else(|error| panic!("{entry}: {error}"))
}

/// The program by indices and by combinators, on these arguments and with their gradients.
fn check(name: &str, args: &str, gradient_args: &str) {
    agree(name, args, gradient_args);
    has_no_accumulator(name);
}

fn agree(name: &str, args: &str, gradient_args: &str) {
    let path = file(name);
    for (prefix, args) in [("", args), ("gradient_", gradient_args)] {
        let pointful = call(&path, &format!("{prefix}pointful"), args);
        assert_eq!(pointful, call(&path, &format!("{prefix}combinators"), args), "{name}");
    }
}

fn has_no_accumulator(name: &str) {
    let gradient =
        compile_entry(&file(name), "gradient_pointful", &Settings::plain()).expect("a program that compiles");
    let core = print_without_locs(gradient.core());
    assert!(!core.contains("with_acc"), "the gradient of {name} keeps an accumulator:\n{core}");
}

#[test]
fn matrix_product() {
    let (x, y) = ("[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", "[[1.0, -1.0], [2.0, 0.5], [3.0, 4.0]]");
    check("matmul", &format!("{x} {y}"), &format!("{x} {y} [[1.0, 0.5], [2.0, -1.0]]"));
}

#[test]
fn k_means() {
    let args = "[[1.0, 2.0], [3.0, 5.0], [-1.0, 0.5]] [[0.0, 1.0], [2.0, 2.5]]";
    // Which centre is the nearest is data, so that its gradient is accumulated.
    agree("kmeans", args, args);
}

#[test]
fn mri_q() {
    let args =
        "[[0.1f32, 0.2f32, 0.3f32], [0.5f32, 0.1f32, 0.0f32]] [1.0f32, 2.0f32] [[1.0f32, 2.0f32, 3.0f32]]";
    check("mriq", args, args);
}

#[test]
fn hotspot() {
    let power = "[[0.1f32, 0.2f32, 0.3f32], [0.4f32, 0.5f32, 0.6f32]]";
    let args = format!("{power} [[80.0f32, 70.0f32, 60.0f32], [75.0f32, 65.0f32, 55.0f32]]");
    check("hotspot", &args, &args);
}

#[test]
fn pathfinder() {
    let args = "[[1.0f32, 5.0f32, 3.0f32, 2.0f32], [4.0f32, 1.0f32, 7.0f32, 1.0f32], [2.0f32, 8.0f32, 1.0f32, 9.0f32]]";
    check("pathfinder", args, args);
}

#[test]
fn convolution() {
    let args = "[[1.0f32, 2.0f32], [0.5f32, -1.0f32]] [1.0f32, 2.0f32, 3.0f32, 4.0f32]";
    let seed = "[[1.0f32, 0.5f32, -1.0f32, 2.0f32], [0.0f32, 3.0f32, 1.0f32, 1.0f32]]";
    check("convolution", args, &format!("{args} {seed}"));
}

/// The lines of a program that read an array and check the index.
fn checked_reads(program: &str) -> Vec<String> {
    let compiled =
        compile_source("test.fut", program).unwrap_or_else(|failure| panic!("{}", failure.summary()));
    let core = print_without_locs(compiled.core());
    let reads = core.lines().filter(|line| line.contains("] =") || line.trim_end().ends_with(']'));
    reads.filter(|line| line.contains(" = ") && !line.contains("certified")).map(str::to_owned).collect()
}

#[test]
fn indices_of_a_set_are_not_checked() {
    let none: Vec<String> = Vec::new();
    let pairs = "entry main [n][m] (x: [n][m]f64) (is: [n]i64) : [m][n]f64 =
                   let y : [(n, m)]f64 = for (i, j) -> x[i,j] * f64.i64 is[i]
                   in for j i -> y[(i, j)]";
    assert_eq!(checked_reads(pairs), none);
    let colours = "type colour = #red | #green | #blue
                   entry main (c: i64) : f64 =
                     let shades : [colour]f64 = for c -> f64.i64 (ordinal c)
                     in shades[if c == 0 then #red else #green]";
    assert_eq!(checked_reads(colours), none);
    let number = "entry main [n] (x: [n]f64) (is: [n]i64) : [n]f64 = for i -> x[is[i]]";
    assert_eq!(checked_reads(number).len(), 1, "a number is checked: {:?}", checked_reads(number));
}
