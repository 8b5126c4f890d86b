//! The text form of Core. [`crate::parse`] reads it back.
//!
//! ```text
//! def dot (n_0: i64, xs_1: [n_0]f64, ys_2: [n_0]f64) : (s_3: f64) =
//!   let (zs_4: [n_0]f64) =
//!     map n_0 (xs_1, ys_2)
//!       \(x_5: f64, y_6: f64) : (f64) ->
//!         let (z_7: f64) = f64.mul x_5 y_6
//!         in (z_7)
//!   …
//!   in (s_8)
//! ```
//!
//! A place in the source follows its statement, as `@"dot.fut":3:7`, with the calls that it was inlined
//! through behind it.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::exp::{
    AccInput, AxesOf, Body, Check, DimSlice, Entry, EntryType, Exp, Fun, Lambda, Loc, LoopForm, LoopHints,
    MsgPart, OpaqueKind, Program, SourceLoc, Stm, Triangle, Vars,
};
use crate::prim::Prim;
use crate::types::{Atom, FunId, Param, Type, VarId};

/// The whole program, with source locations.
pub fn print(program: &Program) -> String {
    Printer::of(program, true).program(program)
}

/// The whole program without source locations, which is easier to read and to compare.
pub fn print_without_locs(program: &Program) -> String {
    Printer::of(program, false).program(program)
}

/// One statement, for messages.
pub fn print_stm(program: &Program, stm: &Stm) -> String {
    let mut printer = Printer::of(program, false);
    printer.stm(stm, 0);
    printer.out.trim_end().to_string()
}

pub fn print_type(program: &Program, ty: &Type) -> String {
    Printer::of(program, false).ty(ty)
}

pub fn print_var(program: &Program, var: VarId) -> String {
    Printer::of(program, false).var(var)
}

pub fn print_atom(program: &Program, atom: Atom) -> String {
    Printer::of(program, false).atom(atom)
}

/// What all text forms share: variables, types, places and signatures, for Core and for languages beside it that have
/// variables, types and functions of the same kind.
pub struct Printer<'p> {
    vars: &'p Vars,
    /// Places in the source, where they are shown.
    locs: &'p [SourceLoc],
    funs: Vec<&'p str>,
    /// How many functions have a name.
    names: HashMap<&'p str, usize>,
    pub out: String,
}

/// Whether the text form can show the name as it is.
pub(crate) fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '\''))
}

