//! Asynchronous copies on the device: `cp.async`, past the first-level cache where the hardware allows it.

use crate::Element;
use core::arch::asm;

#[inline(always)]
pub(crate) unsafe fn copy_start<T: Element, const BYTES: usize>(
    (to, to_index, _): (u32, u32, u32),
    (from, from_index, _): (*const T, u64, u64),
    elements: u32,
) {
    let to = to + to_index * size_of::<T>() as u32;
    let from = from.wrapping_add(from_index as usize);
    let bytes = elements * size_of::<T>() as u32;
    macro_rules! copy {
        ($cache:literal, $bytes:literal) => {
            asm!(concat!("cp.async.", $cache, ".shared.global [{0}], [{1}], ", $bytes, ", {2};"),
                in(reg32) to, in(reg64) from, in(reg32) bytes, options(nostack))
        };
    }
    // SAFETY: readable and writable by the caller's promise.
    unsafe {
        match BYTES {
            4 => copy!("ca", "4"),
            8 => copy!("ca", "8"),
            _ => copy!("cg", "16"),
        }
    }
}

#[inline(always)]
pub(crate) fn copy_commit() {
    // SAFETY: touches nothing but the thread's list of copies.
    unsafe { asm!("cp.async.commit_group;", options(nostack)) }
}

#[inline(always)]
pub(crate) fn copy_wait<const GROUPS: usize>() {
    // SAFETY: waits.
    unsafe { asm!("cp.async.wait_group {0};", const GROUPS, options(nostack)) }
}
