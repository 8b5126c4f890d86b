//! The loop over the blocks of a chain.

use std::collections::HashMap;

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Check, DimSlice, Exp, Lambda, Loc, LoopForm, LoopHints, Stm};
use dagaz_core::machine;
use dagaz_core::prim::{BinOp, Prim, PrimType};
use dagaz_core::rename::renamed;
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::super::facts::{Def, Definitions};
use super::chain::{Chain, Role, reads_row, sums, with_rows};

/// Replaces the members of a chain by a loop.
pub(super) fn emit(facts: &Definitions, b: &mut Builder, body: &mut Body, chain: Chain) {
    let loc = body.stms[chain.members[0].0].loc;
    b.push_scope();
    let (block, blocks) = sizes(b, body, &chain, loc);
    let states: Vec<(Param, Atom)> = initial(b, body, &chain, loc);
    let number = b.fresh("block");
    b.push_scope();
    let start = b.mul(PrimType::I64, number.into(), block, loc);
    let rest = b.sub(PrimType::I64, chain.rows, start, loc);
    let length = b.binop(BinOp::Min, PrimType::I64, block, rest, loc);
    let state = states.iter().map(|(p, _)| p.var).collect();
    let mut emitter =
        Emitter { facts, b, start, length, rows: HashMap::new(), numbers: None, state, next: Vec::new() };
    for (at, role) in &chain.members {
        emitter.member(body.stms[*at].clone(), *role);
    }
    for param in &chain.kept {
        emitter.keep(param);
    }
    let result = std::mem::take(&mut emitter.next);
    let stms = b.pop_scope();
    let form = LoopForm::For { var: number, ty: PrimType::I64, bound: blocks };
    let pat = results(body, &chain);
    let exp = Exp::Loop { params: states, form, body: Body { stms, result }, hints: LoopHints::NONE };
    b.push(Stm { pat, exp, loc });
    let new = b.pop_scope();
    replace(body, &chain, new);
}

/// The statements of the chain go, and new ones come at its place, after those that it needs.
fn replace(body: &mut Body, chain: &Chain, new: Vec<Stm>) {
    let old = std::mem::take(&mut body.stms);
    let early: Vec<Stm> = chain.early.iter().map(|at| old[*at].clone()).collect();
    let mut new = early.into_iter().chain(new).collect::<Vec<_>>();
    for (at, stm) in old.into_iter().enumerate() {
        if at == chain.place {
            body.stms.append(&mut new);
        }
        if !chain.members.iter().any(|(member, _)| *member == at) && !chain.early.contains(&at) {
            body.stms.push(stm);
        }
    }
}

/// The number of rows of a block, and that of blocks.
fn sizes(b: &mut Builder, body: &Body, chain: &Chain, loc: Loc) -> (Atom, Atom) {
    let i64 = PrimType::I64;
    let matrix = chain.members.iter().find(|(_, role)| *role == Role::Product);
    let rows = match matrix {
        Some(_) => machine::ROWS_OF_ADDED_BLOCKS,
        None => machine::ROWS_OF_SUMMED_BLOCKS,
    };
    let row = b.product(&chain.row, loc);
    let row = b.binop(BinOp::Max, i64, row, Atom::i64(1), loc);
    let fitting = b.binop(BinOp::Quot, i64, Atom::i64(machine::BLOCK_ELEMENTS / rows), row, loc);
    let mut fitting = b.binop(BinOp::Max, i64, fitting, Atom::i64(1), loc);
    if let Some((at, _)) = matrix {
        // A matrix that is larger than the product would take longer to read and write than that.
        let matrix = b.product(body.stms[*at].pat[0].ty.dims(), loc);
        let all = b.mul(i64, row, Atom::i64(rows), loc);
        let comparable = b.binop(BinOp::Quot, i64, matrix, all, loc);
        fitting = b.binop(BinOp::Max, i64, fitting, comparable, loc);
    }
    let block = b.mul(i64, fitting, Atom::i64(rows), loc);
    let more = b.binop(BinOp::Sub, i64, block, Atom::i64(1), loc);
    let up = b.add(i64, chain.rows, more, loc);
    (block, b.binop(BinOp::Quot, i64, up, block, loc))
}

/// What the loop gives: all sums, and the vectors that are kept.
fn results(body: &Body, chain: &Chain) -> Vec<Param> {
    let of = |(at, role): &(usize, Role)| {
        let stm = &body.stms[*at];
        stm.pat[..sums(stm, *role)].to_vec()
    };
    chain.members.iter().flat_map(of).chain(chain.kept.iter().cloned()).collect()
}

