//! Scan conversion: samples along beams to the voxels of a Cartesian image.

use super::grid::{AZIMUTH, ELEVATION, InterpolationGrid, RANGE, expect_coordinates, expect_monotonic};
use super::plan::{InterpolationMethod, Interpolator};
use super::prepared::{InterpolationValue, PreparedPoints};
use crate::physical::Grid;
use crate::{Backend, Error, Result};
use ndarray::{ArrayD, ArrayView, Dimension, IxDyn};
use std::f64::consts::{FRAC_PI_2, PI};

/// Samples along beams from an apex: at `apex + R · (sin α · cos ε, sin ε, cos α · cos ε)` for every range R, azimuth α
/// (from z towards x) and elevation ε (towards y), as [`Wave::Plane`](crate::Wave::Plane) counts them. A full circle has a
/// beam at −π and one at π.
///
/// | what | shape |
/// |---|---|
/// | values of a plane sector, y that of the apex | `(azimuth, range)` |
/// | values of a volume | `(elevation, azimuth, range)` |
#[derive(Clone, Debug, PartialEq)]
pub struct SectorGrid {
    apex_m: [f64; 3],
    range_m: Vec<f64>,
    azimuth_rad: Vec<f64>,
    /// 0 alone for a plane sector.
    elevation_rad: Vec<f64>,
    is_volume: bool,
}

impl SectorGrid {
    /// The plane sector of a phased array at the origin: ranges in metres, azimuths in radians, each rising or falling.
    ///
    /// # Errors
    ///
    /// [`Error::Empty`], [`Error::NotFinite`], and [`Error::OutOfRange`] for axes that turn or stand still, negative ranges
    /// and azimuths beyond ±π.
    pub fn plane(range_m: &[f64], azimuth_rad: &[f64]) -> Result<Self> {
        let mut sector = Self::volume(range_m, azimuth_rad, &[0.0])?;
        sector.is_volume = false;
        Ok(sector)
    }

    /// As [`SectorGrid::plane`], with elevations: a volume.
    ///
    /// # Errors
    ///
    /// As there; elevations beyond ±π/2.
    pub fn volume(range_m: &[f64], azimuth_rad: &[f64], elevation_rad: &[f64]) -> Result<Self> {
        for (name, axis, least, most, requirement) in [
            (RANGE, range_m, 0.0, f64::MAX, "not negative"),
            (AZIMUTH, azimuth_rad, -PI, PI, "between -π and π radians"),
            (
                ELEVATION,
                elevation_rad,
                -FRAC_PI_2,
                FRAC_PI_2,
                "between -π/2 and π/2 radians",
            ),
        ] {
            expect_monotonic(name, axis)?;
            if let Some(&value) = axis.iter().find(|value| !(least..=most).contains(*value)) {
                return Err(Error::OutOfRange {
                    what: name,
                    value,
                    requirement,
                });
            }
        }
        Ok(Self {
            apex_m: [0.0; 3],
            range_m: range_m.to_vec(),
            azimuth_rad: azimuth_rad.to_vec(),
            elevation_rad: elevation_rad.to_vec(),
            is_volume: true,
        })
    }

    /// The sector of a [convex probe](crate::Probe::convex): depths are counted from its surface, beams go through the
    /// centre of its circle, at z = −radius.
    ///
    /// # Errors
    ///
    /// As [`SectorGrid::plane`]; a radius that is negative or not finite.
    pub fn convex(radius_m: f64, depth_m: &[f64], azimuth_rad: &[f64]) -> Result<Self> {
        if !(radius_m >= 0.0 && radius_m.is_finite()) {
            return Err(Error::OutOfRange {
                what: "radius_m",
                value: radius_m,
                requirement: "finite and not negative",
            });
        }
        let range_m: Vec<f64> = depth_m.iter().map(|depth| radius_m + depth).collect();
        Self::plane(&range_m, azimuth_rad)?.with_apex([0.0, 0.0, -radius_m])
    }

    /// The same beams from another apex.
    ///
    /// # Errors
    ///
    /// [`Error::NotFinite`], and [`Error::OutOfRange`] beyond 10³⁰.
    pub fn with_apex(mut self, apex_m: [f64; 3]) -> Result<Self> {
        expect_coordinates("the apex", &ndarray::arr1(&apex_m))?;
        self.apex_m = apex_m;
        Ok(self)
    }

