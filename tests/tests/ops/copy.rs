//! Dense copies.

use crate::on_every_backend_and_value;
use crate::strided::Strided;
use crate::values::Value;
use half::f16;
use integration_tests::backends;
use integration_tests::bits::assert_same_bits;
use integration_tests::random::rng;
use ndarray::ArrayD;
use num_complex::Complex;
use warpbeam::ops::{ConvertTo, contiguous_copy, contiguous_copy_as, contiguous_copy_as_into, contiguous_copy_into};
use warpbeam::{Backend, Tensor};

fn any_strides<T: Value>(backend: &Backend) {
    let mut rng = rng();
    let stream = backend.stream().unwrap();
    for most in [200, 5000, 40_000] {
        for _ in 0..15 {
            let strided = Strided::<T>::random(backend, &mut rng, most);
            let copy = contiguous_copy(strided.view(), &stream).unwrap();
            assert_same_bits(&strided.what(), &copy.to_array().unwrap(), &strided.expected);
            let stale = ArrayD::from_elem(strided.expected.raw_dim(), T::stale());
            let mut into = Tensor::from_array(backend, &stale).unwrap();
            contiguous_copy_into(strided.view(), &mut into, &stream).unwrap();
            assert_same_bits(&strided.what(), &into.to_array().unwrap(), &strided.expected);
        }
    }
}

/// Matrices with whole and broken tiles, odd and even sides.
fn transposes<T: Value>(backend: &Backend) {
    let mut rng = rng();
    let stream = backend.stream().unwrap();
    for shape in [
        [1, 1],
        [8, 8],
        [64, 64],
        [65, 31],
        [130, 258],
        [3, 2000],
        [2000, 3],
        [1, 700],
        [97, 1024],
    ] {
        let array = ndarray::Array2::from_shape_simple_fn(shape, || T::random(&mut rng));
        let matrix = Tensor::from_array(backend, &array).unwrap();
        let copy = contiguous_copy(matrix.view().permuted_axes(&[1, 0]).unwrap(), &stream).unwrap();
        assert_same_bits(
            &format!("{shape:?}"),
            &copy.to_array().unwrap(),
            &array.t().to_owned().into_dyn(),
        );
    }
}

/// Nothing to copy, and one element without an axis.
fn small<T: Value>(backend: &Backend) {
    let stream = backend.stream().unwrap();
    let empty = Tensor::<T>::zeros(backend, &[3, 0, 2]).unwrap();
    let copy = contiguous_copy(empty.view().permuted_axes(&[2, 0, 1]).unwrap(), &stream).unwrap();
    assert_eq!(copy.shape(), [2, 3, 0]);
    let one = ndarray::arr0(T::stale()).into_dyn();
    let tensor = Tensor::from_array(backend, &one).unwrap();
    assert_same_bits(
        "one",
        &contiguous_copy(&tensor, &stream).unwrap().to_array().unwrap(),
        &one,
    );
}

on_every_backend_and_value! {
    any_strides;
    transposes;
    small;
}

/// Every element as `expected` says, from any strides; `number` draws the real numbers.
fn convert<T, U>(backend: &Backend, number: impl Fn(T) -> U)
where
    T: Value + ConvertTo<U>,
    U: Value,
    Complex<T>: Value + ConvertTo<Complex<U>>,
    Complex<U>: Value,
{
    let mut rng = rng();
    let stream = backend.stream().unwrap();
    for most in [200, 5000, 40_000] {
        for _ in 0..8 {
            let strided = Strided::<T>::random(backend, &mut rng, most);
            let expected = strided.expected.mapv(&number);
            let copy: Tensor<U> = contiguous_copy_as(strided.view(), &stream).unwrap();
            assert_same_bits(&strided.what(), &copy.to_array().unwrap(), &expected);

            let strided = Strided::<Complex<T>>::random(backend, &mut rng, most);
            let expected = strided
                .expected
                .mapv(|value| Complex::new(number(value.re), number(value.im)));
            let stale = ArrayD::from_elem(expected.raw_dim(), Complex::<U>::stale());
            let mut into = Tensor::from_array(backend, &stale).unwrap();
            contiguous_copy_as_into(strided.view(), &mut into, &stream).unwrap();
            assert_same_bits(&strided.what(), &into.to_array().unwrap(), &expected);
        }
    }
}

/// Every pair of types, on a backend.
fn conversions(backend: &Backend) {
    convert(backend, |value: i16| f16::from_f32(f32::from(value)));
    convert(backend, |value: i16| f32::from(value));
    convert(backend, |value: f16| value.to_f32());
    convert(backend, f16::from_f32);
    convert(backend, |value: f64| f16::from_f64(value));
    convert(backend, |value: f64| value as f32);
}

/// The largest numbers, those between two halves, those below the smallest, and what is no number.
fn conversions_at_the_ends(backend: &Backend) {
    let stream = backend.stream().unwrap();
    let numbers = [
        65_504.0,
        65_519.9,
        65_520.0,
        -1e30,
        1e300,
        2049.0,
        2051.0,
        1.0 + 2.0_f64.powi(-11) + 2.0_f64.powi(-20),
        2.0_f64.powi(-24),
        2.0_f64.powi(-25),
        1.5 * 2.0_f64.powi(-25),
        -0.0,
        f64::INFINITY,
    ];
    let halves = [
        65_504.0,
        65_504.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::INFINITY,
        2048.0,
        2052.0,
        1.0 + 2.0_f64.powi(-10),
        2.0_f64.powi(-24),
        0.0,
        2.0_f64.powi(-24),
        -0.0,
        f64::INFINITY,
    ]
    .map(f16::from_f64);
    let doubles = Tensor::from_array(backend, &ndarray::arr1(&numbers)).unwrap();
    let floats: Tensor<f32> = contiguous_copy_as(&doubles, &stream).unwrap();
    for converted in [
        contiguous_copy_as(&doubles, &stream),
        contiguous_copy_as(&floats, &stream),
    ] {
        let converted: Tensor<f16> = converted.unwrap();
        assert_same_bits(
            "halves",
            &converted.to_array().unwrap(),
            &ndarray::arr1(&halves).into_dyn(),
        );
    }
    let nan = Tensor::from_array(backend, &ndarray::arr1(&[f64::NAN; 3])).unwrap();
    let nan: Tensor<f16> = contiguous_copy_as(&nan, &stream).unwrap();
    assert!(nan.to_array().unwrap().iter().all(|value| value.is_nan()));
}

mod between_types {
    use super::*;

    #[test]
    fn cpu() {
        conversions(&Backend::cpu());
        conversions_at_the_ends(&Backend::cpu());
    }

    #[test]
    #[ignore = "needs a GPU: run with --include-ignored where there is one"]
    fn gpu_device() {
        conversions(&backends::gpu());
        conversions_at_the_ends(&backends::gpu());
    }
}
