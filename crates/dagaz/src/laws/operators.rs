//! Finds the operators of a program, and makes functions of them.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Exp, Fun, Lambda, Loc, LoopForm, Program, Stm};
use dagaz_core::types::{Atom, FunId, Param, Type, VarId};
use dagaz_core::visit::{bodies, free_vars, free_vars_lambda, lambdas};

/// An operator with its neutral element, as functions of a program.
pub(super) struct Operator {
    pub loc: Loc,
    /// From what it captures, and two operands, to the result.
    pub apply: FunId,
    /// From what it captures to the neutral element.
    pub neutral: FunId,
    /// What it captures.
    pub captured: Vec<Captured>,
    /// The types of an operand.
    pub types: Vec<Type>,
    /// Elements are combined in any order.
    pub must_commute: bool,
}

/// A captured variable.
pub(super) struct Captured {
    pub param: Param,
    pub name: String,
    /// It is the size of an array.
    pub is_size: bool,
}

/// The program with functions for all operators.
pub(super) fn collect(core: &Program) -> (Program, Vec<Operator>) {
    let mut collector = Collector {
        program: core.clone(),
        operators: Vec::new(),
        types: HashMap::new(),
        definitions: HashMap::new(),
        constants: core.consts.iter().flat_map(|stm| &stm.pat).map(|p| p.var).collect(),
    };
    for fun in &core.funs {
        collector.bind(&fun.params);
        collector.body(&fun.body);
    }
    (collector.program, collector.operators)
}

struct Collector {
    program: Program,
    operators: Vec<Operator>,
    types: HashMap<VarId, Type>,
    /// Statements that compute one value from others, and cost little.
    definitions: HashMap<VarId, Stm>,
    /// Variables that are in scope everywhere.
    constants: HashSet<VarId>,
}

impl Collector {
    fn bind(&mut self, params: &[Param]) {
        self.types.extend(params.iter().map(|p| (p.var, p.ty.clone())));
    }

    fn body(&mut self, body: &Body) {
        for stm in &body.stms {
            self.bind(&stm.pat);
            if let ([param], true) = (stm.pat.as_slice(), is_simple(&stm.exp)) {
                self.definitions.insert(param.var, stm.clone());
            }
            self.operation(stm);
            lambdas(&stm.exp).into_iter().for_each(|lambda| self.bind(&lambda.params));
            if let Exp::Loop { params, form, .. } = &stm.exp {
                params.iter().for_each(|(param, _)| self.bind(std::slice::from_ref(param)));
                if let LoopForm::For { var, ty, .. } = form {
                    self.types.insert(*var, (*ty).into());
                }
            }
            bodies(&stm.exp).into_iter().for_each(|body| self.body(body));
        }
    }

