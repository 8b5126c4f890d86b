//! Maps that are fused into other operations, as maps of their own: the language has no other.
//!
//! ```text
//! reduce n (xs) pre f op (+)     ==>     ys = map n (xs) f
//!                                        reduce n (ys) op (+)
//! ```

use dagaz_core::exp::{Body, Exp, Program, Stm, Vars};
use dagaz_core::types::Param;
use dagaz_core::visit::bodies_mut;

pub(super) fn unfuse(program: &mut Program) {
    let mut vars = std::mem::take(&mut program.vars);
    program.funs.iter_mut().for_each(|fun| unfuse_body(&mut vars, &mut fun.body));
    program.vars = vars;
}

fn unfuse_body(vars: &mut Vars, body: &mut Body) {
    let mut stms = Vec::new();
    for mut stm in std::mem::take(&mut body.stms) {
        bodies_mut(&mut stm.exp).into_iter().for_each(|inner| unfuse_body(vars, inner));
        unfuse_stm(vars, &mut stm, &mut stms);
        stms.push(stm);
    }
    body.stms = stms;
}

fn unfuse_stm(vars: &mut Vars, stm: &mut Stm, stms: &mut Vec<Stm>) {
    let (Exp::Reduce { width, arrays, pre, .. }
    | Exp::Scan { width, arrays, pre, .. }
    | Exp::Hist { width, arrays, pre, .. }
    | Exp::Scatter { width, arrays, pre, .. }) = &mut stm.exp
    else {
        return;
    };
    if let Some(lambda) = pre.take() {
        let rows = lambda.ret.iter().map(|ty| ty.with_outer(&[*width]));
        let pat: Vec<Param> = rows.map(|ty| Param { var: vars.fresh("mapped"), ty }).collect();
        let mapped = pat.iter().map(|p| p.var).collect();
        let arrays = std::mem::replace(arrays, mapped);
        stms.push(Stm { pat, exp: Exp::Map { width: *width, arrays, lambda }, loc: stm.loc });
    }
}
