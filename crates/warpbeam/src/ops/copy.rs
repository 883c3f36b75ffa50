//! Dense copies.

use super::space::{expect_axes, expect_backend, expect_shape};
use crate::Result;
use crate::device::{Element, Stream, Tensor, TensorView};
use ndarray::{ArrayViewD, ArrayViewMutD, Axis};
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
    let input = input.into();
    expect_axes("the tensor to copy", input.shape())?;
    expect_shape("the output", input.shape(), output.shape())?;
    expect_backend(input.backend(), output.backend(), stream)?;
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

/// Copies in parallel, cut along the longest axis.
pub(super) fn assign<T: Element>(mut target: ArrayViewMutD<'_, T>, source: &ArrayViewD<'_, T>) {
    let threads = rayon::current_num_threads();
    let longest = (0..target.ndim()).max_by_key(|&axis| target.shape()[axis]);
    let (Some(axis), true) = (longest, target.len() >= SHARED_FROM && threads > 1) else {
        target.assign(source);
        return;
    };
    let chunk = target.shape()[axis].div_ceil(4 * threads);
    let pieces: Vec<_> = target
        .axis_chunks_iter_mut(Axis(axis), chunk)
        .zip(source.axis_chunks_iter(Axis(axis), chunk))
        .collect();
    pieces
        .into_par_iter()
        .for_each(|(mut target, source)| target.assign(&source));
}
