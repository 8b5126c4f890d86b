//! Sizes of values: matching a value with a type, renaming sizes, and values that follow from a type alone.
//!
//! Matching `xs: [k]f32` with `[n]f32` binds `n` if it is free, and otherwise makes the size of the value
//! literally `n`, which Core needs wherever several values must have one type:
//!
//! ```text
//! assert k == n
//! let (xs': [n]f32) = reshape [n] xs
//! ```

use std::collections::HashMap;
use std::rc::Rc;

use dagaz_core::exp::{Exp, MsgPart};
use dagaz_core::prim::Prim;
use dagaz_core::types::{Atom, Param, Type};
use dagaz_types::types::{RetType, Type as SourceType, VarId};

use crate::context::{Res, Simplifier};
use crate::value::{AccVal, EDim, EType, Env, SVal, SumVal, as_var, tag};
use crate::walk::{Path, Walker, array_type, flatten, type_leaves, walk};

/// Values of free sizes, by name.
pub(crate) type Sizes = HashMap<VarId, Atom>;

/// What a size of a value is to become.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    Known(Atom),
    Free(VarId),
    /// No type says anything about it: it belongs to what a function captured.
    Own,
}

/// The targets of all sizes of a value, in the order of [`flatten`].
pub(crate) fn targets(value: &SVal, ty: &EType) -> Vec<Target> {
    let mut result = Vec::new();
    collect_targets(value, Some(ty), &mut result);
    result
}

fn collect_targets(value: &SVal, ty: Option<&EType>, out: &mut Vec<Target>) {
    match (value, ty) {
        (SVal::Scalar(..), _) => {}
        (SVal::Array(array), Some(EType::Array(dim, elem))) => {
            out.push(match dim {
                EDim::Known(atom) => Target::Known(*atom),
                EDim::Free(var) => Target::Free(*var),
            });
            collect_targets(&array.elem, Some(elem), out);
        }
        (SVal::Record(fields), Some(EType::Record(types))) => {
            for (i, (_, v)) in fields.iter().enumerate() {
                collect_targets(v, types.get(i).map(|(_, t)| t), out);
            }
        }
        (SVal::Sum(sum), Some(EType::Sum(types))) => {
            for (i, (_, payload)) in sum.constrs.iter().enumerate() {
                let types = types.get(i).map(|(_, ts)| ts);
                for (j, v) in payload.iter().enumerate() {
                    collect_targets(v, types.and_then(|ts| ts.get(j)), out);
                }
            }
        }
        (SVal::Ref(reference), Some(EType::Ref(content))) => type_targets(&reference.ty, content, out),
        _ => out.extend(flatten(value).dims.iter().map(|_| Target::Own)),
    }
}

/// The targets of the sizes in the type of a reference's content.
fn type_targets(own: &EType, ty: &EType, out: &mut Vec<Target>) {
    match (own, ty) {
        (EType::Array(own_dim, own), EType::Array(dim, ty)) => {
            if let EDim::Known(_) = own_dim {
                out.push(match dim {
                    EDim::Known(atom) => Target::Known(*atom),
                    EDim::Free(var) => Target::Free(*var),
                });
            }
            type_targets(own, ty, out);
        }
        (EType::Record(own), EType::Record(types)) => {
            own.iter().zip(types.iter()).for_each(|((_, own), (_, ty))| type_targets(own, ty, out));
        }
        (EType::Sum(own), EType::Sum(types)) => {
            let payloads = |constrs: &[(_, Vec<EType>)]| {
                constrs.iter().flat_map(|(_, ts)| ts.clone()).collect::<Vec<_>>()
            };
            payloads(own).iter().zip(&payloads(types)).for_each(|(own, ty)| type_targets(own, ty, out));
        }
        (EType::Acc(own), EType::Acc(ty)) | (EType::Ref(own), EType::Ref(ty)) => type_targets(own, ty, out),
        (
            EType::Prim(_)
            | EType::Fun
            | EType::Array(..)
            | EType::Record(_)
            | EType::Sum(_)
            | EType::Acc(_)
            | EType::Ref(_),
            _,
        ) => {}
    }
}

/// The values of free sizes, at the places where they first occur.
pub(crate) fn sizes_of(value: &SVal, targets: &[Target]) -> Sizes {
    let mut sizes = Sizes::new();
    for (target, dim) in targets.iter().zip(flatten(value).dims) {
        if let Target::Free(var) = target {
            sizes.entry(*var).or_insert(dim);
        }
    }
    sizes
}

struct Redim<'s, 'a> {
    simplifier: &'s mut Simplifier<'a>,
    dims: std::slice::Iter<'s, Atom>,
}

