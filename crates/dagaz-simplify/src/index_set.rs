//! Index sets: how many elements an array has, and which one an index means.
//!
//! An array over an index set has one dimension in Core, and the number of an element is the *ordinal* of its index:
//! tuples count row by row, and the constructors of a sum come one after the other, in the order of their declaration.
//!
//! ```text
//! x[(i, j)]   with x: [(n, m)]f64     ==>     x[i * m + j]
//! ```

use std::rc::Rc;

use dagaz_core::exp::{Check, MsgPart};
use dagaz_core::prim::{BinOp, CmpOp, PrimType};
use dagaz_core::types::Atom;
use dagaz_syntax::Name;
use dagaz_types::typed::Exp;
use dagaz_types::types::{IDX, PrimType as SourcePrim, Type, TypeArg};

use crate::context::{Res, Simplifier};
use crate::eval::Position;
use crate::value::{EArg, EDim, EType, Env, SVal, SumVal, TypeBinding};

/// An evaluated index type.
#[derive(Clone)]
pub(crate) enum ESet {
    /// The numbers below a size.
    Size(EDim),
    Bool,
    Record(Vec<(Name, ESet)>),
    /// In the order in which a type declares the constructors.
    Sum(Vec<Constructor>),
    Declared(DeclaredSet),
}

/// A constructor of a sum.
#[derive(Clone)]
pub(crate) struct Constructor {
    pub name: Name,
    /// Its position among the names of all, sorted.
    pub tag: usize,
    pub payload: Vec<ESet>,
}

/// A set that is given by functions.
#[derive(Clone)]
pub(crate) struct DeclaredSet {
    /// That of the type's closure.
    pub id: u64,
    /// From the sizes to `{size, ordinal, from_ordinal}`.
    pub functions: SVal,
    pub sizes: Vec<EDim>,
}

/// Makes the element for an index.
pub(crate) type Element<'e, 's> = &'e mut dyn FnMut(&mut Simplifier<'s>, SVal) -> Res<SVal>;

impl<'s> Simplifier<'s> {
    // -----------------------------------------------------------------------------------------------
    // Sets of types

    pub fn eval_set(&mut self, env: &mut Env, ty: &Type) -> Res<ESet> {
        Ok(match ty {
            Type::Named { id: IDX, args, .. } => match args.as_ref() {
                [TypeArg::Size(size)] => ESet::Size(self.eval_size(env, size)?),
                _ => return self.bug("numbers below no size"),
            },
            Type::Record(fields) => {
                let fields: Res<Vec<_>> =
                    fields.iter().map(|(name, t)| Ok((*name, self.eval_set(env, t)?))).collect();
                ESet::Record(fields?)
            }
            Type::Sum(constrs) => {
                let mut result = Vec::with_capacity(constrs.len());
                for (name, types) in constrs.iter() {
                    let sets: Res<Vec<_>> = types.iter().map(|t| self.eval_set(env, t)).collect();
                    result.push((*name, sets?));
                }
                self.sum_set(result)
            }
            Type::Named { id, args, .. } => match env.types.get(id).cloned() {
                Some(TypeBinding::Index(_, set)) => (*set).clone(),
                Some(TypeBinding::Type(ty)) => self.set_of_type(&ty)?,
                Some(TypeBinding::Closure(closure)) => {
                    let sizes = self.eval_args(env, args)?;
                    match closure.index {
                        Some(functions) => {
                            let Some(functions) = closure.env.vars.get(&functions).cloned() else {
                                return self.bug("an index type without functions");
                            };
                            let sizes = sizes.iter().filter_map(size_arg).collect();
                            ESet::Declared(DeclaredSet { id: closure.id, functions, sizes })
                        }
                        None => {
                            let mut inner = closure.env.clone();
                            self.bind_type_params(&mut inner, &closure.params, &sizes);
                            self.eval_set(&mut inner, &closure.body)?
                        }
                    }
                }
                None => return self.bug("an index set without a definition"),
            },
            Type::Prim(SourcePrim::Bool) => ESet::Bool,
            Type::Prim(_) | Type::Array { .. } | Type::Arrow(_) | Type::Meta(_) => {
                return self.bug("an index set of another type");
            }
        })
    }

