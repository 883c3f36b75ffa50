//! Distances and angles of many points at once.

use super::contiguous_copy;
use super::coordinate::Coordinate;
use super::space::expect_shape;
use crate::device::{Backend, Element, Stream, Tensor, TensorView};
use crate::{Error, Result};
use rayon::prelude::*;
use wavefield::Real;
use wavefield::geometry::{add_squared_difference, angle_by_chords, distance_to_rectangle as to_rectangle};

/// Most points of one kind, and coordinates of a point.
const MOST_POINTS: usize = i32::MAX as usize;

/// Distances of all points `(.., n, d)` of one kind to all points `(.., m, d)` of another: `(.., n, m)`, with no more memory
/// than that. Every batch item has its own points.
///
/// A view that is not contiguous is copied first.
///
/// # Errors
///
/// [`Error::WrongAxes`] for points without an axis of points and one of coordinates; [`Error::ShapeMismatch`] where the two
/// kinds differ in their batch or their number of coordinates; [`Error::OutOfRange`] for 2³¹ points or more of a kind;
/// [`Error::WrongBackend`] for what is elsewhere; [`Error::OutOfMemory`], and what the device reports.
pub fn pairwise_distance<'a, 'b, T: Coordinate>(
    rows: impl Into<TensorView<'a, T>>,
    columns: impl Into<TensorView<'b, T>>,
    stream: &Stream,
) -> Result<Tensor<T>> {
    let (rows, columns) = (rows.into(), columns.into());
    let (row_shape, column_shape) = (rows.shape().to_vec(), columns.shape().to_vec());
    let ([batch @ .., n_rows, n_dimensions], [.., n_columns, _]) = (&row_shape[..], &column_shape[..]) else {
        let is_rows = row_shape.len() < 2;
        return Err(Error::WrongAxes {
            what: if is_rows {
                "the first points"
            } else {
                "the second points"
            },
            expected: "(.., point, coordinate)",
            got: if is_rows { row_shape } else { column_shape },
        });
    };
    expect_shape(
        "the second points",
        &[batch, &[*n_columns, *n_dimensions]].concat(),
        &column_shape,
    )?;
    for count in [*n_rows, *n_columns, *n_dimensions, batch.iter().product()] {
        if count > MOST_POINTS {
            return Err(Error::OutOfRange {
                what: "the number of points, coordinates or batch items",
                value: count as f64,
                requirement: "below 2147483648",
            });
        }
    }
    expect_together(rows.backend(), columns.backend(), stream)?;
    let (mut row_copy, mut column_copy) = (None, None);
    let rows = dense(rows, &mut row_copy, stream)?;
    let columns = dense(columns, &mut column_copy, stream)?;
    let mut output = Tensor::unset(rows.backend(), &[batch, &[*n_rows, *n_columns]].concat())?;
    if output.is_empty() {
        return Ok(output);
    }
    #[cfg(feature = "cuda")]
    if let Some(cuda) = rows.backend().as_cuda() {
        let counts = [batch.iter().product(), *n_rows, *n_columns, *n_dimensions];
        on_cuda::queue_pairs(cuda, &rows, &columns, &mut output, counts, stream)?;
        return Ok(output);
    }
    let (first, second) = (rows.host("the first points")?, columns.host("the second points")?);
    let first = first.as_slice().unwrap_or_default();
    let second = second.as_slice().unwrap_or_default();
    let n_dimensions = *n_dimensions;
    output
        .host_slice_mut("the distances")?
        .par_chunks_mut(*n_columns)
        .enumerate()
        .for_each(|(row, distances)| {
            let point = &first[row * n_dimensions..][..n_dimensions];
            let others = &second[row / n_rows * n_columns * n_dimensions..];
            for (column, distance) in distances.iter_mut().enumerate() {
                let other = &others[column * n_dimensions..][..n_dimensions];
                let pairs = point.iter().zip(other);
                let square = pairs.fold(T::ZERO, |sum, (a, b)| add_squared_difference(sum, *a, *b));
                *distance = square.sqrt();
            }
        });
    Ok(output)
}

