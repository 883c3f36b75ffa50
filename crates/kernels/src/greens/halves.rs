//! The same sums with amplitudes and waves rounded to halves, multiplied by matrix instructions, for eight batch items at a
//! time.
//!
//! | launch of a sum | |
//! |---|---|
//! | block | [`THREADS`] threads: a warp takes [`TARGETS_OF_WARP`] targets, half a run of frequencies and [`ITEMS`] batch items |
//! | grid | x: half runs of frequencies, blocks of [`TARGETS_OF_BLOCK`] targets within each; y: tiles of batch items; z: parts of the sum |
//! | shared memory, barriers | none |
//! | matrix operations | one a frequency, eight targets, eight sources and eight batch items, all 32 lanes |
//! | result | every thread writes its targets, frequencies and batch items |
//!
//! A complex product is one of real matrices: a wave c + is is the block `[c −s; s c]`, an amplitude the column of its parts.
//! With g = lane / 4 and t = lane mod 4, a lane makes the waves from sources t and t + 4 of a group to target g, which are
//! its share of the first operand without exchange; its share of the second are the amplitudes of these sources in item g,
//! which [`greens_store_halves`] puts side by side.
//!
//! Waves are multiplied by a power of two that the launching side takes from the largest distance, so that none is below the
//! normal halves; those over less than 2⁻²⁴ of it, which single precision cannot tell, are bounded. Sums are in single
//! precision.

use super::waves::{Computed, Rotated, Run, Waves};
use super::{Greens, HALF_RUN};
use crate::das::scale::{half_exponent, power_of_two};
use cuda_std::half::F16Pair;
use cuda_std::math::Real;
use cuda_std::{Global, GlobalMut, Parameters, Resources, matrix, thread};
use num_complex::Complex;
use wavefield::geometry::{difference, dot};

/// Threads of a block.
pub const THREADS: u32 = 128;

/// Sources of a group: half as many as the products that an instruction adds.
pub const SOURCES: u32 = 8;

/// Batch items of a tile.
pub const ITEMS: u32 = 8;

/// Tiles of eight targets that share a warp's amplitudes.
const TILES: u32 = 2;

/// Targets of a warp.
pub const TARGETS_OF_WARP: u32 = 8 * TILES;

/// Targets of a block.
pub const TARGETS_OF_BLOCK: u32 = TARGETS_OF_WARP * THREADS / WARP;

/// Lanes of a warp.
const WARP: u32 = 32;

/// Largest wave, scaled.
const MOST: f32 = 65_504.0;

/// The parameters of a sum.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Halves {
    /// Positions, wavenumbers, counts and the output; the amplitudes are not read.
    pub greens: Greens,
    /// The amplitudes as pairs of halves, `(tile of items, group of sources, frequency, lane, 2)`.
    pub amplitudes: Global<[u32; 2]>,
    /// What sums of an item are multiplied by, `(batch,)`.
    pub inverses: Global<f32>,
    /// What waves are multiplied by, a power of two.
    pub wave_scale: f32,
    /// Its inverse.
    pub inverse_wave_scale: f32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl Parameters for Halves {}

/// The parameters of [`greens_store_halves`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Store {
    /// x, `(batch, source, frequency)`.
    pub amplitudes: Global<Complex<f32>>,
    /// The largest magnitude of each item as bits, `(batch,)`; not read where the exponent is given.
    pub peaks: Global<u32>,
    /// As [`Halves::amplitudes`]; what there is no source or item for is 0.
    pub halves: GlobalMut<[u32; 2]>,
    /// As [`Halves::inverses`].
    pub inverses: GlobalMut<f32>,
    /// The exponent of 2 by which amplitudes are multiplied, where it is given.
    pub exponent: i32,
    /// Whether it is, not 0, or 0.
    pub has_exponent: u32,
    /// Batch items.
    pub n_batch: u32,
    /// Sources.
    pub n_sources: u32,
    /// Frequencies.
    pub n_frequencies: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl Parameters for Store {}

