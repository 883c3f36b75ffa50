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

use super::prepared::Prepared;
use super::{Precision, Sample};
use cuda_std::math::Real;
use kernels::das::scale::half_exponent;
use ndarray::{Array4, ArrayView4, ArrayViewMut2, ArrayViewMut3, Axis, Ix4, Slice};

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

/// The transmits and the channels that a part of the sum is over.
struct Part {
    first_transmit: usize,
    first_channel: usize,
}

/// Reconstructs `data` (batch, channel, transmit, sample) into `output` (batch, part, voxel).
pub(super) fn run<T: Sample>(
    prepared: &Prepared<T::Real>,
    data: &ArrayView4<'_, T>,
    mut output: ArrayViewMut3<'_, T::Sum>,
    memory_limit_bytes: Option<u64>,
) {
    if output.is_empty() {
        return;
    }
    let rounded;
    let data = match prepared.precision {
        // Halves and 16-bit samples are as small already.
        Precision::F16 { exponent } if size_of::<T>() > size_of::<i16>() * T::PARTS => {
            rounded = rounded_to_half(data, exponent);
            rounded.view()
        }
        _ => data.view(),
    };
    for (number, output) in output.axis_iter_mut(Axis(1)).enumerate() {
        let [(channel_axis, channels), (transmit_axis, transmits)] = prepared.parts.ranges(number);
        let part = Part {
            first_transmit: transmits.start,
            first_channel: channels.start,
        };
        let mut data = data.view();
        data.slice_axis_inplace(channel_axis, Slice::from(channels));
        data.slice_axis_inplace(transmit_axis, Slice::from(transmits));
        run_part(prepared, &part, &data, output, memory_limit_bytes);
    }
}

fn run_part<T: Sample>(
    prepared: &Prepared<T::Real>,
    part: &Part,
    data: &ArrayView4<'_, T>,
    mut output: ArrayViewMut2<'_, T::Sum>,
    memory_limit_bytes: Option<u64>,
) {
    let widest = packed_items::<T>(prepared, &data.raw_dim(), memory_limit_bytes);
    if widest == 0 {
        strided::run(prepared, part, data, output);
        return;
    }
    for first in (0..data.len_of(Axis(0))).step_by(widest) {
        let items = Slice::from(first..data.len_of(Axis(0)).min(first + widest));
        packed::run(
            prepared,
            part,
            &data.slice_axis(Axis(0), items),
            output.slice_axis_mut(Axis(0), items),
        );
    }
}

/// How many batch items are packed at a time; 0 where packing does not pay or has no room.
fn packed_items<T: Sample>(prepared: &Prepared<T::Real>, data: &Ix4, memory_limit_bytes: Option<u64>) -> usize {
    let is_sparse = data[3] > MOST_SAMPLES_PER_VOXEL.saturating_mul(prepared.n_voxels);
    if data[0] < PACK_FROM || is_sparse {
        return 0;
    }
    packed::items_within(data, size_of::<T::Real>() * T::PARTS, memory_limit_bytes)
}

/// Bytes of the copies that a run over data of that shape makes.
pub(super) fn copy_bytes<T: Sample>(prepared: &Prepared<T::Real>, data: &Ix4, memory_limit_bytes: Option<u64>) -> u64 {
    let of_part = Ix4(
        data[0],
        prepared.parts.channels_per_part(),
        prepared.parts.transmits_per_part(),
        data[3],
    );
    let items = packed_items::<T>(prepared, &of_part, memory_limit_bytes).min(data[0]);
    packed::copy_bytes(&of_part, items, size_of::<T::Real>() * T::PARTS)
}

/// The samples as halves hold them, each batch item scaled by a power of two meanwhile.
fn rounded_to_half<T: Sample>(data: &ArrayView4<'_, T>, exponent: Option<i32>) -> Array4<T> {
    let mut rounded = data.to_owned();
    for mut item in rounded.axis_iter_mut(Axis(0)) {
        let magnitudes = item
            .iter()
            .flat_map(|sample| (0..T::PARTS).map(|part| sample.part(part).to_f64().abs()));
        let peak = magnitudes.filter(|magnitude| magnitude.is_finite()).fold(0.0, f64::max);
        let exponent = exponent.unwrap_or_else(|| half_exponent(peak as f32));
        item.mapv_inplace(|sample| sample.rounded_to_half(exponent));
    }
    rounded
}
