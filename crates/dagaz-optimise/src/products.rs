//! Computes products of all other elements by division, where that is exact enough.
//!
//! The derivative of a product is, for each element, what is before it times what is after it, by two scans. That is right
//! everywhere and can be differentiated again, but the scans are chains of multiplications. Once there are no derivatives
//! to be taken any more, the product divided by the element is the same where the product is a normal number:
//!
//! ```text
//! let (ls: [n]f64) = … scan n (xs) op (*) …          let (p: f64, zeros: f64) = reduce n (xs)
//! let (rs: [n]f64) = … scan n (… xs) op (*) …          pre \x -> (if x == 0 then 1 else x, if x == 0 then 1 else 0)
//! let (ys: [n]f64) =                                   op (*, +) …
//!   map n (ls, rs) \(l: f64, r: f64) : (f64) ->  ==>  let (os: [n]f64) = if |p| is normal then
//!     let (y: f64) = f64.mul l r                           map n (xs) \x -> if x == 0 then (zeros == 1 ? p : 0)
//!     in (y)                                                                      else (zeros == 0 ? p : 0) / x
//!                                                        else … the scans, and map n (ls, rs) (*)
//! ```
//!
//! Thesis, section 3.4.1. Where numbers other than zero have a product that is infinite, subnormal or not a number, a
//! quotient could be far off, and scans it is. Leaves what was needed for them alone to [`crate::eliminate_dead_code`].

use std::collections::HashMap;

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, DimSlice, Exp, Lambda, Loc, Program, Stm};
use dagaz_core::facts::uses;
use dagaz_core::pass::Pass;
use dagaz_core::prim::{BinOp, Prim, PrimType, UnOp};
use dagaz_core::rename::renamed;
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit::{each_stm, replace_stms};

pub const DIVIDE_PRODUCTS: Pass = Pass::reporting(
    "divide-products",
    "Products of all other elements become quotients, where that is exact enough.",
    divide_products,
);

/// Whether there was such a product.
pub fn divide_products(program: &mut Program) -> bool {
    let uses = uses(program);
    let mut made = HashMap::new();
    for stms in program.funs.iter().map(|fun| &fun.body.stms).chain([&program.consts]) {
        each_stm(stms, &mut |stm| {
            if let [param] = &stm.pat[..] {
                made.insert(param.var, stm.clone());
            }
        });
    }
    let b = Builder::new(std::mem::take(&mut program.vars));
    let mut divider = Divider { b, made, uses, has_changed: false };
    replace_stms(&mut program.funs, &mut |stm, done| divider.stm(stm, done));
    program.vars = divider.b.finish().0;
    divider.has_changed
}

struct Divider {
    b: Builder,
    /// What makes a variable, if it makes only that.
    made: HashMap<VarId, Stm>,
    uses: HashMap<VarId, usize>,
    has_changed: bool,
}

/// For each element of an array, the product of what is on one side of it, and the statements that compute that.
struct Side {
    of: VarId,
    ty: PrimType,
    stms: Vec<Stm>,
}

/// A map that multiplies both sides: the numbers of their rows, and of the statement that does.
struct Pair {
    rows: [usize; 2],
    before: Side,
    after: Side,
    product: usize,
    /// What one side is multiplied with before, and the number of that statement.
    factor: Option<(usize, Atom)>,
}

impl Divider {
    fn stm(&mut self, mut stm: Stm, stms: &mut Vec<Stm>) {
        if let Some(pair) = self.pair(&stm.exp) {
            self.has_changed = true;
            self.b.push_scope();
            self.divide(&mut stm, pair);
            stms.extend(self.b.pop_scope());
        }
        stms.push(stm);
    }

    fn pair(&self, exp: &Exp) -> Option<Pair> {
        let Exp::Map { width, arrays, lambda } = exp else { return None };
        let side = |find: &dyn Fn(VarId) -> Option<Side>| {
            arrays.iter().enumerate().find_map(|(i, array)| find(*array).map(|side| (i, side)))
        };
        let (first, before) = side(&|array| self.before(array, *width))?;
        let (second, after) = side(&|array| self.after(array, *width))?;
        let is_own = |row: usize| self.uses.get(&arrays[row]) == Some(&1);
        if before.of != after.of || !is_own(first) || !is_own(second) {
            return None;
        }
        let (product, factor) = self.product(lambda, [first, second])?;
        Some(Pair { rows: [first, second], before, after, product, factor })
    }

