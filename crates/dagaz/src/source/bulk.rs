//! Arrays and parallel operations as source.

use dagaz_core::exp::{DimSlice, Exp, Lambda, Stm};
use dagaz_core::prim::{Prim, PrimType};
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit::bodies;

use super::{APPLICATION, ATOM, Piece, Printer, Shown, newline, tuple};

/// Whether an expression itself overwrites an array.
pub(super) fn consumes(exp: &Exp) -> bool {
    matches!(exp, Exp::Update { .. } | Exp::Hist { .. } | Exp::Scatter { .. } | Exp::Loop { .. })
}

/// Whether an expression overwrites an array, or anything sequential inside does.
pub(super) fn writes(exp: &Exp) -> bool {
    let inside = || bodies(exp).iter().any(|b| b.stms.iter().any(|s| writes(&s.exp)));
    match exp {
        Exp::Update { .. } => true,
        Exp::If { .. } | Exp::Loop { .. } => inside(),
        _ => false,
    }
}

/// `zip3 a b c`; more than five are nested pairs.
fn zipped(parts: &[String]) -> String {
    match parts {
        [] => "[]".to_owned(),
        [one] => one.clone(),
        [a, b] => format!("(zip {a} {b})"),
        _ if parts.len() <= 5 => format!("(zip{} {})", parts.len(), parts.join(" ")),
        [first, rest @ ..] => format!("(zip {first} {})", zipped(rest)),
    }
}

/// The pattern or value of the elements of [`zipped`].
fn nested(parts: &[String]) -> String {
    match parts {
        [first, rest @ ..] if parts.len() > 5 => format!("({first}, {})", nested(rest)),
        _ => tuple(parts),
    }
}

