//! Products of all pairs of a matrix's rows, in parts of the columns.

use super::number::Number;
use super::product::{Engine, Operands, WARP_COLUMNS, WARP_ROWS, zero};
use super::tile::{UNIT, Unit, load};
use super::{Gram, GramAdd, SIDE, THREADS};
use cuda_std::{Shared, thread};

/// Tiles of a block in shared memory: two buffers of rows and of columns.
const TILES: u32 = 4;

/// Units of a row of a tile.
const ROW_UNITS: u32 = 128 / UNIT;

/// Rows that the threads bring in a pass.
const PASS_ROWS: u32 = THREADS / ROW_UNITS;

/// Units of a thread and tile.
const PASSES: usize = (SIDE / PASS_ROWS) as usize;

/// Bytes of shared memory.
pub(super) const fn shared_bytes<N: Number>() -> u32 {
    TILES * SIDE * N::LEFT_PITCH * size_of::<N>() as u32
}

/// Tiles of rows and of columns of a block: those on and above the diagonal, row by row.
#[inline(always)]
fn tiles(mut number: u32, n_tiles: u32) -> [u32; 2] {
    let mut row = 0;
    while number >= n_tiles - row {
        number -= n_tiles - row;
        row += 1;
    }
    [row, row + number]
}

/// The body of the kernels that multiply rows.
///
/// # Safety
///
/// The slices hold what the counts say; the grid, the threads and the shared memory are those of the module's documentation.
#[inline(always)]
pub(super) unsafe fn gram<N: Number, E: Engine>(p: &Gram) {
    let n_rows = p.matrix.n_rows;
    let [row_tile, column_tile] = tiles(thread::block_idx_x(), n_rows.div_ceil(SIDE));
    let is_diagonal = row_tile == column_tile;
    let part = thread::block_idx_y();
    let first = u64::from(part) * p.columns_per_part;
    let end = p.matrix.n_columns.min(first + p.columns_per_part);

    let warp = thread::thread_idx_x() / 32;
    let (warp_row, warp_column) = (warp / 4 * WARP_ROWS, warp % 4 * WARP_COLUMNS);
    let (first_row, first_column) = (row_tile * SIDE + warp_row, column_tile * SIDE + warp_column);
    // The rest would be zeros, or what another warp has on the other side of the diagonal.
    let is_needed = first_row < n_rows && first_column < n_rows && first_row < first_column + WARP_COLUMNS;

    let (own_row, own_unit) = (thread::thread_idx_x() / ROW_UNITS, thread::thread_idx_x() % ROW_UNITS);
    let unit_elements = UNIT / size_of::<N>() as u32;
    let pitch_units = N::LEFT_PITCH / unit_elements;
    let tile = SIDE * N::LEFT_PITCH;
    // SAFETY: the caller's promise for memory; all threads go through the loops alike, warps by turns as one, and a buffer is
    // overwritten behind the barrier that follows its last use.
    unsafe {
        let units = Shared::<Unit>::new(0, shared_bytes::<N>() / UNIT);
        let elements = Shared::<N>::new(0, TILES * tile);
        let bring = |chunk: u64| {
            let column = chunk + u64::from(own_unit * unit_elements);
            let mut ahead = [[[0; 4]; PASSES]; 2];
            cuda_std::unroll!(PASS in [0, 1] {
                let row = own_row + PASS as u32 * PASS_ROWS;
                ahead[0][PASS] = load::<N>(&p.matrix, row_tile * SIDE + row, column, end);
            });
            if !is_diagonal {
                cuda_std::unroll!(PASS in [0, 1] {
                    let row = own_row + PASS as u32 * PASS_ROWS;
                    ahead[1][PASS] = load::<N>(&p.matrix, column_tile * SIDE + row, column, end);
                });
            }
            ahead
        };
        let mut sums = zero::<2>();
        let mut ahead = bring(first);
        let (mut chunk, mut buffer) = (first, 0);
        while chunk < end {
            cuda_std::unroll!(PASS in [0, 1] {
                let row = 2 * buffer * SIDE + own_row + PASS as u32 * PASS_ROWS;
                units.store(row * pitch_units + own_unit, ahead[0][PASS]);
                if !is_diagonal {
                    units.store((row + SIDE) * pitch_units + own_unit, ahead[1][PASS]);
                }
            });
            thread::sync_threads();
            chunk += u64::from(N::DEPTH);
            ahead = bring(chunk);
            if is_needed {
                let left = 2 * buffer * tile;
                let right = if is_diagonal { left } else { left + tile };
                let operands: Operands<N, N, true> = Operands {
                    left: elements,
                    left_first: left + warp_row * N::LEFT_PITCH,
                    left_pitch: N::LEFT_PITCH,
                    right: elements,
                    right_first: right + warp_column * N::LEFT_PITCH,
                    right_column: N::LEFT_PITCH,
                    right_depth: 1,
                };
                cuda_std::unroll!(STEP in [0, 1, 2, 3, 4, 5, 6, 7] {
                    if (STEP as u32) < N::DEPTH / 4 {
                        E::step(&operands, 4 * STEP as u32, &mut sums);
                    }
                });
            }
            buffer = 1 - buffer;
        }
        let output = p.parts.cast::<N::Wide>();
        let (group, place) = (thread::lane() / 4, thread::lane() % 4);
        cuda_std::unroll!(ROW in [0, 1, 2, 3] {
            let row = first_row + 8 * ROW as u32 + group;
            cuda_std::unroll!(COLUMN in [0, 1] {
                cuda_std::unroll!(WHICH in [0, 1] {
                    let column = first_column + 8 * COLUMN as u32 + 2 * place + WHICH as u32;
                    if row <= column && column < n_rows {
                        let [a, b, c] = sums[ROW][COLUMN];
                        let at = (u64::from(part) * u64::from(n_rows) + u64::from(row)) * u64::from(n_rows);
                        output.store(at + u64::from(column), N::from_products([a[WHICH], b[WHICH], c[WHICH]]));
                    }
                });
            });
        });
    }
}

/// Parts that are read before the first is added.
const AT_ONCE: u32 = 8;

/// The body of the kernel that adds the parts up, in their order.
///
/// # Safety
///
/// As [`gram`].
#[inline(always)]
pub(super) unsafe fn add(p: &GramAdd) {
    let row = thread::block_idx_y();
    let number = thread::block_idx_x() * THREADS + thread::thread_idx_x();
    if number < p.n_rows * p.words && number >= row * p.words {
        let of_part = u64::from(p.n_rows) * u64::from(p.n_rows) * u64::from(p.words);
        let at = u64::from(row) * u64::from(p.n_rows) * u64::from(p.words) + u64::from(number);
        let mut sum = 0.0;
        let mut part = 0;
        // SAFETY: rows, columns and parts are in range, and the number is this thread's own.
        unsafe {
            while part + AT_ONCE <= p.n_parts {
                let mut values = [0.0; AT_ONCE as usize];
                cuda_std::unroll!(VALUE in [0, 1, 2, 3, 4, 5, 6, 7] {
                    values[VALUE] = p.parts.load(u64::from(part + VALUE as u32) * of_part + at);
                });
                cuda_std::unroll!(VALUE in [0, 1, 2, 3, 4, 5, 6, 7] {
                    sum += values[VALUE];
                });
                part += AT_ONCE;
            }
            while part < p.n_parts {
                sum += p.parts.load(u64::from(part) * of_part + at);
                part += 1;
            }
            p.output.store(at, sum);
        }
    }
}
