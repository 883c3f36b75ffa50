//! Products of 16×16 tiles of halves by `wmma`, from `sm_70` on.
//!
//! Where an operand's numbers are in registers is the hardware's secret: samples go to shared memory as they are, and what
//! they become comes back through it. Real and imaginary parts of samples are columns side by side, those of weights
//! tiles of their own: their four products are summed apart and put together at the end.

use super::columns::{Rows, Weights};
use super::form::Form;
use super::{COLUMNS, DasDistinct, VOXELS, WARP, das_distinct, kernels_of};
use crate::das::sample::{Sample, Value};
use cuda_std::half::F16;
use cuda_std::wmma::{Columns, Left, Right, Rows as ByRows, Sum};
use cuda_std::{Global, Shared, thread, warp};
use num_complex::Complex;

/// Rows and columns of a tile.
const SIDE: u32 = 16;

/// Tiles of a warp's voxels.
const TILES: usize = (VOXELS / SIDE) as usize;

/// Lanes exchange until all have what one of them needs.
#[inline(always)]
unsafe fn fold(mut value: u32, combine: impl Fn(u32, u32) -> u32) -> u32 {
    // SAFETY: all lanes are here, by the caller's promise.
    unsafe {
        value = combine(value, warp::shuffle_xor(value, 16));
        value = combine(value, warp::shuffle_xor(value, 8));
        value = combine(value, warp::shuffle_xor(value, 4));
        value = combine(value, warp::shuffle_xor(value, 2));
        combine(value, warp::shuffle_xor(value, 1))
    }
}

/// Memory of the form: weights, rows of samples, and the rows as halves.
#[derive(Clone, Copy)]
struct Memory<const PARTS: usize, const CHUNKS: u32> {
    weights: Weights<F16, PARTS>,
    rows: Rows<CHUNKS, 1>,
    halves: Shared<F16>,
    sums: Shared<f32>,
}

impl<const PARTS: usize, const CHUNKS: u32> Memory<PARTS, CHUNKS> {
    const BYTES: u32 = Weights::<F16, PARTS>::BYTES + Rows::<CHUNKS, 1>::BYTES;
    const ROW: u32 = Rows::<CHUNKS, 1>::PITCH * 8;

    #[inline(always)]
    unsafe fn new(tile: u32, n_vectors: u32) -> Self {
        let offset = thread::thread_idx_x() / WARP * Self::BYTES;
        let of_rows = offset + Weights::<F16, PARTS>::BYTES;
        // SAFETY: the caller's promise; sums take the place of weights.
        unsafe {
            Self {
                weights: Weights::new(offset),
                rows: Rows::new(of_rows, tile, 1, n_vectors),
                halves: Shared::new(of_rows, COLUMNS * Self::ROW),
                sums: Shared::new(offset, PARTS as u32 * SIDE * SIDE),
            }
        }
    }

    #[inline(always)]
    unsafe fn left(&self, half: u32, part: u32, tile: u32) -> Left<Columns> {
        let pitch = Weights::<F16, PARTS>::PITCH;
        let start = half * COLUMNS * pitch + part * VOXELS + tile * SIDE;
        // SAFETY: the caller's promise.
        unsafe { Left::load(self.weights.memory(), start, pitch) }
    }

    #[inline(always)]
    unsafe fn right(&self, tile: u32) -> Right<ByRows> {
        // SAFETY: the caller's promise.
        unsafe { Right::load(self.halves, tile * SIDE, Self::ROW) }
    }
}

macro_rules! by_shuffles {
    () => {
        #[inline(always)]
        unsafe fn least(number: i32) -> i32 {
            // SAFETY: the caller's promise.
            unsafe { fold(number as u32, |a, b| (a as i32).min(b as i32) as u32) as i32 }
        }

        #[inline(always)]
        unsafe fn union(set: u32) -> u32 {
            // SAFETY: the caller's promise.
            unsafe { fold(set, |a, b| a | b) }
        }

        #[inline(always)]
        unsafe fn request(&self, half: u32, transmit: Global<[u32; 4]>) {
            // SAFETY: the caller's promise.
            unsafe { self.memory.rows.copy(half, transmit) };
        }

        #[inline(always)]
        unsafe fn clear(&self, half: u32) {
            // SAFETY: the caller's promise.
            unsafe { self.memory.weights.clear(half) };
        }

        #[inline(always)]
        unsafe fn assign(&self, column: u32, vector: u32) {
            // SAFETY: the caller's promise.
            unsafe { self.memory.rows.assign(column, vector) };
        }
    };
}

