//! The simplifier's state: the Core built so far, and what is known about it.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Exp, Fun, Loc, MsgPart, Program, Stm, Vars};
use dagaz_core::prim::{BinOp, CmpOp, Prim, PrimType, UnOp};
use dagaz_core::types::{Atom, Param, Type, VarId as CoreVar};
use dagaz_syntax::{Diagnostic, Name, SourceMap, Span};
use dagaz_types::typed::{Def, Lambda, Program as TypedProgram};
use dagaz_types::types::{References, VarId};

use crate::Parameters;
use crate::effects::Effects;
use crate::free::{Free, free_in_def, free_in_lambda};
use crate::loc::Locs;
use crate::specialise::Specialisations;

pub(crate) type Res<T> = Result<T, Box<Diagnostic>>;

pub(crate) struct Simplifier<'a> {
    pub builder: Builder,
    pub sources: &'a SourceMap,
    /// Which types are references.
    pub references: References,
    /// The order in which types declare the constructors of a sum.
    pub constructor_orders: &'a HashMap<Vec<Name>, Vec<Name>>,
    pub parameters: &'a Parameters,
    pub locs: Locs<'a>,
    /// Where the code that is being built comes from.
    pub loc: Loc,
    pub span: Span,
    pub warnings: Vec<Diagnostic>,
    pub consts: Vec<Stm>,
    /// Variables bound by `consts`: in scope everywhere.
    pub globals: HashSet<CoreVar>,
    pub funs: Vec<Option<Fun>>,
    pub specialisations: Specialisations,
    /// What is known in each open scope of the builder.
    facts: Vec<Facts>,
    free_of_lambda: HashMap<*const Lambda, Rc<Free>>,
    free_of_def: HashMap<*const Def, Rc<Free>>,
    /// What the handlers that are running keep.
    pub effects: Effects,
    next_id: u64,
    /// Counts down, far from the ids of the program.
    next_size: u32,
}

#[derive(Default)]
struct Facts {
    /// Size arithmetic that was done already, so that equal sizes are equal atoms.
    values: HashMap<(BinOp, Operand, Operand), Atom>,
    /// Pairs of sizes that were asserted to be equal.
    equal: HashSet<(Operand, Operand)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Operand {
    Var(CoreVar),
    Const(i64),
}

impl Operand {
    fn new(atom: Atom) -> Option<Operand> {
        match atom {
            Atom::Var(v) => Some(Operand::Var(v)),
            Atom::Const(Prim::I64(value)) => Some(Operand::Const(value)),
            Atom::Const(_) => None,
        }
    }
}

impl<'a> Simplifier<'a> {
    pub fn new(
        sources: &'a SourceMap,
        program: &'a TypedProgram,
        parameters: &'a Parameters,
    ) -> Simplifier<'a> {
        Simplifier {
            builder: Builder::new(Vars::default()),
            sources,
            references: program.references,
            constructor_orders: &program.constructor_orders,
            parameters,
            locs: Locs::new(sources),
            loc: Loc::NONE,
            span: Span::NONE,
            warnings: Vec::new(),
            consts: Vec::new(),
            globals: HashSet::new(),
            funs: Vec::new(),
            specialisations: Specialisations::default(),
            facts: vec![Facts::default()],
            free_of_lambda: HashMap::new(),
            free_of_def: HashMap::new(),
            effects: Effects::default(),
            next_id: 0,
            next_size: u32::MAX,
        }
    }

    pub fn finish(self) -> Program {
        let (vars, _) = self.builder.finish();
        Program {
            consts: self.consts,
            funs: self.funs.into_iter().flatten().collect(),
            entries: Vec::new(),
            vars,
            locs: self.locs.table,
        }
    }

    pub fn fresh_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    pub fn fresh_size(&mut self) -> VarId {
        self.next_size -= 1;
        VarId(self.next_size)
    }

    pub fn free_of_lambda(&mut self, lambda: &Rc<Lambda>) -> Rc<Free> {
        let free = self.free_of_lambda.entry(Rc::as_ptr(lambda));
        free.or_insert_with(|| Rc::new(free_in_lambda(lambda))).clone()
    }

