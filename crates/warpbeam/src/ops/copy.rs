//! Dense copies, of the same type or another.

use super::space::{expect_axes, expect_backend, expect_shape};
use crate::Result;
use crate::device::{Element, Stream, Tensor, TensorView};
use half::f16;
use kernels::copy::convert::Conversion;
use ndarray::{ArrayViewD, ArrayViewMutD, Axis, Zip};
use num_complex::Complex;
use rayon::prelude::*;

/// Elements from which on a copy on the CPU is shared among threads.
const SHARED_FROM: usize = 1 << 16;

/// A dense copy in row-major order of a tensor or a view of one, whatever its strides.
///
/// # Errors
///
/// As [`contiguous_copy_into`], and [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn contiguous_copy<'a, T: Element>(input: impl Into<TensorView<'a, T>>, stream: &Stream) -> Result<Tensor<T>> {
    let input = input.into();
    let mut output = Tensor::unset(input.backend(), input.shape())?;
    contiguous_copy_into(input, &mut output, stream)?;
    Ok(output)
}

/// As [`contiguous_copy`], into a contiguous tensor of the same shape and without allocating.
///
/// On CUDA the work may still run when the call returns: reading the output to the host waits for it.
///
/// # Errors
///
/// [`Error::WrongAxes`](crate::Error::WrongAxes) for more than [`MOST_AXES`](super::MOST_AXES);
/// [`Error::ShapeMismatch`](crate::Error::ShapeMismatch) for an output of another shape;
/// [`Error::WrongBackend`](crate::Error::WrongBackend) for an output or a stream from elsewhere;
/// [`DeviceError`](crate::DeviceError) for an output that is not contiguous, and what the device reports.
pub fn contiguous_copy_into<'a, T: Element>(
    input: impl Into<TensorView<'a, T>>,
    output: &mut Tensor<T>,
    stream: &Stream,
) -> Result<()> {
    range!("contiguous copy");
    let input = input.into();
    check(&input, output, stream)?;
    #[cfg(feature = "cuda")]
    if let Some(cuda) = input.backend().as_cuda() {
        if input.is_contiguous() {
            return input.copy_dense(cuda, output, stream);
        }
        return super::launch::queue_moves(cuda, &input, output, None, stream);
    }
    let source = input.host("the tensor to copy")?;
    let target = output.host_array_mut("the output")?;
    assign(target, &source);
    Ok(())
}

/// Numbers that can become `U` on the way: 16-bit integers, halves and `f64`, real or complex, become `f32`; these,
/// but for halves, and `f32` become halves.
///
/// Each becomes the nearest number, ties to even; what is beyond the largest one is infinite. `f64` becomes a half by way of
/// an `f32`.
pub trait ConvertTo<U: Element>: Element {
    /// One real number, as a kernel sees it.
    #[doc(hidden)]
    type Number: Conversion<Self::Output>;
    /// What becomes of it.
    #[doc(hidden)]
    type Output: cuda_std::Element;

    /// What becomes of the number.
    #[doc(hidden)]
    fn converted(self) -> U;
}

/// One real number of a `T` that becomes a `U`.
#[cfg(feature = "cuda")]
pub(super) type Number<T, U> = <T as ConvertTo<U>>::Number;
/// What becomes of one.
#[cfg(feature = "cuda")]
pub(super) type Output<T, U> = <T as ConvertTo<U>>::Output;

macro_rules! conversions {
    ($($input:ty => $output:ty: $convert:expr;)*) => { $(
        impl ConvertTo<$output> for $input {
            type Number = <$input as Element>::Device;
            type Output = <$output as Element>::Device;

            fn converted(self) -> $output {
                let convert: fn($input) -> $output = $convert;
                convert(self)
            }
        }

        impl ConvertTo<Complex<$output>> for Complex<$input> {
            type Number = <$input as Element>::Device;
            type Output = <$output as Element>::Device;

            fn converted(self) -> Complex<$output> {
                Complex::new(self.re.converted(), self.im.converted())
            }
        }
    )* };
}

