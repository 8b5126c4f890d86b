//! What flows where: constraints between rows and regions, and their solution.
//!
//! A constraint is an inclusion, so that a function without effects may stand wherever a function is wanted, and is not
//! taken for what its neighbours are.

use std::collections::{BTreeMap, HashMap};

use dagaz_syntax::Span;

use super::shape::{Node, Part, Shape};
use crate::types::RefKind;

/// A place in the user's program. What is in the prelude has none of its own: it is where the prelude is used.
pub(crate) type Place = Option<Span>;

#[derive(Clone, Debug)]
pub(crate) enum Constraint {
    /// All that is in one row or region is in the other.
    Flow {
        from: Node,
        to: Node,
    },
    /// Who runs the row reads or changes what the region stands for.
    Effect {
        kind: RefKind,
        region: Node,
        row: Node,
        at: Place,
    },
    Handler(Handler),
    /// What may be in a row.
    Require {
        row: Node,
        what: Requirement,
        at: Place,
    },
}

/// A handler puts a reference of its own into the region, and hides from the row outside what is done to it by the row of
/// its body. The result of the body must have nothing to do with it.
#[derive(Clone, Debug)]
pub(crate) struct Handler {
    pub handler: Node,
    pub region: Node,
    pub body: Node,
    pub row: Node,
    pub result: Shape,
    pub at: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Requirement {
    /// Runs in parallel, so there is no state.
    Parallel,
    /// No effects at all, because of what it is.
    Pure(&'static str),
}

/// Where a reference comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Source {
    Handler(Node),
    /// From outside of the definition.
    Outside(Node),
}

/// What can be in a row or a region.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Item {
    Reference(Source),
    State(Source),
    Accum(Source),
    /// Whatever a function from outside does.
    Unknown(Node),
}

impl Item {
    pub fn effect(kind: RefKind, source: Source) -> Item {
        match kind {
            RefKind::State => Item::State(source),
            RefKind::Accum => Item::Accum(source),
        }
    }

    /// The handler that an effect is for.
    pub fn handler(self) -> Option<Node> {
        match self {
            Item::Reference(Source::Handler(h))
            | Item::State(Source::Handler(h))
            | Item::Accum(Source::Handler(h)) => Some(h),
            Item::Reference(Source::Outside(_))
            | Item::State(Source::Outside(_))
            | Item::Accum(Source::Outside(_))
            | Item::Unknown(_) => None,
        }
    }

    pub fn is_effect(self) -> bool {
        matches!(self, Item::State(_) | Item::Accum(_))
    }
}

impl Constraint {
    pub fn nodes(&self) -> Vec<Node> {
        match self {
            Constraint::Flow { from, to } => vec![*from, *to],
            Constraint::Effect { region, row, .. } => vec![*region, *row],
            Constraint::Require { row, .. } => vec![*row],
            Constraint::Handler(h) => {
                let mut nodes = vec![h.handler, h.region, h.body, h.row];
                h.result.each_node(false, &mut |node, _, _| nodes.push(node));
                nodes
            }
        }
    }

    /// The same with other nodes and shapes for type parameters, used at a place.
    pub fn rename(
        &self,
        node: &dyn Fn(Node) -> Node,
        params: &HashMap<crate::types::TypeId, Shape>,
        place: Place,
    ) -> Constraint {
        match self {
            Constraint::Flow { from, to } => Constraint::Flow { from: node(*from), to: node(*to) },
            Constraint::Effect { kind, region, row, at } => {
                Constraint::Effect { kind: *kind, region: node(*region), row: node(*row), at: at.or(place) }
            }
            Constraint::Require { row, what, at } => {
                Constraint::Require { row: node(*row), what: *what, at: at.or(place) }
            }
            Constraint::Handler(h) => Constraint::Handler(Handler {
                handler: node(h.handler),
                region: node(h.region),
                body: node(h.body),
                row: node(h.row),
                result: h.result.rename(node, params),
                at: h.at.or(place),
            }),
        }
    }
}

#[derive(Default)]
pub(crate) struct Graph {
    next: u32,
    pub constraints: Vec<Constraint>,
}

impl Graph {
    pub fn fresh(&mut self) -> Node {
        self.next += 1;
        Node(self.next - 1)
    }

    pub fn flow(&mut self, from: Node, to: Node) {
        if from != to {
            self.constraints.push(Constraint::Flow { from, to });
        }
    }

