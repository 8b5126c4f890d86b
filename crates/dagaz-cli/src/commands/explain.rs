//! `dagaz explain-error`: explain an error by its code.

use dagaz::explain;

use crate::options::ExplainOptions;
use crate::{Outcome, Stop};

pub fn run(options: &ExplainOptions) -> Outcome {
    if options.list {
        explain::codes().for_each(|code| println!("{code}"));
        return Ok(());
    }
    let code = options.code.as_deref().unwrap_or_default();
    match explain::explain(code) {
        Some(page) => {
            print!("{page}");
            Ok(())
        }
        None => Err(Stop::Misuse(format!("there is no error code '{code}'; try dagaz explain-error --list"))),
    }
}
