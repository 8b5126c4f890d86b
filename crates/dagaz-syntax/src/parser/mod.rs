//! The recursive descent parser.
//!
//! A function that reads a construct either returns it or has reported what is wrong and returns
//! [`Failed`]. Failures are caught at brackets ([`Parser::recovering`]), at `let` bindings and at
//! declarations, where the parser skips to a place from which it can go on.
//!
//! Constructs that programs chain without end (bindings, operators, applications, `else if`, …) are read
//! by loops; true nesting is counted by [`Parser::nested`] and limited, so that no input overflows the
//! stack.

mod atom;
mod dec;
mod expression;
mod module;
mod operator;
mod pattern;
mod types;

use crate::ast::{Attr, AttrKind, DocComment, Exp, ExpKind, Ident, NodeId, Program, QualName, TypeExp};
use crate::brackets::BracketTable;
use crate::lexer::{Lexed, MOST_DIAGNOSTICS, lex};
use crate::token::{Keyword, Token, TokenKind};
use crate::{Diagnostic, FileId, Name, Span};

/// How deep brackets, functions and types may nest. With it, the parser needs less than 4 MiB of stack in
/// debug builds, and about half of that as a rule.
const DEEPEST_NESTING: u32 = 500;

/// How tall the tree may grow where chains of bindings, operators or accesses make it tall: walking or
/// dropping a tree takes stack in proportion.
const TALLEST_TREE: usize = 25_000;

/// Something could not be read, and the user has been told.
#[derive(Debug)]
pub(crate) struct Failed;

pub(crate) type Parsed<T> = Result<T, Failed>;

pub(crate) fn program(file: FileId, text: &str) -> (Program, Vec<Diagnostic>) {
    let mut parser = Parser::new(file, text);
    let doc = parser.take_file_doc();
    let decs = parser.decs();
    let program = Program {
        doc,
        decs,
        comments: std::mem::take(&mut parser.lexed.comments),
        node_count: parser.next_id,
    };
    (program, parser.finish())
}

pub(crate) fn expression(file: FileId, text: &str) -> (Exp, u32, Vec<Diagnostic>) {
    let mut parser = Parser::new(file, text);
    let exp = parser.exp().and_then(|exp| parser.expect_end().map(|()| exp));
    let exp = exp.unwrap_or_else(|Failed| parser.error_exp(parser.whole_span()));
    (*exp, parser.next_id, parser.finish())
}

pub(crate) fn type_expression(file: FileId, text: &str) -> (Option<TypeExp>, u32, Vec<Diagnostic>) {
    let mut parser = Parser::new(file, text);
    let ty = parser.type_exp().and_then(|ty| parser.expect_end().map(|()| ty));
    (ty.ok(), parser.next_id, parser.finish())
}

struct Parser<'t> {
    file: FileId,
    text: &'t str,
    lexed: Lexed,
    brackets: BracketTable,
    pos: usize,
    next_id: u32,
    depth: u32,
    /// How many bodies of modules or module types are being read.
    in_braces: u32,
    /// Whether the file defines the operator `+=` itself.
    defines_accumulate: bool,
    /// The height of the tallest tree read so far on this level of nesting.
    height: usize,
    /// The token the last error was about: one place is reported once.
    last_error: Option<usize>,
}

