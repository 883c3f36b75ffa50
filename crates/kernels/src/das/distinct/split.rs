//! Products of numbers that are split into two halves, by `mma.sync`: single precision's accuracy at three products.
//!
//! Of the four products of (high + low) weights and (high + low) samples that of the low halves is left out. The hardware
//! truncates a sum at every product: hence a new sum for each 16 columns, added to the others in single precision.

use super::columns::{Rows, Weights, wait};
use super::form::{Form, ring};
use super::halves::{
    Block, ComplexSums, TILES, by_turns, consecutive, four_items, negative, write_complex, write_real,
};
use super::{DasDistinct, Split, WARP, das_distinct, kernels_of};
use cuda_std::half::F16;
use cuda_std::matrix::mma_m16n8k16_f16;
use cuda_std::{Global, thread, warp};
use num_complex::Complex;

/// A number's nearest half, and the half nearest to the rest.
#[inline(always)]
fn split(number: f32) -> [F16; 2] {
    let high = F16::from_f32(number);
    [high, F16::from_f32(number - high.to_f32())]
}

#[inline(always)]
fn add(sum: Block, other: Block) -> Block {
    [
        sum[0] + other[0],
        sum[1] + other[1],
        sum[2] + other[2],
        sum[3] + other[3],
    ]
}

/// Real samples, eight batch items in each of `BLOCKS` blocks, a vector a block and plane.
#[derive(Clone, Copy)]
pub(super) struct RealSplit<const BLOCKS: usize, const CHUNKS: u32> {
    weights: Weights<F16, 2>,
    rows: Rows<CHUNKS, 0>,
}

impl<const BLOCKS: usize, const CHUNKS: u32> Form for RealSplit<BLOCKS, CHUNKS> {
    type Stored = Split<F16>;
    type Sums = [[Block; BLOCKS]; TILES];
    const ITEMS: u32 = 4 * CHUNKS;
    const BYTES: u32 = Weights::<F16, 2>::BYTES + Rows::<CHUNKS, 0>::BYTES;
    const PLANES: u32 = 2;

    #[inline(always)]
    unsafe fn new(p: &DasDistinct<Self::Stored>, tile: u32) -> Self {
        const { assert!(CHUNKS == 2 * BLOCKS as u32) };
        let offset = thread::thread_idx_x() / WARP * Self::BYTES;
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                weights: Weights::new(offset),
                rows: Rows::new(offset + Weights::<F16, 2>::BYTES, tile, 2, p.n_vectors),
            }
        }
    }

    #[inline(always)]
    fn zero() -> Self::Sums {
        [[[0.0; 4]; BLOCKS]; TILES]
    }

    ring!(f32: |form, column, weight| form.weights.place(column, split(weight)));
    ring!(copies);

    #[inline(always)]
    unsafe fn multiply(&self, half: u32, sums: &mut Self::Sums) {
        // SAFETY: all lanes are here, and meet before and after.
        unsafe {
            wait();
            let mut weights = [[[0_u32; 4]; 2]; TILES];
            cuda_std::unroll!(TILE in [0, 1] {
                weights[TILE] = [
                    self.weights.operand(half, 0, TILE as u32),
                    self.weights.operand(half, 1, TILE as u32),
                ];
            });
            cuda_std::unroll!(BLOCK in 0..BLOCKS {
                let [high, low] = self.rows.operands(BLOCK as u32, BLOCKS as u32);
                cuda_std::unroll!(TILE in [0, 1] {
                    let sum = mma_m16n8k16_f16(weights[TILE][1], high, [0.0; 4]);
                    let sum = mma_m16n8k16_f16(weights[TILE][0], low, sum);
                    let sum = mma_m16n8k16_f16(weights[TILE][0], high, sum);
                    sums[TILE][BLOCK] = add(sums[TILE][BLOCK], sum);
                });
            });
            warp::sync_warp();
        }
    }

    #[inline(always)]
    unsafe fn write(&self, p: &DasDistinct<Self::Stored>, part: u32, first_voxel: u64, sums: Self::Sums) {
        // SAFETY: the caller's promise.
        unsafe { write_real(p, part, first_voxel, &sums, consecutive, p.inverse_gain()) };
    }
}

/// Complex samples, eight batch items in each of `BLOCKS` blocks, two vectors a block and plane.
#[derive(Clone, Copy)]
pub(super) struct ComplexSplit<const BLOCKS: usize, const CHUNKS: u32> {
    weights: Weights<F16, 4>,
    rows: Rows<CHUNKS, 0>,
}

