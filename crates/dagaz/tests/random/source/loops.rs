//! Loops: over numbers, and over arrays that are replaced or updated in place.

use super::{Generator, Node, Ty};

impl Generator {
    pub fn number_loop(&mut self, depth: usize) -> Node {
        let (ty, count) = (Ty::Number, 2 + self.dice.below(3));
        let (a, b, i) = (self.fresh("a"), self.fresh("b"), self.fresh("i"));
        let init = self.exp(ty, depth);
        let names: &[(&str, Ty)] = &[(&a, ty), (&i, Ty::Index(count))];
        let body = self.under(names, ty, depth);
        match self.dice.below(5) {
            0 => Node::new(ty, format!("loop {a} = @ for {i} < {count} do @"), vec![init, body]),
            1 => {
                let text = format!(
                    "loop {a} = @ for {i} < {count} do loop {a} for {b} < {i} do f64.sin ({a} * f64.i64 {b} + @)"
                );
                Node::new(ty, text, vec![init, body])
            }
            2 => {
                let text = format!(
                    "(loop ({a}, {i}) = (@, 0i64) while {i} < {count} && {a} < 1.7531 do ({a} + 0.5 * f64.sin @, {i} + 1)).0"
                );
                Node::new(ty, text, vec![init, body])
            }
            3 => {
                let more = [(&a[..], ty), (&b, ty), (&i, Ty::Index(count))];
                let second = self.under(&more, ty, depth);
                let text = format!(
                    "(\\(a, b) -> a + b) (loop ({a}, {b}) = (@, 0.3) for {i} < {count} do ({b} + f64.tanh @, f64.sin ({a} * @)))"
                );
                Node::new(ty, text, vec![init, body, second])
            }
            _ => {
                let n = self.size();
                let items = self.exp(Ty::Vector(n), depth);
                let body = self.under(&[(&a, ty), (&b, ty)], ty, depth);
                Node::new(
                    ty,
                    format!("loop {a} = @ for {b} in @ do f64.sin ({a} * {b} + @)"),
                    vec![init, items, body],
                )
            }
        }
    }

    pub fn vector_loop(&mut self, n: usize, depth: usize) -> Node {
        let (ty, count) = (Ty::Vector(n), 2 + self.dice.below(2));
        let (y, i, j) = (self.fresh("y"), self.fresh("i"), self.fresh("j"));
        let init = self.exp(ty, depth);
        let names: &[(&str, Ty)] = &[(&y, ty), (&i, Ty::Index(count))];
        match self.dice.below(8) {
            0 => {
                let body = self.under(names, ty, depth);
                Node::new(ty, format!("loop {y} = @ for {i} < {count} do @"), vec![init, body])
            }
            1 | 2 => {
                let (place, value) = self.write(names, n, depth);
                Node::new(
                    ty,
                    format!("loop {y} = copy @ for {i} < {count} do {y} with [@] = @"),
                    vec![init, place, value],
                )
            }
            3 => {
                let ((p1, v1), (p2, v2)) = (self.write(names, n, depth), self.write(names, n, depth));
                let text =
                    format!("loop {y} = copy @ for {i} < {count} do let {y}[@] = @ let {y}[@] = @ in {y}");
                Node::new(ty, text, vec![init, p1, v1, p2, v2])
            }
            4 => {
                let outside = self.scope.len();
                self.scope.extend(names.iter().map(|(name, ty)| ((*name).to_owned(), *ty)));
                let condition = self.condition(depth);
                self.scope.truncate(outside);
                let ((p1, v1), (p2, v2)) = (self.write(names, n, depth), self.write(names, n, depth));
                let text = format!(
                    "loop {y} = copy @ for {i} < {count} do let {y} = if @ then {y} with [@] = @ else {y} in {y} with [@] = @"
                );
                Node::new(ty, text, vec![init, condition, p1, v1, p2, v2])
            }
            5 => {
                let more = [(&y[..], ty), (&i, Ty::Index(count)), (&j, Ty::Index(count))];
                let (place, value) = self.write(&more, n, depth);
                let text = format!(
                    "loop {y} = copy @ for {i} < {count} do loop {y} for {j} < {i} do {y} with [@] = @"
                );
                Node::new(ty, text, vec![init, place, value])
            }
            6 => {
                let (place, value) = self.write(names, n, depth);
                let text = format!(
                    "(loop ({y}, {i}) = (copy @, 0i64) while {i} < {count} && {y}[0] < 2.1357 do ({y} with [@] = @, {i} + 1)).0"
                );
                Node::new(ty, text, vec![init, place, value])
            }
            _ if n >= 2 => {
                let part = self.under(names, Ty::Vector(n - 1), depth);
                let last = format!("{i} % 2 + {}", n - 1);
                let text = format!(
                    "loop {y} = copy @ for {i} < {count} do {y} with [{i} % 2:{last}] = map (\\q -> f64.sin (q + 0.1)) @"
                );
                Node::new(ty, text, vec![init, part])
            }
            _ => {
                let body = self.under(&[(&y, ty)], Ty::Number, depth);
                Node::new(
                    ty,
                    format!("loop {y} = @ for _ in [1i64, 2] do map (\\q -> f64.sin (q * @)) {y}"),
                    vec![init, body],
                )
            }
        }
    }

    /// A place in an array and what is written there.
    fn write(&mut self, names: &[(&str, Ty)], n: usize, depth: usize) -> (Node, Node) {
        let outside = self.scope.len();
        self.scope.extend(names.iter().map(|(name, ty)| ((*name).to_owned(), *ty)));
        let place = self.index(n, depth);
        self.scope.truncate(outside);
        let value = self.under(names, Ty::Number, depth);
        (place, self.bounded(value))
    }

    pub fn matrix_loop(&mut self, n: usize, m: usize, depth: usize) -> Node {
        let ty = Ty::Matrix(n, m);
        let (t, i, j) = (self.fresh("t"), self.fresh("i"), self.fresh("j"));
        let init = self.exp(ty, depth);
        match self.dice.below(3) {
            0 => {
                let names = [(&t[..], ty), (&i, Ty::Index(n)), (&j, Ty::Index(m))];
                let value = self.under(&names, Ty::Number, depth);
                let text = format!(
                    "loop {t} = copy @ for {i} < {n} do loop {t} for {j} < {m} do {t} with [{i}, {j}] = f64.sin @"
                );
                Node::new(ty, text, vec![init, value])
            }
            1 => {
                let row = self.under(&[(&t, ty), (&i, Ty::Index(n))], Ty::Vector(m), depth);
                let text = format!("loop {t} = copy @ for {i} < {n} do {t} with [{i}] = map f64.sin @");
                Node::new(ty, text, vec![init, row])
            }
            _ => {
                let body = self.under(&[(&t, ty), (&i, Ty::Index(3))], ty, depth);
                Node::new(ty, format!("loop {t} = @ for {i} < 3 do @"), vec![init, body])
            }
        }
    }
}
