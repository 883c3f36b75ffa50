//! Fast math in single and double precision, the same functions on both backends.
//!
//! Nothing is contracted: a fused multiply-add is written as one. On the device the single-precision root and circle
//! functions use the special-function unit; their errors are stated where they are larger than a rounding.

use crate::{Element, backend};
use core::ops::{Add, AddAssign, Mul, Neg, Sub};

/// A floating-point number that kernels compute with.
pub trait Real:
    Element + PartialOrd + Add<Output = Self> + AddAssign + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// 1/2.
    const HALF: Self;

    /// The nearest number.
    fn from_f64(value: f64) -> Self;

    /// The number, exactly.
    fn to_f64(self) -> f64;

    /// The nearest number.
    fn from_i32(value: i32) -> Self;

    /// `self * factor + summand`, rounded once.
    #[must_use]
    fn mul_add(self, factor: Self, summand: Self) -> Self;

    /// The absolute value.
    #[must_use]
    fn abs(self) -> Self;

    /// The square root of a number from 0 on; 0 for 0. Within one unit in the last place.
    #[must_use]
    fn sqrt(self) -> Self;

    /// The square root of a positive number that is not subnormal, and its reciprocal, which is within two units in the last
    /// place.
    #[must_use]
    fn root_and_inverse(self) -> (Self, Self);

    /// The quotient, within two units in the last place.
    #[must_use]
    fn divide(self, divisor: Self) -> Self;

    /// The largest integer that is not above `self`.
    ///
    /// The result is right where it fits into an `i32`; elsewhere it is some `i32`.
    fn floor_i32(self) -> i32;

    /// The nearest integer, ties to even, for magnitudes below 2²² (single) or 2⁵¹ (double precision).
    #[must_use]
    fn round_small(self) -> Self;

    /// Cosine and sine of `2π · self`, for `self` within ±1/2.
    ///
    /// Absolute error below 1e-6 in single and 4e-16 in double precision.
    fn cos_sin_turn(self) -> (Self, Self);

    /// `self` to the power of `exponent`, for `self` above 0 up to 1 and an exponent from 0 on.
    ///
    /// Relative error below (1 + exponent · |log₂ self|) · 5e-7 in single and 5e-16 in double precision.
    #[must_use]
    fn power(self, exponent: Self) -> Self;
}

/// A 16-bit sample in single precision, exactly.
///
/// Through the significand of 2²³ + 2¹⁵, in a logical operation and an addition: on an H200 that was measured to be
/// faster than the conversion instruction.
#[inline(always)]
pub fn i16_to_f32(value: i16) -> f32 {
    f32::from_bits(0x4b00_0000 | u32::from(value.cast_unsigned() ^ 0x8000)) - 8_421_376.0
}

/// The values of the two 16-bit samples in a word, the lower first, as [`i16_to_f32`].
#[inline(always)]
pub fn i16_pair_to_f32(word: u32) -> [f32; 2] {
    backend::split_halves(word ^ 0x8000_8000, 0x4b00).map(|bits| f32::from_bits(bits) - 8_421_376.0)
}

/// `max(0, 1 − |value|)`: the weight of a sample at this distance from a point between samples; 0 for NaN.
#[inline(always)]
pub fn hat(value: f32) -> f32 {
    backend::hat(value)
}

/// Four of the bytes of two words: the selector's nibbles, from the lowest on, name those of the result, 0 to 3 for the bytes of
/// `low`, 4 to 7 for those of `high`.
#[inline(always)]
pub fn permute_bytes(low: u32, high: u32, selector: u32) -> u32 {
    backend::permute_bytes(low, high, selector)
}

/// Coefficients in t² of the series of `cos 2πt` (`odd` 0) or of `sin 2πt / t` (`odd` 1).
const fn series<const TERMS: usize>(odd: usize) -> [f64; TERMS] {
    let turn = core::f64::consts::TAU;
    let mut coefficients = [0.0; TERMS];
    let mut coefficient = if odd == 0 { 1.0 } else { turn };
    let mut term = 0;
    while term < TERMS {
        coefficients[term] = coefficient;
        let power = 2 * term + odd;
        coefficient = -coefficient * turn * turn / (((power + 1) * (power + 2)) as f64);
        term += 1;
    }
    coefficients
}

/// As [`series`], rounded to single precision.
#[cfg(not(target_arch = "nvptx64"))]
const fn series_f32<const TERMS: usize>(odd: usize) -> [f32; TERMS] {
    let exact = series::<TERMS>(odd);
    let mut rounded = [0.0; TERMS];
    let mut term = 0;
    while term < TERMS {
        rounded[term] = exact[term] as f32;
        term += 1;
    }
    rounded
}

