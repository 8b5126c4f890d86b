//! The table of scalar derivatives as a page, made by running the rules of [`crate::scalar`] themselves: formulas are what
//! the rules emit, and values at edges are what these give.

use std::collections::HashMap;
use std::fmt::Write as _;

use dagaz_core::exp::{Body, Exp, Loc, Stm, Vars};
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType, TernOp, UnOp};
use dagaz_core::prim_eval;
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit::each_stm;

use crate::context::{Ad, Res};

/// The page `docs/derivatives.md`.
pub fn derivatives_page() -> String {
    let mut page = String::from(INTRODUCTION);
    section(&mut page, "Functions of one number", "f x", UnOp::ALL.iter().map(|op| unary(*op)));
    section(&mut page, "Functions of two numbers", "f x y", BinOp::ALL.iter().map(|op| binary(*op)));
    section(&mut page, "Functions of three numbers", "f x y z", TernOp::ALL.iter().map(|op| ternary(*op)));
    page.push_str(CONVENTIONS);
    page
}

const INTRODUCTION: &str = "\
# Derivatives of scalar operations

This page is made from the rules that the compiler uses (`crates/dagaz-ad/src/scalar.rs`), by running them; a test compares the
two. `r` is the result of the operation itself. Both modes use the same rules, and all floating-point types do.
A value at an edge is what the rule gives there, as `point → partial derivatives`.
";

const CONVENTIONS: &str = "
## Everything else

- Comparisons (`==`, `<`, `<=`), `isnan` and `isinf` give truth values; the derivative is zero, and a branch on them is the
  derivative of the side that is taken.
- Conversions between floating-point types pass tangents on. A conversion from a float to an integer is piecewise constant: its
  derivative is zero. The derivative of a function whose results are integers alone is asked for in integers, and there, as in
  Futhark, such a conversion converts tangents as it converts the value.
- An integer has a tangent only where it is, or depends on, an integer that the user differentiates with respect to. Tangents of
  integers are integers, and a conversion to a float converts them.
- `x ** k` with a constant `k` has the derivative `k * x ** (k - 1)`, also at zero and where the table's quotient would have lost its
  precision; for integers `k` up to 16 both are multiplications.
- `to_bits` and `from_bits` are the same number seen in two ways, and so are their tangents.
- Of two equal operands of `min` or `max`, the first counts; in a reduction, the leftmost of the smallest or largest elements.
- NaN in, NaN out: where an operand is NaN the derivative is NaN, unless it does not depend on that operand. `min` and `max`
  ignore a NaN beside a number, and so do their derivatives.
- Integers: `+`, `-`, `*`, division and remainder follow the same rules with integer arithmetic; an integer exponent and
  everything that works on bits has the derivative zero. `iota n` moves with `n`.
- Truth values form a ring with \"or\" as sum and \"and\" as product.
";

/// One operation with the partial derivatives by all of its operands, and points to look at.
struct Row {
    name: &'static str,
    exp: Exp,
    operands: Vec<VarId>,
    vars: Vars,
    edges: &'static [&'static [f64]],
}

fn row(
    name: &'static str,
    arity: usize,
    edges: &'static [&'static [f64]],
    exp: impl FnOnce(&[Atom]) -> Exp,
) -> Row {
    let mut vars = Vars::default();
    let operands: Vec<VarId> = ["x", "y", "z"][..arity].iter().map(|hint| vars.fresh(hint)).collect();
    let atoms: Vec<Atom> = operands.iter().map(|v| Atom::from(*v)).collect();
    Row { name, exp: exp(&atoms), operands, vars, edges }
}

