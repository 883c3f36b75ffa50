//! Matrix products of four warps, whose second operand is in shared memory; `sm_90a` alone.
//!
//! Warps 4 i to 4 i + 3 of a block are a group. Each has 16 rows of the first operand and of the sums, in registers placed as
//! [`matrix::mma_m16n8k16_f16`](crate::matrix::mma_m16n8k16_f16) has them. A product runs on while its warps go on: until they
//! [`wait`], nobody may touch its sums, its first operand or what it reads of shared memory.

use crate::{Shared, backend};

/// Where a second operand lies: 16 rows of halves, the reduced dimension, in pieces of eight neighbours along a row.
///
/// The pieces of rows 0 to 7 follow each other, and those of rows 8 to 15. So eight rows are 128 bytes, and the next eight numbers
/// along them another 128, wherever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    place: u32,
    columns: u32,
}

impl Columns {
    /// From the piece of row 0, the pieces from there to row 8, and those from eight columns to the next eight: less than 2¹⁴ each.
    #[inline(always)]
    #[must_use]
    pub const fn new(first: u32, rows: u32, columns: u32) -> Self {
        Self {
            place: first | rows << 16,
            columns,
        }
    }

    /// Where rows 0 and 8 are, in a word.
    #[inline(always)]
    #[must_use]
    pub const fn place(self) -> u32 {
        self.place
    }

    /// From such a word, and the pieces from eight columns to the next eight.
    #[inline(always)]
    #[must_use]
    pub const fn at(place: u32, columns: u32) -> Self {
        Self { place, columns }
    }
}

/// Makes what this thread wrote to shared memory, or copied there and waited for, ready to be an operand behind the block's
/// next barrier.
#[inline(always)]
#[track_caller]
pub fn publish() {
    backend::group_publish();
}

/// Begins a row of products: the registers that they take are as written before.
///
/// # Safety
///
/// All lanes of the group's warps make this call.
#[inline(always)]
#[track_caller]
pub unsafe fn begin() {
    // SAFETY: the caller's promise.
    unsafe { backend::group_begin() }
}

/// Starts to add `a · b` to the sums, for a 64×16 matrix a of halves, 16 rows a warp, and a matrix b of 16 rows of 8 `TILES`
/// halves, of which `TILES` is 8 or 16: [`matrix::mma_m16n8k16_f16`](crate::matrix::mma_m16n8k16_f16) for every eight columns.
///
/// # Safety
///
/// All lanes of the group's warps make this call, with the same operand b, behind [`begin`]; its pieces lie in the slice and were
/// published before the last barrier.
#[inline(always)]
#[track_caller]
pub unsafe fn multiply<const TILES: usize>(
    a: [u32; 4],
    from: Shared<[u32; 4]>,
    b: Columns,
    sums: &mut [[f32; 4]; TILES],
) {
    const { assert!(TILES == 8 || TILES == 16, "64 or 128 columns") };
    // SAFETY: the caller's promise.
    unsafe { backend::group_multiply(a, (from.address, from.length), [b.place, b.columns], sums) }
}

/// Ends a row of products.
///
/// # Safety
///
/// All lanes of the group's warps make this call.
#[inline(always)]
#[track_caller]
pub unsafe fn commit() {
    // SAFETY: the caller's promise.
    unsafe { backend::group_commit() }
}

/// Waits until at most the last `ROWS` rows of products are under way.
///
/// # Safety
///
/// All lanes of the group's warps make this call.
#[inline(always)]
#[track_caller]
pub unsafe fn wait<const ROWS: usize>() {
    // SAFETY: the caller's promise.
    unsafe { backend::group_wait::<ROWS>() }
}
