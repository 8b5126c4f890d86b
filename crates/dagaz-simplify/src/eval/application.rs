//! Application of functions: inlining, and calls of specialised functions.

use std::rc::Rc;

use dagaz_core::prim::{CmpOp, PrimType};
use dagaz_core::types::Atom;
use dagaz_syntax::ast::AttrKind;
use dagaz_types::typed::{Def, Exp, Lambda};
use dagaz_types::types::Type;

use crate::context::{Res, Simplifier};
use crate::effects::mentions_reference;
use crate::intrinsics;
use crate::value::{Code, DefInst, EArg, EDim, Env, FunVal, SVal, tag};

/// Definitions with at most so many expressions are inlined.
const INLINE_SIZE: usize = 40;

impl Simplifier<'_> {
    /// Arguments come before the function, whose type may mention sizes that they bring, and functions among
    /// the arguments last, as their bodies may mention such sizes, too.
    pub fn application(&mut self, env: &mut Env, exp: &Exp, fun: &Exp, args: &[Exp]) -> Res<SVal> {
        let mut values: Vec<Option<SVal>> = vec![None; args.len()];
        for functions in [false, true] {
            for (value, arg) in values.iter_mut().zip(args) {
                if matches!(arg.ty, Type::Arrow(_)) == functions {
                    *value = Some(self.eval(env, arg)?);
                }
            }
        }
        let fun = self.eval(env, fun)?;
        self.at(exp.span);
        if let SVal::Absent = fun {
            // A hole in the place of a function: the program has stopped already.
            exp.exts.iter().for_each(|ext| drop(env.vars.remove(ext)));
            let ty = self.eval_type(env, &exp.ty)?;
            return Ok(self.zero(&ty, &[]));
        }
        self.apply(&fun, values.into_iter().flatten().collect())
    }

    pub fn apply(&mut self, fun: &SVal, args: Vec<SVal>) -> Res<SVal> {
        match fun {
            SVal::Fun(fun) => {
                let arity = self.arity(&fun.code)?;
                let mut args = [fun.args.as_slice(), &args].concat();
                if args.len() < arity {
                    return Ok(SVal::Fun(Rc::new(FunVal { code: fun.code.clone(), args })));
                }
                let rest = args.split_off(arity);
                let result = self.call(&fun.code, args)?;
                if rest.is_empty() { Ok(result) } else { self.apply(&result, rest) }
            }
            SVal::Choice(choice) => self.apply_choice(choice.tag, 0, &choice.alts, &args),
            SVal::Absent => self.unsupported("a function taken from an empty array cannot be applied"),
            _ => self.bug("an application of something that is not a function"),
        }
    }

    fn apply_choice(&mut self, chosen: Atom, position: usize, alts: &[SVal], args: &[SVal]) -> Res<SVal> {
        match alts {
            [] => self.bug("a choice of no functions"),
            [last] => self.apply(last, args.to_vec()),
            [first, rest @ ..] => {
                let is_first = self.cmp(CmpOp::Eq, PrimType::I8, chosen, tag(position));
                self.branch(
                    is_first,
                    |s| s.apply(first, args.to_vec()),
                    |s| s.apply_choice(chosen, position + 1, rest, args),
                )
            }
        }
    }

    fn arity(&self, code: &Code) -> Res<usize> {
        Ok(match code {
            Code::Lambda { lambda, .. } => lambda.params.len(),
            Code::Def { def, .. } => def.def.params.len(),
            Code::Intrinsic { name, .. } => match intrinsics::arity(name.as_str()) {
                Some(arity) => arity,
                None => return self.bug(format!("there is no intrinsic {name}")),
            },
            Code::Linear(_) => 4,
        })
    }

    fn call(&mut self, code: &Code, args: Vec<SVal>) -> Res<SVal> {
        match code {
            Code::Lambda { lambda, env, .. } => self.call_lambda(lambda, env.clone(), &args),
            Code::Def { def, type_args } => {
                if self.is_inlined(&def.def) {
                    self.inline(def, type_args, &args)
                } else if self.is_given_references(code, &args) {
                    self.inline_with_references(def, type_args, &args)
                } else {
                    self.call_specialised(def, type_args, args)
                }
            }
            Code::Intrinsic { name, type_args } => self.intrinsic(*name, type_args, args),
            Code::Linear(linear) => self.apply_linear(linear, args),
        }
    }

    fn call_lambda(&mut self, lambda: &Rc<Lambda>, mut env: Env, args: &[SVal]) -> Res<SVal> {
        for size in &lambda.sizes {
            env.vars.remove(size);
        }
        for (pat, arg) in lambda.params.iter().zip(args) {
            self.bind_sizes(&mut env, &pat.ty, arg)?;
            self.bind_pattern(&mut env, pat, arg)?;
        }
        self.eval(&mut env, &lambda.body)
    }

    fn is_inlined(&mut self, def: &Rc<Def>) -> bool {
        let has = |wanted: &str| {
            def.attrs.iter().any(|attr| matches!(attr, AttrKind::Name(name) if name.as_str() == wanted))
        };
        let free = self.free_of_def(def);
        let recursive = free.vars.binary_search(&def.var).is_ok();
        !recursive && !has("noinline") && (has("inline") || free.size <= INLINE_SIZE)
    }

    /// References are static values, which a function of Core could not be given.
    fn is_given_references(&self, code: &Code, args: &[SVal]) -> bool {
        if self.effects.is_empty() {
            return false;
        }
        mentions_reference(&SVal::Fun(Rc::new(FunVal { code: code.clone(), args: args.to_vec() })))
    }

    fn inline_with_references(&mut self, def: &Rc<DefInst>, type_args: &[EArg], args: &[SVal]) -> Res<SVal> {
        let free = self.free_of_def(&def.def);
        if free.vars.binary_search(&def.def.var).is_ok() {
            return self.misuse(
                "recursive-effects",
                format!("the function {} is recursive, and cannot be given references", def.def.name),
            );
        }
        self.inline(def, type_args, args)
    }

    fn inline(&mut self, def: &Rc<DefInst>, type_args: &[EArg], args: &[SVal]) -> Res<SVal> {
        let (loc, span) = (self.loc, self.span);
        let inlined = self.locs.push_inlined(loc);
        let mut env = self.def_env(def, type_args, args)?;
        let result = self.eval(&mut env, &def.def.body);
        self.locs.enter_inlined(inlined);
        (self.loc, self.span) = (loc, span);
        result
    }

    /// The environment of a definition's body.
    pub fn def_env(&mut self, def: &Rc<DefInst>, type_args: &[EArg], args: &[SVal]) -> Res<Env> {
        let mut env = def.env.clone();
        env.vars.insert(def.def.var, SVal::Def(def.clone()));
        self.bind_type_params(&mut env, &def.def.type_params, type_args);
        let unknown = |arg: &EArg| matches!(arg, EArg::Size(EDim::Free(_)));
        let sizes_unknown = type_args.len() < def.def.type_params.len() || type_args.iter().any(unknown);
        for (pat, arg) in def.def.params.iter().zip(args) {
            if sizes_unknown {
                self.bind_sizes(&mut env, &pat.ty, arg)?;
            }
            self.bind_pattern(&mut env, pat, arg)?;
        }
        Ok(env)
    }
}