    /// The set of a type that says it all: an enumeration, or tuples and sums of them.
    fn set_of_type(&self, ty: &EType) -> Res<ESet> {
        Ok(match ty {
            EType::Record(fields) => {
                let fields: Res<Vec<_>> =
                    fields.iter().map(|(name, t)| Ok((*name, self.set_of_type(t)?))).collect();
                ESet::Record(fields?)
            }
            EType::Sum(constrs) => {
                let mut result = Vec::with_capacity(constrs.len());
                for (name, types) in constrs.iter() {
                    let sets: Res<Vec<_>> = types.iter().map(|t| self.set_of_type(t)).collect();
                    result.push((*name, sets?));
                }
                self.sum_set(result)
            }
            EType::Prim(PrimType::Bool) => ESet::Bool,
            EType::Prim(_) | EType::Array(..) | EType::Fun | EType::Acc(_) | EType::Ref(_) => {
                return self.bug("an index set that is not known");
            }
        })
    }

    /// The constructors of a sum, sorted, in the order in which they are declared.
    fn sum_set(&self, sorted: Vec<(Name, Vec<ESet>)>) -> ESet {
        let names: Vec<Name> = sorted.iter().map(|(name, _)| *name).collect();
        let constructor =
            |(tag, (name, payload)): (usize, (Name, Vec<ESet>))| Constructor { name, tag, payload };
        let mut constrs: Vec<Constructor> = sorted.into_iter().enumerate().map(constructor).collect();
        if let Some(order) = self.constructor_orders.get(&names) {
            constrs.sort_by_key(|c| order.iter().position(|name| *name == c.name));
        }
        ESet::Sum(constrs)
    }

    pub(super) fn set_of_arg(&self, arg: Option<&EArg>) -> Res<ESet> {
        match arg {
            Some(EArg::Index(_, set)) => Ok((**set).clone()),
            Some(EArg::Type(ty)) => self.set_of_type(ty),
            Some(EArg::Size(_)) | None => self.bug("an operation without its index set"),
        }
    }

    /// A type argument, with its index set if only the type as it is written says what that is.
    pub fn eval_type_arg(&mut self, env: &mut Env, ty: &Type) -> Res<EArg> {
        let evaluated = self.eval_type(env, ty)?;
        if !names_indices(env, ty) {
            return Ok(EArg::Type(evaluated));
        }
        Ok(match self.is_set(env, ty) {
            true => EArg::Index(evaluated, Rc::new(self.eval_set(env, ty)?)),
            false => EArg::Type(evaluated),
        })
    }

    fn is_set(&self, env: &Env, ty: &Type) -> bool {
        match ty {
            Type::Named { id: IDX, .. } => true,
            Type::Named { id, .. } => match env.types.get(id) {
                Some(TypeBinding::Index(..)) => true,
                Some(TypeBinding::Type(ty)) => self.set_of_type(ty).is_ok(),
                Some(TypeBinding::Closure(closure)) => closure.index.is_some(),
                None => false,
            },
            Type::Record(fields) => fields.iter().all(|(_, t)| self.is_set(env, t)),
            Type::Sum(constrs) => constrs.iter().all(|(_, ts)| ts.iter().all(|t| self.is_set(env, t))),
            Type::Prim(prim) => *prim == SourcePrim::Bool,
            Type::Array { .. } | Type::Arrow(_) | Type::Meta(_) => false,
        }
    }

    /// How many indices there are, as the size of an array.
    pub fn set_size(&mut self, env: &mut Env, ty: &Type) -> Res<EDim> {
        let set = self.eval_set(env, ty)?;
        if is_open(&set) {
            return Ok(EDim::Free(self.fresh_size()));
        }
        Ok(EDim::Known(self.cardinality(&set)?))
    }

    // -----------------------------------------------------------------------------------------------
    // Numbers of indices

    pub fn cardinality(&mut self, set: &ESet) -> Res<Atom> {
        match set {
            ESet::Size(EDim::Known(size)) => Ok(*size),
            ESet::Size(EDim::Free(_)) => self.bug("an index set of unknown size"),
            ESet::Bool => Ok(Atom::i64(2)),
            ESet::Record(fields) => self.product(fields.iter().map(|(_, set)| set)),
            ESet::Sum(constrs) => {
                let mut total = Atom::i64(0);
                for constr in constrs {
                    let size = self.product(constr.payload.iter())?;
                    total = self.add(total, size);
                }
                Ok(total)
            }
            ESet::Declared(declared) => match self.function_of(declared, "size")? {
                SVal::Scalar(_, size) => Ok(size),
                _ => self.bug("a size that is not a number"),
            },
        }
    }

