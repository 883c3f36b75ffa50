//! Launches: a kernel's shape is held against its bounds and the device's before the driver sees it.

use cuda_std::{Kernel, KernelInfo, Launch, Parameters};

use super::{Cuda, Limits};
use crate::device::{DeviceError, Stream};

impl Cuda {
    /// Queues a kernel on a stream of this device; a grid with no block is nothing to do.
    ///
    /// What the kernel reads and writes is the plan's to know: the parameters hold slices of tensors
    /// ([`Tensor::global`](crate::Tensor)) that outlive the call, and a tensor's drop waits for the work queued on it.
    /// Faults of a kernel show at the next call that waits.
    pub(crate) fn launch<P: Parameters>(
        &self,
        kernel: &Kernel<P>,
        launch: Launch,
        mut parameters: P,
        stream: &Stream,
    ) -> crate::Result<()> {
        const {
            assert!(
                size_of::<P>() <= 4096,
                "a kernel's parameters fit into 4 KiB on every driver"
            );
        };
        let queue = stream.on(self)?;
        check(&kernel.info, launch, self.limits)?;
        if launch.grid.contains(&0) {
            return Ok(());
        }
        let function = self.function(kernel.info.name, launch.shared_bytes)?;
        let mut addresses = [(&raw mut parameters).cast()];
        let [x, y, z] = launch.grid;
        // SAFETY: the function takes one parameter of type `P`, by `Kernel`'s definition, and the driver has copied it on
        // return; function and stream are alive, and the shape is within the bounds.
        self.checked(unsafe {
            self.driver.launch_kernel(
                function,
                x,
                y,
                z,
                launch.threads,
                1,
                1,
                launch.shared_bytes,
                queue,
                addresses.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        })?;
        Ok(())
    }

    /// Whether the device has a kernel: some need a newer one.
    pub(crate) fn has_kernel<P: Parameters>(&self, kernel: &Kernel<P>) -> bool {
        self.has(kernel.info.name)
    }

    /// Makes a kernel ready, which compiles the PTX the first time, so that the first launch need not.
    pub(crate) fn prepare<P: Parameters>(&self, kernel: &Kernel<P>) -> crate::Result<()> {
        self.function(kernel.info.name, 0)?;
        Ok(())
    }
}

/// Refuses a shape that the kernel or the device cannot run.
fn check(kernel: &KernelInfo, launch: Launch, limits: Limits) -> Result<(), DeviceError> {
    let [x, y, z] = launch.grid;
    let [most_x, most_y, most_z] = limits.grid;
    for (what, got, least, most) in [
        (
            "threads a block",
            launch.threads,
            1,
            kernel.threads_per_block.min(limits.threads_per_block),
        ),
        ("blocks along x", x, 0, most_x),
        ("blocks along y", y, 0, most_y),
        ("blocks along z", z, 0, most_z),
        (
            "bytes of shared memory a block",
            launch.shared_bytes,
            0,
            limits.shared_bytes_per_block,
        ),
    ] {
        if got < least || got > most {
            return Err(DeviceError::LaunchShape {
                kernel: kernel.name,
                what,
                got,
                least,
                most,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_std::Resources;

    #[test]
    fn shapes_beyond_the_bounds_are_refused() {
        let resources = Resources {
            registers: 32,
            barriers: 0,
            warp_operations: 0,
            matrix_operations: 0,
        };
        let kernel = KernelInfo {
            name: "sum",
            threads_per_block: 256,
            blocks_per_multiprocessor: 1,
            resources,
        };
        let limits = Limits {
            threads_per_block: 1024,
            grid: [0x7fff_ffff, 65535, 65535],
            shared_bytes_per_block: 101_376,
            memory_bytes: 1 << 30,
        };
        let good = Launch {
            grid: [1000, 65535, 1],
            threads: 256,
            shared_bytes: 101_376,
        };
        check(&kernel, good, limits).unwrap();
        check(
            &kernel,
            Launch {
                grid: [0, 1, 1],
                ..good
            },
            limits,
        )
        .unwrap();
        for (launch, message) in [
            (
                Launch { threads: 257, ..good },
                "kernel sum: 257 threads a block; from 1 to 256 are possible",
            ),
            (
                Launch { threads: 0, ..good },
                "kernel sum: 0 threads a block; from 1 to 256 are possible",
            ),
            (
                Launch {
                    grid: [1 << 31, 1, 1],
                    ..good
                },
                "kernel sum: 2147483648 blocks along x; from 0 to 2147483647 are possible",
            ),
            (
                Launch {
                    grid: [1, 65536, 1],
                    ..good
                },
                "kernel sum: 65536 blocks along y; from 0 to 65535 are possible",
            ),
            (
                Launch {
                    grid: [1, 1, 65536],
                    ..good
                },
                "kernel sum: 65536 blocks along z; from 0 to 65535 are possible",
            ),
            (
                Launch {
                    shared_bytes: 101_377,
                    ..good
                },
                "kernel sum: 101377 bytes of shared memory a block; from 0 to 101376 are possible",
            ),
        ] {
            assert_eq!(check(&kernel, launch, limits).unwrap_err().to_string(), message);
        }
    }
}
