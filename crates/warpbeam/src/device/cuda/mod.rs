//! One CUDA device: its context, the kernels in it, its memory, its streams.
//!
//! `cust` is used for memory, streams and events; start-up, module loads, launches, copies and waits go through
//! `cuda_driver`, which returns plain numbers (`cust`'s enumeration of statuses ends with CUDA 11.4).

mod failure;
mod launch;
mod memory;
mod module;
#[cfg(test)]
mod probes;
mod stream;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::{CStr, c_int};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cuda_driver::{Context, DeviceAttribute, Driver};

use super::DeviceError;
use failure::checked;
use module::Kernels;

pub(super) use memory::DeviceMemory;
pub(super) use stream::{CudaEvent, CudaStream};

/// A CUDA device with its primary context, which the libraries of a process share.
pub(crate) struct Cuda {
    driver: &'static Driver,
    ordinal: usize,
    name: String,
    context: Context,
    limits: Limits,
    kernels: Mutex<Kernels>,
}

/// What the device can do at most.
#[derive(Clone, Copy, Debug)]
struct Limits {
    threads_per_block: u32,
    grid: [u32; 3],
    shared_bytes_per_block: u32,
    memory_bytes: u64,
}

impl Cuda {
    /// The device of this ordinal; a process has one `Cuda` a device, held until it ends as CUDA's runtime does.
    pub(super) fn open(ordinal: usize) -> Result<Arc<Self>, DeviceError> {
        static DEVICES: Mutex<BTreeMap<usize, Arc<Cuda>>> = Mutex::new(BTreeMap::new());
        let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cuda) = devices.get(&ordinal) {
            return Ok(Arc::clone(cuda));
        }
        let cuda = Arc::new(Self::new(ordinal)?);
        devices.insert(ordinal, Arc::clone(&cuda));
        Ok(cuda)
    }

    fn new(ordinal: usize) -> Result<Self, DeviceError> {
        let driver = cuda_driver::load().map_err(DeviceError::DriverNotFound)?;
        let check = |result| checked(driver, result);
        let (mut count, mut device) = (0, 0);
        let mut name = [0_u8; 256];
        // SAFETY: 0 is the only value for the flags that there is.
        check(unsafe { driver.init(0) })?;
        // SAFETY: the driver writes one number.
        check(unsafe { driver.device_get_count(&raw mut count) })?;
        if !usize::try_from(count).is_ok_and(|count| ordinal < count) {
            return Err(DeviceError::NoSuchDevice {
                ordinal,
                count: usize::try_from(count).unwrap_or(0),
            });
        }
        // SAFETY: the driver writes one number, and the ordinal is one of its devices.
        check(unsafe { driver.device_get(&raw mut device, ordinal as c_int) })?;
        // SAFETY: the driver writes at most as many bytes as it is told; one is left for the last NUL.
        check(unsafe { driver.device_get_name(name.as_mut_ptr().cast(), name.len() as c_int - 1, device) })?;
        let name = CStr::from_bytes_until_nul(&name).map_or_else(
            |_| format!("CUDA device {ordinal}"),
            |name| name.to_string_lossy().into_owned(),
        );
        let attribute = |attribute| {
            let mut value = 0;
            // SAFETY: the driver writes one number.
            check(unsafe { driver.device_get_attribute(&raw mut value, attribute, device) })?;
            Ok::<u32, DeviceError>(u32::try_from(value).unwrap_or(0))
        };
        let capability = (
            attribute(DeviceAttribute::ComputeCapabilityMajor)?,
            attribute(DeviceAttribute::ComputeCapabilityMinor)?,
        );
        let kernels = Kernels::for_device(&name, capability)?;

        let mut context = Context::NULL;
        // SAFETY: the driver writes one handle; the share taken here is kept until the process ends.
        check(unsafe { driver.device_primary_ctx_retain(&raw mut context, device) })?;
        let mut cuda = Self {
            driver,
            ordinal,
            name,
            context,
            limits: Limits {
                threads_per_block: attribute(DeviceAttribute::MaxThreadsPerBlock)?,
                grid: [
                    attribute(DeviceAttribute::MaxGridX)?,
                    attribute(DeviceAttribute::MaxGridY)?,
                    attribute(DeviceAttribute::MaxGridZ)?,
                ],
                shared_bytes_per_block: attribute(DeviceAttribute::MaxSharedMemoryPerBlockOptIn)?,
                memory_bytes: 0,
            },
            kernels: Mutex::new(kernels),
        };
        (_, cuda.limits.memory_bytes) = cuda.free_and_total_bytes()?;
        Ok(cuda)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Makes the device's context the calling thread's; every entry does, because contexts belong to threads.
    fn enter(&self) -> Result<(), DeviceError> {
        // SAFETY: the context lives until the process ends.
        self.checked(unsafe { self.driver.ctx_set_current(self.context) })
    }

    /// Waits for all work on the device.
    pub(super) fn synchronize(&self) -> Result<(), DeviceError> {
        self.enter()?;
        // SAFETY: a context is current.
        self.checked(unsafe { self.driver.ctx_synchronize() })
    }

    fn checked(&self, result: Result<(), cuda_driver::CallError>) -> Result<(), DeviceError> {
        checked(self.driver, result)
    }
}

impl PartialEq for Cuda {
    fn eq(&self, other: &Self) -> bool {
        self.ordinal == other.ordinal
    }
}

impl Eq for Cuda {}

impl fmt::Debug for Cuda {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Cuda({}: {})", self.ordinal, self.name)
    }
}
