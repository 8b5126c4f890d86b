//! Removes what nobody needs: statements, the constants included, and single results of parallel operations, branches
//! and loops.
//!
//! ```text
//! let (a: [n]i64, b: [n]i64) =               let (b: [n]i64) =
//!   map n (xs) \(x: i64) : (i64, i64) ->       map n (xs) \(x: i64) : (i64) ->
//!     let (c: i64) = i64.add x 1i64     ==>      let (d: i64) = i64.mul x 2i64
//!     let (d: i64) = i64.mul x 2i64              in (d)
//!     in (c, d)                              in (b)
//! in (b)
//! ```
//!
//! Statements that may stop the program stay. A parameter of a loop goes if only itself, and others that go, need it, and so
//! does a component of a reduction or scan. [`dagaz_core::dead`] finds out.

use dagaz_core::dead::Needs;
use dagaz_core::effects::Effects;
use dagaz_core::exp::{Program, Stm};
use dagaz_core::pass::Pass;

pub const ELIMINATE_DEAD_CODE: Pass = Pass::always(
    "eliminate-dead-code",
    "What nobody needs is removed: statements, single results, parameters of loops.",
    eliminate_dead_code,
)
.before_derivatives();

pub fn eliminate_dead_code(program: &mut Program) {
    let effects = Effects::of(program);
    let stays = |stm: &Stm| !effects.is_harmless(stm);
    let mut needs = Needs::new(&stays);
    needs.stms(&program.consts);
    for fun in &program.funs {
        needs.stms(&fun.body.stms);
        needs.need(fun.body.result.iter().copied());
        needs.need(fun.params.iter().chain(&fun.ret).flat_map(|p| p.ty.all_dims()));
    }
    needs.find();
    program.funs.iter_mut().for_each(|fun| needs.retain(&mut fun.body.stms));
    needs.retain(&mut program.consts);
}
