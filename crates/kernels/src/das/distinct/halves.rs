//! Products of halves by `mma.sync`, from `sm_80` on.

use super::super::sample::{Sample, Value};
use super::columns::{Rows, Weights, wait};
use super::form::{Form, ring};
use super::{COLUMNS, DasDistinct, VOXELS, WARP, das_distinct, kernels_of};
use cuda_std::half::F16;
use cuda_std::matrix::mma_m16n8k16_f16;
use cuda_std::{Global, thread, warp};
use num_complex::Complex;

/// Rows of an instruction: voxels.
pub(super) const ROWS: u32 = 16;

/// Instructions that a warp's voxels take.
pub(super) const TILES: usize = (VOXELS / ROWS) as usize;

/// 16 voxels by 8 batch items.
pub(super) type Block = [f32; 4];

/// Real samples, eight batch items in each of `BLOCKS` blocks, a block a vector.
#[derive(Clone, Copy)]
pub(super) struct RealHalves<const BLOCKS: usize, const CHUNKS: u32> {
    weights: Weights<F16, 1>,
    rows: Rows<CHUNKS, 0>,
}

impl<const BLOCKS: usize, const CHUNKS: u32> Form for RealHalves<BLOCKS, CHUNKS> {
    type Stored = F16;
    type Sums = [[Block; BLOCKS]; TILES];
    const ITEMS: u32 = 8 * CHUNKS;
    const BYTES: u32 = Weights::<F16, 1>::BYTES + Rows::<CHUNKS, 0>::BYTES;

    #[inline(always)]
    unsafe fn new(p: &DasDistinct<F16>, tile: u32) -> Self {
        const { assert!(CHUNKS == BLOCKS as u32) };
        let offset = thread::thread_idx_x() / WARP * Self::BYTES;
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                weights: Weights::new(offset),
                rows: Rows::new(offset + Weights::<F16, 1>::BYTES, tile, 1, p.n_vectors),
            }
        }
    }

    #[inline(always)]
    fn zero() -> Self::Sums {
        [[[0.0; 4]; BLOCKS]; TILES]
    }

    ring!(f32: |form, column, weight| form.weights.place(column, [F16::from_f32(weight)]));
    ring!(copies);

    #[inline(always)]
    unsafe fn multiply(&self, half: u32, sums: &mut Self::Sums) {
        // SAFETY: all lanes are here, and meet before and after.
        unsafe {
            wait();
            let mut weights = [[0_u32; 4]; TILES];
            cuda_std::unroll!(TILE in [0, 1] {
                weights[TILE] = self.weights.operand(half, 0, TILE as u32);
            });
            cuda_std::unroll!(PAIR in [0, 1, 2, 3, 4, 5, 6, 7] {
                if 2 * PAIR < BLOCKS {
                    let samples = self.rows.operands(2 * PAIR as u32, 1);
                    cuda_std::unroll!(TILE in [0, 1] {
                        let sums = &mut sums[TILE];
                        sums[2 * PAIR] = mma_m16n8k16_f16(weights[TILE], samples[0], sums[2 * PAIR]);
                        sums[2 * PAIR + 1] = mma_m16n8k16_f16(weights[TILE], samples[1], sums[2 * PAIR + 1]);
                    });
                }
            });
            warp::sync_warp();
        }
    }

    #[inline(always)]
    unsafe fn write(&self, p: &DasDistinct<F16>, part: u32, first_voxel: u64, sums: Self::Sums) {
        // SAFETY: the caller's promise.
        unsafe { write_real(p, part, first_voxel, &sums, consecutive, p.inverse_gain()) };
    }
}

/// Complex samples, eight batch items in each of `BLOCKS` blocks, two vectors a block.
///
/// A lane reads the same four batch items of two columns and exchanges halves: the real parts of both columns are one
/// register of an operand, the imaginary parts another.
#[derive(Clone, Copy)]
pub(super) struct ComplexHalves<const BLOCKS: usize, const CHUNKS: u32> {
    weights: Weights<F16, 2>,
    rows: Rows<CHUNKS, 0>,
}

/// Real and imaginary parts of sums.
#[derive(Clone, Copy)]
pub(super) struct ComplexSums<const BLOCKS: usize> {
    pub(super) re: [[Block; BLOCKS]; TILES],
    pub(super) im: [[Block; BLOCKS]; TILES],
}

impl<const BLOCKS: usize> ComplexSums<BLOCKS> {
    #[inline(always)]
    pub(super) fn zero() -> Self {
        Self {
            re: [[[0.0; 4]; BLOCKS]; TILES],
            im: [[[0.0; 4]; BLOCKS]; TILES],
        }
    }
}