pub(crate) fn quote(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

impl<'p> Printer<'p> {
    fn of(program: &'p Program, locs: bool) -> Printer<'p> {
        let locs = if locs { program.locs.as_slice() } else { &[] };
        Printer::new(&program.vars, locs, program.funs.iter().map(|fun| fun.name.as_str()).collect())
    }

    /// `funs` are the names of all functions, in order. Places beyond `locs` are not shown.
    pub fn new(vars: &'p Vars, locs: &'p [SourceLoc], funs: Vec<&'p str>) -> Printer<'p> {
        let mut names = HashMap::new();
        for fun in &funs {
            *names.entry(*fun).or_default() += 1;
        }
        Printer { vars, locs, funs, names, out: String::new() }
    }

    fn program(mut self, program: &Program) -> String {
        for stm in &program.consts {
            self.out.push_str("const\n");
            self.stm(stm, 1);
            self.out.push('\n');
        }
        for fun in &program.funs {
            self.fun(fun);
            self.out.push('\n');
        }
        for entry in &program.entries {
            self.entry(entry);
            self.out.push('\n');
        }
        self.out.truncate(self.out.trim_end().len());
        self.out.push('\n');
        self.out
    }

    pub fn line(&mut self, indent: usize, text: &str) {
        let _ = writeln!(self.out, "{:width$}{text}", "", width = 2 * indent);
    }

    pub fn var(&self, var: VarId) -> String {
        let hint = self.vars.hint(var);
        let shown = if is_name(hint) { hint } else { "v" };
        format!("{shown}_{}", var.0)
    }

    pub fn atom(&self, atom: Atom) -> String {
        match atom {
            Atom::Var(var) => self.var(var),
            Atom::Const(prim) => print_const(prim),
        }
    }

    pub fn atoms(&self, atoms: &[Atom]) -> String {
        join(atoms.iter().map(|a| self.atom(*a)))
    }

    pub fn vars(&self, vars: &[VarId]) -> String {
        join(vars.iter().map(|v| self.var(*v)))
    }

    pub fn ty(&self, ty: &Type) -> String {
        match ty {
            Type::Prim(prim) => prim.to_string(),
            Type::Array { elem, dims } => {
                let dims: String = dims.iter().map(|d| format!("[{}]", self.atom(*d))).collect();
                format!("{dims}{elem}")
            }
            Type::Acc { index_dims, elems } => {
                format!("acc [{}] ({})", self.atoms(index_dims), self.types(elems))
            }
        }
    }

    pub fn types(&self, types: &[Type]) -> String {
        join(types.iter().map(|t| self.ty(t)))
    }

    pub fn param(&self, param: &Param) -> String {
        format!("{}: {}", self.var(param.var), self.ty(&param.ty))
    }

    pub fn params(&self, params: &[Param]) -> String {
        join(params.iter().map(|p| self.param(p)))
    }

    pub fn loc(&self, loc: Loc) -> String {
        let mut text = String::new();
        let mut place = Some(loc);
        // A chain of calls is short; the bound is for chains that never end.
        for _ in 0..64 {
            let Some(source) = place.and_then(|l| self.locs.get(l.0 as usize)) else { break };
            let _ = write!(text, "@{}:{}:{}", quote(&source.file), source.line, source.col);
            place = source.inlined_at;
        }
        if text.is_empty() { text } else { format!(" {text}") }
    }

    pub fn fun_ref(&self, id: FunId) -> String {
        match self.funs.get(id.0 as usize) {
            Some(name) if is_name(name) && self.names.get(name) == Some(&1) => (*name).to_owned(),
            Some(_) | None => format!("#{}", id.0),
        }
    }

    fn fun(&mut self, fun: &Fun) {
        self.signature(&fun.name, (&fun.params, &fun.ret), fun.loc);
        self.body(&fun.body, 1);
    }

    /// The line with the name, the parameters and the results of a function.
    pub fn signature(&mut self, name: &str, (params, ret): (&[Param], &[Param]), loc: Loc) {
        let name = if is_name(name) { name.to_owned() } else { quote(name) };
        let (params, ret, loc) = (self.params(params), self.params(ret), self.loc(loc));
        self.line(0, &format!("def {name} ({params}) : ({ret}){loc} ="));
    }

    /// The parts of a message.
    pub fn message(&self, message: &[MsgPart]) -> String {
        join(message.iter().map(|part| match part {
            MsgPart::Text(text) => quote(text),
            MsgPart::Value(value) => self.atom(*value),
        }))
    }

    pub fn entry(&mut self, entry: &Entry) {
        let fun = self.fun_ref(entry.fun);
        self.line(0, &format!("entry {} = {fun}", quote(&entry.name)));
        self.line(1, &format!("sizes {} {}", entry.size_params, entry.size_results));
        for param in &entry.params {
            let unique = if param.unique { "unique " } else { "" };
            self.line(1, &format!("param {} : {unique}{}", quote(&param.name), self.entry_type(&param.ty)));
        }
        for result in &entry.results {
            self.line(1, &format!("result {}", self.entry_type(result)));
        }
    }

    fn entry_type(&self, ty: &EntryType) -> String {
        match ty {
            EntryType::Value { name, ty } => format!("value {} {}", quote(name), self.ty(ty)),
            EntryType::Opaque { name, types, kind } => {
                let opaque = format!("opaque {} ({})", quote(name), self.types(types));
                match kind {
                    OpaqueKind::Other => opaque,
                    OpaqueKind::Record(fields) => {
                        let field = |(name, ty): &(String, EntryType)| {
                            format!("{}: {}", quote(name), self.entry_type(ty))
                        };
                        format!("{opaque} record ({})", join(fields.iter().map(field)))
                    }
                    OpaqueKind::Sum(constrs) => {
                        let constr = |(name, payload): &(String, Vec<EntryType>)| {
                            let payload = join(payload.iter().map(|ty| self.entry_type(ty)));
                            format!("{} ({payload})", quote(name))
                        };
                        format!("{opaque} sum ({})", join(constrs.iter().map(constr)))
                    }
                    OpaqueKind::Array(row) => format!("{opaque} array {}", self.entry_type(row)),
                }
            }
        }
    }

    fn body(&mut self, body: &Body, indent: usize) {
        for stm in &body.stms {
            self.stm(stm, indent);
        }
        let result = self.atoms(&body.result);
        self.line(indent, &format!("in ({result})"));
    }

    fn stm(&mut self, stm: &Stm, indent: usize) {
        let (pat, loc) = (self.params(&stm.pat), self.loc(stm.loc));
        match self.simple(&stm.exp) {
            Some(exp) => self.line(indent, &format!("let ({pat}) = {exp}{loc}")),
            None => {
                self.line(indent, &format!("let ({pat}) ="));
                self.nested(&stm.exp, indent + 1);
                if !loc.is_empty() {
                    self.line(indent + 1, loc.trim_start());
                }
            }
        }
    }

    fn dims(&self, dims: &[DimSlice]) -> String {
        join(dims.iter().map(|dim| match dim {
            DimSlice::Fix(i) => self.atom(*i),
            DimSlice::Range { start, len, stride } => {
                format!("{} :+ {} * {}", self.atom(*start), self.atom(*len), self.atom(*stride))
            }
        }))
    }

    /// Expressions without bodies, on one line.
    fn simple(&self, exp: &Exp) -> Option<String> {
        let atom = |a: &Atom| self.atom(*a);
        Some(match exp {
            Exp::Atom(a) => atom(a),
            Exp::UnOp(op, ty, a) => format!("{ty}.{} {}", op.name(), atom(a)),
            Exp::BinOp(op, ty, a, b) => format!("{ty}.{} {} {}", op.name(), atom(a), atom(b)),
            Exp::TernOp(op, ty, [a, b, c]) => {
                format!("{ty}.{} {} {} {}", op.name(), atom(a), atom(b), atom(c))
            }
            Exp::CmpOp(op, ty, a, b) => format!("{ty}.{} {} {}", op.name(), atom(a), atom(b)),
            Exp::Convert(from, to, a) => format!("{from}.to_{to} {}", atom(a)),
            Exp::Index { array, indices, check } => {
                format!("{}[{}]{}", self.var(*array), self.atoms(indices), certified(*check))
            }
            Exp::Slice { array, dims } => format!("slice {} [{}]", self.var(*array), self.dims(dims)),
            Exp::Update { array, dims, value, check } => {
                let (array, dims) = (self.var(*array), self.dims(dims));
                format!("{array} with [{dims}] = {}{}", atom(value), certified(*check))
            }
            Exp::Copy(array) => format!("copy {}", self.var(*array)),
            Exp::Iota { ty, n, start, step } => {
                format!("iota {ty} {} {} {}", atom(n), atom(start), atom(step))
            }
            Exp::Replicate { dims, value } => format!("replicate [{}] {}", self.atoms(dims), atom(value)),
            Exp::Rearrange { perm, array } => {
                format!("rearrange ({}) {}", join(perm.iter().map(usize::to_string)), self.var(*array))
            }
            Exp::Reshape { dims, array } => format!("reshape [{}] {}", self.atoms(dims), self.var(*array)),
            Exp::Concat { arrays } => format!("concat ({})", self.vars(arrays)),
            Exp::Contract { sizes, rank, left, right, plus, triangles } => {
                let (kept, summed) = sizes.split_at((*rank).min(sizes.len()));
                let operand = |o: &AxesOf| {
                    format!("{} ({})", self.var(o.array), join(o.axes.iter().map(usize::to_string)))
                };
                let (kept, summed) = (self.atoms(kept), self.atoms(summed));
                let plus = plus.map_or(String::new(), |array| format!(" plus {}", self.var(array)));
                let triangle = |t: &Triangle| format!("{} <= {}", t.low, t.high);
                let triangles = match triangles.as_slice() {
                    [] => String::new(),
                    some => format!(" where {}", join(some.iter().map(triangle))),
                };
                let (left, right) = (operand(left), operand(right));
                format!("contract [{kept}] sum [{summed}] {left} {right}{plus}{triangles}")
            }
            Exp::Scratch { elem, dims } => format!("scratch {elem} [{}]", self.atoms(dims)),
            Exp::ArrayLit { row, elems } => format!("array {} ({})", self.ty(row), self.atoms(elems)),
            Exp::Call { fun, args } => format!("call {} ({})", self.fun_ref(*fun), self.atoms(args)),
            Exp::Assert { cond, message } => {
                format!("assert {} ({})", atom(cond), self.message(message))
            }
            Exp::Trace { tag, values } => format!("trace {} ({})", quote(tag), self.atoms(values)),
            Exp::UpdateAcc { acc, indices, values } => {
                format!("update_acc {} [{}] ({})", self.var(*acc), self.atoms(indices), self.atoms(values))
            }
            Exp::If { .. } | Exp::Loop { .. } | Exp::Map { .. } | Exp::Reduce { .. } | Exp::Scan { .. } => {
                return None;
            }
            Exp::Hist { .. } | Exp::Scatter { .. } | Exp::WithAcc { .. } => return None,
            Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::WithVjp { .. } => return None,
            Exp::Transpose { .. } => return None,
            Exp::Detach(a) => format!("detach {}", atom(a)),
        })
    }

    /// Expressions with bodies, over several lines.
    fn nested(&mut self, exp: &Exp, indent: usize) {
        match exp {
            Exp::If { cond, then, otherwise } => {
                self.line(indent, &format!("if {} then", self.atom(*cond)));
                self.body(then, indent + 1);
                self.line(indent, "else");
                self.body(otherwise, indent + 1);
            }
            Exp::Loop { params, form, body, hints } => self.loop_exp(params, form, body, *hints, indent),
            Exp::Map { width, arrays, lambda } => {
                self.line(indent, &format!("map {} ({})", self.atom(*width), self.vars(arrays)));
                self.lambda("", lambda, indent + 1);
            }
            Exp::Reduce { width, arrays, pre, op, neutral, commutative } => {
                let name = if *commutative { "reduce_comm" } else { "reduce" };
                self.line(indent, &format!("{name} {} ({})", self.atom(*width), self.vars(arrays)));
                self.fold(pre.as_ref(), op, neutral, indent + 1);
            }
            Exp::Scan { width, arrays, pre, op, neutral } => {
                self.line(indent, &format!("scan {} ({})", self.atom(*width), self.vars(arrays)));
                self.fold(pre.as_ref(), op, neutral, indent + 1);
            }
            Exp::Hist { width, arrays, pre, dests, shape, op, neutral } => {
                self.dests_line("hist", *width, arrays, dests, shape, indent);
                self.fold(pre.as_ref(), op, neutral, indent + 1);
            }
            Exp::Scatter { width, arrays, pre, dests, shape } => {
                self.dests_line("scatter", *width, arrays, dests, shape, indent);
                if let Some(pre) = pre {
                    self.lambda("pre ", pre, indent + 1);
                }
            }
            Exp::WithAcc { inputs, lambda } => {
                self.line(indent, "with_acc");
                for input in inputs {
                    self.acc_input(input, indent + 1);
                }
                self.lambda("body ", lambda, indent + 1);
            }
            Exp::Jvp { lambda, args, tangents } => {
                let (args, seeds) = (self.atoms(args), self.atoms(tangents));
                self.line(indent, &format!("jvp ({args}) ({seeds})"));
                self.lambda("", lambda, indent + 1);
            }
            Exp::Vjp { lambda, args, cotangents } => {
                let (args, seeds) = (self.atoms(args), self.atoms(cotangents));
                self.line(indent, &format!("vjp ({args}) ({seeds})"));
                self.lambda("", lambda, indent + 1);
            }
            Exp::WithVjp { lambda, rule, args } => {
                self.line(indent, &format!("with_vjp ({})", self.atoms(args)));
                self.lambda("", lambda, indent + 1);
                self.lambda("rule ", rule, indent + 1);
            }
            Exp::Transpose { lambda, cotangents } => {
                self.line(indent, &format!("transpose ({})", self.atoms(cotangents)));
                self.lambda("", lambda, indent + 1);
            }
            _ => {
                let text = self.simple(exp).unwrap_or_default();
                self.line(indent, &text);
            }
        }
    }

    fn dests_line(
        &mut self,
        name: &str,
        width: Atom,
        arrays: &[VarId],
        dests: &[VarId],
        shape: &[Atom],
        indent: usize,
    ) {
        let (width, arrays) = (self.atom(width), self.vars(arrays));
        let text = format!("{name} {width} ({arrays}) into ({}) [{}]", self.vars(dests), self.atoms(shape));
        self.line(indent, &text);
    }

    fn fold(&mut self, pre: Option<&Lambda>, op: &Lambda, neutral: &[Atom], indent: usize) {
        if let Some(pre) = pre {
            self.lambda("pre ", pre, indent);
        }
        self.lambda("op ", op, indent);
        self.line(indent, &format!("neutral ({})", self.atoms(neutral)));
    }

    fn acc_input(&mut self, input: &AccInput, indent: usize) {
        self.line(indent, &format!("over [{}] ({})", self.atoms(&input.shape), self.vars(&input.arrays)));
        if let Some((op, neutral)) = &input.op {
            self.fold(None, op, neutral, indent + 1);
        }
    }

    fn loop_exp(
        &mut self,
        params: &[(Param, Atom)],
        form: &LoopForm,
        body: &Body,
        hints: LoopHints,
        indent: usize,
    ) {
        let mut lead = "loop".to_owned();
        if hints.stripmine > 0 {
            lead += &format!(" stripmine {}", hints.stripmine);
        }
        if let Some(bound) = hints.bound {
            lead += &format!(" bound {bound}");
        }
        let params = join(params.iter().map(|(p, init)| format!("{} = {}", self.param(p), self.atom(*init))));
        match form {
            LoopForm::For { var, ty, bound } => {
                let (var, bound) = (self.var(*var), self.atom(*bound));
                self.line(indent, &format!("{lead} ({params}) for {var}: {ty} < {bound} do"));
            }
            LoopForm::While { cond } => {
                self.line(indent, &format!("{lead} ({params}) while"));
                self.body(cond, indent + 1);
                self.line(indent, "do");
            }
        }
        self.body(body, indent + 1);
    }

    fn lambda(&mut self, lead: &str, lambda: &Lambda, indent: usize) {
        let (params, ret) = (self.params(&lambda.params), self.types(&lambda.ret));
        self.line(indent, &format!("{lead}\\({params}) : ({ret}) ->"));
        self.body(&lambda.body, indent + 1);
    }
}

fn certified(check: Check) -> &'static str {
    match check {
        Check::Checked => "",
        Check::Certified => " certified",
    }
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

/// As a value is printed, except for a NaN with bits of its own, which must not be lost.
fn print_const(prim: Prim) -> String {
    match prim.as_f64() {
        Some(x) if x.is_nan() && Prim::of_f64(prim.ty(), f64::NAN) != Some(prim) => {
            format!("{}.bits.{:x}", prim.ty(), prim.bits())
        }
        _ => prim.to_string(),
    }
}
