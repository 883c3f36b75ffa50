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

/// How a value between two samples is found.
///
/// Samples before the first and after the last count as 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Interpolation {
    /// The nearer sample; the later one where both are equally near.
    Nearest,
    /// The straight line between the two neighbours.
    #[default]
    Linear,
    /// The parabola through the nearest sample and its two neighbours (Lagrange).
    Quadratic,
    /// The cubic convolution of four samples with a = −1/2 (R. G. Keys, IEEE Trans. Acoust. Speech Signal Process.
    /// 29(6), 1981): the Catmull-Rom spline.
    Cubic,
    /// Six samples weighted with `sinc x · sinc(x/3)`, `sinc x = sin πx / πx`, not normalised (C. E. Duchon, J. Appl.
    /// Meteorol. 18(8), 1979).
    Lanczos3,
}

/// The most samples that an interpolation takes.
pub const MOST_TAPS: usize = 6;

impl Interpolation {
    /// Samples that a value is made of.
    pub const fn taps(self) -> usize {
        match self {
            Self::Nearest => 1,
            Self::Linear => 2,
            Self::Quadratic => 3,
            Self::Cubic => 4,
            Self::Lanczos3 => 6,
        }
    }
}

/// The first of the samples that make the value at a delay in range, and the weight of each; those beyond the last are 0.
///
/// The first may lie up to two samples before the recording, the last up to two behind.
#[inline(always)]
pub fn taps<R: Real>(interpolation: Interpolation, delay: R) -> (i32, [R; MOST_TAPS]) {
    let zero = R::ZERO;
    match interpolation {
        Interpolation::Nearest => (nearest(delay), [R::ONE, zero, zero, zero, zero, zero]),
        Interpolation::Linear => {
            let (first, u) = linear(delay);
            (first, [R::ONE - u, u, zero, zero, zero, zero])
        }
        Interpolation::Quadratic => {
            let middle = nearest(delay);
            let u = delay - R::from_i32(middle);
            let (half, square) = (u * R::HALF, u * u);
            let before = square * R::HALF - half;
            (middle - 1, [before, R::ONE - square, before + u, zero, zero, zero])
        }
        Interpolation::Cubic => {
            let (here, u) = linear(delay);
            let v = R::ONE - u;
            // From either side: (1 − u) (1 + u − 3/2 u²) and −1/2 u (1 − u)².
            let near = |u: R, v: R| v * (R::ONE + u * (R::ONE - (R::ONE + R::HALF) * u));
            let far = |u: R, v: R| -R::HALF * u * v * v;
            (here - 1, [far(u, v), near(u, v), near(v, u), far(v, u), zero, zero])
        }
        Interpolation::Lanczos3 => {
            let (here, u) = linear(delay);
            (here - 2, lanczos3(u))
        }
    }
}

/// The six Lanczos weights for a fraction `u`, the third one at the sample before.
///
/// With `v = 1 − u`, every sine is one of `sin πu = sin πv`, `sin πu/3`, `sin πv/3` and `sin π(1+u)/3 = sin π(1+v)/3`, and
/// the zeros of the first are divided out by hand: no quotient of two small numbers is left.
#[inline(always)]
fn lanczos3<R: Real>(u: R) -> [R; MOST_TAPS] {
    let v = R::ONE - u;
    let third = R::ONE.divide(R::from_i32(3));
    let sinc_u = sinc(if u < R::HALF { u } else { v });
    let (third_u, third_v) = (sinc(u * third), sinc(v * third));
    // sin π(1+u)/3 = sin π(1+v)/3, from the angle that is at most a quarter turn.
    let half_turns = (R::ONE + if u < R::HALF { u } else { v }) * third;
    let middle = half_turns * sinc(half_turns);
    // sinc at u and at −v: sin πu / πu, where sin πu = π min(u, v) sinc(min).
    let (at_u, at_v) = if u < R::HALF {
        (sinc_u, u * sinc_u.divide(v))
    } else {
        (v * sinc_u.divide(u), sinc_u)
    };
    // sin πu over π, and the squares of the distances that are at least 1.
    let sine = (if u < R::HALF { u } else { v }) * sinc_u;
    let three = R::from_i32(3);
    let beyond = |distance: R, sine_of_third: R| three * sine * sine_of_third.divide(distance * distance);
    [
        beyond(R::ONE + R::ONE + u, v * third * third_v),
        -beyond(R::ONE + u, middle),
        at_u * third_u,
        at_v * third_v,
        -beyond(R::ONE + v, middle),
        beyond(R::ONE + R::ONE + v, u * third * third_u),
    ]
}

