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

/// The text of an expression that stands by itself.
pub(super) fn print(expr: &Expr) -> String {
    text(expr).text
}

pub(super) fn text(expr: &Expr) -> Text {
    let operands: Vec<Text> = expr.operands().iter().map(text).collect();
    match (expr, operands.as_slice()) {
        (Expr::UnOp(op, ty, _), [x]) => scalar::unop(*op, *ty, x),
        (Expr::Convert(from, to, _), [x]) => scalar::convert(*from, *to, x),
        (Expr::BinOp(op, ty, _), [x, y]) => scalar::binop(*op, *ty, x, y),
        (Expr::CmpOp(op, ty, _), [x, y]) => scalar::cmpop(*op, *ty, x, y),
        (Expr::TernOp(op, ty, _), [x, y, z]) => scalar::ternop(*op, *ty, [x, y, z]),
        (Expr::Quotient(_), [x, y]) => infix(Level::Product, "/", x, y),
        (Expr::Remainder(_), [x, y]) => infix(Level::Product, "%", x, y),
        (Expr::Both(_), [x, y]) => infix(Level::Both, "&&", x, y),
        (Expr::Either(_), [x, y]) => infix(Level::Either, "||", x, y),
        (Expr::Select(_), [cond, then, otherwise]) => {
            let [cond, then] = [cond, then].map(|operand| operand.above(Level::Conditional));
            Text::new(Level::Conditional, format!("{cond} ? {then} : {}", otherwise.at(Level::Conditional)))
        }
        (Expr::Load(_), [pointer, place]) => {
            Text::primary(format!("{}[{}]", pointer.at(Level::Primary), place.text))
        }
        (Expr::Offset(_), [pointer, place]) => infix(Level::Sum, "+", pointer, place),
        (Expr::Data(elem, _), [block]) => {
            Text::unary(format!("({elem} *){}->data", block.at(Level::Primary)))
        }
        (Expr::Call(function, _), operands) => runtime::call(*function, operands),
        (leaf, _) => leaf_text(leaf),
    }
}

fn leaf_text(leaf: &Expr) -> Text {
    match leaf {
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
        _ => Text::primary(String::new()),
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
