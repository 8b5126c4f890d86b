//! Statements that count their time, if that is wanted: those that take some, outside of parallel loops and of loops for
//! vector units.
//!
//!     let ys = map f xs
//!     ==>
//!     inside; start = dz_profile_start(ctx, &inside); ys = …; dz_profile_stop(ctx, 7, start, inside);

use dagaz_core::exp::{Exp, Loc, Stm};

use super::{Lower, Lowered};
use crate::imp::{Expr, Operand, Runtime};

impl Lower<'_> {
    pub(super) fn is_timed(&self, exp: &Exp) -> bool {
        let takes_time = matches!(
            exp,
            Exp::Map { .. }
                | Exp::Reduce { .. }
                | Exp::Scan { .. }
                | Exp::Hist { .. }
                | Exp::Scatter { .. }
                | Exp::WithAcc { .. }
                | Exp::Loop { .. }
                | Exp::Contract { .. }
                | Exp::Copy(_)
                | Exp::Iota { .. }
                | Exp::Replicate { .. }
                | Exp::Rearrange { .. }
                | Exp::Reshape { .. }
                | Exp::Concat { .. }
                | Exp::Scratch { .. }
        );
        self.fresh.is_profiled
            && takes_time
            && self.around.parallel == 0
            && self.around.deferred.is_none()
            && self.loc != Loc::NONE
    }

    pub(super) fn timed(&mut self, stm: &Stm) -> Lowered<()> {
        let known = self.module.profiled.iter().position(|loc| *loc == self.loc);
        let number = known.unwrap_or(self.module.profiled.len());
        if known.is_none() {
            self.module.profiled.push(self.loc);
        }
        let inside = self.int("inside", 0);
        let start = self.int("start", Expr::call(Runtime::ProfileStart, [inside.clone().expr()]));
        self.exp(stm)?;
        self.run(Runtime::ProfileStop, [number.expr(), start.expr(), inside.expr()]);
        Ok(())
    }
}
