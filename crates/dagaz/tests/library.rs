//! The standard library: which modules there are, their documentation, and the examples in it.
//!
//! `docs/std.md` is made of the comments in `std/*.fut`. In a comment, what follows `> ` is an expression, evaluated with the
//! module imported; the lines below it are its value. `UPDATE_EXPECT=1 cargo test -p dagaz --test library` writes values and page
//! anew. The module's tests are in `std/tests/`, run with those of the prelude (`programs.rs`, `native.rs`).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use dagaz::library::MODULES;
use dagaz::{Dialect, check_file, compile_source};
use dagaz_syntax::ast::{
    Dec, DecKind, DocComment, ModExp, ModExpKind, ModTypeExp, ModTypeExpKind, Spec, SpecKind,
};
use dagaz_syntax::{SourceMap, Span, parse_program};
use literate::{PROMPT, value};

mod literate;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The file of a module, as it is now on the disk.
fn file(module: &str) -> PathBuf {
    root().join("std").join(module).with_extension("fut")
}

#[test]
fn modules_are_the_files_of_the_folder() {
    let entries = std::fs::read_dir(root().join("std")).expect("the folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let files = paths.filter(|path| path.extension().is_some_and(|extension| extension == "fut"));
    let mut names: Vec<String> =
        files.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
    names.sort();
    assert_eq!(MODULES.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names);
}

#[test]
fn modules_are_plain_futhark_and_nothing_is_to_be_said_about_them() {
    for (module, _) in MODULES {
        let checked = check_file(&file(module), Dialect::Strict)
            .unwrap_or_else(|failure| panic!("{module}: {failure}"));
        assert!(checked.warnings.is_empty(), "{module}: {:?}", checked.warnings);
    }
}

/// In this order, so that the page has the values of the examples as they are written anew.
#[test]
fn examples_and_then_the_page_are_up_to_date() {
    check_examples();
    check_page();
}

fn check_examples() {
    for (module, _) in MODULES {
        let path = file(module);
        let text = std::fs::read_to_string(&path).expect("a module");
        expect_test::expect_file![path].assert_eq(&with_values(module, &text));
    }
}

/// The text of a module with the values of its examples as they are now.
fn with_values(module: &str, text: &str) -> String {
    let example = |line: &str| line.trim_start().strip_prefix("-- > ").map(str::to_owned);
    let mut program = format!("import \"std/{module}\"\n");
    for (number, expression) in text.lines().filter_map(example).enumerate() {
        let _ = writeln!(program, "entry result_{number} =\n  {expression}");
    }
    let compiled = compile_source("examples.fut", &program)
        .unwrap_or_else(|failure| panic!("{module}: {}", failure.render(dagaz::render::Style::Plain)));
    let mut out = String::new();
    let mut number = 0;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let _ = writeln!(out, "{line}");
        if example(line).is_none() {
            continue;
        }
        let indent = " ".repeat(line.len() - line.trim_start().len());
        for shown in value(&compiled, &format!("result_{number}")).lines() {
            let _ = writeln!(out, "{indent}-- {shown}");
        }
        number += 1;
        let is_value =
            |line: &&str| line.trim_start().strip_prefix("-- ").is_some_and(|l| !l.starts_with(PROMPT));
        while lines.next_if(is_value).is_some() {}
    }
    out
}

fn check_page() {
    let mut page = String::from(
        "# The standard library\n\n\
         Modules in the language itself, compiled into the command. A program has of them what it imports, and nothing else is read:\n\n\
         ```text\nimport \"std/sort\"                  -- its names as they are here\n\
         module sorting = import \"std/sort\"  -- or all of them under one name\n```\n\n\
         A file `std/sort.fut` in the folder of the file that imports it comes first, as every import is relative to that file; \
         `import \"/prelude/std/sort\"` means the module of this page whatever files there are.\n\n\
         This page is made of the comments in the folder `std/`. The lines below an expression are its value; all are tested.\n\n",
    );
    for (module, _) in MODULES {
        let _ = writeln!(page, "- [`std/{module}`](#std{module})");
    }
    for (module, _) in MODULES {
        page.push_str(&Page::of(module));
    }
    expect_test::expect_file![root().join("docs/std.md")].assert_eq(&page);
}

/// The section of one module.
struct Page {
    sources: SourceMap,
    out: String,
    module: String,
}

