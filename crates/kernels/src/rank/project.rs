//! Products of a small matrix in double precision with all columns of a matrix.

use super::number::Number;
use super::product::{Engine, Operands, WARP_COLUMNS, WARP_ROWS, zero};
use super::tile::{UNIT, Unit, load};
use super::{Matrix, Project, SIDE, THREADS};
use cuda_std::{Global, Shared, thread};

/// Units of a row of a tile of the small matrix.
const fn left_units<N: Number>() -> u32 {
    N::DEPTH * size_of::<N::Wide>() as u32 / UNIT
}

/// Units of a row of a tile of the matrix.
const fn right_units<N>() -> u32 {
    SIDE * size_of::<N>() as u32 / UNIT
}

/// Bytes of the two buffers of the small matrix.
pub(super) const fn left_bytes<N: Number>() -> u32 {
    2 * SIDE * N::LEFT_PITCH * size_of::<N::Wide>() as u32
}

/// Bytes of the two buffers of the matrix.
pub(super) const fn right_bytes<N: Number>() -> u32 {
    2 * N::DEPTH * N::RIGHT_PITCH * size_of::<N>() as u32
}

cuda_std::on_host! {
    /// Bytes of shared memory.
    pub(super) const fn shared_bytes<N: Number>() -> u32 {
        left_bytes::<N>() + right_bytes::<N>()
    }
}

/// Units of a thread: of the small matrix at most, and of the matrix.
const MOST_LEFT: usize = 4;
const RIGHT: usize = 2;

/// The tiles of a block in shared memory, and a thread's part in bringing them there.
#[derive(Clone, Copy)]
pub(super) struct Tiles<N: Number> {
    left_by_units: Shared<Unit>,
    right_by_units: Shared<Unit>,
    /// Two buffers of a small matrix's rows.
    pub(super) left: Shared<N::Wide>,
    /// Two buffers of the matrix's columns.
    pub(super) right: Shared<N>,
    left_row: u32,
    left_unit: u32,
    right_row: u32,
    right_unit: u32,
}

impl<N: Number> Tiles<N> {
    /// Rows that the threads bring in a pass.
    const LEFT_ROWS: u32 = THREADS / left_units::<N>();
    const RIGHT_ROWS: u32 = THREADS / right_units::<N>();

