//! Queues of work, and points in them.

#[cfg(feature = "cuda")]
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Backend;
#[cfg(feature = "cuda")]
use super::cuda::{Cuda, CudaEvent, CudaStream};
use crate::Result;

/// A queue of work for one backend; work of one stream runs in the order of the calls.
///
/// On the CPU work is done when the call that asked for it returns. On CUDA it may still run: copies between host and
/// tensors wait for all work of all streams that was queued before them, and only work of two streams on the same
/// tensor needs [`Stream::synchronize`] in between.
pub struct Stream {
    backend: Backend,
    queue: Queue,
}

enum Queue {
    Cpu,
    #[cfg(feature = "cuda")]
    Cuda(CudaStream),
}

impl Stream {
    pub(super) fn cpu(backend: &Backend) -> Self {
        Self {
            backend: backend.clone(),
            queue: Queue::Cpu,
        }
    }

    #[cfg(feature = "cuda")]
    pub(super) fn cuda(backend: &Backend, cuda: &Arc<Cuda>) -> Result<Self> {
        Ok(Self {
            backend: backend.clone(),
            queue: Queue::Cuda(CudaStream::new(cuda)?),
        })
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
        match &self.queue {
            Queue::Cpu => {}
            #[cfg(feature = "cuda")]
            Queue::Cuda(stream) => stream.synchronize()?,
        }
        Ok(())
    }

    /// Marks this point of the queue.
    ///
    /// # Errors
    ///
    /// [`DeviceError`](super::DeviceError) when the driver refuses.
    pub fn record(&self) -> Result<Event> {
        let point = match &self.queue {
            Queue::Cpu => Point::Cpu(Instant::now()),
            #[cfg(feature = "cuda")]
            Queue::Cuda(stream) => Point::Cuda(stream.record()?),
        };
        Ok(Event {
            backend: self.backend.clone(),
            point,
        })
    }

    /// Lets later work wait for a point of any stream of the same backend.
    #[cfg(feature = "cuda")]
    pub(crate) fn wait_for(&self, event: Event) -> Result<()> {
        self.backend.expect("the event", &event.backend)?;
        if let (Queue::Cuda(stream), Point::Cuda(event)) = (&self.queue, event.point) {
            stream.wait_for(event)?;
        }
        Ok(())
    }

    /// The driver's handle, if this is a stream of that device.
    #[cfg(feature = "cuda")]
    pub(super) fn on(&self, cuda: &Cuda) -> Result<cuda_driver::Stream> {
        match &self.queue {
            Queue::Cuda(stream) if self.backend.as_cuda().is_some_and(|own| **own == *cuda) => Ok(stream.handle()),
            _ => Err(crate::Error::WrongBackend {
                what: "the stream",
                expected: cuda.name().to_owned(),
                got: self.backend.name(),
            }),
        }
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Stream({:?})", self.backend)
    }
}

/// A point in a [`Stream`].
pub struct Event {
    backend: Backend,
    point: Point,
}

enum Point {
    Cpu(Instant),
    #[cfg(feature = "cuda")]
    Cuda(CudaEvent),
}

impl Event {
    /// Waits until the work before this point is done.
    ///
    /// # Errors
    ///
    /// [`DeviceError`](super::DeviceError) when that work failed.
    pub fn synchronize(&self) -> Result<()> {
        match &self.point {
            Point::Cpu(_) => {}
            #[cfg(feature = "cuda")]
            Point::Cuda(event) => event.synchronize()?,
        }
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
        match (&self.point, &start.point) {
            (Point::Cpu(end), Point::Cpu(start)) => Ok(end.saturating_duration_since(*start)),
            #[cfg(feature = "cuda")]
            (Point::Cuda(end), Point::Cuda(start)) => Ok(end.elapsed_since(start)?),
            // A backend has one kind of point, and the backends are the same.
            #[cfg(feature = "cuda")]
            _ => Err(self.backend.wrong("the start event", &start.backend)),
        }
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Event({:?})", self.backend)
    }
}
