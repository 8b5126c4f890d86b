//! Which statements depend on the rows of a product, and whether that ends in sums.

use std::collections::{HashMap, HashSet};

use dagaz_core::exp::{AxesOf, Body, Check, Exp, Lambda, Stm};
use dagaz_core::types::{Atom, Param, Type, VarId};

use super::super::facts::Definitions;
use dagaz_core::effects::Effects;
use dagaz_core::visit::free_vars;

/// Statements that can be computed for some rows at a time.
pub(super) struct Chain {
    pub rows: Atom,
    /// The sizes of a row of the first product.
    pub row: Vec<Atom>,
    /// Positions in the body, in order.
    pub members: Vec<(usize, Role)>,
    /// Vectors with a number for each row, which are needed whole.
    pub kept: Vec<Param>,
    /// The members can be computed before the statement at this position.
    pub place: usize,
    /// What comes later, and the members need.
    pub early: Vec<usize>,
}

/// What becomes of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Other rows, for each its own.
    Rows,
    /// A product that sums over them.
    Product,
    /// A reduction.
    Fold,
    /// Sums of columns: a map of reductions.
    Columns,
    /// Updates of accumulators, and maybe other rows.
    Update,
}

/// The first chain of a body.
pub(super) fn find(facts: &Definitions, effects: &Effects, body: &Body) -> Option<Chain> {
    let products = body.stms.iter().filter_map(product_by_rows);
    let numbers: HashSet<Atom> = products.map(|(rows, _)| rows).collect();
    if numbers.is_empty() {
        return None;
    }
    body.stms.iter().enumerate().find_map(|(at, stm)| {
        let rows = match &stm.exp {
            Exp::Map { width, .. } => *width,
            Exp::Contract { .. } => product_by_rows(stm)?.0,
            _ => return None,
        };
        let finder = Finder { facts, effects, body, rows };
        numbers.contains(&rows).then(|| finder.chain(at)).flatten()
    })
}

/// The number and the sizes of the rows that a product gives, each of them a matrix or vector of products.
fn product_by_rows(stm: &Stm) -> Option<(Atom, Vec<Atom>)> {
    let Exp::Contract { sizes, rank, left, right, plus: None, .. } = &stm.exp else { return None };
    let is_by_row = |one: &AxesOf, other: &AxesOf| one.axes.first() == Some(&0) && !other.axes.contains(&0);
    let is_product = *rank > 1 && (is_by_row(left, right) || is_by_row(right, left));
    // A row of known size is short.
    let fits =
        is_product && sizes[0].as_var().is_some() && sizes[1..*rank].iter().any(|d| d.as_var().is_some());
    fits.then(|| (sizes[0], sizes[1..*rank].to_vec()))
}

struct Finder<'f> {
    facts: &'f Definitions,
    effects: &'f Effects,
    body: &'f Body,
    rows: Atom,
}

