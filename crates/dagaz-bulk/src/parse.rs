//! Reads the text form, as [`crate::print`] writes it. Variables without numbers are as in the text form of Core.

use dagaz_core::exp::{Exp, LoopHints};
use dagaz_core::parse::{ParseError, Parsed, Parser, Token};
use dagaz_core::prim::{BinOp, PrimType};

use crate::term::{Body, Combine, Fun, Lambda, LoopForm, Op, Program, Span, Stm};

pub fn parse(text: &str) -> Result<Program, ParseError> {
    let mut reader = Reader { p: Parser::new(text)? };
    let mut program = Program::default();
    loop {
        match reader.p.peek().clone() {
            Token::End => break,
            Token::Word(word) if word == "const" => {
                reader.p.expect_word("const")?;
                program.consts.push(reader.stm()?);
            }
            Token::Word(word) if word == "def" => {
                reader.p.expect_word("def")?;
                program.funs.push(reader.fun()?);
            }
            Token::Word(word) if word == "entry" => {
                reader.p.expect_word("entry")?;
                program.entries.push(reader.p.entry()?);
            }
            _ => return reader.p.unexpected("'const', 'def' or 'entry'"),
        }
    }
    program.vars = reader.p.program.vars;
    program.locs = reader.p.program.locs;
    Ok(program)
}

struct Reader {
    p: Parser,
}

impl Reader {
    fn fun(&mut self) -> Parsed<Fun> {
        let outside = self.p.visible();
        let (name, params, ret, loc) = self.p.signature()?;
        let body = self.body()?;
        self.p.hide(outside);
        Ok(Fun { name, params, ret, body, loc })
    }

    fn body(&mut self) -> Parsed<Body> {
        // Deep nesting must not overflow the stack.
        stacker::maybe_grow(128 << 10, 4 << 20, || self.body_here())
    }

    fn body_here(&mut self) -> Parsed<Body> {
        let visible = self.p.visible();
        let mut stms = Vec::new();
        while matches!(self.p.peek(), Token::Word(word) if word == "let") {
            stms.push(self.stm()?);
        }
        self.p.expect_word("in")?;
        let result = self.p.atoms("(", ")")?;
        self.p.hide(visible);
        Ok(Body { stms, result })
    }

    fn stm(&mut self) -> Parsed<Stm> {
        self.p.expect_word("let")?;
        let visible = self.p.visible();
        let pat = self.p.params()?;
        // A name bound here is not visible in its own operation.
        let hidden = self.p.take_names(visible);
        self.p.expect("=")?;
        let op = self.op()?;
        self.p.show_names(hidden);
        Ok(Stm { pat, op, loc: self.p.loc()? })
    }

    fn op(&mut self) -> Parsed<Op> {
        let Token::Word(word) = self.p.peek().clone() else { return Ok(Op::Atom(self.p.atom()?)) };
        if let Some((ty, op)) = word.split_once('.')
            && let Some(ty) = PrimType::from_name(ty)
        {
            if let Some(op) = op.strip_prefix("reduce_").and_then(BinOp::from_name) {
                self.p.expect_word(&word)?;
                return Ok(Op::Fold { op, ty, axis: self.p.number()?, array: self.p.var()? });
            }
            if let Some(exp) = self.p.scalar(ty, op)? {
                return scalar(exp).map_or_else(|| self.p.unexpected("a scalar operation"), Ok);
            }
        }
        // A name in scope is a variable even if it is also the name of an operation.
        if self.p.known_name(&word).is_some() || !is_operation(&word) {
            return Ok(Op::Atom(self.p.atom()?));
        }
        self.p.expect_word(&word)?;
        self.named(&word)
    }

    fn named(&mut self, word: &str) -> Parsed<Op> {
        let p = &mut self.p;
        Ok(match word {
            "select" => Op::Select { cond: p.atom()?, yes: p.atom()?, no: p.atom()? },
            "iota" => Op::Iota { ty: p.prim_type()?, n: p.atom()? },
            "broadcast" => {
                let dims = p.atoms("[", "]")?;
                Op::Broadcast { dims, axes: self.numbers()?, value: self.p.atom()? }
            }
            "transpose" => Op::Transpose { perm: self.numbers()?, array: self.p.var()? },
            "reshape" => Op::Reshape { dims: p.atoms("[", "]")?, array: p.var()? },
            "slice" => Op::Slice { array: p.var()?, dims: self.spans()? },
            "update" => Op::Update { array: p.var()?, dims: self.spans()?, value: self.p.var()? },
            "concat" => Op::Concat { axis: p.number()?, arrays: p.vars()? },
            "stack" => Op::Stack { row: p.ty()?, elems: p.atoms("(", ")")? },
            "gather" => Op::Gather { array: p.var()?, indices: p.atoms("[", "]")? },
            "scatter" => self.scatter()?,
            "reduce" | "scan" => self.fold(word)?,
            "dot" => {
                let mut sizes = p.atoms("[", "]")?;
                let rank = sizes.len();
                p.expect_word("sum")?;
                sizes.extend(p.atoms("[", "]")?);
                Op::Dot { sizes, rank, left: p.axes_of()?, right: p.axes_of()? }
            }
            "if" => {
                let cond = p.atom()?;
                p.expect_word("then")?;
                let then = self.body()?;
                self.p.expect_word("else")?;
                Op::If { cond, then, otherwise: self.body()? }
            }
            "loop" => self.loop_op()?,
            "call" => Op::Call { fun: p.fun_ref()?, args: p.atoms("(", ")")? },
            _ => {
                let cond = p.atom()?;
                Op::Assert { cond, message: p.list("(", ")", Parser::message_part)? }
            }
        })
    }

