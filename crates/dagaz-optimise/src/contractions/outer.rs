//! Reads of outer products become products of reads.
//!
//! Reverse mode makes the adjoint of a weight in every iteration, and then adds them up:
//!
//! ```text
//! let (a: [n][m]f64, d: [n][k]f64,                         let (a: [n][m]f64, d: [n][k]f64) = map …
//!      adjs: [n][m][k]f64) = map n (…) \… ->       ==>     …
//!   … map m (…) \… -> map k (d) \e -> a * e                  reduce n … pre \i -> a[i, p] * d[i, q]
//! …
//!   reduce n … pre \i -> adjs[i, p, q]
//! ```
//!
//! so that the sum is a matrix product, and the array of all adjoints is not made. A factor that the maps compute becomes
//! another result of them. In the same way, an array of negated numbers is read as the numbers, which may be a factor too.

use std::collections::HashMap;

use dagaz_core::exp::{Body, Check, Exp, Program, Stm, Vars};
use dagaz_core::prim::{BinOp, PrimType, UnOp};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{bodies, each_stm, replace_stms};

use super::dot::{Level, Nest, View};
use super::facts::{Def, Definitions};

pub(super) fn multiply_after_reading(program: &mut Program) {
    let facts = Definitions::of(program);
    let mut finder = Finder { facts: &facts, products: HashMap::new() };
    program.funs.iter().for_each(|fun| finder.body(&fun.body));
    let products = finder.products;
    if products.is_empty() {
        return;
    }
    let mut changer = Changer { products, factors: HashMap::new(), vars: &mut program.vars };
    replace_stms(&mut program.funs, &mut |stm, done| changer.stm(stm, done));
}

/// An array whose elements are products, or negated numbers: then there is one factor.
struct Product {
    ty: PrimType,
    factors: Vec<Factor>,
}

enum Factor {
    /// An element of an array that is there.
    View(View),
    /// An element of something that is bound in the maps: the result that leads to the map around it, at every level, and
    /// the element of it.
    Inner { path: Vec<VarId>, view: View, ty: Type },
}

struct Finder<'f> {
    facts: &'f Definitions,
    products: HashMap<VarId, Product>,
}

impl Finder<'_> {
    fn body(&mut self, body: &Body) {
        let reads = reads_of(body);
        for stm in &body.stms {
            bodies(&stm.exp).into_iter().for_each(|inner| self.body(inner));
            for (position, param) in stm.pat.iter().enumerate() {
                let is_only_read = param.ty.rank() > 1
                    && reads.get(&param.var).is_some_and(|n| self.facts.uses.get(&param.var) == Some(n));
                if is_only_read
                    && let Some(product) = self.product(stm, position, &mut Vec::new(), Vec::new())
                {
                    self.products.insert(param.var, product);
                }
            }
        }
    }

    /// The factors of the elements of a map's result.
    fn product(
        &self,
        stm: &Stm,
        position: usize,
        levels: &mut Vec<Level>,
        path: Vec<VarId>,
    ) -> Option<Product> {
        let Exp::Map { width, arrays, lambda } = &stm.exp else { return None };
        levels.push(Level::new(*width, arrays, lambda));
        let result = lambda.body.result.get(position)?.as_var()?;
        let made = lambda.body.stms.iter().find(|stm| stm.pat.iter().any(|p| p.var == result))?;
        if let Exp::Map { .. } = &made.exp {
            let inner = made.pat.iter().position(|p| p.var == result)?;
            let path = path.into_iter().chain([result]).collect();
            return self.product(made, inner, levels, path);
        }
        let (ty, factors) = match &made.exp {
            Exp::BinOp(BinOp::Mul, ty, x, y) if levels.len() > 1 => {
                // A scalar of the innermost map would be an array as large as the products.
                let most = levels.len() - 2;
                (ty, vec![self.factor(*x, levels, most, &path)?, self.factor(*y, levels, most, &path)?])
            }
            Exp::UnOp(UnOp::Neg, ty, x) => (ty, vec![self.factor(*x, levels, levels.len() - 1, &path)?]),
            _ => return None,
        };
        matches!(ty, PrimType::F32 | PrimType::F64).then_some(Product { ty: *ty, factors })
    }

    /// The level that binds the factor is at most a given one, and so is the number of dimensions less one that the factor
    /// has for all iterations.
    fn factor(&self, atom: Atom, levels: &[Level], most: usize, path: &[VarId]) -> Option<Factor> {
        let var = atom.as_var()?;
        let nest = Nest { facts: self.facts, levels };
        let is_whole = |view: &View| view.fixed.is_empty() && !view.labels.is_empty();
        if let Some(view) = nest.view(var, 0).filter(is_whole) {
            return Some(Factor::View(view));
        }
        (0..=most).rev().find_map(|level| {
            let view = nest.view(var, level + 1)?;
            let is_row = matches!(self.facts.defs.get(&view.root), Some(Def::Read { .. }))
                || levels[level].rows.contains_key(&view.root);
            let is_smaller = level + view.labels.len() <= most;
            let fits = view.fixed.is_empty() && levels[level].bound.contains(&view.root);
            let ty = self.facts.types.get(&view.root)?.clone();
            let path = path[..level].to_vec();
            (fits && is_smaller && !is_row).then_some(Factor::Inner { path, view, ty })
        })
    }
}

