//! What is right is not refused, whatever the order of lanes: every way in which accesses are ordered.

use cuda_std::emulator::{Buffer, Options, launch_with};
use cuda_std::{Global, GlobalMut, Kernel, Launch, Parameters, Resources, Shared};
use cuda_std::{atomic, copy, kernels, thread, warp};

const RESOURCES: Resources = Resources {
    registers: 255,
    barriers: 0,
    warp_operations: 0,
    matrix_operations: 0,
};

/// Threads of a block.
const THREADS: u32 = 96;
/// Blocks.
const BLOCKS: u32 = 5;
/// Words that the copies of a thread go through.
const STAGES: u32 = 7;

#[repr(C)]
#[derive(Clone, Copy)]
struct Words {
    input: Global<u32>,
    output: GlobalMut<u32>,
    count: GlobalMut<u32>,
}

// SAFETY: `repr(C)`, addresses and lengths.
unsafe impl Parameters for Words {}

kernels! {
    /// The block's barrier orders writes and reads of shared memory, and reads and later writes.
    rotate_by_barriers(p: Words), threads THREADS, blocks 1, resources RESOURCES, {
        let thread = thread::thread_idx_x();
        let own = u64::from(thread::block_idx_x() * THREADS + thread);
        // SAFETY: under the emulator.
        unsafe {
            let part = Shared::<u32>::new(0, THREADS);
            part.store(thread, p.input.load(own));
            for _ in 0..10 {
                thread::sync_threads();
                // Read by two threads of different warps.
                let value = part.load((thread + 40) % THREADS);
                part.load((thread + 50) % THREADS);
                thread::sync_threads();
                part.store(thread, value);
            }
            p.output.store(own, part.load(thread));
        }
    }

    /// The warp's barrier does within a warp.
    rotate_by_warp_barriers(p: Words), threads THREADS, blocks 1, resources RESOURCES, {
        let (thread, lane) = (thread::thread_idx_x(), thread::lane());
        let own = u64::from(thread::block_idx_x() * THREADS + thread);
        // SAFETY: under the emulator.
        unsafe {
            let part = Shared::<u32>::new(128 * (thread / 32), 32);
            part.store(lane, p.input.load(own));
            for _ in 0..thread / 32 {
                warp::sync_warp();
                let value = part.load((lane + 1) % 32);
                warp::sync_warp();
                part.store(lane, value);
            }
            p.output.store(own, part.load(lane));
        }
    }

    /// The block's barrier orders global memory within a block, and atomic operations with what is none.
    reverse_through_global(p: Words), threads THREADS, blocks 1, resources RESOURCES, {
        let thread = thread::thread_idx_x();
        let first = thread::block_idx_x() * THREADS;
        // SAFETY: under the emulator.
        unsafe {
            let total = Shared::<u32>::new(0, 1);
            if thread == 0 {
                total.store(0, 0);
            }
            p.output.store(u64::from(first + thread), p.input.load(u64::from(first + thread)));
            thread::sync_threads();
            let value = p.output.load(u64::from(first + THREADS - 1 - thread));
            atomic::add(total, 0, 1);
            atomic::add(p.count, 0, 1);
            thread::sync_threads();
            p.output.store(u64::from(first + thread), value + total.load(0) - THREADS);
        }
    }

    /// Copies two stages ahead, into three places in turn.
    sum_of_copies(p: Words), threads THREADS, blocks 1, resources RESOURCES, {
        let thread = thread::thread_idx_x();
        let block = thread::block_idx_x();
        let from = |stage: u32| u64::from((block * STAGES + stage) * THREADS + thread);
        // SAFETY: under the emulator.
        unsafe {
            let part = Shared::<u32>::new(0, 3 * THREADS);
            let place = |stage: u32, thread: u32| stage % 3 * THREADS + thread;
            for stage in 0..2 {
                copy::start::<u32, 4>(part, place(stage, thread), p.input, from(stage));
                copy::commit();
            }
            let mut sum = 0;
            for stage in 0..STAGES {
                copy::wait::<1>();
                thread::sync_threads();
                if stage + 2 < STAGES {
                    copy::start::<u32, 4>(part, place(stage + 2, thread), p.input, from(stage + 2));
                }
                copy::commit();
                sum += part.load(place(stage, THREADS - 1 - thread));
            }
            p.output.store(u64::from(block * THREADS + thread), sum);
        }
    }

    /// Narrow elements beside each other are different threads' own.
    bytes_side_by_side(p: Words), threads THREADS, blocks 1, resources RESOURCES, {
        let thread = thread::thread_idx_x();
        let first = thread::block_idx_x() * THREADS;
        // SAFETY: under the emulator.
        unsafe {
            let bytes = Shared::<u8>::new(0, 4 * THREADS);
            let words = Shared::<u32>::new(0, THREADS);
            for byte in 0..4 {
                bytes.store(byte * THREADS + thread, (p.input.load(u64::from(first + thread)) >> (8 * byte)) as u8);
            }
            thread::sync_threads();
            let word = words.load(thread);
            let halves = p.output.cast::<u16>();
            let half = u64::from(2 * first + thread);
            halves.store(half, word as u16);
            halves.store(half + u64::from(THREADS), (word >> 16) as u16);
        }
    }
}

