//! `dagaz explain-error`: explain an error by its code.

use dagaz::explain;

use super::print_out;
use crate::options::ExplainErrorOptions;
use crate::{Outcome, Stop};

pub fn run(options: &ExplainErrorOptions) -> Outcome {
    if options.list {
        let lines: Vec<String> = explain::codes().map(|code| format!("{code}\n")).collect();
        return print_out(&lines.concat());
    }
    let code = options.code.as_deref().unwrap_or_default();
    match explain::explain(code) {
        Some(page) => print_out(page),
        None => Err(Stop::Misuse(format!("there is no error code '{code}'; try dagaz explain-error --list"))),
    }
}
