//! The text form and what the verifier and the interpreter say of it.

use std::sync::Arc;

use dagaz_bulk::interp::Interpreter;
use dagaz_bulk::term::Program;
use dagaz_bulk::{parse, print, verify};
use dagaz_core::formats::text::{print as show, read_values};
use dagaz_core::types::FunId;

/// A program with every operation.
const ALL: &str = r#"
def f (n: i64, k: i64, xs: [n]f64, is: [k]i64, c: bool) : (a: [k]f64, b: f64, d: [n]f64, e: i64) =
  let (y: [n]f64) = f64.mul xs 2.0f64
  let (z: [n]f64) = f64.fma y xs y
  let (l: [n]bool) = f64.lt z 10.0f64
  let (s: [n]f64) = select l y 0.0f64
  let (i: [n]i64) = iota i64 n
  let (j: [n]f64) = i64.to_f64 i
  let (w: [2i64][n]f64) = stack [n]f64 (s, j)
  let (t: [n][2i64]f64) = transpose (1, 0) w
  let (r: [2i64][n]f64) = reshape [2i64, n] t
  let (p: [1i64][n]f64) = slice r [1i64 :+ 1i64 * 1i64, 0i64 :+ n * 1i64]
  let (u: [2i64][n]f64) = update w [0i64 :+ 1i64 * 1i64, 0i64 :+ n * 1i64] p
  let (v: [3i64][n]f64) = concat 0 (u, p)
  let (g: [k][n]f64) = gather v [is]
  let (zeros: [3i64]f64) = broadcast [3i64] () 0.0f64
  let (h: [3i64]f64) = scatter (zeros) [is] (1.0f64) add
  let (o: [3i64]f64) = scatter (h) [0i64] (5.0f64) replace
  let (m: [3i64]f64) = scatter (o) [is] (2.0f64) op (1.0f64)
      \(x: f64, y: f64) : (f64) ->
        let (q: f64) = f64.mul x y
        in (q)
  let (sums: [k]f64) = f64.reduce_add 1 g
  let (most: f64) = reduce 0 (m) (0.0f64)
      \(x: f64, y: f64) : (f64) ->
        let (q: f64) = f64.max x y
        in (q)
  let (sofar: [n]f64) = scan 0 (xs) (0.0f64)
      \(x: f64, y: f64) : (f64) ->
        let (q: f64) = f64.add x y
        in (q)
  let (inner: f64) = dot [] sum [n] xs (0) sofar (0)
  let (chosen: f64) = if c then in (most) else in (inner)
  let (twice: [n]f64) = loop (x: [n]f64 = xs) for i: i64 < 3i64 do
      let (q: [n]f64) = f64.add x x
      in (q)
  let (steps: i64) = loop (x: i64 = 1i64) while
        let (go: bool) = i64.lt x 100i64
        in (go)
      do
        let (q: i64) = i64.mul x 3i64
        in (q)
  let (more: i64) = call g (steps)
  let () = assert c ("not so: ", more)
  in (sums, chosen, twice, more)

def g (x: i64) : (y: i64) =
  let (y: i64) = i64.add x 1i64
  in (y)
"#;

