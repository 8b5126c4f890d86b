//! Orders between indices: of dimensions of arrays, and of the maps around a place.

use dagaz_core::types::VarId;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// The iteration of a map, which is called by the first parameter of its function.
    Level(VarId),
    /// The index along a dimension of the array that this is about.
    Dim(usize),
}

/// The index at one place is at most that at another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Order {
    pub low: Side,
    pub high: Side,
}

impl Order {
    /// The same order about another array, if both places are something there.
    pub fn at(self, place: impl Fn(Side) -> Option<Side>) -> Option<Order> {
        Some(Order { low: place(self.low)?, high: place(self.high)? })
    }
}

/// Orders about another array.
pub(super) fn moved(orders: &[Order], place: impl Fn(Side) -> Option<Side>) -> Vec<Order> {
    orders.iter().filter_map(|order| order.at(&place)).collect()
}

/// A place of an array, for a row of it in a map.
pub(super) fn in_row(level: VarId, place: Side) -> Side {
    match place {
        Side::Dim(0) => Side::Level(level),
        Side::Dim(dim) => Side::Dim(dim - 1),
        Side::Level(_) => place,
    }
}

/// A place of a row in a map, for the array of all rows.
pub(super) fn in_rows(level: VarId, place: Side) -> Side {
    match place {
        Side::Level(own) if own == level => Side::Dim(0),
        Side::Dim(dim) => Side::Dim(dim + 1),
        Side::Level(_) => place,
    }
}

/// Both, without those that are there already.
pub(super) fn union(mut orders: Vec<Order>, others: &[Order]) -> Vec<Order> {
    for order in others {
        if !orders.contains(order) {
            orders.push(*order);
        }
    }
    orders
}

pub(super) fn intersection(mut orders: Vec<Order>, others: &[Order]) -> Vec<Order> {
    orders.retain(|order| others.contains(order));
    orders
}
