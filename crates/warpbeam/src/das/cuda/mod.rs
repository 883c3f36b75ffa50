//! Delay-and-sum on a CUDA device: geometry that stays there, and pieces of what does not fit.

mod batch;
mod copy;
mod geometry;
mod matrix;
mod piece;
mod tune;
mod voxel;
mod window;

use self::copy::{Layout, Workspace};
use self::geometry::{DeviceGeometry, Parameters};
use self::matrix::{Form, MatrixKernels};
use self::piece::Voxels;
use self::tune::Answers;
use super::choice::{self, Choice, Windows};
use super::order::{order, order_on_device};
use super::prepared::Prepared;
use super::sample::Kernels;
use super::split::{Footprint, Piece, pieces};
use super::spread::{mean, spreads, widest_first};
use super::{Algorithm, Autotune, DasOptions, DasTiming, Precision, Sample};
use crate::device::{Backend, Cuda, Stream, Tensor};
use crate::{Error, Result};
use cuda_std::math::Real;
use kernels::das::batch::has_kernels;
use kernels::das::distinct::VOXELS_PER_BLOCK;
use kernels::das::voxel::{ITEMS, Tile};
use ndarray::{Array3, ArrayView4, ArrayViewMut3, Axis, Slice};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Share of the free device memory that a run may take: allocations have gaps.
const USABLE: f64 = 0.9;

/// Blocks along y and along z at most.
const MOST_LAYERS: usize = 65_535;

/// A plan's part on the device.
pub(super) struct CudaDas<T: Sample> {
    backend: Backend,
    cuda: Arc<Cuda>,
    geometry: Place<T>,
    parameters: Parameters<T>,
    algorithm: Algorithm,
    precision: Precision,
    autotune: Autotune,
    answers: Answers,
    matrix: MatrixKernels,
    workspace: Workspace,
    memory_limit_bytes: Option<u64>,
    n_voxels: usize,
    stream: Stream,
}

/// Where the geometry is.
enum Place<T: Sample> {
    /// All of it on the device.
    Resident(Box<DeviceGeometry<T>>),
    /// On the host, brought over a piece at a time, and the order in which voxels are taken; empty if there is none.
    Host(Box<Prepared<T::Real>>, Vec<u32>),
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

/// What the launches of one reconstruction have in common.
struct Call<'a, T: Sample> {
    geometry: &'a DeviceGeometry<T>,
    /// Voxels of the geometry.
    range: Range<usize>,
    data: &'a Tensor<T>,
    strides: DataStrides,
    n_batch: usize,
    stream: &'a Stream,
}

impl<T: Sample> CudaDas<T> {
    pub(super) fn new(
        backend: &Backend,
        cuda: &Arc<Cuda>,
        prepared: Prepared<T::Real>,
        options: &DasOptions,
    ) -> Result<Self> {
        let memory_limit_bytes = options.memory_limit_bytes;
        let parameters = Parameters::new(&prepared);
        let n_voxels = prepared.n_voxels;
        let precision = prepared.precision;
        let geometry_bytes = parameters.voxel_bytes() * n_voxels as u64;
        // Half the memory stays for data and output.
        let is_resident = budget(backend, memory_limit_bytes, 0).is_none_or(|budget| geometry_bytes <= budget / 2);
        let stream = backend.stream()?;
        let mut order = if is_resident {
            order_on_device(cuda, &prepared, &stream)?
        } else {
            order(&prepared)
        };
        let mut spread_samples = 0.0;
        if matches!(
            options.algorithm,
            Algorithm::Auto | Algorithm::Window | Algorithm::Distinct
        ) {
            let spreads = spreads(&prepared, order.as_deref(), window::MOST_VOXELS);
            spread_samples = mean(&spreads);
            order = order.map(|order| widest_first(&order, window::MOST_VOXELS, &spreads));
        }
        let order = order.unwrap_or_default();
        let geometry = if is_resident {
            let whole = DeviceGeometry::new(backend, &prepared, &Voxels::Range(0..n_voxels), &order)?;
            Place::Resident(Box::new(whole))
        } else {
            Place::Host(Box::new(prepared), order)
        };
        let mut plan = Self {
            backend: backend.clone(),
            cuda: Arc::clone(cuda),
            geometry,
            parameters,
            algorithm: options.algorithm,
            precision,
            autotune: options.autotune,
            answers: Answers::default(),
            matrix: MatrixKernels::default(),
            workspace: Workspace::default(),
            memory_limit_bytes,
            n_voxels,
            stream,
        };
        plan.matrix = plan.matrix_kernels(spread_samples);
        plan.refuse_what_there_is_not()?;
        plan.prepare_voxel()?;
        if !matches!(options.algorithm, Algorithm::Voxel | Algorithm::Frame) {
            plan.prepare_batch()?;
        }
        Ok(plan)
    }

