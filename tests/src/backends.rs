//! The backends, and macros that expand one check to a test on each of them.

use warpbeam::Backend;

/// The CPU.
pub fn cpu() -> Backend {
    Backend::cpu()
}

/// The first GPU.
///
/// # Panics
///
/// Where there is none: a GPU test that was asked for must not pass without one.
pub fn gpu() -> Backend {
    Backend::cuda(0).unwrap_or_else(|error| panic!("this test needs a GPU: {error}"))
}

/// Expands `name: check;` lines to the tests `cpu::name` and `gpu_device::name`; a check takes a `&Backend`.
#[macro_export]
macro_rules! on_every_backend {
    ($($name:ident: $check:expr;)*) => {
        mod cpu {
            #[allow(unused_imports)]
            use super::*;
            $(#[test] fn $name() { ($check)(&$crate::backends::cpu()); })*
        }
        mod gpu_device {
            #[allow(unused_imports)]
            use super::*;
            $(
                #[test]
                #[ignore = "needs a GPU: run with --include-ignored where there is one"]
                fn $name() { ($check)(&$crate::backends::gpu()); }
            )*
        }
    };
}

/// Expands `check;` lines, each a function generic over the sample type, to one test a sample type and backend.
#[macro_export]
macro_rules! on_every_backend_and_type {
    ($($check:ident;)*) => { $(
        mod $check {
            use half::f16;
            use num_complex::Complex;
            $crate::on_every_backend! {
                i16: super::super::$check::<i16>;
                f16: super::super::$check::<f16>;
                f32: super::super::$check::<f32>;
                f64: super::super::$check::<f64>;
                complex_i16: super::super::$check::<Complex<i16>>;
                complex_f16: super::super::$check::<Complex<f16>>;
                complex_f32: super::super::$check::<Complex<f32>>;
                complex_f64: super::super::$check::<Complex<f64>>;
            }
        }
    )* };
}
