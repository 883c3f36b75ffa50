//! The GPU kernels, one module a family.
//!
//! Plain Rust over `cuda_std`: the device compiler turns this crate into PTX, a host build gives the same kernels to
//! the emulator and their parameters and launch bounds to the launching side.

#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx))]

pub mod das;

use cuda_std::KernelInfo;

/// Every kernel, a family a slice.
pub const FAMILIES: &[&[KernelInfo]] = &[das::voxel::KERNELS];
