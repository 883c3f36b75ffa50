//! What every part of the physical level asks of its numbers and of the memory it takes.

use crate::{Backend, Error, Result};
use ndarray::{ArrayD, ArrayRef2};

/// Refuses anything but a positive finite number.
pub(super) fn positive(what: &'static str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::OutOfRange {
        what,
        value,
        requirement: "positive and finite",
    })
}

/// Refuses NaN and infinity.
pub(super) fn finite(what: &'static str, value: f64) -> Result<()> {
    if value.is_finite() {
        return Ok(());
    }
    Err(Error::OutOfRange {
        what,
        value,
        requirement: "finite",
    })
}

/// Refuses NaN and infinity in a list or point; the error names the place.
pub(super) fn all_finite<'a>(what: &'static str, values: impl IntoIterator<Item = &'a f64>) -> Result<()> {
    let bad = values.into_iter().enumerate().find(|(_, value)| !value.is_finite());
    match bad {
        None => Ok(()),
        Some((index, value)) => Err(Error::NotFinite {
            what,
            index: vec![index],
            value: *value,
        }),
    }
}

/// Refuses anything but at least one row of three finite numbers.
pub(super) fn points(what: &'static str, array: &ArrayRef2<f64>) -> Result<()> {
    if array.ncols() != 3 {
        return Err(Error::WrongAxes {
            what,
            expected: "a last axis of 3 (x, y, z)",
            got: array.shape().to_vec(),
        });
    }
    if array.is_empty() {
        return Err(Error::Empty {
            what,
            shape: array.shape().to_vec(),
            minimum: 1,
        });
    }
    match array.indexed_iter().find(|(_, value)| !value.is_finite()) {
        None => Ok(()),
        Some(((row, column), value)) => Err(Error::NotFinite {
            what,
            index: vec![row, column],
            value: *value,
        }),
    }
}

/// Refuses to take `bytes` of memory where there is less; `None` is more than can be counted.
///
/// Asked before anything is allocated: an operating system promises memory that it does not have.
pub(super) fn fits(what: &'static str, bytes: Option<usize>) -> Result<()> {
    let available = Backend::cpu().available_memory_bytes().unwrap_or(u64::MAX);
    match bytes {
        Some(bytes) if bytes as u64 <= available => Ok(()),
        _ => Err(too_large(what, bytes)),
    }
}

/// An empty list with room for as many items as the product of `factors`.
pub(super) fn reserve<T>(what: &'static str, factors: &[usize]) -> Result<Vec<T>> {
    let bytes = product(factors).and_then(|count| count.checked_mul(size_of::<T>()));
    fits(what, bytes)?;
    let mut list = Vec::new();
    list.try_reserve_exact(factors.iter().product())
        .map_err(|_| too_large(what, bytes))?;
    Ok(list)
}

/// The product of `factors`, where it can be counted.
pub(super) fn product(factors: &[usize]) -> Option<usize> {
    factors
        .iter()
        .try_fold(1_usize, |product, factor| product.checked_mul(*factor))
}

/// `list` in the shape given, whose product is the list's length.
pub(super) fn shaped(what: &'static str, shape: &[usize], list: Vec<f64>) -> Result<ArrayD<f64>> {
    let bytes = list.len().checked_mul(size_of::<f64>());
    // A list that exists has a shape that exists; only what no address reaches is refused.
    ArrayD::from_shape_vec(shape, list).map_err(|_| too_large(what, bytes))
}

fn too_large(what: &'static str, bytes: Option<usize>) -> Error {
    let needed_bytes = bytes.map_or(u64::MAX, |bytes| bytes as u64);
    Error::OutOfMemory {
        what,
        needed_bytes,
        available_bytes: Backend::cpu().available_memory_bytes(),
    }
}
