//! `linearize`: the result of a function at a point, and its derivative there as a linear function.
//!
//!     linearize f x     ==>     let (y, residuals) = call linearized (…)          -- given what `f` captured, and x
//!                               (y, \x_tan -> call derivative (residuals, x_tan))
//!
//! `dagaz-ad` takes the function apart. The residuals are what the linear function captures, and so it can go wherever other
//! functions go: into arrays, which are then tables of residuals, out of branches, and through calls.

use std::collections::HashSet;
use std::rc::Rc;

use dagaz_ad::Linearised;
use dagaz_core::exp::{Body, Exp, Fun, Lambda, Program, Stm};
use dagaz_core::pass::{Rejection, run_on_part};
use dagaz_core::rename::renamed_lambda;
use dagaz_core::types::{Atom, FunId, Param, Type, VarId};
use dagaz_core::visit::{calls, free_vars_lambda, type_mut};
use dagaz_optimise::pipelines::BEFORE_DERIVATIVES;
use dagaz_syntax::{Diagnostic, Name};

use super::derivative::{Function, with_leaves};
use crate::context::{Res, Simplifier};
use crate::value::{Code, EArg, FunVal, LinearFun, LinearSize, SVal, as_var};
use crate::walk::{Flat, flatten, rebuild};

impl Simplifier<'_> {
    /// The result, and its derivative as a function that has everything it needs of the primal.
    pub(super) fn linearize(&mut self, f: &SVal, x: &SVal, type_args: &[EArg]) -> Res<SVal> {
        let code = Code::Intrinsic { name: Name::new("linearize"), type_args: type_args.into() };
        let call = SVal::Fun(Rc::new(FunVal { code, args: vec![f.clone(), x.clone()] }));
        let (loc, span) = (self.loc, self.span);
        let place = self.locs.outermost(loc).unwrap_or(span);
        self.call_emitted(&call, false, "linearized", |s, _, call, params| {
            (s.loc, s.span) = (loc, span);
            let (Code::Intrinsic { type_args, .. }, [f, x]) = (&call.code, call.args.as_slice()) else {
                return s.bug("a linearised function without an argument");
            };
            let (stms, function) = s.scope(|s| s.function(f, x, None, type_args))?;
            let bound = |stms: &[Stm]| stms.iter().flat_map(|stm| stm.pat.clone()).collect::<Vec<_>>();
            let mut known = [bound(&s.consts), params.to_vec(), bound(&stms)].concat();
            stms.into_iter().for_each(|stm| s.builder.push(stm));
            let Function { lambda, result, dims } = function;
            let parts = match s.taken_apart(&known, lambda)? {
                Ok(parts) => parts,
                Err(error) => return Err(Box::new(Diagnostic::error(error.code, place, error.message))),
            };
            known.extend(parts.params.iter().cloned().chain(bound(&parts.primal.stms)));
            for param in &mut known {
                type_mut(&mut param.ty, &mut |size| {
                    *size = as_var(*size).and_then(|var| parts.copies.get(&var)).copied().unwrap_or(*size);
                });
            }
            let arguments = parts.params.iter().zip(flatten(x).atoms());
            for (param, argument) in arguments {
                s.push(vec![param.clone()], Exp::Atom(argument));
            }
            parts.primal.stms.into_iter().for_each(|stm| s.builder.push(stm));
            let primal = rebuild(&result, &dims, &parts.primal.result);
            let linear = s.linear_function(x, &primal, &parts.derivative, &known)?;
            Ok(s.layout_of_value(&SVal::tuple([primal, linear]), params))
        })
    }

    /// What `dagaz-ad` makes of a function whose free variables are known, once it has been cleaned up.
    fn taken_apart(&mut self, known: &[Param], lambda: Lambda) -> Res<Result<Linearised, Rejection>> {
        let mut funs = self.called(&lambda.body)?;
        let Lambda { params, body, ret } = lambda;
        let ret = self.params("result", &ret);
        let name = "linearized".to_owned();
        funs.push(Fun { name, params: [known, &params].concat(), ret, body, loc: self.loc });
        let vars = std::mem::take(&mut self.builder.vars);
        let mut program = Program { funs, vars, ..Program::default() };
        run_on_part(BEFORE_DERIVATIVES, &mut program);
        let Program { mut funs, vars, .. } = program;
        self.builder.vars = vars;
        let Some(Fun { ret, body, .. }) = funs.pop() else { return self.bug("a function that is lost") };
        let lambda = Lambda { params, body, ret: ret.into_iter().map(|p| p.ty).collect() };
        Ok(dagaz_ad::linearize(&mut self.builder.vars, &funs, known, &lambda))
    }

    /// The functions that a body calls, however indirectly, each at its own place.
    fn called(&self, body: &Body) -> Res<Vec<Fun>> {
        let mut wanted = HashSet::new();
        let mut todo = calls(&body.stms);
        while let Some(id) = todo.pop() {
            if wanted.insert(id) {
                match self.funs.get(id.0 as usize).and_then(Option::as_ref) {
                    Some(fun) => todo.extend(calls(&fun.body.stms)),
                    None => {
                        return self.unsupported(
                            "the derivative of a recursive function inside of itself is not available yet",
                        );
                    }
                }
            }
        }
        let blank = |_| Fun {
            name: String::new(),
            params: vec![],
            ret: vec![],
            body: Body::default(),
            loc: self.loc,
        };
        let fun = |(i, fun): (usize, &Option<Fun>)| {
            fun.clone().filter(|_| wanted.contains(&FunId(i as u32))).unwrap_or_else(|| blank(i))
        };
        Ok(self.funs.iter().enumerate().map(fun).collect())
    }

    /// The derivative as a function of Core, and as a value that has captured what the function takes beside the tangent.
    fn linear_function(
        &mut self,
        x: &SVal,
        primal: &SVal,
        derivative: &Lambda,
        known: &[Param],
    ) -> Res<SVal> {
        let free = free_vars_lambda(derivative);
        let is_local = |var: &VarId, s: &Self| !s.globals.contains(var);
        let residuals: Vec<Param> = known
            .iter()
            .filter(|param| free.contains(&param.var) && is_local(&param.var, self))
            .cloned()
            .collect();
        let sized = [x.clone(), primal.clone()];
        let mut sizes: Vec<VarId> =
            residuals.iter().flat_map(|p| p.ty.all_dims()).filter_map(as_var).collect();
        sizes.extend(sized.iter().flat_map(|value| flatten(value).dims).filter_map(as_var));
        // What is a size of something else that is captured is known by that.
        let captured = residuals.into_iter().filter(|param| !sizes.contains(&param.var));
        let captured: SVal = SVal::tuple(captured.map(|param| value_of(param.var.into(), &param.ty)));
        let args = vec![captured.clone(), x.clone(), primal.clone()];
        let dims = flatten(&SVal::tuple(args.clone())).dims;
        let mut params: Vec<Param> = Vec::new();
        let mut layout = Vec::with_capacity(dims.len());
        for dim in dims {
            layout.push(match dim {
                Atom::Var(var) if is_local(&var, self) => {
                    let position = params.iter().position(|p| p.var == var).unwrap_or_else(|| {
                        params.push(Param { var, ty: Type::I64 });
                        params.len() - 1
                    });
                    LinearSize::Param(position)
                }
                Atom::Var(_) | Atom::Const(_) => LinearSize::Known(dim),
            });
        }
        let Flat { leaves, .. } = flatten(&captured);
        for leaf in leaves {
            params.extend(as_var(leaf.atom).map(|var| Param { var, ty: leaf.ty }));
        }
        params.extend(derivative.params.iter().cloned());
        let inside: Vec<VarId> = params.iter().map(|p| p.var).collect();
        let lambda = Lambda { params, body: derivative.body.clone(), ret: Vec::new() };
        let Lambda { params, body, .. } = renamed_lambda(&mut self.builder.vars, &lambda);
        // Unlike those of other lambdas, the types of the results mention the function's own sizes.
        let mut ret = derivative.ret.clone();
        ret.iter_mut().for_each(|ty| {
            type_mut(ty, &mut |size| {
                let position = inside.iter().position(|var| Atom::Var(*var) == *size);
                *size = position.map_or(*size, |position| params[position].var.into());
            });
        });
        let ret = self.params("y_tan", &ret);
        let fun = FunId(self.funs.len() as u32);
        let name = format!("derivative_{}", fun.0);
        self.funs.push(Some(Fun { name, params, ret, body, loc: self.loc }));
        let code = Code::Linear(Rc::new(LinearFun { fun, sizes: layout }));
        Ok(SVal::Fun(Rc::new(FunVal { code, args })))
    }

    /// The tangent of the result, given what [`Simplifier::linear_function`] says, and then the tangent of the argument.
    pub fn apply_linear(&mut self, linear: &LinearFun, args: Vec<SVal>) -> Res<SVal> {
        let [captured, x, y, tangent] = args.as_slice() else {
            return self.bug("a linear function at arguments that it does not take");
        };
        let kept = SVal::tuple([captured.clone(), x.clone(), y.clone()]);
        // Sizes that are the same where the function was made may have different names here.
        let mut sizes: Vec<Atom> = Vec::new();
        let mut dims = Vec::with_capacity(linear.sizes.len());
        for (size, dim) in linear.sizes.iter().zip(flatten(&kept).dims) {
            dims.push(match *size {
                LinearSize::Known(size) => size,
                LinearSize::Param(position) => {
                    if position == sizes.len() {
                        sizes.push(dim);
                    }
                    sizes[position]
                }
            });
        }
        let SVal::Record(kept) = self.redim(&kept, &dims) else {
            return self.bug("a linear function without residuals");
        };
        let [(_, captured), (_, x), (_, y)] = &kept[..] else {
            return self.bug("a linear function without residuals");
        };
        let tangents = flatten(&self.conform(tangent, x)).atoms();
        let args = [sizes, flatten(captured).atoms(), tangents].concat();
        let results = self.emit_all("y_tan", &flatten(y).types(), Exp::Call { fun: linear.fun, args });
        Ok(with_leaves(y, &results))
    }
}

/// A variable of Core as a value.
fn value_of(atom: Atom, ty: &Type) -> SVal {
    let prim = ty.elem().unwrap_or(dagaz_core::prim::PrimType::Bool);
    ty.dims().iter().rev().fold(SVal::Scalar(prim, atom), |elem, dim| SVal::array(*dim, elem))
}