/// None for operations that floating-point numbers do not have.
fn unary(op: UnOp) -> Option<Row> {
    let edges: &'static [&'static [f64]] = match op {
        UnOp::Abs | UnOp::Signum | UnOp::Cbrt => &[&[0.0]],
        UnOp::Sqrt | UnOp::Rsqrt => &[&[0.0], &[-1.0]],
        UnOp::Log | UnOp::Log2 | UnOp::Log10 => &[&[0.0], &[f64::INFINITY]],
        UnOp::Log1p => &[&[-1.0]],
        UnOp::Asin | UnOp::Acos | UnOp::Atanh => &[&[1.0], &[-1.0], &[2.0]],
        UnOp::AsinPi | UnOp::AcosPi => &[&[1.0], &[-1.0]],
        UnOp::Acosh => &[&[1.0], &[0.0]],
        UnOp::Gamma | UnOp::Lgamma => &[&[0.0], &[-1.0], &[f64::INFINITY]],
        UnOp::Exp | UnOp::Tanh | UnOp::Erf | UnOp::Erfc | UnOp::Atan | UnOp::Asinh => {
            &[&[f64::NEG_INFINITY], &[f64::INFINITY]]
        }
        UnOp::Ceil | UnOp::Floor | UnOp::Trunc | UnOp::Round => &[&[0.5]],
        UnOp::Neg | UnOp::Sin | UnOp::Cos | UnOp::Tan | UnOp::SinPi | UnOp::CosPi | UnOp::TanPi => &[],
        UnOp::AtanPi | UnOp::Sinh | UnOp::Cosh | UnOp::IsNan | UnOp::IsInf => &[],
        // Of integers, truth values, or bits.
        UnOp::Not | UnOp::Popc | UnOp::Clz | UnOp::Ctz | UnOp::ToBits | UnOp::FromBits => return None,
    };
    Some(row(op.name(), 1, edges, |x| Exp::UnOp(op, PrimType::F64, x[0])))
}

fn binary(op: BinOp) -> Option<Row> {
    let edges: &'static [&'static [f64]] = match op {
        BinOp::Div => &[&[1.0, 0.0], &[0.0, 0.0]],
        BinOp::Mod => &[&[7.0, 2.0], &[-7.0, 2.0]],
        BinOp::Pow => &[&[0.0, 0.0], &[0.0, 0.5], &[0.0, 1.0], &[0.0, 2.0], &[-2.0, 3.0], &[3.0, 0.0]],
        BinOp::Min | BinOp::Max => &[&[1.0, 1.0], &[0.0, 1.0], &[f64::NAN, 1.0], &[1.0, f64::NAN]],
        BinOp::Atan2 | BinOp::Atan2Pi => &[&[0.0, 0.0], &[0.0, -1.0]],
        BinOp::Hypot => &[&[0.0, 0.0], &[3.0, 4.0]],
        BinOp::CopySign => &[&[-2.0, 1.0], &[0.0, -1.0]],
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::NextAfter | BinOp::Ldexp | BinOp::Polygamma => &[],
        // Of integers.
        BinOp::Quot | BinOp::Rem | BinOp::And | BinOp::Or | BinOp::Xor => return None,
        BinOp::Shl | BinOp::Ashr | BinOp::Lshr | BinOp::MulHi => return None,
    };
    Some(row(op.name(), 2, edges, |x| Exp::BinOp(op, PrimType::F64, x[0], x[1])))
}

fn ternary(op: TernOp) -> Option<Row> {
    match op {
        TernOp::Fma | TernOp::Mad | TernOp::Lerp => {
            Some(row(op.name(), 3, &[], |x| Exp::TernOp(op, PrimType::F64, [x[0], x[1], x[2]])))
        }
        TernOp::MadHi => None,
    }
}

