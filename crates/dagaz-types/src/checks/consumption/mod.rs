//! Consumption: what has been consumed is not used again, and only what may be is consumed.
//!
//! ```text
//! def f (xs: *[]i32) = let ys = xs with [0] = 1 in xs[0]
//!                                                  ^^ Using variable "xs", but this was consumed
//! ```
//!
//! The pass walks an expression in the order of its evaluation and computes what its value may alias (see
//! [`aliases`]). Consuming a value marks every variable that it aliases as consumed, and mentioning a variable checks
//! that nothing that it aliases is. What may be consumed depends on where we are: in a function or loop body, only
//! what was bound in it.
//!
//! The pass also finds out which parts of the result of a function without a declared result type are free of
//! aliases, so that callers may consume them.

mod aliases;
mod application;
mod expression;
mod function;
mod loops;

use std::collections::{HashMap, HashSet};

use dagaz_syntax::{Diagnostic, Name, Span};

use self::aliases::{AliasSet, Aliases, Path, Paths};
use super::Declared;
use crate::context::Context;
use crate::typed::{Def, Pat, PatKind};
use crate::types::{RetType, Type, VarId};

/// Check a definition. Gives the type of its result, with what could be inferred about uniqueness.
pub(super) fn check(cx: &Context, def: &Def, declared: &Declared) -> (RetType, Vec<Diagnostic>) {
    let mut checker = Checker {
        cx,
        declared,
        paths: Paths::default(),
        scope: HashMap::new(),
        left: HashSet::new(),
        depth: 0,
        consumed: HashMap::new(),
        trail: Vec::new(),
        results: Vec::new(),
        frames: Vec::new(),
        errors: Vec::new(),
    };
    let ret = checker.definition(def);
    (ret, checker.errors)
}

/// A variable in scope.
struct Entry {
    aliases: Aliases,
    consumable: bool,
    /// How many functions and loop bodies deep it was bound.
    depth: u32,
}

/// Where a value without a name came from.
enum Origin {
    Application(Option<Name>),
    Loop,
}

struct Checker<'a> {
    cx: &'a Context,
    declared: &'a Declared,
    paths: Paths,
    scope: HashMap<VarId, Entry>,
    /// Variables that went out of scope. They still stand for what they shared, but can be consumed.
    left: HashSet<VarId>,
    /// How many functions and loop bodies deep we are. What was bound less deep cannot be consumed here.
    depth: u32,
    consumed: HashMap<VarId, Span>,
    /// The keys of `consumed`, in order.
    trail: Vec<VarId>,
    /// Results of applications and loops count as variables, numbered from above, because parts of them may
    /// alias each other.
    results: Vec<(Origin, Span)>,
    /// For each function or loop body that we are in: the variables from outside it that it mentions.
    frames: Vec<Frame>,
    errors: Vec<Diagnostic>,
}

struct Frame {
    depth: u32,
    free: Vec<VarId>,
}

