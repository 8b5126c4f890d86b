//! Maps that write into the memory of an array which nobody uses after them.
//!
//!     let p = contract …                       p: memory of its own
//!     let s = reduce n (p) …                   may read it
//!     let q = map n (p) \x -> …        ==>     q: the same memory
//!
//! That is an update of the whole array by what the map gives, of which [`super::overwriting`] says whether nothing is read
//! after it was written:
//!
//!     let r = map n (p) \x -> …
//!     let q = p with [0 :+ n] = r

use dagaz_core::exp::{Body, Check, DimSlice, Exp, Program, Stm, Vars};
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit;

use super::overwriting::{may_share, plan};
use super::symbols::Symbols;

/// The program with such updates.
pub(crate) fn reuse_memory(program: &Program) -> Program {
    let mut program = program.clone();
    let mut vars = std::mem::take(&mut program.vars);
    for fun in &mut program.funs {
        let mut pass = Pass { symbols: Symbols::of(&fun.params, &fun.body), vars: &mut vars };
        pass.body(&mut fun.body);
    }
    program.vars = vars;
    program
}

struct Pass<'v> {
    symbols: Symbols,
    vars: &'v mut Vars,
}

impl Pass<'_> {
    fn body(&mut self, body: &mut Body) {
        for stm in &mut body.stms {
            visit::bodies_mut(&mut stm.exp).into_iter().for_each(|inner| self.body(inner));
        }
        let mut at = 0;
        while at < body.stms.len() {
            let candidates = candidates(body, at);
            let mut found = candidates
                .into_iter()
                .find_map(|(array, position)| self.with_update(body, at, array, position));
            if let Some(changed) = found.take() {
                *body = changed;
                at += 1;
            }
            at += 1;
        }
    }

    /// The body with an update after a map, if the map can write to the array.
    fn with_update(&mut self, body: &Body, at: usize, array: VarId, position: usize) -> Option<Body> {
        let mut changed = body.clone();
        let stm = &mut changed.stms[at];
        let result = stm.pat[position].clone();
        let hint = self.vars.hint(result.var).to_owned();
        let made = self.vars.fresh(&hint);
        stm.pat[position].var = made;
        self.symbols.declare(made, &result.ty);
        let whole = |dim: &Atom| DimSlice::Range { start: Atom::i64(0), len: *dim, stride: Atom::i64(1) };
        let dims = result.ty.dims().iter().map(whole).collect();
        let exp = Exp::Update { array, dims, value: made.into(), check: Check::Certified };
        let update = Stm { pat: vec![result], exp, loc: stm.loc };
        changed.stms.insert(at + 1, update);
        plan(&self.symbols, &changed, at + 1, &changed.stms[at + 1]).is_some().then_some(changed)
    }
}

/// Arrays that a map uses last, with the results that have the same type.
fn candidates(body: &Body, at: usize) -> Vec<(VarId, usize)> {
    let stm = &body.stms[at];
    let Exp::Map { arrays, lambda, .. } = &stm.exp else { return Vec::new() };
    // Sums of columns are computed in another order.
    let is_sum = matches!(lambda.body.stms.as_slice(), [Stm { exp: Exp::Reduce { .. }, .. }]);
    let is_last = |array: &VarId| {
        let uses = |stm: &Stm| visit::free_vars(&stm.exp).contains(array);
        !body.stms[at + 1..].iter().any(uses)
            && !body.stms[..at].iter().any(|stm| uses(stm) && may_share(&stm.exp))
            && !body.result.contains(&Atom::Var(*array))
    };
    let type_of = |array: &VarId| {
        let maker = body.stms[..at].iter().find(|stm| stm.pat.iter().any(|p| p.var == *array))?;
        let has_memory =
            matches!(maker.exp, Exp::Map { .. } | Exp::Scan { .. } | Exp::Contract { plus: None, .. });
        let param = maker.pat.iter().find(|p| p.var == *array)?;
        has_memory.then_some(&param.ty)
    };
    let is_long = |ty: &Type| ty.dims().iter().any(|dim| dim.as_var().is_some());
    let mut found = Vec::new();
    for array in arrays.iter().filter(|array| !is_sum && is_last(array)) {
        let Some(ty) = type_of(array).filter(|ty| is_long(ty)) else { continue };
        let same = stm.pat.iter().enumerate().filter(|(_, param)| param.ty == *ty);
        found.extend(same.map(|(position, _)| (*array, position)));
    }
    found
}
