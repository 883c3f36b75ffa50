//! Distances and angles against f64.

use crate::strided::place;
use integration_tests::random::{between, rng};
use ndarray::{ArrayD, IxDyn};
use std::f64::consts::{FRAC_PI_2, PI};
use warpbeam::ops::{Coordinate, angle, distance_to_rectangle, pairwise_distance};
use warpbeam::{Backend, Error, Tensor};

fn random<T: Coordinate>(rng: &mut fastrand::Rng, shape: &[usize]) -> ArrayD<T> {
    let count = shape.iter().product::<usize>();
    let values = std::iter::repeat_with(|| T::from_f64(between(rng, -0.1, 0.1))).take(count);
    ArrayD::from_shape_vec(IxDyn(shape), values.collect()).expect("as many as the shape says")
}

/// Largest difference from the oracle's value, against what the type allows of numbers of that size.
fn assert_near<T: Coordinate>(what: &str, got: &ArrayD<T>, scale: f64, expected: impl Fn(&[usize]) -> f64) {
    let bound = scale * if size_of::<T>() == 4 { 1e-6 } else { 4e-15 };
    let mut worst = 0.0_f64;
    for (number, value) in got.iter().enumerate() {
        let place = place(got.shape(), number);
        let error = (value.to_f64() - expected(&place)).abs();
        assert!(
            error <= bound,
            "{what} at {place:?}: {} instead of {}",
            value.to_f64(),
            expected(&place)
        );
        worst = worst.max(error);
    }
    println!("{worst:9.2e} of {bound:.2e} allowed: {what}");
}

fn distances<T: Coordinate>(backend: &Backend) {
    let mut rng = rng();
    let stream = backend.stream().unwrap();
    for (batch, n, m, d) in [
        (&[][..], 5, 7, 3),
        (&[3], 9, 300, 3),
        (&[2, 2], 1, 4, 2),
        (&[2], 4, 3, 6),
    ] {
        let shape = |count| [batch, &[count, d]].concat();
        let (rows, columns) = (random::<T>(&mut rng, &shape(n)), random::<T>(&mut rng, &shape(m)));
        let first = Tensor::from_array(backend, &rows).unwrap();
        // Coordinates that lie apart.
        let last = columns.ndim() - 1;
        let mut order: Vec<usize> = (0..=last).collect();
        order.swap(last, last - 1);
        let apart = columns
            .clone()
            .permuted_axes(IxDyn(&order))
            .as_standard_layout()
            .into_owned();
        let second = Tensor::from_array(backend, &apart).unwrap();
        let second = second.view().permuted_axes(&order).unwrap();
        let got = pairwise_distance(&first, second, &stream).unwrap().to_array().unwrap();
        assert_eq!(got.shape(), [batch, &[n, m]].concat());
        assert_near(&format!("distances, {batch:?} {n} {m} {d}"), &got, 1.0, |place| {
            let (front, ends) = place.split_at(place.len() - 2);
            let at = |array: &ArrayD<T>, point, axis| array[&[front, &[point, axis]].concat()[..]].to_f64();
            let square: f64 = (0..d)
                .map(|axis| (at(&rows, ends[0], axis) - at(&columns, ends[1], axis)).powi(2))
                .sum();
            square.sqrt()
        });
    }
}

fn rectangles<T: Coordinate>(backend: &Backend) {
    let mut rng = rng();
    let stream = backend.stream().unwrap();
    for shape in [&[3][..], &[700, 3], &[4, 5, 3]] {
        let points = random::<T>(&mut rng, shape);
        let tensor = Tensor::from_array(backend, &points).unwrap();
        let got = distance_to_rectangle(&tensor, 0.09, 0.03, &stream)
            .unwrap()
            .to_array()
            .unwrap();
        assert_near(&format!("to a rectangle, {shape:?}"), &got, 1.0, |place| {
            let at = |axis| points[&[place, &[axis]].concat()[..]].to_f64();
            let (dx, dy) = (at(0) - at(0).clamp(-0.045, 0.045), at(1) - at(1).clamp(-0.015, 0.015));
            (dx * dx + dy * dy + at(2) * at(2)).sqrt()
        });
    }
}