impl Checker<'_> {
    fn error(&mut self, d: Diagnostic) {
        // One mistake often shows in several aliases.
        if !self.errors.iter().any(|e| e.code == d.code && e.span() == d.span()) {
            self.errors.push(d);
        }
    }

    /// A stand-in for the result of an application or a loop.
    fn result(&mut self, origin: Origin, span: Span) -> AliasSet {
        self.results.push((origin, span));
        AliasSet::one(VarId(u32::MAX - (self.results.len() as u32 - 1)), Path::ROOT)
    }

    fn result_origin(&self, var: VarId) -> Option<&(Origin, Span)> {
        self.results.get((u32::MAX - var.0) as usize)
    }

    fn describe(&self, var: VarId) -> String {
        match self.result_origin(var) {
            Some((Origin::Application(Some(name)), _)) => format!("result of applying \"{name}\""),
            Some((Origin::Application(None), _)) => "result of an application".to_owned(),
            Some((Origin::Loop, _)) => "result of a loop".to_owned(),
            None => format!("variable \"{}\"", self.cx.var_name(var)),
        }
    }

    /// Whether a variable is one that the program can still mention here: in scope, or global.
    fn is_bound(&self, var: VarId) -> bool {
        self.result_origin(var).is_none() && !self.left.contains(&var)
    }

    fn is_global(&self, var: VarId) -> bool {
        self.is_bound(var) && !self.scope.contains_key(&var)
    }

    fn bind(&mut self, var: VarId, aliases: Aliases, consumable: bool) {
        let depth = self.depth;
        let aliases = aliases.bound_to(var, Path::ROOT, &mut self.paths);
        self.left.remove(&var);
        self.scope.insert(var, Entry { aliases, consumable, depth });
    }

    fn leave(&mut self, vars: &[VarId]) {
        for var in vars {
            self.scope.remove(var);
            self.left.insert(*var);
        }
    }

    /// Bind the variables of a pattern to the parts of a value.
    fn bind_pat(&mut self, pat: &Pat, value: &Aliases, consumable: bool, bound: &mut Vec<VarId>) {
        match &pat.kind {
            PatKind::Var(var, _) => {
                self.bind(*var, value.clone(), consumable);
                bound.push(*var);
            }
            PatKind::Wildcard | PatKind::Int(_) | PatKind::Float(_) | PatKind::Bool(_) => {}
            PatKind::Record(fields) => {
                for (f, p) in fields {
                    self.bind_pat(p, &value.field(*f, &p.ty), consumable, bound);
                }
            }
            PatKind::Constr(c, args) => {
                let types: Vec<&Type> = args.iter().map(|p| &p.ty).collect();
                for (p, part) in args.iter().zip(value.payload(*c, &types)) {
                    self.bind_pat(p, &part, consumable, bound);
                }
            }
        }
    }

    /// Mention a variable.
    fn observe(&mut self, var: VarId, span: Span) -> Option<Aliases> {
        let entry = self.scope.get(&var)?;
        let aliases = entry.aliases.clone();
        let depth = entry.depth;
        if let Some(frame) = self.frames.last_mut()
            && depth < frame.depth
        {
            frame.free.push(var);
        }
        self.check_unconsumed(&aliases.all(), span);
        Some(aliases)
    }

    fn check_unconsumed(&mut self, aliases: &AliasSet, span: Span) {
        if self.consumed.is_empty() {
            return;
        }
        for alias in aliases.iter() {
            let Some(at) = self.consumed.get(&alias.var).copied() else { continue };
            let what = self.describe(alias.var);
            self.error(
                Diagnostic::error("use-after-consume", span, format!("Using {what}, but this was consumed"))
                    .at("used here, possibly through an alias")
                    .label(at, "consumed here"),
            );
        }
    }

    fn mark_consumed(&mut self, var: VarId, span: Span) {
        if self.consumed.insert(var, span).is_none() {
            self.trail.push(var);
        }
    }

    fn consume(&mut self, aliases: &AliasSet, span: Span) {
        for alias in aliases.iter() {
            let consumable = match self.scope.get(&alias.var) {
                Some(entry) => entry.consumable && entry.depth >= self.depth,
                None => !self.is_bound(alias.var),
            };
            if !consumable {
                let what = self.describe(alias.var);
                self.error(
                    Diagnostic::error(
                        "not-consumable",
                        span,
                        format!("Consuming {what}, which is not consumable"),
                    )
                    .help("a parameter is consumable if its type is unique, as in \"*[]t\"; inside a function or loop, nothing from outside is")
                    .help("\"copy\" makes a value that can be consumed"),
                );
            }
        }
        self.check_unconsumed(aliases, span);
        for alias in aliases.iter() {
            self.mark_consumed(alias.var, span);
        }
    }

    /// Do something, then forget what it consumed; gives that.
    fn contain<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> (T, Vec<(VarId, Span)>) {
        let before = self.trail.len();
        let result = act(self);
        let consumed =
            self.trail.split_off(before).into_iter().filter_map(|v| self.consumed.remove_entry(&v)).collect();
        (result, consumed)
    }

    fn mark_all_consumed(&mut self, vars: &[(VarId, Span)]) {
        for (var, span) in vars {
            self.mark_consumed(*var, *span);
        }
    }

    /// Check the body of a function or loop: nothing from outside can be consumed in it. Gives what `act` gives, and the
    /// variables from outside that were mentioned.
    fn inside<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> (T, Vec<VarId>) {
        self.depth += 1;
        self.frames.push(Frame { depth: self.depth, free: Vec::new() });
        let result = act(self);
        let mut free = self.frames.pop().map_or(Vec::new(), |f| f.free);
        self.depth -= 1;
        free.sort_unstable();
        free.dedup();
        if let Some(outer) = self.frames.last_mut() {
            let below = |v: &&VarId| self.scope.get(v).is_some_and(|e| e.depth < outer.depth);
            outer.free.extend(free.iter().filter(below).copied());
        }
        (result, free)
    }

    /// What the given variables alias together.
    fn aliases_of(&self, vars: &[VarId]) -> AliasSet {
        vars.iter()
            .filter_map(|v| self.scope.get(v))
            .fold(AliasSet::default(), |set, e| set.union(&e.aliases.all()))
    }
}
