//! `dagaz cost`: call an entry point and print what it cost.

use dagaz::{Backend, Execution};

use super::run::call;
use super::{compile_call, print_out};
use crate::Outcome;
use crate::options::RunOptions;

pub fn run(options: &RunOptions) -> Outcome {
    let program = compile_call(options)?;
    let (session, _, _) = call(&program, options, &Execution::on(Backend::Interpreter))?;
    let cost = session.counters();
    let work = format!("work  {:>16}  scalar operations and element moves\n", cost.work);
    let span = format!("span  {:>16}  of these on the longest chain\n", cost.span);
    let peak = format!("peak  {:>16}  array elements alive at once\n", cost.peak_elements);
    print_out(&[work, span, peak].concat())
}
