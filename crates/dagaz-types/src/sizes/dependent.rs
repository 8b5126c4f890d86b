//! Functions whose result has the size of their argument, as instances of type parameters.
//!
//! The first pass leaves of `(k: i64) -> [k]f64` that it takes an `i64` and gives an array. Where a type parameter stands for such
//! a function, the second pass has to find out again that the size of the result is the argument. So the instance starts as
//! `(x: i64) -> [d]f64` with both `x` and `d` flexible: `x` becomes the parameter of whatever function the instance meets, and
//! `d` may then be `x`.

use dagaz_syntax::Name;

use super::{SizeKind, SizeMismatch, SizeVar, Sizer};
use crate::types::{Arrow, RetType, Size, Type, VarId};

impl Sizer<'_> {
    /// The same type with a flexible parameter for each function from a number to something with a size.
    pub(super) fn with_open_parameters(&mut self, ty: &Type, level: u32) -> Type {
        match ty {
            Type::Prim(_) | Type::Meta(_) | Type::Array { .. } | Type::Named { .. } => ty.clone(),
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(f, t)| (*f, self.with_open_parameters(t, level))).collect())
            }
            Type::Sum(constrs) => Type::Sum(
                constrs
                    .iter()
                    .map(|(c, ts)| (*c, ts.iter().map(|t| self.with_open_parameters(t, level)).collect()))
                    .collect(),
            ),
            Type::Arrow(a) => {
                let from = self.with_open_parameters(&a.from, level);
                let to = self.with_open_parameters(&a.to.ty, level);
                let is_open = super::application::is_i64(&from) && !to.size_vars().is_empty();
                let param = match is_open.then(|| self.flexible_named(Name::new("x"), level, false)) {
                    Some(Size::Var(x)) => Some(x),
                    Some(Size::Const(_) | Size::Exp(_) | Size::Set(_) | Size::Meta(_)) | None => a.param,
                };
                Type::arrow(param, from, RetType { exts: a.to.exts.clone(), ty: to })
            }
        }
    }

    /// What the parameter of a function is called by now; `None` if its result cannot mention it.
    pub(super) fn settled_parameter(&self, param: Option<VarId>) -> Option<VarId> {
        match self.zonk_size(&Size::Var(param?)) {
            Size::Var(v) => Some(v),
            Size::Const(_) | Size::Exp(_) | Size::Set(_) | Size::Meta(_) => None,
        }
    }

    /// One variable for the parameters of two functions that are compared.
    pub(super) fn common_parameter(&mut self, a: &Arrow, b: &Arrow) -> Result<VarId, SizeMismatch> {
        let (x, y) = (self.settled_parameter(a.param), self.settled_parameter(b.param));
        let name = x.or(y).map_or(Name::new("x"), |p| self.cx.var_name(p));
        let is_open = |p: Option<VarId>| p.filter(|v| self.is_flexible(*v));
        match (is_open(x), is_open(y)) {
            (Some(x), Some(y)) => {
                self.unify_size(&Size::Var(x), &Size::Var(y))?;
                Ok(self.settled_parameter(Some(x)).unwrap_or(x))
            }
            (Some(open), None) | (None, Some(open)) if x.is_none() || y.is_none() => Ok(open),
            // Types that mention the open one have to know what it is from now on.
            (Some(open), None) | (None, Some(open)) => {
                let param = self.named_at(name, self.level_of(open));
                self.unify_size(&Size::Var(open), &Size::Var(param))?;
                Ok(param)
            }
            // It is known nowhere else.
            (None, None) => Ok(self.named_at(name, u32::MAX - 1)),
        }
    }

    /// The types of those of its first parameters that are functions whose result has another size each time, or that of the argument:
    /// a lambda that is wanted at this type, and does not say what it takes, takes these.
    pub(super) fn functions_taken(&self, wanted: &Type, count: usize) -> Vec<Option<Type>> {
        let mut wanted = self.zonk(wanted);
        let mut names = Vec::new();
        let mut taken = Vec::new();
        while taken.len() < count {
            let Type::Arrow(arrow) = wanted else { break };
            // The value of a parameter is known in its function alone.
            let is_closed = !arrow.from.size_vars().iter().any(|v| names.contains(v));
            taken.push((is_closed && has_varying_result(&arrow.from)).then(|| arrow.from.clone()));
            names.extend(arrow.param);
            wanted = arrow.to.ty.clone();
        }
        taken
    }

    fn named_at(&mut self, name: Name, level: u32) -> VarId {
        let var = self.cx.fresh_var(name);
        self.vars.insert(var, SizeVar { level, kind: SizeKind::Named });
        var
    }
}

fn has_varying_result(ty: &Type) -> bool {
    match ty {
        Type::Arrow(a) => a.param.is_some() || !a.to.exts.is_empty() || has_varying_result(&a.to.ty),
        Type::Prim(_)
        | Type::Meta(_)
        | Type::Array { .. }
        | Type::Record(_)
        | Type::Sum(_)
        | Type::Named { .. } => false,
    }
}
