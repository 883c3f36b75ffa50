//! The waves that are sent, and when each reaches a point.

use super::Probe;
use super::check::{all_finite, positive};
use crate::{Error, Result};
use ndarray::ArrayD;
use std::f64::consts::FRAC_PI_2;
use wavefield::geometry::Vector;
use wavefield::transmit::{diverging, focused, plane, synthetic_aperture};

/// The shape of a transmitted wave; points are (x, y, z) in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wave {
    /// A plane wave along (sin α · cos ε, sin ε, cos α · cos ε), azimuth α from z towards x and elevation ε towards y.
    ///
    /// τ = (r − origin) · direction / c.
    Plane {
        /// α in radians, between −π/2 and π/2.
        azimuth_rad: f64,
        /// ε in radians, between −π/2 and π/2.
        elevation_rad: f64,
    },
    /// A wave that diverges from a virtual source behind the probe: τ = (|r − source| − |origin − source|) / c.
    Diverging {
        /// The virtual source.
        source_m: [f64; 3],
    },
    /// A wave that converges on a focus and diverges behind it: τ = (|origin − focus| ∓ |r − focus|) / c.
    ///
    /// The sign turns at the plane through the focus across the beam; the plane itself converges.
    Focused {
        /// The focus.
        focus_m: [f64; 3],
    },
    /// A wave from one element, which fires at t = 0: τ = |r − element| / c.
    SyntheticAperture {
        /// Which element.
        element: usize,
    },
}

/// One transmit event.
#[derive(Clone, Debug, PartialEq)]
pub struct Transmit {
    /// The wave.
    pub wave: Wave,
    /// Where the wave is at t = 0; a synthetic-aperture wave is at its element then, and this is not asked.
    pub origin_m: [f64; 3],
    /// When the first sample was taken, in seconds after t = 0.
    pub start_time_s: f64,
    /// How much the transmit counts in each voxel, in the grid's shape; `None` for 1 everywhere.
    pub weights: Option<ArrayD<f64>>,
}

impl Transmit {
    /// A wave that crosses the coordinates' origin, where the ready-made probes sit, when the recording starts.
    pub fn new(wave: Wave) -> Self {
        Self {
            wave,
            origin_m: [0.0; 3],
            start_time_s: 0.0,
            weights: None,
        }
    }

    /// The way of the wave to a point, in metres of travel since t = 0, after a check of the transmit's numbers.
    ///
    /// `index` is the transmit's place in the acquisition, for the errors.
    pub(super) fn travel_m(&self, index: usize, probe: &Probe) -> Result<impl Fn(Vector<f64>) -> f64 + Sync + use<>> {
        if !self.start_time_s.is_finite() {
            let (what, value) = ("start_time_s of the transmits", self.start_time_s);
            return Err(Error::NotFinite {
                what,
                index: vec![index],
                value,
            });
        }
        all_finite("a transmit's origin_m", &self.origin_m)?;
        let origin = self.origin_m;
        let wave = self.wave.resolve(origin, probe)?;
        Ok(move |point| match wave {
            Resolved::Plane { direction } => plane(point, origin, direction),
            Resolved::Diverging { source } => diverging(point, origin, source),
            Resolved::Focused { focus } => focused(point, origin, focus),
            Resolved::Element { position } => synthetic_aperture(point, position),
        })
    }
}

/// A wave whose numbers have been checked and brought into the form that `wavefield` takes.
#[derive(Clone, Copy)]
enum Resolved {
    Plane { direction: Vector<f64> },
    Diverging { source: Vector<f64> },
    Focused { focus: Vector<f64> },
    Element { position: Vector<f64> },
}

impl Wave {
    fn resolve(self, origin: Vector<f64>, probe: &Probe) -> Result<Resolved> {
        match self {
            Self::Plane {
                azimuth_rad,
                elevation_rad,
            } => {
                steering("a plane wave's azimuth_rad", azimuth_rad)?;
                steering("a plane wave's elevation_rad", elevation_rad)?;
                let (sine_azimuth, cosine_azimuth) = azimuth_rad.sin_cos();
                let (sine_elevation, cosine_elevation) = elevation_rad.sin_cos();
                let direction = [
                    sine_azimuth * cosine_elevation,
                    sine_elevation,
                    cosine_azimuth * cosine_elevation,
                ];
                Ok(Resolved::Plane { direction })
            }
            Self::Diverging { source_m } => {
                all_finite("a diverging wave's source_m", &source_m)?;
                Ok(Resolved::Diverging { source: source_m })
            }
            Self::Focused { focus_m } => {
                all_finite("a focused wave's focus_m", &focus_m)?;
                // The beam's direction comes from the two.
                positive(
                    "the distance of a focus from its transmit's origin",
                    wavefield::geometry::distance(origin, focus_m),
                )?;
                Ok(Resolved::Focused { focus: focus_m })
            }
            Self::SyntheticAperture { element } => {
                let n_elements = probe.n_elements();
                if element >= n_elements {
                    return Err(Error::NoSuchElement { element, n_elements });
                }
                let positions = probe.positions_m();
                Ok(Resolved::Element {
                    position: [0, 1, 2].map(|axis| positions[[element, axis]]),
                })
            }
        }
    }
}

fn steering(what: &'static str, angle_rad: f64) -> Result<()> {
    if angle_rad.abs() < FRAC_PI_2 {
        return Ok(());
    }
    Err(Error::OutOfRange {
        what,
        value: angle_rad,
        requirement: "between -π/2 and π/2 radians",
    })
}
