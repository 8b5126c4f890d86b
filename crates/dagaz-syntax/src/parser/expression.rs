//! Expressions that extend as far to the right as possible: `let`, `if`, `loop`, functions, `assert`,
//! attributes; and `match`.
//!
//! A chain of them is read by one loop. Each leaves a [`Prefix`], all but its last part; when the last
//! expression has been read, the prefixes are put around it from the inside out.

use super::{Failed, Parsed, Parser};
use crate::ast::{
    Access, Attr, Case, Exp, ExpKind, ForBinder, Ident, LoopForm, Pat, SliceIndex, TypeExp, TypeParam,
};
use crate::token::{Keyword, TokenKind};
use crate::{Diagnostic, Span};

/// An expression that lacks its last part.
struct Prefix {
    start: Span,
    kind: PrefixKind,
}

enum PrefixKind {
    Let { sizes: Vec<Ident>, pat: Pat, value: Box<Exp> },
    LetFun { name: Ident, type_params: Vec<TypeParam>, params: Vec<Pat>, ret: Option<TypeExp>, def: Box<Exp> },
    LetWith { name: Ident, path: Vec<Access>, value: Box<Exp> },
    If { cond: Box<Exp>, then: Box<Exp> },
    Lambda { params: Vec<Pat>, ret: Option<TypeExp> },
    Loop { pat: Pat, init: Option<Box<Exp>>, form: LoopForm },
    For { binders: Vec<ForBinder> },
    Seq { first: Box<Exp> },
    Assert { cond: Box<Exp> },
    Attr(Attr),
}

impl PrefixKind {
    fn complete(self, last: Box<Exp>) -> ExpKind {
        match self {
            PrefixKind::Let { sizes, pat, value } => ExpKind::Let { sizes, pat, value, body: last },
            PrefixKind::LetFun { name, type_params, params, ret, def } => {
                ExpKind::LetFun { name, type_params, params, ret, def, body: last }
            }
            PrefixKind::LetWith { name, path, value } => ExpKind::LetWith { name, path, value, body: last },
            PrefixKind::If { cond, then } => ExpKind::If { cond, then, otherwise: last },
            PrefixKind::Lambda { params, ret } => ExpKind::Lambda { params, ret, body: last },
            PrefixKind::Loop { pat, init, form } => ExpKind::Loop { pat, init, form, body: last },
            PrefixKind::For { binders } => ExpKind::For { binders, body: last },
            PrefixKind::Seq { first } => ExpKind::Seq { first, second: last },
            PrefixKind::Assert { cond } => ExpKind::Assert { cond, body: last },
            PrefixKind::Attr(attr) => ExpKind::Attr(attr, last),
        }
    }
}

