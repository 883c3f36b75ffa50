//! The physical level: a probe, waves, a medium and a grid in metres, seconds and hertz.
//!
//! An [`Acquisition`] says how channel data came about, a [`Grid`] where the image is wanted and a [`Reception`] which
//! elements each voxel listens to. Together they become the unitless [`DasGeometry`](crate::DasGeometry) and
//! [`DasOptions`](crate::DasOptions), in f64: lengths times `f_s / c`, times times `f_s`. Nothing here touches channel
//! data or a device.

mod acquisition;
mod beam;
mod check;
mod grid;
mod probe;
mod reception;
mod transmit;

pub use acquisition::{Acquisition, Medium};
pub use beam::Beam;
pub use grid::{Grid, axis};
pub use probe::Probe;
pub use reception::Reception;
pub use transmit::{NearFocus, Transmit, Wave};

#[cfg(test)]
mod tests;