impl<'t> Parser<'t> {
    fn new(file: FileId, text: &'t str) -> Parser<'t> {
        let lexed = lex(file, text);
        let brackets = BracketTable::new(&lexed.tokens);
        let defines_accumulate = defines_accumulate(&lexed.tokens);
        Parser {
            file,
            text,
            lexed,
            brackets,
            pos: 0,
            next_id: 0,
            depth: 0,
            in_braces: 0,
            defines_accumulate,
            height: 0,
            last_error: None,
        }
    }

    fn finish(mut self) -> Vec<Diagnostic> {
        self.lexed.diagnostics.sort_by_key(|diagnostic| diagnostic.span().start);
        self.lexed.diagnostics
    }

    // -----------------------------------------------------------------------------------------------
    // Tokens

    fn token_at(&self, index: usize) -> Token {
        self.lexed.tokens[index.min(self.lexed.tokens.len() - 1)]
    }

    fn peek(&self) -> TokenKind {
        self.token_at(self.pos).kind
    }

    fn peek_at(&self, ahead: usize) -> TokenKind {
        self.token_at(self.pos + ahead).kind
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.peek() == kind
    }

    fn at_keyword(&self, keyword: Keyword) -> bool {
        self.peek().is(keyword)
    }

    /// Step over the current token; the end of the file is never passed.
    fn bump(&mut self) -> Span {
        let span = self.here();
        if !self.at(TokenKind::Eof) {
            self.pos += 1;
        }
        span
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        self.eat(TokenKind::Keyword(keyword))
    }

    fn span_of(&self, token: Token) -> Span {
        Span { file: self.file, start: token.start, end: token.end }
    }

    fn here(&self) -> Span {
        self.span_of(self.token_at(self.pos))
    }

    /// The span of the token before the current one.
    fn before(&self) -> Span {
        self.span_of(self.token_at(self.pos.saturating_sub(1)))
    }

    fn since(&self, start: Span) -> Span {
        start.to(self.before())
    }

    fn whole_span(&self) -> Span {
        Span::new(self.file, 0, self.text.len())
    }

    fn token_text(&self) -> &'t str {
        let token = self.token_at(self.pos);
        &self.text[token.start as usize..token.end as usize]
    }

    fn id(&mut self) -> NodeId {
        let id = NodeId(self.next_id);
        self.next_id += 1;
        id
    }

    /// A new expression. The parser only passes expressions on in boxes, to keep its stack frames small.
    #[inline(never)]
    fn make(&mut self, kind: ExpKind, span: Span) -> Box<Exp> {
        Box::new(Exp { id: self.id(), kind, span })
    }

    #[inline(never)]
    fn error_exp(&mut self, span: Span) -> Box<Exp> {
        self.make(ExpKind::Error, span)
    }

    // -----------------------------------------------------------------------------------------------
    // Errors

    fn report(&mut self, diagnostic: Diagnostic) -> Failed {
        self.last_error = Some(self.pos);
        if self.lexed.diagnostics.len() < MOST_DIAGNOSTICS {
            self.lexed.diagnostics.push(diagnostic);
        }
        Failed
    }

    /// Whether something has been said about the current token already, by the lexer or the parser.
    fn already_reported(&self) -> bool {
        self.last_error == Some(self.pos) || self.at(TokenKind::Unknown)
    }

    /// What stands here, for a message.
    fn found(&self) -> String {
        match self.peek() {
            TokenKind::Eof => "the end of the text".to_owned(),
            TokenKind::Keyword(word) => format!("the reserved word `{}`", word.text()),
            _ => {
                let text = self.token_text();
                let shown: String = text.chars().take(30).collect();
                if shown.len() < text.len() { format!("`{shown}…`") } else { format!("`{shown}`") }
            }
        }
    }

    fn expected(&mut self, what: &str) -> Failed {
        self.expected_with(what, |diagnostic| diagnostic)
    }

    /// Report that `what` was expected here; `improve` may add help and labels.
    fn expected_with(&mut self, what: &str, improve: impl FnOnce(Diagnostic) -> Diagnostic) -> Failed {
        if self.already_reported() {
            return Failed;
        }
        let message = format!("expected {what}, found {}", self.found());
        let diagnostic = Diagnostic::error("syntax-error", self.here(), message);
        let diagnostic = improve(diagnostic).at(format!("expected {what}"));
        self.report(diagnostic)
    }

    fn expect(&mut self, kind: TokenKind, what: &str) -> Parsed<Span> {
        if self.at(kind) { Ok(self.bump()) } else { Err(self.expected(what)) }
    }

    fn expect_equal(&mut self) -> Parsed<Span> {
        self.expect(TokenKind::Equal, "`=`")
    }