impl Finder<'_> {
    /// All that depends on a statement.
    fn chain(&self, first: usize) -> Option<Chain> {
        let mut members = Vec::new();
        // How often the arrays by rows are used by members.
        let mut given: HashMap<VarId, usize> = HashMap::new();
        let mut params: Vec<&Param> = Vec::new();
        let mut row = None;
        for (at, stm) in self.body.stms.iter().enumerate().skip(first) {
            let used = used(stm, &given);
            if at > first && used.is_empty() {
                continue;
            }
            match self.role(stm, &given) {
                Some((role, accounted)) if accounted == used.len() => {
                    used.iter().for_each(|var| *given.entry(*var).or_default() += 1);
                    params.extend(&stm.pat[sums(stm, role)..]);
                    given.extend(stm.pat[sums(stm, role)..].iter().map(|p| (p.var, 0)));
                    members.push((at, role));
                }
                // Vectors can be kept for others.
                _ if used.iter().all(|var| self.facts.types.get(var).is_some_and(|ty| ty.rank() == 1)) => {
                    continue;
                }
                _ => return None,
            }
            row = row.or_else(|| product_by_rows(stm).map(|(_, row)| row));
        }
        let ends = |(_, role): &(usize, Role)| *role != Role::Rows;
        let is_left = |param: &&&Param| self.facts.uses.get(&param.var) != Some(&given[&param.var]);
        let kept: Vec<Param> = params.iter().filter(is_left).map(|p| (**p).clone()).collect();
        let are_vectors = kept.iter().all(|param| param.ty.rank() == 1);
        if members.first()?.1 != Role::Rows || !members.iter().any(ends) || !are_vectors {
            return None;
        }
        let (place, early) = self.place(&members)?;
        Some(Chain { rows: self.rows, row: row?, members, kept, place, early })
    }

    /// What a statement does with rows, and how often it uses arrays by rows for that.
    fn role(&self, stm: &Stm, given: &HashMap<VarId, usize>) -> Option<(Role, usize)> {
        let is_given = |var: &VarId| given.contains_key(var);
        let count = |arrays: &[VarId]| arrays.iter().filter(|var| is_given(var)).count();
        match &stm.exp {
            Exp::Map { width, arrays, .. } if *width == self.rows => {
                stm.pat.iter().all(|p| !p.ty.is_acc()).then(|| (Role::Rows, count(arrays)))
            }
            Exp::Map { lambda, .. } => self.columns(stm, lambda, given),
            Exp::Reduce { width, arrays, .. } if *width == self.rows => Some((Role::Fold, count(arrays))),
            Exp::Contract { sizes, rank, left, right, plus, .. } => {
                let operands = [left, right];
                let of = |label: usize| {
                    operands.iter().all(|o| match o.axes.iter().position(|axis| *axis == label) {
                        Some(at) => at == 0,
                        None => !is_given(&o.array),
                    })
                };
                let uses = count(&[left.array, right.array]);
                let is_fresh = plus.is_none_or(|array| !is_given(&array));
                if sizes[0] == self.rows && *rank > 0 && of(0) && plus.is_none() {
                    Some((Role::Rows, uses))
                } else {
                    let is_sum = sizes[*rank..] == [self.rows] && of(*rank) && is_fresh;
                    is_sum.then_some((Role::Product, uses))
                }
            }
            Exp::Reshape { dims, array } if is_given(array) => {
                (dims.first() == Some(&self.rows)).then_some((Role::Rows, 1))
            }
            Exp::Rearrange { perm, array } if is_given(array) => {
                (perm.first() == Some(&0)).then_some((Role::Rows, 1))
            }
            Exp::WithAcc { inputs, lambda } => {
                self.update(stm, inputs.iter().map(|i| i.arrays.len()).sum(), lambda, given)
            }
            _ => None,
        }
    }

    /// Accumulators that one map over the rows updates.
    fn update(
        &self,
        stm: &Stm,
        accumulators: usize,
        lambda: &Lambda,
        given: &HashMap<VarId, usize>,
    ) -> Option<(Role, usize)> {
        let [inner] = &lambda.body.stms[..] else { return None };
        let Exp::Map { width, arrays, .. } = &inner.exp else { return None };
        let others = &lambda.body.result[lambda.params.len()..];
        let is_result = |atom: &Atom| inner.pat.iter().any(|p| Atom::Var(p.var) == *atom);
        let fits = *width == self.rows
            && accumulators + others.len() == stm.pat.len()
            && others.iter().all(is_result);
        fits.then(|| (Role::Update, arrays.iter().filter(|var| given.contains_key(var)).count()))
    }

    /// A map whose function is one reduction over the numbers of rows, which reads the rows with these.
    fn columns(&self, stm: &Stm, lambda: &Lambda, given: &HashMap<VarId, usize>) -> Option<(Role, usize)> {
        let [inner] = &lambda.body.stms[..] else { return None };
        let Exp::Reduce { width, arrays, pre: Some(pre), neutral, .. } = &inner.exp else { return None };
        let ([result], [numbers], [Atom::Const(_)]) = (&stm.pat[..], &arrays[..], &neutral[..]) else {
            return None;
        };
        let is_perfect = lambda.body.result == [Atom::Var(inner.pat.first()?.var)] && result.ty.rank() == 1;
        let number = Atom::Var(pre.params.first()?.var);
        let reads =
            pre.body.stms.iter().filter(|stm| reads_row(stm, number).is_some_and(|a| given.contains_key(&a)));
        let fits = *width == self.rows
            && is_perfect
            && self.facts.is_numbers(*numbers, self.rows)
            && only_reads_rows(&pre.body, number);
        fits.then(|| (Role::Columns, reads.count()))
    }

    /// Where the chain can be computed: as late as possible, because of what was checked before, but before others need it.
    fn place(&self, members: &[(usize, Role)]) -> Option<(usize, Vec<usize>)> {
        let is_member = |at: usize| members.iter().any(|(member, _)| *member == at);
        let stms = |at: usize| &self.body.stms[at];
        let of_members = || members.iter().map(|(at, _)| stms(*at));
        // A sum is there only when the last block has been added.
        let sums: HashSet<VarId> = members
            .iter()
            .flat_map(|(at, role)| &stms(*at).pat[..sums(stms(*at), *role)])
            .map(|p| p.var)
            .collect();
        if of_members().flat_map(needs).any(|var| sums.contains(&var)) {
            return None;
        }
        let results: HashSet<VarId> = of_members().flat_map(|stm| &stm.pat).map(|p| p.var).collect();
        let last = members.last()?.0;
        let others = |from: usize| (from..=last).filter(|at| !is_member(*at));
        let is_user = |stm: &Stm| needs(stm).iter().any(|var| results.contains(var));
        let place = others(members[0].0).find(|at| is_user(stms(*at))).unwrap_or(last);
        // What is asserted in between, later members rely on. The size of an array is no such thing.
        let is_harmless = |stm: &Stm| {
            matches!(stm.exp, Exp::Iota { .. } | Exp::Replicate { .. }) || self.effects.is_removable(stm)
        };
        if !others(place).all(|at| is_harmless(stms(at))) {
            return None;
        }
        let mut needed: HashSet<VarId> = of_members().flat_map(needs).collect();
        let mut early = Vec::new();
        for at in others(place).collect::<Vec<_>>().into_iter().rev() {
            if stms(at).pat.iter().any(|p| needed.contains(&p.var)) {
                needed.extend(needs(stms(at)));
                early.insert(0, at);
            }
        }
        (!early.iter().any(|at| is_user(stms(*at)))).then_some((place, early))
    }
}

