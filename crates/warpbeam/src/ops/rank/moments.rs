//! Correlations of the components' images: of the magnitudes of the singular vectors over space.

use super::MatrixElement;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use ndarray::Array2;

/// Sums over space of magnitudes and of their products.
pub(super) struct Moments {
    points: usize,
    first: Vec<f64>,
    second: Mat<f64>,
}

impl Moments {
    pub(super) fn new(count: usize) -> Self {
        Self {
            points: 0,
            first: vec![0.0; count],
            second: Mat::zeros(count, count),
        }
    }

    /// Adds points: a component a row, a point a column.
    pub(super) fn add<T: MatrixElement>(&mut self, of_components: &Mat<T::Wide>) {
        let magnitudes = Mat::from_fn(of_components.nrows(), of_components.ncols(), |row, column| {
            let [re, im] = T::parts(of_components[(row, column)]);
            re.hypot(im)
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

    /// Adds the sums of `points` points: of products, the magnitudes followed by a row of 1.
    #[cfg(feature = "cuda")]
    pub(super) fn add_sums(&mut self, points: usize, sums: &Mat<f64>) {
        let count = self.first.len();
        self.points += points;
        for (row, sum) in self.first.iter_mut().enumerate() {
            *sum += sums[(count, row)];
        }
        self.second += sums.submatrix(0, 0, count, count);
    }

    pub(super) fn plus(mut self, other: Self) -> Self {
        self.points += other.points;
        for (sum, other) in self.first.iter_mut().zip(other.first) {
            *sum += other;
        }
        self.second += other.second;
        self
    }

    /// The correlations; 0 for components that do not count.
    pub(super) fn correlations(&self, counts: &[bool]) -> Array2<f64> {
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
