//! The sample types a delay-and-sum takes, and what they are summed in.

use crate::device::Element;
use cuda_std::Kernel;
use cuda_std::half::F16;
use half::f16;
use kernels::das::distinct::{self, Variant};
use kernels::das::geometry::Geometry;
use kernels::das::output::Output;
use kernels::das::permute::{self, Permute};
use kernels::das::permute_columns::{self, PermuteColumns};
use kernels::das::permute_rows::{self, PermuteRows};
use kernels::das::sample::{RealOf, Sample as DeviceSample, Value};
use kernels::das::scale::power_of_two;
use kernels::das::{batch, curve, voxel, window};
use num_complex::Complex;

mod sealed {
    pub trait Sealed {}
}

/// Geometry and output for kernels with matrix instructions.
pub(super) type MatrixBlocks<S> = (Geometry<f32>, Output<<<S as Kernels>::Halves as DeviceSample>::Value>);

/// A device's sample type, with the kernels of every algorithm that takes it.
pub trait Kernels: voxel::Instances + batch::Instances + permute::Instances<Self> {
    /// What samples are stored as where they may be rounded to halves.
    type Half: batch::Instances<Value = Self::Value>;

    /// What matrix instructions take of samples: halves, and numbers split into two.
    type Halves: distinct::Instances + window::Instances + permute_rows::InRows;
    /// As above.
    type Split: distinct::Instances<Value = <Self::Halves as DeviceSample>::Value> + window::Instances;

    /// The permutation into halves.
    fn permutation_to_half() -> Option<Kernel<Permute<Self, Self::Half>>>;

    /// Geometry and output as kernels with matrix instructions take them; there are none for double precision.
    fn matrix_blocks(geometry: Geometry<RealOf<Self>>, output: Output<Self::Value>) -> Option<MatrixBlocks<Self>>;

    /// The permutation into halves for matrix instructions.
    fn permutation_to_halves() -> Option<Kernel<Permute<Self, Self::Halves>>>;

    /// The permutation into rows, of one plane of halves or two.
    fn permutation_to_rows() -> Option<Kernel<PermuteRows<Self>>>;

    /// The permutation into columns of halves, for complex samples.
    fn permutation_to_columns() -> Option<Kernel<PermuteColumns<Self>>>;

    /// Matrix products in TF32.
    fn tf32(taps: voxel::Taps) -> Option<Variant<Self>>;
}

macro_rules! kernels {
    ($($stored:ty: $value:ty => half $half:ty, halves $halves:ty, columns $columns:expr, tf32 $tf32:expr;)*) => { $(
        impl Kernels for $stored {
            type Half = $half;
            type Halves = $halves;
            type Split = distinct::Split<Self::Halves>;

            fn permutation_to_half() -> Option<Kernel<Permute<Self, $half>>> {
                <Self as permute::Instances<$half>>::kernel()
            }

            fn matrix_blocks(
                geometry: Geometry<f32>,
                output: Output<$value>,
            ) -> Option<(Geometry<f32>, Output<$value>)> {
                Some((geometry, output))
            }

            fn permutation_to_halves() -> Option<Kernel<Permute<Self, Self::Halves>>> {
                <Self as permute::Instances<Self::Halves>>::kernel()
            }

            fn permutation_to_rows() -> Option<Kernel<PermuteRows<Self>>> {
                Some(<Self as permute_rows::Instances<Self::Halves>>::kernel())
            }

            fn permutation_to_columns() -> Option<Kernel<PermuteColumns<Self>>> {
                $columns
            }

            fn tf32(taps: voxel::Taps) -> Option<Variant<Self>> {
                let tf32: fn(voxel::Taps) -> Option<Variant<Self>> = $tf32;
                tf32(taps)
            }
        }
    )* };
}

fn tf32_variant<S: distinct::Instances>(taps: voxel::Taps) -> Option<Variant<S>> {
    S::variant(distinct::Instructions::Mma, taps, distinct::Tile::Narrow)
}

fn columns<S: permute_columns::Instances>() -> Kernel<PermuteColumns<S>> {
    S::kernel()
}

kernels! {
    i16: f32 => half i16, halves F16, columns None, tf32 |_| None;
    F16: f32 => half F16, halves F16, columns None, tf32 |_| None;
    f32: f32 => half F16, halves F16, columns None, tf32 tf32_variant;
    Complex<i16>: Complex<f32> => half Complex<i16>, halves Complex<F16>, columns Some(columns()), tf32 |_| None;
    Complex<F16>: Complex<f32> => half Complex<F16>, halves Complex<F16>, columns Some(columns()), tf32 |_| None;
    Complex<f32>: Complex<f32> => half Complex<F16>, halves Complex<F16>, columns Some(columns()), tf32 tf32_variant;
}

macro_rules! kernels_of_double {
    ($($stored:ty => $halves:ty;)*) => { $(
        impl Kernels for $stored {
            type Half = Self;
            type Halves = $halves;
            type Split = distinct::Split<$halves>;

            fn permutation_to_half() -> Option<Kernel<Permute<Self, Self>>> {
                None
            }

            fn matrix_blocks(
                _: Geometry<f64>,
                _: Output<Self>,
            ) -> Option<(Geometry<f32>, Output<<$halves as DeviceSample>::Value>)> {
                None
            }

            fn permutation_to_halves() -> Option<Kernel<Permute<Self, $halves>>> {
                None
            }

            fn permutation_to_rows() -> Option<Kernel<PermuteRows<Self>>> {
                None
            }

            fn permutation_to_columns() -> Option<Kernel<PermuteColumns<Self>>> {
                None
            }

            fn tf32(_: voxel::Taps) -> Option<Variant<Self>> {
                None
            }
        }
    )* };
}

kernels_of_double! {
    f64 => F16;
    Complex<f64> => Complex<F16>;
}

/// A sample type: `i16`, `f16`, `f32` or `f64`, real or complex.
///
/// Sums are `f32`, or `f64` for `f64`; complex for complex samples.
pub trait Sample: Element<Device: Kernels<Value = Self::Sum>> + sealed::Sealed {
    /// The type of the result.
    type Sum: Element<Device = Self::Sum> + Value<Real = Self::Real> + Default;

    /// The precision of geometry, weights and sums.
    #[doc(hidden)]
    type Real: curve::Instance + Element<Device = Self::Real> + Default;

    /// 1 for real, 2 for complex samples.
    #[doc(hidden)]
    const PARTS: usize;

    /// Whether samples can be something that is not finite.
    #[doc(hidden)]
    const IS_FLOATING: bool;

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
    ($($stored:ty => $real:ty, floating $is_floating:literal: $widen:expr, $round:expr;)*) => { $(
        impl sealed::Sealed for $stored {}
        impl Sample for $stored {
            type Sum = $real;
            type Real = $real;
            const PARTS: usize = 1;
            const IS_FLOATING: bool = $is_floating;

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
            const IS_FLOATING: bool = $is_floating;

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
    i16 => f32, floating false: f32::from, |sample, _| sample;
    f16 => f32, floating true: f16::to_f32, |sample, _| sample;
    f32 => f32, floating true: f32::from, |sample, exponent| {
        f16::from_f32(sample * power_of_two(exponent)).to_f32() * power_of_two(-exponent)
    };
    f64 => f64, floating true: f64::from, |sample, _| sample;
}
