//! Elementary functions of elements that every iteration further out reads again are computed once, before it.
//!
//! ```text
//! let (zs: [n]f64) =                                 let (es: [m]f64) = map m (ys) \(y: f64) : (f64) ->
//!   map n (xs) \(x: f64) : (f64) ->                    let (e: f64) = f64.exp y
//!     let (z: f64) = reduce m (ys)                     in (e)
//!       pre \(y: f64) : (f64) ->                     let (zs: [n]f64) =
//!         let (e: f64) = f64.exp y           ==>       map n (xs) \(x: f64) : (f64) ->
//!         let (p: f64) = f64.mul e x                     let (z: f64) = reduce m (es)
//!         in (p)                                           pre \(e: f64) : (f64) ->
//!       op (+) …                                             let (p: f64) = f64.mul e x
//!     in (z)                                                 in (p)  op (+) …
//! ```
//!
//! The operations are followed from the arrays that are known outside of the iteration to their elements. Under branches
//! nothing is looked for, since they may never be taken. A function also moves out of a map whose only other statement is a
//! reduction, which can then run along rows, for all columns at once.

use std::collections::{HashMap, HashSet};

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Exp, Lambda, Loc, Program, Stm};
use dagaz_core::pass::Pass;
use dagaz_core::types::{Atom, Param, Type, VarId};

use dagaz_core::cost::is_elementary_function;
use dagaz_core::effects::cannot_fail;
use dagaz_core::rename::Substitution;
use dagaz_core::visit::{bodies, bodies_mut, bound_inside, direct_operands, free_vars};

pub const PRECOMPUTE_FUNCTIONS: Pass = Pass::always(
    "precompute-functions",
    "Elementary functions of elements that are read again and again are computed once, before.",
    precompute_functions,
);

pub fn precompute_functions(program: &mut Program) {
    let b = Builder::new(std::mem::take(&mut program.vars));
    let mut pass = Precomputer { b, inside: HashSet::new(), requests: Vec::new(), next: 0, new: Vec::new() };
    program.funs.iter_mut().for_each(|fun| pass.body(&mut fun.body));
    program.vars = pass.b.finish().0;
}

/// A row, or an element, of an array that is known outside.
#[derive(Clone)]
struct Row {
    root: VarId,
    /// The operations that it was taken from the array by, from the outside in: their numbers and widths.
    path: Vec<(usize, Atom)>,
}

/// A new array that the operations on a path are to take, too.
struct Request {
    path: Vec<(usize, Atom)>,
    /// The array, its rows, and in the end its elements.
    vars: Vec<VarId>,
    types: Vec<Type>,
}

struct Precomputer {
    b: Builder,
    /// What is bound in the iteration that is looked at.
    inside: HashSet<VarId>,
    requests: Vec<Request>,
    /// The number of the next operation.
    next: usize,
    /// What is to be done before the iteration.
    new: Vec<Stm>,
}

pub(crate) fn is_iteration(exp: &Exp) -> bool {
    matches!(
        exp,
        Exp::Loop { .. } | Exp::Map { .. } | Exp::Reduce { .. } | Exp::Scan { .. } | Exp::Hist { .. }
    )
}

/// Whether nothing but scalar operations comes before a reduction, which is the only result: without the former, it can run
/// along rows for all iterations at once.
fn is_reduction_of_one(body: &Body) -> bool {
    let mut operations = body.stms.iter().filter(|stm| !bodies(&stm.exp).is_empty());
    let (first, second) = (operations.next(), operations.next());
    let is_result = |stm: &Stm| matches!(stm.pat[..], [ref p] if body.result[..] == [Atom::Var(p.var)]);
    second.is_none() && first.is_some_and(|stm| matches!(stm.exp, Exp::Reduce { .. }) && is_result(stm))
}

