//! Matrix operations on registers: loads of fragments, and products.

use super::Instruction;
use super::block::{Block, REGISTERS, WARP};
use super::collective::Operation as Collective;
use super::counters::Request;
use super::fault::Fault;
use super::lane::{Source, meet, operate};
use super::memory::SharedElement;
use super::number::f16_to_f32;
use super::race::Touch;
use super::wmma::multiply_tiles;
use crate::Element;
use std::array::from_fn;
use std::panic::Location;

/// A matrix operation; what belongs to it must be the same in all lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    LoadMatrices { count: usize, transposed: bool },
    MultiplyHalf,
    MultiplyTf32,
    MultiplyDouble,
    LoadTile { rows: bool },
    MultiplyTiles,
    StoreTile { rows: bool },
}

/// Bytes that a lane moves at once.
pub(super) const PIECE: u32 = 16;

pub(super) type Matrix<const ROWS: usize, const COLUMNS: usize> = [[f32; COLUMNS]; ROWS];

impl Operation {
    pub(super) fn instruction(self) -> Instruction {
        match self {
            Self::LoadMatrices { .. } | Self::LoadTile { .. } => Instruction::MatrixLoad,
            Self::StoreTile { .. } => Instruction::MatrixStore,
            Self::MultiplyHalf | Self::MultiplyTf32 | Self::MultiplyDouble | Self::MultiplyTiles => {
                Instruction::MatrixMultiply
            }
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
            Operation::MultiplyDouble => {
                multiply_8_by_8(&mut self.registers[first..first + WARP]);
                Ok(())
            }
            Operation::MultiplyTiles => {
                multiply_tiles(&mut self.registers[first..first + WARP]);
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
        self.count_pieces(source, instruction, &mut request);
        Ok(())
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
            .map_err(|kind| self.fault(thread as u32, source, *kind).into())
    }

    pub(super) fn read_piece(
        &mut self,
        thread: usize,
        source: Source,
        instruction: Instruction,
        offset: u32,
    ) -> Result<[u16; 8], Box<Fault>> {
        self.touch_piece(thread, source, instruction, Touch::ReadWritten, offset)?;
        // SAFETY: the pointer is good for 16 bytes, and aligned to them.
        Ok(unsafe { self.shared_pointer::<[u16; 8]>(offset).read() })
    }

    pub(super) fn write_piece(
        &mut self,
        thread: usize,
        source: Source,
        instruction: Instruction,
        offset: u32,
        values: [u32; 4],
    ) -> Result<(), Box<Fault>> {
        self.touch_piece(thread, source, instruction, Touch::Write, offset)?;
        // SAFETY: the pointer is good for 16 bytes, and aligned to them.
        unsafe { self.shared_pointer::<[u32; 4]>(offset).write(values) };
        Ok(())
    }

    pub(super) fn count_pieces(&mut self, source: Source, instruction: Instruction, request: &mut Request) {
        let site = self.site(source, instruction, 0);
        let traffic = request.shared(PIECE);
        let sum = self.sum_mut(site);
        sum.bytes += traffic.bytes;
        sum.bank_conflicts += traffic.bank_conflicts;
    }
}

/// The half in the lower part of the register for an even index, else the one in the upper part.
pub(super) fn half_of(register: u32, index: usize) -> f32 {
    f16_to_f32((register >> (16 * (index % 2))) as u16)
}

/// Drops what TF32 does not hold.
fn tf32(register: u32) -> f32 {
    f32::from_bits(register & 0xffff_e000)
}

/// The sum and the products, added one after the other; a product of 11 bits by 11 bits is exact.
pub(super) fn add_products(sum: f32, factors: impl Iterator<Item = (f32, f32)>) -> f32 {
    let sum = factors.fold(sum, |sum, (a, b)| sum + a * b);
    // The only NaN that the hardware makes.
    if sum.is_nan() { f32::from_bits(0x7fff_ffff) } else { sum }
}

/// The product whose sums are in registers 6 to 9, and go to registers 0 to 3.
fn multiply_16_by_8<const K: usize>(lanes: &mut [[u32; REGISTERS]], a: &Matrix<16, K>, b: &Matrix<K, 8>) {
    for (index, lane) in lanes.iter_mut().enumerate() {
        let (group, place) = (index / 4, index % 4);
        for register in 0..4 {
            let (row, column) = (group + register / 2 * 8, 2 * place + register % 2);
            let sum = f32::from_bits(lane[6 + register]);
            lane[register] = add_products(sum, (0..K).map(|k| (a[row][k], b[k][column]))).to_bits();
        }
    }
}

/// A number in double precision in two registers.
fn double(registers: &[u32; REGISTERS], at: usize) -> f64 {
    f64::from_bits(u64::from(registers[at]) | u64::from(registers[at + 1]) << 32)
}

fn set_double(registers: &mut [u32], at: usize, value: f64) {
    let bits = value.to_bits();
    (registers[at], registers[at + 1]) = (bits as u32, (bits >> 32) as u32);
}

/// The product in double precision: a in registers 0 and 1, b in 2 and 3, sums in 4 to 7 that go to 0 to 3.
fn multiply_8_by_8(lanes: &mut [[u32; REGISTERS]]) {
    let a: [f64; WARP] = from_fn(|lane| double(&lanes[lane], 0));
    let b: [f64; WARP] = from_fn(|lane| double(&lanes[lane], 2));
    for (index, lane) in lanes.iter_mut().enumerate() {
        let (row, place) = (index / 4, index % 4);
        for which in 0..2 {
            let column = 2 * place + which;
            let products = (0..4).map(|k| (a[4 * row + k], b[4 * column + k]));
            let sum = products.fold(double(lane, 4 + 2 * which), |sum, (a, b)| a.mul_add(b, sum));
            set_double(lane, 2 * which, sum);
        }
    }
}

#[track_caller]
pub(crate) unsafe fn mma_m8n8k4_f64(a: f64, b: f64, sum: [f64; 2]) -> [f64; 2] {
    let mut registers = [0; 8];
    for (place, value) in [a, b, sum[0], sum[1]].into_iter().enumerate() {
        set_double(&mut registers, 2 * place, value);
    }
    meet(
        Location::caller(),
        Collective::Matrix(Operation::MultiplyDouble),
        &mut registers,
    );
    [0, 2].map(|at| f64::from_bits(u64::from(registers[at]) | u64::from(registers[at + 1]) << 32))
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

pub(super) fn multiply(source: Source, operation: Operation, a: [u32; 4], b: [u32; 2], sum: [f32; 4]) -> [f32; 4] {
    let mut registers = [0; 10];
    registers[..4].copy_from_slice(&a);
    registers[4..6].copy_from_slice(&b);
    registers[6..].copy_from_slice(&sum.map(f32::to_bits));
    meet(source, Collective::Matrix(operation), &mut registers);
    from_fn(|register| f32::from_bits(registers[register]))
}
