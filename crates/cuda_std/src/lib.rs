//! What a GPU kernel may use: indices, barriers, memory, warp operations and fast math.
//!
//! One API, two backends. On `nvptx64` every function is an intrinsic or a line of inline PTX (folder `device`); on a
//! host it acts on the emulated block that is running (folder `emulator`). Kernels never ask which one it is.
//! Inline PTX lives in this crate and nowhere else.

#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(
        abi_unadjusted,
        asm_experimental_arch,
        core_intrinsics,
        f16,
        link_llvm_intrinsics,
        stdarch_nvptx
    )
)]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]
// On the device a call costs registers and keeps constants from where they are used.
#![allow(clippy::inline_always)]

#[cfg(target_arch = "nvptx64")]
#[path = "device/mod.rs"]
mod backend;
#[cfg(not(target_arch = "nvptx64"))]
pub mod emulator;
#[cfg(not(target_arch = "nvptx64"))]
use emulator as backend;

mod element;
mod kernel;
mod memory;

pub mod atomic;
pub mod bulk;
pub mod copy;
pub mod half;
pub mod math;
pub mod matrix;
pub mod thread;
pub mod warp;
pub mod warpgroup;
pub mod wmma;

pub use element::Element;
pub use kernel::{Kernel, KernelInfo, Launch, Parameters, Resources};
pub use memory::{Global, GlobalMut, Shared};
