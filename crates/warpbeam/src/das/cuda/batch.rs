//! The batch algorithm on the device: the copy of the data with the batch innermost, and the launches.

use super::{CudaDas, DataStrides, DeviceGeometry, budget};
use crate::das::Sample;
use crate::das::choice;
use crate::device::{Event, Stream, Tensor};
use crate::{Error, Result};
use cuda_std::{Global, Launch};
use kernels::das::batch::{DasBatch, Instances, SILENCE, THREADS, Tile, per_vector};
use kernels::das::permute::{self, Permute};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Batch items of a pass at most, so that tiles are few enough for a grid.
const MOST_ITEMS: usize = 1 << 20;

/// Room for the copy, kept from run to run.
pub(super) struct Workspace<T: Sample> {
    state: Mutex<State<T>>,
}

struct State<T: Sample> {
    samples: Option<Tensor<T>>,
    /// After the last launch that reads the samples.
    last_use: Option<Event>,
}

impl<T: Sample> Default for Workspace<T> {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                samples: None,
                last_use: None,
            }),
        }
    }
}

impl<T: Sample> Workspace<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // Whoever panicked left room, or none: either is good.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that are held.
    pub(super) fn bytes(&self) -> u64 {
        self.lock().bytes()
    }
}

impl<T: Sample> State<T> {
    fn bytes(&self) -> u64 {
        self.samples
            .as_ref()
            .map_or(0, |samples| (samples.len() * size_of::<T>()) as u64)
    }
}

impl<T: Sample> CudaDas<T> {
    /// Compiles the kernels.
    pub(super) fn prepare_batch(&self) -> Result<()> {
        for tile in [Tile::Broad, Tile::Wide, Tile::Narrow] {
            if let Some(kernel) = <T::Device as Instances>::kernel(self.parameters.taps, tile) {
                self.cuda.prepare(&kernel)?;
            }
        }
        if let Some(kernel) = <T::Device as permute::Instances<T::Device>>::kernel() {
            self.cuda.prepare(&kernel)?;
        }
        Ok(())
    }

    /// Samples of one batch item in the copy.
    fn rows(&self, n_samples: usize) -> u64 {
        let of_transmit = self.parameters.n_channels as u64 * n_samples as u64 + u64::from(SILENCE);
        of_transmit.saturating_mul(self.parameters.n_transmits as u64)
    }

    /// Bytes of the copy of one batch item, and of a whole vector of them.
    pub(super) fn copy_bytes(&self, n_samples: usize) -> (u64, u64) {
        let rows = self.rows(n_samples);
        (rows.saturating_mul(size_of::<T>() as u64), rows.saturating_mul(16))
    }

    /// Makes room for as many of `n_batch` items as there can be; how many, or 0.
    fn make_room(&self, state: &mut State<T>, n_batch: usize, n_samples: usize) -> Result<usize> {
        let per_vector = per_vector::<T>() as u64;
        let (_, vector_bytes) = self.copy_bytes(n_samples);
        if vector_bytes == 0 {
            return Ok(0);
        }
        // The kernel counts the vectors of a transmit in 32 bits.
        let of_transmit = self.parameters.n_channels as u64 * n_samples as u64 + u64::from(SILENCE);
        let wanted = (n_batch.min(MOST_ITEMS) as u64)
            .div_ceil(per_vector)
            .min(u64::from(u32::MAX) / of_transmit);
        let held = state.bytes() / vector_bytes;
        let vectors = if held >= wanted {
            wanted
        } else {
            let room = budget(&self.backend, self.memory_limit_bytes, state.bytes());
            let possible = room.map_or(wanted, |room| wanted.min(room / vector_bytes));
            if possible > held {
                // The old room first: both may not fit. Its drop waits for those who use it.
                *state = State {
                    samples: None,
                    last_use: None,
                };
                let length = possible * per_vector * self.rows(n_samples);
                state.samples = Some(Tensor::zeros(&self.backend, &[length as usize])?);
            }
            possible.max(held)
        };
        let items = (vectors * per_vector) as usize;
        let tile = Tile::Broad.items() as usize;
        // Whole tiles, unless that leaves none.
        Ok(match items {
            items if items >= n_batch => n_batch,
            items if items >= tile => items - items % tile,
            items => items,
        })
    }

    /// Makes room for a run of that size.
    pub(super) fn reserve_batch(&self, n_batch: usize, n_samples: usize) -> Result<()> {
        let nothing_to_hold = n_batch == 0 || self.rows(n_samples) == 0;
        if nothing_to_hold || self.make_room(&mut self.workspace.lock(), n_batch, n_samples)? > 0 {
            return Ok(());
        }
        Err(Error::OutOfMemory {
            what: "the copy of the channel data with the batch innermost",
            needed_bytes: self.copy_bytes(n_samples).1,
            available_bytes: budget(&self.backend, self.memory_limit_bytes, 0),
        })
    }

