//! Windows whose products four warps make together (`wgmma`), for complex halves; `sm_90a` alone.
//!
//! The sum, the launch and the shared memory's bounds are those of [`window`](super). A group of four warps has 32 consecutive voxels,
//! 8 a warp, and shares its windows of four samples: a product takes those of two channels, as rows of the right operand, which the
//! instruction reads from shared memory as [`permute_columns`](super::super::permute_columns) has laid the samples out: a window may
//! begin at any of them. The left operand is in registers, 8 rows of real parts and 8 of imaginary ones a warp.
//!
//! Steps follow each other through a block as through a pipeline, with a barrier a step: see `body`.

mod body;
mod fill;
pub(super) mod memory;
mod multiply;
mod plan;
mod weigh;

use super::reading::{Linear, Nearest};
use super::{DasWindow, Shape};
use body::das_window;
use cuda_std::Resources;
use cuda_std::half::F16;
use num_complex::Complex;

/// Tiles of eight batch items.
const TILES: usize = 16;

/// What a block works on.
const SHAPE: Shape = Shape {
    voxels_per_warp: weigh::VOXELS,
    items: 8 * TILES as u32,
    warps: 16,
    channels: memory::CHANNELS,
    rows: memory::ROWS,
    window_rows: memory::WINDOW,
    group_warps: 4,
    planes: 1,
    weight_planes: 1,
    tap_words: 0,
};

macro_rules! instances {
    ($($name:ident: $reading:ident, $registers:literal, $warp_operations:literal;)*) => {
        cuda_std::kernels! { for sm_90a; $(
            /// Windows of warp groups; interpolation, voxels and batch items a warp, warps and channels a step are in the name.
            $name(p: DasWindow<Complex<F16>>),
            threads 512, blocks 1,
            resources Resources {
                registers: $registers,
                barriers: 7,
                warp_operations: $warp_operations,
                matrix_operations: 2,
            },
            {
                // SAFETY: the launching side's promise.
                unsafe { das_window::<$reading, TILES>(p, SHAPE) }
            }
        )* }

        cuda_std::on_host! {
            /// The kernels.
            pub(super) fn instances() -> Vec<super::Instance<Complex<F16>>> {
                vec![$(super::Instance {
                    kernel: $name,
                    taps: <$reading as super::reading::Reads>::TAPS,
                    shape: SHAPE,
                }),*]
            }
        }
    };
}

instances! {
    das_window_cf16_linear_8x128_16_8_group: Linear, 128, 36;
    das_window_cf16_nearest_8x128_16_8_group: Nearest, 128, 36;
}