/// The share of the first operand that the waves from two sources are.
#[inline(always)]
fn operand([first, second]: [Complex<f32>; 2]) -> [u32; 4] {
    let real = |wave: Complex<f32>| F16Pair::from_f32([wave.re, -wave.im]).0;
    let imaginary = |wave: Complex<f32>| F16Pair::from_f32([wave.im, wave.re]).0;
    [real(first), imaginary(first), real(second), imaginary(second)]
}

/// The body of a sum.
///
/// # Safety
///
/// The slices hold what the counts say; no source is at a target; grid and threads are those of the module's documentation.
#[inline(always)]
unsafe fn sum<W: Waves>(p: Halves) {
    let q = p.greens;
    let n_target_blocks = q.n_targets.div_ceil(TARGETS_OF_BLOCK);
    let (tile, target_block) = (
        thread::block_idx_x() / n_target_blocks,
        thread::block_idx_x() % n_target_blocks,
    );
    let (number, half) = (tile / 2, tile % 2);
    let run = Run {
        number,
        first: W::first_frequency(&q, number),
    };
    let (lane, warp) = (thread::lane(), thread::thread_idx_x() / WARP);
    let (group_of_lane, place) = (lane / 4, lane % 4);
    let first_target = target_block * TARGETS_OF_BLOCK + warp * TARGETS_OF_WARP + group_of_lane;
    let mut targets = [[0.0; 3]; TILES as usize];
    cuda_std::unroll!(TILE in [0, 1] {
        // The last target stands for those behind it.
        let target = (first_target + TILE as u32 * 8).min(q.n_targets - 1);
        let at = q.first_target + u64::from(target);
        // SAFETY: the target is one of the planes'.
        targets[TILE] = unsafe {
            [
                q.targets.load(at),
                q.targets.load(at + q.target_pitch),
                q.targets.load(at + 2 * q.target_pitch),
            ]
        };
    });
    // SAFETY: the caller's promise.
    let waves = unsafe { W::new(&q, run, half) };
    let first_source = thread::block_idx_z() * q.sources_per_part;
    let end = q.n_sources.min(first_source + q.sources_per_part).div_ceil(SOURCES);
    let n_groups = u64::from(q.n_sources.div_ceil(SOURCES));
    let item_tile = u64::from(q.first_item / ITEMS + thread::block_idx_y());
    let mut sums = [[[0.0; 4]; TILES as usize]; HALF_RUN as usize];
    let mut group = first_source / SOURCES;
    while group < end {
        let row = (item_tile * n_groups + u64::from(group)) * u64::from(q.n_frequencies);
        let mut amplitudes = [[0; 2]; HALF_RUN as usize];
        cuda_std::unroll!(STEP in [0, 1, 2, 3, 4, 5, 6, 7] {
            // The last frequency stands for those behind it.
            let frequency = run.frequency(half, STEP as u32).min(q.n_frequencies - 1);
            // SAFETY: tile, group and frequency are in range.
            amplitudes[STEP] =
                unsafe { p.amplitudes.load((row + u64::from(frequency)) * u64::from(WARP) + u64::from(lane)) };
        });
        let mut chains = [[None; 2]; TILES as usize];
        cuda_std::unroll!(SOURCE in [0, 1] {
            // The last source stands for those behind it, whose amplitudes are 0.
            let source = (group * SOURCES + SOURCE as u32 * 4 + place).min(q.n_sources - 1);
            // SAFETY: a source's number.
            let [x, y, z, _] = unsafe { q.sources.load(u64::from(source)) };
            cuda_std::unroll!(TILE in [0, 1] {
                let way = difference(targets[TILE], [x, y, z]);
                let (distance, inverse) = dot(way, way).root_and_inverse();
                let amplitude = (inverse * p.wave_scale).min(MOST);
                chains[TILE][SOURCE] = Some(W::begin(waves.source(distance, amplitude), half));
            });
        });
        cuda_std::unroll!(PAIR in [0, 1, 2, 3] {
            cuda_std::unroll!(TILE in [0, 1] {
                if let [Some(first), Some(second)] = &mut chains[TILE] {
                    let [a, b] = [waves.two::<PAIR>(first), waves.two::<PAIR>(second)];
                    cuda_std::unroll!(NUMBER in [0, 1] {
                        let step = 2 * PAIR + NUMBER;
                        let waves = operand([a[NUMBER], b[NUMBER]]);
                        // SAFETY: all lanes go through the loop alike.
                        sums[step][TILE] =
                            unsafe { matrix::mma_m16n8k16_f16(waves, amplitudes[step], sums[step][TILE]) };
                    });
                }
            });
        });
        group += 1;
    }
    // SAFETY: the caller's promise.
    unsafe { write(&p, run, half, first_target, place, &sums) };
}

