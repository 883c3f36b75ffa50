//! Asynchronous copies from global to shared memory, past the registers (`sm_80` and later).
//!
//! A thread starts copies, ends a group of them with [`commit`], and later [`wait`]s. Then it may use the bytes
//! itself; the others of the block may after the barrier that follows. Until then nobody touches them.

use crate::{Element, Global, Shared, backend};

/// Starts to copy `BYTES` bytes (4, 8 or 16) to element `to_index`, from element `from_index` on.
///
/// # Safety
///
/// As many elements as `BYTES` holds are there on both sides, both addresses are multiples of `BYTES`, and nobody
/// touches the target until it has arrived.
#[inline(always)]
#[track_caller]
pub unsafe fn start<T: Element, const BYTES: usize>(to: Shared<T>, to_index: u32, from: Global<T>, from_index: u64) {
    const { assert!(BYTES == 4 || BYTES == 8 || BYTES == 16, "a copy has 4, 8 or 16 bytes") };
    let whole = (BYTES / size_of::<T>()) as u32;
    // SAFETY: the caller's promise.
    unsafe {
        backend::copy_start::<T, BYTES>(
            (to.address, to_index, to.length),
            (from.pointer, from_index, from.length),
            whole,
        );
    }
}

/// As [`start`], of which only the first `elements` are read; the rest of the `BYTES` becomes 0.
///
/// # Safety
///
/// As [`start`], where `elements` are enough on the source's side.
#[inline(always)]
#[track_caller]
pub unsafe fn start_padded<T: Element, const BYTES: usize>(
    to: Shared<T>,
    to_index: u32,
    from: Global<T>,
    from_index: u64,
    elements: u32,
) {
    const { assert!(BYTES == 4 || BYTES == 8 || BYTES == 16, "a copy has 4, 8 or 16 bytes") };
    // SAFETY: the caller's promise.
    unsafe {
        backend::copy_start::<T, BYTES>(
            (to.address, to_index, to.length),
            (from.pointer, from_index, from.length),
            elements,
        );
    }
}

/// Ends a group: the copies that this thread has started since the last group's end.
#[inline(always)]
#[track_caller]
pub fn commit() {
    backend::copy_commit();
}

/// Waits until at most the last `GROUPS` groups of this thread are under way.
#[inline(always)]
#[track_caller]
pub fn wait<const GROUPS: usize>() {
    backend::copy_wait::<GROUPS>();
}
