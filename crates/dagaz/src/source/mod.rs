//! Core as a program in the language: what `dagaz grad` prints.
//!
//! ```text
//! let (mul_7: f64) = f64.mul x_1 x_1
//! let (y_8: f64) = f64.sin mul_7          ==>     let y = f64.sin (x * x)
//! ```
//!
//! Names are kept where the source had them; scalar steps that have none and are used once are written where they are used.
//! Sizes that the checker cannot follow are stated by `:>`. Records and tuples are gone by the time there is
//! Core, so parameters and results are their parts.

mod bulk;
mod names;
mod scalar;
mod unfused;

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{Body, Entry, Exp, Fun, Lambda, LoopForm, Program, Stm};
use dagaz_core::prim::Prim;
use dagaz_core::types::{Atom, FunId, Type, VarId};
use dagaz_core::visit::{bodies, direct_operands, free_vars_body};

use names::Names;

/// Why there is no source for a program.
pub(crate) type Shown<T> = Result<T, String>;

/// The entry points of a program and what they need, as source. `title` is a comment.
pub fn print(mut program: Program, title: &str) -> Shown<String> {
    dagaz_ad::accumulators_to_histograms(&mut program)?;
    unfused::unfuse(&mut program);
    let mut printer = Printer::new(&program);
    let mut text = format!("-- {title}\n");
    for stm in &program.consts {
        text += &printer.constant(stm)?;
    }
    let entries: HashMap<FunId, &Entry> = program.entries.iter().map(|e| (e.fun, e)).collect();
    for id in reachable(&program) {
        let Some(fun) = program.fun(id) else { continue };
        text.push('\n');
        text += &printer.function(fun, entries.get(&id).copied())?;
    }
    Ok(text)
}

/// The functions that entry points call, callees first.
fn reachable(program: &Program) -> Vec<FunId> {
    fn visit(program: &Program, id: FunId, found: &mut Vec<FunId>, seen: &mut HashSet<FunId>) {
        if !seen.insert(id) {
            return;
        }
        if let Some(fun) = program.fun(id) {
            calls(&fun.body, &mut |callee| visit(program, callee, found, seen));
        }
        found.push(id);
    }
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    program.entries.iter().for_each(|entry| visit(program, entry.fun, &mut found, &mut seen));
    found
}

fn calls(body: &Body, f: &mut dyn FnMut(FunId)) {
    for stm in &body.stms {
        if let Exp::Call { fun, .. } = &stm.exp {
            f(*fun);
        }
        bodies(&stm.exp).into_iter().for_each(|inner| calls(inner, f));
    }
}

/// A piece of source and how tightly it holds together: 0 for what needs parentheses everywhere, [`ATOM`] for what never does.
#[derive(Clone)]
pub(crate) struct Piece {
    text: String,
    strength: u8,
}

pub(crate) const LOOSE: u8 = 0;
pub(crate) const APPLICATION: u8 = 8;
pub(crate) const ATOM: u8 = 9;

impl Piece {
    fn new(text: impl Into<String>, strength: u8) -> Piece {
        Piece { text: text.into(), strength }
    }

    /// As an operand of something of a strength.
    fn within(&self, outer: u8) -> String {
        if self.strength < outer { format!("({})", self.text) } else { self.text.clone() }
    }
}

pub(crate) struct Printer<'p> {
    program: &'p Program,
    names: Names,
    /// How often each variable is used, as a value and in types.
    uses: HashMap<VarId, usize>,
    /// Steps that are written where they are used.
    inlined: HashMap<VarId, Piece>,
    /// Arrays that nothing else shares elements with, within the current function.
    fresh: HashSet<VarId>,
    types: HashMap<VarId, Type>,
}

