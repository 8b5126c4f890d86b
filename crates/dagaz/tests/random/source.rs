//! Random well-typed programs in the source language: definitions of `f`, from `[4]f64` to an array of `f64`.
//!
//! Every construct that has a derivative appears, in every other. Results are kept small by bounded functions around
//! products, so that a program is smooth almost everywhere and differences say something. Constants in conditions
//! have four digits, so that hardly any point is at a kink.

use super::dice::Dice;
use super::tree::{Node, Ty};

mod folds;
mod loops;
mod matrices;
mod numbers;
mod vectors;

/// What programs may use: operators that are associative, with their neutral elements.
const OPERATORS: &str = "\
type m2 = (f64, f64, f64, f64)
def mul2 (a: m2) (b: m2) : m2 =
  (a.0 * b.0 + a.1 * b.2, a.0 * b.1 + a.1 * b.3, a.2 * b.0 + a.3 * b.2, a.2 * b.1 + a.3 * b.3)
def either (a: f64) (b: f64) : f64 = a + b - a * b
def affine (a: (f64, f64)) (b: (f64, f64)) : (f64, f64) = (a.0 * b.0, a.1 * b.0 + b.1)
def steepest (a: (f64, f64)) (b: (f64, f64)) : (f64, f64) = if a.0 < b.0 then b else a
";

/// A program as a tree; see [`program_text`].
pub fn program(seed: u64) -> Node {
    let mut dice = Dice::new(seed);
    let left = 6 + dice.below(18);
    let mut made = Generator { dice, left, forms: 1, names: 0, scope: vec![("x".to_owned(), Ty::Vector(4))] };
    made.definition()
}

/// The definition of `f` that a tree stands for.
pub fn program_text(tree: &Node) -> String {
    format!("{OPERATORS}def f (x: [4]f64) : {} =\n  {tree}\n", tree.ty)
}

struct Generator {
    dice: Dice,
    /// How many more expressions with parts there may be.
    left: usize,
    /// How many more derivatives there may be in the program itself.
    forms: usize,
    names: usize,
    scope: Vec<(String, Ty)>,
}

impl Generator {
    fn definition(&mut self) -> Node {
        let count = 1 + self.dice.below(3);
        let (mut text, mut parts, mut results) = (String::new(), Vec::new(), Vec::new());
        let mut size = 0;
        for _ in 0..count {
            let ty = self.any_type();
            let part = self.exp(ty, 4);
            let name = self.bind("v", ty);
            text += &format!("let {name}: {ty} = @\n  ");
            parts.push(part);
            size += match ty {
                Ty::Vector(n) => n,
                Ty::Matrix(n, m) => n * m,
                Ty::Number | Ty::Index(_) | Ty::Indices(_) | Ty::Truth => 1,
            };
            results.push(match ty {
                Ty::Vector(_) => name,
                Ty::Matrix(..) => format!("flatten {name}"),
                Ty::Number | Ty::Index(_) | Ty::Indices(_) | Ty::Truth => format!("[{name}]"),
            });
        }
        Node::new(Ty::Vector(size), format!("{text}in sized {size} ({})", results.join(" ++ ")), parts)
    }

    fn any_type(&mut self) -> Ty {
        match self.dice.below(6) {
            0 | 1 => Ty::Number,
            2..=4 => Ty::Vector(self.size()),
            _ => Ty::Matrix(self.size(), self.size()),
        }
    }

    fn size(&mut self) -> usize {
        [1, 2, 2, 3, 3, 4][self.dice.below(6)]
    }

    fn fresh(&mut self, hint: &str) -> String {
        self.names += 1;
        format!("{hint}{}", self.names)
    }

    /// A new variable that what follows may use.
    fn bind(&mut self, hint: &str, ty: Ty) -> String {
        let name = self.fresh(hint);
        self.scope.push((name.clone(), ty));
        name
    }

    /// An expression with variables of its own.
    fn under(&mut self, names: &[(&str, Ty)], ty: Ty, depth: usize) -> Node {
        let outside = self.scope.len();
        self.scope.extend(names.iter().map(|(name, ty)| ((*name).to_owned(), *ty)));
        let body = self.exp(ty, depth);
        self.scope.truncate(outside);
        body
    }

