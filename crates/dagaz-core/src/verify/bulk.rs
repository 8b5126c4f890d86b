//! Types of the parallel operations and of accumulators.

use crate::exp::{AccInput, Exp, Lambda};
use crate::pass::Forms;
use crate::types::{Atom, Type, VarId};

use super::Verifier;

impl<'p> Verifier<'p> {
    pub(super) fn bulk(&mut self, exp: &'p Exp) -> Option<Vec<Type>> {
        match exp {
            Exp::Map { width, arrays, lambda } => {
                let rows = self.rows(*width, arrays)?;
                self.row_lambda(lambda, &rows, arrays, "the map");
                Some(lambda.ret.iter().map(|t| t.with_outer(&[*width])).collect())
            }
            Exp::Reduce { width, arrays, pre, op, neutral, .. } => {
                let rows = self.rows(*width, arrays)?;
                let rows = self.pre(pre.as_ref(), rows, arrays);
                self.operator(op, neutral, &rows, "the reduction");
                Some(op.ret.clone())
            }
            Exp::Scan { width, arrays, pre, op, neutral } => {
                let rows = self.rows(*width, arrays)?;
                let rows = self.pre(pre.as_ref(), rows, arrays);
                self.operator(op, neutral, &rows, "the scan");
                Some(op.ret.iter().map(|t| t.with_outer(&[*width])).collect())
            }
            Exp::Hist { width, arrays, pre, dests, shape, op, neutral } => {
                let rows = self.rows(*width, arrays)?;
                let rows = self.pre(pre.as_ref(), rows, arrays);
                let (dest_rows, results) = self.dests(dests, shape)?;
                self.indexed_rows(&rows, shape, &dest_rows);
                self.operator(op, neutral, &dest_rows, "the histogram");
                dests.iter().for_each(|d| self.consume(*d));
                Some(results)
            }
            Exp::Scatter { width, arrays, pre, dests, shape } => {
                let rows = self.rows(*width, arrays)?;
                let rows = self.pre(pre.as_ref(), rows, arrays);
                let (dest_rows, results) = self.dests(dests, shape)?;
                self.indexed_rows(&rows, shape, &dest_rows);
                dests.iter().for_each(|d| self.consume(*d));
                Some(results)
            }
            Exp::WithAcc { inputs, lambda } => self.with_acc(inputs, lambda),
            Exp::UpdateAcc { acc, indices, values } => self.update_acc(*acc, indices, values),
            _ => None,
        }
    }

    /// A derivative form is here.
    pub(super) fn expect_forms(&mut self) {
        if self.stage.forms == Forms::AreGone {
            self.error("a derivative form is left");
        }
    }

    /// Derivatives: the seeds have the types of what they belong to.
    pub(super) fn derivative(&mut self, exp: &'p Exp) -> Option<Vec<Type>> {
        match exp {
            Exp::Jvp { lambda, args, tangents } => {
                let types = self.atom_types(args)?;
                self.check_results(tangents, &types);
                self.lambda(lambda, &types, "the differentiated function");
                Some([lambda.ret.clone(), lambda.ret.clone()].concat())
            }
            Exp::Vjp { lambda, args, cotangents } => {
                let types = self.atom_types(args)?;
                self.check_results(cotangents, &lambda.ret);
                self.lambda(lambda, &types, "the differentiated function");
                Some([lambda.ret.clone(), types].concat())
            }
            Exp::WithVjp { lambda, rule, args } => {
                let types = self.atom_types(args)?;
                self.lambda(lambda, &types, "the function with a rule");
                let results = [lambda.ret.clone(), lambda.ret.clone()].concat();
                self.lambda(rule, &results, "the rule");
                if self.expect_count(rule.ret.len(), types.len(), "adjoints") {
                    rule.ret.iter().zip(&types).for_each(|(r, t)| self.expect_same(r, t, "an adjoint"));
                }
                Some(lambda.ret.clone())
            }
            Exp::Transpose { lambda, cotangents } => {
                let types: Vec<Type> = lambda.params.iter().map(|p| p.ty.clone()).collect();
                self.check_results(cotangents, &lambda.ret);
                self.lambda(lambda, &types, "the transposed function");
                Some(types)
            }
            _ => None,
        }
    }

    fn atom_types(&mut self, atoms: &[Atom]) -> Option<Vec<Type>> {
        atoms.iter().map(|a| self.atom(*a)).collect()
    }

    /// The types of the rows, given that every array has the width.
    fn rows(&mut self, width: Atom, arrays: &[VarId]) -> Option<Vec<Type>> {
        self.expect_type(width, &Type::I64, "width");
        let mut rows = Vec::new();
        for array in arrays {
            let ty = self.var(*array)?;
            let Some(row) = ty.row() else {
                self.error(format!("{} is not an array", self.name(*array)));
                return None;
            };
            if ty.dims().first().is_some_and(|outer| !self.same_size(*outer, width)) {
                let shown = self.show(&ty);
                self.error(format!(
                    "{} has type {shown}, whose outer size is not the width",
                    self.name(*array)
                ));
            }
            rows.push(row);
        }
        Some(rows)
    }

