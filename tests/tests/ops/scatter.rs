//! Rows to given places.

use crate::on_every_backend_and_value;
use crate::strided::{Strided, by_place};
use crate::values::Value;
use integration_tests::bits::assert_same_bits;
use integration_tests::random::{between, rng};
use ndarray::{Array1, ArrayD, IxDyn};
use warpbeam::ops::{Indices, ScatterPlan, scatter_add_into, scatter_into};
use warpbeam::{Backend, Tensor};

/// Every target's last source, or all of them and what is there.
fn any_axis<T: Value>(backend: &Backend) {
    let mut rng = rng();
    let stream = backend.stream().unwrap();
    for run in 0..30 {
        let strided = Strided::<T>::random(backend, &mut rng, [100, 3000][run % 2]);
        let shape = strided.expected.shape().to_vec();
        let axis = rng.usize(..shape.len());
        let length = rng.usize(1..=2 * shape[axis]);
        let places: Array1<i32> = (0..shape[axis]).map(|_| rng.usize(..length) as i32).collect();
        let mut new = shape.clone();
        new[axis] = length;
        let before = by_place(&new, |_| T::stale()).map(|_| T::random(&mut rng));
        let sources = |place: &[usize]| -> Vec<T> {
            let mut from = place.to_vec();
            let of_target = places
                .iter()
                .enumerate()
                .filter(|(_, target)| **target as usize == place[axis]);
            of_target
                .map(|(source, _)| {
                    from[axis] = source;
                    strided.expected[&from[..]]
                })
                .collect()
        };
        let indices = Indices::new(backend, &places, length).unwrap();
        let plan = ScatterPlan::new(&indices).unwrap();
        let what = format!("axis {axis} to {length}, {}", strided.what());

        let mut output = Tensor::from_array(backend, &before).unwrap();
        scatter_into(strided.view(), axis, &plan, &mut output, &stream).unwrap();
        let expected = by_place(&new, |place| sources(place).last().copied().unwrap_or(before[place]));
        assert_same_bits(&what, &output.to_array().unwrap(), &expected);

        let mut output = Tensor::from_array(backend, &before).unwrap();
        scatter_add_into(strided.view(), axis, &plan, &mut output, &stream).unwrap();
        let expected = by_place(&new, |place| {
            let mut summands = sources(place);
            summands.push(before[place]);
            T::sum(&summands)
        });
        // Zeros may have either sign.
        assert_eq!(output.to_array().unwrap(), expected, "{what}");
    }
}

/// Sums of rounded numbers are those of a loop in the order of the sources, bit by bit.
fn order_of_sums(backend: &Backend) {
    let mut rng = rng();
    let stream = backend.stream().unwrap();
    let (n, length, inner) = (1000, 7, 5);
    let values = ndarray::Array2::from_shape_simple_fn((n, inner), || between(&mut rng, -1.0, 1.0) as f32);
    let places: Array1<i32> = (0..n).map(|_| rng.usize(..length) as i32).collect();
    let mut expected = ArrayD::from_elem(IxDyn(&[length, inner]), 0.1_f32);
    let mut output = Tensor::from_array(backend, &expected).unwrap();
    for (source, &target) in places.iter().enumerate() {
        for column in 0..inner {
            expected[[target as usize, column]] += values[[source, column]];
        }
    }
    let plan = ScatterPlan::new(&Indices::new(backend, &places, length).unwrap()).unwrap();
    let input = Tensor::from_array(backend, &values).unwrap();
    scatter_add_into(&input, 0, &plan, &mut output, &stream).unwrap();
    assert_same_bits("sums", &output.to_array().unwrap(), &expected);
}

integration_tests::on_every_backend! {
    order_of_sums: super::order_of_sums;
}

on_every_backend_and_value! {
    any_axis;
}
