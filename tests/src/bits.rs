//! Results as bits, for what must not depend on how the work was cut.

use ndarray::ArrayD;
use warpbeam::Element;

/// The bytes of an array in its logical order.
pub fn bits<T: Element + Copy>(array: &ArrayD<T>) -> Vec<u8> {
    array
        .iter()
        .flat_map(|value| bytemuck::bytes_of(value).to_vec())
        .collect()
}

/// Asserts that two arrays have one shape and the same bits.
///
/// # Panics
///
/// Where they differ, with the first place.
pub fn assert_same_bits<T: Element + Copy + std::fmt::Debug>(what: &str, got: &ArrayD<T>, expected: &ArrayD<T>) {
    assert_eq!(got.shape(), expected.shape(), "{what}: shape");
    let first = got
        .indexed_iter()
        .zip(expected.iter())
        .find(|((_, a), b)| bytemuck::bytes_of(*a) != bytemuck::bytes_of(*b));
    if let Some(((index, a), b)) = first {
        panic!("{what}: {a:?} instead of {b:?} at {index:?}");
    }
}
