//! Windowed delay-and-sum on tensor cores: neighbouring voxels need neighbouring samples.
//!
//! The sum is the module's. For a tile of voxels and one transmit and channel, the delays lie in a short interval. The
//! kernel takes windows of consecutive samples that hold all of them. The interpolation weight of sample j for a delay d is
//! `h(d − j)`, `h(u) = max(0, 1 − |u|)`, and a window's contribution is a matrix product: (voxel) × (sample), each entry an
//! interpolation weight times the voxel's weight, by (sample) × (batch). Samples that a voxel does not need have weight
//! 0, which no branch and no search has to find out.
//!
//! | launch | |
//! |---|---|
//! | block | `32 · warps` threads; each warp has consecutive voxels, and all of them the same batch items |
//! | grid | x: voxels, y: tiles of consecutive batch items, z: parts |
//! | shared memory | [`Shape::shared_bytes`]: two stages of rows, and each warp's weights |
//! | barriers | one a step of [`Shape::channels`], four or fewer a transmit |
//! | result | every lane writes four batch items a tile of 16, of one voxel or two a group |
//!
//! A step is [`Shape::channels`]. While the block works on one, the rows of the next are copied ([`copy`](cuda_std::copy)):
//! those between the bounds that `reach` gives for the block's voxels, in chunks of [`Shape::rows`] rows. A warp first finds the delays
//! and weights of its voxels, a lane a voxel and a channel, and writes them down; then it multiplies, channel by channel,
//! in one or two windows a chunk, and skips the channels that none of its voxels hears. Half of the warps do the former
//! one step ahead, after the latter, so that one half's arithmetic meets the other half's products.
//!
//! Complex samples whose delays differ little need less: a window of half as many rows, and one product for those of two
//! channels ([`Shape::window_rows`]). A channel whose tile needs more samples has several such half-windows.
//!
//! Where the hardware lets four warps multiply together, [`warpgroup`] does all of this in another way.
//!
//! Where voxels are too few to fill a device, parts are ranges of channels, and [`add`] adds them.
//!
//! Samples are halves, or numbers that are two halves each ([`Split`]), high and low, in two planes, for single precision's accuracy.
//!
//! The sums are in single precision and in a fixed order. A sample that is not finite spoils the sums of its own batch
//! item, also of voxels that give it the weight 0.

pub mod add;
mod body;
mod memory;
mod multiply;
mod operand;
mod pair;
mod prepare;
mod reach;
mod reading;
mod round;
mod shape;
mod split;
mod state;
pub mod warpgroup;
mod weigh;

pub use operand::{WINDOW_ROWS, Windowed};
pub use shape::Shape;

use super::distinct::Split;
use super::geometry::Geometry;
use super::output::Output;
use body::das_window;
use cuda_std::half::F16;
use cuda_std::{Global, Parameters, Resources};
use num_complex::Complex;
use shape::WARP;

/// The kernel's parameters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DasWindow<S: Windowed> {
    /// Channel data in vectors of 16 bytes: `(transmit, channel, row, plane, vector)`, as [`super::permute_rows`] makes them, or as
    /// [`super::permute_columns`] does for warps that multiply in groups.
    pub samples: Global<[u32; 4]>,
    /// Elements, voxels and transmits.
    pub geometry: Geometry<f32>,
    /// The result.
    pub output: Output<S::Value>,
    /// A power of two between 2⁻¹²⁰ and 2¹²⁰ that brings the weights near 1: they are multiplied by it before they are rounded to halves,
    /// and the sums divided.
    pub gain: f32,
    /// Batch items in `samples`, padding excluded.
    pub n_batch: u32,
    /// Vectors in a plane of a row, two batch items each, or columns of 64.
    pub n_vectors: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<S: Windowed> Parameters for DasWindow<S> {}

macro_rules! instances {
    ($($stored:ty, $more:expr; { $(
        $name:ident: $reading:ident, $groups:literal groups $voxels:literal voxels, $vectors:literal vectors $tiles:literal tiles, $warps:literal warps, $blocks:literal blocks, $channels:literal channels, $rows:literal rows, $window:literal a window,
        $registers:literal, $barriers:literal, $warp_operations:literal, $products:literal;
    )* })*) => {
        cuda_std::kernels! { $($(
            /// Windows; sample type, interpolation, voxels and batch items a warp, and warps are in the name.
            $name(p: DasWindow<$stored>),
            threads WARP * $warps, blocks $blocks,
            resources Resources {
                registers: $registers,
                barriers: $barriers,
                warp_operations: $warp_operations,
                matrix_operations: $products,
            },
            {
                // SAFETY: the launching side's promise.
                unsafe { das_window::<$stored, reading::$reading, $groups, $voxels, $vectors, $tiles, $warps, $channels, $rows, $window>(p) }
            }
        )*)* }

        cuda_std::on_host! { $(
            impl Instances for $stored {
                fn instances() -> Vec<Instance<Self>> {
                    let mut instances: Vec<Instance<Self>> = $more;
                    instances.extend([$(Instance {
                        kernel: $name,
                        taps: <reading::$reading as reading::Reads>::TAPS,
                        shape: Shape {
                            voxels_per_warp: $voxels,
                            items: 16 * $vectors,
                            warps: $warps,
                            channels: $channels,
                            rows: $rows,
                            window_rows: $window,
                            group_warps: 1,
                            planes: <$stored as Windowed>::PLANES,
                            weight_planes: <$stored as Windowed>::WEIGHT_PLANES,
                            tap_words: <reading::$reading as reading::Reading>::WORDS,
                        },
                    }),*]);
                    instances
                }
            }
        )* }
    };
}

