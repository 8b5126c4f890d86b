//! Scalar operations on columns.
//!
//! The common operations are closures that the compiler turns into vector loops; each computes what
//! [`crate::prim_eval`] says. The others ask it, element by element.

use half::f16;

use crate::prim::{BinOp, CmpOp, Prim, PrimType, TernOp, UnOp};
use crate::prim_eval::{convert, eval_binop, eval_cmpop, eval_ternop, eval_unop};
use crate::value::Elems;

/// An operation failed, or there is no such operation: the ordinary path knows which.
#[derive(Debug)]
pub(super) struct Failed;

/// An operand: the same scalar for all lanes, or one per lane from a position on.
#[derive(Clone, Copy)]
pub(super) enum Operand<'a> {
    One(Prim),
    Many(&'a Elems, usize),
}

/// An operand whose type is known.
#[derive(Clone, Copy)]
pub(super) enum Side<'a, T> {
    One(T),
    Many(&'a [T]),
}

/// The lanes that count, if not all do.
pub(super) type Mask<'a> = Option<&'a [bool]>;

/// A type of elements.
pub(super) trait Element: Copy + 'static {
    fn slice(elems: &Elems) -> Option<&[Self]>;
    fn of(prim: Prim) -> Option<Self>;
    /// The column as a vector of this type, empty.
    fn cleared(elems: &mut Elems) -> &mut Vec<Self>;
}

macro_rules! element {
    ($($con:ident $ty:ty),*) => {$(
        impl Element for $ty {
            fn slice(elems: &Elems) -> Option<&[$ty]> {
                if let Elems::$con(v) = elems { Some(v) } else { None }
            }

            fn of(prim: Prim) -> Option<$ty> {
                if let Prim::$con(x) = prim { Some(x) } else { None }
            }

            fn cleared(elems: &mut Elems) -> &mut Vec<$ty> {
                if !matches!(elems, Elems::$con(_)) {
                    *elems = Elems::$con(Vec::with_capacity(super::LANES));
                }
                match elems {
                    Elems::$con(v) => {
                        v.clear();
                        v
                    }
                    _ => unreachable!("the column was just made"),
                }
            }
        }
    )*};
}

element!(I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, F32 f32, F64 f64, Bool bool);

/// Runs the expression with `$t` standing for the type.
macro_rules! with_type {
    ($ty:expr, $t:ident => $body:expr) => {
        match $ty {
            PrimType::I8 => {
                type $t = i8;
                $body
            }
            PrimType::I16 => {
                type $t = i16;
                $body
            }
            PrimType::I32 => {
                type $t = i32;
                $body
            }
            PrimType::I64 => {
                type $t = i64;
                $body
            }
            PrimType::U8 => {
                type $t = u8;
                $body
            }
            PrimType::U16 => {
                type $t = u16;
                $body
            }
            PrimType::U32 => {
                type $t = u32;
                $body
            }
            PrimType::U64 => {
                type $t = u64;
                $body
            }
            PrimType::F16 => {
                type $t = f16;
                $body
            }
            PrimType::F32 => {
                type $t = f32;
                $body
            }
            PrimType::F64 => {
                type $t = f64;
                $body
            }
            PrimType::Bool => {
                type $t = bool;
                $body
            }
        }
    };
}

impl<'a> Operand<'a> {
    pub(super) fn ty(self) -> PrimType {
        match self {
            Operand::One(prim) => prim.ty(),
            Operand::Many(elems, _) => elems.ty(),
        }
    }

    pub(super) fn get(self, lane: usize) -> Option<Prim> {
        match self {
            Operand::One(prim) => Some(prim),
            Operand::Many(elems, at) => elems.get(at + lane),
        }
    }

    #[inline]
    pub(super) fn side<T: Element>(self, lanes: usize) -> Result<Side<'a, T>, Failed> {
        match self {
            Operand::One(prim) => T::of(prim).map(Side::One).ok_or(Failed),
            Operand::Many(elems, at) => {
                T::slice(elems).and_then(|s| s.get(at..at + lanes)).map(Side::Many).ok_or(Failed)
            }
        }
    }
}

#[inline]
fn map1<T: Element, R: Element>(
    x: Operand<'_>,
    lanes: usize,
    out: &mut Elems,
    f: impl Fn(T) -> R,
) -> Result<(), Failed> {
    let x = x.side::<T>(lanes)?;
    let out = R::cleared(out);
    match x {
        Side::One(x) => out.resize(lanes, f(x)),
        Side::Many(x) => out.extend(x.iter().map(|x| f(*x))),
    }
    Ok(())
}

