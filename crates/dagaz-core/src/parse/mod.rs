//! Reads the text form of Core, as [`crate::print`] writes it.
//!
//! A variable written with a number, `x_12`, is that variable. One written without, `x`, gets a number of
//! its own where it is bound, and the name is then visible in the rest of the scope, so that text can be
//! written by hand. An integer without a type is an `i64`.

mod exp;
mod lex;

use std::collections::HashMap;
use std::fmt;

use crate::exp::{Body, Entry, EntryParam, EntryType, Fun, Lambda, Loc, OpaqueKind, Program, SourceLoc, Stm};
use crate::formats::text::parse_scalar;
use crate::prim::{Prim, PrimType, UnOp};
use crate::prim_eval::eval_unop;
use crate::types::{Atom, FunId, Param, Type, VarId};

pub use lex::Token;
use lex::{Spanned, lex};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    pub message: String,
    /// One-based.
    pub line: usize,
    /// One-based, in characters.
    pub col: usize,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.col, self.message)
    }
}

impl std::error::Error for ParseError {}

pub type Parsed<T> = Result<T, ParseError>;

/// The largest number that a variable may be written with.
const MAX_NUMBER: u32 = 1 << 24;

pub fn parse(text: &str) -> Parsed<Program> {
    let mut parser = Parser::new(text)?;
    parser.program()?;
    Ok(parser.program)
}

/// What all text forms share: tokens, names in scope, atoms, types, places and entry points, for Core and for languages beside
/// it that have variables, types and functions of the same kind.
pub struct Parser {
    tokens: Vec<Spanned>,
    pos: usize,
    /// What was read so far. Another language uses the variables, places and entry points of it.
    pub program: Program,
    funs: HashMap<String, FunId>,
    /// Names without numbers, the innermost last.
    names: Vec<(String, VarId)>,
    /// The named parameters and results of each function, for its entry points.
    signatures: Vec<Vec<(String, VarId)>>,
    locs: HashMap<SourceLoc, Loc>,
}

/// `x_12` as its hint and number.
fn numbered(word: &str) -> Option<(&str, u32)> {
    let (hint, number) = word.rsplit_once('_')?;
    let digits = !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit());
    let number = number.parse().ok().filter(|_| digits)?;
    (!hint.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit())).then_some((hint, number))
}

/// Tokens.
impl Parser {
    pub fn new(text: &str) -> Parsed<Parser> {
        let tokens = lex(text)?;
        let mut program = Program::default();
        let mut funs = HashMap::new();
        let mut numbers = 0;
        let mut count = 0;
        for (at, spanned) in tokens.iter().enumerate() {
            let Token::Word(word) = &spanned.token else { continue };
            if let Some((_, number)) = numbered(word) {
                if number > MAX_NUMBER {
                    let message = format!("the number of '{word}' is larger than {MAX_NUMBER}");
                    return Err(ParseError { message, line: spanned.line, col: spanned.col });
                }
                numbers = numbers.max(number + 1);
            }
            if word == "def" {
                if let Some(Token::Word(name) | Token::Text(name)) = tokens.get(at + 1).map(|s| &s.token) {
                    funs.entry(name.clone()).or_insert(FunId(count));
                }
                count += 1;
            }
        }
        program.vars.hints = vec!["v".into(); numbers as usize];
        let (names, signatures, locs) = (Vec::new(), Vec::new(), HashMap::new());
        Ok(Parser { tokens, pos: 0, program, funs, names, signatures, locs })
    }

    pub fn peek(&self) -> &Token {
        self.tokens.get(self.pos).map_or(&Token::End, |s| &s.token)
    }

