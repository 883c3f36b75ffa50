//! A thread's part in bringing an operand's tile to shared memory.

use super::number::Number;
use super::{DEPTH, MOST_AXES, Operand};
use crate::copy::axes::Axis;
use cuda_std::{Shared, thread};

/// Elements that a thread brings at a time, at most.
pub(super) const MOST: usize = 8;

/// Where positions of some axes lie, in the axes' input or output.
#[inline(always)]
#[allow(unused_assignments, reason = "after the last axis nothing is left of a position")]
pub(super) fn places<const COUNT: usize, const IN_OUTPUT: bool>(
    axes: &[Axis; MOST_AXES],
    n_axes: u32,
    positions: [u32; COUNT],
) -> [i64; COUNT] {
    let stride = |axis: Axis| {
        if IN_OUTPUT {
            axis.output_stride
        } else {
            axis.input_stride
        }
    };
    let mut places = [0; COUNT];
    if n_axes < 2 {
        cuda_std::unroll!(NUMBER in [0, 1, 2, 3, 4, 5, 6, 7] {
            if NUMBER < COUNT {
                places[NUMBER % COUNT] = i64::from(positions[NUMBER % COUNT]) * stride(axes[0]);
            }
        });
        return places;
    }
    let mut rest = positions;
    cuda_std::unroll!(AXIS in [0, 1, 2, 3, 4, 5, 6, 7] {
        if (AXIS as u32) < n_axes {
            cuda_std::unroll!(NUMBER in [0, 1, 2, 3, 4, 5, 6, 7] {
                if NUMBER < COUNT {
                    let number = NUMBER % COUNT;
                    let mut position = rest[number];
                    if (AXIS as u32) + 1 < n_axes {
                        (rest[number], position) = axes[AXIS].length.divide(position);
                    }
                    places[number] += i64::from(position) * stride(axes[AXIS]);
                }
            });
        }
    });
    places
}

/// How a tile is brought: its rows or columns, the threads of the block, and the elements from one position of the sum to
/// the next in shared memory.
#[derive(Clone, Copy)]
pub(super) struct Way {
    pub(super) tile: u32,
    pub(super) threads: u32,
    pub(super) pitch: u32,
}

/// What a thread brings of an operand's tile.
pub(super) struct Loader<T> {
    operand: Operand<T>,
    way: Way,
    places: [i64; MOST],
}

impl<T: Number> Loader<T> {
    /// This thread's, of the tile that begins with row or column `first` of `n`, for a batch item that lies at `item`.
    #[inline(always)]
    pub(super) fn new(
        operand: &Operand<T>,
        (axes, n_axes): (&[Axis; MOST_AXES], u32),
        [first, n]: [u32; 2],
        way: Way,
        item: i64,
    ) -> Self {
        debug_assert!((way.tile * DEPTH).is_multiple_of(way.threads) && way.tile * DEPTH / way.threads <= MOST as u32);
        let mut loader = Self {
            operand: *operand,
            way,
            places: [0; MOST],
        };
        let ([position, row], [next_position, next_row]) = loader.own();
        let mut rows = [0; MOST];
        cuda_std::unroll!(NUMBER in [0, 1, 2, 3, 4, 5, 6, 7] {
            // The last row or column stands for those behind it.
            rows[NUMBER] = (first + row + NUMBER as u32 * next_row).min(n - 1);
        });
        loader.places = places::<MOST, false>(axes, n_axes, rows);
        cuda_std::unroll!(NUMBER in [0, 1, 2, 3, 4, 5, 6, 7] {
            let position = position + NUMBER as u32 * next_position;
            loader.places[NUMBER] += operand.origin + item + i64::from(position) * operand.stride;
        });
        loader
    }

    /// Position of the sum and row or column of this thread's first element, and from one element to the next; computed
    /// where it is needed, because registers are scarce.
    #[inline(always)]
    fn own(&self) -> ([u32; 2], [u32; 2]) {
        let thread = thread::opaque(thread::thread_idx_x());
        let Way { tile, threads, .. } = self.way;
        if self.operand.along_sum != 0 {
            ([thread % DEPTH, thread / DEPTH], [0, threads / DEPTH])
        } else {
            ([thread / tile, thread % tile], [threads / tile, 0])
        }
    }

    /// How many elements: a constant once all is in one piece.
    #[inline(always)]
    fn count(&self) -> u32 {
        self.way.tile * DEPTH / self.way.threads
    }

    /// The thread's elements of the positions of the sum from `from` on; 0 from `end` on.
    ///
    /// # Safety
    ///
    /// The memory holds what axes and strides say.
    #[inline(always)]
    pub(super) unsafe fn load(&self, from: u32, end: u32) -> [T; MOST] {
        let mut elements = [T::ZERO; MOST];
        let base = i64::from(from) * self.operand.stride;
        let ([position, _], [next, _]) = self.own();
        cuda_std::unroll!(NUMBER in [0, 1, 2, 3, 4, 5, 6, 7] {
            if (NUMBER as u32) < self.count() && from + position + NUMBER as u32 * next < end {
                // SAFETY: the row or column, and the position of the sum, are there.
                elements[NUMBER] = unsafe { self.operand.memory.load((self.places[NUMBER] + base) as u64) };
            }
        });
        elements
    }

    /// Stores what was loaded from element `start` on.
    ///
    /// # Safety
    ///
    /// The slice has room for [`DEPTH`] positions, and nobody touches them before the next barrier.
    #[inline(always)]
    pub(super) unsafe fn store(&self, to: Shared<T::Sum>, start: u32, elements: [T; MOST]) {
        let (first, next) = self.own();
        let pitch = self.way.pitch;
        cuda_std::unroll!(NUMBER in [0, 1, 2, 3, 4, 5, 6, 7] {
            if (NUMBER as u32) < self.count() {
                let [position, row] = [first[0] + NUMBER as u32 * next[0], first[1] + NUMBER as u32 * next[1]];
                // SAFETY: position and row are of the tile.
                unsafe { to.store(start + position * pitch + row, elements[NUMBER].widen()) };
            }
        });
    }
}
