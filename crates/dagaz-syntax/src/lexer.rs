//! From text to tokens.
//!
//! Comments are set aside, as is every documentation block (`-- |` on a line of its own and the comment
//! lines right below it) together with the number of the token that follows it. Text that is no token is reported once and
//! stands as [`TokenKind::Unknown`], so the lexer never fails.

use crate::ast::{Comment, DocComment, Ident, QualName};
use crate::literal::{self, LiteralError};
use crate::token::{Keyword, Token, TokenKind};
use crate::{Diagnostic, FileId, Name, Span};

/// More errors than this help nobody.
pub(crate) const MOST_DIAGNOSTICS: usize = 100;

/// What the lexer found in a file.
#[derive(Default)]
pub(crate) struct Lexed {
    /// Ends with [`TokenKind::Eof`].
    pub tokens: Vec<Token>,
    pub comments: Vec<Comment>,
    /// Documentation blocks, each with the index of the token it stands before.
    pub docs: Vec<(usize, DocComment)>,
    pub strings: Vec<Vec<u8>>,
    pub qual_symbols: Vec<QualName>,
    pub diagnostics: Vec<Diagnostic>,
}

pub(crate) fn lex(file: FileId, text: &str) -> Lexed {
    let mut lexer = Lexer {
        file,
        text,
        bytes: text.as_bytes(),
        pos: 0,
        first_on_line: true,
        newlines: 0,
        open_doc: None,
        out: Lexed::default(),
    };
    if u32::try_from(text.len()).is_err() {
        let span = Span::new(file, 0, 0);
        lexer.out.diagnostics.push(Diagnostic::error(
            "file-too-large",
            span,
            "the file is larger than 4 GiB",
        ));
    } else {
        lexer.run();
    }
    lexer.close_doc();
    let end = lexer.pos as u32;
    lexer.out.tokens.push(Token { kind: TokenKind::Eof, start: end, end, first_on_line: true });
    lexer.out
}

struct Lexer<'t> {
    file: FileId,
    text: &'t str,
    bytes: &'t [u8],
    pos: usize,
    first_on_line: bool,
    /// Line ends since the last comment or token.
    newlines: usize,
    open_doc: Option<DocComment>,
    out: Lexed,
}

fn is_constituent(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'\''
}