    fn expect_arrow(&mut self) -> Parsed<Span> {
        if self.at(TokenKind::Arrow) {
            return Ok(self.bump());
        }
        let fat = self.token_text() == "=>";
        Err(self.expected_with("`->`", |d| if fat { d.help("write `->` instead of `=>`") } else { d }))
    }

    /// Expect a keyword of an expression; `help` says what it is for.
    fn expect_keyword(&mut self, keyword: Keyword, help: &str) -> Parsed<Span> {
        if self.at_keyword(keyword) {
            return Ok(self.bump());
        }
        let equal = self.at(TokenKind::Equal);
        let what = format!("`{}`", keyword.text());
        Err(self.expected_with(&what, |d| {
            if equal { d.help("to compare two values, write `==`") } else { d.help(help) }
        }))
    }

    /// Expect the closing bracket of the one at `open`.
    fn expect_closer(&mut self, open: Span, closer: TokenKind, text: &str) -> Parsed<Span> {
        if self.at(closer) {
            return Ok(self.bump());
        }
        let equal = self.at(TokenKind::Equal);
        let what = format!("`,` or `{text}`");
        Err(self.expected_with(&what, |d| {
            let d = d.label(open, "this bracket is open");
            if equal { d.help("to compare two values, write `==`") } else { d }
        }))
    }

    fn expect_end(&mut self) -> Parsed<()> {
        if self.at(TokenKind::Eof) { Ok(()) } else { Err(self.expected("the end of the text")) }
    }

