//! The random programs.

use super::dice::Dice;

/// The types that a number may have.
const TYPES: [&str; 3] = ["idx [n]", "idx [m]", "i64"];

struct Maker {
    dice: Dice,
    /// Names of numbers in scope.
    numbers: Vec<String>,
    fresh: usize,
}

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let numbers = ["i", "j", "k"].map(str::to_owned).to_vec();
    let mut maker = Maker { dice: Dice::new(seed), numbers, fresh: 0 };
    let body = maker.reads(3);
    format!(
        "entry main [n] [m] (x: [n]f64) (y: [m]f64) (i: idx [n]) (j: idx [m]) (k: i64) (is: [](idx [n])) (ks: []i64) (c: bool) : f64 =\n  {body}\n"
    )
}

impl Maker {
    fn name(&mut self) -> String {
        self.fresh += 1;
        format!("v{}", self.fresh)
    }

    fn ty(&mut self) -> &'static str {
        self.dice.one_of(&TYPES)
    }

    /// Something that is made with one more number in scope.
    fn with(&mut self, name: &str, make: impl FnOnce(&mut Self) -> String) -> String {
        self.numbers.push(name.to_owned());
        let made = make(self);
        self.numbers.pop();
        made
    }

    /// A number that comes of reading arrays.
    fn reads(&mut self, depth: usize) -> String {
        let array = self.dice.one_of(&["x", "y", "x"]).to_owned();
        match self.dice.below(7) {
            0 => format!("{} + {}", self.read(depth), self.read(depth)),
            1 => {
                let p = self.name();
                format!("f64.sum (map (\\{p} -> {array}[{p}]) {})", self.numbers(depth))
            }
            2 => {
                let (p, ty) = (self.name(), self.ty());
                format!("f64.sum (map (\\({p}: {ty}) -> {array}[{p}]) {})", self.numbers(depth))
            }
            3 => {
                let (p, all) = (self.name(), self.numbers(depth));
                let value = self.with(&p, |s| s.read(depth - 1));
                format!("(loop s = 0 for {p} in {all} do s + {value})")
            }
            4 => {
                let index = self.number(depth);
                format!("f64.sum ((copy {array}) with [{index}] = 7)")
            }
            5 => {
                let index = self.number(depth);
                format!(
                    "f64.sum ((yield_accum (\\h -> h[{index}] += 1) : [{}]f64))",
                    self.dice.one_of(&["n", "m"])
                )
            }
            _ => self.read(depth),
        }
    }

    fn read(&mut self, depth: usize) -> String {
        let array = self.dice.one_of(&["x", "y", "x"]).to_owned();
        let index = self.number(depth);
        format!("{array}[{index}]")
    }

    /// An expression whose value is a number, perhaps an index.
    fn number(&mut self, depth: usize) -> String {
        if depth == 0 || self.dice.once_in(6) {
            return self.leaf();
        }
        let d = depth - 1;
        match self.dice.below(24) {
            0 => format!("({} {})", self.function(d), self.number(d)),
            1 => format!("({} |> {})", self.number(d), self.function(d)),
            2 => format!("(if c then {} else {})", self.number(d), self.number(d)),
            3 => format!("(({})[0])", self.numbers(d)),
            4 => format!("(head ({}))", self.numbers(d)),
            5 => format!("({} : {})", self.number(d), self.ty()),
            6 => format!("({} :> {})", self.number(d), self.ty()),
            7 => format!("({} + {})", self.number(d), self.number(d)),
            8 => format!("{{a = {}, b = k}}.a", self.number(d)),
            9 => format!("({}, {}).1", self.number(d), self.number(d)),
            10 => {
                let (p, value) = (self.name(), self.number(d));
                format!("(let {p} = {value} in {})", self.with(&p, |s| s.number(d)))
            }
            11 => {
                let (p, ty, value) = (self.name(), self.ty(), self.number(d));
                format!("(let {p} : {ty} = {value} in {})", self.with(&p, |s| s.number(d)))
            }
            12 => {
                let (p, value) = (self.name(), self.number(d));
                format!("(loop {p} = {value} for _q < 2 do {})", self.with(&p, |s| s.number(d)))
            }
            13 => {
                let (p, ty, value) = (self.name(), self.ty(), self.number(d));
                format!("(loop ({p}: {ty}) = {value} for _q < 2 do {})", self.with(&p, |s| s.number(d)))
            }
            14 => format!("(yield_state {} (\\s -> s := {}))", self.number(d), self.number(d)),
            15 => format!("(yield_state {} (\\s -> (s := {}; s := get s)))", self.number(d), self.number(d)),
            16 => format!(
                "(match (if c then #one ({}) else #none) case #one v -> v case #none -> {})",
                self.number(d),
                self.number(d)
            ),
            17 => {
                format!("(reduce (\\a b -> if c then a else b) ({}) ({}))", self.number(d), self.numbers(d))
            }
            18 => format!("(jvp ({}) {} {})", self.function(d), self.number(d), self.number(d)),
            19 => format!("(yield_accum (\\h -> h += {}))", self.number(d)),
            20 => format!("({{a = {}}} with a = {}).a", self.number(d), self.number(d)),
            21 => {
                let (f, function) = (self.name(), self.function(d));
                format!("(let {f} = {function} in {f} ({f} {}))", self.number(d))
            }
            22 => {
                let (p, ty) = (self.name(), self.ty());
                let body = self.with(&p, |s| s.number(d));
                format!("(let f ({p}: {ty}) = {body} in f {})", self.number(d))
            }
            _ => format!("((copy ({})) with [0] = {})[0]", self.numbers(d), self.number(d)),
        }
    }

    fn leaf(&mut self) -> String {
        match self.dice.below(8) {
            0 => "(head is)".to_owned(),
            1 => "ks[0]".to_owned(),
            2 => "(from_ordinal k)".to_owned(),
            3 => "1".to_owned(),
            _ => self.numbers[self.dice.below(self.numbers.len())].clone(),
        }
    }

    /// An array of numbers.
    fn numbers(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self
                .dice
                .one_of(&["is", "ks", "(for q < n -> q)", "(for q -> let _ = y[q] in q)"])
                .to_owned();
        }
        let d = depth - 1;
        match self.dice.below(14) {
            0 => format!("(map {} {})", self.function(d), self.numbers(d)),
            1 => format!("[{}, {}]", self.number(d), self.number(d)),
            2 => format!("(replicate 2 {})", self.number(d)),
            3 => format!("({} :> []({}))", self.numbers(d), self.ty()),
            4 => format!("(filter (\\p -> x[p] > 0) {})", self.numbers(d)),
            5 => format!("(scatter (copy {}) [0] [{}])", self.numbers(d), self.number(d)),
            6 => format!("((copy {}) with [0] = {})", self.numbers(d), self.number(d)),
            7 => format!("({} ++ {})", self.numbers(d), self.numbers(d)),
            8 => format!("(reverse {})", self.numbers(d)),
            9 => format!("(scan (\\a b -> if c then a else b) {} {})", self.number(d), self.numbers(d)),
            10 => format!("(if c then {} else {})", self.numbers(d), self.numbers(d)),
            11 => {
                let p = self.name();
                format!("(for {p} < n -> {})", self.with(&p, |s| s.number(d)))
            }
            12 => format!("((map (\\p -> (p, p)) {}) |> map (.0))", self.numbers(d)),
            _ => self.numbers(0),
        }
    }

    /// A function from numbers to numbers.
    fn function(&mut self, depth: usize) -> String {
        let d = depth.saturating_sub(1);
        match self.dice.below(if depth == 0 { 3 } else { 10 }) {
            0 => "id".to_owned(),
            1 => {
                let p = self.name();
                format!("(\\{p} -> {})", self.with(&p, |s| s.number(d)))
            }
            2 => {
                let (p, ty) = (self.name(), self.ty());
                format!("(\\({p}: {ty}) -> {})", self.with(&p, |s| s.number(d)))
            }
            3 => format!("({} >-> {})", self.function(d), self.function(d)),
            4 => format!("(if c then {} else {})", self.function(d), self.function(d)),
            5 => format!("([{}, {}][1])", self.function(d), self.function(d)),
            6 => format!("({} : {} -> {})", self.function(d), self.ty(), self.ty()),
            7 => format!("({} :> ({} -> {}))", self.function(d), self.ty(), self.ty()),
            8 => format!("{{f = {}}}.f", self.function(d)),
            _ => format!("((for q < 2 -> {})[1])", self.function(d)),
        }
    }
}