/// Cosine and sine of a turn by the series about the nearest quarter turn.
#[inline(always)]
fn cos_sin_by_series<R: Real, const TERMS: usize>(
    turn: R,
    cosine_series: &[R; TERMS],
    sine_series: &[R; TERMS],
) -> (R, R) {
    let four = R::from_i32(4);
    let quarters = (four * turn).round_small();
    // Exact: a quarter of a turn is a power of two.
    let rest = turn - quarters * (R::HALF * R::HALF);
    let square = rest * rest;
    let mut cosine = cosine_series[TERMS - 1];
    let mut sine = sine_series[TERMS - 1];
    let mut term = TERMS - 1;
    while term > 0 {
        term -= 1;
        cosine = cosine.mul_add(square, cosine_series[term]);
        sine = sine.mul_add(square, sine_series[term]);
    }
    let sine = sine * rest;
    let quarters = quarters.floor_i32();
    let (c, s) = if quarters & 1 == 0 {
        (cosine, sine)
    } else {
        (sine, cosine)
    };
    (
        if (quarters + 1) & 2 == 0 { c } else { -c },
        if quarters & 2 == 0 { s } else { -s },
    )
}

macro_rules! real {
    ($type:ident, $round:literal, $cos_sin:ident, $power:ident) => {
        impl Real for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const HALF: Self = 0.5;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            #[allow(clippy::cast_lossless, reason = "written once for both precisions")]
            fn from_i32(value: i32) -> Self {
                value as Self
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, summand: Self) -> Self {
                backend::$type::mul_add(self, factor, summand)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $type::abs(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                backend::$type::sqrt(self)
            }
            #[inline(always)]
            fn root_and_inverse(self) -> (Self, Self) {
                backend::$type::root_and_inverse(self)
            }
            #[inline(always)]
            fn divide(self, divisor: Self) -> Self {
                backend::$type::divide(self, divisor)
            }
            #[inline(always)]
            fn floor_i32(self) -> i32 {
                backend::$type::floor_i32(self)
            }
            #[inline(always)]
            fn round_small(self) -> Self {
                // Pushes the fraction out of the significand; costs two additions on any machine.
                (self + $round) - $round
            }
            #[inline(always)]
            fn cos_sin_turn(self) -> (Self, Self) {
                $cos_sin(self)
            }
            #[inline(always)]
            fn power(self, exponent: Self) -> Self {
                $power(self, exponent)
            }
        }
    };
}

real!(f32, 12_582_912.0, cos_sin_turn_f32, power_f32);
real!(f64, 6_755_399_441_055_744.0, cos_sin_turn_f64, power_f64);

#[inline(always)]
fn power_f32(base: f32, exponent: f32) -> f32 {
    #[cfg(target_arch = "nvptx64")]
    return backend::f32::power(base, exponent);
    #[cfg(not(target_arch = "nvptx64"))]
    base.powf(exponent)
}

/// Through the series of the logarithm about 1 and of the exponential about 0.
#[inline(always)]
fn power_f64(base: f64, exponent: f64) -> f64 {
    const LOGARITHM: [f64; 12] = {
        let mut series = [0.0; 12];
        let mut term = 0;
        while term < 12 {
            series[term] = 2.0 * core::f64::consts::LOG2_E / ((2 * term + 1) as f64);
            term += 1;
        }
        series
    };
    const EXPONENTIAL: [f64; 15] = {
        let mut series = [1.0; 15];
        let mut term = 1;
        while term < 15 {
            series[term] = series[term - 1] * core::f64::consts::LN_2 / (term as f64);
            term += 1;
        }
        series
    };
    // A power of two times a number between √½ and √2.
    let bits = base.to_bits();
    let above_root_of_half = (bits >> 52) as i32 - 1023 + i32::from(bits & 0xf_ffff_ffff_ffff > 0x6_a09e_667f_3bcd);
    let significand = f64::from_bits(bits.wrapping_sub((above_root_of_half as u64) << 52));
    let ratio = (significand - 1.0) / (significand + 1.0);
    let logarithm = f64::from(above_root_of_half) + ratio * horner(&LOGARITHM, ratio * ratio);
    let power = exponent * logarithm;
    let whole = power.round_small();
    let result = horner(&EXPONENTIAL, power - whole);
    // Below the normal numbers nothing is left of a weight.
    if whole < -1022.0 {
        0.0
    } else {
        result * f64::from_bits(((whole as i64 + 1023) as u64) << 52)
    }
}

#[inline(always)]
fn horner<const TERMS: usize>(series: &[f64; TERMS], at: f64) -> f64 {
    let mut sum = series[TERMS - 1];
    let mut term = TERMS - 1;
    while term > 0 {
        term -= 1;
        sum = sum.mul_add(at, series[term]);
    }
    sum
}

#[inline(always)]
fn cos_sin_turn_f32(turn: f32) -> (f32, f32) {
    #[cfg(target_arch = "nvptx64")]
    return backend::f32::cos_sin(turn * core::f32::consts::TAU);
    #[cfg(not(target_arch = "nvptx64"))]
    {
        const COSINE: [f32; 6] = series_f32(0);
        const SINE: [f32; 6] = series_f32(1);
        cos_sin_by_series(turn, &COSINE, &SINE)
    }
}

