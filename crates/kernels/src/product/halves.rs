//! Products of halves by `mma.sync`, from `sm_80` on: operands whose rows or columns are dense and aligned to 16 bytes along
//! the sum, or dense along rows or columns.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads, which share [`TILE`] rows and columns: each warp has 64 rows by 32 columns |
//! | grid | as [`product`](super) |
//! | shared memory | [`SHARED_BYTES`]: [`DEPTH`] positions of the sum of both operands, [`STAGES`] times |
//! | barriers | one for every [`DEPTH`] positions |
//! | result | as there |
//!
//! Copies to shared memory are under way for two chunks while one is multiplied. Pieces of 16 bytes that follow each other
//! there lie one more piece apart than they are long, so that the rows of a matrix are in different banks.

use super::load::places;
use super::multiply::Place;
use super::{Operand, Product};
use crate::copy::axes::Axis;
use cuda_std::half::{F16, F16Pair};
use cuda_std::matrix::{ldmatrix, ldmatrix_transposed, mma_m16n8k16_f16};
use cuda_std::{Resources, Shared, copy, thread};

/// Threads of a block: two warps along rows, four along columns.
pub const THREADS: u32 = 256;

/// Rows, and columns, of a block.
pub const TILE: u32 = 128;

/// Positions of the sum in shared memory at a time.
pub const DEPTH: u32 = 32;

/// Chunks in shared memory: two on their way while one is in use.
pub const STAGES: u32 = 3;

/// Halves of a piece that is copied at once.
pub const PIECE: u32 = 8;

/// Halves from row to row of an operand that is dense along the sum, and from position to position of another.
const ALONG_PITCH: u32 = DEPTH + PIECE;
const ACROSS_PITCH: u32 = TILE + PIECE;

/// Halves of an operand's chunk: the larger of the two forms.
const CHUNK: u32 = TILE * ALONG_PITCH;

/// Bytes of shared memory.
pub const SHARED_BYTES: u32 = STAGES * 2 * CHUNK * 2;

/// Pieces that a thread copies of an operand's chunk.
const PIECES: usize = (TILE * DEPTH / PIECE / THREADS) as usize;

/// Blocks of 16 rows and of 8 columns that a warp has.
const ROW_BLOCKS: usize = 4;
const COLUMN_BLOCKS: usize = 4;

/// A block's sums: two columns of a row, and of the row eight behind.
type Sums = [[[f32; 4]; COLUMN_BLOCKS]; ROW_BLOCKS];

/// An operand on its way to shared memory; `ALONG` is whether it is dense along the sum.
struct Pieces<const ALONG: bool> {
    operand: Operand<F16>,
    /// The operand's row or column at position 0 of the sum, of each piece.
    places: [i64; PIECES],
    /// How many halves are there of a piece across.
    across: [u32; PIECES],
}

impl<const ALONG: bool> Pieces<ALONG> {
    /// Position of the sum, and row or column, of a piece.
    #[inline(always)]
    fn own(number: u32) -> [u32; 2] {
        let piece = thread::thread_idx_x() + number * THREADS;
        if ALONG {
            [piece % (DEPTH / PIECE) * PIECE, piece / (DEPTH / PIECE)]
        } else {
            [piece / (TILE / PIECE), piece % (TILE / PIECE) * PIECE]
        }
    }

    #[inline(always)]
    fn new(
        operand: &Operand<F16>,
        (axes, n_axes): (&[Axis; super::MOST_AXES], u32),
        [first, n]: [u32; 2],
        item: i64,
    ) -> Self {
        let mut rows = [0; PIECES];
        let mut across = [PIECE; PIECES];
        cuda_std::unroll!(NUMBER in [0, 1] {
            let [_, row] = Self::own(NUMBER as u32);
            // The last row stands for those behind it; what is dense the other way begins with one that is there.
            if ALONG {
                rows[NUMBER] = (first + row).min(n - 1);
            } else {
                across[NUMBER] = n.saturating_sub(first + row).min(PIECE);
                rows[NUMBER] = if across[NUMBER] > 0 { first + row } else { first };
            }
        });
        let mut at = places::<PIECES, false>(axes, n_axes, rows);
        cuda_std::unroll!(NUMBER in [0, 1] {
            at[NUMBER] += operand.origin + item;
        });
        Self {
            operand: *operand,
            places: at,
            across,
        }
    }

