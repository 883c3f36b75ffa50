//! Sums of what comes before: among the threads of a block, and along a row of any length.

use super::{Scan, THREADS, WARPS};
use cuda_std::{Shared, thread, warp};

/// The sum of the lower threads' values, and of all; ends without a barrier, so that one has to come before the next call.
///
/// # Safety
///
/// All threads of the block make this call; `sums` has a place a warp, which nobody else touches.
#[inline(always)]
pub(super) unsafe fn of_block(value: u32, sums: Shared<u32>) -> (u32, u32) {
    let (lane, warp) = (thread::lane(), thread::thread_idx_x() / 32);
    let mut sum = value;
    // SAFETY: all lanes make the calls by the caller's promise; a warp's place is its last lane's until the barrier.
    unsafe {
        cuda_std::unroll!(STEP in [0, 1, 2, 3, 4] {
            let below = warp::shuffle_up(sum, 1 << STEP);
            if lane >= 1 << STEP {
                sum += below;
            }
        });
        if lane == 31 {
            sums.store(warp, sum);
        }
        thread::sync_threads();
        let (mut before, mut all) = (sum - value, 0);
        cuda_std::unroll!(WARP in [0, 1, 2, 3, 4, 5, 6, 7] {
            const { assert!(WARPS == 8) };
            let of_warp = sums.load(WARP as u32);
            if (WARP as u32) < warp {
                before += of_warp;
            }
            all += of_warp;
        });
        (before, all)
    }
}

/// The counts of one digit, which is the block's.
///
/// # Safety
///
/// The slices hold what the counts say; a block a digit, with [`SCAN_BYTES`](super::SCAN_BYTES) of shared memory.
#[inline(always)]
pub(super) unsafe fn scan(p: Scan) {
    let (thread, digit) = (thread::thread_idx_x(), thread::block_idx_x());
    // SAFETY: the launch gives that much; the loop's turns are the same for all threads; a place of the digit's row is this
    // thread's alone.
    unsafe {
        let sums = Shared::<u32>::new(0, WARPS);
        let (mut total, mut first) = (0, 0);
        while first < p.n_tiles {
            let at = u64::from(digit * p.n_tiles + first + thread);
            let is_there = first + thread < p.n_tiles;
            let (before, all) = of_block(if is_there { p.counts.load(at) } else { 0 }, sums);
            if is_there {
                p.counts.store(at, total + before);
            }
            total += all;
            first += THREADS;
            thread::sync_threads();
        }
        if thread == 0 {
            p.totals.store(u64::from(digit), total);
        }
    }
}