    fn product<'e>(&mut self, sets: impl Iterator<Item = &'e ESet>) -> Res<Atom> {
        let mut total = Atom::i64(1);
        for set in sets {
            let size = self.cardinality(set)?;
            total = self.mul(total, size);
        }
        Ok(total)
    }

    fn function_of(&mut self, declared: &DeclaredSet, name: &str) -> Res<SVal> {
        let mut sizes = Vec::with_capacity(declared.sizes.len());
        for size in &declared.sizes {
            match size {
                EDim::Known(atom) => sizes.push(SVal::i64(*atom)),
                EDim::Free(_) => return self.bug("an index set of unknown size"),
            }
        }
        let functions = self.value_of(&declared.functions)?;
        let record = if sizes.is_empty() { functions } else { self.apply(&functions, sizes)? };
        self.project(&record, Name::new(name))
    }

    /// The number of an index in its set. That of a declared set is asserted to be one, because its functions were tried out
    /// for some sizes only.
    pub fn ordinal(&mut self, set: &ESet, index: &SVal) -> Res<Atom> {
        let number = self.number_of(set, index)?;
        if let ESet::Declared(_) = set {
            let size = self.cardinality(set)?;
            let valid = self.in_bounds(number, size);
            self.assert(valid, wrong_ordinal(number, size));
        }
        Ok(number)
    }

    /// As [`Simplifier::ordinal`], without an assertion about the set itself.
    pub fn number_of(&mut self, set: &ESet, index: &SVal) -> Res<Atom> {
        match (set, index) {
            (ESet::Size(_), SVal::Scalar(_, atom)) => Ok(*atom),
            (ESet::Bool, SVal::Scalar(prim, atom)) => Ok(self.convert(*prim, PrimType::I64, *atom)),
            (ESet::Record(sets), SVal::Record(fields)) => {
                self.ordinal_of_all(sets.iter().map(|(_, s)| s), fields.iter().map(|(_, v)| v))
            }
            (ESet::Sum(sets), SVal::Sum(sum)) => self.ordinal_of_sum(sets, sum),
            (ESet::Declared(declared), index) => {
                let ordinal = self.function_of(declared, "ordinal")?;
                match self.apply(&ordinal, vec![index.clone()])? {
                    SVal::Scalar(_, atom) => Ok(atom),
                    _ => self.bug("an ordinal that is not a number"),
                }
            }
            _ => self.bug("an index of another set"),
        }
    }

    fn ordinal_of_all<'e>(
        &mut self,
        sets: impl Iterator<Item = &'e ESet>,
        values: impl Iterator<Item = &'e SVal>,
    ) -> Res<Atom> {
        let mut total = Atom::i64(0);
        for (set, value) in sets.zip(values) {
            let size = self.cardinality(set)?;
            let number = self.ordinal(set, value)?;
            let before = self.mul(total, size);
            total = self.add(before, number);
        }
        Ok(total)
    }

    fn ordinal_of_sum(&mut self, constrs: &[Constructor], sum: &SumVal) -> Res<Atom> {
        if is_enumeration(constrs) && fits_word(constrs) {
            // There may be more constructors than positive numbers in the tag.
            let tag = self.convert(PrimType::I8, PrimType::U8, sum.tag);
            let tag = self.convert(PrimType::U8, PrimType::I64, tag);
            let position = |tag| constrs.iter().position(|c| c.tag == tag).unwrap_or(0);
            let positions: Vec<usize> = (0..constrs.len()).map(position).collect();
            return Ok(self.permuted(&positions, tag));
        }
        let mut offset = Atom::i64(0);
        let mut result = Atom::i64(0);
        for constr in constrs {
            let Some((_, values)) = sum.constrs.get(constr.tag) else {
                return self.bug("a constructor that its type does not have");
            };
            let number = self.ordinal_of_all(constr.payload.iter(), values.iter())?;
            let number = self.add(offset, number);
            let active = self.cmp(CmpOp::Eq, PrimType::I8, sum.tag, crate::value::tag(constr.tag));
            result = self.select(active, PrimType::I64, number, result);
            let size = self.product(constr.payload.iter())?;
            offset = self.add(offset, size);
        }
        Ok(result)
    }

    /// The index of a number, which is known to be one.
    pub fn index_at(&mut self, set: &ESet, number: Atom) -> Res<SVal> {
        match set {
            ESet::Size(_) => Ok(SVal::i64(number)),
            ESet::Bool => {
                Ok(SVal::Scalar(PrimType::Bool, self.convert(PrimType::I64, PrimType::Bool, number)))
            }
            ESet::Record(sets) => {
                let names: Vec<Name> = sets.iter().map(|(name, _)| *name).collect();
                let values = self.split_ordinal(sets.iter().map(|(_, set)| set), number)?;
                Ok(SVal::Record(names.into_iter().zip(values).collect()))
            }
            ESet::Sum(sets) if is_enumeration(sets) && fits_word(sets) => {
                let tags: Vec<usize> = sets.iter().map(|c| c.tag).collect();
                let tag = self.permuted(&tags, number);
                let tag = self.convert(PrimType::I64, PrimType::I8, tag);
                Ok(SVal::Sum(Rc::new(SumVal { tag, constrs: sorted_constructors(sets) })))
            }
            ESet::Sum(sets) => self.sum_of_ordinal(sets, number),
            ESet::Declared(declared) => {
                let from_ordinal = self.function_of(declared, "from_ordinal")?;
                self.apply(&from_ordinal, vec![SVal::i64(number)])
            }
        }
    }

    /// The components of a tuple of indices; the last one varies fastest.
    pub(super) fn split_ordinal<'e>(
        &mut self,
        sets: impl DoubleEndedIterator<Item = &'e ESet>,
        number: Atom,
    ) -> Res<Vec<SVal>> {
        let mut sets: Vec<&ESet> = sets.collect();
        let first = if sets.is_empty() { None } else { Some(sets.remove(0)) };
        let mut values = Vec::new();
        let mut rest = number;
        for set in sets.into_iter().rev() {
            let size = self.cardinality(set)?;
            let low = self.binop(BinOp::Rem, PrimType::I64, rest, size);
            rest = self.binop(BinOp::Quot, PrimType::I64, rest, size);
            values.push(self.index_at(set, low)?);
        }
        if let Some(first) = first {
            values.push(self.index_at(first, rest)?);
        }
        values.reverse();
        Ok(values)
    }

    /// The element of a permutation at a position that is known to be one. It is looked up in the digits of a number, unless
    /// every position has itself.
    fn permuted(&mut self, permutation: &[usize], position: Atom) -> Atom {
        if permutation.is_sorted() {
            return position;
        }
        let digits = permutation.iter().rev().fold(0i64, |word, digit| (word << DIGIT) | *digit as i64);
        let (ty, width) = (PrimType::I64, Atom::i64(DIGIT));
        let shift = self.binop(BinOp::Mul, ty, position, width);
        let shifted = self.binop(BinOp::Lshr, ty, Atom::i64(digits), shift);
        self.binop(BinOp::And, ty, shifted, Atom::i64((1 << DIGIT) - 1))
    }

    fn sum_of_ordinal(&mut self, constrs: &[Constructor], number: Atom) -> Res<SVal> {
        let mut offset = Atom::i64(0);
        let mut tag = crate::value::tag(constrs.first().map_or(0, |c| c.tag));
        let mut result = sorted_constructors(constrs);
        for constr in constrs {
            let size = self.product(constr.payload.iter())?;
            let end = self.add(offset, size);
            let from = self.cmp(CmpOp::Le, PrimType::I64, offset, number);
            let to = self.cmp(CmpOp::Lt, PrimType::I64, number, end);
            let active = self.and(from, to);
            tag = self.select(active, PrimType::I8, crate::value::tag(constr.tag), tag);
            let number = self.sub(number, offset);
            // An inactive payload holds zeros, which are the first indices.
            let number = self.select(active, PrimType::I64, number, Atom::i64(0));
            result[constr.tag].1 = self.split_ordinal(constr.payload.iter(), number)?;
            offset = end;
        }
        Ok(SVal::Sum(Rc::new(SumVal { tag, constrs: result })))
    }

    // -----------------------------------------------------------------------------------------------
    // Arrays

    /// A position in an array. One of an index type is within bounds, because its type says so.
    pub fn eval_index(&mut self, env: &mut Env, exp: &Exp) -> Res<Position> {
        let value = self.eval(env, exp)?;
        match (&exp.ty, value) {
            (Type::Prim(_), SVal::Scalar(prim, atom)) => {
                Ok(Position::Index(self.convert(prim, PrimType::I64, atom), Check::Checked))
            }
            (ty, value) => {
                let set = self.eval_set(env, ty)?;
                Ok(match set {
                    ESet::Declared(_) => Position::Index(self.number_of(&set, &value)?, Check::Checked),
                    ESet::Size(_) | ESet::Bool | ESet::Record(_) | ESet::Sum(_) => {
                        Position::Index(self.ordinal(&set, &value)?, Check::Certified)
                    }
                })
            }
        }
    }

    /// `ordinal i`
    pub fn ordinal_of(&mut self, type_args: &[EArg], index: &SVal) -> Res<SVal> {
        let set = self.set_of_arg(type_args.first())?;
        Ok(SVal::i64(self.ordinal(&set, index)?))
    }

    /// `from_ordinal k`, which checks the number.
    pub fn index_of(&mut self, type_args: &[EArg], number: Atom) -> Res<SVal> {
        let set = self.set_of_arg(type_args.first())?;
        let size = self.cardinality(&set)?;
        let valid = self.in_bounds(number, size);
        let message = vec![
            MsgPart::Text("The number ".into()),
            MsgPart::Value(number),
            MsgPart::Text(" is not that of an index: there are ".into()),
            MsgPart::Value(size),
            MsgPart::Text(".".into()),
        ];
        self.assert(valid, message);
        self.index_at(&set, number)
    }

    pub fn cardinality_of(&mut self, type_args: &[EArg]) -> Res<SVal> {
        let set = self.set_of_arg(type_args.first())?;
        Ok(SVal::i64(self.cardinality(&set)?))
    }
}

