//! A dimension of an array whose contributions come from parts that lie side by side, as the gates of an LSTM cell do: the
//! array is their concatenation, and no element asks which part it is in.
//!
//! ```text
//! map (n + m) (iota) \q ->                              let xs = map n (iota) \i -> …
//!   (if q < n then … else 0) +                    ==>   let ys = map m (iota) \j -> …
//!   (if 0 <= q - n < m then … else 0)                   concat (xs, ys)
//! ```

use dagaz_core::types::Atom;

use super::affine::{Affine, expanded, iterations, size_of};
use super::collect::Collected;
use super::nest::Nest;
use super::solve::{Contribution, width};

/// A part of a dimension, and what contributes to it.
pub(super) struct Tile {
    pub width: Atom,
    pub contributions: Vec<Contribution>,
}

/// The tiles of the dimension in order, if there are at least two and nothing else.
pub(super) fn tiles(
    found: &Collected<'_>,
    all: &[Contribution],
    nest: &Nest<'_>,
    dim: usize,
) -> Option<Vec<Tile>> {
    if all.len() < 2 {
        return None;
    }
    let mut rest: Vec<(Affine, Atom, Contribution)> = Vec::with_capacity(all.len());
    for contribution in all {
        let position = contribution.solved.iter().position(|s| s.dim == Some(dim))?;
        let mut contribution = contribution.clone();
        let solved = contribution.solved.remove(position);
        let size = width(found, solved.scope)?;
        let is_known_outside = size.as_var().is_none_or(|var| !found.defs.contains_key(&var));
        let is_shift = solved.sign == 1 && solved.modulus.is_none() && iterations(&solved.rest).is_empty();
        if !is_shift || !is_known_outside {
            return None;
        }
        contribution.tile = Some(solved.scope);
        rest.push((expanded(nest.made, &solved.rest)?, size, contribution));
    }
    let mut tiles: Vec<Tile> = Vec::new();
    let mut end = Affine::constant(0);
    while let Some((_, width, _)) = rest.iter().find(|(offset, ..)| *offset == end) {
        let width = *width;
        let (here, later): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|(offset, own, _)| *offset == end && *own == width);
        rest = later;
        tiles.push(Tile { width, contributions: here.into_iter().map(|(.., c)| c).collect() });
        end = end.plus(1, &size_of(nest.made, width)?)?;
    }
    let is_whole = rest.is_empty() && end == size_of(nest.made, nest.shape[dim])?;
    (is_whole && tiles.len() > 1).then_some(tiles)
}
