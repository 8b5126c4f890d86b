//! Core functions: definitions specialised to the skeletons of their arguments.
//!
//! A call is looked up by what is static about it: the definition, the structure of its type arguments and
//! arguments, the code of functions among them, and which sizes are the same. Everything else becomes parameters:
//!
//! ```text
//! twice (\x -> x + a) ys     ==>     call twice_1 (n, a, ys)
//! ```
//!
//! so that a function is emitted once for all calls of one shape.

use std::collections::HashMap;
use std::rc::Rc;

use dagaz_core::exp::{Body, Exp, Fun};
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, FunId, Param, Type, VarId as CoreVar};
use dagaz_types::typed::Def;
use dagaz_types::types::VarId;

use crate::context::{Res, Simplifier};
use crate::value::{Code, DefInst, EArg, EDim, EType, FunVal, SVal, as_var};
use crate::walk::{Flat, Kind, Token, flatten, leaf_types, rebuild};

#[derive(Default)]
pub(crate) struct Specialisations {
    known: HashMap<Vec<Token>, FunId>,
    /// By function; absent while only the body could tell.
    templates: HashMap<FunId, Rc<Template>>,
    /// Definitions whose bodies are being simplified.
    active: Vec<*const Def>,
}

/// How the result of a call is put together.
pub(crate) struct Template {
    params: Vec<CoreVar>,
    pub ret: Vec<Param>,
    /// Over `params` and `ret`.
    pub value: SVal,
    /// The first so many results are sizes.
    pub size_results: usize,
}

/// A call, taken apart.
struct Abstracted {
    key: Vec<Token>,
    args: Vec<Atom>,
    params: Vec<Param>,
    /// The function with all its arguments, over `params`.
    fun: SVal,
}

/// The layout of a result: its sizes that are results themselves, and its leaves.
pub(crate) struct Layout {
    exts: Vec<Ext>,
    pub template: Template,
}

#[derive(Clone, Copy, PartialEq)]
enum Ext {
    /// A size that the body computes, and its caller does not know.
    Local(Atom),
    /// A size that is found from the result.
    Free(VarId),
}

