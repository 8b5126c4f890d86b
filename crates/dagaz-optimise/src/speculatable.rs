//! Folds that can run anywhere: they stop no program, even where the iteration around them would not run once.
//!
//! What reads are certified for may hold only where they are. So each index has to be a number below the size of the array
//! for a reason that lies within the operation itself, or in an iteration outside of the one that it leaves:
//!
//! ```text
//! reduce n (iota n) pre \(p: i64) : (f64) ->        p is below n, which is the size of xs;
//!   let (j: i64) = i64.mod p n                      n is not zero where p is, and j is below it
//!   let (x: f64) = xs[j] certified
//! ```

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Check, Exp, Lambda, Stm};
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};

use dagaz_core::effects::cannot_fail;

/// What is known of variables, whose names are unique.
#[derive(Default)]
pub(crate) struct Anywhere {
    /// Arrays `0, 1, …`.
    counting: HashSet<VarId>,
    /// What numbers are below of; none of them is negative.
    below: HashMap<VarId, Atom>,
    sizes: HashMap<VarId, Vec<Atom>>,
}

impl Anywhere {
    pub fn bind(&mut self, param: &Param) {
        if let Type::Array { dims, .. } = &param.ty {
            self.sizes.insert(param.var, dims.clone());
        }
    }

    pub fn define(&mut self, stm: &Stm) {
        stm.pat.iter().for_each(|p| self.bind(p));
        if let (true, [param]) = (stm.exp.is_counting(), stm.pat.as_slice()) {
            self.counting.insert(param.var);
        }
    }

    /// The function of a map, which has begun.
    pub fn enter(&mut self, width: Atom, arrays: &[VarId], lambda: &Lambda) {
        lambda.params.iter().for_each(|p| self.bind(p));
        for (array, param) in arrays.iter().zip(&lambda.params) {
            if self.counting.contains(array) && param.ty == Type::Prim(PrimType::I64) {
                self.below.insert(param.var, width);
            }
        }
    }

    /// Whether this is a reduction, or a map of some, and nothing in it can stop the program.
    pub fn is_fold(&mut self, exp: &Exp) -> bool {
        match exp {
            Exp::Reduce { .. } => self.is_safe(exp, &mut Vec::new()),
            Exp::Map { lambda, .. } => has_fold(&lambda.body) && self.is_safe(exp, &mut Vec::new()),
            _ => false,
        }
    }

    /// Whether this is a read at a constant place of an array that is known to have it.
    pub fn is_read_of_existing(&self, exp: &Exp) -> bool {
        let Exp::Index { array, indices, .. } = exp else { return false };
        let Some(sizes) = self.sizes.get(array) else { return false };
        let is_below = |index: &Atom, size: &Atom| {
            let (index, size) = (index.as_const(), size.as_const());
            let both = index.and_then(|i| i.as_i64()).zip(size.and_then(|s| s.as_i64()));
            both.is_some_and(|(index, size)| (0..size).contains(&index))
        };
        indices.iter().zip(sizes).all(|(index, size)| is_below(index, size))
    }

    /// `widths` are the numbers of iterations around this expression, within the one at hand.
    fn is_safe(&mut self, exp: &Exp, widths: &mut Vec<Atom>) -> bool {
        match exp {
            Exp::Map { width, arrays, lambda } => self.is_safe_lambda(*width, arrays, lambda, widths),
            Exp::Reduce { width, arrays, pre, op, .. } => {
                pre.iter().all(|pre| self.is_safe_lambda(*width, arrays, pre, widths))
                    && self.is_safe_lambda(*width, &[], op, widths)
            }
            Exp::If { then, otherwise, .. } => {
                [then, otherwise].into_iter().all(|body| self.is_safe_body(body, widths))
            }
            Exp::BinOp(BinOp::Mod, PrimType::I64, _, divisor) if widths.contains(divisor) => true,
            Exp::Index { array, indices, check } => {
                let Some(sizes) = self.sizes.get(array) else { return false };
                let is_below = |index: &Atom, size: &Atom| match index {
                    Atom::Var(var) => self.below.get(var) == Some(size),
                    Atom::Const(index) => {
                        let size = size.as_const().and_then(|size| size.as_i64());
                        index.as_i64().zip(size).is_some_and(|(index, size)| (0..size).contains(&index))
                    }
                };
                *check == Check::Certified && indices.iter().zip(sizes).all(|(i, size)| is_below(i, size))
            }
            Exp::Atom(_) => true,
            _ => cannot_fail(exp),
        }
    }

    fn is_safe_lambda(
        &mut self,
        width: Atom,
        arrays: &[VarId],
        lambda: &Lambda,
        widths: &mut Vec<Atom>,
    ) -> bool {
        self.enter(width, arrays, lambda);
        widths.push(width);
        let is_safe = self.is_safe_body(&lambda.body, widths);
        widths.pop();
        is_safe
    }

    fn is_safe_body(&mut self, body: &Body, widths: &mut Vec<Atom>) -> bool {
        body.stms.iter().all(|stm| {
            let is_safe = self.is_safe(&stm.exp, widths);
            self.define(stm);
            if let (Exp::BinOp(BinOp::Mod, PrimType::I64, _, divisor), [param]) =
                (&stm.exp, stm.pat.as_slice())
                && widths.contains(divisor)
            {
                self.below.insert(param.var, *divisor);
            }
            is_safe
        })
    }
}

fn has_fold(body: &Body) -> bool {
    body.stms.iter().any(|stm| match &stm.exp {
        Exp::Reduce { .. } => true,
        Exp::Map { lambda, .. } => has_fold(&lambda.body),
        _ => false,
    })
}
