//! The waves that are sent, and when each reaches a point.

use super::Probe;
use super::check::{all_finite, positive};
use crate::{Error, Result};
use ndarray::ArrayD;
use std::f64::consts::FRAC_PI_2;
use wavefield::geometry::Vector;
use wavefield::transmit::{diverging, focused, focused_hybrid, focused_unified, plane, synthetic_aperture};

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
    /// The sign turns at the plane through the focus across the beam; the plane itself converges. Beside the axis that is
    /// a jump, which `near_focus` can take away.
    Focused {
        /// The focus.
        focus_m: [f64; 3],
        /// What the wave is taken for around the focus.
        near_focus: NearFocus,
    },
    /// A wave from one element, which fires at t = 0: τ = |r − element| / c.
    SyntheticAperture {
        /// Which element.
        element: usize,
    },
}

/// What a focused wave is taken for around its focus.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum NearFocus {
    /// A sphere that shrinks to the focus and grows behind it; beside the axis the delay jumps at the focal plane.
    #[default]
    Spherical,
    /// A plane wave between two planes across the beam (Rindal, Rodriguez-Molares and Austeng, IEEE International
    /// Ultrasonics Symposium 2018).
    Hybrid {
        /// From the focus to either plane, along the beam.
        margin_m: f64,
    },
    /// A sphere within the double cone of aperture and focus, and outside it what lies linearly between the cone's
    /// surfaces (Nguyen and Prager, IEEE Transactions on Medical Imaging 35(1), 2016); no jump anywhere.
    Unified {
        /// Focal length over the width of the transmitting aperture.
        f_number: f64,
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
        let (origin, wave) = (self.origin_m, self.resolve(index, probe)?);
        Ok(move |point| match wave {
            Resolved::Plane { direction } => plane(point, origin, direction),
            Resolved::Diverging { source } => diverging(point, origin, source),
            Resolved::Focused { focus, near_focus } => match near_focus {
                NearFocus::Spherical => focused(point, origin, focus),
                NearFocus::Hybrid { margin_m } => focused_hybrid(point, origin, focus, margin_m),
                NearFocus::Unified { f_number } => focused_unified(point, origin, focus, f_number),
            },
            Resolved::Element { position } => synthetic_aperture(point, position),
        })
    }

    /// The wave, after a check of the transmit's numbers; `index` as for [`Transmit::travel_m`].
    pub(super) fn resolve(&self, index: usize, probe: &Probe) -> Result<Resolved> {
        if !self.start_time_s.is_finite() {
            let (what, value) = ("start_time_s of the transmits", self.start_time_s);
            return Err(Error::NotFinite {
                what,
                index: vec![index],
                value,
            });
        }
        all_finite("a transmit's origin_m", &self.origin_m)?;
        self.wave.resolve(self.origin_m, probe)
    }
}

/// A wave whose numbers have been checked and brought into the form that `wavefield` takes.
#[derive(Clone, Copy)]
pub(super) enum Resolved {
    Plane { direction: Vector<f64> },
    Diverging { source: Vector<f64> },
    Focused { focus: Vector<f64>, near_focus: NearFocus },
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
            Self::Focused { focus_m, near_focus } => {
                all_finite("a focused wave's focus_m", &focus_m)?;
                // The beam's direction comes from the two.
                positive(
                    "the distance of a focus from its transmit's origin",
                    wavefield::geometry::distance(origin, focus_m),
                )?;
                match near_focus {
                    NearFocus::Spherical => {}
                    NearFocus::Hybrid { margin_m } => positive("a hybrid focus's margin_m", margin_m)?,
                    NearFocus::Unified { f_number } => positive("a unified focus's f_number", f_number)?,
                }
                Ok(Resolved::Focused {
                    focus: focus_m,
                    near_focus,
                })
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
