//! What the compiler has to say to the user about a place in the source.

use crate::Span;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    Error,
    Warning,
}

/// A place, and what is to be said about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    pub span: Span,
    pub message: String,
}

/// An error or warning. `labels[0]` is the place it is about; further labels show the places it
/// conflicts with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    pub severity: Severity,
    /// A stable code such as `type-mismatch`, explained by `dagaz explain-error`.
    pub code: &'static str,
    /// A sentence without a final stop.
    pub message: String,
    pub labels: Vec<Label>,
    /// What to do about it, where that is known.
    pub help: Vec<String>,
}

impl Diagnostic {
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            labels: vec![Label { span, message: String::new() }],
            help: Vec::new(),
        }
    }

    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    pub fn span(&self) -> Span {
        self.labels[0].span
    }

    /// Say something at the main place.
    pub fn at(mut self, message: impl Into<String>) -> Diagnostic {
        self.labels[0].message = message.into();
        self
    }

    pub fn label(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        if !span.is_none() {
            self.labels.push(Label { span, message: message.into() });
        }
        self
    }

    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help.push(text.into());
        self
    }
}
