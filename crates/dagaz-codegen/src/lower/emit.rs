//! How statements and variables of Imp are made.

use std::sync::Arc;

use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::masked_checks::Deferred;
use super::{Lower, Lowered, name};
use crate::imp::{Expr, LoopKind, Note, Operand, Repr, Runtime, Site, StackArray, Stm, Var};
use crate::{Remark, RemarkKind, SiteKind};

impl Lower<'_> {
    /// Declares a variable with a value.
    pub(super) fn set(&mut self, var: &Var, value: impl Operand) {
        self.out.push(Stm::declare(var, value));
    }

    /// Declares a variable without a value.
    pub(super) fn unset(&mut self, var: &Var) {
        self.out.push(Stm::Declare { var: var.clone(), value: None });
    }

    /// A variable that is not declared yet, with a name that no other has.
    pub(super) fn temp(&mut self, repr: impl Into<Repr>, hint: &str) -> Var {
        Var::new(repr, self.temp_name(hint))
    }

    /// A name that no variable has.
    pub(super) fn temp_name(&mut self, hint: &str) -> String {
        self.fresh.temps += 1;
        format!("{hint}_t{}", self.fresh.temps)
    }

    /// Declares a new variable with a value.
    pub(super) fn temp_with(&mut self, repr: impl Into<Repr>, hint: &str, value: impl Operand) -> Var {
        let var = self.temp(repr, hint);
        self.set(&var, value);
        var
    }

    /// Declares a new size, place or counter.
    pub(super) fn int(&mut self, hint: &str, value: impl Operand) -> Var {
        self.temp_with(PrimType::I64, hint, value)
    }

    /// A new array of fixed size without first values.
    pub(super) fn stack_array(&mut self, elem: PrimType, hint: &str, len: usize) -> Var {
        let var = self.temp(Repr::pointer(elem), hint);
        self.out.push(Stm::StackArray(StackArray::of(&var, len)));
        var
    }

    pub(super) fn put(&mut self, var: &Var, value: impl Operand) {
        self.out.push(Stm::assign(var, value));
    }

    /// Writes an element behind a pointer.
    pub(super) fn write(&mut self, pointer: impl Operand, place: impl Operand, value: impl Operand) {
        self.out.push(Stm::write(pointer, place, value));
    }

    pub(super) fn run<const N: usize>(&mut self, runtime: Runtime, operands: [Expr; N]) {
        self.out.push(Stm::run(runtime, operands));
    }

    /// Declares a variable for a new block of so many elements, or ends the function.
    pub(super) fn set_block(&mut self, block: &Var, elem: PrimType, count: impl Operand) {
        let value = self.new_block(elem, count);
        self.set(block, value);
        self.out.push(Stm::Require(block.clone()));
    }

    /// As [`Lower::set_block`], for a variable that is declared.
    pub(super) fn put_block(&mut self, block: &Var, elem: PrimType, count: impl Operand) {
        let value = self.new_block(elem, count);
        self.put(block, value);
        self.out.push(Stm::Require(block.clone()));
    }

    /// A new block of so many elements, or none.
    pub(super) fn new_block(&mut self, elem: PrimType, count: impl Operand) -> Expr {
        let site = self.site(SiteKind::Memory);
        Expr::call(Runtime::Alloc(elem), [Expr::Site(site), count.expr()])
    }

    /// The statements that `build` makes, for a nested body.
    pub(super) fn nested<T>(
        &mut self,
        build: impl FnOnce(&mut Self) -> Lowered<T>,
    ) -> Lowered<(Vec<Stm>, T)> {
        let outside = std::mem::take(&mut self.out);
        let declared = self.around.deferred.as_ref().map(Deferred::mark);
        let built = build(self);
        // What was declared in there is not known out here.
        if let (Some(deferred), Some(declared)) = (&mut self.around.deferred, declared) {
            deferred.forget(declared);
        }
        let inside = std::mem::replace(&mut self.out, outside);
        Ok((inside, built?))
    }

    pub(super) fn block(&mut self, build: impl FnOnce(&mut Self) -> Lowered<()>) -> Lowered<()> {
        let (inside, ()) = self.nested(build)?;
        self.out.push(Stm::Block(inside));
        Ok(())
    }

    pub(super) fn for_loop(
        &mut self,
        kind: LoopKind,
        bound: impl Operand,
        build: impl FnOnce(&mut Self, &Var) -> Lowered<()>,
    ) -> Lowered<()> {
        self.loop_from(kind, 0, bound, build)
    }

    pub(super) fn loop_from(
        &mut self,
        kind: LoopKind,
        from: impl Operand,
        to: impl Operand,
        build: impl FnOnce(&mut Self, &Var) -> Lowered<()>,
    ) -> Lowered<()> {
        let var = self.temp(PrimType::I64, "i");
        let note = self.note();
        let (body, ()) = self.nested(|l| build(l, &var))?;
        self.out.push(Stm::Loop { kind, var, from: from.expr(), to: to.expr(), note, body });
        Ok(())
    }

    /// A body that runs many times; what is bound outside keeps its references.
    pub(super) fn repeatedly<T>(&mut self, build: impl FnOnce(&mut Self) -> Lowered<T>) -> Lowered<T> {
        self.fresh.regions += 1;
        let outside = std::mem::replace(&mut self.around.region, self.fresh.regions);
        let built = build(self);
        self.around.region = outside;
        built
    }

    /// The place in the source.
    pub(super) fn note(&self) -> Note {
        let place = self.program.source(self.loc)?;
        Some(Arc::from(format!("{}:{}", place.file, place.line)))
    }

    pub(super) fn remark(&mut self, kind: RemarkKind, text: impl Into<String>) {
        self.module.remarks.push(Remark { loc: self.loc, kind, text: text.into() });
    }

    /// The number of what can go wrong here.
    pub(super) fn site(&mut self, kind: SiteKind) -> Site {
        self.module.sites.push(crate::Site { loc: self.loc, kind });
        Site::Number(self.module.sites.len() - 1)
    }

    /// The variable that holds a scalar, or the pointer to the elements of an array.
    pub(super) fn var(&self, var: VarId) -> Lowered<Var> {
        self.var_of(&Param::new(var, self.ty(var)?))
    }

    /// As [`Lower::var`], for one that need not be bound.
    pub(super) fn var_of(&self, param: &Param) -> Lowered<Var> {
        Ok(Var::new(repr(&param.ty)?, self.name(param.var)))
    }

    /// The variable that holds the block of an array.
    pub(super) fn mem(&self, var: VarId) -> Var {
        block_of(&self.name(var))
    }

    pub(super) fn name(&self, var: VarId) -> String {
        name(self.program, var)
    }

    /// A scalar, or the pointer to the elements of an array.
    pub(super) fn atom(&self, atom: Atom) -> Expr {
        match atom {
            Atom::Var(var) => {
                let ty = self.scope.vars.get(&var).map_or(Type::I64, |info| info.ty.clone());
                Var::new(repr(&ty).unwrap_or(Repr::I64), self.name(var)).expr()
            }
            Atom::Const(prim) => prim.expr(),
        }
    }

    /// The product of sizes.
    pub(super) fn product(&self, dims: &[Atom]) -> Expr {
        dims.iter().fold(1.expr(), |product, dim| product * self.atom(*dim))
    }

    /// The number of elements, or the greatest number where it is too large.
    pub(super) fn count(&self, dims: &[Atom]) -> Expr {
        let dims = dims.iter().map(|dim| self.atom(*dim));
        let times = |count, dim| Expr::call(Runtime::SaturatingProduct, [count, dim]);
        dims.reduce(times).unwrap_or_else(|| 1.expr())
    }
}

/// How a value is represented; the elements of an array by a pointer.
pub(super) fn repr(ty: &Type) -> Lowered<Repr> {
    match ty {
        Type::Prim(ty) => Ok((*ty).into()),
        Type::Array { elem, .. } => Ok(Repr::pointer(*elem)),
        Type::Acc { .. } => Err("internal error: an accumulator is not a value".into()),
    }
}

/// The variable that holds the block of the array with this name.
pub(super) fn block_of(name: &str) -> Var {
    Var::new(Repr::Block, format!("{name}_mem"))
}
