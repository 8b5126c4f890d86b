//! The command from outside: arguments and standard input in, output and exit code out.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use expect_test::{Expect, expect};
use tempfile::TempDir;

const PROGRAM: &str = "\
-- ==
-- input { [1.0, 2.0] [3.0, 4.0] } output { 11.0 }
entry main [n] (xs: [n]f64) (ys: [n]f64) : f64 = f64.sum (map2 (*) xs ys)

entry at (xs: []i32) (i: i64) : i32 = xs[i]
entry both (x: i32) = (x + 1, {half = f64.i32 x / 2, same = x})
";

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, contents) in files {
        std::fs::write(folder.path().join(name), contents).expect("a file");
    }
    folder
}

/// Run the command in a folder, and show what it prints and how it ends.
fn run(folder: &Path, args: &[&str], input: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dagaz"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // A command that does not read its input may be gone already.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("the command ends");
    let mut shown = String::from_utf8_lossy(&output.stdout).into_owned();
    shown.push_str(&String::from_utf8_lossy(&output.stderr));
    shown.push_str(&format!("exit {}", output.status.code().unwrap_or(-1)));
    shown
}

fn check(args: &[&str], input: &str, expected: Expect) {
    let folder = folder(&[
        ("program.fut", PROGRAM.as_bytes()),
        ("wrong.fut", b"def f (x: i32) : bool = x\n"),
        (
            "failing.fut",
            b"-- ==\n-- input { 1 } output { 2 }\n-- input { 2 } output { 2 }\nentry main (x: i32) = x\n",
        ),
        ("xs.in", b"[1, 2.5]"),
    ]);
    expected.assert_eq(&run(folder.path(), args, input));
}

