//! What uses an array with the shape of a product, and may use it turned.

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Exp, Lambda, Stm};
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit::{bodies, bodies_mut, free_vars};

use super::super::facts::Facts;
use super::Shape;

/// The position among the results of an operation over rows of what a statement in its function makes, and the statements that
/// use that. They are products, and reshapes to matrices that are read element by element.
pub(super) fn find(
    facts: &Facts,
    body: &Body,
    (user, lambda): (usize, &Lambda),
    made: &Stm,
    shape: Shape,
) -> Option<(usize, Vec<usize>)> {
    let made = made.pat.first()?.var;
    let at = lambda.body.result.iter().position(|atom| *atom == Atom::Var(made))?;
    let Exp::Map { .. } = &body.stms[user].exp else { return None };
    let whole = body.stms[user].pat.get(at)?.var;
    let users: Vec<usize> =
        (user + 1..body.stms.len()).filter(|at| free_vars(&body.stms[*at].exp).contains(&whole)).collect();
    let fits = |stm: &Stm| match &stm.exp {
        Exp::Contract { left, right, plus, .. } => left.array != right.array && *plus != Some(whole),
        Exp::Reshape { dims, .. } => dims.len() == 2 && dims[0] == shape.rows && is_read(facts, body, stm),
        _ => false,
    };
    let is_alone = facts.uses.get(&made) == Some(&1) && facts.uses.get(&whole) == Some(&users.len());
    (is_alone && users.iter().all(|at| fits(&body.stms[*at]))).then_some((at, users))
}

/// Whether all uses of a matrix are reads of its elements.
fn is_read(facts: &Facts, body: &Body, stm: &Stm) -> bool {
    fn reads(body: &Body, array: VarId) -> usize {
        let is_read = |exp: &Exp| matches!(exp, Exp::Index { array: own, indices, .. } if *own == array && indices.len() == 2);
        let of = |stm: &Stm| {
            usize::from(is_read(&stm.exp))
                + bodies(&stm.exp).into_iter().map(|b| reads(b, array)).sum::<usize>()
        };
        body.stms.iter().map(of).sum()
    }
    stm.pat.first().is_some_and(|p| facts.uses.get(&p.var) == Some(&reads(body, p.var)))
}

/// Makes a statement use the turned array.
pub(super) fn turn(b: &mut Builder, body: &mut Body, at: usize, old: VarId, new: VarId) {
    let stm = &mut body.stms[at];
    match &mut stm.exp {
        Exp::Contract { left, right, .. } => {
            for operand in [left, right].into_iter().filter(|o| o.array == old) {
                operand.array = new;
                operand.axes.rotate_left(1);
            }
        }
        Exp::Reshape { dims, array } => {
            dims.rotate_left(1);
            *array = new;
            let (matrix, dims) = (stm.pat[0].var, dims.clone());
            let elem = stm.pat[0].ty.elem();
            let fresh = b.fresh(&b.hint(matrix));
            stm.pat[0].var = fresh;
            if let Some(elem) = elem {
                stm.pat[0].ty = Type::array(elem, dims);
            }
            read(body, matrix, fresh);
        }
        _ => {}
    }
}

/// Reads of a matrix become reads of the transposed one.
fn read(body: &mut Body, old: VarId, new: VarId) {
    for stm in &mut body.stms {
        if let Exp::Index { array, indices, .. } = &mut stm.exp
            && *array == old
        {
            *array = new;
            indices.rotate_left(1);
        }
        bodies_mut(&mut stm.exp).into_iter().for_each(|inner| read(inner, old, new));
    }
}
