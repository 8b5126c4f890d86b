//! `for i -> e`: arrays by their elements, over any index set.

use std::rc::Rc;

use dagaz_core::exp::Exp as CoreExp;
use dagaz_core::prim::PrimType;
use dagaz_core::types::Atom;
use dagaz_syntax::Name;

use crate::context::{Res, Simplifier};
use crate::effects::RegionKind;
use crate::index_set::{Constructor, ESet, Element, is_enumeration, sorted_constructors};
use crate::value::{ArrayVal, EArg, EType, SVal, SumVal};
use crate::walk::array_type;

impl<'s> Simplifier<'s> {
    /// `for i -> f i`: the array of a function's values.
    pub fn pointful(&mut self, f: &SVal, type_args: &[EArg]) -> Res<SVal> {
        let set = self.set_of_arg(type_args.first())?;
        let ty = match type_args.get(1) {
            Some(EArg::Type(ty) | EArg::Index(ty, _)) => Some(ty.clone()),
            Some(EArg::Size(_)) | None => None,
        };
        self.tabulate(&set, ty.as_ref(), &mut |s, index| s.apply(f, vec![index]))
    }

    fn tabulate(&mut self, set: &ESet, ty: Option<&EType>, element: Element<'_, 's>) -> Res<SVal> {
        match set {
            ESet::Record(fields) => {
                let sets: Vec<&ESet> = fields.iter().map(|(_, set)| set).collect();
                let names: Vec<Name> = fields.iter().map(|(name, _)| *name).collect();
                self.tabulate_all(&sets, ty, Vec::new(), &mut |s, values| {
                    element(s, SVal::Record(names.iter().copied().zip(values).collect()))
                })
            }
            ESet::Sum(constrs) if !is_enumeration(constrs) => self.tabulate_sum(constrs, ty, element),
            ESet::Size(_) | ESet::Bool | ESet::Sum(_) | ESet::Declared(_) => {
                let n = self.cardinality(set)?;
                let iota = CoreExp::Iota { ty: PrimType::I64, n, start: Atom::i64(0), step: Atom::i64(1) };
                let numbers = self.emit("index", array_type(PrimType::I64, &[n]), iota);
                let numbers = ArrayVal { dim: n, elem: SVal::i64(numbers) };
                self.map_rows(RegionKind::For, &numbers, ty, |s, number| match number {
                    SVal::Scalar(_, number) => {
                        let index = s.index_at(set, number)?;
                        element(s, index)
                    }
                    _ => s.bug("an ordinal that is not a number"),
                })
            }
        }
    }

    /// A nest of arrays, one for each set, made flat: so that no index is taken apart into its components.
    fn tabulate_all(
        &mut self,
        sets: &[&ESet],
        ty: Option<&EType>,
        outer: Vec<SVal>,
        element: &mut dyn FnMut(&mut Simplifier<'s>, Vec<SVal>) -> Res<SVal>,
    ) -> Res<SVal> {
        match sets {
            [] => self.singleton(element, outer),
            [last] => {
                self.tabulate(last, ty, &mut |s, index| element(s, [outer.as_slice(), &[index]].concat()))
            }
            [first, rest @ ..] => {
                let nest = self.tabulate(first, None, &mut |s, index| {
                    s.tabulate_all(rest, ty, [outer.as_slice(), &[index]].concat(), element)
                })?;
                self.flatten_array(&nest)
            }
        }
    }

    /// The array over the one index of the empty tuple.
    fn singleton(
        &mut self,
        element: &mut dyn FnMut(&mut Simplifier<'s>, Vec<SVal>) -> Res<SVal>,
        outer: Vec<SVal>,
    ) -> Res<SVal> {
        let value = element(self, outer)?;
        Ok(self.replicate(Atom::i64(1), &value))
    }

    fn tabulate_sum(
        &mut self,
        constrs: &[Constructor],
        ty: Option<&EType>,
        element: Element<'_, 's>,
    ) -> Res<SVal> {
        let mut whole: Option<SVal> = None;
        for active in constrs {
            let sets: Vec<&ESet> = active.payload.iter().collect();
            let part = self.tabulate_all(&sets, ty, Vec::new(), &mut |s, values| {
                let mut result = sorted_constructors(constrs);
                for constr in constrs {
                    result[constr.tag].1 = match constr.tag == active.tag {
                        true => values.clone(),
                        false => s.split_ordinal(constr.payload.iter(), Atom::i64(0))?,
                    };
                }
                let tag = crate::value::tag(active.tag);
                element(s, SVal::Sum(Rc::new(SumVal { tag, constrs: result })))
            })?;
            whole = Some(match (whole, part) {
                (None, part) => part,
                (Some(SVal::Array(before)), SVal::Array(part)) => self.concat(&before, &part)?,
                _ => return self.bug("a part of an array that is none"),
            });
        }
        match whole {
            Some(whole) => Ok(whole),
            None => self.bug("a sum without constructors"),
        }
    }
}