/// What goes from block to block, with what it is at first.
fn initial(b: &mut Builder, body: &Body, chain: &Chain, loc: Loc) -> Vec<(Param, Atom)> {
    let mut states = Vec::new();
    for (at, role) in &chain.members {
        let stm = &body.stms[*at];
        let first: Vec<Atom> = match (role, &stm.exp) {
            (Role::Product, Exp::Contract { plus: Some(array), .. }) => vec![(*array).into()],
            (Role::Product, _) => {
                let ty = stm.pat[0].ty.clone();
                let zero = Prim::zero(ty.elem().unwrap_or(PrimType::F64));
                let zeros = Exp::Replicate { dims: ty.dims().to_vec(), value: Atom::Const(zero) };
                vec![b.let_exp("zeros", ty, zeros, loc)]
            }
            (Role::Fold, Exp::Reduce { neutral, .. }) => neutral.clone(),
            (Role::Columns, Exp::Map { lambda, .. }) => {
                let neutral = lambda.body.stms.iter().find_map(|stm| match &stm.exp {
                    Exp::Reduce { neutral, .. } => neutral.first().copied(),
                    _ => None,
                });
                let ty = stm.pat[0].ty.clone();
                let exps = neutral.map(|value| Exp::Replicate { dims: ty.dims().to_vec(), value });
                exps.into_iter().map(|exp| b.let_exp("first", ty.clone(), exp, loc)).collect()
            }
            (Role::Update, Exp::WithAcc { inputs, .. }) => {
                inputs.iter().flat_map(|input| &input.arrays).map(|array| (*array).into()).collect()
            }
            _ => Vec::new(),
        };
        for (param, atom) in stm.pat.iter().zip(first) {
            states.push((b.fresh_param("so_far", param.ty.clone()), atom));
        }
    }
    for param in &chain.kept {
        let elem = param.ty.elem().unwrap_or(PrimType::F64);
        let room = Exp::Scratch { elem, dims: param.ty.dims().to_vec() };
        let room = b.let_exp("room", param.ty.clone(), room, loc);
        states.push((b.fresh_param("so_far", param.ty.clone()), room));
    }
    states
}

struct Emitter<'e> {
    facts: &'e Definitions,
    b: &'e mut Builder,
    /// The first row of the block, and how many there are.
    start: Atom,
    length: Atom,
    /// The rows of arrays that belong to the block.
    rows: HashMap<VarId, VarId>,
    /// The numbers of the rows in the block, from zero.
    numbers: Option<VarId>,
    /// What comes from the block before, for all sums, and what goes to the next one, so far.
    state: Vec<VarId>,
    next: Vec<Atom>,
}

