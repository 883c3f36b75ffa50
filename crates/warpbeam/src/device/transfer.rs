//! Copies between tensors and arrays on the host.

use ndarray::{ArrayD, ArrayRef, ArrayViewD, ArrayViewMut, Axis, Dimension, IxDyn, ShapeBuilder};

use super::{Backend, DeviceError, Element, Tensor, host};
use crate::{Error, Result};

impl<T: Element> Tensor<T> {
    /// The values of `array`, which may have any strides; contiguous on the backend.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] with the bytes needed and available; [`DeviceError`] when the copy fails.
    pub fn from_array<D: Dimension>(backend: &Backend, array: &ArrayRef<T, D>) -> Result<Self> {
        let mut tensor = Self::unset(backend, array.shape())?;
        tensor.copy_from_array(array)?;
        Ok(tensor)
    }

    /// The values, in row-major order.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] when the host has no room; [`DeviceError`] when the copy fails, or work before it.
    pub fn to_array(&self) -> Result<ArrayD<T>> {
        let values = host::zeroed(self.len(), "the host's copy of a tensor")?;
        let mut array = ArrayD::from_shape_vec(IxDyn(self.shape()), values).map_err(|_| self.too_many_elements())?;
        self.copy_to_array(&mut array)?;
        Ok(array)
    }

    /// Overwrites the tensor with the values of `array`, which has the same shape and any strides.
    ///
    /// # Errors
    ///
    /// [`Error::ShapeMismatch`]; [`DeviceError::NotContiguous`] when the tensor is not contiguous, [`DeviceError`] also
    /// when the copy fails, or work before it.
    pub fn copy_from_array<D: Dimension>(&mut self, array: &ArrayRef<T, D>) -> Result<()> {
        range!("upload");
        self.expect_shape("the array to copy from", array.shape())?;
        self.expect_contiguous("the tensor to copy to")?;
        if let Some(values) = array.as_slice() {
            return self.write(values);
        }
        let too_many = self.too_many_elements();
        let gather = |values: &mut [T]| -> Result<()> {
            let mut dense = ArrayViewMut::from_shape(array.raw_dim(), values).map_err(|_| too_many)?;
            dense.assign(array);
            Ok(())
        };
        if self.backend().is_cuda() {
            let mut values = host::zeroed(self.len(), "a contiguous copy of an array")?;
            gather(&mut values)?;
            self.write(&values)
        } else {
            gather(self.host_slice_mut("the tensor to copy to")?)
        }
    }

    /// Copies the values to `array`, which has the same shape and any strides.
    ///
    /// # Errors
    ///
    /// [`Error::ShapeMismatch`]; [`Error::OutOfMemory`] when the host has no room for a copy in between, which device
    /// memory with gaps needs; [`DeviceError`] when the copy fails, or work before it.
    pub fn copy_to_array<D: Dimension>(&self, array: &mut ArrayRef<T, D>) -> Result<()> {
        range!("download");
        self.expect_shape("the array to copy to", array.shape())?;
        if self.is_contiguous()
            && let Some(values) = array.as_slice_mut()
        {
            return self.read(values);
        }
        self.with_span(|span| {
            let view = strided_view(span, self.shape(), self.strides()).map_err(|_| self.too_many_elements())?;
            let mut target = array.view_mut().into_dyn();
            target.assign(&view);
            Ok(())
        })
    }

    fn expect_shape(&self, what: &'static str, got: &[usize]) -> Result<()> {
        if got == self.shape() {
            return Ok(());
        }
        Err(Error::ShapeMismatch {
            what,
            expected: self.shape().to_vec(),
            got: got.to_vec(),
        })
    }

    fn too_many_elements(&self) -> DeviceError {
        DeviceError::TooManyElements {
            shape: self.shape().to_vec(),
        }
    }
}

/// The elements in `span`, which begins at the lowest of them, as an array.
pub(super) fn strided_view<'a, T>(
    span: &'a [T],
    shape: &[usize],
    strides: &[isize],
) -> std::result::Result<ArrayViewD<'a, T>, ndarray::ShapeError> {
    let distances: Vec<usize> = strides.iter().map(|stride| stride.unsigned_abs()).collect();
    let mut view = ArrayViewD::from_shape(IxDyn(shape).strides(IxDyn(&distances)), span)?;
    for (axis, _) in strides.iter().enumerate().filter(|(_, stride)| **stride < 0) {
        view.invert_axis(Axis(axis));
    }
    Ok(view)
}
