//! `jvp2`, `vjp2`, `jmp2`, `mjp2`, `linear_transpose` and `with_vjp`: Core's own forms for derivatives, which `dagaz-ad` removes.
//!
//!     vjp2 f x y'     ==>     let (y, x_adj) = vjp (x) (y') \x -> f x
//!
//! Tangents and adjoints have the skeletons of what they belong to; the constructor of a sum is that of the value.

use dagaz_core::exp::{Body, Exp, Lambda};
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Type};

use crate::context::{Res, Simplifier};
use crate::eval::outer_type;
use crate::value::{ArrayVal, EArg, EType, SVal};
use crate::walk::{Flat, flatten, rebuild};

/// A function as a lambda, and a value that its result is like.
pub(super) struct Function {
    pub lambda: Lambda,
    pub result: SVal,
    pub dims: Vec<Atom>,
}

impl Simplifier<'_> {
    /// The function at arguments like `x`. Its result has the sizes of `like`, or those that its type says.
    pub(super) fn function(
        &mut self,
        f: &SVal,
        x: &SVal,
        like: Option<&SVal>,
        type_args: &[EArg],
    ) -> Res<Function> {
        let loc = self.loc;
        let mark = self.mark();
        let (params, arg) = self.row_params("x", x);
        let (mut stms, result) = self.without_effects("a function that is differentiated", |s| {
            s.scope(|s| {
                let result = s.apply(f, vec![arg])?;
                Ok(match (like, type_args.get(1)) {
                    (Some(like), _) => s.conform(&result, like),
                    (None, Some(EArg::Type(ty) | EArg::Index(ty, _))) => s.match_type(&result, ty).0,
                    (None, Some(EArg::Size(_)) | None) => result,
                })
            })
        })?;
        self.loc = loc;
        if contains_function(x) || contains_function(&result) {
            return self.misuse(
                "functional-derivative",
                "a function with functions among its arguments or results has no derivative",
            );
        }
        let flat = flatten(&result);
        if like.is_none() && self.require_regular(&flat.dims, &mut stms, mark).is_err() {
            // The sizes of the result are those of a result; nothing but them is used of it.
            let result = self.apply(f, vec![x.clone()])?;
            return self.function(f, x, Some(&result), type_args);
        }
        self.require_regular(&flat.dims, &mut stms, mark)?;
        let ret = flat.types();
        let lambda = Lambda { params, body: Body { stms, result: flat.atoms() }, ret };
        Ok(Function { lambda, result, dims: flat.dims })
    }

    pub(super) fn jvp2(&mut self, f: &SVal, x: &SVal, seed: &SVal, type_args: &[EArg]) -> Res<SVal> {
        let function = self.function(f, x, None, type_args)?;
        let tangents = flatten(&self.conform(seed, x)).atoms();
        let ret = function.lambda.ret.clone();
        let exp = Exp::Jvp { lambda: function.lambda, args: flatten(x).atoms(), tangents };
        let results = self.emit_all("y", &[ret.clone(), ret.clone()].concat(), exp);
        let (primal, tangents) = results.split_at(ret.len());
        let primal = rebuild(&function.result, &function.dims, primal);
        let tangent = with_leaves(&primal, tangents);
        Ok(SVal::tuple([primal, tangent]))
    }

    pub(super) fn vjp2(&mut self, f: &SVal, x: &SVal, seed: &SVal, type_args: &[EArg]) -> Res<SVal> {
        let function = self.function(f, x, Some(seed), type_args)?;
        let flat = flatten(x);
        let ret = function.lambda.ret.clone();
        let cotangents = flatten(seed).atoms();
        let exp = Exp::Vjp { lambda: function.lambda, args: flat.atoms(), cotangents };
        let results = self.emit_all("y", &[ret.clone(), flat.types()].concat(), exp);
        let (primal, adjoints) = results.split_at(ret.len());
        let primal = rebuild(&function.result, &function.dims, primal);
        let adjoint = with_leaves(x, adjoints);
        Ok(SVal::tuple([primal, adjoint]))
    }

    /// One or zero, as a seed of a type that must be a single number.
    pub(super) fn unit_seed(&mut self, one: Atom, type_args: &[EArg]) -> Res<SVal> {
        match type_args.first() {
            Some(EArg::Type(EType::Prim(ty))) if ty.is_float() => {
                let exp = Exp::Convert(PrimType::Bool, *ty, one);
                Ok(SVal::Scalar(*ty, self.emit("seed", Type::Prim(*ty), exp)))
            }
            _ => self.misuse(
                "gradient-of-many",
                "a gradient needs single floating-point numbers here: the result of the function, and for matrices of \
                 derivatives the elements of its argument; use vjp or jvp with a seed for other types",
            ),
        }
    }

    pub(super) fn linear_transpose(&mut self, f: &SVal, seed: &SVal, type_args: &[EArg]) -> Res<SVal> {
        let Some(EArg::Type(ty)) = type_args.first() else {
            return self.bug("a transposed function without a type");
        };
        let like = self.zero(ty, &[]);
        let function = self.function(f, &like, Some(seed), type_args)?;
        let cotangents = flatten(seed).atoms();
        let exp = Exp::Transpose { lambda: function.lambda, cotangents };
        let adjoints = self.emit_all("x_adj", &flatten(&like).types(), exp);
        Ok(with_leaves(&like, &adjoints))
    }

    pub(super) fn stop_gradient(&mut self, x: &SVal) -> SVal {
        let flat = flatten(x);
        let mut leaves = Vec::new();
        for (atom, ty) in flat.atoms().into_iter().zip(flat.types()) {
            leaves.push(self.emit("detached", ty, Exp::Detach(atom)));
        }
        rebuild(x, &flat.dims, &leaves)
    }

    /// Many seeds at once: the primal once, and a map of its derivative, transposed for reverse mode, over the seeds.
    pub(super) fn many_seeds(
        &mut self,
        forward: bool,
        f: &SVal,
        x: &SVal,
        seeds: &ArrayVal,
        type_args: &[EArg],
    ) -> Res<SVal> {
        let both = self.linearize(f, x, type_args)?;
        let SVal::Record(both) = &both else { return self.bug("a derivative that is not a pair") };
        let (primal, linear) = (&both[0].1, &both[1].1);
        let seed_like = if forward { x } else { primal };
        let (params, seed) = self.row_params("seed", &seeds.elem);
        let (stms, result) = self.scope(|s| {
            let seed = s.conform(&seed, seed_like);
            match forward {
                true => s.apply(linear, vec![seed]),
                false => {
                    let function = s.function(linear, x, Some(&seed), type_args)?;
                    let cotangents = flatten(&seed).atoms();
                    let exp = Exp::Transpose { lambda: function.lambda, cotangents };
                    let adjoints = s.emit_all("x_adj", &flatten(x).types(), exp);
                    Ok(with_leaves(x, &adjoints))
                }
            }
        })?;
        let flat = flatten(&result);
        let lambda = Lambda { params, body: Body { stms, result: flat.atoms() }, ret: flat.types() };
        let arrays = self.array_vars(&flatten(&seeds.elem).leaves)?;
        let types: Vec<Type> = flat.types().iter().map(|ty| outer_type(seeds.dim, ty)).collect();
        let leaves = self.emit_all("mapped", &types, Exp::Map { width: seeds.dim, arrays, lambda });
        let derivatives = SVal::array(seeds.dim, rebuild(&result, &flat.dims, &leaves));
        Ok(SVal::tuple([primal.clone(), derivatives]))
    }

    pub(super) fn with_vjp(&mut self, f: &SVal, rule: &SVal, x: &SVal, type_args: &[EArg]) -> Res<SVal> {
        let function = self.function(f, x, None, type_args)?;
        let ret = function.lambda.ret.clone();
        let primal = rebuild(&function.result, &function.dims, &function.lambda.body.result);
        let (results, result) = self.row_params("y", &primal);
        let (cotangents, cotangent) = self.row_params("ct", &primal);
        let loc = self.loc;
        let body = self.without_effects("the rule of a derivative", |s| {
            s.body(|s| {
                let adjoint = s.apply(rule, vec![result, cotangent])?;
                Ok(flatten(&s.conform(&adjoint, x)).atoms())
            })
        })?;
        self.loc = loc;
        let flat = flatten(x);
        let params = [results, cotangents].concat();
        let rule = Lambda { params, body, ret: flat.types() };
        let exp = Exp::WithVjp { lambda: function.lambda, rule, args: flat.atoms() };
        let results = self.emit_all("y", &ret, exp);
        Ok(rebuild(&function.result, &function.dims, &results))
    }
}

