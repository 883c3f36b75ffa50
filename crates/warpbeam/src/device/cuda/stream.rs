//! Streams and events through `cust`.
//!
//! The streams are blocking ones: work on them and plain copies, which use the legacy default stream, wait for each
//! other. So a tensor written by a copy is complete when a later launch reads it, and one written by a launch is complete
//! when a later copy reads it, on whatever streams, without the caller's doing. What that costs is overlap of copies
//! and kernels, which would need pinned memory as well.

use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use cust::event::{Event, EventFlags};
use cust::stream::{Stream, StreamFlags, StreamWaitEventFlags};

use super::Cuda;
use super::failure::checked_cust;
use crate::device::DeviceError;

/// A queue of work.
pub(in crate::device) struct CudaStream {
    stream: Stream,
    cuda: Arc<Cuda>,
}

impl CudaStream {
    pub(in crate::device) fn new(cuda: &Arc<Cuda>) -> Result<Self, DeviceError> {
        cuda.enter()?;
        let stream = checked_cust(
            cuda.driver,
            "cuStreamCreateWithPriority",
            Stream::new(StreamFlags::DEFAULT, None),
        )?;
        Ok(Self {
            stream,
            cuda: Arc::clone(cuda),
        })
    }

    pub(in crate::device) fn synchronize(&self) -> Result<(), DeviceError> {
        self.cuda.enter()?;
        // SAFETY: the stream lives as long as `self`.
        self.cuda
            .checked(unsafe { self.cuda.driver.stream_synchronize(self.handle()) })
    }

    pub(in crate::device) fn record(&self) -> Result<CudaEvent, DeviceError> {
        self.cuda.enter()?;
        let event = checked_cust(self.cuda.driver, "cuEventCreate", Event::new(EventFlags::DEFAULT))?;
        let event = CudaEvent {
            event,
            cuda: Arc::clone(&self.cuda),
        };
        checked_cust(self.cuda.driver, "cuEventRecord", event.event.record(&self.stream))?;
        Ok(event)
    }

    /// Lets later work wait for a point of any stream of this device.
    pub(in crate::device) fn wait_for(&self, event: CudaEvent) -> Result<(), DeviceError> {
        self.cuda.enter()?;
        let event = ManuallyDrop::new(event);
        // SAFETY: both fields are moved out once, of a value whose own drop does not run; the context is current.
        let (event, _cuda) = unsafe { (ptr::read(&raw const event.event), ptr::read(&raw const event.cuda)) };
        checked_cust(
            self.cuda.driver,
            "cuStreamWaitEvent",
            self.stream.wait_event(event, StreamWaitEventFlags::DEFAULT),
        )
    }

    pub(in crate::device) fn handle(&self) -> cuda_driver::Stream {
        cuda_driver::Stream(self.stream.as_inner().cast())
    }
}

impl Drop for CudaStream {
    fn drop(&mut self) {
        // The stream's own drop follows: it lets queued work finish. A failure here says that the driver is past repair.
        let _ = self.cuda.enter();
    }
}

/// A point in a stream.
pub(in crate::device) struct CudaEvent {
    event: Event,
    cuda: Arc<Cuda>,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for CudaEvent {}
// SAFETY: as above; the driver locks what needs it.
unsafe impl Sync for CudaEvent {}

impl CudaEvent {
    pub(in crate::device) fn synchronize(&self) -> Result<(), DeviceError> {
        self.cuda.enter()?;
        checked_cust(self.cuda.driver, "cuEventSynchronize", self.event.synchronize())
    }

    /// Time between two points that both have passed on return; zero when `start` is the later one.
    pub(in crate::device) fn elapsed_since(&self, start: &Self) -> Result<Duration, DeviceError> {
        start.synchronize()?;
        self.synchronize()?;
        let elapsed = self.event.elapsed_time_f32(&start.event);
        let milliseconds = checked_cust(self.cuda.driver, "cuEventElapsedTime", elapsed)?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) * 1e-3).unwrap_or_default())
    }
}

impl Drop for CudaEvent {
    fn drop(&mut self) {
        // As for streams.
        let _ = self.cuda.enter();
    }
}
