//! What uses an array with the shape of a product, and may use it turned.

use dagaz_core::build::Builder;
use dagaz_core::exp::{Body, Exp, Lambda, Stm};
use dagaz_core::types::{Atom, Type, VarId};
use dagaz_core::visit::{bodies, bodies_mut, free_vars};

use super::super::facts::Definitions;
use super::Shape;

/// The position among the results of an operation over rows of what a statement in its function makes, and the statements that
/// use that. They are products, and reshapes to matrices that are read element by element.
pub(super) fn find(
    facts: &Definitions,
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
fn is_read(facts: &Definitions, body: &Body, stm: &Stm) -> bool {
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
pub(super) fn turn(
    (facts, b): (&Definitions, &mut Builder),
    body: &mut Body,
    shape: Shape,
    at: usize,
    (old, new): (VarId, VarId),
) {
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
            sum_lines((facts, b), body, shape, (fresh, new));
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

/// Where all lines of the transposed matrix are added up, they are taken from the turned array. Its maps have the same rows as
/// others that make it and use it.
///
/// ```text
/// let (m: [k * d][n]f64) = reshape [k * d, n] p                  let (s': [k][d]f64) = map k (p)
/// let (s: [k * d]f64) = map (k * d) (iota (k * d))                 \(own: [d][n]f64) : ([d]f64) ->
///   \(column: i64) : (f64) ->                           ==>          let (sums: [d]f64) = map d (own)
///     let (sum: f64) = reduce n (iota n)                               \(line: [n]f64) : (f64) ->
///       pre \(row: i64) : (f64) -> m[column, row]                        let (sum: f64) = reduce n (line) op (+) …
///       op (+) …                                                         in (sum)
///     in (sum)                                                       in (sums)
///                                                                let (s: [k * d]f64) = reshape [k * d] s'
/// ```
fn sum_lines(
    (facts, b): (&Definitions, &mut Builder),
    body: &mut Body,
    shape: Shape,
    (matrix, turned): (VarId, VarId),
) {
    let sums = body.stms.iter().enumerate();
    let sums = sums.filter_map(|(at, stm)| Some((at, line_sums(facts, &stm.exp, matrix, shape.rows)?)));
    let Some((at, sum)) = sums.map(|(at, sum)| (at, sum.clone())).next() else { return };
    let Shape { rows, parts, length, elem } = shape;
    let (loc, pat) = (body.stms[at].loc, body.stms[at].pat.clone());
    b.push_scope();
    let own = Type::array(elem, vec![length, rows]);
    let sums = Type::array(elem, vec![length]);
    let lambda = b.lambda(&[("own", own)], vec![sums.clone()], |b, own| {
        let line = Type::array(elem, vec![rows]);
        let lambda = b.lambda(&[("line", line)], vec![elem.into()], |b, line| {
            let mut sum = sum;
            if let Exp::Reduce { arrays, pre, .. } = &mut sum {
                *arrays = line.iter().filter_map(|atom| atom.as_var()).collect();
                *pre = None;
            }
            vec![b.let_exp("sum", elem.into(), sum, loc)]
        });
        let arrays = own.iter().filter_map(|atom| atom.as_var()).collect();
        vec![b.let_exp("sums", sums, Exp::Map { width: length, arrays, lambda }, loc)]
    });
    let exp = Exp::Map { width: parts, arrays: vec![turned], lambda };
    let array = b.let_var("sums", Type::array(elem, vec![parts, length]), exp, loc);
    let dims = pat[0].ty.dims().to_vec();
    b.push(Stm { pat, exp: Exp::Reshape { dims, array }, loc });
    body.stms.splice(at..=at, b.pop_scope());
}

/// The reduction of one line of a matrix, if an expression consists of those of all lines.
fn line_sums<'e>(facts: &Definitions, exp: &'e Exp, matrix: VarId, rows: Atom) -> Option<&'e Exp> {
    let Exp::Map { width: columns, arrays: numbers, lambda } = exp else { return None };
    let ([column], [sum]) = (lambda.params.as_slice(), lambda.body.stms.as_slice()) else { return None };
    let Exp::Reduce { width, arrays, pre: Some(pre), .. } = &sum.exp else { return None };
    let ([row], [read]) = (pre.params.as_slice(), pre.body.stms.as_slice()) else { return None };
    let Exp::Index { array, indices, .. } = &read.exp else { return None };
    let gives = |body: &Body, stm: &Stm| matches!(stm.pat.as_slice(), [p] if body.result.as_slice() == [Atom::Var(p.var)]);
    let are_all =
        facts.is_numbers(numbers[0], *columns) && facts.is_numbers(arrays[0], rows) && *width == rows;
    let is_line =
        are_all && *array == matrix && indices.as_slice() == [Atom::from(column.var), row.var.into()];
    (is_line && gives(&lambda.body, sum) && gives(&pre.body, read)).then_some(&sum.exp)
}
