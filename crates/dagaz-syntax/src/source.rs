//! Source files and places in them.

/// Which file a [`Span`] lies in: an index into a [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A range of bytes of a source file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(file: FileId, start: usize, end: usize) -> Span {
        Span { file, start: start as u32, end: end as u32 }
    }

    /// A place in no file, for code that the compiler made up itself.
    pub const NONE: Span = Span { file: FileId(u32::MAX), start: 0, end: 0 };

    pub fn is_none(self) -> bool {
        self.file.0 == u32::MAX
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A file's name, as it is shown to the user, and its text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    pub name: String,
    pub text: String,
}

/// All files of a compilation; a [`FileId`] is an index.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.files.push(SourceFile { name: name.into(), text: text.into() });
        FileId(self.files.len() as u32 - 1)
    }

    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    /// One-based line and column (in characters) of the start of a span.
    pub fn line_col(&self, span: Span) -> Option<(usize, usize)> {
        let text = &self.get(span.file)?.text;
        let before = text.get(..span.start as usize)?;
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        Some((line, before[line_start..].chars().count() + 1))
    }

    /// The character at a one-based line and column of a file.
    pub fn span_at(&self, file: &str, line: u32, col: u32) -> Option<Span> {
        let id = self.files.iter().position(|f| f.name == file)?;
        let text = &self.files[id].text;
        let line_start = match line {
            1 => 0,
            _ => text.match_indices('\n').nth(line as usize - 2)?.0 + 1,
        };
        let (offset, character) = text[line_start..].char_indices().nth(col.saturating_sub(1) as usize)?;
        let start = line_start + offset;
        Some(Span::new(FileId(id as u32), start, start + character.len_utf8()))
    }

    /// `file.fut:3:7`, or `<built-in>` for code without a place.
    pub fn describe(&self, span: Span) -> String {
        match (self.get(span.file), self.line_col(span)) {
            (Some(file), Some((line, col))) => format!("{}:{line}:{col}", file.name),
            _ => "<built-in>".to_owned(),
        }
    }

    pub fn snippet(&self, span: Span) -> &str {
        self.get(span.file).and_then(|f| f.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }
}
