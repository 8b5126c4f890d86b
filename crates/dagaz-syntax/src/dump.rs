//! The syntax tree as an S-expression, for tests and for people who want to see how a text was read.
//!
//! ```text
//! def f (x: i32) = x + 1   ==>   (def f (paren (: x i32)) (+ x 1))
//! ```

use crate::ast::*;

/// The whole file, a declaration per line.
pub fn dump_program(program: &Program) -> String {
    let mut text = String::new();
    if let Some(doc) = &program.doc {
        text.push_str(&format!("{:?}\n", doc.text));
    }
    for dec in &program.decs {
        text.push_str(&dump_dec(dec));
        text.push('\n');
    }
    text
}

/// `(head part …)`
fn form(head: impl Into<String>, parts: impl IntoIterator<Item = String>) -> String {
    let mut text = format!("({}", head.into());
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        text.push(' ');
        text.push_str(&part);
    }
    text + ")"
}

fn all<T>(items: &[T], dump: impl Fn(&T) -> String) -> String {
    items.iter().map(dump).collect::<Vec<_>>().join(" ")
}

fn bracketed<T>(items: &[T], dump: impl Fn(&T) -> String) -> String {
    format!("[{}]", all(items, dump))
}

fn quals(name: &QualName) -> String {
    let mut text: String = name.quals.iter().map(|qual| format!("{}.", qual.name)).collect();
    text.push_str(name.name.as_str());
    text
}

fn attr(attr: &Attr) -> String {
    match &attr.kind {
        AttrKind::Name(name) => name.to_string(),
        AttrKind::Int(value) => value.to_string(),
        AttrKind::Compound(name, parts) => form(name.as_str(), parts.iter().map(self::attr)),
    }
}

fn doc(doc: &Option<DocComment>) -> String {
    doc.as_ref().map_or(String::new(), |doc| format!("(doc {:?}) ", doc.text))
}

// ---------------------------------------------------------------------------------------------------
// Declarations and modules

pub fn dump_dec(dec: &Dec) -> String {
    let kind = match &dec.kind {
        DecKind::Val(bind) => val_bind(bind),
        DecKind::Type(bind) => {
            let params = type_params(&bind.params);
            let parts = [bind.name.name.to_string(), params, dump_type(&bind.body)];
            form(type_word(bind.liftedness), parts)
        }
        DecKind::IndexType(bind) => {
            let params = type_params(&bind.ty.params);
            let parts = [bind.ty.name.name.to_string(), params, dump_type(&bind.ty.body)];
            form("index-type", parts.into_iter().chain([dump_expression(&bind.functions.body)]))
        }
        DecKind::Module(bind) => {
            let params = all(&bind.params, mod_param);
            let sig = bind.sig.as_ref().map_or(String::new(), |sig| format!(": {}", mod_type(sig)));
            form("module", [bind.name.name.to_string(), params, sig, mod_exp(&bind.body)])
        }
        DecKind::ModuleType { name, body } => form("module-type", [name.name.to_string(), mod_type(body)]),
        DecKind::Open(exp) => form("open", [mod_exp(exp)]),
        DecKind::Import { path, .. } => form("import", [format!("{path:?}")]),
        DecKind::Local(dec) => form("local", [dump_dec(dec)]),
    };
    let attrs: String = dec.attrs.iter().map(|a| format!("#[{}] ", attr(a))).collect();
    format!("{}{attrs}{kind}", doc(&dec.doc))
}

fn val_bind(bind: &ValBind) -> String {
    let word = match bind.keyword {
        BindKeyword::Def => "def",
        BindKeyword::Entry => "entry",
        BindKeyword::Let => "top-let",
    };
    let parts = [
        bind.name.name.to_string(),
        type_params(&bind.type_params),
        all(&bind.params, dump_pattern),
        ret(&bind.ret),
        dump_expression(&bind.body),
    ];
    form(word, parts)
}

fn ret(ty: &Option<TypeExp>) -> String {
    ty.as_ref().map_or(String::new(), |ty| format!(": {}", dump_type(ty)))
}

