//! Sums of spherical waves in double precision, straight from their definition, and random cases of them.

use crate::random::between;
use crate::sample::Precision;
use fastrand::Rng;
use ndarray::{Array1, Array2, Array3};
use num_complex::Complex64;

/// Sources, targets, wavenumbers and amplitudes.
#[derive(Clone, Debug)]
pub struct GreensCase {
    /// `(source, 3)`.
    pub sources: Array2<f64>,
    /// `(target, 3)`.
    pub targets: Array2<f64>,
    /// `(frequency,)`, in radians per unit length.
    pub wavenumbers: Array1<f64>,
    /// `(batch, source, frequency)`.
    pub amplitudes: Array3<Complex64>,
}

/// How the wavenumbers of a case lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wavenumbers {
    /// Evenly between 0 and the largest, or from half of it down to its negative.
    Even,
    /// Anywhere.
    Random,
}

/// Counts of a case.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Batch items.
    pub batch: usize,
    /// Sources.
    pub sources: usize,
    /// Targets.
    pub targets: usize,
    /// Frequencies.
    pub frequencies: usize,
}

impl GreensCase {
    /// A random case of points in two cubes, whose positions and amplitudes have a precision, and whose largest phase is about
    /// `largest_phase`.
    pub fn random(
        rng: &mut Rng,
        counts: Counts,
        wavenumbers: Wavenumbers,
        largest_phase: f64,
        precision: Precision,
    ) -> Self {
        let side = between(rng, 0.01, 3.0);
        let points = |rng: &mut Rng, count: usize, depth: f64| {
            Array2::from_shape_simple_fn((count, 3), || side * between(rng, -0.5, 0.5))
                + &Array2::from_shape_fn((count, 3), |(_, axis)| if axis == 2 { depth * side } else { 0.0 })
        };
        let sources = points(rng, counts.sources, 0.0).mapv(|value| precision.round(value));
        let targets = points(rng, counts.targets, 1.1).mapv(|value| precision.round(value));
        let largest = largest_phase / (side * (1.0 + 1.0 + 2.1_f64.powi(2)).sqrt());
        let last = (counts.frequencies - 1).max(1) as f64;
        let is_falling = rng.bool();
        let wavenumbers = Array1::from_shape_fn(counts.frequencies, |index| match wavenumbers {
            Wavenumbers::Even if is_falling => largest * (0.5 - 1.5 * index as f64 / last),
            Wavenumbers::Even => largest * index as f64 / last,
            Wavenumbers::Random => largest * between(rng, -1.0, 1.0),
        });
        let amplitudes = Array3::from_shape_simple_fn((counts.batch, counts.sources, counts.frequencies), || {
            let mut part = || precision.round(between(rng, -1.0, 1.0));
            Complex64::new(part(), part())
        });
        Self {
            sources,
            targets,
            wavenumbers,
            amplitudes,
        }
    }

    fn distance(&self, source: usize, target: usize) -> f64 {
        let [x, y, z] = [0, 1, 2].map(|axis| self.targets[[target, axis]] - self.sources[[source, axis]]);
        x.hypot(y).hypot(z)
    }

    /// `(batch, target, frequency)`.
    pub fn sums(&self) -> Array3<Complex64> {
        let (n_batch, n_sources, n_frequencies) = self.amplitudes.dim();
        let mut sums = Array3::zeros((n_batch, self.targets.nrows(), n_frequencies));
        for target in 0..self.targets.nrows() {
            for source in 0..n_sources {
                let distance = self.distance(source, target);
                for frequency in 0..n_frequencies {
                    let wave = Complex64::from_polar(1.0 / distance, self.wavenumbers[frequency] * distance);
                    for item in 0..n_batch {
                        sums[[item, target, frequency]] += self.amplitudes[[item, source, frequency]] * wave;
                    }
                }
            }
        }
        sums
    }

    /// The largest phase.
    pub fn largest_phase(&self) -> f64 {
        let pairs = (0..self.sources.nrows()).flat_map(|s| (0..self.targets.nrows()).map(move |t| (s, t)));
        let farthest = pairs.fold(0.0_f64, |most, (s, t)| most.max(self.distance(s, t)));
        farthest * self.wavenumbers.iter().fold(0.0_f64, |most, k| most.max(k.abs()))
    }

    /// The bound on the relative L2 error: a distance cannot be rounded better, and phases are as many times larger.
    pub fn bound(&self, precision: Precision) -> f64 {
        match precision {
            Precision::Single => 1e-5 + 2.0_f64.powi(-23) * self.largest_phase(),
            Precision::Double => 1e-12 + 2.0_f64.powi(-52) * self.largest_phase(),
        }
    }
}
