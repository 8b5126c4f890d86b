//! Expressions of the text form.

use crate::exp::{AccInput, AxesOf, Check, DimSlice, Exp, Lambda, LoopForm, LoopHints, MsgPart, Triangle};
use crate::prim::{BinOp, CmpOp, PrimType, TernOp, UnOp};
use crate::types::Atom;

use super::lex::Token;
use super::{Parsed, Parser};

impl Parser {
    pub(super) fn exp(&mut self) -> Parsed<Exp> {
        let Token::Word(word) = self.peek().clone() else { return Ok(Exp::Atom(self.atom()?)) };
        if let Some((ty, op)) = word.split_once('.')
            && let Some(ty) = PrimType::from_name(ty)
            && let Some(exp) = self.scalar(ty, op)?
        {
            return Ok(exp);
        }
        // A name in scope is a variable even if it is also the name of an operation.
        if self.known_name(&word).is_some() {
            return self.after_var();
        }
        self.pos += 1;
        match word.as_str() {
            "slice" => Ok(Exp::Slice { array: self.var()?, dims: self.dims()? }),
            "copy" => Ok(Exp::Copy(self.var()?)),
            "iota" => {
                let ty = self.prim_type()?;
                Ok(Exp::Iota { ty, n: self.atom()?, start: self.atom()?, step: self.atom()? })
            }
            "replicate" => Ok(Exp::Replicate { dims: self.atoms("[", "]")?, value: self.atom()? }),
            "rearrange" => {
                let perm = self.list("(", ")", Parser::number)?;
                Ok(Exp::Rearrange { perm, array: self.var()? })
            }
            "reshape" => Ok(Exp::Reshape { dims: self.atoms("[", "]")?, array: self.var()? }),
            "concat" => Ok(Exp::Concat { arrays: self.vars()? }),
            "contract" => self.contract(),
            "scratch" => Ok(Exp::Scratch { elem: self.prim_type()?, dims: self.atoms("[", "]")? }),
            "array" => Ok(Exp::ArrayLit { row: self.ty()?, elems: self.atoms("(", ")")? }),
            "if" => self.if_exp(),
            "loop" => self.loop_exp(),
            "call" => Ok(Exp::Call { fun: self.fun_ref()?, args: self.atoms("(", ")")? }),
            "assert" => {
                let cond = self.atom()?;
                Ok(Exp::Assert { cond, message: self.list("(", ")", Parser::message_part)? })
            }
            "trace" => Ok(Exp::Trace { tag: self.text("a tag in quotes")?, values: self.atoms("(", ")")? }),
            "map" | "reduce" | "reduce_comm" | "scan" | "hist" | "scatter" => self.parallel(&word),
            "with_acc" => self.with_acc(),
            "jvp" => {
                let (args, tangents) = (self.atoms("(", ")")?, self.atoms("(", ")")?);
                Ok(Exp::Jvp { args, tangents, lambda: self.lambda()? })
            }
            "vjp" => {
                let (args, cotangents) = (self.atoms("(", ")")?, self.atoms("(", ")")?);
                Ok(Exp::Vjp { args, cotangents, lambda: self.lambda()? })
            }
            "with_vjp" => {
                let (args, lambda) = (self.atoms("(", ")")?, self.lambda()?);
                self.expect_word("rule")?;
                Ok(Exp::WithVjp { args, lambda, rule: self.lambda()? })
            }
            "transpose" => Ok(Exp::Transpose { cotangents: self.atoms("(", ")")?, lambda: self.lambda()? }),
            "detach" => Ok(Exp::Detach(self.atom()?)),
            "update_acc" => {
                let acc = self.var()?;
                Ok(Exp::UpdateAcc { acc, indices: self.atoms("[", "]")?, values: self.atoms("(", ")")? })
            }
            _ => {
                self.pos -= 1;
                Ok(Exp::Atom(self.atom()?))
            }
        }
    }

    /// `x`, `x[i]` or `x with [i] = v`
    fn after_var(&mut self) -> Parsed<Exp> {
        let array = self.var()?;
        if matches!(self.peek(), Token::Punct("[")) {
            let indices = self.atoms("[", "]")?;
            return Ok(Exp::Index { array, indices, check: self.check() });
        }
        if self.eat_word("with") {
            let dims = self.dims()?;
            self.expect("=")?;
            let value = self.atom()?;
            return Ok(Exp::Update { array, dims, value, check: self.check() });
        }
        Ok(Exp::Atom(array.into()))
    }

    /// `[n, m] sum [k] x (0, 2) y (2, 1)`, and perhaps `plus z`, and perhaps `where 2 <= 0, 1 <= 0`
    fn contract(&mut self) -> Parsed<Exp> {
        let mut sizes = self.atoms("[", "]")?;
        let rank = sizes.len();
        self.expect_word("sum")?;
        sizes.extend(self.atoms("[", "]")?);
        let (left, right) = (self.axes_of()?, self.axes_of()?);
        let plus = if self.eat_word("plus") { Some(self.var()?) } else { None };
        let mut triangles = Vec::new();
        if self.eat_word("where") {
            triangles.push(self.triangle()?);
            while self.eat(",") {
                triangles.push(self.triangle()?);
            }
        }
        Ok(Exp::Contract { sizes, rank, left, right, plus, triangles })
    }

    fn triangle(&mut self) -> Parsed<Triangle> {
        let low = self.number()?;
        self.expect("<=")?;
        Ok(Triangle { low, high: self.number()? })
    }

    pub fn axes_of(&mut self) -> Parsed<AxesOf> {
        Ok(AxesOf { array: self.var()?, axes: self.list("(", ")", Parser::number)? })
    }