impl<'p> Printer<'p> {
    fn new(program: &'p Program) -> Printer<'p> {
        let mut printer = Printer {
            program,
            names: Names::default(),
            uses: HashMap::new(),
            inlined: HashMap::new(),
            fresh: HashSet::new(),
            types: HashMap::new(),
        };
        let consts = Body { stms: program.consts.clone(), result: Vec::new() };
        printer.count(&consts);
        for fun in &program.funs {
            for param in fun.params.iter().chain(&fun.ret) {
                printer.use_type(&param.ty);
                printer.types.insert(param.var, param.ty.clone());
            }
            printer.count(&fun.body);
        }
        printer
    }

    fn use_type(&mut self, ty: &Type) {
        // Twice, so that a size is never written in place of its name.
        for dim in ty.all_dims().into_iter().filter_map(Atom::as_var) {
            *self.uses.entry(dim).or_default() += 2;
        }
    }

    fn count(&mut self, body: &Body) {
        for stm in &body.stms {
            for param in &stm.pat {
                self.use_type(&param.ty);
                self.types.insert(param.var, param.ty.clone());
            }
            direct_operands(&stm.exp, &mut |a| {
                if let Atom::Var(var) = a {
                    *self.uses.entry(var).or_default() += 1;
                }
            });
            for lambda in dagaz_core::visit::lambdas(&stm.exp) {
                for param in &lambda.params {
                    self.use_type(&param.ty);
                    self.types.insert(param.var, param.ty.clone());
                }
            }
            if let Exp::Loop { params, .. } = &stm.exp {
                for (param, _) in params {
                    self.use_type(&param.ty);
                    self.types.insert(param.var, param.ty.clone());
                }
            }
            bodies(&stm.exp).into_iter().for_each(|inner| self.count(inner));
        }
        for var in body.result.iter().filter_map(|a| a.as_var()) {
            *self.uses.entry(var).or_default() += 1;
        }
    }

    fn name(&mut self, var: VarId) -> String {
        self.names.of(var, self.program.vars.hint(var))
    }

    fn constant(&mut self, stm: &Stm) -> Shown<String> {
        let value = self.exp(stm, 1)?.text;
        if let [param] = stm.pat.as_slice() {
            let name = self.name(param.var);
            return Ok(format!("\ndef {name} = {value}\n"));
        }
        let all = self.names.unused("constants");
        let mut text = format!("\ndef {all} = {value}\n");
        for (i, param) in stm.pat.iter().enumerate() {
            let name = self.name(param.var);
            text += &format!("def {name} = {all}.{i}\n");
        }
        Ok(text)
    }

    fn function(&mut self, fun: &Fun, entry: Option<&Entry>) -> Shown<String> {
        self.fresh.clear();
        let sizes = entry.map_or(0, |e| e.size_params);
        let mut head = format!("{} {}", if entry.is_some() { "entry" } else { "def" }, fun.name);
        for (i, param) in fun.params.iter().enumerate() {
            let name = self.name(param.var);
            if i < sizes {
                head += &format!(" [{name}]");
            } else {
                head += &format!(" ({name}: {})", self.ty(&param.ty));
            }
        }
        let mut body = fun.body.clone();
        let hidden = entry.map_or(0, |e| e.size_results);
        for (result, param) in body.result.iter().zip(&fun.ret) {
            if let (Atom::Var(var), true) = (result, entry.is_some()) {
                // A result is named after what it is for.
                self.names.of(*var, self.program.vars.hint(param.var));
            }
        }
        body.result.drain(..hidden);
        let own: Vec<VarId> = fun.ret.iter().map(|p| p.var).collect();
        let known = |ty: &Type| ty.all_dims().iter().all(|d| d.as_var().is_none_or(|v| !own.contains(&v)));
        if fun.ret[hidden..].iter().all(|p| known(&p.ty)) {
            let types: Vec<String> = fun.ret[hidden..].iter().map(|p| self.ty(&p.ty)).collect();
            head += &format!(" : {}", tuple(&types));
        }
        Ok(format!("{head} =\n  {}\n", self.body(&body, 1)?))
    }

    fn ty(&mut self, ty: &Type) -> String {
        let dims: Vec<String> = ty.dims().iter().map(|d| format!("[{}]", self.size(*d))).collect();
        let elem = ty.elem().map_or("f64", |e| e.name());
        format!("{}{elem}", dims.concat())
    }

    fn size(&mut self, dim: Atom) -> String {
        match dim {
            Atom::Const(Prim::I64(n)) => n.to_string(),
            Atom::Const(other) => other.to_string(),
            Atom::Var(var) => self.name(var),
        }
    }

    pub(crate) fn atom(&mut self, atom: Atom) -> Piece {
        match atom {
            Atom::Const(prim) => scalar::literal(prim),
            Atom::Var(var) => match self.inlined.get(&var) {
                Some(piece) => piece.clone(),
                None => Piece::new(self.name(var), ATOM),
            },
        }
    }

    pub(crate) fn argument(&mut self, atom: Atom) -> String {
        self.atom(atom).within(ATOM)
    }

    pub(crate) fn atoms(&mut self, atoms: &[Atom]) -> Vec<String> {
        atoms.iter().map(|a| self.atom(*a).text).collect()
    }

    /// Statements and a result, over several lines unless there are no statements.
    fn body(&mut self, body: &Body, indent: usize) -> Shown<String> {
        let mut lines = Vec::new();
        for (i, stm) in body.stms.iter().enumerate() {
            if indent > 1 && i + 1 == body.stms.len() && self.is_result(stm, body) {
                let value = self.exp(stm, indent)?.text;
                if lines.is_empty() {
                    return Ok(value);
                }
                lines.push(format!("in {value}"));
                return Ok(lines.join(&newline(indent)));
            }
            if self.is_inlined(stm, &body.stms[i + 1..], body) {
                let piece = self.exp(stm, indent)?;
                self.inlined.insert(stm.pat[0].var, piece);
                continue;
            }
            lines.extend(self.stm(stm, indent)?);
        }
        let result = tuple(&self.atoms(&body.result));
        if lines.is_empty() {
            return Ok(result);
        }
        lines.push(format!("in {result}"));
        Ok(lines.join(&newline(indent)))
    }

    /// Whether a last statement is the result of its body, and needs no name.
    fn is_result(&self, stm: &Stm, body: &Body) -> bool {
        let [param] = stm.pat.as_slice() else { return false };
        body.result == [Atom::from(param.var)] && self.uses.get(&param.var) == Some(&1)
    }

    /// A scalar step without a name of its own that is used once, in the same body.
    fn is_inlined(&self, stm: &Stm, later: &[Stm], body: &Body) -> bool {
        let [param] = stm.pat.as_slice() else { return false };
        let Type::Prim(_) = param.ty else { return false };
        let simple = match &stm.exp {
            Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..) => true,
            Exp::Atom(_) => true,
            // What is read must not have been overwritten by then.
            Exp::Index { .. } => !later.iter().any(|s| bulk::consumes(&s.exp)),
            _ => false,
        };
        let used_once = self.uses.get(&param.var) == Some(&1);
        let anonymous = names::is_anonymous(self.program.vars.hint(param.var));
        let used_here = || {
            let mut found = body.result.contains(&param.var.into());
            later.iter().for_each(|s| direct_operands(&s.exp, &mut |a| found |= a == param.var.into()));
            found
        };
        simple && used_once && anonymous && used_here()
    }

