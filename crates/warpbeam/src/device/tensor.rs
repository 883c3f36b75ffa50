//! Arrays on a backend: owned memory, or memory that another library owns.

use std::any::Any;
use std::fmt;

use cuda_std::{Global, GlobalMut};

use super::{Backend, DeviceError, Element, host, layout};
use crate::Result;

/// An array on a [`Backend`], by shape and strides.
///
/// What the library allocates is contiguous in row-major order. Memory taken over from elsewhere may have any strides:
/// it can be read ([`Tensor::to_array`]), but kernels and writes need it contiguous.
pub struct Tensor<T> {
    shape: Vec<usize>,
    strides: Vec<isize>,
    backend: Backend,
    storage: Storage<T>,
}

enum Storage<T> {
    Host(Vec<T>),
    Borrowed(Borrowed<T>),
}

/// Memory of another library.
struct Borrowed<T> {
    /// The first element, index zero along every axis.
    pointer: *mut T,
    _owner: Box<dyn Any + Send>,
}

// SAFETY: `from_raw_parts` makes its caller promise that the memory may be used from any thread; the owner is `Send`.
unsafe impl<T: Send> Send for Borrowed<T> {}
// SAFETY: a shared tensor is only read, and the owner is out of reach until the drop.
unsafe impl<T: Sync> Sync for Borrowed<T> {}

impl<T: Element> Tensor<T> {
    /// Zeros.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) with the bytes needed and available.
    pub fn zeros(backend: &Backend, shape: &[usize]) -> Result<Self> {
        let length = length(shape)?;
        let storage = Storage::Host(host::zeroed(length, "a tensor")?);
        Ok(Self {
            shape: shape.to_vec(),
            strides: layout::row_major(shape),
            backend: backend.clone(),
            storage,
        })
    }

    /// Memory to be written before it is read.
    pub(super) fn unset(backend: &Backend, shape: &[usize]) -> Result<Self> {
        Self::zeros(backend, shape)
    }

    /// Memory that another library owns, without a copy: the semantics of `DLPack`.
    ///
    /// | argument | meaning |
    /// |---|---|
    /// | `pointer` | the element with index zero along every axis, on `backend`; anything where the tensor is empty |
    /// | `strides` | distance of neighbours along each axis, in elements; negative and zero strides are allowed |
    /// | `owner` | kept until the tensor is dropped and the work queued on it is done |
    ///
    /// # Errors
    ///
    /// [`DeviceError`] when the pointer is not aligned to the size of `T`, when there is not one stride an axis, or when
    /// shape and strides leave the address space.
    ///
    /// # Safety
    ///
    /// While the tensor lives, the memory from its lowest element to its highest, gaps included, is there, is
    /// initialised, and may be used from any thread. Nobody else writes it meanwhile, nor reads it while this library
    /// writes it. Work of other libraries on it that is still queued is waited for before this library is called.
    pub unsafe fn from_raw_parts(
        backend: &Backend,
        pointer: *mut T,
        shape: &[usize],
        strides: &[isize],
        owner: impl Any + Send,
    ) -> Result<Self> {
        let length = length(shape)?;
        if shape.len() != strides.len() {
            return Err(DeviceError::StridesPerAxis {
                shape: shape.to_vec(),
                strides: strides.to_vec(),
            }
            .into());
        }
        let (address, alignment) = (pointer.addr(), size_of::<T>());
        if length > 0 {
            if !address.is_multiple_of(alignment) {
                return Err(DeviceError::Misaligned { address, alignment }.into());
            }
            if !fits(address, shape, strides, alignment) {
                let (shape, strides) = (shape.to_vec(), strides.to_vec());
                return Err(DeviceError::OutsideAddressSpace {
                    address,
                    shape,
                    strides,
                }
                .into());
            }
        }
        let storage = Storage::Borrowed(Borrowed {
            pointer,
            _owner: Box::new(owner),
        });
        Ok(Self {
            shape: shape.to_vec(),
            strides: strides.to_vec(),
            backend: backend.clone(),
            storage,
        })
    }

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
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// The elements for a kernel that reads them.
    pub(crate) fn global(&self, what: &'static str) -> Result<Global<T::Device>> {
        self.expect_contiguous(what)?;
        // SAFETY: the elements are there by the invariant of `storage`; the borrow of the tensor, which a plan keeps for
        // the call, and the drop's wait for queued work keep them there while the kernel runs.
        Ok(unsafe { Global::new(self.pointer().cast(), self.len() as u64) })
    }

