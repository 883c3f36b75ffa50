//! Clutter filters against a full singular value decomposition in double precision, and what they refuse.

use fastrand::Rng;
use integration_tests::compare::{assert_within, relative_error};
use integration_tests::random::{between, rng};
use integration_tests::svd::Svd;
use ndarray::{Array1, Array2, Array3, Axis, arr2, s};
use num_complex::{Complex, Complex64};
use warpbeam::ops::{Components, MatrixElement, Truncated, truncate_rank};

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

fn error<T: Tested>(got: &Truncated<T>, expected: &Array2<Complex64>) -> f64 {
    relative_error(
        got.data
            .iter()
            .map(|number| number.value())
            .zip(expected.iter().copied()),
    )
}

fn of_type<T: Tested>() {
    let mut rng = rng();
    for shape in [[1, 1], [1, 17], [13, 1], [2, 2], [7, 40], [40, 7], [16, 700], [31, 31]] {
        let count: usize = shape[0].min(shape[1]);
        let data = falling::<T>(&mut rng, shape, 0.5);
        let svd = Svd::new(&data.map(|number| number.value()));
        let start = rng.usize(..count.min(5));
        let stop = rng.usize(start + 1..=count.min(start + 4));
        let got = truncate_rank(data.view(), &Components::Range { start, stop }).expect("good data");
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

#[test]
fn f32() {
    of_type::<f32>();
}

#[test]
fn f64() {
    of_type::<f64>();
}

#[test]
fn complex_f32() {
    of_type::<Complex<f32>>();
}

#[test]
fn complex_f64() {
    of_type::<Complex<f64>>();
}

/// The second component 80 dB below the first, as tissue and blood.
#[test]
fn a_component_80_db_below_the_first() {
    let mut rng = rng();
    for shape in [[64, 900], [900, 64]] {
        let mut data = Array2::<Complex64>::zeros(shape);
        let svd = Svd::new(&random(&mut rng, shape, true));
        let blood = svd.components(1..2).mapv(|value| value * (1e-4 / svd.values[1]));
        data += &svd.components(0..1).mapv(|value| value / svd.values[0]);
        data += &blood;
        let stored = data.mapv(|value| Complex::new(value.re as f32, value.im as f32));
        let got = truncate_rank(stored.view(), &Components::Range { start: 1, stop: 2 }).expect("good data");
        assert_within(&format!("f32 {shape:?}"), error(&got, &blood), 1e-4);
        let got = truncate_rank(data.view(), &Components::Range { start: 1, stop: 2 }).expect("good data");
        assert_within(&format!("f64 {shape:?}"), error(&got, &blood), 1e-7);
    }
}

/// All components are the data, none are zeros, and what is dropped and what is kept make the whole.
#[test]
fn parts_make_the_whole() {
    let mut rng = rng();
    let data = falling::<f64>(&mut rng, [9, 50], 0.6);
    let of = |start, stop| {
        truncate_rank(data.view(), &Components::Range { start, stop })
            .expect("good data")
            .data
    };
    let whole = of(0, usize::MAX);
    let sum = of(0, 4) + of(4, 9);
    for ((whole, sum), data) in whole.iter().zip(&sum).zip(&data) {
        assert!((whole - data).abs() < 1e-13 && (sum - data).abs() < 1e-13);
    }
    let by_energy = Components::Energy {
        clutter: 0.1,
        signal: 0.2,
    };
    let none = truncate_rank(data.view(), &by_energy).expect("good data");
    assert_eq!(none.kept, 1..1);
    assert!(none.data.iter().all(|value| *value == 0.0));
}

/// Axes beyond the second are space, views of any strides are as good, and so are magnitudes near the ends of the range.
#[test]
fn shapes_strides_and_magnitudes() {
    let mut rng = rng();
    let matrix = falling::<f64>(&mut rng, [6, 35], 0.5);
    let kept = Components::Range { start: 1, stop: 3 };
    let expected = truncate_rank(matrix.view(), &kept).expect("good data");
    let volume = Array3::from_shape_vec((6, 5, 7), matrix.iter().copied().collect()).expect("35 points");
    let turned = volume.view().permuted_axes([2, 1, 0]).as_standard_layout().into_owned();
    let got = truncate_rank(turned.view().permuted_axes([2, 1, 0]), &kept).expect("good data");
    assert_eq!(got.data.shape(), [6, 5, 7]);
    assert!(got.data.iter().eq(expected.data.iter()), "a view");
    for exponent in [-900, -300, 300, 900] {
        let factor = 2.0_f64.powi(exponent);
        let scaled = matrix.mapv(|value| value * factor);
        let got = truncate_rank(scaled.view(), &kept).expect("good data");
        let same = got.data.iter().zip(&expected.data);
        assert!(
            same.into_iter()
                .all(|(got, expected)| got.to_bits() == (expected * factor).to_bits()),
            "2^{exponent}"
        );
    }
    let zeros = truncate_rank(Array2::<f32>::zeros((3, 5)).view(), &Components::Similarity).expect("good data");
    assert_eq!(zeros.singular_values, [0.0; 3]);
    assert!(zeros.data.iter().all(|value| *value == 0.0));
}

/// Tissue that moves as one, blood that changes from frame to frame within a vessel, and noise.
#[test]
fn automatic_cut_offs_part_tissue_blood_and_noise() {
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
    let similar = truncate_rank(data.view(), &Components::Similarity).expect("good data");
    assert_eq!(similar.kept, 5..20, "by similarity");
    let energy: Vec<f64> = similar.singular_values.iter().map(|value| value * value).collect();
    let total: f64 = energy.iter().sum();
    let (to_tissue, to_blood): (f64, f64) = (energy[..5].iter().sum(), energy[..20].iter().sum());
    let shares = Components::Energy {
        clutter: (to_tissue - energy[4] / 2.0) / total,
        signal: (to_blood - energy[19] / 2.0) / total,
    };
    let by_energy = truncate_rank(data.view(), &shares).expect("good data");
    assert_eq!(by_energy.kept, 5..20, "by energy");
    assert!(by_energy.data == similar.data, "the same components are the same bits");
    let turned = truncate_rank(data.view().slice(s![.., ..40]), &Components::Similarity).expect("good data");
    assert_eq!(turned.singular_values.len(), 40, "more frames than points");
}

#[test]
fn bad_input_is_refused() {
    let refused = |data: &Array2<f64>, components: Components| match truncate_rank(data.view(), &components) {
        Ok(_) => panic!("not refused"),
        Err(error) => error.to_string(),
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
    let error = truncate_rank(data.index_axis(Axis(0), 0), &Components::Similarity).expect_err("one axis");
    assert_eq!(
        error.to_string(),
        "the data to filter has shape [3]; expected (frame, ..space)"
    );
}
