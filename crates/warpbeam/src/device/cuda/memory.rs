//! Device memory, byte by byte.

use std::sync::Arc;

use cust::error::CudaError;
use cust::memory::DeviceBuffer;

use super::Cuda;
use super::failure::failure;
use crate::Error;
use crate::device::DeviceError;

/// Memory of a device, freed on drop.
pub(in crate::device) struct DeviceMemory {
    // Before `cuda`, so that it is dropped first.
    buffer: DeviceBuffer<u8>,
    cuda: Arc<Cuda>,
}

impl DeviceMemory {
    /// `bytes` bytes, at least one, of any content.
    pub(in crate::device) fn allocate(cuda: &Arc<Cuda>, bytes: u64, what: &'static str) -> Result<Self, Error> {
        cuda.enter()?;
        let out_of_memory = || Error::OutOfMemory {
            what,
            needed_bytes: bytes,
            available_bytes: cuda.free_and_total_bytes().ok().map(|(free, _)| free),
        };
        // What the device cannot hold is not asked for: sizes near the end of the address space are rounded up there.
        if bytes > cuda.limits.memory_bytes {
            return Err(out_of_memory());
        }
        // SAFETY: the bytes are written before they are read, by the contract above.
        match unsafe { DeviceBuffer::uninitialized(bytes as usize) } {
            Ok(buffer) => Ok(Self {
                buffer,
                cuda: Arc::clone(cuda),
            }),
            Err(CudaError::OutOfMemory) => Err(out_of_memory()),
            Err(error) => Err(failure(cuda.driver, "cuMemAlloc_v2", error as i32).into()),
        }
    }

    /// How many there are.
    pub(in crate::device) fn bytes(&self) -> u64 {
        self.buffer.len() as u64
    }

    /// Where the memory begins.
    pub(in crate::device) fn address(&self) -> u64 {
        self.buffer.as_device_ptr().as_raw()
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        // The buffer's own drop, which follows, frees it in the context that is current. Should this fail, the driver is
        // past repair and has no memory to lose.
        let _ = self.cuda.enter();
    }
}

impl Cuda {
    /// Free and total memory, in bytes.
    pub(in crate::device) fn free_and_total_bytes(&self) -> Result<(u64, u64), DeviceError> {
        self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: the driver writes two numbers.
        self.checked(unsafe { self.driver.mem_get_info(&raw mut free, &raw mut total) })?;
        Ok((free as u64, total as u64))
    }

    /// Copies to the device, after all work queued so far.
    ///
    /// # Safety
    ///
    /// `address` begins as many bytes of this device's memory as `bytes` holds, which nobody else uses meanwhile.
    pub(in crate::device) unsafe fn write(&self, address: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.enter()?;
        // SAFETY: the caller's promise for the target; the source is a slice, and the driver has read it on return.
        self.checked(unsafe {
            self.driver
                .memcpy_to_device(address, bytes.as_ptr().cast(), bytes.len())
        })
    }

    /// Copies from the device, after all work queued so far.
    ///
    /// # Safety
    ///
    /// `address` begins as many initialised bytes of this device's memory as `bytes` holds, which nobody writes meanwhile.
    pub(in crate::device) unsafe fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.enter()?;
        // SAFETY: the caller's promise for the source; the target is a slice, and the copy is complete on return.
        self.checked(unsafe {
            self.driver
                .memcpy_to_host(bytes.as_mut_ptr().cast(), address, bytes.len())
        })
    }

    /// Queues a copy within the device.
    ///
    /// # Safety
    ///
    /// Both addresses begin as many bytes of this device's memory, which do not overlap and which nobody else writes until
    /// the copy is done.
    pub(in crate::device) unsafe fn copy(
        &self,
        target: u64,
        source: u64,
        bytes: u64,
        queue: cuda_driver::Stream,
    ) -> Result<(), DeviceError> {
        self.enter()?;
        // SAFETY: the caller's promise; the stream is one of this device.
        self.checked(unsafe { self.driver.memcpy_on_device(target, source, bytes as usize, queue) })
    }

    /// Sets bytes to zero, after all work queued so far.
    ///
    /// # Safety
    ///
    /// `address` begins `bytes` bytes of this device's memory, which nobody else uses meanwhile.
    pub(in crate::device) unsafe fn zero(&self, address: u64, bytes: u64) -> Result<(), DeviceError> {
        self.enter()?;
        // SAFETY: the caller's promise.
        self.checked(unsafe { self.driver.memset(address, 0, bytes as usize) })
    }
}