    /// The lines of a statement.
    fn stm(&mut self, stm: &Stm, indent: usize) -> Shown<Vec<String>> {
        if let Exp::Assert { cond, .. } = &stm.exp {
            let cond = self.argument(*cond);
            return Ok(vec![format!("let _ = assert {cond} ()")]);
        }
        let value = self.exp(stm, indent)?.text;
        self.note_fresh(stm);
        if stm.pat.is_empty() {
            // It is there for what it checks.
            return Ok(vec![format!("let _ = {value}")]);
        }
        let names: Vec<String> = stm.pat.iter().map(|p| self.name(p.var)).collect();
        let mut lines = Vec::new();
        if matches!(stm.exp, Exp::Map { .. } | Exp::Scan { .. } | Exp::Hist { .. } | Exp::Scatter { .. }) {
            lines.extend(self.unzipped(&names, value));
        } else {
            lines.push(format!("let {} = {value}", tuple(&names)));
        }
        // Results with sizes that are results themselves.
        let own: Vec<VarId> = stm.pat.iter().map(|p| p.var).collect();
        for (param, name) in stm.pat.iter().zip(&names) {
            if param.ty.all_dims().iter().any(|d| d.as_var().is_some_and(|v| own.contains(&v))) {
                lines.push(format!("let {name} = {name} :> {}", self.ty(&param.ty)));
            }
        }
        Ok(lines)
    }

    /// `\x y -> body`, to be put in parentheses.
    pub(crate) fn lambda(&mut self, lambda: &Lambda, patterns: &[String], indent: usize) -> Shown<String> {
        let outside = std::mem::take(&mut self.fresh);
        let body = self.body(&lambda.body, indent + 1);
        self.fresh = outside;
        let body = body?;
        let between = if body.contains('\n') { newline(indent + 1) } else { " ".to_owned() };
        Ok(format!("\\{} ->{between}{body}", patterns.join(" ")))
    }

