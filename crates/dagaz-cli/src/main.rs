//! The `dagaz` command.
//!
//! Exit codes: 0 for success, 1 for an error in the program or a failed test, 2 for a wrong use of the command.

mod commands;
mod options;

use std::process::ExitCode;

use clap::Parser;
use options::{Command, Options};

/// How a command ended badly.
enum Stop {
    /// The program is wrong, or failed. The text is shown as it is.
    Program(String),
    /// The command was used wrongly.
    Misuse(String),
}

type Outcome = Result<(), Stop>;

fn main() -> ExitCode {
    let outcome = match Options::parse().command {
        Command::Check(options) => commands::check::run(&options),
        Command::Run(options) => commands::run::run(&options),
        Command::Eval(options) => commands::eval::run(&options),
        Command::Test(options) => commands::test::run(&options),
        Command::Core(options) => commands::core::run(&options),
        Command::Cost(options) => commands::cost::run(&options),
        Command::ExplainError(options) => commands::explain::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Program(text)) => {
            if !text.is_empty() {
                eprintln!("{}", text.trim_end());
            }
            ExitCode::from(1)
        }
        Err(Stop::Misuse(text)) => {
            eprintln!("{}", dagaz::render::message(commands::style(), &text));
            ExitCode::from(2)
        }
    }
}
