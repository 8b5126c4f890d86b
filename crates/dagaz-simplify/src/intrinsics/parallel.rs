//! `map`, `reduce`, `scan` and `flatmap`.

use dagaz_core::exp::{Body, Check, DimSlice, Exp, Lambda, LoopForm, LoopHints, Stm};
use dagaz_core::prim::{BinOp, CmpOp, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId as CoreVar};
use dagaz_core::visit::free_vars;

use crate::context::{Res, Simplifier};
use crate::effects::{CellId, RegionKind};
use crate::eval::outer_type;
use crate::value::{ArrayVal, EArg, EType, SVal, as_var};
use crate::walk::{array_type, flatten, rebuild};

pub(super) fn atoms(params: &[Param]) -> Vec<Atom> {
    params.iter().map(|p| p.var.into()).collect()
}

impl Simplifier<'_> {
    /// Parameters for the leaves of a value, and the value made of them.
    pub(crate) fn row_params(&mut self, hint: &str, row: &SVal) -> (Vec<Param>, SVal) {
        let flat = flatten(row);
        let params = self.params(hint, &flat.types());
        let value = rebuild(row, &flat.dims, &atoms(&params));
        (params, value)
    }

    pub(super) fn map(&mut self, f: &SVal, array: &ArrayVal, type_args: &[EArg]) -> Res<SVal> {
        let ty = match type_args.get(1) {
            Some(EArg::Type(ty) | EArg::Index(ty, _)) => Some(ty),
            Some(EArg::Size(_)) | None => None,
        };
        self.map_rows(RegionKind::Map, array, ty, |s, row| s.apply(f, vec![row]))
    }

    /// The array of what `f` makes of each row; in parallel, if `f` changes no state.
    pub fn map_rows(
        &mut self,
        kind: RegionKind,
        array: &ArrayVal,
        ty: Option<&EType>,
        mut f: impl FnMut(&mut Self, SVal) -> Res<SVal>,
    ) -> Res<SVal> {
        self.in_region(kind, |s, cells| {
            let mut row = |s: &mut Self, row: SVal| {
                let result = f(s, row)?;
                Ok(match ty {
                    Some(ty) => s.match_type(&result, ty).0,
                    None => result,
                })
            };
            match s.carries_state(cells)? {
                true => s.map_in_order(array, cells, &mut row),
                false => s.map_with(array, cells, &mut row),
            }
        })
    }

    /// A map whose function adds to the accumulators of `cells`, which go through it in front of the arrays.
    fn map_with(
        &mut self,
        array: &ArrayVal,
        cells: &[CellId],
        f: &mut dyn FnMut(&mut Self, SVal) -> Res<SVal>,
    ) -> Res<SVal> {
        let loc = self.loc;
        let mark = self.mark();
        let outside = SVal::tuple(self.cell_values(cells)?);
        let (accs, inside) = self.row_params("acc", &outside);
        let (params, row) = self.row_params("x", &array.elem);
        self.set_cells(cells, inside.tuple_parts());
        let (mut stms, (result, last)) = self.scope(|s| {
            let result = f(s, row)?;
            Ok((result, SVal::tuple(s.cell_values(cells)?)))
        })?;
        self.loc = loc;
        let flat = flatten(&result);
        self.require_regular(&flat.dims, &mut stms, mark)?;
        let ret: Vec<Type> = accs.iter().map(|p| p.ty.clone()).chain(flat.types()).collect();
        let body = Body { stms, result: [flatten(&last).atoms(), flat.atoms()].concat() };
        let lambda = Lambda { params: [accs.clone(), params].concat(), body, ret: ret.clone() };
        let mut arrays = self.array_vars(&flatten(&outside).leaves)?;
        arrays.extend(self.array_vars(&flatten(&array.elem).leaves)?);
        let types: Vec<Type> = ret.iter().map(|ty| outer_type(array.dim, ty)).collect();
        let results = self.emit_all("mapped", &types, Exp::Map { width: array.dim, arrays, lambda });
        let (accs, leaves) = results.split_at(accs.len());
        self.set_cells(cells, rebuild(&outside, &flatten(&outside).dims, accs).tuple_parts());
        Ok(SVal::array(array.dim, rebuild(&result, &flat.dims, leaves)))
    }

    /// Rows must all have the same sizes, which must be known before any row is.
    /// What computes sizes from nothing but what is known outside is moved there.
    pub(crate) fn require_regular(&mut self, dims: &[Atom], stms: &mut Vec<Stm>, mark: u32) -> Res<()> {
        if dims.iter().all(|dim| self.is_outside(*dim, mark)) {
            return Ok(());
        }
        let needed = needed_for(dims, stms);
        let mut hoisted: Vec<Atom> = Vec::new();
        for (stm, needed) in std::mem::take(stms).into_iter().zip(needed) {
            let outside = |v: &CoreVar| self.is_outside((*v).into(), mark) || hoisted.contains(&(*v).into());
            let types_outside = stm.pat.iter().flat_map(|p| p.ty.all_dims());
            let types_outside = types_outside.filter_map(Atom::as_var).all(|v| outside(&v));
            if needed && types_outside && free_vars(&stm.exp).iter().all(outside) {
                hoisted.extend(stm.pat.iter().map(|p| Atom::from(p.var)));
                self.builder.push(stm);
            } else {
                stms.push(stm);
            }
        }
        if dims.iter().all(|dim| self.is_outside(*dim, mark) || hoisted.contains(dim)) {
            return Ok(());
        }
        self.unsupported(
            "an array whose rows have sizes that are not known outside of the function that makes them",
        )
    }

    /// A binary operator on rows like `row`.
    pub(crate) fn operator(&mut self, op: &SVal, row: &SVal) -> Res<Lambda> {
        let loc = self.loc;
        let (xs, x) = self.row_params("x", row);
        let (ys, y) = self.row_params("y", row);
        let body = self.without_effects("an operator that combines two values", |s| {
            s.body(|s| {
                let result = s.apply(op, vec![x, y])?;
                Ok(flatten(&s.conform(&result, row)).atoms())
            })
        })?;
        self.loc = loc;
        let ret = flatten(row).types();
        if body.result.len() != ret.len() {
            return self.unsupported("an operator on functions");
        }
        Ok(Lambda { params: [xs, ys].concat(), body, ret })
    }

    pub(super) fn reduce(&mut self, op: &SVal, neutral: &SVal, array: &ArrayVal, comm: bool) -> Res<SVal> {
        let flat = flatten(&array.elem);
        let neutral = flatten(&self.conform(neutral, &array.elem)).atoms();
        let op = self.operator(op, &array.elem)?;
        let arrays = self.array_vars(&flat.leaves)?;
        let exp = Exp::Reduce { width: array.dim, arrays, pre: None, op, neutral, commutative: comm };
        let leaves = self.emit_all("reduced", &flat.types(), exp);
        Ok(rebuild(&array.elem, &flat.dims, &leaves))
    }

    pub(super) fn scan(&mut self, op: &SVal, neutral: &SVal, array: &ArrayVal) -> Res<SVal> {
        let flat = flatten(&array.elem);
        let neutral = flatten(&self.conform(neutral, &array.elem)).atoms();
        let op = self.operator(op, &array.elem)?;
        let arrays = self.array_vars(&flat.leaves)?;
        let exp = Exp::Scan { width: array.dim, arrays, pre: None, op, neutral };
        let types: Vec<Type> = flat.leaves.iter().map(|leaf| outer_type(array.dim, &leaf.ty)).collect();
        let leaves = self.emit_all("scanned", &types, exp);
        Ok(SVal::array(array.dim, rebuild(&array.elem, &flat.dims, &leaves)))
    }
}

