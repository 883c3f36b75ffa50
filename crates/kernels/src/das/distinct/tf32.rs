//! Products in TF32 by `mma.sync`, from `sm_80` on: samples and weights in single precision, rounded to 11 bits.
//!
//! An instruction takes eight columns, two of 16 side by side from each place: lanes of a place read an even one and the one
//! after it.

use super::columns::{Rows, Weights, wait};
use super::form::{Form, ring};
use super::halves::{Block, ComplexSums, TILES, by_turns, write_complex, write_real};
use super::{COLUMNS, DasDistinct, WARP, das_distinct, kernels_of};
use cuda_std::matrix::mma_m16n8k8_tf32;
use cuda_std::{Global, Shared, thread, warp};
use num_complex::Complex;

/// The nearest number in TF32, which the instruction leaves when it drops the low bits.
#[inline(always)]
fn round(bits: u32) -> f32 {
    f32::from_bits(bits.wrapping_add(0x1000))
}

/// Where the weight of this lane's voxel is: voxels 8 apart are neighbours.
#[inline(always)]
fn place() -> u32 {
    let lane = thread::lane();
    lane / 16 * 16 + lane % 8 * 2 + lane / 8 % 2
}

/// A part of the weights of 16 voxels and the eight columns of a step, as an operand.
///
/// # Safety
///
/// The weights hold the columns, and nobody changes them.
#[inline(always)]
unsafe fn operand<const PARTS: usize>(pairs: Shared<[f32; 2]>, half: u32, part: u32, tile: u32, step: u32) -> [f32; 4] {
    let (group, place) = (thread::lane() / 4, thread::lane() % 4);
    let pitch = Weights::<f32, PARTS>::PITCH / 2;
    let at = (half * COLUMNS + 8 * step + 2 * place) * pitch + part * 16 + tile * 8 + group;
    // SAFETY: the caller's promise.
    let ([a, b], [c, d]) = unsafe { (pairs.load(at), pairs.load(at + pitch)) };
    [a, b, c, d]
}

/// Real samples, eight batch items in each of `BLOCKS` blocks, two vectors a block.
#[derive(Clone, Copy)]
pub(super) struct RealTf32<const BLOCKS: usize, const CHUNKS: u32> {
    weights: Weights<f32, 1>,
    pairs: Shared<[f32; 2]>,
    rows: Rows<CHUNKS, 0>,
}

impl<const BLOCKS: usize, const CHUNKS: u32> Form for RealTf32<BLOCKS, CHUNKS> {
    type Stored = f32;
    type Sums = [[Block; BLOCKS]; TILES];
    const ITEMS: u32 = 4 * CHUNKS;
    const BYTES: u32 = Weights::<f32, 1>::BYTES + Rows::<CHUNKS, 0>::BYTES;

    #[inline(always)]
    unsafe fn new(p: &DasDistinct<f32>, tile: u32) -> Self {
        const { assert!(CHUNKS == 2 * BLOCKS as u32) };
        let offset = thread::thread_idx_x() / WARP * Self::BYTES;
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                weights: Weights::new(offset),
                pairs: Shared::new(offset, Weights::<f32, 1>::BYTES / 8),
                rows: Rows::new(offset + Weights::<f32, 1>::BYTES, tile, 1, p.n_vectors),
            }
        }
    }

    #[inline(always)]
    fn zero() -> Self::Sums {
        [[[0.0; 4]; BLOCKS]; TILES]
    }

    ring!(f32: |form, column, weight| form.weights.place_at(column, place(), [round(weight.to_bits())]));
    ring!(copies);

    #[inline(always)]
    unsafe fn multiply(&self, half: u32, sums: &mut Self::Sums) {
        let (group, place) = (thread::lane() / 4, thread::lane() % 4);
        // SAFETY: all lanes are here, and meet before and after.
        unsafe {
            wait();
            cuda_std::unroll!(STEP in [0, 1] {
                let mut weights = [[0.0; 4]; TILES];
                cuda_std::unroll!(TILE in [0, 1] {
                    weights[TILE] = operand::<1>(self.pairs, half, 0, TILE as u32, STEP as u32);
                });
                let column = 8 * STEP as u32 + 2 * place;
                cuda_std::unroll!(PIECE in [0, 1] {
                    if 4 * PIECE < BLOCKS {
                        let chunk = 8 * PIECE as u32 + group;
                        let (low, high) = (self.rows.vector(column, chunk), self.rows.vector(column + 1, chunk));
                        cuda_std::unroll!(ITEM in [0, 1, 2, 3] {
                            let (block, samples) = (4 * PIECE + ITEM, [round(low[ITEM]), round(high[ITEM])]);
                            cuda_std::unroll!(TILE in [0, 1] {
                                sums[TILE][block] = mma_m16n8k8_tf32(weights[TILE], samples, sums[TILE][block]);
                            });
                        });
                    }
                });
            });
            warp::sync_warp();
        }
    }

    #[inline(always)]
    unsafe fn write(&self, p: &DasDistinct<f32>, part: u32, first_voxel: u64, sums: Self::Sums) {
        // SAFETY: the caller's promise.
        unsafe { write_real(p, part, first_voxel, &sums, by_turns::<4>, p.inverse_gain()) };
    }
}

