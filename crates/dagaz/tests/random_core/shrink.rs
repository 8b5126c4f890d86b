//! Makes a program smaller that shows a fault: statements give way to constants, one after the other.

use dagaz_core::exp::{Body, Exp, Program, Stm};
use dagaz_core::prim::Prim;
use dagaz_core::types::{Atom, Param, Type};
use dagaz_core::visit::bodies_mut;

/// How often a program is tried.
const ATTEMPTS: usize = 2000;

/// The smallest program found for which the fault is there.
pub fn shrink(mut program: Program, has_fault: impl Fn(&Program) -> bool) -> Program {
    let mut at = 0;
    for _ in 0..ATTEMPTS {
        let mut smaller = program.clone();
        let mut left = at;
        let is_changed = smaller.funs.iter_mut().any(|fun| simplify(&mut fun.body, &mut left));
        if !is_changed {
            return program;
        }
        if dagaz_core::verify::verify(&smaller).is_empty() && has_fault(&smaller) {
            program = smaller;
        } else {
            at += 1;
        }
    }
    program
}

/// Replaces the statement of this number, counted from those that are not simple already.
fn simplify(body: &mut Body, left: &mut usize) -> bool {
    for i in 0..body.stms.len() {
        if let Some(simple) = constants(&body.stms[i]) {
            if *left == 0 {
                body.stms.splice(i..=i, simple);
                return true;
            }
            *left -= 1;
        }
        if bodies_mut(&mut body.stms[i].exp).into_iter().any(|inner| simplify(inner, left)) {
            return true;
        }
    }
    false
}

/// Statements that bind the same variables to constants; none if that is what this is already.
fn constants(stm: &Stm) -> Option<Vec<Stm>> {
    let is_simple = match &stm.exp {
        Exp::Atom(Atom::Const(_)) => true,
        Exp::Replicate { value, .. } => value.as_const().is_some(),
        _ => false,
    };
    if is_simple || stm.pat.iter().any(|p| p.ty.is_acc()) {
        return None;
    }
    let constant = |param: &Param| {
        let value: Atom = Prim::one(param.ty.elem()?).into();
        let exp = match &param.ty {
            Type::Prim(_) => Exp::Atom(value),
            Type::Array { dims, .. } => Exp::Replicate { dims: dims.clone(), value },
            Type::Acc { .. } => return None,
        };
        Some(Stm { pat: vec![param.clone()], exp, loc: stm.loc })
    };
    stm.pat.iter().map(constant).collect()
}