impl Page {
    fn of(module: &str) -> String {
        let text = std::fs::read_to_string(file(module)).expect("a module");
        let mut sources = SourceMap::default();
        let (program, diagnostics) = parse_program(sources.add(module, text.clone()), &text);
        assert!(diagnostics.is_empty(), "{module}: {diagnostics:?}");
        let mut page = Page { sources, out: format!("\n## std/{module}\n\n"), module: module.to_owned() };
        page.text(program.doc.as_ref().unwrap_or_else(|| panic!("{module} has no documentation")));
        program.decs.iter().for_each(|dec| page.dec(dec));
        page.out
    }

    /// Something that can be used from outside must say what it is.
    fn item(&mut self, signature: &str, doc: Option<&DocComment>) {
        let doc = doc.unwrap_or_else(|| panic!("{}: no documentation of {signature}", self.module));
        let lines: Vec<&str> = signature.lines().collect();
        let indent = lines.iter().skip(1).map(|l| l.len() - l.trim_start().len()).min().unwrap_or(0);
        let rest = lines.iter().skip(1).map(|line| format!("  {}", &line[indent..]));
        let lines: Vec<String> = lines.iter().take(1).map(|line| (*line).to_owned()).chain(rest).collect();
        let _ = write!(self.out, "```text\n{}\n```\n\n", lines.join("\n"));
        self.text(doc);
    }

    /// Documentation, in which examples become blocks of code.
    fn text(&mut self, doc: &DocComment) {
        let mut in_example = false;
        for line in doc.text.lines().map(str::trim) {
            let starts = line.starts_with(PROMPT);
            if starts && !in_example {
                self.out.push_str("```text\n");
            }
            if in_example && line.is_empty() {
                self.out.push_str("```\n");
            }
            in_example = starts || (in_example && !line.is_empty());
            let _ = writeln!(self.out, "{line}");
        }
        self.out.push_str(if in_example { "```\n\n" } else { "\n" });
    }

    fn source(&self, from: Span, to: u32) -> String {
        let text = self.sources.snippet(Span { end: to, ..from }).trim_end();
        text.strip_suffix('=').unwrap_or(text).trim_end().to_owned()
    }

    fn dec(&mut self, dec: &Dec) {
        let doc = dec.doc.as_ref();
        match &dec.kind {
            DecKind::Val(bind) => {
                let start = dec.span.start;
                self.item(&self.source(Span { start, ..dec.span }, bind.body.span.start), doc);
            }
            DecKind::Type(_) => self.item(&self.source(dec.span, dec.span.end), doc),
            // What a module with a signature has is documented there.
            DecKind::Module(bind) => match &bind.sig {
                Some(signature) => self.heading(&self.source(dec.span, signature.span.end), doc),
                None => {
                    self.heading(&self.source(dec.span, bind.name.span.end), doc);
                    self.module_body(&bind.body);
                }
            },
            DecKind::ModuleType { name, body } => {
                self.heading(&self.source(dec.span, name.span.end), doc);
                self.module_type(body);
            }
            DecKind::Local(_) | DecKind::Import { .. } | DecKind::Open(_) | DecKind::IndexType(_) => {}
        }
    }

    fn heading(&mut self, signature: &str, doc: Option<&DocComment>) {
        let doc = doc.unwrap_or_else(|| panic!("{}: no documentation of {signature}", self.module));
        let _ = write!(self.out, "### `{}`\n\n", signature.replace('\n', " "));
        self.text(doc);
    }

    fn module_body(&mut self, body: &ModExp) {
        match &body.kind {
            ModExpKind::Decs(decs) => decs.iter().for_each(|dec| self.dec(dec)),
            ModExpKind::Ascript(inner, _) | ModExpKind::Paren(inner) => self.module_body(inner),
            ModExpKind::Var(_)
            | ModExpKind::Lambda { .. }
            | ModExpKind::Apply(..)
            | ModExpKind::Import { .. } => {}
        }
    }

    fn module_type(&mut self, body: &ModTypeExp) {
        if let ModTypeExpKind::Specs(specs) = &body.kind {
            specs.iter().for_each(|spec| self.spec(spec));
        }
    }

    fn spec(&mut self, spec: &Spec) {
        let is_included = matches!(spec.kind, SpecKind::Include(_));
        if !is_included {
            self.item(&self.source(spec.span, spec.span.end), spec.doc.as_ref());
        }
    }
}
