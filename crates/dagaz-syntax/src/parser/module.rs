//! Module expressions, module types and specifications.

use super::{Parsed, Parser};
use crate::ast::{ModExp, ModExpKind, ModTypeExp, ModTypeExpKind, Spec, SpecKind};
use crate::token::{Keyword, TokenKind};

impl Parser<'_> {
    pub(super) fn mod_exp(&mut self) -> Parsed<ModExp> {
        let start = self.here();
        let mut exp = self.nested_by(2, Self::mod_exp_without_ascription)?;
        let mut links = 0;
        while self.eat(TokenKind::Colon) {
            links += 1;
            self.check_chain(links)?;
            let ty = self.mod_type_exp()?;
            exp = ModExp { kind: ModExpKind::Ascript(Box::new(exp), ty), span: self.since(start) };
        }
        self.grow(links)?;
        Ok(exp)
    }

    /// The body of a function does not reach over an ascription: `\p -> m : t` is `(\p -> m) : t`.
    fn mod_exp_without_ascription(&mut self) -> Parsed<ModExp> {
        let start = self.here();
        let kind = match self.peek() {
            TokenKind::Backslash => {
                self.bump();
                let param = self.mod_param()?;
                let sig = if self.eat(TokenKind::Colon) { Some(self.mod_type_atom()?) } else { None };
                self.expect_arrow()?;
                let body = Box::new(self.nested(Self::mod_exp_without_ascription)?);
                ModExpKind::Lambda { param, sig, body }
            }
            TokenKind::Keyword(Keyword::Import) => {
                self.bump();
                let (path, path_span) = self.import_path()?;
                ModExpKind::Import { path, path_span }
            }
            _ => return self.mod_apply(),
        };
        Ok(ModExp { kind, span: self.since(start) })
    }

    fn mod_apply(&mut self) -> Parsed<ModExp> {
        let start = self.here();
        let mut exp = self.mod_atom()?;
        let mut links = 0;
        while matches!(self.peek(), TokenKind::Ident(_) | TokenKind::LParen | TokenKind::LBrace) {
            links += 1;
            self.check_chain(links)?;
            let arg = self.mod_atom()?;
            let kind = ModExpKind::Apply(Box::new(exp), Box::new(arg));
            exp = ModExp { kind, span: self.since(start) };
        }
        self.grow(links)?;
        Ok(exp)
    }

    fn mod_atom(&mut self) -> Parsed<ModExp> {
        let start = self.here();
        let kind = match self.peek() {
            TokenKind::LParen => {
                let open = self.bump();
                let inner = self.mod_exp()?;
                self.expect_closer(open, TokenKind::RParen, ")")?;
                ModExpKind::Paren(Box::new(inner))
            }
            TokenKind::LBrace => ModExpKind::Decs(self.braced(Self::dec)?),
            _ => ModExpKind::Var(self.qual_name("a module")?),
        };
        Ok(ModExp { kind, span: self.since(start) })
    }

    // -----------------------------------------------------------------------------------------------
    // Module types

    pub(super) fn mod_type_exp(&mut self) -> Parsed<ModTypeExp> {
        self.nested(Self::mod_type_arrow)
    }

    fn mod_type_arrow(&mut self) -> Parsed<ModTypeExp> {
        let start = self.here();
        let named = self.at(TokenKind::LParen)
            && matches!(self.peek_at(1), TokenKind::Ident(_))
            && self.peek_at(2) == TokenKind::Colon;
        let (param, from) = if named {
            let param = self.mod_param()?;
            (Some(param.name), param.ty)
        } else {
            (None, self.mod_type_with()?)
        };
        if !named && !self.at(TokenKind::Arrow) {
            return Ok(from);
        }
        self.expect_arrow()?;
        let to = Box::new(self.mod_type_exp()?);
        let kind = ModTypeExpKind::Arrow { param, from: Box::new(from), to };
        Ok(ModTypeExp { kind, span: self.since(start) })
    }

    fn mod_type_with(&mut self) -> Parsed<ModTypeExp> {
        let start = self.here();
        let mut exp = self.mod_type_atom()?;
        let mut links = 0;
        while self.eat_keyword(Keyword::With) {
            links += 1;
            self.check_chain(links)?;
            let name = self.qual_name("the name of a type")?;
            let params = self.type_params()?;
            self.expect_equal()?;
            let ty = self.type_exp()?;
            let kind = ModTypeExpKind::With { base: Box::new(exp), name, params, ty };
            exp = ModTypeExp { kind, span: self.since(start) };
        }
        self.grow(links)?;
        Ok(exp)
    }

    fn mod_type_atom(&mut self) -> Parsed<ModTypeExp> {
        let start = self.here();
        let kind = match self.peek() {
            TokenKind::LParen => {
                let open = self.bump();
                let inner = self.mod_type_exp()?;
                self.expect_closer(open, TokenKind::RParen, ")")?;
                ModTypeExpKind::Paren(Box::new(inner))
            }
            TokenKind::LBrace => ModTypeExpKind::Specs(self.braced(Self::spec)?),
            _ => ModTypeExpKind::Var(self.qual_name("a module type")?),
        };
        Ok(ModTypeExp { kind, span: self.since(start) })
    }

    // -----------------------------------------------------------------------------------------------
    // Specifications

    fn spec(&mut self) -> Parsed<Spec> {
        let start = self.here();
        let doc = self.doc_here();
        let mut attrs = Vec::new();
        while self.at(TokenKind::HashBracket) {
            attrs.push(self.attribute()?);
        }
        let TokenKind::Keyword(word) = self.peek() else {
            return Err(self.expected("a specification"));
        };
        let kind = match word {
            Keyword::Val => self.val_spec()?,
            Keyword::Type => self.type_spec()?,
            Keyword::Module => {
                self.bump();
                let name = self.name("the name of a module")?;
                self.expect(TokenKind::Colon, "`:` and a module type")?;
                SpecKind::Module { name, ty: self.mod_type_exp()? }
            }
            Keyword::Include => {
                self.bump();
                SpecKind::Include(self.mod_type_exp()?)
            }
            Keyword::Def | Keyword::Let | Keyword::Entry => {
                let help = "in a module type, a value is specified with `val name : type`";
                return Err(self.expected_with("a specification", |d| d.help(help)));
            }
            _ => return Err(self.expected("a specification")),
        };
        Ok(Spec { kind, span: self.since(start), doc, attrs })
    }

    fn val_spec(&mut self) -> Parsed<SpecKind> {
        self.bump();
        let name = if self.at_bound_operator() {
            self.bound_operator()?
        } else if self.peek().is_operator() {
            self.binding_operator()?
        } else {
            self.name("the name of a value")?
        };
        let type_params = self.type_params()?;
        self.expect(TokenKind::Colon, "`:` and a type")?;
        Ok(SpecKind::Val { name, type_params, ty: self.type_exp()? })
    }

    fn type_spec(&mut self) -> Parsed<SpecKind> {
        self.bump();
        let liftedness = self.liftedness();
        let name = self.name("the name of a type")?;
        let params = self.type_params()?;
        let body = if self.eat(TokenKind::Equal) { Some(self.type_exp()?) } else { None };
        Ok(SpecKind::Type { name, liftedness, params, body })
    }
}
