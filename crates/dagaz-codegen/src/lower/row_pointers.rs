//! Rows that a loop of scalar operations reads elements of.
//!
//! The C compiler computes the place of an element anew where it cannot see that most of it stays the same, before and
//! after the part of a loop that is for vector units above all. A pointer to the row is computed once:
//!
//!     for j { ys[j] = a[i, j - 1] + a[i, j] }    ==>    row = a + i * m; for j { ys[j] = row[j - 1] + row[j] }
//!
//! The number of a row is often computed in the loop, in a branch: `if j > 0 { k = i - 1; … a[k, j] … }`. That goes before
//! the loop, too.
//!
//! At the border of the loops around it, a branch is there because there may be no such row. The pointer is to the nearest one
//! then: vector units read all rows, with masks, which takes long where there is no memory.
//!
//! Rows that are different in each iteration are the other way round: vector units read elements that are not neighbours from
//! one array, each at its own index, but not with a pointer for each.
//!
//!     for i { row = a[is[i]]; ys[i] = row[0] + row[1] }    ==>    for i { ys[i] = a[is[i], 0] + a[is[i], 1] }

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Check, Exp, Lambda, Stm};
use dagaz_core::prim::{BinOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::{LoopPart, Lower, Lowered};
use crate::imp::{Expr, Operand, Runtime};

/// A row: of an array, at the first indices.
struct Row {
    array: VarId,
    indices: Vec<Atom>,
    param: Param,
}

impl Lower<'_> {
    /// A lambda of scalar operations, which reads from rows that are bound here.
    pub(super) fn with_row_pointers(&mut self, lambda: &Lambda) -> Lowered<Lambda> {
        let mut lambda = lambda.clone();
        read_from_whole_arrays(&mut lambda.body, &mut HashMap::new());
        let mut inside: HashSet<VarId> = lambda.params.iter().map(|p| p.var).collect();
        let mut rows = Vec::new();
        for stm in numbers_from_outside(&mut lambda.body, &mut inside.clone()) {
            self.stm(&stm)?;
        }
        self.read_from_rows(&mut lambda.body, &mut inside, &mut rows);
        for Row { array, indices: first, param } in rows {
            let mut indices: Vec<Expr> = first.iter().map(|i| self.atom(*i)).collect();
            if self.around.part == LoopPart::OuterBorder {
                let (_, dims) = self.array(array)?;
                for (index, dim) in indices.iter_mut().zip(dims) {
                    *index = index.minimum(self.atom(dim) - 1).maximum(0);
                }
            }
            self.row_at(&param, array, &indices)?;
            self.run(Runtime::InRegister, [self.var(param.var)?.expr()]);
            if self.around.part != LoopPart::OuterBorder {
                self.fetch_next_row((array, &first), &param, &lambda)?;
            }
        }
        Ok(lambda)
    }

    fn read_from_rows(&mut self, body: &mut Body, inside: &mut HashSet<VarId>, rows: &mut Vec<Row>) {
        for stm in &mut body.stms {
            match &mut stm.exp {
                Exp::If { then, otherwise, .. } => {
                    self.read_from_rows(then, inside, rows);
                    self.read_from_rows(otherwise, inside, rows);
                }
                Exp::Index { array, indices, check: Check::Certified } => {
                    if let Some(row) = self.row_pointer(*array, indices, inside, rows) {
                        *array = row;
                        indices.drain(..indices.len() - 1);
                    }
                }
                _ => {}
            }
            inside.extend(stm.pat.iter().map(|p| p.var));
        }
    }

    /// The row with an element, if it is the same in all iterations and the element is not.
    fn row_pointer(
        &mut self,
        array: VarId,
        indices: &[Atom],
        inside: &HashSet<VarId>,
        rows: &mut Vec<Row>,
    ) -> Option<VarId> {
        let (last, first) = indices.split_last()?;
        let changes = |atom: &Atom| atom.as_var().is_some_and(|var| inside.contains(&var));
        let Type::Array { elem, dims } = self.ty(array).ok()? else { return None };
        let is_element = dims.len() == indices.len() && !first.is_empty() && self.has_memory(array);
        if !is_element || inside.contains(&array) || first.iter().any(changes) || !changes(last) {
            return None;
        }
        let known = rows.iter().find(|row| row.array == array && row.indices == first);
        if let Some(row) = known {
            return Some(row.param.var);
        }
        let ty = Type::array(elem, dims[first.len()..].to_vec());
        let param = self.unnamed(&[ty]).remove(0);
        let var = param.var;
        rows.push(Row { array, indices: first.to_vec(), param });
        Some(var)
    }
}

/// Reads elements from arrays instead of from their rows. What is checked stays as it is, as does the check of a row.
fn read_from_whole_arrays(body: &mut Body, rows: &mut HashMap<VarId, (VarId, Vec<Atom>)>) {
    for stm in &mut body.stms {
        match &mut stm.exp {
            Exp::Index { array, indices, check } => {
                if let Some((whole, first)) = rows.get(array).filter(|_| *check == Check::Certified) {
                    *array = *whole;
                    indices.splice(..0, first.iter().copied());
                }
                let row = stm.pat.iter().find(|param| param.ty.is_array());
                rows.extend(row.map(|param| (param.var, (*array, indices.clone()))));
            }
            Exp::If { then, otherwise, .. } => {
                read_from_whole_arrays(then, rows);
                read_from_whole_arrays(otherwise, rows);
            }
            _ => {}
        }
    }
}

/// Takes the sums and differences out of a body that are the same in all iterations.
fn numbers_from_outside(body: &mut Body, inside: &mut HashSet<VarId>) -> Vec<Stm> {
    let mut found = Vec::new();
    for mut stm in std::mem::take(&mut body.stms) {
        let changes = |atom: &Atom| atom.as_var().is_some_and(|var| inside.contains(&var));
        if let Exp::BinOp(BinOp::Add | BinOp::Sub, PrimType::I64, a, b) = &stm.exp
            && !changes(a)
            && !changes(b)
        {
            found.push(stm);
            continue;
        }
        if let Exp::If { then, otherwise, .. } = &mut stm.exp {
            found.extend(numbers_from_outside(then, inside));
            found.extend(numbers_from_outside(otherwise, inside));
        }
        inside.extend(stm.pat.iter().map(|p| p.var));
        body.stms.push(stm);
    }
    found
}