    fn exp(&mut self, ty: Ty, depth: usize) -> Node {
        if depth == 0 || self.left == 0 || ty == Ty::Vector(0) {
            return self.leaf(ty);
        }
        self.left -= 1;
        if self.dice.once_in(8) {
            return self.general(ty, depth - 1);
        }
        match ty {
            Ty::Number => self.number(depth - 1),
            Ty::Vector(n) => self.vector(n, depth - 1),
            Ty::Matrix(n, m) => self.matrix(n, m, depth - 1),
            Ty::Index(n) => self.index(n, depth - 1),
            Ty::Truth => self.condition(depth - 1),
            Ty::Indices(_) => self.leaf(ty),
        }
    }

    /// Constructs of any type: branches, bindings, functions, tuples, derivatives.
    fn general(&mut self, ty: Ty, depth: usize) -> Node {
        let other = self.any_type();
        match self.dice.below(6) {
            0 | 1 => {
                let (condition, then) = (self.condition(depth), self.exp(ty, depth));
                Node::new(ty, "if @ then @ else @", vec![condition, then, self.exp(ty, depth)])
            }
            2 => {
                let name = self.fresh("a");
                let value = self.exp(other, depth);
                let body = self.under(&[(&name, other)], ty, depth);
                Node::new(ty, format!("let {name}: {other} = @ in @"), vec![value, body])
            }
            3 => {
                let (function, param) = (self.fresh("g"), self.fresh("p"));
                let body = self.under(&[(&param, other)], ty, depth);
                let arg = self.exp(other, depth);
                let text = format!("let {function} ({param}: {other}) : {ty} = @ in {function} @");
                Node::new(ty, text, vec![body, arg])
            }
            4 => {
                let (a, b) = (self.fresh("a"), self.fresh("b"));
                let first = self.exp(other, depth);
                let second = self.exp(Ty::Number, depth);
                let body = self.under(&[(&a, other), (&b, Ty::Number)], ty, depth);
                let text = match self.dice.below(2) {
                    0 => format!("let ({a}, {b}) = (@, @) in @"),
                    _ => format!("let r = {{left = @, right = @}} let {a} = r.left let {b} = r.right in @"),
                };
                Node::new(ty, text, vec![first, second, body])
            }
            _ => self.derivative(ty, depth),
        }
    }

    /// A derivative inside of the program.
    fn derivative(&mut self, ty: Ty, depth: usize) -> Node {
        if self.forms == 0 {
            return self.exp(ty, depth);
        }
        self.forms -= 1;
        let other = self.any_type();
        let param = self.fresh("p");
        let (text, parts) = match self.dice.below(4) {
            0 => {
                let body = self.under(&[(&param, other)], ty, depth);
                let parts = vec![body, self.exp(other, depth), self.exp(other, depth)];
                (format!("jvp (\\({param}: {other}) -> @) @ @"), parts)
            }
            1 => {
                let body = self.under(&[(&param, ty)], other, depth);
                let parts = vec![body, self.exp(ty, depth), self.exp(other, depth)];
                (format!("vjp (\\({param}: {ty}) -> @) @ @"), parts)
            }
            2 => {
                let body = self.under(&[(&param, other)], ty, depth);
                let parts = vec![body, self.exp(other, depth), self.exp(other, depth)];
                (format!("(linearize (\\({param}: {other}) -> @) @).1 @"), parts)
            }
            _ => {
                let body = self.under(&[(&param, ty)], Ty::Number, depth);
                let parts = vec![body, self.exp(ty, depth)];
                (format!("grad (\\({param}: {ty}) -> @) @"), parts)
            }
        };
        self.bounded(Node::new(ty, text, parts))
    }

    /// Something whose values are not large, made of something whose values may be.
    fn bounded(&mut self, node: Node) -> Node {
        let function = self.dice.one_of(&["f64.sin", "f64.tanh", "f64.atan", "f64.cos", "f64.asinh"]);
        let text = match node.ty {
            Ty::Number => format!("{function} @"),
            Ty::Vector(_) => format!("map {function} @"),
            Ty::Matrix(..) => format!("map (map {function}) @"),
            Ty::Index(_) | Ty::Indices(_) | Ty::Truth => "@".to_owned(),
        };
        Node::new(node.ty, text, vec![node])
    }

