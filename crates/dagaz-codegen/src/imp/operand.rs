//! What expressions are built from.
//!
//! Sums and products of sizes leave out zeros and ones, and compute what is known.

use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType, UnOp};

use super::{Const, Expr, Repr, Var};

/// Something that stands for an expression.
pub trait Operand {
    fn expr(&self) -> Expr;

    /// A sum, or the pointer so many elements further on.
    fn plus(&self, other: impl Operand) -> Expr {
        let (x, y) = (self.expr(), other.expr());
        if y.as_number() == Some(0) {
            return x;
        }
        match (x.repr(), x.as_number(), y.as_number()) {
            (Repr::Pointer(..), ..) => Expr::Offset(Box::new([x, y])),
            (_, Some(0), _) => y,
            (_, Some(a), Some(b)) => a.wrapping_add(b).expr(),
            _ => arithmetic(BinOp::Add, x, y),
        }
    }

    fn minus(&self, other: impl Operand) -> Expr {
        let (x, y) = (self.expr(), other.expr());
        match (x.as_number(), y.as_number()) {
            (_, Some(0)) => x,
            (Some(a), Some(b)) => a.wrapping_sub(b).expr(),
            _ => arithmetic(BinOp::Sub, x, y),
        }
    }

    fn times(&self, other: impl Operand) -> Expr {
        let (x, y) = (self.expr(), other.expr());
        match (x.as_number(), y.as_number()) {
            (_, Some(1)) => x,
            (Some(1), _) => y,
            (_, Some(0)) | (Some(0), _) => 0.expr(),
            (Some(a), Some(b)) => a.wrapping_mul(b).expr(),
            _ => arithmetic(BinOp::Mul, x, y),
        }
    }

    /// Towards zero; the divisor is not zero.
    fn quotient(&self, other: impl Operand) -> Expr {
        Expr::Quotient(Box::new([self.expr(), other.expr()]))
    }

    fn remainder(&self, other: impl Operand) -> Expr {
        Expr::Remainder(Box::new([self.expr(), other.expr()]))
    }

    /// How many parts of so many there are, the last of which may be smaller.
    fn parts_of(&self, size: impl Operand) -> Expr {
        let size = size.expr();
        self.plus(size.clone()).minus(1).quotient(size)
    }

    fn minimum(&self, other: impl Operand) -> Expr {
        arithmetic(BinOp::Min, self.expr(), other.expr())
    }

    fn maximum(&self, other: impl Operand) -> Expr {
        arithmetic(BinOp::Max, self.expr(), other.expr())
    }

    /// An operation on two values of the same type.
    fn op(&self, op: BinOp, other: impl Operand) -> Expr {
        arithmetic(op, self.expr(), other.expr())
    }

    fn compare(&self, op: CmpOp, other: impl Operand) -> Expr {
        let (x, y) = (self.expr(), other.expr());
        let ty = scalar_type(&x);
        Expr::CmpOp(op, ty, Box::new([x, y]))
    }

    fn is_below(&self, other: impl Operand) -> Expr {
        self.compare(CmpOp::Lt, other)
    }

    fn is_at_most(&self, other: impl Operand) -> Expr {
        self.compare(CmpOp::Le, other)
    }

    fn is_above(&self, other: impl Operand) -> Expr {
        other.expr().is_below(self.expr())
    }

    fn is_at_least(&self, other: impl Operand) -> Expr {
        other.expr().is_at_most(self.expr())
    }

    fn equals(&self, other: impl Operand) -> Expr {
        self.compare(CmpOp::Eq, other)
    }

    /// Whether an index is at least zero and below a size, in one comparison.
    fn is_within(&self, size: impl Operand) -> Expr {
        self.cast(PrimType::U64).is_below(size.cast(PrimType::U64))
    }

    fn is_not_within(&self, size: impl Operand) -> Expr {
        self.cast(PrimType::U64).is_at_least(size.cast(PrimType::U64))
    }

