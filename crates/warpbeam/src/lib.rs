//! Image reconstruction from wave data at the speed of the hardware.
//!
//! With the feature `tracing`, plans, runs, operations and transfers are spans of the crate `tracing`, target `warpbeam`.
//! NVIDIA's crate `nvtx` has a layer (`nvtx::tracing::NvtxLayer`) that shows such spans as ranges in Nsight Systems. What is
//! queued on a GPU may go on after its span.

#[macro_use]
mod range;

pub mod das;
pub mod device;
mod error;
pub mod io;
pub mod ops;
pub mod physical;
pub mod signal;
#[cfg(feature = "cuda")]
mod sort;

pub use das::{
    Algorithm, Autotune, ChannelLayout, DasGeometry, DasMemory, DasOptions, DasPlan, DasTiming, Interpolation,
    Precision, Sample, SumOver, TransmitLists, Window,
};
pub use device::{Backend, DeviceError, DeviceRates, Element, Event, Stream, Tensor, TensorView};
pub use error::{Error, Result};
pub use physical::{Acquisition, Beam, Grid, Medium, NearFocus, Probe, Reception, Transmit, Wave};