/// Real samples, `COUNT` tiles of 16 batch items.
#[derive(Clone, Copy)]
pub(super) struct RealTiles<const COUNT: usize, const CHUNKS: u32> {
    memory: Memory<1, CHUNKS>,
}

impl<const COUNT: usize, const CHUNKS: u32> Form for RealTiles<COUNT, CHUNKS> {
    type Stored = F16;
    type Sums = [[Sum; COUNT]; TILES];
    const ITEMS: u32 = 8 * CHUNKS;
    const BYTES: u32 = Memory::<1, CHUNKS>::BYTES;

    by_shuffles!();

    #[inline(always)]
    unsafe fn new(p: &DasDistinct<F16>, tile: u32) -> Self {
        const { assert!(CHUNKS == 2 * COUNT as u32 && COUNT == 4) };
        Self {
            // SAFETY: the caller's promise.
            memory: unsafe { Memory::new(tile, p.n_vectors) },
        }
    }

    #[inline(always)]
    fn zero() -> Self::Sums {
        [[Sum::zero(); COUNT]; TILES]
    }

    #[inline(always)]
    unsafe fn place(&self, column: u32, weight: f32) {
        // SAFETY: the caller's promise.
        unsafe { self.memory.weights.place(column, [F16::from_f32(weight)]) };
    }

    #[inline(always)]
    unsafe fn multiply(&self, half: u32, sums: &mut Self::Sums) {
        // SAFETY: all lanes are here, and meet before and after.
        unsafe {
            warp::sync_warp();
            let left = [self.memory.left(half, 0, 0), self.memory.left(half, 0, 1)];
            cuda_std::unroll!(COLUMN in [0, 1, 2, 3] {
                let right = self.memory.right(COLUMN as u32);
                cuda_std::unroll!(TILE in [0, 1] {
                    sums[TILE][COLUMN] = sums[TILE][COLUMN].add_product(left[TILE], right);
                });
            });
            warp::sync_warp();
        }
    }

    #[inline(always)]
    unsafe fn write(&self, p: &DasDistinct<F16>, part: u32, first_voxel: u64, sums: Self::Sums) {
        cuda_std::unroll!(TILE in [0, 1] {
            cuda_std::unroll!(COLUMN in [0, 1, 2, 3] {
                // SAFETY: all lanes are here; the memory has room for a tile.
                unsafe {
                    warp::sync_warp();
                    sums[TILE][COLUMN].store(Columns, self.memory.sums, 0, SIDE);
                    warp::sync_warp();
                    let first_item = thread::block_idx_y() * Self::ITEMS + COLUMN as u32 * SIDE;
                    let first_voxel = first_voxel + TILE as u64 * u64::from(SIDE);
                    write_tile(p, part, first_voxel, [first_item, SIDE], |item, voxel| {
                        self.memory.sums.load(item * SIDE + voxel)
                    });
                }
            });
        });
    }
}

/// Complex samples, `COUNT` tiles of eight batch items.
#[derive(Clone, Copy)]
pub(super) struct ComplexTiles<const COUNT: usize, const CHUNKS: u32> {
    memory: Memory<2, CHUNKS>,
}

impl<const COUNT: usize, const CHUNKS: u32> Form for ComplexTiles<COUNT, CHUNKS> {
    type Stored = Complex<F16>;
    /// With real and with imaginary parts of weights.
    type Sums = [[[Sum; COUNT]; 2]; TILES];
    const ITEMS: u32 = 4 * CHUNKS;
    const BYTES: u32 = Memory::<2, CHUNKS>::BYTES;

    by_shuffles!();

    #[inline(always)]
    unsafe fn new(p: &DasDistinct<Self::Stored>, tile: u32) -> Self {
        const { assert!(CHUNKS == 2 * COUNT as u32 && COUNT == 4) };
        Self {
            // SAFETY: the caller's promise.
            memory: unsafe { Memory::new(tile, p.n_vectors) },
        }
    }

