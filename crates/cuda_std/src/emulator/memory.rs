//! Loads and stores, every one checked.
//!
//! Global memory is read and written with relaxed atomic operations, so that a kernel that races is caught and does
//! not make the emulator itself race.

use super::Instruction;
use super::block::Block;
use super::fault::FaultKind;
use super::lane::{Source, operate};
use super::race::{Touch, Who};
use crate::Element;
use std::mem::transmute_copy;
use std::panic::Location;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

type Checked<T> = Result<T, Box<FaultKind>>;

/// An element of a slice in global memory.
#[derive(Clone, Copy)]
pub(super) struct GlobalElement {
    pub(super) base: u64,
    pub(super) index: u64,
    pub(super) length: u64,
    /// Bytes of an element.
    pub(super) bytes: u32,
}

/// An element of a part of shared memory.
#[derive(Clone, Copy)]
pub(super) struct SharedElement {
    pub(super) base: u32,
    pub(super) index: u32,
    pub(super) length: u32,
    /// Bytes of an element.
    pub(super) bytes: u32,
}

impl GlobalElement {
    /// The address of the elements from this one on, `bytes` in all, which one access takes.
    pub(super) fn address(self, instruction: Instruction, elements: u64, bytes: u32) -> Checked<u64> {
        let end = self.index.saturating_add(elements);
        if end > self.length {
            return Err(Box::new(FaultKind::OutOfBounds {
                instruction,
                index: end - 1,
                length: self.length,
            }));
        }
        let address = self.base + self.index * u64::from(self.bytes);
        aligned(instruction, address, bytes)?;
        Ok(address)
    }
}

impl SharedElement {
    /// The offset of the elements from this one on, `bytes` in all, which one access takes.
    pub(super) fn offset(self, instruction: Instruction, elements: u32, bytes: u32) -> Checked<u32> {
        let end = u64::from(self.index) + u64::from(elements);
        if end > u64::from(self.length) {
            return Err(Box::new(FaultKind::OutOfBounds {
                instruction,
                index: end - 1,
                length: u64::from(self.length),
            }));
        }
        let offset = self.base + self.index * self.bytes;
        aligned(instruction, u64::from(offset), bytes)?;
        Ok(offset)
    }
}

fn aligned(instruction: Instruction, address: u64, alignment: u32) -> Checked<()> {
    if address.is_multiple_of(u64::from(alignment)) {
        return Ok(());
    }
    Err(Box::new(FaultKind::Misaligned {
        instruction,
        address,
        alignment,
    }))
}

impl Block {
    /// Checks and counts an access of the running lane to one element of global memory.
    #[inline]
    pub(super) fn access_global(
        &mut self,
        source: Source,
        instruction: Instruction,
        touch: Touch,
        element: GlobalElement,
    ) -> Checked<()> {
        let address = element.address(instruction, 1, element.bytes)?;
        let site = self.site(source, instruction, element.bytes);
        self.count_access(site, instruction, element.bytes, address);
        self.touch_global(instruction, touch, address, element.bytes, self.who(self.thread, site))
    }

    #[inline]
    pub(super) fn touch_global(
        &mut self,
        instruction: Instruction,
        touch: Touch,
        address: u64,
        bytes: u32,
        who: Who,
    ) -> Checked<()> {
        self.global_marks
            .touch(address, bytes, touch, &who)
            .map_err(|conflict| self.conflict(instruction, "global", address, conflict))
    }

    /// Checks and counts an access of the running lane to one element of shared memory; its offset.
    #[inline]
    pub(super) fn access_shared(
        &mut self,
        source: Source,
        instruction: Instruction,
        touch: Touch,
        element: SharedElement,
    ) -> Checked<u32> {
        let offset = element.offset(instruction, 1, element.bytes)?;
        let site = self.site(source, instruction, element.bytes);
        self.count_access(site, instruction, element.bytes, u64::from(offset));
        self.touch_shared(instruction, touch, offset, element.bytes, self.who(self.thread, site))?;
        Ok(offset)
    }

