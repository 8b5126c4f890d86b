//! A second interpreter of Core, for tests: floats are real numbers of about 31 digits, everything else is as plain as possible.
//!
//! It shares nothing with the interpreter of `dagaz-core` but the operations on integers, so that it is a check of
//! that one, too; and differences of its results give derivatives to some 20 digits, which is what it is for.
//!
//! Arrays are values: an update makes a new array. What an uninitialised array holds is not a number.

mod bulk;
mod gamma;
pub mod real;
mod scalar;

use std::collections::HashMap;
use std::rc::Rc;

use dagaz_core::exp::{Body, DimSlice, Exp, Lambda, LoopForm, Program, Stm};
use dagaz_core::prim::{BinOp, Prim, PrimType};
use dagaz_core::types::{Atom, FunId, Param, Type, VarId};

use real::Real;
use scalar::{Fallible, Scalar};

#[derive(Clone, Debug)]
pub enum Value {
    Scalar(Scalar),
    Array(Array),
    /// The number of an open accumulator.
    Acc(usize),
}

#[derive(Clone, Debug)]
pub struct Array {
    shape: Vec<usize>,
    elems: Rc<Vec<Scalar>>,
}

/// Runs an entry point whose parameters and results are vectors of floats.
pub fn call(program: &Program, entry: &str, args: &[Vec<Real>]) -> Result<Vec<Vec<Real>>, String> {
    let entry = program.entries.iter().find(|e| e.name == entry).ok_or("no such entry point")?;
    let fun = program.fun(entry.fun).ok_or("no such function")?;
    let mut machine = Machine { program, env: HashMap::new(), accs: Vec::new() };
    machine.stms(&program.consts)?;
    let (sizes, params) = fun.params.split_at(entry.size_params);
    let vector = |xs: &Vec<Real>| {
        let elems = xs.iter().map(|x| Scalar::Real(*x)).collect();
        Array { shape: vec![xs.len()], elems: Rc::new(elems) }
    };
    let mut values = Vec::new();
    for size in sizes {
        let at =
            params.iter().position(|p| p.ty.dims() == [Atom::Var(size.var)]).ok_or("a size of nothing")?;
        values.push(machine.integer(args[at].len() as i64));
    }
    values.extend(args.iter().map(|xs| Value::Array(vector(xs))));
    let results = machine.apply_fun(entry.fun, values)?;
    let floats = |value: &Value| match value {
        Value::Array(array) => array.elems.iter().map(|x| real(*x)).collect(),
        Value::Scalar(x) => Ok(vec![real(*x)?]),
        Value::Acc(_) => Err("an accumulator is left".to_owned()),
    };
    results.iter().skip(entry.size_results).map(floats).collect()
}

fn real(x: Scalar) -> Fallible<Real> {
    match x {
        Scalar::Real(x) => Ok(x),
        Scalar::Other(prim) => Err(format!("a float is expected, not {prim}")),
    }
}

struct Machine<'p> {
    program: &'p Program,
    env: HashMap<VarId, Value>,
    accs: Vec<bulk::OpenAcc<'p>>,
}

impl<'p> Machine<'p> {
    fn integer(&self, n: i64) -> Value {
        Value::Scalar(Scalar::Other(Prim::I64(n)))
    }

    fn atom(&self, atom: Atom) -> Fallible<Value> {
        match atom {
            Atom::Const(prim) => Ok(Value::Scalar(Scalar::of_prim(prim))),
            Atom::Var(var) => self.env.get(&var).cloned().ok_or_else(|| format!("v{} is not bound", var.0)),
        }
    }

    fn atoms(&self, atoms: &[Atom]) -> Fallible<Vec<Value>> {
        atoms.iter().map(|a| self.atom(*a)).collect()
    }

    fn scalar(&self, atom: Atom) -> Fallible<Scalar> {
        match self.atom(atom)? {
            Value::Scalar(x) => Ok(x),
            Value::Array(_) | Value::Acc(_) => Err("a scalar is expected".to_owned()),
        }
    }

