//! Numbers of every type, with sums that the library has no part in.

use half::f16;
use num_complex::Complex;
use warpbeam::Element;
use warpbeam::ops::Summand;

/// A type of numbers.
pub(crate) trait Value: Element + Summand + PartialEq + std::fmt::Debug {
    /// A number whose sums with some hundred others are exact in floating point, or wrap as integers.
    fn random(rng: &mut fastrand::Rng) -> Self;

    /// The exact sum, as the type holds it.
    fn sum(numbers: &[Self]) -> Self;

    /// What no copy makes.
    fn stale() -> Self;
}

macro_rules! integers {
    ($($type:ty),*) => { $(
        impl Value for $type {
            fn random(rng: &mut fastrand::Rng) -> Self {
                rng.i64(..) as $type
            }

            fn sum(numbers: &[Self]) -> Self {
                numbers.iter().map(|&number| i64::from(number)).sum::<i64>() as $type
            }

            fn stale() -> Self {
                0x55
            }
        }
    )* };
}

macro_rules! floats {
    ($($type:ty: $from:expr, $to:expr;)*) => { $(
        impl Value for $type {
            fn random(rng: &mut fastrand::Rng) -> Self {
                $from(f64::from(rng.i8(-8..=8)) * 0.25)
            }

            fn sum(numbers: &[Self]) -> Self {
                $from(numbers.iter().map(|&number| $to(number)).sum::<f64>())
            }

            fn stale() -> Self {
                $from(f64::NAN)
            }
        }
    )* };
}

integers!(i16, i32);
floats! {
    f16: f16::from_f64, f16::to_f64;
    f32: |value: f64| value as f32, f64::from;
    f64: |value: f64| value, |value: f64| value;
}

impl<T: Value> Value for Complex<T>
where
    Self: Element + Summand + PartialEq,
{
    fn random(rng: &mut fastrand::Rng) -> Self {
        Self::new(T::random(rng), T::random(rng))
    }

    fn sum(numbers: &[Self]) -> Self {
        let part = |of: fn(&Self) -> T| T::sum(&numbers.iter().map(of).collect::<Vec<_>>());
        Self::new(part(|number| number.re), part(|number| number.im))
    }

    fn stale() -> Self {
        Self::new(T::stale(), T::stale())
    }
}
