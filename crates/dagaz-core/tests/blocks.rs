//! Lambdas by the block and row by row: the same bits, the same counters, the same errors.

use std::fmt::Write as _;

use dagaz_core::formats::text;
use dagaz_core::interp::Interpreter;
use dagaz_core::parse::parse;
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType, TernOp, UnOp};
use dagaz_core::prim_eval::convert;
use dagaz_core::types::FunId;
use dagaz_core::value::{Elems, Value};
use expect_test::{Expect, expect};

/// Calls the first function both ways, and shows what comes of it: the error, or a digest of the results.
fn run(source: &str, args: &[Value]) -> String {
    let program = parse(source).unwrap_or_else(|e| panic!("{e}\n{source}"));
    let mut by_block = Interpreter::new(&program);
    let mut by_row = Interpreter::new(&program).row_by_row();
    let call = |interpreter: &mut Interpreter| match interpreter.call_fun(FunId(0), args.to_vec()) {
        Ok(values) => values.iter().map(text::print).collect::<Vec<_>>().join("\n"),
        Err(error) => format!("error: {}", error.render(&program)),
    };
    // Texts are compared, in which all NaNs are alike: which of them an operation gives is not said.
    let shown = call(&mut by_block);
    assert_eq!(shown, call(&mut by_row), "{source}");
    assert_eq!(by_block.counters(), by_row.counters(), "{source}");
    shown
}

fn check(source: &str, args: &[Value], expect: Expect) {
    let shown = run(source, args);
    let short: String = shown.chars().take(80).collect();
    expect.assert_eq(&short);
}

/// So many elements of a type: small numbers, with the extreme ones in between.
fn vector(ty: PrimType, n: usize, seed: i64) -> Value {
    let mut elems = Elems::with_capacity(ty, n);
    let extremes = [Prim::lowest(ty), Prim::highest(ty), Prim::zero(ty), convert(ty, Prim::F64(f64::NAN))];
    for i in 0..n as i64 {
        let number = (i * 7 + seed) % 23 - 11;
        let prim = match (i + seed) % 9 {
            0 => extremes[(i as usize / 9) % extremes.len()],
            1 if ty.is_float() => convert(ty, Prim::F64(number as f64 * 0.37)),
            2 if ty.is_float() => convert(ty, Prim::F64(-0.0)),
            _ => Prim::of_i64(ty, number),
        };
        assert!(elems.push(prim));
    }
    Value::vector(elems)
}

fn number(n: i64) -> Value {
    Prim::I64(n).into()
}

const UNARY: [UnOp; 14] = [
    UnOp::Neg,
    UnOp::Not,
    UnOp::Abs,
    UnOp::Signum,
    UnOp::Sqrt,
    UnOp::Rsqrt,
    UnOp::Exp,
    UnOp::Log,
    UnOp::Sin,
    UnOp::Round,
    UnOp::IsNan,
    UnOp::Popc,
    UnOp::Clz,
    UnOp::ToBits,
];

const BINARY: [BinOp; 18] = [
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
    BinOp::Div,
    BinOp::Mod,
    BinOp::Quot,
    BinOp::Rem,
    BinOp::Pow,
    BinOp::And,
    BinOp::Or,
    BinOp::Xor,
    BinOp::Shl,
    BinOp::Ashr,
    BinOp::Lshr,
    BinOp::Min,
    BinOp::Max,
    BinOp::Atan2,
    BinOp::MulHi,
];

/// `map` of one scalar statement over two vectors, with a constant for what it needs beyond them.
fn map_of(ty: PrimType, ret: PrimType, statement: &str) -> String {
    format!(
        "def f (n: i64, xs: [n]{ty}, ys: [n]{ty}) : (zs: [n]{ret}) =
  let (c: {ty}) = xs[3i64]
  let (zs: [n]{ret}) =
    map n (xs, ys)
      \\(x: {ty}, y: {ty}) : ({ret}) ->
        let (z: {ret}) = {statement}
        in (z)
  in (zs)
"
    )
}

