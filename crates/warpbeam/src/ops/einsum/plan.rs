//! The plan: subscripts and shapes that are checked once, memory that is kept, and the calls that multiply.

use super::contraction::{Contraction, Rule};
use super::cpu;
use super::factor::Factor;
#[cfg(feature = "cuda")]
use super::{cuda, products};
use crate::device::{Backend, Stream, Tensor, TensorView};
use crate::ops::space::{expect_backend, expect_shape};
use crate::{Error, Precision, Result};
use ndarray::{ArrayD, ArrayView, Dimension};

/// What stands for an operand in errors, by its number.
const OPERANDS: [&str; 2] = ["the first operand", "the second operand"];

/// Sums of products of the elements of two tensors of given shapes, by subscripts; made once, run for any elements.
///
/// What [`einsum`](super::einsum) does, without reading and checking subscripts again, and, from the second run on, without
/// allocating: temporary tensors are the plan's, and no run waits for its end.
///
/// ```
/// use warpbeam::{Backend, Precision, ops::EinsumPlan};
/// # fn main() -> warpbeam::Result<()> {
/// let plan = EinsumPlan::<f32>::new(&Backend::cpu(), "ij,j->i", [&[2, 2], &[2]], Precision::Full)?;
/// let a = ndarray::arr2(&[[1.0, 2.0], [3.0, 4.0]]);
/// for x in [[1.0, 0.0], [0.0, 1.0]] {
///     let product = plan.run(a.view(), ndarray::arr1(&x).view())?;
///     println!("{product}");
/// }
/// # Ok(())
/// # }
/// ```
pub struct EinsumPlan<T: Factor> {
    backend: Backend,
    rule: Rule,
    #[cfg_attr(
        not(feature = "cuda"),
        allow(dead_code, reason = "the CPU computes in full precision")
    )]
    precision: Precision,
    #[cfg(feature = "cuda")]
    memory: products::Memory<T>,
    #[cfg(not(feature = "cuda"))]
    elements: std::marker::PhantomData<fn(T)>,
}

impl<T: Factor> EinsumPlan<T> {
    /// Makes a plan for operands of two shapes; of `precision` says [`einsum_into_with`](super::einsum_into_with) more.
    ///
    /// # Errors
    ///
    /// [`EinsumError`](super::EinsumError) for subscripts that say nothing or do not fit the shapes; [`Error::WrongAxes`] for
    /// more than [`MOST_AXES`](crate::ops::MOST_AXES), the output's too; [`Error::Unsupported`] for [`Precision::F16`].
    pub fn new(backend: &Backend, subscripts: &str, shapes: [&[usize]; 2], precision: Precision) -> Result<Self> {
        let shapes = shapes.map(<[usize]>::to_vec).to_vec();
        Self::of_shapes(backend, subscripts, shapes, precision)
    }

    /// As [`EinsumPlan::new`], for any number of operands there are subscripts for.
    pub(super) fn of_shapes(
        backend: &Backend,
        subscripts: &str,
        shapes: Vec<Vec<usize>>,
        precision: Precision,
    ) -> Result<Self> {
        let rule = Rule::new(subscripts, shapes)?;
        if let Precision::F16 { .. } = precision {
            return Err(Error::Unsupported {
                what: "einsum with Precision::F16",
                alternatives: "tensors of f16 are multiplied as halves; f32 takes Precision::Full and Precision::Tf32",
            });
        }
        Ok(Self {
            backend: backend.clone(),
            rule,
            precision,
            #[cfg(feature = "cuda")]
            memory: products::Memory::default(),
            #[cfg(not(feature = "cuda"))]
            elements: std::marker::PhantomData,
        })
    }

    /// Where the plan computes.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// The shape of results.
    pub fn output_shape(&self) -> &[usize] {
        &self.rule.output_shape
    }

    /// Multiplies operands on the host, to the host; the views may have any strides.
    ///
    /// # Errors
    ///
    /// As [`EinsumPlan::run_into`], and [`Error::OutOfMemory`].
    pub fn run<D: Dimension, E: Dimension>(&self, a: ArrayView<'_, T, D>, b: ArrayView<'_, T, E>) -> Result<ArrayD<T>> {
        let stream = self.backend.stream()?;
        let a = Tensor::from_array(&self.backend, &a.into_dyn())?;
        let b = Tensor::from_array(&self.backend, &b.into_dyn())?;
        let mut output = Tensor::unset(&self.backend, self.output_shape())?;
        self.run_into(&a, &b, &mut output, &stream)?;
        output.to_array()
    }

    /// Multiplies operands on the plan's backend into a contiguous tensor there.
    ///
    /// On CUDA the work may still run when the call returns: reading the output to the host waits for it. The first run
    /// allocates the plan's memory.
    ///
    /// # Errors
    ///
    /// [`Error::ShapeMismatch`] for operands or an output of other shapes; [`Error::WrongBackend`] for what is elsewhere;
    /// [`DeviceError`](crate::DeviceError) for an output that is not contiguous, and what the device reports.
    pub fn run_into<'a>(
        &self,
        a: impl Into<TensorView<'a, T>>,
        b: impl Into<TensorView<'a, T>>,
        output: &mut Tensor<T>,
        stream: &Stream,
    ) -> Result<()> {
        self.run_views(vec![a.into(), b.into()], output, stream)
    }

    pub(super) fn run_views(
        &self,
        views: Vec<TensorView<'_, T>>,
        output: &mut Tensor<T>,
        stream: &Stream,
    ) -> Result<()> {
        range!("einsum");
        for (what, view) in OPERANDS.iter().zip(&views) {
            self.backend.expect(what, view.backend())?;
        }
        let contraction = Contraction::new(&self.rule, views)?;
        expect_shape("the output", &contraction.output_shape, output.shape())?;
        expect_backend(&self.backend, output.backend(), stream)?;
        #[cfg(feature = "cuda")]
        if let Some(cuda) = self.backend.as_cuda() {
            let launcher = cuda::CudaLauncher {
                cuda,
                precision: self.precision,
            };
            return products::run(&launcher, &contraction, output, &self.memory, stream);
        }
        cpu::run(&contraction, output)
    }
}
