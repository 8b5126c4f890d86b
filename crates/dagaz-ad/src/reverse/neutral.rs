//! Reductions and scans whose neutral element is differentiated.
//!
//!     y = reduce op e xs    ==>    y = loop (y = e) for i < n do op y xs[i]
//!
//! The rules of reductions and scans take the neutral element for a constant, which it is in almost every program: it
//! does not count in what it is combined with. Where it depends on the argument, it is a start value, and the meaning is
//! the one of a loop. It does not enter the result of a histogram at all.

use std::borrow::Cow;
use std::collections::HashMap;

use dagaz_core::exp::{Body, Check, DimSlice, Exp, Lambda, LoopForm, LoopHints, Stm};
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::context::{Ad, Res};
use crate::rename::Renamer;

impl Ad<'_> {
    /// The body with loops in place of reductions and scans whose neutral elements have derivatives.
    pub fn with_start_values<'b>(&mut self, body: &'b Body) -> Res<Cow<'b, Body>> {
        let starts = |exp: &Exp| match exp {
            Exp::Reduce { neutral, .. } | Exp::Scan { neutral, .. } => {
                neutral.iter().any(|a| self.is_active(*a))
            }
            _ => false,
        };
        if !body.stms.iter().any(|stm| starts(&stm.exp)) {
            return Ok(Cow::Borrowed(body));
        }
        let is_start: Vec<bool> = body.stms.iter().map(|stm| starts(&stm.exp)).collect();
        let new = self.body(|ad| {
            for (stm, is_start) in body.stms.iter().zip(is_start) {
                if is_start { ad.fold_as_loop(stm)? } else { ad.push(stm.clone()) }
            }
            Ok(body.result.clone())
        })?;
        self.analyse(&new);
        Ok(Cow::Owned(new))
    }

    fn fold_as_loop(&mut self, stm: &Stm) -> Res<()> {
        match &stm.exp {
            Exp::Reduce { width, arrays, op, neutral, .. } => {
                let exp = self.fold_loop(*width, arrays, op, neutral, &[], stm)?;
                self.push(Stm { pat: stm.pat.clone(), exp, loc: stm.loc });
            }
            Exp::Scan { width, arrays, op, neutral, .. } => {
                let exp = self.fold_loop(*width, arrays, op, neutral, &stm.pat, stm)?;
                let own: Vec<Param> = op.ret.iter().map(|ty| self.param("last", ty.clone())).collect();
                let pat = own.into_iter().chain(stm.pat.iter().cloned()).collect();
                self.push(Stm { pat, exp, loc: stm.loc });
            }
            _ => self.push(stm.clone()),
        }
        Ok(())
    }

    /// A loop that combines the elements, and writes what it has after each of them into arrays like `all`.
    fn fold_loop(
        &mut self,
        n: Atom,
        arrays: &[VarId],
        op: &Lambda,
        neutral: &[Atom],
        all: &[Param],
        stm: &Stm,
    ) -> Res<Exp> {
        let loc = stm.loc;
        let so_far: Vec<Param> = op.ret.iter().map(|ty| self.param("so_far", ty.clone())).collect();
        let mut params: Vec<(Param, Atom)> = so_far.iter().cloned().zip(neutral.iter().copied()).collect();
        let mut written = Vec::new();
        for array in all {
            let elem = array.ty.elem().unwrap_or(PrimType::F64);
            let exp = Exp::Scratch { elem, dims: array.ty.dims().to_vec() };
            let init = self.let_exp("scratch", array.ty.clone(), exp, loc);
            let param = self.param("written", array.ty.clone());
            written.push(param.clone());
            params.push((param, init));
        }
        let counter = self.b.fresh("i");
        self.b.types.insert(counter, Type::I64);
        let body = self.body(|ad| {
            let mut map: HashMap<VarId, Atom> = HashMap::new();
            map.extend(op.params.iter().zip(&so_far).map(|(p, own)| (p.var, own.var.into())));
            for (param, array) in op.params[so_far.len()..].iter().zip(arrays) {
                let exp =
                    Exp::Index { array: *array, indices: vec![counter.into()], check: Check::Certified };
                map.insert(param.var, ad.let_exp("elem", param.ty.clone(), exp, loc));
            }
            let copy = Renamer::new(ad, map).body(&op.body);
            copy.stms.into_iter().for_each(|s| ad.push(s));
            let mut results = copy.result.clone();
            for (array, value) in written.iter().zip(copy.result) {
                let dims = vec![DimSlice::Fix(counter.into())];
                let exp = Exp::Update { array: array.var, dims, value, check: Check::Certified };
                results.push(ad.let_exp("written", array.ty.clone(), exp, loc));
            }
            Ok(results)
        })?;
        let form = LoopForm::For { var: counter, ty: PrimType::I64, bound: n };
        Ok(Exp::Loop { params, form, body, hints: LoopHints::NONE })
    }
}
