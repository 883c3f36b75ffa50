//! Copies of runs: their bytes arrive when the first thread waits, as of the time of their start.

use super::Instruction;
use super::block::Block;
use super::fault::FaultKind;
use super::lane::{Source, operate};
use super::memory::{GlobalElement, SharedElement};
use super::race::{Touch, Who};
use super::word::read;
use crate::Element;
use std::collections::BTreeMap;
use std::panic::Location;

/// Bytes of a piece, which is copied as a whole.
const PIECE: u32 = 16;

/// Bytes that travel together.
const SECTOR: u64 = 32;

/// A piece under way.
struct Piece {
    offset: u32,
    who: Who,
    content: [u8; PIECE as usize],
}

/// A barrier.
#[derive(Default)]
struct Uses {
    /// Uses that have ended, in the first thread's eyes.
    ended: u32,
    /// How often bytes are said in a use.
    sayings: u32,
    /// How often they were.
    said: u32,
    /// Bytes of the use.
    expected: u32,
    pieces: Vec<Piece>,
    /// Threads that have waited for the last use that ended.
    waited: u32,
}

/// A block's barriers, by their place in shared memory.
#[derive(Default)]
pub(super) struct Barriers(BTreeMap<u32, Uses>);

type Checked<T> = Result<T, Box<FaultKind>>;

fn operand(instruction: Instruction, what: &'static str, value: u32, expected: &'static str) -> FaultKind {
    FaultKind::Operand {
        instruction,
        what,
        value: u64::from(value),
        expected,
    }
}

fn element((base, index, length): (u32, u32, u32), bytes: u32) -> SharedElement {
    SharedElement {
        base,
        index,
        length,
        bytes,
    }
}

impl Block {
    /// A barrier that was begun before a barrier of the block.
    fn barrier(&mut self, source: Source, instruction: Instruction, at: (u32, u32, u32)) -> Checked<&mut Uses> {
        let offset = self.access_shared(source, instruction, Touch::ReadWritten, element(at, 8))?;
        let wrong = operand(instruction, "a barrier at byte", offset, "one that was begun");
        self.barriers.0.get_mut(&offset).ok_or_else(|| wrong.into())
    }

    /// The same, for its next use.
    fn free_barrier(&mut self, source: Source, instruction: Instruction, at: (u32, u32, u32)) -> Checked<&mut Uses> {
        let threads = self.setting.threads;
        let uses = self.barrier(source, instruction, at)?;
        if uses.ended > 0 && uses.waited != threads {
            let waited = uses.waited;
            return Err(operand(instruction, "threads that waited", waited, "all, before the next use").into());
        }
        Ok(uses)
    }
}

#[track_caller]
pub(crate) unsafe fn bulk_begin(at: (u32, u32, u32), sayings: u32) {
    let source = Location::caller();
    operate(source, |block| {
        let offset = block.access_shared(source, Instruction::BulkBarrier, Touch::Write, element(at, 8))?;
        let uses = Uses {
            sayings,
            ..Uses::default()
        };
        block.barriers.0.insert(offset, uses);
        Ok(())
    });
}

#[track_caller]
pub(crate) unsafe fn bulk_expect(at: (u32, u32, u32), bytes: u32) {
    let source = Location::caller();
    let instruction = Instruction::BulkBarrier;
    operate(source, |block| {
        let uses = block.free_barrier(source, instruction, at)?;
        if uses.said == uses.sayings {
            let expected = "no more than in each use";
            return Err(operand(instruction, "sayings", uses.said + 1, expected).into());
        }
        uses.said += 1;
        uses.expected += bytes;
        Ok(())
    });
}

#[track_caller]
pub(crate) unsafe fn bulk_start<T: Element>(
    to: (u32, u32, u32),
    (pointer, index, length): (*const T, u64, u64),
    count: u32,
    at: (u32, u32, u32),
) {
    let source = Location::caller();
    let instruction = Instruction::BulkCopy;
    let element_bytes = size_of::<T>() as u32;
    let from = GlobalElement {
        base: pointer.expose_provenance() as u64,
        index,
        length,
        bytes: element_bytes,
    };
    operate(source, |block| {
        if !(count * element_bytes).is_multiple_of(PIECE) || !PIECE.is_multiple_of(element_bytes) {
            return Err(operand(instruction, "bytes", count * element_bytes, "a multiple of 16").into());
        }
        let offset = element(to, element_bytes).offset(instruction, count, PIECE)?;
        let address = from.address(instruction, u64::from(count), PIECE)?;
        let site = block.site(source, instruction, SECTOR as u32);
        let who = block.who(block.thread, site);
        block.free_barrier(source, instruction, at)?;
        let end = address + u64::from(count * element_bytes);
        for sector in address / SECTOR..end.div_ceil(SECTOR) {
            block.count_access(site, instruction, SECTOR as u32, sector * SECTOR);
        }
        let per_piece = PIECE / element_bytes;
        for piece in 0..count / per_piece {
            let (offset, address) = (offset + PIECE * piece, address + u64::from(PIECE * piece));
            block.touch_global(instruction, Touch::ReadOnly, address, PIECE, who)?;
            let mut content = [0; PIECE as usize];
            for number in 0..per_piece {
                // SAFETY: in range and aligned, so readable by the promise of whoever made the slice.
                let value: T =
                    unsafe { read(pointer.wrapping_add(index as usize + (piece * per_piece + number) as usize)) };
                let start = (number * element_bytes) as usize;
                // SAFETY: an element is plain bytes, and these lie in the content.
                unsafe { content.as_mut_ptr().add(start).cast::<T>().write_unaligned(value) };
            }
            block.touch_shared(instruction, Touch::Begin, offset, PIECE, who)?;
            let uses = block.free_barrier(source, instruction, at)?;
            uses.pieces.push(Piece { offset, who, content });
        }
        Ok(())
    });
}

#[track_caller]
pub(crate) unsafe fn bulk_wait(at: (u32, u32, u32), parity: u32) {
    let source = Location::caller();
    let instruction = Instruction::BulkWait;
    operate(source, |block| {
        let threads = block.setting.threads;
        let uses = block.barrier(source, instruction, at)?;
        let is_first = uses.said > 0 || uses.ended == 0 || uses.waited == threads;
        if is_first {
            // A use that is not complete would be waited for forever, or for what is not started yet.
            let bytes = PIECE * uses.pieces.len() as u32;
            if uses.said < uses.sayings || uses.expected != bytes {
                let expected = "as many as were said, before a barrier of the block";
                return Err(operand(instruction, "bytes started", bytes, expected).into());
            }
            uses.ended += 1;
            (uses.said, uses.expected, uses.waited) = (0, 0, 0);
        }
        uses.waited += 1;
        if parity % 2 != (uses.ended - 1) % 2 {
            return Err(operand(instruction, "parity", parity, "that of the last use").into());
        }
        for piece in std::mem::take(&mut uses.pieces) {
            block.touch_shared(Instruction::BulkCopy, Touch::End, piece.offset, PIECE, piece.who)?;
            for (index, &byte) in (0..).zip(&piece.content) {
                // SAFETY: the pointer is good for a byte.
                unsafe { block.shared_pointer::<u8>(piece.offset + index).write(byte) };
            }
        }
        Ok(())
    });
}
