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
}
