//! Operations on tensors: dense copies of arrays with any strides, rows from given places and to given places, distances
//! and angles.
//!
//! All take tensors of up to [`MOST_AXES`] axes, or views of them with any strides, and run where those are, on a stream.
//! On CUDA the work may still run when a call returns: reading the output to the host waits for it.

mod copy;
mod gather;
mod geometry;
mod indices;
#[cfg(feature = "cuda")]
mod launch;
mod scatter;
mod space;

pub use copy::{contiguous_copy, contiguous_copy_into};
pub use gather::{gather, gather_into};
pub use geometry::{Coordinate, angle, distance_to_rectangle, pairwise_distance};
pub use indices::Indices;
pub use scatter::{ScatterPlan, Summand, scatter_add_into, scatter_into};
pub use space::MOST_AXES;
