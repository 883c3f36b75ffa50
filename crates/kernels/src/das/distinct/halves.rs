//! Products of halves by `mma.sync`, from `sm_80` on.

use super::super::sample::Sample;
use super::columns::{Rows, Weights};
use super::{COLUMNS, DasDistinct, Form, VOXELS, WARP, das_distinct, kernels_of};
use cuda_std::half::F16;
use cuda_std::matrix::mma_m16n8k16_f16;
use cuda_std::{Global, thread, warp};
use num_complex::Complex;

/// Rows of an instruction: voxels.
const ROWS: u32 = 16;

/// Instructions that a warp's voxels take.
const TILES: usize = (VOXELS / ROWS) as usize;

/// 16 voxels by 8 batch items.
type Block = [f32; 4];

/// Complex samples, eight batch items in each of `BLOCKS` blocks, `CHUNKS` vectors in all.
///
/// A lane reads the same four batch items of two columns and exchanges halves: the real parts of both columns are one
/// register of an operand, the imaginary parts another.
#[derive(Clone, Copy)]
pub(super) struct ComplexHalves<const BLOCKS: usize, const CHUNKS: u32> {
    weights: Weights<2>,
    rows: Rows<CHUNKS>,
}

/// Real and imaginary parts of sums.
#[derive(Clone, Copy)]
pub(super) struct ComplexSums<const BLOCKS: usize> {
    re: [[Block; BLOCKS]; TILES],
    im: [[Block; BLOCKS]; TILES],
}

impl<const BLOCKS: usize, const CHUNKS: u32> Form for ComplexHalves<BLOCKS, CHUNKS> {
    type Stored = Complex<F16>;
    type Sums = ComplexSums<BLOCKS>;
    const ITEMS: u32 = 8 * BLOCKS as u32;
    const BYTES: u32 = Weights::<2>::BYTES + Rows::<CHUNKS>::BYTES;

