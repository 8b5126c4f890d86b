//! Values of all types are literals of the language: what is printed is read back.

use std::fmt::Write;

use dagaz::data::read_arguments;
use dagaz::session::show_results;
use dagaz::{Compiled, compile_source};
use expect_test::{Expect, expect};

#[path = "random/dice.rs"]
mod dice;
use dice::Dice;

/// A program whose entry point gives back what it takes.
fn identity(types: &str, ty: &str) -> Compiled {
    let text = format!("{types}\nentry main (x: {ty}) : {ty} = copy x\n");
    compile_source("identity.fut", &text).unwrap_or_else(|failure| panic!("{}\n{text}", failure.summary()))
}

/// Arguments as text, and what comes back or the error.
fn through(program: &Compiled, input: &str) -> Result<String, String> {
    let entry = program.entry("main").expect("an entry point");
    let args = read_arguments(program.core(), entry, input.as_bytes())?;
    let results = program.session().call("main", args).map_err(|error| error.to_string())?;
    Ok(show_results(entry, &results).join("\n"))
}

/// What becomes of values of a type. All that is printed is printed again in the same way.
fn check(types: &str, ty: &str, inputs: &[&str], expected: Expect) {
    let program = identity(types, ty);
    let mut shown = String::new();
    for input in inputs {
        let text = match through(&program, input) {
            Ok(text) => {
                assert_eq!(through(&program, &text), Ok(text.clone()), "again, {input}");
                text
            }
            Err(error) => format!("error: {error}"),
        };
        writeln!(shown, "{text}").expect("writes");
    }
    expected.assert_eq(&shown);
}

