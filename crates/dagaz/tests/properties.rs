//! Properties in test blocks: which values are tried, and what is said when one is false.

use dagaz::Backend;
use dagaz::testing::run::{Settings, run_program};
use dagaz::testing::spec;
use expect_test::{Expect, expect};

/// Tests the properties of a program.
fn check(names: &str, program: &str, expected: Expect) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("program.fut");
    let text = format!("-- ==\n-- property: {names}\n\n{program}");
    std::fs::write(&path, &text).expect("writes");
    let spec = spec::parse(&text).expect("reads").expect("has tests");
    let shown = |backend| {
        let result = run_program(&path, &spec, &Settings::new(backend));
        let reason = result.reason.unwrap_or_default().replace(&path.display().to_string(), "program.fut");
        format!("{} of {} failed: {reason}", result.failed_cases, result.cases)
    };
    let interpreted = shown(Backend::Interpreter);
    assert_eq!(interpreted, shown(Backend::C));
    expected.assert_eq(&interpreted);
}

#[test]
fn true_properties() {
    check(
        "reversed pairs named fixed",
        r"
        #[prop]
        entry reversed (xs: []i32) = and (map2 (==) (reverse (reverse xs)) xs)
        #[prop(size(7))]
        entry pairs [n] (xs: [n]f64, ys: [n]f64) = n == 7 && f64.sum (map2 (-) xs xs) == 0 && length ys == n
        #[prop()]
        entry named (p: {scale: f32, values: [][]bool}) =
          p.scale >= 0 && p.scale < 1 && length p.values == 50 && length p.values[0] == 50
        #[prop]
        entry fixed (xs: [3]u8) = length xs == 3
        ",
        expect!["0 of 4 failed: "],
    );
}

#[test]
fn the_smallest_array_for_which_a_property_is_false() {
    check(
        "short",
        r"
        #[prop]
        entry short (xs: []bool) = length xs < 4 || xs[3] == xs[3] && length xs < 9
        ",
        expect![
            "1 of 1 failed: short: false for [true, false, true, false, false, true, false, true, false]"
        ],
    );
}

#[test]
fn functions_make_values_and_smaller_ones() {
    check(
        "small",
        r"
        type shape = #circle i64 | #square i64
        def area (s: shape) : i64 = match s case #circle r -> 3 * r * r case #square a -> a * a
        entry make (size: i64) (seed: u64) : shape =
          if seed % 2 == 0 then #circle (size + i64.u64 (seed % 100)) else #square size
        entry less (s: shape) (random: u64) : shape =
          let by = 1 + i64.u64 (random % 3)
          in match s case #circle r -> #circle (i64.max 0 (r - by)) case #square a -> #square (i64.max 0 (a - by))
        #[prop(gen(make), shrink(less), size(12))]
        entry small (s: shape) = area s < 400
        ",
        expect!["1 of 1 failed: small: false for #circle 12i64, which consists of 0i8 12i64 0i64"],
    );
}

#[test]
fn what_is_no_property() {
    for (program, expected) in [
        (
            "entry f (x: i32) = x == x",
            expect!["1 of 1 failed: f: 'f' is no property: '#[prop]' must stand before it"],
        ),
        ("def f (x: i32) = x == x", expect!["1 of 1 failed: f: there is no entry point 'f'"]),
        ("#[prop] entry f (x: i32) = x", expect!["1 of 1 failed: f: a property must give one bool"]),
        (
            "#[prop(often)] entry f (x: i32) = x == x",
            expect![
                "1 of 1 failed: f: '#[prop(…)]' may have 'gen(function)', 'shrink(function)' and 'size(number)'"
            ],
        ),
        (
            "#[prop] entry f (x: #a | #b) = x == x",
            expect!["1 of 1 failed: f: values of type #a | #b are made by 'gen(function)' in '#[prop(…)]'"],
        ),
        (
            "#[prop(gen(g))] entry f (x: i32) = x == x",
            expect!["1 of 1 failed: f: run-time error in 'g': no entry point 'g'; there are: f"],
        ),
        (
            "#[prop(size(2))] entry f (xs: []i32) = xs[2] == 0",
            expect![
                "1 of 1 failed: f: run-time error: Index [2] out of bounds for array of shape [2]. at program.fut:4:40, for [531740711i32, -1453222202i32]"
            ],
        ),
    ] {
        check("f", program, expected);
    }
}
