//! The plan: what is decided once for a geometry, and the calls that reconstruct with it.

#[cfg(feature = "cuda")]
use super::cuda::{CudaDas, DataStrides};
use super::geometry::expect_shape;
use super::parts::Parts;
use super::prepared::Prepared;
use super::{Algorithm, ChannelLayout, DasGeometry, DasOptions, Interpolation, Precision, Sample, cpu};
use crate::device::{Backend, Stream, Tensor, zeroed};
use crate::{Error, Result};
use cuda_std::math::Real;
use kernels::das::sample::Value;
use ndarray::{ArrayD, ArrayRef, ArrayView, ArrayView4, ArrayViewMut3, Dimension, Ix3, Ix4, IxDyn};
use std::time::{Duration, Instant};

/// A delay-and-sum reconstruction: geometry checked, rounded and in place; made once, run for every acquisition.
///
/// | what | shape | unit |
/// |---|---|---|
/// | data | `(batch, channel, transmit, sample)`, or with channels after transmits; without batch too | any |
/// | result | `(batch, ..grid)`, or `(..grid)` for data without batch; [`SumOver`](super::SumOver) says which axes stand between | the data's |
///
/// The same call gives the same bits, however the work is split over batch and voxels. A NaN or an infinity in a sample
/// reaches the voxels that use the sample and nothing else. A failed run leaves the plan as it was.
///
/// Source: K. E. Thomenius, "Evolution of ultrasound beamformers", IEEE Ultrasonics Symposium 1996; the sum is in the
/// module's documentation.
pub struct DasPlan<T: Sample> {
    backend: Backend,
    grid_shape: Vec<usize>,
    n_channels: usize,
    n_transmits: usize,
    n_entries: usize,
    parts: Parts,
    layout: ChannelLayout,
    memory_limit_bytes: Option<u64>,
    engine: Engine<T>,
}

/// Refuses an algorithm or a precision that is not for the sample type or the other options, on every backend alike.
fn refuse_what_does_not_go_together<T: Sample>(options: &DasOptions) -> Result<()> {
    let refuse = |what, alternatives| Err(Error::Unsupported { what, alternatives });
    let is_double = size_of::<T::Real>() == size_of::<f64>();
    let makes_copy = !matches!(options.algorithm, Algorithm::Voxel | Algorithm::Frame);
    if is_double && makes_copy && options.algorithm != Algorithm::Auto {
        return refuse(
            "Algorithm::Batch, Distinct or Window for f64 samples",
            "f64 takes Algorithm::Voxel, Frame or Auto; the others take i16, f16 and f32",
        );
    }
    let may_round = matches!(options.precision, Precision::F16 { .. });
    if may_round && (is_double || !makes_copy) {
        return refuse(
            "Precision::F16 for f64 samples, Algorithm::Voxel or Algorithm::Frame",
            "f32 samples with the other algorithms take it, samples that are f16 need no option",
        );
    }
    let takes_two_samples = matches!(options.interpolation, Interpolation::Nearest | Interpolation::Linear);
    if options.algorithm == Algorithm::Distinct && !takes_two_samples {
        return refuse(
            "Algorithm::Distinct for an interpolation of more than two samples",
            "it takes Nearest and Linear; Algorithm::Auto, Voxel, Frame and Batch take every interpolation",
        );
    }
    let are_halves = may_round || T::IS_FLOATING && size_of::<T>() == 2 * T::PARTS;
    if options.algorithm == Algorithm::Window && !are_halves && !takes_two_samples {
        return refuse(
            "Algorithm::Window for an interpolation of more than two samples and samples that are not f16",
            "it takes Nearest and Linear, or Precision::F16; Algorithm::Auto, Voxel, Frame and Batch take every interpolation",
        );
    }
    Ok(())
}