    /// Starts the copies of the chunk of positions from `from` on to half `start`; zeros from `end` on.
    ///
    /// # Safety
    ///
    /// The memory holds what axes and strides say, dense and aligned as `ALONG` says; nobody touches the chunk meanwhile.
    #[inline(always)]
    unsafe fn start(&self, to: Shared<F16>, start: u32, from: u32, end: u32) {
        cuda_std::unroll!(NUMBER in [0, 1] {
            let [position, row] = Self::own(NUMBER as u32);
            let (slot, halves) = if ALONG {
                (row * ALONG_PITCH + position, end.saturating_sub(from + position).min(PIECE))
            } else {
                let is_there = from + position < end;
                (position * ACROSS_PITCH + row, if is_there { self.across[NUMBER] } else { 0 })
            };
            // Where nothing is read, the address is one that is there.
            let position = if halves > 0 { from + position } else { 0 };
            let place = self.places[NUMBER] + i64::from(position) * self.operand.stride;
            // SAFETY: as many halves are there; places are multiples of a piece.
            unsafe { copy::start_padded::<F16, 16>(to, start + slot, self.operand.memory, place as u64, halves) };
        });
    }
}

/// Four 8×8 matrices of a chunk that starts at half `start`: two blocks of eight rows or columns from `first` on by two of
/// eight positions of the sum from `position` on. The blocks of rows come first where they are an operand a
/// (`ROWS_FIRST`), those of positions where they are an operand b.
///
/// # Safety
///
/// All lanes make this call, and the chunk has arrived.
#[inline(always)]
unsafe fn matrices<const ALONG: bool, const ROWS_FIRST: bool>(
    from: Shared<F16>,
    start: u32,
    first: u32,
    position: u32,
) -> [u32; 4] {
    let (matrix, line) = (thread::lane() / 8, thread::lane() % 8);
    let (low, high) = (8 * (matrix % 2), 8 * (matrix / 2));
    let (row, position) = if ROWS_FIRST {
        (first + low, position + high)
    } else {
        (first + high, position + low)
    };
    // SAFETY: the caller's promise; rows of matrices are pieces.
    unsafe {
        if ALONG {
            ldmatrix::<F16, 4>(from, start + (row + line) * ALONG_PITCH + position)
        } else {
            ldmatrix_transposed::<F16, 4>(from, start + (position + line) * ACROSS_PITCH + row)
        }
    }
}

/// The kernel's body: is the first operand dense along the sum, is the second.
///
/// # Safety
///
/// As [`product`](super), and operands as [`Pieces::start`] asks.
#[inline(always)]
unsafe fn halves<const FIRST: bool, const SECOND: bool>(p: &Product<F16>) {
    const { assert!(PIECES == 2 && ALONG_PITCH / PIECE % 2 == 1 && ACROSS_PITCH / PIECE % 2 == 1) };
    let place = Place::new(p, TILE, TILE);
    let [mut from, end] = place.summed;
    let warp = thread::thread_idx_x() / 32;
    let (row, column) = (warp / 4 * 64, warp % 4 * 32);
    // SAFETY: all threads go through the loop alike; a chunk is overwritten after a barrier that follows its last use.
    unsafe {
        let shared = Shared::<F16>::new(0, SHARED_BYTES / 2);
        let (rows, columns) = ([place.first_row, p.n_rows], [place.first_column, p.n_columns]);
        let first = Pieces::<FIRST>::new(&p.first, (&p.rows, p.n_axes[0]), rows, place.at[0]);
        let second = Pieces::<SECOND>::new(&p.second, (&p.columns, p.n_axes[1]), columns, place.at[1]);
        let start = |stage: u32, from: u32| {
            if from < end {
                first.start(shared, stage * 2 * CHUNK, from, end);
                second.start(shared, stage * 2 * CHUNK + CHUNK, from, end);
            }
            copy::commit();
        };
        start(0, from);
        start(1, from + DEPTH);
        let mut sums: Sums = [[[0.0; 4]; COLUMN_BLOCKS]; ROW_BLOCKS];
        let (mut stage, mut next) = (0, 2);
        while from < end {
            copy::wait::<1>();
            thread::sync_threads();
            start(next, from + 2 * DEPTH);
            let chunk = stage * 2 * CHUNK;
            cuda_std::unroll!(STEP in [0, 1] {
                let mut a = [[0; 4]; ROW_BLOCKS];
                cuda_std::unroll!(BLOCK in [0, 1, 2, 3] {
                    a[BLOCK] = matrices::<FIRST, true>(shared, chunk, row + 16 * BLOCK as u32, 16 * STEP as u32);
                });
                let mut b = [[0; 2]; COLUMN_BLOCKS];
                cuda_std::unroll!(BLOCK in [0, 1] {
                    let at = column + 16 * BLOCK as u32;
                    let [low, high, next_low, next_high] =
                        matrices::<SECOND, false>(shared, chunk + CHUNK, at, 16 * STEP as u32);
                    b[2 * BLOCK] = [low, high];
                    b[2 * BLOCK + 1] = [next_low, next_high];
                });
                cuda_std::unroll!(ROW in [0, 1, 2, 3] {
                    cuda_std::unroll!(COLUMN in [0, 1, 2, 3] {
                        sums[ROW][COLUMN] = mma_m16n8k16_f16(a[ROW], b[COLUMN], sums[ROW][COLUMN]);
                    });
                });
            });
            (stage, next) = (if stage == STAGES - 1 { 0 } else { stage + 1 }, stage);
            from += DEPTH;
        }
        write(
            p,
            [place.first_row + row, place.first_column + column],
            place.at[2],
            &sums,
        );
    }
}

