//! Copies with new variables: a variable is bound once in a program.
//!
//! ```text
//! let (y: f64) = f64.sin x     ==>     let (y_1: f64) = f64.sin x
//! ```
//!
//! And programs with new numbers for their variables, in the order in which these are bound.

use std::collections::HashMap;

use crate::exp::{
    Body, Entry, EntryType, Exp, Fun, Lambda, Loc, LoopForm, OpaqueKind, Program, SourceLoc, Stm, Vars,
};
use crate::types::{Atom, Param, Type, VarId};
use crate::visit::{self, operands_mut, type_mut};

/// The body with new variables.
pub fn renamed(vars: &mut Vars, body: &Body) -> Body {
    Copy::new(vars).body(body)
}

/// The function with new variables.
pub fn renamed_lambda(vars: &mut Vars, lambda: &Lambda) -> Lambda {
    Copy::new(vars).lambda(lambda)
}

/// A copy of statements in which all variables are new.
pub struct Copy<'v> {
    vars: &'v mut Vars,
    /// Where places go that are reached by a call.
    locs: Option<&'v mut Vec<SourceLoc>>,
    names: HashMap<VarId, Atom>,
    /// What was bound, by its old name.
    bound: Vec<(VarId, Param)>,
    places: HashMap<Loc, Loc>,
    call: Loc,
}

impl<'v> Copy<'v> {
    /// The copy for a call from a place, where variables have values.
    pub fn at_call(
        vars: &'v mut Vars,
        locs: &'v mut Vec<SourceLoc>,
        names: HashMap<VarId, Atom>,
        call: Loc,
    ) -> Copy<'v> {
        Copy { locs: Some(locs), call, ..Copy::with(vars, names) }
    }

    fn new(vars: &'v mut Vars) -> Copy<'v> {
        Copy::with(vars, HashMap::new())
    }

    /// The copy in which variables have values.
    pub fn with(vars: &'v mut Vars, names: HashMap<VarId, Atom>) -> Copy<'v> {
        Copy { vars, locs: None, names, bound: Vec::new(), places: HashMap::new(), call: Loc::NONE }
    }

    /// The values of variables, and what was bound, by its old name.
    pub fn finish(self) -> (HashMap<VarId, Atom>, Vec<(VarId, Param)>) {
        (self.names, self.bound)
    }

    fn atom(&self, atom: &mut Atom) {
        if let Atom::Var(var) = atom
            && let Some(new) = self.names.get(var)
        {
            *atom = *new;
        }
    }

    fn var(&mut self, var: &mut VarId, ty: &Type) {
        let hint = self.vars.hint(*var).to_string();
        let new = self.vars.fresh(&hint);
        self.names.insert(*var, new.into());
        self.bound.push((*var, Param::new(new, ty.clone())));
        *var = new;
    }

    fn ty(&self, ty: &mut Type) {
        type_mut(ty, &mut |atom| self.atom(atom));
    }

    fn params<'p>(&mut self, params: impl IntoIterator<Item = &'p mut Param>) {
        for param in params {
            self.ty(&mut param.ty);
            self.var(&mut param.var, &param.ty);
        }
    }

    /// The same place, reached by the call.
    fn loc(&mut self, loc: Loc) -> Loc {
        if loc == Loc::NONE || self.call == Loc::NONE {
            return if loc == Loc::NONE { self.call } else { loc };
        }
        if let Some(known) = self.places.get(&loc) {
            return *known;
        }
        let known = self.locs.as_ref().and_then(|locs| locs.get(loc.0 as usize)).cloned();
        let Some(mut place) = known else { return loc };
        place.inlined_at = Some(match place.inlined_at {
            Some(outer) => self.loc(outer),
            None => self.call,
        });
        let Some(locs) = self.locs.as_mut() else { return loc };
        let new = Loc(u32::try_from(locs.len()).unwrap_or(loc.0));
        locs.push(place);
        self.places.insert(loc, new);
        new
    }

    pub fn param(&mut self, param: &Param) -> Param {
        let mut copy = param.clone();
        self.params([&mut copy]);
        copy
    }

    pub fn body(&mut self, body: &Body) -> Body {
        let mut copy = body.clone();
        self.in_body(&mut copy);
        copy
    }

    pub fn lambda(&mut self, lambda: &Lambda) -> Lambda {
        let mut copy = lambda.clone();
        self.in_lambda(&mut copy);
        copy
    }

    pub fn exp(&mut self, exp: &Exp) -> Exp {
        let mut copy = exp.clone();
        self.in_exp(&mut copy);
        copy
    }

    fn stms(&mut self, stms: &[Stm]) -> Vec<Stm> {
        let mut copy = stms.to_vec();
        self.in_stms(&mut copy);
        copy
    }

    fn in_stms(&mut self, stms: &mut [Stm]) {
        for stm in stms {
            self.in_exp(&mut stm.exp);
            self.params(&mut stm.pat);
            stm.loc = self.loc(stm.loc);
        }
    }

    fn in_body(&mut self, body: &mut Body) {
        self.in_stms(&mut body.stms);
        body.result.iter_mut().for_each(|atom| self.atom(atom));
    }

    fn in_lambda(&mut self, lambda: &mut Lambda) {
        lambda.ret.iter_mut().for_each(|ty| self.ty(ty));
        self.params(&mut lambda.params);
        self.in_body(&mut lambda.body);
    }

    fn in_exp(&mut self, exp: &mut Exp) {
        operands_mut(exp, &mut |atom| self.atom(atom));
        match exp {
            Exp::If { then, otherwise, .. } => [then, otherwise].into_iter().for_each(|b| self.in_body(b)),
            Exp::Loop { params, form, body, .. } => {
                self.params(params.iter_mut().map(|(param, _)| param));
                match form {
                    LoopForm::For { var, ty, .. } => self.var(var, &Type::Prim(*ty)),
                    LoopForm::While { cond } => self.in_body(cond),
                }
                self.in_body(body);
            }
            _ => visit::lambdas_mut(exp).into_iter().for_each(|lambda| self.in_lambda(lambda)),
        }
    }
}

