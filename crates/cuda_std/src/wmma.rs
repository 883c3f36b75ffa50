//! Matrix operations of a warp on 16×16 tiles whose places in registers are the hardware's secret; `sm_70` and later.
//!
//! The product's promises are those of [`matrix`](crate::matrix).

use crate::half::F16;
use crate::{Shared, backend};
use core::marker::PhantomData;

mod sealed {
    pub trait Layout {
        #[doc(hidden)]
        const ROWS: bool;
    }
}

/// How a tile lies in memory: [`Rows`] or [`Columns`].
pub trait Layout: sealed::Layout + Copy {}

/// Rows are contiguous, and the stride leads from row to row.
#[derive(Clone, Copy, Debug)]
pub struct Rows;

/// Columns are contiguous, and the stride leads from column to column.
#[derive(Clone, Copy, Debug)]
pub struct Columns;

impl sealed::Layout for Rows {
    const ROWS: bool = true;
}
impl sealed::Layout for Columns {
    const ROWS: bool = false;
}
impl Layout for Rows {}
impl Layout for Columns {}

/// A left operand: a lane's piece of a 16×16 tile of halves.
#[derive(Clone, Copy, Debug)]
pub struct Left<L> {
    registers: [u32; 8],
    layout: PhantomData<L>,
}

/// A right operand: a lane's piece of a 16×16 tile of halves.
#[derive(Clone, Copy, Debug)]
pub struct Right<L> {
    registers: [u32; 8],
    layout: PhantomData<L>,
}

/// A sum: a lane's piece of a 16×16 tile in single precision.
#[derive(Clone, Copy, Debug)]
pub struct Sum([f32; 8]);

impl<L: Layout> Left<L> {
    /// Loads the tile that starts at element `start`, with `stride` elements from row to row or column to column.
    ///
    /// # Safety
    ///
    /// All 32 lanes of the warp make this call with the same operands. The tile lies in the slice, starts at a multiple
    /// of 32 bytes, has a stride that is a multiple of 8, and was written before the last barrier.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load(from: Shared<F16>, start: u32, stride: u32) -> Self {
        Self {
            // SAFETY: the caller's promise.
            registers: unsafe { backend::wmma_load_left(L::ROWS, from.address, start, from.length, stride) },
            layout: PhantomData,
        }
    }
}

impl<L: Layout> Right<L> {
    /// Loads the tile that starts at element `start`, with `stride` elements from row to row or column to column.
    ///
    /// # Safety
    ///
    /// As [`Left::load`].
    #[inline(always)]
    #[track_caller]
    pub unsafe fn load(from: Shared<F16>, start: u32, stride: u32) -> Self {
        Self {
            // SAFETY: the caller's promise.
            registers: unsafe { backend::wmma_load_right(L::ROWS, from.address, start, from.length, stride) },
            layout: PhantomData,
        }
    }
}

impl Sum {
    /// A tile of zeros.
    #[inline(always)]
    pub fn zero() -> Self {
        Self([0.0; 8])
    }

    /// `left · right + self`.
    ///
    /// # Safety
    ///
    /// All 32 lanes of the warp make this call.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn add_product<L: Layout, R: Layout>(self, left: Left<L>, right: Right<R>) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { backend::wmma_multiply(L::ROWS, R::ROWS, left.registers, right.registers, self.0) })
    }

    /// Stores the tile from element `start` on, with `stride` elements from row to row or column to column.
    ///
    /// # Safety
    ///
    /// All 32 lanes of the warp make this call with the same operands. The tile lies in the slice, starts at a multiple
    /// of 32 bytes, has a stride that is a multiple of 4, and no other warp touches it until the next barrier.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn store<L: Layout>(self, _layout: L, to: Shared<f32>, start: u32, stride: u32) {
        // SAFETY: the caller's promise.
        unsafe { backend::wmma_store(L::ROWS, to.address, start, to.length, stride, self.0) };
    }
}
