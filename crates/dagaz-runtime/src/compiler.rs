//! The C compiler: which one, how it is called, and what it made before.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::cache;

/// No fast mathematics: loops say themselves where sums may be in another order.
const FLAGS: [&str; 12] = [
    "-O3",
    "-fopenmp-simd",
    // Two calls are two vector functions; together, they would be one that has no such variant.
    "-fno-builtin-sin",
    "-fno-builtin-cos",
    "-fno-builtin-sinf",
    "-fno-builtin-cosf",
    "-march=native",
    "-std=gnu11",
    "-fwrapv",
    "-fno-math-errno",
    "-ffp-contract=off",
    "-w",
];

const SHARED: [&str; 2] = ["-fPIC", "-shared"];

/// A compiler that works, and what it says of itself.
struct Compiler {
    program: String,
    version: String,
}

/// A compiled file. It is deleted with this value unless it is in the cache.
pub(crate) struct Object {
    pub(crate) path: PathBuf,
    is_temporary: bool,
}

impl Drop for Object {
    fn drop(&mut self) {
        if self.is_temporary {
            // Nothing depends on whether it is gone.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn compiler() -> Result<&'static Compiler, String> {
    static FOUND: OnceLock<Option<Compiler>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let wanted = std::env::var("CC").ok().filter(|cc| !cc.is_empty());
        let candidates = wanted.into_iter().chain(["cc", "clang", "gcc"].map(str::to_string));
        candidates.into_iter().find_map(|program| {
            let output = Command::new(&program).arg("--version").stdin(Stdio::null()).output().ok()?;
            let version = String::from_utf8_lossy(&output.stdout).into_owned();
            output.status.success().then_some(Compiler { program, version })
        })
    });
    found.as_ref().ok_or_else(|| "there is no C compiler (set CC)".to_string())
}

/// The shared object of a C text.
pub(crate) fn shared_object(text: &str) -> Result<Object, String> {
    let compiler = compiler()?;
    let key = key(compiler, text);
    let Some(folder) = cache::folder() else {
        let path = std::env::temp_dir().join(format!("dagaz-{}-{key}.so", std::process::id()));
        compile(compiler, &SHARED, text, &path)?;
        return Ok(Object { path, is_temporary: true });
    };
    let path = folder.join(format!("{key}.so"));
    if !path.exists() {
        let temporary = folder.join(format!("{key}.{}.{}.tmp", std::process::id(), thread_number()));
        compile(compiler, &SHARED, text, &temporary)?;
        std::fs::rename(&temporary, &path).map_err(|error| format!("cannot write to the cache: {error}"))?;
        cache::shrink(&folder);
    }
    Ok(Object { path, is_temporary: false })
}

fn thread_number() -> u64 {
    let mut hasher = DefaultHasher::new();
    std::thread::current().id().hash(&mut hasher);
    hasher.finish()
}

/// Two hashes of the text, the flags and the compiler.
fn key(compiler: &Compiler, text: &str) -> String {
    let hash = |seed: u64| {
        let mut hasher = DefaultHasher::new();
        (seed, &compiler.program, &compiler.version, FLAGS, SHARED, text).hash(&mut hasher);
        hasher.finish()
    };
    format!("{:016x}{:016x}", hash(1), hash(2))
}

/// Makes an executable of a C text.
pub(crate) fn executable(text: &str, path: &Path) -> Result<(), String> {
    compile(compiler()?, &["-pthread"], text, path)
}

fn compile(compiler: &Compiler, flags: &[&str], text: &str, object: &Path) -> Result<(), String> {
    use std::io::Write as _;
    let mut command = Command::new(&compiler.program);
    command.args(FLAGS).args(flags).arg("-o").arg(object).args(["-x", "c", "-", "-lm"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("cannot run {}: {error}", compiler.program))?;
    if let Some(mut input) = child.stdin.take() {
        // If it stops reading, its own message says why.
        let _ = input.write_all(text.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| format!("{}: {error}", compiler.program))?;
    if output.status.success() {
        return Ok(());
    }
    let _ = std::fs::remove_file(object);
    let errors = String::from_utf8_lossy(&output.stderr);
    let first = errors.lines().find(|line| line.contains("error")).unwrap_or("no message");
    Err(format!("the C compiler failed: {first}"))
}
