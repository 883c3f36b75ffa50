//! Long batches: samples packed with the batch contiguous, two rows at a time.
//!
//! The packed copy is `(transmit, channel, sample, part, batch)` in the precision of the sums; rows are a multiple of
//! [`LANES`] long, the rest zeros.

use super::super::prepared::Prepared;
use super::super::{Interpolation, Sample};
use super::tile::{ANY, Taps, UNUSED, Voxels};
use super::{Part, TILE, block_voxels};
use cuda_std::math::Real;
use ndarray::{ArrayView4, ArrayViewMut2, Axis, Ix4};
use rayon::prelude::*;

/// Numbers that are added at a time: the width of the widest vector units, or a few of the narrower ones.
const LANES: usize = 16;

/// Batch items of a packed copy at most: the sums of a tile stay in the first-level cache.
const MOST_ITEMS: usize = 64;

/// Samples that are packed together, so that what is written stays in the first-level cache.
const SAMPLES_AT_A_TIME: usize = 32;

/// How many batch items may be packed at a time within a memory limit; 0 if not even one row of lanes.
pub(super) fn items_within(data: &Ix4, sample_bytes: usize, memory_limit_bytes: Option<u64>) -> usize {
    let row_bytes = (data[1] * data[2] * data[3] * sample_bytes * LANES) as u64;
    match memory_limit_bytes.or_else(|| crate::device::Backend::cpu().available_memory_bytes()) {
        None => MOST_ITEMS,
        Some(limit) => limit
            .checked_div(row_bytes)
            .map_or(MOST_ITEMS, |rows| MOST_ITEMS.min(rows as usize * LANES)),
    }
}

/// Bytes of the packed copy of `items` batch items.
pub(super) fn copy_bytes(data: &Ix4, items: usize, sample_bytes: usize) -> u64 {
    let samples = [data[1], data[2], data[3], items.next_multiple_of(LANES), sample_bytes];
    samples
        .iter()
        .fold(1, |product: u64, n| product.saturating_mul(*n as u64))
}

/// Reconstructs `data` (batch, channel, transmit, sample) into `output` (batch, voxel).
pub(super) fn run<T: Sample>(
    prepared: &Prepared<T::Real>,
    part: &Part,
    data: &ArrayView4<'_, T>,
    mut output: ArrayViewMut2<'_, T::Sum>,
) {
    let packed = Packed::new(data);
    let block_voxels = block_voxels(prepared.n_voxels);
    output
        .axis_chunks_iter_mut(Axis(1), block_voxels)
        .into_par_iter()
        .enumerate()
        .for_each_init(
            || vec![T::Real::ZERO; block_voxels * packed.row],
            |sums, (block, output)| {
                pulp::Arch::new().dispatch(Block::<T> {
                    prepared,
                    part,
                    packed: &packed,
                    output,
                    sums,
                    first_voxel: block * block_voxels,
                });
            },
        );
}

/// Samples with the batch contiguous.
struct Packed<R> {
    values: Vec<R>,
    n_channels: usize,
    n_transmits: usize,
    n_samples: usize,
    /// Batch items of a part, padded.
    items: usize,
    /// Numbers of a sample: its parts, each `items` long.
    row: usize,
}

impl<R: Real> Packed<R> {
    fn new<T: Sample<Real = R>>(data: &ArrayView4<'_, T>) -> Self {
        let (n_batch, n_channels, n_transmits, n_samples) = data.dim();
        let items = n_batch.next_multiple_of(LANES);
        let row = items * T::PARTS;
        let mut values = vec![R::ZERO; n_transmits * n_channels * n_samples * row];
        if !values.is_empty() {
            values
                .par_chunks_exact_mut(n_samples * row)
                .enumerate()
                .for_each(|(signal, values)| {
                    let (transmit, channel) = (signal / n_channels, signal % n_channels);
                    for (block, values) in values.chunks_mut(SAMPLES_AT_A_TIME * row).enumerate() {
                        for item in 0..n_batch {
                            for (sample, values) in values.chunks_exact_mut(row).enumerate() {
                                let value = data[[item, channel, transmit, block * SAMPLES_AT_A_TIME + sample]];
                                for part in 0..T::PARTS {
                                    values[part * items + item] = value.part(part);
                                }
                            }
                        }
                    }
                });
        }
        Self {
            values,
            n_channels,
            n_transmits,
            n_samples,
            items,
            row,
        }
    }

