//! Matrix products of four warps, whose second operand is in shared memory; `sm_90a` alone.
//!
//! Warps 4 i to 4 i + 3 of a block are a group. Each has 16 rows of the first operand and of the sums, in registers placed as
//! [`matrix::mma_m16n8k16_f16`](crate::matrix::mma_m16n8k16_f16) has them. A product runs on while its warps go on: until they
//! [`wait`], nobody may touch its sums, its first operand or what it reads of shared memory.

use crate::{Shared, backend};

/// Where a second operand lies: 16 rows, the reduced dimension, of 64 halves each, 128 bytes, and as many of the next 64 columns.
///
/// Row r of a slice begins at its byte 128 r, and the slice at a multiple of 1024 bytes. Of a row's eight pieces of 16 bytes, eight
/// neighbours each, piece c is at place c ⊕ r mod 8, so that the pieces of neighbouring columns, and those of neighbouring rows, meet
/// all banks. Rows 0 to 7 of the operand follow each other, and those of rows 8 to 15.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    first_and_block: u32,
    later: u32,
}

impl Rows {
    /// From the slice's row that is the operand's row 0, the rows from there to row 8, and those from 64 columns to the next 64.
    #[inline(always)]
    #[must_use]
    pub const fn new(first: u32, later: u32, block: u32) -> Self {
        Self {
            first_and_block: (8 * first) | (block << 19),
            later: (8 * later) | (1 << 30),
        }
    }

    /// The same in two words.
    #[inline(always)]
    #[must_use]
    pub const fn words(self) -> [u32; 2] {
        [self.first_and_block, self.later]
    }

    /// From those words.
    #[inline(always)]
    #[must_use]
    pub const fn from_words([first_and_block, later]: [u32; 2]) -> Self {
        Self { first_and_block, later }
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
/// All lanes of the group's warps make this call, with the same operand b, behind [`begin`]; its rows lie in the slice and were
/// published before the last barrier.
#[inline(always)]
#[track_caller]
pub unsafe fn multiply<const TILES: usize>(a: [u32; 4], from: Shared<[u32; 4]>, b: Rows, sums: &mut [[f32; 4]; TILES]) {
    const { assert!(TILES == 8 || TILES == 16, "64 or 128 columns") };
    // SAFETY: the caller's promise.
    unsafe { backend::group_multiply(a, (from.address, from.length), b.words(), sums) }
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
