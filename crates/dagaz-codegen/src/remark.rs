//! What became of the operations of a program, for people: remarks by place in the source.

use dagaz_core::exp::Loc;

/// What the lowering has decided somewhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remark {
    pub loc: Loc,
    pub kind: RemarkKind,
    pub text: String,
}

/// In the order in which remarks about one line are shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RemarkKind {
    /// A matrix product.
    Product,
    /// Pieces on threads.
    Threads,
    /// Vector units.
    Simd,
    /// One iteration after the other.
    InOrder,
    /// Operations that became one.
    Fused,
    /// No memory of its own.
    View,
    InPlace,
    Copy,
    Memory,
}

impl RemarkKind {
    pub fn name(self) -> &'static str {
        match self {
            RemarkKind::Product => "matrix product",
            RemarkKind::Threads => "threads",
            RemarkKind::Simd => "SIMD",
            RemarkKind::InOrder => "in order",
            RemarkKind::Fused => "fused",
            RemarkKind::View => "view",
            RemarkKind::InPlace => "in place",
            RemarkKind::Copy => "copy",
            RemarkKind::Memory => "memory",
        }
    }
}