    /// All samples of a transmit and channel.
    fn signal(&self, transmit: usize, channel: usize) -> &[R] {
        let length = self.n_samples * self.row;
        let start = (transmit * self.n_channels + channel) * length;
        &self.values[start..start + length]
    }
}

struct Block<'a, T: Sample> {
    prepared: &'a Prepared<T::Real>,
    part: &'a Part,
    packed: &'a Packed<T::Real>,
    output: ArrayViewMut2<'a, T::Sum>,
    /// A row for each voxel.
    sums: &'a mut [T::Real],
    first_voxel: usize,
}

impl<T: Sample> pulp::NullaryFnOnce for Block<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        match (T::PARTS == 2, self.prepared.interpolation) {
            (true, Interpolation::Nearest) => self.sum::<true, 1>(),
            (true, Interpolation::Linear) => self.sum::<true, 2>(),
            (true, _) => self.sum::<true, ANY>(),
            (false, Interpolation::Nearest) => self.sum::<false, 1>(),
            (false, Interpolation::Linear) => self.sum::<false, 2>(),
            (false, _) => self.sum::<false, ANY>(),
        }
    }
}

impl<T: Sample> Block<'_, T> {
    #[inline(always)]
    fn sum<const COMPLEX: bool, const N_TAPS: usize>(&mut self) {
        let Packed {
            n_channels,
            n_transmits,
            n_samples,
            items,
            row,
            ..
        } = *self.packed;
        let n_voxels = self.output.len_of(Axis(1));
        let tiles = Voxels::tiles(self.prepared, self.first_voxel..self.first_voxel + n_voxels);
        let mut taps = Taps::new();
        self.sums.fill(T::Real::ZERO);
        for transmit in 0..n_transmits {
            let transmit_of_all = self.part.first_transmit + transmit;
            let entries: Vec<_> = tiles
                .iter()
                .map(|tile| tile.entries(self.prepared, transmit_of_all))
                .collect();
            for channel in 0..n_channels {
                let signal = Signal {
                    samples: self.packed.signal(transmit, channel),
                    n_samples: n_samples as i32,
                    items,
                    row,
                    n_taps: self.prepared.interpolation.taps(),
                };
                for ((voxels, entries), sums) in tiles.iter().zip(&entries).zip(self.sums.chunks_exact_mut(TILE * row))
                {
                    for entry in entries {
                        taps.fill::<COMPLEX, N_TAPS>(
                            self.prepared,
                            voxels,
                            entry,
                            transmit_of_all,
                            self.part.first_channel + channel,
                            n_samples as i32,
                        );
                        for (v, sums) in sums.chunks_exact_mut(row).enumerate() {
                            if taps.first[v] != UNUSED {
                                signal.add::<COMPLEX, N_TAPS>(&taps, v, sums);
                            }
                        }
                    }
                }
            }
        }
        for (v, sums) in self.sums.chunks_exact(row).take(n_voxels).enumerate() {
            for (item, output) in self.output.column_mut(v).iter_mut().enumerate() {
                *output = T::sum(sums[item], if COMPLEX { sums[items + item] } else { T::Real::ZERO });
            }
        }
    }
}

/// All samples of a transmit and channel.
struct Signal<'a, R> {
    samples: &'a [R],
    n_samples: i32,
    items: usize,
    row: usize,
    n_taps: usize,
}

