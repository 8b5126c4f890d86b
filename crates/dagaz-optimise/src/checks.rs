//! Arrays that are read for nothing but the check of the index need not exist.
//!
//! ```text
//! let (xs: [n]f64) = map n … f                 let (a: bool) = i64.le 0 i
//! let (x: f64) = xs[i]              ==>        let (b: bool) = i64.lt i n
//! in (i)                                       let (c: bool) = bool.and a b
//!                                              let () = assert c ("Index [", i, "] out of bounds …")
//!                                              in (i)
//! ```
//!
//! Derivatives leave such reads, when they need the index but not the element. Leaves the array to [`crate::dce`].

use std::collections::{HashMap, HashSet};

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Check, Exp, Loc, MsgPart, Program, Stm};
use dagaz_core::pass::Pass;
use dagaz_core::prim::PrimType;
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit::{bodies, direct_operands, replace_stms};

pub const CHECK_WITHOUT_READING: Pass = Pass::reporting(
    "check-without-reading",
    "An array that is read for nothing but the check of an index is not made; the check stays.",
    check_without_reading,
);

/// Whether there was such an array.
pub fn check_without_reading(program: &mut Program) -> bool {
    let mut uses = Uses::default();
    uses.stms(&program.consts);
    program.funs.iter().for_each(|fun| uses.body(&fun.body));
    let mut only_checked = Uses { elements: std::mem::take(&mut uses.used), ..Uses::default() };
    only_checked.stms(&program.consts);
    program.funs.iter().for_each(|fun| only_checked.body(&fun.body));
    let Uses { used, mut made, .. } = only_checked;
    made.retain(|var, _| !used.contains(var) && only_checked.checked.contains(var));
    if made.is_empty() {
        return false;
    }
    let mut b = Builder::new(std::mem::take(&mut program.vars));
    replace_stms(&mut program.funs, &mut |stm, stms| replace(&mut b, stm, &made, stms));
    program.vars = b.finish().0;
    true
}

#[derive(Default)]
struct Uses {
    /// Variables that something depends on; empty while these are collected.
    elements: HashSet<VarId>,
    used: HashSet<VarId>,
    /// Arrays of which an element is read that nothing depends on.
    checked: HashSet<VarId>,
    /// Arrays that statements bind.
    made: HashMap<VarId, Type>,
}

impl Uses {
    fn body(&mut self, body: &Body) {
        self.stms(&body.stms);
        self.used.extend(body.result.iter().filter_map(|a| a.as_var()));
    }

    fn stms(&mut self, stms: &[Stm]) {
        for stm in stms {
            self.made.extend(stm.pat.iter().map(|p| (p.var, p.ty.clone())));
            match &stm.exp {
                Exp::Index { array, indices, check: Check::Checked }
                    if !self.elements.is_empty() && !self.elements.contains(&stm.pat[0].var) =>
                {
                    self.checked.insert(*array);
                    self.used.extend(indices.iter().filter_map(|a| a.as_var()));
                }
                exp => direct_operands(exp, &mut |a| self.used.extend(a.as_var())),
            }
            bodies(&stm.exp).into_iter().for_each(|body| self.body(body));
        }
    }
}

fn replace(b: &mut Builder, stm: Stm, arrays: &HashMap<VarId, Type>, stms: &mut Vec<Stm>) {
    match &stm.exp {
        Exp::Index { array, indices, check: Check::Checked } if arrays.contains_key(array) => {
            b.push_scope();
            assert_in_bounds(b, arrays[array].dims(), indices, stm.loc);
            stms.extend(b.pop_scope());
        }
        _ => stms.push(stm),
    }
}

/// Stops the program as a read of an array with these dimensions would.
pub(crate) fn assert_in_bounds(b: &mut Builder, dims: &[Atom], indices: &[Atom], loc: Loc) {
    let mut cond = Atom::bool(true);
    let mut message = vec![MsgPart::Text("Index [".to_string())];
    for (i, (index, size)) in indices.iter().zip(dims).enumerate() {
        let from = b.le(PrimType::I64, Atom::i64(0), *index, loc);
        let to = b.lt(PrimType::I64, *index, *size, loc);
        let both = b.and(from, to, loc);
        cond = b.and(cond, both, loc);
        if i > 0 {
            message.push(MsgPart::Text(", ".to_string()));
        }
        message.push(MsgPart::Value(*index));
    }
    message.push(MsgPart::Text("] out of bounds for array of shape ".to_string()));
    for size in dims {
        message.push(MsgPart::Text("[".to_string()));
        message.push(MsgPart::Value(*size));
        message.push(MsgPart::Text("]".to_string()));
    }
    message.push(MsgPart::Text(".".to_string()));
    b.push(Stm { pat: Vec::new(), exp: Exp::Assert { cond, message }, loc });
}
