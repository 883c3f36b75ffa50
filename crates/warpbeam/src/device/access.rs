//! A tensor's elements: for kernels, for the CPU's loops, and for copies.

#[cfg(feature = "cuda")]
use cuda_std::{Global, GlobalMut};

#[cfg(feature = "cuda")]
use super::host;
use super::tensor::Storage;
use super::{Backend, DeviceError, Element, Tensor, layout};
use crate::Result;

impl<T: Element> Tensor<T> {
    /// The elements for a kernel that reads them.
    #[cfg(feature = "cuda")]
    pub(crate) fn global(&self, what: &'static str) -> Result<Global<T::Device>> {
        self.expect_contiguous(what)?;
        // SAFETY: the elements are there by the invariant of `storage`; the borrow of the tensor, which a plan keeps for
        // the call, and the drop's wait for queued work keep them there while the kernel runs.
        Ok(unsafe { Global::new(self.pointer().cast(), self.len() as u64) })
    }

    /// The elements, two by two, for a kernel that reads pairs; a last one without a partner is left out.
    #[cfg(feature = "cuda")]
    pub(crate) fn global_pairs(&self, what: &'static str) -> Result<Global<[T::Device; 2]>>
    where
        [T::Device; 2]: cuda_std::Element,
    {
        self.expect_contiguous(what)?;
        let (address, alignment) = (self.pointer().addr(), 2 * size_of::<T>());
        if !self.is_empty() && !address.is_multiple_of(alignment) {
            return Err(DeviceError::Misaligned { address, alignment }.into());
        }
        // SAFETY: as above, and aligned to pairs.
        Ok(unsafe { Global::new(self.pointer().cast(), self.len() as u64 / 2) })
    }

    /// The memory as elements of another type, for a kernel that reads it; those that are not complete are left out.
    #[cfg(feature = "cuda")]
    pub(crate) fn global_as<U: cuda_std::Element>(&self, what: &'static str) -> Result<Global<U>> {
        let elements = self.global(what)?;
        let address = self.pointer().addr();
        if !self.is_empty() && !address.is_multiple_of(size_of::<U>()) {
            let alignment = size_of::<U>();
            return Err(DeviceError::Misaligned { address, alignment }.into());
        }
        // SAFETY: aligned to the other size; elements of kernels may hold any bits.
        Ok(unsafe { elements.cast() })
    }

    /// The memory as elements of another type, for a kernel that writes it.
    #[cfg(feature = "cuda")]
    pub(crate) fn global_mut_as<U: cuda_std::Element>(&mut self, what: &'static str) -> Result<GlobalMut<U>> {
        self.global_as::<U>(what)?;
        // SAFETY: as above; the alignment was checked.
        Ok(unsafe { self.global_mut(what)?.cast() })
    }

    /// The elements for a kernel that writes them.
    #[cfg(feature = "cuda")]
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
            Storage::Outside(_) if length == 0 => &mut [],
            // SAFETY: contiguous, so `length` elements from the pointer on are the tensor's; nobody else uses them, by
            // the promise made to `from_raw_parts` and the exclusive borrow.
            Storage::Outside(memory) => unsafe { std::slice::from_raw_parts_mut(memory.pointer, length) },
        })
    }

    /// All memory of a tensor on the CPU from its lowest element to its highest.
    pub(super) fn host_span(&self) -> &[T] {
        match &self.storage {
            Storage::Host(values) => values,
            Storage::Outside(_) if self.is_empty() => &[],
            Storage::Outside(memory) => {
                let (lowest, highest) = self.span();
                // SAFETY: from the lowest element to the highest, gaps included, the memory is there and not written, by
                // the promise made to `from_raw_parts`.
                unsafe { std::slice::from_raw_parts(memory.pointer.offset(lowest), (highest - lowest) as usize + 1) }
            }
        }
    }

    /// Sets the elements of a contiguous tensor; `values` holds as many.
    pub(super) fn write(&mut self, values: &[T]) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        #[cfg(feature = "cuda")]
        if let (Storage::Outside(memory), Some(cuda)) = (&self.storage, self.backend.as_cuda()) {
            // SAFETY: contiguous, so as many elements from the pointer on are the tensor's, on this device; the exclusive
            // borrow keeps everybody else away.
            unsafe { cuda.write(memory.pointer.addr() as u64, bytemuck::cast_slice(values)) }?;
            return Ok(());
        }
        self.host_slice_mut("the tensor to copy to")?.copy_from_slice(values);
        Ok(())
    }

    /// The elements of a contiguous tensor; `values` has room for as many.
    pub(super) fn read(&self, values: &mut [T]) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        #[cfg(feature = "cuda")]
        if let (Storage::Outside(memory), Some(cuda)) = (&self.storage, self.backend.as_cuda()) {
            // SAFETY: contiguous, so as many elements from the pointer on are the tensor's, on this device.
            unsafe { cuda.read(memory.pointer.addr() as u64, bytemuck::cast_slice_mut(values)) }?;
            return Ok(());
        }
        values.copy_from_slice(self.host_slice("the tensor to copy from")?);
        Ok(())
    }

    /// Lends the memory from the lowest element to the highest, or a copy of it where it is a device's.
    pub(super) fn with_span<R>(&self, lend: impl FnOnce(&[T]) -> Result<R>) -> Result<R> {
        #[cfg(feature = "cuda")]
        if let (Storage::Outside(memory), Some(cuda), false) = (&self.storage, self.backend.as_cuda(), self.is_empty())
        {
            let (lowest, highest) = self.span();
            let mut copy = host::zeroed((highest - lowest) as usize + 1, "the host's copy of a tensor with gaps")?;
            let address = memory.pointer.wrapping_offset(lowest).addr() as u64;
            // SAFETY: from the lowest element to the highest, gaps included, the memory is there, on this device, by the
            // promise made to `from_raw_parts`.
            unsafe { cuda.read(address, bytemuck::cast_slice_mut(&mut copy)) }?;
            return lend(&copy);
        }
        lend(self.host_span())
    }

    /// Where the first element is.
    #[cfg(feature = "cuda")]
    pub(crate) fn address(&self) -> usize {
        self.pointer().addr()
    }

    #[cfg(feature = "cuda")]
    pub(super) fn pointer(&self) -> *const T {
        match &self.storage {
            Storage::Host(values) => values.as_ptr(),
            Storage::Outside(memory) => memory.pointer,
        }
    }

    /// Lowest and highest offset from the first element; it was checked that they fit.
    pub(super) fn span(&self) -> (isize, isize) {
        if self.is_empty() {
            return (0, 0);
        }
        layout::span(&self.shape, &self.strides).unwrap_or((0, 0))
    }

    pub(crate) fn expect_contiguous(&self, what: &'static str) -> Result<()> {
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