/// The arrays of an operation, and the function that it applies to their rows.
fn row_function(exp: &mut Exp) -> Option<(Atom, &mut Vec<VarId>, &mut Lambda)> {
    match exp {
        Exp::Map { width, arrays, lambda } => Some((*width, arrays, lambda)),
        Exp::Reduce { width, arrays, pre: Some(pre), .. }
        | Exp::Scan { width, arrays, pre: Some(pre), .. } => Some((*width, arrays, pre)),
        _ => None,
    }
}

impl Precomputer {
    fn body(&mut self, body: &mut Body) {
        let mut done = Vec::with_capacity(body.stms.len());
        for mut stm in std::mem::take(&mut body.stms) {
            if is_iteration(&stm.exp) {
                self.inside = bound_inside(&stm.exp);
                self.search(&mut stm, &HashMap::new(), 0);
                self.requests.clear();
                done.append(&mut self.new);
            }
            bodies_mut(&mut stm.exp).into_iter().for_each(|body| self.body(body));
            done.push(stm);
        }
        body.stms = done;
    }

    /// Looks for operations on rows, in a statement inside of so many iterations.
    fn search(&mut self, stm: &mut Stm, rows: &HashMap<VarId, Row>, depth: usize) {
        let loc = stm.loc;
        if let Exp::Loop { body, .. } = &mut stm.exp {
            body.stms.iter_mut().for_each(|stm| self.search(stm, rows, depth + 1));
        }
        let number = self.next;
        let Some((width, arrays, lambda)) = row_function(&mut stm.exp) else { return };
        self.next += 1;
        let mut inner = rows.clone();
        let is_width_known = !matches!(width, Atom::Var(var) if self.inside.contains(&var));
        for (array, param) in arrays.iter().zip(&lambda.params).filter(|_| is_width_known) {
            let row = match rows.get(array) {
                Some(row) => row.clone(),
                None if !self.inside.contains(array) => Row { root: *array, path: Vec::new() },
                None => continue,
            };
            let path = [&row.path[..], &[(number, width)]].concat();
            inner.insert(param.var, Row { root: row.root, path });
        }
        let is_before_reduction = is_reduction_of_one(&lambda.body);
        let is_worthwhile = |row: &Row| {
            let is_here = row.path.last().is_some_and(|(last, _)| *last == number);
            is_here && (row.path.len() <= depth || is_before_reduction)
        };
        let elements: HashMap<VarId, Row> = inner
            .iter()
            .filter(|(_, row)| is_worthwhile(row))
            .map(|(var, row)| (*var, row.clone()))
            .collect();
        self.functions(lambda, &elements, loc);
        lambda.body.stms.iter_mut().for_each(|stm| self.search(stm, &inner, depth + 1));
        for request in &self.requests {
            if let Some(level) = request.path.iter().position(|(own, _)| *own == number) {
                arrays.push(request.vars[level]);
                let ty = request.types[level + 1].clone();
                lambda.params.push(Param { var: request.vars[level + 1], ty });
            }
        }
    }

    /// Takes functions of elements out of a lambda.
    fn functions(&mut self, lambda: &mut Lambda, rows: &HashMap<VarId, Row>, loc: Loc) {
        let is_element = |p: &&Param| matches!(p.ty, Type::Prim(_)) && rows.contains_key(&p.var);
        let mut paths: Vec<Vec<(usize, Atom)>> = Vec::new();
        for row in lambda.params.iter().filter(is_element).filter_map(|p| rows.get(&p.var)) {
            if !paths.contains(&row.path) {
                paths.push(row.path.clone());
            }
        }
        for path in paths {
            let elements: Vec<(Param, VarId)> = (lambda.params.iter().filter(is_element))
                .filter_map(|p| Some((p.clone(), rows.get(&p.var).filter(|row| row.path == path)?.root)))
                .collect();
            for (result, stms) in self.wanted(&lambda.body, &elements) {
                lambda.body.stms.retain(|stm| stm.pat.iter().all(|p| p.var != result.var));
                self.request(result, &stms, &elements, &path, loc);
            }
        }
    }