    /// The statement of a lambda that multiplies two rows, of which one may have been multiplied by something before.
    fn product(&self, lambda: &Lambda, rows: [usize; 2]) -> Option<(usize, Option<(usize, Atom)>)> {
        let sides = rows.map(|row| lambda.params[row].var);
        if sides.iter().any(|side| self.uses.get(side) != Some(&1)) {
            return None;
        }
        let factors = |number: usize| match lambda.body.stms[number].exp {
            Exp::BinOp(BinOp::Mul, _, x, y) => Some([x, y]),
            _ => None,
        };
        let other = |[x, y]: [Atom; 2], own: VarId| {
            if x == own.into() {
                Some(y)
            } else if y == own.into() {
                Some(x)
            } else {
                None
            }
        };
        (0..lambda.body.stms.len()).find_map(|number| {
            let both = factors(number)?;
            let (at, other_side) = match other(both, sides[0]) {
                Some(at) => (at, sides[1]),
                None => (other(both, sides[1])?, sides[0]),
            };
            if at == other_side.into() {
                return Some((number, None));
            }
            let inner = (0..number).find(|i| lambda.body.stms[*i].pat.iter().any(|p| at == p.var.into()))?;
            let factor = other(factors(inner)?, other_side)?;
            let is_own = at.as_var().is_some_and(|var| self.uses.get(&var) == Some(&1));
            is_own.then_some((number, Some((inner, factor))))
        })
    }

    /// An array of the products of all elements before each one.
    fn before(&self, array: VarId, n: Atom) -> Option<Side> {
        let shifted = self.made.get(&array)?;
        let longer = self.made.get(&range(&shifted.exp, n, |start| start == Atom::i64(0), 1)?)?;
        let Exp::Concat { arrays } = &longer.exp else { return None };
        let [first, rest] = arrays[..] else { return None };
        let Exp::ArrayLit { elems, .. } = &self.made.get(&first)?.exp else { return None };
        let scanned = self.made.get(&rest)?;
        let Exp::Scan { width, arrays, pre: None, op, neutral } = &scanned.exp else { return None };
        let ty = product_type(op)?;
        let one = Atom::Const(Prim::of_i64(ty, 1));
        let fits = *width == n && elems[..] == [one] && neutral[..] == [one];
        let ([of], true) = (&arrays[..], fits) else { return None };
        Some(Side { of: *of, ty, stms: vec![scanned.clone(), longer.clone(), shifted.clone()] })
    }

    /// An array of the products of all elements after each one.
    fn after(&self, array: VarId, n: Atom) -> Option<Side> {
        let turned = self.made.get(&array)?;
        let mut side = self.before(self.reversed(&turned.exp, n)?, n)?;
        let source = self.made.get(&side.of)?;
        side.of = self.reversed(&source.exp, n)?;
        side.stms.insert(0, source.clone());
        side.stms.push(turned.clone());
        Some(side)
    }

    /// The array that this is, from its end.
    fn reversed(&self, exp: &Exp, n: Atom) -> Option<VarId> {
        let is_last = |start: Atom| match (start, n) {
            (Atom::Const(Prim::I64(start)), Atom::Const(Prim::I64(n))) => n.checked_sub(1) == Some(start),
            (Atom::Var(start), n) => self.made.get(&start).is_some_and(|stm| match stm.exp {
                Exp::BinOp(BinOp::Sub, PrimType::I64, x, y) => x == n && y == Atom::i64(1),
                _ => false,
            }),
            _ => false,
        };
        range(exp, n, is_last, -1)
    }

    /// Puts the product of all others in the place of both sides.
    fn divide(&mut self, stm: &mut Stm, pair: Pair) {
        let Exp::Map { width, arrays, lambda } = &mut stm.exp else { return };
        let (n, loc, ty) = (*width, stm.loc, pair.before.ty);
        let others = self.others(n, &pair, loc);
        let Pair { rows: [first, second], product, factor, .. } = pair;
        let other = self.b.fresh_param("other", ty.into());
        lambda.body.stms[product].exp = match factor {
            Some((_, factor)) => Exp::BinOp(BinOp::Mul, ty, other.var.into(), factor),
            None => Exp::Atom(other.var.into()),
        };
        if let Some((inner, _)) = factor {
            lambda.body.stms.remove(inner);
        }
        (arrays[first], lambda.params[first]) = (others, other);
        arrays.remove(second);
        lambda.params.remove(second);
    }

