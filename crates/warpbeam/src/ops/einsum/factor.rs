//! The numbers that products are made of, and what they are summed as on the CPU.

use crate::device::Element;
use half::f16;
use num_complex::Complex;
use std::borrow::Cow;

pub(super) mod sealed {
    use crate::device::Element;
    use faer::traits::ComplexField;
    use std::borrow::Cow;

    /// What a product needs of a number.
    pub trait Number: Element<Device: kernels::product::Instance> {
        /// What it is summed as.
        type Wide: ComplexField + Copy + Send + Sync + std::ops::Add<Output = Self::Wide>;

        /// 0.
        const ZERO: Self::Wide;
        /// 1.
        const ONE: Self::Wide;

        /// The number, exactly.
        fn widen(self) -> Self::Wide;

        /// The nearest number.
        fn narrow(wide: Self::Wide) -> Self;

        /// Numbers as they are summed, the same memory where that is the same.
        fn widen_all(numbers: Cow<'_, [Self]>) -> Cow<'_, [Self::Wide]>;
    }
}

use sealed::Number;

/// A number that [`einsum`](super::einsum()) multiplies: `f16`, `f32`, `f64`, real or complex.
pub trait Factor: Element + Number {}

macro_rules! factors {
    ($($type:ty: $wide:ty, $zero:expr, $one:expr, $widen:expr, $narrow:expr, $widen_all:expr;)*) => { $(
        impl Number for $type {
            type Wide = $wide;
            const ZERO: $wide = $zero;
            const ONE: $wide = $one;

            fn widen(self) -> $wide {
                $widen(self)
            }
            fn narrow(wide: $wide) -> Self {
                $narrow(wide)
            }
            fn widen_all(numbers: Cow<'_, [Self]>) -> Cow<'_, [$wide]> {
                $widen_all(numbers)
            }
        }

        impl Factor for $type {}
    )* };
}

/// Each number by itself.
fn one_by_one<'a, T: Number>(numbers: &[T]) -> Cow<'a, [T::Wide]> {
    Cow::Owned(numbers.iter().map(|number| number.widen()).collect())
}

factors! {
    f16: f32, 0.0, 1.0, f16::to_f32, f16::from_f32, |numbers: Cow<'_, [Self]>| one_by_one(&numbers);
    f32: f32, 0.0, 1.0, |number| number, |wide| wide, |numbers| numbers;
    f64: f64, 0.0, 1.0, |number| number, |wide| wide, |numbers| numbers;
    Complex<f16>: Complex<f32>, Complex::new(0.0, 0.0), Complex::new(1.0, 0.0),
        |number: Self| Complex::new(number.re.to_f32(), number.im.to_f32()),
        |wide: Complex<f32>| Complex::new(f16::from_f32(wide.re), f16::from_f32(wide.im)), |numbers: Cow<'_, [Self]>| one_by_one(&numbers);
    Complex<f32>: Complex<f32>, Complex::new(0.0, 0.0), Complex::new(1.0, 0.0),
        |number| number, |wide| wide, |numbers| numbers;
    Complex<f64>: Complex<f64>, Complex::new(0.0, 0.0), Complex::new(1.0, 0.0),
        |number| number, |wide| wide, |numbers| numbers;
}
