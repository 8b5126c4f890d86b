//! Number literals fit their types, where those are inferred. A literal with a suffix wraps.
//!
//! ```text
//! let x: i8 = 128        error: Literal 128 out of bounds for type i8: -128 to 127
//! let x: i8 = -128       fine: the minus sign counts
//! ```

use dagaz_syntax::{Diagnostic, Span};

use super::walk::each_child;
use crate::print::prim_name;
use crate::sizes::Declared;
use crate::typed::{Def, Exp, ExpKind};
use crate::types::{PrimType, Type};

/// Check all literals of a definition.
pub(super) fn check(def: &Def, declared: &Declared) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    exp(&def.body, declared, &mut found);
    found
}

fn exp(e: &Exp, declared: &Declared, found: &mut Vec<Diagnostic>) {
    let bare = |e: &Exp| declared.bare_literals.contains(&e.span);
    match &e.kind {
        ExpKind::Int(n) if bare(e) => found.extend(check_int(*n, &e.ty, e.span)),
        ExpKind::Float(x) => found.extend(check_float(*x, &e.ty, e.span)),
        ExpKind::App { fun, args } if is_negation(fun) && args.len() == 1 => match &args[0].kind {
            ExpKind::Int(n) if bare(&args[0]) => found.extend(check_int(-n, &e.ty, e.span)),
            _ => exp(&args[0], declared, found),
        },
        _ => each_child(e, &mut |child| exp(child, declared, found)),
    }
}

fn is_negation(fun: &Exp) -> bool {
    matches!(&fun.kind, ExpKind::Intrinsic { name, .. } if name.as_str() == "neg")
}

/// An error if an integer literal does not fit its type.
pub(crate) fn check_int(n: i128, ty: &Type, span: Span) -> Option<Diagnostic> {
    let Type::Prim(prim) = ty else { return None };
    let (low, high) = match prim {
        PrimType::I8 => (i128::from(i8::MIN), i128::from(i8::MAX)),
        PrimType::I16 => (i128::from(i16::MIN), i128::from(i16::MAX)),
        PrimType::I32 => (i128::from(i32::MIN), i128::from(i32::MAX)),
        PrimType::I64 => (i128::from(i64::MIN), i128::from(i64::MAX)),
        PrimType::U8 => (0, i128::from(u8::MAX)),
        PrimType::U16 => (0, i128::from(u16::MAX)),
        PrimType::U32 => (0, i128::from(u32::MAX)),
        PrimType::U64 => (0, i128::from(u64::MAX)),
        PrimType::F16 | PrimType::F32 | PrimType::F64 => return check_float(n as f64, ty, span),
        PrimType::Bool => return None,
    };
    (n < low || n > high).then(|| {
        let message = format!("Literal {n} out of bounds for type {}: {low} to {high}", prim_name(*prim));
        Diagnostic::error("literal-out-of-range", span, message)
    })
}

/// An error if a literal is infinite in its type.
pub(crate) fn check_float(x: f64, ty: &Type, span: Span) -> Option<Diagnostic> {
    let Type::Prim(prim) = ty else { return None };
    let infinite = match prim {
        // Numbers from here on are rounded to infinity.
        PrimType::F16 => x.abs() >= 65520.0,
        PrimType::F32 => (x as f32).is_infinite(),
        PrimType::F64 => x.is_infinite(),
        PrimType::I8
        | PrimType::I16
        | PrimType::I32
        | PrimType::I64
        | PrimType::U8
        | PrimType::U16
        | PrimType::U32
        | PrimType::U64
        | PrimType::Bool => false,
    };
    infinite.then(|| {
        let message = format!("Literal out of bounds for type {}: it would be infinite", prim_name(*prim));
        Diagnostic::error("literal-out-of-range", span, message)
    })
}
