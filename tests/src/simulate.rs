//! Echoes of point scatterers, straight from their travel times.

use ndarray::Array4;
use num_complex::Complex64;
use std::f64::consts::TAU;

/// What the echoes of a transmit travel and how they are recorded; metres, seconds, hertz.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Element positions.
    pub elements_m: Vec<[f64; 3]>,
    /// Sound speed.
    pub sound_speed_m_s: f64,
    /// Sampling frequency.
    pub sampling_frequency_hz: f64,
    /// The carrier.
    pub carrier_hz: f64,
    /// From the pulse's start to its centre.
    pub pulse_centre_s: f64,
    /// Standard deviation of the pulse's Gaussian envelope.
    pub pulse_width_s: f64,
    /// Samples a trace.
    pub samples: usize,
}

/// The way of a transmit's wave to a point in metres, and when its recording starts.
pub type Way<'a> = (&'a dyn Fn([f64; 3]) -> f64, f64);

/// Whether the carrier is left in (the analytic RF signal) or mixed down with e^{−iωt}.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mixing {
    /// e^{iω(t − τ)}.
    Analytic,
    /// e^{−iωτ}.
    Demodulated,
}

/// Distance of two points.
pub fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2) + (a[2] - b[2]).powi(2)).sqrt()
}

impl Recording {
    /// One frame `(1, channel, transmit, sample)` of unit scatterers.
    pub fn echoes(&self, scatterers_m: &[[f64; 3]], transmits: &[Way<'_>], mixing: Mixing) -> Array4<Complex64> {
        let omega = TAU * self.carrier_hz;
        let mut data = Array4::zeros((1, self.elements_m.len(), transmits.len(), self.samples));
        for ((_, m, q, k), sample) in data.indexed_iter_mut() {
            let (way_m, start_time_s) = transmits[q];
            let time = start_time_s + k as f64 / self.sampling_frequency_hz;
            for scatterer in scatterers_m {
                let travel_m = way_m(*scatterer) + distance(*scatterer, self.elements_m[m]);
                let after = time - travel_m / self.sound_speed_m_s - self.pulse_centre_s;
                let envelope = (-0.5 * (after / self.pulse_width_s).powi(2)).exp();
                if envelope > 1e-12 {
                    *sample += Complex64::from_polar(envelope, omega * after);
                }
            }
            if mixing == Mixing::Demodulated {
                *sample *= Complex64::from_polar(1.0, -omega * time);
            }
        }
        data
    }
}