impl<const BLOCKS: usize, const CHUNKS: u32> Form for ComplexSplit<BLOCKS, CHUNKS> {
    type Stored = Split<Complex<F16>>;
    type Sums = ComplexSums<BLOCKS>;
    const ITEMS: u32 = 2 * CHUNKS;
    const BYTES: u32 = Weights::<F16, 4>::BYTES + Rows::<CHUNKS, 0>::BYTES;
    const PLANES: u32 = 2;

    #[inline(always)]
    unsafe fn new(p: &DasDistinct<Self::Stored>, tile: u32) -> Self {
        const { assert!(CHUNKS == 4 * BLOCKS as u32) };
        let offset = thread::thread_idx_x() / WARP * Self::BYTES;
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                weights: Weights::new(offset),
                rows: Rows::new(offset + Weights::<F16, 4>::BYTES, tile, 2, p.n_vectors),
            }
        }
    }

    #[inline(always)]
    fn zero() -> Self::Sums {
        ComplexSums::zero()
    }

    ring!(Complex<f32>: |form, column, weight| {
        let ([re, re_low], [im, im_low]) = (split(weight.re), split(weight.im));
        form.weights.place(column, [re, im, re_low, im_low]);
    });
    ring!(copies);

    #[inline(always)]
    unsafe fn multiply(&self, half: u32, sums: &mut Self::Sums) {
        let group = thread::lane() / 4;
        // SAFETY: all lanes are here, and meet before and after.
        unsafe {
            wait();
            let mut weights = [[[0_u32; 4]; 4]; TILES];
            cuda_std::unroll!(TILE in [0, 1] {
                cuda_std::unroll!(PART in [0, 1, 2, 3] {
                    weights[TILE][PART] = self.weights.operand(half, PART as u32, TILE as u32);
                });
            });
            cuda_std::unroll!(PIECE in [0, 1] {
                if 4 * PIECE < BLOCKS {
                    let chunk = 8 * PIECE as u32 + group;
                    let high = four_items(&self.rows, chunk);
                    let low = four_items(&self.rows, chunk + CHUNKS / 2);
                    cuda_std::unroll!(ITEM in [0, 1, 2, 3] {
                        let block = 4 * PIECE + ITEM;
                        let (re, im) = (high.re[ITEM], high.im[ITEM]);
                        let (re_low, im_low) = (low.re[ITEM], low.im[ITEM]);
                        let (minus, minus_low) = (im.map(negative), im_low.map(negative));
                        cuda_std::unroll!(TILE in [0, 1] {
                            let [c, s, c_low, s_low] = weights[TILE];
                            let sum_re = mma_m16n8k16_f16(c_low, re, [0.0; 4]);
                            let sum_im = mma_m16n8k16_f16(s_low, re, [0.0; 4]);
                            let sum_re = mma_m16n8k16_f16(c, re, sum_re);
                            let sum_im = mma_m16n8k16_f16(s, re, sum_im);
                            let sum_re = mma_m16n8k16_f16(s_low, minus, sum_re);
                            let sum_im = mma_m16n8k16_f16(c_low, im, sum_im);
                            let sum_re = mma_m16n8k16_f16(s, minus, sum_re);
                            let sum_im = mma_m16n8k16_f16(c, im, sum_im);
                            let sum_re = mma_m16n8k16_f16(c, re_low, sum_re);
                            let sum_im = mma_m16n8k16_f16(s, re_low, sum_im);
                            let sum_re = mma_m16n8k16_f16(s, minus_low, sum_re);
                            let sum_im = mma_m16n8k16_f16(c, im_low, sum_im);
                            sums.re[TILE][block] = add(sums.re[TILE][block], sum_re);
                            sums.im[TILE][block] = add(sums.im[TILE][block], sum_im);
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

kernels_of! {
    das_distinct_split_linear: RealSplit<8, 16>, 2, 2, 252, 3, 96;
    das_distinct_split_nearest: RealSplit<8, 16>, 1, 2, 250, 3, 96;
    das_distinct_csplit_linear: ComplexSplit<4, 16>, 2, 2, 255, 3, 192;
    das_distinct_csplit_nearest: ComplexSplit<4, 16>, 1, 2, 255, 3, 192;
}
