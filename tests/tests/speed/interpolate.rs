//! Interpolation at the size of volumes: 64 complex frames of 64³ nodes at 64³ points, timed, and a few values against the
//! oracle of a linear function.

use integration_tests::backends::gpu;
use integration_tests::compare::assert_within;
use ndarray::{Array2, Array4, ArrayD, Axis, IxDyn};
use num_complex::Complex;
use std::time::{Duration, Instant};
use warpbeam::ops::{InterpolationGrid, InterpolationMethod, Interpolator};
use warpbeam::physical::axis;
use warpbeam::{Backend, Tensor};

/// Runs that are timed.
const RUNS: usize = 7;

/// A place in a sector whose beams are not along the axes, from parts of its range, azimuth and elevation.
fn in_sector([range, azimuth, elevation]: [f64; 3]) -> [f64; 3] {
    let (range, azimuth, elevation) = (0.02 + 0.1 * range, 1.2 * azimuth - 0.6, elevation - 0.5);
    [
        range * azimuth.sin() * elevation.cos(),
        range * elevation.sin(),
        range * azimuth.cos() * elevation.cos(),
    ]
}

/// The sector's `n`³ nodes.
fn nodes(n: usize) -> Array4<f64> {
    Array4::from_shape_fn((n, n, n, 3), |(k, j, i, axis)| {
        let part = |index: usize| index as f64 / (n - 1) as f64;
        in_sector([part(k), part(i), part(j)])[axis]
    })
}

/// Points of a grid, row by row.
fn points(n: usize) -> Array2<f64> {
    Array2::from_shape_fn((n * n * n, 3), |(point, axis)| {
        let at = [point % n, point / n % n, point / n / n][axis];
        let part = at as f64 / (n - 1) as f64;
        [0.12 * part - 0.06, 0.1 * part - 0.05, 0.02 + 0.1 * part][axis]
    })
}

/// As many points anywhere in the sector.
fn random_points(n: usize) -> Array2<f64> {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut points = Array2::zeros((n * n * n, 3));
    for mut point in points.rows_mut() {
        let place = in_sector([rng.f64(), rng.f64(), rng.f64()]);
        point.assign(&ndarray::aview1(&place));
    }
    points
}

fn function(place: [f64; 3], item: usize) -> Complex<f64> {
    Complex::new(3.0 * place[0] - 2.0 * place[1], item as f64 + place[2])
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Times by clock for a plan, by events for a run; at most so many milliseconds each, by method.
fn check(
    backend: &Backend,
    points: &Array2<f64>,
    n: usize,
    n_batch: usize,
    most: impl Fn(InterpolationMethod) -> [f64; 2],
) {
    let stream = backend.stream().unwrap();
    let nodes = nodes(n);
    let values = ArrayD::from_shape_fn(IxDyn(&[n_batch, n, n, n]), |at| {
        let place = [0, 1, 2].map(|axis| nodes[[at[1], at[2], at[3], axis]]);
        let value = function(place, at[0]);
        Complex::new(value.re as f32, value.im as f32)
    });
    let input = Tensor::from_array(backend, &values).unwrap();
    let mut output = Tensor::zeros(backend, &[n_batch, points.nrows()]).unwrap();
    let mut slow = Vec::new();
    let there = Tensor::from_array(backend, points).unwrap();
    let coordinates = [
        axis(-0.06, 0.06, n).unwrap(),
        axis(-0.05, 0.05, n).unwrap(),
        axis(0.02, 0.12, n).unwrap(),
    ];
    let lattice = InterpolationGrid::cartesian(&coordinates[0], &coordinates[1], &coordinates[2]).unwrap();
    for method in [
        InterpolationMethod::Tetrahedral,
        InterpolationMethod::Nearest,
        InterpolationMethod::Trilinear,
    ] {
        let [most_plan, most_run] = most(method);
        let mut plans = Vec::new();
        let mut last = None;
        for _ in 0..RUNS {
            let moved = Tensor::from_array(backend, &nodes).unwrap();
            stream.synchronize().unwrap();
            let start = Instant::now();
            let interpolator = match method {
                InterpolationMethod::Trilinear => Interpolator::new(backend, &lattice, method),
                _ => Interpolator::from_tensor(moved, method, &stream),
            };
            let interpolator = interpolator.unwrap();
            let made = start.elapsed();
            let prepared = interpolator.prepare_tensor(&there, &stream).unwrap();
            plans.push((milliseconds(start.elapsed()), milliseconds(made)));
            last = Some(prepared);
        }
        let prepared = last.unwrap();
        let mut run = || {
            let start = stream.record().unwrap();
            let fill = Complex::new(-1.0, 0.0);
            prepared.run_into(&input, fill, &mut output, &stream).unwrap();
            let end = stream.record().unwrap();
            end.synchronize().unwrap();
            milliseconds(end.elapsed_since(&start).unwrap())
        };
        run();
        let runs: Vec<f64> = (0..RUNS).map(|_| run()).collect();
        let plan = median(plans.iter().map(|(whole, _)| *whole).collect());
        let time = median(runs.clone());
        println!("{method:?}, {n}³ nodes: plan {plan:.3} ms of {most_plan} allowed; (whole, grid) {plans:.3?} ms");
        println!("{method:?}, {n_batch} × {n}³ to {n}³: {time:.3} ms of {most_run} allowed; {runs:.3?} ms");
        if plan > most_plan || time > most_run {
            slow.push(method);
        }
        if method == InterpolationMethod::Tetrahedral {
            let results = output.to_array().unwrap();
            let (mut inside, mut worst) = (0, 0.0_f64);
            for item in [0, n_batch - 1] {
                for (number, got) in results.index_axis(Axis(0), item).iter().enumerate() {
                    if *got == Complex::new(-1.0, 0.0) {
                        continue;
                    }
                    inside += 1;
                    let expected = function([0, 1, 2].map(|axis| points[[number, axis]]), item);
                    let got = Complex::new(f64::from(got.re), f64::from(got.im));
                    worst = worst.max((got - expected).norm() / (1.0 + item as f64));
                }
            }
            assert_within(&format!("a linear function at {inside} points inside"), worst, 1e-6);
            assert!(inside > points.nrows() / 2);
        }
    }
    assert!(slow.is_empty(), "too slow: {slow:?}");
}

#[test]
#[ignore = "needs a GPU: run with --include-ignored where there is one"]
fn sixty_four_frames() {
    let _alone = super::alone();
    // Twice what is aimed at, 1 ms and 0.4 ms: the machine may be shared.
    check(&gpu(), &points(64), 64, 64, |_| [2.0, 0.8]);
}

#[test]
#[ignore = "needs a GPU: run with --include-ignored where there is one"]
fn sixty_four_frames_at_random_points() {
    let _alone = super::alone();
    // The nearest nodes among those of a curved grid take the longest to find.
    check(&gpu(), &random_points(64), 64, 64, |method| match method {
        InterpolationMethod::Nearest => [4.0, 0.4],
        _ => [2.5, 0.4],
    });
}

#[test]
fn smaller_on_the_cpu() {
    let infinite = |_| [f64::INFINITY; 2];
    check(&Backend::cpu(), &points(16), 16, 4, infinite);
    check(&Backend::cpu(), &random_points(16), 16, 4, infinite);
}
