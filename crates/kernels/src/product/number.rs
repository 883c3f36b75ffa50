//! Numbers that are multiplied, and what they are summed as.

use cuda_std::Element;
use cuda_std::half::F16;
use cuda_std::math::Real;
use num_complex::Complex;

/// A number of a product.
pub trait Number: Element {
    /// What it is in shared memory and in sums.
    type Sum: Element;

    /// 16 bytes of sums.
    type Vector: Element;

    /// How many sums these are.
    const OF_VECTOR: usize;

    /// Whether the number itself is the sum, so that 16 bytes of sums are as many numbers.
    const IS_SUM: bool;

    /// 0.
    const ZERO: Self;

    /// A sum of nothing.
    const NOTHING: Self::Sum;

    /// The number, exactly.
    fn widen(self) -> Self::Sum;

    /// The nearest number.
    fn narrow(sum: Self::Sum) -> Self;

    /// `sum + a · b`, by one multiply-add for each product of real numbers.
    fn multiply_add(sum: Self::Sum, a: Self::Sum, b: Self::Sum) -> Self::Sum;

    /// The sums of a vector; behind them, nothing.
    fn split(vector: Self::Vector) -> [Self::Sum; 4];

    /// The vector of the first sums.
    fn join(sums: [Self::Sum; 4]) -> Self::Vector;
}

#[inline(always)]
fn real<R: Real>(sum: R, a: R, b: R) -> R {
    a.mul_add(b, sum)
}

#[inline(always)]
fn complex<R: Real>(sum: Complex<R>, a: Complex<R>, b: Complex<R>) -> Complex<R> {
    Complex {
        re: (-a.im).mul_add(b.im, a.re.mul_add(b.re, sum.re)),
        im: a.im.mul_add(b.re, a.re.mul_add(b.im, sum.im)),
    }
}

macro_rules! numbers {
    ($($type:ty: $sum:ty, $vector:ty, $of_vector:literal, $is_sum:literal, $zero:expr, $nothing:expr,
        $widen:expr, $narrow:expr, $multiply_add:expr, $split:expr, $join:expr;)*) => { $(
        impl Number for $type {
            type Sum = $sum;
            type Vector = $vector;
            const OF_VECTOR: usize = $of_vector;
            const IS_SUM: bool = $is_sum;
            const ZERO: Self = $zero;
            const NOTHING: $sum = $nothing;

            #[inline(always)]
            fn widen(self) -> $sum {
                $widen(self)
            }

            #[inline(always)]
            fn narrow(sum: $sum) -> Self {
                $narrow(sum)
            }

            #[inline(always)]
            fn multiply_add(sum: $sum, a: $sum, b: $sum) -> $sum {
                $multiply_add(sum, a, b)
            }

            #[inline(always)]
            fn split(vector: $vector) -> [$sum; 4] {
                $split(vector)
            }

            #[inline(always)]
            fn join(sums: [$sum; 4]) -> $vector {
                $join(sums)
            }
        }
    )* };
}

const ZERO_32: Complex<f32> = Complex::new(0.0, 0.0);
const ZERO_64: Complex<f64> = Complex::new(0.0, 0.0);

#[inline(always)]
fn split_complex([a, b, c, d]: [f32; 4]) -> [Complex<f32>; 4] {
    [Complex::new(a, b), Complex::new(c, d), ZERO_32, ZERO_32]
}

#[inline(always)]
fn join_complex([a, b, _, _]: [Complex<f32>; 4]) -> [f32; 4] {
    [a.re, a.im, b.re, b.im]
}

numbers! {
    F16: f32, [f32; 4], 4, false, F16(0), 0.0, F16::to_f32, F16::from_f32, real, |v| v, |s| s;
    f32: f32, [f32; 4], 4, true, 0.0, 0.0, |x| x, |s| s, real, |v| v, |s| s;
    f64: f64, [f64; 2], 2, true, 0.0, 0.0, |x| x, |s| s, real, |[a, b]: [f64; 2]| [a, b, 0.0, 0.0],
        |[a, b, _, _]: [f64; 4]| [a, b];
    Complex<F16>: Complex<f32>, [f32; 4], 2, false, Complex::new(F16(0), F16(0)), ZERO_32,
        |x: Self| Complex::new(x.re.to_f32(), x.im.to_f32()),
        |s: Complex<f32>| Complex::new(F16::from_f32(s.re), F16::from_f32(s.im)),
        complex, split_complex, join_complex;
    Complex<f32>: Complex<f32>, [f32; 4], 2, true, ZERO_32, ZERO_32, |x| x, |s| s, complex, split_complex, join_complex;
    Complex<f64>: Complex<f64>, Complex<f64>, 1, true, ZERO_64, ZERO_64, |x| x, |s| s, complex,
        |v| [v, ZERO_64, ZERO_64, ZERO_64], |[a, _, _, _]: [Complex<f64>; 4]| a;
}
