//! What can go wrong with a device, with the memory on it, or with a tensor's layout.

/// A device or its driver failed, or a tensor does not lie in memory as it must.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The library was compiled without CUDA.
    #[error(
        "warpbeam was built without the cargo feature \"cuda\"; build with `--features cuda` (it is on by default: \
         remove `default-features = false`)"
    )]
    BuiltWithoutCuda,
    /// A shape has more elements than can be counted.
    #[error("a tensor of shape {shape:?} has more elements than memory has addresses")]
    TooManyElements {
        /// The shape.
        shape: Vec<usize>,
    },
    /// Shape and strides do not have the same number of axes.
    #[error("{} axes have {} strides: shape {shape:?}, strides {strides:?}; every axis needs one", shape.len(), strides.len())]
    StridesPerAxis {
        /// The shape.
        shape: Vec<usize>,
        /// The strides, in elements.
        strides: Vec<isize>,
    },
    /// Strides lead outside the address space.
    #[error(
        "shape {shape:?} with strides {strides:?} (in elements) from address {address:#x} leaves the address space"
    )]
    OutsideAddressSpace {
        /// Where the first element is.
        address: usize,
        /// The shape.
        shape: Vec<usize>,
        /// The strides, in elements.
        strides: Vec<isize>,
    },
    /// A pointer is not aligned to the size of the elements.
    #[error("address {address:#x} is not a multiple of {alignment}; kernels load whole elements of {alignment} bytes")]
    Misaligned {
        /// The address.
        address: usize,
        /// What it must be a multiple of, in bytes.
        alignment: usize,
    },
    /// A tensor must lie densely in row-major order and does not.
    #[error(
        "{what} of shape {shape:?} has strides {strides:?}; it must be contiguous in row-major order \
         (make a contiguous copy first)"
    )]
    NotContiguous {
        /// The tensor.
        what: &'static str,
        /// Its shape.
        shape: Vec<usize>,
        /// Its strides, in elements.
        strides: Vec<isize>,
    },
    /// An order of axes does not name each of them once.
    #[error("{order:?} is no order of {n_axes} axes; each number from 0 to below {n_axes} must stand in it once")]
    NotAPermutation {
        /// The order.
        order: Vec<usize>,
        /// How many axes there are.
        n_axes: usize,
    },
    /// There is no such axis.
    #[error("there is no axis {axis} in shape {shape:?}; axes are counted from 0 to below {}", shape.len())]
    NoSuchAxis {
        /// The axis asked for.
        axis: usize,
        /// The shape.
        shape: Vec<usize>,
    },
    /// A range leaves its axis.
    #[error(
        "{range:?} is no range of axis {axis}, which has {length} positions; it must begin before it ends, at {length} at most"
    )]
    NoSuchRange {
        /// The range.
        range: std::ops::Range<usize>,
        /// The axis.
        axis: usize,
        /// The positions along it.
        length: usize,
    },
    /// libcuda could not be opened.
    #[cfg(feature = "cuda")]
    #[error(transparent)]
    DriverNotFound(cuda_driver::LoadError),
    /// There is no device of that ordinal.
    #[error("there is no CUDA device {ordinal}; the driver knows {count}, counted from 0")]
    NoSuchDevice {
        /// The ordinal asked for.
        ordinal: usize,
        /// How many devices there are.
        count: usize,
    },
    /// A device is older than the kernels.
    #[error(
        "{device} has compute capability {}.{}; the kernels need {}.{} or newer",
        capability.0, capability.1, minimum.0, minimum.1
    )]
    DeviceTooOld {
        /// The device's name.
        device: String,
        /// Its compute capability.
        capability: (u32, u32),
        /// The oldest that there are kernels for.
        minimum: (u32, u32),
    },
    /// A call of the driver failed, or work did that ran asynchronously before it.
    ///
    /// After a fault of a kernel (an illegal address, a trap) every further call of the process fails so.
    #[error("{call} failed with {name} ({code}): {text}")]
    Driver {
        /// The driver's function.
        call: &'static str,
        /// The status it returned.
        code: i32,
        /// The status's name, such as `CUDA_ERROR_ILLEGAL_ADDRESS`.
        name: String,
        /// What the driver says about it.
        text: String,
    },
    /// The kernels' PTX is of a later version than the driver understands.
    #[error(
        "the kernels are PTX {ptx_version}, which is newer than the driver: it supports CUDA {driver_cuda_version}; \
         update NVIDIA's driver (it says: {log})"
    )]
    PtxTooNew {
        /// The version of the PTX.
        ptx_version: String,
        /// The CUDA version that the driver supports.
        driver_cuda_version: String,
        /// What the driver's compiler says.
        log: String,
    },
    /// The driver does not compile the kernels' PTX.
    #[error("the driver refuses the kernels' PTX with {name} ({code}): {text}; its compiler says: {log:?}")]
    ModuleLoad {
        /// The status.
        code: i32,
        /// The status's name.
        name: String,
        /// What the driver says about it.
        text: String,
        /// What the driver's compiler says.
        log: String,
    },
    /// A kernel is not in the PTX.
    #[error("there is no kernel {name} in the PTX for {target}; it is older than the kernels' sources")]
    UnknownKernel {
        /// The kernel.
        name: &'static str,
        /// The architecture that the PTX is for.
        target: &'static str,
    },
    /// A launch has a shape that the kernel or the device cannot run.
    #[error("kernel {kernel}: {got} {what}; from {least} to {most} are possible")]
    LaunchShape {
        /// The kernel.
        kernel: &'static str,
        /// What is counted.
        what: &'static str,
        /// How much of it the launch has.
        got: u32,
        /// The least possible.
        least: u32,
        /// The most possible.
        most: u32,
    },
}
