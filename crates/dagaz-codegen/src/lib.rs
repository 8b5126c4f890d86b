//! From Core to C: an imperative intermediate language and its printer.
//!
//! [`generate`] lowers a program to [`imp`] and prints it as C after a prelude that is a C file of its own. The caller
//! compiles the text, and calls the functions that [`CSource::entries`] names. What goes wrong at run time is told by
//! the number of a [`Site`], which says where and what, and by values that the generated code has noted.

pub mod imp;
mod lower;
mod outline;
mod print_c;
mod remark;
mod scalar;
mod standalone;

use dagaz_core::calls::CallGraph;
use dagaz_core::exp::{Loc, Program};
use dagaz_core::prim::PrimType;
use imp::Module;
pub use remark::{Remark, RemarkKind};
pub use standalone::{CLibrary, generate_executable, generate_library};

/// A program as C.
#[derive(Clone, Debug)]
pub struct CSource {
    pub text: String,
    /// One per entry point, in their order.
    pub entries: Vec<String>,
    pub sites: Vec<Site>,
    pub remarks: Vec<Remark>,
    /// The places of statements whose time is counted.
    pub profiled: Vec<Loc>,
    /// The types of elements that there are matrix products of.
    pub products: Vec<PrimType>,
    /// Whether calls can be nested without a bound that is known.
    pub is_recursive: bool,
}

/// A place where the program can stop, or where it prints something.
#[derive(Clone, Debug)]
pub struct Site {
    pub loc: Loc,
    pub kind: SiteKind,
}

#[derive(Clone, Debug)]
pub enum SiteKind {
    /// Texts, and between them the noted values.
    Assert(Vec<Part>),
    /// The dividend is noted.
    DivisionByZero,
    /// Base and exponent are noted.
    NegativeExponent,
    /// So many indices are noted, then the shape.
    OutOfBounds {
        indices: usize,
    },
    /// What is negative; its value is noted.
    NegativeSize(&'static str),
    /// Elements, the number of their type, and the limit are noted.
    Memory,
    /// The depth is noted.
    TooDeep,
    /// The caller wanted it.
    Stopped,
    /// A function that was called has failed.
    Call,
    Trace(String),
}

#[derive(Clone, Debug)]
pub enum Part {
    Text(String),
    Value,
}

/// The C text of a program without derivatives. The error says what cannot be expressed.
pub fn generate(program: &Program) -> Result<CSource, String> {
    generate_with(program, false)
}

/// As [`generate`], for a program that counts the time of its statements.
pub fn generate_profiled(program: &Program) -> Result<CSource, String> {
    generate_with(program, true)
}

fn generate_with(program: &Program, is_profiled: bool) -> Result<CSource, String> {
    let module = lower::lower(program, is_profiled)?;
    let text = print_c::print(&module);
    let Module { entries, sites, remarks, profiled, products, .. } = module;
    let products = products.into_iter().collect();
    let is_recursive = !CallGraph::of(&program.funs).recursive().is_empty();
    Ok(CSource { text, entries, sites, remarks, profiled, products, is_recursive })
}

/// The C text without the prelude, for people to read.
pub fn generate_body(program: &Program) -> Result<String, String> {
    Ok(print_c::print_functions(&lower::lower(program, false)?))
}
