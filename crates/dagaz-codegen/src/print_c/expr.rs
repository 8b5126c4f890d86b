//! Expressions as C writes them, with as many parentheses as they need.

use crate::imp::{Access, Expr, InputPart, Repr, Site};

use super::{runtime, scalar};

/// How strongly an expression holds together: what it is an operand of must not be stronger.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Level {
    Conditional,
    Either,
    Both,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Relation,
    Sum,
    Product,
    Unary,
    Primary,
}

/// C text of an expression.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) text: String,
    level: Level,
}

impl Text {
    pub(super) fn new(level: Level, text: impl Into<String>) -> Text {
        Text { text: text.into(), level }
    }

    pub(super) fn primary(text: impl Into<String>) -> Text {
        Text::new(Level::Primary, text)
    }

    pub(super) fn unary(text: impl Into<String>) -> Text {
        Text::new(Level::Unary, text)
    }

    /// The text as an operand of something that strong.
    pub(super) fn at(&self, level: Level) -> String {
        // Readers, and C compilers, are not sure about these.
        let is_unclear = match level {
            Level::Either => self.level == Level::Both,
            Level::BitOr | Level::BitXor | Level::BitAnd => self.level < Level::Unary,
            _ => false,
        };
        match self.level < level || (is_unclear && self.level != level) {
            true => format!("({})", self.text),
            false => self.text.clone(),
        }
    }

    /// The text as an operand of something stronger.
    pub(super) fn above(&self, level: Level) -> String {
        match self.level <= level {
            true => format!("({})", self.text),
            false => self.at(level),
        }
    }
}

pub(super) fn infix(level: Level, sign: &str, x: &Text, y: &Text) -> Text {
    Text::new(level, format!("{} {sign} {}", x.at(level), y.above(level)))
}

fn infix_of(level: Level, sign: &str, [x, y]: [Text; 2]) -> Text {
    infix(level, sign, &x, &y)
}

/// The text of an expression that stands by itself.
pub(super) fn print(expr: &Expr) -> String {
    text(expr).text
}

pub(super) fn text(expr: &Expr) -> Text {
    let operands = |pair: &[Expr; 2]| [text(&pair[0]), text(&pair[1])];
    match expr {
        Expr::UnOp(op, ty, x) => scalar::unop(*op, *ty, &text(x)),
        Expr::Convert(from, to, x) => scalar::convert(*from, *to, &text(x)),
        Expr::BinOp(op, ty, pair) => {
            let [x, y] = operands(pair);
            scalar::binop(*op, *ty, &x, &y)
        }
        Expr::CmpOp(op, ty, pair) => {
            let [x, y] = operands(pair);
            scalar::cmpop(*op, *ty, &x, &y)
        }
        Expr::TernOp(op, ty, triple) => {
            let [x, y, z] = &**triple;
            scalar::ternop(*op, *ty, [&text(x), &text(y), &text(z)])
        }
        Expr::Quotient(pair) => infix_of(Level::Product, "/", operands(pair)),
        Expr::Remainder(pair) => infix_of(Level::Product, "%", operands(pair)),
        Expr::Both(pair) => infix_of(Level::Both, "&&", operands(pair)),
        Expr::Either(pair) => infix_of(Level::Either, "||", operands(pair)),
        Expr::Offset(pair) => infix_of(Level::Sum, "+", operands(pair)),
        Expr::Select(triple) => {
            let [cond, then, otherwise] = &**triple;
            let [cond, then] = [cond, then].map(|operand| text(operand).above(Level::Conditional));
            let otherwise = text(otherwise).at(Level::Conditional);
            Text::new(Level::Conditional, format!("{cond} ? {then} : {otherwise}"))
        }
        Expr::Load(pair) => {
            let [pointer, place] = operands(pair);
            Text::primary(format!("{}[{}]", pointer.at(Level::Primary), place.text))
        }
        Expr::Data(elem, block) => Text::unary(format!("({elem} *){}->data", text(block).at(Level::Primary))),
        Expr::Call(function, operands) => {
            let operands: Vec<Text> = operands.iter().map(text).collect();
            runtime::call(*function, &operands)
        }
        Expr::Const(constant) => Text::primary(scalar::literal(constant.0)),
        Expr::Null => Text::primary("NULL"),
        Expr::Var(var) => Text::primary(&*var.name),
        Expr::Global(var) => Text::primary(format!("((dz_program *)ctx->program)->{}", var.name)),
        Expr::Input(number, InputPart::Scalar(ty)) => {
            Text::primary(format!("dz_from_{ty}(in[{number}].bits)"))
        }
        Expr::Input(number, InputPart::Data(_)) => Text::primary(format!("in[{number}].data")),
        Expr::Input(number, InputPart::Block) => Text::primary(format!("in[{number}].mem")),
        Expr::Site(site) => Text::primary(self::site(*site)),
    }
}

pub(super) fn site(site: Site) -> String {
    match site {
        Site::Number(number) => number.to_string(),
        Site::OfTask(place) => format!("outside->sites[{place}]"),
    }
}

/// The type of a variable, with what separates it from the name.
pub(super) fn type_of(repr: Repr) -> String {
    match repr {
        Repr::Scalar(ty) => format!("{ty} "),
        Repr::Pointer(elem, Access::Any) => format!("{elem} *"),
        Repr::Pointer(elem, Access::ReadOnly) => format!("const {elem} *"),
        Repr::Pointer(elem, Access::Unaliased) => format!("{elem} *restrict "),
        Repr::Block => "dz_block *".to_string(),
        Repr::Flags => "char *".to_string(),
        Repr::Lanes(ty) => format!("dz_sums_{ty} "),
        Repr::Log(elem) => format!("dz_log_{elem} "),
    }
}
