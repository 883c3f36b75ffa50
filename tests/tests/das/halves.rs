//! Single-precision samples that are kept as halves: how near, at any scale, and who refuses it.

use integration_tests::bits::assert_same_bits;
use integration_tests::case::Case;
use integration_tests::compare::{Tally, assert_within, relative_error};
use integration_tests::random::rng;
use integration_tests::run::run;
use integration_tests::sample::TestSample;
use ndarray::{Array4, Axis};
use num_complex::{Complex, Complex32, Complex64};
use warpbeam::{Algorithm, Backend, DasOptions, DasPlan, Error, Precision};

const FOUND: Precision = Precision::F16 { exponent: None };

fn case(batch: usize) -> Case {
    Case {
        batch,
        grid: vec![6, 11],
        options: DasOptions {
            precision: FOUND,
            phase_per_sample: 0.7,
            ..DasOptions::default()
        },
        ..Case::default()
    }
}

/// Within 1e-3 of the oracle, which has the samples as they were.
fn near_the_oracle<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    for batch in [1, 3, 16, 33, 64, 100] {
        let case = case(batch);
        let (geometry, terms) = case.geometry(&mut rng, T::PRECISION);
        let data = case.data::<T>(&mut rng);
        let image = run(backend, &geometry, &case.options, &data);
        let mut tally = Tally::default();
        tally.add::<T>(&image, &terms, &terms.expected(&data));
        tally.assert_within_bound::<T>(&case.describe(), &case.options);
    }
}

/// Halves are what is rounded to, and nothing else is rounded: samples that are halves already give full precision's image.
fn halves_stay_as_they_are(backend: &Backend) {
    let mut rng = rng();
    let case = case(20);
    let (geometry, _) = case.geometry(&mut rng, Complex32::PRECISION);
    let data = case.data::<Complex32>(&mut rng).mapv(|Complex { re, im }| {
        let half = |part: f32| half::f16::from_f32(part).to_f32();
        Complex::new(half(re), half(im))
    });
    let image = run(backend, &geometry, &case.options, &data);
    let options = DasOptions {
        algorithm: Algorithm::Batch,
        precision: Precision::Full,
        ..case.options.clone()
    };
    assert_same_bits("halves", &image, &run(backend, &geometry, &options, &data));
}

/// TF32 is for distinct samples alone: the other algorithms give the bits of full precision.
fn tf32_is_for_distinct_samples(backend: &Backend) {
    let mut rng = rng();
    let mut case = case(20);
    let (geometry, _) = case.geometry(&mut rng, Complex32::PRECISION);
    let data = case.data::<Complex32>(&mut rng);
    for algorithm in [Algorithm::Voxel, Algorithm::Frame, Algorithm::Batch, Algorithm::Window] {
        case.options.algorithm = algorithm;
        let images = [Precision::Full, Precision::Tf32].map(|precision| {
            let options = DasOptions {
                precision,
                ..case.options.clone()
            };
            run(backend, &geometry, &options, &data)
        });
        assert_same_bits(&format!("{algorithm:?}"), &images[1], &images[0]);
    }
}

/// Frames of any scale in one batch: each comes out as it does at scale 1.
fn any_scale(backend: &Backend) {
    let mut rng = rng();
    let case = case(12);
    let (geometry, _) = case.geometry(&mut rng, Complex32::PRECISION);
    let data = case.data::<Complex32>(&mut rng);
    let image = run(backend, &geometry, &case.options, &data);
    let scales = [1.0_f32, 1e-12, 1e9, 1e-30, 1e30, 0.0];
    let mut scaled: Array4<Complex32> = data;
    for (index, mut frame) in scaled.axis_iter_mut(Axis(0)).enumerate() {
        frame.mapv_inplace(|sample| sample * scales[index % scales.len()]);
    }
    let scaled = run(backend, &geometry, &case.options, &scaled);
    for (index, (got, expected)) in scaled.axis_iter(Axis(0)).zip(image.axis_iter(Axis(0))).enumerate() {
        let scale = f64::from(scales[index % scales.len()]);
        let value = |sum: &Complex32| Complex64::new(sum.re.into(), sum.im.into());
        let pairs = got
            .iter()
            .zip(expected)
            .map(|(got, expected)| (value(got), value(expected) * scale));
        assert_within(&format!("a frame times {scale:e}"), relative_error(pairs), 1e-3);
    }
}

/// A given exponent is used for every frame: samples below its subnormal numbers vanish.
fn a_given_exponent(backend: &Backend) {
    let mut rng = rng();
    let mut case = case(9);
    let (geometry, _) = case.geometry(&mut rng, Complex32::PRECISION);
    let data = case.data::<Complex32>(&mut rng);
    let image = run(backend, &geometry, &case.options, &data);
    let tiny = data.mapv(|sample| sample * 2.0_f32.powi(-50));
    for (exponent, factor) in [(50, 2.0_f64.powi(-50)), (0, 0.0)] {
        case.options.precision = Precision::F16 {
            exponent: Some(exponent),
        };
        let got = run(backend, &geometry, &case.options, &tiny);
        let value = |sum: &Complex32| Complex64::new(sum.re.into(), sum.im.into());
        let pairs = got
            .iter()
            .zip(&image)
            .map(|(got, expected)| (value(got), value(expected) * factor));
        assert_within(&format!("exponent {exponent}"), relative_error(pairs), 1e-3);
    }
}

/// What makes no copy, and double precision, do not take it.
fn refused(backend: &Backend) {
    let case = case(1);
    let geometry = case.draw(&mut rng());
    for algorithm in [Algorithm::Voxel, Algorithm::Frame] {
        let options = DasOptions {
            algorithm,
            ..case.options.clone()
        };
        let error = DasPlan::<f32>::new(backend, &geometry, &options)
            .err()
            .expect("an error");
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    }
    let error = DasPlan::<f64>::new(backend, &geometry, &case.options)
        .err()
        .expect("an error");
    assert!(error.to_string().contains("f64"), "{error}");
    let options = DasOptions {
        precision: Precision::F16 { exponent: Some(127) },
        ..case.options.clone()
    };
    let error = DasPlan::<f32>::new(backend, &geometry, &options)
        .err()
        .expect("an error");
    assert_eq!(
        error.to_string(),
        "the exponent of f16 storage is 127; it must be from -126 to 126"
    );
}

integration_tests::on_every_backend! {
    f32: super::near_the_oracle::<f32>;
    complex_f32: super::near_the_oracle::<num_complex::Complex<f32>>;
    i16: super::near_the_oracle::<i16>;
    complex_f16: super::near_the_oracle::<num_complex::Complex<half::f16>>;
    halves_stay_as_they_are: super::halves_stay_as_they_are;
    tf32_is_for_distinct_samples: super::tf32_is_for_distinct_samples;
    any_scale: super::any_scale;
    a_given_exponent: super::a_given_exponent;
    refused: super::refused;
}
