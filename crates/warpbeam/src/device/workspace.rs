//! Memory that a plan keeps from run to run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::cuda::DeviceMemory;
use super::{Backend, Element, Event, Stream, Tensor};
use crate::Result;

/// Device memory between runs; on the host memory is the allocator's.
#[derive(Default)]
pub(crate) struct Workspace {
    spare: Spare,
    /// After the last work that uses the memory.
    last_use: Mutex<Option<Event>>,
}

/// Memory that no tensor has.
pub(super) type Spare = Arc<Mutex<Vec<DeviceMemory>>>;

impl Workspace {
    /// The memory for one run, whose work is all on `stream`; the next run's work waits for it, whatever its stream.
    pub(crate) fn enter<'a>(&'a self, stream: &'a Stream) -> Result<Scratch<'a>> {
        let mut last_use = self.last_use.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(event) = last_use.take() {
            stream.wait_for(event)?;
        }
        Ok(Scratch {
            workspace: self,
            stream,
            last_use,
        })
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let last_use = self.last_use.get_mut().unwrap_or_else(PoisonError::into_inner);
        // The memory is freed behind this. An error of that work shows again at the next call that waits.
        if let Some(event) = last_use.take() {
            drop(event.synchronize());
        }
    }
}

/// A workspace while a run has it.
pub(crate) struct Scratch<'a> {
    workspace: &'a Workspace,
    stream: &'a Stream,
    last_use: MutexGuard<'a, Option<Event>>,
}

impl Scratch<'_> {
    pub(crate) fn backend(&self) -> &Backend {
        self.stream.backend()
    }

    pub(crate) fn stream(&self) -> &Stream {
        self.stream
    }

    /// Memory to be written before it is read, used by work of this run alone; dropped, it is there for the next tensor, whose
    /// work is queued behind.
    pub(crate) fn tensor<T: Element>(&self, shape: &[usize]) -> Result<Tensor<T>> {
        if let Some(cuda) = self.backend().as_cuda() {
            return Tensor::lent(self.backend(), cuda, shape, &self.workspace.spare);
        }
        Tensor::unset(self.backend(), shape)
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        let spare = self.workspace.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.is_empty() {
            return;
        }
        match self.stream.record() {
            Ok(event) => *self.last_use = Some(event),
            // Without a point to wait for, all is waited for.
            Err(_) => self.stream.backend().finish(),
        }
    }
}

/// Memory of a tensor of a workspace.
pub(super) struct Lease {
    memory: Option<DeviceMemory>,
    spare: Spare,
}

impl Lease {
    /// The smallest spare memory of at least so many bytes, or new one.
    pub(super) fn new(cuda: &Arc<super::Cuda>, bytes: u64, spare: &Spare) -> Result<Self> {
        let mut memories = spare.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = memories
            .iter()
            .enumerate()
            .filter(|(_, memory)| memory.bytes() >= bytes);
        let smallest = fits.min_by_key(|(_, memory)| memory.bytes()).map(|(place, _)| place);
        let memory = match smallest {
            Some(place) => memories.swap_remove(place),
            None => DeviceMemory::allocate(cuda, bytes, "a plan's workspace")?,
        };
        Ok(Self {
            memory: Some(memory),
            spare: Arc::clone(spare),
        })
    }

    /// Where the memory begins; 0 for none.
    pub(super) fn address(&self) -> u64 {
        self.memory.as_ref().map_or(0, DeviceMemory::address)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut memories = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        memories.extend(self.memory.take());
    }
}