/// Writes a warp's sums.
///
/// # Safety
///
/// As [`halves`].
#[inline(always)]
unsafe fn write(p: &Product<F16>, [first_row, first_column]: [u32; 2], first: i64, sums: &Sums) {
    let lane = thread::lane();
    let row = first_row + lane / 4;
    let column = first_column + 2 * (lane % 4);
    let mut columns = [0; 8];
    cuda_std::unroll!(NUMBER in [0, 1, 2, 3, 4, 5, 6, 7] {
        columns[NUMBER] = column + 8 * (NUMBER as u32 / 2) + NUMBER as u32 % 2;
    });
    let at = places::<8, true>(&p.columns, p.n_axes[1], columns);
    // SAFETY: aligned to pairs where `is_wide` says so.
    let pairs = unsafe { p.output.cast::<u32>() };
    cuda_std::unroll!(ROW in [0, 1, 2, 3, 4, 5, 6, 7] {
        let row = row + 8 * ROW as u32;
        if row < p.n_rows {
            let [place] = places::<1, true>(&p.rows, p.n_axes[0], [row]);
            let first = first + place;
            cuda_std::unroll!(BLOCK in [0, 1, 2, 3] {
                let block = sums[ROW / 2][BLOCK];
                let two = [block[ROW % 2 * 2], block[ROW % 2 * 2 + 1]];
                let [low, high] = [columns[2 * BLOCK], columns[2 * BLOCK + 1]];
                // SAFETY: elements of the output, this thread's alone.
                unsafe {
                    if p.is_wide != 0 {
                        if low < p.n_columns {
                            pairs.store((first + at[2 * BLOCK]) as u64 / 2, F16Pair::from_f32(two).0);
                        }
                    } else {
                        if low < p.n_columns {
                            p.output.store((first + at[2 * BLOCK]) as u64, F16::from_f32(two[0]));
                        }
                        if high < p.n_columns {
                            p.output.store((first + at[2 * BLOCK + 1]) as u64, F16::from_f32(two[1]));
                        }
                    }
                }
            });
        }
    });
}

macro_rules! instances {
    ($($name:ident: $first:literal, $second:literal;)*) => {
        cuda_std::kernels! { $(
            /// Products of halves; which operands are dense along the sum is in the name.
            $name(p: Product<F16>),
            threads THREADS, blocks 2,
            resources Resources { registers: 128, barriers: 1, warp_operations: 0, matrix_operations: 32 },
            {
                // SAFETY: the launching side's promise.
                unsafe { halves::<$first, $second>(&p) }
            }
        )* }
    };
}

instances! {
    product_halves_both: true, true;
    product_halves_first: true, false;
    product_halves_second: false, true;
    product_halves_none: false, false;
}

cuda_std::on_host! {
    /// The kernel for operands that are dense along the sum, or not.
    pub const fn kernel(first: bool, second: bool) -> cuda_std::Kernel<Product<F16>> {
        match (first, second) {
            (true, true) => product_halves_both,
            (true, false) => product_halves_first,
            (false, true) => product_halves_second,
            (false, false) => product_halves_none,
        }
    }

    /// The launch of a kernel.
    pub fn launch<T>(p: &Product<T>) -> cuda_std::Launch {
        cuda_std::Launch {
            grid: [p.blocks([TILE, TILE]), 1, 1],
            threads: THREADS,
            shared_bytes: SHARED_BYTES,
        }
    }
}