/// The variables that a statement needs, sizes of its results included.
fn needs(stm: &Stm) -> Vec<VarId> {
    let sizes = stm.pat.iter().flat_map(|p| p.ty.all_dims()).filter_map(Atom::as_var);
    sizes.chain(free_vars(&stm.exp)).collect()
}

/// How many of the results of a member are sums.
pub(super) fn sums(stm: &Stm, role: Role) -> usize {
    match (role, &stm.exp) {
        (Role::Rows, _) => 0,
        (Role::Update, Exp::WithAcc { inputs, .. }) => inputs.iter().map(|i| i.arrays.len()).sum(),
        _ => stm.pat.len(),
    }
}

/// The arrays that a statement uses, as often as it does.
fn used(stm: &Stm, arrays: &HashMap<VarId, usize>) -> Vec<VarId> {
    fn of(exp: &Exp, found: &mut impl FnMut(VarId)) {
        dagaz_core::visit::direct_operands(exp, &mut |atom| atom.as_var().into_iter().for_each(&mut *found));
        for body in dagaz_core::visit::bodies(exp) {
            body.stms.iter().for_each(|stm| of(&stm.exp, found));
            body.result.iter().filter_map(|atom| atom.as_var()).for_each(&mut *found);
        }
    }
    let mut used = Vec::new();
    of(&stm.exp, &mut |var| {
        if arrays.contains_key(&var) {
            used.push(var);
        }
    });
    used
}

/// The array that a statement reads a part of a row of, if the number of the row is the given one.
pub(super) fn reads_row(stm: &Stm, number: Atom) -> Option<VarId> {
    match &stm.exp {
        Exp::Index { array, indices, check: Check::Certified } => {
            (indices.first() == Some(&number)).then_some(*array)
        }
        _ => None,
    }
}

/// Whether a number is used to read rows, and for nothing else.
fn only_reads_rows(body: &Body, number: Atom) -> bool {
    let Some(var) = number.as_var() else { return false };
    let fits = |stm: &Stm| match &stm.exp {
        Exp::Index { indices, .. } if reads_row(stm, number).is_some() => !indices[1..].contains(&number),
        exp => !free_vars(exp).contains(&var),
    };
    body.stms.iter().all(fits) && !body.result.contains(&number)
}

/// The type of so many rows of an array.
pub(super) fn with_rows(ty: &Type, rows: Atom) -> Type {
    match ty {
        Type::Array { elem, dims } => {
            let dims = [rows].into_iter().chain(dims.iter().skip(1).copied()).collect();
            Type::array(*elem, dims)
        }
        Type::Prim(_) | Type::Acc { .. } => ty.clone(),
    }
}