pub(crate) fn wrong_ordinal(number: Atom, size: Atom) -> Vec<MsgPart> {
    vec![
        MsgPart::Text("The ordinal ".into()),
        MsgPart::Value(number),
        MsgPart::Text(" of this index is not below the size ".into()),
        MsgPart::Value(size),
        MsgPart::Text(" of its type.".into()),
    ]
}

fn size_arg(arg: &EArg) -> Option<EDim> {
    match arg {
        EArg::Size(dim) => Some(*dim),
        EArg::Type(_) | EArg::Index(..) => None,
    }
}

pub(crate) fn is_enumeration(constrs: &[Constructor]) -> bool {
    constrs.iter().all(|c| c.payload.is_empty())
}

/// Bits for one element of a permutation in a word.
const DIGIT: i64 = 4;

/// Whether the order of the constructors is that of their names, or a permutation that one word holds.
pub(crate) fn fits_word(constrs: &[Constructor]) -> bool {
    constrs.len() <= 16 || constrs.is_sorted_by_key(|c| c.tag)
}

/// The constructors by their tags, with payloads still to be filled in.
pub(crate) fn sorted_constructors(constrs: &[Constructor]) -> Vec<(Name, Vec<SVal>)> {
    let mut sorted: Vec<&Constructor> = constrs.iter().collect();
    sorted.sort_by_key(|c| c.tag);
    sorted.into_iter().map(|c| (c.name, Vec::new())).collect()
}