    /// The elements for a kernel that writes them.
    pub(crate) fn global_mut(&mut self, what: &'static str) -> Result<GlobalMut<T::Device>> {
        self.expect_contiguous(what)?;
        // SAFETY: as above, and the tensor is borrowed mutably for the call that launches.
        Ok(unsafe { GlobalMut::new(self.pointer().cast_mut().cast(), self.len() as u64) })
    }

    /// The elements of a contiguous tensor on the CPU.
    pub(crate) fn host_slice(&self, what: &'static str) -> Result<&[T]> {
        Backend::cpu().expect(what, &self.backend)?;
        self.expect_contiguous(what)?;
        Ok(self.host_span())
    }

    /// The elements of a contiguous tensor on the CPU, to write.
    pub(crate) fn host_slice_mut(&mut self, what: &'static str) -> Result<&mut [T]> {
        Backend::cpu().expect(what, &self.backend)?;
        self.expect_contiguous(what)?;
        let length = self.len();
        Ok(match &mut self.storage {
            Storage::Host(values) => values,
            Storage::Borrowed(_) if length == 0 => &mut [],
            // SAFETY: contiguous, so `length` elements from the pointer on are the tensor's; nobody else uses them, by
            // the promise made to `from_raw_parts` and the exclusive borrow.
            Storage::Borrowed(memory) => unsafe { std::slice::from_raw_parts_mut(memory.pointer, length) },
        })
    }

    /// All memory of a tensor on the CPU from its lowest element to its highest.
    fn host_span(&self) -> &[T] {
        match &self.storage {
            Storage::Host(values) => values,
            Storage::Borrowed(_) if self.is_empty() => &[],
            Storage::Borrowed(memory) => {
                let (lowest, highest) = self.span();
                // SAFETY: from the lowest element to the highest, gaps included, the memory is there and not written, by
                // the promise made to `from_raw_parts`.
                unsafe { std::slice::from_raw_parts(memory.pointer.offset(lowest), (highest - lowest) as usize + 1) }
            }
        }
    }

    /// Sets the elements of a contiguous tensor.
    pub(super) fn write(&mut self, values: &[T]) -> Result<()> {
        self.host_slice_mut("the tensor to copy to")?.copy_from_slice(values);
        Ok(())
    }

    /// The elements of a contiguous tensor.
    pub(super) fn read(&self, values: &mut [T]) -> Result<()> {
        values.copy_from_slice(self.host_slice("the tensor to copy from")?);
        Ok(())
    }

    /// Lends the memory from the lowest element to the highest.
    pub(super) fn with_span<R>(&self, lend: impl FnOnce(&[T]) -> Result<R>) -> Result<R> {
        lend(self.host_span())
    }

    fn pointer(&self) -> *const T {
        match &self.storage {
            Storage::Host(values) => values.as_ptr(),
            Storage::Borrowed(memory) => memory.pointer,
        }
    }

    /// Lowest and highest offset from the first element; it was checked that they fit.
    fn span(&self) -> (isize, isize) {
        layout::span(&self.shape, &self.strides).unwrap_or((0, 0))
    }

    pub(super) fn expect_contiguous(&self, what: &'static str) -> Result<()> {
        if self.is_contiguous() {
            return Ok(());
        }
        Err(DeviceError::NotContiguous {
            what,
            shape: self.shape.clone(),
            strides: self.strides.clone(),
        }
        .into())
    }
}

impl<T> fmt::Debug for Tensor<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Tensor")
            .field("shape", &self.shape)
            .field("strides", &self.strides)
            .field("backend", &self.backend.name())
            .finish_non_exhaustive()
    }
}

fn length(shape: &[usize]) -> Result<usize> {
    Ok(layout::elements(shape).ok_or_else(|| DeviceError::TooManyElements { shape: shape.to_vec() })?)
}

/// Whether every element of a tensor that is not empty has an address.
fn fits(address: usize, shape: &[usize], strides: &[isize], element_bytes: usize) -> bool {
    let end = |offset: isize| address.checked_add_signed(offset.checked_mul(element_bytes as isize)?);
    layout::span(shape, strides).is_some_and(|(lowest, highest)| {
        end(lowest).is_some_and(|lowest| lowest > 0)
            && end(highest).is_some_and(|highest| highest.checked_add(element_bytes).is_some())
            && highest
                .checked_sub(lowest)
                .and_then(|count| count.checked_mul(element_bytes as isize))
                .is_some()
    })
}
