//! Queues of work, and points in them.

use std::time::{Duration, Instant};

use super::Backend;
use crate::Result;

/// A queue of work for one backend; work of one stream runs in the order of the calls.
///
/// On the CPU work is done when the call that asked for it returns. On CUDA it may still run: copies between host and
/// tensors wait for all work of all streams that was queued before them, and only work of two streams on the same
/// tensor needs [`Stream::synchronize`] in between.
#[derive(Debug)]
pub struct Stream {
    backend: Backend,
}

impl Stream {
    pub(super) fn cpu() -> Self {
        Self {
            backend: Backend::cpu(),
        }
    }

    /// Where the work is done.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Waits until the work queued so far is done.
    ///
    /// # Errors
    ///
    /// [`DeviceError`](super::DeviceError) when that work failed.
    pub fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    /// Marks this point of the queue.
    ///
    /// # Errors
    ///
    /// [`DeviceError`](super::DeviceError) when the driver refuses.
    pub fn record(&self) -> Result<Event> {
        Ok(Event {
            backend: self.backend.clone(),
            point: Instant::now(),
        })
    }
}

/// A point in a [`Stream`].
#[derive(Debug)]
pub struct Event {
    backend: Backend,
    point: Instant,
}

impl Event {
    /// Waits until the work before this point is done.
    ///
    /// # Errors
    ///
    /// [`DeviceError`](super::DeviceError) when that work failed.
    pub fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    /// Time from `start`'s point to this one, once both have passed; zero when `start` is the later one.
    ///
    /// # Errors
    ///
    /// [`Error::WrongBackend`](crate::Error::WrongBackend) when `start` belongs to another backend,
    /// [`DeviceError`](super::DeviceError) when the work before one of the points failed.
    pub fn elapsed_since(&self, start: &Self) -> Result<Duration> {
        self.backend.expect("the start event", &start.backend)?;
        Ok(self.point.saturating_duration_since(start.point))
    }
}
