//! Atomic operations, which race with everything but each other.

use super::Instruction;
use super::lane::operate;
use super::memory::{GlobalElement, SharedElement};
use super::race::Touch;
use crate::atomic::{Kind, Update};
use std::panic::Location;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

#[track_caller]
pub(crate) unsafe fn atomic_global(
    pointer: *mut u32,
    index: u64,
    length: u64,
    kind: Kind,
    update: Update,
    bits: u32,
) -> u32 {
    let source = Location::caller();
    let element = GlobalElement {
        base: pointer.expose_provenance() as u64,
        index,
        length,
        bytes: 4,
    };
    operate(source, |block| {
        block.access_global(source, Instruction::GlobalAtomic, Touch::Atomic, element)
    });
    // SAFETY: in range and aligned, so writable by the promise of whoever made the slice.
    let memory = unsafe { AtomicU32::from_ptr(pointer.wrapping_add(index as usize)) };
    // In global memory the hardware flushes subnormal numbers.
    let updated = |old| Some(apply(kind, update, old, bits, flush));
    memory
        .fetch_update(Relaxed, Relaxed, updated)
        .unwrap_or_else(|unchanged| unchanged)
}

#[track_caller]
pub(crate) unsafe fn atomic_shared(base: u32, index: u32, length: u32, kind: Kind, update: Update, bits: u32) -> u32 {
    let source = Location::caller();
    let element = SharedElement {
        base,
        index,
        length,
        bytes: 4,
    };
    operate(source, |block| {
        let offset = block.access_shared(source, Instruction::SharedAtomic, Touch::AtomicWritten, element)?;
        let memory = block.shared_pointer::<u32>(offset);
        // SAFETY: the pointer is good for four bytes, and aligned to them.
        unsafe {
            let old = memory.read();
            memory.write(apply(kind, update, old, bits, |value| value));
            Ok(old)
        }
    })
}

fn flush(value: f32) -> f32 {
    if value.is_subnormal() {
        0.0_f32.copysign(value)
    } else {
        value
    }
}

fn apply(kind: Kind, update: Update, old: u32, bits: u32, flush: impl Fn(f32) -> f32) -> u32 {
    let (signed_old, signed) = (old as i32, bits as i32);
    match (update, kind) {
        (Update::Add, Kind::Float) => flush(flush(f32::from_bits(old)) + flush(f32::from_bits(bits))).to_bits(),
        (Update::Add, _) => old.wrapping_add(bits),
        (Update::Min, Kind::Signed) => signed_old.min(signed) as u32,
        (Update::Max, Kind::Signed) => signed_old.max(signed) as u32,
        (Update::Min, _) => old.min(bits),
        (Update::Max, _) => old.max(bits),
        (Update::Exchange, _) => bits,
        (Update::ExchangeIf(expected), _) => {
            if old == expected {
                bits
            } else {
                old
            }
        }
    }
}
