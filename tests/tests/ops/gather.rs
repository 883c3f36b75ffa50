//! Rows from given places.

use crate::on_every_backend_and_value;
use crate::strided::{Strided, by_place};
use crate::values::Value;
use integration_tests::bits::assert_same_bits;
use integration_tests::random::rng;
use ndarray::{Array1, ArrayD};
use warpbeam::ops::{Indices, gather, gather_into};
use warpbeam::{Backend, Tensor};

fn any_axis<T: Value>(backend: &Backend) {
    let mut rng = rng();
    let stream = backend.stream().unwrap();
    for run in 0..30 {
        let strided = Strided::<T>::random(backend, &mut rng, [100, 3000][run % 2]);
        let shape = strided.expected.shape().to_vec();
        for axis in 0..shape.len() {
            let count = rng.usize(..=2 * shape[axis]);
            let places: Array1<i32> = (0..count).map(|_| rng.usize(..shape[axis]) as i32).collect();
            let mut new = shape.clone();
            new[axis] = count;
            let expected = by_place(&new, |place| {
                let mut from = place.to_vec();
                from[axis] = places[place[axis]] as usize;
                strided.expected[&from[..]]
            });
            let indices = Indices::new(backend, &places, shape[axis]).unwrap();
            let what = format!("axis {axis}, {}", strided.what());
            let got = gather(strided.view(), axis, &indices, &stream).unwrap();
            assert_same_bits(&what, &got.to_array().unwrap(), &expected);
            let there = Tensor::from_array(backend, &places).unwrap();
            let indices = Indices::from_tensor(there, shape[axis], &stream).unwrap();
            let stale = ArrayD::from_elem(expected.raw_dim(), T::stale());
            let mut into = Tensor::from_array(backend, &stale).unwrap();
            gather_into(strided.view(), axis, &indices, &mut into, &stream).unwrap();
            assert_same_bits(&what, &into.to_array().unwrap(), &expected);
        }
    }
}

/// Row 1 of a 4 × 3 matrix, along an axis behind which there is nothing.
fn a_row_of_a_matrix(backend: &Backend) {
    let stream = backend.stream().unwrap();
    let matrix = ndarray::Array2::from_shape_fn((4, 3), |(row, column)| (10 * row + column) as f32);
    let tensor = Tensor::from_array(backend, &matrix).unwrap();
    let take = |axis, index, length| {
        let indices = Indices::new(backend, &Array1::from(vec![index]), length).unwrap();
        gather(&tensor, axis, &indices, &stream).unwrap().to_array().unwrap()
    };
    assert_eq!(take(0, 1, 4), ndarray::arr2(&[[10.0, 11.0, 12.0]]).into_dyn());
    assert_eq!(
        take(1, 2, 3),
        ndarray::arr2(&[[2.0], [12.0], [22.0], [32.0]]).into_dyn()
    );
}

integration_tests::on_every_backend! {
    a_row_of_a_matrix: super::a_row_of_a_matrix;
}

on_every_backend_and_value! {
    any_axis;
}
