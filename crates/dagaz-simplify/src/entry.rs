//! Entry points: Core functions whose parameters and results correspond to the user's values.
//!
//! ```text
//! entry main [n] (xs: [n](f32, bool)) : (f32, [n]bool)
//! ==>     def main (n: i64, xs_0: [n]f32, xs_1: [n]bool) : (f32, [n]bool)
//! ```
//!
//! The sizes come first and are read off the arrays. A constant size stands in the types themselves. Any other size that is not
//! a parameter of the entry point is read off like the others and then checked.

use std::rc::Rc;

use dagaz_core::exp::{Body, Entry, EntryParam, EntryType, Fun, Loc, MsgPart, OpaqueKind};
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, FunId, Param, Type};
use dagaz_types::typed::{Pat, PatKind};
use dagaz_types::types::{Type as SourceType, TypeParamKind, VarId};

use crate::context::{Res, Simplifier};
use crate::value::{DefInst, EArg, EDim, Env, SVal};
use crate::walk::flatten;

/// The parameters of an entry point.
struct Inputs {
    sizes: Vec<Param>,
    leaves: Vec<Param>,
    params: Vec<EntryParam>,
    args: Vec<SVal>,
}

impl Simplifier<'_> {
    pub fn entry(&mut self, env: &Env, var: VarId) -> Res<Entry> {
        let def = match env.vars.get(&var) {
            Some(SVal::Def(def)) => def.clone(),
            _ => return self.bug("an entry point without a definition"),
        };
        self.at(def.def.span);
        let mut inputs = None;
        let (stms, (result, template)) = self.separate_scope(|s| {
            s.at(def.def.span);
            let (type_args, mut made) = s.entry_inputs(&def)?;
            let params = [made.sizes.clone(), made.leaves.clone()].concat();
            let args = std::mem::take(&mut made.args);
            inputs = Some(made);
            s.function_body(None, &def, &type_args, &args, &params)
        })?;
        let Some(inputs) = inputs else { return self.bug("an entry point without parameters") };
        let name = def.def.name.to_string();
        let size_params = inputs.sizes.len();
        let fun = Fun {
            name: name.clone(),
            params: [inputs.sizes, inputs.leaves].concat(),
            ret: template.ret.clone(),
            body: Body { stms, result },
            loc: if self.loc == Loc::NONE { Loc::NONE } else { self.loc },
        };
        let id = FunId(self.funs.len() as u32);
        self.funs.push(Some(fun));
        let results = self.entry_results(&def, &template.value);
        Ok(Entry {
            name,
            fun: id,
            size_params,
            params: inputs.params,
            size_results: template.size_results,
            results,
        })
    }

    /// Size parameters get their values from the arrays that have them; one that no array has is zero.
    fn entry_inputs(&mut self, def: &Rc<DefInst>) -> Res<(Vec<EArg>, Inputs)> {
        let mut env = def.env.clone();
        for param in &def.def.type_params {
            match param.kind {
                TypeParamKind::Size(size) => drop(env.vars.remove(&size)),
                TypeParamKind::Type(..) => return self.bug("a polymorphic entry point"),
            }
        }
        let mut inputs =
            Inputs { sizes: Vec::new(), leaves: Vec::new(), params: Vec::new(), args: Vec::new() };
        let mut named: Vec<(VarId, Atom)> = Vec::new();
        for (i, pat) in def.def.params.iter().enumerate() {
            let ty = self.eval_type(&mut env, &pat.ty)?;
            let first = inputs.leaves.len();
            let name = pattern_name(pat);
            let (sizes, leaves) = (&mut inputs.sizes, &mut inputs.leaves);
            let mut size = |s: &mut Self, dim: EDim| {
                // A constant is compared when the entry point is called.
                if let EDim::Known(constant @ Atom::Const(_)) = dim {
                    return constant;
                }
                let known = named.iter().find(|(var, atom)| match dim {
                    EDim::Free(size) => *var == size,
                    EDim::Known(size) => *atom == size,
                });
                if let Some((_, atom)) = known {
                    return *atom;
                }
                let param = s.param("n", Type::Prim(PrimType::I64));
                let atom: Atom = param.var.into();
                sizes.push(param);
                if let EDim::Free(var) = dim {
                    named.push((var, atom));
                }
                atom
            };
            let value = self.fresh_value(&name, &ty, &[], &mut size, leaves);
            let types: Vec<Type> = inputs.leaves[first..].iter().map(|p| p.ty.clone()).collect();
            let written = def.def.entry.as_ref().and_then(|e| e.params.get(i).cloned().flatten());
            let entry_ty = self.entry_type(written, &pat.ty, &value, types);
            inputs.params.push(EntryParam { name, ty: entry_ty, unique: is_unique(&pat.ty) });
            inputs.args.push(value);
            // Later types may mention the sizes, and parameters that are sizes themselves.
            for (var, atom) in &named {
                env.vars.insert(*var, SVal::i64(*atom));
            }
            self.bind_pattern(&mut env, pat, &inputs.args[i].clone())?;
        }
        self.check_sizes(&mut env, def, &mut inputs)?;
        let size_of = |param: &dagaz_types::types::TypeParam| match param.kind {
            TypeParamKind::Size(size) => {
                let known = named.iter().find(|(var, _)| *var == size).map(|(_, atom)| *atom);
                EArg::Size(EDim::Known(known.unwrap_or(Atom::i64(0))))
            }
            TypeParamKind::Type(..) => EArg::Size(EDim::Known(Atom::i64(0))),
        };
        Ok((def.def.type_params.iter().map(size_of).collect(), inputs))
    }

    /// Asserts that the arguments have the sizes of their types, and gives them those.
    fn check_sizes(&mut self, env: &mut Env, def: &Rc<DefInst>, inputs: &mut Inputs) -> Res<()> {
        for i in 0..inputs.args.len() {
            let ty = self.eval_type(env, &def.def.params[i].ty)?;
            let arg = inputs.args[i].clone();
            let dims = flatten(&arg).dims;
            for target in crate::shape::targets(&arg, &ty).iter().zip(&dims) {
                if let (crate::shape::Target::Known(wanted), dim) = target {
                    self.assert_equal(*dim, *wanted, || {
                        vec![
                            MsgPart::Text("Argument has size ".into()),
                            MsgPart::Value(*dim),
                            MsgPart::Text(" where size ".into()),
                            MsgPart::Value(*wanted),
                            MsgPart::Text(" is expected.".into()),
                        ]
                    });
                }
            }
            let arg = self.match_type(&arg, &ty).0;
            inputs.args[i] = self.checked_indices(env, &def.def.params[i].ty, &arg)?;
        }
        Ok(())
    }

    /// A tuple is several results.
    fn entry_results(&mut self, def: &Rc<DefInst>, value: &SVal) -> Vec<EntryType> {
        let written = |i: usize| def.def.entry.as_ref().and_then(|e| e.results.get(i).cloned().flatten());
        let types = |value: &SVal| flatten(value).types();
        match (value, &def.def.ret.ty) {
            (SVal::Record(fields), SourceType::Record(source)) if is_tuple(source) => {
                let parts = fields.iter().zip(source.iter()).enumerate();
                parts.map(|(i, ((_, v), (_, ty)))| self.entry_type(written(i), ty, v, types(v))).collect()
            }
            (_, ty) => vec![self.entry_type(written(0), ty, value, types(value))],
        }
    }

    fn entry_type(
        &self,
        written: Option<String>,
        source: &SourceType,
        value: &SVal,
        types: Vec<Type>,
    ) -> EntryType {
        if let Some(ty) = plain_type(value, &types) {
            return EntryType::Value { name: written.unwrap_or_else(|| show(value)), ty };
        }
        let name = written.unwrap_or_else(|| show(value));
        EntryType::Opaque { kind: self.opaque_kind(source, value, &types), name, types }
    }

    /// How a value of a type that is not abstract consists of others.
    fn opaque_kind(&self, source: &SourceType, value: &SVal, types: &[Type]) -> OpaqueKind {
        // The number of a constructor comes before what constructors hold.
        let tags = usize::from(matches!(value, SVal::Sum(_)));
        let mut rest = types.get(tags..).unwrap_or_default();
        let mut part = |source: &SourceType, value: &SVal| {
            let (own, others) = rest.split_at(flatten(value).leaves.len().min(rest.len()));
            rest = others;
            self.entry_type(None, source, value, own.to_vec())
        };
        match (value, source) {
            (SVal::Record(fields), SourceType::Record(sources)) => {
                let fields = fields.iter().zip(sources.iter());
                OpaqueKind::Record(
                    fields.map(|((name, v), (_, source))| (name.to_string(), part(source, v))).collect(),
                )
            }
            (SVal::Sum(sum), SourceType::Sum(sources)) => {
                let mut constrs = Vec::with_capacity(sum.constrs.len());
                for ((name, payload), (_, sources)) in sum.constrs.iter().zip(sources.iter()) {
                    let payload = payload.iter().zip(sources.iter());
                    constrs.push((name.to_string(), payload.map(|(v, source)| part(source, v)).collect()));
                }
                OpaqueKind::Sum(constrs)
            }
            // Without elements of Core, nothing says how many rows there are.
            (SVal::Array(array), SourceType::Array { elem, .. }) if !types.is_empty() => {
                let rows = types.iter().filter_map(Type::row).collect();
                OpaqueKind::Array(Box::new(self.entry_type(None, elem, &array.elem, rows)))
            }
            _ => OpaqueKind::Other,
        }
    }
}

