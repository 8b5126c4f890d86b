//! The `dagaz` command.
//!
//! Exit codes: 0 for success, 1 for an error in the program or a failed test, 2 for a wrong use of the command, 130 after
//! an interruption.

mod commands;
mod interrupt;
mod options;
mod picture;

use std::process::ExitCode;

use clap::Parser;
use interrupt::Interrupt;
use options::{Command, Options};

/// Programs read from anywhere in arguments of any size.
#[global_allocator]
static MEMORY: dagaz::LargePages = dagaz::LargePages;

/// How a command ended badly.
enum Stop {
    /// The program is wrong, or failed. The text is shown as it is.
    Program(String),
    /// The command was used wrongly.
    Misuse(String),
}

type Outcome = Result<(), Stop>;

fn main() -> ExitCode {
    let options = Options::parse();
    // A panic ends as a message like any other; those who look for its cause ask for a backtrace.
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let interrupt = Interrupt::listen();
    let outcome = std::panic::catch_unwind(|| run(&options.command, &interrupt)).unwrap_or_else(|panic| {
        let failure = dagaz::Failure::from_panic(&*panic);
        Err(Stop::Program(failure.render(commands::style())))
    });
    if interrupt.has_come() {
        return ExitCode::from(interrupt::EXIT_CODE);
    }
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

fn run(command: &Command, interrupt: &Interrupt) -> Outcome {
    match command {
        Command::Check(options) => commands::check::run(options),
        Command::Automap(options) => commands::automap::run(options),
        Command::Run(options) => commands::run::run(options, interrupt),
        Command::Eval(options) => commands::eval::run(options, interrupt),
        Command::Test(options) => commands::test::run(options, interrupt),
        Command::Compile(options) => commands::compile::run(options, interrupt),
        Command::Bulk(options) => commands::bulk::run(options),
        Command::Core(options) => commands::core::run(options),
        Command::Dev(options) => commands::dev::run(options),
        Command::Grad(options) => commands::grad::run(options),
        Command::Cost(options) => commands::cost::run(options),
        Command::Cache(options) => commands::cache::run(options),
        Command::Bench(options) => commands::bench::run(options, interrupt),
        Command::Profile(options) => commands::profile::run(options, interrupt),
        Command::Explain(options) => commands::explain::run(options),
        Command::ExplainError(options) => commands::explain_error::run(options),
    }
}