    #[inline(always)]
    unsafe fn new(p: &DasDistinct<Self::Stored>, tile: u32) -> Self {
        const { assert!(CHUNKS == 2 * BLOCKS as u32) };
        let offset = thread::thread_idx_x() / WARP * Self::BYTES;
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                weights: Weights::new(offset),
                rows: Rows::new(offset + Weights::<2>::BYTES, tile * CHUNKS, p.n_vectors),
            }
        }
    }

    #[inline(always)]
    fn zero() -> Self::Sums {
        ComplexSums {
            re: [[[0.0; 4]; BLOCKS]; TILES],
            im: [[[0.0; 4]; BLOCKS]; TILES],
        }
    }

    #[inline(always)]
    unsafe fn clear(&self, half: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.weights.clear(half) };
    }

    #[inline(always)]
    unsafe fn place(&self, column: u32, weight: Complex<f32>) {
        // SAFETY: the caller's promise.
        unsafe { self.weights.place(column, weight) };
    }

    #[inline(always)]
    unsafe fn assign(&self, column: u32, vector: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.rows.assign(column, vector) };
    }

    #[inline(always)]
    unsafe fn request(&self, half: u32, transmit: Global<[u32; 4]>) {
        // SAFETY: the caller's promise.
        unsafe { self.rows.request(half, transmit) };
    }

    #[inline(always)]
    unsafe fn multiply(&self, half: u32, sums: &mut Self::Sums) {
        const QUARTERS: usize = 4;
        let (group, place) = (thread::lane() / 4, thread::lane() % 4);
        // SAFETY: all lanes are here, and meet before and after.
        unsafe {
            self.rows.wait();
            let mut operands = [[[0_u32; 4]; 3]; TILES];
            cuda_std::unroll!(TILE in 0..TILES {
                operands[TILE][0] = self.weights.operand(half, 0, TILE as u32);
                operands[TILE][1] = self.weights.operand(half, 1, TILE as u32);
                operands[TILE][2] = operands[TILE][1].map(|pair| pair ^ 0x8000_8000);
            });
            cuda_std::unroll!(PIECE in 0..QUARTERS {
                if 4 * PIECE < BLOCKS {
                    let chunk = 8 * PIECE as u32 + group;
                    let low = [
                        self.rows.vector(2 * place, chunk),
                        self.rows.vector(2 * place + 1, chunk),
                    ];
                    let high = [
                        self.rows.vector(2 * place + COLUMNS / 2, chunk),
                        self.rows.vector(2 * place + COLUMNS / 2 + 1, chunk),
                    ];
                    cuda_std::unroll!(ITEM in 0..QUARTERS {
                        let [re_low, im_low] = F16::transpose_pairs(low[0][ITEM], low[1][ITEM]);
                        let [re_high, im_high] = F16::transpose_pairs(high[0][ITEM], high[1][ITEM]);
                        let (re, im) = ([re_low, re_high], [im_low, im_high]);
                        let block = 4 * PIECE + ITEM;
                        cuda_std::unroll!(TILE in 0..TILES {
                            sums.re[TILE][block] = mma_m16n8k16_f16(operands[TILE][0], re, sums.re[TILE][block]);
                            sums.im[TILE][block] = mma_m16n8k16_f16(operands[TILE][1], re, sums.im[TILE][block]);
                        });
                        cuda_std::unroll!(TILE in 0..TILES {
                            sums.re[TILE][block] = mma_m16n8k16_f16(operands[TILE][2], im, sums.re[TILE][block]);
                            sums.im[TILE][block] = mma_m16n8k16_f16(operands[TILE][0], im, sums.im[TILE][block]);
                        });
                    });
                }
            });
            warp::sync_warp();
        }
    }

    #[inline(always)]
    unsafe fn write(&self, p: &DasDistinct<Self::Stored>, part: u32, first_voxel: u64, sums: Self::Sums) {
        let first_item = thread::block_idx_y() * Self::ITEMS;
        cuda_std::unroll!(TILE in 0..TILES {
            cuda_std::unroll!(BLOCK in 0..BLOCKS {
                // Item i of a lane's four is in block i of its piece.
                let item_of_column = |column: u32| first_item + (BLOCK / 4 * 32 + BLOCK % 4) as u32 + 4 * column;
                let first_voxel = first_voxel + (TILE as u32 * ROWS) as u64;
                let (re, im) = (sums.re[TILE][BLOCK], sums.im[TILE][BLOCK]);
                let values = [
                    Complex::new(re[0], im[0]),
                    Complex::new(re[1], im[1]),
                    Complex::new(re[2], im[2]),
                    Complex::new(re[3], im[3]),
                ];
                // SAFETY: the caller's promise.
                unsafe { write_block(p, part, first_voxel, item_of_column, values) };
            });
        });
    }
}

/// Writes a lane's share of 16 voxels by 8 batch items.
///
/// # Safety
///
/// The parameters' promises hold.
#[inline(always)]
unsafe fn write_block<S: Sample>(
    p: &DasDistinct<S>,
    part: u32,
    first_voxel: u64,
    item_of_column: impl Fn(u32) -> u32,
    values: [S::Value; 4],
) {
    const VALUES: usize = 4;
    let (group, place) = (thread::lane() / 4, thread::lane() % 4);
    cuda_std::unroll!(INDEX in 0..VALUES {
        let item = item_of_column(2 * place + INDEX as u32 % 2);
        let voxel = first_voxel + u64::from(group) + INDEX as u64 / 2 * 8;
        if item < p.n_batch && voxel < p.geometry.n_voxels {
            // SAFETY: item and voxel are in range, and this lane's own.
            unsafe { p.output.write(item, part, voxel, values[INDEX]) };
        }
    });
}

kernels_of! {
    das_distinct_cf16_linear_wide: ComplexHalves<8, 16>, 2, 232, 3, 128;
    das_distinct_cf16_linear_narrow: ComplexHalves<4, 8>, 2, 172, 3, 64;
    das_distinct_cf16_nearest_wide: ComplexHalves<8, 16>, 1, 244, 3, 128;
    das_distinct_cf16_nearest_narrow: ComplexHalves<4, 8>, 1, 170, 3, 64;
}
