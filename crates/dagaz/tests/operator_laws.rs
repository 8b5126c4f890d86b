//! Operators that break a law are shown with values, and others are not.

use std::path::{Path, PathBuf};

use dagaz::laws::check_file;
use dagaz::render::{self, Style};
use dagaz::{Failure, Settings};
use expect_test::{Expect, expect};

fn warnings(path: &Path) -> Result<String, Failure> {
    let (sources, found) = check_file(path, &Settings::plain())?;
    Ok(render::diagnostics(Style::Plain, &sources, &found))
}

fn shown(program: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("program.fut");
    std::fs::write(&path, program).expect("a program");
    let shown = warnings(&path).unwrap_or_else(|failure| panic!("{}", failure.summary()));
    shown.replace(&format!("{}/", folder.path().display()), "")
}

fn check(program: &str, expected: Expect) {
    expected.assert_eq(&shown(program));
}

fn check_fine(program: &str) {
    assert_eq!(shown(program), "");
}

#[test]
fn subtraction() {
    check(
        "entry main (xs: []i32) : i32 = reduce (-) 0 xs\n",
        expect![[r#"
        warning[operator-law]: this operator is not associative: results depend on how elements are grouped
         --> program.fut:1:32
          |
        1 | entry main (xs: []i32) : i32 = reduce (-) 0 xs
          |                                ^
          |
          = help: a = 4i32, b = 1i32, c = 6i32
          = help: (a ∘ b) ∘ c = -3i32
          = help: a ∘ (b ∘ c) = 9i32
    "#]],
    );
}

#[test]
fn no_neutral_element() {
    check(
        "entry main (xs: []f64) : []f64 = scan f64.max 0 xs\n",
        expect![[r#"
            warning[operator-law]: this is no neutral element of the operator: results depend on how elements are grouped
             --> program.fut:1:34
              |
            1 | entry main (xs: []f64) : []f64 = scan f64.max 0 xs
              |                                  ^
              |
              = help: a = -2.0f64
              = help: e ∘ a = 0.0f64 where e = 0.0f64
        "#]],
    );
}

#[test]
fn captured_values() {
    check(
        "entry main (k: i64) (xs: []i64) : i64 = reduce (\\x y -> x + y + k) 0 xs\n",
        expect![[r#"
            warning[operator-law]: this is no neutral element of the operator: results depend on how elements are grouped
             --> program.fut:1:41
              |
            1 | entry main (k: i64) (xs: []i64) : i64 = reduce (\x y -> x + y + k) 0 xs
              |                                         ^
              |
              = help: a = 11i64, k = 4i64
              = help: e ∘ a = 15i64 where e = 0i64
        "#]],
    );
}

#[test]
fn a_histogram_in_order() {
    check(
        "entry main (is: []i64) (xs: []i32) : []i32 = hist (\\x y -> if x == 0 then y else x) 0 10 is xs\n",
        expect![[r#"
            warning[operator-law]: this operator is not commutative: results depend on the order in which elements come
             --> program.fut:1:46
              |
            1 | entry main (is: []i64) (xs: []i32) : []i32 = hist (\x y -> if x == 0 then y else x) 0 10 is xs
              |                                              ^
              |
              = help: a = 4i32, b = 1i32
              = help: a ∘ b = 4i32
              = help: b ∘ a = 1i32
        "#]],
    );
}

#[test]
fn pairs() {
    check(
        "entry main (xs: [](f64, i64)) : (f64, i64) =\n\
         \x20 reduce (\\(x, i) (y, j) -> ((x + y) / 2, i + j)) (0, 0) xs\n",
        expect![[r#"
            warning[operator-law]: this is no neutral element of the operator: results depend on how elements are grouped
             --> program.fut:2:3
              |
            2 |   reduce (\(x, i) (y, j) -> ((x + y) / 2, i + j)) (0, 0) xs
              |   ^
              |
              = help: a = (-0.5625f64, 2i64)
              = help: e ∘ a = (-0.28125f64, 2i64) where e = (0.0f64, 0i64)
        "#]],
    );
}

#[test]
fn operators_that_are_right() {
    check_fine("entry main (xs: []f32) = (f32.sum xs, f32.product xs, f32.maximum xs, f32.minimum xs)");
    check_fine("entry main (xs: []u8) = (u8.sum xs, reduce (^) 0 xs, reduce (&) 255 xs, reduce (|) 0 xs)");
    check_fine("entry main (xs: []bool) = (and xs, or xs, reduce (!=) false xs, reduce (==) true xs)");
    // The first of the smallest.
    check_fine(
        "entry main (xs: []f64) = reduce (\\(x, i) (y, j) -> if y < x then (y, j) else (x, i)) (f64.inf, -1) (zip xs (indices xs))",
    );
    // Linear recurrences, and products of matrices.
    check_fine("entry main (xs: [](f64, f64)) = scan (\\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) xs");
    check_fine(
        "entry main [n][k] (xs: [n][k][k]f64) =\n\
         \x20 let mm a b = map (\\r -> map (\\c -> f64.sum (map2 (*) r c)) (transpose b)) a\n\
         \x20 in reduce mm (tabulate_2d k k (\\i j -> if i == j then 1 else 0)) xs",
    );
    // Log-sum-exp, up to rounding.
    check_fine("entry main (xs: []f64) = reduce (\\x y -> f64.log (f64.exp x + f64.exp y)) (-f64.inf) xs");
    // Sums modulo a number that is given.
    check_fine(
        "entry main (m: i64) (xs: []i64) = reduce (\\x y -> (x + y) % i64.max 1 m) 0 (map (% i64.max 1 m) xs)",
    );
    check_fine("entry main (xs: []i64) (is: []i64) = hist (+) 0 100 is xs");
    check_fine("entry main [n] (is: [n]i64) : [10]f64 = yield_accum (\\h -> for k -> h[is[k]] += 1f64)");
    // Segmented sums, and vectors.
    check_fine(
        "entry main (xs: [](bool, f32)) = scan (\\(f, x) (g, y) -> (f || g, if g then y else x + y)) (false, 0) xs",
    );
    check_fine("entry main [n][k] (xs: [n][k]f32) = reduce (map2 (+)) (replicate k 0) xs");
}

fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "fut") {
            found.push(path);
        }
    }
}

/// The prelude and the programs for users obey all laws, but for a test with an operator that gives its last operand.
#[test]
fn programs_of_this_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    ["prelude/tests", "examples"].iter().for_each(|folder| programs(&root.join(folder), &mut paths));
    let mut tried = 0;
    for path in paths.iter().filter(|path| !path.ends_with("soacs.fut")) {
        match warnings(path) {
            Ok(shown) => {
                assert_eq!(shown, "", "{}", path.display());
                tried += 1;
            }
            // Some programs are there to be rejected.
            Err(Failure::Rejected { .. }) => {}
            Err(failure) => panic!("{}: {}", path.display(), failure.summary()),
        }
    }
    assert!(tried > 40, "{tried} programs");
}
