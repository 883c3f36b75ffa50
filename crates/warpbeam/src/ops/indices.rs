//! Positions along an axis, checked once.

use crate::device::{Backend, DeviceError, Stream, Tensor};
use crate::{Error, Result};
use ndarray::{ArrayRef, Ix1};

/// Most indices of one object.
const MOST_INDICES: usize = i32::MAX as usize;

/// Positions along an axis of a given length, in any order and as often as wanted; none is outside.
#[derive(Debug)]
pub struct Indices {
    pub(super) positions: Tensor<i32>,
    axis_length: usize,
}

impl Indices {
    /// Checks indices on the host and copies them to a backend.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchPosition`] with the first index that is negative or not below `axis_length`;
    /// [`Error::OutOfRange`] for 2³¹ indices or more; [`Error::OutOfMemory`].
    pub fn new(backend: &Backend, indices: &ArrayRef<i32, Ix1>, axis_length: usize) -> Result<Self> {
        expect_count(indices.len())?;
        check(indices.iter().copied(), axis_length)?;
        Ok(Self {
            positions: Tensor::from_array(backend, indices)?,
            axis_length,
        })
    }

    /// Checks indices where they are.
    ///
    /// # Errors
    ///
    /// As [`Indices::new`]; [`Error::WrongAxes`] for more or less than one axis, [`Error::WrongBackend`] for a stream from
    /// elsewhere, [`DeviceError`] for a tensor that is not contiguous, and what the device reports.
    pub fn from_tensor(positions: Tensor<i32>, axis_length: usize, stream: &Stream) -> Result<Self> {
        if positions.shape().len() != 1 {
            return Err(Error::WrongAxes {
                what: "the indices",
                expected: "one axis",
                got: positions.shape().to_vec(),
            });
        }
        expect_count(positions.len())?;
        positions.expect_contiguous("the indices")?;
        positions.backend().expect("the stream", stream.backend())?;
        #[cfg(feature = "cuda")]
        if let Some(cuda) = positions.backend().as_cuda() {
            if has_bad(cuda, &positions, axis_length, stream)? {
                check(positions.to_array()?.into_iter(), axis_length)?;
            }
            return Ok(Self { positions, axis_length });
        }
        check(positions.host_slice("the indices")?.iter().copied(), axis_length)?;
        Ok(Self { positions, axis_length })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Length of the axis that they are for.
    pub fn axis_length(&self) -> usize {
        self.axis_length
    }

    /// Where they are.
    pub fn backend(&self) -> &Backend {
        self.positions.backend()
    }

    /// Refuses an axis that is not there or has another length.
    pub(super) fn expect_axis(&self, what: &'static str, shape: &[usize], axis: usize) -> Result<()> {
        expect_axis(what, shape, axis, self.axis_length)
    }
}

/// Refuses an axis that is not there or has another length.
pub(super) fn expect_axis(what: &'static str, shape: &[usize], axis: usize, length: usize) -> Result<()> {
    let Some(&got) = shape.get(axis) else {
        let shape = shape.to_vec();
        return Err(DeviceError::NoSuchAxis { axis, shape }.into());
    };
    if got == length {
        return Ok(());
    }
    let mut expected = shape.to_vec();
    expected[axis] = length;
    Err(Error::ShapeMismatch {
        what,
        expected,
        got: shape.to_vec(),
    })
}

fn expect_count(count: usize) -> Result<()> {
    if count <= MOST_INDICES {
        return Ok(());
    }
    Err(Error::OutOfRange {
        what: "the number of indices",
        value: count as f64,
        requirement: "below 2147483648",
    })
}

/// Refuses the first index that is out of range.
fn check(indices: impl Iterator<Item = i32>, axis_length: usize) -> Result<()> {
    let is_bad = |value: i32| usize::try_from(value).map_or(true, |value| value >= axis_length);
    match indices.enumerate().find(|(_, value)| is_bad(*value)) {
        None => Ok(()),
        Some((position, value)) => Err(Error::NoSuchPosition {
            position,
            value,
            axis_length,
        }),
    }
}

/// Whether an index on a device is out of range: one pass over them there.
#[cfg(feature = "cuda")]
fn has_bad(cuda: &crate::device::Cuda, positions: &Tensor<i32>, axis_length: usize, stream: &Stream) -> Result<bool> {
    use kernels::index::{Check, NONE, THREADS, check_indices};
    let mut first_bad = Tensor::from_array(positions.backend(), &ndarray::arr1(&[NONE]))?;
    let n_indices = positions.len() as u32;
    let parameters = Check {
        indices: positions.global("the indices")?,
        first_bad: first_bad.global_mut("the first bad index")?,
        n_indices,
        below: axis_length.min(1 << 31) as u32,
    };
    let shape = cuda_std::Launch {
        grid: [n_indices.div_ceil(THREADS), 1, 1],
        threads: THREADS,
        shared_bytes: 0,
    };
    cuda.launch(&check_indices, shape, parameters, stream)?;
    Ok(first_bad.to_array()?.iter().any(|&position| position != NONE))
}
