//! A thread's part in bringing an operand's tile to shared memory.

use super::number::Number;
use super::{DEPTH, MOST_AXES, Operand};
use crate::copy::axes::Axis;
use cuda_std::{Global, Shared, thread};

/// Elements that a thread brings at a time, at most.
const MOST: usize = 4;

/// Where positions of some axes lie, in the axes' input or output.
#[inline(always)]
#[allow(unused_assignments, reason = "after the last axis nothing is left of a position")]
pub(super) fn places<const COUNT: usize, const IN_OUTPUT: bool>(
    axes: &[Axis; MOST_AXES],
    n_axes: u32,
    positions: [u32; COUNT],
) -> [i64; COUNT] {
    let mut rest = positions;
    let mut places = [0; COUNT];
    cuda_std::unroll!(AXIS in [0, 1, 2, 3, 4, 5, 6, 7] {
        if (AXIS as u32) < n_axes {
            let axis = axes[AXIS];
            let stride = if IN_OUTPUT { axis.output_stride } else { axis.input_stride };
            cuda_std::unroll!(NUMBER in [0, 1, 2, 3, 4, 5, 6, 7] {
                if NUMBER < COUNT {
                    let number = NUMBER % COUNT;
                    let mut position = rest[number];
                    if (AXIS as u32) + 1 < n_axes {
                        (rest[number], position) = axis.length.divide(position);
                    }
                    places[number] += i64::from(position) * stride;
                }
            });
        }
    });
    places
}

/// What a thread brings of an operand's tile.
pub(super) struct Loader<T> {
    memory: Global<T>,
    stride: i64,
    places: [i64; MOST],
    /// How many elements; a constant once all is in one piece.
    count: u32,
    /// Position of the sum, and row or column, of the first element.
    first: [u32; 2],
    /// From one element to the next.
    step: [u32; 2],
}

impl<T: Number> Loader<T> {
    /// This thread's, of the tile that begins with row or column `first` of `n`, `tile` long and brought by `threads`, for a
    /// batch item that lies at `item`.
    #[inline(always)]
    pub(super) fn new(
        operand: &Operand<T>,
        (axes, n_axes): (&[Axis; MOST_AXES], u32),
        [first, n]: [u32; 2],
        [tile, threads]: [u32; 2],
        item: i64,
    ) -> Self {
        let lane = thread::thread_idx_x();
        let (own, step) = if operand.along_sum != 0 {
            ([lane % DEPTH, lane / DEPTH], [0, threads / DEPTH])
        } else {
            ([lane / tile, lane % tile], [threads / tile, 0])
        };
        let mut positions = [0; MOST];
        cuda_std::unroll!(NUMBER in [0, 1, 2, 3] {
            // The last row or column stands for those behind it.
            positions[NUMBER] = (first + own[1] + NUMBER as u32 * step[1]).min(n - 1);
        });
        let mut at = places::<MOST, false>(axes, n_axes, positions);
        cuda_std::unroll!(NUMBER in [0, 1, 2, 3] {
            let position = own[0] + NUMBER as u32 * step[0];
            at[NUMBER] += operand.origin + item + i64::from(position) * operand.stride;
        });
        Self {
            memory: operand.memory,
            stride: operand.stride,
            places: at,
            count: tile * DEPTH / threads,
            first: own,
            step,
        }
    }

    /// The thread's elements of the positions of the sum from `from` on; 0 from `end` on.
    ///
    /// # Safety
    ///
    /// The memory holds what axes and strides say.
    #[inline(always)]
    pub(super) unsafe fn load(&self, from: u32, end: u32) -> [T; MOST] {
        let mut elements = [T::ZERO; MOST];
        let base = i64::from(from) * self.stride;
        cuda_std::unroll!(NUMBER in [0, 1, 2, 3] {
            if (NUMBER as u32) < self.count && from + self.first[0] + NUMBER as u32 * self.step[0] < end {
                // SAFETY: the row or column, and the position of the sum, are there.
                elements[NUMBER] = unsafe { self.memory.load((self.places[NUMBER] + base) as u64) };
            }
        });
        elements
    }

    /// Stores what was loaded from element `start` on; `pitch` elements lie from one position of the sum to the next.
    ///
    /// # Safety
    ///
    /// The slice has room for [`DEPTH`] positions, and nobody touches them before the next barrier.
    #[inline(always)]
    pub(super) unsafe fn store(&self, to: Shared<T::Sum>, start: u32, pitch: u32, elements: [T; MOST]) {
        cuda_std::unroll!(NUMBER in [0, 1, 2, 3] {
            if (NUMBER as u32) < self.count {
                let position = self.first[0] + NUMBER as u32 * self.step[0];
                let row = self.first[1] + NUMBER as u32 * self.step[1];
                // SAFETY: position and row are of the tile.
                unsafe { to.store(start + position * pitch + row, elements[NUMBER].widen()) };
            }
        });
    }
}
