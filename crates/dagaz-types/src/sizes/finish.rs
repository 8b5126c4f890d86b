//! The last walk over a typed definition: every size gets its final form.
//!
//! Flexible sizes that were settled are replaced. Those that nothing settled become, in the parameters of a lambda, sizes
//! that each application reads off its arguments, and elsewhere 0: such a size belongs to an array that has no
//! elements, or to a value that does not exist.

use std::rc::Rc;

use dagaz_syntax::{Diagnostic, Name, Span};

use super::binding::sizes_taken;
use super::indices::replace_vars;
use super::{SizeKind, SizeVar, Sizer};
use crate::context::Res;
use crate::subst::constructive_sizes;
use crate::typed::{Access, Def, Exp, ExpKind, Lambda, LoopForm, Pat, PatKind, SliceIndex};
use crate::types::{IDX, RetType, Size, Type, TypeArg, VarId};

impl Sizer<'_> {
    pub(super) fn finish_def(&mut self, def: &mut Def) -> Res<()> {
        self.solve_indices()?;
        self.check_index_arguments();
        for p in &mut def.params {
            self.finish_pat(p);
        }
        self.declared.open_result = self.has_open_size(&def.ret.ty);
        self.finish_ret(&mut def.ret, def.span);
        self.finish_exp(&mut def.body);
        self.check_references();
        match self.open_result.take().or_else(|| self.ambiguous.take()) {
            Some(d) => crate::context::fail(d),
            None => Ok(()),
        }
    }

    fn finish_ty(&mut self, ty: &mut Type) {
        *ty = self.zonk(ty);
        replace_vars(ty);
        if self.has_open_indices {
            *ty = self.without_open_indices(ty);
        }
        let open: Vec<VarId> = ty.size_vars().into_iter().filter(|v| self.is_flexible(*v)).collect();
        if !open.is_empty() {
            for v in open {
                self.settle_to_zero(v);
            }
            *ty = self.zonk(ty);
        }
    }

    /// An index of a set that nothing settles is a number like any other.
    fn without_open_indices(&self, ty: &Type) -> Type {
        let all = |types: &[Type]| types.iter().map(|t| self.without_open_indices(t)).collect();
        match ty {
            Type::Prim(_) | Type::Meta(_) => ty.clone(),
            Type::Array { unique, dim, elem } => {
                let elem = self.without_open_indices(elem).into();
                Type::Array { unique: *unique, dim: dim.clone(), elem }
            }
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(f, t)| (*f, self.without_open_indices(t))).collect())
            }
            Type::Sum(constrs) => Type::Sum(constrs.iter().map(|(c, ts)| (*c, all(ts))).collect()),
            Type::Arrow(arrow) => {
                let to = RetType { exts: arrow.to.exts.clone(), ty: self.without_open_indices(&arrow.to.ty) };
                Type::arrow(arrow.param, self.without_open_indices(&arrow.from), to)
            }
            Type::Named { id: IDX, .. } if self.has_open_size(ty) => Type::I64,
            Type::Named { .. } => ty.clone(),
        }
    }

    fn settle_to_zero(&mut self, v: VarId) {
        let kind = SizeKind::Flexible { value: Some(Size::Const(0)), lifted: false };
        self.vars.insert(v, SizeVar { level: 0, kind });
        self.without_value.insert(v);
    }

    fn finish_ret(&mut self, ret: &mut RetType, span: Span) {
        self.finish_ty(&mut ret.ty);
        let used = ret.ty.size_vars();
        ret.exts.retain(|e| used.contains(e));
        self.check_readable(&ret.exts, &ret.ty, span);
    }

    fn has_open_size_var(&self, v: VarId) -> bool {
        matches!(self.zonk_size(&Size::Var(v)), Size::Var(v) if self.is_flexible(v))
    }

    fn has_open_size(&self, ty: &Type) -> bool {
        self.zonk(ty).size_vars().into_iter().any(|v| self.is_flexible(v))
    }

    /// Report a value whose sizes nothing settles, although they have to be known to make it.
    fn check_settled_type(&mut self, what: &str, ty: &Type, span: Span) {
        if self.ambiguous.is_none() && self.has_open_size(&self.without_open_indices(&self.zonk(ty))) {
            self.ambiguous = Some(
                Diagnostic::error("ambiguous-size", span, format!("Ambiguous size in the type of {what}"))
                    .help("add an explicit type ascription or size coercion that says what it is"),
            );
        }
    }

    /// Report a size parameter of a definition that nothing settles. If that is the size of an array which the definition
    /// makes, it is to blame, and not those who take the array.
    fn check_settled(&mut self, name: Name, ty: &Type, inst: &[TypeArg], span: Span) {
        // What stands around this may have the same size, and may have been met before.
        let open = inst.iter().find_map(|arg| match arg {
            TypeArg::Size(size @ Size::Var(v)) => {
                let is_open = self.is_without_value(*v)
                    || self.has_open_size_var(*v)
                    || self.zonk_size(size).mentions(&|v| self.lambda_sizes.get(&v) == Some(&false));
                is_open.then_some(*v)
            }
            TypeArg::Size(_) | TypeArg::Type(_) => None,
        });
        let Some(open) = open else { return };
        let mut taken = Vec::new();
        sizes_taken(ty, &mut taken);
        let slot = if taken.contains(&open) { &mut self.ambiguous } else { &mut self.open_result };
        if slot.is_none() {
            *slot = Some(
                Diagnostic::error(
                    "ambiguous-size",
                    span,
                    format!(
                        "Ambiguous size: nothing says what the instantiated size parameter of \"{name}\" is"
                    ),
                )
                .help("add an explicit type ascription with a size"),
            );
        }
    }

    /// Remember what a handler is used at. Who gives an accumulator to a function has to make it, and it starts at zero, so
    /// that its size must be known.
    pub(super) fn note_references(&mut self, ty: &Type, span: Span) {
        let mut ty = ty;
        while let Type::Arrow(arrow) = ty {
            if let Type::Arrow(function) = &arrow.from
                && self.cx.references.content(&function.from).is_some()
            {
                self.references_made.push((function.from.clone(), span));
            }
            ty = &arrow.to.ty;
        }
    }

    /// Report what a handler keeps whose size nothing settled.
    fn check_references(&mut self) {
        for (ty, span) in std::mem::take(&mut self.references_made) {
            if self.ambiguous.is_none() && ty.size_vars().into_iter().any(|v| self.is_without_value(v)) {
                let message = "Ambiguous size in the type of what this handler keeps";
                self.ambiguous = Some(
                    Diagnostic::error("ambiguous-size", span, message)
                        .help("add an explicit type ascription that says what it is"),
                );
            }
        }
    }

    /// Whether nothing settled a size, so that it became 0.
    fn is_without_value(&self, mut v: VarId) -> bool {
        loop {
            if self.without_value.contains(&v) {
                return true;
            }
            match self.vars.get(&v) {
                Some(SizeVar { kind: SizeKind::Flexible { value: Some(Size::Var(next)), .. }, .. }) => {
                    v = *next
                }
                _ => return false,
            }
        }
    }

    /// Report an index whose set nothing settles.
    fn check_settled_index(&mut self, index: &Type, span: Span) {
        if self.ambiguous.is_none() && self.has_open_size(index) {
            self.ambiguous = Some(
                Diagnostic::error("ambiguous-index", span, "Nothing says how many values an index here has")
                    .help("index an array with it, write the number (for i < n -> …), or the type of the result"),
            );
        }
    }

    fn check_index_arguments(&mut self) {
        for (index, span) in std::mem::take(&mut self.index_arguments) {
            self.check_settled_index(&index, span);
        }
    }

    pub(super) fn finish_inst(&mut self, inst: &mut [TypeArg]) {
        for arg in inst {
            match arg {
                TypeArg::Size(s) => {
                    *s = self.zonk_size(s);
                    let mut open = Vec::new();
                    s.each_var(&mut |v| {
                        if self.is_flexible(v) {
                            open.push(v);
                        }
                    });
                    for v in open {
                        self.settle_to_zero(v);
                    }
                    *s = self.zonk_size(s);
                }
                TypeArg::Type(t) => self.finish_ty(t),
            }
        }
    }

    fn finish_pat(&mut self, pat: &mut Pat) {
        self.finish_ty(&mut pat.ty);
        match &mut pat.kind {
            PatKind::Var(..) | PatKind::Wildcard | PatKind::Int(_) | PatKind::Float(_) | PatKind::Bool(_) => {
            }
            PatKind::Record(fields) => fields.iter_mut().for_each(|(_, p)| self.finish_pat(p)),
            PatKind::Constr(_, args) => args.iter_mut().for_each(|p| self.finish_pat(p)),
        }
    }

    fn finish_exp(&mut self, e: &mut Exp) {
        if let ExpKind::Lambda(lambda) = &mut e.kind {
            let lambda = Rc::get_mut(lambda);
            if let Some(lambda) = lambda {
                self.finish_lambda(lambda);
            }
            self.finish_ty(&mut e.ty);
            return;
        }
        self.finish_children(e);
        match &e.kind {
            ExpKind::Constr { name, .. } => {
                self.check_settled_type(&format!("\"#{name}\""), &e.ty.clone(), e.span);
            }
            ExpKind::Array(elems) if elems.is_empty() => {
                self.check_settled_type("this empty array", &e.ty.clone(), e.span);
            }
            _ => {}
        }
        self.finish_ty(&mut e.ty);
        self.check_readable(&e.exts, &e.ty, e.span);
    }

    /// An unknown size is read off the value that has it, so it must be the size of an array in it. A function that takes
    /// an array of that size is no such value.
    fn check_readable(&mut self, exts: &[VarId], ty: &Type, span: Span) {
        if exts.is_empty() || self.ambiguous.is_some() {
            return;
        }
        let readable = constructive_sizes(ty);
        let mentioned = ty.size_vars();
        if let Some(v) = exts.iter().find(|v| mentioned.contains(v) && !readable.contains(v)) {
            let mut d = Diagnostic::error(
                "unknown-size",
                span,
                format!("Unknown size \"{}\" would appear only in parameter or result types of a function", self.cx.var_name(*v)),
            )
            .at(format!("has type \"{}\"", self.cx.show_type(ty)))
            .help("Existential size would appear where no value has it; bind the size to a name before the function is made");
            if let Some(SizeVar { kind: SizeKind::Unknown(why, at), .. }) = self.vars.get(v) {
                d = d.label(*at, format!("the size is {why}"));
            }
            self.ambiguous = Some(d);
        }
    }

    fn finish_lambda(&mut self, lambda: &mut Lambda) {
        for p in &lambda.params {
            for v in self.zonk(&p.ty).size_vars() {
                if self.is_flexible(v) {
                    self.make_rigid(v);
                    lambda.sizes.push(v);
                }
            }
        }
        self.lambda_sizes.extend(lambda.sizes.iter().map(|v| (*v, true)));
        for p in &mut lambda.params {
            self.finish_pat(p);
        }
        self.finish_exp(&mut lambda.body);
        self.finish_ret(&mut lambda.ret, lambda.body.span);
        self.lambda_sizes.extend(lambda.sizes.iter().map(|v| (*v, false)));
    }

    fn finish_children(&mut self, e: &mut Exp) {
        match &mut e.kind {
            ExpKind::Int(_) | ExpKind::Float(_) | ExpKind::Bool(_) | ExpKind::Str(_) | ExpKind::Hole => {}
            ExpKind::Lambda(_) => {}
            ExpKind::Var { name, inst, .. } | ExpKind::Intrinsic { name, inst } => {
                let (name, mut inst) = (*name, std::mem::take(inst));
                self.check_settled(name, &e.ty, &inst, e.span);
                self.finish_inst(&mut inst);
                if let ExpKind::Var { inst: slot, .. } | ExpKind::Intrinsic { inst: slot, .. } = &mut e.kind {
                    *slot = inst;
                }
            }
            ExpKind::Record(fields) => fields.iter_mut().for_each(|(_, e)| self.finish_exp(e)),
            ExpKind::Array(es) => es.iter_mut().for_each(|e| self.finish_exp(e)),
            ExpKind::Constr { args, .. } => args.iter_mut().for_each(|e| self.finish_exp(e)),
            ExpKind::Project(e, _) | ExpKind::Ascript(e) | ExpKind::Coerce(e) | ExpKind::Attr(_, e) => {
                self.finish_exp(e)
            }
            ExpKind::Index { array, slice } => {
                self.finish_exp(array);
                self.finish_slice(slice);
            }
            ExpKind::App { fun, args } => {
                self.finish_exp(fun);
                args.iter_mut().for_each(|a| self.finish_exp(a));
            }
            ExpKind::And(a, b) | ExpKind::Or(a, b) => {
                self.finish_exp(a);
                self.finish_exp(b);
            }
            ExpKind::Range { start, second, end, .. } => {
                self.finish_exp(start);
                second.iter_mut().for_each(|s| self.finish_exp(s));
                self.finish_exp(end);
            }
            ExpKind::If { cond, then, otherwise } => {
                self.finish_exp(cond);
                self.finish_exp(then);
                self.finish_exp(otherwise);
            }
            ExpKind::Let { pat, value, body, .. } => {
                self.finish_exp(value);
                self.finish_pat(pat);
                self.finish_exp(body);
            }
            ExpKind::LetFun { def, body } => {
                if let Some(def) = Rc::get_mut(def) {
                    def.params.iter_mut().for_each(|p| self.finish_pat(p));
                    self.finish_exp(&mut def.body);
                    self.finish_ret(&mut def.ret, def.span);
                }
                self.finish_exp(body);
            }
            ExpKind::Loop { pat, init, form, body, .. } => {
                self.finish_exp(init);
                self.finish_pat(pat);
                match form {
                    LoopForm::For { bound, .. } => self.finish_exp(bound),
                    LoopForm::ForIn { pat, array } => {
                        self.finish_exp(array);
                        self.finish_pat(pat);
                    }
                    LoopForm::While(cond) => self.finish_exp(cond),
                }
                self.finish_exp(body);
            }
            ExpKind::Match { scrutinee, cases } => {
                self.finish_exp(scrutinee);
                for case in cases {
                    self.finish_pat(&mut case.pat);
                    self.finish_exp(&mut case.body);
                }
            }
            ExpKind::With { target, path, value } => {
                self.finish_exp(target);
                for step in path {
                    if let Access::Index(slice, _) = step {
                        self.finish_slice(slice);
                    }
                }
                self.finish_exp(value);
            }
            ExpKind::Assert { cond, body } => {
                self.finish_exp(cond);
                self.finish_exp(body);
            }
        }
    }

    fn finish_slice(&mut self, slice: &mut [SliceIndex]) {
        for s in slice {
            match s {
                SliceIndex::Index(i) => self.finish_exp(i),
                SliceIndex::Slice { start, end, stride } => {
                    [start, end, stride].into_iter().flatten().for_each(|e| self.finish_exp(e));
                }
            }
        }
    }
}
