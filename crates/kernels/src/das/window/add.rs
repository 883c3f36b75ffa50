//! The sums over the ranges of channels that a few voxels' sum was split into, so that more blocks have work.
//!
//! The windowed kernels write a sum of each range, a part as any other; these are added here, in the order of the channels.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads, a voxel each |
//! | grid | x: voxels, y: any number of layers, which share the batch items, z: parts |
//! | shared memory, barriers | none |
//! | result | every batch item, part and voxel is written once |

use super::super::output::Output;
use super::super::sample::Value;
use cuda_std::{Global, Parameters, Resources, thread};
use num_complex::Complex;

/// Threads of a block.
pub const THREADS: u32 = 128;

/// The kernel's parameters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AddRanges<V: Value> {
    /// The ranges' sums, `(batch, range, part, voxel)`.
    pub sums: Global<V>,
    /// The result.
    pub output: Output<V>,
    /// Ranges of channels.
    pub n_ranges: u32,
    /// Batch items of `sums`.
    pub n_batch: u32,
    /// Layers of blocks along y.
    pub n_layers: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<V: Value> Parameters for AddRanges<V> {}

/// The kernel's body.
///
/// # Safety
///
/// The slices hold what the counts say; a block of the grid for every [`THREADS`] voxels and for every part.
#[inline(always)]
unsafe fn add_ranges<V: Value<Real = f32>>(p: AddRanges<V>) {
    let voxel = u64::from(thread::block_idx_x()) * u64::from(THREADS) + u64::from(thread::thread_idx_x());
    if voxel >= p.output.n_voxels {
        return;
    }
    let part = p.output.first_part + thread::block_idx_z();
    let of_range = u64::from(p.output.n_parts) * p.output.n_voxels;
    let mut item = thread::block_idx_y();
    while item < p.n_batch {
        let mut at = u64::from(item) * u64::from(p.n_ranges) * of_range + u64::from(part) * p.output.n_voxels + voxel;
        let mut sum = V::ZERO;
        let mut range = 0;
        // SAFETY: item, range, part and voxel are in range; this thread alone writes there.
        unsafe {
            while range < p.n_ranges {
                sum = p.sums.load(at).scale_add(1.0, sum);
                at += of_range;
                range += 1;
            }
            p.output.write(item, part, voxel, sum);
        }
        item += p.n_layers;
    }
}

cuda_std::kernels! {
    /// Ranges of real sums.
    das_add_ranges_f32(p: AddRanges<f32>),
    threads THREADS, blocks 1,
    resources Resources { registers: 128, barriers: 0, warp_operations: 0, matrix_operations: 0 },
    {
        // SAFETY: the launching side's promise.
        unsafe { add_ranges(p) }
    }
    /// Ranges of complex sums.
    das_add_ranges_cf32(p: AddRanges<Complex<f32>>),
    threads THREADS, blocks 1,
    resources Resources { registers: 128, barriers: 0, warp_operations: 0, matrix_operations: 0 },
    {
        // SAFETY: the launching side's promise.
        unsafe { add_ranges(p) }
    }
}

cuda_std::on_host! {
    /// A type of sums whose ranges can be added.
    pub trait Ranges: Value<Real = f32> {
        /// The kernel.
        fn adding() -> cuda_std::Kernel<AddRanges<Self>>;
    }

    impl Ranges for f32 {
        fn adding() -> cuda_std::Kernel<AddRanges<Self>> {
            das_add_ranges_f32
        }
    }

    impl Ranges for Complex<f32> {
        fn adding() -> cuda_std::Kernel<AddRanges<Self>> {
            das_add_ranges_cf32
        }
    }
}
