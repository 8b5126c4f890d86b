//! Loops: counters are within their bounds, and parameters that grow by the same number in every iteration are a form in
//! the counter.

use dagaz_core::exp::{Body, Exp, LoopForm, Stm};
use dagaz_core::prim::BinOp;
use dagaz_core::types::{Atom, Param, Type};

use super::{Form, Walk, constant};

impl Walk {
    pub(super) fn iterate(&mut self, stm: &mut Stm) {
        let Exp::Loop { params, form, body, .. } = &mut stm.exp else { return };
        let mark = self.facts.mark();
        params.iter().for_each(|(p, _)| self.bind(p));
        match form {
            LoopForm::For { var, ty, bound } => {
                self.within(*var, *ty, *bound);
                for (i, (param, init)) in params.iter().enumerate() {
                    let value = self.progress(param, *init, body, i, &Form::var(*var));
                    if let (Some(value), Type::Prim(ty)) = (value, &param.ty) {
                        self.facts.define(param.var, *ty, value);
                    }
                }
                self.stms(&mut body.stms);
            }
            LoopForm::While { cond } => {
                self.stms(&mut cond.stms);
                if let [cond] = cond.result[..] {
                    self.facts.assume(cond, true);
                }
                self.stms(&mut body.stms);
            }
        }
        self.facts.leave(mark);
    }

    /// `init + step * counter`
    fn progress(
        &self,
        param: &Param,
        init: Atom,
        body: &Body,
        position: usize,
        counter: &Form,
    ) -> Option<Form> {
        if !matches!(param.ty, Type::Prim(ty) if ty.is_int()) {
            return None;
        }
        let result = body.result.get(position)?.as_var()?;
        let step = body.stms.iter().find(|stm| stm.pat.iter().any(|p| p.var == result))?;
        let own = Atom::Var(param.var);
        let step = match &step.exp {
            Exp::BinOp(BinOp::Add, _, a, b) if *a == own => constant(*b)?,
            Exp::BinOp(BinOp::Add, _, a, b) if *b == own => constant(*a)?,
            Exp::BinOp(BinOp::Sub, _, a, b) if *a == own => constant(*b)?.checked_neg()?,
            _ => return None,
        };
        self.facts.form(init)?.plus(step.into(), counter)
    }
}
