//! Patterns.

use super::{Parsed, Parser};
use crate::Span;
use crate::ast::{Ident, Literal, Pat, PatKind};
use crate::token::{Keyword, TokenKind};

impl Parser<'_> {
    fn make_pat(&mut self, kind: PatKind, span: Span) -> Pat {
        Pat { id: self.id(), kind, span }
    }

    /// Any pattern, with attributes and a type.
    pub(super) fn pattern(&mut self) -> Parsed<Pat> {
        self.nested(Self::pattern_here)
    }

    fn pattern_here(&mut self) -> Parsed<Pat> {
        let mut attrs = Vec::new();
        while self.at(TokenKind::HashBracket) {
            let start = self.here();
            attrs.push((start, self.attribute()?));
            self.check_chain(attrs.len())?;
        }
        let start = self.here();
        let mut pat = match self.peek() {
            TokenKind::Constructor(_) => self.constructor_pattern()?,
            _ => self.simple_pattern()?,
        };
        if self.eat(TokenKind::Colon) {
            let ty = self.type_exp()?;
            pat = self.make_pat(PatKind::Ascript(Box::new(pat), ty), self.since(start));
        }
        self.grow(attrs.len())?;
        for (start, attr) in attrs.into_iter().rev() {
            let span = start.to(pat.span);
            pat = self.make_pat(PatKind::Attr(attr, Box::new(pat)), span);
        }
        Ok(pat)
    }

    fn constructor_pattern(&mut self) -> Parsed<Pat> {
        let start = self.here();
        let TokenKind::Constructor(name) = self.peek() else {
            return Err(self.expected("a constructor, such as `#name`"));
        };
        let name = Ident { name, span: self.bump() };
        let mut args = Vec::new();
        while self.peek().starts_param() || self.at(TokenKind::Minus) {
            args.push(self.simple_pattern()?);
        }
        Ok(self.make_pat(PatKind::Constr { name, args }, self.since(start)))
    }

    /// A parameter of a function: a pattern that needs no brackets to stand beside others.
    pub(super) fn param(&mut self) -> Parsed<Pat> {
        if self.at(TokenKind::Minus) {
            return Err(
                self.expected_with("a parameter", |d| d.help("a negative number stands in parentheses"))
            );
        }
        self.simple_pattern()
    }

    fn simple_pattern(&mut self) -> Parsed<Pat> {
        let start = self.here();
        let kind = match self.peek() {
            TokenKind::Ident(name) => PatKind::Var(Ident { name, span: self.bump() }),
            TokenKind::Underscore => {
                self.bump();
                PatKind::Wildcard
            }
            TokenKind::LParen => self.paren_pattern()?,
            TokenKind::LBrace => {
                self.bump();
                let fields = self.comma_list(start, (TokenKind::RBrace, "}"), Self::field_pattern)?;
                PatKind::Record(fields)
            }
            TokenKind::Constructor(name) => {
                PatKind::Constr { name: Ident { name, span: self.bump() }, args: Vec::new() }
            }
            TokenKind::Minus => {
                self.bump();
                match self.literal() {
                    Some(Literal::Int(value, ty)) => PatKind::Lit(Literal::Int(-value, ty)),
                    Some(Literal::Float(value, ty)) => PatKind::Lit(Literal::Float(-value, ty)),
                    Some(Literal::Bool(_)) | None => return Err(self.expected("a number")),
                }
            }
            _ => match self.literal() {
                Some(literal) => PatKind::Lit(literal),
                None => {
                    self.name("a pattern")?;
                    return Err(self.expected("a pattern"));
                }
            },
        };
        Ok(self.make_pat(kind, self.since(start)))
    }

    /// Take the literal that stands here, if there is one.
    pub(super) fn literal(&mut self) -> Option<Literal> {
        let literal = match self.peek() {
            TokenKind::Nat(value) => Literal::Int(value, None),
            TokenKind::Lit(literal) => literal,
            TokenKind::Keyword(Keyword::True) => Literal::Bool(true),
            TokenKind::Keyword(Keyword::False) => Literal::Bool(false),
            _ => return None,
        };
        self.bump();
        Some(literal)
    }

    fn paren_pattern(&mut self) -> Parsed<PatKind> {
        if self.at_bound_operator() {
            return Ok(PatKind::Var(self.bound_operator()?));
        }
        let open = self.bump();
        let (mut pats, tuple) = self.tuple_or_single(open, Self::pattern)?;
        Ok(match pats.pop() {
            Some(only) if !tuple => PatKind::Paren(Box::new(only)),
            last => {
                pats.extend(last);
                PatKind::Tuple(pats)
            }
        })
    }

    /// `f = p`, `f: t` or `f`
    fn field_pattern(&mut self) -> Parsed<(Ident, Option<Pat>)> {
        let name = self.field_name()?;
        if self.eat(TokenKind::Equal) {
            return Ok((name, Some(self.pattern()?)));
        }
        if self.eat(TokenKind::Colon) {
            let var = self.make_pat(PatKind::Var(name), name.span);
            let ty = self.type_exp()?;
            let span = self.since(name.span);
            return Ok((name, Some(self.make_pat(PatKind::Ascript(Box::new(var), ty), span))));
        }
        Ok((name, None))
    }
}
