//! Products by `mma.sync`, from `sm_80` on, of halves and of `f32` rounded to TF32: operands whose rows or columns are dense
//! along the sum, or dense along rows or columns, and aligned to 16 bytes.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads, which share [`TILE`] rows and columns: each warp has 64 rows by 32 columns |
//! | grid | as [`product`](super) |
//! | shared memory | [`SHARED_BYTES`]: 64 bytes of positions of the sum of both operands, [`STAGES`] times |
//! | barriers | one for every 64 bytes of positions |
//! | result | as there |
//!
//! Copies to shared memory are under way for two chunks while one is multiplied. Pieces of 16 bytes that follow each other
//! there lie apart such that the rows of a matrix are in different banks.

use super::load::places;
use super::multiply::Place;
use super::number::Number;
use super::{Operand, Product};
use crate::copy::axes::Axis;
use cuda_std::half::{F16, F16Pair};
use cuda_std::matrix::{ldmatrix, ldmatrix_transposed, mma_m16n8k8_tf32, mma_m16n8k16_f16};
use cuda_std::{Element, Resources, Shared, copy, thread};

/// Threads of a block: two warps along rows, four along columns.
pub const THREADS: u32 = 256;

/// Rows, and columns, of a block.
pub const TILE: u32 = 128;

/// Chunks in shared memory: two on their way while one is in use.
pub const STAGES: u32 = 3;

/// Pieces along the sum that a chunk has.
const PIECES_ALONG: u32 = 4;

/// Bytes of an operand's chunk: that of one that is dense along the sum, of which the other form needs less.
const CHUNK_BYTES: u32 = TILE * (PIECES_ALONG + 1) * PIECE_BYTES;

/// Bytes that are copied at once.
pub const PIECE_BYTES: u32 = 16;

/// Bytes of shared memory.
pub const SHARED_BYTES: u32 = STAGES * 2 * CHUNK_BYTES;

/// Pieces that a thread copies of an operand's chunk.
const PIECES: usize = (TILE * PIECES_ALONG / THREADS) as usize;

/// Blocks of 16 rows and of 8 columns that a warp has.
const ROW_BLOCKS: usize = 4;
const COLUMN_BLOCKS: usize = 4;

/// A block's sums: two columns of a row, and of the row eight behind.
type Sums = [[[f32; 4]; COLUMN_BLOCKS]; ROW_BLOCKS];

/// A number that matrix instructions multiply.
trait Factor: Number {
    /// Two of them, side by side.
    type Pair: Element;

    /// Elements of a piece.
    const PIECE: u32 = PIECE_BYTES / size_of::<Self>() as u32;
    /// Positions of the sum of a chunk.
    const DEPTH: u32 = PIECES_ALONG * Self::PIECE;
    /// Elements of a chunk.
    const CHUNK: u32 = CHUNK_BYTES / size_of::<Self>() as u32;
    /// Elements from row to row of an operand that is dense along the sum.
    const ALONG_PITCH: u32 = Self::DEPTH + Self::PIECE;
    /// Elements from position to position of another.
    const ACROSS_PITCH: u32;

    /// Four matrices of 8 rows or columns by 16 bytes of positions, of an operand that is dense along rows or columns: at the
    /// elements where they start.
    ///
    /// # Safety
    ///
    /// All lanes make this call, and the chunk has arrived.
    unsafe fn across(from: Shared<Self>, starts: [u32; 4]) -> [u32; 4];

    /// What the product takes.
    fn rounded(bits: u32) -> u32;

    /// The sums of 16 rows by 8 columns and 32 bytes of positions added.
    ///
    /// # Safety
    ///
    /// All lanes make this call.
    unsafe fn multiply(a: [u32; 4], b: [u32; 2], sum: [f32; 4]) -> [f32; 4];

    /// The nearest numbers.
    fn pair(sums: [f32; 2]) -> Self::Pair;

    /// The nearest number.
    fn nearest(sum: f32) -> Self;
}

impl Factor for F16 {
    type Pair = u32;
    const ACROSS_PITCH: u32 = TILE + Self::PIECE;

