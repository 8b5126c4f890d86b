//! Operators: binary and prefix ones, ranges, `with`.
//!
//! Operands and operators are kept on two stacks (the shunting-yard method), so a chain of any length is
//! read by a loop. An operator on the stack is applied as soon as the next one binds less tightly:
//!
//! ```text
//! a + b * c + d       stack `+ *`, next `+`:  both are applied, then `+` goes on the stack
//! ```

use super::{Parsed, Parser};
use crate::Span;
use crate::ast::{Access, Exp, ExpKind, QualName, RangeKind};
use crate::token::{Keyword, TokenKind};

/// How tightly an operator binds.
type Level = u8;

/// `:=` and `+=`
const ASSIGN: Level = 0;
const RANGE: Level = 1;
const BACKQUOTED: Level = 2;
const WITH: Level = 3;
/// What `with` demands of the value it assigns.
const WITH_VALUE: Level = 4;
const PIPE_RIGHT: Level = 5;
const PIPE_LEFT: Level = 6;
const OR: Level = 7;
const AND: Level = 8;
const COMPARISON: Level = 9;
const BITS: Level = 10;
const SHIFT: Level = 11;
const SUM: Level = 12;
const PRODUCT: Level = 13;
const POWER: Level = 14;
const PREFIX: Level = 15;

/// The longest of these that starts an operator decides its level.
const LEVELS: [(&str, Level); 25] = [
    ("|>", PIPE_RIGHT),
    ("<|", PIPE_LEFT),
    ("||", OR),
    ("&&", AND),
    ("<=", COMPARISON),
    (">=", COMPARISON),
    ("==", COMPARISON),
    ("!=", COMPARISON),
    ("<<", SHIFT),
    (">>", SHIFT),
    ("//", PRODUCT),
    ("%%", PRODUCT),
    ("**", POWER),
    ("<", COMPARISON),
    (">", COMPARISON),
    ("!", COMPARISON),
    ("=", COMPARISON),
    ("&", BITS),
    ("^", BITS),
    ("|", BITS),
    ("+", SUM),
    ("-", SUM),
    ("*", PRODUCT),
    ("/", PRODUCT),
    ("%", PRODUCT),
];

fn level(symbol: &str) -> Level {
    LEVELS.iter().find(|(start, _)| symbol.starts_with(start)).map_or(BACKQUOTED, |&(_, level)| level)
}

/// An operator that waits for the operand on its right.
enum Waiting {
    Binary(QualName),
    Neg(Span),
    Not(Span),
    With(Vec<Access>),
    Range(RangeKind),
    /// The `..` of `a..b...c`.
    SecondOf(Span),
}

struct Stacks {
    #[expect(clippy::vec_box, reason = "operands go from box to box without being copied")]
    operands: Vec<Box<Exp>>,
    waiting: Vec<(Waiting, Level)>,
    links: usize,
}

