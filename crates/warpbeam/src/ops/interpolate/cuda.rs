//! Interpolation on a CUDA device: launches, and the few bytes that come back.

use super::grid::{NODES, bad_coordinate};
use super::mesh::{Boxes, NUMBERS_PER_BOX, box_count, cells};
use super::plan::{Checking, Engine, InterpolationMethod, POINTS};
use super::prepared::{InterpolationValue, PreparedPoints};
use crate::device::{Cuda, Stream, Tensor};
use crate::ops::contiguous_copy;
use crate::{Error, Result};
use cuda_std::Launch;
use kernels::interpolate::THREADS;
use kernels::interpolate::boxes::{
    self, Check, NONE, interpolate_cell_boxes, interpolate_check, interpolate_merge_boxes,
};
use kernels::interpolate::evaluate::{Evaluate, ITEMS_PER_BLOCK};
use kernels::interpolate::locate::{
    AlongAxes, Points, ThroughBoxes, interpolate_along_axes, interpolate_nearest_through_boxes,
    interpolate_through_boxes,
};
use ndarray::{Array2, arr1};
use std::sync::Arc;

/// Blocks along y at most.
const MOST_LAYERS: u32 = 65_535;

/// A thread a piece of work, and `layers` of them along y.
fn shape(count: u32, layers: u32) -> Launch {
    Launch {
        grid: [count.div_ceil(THREADS), layers, 1],
        threads: THREADS,
        shared_bytes: 0,
    }
}

/// Queues the search for coordinates that are no numbers.
fn queue_check(cuda: &Cuda, coordinates: &Tensor<f64>, what: &'static str, stream: &Stream) -> Result<Tensor<u32>> {
    let mut first_bad = Tensor::from_array(coordinates.backend(), &arr1(&[NONE]))?;
    let n_coordinates = coordinates.len() as u32;
    let parameters = Check {
        coordinates: coordinates.global(what)?,
        first_bad: first_bad.global_mut("the first bad coordinate")?,
        n_coordinates,
    };
    cuda.launch(&interpolate_check, shape(n_coordinates, 1), parameters, stream)?;
    Ok(first_bad)
}

/// Waits for what [`queue_check`] found, and refuses it.
fn expect_none(first_bad: &Tensor<u32>, coordinates: &Tensor<f64>, what: &'static str) -> Result<()> {
    let found = first_bad.to_array()?;
    let Some(&first) = found.iter().find(|place| **place != NONE) else {
        return Ok(());
    };
    let mut rest = first as usize;
    let mut index = vec![0; coordinates.shape().len()];
    for (index, length) in index.iter_mut().zip(coordinates.shape()).rev() {
        (*index, rest) = (rest % length, rest / length);
    }
    let value = coordinates.to_array()?[&index[..]];
    Err(bad_coordinate(what, index, value))
}

/// Boxes around the cells of nodes `(z, y, x, 3)`.
pub(super) fn boxes(
    cuda: &Arc<Cuda>,
    positions: Tensor<f64>,
    shape_of_nodes: [usize; 3],
    checking: Checking,
    stream: &Stream,
) -> Result<Boxes> {
    let backend = positions.backend().clone();
    let first_bad = match checking {
        Checking::OnDevice => Some(queue_check(cuda, &positions, NODES, stream)?),
        Checking::Done => None,
    };
    let (cells, levels) = cells(shape_of_nodes);
    let table = Array2::from_shape_fn((levels.len(), 4), |(level, number)| match number {
        0 => levels[level].first,
        axis => levels[level].counts[axis - 1],
    });
    let device_levels = Tensor::from_array(&backend, &table)?;
    let mut bounds = Tensor::unset(&backend, &[box_count(&levels), NUMBERS_PER_BOX])?;
    for (number, &level) in levels.iter().enumerate() {
        let parameters = boxes::Boxes {
            cells,
            level,
            below: levels[number.saturating_sub(1)],
            positions: positions.global(NODES)?,
            boxes: bounds.global_mut_as("the boxes")?,
        };
        let kernel = if number == 0 {
            interpolate_cell_boxes
        } else {
            interpolate_merge_boxes
        };
        let count = level.counts.iter().product();
        cuda.launch(&kernel, shape(count, 1), parameters, stream)?;
    }
    let top = bounds.view().sliced(0, bounds.shape()[0] - 1..bounds.shape()[0], 1)?;
    let top = contiguous_copy(top, stream)?.to_array()?;
    if let Some(first_bad) = first_bad {
        expect_none(&first_bad, &positions, NODES)?;
    }
    if top[[0, 0]] > top[[0, 4]] {
        return Err(Error::FlatGrid {
            shape: shape_of_nodes.to_vec(),
        });
    }
    Ok(Boxes {
        cells,
        positions,
        bounds,
        levels,
        device_levels,
    })
}

