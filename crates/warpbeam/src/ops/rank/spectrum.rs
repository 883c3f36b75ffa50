//! Singular values and the shorter side's singular vectors of a matrix A, from `G = A Aᴴ`.

use super::MatrixElement;
use crate::{Error, Result};
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::{Accum, Mat, MatRef, Par, Spec};
use std::ops::Range;

/// Rows of G from which on threads share its decomposition.
const SHARED_FROM: usize = 192;

/// What double precision leaves of an eigenvalue, relative to the largest one.
const FLOOR: f64 = 1e-15;

/// The spectrum of a matrix.
pub(super) struct Spectrum<T: MatrixElement> {
    values: Vec<f64>,
    /// A column each, the one of the smallest value first.
    vectors: Mat<T::Wide>,
}

/// On which side of the filter components are.
#[cfg(feature = "cuda")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Kept,
    Dropped,
}

/// How many threads share the work on matrices of `count` rows; the result's bits are the same.
fn parallelism(count: usize) -> Par {
    if count < SHARED_FROM { Par::Seq } else { Par::rayon(0) }
}

impl<T: MatrixElement> Spectrum<T> {
    /// From the lower triangle of G, of the matrix times `scale`.
    pub(super) fn new(products: MatRef<'_, T::Wide>, scale: f64) -> Result<Self> {
        let count = products.nrows();
        let par = parallelism(count);
        let mut vectors = Mat::zeros(count, count);
        let mut ascending = Diag::zeros(count);
        let scratch = self_adjoint_evd_scratch::<T::Wide>(count, ComputeEigenvectors::Yes, par, Spec::default());
        let failed = || Error::NoConvergence {
            what: "the singular values",
            size: count,
        };
        self_adjoint_evd(
            products,
            ascending.as_mut(),
            Some(vectors.as_mut()),
            par,
            MemStack::new(&mut MemBuffer::try_new(scratch).map_err(|_| failed())?),
            Spec::default(),
        )
        .map_err(|_| failed())?;
        let value = |number: usize| T::parts(ascending.column_vector()[count - 1 - number])[0].max(0.0);
        Ok(Self {
            values: (0..count).map(|number| value(number).sqrt() / scale).collect(),
            vectors,
        })
    }

    /// How many singular values there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The singular values, the largest first.
    pub(super) fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// The same.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Whether a component is more than rounding.
    pub(super) fn counts(&self) -> Vec<bool> {
        let least = self.values[0] * (FLOOR * self.len() as f64).sqrt();
        self.values.iter().map(|value| *value > least).collect()
    }

    /// The conjugates of the singular vectors, a row each, the one of the largest value first.
    pub(super) fn adjoint_vectors(&self) -> Mat<T::Wide> {
        let count = self.len();
        Mat::from_fn(count, count, |number, row| {
            let [re, im] = T::parts(self.vectors[(row, count - 1 - number)]);
            T::from_parts(re, -im)
        })
    }

    /// The components kept, or those dropped if they are fewer, and which of both.
    #[cfg(feature = "cuda")]
    pub(super) fn fewer(&self, kept: &Range<usize>) -> (Vec<usize>, Side) {
        let count = self.len();
        if 2 * kept.len() <= count {
            (kept.clone().collect(), Side::Kept)
        } else {
            ((0..kept.start).chain(kept.end..count).collect(), Side::Dropped)
        }
    }

    /// An element of the singular vector of component `number`.
    #[cfg(feature = "cuda")]
    pub(super) fn vector(&self, row: usize, number: usize) -> T::Wide {
        self.vectors[(row, self.len() - 1 - number)]
    }

    /// `V Vᴴ` of the vectors of components: from these, or from the others, whichever are fewer.
    pub(super) fn projector(&self, kept: &Range<usize>) -> Mat<T::Wide> {
        let count = self.len();
        let mut projector = Mat::zeros(count, count);
        let mut add = |numbers: Range<usize>, factor: T::Wide| {
            let vectors = self.vectors.as_ref().subcols(count - numbers.end, numbers.len());
            let par = parallelism(count);
            matmul(projector.as_mut(), Accum::Add, vectors, vectors.adjoint(), factor, par);
        };
        if 2 * kept.len() <= count {
            add(kept.clone(), T::Wide::one_impl());
        } else {
            let minus = T::from_parts(-1.0, 0.0);
            add(0..kept.start, minus);
            add(kept.end..count, minus);
            for row in 0..count {
                let [re, _] = T::parts(projector[(row, row)]);
                projector[(row, row)] = T::from_parts(1.0 + re, 0.0);
            }
        }
        projector
    }
}