    fn others(&mut self, n: Atom, pair: &Pair, loc: Loc) -> VarId {
        let (ty, of) = (pair.before.ty, pair.before.of);
        let (zero, one) = (Atom::Const(Prim::of_i64(ty, 0)), Atom::Const(Prim::of_i64(ty, 1)));
        let array = Type::from(ty).with_outer(&[n]);
        let pre = self.b.lambda(&[("x", ty.into())], vec![ty.into(); 2], |b, x| {
            let is_zero = b.eq(ty, x[0], zero, loc);
            vec![choose(b, is_zero, (one, x[0]), ty, loc), choose(b, is_zero, (one, zero), ty, loc)]
        });
        let names = [("x", ty.into()), ("m", ty.into()), ("y", ty.into()), ("k", ty.into())];
        let op = self.b.lambda(&names, vec![ty.into(); 2], |b, xs| {
            vec![b.mul(ty, xs[0], xs[2], loc), b.add(ty, xs[1], xs[3], loc)]
        });
        let (pre, arrays, neutral) = (Some(pre), vec![of], vec![one, zero]);
        let exp = Exp::Reduce { width: n, arrays, pre, op, neutral, commutative: true };
        let found = self.b.let_exps("product", &[ty.into(), ty.into()], exp, loc);
        let (p, zeros) = (Atom::from(found[0]), Atom::from(found[1]));
        let size = self.b.unop(UnOp::Abs, ty, p, loc);
        let [least, greatest] = normal_range(ty);
        let is_large = self.b.le(ty, least, size, loc);
        let is_finite = self.b.le(ty, size, greatest, loc);
        let cond = self.b.and(is_large, is_finite, loc);
        let then = self.b.body(|b| {
            let is_only = b.eq(ty, zeros, one, loc);
            let at_zero = choose(b, is_only, (p, zero), ty, loc);
            let is_none = b.eq(ty, zeros, zero, loc);
            let elsewhere = choose(b, is_none, (p, zero), ty, loc);
            let lambda = b.lambda(&[("x", ty.into())], vec![ty.into()], |b, x| {
                let is_zero = b.eq(ty, x[0], zero, loc);
                let quotient = b.binop(BinOp::Div, ty, elsewhere, x[0], loc);
                vec![choose(b, is_zero, (at_zero, quotient), ty, loc)]
            });
            vec![b.let_exp("others", array.clone(), Exp::Map { width: n, arrays: vec![of], lambda }, loc)]
        });
        let otherwise = self.by_scans(n, pair, &array, loc);
        self.b.let_var("others", array, Exp::If { cond, then, otherwise }, loc)
    }

    fn by_scans(&mut self, n: Atom, pair: &Pair, array: &Type, loc: Loc) -> Body {
        let lambda = self.b.binop_lambda(BinOp::Mul, pair.before.ty, loc);
        let last = |side: &Side| side.stms.last().map(|stm| stm.pat[0].var);
        let arrays = [&pair.before, &pair.after].into_iter().filter_map(last).collect();
        let scans = [&pair.before.stms[..], &pair.after.stms[..]].concat();
        let mut body = self
            .b
            .body(|b| vec![b.let_exp("others", array.clone(), Exp::Map { width: n, arrays, lambda }, loc)]);
        body.stms.splice(0..0, scans);
        renamed(&mut self.b.vars, &body)
    }
}

/// The array that this is `n` elements of, one after the other with a stride, from a given start.
fn range(exp: &Exp, n: Atom, is_start: impl Fn(Atom) -> bool, step: i64) -> Option<VarId> {
    let Exp::Slice { array, dims } = exp else { return None };
    let [DimSlice::Range { start, len, stride }] = &dims[..] else { return None };
    (*len == n && *stride == Atom::i64(step) && is_start(*start)).then_some(*array)
}

/// The type of floats that an operator multiplies.
fn product_type(op: &Lambda) -> Option<PrimType> {
    let ([x, y], [stm]) = (&op.params[..], &op.body.stms[..]) else { return None };
    let Exp::BinOp(BinOp::Mul, ty @ (PrimType::F32 | PrimType::F64), a, b) = stm.exp else { return None };
    let (x, y) = (Atom::from(x.var), Atom::from(y.var));
    let is_result = op.body.result[..] == [Atom::from(stm.pat.first()?.var)];
    (is_result && ([a, b] == [x, y] || [a, b] == [y, x])).then_some(ty)
}

/// The least and the greatest normal number.
fn normal_range(ty: PrimType) -> [Atom; 2] {
    match ty {
        PrimType::F32 => [Prim::F32(f32::MIN_POSITIVE), Prim::F32(f32::MAX)].map(Atom::Const),
        _ => [Prim::F64(f64::MIN_POSITIVE), Prim::F64(f64::MAX)].map(Atom::Const),
    }
}

fn choose(b: &mut Builder, cond: Atom, (then, otherwise): (Atom, Atom), ty: PrimType, loc: Loc) -> Atom {
    let body = |value| Body { stms: Vec::new(), result: vec![value] };
    b.let_exp("chosen", ty.into(), Exp::If { cond, then: body(then), otherwise: body(otherwise) }, loc)
}