/// Samples of four batch items as operands.
pub(super) struct FourItems {
    pub(super) re: [[u32; 2]; 4],
    pub(super) im: [[u32; 2]; 4],
}

/// A lane's operands of a chunk of complex halves.
///
/// # Safety
///
/// The rows hold the chunk, and were waited for.
#[inline(always)]
pub(super) unsafe fn four_items<const CHUNKS: u32>(rows: &Rows<CHUNKS, 0>, chunk: u32) -> FourItems {
    let place = thread::lane() % 4;
    // SAFETY: the caller's promise.
    let (low, high) = unsafe {
        let pair = |column: u32| [rows.vector(column, chunk), rows.vector(column + 1, chunk)];
        (pair(2 * place), pair(2 * place + COLUMNS / 2))
    };
    let mut items = FourItems {
        re: [[0; 2]; 4],
        im: [[0; 2]; 4],
    };
    cuda_std::unroll!(ITEM in [0, 1, 2, 3] {
        let [re_low, im_low] = F16::transpose_pairs(low[0][ITEM], low[1][ITEM]);
        let [re_high, im_high] = F16::transpose_pairs(high[0][ITEM], high[1][ITEM]);
        items.re[ITEM] = [re_low, re_high];
        items.im[ITEM] = [im_low, im_high];
    });
    items
}

/// A pair of halves with the other sign.
#[inline(always)]
pub(super) fn negative(pair: u32) -> u32 {
    pair ^ 0x8000_8000
}

impl<const BLOCKS: usize, const CHUNKS: u32> Form for ComplexHalves<BLOCKS, CHUNKS> {
    type Stored = Complex<F16>;
    type Sums = ComplexSums<BLOCKS>;
    const ITEMS: u32 = 4 * CHUNKS;
    const BYTES: u32 = Weights::<F16, 2>::BYTES + Rows::<CHUNKS, 0>::BYTES;

    #[inline(always)]
    unsafe fn new(p: &DasDistinct<Self::Stored>, tile: u32) -> Self {
        const { assert!(CHUNKS == 2 * BLOCKS as u32) };
        let offset = thread::thread_idx_x() / WARP * Self::BYTES;
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                weights: Weights::new(offset),
                rows: Rows::new(offset + Weights::<F16, 2>::BYTES, tile, 1, p.n_vectors),
            }
        }
    }

    #[inline(always)]
    fn zero() -> Self::Sums {
        ComplexSums::zero()
    }

    ring!(Complex<f32>: |form, column, weight| {
        form.weights.place(column, [F16::from_f32(weight.re), F16::from_f32(weight.im)]);
    });
    ring!(copies);

    #[inline(always)]
    unsafe fn multiply(&self, half: u32, sums: &mut Self::Sums) {
        let group = thread::lane() / 4;
        // SAFETY: all lanes are here, and meet before and after.
        unsafe {
            wait();
            let mut weights = [[[0_u32; 4]; 3]; TILES];
            cuda_std::unroll!(TILE in [0, 1] {
                let (re, im) = (
                    self.weights.operand(half, 0, TILE as u32),
                    self.weights.operand(half, 1, TILE as u32),
                );
                weights[TILE] = [re, im, im.map(negative)];
            });
            cuda_std::unroll!(PIECE in [0, 1] {
                if 4 * PIECE < BLOCKS {
                    let samples = four_items(&self.rows, 8 * PIECE as u32 + group);
                    cuda_std::unroll!(ITEM in [0, 1, 2, 3] {
                        let (block, re, im) = (4 * PIECE + ITEM, samples.re[ITEM], samples.im[ITEM]);
                        cuda_std::unroll!(TILE in [0, 1] {
                            sums.re[TILE][block] = mma_m16n8k16_f16(weights[TILE][0], re, sums.re[TILE][block]);
                            sums.im[TILE][block] = mma_m16n8k16_f16(weights[TILE][1], re, sums.im[TILE][block]);
                        });
                        cuda_std::unroll!(TILE in [0, 1] {
                            sums.re[TILE][block] = mma_m16n8k16_f16(weights[TILE][2], im, sums.re[TILE][block]);
                            sums.im[TILE][block] = mma_m16n8k16_f16(weights[TILE][0], im, sums.im[TILE][block]);
                        });
                    });
                }
            });
            warp::sync_warp();
        }
    }

    #[inline(always)]
    unsafe fn write(&self, p: &DasDistinct<Self::Stored>, part: u32, first_voxel: u64, sums: Self::Sums) {
        // SAFETY: the caller's promise.
        unsafe { write_complex(p, part, first_voxel, &sums, by_turns::<4>, p.inverse_gain()) };
    }
}

