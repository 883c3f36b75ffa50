//! Points that were found, and values brought to them.

use super::cpu;
#[cfg(feature = "cuda")]
use super::cuda;
use super::plan::InterpolationMethod;
#[cfg(feature = "cuda")]
use super::rows;
#[cfg(feature = "cuda")]
use crate::device::Workspace;
use crate::device::{Backend, Element, Stream, Tensor, zeroed};
use crate::ops::space::expect_shape;
use crate::{Error, Result};
use ndarray::{ArrayD, ArrayView, Dimension, IxDyn};
#[cfg(feature = "cuda")]
use ndarray::{Axis, Slice};
use num_complex::Complex;
use wavefield::interpolation::{Nearest, Tetrahedral, Trilinear, Value};

mod sealed {
    pub trait Sealed {}
}

/// A value at a node: `f32` or `f64`, real or complex.
pub trait InterpolationValue: Element<Device = Self> + Value + kernels::interpolate::Instance + sealed::Sealed {}

macro_rules! values {
    ($($type:ty),*) => { $(
        impl sealed::Sealed for $type {}
        impl InterpolationValue for $type {}
    )* };
}

values!(f32, f64, Complex<f32>, Complex<f64>);

/// Share of the free device memory that a run may take: allocations have gaps.
#[cfg(feature = "cuda")]
const USABLE: f64 = 0.9;

/// Points found by an [`Interpolator`](super::Interpolator): nodes and weights of each, for any number of values.
///
/// Nothing is left to the caller: the nodes are in the grid, and the points are those it was made from. For points in no order
/// they keep memory of a CUDA device from run to run, as much as the values have.
pub struct PreparedPoints {
    pub(super) backend: Backend,
    pub(super) shape: Vec<usize>,
    /// The shape of the values.
    pub(super) values: Vec<usize>,
    pub(super) method: InterpolationMethod,
    pub(super) steps: [u32; 3],
    pub(super) codes: Tensor<u32>,
    /// `(point, 4)`; on a device nothing for the nearest node.
    pub(super) numbers: Tensor<f64>,
    /// Whether a device reads them from values by rows.
    #[cfg(feature = "cuda")]
    pub(super) are_random: bool,
    /// For these.
    #[cfg(feature = "cuda")]
    pub(super) workspace: Workspace,
}

/// What values are called in errors.
const VALUES: &str = "the values at the grid's nodes";

impl PreparedPoints {
    /// The shape of the points, and of the result without batch.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Where the points are.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Values on the host at the points, on the host; `fill` at points outside of the grid.
    ///
    /// The view may have any strides. On a GPU, batches that do not fit into memory go through it in parts.
    ///
    /// # Errors
    ///
    /// [`Error::ShapeMismatch`] for values of another shape, [`Error::OutOfMemory`] where the result does not fit on the host
    /// or not even one item on the device, and what the device reports.
    pub fn run<T: InterpolationValue, D: Dimension>(&self, values: ArrayView<'_, T, D>, fill: T) -> Result<ArrayD<T>> {
        range!("interpolation");
        let values = values.into_dyn();
        let output_shape = self.output_shape(values.shape())?;
        let length = output_shape
            .iter()
            .fold(1_usize, |product, n| product.saturating_mul(*n));
        let mut output = zeroed::<T>(length, "the values at the points")?;
        #[cfg(feature = "cuda")]
        if self.backend.is_cuda() {
            let values = if values.ndim() == self.values.len() {
                values.insert_axis(Axis(0))
            } else {
                values
            };
            self.run_in_parts(&values, fill, &mut output)?;
            return self.shaped(output_shape, output);
        }
        let dense = values.as_standard_layout();
        self.evaluate(dense.as_slice().unwrap_or_default(), fill, &mut output)?;
        self.shaped(output_shape, output)
    }

