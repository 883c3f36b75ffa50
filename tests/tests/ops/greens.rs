//! Propagation of spherical waves on every backend against the f64 oracle, and what a plan refuses.

use fastrand::Rng;
use integration_tests::bits::{assert_same_bits, bits};
use integration_tests::compare::{assert_within, relative_error};
use integration_tests::greens::{Counts, GreensCase, Wavenumbers};
use integration_tests::on_every_backend;
use integration_tests::random::rng;
use integration_tests::sample::Precision;
use ndarray::{Array1, Array2, Array3, ArrayD, Axis, arr2, s};
use num_complex::{Complex, Complex32, Complex64};
use warpbeam::ops::{Amplitude, GreensPlan};
use warpbeam::{Backend, Error, Precision as Storage, Tensor};

const COUNTS: [usize; 12] = [1, 2, 3, 5, 7, 13, 16, 17, 31, 32, 61, 97];

fn plan<T: Amplitude>(backend: &Backend, case: &GreensCase) -> GreensPlan<T> {
    GreensPlan::new(backend, &case.sources, &case.targets, &case.wavenumbers).unwrap_or_else(|error| panic!("{error}"))
}

fn single(value: &Complex64) -> Complex32 {
    Complex::new(value.re as f32, value.im as f32)
}

fn double(value: Complex32) -> Complex64 {
    Complex::new(f64::from(value.re), f64::from(value.im))
}

/// The result by way of tensors, over NaN.
fn run_into(backend: &Backend, plan: &GreensPlan<Complex32>, amplitudes: &Array3<Complex32>) -> ArrayD<Complex32> {
    let stream = backend.stream().expect("a stream");
    let shape = plan.run(amplitudes.view()).expect("a run").raw_dim();
    let amplitudes = Tensor::from_array(backend, amplitudes).expect("room");
    let stale = ArrayD::from_elem(shape, Complex::new(f32::NAN, f32::NAN));
    let mut output = Tensor::from_array(backend, &stale).expect("room");
    plan.run_into(&amplitudes, &mut output, &stream).expect("a run");
    output.to_array().expect("room")
}

fn check(backend: &Backend, case: &GreensCase, what: &str) {
    let amplitudes = case.amplitudes.map(single);
    let plan = plan::<Complex32>(backend, case);
    let sums = plan.run(amplitudes.view()).expect("a run");
    let expected = case.sums();
    assert_eq!(sums.shape(), expected.shape(), "{what}");
    let error = relative_error(sums.iter().copied().map(double).zip(expected.iter().copied()));
    assert_within(what, error, case.bound(Precision::Single));
    assert_same_bits(
        "run_into, NaN in the output",
        &run_into(backend, &plan, &amplitudes),
        &sums,
    );
}

/// Amplitudes in pascals and in parts of one, rounded to halves; an item alone has the same bits.
fn halves(backend: &Backend) {
    let mut rng = rng();
    for (index, (counts, wavenumbers)) in [
        ([8, 100, 40, 33], Wavenumbers::Even),
        ([3, 301, 5, 17], Wavenumbers::Random),
        ([17, 31, 70, 64], Wavenumbers::Even),
        ([1, 600, 90, 5], Wavenumbers::Random),
    ]
    .into_iter()
    .enumerate()
    {
        let [batch, sources, targets, frequencies] = counts;
        let counts = Counts {
            batch,
            sources,
            targets,
            frequencies,
        };
        let mut case = GreensCase::random(&mut rng, counts, wavenumbers, 1e3, Precision::Single);
        let unit = [1.0, 3e6, 2e-9, 1e20][index];
        case.amplitudes *= Complex64::from(unit);
        let amplitudes = case.amplitudes.map(single);
        case.amplitudes = amplitudes.mapv(double);
        let plan = |exponent| {
            let precision = Storage::F16 { exponent };
            let plan = GreensPlan::with_precision(backend, &case.sources, &case.targets, &case.wavenumbers, precision);
            plan.unwrap_or_else(|error| panic!("{error}"))
        };
        let given = plan(Some(13 - unit.log2().floor() as i32));
        let plan = plan(None);
        let expected = case.sums();
        let sums = plan.run(amplitudes.view()).expect("a run");
        for (how, sums) in [
            ("own scale", &sums),
            ("a given one", &given.run(amplitudes.view()).expect("a run")),
        ] {
            let error = relative_error(sums.iter().copied().map(double).zip(expected.iter().copied()));
            let what = format!("halves, {how}, {counts:?} of {unit:e}");
            assert_within(&what, error, 1e-3 + case.bound(Precision::Single));
            assert!(error > 1e-5, "{what}: nothing was rounded");
        }
        let again = run_into(backend, &plan, &amplitudes);
        assert_same_bits("run_into, NaN in the output", &again, &sums);
        let last = batch - 1;
        let alone = plan.run(amplitudes.index_axis(Axis(0), last)).expect("a run");
        assert_same_bits("the last item", &alone, &sums.index_axis(Axis(0), last).to_owned());
    }
}