    #[inline(always)]
    unsafe fn across(from: Shared<Self>, starts: [u32; 4]) -> [u32; 4] {
        let (matrix, line) = (thread::lane() / 8, thread::lane() % 8);
        let low = if matrix % 2 == 0 { starts[0] } else { starts[1] };
        let high = if matrix % 2 == 0 { starts[2] } else { starts[3] };
        let start = if matrix / 2 == 0 { low } else { high };
        // SAFETY: the caller's promise; rows of matrices are pieces.
        unsafe { ldmatrix_transposed::<Self, 4>(from, start + line * Self::ACROSS_PITCH) }
    }

    #[inline(always)]
    fn rounded(bits: u32) -> u32 {
        bits
    }

    #[inline(always)]
    unsafe fn multiply(a: [u32; 4], b: [u32; 2], sum: [f32; 4]) -> [f32; 4] {
        // SAFETY: the caller's promise.
        unsafe { mma_m16n8k16_f16(a, b, sum) }
    }

    #[inline(always)]
    fn pair(sums: [f32; 2]) -> u32 {
        F16Pair::from_f32(sums).0
    }

    #[inline(always)]
    fn nearest(sum: f32) -> Self {
        Self::from_f32(sum)
    }
}

impl Factor for f32 {
    type Pair = [f32; 2];
    /// Two pieces more than a row: lanes of four positions then read from different banks.
    const ACROSS_PITCH: u32 = TILE + 2 * Self::PIECE;

    #[inline(always)]
    unsafe fn across(from: Shared<Self>, starts: [u32; 4]) -> [u32; 4] {
        let own = thread::lane() % 4 * Self::ACROSS_PITCH + thread::lane() / 4;
        // SAFETY: the caller's promise.
        unsafe {
            [
                from.load(starts[0] + own).to_bits(),
                from.load(starts[1] + own).to_bits(),
                from.load(starts[2] + own).to_bits(),
                from.load(starts[3] + own).to_bits(),
            ]
        }
    }

    /// The nearest number in TF32, which the instruction leaves when it drops the low bits.
    #[inline(always)]
    fn rounded(bits: u32) -> u32 {
        bits.wrapping_add(0x1000)
    }

    #[inline(always)]
    unsafe fn multiply(a: [u32; 4], b: [u32; 2], sum: [f32; 4]) -> [f32; 4] {
        // SAFETY: the caller's promise.
        unsafe { mma_m16n8k8_tf32(a.map(f32::from_bits), b.map(f32::from_bits), sum) }
    }

    #[inline(always)]
    fn pair(sums: [f32; 2]) -> [f32; 2] {
        sums
    }

    #[inline(always)]
    fn nearest(sum: f32) -> Self {
        sum
    }
}

/// An operand on its way to shared memory; `ALONG` is whether it is dense along the sum.
struct Pieces<T, const ALONG: bool> {
    operand: Operand<T>,
    /// The operand's row or column at position 0 of the sum, of each piece.
    places: [i64; PIECES],
    /// How many elements are there of a piece across.
    across: [u32; PIECES],
}

impl<T: Factor, const ALONG: bool> Pieces<T, ALONG> {
    /// Position of the sum, and row or column, of a piece.
    #[inline(always)]
    fn own(number: u32) -> [u32; 2] {
        let piece = thread::thread_idx_x() + number * THREADS;
        if ALONG {
            [piece % PIECES_ALONG * T::PIECE, piece / PIECES_ALONG]
        } else {
            [piece / (TILE / T::PIECE), piece % (TILE / T::PIECE) * T::PIECE]
        }
    }