impl Walker for Redim<'_, '_> {
    fn dim(&mut self, dim: Atom) -> Atom {
        let Some(&new) = self.dims.next() else { return dim };
        self.simplifier.assert_equal(dim, new, || {
            vec![
                MsgPart::Text("Value of size ".into()),
                MsgPart::Value(dim),
                MsgPart::Text(" where size ".into()),
                MsgPart::Value(new),
                MsgPart::Text(" is expected.".into()),
            ]
        });
        new
    }

    fn leaf(&mut self, old: Type, new: Type, atom: Atom) -> Atom {
        match (&old, &new, as_var(atom)) {
            (Type::Array { dims: from, .. }, Type::Array { dims: to, .. }, Some(array)) if from != to => {
                let exp = Exp::Reshape { dims: to.clone(), array };
                self.simplifier.emit("resized", new, exp)
            }
            _ => atom,
        }
    }
}

impl Simplifier<'_> {
    /// The same value with the given sizes, which are asserted to be what they were.
    pub fn redim(&mut self, value: &SVal, dims: &[Atom]) -> SVal {
        if flatten(value).dims == dims {
            return value.clone();
        }
        walk(value, &mut Redim { simplifier: self, dims: dims.iter() }, &mut Path::default())
    }

    /// A value with the sizes of its type, and the values of the sizes that were free in the type.
    pub fn match_type(&mut self, value: &SVal, ty: &EType) -> (SVal, Sizes) {
        if let SVal::Scalar(..) | SVal::Fun(_) = value {
            return (value.clone(), Sizes::new());
        }
        let targets = targets(value, ty);
        let sizes = sizes_of(value, &targets);
        let dims: Vec<Atom> = (targets.iter().zip(flatten(value).dims))
            .map(|(target, dim)| match target {
                Target::Known(atom) => *atom,
                Target::Free(var) => sizes.get(var).copied().unwrap_or(dim),
                Target::Own => dim,
            })
            .collect();
        (self.redim(value, &dims), sizes)
    }

    /// The sizes of `value` become those of `like`, a value of the same skeleton.
    pub fn conform(&mut self, value: &SVal, like: &SVal) -> SVal {
        self.redim(value, &flatten(like).dims)
    }

    /// Binds the sizes of a type that have no value yet by looking at a value of that type.
    pub fn bind_sizes(&mut self, env: &mut Env, ty: &SourceType, value: &SVal) -> Res<()> {
        if !mentions_sizes(ty) {
            return Ok(());
        }
        let ty = self.eval_type(env, ty)?;
        for (var, atom) in sizes_of(value, &targets(value, &ty)) {
            env.vars.insert(var, SVal::i64(atom));
        }
        Ok(())
    }

    /// The type of a result, with the sizes that only the result determines left free.
    pub fn eval_ret(&mut self, env: &Env, ret: &RetType) -> Res<EType> {
        let mut env = env.clone();
        for ext in &ret.exts {
            env.vars.remove(ext);
        }
        self.eval_type(&mut env, &ret.ty)
    }

    /// A value of zeros; its free sizes are 0.
    pub fn zero(&mut self, ty: &EType, path: &[Atom]) -> SVal {
        match ty {
            EType::Prim(prim) => SVal::Scalar(*prim, self.filled(Prim::zero(*prim), path)),
            EType::Array(dim, elem) => {
                let dim = match dim {
                    EDim::Known(atom) => *atom,
                    EDim::Free(_) => Atom::i64(0),
                };
                SVal::array(dim, self.zero(elem, &[path, &[dim]].concat()))
            }
            EType::Record(fields) => {
                SVal::Record(fields.iter().map(|(name, t)| (*name, self.zero(t, path))).collect())
            }
            EType::Sum(constrs) => {
                let constrs = (constrs.iter())
                    .map(|(name, types)| (*name, types.iter().map(|t| self.zero(t, path)).collect()))
                    .collect();
                SVal::Sum(Rc::new(SumVal { tag: self.filled(Prim::I8(0), path), constrs }))
            }
            EType::Fun | EType::Acc(_) | EType::Ref(_) => SVal::Absent,
        }
    }

    /// A constant, repeated over the sizes of `path`.
    pub fn filled(&mut self, value: Prim, path: &[Atom]) -> Atom {
        if path.is_empty() {
            return Atom::Const(value);
        }
        let exp = Exp::Replicate { dims: path.to_vec(), value: Atom::Const(value) };
        self.emit("filled", array_type(value.ty(), path), exp)
    }

    /// A value of a type whose leaves are new parameters. `sizes` says what to do with free sizes.
    pub fn fresh_value(
        &mut self,
        hint: &str,
        ty: &EType,
        path: &[Atom],
        size: &mut dyn FnMut(&mut Self, EDim) -> Atom,
        params: &mut Vec<Param>,
    ) -> SVal {
        match ty {
            EType::Prim(prim) => SVal::Scalar(*prim, self.fresh_leaf(hint, array_type(*prim, path), params)),
            EType::Array(dim, elem) => {
                let dim = size(self, *dim);
                SVal::array(dim, self.fresh_value(hint, elem, &[path, &[dim]].concat(), size, params))
            }
            EType::Record(fields) => {
                let mut values = Vec::with_capacity(fields.len());
                for (name, t) in fields.iter() {
                    let hint = format!("{hint}_{name}");
                    values.push((*name, self.fresh_value(&hint, t, path, size, params)));
                }
                SVal::Record(values.into())
            }
            EType::Sum(constrs) => {
                let tag = self.fresh_leaf("tag", array_type(dagaz_core::prim::PrimType::I8, path), params);
                let mut result = Vec::with_capacity(constrs.len());
                for (name, types) in constrs.iter() {
                    let payload = types.iter().map(|t| self.fresh_value(hint, t, path, size, params));
                    result.push((*name, payload.collect()));
                }
                SVal::Sum(Rc::new(SumVal { tag, constrs: result }))
            }
            EType::Acc(array) => match array.as_ref() {
                EType::Array(dim, elem) => {
                    let dim = size(self, *dim);
                    let ty = Type::Acc { index_dims: vec![dim], elems: type_leaves(elem, &[]) };
                    let acc = self.fresh_leaf(hint, ty, params);
                    SVal::Acc(Rc::new(AccVal { acc, dims: vec![dim], elem: elem.as_ref().clone() }))
                }
                EType::Prim(_)
                | EType::Record(_)
                | EType::Sum(_)
                | EType::Fun
                | EType::Acc(_)
                | EType::Ref(_) => SVal::Absent,
            },
            EType::Fun | EType::Ref(_) => SVal::Absent,
        }
    }

    fn fresh_leaf(&mut self, hint: &str, ty: Type, params: &mut Vec<Param>) -> Atom {
        let param = self.param(hint, ty);
        let atom = param.var.into();
        params.push(param);
        atom
    }

    /// The sum value of one constructor.
    pub fn constructed(
        &mut self,
        constrs: &[(dagaz_syntax::Name, Vec<EType>)],
        active: dagaz_syntax::Name,
        payload: Vec<SVal>,
    ) -> Res<SVal> {
        let Some(position) = constrs.iter().position(|(name, _)| *name == active) else {
            return self.bug("a constructor that its type does not have");
        };
        // Other constructors have the sizes that the payload determines, so that these can be read off any of them.
        let mut sizes = Sizes::new();
        for (value, ty) in payload.iter().zip(&constrs[position].1) {
            sizes.extend(sizes_of(value, &targets(value, ty)));
        }
        let mut payload = Some(payload);
        let mut result = Vec::with_capacity(constrs.len());
        for (i, (name, types)) in constrs.iter().enumerate() {
            let values = match payload.take_if(|_| i == position) {
                Some(values) => values,
                None => types.iter().map(|t| self.zero(&with_sizes(t, &sizes), &[])).collect(),
            };
            result.push((*name, values));
        }
        Ok(SVal::Sum(Rc::new(SumVal { tag: tag(position), constrs: result })))
    }
}