fn random_shapes(backend: &Backend) {
    let mut rng = rng();
    for index in 0..24 {
        let count = |rng: &mut Rng| COUNTS[rng.usize(..COUNTS.len())];
        let counts = Counts {
            batch: rng.usize(1..9),
            sources: count(&mut rng),
            targets: count(&mut rng),
            frequencies: count(&mut rng),
        };
        let wavenumbers = if index % 2 == 0 {
            Wavenumbers::Even
        } else {
            Wavenumbers::Random
        };
        let phase = [1.0, 300.0, 1e4][index % 3];
        let case = GreensCase::random(&mut rng, counts, wavenumbers, phase, Precision::Single);
        check(backend, &case, &format!("{wavenumbers:?}, {counts:?}, phase {phase}"));
    }
}

/// Sources in several segments, and in parts where a backend has them; wavenumbers that single precision has rounded.
fn many_sources(backend: &Backend) {
    let mut rng = rng();
    let counts = Counts {
        batch: 3,
        sources: 5003,
        targets: 3,
        frequencies: 19,
    };
    let mut case = GreensCase::random(&mut rng, counts, Wavenumbers::Even, 1e4, Precision::Single);
    case.wavenumbers.mapv_inplace(|k| f64::from(k as f32));
    check(backend, &case, "many sources");
}

/// An item has the same bits alone and in any batch.
fn batches(backend: &Backend) {
    let mut rng = rng();
    let counts = Counts {
        batch: 7,
        sources: 601,
        targets: 5,
        frequencies: 37,
    };
    for wavenumbers in [Wavenumbers::Even, Wavenumbers::Random] {
        let case = GreensCase::random(&mut rng, counts, wavenumbers, 1e3, Precision::Single);
        let amplitudes = case.amplitudes.map(single);
        let plan = plan::<Complex32>(backend, &case);
        let whole = plan.run(amplitudes.view()).expect("a run");
        for (item, expected) in whole.outer_iter().enumerate() {
            let alone = plan.run(amplitudes.index_axis(Axis(0), item)).expect("a run");
            assert_same_bits(&format!("{wavenumbers:?}, item {item}"), &alone, &expected.to_owned());
        }
        let empty = plan.run(amplitudes.slice(s![..0, .., ..])).expect("a run of nothing");
        assert_eq!(empty.shape(), [0, 5, 37]);
    }
}

/// Any strides, and not a number where it belongs only.
fn views_and_isolation(backend: &Backend) {
    let mut rng = rng();
    let counts = Counts {
        batch: 5,
        sources: 20,
        targets: 11,
        frequencies: 33,
    };
    let case = GreensCase::random(&mut rng, counts, Wavenumbers::Even, 50.0, Precision::Single);
    let mut amplitudes = case.amplitudes.map(single);
    let plan = plan::<Complex32>(backend, &case);
    let expected = plan.run(amplitudes.view()).expect("a run");
    let reversed = amplitudes
        .slice(s![..;-1, .., ..])
        .reversed_axes()
        .as_standard_layout()
        .into_owned();
    let view = reversed.view().reversed_axes();
    let mut got = plan.run(view).expect("a run");
    got.invert_axis(Axis(0));
    assert_same_bits("a view", &got, &expected);
    amplitudes[[3, 7, 18]] = Complex::new(f32::INFINITY, 0.0);
    for ((index, got), before) in plan
        .run(amplitudes.view())
        .expect("a run")
        .indexed_iter()
        .zip(&expected)
    {
        if index[0] == 3 && index[2] == 18 {
            assert!(!got.is_finite(), "{index:?}");
        } else {
            assert_eq!(got, before, "{index:?}");
        }
    }
}