    fn numbers(&mut self) -> Parsed<Vec<usize>> {
        self.p.list("(", ")", Parser::number)
    }

    fn spans(&mut self) -> Parsed<Vec<Span>> {
        self.p.list("[", "]", |p| {
            let start = p.atom()?;
            p.expect(":+")?;
            let len = p.atom()?;
            p.expect("*")?;
            Ok(Span { start, len, stride: p.atom()? })
        })
    }

    fn scatter(&mut self) -> Parsed<Op> {
        let (dests, indices) = (self.p.vars()?, self.p.atoms("[", "]")?);
        let values = self.p.atoms("(", ")")?;
        let how = self.p.word("'replace', 'op' or an operation")?;
        let combine = match (how.as_str(), BinOp::from_name(&how)) {
            ("replace", _) => Combine::Replace,
            ("op", _) => {
                let neutral = self.p.atoms("(", ")")?;
                Combine::Op(self.lambda()?, neutral)
            }
            (_, Some(op)) => Combine::By(op),
            (_, None) => return self.p.error(format!("'{how}' is no way to combine elements")),
        };
        Ok(Op::Scatter { dests, indices, values, combine })
    }

    fn fold(&mut self, word: &str) -> Parsed<Op> {
        let (axis, arrays) = (self.p.number()?, self.p.vars()?);
        let neutral = self.p.atoms("(", ")")?;
        let op = self.lambda()?;
        Ok(match word {
            "scan" => Op::Scan { axis, arrays, op, neutral },
            _ => Op::Reduce { axis, arrays, op, neutral },
        })
    }

    fn loop_op(&mut self) -> Parsed<Op> {
        let visible = self.p.visible();
        let mut hints = LoopHints::NONE;
        if self.p.eat_word("stripmine") {
            hints.stripmine = self.p.number()?;
        }
        if self.p.eat_word("bound") {
            hints.bound = Some(self.p.number()?);
        }
        let params = self.p.list("(", ")", |p| {
            let param = p.param()?;
            p.expect("=")?;
            // The initial value is from outside of the loop.
            let inside = p.take_names(visible);
            let init = p.atom()?;
            p.show_names(inside);
            Ok((param, init))
        })?;
        let form = if self.p.eat_word("for") {
            let before = self.p.visible();
            let var = self.p.bind()?;
            let hidden = self.p.take_names(before);
            self.p.expect(":")?;
            let ty = self.p.prim_type()?;
            self.p.expect("<")?;
            let inside = self.p.take_names(visible);
            let bound = self.p.atom()?;
            self.p.show_names(inside);
            self.p.show_names(hidden);
            LoopForm::For { var, ty, bound }
        } else {
            self.p.expect_word("while")?;
            LoopForm::While { cond: self.body()? }
        };
        self.p.expect_word("do")?;
        let body = self.body()?;
        self.p.hide(visible);
        Ok(Op::Loop { params, form, body, hints })
    }

    fn lambda(&mut self) -> Parsed<Lambda> {
        self.p.expect("\\")?;
        let visible = self.p.visible();
        let params = self.p.params()?;
        self.p.expect(":")?;
        let ret = self.p.types()?;
        self.p.expect("->")?;
        let body = self.body()?;
        self.p.hide(visible);
        Ok(Lambda { params, body, ret })
    }
}

fn is_operation(word: &str) -> bool {
    let names = [
        "select",
        "iota",
        "broadcast",
        "transpose",
        "reshape",
        "slice",
        "update",
        "concat",
        "stack",
        "gather",
        "scatter",
        "reduce",
        "scan",
        "dot",
        "if",
        "loop",
        "call",
        "assert",
    ];
    names.contains(&word)
}

/// Scalar operations are those of Core.
fn scalar(exp: Exp) -> Option<Op> {
    match exp {
        Exp::UnOp(op, ty, a) => Some(Op::UnOp(op, ty, a)),
        Exp::BinOp(op, ty, a, b) => Some(Op::BinOp(op, ty, a, b)),
        Exp::TernOp(op, ty, operands) => Some(Op::TernOp(op, ty, operands)),
        Exp::CmpOp(op, ty, a, b) => Some(Op::CmpOp(op, ty, a, b)),
        Exp::Convert(from, to, a) => Some(Op::Convert(from, to, a)),
        _ => None,
    }
}
