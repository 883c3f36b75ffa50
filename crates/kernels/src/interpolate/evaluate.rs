//! Values at places: a thread takes one point, reads its place once, and goes through items of the batch.
//!
//! Blocks along y have [`ITEMS_PER_BLOCK`] items each, or more. A thread asks for the corners of a few items before it
//! weighs the first.

use super::{THREADS, number};
use cuda_std::{Global, GlobalMut, Parameters, Resources, thread};
use num_complex::Complex;
use wavefield::interpolation::{Nearest, OUTSIDE, Tetrahedral, Trilinear, Value, Way};

/// Batch items of a block, unless there are too many blocks.
pub const ITEMS_PER_BLOCK: u32 = 16;

/// The parameters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Evaluate<V> {
    /// `(item, node)`.
    pub values: Global<V>,
    /// `(point,)`.
    pub codes: Global<u32>,
    /// `(point, 2)`, two by two.
    pub numbers: Global<[f64; 2]>,
    /// `(item, point)`.
    pub output: GlobalMut<V>,
    /// Nodes.
    pub n_nodes: u64,
    /// What is outside of the grid.
    pub fill: V,
    /// Points.
    pub n_points: u32,
    /// Batch items.
    pub n_items: u32,
    /// Batch items of a block.
    pub items_per_block: u32,
    /// How many nodes further the next one along each axis is; 0 where there is one.
    pub steps: [u32; 3],
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<V: Value> Parameters for Evaluate<V> {}

/// The body, with `ITEMS` items under way at a time.
///
/// # Safety
///
/// The slices hold what the counts say, places are in the grid.
#[inline(always)]
unsafe fn evaluate<V: Value, W: Way, const ITEMS: usize>(p: Evaluate<V>) {
    let point = number();
    if point >= p.n_points {
        return;
    }
    let at = u64::from(point);
    // SAFETY: a point's number.
    let code = unsafe { p.codes.load(at) };
    let mut numbers = [0.0; 4];
    if W::CORNERS > 1 {
        // SAFETY: as above.
        let ([a, b], [c, d]) = unsafe { (p.numbers.load(2 * at), p.numbers.load(2 * at + 1)) };
        numbers = [a, b, c, d];
    }
    let is_outside = code == OUTSIDE;
    // The first cell stands for none.
    let nodes = W::nodes(if is_outside { 0 } else { code }, p.steps);
    let weights = W::weights::<V::Real>(numbers);
    let mut item = thread::block_idx_y() * p.items_per_block;
    let end = p.n_items.min(item + p.items_per_block);
    while item < end {
        let mut values = [[V::ZERO; 8]; ITEMS];
        // The last item stands for those behind it, and is stored again: behind a branch the compiler would ask for the
        // corners of one item at a time.
        let at_most = |number: usize| u64::from((item + number as u32).min(end - 1));
        cuda_std::unroll!(ITEM in [0, 1, 2, 3] {
            if ITEM < ITEMS {
                // SAFETY: there is such an item.
                let from = unsafe { p.values.from(at_most(ITEM) * p.n_nodes) };
                cuda_std::unroll!(CORNER in [0, 1, 2, 3, 4, 5, 6, 7] {
                    if CORNER < W::CORNERS {
                        // SAFETY: a node of the grid.
                        values[ITEM % ITEMS][CORNER] = unsafe { from.load(u64::from(nodes[CORNER])) };
                    }
                });
            }
        });
        cuda_std::unroll!(ITEM in [0, 1, 2, 3] {
            if ITEM < ITEMS {
                let mut sum = V::ZERO;
                cuda_std::unroll!(CORNER in [0, 1, 2, 3, 4, 5, 6, 7] {
                    if CORNER < W::CORNERS {
                        sum = V::add_weighted(sum, weights[CORNER], values[ITEM % ITEMS][CORNER]);
                    }
                });
                let to = at_most(ITEM) * u64::from(p.n_points) + at;
                // SAFETY: an item and a point, this thread's alone.
                unsafe { p.output.store(to, if is_outside { p.fill } else { sum }) };
            }
        });
        item += ITEMS as u32;
    }
}

macro_rules! instances {
    ($($type:ty: $nearest:ident, $trilinear:ident, $tetrahedral:ident;)*) => {
        cuda_std::kernels! { $(
            /// Values of the nearest nodes.
            $nearest(p: Evaluate<$type>),
            threads THREADS, blocks 1,
            resources Resources { registers: 48, barriers: 0, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { evaluate::<$type, Nearest, 4>(p) }
            }

            /// Values from eight corners.
            $trilinear(p: Evaluate<$type>),
            threads THREADS, blocks 1,
            resources Resources { registers: 108, barriers: 0, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { evaluate::<$type, Trilinear, 2>(p) }
            }

            /// Values from four corners.
            $tetrahedral(p: Evaluate<$type>),
            threads THREADS, blocks 1,
            resources Resources { registers: 96, barriers: 0, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { evaluate::<$type, Tetrahedral, 4>(p) }
            }
        )* }

        cuda_std::on_host! { $(
            impl Instance for $type {
                fn nearest() -> cuda_std::Kernel<Evaluate<Self>> {
                    $nearest
                }

                fn trilinear() -> cuda_std::Kernel<Evaluate<Self>> {
                    $trilinear
                }

                fn tetrahedral() -> cuda_std::Kernel<Evaluate<Self>> {
                    $tetrahedral
                }
            }
        )* }
    };
}

cuda_std::on_host! {
    /// A type of values that there are kernels for.
    pub trait Instance: Value {
        /// The kernel of the nearest nodes.
        fn nearest() -> cuda_std::Kernel<Evaluate<Self>>;

        /// The kernel of eight corners.
        fn trilinear() -> cuda_std::Kernel<Evaluate<Self>>;

        /// The kernel of four corners.
        fn tetrahedral() -> cuda_std::Kernel<Evaluate<Self>>;
    }
}

instances! {
    f32: interpolate_nearest_f32, interpolate_trilinear_f32, interpolate_tetrahedral_f32;
    f64: interpolate_nearest_f64, interpolate_trilinear_f64, interpolate_tetrahedral_f64;
    Complex<f32>: interpolate_nearest_cf32, interpolate_trilinear_cf32, interpolate_tetrahedral_cf32;
    Complex<f64>: interpolate_nearest_cf64, interpolate_trilinear_cf64, interpolate_tetrahedral_cf64;
}
