//! Whole definitions, and types outside of definitions.

use std::collections::HashSet;
use std::rc::Rc;

use dagaz_syntax::ast::{TypeExp, ValBind};
use dagaz_syntax::{Diagnostic, Span};

use super::Sizer;
use super::existential::Instance;
use super::indices::{Variance, mentions_index};
use super::type_exp::Anonymous;
use crate::context::{Context, Res, fail};
use crate::infer::Notes;
use crate::typed::{Def, EntryTypes};
use crate::types::{RetType, Scheme, Type, TypeArg, TypeParamKind, VarId};

/// A definition and its type.
pub(crate) struct Checked {
    pub def: Def,
    pub scheme: Scheme,
    /// Sizes of a constant that nothing else names.
    pub sizes: Vec<VarId>,
    pub declared: Declared,
}

/// What the source says and the typed tree does not show.
#[derive(Default)]
pub(crate) struct Declared {
    /// The bodies of functions whose result type is written.
    pub results: HashSet<Span>,
    /// Integer literals without a suffix, which must fit the type that is inferred for them.
    pub bare_literals: HashSet<Span>,
    /// Whether nothing settles some size of the definition's result.
    pub open_result: bool,
    /// Variables of loop patterns whose type is written.
    pub loop_params: HashSet<Span>,
}

impl Checked {
    /// Let the result be of this type, which differs in uniqueness alone.
    pub fn set_result(&mut self, ret: RetType) {
        self.scheme.ty = with_result(&self.scheme.ty, self.def.params.len(), &ret);
        self.def.ret = ret;
    }
}

/// A function type with another result after `params` parameters.
pub(crate) fn with_result(ty: &Type, params: usize, ret: &RetType) -> Type {
    match ty {
        Type::Arrow(arrow) if params > 0 => {
            let to = if params == 1 {
                ret.clone()
            } else {
                RetType { exts: arrow.to.exts.clone(), ty: with_result(&arrow.to.ty, params - 1, ret) }
            };
            Type::arrow(arrow.param, arrow.from.clone(), to)
        }
        Type::Prim(_)
        | Type::Meta(_)
        | Type::Array { .. }
        | Type::Record(_)
        | Type::Sum(_)
        | Type::Arrow(_)
        | Type::Named { .. } => ret.ty.clone(),
    }
}

/// Check the sizes of a definition. If values of a lifted type parameter differ in size, once more with existential sizes for it.
pub(crate) fn size_definition(cx: &mut Context, notes: Notes, bind: &ValBind, var: VarId) -> Res<Checked> {
    let notes = Rc::new(notes);
    let said = cx.diagnostics.len();
    let mut existential = HashSet::new();
    let mut first_error = None;
    loop {
        let mut sizer = Sizer::new(cx, notes.clone());
        sizer.existential = existential.clone();
        let (result, perhaps) = checked(sizer, &notes, bind, var);
        let error = match result {
            Ok(checked) => return Ok(checked),
            Err(error) => first_error.unwrap_or(error),
        };
        let before = existential.len();
        existential.extend(perhaps);
        if existential.len() == before {
            return Err(error);
        }
        cx.diagnostics.truncate(said);
        first_error = Some(error);
    }
}

/// The definition, or what is wrong, and which instances might be existential.
fn checked(mut sizer: Sizer<'_>, notes: &Notes, bind: &ValBind, var: VarId) -> (Res<Checked>, Vec<Instance>) {
    let result = check_definition(&mut sizer, notes, bind, var);
    let declared = std::mem::take(&mut sizer.declared);
    (result.map(|checked| Checked { declared, ..checked }), sizer.perhaps_existential)
}

fn check_definition(sizer: &mut Sizer<'_>, notes: &Notes, bind: &ValBind, var: VarId) -> Res<Checked> {
    let generalised = notes.generalised.clone();
    let explicit: Vec<_> =
        bind.type_params.iter().filter_map(|p| sizer.notes.type_params.get(&p.name.span).cloned()).collect();
    sizer.own = Some((var, explicit.into_iter().chain(generalised.iter().cloned()).collect()));
    let (mut type_params, function) =
        sizer.polymorphic(&bind.type_params, &bind.params, bind.ret.as_ref(), &bind.body)?;
    let sizes_from = bind.type_params.len();
    type_params.splice(sizes_from..sizes_from, generalised);
    let mut def = Def {
        var,
        name: bind.name.name,
        type_params,
        params: function.params,
        ret: function.ret,
        body: function.body,
        attrs: Vec::new(),
        entry: None,
        span: bind.name.span,
    };
    sizer.finish_def(&mut def)?;
    sizer.check_size_params(bind, &def)?;
    let ty = if def.params.is_empty() { def.ret.ty.clone() } else { sizer.zonk(&function.ty) };
    let sizes = if def.params.is_empty() { def.ret.exts.clone() } else { Vec::new() };
    let scheme = Scheme { params: def.type_params.clone(), overloads: Vec::new(), ty };
    Ok(Checked { def, scheme, sizes, declared: Declared::default() })
}

