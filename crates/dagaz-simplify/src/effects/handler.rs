//! The handlers: `run_state`, `run_accum` and `run_accum_with`.
//!
//! ```text
//! run_accum (\h -> body)     with h: accum ([n]f64, i64)
//! ==>     with_acc over [n] (zeros), over [1] (zero) \(xs: acc, total: acc) -> body
//! ```
//!
//! Every number of the type has an accumulator of its own, over all dimensions above it, as the sum of tuples is the
//! tuple of sums. A single number is an array of one.

use std::rc::Rc;

use dagaz_core::exp::{AccInput, Body, Check, Exp, Lambda};
use dagaz_core::prim::{BinOp, Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId as CoreVar};
use dagaz_syntax::Name;
use dagaz_types::types::RefKind;

use super::{CellId, Place};
use crate::context::{Res, Simplifier};
use crate::eval::outer_type;
use crate::intrinsics::contains_function;
use crate::value::{AccVal, EArg, EDim, EType, SVal, as_var};
use crate::walk::{Kind, Token, flatten, leaf_types, rebuild};

/// One of Core's accumulators: an array of elements that an operator combines.
struct Group {
    fields: Vec<Name>,
    dims: Vec<Atom>,
    elem: EType,
    input: AccInput,
}

impl Simplifier<'_> {
    pub fn run_state(&mut self, init: &SVal, body: &SVal) -> Res<SVal> {
        if contains_function(init) {
            return self.misuse("reference-to-function", "a state cannot hold functions");
        }
        let cell = self.new_cell(RefKind::State, init.clone(), init.clone(), [].into());
        let reference = self.whole_cell(cell, init)?;
        let result = self.apply(body, vec![reference])?;
        self.check_escape(cell, &result)?;
        let last = self.cell(cell)?.value;
        self.effects.cells.remove(&cell);
        Ok(SVal::tuple([result, last]))
    }

    /// A reference is of no use once its handler has ended.
    fn check_escape(&self, cell: CellId, result: &SVal) -> Res<()> {
        let tokens = flatten(result).tokens;
        let escapes = |pair: &[Token]| pair == [Token::Kind(Kind::Ref), Token::Number(cell.0.into())];
        if tokens.windows(2).any(escapes) { self.escaped() } else { Ok(()) }
    }

    pub fn run_accum(&mut self, body: &SVal, type_args: &[EArg]) -> Res<SVal> {
        let Some(EArg::Type(ty)) = type_args.first() else {
            return self.bug("an accumulator without a type");
        };
        self.require_vector_space(ty)?;
        let total = self.zero(ty, &[]);
        let mut groups = Vec::new();
        self.sums(&total, &mut Vec::new(), &mut Vec::new(), &mut groups)?;
        self.with_accumulators(body, groups, total)
    }

    fn require_vector_space(&self, ty: &EType) -> Res<()> {
        match ty {
            EType::Prim(PrimType::Bool) => self.no_zero("bool"),
            EType::Prim(_) => Ok(()),
            EType::Array(EDim::Free(_), _) => self.bug("an accumulator without a size"),
            EType::Array(EDim::Known(_), elem) => self.require_vector_space(elem),
            EType::Record(fields) => fields.iter().try_for_each(|(_, t)| self.require_vector_space(t)),
            EType::Sum(_) => self.no_zero("a sum type"),
            EType::Fun => self.no_zero("a function"),
            EType::Acc(_) | EType::Ref(_) => self.no_zero("a reference"),
        }
    }

    fn no_zero<T>(&self, what: &str) -> Res<T> {
        self.misuse(
            "accumulator-type",
            format!(
                "an accumulator adds numbers, arrays of them, and records of those; there is no addition for {what}. \
                 Use run_accum_with and say how to combine two of them"
            ),
        )
    }

    /// The accumulators that sum the leaves of `total`, which is zero, below arrays of sizes `dims`.
    fn sums(
        &mut self,
        total: &SVal,
        fields: &mut Vec<Name>,
        dims: &mut Vec<Atom>,
        out: &mut Vec<Group>,
    ) -> Res<()> {
        match total {
            SVal::Scalar(prim, zero) => {
                let op = self.builder.binop_lambda(BinOp::Add, *prim, self.loc);
                let zeros = self.at_least_one(dims, *zero, &Type::Prim(*prim))?;
                let neutral = vec![Atom::Const(Prim::zero(*prim))];
                let input = AccInput { shape: shape(dims), arrays: vec![zeros], op: Some((op, neutral)) };
                out.push(Group {
                    fields: fields.clone(),
                    dims: dims.clone(),
                    elem: EType::Prim(*prim),
                    input,
                });
                Ok(())
            }
            SVal::Array(array) => {
                dims.push(array.dim);
                self.sums(&array.elem, fields, dims, out)?;
                dims.pop();
                Ok(())
            }
            SVal::Record(parts) => {
                for (name, part) in parts.iter() {
                    fields.push(*name);
                    self.sums(part, fields, dims, out)?;
                    fields.pop();
                }
                Ok(())
            }
            _ => self.bug("an accumulator of something else than numbers"),
        }
    }

    /// The array itself, or an array of one element.
    fn at_least_one(&mut self, dims: &[Atom], leaf: Atom, ty: &Type) -> Res<CoreVar> {
        match as_var(leaf) {
            Some(var) if !dims.is_empty() => Ok(var),
            _ => {
                let dims = shape(&[]);
                let exp = Exp::Replicate { dims: dims.clone(), value: leaf };
                Ok(self.emit_var("zero", outer_type(dims[0], ty), exp))
            }
        }
    }

    /// The accumulator holds elements, or arrays of elements.
    pub fn run_accum_with(
        &mut self,
        op: &SVal,
        neutral: &SVal,
        body: &SVal,
        type_args: &[EArg],
    ) -> Res<SVal> {
        let (Some(EArg::Type(ty)), Some(EArg::Type(elem_ty))) = (type_args.first(), type_args.get(1)) else {
            return self.bug("an accumulator without a type");
        };
        let mut dims = Vec::new();
        let mut rest = ty.clone();
        while !same_structure(&rest, elem_ty) {
            rest = match rest {
                EType::Array(EDim::Known(dim), elem) => {
                    dims.push(dim);
                    elem.as_ref().clone()
                }
                EType::Array(EDim::Free(_), _) => return self.bug("an accumulator without a size"),
                _ => {
                    return self.misuse(
                        "accumulator-type",
                        "the accumulator holds neither an element that the operator combines nor an array of them",
                    );
                }
            };
        }
        if contains_function(neutral) {
            return self.misuse("reference-to-function", "an accumulator cannot hold functions");
        }
        let (neutral, _) = self.match_type(neutral, &rest);
        let elem = self.type_of(&neutral)?;
        let operator = self.operator(op, &neutral)?;
        let total = dims.iter().rev().fold(neutral.clone(), |value, dim| self.replicate(*dim, &value));
        let mut arrays = Vec::new();
        for (leaf, ty) in flatten(&total).atoms().into_iter().zip(flatten(&neutral).types()) {
            arrays.push(self.at_least_one(&dims, leaf, &ty)?);
        }
        let op = Some((operator, flatten(&neutral).atoms()));
        let input = AccInput { shape: shape(&dims), arrays, op };
        self.with_accumulators(body, vec![Group { fields: Vec::new(), dims, elem, input }], total)
    }

    fn with_accumulators(&mut self, body: &SVal, groups: Vec<Group>, total: SVal) -> Res<SVal> {
        let (mut params, mut accs, mut ret) = (Vec::new(), Vec::new(), Vec::new());
        for group in &groups {
            let acc = AccVal { acc: Atom::i64(0), dims: group.input.shape.clone(), elem: group.elem.clone() };
            let (own, acc) = self.row_params("acc", &SVal::Acc(Rc::new(acc)));
            ret.extend(own.iter().map(|p| p.ty.clone()));
            params.extend(own);
            accs.push(acc);
        }
        let place = |group: &Group| Place { fields: group.fields.clone(), rank: group.dims.len() };
        let places = groups.iter().map(place).collect();
        let cell = self.new_cell(RefKind::Accum, SVal::tuple(accs), total.clone(), places);
        let mark = self.mark();
        let (stms, ((result, accs), changed)) = self.scope(|s| {
            s.observed(|s| {
                let reference = s.whole_cell(cell, &total)?;
                let result = s.apply(body, vec![reference])?;
                s.check_escape(cell, &result)?;
                Ok((result, s.cell(cell)?.value))
            })
        })?;
        self.effects.cells.remove(&cell);
        let changed: Vec<(CellId, SVal)> = changed.into_iter().filter(|(id, _)| *id != cell).collect();
        let all = SVal::tuple(std::iter::once(result).chain(changed.iter().map(|(_, v)| v.clone())));
        let (sizes, pat, results, value) = self.results_of_scope(&all, mark);
        let mut pattern = Vec::new();
        for group in &groups {
            let whole =
                |ty: &Type| group.input.shape.iter().rev().fold(ty.clone(), |ty, dim| outer_type(*dim, &ty));
            for ty in crate::walk::type_leaves(&group.elem, &[]) {
                pattern.push(self.param("total", whole(&ty)));
            }
        }
        let arrays: Vec<CoreVar> = pattern.iter().map(|p| p.var).collect();
        pattern.extend(pat.iter().cloned());
        ret.extend(sizes.iter().map(|_| Type::Prim(PrimType::I64)));
        ret.extend(flatten(&all).types());
        let result = [flatten(&accs).atoms(), sizes, results].concat();
        let lambda = Lambda { params, body: Body { stms, result }, ret };
        let single = groups.iter().flat_map(|g| {
            let leaves = crate::walk::type_leaves(&g.elem, &[]);
            leaves.into_iter().map(|ty| g.dims.is_empty().then_some(ty))
        });
        let single: Vec<Option<Type>> = single.collect();
        let inputs = groups.into_iter().map(|group| group.input).collect();
        self.push(pattern, Exp::WithAcc { inputs, lambda });
        let mut totals = Vec::with_capacity(arrays.len());
        for (array, single) in arrays.into_iter().zip(single) {
            totals.push(match single {
                None => array.into(),
                Some(ty) => {
                    let exp = Exp::Index { array, indices: vec![Atom::i64(0)], check: Check::Certified };
                    self.emit("total", ty, exp)
                }
            });
        }
        let total = rebuild(&total, &flatten(&total).dims, &totals);
        let SVal::Record(parts) = value else { return self.bug("results that are not a tuple") };
        for ((id, _), (_, value)) in changed.iter().zip(parts.iter().skip(1)) {
            self.set_cell(*id, value.clone());
        }
        Ok(SVal::tuple([parts[0].1.clone(), total]))
    }

    /// How a value leaves the scope that it was made in: sizes that are not known outside, the variables that it is bound
    /// to outside, its leaves, and the value outside.
    fn results_of_scope(&mut self, value: &SVal, mark: u32) -> (Vec<Atom>, Vec<Param>, Vec<Atom>, SVal) {
        let flat = flatten(value);
        let mut sizes: Vec<Atom> = Vec::new();
        let mut pat: Vec<Param> = Vec::new();
        let mut dims = Vec::with_capacity(flat.dims.len());
        for dim in &flat.dims {
            if self.is_outside(*dim, mark) {
                dims.push(*dim);
                continue;
            }
            let position = sizes.iter().position(|size| size == dim).unwrap_or_else(|| {
                sizes.push(*dim);
                pat.push(self.param("size", Type::Prim(PrimType::I64)));
                sizes.len() - 1
            });
            dims.push(pat[position].var.into());
        }
        let leaves = self.params("result", &leaf_types(value, &dims));
        let atoms: Vec<Atom> = leaves.iter().map(|p| p.var.into()).collect();
        pat.extend(leaves);
        (sizes, pat, flat.atoms(), rebuild(value, &dims, &atoms))
    }
}

