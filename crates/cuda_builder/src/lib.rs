//! Compiles a kernels crate to PTX with rustc's own NVPTX backend.
//!
//! A kernels crate is an ordinary `no_std` library whose kernels are `extern "ptx-kernel"` functions. [`CudaBuilder`]
//! finds a compiler that can generate code for the device ([`DeviceCompiler`]), lets it compile the crate, its
//! dependencies and `core` into one module, writes every kernel's [`LaunchBounds`] into its entry, and puts a
//! [`PtxHeader`] in front that ties the text to its sources. [`CudaTools`] reports what the kernels use.
//!
//! ```no_run
//! use cuda_builder::{Arch, CudaBuilder, LaunchBounds};
//!
//! let ptx = CudaBuilder::new("crates/kernels")
//!     .arch(Arch::Sm80)
//!     .launch_bounds([LaunchBounds::new("saxpy", 256, 2)])
//!     .copy_to("ptx/sm_80.ptx")
//!     .build()?;
//! println!("{}", ptx.header().compiler);
//! # Ok::<(), cuda_builder::Error>(())
//! ```
//!
//! No CUDA toolkit is needed. The crate knows nothing of particular kernels, of the driver or of a GPU at hand.

#![forbid(unsafe_code)]

mod arch;
mod builder;
mod cargo;
mod check;
mod compiler;
mod error;
mod header;
mod instructions;
mod launch_bounds;
mod ptx;
mod resources;
mod sources;
pub mod tools;

pub use arch::Arch;
pub use builder::{CudaBuilder, Ptx};
pub use check::Freshness;
pub use compiler::{DeviceCompiler, SearchList};
pub use error::{Error, Rejected};
pub use header::PtxHeader;
pub use instructions::{KernelInstructions, instruction_counts};
pub use launch_bounds::LaunchBounds;
pub use resources::KernelResources;
pub use tools::CudaTools;
