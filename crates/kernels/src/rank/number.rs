//! The numbers of matrices, and how a product of complex numbers becomes three of real ones.
//!
//! `(a + i b)(c + i d)` is `ac − bd + i ((a + b)(c + d) − ac − bd)`: sums of the three products are added up apart, and are put
//! together once, at the end.

use cuda_std::Element;
use cuda_std::math::Real;
use num_complex::Complex;

/// Products of real numbers in a product, at most.
pub(super) const MOST_PRODUCTS: usize = 3;

/// A number that is multiplied.
pub trait Factor: Element {
    /// Products of real numbers.
    const PRODUCTS: usize;

    /// What goes into each of the products, of the number or of its conjugate.
    fn factors<const CONJUGATE: bool>(self) -> [f64; MOST_PRODUCTS];
}

/// A number of a matrix.
pub trait Number: Factor {
    /// In double precision.
    type Wide: Factor;

    /// Without the imaginary part.
    type Real: Element;

    /// 1.
    const ONE: Self::Real;

    /// Elements from a row of a tile of columns to the next, so that lanes of a fragment read from different banks.
    const RIGHT_PITCH: u32;

    /// The same for numbers in double precision.
    const WIDE_PITCH: u32;

    /// Elements of a tile along the sum: 128 bytes.
    const DEPTH: u32 = 128 / size_of::<Self>() as u32;

    /// Elements from a row of a tile of [`Self::DEPTH`] columns to the next.
    const LEFT_PITCH: u32 = Self::DEPTH + 4;

    /// The sum of products from the sums of each.
    fn from_products(products: [f64; MOST_PRODUCTS]) -> Self::Wide;

    /// `sum + self`.
    fn added_to(self, sum: Self::Wide) -> Self::Wide;

    /// The nearest number.
    fn narrow(wide: Self::Wide) -> Self;

    /// The magnitude.
    fn magnitude(wide: Self::Wide) -> Self::Real;
}

macro_rules! numbers {
    ($($float:ident, $real_pitch:literal, $complex_pitch:literal;)*) => { $(
        impl Factor for $float {
            const PRODUCTS: usize = 1;

            #[inline(always)]
            fn factors<const CONJUGATE: bool>(self) -> [f64; MOST_PRODUCTS] {
                [f64::from(self), 0.0, 0.0]
            }
        }

        impl Number for $float {
            type Wide = f64;
            type Real = $float;
            const ONE: $float = 1.0;
            const RIGHT_PITCH: u32 = $real_pitch;
            const WIDE_PITCH: u32 = 68;

            #[inline(always)]
            fn from_products([product, _, _]: [f64; MOST_PRODUCTS]) -> f64 {
                product
            }
            #[inline(always)]
            fn added_to(self, sum: f64) -> f64 {
                sum + f64::from(self)
            }
            #[inline(always)]
            fn narrow(wide: f64) -> Self {
                wide as $float
            }
            #[inline(always)]
            fn magnitude(wide: f64) -> $float {
                Real::abs(wide) as $float
            }
        }

        impl Factor for Complex<$float> {
            const PRODUCTS: usize = 3;

            #[inline(always)]
            fn factors<const CONJUGATE: bool>(self) -> [f64; MOST_PRODUCTS] {
                let (re, im) = (f64::from(self.re), f64::from(self.im));
                if CONJUGATE { [re, -im, re - im] } else { [re, im, re + im] }
            }
        }

        impl Number for Complex<$float> {
            type Wide = Complex<f64>;
            type Real = $float;
            const ONE: $float = 1.0;
            const RIGHT_PITCH: u32 = $complex_pitch;
            const WIDE_PITCH: u32 = 66;

            #[inline(always)]
            fn from_products([real, imaginary, both]: [f64; MOST_PRODUCTS]) -> Complex<f64> {
                Complex::new(real - imaginary, both - real - imaginary)
            }
            #[inline(always)]
            fn added_to(self, sum: Complex<f64>) -> Complex<f64> {
                Complex::new(sum.re + f64::from(self.re), sum.im + f64::from(self.im))
            }
            #[inline(always)]
            fn narrow(wide: Complex<f64>) -> Self {
                Complex::new(wide.re as $float, wide.im as $float)
            }
            #[inline(always)]
            fn magnitude(wide: Complex<f64>) -> $float {
                Real::sqrt(Real::mul_add(wide.re, wide.re, wide.im * wide.im)) as $float
            }
        }
    )* };
}

numbers! {
    f32, 72, 68;
    f64, 68, 66;
}
