//! A stable sort of 64-bit keys: where each key's number goes, eight bits of the keys a pass, from the lowest on.
//!
//! | launch of a pass | `sort_count` | `sort_scan` | `sort_scatter` |
//! |---|---|---|---|
//! | block | [`THREADS`] threads: [`TILE`] keys | [`THREADS`] threads: a digit's counts in all tiles | as `sort_count` |
//! | grid | x: tiles | x: [`DIGITS`] | x: tiles |
//! | shared memory | [`COUNT_BYTES`] | [`SCAN_BYTES`] | [`SCATTER_BYTES`] |
//! | barriers | two | two every [`THREADS`] tiles | four |
//! | result | how many keys of a tile have each digit | how many of the tiles before have it, and all | keys and numbers in their places |
//!
//! A key's place is known before it is written: behind all keys of lower digits, behind those of its digit in earlier tiles,
//! in earlier warps of its tile, in earlier rows of 32 of its warp, and in lower lanes. Nothing depends on which thread
//! comes first.

mod scan;
mod scatter;

use cuda_std::{Global, GlobalMut, Parameters, Resources, Shared, atomic, thread};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Keys of a thread.
const KEYS: usize = 8;

/// Keys of a block.
pub const TILE: u32 = THREADS * KEYS as u32;

/// Bits of a digit.
pub const DIGIT_BITS: u32 = 8;

/// Digits that there are, one a thread.
pub const DIGITS: u32 = 1 << DIGIT_BITS;

/// Keys are fewer.
pub const KEYS_BELOW: u32 = 1 << 31;

const WARPS: u32 = THREADS / 32;

/// Shared memory of a block that counts: a number a digit.
pub const COUNT_BYTES: u32 = DIGITS * 4;

/// Shared memory of a block that adds: a number a warp.
pub const SCAN_BYTES: u32 = WARPS * 4;

/// Shared memory of a block that scatters: a number a warp and digit, and a number a warp.
pub const SCATTER_BYTES: u32 = WARPS * DIGITS * 4 + SCAN_BYTES;

/// A key's digit from bit `shift` on.
#[inline(always)]
fn digit(key: u64, shift: u32) -> u32 {
    (key >> shift) as u32 & (DIGITS - 1)
}

/// The parameters of `sort_count`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Count {
    /// The keys.
    pub keys: Global<u64>,
    /// `(digit, tile)`.
    pub counts: GlobalMut<u32>,
    /// How many there are.
    pub n_keys: u32,
    /// Tiles.
    pub n_tiles: u32,
    /// The digit's lowest bit.
    pub shift: u32,
}

/// The parameters of `sort_scan`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Scan {
    /// `(digit, tile)`: the tile's keys with that digit, which become those of the tiles before.
    pub counts: GlobalMut<u32>,
    /// `(digit,)`: those of all tiles.
    pub totals: GlobalMut<u32>,
    /// Tiles.
    pub n_tiles: u32,
}

/// The parameters of `sort_scatter`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Scatter {
    /// The keys.
    pub keys: Global<u64>,
    /// Their numbers; on the first pass they count from 0, and nobody reads this.
    pub numbers: Global<u32>,
    /// `(digit, tile)`: keys with that digit in the tiles before.
    pub counts: Global<u32>,
    /// `(digit,)`: keys with that digit.
    pub totals: Global<u32>,
    /// The keys by their digits; after the last pass nobody needs them, and nothing is written here.
    pub sorted_keys: GlobalMut<u64>,
    /// Their numbers.
    pub sorted_numbers: GlobalMut<u32>,
    /// How many there are.
    pub n_keys: u32,
    /// Tiles.
    pub n_tiles: u32,
    /// The digit's lowest bit.
    pub shift: u32,
    /// 1 on the first pass, otherwise 0.
    pub is_first: u32,
    /// 1 on the last pass, otherwise 0.
    pub is_last: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl Parameters for Count {}
// SAFETY: as above.
unsafe impl Parameters for Scan {}
// SAFETY: as above.
unsafe impl Parameters for Scatter {}

/// Counts the digits of a tile.
///
/// # Safety
///
/// The slices hold what the counts say; a block a tile, with [`COUNT_BYTES`] of shared memory.
#[inline(always)]
unsafe fn count(p: Count) {
    let thread = thread::thread_idx_x();
    let first = thread::block_idx_x() * TILE + thread;
    // SAFETY: the launch gives that much; a digit is a thread's until the barrier, and then only atomic operations touch it
    // until the next one. A key's number is below that of keys, a digit's and a tile's as well.
    unsafe {
        let counts = Shared::<u32>::new(0, DIGITS);
        counts.store(thread, 0);
        thread::sync_threads();
        let mut digits = [0; KEYS];
        cuda_std::unroll!(KEY in [0, 1, 2, 3, 4, 5, 6, 7] {
            const { assert!(KEYS == 8) };
            let at = (first + THREADS * KEY as u32).min(p.n_keys - 1);
            digits[KEY] = digit(p.keys.load(u64::from(at)), p.shift);
        });
        cuda_std::unroll!(KEY in [0, 1, 2, 3, 4, 5, 6, 7] {
            if first + THREADS * (KEY as u32) < p.n_keys {
                atomic::add(counts, digits[KEY], 1);
            }
        });
        thread::sync_threads();
        let to = thread * p.n_tiles + thread::block_idx_x();
        p.counts.store(u64::from(to), counts.load(thread));
    }
}

cuda_std::kernels! {
    /// Digits of the keys of a tile.
    sort_count(p: Count),
    threads THREADS, blocks 1,
    resources Resources { registers: 40, barriers: 2, warp_operations: 0, matrix_operations: 0 },
    {
        // SAFETY: the launching side's promise.
        unsafe { count(p) }
    }

    /// Sums of the counts of the tiles before.
    sort_scan(p: Scan),
    threads THREADS, blocks 1,
    resources Resources { registers: 32, barriers: 2, warp_operations: 5, matrix_operations: 0 },
    {
        // SAFETY: the launching side's promise.
        unsafe { scan::scan(p) }
    }

    /// Keys and their numbers to their places.
    sort_scatter(p: Scatter),
    threads THREADS, blocks 1,
    resources Resources { registers: 80, barriers: 4, warp_operations: 21, matrix_operations: 0 },
    {
        // SAFETY: the launching side's promise.
        unsafe { scatter::scatter(p) }
    }
}
