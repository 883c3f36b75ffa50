//! The singular value decomposition by rotations of pairs of columns (Hestenes), in double precision.

use ndarray::{Array2, ArrayRef2, Axis};
use num_complex::Complex64;
use std::ops::Range;

/// `a = u · diag(values) · vᴴ`, the largest value first; of a matrix with more columns than rows, that of its adjoint.
#[derive(Clone, Debug)]
pub struct Svd {
    /// The singular values.
    pub values: Vec<f64>,
    is_adjoint: bool,
    /// The products `u · diag(values)`.
    scaled_left: Array2<Complex64>,
    right: Array2<Complex64>,
}

impl Svd {
    /// Decomposes a matrix.
    ///
    /// # Panics
    ///
    /// Where the rotations do not end.
    pub fn new(matrix: &ArrayRef2<Complex64>) -> Self {
        let is_adjoint = matrix.ncols() > matrix.nrows();
        let mut left = if is_adjoint { adjoint(matrix) } else { matrix.to_owned() };
        let count = left.ncols();
        let mut right = Array2::eye(count);
        let mut has_turned = true;
        let mut sweeps = 0;
        while has_turned {
            sweeps += 1;
            assert!(sweeps < 60, "rotations do not end");
            has_turned = false;
            for a in 0..count {
                for b in a + 1..count {
                    has_turned |= rotate(&mut left, &mut right, a, b);
                }
            }
        }
        let norms: Vec<f64> = left
            .columns()
            .into_iter()
            .map(|column| column.iter().map(Complex64::norm_sqr).sum::<f64>().sqrt())
            .collect();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|a, b| norms[*b].total_cmp(&norms[*a]));
        let sorted = |matrix: &Array2<Complex64>| matrix.select(Axis(1), &order);
        Self {
            values: order.iter().map(|index| norms[*index]).collect(),
            is_adjoint,
            scaled_left: sorted(&left),
            right: sorted(&right),
        }
    }

    /// The sum of some components.
    pub fn components(&self, kept: Range<usize>) -> Array2<Complex64> {
        let kept: Vec<usize> = kept.collect();
        let right = self.right.select(Axis(1), &kept);
        let sum = self.scaled_left.select(Axis(1), &kept).dot(&adjoint(&right));
        if self.is_adjoint { adjoint(&sum) } else { sum }
    }
}

fn adjoint(matrix: &ArrayRef2<Complex64>) -> Array2<Complex64> {
    matrix.t().map(Complex64::conj)
}

/// Makes two columns orthogonal; whether they were not.
fn rotate(left: &mut Array2<Complex64>, right: &mut Array2<Complex64>, a: usize, b: usize) -> bool {
    let (mut of_a, mut of_b, mut of_both) = (0.0, 0.0, Complex64::ZERO);
    for row in left.rows() {
        of_a += row[a].norm_sqr();
        of_b += row[b].norm_sqr();
        of_both += row[a].conj() * row[b];
    }
    let size = of_both.norm();
    if size <= 1e-15 * (of_a * of_b).sqrt() || size < f64::MIN_POSITIVE {
        return false;
    }
    let ratio = (of_b - of_a) / (2.0 * size);
    let tangent = ratio.signum() / (ratio.abs() + ratio.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = cosine * tangent;
    let phase = of_both.conj() / size;
    for matrix in [left, right] {
        for mut row in matrix.rows_mut() {
            let (first, second) = (row[a], row[b] * phase);
            row[a] = first * cosine - second * sine;
            row[b] = first * sine + second * cosine;
        }
    }
    true
}