    fn constant(&mut self) -> String {
        format!("({:.4})", super::number(&mut self.dice))
    }

    /// A variable of the type, if there is one; those bound last are the most likely.
    fn variable(&mut self, wanted: impl Fn(Ty) -> bool) -> Option<(String, Ty)> {
        let found: Vec<_> = self.scope.iter().filter(|(_, ty)| wanted(*ty)).cloned().collect();
        let last = self.dice.below(found.len()).max(self.dice.below(found.len()));
        found.get(last).cloned()
    }

    fn leaf(&mut self, ty: Ty) -> Node {
        let same = if self.dice.once_in(4) { None } else { self.variable(|found| found == ty) };
        if let Some((name, _)) = same {
            return Node::leaf(ty, name);
        }
        match ty {
            Ty::Number => self.element(),
            Ty::Vector(0) | Ty::Indices(_) | Ty::Truth => Node::leaf(ty, ty.default_text()),
            Ty::Vector(n) => {
                let elements: Vec<Node> = (0..n).map(|_| self.element()).collect();
                Node::new(ty, format!("[{}]", vec!["@"; n].join(", ")), elements)
            }
            Ty::Matrix(n, m) => {
                let row = self.leaf(Ty::Vector(m));
                let factor = self.element();
                Node::new(
                    ty,
                    format!("map (\\s -> map (* s) @) (map (\\i -> @ + f64.i64 i) (iota {n}))"),
                    vec![row, factor],
                )
            }
            Ty::Index(n) => Node::leaf(ty, self.dice.below(n).to_string()),
        }
    }

    /// An element of an array, or a constant.
    fn element(&mut self) -> Node {
        if self.dice.once_in(6) {
            return Node::leaf(Ty::Number, self.constant());
        }
        let array = self.variable(|ty| matches!(ty, Ty::Vector(n) if n > 0) || matches!(ty, Ty::Matrix(..)));
        match array {
            Some((name, Ty::Vector(n))) => {
                let index = self.index(n, 0);
                Node::new(Ty::Number, format!("{name}[@]"), vec![index])
            }
            Some((name, Ty::Matrix(n, m))) => {
                let indices = vec![self.index(n, 0), self.index(m, 0)];
                Node::new(Ty::Number, format!("{name}[@, @]"), indices)
            }
            _ => Node::leaf(Ty::Number, self.constant()),
        }
    }

    /// An index below `n`: constant, from a loop or map, or computed.
    fn index(&mut self, n: usize, depth: usize) -> Node {
        let ty = Ty::Index(n);
        let known = self.variable(|ty| matches!(ty, Ty::Index(_)));
        if depth > 0 && self.dice.once_in(5) {
            let number = self.exp(Ty::Number, depth - 1);
            return Node::new(ty, format!("i64.f64 (f64.abs (7.3 * @)) % {n}"), vec![number]);
        }
        match known {
            Some((name, Ty::Index(bound))) if !self.dice.once_in(4) => match self.dice.below(4) {
                0 => Node::leaf(
                    ty,
                    format!("({name} * {} + {}) % {n}", 1 + self.dice.below(3), self.dice.below(n)),
                ),
                1 => Node::leaf(ty, format!("{} - {name} % {n}", n - 1)),
                _ if bound <= n => Node::leaf(ty, name),
                _ => Node::leaf(ty, format!("{name} % {n}")),
            },
            _ => Node::leaf(ty, self.dice.below(n).to_string()),
        }
    }

    /// A condition that is not about to change.
    fn condition(&mut self, depth: usize) -> Node {
        let ty = Ty::Truth;
        let index = self.variable(|ty| matches!(ty, Ty::Index(_)));
        match (self.dice.below(4), index) {
            (0 | 1, Some((name, _))) => Node::leaf(ty, format!("{name} % 2 == {}", self.dice.below(2))),
            (0, _) => {
                let sides = vec![self.exp(Ty::Number, depth.min(1)), self.exp(Ty::Number, depth.min(1))];
                Node::new(ty, "@ + 0.0137 < @", sides)
            }
            (_, _) => {
                let text = format!("@ {} {}", self.dice.one_of(&["<", ">", "<="]), self.constant());
                Node::new(ty, text, vec![self.exp(Ty::Number, depth.min(2))])
            }
        }
    }
}
