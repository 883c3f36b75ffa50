//! Matrix operations on 16×16 tiles.
//!
//! Their places in registers are the hardware's secret; here a lane holds half a row.

use super::Instruction;
use super::block::{Block, REGISTERS, WARP};
use super::collective::Operation as Collective;
use super::counters::Request;
use super::fault::{Fault, FaultKind};
use super::lane::{Source, meet, operate};
use super::matrix::{Matrix, Operation, PIECE, add_products, half_of};
use super::memory::SharedElement;
use std::array::from_fn;
use std::panic::Location;

/// Rows and columns of a tile.
const TILE: usize = 16;

impl Block {
    pub(super) fn load_tile(&mut self, first: usize, rows: bool, source: Source) -> Result<(), Box<Fault>> {
        let instruction = Instruction::MatrixLoad;
        let (start, stride) = self.tile(first, source, instruction)?;
        let mut request = Request::default();
        let mut tile = [[0_u16; TILE]; TILE];
        for lane in 0..WARP {
            // Half a row a lane.
            let (line, half) = (lane / 2, lane % 2);
            let offset = start + 2 * (line as u32 * stride + 8 * half as u32);
            request.add(lane, u64::from(offset));
            let halves: [u16; 8] = self.read_piece(first + lane, source, instruction, offset)?;
            for (element, value) in halves.into_iter().enumerate() {
                let along = half * 8 + element;
                if rows {
                    tile[line][along] = value;
                } else {
                    tile[along][line] = value;
                }
            }
        }
        for (pair, (row, column)) in places().step_by(2).enumerate() {
            self.registers[first + pair / 4][pair % 4] =
                u32::from(tile[row][column]) | u32::from(tile[row][column + 1]) << 16;
        }
        self.count_pieces(source, instruction, &mut request);
        Ok(())
    }

    pub(super) fn store_tile(&mut self, first: usize, rows: bool, source: Source) -> Result<(), Box<Fault>> {
        let instruction = Instruction::MatrixStore;
        let (start, stride) = self.tile(first, source, instruction)?;
        let mut tile = [[0_u32; TILE]; TILE];
        for (index, (row, column)) in places().enumerate() {
            let value = self.registers[first + index / 8][16 + index % 8];
            if rows {
                tile[row][column] = value;
            } else {
                tile[column][row] = value;
            }
        }
        for pass in 0..2 {
            let mut request = Request::default();
            for lane in 0..WARP {
                // A quarter of a row a lane, in two passes.
                let (line, quarter) = (pass * 8 + lane / 4, lane % 4);
                let offset = start + 4 * (line as u32 * stride + 4 * quarter as u32);
                request.add(lane, u64::from(offset));
                let values: [u32; 4] = from_fn(|element| tile[line][quarter * 4 + element]);
                self.write_piece(first + lane, source, instruction, offset, values)?;
            }
            self.count_pieces(source, instruction, &mut request);
        }
        Ok(())
    }

    /// Offset and stride of a tile, the same in all lanes.
    fn tile(&self, first: usize, source: Source, instruction: Instruction) -> Result<(u32, u32), Box<Fault>> {
        for (operand, what) in [(0, "offset"), (1, "stride")] {
            let value = self.registers[first][operand];
            for other in first..first + WARP {
                let other_value = self.registers[other][operand];
                if other_value != value {
                    let kind = FaultKind::NotUniform {
                        instruction,
                        what,
                        value,
                        other_thread: other as u32,
                        other_value,
                    };
                    return Err(self.fault(first as u32, source, kind).into());
                }
            }
        }
        Ok((self.registers[first][0], self.registers[first][1]))
    }
}

/// Row and column of the elements of a tile, as lanes hold them: eight a lane.
fn places() -> impl Iterator<Item = (usize, usize)> {
    (0..TILE * TILE).map(|index| (index / TILE, index % TILE))
}

fn tile_half(lanes: &[[u32; REGISTERS]], base: usize, row: usize, column: usize) -> f32 {
    half_of(lanes[row * 2 + column / 8][base + column % 8 / 2], column)
}

pub(super) fn multiply_tiles(lanes: &mut [[u32; REGISTERS]]) {
    let a: Matrix<TILE, TILE> = from_fn(|row| from_fn(|column| tile_half(lanes, 0, row, column)));
    let b: Matrix<TILE, TILE> = from_fn(|row| from_fn(|column| tile_half(lanes, 8, row, column)));
    for (index, (row, column)) in places().enumerate() {
        let sum = &mut lanes[index / 8][16 + index % 8];
        *sum = add_products(f32::from_bits(*sum), (0..TILE).map(|k| (a[row][k], b[k][column]))).to_bits();
    }
}

/// Checks a tile's operands; its offset.
fn check_tile(source: Source, instruction: Instruction, element: SharedElement, stride: u32) -> u32 {
    operate(source, |_| {
        let multiple = PIECE / element.bytes;
        if !stride.is_multiple_of(multiple) || (stride as usize) < TILE {
            return Err(Box::new(FaultKind::Operand {
                instruction,
                what: "stride",
                value: u64::from(stride),
                expected: "a multiple of 16 bytes, and at least 16 elements",
            }));
        }
        let elements = (TILE as u64 - 1) * u64::from(stride) + TILE as u64;
        element.offset(instruction, u32::try_from(elements).unwrap_or(u32::MAX), 2 * PIECE)
    })
}

fn load_tile(source: Source, rows: bool, element: SharedElement, stride: u32) -> [u32; 8] {
    let offset = check_tile(source, Instruction::MatrixLoad, element, stride);
    let mut registers = [0; 8];
    registers[0] = offset;
    registers[1] = stride;
    meet(source, Collective::Matrix(Operation::LoadTile { rows }), &mut registers);
    registers[4..].fill(0);
    registers
}

#[track_caller]
pub(crate) unsafe fn wmma_load_left(rows: bool, base: u32, index: u32, length: u32, stride: u32) -> [u32; 8] {
    let element = SharedElement {
        base,
        index,
        length,
        bytes: 2,
    };
    load_tile(Location::caller(), rows, element, stride)
}

#[track_caller]
pub(crate) unsafe fn wmma_load_right(rows: bool, base: u32, index: u32, length: u32, stride: u32) -> [u32; 8] {
    let element = SharedElement {
        base,
        index,
        length,
        bytes: 2,
    };
    load_tile(Location::caller(), rows, element, stride)
}

#[track_caller]
pub(crate) unsafe fn wmma_multiply(
    _left_rows: bool,
    _right_rows: bool,
    left: [u32; 8],
    right: [u32; 8],
    sum: [f32; 8],
) -> [f32; 8] {
    let mut registers = [0; 24];
    registers[..8].copy_from_slice(&left);
    registers[8..16].copy_from_slice(&right);
    registers[16..].copy_from_slice(&sum.map(f32::to_bits));
    meet(
        Location::caller(),
        Collective::Matrix(Operation::MultiplyTiles),
        &mut registers,
    );
    from_fn(|register| f32::from_bits(registers[16 + register]))
}

#[track_caller]
pub(crate) unsafe fn wmma_store(rows: bool, base: u32, index: u32, length: u32, stride: u32, sum: [f32; 8]) {
    let source = Location::caller();
    let element = SharedElement {
        base,
        index,
        length,
        bytes: 4,
    };
    let mut registers = [0; 24];
    registers[0] = check_tile(source, Instruction::MatrixStore, element, stride);
    registers[1] = stride;
    registers[16..].copy_from_slice(&sum.map(f32::to_bits));
    meet(
        source,
        Collective::Matrix(Operation::StoreTile { rows }),
        &mut registers,
    );
}