    #[inline(always)]
    fn zero() -> Self::Sums {
        [[[Sum::zero(); COUNT]; 2]; TILES]
    }

    #[inline(always)]
    unsafe fn place(&self, column: u32, weight: Complex<f32>) {
        let weight = [F16::from_f32(weight.re), F16::from_f32(weight.im)];
        // SAFETY: the caller's promise.
        unsafe { self.memory.weights.place(column, weight) };
    }

    #[inline(always)]
    unsafe fn multiply(&self, half: u32, sums: &mut Self::Sums) {
        // SAFETY: all lanes are here, and meet before and after.
        unsafe {
            warp::sync_warp();
            cuda_std::unroll!(TILE in [0, 1] {
                let re = self.memory.left(half, 0, TILE as u32);
                let im = self.memory.left(half, 1, TILE as u32);
                cuda_std::unroll!(COLUMN in [0, 1, 2, 3] {
                    let right = self.memory.right(COLUMN as u32);
                    sums[TILE][0][COLUMN] = sums[TILE][0][COLUMN].add_product(re, right);
                    sums[TILE][1][COLUMN] = sums[TILE][1][COLUMN].add_product(im, right);
                });
            });
            warp::sync_warp();
        }
    }

    #[inline(always)]
    unsafe fn write(&self, p: &DasDistinct<Self::Stored>, part: u32, first_voxel: u64, sums: Self::Sums) {
        const ITEMS: u32 = SIDE / 2;
        cuda_std::unroll!(TILE in [0, 1] {
            cuda_std::unroll!(COLUMN in [0, 1, 2, 3] {
                // SAFETY: all lanes are here; the memory has room for two tiles.
                unsafe {
                    warp::sync_warp();
                    sums[TILE][0][COLUMN].store(Columns, self.memory.sums, 0, SIDE);
                    sums[TILE][1][COLUMN].store(Columns, self.memory.sums, SIDE * SIDE, SIDE);
                    warp::sync_warp();
                    let first_item = thread::block_idx_y() * Self::ITEMS + COLUMN as u32 * ITEMS;
                    let first_voxel = first_voxel + TILE as u64 * u64::from(SIDE);
                    write_tile(p, part, first_voxel, [first_item, ITEMS], |item, voxel| {
                        let at = 2 * item * SIDE + voxel;
                        let load = |at: u32| self.memory.sums.load(at);
                        let (by_re, by_im) = ([load(at), load(at + SIDE)], at + SIDE * SIDE);
                        Complex::new(by_re[0] - load(by_im + SIDE), by_re[1] + load(by_im))
                    });
                }
            });
        });
    }
}

/// Writes the sums of 16 voxels and some batch items.
///
/// # Safety
///
/// The parameters' promises hold.
#[inline(always)]
unsafe fn write_tile<S: Sample<Value: Value<Real = f32>>>(
    p: &DasDistinct<S>,
    part: u32,
    first_voxel: u64,
    [first_item, n_items]: [u32; 2],
    sum: impl Fn(u32, u32) -> S::Value,
) {
    let (voxel_of_tile, mut item) = (thread::lane() % SIDE, thread::lane() / SIDE);
    let place = first_voxel + u64::from(voxel_of_tile);
    while item < n_items {
        if first_item + item < p.n_batch && place < p.geometry.n_voxels {
            let value = sum(item, voxel_of_tile).scale(p.inverse_gain());
            // SAFETY: item and voxel are in range, and this lane's own.
            unsafe {
                p.output
                    .write(first_item + item, part, p.geometry.in_tiles(place), value);
            };
        }
        item += WARP / SIDE;
    }
}

kernels_of! {
    das_distinct_f16_linear_wmma: RealTiles<4, 8>, 2, 3, 158, 15, 16;
    das_distinct_f16_nearest_wmma: RealTiles<4, 8>, 1, 3, 156, 15, 16;
    das_distinct_cf16_linear_wmma: ComplexTiles<4, 8>, 2, 2, 247, 15, 32;
    das_distinct_cf16_nearest_wmma: ComplexTiles<4, 8>, 1, 2, 245, 15, 32;
}