/// The value with other leaves, except that constructors stay what they are.
pub(super) fn with_leaves(value: &SVal, leaves: &[Atom]) -> SVal {
    let Flat { dims, leaves: own, .. } = flatten(value);
    let mut tags = Vec::new();
    mark_tags(value, &mut tags);
    let chosen: Vec<Atom> = (own.iter().zip(leaves).zip(tags))
        .map(|((own, leaf), is_tag)| if is_tag { own.atom } else { *leaf })
        .collect();
    rebuild(value, &dims, &chosen)
}

/// Which leaves, in the order of [`flatten`], say what constructor a sum has.
fn mark_tags(value: &SVal, out: &mut Vec<bool>) {
    match value {
        SVal::Array(array) => mark_tags(&array.elem, out),
        SVal::Record(fields) => fields.iter().for_each(|(_, v)| mark_tags(v, out)),
        SVal::Sum(sum) => {
            out.push(true);
            sum.constrs.iter().flat_map(|(_, payload)| payload).for_each(|v| mark_tags(v, out));
        }
        SVal::Scalar(..) | SVal::Fun(_) | SVal::Choice(_) | SVal::Acc(_) | SVal::Ref(_) => {
            out.extend(flatten(value).leaves.iter().map(|_| false));
        }
        SVal::Def(_) | SVal::Alias(_) | SVal::SizeOf(..) | SVal::UnboundSize(_) | SVal::Absent => {}
    }
}

pub(crate) fn contains_function(value: &SVal) -> bool {
    match value {
        SVal::Array(array) => contains_function(&array.elem),
        SVal::Record(fields) => fields.iter().any(|(_, v)| contains_function(v)),
        SVal::Sum(sum) => sum.constrs.iter().flat_map(|(_, payload)| payload).any(contains_function),
        SVal::Fun(_) | SVal::Choice(_) | SVal::Absent => true,
        SVal::Scalar(..) | SVal::Acc(_) | SVal::Ref(_) | SVal::Def(_) | SVal::Alias(_) => false,
        SVal::SizeOf(..) | SVal::UnboundSize(_) => false,
    }
}
