//! Computes a value again, at other iterations: the slice of the program that the value depends on.
//!
//! Scalar operations, reads, branches, maps of cheap rows, and maps and reductions of few scalars are repeated for the one element
//! that is wanted. What costs more than a constant (reductions, loops, ...) is not repeated but handed out: the maps around it give
//! it as a further result, and the value is read from there. So is what several elements would each repeat, unless it is
//! next to nothing, and what [`super::shared`] says.
//!
//! The few elements of a short row, as the coordinates of a point, can be computed together instead. That is better where
//! a value depends on an iteration that is summed over: an array of such values has a dimension that the result has not, as a
//! sum over pairs of points would have an array of all pairs.

use std::collections::HashMap;

use dagaz_core::build::Builder;
use dagaz_core::effects::cannot_fail;
use dagaz_core::exp::{Body, Check, DimSlice, Exp, Lambda, Loc, Stm};
use dagaz_core::machine;
use dagaz_core::prim::{BinOp, Prim, PrimType, UnOp};
use dagaz_core::rename::Copy;
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit::{direct_operands, free_vars, operands_mut, type_mut};

use super::collect::{Collected, Def, ScopeId, ScopeKind};

/// A further result of the statement around a scope.
pub(super) struct Handed {
    pub scope: ScopeId,
    /// Inside the scope.
    pub atom: Atom,
    pub ty: Type,
    /// Outside.
    pub name: VarId,
}

pub(super) struct Emitter<'e, 'a> {
    pub b: &'e mut Builder,
    pub found: &'e mut Collected<'a>,
    pub types: &'e HashMap<VarId, Type>,
    pub loc: Loc,
    /// The iteration at which each scope is wanted.
    pub at: HashMap<ScopeId, Atom>,
    /// The iterations that the update is inside of, from the outside in.
    around: Vec<ScopeId>,
    /// Those that are summed over.
    summed: Vec<ScopeId>,
    /// Whether the elements of short rows are computed together.
    pub is_together: bool,
    /// Whether that would have saved an array.
    pub wants_together: bool,
    pub handed: Vec<Handed>,
    /// What was handed out all the way, with the scope it comes from.
    pub outside: HashMap<VarId, (VarId, Type)>,
    /// Rows of maps that are repeated: the array and the iteration.
    rows: HashMap<VarId, (VarId, Atom)>,
    done: HashMap<VarId, Atom>,
    read: HashMap<(VarId, Vec<Atom>), Atom>,
}

pub(super) fn is_few(width: Atom) -> bool {
    width
        .as_const()
        .and_then(Prim::as_i64)
        .is_some_and(|width| (1..=machine::FEW_ITERATIONS).contains(&width))
}

/// Whether a function computes with scalars alone.
fn is_scalar(lambda: &Lambda) -> bool {
    let params = lambda.params.iter().map(|p| &p.ty);
    let bound = lambda.body.stms.iter().flat_map(|stm| &stm.pat).map(|p| &p.ty);
    let reads =
        |stm: &Stm| matches!(stm.exp, Exp::Index { check: Check::Certified, .. }) || cannot_fail(&stm.exp);
    params.chain(bound).chain(&lambda.ret).all(|ty| ty.rank() == 0) && lambda.body.stms.iter().all(reads)
}

/// None where the value cannot be had.
type Emitted = Option<Atom>;

impl<'e, 'a> Emitter<'e, 'a> {
    pub fn new(
        b: &'e mut Builder,
        found: &'e mut Collected<'a>,
        types: &'e HashMap<VarId, Type>,
        loc: Loc,
    ) -> Emitter<'e, 'a> {
        Emitter {
            b,
            found,
            types,
            loc,
            at: HashMap::new(),
            around: Vec::new(),
            summed: Vec::new(),
            is_together: false,
            wants_together: false,
            handed: Vec::new(),
            outside: HashMap::new(),
            rows: HashMap::new(),
            done: HashMap::new(),
            read: HashMap::new(),
        }
    }

    /// A body in which values are computed; what it computes is not known afterwards.
    pub fn body(&mut self, build: impl FnOnce(&mut Self) -> Option<Vec<Atom>>) -> Option<Body> {
        let (done, read) = (self.done.clone(), self.read.clone());
        self.b.push_scope();
        let result = build(self);
        let stms = self.b.pop_scope();
        (self.done, self.read) = (done, read);
        Some(Body { stms, result: result? })
    }

