//! Global and shared memory on the device.

use crate::Element;
use core::arch::{asm, global_asm};

global_asm!(".extern .shared .align 1024 .b8 dynamic_shared[];");

#[inline(always)]
pub(crate) fn check_start(_start: u64, _length: u64) {}

/// A load as wide as the element, from memory that nobody writes while the kernel runs.
#[inline(always)]
pub(crate) unsafe fn load_constant<T: Element>(pointer: *const T, index: u64, _length: u64) -> T {
    // SAFETY: readable by the caller's promise; a word has the element's size and any bit pattern.
    unsafe {
        let at = pointer.wrapping_add(index as usize);
        match size_of::<T>() {
            2 => {
                let word: u16;
                asm!("ld.global.nc.u16 {0}, [{1}];", out(reg16) word, in(reg64) at,
                    options(pure, readonly, nostack, preserves_flags));
                core::mem::transmute_copy(&word)
            }
            4 => {
                let word: u32;
                asm!("ld.global.nc.b32 {0}, [{1}];", out(reg32) word, in(reg64) at,
                    options(pure, readonly, nostack, preserves_flags));
                core::mem::transmute_copy(&word)
            }
            8 => {
                let (a, b): (u32, u32);
                asm!("ld.global.nc.v2.b32 {{{0}, {1}}}, [{2}];", out(reg32) a, out(reg32) b, in(reg64) at,
                    options(pure, readonly, nostack, preserves_flags));
                core::mem::transmute_copy(&[a, b])
            }
            16 => {
                let (a, b): (u64, u64);
                asm!("ld.global.nc.v2.b64 {{{0}, {1}}}, [{2}];", out(reg64) a, out(reg64) b, in(reg64) at,
                    options(pure, readonly, nostack, preserves_flags));
                core::mem::transmute_copy(&[a, b])
            }
            _ => at.read(),
        }
    }
}

/// A load as wide as the element, from memory that the kernel also writes.
#[inline(always)]
pub(crate) unsafe fn load_global<T: Element>(pointer: *const T, index: u64, _length: u64) -> T {
    // SAFETY: readable by the caller's promise; a word has the element's size, alignment and any bit pattern.
    unsafe {
        let at = pointer.wrapping_add(index as usize);
        match size_of::<T>() {
            4 => core::mem::transmute_copy(&at.cast::<u32>().read()),
            8 => core::mem::transmute_copy(&at.cast::<u64>().read()),
            16 => {
                let (a, b): (u64, u64);
                asm!("ld.global.v2.b64 {{{0}, {1}}}, [{2}];", out(reg64) a, out(reg64) b, in(reg64) at,
                    options(readonly, nostack, preserves_flags));
                core::mem::transmute_copy(&[a, b])
            }
            _ => at.read(),
        }
    }
}

/// A store as wide as the element.
#[inline(always)]
pub(crate) unsafe fn store_global<T: Element>(pointer: *mut T, index: u64, _length: u64, value: T) {
    // SAFETY: writable by the caller's promise; a word has the element's size and alignment.
    unsafe {
        let at = pointer.wrapping_add(index as usize);
        match size_of::<T>() {
            4 => at.cast::<u32>().write(core::mem::transmute_copy(&value)),
            8 => at.cast::<u64>().write(core::mem::transmute_copy(&value)),
            16 => {
                let [a, b]: [u64; 2] = core::mem::transmute_copy(&value);
                asm!("st.global.v2.b64 [{0}], {{{1}, {2}}};", in(reg64) at, in(reg64) a, in(reg64) b,
                    options(nostack, preserves_flags));
            }
            _ => at.write(value),
        }
    }
}

#[inline(always)]
pub(crate) unsafe fn shared_address<T: Element>(offset: u32, _length: u32) -> u32 {
    let base: u32;
    // SAFETY: names the block's dynamic shared memory.
    unsafe {
        asm!("mov.u32 {0}, dynamic_shared;", out(reg32) base, options(pure, nomem, nostack, preserves_flags));
    }
    base + offset
}

#[inline(always)]
pub(crate) unsafe fn load_shared<T: Element>(address: u32, index: u32, _length: u32) -> T {
    let at = address + index * size_of::<T>() as u32;
    // SAFETY: in range and written by the caller's promise; words have any bit pattern.
    unsafe {
        match size_of::<T>() {
            1 | 2 => {
                let word: u16;
                if size_of::<T>() == 1 {
                    asm!("ld.shared.u8 {0}, [{1}];", out(reg16) word, in(reg32) at, options(readonly, nostack));
                } else {
                    asm!("ld.shared.u16 {0}, [{1}];", out(reg16) word, in(reg32) at, options(readonly, nostack));
                }
                core::mem::transmute_copy(&word)
            }
            4 => {
                let word: u32;
                asm!("ld.shared.b32 {0}, [{1}];", out(reg32) word, in(reg32) at, options(readonly, nostack));
                core::mem::transmute_copy(&word)
            }
            8 => {
                let word: u64;
                asm!("ld.shared.b64 {0}, [{1}];", out(reg64) word, in(reg32) at, options(readonly, nostack));
                core::mem::transmute_copy(&word)
            }
            _ => {
                let (a, b): (u64, u64);
                asm!("ld.shared.v2.b64 {{{0}, {1}}}, [{2}];", out(reg64) a, out(reg64) b, in(reg32) at,
                    options(readonly, nostack));
                core::mem::transmute_copy(&[a, b])
            }
        }
    }
}

#[inline(always)]
pub(crate) unsafe fn store_shared<T: Element>(address: u32, index: u32, _length: u32, value: T) {
    let at = address + index * size_of::<T>() as u32;
    // SAFETY: in range by the caller's promise.
    unsafe {
        match size_of::<T>() {
            1 => {
                let word: u8 = core::mem::transmute_copy(&value);
                asm!("st.shared.u8 [{0}], {1};", in(reg32) at, in(reg16) u16::from(word), options(nostack));
            }
            2 => {
                let word: u16 = core::mem::transmute_copy(&value);
                asm!("st.shared.u16 [{0}], {1};", in(reg32) at, in(reg16) word, options(nostack));
            }
            4 => {
                let word: u32 = core::mem::transmute_copy(&value);
                asm!("st.shared.b32 [{0}], {1};", in(reg32) at, in(reg32) word, options(nostack));
            }
            8 => {
                let word: u64 = core::mem::transmute_copy(&value);
                asm!("st.shared.b64 [{0}], {1};", in(reg32) at, in(reg64) word, options(nostack));
            }
            _ => {
                let [a, b]: [u64; 2] = core::mem::transmute_copy(&value);
                asm!("st.shared.v2.b64 [{0}], {{{1}, {2}}};", in(reg32) at, in(reg64) a, in(reg64) b,
                    options(nostack));
            }
        }
    }
}
