//! Delay-and-sum against the oracle and its own invariants, the same checks on every backend.

mod accumulate;
mod algorithms;
mod counts;
mod ends;
mod free_points;
mod halves;
mod isolation;
mod large;
mod lists;
mod memory;
mod options;
mod parts;
mod phase;
mod physical;
mod splits;
mod views;
