//! Delay-and-sum: its geometry, its plan, and one backend a file.
//!
//! `out[b, n] = Σ_q Σ_m w_tx[q, n] · a_rx[m, n] · e^{i(κ·d + φ_q)} · s(x[b, m, q, ·], d)` with the delay
//! `d = offset[q, n] + |r_n − p_m|` in samples. A contribution with d < 0 or d ≥ K − 1 is 0. Channels or transmits can be
//! kept apart ([`SumOver`]), and every voxel can have a list of transmits of its own ([`TransmitLists`]).

#[cfg(feature = "cuda")]
mod bricks;
#[cfg(feature = "cuda")]
mod choice;
mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod geometry;
mod options;
#[cfg(feature = "cuda")]
mod order;
mod parts;
mod plan;
mod prepared;
mod sample;
#[cfg(feature = "cuda")]
mod split;
#[cfg(feature = "cuda")]
mod spread;

pub use geometry::{DasGeometry, TransmitLists};
pub use options::{Algorithm, Autotune, ChannelLayout, DasOptions, Precision};
pub use parts::SumOver;
pub use plan::{DasMemory, DasPlan, DasTiming};
pub use sample::Sample;
pub use wavefield::aperture::Window;
pub use wavefield::sampling::Interpolation;
