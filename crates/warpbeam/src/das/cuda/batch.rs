//! The launches of lanes that share a voxel.

use super::copy::{Layout, Room, VECTOR_BYTES};
use super::{Call, CudaDas, MOST_LAYERS, voxel};
use crate::Result;
use crate::das::sample::Kernels;
use crate::das::{Sample, choice};
use cuda_std::{Kernel, Launch};
use kernels::das::batch::{DasBatch, Instances, Rows, THREADS, Tile};
use kernels::das::output::Output;
use kernels::das::permute::{self, Permute};
use std::ops::Range;
use wavefield::sampling::Interpolation;

impl<T: Sample> CudaDas<T> {
    /// Compiles the kernels.
    pub(super) fn prepare_batch(&self) -> Result<()> {
        if self.is_converted() {
            self.prepare_storage(<T::Device as Kernels>::permutation_to_half())
        } else {
            self.prepare_storage(<T::Device as permute::Instances<T::Device>>::kernel())
        }
    }

    fn prepare_storage<D: Instances>(&self, permutation: Option<Kernel<Permute<T::Device, D>>>) -> Result<()> {
        let taps = voxel::taps(self.parameters.interpolation);
        for tile in [Tile::Broad, Tile::Wide, Tile::Narrow] {
            if let Some(kernel) = <D as Instances>::kernel(taps, tile) {
                self.cuda.prepare(&kernel)?;
            }
        }
        permutation.map_or(Ok(()), |kernel| self.cuda.prepare(&kernel))
    }

    /// The copy's layout.
    pub(super) fn batch_layout(&self) -> Layout {
        let is_converted = self.is_converted();
        Layout {
            rows: match self.parameters.interpolation {
                Interpolation::Nearest | Interpolation::Linear => Rows::INSIDE,
                _ => Rows::ANY,
            },
            samples_per_row: 1,
            vector_bytes: VECTOR_BYTES,
            vector_items: VECTOR_BYTES
                / if is_converted {
                    size_of::<<T::Device as Kernels>::Half>()
                } else {
                    size_of::<T>()
                },
            planes: 1,
            tile_items: Tile::Broad.items() as usize,
            is_scaled: is_converted,
            is_marking: false,
            range_bytes: 0,
        }
    }

    /// Queues copy and sum of a call; false where there is no room.
    pub(super) fn launch_batch(&self, call: &Call<'_, T>, output: Output<T::Sum>) -> Result<bool> {
        if self.is_converted() {
            self.launch_storage(<T::Device as Kernels>::permutation_to_half(), call, output)
        } else {
            self.launch_storage(<T::Device as permute::Instances<T::Device>>::kernel(), call, output)
        }
    }

    fn launch_storage<D: Instances<Value = T::Sum>>(
        &self,
        permutation: Option<Kernel<Permute<T::Device, D>>>,
        call: &Call<'_, T>,
        output: Output<T::Sum>,
    ) -> Result<bool> {
        let layout = self.batch_layout();
        let mut room = self.workspace.lock();
        let items = self.make_room(&mut room, layout, call.n_batch, call.strides.n_samples)?;
        let (Some(permutation), 1..) = (permutation, items) else {
            return Ok(false);
        };
        if let Some(event) = room.last_use.take() {
            call.stream.wait_for(event)?;
        }
        if layout.needs_items() {
            self.queue_peaks(layout, &mut room, call)?;
        }
        for first_item in (0..call.n_batch).step_by(items) {
            let pass = first_item..call.n_batch.min(first_item + items);
            self.queue_permutation(&permutation, layout, &mut room, call, &pass)?;
            self.queue_sum::<D>(layout, &room, call, &pass, output)?;
        }
        room.last_use = Some(call.stream.record()?);
        Ok(true)
    }

    fn queue_sum<D: Instances<Value = T::Sum>>(
        &self,
        layout: Layout,
        room: &Room,
        call: &Call<'_, T>,
        pass: &Range<usize>,
        output: Output<T::Sum>,
    ) -> Result<()> {
        let taps = voxel::taps(self.parameters.interpolation);
        let kernel = |tile| <D as Instances>::kernel(taps, tile);
        let Some(tile) = choice::tile(pass.len(), |tile| kernel(tile).is_some()) else {
            return Ok(());
        };
        let Some(kernel) = kernel(tile) else {
            return Ok(());
        };
        let n_parts = self.parameters.parts.count();
        for first_part in (0..n_parts).step_by(MOST_LAYERS) {
            let parameters = DasBatch::<D> {
                samples: room.samples()?,
                geometry: call
                    .geometry
                    .block(&self.parameters, &call.range, call.strides.n_samples)?,
                output: Output {
                    scales: room.inverses()?,
                    is_scaled: u32::from(layout.is_scaled),
                    first_part: first_part as u32,
                    first_item: pass.start as u32,
                    ..output
                },
                rows: layout.rows,
                n_batch: pass.len() as u32,
                n_vectors: pass.len().div_ceil(layout.vector_items) as u32,
            };
            let voxels_per_block = <D as Instances>::voxels_per_block(tile) as usize;
            let shape = Launch {
                grid: [
                    call.range.len().div_ceil(voxels_per_block) as u32,
                    (pass.len() as u32).div_ceil(tile.items()),
                    MOST_LAYERS.min(n_parts - first_part) as u32,
                ],
                threads: THREADS,
                shared_bytes: 0,
            };
            self.cuda.launch(&kernel, shape, parameters, call.stream)?;
        }
        Ok(())
    }
}
