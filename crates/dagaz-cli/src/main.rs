//! The `dagaz` command.
fn main() {}
