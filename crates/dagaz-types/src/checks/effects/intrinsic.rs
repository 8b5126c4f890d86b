//! What the operations of the compiler do to the effects of functions that they are given.

use super::graph::{Constraint, Graph, Handler, Place, Requirement};
use super::shape::{Node, Shape};
use crate::types::RefKind;

/// Adds what is special about an intrinsic of this shape.
pub(super) fn constrain(graph: &mut Graph, name: &str, shape: &Shape, at: Place) {
    let (params, row) = parameters(shape);
    let functions: Vec<Node> = params.iter().filter_map(last_row).collect();
    match (name, params.as_slice()) {
        ("map", [f, ..]) => {
            if let (Some(f), Some(row)) = (last_row(f), row) {
                graph.constraints.push(Constraint::Require { row: f, what: Requirement::Parallel, at });
                graph.flow(f, row);
            }
        }
        ("pointful", [f]) => {
            if let (Some(f), Some(row)) = (last_row(f), row) {
                graph.flow(f, row);
            }
        }
        ("run_state", [_, body]) | ("run_accum", [body]) => handler(graph, body, row, at),
        ("run_accum_with", [op, _, body]) => {
            require(graph, last_row(op), "an operator that combines two values", at);
            handler(graph, body, row, at);
        }
        ("state_get" | "state_set", [Shape::Ref(_, region), ..]) => {
            effect(graph, RefKind::State, *region, row, at);
        }
        ("accumulate", [Shape::Ref(_, region), ..]) => effect(graph, RefKind::Accum, *region, row, at),
        ("reduce" | "reduce_comm" | "scan" | "hist_1d" | "hist_2d" | "hist_3d", _) => {
            let what = "an operator that combines two values";
            functions.into_iter().for_each(|f| require(graph, Some(f), what, at));
        }
        ("flatmap", _) => {
            let what = "a function whose results vary in size";
            functions.into_iter().for_each(|f| require(graph, Some(f), what, at));
        }
        ("scatter_stream" | "hist_stream", _) => {
            let what = "what writes to a stream";
            functions.into_iter().for_each(|f| require(graph, Some(f), what, at));
        }
        ("jvp2" | "vjp2" | "jmp2" | "mjp2" | "linearize" | "linear_transpose" | "with_vjp", _) => {
            let what = "a function that is differentiated";
            functions.into_iter().for_each(|f| require(graph, Some(f), what, at));
        }
        _ => {}
    }
}

/// The parameters of a function that takes several, and the row of its last application.
pub(super) fn parameters(shape: &Shape) -> (Vec<Shape>, Option<Node>) {
    let (mut params, mut row, mut shape) = (Vec::new(), None, shape);
    while let Shape::Fun(fun) = shape {
        params.push(fun.param.clone());
        row = Some(fun.row);
        shape = &fun.result;
    }
    (params, row)
}

/// What a function does once it has all its arguments.
pub(super) fn last_row(shape: &Shape) -> Option<Node> {
    parameters(shape).1
}

fn require(graph: &mut Graph, row: Option<Node>, what: &'static str, at: Place) {
    if let Some(row) = row {
        graph.constraints.push(Constraint::Require { row, what: Requirement::Pure(what), at });
    }
}

fn effect(graph: &mut Graph, kind: RefKind, region: Node, row: Option<Node>, at: Place) {
    if let Some(row) = row {
        graph.constraints.push(Constraint::Effect { kind, region, row, at });
    }
}

fn handler(graph: &mut Graph, body: &Shape, row: Option<Node>, at: Place) {
    let (Shape::Fun(fun), Some(row)) = (body, row) else { return };
    let Shape::Ref(_, region) = &fun.param else { return };
    let handler = graph.fresh();
    let result = fun.result.clone();
    let parts = Handler { handler, region: *region, body: fun.row, row, result, at };
    graph.constraints.push(Constraint::Handler(parts));
}