#[test]
fn tuples_and_records() {
    check(
        "",
        "{point: (f64, f64), name: []u8}",
        &[
            "{point = (1, -2.5), name = \"ab\"}",
            "{name = \"a }\\\" b\", point = (nan, -inf)}",
            // The parts one after the other, in the order of the fields.
            "[1, 2] 3 4",
            "\"\" (3, 4)",
            "{point = (1, 2)}",
            "{point = (1, 2), point = (1, 2)}",
            "{pint = (1, 2)}",
            "{point = (1, 2, 3), name = \"\"}",
        ],
        expect![[r#"
            {name = [97u8, 98u8], point = (1.0f64, -2.5f64)}
            {name = [97u8, 32u8, 125u8, 34u8, 32u8, 98u8], point = (f64.nan, -f64.inf)}
            {name = [1u8, 2u8], point = (3.0f64, 4.0f64)}
            {name = empty([0]u8), point = (3.0f64, 4.0f64)}
            error: field 'name' is missing (at byte 16)
            error: there is another field 'point' (at byte 16)
            error: there is no field 'pint' (at byte 1)
            error: ')' is expected (at byte 14)
        "#]],
    );
}

#[test]
fn sums() {
    check(
        "type shape = #circle f32 | #box {width: f32, height: f32} | #none | #many ([3]i32) (#yes | #no i8)",
        "shape",
        &[
            "#circle 2.5",
            "#circle (-2.5)",
            "#box {width = 1, height = 2}",
            "#none",
            "#many [1, 2, 3] #yes",
            "#many [1, 2, 3] (#no (-1))",
            "#many [1, 2] #yes",
            "#square 2",
        ],
        expect![[r#"
            #circle 2.5f32
            #circle (-2.5f32)
            #box {height = 2.0f32, width = 1.0f32}
            #none
            #many [1i32, 2i32, 3i32] #yes
            #many [1i32, 2i32, 3i32] (#no (-1i8))
            error: argument 'x' has type [2]i32, but dimension 0 must have size 3
            error: there is no constructor #square; there are: #box, #circle, #many, #none (at byte 1)
        "#]],
    );
}

#[test]
fn arrays_of_them() {
    check(
        "",
        "[](i32, [](#a | #b bool))",
        &[
            "[(1, [#a, #b true]), (2, [#b false, #a])]",
            "[]",
            "[(1, []), (2, [])]",
            "empty([0](i32, [3](#a | #b bool)))",
            "[(1, empty([0](#a | #b bool)))]",
            "[(1, [#a]), (2, [#a, #a])]",
            // The parts: numbers, numbers of constructors, what the second holds.
            "[1, 2] [[0], [1]] [[true], [true]]",
            "[1, 2] [[0], [2]] [[true], [true]]",
            "empty([1](i32, [3](#a | #b bool)))",
            "empty([0](i64, [3](#a | #b bool)))",
        ],
        expect![[r#"
            [(1i32, [#a, #b true]), (2i32, [#b false, #a])]
            empty([0](i32, [0](#a | #b bool)))
            [(1i32, empty([0](#a | #b bool))), (2i32, empty([0](#a | #b bool)))]
            empty([0](i32, [3](#a | #b bool)))
            [(1i32, empty([0](#a | #b bool)))]
            error: rows of shapes [1] and [2] (at byte 0)
            [(1i32, [#a]), (2i32, [#b true])]
            error: 2i8 is not the number of one of 2 constructors
            error: an empty array has a dimension of size 0 (at byte 0)
            error: type i32 is expected, not i64 (at byte 10)
        "#]],
    );
}

#[test]
fn sizes_that_are_not_written() {
    let source = "entry main [n] (x: #none | #some ([n]f64)) (ys: [n]f64) : f64 =\n\
                  match x case #none -> f64.sum ys case #some xs -> f64.sum (map2 (*) xs ys)";
    let program = compile_source("sizes.fut", source).expect("a program");
    for (input, expected) in [
        ("#none [1, 2, 3]", Ok("6.0f64")),
        ("#some [1, 2, 3] [1, 2, 3]", Ok("14.0f64")),
        ("#none []", Ok("0.0f64")),
    ] {
        assert_eq!(
            through(&program, input),
            expected.map(str::to_owned).map_err(|error: &str| error.to_owned())
        );
    }
    assert!(through(&program, "#some [1, 2] [1, 2, 3]").is_err());
}

#[test]
fn abstract_types_stay_closed() {
    let source = "module m : { type t val make : i32 -> t } = { type t = (i32, bool) def make x = (x, true) }\n\
                  entry main (x: i32) : (m.t, i32) = (m.make x, x)";
    let program = compile_source("abstract.fut", source).expect("a program");
    assert_eq!(through(&program, "3"), Ok("#<m.t>\n3i32".to_owned()));
}

/// Types and values of them, with sizes that are the same in all elements of an array.
struct Values {
    dice: Dice,
}

enum Ty {
    Scalar(&'static str),
    Array(usize, Box<Ty>),
    Tuple(Vec<Ty>),
    Record(Vec<Ty>),
    Sum(Vec<Vec<Ty>>),
}

const SCALARS: [&str; 12] =
    ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "bool"];

impl Values {
    fn ty(&mut self, depth: usize) -> Ty {
        let few = |v: &mut Values, least: usize| {
            let count = least + v.dice.below(3);
            (0..count).map(|_| v.ty(depth - 1)).collect::<Vec<Ty>>()
        };
        match self.dice.below(if depth == 0 { 1 } else { 6 }) {
            0 => Ty::Scalar(self.dice.one_of(&SCALARS)),
            1 | 2 => Ty::Array(self.dice.below(4), Box::new(self.ty(depth - 1))),
            3 => Ty::Tuple(few(self, 2)),
            4 => Ty::Record(few(self, 1)),
            _ => {
                let count = 1 + self.dice.below(3);
                Ty::Sum((0..count).map(|_| few(self, 0)).collect())
            }
        }
    }

    fn value(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Scalar("bool") => self.dice.once_in(2).to_string(),
            Ty::Scalar(ty) if ty.starts_with('f') => match self.dice.below(5) {
                0 => format!("{ty}.nan"),
                1 => format!("-{ty}.inf"),
                // These look the same in all types.
                _ => format!("{:.2}", self.dice.below(80) as f64 / 2.0 - 20.0),
            },
            Ty::Scalar(ty) if ty.starts_with('i') => (self.dice.below(250) as i64 - 125).to_string(),
            Ty::Scalar(_) => self.dice.below(250).to_string(),
            Ty::Array(size, row) => {
                let rows: Vec<String> = (0..*size).map(|_| self.value(row)).collect();
                format!("[{}]", rows.join(", "))
            }
            Ty::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.value(part)).collect();
                format!("({})", parts.join(", "))
            }
            Ty::Record(parts) => {
                let parts: Vec<String> = parts
                    .iter()
                    .enumerate()
                    .map(|(i, part)| format!("f{i} = {}", self.value(part)))
                    .collect();
                format!("{{{}}}", parts.join(", "))
            }
            Ty::Sum(constrs) => {
                let chosen = self.dice.below(constrs.len());
                let payload: Vec<String> =
                    constrs[chosen].iter().map(|part| format!(" {}", self.argument(part))).collect();
                format!("#c{chosen}{}", payload.concat())
            }
        }
    }

    /// A value behind a constructor.
    fn argument(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Sum(_) | Ty::Scalar(_) => format!("({})", self.value(ty)),
            Ty::Array(..) | Ty::Tuple(_) | Ty::Record(_) => self.value(ty),
        }
    }
}

impl std::fmt::Display for Ty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let joined = |parts: &[Ty], between: &str| {
            parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
        };
        match self {
            Ty::Scalar(name) => write!(f, "{name}"),
            Ty::Array(size, row) => write!(f, "[{size}]{row}"),
            Ty::Tuple(parts) => write!(f, "({})", joined(parts, ", ")),
            Ty::Record(parts) => {
                let fields: Vec<String> =
                    parts.iter().enumerate().map(|(i, part)| format!("f{i}: {part}")).collect();
                write!(f, "{{{}}}", fields.join(", "))
            }
            Ty::Sum(constrs) => {
                let constr = |(i, parts): (usize, &Vec<Ty>)| {
                    let parts: Vec<String> = parts.iter().map(|part| format!(" ({part})")).collect();
                    format!("#c{i}{}", parts.concat())
                };
                write!(f, "({})", constrs.iter().enumerate().map(constr).collect::<Vec<_>>().join(" | "))
            }
        }
    }
}

/// Values of random types come back as they were written, up to the way numbers are written.
#[test]
fn random_types_and_values() {
    for seed in 0..120 {
        let mut values = Values { dice: Dice::new(seed) };
        let ty = values.ty(4);
        // A tuple is several results, one per line.
        let ty = Ty::Record(vec![ty]);
        let program = identity("", &ty.to_string());
        for _ in 0..4 {
            let written = values.value(&ty);
            let shown =
                through(&program, &written).unwrap_or_else(|error| panic!("{ty}: {written}: {error}"));
            let again = through(&program, &shown).unwrap_or_else(|error| panic!("{ty}: {shown}: {error}"));
            assert_eq!(shown, again, "{ty}: {written}");
            assert_eq!(plain(&written), plain(&shown), "{ty}: {written}");
        }
    }
}

/// A value without its empty arrays, which may be written in several ways.
fn without_empty(text: &str) -> String {
    let Some((before, after)) = text.split_once("empty(") else { return text.to_owned() };
    let mut depth = 1;
    let end = after.find(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    });
    before.to_owned() + &without_empty(&after[end.map_or(after.len(), |end| end + 1)..])
}

/// The numbers and names of a value, without types, blanks and parentheses.
fn plain(text: &str) -> Vec<String> {
    let text = without_empty(text);
    let parts = text.split(|c: char| c.is_whitespace() || "()[]{},=".contains(c));
    let number = |part: &str| {
        let part = part.trim_start_matches('-');
        let digits = SCALARS.iter().find_map(|ty| part.strip_suffix(ty)).unwrap_or(part);
        let rounded = digits.parse::<f64>().map(|x| format!("{x:.1}"));
        rounded.unwrap_or_else(|_| part.to_owned())
    };
    parts.filter(|part| !part.is_empty()).map(number).collect()
}
