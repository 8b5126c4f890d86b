//! Attributes of expressions.
//!
//!     #[trace] e         prints the value of `e`
//!     #[unsafe] e        leaves out the user's assertions in `e`; checks that keep memory safe stay
//!     #[param(p)] e      is the value of the tuning parameter `p` where that is set
//!     #[blank] e         zeros in the place of `e`, which is not computed unless its sizes ask for it
//!     #[scratch] e       the same, but the elements of arrays are whatever is in memory
//!     #[unroll] e        is the loop `e` with its iterations written out, if their number is known
//!     #[warn(safety_checks)] e
//!                        says where something in `e` is checked when the program runs
//!     #[stripmine(k)] e  tells reverse mode to split the loop `e` k times; `#[bound(n)]` that it runs at most n times
//!
//! All others are hints that change no meaning.

use std::collections::HashSet;

use dagaz_core::effects::{Effect, own_effect};
use dagaz_core::exp::{Exp as CoreExp, LoopHints, Stm};
use dagaz_core::prim::Prim;
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit::bodies;
use dagaz_syntax::ast::{Attr, AttrKind};
use dagaz_types::typed::{Exp, ExpKind};

use crate::context::{Res, Simplifier};
use crate::value::{Env, SVal};
use crate::walk::{flatten, rebuild};

/// More nested loops than this save no memory for any number of iterations.
const MAX_STRIPMINE: u32 = 16;

impl Simplifier<'_> {
    pub fn attributed(&mut self, env: &mut Env, exp: &Exp, attr: &AttrKind, inner: &Exp) -> Res<SVal> {
        let outside = env.unchecked;
        env.unchecked |= matches!(attr, AttrKind::Name(name) if name.as_str() == "unsafe");
        if is_loop(inner) {
            hint(attr, &mut env.loop_hints);
            if matches!(attr, AttrKind::Name(name) if name.as_str() == "unroll") {
                env.unroll = Some(exp.span);
            }
        }
        let (stms, value) = self.scope(|s| {
            let value = s.eval(env, inner);
            env.unchecked = outside;
            value
        })?;
        if let AttrKind::Name(name) = attr
            && let "blank" | "scratch" = name.as_str()
        {
            self.at(exp.span);
            return Ok(self.unspecified(stms, &value, name.as_str() == "blank"));
        }
        if let AttrKind::Compound(name, args) = attr
            && name.as_str() == "warn"
            && args.iter().any(|arg| attr_text(arg).as_deref() == Some("safety_checks"))
            && stms.iter().any(has_check)
        {
            let message =
                "Safety check required: an index or a size in here is checked when the program runs";
            self.warn("safety-check", exp.span, message);
        }
        stms.into_iter().for_each(|stm| self.builder.push(stm));
        self.at(exp.span);
        Ok(match attr {
            AttrKind::Name(name) => match name.as_str() {
                "trace" => self.traced(String::new(), &value),
                "break" => self.traced("break".to_owned(), &value),
                _ => value,
            },
            AttrKind::Compound(name, args) => match (name.as_str(), args.first().and_then(attr_text)) {
                ("trace", tag) => self.traced(tag.unwrap_or_default(), &value),
                ("param", Some(parameter)) => match (self.parameters.get(&parameter), &value) {
                    (Some(number), SVal::Scalar(prim, _)) => SVal::Scalar(*prim, Atom::i64(*number)),
                    _ => value,
                },
                _ => value,
            },
            AttrKind::Int(_) => value,
        })
    }

    fn traced(&mut self, tag: String, value: &SVal) -> SVal {
        let flat = flatten(value);
        let values = flat.atoms();
        if values.is_empty() {
            return value.clone();
        }
        let traced = self.emit_all("traced", &flat.types(), CoreExp::Trace { tag, values });
        rebuild(value, &flat.dims, &traced)
    }

    /// A value of the same sizes. What computes it is left out, unless it computes the sizes, too.
    fn unspecified(&mut self, stms: Vec<Stm>, value: &SVal, is_blank: bool) -> SVal {
        let flat = flatten(value);
        let bound: HashSet<VarId> = stms.iter().flat_map(|stm| &stm.pat).map(|p| p.var).collect();
        let sizes = flat.leaves.iter().flat_map(|leaf| leaf.ty.all_dims());
        let is_needed =
            sizes.chain(flat.dims.iter().copied()).any(|n| n.as_var().is_some_and(|v| bound.contains(&v)));
        if is_needed || flat.leaves.iter().any(|leaf| leaf.ty.is_acc()) {
            stms.into_iter().for_each(|stm| self.builder.push(stm));
        }
        let mut leaves = Vec::with_capacity(flat.leaves.len());
        for leaf in &flat.leaves {
            leaves.push(match &leaf.ty {
                Type::Array { elem, dims } => {
                    let (elem, dims) = (*elem, dims.clone());
                    let exp = match is_blank {
                        true => CoreExp::Replicate { dims, value: Prim::zero(elem).into() },
                        false => CoreExp::Scratch { elem, dims },
                    };
                    self.emit("unspecified", leaf.ty.clone(), exp)
                }
                Type::Prim(elem) => Prim::zero(*elem).into(),
                Type::Acc { .. } => leaf.atom,
            });
        }
        rebuild(value, &flat.dims, &leaves)
    }
}

/// Whether an expression is a loop, with other attributes in between.
fn is_loop(exp: &Exp) -> bool {
    match &exp.kind {
        ExpKind::Loop { .. } => true,
        ExpKind::Attr(_, inner) => is_loop(inner),
        _ => false,
    }
}

/// Whether a statement, or one inside of it, compares an index or a size with what it must be.
fn has_check(stm: &Stm) -> bool {
    let own = match own_effect(&stm.exp) {
        // A division is no access to memory.
        Effect::MayFail => !matches!(stm.exp, CoreExp::BinOp(..)),
        // What a function checks is not looked for here.
        Effect::Acts => matches!(stm.exp, CoreExp::Assert { .. }),
        Effect::None | Effect::MakesArray | Effect::MayNotEnd => false,
    };
    own || bodies(&stm.exp).iter().any(|body| body.stms.iter().any(has_check))
}

fn hint(attr: &AttrKind, hints: &mut LoopHints) {
    let AttrKind::Compound(name, args) = attr else { return };
    let Some(AttrKind::Int(number)) = args.first().map(|arg| &arg.kind) else { return };
    match name.as_str() {
        "stripmine" => {
            hints.stripmine = u32::try_from(*number).map_or(MAX_STRIPMINE, |k| k.min(MAX_STRIPMINE))
        }
        "bound" => hints.bound = i64::try_from(*number).ok(),
        _ => {}
    }
}

fn attr_text(attr: &Attr) -> Option<String> {
    match &attr.kind {
        AttrKind::Name(name) => Some(name.to_string()),
        AttrKind::Int(number) => Some(number.to_string()),
        AttrKind::Compound(..) => None,
    }
}
