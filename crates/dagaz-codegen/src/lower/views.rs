//! Which arrays must be in memory of their own, and which are only looked at.
//!
//! Rows, slices and transposes of an array, and ranges and copies of a value, need no memory if all that happens to them
//! is that elements are read: by an index, by a parallel operation, or when they are copied to somewhere else. What is
//! passed on as a whole (to a function, a loop, out of a branch) or is consumed has a block, with contiguous elements.
//!
//!     let b = rearrange (1, 0) a           b: a view of a with its strides exchanged
//!     let c = map n (b) (\row -> …row[i]…)
//!
//! The analysis walks backwards, so that the uses of a variable are known where it is bound.

use std::collections::HashSet;

use dagaz_core::exp::{Body, Exp, Lambda, LoopForm, Stm};
use dagaz_core::types::{Atom, Param, VarId};

/// The variables of a body that need blocks. Its results do.
/// `renames` are reshapes that change nothing.
pub(super) fn needing_blocks(body: &Body, renames: &HashSet<VarId>) -> HashSet<VarId> {
    let mut needs = Needs { blocks: HashSet::new(), renames };
    needs.body(body, true);
    needs.blocks
}

struct Needs<'r> {
    blocks: HashSet<VarId>,
    renames: &'r HashSet<VarId>,
}

impl Needs<'_> {
    fn atoms(&mut self, atoms: &[Atom]) {
        self.blocks.extend(atoms.iter().filter_map(|a| a.as_var()));
    }

    fn body(&mut self, body: &Body, are_results_kept: bool) {
        if are_results_kept {
            self.atoms(&body.result);
        }
        for stm in body.stms.iter().rev() {
            self.stm(stm);
        }
    }

    fn lambda(&mut self, lambda: Option<&Lambda>, are_results_kept: bool) {
        if let Some(lambda) = lambda {
            self.body(&lambda.body, are_results_kept);
        }
    }

    /// An array needs a block if its rows do; elements are copied.
    fn rows(&mut self, arrays: &[VarId], params: &[Param]) {
        for (array, param) in arrays.iter().zip(params) {
            if param.ty.is_array() && self.blocks.contains(&param.var) {
                self.blocks.insert(*array);
            }
        }
    }

    fn stm(&mut self, stm: &Stm) {
        let is_kept = stm.pat.iter().any(|p| self.blocks.contains(&p.var));
        match &stm.exp {
            Exp::Atom(atom) if is_kept => self.atoms(&[*atom]),
            Exp::Index { array, .. } if is_kept && stm.pat.iter().any(|p| p.ty.is_array()) => {
                self.blocks.insert(*array);
            }
            Exp::Reshape { .. } if !is_kept && stm.pat.iter().all(|p| self.renames.contains(&p.var)) => {}
            // These read elements, or make a view, or copy what they cannot view.
            Exp::Atom(_)
            | Exp::Index { .. }
            | Exp::Slice { .. }
            | Exp::Rearrange { .. }
            | Exp::Copy(_)
            | Exp::Concat { .. }
            | Exp::Replicate { .. }
            | Exp::ArrayLit { .. }
            | Exp::Iota { .. }
            | Exp::Scratch { .. }
            | Exp::UnOp(..)
            | Exp::BinOp(..)
            | Exp::TernOp(..)
            | Exp::CmpOp(..)
            | Exp::Convert(..) => {}
            Exp::Update { array, .. } | Exp::Reshape { array, .. } => {
                self.blocks.insert(*array);
            }
            Exp::If { then, otherwise, .. } => {
                self.body(then, true);
                self.body(otherwise, true);
            }
            Exp::Loop { params, form, body, .. } => {
                self.body(body, true);
                if let LoopForm::While { cond } = form {
                    self.body(cond, true);
                }
                params.iter().for_each(|(_, value)| self.atoms(&[*value]));
            }
            Exp::Call { args: values, .. } | Exp::Trace { values, .. } | Exp::UpdateAcc { values, .. } => {
                self.atoms(values);
            }
            Exp::Assert { message, .. } => {
                for part in message {
                    if let dagaz_core::exp::MsgPart::Value(value) = part {
                        self.atoms(&[*value]);
                    }
                }
            }
            exp => self.parallel(stm.pat.len(), exp),
        }
    }

    fn parallel(&mut self, results: usize, exp: &Exp) {
        match exp {
            Exp::Map { arrays, lambda, .. } => {
                self.lambda(Some(lambda), false);
                self.rows(arrays, &lambda.params);
            }
            Exp::Reduce { arrays, pre, op, neutral, .. } | Exp::Scan { arrays, pre, op, neutral, .. } => {
                self.lambda(Some(op), true);
                self.lambda(pre.as_ref(), true);
                let params = pre.as_ref().map_or(&op.params[results.min(op.params.len())..], |p| &p.params);
                self.rows(arrays, params);
                self.atoms(neutral);
            }
            Exp::Hist { arrays, pre, dests, shape, op, neutral, .. } => {
                self.lambda(Some(op), true);
                self.lambda(pre.as_ref(), true);
                match pre {
                    Some(pre) => self.rows(arrays, &pre.params),
                    None => self.rows(
                        &arrays[shape.len().min(arrays.len())..],
                        &op.params[results.min(op.params.len())..],
                    ),
                }
                self.blocks.extend(dests);
                self.atoms(neutral);
            }
            Exp::Scatter { arrays, pre, dests, .. } => {
                self.lambda(pre.as_ref(), true);
                if let Some(pre) = pre {
                    self.rows(arrays, &pre.params);
                }
                self.blocks.extend(dests);
            }
            Exp::WithAcc { inputs, lambda } => {
                for input in inputs {
                    self.lambda(input.op.as_ref().map(|(op, _)| op), true);
                    self.blocks.extend(&input.arrays);
                }
                self.lambda(Some(lambda), true);
            }
            // Everything that is left takes whole arrays.
            other => dagaz_core::visit::direct_operands(other, &mut |atom| self.atoms(&[atom])),
        }
    }
}
