//! Judges the derivatives of many random programs, and shows those that break a law.
//!
//! ```text
//! cargo run --release -p dagaz --example derivatives -- --cases 5000 --seed 1 --machine-code
//! ```

#[path = "../tests/random/mod.rs"]
mod random;

use std::process::ExitCode;
use std::time::Instant;

use random::{Tally, check_share, compare_machine_code, judge_seed};

/// How many programs the C compiler gets at once.
const BATCH: u64 = 10;

/// Those that machine code is compared for.
const DERIVATIVES: [&str; 7] = ["fwd", "rev", "linear", "transposed", "fwd_rev", "rev_fwd", "rev_rev"];

/// How many broken programs are shown before the run ends.
const ENOUGH: usize = 12;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let option = |name: &str, default: u64| {
        let at = args.iter().position(|arg| arg == name);
        at.and_then(|at| args.get(at + 1)).and_then(|value| value.parse().ok()).unwrap_or(default)
    };
    let (cases, first) = (option("--cases", 1000), option("--seed", 1));
    let has_machine_code = args.iter().any(|arg| arg == "--machine-code");
    // A panic of the compiler is a broken law, and is shown as such.
    std::panic::set_hook(Box::new(|_| {}));
    let started = Instant::now();
    let mut tally = Tally::default();
    let mut broken = 0;
    for seed in first..first + cases {
        if let Err(why) = judge_seed(seed, &mut tally) {
            println!("{why}");
            broken += 1;
        }
        if has_machine_code && seed % BATCH == 0 {
            if let Err(why) = compare_machine_code(seed..seed + BATCH, &DERIVATIVES) {
                println!("{why}");
                broken += 1;
            }
        }
        if tally.judged % 100 == 0 || broken == ENOUGH {
            let seconds = started.elapsed().as_secs();
            println!(
                "{} programs, {} not smooth, {broken} broken, {seconds} s",
                tally.judged, tally.not_smooth
            );
        }
        if broken == ENOUGH {
            break;
        }
    }
    if let Err(why) = check_share(&tally) {
        println!("{why}");
        return ExitCode::FAILURE;
    }
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
