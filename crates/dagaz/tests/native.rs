//! Machine code gives what the interpreter gives, and fails with the same words. Bits are compared where no sum is
//! reordered and no vector function is used, as on the small inputs here.

use std::path::Path;

use dagaz::testing::run::{Settings, Status};
use dagaz::testing::{report, suite};
use dagaz::{Backend, Execution, compile_source, data};

fn check_folder(folder: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let tests = suite::find_tests(&[path]).expect("a folder of programs");
    assert!(!tests.is_empty(), "there are no tests in {folder}");
    // As `dagaz run` compiles.
    let settings = Settings { execution: Execution::on(Backend::C), ..Settings::new(Backend::C) };
    let results = suite::run_tests(tests, &settings, 2, &|_| {});
    let all_passed = results.iter().all(|result| result.status == Status::Passed);
    assert!(all_passed, "{}", report::text(&results));
}

/// Calls `main` of a program on both back ends.
fn check(program: &str, args: &str) {
    let program =
        compile_source("test.fut", program).unwrap_or_else(|failure| panic!("{}", failure.summary()));
    let args = data::read_values(args.as_bytes()).expect("values");
    let outcome = |backend| {
        let mut session = program.session_on(backend);
        assert_eq!(session.notice(), None);
        // The second call finds the constants of the first.
        let first = session.call("main", args.clone()).map_err(|error| error.to_string());
        let second = session.call("main", args.clone()).map_err(|error| error.to_string());
        assert_eq!(first, second);
        first
    };
    assert_eq!(outcome(Backend::C), outcome(Backend::Interpreter));
}

#[test]
fn prelude() {
    check_folder("prelude/tests");
}

#[test]
fn standard_library() {
    check_folder("std/tests");
}

#[test]
fn examples() {
    check_folder("examples");
}

#[test]
fn programs() {
    check_folder("crates/dagaz/tests/programs");
}

#[test]
fn errors_have_the_same_words() {
    check("entry main (xs: []i32) (i: i64) = xs[i]", "[1i32, 2i32] 5i64");
    check("entry main (x: i32) (y: i32) = x / y", "1i32 0i32");
    check("entry main (x: i32) (y: i32) = x ** y", "2i32 -1i32");
    check("entry main (n: i64) = iota n", "-3i64");
    check("entry main (x: f32) = assert (x > 0) x", "-1.5f32");
    check("entry main (xs: [][]f64) (i: i64) = map (\\r -> r[i]) xs", "[[1.0f64, 2.0f64]] 2i64");
    check("entry main (n: i64) : [n]i64 = filter (> 0) (iota n) :> [n]i64", "3i64");
}

#[test]
fn scalars_are_the_same_to_the_last_bit() {
    let functions = "[f64.sin x, f64.exp x, f64.gamma x, f64.lgamma x, f64.erf x, f64.cbrt x, x ** 1.5, x % 0.7, f64.asinh x]";
    check(
        &format!("entry main (xs: []f64) = map (\\x -> {functions}) xs"),
        "[0.3f64, -1.7f64, 12.25f64, f64.nan, f64.inf]",
    );
    check(
        "entry main (xs: []f64) = (map i8.f64 xs, map u16.f64 xs, map i64.f64 xs, map f16.f64 xs)",
        "[0.5f64, -1.7f64, 1e30f64, f64.nan, -f64.inf, 300.0f64]",
    );
    check(
        "entry main (xs: []i8) (y: i8) = map (\\x -> [x / y, x % y, x // y, x %% y, x * y, x << y, x >> y]) xs",
        "[-128i8, 127i8, -7i8, 7i8] -1i8",
    );
}

#[test]
fn derivatives() {
    check(
        "entry main [n] (xs: [n]f64) = vjp (\\xs -> f64.sum (map2 (*) (scan (*) 1 xs) (map f64.sin xs))) xs 1f64",
        "[0.5f64, 2.0f64, -1.5f64]",
    );
}

#[test]
fn updates_in_place_leave_other_arrays_alone() {
    check(
        "entry main [n] (xs: [n]i32) =
           let ys = copy xs
           let ys = loop ys for i < n do ys with [i] = ys[i] + xs[n - 1 - i]
           let zs = scatter (copy ys) [0, 7, 1] [100, 200, 300]
           in (xs, ys, zs, reduce_by_index (copy zs) (+) 0 [0, 0, 2, -1] [1, 2, 3, 4])",
        "[1i32, 2i32, 3i32, 4i32]",
    );
}

/// The last use of an array in a branch is not its last one if a part of it is read after that.
#[test]
fn branches_read_parts_of_what_they_change() {
    check(
        "entry main [n][k] (xs: [n]i64) (is: [k]i64) =
           let xs = map (* 2) xs
           let part = xs[: k]
           in if k > 2 then scatter (copy xs) is part else xs",
        "[1i64, 2i64, 3i64, 4i64] [1i64, 2i64, 3i64]",
    );
}

