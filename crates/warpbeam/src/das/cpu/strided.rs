//! Small batches: samples where they lie, one batch item after another.

use super::super::prepared::Prepared;
use super::super::{Interpolation, Sample};
use super::tile::{Taps, UNUSED, Voxels};
use super::{TILE, block_voxels};
use cuda_std::math::Real;
use ndarray::{ArrayView1, ArrayView4, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

/// Reconstructs `data` (batch, channel, transmit, sample) into `output` (batch, voxel).
pub(super) fn run<T: Sample>(
    prepared: &Prepared<T::Real>,
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
                data,
                output,
                first_voxel: block * block_voxels,
            });
        });
}

struct Block<'a, T: Sample> {
    prepared: &'a Prepared<T::Real>,
    data: &'a ArrayView4<'a, T>,
    output: ArrayViewMut2<'a, T::Sum>,
    first_voxel: usize,
}

impl<T: Sample> pulp::NullaryFnOnce for Block<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        match (T::PARTS == 2, self.prepared.interpolation) {
            (true, Interpolation::Linear) => self.sum::<true, true>(),
            (true, Interpolation::Nearest) => self.sum::<true, false>(),
            (false, Interpolation::Linear) => self.sum::<false, true>(),
            (false, Interpolation::Nearest) => self.sum::<false, false>(),
        }
    }
}

impl<T: Sample> Block<'_, T> {
    #[inline(always)]
    fn sum<const COMPLEX: bool, const LINEAR: bool>(&mut self) {
        let (n_batch, n_channels, n_transmits, n_samples) = self.data.dim();
        let n_voxels = self.output.len_of(Axis(1));
        let tiles = Voxels::tiles(self.prepared, self.first_voxel..self.first_voxel + n_voxels);
        let mut taps = Taps::new();
        let mut sums = vec![[[T::Real::ZERO; 2]; TILE]; tiles.len() * n_batch];
        for transmit in 0..n_transmits {
            let offsets_and_weights: Vec<_> = tiles
                .iter()
                .map(|tile| tile.transmit(self.prepared, transmit))
                .collect();
            for channel in 0..n_channels {
                let n_samples = n_samples as i32;
                for ((voxels, offsets_and_weights), sums) in tiles
                    .iter()
                    .zip(&offsets_and_weights)
                    .zip(sums.chunks_exact_mut(n_batch))
                {
                    taps.fill::<COMPLEX, LINEAR>(
                        self.prepared,
                        voxels,
                        offsets_and_weights,
                        transmit,
                        channel,
                        n_samples,
                    );
                    for (item, sums) in sums.iter_mut().enumerate() {
                        let samples = self.data.slice(s![item, channel, transmit, ..]);
                        accumulate::<T, COMPLEX, LINEAR>(&samples, &taps, sums);
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
fn accumulate<T: Sample, const COMPLEX: bool, const LINEAR: bool>(
    samples: &ArrayView1<'_, T>,
    taps: &Taps<T::Real>,
    sums: &mut [[T::Real; 2]; TILE],
) {
    for (v, sums) in sums.iter_mut().enumerate() {
        if taps.first[v] == UNUSED {
            continue;
        }
        let first = taps.first[v] as usize;
        let value = |part| {
            let here = samples[first].part(part);
            if !LINEAR {
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
