//! `dagaz compile`: libraries used by C programs, and executables against `dagaz run`.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use expect_test::{Expect, expect};

fn dagaz(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dagaz"));
    command.args(words).current_dir(folder).env("NO_COLOR", "1").output().expect("dagaz runs")
}

fn folder_with(program: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("program.fut"), program).expect("a program");
    folder
}

/// Builds a C program with the library of a program in the language, and shows what it prints.
fn check_library(program: &str, user: &str, expected: Expect) {
    let folder = folder_with(program);
    let made = dagaz(folder.path(), &["compile", "--lib", "program.fut"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    std::fs::write(folder.path().join("user.c"), user).expect("a C program");
    let mut compiler = Command::new("cc");
    // What the sanitizers find ends the program.
    compiler.args(["-O1", "-g", "-Wall", "-Wno-unused", "-Werror", "-fopenmp-simd", "-fwrapv"]);
    compiler
        .args(["-fsanitize=address,undefined", "-o", "user", "user.c", "program.c", "-lm", "-lpthread"])
        .current_dir(folder.path());
    let built = compiler.output().expect("a C compiler");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut command = Command::new(folder.path().join("user"));
    // Memory that there is not is an answer, not an error.
    let output = command.env("ASAN_OPTIONS", "allocator_may_return_null=1").output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    expected.assert_eq(&String::from_utf8_lossy(&output.stdout));
}

fn run_with(mut command: Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    // One that fails early does not read everything.
    let _ = child.stdin.take().expect("its input").write_all(input);
    child.wait_with_output().expect("it ends")
}

/// The executable of a program, and `dagaz run`, give the same results and exit codes; the first lines of messages agree.
fn check_executable(program: &str, calls: &[(&str, &str)]) {
    let folder = folder_with(program);
    let made = dagaz(folder.path(), &["compile", "program.fut", "-o", "made"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for (entry, input) in calls {
        for binary in [false, true] {
            let mut ours = Command::new(folder.path().join("made"));
            ours.args(["-e", entry]).args(binary.then_some("-b"));
            let mut theirs = Command::new(env!("CARGO_BIN_EXE_dagaz"));
            theirs.args(["run", "program.fut", "-e", entry]).args(binary.then_some("--binary"));
            theirs.current_dir(folder.path()).env("NO_COLOR", "1");
            let (ours, theirs) = (run_with(ours, input.as_bytes()), run_with(theirs, input.as_bytes()));
            let first = |output: &Output| {
                String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned()
            };
            assert_eq!(first(&ours), first(&theirs), "{entry} {input}");
            assert_eq!(ours.status.code(), theirs.status.code(), "{entry} {input}");
            assert_eq!(ours.stdout, theirs.stdout, "{entry} {input}");
        }
    }
}

#[test]
fn arrays_records_and_errors() {
    let program = "\
type point = {x: f64, name: i32}
entry dot [n] (xs: [n]f64) (ys: [n]f64): f64 = f64.sum (map2 (*) xs ys)
entry scale (k: f32) (rows: [][]f32): [][]f32 = map (map (* k)) rows
entry move (p: point) (by: f64): point = p with x = p.x + by
entry at (xs: []i32) (i: i64): i32 = xs[i]
entry same (xs: []f64): ([]f64, []f64) = (xs, xs)
entry huge (n: i64): []u8 = replicate n 0
";
    let user = r#"
#include "program.h"
#include <stdio.h>

int main(void) {
  program_context *ctx = program_context_new(NULL);
  const double xs_data[] = {1, 2, 3}, ys_data[] = {4, 5, 6};
  program_f64_1d *xs = program_f64_1d_new(ctx, xs_data, 3), *ys = program_f64_1d_new(ctx, ys_data, 3);
  program_f64_1d *shorter = program_f64_1d_new(ctx, ys_data, 2), *a, *b;
  double dot, x;
  int code = program_entry_dot(ctx, &dot, xs, ys);
  printf("dot: %d, %g\n", code, dot);
  code = program_entry_dot(ctx, &dot, xs, shorter);
  printf("other sizes: %d, %s\n", code, program_context_error(ctx));

  const float rows_data[] = {1, 2, 3, 4, 5, 6};
  program_f32_2d *rows = program_f32_2d_new(ctx, rows_data, 2, 3), *scaled;
  float out[6];
  code = program_entry_scale(ctx, &scaled, 2, rows);
  const int64_t *shape = program_f32_2d_shape(ctx, scaled);
  program_f32_2d_values(ctx, scaled, out);
  printf("scale: %d, %d by %d, last %g\n", code, (int)shape[0], (int)shape[1], out[5]);

  program_point *p, *q;
  int32_t name;
  program_point_new(ctx, &p, 7, 1.5);
  code = program_entry_move(ctx, &q, p, 2);
  program_point_get_x(ctx, &x, q);
  program_point_get_name(ctx, &name, q);
  printf("move: %d, %g, %d\n", code, x, name);

  const int32_t is_data[] = {10, 20};
  program_i32_1d *is = program_i32_1d_new(ctx, is_data, 2);
  int32_t element;
  code = program_entry_at(ctx, &element, is, 2);
  printf("at 2: %d, %s\n", code, program_context_error(ctx));
  code = program_entry_at(ctx, &element, is, 1);
  printf("at 1: %d, %d\n", code, element);

  code = program_entry_same(ctx, &a, &b, xs);
  program_f64_1d_free(ctx, xs);
  program_f64_1d_free(ctx, a);
  printf("same: %d, %g\n", code, program_f64_1d_data(ctx, b)[2]);

  program_u8_1d *bytes;
  code = program_entry_huge(ctx, &bytes, INT64_MAX / 2);
  printf("huge: %d, %s\n", code, program_context_error(ctx));
  program_context *other = program_context_new(NULL);
  code = program_entry_dot(other, &dot, ys, ys);
  printf("other context: %d, %s\n", code, program_context_error(other));
  program_context_free(other);

  program_f64_1d_free(ctx, b);
  program_f64_1d_free(ctx, ys);
  program_f64_1d_free(ctx, shorter);
  program_f32_2d_free(ctx, rows);
  program_f32_2d_free(ctx, scaled);
  program_point_free(ctx, p);
  program_point_free(ctx, q);
  program_i32_1d_free(ctx, is);
  program_context_free(ctx);
  return 0;
}
"#;
    check_library(
        program,
        user,
        expect![[r#"
        dot: 0, 32
        other sizes: 3, argument 'ys' has type [2]f64, but dimension 0 must have size 3
        scale: 0, 2 by 3, last 12
        move: 0, 3.5, 7
        at 2: 1, Index [2] out of bounds for array of shape [2].
          at program.fut:5:38
        at 1: 0, 20
        same: 0, 3
        huge: 2, out of memory: there is no room for 4611686018427387903 elements of u8
          at program.fut:7:29
        other context: 3, argument 'xs' is not a value of this context
    "#]],
    );
}

#[test]
fn two_contexts_in_two_threads() {
    let program = "\
entry sum [n] (xs: [n]f64): f64 = f64.sum (map (\\x -> x * 2) xs)
entry squares (n: i64): []f64 = map (\\i -> f64.i64 i * f64.i64 i) (iota n)
";
    let user = r#"
#include "program.h"
#include <pthread.h>
#include <stdio.h>

static void *work(void *result) {
  program_config *config = program_config_new();
  program_config_set_threads(config, 2);
  program_context *ctx = program_context_new(config);
  program_config_free(config);
  for (int i = 0; i < 20; i++) {
    program_f64_1d *squares;
    if (program_entry_squares(ctx, &squares, 100000) || program_entry_sum(ctx, result, squares)) {
      printf("%s\n", program_context_error(ctx));
    }
    program_f64_1d_free(ctx, squares);
  }
  program_context_free(ctx);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  double results[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, &results[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%.17g\n%d\n", results[0], results[0] == results[1]);
  return 0;
}
"#;
    check_library(
        program,
        user,
        expect![[r#"
        666656666700000
        1
    "#]],
    );
}

const VALUES: &str = "\
type~ pair = {x: f64, ys: []i32}
entry same (a: []f64) (b: f32) (c: [][]u8) (d: bool) (e: i64) (f: f16) = (a, b, c, d, e, f)
entry record (n: i64): pair = {x = 1e-7 * f64.i64 n, ys = map i32.i64 (iota n)}
entry choice (b: bool): (i32, (#left i32 | #right f32)) = (3, if b then #left 1 else #right 2)
entry main (xs: []i32) (i: i64): i32 = trace xs[i]
entry divide (x: i32): i32 = assert (x > 3) (x / 0)
";

#[test]
fn two_libraries_in_one_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    write(
        "sums.fut",
        "entry all (xs: []f64) : f64 = f64.sum xs\nentry mm (a: [][]f32) (b: [][]f32) = map (\\r -> map (\\c -> f32.sum (map2 (*) r c)) (transpose b)) a",
    );
    write(
        "products.fut",
        "entry all (xs: []f64) : f64 = f64.product xs\nentry mm (a: [][]f32) (b: [][]f32) = map (\\r -> map (\\c -> f32.sum (map2 (*) r c)) (transpose b)) a",
    );
    write(
        "user.c",
        r#"
#include <stdio.h>
#include "sums.h"
#include "products.h"

int main(void) {
  const double data[] = {2, 3, 4};
  double sum, product;
  sums_context *s = sums_context_new(NULL);
  products_context *p = products_context_new(NULL);
  sums_f64_1d *xs = sums_f64_1d_new(s, data, 3);
  products_f64_1d *ys = products_f64_1d_new(p, data, 3);
  if (sums_entry_all(s, &sum, xs) != SUMS_SUCCESS || products_entry_all(p, &product, ys) != PRODUCTS_SUCCESS) return 1;
  printf("%g %g\n", sum, product);
  sums_f64_1d_free(s, xs);
  products_f64_1d_free(p, ys);
  sums_context_free(s);
  products_context_free(p);
  return 0;
}
"#,
    );
    for name in ["sums", "products"] {
        let made = dagaz(folder.path(), &["compile", "--lib", &format!("{name}.fut"), "-o", name]);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-fopenmp-simd", "-fwrapv", "user.c", "sums.c", "products.c", "-o", "user"]);
    let built =
        compiler.args(["-lm", "-lpthread"]).current_dir(folder.path()).output().expect("a C compiler");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let output = Command::new(folder.path().join("user")).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "9 24\n");
}

#[test]
fn executables_print_values_as_run_does() {
    let numbers =
        "[1.5, 2e300, -0.0001, 0.00001, 1e15, 123456789012345680.0, f64.nan, -f64.inf, 1e16, 5e-324]";
    let calls = [
        ("same", format!("{numbers} 16777216000 empty([0][3]u8) true -5 0.1")),
        ("same", "[1] 1e15f32 [[1,2],[0xff, 4u8]] false 9223372036854775807i64 f16.inf -- end".to_owned()),
        ("same", "[] -0.3f32 [\"ab\\n\", \"cde\"] true 0b101 65504".to_owned()),
        ("record", "3".to_owned()),
        ("record", "0".to_owned()),
        ("main", "[1, 2, 3] 1".to_owned()),
    ];
    let calls: Vec<(&str, &str)> = calls.iter().map(|(entry, input)| (*entry, input.as_str())).collect();
    check_executable(VALUES, &calls);
}

/// Names of parameters that mean something in C, or in the functions around them.
/// Elements are integers, so that sums are the same in any order.
#[test]
fn large_products_are_those_of_run() {
    let program = "\
def numbers n m = tabulate_2d n m (\\i j -> f64.i64 ((i * 7 + j * 3) % 11 - 5))
def product [n][m][p] (a: [n][m]f64) (b: [m][p]f64) =
  map (\\row -> map (\\column -> f64.sum (map2 (*) row column)) (transpose b)) a
entry plain (n: i64) (m: i64) (p: i64) = product (numbers n m) (numbers m p)
entry transposed (n: i64) (m: i64) (p: i64) = product (transpose (numbers m n)) (transpose (numbers p m))
entry batch (n: i64) (m: i64) (p: i64) =
  map (\\k -> product (map (map (+ f64.i64 k)) (numbers n m)) (numbers m p)) (iota 3)
entry small (n: i64) (m: i64) (p: i64) =
  let (a, b) = (map (map f32.f64) (numbers n m), map (map f32.f64) (numbers m p))
  in map (\\row -> map (\\column -> f32.sum (map2 (*) row column)) (transpose b)) a
";
    let sizes = ["50i64 300i64 70i64", "13i64 260i64 17i64", "200i64 33i64 5i64", "3i64 999i64 40i64"];
    let entries = ["plain", "transposed", "batch", "small"];
    let calls: Vec<(&str, &str)> =
        entries.iter().flat_map(|entry| sizes.map(|size| (*entry, size))).collect();
    check_executable(program, &calls);
}

#[test]
fn names_of_parameters_are_free() {
    let program = "entry main [n] (refs: [n]i64) (i64: i64) (record: i64) (call: [n]i64) (static: i64) =
                     map2 (\\x y -> x + i64 * y + record + static) refs call";
    check_executable(program, &[("main", "[1, 2] 3 4 [5, 6] 7")]);
}

#[test]
fn executables_fail_as_run_does() {
    let calls = [
        ("main", "[1, 2, 3] 7"),
        ("main", "[1, 2"),
        ("main", "[1, x] 0"),
        ("main", "[1, 99999999999] 0"),
        ("main", "[1]"),
        ("main", "[1] 0 5"),
        ("nothing", "1"),
        ("divide", "1"),
        ("divide", "5"),
    ];
    check_executable(VALUES, &calls);
}

#[test]
fn executables_measure_time() {
    let folder = folder_with("entry main (n: i64): i64 = i64.sum (iota n)");
    assert!(dagaz(folder.path(), &["compile", "program.fut"]).status.success());
    let mut command = Command::new(folder.path().join("program"));
    command.args(["-r", "3", "-t", "times", "--threads", "2"]).current_dir(folder.path());
    let output = run_with(command, b"10");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "45i64\n");
    let times = std::fs::read_to_string(folder.path().join("times")).expect("the times");
    assert!(times.lines().count() == 3 && times.lines().all(|line| line.parse::<u64>().is_ok()), "{times}");
}
