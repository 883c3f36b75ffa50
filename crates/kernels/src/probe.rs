//! One small kernel for each thing that `cuda_std` offers: the same probes run on a device and in the emulator, and the
//! two are compared. No part of the library launches them.
//!
//! Values are 32-bit words, whatever they mean. `run` feeds the probes and knows what may differ.

use cuda_std::half::F16;
use cuda_std::math::Real;
use cuda_std::{Global, GlobalMut, Parameters, Resources, Shared, atomic, thread, warp, wmma};

cuda_std::on_host! {
    mod run;
    pub use run::{Equality, Outcome, outcomes, sm_80_outcomes, sm_90a_outcomes};
}

/// The parameters of all probes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Words {
    /// What the probe reads.
    pub input: Global<u32>,
    /// What it writes.
    pub output: GlobalMut<u32>,
}

// SAFETY: `repr(C)`, addresses and lengths.
unsafe impl Parameters for Words {}

/// Threads of a block of `probe_warp`, `probe_atomic` and `probe_memory`.
pub const THREADS: u32 = 64;
/// Words that `probe_warp` writes a thread.
pub const WARP_WORDS: u32 = 8;
/// Threads of a block of `probe_number`.
pub const NUMBER_THREADS: u32 = 128;
/// Words that `probe_number` writes a thread.
pub const NUMBER_WORDS: u32 = 11;
/// Bytes that `probe_memory` moves, in elements of 1, 2, 4, 8 and 16.
pub const MEMORY_BYTES: u32 = THREADS * (1 + 2 + 4 + 8 + 16);
/// Elements from row to row, or column to column, of an operand of `probe_wmma`.
pub const TILE_STRIDE: u32 = 24;
/// Halves of an operand of `probe_wmma`.
pub const TILE_HALVES: u32 = 15 * TILE_STRIDE + 24;

const fn resources(registers: u32, barriers: u32, warp_operations: u32, matrix_operations: u32) -> Resources {
    Resources {
        registers,
        barriers,
        warp_operations,
        matrix_operations,
    }
}

/// The words from `first` on are this thread's.
unsafe fn store_all<const COUNT: usize>(output: GlobalMut<u32>, first: u32, words: [u32; COUNT]) {
    cuda_std::unroll!(WORD in 0..COUNT {
        // SAFETY: the caller's promise.
        unsafe { output.store(u64::from(first + WORD as u32), words[WORD]) }
    });
}

/// Moves an element a thread to its mirror image, through shared memory, at byte `start` of all memories.
unsafe fn mirror<T: cuda_std::Element>(p: Words, start: u32) -> impl FnOnce() {
    let thread = thread::thread_idx_x();
    let first = start / size_of::<T>() as u32;
    // SAFETY: the element is this thread's; what is read afterwards was written before the barrier.
    unsafe {
        let part = Shared::<T>::new(start, THREADS);
        part.store(thread, p.input.cast::<T>().load(u64::from(first + thread)));
        move || {
            let value = part.load(THREADS - 1 - thread);
            p.output.cast::<T>().store(u64::from(first + thread), value);
        }
    }
}

