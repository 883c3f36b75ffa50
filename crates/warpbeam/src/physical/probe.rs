//! The transducer: where its elements are and where they look.

use super::check::{points, positive, reserve};
use crate::{Error, Result};
use ndarray::{Array2, ArrayView2};

/// The elements of a transducer: centres in metres and unit normals, both `(element, 3)`.
///
/// The ready-made probes sit at the origin and look along +z; x runs along the array.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    positions_m: Array2<f64>,
    normals: Array2<f64>,
}

impl Probe {
    /// A linear array along x, `pitch_m` from element to element, its centre at the origin.
    ///
    /// Element i is at x = (i − (n − 1) / 2) · pitch.
    ///
    /// # Errors
    ///
    /// No elements, a pitch that is not positive and finite, more elements than memory.
    pub fn linear(n_elements: usize, pitch_m: f64) -> Result<Self> {
        Self::matrix(n_elements, 1, pitch_m, pitch_m)
    }

    /// A convex array in the x–z plane on a circle of `radius_m`, its middle at the origin and the circle's centre at
    /// z = −radius.
    ///
    /// The pitch is the straight distance between neighbouring centres, so that the angle from element to element is
    /// 2 · asin(pitch / (2 · radius)); normals point away from the circle's centre.
    ///
    /// # Errors
    ///
    /// No elements, a pitch or radius that is not positive and finite, an array that would overlap itself (a full
    /// circle or more), more elements than memory.
    pub fn convex(n_elements: usize, pitch_m: f64, radius_m: f64) -> Result<Self> {
        not_empty(&[n_elements])?;
        positive("pitch_m", pitch_m)?;
        positive("radius_m", radius_m)?;
        let half_chord = pitch_m / (2.0 * radius_m);
        let step_rad = 2.0 * half_chord.asin();
        // NaN where the pitch is wider than the circle.
        let covered_rad = n_elements as f64 * step_rad;
        let fits = covered_rad <= std::f64::consts::TAU || n_elements == 1;
        if !fits {
            return Err(Error::OutOfRange {
                what: "the angle that a convex probe's elements cover",
                value: covered_rad,
                requirement: "at most 2π radians: fewer elements, a smaller pitch or a larger radius",
            });
        }
        let mut positions = reserve("element positions", &[n_elements])?;
        let mut normals = reserve("element normals", &[n_elements])?;
        for element in 0..n_elements {
            let steps = centred(element, n_elements);
            // One element looks straight ahead, however wide it is.
            let angle_rad = if steps == 0.0 { 0.0 } else { steps * step_rad };
            let (sine, cosine) = angle_rad.sin_cos();
            // cos − 1 = −2 sin²(half the angle): near the middle the difference would lose the depth.
            let half = (0.5 * angle_rad).sin();
            positions.push([radius_m * sine, 0.0, -2.0 * radius_m * half * half]);
            normals.push([sine, 0.0, cosine]);
        }
        Ok(Self {
            positions_m: positions.into(),
            normals: normals.into(),
        })
    }

    /// A flat matrix of `n_x` × `n_y` elements, its centre at the origin; element `y · n_x + x` is in column x and row
    /// y.
    ///
    /// # Errors
    ///
    /// No elements, a pitch that is not positive and finite, more elements than memory.
    pub fn matrix(n_x: usize, n_y: usize, pitch_x_m: f64, pitch_y_m: f64) -> Result<Self> {
        not_empty(&[n_y, n_x])?;
        positive("pitch_m", pitch_x_m)?;
        positive("pitch_m", pitch_y_m)?;
        let mut positions = reserve("element positions", &[n_x, n_y])?;
        let mut normals = reserve("element normals", &[n_x, n_y])?;
        for y in 0..n_y {
            for x in 0..n_x {
                positions.push([centred(x, n_x) * pitch_x_m, centred(y, n_y) * pitch_y_m, 0.0]);
                normals.push([0.0, 0.0, 1.0]);
            }
        }
        Ok(Self {
            positions_m: positions.into(),
            normals: normals.into(),
        })
    }

    /// Elements anywhere, looking anywhere: `(element, 3)` centres in metres and normals of any length but 0.
    ///
    /// # Errors
    ///
    /// Arrays that are not `(element, 3)` or of different lengths, no elements, a coordinate that is not finite, a
    /// normal of length 0.
    pub fn free(positions_m: Array2<f64>, mut normals: Array2<f64>) -> Result<Self> {
        points("positions_m", &positions_m)?;
        if normals.shape() != positions_m.shape() {
            return Err(Error::ShapeMismatch {
                what: "normals",
                expected: positions_m.shape().to_vec(),
                got: normals.shape().to_vec(),
            });
        }
        points("normals", &normals)?;
        for mut normal in normals.rows_mut() {
            let length = normal.fold(0.0, |length: f64, part| length.hypot(*part));
            positive("the length of an element normal", length)?;
            normal /= length;
        }
        Ok(Self { positions_m, normals })
    }

    /// How many elements there are.
    pub fn n_elements(&self) -> usize {
        self.positions_m.nrows()
    }

    /// Centres in metres, `(element, 3)`.
    pub fn positions_m(&self) -> ArrayView2<'_, f64> {
        self.positions_m.view()
    }

    /// Unit normals, `(element, 3)`.
    pub fn normals(&self) -> ArrayView2<'_, f64> {
        self.normals.view()
    }

    /// Whether every element looks along +z.
    pub(super) fn looks_ahead(&self) -> bool {
        self.normals
            .rows()
            .into_iter()
            .all(|normal| normal[0] == 0.0 && normal[1] == 0.0 && normal[2] > 0.0)
    }
}

/// Place i of n, counted from the middle.
fn centred(i: usize, n: usize) -> f64 {
    i as f64 - (n - 1) as f64 / 2.0
}

fn not_empty(shape: &[usize]) -> Result<()> {
    if shape.contains(&0) {
        return Err(Error::Empty {
            what: "the probe",
            shape: shape.to_vec(),
            minimum: 1,
        });
    }
    Ok(())
}
