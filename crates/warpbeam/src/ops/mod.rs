//! Operations on tensors beside delay-and-sum.

mod greens;

pub use greens::{Amplitude, GreensPlan};