/// Writes the sums of a lane.
///
/// # Safety
///
/// As [`sum`].
#[inline(always)]
unsafe fn write(
    p: &Halves,
    run: Run,
    half: u32,
    first_target: u32,
    place: u32,
    sums: &[[[f32; 4]; TILES as usize]; HALF_RUN as usize],
) {
    let q = &p.greens;
    cuda_std::unroll!(ITEM in [0, 1] {
        let item = q.first_item + thread::block_idx_y() * ITEMS + 2 * place + ITEM as u32;
        if item < q.n_batch {
            // SAFETY: the item is in range.
            let inverse = unsafe { p.inverses.load(u64::from(item)) };
            let row = u64::from(thread::block_idx_z() * q.n_output_items + (item - q.first_output_item));
            cuda_std::unroll!(TILE in [0, 1] {
                let target = first_target + TILE as u32 * 8;
                if target < q.n_targets {
                    let at = (row * u64::from(q.n_targets) + u64::from(target)) * u64::from(q.n_frequencies);
                    cuda_std::unroll!(STEP in [0, 1, 2, 3, 4, 5, 6, 7] {
                        let frequency = run.frequency(half, STEP as u32);
                        if frequency >= run.number * 2 * HALF_RUN && frequency < q.n_frequencies {
                            // One after the other: the product of both may not be a number.
                            let scaled = |part: f32| part * inverse * p.inverse_wave_scale;
                            let parts = sums[STEP][TILE];
                            let sum = Complex::new(scaled(parts[ITEM]), scaled(parts[2 + ITEM]));
                            // SAFETY: part, item, target and frequency are in range, and this thread's own.
                            unsafe { q.output.store(at + u64::from(frequency), sum) };
                        }
                    });
                }
            });
        }
    });
}