    /// A lambda over rows: one that consumes a row consumes the array it is from.
    fn row_lambda(&mut self, lambda: &'p Lambda, rows: &[Type], arrays: &[VarId], what: &str) {
        self.lambda(lambda, rows, what);
        for (param, array) in lambda.params.iter().zip(arrays) {
            if self.consumed.contains(&param.var) {
                self.consume(*array);
            }
        }
    }

    /// What the operation proper works on.
    fn pre(&mut self, pre: Option<&'p Lambda>, rows: Vec<Type>, arrays: &[VarId]) -> Vec<Type> {
        match pre {
            None => rows,
            Some(pre) => {
                self.row_lambda(pre, &rows, arrays, "the fused map");
                pre.ret.clone()
            }
        }
    }

    fn operator(&mut self, op: &'p Lambda, neutral: &[Atom], rows: &[Type], what: &str) {
        let twice: Vec<Type> = rows.iter().chain(rows).cloned().collect();
        self.lambda(op, &twice, &format!("the operator of {what}"));
        if self.expect_count(op.ret.len(), rows.len(), "results of the operator")
            && self.expect_count(neutral.len(), rows.len(), "neutral elements")
        {
            for ((ret, neutral), row) in op.ret.iter().zip(neutral).zip(rows) {
                self.expect_same(ret, row, "a result of the operator");
                self.expect_type(*neutral, row, "neutral element");
            }
        }
    }

    /// The types of the rows of destinations, and of the destinations.
    fn dests(&mut self, dests: &[VarId], shape: &[Atom]) -> Option<(Vec<Type>, Vec<Type>)> {
        self.sizes(shape, "size");
        let (mut rows, mut types) = (Vec::new(), Vec::new());
        for dest in dests {
            let (elem, dims) = self.array(*dest)?;
            let agree =
                dims.len() >= shape.len() && dims.iter().zip(shape).all(|(d, s)| self.same_size(*d, *s));
            if !agree {
                let shown = self.show(&Type::array(elem, dims));
                self.error(format!(
                    "the destination {} has type {shown}, not of the shape",
                    self.name(*dest)
                ));
                return None;
            }
            rows.push(Type::array(elem, dims[shape.len()..].to_vec()));
            types.push(Type::array(elem, dims));
        }
        Some((rows, types))
    }

    /// Indices, then one value per destination.
    fn indexed_rows(&mut self, rows: &[Type], shape: &[Atom], dest_rows: &[Type]) {
        if !self.expect_count(rows.len(), shape.len() + dest_rows.len(), "indices and values") {
            return;
        }
        let (indices, values) = rows.split_at(shape.len());
        indices.iter().for_each(|i| self.expect_same(i, &Type::I64, "an index"));
        for (value, row) in values.iter().zip(dest_rows) {
            self.expect_same(value, row, "a value");
        }
    }

    fn with_acc(&mut self, inputs: &'p [AccInput], lambda: &'p Lambda) -> Option<Vec<Type>> {
        let (mut accs, mut results) = (Vec::new(), Vec::new());
        for input in inputs {
            let (rows, types) = self.dests(&input.arrays, &input.shape)?;
            if let Some((op, neutral)) = &input.op {
                self.operator(op, neutral, &rows, "the accumulator");
            }
            accs.push(Type::Acc { index_dims: input.shape.clone(), elems: rows });
            results.extend(types);
        }
        inputs.iter().flat_map(|i| &i.arrays).for_each(|a| self.consume(*a));
        self.with_acc_lambda(lambda, &accs);
        results.extend(lambda.ret.iter().skip(accs.len()).cloned());
        Some(results)
    }

    /// Unlike others, this lambda runs once, and may consume what is outside.
    fn with_acc_lambda(&mut self, lambda: &'p Lambda, accs: &[Type]) {
        if self.expect_count(lambda.params.len(), accs.len(), "parameters") {
            for (param, acc) in lambda.params.iter().zip(accs) {
                self.expect_same(&param.ty, acc, "a parameter");
            }
        }
        if lambda.ret.len() < accs.len() {
            self.error("the accumulators are the first results");
        }
        for (ret, acc) in lambda.ret.iter().zip(accs) {
            self.expect_same(ret, acc, "a result");
        }
        for dim in lambda.ret.iter().flat_map(Type::all_dims) {
            self.expect_type(dim, &Type::I64, "a size");
        }
        self.scoped(|v| {
            lambda.params.iter().for_each(|p| v.bind(p));
            v.body_with(&lambda.body, |v| v.check_results(&lambda.body.result, &lambda.ret));
        });
    }

    fn update_acc(&mut self, acc: VarId, indices: &[Atom], values: &[Atom]) -> Option<Vec<Type>> {
        let ty = self.var(acc)?;
        let Type::Acc { index_dims, elems } = &ty else {
            let shown = self.show(&ty);
            self.error(format!("{} has type {shown}, but an accumulator is expected", self.name(acc)));
            return None;
        };
        self.sizes(indices, "index");
        self.expect_count(indices.len(), index_dims.len(), "indices");
        if self.expect_count(values.len(), elems.len(), "values") {
            values.iter().zip(elems).for_each(|(v, e)| self.expect_type(*v, e, "value"));
        }
        Some(vec![ty])
    }
}
