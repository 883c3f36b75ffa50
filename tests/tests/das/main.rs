//! Delay-and-sum against the oracle and its own invariants, the same checks on every backend.

mod algorithms;
mod counts;
mod ends;
mod isolation;
mod large;
mod options;
mod phase;
mod physical;
mod splits;
mod views;
