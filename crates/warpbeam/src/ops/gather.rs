//! Rows from given places.

use super::copy::assign;
use super::indices::Indices;
use super::space::{expect_axes, expect_backend, expect_shape};
use crate::Result;
use crate::device::{Element, Stream, Tensor, TensorView};
use ndarray::{ArrayViewD, ArrayViewMutD, Axis};
use rayon::prelude::*;

/// `output[.., i, ..] = input[.., indices[i], ..]`, i along the axis `axis`.
///
/// # Errors
///
/// As [`gather_into`], and [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn gather<'a, T: Element>(
    input: impl Into<TensorView<'a, T>>,
    axis: usize,
    indices: &Indices,
    stream: &Stream,
) -> Result<Tensor<T>> {
    let input = input.into();
    let shape = gathered_shape(&input, axis, indices)?;
    let mut output = Tensor::unset(input.backend(), &shape)?;
    gather_into(input, axis, indices, &mut output, stream)?;
    Ok(output)
}

/// As [`gather`], into a contiguous tensor and without allocating.
///
/// # Errors
///
/// [`Error::WrongAxes`](crate::Error::WrongAxes) for more than [`MOST_AXES`](super::MOST_AXES);
/// [`Error::ShapeMismatch`](crate::Error::ShapeMismatch) for an axis of another length than the indices are for, and for an
/// output whose shape is not the input's with as many positions along the axis as there are indices;
/// [`Error::WrongBackend`](crate::Error::WrongBackend) for what is elsewhere;
/// [`DeviceError`](crate::DeviceError) for an axis that is not there, an output that is not contiguous, and what the
/// device reports.
pub fn gather_into<'a, T: Element>(
    input: impl Into<TensorView<'a, T>>,
    axis: usize,
    indices: &Indices,
    output: &mut Tensor<T>,
    stream: &Stream,
) -> Result<()> {
    range!("gather");
    let input = input.into();
    let shape = gathered_shape(&input, axis, indices)?;
    expect_shape("the output", &shape, output.shape())?;
    expect_backend(input.backend(), output.backend(), stream)?;
    input.backend().expect("the indices", indices.backend())?;
    #[cfg(feature = "cuda")]
    if let Some(cuda) = input.backend().as_cuda() {
        let looked_up = super::launch::LookedUp {
            axis,
            length: indices.len(),
            sources: Some(&indices.positions),
            targets: None,
        };
        return super::launch::queue_moves(cuda, &input, output, Some(looked_up), stream);
    }
    let source = input.host("the tensor to gather from")?;
    let positions = indices.positions.host_slice("the indices")?;
    let target = output.host_array_mut("the output")?;
    gather_on_cpu(target, &source, axis, positions);
    Ok(())
}

fn gathered_shape<T: Element>(input: &TensorView<'_, T>, axis: usize, indices: &Indices) -> Result<Vec<usize>> {
    const WHAT: &str = "the tensor to gather from";
    expect_axes(WHAT, input.shape())?;
    indices.expect_axis(WHAT, input.shape(), axis)?;
    let mut shape = input.shape().to_vec();
    shape[axis] = indices.len();
    Ok(shape)
}

/// Row by row; where a row is one element, line by line along the axis.
fn gather_on_cpu<T: Element>(
    mut target: ArrayViewMutD<'_, T>,
    source: &ArrayViewD<'_, T>,
    axis: usize,
    positions: &[i32],
) {
    if target.is_empty() {
        return;
    }
    if axis + 1 == source.ndim() {
        let lines: Vec<_> = target
            .lanes_mut(Axis(axis))
            .into_iter()
            .zip(source.lanes(Axis(axis)))
            .collect();
        lines.into_par_iter().for_each(|(mut target, source)| {
            for (value, &position) in target.iter_mut().zip(positions) {
                *value = source[position as usize];
            }
        });
        return;
    }
    let rows: Vec<_> = target.axis_iter_mut(Axis(axis)).zip(positions).collect();
    if rows.len() < rayon::current_num_threads() {
        for (row, &position) in rows {
            assign(row, &source.index_axis(Axis(axis), position as usize));
        }
        return;
    }
    rows.into_par_iter().for_each(|(mut row, &position)| {
        row.assign(&source.index_axis(Axis(axis), position as usize));
    });
}
