//! Small batches: samples where they lie, one batch item after another.

use super::super::prepared::Prepared;
use super::super::{Interpolation, Sample};
use super::tile::{ANY, Taps, UNUSED, Voxels};
use super::{Part, TILE, block_voxels};
use cuda_std::math::Real;
use ndarray::{ArrayView1, ArrayView4, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

/// Reconstructs `data` (batch, channel, transmit, sample) into `output` (batch, voxel).
pub(super) fn run<T: Sample>(
    prepared: &Prepared<T::Real>,
    part: &Part,
    data: &ArrayView4<'_, T>,
    mut output: ArrayViewMut2<'_, T::Sum>,
) {
    let block_voxels = block_voxels(prepared.n_voxels);
    output
        .axis_chunks_iter_mut(Axis(1), block_voxels)
        .into_par_iter()
        .enumerate()
        .for_each(|(block, output)| {
            pulp::Arch::new().dispatch(Block {
                prepared,
                part,
                data,
                output,
                first_voxel: block * block_voxels,
            });
        });
}

struct Block<'a, T: Sample> {
    prepared: &'a Prepared<T::Real>,
    part: &'a Part,
    data: &'a ArrayView4<'a, T>,
    output: ArrayViewMut2<'a, T::Sum>,
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
        let (n_batch, n_channels, n_transmits, n_samples) = self.data.dim();
        let n_voxels = self.output.len_of(Axis(1));
        let tiles = Voxels::tiles(self.prepared, self.first_voxel..self.first_voxel + n_voxels);
        let mut taps = Taps::new();
        let n_taps = self.prepared.interpolation.taps();
        let mut sums = vec![[[T::Real::ZERO; 2]; TILE]; tiles.len() * n_batch];
        for transmit in 0..n_transmits {
            let transmit_of_all = self.part.first_transmit + transmit;
            let entries: Vec<_> = tiles
                .iter()
                .map(|tile| tile.entries(self.prepared, transmit_of_all))
                .collect();
            for channel in 0..n_channels {
                for ((voxels, entries), sums) in tiles.iter().zip(&entries).zip(sums.chunks_exact_mut(n_batch)) {
                    for entry in entries {
                        taps.fill::<COMPLEX, N_TAPS>(
                            self.prepared,
                            voxels,
                            entry,
                            transmit_of_all,
                            self.part.first_channel + channel,
                            n_samples as i32,
                        );
                        for (item, sums) in sums.iter_mut().enumerate() {
                            let samples = self.data.slice(s![item, channel, transmit, ..]);
                            accumulate::<T, COMPLEX, N_TAPS>(&samples, &taps, n_taps, sums);
                        }
                    }
                }
            }
        }
        for (mut output, sums) in self
            .output
            .axis_chunks_iter_mut(Axis(1), TILE)
            .zip(sums.chunks_exact(n_batch))
        {
            for (item, sums) in sums.iter().enumerate() {
                for (output, [real, imaginary]) in output.row_mut(item).iter_mut().zip(sums) {
                    *output = T::sum(*real, *imaginary);
                }
            }
        }
    }
}

#[inline(always)]
fn accumulate<T: Sample, const COMPLEX: bool, const N_TAPS: usize>(
    samples: &ArrayView1<'_, T>,
    taps: &Taps<T::Real>,
    n_taps: usize,
    sums: &mut [[T::Real; 2]; TILE],
) {
    for (v, sums) in sums.iter_mut().enumerate() {
        if taps.first[v] == UNUSED {
            continue;
        }
        let first = taps.first[v] as usize;
        let value = |part| {
            if N_TAPS == ANY {
                let mut sum = T::Real::ZERO;
                let n_samples = samples.len() as i32;
                for (at, share) in (taps.first[v]..n_samples).zip(&taps.shares[v][..n_taps]) {
                    if at >= 0 {
                        sum = Real::mul_add(samples[at as usize].part(part), *share, sum);
                    }
                }
                return sum;
            }
            let here = samples[first].part(part);
            if N_TAPS == 1 {
                return here;
            }
            let next = samples[first + 1].part(part);
            Real::mul_add(next - here, taps.fraction[v], here)
        };
        let [real, imaginary] = *sums;
        *sums = if COMPLEX {
            let (value_real, value_imaginary) = (value(0), value(1));
            [
                Real::mul_add(
                    -taps.imaginary[v],
                    value_imaginary,
                    Real::mul_add(taps.real[v], value_real, real),
                ),
                Real::mul_add(
                    taps.imaginary[v],
                    value_real,
                    Real::mul_add(taps.real[v], value_imaginary, imaginary),
                ),
            ]
        } else {
            [Real::mul_add(taps.real[v], value(0), real), imaginary]
        };
    }
}
