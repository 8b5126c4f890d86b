//! The second of two passes over a definition: sizes, and the typed tree.
//!
//! The types that the first pass found are dressed with sizes. A size is either known (a constant, a variable, an
//! expression) or *flexible*: a fresh variable that unification will settle. Sizes that come into being
//! while the program runs are *unknown*: fresh variables that are equal to nothing but themselves, listed in
//! [`Exp::exts`] of the expression that makes them.
//!
//! *Levels.* Every binding is one level deeper than its surroundings, and a flexible size may only become a size
//! whose variables are of its own level or outside it. So a size never escapes from the scope of the
//! names that it mentions; types that leave a scope have such sizes replaced by unknown ones.

mod application;
mod array;
mod binding;
mod constants;
mod control;
mod definition;
mod dependent;
mod existential;
mod expression;
mod finish;
mod indices;
mod loops;
mod mismatch;
mod parameter;
mod pattern;
mod pointful;
mod scope;
mod type_exp;
mod unify;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use dagaz_syntax::{Diagnostic, Name, Span};

use crate::context::{Context, Error, Res};
use crate::infer::Notes;
use crate::typed::Exp;
use crate::types::{Scheme, Size, Type, TypeParam, VarId};
use existential::Instance;
use indices::Indices;

pub(crate) use indices::{Variance, hides_indices, types_in};

pub(crate) use binding::sizes_taken;
pub(crate) use definition::{
    Checked, Declared, entry_types, match_sizes, size_definition, size_type, with_result,
};
pub(crate) use pattern::pat_vars;

/// What is known about a size variable.
#[derive(Clone, Debug)]
struct SizeVar {
    level: u32,
    kind: SizeKind,
}

#[derive(Clone, Debug)]
enum SizeKind {
    /// Named in the source: a parameter or a local variable.
    Named,
    /// Came into being at run time; says how.
    Unknown(&'static str, Span),
    /// To be inferred. `lifted`: may become a size that is unknown until a function has run.
    Flexible { value: Option<Size>, lifted: bool },
}

/// Why sizes do not go together.
#[derive(Debug)]
enum SizeMismatch {
    Differ(Size, Size),
    /// The variable is not in scope where the size would be needed.
    Escapes(VarId, Size),
    /// The result of a function has an unknown size where that cannot be.
    UnknownResult(Type),
    /// The second is not known to be an index of the first.
    NotAnIndex(Type, Type),
}

/// The state of the second pass over one definition.
pub(crate) struct Sizer<'a> {
    cx: &'a mut Context,
    notes: Rc<Notes>,
    /// Sized types of local variables.
    schemes: HashMap<VarId, Rc<Scheme>>,
    vars: HashMap<VarId, SizeVar>,
    level: u32,
    /// How many unknown sizes there are so far.
    unknowns: u32,
    /// Size parameters of local functions that may be unknown until a function given as an argument has run.
    open_params: HashSet<VarId>,
    /// The definition being checked, for recursive uses: its id and explicit type parameters.
    own: Option<(VarId, Vec<TypeParam>)>,
    declared: Declared,
    /// Sizes of parameters that are still to be inferred and say nothing about branches.
    parameter_sizes: HashSet<VarId>,
    /// Whether the sizes of parameters count as known for now.
    fixed_parameters: bool,
    /// Whether there are index types with sizes to be inferred.
    has_open_indices: bool,
    /// Index types that definitions are used at.
    index_arguments: Vec<(Type, Span)>,
    /// Numbers that may be indices.
    indices: Indices,
    /// The types of references that handlers make, and where.
    references_made: Vec<(Type, Span)>,
    /// Type parameters that stand for types with existential sizes, by the use of the function that has them.
    existential: HashSet<Instance>,
    /// Those that might, where a size was wanted that differs between values.
    perhaps_existential: Vec<Instance>,
    /// Sizes that nothing settled.
    without_value: HashSet<VarId>,
    /// Sizes that applications of a lambda read off its arguments, and whether the lambda is around what is looked at now.
    lambda_sizes: HashMap<VarId, bool>,
    /// The first size found that nothing settles but that has to be known.
    ambiguous: Option<Diagnostic>,
    /// The same for the result of a function that takes nothing of that size.
    open_result: Option<Diagnostic>,
}

