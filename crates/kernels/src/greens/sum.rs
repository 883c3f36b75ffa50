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

/// A thread's sums: half of a run, target, batch item, frequency.
type Sums<const HALVES: usize, const ITEMS: usize> = [[[[Complex<f32>; STEPS]; ITEMS]; TARGETS]; HALVES];

/// What a thread sums, for `HALVES` halves of a run and `ITEMS` batch items.
struct Work<W, const HALVES: usize, const ITEMS: usize> {
    waves: W,
    run: Run,
    /// The half, if it is one only.
    only_half: u32,
    target_block: u32,
    targets: [Vector<f32>; TARGETS],
    first_item: u32,
    part: u32,
    /// Two chunks of weights.
    single: Shared<Complex<f32>>,
    /// The same, of two frequencies each.
    pairs: Shared<[f32; 4]>,
}

impl<W: Waves, const HALVES: usize, const ITEMS: usize> Work<W, HALVES, ITEMS> {
    /// Weights of a source.
    const ROW: u32 = (HALVES * ITEMS * STEPS) as u32;

    /// This thread's.
    ///
    /// # Safety
    ///
    /// As [`greens`].
    #[inline(always)]
    unsafe fn new(p: &Greens) -> Self {
        let n_target_blocks = p.n_targets.div_ceil(TARGETS_PER_BLOCK);
        let (tile, target_block) = (
            thread::block_idx_x() / n_target_blocks,
            thread::block_idx_x() % n_target_blocks,
        );
        let (number, only_half) = if HALVES == 2 { (tile, 0) } else { (tile / 2, tile % 2) };
        let run = Run {
            number,
            first: W::first_frequency(p, number),
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
        // SAFETY: the caller's promise; the launch gives the block this memory.
        unsafe {
            Self {
                waves: W::new(p, run, only_half),
                run,
                only_half,
                target_block,
                targets,
                first_item: p.first_item + thread::block_idx_y() * ITEMS as u32,
                part: thread::block_idx_z(),
                single: Shared::new(0, 2 * CHUNK * Self::ROW),
                pairs: Shared::new(0, CHUNK * Self::ROW),
            }
        }
    }

    /// The number of the half that stands at `half`.
    #[inline(always)]
    fn half(&self, half: usize) -> u32 {
        if HALVES == 2 { half as u32 } else { self.only_half }
    }

    /// The weights that this thread brings.
    #[inline(always)]
    fn weights(&self, p: &Greens) -> Weights {
        let element = thread::thread_idx_x() % Self::ROW;
        let half = self.half((element / HALF_RUN) as usize % HALVES);
        let frequency = self.run.frequency(half, element % HALF_RUN);
        let item = self.first_item + element / (HALVES as u32 * HALF_RUN);
        Weights {
            from: p.weights,
            first: u64::from(item) * u64::from(p.n_sources) * u64::from(p.n_frequencies) + u64::from(frequency),
            n_frequencies: p.n_frequencies,
            is_there: frequency < p.n_frequencies && item < p.n_batch,
        }
    }

    /// The sums over the sources from `first` to below `end`; `buffer` is the half of the shared memory that comes next.
    ///
    /// # Safety
    ///
    /// As [`greens`]; all threads of the block make this call.
    #[inline(always)]
    unsafe fn segment(&self, p: &Greens, [first, end]: [u32; 2], buffer: &mut u32) -> Sums<HALVES, ITEMS> {
        let mut sums = [[[[ZERO; STEPS]; ITEMS]; TARGETS]; HALVES];
        let own = self.weights(p);
        // SAFETY: sources that there are; threads of a block go through the loops alike, and a chunk is overwritten after a
        // barrier that follows its last use.
        unsafe {
            let mut weights = own.load(first, end, Self::ROW);
            let mut position = p.sources.load(u64::from(first));
            let mut chunk = first;
            while chunk < end {
                cuda_std::unroll!(PASS in [0, 1, 2, 3] {
                    if (PASS as u32) < CHUNK * Self::ROW / THREADS {
                        let at = *buffer * CHUNK * Self::ROW + thread::thread_idx_x() + PASS as u32 * THREADS;
                        self.single.store(at, weights[PASS]);
                    }
                });
                thread::sync_threads();
                let next = chunk + CHUNK;
                weights = own.load(next, end, Self::ROW);
                let mut row = *buffer * CHUNK * Self::ROW / 2;
                let mut source = chunk;
                while source < end.min(next) {
                    let [x, y, z, _] = position;
                    source += 1;
                    position = p.sources.load(u64::from(source.min(end - 1)));
                    self.add([x, y, z], row, &mut sums);
                    row += Self::ROW / 2;
                }
                *buffer = 1 - *buffer;
                chunk = next;
            }
        }
        sums
    }

    /// Adds the waves of a source whose weights are the pairs from `row` on.
    ///
    /// # Safety
    ///
    /// The weights were written before the last barrier.
    #[inline(always)]
    unsafe fn add(&self, source: Vector<f32>, row: u32, sums: &mut Sums<HALVES, ITEMS>) {
        let mut chains = [[None; TARGETS]; HALVES];
        cuda_std::unroll!(TARGET in [0, 1] {
            let way = difference(self.targets[TARGET], source);
            let (distance, inverse) = dot(way, way).root_and_inverse();
            let from = self.waves.source(distance, inverse);
            cuda_std::unroll!(HALF in [0, 1] {
                if HALF < HALVES {
                    chains[HALF][TARGET] = Some(W::begin(from, self.half(HALF)));
                }
            });
        });
        cuda_std::unroll!(PAIR in [0, 1, 2, 3] {
            cuda_std::unroll!(HALF in [0, 1] {
                if HALF < HALVES {
                    let mut two = [[ZERO; 2]; TARGETS];
                    cuda_std::unroll!(TARGET in [0, 1] {
                        if let Some(chain) = &mut chains[HALF][TARGET] {
                            two[TARGET] = self.waves.two::<PAIR>(chain);
                        }
                    });
                    cuda_std::unroll!(ITEM in [0, 1, 2, 3] {
                        if ITEM < ITEMS {
                            let at = row + ((ITEM * HALVES + HALF) * STEPS / 2 + PAIR) as u32;
                            // SAFETY: one of the source's pairs.
                            let [re, im, next_re, next_im] = unsafe { self.pairs.load(at) };
                            let (weight, next) = (Complex::new(re, im), Complex::new(next_re, next_im));
                            cuda_std::unroll!(TARGET in [0, 1] {
                                let sums = &mut sums[HALF][TARGET][ITEM];
                                sums[2 * PAIR] = multiply_add(sums[2 * PAIR], two[TARGET][0], weight);
                                sums[2 * PAIR + 1] = multiply_add(sums[2 * PAIR + 1], two[TARGET][1], next);
                            });
                        }
                    });
                }
            });
        });
    }

    /// Writes sums, or adds them to what is there.
    ///
    /// # Safety
    ///
    /// As [`greens`].
    #[inline(always)]
    unsafe fn write(&self, p: &Greens, sums: &Sums<HALVES, ITEMS>, is_added: bool) {
        // Found again: places of all results kept through the sum would take more registers than there are.
        let first_target = self.target_block * TARGETS_PER_BLOCK + thread::opaque(thread::thread_idx_x());
        let run = Run {
            number: self.run.number,
            first: thread::opaque(self.run.first),
        };
        cuda_std::unroll!(TARGET in [0, 1] {
            let target = first_target + TARGET as u32 * THREADS;
            cuda_std::unroll!(ITEM in [0, 1, 2, 3] {
                let item = self.first_item + ITEM as u32;
                if ITEM < ITEMS && target < p.n_targets && item < p.n_batch {
                    let item = u64::from(self.part * p.n_output_items + (item - p.first_output_item));
                    let at = (item * u64::from(p.n_targets) + u64::from(target)) * u64::from(p.n_frequencies);
                    cuda_std::unroll!(HALF in [0, 1] {
                        if HALF < HALVES {
                            cuda_std::unroll!(STEP in [0, 1, 2, 3, 4, 5, 6, 7] {
                                let frequency = run.frequency(self.half(HALF), STEP as u32);
                                if frequency >= run.number * 2 * HALF_RUN && frequency < p.n_frequencies {
                                    let sum = sums[HALF][TARGET][ITEM][STEP];
                                    // SAFETY: part, item, target and frequency are in range, and this thread's own.
                                    unsafe { put(p.output, at + u64::from(frequency), sum, is_added) };
                                }
                            });
                        }
                    });
                }
            });
        });
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
    // SAFETY: the caller's promise; all threads go through the loop alike.
    unsafe {
        let work = Work::<W, HALVES, ITEMS>::new(&p);
        let first_source = work.part * p.sources_per_part;
        let end = p.n_sources.min(first_source + p.sources_per_part);
        let (mut buffer, mut segment) = (0, first_source);
        while segment < end {
            let next = end.min(segment + SEGMENT);
            let sums = work.segment(&p, [segment, next], &mut buffer);
            work.write(&p, &sums, segment > first_source);
            segment = next;
        }
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
