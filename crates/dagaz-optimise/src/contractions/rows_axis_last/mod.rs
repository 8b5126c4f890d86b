//! Products of rows with triangles are turned: the axis of the rows comes last.
//!
//! ```text
//! let (p: [n][k][d]f64) =                            let (p': [k][d][n]f64) =
//!   contract [n, k, d] sum [d]                         contract [k, d, n] sum [d]
//!     q (1, 2, 3) x (0, 3) where 3 <= 2                  q (0, 1, 3) x (2, 3) where 3 <= 1
//! let (z: [n]f64) = map n (p)                        let (s': [k][n]f64) = map k (p', ws)
//!   \(row: [k][d]f64) : (f64) ->                       \(own: [d][n]f64, w: f64) : ([n]f64) ->
//!     let (s: [k]f64) = map k (row, ws)                  let (turned: [n][d]f64) = rearrange (1, 0) own
//!       \(r: [d]f64, w: f64) : (f64) ->     ==>          let (sums: [n]f64) = map n (turned) \(r: [d]f64) : (f64) ->
//!         let (sum: f64) = reduce d (r) …                  let (sum: f64) = reduce d (r) …
//!         let (y: f64) = f64.mul sum w                     in (sum)
//!         in (y)                                         let (ys: [n]f64) = map n (sums) \(sum: f64) : (f64) ->
//!     let (z: f64) = …                                     let (y: f64) = f64.mul sum w
//!     in (z)                                               in (y)
//!                                                        in (ys)
//!                                                    let (z: [n]f64) = map n (is) \(i: i64) : (f64) ->
//!                                                      let (s: [k]f64) = map k (js) \(j: i64) -> … s'[j, i] …
//!                                                      let (z: f64) = …
//!                                                      in (z)
//! ```
//!
//! There are as many rows as one likes, whereas a triangle may have ten: loops along the rows fill vectors, a tile of the product
//! that is long there can be narrow along the triangle, and leaves out most of what is zero. What the rows are needed for must be
//! sums along the triangle, as above, or elements of one more array like the product, which is turned as well. That may be an
//! operand of products, or be read element by element ([`users`]).

mod nests;
mod users;

use std::collections::{HashMap, HashSet};

use dagaz_core::build::Builder;
use dagaz_core::exp::{AxesOf, Body, Check, Exp, Lambda, Loc, Program, Stm};
use dagaz_core::pass::Pass;
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{bodies_mut, free_vars};

use self::nests::{Kind, Nest};
use super::facts::Definitions;

pub const PUT_ROWS_AXIS_LAST: Pass = Pass::reporting(
    "put-rows-axis-last",
    "Products of rows with triangles get the axis of the rows last.",
    put_rows_axis_last,
);

/// Whether there was such a product.
pub fn put_rows_axis_last(program: &mut Program) -> bool {
    let facts = Definitions::of(program);
    let mut b = Builder::new(std::mem::take(&mut program.vars));
    let mut has_changed = false;
    for fun in &mut program.funs {
        has_changed |= body(&facts, &mut b, &mut fun.body);
    }
    program.vars = b.finish().0;
    has_changed
}

fn body(facts: &Definitions, b: &mut Builder, own: &mut Body) -> bool {
    let mut has_changed = false;
    for stm in &mut own.stms {
        bodies_mut(&mut stm.exp).into_iter().for_each(|inner| has_changed |= body(facts, b, inner));
    }
    while let Some(turn) = (0..own.stms.len()).find_map(|at| find(facts, own, at)) {
        turn.apply((facts, b), own);
        has_changed = true;
    }
    has_changed
}

/// The sizes of a product: rows, and what each of them has.
#[derive(Clone, Copy)]
struct Shape {
    rows: Atom,
    parts: Atom,
    length: Atom,
    elem: PrimType,
}

impl Shape {
    /// The type of the turned product.
    fn turned(&self) -> Type {
        Type::array(self.elem, vec![self.parts, self.length, self.rows])
    }
}

