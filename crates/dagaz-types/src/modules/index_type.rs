//! Declared index types.
//!
//! ```text
//! index type evens [n] of i64 = {size = n, ordinal = \\i -> i / 2, from_ordinal = \\k -> 2 * k}
//! ```
//!
//! declares a type, and a function from its sizes to the record. A definition that nobody can name looks for a number
//! whose index has another number; it is for whoever runs the program to call it with some sizes.

use std::rc::Rc;

use dagaz_syntax::ast::{Dec as SynDec, ExpKind as Syn, Field, IndexBind};
use dagaz_syntax::{Diagnostic, Name};

use super::Checker;
use crate::context::{Dialect, Error, IndexType, Res, error, fail};
use crate::env::{Env, ValueBinding};
use crate::typed::{Dec, Def, EntryTypes, Exp, ExpKind, IndexCheck, Pat, PatKind, TypeDef};
use crate::types::{Liftedness, RetType, Type, TypeArg, VarId};

impl Checker<'_> {
    /// `index type`: a type of its own, whose representation only its functions see.
    pub(super) fn index_type(&mut self, bind: &IndexBind, dec: &SynDec, env: &mut Env) -> Res<()> {
        let name = bind.ty.name;
        if self.cx.dialect == Dialect::Strict {
            return error("not-futhark", name.span, "An index type is not part of plain Futhark");
        }
        if self.functors > 0 {
            return fail(
                Diagnostic::error(
                    "index-type-in-functor",
                    name.span,
                    "An index type cannot be declared in a parametric module",
                )
                .help("declare it outside, with the sizes that it depends on as parameters"),
            );
        }
        let (params, ret) = self.type_expression(&bind.ty.params, &bind.ty.body)?;
        let functions = self.value(&bind.functions, dec)?;
        let ValueBinding::Def(var) = functions else { return Err(Error::Silenced) };
        let (binding, declared) = self.abstract_type(name, Liftedness::Unlifted, &bind.ty.params)?;
        let index =
            IndexType { params: params.clone(), representation: ret.ty.clone(), functions: Some(var) };
        let definition =
            TypeDef { id: declared.id, params, exts: Vec::new(), body: ret.ty, index: Some(var) };
        self.decs.push(Rc::new(Dec::Abstract(definition)));
        self.index_check(bind, var, &index.representation);
        self.cx.index_types.insert(declared.id, index);
        env.types.insert(name.name, Rc::new(binding));
        env.bind_value(name.name, functions);
        Ok(())
    }

    /// `def check n = index_fault (functions n)`
    fn index_check(&mut self, bind: &IndexBind, functions: VarId, representation: &Type) {
        let fault = Name::new("index_fault");
        let found = self.frames.iter().find_map(|frame| frame.values.get(&fault));
        let Some(ValueBinding::Def(fault_var)) = found.copied() else { return };
        let span = bind.ty.name.span;
        let plain = |kind, ty| Exp { kind, ty, exts: Vec::new(), span };
        let Some(info) = self.cx.values.get(&functions) else { return };
        let function_ty = info.scheme.ty.clone();
        let mut record = function_ty.clone();
        let mut params = Vec::new();
        let mut args = Vec::new();
        while let Type::Arrow(arrow) = &record {
            let name = arrow.param.map_or_else(|| Name::new("n"), |p| self.cx.var_name(p));
            let var = self.cx.fresh_var(name);
            params.push(Pat { kind: PatKind::Var(var, name), ty: Type::I64, span });
            args.push(plain(ExpKind::Var { var, name, inst: Vec::new() }, Type::I64));
            record = arrow.to.ty.clone();
        }
        let name = bind.ty.name.name;
        let mut set = plain(ExpKind::Var { var: functions, name, inst: Vec::new() }, function_ty);
        if !args.is_empty() {
            set = plain(ExpKind::App { fun: Box::new(set), args }, record.clone());
        }
        let result = Type::tuple([Type::I64, Type::I64]);
        let inst = vec![TypeArg::Type(representation.clone())];
        let fault_ty = Type::arrow(None, record, RetType::plain(result.clone()));
        let fun = plain(ExpKind::Var { var: fault_var, name: fault, inst }, fault_ty);
        let body = plain(ExpKind::App { fun: Box::new(fun), args: vec![set] }, result.clone());
        let var = self.cx.fresh_var(fault);
        let entry = EntryTypes { params: vec![None; params.len()], results: vec![None; 2] };
        let def = Def {
            var,
            name: fault,
            type_params: Vec::new(),
            params,
            ret: RetType::plain(result),
            body,
            attrs: Vec::new(),
            entry: Some(entry),
            span,
        };
        self.decs.push(Rc::new(Dec::Def(Rc::new(def))));
        let functions = match &bind.functions.body.kind {
            Syn::Record(fields) => fields
                .iter()
                .filter_map(|field| match field {
                    Field::Explicit(name, e) => Some((name.name, e.span)),
                    Field::Implicit(..) => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        let sizes = bind.ty.params.iter().map(|p| p.name.name).collect();
        self.index_checks.push(IndexCheck { entry: var, name, sizes, span, functions });
    }
}
