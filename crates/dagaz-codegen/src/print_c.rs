//! Imp as C.

use std::fmt::Write as _;

use dagaz_core::prim::PrimType;

use crate::imp::{Function, LoopKind, Module, Stm, Variable};
use crate::outline::{Task, outline};

const PRELUDE: &str = include_str!("prelude.c");
/// Parallel loops.
const PARALLEL: &str = include_str!("parallel.c");
const PROFILE: &str = include_str!("profile.c");
/// For one type of elements, `ELEM`, of which `CODE` is the number.
const PRODUCT: &str = include_str!("product.c");
const TRIANGLES: &str = include_str!("triangle.h");
/// For one type of elements, as above.
const TRIANGLE: &str = include_str!("triangle.c");
/// For one type of elements, as above.
const LOG: &str = include_str!("log.c");
const TURN: &str = include_str!("turn.c");

pub(crate) fn print(module: &Module) -> String {
    let of_type = |text: &str, ty: &PrimType| {
        text.replace("ELEM", ty.name()).replace("CODE", &crate::scalar::type_code(*ty).to_string())
    };
    let mut products: String = module.products.iter().map(|ty| of_type(PRODUCT, ty)).collect();
    if !module.triangles.is_empty() {
        products.push_str(TRIANGLES);
        products.extend(module.triangles.iter().map(|ty| of_type(TRIANGLE, ty)));
    }
    products.extend(module.logs.iter().map(|ty| of_type(LOG, ty)));
    if module.turns_rows {
        products.push_str(TURN);
    }
    let profile = match module.profiled.len() {
        0 => String::new(),
        count => format!("enum {{ DZ_PROFILED = {count} }};\n{PROFILE}"),
    };
    format!("{PRELUDE}\n{PARALLEL}\n{products}\n{profile}{}", print_functions(module))
}

pub(crate) fn print_functions(module: &Module) -> String {
    let mut text = String::from(
        "/* The first context, and the top-level constants after it. */\ntypedef struct {\n  dz_ctx base;\n",
    );
    for global in &module.globals {
        let _ = writeln!(text, "  {global}");
    }
    text.push_str("} dz_program;\n\ni64 dz_context_size(void) { return sizeof(dz_program); }\n\n");
    for function in &module.functions {
        let _ = writeln!(text, "{};", head(function));
    }
    for (function, tasks) in outline(module) {
        tasks.iter().for_each(|task| print_task(&mut text, task));
        let _ = writeln!(text, "\n{} {{", head(&function));
        statements(&mut text, &function.body, 1);
        text.push_str("  return 0;\n}\n");
    }
    text
}

fn print_task(text: &mut String, task: &Task) {
    let Task { number, outside, has_sites, from, to, body } = task;
    let _ = writeln!(text, "\nstruct env_{number} {{");
    for var in outside {
        let _ = writeln!(text, "  {};", declaration(var));
    }
    if *has_sites {
        text.push_str("  const i32 *sites;\n");
    } else if outside.is_empty() {
        text.push_str("  char nothing;\n");
    }
    text.push_str("};\n");
    let _ =
        writeln!(text, "\nstatic i32 task_{number}(dz_ctx *ctx, const void *env, i64 {from}, i64 {to}) {{");
    let _ = writeln!(text, "  const struct env_{number} *outside = env;");
    for var in outside {
        let _ = writeln!(text, "  {} = outside->{};", declaration(var), var.name);
    }
    statements(text, body, 1);
    text.push_str("  return 0;\n}\n");
}

fn head(function: &Function) -> String {
    let linkage = if function.exported { "" } else { "static " };
    let params: Vec<String> = function.params.iter().map(declaration).collect();
    format!("{linkage}i32 {}({})", function.name, params.join(", "))
}

fn declaration(var: &Variable) -> String {
    let space = if var.ty.ends_with(['*', ' ']) { "" } else { " " };
    format!("{}{space}{}", var.ty, var.name)
}

pub(crate) fn statements(text: &mut String, stms: &[Stm], depth: usize) {
    for stm in stms {
        statement(text, stm, depth);
    }
}

fn statement(text: &mut String, stm: &Stm, depth: usize) {
    let indent = "  ".repeat(depth);
    match stm {
        Stm::Declare { var, value: Some(value) } => {
            let _ = writeln!(text, "{indent}{} = {value};", declaration(var));
        }
        Stm::Declare { var, value: None } => {
            let _ = writeln!(text, "{indent}{};", declaration(var));
        }
        Stm::Line(line) => {
            let _ = writeln!(text, "{indent}{line}");
        }
        Stm::Block(body) => {
            let _ = writeln!(text, "{indent}{{");
            statements(text, body, depth + 1);
            let _ = writeln!(text, "{indent}}}");
        }
        Stm::Loop { kind, var, from, to, note, body } => {
            if let LoopKind::Simd { sums } = kind {
                let clauses: String =
                    sums.iter().map(|(op, var)| format!(" reduction({op}:{var})")).collect();
                let _ = writeln!(text, "#pragma omp simd{clauses}");
            }
            let _ = writeln!(text, "{indent}for (i64 {var} = {from}; {var} < {to}; {var}++) {{{note}");
            statements(text, body, depth + 1);
            let _ = writeln!(text, "{indent}}}");
        }
        // Outlining has left none; in order, one piece is as good as many.
        Stm::Parallel { count, from, to, note, body, .. } => {
            let _ = writeln!(text, "{indent}{{{note}");
            let _ = writeln!(text, "{indent}  i64 {from} = 0, {to} = {count};");
            statements(text, body, depth + 1);
            let _ = writeln!(text, "{indent}}}");
        }
        Stm::Forever { note, body } => {
            let _ = writeln!(text, "{indent}for (;;) {{{note}");
            statements(text, body, depth + 1);
            let _ = writeln!(text, "{indent}}}");
        }
        Stm::If { cond, then, otherwise } => {
            let _ = writeln!(text, "{indent}if ({cond}) {{");
            statements(text, then, depth + 1);
            if !otherwise.is_empty() {
                let _ = writeln!(text, "{indent}}} else {{");
                statements(text, otherwise, depth + 1);
            }
            let _ = writeln!(text, "{indent}}}");
        }
    }
}
