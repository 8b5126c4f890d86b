//! Rows of many elements that a loop for vector units makes.
//!
//! A vector holds one element of each of several rows, and these are not neighbours in memory: the C compiler would write them
//! one by one. So, where vectors are long, the loop runs in blocks, and writes elements at the same place of their rows side by side, to some room that
//! stays in the nearest cache. From there, tiles of them are turned into rows in registers:
//!
//!     for i { …; out[i * 9] = a; …; out[i * 9 + 8] = b }
//!     ==>
//!     for each block { for i { …; room[i] = a; …; room[8 * 64 + i] = b } turn(out + …, room) }

use std::collections::HashMap;

use dagaz_core::machine;
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Param, Type};

use super::few_elements::elements;
use super::{Form, Lower, Lowered};
use crate::imp::{self, Expr, LoopKind, Operand, Repr, Runtime, Stm, Var};

/// Where the elements of a block of rows are, place by place.
#[derive(Clone)]
pub(super) struct Room {
    pub(super) elements: Var,
    /// The first row of the block.
    first: Var,
    /// How many elements a row has.
    width: usize,
}

impl Room {
    /// Where element `place` of row `i` is.
    pub(super) fn offset(&self, i: &Var, place: usize) -> Expr {
        Expr::call(Runtime::Turned, [i - &self.first, place.expr(), self.width.expr()])
    }
}

impl Lower<'_> {
    /// A loop of scalar operations, which `build` makes for some of the iterations: in blocks, where results are to be turned.
    pub(super) fn in_turned_blocks(
        &mut self,
        pat: &[Param],
        from: &Expr,
        to: &Expr,
        build: &dyn Fn(&mut Self, &Expr, &Expr) -> Lowered<()>,
    ) -> Lowered<()> {
        let mut wide = Vec::new();
        for param in pat {
            if self.around.only_if.is_none() && matches!(self.info(param.var)?.form, Form::Block { .. }) {
                wide.extend(width_to_turn(&param.ty).map(|width| (param, width)));
            }
        }
        if wide.is_empty() {
            return build(self, from, to);
        }
        self.module.turns_rows = true;
        let blocks = self.int("blocks", (to - from).parts_of(machine::TURNED_ROWS));
        self.for_loop(LoopKind::Sequential, blocks, |l, block| {
            let first = l.int("first", from + block * machine::TURNED_ROWS);
            let last = l.int("last", (&first + machine::TURNED_ROWS).minimum(to));
            let mut rooms = HashMap::new();
            for (param, width) in &wide {
                let target = l.var(param.var)? + &first * *width;
                let elements = l.room_for(super::elem(&param.ty)?, width * machine::TURNED_ROWS, target);
                rooms.insert(param.var, Room { elements, first: first.clone(), width: *width });
            }
            let outside = std::mem::replace(&mut l.around.turned, rooms.clone());
            let built = build(l, &first.clone().expr(), &last.clone().expr());
            l.around.turned = outside;
            built?;
            for (param, width) in &wide {
                let (target, room) = (l.var(param.var)? + &first * *width, &rooms[&param.var].elements);
                l.run(Runtime::Turn, [target, room.expr(), width.expr(), &last - &first]);
            }
            Ok(())
        })
    }

    /// A pointer to room for so many elements, or to where they belong, if nothing is gained by turning them.
    fn room_for(&mut self, elem: PrimType, count: usize, target: Expr) -> Var {
        let elements = self.temp(Repr::pointer(elem), "room");
        let room = Var::new(elements.repr, format!("{elements}_room"));
        let array = imp::StackArray { is_aligned: true, ..imp::StackArray::of(&room, count) };
        self.out.push(Stm::StackArray(array));
        self.set(&elements, Expr::call(Runtime::RoomFor(elem), [target, room.expr()]));
        elements
    }
}

/// How many elements the rows of an array have, if they are to be turned.
fn width_to_turn(ty: &Type) -> Option<usize> {
    let width = elements(ty.dims().get(1..).filter(|row| !row.is_empty())?)?;
    (ty.elem()?.bytes() == 8 && width >= machine::LANES_OF_F64).then_some(width)
}