    /// A value of one shape is used as one of the other. Shapes that differ are those of types that hide something.
    pub fn flow_shape(&mut self, from: &Shape, to: &Shape) {
        match (from, to) {
            (Shape::Fun(f), Shape::Fun(g)) => {
                self.flow_shape(&g.param, &f.param);
                self.flow(f.row, g.row);
                self.flow_shape(&f.result, &g.result);
            }
            (Shape::Ref(_, x), Shape::Ref(_, y)) => self.flow(*x, *y),
            (Shape::Array(x), Shape::Array(y)) => self.flow_shape(x, y),
            (Shape::Record(xs), Shape::Record(ys)) => {
                xs.iter().zip(ys.iter()).for_each(|((_, x), (_, y))| self.flow_shape(x, y));
            }
            (Shape::Sum(xs), Shape::Sum(ys)) => {
                for ((_, xs), (_, ys)) in xs.iter().zip(ys.iter()) {
                    xs.iter().zip(ys).for_each(|(x, y)| self.flow_shape(x, y));
                }
            }
            (
                Shape::Data
                | Shape::Array(_)
                | Shape::Record(_)
                | Shape::Sum(_)
                | Shape::Fun(_)
                | Shape::Ref(..)
                | Shape::Param(_),
                _,
            ) => {}
        }
    }

    /// How many nodes there are.
    pub fn mark(&self) -> u32 {
        self.next
    }
}

/// What is in every row and region, with the place where it was first seen.
pub(crate) struct Solution {
    items: HashMap<Node, BTreeMap<Item, Place>>,
}

impl Solution {
    /// Solves the constraints of a definition of this shape.
    pub fn of(constraints: &[Constraint], shape: &Shape) -> Solution {
        let mut flows: HashMap<Node, Vec<(Node, Option<Node>)>> = HashMap::new();
        let mut effects: HashMap<Node, Vec<(RefKind, Node, Place)>> = HashMap::new();
        let mut work: Vec<(Node, Item, Place)> = Vec::new();
        for constraint in constraints {
            match constraint {
                Constraint::Flow { from, to } => flows.entry(*from).or_default().push((*to, None)),
                Constraint::Effect { kind, region, row, at } => {
                    effects.entry(*region).or_default().push((*kind, *row, *at));
                }
                Constraint::Handler(h) => {
                    flows.entry(h.body).or_default().push((h.row, Some(h.handler)));
                    work.push((h.region, Item::Reference(Source::Handler(h.handler)), h.at));
                }
                Constraint::Require { .. } => {}
            }
        }
        shape.each_node(false, &mut |node, part, incoming| {
            if incoming {
                let item = match part {
                    Part::Row => Item::Unknown(node),
                    Part::Region => Item::Reference(Source::Outside(node)),
                };
                work.push((node, item, None));
            }
        });
        let mut items: HashMap<Node, BTreeMap<Item, Place>> = HashMap::new();
        while let Some((node, item, at)) = work.pop() {
            let known = items.entry(node).or_default();
            if known.contains_key(&item) {
                continue;
            }
            known.insert(item, at);
            for (to, hidden) in flows.get(&node).into_iter().flatten() {
                if !(hidden.is_some() && item.handler() == *hidden) {
                    work.push((*to, item, at));
                }
            }
            if let Item::Reference(source) = item {
                for (kind, row, at) in effects.get(&node).into_iter().flatten() {
                    work.push((*row, Item::effect(*kind, source), *at));
                }
            }
        }
        Solution { items }
    }

    pub fn items(&self, node: Node) -> impl Iterator<Item = (Item, Place)> {
        self.items.get(&node).into_iter().flatten().map(|(item, at)| (*item, *at))
    }
}

/// The constraints that have something to do with the shape.
pub(crate) fn relevant(constraints: Vec<Constraint>, shape: &Shape) -> Vec<Constraint> {
    let mut wanted = std::collections::HashSet::new();
    shape.each_node(false, &mut |node, _, _| {
        wanted.insert(node);
    });
    if wanted.is_empty() {
        return Vec::new();
    }
    loop {
        let before = wanted.len();
        for constraint in &constraints {
            let nodes = constraint.nodes();
            if nodes.iter().any(|node| wanted.contains(node)) {
                wanted.extend(nodes);
            }
        }
        if wanted.len() == before {
            break;
        }
    }
    constraints.into_iter().filter(|c| c.nodes().iter().any(|node| wanted.contains(node))).collect()
}
