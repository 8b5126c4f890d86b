//! Evaluation of source types in an environment: parameters and abstract types are looked up, sizes become atoms.
//!
//! ```text
//! [n]t   with n = 10 and t = (f32, a) and a = [m]u8, abstract outside     ==>     [10](f32, [m]u8)
//! ```
//!
//! A size without a value is left free, to be found by [`crate::shape`] from a value of the type.

use std::rc::Rc;

use dagaz_core::prim::PrimType as CorePrim;
use dagaz_core::types::Atom;
use dagaz_types::typed::Exp;
use dagaz_types::types::{PrimType, Size, Type, TypeArg, TypeParam, TypeParamKind};

use crate::context::{Res, Simplifier};
use crate::value::{EArg, EDim, EType, Env, SVal, TypeBinding};

pub(crate) fn core_prim(ty: PrimType) -> CorePrim {
    match ty {
        PrimType::I8 => CorePrim::I8,
        PrimType::I16 => CorePrim::I16,
        PrimType::I32 => CorePrim::I32,
        PrimType::I64 => CorePrim::I64,
        PrimType::U8 => CorePrim::U8,
        PrimType::U16 => CorePrim::U16,
        PrimType::U32 => CorePrim::U32,
        PrimType::U64 => CorePrim::U64,
        PrimType::F16 => CorePrim::F16,
        PrimType::F32 => CorePrim::F32,
        PrimType::F64 => CorePrim::F64,
        PrimType::Bool => CorePrim::Bool,
    }
}

impl Simplifier<'_> {
    pub fn eval_type(&mut self, env: &mut Env, ty: &Type) -> Res<EType> {
        Ok(match ty {
            Type::Prim(prim) => EType::Prim(core_prim(*prim)),
            Type::Array { dim, elem, .. } => {
                let dim = self.eval_size(env, dim)?;
                EType::Array(dim, Rc::new(self.eval_type(env, elem)?))
            }
            Type::Record(fields) => {
                let fields: Res<Vec<_>> =
                    fields.iter().map(|(name, t)| Ok((*name, self.eval_type(env, t)?))).collect();
                EType::Record(fields?.into())
            }
            Type::Sum(constrs) => {
                let mut result = Vec::with_capacity(constrs.len());
                for (name, types) in constrs.iter() {
                    let types: Res<Vec<_>> = types.iter().map(|t| self.eval_type(env, t)).collect();
                    result.push((*name, types?));
                }
                EType::Sum(result.into())
            }
            Type::Arrow(_) => EType::Fun,
            Type::Named { id, args, .. } => match env.types.get(id).cloned() {
                Some(TypeBinding::Type(ty) | TypeBinding::Index(ty, _)) => ty,
                Some(TypeBinding::Closure(closure)) => {
                    let args = self.eval_args(env, args)?;
                    let mut inner = closure.env.clone();
                    self.bind_type_params(&mut inner, &closure.params, &args);
                    self.eval_type(&mut inner, &closure.body)?
                }
                // The compiler provides references and the accumulators of streams; no declaration defines them.
                None => match args.as_ref() {
                    [TypeArg::Type(content)] if self.references.kind(*id).is_some() => {
                        EType::Ref(Rc::new(self.eval_type(env, content)?))
                    }
                    [TypeArg::Type(elem)] => EType::Acc(Rc::new(self.eval_type(env, elem)?)),
                    _ => return self.bug("a type without a definition"),
                },
            },
            Type::Meta(_) => return self.bug("a type that was not inferred"),
        })
    }

    pub fn eval_args(&mut self, env: &mut Env, args: &[TypeArg]) -> Res<Rc<[EArg]>> {
        let mut result = Vec::with_capacity(args.len());
        for arg in args {
            result.push(match arg {
                TypeArg::Size(size) => EArg::Size(self.eval_size(env, size)?),
                TypeArg::Type(ty) => self.eval_type_arg(env, ty)?,
            });
        }
        Ok(result.into())
    }

    pub fn eval_size(&mut self, env: &mut Env, size: &Size) -> Res<EDim> {
        Ok(match size {
            Size::Const(value) => EDim::Known(Atom::i64(*value)),
            Size::Var(var) => match env.vars.get(var).cloned() {
                Some(SVal::Scalar(_, atom)) => EDim::Known(atom),
                Some(SVal::UnboundSize(other)) => match env.vars.get(&other) {
                    Some(SVal::Scalar(_, atom)) => EDim::Known(*atom),
                    _ => EDim::Free(other),
                },
                Some(SVal::SizeOf(def, size)) => match self.constant_size(&def, size)? {
                    Some(atom) => EDim::Known(atom),
                    None => EDim::Free(size),
                },
                Some(SVal::Def(def)) => match self.constant(&def)? {
                    SVal::Scalar(_, atom) => EDim::Known(atom),
                    _ => return self.bug("a size that is not a number"),
                },
                Some(SVal::Alias(alias)) => match self.resolve_alias(&alias, &[])? {
                    SVal::Scalar(_, atom) => EDim::Known(atom),
                    _ => return self.bug("a size that is not a number"),
                },
                Some(_) => return self.bug("a size that is not a number"),
                None => EDim::Free(*var),
            },
            Size::Exp(exp) => self.eval_size_exp(env, exp)?,
            Size::Set(ty) => self.set_size(env, ty)?,
            Size::Meta(_) => return self.bug("a size that was not inferred"),
        })
    }

    /// A size expression over sizes that have no value yet is itself still free.
    fn eval_size_exp(&mut self, env: &mut Env, exp: &Exp) -> Res<EDim> {
        if self.mentions_unbound(env, exp) {
            return Ok(EDim::Free(self.fresh_size()));
        }
        match self.eval(env, exp)? {
            SVal::Scalar(_, atom) => Ok(EDim::Known(atom)),
            _ => self.bug("a size that is not a number"),
        }
    }

    fn mentions_unbound(&self, env: &Env, exp: &Exp) -> bool {
        // Sizes that only types mention are found from arguments, as everywhere.
        crate::free::values_in_exp(exp)
            .vars
            .iter()
            .any(|var| matches!(env.vars.get(var), None | Some(SVal::UnboundSize(_))))
    }

    pub fn bind_type_params(&mut self, env: &mut Env, params: &[TypeParam], args: &[EArg]) {
        for (i, param) in params.iter().enumerate() {
            match (param.kind, args.get(i)) {
                (TypeParamKind::Size(var), Some(EArg::Size(EDim::Known(atom)))) => {
                    env.vars.insert(var, SVal::i64(*atom));
                }
                (TypeParamKind::Size(var), Some(EArg::Size(EDim::Free(other)))) => {
                    env.vars.insert(var, SVal::UnboundSize(*other));
                }
                (TypeParamKind::Type(id, _), Some(EArg::Type(ty))) => {
                    env.types.insert(id, TypeBinding::Type(ty.clone()));
                }
                (TypeParamKind::Type(id, _), Some(EArg::Index(ty, set))) => {
                    env.types.insert(id, TypeBinding::Index(ty.clone(), set.clone()));
                }
                (TypeParamKind::Size(var), _) => drop(env.vars.remove(&var)),
                (TypeParamKind::Type(id, _), _) => drop(env.types.remove(&id)),
            }
        }
    }
}