    #[inline]
    pub(super) fn touch_shared(
        &mut self,
        instruction: Instruction,
        touch: Touch,
        offset: u32,
        bytes: u32,
        who: Who,
    ) -> Checked<()> {
        self.shared_marks
            .touch(u64::from(offset), bytes, touch, &who)
            .map_err(|conflict| self.conflict(instruction, "shared", u64::from(offset), conflict))
    }

    /// Where a byte of shared memory lies, for an access of that many bytes.
    pub(super) fn shared_pointer(&mut self, offset: u32, bytes: u32) -> *mut u8 {
        let end = offset as usize + bytes as usize;
        assert!(end <= self.shared.len() * 16, "a checked access ends at byte {end}");
        self.shared.as_mut_ptr().cast::<u8>().wrapping_add(offset as usize)
    }
}

#[inline]
#[track_caller]
pub(crate) fn check_start(start: u64, length: u64) {
    if start > length {
        operate(Location::caller(), |_| {
            Err(Box::new(FaultKind::SliceStart { start, length }))
        })
    }
}

macro_rules! global_loads {
    ($($name:ident: $touch:ident;)*) => { $(
        #[inline]
        #[track_caller]
        pub(crate) unsafe fn $name<T: Element>(pointer: *const T, index: u64, length: u64) -> T {
            let source = Location::caller();
            let element = GlobalElement {
                base: pointer.expose_provenance() as u64,
                index,
                length,
                bytes: size_of::<T>() as u32,
            };
            operate(source, |block| {
                block.access_global(source, Instruction::GlobalLoad, Touch::$touch, element)
            });
            // SAFETY: in range and aligned, so readable by the promise of whoever made the slice.
            unsafe { read(pointer.wrapping_add(index as usize)) }
        }
    )* };
}

global_loads! {
    load_constant: ReadOnly;
    load_global: Read;
}

#[inline]
#[track_caller]
pub(crate) unsafe fn store_global<T: Element>(pointer: *mut T, index: u64, length: u64, value: T) {
    let source = Location::caller();
    let element = GlobalElement {
        base: pointer.expose_provenance() as u64,
        index,
        length,
        bytes: size_of::<T>() as u32,
    };
    operate(source, |block| {
        block.access_global(source, Instruction::GlobalStore, Touch::Write, element)
    });
    // SAFETY: in range and aligned, so writable by the promise of whoever made the slice.
    unsafe { write(pointer.wrapping_add(index as usize), value) }
}

#[track_caller]
pub(crate) unsafe fn shared_address<T: Element>(offset: u32, length: u32) -> u32 {
    let source = Location::caller();
    operate(source, |block| {
        let bytes = size_of::<T>() as u64;
        let end = u64::from(offset) + u64::from(length) * bytes;
        let available = block.setting.shared_bytes;
        if end > u64::from(available) {
            return Err(Box::new(FaultKind::SharedSlice { offset, end, available }));
        }
        aligned(Instruction::Slice, u64::from(offset), bytes as u32)?;
        Ok(offset)
    })
}

#[inline]
#[track_caller]
pub(crate) unsafe fn load_shared<T: Element>(base: u32, index: u32, length: u32) -> T {
    let source = Location::caller();
    let bytes = size_of::<T>() as u32;
    let element = SharedElement {
        base,
        index,
        length,
        bytes,
    };
    operate(source, |block| {
        let offset = block.access_shared(source, Instruction::SharedLoad, Touch::ReadWritten, element)?;
        // SAFETY: the pointer is good for that many bytes, aligned to them, and elements have any bit pattern.
        Ok(unsafe { block.shared_pointer(offset, bytes).cast::<T>().read() })
    })
}

#[inline]
#[track_caller]
pub(crate) unsafe fn store_shared<T: Element>(base: u32, index: u32, length: u32, value: T) {
    let source = Location::caller();
    let bytes = size_of::<T>() as u32;
    let element = SharedElement {
        base,
        index,
        length,
        bytes,
    };
    operate(source, |block| {
        let offset = block.access_shared(source, Instruction::SharedStore, Touch::Write, element)?;
        // SAFETY: the pointer is good for that many bytes, and aligned to them.
        unsafe { block.shared_pointer(offset, bytes).cast::<T>().write(value) };
        Ok(())
    })
}

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