cuda_std::on_host! {
    /// A kernel.
    pub struct Instance<S: Windowed> {
        /// The kernel itself.
        pub kernel: cuda_std::Kernel<DasWindow<S>>,
        /// The samples that it interpolates from.
        pub taps: super::voxel::Taps,
        /// What a block of it works on.
        pub shape: Shape,
    }

    /// A sample type, and this family's kernels for it.
    pub trait Instances: Windowed<Value: add::Ranges> {
        /// The kernels.
        fn instances() -> Vec<Instance<Self>>;
    }
}

instances! {
    Complex<F16>, warpgroup::instances(); {
        das_window_cf16_linear_16x64_16_16_half: Linear, 2 groups 16 voxels, 4 vectors 8 tiles, 16 warps, 1 blocks, 16 channels, 8 rows, 2 a window,
            128, 7, 29, 16;
        das_window_cf16_linear_16x32_16_16_half: Linear, 2 groups 16 voxels, 2 vectors 4 tiles, 16 warps, 1 blocks, 16 channels, 8 rows, 2 a window,
            128, 7, 29, 8;
        das_window_cf16_linear_16x32_8_8_half: Linear, 2 groups 16 voxels, 2 vectors 4 tiles, 8 warps, 2 blocks, 8 channels, 20 rows, 2 a window,
            128, 7, 29, 8;
        das_window_cf16_nearest_16x64_16_16_half: Nearest, 2 groups 16 voxels, 4 vectors 8 tiles, 16 warps, 1 blocks, 16 channels, 8 rows, 2 a window,
            128, 7, 29, 16;
        das_window_cf16_nearest_16x32_8_8_half: Nearest, 2 groups 16 voxels, 2 vectors 4 tiles, 8 warps, 2 blocks, 8 channels, 20 rows, 2 a window,
            128, 7, 29, 8;
        das_window_cf16_any_16x64_16_8_half: Any, 2 groups 16 voxels, 4 vectors 8 tiles, 16 warps, 1 blocks, 8 channels, 12 rows, 2 a window,
            128, 7, 29, 16;
    }
    F16, Vec::new(); {
        das_window_f16_linear_32x64_8_8: Linear, 2 groups 32 voxels, 4 vectors 8 tiles, 8 warps, 2 blocks, 8 channels, 8 rows, 4 a window,
            128, 7, 27, 48;
        das_window_f16_linear_32x32_8_8: Linear, 2 groups 32 voxels, 2 vectors 4 tiles, 8 warps, 2 blocks, 8 channels, 8 rows, 4 a window,
            128, 7, 27, 24;
        das_window_f16_nearest_32x64_8_8: Nearest, 2 groups 32 voxels, 4 vectors 8 tiles, 8 warps, 2 blocks, 8 channels, 8 rows, 4 a window,
            128, 7, 27, 48;
        das_window_f16_any_32x64_16_8: Any, 2 groups 32 voxels, 4 vectors 8 tiles, 16 warps, 1 blocks, 8 channels, 8 rows, 4 a window,
            128, 7, 27, 48;
    }
    Split<Complex<F16>>, Vec::new(); {
        das_window_csplit_linear_16x64_16_8_half: Linear, 2 groups 16 voxels, 4 vectors 8 tiles, 16 warps, 1 blocks, 8 channels, 8 rows, 2 a window,
            128, 7, 29, 48;
        das_window_csplit_linear_16x32_16_8_half: Linear, 2 groups 16 voxels, 2 vectors 4 tiles, 16 warps, 1 blocks, 8 channels, 8 rows, 2 a window,
            128, 7, 29, 24;
        das_window_csplit_linear_16x32_16_8_half_wide: Linear, 2 groups 16 voxels, 2 vectors 4 tiles, 16 warps, 1 blocks, 8 channels, 16 rows, 2 a window,
            128, 7, 29, 24;
        das_window_csplit_nearest_16x64_16_8_half: Nearest, 2 groups 16 voxels, 4 vectors 8 tiles, 16 warps, 1 blocks, 8 channels, 8 rows, 2 a window,
            128, 7, 29, 48;
    }
    Split<F16>, Vec::new(); {
        das_window_split_linear_16x64_16_8: Linear, 1 groups 16 voxels, 4 vectors 8 tiles, 16 warps, 1 blocks, 8 channels, 8 rows, 4 a window,
            128, 7, 27, 72;
        das_window_split_linear_16x32_16_8: Linear, 1 groups 16 voxels, 2 vectors 4 tiles, 16 warps, 1 blocks, 8 channels, 8 rows, 4 a window,
            128, 7, 27, 36;
        das_window_split_nearest_16x64_16_8: Nearest, 1 groups 16 voxels, 4 vectors 8 tiles, 16 warps, 1 blocks, 8 channels, 8 rows, 4 a window,
            128, 7, 27, 72;
    }
}
