//! Parts and other orders of a tensor's axes, without a copy.

use std::ops::Range;

#[cfg(feature = "cuda")]
use cuda_std::{Global, GlobalMut};
use ndarray::{ArrayViewD, ArrayViewMutD};

use super::{Backend, DeviceError, Element, Tensor, layout};
use crate::{Error, Result};

/// A look at a [`Tensor`]: the same elements by another shape and other strides.
///
/// Every method checks what it is asked for, so that a view never leaves its tensor.
///
/// ```
/// use warpbeam::{Backend, Tensor, ops};
/// # fn main() -> warpbeam::Result<()> {
/// let backend = Backend::cpu();
/// let matrix = Tensor::from_array(&backend, &ndarray::arr2(&[[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]]))?;
/// let transposed = ops::contiguous_copy(matrix.view().permuted_axes(&[1, 0])?, &backend.stream()?)?;
/// assert_eq!(transposed.to_array()?, ndarray::arr2(&[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]).into_dyn());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct TensorView<'a, T> {
    tensor: &'a Tensor<T>,
    shape: Vec<usize>,
    strides: Vec<isize>,
    /// From the tensor's first element to the view's, in elements.
    offset: isize,
}

impl<T: Element> Tensor<T> {
    /// All elements, to be looked at in another way.
    pub fn view(&self) -> TensorView<'_, T> {
        TensorView {
            tensor: self,
            shape: self.shape.clone(),
            strides: self.strides.clone(),
            offset: 0,
        }
    }
}

impl<'a, T: Element> From<&'a Tensor<T>> for TensorView<'a, T> {
    fn from(tensor: &'a Tensor<T>) -> Self {
        tensor.view()
    }
}

impl<'a, T: Element> TensorView<'a, T> {
    /// Length of every axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Distance of neighbours along every axis, in elements.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Whether the elements lie densely in row-major order.
    pub fn is_contiguous(&self) -> bool {
        layout::is_row_major(&self.shape, &self.strides)
    }