impl Emitter<'_> {
    /// The state that belongs to the next sum.
    fn state(&self) -> VarId {
        self.state[self.next.len()]
    }

    fn member(&mut self, mut stm: Stm, role: Role) {
        match role {
            Role::Rows => {
                self.shorten(&mut stm.exp, 0);
                stm.pat.iter_mut().for_each(|param| self.own(param));
                self.b.push(stm);
            }
            Role::Product => {
                let state = self.state();
                if let Exp::Contract { rank, .. } = stm.exp {
                    self.shorten(&mut stm.exp, rank);
                }
                if let Exp::Contract { plus, .. } = &mut stm.exp {
                    *plus = Some(state);
                }
                let sum = self.b.let_exp("sum", stm.pat[0].ty.clone(), stm.exp, stm.loc);
                self.next.push(sum);
            }
            Role::Fold => self.fold(stm),
            Role::Columns => self.columns(stm),
            Role::Update => self.update(stm),
        }
    }

    /// A new variable for the part of an array in the block.
    fn own(&mut self, param: &mut Param) {
        let hint = self.b.hint(param.var);
        let own = self.b.fresh_param(&hint, with_rows(&param.ty, self.length));
        self.rows.insert(param.var, own.var);
        *param = own;
    }

    /// The rows of an array that belong to the block.
    fn rows_of(&mut self, array: VarId) -> VarId {
        if let Some(rows) = self.rows.get(&array) {
            return *rows;
        }
        let Some(ty) = self.facts.types.get(&array).cloned().filter(Type::is_array) else { return array };
        let exp = match self.facts.defs.get(&array) {
            Some(Def::Numbers(_)) => {
                Exp::Iota { ty: PrimType::I64, n: self.length, start: self.start, step: Atom::i64(1) }
            }
            _ => {
                let range = |start, len| DimSlice::Range { start, len, stride: Atom::i64(1) };
                let rest = ty.dims()[1..].iter().map(|len| range(Atom::i64(0), *len));
                let dims = [range(self.start, self.length)].into_iter().chain(rest).collect();
                Exp::Slice { array, dims }
            }
        };
        let rows = self.b.let_var("rows", with_rows(&ty, self.length), exp, Loc::NONE);
        self.rows.insert(array, rows);
        rows
    }

    /// The same operation on the rows of the block, which have the given axis in a product.
    fn shorten(&mut self, exp: &mut Exp, axis: usize) {
        let length = self.length;
        match exp {
            Exp::Map { width, arrays, .. } | Exp::Reduce { width, arrays, .. } => {
                *width = length;
                arrays.iter_mut().for_each(|array| *array = self.rows_of(*array));
            }
            Exp::Contract { sizes, left, right, triangles, .. } => {
                sizes[axis] = length;
                // Rows have other numbers in the block.
                triangles.retain(|triangle| triangle.low != axis && triangle.high != axis);
                for operand in [left, right].into_iter().filter(|o| o.axes.first() == Some(&axis)) {
                    operand.array = self.rows_of(operand.array);
                }
            }
            Exp::Reshape { dims, array } => {
                dims[0] = length;
                *array = self.rows_of(*array);
            }
            Exp::Rearrange { array, .. } => *array = self.rows_of(*array),
            _ => {}
        }
    }

    /// A reduction of the block, and then of that with those before.
    fn fold(&mut self, mut stm: Stm) {
        self.shorten(&mut stm.exp, 0);
        let Exp::Reduce { op, .. } = &stm.exp else { return };
        let op = op.clone();
        let types: Vec<Type> = stm.pat.iter().map(|p| p.ty.clone()).collect();
        let parts = self.b.let_exps("part", &types, stm.exp, stm.loc);
        let before = &self.state[self.next.len()..][..parts.len()];
        let args: Vec<Atom> = before.iter().chain(&parts).map(|var| (*var).into()).collect();
        let combined = self.apply(&op, &args);
        self.next.extend(combined);
    }

    /// The results of a function.
    fn apply(&mut self, lambda: &Lambda, args: &[Atom]) -> Vec<Atom> {
        let bind = |(param, arg): (&Param, &Atom)| Stm {
            pat: vec![param.clone()],
            exp: Exp::Atom(*arg),
            loc: Loc::NONE,
        };
        let stms = lambda.params.iter().zip(args).map(bind).chain(lambda.body.stms.iter().cloned()).collect();
        let body = renamed(&mut self.b.vars, &Body { stms, result: lambda.body.result.clone() });
        body.stms.into_iter().for_each(|stm| self.b.push(stm));
        body.result
    }

    /// Reductions of the columns of the block, and then of these with those before.
    fn columns(&mut self, mut stm: Stm) {
        let state = self.state();
        let Exp::Map { width, lambda, .. } = &mut stm.exp else { return };
        let width = *width;
        let Some(Stm { exp: Exp::Reduce { width: rows, arrays, pre: Some(pre), op, .. }, .. }) =
            lambda.body.stms.first_mut()
        else {
            return;
        };
        *rows = self.length;
        *arrays = vec![self.numbers()];
        let number = Atom::Var(pre.params[0].var);
        for inner in &mut pre.body.stms {
            if reads_row(inner, number).is_some()
                && let Exp::Index { array, .. } = &mut inner.exp
            {
                *array = self.rows_of(*array);
            }
        }
        let op = op.clone();
        let (ty, elem) = (stm.pat[0].ty.clone(), op.ret.clone());
        let parts = self.b.let_var("parts", ty.clone(), stm.exp, stm.loc);
        let (a, b) = (self.b.fresh_param("a", elem[0].clone()), self.b.fresh_param("b", elem[0].clone()));
        self.b.push_scope();
        let result = self.apply(&op, &[a.var.into(), b.var.into()]);
        let body = Body { stms: self.b.pop_scope(), result };
        let lambda = Lambda { params: vec![a, b], body, ret: elem };
        let exp = Exp::Map { width, arrays: vec![state, parts], lambda };
        let sums = self.b.let_exp("sums", ty, exp, stm.loc);
        self.next.push(sums);
    }

    fn numbers(&mut self) -> VarId {
        if let Some(numbers) = self.numbers {
            return numbers;
        }
        let numbers =
            Exp::Iota { ty: PrimType::I64, n: self.length, start: Atom::i64(0), step: Atom::i64(1) };
        let ty = Type::array(PrimType::I64, vec![self.length]);
        let numbers = self.b.let_var("numbers", ty, numbers, Loc::NONE);
        self.numbers = Some(numbers);
        numbers
    }

    /// The accumulators go on from what they were after the block before.
    fn update(&mut self, mut stm: Stm) {
        let length = self.length;
        let Exp::WithAcc { inputs, lambda } = &mut stm.exp else { return };
        let mut states = self.state[self.next.len()..].iter();
        for (array, state) in inputs.iter_mut().flat_map(|input| &mut input.arrays).zip(&mut states) {
            *array = *state;
        }
        let count: usize = inputs.iter().map(|input| input.arrays.len()).sum();
        if let Some(inner) = lambda.body.stms.first_mut() {
            self.shorten(&mut inner.exp, 0);
            inner.pat.iter_mut().for_each(|param| param.ty = with_rows(&param.ty, length));
        }
        let accumulators = lambda.params.len();
        lambda.ret.iter_mut().skip(accumulators).for_each(|ty| *ty = with_rows(ty, length));
        for param in &mut stm.pat[..count] {
            *param = self.b.fresh_param("so_far", param.ty.clone());
            self.next.push(param.var.into());
        }
        stm.pat[count..].iter_mut().for_each(|param| self.own(param));
        self.b.push(stm);
    }

    /// Puts the part of a vector in its place.
    fn keep(&mut self, param: &Param) {
        let (array, value) = (self.state(), self.rows_of(param.var));
        let dims = vec![DimSlice::Range { start: self.start, len: self.length, stride: Atom::i64(1) }];
        let exp = Exp::Update { array, dims, value: value.into(), check: Check::Certified };
        let kept = self.b.let_exp("kept", param.ty.clone(), exp, Loc::NONE);
        self.next.push(kept);
    }
}
