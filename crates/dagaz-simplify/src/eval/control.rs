//! `if`, `match` and `loop`.

use dagaz_core::exp::{Body, Check, Exp as CoreExp, LoopForm as CoreForm, LoopHints};
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type};
use dagaz_syntax::Name;
use dagaz_types::typed::{Case, Exp, LoopForm, Pat};
use dagaz_types::types::VarId;

use crate::context::{Res, Simplifier};
use crate::effects::{CellId, RegionKind};
use crate::etype::core_prim;
use crate::merge::{common_skeleton, same_skeleton};
use crate::shape::{Target, mentions_sizes, targets};
use crate::value::{EType, Env, SVal};
use crate::walk::{flatten, leaf_types, rebuild};

/// How often a loop is simplified before its carried functions are taken to be endless.
const MAX_LOOP_ROUNDS: usize = 10;

/// Branches.
impl Simplifier<'_> {
    /// The type of an expression, where it says something about sizes; those that only its value
    /// determines are free.
    fn type_with_sizes(&mut self, env: &mut Env, exp: &Exp) -> Res<Option<EType>> {
        if !mentions_sizes(&exp.ty) {
            return Ok(None);
        }
        exp.exts.iter().for_each(|ext| drop(env.vars.remove(ext)));
        self.eval_type(env, &exp.ty).map(Some)
    }

    /// A branch, whose value gets the sizes of the type where those are known outside.
    fn eval_branch(&mut self, env: &Env, exp: &Exp, ty: Option<&EType>) -> Res<SVal> {
        let value = self.eval(&mut env.clone(), exp)?;
        Ok(match ty {
            Some(ty) => self.match_type(&value, ty).0,
            None => value,
        })
    }

    pub fn if_exp(&mut self, env: &mut Env, exp: &Exp, cond: &Exp, then: &Exp, otherwise: &Exp) -> Res<SVal> {
        let cond = self.eval_scalar(env, cond)?;
        self.at(exp.span);
        let ty = self.type_with_sizes(env, exp)?;
        let env: &Env = env;
        self.branch(
            cond,
            |s| s.eval_branch(env, then, ty.as_ref()),
            |s| s.eval_branch(env, otherwise, ty.as_ref()),
        )
    }

    pub fn match_exp(&mut self, env: &mut Env, exp: &Exp, scrutinee: &Exp, cases: &[Case]) -> Res<SVal> {
        let value = self.eval(env, scrutinee)?;
        self.at(exp.span);
        let ty = self.type_with_sizes(env, exp)?;
        self.match_cases(env, &value, cases, ty.as_ref())
    }

    /// The last case needs no test: patterns are exhaustive.
    fn match_cases(&mut self, env: &Env, value: &SVal, cases: &[Case], ty: Option<&EType>) -> Res<SVal> {
        let Some((case, rest)) = cases.split_first() else { return self.bug("a match without cases") };
        let cond = match rest {
            [] => Atom::bool(true),
            _ => self.pattern_matches(&case.pat, value)?,
        };
        self.branch(
            cond,
            |s| {
                let mut env = env.clone();
                s.bind_pattern(&mut env, &case.pat, value)?;
                s.eval_branch(&env, &case.body, ty)
            },
            |s| s.match_cases(env, value, rest, ty),
        )
    }
}

/// Loops that run more often are not unrolled.
const MAX_UNROLLED: i64 = 64;

/// The source of a loop.
struct Loop<'e> {
    sizes: &'e [VarId],
    pat: &'e Pat,
    form: &'e LoopForm,
    body: &'e Exp,
    hints: LoopHints,
}

/// What drives a loop, evaluated.
enum Driver {
    For(Atom),
    ForIn(SVal),
    While,
}

/// The carried value at the start, as parameters, and which of its sizes are parameters.
struct Carried {
    init: SVal,
    /// For each size, the position of its parameter, if it varies.
    varying: Vec<Option<usize>>,
}

/// Why a loop must be simplified again.
enum Round {
    Done(SVal),
    Again(Carried),
}

