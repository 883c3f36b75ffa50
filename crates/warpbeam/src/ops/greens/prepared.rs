//! What a plan is made of, checked and rounded.

use crate::{Error, Result};
use cuda_std::math::Real;
use ndarray::{ArrayRef1, ArrayRef2};
use std::collections::HashMap;
use wavefield::geometry::Vector;
use wavefield::phase::TurnsPerSample;

/// Sources, targets and frequencies at most, each.
const MOST: usize = 1 << 31;

/// The range of positions and wavenumbers: squares of distances, and phases, neither overflow nor sink below the normal
/// numbers.
struct Range {
    /// Positions are multiples of 2 to this power.
    least_exponent: i32,
    /// Positions and wavenumbers are at most 2 to this power.
    most_exponent: i32,
    requirement: &'static str,
}

impl Range {
    const fn of<R>() -> Self {
        if size_of::<R>() == size_of::<f32>() {
            Self {
                least_exponent: -62,
                most_exponent: 62,
                requirement: "between -2^62 and 2^62 in single precision",
            }
        } else {
            Self {
                least_exponent: -500,
                most_exponent: 500,
                requirement: "between -2^500 and 2^500 in double precision",
            }
        }
    }
}

/// Positions and wavenumbers in the precision of the sums.
pub(super) struct Prepared<R> {
    pub(super) sources: Vec<Vector<R>>,
    pub(super) targets: Vec<Vector<R>>,
    /// Turns per unit length of each frequency.
    pub(super) turns: Vec<TurnsPerSample<R>>,
    /// The wavenumbers themselves, in radians per unit length.
    #[cfg(feature = "cuda")]
    pub(super) wavenumbers: Vec<f64>,
}

impl<R: Real> Prepared<R> {
    /// Checks and rounds.
    pub(super) fn new(
        sources: &ArrayRef2<f64>,
        targets: &ArrayRef2<f64>,
        wavenumbers: &ArrayRef1<f64>,
    ) -> Result<Self> {
        let range = Range::of::<R>();
        let sources = positions("the sources", sources, &range)?;
        let targets = positions("the targets", targets, &range)?;
        expect_some("the wavenumbers", wavenumbers.shape())?;
        for (index, wavenumber) in wavenumbers.iter().enumerate() {
            check("the wavenumbers", "a wavenumber", &[index], *wavenumber, &range)?;
        }
        refuse_sources_at_targets(&sources, &targets)?;
        Ok(Self {
            sources,
            targets,
            turns: wavenumbers
                .iter()
                .map(|wavenumber| TurnsPerSample::from_radians(*wavenumber))
                .collect(),
            #[cfg(feature = "cuda")]
            wavenumbers: wavenumbers.iter().copied().collect(),
        })
    }
}

fn expect_some(what: &'static str, shape: &[usize]) -> Result<()> {
    if shape.contains(&0) {
        return Err(Error::Empty {
            what,
            shape: shape.to_vec(),
            minimum: 1,
        });
    }
    if shape[0] >= MOST {
        return Err(Error::OutOfRange {
            what: "the number of sources, targets or wavenumbers",
            value: shape[0] as f64,
            requirement: "below 2^31",
        });
    }
    Ok(())
}

/// Refuses what is not finite or outside the range.
fn check(array: &'static str, what: &'static str, index: &[usize], value: f64, range: &Range) -> Result<()> {
    if !value.is_finite() {
        return Err(Error::NotFinite {
            what: array,
            index: index.to_vec(),
            value,
        });
    }
    if value.abs() > f64::from(range.most_exponent).exp2() {
        return Err(Error::OutOfRange {
            what,
            value,
            requirement: range.requirement,
        });
    }
    Ok(())
}

fn positions<R: Real>(what: &'static str, positions: &ArrayRef2<f64>, range: &Range) -> Result<Vec<Vector<R>>> {
    if positions.ncols() != 3 {
        return Err(Error::WrongAxes {
            what,
            expected: "(points, 3)",
            got: positions.shape().to_vec(),
        });
    }
    expect_some(what, positions.shape())?;
    for ((row, column), value) in positions.indexed_iter() {
        check(what, "a coordinate", &[row, column], *value, range)?;
    }
    let quantum = f64::from(range.least_exponent).exp2();
    let round = |value: f64| {
        let value = R::from_f64(value).to_f64();
        // Larger numbers are whole multiples of the quantum. −0 becomes 0.
        R::from_f64(if value.abs() < 1.0 {
            (value / quantum).round_ties_even() * quantum + 0.0
        } else {
            value
        })
    };
    let rows = positions.rows().into_iter();
    Ok(rows.map(|row| [0, 1, 2].map(|axis| round(row[axis]))).collect())
}

/// A wave has no value at its source. Rounded as they are, points are at a distance of 0 only where they are equal.
fn refuse_sources_at_targets<R: Real>(sources: &[Vector<R>], targets: &[Vector<R>]) -> Result<()> {
    let key = |position: &Vector<R>| position.map(|coordinate| coordinate.to_f64().to_bits());
    let mut source_at = HashMap::with_capacity(sources.len());
    for (source, position) in sources.iter().enumerate() {
        source_at.entry(key(position)).or_insert(source);
    }
    for (target, position) in targets.iter().enumerate() {
        if let Some(&source) = source_at.get(&key(position)) {
            return Err(Error::SourceAtTarget {
                source_index: source,
                target_index: target,
                position: position.map(Real::to_f64),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, Array2, arr2};

    fn prepared(sources: &Array2<f64>, targets: &Array2<f64>) -> Result<Prepared<f32>> {
        Prepared::new(sources, targets, &Array1::ones(1))
    }

    #[test]
    fn points_that_rounding_brings_together_are_refused_by_their_indices() {
        let sources = arr2(&[[1.0, 0.0, 0.0], [0.1, -0.0, 1e-30]]);
        for target in [[0.1, 0.0, 0.0], [0.1 + 1e-10, 0.0, -0.0], [0.1, 1e-20, 0.0]] {
            let targets = arr2(&[[5.0, 5.0, 5.0], target]);
            let Err(Error::SourceAtTarget {
                source_index: 1,
                target_index: 1,
                ..
            }) = prepared(&sources, &targets)
            else {
                panic!("{target:?} is at source 1 in single precision");
            };
        }
    }

    #[test]
    fn what_is_left_has_a_normal_square() {
        let least = (-62.0_f64).exp2();
        let sources = arr2(&[[0.0, 0.0, 0.0]]);
        for distance in [least, -least, 0.6 * least, 1e-12, 0.3] {
            let prepared = prepared(&sources, &arr2(&[[0.0, distance, 0.0]])).unwrap();
            let rounded = prepared.targets[0][1];
            assert!((rounded * rounded).is_normal());
            assert!((f64::from(rounded) - distance).abs() <= least / 2.0 + distance.abs() * 6e-8);
        }
    }
}
