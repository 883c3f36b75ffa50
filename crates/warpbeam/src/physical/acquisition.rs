//! How channel data came about, and what that means to a delay-and-sum.

use super::check::{finite, fits, positive, product, reserve, shaped};
use super::{Grid, Probe, Reception, Transmit};
use crate::{Backend, DasGeometry, DasOptions, DasPlan, Error, Result, Sample};
use ndarray::{Array1, ArrayD};
use rayon::prelude::*;
use std::f64::consts::TAU;
use wavefield::sampling::sample_index;

/// What the waves travel through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Medium {
    /// Speed of sound in metres a second.
    pub sound_speed_m_s: f64,
}

/// Everything that turns a point in space into a place in the channel data.
///
/// The echo of transmit q from a point r is in channel m at sample (τ + pulse centre − start time) · `f_s`, where
/// τ = (way of the wave to r + |r − element m|) / c.
#[derive(Clone, Debug, PartialEq)]
pub struct Acquisition {
    /// The transducer; its elements are the channels.
    pub probe: Probe,
    /// The transmits, in the data's order.
    pub transmits: Vec<Transmit>,
    /// The medium.
    pub medium: Medium,
    /// Samples a second, after any decimation.
    pub sampling_frequency_hz: f64,
    /// The frequency f that demodulation took out (data times e^{−2πift}, t counted from the transmit); `None` for RF.
    pub demodulation_frequency_hz: Option<f64>,
    /// From the pulse's first moment to its centre, lens and electronics included, in seconds.
    pub pulse_centre_s: f64,
}

impl Acquisition {
    /// The unitless geometry and options of a reconstruction on `grid`.
    ///
    /// Positions are multiplied by `f_s / c`; a transmit's offset is (τ + pulse centre − start time) · `f_s`. For
    /// demodulated data κ = 2π f / `f_s` and each transmit adds κ · start time · `f_s`, so that the phase is
    /// 2π f (τ + pulse centre), counted from the transmit as the mixer counted it. The data's axes are
    /// `(batch, channel, transmit, sample)`; change the options for others or for a memory limit.
    ///
    /// # Errors
    ///
    /// A number that is not finite or outside its range, no transmits, a synthetic-aperture element that the probe does
    /// not have, weights that do not have the grid's shape, more voxels and transmits than memory.
    pub fn geometry(&self, grid: &Grid, reception: &Reception) -> Result<(DasGeometry, DasOptions)> {
        self.validate()?;
        reception.validate()?;
        let shape = grid.shape();
        let n_transmits = self.transmits.len();
        // All of it at once, before the first part takes what the last would need.
        let numbers =
            product(&shape).and_then(|voxels| voxels.checked_mul(n_transmits.checked_mul(2)?.checked_add(3)?));
        fits(
            "the geometry of all voxels and transmits",
            numbers.and_then(|numbers| numbers.checked_mul(size_of::<f64>())),
        )?;

        let samples_per_metre = self.sampling_frequency_hz / self.medium.sound_speed_m_s;
        let mut points = grid.points_m()?;
        let transmit_offsets = self.offsets(&points, &shape)?;
        let transmit_weights = self.weights(&shape)?;
        points
            .par_iter_mut()
            .for_each(|point| *point = point.map(|metres| metres * samples_per_metre));
        let voxel_positions = shaped(
            "voxel positions",
            &[shape.as_slice(), &[3]].concat(),
            points.into_flattened(),
        )?;

        let element_normals = (!self.probe.looks_ahead()).then(|| self.probe.normals().to_owned());
        let element_cosine_bounds = reception
            .max_angle_rad
            .map(|angle_rad| Array1::from_elem(self.probe.n_elements(), angle_rad.cos()));
        let phase_per_sample = self
            .demodulation_frequency_hz
            .map_or(0.0, |f| TAU * f / self.sampling_frequency_hz);
        let phase_offset = |transmit: &Transmit| phase_per_sample * transmit.start_time_s * self.sampling_frequency_hz;

        let geometry = DasGeometry {
            element_positions: &self.probe.positions_m() * samples_per_metre,
            voxel_positions,
            transmit_offsets,
            transmit_weights,
            element_normals,
            element_cosine_bounds,
            ..DasGeometry::default()
        };
        let options = DasOptions {
            interpolation: reception.interpolation,
            phase_per_sample,
            phase_offsets: self.transmits.iter().map(phase_offset).collect(),
            f_number: reception.f_number,
            window: reception.window,
            directivity_exponent: reception.directivity_exponent,
            ..DasOptions::default()
        };
        Ok((geometry, options))
    }

    fn validate(&self) -> Result<()> {
        positive("sound_speed_m_s", self.medium.sound_speed_m_s)?;
        positive("sampling_frequency_hz", self.sampling_frequency_hz)?;
        finite("pulse_centre_s", self.pulse_centre_s)?;
        if let Some(frequency_hz) = self.demodulation_frequency_hz {
            positive("demodulation_frequency_hz", frequency_hz)?;
        }
        if self.transmits.is_empty() {
            return Err(Error::Empty {
                what: "transmits",
                shape: vec![0],
                minimum: 1,
            });
        }
        Ok(())
    }

    /// The sample at which each transmit reaches each voxel, `(transmit, ..)`.
    fn offsets(&self, points_m: &[[f64; 3]], grid: &[usize]) -> Result<ArrayD<f64>> {
        const WHAT: &str = "transmit offsets";
        let shape = [&[self.transmits.len()], grid].concat();
        let mut offsets = reserve(WHAT, &shape)?;
        for (index, transmit) in self.transmits.iter().enumerate() {
            let travel_m = transmit.travel_m(index, &self.probe)?;
            offsets.par_extend(points_m.par_iter().map(|point| {
                let delay_s = travel_m(*point) / self.medium.sound_speed_m_s;
                sample_index(
                    delay_s,
                    self.pulse_centre_s,
                    transmit.start_time_s,
                    self.sampling_frequency_hz,
                )
            }));
        }
        shaped(WHAT, &shape, offsets)
    }

    /// How much each transmit counts in each voxel, `(transmit, ..)`.
    fn weights(&self, grid: &[usize]) -> Result<ArrayD<f64>> {
        const WHAT: &str = "transmit weights";
        let shape = [&[self.transmits.len()], grid].concat();
        let n_voxels: usize = grid.iter().product();
        let mut weights = reserve(WHAT, &shape)?;
        for transmit in &self.transmits {
            match &transmit.weights {
                None => weights.resize(weights.len() + n_voxels, 1.0),
                Some(own) if own.shape() == grid => weights.extend(own),
                Some(own) => {
                    let (expected, got) = (grid.to_vec(), own.shape().to_vec());
                    return Err(Error::ShapeMismatch {
                        what: "a transmit's weights",
                        expected,
                        got,
                    });
                }
            }
        }
        shaped(WHAT, &shape, weights)
    }
}

impl<T: Sample> DasPlan<T> {
    /// A plan for an acquisition's data, `(batch, channel, transmit, sample)`, and a grid.
    ///
    /// # Errors
    ///
    /// Those of [`Acquisition::geometry`] and [`DasPlan::new`].
    pub fn for_acquisition(
        backend: &Backend,
        acquisition: &Acquisition,
        grid: &Grid,
        reception: &Reception,
    ) -> Result<Self> {
        let (geometry, options) = acquisition.geometry(grid, reception)?;
        Self::new(backend, &geometry, &options)
    }
}
