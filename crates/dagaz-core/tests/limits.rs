//! Programs that want too much are stopped.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use dagaz_core::interp::{Interpreter, Limits};
use dagaz_core::parse::parse;
use dagaz_core::types::FunId;
use expect_test::{Expect, expect};

const PROGRAMS: &str = "
def endless () : (n: i64) =
  let (n: i64) =
    loop (n: i64 = 0) while
      in (true)
    do
      let (m: i64) = i64.add n 1
      in (m)
  in (n)

def large () : (xs: [1000000000000]f64) =
  let (xs: [1000000000000]f64) = replicate [1000000000000] 1.0f64
  in (xs)

def huge () : (xs: [4611686018427387904][8]f64) =
  let (xs: [4611686018427387904][8]f64) = replicate [4611686018427387904, 8] 1.0f64
  in (xs)

def deep (n: i64) : (m: i64) =
  let (m: i64) = call deep (n)
  in (m)
";

fn check(fun: u32, limits: Limits, expect: Expect) {
    let program = parse(PROGRAMS).expect("good programs");
    let args = if fun == 3 { vec![dagaz_core::prim::Prim::I64(1).into()] } else { vec![] };
    let error = Interpreter::new(&program).with_limits(limits).call_fun(FunId(fun), args);
    expect.assert_eq(&error.expect_err("a limit").message);
}

#[test]
fn time() {
    let deadline = Some(Instant::now() + Duration::from_millis(20));
    check(0, Limits { deadline, ..Limits::generous() }, expect!["the time limit is reached"]);
}

#[test]
fn cancellation() {
    let cancel = Some(Arc::new(AtomicBool::new(true)));
    check(0, Limits { cancel, ..Limits::generous() }, expect!["cancelled"]);
}

#[test]
fn memory() {
    let limits = Limits { memory: Some(1000), ..Limits::generous() };
    check(1, limits, expect!["out of memory: 1000000000000 elements of f64 do not fit in 1000 bytes"]);
    check(2, Limits::generous(), expect!["a replicate is too large"]);
}

#[test]
fn depth() {
    check(3, Limits { depth: 10, ..Limits::generous() }, expect!["recursion too deep: 10 calls"]);
}