#[inline]
fn map2<T: Element, R: Element>(
    (x, y): (Operand<'_>, Operand<'_>),
    lanes: usize,
    out: &mut Elems,
    f: impl Fn(T, T) -> R,
) -> Result<(), Failed> {
    let (x, y) = (x.side::<T>(lanes)?, y.side::<T>(lanes)?);
    let out = R::cleared(out);
    match (x, y) {
        (Side::One(x), Side::One(y)) => out.resize(lanes, f(x, y)),
        (Side::Many(x), Side::One(y)) => out.extend(x.iter().map(|x| f(*x, y))),
        (Side::One(x), Side::Many(y)) => out.extend(y.iter().map(|y| f(x, *y))),
        (Side::Many(x), Side::Many(y)) => out.extend(x.iter().zip(y).map(|(x, y)| f(*x, *y))),
    }
    Ok(())
}

fn is_active(mask: Mask<'_>, lane: usize) -> bool {
    mask.is_none_or(|mask| mask.get(lane).copied().unwrap_or(false))
}

/// Asks for each element. What fails in a lane that does not count gives a zero.
fn each(
    ty: PrimType,
    lanes: usize,
    out: &mut Elems,
    mask: Mask<'_>,
    f: impl Fn(usize) -> Option<Prim>,
) -> Result<(), Failed> {
    let mut started = false;
    for lane in 0..lanes {
        let value = match f(lane) {
            Some(value) => value,
            None if is_active(mask, lane) => return Err(Failed),
            None => Prim::zero(ty),
        };
        if !started {
            with_type!(value.ty(), T => {
                T::cleared(out);
            });
            started = true;
        }
        if !out.push(value) {
            return Err(Failed);
        }
    }
    Ok(())
}

pub(super) fn un(op: UnOp, x: Operand<'_>, lanes: usize, out: &mut Elems) -> Result<(), Failed> {
    match (op, x.ty()) {
        (UnOp::Neg, PrimType::F32) => map1(x, lanes, out, |x: f32| -x),
        (UnOp::Neg, PrimType::F64) => map1(x, lanes, out, |x: f64| -x),
        (UnOp::Neg, PrimType::I32) => map1(x, lanes, out, i32::wrapping_neg),
        (UnOp::Neg, PrimType::I64) => map1(x, lanes, out, i64::wrapping_neg),
        (UnOp::Abs, PrimType::F32) => map1(x, lanes, out, f32::abs),
        (UnOp::Abs, PrimType::F64) => map1(x, lanes, out, f64::abs),
        (UnOp::Abs, PrimType::I32) => map1(x, lanes, out, i32::wrapping_abs),
        (UnOp::Abs, PrimType::I64) => map1(x, lanes, out, i64::wrapping_abs),
        (UnOp::Sqrt, PrimType::F32) => map1(x, lanes, out, f32::sqrt),
        (UnOp::Sqrt, PrimType::F64) => map1(x, lanes, out, f64::sqrt),
        (UnOp::Exp, PrimType::F32) => map1(x, lanes, out, f32::exp),
        (UnOp::Exp, PrimType::F64) => map1(x, lanes, out, f64::exp),
        (UnOp::Log, PrimType::F32) => map1(x, lanes, out, f32::ln),
        (UnOp::Log, PrimType::F64) => map1(x, lanes, out, f64::ln),
        (UnOp::Not, PrimType::Bool) => map1(x, lanes, out, |x: bool| !x),
        (op, ty) => each(ty, lanes, out, None, |lane| eval_unop(op, x.get(lane)?).ok()),
    }
}

macro_rules! float_bin {
    ($ty:ty, $op:expr, $xy:expr, $lanes:expr, $out:expr) => {
        match $op {
            BinOp::Add => Some(map2($xy, $lanes, $out, |x: $ty, y: $ty| x + y)),
            BinOp::Sub => Some(map2($xy, $lanes, $out, |x: $ty, y: $ty| x - y)),
            BinOp::Mul => Some(map2($xy, $lanes, $out, |x: $ty, y: $ty| x * y)),
            BinOp::Div => Some(map2($xy, $lanes, $out, |x: $ty, y: $ty| x / y)),
            BinOp::Min => Some(map2($xy, $lanes, $out, |x: $ty, y: $ty| x.min(y))),
            BinOp::Max => Some(map2($xy, $lanes, $out, |x: $ty, y: $ty| x.max(y))),
            _ => None,
        }
    };
}

