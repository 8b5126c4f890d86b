//! Expressions that are one number.

use super::{Generator, Node, Ty};

const F: Ty = Ty::Number;

/// Functions of a number that are smooth wherever they are used here.
const FUNCTIONS: &[&str] = &[
    "f64.sin @",
    "f64.cos @",
    "f64.tanh @",
    "f64.atan @",
    "f64.exp (f64.sin @)",
    "f64.sqrt (1.7 + f64.sin @)",
    "f64.log (2.3 + f64.cos @)",
    "f64.cbrt (2.1 + f64.sin @)",
    "f64.log1p (f64.exp (f64.cos @))",
    "f64.erf @",
    "f64.asinh @",
    "f64.sinh (f64.atan @)",
    "f64.asin (0.8 * f64.sin @)",
    "f64.abs (@ - 0.1237)",
    "f64.log2 (3 + f64.tanh @)",
    "f64.sinpi (0.3 * @)",
    "f64.recip (1.5 + f64.cos @)",
    "-@",
    "0.37 * @",
    "(\\z -> z * z / (1 + z * z)) @",
    "f64.f32 (f32.f64 1.5) * @",
    "stop_gradient 0.3 + @",
];

const PAIRS: &[&str] = &[
    "@ + @",
    "@ - @",
    "f64.sin (@ * @)",
    "f64.tanh (@ * @)",
    "@ / (1.5 + f64.sin @)",
    "f64.max @ @",
    "f64.min @ @",
    "f64.atan2 (2.5 + f64.sin @) @",
    "f64.hypot @ (1.1 + f64.cos @)",
    "(1.6 + f64.sin @) ** f64.tanh @",
    "f64.lerp @ @ 0.3",
    "f64.fma 0.7 @ @",
    "(f64.sin @) ** 2 + @",
    "f64.copysign @ (1 + 0.1 * f64.sin @)",
];

impl Generator {
    pub fn number(&mut self, depth: usize) -> Node {
        match self.dice.below(15) {
            0..=2 => {
                let text = self.dice.one_of(FUNCTIONS);
                Node::new(F, text, vec![self.exp(F, depth)])
            }
            3..=5 => {
                let text = self.dice.one_of(PAIRS);
                Node::new(F, text, vec![self.exp(F, depth), self.exp(F, depth)])
            }
            6..=9 => self.reduction(depth),
            10 | 11 => self.number_loop(depth),
            12 => {
                let n = self.size();
                let parts = vec![self.exp(Ty::Vector(n), depth), self.index(n, depth)];
                Node::new(F, "let y = @ in y[@]", parts)
            }
            13 => {
                let (n, m) = (self.size(), self.size());
                let parts =
                    vec![self.exp(Ty::Matrix(n, m), depth), self.index(n, depth), self.index(m, depth)];
                Node::new(F, "let y = @ in y[@, @]", parts)
            }
            _ => {
                let n = self.size();
                let vectors = vec![self.exp(Ty::Vector(n), depth), self.exp(Ty::Vector(n), depth)];
                let product = Node::new(F, "f64.sum (map2 (*) @ @)", vectors);
                self.bounded(product)
            }
        }
    }
}