    fn refuse_what_there_is_not(&self) -> Result<()> {
        let (what, alternatives, is_there) = match self.algorithm {
            Algorithm::Distinct => (
                "Algorithm::Distinct for this sample type, interpolation or device",
                "it takes i16, f16 and f32 samples and nearest or linear interpolation, and below compute capability 8.0 f16 alone; \
                 Algorithm::Auto takes what there is",
                !self.matrix.distinct.is_empty(),
            ),
            Algorithm::Window => (
                "Algorithm::Window for this sample type, interpolation or device",
                "it takes i16, f16 and f32 samples and compute capability 8.0, and without Precision::F16 nearest or linear \
                 interpolation of i16 and f32; Algorithm::Auto takes what there is",
                !self.matrix.windows.is_empty(),
            ),
            _ => return Ok(()),
        };
        if is_there {
            return Ok(());
        }
        Err(Error::Unsupported { what, alternatives })
    }

    /// Whether samples are stored in another form than they come in.
    fn is_converted(&self) -> bool {
        matches!(self.precision, Precision::F16 { .. }) && size_of::<<T::Device as Kernels>::Half>() != size_of::<T>()
    }

    /// How a run of that size is done.
    fn choice(&self, n_batch: usize, n_samples: usize) -> Choice {
        let window_form = self.window_form();
        // TF32 is for those who want distinct samples multiplied so.
        let has_tf32 = self.form() != window_form && self.algorithm == Algorithm::Auto;
        let shape = choice::Shape {
            has_batch_kernels: has_kernels::<T::Device>(),
            distinct: self.matrix.tile(n_batch),
            window: self.matrix.window(n_batch, self.algorithm).filter(|_| !has_tf32),
            windows: match window_form {
                Form::Split if T::PARTS == 1 => Windows::SplitReal,
                Form::Split => Windows::SplitComplex,
                _ => Windows::Halves,
            },
            n_channels: self.parameters.parts.n_channels,
            n_batch,
            n_samples,
            n_voxels: self.n_voxels,
            n_entries: self.parameters.n_entries,
            is_converted: self.is_converted(),
        };
        let known = match self.autotune {
            Autotune::Rule => None,
            Autotune::Measure => self.known(n_batch, n_samples),
        };
        known.unwrap_or_else(|| choice::choose(self.algorithm, shape))
    }

    /// Makes room for the copies that runs of that size need.
    pub(super) fn reserve(&self, n_batch: usize, n_samples: usize) -> Result<()> {
        if self.copy_bytes_of_run(n_batch, n_samples) == 0 {
            return Ok(());
        }
        let Some(layout) = self.layout(self.choice(n_batch, n_samples)) else {
            return Ok(());
        };
        match self.make_room(&mut self.workspace.lock(), layout, n_batch, n_samples)? {
            0 => Err(self.no_room(layout, n_samples)),
            _ => Ok(()),
        }
    }

    /// The layout of the copy that a way to sum makes.
    fn layout(&self, choice: Choice) -> Option<Layout> {
        match choice {
            Choice::Voxel(_) => None,
            Choice::Batch => Some(self.batch_layout()),
            Choice::Distinct(_) => Some(self.distinct_layout()),
            Choice::Window(number) => Some(self.window_layout(number)),
        }
    }