macro_rules! int_bin {
    ($ty:ty, $op:expr, $xy:expr, $lanes:expr, $out:expr, $mask:expr) => {
        match $op {
            BinOp::Add => Some(map2($xy, $lanes, $out, <$ty>::wrapping_add)),
            BinOp::Sub => Some(map2($xy, $lanes, $out, <$ty>::wrapping_sub)),
            BinOp::Mul => Some(map2($xy, $lanes, $out, <$ty>::wrapping_mul)),
            BinOp::And => Some(map2($xy, $lanes, $out, |x: $ty, y: $ty| x & y)),
            BinOp::Or => Some(map2($xy, $lanes, $out, |x: $ty, y: $ty| x | y)),
            BinOp::Xor => Some(map2($xy, $lanes, $out, |x: $ty, y: $ty| x ^ y)),
            BinOp::Min => Some(map2($xy, $lanes, $out, |x: $ty, y: $ty| x.min(y))),
            BinOp::Max => Some(map2($xy, $lanes, $out, |x: $ty, y: $ty| x.max(y))),
            BinOp::Div => {
                Some(divide::<$ty>($xy, $lanes, $out, $mask, |x, y| x.wrapping_div(y) - adjust!($ty, x, y)))
            }
            BinOp::Mod => Some(divide::<$ty>($xy, $lanes, $out, $mask, |x, y| {
                x.wrapping_rem(y).wrapping_add(y.wrapping_mul(adjust!($ty, x, y)))
            })),
            BinOp::Quot => Some(divide::<$ty>($xy, $lanes, $out, $mask, <$ty>::wrapping_div)),
            BinOp::Rem => Some(divide::<$ty>($xy, $lanes, $out, $mask, <$ty>::wrapping_rem)),
            _ => None,
        }
    };
}

/// One if the quotient that is rounded towards zero is too large by one.
macro_rules! adjust {
    ($ty:ty, $x:expr, $y:expr) => {
        <$ty>::from($x.wrapping_rem($y) != 0 && ($x < 0) != ($y < 0))
    };
}

/// Division, which fails for a zero in a lane that counts.
fn divide<T: Element + Default + PartialEq>(
    xy: (Operand<'_>, Operand<'_>),
    lanes: usize,
    out: &mut Elems,
    mask: Mask<'_>,
    f: impl Fn(T, T) -> T,
) -> Result<(), Failed> {
    let zero = T::default();
    let fails = match (xy.1.side::<T>(lanes)?, mask) {
        (Side::One(y), _) => y == zero,
        (Side::Many(y), None) => y.contains(&zero),
        (Side::Many(y), Some(mask)) => y.iter().zip(mask).any(|(y, active)| *active && *y == zero),
    };
    if fails {
        return Err(Failed);
    }
    map2(xy, lanes, out, |x: T, y: T| if y == zero { zero } else { f(x, y) })
}

pub(super) fn bin(
    op: BinOp,
    xy: (Operand<'_>, Operand<'_>),
    lanes: usize,
    out: &mut Elems,
    mask: Mask<'_>,
) -> Result<(), Failed> {
    let fast = match xy.0.ty() {
        PrimType::F32 => float_bin!(f32, op, xy, lanes, out),
        PrimType::F64 => float_bin!(f64, op, xy, lanes, out),
        PrimType::I32 => int_bin!(i32, op, xy, lanes, out, mask),
        PrimType::I64 => int_bin!(i64, op, xy, lanes, out, mask),
        PrimType::Bool => match op {
            BinOp::And => Some(map2(xy, lanes, out, |x: bool, y: bool| x & y)),
            BinOp::Or => Some(map2(xy, lanes, out, |x: bool, y: bool| x | y)),
            _ => None,
        },
        PrimType::I8 | PrimType::I16 | PrimType::F16 => None,
        PrimType::U8 | PrimType::U16 | PrimType::U32 | PrimType::U64 => None,
    };
    match fast {
        Some(done) => done,
        None => {
            let (x, y) = xy;
            each(x.ty(), lanes, out, mask, |lane| eval_binop(op, x.get(lane)?, y.get(lane)?).ok())
        }
    }
}

