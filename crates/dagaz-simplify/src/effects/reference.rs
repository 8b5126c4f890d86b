//! References to parts of a cell, and reading and writing of state.
//!
//! ```text
//! s[i].f := v     with s = Array n (Record (f: xs) (g: ys))     ==>     let xs' = xs with [i] = v
//! ```

use std::rc::Rc;

use dagaz_core::exp::{Check, MsgPart};
use dagaz_core::types::Atom;
use dagaz_syntax::Name;
use dagaz_types::types::RefKind;

use super::CellId;
use crate::context::{Res, Simplifier};
use crate::eval::{Position, Step};
use crate::value::{EDim, EType, RefStep, RefVal, SVal};

impl Simplifier<'_> {
    pub(super) fn whole_cell(&self, cell: CellId, like: &SVal) -> Res<SVal> {
        Ok(SVal::Ref(Rc::new(RefVal { cell, path: Vec::new(), ty: self.type_of(like)? })))
    }

    /// `r[i, …]`. What is added to an accumulator out of bounds would be lost without a word, so that its indices are
    /// checked here.
    pub fn index_reference(&mut self, reference: &RefVal, slice: &[Position]) -> Res<SVal> {
        let accumulates = self.cell(reference.cell)?.kind == RefKind::Accum;
        let mut path = reference.path.clone();
        let mut ty = reference.ty.clone();
        for position in slice {
            let (EType::Array(dim, elem), Position::Index(index, check)) = (&ty, position) else {
                return self.bug("a reference that is sliced by a range");
            };
            if let (true, Check::Checked, EDim::Known(size)) = (accumulates, check, dim) {
                self.assert_index(*index, *size);
            }
            path.push(RefStep::Index(*index, *check));
            ty = elem.as_ref().clone();
        }
        Ok(SVal::Ref(Rc::new(RefVal { cell: reference.cell, path, ty })))
    }

    fn assert_index(&mut self, index: Atom, size: Atom) {
        let valid = self.in_bounds(index, size);
        let message = vec![
            MsgPart::Text("Index [".into()),
            MsgPart::Value(index),
            MsgPart::Text("] out of bounds for array of shape [".into()),
            MsgPart::Value(size),
            MsgPart::Text("].".into()),
        ];
        self.assert(valid, message);
    }

    pub fn project_reference(&mut self, reference: &RefVal, field: Name) -> Res<SVal> {
        let EType::Record(fields) = &reference.ty else { return self.bug("a field of another reference") };
        let Some((_, ty)) = fields.iter().find(|(name, _)| *name == field) else {
            return self.bug("a field of another reference");
        };
        let path = [reference.path.as_slice(), &[RefStep::Field(field)]].concat();
        Ok(SVal::Ref(Rc::new(RefVal { cell: reference.cell, path, ty: ty.clone() })))
    }

    pub fn state_get(&mut self, reference: &RefVal) -> Res<SVal> {
        let mut value = self.cell_to_read(reference.cell)?.value;
        for step in self.steps(reference) {
            value = match step {
                Step::Field(field) => self.project(&value, field)?,
                Step::Index(slice, _) => self.index(&value, slice)?,
            };
        }
        Ok(value)
    }

    pub fn state_set(&mut self, reference: &RefVal, value: &SVal) -> Res<SVal> {
        let old = self.cell_to_change(reference.cell)?.value;
        let steps = self.steps(reference);
        let new = match steps.is_empty() {
            // The sizes of a state stay what they are, so that loops need not look for new ones.
            true => self.conform(value, &old),
            false => self.update(&old, &[], None, &steps, value)?,
        };
        self.set_cell(reference.cell, new);
        Ok(SVal::tuple([]))
    }

    /// The path with indices in a row taken together.
    fn steps(&self, reference: &RefVal) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        for step in &reference.path {
            match (step, steps.last_mut()) {
                (RefStep::Index(index, check), Some(Step::Index(slice, _))) => {
                    slice.push(Position::Index(*index, *check));
                }
                (RefStep::Index(index, check), _) => {
                    steps.push(Step::Index(vec![Position::Index(*index, *check)], self.span));
                }
                (RefStep::Field(field), _) => steps.push(Step::Field(*field)),
            }
        }
        steps
    }
}