/// Queues the search for points, and waits for it: what is found may be used on any stream.
pub(super) fn locate(
    cuda: &Cuda,
    engine: &Engine,
    method: InterpolationMethod,
    points: &Tensor<f64>,
    (codes, numbers): (&mut Tensor<u32>, &mut Tensor<f64>),
    checking: Checking,
    stream: &Stream,
) -> Result<()> {
    let n_points = codes.len() as u32;
    if n_points == 0 {
        return Ok(());
    }
    let first_bad = match checking {
        Checking::OnDevice => Some(queue_check(cuda, points, POINTS, stream)?),
        Checking::Done => None,
    };
    let launch = shape(n_points, 1);
    let targets = Points {
        points: points.global(POINTS)?,
        codes: codes.global_mut("the places")?,
        numbers: numbers.global_mut_as("the weights")?,
        n_points,
    };
    match engine {
        Engine::Axes { grid, table } => {
            let parameters = AlongAxes {
                points: targets,
                grid: *grid,
                table: table.global("the axes")?,
            };
            cuda.launch(&interpolate_along_axes, launch, parameters, stream)?;
        }
        Engine::Boxes(boxes) => {
            let parameters = ThroughBoxes {
                points: targets,
                cells: boxes.cells,
                positions: boxes.positions.global(NODES)?,
                boxes: boxes.bounds.global_as("the boxes")?,
                levels: boxes.device_levels.global_as("the levels of boxes")?,
            };
            let kernel = match method {
                InterpolationMethod::Nearest => interpolate_nearest_through_boxes,
                _ => interpolate_through_boxes,
            };
            cuda.launch(&kernel, launch, parameters, stream)?;
        }
    }
    match first_bad {
        Some(first_bad) => expect_none(&first_bad, points, POINTS),
        None => stream.synchronize(),
    }
}

/// Queues values at points; shapes were checked.
pub(super) fn evaluate<T: InterpolationValue>(
    cuda: &Cuda,
    points: &PreparedPoints,
    values: &Tensor<T>,
    fill: T,
    output: &mut Tensor<T>,
    stream: &Stream,
) -> Result<()> {
    let n_points = points.codes.len();
    if output.is_empty() {
        return Ok(());
    }
    let n_items = output.len() / n_points;
    if n_items > u32::MAX as usize / 2 {
        return Err(Error::OutOfRange {
            what: "the number of batch items",
            value: n_items as f64,
            requirement: "below 2^31",
        });
    }
    let n_items = n_items as u32;
    let items_per_block = ITEMS_PER_BLOCK.max(n_items.div_ceil(MOST_LAYERS).next_multiple_of(ITEMS_PER_BLOCK));
    let parameters = Evaluate {
        values: values.global("the values at the grid's nodes")?,
        codes: points.codes.global("the places")?,
        numbers: points.numbers.global_as("the weights")?,
        output: output.global_mut("the output")?,
        n_nodes: points.n_nodes() as u64,
        fill,
        n_points: n_points as u32,
        n_items,
        items_per_block,
        steps: points.steps,
    };
    let kernel = match points.method {
        InterpolationMethod::Nearest => T::nearest(),
        InterpolationMethod::Trilinear => T::trilinear(),
        InterpolationMethod::Tetrahedral => T::tetrahedral(),
    };
    let launch = shape(n_points as u32, n_items.div_ceil(items_per_block));
    cuda.launch(&kernel, launch, parameters, stream)
}