/// The type that a type expression denotes; sizes left open are listed.
pub(crate) fn size_type(
    cx: &mut Context,
    notes: Notes,
    te: &TypeExp,
    params: &[crate::types::TypeParam],
) -> Res<RetType> {
    let mut sizer = Sizer::new(cx, Rc::new(notes));
    for p in params {
        if let TypeParamKind::Size(v) = p.kind {
            sizer.bind_size(v);
        }
    }
    let mut exts = Vec::new();
    let ty = sizer.type_exp(te, &mut Anonymous::Open(&mut exts))?;
    let ty = sizer.zonk(&ty);
    let used = ty.size_vars();
    exts.retain(|e| used.contains(e));
    Ok(RetType { exts, ty })
}

/// Find the sizes at which a value of the scheme `have` is of type `want`, given the types.
pub(crate) fn match_sizes(
    cx: &mut Context,
    have: &Scheme,
    types: &[TypeArg],
    want: &Type,
    variance: Variance,
) -> Result<Vec<TypeArg>, Option<String>> {
    let mut sizer = Sizer::new(cx, Rc::default());
    sizer.indices.tracked = mentions_index(sizer.cx, &have.ty) || mentions_index(sizer.cx, want);
    let (mut inst, ty) = sizer.instantiate(have, types, Span::NONE);
    let mut exts = Vec::new();
    sizer.fit_in(want, &ty, variance, &mut exts).map_err(|m| Some(sizer.mismatch_note(&m)))?;
    sizer.solve_indices().map_err(|_| Some("A number would be used as an index".to_owned()))?;
    sizer.finish_inst(&mut inst);
    Ok(inst)
}

impl Sizer<'_> {
    /// Every size parameter must be the size of something in a parameter.
    fn check_size_params(&mut self, bind: &ValBind, def: &Def) -> Res<()> {
        let mut used: Vec<VarId> = def.params.iter().flat_map(|p| p.ty.size_vars()).collect();
        // A size of the result comes from the context of each use.
        used.extend(def.ret.ty.size_vars());
        let sized = bind.type_params.iter().zip(&def.type_params);
        let mut sized = sized.filter(|(_, p)| matches!(p.kind, TypeParamKind::Size(_)));
        if def.params.is_empty()
            && !def.ret.exts.is_empty()
            && let Some((syntax, _)) = sized.next()
        {
            return fail(
                Diagnostic::error(
                    "unknown-size",
                    syntax.name.span,
                    format!(
                        "A size-polymorphic value binding may not have a type with unknown sizes, such as {}",
                        self.cx.show_ret(&def.ret)
                    ),
                )
                .help("give it a parameter, such as \"()\""),
            );
        }
        for (syntax, param) in bind.type_params.iter().zip(&def.type_params) {
            if let TypeParamKind::Size(v) = param.kind
                && !used.contains(&v)
            {
                let what = "Every size parameter must be used as the size of a parameter or of the result";
                return fail(
                    Diagnostic::error("unused-size-parameter", syntax.name.span, format!("{what}, but \"{}\" is not", param.name))
                        .help("sizes are read off the arguments, so at least one parameter must have the size in its type"),
                );
            }
        }
        Ok(())
    }
}

/// The types of an entry point as they were written.
pub(crate) fn entry_types(bind: &ValBind, snippet: &dyn Fn(dagaz_syntax::Span) -> String) -> EntryTypes {
    use dagaz_syntax::ast::{Pat, PatKind, TypeExpKind};
    fn annotation(p: &Pat) -> Option<dagaz_syntax::Span> {
        match &p.kind {
            PatKind::Ascript(_, te) => Some(te.span),
            PatKind::Paren(p) | PatKind::Attr(_, p) => annotation(p),
            _ => None,
        }
    }
    let params = bind.params.iter().map(|p| annotation(p).map(snippet)).collect();
    let results = match &bind.ret {
        None => Vec::new(),
        Some(te) => match &te.kind {
            TypeExpKind::Tuple(parts) => parts.iter().map(|p| Some(snippet(p.span))).collect(),
            _ => vec![Some(snippet(te.span))],
        },
    };
    EntryTypes { params, results }
}
