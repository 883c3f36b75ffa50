//! RF to IQ: mixing with the carrier and a zero-phase low-pass.

use std::f64::consts::TAU;

use ndarray::{Array, ArrayRef, ArrayView1, Dimension};
use num_complex::Complex;
use rayon::prelude::*;

use super::error::{SignalError, positive};
use super::low_pass::{LANES, Lanes, LowPass};
use super::sample::{Real, RealSample};

/// Signals that go through the filter together, real and imaginary part each a lane.
const SIGNALS: usize = LANES / 2;

/// How RF data was recorded, as far as demodulation needs to know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demodulation {
    /// Sampling frequency `f_s`.
    pub sampling_frequency_hz: f64,
    /// Carrier `f_c` to mix with. May exceed `f_s/2` where the recording is a bandpass sampling.
    pub center_frequency_hz: f64,
    /// Time of sample 0, counted from the transmit: the t that the beamformer's delays count from too.
    pub start_time_s: f64,
    /// Width of the band around the carrier that holds the signal, below `f_s`; half of it is the low-pass's cut-off,
    /// where the gain is 1/2.
    pub bandwidth_hz: f64,
}

/// Demodulates RF data along the last axis.
///
/// ```text
/// IQ[k] = 2 · LP{ RF[k] · e^{−2πi·f_c·t} },  t = start time + k/f_s
/// ```
///
/// with LP a fifth-order Butterworth low-pass that runs forwards and backwards. The factor 2 keeps the amplitude: |IQ|
/// is the envelope of RF, and `RF = Re(IQ · e^{+2πi·f_c·t})` within the band.
///
/// | argument | shape | unit |
/// |---|---|---|
/// | `rf` | (.., sample), any layout | any |
/// | result | as `rf` | as `rf` |
///
/// Numbers are `f64` inside. A sample that is not finite spoils its own signal and no other.
///
/// # Errors
///
/// [`SignalError::OutOfRange`] for frequencies that are not positive and finite, a bandwidth that is not below the
/// sampling frequency, a start time that is not finite; [`SignalError::NoSampleAxis`].
pub fn demodulate<S, D>(
    rf: &ArrayRef<S, D>,
    recording: &Demodulation,
) -> Result<Array<Complex<S::Real>, D>, SignalError>
where
    S: RealSample,
    D: Dimension,
{
    recording.check()?;
    let Some(&n_samples) = rf.shape().last() else {
        return Err(SignalError::NoSampleAxis);
    };
    let mut iq = Array::from_elem(
        rf.raw_dim(),
        Complex::new(S::Real::from_f64(0.0), S::Real::from_f64(0.0)),
    );
    let Some(all) = iq.as_slice_mut().filter(|all| !all.is_empty()) else {
        return Ok(iq);
    };
    let carrier = recording.carrier(n_samples);
    let low_pass = LowPass::new(0.5 * recording.bandwidth_hz / recording.sampling_frequency_hz);
    let signals: Vec<_> = rf.rows().into_iter().collect();
    let edge = LowPass::edge(n_samples);
    all.par_chunks_mut(SIGNALS * n_samples)
        .zip(signals.par_chunks(SIGNALS))
        .for_each_init(
            || vec![[0.0; LANES]; n_samples + 2 * edge],
            |line, (iq, rf)| {
                mix(rf, &carrier, &mut line[edge..]);
                low_pass.run_both_ways(line, edge);
                for (lane, iq) in iq.chunks_exact_mut(n_samples).enumerate() {
                    for (iq, sample) in iq.iter_mut().zip(&line[edge..]) {
                        *iq = Complex::new(
                            S::Real::from_f64(sample[2 * lane]),
                            S::Real::from_f64(sample[2 * lane + 1]),
                        );
                    }
                }
            },
        );
    Ok(iq)
}

/// Multiplies up to [`SIGNALS`] signals with the carrier, each into its two lanes.
fn mix<S: RealSample>(signals: &[ArrayView1<S>], carrier: &[Complex<f64>], line: &mut [Lanes]) {
    for (lane, signal) in signals.iter().enumerate() {
        for ((place, carrier), &sample) in line.iter_mut().zip(carrier).zip(signal) {
            let mixed = carrier * sample.to_f64();
            place[2 * lane] = mixed.re;
            place[2 * lane + 1] = mixed.im;
        }
    }
}

impl Demodulation {
    fn check(&self) -> Result<(), SignalError> {
        positive("the sampling frequency in Hz", self.sampling_frequency_hz)?;
        positive("the centre frequency in Hz", self.center_frequency_hz)?;
        positive("the bandwidth in Hz", self.bandwidth_hz)?;
        if self.bandwidth_hz >= self.sampling_frequency_hz {
            let requirement = "below the sampling frequency";
            return Err(SignalError::OutOfRange {
                what: "the bandwidth in Hz",
                value: self.bandwidth_hz,
                requirement,
            });
        }
        if !self.start_time_s.is_finite() {
            let (what, value) = ("the start time in s", self.start_time_s);
            return Err(SignalError::OutOfRange {
                what,
                value,
                requirement: "finite",
            });
        }
        Ok(())
    }

    /// `2·e^{−2πi·f_c·t}` of each sample.
    fn carrier(&self, n_samples: usize) -> Vec<Complex<f64>> {
        let turns_at_start = self.center_frequency_hz * self.start_time_s;
        let turns_per_sample = self.center_frequency_hz / self.sampling_frequency_hz;
        let turns = (0..n_samples).map(|k| turns_at_start.fract() + (k as f64 * turns_per_sample).fract());
        turns.map(|turns| Complex::from_polar(2.0, -TAU * turns)).collect()
    }
}

#[cfg(test)]
mod tests;
