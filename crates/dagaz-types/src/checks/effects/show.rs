//! Rows of effects as text.
//!
//! ```text
//! def add (s: state i32) (x: i32) : () = s := get s + x          add : state i32 -> i32 -> {State s} ()
//! ```

use std::collections::{BTreeSet, HashMap};

use super::graph::{Constraint, Item, Solution, Source};
use super::shape::{Node, Part, Shape};
use crate::typed::{Def, PatKind};
use crate::types::{RetType, Type};

/// The rows of all arrows in the type of a definition, in the order they are written; nothing where there is nothing to
/// say. A definition that has nothing to do with references says nothing of the effects of its arguments: whatever they
/// are, it has them, too.
pub(super) fn rows(def: &Def, shape: &Shape, solution: &Solution, constraints: &[Constraint]) -> Vec<String> {
    let mut regions: HashMap<Node, String> = HashMap::new();
    let mut unknown: Vec<Node> = Vec::new();
    name_parameters(def, shape, &mut regions);
    let matters = |c: &Constraint| matches!(c, Constraint::Effect { .. } | Constraint::Handler(_));
    if !constraints.iter().any(matters) {
        return Vec::new();
    }
    shape.each_node(false, &mut |node, part, incoming| match (part, incoming) {
        (Part::Region, true) => {
            let count = regions.len();
            regions.entry(node).or_insert_with(|| format!("r{count}"));
        }
        (Part::Row, false) => {
            let items = solution.items(node).filter_map(|(item, _)| match item {
                Item::Unknown(source) => Some(source),
                Item::Reference(_) | Item::State(_) | Item::Accum(_) => None,
            });
            unknown.extend(items);
        }
        (Part::Region, false) | (Part::Row, true) => {}
    });
    unknown.sort_unstable();
    unknown.dedup();
    let types: Vec<Type> = def.params.iter().map(|p| p.ty.clone()).collect();
    let whole = types
        .into_iter()
        .rev()
        .fold(def.ret.ty.clone(), |to, from| Type::arrow(None, from, RetType::plain(to)));
    let names = Names { regions, unknown, solution };
    let mut out = Vec::new();
    names.arrows(&whole, shape, &mut out);
    out
}

fn name_parameters(def: &Def, shape: &Shape, regions: &mut HashMap<Node, String>) {
    let mut shape = shape;
    for pat in &def.params {
        let Shape::Fun(fun) = shape else { return };
        if let (Shape::Ref(_, region), PatKind::Var(_, name)) = (&fun.param, &pat.kind) {
            regions.insert(*region, name.to_string());
        }
        shape = &fun.result;
    }
}

struct Names<'s> {
    regions: HashMap<Node, String>,
    /// Rows of arguments that occur in other rows.
    unknown: Vec<Node>,
    solution: &'s Solution,
}

impl Names<'_> {
    fn arrows(&self, ty: &Type, shape: &Shape, out: &mut Vec<String>) {
        match (ty, shape) {
            (Type::Arrow(arrow), Shape::Fun(fun)) => {
                self.arrows(&arrow.from, &fun.param, out);
                out.push(self.row(fun.row));
                self.arrows(&arrow.to.ty, &fun.result, out);
            }
            (Type::Array { elem, .. }, Shape::Array(shape)) => self.arrows(elem, shape, out),
            (Type::Record(fields), Shape::Record(shapes)) => {
                fields.iter().zip(shapes.iter()).for_each(|((_, t), (_, s))| self.arrows(t, s, out));
            }
            (Type::Sum(constrs), Shape::Sum(shapes)) => {
                for ((_, ts), (_, ss)) in constrs.iter().zip(shapes.iter()) {
                    ts.iter().zip(ss).for_each(|(t, s)| self.arrows(t, s, out));
                }
            }
            (
                Type::Prim(_)
                | Type::Meta(_)
                | Type::Arrow(_)
                | Type::Array { .. }
                | Type::Record(_)
                | Type::Sum(_)
                | Type::Named { .. },
                _,
            ) => {}
        }
    }

    fn row(&self, node: Node) -> String {
        let region = |source: Source| match source {
            Source::Outside(node) => self.regions.get(&node).cloned(),
            // What a handler has dealt with is of no interest outside of it.
            Source::Handler(_) => None,
        };
        let mut parts = BTreeSet::new();
        for (item, _) in self.solution.items(node) {
            let part = match item {
                Item::State(source) => region(source).map(|r| format!("State {r}")),
                Item::Accum(source) => region(source).map(|r| format!("Accum {r}")),
                Item::Unknown(source) => self.unknown_name(source),
                Item::Reference(_) => None,
            };
            parts.extend(part);
        }
        let parts: Vec<String> = parts.into_iter().collect();
        if parts.is_empty() { String::new() } else { format!("{{{}}} ", parts.join(", ")) }
    }

    fn unknown_name(&self, node: Node) -> Option<String> {
        let position = self.unknown.iter().position(|n| *n == node)?;
        Some(if position == 0 { "e".to_owned() } else { format!("e{position}") })
    }
}

/// A type as text, with rows behind its arrows.
pub(crate) fn with_rows(text: &str, rows: &[String]) -> String {
    let mut parts = text.split(" -> ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for (i, part) in parts.enumerate() {
        out.push_str(" -> ");
        out.push_str(rows.get(i).map_or("", String::as_str));
        out.push_str(part);
    }
    out
}
