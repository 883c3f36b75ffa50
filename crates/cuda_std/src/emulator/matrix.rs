//! Matrix operations: loads of fragments, and products.
//!
//! The places of a 16×16 `wmma` tile are the hardware's secret; here a lane holds half a row.

use super::Instruction;
use super::block::{Block, WARP};
use super::collective::Operation as Collective;
use super::counters::Request;
use super::fault::{Fault, FaultKind};
use super::lane::{Source, meet, operate};
use super::memory::SharedElement;
use super::number::f16_to_f32;
use super::race::Touch;
use crate::Element;
use std::array::from_fn;
use std::panic::Location;

/// A matrix operation; what belongs to it must be the same in all lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    LoadMatrices { count: usize, transposed: bool },
    MultiplyHalf,
    MultiplyTf32,
    LoadTile { rows: bool },
    MultiplyTiles,
    StoreTile { rows: bool },
}

/// Rows and columns of a `wmma` tile.
const TILE: usize = 16;
/// Bytes that a lane moves at once.
const PIECE: u32 = 16;

type Matrix<const ROWS: usize, const COLUMNS: usize> = [[f32; COLUMNS]; ROWS];

impl Operation {
    pub(super) fn instruction(self) -> Instruction {
        match self {
            Self::LoadMatrices { .. } | Self::LoadTile { .. } => Instruction::MatrixLoad,
            Self::StoreTile { .. } => Instruction::MatrixStore,
            Self::MultiplyHalf | Self::MultiplyTf32 | Self::MultiplyTiles => Instruction::MatrixMultiply,
        }
    }
}

impl Block {
    pub(super) fn perform_matrix(
        &mut self,
        first: usize,
        operation: Operation,
        source: Source,
    ) -> Result<(), Box<Fault>> {
        match operation {
            Operation::LoadMatrices { count, transposed } => self.load_matrices(first, count, transposed, source),
            Operation::LoadTile { rows } => self.load_tile(first, rows, source),
            Operation::StoreTile { rows } => self.store_tile(first, rows, source),
            Operation::MultiplyHalf => {
                let lanes = &mut self.registers[first..first + WARP];
                let a: Matrix<16, 16> = from_fn(|row| {
                    from_fn(|column| half_of(lanes[row % 8 * 4 + column % 8 / 2][row / 8 + column / 8 * 2], column))
                });
                let b: Matrix<16, 8> =
                    from_fn(|row| from_fn(|column| half_of(lanes[column * 4 + row % 8 / 2][4 + row / 8], row)));
                multiply_16_by_8(lanes, &a, &b);
                Ok(())
            }
            Operation::MultiplyTf32 => {
                let lanes = &mut self.registers[first..first + WARP];
                let a: Matrix<16, 8> =
                    from_fn(|row| from_fn(|column| tf32(lanes[row % 8 * 4 + column % 4][row / 8 + column / 4 * 2])));
                let b: Matrix<8, 8> = from_fn(|row| from_fn(|column| tf32(lanes[column * 4 + row % 4][4 + row / 4])));
                multiply_16_by_8(lanes, &a, &b);
                Ok(())
            }
            Operation::MultiplyTiles => {
                let lanes = &mut self.registers[first..first + WARP];
                let a: Matrix<TILE, TILE> = from_fn(|row| from_fn(|column| tile_half(lanes, 0, row, column)));
                let b: Matrix<TILE, TILE> = from_fn(|row| from_fn(|column| tile_half(lanes, 8, row, column)));
                for (index, (row, column)) in places().enumerate() {
                    let sum = &mut lanes[index / 8][16 + index % 8];
                    *sum = add_products(f32::from_bits(*sum), (0..TILE).map(|k| (a[row][k], b[k][column]))).to_bits();
                }
                Ok(())
            }
        }
    }

    fn load_matrices(
        &mut self,
        first: usize,
        count: usize,
        transposed: bool,
        source: Source,
    ) -> Result<(), Box<Fault>> {
        let instruction = Instruction::MatrixLoad;
        let mut request = Request::default();
        let mut loaded = [[0_u32; 4]; WARP];
        for row in 0..8 * count {
            let offset = self.registers[first + row][0];
            request.add(row, u64::from(offset));
            let halves: [u16; 8] = self.read_piece(first + row, source, instruction, offset)?;
            let (matrix, row) = (row / 8, row % 8);
            for (column, half) in halves.into_iter().enumerate() {
                let (group, element) = if transposed { (column, row) } else { (row, column) };
                loaded[group * 4 + element / 2][matrix] |= u32::from(half) << (16 * (element % 2));
            }
        }
        for (lane, loaded) in std::iter::zip(&mut self.registers[first..], loaded) {
            lane[..4].copy_from_slice(&loaded);
        }
        self.count_pieces(source, instruction, &request);
        Ok(())
    }

    fn load_tile(&mut self, first: usize, rows: bool, source: Source) -> Result<(), Box<Fault>> {
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
        self.count_pieces(source, instruction, &request);
        Ok(())
    }