/// What a run needs on the plan's backend, in bytes; a few kilobytes more for elements and transmits.
///
/// Where there is less, the copy is made of a part of the batch, or the work split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DasMemory {
    /// The geometry of the voxels, for as long as the plan lives.
    pub geometry_bytes: u64,
    /// The channel data.
    pub data_bytes: u64,
    /// The copy of the data that the algorithm makes, and sums over ranges of channels where it splits them; 0 if it makes
    /// none.
    pub copy_bytes: u64,
    /// The result.
    pub output_bytes: u64,
}

/// How long a way to sum takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DasTiming {
    /// The algorithm and its tile.
    pub name: String,
    /// The shorter of two runs, copies of the data on the device included.
    pub time: Duration,
}

enum Engine<T: Sample> {
    Cpu(Box<Prepared<T::Real>>),
    #[cfg(feature = "cuda")]
    Cuda(Box<CudaDas<T>>),
}

impl<T: Sample> DasPlan<T> {
    /// Makes a plan.
    ///
    /// Positions, offsets and weights are rounded to the precision of the sums (`f32`, or `f64` for `f64` samples).
    ///
    /// # Errors
    ///
    /// What [`DasGeometry::validate`] refuses, options outside their ranges, and a device that has no room for the
    /// geometry or fails; [`Error::Unsupported`] for an algorithm that does not take the sample type.
    pub fn new(backend: &Backend, geometry: &DasGeometry, options: &DasOptions) -> Result<Self> {
        range!("das plan");
        geometry.validate()?;
        options.validate(geometry.n_transmits())?;
        refuse_what_does_not_go_together::<T>(options)?;
        let prepared = Prepared::new(geometry, options);
        let parts = prepared.parts;
        #[cfg(feature = "cuda")]
        let engine = match backend.as_cuda() {
            Some(cuda) => Engine::Cuda(Box::new(CudaDas::new(backend, cuda, prepared, options)?)),
            None => Engine::Cpu(Box::new(prepared)),
        };
        #[cfg(not(feature = "cuda"))]
        let engine = Engine::Cpu(Box::new(prepared));
        Ok(Self {
            backend: backend.clone(),
            grid_shape: geometry.grid_shape().to_vec(),
            n_channels: geometry.n_channels(),
            n_transmits: geometry.n_transmits(),
            n_entries: geometry.n_entries(),
            parts,
            layout: options.layout,
            memory_limit_bytes: options.memory_limit_bytes,
            engine,
        })
    }

    /// Where the plan computes.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Points of a run: voxels × channels × transmits (or entries of the longest list) × batch, or the largest number where
    /// there are more.
    pub fn points(&self, batch: usize) -> u64 {
        [self.n_voxels(), self.n_channels, self.n_entries, batch]
            .iter()
            .fold(1, |points: u64, count| points.saturating_mul(*count as u64))
    }

    /// Reconstructs data on the host into an image on the host.
    ///
    /// The views may have any strides. Work that does not fit into the backend's memory is split over batch and voxels.
    ///
    /// # Errors
    ///
    /// [`Error::WrongAxes`] or [`Error::ShapeMismatch`] for data of another shape, [`Error::OutOfRange`] for fewer than 2
    /// samples a channel, [`Error::OutOfMemory`] where not even one batch item and one voxel fit (with
    /// [`Algorithm::Distinct`] and [`Algorithm::Window`] a block of up to 512 voxels) or the result does not fit on the
    /// host, and what the device reports.
    pub fn run<D: Dimension>(&self, data: ArrayView<'_, T, D>) -> Result<ArrayD<T::Sum>> {
        range!("das");
        let data = data.into_dyn();
        let (view, output_shape) = self.data_view(data.view())?;
        let n_batch = view.shape()[0];
        let length = n_batch
            .saturating_mul(self.parts.count())
            .saturating_mul(self.n_voxels());
        let mut output = zeroed::<T::Sum>(length, "the reconstructed image")?;
        let target = ArrayViewMut3::from_shape(self.output_shape(n_batch), &mut output)
            .map_err(|_| self.data_mismatch(data.shape()))?;
        match &self.engine {
            Engine::Cpu(prepared) => cpu::run(prepared, &view, target, self.memory_limit_bytes),
            #[cfg(feature = "cuda")]
            Engine::Cuda(engine) => engine.run(&view, target)?,
        }
        ArrayD::from_shape_vec(IxDyn(&output_shape), output).map_err(|_| self.data_mismatch(data.shape()))
    }

