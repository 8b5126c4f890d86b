use dagaz_core::exp::{Lambda, Loc};
use dagaz_core::types::Atom;
use crate::context::{Ad, AdError, Res};
impl Ad<'_> {
    pub fn vjp(&mut self, _lambda: &Lambda, _args: &[Atom], _cts: &[Atom], loc: Loc) -> Res<Vec<Atom>> {
        Err(AdError::not_yet(loc, "reverse mode"))
    }
}
