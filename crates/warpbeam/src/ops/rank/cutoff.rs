//! Which components are kept: as told, or from what the singular values and vectors look like.

use crate::{Error, Result};
use ndarray::{Array2, s};
use std::ops::Range;

/// Which singular components are kept, counted from the largest, which is number 0.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Components {
    /// Those from `start` to below `stop`; a `stop` behind the last one stands for all.
    Range {
        /// The first one kept.
        start: usize,
        /// The first one after that is not.
        stop: usize,
    },
    /// By the share of the energy, the sum of the squares of the singular values.
    ///
    /// The first components, as few as together hold the share `clutter`, are dropped; of the others those are kept
    /// without which the share `signal` would not be reached. There may be none.
    Energy {
        /// From 0 (nothing is dropped) to below `signal`.
        clutter: f64,
        /// Up to 1 (everything else is kept).
        signal: f64,
    },
    /// By the similarity of the components' images.
    ///
    /// The correlations of the magnitudes of the spatial singular vectors form two squares along the diagonal: tissue, then
    /// blood, then noise that resembles nothing. The two squares that fit best, by correlation, say where blood
    /// begins and ends.
    ///
    /// Source: J. Baranger et al., "Adaptive spatiotemporal SVD clutter filtering for ultrafast Doppler imaging using
    /// similarity of spatial singular vectors", IEEE Transactions on Medical Imaging 37(7), 2018.
    Similarity,
}

impl Components {
    /// Checks the values against `count` components.
    pub(super) fn validate(&self, count: usize) -> Result<()> {
        match *self {
            Self::Range { start, stop } if start >= stop.min(count) => Err(Error::OutOfRange {
                what: "the first component kept",
                value: start as f64,
                requirement: "below the stop and below the number of components",
            }),
            Self::Energy { clutter, signal } => {
                if !(0.0..=1.0).contains(&signal) {
                    return Err(Error::OutOfRange {
                        what: "the signal's share of the energy",
                        value: signal,
                        requirement: "from 0 to 1",
                    });
                }
                if !(0.0 <= clutter && clutter < signal) {
                    return Err(Error::OutOfRange {
                        what: "the clutter's share of the energy",
                        value: clutter,
                        requirement: "from 0 to below the signal's share",
                    });
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Those of components with these singular values; the correlations of their images are asked for where needed.
    pub(super) fn kept(
        &self,
        values: &[f64],
        correlations: impl FnOnce() -> Result<Array2<f64>>,
    ) -> Result<Range<usize>> {
        Ok(match self {
            Self::Range { start, stop } => *start..(*stop).min(values.len()),
            Self::Energy { clutter, signal } => by_energy(values, *clutter, *signal),
            Self::Similarity => by_similarity(&correlations()?),
        })
    }
}

/// The components between two shares of the energy.
fn by_energy(values: &[f64], clutter: f64, signal: f64) -> Range<usize> {
    let largest = values[0].max(f64::MIN_POSITIVE);
    let energies: Vec<f64> = values.iter().map(|value| (value / largest).powi(2)).collect();
    let total: f64 = energies.iter().sum();
    // How many of the first ones hold a share.
    let holding = |share: f64| {
        let mut sum = 0.0;
        let before = energies.iter().take_while(|energy| {
            let is_short = sum < share * total;
            sum += **energy;
            is_short
        });
        before.count()
    };
    let start = holding(clutter);
    let stop = if signal < 1.0 { holding(signal) } else { values.len() };
    start..stop
}

/// The second of the two squares along the diagonal that fit correlations best.
fn by_similarity(similarity: &Array2<f64>) -> Range<usize> {
    let count = similarity.nrows();
    // Sums over the rectangle before each index.
    let mut before = Array2::<f64>::zeros((count + 1, count + 1));
    for row in 0..count {
        let mut of_row = 0.0;
        for column in 0..count {
            of_row += similarity[[row, column]];
            before[[row + 1, column + 1]] = before[[row, column + 1]] + of_row;
        }
    }
    let square =
        |from: usize, to: usize| before[[to, to]] - before[[from, to]] - before[[to, from]] + before[[from, from]];
    let all = (count * count) as f64;
    let mean = similarity.slice(s![.., ..]).sum() / all;
    let mut best = (f64::NEG_INFINITY, 0..count);
    for first in 1..count {
        for second in first + 1..=count {
            let inside = (first * first + (second - first) * (second - first)) as f64;
            // The correlation but for the similarity's own deviation, which all squares share.
            let fit = (square(0, first) + square(first, second) - mean * inside) / (inside * (all - inside)).sqrt();
            if fit > best.0 {
                best = (fit, first..second);
            }
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_energy() {
        let values = [4.0, 3.0, 2.0, 1.0];
        // Energies 16, 9, 4, 1 of 30.
        for (clutter, signal, kept) in [
            (0.0, 1.0, 0..4),
            (0.5, 1.0, 1..4),
            (0.54, 1.0, 2..4),
            (0.5, 0.9, 1..3),
            (0.84, 0.85, 3..3),
            (0.1, 0.2, 1..1),
        ] {
            assert_eq!(by_energy(&values, clutter, signal), kept, "{clutter} to {signal}");
        }
        assert_eq!(by_energy(&[0.0, 0.0], 0.5, 1.0), 0..2);
    }

    #[test]
    fn two_squares_are_found_under_noise() {
        for (first, second) in [(2, 5), (3, 10), (5, 24), (20, 24)] {
            let similarity = Array2::from_shape_fn((24, 24), |(a, b)| {
                let noise = 0.1 * ((a * 7 + b * 7) as f64).sin();
                let is_inside = a.max(b) < first || a.min(b) >= first && a.max(b) < second;
                if a == b {
                    1.0
                } else {
                    noise + if is_inside { 0.6 } else { 0.0 }
                }
            });
            assert_eq!(by_similarity(&similarity), first..second);
        }
    }
}