impl Parser<'_> {
    pub(super) fn exp(&mut self) -> Parsed<Box<Exp>> {
        self.nested(|p| p.exp_here(true))
    }

    /// An expression that cannot be followed by `: t`, because a colon means something else here.
    pub(super) fn exp_without_ascription(&mut self) -> Parsed<Box<Exp>> {
        self.nested(|p| p.exp_here(false))
    }

    fn exp_here(&mut self, ascription: bool) -> Parsed<Box<Exp>> {
        let mut prefixes: Vec<Prefix> = Vec::new();
        let exp = loop {
            while self.at_prefix() {
                self.prefix_onto(&mut prefixes)?;
            }
            let mut exp = self.operators()?;
            // The last part of a prefix may always be ascribed a type.
            if ascription || !prefixes.is_empty() {
                exp = self.ascriptions(exp)?;
            }
            if !self.at(TokenKind::Semicolon) {
                break exp;
            }
            self.sequence_onto(&mut prefixes, exp)?;
        };
        self.grow(prefixes.len())?;
        if prefixes.is_empty() { Ok(exp) } else { Ok(self.complete(prefixes, exp)) }
    }

    /// `first;`, the semicolon standing here.
    fn sequence_onto(&mut self, prefixes: &mut Vec<Prefix>, first: Box<Exp>) -> Parsed<()> {
        if let Some(Prefix { start, kind: PrefixKind::If { .. } }) = prefixes.last() {
            let message =
                "it is not clear whether what follows belongs to the `else` or comes after the conditional";
            let diagnostic = Diagnostic::error("unclear-sequence", self.here(), message)
                .label(*start, "the conditional")
                .help("put the conditional in parentheses, or everything behind `else`");
            return Err(self.report(diagnostic));
        }
        self.bump();
        if matches!(self.peek(), TokenKind::Keyword(word) if word.starts_dec()) || self.at(TokenKind::Eof) {
            let help = "declarations need no separator; what follows a semicolon is the next step";
            return Err(self.expected_with("an expression", |d| d.help(help)));
        }
        prefixes.push(Prefix { start: first.span, kind: PrefixKind::Seq { first } });
        self.check_chain(prefixes.len())
    }

    #[inline(never)]
    fn complete(&mut self, prefixes: Vec<Prefix>, last: Box<Exp>) -> Box<Exp> {
        prefixes.into_iter().rev().fold(last, |exp, prefix| {
            let span = prefix.start.to(exp.span);
            self.make(prefix.kind.complete(exp), span)
        })
    }

    fn ascriptions(&mut self, mut exp: Box<Exp>) -> Parsed<Box<Exp>> {
        let mut links = 0;
        loop {
            let coerce = match self.peek() {
                TokenKind::Colon => false,
                TokenKind::ColonGreater => true,
                _ => {
                    self.grow(links)?;
                    return Ok(exp);
                }
            };
            self.bump();
            links += 1;
            self.check_chain(links)?;
            let ty = self.type_exp()?;
            let span = self.since(exp.span);
            let kind = if coerce { ExpKind::Coerce(exp, ty) } else { ExpKind::Ascript(exp, ty) };
            exp = self.make(kind, span);
        }
    }

    /// Whether the current token starts an expression that reaches as far as possible.
    pub(super) fn at_prefix(&self) -> bool {
        match self.peek() {
            TokenKind::Backslash | TokenKind::HashBracket => true,
            TokenKind::Keyword(word) => {
                matches!(word, Keyword::Let | Keyword::If | Keyword::Loop | Keyword::For | Keyword::Assert)
            }
            _ => false,
        }
    }

    /// Read all but the last part of the expression that starts here.
    #[inline(never)]
    fn prefix_onto(&mut self, prefixes: &mut Vec<Prefix>) -> Parsed<()> {
        let start = self.here();
        let kind = match self.peek() {
            TokenKind::Keyword(Keyword::Let) => self.let_prefix()?,
            TokenKind::Keyword(Keyword::If) => self.if_prefix()?,
            TokenKind::Keyword(Keyword::Loop) => self.loop_prefix()?,
            TokenKind::Keyword(Keyword::For) => self.for_prefix()?,
            TokenKind::Keyword(Keyword::Assert) => {
                self.bump();
                PrefixKind::Assert { cond: self.atom()? }
            }
            TokenKind::HashBracket => PrefixKind::Attr(self.attribute()?),
            _ => self.lambda_prefix()?,
        };
        prefixes.push(Prefix { start, kind });
        self.check_chain(prefixes.len())
    }

    // -----------------------------------------------------------------------------------------------
    // Let

    /// A binding and the `in` behind it, which may be missing before another `let`.
    fn let_prefix(&mut self) -> Parsed<PrefixKind> {
        let start = self.pos;
        match self.binding() {
            Ok(prefix) => Ok(prefix),
            Err(Failed) if self.skip_to_binding(start) => {
                let span = self.span_of(self.token_at(start));
                let value = self.error_exp(self.since(span));
                let pat = Pat { id: self.id(), kind: crate::ast::PatKind::Wildcard, span };
                Ok(PrefixKind::Let { sizes: Vec::new(), pat, value })
            }
            Err(Failed) => Err(Failed),
        }
    }

    /// After a failure in the binding at `start`: skip to a `let` that stands at the start of a line
    /// before anything ends the enclosing group or declaration.
    fn skip_to_binding(&mut self, start: usize) -> bool {
        let mut index = self.pos.max(start + 1);
        loop {
            let token = self.token_at(index);
            match token.kind {
                TokenKind::Eof | TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace => return false,
                TokenKind::Keyword(Keyword::Let) if token.first_on_line => {
                    self.pos = index;
                    // At the margin it is a declaration.
                    return self.text.as_bytes()[..token.start as usize].last().is_some_and(|&b| b != b'\n');
                }
                TokenKind::Keyword(word) if word.starts_dec() => return false,
                _ => index = self.brackets.closer_of(index).unwrap_or(index) + 1,
            }
        }
    }

    fn binding(&mut self) -> Parsed<PrefixKind> {
        let start = self.bump();
        let prefix = match (self.peek(), self.peek_at(1)) {
            (TokenKind::Ident(_), TokenKind::IndexBracket | TokenKind::Dot) => self.let_with()?,
            (TokenKind::Ident(_), TokenKind::Equal | TokenKind::Colon) => self.let_pattern()?,
            (TokenKind::Ident(_), _) => self.let_function()?,
            (TokenKind::LParen, _) if self.at_bound_operator() => self.let_function()?,
            _ => self.let_pattern()?,
        };
        if self.at_keyword(Keyword::Let) || self.eat_keyword(Keyword::In) {
            return Ok(prefix);
        }
        let equal = self.at(TokenKind::Equal);
        Err(self.expected_with("`in` or another `let`", |d| {
            let d = d.label(start, "this `let` has no body");
            if equal {
                d.help("to compare two values, write `==`")
            } else {
                d.help("write `in` and the result")
            }
        }))
    }

    fn let_pattern(&mut self) -> Parsed<PrefixKind> {
        let mut sizes = Vec::new();
        while matches!(self.peek(), TokenKind::LBracket | TokenKind::IndexBracket) {
            sizes.push(self.size_binder()?);
        }
        let pat = self.pattern()?;
        self.expect_equal()?;
        Ok(PrefixKind::Let { sizes, pat, value: self.exp()? })
    }

    /// `f type_params params : ret = def`
    fn let_function(&mut self) -> Parsed<PrefixKind> {
        let name = if self.at(TokenKind::LParen) { self.bound_operator()? } else { self.name("a name")? };
        let type_params = self.type_params()?;
        let params = self.params()?;
        if params.is_empty() && type_params.is_empty() && self.at_bound_value() {
            let pat = Pat { id: self.id(), kind: crate::ast::PatKind::Var(name), span: name.span };
            return self.bound_value(pat);
        }
        let ret = if self.eat(TokenKind::Colon) { Some(self.type_exp()?) } else { None };
        if !self.at(TokenKind::Equal) {
            return Err(self.expected("a parameter, `:` or `=`"));
        }
        self.bump();
        Ok(PrefixKind::LetFun { name, type_params, params, ret, def: self.exp()? })
    }

    fn at_bound_value(&self) -> bool {
        matches!(self.peek(), TokenKind::Equal | TokenKind::Colon)
    }

    /// `let (+) : t = value`: an operator that is a value, not a function with parameters.
    fn bound_value(&mut self, mut pat: Pat) -> Parsed<PrefixKind> {
        if self.eat(TokenKind::Colon) {
            let ty = self.type_exp()?;
            let span = self.since(pat.span);
            pat = Pat { id: self.id(), kind: crate::ast::PatKind::Ascript(Box::new(pat), ty), span };
        }
        self.expect_equal()?;
        Ok(PrefixKind::Let { sizes: Vec::new(), pat, value: self.exp()? })
    }

    /// `x[i].f = value`
    fn let_with(&mut self) -> Parsed<PrefixKind> {
        let name = self.name("a name")?;
        let path = self.access_path()?;
        self.expect_equal()?;
        Ok(PrefixKind::LetWith { name, path, value: self.exp()? })
    }

    /// `.f` and `[i]`, as many as there are.
    pub(super) fn access_path(&mut self) -> Parsed<Vec<Access>> {
        let mut path = Vec::new();
        loop {
            match self.peek() {
                TokenKind::IndexBracket => path.push(self.index_access()?),
                TokenKind::Dot => {
                    self.bump();
                    path.push(Access::Field(self.field_name()?));
                }
                _ => return Ok(path),
            }
        }
    }

    pub(super) fn index_access(&mut self) -> Parsed<Access> {
        let start = self.here();
        let indices = self.indices()?;
        Ok(Access::Index(indices, self.since(start)))
    }

    /// `[i, a:b]`
    pub(super) fn indices(&mut self) -> Parsed<Vec<SliceIndex>> {
        let open = self.bump();
        if self.at(TokenKind::RBracket) {
            return Err(self.expected("an index or a slice"));
        }
        self.nested_by(2, |p| p.comma_list(open, (TokenKind::RBracket, "]"), Self::index))
    }

    fn index(&mut self) -> Parsed<SliceIndex> {
        let first = self.here();
        let start = if self.at(TokenKind::Colon) { None } else { Some(self.exp_without_ascription()?) };
        match start {
            Some(index) if !self.at(TokenKind::Colon) => Ok(SliceIndex::Index(*index)),
            start => {
                self.bump();
                let end = self.slice_part()?;
                let stride = if self.eat(TokenKind::Colon) { self.slice_part()? } else { None };
                let [start, end, stride] = [start, end, stride].map(|part| part.map(|exp| *exp));
                Ok(SliceIndex::Slice { start, end, stride, span: self.since(first) })
            }
        }
    }

    fn slice_part(&mut self) -> Parsed<Option<Box<Exp>>> {
        match self.peek() {
            TokenKind::Colon | TokenKind::Comma | TokenKind::RBracket => Ok(None),
            _ => Ok(Some(self.exp_without_ascription()?)),
        }
    }

    // -----------------------------------------------------------------------------------------------
    // The others

    fn if_prefix(&mut self) -> Parsed<PrefixKind> {
        self.bump();
        let cond = self.exp()?;
        self.expect_keyword(Keyword::Then, "a conditional is written `if … then … else …`")?;
        let then = self.exp()?;
        self.expect_keyword(Keyword::Else, "`if` gives a value, so it needs an `else`")?;
        Ok(PrefixKind::If { cond, then })
    }

    fn lambda_prefix(&mut self) -> Parsed<PrefixKind> {
        self.bump();
        let params = self.params()?;
        if params.is_empty() {
            return Err(self.expected("a parameter"));
        }
        let ret = if self.eat(TokenKind::Colon) { Some(self.nested(Self::type_term)?) } else { None };
        self.expect_arrow()?;
        Ok(PrefixKind::Lambda { params, ret })
    }

    fn loop_prefix(&mut self) -> Parsed<PrefixKind> {
        self.bump();
        let pat = self.pattern()?;
        let init = if self.eat(TokenKind::Equal) { Some(self.exp()?) } else { None };
        let form = self.loop_form()?;
        self.expect_keyword(Keyword::Do, "the body of a loop starts with `do`")?;
        Ok(PrefixKind::Loop { pat, init, form })
    }

    fn loop_form(&mut self) -> Parsed<LoopForm> {
        if self.eat_keyword(Keyword::While) {
            return Ok(LoopForm::While(self.exp()?));
        }
        self.expect_keyword(
            Keyword::For,
            "a loop goes on with `for i < n do`, `for x in xs do` or `while c do`",
        )?;
        if let (TokenKind::Ident(name), TokenKind::Less) = (self.peek(), self.peek_at(1)) {
            let var = Ident { name, span: self.bump() };
            self.bump();
            return Ok(LoopForm::For { var, bound: self.exp()? });
        }
        let pat = self.pattern()?;
        self.expect_keyword(Keyword::In, "write `for i < n` or `for x in xs`")?;
        Ok(LoopForm::ForIn { pat, array: self.exp()? })
    }

    /// `for i (j, k) l < n ->`
    fn for_prefix(&mut self) -> Parsed<PrefixKind> {
        self.bump();
        let mut binders = Vec::new();
        while self.peek().starts_param() {
            let pat = self.param()?;
            let bound = if self.eat(TokenKind::Less) { Some(*self.atom()?) } else { None };
            binders.push(ForBinder { pat, bound });
        }
        if binders.is_empty() {
            return Err(self.expected("an index"));
        }
        if !self.at(TokenKind::Arrow) {
            let help = "write `for i j -> e`, `for i < n -> e` or `for (i, j) -> e`; a bound that is not a name or a number stands in parentheses";
            return Err(self.expected_with("another index or `->`", |d| d.help(help)));
        }
        self.bump();
        Ok(PrefixKind::For { binders })
    }

    /// `match e case p -> e …`
    pub(super) fn match_exp(&mut self) -> Parsed<Box<Exp>> {
        let start = self.bump();
        let scrutinee = self.exp()?;
        if !self.at_keyword(Keyword::Case) {
            return Err(self.expected("`case`"));
        }
        let mut cases = Vec::new();
        while self.at_keyword(Keyword::Case) {
            let case_start = self.bump();
            let pat = self.pattern()?;
            self.expect_arrow()?;
            // A type behind the last case is the type of the whole match.
            let body = self.exp_without_ascription()?;
            cases.push(Case { pat, body: *body, span: self.since(case_start) });
        }
        Ok(self.make(ExpKind::Match { scrutinee, cases }, self.since(start)))
    }
}
