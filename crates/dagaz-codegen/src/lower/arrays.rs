//! Operations that make arrays and run nothing inside.

use dagaz_core::exp::{Body, Exp, Stm as CoreStm};
use dagaz_core::machine;
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type, VarId};
use dagaz_core::visit;

use super::control::{writes_all, writes_row_after_row, writes_row_by_row};
use super::emit::block_of;
use super::symbols::Symbols;
use super::{Form, Lower, Lowered, elem, only};
use crate::imp::{Expr, LoopKind, Operand, Repr, Runtime, StackArray, Stm, Var};
use crate::{RemarkKind, SiteKind};

impl Lower<'_> {
    /// Declares an array variable with memory for its elements: new memory, or the place where the result belongs.
    pub(super) fn allocate(&mut self, param: &Param) -> Lowered<()> {
        match self.is_placed(param)? {
            true => Ok(()),
            false => self.allocate_new(param),
        }
    }

    pub(super) fn allocate_new(&mut self, param: &Param) -> Lowered<()> {
        let (array, elem) = (self.var_of(param)?, elem(&param.ty)?);
        if let Some(count) = self.small_size(param) {
            self.set_room(&array, count);
            self.bind(param, false);
            self.memory.placed.insert(param.var);
            self.memory.on_stack.insert(param.var);
            return Ok(());
        }
        if !self.is_outermost() && self.is_kept_by_nobody(param) {
            return self.allocate_nearby(param);
        }
        let block = block_of(&array.name);
        let fresh = self.fresh_block(param)?;
        self.set(&block, fresh);
        self.out.push(Stm::Require(block.clone()));
        self.set(&array, Expr::Data(elem, Box::new(block.expr())));
        Ok(())
    }

    /// A new block for an array, or none.
    pub(super) fn fresh_block(&mut self, param: &Param) -> Lowered<Expr> {
        let (elem, count) = (elem(&param.ty)?, self.count(param.ty.dims()));
        let sizes: String = param.ty.dims().iter().map(|d| format!("[{}]", self.shown(*d))).collect();
        self.remark(RemarkKind::Memory, format!("for {sizes}{elem}"));
        Ok(self.new_block(elem, count))
    }

    /// Declares an array variable with memory for so many elements on the stack.
    fn set_room(&mut self, array: &Var, count: usize) {
        let room = Var::new(array.repr, format!("{array}_room"));
        self.out.push(Stm::StackArray(StackArray::of(&room, count)));
        self.set_array(array, room, Expr::Null);
    }

    /// An array of an iteration, on the stack if it turns out to be small.
    fn allocate_nearby(&mut self, param: &Param) -> Lowered<()> {
        let (array, elem, count) = (self.var_of(param)?, elem(&param.ty)?, self.count(param.ty.dims()));
        self.set_room(&array, machine::MOST_ELEMENTS_ON_STACK);
        let block = block_of(&array.name);
        let (then, ()) = self.nested(|l| {
            l.put_block(&block, elem, &count);
            l.put(&array, Expr::Data(elem, Box::new(block.expr())));
            Ok(())
        })?;
        self.out.push(Stm::when(count.is_above(machine::MOST_ELEMENTS_ON_STACK), then));
        self.memory.on_stack.insert(param.var);
        Ok(())
    }

    /// Whether elements of the array are read, and that is all.
    fn is_kept_by_nobody(&self, param: &Param) -> bool {
        !self.memory.blocks.contains(&param.var) && (param.var.0 as usize) < self.program.vars.hints.len()
    }

    /// A size as the source has it.
    fn shown(&self, size: Atom) -> String {
        match size {
            Atom::Var(var) => self.program.vars.hint(var).to_owned(),
            Atom::Const(prim) => prim.as_i64().map_or_else(String::new, |n| n.to_string()),
        }
    }

    /// The number of elements of an array that can be on the stack: there are few, and nobody keeps it.
    fn small_size(&self, param: &Param) -> Option<usize> {
        if !self.is_kept_by_nobody(param) {
            return None;
        }
        let sizes = param.ty.dims().iter().map(|dim| dim.as_const().and_then(|size| size.as_i64()));
        let count = sizes.into_iter().try_fold(1i64, |count, size| count.checked_mul(size?))?;
        usize::try_from(count).ok().filter(|count| (1..=machine::MOST_ELEMENTS_ON_STACK).contains(count))
    }

    /// Declares a variable that takes over an array and is its only owner.
    pub(super) fn take_unique(&mut self, param: &Param, array: VarId) -> Lowered<()> {
        let name = self.program.vars.hint(array).to_owned();
        if self.memory.placed.contains(&array) {
            self.remark(RemarkKind::InPlace, format!("'{name}' changes where the result belongs"));
            return self.stay_in_place(param, array);
        }
        match self.is_movable(array) {
            true => {
                self.remark(RemarkKind::InPlace, format!("'{name}' changes, if the caller does not keep it"))
            }
            false => self.remark(
                RemarkKind::Copy,
                format!("of '{name}', which is used again or belongs to somebody else"),
            ),
        }
        self.declare(param);
        let name = self.name(param.var);
        self.assign(&name, array.into())?;
        self.make_unique(&name, &param.ty)
    }

    pub(super) fn make_unique(&mut self, name: &str, ty: &Type) -> Lowered<()> {
        let elem = elem(ty)?;
        let (array, block) = (Var::new(Repr::pointer(elem), name), block_of(name));
        let (count, site) = (self.count(ty.dims()), self.site(SiteKind::Memory));
        let operands = [Expr::Site(site), block.expr(), array.expr(), count];
        let then = vec![
            Stm::assign(&block, Expr::call(Runtime::Unique(elem), operands)),
            Stm::Require(block.clone()),
            Stm::assign(&array, Expr::Data(elem, Box::new(block.expr()))),
        ];
        let is_unique = Expr::call(Runtime::IsUnique, [block.expr()]);
        self.out.push(Stm::when_rarely(is_unique.not(), then));
        Ok(())
    }

    pub(super) fn copy(&mut self, pat: &[Param], array: VarId) -> Lowered<()> {
        let param = only(pat)?;
        let is_block =
            matches!(self.info(array)?.form, Form::Block { .. }) && !self.memory.on_stack.contains(&array);
        if self.memory.dests.contains_key(&param.var) || !is_block || self.memory.placed.contains(&array) {
            self.allocate(param)?;
            return self.store(self.var_of(param)?, 0, &param.ty, array.into());
        }
        self.take_unique(param, array)
    }

    pub(super) fn iota(
        &mut self,
        pat: &[Param],
        ty: PrimType,
        n: Atom,
        start: Atom,
        step: Atom,
    ) -> Lowered<()> {
        let param = only(pat)?;
        self.check_size(n, "the size of an iota");
        if !self.needs_block(param) && !self.memory.dests.contains_key(&param.var) {
            let widened = |number: Expr| number.cast(PrimType::I64);
            let form = Form::Range { start: widened(self.atom(start)), step: widened(self.atom(step)) };
            self.bind_as(param, form);
            return Ok(());
        }
        self.allocate(param)?;
        let target = self.var_of(param)?;
        let [start, step] = [start, step].map(|number| self.atom(number).cast(PrimType::I64));
        self.pieces(self.atom(n), 1.0, false, |l, from, to| {
            l.loop_from(LoopKind::SIMD, from, to, |l, i| {
                l.write(&target, i, (&start + &step * i).cast(ty));
                Ok(())
            })
        })
    }

    /// Notes whether the first values of an array are all overwritten. Those of an array without contents need not be, where
    /// a loop fills it from its beginning: what it does not get to is not read.
    pub(super) fn look_for_writes(&mut self, body: &Body, stm: &CoreStm) {
        let is_overwritten = |symbols: &Symbols, user: &CoreStm, array: VarId| match &stm.exp {
            Exp::Replicate { .. } => writes_all(&user.exp, array, symbols),
            Exp::Scratch { .. } => {
                writes_row_by_row(&user.exp, array).is_some()
                    || writes_row_after_row(body, user, array, symbols)
            }
            _ => false,
        };
        for param in &stm.pat {
            let mut users = body.stms.iter().filter(|stm| visit::free_vars(&stm.exp).contains(&param.var));
            if let (Some(user), None) = (users.next(), users.next())
                && is_overwritten(&self.scope.symbols, user, param.var)
                && !body.result.contains(&Atom::Var(param.var))
            {
                self.memory.unread.insert(param.var);
            }
        }
    }

    pub(super) fn replicate(&mut self, pat: &[Param], dims: &[Atom], value: Atom) -> Lowered<()> {
        let param = only(pat)?;
        for dim in dims {
            self.check_size(*dim, "the size of a replicate");
        }
        let row = self.atom_type(value)?;
        let has_place = self.needs_block(param) || self.memory.dests.contains_key(&param.var);
        if !row.is_array() && !has_place {
            let value = self.atom(value);
            self.bind_as(param, Form::Fill { value });
            return Ok(());
        }
        self.allocate(param)?;
        if self.memory.unread.remove(&param.var) {
            return Ok(());
        }
        let (target, copies) = (self.var_of(param)?, self.product(dims));
        if row.is_array() {
            // With empty rows there may be very many copies of nothing.
            let size = self.product(row.dims());
            let (body, ()) = self.nested(|l| {
                l.for_loop(LoopKind::Sequential, copies, |l, i| l.store(&target, i * &size, &row, value))
            })?;
            self.out.push(Stm::when(size.is_above(0), body));
            return Ok(());
        }
        let value = self.atom(value);
        self.pieces(copies, 1.0, false, |l, from, to| {
            l.loop_from(LoopKind::SIMD, from, to, |l, i| {
                l.write(&target, i, &value);
                Ok(())
            })
        })
    }

    pub(super) fn rearrange(&mut self, pat: &[Param], perm: &[usize], array: VarId) -> Lowered<()> {
        let param = only(pat)?;
        let (_, dims) = self.array(array)?;
        if !self.needs_block(param) && !self.memory.dests.contains_key(&param.var) {
            let form = self.info(array)?.form.clone();
            if matches!(form, Form::Fill { .. } | Form::Range { .. }) {
                self.bind_as(param, form);
                return Ok(());
            }
            let old = self.strides(array)?;
            let strides = perm.iter().filter_map(|axis| old.get(*axis).cloned()).collect();
            let (source, target) = (self.var(array)?, self.var_of(param)?);
            self.bind_as(param, Form::View { strides });
            self.set(&target, source);
            self.remark(RemarkKind::View, "other strides, and no copy");
            return Ok(());
        }
        self.remark(
            RemarkKind::Copy,
            "axes change places in memory, because the result is passed on as a whole",
        );
        self.allocate(param)?;
        let target = self.var_of(param)?;
        let out_dims = param.ty.dims().to_vec();
        let near = perm.iter().position(|axis| axis + 1 == dims.len()).unwrap_or(0);
        self.for_all_indices(&out_dims, near, &|l, counters| {
            let mut indices = vec![0.expr(); dims.len()];
            for (axis, from) in perm.iter().enumerate() {
                indices[*from] = counters[axis].clone();
            }
            let from = l.element(array, &indices)?;
            l.write(&target, l.offset(counters, &out_dims), from);
            Ok(())
        })
    }

    pub(super) fn reshape(&mut self, pat: &[Param], dims: &[Atom], array: VarId) -> Lowered<()> {
        for dim in dims {
            self.check_size(*dim, "a dimension");
        }
        if dims.is_empty() {
            return self.scalar(pat, self.var(array)?.at(0));
        }
        self.alias(pat, &[array.into()])
    }

    pub(super) fn concat(&mut self, pat: &[Param], arrays: &[VarId]) -> Lowered<()> {
        let param = only(pat)?;
        let joined = self.allocate_for_parts(param)?;
        self.remark(
            RemarkKind::Copy,
            match joined.len() {
                0 => "of all parts of a concatenation",
                made if made < arrays.len() => "of the parts of a concatenation that are not made there",
                _ => "of no part of a concatenation: all are made there",
            },
        );
        let target = self.var_of(param)?;
        let mut offset = 0.expr();
        for (position, array) in arrays.iter().enumerate() {
            let ty = self.ty(*array)?;
            if !joined.contains(&position) {
                self.store(&target, &offset, &ty, (*array).into())?;
            }
            offset = offset + self.product(ty.dims());
        }
        Ok(())
    }

    /// Unspecified contents are zeros here, unless it is plain that nobody reads them.
    pub(super) fn scratch(&mut self, pat: &[Param], elem: PrimType, dims: &[Atom]) -> Lowered<()> {
        let param = only(pat)?;
        for dim in dims {
            self.check_size(*dim, "a dimension");
        }
        self.allocate(param)?;
        if self.memory.unread.remove(&param.var) {
            return Ok(());
        }
        self.run(Runtime::Zero(elem), [self.var_of(param)?.expr(), self.product(dims)]);
        Ok(())
    }

    pub(super) fn array_lit(&mut self, pat: &[Param], row: &Type, elems: &[Atom]) -> Lowered<()> {
        let param = only(pat)?;
        let joined = self.allocate_for_parts(param)?;
        let target = self.var_of(param)?;
        let size = self.product(row.dims());
        let is_copied = self.copy_table(&target, row, elems);
        for (i, value) in elems.iter().enumerate().filter(|(i, _)| !joined.contains(i)) {
            if is_copied && in_table(*value).is_some() {
                continue;
            }
            self.store(&target, i.times(&size), row, *value)?;
        }
        Ok(())
    }

    /// Copies the constants among many elements from a table, with zeros for the others: compilers take long for
    /// thousands of assignments. Whether that was done.
    fn copy_table(&mut self, target: &Var, row: &Type, elems: &[Atom]) -> bool {
        let Type::Prim(elem) = row else { return false };
        let constants = elems.iter().filter(|value| in_table(**value).is_some()).count();
        if constants < machine::LEAST_TABLE {
            return false;
        }
        let values = elems.iter().map(|value| in_table(*value).unwrap_or(Prim::zero(*elem))).collect();
        self.out.push(Stm::CopyTable { elem: *elem, values, target: target.expr() });
        true
    }
}

/// An element that can be in a table: a constant that C has a literal for.
fn in_table(value: Atom) -> Option<Prim> {
    match value {
        Atom::Const(Prim::F32(x)) if !x.is_finite() => None,
        Atom::Const(Prim::F64(x)) if !x.is_finite() => None,
        Atom::Const(prim) => Some(prim),
        Atom::Var(_) => None,
    }
}
