//! Scalar operations as source: operators where there are some, functions of the module of the type otherwise.

use dagaz_core::exp::Exp;
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType, TernOp, UnOp};
use dagaz_core::types::Atom;

use super::{APPLICATION, ATOM, Piece, Printer, Shown};

pub(super) fn literal(prim: Prim) -> Piece {
    let text = prim.to_string();
    if text.starts_with('-') { Piece::new(text, 1) } else { Piece::new(text, ATOM) }
}

/// The operator and its strength, for types that have it.
fn operator(op: BinOp, ty: PrimType) -> Option<(&'static str, u8)> {
    Some(match op {
        BinOp::Or if ty == PrimType::Bool => ("||", 1),
        BinOp::And if ty == PrimType::Bool => ("&&", 2),
        BinOp::Xor if ty == PrimType::Bool => ("!=", 3),
        BinOp::Add => ("+", 5),
        BinOp::Sub => ("-", 5),
        BinOp::Mul => ("*", 6),
        BinOp::Div => ("/", 6),
        BinOp::Mod => ("%", 6),
        BinOp::Quot => ("//", 6),
        BinOp::Rem => ("%%", 6),
        BinOp::Pow => ("**", 7),
        BinOp::And => ("&", 4),
        BinOp::Or => ("|", 4),
        BinOp::Xor => ("^", 4),
        BinOp::Shl => ("<<", 4),
        BinOp::Ashr => (">>", 4),
        BinOp::Lshr => (">>>", 4),
        BinOp::Min | BinOp::Max | BinOp::Atan2 | BinOp::Atan2Pi | BinOp::Hypot => return None,
        BinOp::NextAfter | BinOp::CopySign | BinOp::Ldexp | BinOp::MulHi | BinOp::Polygamma => return None,
    })
}

impl Printer<'_> {
    fn applied(&mut self, function: &str, args: &[Atom]) -> Piece {
        let args: Vec<String> = args.iter().map(|a| self.argument(*a)).collect();
        Piece::new(format!("{function} {}", args.join(" ")), APPLICATION)
    }

    fn infix(&mut self, sign: &str, strength: u8, x: Atom, y: Atom) -> Piece {
        let (x, y) = (self.atom(x), self.atom(y));
        // Everything associates to the left; what is not associative has the right side in parentheses.
        Piece::new(format!("{} {sign} {}", x.within(strength), y.within(strength + 1)), strength)
    }

    pub(super) fn scalar(&mut self, exp: &Exp) -> Shown<Piece> {
        Ok(match exp {
            Exp::UnOp(UnOp::Neg, _, x) => Piece::new(format!("-{}", self.argument(*x)), 7),
            Exp::UnOp(UnOp::Not, _, x) => Piece::new(format!("!{}", self.argument(*x)), 7),
            Exp::UnOp(UnOp::Signum, ty, x) => self.applied(&format!("{ty}.sgn"), &[*x]),
            Exp::UnOp(UnOp::FromBits, ty, x) => {
                let float = UnOp::FromBits.result(*ty);
                self.applied(&format!("{float}.from_bits"), &[*x])
            }
            Exp::UnOp(op, ty, x) => self.applied(&format!("{ty}.{}", op.name()), &[*x]),
            Exp::BinOp(BinOp::Polygamma, ..) => {
                return Err(
                    "a derivative of the gamma function, which no function of the prelude gives".to_owned()
                );
            }
            Exp::BinOp(BinOp::MulHi, ty, x, y) => self.applied(&format!("{ty}.mul_hi"), &[*x, *y]),
            Exp::BinOp(op, ty, x, y) => match operator(*op, *ty) {
                Some((sign, strength)) => self.infix(sign, strength, *x, *y),
                None => self.applied(&format!("{ty}.{}", op.name()), &[*x, *y]),
            },
            Exp::TernOp(op, ty, operands) => match op {
                TernOp::Fma | TernOp::Mad | TernOp::MadHi | TernOp::Lerp => {
                    self.applied(&format!("{ty}.{}", op.name()), operands)
                }
            },
            Exp::CmpOp(op, ty, x, y) => {
                let sign = match op {
                    CmpOp::Eq => "==",
                    CmpOp::Lt => "<",
                    CmpOp::Le => "<=",
                };
                if *ty == PrimType::Bool && *op != CmpOp::Eq {
                    let x = self.argument(*x);
                    let not = Piece::new(format!("!{x}"), 7);
                    let y = self.atom(*y);
                    let sign = if *op == CmpOp::Lt { "&&" } else { "||" };
                    return Ok(Piece::new(format!("{} {sign} {}", not.within(7), y.within(7)), 1));
                }
                self.infix(sign, 3, *x, *y)
            }
            Exp::Convert(from, to, x) if from == to => self.atom(*x),
            Exp::Convert(from, PrimType::Bool, x) => {
                let x = self.atom(*x).within(4);
                Piece::new(format!("{x} != {}", literal(Prim::zero(*from)).text), 3)
            }
            Exp::Convert(from, to, x) => self.applied(&format!("{to}.{from}"), &[*x]),
            _ => return Err("not a scalar operation".to_owned()),
        })
    }
}