/// Distances of points `(.., 3)` to a rectangle in the plane z = 0, its centre at the origin, `width` along x and `height`
/// along y: `(..)`.
///
/// A view that is not contiguous is copied first.
///
/// # Errors
///
/// [`Error::WrongAxes`] for points without three coordinates; [`Error::OutOfRange`] for a width or height that is negative
/// or not finite; [`Error::WrongBackend`] for a stream from elsewhere; [`Error::OutOfMemory`], and what the device reports.
pub fn distance_to_rectangle<'a, T: Coordinate>(
    points: impl Into<TensorView<'a, T>>,
    width: f64,
    height: f64,
    stream: &Stream,
) -> Result<Tensor<T>> {
    let points = points.into();
    for (what, value) in [("the rectangle's width", width), ("the rectangle's height", height)] {
        if !(value.is_finite() && value >= 0.0) {
            return Err(Error::OutOfRange {
                what,
                value,
                requirement: "finite and not negative",
            });
        }
    }
    let shape = points.shape().to_vec();
    let [batch @ .., 3] = &shape[..] else {
        return Err(Error::WrongAxes {
            what: "the points",
            expected: "(.., 3)",
            got: shape,
        });
    };
    expect_together(points.backend(), points.backend(), stream)?;
    let mut copy = None;
    let points = dense(points, &mut copy, stream)?;
    let mut output = Tensor::unset(points.backend(), batch)?;
    let halves = [width, height].map(|side| T::from_f64(side / 2.0));
    if output.is_empty() {
        return Ok(output);
    }
    #[cfg(feature = "cuda")]
    if let Some(cuda) = points.backend().as_cuda() {
        on_cuda::queue_rectangle(cuda, &points, &mut output, halves, stream)?;
        return Ok(output);
    }
    let view = points.host("the points")?;
    let (points, _) = view.as_slice().unwrap_or_default().as_chunks::<3>();
    let distances = output.host_slice_mut("the distances")?;
    distances
        .par_iter_mut()
        .zip(points)
        .for_each(|(distance, point)| *distance = to_rectangle(*point, halves[0], halves[1]));
    Ok(output)
}

/// Angles in radians, from 0 to π, between vectors `(.., d)` and as many others: `(..)`. A vector of zeros is at a right
/// angle to every other.
///
/// A view that is not contiguous is copied first; [`TensorView::broadcast`] repeats one vector for all.
///
/// # Errors
///
/// [`Error::WrongAxes`] for vectors without an axis; [`Error::ShapeMismatch`] where the two differ in shape;
/// [`Error::WrongBackend`] for what is elsewhere; [`Error::OutOfMemory`], and what the device reports.
pub fn angle<'a, 'b, T: Coordinate>(
    first: impl Into<TensorView<'a, T>>,
    second: impl Into<TensorView<'b, T>>,
    stream: &Stream,
) -> Result<Tensor<T>> {
    let (first, second) = (first.into(), second.into());
    let shape = first.shape().to_vec();
    let [batch @ .., n_dimensions] = &shape[..] else {
        return Err(Error::WrongAxes {
            what: "the first vectors",
            expected: "(.., coordinate)",
            got: shape,
        });
    };
    expect_shape("the second vectors", &shape, second.shape())?;
    expect_together(first.backend(), second.backend(), stream)?;
    let (mut first_copy, mut second_copy) = (None, None);
    let first = dense(first, &mut first_copy, stream)?;
    let second = dense(second, &mut second_copy, stream)?;
    let mut output = Tensor::unset(first.backend(), batch)?;
    if output.is_empty() {
        return Ok(output);
    }
    #[cfg(feature = "cuda")]
    if let Some(cuda) = first.backend().as_cuda() {
        on_cuda::queue_angles(cuda, &first, &second, &mut output, *n_dimensions, stream)?;
        return Ok(output);
    }
    let (first, second) = (first.host("the first vectors")?, second.host("the second vectors")?);
    let first = first.as_slice().unwrap_or_default();
    let second = second.as_slice().unwrap_or_default();
    let n_dimensions = *n_dimensions;
    let angles = output.host_slice_mut("the angles")?;
    angles.par_iter_mut().enumerate().for_each(|(number, angle)| {
        let range = number * n_dimensions..(number + 1) * n_dimensions;
        *angle = between(&first[range.clone()], &second[range]);
    });
    Ok(output)
}

/// The angle between two vectors.
fn between<T: Real>(first: &[T], second: &[T]) -> T {
    let length = |vector: &[T]| {
        let square = vector.iter().fold(T::ZERO, |sum, part| part.mul_add(*part, sum));
        square.sqrt()
    };
    let (of_first, of_second) = (length(first), length(second));
    let (mut difference, mut sum) = (T::ZERO, T::ZERO);
    for (&first, &second) in first.iter().zip(second) {
        // Both as long as the product of the lengths.
        let (first, second) = (first * of_second, second * of_first);
        difference = add_squared_difference(difference, first, second);
        sum = add_squared_difference(sum, first, -second);
    }
    angle_by_chords(difference.sqrt(), sum.sqrt())
}