/// How often elements of arrays are read without a check, in a body and inside of it.
fn reads_of(body: &Body) -> HashMap<VarId, usize> {
    let mut reads = HashMap::new();
    each_stm(&body.stms, &mut |stm| {
        if let (Exp::Index { array, check: Check::Certified, .. }, [param]) = (&stm.exp, stm.pat.as_slice())
            && !param.ty.is_array()
        {
            *reads.entry(*array).or_default() += 1;
        }
    });
    reads
}

struct Changer<'p> {
    products: HashMap<VarId, Product>,
    /// Where the factors of an array are: arrays with the dimensions of it that they have.
    factors: HashMap<VarId, (PrimType, Vec<View>)>,
    vars: &'p mut Vars,
}

impl Changer<'_> {
    fn stm(&mut self, mut stm: Stm, done: &mut Vec<Stm>) {
        for array in stm.pat.iter().map(|p| p.var).collect::<Vec<_>>() {
            if let Some(Product { ty, factors }) = self.products.remove(&array) {
                let views = factors.into_iter().map(|factor| match factor {
                    Factor::View(view) => view,
                    Factor::Inner { path, view, ty } => {
                        let labels = (0..=path.len()).chain(view.labels).collect();
                        let root = self.export(&mut stm, &path, Param::new(view.root, ty));
                        View { root: root.var, fixed: Vec::new(), labels }
                    }
                });
                let views = views.collect();
                self.factors.insert(array, (ty, views));
            }
        }
        match &stm.exp {
            Exp::Index { array, indices, .. } if self.factors.contains_key(array) => {
                let (array, indices) = (*array, indices.clone());
                done.extend(self.read(stm, array, &indices));
            }
            _ => done.push(stm),
        }
    }

    /// A variable of the innermost map on the path, as a result of the outermost one.
    fn export(&mut self, stm: &mut Stm, path: &[VarId], inner: Param) -> Param {
        let Stm { pat, exp: Exp::Map { width, lambda, .. }, .. } = stm else { return inner };
        let own = match path.split_first() {
            None => inner,
            Some((next, rest)) => {
                let next = lambda.body.stms.iter_mut().find(|stm| stm.pat.iter().any(|p| p.var == *next));
                match next {
                    Some(next) => self.export(next, rest, inner),
                    None => inner,
                }
            }
        };
        if let Some(position) = lambda.body.result.iter().position(|a| *a == Atom::Var(own.var)) {
            return pat[position].clone();
        }
        let all = Param { var: self.vars.fresh("factor"), ty: own.ty.with_outer(&[*width]) };
        lambda.body.result.push(own.var.into());
        lambda.ret.push(own.ty);
        pat.push(all.clone());
        all
    }

    fn read(&mut self, stm: Stm, array: VarId, indices: &[Atom]) -> Vec<Stm> {
        let Some((ty, views)) = self.factors.get(&array) else { return vec![stm] };
        let (ty, loc) = (*ty, stm.loc);
        let mut stms = Vec::new();
        let mut factors = Vec::new();
        for view in views {
            let var = self.vars.fresh("factor");
            let indices = view.labels.iter().map(|label| indices[*label]).collect();
            let exp = Exp::Index { array: view.root, indices, check: Check::Certified };
            stms.push(Stm { pat: vec![Param { var, ty: Type::Prim(ty) }], exp, loc });
            factors.push(Atom::Var(var));
        }
        let exp = match factors.as_slice() {
            [x, y] => Exp::BinOp(BinOp::Mul, ty, *x, *y),
            _ => Exp::UnOp(UnOp::Neg, ty, factors[0]),
        };
        stms.push(Stm { pat: stm.pat, exp, loc });
        stms
    }
}
