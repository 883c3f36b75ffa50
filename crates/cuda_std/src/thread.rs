//! Where a thread is, and the block's barrier.

use crate::backend;

/// The thread's index in its block.
#[inline(always)]
pub fn thread_idx_x() -> u32 {
    backend::thread_idx_x()
}

/// The block's index in the grid, along x.
#[inline(always)]
pub fn block_idx_x() -> u32 {
    backend::block_idx_x()
}

/// The block's index in the grid, along y.
#[inline(always)]
pub fn block_idx_y() -> u32 {
    backend::block_idx_y()
}

/// The block's index in the grid, along z.
#[inline(always)]
pub fn block_idx_z() -> u32 {
    backend::block_idx_z()
}

/// Threads in a block.
#[inline(always)]
pub fn block_dim_x() -> u32 {
    backend::block_dim_x()
}

/// Blocks in the grid, along x.
#[inline(always)]
pub fn grid_dim_x() -> u32 {
    backend::grid_dim_x()
}

/// The thread's lane in its warp of 32.
#[inline(always)]
pub fn lane() -> u32 {
    backend::thread_idx_x() & 31
}

/// Waits until every thread of the block has arrived; shared and global writes before it are visible after it.
///
/// # Safety
///
/// Every thread of the block reaches the same call.
#[inline(always)]
#[track_caller]
pub unsafe fn sync_threads() {
    // SAFETY: the caller's promise.
    unsafe { backend::sync_threads() }
}

/// The same number, of which the compiler knows nothing: what is computed from it is computed again at each call instead
/// of being kept in registers.
#[inline(always)]
#[must_use]
pub fn opaque(value: u32) -> u32 {
    backend::opaque(value)
}