cuda_std::kernels! {
    /// Shuffles, votes and matches of a word a thread.
    probe_warp(p: Words), threads THREADS, blocks 1, resources resources(32, 0, 8, 0), {
        let global = thread::block_idx_x() * THREADS + thread::thread_idx_x();
        // SAFETY: no branch, and a word a thread.
        unsafe {
            let value = p.input.load(u64::from(global));
            let words = [
                warp::shuffle(value, value),
                warp::shuffle_xor(value, value >> 5),
                warp::shuffle_up(value, 5),
                warp::shuffle_down(value, 7),
                warp::ballot(value & 1 == 1),
                u32::from(warp::any(value % 32 == 9)),
                u32::from(warp::all(value % 64 != 9)),
                warp::match_any(value & 7),
            ];
            warp::sync_warp();
            store_all(p.output, global * WARP_WORDS, words);
        }
    }

    /// Conversions and fast math of a word a thread.
    probe_number(p: Words), threads NUMBER_THREADS, blocks 1, resources resources(40, 0, 0, 0), {
        let global = thread::block_idx_x() * NUMBER_THREADS + thread::thread_idx_x();
        // SAFETY: a word a thread.
        unsafe {
            let bits = p.input.load(u64::from(global));
            let single = f32::from_bits(bits);
            let double = f64::from(single);
            let (cosine, sine) = (single - single.round_small()).cos_sin_turn();
            // Folded, not cut in two: stored as a word of 32 bits, the low half of a double that comes right from a square
            // root is converted to an integer by ptxas 13.0.
            let fold = |double: f64| (double.to_bits() ^ (double.to_bits() >> 32)) as u32;
            let words = [
                F16(bits as u16).to_f32().to_bits(),
                u32::from(F16::from_f32(single).0),
                Real::mul_add(single, single, -single).to_bits(),
                single.round_small().to_bits(),
                single.floor_i32() as u32,
                double.floor_i32() as u32,
                fold(Real::sqrt(double.abs())),
                fold(Real::mul_add(double, double, 1e-9)),
                Real::sqrt(single.abs()).to_bits(),
                cosine.to_bits(),
                sine.to_bits(),
            ];
            store_all(p.output, global * NUMBER_WORDS, words);
        }
    }

    /// Loads and stores of every width, global and shared.
    probe_memory(p: Words), threads THREADS, blocks 1, resources resources(40, 1, 0, 0), {
        // SAFETY: every width has its place in all memories, and a thread its element.
        unsafe {
            let quads = mirror::<[u32; 4]>(p, 0);
            let pairs = mirror::<u64>(p, 16 * THREADS);
            let words = mirror::<u32>(p, 24 * THREADS);
            let halves = mirror::<u16>(p, 28 * THREADS);
            let bytes = mirror::<u8>(p, 30 * THREADS);
            thread::sync_threads();
            quads();
            pairs();
            words();
            halves();
            bytes();
        }
    }

    /// Atomic operations of all threads on a few words, global (0 to 8) and a block's shared (16 on, four a block).
    probe_atomic(p: Words), threads THREADS, blocks 1, resources resources(32, 2, 0, 0), {
        let thread = thread::thread_idx_x();
        let block = thread::block_idx_x();
        // SAFETY: words that are used atomically are used in no other way until the barrier.
        unsafe {
            let value = p.input.load(u64::from(block * THREADS + thread));
            let small = (value & 0xff) as f32;
            let subnormal = f32::from_bits(1000);
            let (words, numbers, floats) = (p.output, p.output.cast::<i32>(), p.output.cast::<f32>());
            atomic::add(words, 0, value);
            atomic::min(words, 1, value);
            atomic::max(words, 2, value);
            atomic::min(numbers, 3, value as i32);
            atomic::max(numbers, 4, value as i32);
            atomic::add(floats, 5, small);
            atomic::add(floats, 6, subnormal);
            // What comes out, and what stays, is what went in.
            let before = atomic::exchange(words, 7, value);
            atomic::add(words, 8, before);
            let part = Shared::<u32>::new(0, 4);
            if thread < 4 {
                part.store(thread, 0);
            }
            thread::sync_threads();
            let float_part = Shared::<f32>::new(0, 4);
            atomic::add(part, 0, value);
            atomic::max(part, 1, value);
            atomic::add(float_part, 2, subnormal);
            let mut count = 0;
            loop {
                let found = atomic::compare_exchange(part, 3, count, count + 1);
                if found == count {
                    break;
                }
                count = found;
            }
            thread::sync_threads();
            if thread < 4 {
                p.output.store(u64::from(16 + 4 * block + thread), part.load(thread));
            }
        }
    }

    /// Products of 16×16 tiles, operands by rows and by columns, sums by rows and by columns.
    probe_wmma(p: Words), threads 32, blocks 1, resources resources(64, 2, 0, 4), {
        const OPERAND: u32 = TILE_HALVES / 2;
        const SUM: u32 = 256;
        let lane = thread::lane();
        // SAFETY: all operands and sums are in range, and the warp goes through together.
        unsafe {
            let words = Shared::<u32>::new(0, 2 * OPERAND);
            for step in 0..2 * OPERAND / 32 {
                let word = 32 * step + lane;
                words.store(word, p.input.load(u64::from(word)));
            }
            thread::sync_threads();
            let halves = Shared::<F16>::new(0, 4 * OPERAND);
            let right = 2 * OPERAND;
            let left_rows = wmma::Left::<wmma::Rows>::load(halves, 0, TILE_STRIDE);
            let left_columns = wmma::Left::<wmma::Columns>::load(halves, 0, TILE_STRIDE);
            let right_rows = wmma::Right::<wmma::Rows>::load(halves, right, TILE_STRIDE);
            let right_columns = wmma::Right::<wmma::Columns>::load(halves, right, TILE_STRIDE);
            let sums = Shared::<f32>::new(8 * OPERAND, 4 * SUM);
            let sum = wmma::Sum::zero().add_product(left_rows, right_rows);
            sum.store(wmma::Rows, sums, 0, 16);
            let sum = sum.add_product(left_rows, right_columns);
            sum.store(wmma::Columns, sums, SUM, 16);
            wmma::Sum::zero().add_product(left_columns, right_rows).store(wmma::Rows, sums, 2 * SUM, 16);
            wmma::Sum::zero().add_product(left_columns, right_columns).store(wmma::Columns, sums, 3 * SUM, 16);
            thread::sync_threads();
            for step in 0..4 * SUM / 32 {
                let word = 32 * step + lane;
                p.output.store(u64::from(word), sums.load(word).to_bits());
            }
        }
    }
}

