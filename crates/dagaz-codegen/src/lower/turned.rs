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

use dagaz_core::types::{Param, Type};

use super::few_elements::elements;
use super::{Form, Lower, Lowered};
use crate::imp::LoopKind;

/// Rows in a block, `DZ_ROWS` in C.
const BLOCK: usize = 64;
/// A tile has so many elements of so many rows.
const TILE: usize = 8;

/// Where the elements of a block of rows are, place by place.
#[derive(Clone)]
pub(super) struct Room {
    pub(super) name: String,
    /// The first row of the block.
    first: String,
    /// How many elements a row has.
    width: usize,
}

impl Room {
    /// Where element `place` of row `i` is.
    pub(super) fn offset(&self, i: &str, place: usize) -> String {
        format!("dz_turned({i} - {}, {place}, {})", self.first, self.width)
    }
}

impl Lower<'_> {
    /// A loop of scalar operations, which `build` makes for some of the iterations: in blocks, where results are to be turned.
    pub(super) fn in_turned_blocks(
        &mut self,
        pat: &[Param],
        from: &str,
        to: &str,
        build: &dyn Fn(&mut Self, &str, &str) -> Lowered<()>,
    ) -> Lowered<()> {
        let mut wide = Vec::new();
        for param in pat {
            if self.only_if.is_none() && matches!(self.info(param.var)?.form, Form::Block { .. }) {
                wide.extend(width_to_turn(&param.ty).map(|width| (param, width)));
            }
        }
        if wide.is_empty() {
            return build(self, from, to);
        }
        self.module.turns_rows = true;
        let blocks = self.temp("blocks");
        self.set("i64", blocks.as_str(), format!("(({to}) - ({from}) + {}) / {BLOCK}", BLOCK - 1));
        self.loop_from(LoopKind::Sequential, "0", &blocks, |l, block| {
            let (first, last) = (l.temp("first"), l.temp("last"));
            l.set("i64", first.as_str(), format!("({from}) + {block} * {BLOCK}"));
            l.set("i64", last.as_str(), format!("i64_min({first} + {BLOCK}, {to})"));
            let mut rooms = HashMap::new();
            for (param, width) in &wide {
                let (name, elem, target) = (l.temp("room"), super::elem(&param.ty)?, l.name(param.var));
                l.line(format!("{elem} {name}_room[{}] __attribute__((aligned(64)));", width * BLOCK));
                let place = format!("dz_room_for({target} + {first} * {width}L, {name}_room)");
                l.set(format!("{elem} *"), name.as_str(), place);
                rooms.insert(param.var, Room { name, first: first.clone(), width: *width });
            }
            let outside = std::mem::replace(&mut l.turned, rooms.clone());
            let built = build(l, &first, &last);
            l.turned = outside;
            built?;
            for (param, width) in &wide {
                let (target, room) = (l.name(param.var), &rooms[&param.var].name);
                let place = format!("{target} + {first} * {width}L");
                l.line(format!("dz_turn({place}, {room}, {width}, {last} - {first});"));
            }
            Ok(())
        })
    }
}

/// How many elements the rows of an array have, if they are to be turned.
fn width_to_turn(ty: &Type) -> Option<usize> {
    let width = elements(ty.dims().get(1..).filter(|row| !row.is_empty())?)?;
    (ty.elem()?.bytes() == 8 && width >= TILE).then_some(width)
}