/// Complex samples, eight batch items in each of `BLOCKS` blocks, four vectors a block.
#[derive(Clone, Copy)]
pub(super) struct ComplexTf32<const BLOCKS: usize, const CHUNKS: u32> {
    weights: Weights<f32, 2>,
    pairs: Shared<[f32; 2]>,
    rows: Rows<CHUNKS, 0>,
}

impl<const BLOCKS: usize, const CHUNKS: u32> Form for ComplexTf32<BLOCKS, CHUNKS> {
    type Stored = Complex<f32>;
    type Sums = ComplexSums<BLOCKS>;
    const ITEMS: u32 = 2 * CHUNKS;
    const BYTES: u32 = Weights::<f32, 2>::BYTES + Rows::<CHUNKS, 0>::BYTES;

    #[inline(always)]
    unsafe fn new(p: &DasDistinct<Self::Stored>, tile: u32) -> Self {
        const { assert!(CHUNKS == 4 * BLOCKS as u32) };
        let offset = thread::thread_idx_x() / WARP * Self::BYTES;
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                weights: Weights::new(offset),
                pairs: Shared::new(offset, Weights::<f32, 2>::BYTES / 8),
                rows: Rows::new(offset + Weights::<f32, 2>::BYTES, tile, 1, p.n_vectors),
            }
        }
    }

    #[inline(always)]
    fn zero() -> Self::Sums {
        ComplexSums::zero()
    }

    ring!(Complex<f32>: |form, column, weight| {
        form.weights.place_at(column, place(), [round(weight.re.to_bits()), round(weight.im.to_bits())]);
    });
    ring!(copies);

    #[inline(always)]
    unsafe fn multiply(&self, half: u32, sums: &mut Self::Sums) {
        let (group, place) = (thread::lane() / 4, thread::lane() % 4);
        // SAFETY: all lanes are here, and meet before and after.
        unsafe {
            wait();
            cuda_std::unroll!(STEP in [0, 1] {
                let mut weights = [[[0.0; 4]; 3]; TILES];
                cuda_std::unroll!(TILE in [0, 1] {
                    let (re, im) = (
                        operand::<2>(self.pairs, half, 0, TILE as u32, STEP as u32),
                        operand::<2>(self.pairs, half, 1, TILE as u32, STEP as u32),
                    );
                    weights[TILE] = [re, im, [-im[0], -im[1], -im[2], -im[3]]];
                });
                let column = 8 * STEP as u32 + 2 * place;
                cuda_std::unroll!(PIECE in [0, 1] {
                    if 2 * PIECE < BLOCKS {
                        let chunk = 8 * PIECE as u32 + group;
                        let (low, high) = (self.rows.vector(column, chunk), self.rows.vector(column + 1, chunk));
                        cuda_std::unroll!(ITEM in [0, 1] {
                            let block = 2 * PIECE + ITEM;
                            let re = [round(low[2 * ITEM]), round(high[2 * ITEM])];
                            let im = [round(low[2 * ITEM + 1]), round(high[2 * ITEM + 1])];
                            cuda_std::unroll!(TILE in [0, 1] {
                                sums.re[TILE][block] = mma_m16n8k8_tf32(weights[TILE][0], re, sums.re[TILE][block]);
                                sums.im[TILE][block] = mma_m16n8k8_tf32(weights[TILE][1], re, sums.im[TILE][block]);
                            });
                            cuda_std::unroll!(TILE in [0, 1] {
                                sums.re[TILE][block] = mma_m16n8k8_tf32(weights[TILE][2], im, sums.re[TILE][block]);
                                sums.im[TILE][block] = mma_m16n8k8_tf32(weights[TILE][0], im, sums.im[TILE][block]);
                            });
                        });
                    }
                });
            });
            warp::sync_warp();
        }
    }

    #[inline(always)]
    unsafe fn write(&self, p: &DasDistinct<Self::Stored>, part: u32, first_voxel: u64, sums: Self::Sums) {
        // SAFETY: the caller's promise.
        unsafe { write_complex(p, part, first_voxel, &sums, by_turns::<2>, p.inverse_gain()) };
    }
}

kernels_of! {
    das_distinct_tf32_linear: RealTf32<8, 16>, 2, 3, 168, 3, 64;
    das_distinct_tf32_nearest: RealTf32<8, 16>, 1, 3, 168, 3, 64;
    das_distinct_ctf32_linear: ComplexTf32<4, 16>, 2, 3, 168, 3, 128;
    das_distinct_ctf32_nearest: ComplexTf32<4, 16>, 1, 3, 168, 3, 128;
}
