//! The numbers of which matrices are made, and double precision for them.

use crate::device::Element;
use num_complex::{Complex, Complex64};

pub(super) mod sealed {
    use faer::traits::ComplexField;

    /// What the filter needs of a number.
    pub trait Number: Copy + Send + Sync {
        /// The same in double precision.
        type Wide: ComplexField + Copy + Send + Sync;

        /// `self · scale`.
        fn widen(self, scale: f64) -> Self::Wide;

        /// The nearest number to `wide · scale`.
        fn narrow(wide: Self::Wide, scale: f64) -> Self;

        /// The larger of the parts' magnitudes; NaN if one is.
        fn largest_part(self) -> f64;

        /// The magnitude.
        fn magnitude(wide: Self::Wide) -> f64;

        /// The real part.
        fn real(wide: Self::Wide) -> f64;
    }
}

use sealed::Number;

/// A number of a matrix: `f32`, `f64`, or complex of these.
pub trait MatrixElement: Element + Number {}

macro_rules! elements {
    ($($float:ty),*) => { $(
        impl Number for $float {
            type Wide = f64;

            fn widen(self, scale: f64) -> f64 {
                f64::from(self) * scale
            }
            fn narrow(wide: f64, scale: f64) -> Self {
                (wide * scale) as Self
            }
            fn largest_part(self) -> f64 {
                f64::from(self).abs()
            }
            fn magnitude(wide: f64) -> f64 {
                wide.abs()
            }
            fn real(wide: f64) -> f64 {
                wide
            }
        }

        impl Number for Complex<$float> {
            type Wide = Complex64;

            fn widen(self, scale: f64) -> Complex64 {
                Complex::new(f64::from(self.re) * scale, f64::from(self.im) * scale)
            }
            fn narrow(wide: Complex64, scale: f64) -> Self {
                Complex::new((wide.re * scale) as $float, (wide.im * scale) as $float)
            }
            fn largest_part(self) -> f64 {
                let [re, im] = [self.re, self.im].map(|part| f64::from(part).abs());
                // A comparison with NaN is false.
                if re > im || re.is_nan() { re } else { im }
            }
            fn magnitude(wide: Complex64) -> f64 {
                wide.norm()
            }
            fn real(wide: Complex64) -> f64 {
                wide.re
            }
        }

        impl MatrixElement for $float {}
        impl MatrixElement for Complex<$float> {}
    )* };
}

elements!(f32, f64);
