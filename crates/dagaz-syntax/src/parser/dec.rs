//! Declarations, and how the parser goes on after one it could not read.

use super::{Failed, Parsed, Parser};
use crate::ast::{
    BindKeyword, Dec, DecKind, Exp, Ident, IndexBind, Liftedness, ModBind, ModParam, Pat, PatKind, QualName,
    TypeBind, TypeExp, TypeExpKind, TypeParam, TypeParamKind, ValBind,
};
use crate::token::{Keyword, TokenKind};
use crate::{Diagnostic, Name, Span};

impl Parser<'_> {
    /// All declarations of the file.
    pub(super) fn decs(&mut self) -> Vec<Dec> {
        let mut decs = Vec::new();
        while !self.at(TokenKind::Eof) {
            self.dec_or_skip(&mut decs, Self::dec);
        }
        decs
    }

    /// `{ decs }`, for any kind of declaration; the brace stands here.
    pub(super) fn braced<T>(&mut self, parse: fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.in_braces += 1;
        let decs = self.braced_here(parse);
        self.in_braces -= 1;
        decs
    }

    fn braced_here<T>(&mut self, parse: fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let open = self.bump();
        let mut decs = Vec::new();
        while !self.at(TokenKind::RBrace) {
            if self.at(TokenKind::Eof) {
                self.expected_with("`}`", |d| d.label(open, "this bracket is open"));
                return Ok(decs);
            }
            self.dec_or_skip(&mut decs, parse);
        }
        self.bump();
        Ok(decs)
    }

    fn dec_or_skip<T>(&mut self, decs: &mut Vec<T>, parse: fn(&mut Self) -> Parsed<T>) {
        let start = self.pos;
        match self.nested_by(4, parse) {
            Ok(dec) => decs.push(dec),
            Err(Failed) => self.skip_dec(start),
        }
    }

    /// Skip to where the next declaration seems to start: a keyword at the start of a line that is not
    /// indented deeper than the failed declaration, or the brace that closes the module.
    fn skip_dec(&mut self, start: usize) {
        let column = self.column(start);
        if self.pos == start {
            self.bump();
        }
        loop {
            let token = self.token_at(self.pos);
            match token.kind {
                TokenKind::Eof => return,
                TokenKind::RBrace if self.in_braces > 0 => return,
                TokenKind::Keyword(word) if word.starts_dec() || word == Keyword::Let => {
                    let indent = self.column(self.pos);
                    // `let` also starts bindings within expressions, so only the margin counts.
                    let outdented = if word == Keyword::Let { indent == 0 } else { indent <= column };
                    if token.first_on_line && outdented {
                        return;
                    }
                    self.bump();
                }
                TokenKind::LBrace => {
                    self.pos = self.brackets.closer_of(self.pos).unwrap_or(self.pos) + 1;
                }
                _ => {
                    self.bump();
                }
            }
        }
    }

    /// How many bytes stand before a token on its line; only right for the first token of a line.
    fn column(&self, index: usize) -> usize {
        let before = &self.text.as_bytes()[..self.token_at(index).start as usize];
        before.iter().rev().take_while(|&&byte| byte == b' ' || byte == b'\t').count()
    }

    pub(super) fn dec(&mut self) -> Parsed<Dec> {
        let start = self.here();
        let doc = self.doc_here();
        let mut attrs = Vec::new();
        while self.at(TokenKind::HashBracket) {
            attrs.push(self.attribute()?);
        }
        let kind = self.dec_kind()?;
        Ok(Dec { kind, span: self.since(start), doc, attrs })
    }

    fn dec_kind(&mut self) -> Parsed<DecKind> {
        if self.at_index_type() {
            return Ok(DecKind::IndexType(self.index_bind()?));
        }
        let TokenKind::Keyword(word) = self.peek() else {
            return Err(self.expected_declaration());
        };
        Ok(match word {
            Keyword::Def => DecKind::Val(self.val_bind(BindKeyword::Def)?),
            Keyword::Entry => DecKind::Val(self.val_bind(BindKeyword::Entry)?),
            Keyword::Let => DecKind::Val(self.val_bind(BindKeyword::Let)?),
            Keyword::Type => DecKind::Type(self.type_bind()?),
            Keyword::Module => self.module_dec()?,
            Keyword::Open => {
                self.bump();
                DecKind::Open(self.mod_exp()?)
            }
            Keyword::Import => {
                self.bump();
                let (path, path_span) = self.import_path()?;
                DecKind::Import { path, path_span }
            }
            Keyword::Local => {
                self.bump();
                DecKind::Local(Box::new(self.nested_by(4, Self::dec)?))
            }
            _ => return Err(self.expected_declaration()),
        })
    }

    fn expected_declaration(&mut self) -> Failed {
        let help = match self.peek() {
            TokenKind::Keyword(Keyword::Val | Keyword::Include) => Some("this belongs in a module type"),
            TokenKind::Keyword(Keyword::In) => Some("the `let` before it is complete without `in`"),
            TokenKind::Equal => Some("to compare two values, write `==`"),
            TokenKind::Ident(_) => Some("a function or value is declared with `def name = …`"),
            TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace => Some("no bracket is open here"),
            _ => None,
        };
        self.expected_with("a declaration", |d| help.into_iter().fold(d, Diagnostic::help))
    }

    pub(super) fn import_path(&mut self) -> Parsed<(String, Span)> {
        let TokenKind::Str(index) = self.peek() else {
            return Err(self.expected("the path of a file, in double quotes"));
        };
        let path = String::from_utf8_lossy(&self.lexed.strings[index as usize]).into_owned();
        Ok((path, self.bump()))
    }

    // -----------------------------------------------------------------------------------------------
    // Values

    fn val_bind(&mut self, keyword: BindKeyword) -> Parsed<ValBind> {
        let start = self.pos;
        self.bump();
        let (name, type_params, params) = self.val_head()?;
        let ret = if self.eat(TokenKind::Colon) { Some(self.type_exp()?) } else { None };
        if !self.at(TokenKind::Equal) {
            return Err(self.expected("a parameter, `:` or `=`"));
        }
        self.bump();
        // With its name known, a declaration is worth keeping, so that its uses are not errors as well.
        let body_start = self.here();
        let body = self.exp().unwrap_or_else(|Failed| {
            self.skip_dec(start);
            self.error_exp(self.since(body_start))
        });
        Ok(ValBind { keyword, name, type_params, params, ret, body: *body })
    }

    /// `f type_params params`, `(+) type_params params` or `x + y`.
    fn val_head(&mut self) -> Parsed<(Ident, Vec<TypeParam>, Vec<Pat>)> {
        let prefix = self.at_bound_operator();
        if !prefix && !matches!(self.peek(), TokenKind::Ident(_)) {
            if !self.peek().starts_param() {
                self.name("a name")?;
            }
            return self.infix_head();
        }
        if !prefix && (self.peek_at(1).is_operator() || self.peek_at(1) == TokenKind::Bang) {
            return self.infix_head();
        }
        let name = if prefix { self.bound_operator()? } else { self.name("a name")? };
        let type_params = self.type_params()?;
        let params = self.params()?;
        Ok((name, type_params, params))
    }

    fn infix_head(&mut self) -> Parsed<(Ident, Vec<TypeParam>, Vec<Pat>)> {
        let lhs = self.param()?;
        if self.at(TokenKind::Equal) && !self.already_reported() {
            let diagnostic =
                Diagnostic::error("syntax-error", lhs.span, "a declaration binds one name, not a pattern");
            return Err(
                self.report(diagnostic.help("bind the whole value to a name, and take its parts from that"))
            );
        }
        let name = self.binding_operator()?;
        let rhs = self.param()?;
        Ok((name, Vec::new(), vec![lhs, rhs]))
    }

    /// Whether `(+)` or `` (`f`) `` stands here.
    pub(super) fn at_bound_operator(&self) -> bool {
        self.at(TokenKind::LParen)
            && match self.peek_at(1) {
                TokenKind::Backquote => self.peek_at(4) == TokenKind::RParen,
                kind => kind.is_operator() && self.peek_at(2) == TokenKind::RParen,
            }
    }

    pub(super) fn bound_operator(&mut self) -> Parsed<Ident> {
        self.bump();
        let name = self.binding_operator()?;
        self.expect(TokenKind::RParen, "`)`")?;
        Ok(name)
    }

    /// An operator where it is bound: it has no qualifiers.
    pub(super) fn binding_operator(&mut self) -> Parsed<Ident> {
        if self.at(TokenKind::Backquote) {
            self.bump();
            let name = self.name("a name")?;
            self.expect(TokenKind::Backquote, "a closing backquote")?;
            return Ok(name);
        }
        match self.peek().operator() {
            Some(name) => Ok(Ident { name, span: self.bump() }),
            None if self.at(TokenKind::Bang) => Err(self
                .expected_with("an operator", |d| d.help("`!` is a prefix operator and cannot be defined"))),
            None => Err(self.expected("an operator")),
        }
    }

    /// Parameters, as many as there are.
    pub(super) fn params(&mut self) -> Parsed<Vec<Pat>> {
        let mut params = Vec::new();
        while self.peek().starts_param() {
            params.push(self.param()?);
        }
        Ok(params)
    }

    // -----------------------------------------------------------------------------------------------
    // Types

    pub(super) fn at_type_param(&self) -> bool {
        use TokenKind::*;
        matches!(self.peek(), LBracket | IndexBracket | Quote | QuoteTilde | QuoteCaret)
    }

    /// `[n]`, `'t`, `'~t`, `'^t`, as many as there are.
    pub(super) fn type_params(&mut self) -> Parsed<Vec<TypeParam>> {
        let mut params = Vec::new();
        while self.at_type_param() {
            params.push(self.type_param()?);
        }
        Ok(params)
    }

    fn type_param(&mut self) -> Parsed<TypeParam> {
        let kind = match self.peek() {
            TokenKind::Quote => TypeParamKind::Type(Liftedness::Unlifted),
            TokenKind::QuoteTilde => TypeParamKind::Type(Liftedness::SizeLifted),
            TokenKind::QuoteCaret => TypeParamKind::Type(Liftedness::Lifted),
            _ => return Ok(TypeParam { name: self.size_binder()?, kind: TypeParamKind::Size }),
        };
        self.bump();
        Ok(TypeParam { name: self.name("the name of a type parameter")?, kind })
    }

    /// `[n]`
    pub(super) fn size_binder(&mut self) -> Parsed<Ident> {
        let open = self.bump();
        let name = self.name("the name of a size")?;
        self.expect_closer(open, TokenKind::RBracket, "]")?;
        Ok(name)
    }

    pub(super) fn liftedness(&mut self) -> Liftedness {
        if self.eat(TokenKind::Tilde) {
            Liftedness::SizeLifted
        } else if self.eat(TokenKind::Caret) {
            Liftedness::Lifted
        } else {
            Liftedness::Unlifted
        }
    }

    fn type_bind(&mut self) -> Parsed<TypeBind> {
        self.bump();
        let liftedness = self.liftedness();
        let name = self.name("the name of a type")?;
        let params = self.type_params()?;
        self.expect_equal()?;
        let body = self.type_exp()?;
        Ok(TypeBind { name, liftedness, params, body })
    }

    /// Whether `index type` stands here; `index` by itself is a name.
    pub(super) fn at_index_type(&self) -> bool {
        matches!(self.peek(), TokenKind::Ident(name) if name.as_str() == "index")
            && self.peek_at(1).is(Keyword::Type)
    }

    fn index_bind(&mut self) -> Parsed<IndexBind> {
        self.bump();
        self.bump();
        let name = self.name("the name of a type")?;
        let mut params = Vec::new();
        while matches!(self.peek(), TokenKind::LBracket | TokenKind::IndexBracket) {
            params.push(TypeParam { name: self.size_binder()?, kind: TypeParamKind::Size });
        }
        match self.peek() {
            TokenKind::Ident(word) if word.as_str() == "of" => self.bump(),
            _ => {
                let help = "an index type is declared by `index type t [n] of (i64, i64) = {size = …, ordinal = …, from_ordinal = …}`";
                return Err(
                    self.expected_with("`of` and the type that represents an index", |d| d.help(help))
                );
            }
        };
        let body = self.type_exp()?;
        self.expect_equal()?;
        let record = self.exp()?;
        let functions = self.index_functions(name, &params, &body, *record);
        Ok(IndexBind { ty: TypeBind { name, liftedness: Liftedness::Unlifted, params, body }, functions })
    }

    /// `def name (n: i64) : {size: i64, ordinal: t -> i64, from_ordinal: i64 -> t} = record`
    fn index_functions(&mut self, name: Ident, sizes: &[TypeParam], repr: &TypeExp, record: Exp) -> ValBind {
        let span = name.span;
        let word = |text: &str| Ident { name: Name::new(text), span };
        let int = |p: &mut Self| {
            let kind = TypeExpKind::Var(QualName { quals: Vec::new(), name: Name::new("i64"), span });
            TypeExp { id: p.id(), kind, span }
        };
        let arrow = |p: &mut Self, from: TypeExp, to: TypeExp| {
            let kind = TypeExpKind::Arrow { param: None, from: Box::new(from), to: Box::new(to) };
            TypeExp { id: p.id(), kind, span }
        };
        let params = sizes
            .iter()
            .map(|size| {
                let ty = int(self);
                let var = Pat { id: self.id(), kind: PatKind::Var(size.name), span: size.name.span };
                Pat { id: self.id(), kind: PatKind::Ascript(Box::new(var), ty), span: size.name.span }
            })
            .collect();
        let (size, number, ordinal) = (int(self), int(self), int(self));
        let to_number = arrow(self, repr.clone(), number);
        let from_number = arrow(self, ordinal, repr.clone());
        let fields =
            vec![(word("size"), size), (word("ordinal"), to_number), (word("from_ordinal"), from_number)];
        let ret = TypeExp { id: self.id(), kind: TypeExpKind::Record(fields), span };
        ValBind {
            keyword: BindKeyword::Def,
            name,
            type_params: Vec::new(),
            params,
            ret: Some(ret),
            body: record,
        }
    }

    // -----------------------------------------------------------------------------------------------
    // Modules

    fn module_dec(&mut self) -> Parsed<DecKind> {
        self.bump();
        if self.eat_keyword(Keyword::Type) {
            let name = self.name("the name of a module type")?;
            self.expect_equal()?;
            return Ok(DecKind::ModuleType { name, body: self.mod_type_exp()? });
        }
        let name = self.name("the name of a module")?;
        let mut params = Vec::new();
        while self.at(TokenKind::LParen) {
            params.push(self.mod_param()?);
        }
        let sig = if self.eat(TokenKind::Colon) { Some(self.mod_type_exp()?) } else { None };
        self.expect_equal()?;
        let body = self.mod_exp()?;
        Ok(DecKind::Module(ModBind { name, params, sig, body }))
    }

    /// `(p: mt)`
    pub(super) fn mod_param(&mut self) -> Parsed<ModParam> {
        let open = self.expect(TokenKind::LParen, "`(` and a module parameter")?;
        let name = self.name("the name of a module parameter")?;
        self.expect(TokenKind::Colon, "`:` and a module type")?;
        let ty = self.mod_type_exp()?;
        self.expect_closer(open, TokenKind::RParen, ")")?;
        Ok(ModParam { name, ty })
    }
}
