//! Sums of spherical waves: `out[b, t, f] = Σ_s x[b, s, f] · e^{i k_f r} / r`, `r` the distance from source s to target t.
//!
//! | launch of a sum | |
//! |---|---|
//! | block | [`THREADS`] threads, two targets each, a run of [`RUN`] frequencies or half of one |
//! | grid | x: [`Tile::runs`] of frequencies, blocks of targets within each; y: tiles of batch items; z: parts of the sum |
//! | shared memory | [`Tile::shared_bytes`]: the weights x of [`CHUNK`] sources, twice |
//! | barriers | one for every [`CHUNK`] sources |
//! | result | every thread writes its targets, frequencies and batch items |
//!
//! The matrix of waves exists in registers only. All threads of a block have the same frequencies and batch items, so that
//! the weights come from shared memory as one word for all lanes; a thread's wave serves all batch items of its tile.
//!
//! Evenly spaced wavenumbers ([`Spacing::Even`]): the wave in the middle of a run is computed, and those beside it follow by
//! multiplication with one complex number, eight to either side. Others ([`Spacing::Any`]): each wave is computed. Both
//! count phases in turns, of which the whole ones go before the sine is taken.
//!
//! In [`halves`] are the sums that round both to halves, for matrix instructions.
//!
//! The tiles of a spacing do the same operations in the same order for an item, a target and a frequency, so results are the
//! same bits. After [`SEGMENT`] sources the sums go to memory and start again from 0, so that rounding grows with the
//! number of segments and not with that of sources.

mod add;
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
pub mod halves;
mod sum;
mod waves;

pub use add::{GreensAdd, KERNELS as ADD_KERNELS, greens_add};

use cuda_std::{Global, GlobalMut, Parameters, Resources};
use num_complex::Complex;
use sum::greens;
use wavefield::phase::TurnsPerSample;
use waves::{Computed, Rotated};

/// Threads of a block.
pub const THREADS: u32 = 128;

/// Targets of a thread.
const TARGETS: u32 = 2;

/// Targets of a block.
pub const TARGETS_PER_BLOCK: u32 = THREADS * TARGETS;

/// Frequencies that follow from one wave.
pub const RUN: u32 = 16;

/// Frequencies on one side of it.
const HALF_RUN: u32 = RUN / 2;

/// Sources whose weights are in shared memory at a time.
pub const CHUNK: u32 = 16;

/// Sources after which sums go to memory: whole chunks.
pub const SEGMENT: u32 = 2048;

/// The parameters of a sum.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Greens {
    /// Positions of the sources: x, y, z and a number that nobody reads.
    pub sources: Global<[f32; 4]>,
    /// Positions of the targets: planes x, y, z of `target_pitch` numbers.
    pub targets: Global<f32>,
    /// Turns per unit length: [`Spacing::Even`] of frequency 8 of each run, whose last begins 16 before the end;
    /// [`Spacing::Any`] of each frequency.
    pub wavenumbers: Global<[f32; 2]>,
    /// x, `(batch, source, frequency)`.
    pub weights: Global<Complex<f32>>,
    /// `(part, item, target, frequency)`.
    pub output: GlobalMut<Complex<f32>>,
    /// Turns per unit length from one frequency to the next, where they are evenly spaced.
    pub step: TurnsPerSample<f32>,
    /// Targets in a plane.
    pub target_pitch: u64,
    /// The first target of this launch, which is the output's first.
    pub first_target: u64,
    /// Targets of this launch.
    pub n_targets: u32,
    /// Sources.
    pub n_sources: u32,
    /// Sources of a part of the sum: whole chunks.
    pub sources_per_part: u32,
    /// Frequencies, at least [`RUN`] where they are evenly spaced.
    pub n_frequencies: u32,
    /// Batch items in `weights`, up to the last that is wanted.
    pub n_batch: u32,
    /// The first batch item of this launch.
    pub first_item: u32,
    /// The batch item that is the output's first.
    pub first_output_item: u32,
    /// Items of a part of the output.
    pub n_output_items: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl Parameters for Greens {}

/// Instances of a sum: name, waves, halves of a run, batch items, blocks of a multiprocessor, registers.
macro_rules! instances {
    ($($name:ident: $waves:ty, $halves:literal, $items:literal, $blocks:literal, $registers:literal;)*) => {
        cuda_std::kernels! { $(
            /// Spherical waves; spacing of the wavenumbers and batch items of a tile are in the name.
            $name(p: Greens),
            threads THREADS, blocks $blocks,
            resources Resources { registers: $registers, barriers: 1, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { greens::<$waves, $halves, $items>(p) }
            }
        )* }
    };
}

instances! {
    greens_even_b1: Rotated, 2, 1, 4, 128;
    greens_even_b4: Rotated, 1, 4, 3, 168;
    greens_any_b1: Computed, 1, 1, 5, 96;
    greens_any_b4: Computed, 1, 4, 2, 254;
}

cuda_std::on_host! {
    /// How wavenumbers lie.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Spacing {
        /// Evenly.
        Even,
        /// In any way.
        Any,
    }

    /// Batch items that share a thread's waves.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Tile {
        /// One.
        One,
        /// Four.
        Four,
    }

    impl Tile {
        /// Batch items of a thread.
        pub const fn items(self) -> u32 {
            match self {
                Self::One => 1,
                Self::Four => 4,
            }
        }

        /// Halves of a run that a thread takes.
        const fn halves(self, spacing: Spacing) -> u32 {
            match (self, spacing) {
                (Self::One, Spacing::Even) => 2,
                _ => 1,
            }
        }

        /// Runs or half runs of frequencies.
        pub const fn runs(self, spacing: Spacing, n_frequencies: u32) -> u32 {
            n_frequencies.div_ceil(RUN) * (2 / self.halves(spacing))
        }

        /// Bytes of shared memory.
        pub const fn shared_bytes(self, spacing: Spacing) -> u32 {
            2 * CHUNK * HALF_RUN * self.halves(spacing) * self.items() * size_of::<Complex<f32>>() as u32
        }

        /// The kernel.
        pub const fn kernel(self, spacing: Spacing) -> cuda_std::Kernel<Greens> {
            match (spacing, self) {
                (Spacing::Even, Self::One) => greens_even_b1,
                (Spacing::Even, Self::Four) => greens_even_b4,
                (Spacing::Any, Self::One) => greens_any_b1,
                (Spacing::Any, Self::Four) => greens_any_b4,
            }
        }
    }
}