impl Parser<'_> {
    /// Operands joined by operators. Stops before an operator that ends a section, `(a +)`.
    pub(super) fn operators(&mut self) -> Parsed<Box<Exp>> {
        if let Some(only) = self.lone_operand()? {
            return Ok(only);
        }
        let mut stacks = Stacks { operands: Vec::new(), waiting: Vec::new(), links: 0 };
        self.operand_onto(&mut stacks)?;
        self.operators_after(stacks)
    }

    /// The common case of one operand without operators is not worth any stacks. If there are operators
    /// nothing has been read yet or the operand is handed to them.
    fn lone_operand(&mut self) -> Parsed<Option<Box<Exp>>> {
        if matches!(self.peek(), TokenKind::Minus | TokenKind::Bang) {
            return Ok(None);
        }
        let operand = self.operand()?;
        if !self.at_infix() {
            return Ok(Some(operand));
        }
        let stacks = Stacks { operands: vec![operand], waiting: Vec::new(), links: 0 };
        self.operators_after(stacks).map(Some)
    }

    fn operators_after(&mut self, mut stacks: Stacks) -> Parsed<Box<Exp>> {
        while self.at_infix() {
            self.infix_onto(&mut stacks)?;
            stacks.links += 1;
            self.operand_onto(&mut stacks)?;
            self.check_chain(stacks.links)?;
        }
        self.apply_tighter(&mut stacks, 0)?;
        self.grow(stacks.links)?;
        self.last_operand(&mut stacks)
    }

    fn at_infix(&self) -> bool {
        use TokenKind::*;
        match self.peek() {
            TwoDots | ThreeDots | TwoDotsLess | TwoDotsGreater => true,
            Keyword(word) => word == self::Keyword::With,
            kind => kind.is_operator() && !self.at_section_end(),
        }
    }

    /// Whether a closing parenthesis follows the operator that stands here.
    fn at_section_end(&self) -> bool {
        let mut ahead = 1;
        if self.at(TokenKind::Backquote) {
            while matches!(self.peek_at(ahead), TokenKind::Ident(_) | TokenKind::Dot) {
                ahead += 1;
            }
            ahead += 1;
        }
        self.peek_at(ahead) == TokenKind::RParen
    }

    /// Read the infix operator that stands here, after applying those that bind tighter than it.
    fn infix_onto(&mut self, stacks: &mut Stacks) -> Parsed<()> {
        use TokenKind::*;
        let (waiting, own, demanded) = match self.peek() {
            ThreeDots => (Waiting::Range(RangeKind::Inclusive), RANGE, RANGE),
            TwoDotsLess => (Waiting::Range(RangeKind::UpTo), RANGE, RANGE),
            TwoDotsGreater => (Waiting::Range(RangeKind::DownTo), RANGE, RANGE),
            TwoDots => (Waiting::SecondOf(self.here()), RANGE, RANGE),
            Keyword(_) => {
                self.bump();
                let path = self.update_path()?;
                if !self.at(Equal) {
                    return Err(self.expected("`=` and the new value"));
                }
                (Waiting::With(path), WITH, WITH_VALUE)
            }
            kind => {
                let level = if kind == Backquote { BACKQUOTED } else { self.operator_level() };
                self.apply_tighter(stacks, level)?;
                let op = self.operator()?;
                stacks.waiting.push((Waiting::Binary(op), level));
                return Ok(());
            }
        };
        self.apply_tighter(stacks, own)?;
        self.bump();
        stacks.waiting.push((waiting, demanded));
        Ok(())
    }

    fn operator_level(&self) -> Level {
        match self.peek() {
            TokenKind::QualSymbol(index) => level(self.lexed.qual_symbols[index as usize].name.as_str()),
            _ if self.at_assignment() => ASSIGN,
            _ => level(self.token_text()),
        }
    }

    /// Whether `:=` or `+=` stands here. A file that defines `+=` itself has it as an operator like any other.
    fn at_assignment(&self) -> bool {
        match self.token_text() {
            ":=" => true,
            "+=" => !self.defines_accumulate,
            _ => false,
        }
    }

    /// `+`, `m.+` or a name in backquotes.
    pub(super) fn operator(&mut self) -> Parsed<QualName> {
        if self.at(TokenKind::Backquote) {
            self.bump();
            let name = self.qual_name("the name of a function")?;
            self.expect(TokenKind::Backquote, "a closing backquote")?;
            return Ok(name);
        }
        if let TokenKind::QualSymbol(index) = self.peek() {
            self.bump();
            return Ok(self.lexed.qual_symbols[index as usize].clone());
        }
        match self.peek().operator() {
            Some(name) => Ok(QualName { quals: Vec::new(), name, span: self.bump() }),
            None => Err(self.expected("an operator")),
        }
    }

    /// `[i].f` between `with` and `=`.
    fn update_path(&mut self) -> Parsed<Vec<Access>> {
        let mut path = Vec::new();
        loop {
            match self.peek() {
                TokenKind::LBracket | TokenKind::IndexBracket => path.push(self.index_access()?),
                TokenKind::Dot => {
                    self.bump();
                    path.push(Access::Field(self.field_name()?));
                }
                TokenKind::Ident(_) | TokenKind::Nat(_) => path.push(Access::Field(self.field_name()?)),
                _ if path.is_empty() => return Err(self.expected("`[` and an index, or a field")),
                _ => return Ok(path),
            }
        }
    }

    /// Prefix operators and an operand.
    fn operand_onto(&mut self, stacks: &mut Stacks) -> Parsed<()> {
        loop {
            let waiting = match self.peek() {
                TokenKind::Minus => Waiting::Neg(self.here()),
                TokenKind::Bang => Waiting::Not(self.here()),
                _ => break,
            };
            self.bump();
            stacks.waiting.push((waiting, PREFIX));
            stacks.links += 1;
            self.check_chain(stacks.links)?;
        }
        let operand = self.operand()?;
        stacks.operands.push(operand);
        Ok(())
    }

    fn operand(&mut self) -> Parsed<Box<Exp>> {
        if self.at_prefix() {
            return self.exp();
        }
        if self.at_keyword(Keyword::Match) {
            return self.nested(Self::match_exp);
        }
        self.application()
    }

    /// Apply the waiting operators that bind more tightly than the next one, whose level is `next`; of
    /// the same level, those that associate to the left.
    fn apply_tighter(&mut self, stacks: &mut Stacks, next: Level) -> Parsed<()> {
        while let Some((_, level)) = stacks.waiting.last() {
            let right_associative = *level == RANGE || *level == PIPE_LEFT;
            if *level < next || (*level == next && right_associative) {
                break;
            }
            self.apply_last(stacks)?;
        }
        Ok(())
    }

    /// Apply the operator on top of the stack to the operands on top of theirs.
    fn apply_last(&mut self, stacks: &mut Stacks) -> Parsed<()> {
        let Some((waiting, _)) = stacks.waiting.pop() else {
            return Ok(());
        };
        let rhs = self.last_operand(stacks)?;
        let end = rhs.span;
        let (start, kind) = match waiting {
            Waiting::Neg(start) => (start, ExpKind::Neg(rhs)),
            Waiting::Not(start) => (start, ExpKind::Not(rhs)),
            Waiting::Binary(op) => {
                let lhs = self.last_operand(stacks)?;
                (lhs.span, ExpKind::BinOp { op, lhs, rhs })
            }
            Waiting::With(path) => {
                let target = self.last_operand(stacks)?;
                (target.span, ExpKind::With { target, path, value: rhs })
            }
            Waiting::Range(kind) => {
                let second = match stacks.waiting.pop_if(|(below, _)| matches!(below, Waiting::SecondOf(_))) {
                    Some(_) => Some(self.last_operand(stacks)?),
                    None => None,
                };
                let start = self.last_operand(stacks)?;
                (start.span, ExpKind::Range { start, second, end: rhs, kind })
            }
            Waiting::SecondOf(dots) => return Err(self.two_dots(dots)),
        };
        let exp = self.make(kind, start.to(end));
        stacks.operands.push(exp);
        Ok(())
    }

    fn last_operand(&mut self, stacks: &mut Stacks) -> Parsed<Box<Exp>> {
        stacks.operands.pop().ok_or_else(|| self.expected("an operand"))
    }

    fn two_dots(&mut self, dots: Span) -> super::Failed {
        let message = "a range needs to say where it ends: `..` only separates its first two elements";
        let diagnostic = crate::Diagnostic::error("two-dots-range", dots, message);
        self.report(diagnostic.help("write `a...b` (with `b`), `a..<b` (up to `b`) or `a..>b` (down to `b`)"))
    }
}
