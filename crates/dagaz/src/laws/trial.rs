//! Tries an operator with random values.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dagaz_core::exp::Program;
use dagaz_core::interp::{Interpreter, Limits};
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::types::{Atom, FunId, Type, VarId};
use dagaz_core::value::{Array, Elems, Value};

use super::operators::{Captured, Operator};
use crate::data;
use crate::testing::random::SplitMix;

/// With how many values an operator is tried.
const TRIALS: u64 = 60;

/// For one call of an operator.
const TIME: Duration = Duration::from_millis(500);

/// A law that does not hold, as a sentence, and values for which it does not.
pub(super) struct Violation {
    pub law: &'static str,
    pub example: Vec<String>,
}

pub(super) struct Trials {
    interpreter: Interpreter,
}

/// Why a trial says nothing.
struct Nothing;

impl Trials {
    pub fn new(program: Program) -> Trials {
        Trials { interpreter: Interpreter::shared(Arc::new(program)) }
    }

    /// The first violation found. The same values are tried every time.
    pub fn violation(&mut self, operator: &Operator) -> Option<Violation> {
        (0..TRIALS)
            .find_map(|seed| self.trial(operator, &mut Source(SplitMix::from_seed(seed))).unwrap_or(None))
    }

    fn call(&mut self, fun: FunId, args: &[&[Value]]) -> Result<Vec<Value>, Nothing> {
        let deadline = Some(Instant::now() + TIME);
        self.interpreter.limits = Limits { memory: Some(1 << 28), deadline, ..Limits::generous() };
        let results = self.interpreter.call_fun(fun, args.concat()).map_err(|_| Nothing)?;
        if results.iter().all(is_finite) { Ok(results) } else { Err(Nothing) }
    }

    fn trial(&mut self, operator: &Operator, source: &mut Source) -> Result<Option<Violation>, Nothing> {
        let mut sizes = HashMap::new();
        let captured: Vec<Value> =
            operator.captured.iter().map(|c| source.captured(c, &mut sizes)).collect::<Result<_, _>>()?;
        // Without sizes of its own, a type has those that other operands have.
        let neutral = self.interpreter.call_fun(operator.neutral, captured.clone()).map_err(|_| Nothing)?;
        let shapes: Vec<&[usize]> = neutral.iter().map(Value::shape).collect();
        let mut operand = || -> Vec<Value> {
            operator.types.iter().zip(&shapes).map(|(ty, shape)| source.value(ty, shape)).collect()
        };
        let (a, b, c) = (operand(), operand(), operand());
        let fun = operator.apply;
        let mut apply = |x: &[Value], y: &[Value]| self.call(fun, &[&captured, x, y]);
        let (ab, bc) = (apply(&a, &b)?, apply(&b, &c)?);
        let (left, right) = (apply(&ab, &c)?, apply(&a, &bc)?);
        let scale = [&a, &b, &c, &ab, &bc].into_iter().flatten().map(size).fold(1.0, f64::max);
        let with = described(&operator.captured, &captured);
        if !are_equal(&left, &right, scale) {
            let law = "this operator is not associative: results depend on how elements are grouped";
            let example =
                [format!("(a ∘ b) ∘ c = {}", show(&left)), format!("a ∘ (b ∘ c) = {}", show(&right))];
            return Ok(Some(Violation {
                law,
                example: [operands(&[&a, &b, &c], &with), example.to_vec()].concat(),
            }));
        }
        // What the operator gives is what it is for: sums modulo m need not keep what is not below m.
        for (name, result) in [("e ∘ a", apply(&neutral, &ab)?), ("a ∘ e", apply(&ab, &neutral)?)] {
            if !are_equal(&result, &ab, scale) {
                let law =
                    "this is no neutral element of the operator: results depend on how elements are grouped";
                let mut example = operands(&[&ab], &with);
                example.push(format!("{name} = {} where e = {}", show(&result), show(&neutral)));
                return Ok(Some(Violation { law, example }));
            }
        }
        let ba = apply(&b, &a)?;
        if operator.must_commute && !are_equal(&ab, &ba, scale) {
            let law = "this operator is not commutative: results depend on the order in which elements come";
            let mut example = operands(&[&a, &b], &with);
            example.push(format!("a ∘ b = {}", show(&ab)));
            example.push(format!("b ∘ a = {}", show(&ba)));
            return Ok(Some(Violation { law, example }));
        }
        Ok(None)
    }
}

