//! Which voxels a transmit reaches, and how much.

use super::check::{positive, product, shaped};
use super::transmit::Resolved;
use super::{Grid, Probe, Transmit};
use crate::{Result, Window};
use ndarray::ArrayD;
use rayon::prelude::*;
use wavefield::aperture::Aperture;
use wavefield::geometry::{Vector, difference, distance};
use wavefield::transmit::in_beam;

/// The beam of a transmit: the part of space that its aperture sends to.
///
/// Around the axis, half as wide as the aperture at the transmit's origin:
///
/// | wave | half the width, at the way t along the axis |
/// |---|---|
/// | plane | the aperture's half-width everywhere |
/// | diverging | grows with the distance from the virtual source; nothing behind it |
/// | focused | shrinks to the focus and grows behind it |
/// | synthetic aperture | no beam: 1 everywhere |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beam {
    /// Width of the transmitting aperture across the beam, in metres.
    pub aperture_m: f64,
    /// Width that the beam has at least, in metres: about a wavelength times focal length over aperture at a focus.
    pub least_width_m: f64,
    /// The weights from the beam's axis to its edge; 0 outside.
    pub window: Window,
}

impl Beam {
    /// The weight of a transmit in every voxel, in the grid's shape: what [`Transmit::weights`] takes.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`](crate::Error::OutOfRange) for widths that are not positive and finite or a taper that is not
    /// from 0 to 1, and the errors of the transmit's own numbers.
    pub fn weights(&self, transmit: &Transmit, probe: &Probe, grid: &Grid) -> Result<ArrayD<f64>> {
        positive("a beam's aperture_m", self.aperture_m)?;
        positive("a beam's least_width_m", self.least_width_m)?;
        super::reception::window("a beam's window", self.window)?;
        let cross_section = CrossSection::of(transmit.resolve(0, probe)?, transmit.origin_m, self);
        // An aperture twice as wide as it is deep: its half-width is what it is asked for as a depth.
        let window = Aperture::new(0.5, self.window, 0.0);
        let weight = |point: &Vector<f64>| {
            cross_section.at(*point).map_or(1.0, |[half_width, across_squared]| {
                window.weight(half_width, across_squared)
            })
        };
        let shape = grid.shape();
        let points = grid.points_m()?;
        debug_assert_eq!(product(&shape), Some(points.len()));
        shaped("transmit weights", &shape, points.par_iter().map(weight).collect())
    }
}

/// How wide a beam is where a point lies.
struct CrossSection {
    origin: Vector<f64>,
    /// The axis; none for a wave that goes everywhere.
    direction: Option<Vector<f64>>,
    half_width_at_origin: f64,
    /// Its change a metre along the axis.
    growth: f64,
    least_half_width: f64,
    /// Whether there is nothing where the width would be negative, not a beam that grows again.
    ends: bool,
}

impl CrossSection {
    fn of(wave: Resolved, origin: Vector<f64>, beam: &Beam) -> Self {
        let half_width = beam.aperture_m / 2.0;
        let toward = |from: Vector<f64>, to: Vector<f64>| {
            let length = distance(from, to);
            (length, difference(to, from).map(|part| part / length))
        };
        let (direction, growth, ends) = match wave {
            Resolved::Plane { direction } => (Some(direction), 0.0, false),
            Resolved::Diverging { source } if distance(source, origin) > 0.0 => {
                let (length, direction) = toward(source, origin);
                (Some(direction), half_width / length, true)
            }
            Resolved::Focused { focus, .. } => {
                let (length, direction) = toward(origin, focus);
                (Some(direction), -half_width / length, false)
            }
            // A source in the origin sends to all sides.
            Resolved::Diverging { .. } | Resolved::Element { .. } => (None, 0.0, false),
        };
        Self {
            origin,
            direction,
            half_width_at_origin: half_width,
            growth,
            least_half_width: beam.least_width_m / 2.0,
            ends,
        }
    }

    /// Half the width, below 0 where there is none, and the square of the distance from the axis; nothing where there is
    /// no axis.
    fn at(&self, point: Vector<f64>) -> Option<[f64; 2]> {
        let (along, across_squared) = in_beam(point, self.origin, self.direction?);
        let half_width = self.growth.mul_add(along, self.half_width_at_origin);
        let half_width = if self.ends && half_width < 0.0 {
            -1.0
        } else {
            half_width.abs().max(self.least_half_width)
        };
        Some([half_width, across_squared])
    }
}
