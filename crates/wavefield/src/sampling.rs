//! From a delay to samples and weights.

use cuda_std::math::Real;

/// The sample index of an echo.
///
/// `(delay + pulse_centre − start_time) · f_s`: sample 0 was taken `start_time` after the transmit's t = 0, and the
/// centre of the pulse comes `pulse_centre` after the pulse's first moment.
#[inline(always)]
pub fn sample_index<R: Real>(delay_s: R, pulse_centre_s: R, start_time_s: R, sampling_frequency_hz: R) -> R {
    (delay_s + pulse_centre_s - start_time_s) * sampling_frequency_hz
}

/// Whether a delay in samples counts among `samples` samples: 0 ≤ d < K − 1.
///
/// Asked positively, so that NaN is not in range.
#[inline(always)]
pub fn in_range<R: Real>(delay: R, samples: i32) -> bool {
    delay >= R::ZERO && delay < R::from_i32(samples - 1)
}

/// The two neighbours of a delay in range: the first sample, and the weight of the second.
///
/// The second is the next sample; its weight is the delay's fraction, the first's is the rest to 1.
#[inline(always)]
pub fn linear<R: Real>(delay: R) -> (i32, R) {
    let first = delay.floor_i32();
    (first, delay - R::from_i32(first))
}

/// The sample nearest to a delay in range; the later one where two are equally near.
#[inline(always)]
pub fn nearest<R: Real>(delay: R) -> i32 {
    (delay + R::HALF).floor_i32()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_time_and_pulse_centre_shift_the_index() {
        // A point at 20 mm, 1540 m/s, 40 MHz, recorded from 2 µs on, pulse centre after 250 ns.
        let delay: f64 = 2.0 * 20e-3 / 1540.0;
        let index = sample_index(delay, 250e-9, 2e-6, 40e6);
        let depth = |index: f64| (index / 40e6 + 2e-6 - 250e-9) * 1540.0 / 2.0;
        assert!((depth(index) - 20e-3).abs() < 1e-12);
        assert!(sample_index(delay, 0.0, 2e-6, 40e6) < sample_index(delay, 0.0, 0.0, 40e6));
    }

    #[test]
    fn the_ends_of_a_recording() {
        let counts = |d: f64| in_range(d, 64);
        assert!(!counts(-1e-4) && counts(0.0) && counts(62.999));
        assert!(!counts(63.0) && !counts(63.0001) && !counts(f64::NAN) && !counts(f64::INFINITY));
        assert!(!in_range(0.0_f32, 1) && !in_range(0.0_f32, 0));
    }

    #[test]
    fn weights() {
        assert_eq!(linear(10.25_f32), (10, 0.25));
        assert_eq!(linear(10.0_f32), (10, 0.0));
        assert_eq!((nearest(10.49_f32), nearest(10.5_f32), nearest(62.5_f32)), (10, 11, 63));
    }
}
