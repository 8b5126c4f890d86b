//! Checks of finished definitions, each a pass of its own over the typed tree.

mod consumption;

use crate::context::{Context, Error, Res};
use crate::sizes::{Checked, Declared};

/// Check a definition, and complete its type with what the checks have found out.
pub(crate) fn check_definition(cx: &mut Context, checked: &mut Checked) -> Res<()> {
    let (ret, errors) = consumption::check(cx, &checked.def, &checked.declared);
    let failed = !errors.is_empty();
    cx.diagnostics.extend(errors);
    if failed {
        return Err(Error::Silenced);
    }
    checked.set_result(ret);
    Ok(())
}
