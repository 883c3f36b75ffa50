//! The launches of a thread a voxel.

use super::{Call, CudaDas, MOST_LAYERS};
use crate::Result;
use crate::das::Sample;
use cuda_std::Launch;
use kernels::das::output::Output;
use kernels::das::voxel::{DasVoxel, Instances, THREADS, Taps, Tile};
use wavefield::sampling::Interpolation;

/// The kernel's taps for an interpolation.
pub(super) fn taps(interpolation: Interpolation) -> Taps {
    match interpolation {
        Interpolation::Nearest => Taps::One,
        Interpolation::Linear => Taps::Two,
        _ => Taps::Any,
    }
}

impl<T: Sample> CudaDas<T> {
    /// Compiles the kernels.
    pub(super) fn prepare_voxel(&self) -> Result<()> {
        for tile in [Tile::Items, Tile::Item, Tile::Transmits] {
            self.cuda.prepare(&<T::Device as Instances>::kernel(
                taps(self.parameters.interpolation),
                tile,
            ))?;
        }
        Ok(())
    }

    /// Queues the sum of every batch item of a call that `output` wants.
    pub(super) fn launch_voxel(&self, tile: Tile, call: &Call<'_, T>, output: Output<T::Sum>) -> Result<()> {
        let strides = call.strides;
        // The kernel keeps the items' distances from the tile's first in 32 bits.
        let span = strides.batch.checked_mul(u64::from(tile.items() - 1));
        let fits = span.is_some_and(|span| u32::try_from(span).is_ok());
        let tile = if fits { tile } else { Tile::Item };
        let kernel = <T::Device as Instances>::kernel(taps(self.parameters.interpolation), tile);
        let n_tiles = call.n_batch.div_ceil(tile.items() as usize);
        let n_parts = self.parameters.parts.count();
        for first_part in (0..n_parts).step_by(MOST_LAYERS) {
            for first_tile in (0..n_tiles).step_by(MOST_LAYERS) {
                let parameters = DasVoxel::<T::Device> {
                    samples: call.data.global("the channel data")?,
                    geometry: call.geometry.block(&self.parameters, &call.range, strides.n_samples)?,
                    output: Output {
                        first_part: first_part as u32,
                        ..output
                    },
                    batch_stride: strides.batch,
                    transmit_stride: strides.transmit,
                    channel_stride: strides.channel,
                    n_batch: call.n_batch as u32,
                    first_item: first_tile as u32 * tile.items(),
                };
                let shape = Launch {
                    grid: [
                        call.range.len().div_ceil(THREADS as usize) as u32,
                        MOST_LAYERS.min(n_tiles - first_tile) as u32,
                        MOST_LAYERS.min(n_parts - first_part) as u32,
                    ],
                    threads: THREADS,
                    shared_bytes: 0,
                };
                self.cuda.launch(&kernel, shape, parameters, call.stream)?;
            }
        }
        Ok(())
    }
}
