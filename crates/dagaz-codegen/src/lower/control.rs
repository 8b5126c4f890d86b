//! Branches, loops, assertions and traces.

use dagaz_core::exp::{Body, LoopForm, MsgPart};
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Param, Type};

use super::{Lower, Lowered};
use crate::imp::{LoopKind, Stm};
use crate::scalar::type_code;
use crate::{Part, SiteKind};

impl Lower<'_> {
    pub(super) fn branches(
        &mut self,
        pat: &[Param],
        cond: Atom,
        then: &Body,
        otherwise: &Body,
    ) -> Lowered<()> {
        pat.iter().for_each(|param| self.declare(param));
        let cond = self.atom(cond);
        let (then_stms, ()) = self.nested(|l| l.branch(pat, then))?;
        let (else_stms, ()) = self.nested(|l| l.branch(pat, otherwise))?;
        self.out.push(Stm::If { cond, then: then_stms, otherwise: else_stms });
        for (param, result) in pat.iter().zip(&then.result).filter(|(p, _)| p.ty.is_acc()) {
            self.bind_acc(param.var, *result)?;
        }
        Ok(())
    }

    fn branch(&mut self, pat: &[Param], body: &Body) -> Lowered<()> {
        self.body(body, &[], |l| {
            for (param, result) in pat.iter().zip(&body.result) {
                let name = l.name(param.var);
                l.assign(&name, *result)?;
            }
            Ok(())
        })
    }

    pub(super) fn loop_exp(
        &mut self,
        pat: &[Param],
        params: &[(Param, Atom)],
        form: &LoopForm,
        body: &Body,
    ) -> Lowered<()> {
        for (param, value) in params {
            if param.ty.is_acc() {
                self.bind(param, false);
                self.bind_acc(param.var, *value)?;
                continue;
            }
            self.declare(param);
            let name = self.name(param.var);
            self.assign(&name, *value)?;
        }
        match form {
            LoopForm::For { var, ty, bound } => {
                let text = self.atom(*bound);
                let limit = if *ty == PrimType::U64 {
                    format!("({text} > INT64_MAX ? INT64_MAX : (i64){text})")
                } else {
                    format!("(i64){text}")
                };
                self.repeatedly(|l| {
                    l.for_loop(LoopKind::Sequential, &limit, |l, i| {
                        l.tick();
                        let counter = Param::new(*var, Type::Prim(*ty));
                        l.bind(&counter, false);
                        let name = l.name(*var);
                        l.set(ty.to_string(), name, format!("({ty}){i}"));
                        l.iteration(params, body)
                    })
                })?;
            }
            LoopForm::While { cond } => {
                let note = self.note();
                let (stms, ()) = self.nested(|l| {
                    l.repeatedly(|l| {
                        l.tick();
                        l.condition(params, cond)?;
                        l.iteration(params, body)
                    })
                })?;
                self.out.push(Stm::Forever { note, body: stms });
            }
        }
        for (output, (param, _)) in pat.iter().zip(params) {
            if output.ty.is_acc() {
                self.bind_acc(output.var, param.var.into())?;
                continue;
            }
            self.declare(output);
            let (target, source) = (self.name(output.var), self.name(param.var));
            match output.ty.is_array() {
                true => self.line(format!("{target} = {source}; {target}_mem = {source}_mem;")),
                false => self.line(format!("{target} = {source};")),
            }
        }
        Ok(())
    }

    /// Leaves the loop if its condition does not hold.
    fn condition(&mut self, params: &[(Param, Atom)], cond: &Body) -> Lowered<()> {
        params.iter().for_each(|(p, _)| self.bind(p, false));
        let go_on = self.temp("go_on");
        self.unset("bool", go_on.as_str());
        self.block(|l| {
            l.body(cond, &[], |l| {
                let result = cond.result.first().ok_or("internal error: a condition without a result")?;
                l.assign(&go_on, *result)
            })
        })?;
        self.line(format!("if (!{go_on}) break;"));
        Ok(())
    }

    fn iteration(&mut self, params: &[(Param, Atom)], body: &Body) -> Lowered<()> {
        let owned: Vec<Param> = params.iter().map(|(p, _)| p.clone()).filter(|p| !p.ty.is_acc()).collect();
        owned.iter().for_each(|p| self.bind(p, true));
        let next: Vec<(String, &Param)> = params.iter().map(|(p, _)| (self.temp("next"), p)).collect();
        for (name, param) in &next {
            self.declare_as(name, &param.ty);
        }
        self.body(body, &owned, |l| {
            for ((name, _), result) in next.iter().zip(&body.result) {
                l.assign(name, *result)?;
            }
            Ok(())
        })?;
        for (name, param) in next {
            let target = self.name(param.var);
            match &param.ty {
                Type::Array { .. } => self.line(format!("{target} = {name}; {target}_mem = {name}_mem;")),
                Type::Prim(_) => self.line(format!("{target} = {name};")),
                Type::Acc { .. } => {}
            }
        }
        Ok(())
    }

    /// The statement that notes a value for a message.
    fn note_value(&self, value: Atom) -> Lowered<Stm> {
        let text = self.atom(value);
        Ok(Stm::Line(match self.atom_type(value)? {
            Type::Prim(ty) => format!("dz_note_scalar(ctx, {}, dz_bits_{ty}({text}));", type_code(ty)),
            Type::Array { elem, dims } => {
                let rank = dims.len();
                let sizes: Vec<String> = dims.iter().map(|d| self.atom(*d)).collect();
                let (code, sizes) = (type_code(elem), sizes.join(", "));
                format!("dz_note_array(ctx, {code}, {text}, sizeof({elem}), {rank}, (i64[]){{{sizes}}});")
            }
            Type::Acc { .. } => return Err("internal error: an accumulator in a message".into()),
        }))
    }

    pub(super) fn assert(&mut self, cond: Atom, message: &[MsgPart]) -> Lowered<()> {
        let mut parts = Vec::new();
        let mut then = Vec::new();
        for part in message {
            match part {
                MsgPart::Text(text) => parts.push(Part::Text(text.clone())),
                MsgPart::Value(atom) => {
                    parts.push(Part::Value);
                    then.push(self.note_value(*atom)?);
                }
            }
        }
        let site = self.site(SiteKind::Assert(parts));
        then.push(Stm::Line(format!("return dz_fail(ctx, {site});")));
        let cond = format!("DZ_UNLIKELY(!{})", self.atom(cond));
        self.out.push(Stm::If { cond, then, otherwise: Vec::new() });
        Ok(())
    }

    pub(super) fn trace(&mut self, pat: &[Param], tag: &str, values: &[Atom]) -> Lowered<()> {
        let site = self.site(SiteKind::Trace(tag.to_string()));
        for value in values {
            if !self.atom_type(*value)?.is_acc() {
                let noted = self.note_value(*value)?;
                self.out.push(noted);
            }
        }
        self.line(format!("ctx->host->trace(ctx->user, {site}, ctx->notes, ctx->note_count);"));
        self.line("dz_forget_notes(ctx);");
        self.alias(pat, values)
    }
}