    /// Values on the points' backend at the points, on a stream; `fill` at points outside of the grid.
    ///
    /// The output's former contents do not matter. On CUDA the work may still run when the call returns: reading the
    /// output to the host waits for it.
    ///
    /// # Errors
    ///
    /// As [`PreparedPoints::run`], [`Error::ShapeMismatch`] also for the output; [`Error::WrongBackend`] for tensors or
    /// streams from elsewhere, and [`DeviceError`](crate::DeviceError) for tensors that are not contiguous.
    pub fn run_into<T: InterpolationValue>(
        &self,
        values: &Tensor<T>,
        fill: T,
        output: &mut Tensor<T>,
        stream: &Stream,
    ) -> Result<()> {
        range!("interpolation");
        self.backend.expect(VALUES, values.backend())?;
        self.backend.expect("the output", output.backend())?;
        self.backend.expect("the stream", stream.backend())?;
        let expected = self.output_shape(values.shape())?;
        expect_shape("the output", &expected, output.shape())?;
        #[cfg(feature = "cuda")]
        if let Some(cuda) = self.backend.as_cuda() {
            return cuda::evaluate(cuda, self, values, fill, output, stream);
        }
        self.evaluate(values.host_slice(VALUES)?, fill, output.host_slice_mut("the output")?)
    }

    fn shaped<T: InterpolationValue>(&self, shape: Vec<usize>, output: Vec<T>) -> Result<ArrayD<T>> {
        ArrayD::from_shape_vec(IxDyn(&shape), output).map_err(|_| Error::ShapeMismatch {
            what: "the output",
            expected: shape,
            got: self.shape.clone(),
        })
    }

    fn evaluate<T: InterpolationValue>(&self, values: &[T], fill: T, output: &mut [T]) -> Result<()> {
        let n_nodes = self.n_nodes();
        let places = (
            self.codes.host_slice("the places")?,
            self.numbers.host_slice("the weights")?,
        );
        let steps = self.steps;
        match self.method {
            InterpolationMethod::Nearest => {
                cpu::evaluate::<T, Nearest>(values, n_nodes, places, steps, fill, output);
            }
            InterpolationMethod::Trilinear => {
                cpu::evaluate::<T, Trilinear>(values, n_nodes, places, steps, fill, output);
            }
            InterpolationMethod::Tetrahedral => {
                cpu::evaluate::<T, Tetrahedral>(values, n_nodes, places, steps, fill, output);
            }
        }
        Ok(())
    }

    /// Through a device's memory, as many items of the batch at a time as fit.
    #[cfg(feature = "cuda")]
    fn run_in_parts<T: InterpolationValue>(
        &self,
        values: &ndarray::ArrayViewD<'_, T>,
        fill: T,
        output: &mut [T],
    ) -> Result<()> {
        let n_points = self.codes.len();
        let n_copies = if self.takes_rows(values.shape()[0]) { 2 } else { 1 };
        let of_item = ((n_copies * self.n_nodes() + n_points) as u64).saturating_mul(size_of::<T>() as u64);
        let budget = self.backend.available_memory_bytes();
        let budget = budget.map_or(u64::MAX, |bytes| (bytes as f64 * USABLE) as u64);
        let items = (budget / of_item.max(1)).clamp(1, values.shape()[0].max(1) as u64) as usize;
        let stream = self.backend.stream()?;
        if n_points == 0 {
            return Ok(());
        }
        for (part, output) in output.chunks_mut(items * n_points).enumerate() {
            let range = Slice::from(part * items..part * items + output.len() / n_points);
            let values = Tensor::from_array(&self.backend, &values.slice_axis(Axis(0), range))?;
            let shape = self.output_shape(values.shape())?;
            let mut there = Tensor::unset(&self.backend, &shape)?;
            self.run_into(&values, fill, &mut there, &stream)?;
            let mut target =
                ndarray::ArrayViewMutD::from_shape(IxDyn(&shape), output).map_err(|_| self.mismatch(values.shape()))?;
            there.copy_to_array(&mut target)?;
        }
        Ok(())
    }

    /// Whether a device reads so many batch items by rows.
    #[cfg(feature = "cuda")]
    pub(super) fn takes_rows(&self, n_items: usize) -> bool {
        self.are_random && rows::ITEMS.contains(&n_items)
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.values.iter().product()
    }

    fn output_shape(&self, shape: &[usize]) -> Result<Vec<usize>> {
        let batch = match shape.len().checked_sub(self.values.len()) {
            Some(n_batch @ 0..=1) if shape[n_batch..] == self.values => &shape[..n_batch],
            _ => return Err(self.mismatch(shape)),
        };
        Ok([batch, &self.shape].concat())
    }

    fn mismatch(&self, got: &[usize]) -> Error {
        let mut expected = self.values.clone();
        if got.len() == expected.len() + 1 {
            expected.insert(0, got[0]);
        }
        Error::ShapeMismatch {
            what: VALUES,
            expected,
            got: got.to_vec(),
        }
    }
}