/// Probes of what `sm_80` brought.
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
pub mod sm_80 {
    use super::{THREADS, Words, resources, store_all};
    use cuda_std::half::F16;
    use cuda_std::{Shared, copy, matrix, thread, warp};

    /// Words that `probe_reduce` writes a thread.
    pub const REDUCE_WORDS: u32 = 5;
    /// Words that `probe_ldmatrix` writes a lane.
    pub const LDMATRIX_WORDS: u32 = 14;
    /// Words that `probe_mma` reads a lane.
    pub const MMA_INPUT_WORDS: u32 = 20;
    /// Words that `probe_mma` writes a lane.
    pub const MMA_OUTPUT_WORDS: u32 = 8;
    /// Words that `probe_mma_f64` reads a lane.
    pub const MMA_F64_INPUT_WORDS: u32 = 4;
    /// Words that `probe_mma_f64` writes a lane.
    pub const MMA_F64_OUTPUT_WORDS: u32 = 4;
    /// Words that `probe_copy` reads a lane.
    pub const COPY_INPUT_WORDS: u32 = 4;
    /// Words that `probe_copy` writes a lane.
    pub const COPY_OUTPUT_WORDS: u32 = 11;

    cuda_std::kernels! {
        /// Reductions of a word a thread, and the halves of the word and its complement, transposed.
        probe_reduce(p: Words), threads THREADS, blocks 1, resources resources(24, 0, 3, 0), {
            let thread = thread::block_idx_x() * THREADS + thread::thread_idx_x();
            // SAFETY: no branch, and a word a thread.
            unsafe {
                let value = p.input.load(u64::from(thread)) as i32;
                let [low, high] = F16::transpose_pairs(value as u32, !value as u32);
                store_all(p.output, REDUCE_WORDS * thread, [
                    warp::reduce_min(value) as u32,
                    warp::reduce_max(value) as u32,
                    warp::reduce_or(value.cast_unsigned() & 1 << (thread % 32)),
                    low,
                    high,
                ]);
            }
        }

        /// Copies of 16, 16 (a part of them read), 8 and 4 bytes a lane, in two groups.
        probe_copy(p: Words), threads 32, blocks 1, resources resources(32, 2, 0, 0), {
            let lane = thread::lane();
            let from = 4 * u64::from(lane);
            // SAFETY: every copy has its place, and the barrier is behind the wait.
            unsafe {
                let part = Shared::<u32>::new(0, 32 * COPY_OUTPUT_WORDS);
                copy::start::<u32, 16>(part, 4 * lane, p.input, from);
                copy::commit();
                copy::start_padded::<u32, 16>(part, 128 + 4 * lane, p.input, from, lane % 5);
                copy::start::<u32, 8>(part, 256 + 2 * lane, p.input, from + 2);
                copy::start::<u32, 4>(part, 320 + lane, p.input, from + 1);
                copy::commit();
                copy::wait::<1>();
                thread::sync_threads();
                for word in 0..4 {
                    let word = 32 * word + 31 - lane;
                    p.output.store(u64::from(word), part.load(word));
                }
                copy::wait::<0>();
                thread::sync_threads();
                for word in 4..COPY_OUTPUT_WORDS {
                    let word = 32 * word + 31 - lane;
                    p.output.store(u64::from(word), part.load(word));
                }
            }
        }

        /// Loads of 1, 2 and 4 matrices, as they are and transposed.
        probe_ldmatrix(p: Words), threads 32, blocks 1, resources resources(32, 1, 0, 0), {
            let lane = thread::lane();
            // SAFETY: 32 rows of 16 bytes, and the warp goes through together.
            unsafe {
                let words = Shared::<u32>::new(0, 128);
                for step in 0..4 {
                    let word = 32 * step + lane;
                    words.store(word, p.input.load(u64::from(word)));
                }
                thread::sync_threads();
                let halves = Shared::<F16>::new(0, 256);
                // Rows in no particular order.
                let row = (lane * 5 + 3) % 32 * 8;
                let [a]: [u32; 1] = matrix::ldmatrix(halves, row);
                let [b]: [u32; 1] = matrix::ldmatrix_transposed(halves, row);
                let [c, d]: [u32; 2] = matrix::ldmatrix(halves, row);
                let [e, f]: [u32; 2] = matrix::ldmatrix_transposed(halves, row);
                let [g, h, i, j]: [u32; 4] = matrix::ldmatrix(halves, row);
                let [k, l, m, n]: [u32; 4] = matrix::ldmatrix_transposed(halves, row);
                store_all(p.output, LDMATRIX_WORDS * lane, [a, b, c, d, e, f, g, h, i, j, k, l, m, n]);
            }
        }

        /// A product of halves and one in TF32, operands and sums as registers.
        probe_mma(p: Words), threads 32, blocks 1, resources resources(40, 0, 0, 2), {
            let lane = thread::lane();
            let mut words = [0; MMA_INPUT_WORDS as usize];
            for (index, word) in words.iter_mut().enumerate() {
                // SAFETY: the words are this lane's.
                *word = unsafe { p.input.load(u64::from(MMA_INPUT_WORDS * lane) + index as u64) };
            }
            let float = |word: usize| f32::from_bits(words[word]);
            // SAFETY: the warp goes through together, and the words are this lane's.
            unsafe {
                let sum = [float(6), float(7), float(8), float(9)];
                let halves = matrix::mma_m16n8k16_f16(
                    [words[0], words[1], words[2], words[3]],
                    [words[4], words[5]],
                    sum,
                );
                let sum = [float(16), float(17), float(18), float(19)];
                let tf32 = matrix::mma_m16n8k8_tf32(
                    [float(10), float(11), float(12), float(13)],
                    [float(14), float(15)],
                    sum,
                );
                let [a, b, c, d] = halves.map(f32::to_bits);
                let [e, f, g, h] = tf32.map(f32::to_bits);
                store_all(p.output, MMA_OUTPUT_WORDS * lane, [a, b, c, d, e, f, g, h]);
            }
        }

        /// A product in double precision; operands and sums come in single precision.
        probe_mma_f64(p: Words), threads 32, blocks 1, resources resources(24, 0, 0, 1), {
            let lane = thread::lane();
            let first = u64::from(MMA_F64_INPUT_WORDS * lane);
            // SAFETY: the warp goes through together, the words are this lane's, and memory is aligned to more than two words.
            unsafe {
                let number = |word: u64| f64::from(f32::from_bits(p.input.load(first + word)));
                let sum = matrix::mma_m8n8k4_f64(number(0), number(1), [number(2), number(3)]);
                let output = p.output.cast::<f64>();
                output.store(u64::from(2 * lane), sum[0]);
                output.store(u64::from(2 * lane + 1), sum[1]);
            }
        }
    }
}

