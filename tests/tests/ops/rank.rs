//! Clutter filters against a full singular value decomposition in double precision, and what they refuse.

use fastrand::Rng;
use integration_tests::compare::{assert_within, relative_error};
use integration_tests::on_every_backend;
use integration_tests::random::{between, rng};
use integration_tests::svd::Svd;
use ndarray::{Array1, Array2, Array3, ArrayD, Axis, Dimension, arr2, s};
use num_complex::{Complex, Complex64};
use std::ops::Range;
use warpbeam::ops::{Components, MatrixElement, RankPlan, truncate_rank, truncate_rank_into};
use warpbeam::{Backend, Error, Tensor};

/// A number type of a matrix under test.
trait Tested: MatrixElement + std::fmt::Debug + PartialEq {
    const NAME: &'static str;
    const IS_COMPLEX: bool;
    /// What the result is rounded to, and some more.
    const BOUND: f64;
    fn nearest(value: Complex64) -> Self;
    fn value(self) -> Complex64;
}

macro_rules! tested {
    ($($type:ty, $name:literal, $is_complex:literal, $bound:literal, $nearest:expr, $value:expr;)*) => { $(
        impl Tested for $type {
            const NAME: &'static str = $name;
            const IS_COMPLEX: bool = $is_complex;
            const BOUND: f64 = $bound;
            fn nearest(value: Complex64) -> Self {
                let nearest: fn(Complex64) -> Self = $nearest;
                nearest(value)
            }
            fn value(self) -> Complex64 {
                let value: fn(Self) -> Complex64 = $value;
                value(self)
            }
        }
    )* };
}

tested! {
    f32, "f32", false, 1e-6, |value| value.re as f32, |number| Complex64::from(f64::from(number));
    f64, "f64", false, 1e-11, |value| value.re, Complex64::from;
    Complex<f32>, "complex f32", true, 1e-6,
        |value| Complex::new(value.re as f32, value.im as f32),
        |number| Complex::new(f64::from(number.re), f64::from(number.im));
    Complex<f64>, "complex f64", true, 1e-11, |value| value, |number| number;
}

fn random(rng: &mut Rng, shape: [usize; 2], is_complex: bool) -> Array2<Complex64> {
    Array2::from_shape_simple_fn(shape, || {
        let im = if is_complex { between(rng, -1.0, 1.0) } else { 0.0 };
        Complex64::new(between(rng, -1.0, 1.0), im)
    })
}

/// A random matrix whose singular values fall by about a factor each.
fn falling<T: Tested>(rng: &mut Rng, shape: [usize; 2], factor: f64) -> Array2<T> {
    let count = shape[0].min(shape[1]);
    let svd = Svd::new(&random(rng, shape, T::IS_COMPLEX));
    let mut sum = Array2::zeros(shape);
    for component in 0..count {
        let height = factor.powi(component as i32) / svd.values[component];
        sum += &svd.components(component..component + 1).mapv(|value| value * height);
    }
    sum.mapv(T::nearest)
}

/// What a filter made.
struct Filtered<T> {
    data: ArrayD<T>,
    singular_values: Vec<f64>,
    kept: Range<usize>,
}

/// Filters on a backend, into a tensor of its own and into one that holds what was there before.
fn filtered<T: Tested, D: Dimension>(
    backend: &Backend,
    data: &ndarray::ArrayRef<T, D>,
    components: &Components,
) -> Filtered<T> {
    let stream = backend.stream().expect("a stream");
    let input = Tensor::from_array(backend, data).expect("room");
    let (output, truncation) = truncate_rank(&input, components, &stream).expect("good data");
    let stale = ArrayD::from_elem(data.shape(), T::nearest(Complex64::new(f64::NAN, f64::NAN)));
    let mut into = Tensor::from_array(backend, &stale).expect("room");
    let again = truncate_rank_into(&input, components, &mut into, &stream).expect("good data");
    assert_eq!(truncation, again, "the same data");
    let data = output.to_array().expect("room");
    assert!(
        data == into.to_array().expect("room"),
        "the same data are the same bits"
    );
    // The plan's memory holds what other data left there, on another stream.
    let plan = RankPlan::<T>::new(backend, data.shape(), components).expect("a good shape");
    let other = data.map(|value| T::nearest(value.value() * 0.5 + 1.0));
    plan.run_into(
        &Tensor::from_array(backend, &other).expect("room"),
        &mut into,
        &backend.stream().expect("a stream"),
    )
    .expect("good data");
    let planned = plan.run_into(&input, &mut into, &stream).expect("good data");
    assert_eq!(truncation, planned, "by a plan");
    assert!(data == into.to_array().expect("room"), "a plan gives the same bits");
    let (on_host, of_host) = plan.run(input.to_array().expect("room").view()).expect("good data");
    assert_eq!(truncation, of_host, "by a plan, from the host");
    assert!(data == on_host, "from the host and back they are the same bits");
    Filtered {
        data,
        singular_values: truncation.singular_values,
        kept: truncation.kept,
    }
}

