//! What runs kernels, the emulator or a device: tests are written once, for any machine.

use super::{Buffer, Fault, Options, launch_with};
use crate::{Element, Global, GlobalMut, Kernel, Launch, Parameters};

/// Memory and launches of the emulator or of a device.
pub trait Machine {
    /// Elements in the machine's global memory.
    type Memory<T: Element>;
    /// What goes wrong.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Memory that holds these elements.
    ///
    /// # Errors
    ///
    /// There is not enough memory, or the machine is lost.
    fn memory<T: Element>(&self, elements: &[T]) -> Result<Self::Memory<T>, Self::Error>;

    /// What the memory holds, after all launches so far.
    ///
    /// # Errors
    ///
    /// A launch went wrong, or the machine is lost.
    fn read<T: Element>(&self, memory: &Self::Memory<T>) -> Result<Vec<T>, Self::Error>;

    /// All elements, for a kernel to read.
    fn global<T: Element>(&self, memory: &Self::Memory<T>) -> Global<T>;

    /// All elements, for a kernel to write.
    fn global_mut<T: Element>(&self, memory: &Self::Memory<T>) -> GlobalMut<T>;

    /// Runs a kernel.
    ///
    /// # Errors
    ///
    /// The launch is refused, or went wrong.
    fn launch<P: Parameters>(&self, kernel: &Kernel<P>, launch: Launch, parameters: P) -> Result<(), Self::Error>;
}

/// The emulator as a [`Machine`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Emulator {
    /// The options of its launches.
    pub options: Options,
}

impl Machine for Emulator {
    type Memory<T: Element> = Buffer<T>;
    type Error = Fault;

    fn memory<T: Element>(&self, elements: &[T]) -> Result<Buffer<T>, Fault> {
        Ok(Buffer::new(elements))
    }

    fn read<T: Element>(&self, memory: &Buffer<T>) -> Result<Vec<T>, Fault> {
        Ok(memory.to_vec())
    }

    fn global<T: Element>(&self, memory: &Buffer<T>) -> Global<T> {
        memory.global()
    }

    fn global_mut<T: Element>(&self, memory: &Buffer<T>) -> GlobalMut<T> {
        memory.global_mut()
    }

    #[track_caller]
    fn launch<P: Parameters>(&self, kernel: &Kernel<P>, launch: Launch, parameters: P) -> Result<(), Fault> {
        launch_with(kernel, launch, parameters, self.options).map(|_| ())
    }
}
