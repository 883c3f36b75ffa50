//! Kernels on a CPU: a machine of blocks, warps and lanes that refuses what the hardware would let pass.
//!
//! [`launch`] runs a kernel as the device would: every thread of a block is a coroutine, a warp's lanes advance in an
//! order drawn from a seed and meet at collectives, blocks run in parallel. What a launch may not do ends it with a
//! [`Fault`] that names the kernel, the block, the thread, the source line and the values: an access outside its slice
//! or off its alignment, a read of shared memory that nobody wrote, two threads at the same bytes without a barrier
//! between them, a collective that some lanes do not reach. A launch that ends well answers with a [`Report`] of what
//! it would have cost: instructions, sectors, bank conflicts.
//!
//! # What it does not see
//!
//! A loop that calls nothing of this crate cannot be interrupted. Blocks are unordered among themselves, whatever
//! atomics say. A race of global memory is seen where both accesses happen in the emulator; what the host does
//! meanwhile is the caller's promise. Of products of four warps it sees who writes what they still read; not whether all four take
//! part with the same operand, whether it was published, nor whether sums are read too early.

mod atomic;
mod block;
mod buffer;
mod bulk;
mod collective;
mod copy;
mod counters;
mod fault;
mod lane;
mod launch;
mod machine;
mod marks;
mod matrix;
mod memory;
mod number;
mod race;
mod random;
mod report;
mod schedule;
mod site;
mod tables;
mod warpgroup;
mod wmma;
mod word;

pub use buffer::Buffer;
pub use fault::{Fault, FaultKind, Party, Place};
pub use launch::{Options, launch, launch_with};
pub use machine::{Emulator, Machine};
pub use report::{LAUNCH_LOG, Report, SiteReport, Traffic};
pub use site::Instruction;

pub(crate) use atomic::*;
pub(crate) use bulk::*;
pub(crate) use collective::*;
pub(crate) use copy::*;
pub(crate) use lane::*;
pub(crate) use matrix::*;
pub(crate) use memory::*;
pub(crate) use number::*;
pub(crate) use warpgroup::*;
pub(crate) use wmma::*;
