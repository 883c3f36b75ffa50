//! Loads and stores, every one checked.

use super::Instruction;
use super::block::Block;
use super::fault::FaultKind;
use super::lane::{Source, operate};
use super::race::{Touch, Who};
use super::word::{read, write};
use crate::Element;
use std::panic::Location;

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
    #[inline]
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
    #[inline]
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

#[inline]
pub(super) fn aligned(instruction: Instruction, address: u64, alignment: u32) -> Checked<()> {
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
            .map_err(|conflict| self.conflict(instruction, "global", address, conflict).into())
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
            .map_err(|conflict| self.conflict(instruction, "shared", u64::from(offset), conflict).into())
    }

    /// Where a value in shared memory lies, of at most 16 bytes and aligned to them.
    pub(super) fn shared_pointer<T>(&mut self, offset: u32) -> *mut T {
        let end = offset as usize + size_of::<T>();
        assert!(end <= self.shared.len() * 16, "a checked access ends at byte {end}");
        self.shared.as_mut_ptr().cast::<T>().wrapping_byte_add(offset as usize)
    }
}

#[inline]
#[track_caller]
pub(crate) fn check_start(start: u64, length: u64) {
    if start > length {
        operate::<()>(Location::caller(), |_| {
            Err(Box::new(FaultKind::SliceStart { start, length }))
        });
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
        Ok(unsafe { block.shared_pointer::<T>(offset).read() })
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
        unsafe { block.shared_pointer::<T>(offset).write(value) };
        Ok(())
    });
}