    /// The functions of elements that are used by something else, and the statements that compute each.
    fn wanted(&self, body: &Body, elements: &[(Param, VarId)]) -> Vec<(Param, Vec<Stm>)> {
        let mut known: HashSet<VarId> = elements.iter().map(|(p, _)| p.var).collect();
        let mut scalar: Vec<&Stm> = Vec::new();
        let mut needed: HashSet<VarId> = body.result.iter().filter_map(|a| a.as_var()).collect();
        for stm in &body.stms {
            let operands = free_vars(&stm.exp);
            let is_known = operands.iter().all(|var| known.contains(var) || !self.inside.contains(var));
            let is_function_of_elements = is_known && operands.iter().any(|var| known.contains(var));
            let is_scalar = stm.pat.len() == 1 && matches!(stm.pat[0].ty, Type::Prim(_));
            if is_function_of_elements && is_scalar && cannot_fail(&stm.exp) {
                known.insert(stm.pat[0].var);
                scalar.push(stm);
            } else {
                needed.extend(operands);
            }
        }
        let mut all = Vec::new();
        for (i, stm) in scalar.iter().enumerate().rev() {
            let result = &stm.pat[0];
            if !needed.contains(&result.var) {
                continue;
            }
            if is_elementary_function(&stm.exp) {
                all.push((result.clone(), what_computes([result.var], scalar[..=i].iter().copied()).0));
            } else {
                needed.extend(free_vars(&stm.exp));
            }
        }
        all
    }

    /// Computes the array of results, and asks for its elements.
    fn request(
        &mut self,
        result: Param,
        stms: &[Stm],
        elements: &[(Param, VarId)],
        path: &[(usize, Atom)],
        loc: Loc,
    ) {
        let mut copy = Substitution::default();
        let (mut arrays, mut params) = (Vec::new(), Vec::new());
        let mut used = HashSet::new();
        stms.iter().for_each(|stm| direct_operands(&stm.exp, &mut |a| used.extend(a.as_var())));
        for (param, root) in elements.iter().filter(|(p, _)| used.contains(&p.var)) {
            let hint = self.b.vars.hint(param.var).to_owned();
            let fresh = self.b.fresh_param(&hint, param.ty.clone());
            copy.insert(param.var, fresh.var.into());
            params.push(fresh);
            arrays.push(*root);
        }
        let stms = copy.copies(&mut self.b.vars, stms);
        let body = Body { stms, result: vec![copy.of(result.var.into())] };
        let lambda = Lambda { params, body, ret: vec![result.ty.clone()] };
        let dims: Vec<Atom> = path.iter().map(|(_, width)| *width).collect();
        let exp = crate::unflatten::nest(&mut self.b, arrays, lambda, &dims, loc);
        let hint = self.b.vars.hint(result.var).to_owned();
        let Some(elem) = result.ty.elem() else { return };
        let types: Vec<Type> =
            (0..=dims.len()).map(|level| Type::array(elem, dims[level..].to_vec())).collect();
        let mut vars: Vec<VarId> = (0..dims.len()).map(|_| self.b.fresh(&hint)).collect();
        self.new.push(Stm { pat: vec![Param { var: vars[0], ty: types[0].clone() }], exp, loc });
        vars.push(result.var);
        self.requests.push(Request { path: path.to_vec(), vars, types });
    }
}

/// The statements that some variables need, and all variables that these need.
pub(crate) fn what_computes<'s>(
    wanted: impl IntoIterator<Item = VarId>,
    stms: impl DoubleEndedIterator<Item = &'s Stm>,
) -> (Vec<Stm>, HashSet<VarId>) {
    let mut needed: HashSet<VarId> = wanted.into_iter().collect();
    let mut own = Vec::new();
    for stm in stms.rev() {
        if stm.pat.iter().any(|p| needed.contains(&p.var)) {
            needed.extend(free_vars(&stm.exp));
            own.push(stm.clone());
        }
    }
    own.reverse();
    (own, needed)
}