    fn i64(&self, atom: Atom) -> Fallible<i64> {
        self.scalar(atom)?.i64()
    }

    fn size(&self, atom: Atom) -> Fallible<usize> {
        usize::try_from(self.i64(atom)?).map_err(|_| "a size is negative".to_owned())
    }

    fn sizes(&self, atoms: &[Atom]) -> Fallible<Vec<usize>> {
        atoms.iter().map(|a| self.size(*a)).collect()
    }

    fn array(&self, var: VarId) -> Fallible<Array> {
        match self.atom(Atom::Var(var))? {
            Value::Array(array) => Ok(array),
            Value::Scalar(_) | Value::Acc(_) => Err("an array is expected".to_owned()),
        }
    }

    fn bind(&mut self, params: &[Param], values: Vec<Value>) -> Fallible<()> {
        if params.len() != values.len() {
            return Err(format!("{} values for {} names", values.len(), params.len()));
        }
        self.env.extend(params.iter().map(|p| p.var).zip(values));
        params.iter().try_for_each(|p| self.check_shape(p))
    }

    /// Arrays have the shapes that their types say.
    fn check_shape(&self, param: &Param) -> Fallible<()> {
        let Some(Value::Array(array)) = self.env.get(&param.var) else { return Ok(()) };
        let shape = self.sizes(param.ty.dims())?;
        if shape == array.shape { Ok(()) } else { Err(format!("{:?} for {shape:?}", array.shape)) }
    }

    fn stms(&mut self, stms: &'p [Stm]) -> Fallible<()> {
        for stm in stms {
            let values = self.exp(stm)?;
            self.bind(&stm.pat, values)?;
        }
        Ok(())
    }

    fn body(&mut self, body: &'p Body) -> Fallible<Vec<Value>> {
        self.stms(&body.stms)?;
        self.atoms(&body.result)
    }

    fn apply(&mut self, lambda: &'p Lambda, args: Vec<Value>) -> Fallible<Vec<Value>> {
        self.bind(&lambda.params, args)?;
        self.body(&lambda.body)
    }

    /// A call may be recursive, so that what it binds is its own.
    fn apply_fun(&mut self, fun: FunId, args: Vec<Value>) -> Fallible<Vec<Value>> {
        let fun = self.program.fun(fun).ok_or("no such function")?;
        let outside = self.env.clone();
        self.bind(&fun.params, args)?;
        let results = self.body(&fun.body);
        self.env = outside;
        results
    }

    fn exp(&mut self, stm: &'p Stm) -> Fallible<Vec<Value>> {
        match &stm.exp {
            Exp::If { cond, then, otherwise } => {
                self.body(if self.scalar(*cond)?.bool()? { then } else { otherwise })
            }
            Exp::Loop { params, form, body, .. } => self.run_loop(params, form, body),
            Exp::Call { fun, args } => {
                let args = self.atoms(args)?;
                self.apply_fun(*fun, args)
            }
            Exp::Assert { cond, .. } => {
                if self.scalar(*cond)?.bool()? {
                    Ok(vec![])
                } else {
                    Err("an assertion fails".to_owned())
                }
            }
            Exp::Trace { values, .. } => self.atoms(values),
            Exp::Map { width, arrays, lambda } => self.map(*width, arrays, lambda),
            Exp::Reduce { width, arrays, pre, op, neutral, .. } => {
                Ok(self.fold(*width, arrays, pre.as_ref(), op, neutral)?.0)
            }
            Exp::Scan { width, arrays, pre, op, neutral } => {
                let rows = self.fold(*width, arrays, pre.as_ref(), op, neutral)?.1;
                self.stack(rows, &op.ret)
            }
            Exp::Hist { width, arrays, pre, dests, shape, op, .. } => {
                self.write_rows((*width, arrays, pre.as_ref()), dests, shape, Some(op))
            }
            Exp::Scatter { width, arrays, pre, dests, shape } => {
                self.write_rows((*width, arrays, pre.as_ref()), dests, shape, None)
            }
            Exp::WithAcc { inputs, lambda } => self.with_acc(inputs, lambda),
            Exp::UpdateAcc { acc, indices, values } => self.update_acc(*acc, indices, values),
            Exp::Jvp { .. }
            | Exp::Vjp { .. }
            | Exp::WithVjp { .. }
            | Exp::Transpose { .. }
            | Exp::Detach(_) => Err("derivatives are to be expanded first".to_owned()),
            Exp::Atom(_)
            | Exp::UnOp(..)
            | Exp::BinOp(..)
            | Exp::TernOp(..)
            | Exp::CmpOp(..)
            | Exp::Convert(..)
            | Exp::Index { .. }
            | Exp::Slice { .. }
            | Exp::Update { .. }
            | Exp::Copy(_)
            | Exp::Iota { .. }
            | Exp::Replicate { .. }
            | Exp::Rearrange { .. }
            | Exp::Reshape { .. }
            | Exp::Concat { .. }
            | Exp::Contract { .. }
            | Exp::Scratch { .. }
            | Exp::ArrayLit { .. } => Ok(vec![self.single(&stm.exp)?]),
        }
    }