/// `flatmap` applies its function twice: for the sizes, and then, in order, for the elements.
impl Simplifier<'_> {
    pub(super) fn flatmap(&mut self, f: &SVal, array: &ArrayVal, type_args: &[EArg]) -> Res<SVal> {
        let n = array.dim;
        let (sizes, others) = self.without_effects("a function whose results vary in size", |s| {
            s.flatmap_sizes(f, array, type_args)
        })?;
        let integers = array_type(PrimType::I64, &[n]);
        let op = self.builder.binop_lambda(BinOp::Add, PrimType::I64, self.loc);
        let neutral = vec![Atom::i64(0)];
        let scan = Exp::Scan { width: n, arrays: vec![sizes], pre: None, op: op.clone(), neutral };
        let ends = self.emit_var("ends", integers.clone(), scan);
        let offsets = self.map_integers(n, &[ends, sizes], |s, xs| s.sub(xs[0], xs[1]))?;
        let last = self.builder.binop_lambda(BinOp::Add, PrimType::I64, self.loc);
        let sum = Exp::Reduce {
            width: n,
            arrays: vec![sizes],
            pre: None,
            op: last,
            neutral: vec![Atom::i64(0)],
            commutative: true,
        };
        let total = self.emit("total", Type::Prim(PrimType::I64), sum);
        let flags = self.segment_flags(n, total, sizes, offsets)?;
        let elems = self.flatmap_elems(f, array, type_args, total, offsets)?;
        let numbers = |var: CoreVar| SVal::array(n, SVal::i64(var.into()));
        let flags = SVal::array(total, SVal::bool(flags));
        Ok(SVal::tuple([numbers(sizes), flags, numbers(offsets), elems, others]))
    }

    fn map_integers(
        &mut self,
        n: Atom,
        arrays: &[CoreVar],
        f: impl FnOnce(&mut Self, &[Atom]) -> Atom,
    ) -> Res<CoreVar> {
        let integer = Type::Prim(PrimType::I64);
        let params = self.params("x", &vec![integer.clone(); arrays.len()]);
        let xs = atoms(&params);
        let body = self.body(|s| Ok(vec![f(s, &xs)]))?;
        let lambda = Lambda { params, body, ret: vec![integer] };
        let exp = Exp::Map { width: n, arrays: arrays.to_vec(), lambda };
        Ok(self.emit_var("mapped", array_type(PrimType::I64, &[n]), exp))
    }

    fn pair(&self, value: &SVal) -> Res<(SVal, SVal)> {
        match value {
            SVal::Record(fields) if fields.len() == 2 => Ok((fields[0].1.clone(), fields[1].1.clone())),
            _ => self.bug("flatmap of a function that does not give a pair"),
        }
    }

    /// How many elements each application gives, and its other results.
    fn flatmap_sizes(&mut self, f: &SVal, array: &ArrayVal, type_args: &[EArg]) -> Res<(CoreVar, SVal)> {
        let mark = self.mark();
        let (params, row) = self.row_params("x", &array.elem);
        let (mut stms, (size, other)) = self.scope(|s| {
            let result = s.apply(f, vec![row])?;
            let (elems, other) = s.pair(&result)?;
            let SVal::Array(elems) = elems else { return s.bug("flatmap without an array") };
            Ok(match type_args.get(2) {
                Some(EArg::Type(ty) | EArg::Index(ty, _)) => (elems.dim, s.match_type(&other, ty).0),
                Some(EArg::Size(_)) | None => (elems.dim, other),
            })
        })?;
        let flat = flatten(&other);
        self.require_regular(&flat.dims, &mut stms, mark)?;
        let ret = [vec![Type::Prim(PrimType::I64)], flat.types()].concat();
        let body = Body { stms, result: [vec![size], flat.atoms()].concat() };
        let types: Vec<Type> = ret.iter().map(|ty| outer_type(array.dim, ty)).collect();
        let arrays = self.array_vars(&flatten(&array.elem).leaves)?;
        let lambda = Lambda { params, body, ret };
        let results = self.emit_all("sizes", &types, Exp::Map { width: array.dim, arrays, lambda });
        let Some(sizes) = as_var(results[0]) else { return self.bug("a map without results") };
        Ok((sizes, SVal::array(array.dim, rebuild(&other, &flat.dims, &results[1..]))))
    }

    fn segment_flags(&mut self, n: Atom, total: Atom, sizes: CoreVar, offsets: CoreVar) -> Res<Atom> {
        let nowhere = Atom::i64(-1);
        let starts = self.map_integers(n, &[sizes, offsets], |s, xs| {
            let empty = s.cmp(CmpOp::Eq, PrimType::I64, xs[0], Atom::i64(0));
            s.select(empty, PrimType::I64, nowhere, xs[1])
        })?;
        let ty = array_type(PrimType::Bool, &[total]);
        let none = Exp::Replicate { dims: vec![total], value: Atom::bool(false) };
        let dest = self.emit_var("flags", ty.clone(), none);
        let values = Exp::Replicate { dims: vec![n], value: Atom::bool(true) };
        let values = self.emit_var("true", array_type(PrimType::Bool, &[n]), values);
        let arrays = vec![starts, values];
        let exp = Exp::Scatter { width: n, arrays, pre: None, dests: vec![dest], shape: vec![total] };
        Ok(self.emit("flags", ty, exp))
    }

    /// Writes the elements of every application to their place.
    fn flatmap_elems(
        &mut self,
        f: &SVal,
        array: &ArrayVal,
        type_args: &[EArg],
        total: Atom,
        offsets: CoreVar,
    ) -> Res<SVal> {
        let Some(EArg::Type(ty)) = type_args.get(1) else { return self.bug("flatmap without types") };
        let all = EType::Array(crate::value::EDim::Known(total), std::rc::Rc::new(ty.clone()));
        let template = self.zero(&all, &[]);
        let SVal::Array(dest) = &template else { return self.bug("an array that is none") };
        let inits = flatten(&template).atoms();
        let (params, _) = self.row_params("elems", &template);
        let counter = self.builder.fresh("i");
        let row_dims = flatten(&dest.elem).dims;
        let body = self.body(|s| {
            let row = s.element(array, counter.into(), Check::Certified)?;
            let result = s.apply(f, vec![row])?;
            let (elems, _) = s.pair(&result)?;
            let SVal::Array(part) = &elems else { return s.bug("flatmap without an array") };
            let wanted = [&[part.dim], row_dims.as_slice()].concat();
            let values = flatten(&s.redim(&elems, &wanted)).atoms();
            let indices = vec![Atom::Var(counter)];
            let read = Exp::Index { array: offsets, indices, check: Check::Certified };
            let start = s.emit("offset", Type::Prim(PrimType::I64), read);
            let mut results = Vec::with_capacity(params.len());
            for (param, value) in params.iter().zip(values) {
                let mut dims = vec![DimSlice::Range { start, len: part.dim, stride: Atom::i64(1) }];
                if let Type::Array { dims: all, .. } = &param.ty {
                    let whole =
                        |len: &Atom| DimSlice::Range { start: Atom::i64(0), len: *len, stride: Atom::i64(1) };
                    dims.extend(all.iter().skip(1).map(whole));
                }
                let exp = Exp::Update { array: param.var, dims, value, check: Check::Checked };
                results.push(s.emit("elems", param.ty.clone(), exp));
            }
            Ok(results)
        })?;
        let types: Vec<Type> = params.iter().map(|p| p.ty.clone()).collect();
        let form = LoopForm::For { var: counter, ty: PrimType::I64, bound: array.dim };
        let params = params.into_iter().zip(inits).collect();
        let exp = Exp::Loop { params, form, body, hints: LoopHints::NONE };
        let leaves = self.emit_all("elems", &types, exp);
        Ok(rebuild(&template, &flatten(&template).dims, &leaves))
    }
}

/// For each statement, whether the atoms depend on it.
fn needed_for(atoms: &[Atom], stms: &[Stm]) -> Vec<bool> {
    let mut wanted: Vec<CoreVar> = atoms.iter().filter_map(|a| a.as_var()).collect();
    let mut needed = vec![false; stms.len()];
    for (stm, needed) in stms.iter().zip(&mut needed).rev() {
        if stm.pat.iter().any(|p| wanted.contains(&p.var)) {
            *needed = true;
            wanted.extend(free_vars(&stm.exp));
        }
    }
    needed
}
