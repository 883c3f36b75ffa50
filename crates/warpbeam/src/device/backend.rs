//! The choice of where to compute.

use super::{Stream, host};
use crate::device::DeviceError;
use crate::{Error, Result};

/// Where tensors live and work is done: the CPU or a CUDA device. Cheap to clone.
///
/// Two backends are equal when they are the same device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backend(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Cpu,
}

impl Backend {
    /// The CPU, all threads of `rayon`'s pool.
    pub fn cpu() -> Self {
        Self(Kind::Cpu)
    }

    /// CUDA device `ordinal`, counted as the driver counts.
    ///
    /// # Errors
    ///
    /// [`DeviceError`] says what is missing: the driver, the device, or the cargo feature `cuda`.
    pub fn cuda(_ordinal: usize) -> Result<Self> {
        Err(DeviceError::BuiltWithoutCuda.into())
    }

    /// CUDA device 0 if it can be used, else the CPU; [`Backend::cuda`] tells why it cannot.
    pub fn best() -> Self {
        Self::cuda(0).unwrap_or_else(|_| Self::cpu())
    }

    /// The device's name, such as `NVIDIA H200`; the CPU is called `CPU (2 threads)`.
    pub fn name(&self) -> String {
        match &self.0 {
            Kind::Cpu => format!("CPU ({} threads)", rayon::current_num_threads()),
        }
    }

    /// Whether this is a CUDA device.
    pub fn is_cuda(&self) -> bool {
        match &self.0 {
            Kind::Cpu => false,
        }
    }

    /// Memory that new tensors can use, in bytes: free device memory, or what the system calls available.
    pub fn available_memory_bytes(&self) -> Option<u64> {
        match &self.0 {
            Kind::Cpu => host::available_bytes(),
        }
    }

    /// A new queue of work.
    ///
    /// # Errors
    ///
    /// [`DeviceError`] when the driver refuses.
    pub fn stream(&self) -> Result<Stream> {
        match &self.0 {
            Kind::Cpu => Ok(Stream::cpu()),
        }
    }

    /// Refuses what lives on another backend than this one.
    pub(crate) fn expect(&self, what: &'static str, other: &Self) -> Result<()> {
        if self == other {
            return Ok(());
        }
        Err(Error::WrongBackend {
            what,
            expected: self.name(),
            got: other.name(),
        })
    }
}
