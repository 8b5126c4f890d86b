//! A reduction of rows by an operator that works on each element by itself is a reduction of each column
//! (thesis, section 3.4.1), which has rules that cost less:
//!
//!     reduce (map f) nes xss     ==>     map (\ne xs -> reduce f ne xs) nes (transpose xss)

use dagaz_core::exp::{Exp, Lambda, Stm};
use dagaz_core::types::{Atom, Param, Type, VarId};

use crate::context::{Ad, Res};

impl Ad<'_> {
    /// The statement with the map outside; none if it is not of that kind.
    pub fn columns_first(&mut self, stm: &Stm) -> Res<Option<Stm>> {
        let Exp::Reduce { width, arrays, pre: None, op, neutral, commutative } = &stm.exp else {
            return Ok(None);
        };
        let ([array], [Atom::Var(neutral)], [pat]) =
            (arrays.as_slice(), neutral.as_slice(), stm.pat.as_slice())
        else {
            return Ok(None);
        };
        let (Some((columns, f)), Some(elem)) = (elementwise(op), pat.ty.row()) else { return Ok(None) };
        let loc = stm.loc;
        let mut perm: Vec<usize> = (0..=pat.ty.rank()).collect();
        perm.swap(0, 1);
        let column = elem.with_outer(&[*width]);
        let exp = Exp::Rearrange { perm, array: *array };
        let turned = self.let_var("columns", column.with_outer(&[columns]), exp, loc);
        let (xs, ne) = (self.param("xs", column), self.param("ne", elem.clone()));
        let result = self.param("reduced", elem.clone());
        let reduce = Exp::Reduce {
            width: *width,
            arrays: vec![xs.var],
            pre: None,
            op: f.clone(),
            neutral: vec![ne.var.into()],
            commutative: *commutative,
        };
        let inner = Stm { pat: vec![result.clone()], exp: reduce, loc };
        let lambda = self.lambda(vec![xs, ne], vec![elem], |ad| {
            ad.expand_stm(&inner, true)?;
            Ok(vec![result.var.into()])
        })?;
        let exp = Exp::Map { width: columns, arrays: vec![turned, *neutral], lambda };
        Ok(Some(Stm { pat: stm.pat.clone(), exp, loc }))
    }
}

/// The width and function of an operator `\xs ys -> map f xs ys`.
fn elementwise(op: &Lambda) -> Option<(Atom, &Lambda)> {
    let ([x, y], [stm]) = (op.params.as_slice(), op.body.stms.as_slice()) else { return None };
    let (Exp::Map { width, arrays, lambda }, [Param { var, ty: Type::Array { .. } }]) =
        (&stm.exp, stm.pat.as_slice())
    else {
        return None;
    };
    let operands: [VarId; 2] = [x.var, y.var];
    (arrays.as_slice() == operands && op.body.result == [Atom::from(*var)]).then_some((*width, lambda))
}