    pub fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        let at = self.tokens.get(self.pos).or(self.tokens.last());
        let (line, col) = at.map_or((1, 1), |s| (s.line, s.col));
        Err(ParseError { message: message.into(), line, col })
    }

    pub fn unexpected<T>(&self, wanted: &str) -> Parsed<T> {
        let got = match self.peek() {
            Token::Word(word) => format!("'{word}'"),
            Token::Text(_) => "a string".to_string(),
            Token::Punct(punct) => format!("'{punct}'"),
            Token::End => "the end".to_string(),
        };
        self.error(format!("{wanted} is expected, not {got}"))
    }

    pub fn eat(&mut self, punct: &str) -> bool {
        let found = matches!(self.peek(), Token::Punct(p) if *p == punct);
        self.pos += usize::from(found);
        found
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(w) if w == word);
        self.pos += usize::from(found);
        found
    }

    pub fn expect(&mut self, punct: &str) -> Parsed<()> {
        if self.eat(punct) { Ok(()) } else { self.unexpected(&format!("'{punct}'")) }
    }

    pub fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.unexpected(&format!("'{word}'")) }
    }

    pub fn word(&mut self, wanted: &str) -> Parsed<String> {
        match self.peek() {
            Token::Word(word) => {
                let word = word.clone();
                self.pos += 1;
                Ok(word)
            }
            Token::Text(_) | Token::Punct(_) | Token::End => self.unexpected(wanted),
        }
    }

    pub fn text(&mut self, wanted: &str) -> Parsed<String> {
        match self.peek() {
            Token::Text(text) => {
                let text = text.clone();
                self.pos += 1;
                Ok(text)
            }
            Token::Word(_) | Token::Punct(_) | Token::End => self.unexpected(wanted),
        }
    }

    pub fn number<N: std::str::FromStr>(&mut self) -> Parsed<N> {
        let before = self.pos;
        match self.word("a number")?.parse() {
            Ok(number) => Ok(number),
            Err(_) => {
                self.pos = before;
                self.unexpected("a number")
            }
        }
    }

    /// `open item, item, … close`
    pub fn list<T>(
        &mut self,
        open: &str,
        close: &str,
        mut item: impl FnMut(&mut Parser) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        self.expect(open)?;
        let mut items = Vec::new();
        while !self.eat(close) {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }
}

/// Names, atoms and types.
impl Parser {
    pub fn bind(&mut self) -> Parsed<VarId> {
        let before = self.pos;
        let name = self.word("a name")?;
        if !crate::print::is_name(&name) {
            self.pos = before;
            return self.unexpected("a name");
        }
        if let Some((hint, number)) = numbered(&name) {
            self.program.vars.hints[number as usize] = hint.into();
            return Ok(VarId(number));
        }
        let var = self.program.vars.fresh(&name);
        self.names.push((name, var));
        Ok(var)
    }

    pub fn var(&mut self) -> Parsed<VarId> {
        match self.atom()? {
            Atom::Var(var) => Ok(var),
            Atom::Const(_) => {
                self.pos -= 1;
                self.unexpected("a variable")
            }
        }
    }

    pub fn atom(&mut self) -> Parsed<Atom> {
        let before = self.pos;
        let negative = self.eat("-");
        let word = self.word("a variable or constant")?;
        let atom = if negative { None } else { self.known_name(&word) };
        if let Some(var) = atom {
            return Ok(Atom::Var(var));
        }
        let parsed = match constant_of_bits(&word) {
            Some(prim) => Ok(prim),
            None => parse_scalar(&word, negative, Some(PrimType::I64)),
        };
        let looks_like_name = crate::print::is_name(&word) && !word.contains('.');
        match parsed {
            Ok(prim) => Ok(Atom::Const(prim)),
            Err(message) => {
                self.pos = before;
                if looks_like_name {
                    self.error(format!("'{word}' is not in scope"))
                } else {
                    self.error(message)
                }
            }
        }
    }

    pub fn known_name(&self, word: &str) -> Option<VarId> {
        if let Some((_, number)) = numbered(word) {
            return Some(VarId(number));
        }
        self.names.iter().rev().find(|(name, _)| name == word).map(|(_, var)| *var)
    }

    pub fn atoms(&mut self, open: &str, close: &str) -> Parsed<Vec<Atom>> {
        self.list(open, close, Parser::atom)
    }

    pub fn vars(&mut self) -> Parsed<Vec<VarId>> {
        self.list("(", ")", Parser::var)
    }

    pub fn prim_type(&mut self) -> Parsed<PrimType> {
        let before = self.pos;
        match PrimType::from_name(&self.word("a scalar type")?) {
            Some(ty) => Ok(ty),
            None => {
                self.pos = before;
                self.unexpected("a scalar type")
            }
        }
    }

