//! The text form. [`crate::parse`] reads it back.
//!
//! ```text
//! def sums (n_0: i64, m_1: i64, xs_2: [n_0][m_1]f64) : (ys_3: [n_0]f64) =
//!   let (sq_4: [n_0][m_1]f64) = f64.mul xs_2 xs_2
//!   let (s_5: [n_0]f64) = f64.reduce_add 1 sq_4
//!   in (s_5)
//! ```

use dagaz_core::exp::AxesOf;
use dagaz_core::print::Printer;

use crate::term::{Body, Combine, Lambda, LoopForm, Op, Program, Span, Stm};

/// The whole program, with source locations.
pub fn print(program: &Program) -> String {
    print_at(program, true)
}

/// The whole program without source locations, which is easier to read and to compare.
pub fn print_without_locs(program: &Program) -> String {
    print_at(program, false)
}

/// One statement, for messages.
pub fn print_stm(program: &Program, stm: &Stm) -> String {
    let mut writer = Writer { p: printer(program, false) };
    writer.stm(stm, 0);
    writer.p.out.trim_end().to_string()
}

pub(crate) fn printer(program: &Program, locs: bool) -> Printer<'_> {
    let locs = if locs { program.locs.as_slice() } else { &[] };
    Printer::new(&program.vars, locs, program.funs.iter().map(|fun| fun.name.as_str()).collect())
}

fn print_at(program: &Program, locs: bool) -> String {
    let mut writer = Writer { p: printer(program, locs) };
    for stm in &program.consts {
        writer.p.out.push_str("const\n");
        writer.stm(stm, 1);
        writer.p.out.push('\n');
    }
    for fun in &program.funs {
        writer.p.signature(&fun.name, (&fun.params, &fun.ret), fun.loc);
        writer.body(&fun.body, 1);
        writer.p.out.push('\n');
    }
    for entry in &program.entries {
        writer.p.entry(entry);
        writer.p.out.push('\n');
    }
    let mut out = writer.p.out;
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

struct Writer<'p> {
    p: Printer<'p>,
}

