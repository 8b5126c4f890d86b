//! Type expressions.

use super::{Parsed, Parser};
use crate::Span;
use crate::ast::{Exp, Ident, TypeArg, TypeExp, TypeExpKind};
use crate::token::TokenKind;

impl Parser<'_> {
    fn make_type(&mut self, kind: TypeExpKind, span: Span) -> TypeExp {
        TypeExp { id: self.id(), kind, span }
    }

    pub(super) fn type_exp(&mut self) -> Parsed<TypeExp> {
        self.nested(Self::arrow_type)
    }

    /// `a -> b -> c`, right-associative, and `?[n].t`.
    fn arrow_type(&mut self) -> Parsed<TypeExp> {
        let mut froms: Vec<(Span, Option<Ident>, TypeExp)> = Vec::new();
        let mut result = loop {
            self.check_chain(froms.len())?;
            let start = self.here();
            if self.at(TokenKind::Question) {
                break self.existential()?;
            }
            let named = self.at(TokenKind::LParen)
                && matches!(self.peek_at(1), TokenKind::Ident(_))
                && self.peek_at(2) == TokenKind::Colon;
            if named {
                let (name, from) = self.named_param()?;
                self.expect_arrow()?;
                froms.push((start, Some(name), from));
                continue;
            }
            let from = self.type_term()?;
            if !self.eat(TokenKind::Arrow) {
                break from;
            }
            froms.push((start, None, from));
        };
        self.grow(froms.len())?;
        for (start, param, from) in froms.into_iter().rev() {
            let span = start.to(result.span);
            let kind = TypeExpKind::Arrow { param, from: Box::new(from), to: Box::new(result) };
            result = self.make_type(kind, span);
        }
        Ok(result)
    }

    /// `(x: t)`
    fn named_param(&mut self) -> Parsed<(Ident, TypeExp)> {
        let open = self.bump();
        let name = self.name("the name of a parameter")?;
        self.expect(TokenKind::Colon, "`:`")?;
        let ty = self.type_exp()?;
        self.expect_closer(open, TokenKind::RParen, ")")?;
        Ok((name, ty))
    }

    fn existential(&mut self) -> Parsed<TypeExp> {
        let start = self.bump();
        let mut sizes = Vec::new();
        while matches!(self.peek(), TokenKind::LBracket | TokenKind::IndexBracket) {
            sizes.push(self.size_binder()?);
        }
        if sizes.is_empty() {
            return Err(self.expected("`[` and the name of a size"));
        }
        self.expect(TokenKind::Dot, "`.` and a type")?;
        let body = Box::new(self.type_exp()?);
        Ok(self.make_type(TypeExpKind::Exists { sizes, body }, self.since(start)))
    }

    /// A type without an arrow outside of brackets.
    pub(super) fn type_term(&mut self) -> Parsed<TypeExp> {
        let mut prefixes = Vec::new();
        while self.at(TokenKind::Star) {
            prefixes.push(self.bump());
            self.check_chain(prefixes.len())?;
        }
        let mut ty = match self.peek() {
            TokenKind::Constructor(_) => self.sum_type()?,
            _ => self.type_application()?,
        };
        self.grow(prefixes.len())?;
        for start in prefixes.into_iter().rev() {
            let span = start.to(ty.span);
            ty = self.make_type(TypeExpKind::Unique(Box::new(ty)), span);
        }
        Ok(ty)
    }

    fn sum_type(&mut self) -> Parsed<TypeExp> {
        let start = self.here();
        let mut clauses = Vec::new();
        loop {
            let TokenKind::Constructor(name) = self.peek() else {
                return Err(self.expected("a constructor, such as `#name`"));
            };
            let name = Ident { name, span: self.bump() };
            let mut payload = Vec::new();
            while self.at_type_atom() {
                payload.push(self.type_atom()?);
            }
            clauses.push((name, payload));
            if !self.eat(TokenKind::Bar) {
                break;
            }
        }
        Ok(self.make_type(TypeExpKind::Sum(clauses), self.since(start)))
    }

    fn at_type_atom(&self) -> bool {
        use TokenKind::*;
        matches!(self.peek(), LParen | LBrace | LBracket | IndexBracket | Ident(_)) && !self.at_index_type()
    }

    /// A size in brackets is always an argument here: `t [n] a` is `t` applied to `[n]` and `a`.
    fn type_application(&mut self) -> Parsed<TypeExp> {
        let start = self.here();
        let fun = self.type_atom()?;
        let mut args = Vec::new();
        while self.at_type_atom() {
            if matches!(self.peek(), TokenKind::LBracket | TokenKind::IndexBracket) {
                let (dim, span) = self.size()?;
                args.push(TypeArg::Size { dim, span });
            } else {
                args.push(TypeArg::Type(self.type_atom()?));
            }
        }
        if args.is_empty() {
            return Ok(fun);
        }
        let kind = TypeExpKind::Apply { fun: Box::new(fun), args };
        Ok(self.make_type(kind, self.since(start)))
    }

    fn type_atom(&mut self) -> Parsed<TypeExp> {
        let start = self.here();
        let kind = match self.peek() {
            TokenKind::LParen => self.paren_type()?,
            TokenKind::LBrace => {
                self.bump();
                let fields = self.comma_list(start, (TokenKind::RBrace, "}"), |p| {
                    let name = p.field_name()?;
                    p.expect(TokenKind::Colon, "`:` and the type of the field")?;
                    Ok((name, p.type_exp()?))
                })?;
                TypeExpKind::Record(fields)
            }
            TokenKind::LBracket | TokenKind::IndexBracket => return self.array_type(),
            _ => TypeExpKind::Var(self.qual_name("a type")?),
        };
        Ok(self.make_type(kind, self.since(start)))
    }

    fn paren_type(&mut self) -> Parsed<TypeExpKind> {
        let open = self.bump();
        let (mut types, tuple) = self.tuple_or_single(open, Self::type_exp)?;
        Ok(match types.pop() {
            Some(only) if !tuple => TypeExpKind::Paren(Box::new(only)),
            last => {
                types.extend(last);
                TypeExpKind::Tuple(types)
            }
        })
    }

    fn array_type(&mut self) -> Parsed<TypeExp> {
        let mut sizes = Vec::new();
        while matches!(self.peek(), TokenKind::LBracket | TokenKind::IndexBracket) {
            sizes.push(self.size()?);
            self.check_chain(sizes.len())?;
        }
        let mut ty = self.nested(Self::type_term)?;
        self.grow(sizes.len())?;
        for (dim, span) in sizes.into_iter().rev() {
            let span = span.to(ty.span);
            ty = self.make_type(TypeExpKind::Array { dim, elem: Box::new(ty) }, span);
        }
        Ok(ty)
    }

    /// `[e]` or `[]`
    fn size(&mut self) -> Parsed<(Option<Box<Exp>>, Span)> {
        let open = self.bump();
        let dim = if self.at(TokenKind::RBracket) { None } else { Some(self.exp()?) };
        self.expect_closer(open, TokenKind::RBracket, "]")?;
        Ok((dim, self.since(open)))
    }
}