    fn check(&mut self) -> Check {
        if self.eat_word("certified") { Check::Certified } else { Check::Checked }
    }

    /// An operation on scalars of the type; none if there is no such operation.
    pub fn scalar(&mut self, ty: PrimType, op: &str) -> Parsed<Option<Exp>> {
        self.pos += 1;
        let exp = if let Some(op) = UnOp::from_name(op) {
            Exp::UnOp(op, ty, self.atom()?)
        } else if let Some(op) = BinOp::from_name(op) {
            Exp::BinOp(op, ty, self.atom()?, self.atom()?)
        } else if let Some(op) = TernOp::from_name(op) {
            Exp::TernOp(op, ty, [self.atom()?, self.atom()?, self.atom()?])
        } else if let Some(op) = CmpOp::from_name(op) {
            Exp::CmpOp(op, ty, self.atom()?, self.atom()?)
        } else if let Some(to) = op.strip_prefix("to_").and_then(PrimType::from_name) {
            Exp::Convert(ty, to, self.atom()?)
        } else {
            self.pos -= 1;
            return Ok(None);
        };
        Ok(Some(exp))
    }

    /// `[i, start :+ len * stride]`
    fn dims(&mut self) -> Parsed<Vec<DimSlice>> {
        self.list("[", "]", |p| {
            let start = p.atom()?;
            if !p.eat(":+") {
                return Ok(DimSlice::Fix(start));
            }
            let len = p.atom()?;
            p.expect("*")?;
            Ok(DimSlice::Range { start, len, stride: p.atom()? })
        })
    }

    pub fn message_part(&mut self) -> Parsed<MsgPart> {
        match self.peek() {
            Token::Text(_) => Ok(MsgPart::Text(self.text("a message")?)),
            Token::Word(_) | Token::Punct(_) | Token::End => Ok(MsgPart::Value(self.atom()?)),
        }
    }

    fn if_exp(&mut self) -> Parsed<Exp> {
        let cond = self.atom()?;
        self.expect_word("then")?;
        let then = self.body()?;
        self.expect_word("else")?;
        Ok(Exp::If { cond, then, otherwise: self.body()? })
    }

    fn loop_exp(&mut self) -> Parsed<Exp> {
        let visible = self.names.len();
        let mut hints = LoopHints::NONE;
        if self.eat_word("stripmine") {
            hints.stripmine = self.number()?;
        }
        if self.eat_word("bound") {
            hints.bound = Some(self.number()?);
        }
        let params = self.list("(", ")", |p| {
            let param = p.param()?;
            p.expect("=")?;
            // The initial value is from outside of the loop.
            let inside: Vec<_> = p.names.drain(visible..).collect();
            let init = p.atom()?;
            p.names.extend(inside);
            Ok((param, init))
        })?;
        let form = if self.eat_word("for") {
            let before = self.names.len();
            let var = self.bind()?;
            let hidden: Vec<_> = self.names.drain(before..).collect();
            self.expect(":")?;
            let ty = self.prim_type()?;
            self.expect("<")?;
            let inside: Vec<_> = self.names.drain(visible..).collect();
            let bound = self.atom()?;
            self.names.extend(inside);
            self.names.extend(hidden);
            LoopForm::For { var, ty, bound }
        } else {
            self.expect_word("while")?;
            LoopForm::While { cond: self.body()? }
        };
        self.expect_word("do")?;
        let body = self.body()?;
        self.names.truncate(visible);
        Ok(Exp::Loop { params, form, body, hints })
    }

    fn pre(&mut self) -> Parsed<Option<Lambda>> {
        if self.eat_word("pre") { Ok(Some(self.lambda()?)) } else { Ok(None) }
    }

    fn op(&mut self) -> Parsed<(Lambda, Vec<Atom>)> {
        self.expect_word("op")?;
        let op = self.lambda()?;
        self.expect_word("neutral")?;
        Ok((op, self.atoms("(", ")")?))
    }

    fn parallel(&mut self, name: &str) -> Parsed<Exp> {
        let width = self.atom()?;
        let arrays = self.vars()?;
        match name {
            "map" => Ok(Exp::Map { width, arrays, lambda: self.lambda()? }),
            "scan" => {
                let pre = self.pre()?;
                let (op, neutral) = self.op()?;
                Ok(Exp::Scan { width, arrays, pre, op, neutral })
            }
            "hist" | "scatter" => {
                self.expect_word("into")?;
                let dests = self.vars()?;
                let shape = self.atoms("[", "]")?;
                let pre = self.pre()?;
                if name == "scatter" {
                    return Ok(Exp::Scatter { width, arrays, pre, dests, shape });
                }
                let (op, neutral) = self.op()?;
                Ok(Exp::Hist { width, arrays, pre, dests, shape, op, neutral })
            }
            _ => {
                let pre = self.pre()?;
                let (op, neutral) = self.op()?;
                Ok(Exp::Reduce { width, arrays, pre, op, neutral, commutative: name == "reduce_comm" })
            }
        }
    }

    fn with_acc(&mut self) -> Parsed<Exp> {
        let mut inputs = Vec::new();
        while self.eat_word("over") {
            let shape = self.atoms("[", "]")?;
            let arrays = self.vars()?;
            let has_op = matches!(self.peek(), Token::Word(word) if word == "op");
            let op = if has_op { Some(self.op()?) } else { None };
            inputs.push(AccInput { shape, arrays, op });
        }
        self.expect_word("body")?;
        Ok(Exp::WithAcc { inputs, lambda: self.lambda()? })
    }
}