    pub fn free_of_def(&mut self, def: &Rc<Def>) -> Rc<Free> {
        self.free_of_def.entry(Rc::as_ptr(def)).or_insert_with(|| Rc::new(free_in_def(def))).clone()
    }

    /// Something that a checked program never does.
    pub fn bug<T>(&self, message: impl std::fmt::Display) -> Res<T> {
        let message = format!("internal error in the simplifier: {message}");
        Err(Box::new(Diagnostic::error("internal-error", self.span, message)))
    }

    /// A mistake of the user's, shown where the user wrote it: at the outermost of the inlined calls.
    pub fn misuse<T>(&self, code: &'static str, message: impl Into<String>) -> Res<T> {
        let span = self.locs.outermost(self.loc).unwrap_or(self.span);
        Err(Box::new(Diagnostic::error(code, span, message)))
    }

    /// Tells the user of something at a place, once, however often the place is inlined.
    pub fn warn(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        let warning = Diagnostic::warning(code, span, message);
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    pub fn unsupported<T>(&self, message: impl Into<String>) -> Res<T> {
        Err(Box::new(Diagnostic::error("not-yet", self.span, message)))
    }
}

/// Scopes.
impl Simplifier<'_> {
    /// What `build` adds to a new scope inside the current one.
    pub fn scope<T>(&mut self, build: impl FnOnce(&mut Self) -> Res<T>) -> Res<(Vec<Stm>, T)> {
        self.builder.push_scope();
        self.facts.push(Facts::default());
        let result = build(self);
        self.facts.pop();
        let stms = self.builder.pop_scope();
        Ok((stms, result?))
    }

    pub fn body(&mut self, build: impl FnOnce(&mut Self) -> Res<Vec<Atom>>) -> Res<Body> {
        let (stms, result) = self.scope(build)?;
        Ok(Body { stms, result })
    }

    /// More statements at the end of a scope that was closed.
    pub fn extend_scope<T>(
        &mut self,
        stms: &mut Vec<Stm>,
        build: impl FnOnce(&mut Self) -> Res<T>,
    ) -> Res<T> {
        let (more, result) = self.scope(build)?;
        stms.extend(more);
        Ok(result)
    }

    /// What `build` adds to a scope that sees only global variables.
    pub fn separate_scope<T>(&mut self, build: impl FnOnce(&mut Self) -> Res<T>) -> Res<(Vec<Stm>, T)> {
        let vars = std::mem::take(&mut self.builder.vars);
        let outer = std::mem::replace(&mut self.builder, Builder::new(vars));
        let facts = std::mem::replace(&mut self.facts, vec![Facts::default()]);
        let (loc, span, inlined) = (self.loc, self.span, self.locs.leave_inlined());
        let result = build(self);
        (self.loc, self.span) = (loc, span);
        self.locs.enter_inlined(inlined);
        self.facts = facts;
        let (vars, stms) = std::mem::replace(&mut self.builder, outer).finish();
        self.builder.vars = vars;
        Ok((stms, result?))
    }

    /// All variables made from now on are at or above this number.
    pub fn mark(&self) -> u32 {
        self.builder.vars.hints.len() as u32
    }

    /// Whether an atom already had a meaning when `mark` was taken.
    pub fn is_outside(&self, atom: Atom, mark: u32) -> bool {
        match atom {
            Atom::Const(_) => true,
            Atom::Var(v) => v.0 < mark || self.globals.contains(&v),
        }
    }

    pub fn at(&mut self, span: Span) {
        if !span.is_none() {
            self.span = span;
            self.loc = self.locs.intern(span);
        }
    }
}

