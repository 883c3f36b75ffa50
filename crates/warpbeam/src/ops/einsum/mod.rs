//! Products and sums of tensors by subscripts, as `NumPy`'s `einsum`.
//!
//! `subscripts` reads the letters, `contraction` holds them against the shapes and says what becomes of each, `cpu` makes
//! matrix products of that. For a kernel, `products` decides what is summed and copied first, `arrangement` turns letters into
//! the axes of a launch, and `cuda` launches. `plan` keeps what does not change from call to call.

#[cfg(feature = "cuda")]
mod arrangement;
mod contraction;
mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod error;
mod factor;
mod plan;
#[cfg(feature = "cuda")]
mod products;
mod subscripts;

pub use error::EinsumError;
pub use factor::Factor;
pub use plan::EinsumPlan;

use crate::device::{Stream, Tensor, TensorView};
use crate::{Precision, Result};

/// Sums of products of the elements of two tensors, `"ij,jk->ik"` for a matrix product: every axis has a letter, letters
/// that the output has not are summed over.
///
/// | letter | what happens |
/// |---|---|
/// | in both operands and the output | one product for each of its positions |
/// | in both operands and not in the output | multiplied and summed |
/// | in one operand and the output | an axis of the result |
/// | in one operand alone | summed |
/// | in one operand twice | the diagonal |
///
/// Without `->`, the output's letters are those that stand once, sorted, as in `NumPy`. Spaces mean nothing; axes of length
/// 1 are not repeated; there is no ellipsis. The operands may have any strides.
///
/// Sums of n products are within `(n + 8) · u · Σ |a| |b|` (complex numbers twice that), with u = 2⁻²⁴ for `f32` and 2⁻⁵³
/// for `f64`; `f16` is multiplied and summed as `f32` and rounded to `f16`. On a GPU, what is summed in one operand alone is
/// rounded to its type before the product. The same call gives the same bits.
///
/// On a GPU, temporary tensors are made for sums in one operand alone, for long sums of few results, which are made in parts,
/// and for operands of which neither the summed axes nor the result's are dense; the call then waits for its end. Others
/// are read as they lie. An [`EinsumPlan`] keeps temporary tensors from call to call, and waits for none.
///
/// ```
/// use warpbeam::{Backend, Tensor, ops};
/// # fn main() -> warpbeam::Result<()> {
/// let backend = Backend::cpu();
/// let a = Tensor::from_array(&backend, &ndarray::arr2(&[[1.0_f32, 2.0], [3.0, 4.0]]))?;
/// let x = Tensor::from_array(&backend, &ndarray::arr1(&[1.0_f32, 10.0]))?;
/// let product = ops::einsum("ij,j->i", &a, &x, &backend.stream()?)?;
/// assert_eq!(product.to_array()?, ndarray::arr1(&[21.0, 43.0]).into_dyn());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As [`einsum_into`], and [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn einsum<'a, T: Factor>(
    subscripts: &str,
    a: impl Into<TensorView<'a, T>>,
    b: impl Into<TensorView<'a, T>>,
    stream: &Stream,
) -> Result<Tensor<T>> {
    allocate(subscripts, vec![a.into(), b.into()], stream)
}

/// As [`einsum`], into a contiguous tensor.
///
/// On CUDA the work may still run when the call returns: reading the output to the host waits for it.
///
/// # Errors
///
/// [`EinsumError`] for subscripts that say nothing or do not fit the operands;
/// [`Error::WrongAxes`](crate::Error::WrongAxes) for more than [`MOST_AXES`](super::MOST_AXES), the output's too;
/// [`Error::ShapeMismatch`](crate::Error::ShapeMismatch) for an output of another shape;
/// [`Error::WrongBackend`](crate::Error::WrongBackend) for what is elsewhere than the first operand;
/// [`DeviceError`](crate::DeviceError) for an output that is not contiguous, and what the device reports.
pub fn einsum_into<'a, T: Factor>(
    subscripts: &str,
    a: impl Into<TensorView<'a, T>>,
    b: impl Into<TensorView<'a, T>>,
    output: &mut Tensor<T>,
    stream: &Stream,
) -> Result<()> {
    into(subscripts, vec![a.into(), b.into()], Precision::Full, output, stream)
}

/// As [`einsum_into`], for which `f32` may be rounded to 11 bits.
///
/// With [`Precision::Tf32`] a GPU multiplies real `f32` that is dense and aligned by matrix instructions: products are within
/// 2⁻¹¹ · 2 of their magnitude. Everything else, and every other type, is as with [`Precision::Full`].
///
/// # Errors
///
/// As [`einsum_into`]; [`Error::Unsupported`](crate::Error::Unsupported) for [`Precision::F16`].
pub fn einsum_into_with<'a, T: Factor>(
    subscripts: &str,
    a: impl Into<TensorView<'a, T>>,
    b: impl Into<TensorView<'a, T>>,
    precision: Precision,
    output: &mut Tensor<T>,
    stream: &Stream,
) -> Result<()> {
    into(subscripts, vec![a.into(), b.into()], precision, output, stream)
}

/// One tensor's axes in another order, its diagonals, and its sums over the letters that the output has not: `"ij->i"`.
///
/// # Errors
///
/// As [`einsum_into`], and [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn einsum_of_one<'a, T: Factor>(
    subscripts: &str,
    a: impl Into<TensorView<'a, T>>,
    stream: &Stream,
) -> Result<Tensor<T>> {
    allocate(subscripts, vec![a.into()], stream)
}

/// The plan of one call, where the first operand is.
fn plan<T: Factor>(subscripts: &str, operands: &[TensorView<'_, T>], precision: Precision) -> Result<EinsumPlan<T>> {
    let shapes = operands.iter().map(|operand| operand.shape().to_vec()).collect();
    EinsumPlan::of_shapes(operands[0].backend(), subscripts, shapes, precision)
}

fn allocate<T: Factor>(subscripts: &str, operands: Vec<TensorView<'_, T>>, stream: &Stream) -> Result<Tensor<T>> {
    let plan = plan(subscripts, &operands, Precision::Full)?;
    let mut output = Tensor::unset(plan.backend(), plan.output_shape())?;
    plan.run_views(operands, &mut output, stream)?;
    Ok(output)
}

fn into<T: Factor>(
    subscripts: &str,
    operands: Vec<TensorView<'_, T>>,
    precision: Precision,
    output: &mut Tensor<T>,
    stream: &Stream,
) -> Result<()> {
    plan(subscripts, &operands, precision)?.run_views(operands, output, stream)
}