    fn store_tile(&mut self, first: usize, rows: bool, source: Source) -> Result<(), Box<Fault>> {
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
            self.count_pieces(source, instruction, &request);
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
                    return Err(self.fault(first as u32, source, kind));
                }
            }
        }
        Ok((self.registers[first][0], self.registers[first][1]))
    }

    fn touch_piece(
        &mut self,
        thread: usize,
        source: Source,
        instruction: Instruction,
        touch: Touch,
        offset: u32,
    ) -> Result<(), Box<Fault>> {
        let site = self.site(source, instruction, 0);
        // The hardware moves the piece for some lane or other.
        let who = self.who(thread as u32, site).some_lane();
        self.touch_shared(instruction, touch, offset, PIECE, who)
            .map_err(|kind| self.fault(thread as u32, source, *kind))
    }

    fn read_piece(
        &mut self,
        thread: usize,
        source: Source,
        instruction: Instruction,
        offset: u32,
    ) -> Result<[u16; 8], Box<Fault>> {
        self.touch_piece(thread, source, instruction, Touch::ReadWritten, offset)?;
        // SAFETY: the pointer is good for 16 bytes, and aligned to them.
        Ok(unsafe { self.shared_pointer(offset, PIECE).cast::<[u16; 8]>().read() })
    }

    fn write_piece(
        &mut self,
        thread: usize,
        source: Source,
        instruction: Instruction,
        offset: u32,
        values: [u32; 4],
    ) -> Result<(), Box<Fault>> {
        self.touch_piece(thread, source, instruction, Touch::Write, offset)?;
        // SAFETY: the pointer is good for 16 bytes, and aligned to them.
        unsafe { self.shared_pointer(offset, PIECE).cast::<[u32; 4]>().write(values) };
        Ok(())
    }

    fn count_pieces(&mut self, source: Source, instruction: Instruction, request: &Request) {
        let site = self.site(source, instruction, 0);
        let traffic = request.shared(PIECE);
        let sum = self.sum_mut(site);
        sum.bytes += traffic.bytes;
        sum.bank_conflicts += traffic.bank_conflicts;
    }
}

/// Row and column of the elements of a tile, as lanes hold them: eight a lane.
fn places() -> impl Iterator<Item = (usize, usize)> {
    (0..TILE * TILE).map(|index| (index / TILE, index % TILE))
}

/// The half in the lower part of the register for an even index, else the one in the upper part.
fn half_of(register: u32, index: usize) -> f32 {
    f16_to_f32((register >> (16 * (index % 2))) as u16)
}

fn tile_half(lanes: &[[u32; super::block::REGISTERS]], base: usize, row: usize, column: usize) -> f32 {
    half_of(lanes[row * 2 + column / 8][base + column % 8 / 2], column)
}

/// Drops what TF32 does not hold.
fn tf32(register: u32) -> f32 {
    f32::from_bits(register & 0xffff_e000)
}

/// The sum and the products, which are exact, added one after the other.
fn add_products(sum: f32, factors: impl Iterator<Item = (f32, f32)>) -> f32 {
    let sum = factors.fold(sum, |sum, (a, b)| a.mul_add(b, sum));
    // The only NaN that the hardware makes.
    if sum.is_nan() { f32::from_bits(0x7fff_ffff) } else { sum }
}

/// The product whose sums are in registers 6 to 9, and go to registers 0 to 3.
fn multiply_16_by_8<const K: usize>(lanes: &mut [[u32; super::block::REGISTERS]], a: &Matrix<16, K>, b: &Matrix<K, 8>) {
    for (index, lane) in lanes.iter_mut().enumerate() {
        let (group, place) = (index / 4, index % 4);
        for register in 0..4 {
            let (row, column) = (group + register / 2 * 8, 2 * place + register % 2);
            let sum = f32::from_bits(lane[6 + register]);
            lane[register] = add_products(sum, (0..K).map(|k| (a[row][k], b[k][column]))).to_bits();
        }
    }
}

#[track_caller]
pub(crate) unsafe fn ldmatrix<T: Element, const COUNT: usize, const TRANSPOSED: bool>(
    base: u32,
    row: u32,
    length: u32,
) -> [u32; COUNT] {
    let source = Location::caller();
    let bytes = size_of::<T>() as u32;
    let mut registers = [0; 4];
    registers[0] = operate(source, |block| {
        if block.thread as usize % WARP >= 8 * COUNT {
            return Ok(0);
        }
        let element = SharedElement {
            base,
            index: row,
            length,
            bytes,
        };
        element.offset(Instruction::MatrixLoad, PIECE / bytes, PIECE)
    });
    let operation = Operation::LoadMatrices {
        count: COUNT,
        transposed: TRANSPOSED,
    };
    meet(source, Collective::Matrix(operation), &mut registers);
    from_fn(|register| registers[register])
}

#[track_caller]
pub(crate) unsafe fn mma_m16n8k16_f16(a: [u32; 4], b: [u32; 2], sum: [f32; 4]) -> [f32; 4] {
    multiply(Location::caller(), Operation::MultiplyHalf, a, b, sum)
}

#[track_caller]
pub(crate) unsafe fn mma_m16n8k8_tf32(a: [f32; 4], b: [f32; 2], sum: [f32; 4]) -> [f32; 4] {
    let (a, b) = (a.map(f32::to_bits), b.map(f32::to_bits));
    multiply(Location::caller(), Operation::MultiplyTf32, a, b, sum)
}

fn multiply(source: Source, operation: Operation, a: [u32; 4], b: [u32; 2], sum: [f32; 4]) -> [f32; 4] {
    let mut registers = [0; 10];
    registers[..4].copy_from_slice(&a);
    registers[4..6].copy_from_slice(&b);
    registers[6..].copy_from_slice(&sum.map(f32::to_bits));
    meet(source, Collective::Matrix(operation), &mut registers);
    from_fn(|register| f32::from_bits(registers[register]))
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