pub(super) fn tern(
    op: TernOp,
    [x, y, z]: [Operand<'_>; 3],
    lanes: usize,
    out: &mut Elems,
) -> Result<(), Failed> {
    each(x.ty(), lanes, out, None, |lane| eval_ternop(op, x.get(lane)?, y.get(lane)?, z.get(lane)?).ok())
}

pub(super) fn cmp(
    op: CmpOp,
    xy: (Operand<'_>, Operand<'_>),
    lanes: usize,
    out: &mut Elems,
) -> Result<(), Failed> {
    macro_rules! compare {
        ($ty:ty) => {
            match op {
                CmpOp::Eq => map2(xy, lanes, out, |x: $ty, y: $ty| x == y),
                CmpOp::Lt => map2(xy, lanes, out, |x: $ty, y: $ty| x < y),
                CmpOp::Le => map2(xy, lanes, out, |x: $ty, y: $ty| x <= y),
            }
        };
    }
    match xy.0.ty() {
        PrimType::F32 => compare!(f32),
        PrimType::F64 => compare!(f64),
        PrimType::I32 => compare!(i32),
        PrimType::I64 => compare!(i64),
        PrimType::I8 | PrimType::I16 | PrimType::F16 | PrimType::Bool => compare_each(op, xy, lanes, out),
        PrimType::U8 | PrimType::U16 | PrimType::U32 | PrimType::U64 => compare_each(op, xy, lanes, out),
    }
}

fn compare_each(
    op: CmpOp,
    (x, y): (Operand<'_>, Operand<'_>),
    lanes: usize,
    out: &mut Elems,
) -> Result<(), Failed> {
    each(PrimType::Bool, lanes, out, None, |lane| {
        eval_cmpop(op, x.get(lane)?, y.get(lane)?).ok().map(Prim::Bool)
    })
}

pub(super) fn to_type(to: PrimType, x: Operand<'_>, lanes: usize, out: &mut Elems) -> Result<(), Failed> {
    match (x.ty(), to) {
        (PrimType::I64, PrimType::F64) => map1(x, lanes, out, |x: i64| x as f64),
        (PrimType::I64, PrimType::F32) => map1(x, lanes, out, |x: i64| x as f32),
        (PrimType::I64, PrimType::I32) => map1(x, lanes, out, |x: i64| x as i32),
        (PrimType::I32, PrimType::F64) => map1(x, lanes, out, |x: i32| f64::from(x)),
        (PrimType::I32, PrimType::I64) => map1(x, lanes, out, |x: i32| i64::from(x)),
        (PrimType::F32, PrimType::F64) => map1(x, lanes, out, |x: f32| f64::from(x)),
        (PrimType::F64, PrimType::F32) => map1(x, lanes, out, |x: f64| x as f32),
        (PrimType::Bool, PrimType::I32) => map1(x, lanes, out, |x: bool| i32::from(x)),
        (PrimType::Bool, PrimType::I64) => map1(x, lanes, out, |x: bool| i64::from(x)),
        (PrimType::Bool, PrimType::F32) => map1(x, lanes, out, |x: bool| if x { 1.0f32 } else { 0.0 }),
        (PrimType::Bool, PrimType::F64) => map1(x, lanes, out, |x: bool| if x { 1.0f64 } else { 0.0 }),
        (_, to) => each(to, lanes, out, None, |lane| Some(convert(to, x.get(lane)?))),
    }
}

/// Lane by lane, the first operand where the mask is set, and the second elsewhere.
pub(super) fn select(
    mask: &[bool],
    (x, y): (Operand<'_>, Operand<'_>),
    out: &mut Elems,
) -> Result<(), Failed> {
    with_type!(x.ty(), T => {
        let lanes = mask.len();
        let (x, y) = (x.side::<T>(lanes)?, y.side::<T>(lanes)?);
        let out = T::cleared(out);
        match (x, y) {
            (Side::One(x), Side::One(y)) => out.extend(mask.iter().map(|m| if *m { x } else { y })),
            (Side::Many(x), Side::One(y)) => out.extend(mask.iter().zip(x).map(|(m, x)| if *m { *x } else { y })),
            (Side::One(x), Side::Many(y)) => out.extend(mask.iter().zip(y).map(|(m, y)| if *m { x } else { *y })),
            (Side::Many(x), Side::Many(y)) => {
                out.extend(mask.iter().zip(x).zip(y).map(|((m, x), y)| if *m { *x } else { *y }));
            }
        }
        Ok(())
    })
}

/// A copy of the operand.
pub(super) fn copy(x: Operand<'_>, lanes: usize, out: &mut Elems) -> Result<(), Failed> {
    with_type!(x.ty(), T => {
        let x = x.side::<T>(lanes)?;
        let out = T::cleared(out);
        match x {
            Side::One(x) => out.resize(lanes, x),
            Side::Many(x) => out.extend_from_slice(x),
        }
        Ok(())
    })
}

/// Every `stride`th element from a position on.
pub(super) fn strided(
    elems: &Elems,
    at: usize,
    stride: usize,
    lanes: usize,
    out: &mut Elems,
) -> Result<(), Failed> {
    with_type!(elems.ty(), T => {
        let from = T::slice(elems).and_then(|s| s.get(at..)).ok_or(Failed)?;
        let out = T::cleared(out);
        out.extend(from.iter().step_by(stride.max(1)).take(lanes));
        if out.len() == lanes { Ok(()) } else { Err(Failed) }
    })
}

/// The elements at the given positions of a part of an array.
pub(super) fn gather(
    elems: &Elems,
    part: std::ops::Range<usize>,
    positions: &[usize],
    out: &mut Elems,
) -> Result<(), Failed> {
    with_type!(elems.ty(), T => {
        let from = T::slice(elems).and_then(|s| s.get(part)).ok_or(Failed)?;
        let out = T::cleared(out);
        if positions.iter().any(|p| *p >= from.len()) {
            return Err(Failed);
        }
        out.extend(positions.iter().map(|p| from[*p]));
        Ok(())
    })
}