fn error<T: Tested>(got: &Filtered<T>, expected: &Array2<Complex64>) -> f64 {
    relative_error(
        got.data
            .iter()
            .map(|number| number.value())
            .zip(expected.iter().copied()),
    )
}

fn of_type<T: Tested>(backend: &Backend) {
    let mut rng = rng();
    for shape in [
        [1, 1],
        [1, 17],
        [13, 1],
        [2, 2],
        [7, 40],
        [40, 7],
        [16, 700],
        [31, 31],
        [66, 130],
        [130, 66],
    ] {
        let count: usize = shape[0].min(shape[1]);
        let data = falling::<T>(&mut rng, shape, 0.5);
        let svd = Svd::new(&data.map(|number| number.value()));
        let start = rng.usize(..count.min(5));
        let stop = rng.usize(start + 1..=count.min(start + 4));
        let got = filtered(backend, &data, &Components::Range { start, stop });
        let what = format!("{} {shape:?}, components {start} to {stop}", T::NAME);
        assert_eq!(
            (got.data.shape(), got.kept.clone()),
            (&shape[..], start..stop),
            "{what}"
        );
        assert_within(&what, error(&got, &svd.components(start..stop)), T::BOUND);
        for (component, (got, expected)) in got.singular_values.iter().zip(&svd.values).enumerate().take(8) {
            assert!(
                (got / expected - 1.0).abs() < 1e-9,
                "{what}: value {component} is {got}, not {expected}"
            );
        }
        assert_eq!(got.singular_values.len(), count);
    }
}

mod of_type {
    use super::*;
    on_every_backend! {
        f32: super::super::of_type::<f32>;
        f64: super::super::of_type::<f64>;
        complex_f32: super::super::of_type::<Complex<f32>>;
        complex_f64: super::super::of_type::<Complex<f64>>;
    }
}

on_every_backend! {
    a_component_80_db_below_the_first: super::a_component_80_db_below_the_first;
    parts_make_the_whole: super::parts_make_the_whole;
    shapes_strides_and_magnitudes: super::shapes_strides_and_magnitudes;
    automatic_cut_offs_part_tissue_blood_and_noise: super::automatic_cut_offs_part_tissue_blood_and_noise;
    bad_input_is_refused: super::bad_input_is_refused;
}

/// The second component 80 dB below the first, as tissue and blood.
fn a_component_80_db_below_the_first(backend: &Backend) {
    let mut rng = rng();
    for shape in [[64, 900], [900, 64]] {
        let mut data = Array2::<Complex64>::zeros(shape);
        let svd = Svd::new(&random(&mut rng, shape, true));
        let blood = svd.components(1..2).mapv(|value| value * (1e-4 / svd.values[1]));
        data += &svd.components(0..1).mapv(|value| value / svd.values[0]);
        data += &blood;
        let stored = data.mapv(|value| Complex::new(value.re as f32, value.im as f32));
        let kept = Components::Range { start: 1, stop: 2 };
        let got = filtered(backend, &stored, &kept);
        assert_within(&format!("f32 {shape:?}"), error(&got, &blood), 1e-4);
        assert_within("its value", (got.singular_values[1] / 1e-4 - 1.0).abs(), 1e-4);
        let got = filtered(backend, &data, &kept);
        assert_within(&format!("f64 {shape:?}"), error(&got, &blood), 1e-7);
        assert_within("its value", (got.singular_values[1] / 1e-4 - 1.0).abs(), 1e-7);
    }
}

