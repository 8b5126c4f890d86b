//! The C compiler: which one, how it is called, and what it made before.
//!
//! It runs without a shell, on a file in a folder of its own, which also holds its temporary files and goes when the
//! compiler is done, has failed or was interrupted. What it made gets a check sum at its end and is moved to the cache
//! in one step, so that a process never sees half a file, and notices one that was damaged later.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

use dagaz_core::engine::{Effort, Making};

use crate::cache;

/// No fast mathematics: loops say themselves where sums may be in another order.
const FLAGS: [&str; 11] = [
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

/// What is missing in a library is found when it is opened: a call of nothing would end the process.
const SHARED: &[&str] = match cfg!(target_os = "linux") {
    true => &["-fPIC", "-shared", "-Wl,-z,now"],
    false => &["-fPIC", "-shared"],
};

/// What a compiler must be called with to find memory errors and undefined behaviour while the program runs. Overflow is
/// defined by `-fwrapv`; the first finding ends the program.
const SANITIZE: [&str; 4] =
    ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"];

/// How often a running compiler is asked whether it is done.
const PATIENCE: Duration = Duration::from_millis(2);

/// A text with more bytes is compiled quickly: the C compiler would take longer than most people wait.
const VERY_LONG: usize = 1 << 20;

fn effort_for(wanted: Effort, text: &str) -> Effort {
    if text.len() > VERY_LONG { Effort::Quick } else { wanted }
}

fn flag_of(effort: Effort) -> &'static str {
    match effort {
        Effort::Quick => "-O1",
        Effort::Full => "-O3",
    }
}

/// A compiler that is there.
#[derive(Hash)]
struct Compiler {
    program: PathBuf,
    arguments: Vec<String>,
    /// Another size or time means that it was replaced.
    size: u64,
    modified: Option<std::time::SystemTime>,
}

/// A compiled file. One that is not in the cache is deleted with this value.
pub(crate) struct Object {
    pub(crate) path: PathBuf,
    _folder: Option<tempfile::TempDir>,
}

/// The name of the C compiler that will be used, or why there is none.
pub fn c_compiler() -> Result<String, String> {
    compiler().map(|compiler| compiler.program.display().to_string())
}

fn compiler() -> Result<Compiler, String> {
    if let Some(wanted) = std::env::var("CC").ok().filter(|cc| !cc.trim().is_empty()) {
        // A path may contain blanks; what is no path is a program with arguments.
        let mut words = wanted.split_whitespace().map(str::to_owned);
        let found = found_compiler(&wanted, Vec::new())
            .or_else(|| words.next().and_then(|program| found_compiler(&program, words.collect())));
        return found.ok_or_else(|| format!("there is no C compiler: CC is '{wanted}', which is not there"));
    }
    let found = ["cc", "clang", "gcc"].into_iter().find_map(|program| found_compiler(program, Vec::new()));
    found.ok_or_else(|| {
        "there is no C compiler: cc, clang and gcc are not there, and CC is not set".to_owned()
    })
}

fn found_compiler(program: &str, arguments: Vec<String>) -> Option<Compiler> {
    let program = match Path::new(program).components().count() {
        0 => return None,
        1 => {
            let folders = std::env::var_os("PATH")?;
            let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
            std::env::split_paths(&folders).map(|folder| folder.join(&name)).find(|path| is_program(path))?
        }
        _ => PathBuf::from(program),
    };
    let data = program.metadata().ok().filter(|_| is_program(&program))?;
    Some(Compiler { program, arguments, size: data.len(), modified: data.modified().ok() })
}

fn is_program(path: &Path) -> bool {
    let Ok(data) = path.metadata() else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        data.is_file() && data.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    data.is_file()
}

/// The shared object of a C text.
pub(crate) fn shared_object(text: &str, making: &Making) -> Result<Object, String> {
    let compiler = compiler()?;
    let cache = cache::folder();
    let effort = effort_for(making.effort, text);
    let kept = cache.as_ref().map(|folder| folder.join(format!("{}.so", key(&compiler, effort, text))));
    if let Some(path) = kept.clone().filter(|path| cache::is_whole(path)) {
        return Ok(Object { path, _folder: None });
    }
    let folder = cache::workspace(cache.as_deref())?;
    let made = folder.path().join("made.so");
    let flags: Vec<&str> = [flag_of(effort)].into_iter().chain(FLAGS).chain(SHARED.iter().copied()).collect();
    compile(&compiler, &flags, text, &folder, &made, making)?;
    cache::seal(&made)?;
    match (kept, cache) {
        (Some(path), Some(cache)) if std::fs::rename(&made, &path).is_ok() => {
            cache::shrink(&cache);
            Ok(Object { path, _folder: None })
        }
        _ => Ok(Object { path: made, _folder: Some(folder) }),
    }
}

