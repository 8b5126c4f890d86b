//! Types and sizes as text, the way a user would write them.

use dagaz_syntax::Name;

use crate::context::Context;
use crate::typed::{Exp, ExpKind, SliceIndex};
use crate::types::{IDX, PrimType, RetType, Scheme, Size, Type, TypeArg, TypeParam, TypeParamKind};

/// How tightly the surroundings of a type bind.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Prec {
    Top,
    Arrow,
    Atom,
}

pub fn prim_name(p: PrimType) -> &'static str {
    match p {
        PrimType::I8 => "i8",
        PrimType::I16 => "i16",
        PrimType::I32 => "i32",
        PrimType::I64 => "i64",
        PrimType::U8 => "u8",
        PrimType::U16 => "u16",
        PrimType::U32 => "u32",
        PrimType::U64 => "u64",
        PrimType::F16 => "f16",
        PrimType::F32 => "f32",
        PrimType::F64 => "f64",
        PrimType::Bool => "bool",
    }
}

impl Context {
    pub fn show_type(&self, ty: &Type) -> String {
        let mut out = String::new();
        self.write_type(&mut out, ty, Prec::Top);
        out
    }

    pub fn show_ret(&self, ret: &RetType) -> String {
        let mut out = String::new();
        self.write_ret(&mut out, ret, Prec::Top);
        out
    }

    pub fn show_size(&self, size: &Size) -> String {
        match size {
            Size::Const(n) => n.to_string(),
            Size::Var(v) => self.var_name(*v).to_string(),
            Size::Exp(e) => self.show_exp(e),
            Size::Set(ty) => self.show_index_set(ty),
            Size::Meta(_) => String::new(),
        }
    }

    /// An index type where it stands for a dimension: sizes stand for the numbers below them.
    fn show_index_set(&self, ty: &Type) -> String {
        let all = |types: &mut dyn Iterator<Item = &Type>, joint: &str| {
            types.map(|t| self.show_index_set(t)).collect::<Vec<_>>().join(joint)
        };
        match ty {
            Type::Named { id: IDX, args, .. } => match args.first() {
                Some(TypeArg::Size(size)) => self.show_size(size),
                _ => self.show_type(ty),
            },
            Type::Record(fields) => format!("({})", all(&mut fields.iter().map(|(_, t)| t), ", ")),
            _ => self.show_type(ty),
        }
    }

    /// `[n] 't : [n]t -> t`
    pub fn show_scheme(&self, scheme: &Scheme) -> String {
        let params: String = scheme.params.iter().map(|p| format!("{} ", show_type_param(p))).collect();
        format!("{params}: {}", self.show_type(&scheme.ty))
    }

    fn write_ret(&self, out: &mut String, ret: &RetType, prec: Prec) {
        if ret.exts.is_empty() {
            return self.write_type(out, &ret.ty, prec);
        }
        let open = prec > Prec::Arrow;
        if open {
            out.push('(');
        }
        out.push('?');
        for ext in &ret.exts {
            out.push_str(&format!("[{}]", self.var_name(*ext)));
        }
        out.push('.');
        self.write_type(out, &ret.ty, Prec::Arrow);
        if open {
            out.push(')');
        }
    }

