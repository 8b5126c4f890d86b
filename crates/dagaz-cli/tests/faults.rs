//! What goes wrong around a program: compilers, disks, memory and impatient users. Each time there is a result or a clear
//! message, and nothing is left behind.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use expect_test::{Expect, expect};
use tempfile::TempDir;

const DAGAZ: &str = env!("CARGO_BIN_EXE_dagaz");

/// A folder with a program in it, and an empty cache.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new(program: &str) -> Place {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("program.fut"), program).expect("a program");
        std::fs::create_dir(folder.path().join("temporary")).expect("a folder");
        Place { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn prepared(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder).env("NO_COLOR", "1").env("XDG_CACHE_HOME", self.folder.path());
        command.env("TMPDIR", self.path("temporary")).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn dagaz(&self, words: &[&str]) -> Command {
        let mut command = self.prepared(DAGAZ);
        command.args(words);
        command
    }

    /// An executable script.
    fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a script");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        path
    }

    /// Everything in the cache, and whatever compilers have left elsewhere.
    fn left(&self) -> Vec<PathBuf> {
        let entries = |folder: &str| std::fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
        entries("dagaz").chain(entries("temporary")).map(|entry| entry.path()).collect()
    }

    fn assert_tidy(&self) {
        let left = self.left();
        assert!(left.iter().all(|path| path.extension().is_some_and(|e| e == "so")), "left behind: {left:?}");
    }
}

/// What a command prints, without the name of the folder, and how it ends.
fn shown(place: &Place, output: &Output) -> String {
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    let text = text.replace(&place.folder.path().display().to_string(), "FOLDER");
    format!("{text}exit {}", output.status.code().unwrap_or(-1))
}

fn check(place: &Place, mut command: Command, expected: Expect) {
    let output = command.output().expect("it starts");
    expected.assert_eq(&shown(place, &output));
    place.assert_tidy();
}

const DOUBLE: &str = "entry main (x: i32) = 2 * x";
const CALL: [&str; 4] = ["run", "program.fut", "-a", "21"];