/// Two hashes of all that the object depends on: the text, the flags, the compiler and the processor.
fn key(compiler: &Compiler, effort: Effort, text: &str) -> String {
    let processor = processor();
    let hash = |seed: u64| {
        let mut hasher = DefaultHasher::new();
        (seed, compiler, effort, FLAGS, SHARED, &processor, text).hash(&mut hasher);
        hasher.finish()
    };
    format!("{:016x}{:016x}", hash(1), hash(2))
}

/// What this processor can do, where the system tells: a cache folder may be shared with another machine.
fn processor() -> String {
    use std::io::{BufRead, BufReader};
    let Ok(file) = File::open("/proc/cpuinfo") else { return String::new() };
    let first = BufReader::new(file).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    first.filter(|line| line.starts_with("flags") || line.starts_with("Features")).collect()
}

/// Makes an executable of a C text, with checks by the sanitizers if wanted.
pub(crate) fn executable(text: &str, path: &Path, sanitized: bool, making: &Making) -> Result<(), String> {
    let compiler = compiler()?;
    let folder = cache::workspace(cache::folder().as_deref())?;
    let made = folder.path().join("made");
    let effort = effort_for(making.effort, text);
    let mut flags: Vec<&str> = [flag_of(effort)].into_iter().chain(FLAGS).chain(["-pthread"]).collect();
    if sanitized {
        flags.extend(SANITIZE);
    }
    compile(&compiler, &flags, text, &folder, &made, making)?;
    // The other folder may be on another file system.
    let cannot = |error| format!("cannot write {}: {error}", path.display());
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let written = std::fs::copy(&made, &beside).and_then(|_| std::fs::rename(&beside, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&beside);
        cannot(error)
    })
}

fn compile(
    compiler: &Compiler,
    flags: &[&str],
    text: &str,
    folder: &tempfile::TempDir,
    object: &Path,
    making: &Making,
) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("cannot write to {}: {error}", folder.path().display());
    let (source, messages) = (folder.path().join("program.c"), folder.path().join("messages"));
    std::fs::write(&source, text).map_err(cannot)?;
    let mut command = Command::new(&compiler.program);
    command.args(&compiler.arguments).args(flags).arg("-o").arg(object).arg(&source).arg("-lm");
    command.env("TMPDIR", folder.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&messages).map_err(cannot)?);
    #[cfg(unix)]
    {
        // A group of its own, so that what the compiler starts can be stopped with it.
        use std::os::unix::process::CommandExt;
        command.process_group(0);
    }
    let name = compiler.program.display();
    let child = command.spawn().map_err(|error| format!("cannot run {name}: {error}"))?;
    let is_over = || making.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
    let status = wait(child, is_over).map_err(|error| format!("{name}: {error}"))?;
    if status.success() && object.is_file() {
        return Ok(());
    }
    let all = std::fs::read(&messages).unwrap_or_default();
    let all = String::from_utf8_lossy(&all);
    let told =
        all.lines().find(|line| line.contains("error")).or_else(|| all.lines().find(|line| !line.is_empty()));
    let told: String = told.unwrap_or("").chars().filter(|c| !c.is_control()).take(200).collect();
    let reason = match (status.success(), told.is_empty()) {
        (true, _) => "it wrote nothing".to_owned(),
        (false, true) => status.to_string(),
        (false, false) => format!("{status}: {told}"),
    };
    Err(format!("the C compiler {name} failed: {reason}"))
}

/// Waits for a process in a group of its own, and stops it if that is wanted.
pub(crate) fn wait(mut child: Child, is_over: impl Fn() -> bool) -> std::io::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if is_over() {
            stop(&mut child);
            child.wait()?;
            return Err(std::io::Error::other("interrupted"));
        }
        std::thread::sleep(PATIENCE);
    }
}

fn stop(child: &mut Child) {
    // One that has ended meanwhile is what we want.
    #[cfg(unix)]
    let _ = rustix::process::kill_process_group(
        rustix::process::Pid::from_child(child),
        rustix::process::Signal::KILL,
    );
    let _ = child.kill();
}