/// The body of [`greens_store_halves`]: a thread a frequency; blocks of frequencies, and among these of lanes, four at a time,
/// and of groups of sources, follow each other.
///
/// # Safety
///
/// The slices hold what the counts say.
#[inline(always)]
unsafe fn store(p: Store) {
    let n_blocks = p.n_frequencies.div_ceil(WARP);
    let (four, block) = (thread::block_idx_x() / n_blocks, thread::block_idx_x() % n_blocks);
    let frequency = block * WARP + thread::lane();
    let n_groups = p.n_sources.div_ceil(SOURCES);
    // A lane of the sums for each warp of this block.
    let group = four / 8;
    let lane = four % 8 * (THREADS / WARP) + thread::thread_idx_x() / WARP;
    let tile = thread::block_idx_y();
    let item = tile * ITEMS + lane / 4;
    if frequency >= p.n_frequencies {
        return;
    }
    let mut pair = [0; 2];
    if item < p.n_batch {
        let exponent = if p.has_exponent != 0 {
            p.exponent
        } else {
            // SAFETY: the item is in range.
            half_exponent(f32::from_bits(unsafe { p.peaks.load(u64::from(item)) }))
        };
        let scale = power_of_two(exponent);
        let mut values = [Complex::new(0.0, 0.0); 2];
        cuda_std::unroll!(SOURCE in [0, 1] {
            let source = group * SOURCES + SOURCE as u32 * 4 + lane % 4;
            if source < p.n_sources {
                let row = u64::from(item) * u64::from(p.n_sources) + u64::from(source);
                // SAFETY: item, source and frequency are in range.
                values[SOURCE] =
                    unsafe { p.amplitudes.load(row * u64::from(p.n_frequencies) + u64::from(frequency)) };
            }
        });
        pair = values.map(|value| F16Pair::from_f32([value.re * scale, value.im * scale]).0);
        if group == 0 && frequency == 0 && lane.is_multiple_of(4) {
            // SAFETY: the item is in range, and one lane of four writes its number.
            unsafe { p.inverses.store(u64::from(item), power_of_two(-exponent)) };
        }
    }
    let row = (u64::from(tile) * u64::from(n_groups) + u64::from(group)) * u64::from(p.n_frequencies);
    // SAFETY: tile, group, frequency and lane are in range, and this thread's own.
    unsafe {
        p.halves
            .store((row + u64::from(frequency)) * u64::from(WARP) + u64::from(lane), pair);
    }
}

cuda_std::kernels! {
    /// Amplitudes as halves, each item scaled by a power of two, where the sums' lanes find them.
    greens_store_halves(p: Store),
    threads THREADS, blocks 1,
    resources Resources { registers: 40, barriers: 0, warp_operations: 0, matrix_operations: 0 },
    {
        // SAFETY: the launching side's promise.
        unsafe { store(p) }
    }

    /// Waves of evenly spaced wavenumbers.
    greens_even_halves(p: Halves),
    threads THREADS, blocks 3,
    resources Resources { registers: 168, barriers: 0, warp_operations: 0, matrix_operations: 16 },
    {
        // SAFETY: the launching side's promise.
        unsafe { sum::<Rotated>(p) }
    }

    /// Waves of any wavenumbers.
    greens_any_halves(p: Halves),
    threads THREADS, blocks 3,
    resources Resources { registers: 168, barriers: 0, warp_operations: 0, matrix_operations: 16 },
    {
        // SAFETY: the launching side's promise.
        unsafe { sum::<Computed>(p) }
    }
}

cuda_std::on_host! {
    impl super::Spacing {
        /// The kernel that sums with halves.
        pub const fn halves_kernel(self) -> cuda_std::Kernel<Halves> {
            match self {
                Self::Even => greens_even_halves,
                Self::Any => greens_any_halves,
            }
        }
    }

    impl Halves {
        /// The shape of a launch of that many parts of the sum.
        pub fn launch(&self, n_parts: u32) -> cuda_std::Launch {
            let runs = self.greens.n_frequencies.div_ceil(super::RUN) * 2;
            let n_items = self.greens.n_batch - self.greens.first_item;
            cuda_std::Launch {
                grid: [
                    self.greens.n_targets.div_ceil(TARGETS_OF_BLOCK) * runs,
                    n_items.div_ceil(ITEMS),
                    n_parts,
                ],
                threads: THREADS,
                shared_bytes: 0,
            }
        }
    }

    impl Store {
        /// Elements of the halves.
        pub fn n_pairs(&self) -> usize {
            let tiles = (self.n_batch.div_ceil(ITEMS) as usize) * self.n_sources.div_ceil(SOURCES) as usize;
            tiles * self.n_frequencies as usize * WARP as usize
        }

        /// The shape of the launch.
        pub fn launch(&self) -> cuda_std::Launch {
            let n_groups = self.n_sources.div_ceil(SOURCES);
            cuda_std::Launch {
                grid: [self.n_frequencies.div_ceil(WARP) * n_groups * 8, self.n_batch.div_ceil(ITEMS), 1],
                threads: THREADS,
                shared_bytes: 0,
            }
        }
    }
}
