//! Imp as C.

mod expr;
mod product;
mod runtime;
mod scalar;
mod stm;

use dagaz_core::prim::PrimType;

use self::stm::{Printer, declaration};
use crate::imp::{Function, Module, Signature, Stm, Var};
use crate::outline::{Outlined, Task, outline};

const PRELUDE: &str = include_str!("../prelude.c");
/// Parallel loops.
const PARALLEL: &str = include_str!("../parallel.c");
const PROFILE: &str = include_str!("../profile.c");
/// For one type of elements, `ELEM`, of which `CODE` is the number.
const PRODUCT: &str = include_str!("../product.c");
const TRIANGLES: &str = include_str!("../triangle.h");
/// For one type of elements, as above.
const TRIANGLE: &str = include_str!("../triangle.c");
/// For one type of elements, as above.
const LOG: &str = include_str!("../log.c");
const TURN: &str = include_str!("../turn.c");

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
    let mut printer = Printer::new(String::new());
    printer.line("/* The first context, and the top-level constants after it. */");
    printer.line("typedef struct {");
    printer.inside(|p| {
        p.line("dz_ctx base;");
        module.globals.iter().for_each(|global| p.line(format_args!("{};", declaration(global))));
    });
    printer.line("} dz_program;\n\ni64 dz_context_size(void) { return sizeof(dz_program); }\n");
    for function in &module.functions {
        printer.line(format_args!("{};", head(function)));
    }
    for Outlined { function, tasks } in outline(module.functions.clone()) {
        tasks.iter().for_each(|task| print_task(&mut printer, task));
        printer.line(format_args!("\n{} {{", head(&function)));
        print_body(&mut printer, &function.body);
    }
    printer.text
}

fn print_task(printer: &mut Printer, task: &Task) {
    let Task { number, outside, has_sites, from, to, body } = task;
    printer.line(format_args!("\nstruct env_{number} {{"));
    printer.inside(|p| {
        outside.iter().for_each(|var| p.line(format_args!("{};", declaration(var))));
        if *has_sites {
            p.line("const i32 *sites;");
        } else if outside.is_empty() {
            p.line("char nothing;");
        }
    });
    printer.line("};");
    let piece = format!("i64 {from}, i64 {to}");
    printer.line(format_args!("\nstatic i32 task_{number}(dz_ctx *ctx, const void *env, {piece}) {{"));
    printer.inside(|p| {
        p.line(format_args!("const struct env_{number} *outside = env;"));
        outside.iter().for_each(|var| p.line(format_args!("{} = outside->{var};", declaration(var))));
    });
    print_body(printer, body);
}

fn print_body(printer: &mut Printer, body: &[Stm]) {
    printer.inside(|p| {
        p.stms(body);
        p.line("return 0;");
    });
    printer.line("}");
}

fn head(function: &Function) -> String {
    let (linkage, params) = match &function.signature {
        Signature::Internal { params, results } => {
            let result = |var: &Var| format!("{}*{var}", expr::type_of(var.repr));
            ("static ", params.iter().map(declaration).chain(results.iter().map(result)).collect())
        }
        Signature::Entry => ("", vec!["dz_value *in".to_string(), "dz_value *out".to_string()]),
    };
    let params: Vec<String> = std::iter::once("dz_ctx *ctx".to_string()).chain(params).collect();
    format!("{linkage}i32 {}({})", function.name, params.join(", "))
}