impl Writer<'_> {
    fn body(&mut self, body: &Body, indent: usize) {
        for stm in &body.stms {
            self.stm(stm, indent);
        }
        let result = self.p.atoms(&body.result);
        self.p.line(indent, &format!("in ({result})"));
    }

    fn stm(&mut self, stm: &Stm, indent: usize) {
        let (pat, loc) = (self.p.params(&stm.pat), self.p.loc(stm.loc));
        match self.simple(&stm.op) {
            Some(op) => self.p.line(indent, &format!("let ({pat}) = {op}{loc}")),
            None => {
                self.p.line(indent, &format!("let ({pat}) ="));
                self.nested(&stm.op, indent + 1);
                if !loc.is_empty() {
                    self.p.line(indent + 1, loc.trim_start());
                }
            }
        }
    }

    fn spans(&self, dims: &[Span]) -> String {
        join(dims.iter().map(|s| {
            format!("{} :+ {} * {}", self.p.atom(s.start), self.p.atom(s.len), self.p.atom(s.stride))
        }))
    }

    fn scatter(&self, op: &Op) -> String {
        let Op::Scatter { dests, indices, values, combine } = op else { return String::new() };
        let how = match combine {
            Combine::Replace => "replace",
            Combine::By(op) => op.name(),
            Combine::Op(..) => "op",
        };
        let (dests, indices, values) = (self.p.vars(dests), self.p.atoms(indices), self.p.atoms(values));
        format!("scatter ({dests}) [{indices}] ({values}) {how}")
    }

    /// Operations without bodies, on one line.
    fn simple(&self, op: &Op) -> Option<String> {
        let p = &self.p;
        Some(match op {
            Op::Atom(a) => p.atom(*a),
            Op::UnOp(op, ty, a) => format!("{ty}.{} {}", op.name(), p.atom(*a)),
            Op::BinOp(op, ty, a, b) => format!("{ty}.{} {} {}", op.name(), p.atom(*a), p.atom(*b)),
            Op::TernOp(op, ty, [a, b, c]) => {
                format!("{ty}.{} {} {} {}", op.name(), p.atom(*a), p.atom(*b), p.atom(*c))
            }
            Op::CmpOp(op, ty, a, b) => format!("{ty}.{} {} {}", op.name(), p.atom(*a), p.atom(*b)),
            Op::Convert(from, to, a) => format!("{from}.to_{to} {}", p.atom(*a)),
            Op::Select { cond, yes, no } => {
                format!("select {} {} {}", p.atom(*cond), p.atom(*yes), p.atom(*no))
            }
            Op::Iota { ty, n } => format!("iota {ty} {}", p.atom(*n)),
            Op::Broadcast { dims, axes, value } => {
                format!("broadcast [{}] ({}) {}", p.atoms(dims), numbers(axes), p.atom(*value))
            }
            Op::Transpose { perm, array } => format!("transpose ({}) {}", numbers(perm), p.var(*array)),
            Op::Reshape { dims, array } => format!("reshape [{}] {}", p.atoms(dims), p.var(*array)),
            Op::Slice { array, dims } => format!("slice {} [{}]", p.var(*array), self.spans(dims)),
            Op::Update { array, dims, value } => {
                format!("update {} [{}] {}", p.var(*array), self.spans(dims), p.var(*value))
            }
            Op::Concat { axis, arrays } => format!("concat {axis} ({})", p.vars(arrays)),
            Op::Stack { row, elems } => format!("stack {} ({})", p.ty(row), p.atoms(elems)),
            Op::Gather { array, indices } => format!("gather {} [{}]", p.var(*array), p.atoms(indices)),
            Op::Scatter { combine: Combine::Op(..), .. } => return None,
            Op::Scatter { .. } => self.scatter(op),
            Op::Fold { op, ty, axis, array } => format!("{ty}.reduce_{} {axis} {}", op.name(), p.var(*array)),
            Op::Dot { sizes, rank, left, right } => {
                let (kept, summed) = sizes.split_at((*rank).min(sizes.len()));
                let operand = |o: &AxesOf| format!("{} ({})", p.var(o.array), numbers(&o.axes));
                let (kept, summed) = (p.atoms(kept), p.atoms(summed));
                format!("dot [{kept}] sum [{summed}] {} {}", operand(left), operand(right))
            }
            Op::Call { fun, args } => format!("call {} ({})", p.fun_ref(*fun), p.atoms(args)),
            Op::Assert { cond, message } => format!("assert {} ({})", p.atom(*cond), p.message(message)),
            Op::Reduce { .. } | Op::Scan { .. } | Op::If { .. } | Op::Loop { .. } => return None,
        })
    }

    /// Operations with bodies, over several lines.
    fn nested(&mut self, op: &Op, indent: usize) {
        match op {
            Op::If { cond, then, otherwise } => {
                let cond = self.p.atom(*cond);
                self.p.line(indent, &format!("if {cond} then"));
                self.body(then, indent + 1);
                self.p.line(indent, "else");
                self.body(otherwise, indent + 1);
            }
            Op::Loop { .. } => self.loop_op(op, indent),
            Op::Reduce { axis, arrays, op: lambda, neutral }
            | Op::Scan { axis, arrays, op: lambda, neutral } => {
                let name = if matches!(op, Op::Scan { .. }) { "scan" } else { "reduce" };
                let (arrays, neutral) = (self.p.vars(arrays), self.p.atoms(neutral));
                self.p.line(indent, &format!("{name} {axis} ({arrays}) ({neutral})"));
                self.lambda(lambda, indent + 1);
            }
            Op::Scatter { combine: Combine::Op(lambda, neutral), .. } => {
                let line = format!("{} ({})", self.scatter(op), self.p.atoms(neutral));
                self.p.line(indent, &line);
                self.lambda(lambda, indent + 1);
            }
            _ => {
                let text = self.simple(op).unwrap_or_default();
                self.p.line(indent, &text);
            }
        }
    }

    fn loop_op(&mut self, op: &Op, indent: usize) {
        let Op::Loop { params, form, body, hints } = op else { return };
        let mut lead = "loop".to_owned();
        if hints.stripmine > 0 {
            lead += &format!(" stripmine {}", hints.stripmine);
        }
        if let Some(bound) = hints.bound {
            lead += &format!(" bound {bound}");
        }
        let params = params.iter().map(|(p, init)| format!("{} = {}", self.p.param(p), self.p.atom(*init)));
        let params = join(params);
        match form {
            LoopForm::For { var, ty, bound } => {
                let (var, bound) = (self.p.var(*var), self.p.atom(*bound));
                self.p.line(indent, &format!("{lead} ({params}) for {var}: {ty} < {bound} do"));
            }
            LoopForm::While { cond } => {
                self.p.line(indent, &format!("{lead} ({params}) while"));
                self.body(cond, indent + 1);
                self.p.line(indent, "do");
            }
        }
        self.body(body, indent + 1);
    }

    fn lambda(&mut self, lambda: &Lambda, indent: usize) {
        let (params, ret) = (self.p.params(&lambda.params), self.p.types(&lambda.ret));
        self.p.line(indent, &format!("\\({params}) : ({ret}) ->"));
        self.body(&lambda.body, indent + 1);
    }
}

fn numbers(numbers: &[usize]) -> String {
    join(numbers.iter().map(usize::to_string))
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}