fn angles<T: Coordinate>(backend: &Backend) {
    let mut rng = rng();
    let stream = backend.stream().unwrap();
    let plane: Vec<f64> = (0..500).map(|_| between(&mut rng, 0.0, PI)).collect();
    let vectors = ArrayD::from_shape_fn(IxDyn(&[500, 2]), |place| {
        let (sine, cosine) = plane[place[0]].sin_cos();
        T::from_f64(3.0 * if place[1] == 0 { cosine } else { sine })
    });
    let first = Tensor::from_array(backend, &vectors).unwrap();
    let axis = Tensor::from_array(backend, &ndarray::arr1(&[T::from_f64(0.5), T::ZERO])).unwrap();
    let got = angle(&first, axis.view().broadcast(&[500, 2]).unwrap(), &stream).unwrap();
    assert_near("angles to an axis", &got.to_array().unwrap(), 1.0, |place| {
        let at = |axis| vectors[[place[0], axis]].to_f64();
        at(1).atan2(at(0))
    });
    // The same vector, the opposite one, and none.
    let pairs = [[1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [0.0, 0.0, 0.0]];
    let second = ArrayD::from_shape_fn(IxDyn(&[3, 3]), |place| T::from_f64(pairs[place[0]][place[1]]));
    let one = Tensor::from_array(backend, &second).unwrap();
    let same = one.view().sliced(0, 0..1, 1).unwrap().broadcast(&[3, 3]).unwrap();
    let got = angle(same, &one, &stream).unwrap().to_array().unwrap();
    assert_near("angles at the ends", &got, 1.0, |place| [0.0, PI, FRAC_PI_2][place[0]]);
}

fn refused(backend: &Backend) {
    let stream = backend.stream().unwrap();
    let of = |shape: &[usize]| Tensor::<f32>::zeros(backend, shape).unwrap();
    let message = |result: Result<Tensor<f32>, Error>| match result {
        Ok(_) => panic!("this must be refused"),
        Err(error) => error.to_string(),
    };
    assert_eq!(
        message(pairwise_distance(&of(&[2, 4, 3]), &of(&[2, 5, 2]), &stream)),
        "the second points has shape [2, 5, 2]; expected [2, 5, 3]"
    );
    assert!(message(pairwise_distance(&of(&[2, 4, 3]), &of(&[5, 3]), &stream)).contains("expected [2, "));
    assert!(message(pairwise_distance(&of(&[4]), &of(&[5, 3]), &stream)).contains("the first points has shape [4]"));
    assert_eq!(
        message(distance_to_rectangle(&of(&[4, 2]), 1.0, 1.0, &stream)),
        "the points has shape [4, 2]; expected (.., 3)"
    );
    assert_eq!(
        message(distance_to_rectangle(&of(&[4, 3]), -1.0, 1.0, &stream)),
        "the rectangle's width is -1; it must be finite and not negative"
    );
    assert!(message(distance_to_rectangle(&of(&[4, 3]), 1.0, f64::NAN, &stream)).contains("height is NaN"));
    assert_eq!(
        message(angle(&of(&[4, 3]), &of(&[3]), &stream)),
        "the second vectors has shape [3]; expected [4, 3]"
    );
    assert_eq!(
        pairwise_distance(&of(&[0, 3]), &of(&[5, 3]), &stream).unwrap().shape(),
        [0, 5]
    );
}

integration_tests::on_every_backend! {
    distances_f32: super::distances::<f32>;
    distances_f64: super::distances::<f64>;
    rectangles_f32: super::rectangles::<f32>;
    rectangles_f64: super::rectangles::<f64>;
    angles_f32: super::angles::<f32>;
    angles_f64: super::angles::<f64>;
    refused: super::refused;
}
