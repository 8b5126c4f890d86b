//! Whole programs: source text in; Core text, or the values that the interpreter gives for it, out.

use std::collections::HashMap;
use std::rc::Rc;

use dagaz_core::exp::Program;
use dagaz_core::formats::text;
use dagaz_core::interp::Interpreter;
use dagaz_core::print::print_without_locs;
use dagaz_core::verify::verify;
use dagaz_simplify::simplify;
use dagaz_syntax::{SourceMap, parse_program};
use dagaz_types::typed::{self, Exp, ExpKind, PatKind};
use dagaz_types::{Dialect, Role, Unit, check_program};
use expect_test::{Expect, expect};

/// What the tests use of a prelude.
const PRELUDE: &str = r"
def map 'a [n] 'x (f: a -> x) (as: [n]a) : *[n]x = intrinsics.map f as
def reduce [n] 'a (op: a -> a -> a) (ne: a) (as: [n]a) : a = intrinsics.reduce op ne as
def zip [n] 'a 'b (as: [n]a) (bs: [n]b) : *[n](a, b) = intrinsics.zip as bs
def length [n] 't (_: [n]t) : i64 = n
def iota (n: i64) : *[n]i64 = 0..1..<n
def replicate 't (n: i64) (x: t) : *[n]t = intrinsics.replicate n x
def scatter 't [k] [n] (dest: *[k]t) (is: [n]i64) (vs: [n]t) : *[k]t = intrinsics.scatter dest is vs
";

fn core(source: &str) -> Result<Program, String> {
    let mut sources = SourceMap::default();
    let mut units = Vec::new();
    let intrinsics = include_str!("../../../prelude/intrinsics.fut");
    for (name, source, role) in [
        ("intrinsics.fut", intrinsics, Role::Intrinsics),
        ("prelude.fut", PRELUDE, Role::PreludeRoot),
        ("main.fut", source, Role::Main),
    ] {
        let file = sources.add(name, source);
        let (program, diagnostics) = parse_program(file, source);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        units.push(Unit { program, imports: HashMap::new(), role });
    }
    let checked = check_program(&units, &sources, Dialect::Dagaz);
    let errors: Vec<_> = checked.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let program = with_choose(checked.program);
    let core = simplify(&program, &sources).map_err(|diagnostics| {
        diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("\n")
    })?;
    let wrong = verify(&core);
    assert!(wrong.is_empty(), "{}\n{}", wrong[0], print_without_locs(&core));
    Ok(core)
}

/// The checker lets no functions come out of branches, but the simplifier does not mind: the definition `choose`
/// of a test gets a branch as its body.
fn with_choose(mut program: typed::Program) -> typed::Program {
    for dec in &mut program.decs {
        let typed::Dec::Def(def) = dec.as_ref() else { continue };
        if def.name.as_str() != "choose" {
            continue;
        }
        let mut def = def.as_ref().clone();
        let operand = |i: usize| {
            let PatKind::Var(var, name) = def.params[i].kind else { panic!("a name") };
            let kind = ExpKind::Var { var, name, inst: Vec::new() };
            Box::new(Exp { kind, ty: def.params[i].ty.clone(), exts: Vec::new(), span: def.span })
        };
        def.body.kind = ExpKind::If { cond: operand(0), then: operand(1), otherwise: operand(2) };
        *dec = Rc::new(typed::Dec::Def(Rc::new(def)));
    }
    program
}

/// The Core text of a program.
fn check_core(source: &str, expected: Expect) {
    expected.assert_eq(&core(source).map_or_else(|message| message, |core| print_without_locs(&core)));
}

/// What `main` gives for an input.
fn check_run(source: &str, input: &str, expected: Expect) {
    let core = core(source).unwrap_or_else(|message| panic!("{message}"));
    let args = text::read_values(input.as_bytes()).expect("input");
    let shown = match Interpreter::new(&core).call_entry("main", args) {
        Ok(values) => values.iter().map(text::print).collect::<Vec<_>>().join("\n"),
        Err(error) => error.render(&core),
    };
    expected.assert_eq(&shown);
}

