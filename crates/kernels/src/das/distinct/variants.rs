//! Which kernels there are, and what their launches need.

use super::super::sample::Sample;
use super::form::Form;
use super::{DasDistinct, Split, THREADS, WARP, halves, split, tf32, tiles};
use cuda_std::half::F16;
use num_complex::Complex;

/// Samples that a value is interpolated from.
pub use super::super::voxel::Taps;

/// Batch items of a warp's tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tile {
    /// 64 complex or 128 real ones.
    Wide,
    /// 32 complex or 64 real ones.
    Narrow,
}

/// Which instructions multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// `mma.sync`, and copies past the registers; from `sm_80` on. Samples in single precision are multiplied in TF32.
    Mma,
    /// `wmma`; from `sm_70` on, for halves.
    Wmma,
}

/// What the launching side needs to know: for each sample type, instructions and tile the form, and its kernels for linear
/// and nearest interpolation.
macro_rules! instances {
    ($($stored:ty { $(
        $instructions:ident, $tile:ident: $module:ident::$form:ident<$($number:literal),*>, $linear:ident, $nearest:ident;
    )* })*) => {
        $(
            impl Instances for $stored {
                fn variant(instructions: Instructions, taps: Taps, tile: Tile) -> Option<Variant<Self>> {
                    let (kernel, items, bytes_of_warp) = match (instructions, tile, taps) {
                        $((Instructions::$instructions, Tile::$tile, _) => (
                            if taps == Taps::One { $module::$nearest } else { $module::$linear },
                            <$module::$form<$($number),*> as Form>::ITEMS,
                            <$module::$form<$($number),*> as Form>::BYTES,
                        ),)*
                        #[allow(unreachable_patterns, reason = "some types have every variant")]
                        _ => return None,
                    };
                    Some(Variant { kernel, items, shared_bytes: THREADS / WARP * bytes_of_warp })
                }
            }
        )*
    };
}

/// A kernel and what its launch needs.
pub struct Variant<S: Sample> {
    /// The kernel.
    pub kernel: cuda_std::Kernel<DasDistinct<S>>,
    /// Batch items of a tile.
    pub items: u32,
    /// Bytes of a block's shared memory.
    pub shared_bytes: u32,
}

/// A sample type, and this family's kernels for it.
pub trait Instances: Sample {
    /// The kernel with these instructions, this interpolation and this tile, where there is one.
    fn variant(instructions: Instructions, taps: Taps, tile: Tile) -> Option<Variant<Self>>;
}

instances! {
    F16 {
        Mma, Wide: halves::RealHalves<16, 16>, das_distinct_f16_linear_wide, das_distinct_f16_nearest_wide;
        Mma, Narrow: halves::RealHalves<8, 8>, das_distinct_f16_linear_narrow, das_distinct_f16_nearest_narrow;
        Wmma, Narrow: tiles::RealTiles<4, 8>, das_distinct_f16_linear_wmma, das_distinct_f16_nearest_wmma;
    }
    Complex<F16> {
        Mma, Wide: halves::ComplexHalves<8, 16>, das_distinct_cf16_linear_wide, das_distinct_cf16_nearest_wide;
        Mma, Narrow: halves::ComplexHalves<4, 8>, das_distinct_cf16_linear_narrow, das_distinct_cf16_nearest_narrow;
        Wmma, Narrow: tiles::ComplexTiles<4, 8>, das_distinct_cf16_linear_wmma, das_distinct_cf16_nearest_wmma;
    }
    Split<F16> {
        Mma, Narrow: split::RealSplit<8, 16>, das_distinct_split_linear, das_distinct_split_nearest;
    }
    Split<Complex<F16>> {
        Mma, Narrow: split::ComplexSplit<4, 16>, das_distinct_csplit_linear, das_distinct_csplit_nearest;
    }
    f32 {
        Mma, Narrow: tf32::RealTf32<8, 16>, das_distinct_tf32_linear, das_distinct_tf32_nearest;
    }
    Complex<f32> {
        Mma, Narrow: tf32::ComplexTf32<4, 16>, das_distinct_ctf32_linear, das_distinct_ctf32_nearest;
    }
}
