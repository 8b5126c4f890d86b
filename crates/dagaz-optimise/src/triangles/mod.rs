//! Contractions of which a triangle is enough.
//!
//! ```text
//! let (q: [d][d]f64) =
//!   map d (is) \(i: i64) -> map d (is) \(j: i64) -> if i < j then 0 else …
//! let (y: [n][d]f64) = contract [n, d] sum [d] x (0, 2) q (1, 2)
//!   ==>
//! let (y: [n][d]f64) = contract [n, d] sum [d] x (0, 2) q (1, 2) where 2 <= 1
//! ```
//!
//! An operand may be zero outside of a triangle ([`zeros`]), or a result may be read inside of one only ([`needs`]), as the
//! derivative by `q` is: both leave out terms in the same way. Zeros are left out even if they meet an infinity.
//!
//! This comes late, when all contractions are found and those that are equal are one.

mod needs;
mod orders;
mod zeros;

use dagaz_core::exp::{AxesOf, Body, Exp, Program, Triangle};
use dagaz_core::pass::Pass;
use dagaz_core::types::VarId;
use dagaz_core::visit::{bodies, bodies_mut};

use needs::Needs;
use orders::{Order, Side};
use zeros::{Known, Zeros};

pub const NOTE_TRIANGLES: Pass =
    Pass::always("note-triangles", "Contractions learn of which terms a triangle is enough.", note_triangles);

pub fn note_triangles(program: &mut Program) {
    if !program.funs.iter().any(|fun| has_contraction(&fun.body)) {
        return;
    }
    let zeros = Zeros::of(program);
    let needs = Needs::of(program, &zeros);
    program.funs.iter_mut().for_each(|fun| body(&zeros, &needs, &mut fun.body));
}

fn has_contraction(body: &Body) -> bool {
    let in_exp = |exp: &Exp| bodies(exp).into_iter().any(has_contraction);
    body.stms.iter().any(|stm| matches!(stm.exp, Exp::Contract { .. }) || in_exp(&stm.exp))
}

fn body(zeros: &Zeros, needs: &Needs<'_>, own: &mut Body) {
    for stm in &mut own.stms {
        bodies_mut(&mut stm.exp).into_iter().for_each(|inner| body(zeros, needs, inner));
        if let (Exp::Contract { left, right, triangles, rank, .. }, [param]) = (&mut stm.exp, &stm.pat[..]) {
            let result = AxesOf { array: param.var, axes: (0..*rank).collect() };
            let read = needs.of_result(param.var).to_vec();
            let found = [
                of_operand(left, zero_outside(zeros, left.array)),
                of_operand(right, zero_outside(zeros, right.array)),
                of_operand(&result, &read),
            ];
            for triangle in found.into_iter().flatten() {
                if !triangles.contains(&triangle) {
                    triangles.push(triangle);
                }
            }
        }
    }
}

fn zero_outside(zeros: &Zeros, array: VarId) -> &[Order] {
    match zeros.known.get(&array) {
        Some(Known::Outside(orders)) => orders,
        Some(Known::Everywhere) | None => &[],
    }
}

/// Orders of the dimensions of an array, as triangles of a contraction's axes.
fn of_operand(array: &AxesOf, orders: &[Order]) -> Vec<Triangle> {
    let axis = |place: Side| match place {
        Side::Dim(dim) => array.axes.get(dim).copied(),
        Side::Level(_) => None,
    };
    let triangles = orders.iter().filter_map(|o| Some(Triangle { low: axis(o.low)?, high: axis(o.high)? }));
    triangles.filter(|triangle| triangle.low != triangle.high).collect()
}
