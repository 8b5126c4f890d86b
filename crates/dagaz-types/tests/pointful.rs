//! Arrays written with `for`, and what numbers their elements.

mod common;

use common::check;
use expect_test::expect;

#[test]
fn index_sets_are_inferred_from_use() {
    check(
        "
        def matmul [n][m][p] (x: [n][m]f64) (y: [m][p]f64) =
          for i j -> f64.sum (for k -> x[i,k] * y[k,j])
        def transposed [n][m] 'a (x: [n][m]a) = for j i -> x[i,j]
        def row [n][m] (x: [n][m]f64) = for i -> x[i]
        def flat [n][m] (x: [n][m]f64) = for (i, j) -> x[i,j]
        def outer [n][m] (x: [n]f64) (y: [m]f64) : [(n, m)]f64 = for (i, j) -> x[i] * y[j]
        def lookup [n][m] (x: [(n, m)]f64) = for j i -> x[(i, j)]
        def counted (n: i64) = for i < n j < 3 -> i + j
        def from_result [n] (x: f64) : [n]f64 = for i -> x + f64.i64 i
        def annotated [n] (x: [n]f64) = for (i: idx [n]) -> i
        ",
        expect![[r#"
            matmul [n] [m] [p] : [n][m]f64 -> [m][p]f64 -> *[n][p]f64
            transposed [n] [m] 'a : [n][m]a -> *[m][n]a
            row [n] [m] : [n][m]f64 -> *[n][m]f64
            flat [n] [m] : [n][m]f64 -> *[(n, m)]f64
            outer [n] [m] : [n]f64 -> [m]f64 -> [(n, m)]f64
            lookup [n] [m] : [(n, m)]f64 -> *[m][n]f64
            counted : (n: i64) -> *[n][3]i64
            from_result [n] : f64 -> [n]f64
            annotated [n] : [n]f64 -> *[n](idx [n])
        "#]],
    );
}

#[test]
fn sums_and_declared_types_are_index_sets() {
    check(
        r"
        type colour = #red | #green | #blue
        def shades : [colour]f64 = for c -> match c case #red -> 1 case #green -> 2 case #blue -> 3
        def red = shades[#red]
        def doubled = map (* 2) shades
        def as_list = shades :> [3]f64
        type place [n] = #inside (idx [n]) | #outside
        def places [n] (x: [n]f64) : [place [n]]f64 = for p -> match p case #inside i -> x[i] case #outside -> 0
        def first [n] (x: [place [n]]f64) (i: idx [n]) = x[#inside i] + x[#outside]
        index type lower [n] of (i64, i64) = {
          size = n * (n + 1) / 2,
          ordinal = \(i, j) -> i * (i + 1) / 2 + j,
          from_ordinal = \k -> (k, 0) }
        def triangle [n] (x: [n]f64) : [lower [n]]f64 = for (i, j) -> x[i] * x[j]
        def corner [n] (x: [lower [n]]f64) (u: lower [n]) = x[u]
        index type twice [n] of i64 = {size = 2 * n, ordinal = \i -> i, from_ordinal = \k -> k}
        def repeated [n] (x: [n]f64) : [twice [n]]f64 = for i -> x[i % n]
        def next [n] (i: twice [n]) = i + 1
        def all 'k 'a (x: [k]a) (p: a -> bool) = and (for i -> p x[i])
        def everything = all shades (> 0)
        ",
        expect![[r#"
            shades : [#blue | #green | #red]f64
            red : f64
            doubled : [#blue | #green | #red]f64
            as_list : [3]f64
            places [n] : [n]f64 -> [#inside (idx [n]) | #outside]f64
            first [n] : [#inside (idx [n]) | #outside]f64 -> idx [n] -> f64
            lower : i64 -> {from_ordinal: i64 -> (i64, i64), ordinal: (i64, i64) -> i64, size: i64}
            triangle [n] : [n]f64 -> [lower [n]]f64
            corner [n] : [lower [n]]f64 -> lower [n] -> f64
            twice : i64 -> {from_ordinal: i64 -> i64, ordinal: i64 -> i64, size: i64}
            repeated [n] : [n]f64 -> [twice [n]]f64
            next [n] : twice [n] -> i64
            all 'k 'a : [k]a -> (a -> bool) -> bool
            everything : bool
        "#]],
    );
}

#[test]
fn an_index_is_a_number_too() {
    check(
        "
        def steps [n] (x: [n]f64) = for i -> x[i] * f64.i64 (i + 1)
        def both [n] (x: [n]f64) = for i -> (i, x[i])
        def either [n] (b: bool) (i: idx [n]) = if b then i else 0
        def same [n] (b: bool) (i: idx [n]) (j: idx [n]) = if b then i else j
        def sum [n] (_: [n]f64) = loop s = 0 for i in (iota n) do s + i
        def mixed [n] (i: idx [n]) = [i, 1]
        def made [n] (x: [n]f64) (k: i64) = x[from_ordinal k]
        ",
        expect![[r#"
            steps [n] : [n]f64 -> *[n]f64
            both [n] : [n]f64 -> *[n](idx [n], f64)
            either [n] : bool -> idx [n] -> i64
            same [n] : bool -> idx [n] -> idx [n] -> idx [n]
            sum [n] : [n]f64 -> i64
            mixed [n] : idx [n] -> *[2]i64
            made [n] : [n]f64 -> i64 -> f64
        "#]],
    );
}

#[test]
fn indices_of_other_sets_are_rejected() {
    let wrong = |source: &str, expect| check(source, expect);
    wrong(
        "def f [n][m] (x: [n]f64) (y: [m]f64) = for i -> x[i] + y[i]",
        expect![[r#"
        test.fut:1:58: error [wrong-index]: This is not an index of the set "m" that the array is indexed by
    "#]],
    );
    wrong(
        "
        type colour = #red | #green
        def f (x: [colour]f64) = x[0]",
        expect![[r##"
            test.fut:3:36: error [wrong-index]: This is not an index of the set "#green | #red" that the array is indexed by
        "##]],
    );
    wrong(
        "
        type colour = #red | #green
        def f [n] (x: [n]f64) (c: colour) = x[c]",
        expect![[r#"
            test.fut:3:47: error [type-mismatch]: An index must be of an integer type
        "#]],
    );
    wrong(
        "def f [n][m] (x: [(n, m)]f64) = for i j -> x[(j, i)] + x[(i, j)]",
        expect![[r#"
        test.fut:1:58: error [wrong-index]: This is not an index of the set "(n, m)" that the array is indexed by
    "#]],
    );
    wrong(
        "def f [n] (x: [n]f64) (i: i64) : idx [n] = i",
        expect![[r#"
        test.fut:1:44: error [not-an-index]: The body of this function does not match its return type
    "#]],
    );
    wrong(
        "def f [n] (x: [(n, n)]f64) = x[1:2]",
        expect![[r#"
        test.fut:1:32: error [slice-of-index-set]: Only arrays indexed by a size have slices
    "#]],
    );
}

#[test]
fn what_for_cannot_make() {
    let wrong = |source: &str, expect| check(source, expect);
    wrong(
        "def f = for i -> i",
        expect![[r#"
        test.fut:1:13: error [ambiguous-index]: Nothing says how many values an index here has
    "#]],
    );
    wrong(
        "def f (n: i64) = for i < n -> iota i",
        expect![[r#"
        test.fut:1:31: error [irregular-array]: The elements of this array may differ in size from index to index
    "#]],
    );
    wrong(
        "def f (x: [f32]f64) = x",
        expect![[r#"
        test.fut:1:12: error [type-mismatch]: The elements of an array cannot be numbered by this type
    "#]],
    );
    wrong(
        "def f 'a (x: [n]f64) (y: a) = for (i: a) -> i",
        expect![[r#"
        test.fut:1:15: error [unknown-name]: Unknown variable "n"
    "#]],
    );
    wrong(
        "module m (p: { val n: i64 }) = {
           index type t of i64 = {size = 1, ordinal = \\i -> i, from_ordinal = \\k -> k}
         }",
        expect![[r#"
            test.fut:2:23: error [index-type-in-functor]: An index type cannot be declared in a parametric module
        "#]],
    );
}
