//! Expressions that are matrices.

use super::{Generator, Node, Ty};

impl Generator {
    pub fn matrix(&mut self, n: usize, m: usize, depth: usize) -> Node {
        let (ty, row) = (Ty::Matrix(n, m), Ty::Vector(m));
        let (a, b) = (self.fresh("a"), self.fresh("b"));
        match self.dice.below(12) {
            0 | 1 => {
                let body = self.under(&[(&a, Ty::Number)], row, depth);
                Node::new(
                    ty,
                    format!("map (\\({a}: f64) -> @) @"),
                    vec![body, self.exp(Ty::Vector(n), depth)],
                )
            }
            2 => {
                let body = self.under(&[(&a, row)], row, depth);
                Node::new(ty, format!("map (\\({a}: {row}) -> @) @"), vec![body, self.exp(ty, depth)])
            }
            3 | 4 => {
                let body = self.under(&[(&a, Ty::Index(n)), (&b, Ty::Index(m))], Ty::Number, depth);
                Node::new(ty, format!("tabulate_2d {n} {m} (\\{a} {b} -> @)"), vec![body])
            }
            5 => Node::new(ty, "transpose @", vec![self.exp(Ty::Matrix(m, n), depth)]),
            6 => {
                let flat = self.exp(Ty::Vector(n * m), depth);
                Node::new(ty, format!("unflatten (sized ({n} * {m}) @)"), vec![flat])
            }
            7 => Node::new(ty, format!("replicate {n} @"), vec![self.exp(row, depth)]),
            8 => {
                let k = self.size();
                let parts = vec![self.exp(Ty::Matrix(n, k), depth), self.exp(Ty::Matrix(k, m), depth)];
                let text =
                    "let t = @ let u = @ in map (\\r -> map (\\c -> f64.sum (map2 (*) r c)) (transpose u)) t";
                let product = Node::new(ty, text, parts);
                self.bounded(product)
            }
            9 => {
                let operator = self.dice.one_of(&["(+)", "either"]);
                let text = format!("scan (map2 {operator}) (replicate {m} 0) @");
                let sums = Node::new(ty, text, vec![self.exp(ty, depth)]);
                self.bounded(sums)
            }
            10 => {
                let parts = vec![self.exp(ty, depth), self.exp(ty, depth)];
                let places: Vec<String> = (0..n).map(|_| self.dice.below(n + 1).to_string()).collect();
                let text = format!(
                    "reduce_by_index (copy @) (map2 (+)) (replicate {m} 0) [{}] @",
                    places.join(", ")
                );
                Node::new(ty, text, parts)
            }
            _ => self.matrix_loop(n, m, depth),
        }
    }
}
