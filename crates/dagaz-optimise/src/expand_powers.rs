//! Powers with small constant exponents become products, by repeated squaring.
//!
//!     let (y: f64) = f64.pow x 6.0     ==>     let (square: f64) = f64.mul x x
//!                                              let (power: f64) = f64.mul square x
//!                                              let (y: f64) = f64.mul power power
//!
//! A negative exponent takes one division more. Powers of integers are the same, as those wrap. Of floats, `x ** k` is then within
//! `|k|` roundings of the true value, as every factor but the first brings a rounding with it, and the division another. All
//! factors are at most as large as the largest of `x` and the result, so that nothing overflows on the way, with one exception: where
//! `x ** -k` is too small for a normal number, `x ** k` may be infinite, and the result zero.
//!
//! Expects that derivatives are gone: their rule for powers is simpler than that of the product. Equal factors are left to
//! [`crate::cse`]. Half-precision numbers have no roundings to spare.

use dagaz_core::exp::{Exp, Loc, Program, Stm, Vars};
use dagaz_core::machine;
use dagaz_core::pass::Pass;
use dagaz_core::prim::{BinOp, Prim, PrimType};
use dagaz_core::types::{Atom, Param, Type};
use dagaz_core::visit::replace_stms;

pub const EXPAND_POWERS: Pass =
    Pass::always("expand-powers", "Powers with small constant exponents become products.", expand_powers);

pub fn expand_powers(program: &mut Program) {
    let mut vars = std::mem::take(&mut program.vars);
    replace_stms(&mut program.funs, &mut |stm, stms| expand_power(&mut vars, stm, stms));
    program.vars = vars;
}

fn expand_power(vars: &mut Vars, mut stm: Stm, stms: &mut Vec<Stm>) {
    if let Exp::BinOp(BinOp::Pow, ty, x, Atom::Const(exponent)) = stm.exp
        && let Some(exponent) = small_exponent(ty, exponent)
    {
        let mut product = Product { vars, stms, ty, x, loc: stm.loc };
        stm.exp = product.power(exponent);
    }
    stms.push(stm);
}

fn small_exponent(ty: PrimType, exponent: Prim) -> Option<i64> {
    let whole = match ty {
        PrimType::F32 | PrimType::F64 => exponent
            .as_f64()
            .filter(|k| k.trunc() == *k && k.abs() <= machine::MOST_FACTORS_OF_POWERS as f64)?
            as i64,
        _ => exponent.as_i64().filter(|k| *k >= 0)?,
    };
    (whole.abs() <= machine::MOST_FACTORS_OF_POWERS).then_some(whole)
}

struct Product<'a> {
    vars: &'a mut Vars,
    stms: &'a mut Vec<Stm>,
    ty: PrimType,
    x: Atom,
    loc: Loc,
}

impl Product<'_> {
    fn power(&mut self, exponent: i64) -> Exp {
        let one = Prim::one(self.ty).into();
        match exponent {
            0 => Exp::Atom(one),
            1 => Exp::Atom(self.x),
            ..0 => {
                let divisor = self.factor(-exponent);
                Exp::BinOp(BinOp::Div, self.ty, one, divisor)
            }
            _ if exponent % 2 == 0 => {
                let root = self.factor(exponent / 2);
                Exp::BinOp(BinOp::Mul, self.ty, root, root)
            }
            _ => {
                let rest = self.factor(exponent - 1);
                Exp::BinOp(BinOp::Mul, self.ty, rest, self.x)
            }
        }
    }

    /// A power as a variable.
    fn factor(&mut self, exponent: i64) -> Atom {
        if exponent == 1 {
            return self.x;
        }
        let exp = self.power(exponent);
        let param = Param { var: self.vars.fresh("power"), ty: Type::Prim(self.ty) };
        let var = param.var;
        self.stms.push(Stm { pat: vec![param], exp, loc: self.loc });
        var.into()
    }
}
