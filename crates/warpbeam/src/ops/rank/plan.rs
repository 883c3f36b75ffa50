//! The plan: a shape and a choice of components that are checked once, memory that is kept, and the calls that filter.

use super::{Components, MatrixElement, Truncation, WHAT, cpu};
#[cfg(feature = "cuda")]
use crate::device::Workspace;
use crate::device::{Backend, Stream, Tensor, TensorView, zeroed};
use crate::ops::space::{expect_axes, expect_backend, expect_shape};
use crate::{Error, Result};
use ndarray::{ArrayD, ArrayView, ArrayViewMutD, Dimension};
use std::marker::PhantomData;

/// A clutter filter for data of one shape; made once, run for any data.
///
/// What [`truncate_rank`](super::truncate_rank) does, without allocating on a device from the second run on: for recordings
/// that come one after the other.
pub struct RankPlan<T: MatrixElement> {
    backend: Backend,
    shape: Vec<usize>,
    components: Components,
    #[cfg(feature = "cuda")]
    workspace: Workspace,
    elements: PhantomData<fn(T)>,
}

impl<T: MatrixElement> RankPlan<T> {
    /// Makes a plan for data `(frame, ..space)` of at least two axes.
    ///
    /// # Errors
    ///
    /// [`Error::WrongAxes`] for fewer than two axes or more than [`MOST_AXES`](crate::ops::MOST_AXES), [`Error::Empty`] for no
    /// elements, [`Error::OutOfRange`] for components that there are not.
    pub fn new(backend: &Backend, shape: &[usize], components: &Components) -> Result<Self> {
        if shape.len() < 2 {
            return Err(Error::WrongAxes {
                what: WHAT,
                expected: "(frame, ..space)",
                got: shape.to_vec(),
            });
        }
        expect_axes(WHAT, shape)?;
        if shape.contains(&0) {
            return Err(Error::Empty {
                what: WHAT,
                shape: shape.to_vec(),
                minimum: 1,
            });
        }
        let n_space = shape[1..].iter().fold(1_usize, |product, n| product.saturating_mul(*n));
        components.validate(shape[0].min(n_space))?;
        Ok(Self {
            backend: backend.clone(),
            shape: shape.to_vec(),
            components: *components,
            #[cfg(feature = "cuda")]
            workspace: Workspace::default(),
            elements: PhantomData,
        })
    }

    /// Where the plan computes.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Filters data on the host, to the host; the view may have any strides.
    ///
    /// # Errors
    ///
    /// As [`RankPlan::run_into`], and [`Error::OutOfMemory`].
    pub fn run<D: Dimension>(&self, data: ArrayView<'_, T, D>) -> Result<(ArrayD<T>, Truncation)> {
        let data = data.into_dyn();
        expect_shape(WHAT, &self.shape, data.shape())?;
        if self.backend.is_cuda() {
            let stream = self.backend.stream()?;
            let input = Tensor::from_array(&self.backend, &data)?;
            let mut output = Tensor::unset(&self.backend, &self.shape)?;
            let truncation = self.run_into(&input, &mut output, &stream)?;
            return Ok((output.to_array()?, truncation));
        }
        let mut values = zeroed::<T>(data.len(), "the data filtered")?;
        let mismatch = |_| Error::ShapeMismatch {
            what: WHAT,
            expected: self.shape.clone(),
            got: data.shape().to_vec(),
        };
        let output = ArrayViewMutD::from_shape(&self.shape[..], &mut values).map_err(mismatch)?;
        let truncation = cpu::run(&data, &self.components, output)?;
        let output = ArrayD::from_shape_vec(&self.shape[..], values).map_err(mismatch)?;
        Ok((output, truncation))
    }

    /// Filters data on the plan's backend into a contiguous tensor of the same shape there.
    ///
    /// On a GPU the call waits for the singular values, which are found on the host; what follows may still run when it
    /// returns: reading the output to the host waits for it. The first run allocates the plan's memory. Data in double
    /// precision whose largest magnitude is beyond 1e±120 are filtered on the host altogether.
    ///
    /// # Errors
    ///
    /// [`Error::ShapeMismatch`] for data or an output of another shape, [`Error::NotFinite`] with the place of a NaN or an
    /// infinity, [`Error::WrongBackend`] for what is elsewhere, [`Error::OutOfMemory`], [`Error::NoConvergence`];
    /// [`DeviceError`](crate::DeviceError) for an output that is not contiguous, and what the device reports.
    pub fn run_into<'a>(
        &self,
        input: impl Into<TensorView<'a, T>>,
        output: &mut Tensor<T>,
        stream: &Stream,
    ) -> Result<Truncation> {
        range!("rank truncation");
        let input = input.into();
        expect_shape(WHAT, &self.shape, input.shape())?;
        expect_shape("the output", &self.shape, output.shape())?;
        self.backend.expect(WHAT, input.backend())?;
        expect_backend(&self.backend, output.backend(), stream)?;
        output.expect_contiguous("the output")?;
        #[cfg(feature = "cuda")]
        if let Some(cuda) = self.backend.as_cuda() {
            let scratch = self.workspace.enter(stream)?;
            return super::cuda::run(cuda, &input, &self.components, output, &scratch);
        }
        cpu::run(
            &input.host(WHAT)?,
            &self.components,
            output.host_array_mut("the output")?,
        )
    }
}
