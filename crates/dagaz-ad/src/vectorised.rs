//! A reduction, scan or histogram of rows by an operator that works on each element by itself is one of each column
//! (thesis, sections 3.4.1 and 3.4.3), which has rules that cost less:
//!
//!     reduce (map f) nes xss     ==>     map (\ne xs -> reduce f ne xs) nes (transpose xss)
//!
//! Sums of rows stay as they are, and so do histograms that would be sorted once for each column.

use std::collections::HashMap;

use dagaz_core::exp::{Exp, Lambda, Loc, Stm};
use dagaz_core::operator::scalar_operator;
use dagaz_core::prim::BinOp;
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::context::{Ad, Res, is_plus};
use crate::rename::Renamer;

impl Ad<'_> {
    /// Pushes the statement with the map outside; says whether it is of that kind.
    pub fn expand_columns(&mut self, stm: &Stm) -> Res<bool> {
        let (op, neutral) = match &stm.exp {
            Exp::Reduce { pre: None, op, neutral, .. } | Exp::Scan { pre: None, op, neutral, .. } => {
                (op, neutral)
            }
            Exp::Hist { pre: None, op, neutral, .. } if innermost_is_known(op) => (op, neutral),
            _ => return Ok(false),
        };
        let neutral: Option<Vec<VarId>> = neutral.iter().map(|a| a.as_var()).collect();
        let (Some(columns), Some(neutral), false) = (elementwise(op), neutral, is_plus(op)) else {
            return Ok(false);
        };
        let elems: Vec<Type> = op.ret.iter().filter_map(Type::row).collect();
        if elems.len() != op.ret.len() {
            return Ok(false);
        }
        match &stm.exp {
            Exp::Reduce { .. } | Exp::Scan { .. } => self.fold_columns(stm, columns, &neutral, &elems)?,
            Exp::Hist { .. } => self.hist_columns(stm, columns, &neutral, &elems)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn fold_columns(&mut self, stm: &Stm, columns: Atom, neutral: &[VarId], elems: &[Type]) -> Res<()> {
        let loc = stm.loc;
        let (Exp::Reduce { width, arrays, op, .. } | Exp::Scan { width, arrays, op, .. }) = &stm.exp else {
            return Ok(());
        };
        let lines: Vec<Type> = elems.iter().map(|e| e.with_outer(&[*width])).collect();
        let turned = self.turned(arrays, &lines, columns, 1, loc);
        let (xs, nes) = (self.line_params("xs", &lines), self.line_params("ne", elems));
        let of_lines = xs.iter().map(|p| p.var).collect();
        let starts = nes.iter().map(|p| p.var.into()).collect();
        let inner_op = self.columnwise(op);
        let is_scan = matches!(stm.exp, Exp::Scan { .. });
        let (exp, types) = match &stm.exp {
            Exp::Reduce { commutative, .. } => {
                let commutative = *commutative;
                let (pre, op) = (None, inner_op);
                (
                    Exp::Reduce { width: *width, arrays: of_lines, pre, op, neutral: starts, commutative },
                    elems,
                )
            }
            _ => {
                let (pre, op) = (None, inner_op);
                (Exp::Scan { width: *width, arrays: of_lines, pre, op, neutral: starts }, lines.as_slice())
            }
        };
        let lambda = self.one_column([xs, nes].concat(), exp, types, loc)?;
        let exp = Exp::Map { width: columns, arrays: [turned, neutral.to_vec()].concat(), lambda };
        if !is_scan {
            self.push(Stm { pat: stm.pat.clone(), exp, loc });
            return Ok(());
        }
        let types: Vec<Type> = lines.iter().map(|line| line.with_outer(&[columns])).collect();
        let results = self.let_exps("columns", &types, exp, loc);
        self.turn_back(&stm.pat, &results, 1, loc);
        Ok(())
    }

    fn hist_columns(&mut self, stm: &Stm, columns: Atom, neutral: &[VarId], elems: &[Type]) -> Res<()> {
        let loc = stm.loc;
        let Exp::Hist { width, arrays, dests, shape, op, .. } = &stm.exp else { return Ok(()) };
        let (indices, values) = arrays.split_at(shape.len());
        let value_lines: Vec<Type> = elems.iter().map(|e| e.with_outer(&[*width])).collect();
        let dest_lines: Vec<Type> = elems.iter().map(|e| e.with_outer(shape)).collect();
        let values = self.turned(values, &value_lines, columns, 1, loc);
        let dests = self.turned(dests, &dest_lines, columns, shape.len(), loc);
        let params = [
            self.line_params("xs", &value_lines),
            self.line_params("bins", &dest_lines),
            self.line_params("ne", elems),
        ];
        let of = |params: &[Param]| -> Vec<VarId> { params.iter().map(|p| p.var).collect() };
        let exp = Exp::Hist {
            width: *width,
            arrays: [indices.to_vec(), of(&params[0])].concat(),
            pre: None,
            dests: of(&params[1]),
            shape: shape.clone(),
            op: self.columnwise(op),
            neutral: params[2].iter().map(|p| p.var.into()).collect(),
        };
        let lambda = self.one_column(params.concat(), exp, &dest_lines, loc)?;
        let arrays = [values, dests, neutral.to_vec()].concat();
        let types: Vec<Type> = dest_lines.iter().map(|line| line.with_outer(&[columns])).collect();
        let results = self.let_exps("columns", &types, Exp::Map { width: columns, arrays, lambda }, loc);
        self.turn_back(&stm.pat, &results, shape.len(), loc);
        Ok(())
    }

    fn line_params(&mut self, hint: &str, types: &[Type]) -> Vec<Param> {
        types.iter().map(|ty| self.param(hint, ty.clone())).collect()
    }

    /// The function of one column.
    fn one_column(&mut self, params: Vec<Param>, exp: Exp, types: &[Type], loc: Loc) -> Res<Lambda> {
        let pat = self.line_params("column", types);
        let result: Vec<Atom> = pat.iter().map(|p| p.var.into()).collect();
        self.lambda(params, types.to_vec(), |ad| {
            ad.expand_stm(&Stm { pat, exp, loc }, true)?;
            Ok(result)
        })
    }

    /// The arrays with the dimension of columns, which is behind `outer` others, in front.
    fn turned(
        &mut self,
        arrays: &[VarId],
        lines: &[Type],
        columns: Atom,
        outer: usize,
        loc: Loc,
    ) -> Vec<VarId> {
        let mut results = Vec::new();
        for (array, line) in arrays.iter().zip(lines) {
            let mut perm: Vec<usize> = (0..=line.rank()).collect();
            perm[..=outer].rotate_right(1);
            let exp = Exp::Rearrange { perm, array: *array };
            results.push(self.let_var("columns", line.with_outer(&[columns]), exp, loc));
        }
        results
    }

    /// The reverse of [`Ad::turned`], into the variables of a pattern.
    fn turn_back(&mut self, pat: &[Param], results: &[VarId], outer: usize, loc: Loc) {
        for (param, array) in pat.iter().zip(results) {
            let mut perm: Vec<usize> = (0..param.ty.rank()).collect();
            perm[..=outer].rotate_left(1);
            self.push(Stm { pat: vec![param.clone()], exp: Exp::Rearrange { perm, array: *array }, loc });
        }
    }

    /// The function `f` of an operator `map f`, on the elements of its operands in their order.
    fn columnwise(&mut self, op: &Lambda) -> Lambda {
        let Exp::Map { arrays, lambda, .. } = &op.body.stms[0].exp else { return op.clone() };
        let f = Renamer::new(self, HashMap::new()).lambda(lambda);
        let find = |p: &Param| arrays.iter().position(|a| *a == p.var).map(|i| f.params[i].clone());
        let params = op.params.iter().filter_map(find).collect();
        Lambda { params, body: f.body, ret: f.ret }
    }
}

/// The width of an operator that is a `map` over its operands, each once.
fn elementwise(op: &Lambda) -> Option<Atom> {
    let [stm] = op.body.stms.as_slice() else { return None };
    let Exp::Map { width, arrays, .. } = &stm.exp else { return None };
    let results: Vec<Atom> = stm.pat.iter().map(|p| p.var.into()).collect();
    let all = op.params.iter().all(|p| arrays.contains(&p.var)) && arrays.len() == op.params.len();
    (all && op.body.result == results).then_some(*width)
}

/// Whether the operator on single elements has a rule of its own in histograms.
fn innermost_is_known(op: &Lambda) -> bool {
    match op.body.stms.as_slice() {
        [Stm { exp: Exp::Map { lambda, .. }, .. }] => innermost_is_known(lambda),
        _ => scalar_operator(op).is_some_and(|known| {
            matches!(known.op, BinOp::Min | BinOp::Max) || (known.op == BinOp::Mul && known.ty.is_float())
        }),
    }
}
