//! A map over a flattened array is a nest of maps over the array itself, which can be fused with those before and after; a reduction
//! is a reduction of reductions of rows, and the array need not be made.
//!
//! ```text
//! let (xs: [k]f64) = reshape [k] xss               let (zss: [n][m]f64) =
//! let (ys: [k]f64) =                                 map n (xss) \(xs: [m]f64) : ([m]f64) ->
//!   map k (xs) \(x: f64) : (f64) -> …        ==>       let (zs: [m]f64) = map m (xs) \(x: f64) : (f64) -> …
//! let (yss: [n][m]f64) = reshape [n, m] ys             in (zs)
//!                                                  let (ys: [k]f64) = reshape [k] zss
//!                                                  let (yss: [n][m]f64) = reshape [n, m] ys
//! ```
//!
//! Only where there is something to gain: where a map made the array, or where a result gets its shape back. All arrays of
//! the map or reduction must have been flattened from the same shape. Leaves the changes of shape that cancel to [`crate::simplify`].

use std::collections::{HashMap, HashSet};

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Exp, Lambda, Loc, Program, Stm};
use dagaz_core::pass::Pass;
use dagaz_core::rename::renamed_lambda;
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit::{bodies_mut, own_params};

pub const NEST_FLAT_MAPS: Pass = Pass::reporting(
    "nest-flat-maps",
    "A map over a flattened array becomes a nest of maps over the array.",
    nest_flat_maps,
)
.before_derivatives();

/// Whether there was such a map or reduction.
pub fn nest_flat_maps(program: &mut Program) -> bool {
    let b = Builder::new(std::mem::take(&mut program.vars));
    let mut pass = Nester { b, types: HashMap::new(), has_changed: false };
    for fun in &mut program.funs {
        fun.params.iter().for_each(|p| pass.note(p));
        pass.body(&mut fun.body);
    }
    program.vars = pass.b.finish().0;
    pass.has_changed
}

struct Nester {
    b: Builder,
    types: HashMap<VarId, Type>,
    has_changed: bool,
}

/// What the statements of a body do with shapes.
#[derive(Default)]
struct Shapes {
    /// Arrays of one dimension, and what they were flattened from.
    flattened: HashMap<VarId, VarId>,
    made_by_maps: HashSet<VarId>,
    /// The shapes that arrays are given later.
    given: HashMap<VarId, Vec<Vec<Atom>>>,
}

impl Nester {
    fn note(&mut self, param: &Param) {
        self.types.insert(param.var, param.ty.clone());
    }

    fn body(&mut self, body: &mut Body) {
        let mut shapes = Shapes::default();
        for stm in &body.stms {
            if let Exp::Reshape { dims, array } = &stm.exp {
                shapes.given.entry(*array).or_default().push(dims.clone());
            }
        }
        let mut done = Vec::with_capacity(body.stms.len());
        for mut stm in std::mem::take(&mut body.stms) {
            stm.pat.iter().for_each(|p| self.note(p));
            own_params(&stm.exp, &mut |var, ty| drop(self.types.insert(var, ty.clone())));
            bodies_mut(&mut stm.exp).into_iter().for_each(|inside| self.body(inside));
            match (&stm.exp, &stm.pat[..]) {
                (Exp::Reshape { dims, array }, [param]) if dims.len() == 1 => {
                    shapes.flattened.insert(param.var, *array);
                }
                (Exp::Map { .. }, pat) => shapes.made_by_maps.extend(pat.iter().map(|p| p.var)),
                _ => {}
            }
            match self.shape_of(&stm, &shapes) {
                Some(dims) => done.extend(self.nested(stm, &dims, &shapes)),
                None => done.push(stm),
            }
        }
        body.stms = done;
    }

    /// The shape of the arrays that the arrays of a map or reduction were flattened from.
    fn shape_of(&self, stm: &Stm, shapes: &Shapes) -> Option<Vec<Atom>> {
        let (arrays, lambdas) = match &stm.exp {
            Exp::Map { arrays, lambda, .. } => (arrays, [Some(lambda), None]),
            Exp::Reduce { arrays, pre, op, .. } => (arrays, [pre.as_ref(), Some(op)]),
            _ => return None,
        };
        let of = |lambda: &Lambda| {
            let params = lambda.params.iter().map(|p| &p.ty);
            params.chain(&lambda.ret).all(|ty| matches!(ty, Type::Prim(_)))
        };
        if !lambdas.into_iter().flatten().all(of) || stm.pat.is_empty() {
            return None;
        }
        let mut shape: Option<&[Atom]> = None;
        for array in arrays {
            let dims = self.types.get(shapes.flattened.get(array)?)?.dims();
            if dims.len() < 2 || shape.is_some_and(|shape| shape != dims) {
                return None;
            }
            shape = Some(dims);
        }
        let shape = shape?;
        let is_given = |p: &Param| {
            let given = shapes.given.get(&p.var);
            given.is_some_and(|given| given.iter().any(|dims| dims == shape))
        };
        let is_made = |array: &VarId| {
            shapes.flattened.get(array).is_some_and(|from| shapes.made_by_maps.contains(from))
        };
        (stm.pat.iter().any(is_given) || arrays.iter().any(is_made)).then(|| shape.to_vec())
    }

