//! The engines of this build, and which of them runs a program.
//!
//! Machine code needs a C compiler, files, processes and threads. A build without the feature `native`, as for a browser, has the interpreter alone.

use std::sync::Arc;

use dagaz_core::engine::{Engine, Making};
use dagaz_core::exp::Program;
use dagaz_core::interp::Interpreter;

/// What runs a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Backend {
    /// The meaning of the language: slow, and counts what calls cost.
    Interpreter,
    /// Operations on whole arrays, interpreted; for programs that have such a form.
    Bulk,
    /// C, compiled by the C compiler of the machine.
    C,
    /// The same with checks for memory errors and undefined behaviour; slow.
    Sanitized,
}

/// An engine for a program; the interpreter where there is no such engine, with a sentence that says why.
pub(crate) fn engine(
    backend: Backend,
    core: &Arc<Program>,
    making: &Making,
) -> (Box<dyn Engine>, Option<String>) {
    match load(backend, core, making) {
        Ok(engine) => (engine, None),
        Err(reason) => (Box::new(Interpreter::shared(core.clone())), Some(reason)),
    }
}

#[cfg(feature = "native")]
fn load(backend: Backend, core: &Arc<Program>, making: &Making) -> Result<Box<dyn Engine>, String> {
    use dagaz_runtime::{Native, Sanitized};
    Ok(match backend {
        Backend::Interpreter => Box::new(Interpreter::shared(core.clone())),
        Backend::Bulk => whole_arrays(core)?,
        Backend::C => Box::new(Native::load(core.clone(), making)?),
        Backend::Sanitized => Box::new(Sanitized::load(core.clone(), making)?),
    })
}

#[cfg(not(feature = "native"))]
fn load(backend: Backend, core: &Arc<Program>, _: &Making) -> Result<Box<dyn Engine>, String> {
    match backend {
        Backend::Interpreter => Ok(Box::new(Interpreter::shared(core.clone()))),
        Backend::Bulk => whole_arrays(core),
        Backend::C | Backend::Sanitized => Err("this build of Dagaz cannot make machine code".to_owned()),
    }
}

fn whole_arrays(core: &Program) -> Result<Box<dyn Engine>, String> {
    let program = crate::bulk::from_core(core).map_err(|failure| failure.summary())?;
    let program = program.map_err(|why| why.to_string())?;
    Ok(Box::new(dagaz_bulk::interp::Interpreter::new(Arc::new(program))))
}
