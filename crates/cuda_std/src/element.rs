//! The types that global and shared memory hold.

use crate::half::F16;
use num_complex::Complex;

/// A plain value that is loaded and stored with one instruction.
///
/// # Safety
///
/// Every bit pattern is a value, there is no padding, and the size is 1, 2, 4, 8 or 16 bytes.
pub unsafe trait Element: Copy + Send + Sync + 'static {}

macro_rules! elements {
    ($($type:ty),*) => { $(
        // SAFETY: plain numbers, or two or four of them without padding.
        unsafe impl Element for $type {}
    )* };
}

elements!(u8, i16, u16, i32, u32, i64, u64, F16, f32, f64);
elements!(Complex<i16>, Complex<i32>, Complex<F16>, Complex<f32>, Complex<f64>);
elements!([i16; 2], [i16; 4], [F16; 2], [F16; 4], [u32; 2], [u32; 4], [f32; 4]);

// SAFETY: two plain numbers of 4 or 8 bytes without padding.
unsafe impl<R: crate::math::Real> Element for [R; 2] {}
