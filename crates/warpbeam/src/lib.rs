//! Image reconstruction from wave data at the speed of the hardware.

pub mod device;
mod error;

pub use device::{Backend, DeviceError, Element, Event, Stream, Tensor};
pub use error::{Error, Result};
