//! The CUDA driver, opened at run time behind the symbols that cust links to.
//!
//! `cust` calls libcuda by its symbols, which would make every build need a CUDA toolkit and every program need a driver
//! to start. Here those symbols are trampolines: each jumps to an address in a slot. [`load`] opens libcuda and fills the
//! slots; until then, and where there is no driver, every function returns `CUDA_ERROR_NO_DEVICE`.
//!
//! Beside them stand our own declarations ([`Driver`]) of what `cust` lacks, or what may return a status that its
//! enumeration does not know. This crate knows the driver's interface and nothing of arrays or kernels.

mod calls;
mod error;
mod load;
mod symbols;
mod trampolines;

pub use calls::{Context, DeviceAttribute, DevicePointer, Function, FunctionAttribute, JitOption};
pub use calls::{Module, Stream};
pub use error::{CallError, LoadError};
pub use load::{Driver, load};
