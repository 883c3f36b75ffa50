//! The filter on the CPU.
//!
//! Every matrix here is (short side, long side). Threads share the long side in parts of a number that does not depend on
//! how many threads there are.

use super::moments::Moments;
use super::spectrum::Spectrum;
use super::{Components, MatrixElement, Truncation, WHAT};
use crate::{Error, Result};
use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::{Accum, Mat, Par};
use ndarray::parallel::prelude::*;
use ndarray::{ArrayView2, ArrayViewD, ArrayViewMut2, ArrayViewMutD, Axis};

/// Parts of the long side.
const PARTS: usize = 64;

/// Columns that are brought to double precision at a time.
const COLUMNS: usize = 256;

/// Writes the components kept of data that are not empty.
pub(super) fn run<T: MatrixElement>(
    data: &ArrayViewD<'_, T>,
    components: &Components,
    output: ArrayViewMutD<'_, T>,
) -> Result<Truncation> {
    let n_frames = data.shape()[0];
    let shape = (n_frames, data.len() / n_frames);
    let scale = scale(peak(data)?);
    let dense = data.as_standard_layout();
    let mismatch = |_| Error::ShapeMismatch {
        what: WHAT,
        expected: vec![shape.0, shape.1],
        got: data.shape().to_vec(),
    };
    let matrix = dense.to_shape(shape).map_err(mismatch)?;
    let result = output.into_shape_with_order(shape).map_err(mismatch)?;
    let is_wide = shape.0 <= shape.1;
    let (short, result): (ArrayView2<'_, T>, _) = if is_wide {
        (matrix.view(), result)
    } else {
        (matrix.t(), result.reversed_axes())
    };
    let spectrum = Spectrum::new(products(&short, scale).as_ref(), scale)?;
    let kept = components.kept(spectrum.values(), || {
        let moments = if is_wide {
            moments(&spectrum, &short, scale)
        } else {
            let mut moments = Moments::new(spectrum.len());
            moments.add::<T>(&spectrum.adjoint_vectors());
            moments
        };
        Ok(moments.correlations(&spectrum.counts()))
    })?;
    project(&spectrum.projector(&kept), &short, scale, result);
    Ok(Truncation {
        singular_values: spectrum.into_values(),
        kept,
    })
}

/// The largest magnitude of a part of the data; refuses what is not finite.
fn peak<T: MatrixElement>(data: &ArrayViewD<'_, T>) -> Result<f64> {
    let mut peak = 0.0_f64;
    for (index, value) in data.indexed_iter() {
        let part = value.largest_part();
        if !part.is_finite() {
            return Err(Error::NotFinite {
                what: WHAT,
                index: ndarray::Dimension::slice(&index).to_vec(),
                value: part,
            });
        }
        peak = peak.max(part);
    }
    Ok(peak)
}

/// A power of two that brings `peak` to about 1, neither it nor its inverse beyond the normal numbers.
fn scale(peak: f64) -> f64 {
    let exponent = if peak > 0.0 { -peak.log2().floor() } else { 0.0 };
    exponent.clamp(-1022.0, 1022.0).exp2()
}

/// Columns of a part.
fn part_columns<T>(matrix: &ArrayView2<'_, T>) -> usize {
    matrix.ncols().div_ceil(PARTS).max(COLUMNS)
}

/// Columns in double precision, scaled.
fn widened<T: MatrixElement>(columns: &ArrayView2<'_, T>, scale: f64) -> Mat<T::Wide> {
    Mat::from_fn(columns.nrows(), columns.ncols(), |row, column| {
        columns[[row, column]].widen(scale)
    })
}

/// `A Aᴴ` of the scaled matrix.
fn products<T: MatrixElement>(matrix: &ArrayView2<'_, T>, scale: f64) -> Mat<T::Wide> {
    let count = matrix.nrows();
    let parts: Vec<Mat<T::Wide>> = matrix
        .axis_chunks_iter(Axis(1), part_columns(matrix))
        .into_par_iter()
        .map(|part| {
            let mut sum = Mat::zeros(count, count);
            for columns in part.axis_chunks_iter(Axis(1), COLUMNS) {
                let columns = widened(&columns, scale);
                let one = T::Wide::one_impl();
                matmul(
                    sum.as_mut(),
                    Accum::Add,
                    columns.as_ref(),
                    columns.adjoint(),
                    one,
                    Par::Seq,
                );
            }
            sum
        })
        .collect();
    parts.into_iter().fold(Mat::zeros(count, count), |sum, part| sum + part)
}

/// `small · columns`.
fn multiplied<T: MatrixElement>(small: &Mat<T::Wide>, columns: &ArrayView2<'_, T>, scale: f64) -> Mat<T::Wide> {
    let columns = widened(columns, scale);
    let mut result = Mat::zeros(small.nrows(), columns.ncols());
    let one = T::Wide::one_impl();
    matmul(
        result.as_mut(),
        Accum::Replace,
        small.as_ref(),
        columns.as_ref(),
        one,
        Par::Seq,
    );
    result
}

/// Writes the projection of the matrix.
fn project<T: MatrixElement>(
    projector: &Mat<T::Wide>,
    matrix: &ArrayView2<'_, T>,
    scale: f64,
    mut output: ArrayViewMut2<'_, T>,
) {
    let input = matrix.axis_chunks_iter(Axis(1), COLUMNS).into_par_iter();
    let output = output.axis_chunks_iter_mut(Axis(1), COLUMNS).into_par_iter();
    input.zip(output).for_each(|(input, mut output)| {
        let result = multiplied(projector, &input, scale);
        for ((row, column), output) in output.indexed_iter_mut() {
            *output = T::narrow(result[(row, column)], 1.0 / scale);
        }
    });
}

/// Sums over the long side, which is space.
fn moments<T: MatrixElement>(spectrum: &Spectrum<T>, matrix: &ArrayView2<'_, T>, scale: f64) -> Moments {
    let vectors = spectrum.adjoint_vectors();
    let parts: Vec<Moments> = matrix
        .axis_chunks_iter(Axis(1), part_columns(matrix))
        .into_par_iter()
        .map(|part| {
            let mut moments = Moments::new(spectrum.len());
            for columns in part.axis_chunks_iter(Axis(1), COLUMNS) {
                moments.add::<T>(&multiplied(&vectors, &columns, scale));
            }
            moments
        })
        .collect();
    parts.into_iter().fold(Moments::new(spectrum.len()), Moments::plus)
}
