//! Propagation of spherical waves at the sizes of images: times on a GPU, and a few of the sums against the f64 oracle.

use integration_tests::backends::gpu;
use integration_tests::compare::{assert_within, relative_error};
use integration_tests::greens::{Counts, GreensCase, Wavenumbers};
use integration_tests::sample::Precision;
use ndarray::{ArrayD, Axis, s};
use num_complex::{Complex, Complex64};
use warpbeam::ops::GreensPlan;
use warpbeam::{Backend, Precision as Storage, Tensor};

/// Runs that are timed.
const RUNS: usize = 5;

/// Evenly spaced wavenumbers, then the same with one that is a little off.
fn check(backend: &Backend, [sources, frequencies, targets, batch]: [usize; 4]) {
    let counts = Counts {
        batch,
        sources,
        targets,
        frequencies,
    };
    let mut rng = fastrand::Rng::with_seed(7);
    let mut case = GreensCase::random(&mut rng, counts, Wavenumbers::Even, 1e4, Precision::Single);
    time(backend, &case, "even", Storage::Full);
    time(backend, &case, "even", Storage::F16 { exponent: None });
    let largest = case.wavenumbers.fold(0.0_f64, |most, k| most.max(k.abs()));
    case.wavenumbers[1] += 1e-3 * largest;
    time(backend, &case, "any", Storage::Full);
    time(backend, &case, "any", Storage::F16 { exponent: None });
}

#[test]
#[ignore = "needs a GPU: run with --include-ignored where there is one"]
fn one_item_at_many_targets() {
    check(&gpu(), [1024, 256, 65_536, 1]);
}

#[test]
#[ignore = "needs a GPU: run with --include-ignored where there is one"]
fn eight_items_from_many_sources() {
    check(&gpu(), [4096, 256, 1024, 8]);
}

#[test]
fn smaller_on_the_cpu() {
    check(&Backend::cpu(), [128, 64, 300, 8]);
}

/// Events around each call.
fn time(backend: &Backend, case: &GreensCase, spacing: &str, precision: Storage) {
    let plan =
        GreensPlan::<Complex<f32>>::with_precision(backend, &case.sources, &case.targets, &case.wavenumbers, precision)
            .expect("a plan");
    let amplitudes = case.amplitudes.map(|x| Complex::new(x.re as f32, x.im as f32));
    let (batch, sources, frequencies) = amplitudes.dim();
    let targets = case.targets.nrows();
    let input = Tensor::from_array(backend, &amplitudes).expect("room");
    let mut output = Tensor::zeros(backend, &[batch, targets, frequencies]).expect("room");
    let stream = backend.stream().expect("a stream");
    let mut run = || {
        let start = stream.record().expect("an event");
        plan.run_into(&input, &mut output, &stream).expect("a run");
        let end = stream.record().expect("an event");
        end.synchronize().expect("the run succeeds");
        end.elapsed_since(&start).expect("both have passed").as_secs_f64() * 1e3
    };
    for _ in 0..2 {
        run();
    }
    let milliseconds: Vec<f64> = (0..RUNS).map(|_| run()).collect();
    let what = format!(
        "{sources} sources × {frequencies} frequencies × {targets} targets × {batch} items, {spacing}, {precision:?}: {milliseconds:.3?} ms"
    );
    let error = error_of_a_few(case, &output.to_array().expect("room"));
    let of_halves = if precision == Storage::Full { 0.0 } else { 1e-3 };
    assert_within(&what, error, of_halves + few_targets(case).bound(Precision::Single));
}

/// The first, a middle and the last target.
const FEW: usize = 3;

fn few_targets(case: &GreensCase) -> GreensCase {
    let last = case.targets.nrows() - 1;
    GreensCase {
        targets: case.targets.select(Axis(0), &[0, last / 2, last]),
        ..case.clone()
    }
}

fn error_of_a_few(case: &GreensCase, sums: &ArrayD<Complex<f32>>) -> f64 {
    let last = case.targets.nrows() - 1;
    let expected = few_targets(case).sums();
    let got = (0..FEW).map(|target| sums.slice(s![.., last * target / 2, ..]));
    let pairs = got.zip(expected.axis_iter(Axis(1))).flat_map(|(got, expected)| {
        let got: Vec<_> = got
            .iter()
            .map(|sum| Complex64::new(f64::from(sum.re), f64::from(sum.im)))
            .collect();
        got.into_iter().zip(expected.iter().copied().collect::<Vec<_>>())
    });
    relative_error(pairs)
}
