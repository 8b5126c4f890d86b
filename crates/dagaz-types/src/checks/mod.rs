//! Checks of finished definitions, each a pass of its own over the typed tree.

use crate::context::{Context, Res};
use crate::typed::Def;

pub(crate) fn check_definition(_cx: &mut Context, _def: &Def) -> Res<()> {
    Ok(())
}
