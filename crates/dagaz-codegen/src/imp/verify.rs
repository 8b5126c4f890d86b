//! Checks that a module is well formed. What is checked:
//!
//! - Variables are declared before they are used, in the same or an outer body, and have one representation.
//! - Operands have the types that their operation names; conditions are truth values; sizes, places and counters are `i64`.
//! - What is assigned fits where it goes.
//! - A `break` is in a loop.

use dagaz_core::prim::{PrimType, UnOp};

use super::{Expr, Function, Module, Parallel, Place, Repr, Signature, Stm, Var};

/// All that is wrong with a module, each with the function that it is in.
pub fn verify(module: &Module) -> Vec<String> {
    let mut verifier = Verifier::default();
    module.functions.iter().for_each(|function| verifier.function(function));
    verifier.errors
}

#[derive(Default)]
struct Verifier {
    function: String,
    /// The variables in scope, the latest last.
    scope: Vec<Var>,
    /// How many loops there are around.
    loops: usize,
    errors: Vec<String>,
}

impl Verifier {
    fn error(&mut self, what: String) {
        self.errors.push(format!("in {}: {what}", self.function));
    }

    fn function(&mut self, function: &Function) {
        self.function = function.name.to_string();
        self.scope = function.signature.vars().cloned().collect();
        if let Signature::Internal { results, .. } = &function.signature {
            self.scope.extend(results.iter().cloned());
        }
        self.body(&function.body);
    }

    fn body(&mut self, stms: &[Stm]) {
        let outside = self.scope.len();
        stms.iter().for_each(|stm| self.stm(stm));
        self.scope.truncate(outside);
    }

    fn used(&mut self, var: &Var) {
        match self.scope.iter().rev().find(|known| *known == var) {
            None => self.error(format!("{var} is not declared")),
            // A short number that a loop has made longer is still called what it was.
            Some(known) if known.repr == Repr::from(PrimType::I32) && is_short(var.repr) => {}
            Some(known) if !fits(known.repr, var.repr) => {
                let (is, was) = (var.repr, known.repr);
                self.error(format!("{var} is {was:?}, and not {is:?}"));
            }
            Some(_) => {}
        }
    }

    /// An expression, and that it is represented in some way.
    fn expect(&mut self, expr: &Expr, wanted: Repr) {
        self.expr(expr);
        if !fits(expr.repr(), wanted) && *expr != Expr::Null {
            self.error(format!("{expr:?} is {:?}, where {wanted:?} is wanted", expr.repr()));
        }
    }

