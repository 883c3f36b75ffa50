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

/// Multiplications and additions of a warp's part of a product of four warps.
pub const GROUP_OPERATIONS: u64 = 2 * 16 * 128 * 16;

/// Bytes of shared memory of `rate_group_products`: a second operand for each group.
pub const GROUP_SHARED_BYTES: u32 = THREADS / 128 * 4096;

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

/// Kernels of `sm_90a`.
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90a"))]
pub mod sm_90a {
    use super::{GROUP_SHARED_BYTES, Products, THREADS};
    use cuda_std::{Resources, Shared, thread, warpgroup};

    cuda_std::kernels! { for sm_90a;
        /// Multiplies matrices of 64 × 16 and 16 × 128 halves, the latter from shared memory.
        rate_group_products(p: Products),
        threads THREADS, blocks 2,
        // The compiler writes eight rounds out, and one for what is left.
        resources Resources { registers: 128, barriers: 1, warp_operations: 0, matrix_operations: 9 },
        {
            let thread = thread::thread_idx_x();
            let mut sums = [[0.0_f32; 4]; 16];
            // SAFETY: all threads go through together; the operand was written before the barrier.
            unsafe {
                let pieces = Shared::<[u32; 4]>::new(0, GROUP_SHARED_BYTES / 16);
                let mut piece = thread;
                while piece < GROUP_SHARED_BYTES / 16 {
                    pieces.store(piece, [p.right; 4]);
                    piece += THREADS;
                }
                warpgroup::publish();
                thread::sync_threads();
                let b = warpgroup::Rows::new(thread / 128 * 32, 8, 16);
                warpgroup::begin();
                let mut round = 0;
                while round < p.n_rounds {
                    warpgroup::multiply([p.left; 4], pieces, b, &mut sums);
                    warpgroup::commit();
                    round += 1;
                }
                warpgroup::wait::<0>();
                let mut sum = 0.0;
                cuda_std::unroll!(TILE in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] {
                    sum += sums[TILE][0] + sums[TILE][1] + sums[TILE][2] + sums[TILE][3];
                });
                // A place for every thread.
                p.output.store(u64::from(thread::block_idx_x() * THREADS + thread), sum);
            }
        }
    }
}