    /// Expressions with one result and no body inside.
    fn single(&mut self, exp: &'p Exp) -> Fallible<Value> {
        let scalar = match exp {
            Exp::Atom(a) => return self.atom(*a),
            Exp::UnOp(op, _, a) => scalar::unop(*op, self.scalar(*a)?)?,
            Exp::BinOp(op, _, a, b) => scalar::binop(*op, self.scalar(*a)?, self.scalar(*b)?)?,
            Exp::TernOp(op, _, [a, b, c]) => {
                scalar::ternop(*op, [self.scalar(*a)?, self.scalar(*b)?, self.scalar(*c)?])?
            }
            Exp::CmpOp(op, _, a, b) => {
                Scalar::Other(Prim::Bool(scalar::compare(*op, self.scalar(*a)?, self.scalar(*b)?)?))
            }
            Exp::Convert(_, to, a) => scalar::convert(*to, self.scalar(*a)?),
            _ => return self.array_exp(exp),
        };
        Ok(Value::Scalar(scalar))
    }

    fn array_exp(&mut self, exp: &'p Exp) -> Fallible<Value> {
        match exp {
            Exp::Index { array, indices, .. } => {
                let array = self.array(*array)?;
                let dims: Vec<DimSlice> = indices.iter().map(|i| DimSlice::Fix(*i)).collect();
                let (shape, places) = self.places(&array, &dims)?;
                Ok(array.gather(shape, &places))
            }
            Exp::Slice { array, dims } => {
                let array = self.array(*array)?;
                let (shape, places) = self.places(&array, dims)?;
                Ok(array.gather(shape, &places))
            }
            Exp::Update { array, dims, value, .. } => {
                let mut array = self.array(*array)?;
                let (shape, places) = self.places(&array, dims)?;
                let (value_shape, elems) = parts(self.atom(*value)?)?;
                if shape != value_shape {
                    return Err(format!("{value_shape:?} is written to a part of shape {shape:?}"));
                }
                let target = Rc::make_mut(&mut array.elems);
                places.iter().zip(elems.iter()).for_each(|(place, elem)| target[*place] = *elem);
                Ok(Value::Array(array))
            }
            Exp::Copy(array) => self.array(*array).map(Value::Array),
            Exp::Iota { ty, n, start, step } => {
                let (start, step) = (self.i64(*start)?, self.i64(*step)?);
                let n = self.size(*n)?;
                let elem = |i: usize| {
                    Scalar::Other(Prim::of_i64(*ty, start.wrapping_add(step.wrapping_mul(i as i64))))
                };
                Ok(Array::value(vec![n], (0..n).map(elem).collect()))
            }
            Exp::Replicate { dims, value } => {
                let mut shape = self.sizes(dims)?;
                let count: usize = shape.iter().product();
                let (rest, elems) = parts(self.atom(*value)?)?;
                shape.extend(rest);
                Ok(Array::value(shape, (0..count).flat_map(|_| elems.iter().copied()).collect()))
            }
            Exp::Rearrange { perm, array } => Ok(self.array(*array)?.rearranged(perm)),
            Exp::Reshape { dims, array } => {
                let (shape, array) = (self.sizes(dims)?, self.array(*array)?);
                if shape.iter().product::<usize>() != array.elems.len() {
                    return Err("a reshape changes the number of elements".to_owned());
                }
                Ok(Value::Array(Array { shape, elems: array.elems }))
            }
            Exp::Concat { arrays } => {
                let arrays: Vec<Array> = arrays.iter().map(|a| self.array(*a)).collect::<Fallible<_>>()?;
                let mut shape = arrays[0].shape.clone();
                shape[0] = arrays.iter().map(|a| a.shape[0]).sum();
                Ok(Array::value(shape, arrays.iter().flat_map(|a| a.elems.iter().copied()).collect()))
            }
            Exp::Contract { sizes, rank, left, right, plus, .. } => {
                let sizes = self.sizes(sizes)?;
                let (x, y) = (self.array(left.array)?, self.array(right.array)?);
                let (x_places, y_places) = (x.along(&left.axes, &sizes), y.along(&right.axes, &sizes));
                let products = x_places.iter().zip(&y_places);
                let products: Vec<Scalar> = products
                    .map(|(i, j)| scalar::binop(BinOp::Mul, x.elems[*i], y.elems[*j]))
                    .collect::<Fallible<_>>()?;
                let (shape, depth) = (sizes[..*rank].to_vec(), sizes[*rank..].iter().product::<usize>());
                let starts = plus.map(|array| self.array(array)).transpose()?;
                let sum = |i: usize| {
                    let all = products[i * depth..(i + 1) * depth].iter();
                    let zero = Scalar::of_prim(Prim::F64(0.0));
                    let start = starts.as_ref().map_or(zero, |array| array.elems[i]);
                    all.copied().try_fold(start, |a, b| scalar::binop(BinOp::Add, a, b))
                };
                let sums: Vec<Scalar> = (0..shape.iter().product()).map(sum).collect::<Fallible<_>>()?;
                Ok(Array::value(shape, sums))
            }
            Exp::Scratch { elem, dims } => {
                let shape = self.sizes(dims)?;
                let count = shape.iter().product();
                Ok(Array::value(shape, vec![unknown(*elem); count]))
            }
            Exp::ArrayLit { row, elems } => {
                let rows: Vec<Vec<Value>> = self.atoms(elems)?.into_iter().map(|v| vec![v]).collect();
                Ok(self.stack(rows, std::slice::from_ref(row))?.remove(0))
            }
            _ => Err("not an expression with one result".to_owned()),
        }
    }

