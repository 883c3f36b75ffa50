//! The product of a tile: operands from shared memory, sums in registers.

use super::load::{self, Loader, Way, places};
use super::number::Number;
use super::{DEPTH, Product};
use cuda_std::{Shared, thread};

/// Rows, and columns, of a thread at most.
const MOST: usize = 8;

/// Lanes of a warp along columns.
const LANES: u32 = 8;

/// Where a block works.
pub(super) struct Place {
    pub(super) first_row: u32,
    pub(super) first_column: u32,
    /// Where the batch item lies in the operands, and the item and the part of the sum in the output.
    pub(super) at: [i64; 3],
    /// The part's positions of the sum.
    pub(super) summed: [u32; 2],
}

impl Place {
    #[inline(always)]
    #[allow(unused_assignments, reason = "after the last axis nothing is left of an item")]
    pub(super) fn new<T: Number>(p: &Product<T>, tile_rows: u32, tile_columns: u32) -> Self {
        let block = thread::opaque(thread::block_idx_x());
        let (n_row_tiles, n_column_tiles) = (p.n_rows.div_ceil(tile_rows), p.n_columns.div_ceil(tile_columns));
        let (row_tile, block) = (block % n_row_tiles, block / n_row_tiles);
        let (column_tile, block) = (block % n_column_tiles, block / n_column_tiles);
        let (mut item, part) = (block % p.n_items, block / p.n_items);
        let mut at = [0, 0, i64::from(part) * p.part_stride];
        cuda_std::unroll!(AXIS in [0, 1, 2, 3, 4, 5, 6, 7] {
            if (AXIS as u32) < p.n_axes[2] {
                let axis = p.batch[AXIS];
                let (quotient, position) =
                    if (AXIS as u32) + 1 < p.n_axes[2] { axis.length.divide(item) } else { (0, item) };
                item = quotient;
                cuda_std::unroll!(ARRAY in [0, 1, 2] {
                    at[ARRAY] += i64::from(position) * axis.strides[ARRAY];
                });
            }
        });
        let from = part * p.n_summed_of_part;
        Self {
            first_row: row_tile * tile_rows,
            first_column: column_tile * tile_columns,
            at,
            summed: [from, (from + p.n_summed_of_part).min(p.n_summed)],
        }
    }
}

/// `COUNT` rows or columns of a thread at a position of the sum, from its first vector on.
///
/// # Safety
///
/// The vectors were written before the last barrier.
#[inline(always)]
unsafe fn factors<T: Number, const COUNT: usize, const SIDE: u32>(
    from: Shared<T::Vector>,
    first: u32,
) -> [T::Sum; COUNT] {
    let mut factors = [T::NOTHING; COUNT];
    cuda_std::unroll!(VECTOR in [0, 1, 2, 3] {
        if VECTOR < COUNT / T::OF_VECTOR {
            // SAFETY: the caller's promise.
            let sums = T::split(unsafe { from.load(first + VECTOR as u32 * SIDE) });
            cuda_std::unroll!(NUMBER in [0, 1, 2, 3] {
                if NUMBER < T::OF_VECTOR {
                    factors[(VECTOR * T::OF_VECTOR + NUMBER) % COUNT] = sums[NUMBER];
                }
            });
        }
    });
    factors
}

#[inline(always)]
fn add<T: Number, const ROWS: usize, const COLUMNS: usize>(
    sums: &mut [[T::Sum; COLUMNS]; ROWS],
    a: [T::Sum; ROWS],
    b: [T::Sum; COLUMNS],
) {
    cuda_std::unroll!(ROW in [0, 1, 2, 3, 4, 5, 6, 7] {
        if ROW < ROWS {
            cuda_std::unroll!(COLUMN in [0, 1, 2, 3, 4, 5, 6, 7] {
                if COLUMN < COLUMNS {
                    let (row, column) = (ROW % ROWS, COLUMN % COLUMNS);
                    sums[row][column] = T::multiply_add(sums[row][column], a[row], b[column]);
                }
            });
        }
    });
}

/// A thread's rows or columns, counted from the tile's first: groups of a vector, a group of every thread of the side apart.
#[inline(always)]
fn own<T: Number, const COUNT: usize, const SIDE: u32>(first: u32, place: u32) -> [u32; COUNT] {
    let mut own = [0; COUNT];
    cuda_std::unroll!(NUMBER in [0, 1, 2, 3, 4, 5, 6, 7] {
        if NUMBER < COUNT {
            let (vector, number) = ((NUMBER / T::OF_VECTOR) as u32, (NUMBER % T::OF_VECTOR) as u32);
            own[NUMBER % COUNT] = first + (vector * SIDE + place) * T::OF_VECTOR as u32 + number;
        }
    });
    own
}

