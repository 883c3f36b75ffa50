//! Propagation from sources to targets: its plan, and one backend a file.
//!
//! `y[b, t, f] = Σ_s x[b, s, f] · e^{i k_f r} / r`, `r` the distance from source s to target t.

mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
#[cfg(feature = "cuda")]
mod halves;
mod halving;
mod plan;
mod prepared;

pub use plan::{Amplitude, GreensPlan};
