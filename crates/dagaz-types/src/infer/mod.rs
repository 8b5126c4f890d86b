//! The first of two passes over a definition: names and types, without sizes.
//!
//! The tree is walked once, left to right. Types are unified as they are met; what cannot be decided yet
//! (overloading, fields of a record not known so far, constructors) is kept as a constraint on the open type, and
//! settled at the end of the definition. The findings go into [`Notes`], from which the second pass
//! (`crate::sizes`) builds the typed tree with all sizes. When the pass fails, it can be run again with ranks left open
//! (`ranks`), to find out where maps are missing (`crate::automap`).
//!
//! Local functions are monomorphic except for their explicit type parameters; top-level definitions are
//! generalised.

mod access;
mod binding;
mod constrain;
mod definition;
mod expression;
mod lifted_forms;
mod pattern;
mod pointful;
mod ranks;
mod resolve;
mod suggest;
mod type_exp;
mod unify;

use std::collections::HashMap;
use std::rc::Rc;

use dagaz_syntax::ast::{Ident, NodeId};
use dagaz_syntax::{Diagnostic, Name, Span};

use crate::automap::RankProblem;
use crate::context::{Context, Error, Res};
use crate::env::{Env, TypeBinding, ValueBinding};
use crate::types::{Overload, Scheme, Type, TypeArg, TypeParam, TypeParamKind, VarId};
pub(crate) use definition::{collect_ranks, infer_definition, infer_type, match_scheme};
pub(crate) use pattern::collect_names;
use pointful::names_indices;
pub(crate) use ranks::has_frame;
pub(crate) use resolve::{lookup_mod_type, lookup_module};
pub(crate) use type_exp::check_distinct;
pub(crate) use unify::ANY_SIZE;
use unify::{Constraint, Meta, Unified};

/// What a variable or operator in the source refers to.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub target: ValueBinding,
    pub name: Name,
    /// Types, with sizes still [`ANY_SIZE`].
    pub inst: Vec<TypeArg>,
    /// Fields to project: in `a.b.c` with `a` a record, `b` and `c`.
    pub fields: Vec<Name>,
}

/// What the first pass finds out about a definition.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Types of expressions and patterns.
    pub types: HashMap<NodeId, Type>,
    pub uses: HashMap<NodeId, Use>,
    /// Variables and sizes, by the place of the name that binds them.
    pub binders: HashMap<Span, VarId>,
    /// Type parameters, by the place of the name that binds them.
    pub type_params: HashMap<Span, TypeParam>,
    /// What type names mean.
    pub type_names: HashMap<NodeId, Rc<TypeBinding>>,
    /// Whether there is an array written with `for`.
    pub pointful: bool,
    /// Type parameters that generalisation added.
    pub generalised: Vec<TypeParam>,
}

#[derive(Clone, Copy, Debug)]
enum Local {
    Var(VarId),
    /// Brought in by `m.(e)`.
    Global(ValueBinding),
}

/// The state of the first pass over one definition (or one type expression).
pub(crate) struct Infer<'a> {
    pub cx: &'a mut Context,
    /// Module-level scopes, outermost first. Local type parameters get a scope of their own.
    frames: &'a mut Vec<Env>,
    locals: HashMap<Name, Vec<Local>>,
    /// The names of `locals` in the order they were bound, so that scopes can be left.
    bound: Vec<Name>,
    /// Types of local variables.
    schemes: HashMap<VarId, Rc<Scheme>>,
    metas: Vec<Meta>,
    /// Where applications may be lifted: what is known about ranks.
    ranks: Option<Box<RankProblem>>,
    /// Types that are, or are arrays of, other types; decided at the end.
    elements: Vec<(Type, Type, Span)>,
    /// The type that the lambda which comes next is wanted at.
    expected: Option<Type>,
    /// Arrays may be unified whatever their elements are numbered by.
    any_index_set: bool,
    /// What is expected of arrays written with `for`, where that is known before they are looked at.
    expected_arrays: HashMap<NodeId, Type>,
    pub notes: Notes,
}