    pub fn ty(&mut self) -> Parsed<Type> {
        if self.eat_word("acc") {
            let index_dims = self.atoms("[", "]")?;
            return Ok(Type::Acc { index_dims, elems: self.types()? });
        }
        let mut dims = Vec::new();
        while self.eat("[") {
            dims.push(self.atom()?);
            self.expect("]")?;
        }
        Ok(Type::array(self.prim_type()?, dims))
    }

    pub fn types(&mut self) -> Parsed<Vec<Type>> {
        self.list("(", ")", Parser::ty)
    }

    /// The name is visible in what follows, not in its own type.
    pub fn param(&mut self) -> Parsed<Param> {
        let visible = self.names.len();
        let var = self.bind()?;
        let hidden: Vec<_> = self.names.drain(visible..).collect();
        self.expect(":")?;
        let ty = self.ty()?;
        self.names.extend(hidden);
        Ok(Param { var, ty })
    }

    pub fn params(&mut self) -> Parsed<Vec<Param>> {
        self.list("(", ")", Parser::param)
    }

    /// `@"file":3:7`, followed by the places it was inlined at.
    pub fn loc(&mut self) -> Parsed<Loc> {
        let mut chain = Vec::new();
        while self.eat("@") {
            let file = self.text("a file name")?;
            self.expect(":")?;
            let line = self.number()?;
            self.expect(":")?;
            chain.push((file, line, self.number()?));
        }
        let mut outer = None;
        for (file, line, col) in chain.into_iter().rev() {
            let place = SourceLoc { file: file.into(), line, col, inlined_at: outer };
            let loc = match self.locs.get(&place) {
                Some(loc) => *loc,
                None => self.program.add_loc(place.clone()),
            };
            self.locs.insert(place, loc);
            outer = Some(loc);
        }
        Ok(outer.unwrap_or(Loc::NONE))
    }

    pub fn fun_ref(&mut self) -> Parsed<FunId> {
        let before = self.pos;
        let word = self.word("a function")?;
        let found = match word.strip_prefix('#') {
            Some(number) => number.parse().ok().map(FunId),
            None => self.funs.get(&word).copied(),
        };
        match found {
            Some(fun) => Ok(fun),
            None => {
                self.pos = before;
                self.error(format!("there is no function '{word}'"))
            }
        }
    }
}

/// Definitions.
impl Parser {
    fn program(&mut self) -> Parsed<()> {
        loop {
            match self.peek() {
                Token::End => return Ok(()),
                Token::Word(word) if word == "const" => {
                    self.pos += 1;
                    let stm = self.stm()?;
                    self.program.consts.push(stm);
                }
                Token::Word(word) if word == "def" => {
                    self.pos += 1;
                    let fun = self.fun()?;
                    self.program.funs.push(fun);
                }
                Token::Word(word) if word == "entry" => {
                    self.pos += 1;
                    let entry = self.entry()?;
                    self.program.entries.push(entry);
                }
                _ => return self.unexpected("'const', 'def' or 'entry'"),
            }
        }
    }

    fn fun(&mut self) -> Parsed<Fun> {
        let outside = self.visible();
        let (name, params, ret, loc) = self.signature()?;
        let body = self.body()?;
        self.hide(outside);
        Ok(Fun { name, params, ret, body, loc })
    }

    /// The name, the parameters, the results and the place of a function; its parameters are visible in what follows.
    pub fn signature(&mut self) -> Parsed<(String, Vec<Param>, Vec<Param>, Loc)> {
        let outside = self.names.len();
        let name = match self.peek() {
            Token::Text(_) => self.text("a name")?,
            _ => self.word("a name")?,
        };
        let params = self.params()?;
        let visible = self.names.len();
        self.expect(":")?;
        // Names of results are only visible among the results.
        let ret = self.params()?;
        self.signatures.push(self.names[outside..].to_vec());
        self.names.truncate(visible);
        let loc = self.loc()?;
        self.expect("=")?;
        Ok((name, params, ret, loc))
    }

    /// How many names are visible, to [`Parser::hide`] those that come after them.
    pub fn visible(&self) -> usize {
        self.names.len()
    }

    pub fn hide(&mut self, visible: usize) {
        self.names.truncate(visible);
    }

