//! Operations beside delay-and-sum: dense copies of arrays with any strides, rows from given places and to given places,
//! distances and angles, interpolation and scan conversion, spherical waves from sources to targets, products by
//! subscripts, clutter filters.
//!
//! Those on tensors take up to [`MOST_AXES`] axes, or views with any strides, and run where the tensors are, on a stream.
//! On CUDA the work may still run when a call returns: reading the output to the host waits for it.

mod coordinate;
mod copy;
mod einsum;
mod gather;
mod geometry;
mod greens;
mod indices;
mod interpolate;
#[cfg(feature = "cuda")]
mod launch;
mod rank;
mod scatter;
mod space;

pub use coordinate::Coordinate;
pub use copy::{ConvertTo, contiguous_copy, contiguous_copy_as, contiguous_copy_as_into, contiguous_copy_into};
pub use einsum::{EinsumError, EinsumPlan, Factor, einsum, einsum_into, einsum_into_with, einsum_of_one};
pub use gather::{gather, gather_into};
pub use geometry::{angle, distance_to_rectangle, pairwise_distance};
pub use greens::{Amplitude, GreensPlan};
pub use indices::Indices;
pub use interpolate::{
    InterpolationGrid, InterpolationMethod, InterpolationValue, Interpolator, PreparedPoints, SectorGrid, scan_convert,
};
pub use rank::{Components, MatrixElement, RankPlan, Truncation, truncate_rank, truncate_rank_into};
pub use scatter::{ScatterPlan, Summand, scatter_add_into, scatter_into};
pub use space::MOST_AXES;