fn read(text: &str) -> Program {
    parse::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_operation_is_read_back_and_runs() {
    let program = read(ALL);
    assert_eq!(verify::verify(&program), []);
    let text = print::print(&program);
    assert_eq!(print::print(&read(&text)), text);
    let args = "2i64 3i64 [1.0f64, 2.0f64] [0i64, 2i64, 9i64] true";
    let args = read_values(args.as_bytes()).expect("values");
    let results = Interpreter::new(Arc::new(program)).call_fun(FunId(0), args).expect("results");
    let shown: Vec<String> = results.iter().map(show).collect();
    assert_eq!(shown, ["[1.0f64, 1.0f64, 0.0f64]", "10.0f64", "[8.0f64, 16.0f64]", "244i64"]);
}

#[test]
fn operations_are_total() {
    let program = read(
        "def f (xs: [2i64]i64, i: i64) : (a: i64, b: [2i64]i64, c: [2i64]i64, d: [2i64]i64) =
           let (a: i64) = gather xs [i]
           let (b: [2i64]i64) = i64.div xs 0i64
           let (c: [2i64]i64) = scatter (xs) [i] (7i64) replace
           let (d: [2i64]i64) = slice xs [1i64 :+ 2i64 * 1i64]
           in (a, b, c, d)",
    );
    assert_eq!(verify::verify(&program), []);
    let args = read_values(b"[3i64, 4i64] 5i64").expect("values");
    let results = Interpreter::new(Arc::new(program)).call_fun(FunId(0), args).expect("results");
    let shown: Vec<String> = results.iter().map(show).collect();
    assert_eq!(shown, ["0i64", "[0i64, 0i64]", "[3i64, 4i64]", "[4i64, 0i64]"]);
}

#[test]
fn an_assertion_stops_the_program() {
    let program = read("def f (x: i64) : () =\n  let () = assert false (\"got \", x)\n  in ()");
    let error =
        Interpreter::new(Arc::new(program)).call_fun(FunId(0), read_values(b"5i64").expect("a value"));
    assert_eq!(error.expect_err("an error").message, "got 5");
}

#[test]
fn what_is_no_program() {
    let error = |text: &str| parse::parse(text).expect_err("an error").to_string();
    assert_eq!(
        error("def f (x: i64) : (y: i64) = let (y: i64) = map x in (y)"),
        "1:44: 'map' is not in scope"
    );
    assert_eq!(error("def f () : () = in () fun"), "1:23: 'const', 'def' or 'entry' is expected, not 'fun'");
    assert_eq!(
        error("def f (x: [2]i64) : () = let (y: [2]i64) = scatter (x) [0] (1) together in ()"),
        "1:73: 'together' is no way to combine elements"
    );
}

/// The first error that the verifier finds in a body with some parameters.
fn wrong(body: &str) -> String {
    let text = format!("def f (n: i64, m: i64, xs: [n]f64, ys: [m]f64, i: i64) : () =\n{body}\n  in ()");
    verify::verify(&read(&text)).first().map_or(String::new(), |error| error.message.clone())
}

#[test]
fn what_the_verifier_finds() {
    assert_eq!(wrong("let (z: [n]f64) = f64.add xs ys"), "operands of different shapes");
    assert_eq!(wrong("let (z: [n]f64) = f64.add xs n"), "an operand has type i64, not elements of type f64");
    assert_eq!(wrong("let (z: [m]f64) = f64.neg xs"), "the variable has type [m_1]f64, not [n_0]f64");
    assert_eq!(
        wrong("let (z: [n][m]f64) = broadcast [n, m] (1) xs"),
        "a broadcast along other axes than the value has"
    );
    assert_eq!(wrong("let (z: [n]f64) = transpose (1) xs"), "not a permutation of 1 dimensions");
    assert_eq!(wrong("let (z: f64) = gather xs [i, i]"), "2 indices for 1 dimensions");
    assert_eq!(
        wrong("let (z: f64) = f64.reduce_sub 0 xs"),
        "a fold of another type, or without a neutral element"
    );
    assert_eq!(wrong("let (z: f64) = f64.reduce_add 1 xs"), "axis 1 of 1 dimensions");
    assert_eq!(
        wrong("let (z: f64) = dot [] sum [n] xs (0) ys (0)"),
        "a product of arrays of other sizes or types"
    );
    assert_eq!(
        wrong("let (z_7: i64) = iota i64 n\nlet (z_7: i64) = 3i64"),
        "the variable has type i64, not [n_8]i64"
    );
    assert_eq!(wrong("let (z_7: i64) = 3i64\nlet (z_7: i64) = 3i64"), "'z_7' is bound twice");
    assert_eq!(wrong("let (z: i64) = y_99"), "'v_99' is not in scope");
    assert_eq!(wrong("let (z: i64) = if n then in (n) else in (m)"), "a condition has type i64, not bool");
    assert_eq!(wrong("let (z: [n]f64) = slice xs [0 :+ n * 1, 0 :+ n * 1]"), "2 parts of 1 dimensions");
}
