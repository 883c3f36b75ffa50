//! Why a launch was refused or stopped.

use super::Instruction;
use std::fmt;
use std::panic::Location;

/// A launch that the emulator refused or stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The seed of the lanes' order: the same seed gives the same fault.
    pub seed: u64,
    /// Where it happened; nothing for a launch that did not start.
    pub place: Option<Place>,
    /// What happened.
    pub kind: FaultKind,
}

/// A thread of a launch, at a line of its kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The block's index.
    pub block: [u32; 3],
    /// The thread's index in its block.
    pub thread: u32,
    /// The line of the kernel.
    pub source: &'static Location<'static>,
}

/// The other side of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Party {
    /// The block's index.
    pub block: [u32; 3],
    /// The thread's index in its block; where several threads were there, one of them.
    pub thread: u32,
    /// What it did.
    pub instruction: Instruction,
    /// The line of the kernel.
    pub source: &'static Location<'static>,
}

/// What a kernel or its launch did wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// The grid has no blocks, or more than a device takes.
    #[error("a grid of {grid:?} blocks: from 1 to {most:?} are possible")]
    Grid {
        /// Blocks along x, y and z.
        grid: [u32; 3],
        /// Most blocks along x, y and z.
        most: [u32; 3],
    },
    /// A block has no threads, or more than the kernel's launch bound.
    #[error("{threads} threads a block: from 1 to the kernel's bound of {most} are possible")]
    Threads {
        /// Threads of a block.
        threads: u32,
        /// The kernel's launch bound, or the device's if that is less.
        most: u32,
    },
    /// The launch asks for more shared memory than a block can have.
    #[error("{bytes} bytes of shared memory a block: a device has at most {most}")]
    SharedMemory {
        /// Bytes asked for.
        bytes: u32,
        /// Most bytes that a block can have.
        most: u32,
    },
    /// A part of shared memory ends behind what the launch gave the block.
    #[error("shared memory from byte {offset} to {end}, and the launch gives the block {available} bytes")]
    SharedSlice {
        /// The part's first byte.
        offset: u32,
        /// The byte behind its last.
        end: u64,
        /// Bytes that the launch gave.
        available: u32,
    },
    /// A slice is cut behind its end.
    #[error("a slice from element {start} on, and it has {length}")]
    SliceStart {
        /// The first element wanted.
        start: u64,
        /// Elements in the slice.
        length: u64,
    },
    /// An access outside its slice.
    #[error("{instruction} at element {index} of a slice of {length}")]
    OutOfBounds {
        /// The access.
        instruction: Instruction,
        /// The last element that it touches.
        index: u64,
        /// Elements in the slice.
        length: u64,
    },
    /// An access that is not aligned to its size.
    #[error("{instruction} at address {address:#x}, which is no multiple of {alignment}")]
    Misaligned {
        /// The access.
        instruction: Instruction,
        /// The address in global memory, or the offset in shared memory.
        address: u64,
        /// The alignment that the access needs.
        alignment: u32,
    },
    /// A read of shared memory that no thread of the block has written.
    #[error("{instruction} at byte {offset} of shared memory, which nobody wrote")]
    Unwritten {
        /// The access.
        instruction: Instruction,
        /// The byte.
        offset: u32,
    },
    /// An access to bytes that an asynchronous copy is still bringing.
    #[error("{instruction} at byte {offset} of shared memory, which {other} is still bringing")]
    Pending {
        /// The access.
        instruction: Instruction,
        /// The byte.
        offset: u32,
        /// The copy.
        other: Party,
    },
    /// Two threads at the same bytes, one of them writing, with no barrier between them.
    #[error("{instruction} at byte {address:#x} of {memory} memory races with {other}")]
    Race {
        /// The access.
        instruction: Instruction,
        /// `"shared"` or `"global"`.
        memory: &'static str,
        /// The address in global memory, or the offset in shared memory.
        address: u64,
        /// The earlier access.
        other: Party,
    },
    /// A write to memory that the same launch reads through a [`Global`](crate::Global), or such a read of memory that
    /// it wrote: such reads may be served from a cache that writes do not reach.
    #[error("{instruction} at byte {address:#x}: read-only global memory is written in the same launch, see {other}")]
    ReadOnly {
        /// The access.
        instruction: Instruction,
        /// The address.
        address: u64,
        /// The earlier access.
        other: Party,
    },
    /// Threads that should meet are at different places.
    #[error("{instruction} that thread {other_thread} does not reach: it is at {other_instruction} at {other_source}")]
    Divergent {
        /// The collective.
        instruction: Instruction,
        /// A thread that is elsewhere.
        other_thread: u32,
        /// Where it is.
        other_instruction: Instruction,
        /// The line of the kernel.
        other_source: &'static Location<'static>,
    },
    /// A thread has returned that should take part in a collective.
    #[error("{instruction} that thread {other_thread} does not reach: it has returned")]
    Exited {
        /// The collective.
        instruction: Instruction,
        /// The thread that has returned.
        other_thread: u32,
    },
    /// A collective in a warp that is not full.
    #[error("{instruction} in a warp of {lanes} lanes: it needs 32")]
    PartialWarp {
        /// The collective.
        instruction: Instruction,
        /// Lanes that the warp has.
        lanes: u32,
    },
    /// An operand that must be the same in all lanes is not.
    #[error("{instruction} with {what} {value}, and thread {other_thread} has {other_value}")]
    NotUniform {
        /// The collective.
        instruction: Instruction,
        /// The operand.
        what: &'static str,
        /// This lane's operand.
        value: u32,
        /// Another lane.
        other_thread: u32,
        /// The other lane's operand.
        other_value: u32,
    },
    /// An operand that the instruction does not take.
    #[error("{instruction} with {what} {value}: {expected}")]
    Operand {
        /// The instruction.
        instruction: Instruction,
        /// The operand.
        what: &'static str,
        /// Its value.
        value: u64,
        /// What would be right.
        expected: &'static str,
    },
    /// A block has done more operations than allowed.
    #[error("the block has done {operations} operations and is not at its end")]
    NeverFinishes {
        /// The allowed number.
        operations: u64,
    },
    /// The kernel panicked, which on the device is a trap.
    #[error("the kernel panicked: {message}")]
    Panic {
        /// The panic's message.
        message: String,
    },
    /// The system did not give the emulator what it needs.
    #[error("the emulator cannot run: {message}")]
    System {
        /// What is missing.
        message: String,
    },
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} by block {:?}, thread {}, at {}",
            self.instruction, self.block, self.thread, self.source
        )
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {}", self.kernel)?;
        if let Some(Place { block, thread, source }) = self.place {
            write!(f, ", block {block:?}, thread {thread}, at {source}")?;
        }
        write!(f, ": {} (seed {})", self.kind, self.seed)
    }
}

impl std::error::Error for Fault {}
