//! How sizes that differ are told apart in messages.

use dagaz_syntax::{Diagnostic, Span};

use super::{SizeKind, SizeMismatch, Sizer};
use crate::subst::Subst;
use crate::types::{Size, VarId};

impl Sizer<'_> {
    /// That two sizes are not the same. Different sizes of one name get different names.
    pub(super) fn sizes_differ(&self, a: &Size, b: &Size) -> String {
        let (a, b) = (self.zonk_size(a), self.zonk_size(b));
        let (first, second) = (self.cx.show_size(&a), self.cx.show_size(&b));
        if first != second {
            return format!("Sizes \"{first}\" and \"{second}\" do not match");
        }
        let namesakes = self.namesakes(&a, &b);
        if namesakes.is_empty() {
            return format!(
                "Two sizes that are written \"{first}\" do not match, since the operations in them are of different types"
            );
        }
        let mut renamed = Subst::default();
        let mut meanings = Vec::new();
        for (one, other) in namesakes {
            let name = self.cx.var_name(one);
            let primed = self.cx.var_names().fresh(dagaz_syntax::Name::new(&format!("{name}'")));
            renamed.sizes.insert(other, Size::Var(primed));
            meanings.push(format!("\"{name}'\" is another \"{name}\""));
            meanings.extend(self.origin(one).map(|origin| format!("\"{name}\" is {origin}")));
            meanings.extend(self.origin(other).map(|origin| format!("\"{name}'\" is {origin}")));
        }
        let second = self.cx.show_size(&renamed.size(&b));
        format!("Sizes \"{first}\" and \"{second}\" do not match; {}", meanings.join(", "))
    }

    /// Different variables of the same name at the same place in two sizes that are written in the same way.
    fn namesakes(&self, a: &Size, b: &Size) -> Vec<(VarId, VarId)> {
        let variables = |size: &Size| {
            let mut found = Vec::new();
            size.each_var(&mut |v| found.push(v));
            found
        };
        let mut pairs = Vec::new();
        for (x, y) in variables(a).into_iter().zip(variables(b)) {
            if x != y && self.cx.var_name(x) == self.cx.var_name(y) && !pairs.contains(&(x, y)) {
                pairs.push((x, y));
            }
        }
        pairs
    }

    /// What a variable is that is bound nowhere in the source.
    fn origin(&self, v: VarId) -> Option<&'static str> {
        match self.vars.get(&v).map(|info| &info.kind) {
            _ if self.place_of(v).is_some() => None,
            Some(SizeKind::Unknown(why, _)) => Some(why),
            Some(SizeKind::Flexible { .. }) => Some("still to be found"),
            Some(SizeKind::Named) => Some("a size of a parameter"),
            None => Some("a size of another definition"),
        }
    }

    /// Where the name of a variable is bound.
    fn place_of(&self, v: VarId) -> Option<Span> {
        let local = self.notes.binders.iter().find(|(_, var)| **var == v).map(|(place, _)| *place);
        let place = local.or_else(|| self.cx.values.get(&v).map(|info| info.span));
        place.filter(|place| place.file != Span::NONE.file)
    }

    /// Show where sizes of the same name come from.
    pub(super) fn label_namesakes(&self, mut d: Diagnostic, m: &SizeMismatch) -> Diagnostic {
        let SizeMismatch::Differ(a, b) = m else { return d };
        let (a, b) = (self.zonk_size(a), self.zonk_size(b));
        if self.cx.show_size(&a) != self.cx.show_size(&b) {
            return d;
        }
        for (one, other) in self.namesakes(&a, &b) {
            let name = self.cx.var_name(one);
            for (v, shown) in [(one, name.to_string()), (other, format!("{name}'"))] {
                if let Some(place) = self.place_of(v) {
                    d = d.label(place, format!("\"{shown}\" is bound here"));
                }
            }
        }
        d
    }
}