fn section(page: &mut String, title: &str, form: &str, rows: impl Iterator<Item = Option<Row>>) {
    // Writing to a string cannot fail.
    let _ =
        write!(page, "\n## {title}\n\n| `f` | partial derivatives of `{form}` | at edges |\n|---|---|---|\n");
    for row in rows.flatten() {
        let (stms, partials) = row.run().unwrap_or_default();
        let shown = Shown::new(&row, &stms);
        let formulas: Vec<String> = partials.iter().map(|a| format!("`{}`", shown.atom(*a, 0))).collect();
        let edges: Vec<String> = row.edges.iter().map(|point| row.at(point, &stms, &partials)).collect();
        let _ = writeln!(page, "| `{}` | {} | {} |", row.name, formulas.join(", "), edges.join("; "));
    }
}

impl Row {
    /// The statements of the rule, and the partial derivatives.
    fn run(&self) -> Res<(Vec<Stm>, Vec<Atom>)> {
        let mut ad = Ad::new(self.vars.clone(), &[]);
        for (i, var) in self.operands.iter().enumerate() {
            let ty = if i == 1 { self.second_type() } else { PrimType::F64 };
            ad.b.types.insert(*var, Type::Prim(ty));
            ad.forward.active.insert(*var);
        }
        let result = ad.b.fresh("r");
        ad.b.types.insert(result, Type::Prim(PrimType::F64));
        let (stms, partials) = ad.scope(|ad| ad.partials(&self.exp, result.into(), Loc::NONE))?;
        Ok((stms, partials.into_iter().map(|(_, partial)| partial).collect()))
    }

    fn second_type(&self) -> PrimType {
        match &self.exp {
            Exp::BinOp(op, ty, ..) => op.second(*ty),
            _ => PrimType::F64,
        }
    }

    /// The variable that stands for the result: the first after the operands.
    fn result(&self) -> VarId {
        self.vars.clone().fresh("r")
    }

    /// `point → values`
    fn at(&self, point: &[f64], stms: &[Stm], partials: &[Atom]) -> String {
        let mut known: HashMap<VarId, Prim> =
            self.operands.iter().copied().zip(point.iter().map(|x| Prim::F64(*x))).collect();
        let result = eval(&self.exp, &known).unwrap_or(Prim::F64(f64::NAN));
        known.insert(self.result(), result);
        for stm in stms {
            if let (Some(value), Some(param)) = (eval(&stm.exp, &known), stm.pat.first()) {
                known.insert(param.var, value);
            }
        }
        let values = partials.iter().map(|a| get(*a, &known).map_or("?".to_owned(), number));
        let point: Vec<String> = point.iter().map(|x| number(Prim::F64(*x))).collect();
        format!("{} → {}", point.join(", "), values.collect::<Vec<_>>().join(", "))
    }
}

fn get(atom: Atom, known: &HashMap<VarId, Prim>) -> Option<Prim> {
    match atom {
        Atom::Const(prim) => Some(prim),
        Atom::Var(var) => known.get(&var).copied(),
    }
}

/// The value of one of the expressions that rules are made of.
fn eval(exp: &Exp, known: &HashMap<VarId, Prim>) -> Option<Prim> {
    let get = |atom: &Atom| get(*atom, known);
    match exp {
        Exp::Atom(a) => get(a),
        Exp::UnOp(op, _, x) => prim_eval::eval_unop(*op, get(x)?).ok(),
        Exp::BinOp(op, _, x, y) => prim_eval::eval_binop(*op, get(x)?, get(y)?).ok(),
        Exp::TernOp(op, _, [x, y, z]) => prim_eval::eval_ternop(*op, get(x)?, get(y)?, get(z)?).ok(),
        Exp::CmpOp(op, _, x, y) => prim_eval::eval_cmpop(*op, get(x)?, get(y)?).ok().map(Prim::Bool),
        Exp::If { cond, then, otherwise } => match get(cond)? {
            Prim::Bool(true) => eval_body(then, known),
            _ => eval_body(otherwise, known),
        },
        _ => None,
    }
}

fn eval_body(body: &Body, known: &HashMap<VarId, Prim>) -> Option<Prim> {
    let mut known = known.clone();
    for stm in &body.stms {
        known.insert(stm.pat.first()?.var, eval(&stm.exp, &known)?);
    }
    get(*body.result.first()?, &known)
}

