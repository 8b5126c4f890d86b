//! `dagaz grad`: print the derivative of an entry point as a program.

use dagaz::gradient::{NoGradient, gradient};

use super::{print_out, stop};
use crate::options::GradOptions;
use crate::{Outcome, Stop};

pub fn run(options: &GradOptions) -> Outcome {
    match gradient(&options.file, &options.entry, &options.wrt) {
        Ok(text) => print_out(&text),
        Err(NoGradient::Failure(failure)) => Err(stop(failure)),
        Err(NoGradient::Refused(why)) => Err(Stop::Misuse(why)),
    }
}