    /// Where the elements are.
    pub fn backend(&self) -> &'a Backend {
        self.tensor.backend()
    }

    /// The axes in another order: axis i of the result is axis `order[i]`.
    ///
    /// # Errors
    ///
    /// [`DeviceError::NotAPermutation`] when `order` does not name every axis once.
    pub fn permuted_axes(mut self, order: &[usize]) -> Result<Self> {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..self.shape.len()) {
            return Err(DeviceError::NotAPermutation {
                order: order.to_vec(),
                n_axes: self.shape.len(),
            }
            .into());
        }
        self.strides = order.iter().map(|&axis| self.strides[axis]).collect();
        self.shape = order.iter().map(|&axis| self.shape[axis]).collect();
        Ok(self)
    }

    /// An axis from its end to its beginning.
    ///
    /// # Errors
    ///
    /// [`DeviceError::NoSuchAxis`].
    pub fn inverted_axis(mut self, axis: usize) -> Result<Self> {
        self.expect_axis(axis)?;
        // Strides of an empty tensor are anything.
        let last = (self.shape[axis].max(1) - 1) as isize;
        self.offset = self.offset.wrapping_add(self.strides[axis].wrapping_mul(last));
        self.strides[axis] = self.strides[axis].wrapping_neg();
        Ok(self)
    }

    /// The elements whose positions along two axes are equal, along the first of the two; the second goes.
    ///
    /// # Errors
    ///
    /// [`DeviceError::NoSuchAxis`]; [`Error::ShapeMismatch`] for axes of different lengths, or one axis twice.
    pub fn diagonal(mut self, first: usize, second: usize) -> Result<Self> {
        self.expect_axis(first)?;
        self.expect_axis(second)?;
        if first == second || self.shape[first] != self.shape[second] {
            let mut expected = self.shape.clone();
            expected[second] = self.shape[first];
            return Err(Error::ShapeMismatch {
                what: "the view with two equal axes",
                expected,
                got: self.shape,
            });
        }
        // Strides of axes that are 1 long, or of an empty tensor, are anything.
        self.strides[first] = self.strides[first].wrapping_add(self.strides[second]);
        self.shape.remove(second);
        self.strides.remove(second);
        Ok(self)
    }

    /// Every `step`-th position of a range along an axis.
    ///
    /// # Errors
    ///
    /// [`DeviceError::NoSuchAxis`]; [`DeviceError::NoSuchRange`] for a range that leaves the axis or ends before it
    /// begins; [`Error::OutOfRange`] for a step of 0.
    pub fn sliced(mut self, axis: usize, range: Range<usize>, step: usize) -> Result<Self> {
        self.expect_axis(axis)?;
        let length = self.shape[axis];
        if range.start > range.end || range.end > length {
            return Err(DeviceError::NoSuchRange { range, axis, length }.into());
        }
        if step == 0 {
            return Err(Error::OutOfRange {
                what: "the step of a slice",
                value: 0.0,
                requirement: "at least 1",
            });
        }
        self.shape[axis] = range.len().div_ceil(step);
        if self.shape[axis] > 0 {
            let first = self.strides[axis].wrapping_mul(range.start as isize);
            self.offset = self.offset.wrapping_add(first);
        }
        // With one position or none left, the stride says nothing, and a large step must not overflow it.
        if self.shape[axis] > 1 {
            self.strides[axis] = self.strides[axis].wrapping_mul(step as isize);
        }
        Ok(self)
    }

    /// The elements repeated along new axes in front and along axes of length 1, as `ndarray` and `NumPy` do.
    ///
    /// # Errors
    ///
    /// [`Error::ShapeMismatch`] where the shape has fewer axes, or another length than an axis that is not 1 long;
    /// [`DeviceError::TooManyElements`].
    pub fn broadcast(mut self, shape: &[usize]) -> Result<Self> {
        let mismatch = || Error::ShapeMismatch {
            what: "the shape to broadcast to",
            expected: self.shape.clone(),
            got: shape.to_vec(),
        };
        let n_new = shape.len().checked_sub(self.shape.len()).ok_or_else(mismatch)?;
        layout::elements(shape).ok_or_else(|| DeviceError::TooManyElements { shape: shape.to_vec() })?;
        let mut strides = vec![0; n_new];
        for ((&length, &stride), &wanted) in self.shape.iter().zip(&self.strides).zip(&shape[n_new..]) {
            strides.push(match (length, wanted) {
                (length, wanted) if length == wanted => stride,
                (1, _) => 0,
                _ => return Err(mismatch()),
            });
        }
        self.shape = shape.to_vec();
        self.strides = strides;
        Ok(self)
    }

    fn expect_axis(&self, axis: usize) -> Result<()> {
        if axis < self.shape.len() {
            return Ok(());
        }
        Err(DeviceError::NoSuchAxis {
            axis,
            shape: self.shape.clone(),
        }
        .into())
    }

    /// The elements of a view on the CPU.
    pub(crate) fn host(&self, what: &'static str) -> Result<ArrayViewD<'a, T>> {
        Backend::cpu().expect(what, self.backend())?;
        let too_many = || DeviceError::TooManyElements {
            shape: self.shape.clone(),
        };
        if self.is_empty() {
            return ArrayViewD::from_shape(&self.shape[..], &[]).map_err(|_| too_many().into());
        }
        let (lowest, highest) = self.span();
        let first = (lowest - self.tensor.span().0) as usize;
        let span = &self.tensor.host_span()[first..=first + (highest - lowest) as usize];
        super::transfer::strided_view(span, &self.shape, &self.strides).map_err(|_| too_many().into())
    }

    /// Lowest and highest place of an element, counted from the tensor's first one; 0 where there is none.
    fn span(&self) -> (isize, isize) {
        if self.is_empty() {
            return (0, 0);
        }
        let (lowest, highest) = layout::span(&self.shape, &self.strides).unwrap_or((0, 0));
        (self.offset + lowest, self.offset + highest)
    }

    /// The memory from the lowest element to the highest as units of a kernel, as many as are complete; units have the size
    /// of an element or a multiple of it.
    #[cfg(feature = "cuda")]
    pub(crate) fn global_units<U: cuda_std::Element>(&self) -> Result<Global<U>> {
        if self.is_empty() {
            return Ok(Global::empty());
        }
        let (lowest, highest) = self.span();
        let (address, length) = (self.address(), (highest - lowest) as u64 + 1);
        if !address.is_multiple_of(size_of::<U>()) {
            let alignment = size_of::<U>();
            return Err(DeviceError::Misaligned { address, alignment }.into());
        }
        let pointer = self.tensor.pointer().wrapping_offset(lowest);
        // SAFETY: a view stays within its tensor, whose elements are there by the invariant of its storage, gaps included;
        // the borrow of the tensor for the call that launches and its drop's wait keep them there while the kernel runs.
        // The other size is a multiple of the element's or a part of it, and the address is a multiple of it.
        Ok(unsafe { Global::new(pointer.cast::<T::Device>(), length).cast() })
    }

    /// Queues the copy of a contiguous view to a contiguous tensor of as many elements.
    #[cfg(feature = "cuda")]
    pub(crate) fn copy_dense(&self, cuda: &super::Cuda, output: &mut Tensor<T>, stream: &super::Stream) -> Result<()> {
        output.expect_contiguous("the output")?;
        let queue = stream.on(cuda)?;
        if self.is_empty() {
            return Ok(());
        }
        let count = self.len().min(output.len());
        let (source, target) = (self.address() as u64, output.pointer().addr() as u64);
        // SAFETY: the elements of a contiguous view lie one after the other from its first, which is its lowest, on; so do
        // those of the output, which is borrowed exclusively and so is not the view's tensor.
        Ok(unsafe { cuda.copy(target, source, super::host::bytes::<T>(count), queue) }?)
    }

    /// Address of the lowest element.
    #[cfg(feature = "cuda")]
    pub(crate) fn address(&self) -> usize {
        self.tensor.pointer().wrapping_offset(self.span().0).addr()
    }

    /// How many elements behind the lowest one that of index 0 along all axes is.
    #[cfg(feature = "cuda")]
    pub(crate) fn origin(&self) -> isize {
        self.offset - self.span().0
    }
}

impl<T: Element> Tensor<T> {
    /// The elements of a contiguous tensor on the CPU, to write, in its shape.
    pub(crate) fn host_array_mut(&mut self, what: &'static str) -> Result<ArrayViewMutD<'_, T>> {
        let shape = self.shape.clone();
        ArrayViewMutD::from_shape(&shape[..], self.host_slice_mut(what)?)
            .map_err(|_| DeviceError::TooManyElements { shape }.into())
    }
}

#[cfg(feature = "cuda")]
impl<T: Element> Tensor<T> {
    /// As [`TensorView::global_units`], to write; the tensor is contiguous.
    pub(crate) fn global_units_mut<U: cuda_std::Element>(&mut self, what: &'static str) -> Result<GlobalMut<U>> {
        self.expect_contiguous(what)?;
        self.view().global_units::<U>()?;
        let length = self.len() as u64;
        // SAFETY: as there, and the tensor is borrowed mutably for the call that launches.
        Ok(unsafe { GlobalMut::new(self.pointer().cast_mut().cast::<T::Device>(), length).cast() })
    }
}
