//! Delay-and-sum on a CUDA device: geometry that stays there, launches, and pieces of what does not fit.

mod batch;

use self::batch::Workspace;
use super::choice::{self, Choice};
use super::prepared::Prepared;
use super::split::{Footprint, Piece, pieces};
use super::{Algorithm, DasOptions, Interpolation, Sample};
use crate::device::{Backend, Cuda, Stream, Tensor};
use crate::{Error, Result};
use cuda_std::{Global, Launch};
use kernels::das::batch::has_kernels;
use kernels::das::voxel::{DasVoxel, ITEMS, Instances, THREADS, Taps, Tile};
use ndarray::{Array1, ArrayView1, ArrayView4, ArrayViewMut2, Axis, Slice};
use std::ops::Range;
use std::sync::Arc;
use wavefield::aperture::Aperture;
use wavefield::phase::TurnsPerSample;

/// Share of the free device memory that a run may take: allocations have gaps.
const USABLE: f64 = 0.9;

/// Blocks along y at most.
const MOST_TILES: usize = 65_535;

/// A plan's part on the device.
pub(super) struct CudaDas<T: Sample> {
    backend: Backend,
    cuda: Arc<Cuda>,
    geometry: Geometry<T>,
    parameters: Parameters<T>,
    algorithm: Algorithm,
    workspace: Workspace<T>,
    memory_limit_bytes: Option<u64>,
    n_voxels: usize,
    stream: Stream,
}

/// Where the geometry is.
enum Geometry<T: Sample> {
    /// All of it on the device.
    Resident(Box<DeviceGeometry<T>>),
    /// On the host, brought over a piece at a time.
    Host(Box<Prepared<T::Real>>),
}

/// What does not depend on the voxels.
struct Parameters<T: Sample> {
    aperture: Aperture<T::Real>,
    turns: TurnsPerSample<T::Real>,
    taps: Taps,
    n_channels: usize,
    n_transmits: usize,
    is_directive: bool,
}

/// Elements, transmits and a range of voxels, on the device.
struct DeviceGeometry<T: Sample> {
    elements: Tensor<T::Real>,
    normals: Tensor<T::Real>,
    phases: Tensor<T::Real>,
    voxels: Tensor<T::Real>,
    offsets: Tensor<T::Real>,
    weights: Tensor<T::Real>,
    n_voxels: usize,
}

/// Distances between neighbours of the channel data, in samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataStrides {
    batch: u64,
    channel: u64,
    transmit: u64,
    n_samples: usize,
}

impl DataStrides {
    /// Of contiguous data whose shape is `stored`, in the order batch, the two in `inner` (channel first), sample.
    pub(super) fn contiguous([_, a, b, samples]: [usize; 4], channel_first: bool) -> Self {
        let (outer, inner) = ((b * samples) as u64, samples as u64);
        let (channel, transmit) = if channel_first { (outer, inner) } else { (inner, outer) };
        Self {
            batch: (a * b * samples) as u64,
            channel,
            transmit,
            n_samples: samples,
        }
    }
}

impl<T: Sample> CudaDas<T> {
    pub(super) fn new(
        backend: &Backend,
        cuda: &Arc<Cuda>,
        prepared: Prepared<T::Real>,
        options: &DasOptions,
    ) -> Result<Self> {
        let memory_limit_bytes = options.memory_limit_bytes;
        let parameters = Parameters {
            aperture: prepared.aperture,
            turns: prepared.turns,
            taps: match prepared.interpolation {
                Interpolation::Nearest => Taps::One,
                Interpolation::Linear => Taps::Two,
            },
            n_channels: prepared.elements.len() / 2,
            n_transmits: prepared.phases.len(),
            is_directive: !prepared.normals.is_empty(),
        };
        let n_voxels = prepared.n_voxels;
        let geometry_bytes = voxel_bytes::<T>(parameters.n_transmits) * n_voxels as u64;
        // Half the memory stays for data and output.
        let is_resident = budget(backend, memory_limit_bytes, 0).is_none_or(|budget| geometry_bytes <= budget / 2);
        let geometry = if is_resident {
            Geometry::Resident(Box::new(DeviceGeometry::new(backend, &prepared, 0..n_voxels)?))
        } else {
            Geometry::Host(Box::new(prepared))
        };
        for tile in [Tile::One, Tile::Many] {
            cuda.prepare(&<T::Device as Instances>::kernel(parameters.taps, tile))?;
        }
        let stream = backend.stream()?;
        let plan = Self {
            backend: backend.clone(),
            cuda: Arc::clone(cuda),
            geometry,
            parameters,
            algorithm: options.algorithm,
            workspace: Workspace::default(),
            memory_limit_bytes,
            n_voxels,
            stream,
        };
        if options.algorithm != Algorithm::Voxel {
            plan.prepare_batch()?;
        }
        Ok(plan)
    }

