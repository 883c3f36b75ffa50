//! Values at places far from each other, from a grid whose nodes have the items of the batch as rows.
//!
//! | launch | |
//! |---|---|
//! | block | [`THREADS`] threads: [`POINTS`] consecutive points × [`ITEMS`] batch items |
//! | grid | x: tiles of points, y: tiles of items |
//! | shared memory | [`shared_bytes`]: the tile of results |
//! | barriers | one, between weighing and writing |
//! | result | every item and point is written once |
//!
//! A warp takes a point at a time, so that its place is the same for all lanes, and each of its corners is a row of items: whole
//! sectors, wherever the corner is. Then it writes consecutive points of an item. An item's sum is that of
//! [`evaluate`](super::evaluate), term by term.

use super::THREADS;
use cuda_std::{Global, GlobalMut, Parameters, Resources, Shared, thread};
use num_complex::Complex;
use wavefield::interpolation::{OUTSIDE, Tetrahedral, Trilinear, Value, Way};

/// Lanes of a warp.
const WARP: u32 = 32;

/// Warps of a block.
const WARPS: u32 = THREADS / WARP;

/// Points of a block.
pub const POINTS: u32 = WARP;

/// Batch items of a block.
pub const ITEMS: u32 = PER_LANE as u32 * WARP;

/// Batch items of a lane.
const PER_LANE: usize = 2;

/// Places from item to item of the tile of results: an odd number, so that lanes meet different banks both ways.
const PITCH: u32 = POINTS + 1;

/// Bytes of shared memory.
pub const fn shared_bytes<V>() -> u32 {
    ITEMS * PITCH * size_of::<V>() as u32
}

/// The parameters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Rows<V> {
    /// `(node, item)`.
    pub values: Global<V>,
    /// `(point,)`.
    pub codes: Global<u32>,
    /// `(point, 2)`, two by two.
    pub numbers: Global<[f64; 2]>,
    /// `(item, point)`.
    pub output: GlobalMut<V>,
    /// What is outside of the grid.
    pub fill: V,
    /// Points.
    pub n_points: u32,
    /// Batch items.
    pub n_items: u32,
    /// How many nodes further the next one along each axis is; 0 where there is one.
    pub steps: [u32; 3],
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<V: Value> Parameters for Rows<V> {}

/// The body.
///
/// # Safety
///
/// The slices hold what the counts say, which are not 0; places are in the grid; [`shared_bytes`] of shared memory; a block of
/// the grid for every tile.
#[inline(always)]
unsafe fn rows<V: Value, W: Way>(p: Rows<V>) {
    let (lane, warp) = (thread::lane(), thread::thread_idx_x() / WARP);
    let (first_point, first_item) = (thread::block_idx_x() * POINTS, thread::block_idx_y() * ITEMS);
    // SAFETY: the launch gives as much.
    let tile = unsafe { Shared::<V>::new(0, ITEMS * PITCH) };
    // The last point and the last item stand for those behind them, which are not written.
    let at = |place: u32| u64::from((first_point + place).min(p.n_points - 1));
    let (item, other) = (
        (first_item + lane).min(p.n_items - 1),
        (first_item + lane + WARP).min(p.n_items - 1),
    );
    // SAFETY: there are such items.
    let from = unsafe { [p.values.from(u64::from(item)), p.values.from(u64::from(other))] };
    // SAFETY: a point's number.
    let mut next = unsafe { p.codes.load(at(warp)) };
    let mut place = warp;
    while place < POINTS {
        let code = next;
        // SAFETY: points' numbers. The next point's code is there when its turn comes.
        let ([a, b], [c, d]) = unsafe {
            next = p.codes.load(at(place + WARPS));
            (p.numbers.load(2 * at(place)), p.numbers.load(2 * at(place) + 1))
        };
        let is_outside = code == OUTSIDE;
        // The first cell stands for none.
        let nodes = W::nodes(if is_outside { 0 } else { code }, p.steps);
        let mut values = [[V::ZERO; 8]; PER_LANE];
        cuda_std::unroll!(CORNER in [0, 1, 2, 3, 4, 5, 6, 7] {
            if CORNER < W::CORNERS {
                let row = u64::from(nodes[CORNER]) * u64::from(p.n_items);
                // SAFETY: a node of the grid, and items.
                unsafe {
                    values[0][CORNER] = from[0].load(row);
                    values[1][CORNER] = from[1].load(row);
                }
            }
        });
        let weights = W::weights::<V::Real>([a, b, c, d]);
        cuda_std::unroll!(NUMBER in [0, 1] {
            let mut sum = V::ZERO;
            cuda_std::unroll!(CORNER in [0, 1, 2, 3, 4, 5, 6, 7] {
                if CORNER < W::CORNERS {
                    sum = V::add_weighted(sum, weights[CORNER], values[NUMBER][CORNER]);
                }
            });
            let to = (NUMBER as u32 * WARP + lane) * PITCH + place;
            // SAFETY: a place of the tile that is this thread's.
            unsafe { tile.store(to, if is_outside { p.fill } else { sum }) };
        });
        place += WARPS;
    }
    // SAFETY: no thread has returned.
    unsafe { thread::sync_threads() };
    let point = first_point + lane;
    cuda_std::unroll!(STEP in [0, 1, 2, 3, 4, 5, 6, 7] {
        const { assert!(ITEMS == 8 * WARPS) };
        let number = warp + STEP as u32 * WARPS;
        let item = first_item + number;
        if item < p.n_items && point < p.n_points {
            let to = u64::from(item) * u64::from(p.n_points) + u64::from(point);
            // SAFETY: an item and a point, this thread's alone; the tile is behind the barrier.
            unsafe { p.output.store(to, tile.load(number * PITCH + lane)) };
        }
    });
}

macro_rules! instances {
    ($($type:ty: $trilinear:ident, $tetrahedral:ident;)*) => {
        cuda_std::kernels! { $(
            /// Values from eight corners.
            $trilinear(p: Rows<$type>),
            threads THREADS, blocks 2,
            resources Resources { registers: 112, barriers: 1, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { rows::<$type, Trilinear>(p) }
            }

            /// Values from four corners.
            $tetrahedral(p: Rows<$type>),
            threads THREADS, blocks 2,
            resources Resources { registers: 64, barriers: 1, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { rows::<$type, Tetrahedral>(p) }
            }
        )* }

        cuda_std::on_host! { $(
            impl Instance for $type {
                fn trilinear_rows() -> cuda_std::Kernel<Rows<Self>> {
                    $trilinear
                }

                fn tetrahedral_rows() -> cuda_std::Kernel<Rows<Self>> {
                    $tetrahedral
                }
            }
        )* }
    };
}

cuda_std::on_host! {
    /// A type of values that there are kernels for.
    pub trait Instance: super::evaluate::Instance {
        /// The kernel of eight corners.
        fn trilinear_rows() -> cuda_std::Kernel<Rows<Self>>;

        /// The kernel of four corners.
        fn tetrahedral_rows() -> cuda_std::Kernel<Rows<Self>>;
    }
}

instances! {
    f32: interpolate_rows_trilinear_f32, interpolate_rows_tetrahedral_f32;
    f64: interpolate_rows_trilinear_f64, interpolate_rows_tetrahedral_f64;
    Complex<f32>: interpolate_rows_trilinear_cf32, interpolate_rows_tetrahedral_cf32;
    Complex<f64>: interpolate_rows_trilinear_cf64, interpolate_rows_tetrahedral_cf64;
}