/// The batch item of a block's column where blocks hold eight consecutive ones.
#[inline(always)]
pub(super) fn consecutive(block: u32, column: u32) -> u32 {
    8 * block + column
}

/// The batch item of a block's column where `COUNT` blocks share their items by turns.
#[inline(always)]
pub(super) fn by_turns<const COUNT: u32>(block: u32, column: u32) -> u32 {
    block / COUNT * 8 * COUNT + COUNT * column + block % COUNT
}

/// Writes real sums.
///
/// # Safety
///
/// The parameters' promises hold.
#[inline(always)]
pub(super) unsafe fn write_real<S: Sample<Value = f32>, const BLOCKS: usize>(
    p: &DasDistinct<S>,
    part: u32,
    first_voxel: u64,
    sums: &[[Block; BLOCKS]; TILES],
    item: fn(u32, u32) -> u32,
    scale: f32,
) {
    let first_item = thread::block_idx_y() * 8 * BLOCKS as u32;
    cuda_std::unroll!(TILE in [0, 1] {
        cuda_std::unroll!(BLOCK in 0..BLOCKS {
            let item_of_column = |column: u32| first_item + item(BLOCK as u32, column);
            let first_voxel = first_voxel + TILE as u64 * u64::from(ROWS);
            // SAFETY: the caller's promise.
            unsafe { write_block(p, part, first_voxel, item_of_column, sums[TILE][BLOCK], scale) };
        });
    });
}

/// Writes complex sums.
///
/// # Safety
///
/// The parameters' promises hold.
#[inline(always)]
pub(super) unsafe fn write_complex<S: Sample<Value = Complex<f32>>, const BLOCKS: usize>(
    p: &DasDistinct<S>,
    part: u32,
    first_voxel: u64,
    sums: &ComplexSums<BLOCKS>,
    item: fn(u32, u32) -> u32,
    scale: f32,
) {
    let first_item = thread::block_idx_y() * 8 * BLOCKS as u32;
    cuda_std::unroll!(TILE in [0, 1] {
        cuda_std::unroll!(BLOCK in 0..BLOCKS {
            let item_of_column = |column: u32| first_item + item(BLOCK as u32, column);
            let first_voxel = first_voxel + TILE as u64 * u64::from(ROWS);
            let (re, im) = (sums.re[TILE][BLOCK], sums.im[TILE][BLOCK]);
            let values = [
                Complex::new(re[0], im[0]),
                Complex::new(re[1], im[1]),
                Complex::new(re[2], im[2]),
                Complex::new(re[3], im[3]),
            ];
            // SAFETY: the caller's promise.
            unsafe { write_block(p, part, first_voxel, item_of_column, values, scale) };
        });
    });
}

/// Writes a lane's share of 16 voxels by 8 batch items.
///
/// # Safety
///
/// The parameters' promises hold.
#[inline(always)]
unsafe fn write_block<S: Sample<Value: Value<Real = f32>>>(
    p: &DasDistinct<S>,
    part: u32,
    first_voxel: u64,
    item_of_column: impl Fn(u32) -> u32,
    values: [S::Value; 4],
    scale: f32,
) {
    let (group, place) = (thread::lane() / 4, thread::lane() % 4);
    cuda_std::unroll!(INDEX in [0, 1, 2, 3] {
        let item = item_of_column(2 * place + INDEX as u32 % 2);
        let place = first_voxel + u64::from(group) + INDEX as u64 / 2 * 8;
        if item < p.n_batch && place < p.geometry.n_voxels {
            // SAFETY: item and voxel are in range, and this lane's own.
            unsafe { p.output.write(item, part, p.geometry.in_tiles(place), values[INDEX].scale(scale)) };
        }
    });
}

kernels_of! {
    das_distinct_f16_linear_wide: RealHalves<16, 16>, 2, 2, 247, 3, 64;
    das_distinct_f16_linear_narrow: RealHalves<8, 8>, 2, 3, 162, 3, 32;
    das_distinct_f16_nearest_wide: RealHalves<16, 16>, 1, 2, 244, 3, 64;
    das_distinct_f16_nearest_narrow: RealHalves<8, 8>, 1, 3, 160, 3, 32;
    das_distinct_cf16_linear_wide: ComplexHalves<8, 16>, 2, 2, 244, 3, 128;
    das_distinct_cf16_linear_narrow: ComplexHalves<4, 8>, 2, 3, 154, 3, 64;
    das_distinct_cf16_nearest_wide: ComplexHalves<8, 16>, 1, 2, 244, 3, 128;
    das_distinct_cf16_nearest_narrow: ComplexHalves<4, 8>, 1, 3, 152, 3, 64;
}