/// All components are the data, none are zeros, and what is dropped and what is kept make the whole.
fn parts_make_the_whole(backend: &Backend) {
    let mut rng = rng();
    // Few of many components are kept or dropped in another way on a GPU.
    for (shape, splits) in [([9, 50], [4, 8]), ([70, 131], [4, 35]), ([131, 70], [35, 66])] {
        let data = falling::<f64>(&mut rng, shape, 0.9);
        let of = |start, stop| filtered(backend, &data, &Components::Range { start, stop }).data;
        let whole = of(0, usize::MAX);
        for split in splits {
            let sum = of(0, split) + of(split, usize::MAX);
            for ((whole, sum), data) in whole.iter().zip(&sum).zip(&data) {
                assert!((whole - data).abs() < 1e-13 && (sum - data).abs() < 1e-13, "{shape:?}");
            }
        }
    }
    let data = falling::<f64>(&mut rng, [9, 50], 0.6);
    let by_energy = Components::Energy {
        clutter: 0.1,
        signal: 0.2,
    };
    let none = filtered(backend, &data, &by_energy);
    assert_eq!(none.kept, 1..1);
    assert!(none.data.iter().all(|value| *value == 0.0));
}

/// Axes beyond the second are space, views of any strides are as good, and so are magnitudes near the ends of the range.
fn shapes_strides_and_magnitudes(backend: &Backend) {
    let mut rng = rng();
    let matrix = falling::<f64>(&mut rng, [6, 35], 0.5);
    let kept = Components::Range { start: 1, stop: 3 };
    let expected = filtered(backend, &matrix, &kept);
    let volume = Array3::from_shape_vec((6, 5, 7), matrix.iter().copied().collect()).expect("35 points");
    let turned = volume.view().permuted_axes([2, 1, 0]).as_standard_layout().into_owned();
    let tensor = Tensor::from_array(backend, &turned).expect("room");
    let view = tensor.view().permuted_axes(&[2, 1, 0]).expect("three axes");
    let stream = backend.stream().expect("a stream");
    let (got, _) = truncate_rank(view, &kept, &stream).expect("good data");
    let got = got.to_array().expect("room");
    assert_eq!(got.shape(), [6, 5, 7]);
    assert!(got.iter().eq(expected.data.iter()), "a view");
    // Rows that begin anywhere.
    let wider =
        Tensor::from_array(backend, &ndarray::concatenate![Axis(0), Array2::zeros([1, 35]), matrix]).expect("room");
    let view = wider.view().sliced(0, 1..7, 1).expect("six rows");
    let (got, _) = truncate_rank(view, &kept, &stream).expect("good data");
    assert!(got.to_array().expect("room").iter().eq(expected.data.iter()), "a part");
    for exponent in [-900, -300, 300, 900] {
        let factor = 2.0_f64.powi(exponent);
        let scaled = matrix.mapv(|value| value * factor);
        let got = filtered(backend, &scaled, &kept);
        let got = got.data.mapv(|value| value / factor);
        let pairs = got.iter().zip(&expected.data);
        let error = relative_error(pairs.map(|(got, expected)| ((*got).into(), (*expected).into())));
        // On the CPU all is scaled alike.
        let bound = if backend.is_cuda() { 1e-12 } else { 0.0 };
        assert_within(&format!("2^{exponent}"), error, bound);
    }
    let zeros = filtered(backend, &Array2::<f32>::zeros((3, 5)), &Components::Similarity);
    assert_eq!(zeros.singular_values, [0.0; 3]);
    assert!(zeros.data.iter().all(|value| *value == 0.0));
}

