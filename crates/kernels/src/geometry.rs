//! Distances and angles of many points: the math of `wavefield::geometry`, a thread a few results.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads: a result each, or for pairs of points [`ROWS`] results of a column each |
//! | grid | x: a block for [`THREADS`] results; for pairs [`pair_tiles`] |
//! | shared memory | none |
//! | result | every result once |

use crate::copy::axes::Divisor;
use cuda_std::math::Real;
use cuda_std::{Element, Global, GlobalMut, Parameters, Resources, thread};
use wavefield::geometry::{add_squared_difference, angle_by_chords, distance_to_rectangle};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Points of the first kind that a thread takes for one of the second.
pub const ROWS: u32 = 8;

/// The parameters of distances of pairs.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Pairs<R> {
    /// Points, `(batch, n_rows, n_dimensions)`.
    pub rows: Global<R>,
    /// Points, `(batch, n_columns, n_dimensions)`.
    pub columns: Global<R>,
    /// Their distances, `(batch, n_rows, n_columns)`.
    pub output: GlobalMut<R>,
    /// The first batch item of the launch.
    pub first_item: u32,
    /// Points of a batch item's first kind.
    pub n_rows: u32,
    /// Points of its second kind.
    pub n_columns: u32,
    /// Coordinates of a point.
    pub n_dimensions: u32,
    /// Tiles of [`ROWS`] rows.
    pub row_tiles: Divisor,
    /// Tiles of [`THREADS`] columns.
    pub column_tiles: Divisor,
}

/// The parameters of distances to a rectangle.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Rectangle<R> {
    /// Points, three coordinates each.
    pub points: Global<R>,
    /// Their distances.
    pub output: GlobalMut<R>,
    /// How many there are.
    pub n_points: u64,
    /// Half of the side along x.
    pub half_width: R,
    /// Half of the side along y.
    pub half_height: R,
}

/// The parameters of angles.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Angles<R> {
    /// Vectors, `(n_vectors, n_dimensions)`.
    pub first: Global<R>,
    /// As many others.
    pub second: Global<R>,
    /// The angles between them.
    pub output: GlobalMut<R>,
    /// How many there are.
    pub n_vectors: u64,
    /// Coordinates of a vector.
    pub n_dimensions: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<R: Element> Parameters for Pairs<R> {}
// SAFETY: as above.
unsafe impl<R: Element> Parameters for Rectangle<R> {}
// SAFETY: as above.
unsafe impl<R: Element> Parameters for Angles<R> {}

/// Blocks for each batch item's pairs: tiles of rows and of columns.
pub const fn pair_tiles(n_rows: u32, n_columns: u32) -> [u32; 2] {
    [n_rows.div_ceil(ROWS), n_columns.div_ceil(THREADS)]
}

/// The number of the thread's result.
#[inline(always)]
fn number() -> u64 {
    u64::from(thread::block_idx_x()) * u64::from(THREADS) + u64::from(thread::thread_idx_x())
}

/// # Safety
///
/// The slices hold what the counts say; a block for every tile of the launch's batch items.
#[inline(always)]
unsafe fn pairs<R: Real>(p: Pairs<R>) {
    const COUNT: usize = ROWS as usize;
    let (rest, column_tile) = p.column_tiles.divide(thread::block_idx_x());
    let (item, row_tile) = p.row_tiles.divide(rest);
    let item = u64::from(p.first_item) + u64::from(item);
    let (first_row, column) = (row_tile * ROWS, column_tile * THREADS + thread::thread_idx_x());
    if column >= p.n_columns {
        return;
    }
    let n_dimensions = u64::from(p.n_dimensions);
    let of_column = (item * u64::from(p.n_columns) + u64::from(column)) * n_dimensions;
    let of_row = (item * u64::from(p.n_rows) + u64::from(first_row)) * n_dimensions;
    let n_rows = (p.n_rows - first_row).min(ROWS);
    let mut sums = [R::ZERO; COUNT];
    let mut dimension = 0;
    while dimension < n_dimensions {
        // SAFETY: a coordinate of a point.
        let coordinate = unsafe { p.columns.load(of_column + dimension) };
        cuda_std::unroll!(ROW in [0, 1, 2, 3, 4, 5, 6, 7] {
            // What is beyond the last row goes its way.
            let row = u64::from((ROW as u32).min(n_rows - 1));
            // SAFETY: as above.
            let other = unsafe { p.rows.load(of_row + row * n_dimensions + dimension) };
            sums[ROW] = add_squared_difference(sums[ROW], other, coordinate);
        });
        dimension += 1;
    }
    let to = (item * u64::from(p.n_rows) + u64::from(first_row)) * u64::from(p.n_columns) + u64::from(column);
    cuda_std::unroll!(ROW in [0, 1, 2, 3, 4, 5, 6, 7] {
        if (ROW as u32) < n_rows {
            // SAFETY: row and column are in range and this thread's.
            unsafe { p.output.store(to + ROW as u64 * u64::from(p.n_columns), sums[ROW].sqrt()) };
        }
    });
}

