//! Core: the first-order intermediate language of Dagaz, its text form, verifier and interpreter