    fn nested(&mut self, stm: Stm, dims: &[Atom], shapes: &Shapes) -> Vec<Stm> {
        self.has_changed = true;
        let from = |arrays: &[VarId]| -> Vec<VarId> {
            arrays.iter().map(|array| shapes.flattened.get(array).copied().unwrap_or(*array)).collect()
        };
        let Stm { pat, exp: Exp::Map { arrays, lambda, .. }, loc } = stm else {
            let arrays = match &stm.exp {
                Exp::Reduce { arrays, .. } => from(arrays),
                _ => return vec![stm],
            };
            return vec![Stm { exp: self.reduced_rows(arrays, stm.exp, dims, stm.loc), ..stm }];
        };
        let arrays = from(&arrays);
        let exp = nest(&mut self.b, arrays, lambda, dims, loc);
        let mut made = Vec::with_capacity(pat.len());
        let mut flat = Vec::with_capacity(pat.len());
        for param in pat {
            let Some(elem) = param.ty.elem() else { continue };
            let hint = self.b.vars.hint(param.var).to_owned();
            let nested = self.b.fresh_param(&hint, Type::array(elem, dims.to_vec()));
            self.note(&nested);
            let exp = Exp::Reshape { dims: param.ty.dims().to_vec(), array: nested.var };
            flat.push(Stm { pat: vec![param], exp, loc });
            made.push(nested);
        }
        [vec![Stm { pat: made, exp, loc }], flat].concat()
    }
}

impl Nester {
    /// The reduction over all these dimensions, of arrays that have them.
    fn reduced_rows(&mut self, arrays: Vec<VarId>, flat: Exp, dims: &[Atom], loc: Loc) -> Exp {
        let ([outer, rows @ ..], Exp::Reduce { pre, op, neutral, commutative, .. }) = (dims, flat.clone())
        else {
            return flat;
        };
        if rows.is_empty() {
            return Exp::Reduce { width: *outer, arrays, pre, op, neutral, commutative };
        }
        let elems = arrays.iter().filter_map(|array| self.types.get(array)?.elem());
        let row_types: Vec<Type> = elems.map(|elem| Type::array(elem, rows.to_vec())).collect();
        let params: Vec<Param> = row_types.iter().map(|ty| self.b.fresh_param("row", ty.clone())).collect();
        params.iter().for_each(|p| self.note(p));
        let inner = params.iter().map(|p| p.var).collect();
        let exp = self.reduced_rows(inner, flat, rows, loc);
        let op = renamed_lambda(&mut self.b.vars, &op);
        let pat: Vec<Param> = op.ret.iter().map(|ty| self.b.fresh_param("reduced", ty.clone())).collect();
        let result = pat.iter().map(|p| p.var.into()).collect();
        let body = Body { stms: vec![Stm { pat, exp, loc }], result };
        let pre = Some(Lambda { params, body, ret: op.ret.clone() });
        Exp::Reduce { width: *outer, arrays, pre, op, neutral, commutative }
    }
}

/// The map over all these dimensions.
pub(crate) fn nest(b: &mut Builder, arrays: Vec<VarId>, lambda: Lambda, dims: &[Atom], loc: Loc) -> Exp {
    let [width, rest @ ..] = dims else {
        return Exp::Map { width: Atom::i64(0), arrays, lambda };
    };
    if rest.is_empty() {
        return Exp::Map { width: *width, arrays, lambda };
    }
    let rows = |ty: &Type| ty.elem().map(|elem| Type::array(elem, rest.to_vec()));
    let mut params = Vec::with_capacity(lambda.params.len());
    for param in &lambda.params {
        let Some(ty) = rows(&param.ty) else { continue };
        let hint = b.vars.hint(param.var).to_owned();
        params.push(b.fresh_param(&hint, ty));
    }
    let ret: Vec<Type> = lambda.ret.iter().filter_map(rows).collect();
    let inner = params.iter().map(|p| p.var).collect();
    let exp = nest(b, inner, lambda, rest, loc);
    let pat: Vec<Param> = ret.iter().map(|ty| b.fresh_param("row", ty.clone())).collect();
    let result = pat.iter().map(|p| p.var.into()).collect();
    let body = Body { stms: vec![Stm { pat, exp, loc }], result };
    Exp::Map { width: *width, arrays, lambda: Lambda { params, body, ret } }
}