    fn operation(&mut self, stm: &Stm) {
        match &stm.exp {
            Exp::Reduce { op, neutral, commutative, .. } => self.add(stm.loc, op, neutral, *commutative),
            Exp::Scan { op, neutral, .. } => self.add(stm.loc, op, neutral, false),
            Exp::Hist { op, neutral, .. } => self.add(stm.loc, op, neutral, true),
            Exp::WithAcc { inputs, .. } => {
                for (op, neutral) in inputs.iter().filter_map(|input| input.op.as_ref()) {
                    self.add(stm.loc, op, neutral, true);
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, loc: Loc, op: &Lambda, neutral: &[Atom], must_commute: bool) {
        let types: Vec<Type> = op.params.iter().take(op.params.len() / 2).map(|p| p.ty.clone()).collect();
        if types.len() * 2 != op.params.len() || types.iter().any(Type::is_acc) {
            return;
        }
        let sizes = types.iter().flat_map(Type::all_dims).filter_map(Atom::as_var);
        let wanted = free_vars_lambda(op).into_iter().chain(neutral.iter().filter_map(|a| a.as_var()));
        let mut slice = Slice::default();
        wanted.chain(sizes).for_each(|var| self.need(var, &mut slice));
        let Slice { stms, leaves, .. } = slice;
        let captured = self.captured(&stms, &leaves, &types);
        let leaves: Vec<Param> = captured.iter().map(|c| c.param.clone()).collect();
        // Sizes are arguments like others; interpreted functions need no names for results.
        let result =
            |types: &[Type]| types.iter().map(|ty| Param::new(VarId(u32::MAX), ty.clone())).collect();
        let body = |extra: &[Stm], result: &[Atom]| Body {
            stms: stms.iter().chain(extra).cloned().collect(),
            result: result.to_vec(),
        };
        let apply = self.function(
            [&leaves[..], &op.params].concat(),
            result(&types),
            body(&op.body.stms, &op.body.result),
        );
        let neutral = self.function(leaves.clone(), result(&types), body(&[], neutral));
        self.operators.push(Operator { loc, apply, neutral, captured, types, must_commute });
    }

    fn function(&mut self, params: Vec<Param>, ret: Vec<Param>, body: Body) -> FunId {
        let id = FunId(self.program.funs.len() as u32);
        self.program.funs.push(Fun { name: format!("operator_{}", id.0), params, ret, body, loc: Loc::NONE });
        id
    }

    /// What a variable is computed from, in the order of the computation.
    fn need(&self, var: VarId, slice: &mut Slice) {
        if self.constants.contains(&var) || !slice.seen.insert(var) {
            return;
        }
        let ty = self.types.get(&var);
        ty.into_iter()
            .flat_map(Type::all_dims)
            .filter_map(Atom::as_var)
            .for_each(|dim| self.need(dim, slice));
        match self.definitions.get(&var) {
            Some(stm) => {
                free_vars(&stm.exp).into_iter().for_each(|var| self.need(var, slice));
                slice.stms.push(stm.clone());
            }
            None => slice.leaves.extend(ty.map(|ty| Param::new(var, ty.clone()))),
        }
    }

    fn captured(&self, stms: &[Stm], leaves: &[Param], types: &[Type]) -> Vec<Captured> {
        let of_stms = stms.iter().flat_map(|stm| &stm.pat).map(|p| &p.ty);
        let all = of_stms.chain(leaves.iter().map(|p| &p.ty)).chain(types);
        let sizes: HashSet<VarId> = all.flat_map(Type::all_dims).filter_map(Atom::as_var).collect();
        let captured = |param: &Param| Captured {
            name: self.program.vars.hint(param.var).to_owned(),
            is_size: sizes.contains(&param.var),
            param: param.clone(),
        };
        leaves.iter().map(captured).collect()
    }
}

#[derive(Default)]
struct Slice {
    seen: HashSet<VarId>,
    stms: Vec<Stm>,
    leaves: Vec<Param>,
}

/// Whether an expression is computed again where an operator needs its value.
fn is_simple(exp: &Exp) -> bool {
    match exp {
        Exp::Atom(_) | Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) => true,
        Exp::CmpOp(..) | Exp::Convert(..) => true,
        Exp::Iota { .. } | Exp::Replicate { .. } | Exp::ArrayLit { .. } => true,
        Exp::Rearrange { .. } | Exp::Reshape { .. } | Exp::Copy(_) => true,
        Exp::Index { .. } | Exp::Slice { .. } | Exp::Update { .. } | Exp::Concat { .. } => false,
        Exp::Scratch { .. } | Exp::Contract { .. } | Exp::If { .. } | Exp::Loop { .. } => false,
        Exp::Call { .. } | Exp::Assert { .. } | Exp::Trace { .. } | Exp::Map { .. } => false,
        Exp::Reduce { .. } | Exp::Scan { .. } | Exp::Hist { .. } | Exp::Scatter { .. } => false,
        Exp::WithAcc { .. } | Exp::UpdateAcc { .. } | Exp::Jvp { .. } | Exp::Vjp { .. } => false,
        Exp::WithVjp { .. } => false,
        Exp::Transpose { .. } | Exp::Detach(_) => false,
    }
}