    /// The operands of an operation on a type, whose lanes may be at work.
    fn operands(&mut self, operands: &[Expr], ty: PrimType) {
        for operand in operands {
            match operand.repr() {
                Repr::Lanes(own) if own == ty => self.expr(operand),
                _ => self.expect(operand, ty.into()),
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Const(_) | Expr::Null | Expr::Global(_) | Expr::Input(..) | Expr::Site(_) => {}
            Expr::Var(var) => self.used(var),
            // The bits are an integer's.
            Expr::UnOp(UnOp::FromBits, _, x) => self.expr(x),
            Expr::UnOp(_, ty, x) | Expr::Convert(ty, _, x) => self.operands(std::slice::from_ref(x), *ty),
            Expr::BinOp(op, ty, operands) => {
                let (first, second) = operands.split_at(1);
                self.operands(first, *ty);
                self.operands(second, op.second(*ty));
            }
            Expr::CmpOp(_, ty, operands) => self.operands(operands.as_slice(), *ty),
            Expr::TernOp(_, ty, operands) => self.operands(operands.as_slice(), *ty),
            Expr::Quotient(operands) | Expr::Remainder(operands) => {
                self.operands(operands.as_slice(), PrimType::I64);
            }
            Expr::Both(operands) | Expr::Either(operands) => {
                self.operands(operands.as_slice(), PrimType::Bool);
            }
            Expr::Select(operands) => {
                let [cond, then, otherwise] = operands.as_ref();
                self.expect(cond, Repr::BOOL);
                self.expr(then);
                self.expect(otherwise, then.repr());
            }
            Expr::Load(operands) | Expr::Offset(operands) => {
                let [pointer, place] = operands.as_ref();
                self.expr(pointer);
                self.expect(place, Repr::I64);
                let is_row = matches!(pointer, Expr::Load(_));
                if !is_row && !matches!(pointer.repr(), Repr::Pointer(..) | Repr::Flags) {
                    self.error(format!("{pointer:?} is no pointer"));
                }
            }
            Expr::Data(_, block) => self.expect(block, Repr::Block),
            Expr::Call(_, operands) => operands.iter().for_each(|operand| self.expr(operand)),
        }
    }

    fn stm(&mut self, stm: &Stm) {
        match stm {
            Stm::Declare { var, value } => {
                value.iter().for_each(|value| self.expect(value, var.repr));
                self.scope.push(var.clone());
            }
            Stm::StackArray(array) => {
                let elem = array.elem().map_or(Repr::I64, Repr::from);
                array.values.iter().for_each(|value| self.expect(value, elem));
                self.scope.push(array.var.clone());
            }
            Stm::CopyTable { elem, target, .. } => self.expect(target, Repr::pointer(*elem)),
            Stm::Assign(place, value) => self.assign(place, value),
            Stm::Do(_, operands) | Stm::Attempt { operands, .. } => {
                operands.iter().for_each(|operand| self.expr(operand));
            }
            Stm::Call { operands, results, .. } => {
                operands.iter().for_each(|operand| self.expr(operand));
                results.iter().for_each(|result| self.used(result));
            }
            Stm::Require(block) => self.used(block),
            Stm::Note(value) => self.expr(value),
            Stm::NoteArray { elem, pointer, dims } => {
                self.expect(pointer, Repr::pointer(*elem));
                dims.iter().for_each(|dim| self.expect(dim, Repr::I64));
            }
            Stm::Product(product) => {
                let numbers = product.sizes.iter().chain(product.strides.iter().flatten());
                numbers.for_each(|number| self.expect(number, Repr::I64));
                let matrix = Repr::pointer(product.elem);
                product.operands.iter().for_each(|operand| self.expect(operand, matrix));
                product.copy.iter().for_each(|(copy, _)| self.used(copy));
            }
            Stm::Break if self.loops == 0 => self.error("a break is in no loop".to_string()),
            Stm::Trace(_) | Stm::Fail(_) | Stm::Return | Stm::Break => {}
            Stm::Launch(launch) => {
                launch.outside.iter().for_each(|var| self.used(var));
                [&launch.count, &launch.grain].into_iter().for_each(|size| self.expect(size, Repr::I64));
            }
            Stm::Block(_) | Stm::Loop { .. } | Stm::Parallel(_) | Stm::Forever { .. } | Stm::If { .. } => {
                self.nested(stm);
            }
        }
    }

    fn assign(&mut self, place: &Place, value: &Expr) {
        match place {
            Place::Var(var) => {
                self.used(var);
                self.expect(value, var.repr);
            }
            Place::Result(var) => self.expect(value, var.repr),
            Place::Global(var) => self.expect(value, var.repr),
            Place::Element(pointer, place) => {
                self.expr(pointer);
                self.expect(place, Repr::I64);
                match pointer.repr() {
                    Repr::Pointer(elem, _) | Repr::Scalar(elem) => self.expect(value, elem.into()),
                    other => self.error(format!("{other:?} is no pointer")),
                }
            }
            Place::Output(..) => self.expr(value),
        }
    }

    fn nested(&mut self, stm: &Stm) {
        let outside = self.scope.len();
        let is_loop = match stm {
            Stm::Loop { var, from, to, kind, .. } => {
                [from, to].into_iter().for_each(|limit| self.expect(limit, Repr::I64));
                kind.sums().iter().for_each(|(_, sum)| self.used(sum));
                self.scope.push(var.clone());
                true
            }
            Stm::Parallel(parallel) => {
                let Parallel { count, grain, from, to, .. } = parallel.as_ref();
                [count, grain].into_iter().for_each(|size| self.expect(size, Repr::I64));
                self.scope.extend([from.clone(), to.clone()]);
                false
            }
            Stm::If { cond, .. } => {
                self.expect(cond, Repr::BOOL);
                false
            }
            other => matches!(other, Stm::Forever { .. }),
        };
        self.loops += usize::from(is_loop);
        stm.bodies().into_iter().for_each(|body| self.body(body));
        self.loops -= usize::from(is_loop);
        self.scope.truncate(outside);
    }
}

/// Whether a value can be where another is wanted; what a pointer may be used for is no matter.
fn fits(value: Repr, wanted: Repr) -> bool {
    match (value, wanted) {
        (Repr::Pointer(own, _), Repr::Pointer(elem, _)) => own == elem,
        _ => value == wanted,
    }
}

fn is_short(repr: Repr) -> bool {
    matches!(repr, Repr::Scalar(ty) if ty.bytes() < 4 && !ty.is_float())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::imp::{LoopKind, Operand};

    fn errors(body: Vec<Stm>) -> Vec<String> {
        let signature = Signature::Internal { params: vec![int("n")], results: Vec::new() };
        let function = Function { name: "f".into(), signature, body };
        verify(&Module { functions: vec![function], ..Module::default() })
    }

    fn int(name: &str) -> Var {
        Var::new(PrimType::I64, name)
    }

    fn loop_to(to: impl Operand, body: Vec<Stm>) -> Stm {
        let (var, from, to) = (int("i"), 0.expr(), to.expr());
        Stm::Loop { kind: LoopKind::Sequential, var, from, to, note: None, body }
    }

    #[test]
    fn variables_are_declared_in_an_outer_body() {
        let sum = || vec![Stm::declare(&int("s"), int("n").plus(1))];
        assert!(errors(vec![loop_to(int("n"), sum())]).is_empty());
        let after = vec![Stm::Block(sum()), Stm::declare(&int("t"), int("s"))];
        assert_eq!(errors(after), ["in f: s is not declared"]);
    }

    #[test]
    fn operands_and_conditions_have_their_types() {
        let xs = Var::new(Repr::pointer(PrimType::F64), "xs");
        let declared = Stm::Declare { var: xs.clone(), value: None };
        assert!(errors(vec![declared.clone(), Stm::write(&xs, int("n"), 1.0)]).is_empty());
        assert_eq!(errors(vec![declared.clone(), Stm::write(&xs, int("n"), 1)]).len(), 1);
        assert_eq!(errors(vec![declared.clone(), Stm::write(&xs, 1.0, 1.0)]).len(), 1);
        assert_eq!(errors(vec![declared, Stm::when(xs.at(0), Vec::new())]).len(), 1);
        assert_eq!(errors(vec![Stm::declare(&int("x"), int("n").at(0))]).len(), 1);
    }

    #[test]
    fn a_break_is_in_a_loop() {
        assert!(errors(vec![loop_to(3, vec![Stm::when(int("i").equals(1), vec![Stm::Break])])]).is_empty());
        assert_eq!(errors(vec![Stm::Break]), ["in f: a break is in no loop"]);
    }
}
