//! Atomic operations on the device, relaxed.

use crate::atomic::{Kind, Update};
use core::arch::asm;

macro_rules! atomic {
    ($space:literal, $class:ident, $at:ident, $kind:ident, $update:ident, $bits:ident) => {{
        macro_rules! instruction {
            ($operation:literal) => {{
                let old: u32;
                asm!(concat!("atom.", $space, ".", $operation, " {0}, [{1}], {2};"),
                    out(reg32) old, in($class) $at, in(reg32) $bits, options(nostack));
                old
            }};
        }
        match ($update, $kind) {
            (Update::Add, Kind::Float) => instruction!("add.f32"),
            (Update::Add, _) => instruction!("add.u32"),
            (Update::Min, Kind::Signed) => instruction!("min.s32"),
            (Update::Max, Kind::Signed) => instruction!("max.s32"),
            (Update::Min, _) => instruction!("min.u32"),
            (Update::Max, _) => instruction!("max.u32"),
            (Update::Exchange, _) => instruction!("exch.b32"),
            (Update::ExchangeIf(expected), _) => {
                let old: u32;
                asm!(concat!("atom.", $space, ".cas.b32 {0}, [{1}], {2}, {3};"),
                    out(reg32) old, in($class) $at, in(reg32) expected, in(reg32) $bits, options(nostack));
                old
            }
        }
    }};
}

#[inline(always)]
pub(crate) unsafe fn atomic_global(
    pointer: *mut u32,
    index: u64,
    _length: u64,
    kind: Kind,
    update: Update,
    bits: u32,
) -> u32 {
    let at = pointer.wrapping_add(index as usize);
    // SAFETY: writable by the caller's promise.
    unsafe { atomic!("global", reg64, at, kind, update, bits) }
}

#[inline(always)]
pub(crate) unsafe fn atomic_shared(base: u32, index: u32, _length: u32, kind: Kind, update: Update, bits: u32) -> u32 {
    let at = base + index * 4;
    // SAFETY: in range by the caller's promise.
    unsafe { atomic!("shared", reg32, at, kind, update, bits) }
}
