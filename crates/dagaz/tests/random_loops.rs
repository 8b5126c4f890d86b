//! Random programs of loops, branches and updates in place: the reverse derivative is the transpose of the forward one,
//! and second derivatives agree in every order of nesting. The programs are the same in every run.

use dagaz::compile::compile_source;
use dagaz_core::formats::text;
use dagaz_core::value::Value;

const PROGRAMS: u64 = 24;

/// How far each law is from being kept.
const LAWS: &str = "
def dot (a: [4]f64) (b: [4]f64) = f64.sum (map2 (*) a b)
def apart (a: [4]f64) (b: [4]f64) = f64.maximum (map2 (\\p q -> f64.abs (p - q) / (1 + f64.abs p)) a b)
entry laws (x: [4]f64) (v: [4]f64) (w: [4]f64) =
  let second = jvp (\\x -> vjp f x w) x v
  in [f64.abs (dot w (jvp f x v) - dot v (vjp f x w)),
      apart second (vjp (\\x -> jvp f x v) x w),
      apart second (vjp (\\x -> vjp f x w) x v)]
";

/// Writes a program; numbers come from a linear congruence.
struct Writer {
    state: u64,
    names: u32,
    lines: Vec<String>,
}

impl Writer {
    fn below(&mut self, n: u64) -> u64 {
        self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.state >> 33) % n
    }

    fn pick(&mut self, items: &[String]) -> String {
        let i = self.below(items.len() as u64) as usize;
        items[i].clone()
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn line(&mut self, indent: usize, text: &str) {
        self.lines.push(format!("{}{text}", "  ".repeat(indent)));
    }

    fn index(&mut self, counters: &[String]) -> String {
        let offset = self.below(4);
        if self.below(3) == 0 {
            offset.to_string()
        } else {
            format!("(({} + {offset}) % 4)", self.pick(counters))
        }
    }

    fn operand(&mut self, counters: &[String], numbers: &[String]) -> String {
        match self.below(6) {
            0 | 1 if !numbers.is_empty() => self.pick(numbers),
            2 => format!("x[{}]", self.index(counters)),
            _ => format!("y[{}]", self.index(counters)),
        }
    }

    fn number(&mut self, counters: &[String], numbers: &[String]) -> String {
        let (a, b) = (self.operand(counters, numbers), self.operand(counters, numbers));
        match self.below(4) {
            0 => format!("f64.sin ({a} * {b})"),
            1 => format!("{a} + 0.3 * {b}"),
            2 => format!("{a} * f64.cos ({b})"),
            _ => format!("f64.tanh ({a}) * {b}"),
        }
    }

    /// Statements that end in a new state of the array `y`.
    fn block(&mut self, depth: u32, counters: &[String], numbers: &[String], indent: usize) {
        let mut numbers = numbers.to_vec();
        for _ in 0..=self.below(3) {
            let kind = if depth == 0 { self.below(5) } else { self.below(9) };
            match kind {
                0..=2 => {
                    let (value, at, name) =
                        (self.number(counters, &numbers), self.index(counters), self.fresh("v"));
                    self.line(indent, &format!("let {name} = {value}"));
                    self.line(indent, &format!("let y = y with [{at}] = {name}"));
                }
                3 => {
                    let (value, name) = (self.number(counters, &numbers), self.fresh("s"));
                    self.line(indent, &format!("let {name} = {value}"));
                    numbers.push(name);
                }
                4 => {
                    let (a, b) = (self.number(counters, &numbers), self.number(counters, &numbers));
                    let (i, j) = (self.index(counters), self.index(counters));
                    self.line(indent, &format!("let values = [{a}, {b}]"));
                    self.line(indent, &format!("let y = scatter y [{i}, {j} - 1] values"));
                }
                5 | 6 => {
                    let (at, name) = (self.index(counters), self.fresh("c"));
                    self.line(indent, &format!("let {name} = y[{at}]"));
                    self.line(indent, &format!("let y = if {name} > 0.2 then"));
                    self.nested(depth, counters, &numbers, indent);
                    self.line(indent + 1, "else");
                    self.nested(depth, counters, &numbers, indent);
                }
                7 => {
                    let (counter, bound) = (self.fresh("i"), self.pick(counters));
                    let bound = if self.below(2) == 0 { "3".to_owned() } else { bound };
                    self.line(indent, &format!("let y = loop y for {counter} < {bound} do"));
                    self.nested(depth, &[counters, &[counter]].concat(), &numbers, indent);
                }
                _ => {
                    let counter = self.fresh("i");
                    let head = format!("let (y, _) = loop (y, {counter}) = (y, 0i64)");
                    self.line(indent, &format!("{head} while {counter} < 2 && y[{counter}] < 2 do"));
                    self.block(
                        depth - 1,
                        &[counters, std::slice::from_ref(&counter)].concat(),
                        &numbers,
                        indent + 1,
                    );
                    self.line(indent + 1, &format!("in (y, {counter} + 1)"));
                }
            }
        }
    }

    fn nested(&mut self, depth: u32, counters: &[String], numbers: &[String], indent: usize) {
        self.block(depth - 1, counters, numbers, indent + 1);
        self.line(indent + 1, "in y");
    }
}

fn program(seed: u64) -> String {
    let mut writer = Writer { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), names: 0, lines: Vec::new() };
    let split = if writer.below(4) == 0 { "#[stripmine(1)] " } else { "" };
    let turns = 1 + writer.below(4);
    writer.line(0, &format!("def f (x: [4]f64) : [4]f64 = {split}loop y = copy x for i < {turns} do"));
    writer.block(3, &["i".to_owned()], &[], 1);
    writer.line(1, "in y");
    writer.lines.join("\n")
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(array) => array.prims().filter_map(|p| p.as_f64()).collect(),
        Value::Prim(prim) => prim.as_f64().into_iter().collect(),
    }
}

#[test]
fn laws_of_random_loops() {
    let inputs = "[0.7f64, -0.6f64, 0.3f64, 0.9f64] [0.5f64, 0.25f64, -1.0f64, 0.75f64] [0.4f64, 0.7f64, -1.0f64, 1.3f64]";
    for seed in 1..=PROGRAMS {
        let program = program(seed);
        let compiled = compile_source("random.fut", &format!("{program}\n{LAWS}"));
        let compiled = compiled.unwrap_or_else(|failure| panic!("{failure}\n{program}"));
        let args = text::read_values(inputs.as_bytes()).expect("values");
        let results = compiled.session().call("laws", args);
        let results = results.unwrap_or_else(|error| panic!("{error}\n{program}"));
        let apart = numbers(&results[0]);
        assert!(apart.len() == 3 && apart.iter().all(|d| *d < 1e-8), "{apart:?}\n{program}");
    }
}