    pub(crate) fn exp(&mut self, stm: &Stm, indent: usize) -> Shown<Piece> {
        match &stm.exp {
            Exp::Atom(a) | Exp::Detach(a) => Ok(self.atom(*a)),
            Exp::UnOp(..) | Exp::BinOp(..) | Exp::TernOp(..) | Exp::CmpOp(..) | Exp::Convert(..) => {
                self.scalar(&stm.exp)
            }
            Exp::If { cond, then, otherwise } => {
                let outside = self.fresh.clone();
                let cond = self.atom(*cond).text;
                let then = self.body(then, indent + 1)?;
                self.fresh = outside.clone();
                let otherwise = self.body(otherwise, indent + 1)?;
                self.fresh = outside;
                let many = then.contains('\n') || otherwise.contains('\n');
                let (space, line) =
                    if many { (newline(indent + 1), newline(indent)) } else { (" ".into(), " ".into()) };
                Ok(Piece::new(format!("if {cond}{line}then{space}{then}{line}else{space}{otherwise}"), LOOSE))
            }
            Exp::Loop { .. } => self.looped(stm, indent),
            Exp::Call { fun, args } => {
                let name = self.program.fun(*fun).map_or(String::new(), |f| f.name.clone());
                let args: Vec<String> = args.iter().map(|a| self.argument(*a)).collect();
                Ok(Piece::new(format!("{name} {}", args.join(" ")), APPLICATION))
            }
            Exp::Trace { values, .. } => Ok(Piece::new(tuple(&self.atoms(values)), ATOM)),
            Exp::Assert { .. } => Err("an assertion where a value is expected".to_owned()),
            Exp::WithAcc { .. } | Exp::UpdateAcc { .. } => {
                Err("an accumulator inside a while loop".to_owned())
            }
            Exp::Jvp { .. } | Exp::Vjp { .. } | Exp::WithVjp { .. } => {
                Err("a derivative that is not expanded".to_owned())
            }
            Exp::Transpose { .. } => Err("a derivative that is not expanded".to_owned()),
            Exp::Map { .. } | Exp::Reduce { .. } | Exp::Scan { .. } | Exp::Hist { .. } => {
                self.parallel(&stm.exp, indent)
            }
            Exp::Scatter { .. } => self.parallel(&stm.exp, indent),
            Exp::Index { .. } | Exp::Slice { .. } | Exp::Update { .. } | Exp::Copy(_) | Exp::Iota { .. } => {
                self.array(stm)
            }
            Exp::Replicate { .. } | Exp::Rearrange { .. } | Exp::Reshape { .. } | Exp::Concat { .. } => {
                self.array(stm)
            }
            Exp::Scratch { .. } | Exp::ArrayLit { .. } => self.array(stm),
            // Programs that are shown stop before that pass.
            Exp::Contract { .. } => Err("a contraction".to_owned()),
        }
    }

    fn looped(&mut self, stm: &Stm, indent: usize) -> Shown<Piece> {
        let Exp::Loop { params, form, body, .. } = &stm.exp else { return Err("not a loop".to_owned()) };
        let outside = self.fresh.clone();
        let writes = body.stms.iter().any(|s| bulk::writes(&s.exp));
        let mut inits = Vec::new();
        for (param, init) in params {
            let owned = init.as_var().is_none_or(|v| self.fresh.contains(&v));
            let copied = writes && param.ty.is_array() && !owned;
            let init = self.atom(*init);
            inits.push(if copied { format!("copy {}", init.within(ATOM)) } else { init.text });
            if param.ty.is_array() && (writes || owned) {
                self.fresh.insert(param.var);
            }
        }
        let names: Vec<String> = params.iter().map(|(p, _)| self.name(p.var)).collect();
        let turns = match form {
            LoopForm::For { var, bound, .. } => {
                let bound = self.atom(*bound).within(1);
                format!("for {} < {bound}", self.name(*var))
            }
            LoopForm::While { cond } => {
                format!("while {}", Piece::new(self.body(cond, indent + 2)?, LOOSE).within(1))
            }
        };
        let inside = self.body(body, indent + 1)?;
        self.fresh = outside;
        let line = newline(indent + 1);
        Ok(Piece::new(format!("loop {} = {} {turns} do{line}{inside}", tuple(&names), tuple(&inits)), LOOSE))
    }

    /// Keeps track of which arrays share nothing.
    fn note_fresh(&mut self, stm: &Stm) {
        for (i, param) in stm.pat.iter().enumerate() {
            let fresh = match &stm.exp {
                Exp::Atom(Atom::Var(var)) => self.fresh.contains(var),
                Exp::If { then, otherwise, .. } => [then, otherwise].iter().all(|b| {
                    let inside: HashSet<VarId> = b.stms.iter().flat_map(|s| &s.pat).map(|p| p.var).collect();
                    b.result.get(i).and_then(|a| a.as_var()).is_some_and(|v| inside.contains(&v))
                }),
                Exp::Atom(_) | Exp::Detach(_) | Exp::Index { .. } | Exp::Slice { .. } => false,
                Exp::Rearrange { .. } | Exp::Reshape { .. } | Exp::Trace { .. } | Exp::Call { .. } => false,
                // The results of `unzip` are aliases of each other.
                Exp::Map { .. } | Exp::Scan { .. } => stm.pat.len() == 1,
                Exp::Loop { body, .. } => {
                    let outside = free_vars_body(body);
                    let result = body.result.get(i).and_then(|a| a.as_var());
                    result.is_some_and(|v| !outside.contains(&v))
                        || body.stms.iter().any(|s| bulk::writes(&s.exp))
                }
                _ => true,
            };
            if fresh && param.ty.is_array() {
                self.fresh.insert(param.var);
            }
        }
    }
}

pub(crate) fn newline(indent: usize) -> String {
    format!("\n{}", "  ".repeat(indent))
}

/// `x` or `(x, y)`
pub(crate) fn tuple(parts: &[String]) -> String {
    match parts {
        [part] => part.clone(),
        _ => format!("({})", parts.join(", ")),
    }
}