fn number(value: Prim) -> String {
    let shown = match value.as_f64() {
        Some(x) if x.is_infinite() => if x > 0.0 { "∞" } else { "−∞" }.to_owned(),
        Some(x) if x.is_nan() => "NaN".to_owned(),
        Some(x) => format!("{x}"),
        None => value.to_string(),
    };
    shown.replace('-', "−")
}

/// Statements as the expressions that they are, put into each other.
struct Shown<'a> {
    row: &'a Row,
    bound: HashMap<VarId, &'a Exp>,
}

impl<'a> Shown<'a> {
    fn new(row: &'a Row, stms: &'a [Stm]) -> Shown<'a> {
        let mut bound = HashMap::new();
        each_stm(stms, &mut |stm| bound.extend(stm.pat.first().map(|p| (p.var, &stm.exp))));
        Shown { row, bound }
    }

    /// An operand within an operator of a precedence.
    fn atom(&self, atom: Atom, outer: u8) -> String {
        match atom {
            Atom::Const(Prim::F64(x)) if x < 0.0 && outer > 0 => format!("({x})"),
            Atom::Const(Prim::F64(x)) if x != 0.0 && x.abs() < 1e-3 => format!("{x:e}"),
            Atom::Const(Prim::F64(x)) => format!("{x}"),
            Atom::Const(prim) => prim.to_string().trim_end_matches("i32").to_owned(),
            Atom::Var(var) => match self.bound.get(&var) {
                Some(exp) => self.exp(exp, outer),
                None if var == self.row.result() => "r".to_owned(),
                None => self.row.vars.hint(var).to_owned(),
            },
        }
    }

    fn exp(&self, exp: &Exp, outer: u8) -> String {
        let (text, own) = match exp {
            Exp::Atom(a) => return self.atom(*a, outer),
            Exp::UnOp(UnOp::Neg, _, x) => (format!("-{}", self.atom(*x, 3)), 2),
            Exp::UnOp(op, _, x) => (format!("{} {}", op.name(), self.atom(*x, 4)), 3),
            Exp::BinOp(op, _, x, y) => match op {
                BinOp::Add => (format!("{} + {}", self.atom(*x, 1), self.atom(*y, 1)), 1),
                BinOp::Sub => (format!("{} - {}", self.atom(*x, 1), self.atom(*y, 2)), 1),
                BinOp::Mul => (format!("{} * {}", self.atom(*x, 2), self.atom(*y, 3)), 2),
                BinOp::And => (format!("{} && {}", self.atom(*x, 0), self.atom(*y, 0)), 0),
                BinOp::Div => (format!("{} / {}", self.atom(*x, 2), self.atom(*y, 3)), 2),
                _ => (format!("{} {} {}", op.name(), self.atom(*x, 4), self.atom(*y, 4)), 3),
            },
            Exp::TernOp(op, _, operands) => {
                let operands: Vec<String> = operands.iter().map(|a| self.atom(*a, 4)).collect();
                (format!("{} {}", op.name(), operands.join(" ")), 3)
            }
            Exp::CmpOp(op, _, x, y) => {
                let sign = match op {
                    CmpOp::Eq => "==",
                    CmpOp::Lt => "<",
                    CmpOp::Le => "<=",
                };
                (format!("{} {sign} {}", self.atom(*x, 1), self.atom(*y, 1)), 0)
            }
            Exp::If { cond, then, otherwise } => {
                let [then, otherwise] =
                    [then, otherwise].map(|b| b.result.first().map_or(String::new(), |a| self.atom(*a, 0)));
                (format!("if {} then {then} else {otherwise}", self.atom(*cond, 0)), 0)
            }
            _ => ("…".to_owned(), 4),
        };
        if own < outer { format!("({text})") } else { text }
    }
}