    /// Another place is to be computed, of an update inside of the iterations `around` of which some are known: what was computed
    /// so far is of other iterations.
    pub fn start_again(&mut self, around: &[ScopeId], summed: &[ScopeId], known: &[(ScopeId, Atom)]) {
        self.around = around.to_vec();
        self.summed = summed.to_vec();
        self.at = known.iter().copied().collect();
        self.done.clear();
        self.read.clear();
    }

    pub fn push(&mut self, hint: &str, ty: Type, exp: Exp) -> Atom {
        self.b.let_exp(hint, ty, exp, self.loc)
    }

    pub fn atom(&mut self, atom: Atom) -> Emitted {
        let Atom::Var(var) = atom else { return Some(atom) };
        if let Some(done) = self.done.get(&var) {
            return Some(*done);
        }
        if let Some((array, i)) = self.rows.get(&var).copied() {
            return self.index(array, vec![i]);
        }
        let value = match self.found.defs.get(&var) {
            None => return Some(atom),
            Some(Def::Counter { scope }) => *self.at.get(scope)?,
            Some(Def::Carried { .. }) => return None,
            Some(Def::Row { array, scope, .. }) => {
                let (array, i) = (*array, *self.at.get(scope)?);
                self.index(array, vec![i])?
            }
            Some(Def::Stm { exp, position, ty, .. }) => {
                let (exp, position, ty) = (*exp, *position, *ty);
                if self.is_repeated(var)
                    && let Some(value) = self.hand_out(var, Vec::new())
                {
                    self.done.insert(var, value);
                    return Some(value);
                }
                match self.again(exp, position, ty, var) {
                    Some(value) => value,
                    None => self.hand_out(var, Vec::new())?,
                }
            }
        };
        self.done.insert(var, value);
        Some(value)
    }

    /// Whether several updates use the value, and each would have to compute it.
    fn is_repeated(&mut self, var: VarId) -> bool {
        let Some(Def::Stm { ty: Type::Prim(prim), scope, is_inner, .. }) = self.found.defs.get(&var) else {
            return false;
        };
        let is_inner = *is_inner;
        let chain = self.found.chain(*scope);
        let (own, further): (Vec<ScopeId>, Vec<ScopeId>) =
            self.around.iter().partition(|scope| chain.contains(scope));
        if !prim.is_float() || further.is_empty() || self.steps(var, machine::STORED_VALUE_OPERATIONS) > 0 {
            return false;
        }
        let is_few = |scope: &ScopeId| match self.found.scopes[*scope].kind {
            ScopeKind::Iteration { width, .. } => is_few(width),
            ScopeKind::WithAcc | ScopeKind::Branch { .. } => false,
        };
        if is_inner {
            // It cannot be read, and would be computed for every element.
            self.wants_together = true;
            return false;
        }
        if !further.iter().all(is_few) || !own.iter().any(|scope| self.summed.contains(scope)) {
            return true;
        }
        self.wants_together = true;
        !self.is_together
    }

    /// What `build` computes in the open scope, which is forgotten afterwards, as are the iterations it was at.
    pub fn apart<T>(&mut self, build: impl FnOnce(&mut Self) -> T) -> T {
        let (at, done, read) = (self.at.clone(), self.done.clone(), self.read.clone());
        let result = build(self);
        (self.at, self.done, self.read) = (at, done, read);
        result
    }

    /// What is left of the budget after the operations that the value needs.
    fn steps(&self, var: VarId, budget: usize) -> usize {
        let Some(Def::Stm { exp, .. }) = self.found.defs.get(&var) else { return budget };
        let own = match exp {
            Exp::UnOp(UnOp::Neg | UnOp::Abs, ..) | Exp::BinOp(..) | Exp::TernOp(..) => 1,
            // A function, or many operations.
            Exp::UnOp(..) | Exp::Map { .. } | Exp::Reduce { .. } => machine::STORED_VALUE_OPERATIONS,
            _ => 0,
        };
        let mut left = budget.saturating_sub(own);
        direct_operands(exp, &mut |atom| {
            if let Atom::Var(operand) = atom
                && left > 0
            {
                left = self.steps(operand, left);
            }
        });
        left
    }

    fn atoms(&mut self, atoms: &[Atom]) -> Option<Vec<Atom>> {
        atoms.iter().map(|a| self.atom(*a)).collect()
    }

