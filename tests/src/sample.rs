//! What a test needs to know of a sample type.

use fastrand::Rng;
use half::f16;
use num_complex::{Complex, Complex64};
use warpbeam::Sample;

/// The precision in which the library gets the geometry of a sample type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// f32: integer, half and single samples.
    Single,
    /// f64: double samples.
    Double,
}

impl Precision {
    /// The nearest number of this precision.
    pub fn round(self, value: f64) -> f64 {
        match self {
            Self::Single => f64::from(value as f32),
            Self::Double => value,
        }
    }

    /// Half the distance from 1 to the next number.
    pub fn unit_roundoff(self) -> f64 {
        match self {
            Self::Single => 2.0_f64.powi(-24),
            Self::Double => 2.0_f64.powi(-53),
        }
    }
}

/// A sample type under test.
pub trait TestSample: Sample<Sum: std::fmt::Debug> + std::fmt::Debug {
    /// Its name in reports.
    const NAME: &'static str;
    /// The precision of its geometry.
    const PRECISION: Precision;
    /// Whether it has a phase.
    const IS_COMPLEX: bool;

    /// Uniformly random: the whole range of an integer, ±1 of a float.
    fn random(rng: &mut Rng) -> Self;
    /// The nearest sample; a real one drops the imaginary part.
    fn nearest(value: Complex64) -> Self;
    /// The sample's exact value.
    fn value(self) -> Complex64;
    /// Not a number, where the type has one.
    fn nan() -> Option<Self>;
    /// A sum's exact value.
    fn sum_value(sum: Self::Sum) -> Complex64;
    /// The sum nearest to a real number, NaN included.
    fn sum_from(value: f64) -> Self::Sum;
}

/// Whether a sample's parts are halves.
pub fn is_half<T: TestSample>() -> bool {
    T::IS_FLOATING && size_of::<T>() == 2 * T::PARTS
}

/// The part of a complex sample, or a real sample.
trait Part: Copy {
    fn random_part(rng: &mut Rng) -> Self;
    fn nearest_part(value: f64) -> Self;
    fn part_value(self) -> f64;
    fn nan_part() -> Option<Self>;
}

impl Part for i16 {
    fn random_part(rng: &mut Rng) -> Self {
        rng.i16(..)
    }
    fn nearest_part(value: f64) -> Self {
        value.round() as Self
    }
    fn part_value(self) -> f64 {
        f64::from(self)
    }
    fn nan_part() -> Option<Self> {
        None
    }
}

macro_rules! float_part {
    ($float:ty, $from_f64:expr, $nan:expr) => {
        impl Part for $float {
            fn random_part(rng: &mut Rng) -> Self {
                $from_f64(rng.f64() * 2.0 - 1.0)
            }
            fn nearest_part(value: f64) -> Self {
                $from_f64(value)
            }
            fn part_value(self) -> f64 {
                f64::from(self)
            }
            fn nan_part() -> Option<Self> {
                Some($nan)
            }
        }
    };
}

float_part!(f16, f16::from_f64, f16::NAN);
float_part!(f32, |value: f64| value as f32, f32::NAN);
float_part!(f64, |value: f64| value, f64::NAN);

macro_rules! test_samples {
    ($($part:ty, $sum:ty, $name:literal, $precision:ident;)*) => { $(
        impl TestSample for $part {
            const NAME: &'static str = $name;
            const PRECISION: Precision = Precision::$precision;
            const IS_COMPLEX: bool = false;

            fn random(rng: &mut Rng) -> Self {
                Self::random_part(rng)
            }
            fn nearest(value: Complex64) -> Self {
                Self::nearest_part(value.re)
            }
            fn value(self) -> Complex64 {
                Complex64::new(self.part_value(), 0.0)
            }
            fn nan() -> Option<Self> {
                Self::nan_part()
            }
            fn sum_value(sum: $sum) -> Complex64 {
                Complex64::new(f64::from(sum), 0.0)
            }
            fn sum_from(value: f64) -> $sum {
                value as $sum
            }
        }

        impl TestSample for Complex<$part> {
            const NAME: &'static str = concat!("complex ", $name);
            const PRECISION: Precision = Precision::$precision;
            const IS_COMPLEX: bool = true;

            fn random(rng: &mut Rng) -> Self {
                Complex::new(<$part>::random_part(rng), <$part>::random_part(rng))
            }
            fn nearest(value: Complex64) -> Self {
                Complex::new(<$part>::nearest_part(value.re), <$part>::nearest_part(value.im))
            }
            fn value(self) -> Complex64 {
                Complex64::new(self.re.part_value(), self.im.part_value())
            }
            fn nan() -> Option<Self> {
                Some(Complex::new(<$part>::nan_part()?, <$part>::nan_part()?))
            }
            fn sum_value(sum: Complex<$sum>) -> Complex64 {
                Complex64::new(f64::from(sum.re), f64::from(sum.im))
            }
            fn sum_from(value: f64) -> Complex<$sum> {
                Complex::new(value as $sum, value as $sum)
            }
        }
    )* };
}

test_samples! {
    i16, f32, "i16", Single;
    f16, f32, "f16", Single;
    f32, f32, "f32", Single;
    f64, f64, "f64", Double;
}
