//! What lanes do together: the check is `block`'s, the values are computed here and in `matrix`.

use super::block::{Block, WARP};
use super::fault::Fault;
use super::lane::{Source, meet};
use super::{Instruction, matrix};
use std::panic::Location;

/// A collective; what belongs to it must be the same in all lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Barrier,
    WarpBarrier,
    ShuffleIndex,
    ShuffleXor,
    ShuffleUp,
    ShuffleDown,
    Ballot,
    MatchAny,
    ReduceMin,
    ReduceMax,
    ReduceOr,
    Matrix(matrix::Operation),
}

impl Operation {
    pub(super) fn instruction(self) -> Instruction {
        match self {
            Self::Barrier => Instruction::Barrier,
            Self::WarpBarrier => Instruction::WarpBarrier,
            Self::ShuffleIndex | Self::ShuffleXor | Self::ShuffleUp | Self::ShuffleDown => Instruction::Shuffle,
            Self::Ballot => Instruction::Vote,
            Self::MatchAny => Instruction::Match,
            Self::ReduceMin | Self::ReduceMax | Self::ReduceOr => Instruction::Reduction,
            Self::Matrix(operation) => operation.instruction(),
        }
    }
}

impl Block {
    /// Computes a collective of the warp whose first thread is `first`; every lane's operands and results are in its
    /// registers.
    pub(super) fn perform(&mut self, first: usize, operation: Operation, source: Source) -> Result<(), Box<Fault>> {
        if let Operation::Matrix(operation) = operation {
            return self.perform_matrix(first, operation, source);
        }
        let registers = &mut self.registers[first..first + WARP];
        let mut values = [0_u32; WARP];
        for (value, lane) in std::iter::zip(&mut values, &*registers) {
            *value = lane[0];
        }
        let same_in_all = match operation {
            Operation::Ballot => Some(
                values
                    .iter()
                    .enumerate()
                    .fold(0, |bits, (lane, &predicate)| bits | predicate << lane),
            ),
            Operation::ReduceMin => values.iter().map(|&value| value as i32).min().map(|least| least as u32),
            Operation::ReduceMax => values.iter().map(|&value| value as i32).max().map(|most| most as u32),
            Operation::ReduceOr => Some(values.iter().fold(0, |bits, value| bits | value)),
            _ => None,
        };
        for (lane, registers) in registers.iter_mut().enumerate() {
            let by = registers[1] as usize % WARP;
            registers[0] = match operation {
                Operation::ShuffleIndex => values[by],
                Operation::ShuffleXor => values[lane ^ by],
                Operation::ShuffleUp => values[lane.checked_sub(by).unwrap_or(lane)],
                Operation::ShuffleDown => *values.get(lane + by).unwrap_or(&values[lane]),
                Operation::MatchAny => values.iter().enumerate().fold(0, |bits, (other, &value)| {
                    bits | u32::from(value == values[lane]) << other
                }),
                _ => same_in_all.unwrap_or(registers[0]),
            };
        }
        if operation == Operation::WarpBarrier {
            self.warp_barrier(first / WARP);
        }
        Ok(())
    }
}

macro_rules! collectives {
    ($($name:ident($value:ident: $type:ty $(, $operand:ident)?) = $operation:ident;)*) => { $(
        #[track_caller]
        pub(crate) unsafe fn $name($value: $type $(, $operand: u32)?) -> $type {
            let mut registers = [$value as u32 $(, $operand)?];
            meet(Location::caller(), Operation::$operation, &mut registers);
            registers[0] as $type
        }
    )* };
}

collectives! {
    shuffle(value: u32, source) = ShuffleIndex;
    shuffle_xor(value: u32, mask) = ShuffleXor;
    shuffle_up(value: u32, distance) = ShuffleUp;
    shuffle_down(value: u32, distance) = ShuffleDown;
    match_any(value: u32) = MatchAny;
    reduce_min(value: i32) = ReduceMin;
    reduce_max(value: i32) = ReduceMax;
    reduce_or(value: u32) = ReduceOr;
}

#[track_caller]
pub(crate) unsafe fn ballot(predicate: bool) -> u32 {
    let mut registers = [u32::from(predicate)];
    meet(Location::caller(), Operation::Ballot, &mut registers);
    registers[0]
}

#[track_caller]
pub(crate) unsafe fn sync_warp() {
    meet(Location::caller(), Operation::WarpBarrier, &mut []);
}
