//! Effects: what running a function does to the references that it can see.
//!
//! ```text
//! def count [n] (xs: [n]i32) = run_state 0 (\s -> map (\x -> s := get s + x) xs)
//!                                                              ^^ changes state, but many elements are taken at once
//! ```
//!
//! Every function type gets a *row* of effects and every reference a *region*, inferred for the definition as a whole
//! ([`shape`]). The walk over the typed tree ([`expression`]) collects what flows where, the operations of the compiler
//! say which rows must be without state or without effects ([`intrinsic`]), and a solution of all that shows who breaks a
//! rule ([`graph`]). What concerns the parameters of a definition is kept for those who use it ([`EffectScheme`]): so
//! definitions are polymorphic in effects, and a function that hands its argument to `map` demands of it what `map` does.

mod expression;
mod graph;
mod intrinsic;
mod shape;
mod show;

pub(crate) use show::with_rows;

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use dagaz_syntax::{Diagnostic, Span};

use self::expression::Binding;
use self::graph::{Constraint, Graph, Handler, Item, Place, Requirement, Solution};
use self::shape::{Part, Shape};
use crate::context::Context;
use crate::typed::Def;
use crate::types::{TypeParam, VarId};

/// The effects of a definition, for those who use it.
#[derive(Debug)]
pub(crate) struct EffectScheme {
    type_params: Vec<TypeParam>,
    shape: Shape,
    constraints: Vec<Constraint>,
    /// The nodes that every use has of its own.
    nodes: Range<u32>,
}

/// What is known about the effects of a definition.
pub(super) struct Found {
    pub scheme: EffectScheme,
    /// The rows of the arrows in its type, in the order they are written.
    pub rows: Vec<String>,
    pub errors: Vec<Diagnostic>,
}

pub(super) fn check(cx: &Context, def: &Def) -> Found {
    let mut checker = Checker { cx, graph: Graph::default(), scope: HashMap::new() };
    let shape = checker.definition(def);
    let solution = Solution::of(&checker.graph.constraints, &shape);
    let errors = checker.errors(def, &solution);
    let rows = show::rows(def, &shape, &solution, &checker.graph.constraints);
    let nodes = 0..checker.graph.mark();
    let constraints = graph::relevant(checker.graph.constraints, &shape);
    let scheme = EffectScheme { type_params: def.type_params.clone(), shape, constraints, nodes };
    Found { scheme, rows, errors }
}

struct Checker<'a> {
    cx: &'a Context,
    graph: Graph,
    scope: HashMap<VarId, Binding>,
}

impl Checker<'_> {
    fn definition(&mut self, def: &Def) -> Shape {
        let params: Vec<Shape> = def.params.iter().map(|p| self.shape(&p.ty)).collect();
        let row = self.graph.fresh();
        let result = self.shape(&def.ret.ty);
        // A function that calls itself does so at one shape.
        let own = self.curried(params.clone(), row, result.clone());
        self.scope.insert(def.var, Binding::One(own.clone()));
        for (pat, shape) in def.params.iter().zip(&params) {
            self.bind(pat, shape);
        }
        let found = self.exp(&def.body, row);
        self.graph.flow_shape(&found, &result);
        own
    }

    fn errors(&self, def: &Def, solution: &Solution) -> Vec<Diagnostic> {
        let mut errors: Vec<Diagnostic> = Vec::new();
        for constraint in &self.graph.constraints {
            let found = match constraint {
                Constraint::Flow { .. } | Constraint::Effect { .. } => None,
                Constraint::Require { row, what, at } => {
                    let mut items = solution.items(*row);
                    match what {
                        Requirement::Parallel => items
                            .find(|(item, _)| matches!(item, Item::State(_)))
                            .map(|(_, place)| state_in_parallel(def.span, *at, place)),
                        Requirement::Pure(what) => items
                            .find(|(item, _)| item.is_effect())
                            .map(|(_, place)| effect_inside(what, def.span, *at, place)),
                    }
                }
                Constraint::Handler(handler) => escape(handler, def.span, solution),
            };
            if let Some(found) = found
                && !errors.iter().any(|e| e.code == found.code && e.span() == found.span())
            {
                errors.push(found);
            }
        }
        errors
    }
}

fn state_in_parallel(def: Span, required: Place, place: Place) -> Diagnostic {
    let message = "State is used in a function that is applied to many elements at once, in no order";
    let mut d = Diagnostic::error("state-in-parallel", place.unwrap_or(def), message)
        .at("reads or changes the state");
    if let Some(at) = required {
        d = d.label(at, "applied to many elements here");
    }
    d.help("write `for i -> …`, which takes the elements in order if there is state, or a loop; or use an accumulator")
}

fn effect_inside(what: &str, def: Span, required: Place, place: Place) -> Diagnostic {
    let message = format!("A reference from outside is used in {what}, which must have no effects");
    let mut d = Diagnostic::error("effect-inside", place.unwrap_or(def), message).at("uses the reference");
    if let Some(at) = required {
        d = d.label(at, format!("here, {what} is wanted"));
    }
    d.help("a handler inside of the function is fine: its effects are over when it ends")
}

/// Whether the result of a handler's body still refers to what the handler keeps.
fn escape(handler: &Handler, def: Span, solution: &Solution) -> Option<Diagnostic> {
    let mut escapes = false;
    handler.result.each_node(false, &mut |node, part, _| {
        let mut items = solution.items(node);
        escapes |= match part {
            Part::Row | Part::Region => items.any(|(item, _)| item.handler() == Some(handler.handler)),
        };
    });
    escapes.then(|| {
        let message = "The result still needs the reference that this handler makes, which is gone when the handler ends";
        Diagnostic::error("reference-escape", handler.at.unwrap_or(def), message)
            .help("give back what the reference refers to, as with `get`, and not the reference or a function that uses it")
    })
}

impl Context {
    /// Remember the effects of a definition.
    pub(super) fn note_effects(&mut self, var: VarId, scheme: EffectScheme, rows: Vec<String>) {
        self.effects.insert(var, Rc::new(scheme));
        if rows.iter().any(|row| !row.is_empty()) {
            self.effect_rows.insert(var, rows);
        }
    }
}
