//! The choice of where to compute.

#[cfg(feature = "cuda")]
use std::sync::Arc;

#[cfg(feature = "cuda")]
use super::Cuda;
use super::{Stream, host};
use crate::{Error, Result};

/// Where tensors live and work is done: the CPU or a CUDA device. Cheap to clone.
///
/// Two backends are equal when they are the same device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backend(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Cpu,
    #[cfg(feature = "cuda")]
    Cuda(Arc<Cuda>),
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
    /// [`DeviceError`](super::DeviceError) says what is missing: the driver, the device, or the cargo feature `cuda`.
    #[cfg(feature = "cuda")]
    pub fn cuda(ordinal: usize) -> Result<Self> {
        Ok(Self(Kind::Cuda(Cuda::open(ordinal)?)))
    }

    /// CUDA device `ordinal`, counted as the driver counts.
    ///
    /// # Errors
    ///
    /// [`DeviceError::BuiltWithoutCuda`](super::DeviceError::BuiltWithoutCuda): this build has no CUDA.
    #[cfg(not(feature = "cuda"))]
    pub fn cuda(_ordinal: usize) -> Result<Self> {
        Err(super::DeviceError::BuiltWithoutCuda.into())
    }

    /// CUDA device 0 if it can be used, else the CPU; [`Backend::cuda`] tells why it cannot.
    pub fn best() -> Self {
        Self::cuda(0).unwrap_or_else(|_| Self::cpu())
    }

    /// The device's name, such as `NVIDIA H200`; the CPU is called `CPU (2 threads)`.
    pub fn name(&self) -> String {
        match &self.0 {
            Kind::Cpu => format!("CPU ({} threads)", rayon::current_num_threads()),
            #[cfg(feature = "cuda")]
            Kind::Cuda(cuda) => cuda.name().to_owned(),
        }
    }

    /// Whether this is a CUDA device.
    pub fn is_cuda(&self) -> bool {
        match &self.0 {
            Kind::Cpu => false,
            #[cfg(feature = "cuda")]
            Kind::Cuda(_) => true,
        }
    }

    /// Memory that new tensors can use, in bytes: free device memory, or what the system calls available.
    pub fn available_memory_bytes(&self) -> Option<u64> {
        match &self.0 {
            Kind::Cpu => host::available_bytes(),
            #[cfg(feature = "cuda")]
            Kind::Cuda(cuda) => cuda.free_and_total_bytes().ok().map(|(free, _)| free),
        }
    }

    /// A new queue of work.
    ///
    /// # Errors
    ///
    /// [`DeviceError`](super::DeviceError) when the driver refuses.
    pub fn stream(&self) -> Result<Stream> {
        match &self.0 {
            Kind::Cpu => Ok(Stream::cpu(self)),
            #[cfg(feature = "cuda")]
            Kind::Cuda(cuda) => Stream::cuda(self, cuda),
        }
    }

    /// The CUDA device, if this is one.
    #[cfg(feature = "cuda")]
    pub(crate) fn as_cuda(&self) -> Option<&Arc<Cuda>> {
        match &self.0 {
            Kind::Cpu => None,
            Kind::Cuda(cuda) => Some(cuda),
        }
    }

    /// Waits for all work that was queued; an error of that work shows again at the next call that waits.
    pub(super) fn finish(&self) {
        match &self.0 {
            Kind::Cpu => {}
            #[cfg(feature = "cuda")]
            Kind::Cuda(cuda) => drop(cuda.synchronize()),
        }
    }

    /// Refuses what lives on another backend than this one.
    pub(crate) fn expect(&self, what: &'static str, other: &Self) -> Result<()> {
        if self == other {
            return Ok(());
        }
        Err(self.wrong(what, other))
    }

    pub(super) fn wrong(&self, what: &'static str, got: &Self) -> Error {
        Error::WrongBackend {
            what,
            expected: self.name(),
            got: got.name(),
        }
    }
}