/// # Safety
///
/// The slices hold what the counts say.
#[inline(always)]
unsafe fn rectangle<R: Real>(p: Rectangle<R>) {
    let number = number();
    if number < p.n_points {
        // SAFETY: a point's number.
        unsafe {
            let point = [
                p.points.load(3 * number),
                p.points.load(3 * number + 1),
                p.points.load(3 * number + 2),
            ];
            p.output
                .store(number, distance_to_rectangle(point, p.half_width, p.half_height));
        }
    }
}

/// # Safety
///
/// The slices hold what the counts say.
#[inline(always)]
unsafe fn angles<R: Real>(p: Angles<R>) {
    let number = number();
    if number >= p.n_vectors {
        return;
    }
    let from = number * u64::from(p.n_dimensions);
    let to = from + u64::from(p.n_dimensions);
    // SAFETY: coordinates of the vectors.
    let load = |at: u64| unsafe { [p.first.load(at), p.second.load(at)] };
    let mut squares = [R::ZERO; 2];
    let mut at = from;
    while at < to {
        let [first, second] = load(at);
        squares = [first.mul_add(first, squares[0]), second.mul_add(second, squares[1])];
        at += 1;
    }
    let lengths = [squares[0].sqrt(), squares[1].sqrt()];
    // Both as long as the product of the lengths.
    let (mut difference, mut sum) = (R::ZERO, R::ZERO);
    at = from;
    while at < to {
        let [first, second] = load(at);
        let (first, second) = (first * lengths[1], second * lengths[0]);
        difference = add_squared_difference(difference, first, second);
        sum = add_squared_difference(sum, first, -second);
        at += 1;
    }
    // SAFETY: a result's number, this thread's.
    unsafe { p.output.store(number, angle_by_chords(difference.sqrt(), sum.sqrt())) };
}

macro_rules! instances {
    ($($type:ty: $pairs:ident $pair_registers:literal, $rectangle:ident, $angles:ident;)*) => {
        cuda_std::kernels! { $(
            /// Distances of all pairs.
            $pairs(p: Pairs<$type>),
            threads THREADS, blocks 1,
            resources Resources { registers: $pair_registers, barriers: 0, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { pairs::<$type>(p) }
            }

            /// Distances to a rectangle.
            $rectangle(p: Rectangle<$type>),
            threads THREADS, blocks 1,
            resources Resources { registers: 40, barriers: 0, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { rectangle::<$type>(p) }
            }

            /// Angles.
            $angles(p: Angles<$type>),
            threads THREADS, blocks 1,
            resources Resources { registers: 64, barriers: 0, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { angles::<$type>(p) }
            }
        )* }

        cuda_std::on_host! { $(
            impl Instance for $type {
                fn pairs() -> cuda_std::Kernel<Pairs<Self>> {
                    $pairs
                }

                fn rectangle() -> cuda_std::Kernel<Rectangle<Self>> {
                    $rectangle
                }

                fn angles() -> cuda_std::Kernel<Angles<Self>> {
                    $angles
                }
            }
        )* }
    };
}

cuda_std::on_host! {
    /// A type of coordinates that there are kernels for.
    pub trait Instance: Real {
        /// The kernel of all pairs' distances.
        fn pairs() -> cuda_std::Kernel<Pairs<Self>>;

        /// The kernel of distances to a rectangle.
        fn rectangle() -> cuda_std::Kernel<Rectangle<Self>>;

        /// The kernel of angles.
        fn angles() -> cuda_std::Kernel<Angles<Self>>;
    }
}

instances! {
    f32: pairwise_distance_f32 64, rectangle_distance_f32, angle_f32;
    f64: pairwise_distance_f64 80, rectangle_distance_f64, angle_f64;
}