    /// Bytes of the copy that a run of that size makes, if there is room.
    pub(super) fn copy_bytes_of_run(&self, n_batch: usize, n_samples: usize) -> u64 {
        self.layout(self.choice(n_batch, n_samples)).map_or(0, |layout| {
            let vectors = n_batch.div_ceil(layout.vector_items) as u64;
            self.copy_bytes(layout, n_samples).1.saturating_mul(vectors)
        })
    }

    /// Bytes of the geometry of all voxels.
    pub(super) fn geometry_bytes(&self) -> u64 {
        self.parameters.voxel_bytes() * self.n_voxels as u64
    }

    /// Reconstructs data on the host (batch, channel, transmit, sample) into `output` (batch, part, voxel) on the host.
    pub(super) fn run(&self, data: &ArrayView4<'_, T>, mut output: ArrayViewMut3<'_, T::Sum>) -> Result<()> {
        let (n_batch, n_channels, n_transmits, n_samples) = data.dim();
        if output.is_empty() {
            return Ok(());
        }
        let strides = DataStrides::contiguous([n_batch, n_channels, n_transmits, n_samples], true);
        let (Piece { items, voxels }, choice) = self.pieces(n_batch, strides)?;
        // Pieces are of consecutive places, so that kernels work on the blocks that they work on where there is one piece.
        let order = match self.voxels_per_block(choice) {
            Some(_) if voxels < self.n_voxels => self.order()?,
            _ => Cow::default(),
        };
        for first_place in (0..self.n_voxels).step_by(voxels) {
            let voxels = Voxels::at(&order, first_place..self.n_voxels.min(first_place + voxels));
            let brought;
            let (geometry, within) = match (&self.geometry, &voxels) {
                (Place::Resident(geometry), Voxels::Range(range)) => (&**geometry, range.clone()),
                (Place::Resident(geometry), Voxels::List(list)) => {
                    brought = geometry.of(list, &self.stream)?;
                    (&brought, 0..list.len())
                }
                (Place::Host(prepared, order), voxels) => {
                    let is_whole = voxels.len() == self.n_voxels;
                    let order = if is_whole { &order[..] } else { &[] };
                    brought = DeviceGeometry::new(&self.backend, prepared, voxels, order)?;
                    (&brought, 0..voxels.len())
                }
            };
            for first_item in (0..n_batch).step_by(items) {
                let batch = Slice::from(first_item..n_batch.min(first_item + items));
                let data = Tensor::from_array(&self.backend, &data.slice_axis(Axis(0), batch))?;
                let n_batch = data.shape()[0];
                let shape = [n_batch, self.parameters.parts.count(), voxels.len()];
                let mut sums = Tensor::zeros(&self.backend, &shape)?;
                let call = Call {
                    geometry,
                    range: within.clone(),
                    data: &data,
                    strides,
                    n_batch,
                    stream: &self.stream,
                };
                self.launch(choice, &call, &mut sums, T::Real::ZERO)?;
                let mut output = output.slice_axis_mut(Axis(0), batch);
                match &voxels {
                    Voxels::Range(range) => {
                        sums.copy_to_array(&mut output.slice_axis_mut(Axis(2), Slice::from(range.clone())))?;
                    }
                    Voxels::List(list) => {
                        let mut values = Array3::from_elem(shape, T::Sum::default());
                        sums.copy_to_array(&mut values)?;
                        piece::put(&values.view(), list, &mut output);
                    }
                }
            }
        }
        Ok(())
    }

    /// Voxels of a block of the kernels that take them in the plan's order, where the block decides on the bits.
    fn voxels_per_block(&self, choice: Choice) -> Option<usize> {
        match choice {
            Choice::Voxel(_) | Choice::Batch => None,
            Choice::Distinct(_) => Some(VOXELS_PER_BLOCK as usize),
            Choice::Window(number) => {
                let window = self.matrix.windows.iter().find(|window| window.number == number);
                window.map(|window| window.block.voxels() as usize)
            }
        }
    }