/// The kernel's body: a tile of `DOWN` · `ROWS` rows and `ACROSS` · `COLUMNS` columns.
///
/// # Safety
///
/// The memory holds what axes and strides say; no two elements of the output have one place; block, grid and shared memory
/// are as the module says.
#[inline(always)]
pub(super) unsafe fn product<T: Number, const ROWS: usize, const COLUMNS: usize, const DOWN: u32, const ACROSS: u32>(
    p: &Product<T>,
) {
    // SAFETY: the caller's promise.
    unsafe { Tile::<T, ROWS, COLUMNS, DOWN, ACROSS>::product(p) }
}

struct Tile<T, const ROWS: usize, const COLUMNS: usize, const DOWN: u32, const ACROSS: u32>(
    core::marker::PhantomData<T>,
);

impl<T: Number, const ROWS: usize, const COLUMNS: usize, const DOWN: u32, const ACROSS: u32>
    Tile<T, ROWS, COLUMNS, DOWN, ACROSS>
{
    const OF_VECTOR: u32 = T::OF_VECTOR as u32;
    /// Vectors from one position of the sum to the next: one more than the tile has, against bank conflicts.
    const ROW_PITCH: u32 = DOWN * ROWS as u32 / Self::OF_VECTOR + 1;
    const COLUMN_PITCH: u32 = ACROSS * COLUMNS as u32 / Self::OF_VECTOR + 1;
    /// Positions of the sum whose factors may be on their way to registers together.
    const STEPS: usize = 4;
    /// Vectors of one buffer.
    const BUFFER: u32 = DEPTH * (Self::ROW_PITCH + Self::COLUMN_PITCH);

    /// # Safety
    ///
    /// As [`product`].
    #[inline(always)]
    unsafe fn product(p: &Product<T>) {
        const {
            assert!(
                ROWS <= MOST && COLUMNS <= MOST && ACROSS.is_multiple_of(LANES) && (DOWN * ACROSS).is_multiple_of(32)
            );
            assert!(ROWS.is_multiple_of(T::OF_VECTOR) && COLUMNS.is_multiple_of(T::OF_VECTOR));
        };
        let place = Place::new(p, DOWN * ROWS as u32, ACROSS * COLUMNS as u32);
        let [mut from, end] = place.summed;
        let [down, across] = Self::own_place();
        // SAFETY: all threads go through the loop alike, and a buffer is overwritten after a barrier that follows its last
        // use; the launch gives the block this memory.
        unsafe {
            let vectors = Shared::<T::Vector>::new(0, 2 * Self::BUFFER);
            let (first, second) = Self::loaders(p, &place);
            let shared = Shared::<T::Sum>::new(0, 2 * Self::BUFFER * Self::OF_VECTOR);
            let store = |start: u32, elements: ([T; load::MOST], [T; load::MOST])| {
                first.store(shared, start * Self::OF_VECTOR, elements.0);
                second.store(shared, (start + DEPTH * Self::ROW_PITCH) * Self::OF_VECTOR, elements.1);
            };
            store(Self::buffer(from), (first.load(from, end), second.load(from, end)));
            thread::sync_threads();
            let mut sums = [[T::NOTHING; COLUMNS]; ROWS];
            while from < end {
                let start = Self::buffer(from);
                from += DEPTH;
                let elements = (first.load(from, end), second.load(from, end));
                let (a, b) = (start + down, start + DEPTH * Self::ROW_PITCH + across);
                let mut position = 0;
                while position < DEPTH {
                    cuda_std::unroll!(STEP in [0, 1, 2, 3] {
                        if STEP < Self::STEPS {
                            let step = position + STEP as u32;
                            let row = factors::<T, ROWS, DOWN>(vectors, a + step * Self::ROW_PITCH);
                            let column = factors::<T, COLUMNS, ACROSS>(vectors, b + step * Self::COLUMN_PITCH);
                            add::<T, ROWS, COLUMNS>(&mut sums, row, column);
                        }
                    });
                    position += Self::STEPS as u32;
                }
                store(Self::buffer(from), elements);
                thread::sync_threads();
            }
            // Found again, because registers are scarce in the loop.
            let place = Place::new(p, DOWN * ROWS as u32, ACROSS * COLUMNS as u32);
            let [down, across] = Self::own_place();
            let rows = own::<T, ROWS, DOWN>(place.first_row, down);
            let columns = own::<T, COLUMNS, ACROSS>(place.first_column, across);
            Self::write(p, rows, columns, place.at[2], &sums);
        }
    }

    /// The first vector of the buffer for positions of the sum from `from` on, which is a multiple of [`DEPTH`].
    #[inline(always)]
    fn buffer(from: u32) -> u32 {
        from / DEPTH % 2 * Self::BUFFER
    }

    /// This thread's place along rows and columns. Lanes of a warp lie in a block of 4 by 8: the fewest different vectors to
    /// read.
    #[inline(always)]
    fn own_place() -> [u32; 2] {
        let thread = thread::opaque(thread::thread_idx_x());
        let (warp, lane) = (thread / 32, thread % 32);
        let down = warp / (ACROSS / LANES) * (32 / LANES) + lane / LANES;
        [down, warp % (ACROSS / LANES) * LANES + lane % LANES]
    }

    /// What this thread brings of both operands.
    #[inline(always)]
    fn loaders(p: &Product<T>, place: &Place) -> (Loader<T>, Loader<T>) {
        let (first, second) = ([place.first_row, p.n_rows], [place.first_column, p.n_columns]);
        let way = |tile: u32, pitch: u32| Way {
            tile,
            threads: DOWN * ACROSS,
            pitch: pitch * Self::OF_VECTOR,
        };
        let rows = way(DOWN * ROWS as u32, Self::ROW_PITCH);
        let columns = way(ACROSS * COLUMNS as u32, Self::COLUMN_PITCH);
        (
            Loader::new(&p.first, (&p.rows, p.n_axes[0]), first, rows, place.at[0]),
            Loader::new(&p.second, (&p.columns, p.n_axes[1]), second, columns, place.at[1]),
        )
    }

    /// Writes a thread's sums.
    ///
    /// # Safety
    ///
    /// As [`product`].
    #[inline(always)]
    unsafe fn write(
        p: &Product<T>,
        rows: [u32; ROWS],
        columns: [u32; COLUMNS],
        first: i64,
        sums: &[[T::Sum; COLUMNS]; ROWS],
    ) {
        let column_places = places::<COLUMNS, true>(&p.columns, p.n_axes[1], columns);
        cuda_std::unroll!(ROW in [0, 1, 2, 3, 4, 5, 6, 7] {
            if ROW < ROWS && rows[ROW % ROWS] < p.n_rows {
                let [row] = places::<1, true>(&p.rows, p.n_axes[0], [rows[ROW % ROWS]]);
                let (sums, first) = (&sums[ROW % ROWS], first + row);
                if T::IS_SUM && p.is_wide != 0 {
                    // SAFETY: aligned and side by side, as `is_wide` says.
                    unsafe { Self::write_wide(p, columns, column_places, first, sums) };
                } else {
                    cuda_std::unroll!(COLUMN in [0, 1, 2, 3, 4, 5, 6, 7] {
                        if COLUMN < COLUMNS && columns[COLUMN % COLUMNS] < p.n_columns {
                            let at = (first + column_places[COLUMN % COLUMNS]) as u64;
                            // SAFETY: an element of the output, this thread's alone.
                            unsafe { p.output.store(at, T::narrow(sums[COLUMN % COLUMNS])) };
                        }
                    });
                }
            }
        });
    }

    /// Writes a row's sums, 16 bytes at a time.
    ///
    /// # Safety
    ///
    /// As [`product`], and columns lie as `is_wide` says.
    #[inline(always)]
    unsafe fn write_wide(
        p: &Product<T>,
        columns: [u32; COLUMNS],
        places: [i64; COLUMNS],
        first: i64,
        sums: &[T::Sum; COLUMNS],
    ) {
        // SAFETY: the memory is aligned to vectors.
        let output = unsafe { p.output.cast::<T::Vector>() };
        cuda_std::unroll!(GROUP in [0, 1, 2, 3, 4, 5, 6, 7] {
            if GROUP < COLUMNS / T::OF_VECTOR {
                let at = GROUP * T::OF_VECTOR % COLUMNS;
                if columns[at] < p.n_columns {
                    let mut vector = [T::NOTHING; 4];
                    cuda_std::unroll!(NUMBER in [0, 1, 2, 3] {
                        if NUMBER < T::OF_VECTOR {
                            vector[NUMBER] = sums[(at + NUMBER) % COLUMNS];
                        }
                    });
                    let place = (first + places[at]) as u64 / T::OF_VECTOR as u64;
                    // SAFETY: elements of the output, this thread's alone.
                    unsafe { output.store(place, T::join(vector)) };
                }
            }
        });
    }
}
