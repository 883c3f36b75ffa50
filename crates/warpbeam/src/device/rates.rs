//! What a device does at most, measured: the ceilings that kernels are held against.

use super::Backend;
use crate::Result;

/// Rates of a device, each the best of a few runs of work that does nothing else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceRates {
    /// Bytes that a copy within the device's memory moves a second, those that it reads and those that it writes.
    pub copied_bytes_per_second: f64,
    /// Multiplications and additions a second of matrix operations with 16-bit operands and 32-bit sums (`mma.sync`);
    /// `None` where the device has none of these.
    pub matrix_operations_per_second: Option<f64>,
    /// The same of matrix operations of four warps together (`wgmma`), which H100 and H200 have.
    pub group_matrix_operations_per_second: Option<f64>,
}

impl DeviceRates {
    /// Measures a device, in some tens of milliseconds; `None` for a CPU.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) where there is no room for the copy (512 MiB), and
    /// [`DeviceError`](super::DeviceError) when the device fails.
    pub fn measure(backend: &Backend) -> Result<Option<Self>> {
        #[cfg(feature = "cuda")]
        if let Some(cuda) = backend.as_cuda() {
            return cuda_rates::measure(backend, cuda).map(Some);
        }
        let _ = backend;
        Ok(None)
    }
}

#[cfg(feature = "cuda")]
mod cuda_rates {
    use super::DeviceRates;
    use crate::Result;
    use crate::device::{Backend, Cuda, Stream, Tensor};
    use cuda_std::{Kernel, Launch};
    use kernels::rates::{self, Products, SUMS, THREADS};

    /// Words that are copied: far more than any cache holds.
    const WORDS: usize = 1 << 26;

    /// Blocks of products: many for each multiprocessor of any device.
    const BLOCKS: u32 = 4096;

    const ROUNDS: u32 = 128;

    const RUNS: usize = 6;

    pub(super) fn measure(backend: &Backend, cuda: &Cuda) -> Result<DeviceRates> {
        let stream = backend.stream()?;
        let input = Tensor::<u32>::zeros(backend, &[WORDS])?;
        let mut output = Tensor::<u32>::zeros(backend, &[WORDS])?;
        let seconds = fastest(&stream, || input.view().copy_dense(cuda, &mut output, &stream))?;
        let copied_bytes_per_second = 2.0 * 4.0 * WORDS as f64 / seconds;
        let mut sums = Tensor::<f32>::zeros(backend, &[(BLOCKS * THREADS) as usize])?;
        let products = Products {
            output: sums.global_mut("the sums")?,
            left: 0x3c00_3c00,
            right: 0x2000_2000,
            n_rounds: ROUNDS,
        };
        let rate = |kernel: &Kernel<Products>, shared_bytes: u32, operations: u64| -> Result<Option<f64>> {
            if !cuda.has_kernel(kernel) {
                return Ok(None);
            }
            let shape = Launch {
                grid: [BLOCKS, 1, 1],
                threads: THREADS,
                shared_bytes,
            };
            let seconds = fastest(&stream, || cuda.launch(kernel, shape, products, &stream))?;
            let warps = u64::from(BLOCKS) * u64::from(THREADS / 32);
            Ok(Some((warps * u64::from(ROUNDS) * operations) as f64 / seconds))
        };
        let of_warp = SUMS as u64 * rates::OPERATIONS;
        let matrix_operations_per_second = rate(&rates::sm_80::rate_products, 0, of_warp)?;
        let of_group = rates::GROUP_OPERATIONS;
        let group_matrix_operations_per_second =
            rate(&rates::sm_90a::rate_group_products, rates::GROUP_SHARED_BYTES, of_group)?;
        Ok(DeviceRates {
            copied_bytes_per_second,
            matrix_operations_per_second,
            group_matrix_operations_per_second,
        })
    }

    /// Seconds of the fastest run; the first one, which may compile the kernel, does not count.
    fn fastest(stream: &Stream, mut launch: impl FnMut() -> Result<()>) -> Result<f64> {
        launch()?;
        let mut seconds = f64::INFINITY;
        for _ in 0..RUNS {
            let start = stream.record()?;
            launch()?;
            let end = stream.record()?;
            end.synchronize()?;
            seconds = seconds.min(end.elapsed_since(&start)?.as_secs_f64());
        }
        Ok(seconds)
    }
}