#[test]
fn elements_of_empty_arrays() {
    check("entry main (xs: []f64) (is: []i64) = map (\\i -> xs[i]) is", "empty([0]f64) [1i64, 2i64]");
    check("entry main (xs: [][]u8) (is: []i64) = map (\\i -> xs[i, 0]) is", "empty([3][0]u8) [1i64, 2i64]");
    check("entry main [n] (xs: [n]f64) = let ys = xs[n:] in map (\\i -> ys[i]) (iota n)", "[1.0f64, 2.0f64]");
}

#[test]
fn operators_that_fail() {
    check(
        "entry main (ks: []i64) (vs: []i64) = reduce_by_index (replicate 4 10) (\\a b -> b / (a - 10)) 0 ks vs",
        "[0i64, 0i64, 1i64] [1i64, 2i64, 3i64]",
    );
    check(
        "entry main (rows: [][2]i64) = reduce (map2 (\\a b -> b / a)) (replicate 2 1) rows",
        "[[1i64, 1i64], [0i64, 1i64], [3i64, 3i64], [0i64, 4i64]]",
    );
}

#[test]
fn results_are_made_in_their_places() {
    check(
        "entry main [n] (xs: [n]i64) (m: i64) =
           (map (\\x -> if x > 2 then map (+ x) (iota m) else replicate m 7) xs,
            map (\\x -> if x > 2 then reverse (iota m) else if x > 1 then scan (+) 0 (iota m) else iota m) xs,
            map (\\x -> loop a = replicate m x for i < m - 1 do a with [i + 1] = a[i] + x) xs,
            map (\\x -> loop a = iota m for i < m do if a[i] > x then a with [i] = 0 else a) xs,
            map (\\x -> (copy xs with [0] = x) with [1] = x + 1) xs,
            map (\\x -> let ys = scatter (copy xs) [x, 0] [9, 8] in loop ys for _i < 2 do map (+ 1) ys) xs,
            map (\\x -> flatten (map (\\y -> map (+ y) (replicate m x)) xs)) xs)",
        "[1i64, 2i64, 3i64] 4i64",
    );
}

#[test]
fn loops_update_in_place_what_nobody_else_has() {
    check(
        "entry main [n] (xs: [n][n]i64) =
           let (ys, zs, k) = loop (ys, zs, k) = (copy xs, xs, 0) while k < n do
               let row = copy ys[k]
               let ys = if row[0] > 2 then ys with [k, 0] = k else ys with [0, k] = zs[k, 0]
               in (ys, zs, k + ys[0, 0])
           let last = loop r = xs[0] for i < n do if r[i] > 100 then r else xs[i]
           let as = loop as = copy xs for i < n do loop as for j < n - 1 do as with [i, j + 1] = as[i, j] + i
           let sums = reduce (\\_ r -> copy r) (replicate n 0) ys
           let ends = copy ys with [n - 1] = replicate n 77
           in (xs, ys, ends, zs, k, last, as, sums)",
        "[[1i64, 2i64, 3i64], [3i64, 5i64, 6i64], [1i64, 8i64, 9i64]]",
    );
}