/// A product that can be turned.
struct Turn {
    shape: Shape,
    /// Positions in the body of the product, and of the operation over its rows.
    product: usize,
    user: usize,
    /// Positions in the function of that operation, and what they compute.
    nests: Vec<(usize, Nest)>,
    /// What uses the array that is turned as well, and at which position it is among the results.
    turned: Option<(usize, Vec<usize>)>,
}

/// The function that an operation over so many rows applies to them, with its arrays.
fn over_rows(exp: &Exp, rows: Atom) -> Option<(&[VarId], &Lambda)> {
    match exp {
        Exp::Map { width, arrays, lambda } if *width == rows => Some((arrays, lambda)),
        Exp::Reduce { width, arrays, pre: Some(pre), .. } if *width == rows => Some((arrays, pre)),
        _ => None,
    }
}

fn over_rows_mut(exp: &mut Exp) -> Option<(&mut Vec<VarId>, &mut Lambda)> {
    match exp {
        Exp::Map { arrays, lambda, .. } => Some((arrays, lambda)),
        Exp::Reduce { arrays, pre: Some(pre), .. } => Some((arrays, pre)),
        _ => None,
    }
}

/// The sizes of a product of rows with many triangles.
fn shape(stm: &Stm) -> Option<Shape> {
    let Exp::Contract { sizes, rank: 3, left, right, plus: None, triangles } = &stm.exp else { return None };
    let [rows, parts, length, _] = sizes[..] else { return None };
    let is_of = |one: &AxesOf, other: &AxesOf| one.axes == [0, 3] && other.axes == [1, 2, 3];
    let concerns = |axis: usize| axis == 2 || axis == 3;
    let fits = (is_of(left, right) || is_of(right, left))
        && !triangles.is_empty()
        && triangles.iter().all(|t| concerns(t.low) && concerns(t.high));
    let elem = stm.pat.first()?.ty.elem()?;
    fits.then_some(Shape { rows, parts, length, elem })
}

fn find(facts: &Definitions, body: &Body, product: usize) -> Option<Turn> {
    let shape = shape(&body.stms[product])?;
    let var = body.stms[product].pat[0].var;
    if facts.uses.get(&var) != Some(&1) {
        return None;
    }
    let user = (product + 1..body.stms.len()).find(|at| free_vars(&body.stms[*at].exp).contains(&var))?;
    let (arrays, lambda) = over_rows(&body.stms[user].exp, shape.rows)?;
    let row = lambda.params[arrays.iter().position(|array| *array == var)?].var;
    let bound: HashSet<VarId> =
        lambda.params.iter().chain(lambda.body.stms.iter().flat_map(|stm| &stm.pat)).map(|p| p.var).collect();
    let mut nests = Vec::new();
    for (at, stm) in lambda.body.stms.iter().enumerate() {
        if free_vars(&stm.exp).contains(&row) {
            let nest = nests::find(shape, stm, row, &bound)?;
            nests::are_own_results(stm, &nest, &lambda.body.result).then_some(())?;
            nests.push((at, nest));
        }
    }
    let others: Vec<usize> =
        nests.iter().filter(|(_, nest)| nest.kind == Kind::Elements).map(|(at, _)| *at).collect();
    let turned = match others[..] {
        [] => None,
        [at] => Some(users::find(facts, body, (user, lambda), &lambda.body.stms[at], shape)?),
        _ => return None,
    };
    (!lambda.body.result.contains(&row.into()) && !nests.is_empty()).then_some(Turn {
        shape,
        product,
        user,
        nests,
        turned,
    })
}

