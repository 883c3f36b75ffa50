//! Arrays on a backend: owned memory, or memory that another library owns.

use std::any::Any;
use std::fmt;

#[cfg(feature = "cuda")]
use super::cuda::DeviceMemory;
use super::{Backend, DeviceError, Element, host, layout};
use crate::Result;

/// An array on a [`Backend`], by shape and strides.
///
/// What the library allocates is contiguous in row-major order. Memory taken over from elsewhere may have any strides:
/// it can be read ([`Tensor::to_array`]), but kernels and writes need it contiguous.
pub struct Tensor<T> {
    pub(super) shape: Vec<usize>,
    pub(super) strides: Vec<isize>,
    pub(super) backend: Backend,
    pub(super) storage: Storage<T>,
}

pub(super) enum Storage<T> {
    /// Of the host, and what is empty on any backend: no driver is asked for nothing.
    Host(Vec<T>),
    Outside(Outside<T>),
}

/// Memory that is no vector of ours: a device's, or another library's.
pub(super) struct Outside<T> {
    /// The first element, index zero along every axis.
    pub(super) pointer: *mut T,
    backend: Backend,
    /// Whether the owner may have the memory back only when work that uses it is done.
    is_waited_for: bool,
    _owner: Box<dyn Any + Send>,
}

// SAFETY: `from_raw_parts` makes its caller promise that the memory may be used from any thread, and so may a device's;
// the owner is `Send`.
unsafe impl<T: Send> Send for Outside<T> {}
// SAFETY: a shared tensor is only read, and the owner is out of reach until the drop.
unsafe impl<T: Sync> Sync for Outside<T> {}

impl<T> Drop for Outside<T> {
    fn drop(&mut self) {
        // The owner frees the memory after this. Kernels that use it may still be queued: `cuMemFree` would wait for
        // them by itself, but another library's allocator may hand the memory on at once.
        if self.is_waited_for {
            self.backend.finish();
        }
    }
}

impl<T: Element> Tensor<T> {
    /// Zeros.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) with the bytes needed and available.
    pub fn zeros(backend: &Backend, shape: &[usize]) -> Result<Self> {
        let tensor = Self::unset(backend, shape)?;
        #[cfg(feature = "cuda")]
        if let (Storage::Outside(memory), Some(cuda)) = (&tensor.storage, backend.as_cuda()) {
            // SAFETY: the memory was allocated for as many elements, on this device, and nobody knows of it yet.
            unsafe { cuda.zero(memory.pointer.addr() as u64, host::bytes::<T>(tensor.len())) }?;
        }
        Ok(tensor)
    }

    /// Memory to be written before it is read: zeros on the host, anything on a device.
    pub(crate) fn unset(backend: &Backend, shape: &[usize]) -> Result<Self> {
        const WHAT: &str = "a tensor";
        let length = length(shape)?;
        #[cfg(feature = "cuda")]
        if let (Some(cuda), 1..) = (backend.as_cuda(), length) {
            let memory = DeviceMemory::allocate(cuda, host::bytes::<T>(length), WHAT)?;
            return Ok(Self::dense(
                backend,
                shape,
                Storage::Outside(Outside {
                    pointer: std::ptr::without_provenance_mut(memory.address() as usize),
                    backend: backend.clone(),
                    is_waited_for: true,
                    _owner: Box::new(memory),
                }),
            ));
        }
        Ok(Self::dense(backend, shape, Storage::Host(host::zeroed(length, WHAT)?)))
    }

    fn dense(backend: &Backend, shape: &[usize], storage: Storage<T>) -> Self {
        Self {
            shape: shape.to_vec(),
            strides: layout::row_major(shape),
            backend: backend.clone(),
            storage,
        }
    }

    /// As [`Tensor::unset`], of memory that goes back to `spare` when the tensor is dropped, at once.
    #[cfg(feature = "cuda")]
    pub(super) fn lent(
        backend: &Backend,
        cuda: &std::sync::Arc<super::Cuda>,
        shape: &[usize],
        spare: &super::workspace::Spare,
    ) -> Result<Self> {
        let length = length(shape)?;
        if length == 0 {
            return Self::unset(backend, shape);
        }
        let lease = super::workspace::Lease::new(cuda, host::bytes::<T>(length), spare)?;
        let outside = Outside {
            pointer: std::ptr::without_provenance_mut(lease.address() as usize),
            backend: backend.clone(),
            // Whoever gets the memory next queues its work behind, by the contract of a workspace.
            is_waited_for: false,
            _owner: Box::new(lease),
        };
        Ok(Self::dense(backend, shape, Storage::Outside(outside)))
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
        let storage = Storage::Outside(Outside {
            pointer,
            backend: backend.clone(),
            is_waited_for: true,
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
