//! Operations beside delay-and-sum against plain loops, oracles and full decompositions, the same checks on every backend.

mod bad_input;
mod copy;
mod einsum;
mod einsum_large;
mod gather;
mod geometry;
mod greens;
mod greens_large;
mod interpolate;
mod interpolate_refused;
mod rank;
mod scan_convert;
mod scatter;
mod strided;
mod values;

/// Expands `check;` lines, each a function generic over [`values::Value`], to one test a type and backend.
macro_rules! on_every_backend_and_value {
    ($($check:ident;)*) => { $(
        mod $check {
            use half::f16;
            use num_complex::Complex;
            integration_tests::on_every_backend! {
                i16: super::super::$check::<i16>;
                i32: super::super::$check::<i32>;
                f16: super::super::$check::<f16>;
                f32: super::super::$check::<f32>;
                f64: super::super::$check::<f64>;
                complex_i16: super::super::$check::<Complex<i16>>;
                complex_i32: super::super::$check::<Complex<i32>>;
                complex_f16: super::super::$check::<Complex<f16>>;
                complex_f32: super::super::$check::<Complex<f32>>;
                complex_f64: super::super::$check::<Complex<f64>>;
            }
        }
    )* };
}
pub(crate) use on_every_backend_and_value;
