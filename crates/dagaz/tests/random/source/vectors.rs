//! Expressions that are vectors.

use super::{Generator, Node, Ty};

impl Generator {
    pub fn vector(&mut self, n: usize, depth: usize) -> Node {
        match self.dice.below(18) {
            0..=3 => self.mapped(n, depth),
            4 | 5 => self.scan(n, depth),
            6 | 7 => self.histogram(n, depth),
            8 => self.scatter(n, depth),
            9..=11 => self.vector_loop(n, depth),
            12 | 13 => self.moved(n, depth),
            14 => self.gathered(n, depth),
            15 | 16 => self.of_matrix(n, depth),
            _ => {
                let elements = (0..n).map(|_| self.exp(Ty::Number, depth.min(2))).collect();
                Node::new(Ty::Vector(n), format!("[{}]", vec!["@"; n].join(", ")), elements)
            }
        }
    }

    fn mapped(&mut self, n: usize, depth: usize) -> Node {
        let (ty, row) = (Ty::Vector(n), Ty::Vector(self.size()));
        let (a, b) = (self.fresh("a"), self.fresh("b"));
        match self.dice.below(5) {
            0 => {
                let body = self.under(&[(&a, Ty::Number)], Ty::Number, depth);
                Node::new(ty, format!("map (\\({a}: f64) -> @) @"), vec![body, self.exp(ty, depth)])
            }
            1 => {
                let body = self.under(&[(&a, Ty::Number), (&b, Ty::Number)], Ty::Number, depth);
                let parts = vec![body, self.exp(ty, depth), self.exp(ty, depth)];
                Node::new(ty, format!("map2 (\\{a} {b} -> @) @ @"), parts)
            }
            2 => {
                let body = self.under(&[(&a, Ty::Index(n))], Ty::Number, depth);
                Node::new(ty, format!("map (\\{a} -> @) (iota {n})"), vec![body])
            }
            3 => {
                let body = self.under(&[(&a, Ty::Number), (&b, Ty::Index(n))], Ty::Number, depth);
                Node::new(ty, format!("map2 (\\{a} {b} -> @) @ (iota {n})"), vec![body, self.exp(ty, depth)])
            }
            _ => {
                let Ty::Vector(m) = row else { return self.leaf(ty) };
                let body = self.under(&[(&a, row)], Ty::Number, depth);
                let rows = self.exp(Ty::Matrix(n, m), depth);
                Node::new(ty, format!("map (\\({a}: {row}) -> @) @"), vec![body, rows])
            }
        }
    }

    /// The elements of other vectors in another order.
    fn moved(&mut self, n: usize, depth: usize) -> Node {
        let ty = Ty::Vector(n);
        let more = n + 1 + self.dice.below(2);
        match self.dice.below(8) {
            0 => Node::new(
                ty,
                format!("rotate ({}) @", self.dice.below(7) as i64 - 3),
                vec![self.exp(ty, depth)],
            ),
            1 => Node::new(ty, "reverse @", vec![self.exp(ty, depth)]),
            2 => {
                let first = self.dice.below(n + 1);
                let parts = vec![self.exp(Ty::Vector(first), depth), self.exp(Ty::Vector(n - first), depth)];
                Node::new(ty, format!("sized {n} (@ ++ @)"), parts)
            }
            3 => Node::new(ty, format!("take {n} @"), vec![self.exp(Ty::Vector(more), depth)]),
            4 => Node::new(
                ty,
                format!("sized {n} (drop {} @)", more - n),
                vec![self.exp(Ty::Vector(more), depth)],
            ),
            5 => Node::new(ty, format!("let y = @ in sized {n} y[::-1]"), vec![self.exp(ty, depth)]),
            6 => {
                let double = self.exp(Ty::Vector(2 * n), depth);
                Node::new(ty, format!("let y = @ in sized {n} y[{}::2]", self.dice.below(2)), vec![double])
            }
            _ => Node::new(ty, format!("replicate {n} @"), vec![self.exp(Ty::Number, depth)]),
        }
    }

    /// Elements of another vector at computed places, some of them several times.
    fn gathered(&mut self, n: usize, depth: usize) -> Node {
        let (m, i, y) = (self.size(), self.fresh("i"), self.fresh("y"));
        let source = self.exp(Ty::Vector(m), depth);
        let outside = self.scope.len();
        self.scope.push((i.clone(), Ty::Index(n)));
        let place = self.index(m, depth);
        self.scope.truncate(outside);
        Node::new(
            Ty::Vector(n),
            format!("let {y} = @ in map (\\{i} -> {y}[@]) (iota {n})"),
            vec![source, place],
        )
    }

    fn of_matrix(&mut self, n: usize, depth: usize) -> Node {
        let (m, ty) = (self.size(), Ty::Vector(n));
        match self.dice.below(9) {
            0 => Node::new(
                ty,
                "let t = @ in t[@]",
                vec![self.exp(Ty::Matrix(m, n), depth), self.index(m, depth)],
            ),
            1 => Node::new(
                ty,
                "let t = @ in t[:, @]",
                vec![self.exp(Ty::Matrix(n, m), depth), self.index(m, depth)],
            ),
            2 => Node::new(ty, "map f64.sum @", vec![self.exp(Ty::Matrix(n, m), depth)]),
            3 => Node::new(ty, "map f64.maximum @", vec![self.exp(Ty::Matrix(n, m), depth)]),
            4 => {
                let sums = format!("reduce (map2 (+)) (replicate {n} 0) @");
                Node::new(ty, sums, vec![self.exp(Ty::Matrix(m, n), depth)])
            }
            5 => {
                let maxima = format!("reduce (map2 f64.max) (replicate {n} f64.lowest) @");
                Node::new(ty, maxima, vec![self.exp(Ty::Matrix(m, n), depth)])
            }
            6 => {
                let products = format!("reduce (map2 either) (replicate {n} 0) @");
                let node = Node::new(ty, products, vec![self.exp(Ty::Matrix(m, n), depth)]);
                self.bounded(node)
            }
            7 if n.is_multiple_of(2) => {
                Node::new(ty, format!("sized {n} (flatten @)"), vec![self.exp(Ty::Matrix(2, n / 2), depth)])
            }
            _ => {
                let parts = vec![self.exp(Ty::Matrix(n, m), depth), self.exp(Ty::Vector(m), depth)];
                let node =
                    Node::new(ty, "let t = @ let y = @ in map (\\r -> f64.sum (map2 (*) r y)) t", parts);
                self.bounded(node)
            }
        }
    }
}
