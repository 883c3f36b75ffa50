//! Asynchronous copies of whole runs from global to shared memory, and the barriers that count their bytes; `sm_90` and later.
//!
//! One thread copies a run of any length. A barrier is used again and again: each use ends when some threads have said how many bytes
//! will come ([`expect`]) and as many have come. All threads then [`wait`] for it, behind a barrier of the block that follows the
//! copies' starts and what was said; before that wait nobody touches the bytes. What products of four warps read of them needs no
//! [`publish`](crate::warpgroup::publish).

use crate::{Element, Global, Shared, backend};

/// A barrier: 8 bytes of shared memory.
pub type Barrier = [u32; 2];

/// Makes a barrier of which `sayings` threads say how many bytes come, before its first use and a barrier of the block.
///
/// # Safety
///
/// One thread makes this call, and nobody touches the barrier's bytes any more but by this module.
#[inline(always)]
#[track_caller]
pub unsafe fn begin(barriers: Shared<Barrier>, index: u32, sayings: u32) {
    // SAFETY: the caller's promise.
    unsafe { backend::bulk_begin((barriers.address, index, barriers.length), sayings) }
}

/// Says how many more bytes the barrier's use has.
///
/// # Safety
///
/// As many threads make this call in a use as [`begin`] was told; all threads have waited for the use before.
#[inline(always)]
#[track_caller]
pub unsafe fn expect(barriers: Shared<Barrier>, index: u32, bytes: u32) {
    // SAFETY: the caller's promise.
    unsafe { backend::bulk_expect((barriers.address, index, barriers.length), bytes) }
}

/// Starts to copy `count` elements to `to_index`, from `from_index` on, for the barrier's use.
///
/// # Safety
///
/// The elements are there on both sides; addresses and bytes are multiples of 16; nobody touches the target until everybody has
/// waited; all threads have waited for the barrier's use before.
#[inline(always)]
#[track_caller]
pub unsafe fn start<T: Element>(
    (to, to_index): (Shared<T>, u32),
    (from, from_index): (Global<T>, u64),
    count: u32,
    (barriers, index): (Shared<Barrier>, u32),
) {
    // SAFETY: the caller's promise.
    unsafe {
        backend::bulk_start::<T>(
            (to.address, to_index, to.length),
            (from.pointer, from_index, from.length),
            count,
            (barriers.address, index, barriers.length),
        );
    }
}

/// Waits for the end of the barrier's last use: `parity` is 0 for the first, third, …, 1 for the others.
///
/// # Safety
///
/// Every thread of the block makes this call, once a use, behind a barrier of the block that follows all that belongs to it.
#[inline(always)]
#[track_caller]
pub unsafe fn wait(barriers: Shared<Barrier>, index: u32, parity: u32) {
    // SAFETY: the caller's promise.
    unsafe { backend::bulk_wait((barriers.address, index, barriers.length), parity) }
}
