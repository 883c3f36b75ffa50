//! One case on one backend: data made, runs timed, a sample of the result checked.

use crate::cases::Case;
use crate::reference;
use anyhow::Context;
use half::f16;
use ndarray::Array4;
use num_complex::Complex;
use std::time::Duration;
use warpbeam::{Algorithm, Backend, DasOptions, DasPlan, Sample, Tensor};

/// Runs before those that count.
const WARM_UP: usize = 2;

/// What was measured.
pub(crate) struct Measured {
    pub(crate) times: Vec<Duration>,
    pub(crate) points: u64,
    pub(crate) relative_error: f64,
}

impl Measured {
    pub(crate) fn median_ms(&self) -> f64 {
        self.times[self.times.len() / 2].as_secs_f64() * 1e3
    }
}

/// A sample type that random data can be made of.
pub(crate) trait Storage: Sample {
    /// From two numbers within ±1; real samples take the first.
    fn from_parts(real: f32, imaginary: f32) -> Self;
    /// Real and imaginary part.
    fn parts(self) -> [f64; 2];
    /// The parts of a sum.
    fn sum_parts(sum: Self::Sum) -> [f64; 2];
}

macro_rules! storage {
    ($($stored:ty, $sum:ty: $round:expr, $value:expr;)*) => { $(
        impl Storage for $stored {
            fn from_parts(real: f32, _imaginary: f32) -> Self {
                $round(real)
            }
            fn parts(self) -> [f64; 2] {
                [$value(self), 0.0]
            }
            fn sum_parts(sum: $sum) -> [f64; 2] {
                [f64::from(sum), 0.0]
            }
        }
        impl Storage for Complex<$stored> {
            fn from_parts(real: f32, imaginary: f32) -> Self {
                Complex::new($round(real), $round(imaginary))
            }
            fn parts(self) -> [f64; 2] {
                [$value(self.re), $value(self.im)]
            }
            fn sum_parts(sum: Complex<$sum>) -> [f64; 2] {
                [f64::from(sum.re), f64::from(sum.im)]
            }
        }
    )* };
}

storage! {
    f32, f32: |part| part, f64::from;
    f64, f64: f64::from, f64::from;
    f16, f32: f16::from_f32, f16::to_f64;
    i16, f32: |part: f32| (part * 32767.0) as i16, f64::from;
}

/// Times `runs` runs of a case.
pub(crate) fn run<T: Storage>(
    backend: &Backend,
    case: &Case,
    algorithm: Algorithm,
    runs: usize,
) -> anyhow::Result<Measured> {
    let geometry = case.geometry();
    let options = DasOptions {
        algorithm,
        ..case.options()
    };
    let plan = DasPlan::<T>::new(backend, &geometry, &options)?;
    let shape = (case.n_batch, case.n_channels(), case.n_transmits, case.n_samples);
    let mut random = fastrand::Rng::with_seed(0);
    let mut part = || random.f32() * 2.0 - 1.0;
    let data = Array4::from_shape_simple_fn(shape, || T::from_parts(part(), part()));
    let device_data = Tensor::from_array(backend, &data)?;
    let mut output_shape = vec![case.n_batch];
    output_shape.extend_from_slice(geometry.grid_shape());
    let mut output = Tensor::<T::Sum>::zeros(backend, &output_shape)?;
    let stream = backend.stream()?;
    let mut times = Vec::new();
    for run in 0..WARM_UP + runs.max(1) {
        let start = stream.record()?;
        plan.run_into(&device_data, &mut output, &stream)?;
        let end = stream.record()?;
        end.synchronize()?;
        if run >= WARM_UP {
            times.push(end.elapsed_since(&start)?);
        }
    }
    times.sort_unstable();
    let result = output.to_array()?;
    let n_voxels = geometry.n_voxels();
    let result = result
        .to_shape((case.n_batch, n_voxels))
        .context("the result's shape")?;
    let relative_error = reference::relative_error::<T>(&geometry, &options, &data, &result.view());
    Ok(Measured {
        times,
        points: plan.points(case.n_batch),
        relative_error,
    })
}
