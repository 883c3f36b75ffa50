//! The sum over sources: weights through shared memory, waves and sums in registers.

use super::waves::{Run, Waves, multiply_add};
use super::{CHUNK, Greens, HALF_RUN, SEGMENT, TARGETS_PER_BLOCK, THREADS};
use cuda_std::math::Real;
use cuda_std::{Global, GlobalMut, Shared, thread};
use num_complex::Complex;
use wavefield::geometry::{Vector, difference, dot};

const ZERO: Complex<f32> = Complex::new(0.0, 0.0);

/// Steps of half a run.
const STEPS: usize = HALF_RUN as usize;

/// Targets of a thread.
const TARGETS: usize = super::TARGETS as usize;

/// Weights of a thread in a chunk at most.
const MOST_WEIGHTS: usize = 4;

/// A thread's part in bringing weights to shared memory: one frequency and batch item, of every few sources.
#[derive(Clone, Copy)]
struct Weights {
    from: Global<Complex<f32>>,
    /// Where the weight of source 0 is.
    first: u64,
    n_frequencies: u32,
    /// Whether there is such a frequency and item.
    is_there: bool,
}

impl Weights {
    /// The weights of a chunk that this thread brings, of which sources have `row` each; 0 from source `end` on.
    ///
    /// # Safety
    ///
    /// The slice holds what the counts say.
    #[inline(always)]
    unsafe fn load(&self, first_source: u32, end: u32, row: u32) -> [Complex<f32>; MOST_WEIGHTS] {
        let mut weights = [ZERO; MOST_WEIGHTS];
        cuda_std::unroll!(PASS in [0, 1, 2, 3] {
            if (PASS as u32) < CHUNK * row / THREADS {
                let source = first_source + (thread::thread_idx_x() + PASS as u32 * THREADS) / row;
                if self.is_there && source < end {
                    // SAFETY: item, source and frequency are in range.
                    weights[PASS] =
                        unsafe { self.from.load(self.first + u64::from(source) * u64::from(self.n_frequencies)) };
                }
            }
        });
        weights
    }
}

