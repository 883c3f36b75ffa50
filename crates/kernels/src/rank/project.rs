//! Products of a small matrix in double precision with all columns of a matrix.

use super::number::Number;
use super::product::{Engine, Operands, WARP_COLUMNS, WARP_ROWS, ZERO};
use super::tile::{UNIT, Unit, load};
use super::{Project, SIDE, THREADS};
use cuda_std::{Shared, thread};

/// Units of a row of a tile of the small matrix.
const fn left_units<N: Number>() -> u32 {
    N::DEPTH * size_of::<N::Wide>() as u32 / UNIT
}

/// Units of a row of a tile of the matrix.
const fn right_units<N>() -> u32 {
    SIDE * size_of::<N>() as u32 / UNIT
}

/// Bytes of the two buffers of the small matrix.
const fn left_bytes<N: Number>() -> u32 {
    2 * SIDE * N::LEFT_PITCH * size_of::<N::Wide>() as u32
}

/// Bytes of the two buffers of the matrix.
const fn right_bytes<N: Number>() -> u32 {
    2 * N::DEPTH * N::RIGHT_PITCH * size_of::<N>() as u32
}

/// Bytes of shared memory.
pub(super) const fn shared_bytes<N: Number>() -> u32 {
    left_bytes::<N>() + right_bytes::<N>()
}

/// Units of a thread: of the small matrix at most, and of the matrix.
const MOST_LEFT: usize = 4;
const RIGHT: usize = 2;

/// The body of the kernels that multiply columns.
///
/// # Safety
///
/// The slices hold what the counts say; the grid, the threads and the shared memory are those of the module's documentation.
#[inline(always)]
pub(super) unsafe fn project<N: Number, E: Engine>(p: &Project) {
    const { assert!(SIDE * left_units::<N>() <= MOST_LEFT as u32 * THREADS) };
    const { assert!(N::DEPTH * right_units::<N>() == RIGHT as u32 * THREADS) };
    let n_tiles = p.padded_rows / SIDE;
    let (row_tile, column_tile) = (thread::block_idx_x() % n_tiles, thread::block_idx_x() / n_tiles);
    let first_column = p.first_column + u64::from(column_tile) * u64::from(SIDE);

    let thread = thread::thread_idx_x();
    let warp = thread / 32;
    let (warp_row, warp_column) = (warp / 4 * WARP_ROWS, warp % 4 * WARP_COLUMNS);
    let first_row = row_tile * SIDE + warp_row;
    let is_needed = first_row < p.n_output_rows && first_column + u64::from(warp_column) < p.end_column;

    let left_pitch = N::LEFT_PITCH * size_of::<N::Wide>() as u32 / UNIT;
    let right_pitch = N::RIGHT_PITCH * size_of::<N>() as u32 / UNIT;
    let (left_row, left_unit) = (thread / left_units::<N>(), thread % left_units::<N>());
    let (right_row, right_unit) = (thread / right_units::<N>(), thread % right_units::<N>());
    let (left_rows, right_rows) = (THREADS / left_units::<N>(), THREADS / right_units::<N>());
    let small_pitch = p.padded_rows * size_of::<N::Wide>() as u32 / UNIT;
    let own_column = first_column + u64::from(right_unit * (UNIT / size_of::<N>() as u32));
    // SAFETY: the caller's promise for memory; all threads go through the loops alike, warps by turns as one, and a buffer is
    // overwritten behind the barrier that follows its last use.
    unsafe {
        let left_tiles = Shared::<Unit>::new(0, left_bytes::<N>() / UNIT);
        let right_tiles = Shared::<Unit>::new(left_bytes::<N>(), right_bytes::<N>() / UNIT);
        let left = Shared::<N::Wide>::new(0, 2 * SIDE * N::LEFT_PITCH);
        let right = Shared::<N>::new(left_bytes::<N>(), 2 * N::DEPTH * N::RIGHT_PITCH);
        let bring = |chunk: u32| {
            let mut ahead_left = [[0; 4]; MOST_LEFT];
            let mut ahead_right = [[0; 4]; RIGHT];
            if chunk < p.matrix.n_rows {
                cuda_std::unroll!(PASS in [0, 1, 2, 3] {
                    if (PASS as u32) * left_rows < SIDE {
                        let row = row_tile * SIDE + left_row + PASS as u32 * left_rows;
                        let unit = chunk / N::DEPTH * left_units::<N>() + left_unit;
                        let at = u64::from(row) * u64::from(small_pitch) + u64::from(unit);
                        ahead_left[PASS] = p.small.load(at);
                    }
                });
                cuda_std::unroll!(PASS in [0, 1] {
                    let row = chunk + right_row + PASS as u32 * right_rows;
                    ahead_right[PASS] = load::<N>(&p.matrix, row, own_column, p.end_column);
                });
            }
            (ahead_left, ahead_right)
        };
        let mut sums = ZERO;
        let (mut ahead_left, mut ahead_right) = bring(0);
        let (mut chunk, mut buffer) = (0, 0);
        while chunk < p.matrix.n_rows {
            cuda_std::unroll!(PASS in [0, 1, 2, 3] {
                if (PASS as u32) * left_rows < SIDE {
                    let row = buffer * SIDE + left_row + PASS as u32 * left_rows;
                    left_tiles.store(row * left_pitch + left_unit, ahead_left[PASS]);
                }
            });
            cuda_std::unroll!(PASS in [0, 1] {
                let row = buffer * N::DEPTH + right_row + PASS as u32 * right_rows;
                right_tiles.store(row * right_pitch + right_unit, ahead_right[PASS]);
            });
            thread::sync_threads();
            chunk += N::DEPTH;
            (ahead_left, ahead_right) = bring(chunk);
            if is_needed {
                let operands: Operands<N::Wide, N, false> = Operands {
                    left,
                    left_first: (buffer * SIDE + warp_row) * N::LEFT_PITCH,
                    left_pitch: N::LEFT_PITCH,
                    right,
                    right_first: buffer * N::DEPTH * N::RIGHT_PITCH + warp_column,
                    right_column: 1,
                    right_depth: N::RIGHT_PITCH,
                };
                cuda_std::unroll!(STEP in [0, 1, 2, 3, 4, 5, 6, 7] {
                    if (STEP as u32) < N::DEPTH / 4 {
                        E::step(&operands, 4 * STEP as u32, &mut sums);
                    }
                });
            }
            buffer = 1 - buffer;
        }
        let (group, place) = (thread::lane() / 4, thread::lane() % 4);
        cuda_std::unroll!(ROW in [0, 1, 2, 3] {
            let row = first_row + 8 * ROW as u32 + group;
            let start = u64::from(row) * p.output_pitch;
            cuda_std::unroll!(COLUMN in [0, 1] {
                cuda_std::unroll!(WHICH in [0, 1] {
                    let column = first_column + u64::from(warp_column + 8 * COLUMN as u32 + 2 * place + WHICH as u32);
                    if row < p.n_output_rows && column < p.end_column {
                        let [a, b, c] = sums[ROW][COLUMN];
                        let sum = N::from_products([a[WHICH], b[WHICH], c[WHICH]]);
                        let at = start + (column - p.output_first);
                        if p.is_magnitude == 0 {
                            p.output.cast::<N>().store(at, N::narrow(sum));
                        } else {
                            let value = if row < p.matrix.n_rows { N::magnitude(sum) } else { N::ONE };
                            p.output.cast::<N::Real>().store(at, value);
                        }
                    }
                });
            });
        });
    }
}