conversions! {
    i16 => f16: |value| f16::from_f32(f32::from(value));
    i16 => f32: f32::from;
    f16 => f32: f16::to_f32;
    f32 => f16: f16::from_f32;
    f64 => f16: |value| f16::from_f32(value as f32);
    f64 => f32: |value| value as f32;
}

/// A dense copy in row-major order of a tensor or a view of one, its numbers as those of another type.
///
/// ```
/// use warpbeam::{Backend, Tensor, ops};
/// # fn main() -> warpbeam::Result<()> {
/// let backend = Backend::cpu();
/// let counts = Tensor::from_array(&backend, &ndarray::arr2(&[[1_i16, -2, 3], [4, 5, -6]]))?;
/// let transposed = counts.view().permuted_axes(&[1, 0])?;
/// let floats: Tensor<f32> = ops::contiguous_copy_as(transposed, &backend.stream()?)?;
/// assert_eq!(floats.to_array()?, ndarray::arr2(&[[1.0, 4.0], [-2.0, 5.0], [3.0, -6.0]]).into_dyn());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As [`contiguous_copy`].
pub fn contiguous_copy_as<'a, T: ConvertTo<U>, U: Element>(
    input: impl Into<TensorView<'a, T>>,
    stream: &Stream,
) -> Result<Tensor<U>> {
    let input = input.into();
    let mut output = Tensor::unset(input.backend(), input.shape())?;
    contiguous_copy_as_into(input, &mut output, stream)?;
    Ok(output)
}

/// As [`contiguous_copy_as`], into a contiguous tensor of the same shape and without allocating.
///
/// # Errors
///
/// As [`contiguous_copy_into`].
pub fn contiguous_copy_as_into<'a, T: ConvertTo<U>, U: Element>(
    input: impl Into<TensorView<'a, T>>,
    output: &mut Tensor<U>,
    stream: &Stream,
) -> Result<()> {
    range!("converting copy");
    let input = input.into();
    check(&input, output, stream)?;
    #[cfg(feature = "cuda")]
    if let Some(cuda) = input.backend().as_cuda() {
        return super::launch::queue_conversions(cuda, &input, output, stream);
    }
    let source = input.host("the tensor to copy")?;
    let target = output.host_array_mut("the output")?;
    in_pieces(target, &source, |target, source| {
        Zip::from(target)
            .and(source)
            .for_each(|target, source| *target = source.converted());
    });
    Ok(())
}

/// Refuses what cannot be copied.
fn check<T: Element, U: Element>(input: &TensorView<'_, T>, output: &Tensor<U>, stream: &Stream) -> Result<()> {
    expect_axes("the tensor to copy", input.shape())?;
    expect_shape("the output", input.shape(), output.shape())?;
    expect_backend(input.backend(), output.backend(), stream)
}

/// Copies in parallel.
pub(super) fn assign<T: Element>(target: ArrayViewMutD<'_, T>, source: &ArrayViewD<'_, T>) {
    in_pieces(target, source, |mut target, source| target.assign(&source));
}

/// Cut along the longest axis, the pieces in parallel.
fn in_pieces<T: Element, U: Element>(
    mut target: ArrayViewMutD<'_, U>,
    source: &ArrayViewD<'_, T>,
    copy: impl Fn(ArrayViewMutD<'_, U>, ArrayViewD<'_, T>) + Sync,
) {
    let threads = rayon::current_num_threads();
    let longest = (0..target.ndim()).max_by_key(|&axis| target.shape()[axis]);
    let (Some(axis), true) = (longest, target.len() >= SHARED_FROM && threads > 1) else {
        copy(target, source.view());
        return;
    };
    let chunk = target.shape()[axis].div_ceil(4 * threads);
    let pieces: Vec<_> = target
        .axis_chunks_iter_mut(Axis(axis), chunk)
        .zip(source.axis_chunks_iter(Axis(axis), chunk))
        .collect();
    pieces.into_par_iter().for_each(|(target, source)| copy(target, source));
}