#[test]
fn unary_operations() {
    let (mut results, mut errors) = (0, 0);
    for ty in PrimType::ALL {
        let args = [number(1100), vector(ty, 1100, 0), vector(ty, 1100, 5)];
        for op in UNARY {
            let ret = match op {
                UnOp::IsNan => PrimType::Bool,
                UnOp::Popc | UnOp::Clz => PrimType::I32,
                UnOp::ToBits if ty == PrimType::F16 => PrimType::U16,
                UnOp::ToBits if ty == PrimType::F32 => PrimType::U32,
                UnOp::ToBits => PrimType::U64,
                _ => ty,
            };
            let shown = run(&map_of(ty, ret, &format!("{ty}.{} x", op.name())), &args);
            *if shown.starts_with("error") { &mut errors } else { &mut results } += 1;
        }
        for to in PrimType::ALL {
            let shown = run(&map_of(ty, to, &format!("{ty}.to_{to} x")), &args);
            assert!(!shown.starts_with("error"), "{shown}");
        }
    }
    expect!["82 results, 86 errors"].assert_eq(&format!("{results} results, {errors} errors"));
}

#[test]
fn binary_operations() {
    let (mut results, mut errors) = (0, 0);
    for ty in PrimType::ALL {
        let args = [number(1100), vector(ty, 1100, 0), vector(ty, 1100, 5)];
        for op in BINARY {
            for operands in ["x y", "x c", "c y"] {
                let shown = run(&map_of(ty, ty, &format!("{ty}.{} {operands}", op.name())), &args);
                *if shown.starts_with("error") { &mut errors } else { &mut results } += 1;
            }
        }
        for op in [CmpOp::Eq, CmpOp::Lt, CmpOp::Le] {
            for operands in ["x y", "x c", "c y"] {
                let source = map_of(ty, PrimType::Bool, &format!("{ty}.{} {operands}", op.name()));
                assert!(!run(&source, &args).starts_with("error"));
            }
        }
        for op in [TernOp::Fma, TernOp::Lerp] {
            run(&map_of(ty, ty, &format!("{ty}.{} x y c", op.name())), &args);
        }
    }
    expect!["432 results, 216 errors"].assert_eq(&format!("{results} results, {errors} errors"));
}

/// Folds by every operation, from the left and from the right, with and without a map before it.
#[test]
fn folds() {
    for ty in PrimType::ALL {
        let args = [number(1100), vector(ty, 1100, 1), vector(ty, 1100, 4)];
        for op in BINARY {
            for (fold, ret) in [("reduce", format!("{ty}")), ("scan", format!("[n]{ty}"))] {
                for operands in ["a b", "b a"] {
                    let mut source = String::new();
                    let _ = write!(
                        source,
                        "def f (n: i64, xs: [n]{ty}, ys: [n]{ty}) : (s: {ret}, t: {ret}, u: {ret}) =
  let (c: {ty}) = xs[4i64]
  let (s: {ret}) =
    {fold} n (xs)
      op \\(a: {ty}, b: {ty}) : ({ty}) ->
        let (z: {ty}) = {ty}.{name} {operands}
        in (z)
      neutral (c)
  let (t: {ret}, u: {ret}) =
    {fold} n (xs, ys)
      pre \\(x: {ty}, y: {ty}) : ({ty}, {ty}) ->
        let (m: {ty}) = {ty}.max x y
        in (m, y)
      op \\(a: {ty}, c: {ty}, b: {ty}, d: {ty}) : ({ty}, {ty}) ->
        let (z: {ty}) = {ty}.{name} {operands}
        let (less: bool) = {ty}.lt c d
        let (w: {ty}) =
          if less then
            let (e: {ty}) = {ty}.max z d
            in (e)
          else
            in (c)
        in (z, w)
      neutral (c, c)
  in (s, t, u)
",
                        name = op.name()
                    );
                    run(&source, &args);
                }
            }
        }
    }
}

