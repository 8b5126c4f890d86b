//! Products of matrices as statements.

use dagaz_core::prim::PrimType;

use super::{Expr, Site, Var};

/// Matrices, m times k by k times n, that go to a third one or are added to it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Product {
    pub elem: PrimType,
    /// The batch, m, n and k.
    pub sizes: [Expr; 4],
    /// How far apart the parts of a batch, rows and columns are, of left, right and result.
    pub strides: [[Expr; 3]; 3],
    pub adds: bool,
    pub triangle: Option<Box<TriangleBounds>>,
    /// Left, right and result.
    pub operands: [Expr; 3],
    /// Where a copy of the right operand in the order of kernels is kept, to be used again.
    pub copy: Option<(Var, Site)>,
}

/// Which elements of a product are wanted: those where the number of one side is at most that of another.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TriangleBounds {
    pub row_period: Expr,
    pub column_period: Expr,
    /// The side with the lower number, and the one with the higher number.
    pub bounds: Vec<(Side, Side)>,
    /// Whether what comes after this product of several is in no cache, either.
    pub is_far: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    Row,
    Column,
    Depth,
}
