//! What a device does at most: matrix products that read nothing.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads: 8 warps, [`SUMS`] sums each |
//! | grid | x: any |
//! | shared memory, barriers | none |
//! | matrix operations | [`SUMS`] a round, all 32 lanes in each |
//! | result | every thread writes the sum of its numbers |

use cuda_std::{GlobalMut, Parameters};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Sums of a warp that do not wait for each other.
pub const SUMS: usize = 8;

/// Multiplications and additions of a matrix operation.
pub const OPERATIONS: u64 = 2 * 16 * 8 * 16;

/// The parameters of `rate_products`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Products {
    /// The sum of each thread's numbers, `(block, thread)`.
    pub output: GlobalMut<f32>,
    /// Two halves that fill the first operand.
    pub left: u32,
    /// Two halves that fill the second one.
    pub right: u32,
    /// How often each sum is added to.
    pub n_rounds: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl Parameters for Products {}

/// Kernels that need `sm_80`.
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
pub mod sm_80 {
    use super::{Products, SUMS, THREADS};
    use cuda_std::{Resources, matrix, thread};

    cuda_std::kernels! {
        /// Multiplies matrices of 16 × 16 and 16 × 8 halves.
        rate_products(p: Products),
        threads THREADS, blocks 1,
        // The compiler writes eight rounds out, and one for what is left.
        resources Resources { registers: 64, barriers: 0, warp_operations: 0, matrix_operations: 9 * SUMS as u32 },
        {
            let mut sums = [[0.0_f32; 4]; SUMS];
            cuda_std::unroll!(SUM in [0, 1, 2, 3, 4, 5, 6, 7] {
                // Equal sums would be one.
                sums[SUM] = [SUM as f32; 4];
            });
            let mut round = 0;
            while round < p.n_rounds {
                cuda_std::unroll!(SUM in [0, 1, 2, 3, 4, 5, 6, 7] {
                    // SAFETY: all lanes come here, as often as the count says.
                    sums[SUM] = unsafe { matrix::mma_m16n8k16_f16([p.left; 4], [p.right; 2], sums[SUM]) };
                });
                round += 1;
            }
            let mut sum = 0.0;
            cuda_std::unroll!(SUM in [0, 1, 2, 3, 4, 5, 6, 7] {
                sum += sums[SUM][0] + sums[SUM][1] + sums[SUM][2] + sums[SUM][3];
            });
            let at = thread::block_idx_x() * THREADS + thread::thread_idx_x();
            // SAFETY: a place for every thread.
            unsafe { p.output.store(u64::from(at), sum) };
        }
    }
}
