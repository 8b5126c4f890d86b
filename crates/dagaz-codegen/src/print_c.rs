//! Imp as C.

use std::fmt::Write as _;

use crate::imp::{Function, LoopKind, Module, Stm};

const PRELUDE: &str = include_str!("prelude.c");
/// For one type of elements, `ELEM`.
const PRODUCT: &str = include_str!("product.c");

pub(crate) fn print(module: &Module) -> String {
    let products = module.products.iter().map(|ty| {
        PRODUCT.replace("ELEM", ty.name()).replace("CODE", &crate::scalar::type_code(*ty).to_string())
    });
    let products: String = products.collect();
    format!("{PRELUDE}\n{products}\n{}", print_functions(module))
}

pub(crate) fn print_functions(module: &Module) -> String {
    let mut text = String::from(
        "/* The context, and the top-level constants after it. */\ntypedef struct {\n  dz_ctx base;\n",
    );
    for global in &module.globals {
        let _ = writeln!(text, "  {global}");
    }
    text.push_str("} dz_program;\n\ni64 dz_context_size(void) { return sizeof(dz_program); }\n\n");
    for function in &module.functions {
        let _ = writeln!(text, "{};", head(function));
    }
    for function in &module.functions {
        let _ = writeln!(text, "\n{} {{", head(function));
        statements(&mut text, &function.body, 1);
        text.push_str("  return 0;\n}\n");
    }
    text
}

fn head(function: &Function) -> String {
    let linkage = if function.exported { "" } else { "static " };
    format!("{linkage}i32 {}({})", function.name, function.params.join(", "))
}

fn statements(text: &mut String, stms: &[Stm], depth: usize) {
    for stm in stms {
        statement(text, stm, depth);
    }
}

fn statement(text: &mut String, stm: &Stm, depth: usize) {
    let indent = "  ".repeat(depth);
    match stm {
        Stm::Line(line) => {
            let _ = writeln!(text, "{indent}{line}");
        }
        Stm::Block(body) => {
            let _ = writeln!(text, "{indent}{{");
            statements(text, body, depth + 1);
            let _ = writeln!(text, "{indent}}}");
        }
        Stm::Loop { kind, var, bound, note, body } => {
            match kind {
                LoopKind::Simd => {
                    let _ = writeln!(text, "#pragma GCC ivdep");
                }
                LoopKind::Sequential | LoopKind::Parallel => {}
            }
            let _ = writeln!(text, "{indent}for (i64 {var} = 0; {var} < {bound}; {var}++) {{{note}");
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
