//! The number types that signals come in.

use half::f16;

mod sealed {
    pub trait Sealed {}
}

/// A real sample: `i16`, `f16`, `f32`, `f64`.
pub trait RealSample: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The type of results made from such samples: `f64` for `f64`, else `f32`.
    type Real: Real;

    /// The sample's value, exactly.
    fn to_f64(self) -> f64;
}

/// A real number of a result: `f32`, `f64`.
pub trait Real: RealSample<Real = Self> {
    /// The nearest number of this type.
    fn from_f64(value: f64) -> Self;
}

macro_rules! samples {
    ($($sample:ty => $real:ty),*) => {$(
        impl sealed::Sealed for $sample {}

        impl RealSample for $sample {
            type Real = $real;

            fn to_f64(self) -> f64 {
                self.into()
            }
        }
    )*};
}

samples!(i16 => f32, f16 => f32, f32 => f32, f64 => f64);

impl Real for f32 {
    fn from_f64(value: f64) -> Self {
        value as Self
    }
}

impl Real for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }
}
