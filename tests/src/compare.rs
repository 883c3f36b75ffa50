//! Errors against their bounds.

use crate::das::{Expected, Terms};
use crate::sample::{Precision, TestSample, is_half};
use ndarray::ArrayD;
use num_complex::Complex64;
use warpbeam::{Algorithm, DasOptions};

/// The bound on the relative L2 error of a delay-and-sum.
///
/// In double precision 1e-12. In single `1e-5 + 2⁻²⁴·d_max·(|κ| + 2)`: a delay of d samples cannot be rounded better,
/// and turns into amplitude through the slope between samples and into phase through κ. Against samples rounded to
/// their storage type it holds for integers and halves as well. Where `f32` samples may be rounded to halves or to TF32, and
/// where weights are multiplied as halves, 1e-3.
pub fn das_bound<T: TestSample>(options: &DasOptions, largest_delay: f64) -> f64 {
    let kappa = if T::IS_COMPLEX {
        options.phase_per_sample.abs()
    } else {
        0.0
    };
    let has_matrix_products = matches!(options.algorithm, Algorithm::Distinct | Algorithm::Window);
    let may_round = options.precision != warpbeam::Precision::Full && size_of::<T>() > 2 * T::PARTS;
    if may_round || has_matrix_products && (is_half::<T>() || options.precision != warpbeam::Precision::Full) {
        return 1e-3;
    }
    match T::PRECISION {
        Precision::Single => 1e-5 + 2.0_f64.powi(-24) * largest_delay * (kappa + 2.0),
        Precision::Double => 1e-12,
    }
}

/// The relative L2 error; 0 where there is no difference.
pub fn relative_error(pairs: impl Iterator<Item = (Complex64, Complex64)>) -> f64 {
    let (mut difference, mut norm) = (0.0, 0.0);
    for (got, expected) in pairs {
        difference += (got - expected).norm_sqr();
        norm += expected.norm_sqr();
    }
    if difference == 0.0 {
        0.0
    } else {
        (difference / norm).sqrt()
    }
}

/// Prints the achieved error beside the allowed one and asserts that it is within.
///
/// # Panics
///
/// Where it is not, NaN included.
pub fn assert_within(what: &str, error: f64, bound: f64) {
    println!("{error:9.2e} of {bound:.2e} allowed: {what}");
    assert!(error <= bound, "{what}: relative error {error:e}, allowed {bound:e}");
}

/// The error of one or several runs of a case together, without the voxels about which rounding decides.
///
/// Several, because a few sums may cancel by chance and say nothing relative to what is left of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    difference: f64,
    norm: f64,
    /// Of how far the rounding of receive weights may move the sums.
    weight_errors: f64,
    /// Sums that were compared.
    pub compared: usize,
    /// Sums that were left to rounding.
    pub left_out: usize,
    largest_delay: f64,
}

impl Tally {
    /// Compares an output `(batch, ..grid)` with the oracle's sums.
    ///
    /// # Panics
    ///
    /// Where their numbers differ.
    pub fn add<T: TestSample>(&mut self, got: &ArrayD<T::Sum>, terms: &Terms, expected: &Expected) {
        assert_eq!(got.len(), expected.sums.len(), "number of outputs");
        let all = expected.sums.iter().zip(&expected.weight_errors);
        for (index, (got, (expected, weight_error))) in got.iter().zip(all).enumerate() {
            if terms.ambiguous[index % terms.ambiguous.len()] {
                self.left_out += 1;
                continue;
            }
            self.compared += 1;
            self.difference += (T::sum_value(*got) - expected).norm_sqr();
            self.norm += expected.norm_sqr();
            self.weight_errors += weight_error * weight_error;
        }
        self.largest_delay = self.largest_delay.max(terms.largest_delay);
    }

    /// Prints the error against the bound of [`das_bound`] and asserts that it is within.
    ///
    /// Where elements hear voxels from their aperture's edge only, no rounded length gives a small weight to that bound:
    /// what the lengths' rounding may change is allowed besides. Elsewhere it is a few 1e-7.
    ///
    /// # Panics
    ///
    /// Where it is not, or where nothing was compared.
    pub fn assert_within_bound<T: TestSample>(&self, what: &str, options: &DasOptions) {
        assert!(self.compared > 0, "{what}: nothing was compared");
        let error = if self.difference == 0.0 {
            0.0
        } else {
            (self.difference / self.norm).sqrt()
        };
        let label = format!(
            "{} {what}; {} sums, {} left to rounding",
            T::NAME,
            self.compared,
            self.left_out
        );
        let of_weights = if self.norm == 0.0 {
            0.0
        } else {
            (self.weight_errors / self.norm).sqrt()
        };
        let bound = das_bound::<T>(options, self.largest_delay);
        assert_within(
            &format!("{label}; weights {of_weights:.1e} of it"),
            error,
            bound + of_weights,
        );
    }
}
