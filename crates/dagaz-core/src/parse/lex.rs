//! Tokens of the text form.

use super::ParseError;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token {
    /// Names, keywords, numbers, operations: letters, digits, and `_ . ' #`.
    Word(String),
    Text(String),
    Punct(&'static str),
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Spanned {
    pub(super) token: Token,
    pub(super) line: usize,
    pub(super) col: usize,
}

/// The longer ones first.
const PUNCT: [&str; 16] =
    ["->", ":+", "<=", "(", ")", "[", "]", ",", ":", "=", "\\", "<", "@", "*", "-", "+"];

pub(super) fn lex(text: &str) -> Result<Vec<Spanned>, ParseError> {
    let mut lexer = Lexer { rest: text, line: 1, col: 1 };
    let mut tokens = Vec::new();
    loop {
        let spanned = lexer.next()?;
        let end = spanned.token == Token::End;
        tokens.push(spanned);
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    rest: &'t str,
    line: usize,
    col: usize,
}

fn in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '\'' | '#')
}

impl<'t> Lexer<'t> {
    fn advance(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(bytes);
        for c in taken.chars() {
            if c == '\n' {
                self.line += 1;
                self.col = 1;
            } else {
                self.col += 1;
            }
        }
        self.rest = rest;
        taken
    }

    fn next(&mut self) -> Result<Spanned, ParseError> {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.advance(blank);
            if !self.rest.starts_with("--") {
                break;
            }
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.advance(end);
        }
        let (line, col) = (self.line, self.col);
        let token = self.token().map_err(|message| ParseError { message, line, col })?;
        Ok(Spanned { token, line, col })
    }

    fn token(&mut self) -> Result<Token, String> {
        let Some(first) = self.rest.chars().next() else { return Ok(Token::End) };
        if first == '"' {
            return self.string();
        }
        if in_word(first) {
            let len = self.word_len();
            return Ok(Token::Word(self.advance(len).to_string()));
        }
        for punct in PUNCT {
            if self.rest.starts_with(punct) {
                self.advance(punct.len());
                return Ok(Token::Punct(punct));
            }
        }
        Err(format!("'{first}' is not expected here"))
    }

    fn word_len(&self) -> usize {
        let len = self.rest.find(|c| !in_word(c)).unwrap_or(self.rest.len());
        let word = &self.rest[..len];
        // `1e-7f64`: the sign belongs to the exponent.
        if word.starts_with(|c: char| c.is_ascii_digit())
            && word.ends_with(['e', 'E'])
            && !word.starts_with("0x")
        {
            let tail = &self.rest[len..];
            if let Some(digits) = tail.strip_prefix(['-', '+']) {
                return len + 1 + digits.find(|c| !in_word(c)).unwrap_or(digits.len());
            }
        }
        len
    }

    fn string(&mut self) -> Result<Token, String> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.advance(at + 1);
                    return Ok(Token::Text(text));
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, escaped)) => text.push(escaped),
                    None => break,
                },
                _ => text.push(c),
            }
        }
        Err("this string does not end".to_string())
    }
}
