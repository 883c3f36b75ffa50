//! The GPU kernels, one module a family.
//!
//! Plain Rust over `cuda_std`: the device compiler turns this crate into PTX, a host build gives the same kernels to
//! the emulator and their parameters and launch bounds to the launching side.

#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx))]

pub mod copy;
pub mod das;
pub mod geometry;
pub mod greens;
pub mod index;
pub mod interpolate;
pub mod probe;
pub mod product;
pub mod rank;
pub mod rates;
pub mod sort;

use cuda_std::KernelInfo;

/// Every kernel, a family a slice.
pub const FAMILIES: &[&[KernelInfo]] = &[
    das::voxel::KERNELS,
    das::batch::KERNELS,
    das::distinct::tiles::KERNELS,
    das::permute::KERNELS,
    das::permute_rows::KERNELS,
    das::scale::KERNELS,
    copy::flat::KERNELS,
    copy::shifted::KERNELS,
    copy::boxes::KERNELS,
    copy::tiles::KERNELS,
    copy::pairs::KERNELS,
    index::KERNELS,
    geometry::KERNELS,
    greens::KERNELS,
    greens::ADD_KERNELS,
    rank::KERNELS,
    rank::fma::KERNELS,
    interpolate::boxes::KERNELS,
    interpolate::locate::KERNELS,
    interpolate::jumps::KERNELS,
    interpolate::evaluate::KERNELS,
    interpolate::rows::KERNELS,
    product::KERNELS,
    sort::KERNELS,
    das::curve::KERNELS,
    probe::KERNELS,
];

cuda_std::on_host! {
    /// The kernels that need `sm_80`, a family a slice; PTX for less does not have them.
    pub const FAMILIES_FROM_SM_80: &[&[KernelInfo]] = &[
        das::distinct::halves::KERNELS,
        das::distinct::split::KERNELS,
        das::distinct::tf32::KERNELS,
        das::window::KERNELS,
        rates::sm_80::KERNELS,
        product::matrix::KERNELS,
        greens::halves::KERNELS,
        das::window::add::KERNELS,
        rank::sm_80::KERNELS,
        rank::sm_80::few::KERNELS,
        probe::sm_80::KERNELS,
    ];

    /// The kernels of `sm_90a`, whose PTX has no others.
    pub const FAMILIES_OF_SM_90A: &[&[KernelInfo]] = &[
        probe::sm_90a::KERNELS,
        rates::sm_90a::KERNELS,
        das::permute_columns::KERNELS,
        das::window::warpgroup::KERNELS,
    ];
}
