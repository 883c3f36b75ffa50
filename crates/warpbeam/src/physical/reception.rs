//! Which elements a voxel listens to, and how.

use crate::{Error, Interpolation, Result, Window};
use std::f64::consts::PI;

/// How the receive side is weighted and read; the default is a plain sum over all elements, linearly interpolated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reception {
    /// Depth over the aperture's width, along an element's normal; 0 uses all elements.
    pub f_number: f64,
    /// Window over that aperture.
    pub window: Window,
    /// Largest angle in radians between an element's normal and a voxel that it hears; `None` hears everything.
    pub max_angle_rad: Option<f64>,
    /// The power of the cosine of that angle that an element hears with; 0 hears alike from everywhere.
    pub directivity_exponent: f64,
    /// How samples are interpolated.
    pub interpolation: Interpolation,
}

impl Default for Reception {
    fn default() -> Self {
        Self {
            f_number: 0.0,
            window: Window::Boxcar,
            max_angle_rad: None,
            directivity_exponent: 0.0,
            interpolation: Interpolation::Linear,
        }
    }
}

impl Reception {
    pub(super) fn validate(&self) -> Result<()> {
        let refuse = |what, value, requirement| {
            Err(Error::OutOfRange {
                what,
                value,
                requirement,
            })
        };
        if !(self.f_number >= 0.0 && self.f_number.is_finite()) {
            return refuse("f_number", self.f_number, "a positive number, or 0 for all elements");
        }
        if !(self.directivity_exponent >= 0.0 && self.directivity_exponent.is_finite()) {
            let requirement = "a positive number, or 0 for no directivity";
            return refuse("directivity_exponent", self.directivity_exponent, requirement);
        }
        window("the Tukey window's taper", self.window)?;
        match self.max_angle_rad {
            Some(angle_rad) if !(0.0..=PI).contains(&angle_rad) => refuse(
                "max_angle_rad",
                angle_rad,
                "from 0 to π radians, or None to hear everything",
            ),
            _ => Ok(()),
        }
    }
}

/// Refuses a taper that is none.
pub(super) fn window(what: &'static str, window: Window) -> Result<()> {
    match window {
        Window::Tukey { taper } if !(0.0..=1.0).contains(&taper) => Err(Error::OutOfRange {
            what,
            value: taper,
            requirement: "from 0 (boxcar) to 1 (Hann)",
        }),
        _ => Ok(()),
    }
}