/// The type with its free sizes filled in, where they are known.
fn with_sizes(ty: &EType, sizes: &Sizes) -> EType {
    match ty {
        EType::Prim(_) | EType::Fun | EType::Acc(_) | EType::Ref(_) => ty.clone(),
        EType::Array(dim, elem) => {
            let dim = match dim {
                EDim::Free(var) => sizes.get(var).map_or(*dim, |atom| EDim::Known(*atom)),
                EDim::Known(_) => *dim,
            };
            EType::Array(dim, Rc::new(with_sizes(elem, sizes)))
        }
        EType::Record(fields) => {
            EType::Record(fields.iter().map(|(name, t)| (*name, with_sizes(t, sizes))).collect())
        }
        EType::Sum(constrs) => {
            let constr = |(name, types): &(_, Vec<EType>)| {
                (*name, types.iter().map(|t| with_sizes(t, sizes)).collect())
            };
            EType::Sum(constrs.iter().map(constr).collect())
        }
    }
}

/// Whether evaluating the type could tell anything about sizes.
pub(crate) fn mentions_sizes(ty: &SourceType) -> bool {
    match ty {
        SourceType::Prim(_) | SourceType::Arrow(_) | SourceType::Meta(_) => false,
        SourceType::Array { .. } => true,
        SourceType::Record(fields) => fields.iter().any(|(_, t)| mentions_sizes(t)),
        SourceType::Sum(constrs) => constrs.iter().any(|(_, ts)| ts.iter().any(mentions_sizes)),
        SourceType::Named { .. } => true,
    }
}
