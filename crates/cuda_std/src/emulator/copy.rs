//! Asynchronous copies: their bytes arrive when their thread waits, and nobody may touch them before.

use super::Instruction;
use super::block::Block;
use super::fault::FaultKind;
use super::lane::operate;
use super::memory::{GlobalElement, SharedElement};
use super::race::Touch;
use super::word::read;
use crate::Element;
use std::collections::VecDeque;
use std::panic::Location;

/// Bytes that arrive at once.
const SECTOR: u32 = 32;

/// Bits of an address in global memory, above which there is room for which sector of shared memory a copy fills.
const ADDRESS_BITS: u32 = 48;

/// A sector comes once for every 32 aligned bytes of shared memory that it fills a part of: an H200 counts 24 sectors for
/// 512 bytes if every other row of 128 is shifted by 16, and its second level moves as much.
fn filled_sector(offset: u32) -> u64 {
    u64::from(offset / SECTOR)
}

/// One copy under way.
struct Piece {
    offset: u32,
    bytes: u32,
    site: u16,
    content: [u8; 16],
}

/// A thread's copies under way.
#[derive(Default)]
pub(super) struct Copies {
    open: Vec<Piece>,
    groups: VecDeque<Vec<Piece>>,
}

#[track_caller]
pub(crate) unsafe fn copy_start<T: Element, const BYTES: usize>(
    to: (u32, u32, u32),
    from: (*const T, u64, u64),
    elements: u32,
) {
    let source = Location::caller();
    let instruction = Instruction::Copy;
    let bytes = BYTES as u32;
    let element_bytes = size_of::<T>() as u32;
    let to = SharedElement {
        base: to.0,
        index: to.1,
        length: to.2,
        bytes: element_bytes,
    };
    let (pointer, index, length) = from;
    let from = GlobalElement {
        base: pointer.expose_provenance() as u64,
        index,
        length,
        bytes: element_bytes,
    };
    operate(source, |block| {
        let most = bytes / element_bytes;
        if elements > most {
            return Err(Box::new(FaultKind::Operand {
                instruction,
                what: "elements",
                value: u64::from(elements),
                expected: "at most what the copy's bytes hold",
            }));
        }
        let offset = to.offset(instruction, most, bytes)?;
        let site = block.site(source, instruction, bytes);
        let who = block.who(block.thread, site);
        let mut content = [0_u8; 16];
        if elements > 0 {
            // The whole piece must be aligned, also where a part of it is read.
            let address = from.address(instruction, u64::from(elements), bytes)?;
            block.count_access(
                site,
                instruction,
                bytes,
                address | filled_sector(offset) << ADDRESS_BITS,
            );
            for element in 0..elements {
                let at = address + u64::from(element * element_bytes);
                block.touch_global(instruction, Touch::ReadOnly, at, element_bytes, who)?;
                // SAFETY: in range and aligned, so readable by the promise of whoever made the slice.
                let value: T = unsafe { read(pointer.wrapping_add(index as usize + element as usize)) };
                let start = (element * element_bytes) as usize;
                // SAFETY: an element is plain bytes, and these lie in the content's first `BYTES`.
                unsafe { content.as_mut_ptr().add(start).cast::<T>().write_unaligned(value) };
            }
        }
        block.touch_shared(instruction, Touch::Begin, offset, bytes, who)?;
        block.lane_mut().copies.open.push(Piece {
            offset,
            bytes,
            site,
            content,
        });
        Ok(())
    });
}

#[track_caller]
pub(crate) fn copy_commit() {
    let source = Location::caller();
    operate(source, |block| {
        let site = block.site(source, Instruction::CopyCommit, 0);
        block.count_plain(site);
        let copies = &mut block.lane_mut().copies;
        let group = std::mem::take(&mut copies.open);
        copies.groups.push_back(group);
        Ok(())
    });
}

#[track_caller]
pub(crate) fn copy_wait<const GROUPS: usize>() {
    let source = Location::caller();
    operate(source, |block| {
        let site = block.site(source, Instruction::CopyWait, 0);
        block.count_plain(site);
        while block.lane_mut().copies.groups.len() > GROUPS {
            let group = block.lane_mut().copies.groups.pop_front().unwrap_or_default();
            for piece in group {
                block.arrive(&piece)?;
            }
        }
        Ok(())
    });
}

impl Block {
    fn arrive(&mut self, piece: &Piece) -> Result<(), Box<FaultKind>> {
        let who = self.who(self.thread, piece.site);
        self.touch_shared(Instruction::Copy, Touch::End, piece.offset, piece.bytes, who)?;
        for (index, &byte) in piece.content[..piece.bytes as usize].iter().enumerate() {
            // SAFETY: the pointer is good for a byte.
            unsafe { self.shared_pointer::<u8>(piece.offset + index as u32).write(byte) };
        }
        Ok(())
    }
}