#[test]
fn functions_and_records_disappear() {
    check_core(
        r"
        def compose 'a 'b 'c (f: b -> c) (g: a -> b) (x: a) = f (g x)
        entry main (p: (f32, f32)) = compose (\x -> x + 1) (\(a, b) -> a * b) p
        ",
        expect![[r#"
            def main (p_0_0: f32, p_1_1: f32) : (result_2: f32) =
              let (mul_3: f32) = f32.mul p_0_0 p_1_1
              let (add_4: f32) = f32.add mul_3 1.0f32
              in (add_4)

            entry "main" = main
              sizes 0 0
              param "p" : opaque "(f32, f32)" (f32, f32) record ("0": value "f32" f32, "1": value "f32" f32)
              result value "f32" f32
        "#]],
    );
}

#[test]
fn arrays_of_records_are_records_of_arrays() {
    check_run(
        "entry main [n] (xs: [n]i32) (ys: [n]i32) = reduce (+) 0 (map (\\(x, y) -> x * y) (zip xs ys))",
        "[1, 2, 3] [4, 5, 6]",
        expect!["32i32"],
    );
}

#[test]
fn functions_chosen_at_run_time() {
    check_run(
        r"
        def choose '^t (b: bool) (x: t) (y: t) : t = ???
        entry main (b: bool) (x: i32) =
          let f = choose b (\y -> y + x) (choose (x > 3) (\y -> y * 10) (\y -> y * x))
          let fs = {g = f, h = \y -> f (f y)}
          in fs.h (fs.g 1)
        ",
        "false 5",
        expect!["1000i32"],
    );
}

#[test]
fn recursion_becomes_a_core_function() {
    check_core(
        "def fact (n: i64) : i64 = if n == 0 then 1 else n * fact (n - 1)\nentry main (n: i64) = fact n",
        expect![[r#"
            def fact_0 (n_2: i64) : (result_3: i64) =
              let (eq_4: bool) = i64.eq n_2 0i64
              let (chosen_9: i64) =
                if eq_4 then
                  in (1i64)
                else
                  let (sub_5: i64) = i64.sub n_2 1i64
                  let (result_7: i64) = call fact_0 (sub_5)
                  let (mul_8: i64) = i64.mul n_2 result_7
                  in (mul_8)
              in (chosen_9)

            def main (n_0: i64) : (result_1: i64) =
              let (result_10: i64) = call fact_0 (n_0)
              in (result_10)

            entry "main" = main
              sizes 0 0
              param "n" : value "i64" i64
              result value "i64" i64
        "#]],
    );
}

#[test]
fn parametric_modules_are_instantiated() {
    check_run(
        r"
        module type monoid = { type t val op : t -> t -> t val zero : t }
        module sum (M: monoid) = { def sum [n] (xs: [n]M.t) : M.t = reduce M.op M.zero xs }
        module add = { type t = i32 def op (a: i32) (b: i32) = a + b def zero = 0i32 }
        module mul = { type t = i32 def op (a: i32) (b: i32) = a * b def zero = 1i32 }
        module sum_add = sum add
        module sum_mul = sum mul
        entry main [n] (xs: [n]i32) = (sum_add.sum xs, sum_mul.sum xs)
        ",
        "[2, 3, 4]",
        expect![[r#"
            9i32
            24i32"#]],
    );
}

#[test]
fn sums_keep_the_payload_of_every_constructor() {
    check_run(
        r"
        type shape = #circle i32 | #square i32 i32 | #point
        def area (s: shape) = match s case #circle r -> 3 * r * r case #square a b -> a * b case #point -> 0
        entry main (k: i32) =
          area (if k == 0 then #circle 2 else if k == 1 then #square 3 4 else #point)
        ",
        "1",
        expect!["12i32"],
    );
}

#[test]
fn branches_return_sizes() {
    check_run(
        r"
        entry main (b: bool) =
          let xs : []i64 = if b then iota 3 else replicate 2 7
          in (length xs, xs)
        ",
        "false",
        expect![[r#"
            2i64
            [7i64, 7i64]"#]],
    );
}

#[test]
fn loops_carry_sizes() {
    check_run(
        "entry main (n: i64) = loop xs : []i64 = [1] for i < n do intrinsics.concat xs [i, i]",
        "2i64",
        expect!["[1i64, 0i64, 0i64, 1i64, 1i64]"],
    );
}

#[test]
fn a_constant_is_copied_before_it_is_updated() {
    check_core(
        "def table : []i64 = [1, 2, 3]\nentry main = scatter (intrinsics.manifest table) [0] [9]",
        expect![[r#"
            const
              let (array_1: [3i64]i64) = array i64 (1i64, 2i64, 3i64)

            def main () : (result_0: [3i64]i64) =
              let (copy_2: [3i64]i64) = copy array_1
              let (array_3: [1i64]i64) = array i64 (0i64)
              let (array_4: [1i64]i64) = array i64 (9i64)
              let (scattered_5: [3i64]i64) =
                scatter 1i64 (array_3, array_4) into (copy_2) [3i64]
              in (scattered_5)

            entry "main" = main
              sizes 0 0
              result value "[]i64" [3i64]i64
        "#]],
    );
}

#[test]
fn what_zip_shares_is_copied_before_it_is_updated() {
    check_run(
        r"
        entry main [n] (xs: *[n]i32) (ys: [n]i32) =
          let zs = zip xs ys
          let zs' = zs with [0] = (9, 9)
          in (map (\(a, b) -> a + b) zs', ys)
        ",
        "[1, 2] [3, 4]",
        expect![[r#"
            [18i32, 6i32]
            [3i32, 4i32]"#]],
    );
}

#[test]
fn updates_inside_of_records_in_arrays() {
    check_run(
        r"
        entry main [n] (xs: *[n](i32, bool)) (i: i64) =
          let ys = xs with [i].1 = false
          in ys with [0].0 = 7
        ",
        "[1, 2] [true, true] 1i64",
        expect![[r#"
            [7i32, 2i32]
            [true, false]"#]],
    );
}

#[test]
fn slices_out_of_bounds_say_so() {
    check_run(
        "entry main [n] (xs: [n]i32) = xs[1:5]",
        "[1, 2, 3]",
        expect![[r#"
        Index [1:5] out of bounds for array of shape [3].
          at main.fut:1:31"#]],
    );
}

#[test]
fn invalid_ranges_say_so() {
    check_run(
        "entry main (n: i64) = iota n",
        "-2i64",
        expect![[r#"
        Range 0..1..<-2 is invalid.
          at prelude.fut:6:31
          called from main.fut:1:23"#]],
    );
}

#[test]
fn failed_coercions_say_so() {
    check_run(
        "entry main [n] (xs: [n]i32) = xs :> [2]i32",
        "[1, 2, 3]",
        expect![[r#"
        Value of (desugared) shape [3] cannot match shape of type "[2]i32".
          at main.fut:1:31"#]],
    );
}

#[test]
fn equality_of_arrays_compares_all_components() {
    check_run(
        "entry main [n] (xs: [n](i32, bool)) (ys: [n](i32, bool)) = (xs == xs, xs == ys)",
        "[1, 2] [true, false] [1, 2] [true, true]",
        expect![[r#"
            true
            false"#]],
    );
}

#[test]
fn derivatives_become_forms_of_core() {
    check_core(
        "entry main (x: f64) = (intrinsics.jvp2 (\\y -> y * y) x 1).1",
        expect![[r#"
            def main (x_0: f64) : (result_1: f64) =
              let (y_4: f64, y_5: f64) =
                jvp (x_0) (1.0f64)
                  \(y_2: f64) : (f64) ->
                    let (mul_3: f64) = f64.mul y_2 y_2
                    in (mul_3)
              in (y_5)

            entry "main" = main
              sizes 0 0
              param "x" : value "f64" f64
              result value "f64" f64
        "#]],
    );
}

#[test]
fn unsafe_leaves_out_assertions() {
    check_run("entry main (x: i32) = #[unsafe] assert (x % 2 == 0) (x / 2)", "3", expect!["1i32"]);
}

#[test]
fn unsafe_ends_where_its_expression_does() {
    check_run(
        "entry main (x: i32) = assert (x % 2 == 0) (#[unsafe] assert (x > 5) x)",
        "3",
        expect![[r#"
            Assertion is false: x % 2 == 0, where x = 3
              at main.fut:1:23"#]],
    );
}

#[test]
fn scratch_keeps_sizes_only() {
    check_core(
        "entry main (n: i64) : []i32 = #[scratch] replicate n 1",
        expect![[r#"
            def main (n_0: i64) : (result_1: [n_0]i32) =
              let (unspecified_3: [n_0]i32) = scratch i32 [n_0]
              in (unspecified_3)

            entry "main" = main
              sizes 0 0
              param "n" : value "i64" i64
              result value "[]i32" [n_0]i32
        "#]],
    );
}

/// The type of the recursive function names its parameters, which the local function captures.
#[test]
fn local_functions_capture_parameters_of_a_recursive_function() {
    check_run(
        "def count (a: i64) (n: i64) : i64 =
           if n <= 0 then a else
           let step (i: i64) = let m = loop m = n for _j < 1i64 do m - 1
                               let same = i + 1 - 1 + 2 - 2 + 3 - 3 + 4 - 4 + 5 - 5 + 6 - 6
                               in count (a + same) (if m > n then n else m)
           in step 2
         entry main = count 0 5",
        "",
        expect!["10i64"],
    );
}
