//! From typed Dagaz programs to Core by partial evaluation
