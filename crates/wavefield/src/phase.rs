//! The carrier's phase: counted in turns, reduced before it becomes an angle.
//!
//! A phase of ten thousand radians keeps single precision's accuracy only if the whole turns go first. A delay of d
//! samples turns by `d · (high + low)` turns; the first product is reduced exactly with a fused multiply-add.

use cuda_std::math::Real;

/// Turns per sample, as a number and what rounding it took away.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct TurnsPerSample<R> {
    /// The nearest number.
    pub high: R,
    /// The rest.
    pub low: R,
}

impl<R: Real> TurnsPerSample<R> {
    /// From a phase per sample in radians: `2π f_demodulation / f_s` for standard demodulated data, 0 for RF.
    pub fn from_radians(radians_per_sample: f64) -> Self {
        let turns = radians_per_sample / core::f64::consts::TAU;
        let high = R::from_f64(turns);
        Self {
            high,
            low: R::from_f64(turns - high.to_f64()),
        }
    }

    /// The part of a turn at `distance`: between −1/2 and 1/2, but for the rounding of `low`.
    ///
    /// For products below 2²² (single) or 2⁵¹ (double precision) turns.
    #[inline(always)]
    pub fn fraction(self, distance: R) -> R {
        let whole = (distance * self.high).round_small();
        distance.mul_add(self.low, distance.mul_add(self.high, -whole))
    }

    /// Cosine and sine of the phase at `delay` samples, `offset_turns` added.
    #[inline(always)]
    pub fn cos_sin(self, delay: R, offset_turns: R) -> (R, R) {
        let whole = (delay * self.high).round_small();
        let fraction = delay.mul_add(self.high, -whole) + delay.mul_add(self.low, offset_turns);
        (fraction - fraction.round_small()).cos_sin_turn()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phase_undoes_standard_demodulation() {
        // x(t) = cos(ω (t − τ)) becomes e^{−iωτ} after mixing with e^{−iωt}: e^{+iωτ} makes it 1.
        let (omega_per_sample, delay) = (1.3_f64, 17.25_f64);
        let demodulated = (-omega_per_sample * delay).sin_cos();
        let (c, s) = TurnsPerSample::<f64>::from_radians(omega_per_sample).cos_sin(delay, 0.0);
        let product = (
            c * demodulated.1 - s * demodulated.0,
            c * demodulated.0 + s * demodulated.1,
        );
        assert!((product.0 - 1.0).abs() < 1e-14 && product.1.abs() < 1e-14);
    }

    #[test]
    fn carriers_up_to_eight_thousand_turns() {
        let mut worst = 0.0_f64;
        for frequency_hz in [1e6, 8e6, 20e6] {
            for delay_s in [1e-6, 10e-6, 100e-6, 400e-6] {
                let sampling_frequency_hz = 40e6;
                let delay = (delay_s * sampling_frequency_hz) as f32;
                let radians = core::f64::consts::TAU * frequency_hz / sampling_frequency_hz;
                let (c, s) = TurnsPerSample::<f32>::from_radians(radians).cos_sin(delay, 0.0);
                let exact = (radians * f64::from(delay)).sin_cos();
                worst = worst.max((f64::from(c) - exact.1).hypot(f64::from(s) - exact.0));
            }
        }
        println!("phase error {worst:.2e} of 1e-5 rad beyond the delay's own rounding");
        assert!(worst < 1e-5);
    }

    #[test]
    fn an_offset_is_a_part_of_a_turn() {
        let (c, s) = TurnsPerSample::<f32>::from_radians(0.0).cos_sin(100.0, 0.25);
        assert!(c.abs() < 1e-6 && (s - 1.0).abs() < 1e-6);
    }
}