/// Probes of what `sm_90a` has.
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90a"))]
pub mod sm_90a {
    use super::{Words, resources};
    use cuda_std::{Shared, bulk, thread, warpgroup};

    /// Threads of `probe_group`: two groups.
    pub const GROUP_THREADS: u32 = 256;
    /// Words that a thread reads: its rows of the first operand of two products.
    pub const GROUP_A_WORDS: u32 = 8;
    /// Pieces of 16 bytes of the second operand: twice 64 columns of some rows.
    pub const GROUP_PIECES: u32 = 8 * 2 * GROUP_ROWS;
    /// Rows from 64 columns to the next.
    pub const GROUP_ROWS: u32 = 27;
    /// Words that a thread writes: sums of 128 columns, then of 64.
    pub const GROUP_OUTPUT_WORDS: u32 = 96;

    /// Threads of `probe_bulk`.
    pub const BULK_THREADS: u32 = 96;
    /// Uses of each barrier.
    pub const BULK_USES: u32 = 3;
    /// Words that a thread writes, and all runs of a use together have for it.
    pub const BULK_WORDS: u32 = 4;

    /// The vectors before a run, of as many as there are threads: runs of 1, 2, 3, … vectors, and the last one the rest.
    pub(super) const fn before_run(run: u32) -> u32 {
        run * (run + 1) / 2
    }

