//! The messages of errors, from what the generated code has noted.

use dagaz_codegen::{Part, SiteKind};
use dagaz_core::formats::text;
use dagaz_core::interp::bare;
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::prim_eval::PrimError;
use dagaz_core::value::Value;

/// What the interpreter says in the same place.
pub(crate) fn message(kind: &SiteKind, notes: &[Value], stopped: &str) -> String {
    let number = |i: usize| notes.get(i).and_then(Value::as_prim).and_then(Prim::as_i64).unwrap_or(0);
    let prim = |i: usize| notes.get(i).and_then(Value::as_prim).unwrap_or(Prim::I64(0));
    match kind {
        SiteKind::Assert(parts) => {
            let mut values = notes.iter();
            let shown = parts.iter().map(|part| match part {
                Part::Text(text) => text.clone(),
                Part::Value => values.next().map_or_else(|| "?".to_string(), show_bare),
            });
            shown.collect()
        }
        SiteKind::DivisionByZero => PrimError::DivisionByZero(prim(0)).to_string(),
        SiteKind::NegativeExponent => PrimError::NegativeExponent(prim(0), prim(1)).to_string(),
        SiteKind::OutOfBounds { indices } => {
            let shown: Vec<String> = (0..*indices).map(|i| number(i).to_string()).collect();
            let shape: String = (*indices..notes.len()).map(|i| format!("[{}]", number(i))).collect();
            format!("Index [{}] out of bounds for array of shape {shape}.", shown.join(", "))
        }
        SiteKind::NegativeSize(what) => format!("{what} is negative: {}", number(0)),
        SiteKind::Memory if number(0) == i64::MAX => "an array is too large".to_string(),
        SiteKind::Memory => {
            let ty = usize::try_from(number(1)).ok().and_then(|i| PrimType::ALL.get(i).copied());
            let (elements, ty, limit) = (number(0), ty.unwrap_or(PrimType::I64), number(2));
            format!("out of memory: {elements} elements of {ty} do not fit in {limit} bytes")
        }
        SiteKind::TooDeep => format!("recursion too deep: {} calls", number(0)),
        SiteKind::Stopped => stopped.to_string(),
        SiteKind::Call | SiteKind::Trace(_) => "internal error: an error without a message".to_string(),
    }
}

fn show_bare(value: &Value) -> String {
    match value {
        Value::Prim(prim) => bare(*prim),
        Value::Array(_) => text::print(value),
    }
}
