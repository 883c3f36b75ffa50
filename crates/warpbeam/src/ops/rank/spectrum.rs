//! Singular values and the shorter side's singular vectors of a matrix, and what is done with them.
//!
//! Every matrix here is (short side, long side). Threads share the long side in parts of a number that does not depend on
//! how many threads there are.

use super::{MatrixElement, WHAT};
use crate::{Error, Result};
use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::{Accum, Mat, Par, Side};
use ndarray::parallel::prelude::*;
use ndarray::{Array2, ArrayView2, ArrayViewD, ArrayViewMut2, Axis};
use std::ops::Range;

/// Parts of the long side.
const PARTS: usize = 64;

/// Columns that are brought to double precision at a time.
const COLUMNS: usize = 256;

/// What double precision leaves of an eigenvalue, relative to the largest one.
const FLOOR: f64 = 1e-15;

/// The largest magnitude of a part of the data; refuses what is not finite.
pub(super) fn peak<T: MatrixElement>(data: &ArrayViewD<'_, T>) -> Result<f64> {
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

/// The spectrum of a matrix.
pub(super) struct Spectrum<T: MatrixElement> {
    values: Vec<f64>,
    /// A column each.
    vectors: Mat<T::Wide>,
    scale: f64,
}

impl<T: MatrixElement> Spectrum<T> {
    /// Decomposes a matrix whose largest part is `peak`.
    pub(super) fn new(matrix: &ArrayView2<'_, T>, peak: f64) -> Result<Self> {
        let scale = scale(peak);
        let count = matrix.nrows();
        let decomposition =
            products(matrix, scale)
                .self_adjoint_eigen(Side::Lower)
                .map_err(|_| Error::NoConvergence {
                    what: "the singular values",
                    size: count,
                })?;
        // The largest first.
        let ascending = decomposition.S().column_vector();
        let values = (0..count)
            .map(|number| T::real(ascending[count - 1 - number]).max(0.0).sqrt() / scale)
            .collect();
        let vectors = Mat::from_fn(count, count, |row, number| decomposition.U()[(row, count - 1 - number)]);
        Ok(Self { values, vectors, scale })
    }

    /// How many singular values there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The singular values, the largest first.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Writes the components `kept` of the matrix.
    pub(super) fn project(&self, matrix: &ArrayView2<'_, T>, kept: Range<usize>, mut output: ArrayViewMut2<'_, T>) {
        let vectors = self.vectors.as_ref().subcols(kept.start, kept.len());
        let mut projector = Mat::zeros(self.len(), self.len());
        let one = T::Wide::one_impl();
        matmul(
            projector.as_mut(),
            Accum::Replace,
            vectors,
            vectors.adjoint(),
            one,
            Par::Seq,
        );
        let input = matrix.axis_chunks_iter(Axis(1), COLUMNS).into_par_iter();
        let output = output.axis_chunks_iter_mut(Axis(1), COLUMNS).into_par_iter();
        input.zip(output).for_each(|(input, mut output)| {
            let columns = widened(&input, self.scale);
            let mut result = Mat::zeros(columns.nrows(), columns.ncols());
            matmul(
                result.as_mut(),
                Accum::Replace,
                projector.as_ref(),
                columns.as_ref(),
                T::Wide::one_impl(),
                Par::Seq,
            );
            for ((row, column), output) in output.indexed_iter_mut() {
                *output = T::narrow(result[(row, column)], 1.0 / self.scale);
            }
        });
    }

    /// Correlations of the magnitudes of the singular vectors over space, which is axis `space` of the matrix; 0 where a
    /// component is nothing but rounding.
    pub(super) fn similarity(&self, matrix: &ArrayView2<'_, T>, space: Axis) -> Array2<f64> {
        let moments = if space == Axis(0) {
            let mut moments = Moments::new(self.len());
            moments.add::<T>(&self.vectors.adjoint().to_owned());
            moments
        } else {
            let parts: Vec<Moments> = matrix
                .axis_chunks_iter(Axis(1), part_columns(matrix))
                .into_par_iter()
                .map(|part| {
                    let mut moments = Moments::new(self.len());
                    for columns in part.axis_chunks_iter(Axis(1), COLUMNS) {
                        let columns = widened(&columns, self.scale);
                        let mut of_components = Mat::zeros(columns.nrows(), columns.ncols());
                        matmul(
                            of_components.as_mut(),
                            Accum::Replace,
                            self.vectors.adjoint(),
                            columns.as_ref(),
                            T::Wide::one_impl(),
                            Par::Seq,
                        );
                        moments.add::<T>(&of_components);
                    }
                    moments
                })
                .collect();
            parts.into_iter().fold(Moments::new(self.len()), Moments::plus)
        };
        let least = self.values[0] * (FLOOR * self.len() as f64).sqrt();
        moments.correlations(&self.values.iter().map(|value| *value > least).collect::<Vec<_>>())
    }
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

/// Sums over space of magnitudes and of their products.
struct Moments {
    points: usize,
    first: Vec<f64>,
    second: Mat<f64>,
}

impl Moments {
    fn new(count: usize) -> Self {
        Self {
            points: 0,
            first: vec![0.0; count],
            second: Mat::zeros(count, count),
        }
    }

    /// Adds points: a component a row, a point a column.
    fn add<T: MatrixElement>(&mut self, of_components: &Mat<T::Wide>) {
        let magnitudes = Mat::from_fn(of_components.nrows(), of_components.ncols(), |row, column| {
            T::magnitude(of_components[(row, column)])
        });
        self.points += magnitudes.ncols();
        for (row, sum) in self.first.iter_mut().enumerate() {
            *sum += (0..magnitudes.ncols())
                .map(|column| magnitudes[(row, column)])
                .sum::<f64>();
        }
        matmul(
            self.second.as_mut(),
            Accum::Add,
            magnitudes.as_ref(),
            magnitudes.transpose(),
            1.0,
            Par::Seq,
        );
    }

    fn plus(mut self, other: Self) -> Self {
        self.points += other.points;
        for (sum, other) in self.first.iter_mut().zip(other.first) {
            *sum += other;
        }
        self.second += other.second;
        self
    }

    fn correlations(&self, counts: &[bool]) -> Array2<f64> {
        let points = self.points as f64;
        let covariance = |a: usize, b: usize| self.second[(a, b)] - self.first[a] * self.first[b] / points;
        let deviations: Vec<f64> = (0..counts.len())
            .map(|component| covariance(component, component).max(0.0).sqrt())
            .collect();
        Array2::from_shape_fn((counts.len(), counts.len()), |(a, b)| {
            let product = deviations[a] * deviations[b];
            if counts[a] && counts[b] && product > 0.0 {
                covariance(a, b) / product
            } else {
                0.0
            }
        })
    }
}
