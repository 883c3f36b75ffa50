//! The sample types a delay-and-sum takes, and what they are summed in.

use crate::device::Element;
use cuda_std::math::Real;
use half::f16;
use kernels::das::sample::Value;
use kernels::das::{batch, permute, voxel};
use num_complex::Complex;

mod sealed {
    pub trait Sealed {}
}

/// A device's sample type, with the kernels of every algorithm that takes it.
pub trait Kernels: voxel::Instances + batch::Instances + permute::Instances<Self> {}

impl<S: voxel::Instances + batch::Instances + permute::Instances<S>> Kernels for S {}

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

    /// A result from its parts; real ones have no imaginary part.
    #[doc(hidden)]
    fn sum(real: Self::Real, imaginary: Self::Real) -> Self::Sum;
}

macro_rules! sample {
    ($($stored:ty => $real:ty: $widen:expr;)*) => { $(
        impl sealed::Sealed for $stored {}
        impl Sample for $stored {
            type Sum = $real;
            type Real = $real;
            const PARTS: usize = 1;

            #[inline(always)]
            fn part(self, _part: usize) -> $real {
                $widen(self)
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

            #[inline(always)]
            fn sum(real: $real, imaginary: $real) -> Complex<$real> {
                Complex::new(real, imaginary)
            }
        }
    )* };
}

sample! {
    i16 => f32: f32::from;
    f16 => f32: f16::to_f32;
    f32 => f32: f32::from;
    f64 => f64: f64::from;
}
