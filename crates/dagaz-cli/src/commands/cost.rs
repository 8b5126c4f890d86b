//! `dagaz cost`: call an entry point and print what it cost.

use super::compile;
use super::run::call;
use crate::Outcome;
use crate::options::RunOptions;

pub fn run(options: &RunOptions) -> Outcome {
    let program = compile(&options.file, &options.parameters)?;
    let (session, _, _) = call(&program, options)?;
    let cost = session.counters();
    println!("work  {:>16}  scalar operations and element moves", cost.work);
    println!("span  {:>16}  of these on the longest chain", cost.span);
    println!("peak  {:>16}  array elements alive at once", cost.peak_elements);
    Ok(())
}