    fn write_type(&self, out: &mut String, ty: &Type, prec: Prec) {
        match ty {
            Type::Prim(p) => out.push_str(prim_name(*p)),
            Type::Array { unique, dim, elem } => {
                if *unique {
                    out.push('*');
                }
                out.push_str(&format!("[{}]", self.show_size(dim)));
                self.write_type(out, elem, Prec::Atom);
            }
            Type::Record(fields) => self.write_record(out, fields),
            Type::Sum(constrs) => {
                let open = prec > Prec::Top;
                if open {
                    out.push('(');
                }
                for (i, (name, args)) in constrs.iter().enumerate() {
                    if i > 0 {
                        out.push_str(" | ");
                    }
                    out.push_str(&format!("#{name}"));
                    for arg in args {
                        out.push(' ');
                        self.write_type(out, arg, Prec::Atom);
                    }
                }
                if open {
                    out.push(')');
                }
            }
            Type::Arrow(arrow) => {
                let open = prec > Prec::Top;
                if open {
                    out.push('(');
                }
                match arrow.param.filter(|p| arrow.to.ty.size_vars().contains(p)) {
                    Some(param) => {
                        out.push_str(&format!("({}: ", self.var_name(param)));
                        self.write_type(out, &arrow.from, Prec::Top);
                        out.push(')');
                    }
                    None => self.write_type(out, &arrow.from, Prec::Arrow),
                }
                out.push_str(" -> ");
                self.write_ret(out, &arrow.to, Prec::Top);
                if open {
                    out.push(')');
                }
            }
            Type::Named { unique, id, args } => {
                let open = prec >= Prec::Atom && !args.is_empty();
                if open {
                    out.push('(');
                }
                if *unique {
                    out.push('*');
                }
                out.push_str(self.type_name(*id).as_str());
                for arg in args.iter() {
                    out.push(' ');
                    match arg {
                        TypeArg::Size(size) => out.push_str(&format!("[{}]", self.show_size(size))),
                        TypeArg::Type(ty) => self.write_type(out, ty, Prec::Atom),
                    }
                }
                if open {
                    out.push(')');
                }
            }
            Type::Meta(n) => out.push_str(&format!("t{n}")),
        }
    }

    fn write_record(&self, out: &mut String, fields: &[(Name, Type)]) {
        let tuple =
            fields.len() != 1 && fields.iter().enumerate().all(|(i, (f, _))| *f == Name::tuple_field(i));
        out.push(if tuple { '(' } else { '{' });
        for (i, (name, ty)) in fields.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            if !tuple {
                out.push_str(&format!("{name}: "));
            }
            self.write_type(out, ty, Prec::Top);
        }
        out.push(if tuple { ')' } else { '}' });
    }

    /// An expression that occurs as a size.
    pub fn show_exp(&self, e: &Exp) -> String {
        match &e.kind {
            ExpKind::Int(n) => n.to_string(),
            ExpKind::Float(x) => x.to_string(),
            ExpKind::Bool(b) => b.to_string(),
            ExpKind::Var { name, .. } | ExpKind::Intrinsic { name, .. } if name.is_symbol() => {
                format!("({name})")
            }
            ExpKind::Var { var, .. } => self.var_name(*var).to_string(),
            ExpKind::Intrinsic { name, .. } => format!("intrinsics.{name}"),
            ExpKind::App { fun, args } => match (&fun.kind, &args[..]) {
                (ExpKind::Intrinsic { name, .. } | ExpKind::Var { name, .. }, [l, r]) if name.is_symbol() => {
                    format!("{} {name} {}", self.show_operand(l), self.show_operand(r))
                }
                _ => {
                    let args: Vec<_> = args.iter().map(|a| self.show_operand(a)).collect();
                    format!("{} {}", self.show_operand(fun), args.join(" "))
                }
            },
            ExpKind::Project(e, field) => format!("{}.{field}", self.show_operand(e)),
            ExpKind::Index { array, slice } => {
                let parts: Vec<_> = slice
                    .iter()
                    .map(|s| match s {
                        SliceIndex::Index(i) => self.show_exp(i),
                        SliceIndex::Slice { .. } => ":".to_owned(),
                    })
                    .collect();
                format!("{}[{}]", self.show_operand(array), parts.join(", "))
            }
            ExpKind::Record(fields) => {
                let parts: Vec<_> = fields.iter().map(|(_, e)| self.show_exp(e)).collect();
                format!("({})", parts.join(", "))
            }
            ExpKind::Ascript(e) | ExpKind::Coerce(e) | ExpKind::Attr(_, e) => self.show_exp(e),
            _ => "…".to_owned(),
        }
    }

    fn show_operand(&self, e: &Exp) -> String {
        match &e.kind {
            ExpKind::App { .. } => format!("({})", self.show_exp(e)),
            _ => self.show_exp(e),
        }
    }
}

pub fn show_type_param(p: &TypeParam) -> String {
    use crate::types::Liftedness;
    match p.kind {
        TypeParamKind::Size(_) => format!("[{}]", p.name),
        TypeParamKind::Type(_, Liftedness::Unlifted) => format!("'{}", p.name),
        TypeParamKind::Type(_, Liftedness::SizeLifted) => format!("'~{}", p.name),
        TypeParamKind::Type(_, Liftedness::Lifted) => format!("'^{}", p.name),
    }
}