/// `sin πx / πx` for |x| ≤ 1/2, by its series.
#[inline(always)]
fn sinc<R: Real>(x: R) -> R {
    const TERMS: usize = 11;
    const SERIES: [f64; TERMS] = {
        let mut series = [1.0; TERMS];
        let square = core::f64::consts::PI * core::f64::consts::PI;
        let mut term = 1;
        while term < TERMS {
            series[term] = -series[term - 1] * square / ((2 * term * (2 * term + 1)) as f64);
            term += 1;
        }
        series
    };
    let square = x * x;
    let mut sum = R::from_f64(SERIES[TERMS - 1]);
    let mut term = TERMS - 1;
    while term > 0 {
        term -= 1;
        sum = sum.mul_add(square, R::from_f64(SERIES[term]));
    }
    sum
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

    #[test]
    fn taps_follow_their_definitions() {
        let sinc = |x: f64| {
            if x == 0.0 {
                1.0
            } else {
                (core::f64::consts::PI * x).sin() / (core::f64::consts::PI * x)
            }
        };
        let keys = |x: f64| match x.abs() {
            x if x < 1.0 => 1.5 * x.powi(3) - 2.5 * x.powi(2) + 1.0,
            x if x < 2.0 => -0.5 * x.powi(3) + 2.5 * x.powi(2) - 4.0 * x + 2.0,
            _ => 0.0,
        };
        let (mut worst_single, mut worst_double) = (0.0_f64, 0.0_f64);
        for step in 0..=4096 {
            let delay = 20.0 + f64::from(step) / 4096.0;
            for interpolation in [
                Interpolation::Nearest,
                Interpolation::Linear,
                Interpolation::Quadratic,
                Interpolation::Cubic,
                Interpolation::Lanczos3,
            ] {
                let exact = |sample: f64| {
                    let x = delay - sample;
                    match interpolation {
                        Interpolation::Nearest => f64::from(u8::from((-0.5..0.5).contains(&x))),
                        Interpolation::Linear => (1.0 - x.abs()).max(0.0),
                        Interpolation::Quadratic => match (delay + 0.5).floor() - sample {
                            0.0 => 1.0 - x * x,
                            // One sample before or behind the nearest one.
                            1.0 => (x - 1.0) * (x - 2.0) / 2.0,
                            -1.0 => (x + 1.0) * (x + 2.0) / 2.0,
                            _ => 0.0,
                        },
                        Interpolation::Cubic => keys(x),
                        Interpolation::Lanczos3 if x.abs() < 3.0 => sinc(x) * sinc(x / 3.0),
                        Interpolation::Lanczos3 => 0.0,
                    }
                };
                let (first, weights) = taps(interpolation, delay);
                let (first_single, weights_single) = taps(interpolation, delay as f32);
                for (tap, weight) in weights.iter().enumerate() {
                    let exact = if tap < interpolation.taps() {
                        exact(f64::from(first) + tap as f64)
                    } else {
                        0.0
                    };
                    worst_double = worst_double.max((weight - exact).abs());
                    if first == first_single {
                        worst_single = worst_single.max((f64::from(weights_single[tap]) - exact).abs());
                    }
                }
                assert!(first_single == first);
            }
        }
        println!("weights: {worst_single:.1e} of 5e-7 in single, {worst_double:.1e} of 1e-14 in double precision");
        assert!(worst_single < 5e-7 && worst_double < 1e-14);
    }
}
