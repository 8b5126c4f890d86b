//! How declarations are read, and what is kept beside them.

use dagaz_syntax::dump::dump_program;
use dagaz_syntax::{FileId, parse_program};
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let (program, diagnostics) = parse_program(FileId(0), text);
    let mut output = dump_program(&program);
    for diagnostic in diagnostics {
        output.push_str(&format!("!! {}\n", diagnostic.message));
    }
    expected.assert_eq(&output);
}

#[test]
fn values() {
    check(
        "
def x = 1
entry main [n] 't '~u '^v (xs: [n]t) ({a, b}: r) _ : [n]t = xs
let old x y = x
def (+^) (a: i32) (b: i32) : i32 = a
def a *. b = a
def (a: i32) <+> (b, c) : i32 = a
def x `plus` y = x
def (`times`) x y = x
def f[n] (xs: [n]i32) = xs
",
        expect![[r#"
            (def x 1)
            (entry main [n] 't '~u '^v (paren (: xs (array [n] t))) (paren (: (record a b) r)) _ : (array [n] t) xs)
            (top-let old x y x)
            (def +^ (paren (: a i32)) (paren (: b i32)) : i32 a)
            (def *. a b a)
            (def <+> (paren (: a i32)) (tuple b c) : i32 a)
            (def plus x y x)
            (def times x y x)
            (def f [n] (paren (: xs (array [n] i32))) xs)
        "#]],
    );
}

#[test]
fn type_abbreviations() {
    check(
        "
type t = i32
type~ sized = []i32
type^ fn 'a '^b = a -> b
type vec [n] 't = [n]t
type colour = #red | #green
",
        expect![[r#"
            (type t i32)
            (type~ sized (array [] i32))
            (type^ fn 'a '^b (-> a b))
            (type vec [n] 't (array [n] t))
            (type colour (sum (#red) (#green)))
        "#]],
    );
}

#[test]
fn modules() {
    check(
        "
module m = { def x = 1 type t = i32 }
module n : s = m
module f (a: s) (b: {type t}) : s with t = a.t = g a (h b) { }
module l = \\(a: s) : t -> a : u
module i = import \"lib/i\"
open m
open f (import \"x\") m.n
import \"path/to\"
local open m
local def y = 2
",
        expect![[r#"
            (module m {(def x 1) (type t i32)})
            (module n : s m)
            (module f (: a s) (: b {(type t)}) : (with s t a.t) (apply (apply (apply g a) (paren (apply h b))) {}))
            (module l (: (\ (: a s) : t a) u))
            (module i (import "lib/i"))
            (open m)
            (open (apply (apply f (paren (import "x"))) m.n))
            (import "path/to")
            (local (open m))
            (local (def y 2))
        "#]],
    );
}

#[test]
fn module_types() {
    check(
        "
module type s = {
  type t
  type~ u [n] 'a = [n]a
  -- | Adds.
  val + : t -> t -> t
  val (*) 'a : a -> a
  #[attr] val f [n] : [n]t -> t
  module inner: { val x: i32 }
  include other with t = i32 with u [n] = [n]i32
}
module type p = (a: s) -> s -> (s)
",
        expect![[r#"
            (module-type s {(type t) (type~ u [n] 'a = (array [n] a)) (doc "Adds.") (val + (-> t (-> t t))) (val * 'a (-> a a)) #[attr] (val f [n] (-> (array [n] t) t)) (module inner {(val x i32)}) (include (with (with other t i32) u [n] (array [n] i32)))})
            (module-type p (-> a: s (-> s (paren s))))
        "#]],
    );
}

#[test]
fn documentation() {
    check(
        "-- | About the file.
-- More of it.

-- | About x.
--
--   indented
def x = 1 -- | not documentation
-- ordinary
def y =
  -- | misplaced
  2
#[noinline] #[inline(1)]
def z = 3
-- | last, before nothing
",
        expect![[r#"
            "About the file.\nMore of it."
            (doc "About x.\n\n  indented") (def x 1)
            (def y 2)
            #[noinline] #[(inline 1)] (def z 3)
        "#]],
    );
}

#[test]
fn comments_are_kept() {
    let (program, _) = parse_program(FileId(0), "-- a\r\ndef x = 1 -- b\n-- | c\n--d");
    let texts: Vec<&str> = program.comments.iter().map(|comment| comment.text.as_str()).collect();
    assert_eq!(texts, ["-- a", "-- b", "-- | c", "--d"]);
}

#[test]
fn spans_and_node_numbers() {
    let text = "def f (x: i32) = (x + 1, m.y[0])";
    let (program, _) = parse_program(FileId(3), text);
    assert_eq!(program.node_count, 11);
    let dagaz_syntax::ast::DecKind::Val(bind) = &program.decs[0].kind else { panic!("a value is expected") };
    let dagaz_syntax::ast::ExpKind::Tuple(parts) = &bind.body.kind else { panic!("a tuple is expected") };
    let texts: Vec<&str> = parts.iter().map(|e| &text[e.span.start as usize..e.span.end as usize]).collect();
    assert_eq!(texts, ["x + 1", "m.y[0]"]);
    assert_eq!(parts[0].span.file, FileId(3));
}

#[test]
fn empty_files() {
    check("", expect![]);
    check("\u{feff}-- only a comment", expect![]);
}

#[test]
fn index_types() {
    check(
        r"
        index type lower [n] of (i64, i64) = {
          size = n * (n + 1) / 2,
          ordinal = \(i, j) -> i * (i + 1) / 2 + j,
          from_ordinal = \k -> (k, 0) }
        def index = 1
        ",
        expect![[r#"
            (index-type lower [n] (tuple i64 i64) (record size = (/ (* n (paren (+ n 1))) 2) ordinal = (\ (tuple i j) (+ (/ (* i (paren (+ i 1))) 2) j)) from_ordinal = (\ k (tuple k 0))))
            (def index 1)
        "#]],
    );
}