    /// # Safety
    ///
    /// The block has the shared memory.
    #[inline(always)]
    pub(super) unsafe fn new() -> Self {
        const { assert!(SIDE <= MOST_LEFT as u32 * Self::LEFT_ROWS) };
        const { assert!(N::DEPTH == RIGHT as u32 * Self::RIGHT_ROWS) };
        let thread = thread::thread_idx_x();
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                left_by_units: Shared::new(0, left_bytes::<N>() / UNIT),
                right_by_units: Shared::new(left_bytes::<N>(), right_bytes::<N>() / UNIT),
                left: Shared::new(0, 2 * SIDE * N::LEFT_PITCH),
                right: Shared::new(left_bytes::<N>(), 2 * N::DEPTH * N::RIGHT_PITCH),
                left_row: thread / left_units::<N>(),
                left_unit: thread % left_units::<N>(),
                right_row: thread / right_units::<N>(),
                right_unit: thread % right_units::<N>(),
            }
        }
    }

    /// Loads this thread's part of `ROWS` rows of a small matrix with `pitch` columns, from a chunk of the columns.
    ///
    /// # Safety
    ///
    /// The matrix has these rows and columns.
    #[inline(always)]
    pub(super) unsafe fn load_left<const ROWS: u32>(
        &self,
        small: Global<Unit>,
        pitch: u32,
        first_row: u32,
        chunk: u32,
    ) -> [Unit; MOST_LEFT] {
        let mut units = [[0; 4]; MOST_LEFT];
        let row_units = u64::from(pitch * size_of::<N::Wide>() as u32 / UNIT);
        cuda_std::unroll!(PASS in [0, 1, 2, 3] {
            if (PASS as u32) * Self::LEFT_ROWS < ROWS {
                let row = first_row + self.left_row + PASS as u32 * Self::LEFT_ROWS;
                let unit = chunk / N::DEPTH * left_units::<N>() + self.left_unit;
                // SAFETY: the caller's promise.
                units[PASS] = unsafe { small.load(u64::from(row) * row_units + u64::from(unit)) };
            }
        });
        units
    }

    /// Stores it.
    ///
    /// # Safety
    ///
    /// Nobody uses the buffer until the next barrier.
    #[inline(always)]
    pub(super) unsafe fn store_left<const ROWS: u32>(&self, buffer: u32, units: &[Unit; MOST_LEFT]) {
        let pitch = N::LEFT_PITCH * size_of::<N::Wide>() as u32 / UNIT;
        cuda_std::unroll!(PASS in [0, 1, 2, 3] {
            if (PASS as u32) * Self::LEFT_ROWS < ROWS {
                let row = buffer * SIDE + self.left_row + PASS as u32 * Self::LEFT_ROWS;
                // SAFETY: the caller's promise; the row is one of the buffer's.
                unsafe { self.left_by_units.store(row * pitch + self.left_unit, units[PASS]) };
            }
        });
    }

    /// Loads this thread's part of the matrix's rows from `chunk` on, in 64 columns.
    ///
    /// # Safety
    ///
    /// As [`load`].
    #[inline(always)]
    pub(super) unsafe fn load_right(&self, matrix: &Matrix, chunk: u32, first_column: u64, end: u64) -> [Unit; RIGHT] {
        let mut units = [[0; 4]; RIGHT];
        let column = first_column + u64::from(self.right_unit * (UNIT / size_of::<N>() as u32));
        cuda_std::unroll!(PASS in [0, 1] {
            let row = chunk + self.right_row + PASS as u32 * Self::RIGHT_ROWS;
            // SAFETY: the caller's promise.
            units[PASS] = unsafe { load::<N>(matrix, row, column, end) };
        });
        units
    }

    /// Stores it.
    ///
    /// # Safety
    ///
    /// As [`Self::store_left`].
    #[inline(always)]
    pub(super) unsafe fn store_right(&self, buffer: u32, units: &[Unit; RIGHT]) {
        let pitch = N::RIGHT_PITCH * size_of::<N>() as u32 / UNIT;
        cuda_std::unroll!(PASS in [0, 1] {
            let row = buffer * N::DEPTH + self.right_row + PASS as u32 * Self::RIGHT_ROWS;
            // SAFETY: the caller's promise; the row is one of the buffer's.
            unsafe { self.right_by_units.store(row * pitch + self.right_unit, units[PASS]) };
        });
    }

    /// Adds the small matrix's first `ROWS` rows times all columns: `warp_row` and `warp_column` are the warp's.
    ///
    /// # Safety
    ///
    /// The slices hold what the counts say; all threads of the block make this call, and the buffers are free.
    #[inline(always)]
    pub(super) unsafe fn multiply<E: Engine, const ROWS: u32, const COLUMNS: usize>(
        &self,
        matrix: &Matrix,
        (small, pitch, first_row): (Global<Unit>, u32, u32),
        (first_column, end): (u64, u64),
        [warp_row, warp_column]: [u32; 2],
        is_needed: bool,
    ) -> super::product::Sums<COLUMNS> {
        let mut sums = zero::<COLUMNS>();
        let n_rows = matrix.n_rows;
        // SAFETY: the caller's promise; all threads go through the loop alike, warps by turns as one, and a buffer is
        // overwritten behind the barrier that follows its last use.
        unsafe {
            let mut left = self.load_left::<ROWS>(small, pitch, first_row, 0);
            let mut right = self.load_right(matrix, 0, first_column, end);
            let (mut chunk, mut buffer) = (0, 0);
            while chunk < n_rows {
                self.store_left::<ROWS>(buffer, &left);
                self.store_right(buffer, &right);
                thread::sync_threads();
                chunk += N::DEPTH;
                if chunk < n_rows {
                    left = self.load_left::<ROWS>(small, pitch, first_row, chunk);
                    right = self.load_right(matrix, chunk, first_column, end);
                }
                if is_needed {
                    let operands: Operands<N::Wide, N, false> = Operands {
                        left: self.left,
                        left_first: (buffer * SIDE + warp_row) * N::LEFT_PITCH,
                        left_pitch: N::LEFT_PITCH,
                        right: self.right,
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
        }
        sums
    }
}

/// The body of the kernels that multiply columns.
///
/// # Safety
///
/// The slices hold what the counts say; the grid, the threads and the shared memory are those of the module's documentation.
#[inline(always)]
pub(super) unsafe fn project<N: Number, E: Engine>(p: &Project) {
    let n_tiles = p.padded_rows / SIDE;
    let (row_tile, column_tile) = (thread::block_idx_x() % n_tiles, thread::block_idx_x() / n_tiles);
    let first_column = p.first_column + u64::from(column_tile) * u64::from(SIDE);
    let warp = thread::thread_idx_x() / 32;
    let (warp_row, warp_column) = (warp / 4 * WARP_ROWS, warp % 4 * WARP_COLUMNS);
    let first_row = row_tile * SIDE + warp_row;
    let is_needed = first_row < p.n_output_rows && first_column + u64::from(warp_column) < p.end_column;
    // SAFETY: the caller's promise; whether a warp is needed is the same for its lanes.
    unsafe {
        let sums = Tiles::<N>::new().multiply::<E, SIDE, 2>(
            &p.matrix,
            (p.small, p.padded_rows, row_tile * SIDE),
            (first_column, p.end_column),
            [warp_row, warp_column],
            is_needed,
        );
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
