//! The types of samples and sums.

use cuda_std::Element;
use cuda_std::half::F16;
use cuda_std::math::{Real, i16_to_f32};
use num_complex::Complex;
use wavefield::phase::TurnsPerSample;

/// What samples become before they are summed: a real or a complex number.
pub trait Value: Element {
    /// The precision.
    type Real: Real;

    /// 0.
    const ZERO: Self;

    /// The weight of a sample: its amplitude, turned by the carrier's phase where samples are complex.
    fn weight(
        amplitude: Self::Real,
        delay: Self::Real,
        turns: TurnsPerSample<Self::Real>,
        offset_turns: Self::Real,
    ) -> Self;

    /// `self + (next − self) · fraction`.
    #[must_use]
    fn interpolate(self, next: Self, fraction: Self::Real) -> Self;

    /// `self + weight · value`.
    #[must_use]
    fn accumulate(self, weight: Self, value: Self) -> Self;

    /// `self · factor`.
    #[must_use]
    fn scale(self, factor: Self::Real) -> Self;

    /// `self · factor + summand`.
    #[must_use]
    fn scale_add(self, factor: Self::Real, summand: Self) -> Self;
}

macro_rules! value {
    ($real:ty) => {
        impl Value for $real {
            type Real = $real;
            const ZERO: Self = 0.0;

            #[inline(always)]
            fn weight(amplitude: $real, _delay: $real, _turns: TurnsPerSample<$real>, _offset_turns: $real) -> $real {
                amplitude
            }

            #[inline(always)]
            fn interpolate(self, next: Self, fraction: $real) -> Self {
                Real::mul_add(next - self, fraction, self)
            }

            #[inline(always)]
            fn accumulate(self, weight: Self, value: Self) -> Self {
                Real::mul_add(weight, value, self)
            }

            #[inline(always)]
            fn scale(self, factor: $real) -> Self {
                self * factor
            }

            #[inline(always)]
            fn scale_add(self, factor: $real, summand: Self) -> Self {
                Real::mul_add(self, factor, summand)
            }
        }

        impl Value for Complex<$real> {
            type Real = $real;
            const ZERO: Self = Complex::new(0.0, 0.0);

            #[inline(always)]
            fn weight(amplitude: $real, delay: $real, turns: TurnsPerSample<$real>, offset_turns: $real) -> Self {
                let (cosine, sine) = turns.cos_sin(delay, offset_turns);
                Complex::new(amplitude * cosine, amplitude * sine)
            }

            #[inline(always)]
            fn interpolate(self, next: Self, fraction: $real) -> Self {
                Complex::new(
                    self.re.interpolate(next.re, fraction),
                    self.im.interpolate(next.im, fraction),
                )
            }

            #[inline(always)]
            fn accumulate(self, weight: Self, value: Self) -> Self {
                // Written out: the library's product and sum would not fuse.
                Complex::new(
                    Real::mul_add(-weight.im, value.im, Real::mul_add(weight.re, value.re, self.re)),
                    Real::mul_add(weight.im, value.re, Real::mul_add(weight.re, value.im, self.im)),
                )
            }

            #[inline(always)]
            fn scale(self, factor: $real) -> Self {
                Complex::new(self.re * factor, self.im * factor)
            }

            #[inline(always)]
            fn scale_add(self, factor: $real, summand: Self) -> Self {
                Complex::new(
                    Real::mul_add(self.re, factor, summand.re),
                    Real::mul_add(self.im, factor, summand.im),
                )
            }
        }
    };
}

value!(f32);
value!(f64);

/// A sample as it is stored.
pub trait Sample: Element {
    /// What it becomes.
    type Value: Value;

    /// 0.
    const ZERO: Self;

    /// Its value, exactly.
    fn widen(self) -> Self::Value;
}

macro_rules! sample {
    ($($stored:ty => $value:ty: $zero:expr, $widen:expr;)*) => { $(
        impl Sample for $stored {
            type Value = $value;
            const ZERO: Self = $zero;

            #[inline(always)]
            fn widen(self) -> $value {
                let widen: fn($stored) -> $value = $widen;
                widen(self)
            }
        }

        impl Sample for Complex<$stored> {
            type Value = Complex<$value>;
            const ZERO: Self = Complex::new($zero, $zero);

            #[inline(always)]
            fn widen(self) -> Complex<$value> {
                Complex::new(self.re.widen(), self.im.widen())
            }
        }
    )* };
}

sample! {
    i16 => f32: 0, i16_to_f32;
    F16 => f32: F16(0), F16::to_f32;
    f32 => f32: 0.0, |sample| sample;
    f64 => f64: 0.0, |sample| sample;
}

/// The precision a sample is computed in.
pub type RealOf<S> = <<S as Sample>::Value as Value>::Real;
