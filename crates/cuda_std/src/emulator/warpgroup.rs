//! Products of four warps: a warp multiplies when it comes to one, and what it read must stay as it was until the warp waits.

use super::Instruction;
use super::block::{Block, WARP};
use super::fault::FaultKind;
use super::lane::operate;
use super::matrix::{Operation, multiply};
use super::memory::{SharedElement, aligned};
use super::race::Touch;
use std::collections::VecDeque;
use std::panic::Location;

/// Bytes of a piece of an operand, eight halves.
const PIECE: u32 = 16;

/// Bytes of a row of an operand.
const ROW: u32 = 128;

/// A half that a product reads.
struct Read {
    offset: u32,
    site: u16,
}

/// A thread's reads of products under way.
#[derive(Default)]
pub(super) struct Products {
    open: Vec<Read>,
    rows: VecDeque<Vec<Read>>,
}

impl Block {
    fn touch_operand(&mut self, read: &Read) -> Result<(), Box<FaultKind>> {
        // The hardware reads it for some lane or other.
        let who = self.who(self.thread, read.site).some_lane();
        self.touch_shared(Instruction::MatrixMultiply, Touch::ReadWritten, read.offset, 2, who)
    }
}

#[track_caller]
pub(crate) fn group_publish() {
    operate(Location::caller(), |_| Ok(()));
}

#[track_caller]
pub(crate) unsafe fn group_begin() {
    operate(Location::caller(), |_| Ok(()));
}

#[track_caller]
pub(crate) unsafe fn group_multiply<const TILES: usize>(
    a: [u32; 4],
    (base, length): (u32, u32),
    [first_and_block, later]: [u32; 2],
    sums: &mut [[f32; 4]; TILES],
) {
    let source = Location::caller();
    // In rows of the slice.
    let (first, block_rows) = ((first_and_block & 0x3fff) / 8, first_and_block >> 19);
    let later = (later & 0x3fff) / 8;
    for (tile, sum) in (0..).zip(sums) {
        let b = operate(source, |block| {
            aligned(Instruction::MatrixMultiply, u64::from(base), 8 * ROW)?;
            let site = block.site(source, Instruction::MatrixMultiply, 0);
            let lane = block.thread % WARP as u32;
            let (group, place) = (lane / 4, lane % 4);
            let mut half = |row: u32| -> Result<u32, Box<FaultKind>> {
                let row = first + row / 8 * later + row % 8 + tile / 8 * block_rows;
                let piece = SharedElement {
                    base,
                    index: 8 * row + ((tile % 8) ^ (row % 8)),
                    length,
                    bytes: PIECE,
                };
                let offset = piece.offset(Instruction::MatrixMultiply, 1, PIECE)? + 2 * group;
                let read = Read { offset, site };
                block.touch_operand(&read)?;
                block.lane_mut().products.open.push(read);
                // SAFETY: the pointer is good for a half, and aligned to it.
                Ok(u32::from(unsafe { block.shared_pointer::<u16>(offset).read() }))
            };
            let [row, later] = [2 * place, 2 * place + 8];
            Ok([half(row)? | half(row + 1)? << 16, half(later)? | half(later + 1)? << 16])
        });
        *sum = multiply(source, Operation::MultiplyHalf, a, b, *sum);
    }
}

#[track_caller]
pub(crate) unsafe fn group_commit() {
    operate(Location::caller(), |block| {
        let products = &mut block.lane_mut().products;
        let row = std::mem::take(&mut products.open);
        products.rows.push_back(row);
        Ok(())
    });
}

#[track_caller]
pub(crate) unsafe fn group_wait<const ROWS: usize>() {
    operate(Location::caller(), |block| {
        while block.lane_mut().products.rows.len() > ROWS {
            let row = block.lane_mut().products.rows.pop_front().unwrap_or_default();
            for read in row {
                block.touch_operand(&read)?;
            }
        }
        Ok(())
    });
}
