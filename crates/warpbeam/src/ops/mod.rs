//! Operations on tensors beside delay-and-sum.

mod greens;
mod rank;

pub use greens::{Amplitude, GreensPlan};
pub use rank::{Components, MatrixElement, Truncated, truncate_rank};
