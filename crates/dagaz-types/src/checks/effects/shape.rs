//! Shapes: what a type says about effects.
//!
//! Every arrow of a type has a *row*, what running the function does, and every reference a *region*, where it may come
//! from. Both are nodes of a [`super::graph::Graph`].

use std::collections::HashMap;
use std::rc::Rc;

use dagaz_syntax::Name;

use crate::types::{RefKind, TypeId};

/// A row, a region or a handler.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Node(pub u32);

#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// Neither functions nor references.
    Data,
    Array(Rc<Shape>),
    Record(Rc<[(Name, Shape)]>),
    Sum(Rc<[(Name, Vec<Shape>)]>),
    Fun(Rc<FunShape>),
    Ref(RefKind, Node),
    /// A type parameter.
    Param(TypeId),
}

#[derive(Clone, Debug)]
pub(crate) struct FunShape {
    pub param: Shape,
    pub row: Node,
    pub result: Shape,
}

impl Shape {
    pub fn fun(param: Shape, row: Node, result: Shape) -> Shape {
        Shape::Fun(Rc::new(FunShape { param, row, result }))
    }

    pub fn is_data(&self) -> bool {
        matches!(self, Shape::Data)
    }

    pub fn array(elem: Shape) -> Shape {
        if elem.is_data() { Shape::Data } else { Shape::Array(Rc::new(elem)) }
    }

    pub fn record(fields: Vec<(Name, Shape)>) -> Shape {
        if fields.iter().all(|(_, s)| s.is_data()) { Shape::Data } else { Shape::Record(fields.into()) }
    }

    pub fn sum(constrs: Vec<(Name, Vec<Shape>)>) -> Shape {
        let data = constrs.iter().all(|(_, payload)| payload.iter().all(Shape::is_data));
        if data { Shape::Data } else { Shape::Sum(constrs.into()) }
    }

    pub fn field(&self, field: Name) -> Option<Shape> {
        match self {
            Shape::Record(fields) => fields.iter().find(|(f, _)| *f == field).map(|(_, s)| s.clone()),
            // Part of what a reference refers to is the business of the same handler.
            Shape::Ref(..) => Some(self.clone()),
            Shape::Data => Some(Shape::Data),
            Shape::Array(_) | Shape::Sum(_) | Shape::Fun(_) | Shape::Param(_) => None,
        }
    }

    /// After so many indices.
    pub fn element(&self, indices: usize) -> Shape {
        match self {
            Shape::Array(elem) if indices > 0 => elem.element(indices - 1),
            Shape::Data
            | Shape::Array(_)
            | Shape::Record(_)
            | Shape::Sum(_)
            | Shape::Fun(_)
            | Shape::Ref(..)
            | Shape::Param(_) => self.clone(),
        }
    }

    /// The same with other nodes, and with shapes for type parameters.
    pub fn rename(&self, node: &dyn Fn(Node) -> Node, params: &HashMap<TypeId, Shape>) -> Shape {
        match self {
            Shape::Data => Shape::Data,
            Shape::Array(elem) => Shape::array(elem.rename(node, params)),
            Shape::Record(fields) => {
                Shape::record(fields.iter().map(|(f, s)| (*f, s.rename(node, params))).collect())
            }
            Shape::Sum(constrs) => Shape::sum(
                constrs
                    .iter()
                    .map(|(c, ss)| (*c, ss.iter().map(|s| s.rename(node, params)).collect()))
                    .collect(),
            ),
            Shape::Fun(fun) => {
                Shape::fun(fun.param.rename(node, params), node(fun.row), fun.result.rename(node, params))
            }
            Shape::Ref(kind, region) => Shape::Ref(*kind, node(*region)),
            Shape::Param(id) => params.get(id).cloned().unwrap_or(Shape::Param(*id)),
        }
    }

    /// Calls `f` on every node, and says whether the value of the shape comes in from outside there. `incoming` says so of
    /// the shape itself.
    pub fn each_node(&self, incoming: bool, f: &mut dyn FnMut(Node, Part, bool)) {
        match self {
            Shape::Data | Shape::Param(_) => {}
            Shape::Array(elem) => elem.each_node(incoming, f),
            Shape::Record(fields) => fields.iter().for_each(|(_, s)| s.each_node(incoming, f)),
            Shape::Sum(constrs) => {
                constrs.iter().flat_map(|(_, ss)| ss).for_each(|s| s.each_node(incoming, f));
            }
            Shape::Fun(fun) => {
                fun.param.each_node(!incoming, f);
                f(fun.row, Part::Row, incoming);
                fun.result.each_node(incoming, f);
            }
            Shape::Ref(_, region) => f(*region, Part::Region, incoming),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Row,
    Region,
}
