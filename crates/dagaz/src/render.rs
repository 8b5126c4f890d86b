//! Diagnostics and run-time errors as text, with the source line and marks under it.
//!
//! ```text
//! error[type-mismatch]: expected i32, found bool
//!  --> example.fut:2:7
//!   |
//! 2 |   x + true
//!   |       ^^^^ this is a bool
//!   = help: …
//! ```

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use dagaz_core::exp::{Loc, Program};
use dagaz_core::interp::RuntimeError;
use dagaz_syntax::{Diagnostic, FileId, Label, Severity, SourceFile, SourceMap};

/// Whether text is for a terminal, which has colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    Plain,
    Coloured,
}

/// A chain of inlined calls is shown up to this length.
const MAX_CALLS: usize = 16;

fn renderer(style: Style) -> Renderer {
    match style {
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    }
}

/// An error that is about no place in particular.
pub fn message(style: Style, text: &str) -> String {
    renderer(style).render(&[Group::with_title(Level::ERROR.primary_title(text))])
}

/// All diagnostics, an empty line between them, each with a newline at its end.
pub fn diagnostics(style: Style, sources: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    let rendered: Vec<String> = diagnostics.iter().map(|d| diagnostic(style, sources, d) + "\n").collect();
    rendered.join("\n")
}

/// One diagnostic.
pub fn diagnostic(style: Style, sources: &SourceMap, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(&diagnostic.message).id(diagnostic.code));
    for (file, labels) in labels_by_file(&diagnostic.labels) {
        if let Some(source) = sources.get(file) {
            group = group.element(snippet(source, &labels));
        }
    }
    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(help));
    }
    renderer(style).render(&[group])
}

/// The labels of every file, in the order of the first label; the flag marks the main one.
fn labels_by_file(labels: &[Label]) -> Vec<(FileId, Vec<(bool, &Label)>)> {
    let mut files: Vec<(FileId, Vec<(bool, &Label)>)> = Vec::new();
    for (position, label) in labels.iter().enumerate() {
        if label.span.is_none() {
            continue;
        }
        let entry = (position == 0, label);
        match files.iter_mut().find(|(file, _)| *file == label.span.file) {
            Some((_, known)) => known.push(entry),
            None => files.push((label.span.file, vec![entry])),
        }
    }
    files
}

fn snippet<'a>(source: &'a SourceFile, labels: &[(bool, &'a Label)]) -> Snippet<'a, Annotation<'a>> {
    let annotations = labels.iter().map(|(main, label)| {
        let kind = if *main { AnnotationKind::Primary } else { AnnotationKind::Context };
        let range = within(&source.text, label.span.start as usize, label.span.end as usize);
        let annotation = kind.span(range);
        if label.message.is_empty() { annotation } else { annotation.label(&label.message) }
    });
    Snippet::source(source.text.as_str()).path(source.name.as_str()).annotations(annotations)
}

/// A range that lies within the text, on the borders of characters.
fn within(text: &str, start: usize, end: usize) -> std::ops::Range<usize> {
    let border = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = border(start);
    start..border(end).max(start)
}

/// A run-time error, with the source line it happened in and the calls that led there.
pub fn runtime_error(style: Style, sources: &SourceMap, program: &Program, error: &RuntimeError) -> String {
    let mut group = Group::with_title(Level::ERROR.primary_title(&error.message));
    let places = places(program, error);
    for (position, place) in places.iter().enumerate() {
        let source = (0..).map(FileId).map_while(|id| sources.get(id)).find(|f| *f.name == *place.file);
        let text = format!("{}:{}:{}", place.file, place.line, place.col);
        match source {
            Some(source) if position == 0 => {
                let start = offset(&source.text, place.line as usize, place.col as usize);
                let annotation = AnnotationKind::Primary.span(within(&source.text, start, start + 1));
                let shown = Snippet::source(source.text.as_str()).path(source.name.as_str());
                group = group.element(shown.annotation(annotation));
            }
            Some(_) | None => {
                let lead = if position == 0 { "at" } else { "called from" };
                group = group.element(Level::NOTE.message(format!("{lead} {text}")));
            }
        }
    }
    renderer(style).render(&[group])
}

/// The place of an error and of the calls around it, the innermost first. Code of the prelude is left out where
/// there is code of the user's.
fn places<'p>(program: &'p Program, error: &RuntimeError) -> Vec<&'p dagaz_core::exp::SourceLoc> {
    let mut all = Vec::new();
    for loc in std::iter::once(&error.loc).chain(&error.stack) {
        let mut next: Option<Loc> = Some(*loc);
        while let Some(source) = next.and_then(|loc| program.source(loc)) {
            if all.len() == MAX_CALLS {
                break;
            }
            all.push(source);
            next = source.inlined_at;
        }
    }
    let is_users = |place: &&dagaz_core::exp::SourceLoc| !place.file.starts_with("/prelude/");
    match all.iter().position(is_users) {
        Some(first) => all.split_off(first),
        None => all,
    }
}

/// The byte at which a one-based line and column (in characters) lie.
fn offset(text: &str, line: usize, col: usize) -> usize {
    let line_start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let line_text = &text[line_start..];
    line_start + line_text.chars().take(col.saturating_sub(1)).map(char::len_utf8).sum::<usize>()
}