/// The sizes of Core's accumulator.
fn shape(dims: &[Atom]) -> Vec<Atom> {
    if dims.is_empty() { vec![Atom::i64(1)] } else { dims.to_vec() }
}

/// Whether two types are the same but for sizes.
fn same_structure(a: &EType, b: &EType) -> bool {
    match (a, b) {
        (EType::Prim(x), EType::Prim(y)) => x == y,
        (EType::Array(_, x), EType::Array(_, y)) => same_structure(x, y),
        (EType::Record(xs), EType::Record(ys)) => {
            let same = |((n, x), (m, y)): (&(Name, EType), &(Name, EType))| n == m && same_structure(x, y);
            xs.len() == ys.len() && xs.iter().zip(ys.iter()).all(same)
        }
        (EType::Sum(xs), EType::Sum(ys)) => {
            let all = |xs: &[EType], ys: &[EType]| {
                xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| same_structure(x, y))
            };
            xs.len() == ys.len() && xs.iter().zip(ys.iter()).all(|((n, x), (m, y))| n == m && all(x, y))
        }
        (EType::Fun, EType::Fun) => true,
        (EType::Acc(x), EType::Acc(y)) | (EType::Ref(x), EType::Ref(y)) => same_structure(x, y),
        (
            EType::Prim(_)
            | EType::Array(..)
            | EType::Record(_)
            | EType::Sum(_)
            | EType::Fun
            | EType::Acc(_)
            | EType::Ref(_),
            _,
        ) => false,
    }
}
