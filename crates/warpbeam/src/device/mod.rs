//! Where the work happens: backends, the memory on them, streams of work and events in those.
//!
//! A [`Backend`] is a CPU or one CUDA device, a [`Tensor`] is memory on it, a [`Stream`] a queue of work for it. What
//! the work is lives elsewhere; this module knows nothing of beamforming. CUDA is the folder `cuda`, compiled with the
//! cargo feature of that name, and `cust` is used there and nowhere else.

mod access;
#[cfg(feature = "cuda")]
pub(crate) mod answers;
mod backend;
#[cfg(feature = "cuda")]
mod cuda;
mod element;
mod error;
mod host;
mod layout;
mod rates;
mod stream;
mod tensor;
mod transfer;
mod view;
#[cfg(feature = "cuda")]
mod workspace;

pub use backend::Backend;
#[cfg(feature = "cuda")]
pub(crate) use cuda::Cuda;
pub use element::Element;
pub use error::DeviceError;
pub use rates::DeviceRates;
pub use stream::{Event, Stream};
pub use tensor::Tensor;
pub use view::TensorView;

pub(crate) use host::zeroed;
#[cfg(feature = "cuda")]
pub(crate) use workspace::{Scratch, Workspace};

#[cfg(test)]
mod tests;
