//! Solving index variables: what flows into each, and whether all that is an index of one set.

use dagaz_syntax::{Diagnostic, Span};

use super::{Bound, Flow, each_number, replace_vars};
use crate::context::{Error, Res};
use crate::sizes::scope::{same_size, same_type};
use crate::sizes::{SizeMismatch, Sizer};
use crate::subst::Subst;
use crate::types::{Size, Type, TypeArg, TypeId, VarId};

impl Sizer<'_> {
    /// Index variables in a type that leaves a scope. One that is an index of a set of that scope is solved now, so that the
    /// set's size is replaced like any other, also where the type is that of a function's result and mentions its parameters.
    pub(in crate::sizes) fn solve_leaving(&mut self, ty: &Type, hidden: &dyn Fn(&Self, VarId) -> bool) {
        let vars = self.open_vars(ty);
        if vars.is_empty() {
            return;
        }
        let level = self.level;
        let bounds = self.bounds(false);
        for var in vars {
            if let Bound::Index(size) = &bounds[var as usize]
                && size.mentions(&|v| hidden(self, v) || (self.level_of(v) > level && !self.is_flexible(v)))
            {
                self.indices.vars[var as usize].solution = Some(size.index_type());
            }
            let var = &mut self.indices.vars[var as usize];
            var.level = var.level.min(level);
        }
    }

    /// Solve the index variables of a function that are not in its type: all that flows into them is known. What they index
    /// says which sizes the function has, before those that are left become parameters.
    pub(in crate::sizes) fn solve_inner(&mut self, ty: &Type) -> Res<()> {
        let level = self.level;
        self.solve_leaving(ty, &|s, v| s.level_of(v) > level);
        while self.solve_bounded(false, Some(level)) {
            self.check_uses()?;
        }
        Ok(())
    }

    /// Index variables in a type that nothing has settled.
    fn open_vars(&self, ty: &Type) -> Vec<u32> {
        let mut vars = Vec::new();
        if self.indices.tracked {
            each_number(ty, &mut |leaf| {
                if let Type::Meta(var) = self.zonk(leaf) {
                    vars.push(var);
                }
            });
        }
        vars
    }

    /// What flows into each variable. With `settle`, sizes of index sets that are still open may become the same.
    fn bounds(&mut self, settle: bool) -> Vec<Bound> {
        let mut bounds = vec![Bound::Nothing; self.indices.vars.len()];
        let flows: Vec<(Type, u32)> = self
            .indices
            .flows
            .iter()
            .filter_map(|flow| match self.zonk(&flow.to) {
                Type::Meta(to) => Some((self.zonk(&flow.from), to)),
                _ => None,
            })
            .collect();
        loop {
            let mut changed = false;
            for (from, to) in &flows {
                let given = match from {
                    Type::Meta(var) => bounds[*var as usize].clone(),
                    Type::Named { .. } => Bound::Index(Size::of_index(from.clone())),
                    _ => Bound::Number,
                };
                let (joined, larger) = self.join_bounds(&bounds[*to as usize], given, *to, settle);
                bounds[*to as usize] = joined;
                changed |= larger;
            }
            if !changed {
                return bounds;
            }
        }
    }

    /// The least bound above two, and whether it is above the first.
    fn join_bounds(&mut self, old: &Bound, given: Bound, var: u32, settle: bool) -> (Bound, bool) {
        match (old, given) {
            (_, Bound::Nothing) | (Bound::Number, _) => (old.clone(), false),
            (_, Bound::Number) => (Bound::Number, true),
            (Bound::Nothing, Bound::Index(size)) => {
                let level = self.indices.vars[var as usize].level;
                let outside = size.mentions(&|v| self.level_of(v) > level && !self.is_flexible(v));
                (if outside { Bound::Number } else { Bound::Index(size) }, true)
            }
            (Bound::Nothing, both @ Bound::Indices(_)) => (both, true),
            (Bound::Index(a) | Bound::Indices(a), Bound::Index(b)) => {
                let (x, y) = (self.zonk_size(a), self.zonk_size(&b));
                if same_size(&x, &y) {
                    return (old.clone(), false);
                }
                let open = |size: &Size| matches!(size, Size::Var(v) if self.is_flexible(*v));
                if !open(&x) && !open(&y) {
                    return (Bound::Number, true);
                }
                if settle {
                    return match self.unify_size(&x, &y) {
                        Ok(()) => (old.clone(), false),
                        Err(_) => (Bound::Number, true),
                    };
                }
                match old {
                    Bound::Indices(_) => (old.clone(), false),
                    Bound::Index(_) | Bound::Nothing | Bound::Number => (Bound::Indices(x), true),
                }
            }
            (Bound::Index(_), both @ Bound::Indices(_)) => (both, true),
            (Bound::Indices(_), Bound::Indices(_)) => (old.clone(), false),
        }
    }

    /// Solve all index variables, and check that no number is taken for an index.
    pub(in crate::sizes) fn solve_indices(&mut self) -> Res<()> {
        if self.indices.vars.is_empty() {
            return Ok(());
        }
        for settle in [false, true] {
            while self.solve_bounded(settle, None) {
                self.check_uses()?;
            }
        }
        while self.solve_wanted() {}
        for var in &mut self.indices.vars {
            var.solution.get_or_insert(Type::I64);
        }
        self.check_uses()?;
        self.check_flows()
    }

    /// Variables into which an index flows, or a number, of scopes inside of some level if there is one. Says whether there
    /// were any.
    fn solve_bounded(&mut self, settle: bool, outside: Option<u32>) -> bool {
        if self.indices.vars.iter().all(|var| var.solution.is_some()) {
            return false;
        }
        let bounds = self.bounds(settle);
        let mut any = false;
        for (var, bound) in bounds.into_iter().enumerate() {
            let solution = match bound {
                Bound::Index(size) => self.zonk_size(&size).index_type(),
                Bound::Number => Type::I64,
                Bound::Nothing | Bound::Indices(_) => continue,
            };
            let var = &mut self.indices.vars[var];
            if var.solution.is_none() && outside.is_none_or(|level| var.level > level) {
                var.solution = Some(solution);
                any = true;
            }
        }
        any
    }

    /// A variable that nothing flows into is what is wanted of it: the parameter of a function that is never applied.
    fn solve_wanted(&mut self) -> bool {
        let wanted =
            self.indices.flows.iter().find_map(|flow| match (self.zonk(&flow.from), self.zonk(&flow.to)) {
                (Type::Meta(var), index @ Type::Named { .. }) => Some((var, index)),
                _ => None,
            });
        if let Some((var, index)) = &wanted {
            self.indices.vars[*var as usize].solution = Some(index.clone());
        }
        wanted.is_some()
    }

    /// Indices must be of the set of the array that they are used on.
    fn check_uses(&mut self) -> Res<()> {
        for used in std::mem::take(&mut self.indices.uses) {
            let ty = self.zonk(&used.index);
            match &ty {
                Type::Meta(_) => self.indices.uses.push(used),
                Type::Named { .. } => {
                    let dim = self.zonk_size(&used.dim);
                    self.unify_size(&dim, &Size::of_index(ty.clone()))
                        .map_err(|_| self.wrong_index(used.at, used.name, &ty, &dim, used.array))?;
                }
                // A number is checked when the program runs.
                _ => {}
            }
        }
        Ok(())
    }

    fn check_flows(&mut self) -> Res<()> {
        let flows = std::mem::take(&mut self.indices.flows);
        for flow in &flows {
            if let Err(mismatch) = self.flow(&flow.from, &flow.to) {
                return Err(self.number_for_index(flow, &flows, mismatch));
            }
        }
        Ok(())
    }

    fn number_for_index(&self, flow: &Flow, flows: &[Flow], mismatch: SizeMismatch) -> Error {
        let (what, code) = match &mismatch {
            SizeMismatch::NotAnIndex(..) => ("A number is used here as an index", "not-an-index"),
            _ => ("An index is used here as one of another set", "wrong-index"),
        };
        let mut d = Diagnostic::error(code, flow.at, what)
            .at(format!("an index of type \"{}\" is wanted", self.show_type(&flow.to)))
            .help(self.mismatch_note(&mismatch));
        if let Some(source) = self.source_of(flow, flows)
            && source != flow.at
        {
            d = d.label(source, format!("this brings in a value of type \"{}\"", self.show_type(&flow.from)));
        }
        d.into()
    }

    /// Where the value that a flow passes on came from.
    fn source_of(&self, flow: &Flow, flows: &[Flow]) -> Option<Span> {
        let same = |a: &Type, b: &Type| same_type(&self.zonk(a), &self.zonk(b));
        let mut seen = vec![&flow.from];
        let mut place = None;
        while let Some(Type::Meta(var)) = seen.last().copied() {
            let into = |f: &&Flow| matches!(&f.to, Type::Meta(to) if to == var) && same(&f.from, &flow.from);
            let new = |f: &&Flow| {
                !seen.iter().any(|s| matches!((s, &f.from), (Type::Meta(a), Type::Meta(b)) if a == b))
            };
            let Some(before) = flows.iter().filter(into).find(new) else { break };
            place = Some(before.at);
            seen.push(&before.from);
        }
        place
    }

    /// Type something whose numbers come from this place.
    pub(in crate::sizes) fn placed<T>(&mut self, at: Span, run: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.indices.at.replace(at);
        let result = run(self);
        self.indices.at = outer;
        result
    }

    /// A type as shown to the user. What may be an index is shown as the number that it is.
    pub(in crate::sizes) fn show_type(&self, ty: &Type) -> String {
        let mut shown = self.zonk(ty);
        replace_vars(&mut shown);
        self.cx.show_type(&shown)
    }

    /// What represents the values of an index type.
    pub(in crate::sizes) fn representation(&self, id: TypeId, args: &[TypeArg]) -> Type {
        let declared = &self.cx.index_types[&id];
        Subst::instantiate(&declared.params, args).ty(&declared.representation)
    }
}
