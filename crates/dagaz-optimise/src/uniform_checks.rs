//! Checks that are the same in every iteration are made in the first one.
//!
//! ```text
//! let () =                                        let (m: i64) = i64.min n 1
//!   map n (is) \(i: i64) : () ->                  let (first: [m]i64) = slice is [0 :+ m * 1]
//!     let (x: f64) = xss[i, j]            ==>     let () =
//!     in ()                                         map m (first) \(i: i64) : () ->
//!                                                     let (x: f64) = xss[i, j]
//!                                                     in ()
//! ```
//!
//! Derivatives leave such maps, of what was computed for all rows. What fails in one iteration fails in the first one, if the
//! iterations differ in indices alone that are in bounds in all of them.

use std::collections::HashSet;

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, DimSlice, Exp, Lambda, Program, Stm};
use dagaz_core::facts::Facts;
use dagaz_core::pass::Pass;
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, VarId};
use dagaz_core::visit::{bodies, direct_operands, replace_stms};

pub const HOIST_UNIFORM_CHECKS: Pass = Pass::always(
    "hoist-uniform-checks",
    "Checks that are the same in every iteration are made before the first one.",
    hoist_uniform_checks,
);

pub fn hoist_uniform_checks(program: &mut Program) {
    let pass = UniformChecks { facts: Facts::of(program) };
    let mut b = Builder::new(std::mem::take(&mut program.vars));
    replace_stms(&mut program.funs, &mut |stm, done| pass.shorten(&mut b, stm, done));
    program.vars = b.finish().0;
}

struct UniformChecks {
    facts: Facts,
}

impl UniformChecks {
    fn shorten(&self, b: &mut Builder, mut stm: Stm, done: &mut Vec<Stm>) {
        let loc = stm.loc;
        if let Exp::Map { width, arrays, lambda } = &mut stm.exp
            && matches!(width, Atom::Var(_))
            && self.is_same_in_all(*width, arrays, lambda)
        {
            b.push_scope();
            let first = b.binop(BinOp::Min, PrimType::I64, *width, Atom::i64(1), loc);
            for (array, param) in arrays.iter_mut().zip(&lambda.params) {
                let range = DimSlice::Range { start: Atom::i64(0), len: first, stride: Atom::i64(1) };
                let part = Exp::Slice { array: *array, dims: vec![range] };
                *array = b.let_var("first", param.ty.with_outer(&[first]), part, loc);
            }
            *width = first;
            done.extend(b.pop_scope());
        }
        done.push(stm);
    }

    fn is_same_in_all(&self, width: Atom, arrays: &[VarId], lambda: &Lambda) -> bool {
        let own: HashSet<VarId> = lambda.params.iter().map(|p| p.var).collect();
        lambda.ret.is_empty()
            && !arrays.is_empty()
            && arrays.iter().all(|array| self.facts.is_counting(*array))
            && self.is_same(width, &own, &lambda.body)
    }

    /// Whether a body makes the same checks whatever numbers below `width` some variables are, and does nothing else.
    fn is_same(&self, width: Atom, own: &HashSet<VarId>, body: &Body) -> bool {
        let is_own = |atom: Atom| atom.as_var().is_some_and(|var| own.contains(&var));
        let is_same = |stm: &Stm| match &stm.exp {
            Exp::Trace { .. } | Exp::Call { .. } | Exp::UpdateAcc { .. } => false,
            Exp::Index { array, indices, .. } if indices.iter().any(|index| is_own(*index)) => {
                let dims = self.facts.dims(*array);
                let is_below = |(index, size): (&Atom, &Atom)| !is_own(*index) || *size == width;
                indices.len() <= dims.len()
                    && indices.iter().zip(dims).all(is_below)
                    && stm.pat.iter().all(|p| !self.facts.is_used(p.var))
            }
            exp => {
                let mut is_free = true;
                direct_operands(exp, &mut |atom| is_free &= !is_own(atom));
                is_free && bodies(exp).into_iter().all(|body| self.is_same(width, own, body))
            }
        };
        body.stms.iter().all(is_same) && !body.result.iter().any(|atom| is_own(*atom))
    }
}