    /// The order in which those take voxels; empty if there is none.
    fn order(&self) -> Result<Cow<'_, [u32]>> {
        Ok(match &self.geometry {
            Place::Resident(geometry) => Cow::Owned(geometry.order()?),
            Place::Host(_, order) => Cow::Borrowed(order),
        })
    }

    /// Adds what data on the device give to `beta` times `output` there, whose shapes were checked.
    pub(super) fn accumulate_into(
        &self,
        data: &Tensor<T>,
        strides: DataStrides,
        n_batch: usize,
        beta: T::Real,
        output: &mut Tensor<T::Sum>,
        stream: &Stream,
    ) -> Result<()> {
        match &self.geometry {
            Place::Resident(geometry) => {
                let call = Call {
                    geometry,
                    range: 0..self.n_voxels,
                    data,
                    strides,
                    n_batch,
                    stream,
                };
                if self.autotune == Autotune::Measure && self.known(n_batch, strides.n_samples).is_none() {
                    self.tune(&call)?;
                }
                self.launch(self.choice(n_batch, strides.n_samples), &call, output, beta)
            }
            Place::Host(..) => Err(self.not_resident()),
        }
    }

    /// Times every way to sum data on the device, whose shape was checked.
    pub(super) fn time(
        &self,
        data: &Tensor<T>,
        strides: DataStrides,
        n_batch: usize,
        stream: &Stream,
    ) -> Result<Vec<DasTiming>> {
        match &self.geometry {
            Place::Resident(geometry) => self.tune(&Call {
                geometry,
                range: 0..self.n_voxels,
                data,
                strides,
                n_batch,
                stream,
            }),
            Place::Host(..) => Err(self.not_resident()),
        }
    }

    fn not_resident(&self) -> Error {
        Error::OutOfMemory {
            what: "the plan's geometry on the device",
            needed_bytes: self.geometry_bytes(),
            available_bytes: budget(&self.backend, self.memory_limit_bytes, 0).map(|budget| budget / 2),
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
        let block = self.voxels_per_block(choice);
        let voxel_bytes = self.parameters.voxel_bytes();
        let (voxel_of_all, voxel_of_some) = match &self.geometry {
            Place::Resident(_) if block.is_some() => (0, voxel_bytes),
            Place::Resident(_) => (0, 0),
            Place::Host(..) => (voxel_bytes, voxel_bytes),
        };
        let unit = Piece {
            items: ITEMS as usize,
            voxels: block.unwrap_or(1),
        };
        let item = strides.batch * size_of::<T>() as u64;
        let cut = |item, budget| {
            let footprint = Footprint {
                item,
                output: (self.parameters.parts.count() * size_of::<T::Sum>()) as u64,
                voxel_of_all,
                voxel_of_some,
            };
            pieces(footprint, everything, unit, budget)
        };
        let Some(layout) = self.layout(choice) else {
            return Ok((cut(item, budget)?, choice));
        };
        // The batch is rounded up to a vector.
        let (copy, rounding) = self.copy_bytes(layout, strides.n_samples);
        let with_copy = budget
            .checked_sub(rounding)
            .map(|budget| cut(item.saturating_add(copy), budget));
        match with_copy {
            Some(Ok(piece)) => Ok((piece, choice)),
            // Without the copy there is room for more; the result is the same.
            _ if choice == Choice::Batch && !self.is_converted() => {
                Ok((cut(item, budget)?, Choice::Voxel(Tile::Items)))
            }
            Some(Err(error)) => Err(error),
            None => Err(self.no_room(layout, strides.n_samples)),
        }
    }

    /// Queues the kernels for every item of a call.
    fn launch(&self, choice: Choice, call: &Call<'_, T>, values: &mut Tensor<T::Sum>, beta: T::Real) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        let output = DeviceGeometry::output(&self.parameters, &call.range, values, beta)?;
        let is_done = match choice {
            Choice::Voxel(tile) => self.launch_voxel(tile, call, output).map(|()| true)?,
            Choice::Batch => self.launch_batch(call, output)?,
            Choice::Distinct(tile) => self.launch_distinct(tile, call, output)?,
            Choice::Window(number) => self.launch_window(number, call, output)?,
        };
        match self.layout(choice) {
            Some(_) if is_done => Ok(()),
            Some(_) if choice == Choice::Batch && !self.is_converted() => self.launch_voxel(Tile::Items, call, output),
            Some(layout) => Err(self.no_room(layout, call.strides.n_samples)),
            None => Ok(()),
        }
    }
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
