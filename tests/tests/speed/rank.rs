//! Clutter filters at the size of recordings, timed, and the energy that is left.

use integration_tests::backends::gpu;
use integration_tests::compare::assert_within;
use ndarray::Array2;
use num_complex::Complex;
use warpbeam::ops::{Components, RankPlan, truncate_rank_into};
use warpbeam::{Backend, Tensor};

/// Calls that are timed.
const RUNS: usize = 5;

/// Times of a plan's runs that keep all but the first 1/16 of components, the decomposition on the host included, and of calls
/// without a plan; and the energy of the result against that of the components kept.
fn time(backend: &Backend, frames: usize, space: &[usize], milliseconds: f64) {
    let n_space: usize = space.iter().product();
    let mut rng = fastrand::Rng::with_seed(5);
    // A strong component over noise.
    let over_time: Vec<f32> = (0..frames).map(|_| rng.f32() + 0.5).collect();
    let data = Array2::from_shape_fn((frames, n_space), |(frame, _)| {
        Complex::new(rng.f32() - 0.5 + 100.0 * over_time[frame], rng.f32() - 0.5)
    });
    let shape: Vec<usize> = [&[frames], space].concat();
    let data = data.into_shape_with_order(shape.clone()).expect("as many");
    let input = Tensor::from_array(backend, &data).expect("room");
    let mut output = Tensor::zeros(backend, &shape).expect("room");
    let stream = backend.stream().expect("a stream");
    let kept = Components::Range {
        start: frames / 16,
        stop: usize::MAX,
    };
    let plan = RankPlan::new(backend, &shape, &kept).expect("a good shape");
    let mut times = [const { Vec::new() }; 2];
    let mut values = Vec::new();
    for _ in 0..RUNS + 2 {
        for (is_planned, times) in times.iter_mut().enumerate() {
            let start = std::time::Instant::now();
            let truncation = if is_planned == 1 {
                plan.run_into(&input, &mut output, &stream)
            } else {
                truncate_rank_into(&input, &kept, &mut output, &stream)
            };
            values = truncation.expect("good data").singular_values;
            stream.synchronize().expect("the run succeeds");
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    let [calls, runs] = times;
    let best = runs[2..].iter().copied().fold(f64::INFINITY, f64::min);
    println!(
        "{frames} × {space:?} complex f32: {runs:.3?} ms, {best:.3} of {milliseconds} allowed; without a plan {calls:.3?} ms"
    );
    // The energy that is left is that of the components kept.
    let left: f64 = output
        .to_array()
        .expect("room")
        .iter()
        .map(|value| f64::from(value.norm_sqr()))
        .sum();
    let of_values: f64 = values[frames / 16..].iter().map(|value| value * value).sum();
    assert_within("the energy left", (left / of_values - 1.0).abs(), 1e-5);
    assert!(best <= milliseconds, "{best} ms of {milliseconds}");
}

#[test]
#[ignore = "needs a GPU: run with --include-ignored where there is one"]
fn time_of_64_volumes() {
    let _alone = super::alone();
    time(&gpu(), 64, &[64, 64, 64], 2.0);
}

#[test]
#[ignore = "needs a GPU: run with --include-ignored where there is one"]
fn time_of_256_frames_of_a_million_points() {
    let _alone = super::alone();
    time(&gpu(), 256, &[1 << 20], 30.0);
}

#[test]
fn smaller_on_the_cpu() {
    time(&Backend::cpu(), 32, &[500], 1e4);
}