    /// How a run of that size is done.
    fn choice(&self, n_batch: usize, n_samples: usize) -> Choice {
        let shape = choice::Shape {
            has_batch_kernels: has_kernels::<T::Device>(),
            n_batch,
            n_samples,
            n_voxels: self.n_voxels,
        };
        choice::choose(self.algorithm, shape)
    }

    /// Makes room for the copies that runs of that size need.
    pub(super) fn reserve(&self, n_batch: usize, n_samples: usize) -> Result<()> {
        match self.choice(n_batch, n_samples) {
            Choice::Voxel => Ok(()),
            Choice::Batch => self.reserve_batch(n_batch, n_samples),
        }
    }

    /// Reconstructs data on the host (batch, channel, transmit, sample) into `output` (batch, voxel) on the host.
    pub(super) fn run(&self, data: &ArrayView4<'_, T>, mut output: ArrayViewMut2<'_, T::Sum>) -> Result<()> {
        let (n_batch, n_channels, n_transmits, n_samples) = data.dim();
        if output.is_empty() {
            return Ok(());
        }
        let strides = DataStrides::contiguous([n_batch, n_channels, n_transmits, n_samples], true);
        let (Piece { items, voxels }, choice) = self.pieces(n_batch, strides)?;
        for first_voxel in (0..self.n_voxels).step_by(voxels) {
            let range = first_voxel..self.n_voxels.min(first_voxel + voxels);
            let brought;
            let (geometry, within) = match &self.geometry {
                Geometry::Resident(geometry) => (&**geometry, range.clone()),
                Geometry::Host(prepared) => {
                    brought = DeviceGeometry::new(&self.backend, prepared, range.clone())?;
                    (&brought, 0..range.len())
                }
            };
            for first_item in (0..n_batch).step_by(items) {
                let batch = Slice::from(first_item..n_batch.min(first_item + items));
                let data = Tensor::from_array(&self.backend, &data.slice_axis(Axis(0), batch))?;
                let mut piece = Tensor::zeros(&self.backend, &[data.shape()[0], range.len()])?;
                self.launch(
                    choice,
                    geometry,
                    within.clone(),
                    &data,
                    strides,
                    &mut piece,
                    &self.stream,
                )?;
                let mut output = output.slice_axis_mut(Axis(0), batch);
                piece.copy_to_array(&mut output.slice_axis_mut(Axis(1), Slice::from(range.clone())))?;
            }
        }
        Ok(())
    }

    /// Reconstructs data on the device into `output` there, whose shapes were checked.
    pub(super) fn run_into(
        &self,
        data: &Tensor<T>,
        strides: DataStrides,
        output: &mut Tensor<T::Sum>,
        stream: &Stream,
    ) -> Result<()> {
        match &self.geometry {
            Geometry::Resident(geometry) => {
                let n_batch = output.len() / self.n_voxels.max(1);
                let choice = self.choice(n_batch, strides.n_samples);
                self.launch(choice, geometry, 0..self.n_voxels, data, strides, output, stream)
            }
            Geometry::Host(_) => Err(Error::OutOfMemory {
                what: "the plan's geometry on the device",
                needed_bytes: voxel_bytes::<T>(self.parameters.n_transmits) * self.n_voxels as u64,
                available_bytes: budget(&self.backend, self.memory_limit_bytes, 0).map(|budget| budget / 2),
            }),
        }
    }

    /// The pieces in which a run goes through batch and voxels, and how each is done.
    fn pieces(&self, n_batch: usize, strides: DataStrides) -> Result<(Piece, Choice)> {
        let choice = self.choice(n_batch, strides.n_samples);
        let everything = Piece {
            items: n_batch,
            voxels: self.n_voxels,
        };
        let Some(budget) = budget(&self.backend, self.memory_limit_bytes, self.workspace.bytes()) else {
            return Ok((everything, choice));
        };
        let voxel = match &self.geometry {
            Geometry::Resident(_) => 0,
            Geometry::Host(_) => voxel_bytes::<T>(self.parameters.n_transmits),
        };
        let item = strides.batch * size_of::<T>() as u64;
        let cut = |item, budget| {
            let footprint = Footprint {
                item,
                output: size_of::<T::Sum>() as u64,
                voxel,
            };
            pieces(footprint, n_batch, self.n_voxels, ITEMS as usize, budget)
        };
        if choice == Choice::Batch {
            // The batch is rounded up to a vector.
            let (copy, rounding) = self.copy_bytes(strides.n_samples);
            if let Some(Ok(piece)) = budget
                .checked_sub(rounding)
                .map(|budget| cut(item.saturating_add(copy), budget))
            {
                return Ok((piece, choice));
            }
        }
        // Without the copy there is room for more; the result is the same.
        Ok((cut(item, budget)?, Choice::Voxel))
    }