#[test]
fn no_compiler() {
    let place = Place::new(DOUBLE);
    let mut command = place.dagaz(&CALL);
    command.env("PATH", "").env_remove("CC");
    check(
        &place,
        command,
        expect![[r#"
        42i32
        The interpreter runs this program: there is no C compiler: cc, clang and gcc are not there, and CC is not set
        exit 0"#]],
    );
}

#[test]
fn a_compiler_that_is_not_there() {
    let place = Place::new(DOUBLE);
    let mut command = place.dagaz(&CALL);
    command.env("CC", "nowhere -O2");
    check(
        &place,
        command,
        expect![[r#"
        42i32
        The interpreter runs this program: there is no C compiler: CC is 'nowhere -O2', which is not there
        exit 0"#]],
    );
}

#[test]
fn a_compiler_that_fails() {
    let place = Place::new(DOUBLE);
    let script = place.script("failing", "echo 'note: so' >&2; echo 'fatal error: out of luck' >&2; exit 3");
    let mut command = place.dagaz(&CALL);
    command.env("CC", script);
    check(
        &place,
        command,
        expect![[r#"
        42i32
        The interpreter runs this program: the C compiler FOLDER/failing failed: exit status: 3: fatal error: out of luck
        exit 0"#]],
    );
}

#[test]
fn a_compiler_that_is_killed() {
    let place = Place::new(DOUBLE);
    let script = place.script("killed", "echo half > made.so; kill -9 $$");
    let mut command = place.dagaz(&CALL);
    command.env("CC", script);
    check(
        &place,
        command,
        expect![[r#"
        42i32
        The interpreter runs this program: the C compiler FOLDER/killed failed: signal: 9 (SIGKILL)
        exit 0"#]],
    );
}

#[test]
fn a_compiler_that_writes_garbage() {
    let place = Place::new(DOUBLE);
    let script = place.script(
        "garbage",
        "while [ \"$1\" != -o ]; do shift; done; head -c 100000 /dev/urandom > \"$2\"; head -c 1000 /dev/urandom",
    );
    let output = place.dagaz(&CALL).env("CC", script).output().expect("it starts");
    let text = shown(&place, &output);
    assert!(text.starts_with("42i32\n"), "{text}");
    assert!(text.contains("cannot load the compiled program"), "{text}");
}

#[test]
fn a_compiler_with_arguments() {
    let place = Place::new(DOUBLE);
    let script = place.script("wrapper", "[ \"$1\" = -DA=1 ] && shift && exec cc \"$@\"");
    let mut command = place.dagaz(&CALL);
    command.env("CC", format!("{} -DA=1", script.display()));
    check(
        &place,
        command,
        expect![[r#"
        42i32
        exit 0"#]],
    );
}

#[test]
fn a_cache_that_cannot_be_written() {
    let place = Place::new(DOUBLE);
    std::fs::write(place.path("dagaz"), "a file where the folder should be").expect("a file");
    let mut command = place.dagaz(&CALL);
    command.env("CC", "cc");
    check(
        &place,
        command,
        expect![[r#"
        42i32
        exit 0"#]],
    );
}

#[test]
fn a_cache_that_others_can_write_is_not_used() {
    let place = Place::new(DOUBLE);
    std::fs::create_dir(place.path("dagaz")).expect("a folder");
    std::fs::set_permissions(place.path("dagaz"), std::fs::Permissions::from_mode(0o777)).expect("a mode");
    check(
        &place,
        place.dagaz(&CALL),
        expect![[r#"
        42i32
        exit 0"#]],
    );
    assert_eq!(place.left(), Vec::<PathBuf>::new());
}

#[test]
fn the_cache_is_private() {
    let place = Place::new(DOUBLE);
    check(
        &place,
        place.dagaz(&CALL),
        expect![[r#"
        42i32
        exit 0"#]],
    );
    let mode = std::fs::metadata(place.path("dagaz")).expect("a cache").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(place.left().len(), 1);
}

#[test]
fn a_full_disk() {
    let place = Place::new(DOUBLE);
    let mut command = place.prepared("sh");
    // No file may be longer than a few blocks, and who tries gets an error and no signal.
    command.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" run program.fut -a 21", DAGAZ]);
    let output = command.output().expect("it starts");
    let text = shown(&place, &output);
    assert!(text.starts_with("42i32\nThe interpreter runs this program: cannot write"), "{text}");
    assert!(text.ends_with("exit 0"), "{text}");
    place.assert_tidy();
    check(
        &place,
        place.dagaz(&CALL),
        expect![[r#"
        42i32
        exit 0"#]],
    );
}

#[test]
fn damaged_programs_are_compiled_again() {
    let place = Place::new(DOUBLE);
    check(
        &place,
        place.dagaz(&CALL),
        expect![[r#"
        42i32
        exit 0"#]],
    );
    let kept = place.left().remove(0);
    let good = std::fs::read(&kept).expect("a program");
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 1;
    for damaged in [&good[..good.len() / 2], &[], &flipped] {
        std::fs::remove_file(&kept).expect("a file");
        std::fs::write(&kept, damaged).expect("a file");
        check(
            &place,
            place.dagaz(&CALL),
            expect![[r#"
            42i32
            exit 0"#]],
        );
        assert_eq!(std::fs::read(&kept).expect("a program").len(), good.len());
    }
}

#[test]
fn many_at_once() {
    let place = Place::new(DOUBLE);
    let children: Vec<_> = (0..8).map(|_| place.dagaz(&CALL).spawn().expect("it starts")).collect();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(shown(&place, &output), "42i32\nexit 0");
    }
    place.assert_tidy();
    assert_eq!(place.left().len(), 1);
}

#[test]
fn too_little_memory() {
    let place = Place::new("entry main (n: i64) = scan (+) 0 (iota n) |> map (* 2) |> reverse");
    check(
        &place,
        place.dagaz(&["run", "program.fut", "-a", "1000000", "--memory", "1M"]),
        expect![[r#"
        error: out of memory: 1000000 elements of i64 do not fit in 1048576 bytes
         --> program.fut:1:23
          |
        1 | entry main (n: i64) = scan (+) 0 (iota n) |> map (* 2) |> reverse
          |                       ^
        exit 1"#]],
    );
    check(
        &place,
        place.dagaz(&["run", "program.fut", "-a", "3", "--memory", "1K"]),
        expect![[r#"
        [6i64, 2i64, 0i64]
        exit 0"#]],
    );
}

#[test]
fn deep_recursion() {
    let place =
        Place::new("def f (n: i64) : i64 = if n == 0 then 0 else 1 + f (n - 1)\nentry main (n: i64) = f n");
    let output = place.dagaz(&["run", "program.fut", "-a", "1000000"]).output().expect("it starts");
    let text = shown(&place, &output);
    assert!(text.ends_with("exit 1"), "{text}");
}

#[test]
fn a_deep_nest_of_maps() {
    let depth = 200;
    let mut body = "x + 1".to_owned();
    for level in 0..depth {
        body = format!("reduce (+) 0 (map (\\y{level} -> y{level} + {body}) [x])");
    }
    let place = Place::new(&format!("entry main (x: i64) = {body}"));
    let words = ["run", "program.fut", "-a", "1"];
    check(
        &place,
        place.dagaz(&words),
        expect![[r#"
            202i64
            exit 0"#]],
    );
}

/// Interrupts a command when it is time. It ends long before it would have, with the exit code of an interruption.
fn check_interrupted(place: &Place, mut command: Command, is_time: impl Fn() -> bool) {
    let child = command.spawn().expect("it starts");
    while !is_time() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let start = Instant::now();
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(kill.success(), "it has ended before");
    let output = child.wait_with_output().expect("it ends");
    let text = shown(place, &output);
    assert!(text.ends_with("exit 130"), "{text}");
    assert!(start.elapsed() < Duration::from_secs(40), "after {:?}", start.elapsed());
    place.assert_tidy();
}

#[test]
fn programs_can_be_interrupted() {
    let place = Place::new("entry main (n: i64) = loop x = 1i64 for i < n do (x * 3 + i) % 1000003");
    for backend in ["c", "interpreter"] {
        let words = ["run", "program.fut", "-a", "1000000000000", "--backend", backend];
        let start = Instant::now();
        check_interrupted(&place, place.dagaz(&words), || start.elapsed() > Duration::from_millis(1500));
    }
}

#[test]
fn compilers_can_be_interrupted() {
    let place = Place::new(DOUBLE);
    let started = place.path("started");
    let text = format!("echo $$ > {}\nsleep 60 & wait", started.display());
    let script = place.script("slow", &text);
    let mut command = place.dagaz(&CALL);
    command.env("CC", &script);
    check_interrupted(&place, command, || {
        std::fs::read_to_string(&started).is_ok_and(|text| text.ends_with('\n'))
    });
    let process = std::fs::read_to_string(started).expect("it was started");
    assert!(!is_running(process.trim()), "the compiler runs on");
}

fn is_running(process: &str) -> bool {
    let state = std::fs::read_to_string(Path::new("/proc").join(process).join("stat")).unwrap_or_default();
    !state.is_empty() && !state.contains(" Z ")
}