fn is_symbol_char(byte: u8) -> bool {
    b"+-*/%=!><|&^.".contains(&byte)
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.pos + ahead).copied().unwrap_or(0)
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start, end)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.out.diagnostics.len() < MOST_DIAGNOSTICS {
            self.out.diagnostics.push(diagnostic);
        }
    }

    /// Add the token from `start` to the current position.
    fn push(&mut self, start: usize, kind: TokenKind) {
        self.close_doc();
        let first_on_line = std::mem::take(&mut self.first_on_line);
        self.out.tokens.push(Token { kind, start: start as u32, end: self.pos as u32, first_on_line });
    }

    fn punctuation(&mut self, length: usize, kind: TokenKind) {
        let start = self.pos;
        self.pos += length;
        self.push(start, kind);
    }

    fn run(&mut self) {
        if self.text.starts_with('\u{feff}') {
            self.pos = '\u{feff}'.len_utf8();
        }
        while self.pos < self.bytes.len() {
            self.token();
        }
    }

    fn token(&mut self) {
        use TokenKind::*;
        match self.bytes[self.pos] {
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.pos += 1,
            b'\n' => {
                self.pos += 1;
                self.newlines += 1;
                self.first_on_line = true;
            }
            b'-' if self.peek(1) == b'-' => self.comment(),
            b'0'..=b'9' => self.number(),
            b'a'..=b'z' | b'A'..=b'Z' => self.word(),
            b'_' if is_constituent(self.peek(1)) => self.word(),
            b'_' => self.punctuation(1, Underscore),
            b'"' => self.string(),
            b'\'' => self.quote(),
            b'#' => self.hash(),
            b'.' => self.dots(),
            b'?' if self.peek(1) == b'?' && self.peek(2) == b'?' => self.punctuation(3, Hole),
            b'?' => self.punctuation(1, Question),
            b'(' => self.punctuation(1, LParen),
            b')' => self.punctuation(1, RParen),
            b'[' => {
                let before = self.pos.checked_sub(1).map_or(b' ', |i| self.bytes[i]);
                let index = is_constituent(before) || before == b')' || before == b']';
                self.punctuation(1, if index { IndexBracket } else { LBracket });
            }
            b']' => self.punctuation(1, RBracket),
            b'{' => self.punctuation(1, LBrace),
            b'}' => self.punctuation(1, RBrace),
            b',' => self.punctuation(1, Comma),
            b':' if self.peek(1) == b'>' => self.punctuation(2, ColonGreater),
            b':' if self.peek(1) == b'=' => self.punctuation(2, Symbol(Name::new(":="))),
            b':' => self.punctuation(1, Colon),
            b';' => self.punctuation(1, Semicolon),
            b'\\' => self.punctuation(1, Backslash),
            b'`' => self.punctuation(1, Backquote),
            b'~' => self.punctuation(1, Tilde),
            byte if is_symbol_char(byte) => self.symbol(),
            _ => self.unknown(),
        }
    }

    fn comment(&mut self) {
        let start = self.pos;
        let length = self.text[start..].find('\n').unwrap_or(self.text.len() - start);
        self.pos = start + length;
        let text = self.text[start..self.pos].trim_end_matches('\r');
        let span = self.span(start, start + text.len());
        self.out.comments.push(Comment { span, text: text.to_owned() });
        let continues = self.newlines == 1 && self.first_on_line;
        self.newlines = 0;
        if let Some(doc) = self.open_doc.as_mut().filter(|_| continues) {
            let line = text[2..].strip_prefix(' ').unwrap_or(&text[2..]);
            doc.text.push('\n');
            doc.text.push_str(line);
            doc.span = doc.span.to(span);
            return;
        }
        self.close_doc();
        if let Some(line) = text.strip_prefix("-- |").filter(|_| self.first_on_line) {
            let text = line.strip_prefix(' ').unwrap_or(line).to_owned();
            self.open_doc = Some(DocComment { text, span });
        }
    }

    fn close_doc(&mut self) {
        if let Some(doc) = self.open_doc.take() {
            self.out.docs.push((self.out.tokens.len(), doc));
        }
    }

    /// The end of the run of identifier characters from `start`.
    fn word_end(&self, start: usize) -> usize {
        let length = self.bytes[start..].iter().take_while(|&&b| is_constituent(b)).count();
        start + length
    }

    fn word(&mut self) {
        let start = self.pos;
        self.pos = self.word_end(start);
        let text = &self.text[start..self.pos];
        let kind = match Keyword::from_text(text) {
            Some(word) => TokenKind::Keyword(word),
            None => TokenKind::Ident(Name::new(text)),
        };
        self.push(start, kind);
    }

    fn number(&mut self) {
        let start = self.pos;
        let last = self.out.tokens.last();
        let after_dot = last.is_some_and(|t| t.kind == TokenKind::Dot);
        let (length, result) = literal::number(&self.text[start..], after_dot);
        self.pos = start + length;
        self.literal(start, result);
    }

    fn literal(&mut self, start: usize, result: Result<TokenKind, LiteralError>) {
        let kind = result.unwrap_or_else(|error| {
            let span = self.span(start + error.from, start + error.to);
            let mut diagnostic = Diagnostic::error(error.code, span, error.message);
            diagnostic.help.extend(error.help);
            self.report(diagnostic);
            TokenKind::Unknown
        });
        self.push(start, kind);
    }

    fn string(&mut self) {
        let start = self.pos;
        let (length, result) = literal::string(&self.text[start..]);
        self.pos = start + length;
        let result = result.map(|bytes| {
            self.out.strings.push(bytes);
            TokenKind::Str(self.out.strings.len() as u32 - 1)
        });
        self.literal(start, result);
    }

    /// A character literal, or the mark of a type parameter.
    fn quote(&mut self) {
        let start = self.pos;
        if let Some((length, result)) = literal::character(&self.text[start..]) {
            self.pos = start + length;
            self.literal(start, result);
            return;
        }
        match self.peek(1) {
            b'^' => self.punctuation(2, TokenKind::QuoteCaret),
            b'~' => self.punctuation(2, TokenKind::QuoteTilde),
            _ => self.punctuation(1, TokenKind::Quote),
        }
    }

    fn hash(&mut self) {
        let start = self.pos;
        let next = self.peek(1);
        if next == b'[' {
            self.punctuation(2, TokenKind::HashBracket);
        } else if next.is_ascii_alphabetic() || next == b'_' {
            self.pos = self.word_end(start + 1);
            let name = Name::new(&self.text[start + 1..self.pos]);
            self.push(start, TokenKind::Constructor(name));
        } else {
            self.unknown();
        }
    }

    fn dots(&mut self) {
        match (self.peek(1), self.peek(2)) {
            (b'.', b'<') => self.punctuation(3, TokenKind::TwoDotsLess),
            (b'.', b'>') => self.punctuation(3, TokenKind::TwoDotsGreater),
            (b'.', b'.') => self.punctuation(3, TokenKind::ThreeDots),
            (b'.', _) => self.punctuation(2, TokenKind::TwoDots),
            _ => self.punctuation(1, TokenKind::Dot),
        }
    }

    fn symbol(&mut self) {
        let start = self.pos;
        self.pos += self.bytes[start..].iter().take_while(|&&b| is_symbol_char(b)).count();
        let text = &self.text[start..self.pos];
        if let Some((first, quals)) = self.take_qualifiers(start) {
            let span = self.span(first, self.pos);
            self.out.qual_symbols.push(QualName { quals, name: Name::new(text), span });
            self.push(first, TokenKind::QualSymbol(self.out.qual_symbols.len() as u32 - 1));
            return;
        }
        let kind = match text {
            "=" => TokenKind::Equal,
            "->" => TokenKind::Arrow,
            "!" => TokenKind::Bang,
            "-" => TokenKind::Minus,
            "*" => TokenKind::Star,
            "<" => TokenKind::Less,
            "^" => TokenKind::Caret,
            "|" => TokenKind::Bar,
            _ => TokenKind::Symbol(Name::new(text)),
        };
        self.push(start, kind);
    }

    /// Take back the tokens `a.b.` that touch an operator at `start`: they qualify it. The result holds
    /// the start of the first one.
    fn take_qualifiers(&mut self, start: usize) -> Option<(usize, Vec<Ident>)> {
        let mut quals = Vec::new();
        let mut first = start;
        while let [.., word, dot] = self.out.tokens.as_slice() {
            let touching = dot.kind == TokenKind::Dot && dot.end as usize == first && word.end == dot.start;
            let TokenKind::Ident(name) = word.kind else { break };
            if !touching {
                break;
            }
            let (word_start, word_end) = (word.start as usize, word.end as usize);
            self.first_on_line = word.first_on_line;
            first = word_start;
            quals.push(Ident { name, span: self.span(word_start, word_end) });
            self.out.tokens.truncate(self.out.tokens.len() - 2);
        }
        quals.reverse();
        if quals.is_empty() { None } else { Some((first, quals)) }
    }

    /// Report a run of characters that start no token, as one.
    fn unknown(&mut self) {
        let start = self.pos;
        for character in self.text[start..].chars() {
            let known = character.is_ascii_graphic() || character.is_ascii_whitespace();
            if known && self.pos > start {
                break;
            }
            self.pos += character.len_utf8();
            if known {
                break;
            }
        }
        let run = &self.text[start..self.pos];
        let shown: String = run.chars().take(10).flat_map(char::escape_debug).collect();
        let more = if run.chars().nth(10).is_some() { "…" } else { "" };
        let span = self.span(start, self.pos);
        let mut diagnostic = Diagnostic::error(
            "unknown-character",
            span,
            format!("`{shown}{more}` is not part of the language"),
        );
        diagnostic.help.extend(unknown_character_help(run));
        self.report(diagnostic);
        self.push(start, TokenKind::Unknown);
    }
}

fn unknown_character_help(run: &str) -> Option<String> {
    let help = match run.chars().next()? {
        '“' | '”' | '„' => "write strings in plain double quotes: \"…\"",
        '‘' | '’' => "write a plain single quote: '",
        '–' | '—' | '−' => "write a plain minus sign: -",
        '\u{a0}' | '\u{2003}' | '\u{2009}' | '\u{200b}' => "this is a special space: write a plain one",
        '@' | '$' => "operators are made of + - * / % = ! > < | & ^ .",
        '#' => "a constructor is written `#name` and an attribute `#[name]`, without a space",
        character if character.is_alphabetic() => "names are made of ASCII letters, digits, `_` and `'`",
        _ => return None,
    };
    Some(help.to_owned())
}
