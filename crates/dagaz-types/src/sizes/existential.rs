//! Lifted type parameters that stand for types with existential sizes.
//!
//! The values of a type that is lifted in its sizes may differ in size, as the results of `f` in
//!
//! ```text
//! def iterate '~a (n: i32) (f: (() -> a) -> a) (x: () -> a) = loop x = x () for _i < n do f (\() -> x)
//! ```
//!
//! where `a` stands for `?[k].[k]i32`. A type argument has one size unless arguments do not fit it. Then the definition is checked
//! again, and the type argument is existential wherever functions give it. That is possible only where the type parameter is nothing
//! but the result of functions, for then there is always an application at which its sizes come into being.

use dagaz_syntax::{Name, Span};

use super::Sizer;
use super::application::occurrences;
use crate::typed::Exp;
use crate::types::{Liftedness, RetType, Scheme, Size, Type, TypeArg, TypeId, TypeParamKind};

/// The use of a name, and the number of a type parameter of what it names.
pub(super) type Instance = (Span, usize);

impl Sizer<'_> {
    /// Remember which type arguments of a function, whose arguments do not fit, could be existential.
    pub(super) fn note_existential_instances(&mut self, fun: &Exp) {
        let Some((scheme, inst)) = self.instance_of(fun) else { return };
        for (i, (param, arg)) in scheme.params.iter().zip(inst).enumerate() {
            let instance = (fun.span, i);
            if let (TypeParamKind::Type(id, liftedness), TypeArg::Type(ty)) = (param.kind, arg)
                && liftedness != Liftedness::Unlifted
                && !ty.size_vars().is_empty()
                && results(&scheme.ty, id) == occurrences(&scheme.ty, id)
                && !self.existential.contains(&instance)
            {
                self.perhaps_existential.push(instance);
            }
        }
    }

    /// The type of a polymorphic function in which those type parameters that are existential in this use are replaced. As a type
    /// argument, such a type has sizes that nothing ever binds, and so fits values of any size.
    pub(super) fn with_existential_instances(
        &mut self,
        scheme: &Scheme,
        inst: &mut [TypeArg],
        span: Span,
    ) -> Type {
        let mut ty = scheme.ty.clone();
        for (i, (param, arg)) in scheme.params.iter().zip(inst).enumerate() {
            if let (TypeParamKind::Type(id, _), TypeArg::Type(own)) = (param.kind, arg)
                && self.existential.contains(&(span, i))
            {
                ty = self.with_existential_results(&ty, id, own);
                *own = self.with_fresh_sizes(own).ty;
            }
        }
        ty
    }

    /// The same shape with sizes of its own.
    fn with_fresh_sizes(&mut self, ty: &Type) -> RetType {
        let mut exts = Vec::new();
        let ty = self.map_sizes(ty, &mut |sizer, _| {
            let var = sizer.cx.fresh_var(Name::new("k"));
            exts.push(var);
            Size::Var(var)
        });
        RetType { exts, ty }
    }

    fn with_existential_results(&mut self, ty: &Type, id: TypeId, own: &Type) -> Type {
        match ty {
            Type::Arrow(arrow) => {
                let from = self.with_existential_results(&arrow.from, id, own);
                let to = match is_parameter(&arrow.to.ty, id) {
                    true => self.with_fresh_sizes(own),
                    false => RetType {
                        exts: arrow.to.exts.clone(),
                        ty: self.with_existential_results(&arrow.to.ty, id, own),
                    },
                };
                Type::arrow(arrow.param, from, to)
            }
            Type::Record(fields) => Type::Record(
                fields.iter().map(|(f, t)| (*f, self.with_existential_results(t, id, own))).collect(),
            ),
            Type::Sum(constrs) => Type::Sum(
                constrs
                    .iter()
                    .map(|(c, ts)| {
                        (*c, ts.iter().map(|t| self.with_existential_results(t, id, own)).collect())
                    })
                    .collect(),
            ),
            // There are no functions in these.
            Type::Prim(_) | Type::Meta(_) | Type::Array { .. } | Type::Named { .. } => ty.clone(),
        }
    }
}

fn is_parameter(ty: &Type, id: TypeId) -> bool {
    matches!(ty, Type::Named { id: found, .. } if *found == id)
}

/// How often a type parameter is the whole result of a function in a type.
fn results(ty: &Type, id: TypeId) -> usize {
    match ty {
        Type::Arrow(arrow) => {
            let result = if is_parameter(&arrow.to.ty, id) { 1 } else { results(&arrow.to.ty, id) };
            results(&arrow.from, id) + result
        }
        Type::Record(fields) => fields.iter().map(|(_, t)| results(t, id)).sum(),
        Type::Sum(constrs) => constrs.iter().flat_map(|(_, ts)| ts).map(|t| results(t, id)).sum(),
        Type::Prim(_) | Type::Meta(_) | Type::Array { .. } | Type::Named { .. } => 0,
    }
}
