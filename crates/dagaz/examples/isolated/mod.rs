//! Runs many cases, each of which is told by a number, in processes of their own, for a case may end its process: by an
//! overflow of the stack, by a lack of memory, or by not ending at all.
//!
//! The parent starts this executable again with `--worker N` behind its own arguments. The worker announces every case before
//! it starts, so that the parent knows the culprit, kills the process if it has to, and goes on with the next case.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long a worker may say nothing.
const SILENCE: Duration = Duration::from_secs(300);

/// How many faults of a kind are shown.
const EXAMPLES: usize = 3;

/// The arguments of a campaign.
pub struct Options {
    pub first: u64,
    pub cases: u64,
    /// What is left: paths, and names of options that are of no concern here.
    pub rest: Vec<String>,
    worker: Option<u64>,
}

impl Options {
    /// `--seed`, `--cases`, and the rest.
    pub fn read(cases: u64) -> Options {
        let mut options = Options { first: 1, cases, rest: Vec::new(), worker: None };
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            let place = match arg.as_str() {
                "--seed" => &mut options.first,
                "--cases" => &mut options.cases,
                "--worker" => options.worker.insert(0),
                _ => {
                    options.rest.push(arg);
                    continue;
                }
            };
            let number = args.next().and_then(|number| number.parse().ok());
            *place = number.unwrap_or_else(|| {
                eprintln!("{arg} needs a number");
                std::process::exit(2);
            });
        }
        options
    }
}

/// Runs all cases and says how many went wrong. A worker does not return from this.
pub fn run(options: &Options, case: impl Fn(u64) -> Result<(), String>) -> usize {
    let end = options.first + options.cases;
    if let Some(first) = options.worker {
        work(first..end, case);
    }
    let started = Instant::now();
    let mut tally = Tally::default();
    let mut next = options.first;
    while next < end {
        let mut child = match start(next) {
            Ok(child) => child,
            Err(error) => {
                println!("no worker: {error}");
                return 1;
            }
        };
        next = watch(&mut child, next, &mut tally, |now| {
            if now > options.first && (now - options.first).is_multiple_of(10_000) {
                eprintln!("{} cases, {} s", now - options.first, started.elapsed().as_secs());
            }
        });
        // It has ended, or there is no use for it any more.
        let _ = child.kill();
        let _ = child.wait();
    }
    let wrong = tally.count;
    println!("{} cases, {wrong} went wrong, {} s", options.cases, started.elapsed().as_secs());
    wrong
}

/// Faults by kind: numbers in messages do not matter.
#[derive(Default)]
struct Tally {
    count: usize,
    kinds: BTreeMap<String, usize>,
}

impl Tally {
    fn add(&mut self, seed: u64, fault: &str) {
        self.count += 1;
        let kind: String = fault.chars().filter(|c| !c.is_ascii_digit()).take(60).collect();
        let seen = self.kinds.entry(kind).or_default();
        *seen += 1;
        if *seen <= EXAMPLES {
            println!("seed {seed}: {fault}");
        }
    }
}

/// The worker's side.
fn work(seeds: std::ops::Range<u64>, case: impl Fn(u64) -> Result<(), String>) -> ! {
    std::panic::set_hook(Box::new(|_| {}));
    let mut out = std::io::stdout().lock();
    let mut say = |line: String| {
        // Without a parent there is nobody to work for.
        if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
            std::process::exit(1);
        }
    };
    for seed in seeds {
        say(format!("case {seed}"));
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(seed)));
        let fault = match outcome {
            Ok(Ok(())) => continue,
            Ok(Err(fault)) => fault,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                format!("panic: {}", text.unwrap_or_default())
            }
        };
        say(format!("fault {}", fault.replace('\n', "\u{1}")));
    }
    say("done".to_owned());
    std::process::exit(0);
}

fn start(first: u64) -> std::io::Result<Child> {
    let exe = std::env::current_exe()?;
    let args = std::env::args().skip(1);
    Command::new(exe).args(args).args(["--worker", &first.to_string()]).stdout(Stdio::piped()).spawn()
}

/// Listens to a worker, and says with which case the next one goes on.
fn watch(child: &mut Child, first: u64, tally: &mut Tally, progress: impl Fn(u64)) -> u64 {
    let lines = listen(child);
    let mut now = first;
    loop {
        let fault = match lines.recv_timeout(SILENCE) {
            Ok(line) if line == "done" => return u64::MAX,
            Ok(line) => {
                if let Some(seed) = line.strip_prefix("case ") {
                    now = seed.parse().unwrap_or(now);
                    progress(now);
                } else if let Some(fault) = line.strip_prefix("fault ") {
                    tally.add(now, &fault.replace('\u{1}', "\n"));
                }
                continue;
            }
            Err(RecvTimeoutError::Timeout) => format!("does not end in {} s", SILENCE.as_secs()),
            Err(RecvTimeoutError::Disconnected) => match child.wait() {
                Ok(status) => format!("ends the process: {status}"),
                Err(error) => format!("ends the process: {error}"),
            },
        };
        tally.add(now, &fault);
        return now + 1;
    }
}

/// The lines that a worker writes.
fn listen(child: &mut Child) -> Receiver<String> {
    let (sender, lines) = channel();
    if let Some(out) = child.stdout.take() {
        std::thread::spawn(move || {
            let lines = BufReader::new(out).lines().map_while(Result::ok);
            lines.map(|line| sender.send(line)).take_while(Result::is_ok).for_each(drop);
        });
    }
    lines
}