    /// Queues permutation and sum for voxels `range` of `geometry` and every item of `data`; false where there is no room.
    pub(super) fn launch_batch(
        &self,
        geometry: &DeviceGeometry<T>,
        range: Range<usize>,
        data: &Tensor<T>,
        strides: DataStrides,
        output: &mut Tensor<T::Sum>,
        stream: &Stream,
    ) -> Result<bool> {
        let n_batch = output.len() / range.len();
        let mut state = self.workspace.lock();
        let items = self.make_room(&mut state, n_batch, strides.n_samples)?;
        let State { samples, last_use } = &mut *state;
        let (Some(samples), 1..) = (samples, items) else {
            return Ok(false);
        };
        if let Some(event) = last_use.take() {
            stream.wait_for(event)?;
        }
        for first_item in (0..n_batch).step_by(items) {
            let pass = first_item..n_batch.min(first_item + items);
            self.queue_permutation(pass.clone(), data, strides, samples, stream)?;
            self.queue_sum(
                geometry,
                range.clone(),
                pass,
                samples,
                strides.n_samples,
                output,
                stream,
            )?;
        }
        *last_use = Some(stream.record()?);
        Ok(true)
    }

    fn queue_permutation(
        &self,
        pass: Range<usize>,
        data: &Tensor<T>,
        strides: DataStrides,
        samples: &mut Tensor<T>,
        stream: &Stream,
    ) -> Result<()> {
        let Some(kernel) = <T::Device as permute::Instances<T::Device>>::kernel() else {
            return Ok(());
        };
        let pitch = pass.len().next_multiple_of(per_vector::<T>());
        let (n_channels, n_samples) = (self.parameters.n_channels as u32, strides.n_samples as u32);
        let tiles = permute::sample_tiles(n_channels, n_samples).saturating_mul(self.parameters.n_transmits as u32);
        let parameters = Permute::<T::Device, T::Device> {
            input: data.global("the channel data")?,
            output: samples.global_mut("the copy of the channel data")?,
            origin: pass.start as i64 * strides.batch as i64,
            batch_stride: strides.batch as i64,
            channel_stride: strides.channel as i64,
            transmit_stride: strides.transmit as i64,
            sample_stride: 1,
            n_batch: pass.len() as u32,
            batch_pitch: pitch as u32,
            n_channels,
            n_samples,
        };
        let shape = Launch {
            grid: [tiles, (pitch as u32).div_ceil(permute::tile_items::<T>()), 1],
            threads: permute::THREADS,
            shared_bytes: permute::shared_bytes::<T>(),
        };
        self.cuda.launch(&kernel, shape, parameters, stream)
    }

    fn queue_sum(
        &self,
        geometry: &DeviceGeometry<T>,
        range: Range<usize>,
        pass: Range<usize>,
        samples: &Tensor<T>,
        n_samples: usize,
        output: &mut Tensor<T::Sum>,
        stream: &Stream,
    ) -> Result<()> {
        let has_broad_kernels = <T::Device as Instances>::kernel(self.parameters.taps, Tile::Broad).is_some();
        let tile = choice::tile(pass.len(), has_broad_kernels);
        let Some(kernel) = <T::Device as Instances>::kernel(self.parameters.taps, tile) else {
            return Ok(());
        };
        let normals = if self.parameters.is_directive {
            geometry.normals.global_pairs("the normals")?
        } else {
            Global::empty()
        };
        let parameters = DasBatch::<T::Device> {
            samples: samples.global("the copy of the channel data")?,
            elements: geometry.elements.global_pairs("the elements")?,
            normals,
            voxels: geometry.voxels.global("the voxels")?,
            offsets: geometry.offsets.global("the offsets")?,
            weights: geometry.weights.global("the weights")?,
            phases: geometry.phases.global("the phases")?,
            output: output.global_mut("the output")?,
            voxel_pitch: geometry.n_voxels as u64,
            first_voxel: range.start as u64,
            n_voxels: range.len() as u64,
            aperture: self.parameters.aperture,
            turns: self.parameters.turns,
            n_samples: n_samples as i32,
            n_channels: self.parameters.n_channels as u32,
            n_transmits: self.parameters.n_transmits as u32,
            n_batch: pass.len() as u32,
            n_vectors: pass.len().div_ceil(per_vector::<T>()) as u32,
            first_item: pass.start as u32,
            is_directive: u32::from(self.parameters.is_directive),
        };
        let shape = Launch {
            grid: [
                range
                    .len()
                    .div_ceil(<T::Device as Instances>::voxels_per_block(tile) as usize) as u32,
                (pass.len() as u32).div_ceil(tile.items()),
                1,
            ],
            threads: THREADS,
            shared_bytes: 0,
        };
        self.cuda.launch(&kernel, shape, parameters, stream)
    }
}