    #[inline(always)]
    fn new(
        operand: &Operand<T>,
        (axes, n_axes): (&[Axis; super::MOST_AXES], u32),
        [first, n]: [u32; 2],
        item: i64,
    ) -> Self {
        let mut rows = [0; PIECES];
        let mut across = [T::PIECE; PIECES];
        cuda_std::unroll!(NUMBER in [0, 1] {
            let [_, row] = Self::own(NUMBER as u32);
            // The last row stands for those behind it; what is dense the other way begins with one that is there.
            if ALONG {
                rows[NUMBER] = (first + row).min(n - 1);
            } else {
                across[NUMBER] = n.saturating_sub(first + row).min(T::PIECE);
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

    /// Starts the copies of the chunk of positions from `from` on to element `start`; zeros from `end` on.
    ///
    /// # Safety
    ///
    /// The memory holds what axes and strides say, dense and aligned as `ALONG` says; nobody touches the chunk meanwhile.
    #[inline(always)]
    unsafe fn start(&self, to: Shared<T>, start: u32, from: u32, end: u32) {
        cuda_std::unroll!(NUMBER in [0, 1] {
            let [position, row] = Self::own(NUMBER as u32);
            let (slot, elements) = if ALONG {
                (row * T::ALONG_PITCH + position, end.saturating_sub(from + position).min(T::PIECE))
            } else {
                let is_there = from + position < end;
                (position * T::ACROSS_PITCH + row, if is_there { self.across[NUMBER] } else { 0 })
            };
            // Where nothing is read, the address is one that is there.
            let position = if elements > 0 { from + position } else { 0 };
            let place = self.places[NUMBER] + i64::from(position) * self.operand.stride;
            // SAFETY: as many elements are there; places are multiples of a piece.
            unsafe { copy::start_padded::<T, 16>(to, start + slot, self.operand.memory, place as u64, elements) };
        });
    }
}

/// Four matrices of a chunk that starts at element `start`: two blocks of eight rows or columns from `first` on by two pieces of
/// positions of the sum from `position` on. The blocks of rows come first where they are an operand a (`ROWS_FIRST`), those of
/// positions where they are an operand b.
///
/// # Safety
///
/// All lanes make this call, and the chunk has arrived.
#[inline(always)]
unsafe fn matrices<T: Factor, const ALONG: bool, const ROWS_FIRST: bool>(
    from: Shared<T>,
    start: u32,
    first: u32,
    position: u32,
) -> [u32; 4] {
    let matrices = if ALONG {
        let (matrix, line) = (thread::lane() / 8, thread::lane() % 8);
        let (low, high) = (matrix % 2, matrix / 2);
        let (row, piece) = if ROWS_FIRST { (low, high) } else { (high, low) };
        let place = (first + 8 * row + line) * T::ALONG_PITCH + position + piece * T::PIECE;
        // SAFETY: the caller's promise; rows of matrices are pieces.
        unsafe { ldmatrix::<T, 4>(from, start + place) }
    } else {
        let origin = start + position * T::ACROSS_PITCH + first;
        let (low, high) = if ROWS_FIRST {
            (8, T::PIECE * T::ACROSS_PITCH)
        } else {
            (T::PIECE * T::ACROSS_PITCH, 8)
        };
        // SAFETY: the caller's promise.
        unsafe { T::across(from, [origin, origin + low, origin + high, origin + low + high]) }
    };
    let [a, b, c, d] = matrices;
    [T::rounded(a), T::rounded(b), T::rounded(c), T::rounded(d)]
}

/// The kernel's body: is the first operand dense along the sum, is the second.
///
/// # Safety
///
/// As [`product`](super), and operands as [`Pieces::start`] asks.
#[inline(always)]
unsafe fn by_matrices<T: Factor, const FIRST: bool, const SECOND: bool>(p: &Product<T>) {
    const { assert!(PIECES == 2 && T::DEPTH * T::ACROSS_PITCH <= T::CHUNK) };
    let place = Place::new(p, TILE, TILE);
    let [mut from, end] = place.summed;
    let warp = thread::thread_idx_x() / 32;
    let (row, column) = (warp / 4 * 64, warp % 4 * 32);
    // SAFETY: all threads go through the loop alike; a chunk is overwritten after a barrier that follows its last use.
    unsafe {
        let shared = Shared::<T>::new(0, STAGES * 2 * T::CHUNK);
        let (rows, columns) = ([place.first_row, p.n_rows], [place.first_column, p.n_columns]);
        let first = Pieces::<T, FIRST>::new(&p.first, (&p.rows, p.n_axes[0]), rows, place.at[0]);
        let second = Pieces::<T, SECOND>::new(&p.second, (&p.columns, p.n_axes[1]), columns, place.at[1]);
        let start = |stage: u32, from: u32| {
            if from < end {
                first.start(shared, stage * 2 * T::CHUNK, from, end);
                second.start(shared, stage * 2 * T::CHUNK + T::CHUNK, from, end);
            }
            copy::commit();
        };
        start(0, from);
        start(1, from + T::DEPTH);
        let mut sums: Sums = [[[0.0; 4]; COLUMN_BLOCKS]; ROW_BLOCKS];
        let (mut stage, mut next) = (0, 2);
        while from < end {
            copy::wait::<1>();
            thread::sync_threads();
            start(next, from + 2 * T::DEPTH);
            let chunk = stage * 2 * T::CHUNK;
            cuda_std::unroll!(STEP in [0, 1] {
                let mut a = [[0; 4]; ROW_BLOCKS];
                cuda_std::unroll!(BLOCK in [0, 1, 2, 3] {
                    a[BLOCK] = matrices::<T, FIRST, true>(shared, chunk, row + 16 * BLOCK as u32, 2 * T::PIECE * STEP as u32);
                });
                let mut b = [[0; 2]; COLUMN_BLOCKS];
                cuda_std::unroll!(BLOCK in [0, 1] {
                    let at = column + 16 * BLOCK as u32;
                    let [low, high, next_low, next_high] =
                        matrices::<T, SECOND, false>(shared, chunk + T::CHUNK, at, 2 * T::PIECE * STEP as u32);
                    b[2 * BLOCK] = [low, high];
                    b[2 * BLOCK + 1] = [next_low, next_high];
                });
                cuda_std::unroll!(ROW in [0, 1, 2, 3] {
                    cuda_std::unroll!(COLUMN in [0, 1, 2, 3] {
                        sums[ROW][COLUMN] = T::multiply(a[ROW], b[COLUMN], sums[ROW][COLUMN]);
                    });
                });
            });
            (stage, next) = (if stage == STAGES - 1 { 0 } else { stage + 1 }, stage);
            from += T::DEPTH;
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
/// As [`by_matrices`].
#[inline(always)]
unsafe fn write<T: Factor>(p: &Product<T>, [first_row, first_column]: [u32; 2], first: i64, sums: &Sums) {
    let lane = thread::lane();
    let row = first_row + lane / 4;
    let column = first_column + 2 * (lane % 4);
    let mut columns = [0; 8];
    cuda_std::unroll!(NUMBER in [0, 1, 2, 3, 4, 5, 6, 7] {
        columns[NUMBER] = column + 8 * (NUMBER as u32 / 2) + NUMBER as u32 % 2;
    });
    let at = places::<8, true>(&p.columns, p.n_axes[1], columns);
    // SAFETY: aligned to pairs where `is_wide` says so.
    let pairs = unsafe { p.output.cast::<T::Pair>() };
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
                            pairs.store((first + at[2 * BLOCK]) as u64 / 2, T::pair(two));
                        }
                    } else {
                        if low < p.n_columns {
                            p.output.store((first + at[2 * BLOCK]) as u64, T::nearest(two[0]));
                        }
                        if high < p.n_columns {
                            p.output.store((first + at[2 * BLOCK + 1]) as u64, T::nearest(two[1]));
                        }
                    }
                }
            });
        }
    });
}

