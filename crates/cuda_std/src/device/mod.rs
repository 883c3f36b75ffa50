//! The device's backend: intrinsics and inline PTX.
//!
//! Collectives go through LLVM's convergent intrinsics wherever they exist, because an `asm!` call may be moved into
//! the arms of a branch.

mod atomic;
mod bulk;
mod copy;
mod matrix;
mod memory;
mod number;
mod warp;
mod warpgroup;

pub(crate) use atomic::*;
pub(crate) use bulk::*;
pub(crate) use copy::*;
pub(crate) use matrix::*;
pub(crate) use memory::*;
pub(crate) use number::*;
pub(crate) use warp::*;
pub(crate) use warpgroup::*;

use core::arch::nvptx;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: ends the grid with an error, whatever its state.
    unsafe { nvptx::trap() }
}

#[inline(always)]
pub(crate) fn thread_idx_x() -> u32 {
    // SAFETY: reads a special register.
    unsafe { nvptx::_thread_idx_x() as u32 }
}

#[inline(always)]
pub(crate) fn block_idx_x() -> u32 {
    // SAFETY: reads a special register.
    unsafe { nvptx::_block_idx_x() as u32 }
}

#[inline(always)]
pub(crate) fn block_idx_y() -> u32 {
    // SAFETY: reads a special register.
    unsafe { nvptx::_block_idx_y() as u32 }
}

#[inline(always)]
pub(crate) fn block_idx_z() -> u32 {
    // SAFETY: reads a special register.
    unsafe { nvptx::_block_idx_z() as u32 }
}

#[inline(always)]
pub(crate) fn block_dim_x() -> u32 {
    // SAFETY: reads a special register.
    unsafe { nvptx::_block_dim_x() as u32 }
}

#[inline(always)]
pub(crate) fn grid_dim_x() -> u32 {
    // SAFETY: reads a special register.
    unsafe { nvptx::_grid_dim_x() as u32 }
}

#[inline(always)]
pub(crate) fn opaque(mut value: u32) -> u32 {
    // SAFETY: registers only; not pure, so that each call stays where it is.
    unsafe {
        core::arch::asm!("mov.b32 {0}, {0};", inout(reg32) value, options(nomem, nostack, preserves_flags));
    }
    value
}

#[inline(always)]
pub(crate) unsafe fn sync_threads() {
    // SAFETY: every thread of the block arrives, by the caller's promise.
    unsafe { nvptx::_syncthreads() }
}
