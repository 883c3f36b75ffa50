//! Times propagation of spherical waves on a backend, events around each call.
//!
//! `time_greens RUNS [cpu]` prints a JSON object for each of two shapes, or for small ones on the CPU: the milliseconds
//! of each run, and the relative L2 error over a few of the sums against the f64 oracle with its bound. Evenly spaced
//! wavenumbers first, then the same a little moved.

use integration_tests::compare::relative_error;
use integration_tests::greens::{Counts, GreensCase, Wavenumbers};
use integration_tests::sample::Precision;
use ndarray::{ArrayD, Axis, s};
use num_complex::{Complex, Complex64};
use warpbeam::ops::GreensPlan;
use warpbeam::{Backend, Tensor};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let runs = arguments
        .next()
        .map_or(5, |text| text.parse().expect("a number of runs"));
    let is_cpu = arguments.next().is_some_and(|name| name == "cpu");
    let (backend, shapes) = if is_cpu {
        (Backend::cpu(), [[256, 64, 1024, 1], [256, 64, 128, 8]])
    } else {
        let backend = Backend::cuda(0).expect("a GPU");
        (backend, [[1024, 256, 65_536, 1], [4096, 256, 1024, 8]])
    };
    for [sources, frequencies, targets, batch] in shapes {
        let counts = Counts {
            batch,
            sources,
            targets,
            frequencies,
        };
        let mut rng = fastrand::Rng::with_seed(7);
        let mut case = GreensCase::random(&mut rng, counts, Wavenumbers::Even, 1e4, Precision::Single);
        time(&backend, &case, "even", runs);
        let largest = case.wavenumbers.fold(0.0_f64, |most, k| most.max(k.abs()));
        case.wavenumbers[1] += 1e-3 * largest;
        time(&backend, &case, "any", runs);
    }
}

fn time(backend: &Backend, case: &GreensCase, spacing: &str, runs: usize) {
    let plan =
        GreensPlan::<Complex<f32>>::new(backend, &case.sources, &case.targets, &case.wavenumbers).expect("a plan");
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
    let milliseconds: Vec<f64> = (0..runs).map(|_| run()).collect();
    let error = error_of_a_few(case, &output.to_array().expect("room"));
    println!(
        "{{\"sources\": {sources}, \"frequencies\": {frequencies}, \"targets\": {targets}, \"batch\": {batch}, \
         \"spacing\": \"{spacing}\", \"milliseconds\": {milliseconds:?}, \"error\": {error:e}, \"allowed\": {:e}}}",
        few_targets(case).bound(Precision::Single),
    );
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