    /// Go one level deeper, unless that is too deep.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.nested_by(1, parse)
    }

    /// Go deeper by a construct that needs as much of the stack as `levels` others.
    fn nested_by<T>(&mut self, levels: u32, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth + levels > DEEPEST_NESTING {
            if self.already_reported() {
                return Err(Failed);
            }
            let message = format!("this is nested too deeply: more than {DEEPEST_NESTING} levels");
            let diagnostic = Diagnostic::error("nested-too-deeply", self.here(), message);
            return Err(self.report(diagnostic.help("give parts of it a name with `let` or `def`")));
        }
        self.depth += levels;
        let height_beside = std::mem::take(&mut self.height);
        let result = parse(self);
        self.height = height_beside.max(self.height + 1);
        self.depth -= levels;
        result
    }

    /// Fail when a chain of `links` would make the tree too tall.
    fn check_chain(&mut self, links: usize) -> Parsed<()> {
        if links + self.height < TALLEST_TREE {
            return Ok(());
        }
        let message =
            format!("this chain is too long: the tree would be more than {TALLEST_TREE} levels tall");
        let diagnostic = Diagnostic::error("chain-too-long", self.here(), message);
        Err(self.report(diagnostic.help("give parts of it a name with `def`")))
    }

    /// A chain of `links` has been put around what was read on this level.
    fn grow(&mut self, links: usize) -> Parsed<()> {
        self.check_chain(links)?;
        self.height += links;
        Ok(())
    }

    /// Read a bracketed expression that starts here; if that fails, skip behind its closing bracket.
    fn recovering(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<Box<Exp>>) -> Parsed<Box<Exp>> {
        let (open, start) = (self.pos, self.here());
        if let Ok(exp) = parse(self) {
            return Ok(exp);
        }
        match self.brackets.closer_of(open) {
            Some(closer) if closer >= self.pos => {
                self.pos = closer + 1;
                Ok(self.error_exp(self.since(start)))
            }
            _ => Err(Failed),
        }
    }

    // -----------------------------------------------------------------------------------------------
    // Names, lists and attributes

    fn name(&mut self, what: &str) -> Parsed<Ident> {
        if let TokenKind::Ident(name) = self.peek() {
            return Ok(Ident { name, span: self.bump() });
        }
        let reserved = match self.peek() {
            TokenKind::Keyword(word) => Some(word.text()),
            _ => None,
        };
        Err(self.expected_with(what, |d| match reserved {
            Some(word) => d.help(format!("`{word}` cannot be used as a name; `{word}_` can")),
            None => d,
        }))
    }

    /// The name of a record field, which may be a number.
    fn field_name(&mut self) -> Parsed<Ident> {
        if let TokenKind::Nat(_) = self.peek() {
            let name = Name::new(self.token_text());
            return Ok(Ident { name, span: self.bump() });
        }
        self.name("the name of a field")
    }

    fn qual_name(&mut self, what: &str) -> Parsed<QualName> {
        let mut last = self.name(what)?;
        let start = last.span;
        let mut quals = Vec::new();
        while self.at(TokenKind::Dot) && matches!(self.peek_at(1), TokenKind::Ident(_)) {
            self.bump();
            quals.push(last);
            last = self.name(what)?;
        }
        Ok(QualName { quals, name: last.name, span: start.to(last.span) })
    }

    /// Items separated by commas, with an optional trailing one, up to the closing bracket of the opening
    /// one at `open`, which has been read.
    fn comma_list<T>(
        &mut self,
        open: Span,
        (closer, text): (TokenKind, &str),
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.at(closer) {
            items.push(item(self)?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect_closer(open, closer, text)?;
        Ok(items)
    }

    /// What stands in parentheses, and whether it is a tuple rather than one thing in parentheses.
    fn tuple_or_single<T>(
        &mut self,
        open: Span,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<(Vec<T>, bool)> {
        if self.eat(TokenKind::RParen) {
            return Ok((Vec::new(), true));
        }
        let first = item(self)?;
        if !self.at(TokenKind::Comma) {
            self.expect_closer(open, TokenKind::RParen, ")")?;
            return Ok((vec![first], false));
        }
        self.bump();
        if self.at(TokenKind::RParen) {
            return Err(self.expected("the second component of the tuple"));
        }
        let mut items = vec![first];
        items.extend(self.comma_list(open, (TokenKind::RParen, ")"), item)?);
        Ok((items, true))
    }

    /// `#[attr]`
    fn attribute(&mut self) -> Parsed<Attr> {
        let open = self.bump();
        let attr = self.attr_info()?;
        self.expect_closer(open, TokenKind::RBracket, "]")?;
        Ok(attr)
    }

    fn attr_info(&mut self) -> Parsed<Attr> {
        let start = self.here();
        let kind = match self.peek() {
            TokenKind::Nat(value) | TokenKind::Lit(crate::ast::Literal::Int(value, None)) => {
                self.bump();
                AttrKind::Int(value)
            }
            _ => {
                let name = self.name("an attribute")?.name;
                if self.at(TokenKind::LParen) {
                    let open = self.bump();
                    let parts =
                        self.nested(|p| p.comma_list(open, (TokenKind::RParen, ")"), Self::attr_info))?;
                    AttrKind::Compound(name, parts)
                } else {
                    AttrKind::Name(name)
                }
            }
        };
        Ok(Attr { kind, span: self.since(start) })
    }

    // -----------------------------------------------------------------------------------------------
    // Documentation

    /// The documentation block that opens the file describes the file.
    fn take_file_doc(&mut self) -> Option<DocComment> {
        match self.lexed.docs.first() {
            Some((0, _)) => Some(self.lexed.docs.remove(0).1),
            _ => None,
        }
    }

    /// The documentation block right before the current token.
    fn doc_here(&self) -> Option<DocComment> {
        let after = self.lexed.docs.partition_point(|&(index, _)| index <= self.pos);
        let (index, doc) = self.lexed.docs[..after].last()?;
        (*index == self.pos).then(|| doc.clone())
    }
}

/// Whether some declaration binds `+=`: `def (+=) …` or `def x += y`.
fn defines_accumulate(tokens: &[Token]) -> bool {
    let accumulate = |token: &Token| token.kind == TokenKind::Symbol(Name::new("+="));
    let binds = |token: &Token| matches!(token.kind, TokenKind::Keyword(Keyword::Def | Keyword::Let));
    tokens.windows(3).any(|w| binds(&w[0]) && w[1..].iter().any(accumulate))
}
