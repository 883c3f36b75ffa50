//! Adding to an image that is there.

use integration_tests::bits::assert_same_bits;
use integration_tests::case::Case;
use integration_tests::compare::{assert_within, relative_error};
use integration_tests::random::{between, rng};
use integration_tests::run::algorithms;
use integration_tests::sample::{Precision, TestSample};
use ndarray::{ArrayD, IxDyn};
use num_complex::Complex64;
use warpbeam::{Backend, DasPlan, Error, Interpolation, SumOver, Tensor};

/// `beta · former + image`, on the host and in tensors; at 0 a former NaN does not show.
fn former_contents<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    for algorithm in algorithms::<T>(backend, Interpolation::Linear) {
        let mut case = Case {
            grid: vec![7, 9],
            ..Case::default()
        };
        case.options.algorithm = algorithm;
        case.options.sum_over = SumOver::Channels;
        let (geometry, _) = case.geometry(&mut rng, T::PRECISION);
        let data = case.data::<T>(&mut rng);
        let plan = DasPlan::<T>::new(backend, &geometry, &case.options).unwrap();
        let image = plan.run(data.view()).unwrap();
        let former = ArrayD::from_shape_simple_fn(IxDyn(image.shape()), || T::sum_from(between(&mut rng, -9.0, 9.0)));
        let tensor = Tensor::from_array(backend, &data).unwrap();
        let stream = backend.stream().unwrap();
        let in_tensors = |beta: f64, former: &ArrayD<T::Sum>| {
            let mut out = Tensor::from_array(backend, former).unwrap();
            plan.accumulate_into(&tensor, beta, &mut out, &stream).unwrap();
            out.to_array().unwrap()
        };
        for beta in [1.0, -0.5, 3.25] {
            let mut on_host = former.clone();
            plan.accumulate(data.view(), beta, &mut on_host).unwrap();
            let expected = |index: usize| {
                let at = |array: &ArrayD<T::Sum>| T::sum_value(*array.iter().nth(index).unwrap());
                beta * at(&former) + at(&image)
            };
            let bound = if T::PRECISION == Precision::Single { 1e-6 } else { 1e-14 };
            for (what, got) in [("host", &on_host), ("tensors", &in_tensors(beta, &former))] {
                let values: Vec<Complex64> = got.iter().map(|sum| T::sum_value(*sum)).collect();
                let pairs = values
                    .iter()
                    .enumerate()
                    .map(|(index, value)| (*value, expected(index)));
                assert_within(
                    &format!("{} {algorithm:?} beta {beta} {what}", T::NAME),
                    relative_error(pairs),
                    bound,
                );
            }
        }
        let nan = ArrayD::from_elem(IxDyn(image.shape()), T::sum_from(f64::NAN));
        assert_same_bits("beta 0", &in_tensors(0.0, &nan), &image);
    }
}

/// An output of another shape is refused and stays as it was.
fn another_shape(backend: &Backend) {
    let case = Case::default();
    let (geometry, _) = case.geometry(&mut rng(), Precision::Single);
    let data = case.data::<f32>(&mut rng());
    let plan = DasPlan::<f32>::new(backend, &geometry, &case.options).unwrap();
    let mut output = ArrayD::from_elem(IxDyn(&[3, 5, 4]), 8.0_f32);
    let error = plan.accumulate(data.view(), 1.0, &mut output).unwrap_err();
    assert!(matches!(error, Error::ShapeMismatch { .. }), "{error}");
    assert!(output.iter().all(|value| value.to_bits() == 8.0_f32.to_bits()));
}

integration_tests::on_every_backend! {
    another_shape: super::another_shape;
}

integration_tests::on_every_backend_and_type! {
    former_contents;
}