/// Whether some size in a set has no value yet.
pub(crate) fn is_open(set: &ESet) -> bool {
    let free = |dim: &EDim| matches!(dim, EDim::Free(_));
    match set {
        ESet::Size(dim) => free(dim),
        ESet::Bool => false,
        ESet::Record(fields) => fields.iter().any(|(_, set)| is_open(set)),
        ESet::Sum(constrs) => constrs.iter().any(|c| c.payload.iter().any(is_open)),
        ESet::Declared(declared) => declared.sizes.iter().any(free),
    }
}

/// Whether an index set is named in a type, other than those that are made of constructors alone.
fn names_indices(env: &Env, ty: &Type) -> bool {
    match ty {
        Type::Prim(_) | Type::Meta(_) | Type::Arrow(_) | Type::Array { .. } => false,
        Type::Record(fields) => fields.iter().any(|(_, t)| names_indices(env, t)),
        Type::Sum(constrs) => constrs.iter().any(|(_, ts)| ts.iter().any(|t| names_indices(env, t))),
        Type::Named { id, .. } => match env.types.get(id) {
            Some(TypeBinding::Index(..)) => true,
            Some(TypeBinding::Closure(closure)) => *id == IDX || closure.index.is_some(),
            Some(TypeBinding::Type(_)) | None => false,
        },
    }
}
