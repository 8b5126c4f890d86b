//! A program as a C library of its own: one file of source and one header, for C programs without any Rust.
//!
//! The source is the generated program, then large matrix products if it has any (`product.c`), then C files that stand in
//! for the host (`special.c`, `text.c`, `pool.c`), then contexts, arrays and calls (`context.c`), and last the functions of this program: for every type that an entry point takes or
//! gives, and for every entry point. With a `main` function (`main.c`) it is an executable.
//!
//! ```text
//! entry dot [n] (xs: [n]f64) (ys: [n]f64): f64 = …
//!   ==>  int sums_entry_dot(sums_context *ctx, double *out, const sums_f64_1d *xs, const sums_f64_1d *ys);
//! ```
//!
//! All that a linker sees begins with the name of the library, here `sums`, so that a program may use several. In the C files
//! of this folder the name is `dagaz`.

mod functions;
mod names;
mod prefix;
mod tables;

use dagaz_core::exp::Program;
use dagaz_core::prim::PrimType;

use crate::generate;
use crate::scalar::type_code;
use names::Names;

/// The two files of a library.
#[derive(Clone, Debug)]
pub struct CLibrary {
    pub source: String,
    pub header: String,
}

const SPECIAL: &str = include_str!("special.c");
const TEXT: &str = include_str!("text.c");
const SITES: &str = include_str!("sites.h");
const POOL: &str = include_str!("pool.c");
const CONTEXT: &str = include_str!("context.c");
const READER: &str = include_str!("reader.c");
const MAIN: &str = include_str!("main.c");
const TILES: &str = include_str!("tiles.h");
/// For one type of elements, `ELEM`.
const PRODUCT: &str = include_str!("product.c");
const HEADER: &str = include_str!("header.h");

/// What follows the generated code takes next to no time when a program runs, and should not when it is compiled: with all
/// optimisations, it took longer than most programs. Compilers that do not know this ignore it.
const LITTLE_EFFORT: &str = "#pragma GCC optimize (\"O1\")";

/// The library of a program without derivatives. `name` is that of the header file, without `.h`.
pub fn generate_library(program: &Program, name: &str) -> Result<CLibrary, String> {
    let names = Names::new(program)?;
    let header = header(program, &names, name)?;
    let source = source(program, &names, &format!("#include \"{name}.h\"\n"))?;
    let prefix = prefix::of_library(name);
    Ok(CLibrary { source: prefix::renamed(&source, &prefix), header: prefix::renamed(&header, &prefix) })
}

/// The C text of an executable that reads arguments from standard input, and prints results as `dagaz run` does.
pub fn generate_executable(program: &Program) -> Result<String, String> {
    let names = Names::new(program)?;
    let header = header(program, &names, "program")?;
    Ok(format!("{}\n{READER}\n{MAIN}", source(program, &names, &header)?))
}

fn source(program: &Program, names: &Names, include: &str) -> Result<String, String> {
    let generated = generate(program)?;
    // Functions of the C library that belong to POSIX are declared only on demand, which has to come first.
    let start = format!("#define _GNU_SOURCE\n{include}");
    let parts = [
        start,
        generated.text.clone(),
        products(&generated.products),
        LITTLE_EFFORT.to_string(),
        tables::operations(),
        SPECIAL.to_string(),
        TEXT.to_string(),
        SITES.to_string(),
        tables::sites(program, &generated.sites),
        POOL.to_string(),
        CONTEXT.to_string(),
        functions::types(names),
        tables::entries(program, &generated.entries)?,
        functions::definitions(program, names)?,
    ];
    Ok(parts.join("\n"))
}

/// Large products of matrices with elements of these types.
fn products(types: &[PrimType]) -> String {
    if types.is_empty() {
        return "#define dz_host_product NULL".to_string();
    }
    let kernels: String = types.iter().map(|ty| PRODUCT.replace("ELEM", ty.name())).collect();
    let case = |ty: &PrimType| {
        format!("  if (type == {}) dz_large_product_{ty}(user, shape, a, b, c);\n", type_code(*ty))
    };
    let cases: String = types.iter().map(case).collect();
    format!(
        "{TILES}\n{kernels}\nstatic void dz_host_product(\n    void *user, i32 type, const dz_product *shape, \
         const void *a, const void *b, void *c) {{\n{cases}}}\n"
    )
}

fn header(program: &Program, names: &Names, name: &str) -> Result<String, String> {
    let guard: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    let declarations = functions::declarations(program, names)?;
    Ok(format!(
        "#ifndef DAGAZ_{guard}_H\n#define DAGAZ_{guard}_H\n\n{HEADER}\n{declarations}\n\
         #ifdef __cplusplus\n}}\n#endif\n\n#endif\n"
    ))
}
