//! Copies of runs on the device: `cp.async.bulk`, and `mbarrier`s.

use crate::Element;
use core::arch::asm;

#[inline(always)]
fn barrier((address, index, _): (u32, u32, u32)) -> u32 {
    address + 8 * index
}

#[inline(always)]
pub(crate) unsafe fn bulk_begin(at: (u32, u32, u32), sayings: u32) {
    // SAFETY: the bytes are the barrier's, by the caller's promise.
    unsafe {
        asm!("mbarrier.init.shared::cta.b64 [{0}], {1};", "fence.proxy.async.shared::cta;",
            in(reg32) barrier(at), in(reg32) sayings, options(nostack));
    }
}

#[inline(always)]
pub(crate) unsafe fn bulk_expect(at: (u32, u32, u32), bytes: u32) {
    // SAFETY: a barrier, by the caller's promise.
    unsafe {
        asm!("mbarrier.arrive.expect_tx.shared::cta.b64 _, [{0}], {1};",
            in(reg32) barrier(at), in(reg32) bytes, options(nostack));
    }
}

#[inline(always)]
pub(crate) unsafe fn bulk_start<T: Element>(
    (to, to_index, _): (u32, u32, u32),
    (from, from_index, _): (*const T, u64, u64),
    count: u32,
    at: (u32, u32, u32),
) {
    let element = size_of::<T>() as u32;
    let from = from.wrapping_add(from_index as usize);
    // SAFETY: readable and writable by the caller's promise.
    unsafe {
        asm!("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{0}], [{1}], {2}, [{3}];",
            in(reg32) to + to_index * element, in(reg64) from, in(reg32) count * element, in(reg32) barrier(at),
            options(nostack));
    }
}

#[inline(always)]
pub(crate) unsafe fn bulk_wait(at: (u32, u32, u32), parity: u32) {
    let mut is_over = 0_u32;
    while is_over == 0 {
        // SAFETY: a barrier, by the caller's promise.
        unsafe {
            asm!("{{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [{1}], {2}; selp.u32 {0}, 1, 0, p; }}",
                out(reg32) is_over, in(reg32) barrier(at), in(reg32) parity, options(nostack));
        }
    }
}