    /// Takes the names after so many away, to be shown again.
    pub fn take_names(&mut self, visible: usize) -> Vec<(String, VarId)> {
        self.names.drain(visible..).collect()
    }

    pub fn show_names(&mut self, names: Vec<(String, VarId)>) {
        self.names.extend(names);
    }

    pub fn entry(&mut self) -> Parsed<Entry> {
        let name = self.text("the name of the entry point")?;
        self.expect("=")?;
        let fun = self.fun_ref()?;
        let outside = self.names.len();
        let signature = self.signatures.get(fun.0 as usize).cloned();
        self.names.extend(signature.unwrap_or_default());
        self.expect_word("sizes")?;
        let (size_params, size_results) = (self.number()?, self.number()?);
        let (mut params, mut results) = (Vec::new(), Vec::new());
        loop {
            if self.eat_word("param") {
                let name = self.text("the name of the parameter")?;
                self.expect(":")?;
                let unique = self.eat_word("unique");
                params.push(EntryParam { name, ty: self.entry_type()?, unique });
            } else if self.eat_word("result") {
                results.push(self.entry_type()?);
            } else {
                break;
            }
        }
        self.names.truncate(outside);
        Ok(Entry { name, fun, size_params, params, size_results, results })
    }

    fn entry_type(&mut self) -> Parsed<EntryType> {
        if self.eat_word("value") {
            return Ok(EntryType::Value { name: self.text("a type in quotes")?, ty: self.ty()? });
        }
        self.expect_word("opaque")?;
        let name = self.text("a type in quotes")?;
        let types = self.types()?;
        let kind = if self.eat_word("record") {
            OpaqueKind::Record(self.list("(", ")", |p| {
                let field = p.text("a field in quotes")?;
                p.expect(":")?;
                Ok((field, p.entry_type()?))
            })?)
        } else if self.eat_word("sum") {
            OpaqueKind::Sum(self.list("(", ")", |p| {
                let name = p.text("a constructor in quotes")?;
                Ok((name, p.list("(", ")", Self::entry_type)?))
            })?)
        } else if self.eat_word("array") {
            OpaqueKind::Array(Box::new(self.entry_type()?))
        } else {
            OpaqueKind::Other
        };
        Ok(EntryType::Opaque { name, types, kind })
    }

    fn stm(&mut self) -> Parsed<Stm> {
        self.expect_word("let")?;
        let visible = self.names.len();
        let pat = self.params()?;
        // A name bound here is not visible in its own expression.
        let hidden: Vec<_> = self.names.drain(visible..).collect();
        self.expect("=")?;
        let exp = self.exp()?;
        self.names.truncate(visible);
        self.names.extend(hidden);
        let loc = self.loc()?;
        Ok(Stm { pat, exp, loc })
    }

    fn body(&mut self) -> Parsed<Body> {
        // Deep nesting must not overflow the stack.
        stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || {
            let visible = self.names.len();
            let mut stms = Vec::new();
            while matches!(self.peek(), Token::Word(word) if word == "let") {
                stms.push(self.stm()?);
            }
            self.expect_word("in")?;
            let result = self.atoms("(", ")")?;
            self.names.truncate(visible);
            Ok(Body { stms, result })
        })
    }

    fn lambda(&mut self) -> Parsed<Lambda> {
        self.expect("\\")?;
        let visible = self.names.len();
        let params = self.params()?;
        self.expect(":")?;
        let ret = self.types()?;
        self.expect("->")?;
        let body = self.body()?;
        self.names.truncate(visible);
        Ok(Lambda { params, body, ret })
    }
}

/// `f64.bits.7ff8000000000001`: a NaN with bits of its own.
fn constant_of_bits(word: &str) -> Option<Prim> {
    let (ty, bits) = word.split_once(".bits.")?;
    let bits = u64::from_str_radix(bits, 16).ok()?;
    let unsigned = match PrimType::from_name(ty)? {
        PrimType::F16 => Prim::U16(u16::try_from(bits).ok()?),
        PrimType::F32 => Prim::U32(u32::try_from(bits).ok()?),
        PrimType::F64 => Prim::U64(bits),
        _ => return None,
    };
    eval_unop(UnOp::FromBits, unsigned).ok()
}
