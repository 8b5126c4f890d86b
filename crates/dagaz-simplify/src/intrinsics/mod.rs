//! The operations that the compiler provides: `prelude/intrinsics.fut`.

mod accumulator;
mod array;
mod derivative;
mod equality;
mod flat;
mod histogram;
mod linearize;
mod parallel;
mod scalar;

use dagaz_syntax::Name;
pub(crate) use derivative::contains_function;

use crate::context::{Res, Simplifier};
use crate::value::{EArg, SVal};

/// How many arguments an intrinsic takes.
pub(crate) fn arity(name: &str) -> Option<usize> {
    if let Some(arity) = scalar::arity(name) {
        return Some(arity);
    }
    Some(match name {
        "flatten" | "transpose" | "unzip" | "manifest" | "opaque" | "stop_gradient" | "unit_seed" => 1,
        "pointful" | "cardinality" | "ordinal" | "from_ordinal" => 1,
        "==" | "!=" | "&&" | "||" | "replicate" | "concat" | "zip" | "map" | "flatmap" => 2,
        "linearize" | "linear_transpose" | "run_state" | "state_set" | "accumulate" => 2,
        "run_accum" | "state_get" => 1,
        "run_accum_with" => 3,
        "unflatten" | "reduce" | "reduce_comm" | "scan" | "scatter" | "scatter_2d" | "scatter_3d" => 3,
        "acc_write" | "scatter_stream" | "jvp2" | "vjp2" | "jmp2" | "mjp2" | "with_vjp" => 3,
        "hist_stream" | "flat_update_2d" => 5,
        "hist_1d" | "hist_2d" | "hist_3d" | "flat_index_2d" | "flat_update_3d" => 6,
        "flat_update_4d" => 7,
        "flat_index_3d" => 8,
        "flat_index_4d" => 10,
        _ => return None,
    })
}

impl Simplifier<'_> {
    pub fn intrinsic(&mut self, name: Name, type_args: &[EArg], args: Vec<SVal>) -> Res<SVal> {
        if scalar::arity(name.as_str()).is_some() {
            return self.scalar_intrinsic(name.as_str(), type_args, &args);
        }
        match (name.as_str(), args.as_slice()) {
            ("==", [a, b]) => Ok(SVal::bool(self.equal(a, b)?)),
            ("!=", [a, b]) => {
                let equal = self.equal(a, b)?;
                Ok(SVal::bool(self.not(equal)))
            }
            ("&&", [SVal::Scalar(_, a), SVal::Scalar(_, b)]) => Ok(SVal::bool(self.and(*a, *b))),
            ("||", [SVal::Scalar(_, a), SVal::Scalar(_, b)]) => Ok(SVal::bool(self.or(*a, *b))),
            ("pointful", [f]) => self.pointful(f, type_args),
            ("cardinality", [_]) => self.cardinality_of(type_args),
            ("ordinal", [index]) => self.ordinal_of(type_args, index),
            ("from_ordinal", [SVal::Scalar(_, number)]) => self.index_of(type_args, *number),
            ("opaque", [a]) => Ok(a.clone()),
            ("replicate", [SVal::Scalar(_, n), a]) => Ok(self.replicate(*n, a)),
            ("concat", [SVal::Array(a), SVal::Array(b)]) => self.concat(a, b),
            ("flatten", [a]) => self.flatten_array(a),
            ("unflatten", [SVal::Scalar(_, n), SVal::Scalar(_, m), SVal::Array(a)]) => {
                self.unflatten(*n, *m, a)
            }
            ("transpose", [a]) => self.transpose(a),
            ("zip", [SVal::Array(a), SVal::Array(b)]) => Ok(self.zip(a, b)),
            ("unzip", [SVal::Array(a)]) => self.unzip(a),
            ("manifest", [a]) => Ok(self.manifest(a)),
            ("map", [f, SVal::Array(a)]) => self.map(f, a, type_args),
            ("reduce", [op, ne, SVal::Array(a)]) => self.reduce(op, ne, a, false),
            ("reduce_comm", [op, ne, SVal::Array(a)]) => self.reduce(op, ne, a, true),
            ("scan", [op, ne, SVal::Array(a)]) => self.scan(op, ne, a),
            ("scatter", [dest, is, vs]) => self.scatter(1, dest, is, vs),
            ("scatter_2d", [dest, is, vs]) => self.scatter(2, dest, is, vs),
            ("scatter_3d", [dest, is, vs]) => self.scatter(3, dest, is, vs),
            ("hist_1d", [_, dest, op, ne, is, vs]) => self.hist(1, dest, op, ne, is, vs),
            ("hist_2d", [_, dest, op, ne, is, vs]) => self.hist(2, dest, op, ne, is, vs),
            ("hist_3d", [_, dest, op, ne, is, vs]) => self.hist(3, dest, op, ne, is, vs),
            ("flatmap", [f, SVal::Array(a)]) => self.flatmap(f, a, type_args),
            ("acc_write", [SVal::Acc(acc), SVal::Scalar(_, i), v]) => self.acc_write(acc, *i, v),
            ("scatter_stream", [SVal::Array(dest), f, SVal::Array(bs)]) => self.stream(dest, None, f, bs),
            ("hist_stream", [SVal::Array(dest), op, ne, f, SVal::Array(bs)]) => {
                self.stream(dest, Some((op, ne)), f, bs)
            }
            ("flat_index_2d" | "flat_index_3d" | "flat_index_4d", [SVal::Array(a), rest @ ..]) => {
                self.flat_index(a, rest)
            }
            ("flat_update_2d" | "flat_update_3d" | "flat_update_4d", [SVal::Array(a), rest @ ..]) => {
                self.flat_update(a, rest)
            }
            ("run_state", [init, body]) => self.run_state(init, body),
            ("run_accum", [body]) => self.run_accum(body, type_args),
            ("run_accum_with", [op, ne, body]) => self.run_accum_with(op, ne, body, type_args),
            ("state_get", [SVal::Ref(reference)]) => self.state_get(reference),
            ("state_set", [SVal::Ref(reference), value]) => self.state_set(reference, value),
            ("accumulate", [SVal::Ref(reference), value]) => self.accumulate(reference, value),
            ("jvp2", [f, x, seed]) => self.jvp2(f, x, seed, type_args),
            ("vjp2", [f, x, seed]) => self.vjp2(f, x, seed, type_args),
            ("jmp2", [f, x, SVal::Array(seeds)]) => self.many_seeds(true, f, x, seeds, type_args),
            ("mjp2", [f, x, SVal::Array(seeds)]) => self.many_seeds(false, f, x, seeds, type_args),
            ("unit_seed", [SVal::Scalar(_, one)]) => self.unit_seed(*one, type_args),
            ("linearize", [f, x]) => self.linearize(f, x, type_args),
            ("linear_transpose", [f, seed]) => self.linear_transpose(f, seed, type_args),
            ("stop_gradient", [x]) => Ok(self.stop_gradient(x)),
            ("with_vjp", [f, rule, x]) => self.with_vjp(f, rule, x, type_args),
            (name, _) => self.bug(format!("the intrinsic {name} at arguments that it does not take")),
        }
    }
}