macro_rules! instances {
    ($($name:ident: $number:ty, $first:literal, $second:literal;)*) => {
        cuda_std::kernels! { $(
            /// Products by matrix instructions; which operands are dense along the sum is in the name.
            $name(p: Product<$number>),
            threads THREADS, blocks 2,
            resources Resources { registers: 128, barriers: 1, warp_operations: 0, matrix_operations: 32 },
            {
                // SAFETY: the launching side's promise.
                unsafe { by_matrices::<$number, $first, $second>(&p) }
            }
        )* }
    };
}

instances! {
    product_halves_both: F16, true, true;
    product_halves_first: F16, true, false;
    product_halves_second: F16, false, true;
    product_halves_none: F16, false, false;
    product_tf32_both: f32, true, true;
    product_tf32_first: f32, true, false;
    product_tf32_second: f32, false, true;
    product_tf32_none: f32, false, false;
}

cuda_std::on_host! {
    /// The kernel of halves for operands that are dense along the sum, or not.
    pub const fn halves(first: bool, second: bool) -> cuda_std::Kernel<Product<F16>> {
        match (first, second) {
            (true, true) => product_halves_both,
            (true, false) => product_halves_first,
            (false, true) => product_halves_second,
            (false, false) => product_halves_none,
        }
    }

    /// The kernel that rounds to TF32 for operands that are dense along the sum, or not.
    pub const fn tf32(first: bool, second: bool) -> cuda_std::Kernel<Product<f32>> {
        match (first, second) {
            (true, true) => product_tf32_both,
            (true, false) => product_tf32_first,
            (false, true) => product_tf32_second,
            (false, false) => product_tf32_none,
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