/// The output for many orders of lanes, which is the same for all.
fn run(kernel: &Kernel<Words>) -> (Vec<u32>, Vec<u32>, u32) {
    let input: Vec<u32> = (0..STAGES * BLOCKS * THREADS)
        .map(|n| n.wrapping_mul(0x9e37_79b9) >> 4)
        .collect();
    let from = Buffer::new(&input);
    let mut outputs = Vec::new();
    for seed in 0..10 {
        let (output, count) = (
            Buffer::filled(u32::MAX, (BLOCKS * THREADS) as usize),
            Buffer::filled(0, 1),
        );
        let words = Words {
            input: from.global(),
            output: output.global_mut(),
            count: count.global_mut(),
        };
        let shape = Launch {
            grid: [BLOCKS, 1, 1],
            threads: THREADS,
            shared_bytes: 12 * THREADS,
        };
        let options = Options {
            seed,
            ..Options::default()
        };
        launch_with(kernel, shape, words, options).unwrap_or_else(|fault| panic!("{fault}"));
        outputs.push((output.to_vec(), count.to_vec()[0]));
    }
    let (output, count) = outputs[0].clone();
    assert!(outputs.iter().all(|other| *other == outputs[0]));
    (input, output, count)
}

fn blocks(words: &[u32]) -> impl Iterator<Item = &[u32]> {
    words.chunks(THREADS as usize)
}

#[test]
fn barriers_of_blocks() {
    let (input, output, _) = run(&rotate_by_barriers);
    for (input, output) in blocks(&input).zip(blocks(&output)) {
        let mut expected = input.to_vec();
        expected.rotate_left(400 % THREADS as usize);
        assert_eq!(output, expected);
    }
}

#[test]
fn barriers_of_warps() {
    let (input, output, _) = run(&rotate_by_warp_barriers);
    for (warp, (input, output)) in input.chunks(32).zip(output.chunks(32)).enumerate() {
        let mut expected = input.to_vec();
        expected.rotate_left(warp % 3);
        assert_eq!(output, expected);
    }
}

#[test]
fn global_memory_and_atomics() {
    let (input, output, count) = run(&reverse_through_global);
    assert_eq!(count, BLOCKS * THREADS);
    for (input, output) in blocks(&input).zip(blocks(&output)) {
        assert!(output.iter().eq(input.iter().rev()));
    }
}

#[test]
fn copies_in_stages() {
    let (input, output, _) = run(&sum_of_copies);
    let mut stages = input.chunks((STAGES * THREADS) as usize);
    for output in blocks(&output) {
        let stages: Vec<&[u32]> = blocks(stages.next().unwrap()).collect();
        for (thread, &sum) in output.iter().enumerate() {
            let expected: u32 = stages.iter().map(|stage| stage[THREADS as usize - 1 - thread]).sum();
            assert_eq!(sum, expected);
        }
    }
}

#[test]
fn narrow_elements() {
    let (input, output, _) = run(&bytes_side_by_side);
    for (input, output) in blocks(&input).zip(blocks(&output)) {
        let bytes: Vec<u8> = (0..4)
            .flat_map(|byte| input.iter().map(move |word| word.to_le_bytes()[byte]))
            .collect();
        let words: Vec<u32> = bytes
            .chunks(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        let halves: Vec<u16> = output
            .iter()
            .flat_map(|&word| [word as u16, (word >> 16) as u16])
            .collect();
        let (low, high) = halves.split_at(THREADS as usize);
        assert!(low.iter().copied().eq(words.iter().map(|&word| word as u16)));
        assert!(high.iter().copied().eq(words.iter().map(|&word| (word >> 16) as u16)));
    }
}
