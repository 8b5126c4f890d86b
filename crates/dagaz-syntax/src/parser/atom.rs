//! Application, and the expressions that can be arguments.

use super::{Parsed, Parser};
use crate::ast::{Access, Exp, ExpKind, Field, Ident, QualName};
use crate::token::{Keyword, TokenKind};
use crate::{Diagnostic, Span};

impl Parser<'_> {
    /// `f a1 … an`; the last argument may be a function without parentheses.
    pub(super) fn application(&mut self) -> Parsed<Box<Exp>> {
        let mut first = self.atom()?;
        if !self.at_argument() && !self.at(TokenKind::Backslash) {
            return Ok(first);
        }
        let mut args = Vec::new();
        while self.at_argument() {
            args.push(*self.atom()?);
        }
        if self.at(TokenKind::Backslash) {
            args.push(*self.exp()?);
        }
        self.warn_of_split_index(&first, &args);
        let span = self.since(first.span);
        if let ExpKind::Constr { args: none, .. } = &mut first.kind
            && none.is_empty()
        {
            *none = args;
            first.span = span;
            return Ok(first);
        }
        Ok(self.make(ExpKind::App { fun: first, args }, span))
    }

    /// Whether an argument starts here, and not the declaration of an index type.
    fn at_argument(&self) -> bool {
        self.peek().starts_atom() && !self.at_index_type()
    }

    /// `a[i] [j]` would apply an element of an array to an array.
    fn warn_of_split_index(&mut self, fun: &Exp, args: &[Exp]) {
        if let (ExpKind::Index(..), Some(Exp { kind: ExpKind::Array(_), span, .. })) =
            (&fun.kind, args.first())
        {
            let message = "an element of an array is not a function that could be applied to an array";
            let diagnostic =
                Diagnostic::error("split-index", *span, message).label(fun.span, "this is indexed");
            self.report(diagnostic.help("to index in several dimensions, write `a[i, j]` or `a[i][j]`"));
        }
    }

    /// An expression in brackets, a name or a literal, with the fields and indices behind it.
    pub(super) fn atom(&mut self) -> Parsed<Box<Exp>> {
        let height_beside = std::mem::take(&mut self.height);
        let exp = self.atom_here();
        self.height = height_beside.max(self.height);
        exp
    }

    fn atom_here(&mut self) -> Parsed<Box<Exp>> {
        let mut exp = match self.peek() {
            TokenKind::Ident(name) => {
                let span = self.bump();
                self.variable(Ident { name, span })?
            }
            _ => self.primary()?,
        };
        let mut links = 0;
        loop {
            let start = exp.span;
            let kind = match self.peek() {
                TokenKind::Dot => {
                    self.bump();
                    let field = self.projected_field()?;
                    ExpKind::Project(exp, field)
                }
                TokenKind::IndexBracket => {
                    let indices = self.indices()?;
                    ExpKind::Index(exp, indices)
                }
                _ => {
                    self.grow(links)?;
                    return Ok(exp);
                }
            };
            links += 1;
            self.check_chain(links)?;
            exp = self.make(kind, self.since(start));
        }
    }

    fn projected_field(&mut self) -> Parsed<Ident> {
        if self.at(TokenKind::LParen) {
            let help = "only a module can be opened for an expression: `m.(e)`";
            return Err(self.expected_with("the name of a field", |d| d.help(help)));
        }
        self.field_name()
    }

    /// A qualified name, or a module opened for an expression: `m.(e)`. The first name has been read.
    fn variable(&mut self, first: Ident) -> Parsed<Box<Exp>> {
        let mut quals = Vec::new();
        let mut last = first;
        while self.at(TokenKind::Dot)
            && let TokenKind::Ident(name) = self.peek_at(1)
        {
            self.bump();
            quals.push(last);
            last = Ident { name, span: self.bump() };
        }
        let name = QualName { quals, name: last.name, span: first.span.to(last.span) };
        if self.at(TokenKind::Dot) && self.peek_at(1) == TokenKind::LParen {
            self.bump();
            return self.recovering(|p| p.local_open(name));
        }
        let span = name.span;
        Ok(self.make(ExpKind::Var(name), span))
    }

    fn local_open(&mut self, module: QualName) -> Parsed<Box<Exp>> {
        let open = self.bump();
        let body = self.exp()?;
        self.expect_closer(open, TokenKind::RParen, ")")?;
        let span = self.since(module.span);
        Ok(self.make(ExpKind::LocalOpen { module, body }, span))
    }

    fn primary(&mut self) -> Parsed<Box<Exp>> {
        let start = self.here();
        let kind = match self.peek() {
            TokenKind::LParen => return self.recovering(Self::paren),
            TokenKind::LBracket => return self.recovering(Self::array),
            TokenKind::LBrace => return self.recovering(Self::record),
            TokenKind::Str(index) => ExpKind::Str(std::mem::take(&mut self.lexed.strings[index as usize])),
            TokenKind::Constructor(name) => {
                ExpKind::Constr { name: Ident { name, span: start }, args: Vec::new() }
            }
            TokenKind::Hole => ExpKind::Hole,
            _ => {
                return match self.literal() {
                    Some(literal) => Ok(self.make(ExpKind::Lit(literal), start)),
                    None => Err(self.expected_expression()),
                };
            }
        };
        self.bump();
        Ok(self.make(kind, start))
    }

    fn expected_expression(&mut self) -> super::Failed {
        let help = match self.peek() {
            TokenKind::Equal => Some("to compare two values, write `==`"),
            TokenKind::Keyword(Keyword::In | Keyword::Then | Keyword::Else | Keyword::Do | Keyword::Case) => {
                Some("an expression is missing before this word")
            }
            TokenKind::Underscore => Some("`_` is a pattern; a value that is still missing is written `???`"),
            TokenKind::Quote => {
                Some("a character literal holds one character: 'a'; a string is written \"…\"")
            }
            kind if kind.is_operator() => {
                Some("an operand is missing; the operator as a function is written `(+)`")
            }
            _ => None,
        };
        self.expected_with("an expression", |d| help.into_iter().fold(d, Diagnostic::help))
    }

    fn array(&mut self) -> Parsed<Box<Exp>> {
        let open = self.bump();
        let elements = self.nested(|p| p.comma_list(open, (TokenKind::RBracket, "]"), |p| Ok(*p.exp()?)))?;
        Ok(self.make(ExpKind::Array(elements), self.since(open)))
    }

    fn record(&mut self) -> Parsed<Box<Exp>> {
        let open = self.bump();
        let fields = self.nested(|p| p.comma_list(open, (TokenKind::RBrace, "}"), Self::field))?;
        Ok(self.make(ExpKind::Record(fields), self.since(open)))
    }

    fn field(&mut self) -> Parsed<Field> {
        let number = matches!(self.peek(), TokenKind::Nat(_));
        let name = self.field_name()?;
        if number || self.at(TokenKind::Equal) {
            self.expect_equal()?;
            return Ok(Field::Explicit(name, *self.exp()?));
        }
        if self.at(TokenKind::Colon) {
            let help = "the value of a field is given with `=`";
            return Err(self.expected_with("`=`", |d| d.help(help)));
        }
        Ok(Field::Implicit(name, self.id()))
    }

    // -----------------------------------------------------------------------------------------------
    // Parentheses

    fn paren(&mut self) -> Parsed<Box<Exp>> {
        let open = self.bump();
        match self.peek() {
            TokenKind::Dot => return self.access_section(open),
            // `(-x)` is a negation.
            TokenKind::Minus if self.peek_at(1) != TokenKind::RParen => {}
            kind if kind.is_operator() => return self.operator_or_section(open),
            _ => {}
        }
        if self.eat(TokenKind::RParen) {
            return Ok(self.make(ExpKind::Tuple(Vec::new()), self.since(open)));
        }
        let first = self.exp()?;
        if self.peek().is_operator() {
            let op = self.operator()?;
            self.expect_closer(open, TokenKind::RParen, ")")?;
            return Ok(self.make(ExpKind::SectionLeft { op, lhs: first }, self.since(open)));
        }
        if !self.at(TokenKind::Comma) {
            self.expect_closer(open, TokenKind::RParen, ")")?;
            return Ok(self.make(ExpKind::Paren(first), self.since(open)));
        }
        self.tuple_after(open, first)
    }

    fn tuple_after(&mut self, open: Span, first: Box<Exp>) -> Parsed<Box<Exp>> {
        self.bump();
        if self.at(TokenKind::RParen) {
            return Err(self.expected("the second component of the tuple"));
        }
        let mut components = vec![*first];
        components.extend(self.comma_list(open, (TokenKind::RParen, ")"), |p| Ok(*p.exp()?))?);
        Ok(self.make(ExpKind::Tuple(components), self.since(open)))
    }

    /// `(+)` or `(+ e)`
    fn operator_or_section(&mut self, open: Span) -> Parsed<Box<Exp>> {
        let op = self.operator()?;
        if self.eat(TokenKind::RParen) {
            return Ok(self.make(ExpKind::Var(op), self.since(open)));
        }
        let rhs = self.exp_without_ascription()?;
        self.expect_closer(open, TokenKind::RParen, ")")?;
        Ok(self.make(ExpKind::SectionRight { op, rhs }, self.since(open)))
    }

    /// `(.f.g)`, `(.[i])`
    fn access_section(&mut self, open: Span) -> Parsed<Box<Exp>> {
        self.bump();
        let first = match self.peek() {
            TokenKind::LBracket | TokenKind::IndexBracket => self.index_access()?,
            _ => Access::Field(self.field_name()?),
        };
        let mut path = vec![first];
        path.extend(self.access_path()?);
        self.expect_closer(open, TokenKind::RParen, ")")?;
        Ok(self.make(ExpKind::SectionAccess(path), self.since(open)))
    }
}