/// What variables are to become, followed to the end.
#[derive(Default)]
pub struct Substitution {
    map: HashMap<VarId, Atom>,
}

impl Substitution {
    pub fn insert(&mut self, var: VarId, atom: Atom) {
        let atom = self.of(atom);
        self.map.insert(var, atom);
    }

    pub fn of(&self, mut atom: Atom) -> Atom {
        while let Atom::Var(var) = atom
            && let Some(to) = self.map.get(&var)
        {
            atom = *to;
        }
        atom
    }

    pub fn apply(&self, atom: &mut Atom) {
        *atom = self.of(*atom);
    }

    /// The statements once more: what they bind gets new names.
    pub fn copies(&mut self, vars: &mut Vars, stms: &[Stm]) -> Vec<Stm> {
        let names = self.map.keys().map(|var| (*var, self.of((*var).into()))).collect();
        let mut copy = Copy::with(vars, names);
        let stms = copy.stms(stms);
        self.map = copy.finish().0;
        stms
    }

    pub fn params<'a>(&self, params: impl IntoIterator<Item = &'a mut Param>) {
        params.into_iter().for_each(|p| type_mut(&mut p.ty, &mut |a| self.apply(a)));
    }

    pub fn types<'a>(&self, types: impl IntoIterator<Item = &'a mut Type>) {
        types.into_iter().for_each(|t| type_mut(t, &mut |a| self.apply(a)));
    }
}

/// The program with its variables numbered in the order in which they are bound.
pub fn renumbered(program: &Program) -> Program {
    let Program { mut consts, mut funs, mut entries, vars, locs } = program.clone();
    let mut numbers = Numbers { old: vars, new: Vars::default(), known: HashMap::new() };
    consts.iter_mut().for_each(|stm| numbers.stm(stm));
    funs.iter_mut().for_each(|fun| numbers.fun(fun));
    entries.iter_mut().for_each(|entry| numbers.entry(entry));
    Program { consts, funs, entries, vars: numbers.new, locs }
}

struct Numbers {
    old: Vars,
    new: Vars,
    known: HashMap<VarId, VarId>,
}

impl Numbers {
    fn var(&mut self, var: &mut VarId) {
        let Numbers { old, new, known } = self;
        *var = *known.entry(*var).or_insert_with(|| new.fresh(old.hint(*var)));
    }

    fn atom(&mut self, atom: &mut Atom) {
        if let Atom::Var(var) = atom {
            self.var(var);
        }
    }

    fn ty(&mut self, ty: &mut Type) {
        type_mut(ty, &mut |atom| self.atom(atom));
    }

    fn params(&mut self, params: &mut [Param]) {
        for param in params {
            self.ty(&mut param.ty);
            self.var(&mut param.var);
        }
    }

    fn fun(&mut self, fun: &mut Fun) {
        self.params(&mut fun.params);
        self.params(&mut fun.ret);
        self.body(&mut fun.body);
    }

    fn entry(&mut self, entry: &mut Entry) {
        entry.params.iter_mut().for_each(|param| self.entry_type(&mut param.ty));
        entry.results.iter_mut().for_each(|ty| self.entry_type(ty));
    }

    fn entry_type(&mut self, ty: &mut EntryType) {
        match ty {
            EntryType::Value { ty, .. } => self.ty(ty),
            EntryType::Opaque { types, kind, .. } => {
                types.iter_mut().for_each(|ty| self.ty(ty));
                match kind {
                    OpaqueKind::Record(fields) => fields.iter_mut().for_each(|(_, ty)| self.entry_type(ty)),
                    OpaqueKind::Sum(constrs) => {
                        constrs.iter_mut().flat_map(|(_, types)| types).for_each(|ty| self.entry_type(ty));
                    }
                    OpaqueKind::Array(row) => self.entry_type(row),
                    OpaqueKind::Other => {}
                }
            }
        }
    }

    fn body(&mut self, body: &mut Body) {
        body.stms.iter_mut().for_each(|stm| self.stm(stm));
        body.result.iter_mut().for_each(|atom| self.atom(atom));
    }

    fn lambda(&mut self, lambda: &mut Lambda) {
        self.params(&mut lambda.params);
        lambda.ret.iter_mut().for_each(|ty| self.ty(ty));
        self.body(&mut lambda.body);
    }

    fn stm(&mut self, stm: &mut Stm) {
        self.params(&mut stm.pat);
        operands_mut(&mut stm.exp, &mut |atom| self.atom(atom));
        match &mut stm.exp {
            Exp::If { then, otherwise, .. } => [then, otherwise].into_iter().for_each(|body| self.body(body)),
            Exp::Loop { params, form, body, .. } => {
                for (param, _) in params {
                    self.params(std::slice::from_mut(param));
                }
                match form {
                    LoopForm::For { var, .. } => self.var(var),
                    LoopForm::While { cond } => self.body(cond),
                }
                self.body(body);
            }
            exp => visit::lambdas_mut(exp).into_iter().for_each(|lambda| self.lambda(lambda)),
        }
    }
}
