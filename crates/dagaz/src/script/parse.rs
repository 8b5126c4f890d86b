//! Read script expressions.

use dagaz_core::prim::Prim;

use super::Exp;
use crate::{Value, data};

/// Read an expression and nothing else.
pub fn parse(text: &str) -> Result<Exp, String> {
    let mut parser = Parser { text, at: 0 };
    let exp = parser.exp()?;
    parser.skip_blanks();
    match parser.rest() {
        "" => Ok(exp),
        rest => Err(format!("nothing more is expected at '{}'", beginning(rest))),
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

fn beginning(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or("the end")
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '\''
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.rest().chars().next()
    }

    fn eat(&mut self, symbol: char) -> bool {
        let found = self.peek() == Some(symbol);
        if found {
            self.at += symbol.len_utf8();
        }
        found
    }

    fn expect(&mut self, symbol: char) -> Result<(), String> {
        match self.eat(symbol) {
            true => Ok(()),
            false => Err(format!("'{symbol}' is expected at '{}'", beginning(self.rest()))),
        }
    }

    fn take_while(&mut self, part: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn peek_name(&mut self) -> Option<&'t str> {
        self.peek().filter(|c| is_name_start(*c))?;
        let rest = self.rest();
        Some(&rest[..rest.find(|c| !is_name_part(c)).unwrap_or(rest.len())])
    }

    fn name(&mut self) -> Result<String, String> {
        let name =
            self.peek_name().ok_or_else(|| format!("a name is expected at '{}'", beginning(self.rest())))?;
        self.at += name.len();
        Ok(name.to_owned())
    }

    fn exp(&mut self) -> Result<Exp, String> {
        if self.peek_name() == Some("let") {
            return self.binding();
        }
        let head = self.atom()?;
        let mut args = Vec::new();
        while self.starts_atom() {
            args.push(self.atom()?);
        }
        match head {
            head if args.is_empty() => Ok(head),
            Exp::Call { name, args: none } if none.is_empty() => Ok(Exp::Call { name, args }),
            Exp::Builtin { name, args: none } if none.is_empty() => Ok(Exp::Builtin { name, args }),
            _ => Err("only an entry point can be applied to arguments".to_owned()),
        }
    }

    fn binding(&mut self) -> Result<Exp, String> {
        self.name()?;
        let mut names = Vec::new();
        if self.eat('(') {
            while !self.eat(')') {
                names.push(self.name()?);
                self.eat(',');
            }
        } else {
            names.push(self.name()?);
        }
        self.expect('=')?;
        let value = Box::new(self.exp()?);
        match self.peek_name() {
            Some("in") => {
                self.name()?;
            }
            Some("let") => {}
            _ => return Err(format!("'in' is expected at '{}'", beginning(self.rest()))),
        }
        Ok(Exp::Let { names, value, body: Box::new(self.exp()?) })
    }

    fn starts_atom(&mut self) -> bool {
        match self.peek_name() {
            Some("in" | "let") => false,
            Some(_) => true,
            None => self.peek().is_some_and(|c| c.is_ascii_digit() || "([{\"$-".contains(c)),
        }
    }

    fn atom(&mut self) -> Result<Exp, String> {
        let mut atom = self.plain_atom()?;
        while self.rest().starts_with('.') {
            self.at += 1;
            let field = self.take_while(is_name_part).to_owned();
            atom = Exp::Project(Box::new(atom), field);
        }
        Ok(atom)
    }

    fn plain_atom(&mut self) -> Result<Exp, String> {
        match self.peek() {
            Some('(') => self.tuple(),
            Some('{') => self.record(),
            Some('"') => self.string(),
            Some('$') => {
                self.at += 1;
                Ok(Exp::Builtin { name: self.name()?, args: Vec::new() })
            }
            Some('[') => {
                let end = array_end(self.rest());
                self.literal(end)
            }
            Some(c) if c.is_ascii_digit() || c == '-' => {
                let rest = self.rest();
                let number = |(i, c): (usize, char)| {
                    let after_exponent = i > 0 && matches!(rest.as_bytes()[i - 1], b'e' | b'E' | b'p' | b'P');
                    c.is_alphanumeric()
                        || c == '.'
                        || c == '_'
                        || ((c == '-' || c == '+') && (i == 0 || after_exponent))
                };
                let end = rest.char_indices().find(|&at| !number(at)).map_or(rest.len(), |(i, _)| i);
                self.literal(end)
            }
            _ => match self.peek_name() {
                Some(word @ ("true" | "false" | "nan" | "inf")) => self.literal(word.len()),
                Some(word) if is_special(&self.rest()[word.len()..]) => {
                    self.literal(word.len() + ".nan".len())
                }
                Some("empty") => {
                    let end = self.rest().find(')').map_or(self.rest().len(), |i| i + 1);
                    self.literal(end)
                }
                Some(_) => Ok(Exp::Call { name: self.name()?, args: Vec::new() }),
                None => Err(format!("an expression is expected at '{}'", beginning(self.rest()))),
            },
        }
    }

    fn tuple(&mut self) -> Result<Exp, String> {
        self.expect('(')?;
        let mut parts = Vec::new();
        while !self.eat(')') {
            parts.push(self.exp()?);
            if !self.eat(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Exp::Tuple(parts) })
    }

    fn record(&mut self) -> Result<Exp, String> {
        self.expect('{')?;
        let mut fields = Vec::new();
        while !self.eat('}') {
            let name = self.name()?;
            self.expect('=')?;
            fields.push((name, self.exp()?));
            if !self.eat(',') {
                self.expect('}')?;
                break;
            }
        }
        Ok(Exp::Record(fields))
    }

    fn string(&mut self) -> Result<Exp, String> {
        let length = string_end(self.rest());
        match self.literal(length)? {
            Exp::Literal(Value::Array(array)) => {
                let bytes = array.prims().filter_map(Prim::as_i64).map(|byte| byte as u8).collect();
                String::from_utf8(bytes).map(Exp::String).map_err(|_| "a string is in UTF-8".to_owned())
            }
            exp => Ok(exp),
        }
    }

    fn literal(&mut self, length: usize) -> Result<Exp, String> {
        let text = &self.rest()[..length];
        let mut values =
            data::read_values(text.as_bytes()).map_err(|error| format!("in '{text}': {error}"))?;
        self.at += length;
        match values.len() {
            1 => Ok(Exp::Literal(values.remove(0))),
            _ => Err(format!("'{text}' is not one value")),
        }
    }
}

/// Whether this comes after the name of a type in `f64.nan`.
fn is_special(rest: &str) -> bool {
    let is_end = |rest: &str| !rest.starts_with(is_name_part);
    [".nan", ".inf"].iter().any(|word| rest.strip_prefix(word).is_some_and(is_end))
}

/// How long the string at the start of the text is.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (i, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return i + 1,
            _ => {}
        }
    }
    text.len()
}

/// How long the array at the start of the text is.
fn array_end(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while let Some(c) = text[at..].chars().next() {
        let length = if c == '"' { string_end(&text[at..]) } else { c.len_utf8() };
        at += length;
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}
