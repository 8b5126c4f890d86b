//! Tables that the C files read: operations by number, places in the source, entry points.

use std::collections::HashMap;
use std::fmt::Write as _;

use dagaz_core::exp::{Entry, EntryType, Fun, Loc, OpaqueKind, Program};
use dagaz_core::prim::{BinOp, PrimType, TernOp, UnOp};
use dagaz_core::types::{Atom, Param};

use crate::scalar::type_code;
use crate::{Part, Site, SiteKind};

/// The numbers of types and operations, as the generated code uses them.
pub(super) fn operations() -> String {
    let list = |prefix: &str, names: &mut dyn Iterator<Item = &'static str>| {
        let all: Vec<String> = names.map(|name| format!("DZ_{prefix}{}", name.to_uppercase())).collect();
        format!("enum {{ {} }};\n", all.join(", "))
    };
    let types = list("", &mut PrimType::ALL.iter().map(|ty| ty.name()));
    let unops = list("UNOP_", &mut UnOp::ALL.iter().map(|op| op.name()));
    let binops = list("BINOP_", &mut BinOp::ALL.iter().map(|op| op.name()));
    let ternops = list("TERNOP_", &mut TernOp::ALL.iter().map(|op| op.name()));
    format!("{types}{unops}{binops}{ternops}")
}

/// A C string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(byte.into());
            }
            // Three digits, so that digits after them do not belong to them; and a `?` could begin a trigraph.
            0..=31 | 127.. | b'?' => {
                let _ = write!(out, "\\{byte:03o}");
            }
            _ => out.push(byte.into()),
        }
    }
    out.push('"');
    out
}

/// Places that sites name, numbered when first used; the call around an inlined function comes before it.
#[derive(Default)]
struct Places {
    numbers: HashMap<Loc, usize>,
    rows: Vec<String>,
}

impl Places {
    fn number(&mut self, program: &Program, loc: Loc) -> i64 {
        // A chain of inlined calls, the innermost first, up to a place that is numbered already.
        let mut chain = Vec::new();
        let mut next = Some(loc);
        while let Some(source) = next.and_then(|loc| program.source(loc)) {
            let Some(place) = next.filter(|place| !self.numbers.contains_key(place)) else { break };
            chain.push((place, source));
            next = source.inlined_at;
        }
        let known = |places: &Places, loc: Option<Loc>| {
            loc.and_then(|loc| places.numbers.get(&loc)).and_then(|n| i64::try_from(*n).ok()).unwrap_or(-1)
        };
        for (place, source) in chain.into_iter().rev() {
            let outer = known(self, source.inlined_at);
            // Code of the prelude is not the user's concern.
            let text = match source.file.starts_with("/prelude/") {
                true => "0".to_string(),
                false => quoted(&format!("{}:{}:{}", source.file, source.line, source.col)),
            };
            self.numbers.insert(place, self.rows.len());
            self.rows.push(format!("  {{{text}, {outer}}},\n"));
        }
        known(self, Some(loc))
    }
}

pub(super) fn sites(program: &Program, sites: &[Site]) -> String {
    let mut places = Places::default();
    let mut parts = String::new();
    let mut rows = String::new();
    for (i, site) in sites.iter().enumerate() {
        let (kind, count, texts) = describe(&site.kind);
        let table = match texts.is_empty() {
            true => "0".to_string(),
            false => {
                let _ = writeln!(parts, "static const char *const dz_site_{i}[] = {{{}}};", texts.join(", "));
                format!("dz_site_{i}")
            }
        };
        let place = places.number(program, site.loc);
        let _ = writeln!(rows, "  {{DZ_SITE_{kind}, {place}, {count}, {table}}},");
    }
    let places: String = places.rows.concat();
    // C has no empty tables.
    format!(
        "{parts}static const dz_place dz_places[] = {{\n{places}  {{0, -1}}\n}};\n\
         static const dz_site dz_sites[] = {{\n{rows}  {{DZ_SITE_STOPPED, -1, 0, 0}}\n}};\n"
    )
}

/// Kind, count and texts.
fn describe(kind: &SiteKind) -> (&'static str, usize, Vec<String>) {
    match kind {
        SiteKind::Assert(parts) => {
            let texts = parts.iter().map(|part| match part {
                Part::Text(text) => quoted(text),
                Part::Value => "0".to_string(),
            });
            let texts: Vec<String> = texts.collect();
            ("ASSERT", texts.len(), texts)
        }
        SiteKind::DivisionByZero => ("DIVISION_BY_ZERO", 0, Vec::new()),
        SiteKind::NegativeExponent => ("NEGATIVE_EXPONENT", 0, Vec::new()),
        SiteKind::OutOfBounds { indices } => ("OUT_OF_BOUNDS", *indices, Vec::new()),
        SiteKind::NegativeSize(what) => ("NEGATIVE_SIZE", 1, vec![quoted(what)]),
        SiteKind::Memory => ("MEMORY", 0, Vec::new()),
        SiteKind::TooDeep => ("TOO_DEEP", 0, Vec::new()),
        SiteKind::Stopped => ("STOPPED", 0, Vec::new()),
        SiteKind::Call => ("CALL", 0, Vec::new()),
        SiteKind::Trace(tag) => ("TRACE", 1, vec![quoted(tag)]),
    }
}

