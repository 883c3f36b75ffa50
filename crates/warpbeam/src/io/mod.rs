//! Files in and out: MATLAB 5 `.mat` files and the acquisitions stored in them, PNG pictures, NPY arrays.
//!
//! What is read is checked before it is believed, and says what it found where it fails. What is written appears
//! under its name when it is complete, never before. Nothing here knows of beamforming or of a device.

mod atomic;
mod error;
pub mod mat;
pub mod must;
pub mod npy;
pub mod png;

pub use atomic::atomic_write;
pub use error::IoError;
pub use mat::{MatFile, MatStruct, MatValue};