#[test]
fn maps_write_into_what_they_update() {
    let matrix = "[[4i64, 2i64, 3i64, 9i64], [3i64, 5i64, 6i64, 1i64], [1i64, 8i64, 9i64, 2i64], [7i64, 1i64, 2i64, 5i64]]";
    let update = |new: &str| {
        let program = format!(
            "entry main [n] (xs: [n][n]i64) = loop a = copy xs for k < n - 1 do
               let m = n - k - 1
               let part = a[k + 1:, k + 1:] :> [m][m]i64
               {new}"
        );
        check(&program, matrix);
    };
    // The same element, another row, another column.
    update("let new = map (map (* 2)) part in a with [k + 1:, k + 1:] = new");
    update(
        "let row = a[k, k + 1:] :> [m]i64 let new = map (\\old -> map2 (+) old row) part in a with [k + 1:, k + 1:] = new",
    );
    update(
        "let col = a[k + 1:, k] :> [m]i64 let new = map2 (\\old x -> map (+ x) old) part col in a with [k + 1:, k + 1:] = new",
    );
    update(
        "let new = map (\\old -> let s = i64.sum old in map (+ s) old) part in a with [k + 1:, k + 1:] = new",
    );
    // Others of the same rows, reversed rows, columns, other rows of the same part.
    update("let new = map (\\old -> map2 (+) old (reverse old)) part in a with [k + 1:, k + 1:] = new");
    update("let new = map2 (map2 (+)) part (reverse part) in a with [k + 1:, k + 1:] = new");
    update("let new = map2 (map2 (+)) part (transpose part) in a with [k + 1:, k + 1:] = new");
    update("let new = map (\\old -> map2 (+) old part[0]) part in a with [k + 1:, k + 1:] = new");
    update(
        "let up = a[k:n - 1, k + 1:] :> [m][m]i64 let new = map2 (map2 (+)) part up in a with [k + 1:, k + 1:] = new",
    );
    update("let new = map (map (+ 1)) part in a with [k:n - 1, k + 1:] = new");
    // What was there is used later, or written later.
    update(
        "let new = map (map (+ 1)) part let s = i64.sum (flatten part) let a = a with [k + 1:, k + 1:] = new in a with [0, 0] = s",
    );
    update(
        "let new = map (map (+ 1)) part let a = a with [k + 1, k + 1] = 50 in a with [k + 1:, k + 1:] = new",
    );
    update("let new = map (map (+ 1)) part let a = a with [k, k] = 50 in a with [k + 1:, k + 1:] = new");
    update(
        "let new = map (map (+ 1)) part let a = a with [k + 1:, k + 1:] = new in a with [k, k + 1:] = new[0]",
    );
    // Something can go wrong.
    update("let new = map (map (\\x -> 100 / (x - k))) part in a with [k + 1:, k + 1:] = new");
    check(
        "entry main [n] (xs: [n]i64) (ys: [n]i64) =
           let zs = copy xs
           let new = map2 (+) zs[1:n] ys[1:n]
           let zs = zs with [1:n] = new
           let rows = copy (replicate 3 zs)
           let new = map (+ 1) rows[1]
           let rows = rows with [1] = new
           in (xs, zs, rows)",
        "[1i64, 2i64, 3i64] [10i64, 20i64, 30i64]",
    );
}

#[test]
fn transposes_go_in_tiles() {
    check(
        "entry main (n: i64) (m: i64) =
           let a = map (\\i -> map (\\j -> i * m + j) (iota m)) (iota n)
           let b = map (\\x -> map (map (+ x)) a) [1, 2]
           in (transpose a, map transpose b, transpose (map transpose b), copy (transpose (map (map (* 2)) a)))",
        "37i64 21i64",
    );
}

#[test]
fn rows_are_turned_in_blocks() {
    // So many operations for each element that the loop is for vector units.
    let program = "
        def next (x: f64) (y: f64) (k: f64) = (x * y + k * x - 1, y * y - k + x)
        def many (x: f64) (y: f64) : [9]f64 =
          let (a, b) = next x y 1
          let (c, d) = next a b (x + y)
          let (e, f) = next c d (a - y)
          let (g, h) = next e f (c * d - a)
          let (i, j) = next g h (e + f * g)
          let (k, l) = next i j (g - h + a * b - c)
          let (m, n) = next k l (i * j - k * d + f)
          let (o, p) = next m n (k + l - b * h * j)
          in [a + p, b * o - p, c + m * n, d - k * l, e * f, g - h * o, i + j * p, k - l * m, n + o * p]
        entry main (n: i64) =
          let numbers = tabulate n (\\i -> f64.i64 (i % 7) - 2)
          in map2 many numbers (reverse numbers)";
    for n in [0, 1, 7, 64, 65, 150] {
        check(program, &format!("{n}i64"));
    }
}

#[test]
fn copies_of_accumulators_are_combined() {
    // All sums are whole numbers, and the same in any order.
    check(
        "entry main (n: i64) =
           let weight (ws: [5]f64) i = loop s = 1 for k < 3 do s + ws[(i + k) % 5] * f64.i64 (i % 3)
           in vjp (\\ws -> f64.sum (map (weight ws) (iota n))) [1f64, 2, 3, 4, 5] 1",
        "60000i64",
    );
}

/// Sums inside of loops, of as many rows as fill vectors or do not. All numbers are halves, so that no order matters.
#[test]
fn short_sums_of_any_length() {
    let program = "
        def halves (i: i64) (j: i64) : f64 = f64.i64 (i * j % 7) - 2.5
        entry main (n: i64) : ([n]f32, [n]f64, [n]f64, [n]f64, [n]f64) =
          let singles = tabulate n (\\k -> f32.sum (map (\\j -> f32.f64 (halves 3 j)) (iota k)))
          let started = tabulate n (\\k -> reduce (+) 3 (map (halves 2) (iota k)))
          let (xs, ys) = unzip (tabulate n (\\k ->
            let add (a, b) (c, d) = (a + c, b + d)
            in reduce add (0, 1) (map (\\j -> (halves k j, if j % 3 == 0 then 1 else 0.5)) (iota k))))
          let zeros = tabulate n (\\k -> reduce (+) (-0.0) (replicate k (-0.0)))
          in (singles, started, xs, ys, zeros)";
    check(program, "70i64");
}
