//! A traversal of statements: all variables and sites in them, to be looked at or replaced.

use super::{Expr, Place, Site, StackArray, Stm, Var};

/// Something in a statement that can be exchanged for another.
pub enum Part<'s> {
    /// A variable where it is declared.
    Declared(&'s mut Var),
    /// A variable where it is used or changed.
    Used(&'s mut Var),
    Site(&'s mut Site),
}

type Visit<'v> = dyn FnMut(Part<'_>) + 'v;

impl Expr {
    /// Calls `visit` for the variables and sites in the expression, in the order in which they are written.
    fn parts(&mut self, visit: &mut Visit<'_>) {
        match self {
            Expr::Var(var) => visit(Part::Used(var)),
            Expr::Site(site) => visit(Part::Site(site)),
            _ => self.operands_mut().iter_mut().for_each(|operand| operand.parts(visit)),
        }
    }
}

impl Place {
    fn parts(&mut self, visit: &mut Visit<'_>) {
        match self {
            Place::Var(var) => visit(Part::Used(var)),
            Place::Element(pointer, place) => [pointer, place].into_iter().for_each(|part| part.parts(visit)),
            Place::Result(_) | Place::Global(_) | Place::Output(..) => {}
        }
    }
}

impl Stm {
    /// Calls `visit` for the variables and sites in the statement and in those inside of it.
    pub fn parts(&mut self, visit: &mut Visit<'_>) {
        self.own_parts(visit);
        self.bodies_mut().into_iter().flatten().for_each(|stm| stm.parts(visit));
    }

    /// As [`Stm::parts`], without the statements inside.
    fn own_parts(&mut self, visit: &mut Visit<'_>) {
        let all = |exprs: &mut [Expr], visit: &mut Visit<'_>| {
            exprs.iter_mut().for_each(|expr| expr.parts(visit));
        };
        match self {
            Stm::Declare { var, value } => {
                value.iter_mut().for_each(|value| value.parts(visit));
                visit(Part::Declared(var));
            }
            Stm::StackArray(StackArray { var, values, .. }) => {
                all(values, visit);
                visit(Part::Declared(var));
            }
            Stm::CopyTable { target, .. } => target.parts(visit),
            Stm::Assign(place, value) => {
                place.parts(visit);
                value.parts(visit);
            }
            Stm::Do(_, operands) => all(operands, visit),
            Stm::Attempt { operands, site, .. } => {
                all(operands, visit);
                site.iter_mut().for_each(|site| visit(Part::Site(site)));
            }
            Stm::Call { operands, results, site, .. } => {
                all(operands, visit);
                results.iter_mut().for_each(|result| visit(Part::Used(result)));
                site.iter_mut().for_each(|site| visit(Part::Site(site)));
            }
            Stm::Require(block) => visit(Part::Used(block)),
            Stm::Note(value) => value.parts(visit),
            Stm::NoteArray { pointer, dims, .. } => {
                pointer.parts(visit);
                all(dims, visit);
            }
            Stm::Trace(site) | Stm::Fail(site) => visit(Part::Site(site)),
            Stm::Product(product) => product.parts(visit),
            Stm::Loop { kind, var, from, to, .. } => {
                from.parts(visit);
                to.parts(visit);
                visit(Part::Declared(var));
                kind.sums_mut().iter_mut().for_each(|(_, sum)| visit(Part::Used(sum)));
            }
            Stm::Parallel(parallel) => {
                parallel.count.parts(visit);
                parallel.grain.parts(visit);
                visit(Part::Declared(&mut parallel.from));
                visit(Part::Declared(&mut parallel.to));
            }
            Stm::Launch(launch) => {
                launch.outside.iter_mut().for_each(|var| visit(Part::Used(var)));
                launch.sites.iter_mut().for_each(|site| visit(Part::Site(site)));
                launch.count.parts(visit);
                launch.grain.parts(visit);
            }
            Stm::If { cond, .. } => cond.parts(visit),
            Stm::Return | Stm::Break | Stm::Block(_) | Stm::Forever { .. } => {}
        }
    }
}

impl super::Product {
    fn parts(&mut self, visit: &mut Visit<'_>) {
        let strides = self.strides.iter_mut().flatten();
        let triangle = self.triangle.iter_mut();
        let periods = triangle.flat_map(|bounds| [&mut bounds.row_period, &mut bounds.column_period]);
        let exprs = self.sizes.iter_mut().chain(strides).chain(periods).chain(&mut self.operands);
        exprs.for_each(|expr| expr.parts(visit));
        if let Some((copy, site)) = &mut self.copy {
            visit(Part::Used(copy));
            visit(Part::Site(site));
        }
    }
}