impl<'a> Sizer<'a> {
    pub fn new(cx: &'a mut Context, notes: Rc<Notes>) -> Sizer<'a> {
        let indices = Indices::new(indices::meets_indices(cx, &notes));
        Sizer {
            cx,
            notes,
            schemes: HashMap::new(),
            vars: HashMap::new(),
            level: 0,
            unknowns: 0,
            open_params: HashSet::new(),
            own: None,
            declared: Declared::default(),
            parameter_sizes: HashSet::new(),
            fixed_parameters: false,
            has_open_indices: false,
            index_arguments: Vec::new(),
            indices,
            references_made: Vec::new(),
            existential: HashSet::new(),
            perhaps_existential: Vec::new(),
            without_value: HashSet::new(),
            lambda_sizes: HashMap::new(),
            ambiguous: None,
            open_result: None,
        }
    }

    fn flexible(&mut self, level: u32, lifted: bool) -> Size {
        self.flexible_named(Name::new("d"), level, lifted)
    }

    /// A flexible size that stands for something that has a name.
    fn flexible_named(&mut self, name: Name, level: u32, lifted: bool) -> Size {
        let var = self.cx.fresh_var(name);
        self.vars.insert(var, SizeVar { level, kind: SizeKind::Flexible { value: None, lifted } });
        Size::Var(var)
    }

    /// A size that comes into being here.
    fn unknown(&mut self, why: &'static str, span: Span) -> VarId {
        // Names that differ tell sizes apart in messages.
        let name =
            if self.unknowns == 0 { Name::new("k") } else { Name::new(&format!("k{}", self.unknowns)) };
        self.unknowns += 1;
        let var = self.cx.fresh_var(name);
        self.vars.insert(var, SizeVar { level: self.level, kind: SizeKind::Unknown(why, span) });
        var
    }

    fn bind_var(&mut self, var: VarId, ty: Type) {
        self.bind_scheme(var, Scheme { params: Vec::new(), overloads: Vec::new(), ty });
    }

    fn bind_scheme(&mut self, var: VarId, scheme: Scheme) {
        self.schemes.insert(var, Rc::new(scheme));
        self.vars.insert(var, SizeVar { level: self.level, kind: SizeKind::Named });
    }

    fn bind_size(&mut self, var: VarId) {
        self.bind_var(var, Type::I64);
    }

    fn binder(&self, span: Span) -> Res<VarId> {
        self.notes.binders.get(&span).copied().ok_or_else(|| internal(span, "a binder without a variable"))
    }

    /// What does not go together.
    fn mismatch_note(&self, m: &SizeMismatch) -> String {
        let show = |s: &Size| self.cx.show_size(&self.zonk_size(s));
        match m {
            SizeMismatch::Differ(a, b) => self.sizes_differ(a, b),
            SizeMismatch::Escapes(v, s) if self.is_unknown(*v) => format!(
                "The size \"{}\" comes into being only when the value that has it is there, but it would have to be known before (scope-violation)",
                show(s)
            ),
            SizeMismatch::Escapes(v, s) => format!(
                "The size \"{}\" would have to be known where the variable \"{}\" is not in scope (scope-violation)",
                show(s),
                self.cx.var_name(*v)
            ),
            SizeMismatch::NotAnIndex(expected, actual) => format!(
                "A value of type \"{}\" may be outside of the index set \"{}\"; \"from_ordinal\" makes an index of a number, and checks it",
                self.show_type(actual),
                self.show_type(expected)
            ),
            SizeMismatch::UnknownResult(t) => format!(
                "The function returns a value of type \"{}\", whose size is unknown, but it must be the same for every application",
                self.show_type(t)
            ),
        }
    }

    fn is_unknown(&self, v: VarId) -> bool {
        matches!(self.vars.get(&v), Some(SizeVar { kind: SizeKind::Unknown(..), .. }))
    }

    /// Report that sizes do not match in two types, one expected and one found.
    fn size_error(&self, m: SizeMismatch, span: Span, what: &str, expected: &Type, actual: &Type) -> Error {
        let code = match &m {
            SizeMismatch::Differ(..) => "size-mismatch",
            SizeMismatch::Escapes(..) => "scope-violation",
            SizeMismatch::UnknownResult(_) => "unknown-size",
            SizeMismatch::NotAnIndex(..) => "not-an-index",
        };
        let mut d = Diagnostic::error(code, span, what.to_owned())
            .at(format!("has type \"{}\"", self.show_type(actual)))
            .help(format!("expected type: {}", self.show_type(expected)))
            .help(self.mismatch_note(&m));
        d = self.label_namesakes(d, &m);
        let mut seen = HashSet::new();
        for v in [expected, actual].iter().flat_map(|t| self.zonk(t).size_vars()) {
            if !seen.insert(v) {
                continue;
            }
            if let Some(SizeVar { kind: SizeKind::Unknown(why, at), .. }) = self.vars.get(&v) {
                d = d.label(*at, format!("the unknown size \"{}\" is {why}", self.cx.var_name(v)));
            }
        }
        d.into()
    }

    /// Demand that an expression has a type of exactly these sizes.
    fn expect(&mut self, e: &Exp, expected: &Type, what: &str) -> Res<()> {
        self.placed(e.span, |s| s.unify(expected, &e.ty))
            .map_err(|m| self.size_error(m, e.span, what, expected, &e.ty))
    }
}

/// Something that the first pass should have ruled out.
fn internal(span: Span, what: &str) -> Error {
    Diagnostic::error("internal", span, format!("The compiler met {what} here; this is a bug in Dagaz"))
        .into()
}