    fn not(&self) -> Expr {
        Expr::UnOp(UnOp::Not, PrimType::Bool, Box::new(self.expr()))
    }

    fn both(&self, other: impl Operand) -> Expr {
        Expr::Both(Box::new([self.expr(), other.expr()]))
    }

    fn either(&self, other: impl Operand) -> Expr {
        Expr::Either(Box::new([self.expr(), other.expr()]))
    }

    /// One of two values, the first one if this holds.
    fn select(&self, then: impl Operand, otherwise: impl Operand) -> Expr {
        Expr::Select(Box::new([self.expr(), then.expr(), otherwise.expr()]))
    }

    /// A value as one of another type.
    fn cast(&self, ty: PrimType) -> Expr {
        let x = self.expr();
        match scalar_type(&x) {
            own if own == ty => x,
            own => Expr::Convert(own, ty, Box::new(x)),
        }
    }

    /// The element of an array at a place.
    fn at(&self, place: impl Operand) -> Expr {
        Expr::Load(Box::new([self.expr(), place.expr()]))
    }
}

fn arithmetic(op: BinOp, x: Expr, y: Expr) -> Expr {
    let ty = scalar_type(&x);
    Expr::BinOp(op, ty, Box::new([x, y]))
}

fn scalar_type(x: &Expr) -> PrimType {
    match x.repr() {
        Repr::Scalar(ty) | Repr::Lanes(ty) => ty,
        Repr::Pointer(..) | Repr::Block | Repr::Flags | Repr::Log(_) => PrimType::I64,
    }
}

/// All of some conditions, tested in order; `None` for no condition.
pub fn all(conditions: impl IntoIterator<Item = Expr>) -> Option<Expr> {
    conditions.into_iter().reduce(|x, y| x.both(y))
}

/// Any of some conditions, tested in order; `None` for no condition.
pub fn any(conditions: impl IntoIterator<Item = Expr>) -> Option<Expr> {
    conditions.into_iter().reduce(|x, y| x.either(y))
}

impl Operand for Expr {
    fn expr(&self) -> Expr {
        self.clone()
    }
}

impl Operand for Var {
    fn expr(&self) -> Expr {
        Expr::Var(self.clone())
    }
}

impl Operand for Prim {
    fn expr(&self) -> Expr {
        Expr::Const(Const(*self))
    }
}

impl Operand for i64 {
    fn expr(&self) -> Expr {
        Prim::I64(*self).expr()
    }
}

impl Operand for i32 {
    fn expr(&self) -> Expr {
        i64::from(*self).expr()
    }
}

impl Operand for usize {
    fn expr(&self) -> Expr {
        i64::try_from(*self).unwrap_or(i64::MAX).expr()
    }
}

impl Operand for f64 {
    fn expr(&self) -> Expr {
        Prim::F64(*self).expr()
    }
}

impl Operand for bool {
    fn expr(&self) -> Expr {
        Prim::Bool(*self).expr()
    }
}

impl<T: Operand> Operand for &T {
    fn expr(&self) -> Expr {
        (**self).expr()
    }
}

macro_rules! operators {
    ($($own:ty),*) => {$(
        impl<T: Operand> std::ops::Add<T> for $own {
            type Output = Expr;
            fn add(self, other: T) -> Expr { self.plus(other) }
        }
        impl<T: Operand> std::ops::Sub<T> for $own {
            type Output = Expr;
            fn sub(self, other: T) -> Expr { self.minus(other) }
        }
        impl<T: Operand> std::ops::Mul<T> for $own {
            type Output = Expr;
            fn mul(self, other: T) -> Expr { self.times(other) }
        }
        impl<T: Operand> std::ops::Div<T> for $own {
            type Output = Expr;
            fn div(self, other: T) -> Expr { self.quotient(other) }
        }
        impl<T: Operand> std::ops::Rem<T> for $own {
            type Output = Expr;
            fn rem(self, other: T) -> Expr { self.remainder(other) }
        }
    )*};
}
operators!(Expr, &Expr, Var, &Var);
