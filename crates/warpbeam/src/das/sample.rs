//! The sample types a delay-and-sum takes, and what they are summed in.

use crate::device::Element;
use cuda_std::Kernel;
use cuda_std::half::F16;
use cuda_std::math::Real;
use half::f16;
use kernels::das::permute::{self, Permute};
use kernels::das::sample::Value;
use kernels::das::scale::power_of_two;
use kernels::das::{batch, voxel};
use num_complex::Complex;

mod sealed {
    pub trait Sealed {}
}

/// A device's sample type, with the kernels of every algorithm that takes it.
pub trait Kernels: voxel::Instances + batch::Instances + permute::Instances<Self> {
    /// What samples are stored as where they may be rounded to halves.
    type Half: batch::Instances<Value = Self::Value>;

    /// The permutation into that storage.
    fn permutation_to_half() -> Option<Kernel<Permute<Self, Self::Half>>>;
}

macro_rules! kernels {
    ($($stored:ty => $half:ty;)*) => { $(
        impl Kernels for $stored {
            type Half = $half;

            fn permutation_to_half() -> Option<Kernel<Permute<Self, $half>>> {
                <Self as permute::Instances<$half>>::kernel()
            }
        }

        impl Kernels for Complex<$stored> {
            type Half = Complex<$half>;

            fn permutation_to_half() -> Option<Kernel<Permute<Self, Complex<$half>>>> {
                <Self as permute::Instances<Complex<$half>>>::kernel()
            }
        }
    )* };
}

kernels! {
    i16 => i16;
    F16 => F16;
    f32 => F16;
    f64 => f64;
}

/// A sample type: `i16`, `f16`, `f32` or `f64`, real or complex.
///
/// Sums are `f32`, or `f64` for `f64`; complex for complex samples.
pub trait Sample: Element<Device: Kernels<Value = Self::Sum>> + sealed::Sealed {
    /// The type of the result.
    type Sum: Element<Device = Self::Sum> + Value<Real = Self::Real> + Default;

    /// The precision of geometry, weights and sums.
    #[doc(hidden)]
    type Real: Real + Element<Device = Self::Real> + Default;

    /// 1 for real, 2 for complex samples.
    #[doc(hidden)]
    const PARTS: usize;

    /// The real part (0) or the imaginary part (1).
    #[doc(hidden)]
    fn part(self, part: usize) -> Self::Real;

    /// The sample as `f16` holds it after a multiplication by a power of two, which is taken back.
    #[doc(hidden)]
    #[must_use]
    fn rounded_to_half(self, exponent: i32) -> Self;

    /// A result from its parts; real ones have no imaginary part.
    #[doc(hidden)]
    fn sum(real: Self::Real, imaginary: Self::Real) -> Self::Sum;
}

macro_rules! sample {
    ($($stored:ty => $real:ty: $widen:expr, $round:expr;)*) => { $(
        impl sealed::Sealed for $stored {}
        impl Sample for $stored {
            type Sum = $real;
            type Real = $real;
            const PARTS: usize = 1;

            #[inline(always)]
            fn part(self, _part: usize) -> $real {
                $widen(self)
            }

            fn rounded_to_half(self, exponent: i32) -> Self {
                let round: fn($stored, i32) -> $stored = $round;
                round(self, exponent)
            }

            #[inline(always)]
            fn sum(real: $real, _imaginary: $real) -> $real {
                real
            }
        }

        impl sealed::Sealed for Complex<$stored> {}
        impl Sample for Complex<$stored> {
            type Sum = Complex<$real>;
            type Real = $real;
            const PARTS: usize = 2;

            #[inline(always)]
            fn part(self, part: usize) -> $real {
                $widen(if part == 0 { self.re } else { self.im })
            }

            fn rounded_to_half(self, exponent: i32) -> Self {
                Complex::new(self.re.rounded_to_half(exponent), self.im.rounded_to_half(exponent))
            }

            #[inline(always)]
            fn sum(real: $real, imaginary: $real) -> Complex<$real> {
                Complex::new(real, imaginary)
            }
        }
    )* };
}

sample! {
    i16 => f32: f32::from, |sample, _| sample;
    f16 => f32: f16::to_f32, |sample, _| sample;
    f32 => f32: f32::from, |sample, exponent| {
        f16::from_f32(sample * power_of_two(exponent)).to_f32() * power_of_two(-exponent)
    };
    f64 => f64: f64::from, |sample, _| sample;
}