#[inline(always)]
fn cos_sin_turn_f64(turn: f64) -> (f64, f64) {
    const COSINE: [f64; 10] = series(0);
    const SINE: [f64; 10] = series(1);
    cos_sin_by_series(turn, &COSINE, &SINE)
}

#[cfg(test)]
mod tests {
    use super::{Real, hat, i16_pair_to_f32, i16_to_f32, permute_bytes};

    #[test]
    #[allow(clippy::float_cmp, reason = "whole numbers")]
    fn sixteen_bit_samples_alone_and_in_pairs() {
        for low in (i16::MIN..=i16::MAX).step_by(7) {
            let high = low.wrapping_mul(31);
            let word = u32::from(low.cast_unsigned()) | u32::from(high.cast_unsigned()) << 16;
            assert_eq!(i16_to_f32(low), f32::from(low));
            assert_eq!(i16_pair_to_f32(word), [f32::from(low), f32::from(high)]);
        }
    }

    #[test]
    fn bytes_are_permuted() {
        let (low, high) = (0x8321_00ff, 0x7654_3210);
        for (selector, expected) in [
            (0x3210, low),
            (0x7654, high),
            (0x1044, 0x00ff_1010),
            (0x4432, 0x1010_8321),
            // Of the selector 16 bits count.
            (0x0007_0123, 0xff00_2183),
            // A nibble from 8 on repeats the sign of its byte.
            (0xba98, 0xff00_00ff),
        ] {
            assert_eq!(permute_bytes(low, high, selector), expected, "{selector:x}");
        }
    }

    #[test]
    #[allow(clippy::float_cmp, reason = "exact numbers")]
    fn hats() {
        for (value, expected) in [
            (0.0, 1.0),
            (-0.25, 0.75),
            (0.75, 0.25),
            (1.0, 0.0),
            (-7.0, 0.0),
            (1e30, 0.0),
        ] {
            assert_eq!(hat(value), expected);
        }
        assert_eq!((hat(f32::NAN), hat(f32::INFINITY)), (0.0, 0.0));
    }

    #[test]
    fn circle_functions_over_a_turn() {
        let (mut worst_single, mut worst_double) = (0.0_f64, 0.0_f64);
        for step in -500_000_i32..=500_000 {
            let turn = f64::from(step) / 1e6;
            let (c, s) = turn.cos_sin_turn();
            let exact = (turn * core::f64::consts::TAU).sin_cos();
            worst_double = worst_double.max((c - exact.1).abs()).max((s - exact.0).abs());
            let single = turn as f32;
            let (c, s) = single.cos_sin_turn();
            let exact = (f64::from(single) * core::f64::consts::TAU).sin_cos();
            worst_single = worst_single
                .max((f64::from(c) - exact.1).abs())
                .max((f64::from(s) - exact.0).abs());
        }
        println!("single {worst_single:.2e} of 1e-6, double {worst_double:.2e} of 1e-15");
        assert!(worst_single < 1e-6 && worst_double < 1e-15);
    }

    #[test]
    fn powers_of_cosines() {
        let (mut worst_single, mut worst_double) = (0.0_f64, 0.0_f64);
        for step in 1..=20_000_i32 {
            let base = f64::from(step) / 20_000.0;
            for exponent in [0.0, 0.5, 1.0, 1.7, 3.0, 12.0, 80.0] {
                let error = |power: f64, base: f64| {
                    let exact = base.powf(exponent);
                    let scale = 1.0 + exponent * base.log2().abs();
                    if exact < 1e-30 {
                        0.0
                    } else {
                        (power / exact - 1.0).abs() / scale
                    }
                };
                worst_double = worst_double.max(error(base.power(exponent), base));
                let single = base as f32;
                worst_single = worst_single.max(error(f64::from(single.power(exponent as f32)), f64::from(single)));
            }
        }
        println!("single {worst_single:.1e} of 5e-7, double {worst_double:.1e} of 5e-16");
        assert!(worst_single < 5e-7 && worst_double < 5e-16);
    }

    #[test]
    #[allow(clippy::float_cmp, reason = "whole numbers")]
    fn rounding_and_floor() {
        for value in [-2.5_f32, -2.0, -0.75, -0.5, 0.0, 0.49, 0.5, 1.5, 1023.999, 4_000_000.5] {
            assert_eq!(value.round_small(), value.round_ties_even());
            assert_eq!(value.floor_i32(), value.floor() as i32);
        }
        for value in [-2.5_f64, -0.5, 0.5, 1.5, 1e9 + 0.5] {
            assert_eq!(value.round_small(), value.round_ties_even());
            assert_eq!(value.floor_i32(), value.floor() as i32);
        }
    }
}
