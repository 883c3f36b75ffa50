//! Where the image is wanted.

use super::check::{all_finite, reserve, shaped};
use crate::{Error, Result};
use ndarray::{ArrayD, Axis};
use rayon::prelude::*;

/// The voxels of an image, in metres; the shape comes back in the output.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    voxels: Voxels,
}

#[derive(Clone, Debug, PartialEq)]
enum Voxels {
    /// All combinations of three axes, x the fastest.
    Cartesian {
        x_m: Vec<f64>,
        y_m: Vec<f64>,
        z_m: Vec<f64>,
    },
    /// All combinations of two axes at y = 0, x the fastest.
    Plane { x_m: Vec<f64>, z_m: Vec<f64> },
    /// `(.., 3)`.
    Free(ArrayD<f64>),
}

/// `n` coordinates from `start` to `stop`, both included; one coordinate is `start`.
///
/// # Errors
///
/// Ends that are not finite, more coordinates than memory.
pub fn axis(start: f64, stop: f64, n: usize) -> Result<Vec<f64>> {
    all_finite("the ends of an axis", &[start, stop])?;
    let mut coordinates = reserve("an axis", &[n])?;
    let intervals = n.saturating_sub(1).max(1) as f64;
    // Weighted from both ends, so that the last coordinate is `stop` itself.
    coordinates.extend((0..n).map(|i| {
        let part = i as f64 / intervals;
        (1.0 - part) * start + part * stop
    }));
    Ok(coordinates)
}

impl Grid {
    /// The volume over three axes in metres; shape `(z, y, x)`.
    ///
    /// # Errors
    ///
    /// An empty axis, a coordinate that is not finite.
    pub fn cartesian(x_m: &[f64], y_m: &[f64], z_m: &[f64]) -> Result<Self> {
        let voxels = Voxels::Cartesian {
            x_m: coordinates("x_m", x_m)?,
            y_m: coordinates("y_m", y_m)?,
            z_m: coordinates("z_m", z_m)?,
        };
        Ok(Self { voxels })
    }

    /// The plane y = 0 over two axes in metres; shape `(z, x)`.
    ///
    /// # Errors
    ///
    /// An empty axis, a coordinate that is not finite.
    pub fn plane(x_m: &[f64], z_m: &[f64]) -> Result<Self> {
        let voxels = Voxels::Plane {
            x_m: coordinates("x_m", x_m)?,
            z_m: coordinates("z_m", z_m)?,
        };
        Ok(Self { voxels })
    }

    /// Points anywhere, `(.., 3)` in metres; shape `(..)`.
    ///
    /// # Errors
    ///
    /// A last axis that is not 3 (x, y, z), no points, a coordinate that is not finite.
    pub fn free(points_m: ArrayD<f64>) -> Result<Self> {
        if points_m.shape().last() != Some(&3) {
            return Err(Error::WrongAxes {
                what: "points_m",
                expected: "a last axis of 3 (x, y, z)",
                got: points_m.shape().to_vec(),
            });
        }
        if points_m.is_empty() {
            return Err(Error::Empty {
                what: "points_m",
                shape: points_m.shape().to_vec(),
                minimum: 1,
            });
        }
        if let Some((index, value)) = points_m.indexed_iter().find(|(_, value)| !value.is_finite()) {
            return Err(Error::NotFinite {
                what: "points_m",
                index: ndarray::Dimension::slice(&index).to_vec(),
                value: *value,
            });
        }
        Ok(Self {
            voxels: Voxels::Free(points_m),
        })
    }

    /// The image's shape.
    pub fn shape(&self) -> Vec<usize> {
        match &self.voxels {
            Voxels::Cartesian { x_m, y_m, z_m } => vec![z_m.len(), y_m.len(), x_m.len()],
            Voxels::Plane { x_m, z_m } => vec![z_m.len(), x_m.len()],
            Voxels::Free(points_m) => points_m.shape()[..points_m.ndim() - 1].to_vec(),
        }
    }

    /// Voxel positions in metres, `(.., 3)`.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], before anything is allocated.
    pub fn positions_m(&self) -> Result<ArrayD<f64>> {
        let shape = [self.shape().as_slice(), &[3]].concat();
        shaped(POSITIONS, &shape, self.points_m()?.into_flattened())
    }

    /// The voxels, one after the other.
    pub(super) fn points_m(&self) -> Result<Vec<[f64; 3]>> {
        let shape = self.shape();
        let mut points = reserve(POSITIONS, &shape)?;
        let voxels = (0..shape.iter().product()).into_par_iter();
        match &self.voxels {
            Voxels::Cartesian { x_m, y_m, z_m } => points.par_extend(voxels.map(|voxel: usize| {
                let (row, x) = (voxel / x_m.len(), voxel % x_m.len());
                [x_m[x], y_m[row % y_m.len()], z_m[row / y_m.len()]]
            })),
            Voxels::Plane { x_m, z_m } => {
                points.par_extend(voxels.map(|voxel: usize| [x_m[voxel % x_m.len()], 0.0, z_m[voxel / x_m.len()]]));
            }
            Voxels::Free(points_m) => {
                let rows = points_m.lanes(Axis(points_m.ndim() - 1)).into_iter();
                points.extend(rows.map(|point| [point[0], point[1], point[2]]));
            }
        }
        Ok(points)
    }
}

const POSITIONS: &str = "voxel positions";

/// A copy of an axis that has something on it, all of it finite.
fn coordinates(what: &'static str, axis_m: &[f64]) -> Result<Vec<f64>> {
    if axis_m.is_empty() {
        return Err(Error::Empty {
            what,
            shape: vec![0],
            minimum: 1,
        });
    }
    all_finite(what, axis_m)?;
    let mut copy = reserve(what, &[axis_m.len()])?;
    copy.extend_from_slice(axis_m);
    Ok(copy)
}