    /// The statement once more, if that is cheap.
    fn again(&mut self, exp: &'a Exp, position: usize, ty: &Type, var: VarId) -> Emitted {
        match exp {
            Exp::Atom(a) => self.atom(*a),
            Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..) => {
                self.same(exp, ty, var)
            }
            Exp::Slice { .. } | Exp::Rearrange { .. } | Exp::Reshape { .. } => self.same(exp, ty, var),
            Exp::Index { array, indices, .. } => {
                let indices = self.atoms(indices)?;
                self.index(*array, indices)
            }
            Exp::Copy(array) => self.atom((*array).into()),
            Exp::If { cond, then, otherwise } if matches!(ty, Type::Prim(_)) => {
                let cond = self.atom(*cond)?;
                let then = self.branch(then, position, var)?;
                let otherwise = self.branch(otherwise, position, var)?;
                let hint = self.b.vars.hint(var).to_owned();
                Some(self.push(&hint, ty.clone(), Exp::If { cond, then, otherwise }))
            }
            Exp::Map { width, lambda, .. } if is_few(*width) && is_scalar(lambda) => {
                self.few(exp, position, var)
            }
            Exp::Reduce { width, pre, op, .. }
                if is_few(*width) && is_scalar(op) && pre.as_ref().is_none_or(is_scalar) =>
            {
                self.few(exp, position, var)
            }
            Exp::If { .. } | Exp::Loop { .. } | Exp::Call { .. } | Exp::Assert { .. } | Exp::Trace { .. } => {
                None
            }
            Exp::Update { .. } | Exp::Iota { .. } | Exp::Replicate { .. } | Exp::Concat { .. } => None,
            Exp::Scratch { .. } | Exp::ArrayLit { .. } | Exp::Map { .. } | Exp::Reduce { .. } => None,
            Exp::Scan { .. } | Exp::Hist { .. } | Exp::Scatter { .. } => None,
            Exp::WithAcc { .. } | Exp::UpdateAcc { .. } | Exp::Contract { .. } => None,
            Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::WithVjp { .. } => None,
            Exp::Transpose { .. } | Exp::Detach(_) => None,
        }
    }

    /// A map or reduction of a few scalars once more.
    fn few(&mut self, exp: &'a Exp, position: usize, var: VarId) -> Emitted {
        let mut names = HashMap::new();
        for free in free_vars(exp) {
            names.insert(free, self.atom(free.into())?);
        }
        let is_array = |array: &VarId| names.get(array).is_none_or(|atom| atom.as_var().is_some());
        let (width, rows) = match exp {
            Exp::Map { width, arrays, lambda } if arrays.iter().all(is_array) => (Some(*width), &lambda.ret),
            Exp::Reduce { arrays, op, .. } if arrays.iter().all(is_array) => (None, &op.ret),
            _ => return None,
        };
        let types: Vec<Type> = rows.iter().map(|ty| ty.with_outer(width.as_slice())).collect();
        let copy = Copy::with(&mut self.b.vars, names).exp(exp);
        let hint = self.b.vars.hint(var).to_owned();
        let results = self.b.let_exps(&hint, &types, copy, self.loc);
        results.get(position).copied().map(Atom::from)
    }

    fn branch(&mut self, body: &'a Body, position: usize, var: VarId) -> Option<Body> {
        let scope = self.scope_of(var)?;
        self.found.note_inner(body, scope);
        let result = *body.result.get(position)?;
        self.body(|e| Some(vec![e.atom(result)?]))
    }

    fn scope_of(&self, var: VarId) -> Option<ScopeId> {
        match self.found.defs.get(&var)? {
            Def::Stm { scope, .. } | Def::Row { scope, .. } => Some(*scope),
            Def::Counter { scope } | Def::Carried { scope } => Some(*scope),
        }
    }

    /// The same expression of the operands at the wanted iterations.
    fn same(&mut self, exp: &Exp, ty: &Type, var: VarId) -> Emitted {
        let mut exp = exp.clone();
        let mut is_known = true;
        operands_mut(&mut exp, &mut |a| match self.atom(*a) {
            Some(value) => *a = value,
            None => is_known = false,
        });
        let mut ty = ty.clone();
        type_mut(&mut ty, &mut |a| match self.atom(*a) {
            Some(value) => *a = value,
            None => is_known = false,
        });
        let hint = self.b.vars.hint(var).to_owned();
        is_known.then(|| self.push(&hint, ty, exp))
    }

    fn int(&mut self, op: BinOp, x: Atom, y: Atom) -> Atom {
        self.b.binop(op, PrimType::I64, x, y, self.loc)
    }

    /// A row or an element of an array.
    fn index(&mut self, array: VarId, indices: Vec<Atom>) -> Emitted {
        let key = (array, indices);
        if let Some(read) = self.read.get(&key) {
            return Some(*read);
        }
        let value = self.read_from(array, key.1.clone())?;
        self.read.insert(key, value);
        Some(value)
    }

    /// As [`Emitter::index`], of an atom that need not be indexed further.
    fn index_atom(&mut self, atom: Atom, indices: Vec<Atom>) -> Emitted {
        match atom {
            Atom::Var(array) if !indices.is_empty() => self.index(array, indices),
            Atom::Var(_) | Atom::Const(_) => self.atom(atom),
        }
    }

    fn read_from(&mut self, array: VarId, indices: Vec<Atom>) -> Emitted {
        if let Some((outer, i)) = self.rows.get(&array).copied() {
            return self.index(outer, [vec![i], indices].concat());
        }
        match self.found.defs.get(&array) {
            None => self.plain_index(array, self.types.get(&array)?.clone(), indices),
            Some(Def::Counter { .. } | Def::Carried { .. }) => None,
            Some(Def::Row { array: outer, scope, .. }) => {
                let (outer, i) = (*outer, *self.at.get(scope)?);
                self.index(outer, [vec![i], indices].concat())
            }
            Some(Def::Stm { exp, position, .. }) => {
                let (exp, position) = (*exp, *position);
                match self.read_through(array, exp, position, &indices) {
                    Some(value) => Some(value),
                    None => self.hand_out(array, indices),
                }
            }
        }
    }

    fn plain_index(&mut self, array: VarId, ty: Type, indices: Vec<Atom>) -> Emitted {
        let ty = ty.peel(indices.len())?;
        Some(self.push("elem", ty, Exp::Index { array, indices, check: Check::Certified }))
    }

    /// An element of what the expression makes, without making it.
    fn read_through(&mut self, array: VarId, exp: &'a Exp, position: usize, indices: &[Atom]) -> Emitted {
        match exp {
            Exp::Atom(Atom::Var(same)) | Exp::Copy(same) => self.index(*same, indices.to_vec()),
            Exp::Index { array: outer, indices: first, .. } => {
                let first = self.atoms(first)?;
                self.index(*outer, [&first, indices].concat())
            }
            Exp::Replicate { dims, value } => {
                let rest = indices.get(dims.len()..)?.to_vec();
                self.index_atom(*value, rest)
            }
            Exp::Iota { ty: PrimType::I64, start, step, .. } => {
                let (start, step) = (self.atom(*start)?, self.atom(*step)?);
                let offset = self.int(BinOp::Mul, indices[0], step);
                Some(self.int(BinOp::Add, start, offset))
            }
            Exp::Slice { array: outer, dims } => {
                let all = self.through_slice(dims, indices)?;
                self.index(*outer, all)
            }
            Exp::Rearrange { perm, array: outer } if perm.len() == indices.len() => {
                let mut all = indices.to_vec();
                perm.iter().zip(indices).for_each(|(p, i)| all[*p] = *i);
                self.index(*outer, all)
            }
            Exp::Reshape { dims, array: outer } if dims.len() == 1 && self.rank(*outer) == Some(1) => {
                self.index(*outer, indices.to_vec())
            }
            Exp::Rearrange { .. } | Exp::Reshape { .. } => {
                let view = self.atom(array.into())?.as_var()?;
                let ty = self.type_of(array)?;
                let dims: Vec<Atom> = ty.dims().iter().map(|d| self.atom(*d)).collect::<Option<_>>()?;
                self.plain_index(view, Type::array(ty.elem()?, dims), indices.to_vec())
            }
            Exp::Update { array: before, dims, value, .. } => {
                self.through_update(*before, dims, *value, indices)
            }
            Exp::Map { arrays, lambda, .. } => self.row_of_map(array, arrays, lambda, position, indices),
            _ => None,
        }
    }

    fn type_of(&self, var: VarId) -> Option<Type> {
        match self.found.defs.get(&var) {
            Some(Def::Stm { ty, .. } | Def::Row { ty, .. }) => Some((*ty).clone()),
            Some(Def::Counter { .. }) => Some(Type::I64),
            Some(Def::Carried { .. }) | None => self.types.get(&var).cloned(),
        }
    }

    fn rank(&self, var: VarId) -> Option<usize> {
        self.type_of(var).map(|ty| ty.rank())
    }

    fn through_slice(&mut self, dims: &[DimSlice], indices: &[Atom]) -> Option<Vec<Atom>> {
        let mut rest = indices.iter();
        let mut all = Vec::with_capacity(dims.len());
        for dim in dims {
            match dim {
                DimSlice::Fix(i) => all.push(self.atom(*i)?),
                DimSlice::Range { start, stride, .. } => {
                    let (start, stride) = (self.atom(*start)?, self.atom(*stride)?);
                    let offset = self.int(BinOp::Mul, *rest.next()?, stride);
                    all.push(self.int(BinOp::Add, start, offset));
                }
            }
        }
        Some(all)
    }

    /// `(xs with [i] = v)[j]` is `v` where `j` is `i`, and `xs[j]` elsewhere.
    fn through_update(&mut self, before: VarId, dims: &[DimSlice], value: Atom, indices: &[Atom]) -> Emitted {
        let rest = indices.get(dims.len()..)?.to_vec();
        let mut is_there = Atom::bool(true);
        for (dim, j) in dims.iter().zip(indices) {
            let DimSlice::Fix(i) = dim else { return None };
            let i = self.atom(*i)?;
            let equal = self.b.eq(PrimType::I64, i, *j, self.loc);
            is_there = self.b.and(is_there, equal, self.loc);
        }
        let ty = self.type_of(before)?.peel(indices.len()).filter(|ty| ty.rank() == 0)?;
        let then = self.body(|e| Some(vec![e.index_atom(value, rest)?]))?;
        let otherwise = self.body(|e| Some(vec![e.index(before, indices.to_vec())?]))?;
        Some(self.push("elem", ty, Exp::If { cond: is_there, then, otherwise }))
    }

    /// A row of a map is its lambda at the rows of its arrays.
    fn row_of_map(
        &mut self,
        array: VarId,
        arrays: &[VarId],
        lambda: &'a Lambda,
        position: usize,
        indices: &[Atom],
    ) -> Emitted {
        if lambda.params.iter().any(|p| p.ty.is_acc()) {
            return None;
        }
        let scope = self.scope_of(array)?;
        let result = *lambda.body.result.get(position)?;
        let mut own = self.found.note_inner(&lambda.body, scope);
        own.extend(lambda.params.iter().map(|p| p.var));
        self.forget(&own);
        for (param, array) in lambda.params.iter().zip(arrays) {
            self.rows.insert(param.var, (*array, indices[0]));
        }
        let value = self.index_atom(result, indices[1..].to_vec());
        self.forget(&own);
        value
    }

    /// The variables of a lambda have other values in another iteration.
    fn forget(&mut self, own: &[VarId]) {
        for var in own {
            self.done.remove(var);
            self.rows.remove(var);
        }
        self.read.retain(|(array, _), _| !own.contains(array));
    }

    /// Reads from what the enclosing statements give as a further result.
    pub fn hand_out(&mut self, var: VarId, indices: Vec<Atom>) -> Emitted {
        let Def::Stm { ty, scope, is_inner: false, .. } = self.found.defs.get(&var)? else { return None };
        let (ty, scope) = ((*ty).clone(), *scope);
        let chain = self.found.chain(scope);
        let (mut at, mut widths) = (Vec::new(), Vec::new());
        for scope in &chain {
            if let ScopeKind::Iteration { width, is_loop } = self.found.scopes[*scope].kind {
                if is_loop {
                    return None;
                }
                at.push(*self.at.get(scope)?);
                widths.push(width);
            }
        }
        let is_known_outside = |atom: &Atom| atom.as_var().is_none_or(|v| !self.found.defs.contains_key(&v));
        if ty.is_acc() || !widths.iter().chain(&ty.all_dims()).all(is_known_outside) {
            return None;
        }
        let (outside, outside_ty) = match self.outside.get(&var) {
            Some((outside, ty)) => (*outside, ty.clone()),
            None => self.hand_through(var, ty, &chain),
        };
        let all = [at, indices].concat();
        if all.is_empty() { Some(outside.into()) } else { self.plain_index(outside, outside_ty, all) }
    }

    fn hand_through(&mut self, var: VarId, mut ty: Type, chain: &[ScopeId]) -> (VarId, Type) {
        let hint = self.b.vars.hint(var).to_owned();
        let mut inside = var;
        for scope in chain.iter().rev() {
            let name = self.b.fresh(&hint);
            self.handed.push(Handed { scope: *scope, atom: inside.into(), ty: ty.clone(), name });
            if let ScopeKind::Iteration { width, .. } = self.found.scopes[*scope].kind {
                ty = ty.with_outer(&[width]);
            }
            inside = name;
        }
        self.outside.insert(var, (inside, ty.clone()));
        (inside, ty)
    }
}