    /// The shape of the values.
    pub fn shape(&self) -> Vec<usize> {
        let mut shape = vec![self.azimuth_rad.len(), self.range_m.len()];
        if self.is_volume {
            shape.insert(0, self.elevation_rad.len());
        }
        shape
    }

    /// Where the samples are, `(.., 3)` in metres: what [`Grid::free`] takes, to beamform on the sector itself.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn positions_m(&self) -> Result<ArrayD<f64>> {
        let shape = [&self.shape()[..], &[3]].concat();
        let count = shape.iter().product();
        let mut positions: Vec<f64> = crate::device::zeroed(count, "the positions of a sector")?;
        let directions = self.elevation_rad.iter().flat_map(|elevation| {
            self.azimuth_rad.iter().map(|azimuth| {
                let (sine, cosine) = azimuth.sin_cos();
                let (up, out) = elevation.sin_cos();
                [sine * out, up, cosine * out]
            })
        });
        let points = directions.flat_map(|direction| self.range_m.iter().map(move |range| (direction, range)));
        for (position, (direction, range)) in positions.chunks_exact_mut(3).zip(points) {
            for axis in 0..3 {
                position[axis] = self.apex_m[axis] + range * direction[axis];
            }
        }
        ArrayD::from_shape_vec(IxDyn(&shape), positions).map_err(|_| Error::OutOfMemory {
            what: "the positions of a sector",
            needed_bytes: u64::MAX,
            available_bytes: None,
        })
    }

    /// Finds the voxels of an image in the sector, once for any number of frames.
    ///
    /// [`InterpolationMethod::Trilinear`] is linear in range and angles, `Nearest` takes the nearest sample along each, and
    /// `Tetrahedral` is linear in the triangles of range and azimuth, or the tetrahedra of all three.
    ///
    /// # Errors
    ///
    /// As [`InterpolationGrid::sector`] and [`Interpolator::prepare`].
    pub fn prepare(&self, backend: &Backend, image: &Grid, method: InterpolationMethod) -> Result<PreparedPoints> {
        Interpolator::new(backend, &InterpolationGrid::sector(self)?, method)?.prepare(&image.positions_m()?)
    }

    pub(super) fn apex(&self) -> [f64; 3] {
        self.apex_m
    }

    /// Range, azimuth and elevation.
    pub(super) fn axes(&self) -> [&[f64]; 3] {
        [&self.range_m, &self.azimuth_rad, &self.elevation_rad]
    }
}

/// The values of a sector, `([batch,] [elevation,] azimuth, range)`, at the voxels of an image, `([batch,] ..grid)`, linear in
/// range and angles; `fill` where there is no sector.
///
/// For frames that come one after the other, [`SectorGrid::prepare`] once and [`PreparedPoints::run`] each.
///
/// ```
/// use warpbeam::{Backend, Grid, ops, physical::axis};
/// # fn main() -> warpbeam::Result<()> {
/// let sector = ops::SectorGrid::plane(&axis(0.0, 0.1, 300)?, &axis(-0.7, 0.7, 128)?)?;
/// let grid = Grid::plane(&axis(-0.05, 0.05, 201)?, &axis(0.0, 0.1, 200)?)?;
/// let frames = ndarray::Array3::<f32>::ones((4, 128, 300));
/// let images = ops::scan_convert(&Backend::best(), &sector, frames.view(), &grid, 0.0)?;
/// assert_eq!(images.shape(), [4, 200, 201]);
/// assert_eq!((images[[0, 100, 100]], images[[0, 0, 0]]), (1.0, 0.0));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As [`SectorGrid::prepare`] and [`PreparedPoints::run`].
pub fn scan_convert<T: InterpolationValue, D: Dimension>(
    backend: &Backend,
    sector: &SectorGrid,
    values: ArrayView<'_, T, D>,
    image: &Grid,
    fill: T,
) -> Result<ArrayD<T>> {
    sector
        .prepare(backend, image, InterpolationMethod::Trilinear)?
        .run(values, fill)
}