pub(super) fn entries(program: &Program, functions: &[String]) -> Result<String, String> {
    let mut text = String::new();
    let mut rows = String::new();
    for (i, (entry, function)) in program.entries.iter().zip(functions).enumerate() {
        let fun = program.fun(entry.fun).ok_or("internal error: an entry point without a function")?;
        let (sizes, params) = fun.params.split_at(entry.size_params.min(fun.params.len()));
        let results = fun.ret.get(entry.size_results..).unwrap_or(&[]);
        let names = value_names(entry);
        let of_params =
            slots(&mut text, &format!("dz_params_{i}"), params, &names, &|atom| dim(fun, entry, atom));
        let of_results =
            slots(&mut text, &format!("dz_results_{i}"), results, &[], &|_| "{0, 0}".to_string());
        let mut shown: Vec<String> = Vec::new();
        for result in &entry.results {
            show(result, &mut shown);
            shown.push("{\"\\n\", 0, 0}".to_string());
        }
        let _ = writeln!(
            text,
            "static const dz_shown dz_shown_{i}[] = {{{}{{\"\", 0, 0}}}};",
            shown.iter().map(|s| format!("{s}, ")).collect::<String>()
        );
        let described: Vec<String> =
            entry.params.iter().map(|p| format!("{}: {}", p.name, p.ty.name())).collect();
        let _ = writeln!(
            rows,
            "  {{{}, {function}, {}, {}, {}, {}, {of_params}, {of_results}, dz_shown_{i}, {}, {}}},",
            quoted(&entry.name),
            sizes.len(),
            params.len(),
            entry.size_results,
            results.len(),
            shown.len(),
            quoted(&described.join(", "))
        );
    }
    let count = program.entries.len();
    let _ = writeln!(text, "static const dz_entry dz_entries[] = {{\n{rows}  {{0}}\n}};");
    let _ = writeln!(text, "enum {{ DZ_ENTRY_COUNT = {count} }};");
    Ok(text)
}

/// The user's name for each value.
fn value_names(entry: &Entry) -> Vec<&str> {
    let repeated = |p: &'_ dagaz_core::exp::EntryParam| p.ty.arity();
    entry.params.iter().flat_map(|p| std::iter::repeat_n(p.name.as_str(), repeated(p))).collect()
}

/// The table of some values; gives its name.
fn slots(
    text: &mut String,
    table: &str,
    params: &[Param],
    names: &[&str],
    dim: &dyn Fn(&Atom) -> String,
) -> String {
    let mut rows = Vec::new();
    for (i, param) in params.iter().enumerate() {
        let mut dims = "0".to_string();
        if param.ty.rank() > 0 {
            dims = format!("{table}_{i}");
            let all: Vec<String> = param.ty.dims().iter().map(dim).collect();
            let _ = writeln!(text, "static const dz_dim {dims}[] = {{{}}};", all.join(", "));
        }
        let name = quoted(names.get(i).copied().unwrap_or(""));
        let code = param.ty.elem().map_or(0, type_code);
        rows.push(format!("{{{name}, {code}, {}, {dims}}}", param.ty.rank()));
    }
    rows.push("{0}".to_string());
    let _ = writeln!(text, "static const dz_slot {table}[] = {{{}}};", rows.join(", "));
    table.to_string()
}

/// Where a size of a parameter comes from.
fn dim(fun: &Fun, entry: &Entry, atom: &Atom) -> String {
    let var = match atom {
        Atom::Const(prim) => return format!("{{DZ_DIM_CONSTANT, {}}}", prim.as_i64().unwrap_or(0)),
        Atom::Var(var) => var,
    };
    match fun.params.iter().position(|p| p.var == *var) {
        Some(at) if at < entry.size_params => format!("{{DZ_DIM_SIZE, {at}}}"),
        Some(at) => format!("{{DZ_DIM_ARGUMENT, {}}}", at - entry.size_params),
        None => "{DZ_DIM_CONSTANT, 0}".to_string(),
    }
}

/// How a result is printed.
fn show(ty: &EntryType, out: &mut Vec<String>) {
    match ty {
        EntryType::Value { .. } => out.push("{\"\", 1, 1}".to_string()),
        EntryType::Opaque {
            kind: OpaqueKind::Sum(_) | OpaqueKind::Array(_) | OpaqueKind::Other,
            name,
            types,
        } => {
            out.push(format!("{{{}, {}, 0}}", quoted(&format!("#<{name}>")), types.len()));
        }
        EntryType::Opaque { kind: OpaqueKind::Record(fields), .. } => {
            let is_tuple = fields.iter().enumerate().all(|(i, (name, _))| *name == i.to_string());
            let (open, close) = if is_tuple { ("(", ")") } else { ("{", "}") };
            for (i, (name, field)) in fields.iter().enumerate() {
                let lead = if i == 0 { open } else { ", " };
                let label = if is_tuple { String::new() } else { format!("{name} = ") };
                out.push(format!("{{{}, 0, 0}}", quoted(&format!("{lead}{label}"))));
                show(field, out);
            }
            let end = if fields.is_empty() { format!("{open}{close}") } else { close.to_string() };
            out.push(format!("{{{}, 0, 0}}", quoted(&end)));
        }
    }
}