    fn run_loop(
        &mut self,
        params: &'p [(Param, Atom)],
        form: &'p LoopForm,
        body: &'p Body,
    ) -> Fallible<Vec<Value>> {
        let names: Vec<Param> = params.iter().map(|(p, _)| p.clone()).collect();
        let mut values: Vec<Value> = params.iter().map(|(_, a)| self.atom(*a)).collect::<Fallible<_>>()?;
        match form {
            LoopForm::For { var, ty, bound } => {
                for i in 0..self.i64(*bound)? {
                    self.env.insert(*var, Value::Scalar(Scalar::Other(Prim::of_i64(*ty, i))));
                    self.bind(&names, values)?;
                    values = self.body(body)?;
                }
            }
            LoopForm::While { cond } => loop {
                self.bind(&names, values.clone())?;
                match self.body(cond)?[..] {
                    [Value::Scalar(go_on)] if go_on.bool()? => {}
                    _ => break,
                }
                values = self.body(body)?;
            },
        }
        Ok(values)
    }

    /// The shape of a part of an array, and where its elements are.
    fn places(&self, array: &Array, dims: &[DimSlice]) -> Fallible<(Vec<usize>, Vec<usize>)> {
        let mut shape = Vec::new();
        let mut places = vec![0usize];
        for (axis, &size) in array.shape.iter().enumerate() {
            let chosen: Vec<i64> = match dims.get(axis) {
                Some(DimSlice::Fix(i)) => vec![self.i64(*i)?],
                Some(DimSlice::Range { start, len, stride }) => {
                    let (start, len, stride) = (self.i64(*start)?, self.size(*len)?, self.i64(*stride)?);
                    shape.push(len);
                    (0..len as i64).map(|i| start + i * stride).collect()
                }
                None => {
                    shape.push(size);
                    (0..size as i64).collect()
                }
            };
            if let Some(bad) = chosen.iter().find(|i| **i < 0 || **i >= size as i64) {
                return Err(format!("index {bad} is out of bounds for size {size}"));
            }
            places = places.iter().flat_map(|p| chosen.iter().map(move |i| p * size + *i as usize)).collect();
        }
        Ok((shape, places))
    }