    /// Runs of a use.
    pub(super) const BULK_RUNS: u32 = 10;

    cuda_std::kernels! { for sm_90a;
        /// Copies of runs of different lengths, each use in the other order of its runs, for two barriers in turn.
        probe_bulk(p: Words), threads BULK_THREADS, blocks 1, resources resources(64, 3, 0, 0), {
            let thread = thread::thread_idx_x();
            // SAFETY: all threads go through together; the slices hold the runs of all uses.
            unsafe {
                let stages = Shared::<[u32; 4]>::new(0, 2 * BULK_THREADS);
                let barriers = Shared::<bulk::Barrier>::new(32 * BULK_THREADS, 2);
                let from = p.input.cast::<[u32; 4]>();
                if thread == 0 {
                    bulk::begin(barriers, 0, 2);
                    bulk::begin(barriers, 1, 2);
                }
                thread::sync_threads();
                let mut number = 0;
                while number < 2 * BULK_USES {
                    let stage = number % 2;
                    let runs = if thread == 0 {
                        [0, BULK_RUNS / 2]
                    } else if thread == 50 {
                        [BULK_RUNS / 2, BULK_RUNS]
                    } else {
                        [0, 0]
                    };
                    let begin = |run: u32| if run < BULK_RUNS { before_run(run) } else { BULK_THREADS };
                    if runs[1] > 0 {
                        bulk::expect(barriers, stage, 16 * (begin(runs[1]) - begin(runs[0])));
                    }
                    let mut run = runs[0];
                    while run < runs[1] {
                        let count = begin(run + 1) - begin(run);
                        let to = stage * BULK_THREADS + BULK_THREADS - begin(run + 1);
                        let at = u64::from(number * BULK_THREADS + begin(run));
                        bulk::start((stages, to), (from, at), count, (barriers, stage));
                        run += 1;
                    }
                    thread::sync_threads();
                    bulk::wait(barriers, stage, number / 2 % 2);
                    let value = stages.load(stage * BULK_THREADS + thread);
                    p.output.cast::<[u32; 4]>().store(u64::from(number * BULK_THREADS + thread), value);
                    number += 1;
                    thread::sync_threads();
                }
            }
        }

        /// Two products of 128 columns and one of 64, whose second operands begin at a row that depends on the group.
        probe_group(p: Words), threads GROUP_THREADS, blocks 1, resources resources(168, 1, 0, 3), {
            let thread = thread::thread_idx_x();
            let group = thread / 128;
            // SAFETY: all threads go through together; the operands are in the slice, written before the barrier.
            unsafe {
                let pieces = Shared::<[u32; 4]>::new(0, GROUP_PIECES);
                let from = p.input.cast::<[u32; 4]>();
                let mut piece = thread;
                while piece < GROUP_PIECES {
                    pieces.store(piece, from.load(u64::from(2 * GROUP_THREADS + piece)));
                    piece += GROUP_THREADS;
                }
                warpgroup::publish();
                thread::sync_threads();
                let [a, b] = [0, 1].map(|which| from.load(u64::from(2 * thread + which)));
                let mut wide = [[0.5; 4]; 16];
                let mut narrow = [[-0.5; 4]; 8];
                let rows = |first: u32, later: u32| warpgroup::Rows::new(first, later, GROUP_ROWS);
                warpgroup::begin();
                warpgroup::multiply(a, pieces, rows(1 + 2 * group, 8 + 3 * group), &mut wide);
                warpgroup::multiply(b, pieces, rows(5 - group, 11), &mut wide);
                warpgroup::commit();
                warpgroup::multiply(a, pieces, rows(3, 13 - group), &mut narrow);
                warpgroup::commit();
                warpgroup::wait::<0>();
                let first = u64::from(GROUP_OUTPUT_WORDS * thread);
                let store = |at: u64, sum: [f32; 4]| p.output.cast::<[f32; 4]>().store(first / 4 + at, sum);
                cuda_std::unroll!(TILE in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] {
                    store(TILE as u64, wide[TILE]);
                });
                cuda_std::unroll!(TILE in [0, 1, 2, 3, 4, 5, 6, 7] {
                    store(16 + TILE as u64, narrow[TILE]);
                });
            }
        }
    }
}
