//! Reductions, scans, histograms and scatters.

use super::{Generator, Node, Ty};

/// Reductions of a vector of numbers.
const REDUCTIONS: &[&str] = &[
    "f64.sum @",
    "f64.product @",
    "f64.maximum @",
    "f64.minimum @",
    "reduce either 0 @",
    "reduce (\\a b -> b + a - 0.5 * a * b) 0 @",
    "(reduce affine (1, 0) (map (\\q -> (q, f64.sin q)) @)).1",
    "(reduce mul2 (1, 0, 0, 1) (map (\\q -> (q, 1, f64.sin q, q * q)) @)).2",
    "(reduce steepest (f64.lowest, 0) (map (\\q -> (q, q * q)) @)).1",
    "f64.sum (filter (> 0.1357) @)",
    "f64.sum (take 0 @)",
    "reduce_comm (+) 0.25 @",
    "(\\(a, b, c) -> a * b + c) (reduce (\\(a, b, c) (d, e, f) -> (a + d, f64.max b e, c * f)) (0, f64.lowest, 1) (map (\\q -> (q * q, f64.sin q, q)) @))",
    "foldl (\\a b -> f64.sin (a + b) * b) 0.5 @",
    "let (a, b) = partition (> 0.2468) @ in f64.sum a - f64.product b",
];

const SCANS: &[&str] = &[
    "scan (+) 0 @",
    "scan (*) 1 @",
    "scan f64.max f64.lowest @",
    "scan f64.min f64.highest @",
    "scan either 0 @",
    "map (.1) (scan affine (1, 0) (map (\\q -> (q, f64.sin q)) @))",
    "map (\\q -> q.0 * q.3) (scan mul2 (1, 0, 0, 1) (map (\\q -> (q, 1, f64.sin q, q * q)) @))",
    "map (.1) (scan steepest (f64.lowest, 0) (map (\\q -> (q, q * q)) @))",
    "exscan (+) 0 @",
];

/// Operators of histograms with their neutral elements.
const BINS: &[&str] =
    &["(+) 0", "(*) 1", "f64.max f64.lowest", "f64.min f64.highest", "either 0", "(\\a b -> b * a) 1"];

impl Generator {
    pub fn reduction(&mut self, depth: usize) -> Node {
        let n = self.size();
        let rows = self.exp(Ty::Vector(n), depth);
        let reduced = match self.dice.below(8) {
            0 => {
                let free = self.exp(Ty::Number, depth.min(1));
                let text = "let s = @ in reduce (\\a b -> a + b + s * a * b) 0 @";
                Node::new(Ty::Number, text, vec![free, rows])
            }
            _ => {
                let text = self.dice.one_of(REDUCTIONS);
                Node::new(Ty::Number, text, vec![rows])
            }
        };
        self.bounded(reduced)
    }

    pub fn scan(&mut self, n: usize, depth: usize) -> Node {
        let rows = self.exp(Ty::Vector(n), depth);
        let text = self.dice.one_of(SCANS);
        let scanned = Node::new(Ty::Vector(n), text, vec![rows]);
        self.bounded(scanned)
    }

    /// A histogram with bins that get no values, several, or that do not exist.
    pub fn histogram(&mut self, bins: usize, depth: usize) -> Node {
        let (n, ty) = (self.size() + self.dice.below(3), Ty::Vector(bins));
        let indices = self.bins(n, bins, depth);
        let values = self.exp(Ty::Vector(n), depth);
        let operator = self.dice.one_of(BINS);
        let made = match self.dice.below(5) {
            0 => Node::new(ty, format!("hist (+) 0 {bins} @ @"), vec![indices, values]),
            1 => {
                let dest = self.exp(ty, depth);
                let text = "map (\\q -> q.0 + q.1 * q.2) (reduce_by_index (map (\\q -> (1, q, 0.5)) @) \
                            (\\a b -> (a.0 * b.0, a.1 * b.0 + b.1, a.2 + b.2)) (1, 0, 0) @ \
                            (map (\\q -> (q, f64.sin q, q * q)) @))";
                Node::new(ty, text, vec![dest, indices, values])
            }
            _ => {
                let dest = self.exp(ty, depth);
                Node::new(ty, format!("reduce_by_index (copy @) {operator} @ @"), vec![dest, indices, values])
            }
        };
        self.bounded(made)
    }

    /// `n` indices around the bins, as constants or computed.
    fn bins(&mut self, n: usize, bins: usize, depth: usize) -> Node {
        let ty = Ty::Indices(n);
        if self.dice.once_in(3) {
            let numbers = self.exp(Ty::Vector(n), depth.min(1));
            return Node::new(
                ty,
                format!("map (\\q -> i64.f64 (f64.abs (5.3 * q)) % {}) @", bins + 1),
                vec![numbers],
            );
        }
        let indices: Vec<String> =
            (0..n).map(|_| (self.dice.below(bins + 2) as i64 - 1).to_string()).collect();
        Node::leaf(ty, format!("[{}]", indices.join(", ")))
    }

    /// A scatter to places that are all different, or do not exist.
    pub fn scatter(&mut self, n: usize, depth: usize) -> Node {
        let mut places: Vec<i64> = (0..n as i64).chain([-1, n as i64, n as i64 + 3]).collect();
        let count = 1 + self.dice.below(places.len());
        for i in 0..count {
            let other = i + self.dice.below(places.len() - i);
            places.swap(i, other);
        }
        let shown: Vec<String> = places[..count].iter().map(i64::to_string).collect();
        let ty = Ty::Vector(n);
        let parts = vec![self.exp(ty, depth), self.exp(Ty::Vector(count), depth)];
        Node::new(ty, format!("scatter (copy @) [{}] @", shown.join(", ")), parts)
    }
}