fn type_word(liftedness: Liftedness) -> &'static str {
    match liftedness {
        Liftedness::Unlifted => "type",
        Liftedness::SizeLifted => "type~",
        Liftedness::Lifted => "type^",
    }
}

fn type_params(params: &[TypeParam]) -> String {
    all(params, |param| match param.kind {
        TypeParamKind::Size => format!("[{}]", param.name.name),
        TypeParamKind::Type(Liftedness::Unlifted) => format!("'{}", param.name.name),
        TypeParamKind::Type(Liftedness::SizeLifted) => format!("'~{}", param.name.name),
        TypeParamKind::Type(Liftedness::Lifted) => format!("'^{}", param.name.name),
    })
}

fn mod_param(param: &ModParam) -> String {
    form(":", [param.name.name.to_string(), mod_type(&param.ty)])
}

fn mod_exp(exp: &ModExp) -> String {
    match &exp.kind {
        ModExpKind::Var(name) => quals(name),
        ModExpKind::Ascript(exp, ty) => form(":", [mod_exp(exp), mod_type(ty)]),
        ModExpKind::Lambda { param, sig, body } => {
            let sig = sig.as_ref().map_or(String::new(), |sig| format!(": {}", mod_type(sig)));
            form("\\", [mod_param(param), sig, mod_exp(body)])
        }
        ModExpKind::Apply(fun, arg) => form("apply", [mod_exp(fun), mod_exp(arg)]),
        ModExpKind::Paren(exp) => form("paren", [mod_exp(exp)]),
        ModExpKind::Decs(decs) => format!("{{{}}}", all(decs, dump_dec)),
        ModExpKind::Import { path, .. } => form("import", [format!("{path:?}")]),
    }
}

fn mod_type(ty: &ModTypeExp) -> String {
    match &ty.kind {
        ModTypeExpKind::Var(name) => quals(name),
        ModTypeExpKind::Specs(specs) => format!("{{{}}}", all(specs, spec)),
        ModTypeExpKind::With { base, name, params, ty } => {
            form("with", [mod_type(base), quals(name), type_params(params), dump_type(ty)])
        }
        ModTypeExpKind::Paren(ty) => form("paren", [mod_type(ty)]),
        ModTypeExpKind::Arrow { param, from, to } => {
            let param = param.map_or(String::new(), |param| format!("{}:", param.name));
            form("->", [param, mod_type(from), mod_type(to)])
        }
    }
}

fn spec(spec: &Spec) -> String {
    let kind = match &spec.kind {
        SpecKind::Val { name, type_params: params, ty } => {
            form("val", [name.name.to_string(), type_params(params), dump_type(ty)])
        }
        SpecKind::Type { name, liftedness, params, body } => {
            let body = body.as_ref().map_or(String::new(), |ty| format!("= {}", dump_type(ty)));
            form(type_word(*liftedness), [name.name.to_string(), type_params(params), body])
        }
        SpecKind::Module { name, ty } => form("module", [name.name.to_string(), mod_type(ty)]),
        SpecKind::Include(ty) => form("include", [mod_type(ty)]),
    };
    let attrs: String = spec.attrs.iter().map(|a| format!("#[{}] ", attr(a))).collect();
    format!("{}{attrs}{kind}", doc(&spec.doc))
}

// ---------------------------------------------------------------------------------------------------
// Types and patterns

pub fn dump_type(ty: &TypeExp) -> String {
    match &ty.kind {
        TypeExpKind::Var(name) => quals(name),
        TypeExpKind::Paren(ty) => form("paren", [dump_type(ty)]),
        TypeExpKind::Tuple(types) => form("tuple", types.iter().map(dump_type)),
        TypeExpKind::Record(fields) => {
            form("record", fields.iter().map(|(name, ty)| format!("{}: {}", name.name, dump_type(ty))))
        }
        TypeExpKind::Array { dim, elem } => form("array", [size(dim), dump_type(elem)]),
        TypeExpKind::Unique(ty) => form("*", [dump_type(ty)]),
        TypeExpKind::Apply { fun, args } => {
            let args = args.iter().map(|arg| match arg {
                TypeArg::Size { dim, .. } => size(dim),
                TypeArg::Type(ty) => dump_type(ty),
            });
            form("apply", std::iter::once(dump_type(fun)).chain(args))
        }
        TypeExpKind::Arrow { param, from, to } => {
            let param = param.map_or(String::new(), |param| format!("{}:", param.name));
            form("->", [param, dump_type(from), dump_type(to)])
        }
        TypeExpKind::Sum(clauses) => {
            let clauses = clauses
                .iter()
                .map(|(name, types)| form(format!("#{}", name.name), types.iter().map(dump_type)));
            form("sum", clauses)
        }
        TypeExpKind::Exists { sizes, body } => {
            form("exists", [all(sizes, |size| format!("[{}]", size.name)), dump_type(body)])
        }
    }
}