    /// Queues the kernels for voxels `range` of `geometry` and every item of `data`.
    fn launch(
        &self,
        choice: Choice,
        geometry: &DeviceGeometry<T>,
        range: Range<usize>,
        data: &Tensor<T>,
        strides: DataStrides,
        output: &mut Tensor<T::Sum>,
        stream: &Stream,
    ) -> Result<()> {
        if output.is_empty() {
            return Ok(());
        }
        if choice == Choice::Batch && self.launch_batch(geometry, range.clone(), data, strides, output, stream)? {
            return Ok(());
        }
        self.launch_voxel(geometry, range, data, strides, output, stream)
    }

    fn launch_voxel(
        &self,
        geometry: &DeviceGeometry<T>,
        range: Range<usize>,
        data: &Tensor<T>,
        strides: DataStrides,
        output: &mut Tensor<T::Sum>,
        stream: &Stream,
    ) -> Result<()> {
        let n_batch = output.len() / range.len();
        // The kernel keeps the items' distances from the tile's first in 32 bits.
        let fits = strides
            .batch
            .checked_mul(u64::from(ITEMS - 1))
            .is_some_and(|span| u32::try_from(span).is_ok());
        let (tile, items) = if n_batch > 1 && fits {
            (Tile::Many, ITEMS as usize)
        } else {
            (Tile::One, 1)
        };
        let kernel = <T::Device as Instances>::kernel(self.parameters.taps, tile);
        let normals = if self.parameters.is_directive {
            geometry.normals.global_pairs("the normals")?
        } else {
            Global::empty()
        };
        let n_tiles = n_batch.div_ceil(items);
        for first_tile in (0..n_tiles).step_by(MOST_TILES) {
            let parameters = DasVoxel::<T::Device> {
                samples: data.global("the channel data")?,
                elements: geometry.elements.global_pairs("the elements")?,
                normals,
                voxels: geometry.voxels.global("the voxels")?,
                offsets: geometry.offsets.global("the offsets")?,
                weights: geometry.weights.global("the weights")?,
                phases: geometry.phases.global("the phases")?,
                output: output.global_mut("the output")?,
                batch_stride: strides.batch,
                transmit_stride: strides.transmit,
                channel_stride: strides.channel,
                voxel_pitch: geometry.n_voxels as u64,
                first_voxel: range.start as u64,
                n_voxels: range.len() as u64,
                aperture: self.parameters.aperture,
                turns: self.parameters.turns,
                n_samples: strides.n_samples as i32,
                n_channels: self.parameters.n_channels as u32,
                n_transmits: self.parameters.n_transmits as u32,
                n_batch: n_batch as u32,
                first_item: (first_tile * items) as u32,
                is_directive: u32::from(self.parameters.is_directive),
            };
            let shape = Launch {
                grid: [
                    range.len().div_ceil(THREADS as usize) as u32,
                    MOST_TILES.min(n_tiles - first_tile) as u32,
                    1,
                ],
                threads: THREADS,
                shared_bytes: 0,
            };
            self.cuda.launch(&kernel, shape, parameters, stream)?;
        }
        Ok(())
    }
}

impl<T: Sample> DeviceGeometry<T> {
    fn new(backend: &Backend, prepared: &Prepared<T::Real>, range: Range<usize>) -> Result<Self> {
        let whole = |values: &[T::Real]| Tensor::from_array(backend, &ArrayView1::from(values));
        let pairs =
            |values: &[[T::Real; 2]]| Tensor::from_array(backend, &Array1::from_iter(values.iter().flatten().copied()));
        let planes = |values: &[T::Real], planes: usize| {
            let view = ndarray::ArrayView2::from_shape((planes, prepared.n_voxels), values);
            // The arrays were made with these lengths.
            view.map_or_else(
                |_| Tensor::zeros(backend, &[0, 0]),
                |view| Tensor::from_array(backend, &view.slice_axis(Axis(1), Slice::from(range.clone()))),
            )
        };
        Ok(Self {
            elements: pairs(&prepared.elements)?,
            normals: pairs(&prepared.normals)?,
            phases: whole(&prepared.phases)?,
            voxels: planes(&prepared.voxels, 3)?,
            offsets: planes(&prepared.offsets, prepared.phases.len())?,
            weights: planes(&prepared.weights, prepared.phases.len())?,
            n_voxels: range.len(),
        })
    }
}

/// Bytes of a voxel's geometry.
fn voxel_bytes<T: Sample>(n_transmits: usize) -> u64 {
    ((3 + 2 * n_transmits) * size_of::<T::Real>()) as u64
}

/// Bytes that a run may use, with `held` bytes of its own already.
fn budget(backend: &Backend, memory_limit_bytes: Option<u64>, held: u64) -> Option<u64> {
    let free = backend
        .available_memory_bytes()
        .map(|bytes| (bytes as f64 * USABLE) as u64 + held);
    match (free, memory_limit_bytes) {
        (Some(free), Some(limit)) => Some(free.min(limit)),
        (free, limit) => free.or(limit),
    }
}
