//! Runs generated code: the C compiler, the cache of shared objects, calls and values.
//!
//! [`Native::load`] compiles the C text of a program, or finds what was compiled before, and loads it; calls then take
//! and give the values of `dagaz-core`, and fail with the errors of its interpreter. All unsafe code of the project is
//! here, in `library`, `host`, `product`, `threads`, `pool` and `large_pages`.

mod cache;
mod compiler;
mod host;
mod kernels;
mod large_pages;
mod library;
mod message;
mod packed;
mod pool;
mod product;
mod sanitized;
mod threads;

use std::path::Path;
use std::sync::Arc;

use dagaz_core::argument::Argument;
use dagaz_core::engine::{Engine, Making, Measured};
use dagaz_core::exp::{Entry, Fun, Loc, Program};
use dagaz_core::interp::{Limits, RuntimeError, entry_sizes};
use dagaz_core::prim::Prim;
use dagaz_core::value::Value;

use library::Reading;

pub use cache::{CacheUse, clear as clear_cache, usage as cache_usage};
pub use compiler::c_compiler;
pub use large_pages::LargePages;
pub use sanitized::Sanitized;

/// Compiles a program without derivatives to an executable file.
pub fn make_executable(program: &Program, path: &Path, making: &Making) -> Result<(), String> {
    compiler::executable(&dagaz_codegen::generate_executable(program)?, path, false, making)
}

/// A program as machine code. Top-level constants are evaluated when a call first needs them, and kept.
pub struct Native {
    program: Arc<Program>,
    library: library::Library,
    threads: threads::Threads,
    limits: Limits,
}

impl Native {
    /// The error says in one sentence why there is no machine code.
    pub fn load(program: Arc<Program>, making: &Making) -> Result<Native, String> {
        let source = match making.profile {
            true => dagaz_codegen::generate_profiled(&program)?,
            false => dagaz_codegen::generate(&program)?,
        };
        let object = compiler::shared_object(&source.text, making)?;
        let library = library::Library::open(object, source)?;
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Native { program, library, threads: threads::Threads::new(count), limits: Limits::generous() })
    }

    fn call_entry(
        &mut self,
        name: &str,
        args: &[Argument<'_>],
        reading: Reading,
    ) -> Result<Vec<Value>, RuntimeError> {
        let program = self.program.clone();
        let (number, entry, fun) = find_entry(&program, name)?;
        let sizes = entry_sizes(entry, fun, args).map_err(RuntimeError::new)?;
        let given = (sizes.as_slice(), args);
        let mut results = self.library.call(number, fun, given, (&self.limits, &self.threads), reading)?;
        Ok(results.split_off(entry.size_results.min(results.len())))
    }
}

impl Engine for Native {
    fn call(&mut self, entry: &str, args: Vec<Argument<'_>>) -> Result<Vec<Value>, RuntimeError> {
        self.call_entry(entry, &args, Reading::All)
    }

    /// Results are freed as they are. To copy them would fill caches with other things than the next call needs.
    fn run(&mut self, entry: &str, args: Vec<Argument<'_>>) -> Result<(), RuntimeError> {
        self.call_entry(entry, &args, Reading::Nothing).map(drop)
    }

    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// As many as the machine has if not set.
    fn set_threads(&mut self, count: usize) {
        self.threads = threads::Threads::new(count);
    }

    fn measured(&self) -> Measured {
        let (elapsed, peak) = (Some(self.library.elapsed), Some(self.library.peak()));
        Measured { elapsed, peak, counters: None }
    }

    fn profile(&self) -> Vec<(Loc, u64, u64)> {
        self.library.profile()
    }
}

fn find_entry<'p>(program: &'p Program, name: &str) -> Result<(usize, &'p Entry, &'p Fun), RuntimeError> {
    let Some((number, entry)) = program.entries.iter().enumerate().find(|(_, e)| e.name == name) else {
        let known: Vec<&str> = program.entries.iter().map(|e| e.name.as_str()).collect();
        let known = known.join(", ");
        return Err(RuntimeError::new(format!("no entry point '{name}'; there are: {known}")));
    };
    let Some(fun) = program.fun(entry.fun) else {
        return Err(RuntimeError::new(format!("internal error: entry point '{name}' has no function")));
    };
    Ok((number, entry, fun))
}

/// A scalar from its bits.
fn prim_of_bits(ty: dagaz_core::prim::PrimType, bits: u64) -> Prim {
    use dagaz_core::prim::PrimType;
    match ty {
        PrimType::I8 => Prim::I8(bits as i8),
        PrimType::I16 => Prim::I16(bits as i16),
        PrimType::I32 => Prim::I32(bits as i32),
        PrimType::I64 => Prim::I64(bits as i64),
        PrimType::U8 => Prim::U8(bits as u8),
        PrimType::U16 => Prim::U16(bits as u16),
        PrimType::U32 => Prim::U32(bits as u32),
        PrimType::U64 => Prim::U64(bits),
        PrimType::F16 => Prim::F16(half::f16::from_bits(bits as u16)),
        PrimType::F32 => Prim::F32(f32::from_bits(bits as u32)),
        PrimType::F64 => Prim::F64(f64::from_bits(bits)),
        PrimType::Bool => Prim::Bool(bits & 0xff != 0),
    }
}