    /// Reconstructs data on the host and adds the image to `beta` times `output`: `output = beta · output + image`.
    ///
    /// # Errors
    ///
    /// As [`DasPlan::run`], and [`Error::ShapeMismatch`] for an output of another shape than that returns. The output is
    /// then as it was.
    pub fn accumulate<D: Dimension, E: Dimension>(
        &self,
        data: ArrayView<'_, T, D>,
        beta: f64,
        output: &mut ArrayRef<T::Sum, E>,
    ) -> Result<()> {
        let (_, _, output_shape) = self.data_shape(data.shape())?;
        expect_shape("the output", &output_shape, output.shape())?;
        let image = self.run(data)?;
        let beta = T::Real::from_f64(beta);
        output
            .view_mut()
            .into_dyn()
            .zip_mut_with(&image, |former, sum| *former = former.scale_add(beta, *sum));
        Ok(())
    }

    /// What runs of `n_batch` items of `n_samples` samples a channel need.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] for a number of samples that no run takes.
    pub fn memory(&self, n_batch: usize, n_samples: usize) -> Result<DasMemory> {
        let shape = self.canonical_shape(n_batch, n_samples);
        self.data_shape(&self.stored_shape(shape))?;
        let bytes = |shape: &[usize], size: usize| {
            let count = shape.iter().fold(1_u64, |product, n| product.saturating_mul(*n as u64));
            count.saturating_mul(size as u64)
        };
        let output = [n_batch, self.parts.count(), self.n_voxels()];
        let (geometry_bytes, copy_bytes) = match &self.engine {
            Engine::Cpu(prepared) => (
                bytes(&[self.n_voxels(), 3 + 2 * self.n_entries], size_of::<T::Real>()),
                cpu::copy_bytes::<T>(
                    prepared,
                    &Ix4(shape[0], shape[1], shape[2], shape[3]),
                    self.memory_limit_bytes,
                ),
            ),
            #[cfg(feature = "cuda")]
            Engine::Cuda(engine) => (engine.geometry_bytes(), engine.copy_bytes_of_run(n_batch, n_samples)),
        };
        Ok(DasMemory {
            geometry_bytes,
            data_bytes: bytes(&shape, size_of::<T>()),
            copy_bytes,
            output_bytes: bytes(&output, size_of::<T::Sum>()),
        })
    }

    /// Makes room for the copies that runs of up to `n_batch` items of `n_samples` samples a channel need.
    ///
    /// Without this the first run of a size does it. The room stays with the plan.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] where not even a few items have room; a run would go without.
    pub fn reserve(&self, n_batch: usize, n_samples: usize) -> Result<()> {
        self.data_shape(&self.stored_shape(self.canonical_shape(n_batch, n_samples)))?;
        match &self.engine {
            Engine::Cpu(_) => Ok(()),
            #[cfg(feature = "cuda")]
            Engine::Cuda(engine) => engine.reserve(n_batch, n_samples),
        }
    }

    /// Reconstructs data on the plan's backend into an image there, on a stream and, but for [`DasPlan::reserve`]'s part,
    /// without allocating.
    ///
    /// Runs of one plan on several streams at once are safe; with [`Algorithm::Batch`] they wait for each other.
    ///
    /// The output's former contents do not matter. On CUDA the work may still run when the call returns: reading the
    /// output to the host waits for it.
    ///
    /// # Errors
    ///
    /// As [`DasPlan::run`]; also [`Error::WrongBackend`] for tensors or streams from elsewhere, a typed error for tensors
    /// that are not contiguous, and [`Error::OutOfMemory`] for a plan whose geometry does not stay on the device.
    pub fn run_into(&self, data: &Tensor<T>, output: &mut Tensor<T::Sum>, stream: &Stream) -> Result<()> {
        self.accumulate_into(data, 0.0, output, stream)
    }

