//! Spherical waves of many batch items in single precision and with halves, timed.

use integration_tests::backends::gpu;
use ndarray::{Array1, Array2};
use num_complex::Complex;
use warpbeam::ops::GreensPlan;
use warpbeam::{Backend, Precision, Tensor};

/// Milliseconds of a run, the median, for evenly spaced wavenumbers.
fn milliseconds(
    backend: &Backend,
    [n_sources, n_frequencies, n_targets, n_batch]: [usize; 4],
    precision: Precision,
) -> f64 {
    let mut rng = fastrand::Rng::with_seed(11);
    let mut points = |count: usize, depth: f64| {
        Array2::from_shape_fn((count, 3), |(_, axis)| {
            rng.f64() - 0.5 + if axis == 2 { depth } else { 0.0 }
        })
    };
    let (sources, targets) = (points(n_sources, 0.0), points(n_targets, 1.1));
    let wavenumbers = Array1::from_shape_fn(n_frequencies, |number| 100.0 + 4.0 * number as f64);
    let plan = GreensPlan::with_precision(backend, &sources, &targets, &wavenumbers, precision).expect("a plan");
    let input = Tensor::<Complex<f32>>::zeros(backend, &[n_batch, n_sources, n_frequencies]).expect("room");
    let mut output = Tensor::zeros(backend, &[n_batch, n_targets, n_frequencies]).expect("room");
    let stream = backend.stream().expect("a stream");
    let bytes = output.len() * size_of::<Complex<f32>>();
    let rate = super::rate(&stream, bytes, || plan.run_into(&input, &mut output, &stream));
    2.0 * bytes as f64 / rate / 1e9
}

#[test]
#[ignore = "needs a GPU: run with --include-ignored where there is one"]
fn halves_are_faster_for_eight_items() {
    let _alone = super::alone();
    let counts = [4096, 256, 1024, 8];
    let single = milliseconds(&gpu(), counts, Precision::Full);
    let halves = milliseconds(&gpu(), counts, Precision::F16 { exponent: None });
    println!("4096 sources × 256 frequencies × 1024 targets × 8 items: {single:.3} ms, with halves {halves:.3} ms");
    assert!(halves < single, "{halves} ms with halves, {single} ms without");
}
