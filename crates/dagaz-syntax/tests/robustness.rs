//! No text makes the parser panic, hang, overflow the stack or use memory without bounds.

use dagaz_syntax::{FileId, parse_expression, parse_program, parse_type_expression};

/// A program that uses every construct.
const PROGRAM: &str = r#"
-- | A file.
import "lib/a"
module type shape = { type t 'a val + [n] : [n]t i32 -> t f32 module m: { include s with t = i32 } }
module circle (p: shape) : shape with t = i32 = { open p local def x : i32 = 1i32 } : shape
#[noinline]
entry main [n] 't (xs: *[n]t) ({a, 0 = b}: {a: i32, 0: (f32, bool)}) : ?[m].[m]t =
  let [k] (ys: [k]t) = xs[1:n:2] with [0] = -1.5e3f32
  let f 'u (x: u) : #none | #some u = #some x in
  loop (i, acc) = (0x1F, "a\n'") for j < n do
    if i == 'c' && !(acc `m.op` j |> (+ 1) <| (.f[0].g)) then (i, p.(acc)) else
    match (i, \x (_, y) : i32 -> x m.+ y)
    case (-1, #some {a}) -> assert (1..3...n : []i64) (i, ???)
    case #[attr(1)] _ -> let acc.b[0] = 1 in ((-), (`f`))
type~ t [n] = (x: i32) -> [n + 1]t [] i32
"#;

fn read(text: &str) {
    let (program, diagnostics) = parse_program(FileId(0), text);
    assert!(diagnostics.len() <= 100);
    for diagnostic in &diagnostics {
        let span = diagnostic.span();
        assert!(
            text.get(span.start as usize..span.end as usize).is_some(),
            "a span cuts a character: {text:?}"
        );
    }
    // Writing the tree out visits all of it.
    dagaz_syntax::dump::dump_program(&program);
}

#[test]
fn the_whole_program_is_right() {
    let (_, diagnostics) = parse_program(FileId(0), PROGRAM);
    assert_eq!(diagnostics, []);
}

#[test]
fn prefixes_and_suffixes() {
    for (index, _) in PROGRAM.char_indices() {
        read(&PROGRAM[..index]);
        read(&PROGRAM[index..]);
    }
}

/// The program cut where words, symbols and white space meet.
fn pieces() -> Vec<&'static str> {
    let class = |c: char| {
        if c.is_alphanumeric() {
            0
        } else if c.is_whitespace() {
            1
        } else {
            c as u32
        }
    };
    let mut pieces = Vec::new();
    let mut start = 0;
    for (index, c) in PROGRAM.char_indices().skip(1) {
        if class(c) != PROGRAM[..index].chars().next_back().map_or(0, class) {
            pieces.push(&PROGRAM[start..index]);
            start = index;
        }
    }
    pieces.push(&PROGRAM[start..]);
    pieces
}

#[test]
fn deletions_duplications_and_exchanges() {
    let pieces = pieces();
    for index in 0..pieces.len() {
        let (before, after) = (pieces[..index].concat(), pieces[index + 1..].concat());
        read(&format!("{before}{after}"));
        read(&format!("{before}{0}{0}{after}", pieces[index]));
        for other in
            ["(", "]", "}", "def", "let", "=", "\"", "'", "\u{0}", "ø", "\n", "--", "0x", "`", "with"]
        {
            read(&format!("{before}{other}{after}"));
        }
    }
}

#[test]
fn random_token_soup() {
    let pieces = pieces();
    let mut state: u64 = 1;
    for _ in 0..300 {
        let mut text = String::new();
        for _ in 0..200 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
        }
        read(&text);
        parse_expression(FileId(0), &text);
        parse_type_expression(FileId(0), &text);
    }
}

#[test]
fn long_chains_are_read() {
    let chain = |part: &str, end: &str| format!("def f = {}{end}", part.repeat(20_000));
    let texts = [
        chain("let x = 1\n  ", "in x"),
        chain("let x = 1 in ", "x"),
        chain("1 + ", "1"),
        chain("f <| ", "1"),
        chain("- ", "1"),
        chain("if a then b else ", "c"),
        chain("\\x -> ", "x"),
        chain("x ", "x"),
        chain("#[a] ", "x"),
        format!("def f = x{}", "[0]".repeat(20_000)),
        format!("def f = x{}", " with [0] = 1".repeat(20_000)),
        format!("def f : {}i32 = 1", "i32 -> ".repeat(20_000)),
        format!("def f : {}i32 = 1", "[n]".repeat(20_000)),
    ];
    for text in texts {
        let (_, diagnostics) = parse_program(FileId(0), &text);
        assert_eq!(diagnostics, [], "{}", &text[..20]);
    }
}

#[test]
fn excessive_nesting_is_refused() {
    let openings = [
        "(",
        "[",
        "{a = ",
        "(+ ",
        "a[",
        "a[0:",
        "m.(",
        "let x = ",
        "let x = (1 + f (",
        "f \\x -> 1 + ",
        "match ",
        "match x case _ -> ",
        "loop x = ",
        "if ",
        "x : (",
        "x : [",
        "x : {a: ",
        "x : ?[n].",
        "x : #a [n]",
        "\\(",
        "\\{a = ",
        "1 + 1 + let x = ",
        "a with [a",
        "assert (",
        "#[a(",
    ];
    let declarations =
        ["module m = {", "module m = (", "module type m = {", "local ", "#[a] ", "module m = \\(a: b) -> "];
    let times = 100_000;
    let mut texts: Vec<String> =
        openings.iter().map(|part| format!("def f = {}", part.repeat(times))).collect();
    texts.extend(openings.iter().map(|part| part.repeat(times)));
    texts.extend(declarations.iter().map(|part| part.repeat(times)));
    texts.push(format!("def f = {}1{}", "(".repeat(times), ")".repeat(times)));
    texts.push(format!("def f = {} {} 1", "let x = 1 in ".repeat(times / 5), "1 + ".repeat(times / 5)));
    let parse_all = move || {
        for text in texts {
            let (_, diagnostics) = parse_program(FileId(0), &text);
            assert!(!diagnostics.is_empty(), "{}", &text[..20]);
        }
    };
    // As much as the parser says it needs.
    let thread = std::thread::Builder::new().stack_size(4 << 20).spawn(parse_all);
    thread.expect("a thread").join().expect("an error for every text");
}
