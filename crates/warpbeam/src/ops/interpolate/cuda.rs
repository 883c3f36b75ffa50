//! Interpolation on a CUDA device: launches, and the few bytes that come back.

use super::grid::{NODES, bad_coordinate};
use super::mesh::{Boxes, NUMBERS_PER_BOX, box_count, cells};
use super::plan::{Checking, Engine, InterpolationMethod, POINTS};
use super::prepared::{InterpolationValue, PreparedPoints};
use super::{random, rows};
use crate::device::{Cuda, Stream, Tensor};
use crate::{Error, Result};
use cuda_std::Launch;
use kernels::interpolate::boxes::{
    self, Check, FIRST_BAD, IS_FLAT, NONE, Widen, interpolate_cell_boxes, interpolate_check, interpolate_merge_boxes,
    interpolate_widen,
};
use kernels::interpolate::evaluate::{Evaluate, ITEMS_PER_BLOCK};
use kernels::interpolate::locate::{
    AlongAxes, Points, ThroughBoxes, interpolate_along_axes, interpolate_nearest_through_boxes,
    interpolate_through_boxes,
};
use kernels::interpolate::{REPORT, THREADS};
use ndarray::{Array2, arr2};
use std::sync::Arc;

/// Blocks along y at most.
pub(super) const MOST_LAYERS: u32 = 65_535;

/// A thread a piece of work, and `layers` of them along y.
pub(super) fn shape(count: u32, layers: u32) -> Launch {
    Launch {
        grid: [count.div_ceil(THREADS), layers, 1],
        threads: THREADS,
        shared_bytes: 0,
    }
}

/// Queues the copy of coordinates, up to 2³² of them, to double precision.
pub(in crate::ops) fn queue_widening(
    cuda: &Cuda,
    coordinates: &Tensor<f32>,
    wide: &mut Tensor<f64>,
    stream: &Stream,
) -> Result<()> {
    let n_coordinates = coordinates.len() as u32;
    let parameters = Widen {
        coordinates: coordinates.global("the coordinates")?,
        wide: wide.global_mut("the coordinates in double precision")?,
        n_coordinates,
    };
    cuda.launch(&interpolate_widen, shape(n_coordinates, 1), parameters, stream)
}

/// Queues the search for coordinates that are no numbers, into a report.
fn queue_check(
    cuda: &Cuda,
    coordinates: &Tensor<f64>,
    report: &mut Tensor<u32>,
    what: &'static str,
    stream: &Stream,
) -> Result<()> {
    let n_coordinates = coordinates.len() as u32;
    let parameters = Check {
        coordinates: coordinates.global(what)?,
        report: report.global_mut("the report")?,
        n_coordinates,
    };
    cuda.launch(&interpolate_check, shape(n_coordinates, 1), parameters, stream)
}

/// Waits for a report, the first row of a table, and refuses a coordinate that [`queue_check`] found.
fn read(report: &Tensor<u32>, coordinates: &Tensor<f64>, what: &'static str) -> Result<Vec<u32>> {
    let mut words = Array2::zeros((report.shape()[0], REPORT.len()));
    report.copy_to_array(&mut words)?;
    let report = words.row(0).to_vec();
    let first = report[FIRST_BAD as usize];
    if first == NONE {
        return Ok(report);
    }
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
    let (cells, levels) = cells(shape_of_nodes);
    // What is reported goes where the levels are: each allocation and each copy is waited for.
    let table = Array2::from_shape_fn((1 + levels.len(), 4), |(row, number)| match (row, number) {
        (0, number) => REPORT[number],
        (_, 0) => levels[row - 1].first,
        (_, axis) => levels[row - 1].counts[axis - 1],
    });
    let mut device_levels = Tensor::from_array(&backend, &table)?;
    if checking == Checking::OnDevice {
        queue_check(cuda, &positions, &mut device_levels, NODES, stream)?;
    }
    let mut bounds = Tensor::unset(&backend, &[box_count(&levels), NUMBERS_PER_BOX])?;
    for (number, &level) in levels.iter().enumerate() {
        let parameters = boxes::Boxes {
            cells,
            level,
            below: levels[number.saturating_sub(1)],
            positions: positions.global(NODES)?,
            boxes: bounds.global_mut_as("the boxes")?,
            report: device_levels.global_mut("the report")?,
        };
        let kernel = if number == 0 {
            interpolate_cell_boxes
        } else {
            interpolate_merge_boxes
        };
        let count = level.counts.iter().product();
        cuda.launch(&kernel, shape(count, 1), parameters, stream)?;
    }
    if read(&device_levels, &positions, NODES)?[IS_FLAT as usize] != 0 {
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

/// Finds points, and whether they are as if drawn at random. Waits for them: what is found may be used on any stream.
pub(super) fn locate(
    cuda: &Cuda,
    engine: &Engine,
    (method, values): (InterpolationMethod, &[usize]),
    points: &Tensor<f64>,
    (codes, numbers): (&mut Tensor<u32>, &mut Tensor<f64>),
    checking: Checking,
    stream: &Stream,
) -> Result<bool> {
    let n_points = codes.len() as u32;
    if n_points == 0 {
        return Ok(false);
    }
    let mut report = Tensor::from_array(points.backend(), &arr2(&[REPORT]))?;
    if checking == Checking::OnDevice {
        queue_check(cuda, points, &mut report, POINTS, stream)?;
    }
    let launch = shape(n_points, 1);
    let targets = Points {
        points: points.global(POINTS)?,
        codes: codes.global_mut("the places")?,
        has_numbers: u32::from(!numbers.is_empty()),
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
    let is_considered = random::is_considered(method, codes.len());
    if is_considered {
        random::queue_jumps(cuda, codes, values, &mut report, stream)?;
    }
    let report = read(&report, points, POINTS)?;
    Ok(is_considered && random::are_random(values.iter().product(), &report))
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
    if points.takes_rows(n_items as usize) && rows::queue(cuda, points, values, fill, output, stream)? {
        return Ok(());
    }
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
