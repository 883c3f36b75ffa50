//! Interpolation on structured grids: the math of `wavefield::interpolation`, a thread a coordinate, a box or a point.
//!
//! | kernels | what they make |
//! |---|---|
//! | [`boxes`] | coordinates in double precision; the first coordinate that is no number; boxes around cells, and around those of the level below |
//! | [`locate`] | a place for every point: along axes, or through the boxes |
//! | [`jumps`] | how many points are far from the one before |
//! | [`evaluate`] | values at the places |
//! | [`rows`] | the same for places far from each other |
//!
//! Blocks have [`THREADS`] threads and, but for [`rows`], no shared memory. The launching side puts one launch after the other for each level
//! of boxes; no result depends on the order of threads.

pub mod boxes;
pub mod evaluate;
pub mod jumps;
pub mod locate;
pub mod rows;

cuda_std::on_host! {
    pub use rows::Instance;
}

use cuda_std::{Global, thread};
use wavefield::geometry::Vector;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Words of a report: the first bad coordinate, and what [`jumps`] and [`boxes`] add to it.
pub const REPORT: [u32; 4] = [boxes::NONE, 0, 0, 0];

/// The number of the thread's piece of work.
#[inline(always)]
fn number() -> u32 {
    thread::block_idx_x() * THREADS + thread::thread_idx_x()
}

/// A vector of `(.., 3)`.
///
/// # Safety
///
/// There are more vectors than `number`.
#[inline(always)]
unsafe fn vector(of: Global<f64>, number: u32) -> Vector<f64> {
    let at = 3 * u64::from(number);
    // SAFETY: the caller's promise.
    unsafe { [of.load(at), of.load(at + 1), of.load(at + 2)] }
}