impl<'a> Infer<'a> {
    pub fn new(cx: &'a mut Context, frames: &'a mut Vec<Env>) -> Infer<'a> {
        Infer {
            cx,
            frames,
            locals: HashMap::new(),
            bound: Vec::new(),
            schemes: HashMap::new(),
            metas: Vec::new(),
            ranks: None,
            elements: Vec::new(),
            expected: None,
            any_index_set: false,
            expected_arrays: HashMap::new(),
            notes: Notes::default(),
        }
    }

    /// Settle what is open and hand over the findings.
    pub fn finish(mut self) -> Res<Notes> {
        self.settle_elements()?;
        self.apply_defaults()?;
        let mut notes = std::mem::take(&mut self.notes);
        // Open types that nothing depends on may be anything: the empty tuple is the simplest.
        for meta in 0..self.metas.len() {
            if self.metas[meta].bound.is_none() {
                self.metas[meta].bound = Some(Type::tuple([]));
            }
        }
        for ty in notes.types.values_mut() {
            *ty = self.zonk(ty);
        }
        for used in notes.uses.values_mut() {
            for arg in &mut used.inst {
                if let TypeArg::Type(t) = arg {
                    *t = self.zonk(t);
                }
            }
        }
        Ok(notes)
    }

    // -----------------------------------------------------------------------------------------------
    // Scopes

    fn mark(&self) -> usize {
        self.bound.len()
    }

    fn leave(&mut self, mark: usize) {
        for name in self.bound.drain(mark..) {
            if let Some(stack) = self.locals.get_mut(&name) {
                stack.pop();
            }
        }
    }

    fn bind_local(&mut self, name: Name, local: Local) {
        self.locals.entry(name).or_default().push(local);
        self.bound.push(name);
    }

    /// Bind a variable of a monomorphic type.
    fn bind_var(&mut self, ident: Ident, ty: Type) -> VarId {
        self.bind_poly(ident, Scheme { params: Vec::new(), overloads: Vec::new(), ty })
    }

    fn bind_poly(&mut self, ident: Ident, scheme: Scheme) -> VarId {
        let var = self.cx.fresh_var(ident.name);
        self.notes.binders.insert(ident.span, var);
        self.schemes.insert(var, Rc::new(scheme));
        self.bind_local(ident.name, Local::Var(var));
        var
    }

    /// Bring type parameters into scope: sizes as variables, types in a frame of their own. Undo with
    /// [`Infer::leave_type_params`].
    fn enter_type_params(&mut self, params: &[dagaz_syntax::ast::TypeParam]) -> Res<Vec<TypeParam>> {
        use dagaz_syntax::ast::TypeParamKind as Syntax;
        let mut frame = Env::default();
        let mut result = Vec::new();
        for (i, p) in params.iter().enumerate() {
            if let Some(old) = params[..i].iter().find(|q| q.name.name == p.name.name) {
                return Err(duplicate("type parameter", p.name, old.name.span));
            }
            let kind = match p.kind {
                Syntax::Size => TypeParamKind::Size(self.bind_var(p.name, Type::I64)),
                Syntax::Type(liftedness) => {
                    let id = self.cx.fresh_type(p.name.name);
                    self.cx.liftedness.insert(id, liftedness);
                    let ty = Type::Named { unique: false, id, args: [].into() };
                    let binding = TypeBinding { params: Vec::new(), liftedness, exts: Vec::new(), ty };
                    frame.types.insert(p.name.name, Rc::new(binding));
                    TypeParamKind::Type(id, liftedness)
                }
            };
            let param = TypeParam { name: p.name.name, kind };
            self.notes.type_params.insert(p.name.span, param.clone());
            result.push(param);
        }
        self.frames.push(frame);
        Ok(result)
    }

    fn leave_type_params(&mut self) {
        self.frames.pop();
    }

    // -----------------------------------------------------------------------------------------------
    // Instantiation and errors

    fn instantiate(&mut self, scheme: &Scheme, span: Span) -> (Vec<TypeArg>, Type) {
        if scheme.params.is_empty() {
            return (Vec::new(), scheme.ty.clone());
        }
        let mut args = Vec::with_capacity(scheme.params.len());
        for (i, p) in scheme.params.iter().enumerate() {
            args.push(match p.kind {
                TypeParamKind::Size(v) if names_indices(&scheme.ty, v) => TypeArg::Size(ANY_SIZE),
                TypeParamKind::Size(_) => TypeArg::Size(self.open_dim(span)),
                TypeParamKind::Type(id, liftedness) => {
                    let overload = scheme.overloads.get(i).copied().flatten();
                    let constraint = overload.map_or_else(Constraint::default, Constraint::overload);
                    let index = self.cx.index_params.contains(&id);
                    let ty = self.fresh_with(span, Constraint { liftedness, index, ..constraint });
                    if let (Some(Overload::ElementOfPrevious), Some(TypeArg::Type(whole))) =
                        (overload, args.last())
                    {
                        self.elements.push((whole.clone(), ty.clone(), span));
                    }
                    TypeArg::Type(ty)
                }
            });
        }
        let ty = crate::subst::Subst::instantiate(&scheme.params, &args).ty(&scheme.ty);
        (args, ty)
    }

    /// Find out which types are elements of which. If the element says nothing about itself, it is what is below all arrays.
    fn settle_elements(&mut self) -> Res<()> {
        for (whole, elem, span) in std::mem::take(&mut self.elements) {
            let rank = match self.shallow(&elem) {
                Type::Meta(_) => 0,
                known => self.rank(&known),
            };
            let mut part = self.shallow(&whole);
            for _ in rank..self.rank(&whole) {
                if let Type::Array { elem, .. } = &part {
                    part = self.shallow(elem);
                }
            }
            let ok = self.unify(&elem, &part);
            let what = "The accumulator must hold what the operator combines, or an array of that";
            self.expect(ok, span, what, &elem, &part)?;
        }
        Ok(())
    }

    fn rank(&self, ty: &Type) -> usize {
        match self.shallow(ty) {
            Type::Array { elem, .. } => 1 + self.rank(&elem),
            _ => 0,
        }
    }

    /// Turn a failed unification into an error about an expression.
    fn expect(&self, unified: Unified, span: Span, what: &str, expected: &Type, actual: &Type) -> Res<()> {
        unified.map_err(|m| {
            let mut d = Diagnostic::error("type-mismatch", span, what.to_owned())
                .at(self.has_type(actual))
                .help(format!("expected type: {}", self.show(expected)));
            if let Some(note) = m.note {
                d = d.help(note);
            }
            Error::from(d)
        })
    }

    /// Turn a violated constraint into an error.
    fn demand(&self, unified: Unified, span: Span, what: &str) -> Res<()> {
        unified.map_err(|m| {
            let mut d = Diagnostic::error("type-mismatch", span, what.to_owned());
            if let Some(note) = m.note {
                d = d.at(note);
            }
            Error::from(d)
        })
    }
}

/// A name bound twice where it may be bound once.
pub(crate) fn duplicate(what: &str, name: Ident, old: Span) -> Error {
    Diagnostic::error(
        "duplicate-name",
        name.span,
        format!("Duplicate {what} \"{}\", which is also bound here", name.name),
    )
    .label(old, "previously defined here")
    .into()
}
