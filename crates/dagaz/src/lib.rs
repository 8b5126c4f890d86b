//! Dagaz as a library: compile programs and call their entry points
