//! Values on structured grids at any points: grids, the plan that finds points in them, what it found, and scan conversion.

mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod grid;
mod mesh;
mod plan;
mod prepared;
#[cfg(feature = "cuda")]
mod random;
#[cfg(feature = "cuda")]
mod rows;
mod sector;

#[cfg(feature = "cuda")]
pub(super) use cuda::queue_widening;
pub use grid::InterpolationGrid;
pub use plan::{InterpolationMethod, Interpolator};
pub use prepared::{InterpolationValue, PreparedPoints};
pub use sector::{SectorGrid, scan_convert};