fn expect_together(backend: &Backend, other: &Backend, stream: &Stream) -> Result<()> {
    backend.expect("the second tensor", other)?;
    backend.expect("the stream", stream.backend())
}

/// The view, or one of a contiguous copy where it is not contiguous itself.
fn dense<'a, T: Element>(
    view: TensorView<'a, T>,
    copy: &'a mut Option<Tensor<T>>,
    stream: &Stream,
) -> Result<TensorView<'a, T>> {
    if view.is_contiguous() {
        return Ok(view);
    }
    Ok(copy.insert(contiguous_copy(view, stream)?).view())
}

#[cfg(feature = "cuda")]
mod on_cuda {
    use super::Coordinate;
    use crate::device::{Cuda, Stream, Tensor, TensorView};
    use crate::{Error, Result};
    use cuda_std::Launch;
    use kernels::copy::axes::{Divisor, UNITS_BELOW};
    use kernels::geometry::{Angles, Pairs, Rectangle, THREADS, pair_tiles};

    /// A thread a result.
    fn one_each(count: usize) -> Result<Launch> {
        let blocks = count.div_ceil(THREADS as usize);
        if blocks >= UNITS_BELOW as usize {
            return Err(Error::OutOfRange {
                what: "the number of points",
                value: count as f64,
                requirement: "below 2³⁹",
            });
        }
        Ok(Launch {
            grid: [blocks as u32, 1, 1],
            threads: THREADS,
            shared_bytes: 0,
        })
    }

    /// `counts` are batch items, rows, columns, coordinates, each below 2³¹ and none but the last 0.
    pub(super) fn queue_pairs<T: Coordinate>(
        cuda: &Cuda,
        rows: &TensorView<'_, T>,
        columns: &TensorView<'_, T>,
        output: &mut Tensor<T>,
        counts: [usize; 4],
        stream: &Stream,
    ) -> Result<()> {
        let [n_items, n_rows, n_columns, n_dimensions] = counts.map(|count| count as u32);
        let [row_tiles, column_tiles] = pair_tiles(n_rows, n_columns);
        let of_item = u64::from(row_tiles) * u64::from(column_tiles);
        let per_launch = u64::from(UNITS_BELOW - 1) / of_item;
        if per_launch == 0 {
            return Err(Error::OutOfRange {
                what: "the number of pairs of points",
                value: f64::from(n_rows) * f64::from(n_columns),
                requirement: "below 2⁴²",
            });
        }
        let mut first_item = 0;
        while first_item < n_items {
            let items = u64::from(n_items - first_item).min(per_launch) as u32;
            let parameters = Pairs {
                rows: rows.global_units()?,
                columns: columns.global_units()?,
                output: output.global_units_mut("the distances")?,
                first_item,
                n_rows,
                n_columns,
                n_dimensions,
                row_tiles: Divisor::new(row_tiles),
                column_tiles: Divisor::new(column_tiles),
            };
            let shape = Launch {
                grid: [(u64::from(items) * of_item) as u32, 1, 1],
                threads: THREADS,
                shared_bytes: 0,
            };
            cuda.launch(&T::pairs(), shape, parameters, stream)?;
            first_item += items;
        }
        Ok(())
    }

    pub(super) fn queue_rectangle<T: Coordinate>(
        cuda: &Cuda,
        points: &TensorView<'_, T>,
        output: &mut Tensor<T>,
        [half_width, half_height]: [T; 2],
        stream: &Stream,
    ) -> Result<()> {
        let parameters = Rectangle {
            points: points.global_units()?,
            n_points: output.len() as u64,
            output: output.global_units_mut("the distances")?,
            half_width,
            half_height,
        };
        cuda.launch(&T::rectangle(), one_each(output.len())?, parameters, stream)
    }

    pub(super) fn queue_angles<T: Coordinate>(
        cuda: &Cuda,
        first: &TensorView<'_, T>,
        second: &TensorView<'_, T>,
        output: &mut Tensor<T>,
        n_dimensions: usize,
        stream: &Stream,
    ) -> Result<()> {
        let parameters = Angles {
            first: first.global_units()?,
            second: second.global_units()?,
            n_vectors: output.len() as u64,
            output: output.global_units_mut("the angles")?,
            n_dimensions: n_dimensions as u32,
        };
        cuda.launch(&T::angles(), one_each(output.len())?, parameters, stream)
    }
}