impl Simplifier<'_> {
    pub fn call_specialised(
        &mut self,
        def: &Rc<DefInst>,
        type_args: &Rc<[EArg]>,
        args: Vec<SVal>,
    ) -> Res<SVal> {
        let code = Code::Def { def: def.clone(), type_args: type_args.clone() };
        let fun = SVal::Fun(Rc::new(FunVal { code, args }));
        let recursive = self.specialisations.active.contains(&Rc::as_ptr(&def.def));
        self.specialisations.active.push(Rc::as_ptr(&def.def));
        let result = self.call_emitted(&fun, recursive, def.def.name.as_str(), |s, id, call, params| {
            let Code::Def { def, type_args } = &call.code else {
                return s.bug("a call without a definition");
            };
            s.at(def.def.span);
            let loc = s.loc;
            let (results, template) = s.function_body(Some(id), def, type_args, &call.args, params)?;
            s.loc = loc;
            Ok((results, template))
        });
        self.specialisations.active.pop();
        result
    }

    /// A call of the Core function for all calls that are like this one. `build` makes its results, in a scope of their own, from
    /// the function and arguments over its parameters.
    pub fn call_emitted(
        &mut self,
        fun: &SVal,
        recursive: bool,
        name: &str,
        build: impl FnOnce(&mut Self, FunId, &FunVal, &[Param]) -> Res<(Vec<Atom>, Rc<Template>)>,
    ) -> Res<SVal> {
        let call = self.abstract_call(recursive, fun);
        let fun = match self.specialisations.known.get(&call.key) {
            Some(fun) => *fun,
            None => self.specialise(call.key, call.params, &call.fun, name, build)?,
        };
        let Some(template) = self.specialisations.templates.get(&fun).cloned() else {
            return self.unsupported("a recursive function whose result contains functions");
        };
        Ok(self.emit_call(fun, call.args, &template))
    }

    /// Sizes of arrays that are constants stay constants, unless the function is recursive and might be called at
    /// ever new ones.
    fn abstract_call(&mut self, recursive: bool, fun: &SVal) -> Abstracted {
        let Flat { tokens: mut key, dims, leaves } = flatten(fun);
        let mut args: Vec<Atom> = Vec::new();
        let mut params: Vec<Param> = Vec::new();
        let mut new_dims = Vec::with_capacity(dims.len());
        for dim in dims {
            if let Some(position) = args.iter().position(|arg| *arg == dim) {
                key.extend([Token::Kind(Kind::SizeParam), Token::Number(position as u64)]);
                new_dims.push(params[position].var.into());
                continue;
            }
            match dim {
                Atom::Const(dagaz_core::prim::Prim::I64(value)) if !recursive => {
                    key.extend([Token::Kind(Kind::ConstSize), Token::Number(value as u64)]);
                    new_dims.push(dim);
                }
                Atom::Var(var) if self.globals.contains(&var) => {
                    key.extend([Token::Kind(Kind::GlobalSize), Token::Number(var.0.into())]);
                    new_dims.push(dim);
                }
                Atom::Var(_) | Atom::Const(_) => {
                    key.extend([Token::Kind(Kind::SizeParam), Token::Number(args.len() as u64)]);
                    args.push(dim);
                    let param = self.param("n", Type::Prim(PrimType::I64));
                    new_dims.push(param.var.into());
                    params.push(param);
                }
            }
        }
        let sizes = args.len();
        let mut new_leaves = Vec::with_capacity(leaves.len());
        for (leaf, ty) in leaves.iter().zip(leaf_types(fun, &new_dims)) {
            let known = match (leaf.atom, &leaf.ty) {
                (Atom::Var(_), Type::Prim(PrimType::I64)) => {
                    args[..sizes].iter().position(|arg| *arg == leaf.atom)
                }
                _ => None,
            };
            if let Some(position) = known {
                key.extend([Token::Kind(Kind::SizeParam), Token::Number(position as u64)]);
                new_leaves.push(params[position].var.into());
                continue;
            }
            key.push(Token::Kind(Kind::Array));
            args.push(leaf.atom);
            let param = self.param("arg", ty);
            new_leaves.push(param.var.into());
            params.push(param);
        }
        let fun = rebuild(fun, &new_dims, &new_leaves);
        Abstracted { key, args, params, fun }
    }

    fn specialise(
        &mut self,
        key: Vec<Token>,
        params: Vec<Param>,
        fun: &SVal,
        name: &str,
        build: impl FnOnce(&mut Self, FunId, &FunVal, &[Param]) -> Res<(Vec<Atom>, Rc<Template>)>,
    ) -> Res<FunId> {
        let SVal::Fun(call) = fun else { return self.bug("a call of something else than a function") };
        let id = FunId(self.funs.len() as u32);
        self.funs.push(None);
        self.specialisations.known.insert(key, id);
        let (stms, (result, template, loc)) = self.separate_scope(|s| {
            let (result, template) = build(s, id, call, &params)?;
            Ok((result, template, s.loc))
        })?;
        let name = format!("{name}_{}", id.0);
        let ret = template.ret.clone();
        self.specialisations.templates.insert(id, template);
        self.funs[id.0 as usize] = Some(Fun { name, params, ret, body: Body { stms, result }, loc });
        Ok(id)
    }

    /// The results of a function, and their layout, which is known before the body unless it contains functions.
    pub fn function_body(
        &mut self,
        id: Option<FunId>,
        def: &Rc<DefInst>,
        type_args: &[EArg],
        args: &[SVal],
        params: &[Param],
    ) -> Res<(Vec<Atom>, Rc<Template>)> {
        let mut env = self.def_env(def, type_args, args)?;
        let ty = self.eval_ret(&env, &def.def.ret)?;
        if ty.contains_fun() || self.has_accumulator_of_other_size(&ty, params) {
            let value = self.eval(&mut env, &def.def.body)?;
            let (value, _) = self.match_type(&value, &ty);
            return Ok(self.layout_of_value(&value, params));
        }
        let layout = self.layout_of_type(&ty, params);
        let template = Rc::new(layout.template);
        if let Some(id) = id {
            self.specialisations.templates.insert(id, template.clone());
        }
        let value = self.eval(&mut env, &def.def.body)?;
        let (value, sizes) = self.match_type(&value, &ty);
        let size_result = |ext: &Ext| match ext {
            Ext::Local(atom) => *atom,
            Ext::Free(var) => sizes.get(var).copied().unwrap_or(Atom::i64(0)),
        };
        let mut results: Vec<Atom> = layout.exts.iter().map(size_result).collect();
        results.extend(flatten(&value).atoms());
        Ok((results, template))
    }

    /// Whether the result has an accumulator whose size is an expression, such as `[n * m]`. An accumulator cannot be reshaped, so it
    /// keeps the size that it has in Core, which only the body knows.
    fn has_accumulator_of_other_size(&self, ty: &EType, params: &[Param]) -> bool {
        match ty {
            EType::Acc(array) => match array.as_ref() {
                EType::Array(EDim::Known(atom), _) => !self.is_visible(*atom, params),
                EType::Array(EDim::Free(_), _)
                | EType::Prim(_)
                | EType::Record(_)
                | EType::Sum(_)
                | EType::Fun
                | EType::Acc(_)
                | EType::Ref(_) => false,
            },
            EType::Record(fields) => {
                fields.iter().any(|(_, t)| self.has_accumulator_of_other_size(t, params))
            }
            EType::Sum(constrs) => (constrs.iter())
                .any(|(_, types)| types.iter().any(|t| self.has_accumulator_of_other_size(t, params))),
            EType::Prim(_) | EType::Fun | EType::Array(..) | EType::Ref(_) => false,
        }
    }

    fn layout_of_type(&mut self, ty: &EType, params: &[Param]) -> Layout {
        let mut exts: Vec<Ext> = Vec::new();
        let mut ext_params: Vec<Param> = Vec::new();
        let mut leaves = Vec::new();
        let mut size = |s: &mut Self, dim: EDim| {
            let ext = match dim {
                EDim::Known(atom) if s.is_visible(atom, params) => return atom,
                EDim::Known(atom) => Ext::Local(atom),
                EDim::Free(var) => Ext::Free(var),
            };
            let position = exts.iter().position(|known| *known == ext).unwrap_or_else(|| {
                exts.push(ext);
                ext_params.push(s.param("size", Type::Prim(PrimType::I64)));
                exts.len() - 1
            });
            ext_params[position].var.into()
        };
        let value = self.fresh_value("result", ty, &[], &mut size, &mut leaves);
        let size_results = ext_params.len();
        let ret = [ext_params, leaves].concat();
        let params = params.iter().map(|p| p.var).collect();
        Layout { exts, template: Template { params, ret, value, size_results } }
    }

    pub fn layout_of_value(&mut self, value: &SVal, params: &[Param]) -> (Vec<Atom>, Rc<Template>) {
        let flat = flatten(value);
        let mut results: Vec<Atom> = Vec::new();
        let mut ret: Vec<Param> = Vec::new();
        let mut dims = Vec::with_capacity(flat.dims.len());
        for dim in flat.dims.iter().copied() {
            if self.is_visible(dim, params) {
                dims.push(dim);
                continue;
            }
            let position = results.iter().position(|known| *known == dim).unwrap_or_else(|| {
                results.push(dim);
                ret.push(self.param("size", Type::Prim(PrimType::I64)));
                results.len() - 1
            });
            dims.push(ret[position].var.into());
        }
        let size_results = ret.len();
        let leaves = self.params("result", &leaf_types(value, &dims));
        let atoms: Vec<Atom> = leaves.iter().map(|p| p.var.into()).collect();
        let value = rebuild(value, &dims, &atoms);
        ret.extend(leaves);
        results.extend(flat.atoms());
        let params = params.iter().map(|p| p.var).collect();
        (results, Rc::new(Template { params, ret, value, size_results }))
    }

    /// Whether the types of a function's results may mention an atom.
    fn is_visible(&self, atom: Atom, params: &[Param]) -> bool {
        match atom {
            Atom::Const(_) => true,
            Atom::Var(var) => self.globals.contains(&var) || params.iter().any(|p| p.var == var),
        }
    }

    fn emit_call(&mut self, fun: FunId, args: Vec<Atom>, template: &Template) -> SVal {
        let mut subst: HashMap<CoreVar, Atom> =
            template.params.iter().copied().zip(args.iter().copied()).collect();
        let mut pat = Vec::with_capacity(template.ret.len());
        for result in &template.ret {
            let param = self.param("result", substitute_type(&result.ty, &subst));
            subst.insert(result.var, param.var.into());
            pat.push(param);
        }
        self.push(pat, Exp::Call { fun, args });
        let flat = flatten(&template.value);
        let dims: Vec<Atom> = flat.dims.iter().map(|dim| substitute(*dim, &subst)).collect();
        let leaves: Vec<Atom> = flat.leaves.iter().map(|leaf| substitute(leaf.atom, &subst)).collect();
        rebuild(&template.value, &dims, &leaves)
    }
}

fn substitute(atom: Atom, subst: &HashMap<CoreVar, Atom>) -> Atom {
    as_var(atom).and_then(|var| subst.get(&var)).copied().unwrap_or(atom)
}

fn substitute_type(ty: &Type, subst: &HashMap<CoreVar, Atom>) -> Type {
    let all = |dims: &[Atom]| dims.iter().map(|dim| substitute(*dim, subst)).collect();
    match ty {
        Type::Prim(prim) => Type::Prim(*prim),
        Type::Array { elem, dims } => Type::Array { elem: *elem, dims: all(dims) },
        Type::Acc { index_dims, elems } => Type::Acc {
            index_dims: all(index_dims),
            elems: elems.iter().map(|elem| substitute_type(elem, subst)).collect(),
        },
    }
}