/// The kernel's body for `HALVES` halves of a run and `ITEMS` batch items a thread.
///
/// # Safety
///
/// The slices hold what the counts say; no source is at a target; the grid, the threads and the shared memory are those
/// of the module's documentation.
#[inline(always)]
pub(super) unsafe fn greens<W: Waves, const HALVES: usize, const ITEMS: usize>(p: Greens) {
    let row = (HALVES * ITEMS * STEPS) as u32;
    let n_target_blocks = p.n_targets.div_ceil(TARGETS_PER_BLOCK);
    let (tile, target_block) = (
        thread::block_idx_x() / n_target_blocks,
        thread::block_idx_x() % n_target_blocks,
    );
    let (number, only_half) = if HALVES == 2 { (tile, 0) } else { (tile / 2, tile % 2) };
    let run = Run {
        number,
        first: W::first_frequency(&p, number),
    };
    let half_of = |half: usize| if HALVES == 2 { half as u32 } else { only_half };
    let first_item = p.first_item + thread::block_idx_y() * ITEMS as u32;
    let part = thread::block_idx_z();
    let first_source = part * p.sources_per_part;
    let end = p.n_sources.min(first_source + p.sources_per_part);

    let element = thread::thread_idx_x() % row;
    let (step, half, item) = (
        element % HALF_RUN,
        half_of((element / HALF_RUN) as usize % HALVES),
        first_item + element / (HALVES as u32 * HALF_RUN),
    );
    let frequency = run.frequency(half, step);
    let own = Weights {
        from: p.weights,
        first: u64::from(item) * u64::from(p.n_sources) * u64::from(p.n_frequencies) + u64::from(frequency),
        n_frequencies: p.n_frequencies,
        is_there: frequency < p.n_frequencies && item < p.n_batch,
    };

    let mut targets: [Vector<f32>; TARGETS] = [[0.0; 3]; TARGETS];
    let first_target = target_block * TARGETS_PER_BLOCK + thread::thread_idx_x();
    cuda_std::unroll!(TARGET in [0, 1] {
        // The last target stands for those behind it.
        let target = (first_target + TARGET as u32 * THREADS).min(p.n_targets - 1);
        let at = p.first_target + u64::from(target);
        // SAFETY: the target is one of the planes'.
        targets[TARGET] = unsafe {
            [
                p.targets.load(at),
                p.targets.load(at + p.target_pitch),
                p.targets.load(at + 2 * p.target_pitch),
            ]
        };
    });

    // SAFETY: the launch gives the block this memory: two chunks of weights.
    let (single, pairs) = unsafe {
        (
            Shared::<Complex<f32>>::new(0, 2 * CHUNK * row),
            Shared::<[f32; 4]>::new(0, CHUNK * row),
        )
    };
    // SAFETY: the caller's promise.
    let waves = unsafe { W::new(&p, run, only_half) };
    let mut buffer = 0;
    let mut segment = first_source;
    while segment < end {
        let segment_end = end.min(segment + SEGMENT);
        let mut sums = [[[[ZERO; STEPS]; ITEMS]; TARGETS]; HALVES];
        // SAFETY: sources of the part; threads of a block go through the loops alike, and a chunk is overwritten after a
        // barrier that follows its last use.
        unsafe {
            let mut weights = own.load(segment, segment_end, row);
            let mut position = p.sources.load(u64::from(segment));
            let mut chunk = segment;
            while chunk < segment_end {
                cuda_std::unroll!(PASS in [0, 1, 2, 3] {
                    if (PASS as u32) < CHUNK * row / THREADS {
                        let at = buffer * CHUNK * row + thread::thread_idx_x() + PASS as u32 * THREADS;
                        single.store(at, weights[PASS]);
                    }
                });
                thread::sync_threads();
                let next = chunk + CHUNK;
                weights = own.load(next, segment_end, row);
                let mut at = buffer * CHUNK * row / 2;
                let mut source = chunk;
                let chunk_end = segment_end.min(next);
                while source < chunk_end {
                    let [x, y, z, _] = position;
                    source += 1;
                    position = p.sources.load(u64::from(source.min(end - 1)));
                    let mut chains = [[None; TARGETS]; HALVES];
                    cuda_std::unroll!(TARGET in [0, 1] {
                        let way = difference(targets[TARGET], [x, y, z]);
                        let (distance, inverse) = dot(way, way).root_and_inverse();
                        let from = waves.source(distance, inverse);
                        cuda_std::unroll!(HALF in [0, 1] {
                            if HALF < HALVES {
                                chains[HALF][TARGET] = Some(W::begin(from, half_of(HALF)));
                            }
                        });
                    });
                    cuda_std::unroll!(PAIR in [0, 1, 2, 3] {
                        cuda_std::unroll!(HALF in [0, 1] {
                            if HALF < HALVES {
                                let mut two = [[ZERO; 2]; TARGETS];
                                cuda_std::unroll!(TARGET in [0, 1] {
                                    if let Some(chain) = &mut chains[HALF][TARGET] {
                                        two[TARGET] = waves.two::<PAIR>(chain);
                                    }
                                });
                                cuda_std::unroll!(ITEM in [0, 1, 2, 3] {
                                    if ITEM < ITEMS {
                                        let of_item = ((ITEM * HALVES + HALF) * STEPS / 2 + PAIR) as u32;
                                        let [re, im, next_re, next_im] = pairs.load(at + of_item);
                                        cuda_std::unroll!(TARGET in [0, 1] {
                                            let sums = &mut sums[HALF][TARGET][ITEM];
                                            let [first, second] = two[TARGET];
                                            let weight = Complex::new(re, im);
                                            sums[2 * PAIR] = multiply_add(sums[2 * PAIR], first, weight);
                                            let weight = Complex::new(next_re, next_im);
                                            sums[2 * PAIR + 1] = multiply_add(sums[2 * PAIR + 1], second, weight);
                                        });
                                    }
                                });
                            }
                        });
                    });
                    at += row / 2;
                }
                buffer = 1 - buffer;
                chunk = next;
            }
        }
        // Found again after the sum: places of all results together would take more registers than there are.
        let first_target = target_block * TARGETS_PER_BLOCK + thread::opaque(thread::thread_idx_x());
        let again = Run {
            number,
            first: thread::opaque(run.first),
        };
        cuda_std::unroll!(TARGET in [0, 1] {
            let target = first_target + TARGET as u32 * THREADS;
            cuda_std::unroll!(ITEM in [0, 1, 2, 3] {
                let item = first_item + ITEM as u32;
                if ITEM < ITEMS && target < p.n_targets && item < p.n_batch {
                    let item = u64::from(part * p.n_output_items + (item - p.first_output_item));
                    let at = (item * u64::from(p.n_targets) + u64::from(target)) * u64::from(p.n_frequencies);
                    cuda_std::unroll!(HALF in [0, 1] {
                        if HALF < HALVES {
                            cuda_std::unroll!(STEP in [0, 1, 2, 3, 4, 5, 6, 7] {
                                let frequency = again.frequency(half_of(HALF), STEP as u32);
                                if frequency >= number * 2 * HALF_RUN && frequency < p.n_frequencies {
                                    let sum = sums[HALF][TARGET][ITEM][STEP];
                                    // SAFETY: part, item, target and frequency are in range, and this thread's own.
                                    unsafe { put(p.output, at + u64::from(frequency), sum, segment > first_source) };
                                }
                            });
                        }
                    });
                }
            });
        });
        segment = segment_end;
    }
}

/// Writes a sum, or adds it to what is there.
///
/// # Safety
///
/// The index is in range, and no other thread touches the element.
#[inline(always)]
unsafe fn put(output: GlobalMut<Complex<f32>>, at: u64, sum: Complex<f32>, is_added: bool) {
    // SAFETY: the caller's promise.
    unsafe {
        if is_added {
            let former = output.load(at);
            output.store(at, Complex::new(former.re + sum.re, former.im + sum.im));
        } else {
            output.store(at, sum);
        }
    }
}
