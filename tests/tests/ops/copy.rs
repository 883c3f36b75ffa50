//! Dense copies.

use crate::on_every_backend_and_value;
use crate::strided::Strided;
use crate::values::Value;
use integration_tests::bits::assert_same_bits;
use integration_tests::random::rng;
use ndarray::ArrayD;
use warpbeam::ops::{contiguous_copy, contiguous_copy_into};
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
