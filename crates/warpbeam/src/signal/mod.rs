//! Signals before and after beamforming: RF to IQ demodulation, envelope and log compression, colour Doppler.
//!
//! Every function takes arrays of any layout, computes in `f64` and returns a new array in standard layout. Results do
//! not depend on the number of threads.

mod demodulation;
mod doppler;
mod envelope;
mod error;
mod low_pass;
mod sample;

pub use demodulation::{Demodulation, demodulate};
pub use doppler::{ColorDoppler, color_doppler};
pub use envelope::{envelope, log_compress};
pub use error::SignalError;
pub use sample::{Real, RealSample};
