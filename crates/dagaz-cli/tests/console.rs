//! The commands shown in the documentation print what is shown.
//!
//! A block marked `console` holds commands after `$ `, each with all that it prints and, if that is not 0, its exit
//! code. They run in the root of the repository. `UPDATE_EXPECT=1 cargo test -p dagaz-cli --test console` writes what
//! they print anew.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All that a command prints.
fn output(command: &str) -> String {
    let bin = Path::new(env!("CARGO_BIN_EXE_dagaz")).parent().expect("the folder of the command");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{{ {command}\n}} 2>&1")).current_dir(root()).env("PATH", path);
    let result = shell.stdin(std::process::Stdio::null()).output().expect("a shell");
    let mut text = String::from_utf8_lossy(&result.stdout).into_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    match result.status.code() {
        Some(0) => {}
        code => writeln!(text, "[exit code {}]", code.unwrap_or(-1)).expect("writes"),
    }
    // Blanks at the ends of lines do not survive in a text that people edit.
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn check(page: &str, least: usize) {
    let page = root().join(page);
    let text = std::fs::read_to_string(&page).expect("a page");
    let mut commands = 0;
    let mut out = String::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            commands += 1;
            let _ = writeln!(out, "$ {command}");
            out.push_str(&output(command));
            continue;
        } else if inside {
            continue;
        }
        let _ = writeln!(out, "{line}");
    }
    assert!(commands >= least, "there are only {commands} commands on the page");
    expect_test::expect_file![page].assert_eq(&out);
}

#[test]
fn whole_arrays() {
    check("docs/bulk.md", 8);
}

#[test]
fn readme() {
    check("README.md", 6);
}

#[test]
fn tools() {
    check("docs/tools.md", 15);
}
