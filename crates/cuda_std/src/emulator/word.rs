//! Elements of global memory, read and written with relaxed atomic operations: a kernel that races is caught, and does
//! not make the emulator itself race.

use crate::Element;
use std::mem::transmute_copy;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Reads an element that other threads of the host may write.
///
/// # Safety
///
/// The element is readable and aligned to its size.
#[inline]
pub(super) unsafe fn read<T: Element>(at: *const T) -> T {
    // SAFETY: atomic types have the size and the alignment of their integer, which is the element's size by the
    // caller's promise; elements have any bit pattern.
    unsafe {
        let at = at.cast_mut();
        match size_of::<T>() {
            1 => transmute_copy(&AtomicU8::from_ptr(at.cast()).load(Relaxed)),
            2 => transmute_copy(&AtomicU16::from_ptr(at.cast()).load(Relaxed)),
            4 => transmute_copy(&AtomicU32::from_ptr(at.cast()).load(Relaxed)),
            8 => transmute_copy(&AtomicU64::from_ptr(at.cast()).load(Relaxed)),
            _ => {
                let halves = [at.cast::<u64>(), at.cast::<u64>().wrapping_add(1)];
                transmute_copy(&halves.map(|half| AtomicU64::from_ptr(half).load(Relaxed)))
            }
        }
    }
}

/// Writes an element that other threads of the host may read or write.
///
/// # Safety
///
/// The element is writable and aligned to its size.
#[inline]
pub(super) unsafe fn write<T: Element>(at: *mut T, value: T) {
    // SAFETY: as in `read`.
    unsafe {
        match size_of::<T>() {
            1 => AtomicU8::from_ptr(at.cast()).store(transmute_copy(&value), Relaxed),
            2 => AtomicU16::from_ptr(at.cast()).store(transmute_copy(&value), Relaxed),
            4 => AtomicU32::from_ptr(at.cast()).store(transmute_copy(&value), Relaxed),
            8 => AtomicU64::from_ptr(at.cast()).store(transmute_copy(&value), Relaxed),
            _ => {
                let [low, high]: [u64; 2] = transmute_copy(&value);
                AtomicU64::from_ptr(at.cast()).store(low, Relaxed);
                AtomicU64::from_ptr(at.cast::<u64>().wrapping_add(1)).store(high, Relaxed);
            }
        }
    }
}
