//! Colour Doppler from the phase between frames.

use std::f64::consts::PI;

use ndarray::{Array, ArrayRef, Axis, Dimension, RemoveAxis, Zip};
use num_complex::Complex;

use super::error::{SignalError, positive};
use super::sample::Real;

/// What turns a phase between two frames into a velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColorDoppler {
    /// Carrier of the IQ data.
    pub center_frequency_hz: f64,
    /// Frames a second.
    pub pulse_repetition_frequency_hz: f64,
    /// Speed of sound.
    pub sound_speed_m_s: f64,
}

impl ColorDoppler {
    /// The velocity at which the phase turns by half a turn from frame to frame, `v_N = c·PRF / (4·f_c)`: what is
    /// faster wraps around.
    pub fn nyquist_velocity_m_s(&self) -> f64 {
        self.sound_speed_m_s * self.pulse_repetition_frequency_hz / (4.0 * self.center_frequency_hz)
    }

    fn check(&self) -> Result<(), SignalError> {
        positive("the centre frequency in Hz", self.center_frequency_hz)?;
        positive(
            "the pulse repetition frequency in Hz",
            self.pulse_repetition_frequency_hz,
        )?;
        positive("the sound speed in m/s", self.sound_speed_m_s)
    }
}

/// Doppler velocity of every voxel in m/s, positive towards the probe, by the lag-one autocorrelation over all frames.
///
/// ```text
/// v = v_N/π · arg Σ_t IQ[t+1] · conj(IQ[t])
/// ```
///
/// for IQ data demodulated by `e^{−2πi·f_c·t}`: what comes nearer arrives earlier, and its phase grows. The result lies
/// within ±[`v_N`](ColorDoppler::nyquist_velocity_m_s).
///
/// | argument | shape | unit |
/// |---|---|---|
/// | `iq` | (frame, ..grid), at least 2 frames | any |
/// | result | (..grid) | m/s |
///
/// Sums are `f64` in the frames' order. A voxel without signal has velocity 0; one with a NaN is NaN.
///
/// # Errors
///
/// [`SignalError::OutOfRange`] for parameters that are not positive and finite, [`SignalError::TooFewFrames`].
///
/// Source: C. Kasai, K. Namekawa, A. Koyano, R. Omoto, "Real-time two-dimensional blood flow imaging using an
/// autocorrelation technique", IEEE Trans. Sonics Ultrason. 32(3), 458–464, 1985.
pub fn color_doppler<T, D>(
    iq: &ArrayRef<Complex<T>, D>,
    doppler: &ColorDoppler,
) -> Result<Array<T, D::Smaller>, SignalError>
where
    T: Real,
    D: RemoveAxis,
    D::Smaller: Dimension,
{
    doppler.check()?;
    if iq.shape().first().is_none_or(|&frames| frames < 2) {
        return Err(SignalError::TooFewFrames {
            got: iq.shape().to_vec(),
        });
    }
    let wide = |iq: Complex<T>| Complex::new(iq.re.to_f64(), iq.im.to_f64());
    let mut correlation = Array::from_elem(iq.index_axis(Axis(0), 0).raw_dim(), Complex::new(0.0, 0.0));
    for (now, next) in iq.outer_iter().zip(iq.outer_iter().skip(1)) {
        Zip::from(&mut correlation)
            .and(now)
            .and(next)
            .par_for_each(|sum, &now, &next| *sum += wide(next) * wide(now).conj());
    }
    let velocity_per_radian = doppler.nyquist_velocity_m_s() / PI;
    Ok(Zip::from(&correlation).par_map_collect(|sum| T::from_f64(velocity_per_radian * sum.arg())))
}

#[cfg(test)]
mod tests;