/// The type of a scalar or an array of scalars.
fn plain_type(value: &SVal, types: &[Type]) -> Option<Type> {
    match value {
        SVal::Scalar(..) => types.first().cloned(),
        SVal::Array(array) => plain_type(&array.elem, types),
        SVal::Record(_) | SVal::Sum(_) | SVal::Fun(_) | SVal::Choice(_) => None,
        SVal::Acc(_) | SVal::Ref(_) => None,
        SVal::Def(_) | SVal::Alias(_) | SVal::SizeOf(..) | SVal::UnboundSize(_) | SVal::Absent => None,
    }
}

fn is_tuple(fields: &[(dagaz_syntax::Name, SourceType)]) -> bool {
    fields.len() != 1
        && fields.iter().enumerate().all(|(i, (name, _))| *name == dagaz_syntax::Name::tuple_field(i))
}

fn is_unique(ty: &SourceType) -> bool {
    match ty {
        SourceType::Array { unique, .. } | SourceType::Named { unique, .. } => *unique,
        SourceType::Record(fields) => fields.iter().any(|(_, t)| is_unique(t)),
        SourceType::Sum(constrs) => constrs.iter().any(|(_, ts)| ts.iter().any(is_unique)),
        SourceType::Prim(_) | SourceType::Arrow(_) | SourceType::Meta(_) => false,
    }
}

