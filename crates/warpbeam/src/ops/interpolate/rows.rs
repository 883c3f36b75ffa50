//! Values at points drawn at random on a CUDA device: from a copy of the nodes' values with the batch innermost.

use super::cuda::MOST_LAYERS;
use super::plan::InterpolationMethod;
use super::prepared::{InterpolationValue, PreparedPoints};
use crate::device::{Cuda, Stream, Tensor};
use crate::ops::contiguous_copy_into;
use crate::{Error, Result};
use cuda_std::Launch;
use kernels::interpolate::THREADS;
use kernels::interpolate::rows::{self, Rows};
use std::ops::RangeInclusive;

/// Batch items: of fewer, rows are shorter than the sectors are worth, and for more there are not enough blocks along y.
pub(super) const ITEMS: RangeInclusive<usize> = 16..=(rows::ITEMS * MOST_LAYERS) as usize;

/// Queues values at points; shapes were checked, and neither is empty. `false`, and nothing is queued, for the nearest nodes and
/// where there is no room for the copy.
pub(super) fn queue<T: InterpolationValue>(
    cuda: &Cuda,
    points: &PreparedPoints,
    values: &Tensor<T>,
    fill: T,
    output: &mut Tensor<T>,
    stream: &Stream,
) -> Result<bool> {
    let kernel = match points.method {
        InterpolationMethod::Nearest => return Ok(false),
        InterpolationMethod::Trilinear => T::trilinear_rows(),
        InterpolationMethod::Tetrahedral => T::tetrahedral_rows(),
    };
    values.expect_contiguous("the values at the grid's nodes")?;
    output.expect_contiguous("the output")?;
    let scratch = points.workspace.enter(stream)?;
    let batch_last: Vec<usize> = (1..values.shape().len()).chain([0]).collect();
    let view = values.view().permuted_axes(&batch_last)?;
    let mut copy = match scratch.tensor(view.shape()) {
        Err(Error::OutOfMemory { .. }) => return Ok(false),
        copy => copy?,
    };
    contiguous_copy_into(view, &mut copy, stream)?;
    let (n_points, n_items) = (points.codes.len() as u32, values.shape()[0] as u32);
    let parameters = Rows {
        values: copy.global("the copy of the values")?,
        codes: points.codes.global("the places")?,
        numbers: points.numbers.global_as("the weights")?,
        output: output.global_mut("the output")?,
        fill,
        n_points,
        n_items,
        steps: points.steps,
    };
    let launch = Launch {
        grid: [n_points.div_ceil(rows::POINTS), n_items.div_ceil(rows::ITEMS), 1],
        threads: THREADS,
        shared_bytes: rows::shared_bytes::<T>(),
    };
    cuda.launch(&kernel, launch, parameters, stream)?;
    Ok(true)
}