    /// As [`DasPlan::run_into`], adding to what is there: `output = beta · output + image`; at 0 it is not read.
    ///
    /// # Errors
    ///
    /// As [`DasPlan::run_into`].
    pub fn accumulate_into(
        &self,
        data: &Tensor<T>,
        beta: f64,
        output: &mut Tensor<T::Sum>,
        stream: &Stream,
    ) -> Result<()> {
        range!("das");
        self.backend.expect("the channel data", data.backend())?;
        self.backend.expect("the output", output.backend())?;
        self.backend.expect("the stream", stream.backend())?;
        let (n_batch, n_samples, output_shape) = self.data_shape(data.shape())?;
        expect_shape("the output", &output_shape, output.shape())?;
        match &self.engine {
            Engine::Cpu(prepared) => {
                let shape = self.stored_shape(self.canonical_shape(n_batch, n_samples));
                let view = ArrayView4::from_shape(shape, data.host_slice("the channel data")?)
                    .map_err(|_| self.data_mismatch(data.shape()))?;
                let target = output.host_slice_mut("the output")?;
                self.accumulate_on_cpu(prepared, &self.canonical(view), beta, target)
            }
            #[cfg(feature = "cuda")]
            Engine::Cuda(engine) => {
                let stored = self.stored_shape(self.canonical_shape(n_batch, n_samples));
                let channel_first = self.layout == ChannelLayout::ChannelTransmit;
                let strides = DataStrides::contiguous(stored, channel_first);
                engine.accumulate_into(data, strides, n_batch, T::Real::from_f64(beta), output, stream)
            }
        }
    }

    /// Times every way to sum that the plan's algorithm leaves open, the fastest first, which runs of that size then take if
    /// the plan's [`Autotune`](super::Autotune) is to measure.
    ///
    /// A CPU has one way.
    ///
    /// # Errors
    ///
    /// As [`DasPlan::run_into`], and [`Error::OutOfMemory`] where there is no room for another result.
    pub fn time(&self, data: &Tensor<T>, stream: &Stream) -> Result<Vec<DasTiming>> {
        self.backend.expect("the channel data", data.backend())?;
        self.backend.expect("the stream", stream.backend())?;
        match &self.engine {
            Engine::Cpu(_) => {
                let (_, _, output_shape) = self.data_shape(data.shape())?;
                let mut output = Tensor::zeros(&self.backend, &output_shape)?;
                let start = Instant::now();
                self.run_into(data, &mut output, stream)?;
                Ok(vec![DasTiming {
                    name: "cpu".to_owned(),
                    time: start.elapsed(),
                }])
            }
            #[cfg(feature = "cuda")]
            Engine::Cuda(engine) => {
                let (n_batch, n_samples, _) = self.data_shape(data.shape())?;
                let stored = self.stored_shape(self.canonical_shape(n_batch, n_samples));
                let channel_first = self.layout == ChannelLayout::ChannelTransmit;
                engine.time(data, DataStrides::contiguous(stored, channel_first), n_batch, stream)
            }
        }
    }

    fn accumulate_on_cpu(
        &self,
        prepared: &Prepared<T::Real>,
        data: &ArrayView4<'_, T>,
        beta: f64,
        output: &mut [T::Sum],
    ) -> Result<()> {
        let run = |values: &mut [T::Sum]| {
            let target = ArrayViewMut3::from_shape(self.output_shape(data.shape()[0]), values)
                .map_err(|_| self.data_mismatch(data.shape()))?;
            cpu::run(prepared, data, target, self.memory_limit_bytes);
            Ok(())
        };
        if beta == 0.0 {
            return run(output);
        }
        let mut image = zeroed::<T::Sum>(output.len(), "the reconstructed image")?;
        run(&mut image)?;
        let beta = T::Real::from_f64(beta);
        for (former, sum) in output.iter_mut().zip(image) {
            *former = former.scale_add(beta, sum);
        }
        Ok(())
    }