impl Turn {
    fn apply(self, (facts, b): (&Definitions, &mut Builder), body: &mut Body) {
        let product = b.fresh("turned");
        let old = self.turn_product(product, &mut body.stms[self.product]);
        b.push_scope();
        let mut user = body.stms[self.user].clone();
        let numbers = self.numbers(b, self.shape.rows);
        let number = b.fresh_param("row", Type::I64);
        let mut elements = None;
        if let Some((arrays, lambda)) = over_rows_mut(&mut user.exp) {
            for (at, nest) in &self.nests {
                match nest.kind {
                    Kind::Sums => {
                        let sums = nests::sums(b, self.shape, &lambda.body.stms[*at], nest, product);
                        let parts = self.numbers(b, self.shape.parts);
                        lambda.body.stms[*at].exp = self.column(b, sums, parts, number.var);
                    }
                    Kind::Elements => elements = Some((lambda.body.stms[*at].clone(), nest)),
                }
            }
            if let Some((stm, _)) = &elements {
                lambda
                    .body
                    .stms
                    .retain(|own| own.pat.first().map(|p| p.var) != stm.pat.first().map(|p| p.var));
            }
            let at = arrays.iter().position(|array| *array == old);
            if let Some(at) = at {
                arrays[at] = numbers;
                lambda.params[at] = number;
            }
        }
        let replaced = elements.map(|(stm, nest)| self.elements(b, (&mut user, stm, nest), product));
        if replaced.is_none() {
            b.push(user);
        }
        if let (Some((old, new)), Some((_, users))) = (replaced, &self.turned) {
            // From the last one on: statements that come in are after the user that they are for.
            for at in users.iter().rev() {
                users::turn((facts, b), body, self.shape, *at, (old, new));
            }
        }
        let new = b.pop_scope();
        body.stms.splice(self.user..=self.user, new);
    }

    /// The same product with the rows last; the name that it had.
    fn turn_product(&self, product: VarId, stm: &mut Stm) -> VarId {
        let Exp::Contract { sizes, left, right, triangles, .. } = &mut stm.exp else { return product };
        let new = |axis: &mut usize| *axis = [2, 0, 1, 3][*axis];
        sizes[..3].rotate_left(1);
        [left, right].into_iter().flat_map(|o| &mut o.axes).for_each(new);
        triangles.iter_mut().for_each(|t| [&mut t.low, &mut t.high].into_iter().for_each(new));
        let old = std::mem::replace(&mut stm.pat[0], Param::new(product, self.shape.turned()));
        old.var
    }

    fn numbers(&self, b: &mut Builder, count: Atom) -> VarId {
        let exp = Exp::Iota { ty: PrimType::I64, n: count, start: Atom::i64(0), step: Atom::i64(1) };
        b.let_var("numbers", Type::array(PrimType::I64, vec![count]), exp, Loc::NONE)
    }

    /// What belongs to one row.
    fn column(&self, b: &mut Builder, sums: VarId, parts: VarId, row: VarId) -> Exp {
        let ty: Type = self.shape.elem.into();
        let lambda = b.lambda(&[("part", Type::I64)], vec![ty.clone()], |b, part| {
            let exp = Exp::Index { array: sums, indices: vec![part[0], row.into()], check: Check::Certified };
            vec![b.let_exp("elem", ty, exp, Loc::NONE)]
        });
        Exp::Map { width: self.shape.parts, arrays: vec![parts], lambda }
    }

    /// Computes the other array in one go, after all else that the operation computes: its name, and the new one.
    fn elements(
        &self,
        b: &mut Builder,
        (user, stm, nest): (&mut Stm, Stm, &Nest),
        product: VarId,
    ) -> (VarId, VarId) {
        let at = self.turned.as_ref().map_or(0, |(at, _)| *at);
        let old = user.pat.remove(at);
        let mut whole = HashMap::new();
        if let Some((_, lambda)) = over_rows_mut(&mut user.exp) {
            lambda.body.result.remove(at);
            lambda.ret.remove(at);
            let results = lambda.body.result.iter().zip(&user.pat);
            whole.extend(results.filter_map(|(atom, param)| Some((atom.as_var()?, param.var))));
        }
        b.push(user.clone());
        (old.var, nests::elements(b, self.shape, &stm, nest, product, &whole))
    }
}
