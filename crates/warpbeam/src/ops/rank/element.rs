//! The numbers of which matrices are made, and double precision for them.

use crate::device::Element;
use num_complex::{Complex, Complex64};

pub(super) mod sealed {
    use faer::traits::ComplexField;

    /// What the filter needs of a number.
    pub trait Number: Copy + Send + Sync {
        /// The same in double precision.
        type Wide: ComplexField + Copy + Send + Sync;

        /// The kernels' number, and that of magnitudes.
        #[cfg(feature = "cuda")]
        type Kernels: kernels::rank::Instance;
        #[cfg(feature = "cuda")]
        type Magnitude: super::MatrixElement<Wide = f64>;

        /// Real numbers of one: 1 or 2.
        const PARTS: usize;

        /// `self · scale`.
        fn widen(self, scale: f64) -> Self::Wide;

        /// The nearest number to `wide · scale`.
        fn narrow(wide: Self::Wide, scale: f64) -> Self;

        /// The larger of the parts' magnitudes; NaN if one is.
        fn largest_part(self) -> f64;

        /// Of a real and an imaginary part, if it has one.
        fn from_parts(re: f64, im: f64) -> Self::Wide;

        /// The real and the imaginary part.
        fn parts(wide: Self::Wide) -> [f64; 2];
    }
}

use sealed::Number;

/// A number of a matrix: `f32`, `f64`, or complex of these.
pub trait MatrixElement: Element + Number {}

macro_rules! elements {
    ($($float:ty),*) => { $(
        impl Number for $float {
            type Wide = f64;
            #[cfg(feature = "cuda")]
            type Kernels = $float;
            #[cfg(feature = "cuda")]
            type Magnitude = $float;
            const PARTS: usize = 1;

            fn widen(self, scale: f64) -> f64 {
                f64::from(self) * scale
            }
            fn narrow(wide: f64, scale: f64) -> Self {
                (wide * scale) as Self
            }
            fn largest_part(self) -> f64 {
                f64::from(self).abs()
            }
            fn from_parts(re: f64, _: f64) -> f64 {
                re
            }
            fn parts(wide: f64) -> [f64; 2] {
                [wide, 0.0]
            }
        }

        impl Number for Complex<$float> {
            type Wide = Complex64;
            #[cfg(feature = "cuda")]
            type Kernels = Complex<$float>;
            #[cfg(feature = "cuda")]
            type Magnitude = $float;
            const PARTS: usize = 2;

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
            fn from_parts(re: f64, im: f64) -> Complex64 {
                Complex::new(re, im)
            }
            fn parts(wide: Complex64) -> [f64; 2] {
                [wide.re, wide.im]
            }
        }

        impl MatrixElement for $float {}
        impl MatrixElement for Complex<$float> {}
    )* };
}

elements!(f32, f64);