fn size(dim: &Option<Box<Exp>>) -> String {
    dim.as_ref().map_or("[]".to_owned(), |dim| format!("[{}]", dump_expression(dim)))
}

pub fn dump_pattern(pat: &Pat) -> String {
    match &pat.kind {
        PatKind::Var(name) => name.name.to_string(),
        PatKind::Wildcard => "_".to_owned(),
        PatKind::Lit(value) => literal(value),
        PatKind::Paren(pat) => form("paren", [dump_pattern(pat)]),
        PatKind::Tuple(pats) => form("tuple", pats.iter().map(dump_pattern)),
        PatKind::Record(fields) => {
            let fields = fields.iter().map(|(name, pat)| match pat {
                Some(pat) => format!("{} = {}", name.name, dump_pattern(pat)),
                None => name.name.to_string(),
            });
            form("record", fields)
        }
        PatKind::Constr { name, args } => form(format!("#{}", name.name), args.iter().map(dump_pattern)),
        PatKind::Ascript(pat, ty) => form(":", [dump_pattern(pat), dump_type(ty)]),
        PatKind::Attr(a, pat) => form(format!("#[{}]", attr(a)), [dump_pattern(pat)]),
    }
}

// ---------------------------------------------------------------------------------------------------
// Expressions

fn literal(literal: &Literal) -> String {
    let suffix = |ty: &Option<PrimType>| ty.map_or(String::new(), |ty| format!("{ty:?}").to_lowercase());
    match literal {
        Literal::Bool(value) => value.to_string(),
        Literal::Int(value, ty) => format!("{value}{}", suffix(ty)),
        Literal::Float(value, ty) => format!("{value:?}{}", suffix(ty)),
    }
}

fn indices(indices: &[SliceIndex]) -> String {
    let part = |exp: &Option<Exp>| exp.as_ref().map_or(String::new(), dump_expression);
    bracketed(indices, |index| match index {
        SliceIndex::Index(exp) => dump_expression(exp),
        SliceIndex::Slice { start, end, stride, .. } => {
            format!("{}:{}:{}", part(start), part(end), part(stride))
        }
    })
}

fn path(path: &[Access]) -> String {
    let step = |access: &Access| match access {
        Access::Field(name) => format!(".{}", name.name),
        Access::Index(list, _) => indices(list),
    };
    path.iter().map(step).collect()
}