/// Tissue that moves as one, blood that changes from frame to frame within a vessel, and noise.
fn automatic_cut_offs_part_tissue_blood_and_noise(backend: &Backend) {
    let mut rng = rng();
    let (frames, points) = (60, 1500);
    let normal = |rng: &mut Rng| {
        let (radius, angle) = (
            (-2.0 * rng.f64().max(1e-300).ln()).sqrt(),
            rng.f64() * std::f64::consts::TAU,
        );
        Complex64::from_polar(radius, angle)
    };
    let mut data = Array2::from_shape_simple_fn((frames, points), || normal(&mut rng) * 1e-3);
    // Modes of tissue have one envelope over space, those of blood are within the vessel.
    let tissue: Vec<_> = (0..5)
        .map(|_| Array1::from_shape_simple_fn(points, || normal(&mut rng)))
        .collect();
    let blood: Vec<_> = (0..15)
        .map(|_| Array1::from_shape_simple_fn(points, || normal(&mut rng)))
        .collect();
    for (number, modes, height) in [(0, &tissue, 100.0), (1, &blood, 1.0)] {
        for mode in modes {
            let over_time = Array1::from_shape_simple_fn(frames, || normal(&mut rng) * height);
            for ((frame, point), value) in data.indexed_iter_mut() {
                let is_vessel = point % 100 < 20;
                let envelope = match number {
                    0 => {
                        if is_vessel {
                            0.05
                        } else {
                            1.0 + (point as f64 / 40.0).sin()
                        }
                    }
                    _ => {
                        if is_vessel {
                            1.0
                        } else {
                            0.0
                        }
                    }
                };
                *value += over_time[frame] * mode[point] * envelope;
            }
        }
    }
    let similar = filtered(backend, &data, &Components::Similarity);
    assert_eq!(similar.kept, 5..20, "by similarity");
    let energy: Vec<f64> = similar.singular_values.iter().map(|value| value * value).collect();
    let total: f64 = energy.iter().sum();
    let (to_tissue, to_blood): (f64, f64) = (energy[..5].iter().sum(), energy[..20].iter().sum());
    let shares = Components::Energy {
        clutter: (to_tissue - energy[4] / 2.0) / total,
        signal: (to_blood - energy[19] / 2.0) / total,
    };
    let by_energy = filtered(backend, &data, &shares);
    assert_eq!(by_energy.kept, 5..20, "by energy");
    assert!(by_energy.data == similar.data, "the same components are the same bits");
    let turned = filtered(backend, &data.slice(s![.., ..40]).to_owned(), &Components::Similarity);
    assert_eq!(turned.singular_values.len(), 40, "more frames than points");
}

fn bad_input_is_refused(backend: &Backend) {
    let stream = backend.stream().expect("a stream");
    let refused = |data: &Array2<f64>, components: Components| {
        let data = Tensor::from_array(backend, data).expect("room");
        match truncate_rank(&data, &components, &stream) {
            Ok(_) => panic!("not refused"),
            Err(error) => error.to_string(),
        }
    };
    let data = arr2(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(
        refused(&data, Components::Range { start: 2, stop: 9 }),
        "the first component kept is 2; it must be below the stop and below the number of components"
    );
    assert_eq!(
        refused(
            &data,
            Components::Energy {
                clutter: 0.9,
                signal: 0.5
            }
        ),
        "the clutter's share of the energy is 0.9; it must be from 0 to below the signal's share"
    );
    assert_eq!(
        refused(
            &data,
            Components::Energy {
                clutter: 0.5,
                signal: f64::NAN
            }
        ),
        "the signal's share of the energy is NaN; it must be from 0 to 1"
    );
    assert_eq!(
        refused(&arr2(&[[1.0, f64::NEG_INFINITY]]), Components::Similarity),
        "the data to filter at [0, 1] is inf; it must be finite"
    );
    assert_eq!(
        refused(&Array2::zeros((3, 0)), Components::Similarity),
        "the data to filter is empty (shape [3, 0]); at least 1 needed along every axis"
    );
    let single = arr2(&[[1.0, 2.0, 3.0, 4.0], [5.0, f32::NAN, 7.0, 8.0]]);
    let single = Tensor::from_array(backend, &single).expect("room");
    let error = truncate_rank(&single, &Components::Similarity, &stream).expect_err("not a number");
    assert_eq!(
        error.to_string(),
        "the data to filter at [1, 1] is NaN; it must be finite"
    );
    let mut narrow = Tensor::zeros(backend, &[2, 3]).expect("room");
    let error = truncate_rank_into(&single, &Components::Similarity, &mut narrow, &stream).expect_err("another shape");
    assert!(matches!(error, Error::ShapeMismatch { .. }), "{error}");
    let one = Tensor::from_array(backend, &data.index_axis(Axis(0), 0)).expect("room");
    let error = truncate_rank(&one, &Components::Similarity, &stream).expect_err("one axis");
    assert_eq!(
        error.to_string(),
        "the data to filter has shape [3]; expected (frame, ..space)"
    );
}