fn refusals(backend: &Backend) {
    let good = || {
        (
            arr2(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]),
            arr2(&[[0.0, 0.0, 5.0]]),
            Array1::from(vec![1.0, 2.0]),
        )
    };
    let refused =
        |sources: &Array2<f64>, targets: &Array2<f64>, wavenumbers: &Array1<f64>| match GreensPlan::<Complex32>::new(
            backend,
            sources,
            targets,
            wavenumbers,
        ) {
            Ok(_) => panic!("not refused"),
            Err(error) => error.to_string(),
        };
    let (sources, targets, wavenumbers) = good();
    assert_eq!(
        refused(&sources, &arr2(&[[3.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), &wavenumbers),
        "source 1 and target 1 are both at [1.0, 0.0, 0.0]; a wave has no value at its source"
    );
    assert_eq!(
        refused(&arr2(&[[0.0, f64::NAN, 0.0]]), &targets, &wavenumbers),
        "the sources at [0, 1] is NaN; it must be finite"
    );
    assert_eq!(
        refused(&sources, &arr2(&[[0.0, 0.0, 1e19]]), &wavenumbers),
        "a coordinate is 10000000000000000000; it must be between -2^62 and 2^62 in single precision"
    );
    assert_eq!(
        refused(&sources, &arr2(&[[1.0, 2.0]]), &wavenumbers),
        "the targets has shape [1, 2]; expected (points, 3)"
    );
    assert_eq!(
        refused(&sources, &targets, &Array1::from(vec![1.0, f64::INFINITY])),
        "the wavenumbers at [1] is inf; it must be finite"
    );
    assert_eq!(
        refused(&Array2::zeros((0, 3)), &targets, &wavenumbers),
        "the sources is empty (shape [0, 3]); at least 1 needed along every axis"
    );
    assert_eq!(
        refused(&sources, &targets, &Array1::zeros(0)),
        "the wavenumbers is empty (shape [0]); at least 1 needed along every axis"
    );

    let plan = GreensPlan::<Complex32>::new(backend, &sources, &targets, &wavenumbers)
        .unwrap_or_else(|error| panic!("{error}"));
    let amplitudes = |shape| Array3::<Complex32>::zeros(shape);
    let error = plan.run(amplitudes((4, 2, 3)).view()).expect_err("three frequencies");
    assert_eq!(
        error.to_string(),
        "the sources' amplitudes has shape [4, 2, 3]; expected [4, 2, 2]"
    );
    let error = plan.run(Array1::<Complex32>::zeros(4).view()).expect_err("one axis");
    assert!(matches!(error, Error::WrongAxes { .. }), "{error}");
    let stream = backend.stream().expect("a stream");
    let input = Tensor::from_array(backend, &amplitudes((1, 2, 2))).expect("room");
    let mut output = Tensor::zeros(backend, &[1, 2, 2]).expect("room");
    let error = plan.run_into(&input, &mut output, &stream).expect_err("one target");
    assert_eq!(error.to_string(), "the output has shape [1, 2, 2]; expected [1, 1, 2]");
    let sums = plan.run(amplitudes((1, 2, 2)).view()).expect("the plan still works");
    assert!(bits(&sums).iter().all(|byte| *byte == 0));
}

on_every_backend! {
    halves: super::halves;
    sums_of_random_shapes: random_shapes;
    sums_of_many_sources: many_sources;
    items_do_not_depend_on_their_batch: batches;
    any_strides_and_isolated_infinities: views_and_isolation;
    bad_input_is_refused: refusals;
}

#[test]
fn double_precision_on_the_cpu() {
    let mut rng = rng();
    for wavenumbers in [Wavenumbers::Even, Wavenumbers::Random] {
        let counts = Counts {
            batch: 2,
            sources: 2111,
            targets: 5,
            frequencies: 23,
        };
        let case = GreensCase::random(&mut rng, counts, wavenumbers, 1e4, Precision::Double);
        let sums = plan::<Complex64>(&Backend::cpu(), &case)
            .run(case.amplitudes.view())
            .expect("a run");
        let error = relative_error(sums.iter().copied().zip(case.sums()));
        assert_within(&format!("f64, {wavenumbers:?}"), error, case.bound(Precision::Double));
    }
}

#[test]
#[ignore = "needs a GPU: run with --include-ignored where there is one"]
fn double_precision_is_refused_on_a_gpu() {
    let case = GreensCase {
        sources: Array2::zeros((1, 3)),
        targets: Array2::ones((1, 3)),
        wavenumbers: Array1::ones(1),
        amplitudes: Array3::zeros((1, 1, 1)),
    };
    let refused = GreensPlan::<Complex64>::new(
        &integration_tests::backends::gpu(),
        &case.sources,
        &case.targets,
        &case.wavenumbers,
    );
    assert!(matches!(refused, Err(Error::Unsupported { .. })));
}
