//! Whole definitions: recursion and generalisation.

use std::rc::Rc;

use dagaz_syntax::ast::{TypeExp, ValBind};
use dagaz_syntax::{Diagnostic, Name};

use super::{Infer, Local, Notes};
use crate::automap::RankProblem;
use crate::context::{Context, Res};
use crate::env::Env;
use crate::types::{RetType, Scheme, Type, TypeArg, TypeParam, TypeParamKind, VarId};

/// Infer the types of a definition that will be known as `var`; if `recursive`, in its own body too.
pub(crate) fn infer_definition(
    cx: &mut Context,
    frames: &mut Vec<Env>,
    bind: &ValBind,
    var: VarId,
    recursive: bool,
) -> Res<Notes> {
    let depth = frames.len();
    let mut infer = Infer::new(cx, frames);
    let result = infer.definition(bind, var, recursive).and_then(|()| infer.finish());
    frames.truncate(depth);
    result
}

/// What a definition demands of ranks, if its applications may be lifted.
pub(crate) fn collect_ranks(
    cx: &mut Context,
    frames: &mut Vec<Env>,
    bind: &ValBind,
    (var, recursive): (VarId, bool),
    scalar_equality: bool,
) -> Res<RankProblem> {
    let depth = frames.len();
    let said = cx.diagnostics.len();
    let mut infer = Infer::new(cx, frames);
    infer.start_ranks(scalar_equality);
    let result = infer.signature(bind, var, recursive).and_then(|_| infer.relate_elements());
    let problem = infer.ranks.take().unwrap_or_default();
    frames.truncate(depth);
    cx.diagnostics.truncate(said);
    result.map(|()| *problem)
}

/// Resolve the names in a type expression outside of any definition, under some type parameters.
pub(crate) fn infer_type(
    cx: &mut Context,
    frames: &mut Vec<Env>,
    params: &[dagaz_syntax::ast::TypeParam],
    te: &TypeExp,
) -> Res<(Vec<TypeParam>, Notes)> {
    let depth = frames.len();
    let mut infer = Infer::new(cx, frames);
    let result = infer.enter_type_params(params).and_then(|params| {
        infer.type_exp(te)?;
        Ok((params, infer.finish()?))
    });
    frames.truncate(depth);
    result
}

/// Find the types at which a value of the scheme `have` is of type `want`, or say why there are none.
pub(crate) fn match_scheme(
    cx: &mut Context,
    frames: &mut Vec<Env>,
    have: &Scheme,
    want: &Type,
) -> Result<Vec<TypeArg>, Option<String>> {
    let mut infer = Infer::new(cx, frames);
    let (mut inst, ty) = infer.instantiate(have, dagaz_syntax::Span::NONE);
    infer.unify(want, &ty).map_err(|m| m.note)?;
    for arg in &mut inst {
        if let TypeArg::Type(t) = arg {
            *t = infer.zonk(t);
            // A parameter that nothing depends on may be anything.
            if let Type::Meta(_) = t {
                *t = Type::tuple([]);
            }
        }
    }
    Ok(inst)
}

impl Infer<'_> {
    fn definition(&mut self, bind: &ValBind, var: VarId, recursive: bool) -> Res<()> {
        let ty = self.signature(bind, var, recursive)?;
        self.settle_elements()?;
        self.warn_of_defaults(&ty, bind.name);
        self.apply_defaults()?;
        self.generalise(&ty);
        self.leave_type_params();
        Ok(())
    }

    /// The type of a definition before defaults and generalisation.
    fn signature(&mut self, bind: &ValBind, var: VarId, recursive: bool) -> Res<Type> {
        self.check_size_names(super::pattern::size_params(&bind.type_params), &bind.params)?;
        self.enter_type_params(&bind.type_params)?;
        let own_type = self.fresh(bind.name.span);
        if recursive && !bind.params.is_empty() {
            // The function is in scope of itself, at one type. The second pass lets its sizes vary.
            let scheme = Scheme { params: Vec::new(), overloads: Vec::new(), ty: own_type.clone() };
            self.schemes.insert(var, Rc::new(scheme));
            self.bind_local(bind.name.name, Local::Var(var));
        }
        let ty = self.function(&bind.params, bind.ret.as_ref(), &bind.body, None)?;
        let ok = self.unify(&own_type, &ty);
        self.expect(ok, bind.name.span, "The function is used in itself at another type", &ty, &own_type)?;
        Ok(ty)
    }

    /// A definition whose type depends on a default is rarely what was meant.
    fn warn_of_defaults(&mut self, ty: &Type, name: dagaz_syntax::ast::Ident) {
        // The default of a constant can be seen at once from what it is.
        if !matches!(self.shallow(ty), Type::Arrow(_)) {
            return;
        }
        let mut open = Vec::new();
        self.open_metas(ty, &mut open);
        if open.iter().any(|m| self.metas[*m as usize].constraint.prims.is_some()) {
            self.cx.warn(
                Diagnostic::warning(
                    "defaulted-type",
                    name.span,
                    format!(
                        "The type of \"{}\" is ambiguous: numbers in it default to i32 or f64",
                        name.name
                    ),
                )
                .help("add a type annotation to a parameter"),
            );
        }
    }

    /// Make type parameters of the open types in the type of a definition.
    fn generalise(&mut self, ty: &Type) {
        let mut open = Vec::new();
        self.open_metas(ty, &mut open);
        for (i, m) in open.into_iter().enumerate() {
            let name = Name::new(&format!("t{i}"));
            let liftedness = self.metas[m as usize].constraint.liftedness;
            let id = self.cx.fresh_type(name);
            self.cx.liftedness.insert(id, liftedness);
            self.metas[m as usize].bound = Some(Type::Named { unique: false, id, args: [].into() });
            self.notes.generalised.push(TypeParam { name, kind: TypeParamKind::Type(id, liftedness) });
        }
    }

    fn open_metas(&self, ty: &Type, open: &mut Vec<u32>) {
        match self.shallow(ty) {
            Type::Prim(_) => {}
            Type::Meta(m) => {
                if !open.contains(&m) {
                    open.push(m);
                }
            }
            Type::Array { elem, .. } => self.open_metas(&elem, open),
            Type::Record(fields) => fields.iter().for_each(|(_, t)| self.open_metas(t, open)),
            Type::Sum(cs) => cs.iter().for_each(|(_, ts)| ts.iter().for_each(|t| self.open_metas(t, open))),
            Type::Arrow(arrow) => {
                self.open_metas(&arrow.from, open);
                let RetType { ty, .. } = &arrow.to;
                self.open_metas(ty, open);
            }
            Type::Named { args, .. } => args.iter().for_each(|a| {
                if let TypeArg::Type(t) = a {
                    self.open_metas(t, open);
                }
            }),
        }
    }
}
