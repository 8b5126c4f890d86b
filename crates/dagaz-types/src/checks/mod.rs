//! Checks of finished definitions, each a pass of its own over the typed tree.

mod causality;
mod consumption;
mod effects;
mod exhaustive;
mod literals;
mod recursion;
mod walk;
pub(crate) use walk::each_child;

use dagaz_syntax::Diagnostic;

use crate::context::{Context, Error, Res};
use crate::sizes::{Checked, Declared};

pub(crate) use effects::{EffectScheme, with_rows};
pub(crate) use literals::{check_float, check_int};

/// Check a definition, and complete its type with what the checks have found out.
pub(crate) fn check_definition(cx: &mut Context, checked: &mut Checked) -> Res<()> {
    let mut found = literals::check(&checked.def, &checked.declared);
    found.extend(exhaustive::check(&checked.def));
    found.extend(causality::check(cx, &checked.def));
    found.extend(recursion::check(cx, &checked.def));
    let (ret, errors) = consumption::check(cx, &checked.def, &checked.declared);
    found.extend(errors);
    let effects = effects::check(cx, &checked.def);
    found.extend(effects.errors);
    let failed = found.iter().any(Diagnostic::is_error);
    cx.diagnostics.extend(found);
    if failed {
        return Err(Error::Silenced);
    }
    cx.note_effects(checked.def.var, effects.scheme, effects.rows);
    checked.set_result(ret);
    Ok(())
}
