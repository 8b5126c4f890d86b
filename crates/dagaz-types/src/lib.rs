//! Modules, names, type and size inference, and consumption checking for Dagaz.

pub mod typed;
pub mod types;