/// What operands are, and what the operator captures.
fn operands(values: &[&[Value]], with: &[String]) -> Vec<String> {
    let named = ["a", "b", "c"].iter().zip(values).map(|(name, value)| format!("{name} = {}", show(value)));
    vec![named.chain(with.iter().cloned()).collect::<Vec<_>>().join(", ")]
}

fn described(captured: &[Captured], values: &[Value]) -> Vec<String> {
    captured.iter().zip(values).map(|(c, value)| format!("{} = {}", c.name, data::print(value))).collect()
}

fn show(values: &[Value]) -> String {
    let shown: Vec<String> = values.iter().map(data::print).collect();
    if shown.len() == 1 { shown.concat() } else { format!("({})", shown.join(", ")) }
}

/// Random values.
struct Source(SplitMix);

impl Source {
    fn below(&mut self, n: u64) -> u64 {
        self.0.next() % n
    }

    /// Small numbers: what overflows or rounds breaks laws that matter to nobody.
    fn prim(&mut self, ty: PrimType) -> Prim {
        let number = self.below(17) as i64;
        if ty == PrimType::Bool {
            return Prim::Bool(number % 2 == 1);
        }
        let eighths = self.below(65) as f64 / 8.0 - 4.0;
        let signed = if ty.is_unsigned() { number } else { number - 8 };
        Prim::of_f64(ty, eighths).unwrap_or_else(|| Prim::of_i64(ty, signed))
    }

    fn value(&mut self, ty: &Type, shape: &[usize]) -> Value {
        let elem = ty.elem().unwrap_or(PrimType::I64);
        if shape.is_empty() {
            return self.prim(elem).into();
        }
        let count = shape.iter().product();
        let mut elems = Elems::with_capacity(elem, count);
        for _ in 0..count {
            elems.push(self.prim(elem));
        }
        Array::new(shape, elems).map_or_else(|| self.prim(elem).into(), Value::Array)
    }

    /// All sizes are from one to three.
    fn captured(&mut self, captured: &Captured, sizes: &mut HashMap<VarId, usize>) -> Result<Value, Nothing> {
        let Captured { param, is_size, .. } = captured;
        if *is_size {
            let size = 1 + self.below(3);
            sizes.insert(param.var, size as usize);
            return Ok(Prim::I64(size as i64).into());
        }
        let size = |dim: &Atom| match dim {
            Atom::Var(var) => sizes.get(var).copied(),
            Atom::Const(prim) => prim.as_i64().and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= 64),
        };
        let shape: Option<Vec<usize>> = param.ty.dims().iter().map(size).collect();
        shape.map(|shape| self.value(&param.ty, &shape)).ok_or(Nothing)
    }
}

fn prims(value: &Value) -> Vec<Prim> {
    match value {
        Value::Prim(prim) => vec![*prim],
        Value::Array(array) => array.prims().collect(),
    }
}

fn is_finite(value: &Value) -> bool {
    prims(value).iter().all(|prim| prim.as_f64().is_none_or(f64::is_finite))
}

fn size(value: &Value) -> f64 {
    prims(value).iter().filter_map(|prim| prim.as_f64()).map(f64::abs).fold(0.0, f64::max)
}

/// Equal up to rounding, relative to the largest number around.
fn are_equal(xs: &[Value], ys: &[Value], scale: f64) -> bool {
    let equal = |x: &Prim, y: &Prim| match (x.as_f64(), y.as_f64()) {
        (Some(p), Some(q)) => (p - q).abs() <= rounding(x.ty()) * scale.max(p.abs()).max(q.abs()),
        _ => x == y,
    };
    xs.len() == ys.len()
        && xs
            .iter()
            .zip(ys)
            .all(|(x, y)| x.shape() == y.shape() && prims(x).iter().zip(&prims(y)).all(|(p, q)| equal(p, q)))
}

/// What several operations may lose.
fn rounding(ty: PrimType) -> f64 {
    match ty {
        PrimType::F16 => 0.05,
        PrimType::F32 => 1e-4,
        _ => 1e-9,
    }
}