impl<R: Real> Signal<'_, R> {
    /// The sample of every batch item, if it is in the recording.
    #[inline(always)]
    fn row(&self, sample: i32) -> &[R] {
        let start = sample as usize * self.row;
        &self.samples[start..start + self.row]
    }

    /// Adds a voxel's weighted value of every batch item.
    #[inline(always)]
    fn add<const COMPLEX: bool, const N_TAPS: usize>(&self, taps: &Taps<R>, v: usize, sums: &mut [R]) {
        let weight = [taps.real[v], taps.imaginary[v]];
        let first = taps.first[v];
        if N_TAPS == ANY {
            for (at, share) in (first..self.n_samples).zip(&taps.shares[v][..self.n_taps]) {
                if at >= 0 {
                    let here = self.row(at);
                    let weight = weight.map(|part| part * *share);
                    accumulate::<R, COMPLEX, false>(weight, R::ZERO, self.items, here, here, sums);
                }
            }
        } else if N_TAPS == 1 {
            let here = self.row(first);
            accumulate::<R, COMPLEX, false>(weight, R::ZERO, self.items, here, here, sums);
        } else {
            let (here, next) = (self.row(first), self.row(first + 1));
            accumulate::<R, COMPLEX, true>(weight, taps.fraction[v], self.items, here, next, sums);
        }
    }
}

/// Adds a voxel's weighted sample of every batch item.
#[inline(always)]
fn accumulate<R: Real, const COMPLEX: bool, const LINEAR: bool>(
    [real, imaginary]: [R; 2],
    fraction: R,
    items: usize,
    here: &[R],
    next: &[R],
    sums: &mut [R],
) {
    let (here_real, here_imaginary) = rows(here, items);
    let (next_real, next_imaginary) = rows(next, items);
    let (sums_real, sums_imaginary) = sums.split_at_mut(items);
    let sums_real = sums_real.as_chunks_mut().0;
    if COMPLEX {
        let sums_imaginary = sums_imaginary.as_chunks_mut().0;
        for block in 0..sums_real.len() {
            let value_real = interpolated::<R, LINEAR>(here_real[block], next_real[block], fraction);
            let value_imaginary = interpolated::<R, LINEAR>(here_imaginary[block], next_imaginary[block], fraction);
            let sum = multiply_add(real, value_real, sums_real[block]);
            sums_real[block] = multiply_add(-imaginary, value_imaginary, sum);
            let sum = multiply_add(real, value_imaginary, sums_imaginary[block]);
            sums_imaginary[block] = multiply_add(imaginary, value_real, sum);
        }
    } else {
        for block in 0..sums_real.len() {
            let value = interpolated::<R, LINEAR>(here_real[block], next_real[block], fraction);
            sums_real[block] = multiply_add(real, value, sums_real[block]);
        }
    }
}

/// The real and the imaginary row of a sample, in blocks of lanes; real samples have an empty second row.
#[inline(always)]
fn rows<R>(sample: &[R], items: usize) -> (&[[R; LANES]], &[[R; LANES]]) {
    let (real, imaginary) = sample.split_at(items);
    (real.as_chunks().0, imaginary.as_chunks().0)
}

/// By value, as below: what is loaded before anything is stored can be a vector.
#[inline(always)]
fn interpolated<R: Real, const LINEAR: bool>(here: [R; LANES], next: [R; LANES], fraction: R) -> [R; LANES] {
    if !LINEAR {
        return here;
    }
    let mut value = here;
    for lane in 0..LANES {
        value[lane] = (next[lane] - here[lane]).mul_add(fraction, here[lane]);
    }
    value
}

#[inline(always)]
fn multiply_add<R: Real>(factor: R, values: [R; LANES], mut sums: [R; LANES]) -> [R; LANES] {
    for lane in 0..LANES {
        sums[lane] = factor.mul_add(values[lane], sums[lane]);
    }
    sums
}