pub fn dump_expression(exp: &Exp) -> String {
    let dump = dump_expression;
    match &exp.kind {
        ExpKind::Lit(value) => literal(value),
        ExpKind::Str(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
        ExpKind::Var(name) => quals(name),
        ExpKind::Hole => "???".to_owned(),
        ExpKind::Error => "<error>".to_owned(),
        ExpKind::Paren(exp) => form("paren", [dump(exp)]),
        ExpKind::Tuple(exps) => form("tuple", exps.iter().map(dump)),
        ExpKind::Record(fields) => form("record", fields.iter().map(field)),
        ExpKind::Array(exps) => bracketed(exps, dump),
        ExpKind::Project(exp, field) => form(format!(".{}", field.name), [dump(exp)]),
        ExpKind::Index(exp, list) => form("index", [dump(exp), indices(list)]),
        ExpKind::LocalOpen { module, body } => form("open", [quals(module), dump(body)]),
        ExpKind::BinOp { op, lhs, rhs } => form(quals(op), [dump(lhs), dump(rhs)]),
        ExpKind::Neg(exp) => form("neg", [dump(exp)]),
        ExpKind::Not(exp) => form("not", [dump(exp)]),
        ExpKind::App { fun, args } => form("app", std::iter::once(dump(fun)).chain(args.iter().map(dump))),
        ExpKind::Constr { name, args } => form(format!("#{}", name.name), args.iter().map(dump)),
        ExpKind::SectionLeft { op, lhs } => form("section", [dump(lhs), quals(op), "_".to_owned()]),
        ExpKind::SectionRight { op, rhs } => form("section", ["_".to_owned(), quals(op), dump(rhs)]),
        ExpKind::SectionAccess(steps) => form("section", [path(steps)]),
        ExpKind::Ascript(exp, ty) => form(":", [dump(exp), dump_type(ty)]),
        ExpKind::Coerce(exp, ty) => form(":>", [dump(exp), dump_type(ty)]),
        ExpKind::With { target, path: steps, value } => {
            form("with", [dump(target), path(steps), dump(value)])
        }
        ExpKind::Range { start, second, end, kind } => {
            let second = second.as_ref().map_or(String::new(), |second| format!("..{}", dump(second)));
            form(range_word(*kind), [dump(start), second, dump(end)])
        }
        ExpKind::If { cond, then, otherwise } => form("if", [dump(cond), dump(then), dump(otherwise)]),
        ExpKind::Let { sizes, pat, value, body } => {
            let sizes = all(sizes, |size| format!("[{}]", size.name));
            form("let", [sizes, dump_pattern(pat), dump(value), dump(body)])
        }
        ExpKind::LetFun { name, type_params: sorts, params, ret: ty, def, body } => {
            let head = [name.name.to_string(), type_params(sorts), all(params, dump_pattern), ret(ty)];
            form("let-fun", head.into_iter().chain([dump(def), dump(body)]))
        }
        ExpKind::LetWith { name, path: steps, value, body } => {
            form("let-with", [format!("{}{}", name.name, path(steps)), dump(value), dump(body)])
        }
        ExpKind::Lambda { params, ret: ty, body } => {
            form("\\", [all(params, dump_pattern), ret(ty), dump(body)])
        }
        ExpKind::Loop { pat, init, form: loop_form, body } => {
            let init = init.as_ref().map_or(String::new(), |init| format!("= {}", dump(init)));
            form("loop", [dump_pattern(pat), init, loop_form_text(loop_form), dump(body)])
        }
        ExpKind::For { binders, body } => {
            let binder = |b: &ForBinder| {
                let bound = b.bound.as_ref().map_or(String::new(), |n| format!(" < {}", dump(n)));
                format!("{}{bound}", dump_pattern(&b.pat))
            };
            form("for", [bracketed(binders, binder), dump(body)])
        }
        ExpKind::Seq { first, second } => form(";", [dump(first), dump(second)]),
        ExpKind::Match { scrutinee, cases } => {
            let cases = cases.iter().map(|c| form("case", [dump_pattern(&c.pat), dump(&c.body)]));
            form("match", std::iter::once(dump(scrutinee)).chain(cases))
        }
        ExpKind::Assert { cond, body } => form("assert", [dump(cond), dump(body)]),
        ExpKind::Attr(a, exp) => form(format!("#[{}]", attr(a)), [dump(exp)]),
    }
}

fn field(field: &Field) -> String {
    match field {
        Field::Explicit(name, exp) => format!("{} = {}", name.name, dump_expression(exp)),
        Field::Implicit(name, _) => name.name.to_string(),
    }
}

fn range_word(kind: RangeKind) -> &'static str {
    match kind {
        RangeKind::Inclusive => "...",
        RangeKind::UpTo => "..<",
        RangeKind::DownTo => "..>",
    }
}

fn loop_form_text(loop_form: &LoopForm) -> String {
    match loop_form {
        LoopForm::For { var, bound } => form("for", [format!("{} <", var.name), dump_expression(bound)]),
        LoopForm::ForIn { pat, array } => {
            form("for", [dump_pattern(pat), "in".into(), dump_expression(array)])
        }
        LoopForm::While(cond) => form("while", [dump_expression(cond)]),
    }
}
