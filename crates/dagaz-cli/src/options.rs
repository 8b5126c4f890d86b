//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Check, run, test and inspect programs in Dagaz, a data-parallel functional array language.
#[derive(Parser)]
#[command(
    version,
    after_help = "\
Examples:
  dagaz check program.fut                      look for errors
  echo '[1,2,3]' | dagaz run program.fut       call the entry point main
  dagaz eval 'map (+1) (iota 5)'               evaluate an expression
  dagaz test examples                          run the tests of all programs in a folder"
)]
pub struct Options {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Look for errors, and show types if asked to.
    Check(CheckOptions),
    /// Print a program with every map and rep written out that it leaves out.
    Automap(AutomapOptions),
    /// Call an entry point and print its results.
    Run(RunOnOptions),
    /// Evaluate an expression, with the definitions of a program in scope if one is given.
    Eval(EvalOptions),
    /// Run the tests that programs contain.
    Test(TestOptions),
    /// Measure how long the test cases of programs take.
    Bench(BenchOptions),
    /// Call an entry point and print where its time went, line by line.
    Profile(ProfileOptions),
    /// Say what became of a program, line by line: what runs on threads and vector units, what is copied.
    Explain(ExplainOptions),
    /// Make an executable of a program, or a C library.
    Compile(CompileOptions),
    /// Print a program as Core, the compiler's intermediate language.
    Core(CoreOptions),
    /// Print a program as operations on whole arrays, without maps.
    Bulk(BulkOptions),
    /// Print the derivative of an entry point as a program.
    Grad(GradOptions),
    /// Call an entry point and print what it cost: work, span and memory.
    Cost(RunOptions),
    /// Show the folder of compiled programs, or look after it.
    Cache(CacheOptions),
    /// Explain an error by its code.
    ExplainError(ExplainErrorOptions),
    /// Run passes of the compiler one by one, for those who work on it.
    #[command(hide = true)]
    Dev(DevOptions),
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  dagaz dev --list                                          all passes and pipelines
  dagaz dev program.core --passes simplify,fuse-operations  what these passes make of a program
  dagaz dev program.fut --pipeline cpu --print-after differentiate
  dagaz dev program.fut --pipeline cpu --time-passes")]
pub struct DevOptions {
    /// A program, or a file with Core; its name ends in `.core` then.
    pub file: Option<PathBuf>,
    /// Say which passes and pipelines there are.
    #[arg(long)]
    pub list: bool,
    /// The passes to run, with commas between them.
    #[arg(long, value_name = "PASSES")]
    pub passes: Option<String>,
    /// The pipeline to run.
    #[arg(long, value_name = "NAME", conflicts_with = "passes")]
    pub pipeline: Option<String>,
    /// Print the program each time after this pass, instead of at the end.
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    pub print_after: Vec<String>,
    /// Print how often each pass ran and changed the program, and how long that took, instead of the program.
    #[arg(long)]
    pub time_passes: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  dagaz check program.fut
  dagaz check program.fut --types")]
pub struct CheckOptions {
    /// The program.
    pub file: PathBuf,
    /// Print the type of every top-level definition.
    #[arg(long)]
    pub types: bool,
    /// Accept only what plain Futhark accepts.
    #[arg(long)]
    pub strict: bool,
    /// Try the operators of reductions, scans, histograms and accumulators with random values, and warn of those that break a
    /// law.
    #[arg(long)]
    pub laws: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  dagaz automap program.fut
  dagaz automap program.fut > explicit.fut")]
pub struct AutomapOptions {
    /// The program.
    pub file: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  dagaz grad loss.fut --entry loss
  dagaz grad loss.fut --entry loss --wrt weights")]
pub struct GradOptions {
    /// The program.
    pub file: PathBuf,
    /// The entry point to differentiate.
    #[arg(short, long, default_value = "main")]
    pub entry: String,
    /// A parameter to differentiate by; all that contain floating-point numbers if none is given.
    #[arg(long, value_delimiter = ',')]
    pub wrt: Vec<String>,
}

/// What runs a program.
#[derive(Clone, Copy, ValueEnum)]
pub enum BackendOption {
    /// Machine code, made by the C compiler of this machine.
    C,
    /// The reference interpreter.
    Interpreter,
    /// Operations on whole arrays, interpreted, for programs that have such a form.
    Bulk,
}

impl From<BackendOption> for dagaz::Backend {
    fn from(option: BackendOption) -> dagaz::Backend {
        match option {
            BackendOption::C => dagaz::Backend::C,
            BackendOption::Interpreter => dagaz::Backend::Interpreter,
            BackendOption::Bulk => dagaz::Backend::Bulk,
        }
    }
}

/// How programs run.
#[derive(Args)]
pub struct ExecutionOptions {
    /// What runs the program.
    #[arg(long, value_enum, default_value_t = BackendOption::C)]
    pub backend: BackendOption,
    /// How many threads machine code runs on. Results do not depend on it.
    #[arg(long, value_name = "N", env = "DAGAZ_THREADS", hide_env_values = true)]
    pub threads: Option<std::num::NonZeroUsize>,
    /// Bytes of arrays that a program may have alive at once, such as 500M or 4G.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub memory: Option<u64>,
    /// Look for memory errors and undefined behaviour in machine code while it runs, which is slow.
    #[arg(long, conflicts_with = "backend", hide_short_help = true)]
    pub sanitize: bool,
}

/// A number of bytes: `1000`, `500M`, `4G`.
fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let (digits, unit) = match text.chars().last().map(|c| c.to_ascii_uppercase()) {
        Some('K') => (&text[..text.len() - 1], 10),
        Some('M') => (&text[..text.len() - 1], 20),
        Some('G') => (&text[..text.len() - 1], 30),
        Some('T') => (&text[..text.len() - 1], 40),
        Some(_) | None => (text, 0),
    };
    let count: u64 =
        digits.parse().map_err(|_| "a number with K, M, G or T at its end is wanted".to_owned())?;
    count.checked_mul(1 << unit).ok_or_else(|| "this is too much".to_owned())
}

#[derive(Args)]
pub struct CacheOptions {
    #[command(subcommand)]
    pub command: Option<CacheCommand>,
}

#[derive(Subcommand)]
pub enum CacheCommand {
    /// Remove all compiled programs.
    Clear,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  dagaz bench program.fut
  dagaz bench program.fut --json before.json
  dagaz bench program.fut --compare before.json

The inputs are those of test blocks: comments that start with a line `-- ==` and say `input { … }` or
`random input { [1000]f64 }`.")]
pub struct BenchOptions {
    /// The programs.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Only this entry point; may be given several times.
    #[arg(long = "entry", short, value_name = "NAME")]
    pub entries: Vec<String>,
    /// Call the entry points that --entry names with the values in this file, instead of test cases; may be given several
    /// times.
    #[arg(long = "input", short, value_name = "FILE", requires = "entries")]
    pub inputs: Vec<PathBuf>,
    /// Call each case so many times, instead of until its time is known to 1 %.
    #[arg(long, value_name = "N")]
    pub runs: Option<std::num::NonZeroUsize>,
    /// Seconds that a case may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    pub time: f64,
    /// Write all measurements to a file as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Compare with measurements that --json wrote before.
    #[arg(long, value_name = "FILE")]
    pub compare: Option<PathBuf>,
    #[command(flatten)]
    pub execution: ExecutionOptions,
}

#[derive(Args)]
pub struct ProfileOptions {
    #[command(flatten)]
    pub call: RunOnOptions,
    /// Call so many times.
    #[arg(long, value_name = "N", default_value = "1")]
    pub runs: std::num::NonZeroUsize,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  dagaz explain program.fut
  dagaz explain program.fut --entry main")]
pub struct ExplainOptions {
    /// The program.
    pub file: PathBuf,
    /// Only this entry point; may be given several times.
    #[arg(long = "entry", short, value_name = "NAME")]
    pub entries: Vec<String>,
}

#[derive(Args)]
pub struct RunOnOptions {
    #[command(flatten)]
    pub call: RunOptions,
    /// Draw the results into a file instead of printing them: an image (.png) or lines (.svg)
    #[arg(long, value_name = "FILE", conflicts_with = "binary")]
    pub picture: Option<PathBuf>,
    #[command(flatten)]
    pub execution: ExecutionOptions,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  echo '[1.0, 2.0] [3.0, 4.0]' | dagaz run dotprod.fut
  dagaz run dotprod.fut --arg '[1,2]' --arg '[3,4]'
  dagaz run dotprod.fut xs.npy ys.npy
  dagaz run dotprod.fut --entry norm data.in.gz --binary > norm.out

Numbers without a suffix take the type of the parameter. Values are read in the text and the binary format, also from
files compressed with gzip, and from .npy files.")]
pub struct RunOptions {
    /// The program.
    pub file: PathBuf,
    /// Files with values for the parameters that no --arg gives. Without any, values are read from standard input.
    pub inputs: Vec<PathBuf>,
    /// The entry point to call.
    #[arg(long, short, default_value = "main")]
    pub entry: String,
    /// A value for the next parameter; may be given several times.
    #[arg(long = "arg", short, value_name = "VALUE", allow_hyphen_values = true)]
    pub args: Vec<String>,
    /// A value for `#[param(NAME)]` in the program; may be given several times.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = dagaz::parse_parameter)]
    pub parameters: Vec<(String, i64)>,
    /// Write results in the binary format.
    #[arg(long, short)]
    pub binary: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  dagaz eval '2 ** 10'
  dagaz eval 'main [1.0, 2.0] [3.0, 4.0]' dotprod.fut")]
pub struct EvalOptions {
    /// The expression.
    #[arg(allow_hyphen_values = true)]
    pub expression: String,
    /// A program whose definitions may be used.
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub execution: ExecutionOptions,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  dagaz test examples prelude/tests
  dagaz test suite --exclude slow --json results.json
  dagaz test suite/tests --relative-to suite --report docs/conformance.md

Tests are comments that start with a line `-- ==`. Folders are searched for .fut and .dz files with such comments.")]
pub struct TestOptions {
    /// Programs, and folders of programs.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Write the result of every program to a file as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a conformance report in Markdown: a table by folder, and every failing program with the reason.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Show paths relative to this folder in all reports.
    #[arg(long, value_name = "DIR")]
    pub relative_to: Option<PathBuf>,
    /// How many programs to test at once; by default as many as there are processors.
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Do not run programs and cases with this tag; may be given several times.
    #[arg(long, value_name = "TAG")]
    pub exclude: Vec<String>,
    /// Only run programs whose path contains this text.
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Seconds that a program may take to compile, and every case to run.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub timeout: f64,
    /// Accept only what plain Futhark accepts.
    #[arg(long)]
    pub strict: bool,
    /// A program fails if an operator of a reduction, scan, histogram or accumulator breaks a law for random values.
    #[arg(long)]
    pub laws: bool,
    #[command(flatten)]
    pub execution: ExecutionOptions,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  dagaz compile dotprod.fut                  writes dotprod, which reads arguments from standard input
  dagaz compile --lib dotprod.fut            writes dotprod.c and dotprod.h
  dagaz compile --lib dotprod.fut -o build/fast")]
pub struct CompileOptions {
    /// The program.
    pub file: PathBuf,
    /// Write C for use by other programs: a source file and a header.
    #[arg(long)]
    pub lib: bool,
    /// Where to write, without an extension; by default the program's name in the current folder.
    #[arg(short, long, value_name = "NAME")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  dagaz core dotprod.fut
  dagaz core dotprod.fut --entry norm")]
pub struct CoreOptions {
    /// The program.
    pub file: PathBuf,
    /// Only this entry point, and what it needs.
    #[arg(long, short)]
    pub entry: Option<String>,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  dagaz bulk dotprod.fut
  dagaz bulk dotprod.fut --entry norm")]
pub struct BulkOptions {
    /// The program.
    pub file: PathBuf,
    /// Only this entry point, and what it needs.
    #[arg(long, short)]
    pub entry: Option<String>,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  dagaz explain-error type-mismatch
  dagaz explain-error --list")]
pub struct ExplainErrorOptions {
    /// The code, which stands in brackets after the word error.
    #[arg(required_unless_present = "list")]
    pub code: Option<String>,
    /// Print all codes.
    #[arg(long)]
    pub list: bool,
}