impl Printer<'_> {
    fn vars(&mut self, vars: &[VarId]) -> Vec<String> {
        vars.iter().map(|v| self.argument((*v).into())).collect()
    }

    /// Lines that bind the parts of an array of tuples to the names.
    pub(super) fn unzipped(&mut self, names: &[String], value: String) -> Vec<String> {
        match names {
            [] | [_] => vec![format!("let {} = {value}", tuple(names))],
            [_, _] => vec![format!("let {} = unzip ({value})", tuple(names))],
            _ if names.len() <= 5 => {
                vec![format!("let {} = unzip{} ({value})", tuple(names), names.len())]
            }
            [first, rest @ ..] => {
                let others = self.names.unused("others");
                let mut lines = vec![format!("let ({first}, {others}) = unzip ({value})")];
                lines.extend(self.unzipped(rest, others));
                lines
            }
        }
    }

    fn zero_of(&mut self, elem: PrimType) -> String {
        super::scalar::literal(Prim::zero(elem)).text
    }

    fn dim_slice(&mut self, dim: &DimSlice, size: Option<Atom>) -> String {
        match dim {
            DimSlice::Fix(i) => self.atom(*i).text,
            DimSlice::Range { start, len, stride } if *stride == Atom::i64(1) => {
                if *start == Atom::i64(0) && size == Some(*len) {
                    return ":".to_owned();
                }
                let (start, len) = (self.atom(*start), self.atom(*len));
                format!("{}:{} + {}", start.within(6), start.within(5), len.within(6))
            }
            DimSlice::Range { start, len, stride } => {
                let (start, len, stride) = (self.atom(*start), self.atom(*len), self.atom(*stride));
                let end = format!("{} + {} * {}", start.within(5), len.within(7), stride.within(7));
                format!("{}:{end}:{}", start.within(6), stride.within(6))
            }
        }
    }

    fn slice(&mut self, array: VarId, dims: &[DimSlice]) -> String {
        let sizes = self.types.get(&array).map_or(Vec::new(), |t| t.dims().to_vec());
        let shown: Vec<String> =
            dims.iter().enumerate().map(|(i, d)| self.dim_slice(d, sizes.get(i).copied())).collect();
        shown.join(", ")
    }

    pub(super) fn array(&mut self, stm: &Stm) -> Shown<Piece> {
        let ty = stm.pat.first().map_or(Type::I64, |p| p.ty.clone());
        let applied = |text: String| Piece::new(text, APPLICATION);
        Ok(match &stm.exp {
            Exp::Index { array, indices, .. } => {
                let indices = self.atoms(indices).join(", ");
                Piece::new(format!("{}[{indices}]", self.argument((*array).into())), ATOM)
            }
            Exp::Slice { array, dims } => {
                let slice = self.slice(*array, dims);
                Piece::new(format!("{}[{slice}] :> {}", self.argument((*array).into()), self.ty(&ty)), 0)
            }
            Exp::Update { array, dims, value, .. } => {
                let slice = self.slice(*array, dims);
                let owned = self.fresh.contains(array);
                let array = self.argument((*array).into());
                let array = if owned { array } else { format!("copy {array}") };
                let value = self.atom(*value).text;
                Piece::new(format!("{array} with [{slice}] = {value}"), 0)
            }
            Exp::Copy(array) => applied(format!("copy {}", self.argument((*array).into()))),
            Exp::Iota { ty: elem, n, start, step } => self.numbers(*elem, *n, *start, *step),
            Exp::Replicate { dims, value } => {
                let mut text = self.argument(*value);
                for dim in dims.iter().rev() {
                    let dim = self.argument(*dim);
                    text = format!("(replicate {dim} {text})");
                }
                applied(unwrapped(text))
            }
            Exp::Scratch { elem, dims } => {
                let mut text = self.zero_of(*elem);
                for dim in dims.iter().rev() {
                    let dim = self.argument(*dim);
                    text = format!("(replicate {dim} {text})");
                }
                applied(unwrapped(text))
            }
            Exp::Rearrange { perm, array } => {
                let array = self.argument((*array).into());
                applied(unwrapped(rearranged(perm, array)))
            }
            Exp::Reshape { array, .. } => self.reshaped(*array, &ty)?,
            Exp::Concat { arrays } => {
                let arrays = self.vars(arrays);
                let joined =
                    arrays.iter().skip(1).fold(arrays[0].clone(), |all, a| format!("(concat {all} {a})"));
                Piece::new(format!("{} :> {}", unwrapped(joined), self.ty(&ty)), 0)
            }
            Exp::ArrayLit { elems, .. } => {
                if elems.is_empty() {
                    return Ok(Piece::new(format!("[] :> {}", self.ty(&ty)), 0));
                }
                Piece::new(format!("[{}]", self.atoms(elems).join(", ")), ATOM)
            }
            _ => return Err("not an operation on arrays".to_owned()),
        })
    }

    /// `start, start + step, …`
    fn numbers(&mut self, elem: PrimType, n: Atom, start: Atom, step: Atom) -> Piece {
        let iota = format!("iota {}", self.argument(n));
        if elem == PrimType::I64 && start == Atom::i64(0) && step == Atom::i64(1) {
            return Piece::new(iota, APPLICATION);
        }
        let i = self.names.unused("i");
        let number = if elem == PrimType::I64 { i.clone() } else { format!("{elem}.i64 {i}") };
        let (start, step) = (self.atom(start).within(5), self.atom(step).within(7));
        Piece::new(format!("map (\\{i} -> {start} + {number} * {step}) ({iota})"), APPLICATION)
    }

    fn reshaped(&mut self, array: VarId, ty: &Type) -> Shown<Piece> {
        let from = self.types.get(&array).map_or(1, Type::rank);
        let mut text = self.argument(array.into());
        let names = |rank: usize| match rank {
            2 => Ok(""),
            3 => Ok("_3d"),
            4 => Ok("_4d"),
            _ => Err("a change of shape between arrays of more than four dimensions".to_owned()),
        };
        if from == 1 && ty.rank() == 1 {
            return Ok(Piece::new(format!("{text} :> {}", self.ty(ty)), 0));
        }
        if from > 1 {
            text = format!("flatten{} {text}", names(from)?);
        }
        let elem = ty.elem().map_or("f64", |e| e.name());
        let dims: Vec<String> = ty.dims().iter().map(|d| self.size(*d)).collect();
        let flat = format!("{text} :> [{}]{elem}", dims.join(" * "));
        if ty.rank() <= 1 {
            return Ok(Piece::new(flat, 0));
        }
        Ok(Piece::new(format!("unflatten{} ({flat})", names(ty.rank())?), APPLICATION))
    }

    pub(super) fn parallel(&mut self, exp: &Exp, indent: usize) -> Shown<Piece> {
        let text = match exp {
            Exp::Map { width, arrays, lambda } if arrays.is_empty() => {
                let function = self.lambda_nested(lambda, &["_".to_owned()], indent)?;
                let line = if function.contains('\n') { newline(indent + 1) } else { " ".to_owned() };
                format!("map ({function}){line}(iota {})", self.argument(*width))
            }
            Exp::Map { arrays, lambda, .. } => {
                let arrays = self.vars(arrays);
                self.mapped(&arrays, lambda, indent)?
            }
            Exp::Reduce { arrays, op, neutral, commutative, .. } => {
                let name = if *commutative { "reduce_comm" } else { "reduce" };
                self.fold(name, arrays, op, neutral, indent)?
            }
            Exp::Scan { arrays, op, neutral, .. } => self.fold("scan", arrays, op, neutral, indent)?,
            Exp::Hist { arrays, dests, shape, op, neutral, .. } => {
                let (indices, values) = self.placed(arrays, shape.len());
                let dests = self.vars(dests);
                let op = self.operator(op, indent)?;
                let neutral = nested(&self.atoms(neutral));
                let neutral = if neutral.starts_with('-') { format!("({neutral})") } else { neutral };
                let suffix = suffix(shape.len())?;
                format!(
                    "reduce_by_index{suffix} (copy {}) ({op}) {neutral} {indices} {values}",
                    zipped(&dests)
                )
            }
            Exp::Scatter { arrays, dests, shape, .. } => {
                let (indices, values) = self.placed(arrays, shape.len());
                let dests = self.vars(dests);
                format!("scatter{} (copy {}) {indices} {values}", suffix(shape.len())?, zipped(&dests))
            }
            _ => return Err("not a parallel operation".to_owned()),
        };
        Ok(Piece::new(text, APPLICATION))
    }

    fn mapped(&mut self, arrays: &[String], lambda: &Lambda, indent: usize) -> Shown<String> {
        let params: Vec<String> = lambda.params.iter().map(|p| self.name(p.var)).collect();
        let few = arrays.len() <= 5;
        let patterns = if few { params } else { vec![nested(&params)] };
        let function = self.lambda_nested(lambda, &patterns, indent)?;
        let name = if few && arrays.len() > 1 { format!("map{}", arrays.len()) } else { "map".to_owned() };
        let args = if few { arrays.join(" ") } else { zipped(arrays) };
        let line = if function.contains('\n') { newline(indent + 1) } else { " ".to_owned() };
        Ok(format!("{name} ({function}){line}{args}"))
    }

    /// A lambda whose result is a nest of pairs if there are many.
    fn lambda_nested(&mut self, lambda: &Lambda, patterns: &[String], indent: usize) -> Shown<String> {
        if lambda.body.result.len() <= 5 {
            return self.lambda(lambda, patterns, indent);
        }
        let text = self.lambda(lambda, patterns, indent)?;
        let plain = tuple(&self.atoms(&lambda.body.result));
        let wanted = nested(&self.atoms(&lambda.body.result));
        let start = text.rfind(&plain).ok_or("a result that is not there")?;
        Ok(format!("{}{wanted}{}", &text[..start], &text[start + plain.len()..]))
    }

    /// Indices and values as two arguments.
    fn placed(&mut self, arrays: &[VarId], rank: usize) -> (String, String) {
        let arrays = self.vars(arrays);
        let (indices, values) = arrays.split_at(rank);
        (zipped(indices), zipped(values))
    }

    fn operator(&mut self, op: &Lambda, indent: usize) -> Shown<String> {
        let names: Vec<String> = op.params.iter().map(|p| self.name(p.var)).collect();
        let (left, right) = names.split_at(op.params.len() / 2);
        self.lambda_nested(op, &[nested(left), nested(right)], indent)
    }

    fn fold(
        &mut self,
        name: &str,
        arrays: &[VarId],
        op: &Lambda,
        neutral: &[Atom],
        indent: usize,
    ) -> Shown<String> {
        let op = self.operator(op, indent)?;
        let neutral = nested(&self.atoms(neutral));
        let neutral = if neutral.starts_with('-') { format!("({neutral})") } else { neutral };
        let inputs = zipped(&self.vars(arrays));
        Ok(format!("{name} ({op}) {neutral} {inputs}"))
    }
}

fn suffix(rank: usize) -> Shown<&'static str> {
    match rank {
        1 => Ok(""),
        2 => Ok("_2d"),
        3 => Ok("_3d"),
        _ => Err("a histogram of more than three dimensions".to_owned()),
    }
}

/// Without the parentheses around all of it.
fn unwrapped(text: String) -> String {
    match text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        Some(inner) => inner.to_owned(),
        None => text,
    }
}

/// A permutation by swaps of neighbouring dimensions, each a transposition below some maps.
fn rearranged(perm: &[usize], array: String) -> String {
    let mut now: Vec<usize> = (0..perm.len()).collect();
    let mut text = array;
    for (target, wanted) in perm.iter().enumerate() {
        let at = now.iter().position(|d| d == wanted).unwrap_or(target);
        for depth in (target..at).rev() {
            now.swap(depth, depth + 1);
            let function = (0..depth).fold("transpose".to_owned(), |f, _| {
                if f.contains(' ') { format!("map ({f})") } else { format!("map {f}") }
            });
            text = format!("({function} {text})");
        }
    }
    text
}
