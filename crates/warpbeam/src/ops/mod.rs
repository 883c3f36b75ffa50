//! Operations on tensors: dense copies of arrays with any strides.

mod copy;
#[cfg(feature = "cuda")]
mod launch;

pub use copy::{contiguous_copy, contiguous_copy_into};
pub use space::MOST_AXES;

mod space;
