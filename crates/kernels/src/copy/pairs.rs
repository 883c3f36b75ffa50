//! Units of 2 bytes whose fastest axis is another one in the input than in the output, two at a time.
//!
//! A lane reads a pair of neighbours in the input from two neighbouring places of the output, turns the four around, and so
//! has two pairs of neighbours in the output. Half as many loads and stores as with single ones, on both memories.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads: [`SIDE`] positions along either axis |
//! | grid | as for [`super::tiles`] |
//! | shared memory | [`SHARED_BYTES`]: the tile, pairs along the output's axis |
//! | barriers | one, between reading and writing |
//! | result | every position's place in the output is written once |
//!
//! Both axes have even lengths and stride 1 on their own side; all other strides, origins and addresses are even. Pair c
//! of row r lies at `c ^ (r / 2)` of the row, so that lanes meet different banks, down a row of pairs and along it.

use super::tiles::{Tiles, place};
use cuda_std::half::{F16, F16Pair};
use cuda_std::math::i16_pair_to_f32;
use cuda_std::{Resources, Shared, thread};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Positions of a tile along either axis.
pub const SIDE: u32 = 64;

/// Bytes of shared memory.
pub const SHARED_BYTES: u32 = SIDE * SIDE * 2;

/// Lanes of a warp.
const WARP: u32 = 32;

/// Warps of a block.
const WARPS: u32 = THREADS / WARP;

/// Pairs in a row of a tile.
const PAIRS: u32 = SIDE / 2;

/// Pairs of columns that a thread reads.
const READS: usize = 4;
const _: () = assert!(READS as u32 == PAIRS / WARPS);

/// Rows that a thread writes.
const WRITES: usize = (SIDE / WARPS) as usize;

/// Where a pair of a row lies in the tile.
#[inline(always)]
fn at(row: u32, pair: u32) -> u32 {
    row * PAIRS + (pair ^ (row / 2))
}

/// The kernel's body; `convert` makes of two neighbours what the output holds.
///
/// # Safety
///
/// As for the kernels of single units, and what the module's documentation says of even numbers; [`SHARED_BYTES`] of
/// shared memory.
#[inline(always)]
unsafe fn pairs(p: Tiles<u16>, convert: impl Fn(u32) -> u32) {
    let (lane, warp) = (thread::lane(), thread::thread_idx_x() / WARP);
    let place = place(&p);
    let (first_row, first_column) = (place.row * SIDE, place.column * SIDE);
    // SAFETY: the launching side's promise that addresses are even.
    let (input, output) = unsafe { (p.input.cast::<u32>(), p.output.cast::<u32>()) };
    // SAFETY: the launch gives as much.
    let tile = unsafe { Shared::<u32>::new(0, SIDE * PAIRS) };
    let mut values = [[0; 2]; READS];
    let row = first_row + 2 * lane;
    // In pairs from here on: all of these are even.
    let column_stride = p.columns.input_stride / 2;
    let from = place.from / 2 + i64::from(row / 2) + i64::from(first_column + 2 * warp) * column_stride;
    let step = i64::from(2 * WARPS) * column_stride;
    cuda_std::unroll!(READ in [0, 1, 2, 3] {
        if row < p.rows.length && first_column + 2 * warp + READ as u32 * 2 * WARPS < p.columns.length {
            let from = from + READ as i64 * step;
            // SAFETY: lengths are even, so the second of two is there when the first is.
            values[READ] = unsafe { [input.load(from as u64), input.load((from + column_stride) as u64)] };
        }
    });
    cuda_std::unroll!(READ in [0, 1, 2, 3] {
        let pair = warp + READ as u32 * WARPS;
        let [even, odd] = F16::transpose_pairs(values[READ][0], values[READ][1]);
        // SAFETY: places of the tile that are this thread's.
        unsafe {
            tile.store(at(2 * lane, pair), convert(even));
            tile.store(at(2 * lane + 1, pair), convert(odd));
        }
    });
    // SAFETY: no thread has returned.
    unsafe { thread::sync_threads() };
    let column = first_column + 2 * lane;
    let row_stride = p.rows.output_stride / 2;
    let to = place.to / 2 + i64::from(column / 2) + i64::from(first_row + warp) * row_stride;
    let step = i64::from(WARPS) * row_stride;
    cuda_std::unroll!(WRITE in 0..WRITES {
        let row = warp + WRITE as u32 * WARPS;
        if first_row + row < p.rows.length && column < p.columns.length {
            let to = to + WRITE as i64 * step;
            // SAFETY: both positions are in range and this thread's; the tile is behind the barrier.
            unsafe { output.store(to as u64, tile.load(at(row, lane))) };
        }
    });
}

cuda_std::kernels! {
    /// Two by two.
    copy_pairs(p: Tiles<u16>),
    threads THREADS, blocks 1,
    resources Resources { registers: 48, barriers: 1, warp_operations: 0, matrix_operations: 0 },
    {
        // SAFETY: the launching side's promise.
        unsafe { pairs(p, |word| word) }
    }

    /// Two by two, integers as halves.
    convert_pairs_i16_f16(p: Tiles<u16>),
    threads THREADS, blocks 1,
    resources Resources { registers: 48, barriers: 1, warp_operations: 0, matrix_operations: 0 },
    {
        // SAFETY: the launching side's promise.
        unsafe { pairs(p, |word| F16Pair::from_f32(i16_pair_to_f32(word)).0) }
    }
}
