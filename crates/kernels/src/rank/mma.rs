//! Products by matrix instructions, from `sm_80` on.

use super::number::Factor;
use super::product::{Engine, MOST_COLUMNS, Operands, ROWS, Sums};
use cuda_std::{matrix, thread};

/// A block of 8 × 8 and four elements of the sum at a time.
pub(super) struct Matrix;

impl Engine for Matrix {
    #[inline(always)]
    unsafe fn step<L: Factor, R: Factor, const CONJUGATE: bool, const COLUMNS: usize>(
        operands: &Operands<L, R, CONJUGATE>,
        depth: u32,
        sums: &mut Sums<COLUMNS>,
    ) {
        let (group, place) = (thread::lane() / 4, thread::lane() % 4);
        // SAFETY: the caller's promise; all loads before the first conversion.
        unsafe {
            let left: [L; ROWS] = [
                operands.left(group, depth + place),
                operands.left(8 + group, depth + place),
                operands.left(16 + group, depth + place),
                operands.left(24 + group, depth + place),
            ];
            let mut right = [operands.right(group, depth + place); COLUMNS];
            if COLUMNS == MOST_COLUMNS {
                right[COLUMNS - 1] = operands.right(8 + group, depth + place);
            }
            let right = right.map(Factor::factors::<CONJUGATE>);
            cuda_std::unroll!(ROW in [0, 1, 2, 3] {
                let left = left[ROW].factors::<false>();
                cuda_std::unroll!(PRODUCT in [0, 1, 2] {
                    cuda_std::unroll!(COLUMN in [0, 1] {
                        if PRODUCT < L::PRODUCTS && COLUMN < COLUMNS {
                            let sum = &mut sums[ROW][COLUMN % COLUMNS][PRODUCT];
                            *sum = matrix::mma_m8n8k4_f64(left[PRODUCT], right[COLUMN % COLUMNS][PRODUCT], *sum);
                        }
                    });
                });
            });
        }
    }
}