#[test]
fn check_shows_types() {
    check(
        &["check", "program.fut", "--types"],
        "",
        expect![[r#"
            val main [n] : [n]f64 -> [n]f64 -> f64
            val at [n] : [n]i32 -> i64 -> i32
            val both : i32 -> (i32, {half: f64, same: i32})
            exit 0"#]],
    );
}

#[test]
fn check_shows_errors() {
    check(
        &["check", "wrong.fut"],
        "",
        expect![[r#"
        error[type-mismatch]: The body of this function does not match its return type
         --> wrong.fut:1:25
          |
        1 | def f (x: i32) : bool = x
          |                         ^ has type "i32"
          |
          = help: expected type: bool
          = help: Types "bool" and "i32" do not match
        exit 1"#]],
    );
    check(
        &["check", "missing.fut"],
        "",
        expect![[r#"
        error: cannot read missing.fut: No such file or directory (os error 2)
        exit 2"#]],
    );
}

#[test]
fn run_reads_values_from_everywhere() {
    check(
        &["run", "program.fut"],
        "[1, 2] [3.5, 4]",
        expect![[r#"
        11.5f64
        exit 0"#]],
    );
    check(
        &["run", "program.fut", "xs.in", "xs.in"],
        "",
        expect![[r#"
        7.25f64
        exit 0"#]],
    );
    check(
        &["run", "program.fut", "--arg", "[1, 2]", "xs.in"],
        "",
        expect![[r#"
        6.0f64
        exit 0"#]],
    );
    check(
        &["run", "program.fut", "-a", "[1, 2]", "-a", "[3, 4]"],
        "",
        expect![[r#"
        11.0f64
        exit 0"#]],
    );
}

#[test]
fn run_shows_tuples_and_records() {
    check(
        &["run", "program.fut", "--entry", "both", "--arg", "-3"],
        "",
        expect![[r#"
        -2i32
        {half = -1.5f64, same = -3i32}
        exit 0"#]],
    );
}

#[test]
fn run_compiles_what_it_calls() {
    let folder = folder(&[(
        "program.fut",
        b"def f (x: f64) : f64 = if x < 1 then 1 else x * f (x - 1)\n\
          entry main (x: f64) = f x\n\
          entry slope (x: f64) = (linearize f x).1 1\n",
    )]);
    expect![["24.0f64\nexit 0"]].assert_eq(&run(folder.path(), &["run", "program.fut"], "4"));
    let shown = run(folder.path(), &["run", "program.fut", "--entry", "slope"], "4");
    assert!(shown.contains("error[not-yet]"), "{shown}");
}

#[test]
fn numbers_in_files_take_the_types_of_parameters_in_tests() {
    let folder = folder(&[
        (
            "program.fut",
            b"-- ==\n-- input @ xs.in\n-- output { 3.5f32 }\nentry main (xs: []f32) = f32.sum xs\n",
        ),
        ("xs.in", b"[1, 2.5]"),
    ]);
    let shown = run(folder.path(), &["test", "program.fut"], "");
    assert!(shown.ends_with("exit 0"), "{shown}");
}

#[test]
fn run_reports_errors_of_the_program() {
    check(
        &["run", "program.fut", "--entry", "at", "--arg", "[1, 2]", "--arg", "2"],
        "",
        expect![[r#"
        error: Index [2] out of bounds for array of shape [2].
         --> program.fut:5:39
          |
        5 | entry at (xs: []i32) (i: i64) : i32 = xs[i]
          |                                       ^
        exit 1"#]],
    );
}

#[test]
fn run_reports_misuse() {
    check(
        &["run", "program.fut", "--entry", "nothing"],
        "",
        expect![[r#"
        error: there is no entry point 'nothing'; there are: main, at, both
        exit 2"#]],
    );
    check(
        &["run", "program.fut", "--arg", "[1]"],
        "",
        expect![[r#"
        error: 'main' takes 2 values (xs: [n]f64, ys: [n]f64), but 1 are given
        exit 2"#]],
    );
    check(
        &["run", "program.fut", "--arg", "[true]"],
        "",
        expect![[r#"
        error: --arg '[true]': a value of type f64 is expected, not [1]bool (at byte 0)
        exit 2"#]],
    );
    check(
        &["run", "program.fut"],
        "[1] [2] [3]",
        expect![[r#"
        error: standard input: there are more values than the entry point takes
        exit 2"#]],
    );
}

#[test]
fn binary_output_is_input_again() {
    let folder = folder(&[("program.fut", b"entry main (xs: []i16) = map (+ 1) xs\n")]);
    let output = Command::new(env!("CARGO_BIN_EXE_dagaz"))
        .args(["run", "program.fut", "--arg", "[1, 2]", "--binary"])
        .current_dir(folder.path())
        .output()
        .expect("the command runs");
    std::fs::write(folder.path().join("ys.bin"), output.stdout).expect("a file");
    expect![[r#"
        [3i16, 4i16]
        exit 0"#]]
    .assert_eq(&run(folder.path(), &["run", "program.fut", "ys.bin"], ""));
}

#[test]
fn eval_knows_the_prelude_and_the_program() {
    check(
        &["eval", "map (+ 1) (iota 3)"],
        "",
        expect![[r#"
        [1i64, 2i64, 3i64]
        exit 0"#]],
    );
    check(
        &["eval", "main [1] [2] + 1", "program.fut"],
        "",
        expect![[r#"
        3.0f64
        exit 0"#]],
    );
    check(
        &["eval", "1 + true"],
        "",
        expect![[r#"
            error[type-mismatch]: Cannot apply "+" to this argument (invalid type)
             --> expression:2:7
              |
            2 |   1 + true
              |       ^^^^ has type "bool"
              |
              = help: expected type: a number type
              = help: The type "bool" is not a number type
            exit 1"#]],
    );
}

#[test]
fn core_is_text() {
    check(
        &["core", "program.fut", "--entry", "at"],
        "",
        expect![[r#"
        def at (n_0: i64, xs_1: [n_0]i32, i_2: i64) : (result_3: i32) =
          let (elem_4: i32) = xs_1[i_2]
          in (elem_4)

        entry "at" = at
          sizes 1 0
          param "xs" : value "[]i32" [n_0]i32
          param "i" : value "i64" i64
          result value "i32" i32
        exit 0"#]],
    );
}

#[test]
fn cost_is_counted() {
    check(
        &["cost", "program.fut", "--arg", "[1, 2]", "--arg", "[3, 4]"],
        "",
        expect![[r#"
            work                 4  scalar operations and element moves
            span                 3  of these on the longest chain
            peak                 0  array elements alive at once
            exit 0"#]],
    );
}

#[test]
fn tests_pass_and_fail() {
    check(
        &["test", "program.fut"],
        "",
        expect![[r#"
        folder  programs  passed  failed         %
        .              1       1       0   100.0 %
        total          1       1       0   100.0 %
        exit 0"#]],
    );
    check(
        &["test", "."],
        "",
        expect![[r#"
        folder  programs  passed  failed         %
        .              2       1       1    50.0 %
        total          2       1       1    50.0 %

        ./failing.fut: main: result 0: expected 2i32, got 1i32
        exit 1"#]],
    );
    check(
        &["test", ".", "--filter", "nothing"],
        "",
        expect![[r#"
        error: there are no programs with tests here
        exit 2"#]],
    );
}

#[test]
fn test_reports() {
    let folder = folder(&[("a.fut", b"-- ==\n-- input { 1 } output { 2 }\nentry main (x: i32) = x\n")]);
    let args = ["test", ".", "--report", "report.md", "--json", "results.json", "--relative-to", "."];
    run(folder.path(), &args, "");
    let report = std::fs::read_to_string(folder.path().join("report.md")).expect("a report");
    expect![[r#"
        # Conformance

        0 of 1 programs (0.0 %) behave as their test blocks say. In 0 of the 0 programs that expect an error or a warning with certain words, ours has these words; in the others it has different ones.

        | folder | programs | passed | failed | % | same message | other message |
        |---|--:|--:|--:|--:|--:|--:|
        | `.` | 1 | 0 | 1 | 0.0 % | 0 | 0 |
        | **total** | 1 | 0 | 1 | 0.0 % | 0 | 0 |

        ## Failing programs

        | program | reason |
        |---|---|
        | `a.fut` | main: result 0: expected 2i32, got 1i32 |
    "#]].assert_eq(&report);
    let json = std::fs::read_to_string(folder.path().join("results.json")).expect("results");
    let seconds = json.lines().find(|line| line.contains("\"seconds\"")).expect("a time").to_owned();
    expect![[r#"
        [
          {
            "path": "a.fut",
            "status": "failed",
            "reason": "main: result 0: expected 2i32, got 1i32",
            "seconds": …
            "cases": 1,
            "failed_cases": 1,
            "message": null
          }
        ]"#]]
    .assert_eq(&json.replace(&seconds, "    \"seconds\": …"));
}

#[test]
fn errors_are_explained() {
    check(
        &["explain-error", "import-cycle"],
        "",
        expect![[r#"
        # import-cycle

        A file imports another one that, directly or by way of more files, imports the first. Neither can be checked before the
        other.

        Move the definitions that both need into a third file, which imports neither, and import that one in both.
        exit 0"#]],
    );
    check(
        &["explain-error", "nonsense"],
        "",
        expect![[r#"
        error: there is no error code 'nonsense'; try dagaz explain-error --list
        exit 2"#]],
    );
}

#[test]
fn wrong_arguments_are_misuse() {
    check(
        &["check"],
        "",
        expect![[r#"
        error: the following required arguments were not provided:
          <FILE>

        Usage: dagaz check <FILE>

        For more information, try '--help'.
        exit 2"#]],
    );
}

#[test]
fn results_are_drawn() {
    let program = "
        entry shades (n: i64) : [n][2]f64 = for i j -> f64.i64 (i + j)
        entry colours : [1][2]u32 = [[0xff0000, 0x0000ff]]
        entry lines (n: i64) : ([n]f64, [n]i32) = (for i -> f64.sin (f64.i64 i), for i -> i32.i64 i)
        entry number : i32 = 1";
    let folder = folder(&[("picture.fut", program.as_bytes())]);
    let draw = |args: &[&str]| run(folder.path(), &[&["run", "picture.fut", "--picture"], args].concat(), "");
    assert_eq!(draw(&["shades.png", "-e", "shades", "-a", "3"]), "exit 0");
    assert_eq!(draw(&["colours.png", "-e", "colours"]), "exit 0");
    assert_eq!(draw(&["lines.svg", "-e", "lines", "-a", "10"]), "exit 0");
    let pixels = |name: &str| {
        let file = std::fs::File::open(folder.path().join(name)).expect("an image");
        let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("an image");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        let frame = reader.next_frame(&mut pixels).expect("pixels");
        (frame.width, frame.height, pixels)
    };
    assert_eq!(pixels("shades.png"), (2, 3, vec![0, 85, 85, 170, 170, 255]));
    assert_eq!(pixels("colours.png"), (2, 1, vec![255, 0, 0, 0, 0, 255]));
    let lines = std::fs::read_to_string(folder.path().join("lines.svg")).expect("a picture");
    assert!(lines.starts_with("<svg") && lines.matches("<polyline").count() >= 2, "{lines}");
    let refused = draw(&["number.png", "-e", "number"]);
    assert!(
        refused.contains("there is no result with two dimensions") && refused.ends_with("exit 2"),
        "{refused}"
    );
    let refused = draw(&["number.jpg", "-e", "number"]);
    assert!(refused.contains("ends in .png or .svg"), "{refused}");
}

#[test]
fn passes_one_by_one() {
    let zeros = b"def f (x: f64) : (y: f64) =\n  let (z: f64) = f64.mul x 1.0f64\n  let (y: f64) = f64.add z x\n  in (y)\n";
    let wrong = b"def f (x: f64) : (y: f64) =\n  let (y: i64) = f64.mul x x\n  in (y)\n";
    let files: [(&str, &[u8]); 3] =
        [("ones.core", zeros), ("wrong.core", wrong), ("text.core", b"def f (x: f64) : (y: f64) = in (z)")];
    let folder = folder(&files);
    let dev = |args: &[&str]| run(folder.path(), &[&["dev"], args].concat(), "");
    let shown = [
        dev(&["ones.core", "--passes", "simplify"]),
        dev(&["ones.core", "--passes", "simplfy"]),
        dev(&["ones.core", "--pipeline", "gpu"]),
        dev(&["wrong.core", "--passes", "simplify"]),
        dev(&["text.core"]),
    ];
    expect![[r#"
        def f (x_0: f64) : (y_1: f64) =
          let (y_2: f64) = f64.add x_0 x_0
          in (y_2)
        exit 0
        error: there is no pass 'simplfy'; 'dagaz dev --list' shows all passes and pipelines
        exit 2
        error: there is no pipeline 'gpu'; 'dagaz dev --list' shows all passes and pipelines
        exit 2
        error: wrong.core is not well-formed Core: in function f: the variable y_2 has type i64, but f64 is expected
                   let (y_2: i64) = f64.mul x_0 x_0
        exit 1
        error: text.core is not well-formed Core: 1:33: 'z' is not in scope
        exit 1"#]].assert_eq(&shown.join("\n"));
}