/// Statements.
impl Simplifier<'_> {
    pub fn emit(&mut self, hint: &str, ty: Type, exp: Exp) -> Atom {
        self.builder.let_exp(hint, ty, exp, self.loc)
    }

    pub fn emit_var(&mut self, hint: &str, ty: Type, exp: Exp) -> CoreVar {
        self.builder.let_var(hint, ty, exp, self.loc)
    }

    pub fn emit_all(&mut self, hint: &str, types: &[Type], exp: Exp) -> Vec<Atom> {
        self.builder.let_exps(hint, types, exp, self.loc).into_iter().map(Atom::Var).collect()
    }

    pub fn push(&mut self, pat: Vec<Param>, exp: Exp) {
        self.builder.push(Stm { pat, exp, loc: self.loc });
    }

    pub fn param(&mut self, hint: &str, ty: Type) -> Param {
        self.builder.fresh_param(hint, ty)
    }

    pub fn params(&mut self, hint: &str, types: &[Type]) -> Vec<Param> {
        types.iter().map(|ty| self.builder.fresh_param(hint, ty.clone())).collect()
    }

    pub fn assert(&mut self, cond: Atom, message: Vec<MsgPart>) {
        if cond != Atom::bool(true) {
            self.push(Vec::new(), Exp::Assert { cond, message });
        }
    }

    /// Stops the program at run time unless the sizes are equal.
    pub fn assert_equal(&mut self, a: Atom, b: Atom, message: impl FnOnce() -> Vec<MsgPart>) {
        if a == b {
            return;
        }
        let key = Operand::new(a).zip(Operand::new(b));
        if key.is_some_and(|key| self.facts.iter().any(|f| f.equal.contains(&key))) {
            return;
        }
        let cond = self.cmp(CmpOp::Eq, PrimType::I64, a, b);
        self.assert(cond, message());
        if let (Some(key), Some(facts)) = (key, self.facts.last_mut()) {
            facts.equal.insert(key);
        }
    }

    pub fn unop(&mut self, op: UnOp, ty: PrimType, x: Atom) -> Atom {
        self.builder.unop(op, ty, x, self.loc)
    }

    pub fn binop(&mut self, op: BinOp, ty: PrimType, x: Atom, y: Atom) -> Atom {
        let key = match (ty, Operand::new(x), Operand::new(y)) {
            (PrimType::I64, Some(x), Some(y)) => (op, x, y),
            _ => return self.builder.binop(op, ty, x, y, self.loc),
        };
        if let Some(known) = self.facts.iter().rev().find_map(|f| f.values.get(&key)) {
            return *known;
        }
        let result = self.builder.binop(op, ty, x, y, self.loc);
        if let Some(facts) = self.facts.last_mut() {
            facts.values.insert(key, result);
        }
        result
    }

    pub fn cmp(&mut self, op: CmpOp, ty: PrimType, x: Atom, y: Atom) -> Atom {
        self.builder.cmp(op, ty, x, y, self.loc)
    }

    pub fn convert(&mut self, from: PrimType, to: PrimType, x: Atom) -> Atom {
        self.builder.convert(from, to, x, self.loc)
    }

    pub fn add(&mut self, x: Atom, y: Atom) -> Atom {
        self.binop(BinOp::Add, PrimType::I64, x, y)
    }

    pub fn sub(&mut self, x: Atom, y: Atom) -> Atom {
        self.binop(BinOp::Sub, PrimType::I64, x, y)
    }

    pub fn mul(&mut self, x: Atom, y: Atom) -> Atom {
        self.binop(BinOp::Mul, PrimType::I64, x, y)
    }

    pub fn and(&mut self, x: Atom, y: Atom) -> Atom {
        self.builder.and(x, y, self.loc)
    }

    pub fn or(&mut self, x: Atom, y: Atom) -> Atom {
        self.builder.or(x, y, self.loc)
    }

    pub fn not(&mut self, x: Atom) -> Atom {
        self.builder.not(x, self.loc)
    }

    /// A scalar chosen by a condition.
    pub fn select(&mut self, cond: Atom, ty: PrimType, then: Atom, otherwise: Atom) -> Atom {
        match cond {
            Atom::Const(Prim::Bool(true)) => then,
            Atom::Const(Prim::Bool(false)) => otherwise,
            _ if then == otherwise => then,
            _ => {
                let branch = |result| Body { stms: Vec::new(), result: vec![result] };
                let exp = Exp::If { cond, then: branch(then), otherwise: branch(otherwise) };
                self.emit("chosen", Type::Prim(ty), exp)
            }
        }
    }
}
