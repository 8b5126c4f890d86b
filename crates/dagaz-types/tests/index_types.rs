//! Indices are numbers, but numbers are no indices: which types are inferred, and which programs are rejected because a
//! number could come to stand where an index is wanted.

mod common;

use common::check;
use expect_test::{Expect, expect};

#[test]
fn index_types_are_first_class() {
    check(
        "
        def mapped [n] (x: [n]f64) (is: [](idx [n])) = map (\\i -> x[i]) is
        def identity [n] (x: [n]f64) = for i -> x[id i]
        def through_array [n] (x: [n]f64) (is: [](idx [n])) = for j -> x[is[j]]
        def filtered [n] (x: [n]f64) (is: [](idx [n])) = filter (\\i -> x[i] > 0) is
        def kept [n] (is: [](idx [n])) = (head is, [is[0], is[1]], replicate 3 (head is), zip is is)
        def looped [n] (x: [n]f64) (i0: idx [n]) =
          loop (i, s) = (i0, 0) for k < 10 do (if x[i] > s then i else i0, s + x[i])
        def argmax [n] (x: [n]f64) =
          (reduce (\\(i, a) (j, b) -> if a >= b then (i, a) else (j, b)) (from_ordinal 0, -f64.inf) (for i -> (i, x[i]))).0
        def in_state [n] (x: [n]f64) (i: idx [n]) = yield_state i (\\s -> loop () for k < 3 do s := get s)
        def in_record [n] (x: [n]f64) (i: idx [n]) = {a = i, b = (i, x[i])}
        def piped [n] (x: [n]f64) (is: [](idx [n])) = is |> map (\\i -> x[i]) |> f64.sum
        def out_of_scope (m: i64) = let is = (let k = m + 2 in map id (for i < k -> i)) in map (\\i -> (is[i], i)) is
        ",
        expect![[r#"
            mapped [n] [m] : [n]f64 -> [m](idx [n]) -> *[m]f64
            identity [n] : [n]f64 -> *[n]f64
            through_array [n] [m] : [n]f64 -> [m](idx [n]) -> *[m]f64
            filtered [n] [m] : [n]f64 -> [m](idx [n]) -> ?[k1].*[k1](idx [n])
            kept [n] [m] : [m](idx [n]) -> (idx [n], *[2](idx [n]), *[3](idx [n]), *[m](idx [n], idx [n]))
            looped [n] : [n]f64 -> idx [n] -> (idx [n], f64)
            argmax [n] : [n]f64 -> *idx [n]
            in_state [n] : [n]f64 -> idx [n] -> idx [n]
            in_record [n] : [n]f64 -> idx [n] -> {a: idx [n], b: (idx [n], f64)}
            piped [n] [m] : [n]f64 -> [m](idx [n]) -> f64
            out_of_scope : (m: i64) -> *[m + 2](idx [m + 2], idx [m + 2])
        "#]],
    );
}

#[test]
fn what_is_computed_is_a_number() {
    check(
        "
        def next [n] (is: [](idx [n])) = map (+ 1) is
        def mixed [n] (x: [n]f64) (i: idx [n]) (j: i64) (c: bool) = x[if c then i else j]
        def looped [n] (x: [n]f64) (i0: idx [n]) = loop i = i0 for k < 10 do i + 1
        def updated (n: i64) = let a = for i < n -> i in a with [0] = 7
        def counted [n] (x: [n]f64) = map (\\i -> (i...i + 1) :> [2]i64) (for i -> let _ = x[i] in i)
        def field [n] (i: idx [n]) (k: i64) = {i, k} with i = k
        ",
        expect![[r#"
            next [n] [m] : [m](idx [n]) -> *[m]i64
            mixed [n] : [n]f64 -> idx [n] -> i64 -> bool -> f64
            looped [n] : [n]f64 -> idx [n] -> i64
            updated : (n: i64) -> *[n]i64
            counted [n] : [n]f64 -> *[n][2]i64
            field [n] : idx [n] -> i64 -> {i: i64, k: i64}
        "#]],
    );
}

fn wrong(source: &str, expect: Expect) {
    check(source, expect);
}

#[test]
fn functions_on_indices_take_no_numbers() {
    wrong(
        "def f (x: [3]f64) (ks: []i64) = map (\\(i: idx [3]) -> x[i]) ks",
        expect![[r#"
            test.fut:1:38: error [not-an-index]: A number is used here as an index
        "#]],
    );
    wrong(
        "def f (x: [3]f64) (ks: []i64) = ks |> map (\\(i: idx [3]) -> x[i])",
        expect![[r#"
            test.fut:1:44: error [not-an-index]: A number is used here as an index
        "#]],
    );
    wrong(
        "def f (x: [3]f64) (k: i64) = let g = (\\(i: idx [3]) -> x[i]) : (i64 -> f64) in g k",
        expect![[r#"
        test.fut:1:39: error [not-an-index]: This expression does not have the type that it is said to have
    "#]],
    );
    wrong(
        "def f (x: [3]f64) (k: i64) = let g = (\\(i: idx [3]) -> x[i]) :> (i64 -> f64) in g k",
        expect![[r#"
        test.fut:1:38: error [not-an-index]: This coercion cannot succeed
    "#]],
    );
    wrong(
        "def g (h: i64 -> f64) = h 7  def f (x: [3]f64) = g (\\(i: idx [3]) -> x[i])",
        expect![[r#"
        test.fut:1:53: error [not-an-index]: Cannot apply "g" to this argument (invalid type)
        g : (i64 -> f64) -> f64
    "#]],
    );
    wrong(
        "def f (x: [3]f64) : {g: i64 -> f64} = {g = \\(i: idx [3]) -> x[i]}",
        expect![[r#"
        test.fut:1:39: error [not-an-index]: The body of this function does not match its return type
    "#]],
    );
    wrong(
        "def f (x: [3]f64) (k: i64) = ((\\(i: i64) -> i) >-> (\\(i: idx [3]) -> x[i])) k",
        expect![[r#"
            test.fut:1:53: error [not-an-index]: A number is used here as an index
        "#]],
    );
    wrong(
        "def f (x: [3]f64) (k: i64) = let g (h: i64 -> f64) = h k in g (\\(i: idx [3]) -> x[i])",
        expect![[r#"
        test.fut:1:64: error [not-an-index]: Cannot apply "g" to this argument (invalid type)
    "#]],
    );
    wrong(
        "def f (x: [3]f64) (y: [4]f64) = map (\\(i: idx [3]) -> x[i]) (for i -> let _ = y[i] in i)",
        expect![[r#"
            test.fut:1:38: error [wrong-index]: An index is used here as one of another set
        "#]],
    );
}

#[test]
fn functions_that_meet_take_what_both_take() {
    let fs = "(\\(i: i64) -> f64.i64 i)";
    let gs = "(\\(i: idx [3]) -> x[i])";
    wrong(
        &format!("def f (x: [3]f64) (k: i64) (c: bool) = (if c then {fs} else {gs}) k"),
        expect![[r#"
        test.fut:1:41: error [not-an-index]: A number is used here as an index
    "#]],
    );
    wrong(
        &format!("def f (x: [3]f64) (k: i64) = [{fs}, {gs}][1] k"),
        expect![[r#"
            test.fut:1:58: error [not-an-index]: A number is used here as an index
        "#]],
    );
    check(
        &format!("def f (x: [3]f64) (k: idx [3]) (c: bool) = (if c then {fs} else {gs}) k"),
        expect![[r#"
        f : [3]f64 -> idx [3] -> bool -> f64
    "#]],
    );
}

#[test]
fn derivatives_and_sums_of_indices_are_numbers() {
    wrong(
        "def f (x: [3]f64) (i: idx [3]) = vjp (\\(i: idx [3]) -> x[i]) i 1",
        expect![[r#"
        test.fut:1:39: error [not-an-index]: Cannot apply "vjp" to this argument (invalid type)
    "#]],
    );
    wrong(
        "def f (i: idx [3]) : idx [3] = jvp (\\i -> i) i i",
        expect![[r#"
        test.fut:1:32: error [not-an-index]: The body of this function does not match its return type
    "#]],
    );
    wrong(
        "def f (k: i64) : idx [3] = yield_accum (\\h -> h += k)",
        expect![[r#"
        test.fut:1:28: error [not-an-index]: The body of this function does not match its return type
    "#]],
    );
    wrong(
        "def f [n] (is: [](idx [n])) : idx [n] = reduce (+) 0 is",
        expect![[r#"
            test.fut:1:41: error [not-an-index]: A number is used here as an index
        "#]],
    );
    wrong(
        "
        def twice 'a (x: a) : a = yield_accum (\\h -> (h += x; h += x))
        def f (i: idx [3]) : idx [3] = twice i",
        expect![[r#"
            test.fut:3:40: error [not-an-index]: The body of this function does not match its return type
            twice 'a : a -> a
        "#]],
    );
}

#[test]
fn references_are_read_and_written() {
    wrong(
        "
        def write (s: state i64) (k: i64) = s := k
        def f (k: i64) : idx [3] = yield_state (from_ordinal 0) (\\s -> write s k)",
        expect![[r#"
            test.fut:3:36: error [not-an-index]: A number is used here as an index
            write : state i64 -> i64 -> {State s} ()
        "#]],
    );
    wrong(
        "def f (k: i64) : idx [3] = yield_state (from_ordinal 0) (\\s -> s := k)",
        expect![[r#"
            test.fut:1:28: error [not-an-index]: A number is used here as an index
        "#]],
    );
}

#[test]
fn modules_do_not_make_indices_of_numbers() {
    wrong(
        "
        module type looks_up = { val at : [3]f64 -> i64 -> f64 }
        module m : looks_up = { def at (x: [3]f64) (i: idx [3]) = x[i] }",
        expect![[r#"
            test.fut:3:31: error [module-mismatch]: Module type requires "val at : [3]f64 -> i64 -> f64"
        "#]],
    );
    wrong(
        "
        module type of_numbers = { type t = i64 val at : [3]f64 -> t -> f64 }
        module m : of_numbers = { type t = idx [3] def at (x: [3]f64) (i: t) = x[i] }",
        expect![[r#"
            test.fut:3:33: error [module-mismatch]: Module defines "type t = idx [3]", but the module type requires "type t = i64"
        "#]],
    );
    wrong(
        "
        module twice (p: { type t val x : t }) = { def y : p.t = yield_accum (\\h -> (h += p.x; h += p.x)) }
        module m = twice { type t = idx [3] def x : t = from_ordinal 2 }",
        expect![[r#"
            test.fut:3:26: error [module-mismatch]: Type "t" is computed with, so that it cannot be a type of indices
        "#]],
    );
    wrong(
        "
        module m : { type t val x : t } = { type t = idx [3] def x : t = from_ordinal 2 }
        def y : m.t = jvp (\\(a: m.t) -> a) m.x m.x",
        expect![[r#"
            test.fut:3:23: error [not-an-index]: Values of an abstract type that may hold indices are computed with here
        "#]],
    );
}

#[test]
fn numbers_in_other_places() {
    wrong(
        "def f (k: i64) (x: [3]f64) = let (i: idx [3]) = k in x[i]",
        expect![[r#"
        test.fut:1:38: error [not-an-index]: This pattern does not match the value
    "#]],
    );
    wrong(
        "def f (k: i64) : idx [3] = loop (i: idx [3]) = from_ordinal 0 for _j < 4 do i + k",
        expect![[r#"
        test.fut:1:77: error [not-an-index]: The loop body does not match the loop parameter
    "#]],
    );
    wrong(
        "def f (k: i64) : [](idx [3]) = scatter (replicate 2 (from_ordinal 0)) [0] [k]",
        expect![[r#"
            test.fut:1:32: error [not-an-index]: A number is used here as an index
        "#]],
    );
    wrong(
        "type t = #at (idx [3]) | #never  def f (k: i64) : t = #at k",
        expect![[r#"
            test.fut:1:55: error [not-an-index]: A number is used here as an index
        "#]],
    );
    wrong(
        "def f (k: i64) : [](idx [3]) = (for i < 3 -> i) with [0] = k",
        expect![[r#"
            test.fut:1:32: error [not-an-index]: A number is used here as an index
        "#]],
    );
    wrong(
        "def f [n] (x: [3]f64) (is: [n](idx [n])) = map (\\i -> x[i]) is",
        expect![[r#"
        test.fut:1:57: error [wrong-index]: This is not an index of the set "3" that the array is indexed by
    "#]],
    );
    let triangle = "index type lower [n] of (i64, i64) = {
          size = n * (n + 1) / 2,
          ordinal = \\(i, j) -> i * (i + 1) / 2 + j,
          from_ordinal = \\k -> (k, 0) }";
    wrong(
        &format!("{triangle} def f [n] (x: [lower [n]]f64) (k: i64) = x[(k, k)]"),
        expect![[r#"
        test.fut:4:84: error [wrong-index]: This is not an index of the set "lower [n]" that the array is indexed by
        lower : i64 -> {from_ordinal: i64 -> (i64, i64), ordinal: (i64, i64) -> i64, size: i64}
    "#]],
    );
    wrong(
        &format!("{triangle} def f (p: lower [3]) : lower [3] = jvp (\\p -> p) p p"),
        expect![[r#"
        test.fut:4:81: error [not-an-index]: Cannot apply "jvp" to this argument (invalid type)
        lower : i64 -> {from_ordinal: i64 -> (i64, i64), ordinal: (i64, i64) -> i64, size: i64}
    "#]],
    );
    wrong(
        &format!("{triangle} def f [n] (x: [lower [n]]f64) = map (\\(p: lower [n]) -> x[p]) [(0, 0)]"),
        expect![[r#"
        test.fut:4:103: error [not-an-index]: Cannot apply "map" to this argument (invalid type)
        lower : i64 -> {from_ordinal: i64 -> (i64, i64), ordinal: (i64, i64) -> i64, size: i64}
    "#]],
    );
}

#[test]
fn truth_values_and_nothing_are_index_sets() {
    check(
        "
        def sides : [bool]f64 = for b -> if b then 1 else -1
        def one : [()]f64 = for u -> 2
        def both [n] (x: [n]f64) : [(bool, n)]f64 = for (b, i) -> if b then x[i] else 0
        def reads [n] (x: [(bool, n)]f64) (i: idx [n]) = sides[x[(true, i)] > 0] + one[()]
        ",
        expect![[r#"
            sides : [bool]f64
            one : [()]f64
            both [n] : [n]f64 -> [(bool, n)]f64
            reads [n] : [(bool, n)]f64 -> idx [n] -> f64
        "#]],
    );
}
