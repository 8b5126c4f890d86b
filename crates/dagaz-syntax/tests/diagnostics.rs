//! What the user is told about text that cannot be read.

use dagaz_syntax::dump::dump_program;
use dagaz_syntax::{SourceMap, parse_program};
use expect_test::{Expect, expect};

/// Shows each diagnostic with its place, help and further labels, then what was read all the same.
fn check(text: &str, expected: Expect) {
    let mut sources = SourceMap::default();
    let file = sources.add("t", text);
    let (program, diagnostics) = parse_program(file, text);
    let mut output = String::new();
    for diagnostic in diagnostics {
        let place = sources.describe(diagnostic.span());
        output.push_str(&format!("{place}: {}: {}\n", diagnostic.code, diagnostic.message));
        for label in &diagnostic.labels[1..] {
            output.push_str(&format!("  at {}: {}\n", sources.describe(label.span), label.message));
        }
        for help in &diagnostic.help {
            output.push_str(&format!("  help: {help}\n"));
        }
    }
    expected.assert_eq(&(output + &dump_program(&program)));
}

#[test]
fn every_declaration_is_tried() {
    check(
        "def x = )\ndef y = 1\ntype = i32\nmodule m = {\n  def a = in\n  def b = 2\n}\ndef z = 3",
        expect![[r#"
            t:1:9: syntax-error: expected an expression, found `)`
            t:3:6: syntax-error: expected the name of a type, found `=`
            t:5:11: syntax-error: expected an expression, found the reserved word `in`
              help: an expression is missing before this word
            (def x <error>)
            (def y 1)
            (module m {(def a <error>) (def b 2)})
            (def z 3)
        "#]],
    );
}

#[test]
fn a_bracket_ends_the_damage() {
    check(
        "def f = g (1 +* ) [2, , 3] {a = } x",
        expect![[r#"
        t:1:23: syntax-error: expected an expression, found `,`
        t:1:33: syntax-error: expected an expression, found `}`
        (def f (app g (section 1 +* _) <error> <error> x))
    "#]],
    );
}

#[test]
fn a_binding_ends_the_damage() {
    check(
        "def f x =\n  let a = x +\n  let b = (x\n  let c = 1\n  in c\ndef g = 2",
        expect![[r#"
            t:4:3: syntax-error: expected `,` or `)`, found the reserved word `let`
              at t:3:11: this bracket is open
            t:6:1: syntax-error: expected `in` or another `let`, found the reserved word `def`
              at t:2:3: this `let` has no body
              help: write `in` and the result
            (def f x <error>)
            (def g 2)
        "#]],
    );
}

#[test]
fn unbalanced_brackets() {
    check(
        "def f = (1, 2\ndef g = [1, 2)\ndef h = 1)",
        expect![[r#"
            t:2:1: syntax-error: expected `,` or `)`, found the reserved word `def`
              at t:1:9: this bracket is open
            t:2:14: syntax-error: expected `,` or `]`, found `)`
              at t:2:9: this bracket is open
            t:3:10: syntax-error: expected a declaration, found `)`
              help: no bracket is open here
            (def f <error>)
            (def g <error>)
            (def h 1)
        "#]],
    );
    check(
        "module m = {\n  def x = 1\n",
        expect![[r#"
            t:3:1: syntax-error: expected `}`, found the end of the text
              at t:1:12: this bracket is open
            (module m {(def x 1)})
        "#]],
    );
}

#[test]
fn missing_words() {
    check(
        "def f = let x = 1",
        expect![[r#"
            t:1:18: syntax-error: expected `in` or another `let`, found the end of the text
              at t:1:9: this `let` has no body
              help: write `in` and the result
            (def f <error>)
        "#]],
    );
    check(
        "def f = let x = 1\ndef g = 2",
        expect![[r#"
            t:2:1: syntax-error: expected `in` or another `let`, found the reserved word `def`
              at t:1:9: this `let` has no body
              help: write `in` and the result
            (def f <error>)
            (def g 2)
        "#]],
    );
    check(
        "def f x = if x 1 else 2",
        expect![[r#"
            t:1:18: syntax-error: expected `then`, found the reserved word `else`
              help: a conditional is written `if … then … else …`
            (def f x <error>)
        "#]],
    );
    check(
        "def f x = if x then 1",
        expect![[r#"
            t:1:22: syntax-error: expected `else`, found the end of the text
              help: `if` gives a value, so it needs an `else`
            (def f x <error>)
        "#]],
    );
    check(
        "def f x = loop y = x for i < 10 y",
        expect![[r#"
            t:1:34: syntax-error: expected `do`, found the end of the text
              help: the body of a loop starts with `do`
            (def f x <error>)
        "#]],
    );
    check(
        "def f x = match x",
        expect![[r#"
            t:1:18: syntax-error: expected `case`, found the end of the text
            (def f x <error>)
        "#]],
    );
    check(
        "def f x = match x case 1 => 2",
        expect![[r#"
            t:1:26: syntax-error: expected `->`, found `=>`
              help: write `->` instead of `=>`
            (def f x <error>)
        "#]],
    );
}

#[test]
fn confusions() {
    check(
        "def f x = if x = 1 then 2 else 3",
        expect![[r#"
            t:1:16: syntax-error: expected `then`, found `=`
              help: to compare two values, write `==`
            (def f x <error>)
        "#]],
    );
    check(
        "def type = 1",
        expect![[r#"
        t:1:5: syntax-error: expected a name, found the reserved word `type`
          help: `type` cannot be used as a name; `type_` can
    "#]],
    );
    check(
        "def f (in: i32) = 1",
        expect![[r#"
        t:1:8: syntax-error: expected a pattern, found the reserved word `in`
          help: `in` cannot be used as a name; `in_` can
    "#]],
    );
    check(
        "def f = 1..10",
        expect![[r#"
            t:1:10: two-dots-range: a range needs to say where it ends: `..` only separates its first two elements
              help: write `a...b` (with `b`), `a..<b` (up to `b`) or `a..>b` (down to `b`)
            (def f <error>)
        "#]],
    );
    check(
        "def (a, b) = (1, 2)",
        expect![[r#"
        t:1:5: syntax-error: a declaration binds one name, not a pattern
          help: bind the whole value to a name, and take its parts from that
    "#]],
    );
    check(
        "def x ! y = 1",
        expect![[r#"
        t:1:7: syntax-error: expected an operator, found `!`
          help: `!` is a prefix operator and cannot be defined
    "#]],
    );
    check(
        "f x = 1",
        expect![[r#"
        t:1:1: syntax-error: expected a declaration, found `f`
          help: a function or value is declared with `def name = …`
    "#]],
    );
    check(
        "module type t = { def x : i32 }",
        expect![[r#"
        t:1:19: syntax-error: expected a specification, found the reserved word `def`
          help: in a module type, a value is specified with `val name : type`
        (module-type t {})
    "#]],
    );
    check(
        "val x : i32",
        expect![[r#"
        t:1:1: syntax-error: expected a declaration, found the reserved word `val`
          help: this belongs in a module type
    "#]],
    );
    check(
        "def f = {a: 1}",
        expect![[r#"
        t:1:11: syntax-error: expected `=`, found `:`
          help: the value of a field is given with `=`
        (def f <error>)
    "#]],
    );
    check(
        "def f = (x).(y)",
        expect![[r#"
            t:1:13: syntax-error: expected the name of a field, found `(`
              help: only a module can be opened for an expression: `m.(e)`
            (def f <error>)
        "#]],
    );
    check(
        "def f = _ + 1",
        expect![[r#"
            t:1:9: syntax-error: expected an expression, found `_`
              help: `_` is a pattern; a value that is still missing is written `???`
            (def f <error>)
        "#]],
    );
    check(
        "def f = 'ab'",
        expect![[r#"
            t:1:9: syntax-error: expected an expression, found `'`
              help: a character literal holds one character: 'a'; a string is written "…"
            (def f <error>)
        "#]],
    );
    check(
        "import foo",
        expect![[r#"
        t:1:8: syntax-error: expected the path of a file, in double quotes, found `foo`
    "#]],
    );
}

#[test]
fn an_equation_is_no_comparison() {
    check(
        "def f x = x = 1",
        expect![[r#"
        t:1:13: syntax-error: expected a declaration, found `=`
          help: to compare two values, write `==`
        (def f x x)
    "#]],
    );
    check(
        "def f x = (x = 1)",
        expect![[r#"
        t:1:14: syntax-error: expected `,` or `)`, found `=`
          at t:1:11: this bracket is open
          help: to compare two values, write `==`
        (def f x <error>)
    "#]],
    );
    check(
        "def f x = let y = x = 1 in y",
        expect![[r#"
        t:1:21: syntax-error: expected `in` or another `let`, found `=`
          at t:1:11: this `let` has no body
          help: to compare two values, write `==`
        (def f x <error>)
    "#]],
    );
}

#[test]
fn unknown_characters() {
    check(
        "def f = 1; def g = \u{201c}x\u{201d}\ndef størrelse = 1\ndef h = a\u{a0}+ b\ndef i = 2",
        expect![[r#"
            t:1:12: syntax-error: expected an expression, found the reserved word `def`
              help: declarations need no separator; what follows a semicolon is the next step
            t:1:20: unknown-character: `“` is not part of the language
              help: write strings in plain double quotes: "…"
            t:1:22: unknown-character: `”` is not part of the language
              help: write strings in plain double quotes: "…"
            t:2:7: unknown-character: `ø` is not part of the language
              help: names are made of ASCII letters, digits, `_` and `'`
            t:3:10: unknown-character: `\u{a0}` is not part of the language
              help: this is a special space: write a plain one
            (def f <error>)
            (def h a)
            (def i 2)
        "#]],
    );
    check(
        "\u{0}\u{1}\u{2}",
        expect![[r#"
        t:1:1: unknown-character: `\0\u{1}\u{2}` is not part of the language
    "#]],
    );
}

#[test]
fn literals() {
    check(
        "def a = \"open\ndef b = \"\\q\"\ndef c = 1x\ndef d = 99999999999999999999999",
        expect![[r#"
            t:1:9: unterminated-string: the string does not end on its line
              help: close it with `"`; write a line end as `\n`
            t:2:10: bad-literal: `\q` is not an escape
              help: write a backslash as `\\`
            t:3:9: bad-literal: `x` is not the suffix of a number
              help: the suffixes are i8, i16, i32, i64, u8, u16, u32, u64, f16, f32 and f64
            t:4:9: bad-literal: the number is too large for any integer type
              help: if a float is meant, give it a fraction or an exponent, as in `1e30`
            (def a <error>)
            (def b <error>)
            (def c <error>)
            (def d <error>)
        "#]],
    );
}

#[test]
fn nesting_is_limited() {
    let nested = |open: &str, close: &str| format!("def f = {}1{}", open.repeat(600), close.repeat(600));
    for text in [nested("(", ")"), nested("[", "]"), nested("f (\\x -> ", ")")] {
        let (_, diagnostics) = parse_program(dagaz_syntax::FileId(0), &text);
        let codes: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        assert_eq!(codes, ["nested-too-deeply"]);
    }
}
