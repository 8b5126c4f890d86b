//! What accumulators and state become: the operations that are left in Core, and errors when the program runs.

use dagaz::compile::compile_source;
use dagaz::session::show_results;
use dagaz_core::formats::text;
use dagaz_core::print::print_without_locs;
use dagaz_core::value::Value;
use expect_test::{Expect, expect};

/// The operations in the Core of the entry point `main` that decide how it runs, in order, each as deep as it is nested.
fn check(program: &str, expect: Expect) {
    let compiled = compile_source("effects.fut", program).unwrap_or_else(|failure| panic!("{failure}"));
    let core = print_without_locs(compiled.core());
    let fun = core.split("\n\n").find(|fun| fun.starts_with("def main ")).unwrap_or_else(|| panic!("{core}"));
    let words =
        ["map", "reduce_comm", "reduce", "scan", "hist", "with_acc", "loop", "if", "update_acc", "assert"];
    let mut shown = String::new();
    let mut open: Vec<usize> = Vec::new();
    for line in fun.lines() {
        let indent = line.len() - line.trim_start().len();
        let operation = match line.trim_start().strip_prefix("let ") {
            Some(binding) => binding.split_once(" = ").map_or("", |(_, operation)| operation),
            None => line.trim_start(),
        };
        let Some(word) = operation.split(' ').next().filter(|word| words.contains(word)) else { continue };
        open.retain(|outer| *outer < indent);
        shown.push_str(&format!("{}{word}\n", "  ".repeat(open.len())));
        open.push(indent);
    }
    expect.assert_eq(&shown);
}

/// The results of `main`, or the message of the error that it ends with.
fn run(program: &str, arguments: &str, expect: Expect) {
    let compiled = compile_source("effects.fut", program).unwrap_or_else(|failure| panic!("{failure}"));
    let arguments: Vec<Value> = text::read_values(arguments.as_bytes()).expect("values");
    let shown = match compiled.session().call("main", arguments) {
        Ok(results) => show_results(&compiled.core().entries[0], &results).join("\n"),
        Err(error) => error.to_string(),
    };
    expect.assert_eq(&shown);
}

#[test]
fn complete_reductions_are_reductions() {
    check(
        "entry main [n] (x: [n]f64) : f64 = yield_accum (\\h -> for i -> h += x[i])",
        expect![[r#"
        reduce_comm
    "#]],
    );
    check(
        "entry main [n][m] (x: [n][m]f64) : f64 = yield_accum (\\h -> for i j -> h += x[i,j])",
        expect![[r#"
        reduce_comm
          reduce_comm
    "#]],
    );
}

#[test]
fn regular_segments_are_maps_of_reductions() {
    check(
        "entry main [n][m] (x: [n][m]f64) : [n]f64 = yield_accum (\\h -> for i j -> h[i] += x[i,j])",
        expect![[r#"
        map
          reduce_comm
    "#]],
    );
    check(
        "entry main [n][m] (x: [n][m]f64) : [m]f64 = yield_accum (\\h -> for i j -> h[j] += x[i,j])",
        expect![[r#"
        map
          reduce_comm
    "#]],
    );
    check(
        "entry main [n][m] (x: [n][m]f64) : [m]f64 = yield_accum (\\h -> for i -> h += x[i])",
        expect![[r#"
        map
          reduce_comm
    "#]],
    );
}

#[test]
fn an_index_of_its_own_is_a_map() {
    check(
        "entry main [n] (x: [n]f64) : [n]f64 = yield_accum (\\h -> for i -> h[i] += x[i] * 2)",
        expect![[r#"
        map
    "#]],
    );
}

#[test]
fn indices_from_data_stay_accumulators() {
    check(
        "entry main [n] (is: [n]i64) (x: [n]f64) : [10]f64 = yield_accum (\\h -> for i -> h[is[i]] += x[i])",
        expect![[r#"
            with_acc
              map
                assert
                update_acc
        "#]],
    );
    check(
        "type colour = #red | #green | #blue
         entry main [n] (xs: [n]i64) : i64 =
           let h: [colour]i64 = yield_accum (\\h -> for i -> h[if xs[i] > 0 then #red else #blue] += 1)
           in h[#red] * 10 + h[#blue]",
        expect![[r#"
            with_acc
              map
                if
                update_acc
        "#]],
    );
}

#[test]
fn a_for_without_state_is_parallel() {
    check(
        "entry main [n] (x: [n]f64) (k: f64) : [n]f64 = (run_state k (\\s -> for i -> x[i] * get s)).0",
        expect![[r#"
        map
    "#]],
    );
    check(
        "entry main [n] (x: [n]f64) : [n]f64 = for i -> yield_state x[i] (\\s -> (s := get s * 2; s := get s + 1))",
        expect![[r#"
            map
        "#]],
    );
}

#[test]
fn a_for_with_state_is_a_loop() {
    check(
        "entry main [n] (x: [n]f64) : [n]f64 = (run_state 0 (\\s -> for i -> (s := get s + x[i]; get s))).0",
        expect![[r#"
            loop
        "#]],
    );
    check(
        "entry main [n][m] (x: [n][m]f64) : ([n][m]f64, f64) =
           run_state 0 (\\s -> for i j -> (s := get s + x[i,j]; get s))",
        expect![[r#"
            loop
              loop
        "#]],
    );
}

#[test]
fn indices_out_of_bounds_are_errors() {
    let add = "entry main (i: i64) : [3]i64 = yield_accum (\\h -> h[i] += 1)";
    run(add, "2i64", expect!["[0i64, 0i64, 1i64]"]);
    run(
        add,
        "3i64",
        expect![[r#"
        Index [3] out of bounds for array of shape [3].
          at effects.fut:1:51
          called from effects.fut:1:32"#]],
    );
    let set = "entry main (i: i64) : [3]i64 = yield_state [0, 0, 0] (\\s -> s[i] := 1)";
    run(set, "1i64", expect!["[0i64, 1i64, 0i64]"]);
    run(
        set,
        "-1i64",
        expect![[r#"
        Index [-1] out of bounds for array of shape [3].
          at /prelude/effects.fut:46:3
          called from effects.fut:1:61
          called from effects.fut:1:32"#]],
    );
}