fn pattern_name(pat: &Pat) -> String {
    match &pat.kind {
        PatKind::Var(_, name) => name.to_string(),
        PatKind::Wildcard | PatKind::Int(_) | PatKind::Float(_) | PatKind::Bool(_) => "arg".to_owned(),
        PatKind::Record(_) | PatKind::Constr(..) => "arg".to_owned(),
    }
}

/// A type in source notation, without sizes.
fn show(value: &SVal) -> String {
    match value {
        SVal::Scalar(prim, _) => prim.name().to_owned(),
        SVal::Array(array) => format!("[]{}", show(&array.elem)),
        SVal::Record(fields) => {
            let tuple =
                fields.iter().enumerate().all(|(i, (name, _))| *name == dagaz_syntax::Name::tuple_field(i));
            let field = |(name, v): &(dagaz_syntax::Name, SVal)| match tuple {
                true => show(v),
                false => format!("{name}: {}", show(v)),
            };
            let fields = fields.iter().map(field).collect::<Vec<_>>().join(", ");
            if tuple { format!("({fields})") } else { format!("{{{fields}}}") }
        }
        SVal::Sum(sum) => {
            let constr = |(name, payload): &(dagaz_syntax::Name, Vec<SVal>)| {
                std::iter::once(format!("#{name}"))
                    .chain(payload.iter().map(show))
                    .collect::<Vec<_>>()
                    .join(" ")
            };
            sum.constrs.iter().map(constr).collect::<Vec<_>>().join(" | ")
        }
        SVal::Fun(_) | SVal::Choice(_) | SVal::Def(_) | SVal::Alias(_) | SVal::Absent => {
            "function".to_owned()
        }
        SVal::Acc(_) => "acc".to_owned(),
        SVal::Ref(_) => "reference".to_owned(),
        SVal::SizeOf(..) | SVal::UnboundSize(_) => "i64".to_owned(),
    }
}
