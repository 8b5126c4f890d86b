//! `for` with state: an ordered loop that fills the array.
//!
//! ```text
//! for i -> (s := get s + x[i]; get s)
//! ==>     loop (s: f64 = s, ys: [n]f64 = scratch) for i < n do let s' = s + x[i]   in (s', ys with [i] = s')
//! ```

use dagaz_core::exp::{Body, Check, DimSlice, Exp, LoopForm, LoopHints};
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Param, Type};

use super::CellId;
use crate::context::{Res, Simplifier};
use crate::eval::outer_type;
use crate::value::{ArrayVal, SVal};
use crate::walk::{flatten, rebuild};

impl Simplifier<'_> {
    /// The array of what `f` makes of each row, one after the other; `cells` go round.
    pub fn map_in_order(
        &mut self,
        array: &ArrayVal,
        cells: &[CellId],
        f: &mut dyn FnMut(&mut Self, SVal) -> Res<SVal>,
    ) -> Res<SVal> {
        let loc = self.loc;
        let mark = self.mark();
        let before = SVal::tuple(self.cell_values(cells)?);
        let (carried, current) = self.row_params("state", &before);
        self.set_cells(cells, current.tuple_parts());
        let counter = self.builder.fresh("i");
        let (mut stms, (result, after)) = self.scope(|s| {
            let row = s.element(array, counter.into(), Check::Certified)?;
            let result = f(s, row)?;
            let after = SVal::tuple(s.cell_values(cells)?);
            Ok((result, s.conform(&after, &current)))
        })?;
        self.loc = loc;
        let flat = flatten(&result);
        self.require_regular(&flat.dims, &mut stms, mark)?;
        let (filled, inits) = self.unfilled(array.dim, &flat.types())?;
        let mut results = flatten(&after).atoms();
        let filling = self.extend_scope(&mut stms, |s| {
            let fill = |(param, value): (&Param, Atom)| s.fill(param, counter.into(), value);
            Ok(filled.iter().zip(flat.atoms()).map(fill).collect::<Vec<_>>())
        })?;
        results.extend(filling);
        let params: Vec<Param> = carried.iter().chain(&filled).cloned().collect();
        let types: Vec<Type> = params.iter().map(|p| p.ty.clone()).collect();
        let inits = [flatten(&before).atoms(), inits].concat();
        let form = LoopForm::For { var: counter, ty: PrimType::I64, bound: array.dim };
        let body = Body { stms, result: results };
        let params = params.into_iter().zip(inits).collect();
        let last = self.emit_all("mapped", &types, Exp::Loop { params, form, body, hints: LoopHints::NONE });
        let (cells_after, leaves) = last.split_at(carried.len());
        self.set_cells(cells, rebuild(&before, &flatten(&before).dims, cells_after).tuple_parts());
        Ok(SVal::array(array.dim, rebuild(&result, &flat.dims, leaves)))
    }

    /// Parameters for arrays of `n` rows, and what they are at first.
    fn unfilled(&mut self, n: Atom, rows: &[Type]) -> Res<(Vec<Param>, Vec<Atom>)> {
        let (mut params, mut inits) = (Vec::new(), Vec::new());
        for row in rows {
            let ty = outer_type(n, row);
            let Type::Array { elem, dims } = &ty else { return self.bug("an array that is none") };
            let exp = Exp::Scratch { elem: *elem, dims: dims.clone() };
            inits.push(self.emit("scratch", ty.clone(), exp));
            params.push(self.param("filled", ty));
        }
        Ok((params, inits))
    }

    fn fill(&mut self, array: &Param, index: Atom, value: Atom) -> Atom {
        let dims = vec![DimSlice::Fix(index)];
        let exp = Exp::Update { array: array.var, dims, value, check: Check::Certified };
        self.emit("filled", array.ty.clone(), exp)
    }
}