    /// Rows of several results as arrays of these.
    fn stack(&self, rows: Vec<Vec<Value>>, types: &[Type]) -> Fallible<Vec<Value>> {
        let count = rows.len();
        let mut columns = Vec::new();
        for (i, ty) in types.iter().enumerate() {
            let mut shape = vec![count];
            shape.extend(self.sizes(ty.dims())?);
            let mut elems = Vec::new();
            for row in &rows {
                let (row_shape, row_elems) = parts(row[i].clone())?;
                if row_shape != shape[1..] {
                    return Err(format!("a row of shape {row_shape:?} in an array of shape {shape:?}"));
                }
                elems.extend(row_elems.iter().copied());
            }
            columns.push(Array::value(shape, elems));
        }
        Ok(columns)
    }
}

/// What an uninitialised array holds.
fn unknown(elem: PrimType) -> Scalar {
    if elem.is_float() { Scalar::Real(Real::new(f64::NAN)) } else { Scalar::Other(Prim::lowest(elem)) }
}

fn parts(value: Value) -> Fallible<(Vec<usize>, Rc<Vec<Scalar>>)> {
    match value {
        Value::Scalar(x) => Ok((vec![], Rc::new(vec![x]))),
        Value::Array(array) => Ok((array.shape, array.elems)),
        Value::Acc(_) => Err("an accumulator is no value".to_owned()),
    }
}

impl Array {
    fn value(shape: Vec<usize>, elems: Vec<Scalar>) -> Value {
        Value::Array(Array { shape, elems: Rc::new(elems) })
    }

    fn gather(&self, shape: Vec<usize>, places: &[usize]) -> Value {
        match (&shape[..], places) {
            ([], [place]) => Value::Scalar(self.elems[*place]),
            _ => Array::value(shape, places.iter().map(|p| self.elems[*p]).collect()),
        }
    }

    fn row(&self, i: usize) -> Value {
        let shape = self.shape[1..].to_vec();
        let count: usize = shape.iter().product();
        self.gather(shape, &(i * count..(i + 1) * count).collect::<Vec<_>>())
    }

    /// The places of the elements for all indices into `sizes`, in order, where the dimensions are `axes` of them.
    fn along(&self, axes: &[usize], sizes: &[usize]) -> Vec<usize> {
        let mut places = vec![0];
        for (axis, size) in sizes.iter().enumerate() {
            let dim = axes.iter().position(|a| *a == axis);
            let stride: usize = dim.map_or(0, |d| self.shape[d + 1..].iter().product());
            places = places.iter().flat_map(|p: &usize| (0..*size).map(move |i| p + i * stride)).collect();
        }
        places
    }

    fn rearranged(&self, perm: &[usize]) -> Value {
        let shape: Vec<usize> = perm.iter().map(|p| self.shape[*p]).collect();
        let strides: Vec<usize> = perm.iter().map(|p| self.shape[p + 1..].iter().product()).collect();
        let mut places = vec![0];
        for (size, stride) in shape.iter().zip(&strides) {
            places = places.iter().flat_map(|p: &usize| (0..*size).map(move |i| p + i * stride)).collect();
        }
        self.gather(shape, &places)
    }
}
