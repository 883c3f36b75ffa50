//! Keys of a tile to their places.

use super::{DIGITS, KEYS, SCAN_BYTES, SCATTER_BYTES, Scatter, TILE, WARPS, digit, scan};
use cuda_std::{Shared, atomic, thread, warp};

/// Writes the keys of a tile, which is the block's, and their numbers; a warp has rows of 32 keys, one after the other.
///
/// # Safety
///
/// The slices hold what the counts say, `counts` and `totals` are those of this digit; a block a tile, with
/// [`SCATTER_BYTES`] of shared memory.
#[inline(always)]
#[allow(unused_assignments, reason = "after the last warp nothing comes")]
pub(super) unsafe fn scatter(p: Scatter) {
    let (thread, lane) = (thread::thread_idx_x(), thread::lane());
    let warp = thread / 32;
    let tile = thread::block_idx_x();
    let number = |row: usize| tile * TILE + (warp * KEYS as u32 + row as u32) * 32 + lane;
    // The last key stands for those behind it, so that no load is behind a branch.
    let at = |row: usize| u64::from(number(row).min(p.n_keys - 1));
    // SAFETY: the launch gives that much; of_block and the warp's collectives are reached by all. Counts are this thread's
    // own before the first barrier, its warp's up to the second, which changes them by atomic operations, this thread's own
    // up to the next, and then read. Places are below the number of keys and all different.
    unsafe {
        let counts = Shared::<u32>::new(0, WARPS * DIGITS);
        let sums = Shared::<u32>::new(SCATTER_BYTES - SCAN_BYTES, WARPS);
        cuda_std::unroll!(WARP in [0, 1, 2, 3, 4, 5, 6, 7] {
            counts.store(WARP as u32 * DIGITS + thread, 0);
        });
        let mut keys = [p.keys.load(at(0)); KEYS];
        let mut numbers = [0; KEYS];
        cuda_std::unroll!(ROW in [0, 1, 2, 3, 4, 5, 6, 7] {
            const { assert!(KEYS == 8 && WARPS == 8) };
            keys[ROW] = p.keys.load(at(ROW));
            numbers[ROW] = number(ROW);
        });
        if p.is_first == 0 {
            cuda_std::unroll!(ROW in [0, 1, 2, 3, 4, 5, 6, 7] {
                numbers[ROW] = p.numbers.load(at(ROW));
            });
        }
        thread::sync_threads();
        let mut ranks = [0; KEYS];
        cuda_std::unroll!(ROW in [0, 1, 2, 3, 4, 5, 6, 7] {
            // What is behind the last key has a digit that there is not.
            let digit = if number(ROW) < p.n_keys { digit(keys[ROW], p.shift) } else { DIGITS };
            let peers = warp::match_any(digit);
            let leader = peers.trailing_zeros();
            let mut before = 0;
            if lane == leader && digit < DIGITS {
                before = atomic::add(counts, warp * DIGITS + digit, peers.count_ones());
            }
            let lower = peers & ((1 << lane) - 1);
            // The next row waits for this answer, so that rows come in their order.
            ranks[ROW] = warp::shuffle(before, leader) + lower.count_ones();
        });
        thread::sync_threads();
        let own_digit = u64::from(thread);
        let (lower, _) = scan::of_block(p.totals.load(own_digit), sums);
        let mut next = lower + p.counts.load(own_digit * u64::from(p.n_tiles) + u64::from(tile));
        cuda_std::unroll!(WARP in [0, 1, 2, 3, 4, 5, 6, 7] {
            let at = WARP as u32 * DIGITS + thread;
            let of_warp = counts.load(at);
            counts.store(at, next);
            next += of_warp;
        });
        thread::sync_threads();
        cuda_std::unroll!(ROW in [0, 1, 2, 3, 4, 5, 6, 7] {
            if number(ROW) < p.n_keys {
                let place = counts.load(warp * DIGITS + digit(keys[ROW], p.shift)) + ranks[ROW];
                p.sorted_numbers.store(u64::from(place), numbers[ROW]);
                if p.is_last == 0 {
                    p.sorted_keys.store(u64::from(place), keys[ROW]);
                }
            }
        });
    }
}