    /// The output's shape as the engines see it.
    fn output_shape(&self, n_batch: usize) -> Ix3 {
        Ix3(n_batch, self.parts.count(), self.n_voxels())
    }

    fn n_voxels(&self) -> usize {
        self.grid_shape.iter().product()
    }

    /// Batch items, samples a channel, and the output's shape.
    fn data_shape(&self, shape: &[usize]) -> Result<(usize, usize, Vec<usize>)> {
        let (n_batch, inner) = match *shape {
            [batch, a, b, samples] => (Some(batch), [a, b, samples]),
            [a, b, samples] => (None, [a, b, samples]),
            _ => {
                return Err(Error::WrongAxes {
                    what: "channel data",
                    expected: match self.layout {
                        ChannelLayout::ChannelTransmit => {
                            "(batch, channel, transmit, sample) or the same without batch"
                        }
                        ChannelLayout::TransmitChannel => {
                            "(batch, transmit, channel, sample) or the same without batch"
                        }
                    },
                    got: shape.to_vec(),
                });
            }
        };
        let n_samples = inner[2];
        let [_, a, b, _] = self.stored_shape(self.canonical_shape(1, n_samples));
        if inner[..2] != [a, b] {
            return Err(self.data_mismatch(shape));
        }
        if !(2..i32::MAX as usize).contains(&n_samples) {
            return Err(Error::OutOfRange {
                what: "the number of samples a channel",
                value: n_samples as f64,
                requirement: "at least 2 and below 2^31",
            });
        }
        let mut output_shape: Vec<usize> = n_batch.into_iter().collect();
        output_shape.extend(self.parts.shape());
        output_shape.extend_from_slice(&self.grid_shape);
        Ok((n_batch.unwrap_or(1), n_samples, output_shape))
    }

    fn data_mismatch(&self, got: &[usize]) -> Error {
        let (batch, samples) = (if got.len() == 4 { got.first() } else { None }, got.last());
        let [batch_size, a, b, n_samples] =
            self.stored_shape(self.canonical_shape(batch.copied().unwrap_or(1), samples.copied().unwrap_or(0)));
        let expected = if batch.is_some() {
            vec![batch_size, a, b, n_samples]
        } else {
            vec![a, b, n_samples]
        };
        Error::ShapeMismatch {
            what: "channel data",
            expected,
            got: got.to_vec(),
        }
    }

    fn canonical_shape(&self, n_batch: usize, n_samples: usize) -> [usize; 4] {
        [n_batch, self.n_channels, self.n_transmits, n_samples]
    }

    /// A shape in the order of the data's axes.
    fn stored_shape(&self, [batch, channels, transmits, samples]: [usize; 4]) -> [usize; 4] {
        match self.layout {
            ChannelLayout::ChannelTransmit => [batch, channels, transmits, samples],
            ChannelLayout::TransmitChannel => [batch, transmits, channels, samples],
        }
    }

    /// A view in the order (batch, channel, transmit, sample).
    fn canonical<'a, U>(&self, mut view: ArrayView4<'a, U>) -> ArrayView4<'a, U> {
        if self.layout == ChannelLayout::TransmitChannel {
            view.swap_axes(1, 2);
        }
        view
    }

    fn data_view<'a>(&self, data: ArrayView<'a, T, IxDyn>) -> Result<(ArrayView4<'a, T>, Vec<usize>)> {
        let (_, _, output_shape) = self.data_shape(data.shape())?;
        let shape = data.shape().to_vec();
        let mut view = data;
        if view.ndim() == 3 {
            view.insert_axis_inplace(ndarray::Axis(0));
        }
        let view = view
            .into_dimensionality::<Ix4>()
            .map_err(|_| self.data_mismatch(&shape))?;
        Ok((self.canonical(view), output_shape))
    }
}
