//! The numbers that a tensor holds, and what kernels call them.

use cuda_std::half::F16;
use half::f16;
use num_complex::Complex;

mod sealed {
    pub trait Sealed {}
}

/// A number that tensors hold: `i16`, `i32`, `f16`, `f32`, `f64`, each real or complex, and `u32`.
pub trait Element: bytemuck::Pod + Send + Sync + sealed::Sealed {
    /// The same bits as a kernel sees them.
    #[doc(hidden)]
    type Device: cuda_std::Element;
}

macro_rules! elements {
    ($($host:ty => $device:ty),* $(,)?) => { $(
        const _: () = assert!(size_of::<$host>() == size_of::<$device>());
        impl sealed::Sealed for $host {}
        impl Element for $host {
            type Device = $device;
        }
    )* };
}

elements! {
    i16 => i16,
    f16 => F16,
    f32 => f32,
    f64 => f64,
    i32 => i32,
    u32 => u32,
    Complex<i16> => Complex<i16>,
    Complex<i32> => Complex<i32>,
    Complex<f16> => Complex<F16>,
    Complex<f32> => Complex<f32>,
    Complex<f64> => Complex<f64>,
}
