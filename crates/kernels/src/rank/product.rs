//! A warp's part of a product of two tiles in shared memory, in double precision.
//!
//! A warp has [`WARP_ROWS`] rows and [`WARP_COLUMNS`] columns, or half of them, in blocks of 8 × 8, of which lane 4 g + t has
//! the elements (g, 2 t) and (g, 2 t + 1), as matrix instructions want it. Without these a lane multiplies by itself.

use super::number::{Factor, MOST_PRODUCTS};
use cuda_std::math::Real;
use cuda_std::{Shared, thread};

/// Blocks of a warp along rows, and along columns at most.
pub(super) const ROWS: usize = 4;
pub(super) const MOST_COLUMNS: usize = 2;

/// Rows of a warp.
pub(super) const WARP_ROWS: u32 = 8 * ROWS as u32;

/// Columns of a warp at most.
pub(super) const WARP_COLUMNS: u32 = 8 * MOST_COLUMNS as u32;

/// Sums of a lane: block of rows, block of columns, product, element.
pub(super) type Sums<const COLUMNS: usize> = [[[[f64; 2]; MOST_PRODUCTS]; COLUMNS]; ROWS];

/// Before the first product.
#[inline(always)]
pub(super) fn zero<const COLUMNS: usize>() -> Sums<COLUMNS> {
    [[[[0.0; 2]; MOST_PRODUCTS]; COLUMNS]; ROWS]
}

/// Where a warp's factors are: elements of the shared memory.
#[derive(Clone, Copy)]
pub(super) struct Operands<L, R, const CONJUGATE: bool> {
    pub(super) left: Shared<L>,
    /// The warp's first row.
    pub(super) left_first: u32,
    /// From row to row; the elements of the sum are neighbours.
    pub(super) left_pitch: u32,
    pub(super) right: Shared<R>,
    /// The warp's first column.
    pub(super) right_first: u32,
    /// From column to column.
    pub(super) right_column: u32,
    /// From one element of the sum to the next.
    pub(super) right_depth: u32,
}

impl<L: Factor, R: Factor, const CONJUGATE: bool> Operands<L, R, CONJUGATE> {
    /// # Safety
    ///
    /// The tile has the row and the element of the sum, and was written before the last barrier.
    #[inline(always)]
    pub(super) unsafe fn left(&self, row: u32, depth: u32) -> L {
        // SAFETY: the caller's promise.
        unsafe { self.left.load(self.left_first + row * self.left_pitch + depth) }
    }

    /// # Safety
    ///
    /// As [`Self::left`].
    #[inline(always)]
    pub(super) unsafe fn right(&self, column: u32, depth: u32) -> R {
        let at = self.right_first + column * self.right_column + depth * self.right_depth;
        // SAFETY: the caller's promise.
        unsafe { self.right.load(at) }
    }
}

/// How products are made.
pub(super) trait Engine {
    /// Adds the products of the four elements of the sum from `depth` on.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call; the tiles were written before the last barrier.
    unsafe fn step<L: Factor, R: Factor, const CONJUGATE: bool, const COLUMNS: usize>(
        operands: &Operands<L, R, CONJUGATE>,
        depth: u32,
        sums: &mut Sums<COLUMNS>,
    );
}

/// By multiply-adds.
pub(super) struct Fma;

impl Engine for Fma {
    #[inline(always)]
    unsafe fn step<L: Factor, R: Factor, const CONJUGATE: bool, const COLUMNS: usize>(
        operands: &Operands<L, R, CONJUGATE>,
        depth: u32,
        sums: &mut Sums<COLUMNS>,
    ) {
        let (group, place) = (thread::lane() / 4, thread::lane() % 4);
        let mut at = depth;
        while at < depth + 4 {
            // SAFETY: the caller's promise.
            unsafe {
                let left: [L; ROWS] = [
                    operands.left(group, at),
                    operands.left(8 + group, at),
                    operands.left(16 + group, at),
                    operands.left(24 + group, at),
                ];
                let mut right = [[operands.right(2 * place, at), operands.right(2 * place + 1, at)]; COLUMNS];
                if COLUMNS == MOST_COLUMNS {
                    right[COLUMNS - 1] = [operands.right(8 + 2 * place, at), operands.right(9 + 2 * place, at)];
                }
                let right = right.map(|pair| pair.map(Factor::factors::<CONJUGATE>));
                cuda_std::unroll!(ROW in [0, 1, 2, 3] {
                    let left = left[ROW].factors::<false>();
                    cuda_std::unroll!(PRODUCT in [0, 1, 2] {
                        cuda_std::unroll!(COLUMN in [0, 1] {
                            if PRODUCT < L::PRODUCTS && COLUMN < COLUMNS {
                                let sum = &mut sums[ROW][COLUMN % COLUMNS][PRODUCT];
                                let [first, second] = &right[COLUMN % COLUMNS];
                                sum[0] = Real::mul_add(left[PRODUCT], first[PRODUCT], sum[0]);
                                sum[1] = Real::mul_add(left[PRODUCT], second[PRODUCT], sum[1]);
                            }
                        });
                    });
                });
            }
            at += 1;
        }
    }
}