impl Simplifier<'_> {
    #[allow(clippy::too_many_arguments, reason = "the parts of a loop")]
    pub fn loop_exp(
        &mut self,
        env: &mut Env,
        exp: &Exp,
        sizes: &[VarId],
        pat: &Pat,
        init: &Exp,
        form: &LoopForm,
        body: &Exp,
    ) -> Res<SVal> {
        let hints = std::mem::take(&mut env.loop_hints);
        let unroll = env.unroll.take();
        let init = self.eval(env, init)?;
        let driver = match form {
            LoopForm::For { bound, .. } => Driver::For(self.eval_scalar(env, bound)?),
            LoopForm::ForIn { array, .. } => Driver::ForIn(self.eval(env, array)?),
            LoopForm::While(_) => Driver::While,
        };
        self.at(exp.span);
        sizes.iter().for_each(|size| drop(env.vars.remove(size)));
        let ty = self.eval_type(env, &pat.ty)?;
        let (init, _) = self.match_type(&init, &ty);
        let source = Loop { sizes, pat, form, body, hints };
        self.at(exp.span);
        if let Some(attribute) = unroll {
            match self.iterations(&driver) {
                Some(count) => return self.unrolled(env, &source, &driver, &ty, init, count),
                None => {
                    let message = format!(
                        "#[unroll] has no effect: the loop does not run a number of times that is known now and at most {MAX_UNROLLED}"
                    );
                    self.warn("not-unrolled", attribute, message);
                }
            }
        }
        self.in_region(RegionKind::Loop, |s, cells| s.loop_with(env, &source, &driver, &ty, &init, cells))
    }

    /// How often a loop runs, if that is known and not too often to be written out.
    fn iterations(&self, driver: &Driver) -> Option<i64> {
        let bound = match driver {
            Driver::For(bound) => *bound,
            Driver::ForIn(SVal::Array(array)) => array.dim,
            Driver::ForIn(_) | Driver::While => return None,
        };
        bound.as_const().and_then(Prim::as_i64).filter(|n| *n <= MAX_UNROLLED)
    }

    /// The iterations of a loop one after the other.
    fn unrolled(
        &mut self,
        env: &Env,
        source: &Loop<'_>,
        driver: &Driver,
        ty: &EType,
        init: SVal,
        count: i64,
    ) -> Res<SVal> {
        let mut value = init;
        for i in 0..count {
            let mut env = env.clone();
            source.sizes.iter().for_each(|size| drop(env.vars.remove(size)));
            self.bind_sizes(&mut env, &source.pat.ty, &value)?;
            self.bind_pattern(&mut env, source.pat, &value)?;
            let counter = match source.form {
                LoopForm::For { ty, .. } => Prim::of_i64(core_prim(*ty), i).into(),
                LoopForm::ForIn { .. } | LoopForm::While(_) => Atom::i64(i),
            };
            self.bind_loop_variable(&mut env, source, driver, counter)?;
            let result = self.eval(&mut env, source.body)?;
            value = self.match_type(&result, ty).0;
        }
        Ok(value)
    }

    /// A loop that changes `cells`, which are carried behind the user's own value.
    fn loop_with(
        &mut self,
        env: &Env,
        source: &Loop<'_>,
        driver: &Driver,
        ty: &EType,
        init: &SVal,
        cells: &[CellId],
    ) -> Res<SVal> {
        let (loc, span) = (self.loc, self.span);
        let init = SVal::tuple(std::iter::once(init.clone()).chain(self.cell_values(cells)?));
        let ty = EType::Record([(Name::tuple_field(0), ty.clone())].into());
        let varying = varying_sizes(&init, &ty);
        let mut carried = Carried { init, varying };
        for _ in 0..MAX_LOOP_ROUNDS {
            (self.loc, self.span) = (loc, span);
            match self.loop_round(env, source, driver, &ty, carried, cells)? {
                Round::Done(value) => {
                    let SVal::Record(parts) = &value else { return self.bug("a loop without its value") };
                    self.set_cells(cells, parts.iter().skip(1).map(|(_, value)| value.clone()));
                    return Ok(parts[0].1.clone());
                }
                Round::Again(next) => carried = next,
            }
        }
        self.unsupported("a loop carries a function that is another one in every iteration")
    }

    /// Simplifies the body for one skeleton of the carried value.
    fn loop_round(
        &mut self,
        env: &Env,
        source: &Loop<'_>,
        driver: &Driver,
        ty: &EType,
        carried: Carried,
        cells: &[CellId],
    ) -> Res<Round> {
        let mark = self.mark();
        let flat = flatten(&carried.init);
        let (params, current) = self.loop_params(&carried);
        let mut env = env.clone();
        source.sizes.iter().for_each(|size| drop(env.vars.remove(size)));
        let SVal::Record(parts) = &current else { return self.bug("a loop without its value") };
        self.bind_sizes(&mut env, &source.pat.ty, &parts[0].1)?;
        self.bind_pattern(&mut env, source.pat, &parts[0].1)?;
        self.set_cells(cells, parts.iter().skip(1).map(|(_, value)| value.clone()));
        let loc = self.loc;
        let form = self.loop_form(&env, source, driver)?;
        let (stms, result) = self.scope(|s| {
            let mut env = env.clone();
            s.bind_loop_variable(&mut env, source, driver, form.counter)?;
            let result = s.eval(&mut env, source.body)?;
            let result = SVal::tuple(std::iter::once(result).chain(s.cell_values(cells)?));
            Ok(s.match_type(&result, ty).0)
        })?;
        self.loc = loc;
        if !same_skeleton(&result, &carried.init) {
            let Some(skeleton) = common_skeleton(&carried.init, &result) else {
                return self.bug("a loop that changes its type");
            };
            if !same_skeleton(&skeleton, &carried.init) {
                let init = self.adapt(&carried.init, &skeleton, mark)?;
                let varying = varying_sizes(&init, ty);
                return Ok(Round::Again(Carried { init, varying }));
            }
        }
        let mut stms = stms;
        let result = self.extend_scope(&mut stms, |s| s.adapt(&result, &current, s.mark()))?;
        let (now, then) = (flatten(&current), flatten(&result));
        let changed = |i: &usize| carried.varying[*i].is_none() && now.dims[*i] != then.dims[*i];
        let changed: Vec<usize> = (0..now.dims.len()).filter(changed).collect();
        if !changed.is_empty() {
            let mut varying = carried.varying;
            let first = varying.iter().flatten().max().map_or(0, |max| max + 1);
            for (position, i) in (first..).zip(changed) {
                varying[i] = Some(position);
            }
            return Ok(Round::Again(Carried { init: carried.init, varying }));
        }
        let mut results = size_values(&carried.varying, &then.dims);
        results.extend(then.atoms());
        let mut inits = size_values(&carried.varying, &flat.dims);
        inits.extend(flat.atoms());
        let core_params = params.into_iter().zip(inits).collect();
        let body = Body { stms, result: results };
        Ok(Round::Done(self.emit_loop(&carried, core_params, form.core, body, source.hints)))
    }

    fn emit_loop(
        &mut self,
        carried: &Carried,
        params: Vec<(Param, Atom)>,
        form: CoreForm,
        body: Body,
        hints: LoopHints,
    ) -> SVal {
        // The results look like the parameters.
        let (pat, result) = self.loop_params(carried);
        self.push(pat, CoreExp::Loop { params, form, body, hints });
        result
    }

    /// New variables for the carried value: the sizes that vary, then the leaves.
    fn loop_params(&mut self, carried: &Carried) -> (Vec<Param>, SVal) {
        let flat = flatten(&carried.init);
        let count = carried.varying.iter().flatten().max().map_or(0, |max| max + 1);
        let mut params: Vec<Param> =
            (0..count).map(|_| self.param("size", Type::Prim(PrimType::I64))).collect();
        let dims: Vec<Atom> = (carried.varying.iter().zip(&flat.dims))
            .map(|(varying, dim)| varying.map_or(*dim, |i| params[i].var.into()))
            .collect();
        let leaves = self.params("carried", &leaf_types(&carried.init, &dims));
        let atoms: Vec<Atom> = leaves.iter().map(|p| p.var.into()).collect();
        params.extend(leaves);
        (params, rebuild(&carried.init, &dims, &atoms))
    }

    fn loop_form(&mut self, env: &Env, source: &Loop<'_>, driver: &Driver) -> Res<Form> {
        Ok(match (source.form, driver) {
            (LoopForm::For { name, ty, .. }, Driver::For(bound)) => {
                let var = self.builder.fresh(name.as_str());
                Form { counter: var.into(), core: CoreForm::For { var, ty: core_prim(*ty), bound: *bound } }
            }
            (LoopForm::ForIn { .. }, Driver::ForIn(SVal::Array(array))) => {
                let var = self.builder.fresh("i");
                Form { counter: var.into(), core: CoreForm::For { var, ty: PrimType::I64, bound: array.dim } }
            }
            (LoopForm::While(cond), Driver::While) => {
                let cond = self.inside(RegionKind::Condition, |s| {
                    s.body(|s| Ok(vec![s.eval_scalar(&mut env.clone(), cond)?]))
                })?;
                Form { counter: Atom::i64(0), core: CoreForm::While { cond } }
            }
            (LoopForm::For { .. } | LoopForm::ForIn { .. } | LoopForm::While(_), _) => {
                return self.bug("a loop over something else than its bound");
            }
        })
    }

    fn bind_loop_variable(
        &mut self,
        env: &mut Env,
        source: &Loop<'_>,
        driver: &Driver,
        counter: Atom,
    ) -> Res<()> {
        match (source.form, driver) {
            (LoopForm::For { var, ty, .. }, _) => {
                env.vars.insert(*var, SVal::Scalar(core_prim(*ty), counter));
                Ok(())
            }
            (LoopForm::ForIn { pat, .. }, Driver::ForIn(SVal::Array(array))) => {
                let elem = self.element(array, counter, Check::Certified)?;
                self.bind_sizes(env, &pat.ty, &elem)?;
                self.bind_pattern(env, pat, &elem)
            }
            (LoopForm::ForIn { .. }, _) => self.bug("a loop over something that is not an array"),
            (LoopForm::While(_), _) => Ok(()),
        }
    }
}

struct Form {
    counter: Atom,
    core: CoreForm,
}

/// The sizes that the type leaves free, one parameter for each name.
fn varying_sizes(value: &SVal, ty: &EType) -> Vec<Option<usize>> {
    let mut names: Vec<VarId> = Vec::new();
    let position = |target: Target| match target {
        Target::Free(var) => Some(names.iter().position(|name| *name == var).unwrap_or_else(|| {
            names.push(var);
            names.len() - 1
        })),
        Target::Known(_) | Target::Own => None,
    };
    targets(value, ty).into_iter().map(position).collect()
}

/// The values of the varying sizes, in the order of their parameters.
fn size_values(varying: &[Option<usize>], dims: &[Atom]) -> Vec<Atom> {
    let count = varying.iter().flatten().max().map_or(0, |max| max + 1);
    (0..count)
        .filter_map(|i| varying.iter().position(|v| *v == Some(i)).and_then(|at| dims.get(at).copied()))
        .collect()
}
