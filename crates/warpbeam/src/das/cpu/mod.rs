//! Delay-and-sum on the CPU: threads share the voxels, vector units the batch.
//!
//! A thread takes a block of tiles of [`TILE`] voxels through all transmits and channels: delays and weights of a tile
//! at once, then the samples. Where the batch is long enough, samples are first packed with the batch contiguous, so
//! that two neighbouring samples of all batch items are two rows that vector units add without gathering.
//!
//! Every variant does the same operations in the same order for an item and a voxel, so results are the same bits.

mod packed;
mod strided;
mod tile;

use super::Sample;
use super::prepared::Prepared;
use ndarray::{ArrayView4, ArrayViewMut2, Axis, Slice};

/// Voxels that a thread works on at a time.
const TILE: usize = 32;

/// Tiles of a block at most: their sums stay in the second-level cache.
const MOST_TILES: usize = 16;

/// Blocks that every thread should get at least, so that all end at about the same time.
const BLOCKS_PER_THREAD: usize = 4;

/// Voxels that a thread takes through a transmit and channel before it goes on to the next: a signal comes into the
/// first-level cache once for all of them.
fn block_voxels(n_voxels: usize) -> usize {
    let blocks = BLOCKS_PER_THREAD * rayon::current_num_threads();
    TILE * n_voxels.div_ceil(TILE).div_ceil(blocks).clamp(1, MOST_TILES)
}

/// Batch items that pay for packing.
const PACK_FROM: usize = 8;

/// Samples of a channel, for every voxel, that do not pay for packing any more.
const MOST_SAMPLES_PER_VOXEL: usize = 4;

/// Reconstructs `data` (batch, channel, transmit, sample) into `output` (batch, voxel).
pub(super) fn run<T: Sample>(
    prepared: &Prepared<T::Real>,
    data: &ArrayView4<'_, T>,
    mut output: ArrayViewMut2<'_, T::Sum>,
    memory_limit_bytes: Option<u64>,
) {
    let n_batch = data.len_of(Axis(0));
    if output.is_empty() {
        return;
    }
    let widest = packed::items_within(&data.raw_dim(), size_of::<T::Real>() * T::PARTS, memory_limit_bytes);
    let is_sparse = data.len_of(Axis(3)) > MOST_SAMPLES_PER_VOXEL.saturating_mul(prepared.n_voxels);
    if n_batch < PACK_FROM || widest == 0 || is_sparse {
        strided::run(prepared, data, output);
        return;
    }
    for first in (0..n_batch).step_by(widest) {
        let items = Slice::from(first..n_batch.min(first + widest));
        packed::run(
            prepared,
            &data.slice_axis(Axis(0), items),
            output.slice_axis_mut(Axis(0), items),
        );
    }
}