#[test]
fn errors_keep_their_place() {
    let div = "def f (n: i64, xs: [n]i64) : (zs: [n]i64) =
  let (zs: [n]i64) =
    map n (xs)
      \\(x: i64) : (i64) ->
        let (w: i64) = i64.sub x 1100i64
        let (z: i64) = i64.div 1i64 w @\"a.fut\":3:4
        in (z)
  in (zs)
";
    let iota = |n: i64| Value::vector(Elems::I64((0..n).collect()));
    check(
        div,
        &[number(1200), iota(1200)],
        expect![[r#"
        error: division by zero: 1i64 divided by 0
          at a.fut:3:4"#]],
    );
    check(
        div,
        &[number(600), iota(600)],
        expect!["[-1i64, -1i64, -1i64, -1i64, -1i64, -1i64, -1i64, -1i64, -1i64, -1i64, -1i64, -1"],
    );
    let index = "def f (n: i64, m: i64, is: [n]i64, xs: [m]i64) : (zs: [n]i64) =
  let (zs: [n]i64) =
    map n (is)
      \\(i: i64) : (i64) ->
        let (j: i64) = i64.add i 3i64
        let (z: i64) = xs[j] @\"b.fut\":7:1
        in (z)
  in (zs)
";
    check(
        index,
        &[number(600), number(602), iota(600), iota(602)],
        expect![[r#"
        error: Index [602] out of bounds for array of shape [602].
          at b.fut:7:1"#]],
    );
    check(
        index,
        &[number(600), number(603), iota(600), iota(603)],
        expect!["[3i64, 4i64, 5i64, 6i64, 7i64, 8i64, 9i64, 10i64, 11i64, 12i64, 13i64, 14i64, 15"],
    );
    let shuffled = Value::vector(Elems::I64((0..600).map(|i| i * i % 601 - 3).collect()));
    check(
        index,
        &[number(600), number(700), shuffled.clone(), iota(700)],
        expect!["[0i64, 1i64, 4i64, 9i64, 16i64, 25i64, 36i64, 49i64, 64i64, 81i64, 100i64, 121i6"],
    );
    check(
        index,
        &[number(600), number(500), shuffled, iota(500)],
        expect![[r#"
        error: Index [529] out of bounds for array of shape [500].
          at b.fut:7:1"#]],
    );
    let assertion = "def f (n: i64, xs: [n]i64) : (zs: [n]i64) =
  let (zs: [n]i64) =
    map n (xs)
      \\(x: i64) : (i64) ->
        let (ok: bool) = i64.lt x 555i64
        let () = assert ok (\"too much: \", x) @\"c.fut\":1:1
        in (x)
  in (zs)
";
    check(
        assertion,
        &[number(600), iota(600)],
        expect![[r#"
        error: too much: 555
          at c.fut:1:1"#]],
    );
    check(
        assertion,
        &[number(555), iota(555)],
        expect!["[0i64, 1i64, 2i64, 3i64, 4i64, 5i64, 6i64, 7i64, 8i64, 9i64, 10i64, 11i64, 12i64"],
    );
}

/// A stencil whose branches protect it from what would fail, and lanes that part and meet.
#[test]
fn branches_and_loops() {
    let iota = |n: i64| Value::vector(Elems::I64((0..n).collect()));
    let stencil = "def f (n: i64, is: [n]i64, xs: [n]f64) : (zs: [n]f64) =
  let (zs: [n]f64) =
    map n (is)
      \\(i: i64) : (f64) ->
        let (first: bool) = i64.eq i 0i64
        let (z: f64) =
          if first then
            in (1.5f64)
          else
            let (j: i64) = i64.sub i 1i64
            let (d: i64) = i64.div 1000i64 i
            let (k: f64) = i64.to_f64 d
            let (x: f64) = xs[j]
            let (y: f64) = f64.add x k
            in (y)
        in (z)
  in (zs)
";
    check(
        stencil,
        &[number(600), iota(600), vector(PrimType::F64, 600, 3)],
        expect!["[1.5f64, 992.0f64, 499.0f64, 339.0f64, 240.0f64, 197.0f64, 170.0f64, -f64.inf, 1"],
    );
    let collatz = "def f (n: i64, ms: [n]i64) : (steps: [n]i64) =
  let (steps: [n]i64) =
    map n (ms)
      \\(k: i64) : (i64) ->
        let (last: i64, steps: i64) =
          loop (m: i64 = k, steps: i64 = 0i64) while
            let (more: bool) = i64.lt 1i64 m
            in (more)
          do
            let (bit: i64) = i64.and m 1i64
            let (odd: bool) = i64.eq bit 1i64
            let (next: i64) =
              if odd then
                let (t: i64) = i64.mul m 3i64
                let (u: i64) = i64.add t 1i64
                in (u)
              else
                let (h: i64) = i64.div m 2i64
                in (h)
            let (count: i64) = i64.add steps 1i64
            in (next, count)
        let (a: i64, b: i64) =
          loop (a: i64 = steps, b: i64 = k) for i: i64 < 2i64 do
            let (c: i64) = i64.add a i
            in (b, c)
        in (a)
  in (steps)
";
    check(
        collatz,
        &[number(600), iota(600)],
        expect!["[0i64, 0i64, 1i64, 7i64, 2i64, 5i64, 8i64, 16i64, 3i64, 19i64, 6i64, 14i64, 9i64"],
    );
}

/// Reductions inside: rows, columns, and elements anywhere.
#[test]
fn nested_reductions() {
    let product = "def f (n: i64, m: i64, k: i64, ps: [m]i64, qs: [k]i64, xss: [n][m]f32, yss: [m][k]f32, zss: [k][m]f32)
    : (as: [n][k]f32, bs: [n][k]f32) =
  let (as: [n][k]f32, bs: [n][k]f32) =
    map n (xss)
      \\(xs: [m]f32) : ([k]f32, [k]f32) ->
        let (as: [k]f32) =
          map k (qs)
            \\(q: i64) : (f32) ->
              let (s: f32) =
                reduce m (ps, xs)
                  pre \\(p: i64, x: f32) : (f32) ->
                    let (y: f32) = yss[p, q] certified
                    let (z: f32) = f32.mul x y
                    in (z)
                  op \\(a: f32, b: f32) : (f32) ->
                    let (c: f32) = f32.add a b
                    in (c)
                  neutral (0.0f32)
              in (s)
        let (bs: [k]f32) =
          map k (zss)
            \\(zs: [m]f32) : (f32) ->
              let (s: f32, g: f32) =
                reduce m (zs, xs)
                  op \\(a: f32, b: f32, c: f32, d: f32) : (f32, f32) ->
                    let (e: f32) = f32.add a c
                    let (less: bool) = f32.lt b d
                    let (g: f32) =
                      if less then
                        in (d)
                      else
                        in (b)
                    in (e, g)
                  neutral (0.0f32, 1.0f32)
              let (r: f32) = f32.mul s 2.0f32
              in (r)
        in (as, bs)
  in (as, bs)
";
    let iota = |n: i64| Value::vector(Elems::I64((0..n).collect()));
    let matrix = |n: usize, m: usize, seed: i64| {
        let elems = (0..n * m).map(|i| ((i as i64 * 13 + seed) % 17) as f32 * 0.3 - 2.0).collect();
        Value::Array(dagaz_core::value::Array::new(&[n, m], Elems::F32(elems)).expect("a matrix"))
    };
    for (n, m, k) in [(3, 5, 40), (2, 80, 30), (1, 0, 20)] {
        let args = [number(n), number(m), number(k), iota(m), iota(k)];
        let (n, m, k) = (n as usize, m as usize, k as usize);
        let args = [&args[..], &[matrix(n, m, 1), matrix(m, k, 2), matrix(k, m, 3)]].concat();
        assert!(!run(product, &args).starts_with("error"));
    }
}
