//! Planted faults: each small kernel does one thing wrong, and is stopped at the right line for the right reason.

use cuda_std::emulator::{Buffer, Fault, FaultKind, Instruction, Options, launch, launch_with};
use cuda_std::half::F16;
use cuda_std::{Global, GlobalMut, Kernel, Launch, Parameters, Resources, Shared};
use cuda_std::{atomic, bulk, copy, kernels, matrix, thread, warp, warpgroup, wmma};

const RESOURCES: Resources = Resources {
    registers: 255,
    barriers: 0,
    warp_operations: 0,
    matrix_operations: 0,
};

/// Elements of each slice.
const LENGTH: usize = 256;

#[repr(C)]
#[derive(Clone, Copy)]
struct Slices {
    input: Global<u32>,
    output: GlobalMut<u32>,
    /// The output's elements, as if the kernel only read them.
    read_only_output: Global<u32>,
    /// Starts at a multiple of 4 bytes that is none of 16.
    wide: Global<[u32; 4]>,
}

// SAFETY: `repr(C)`, addresses and lengths.
unsafe impl Parameters for Slices {}

/// Runs a kernel with 1024 bytes of shared memory a block.
fn run(kernel: &Kernel<Slices>, blocks: u32, threads: u32) -> Result<(), Fault> {
    let numbers: Vec<u32> = (0..LENGTH as u32).collect();
    let input = Buffer::new(&numbers);
    let output = Buffer::filled(0_u32, LENGTH);
    // SAFETY: in the vector; that it is not aligned is the point.
    let wide = unsafe { Global::new(numbers.as_ptr().wrapping_add(1).cast(), LENGTH as u64 / 4 - 1) };
    let slices = Slices {
        input: input.global(),
        output: output.global_mut(),
        read_only_output: output.global(),
        wide,
    };
    let shape = Launch {
        grid: [blocks, 1, 1],
        threads,
        shared_bytes: 1024,
    };
    let options = Options {
        operations_per_block: 100_000,
        ..Options::default()
    };
    launch_with(kernel, shape, slices, options).map(|_| ())
}

/// The fault of a kernel, whose line bears the kernel's name in a comment.
#[track_caller]
fn fault(kernel: &Kernel<Slices>, blocks: u32, threads: u32) -> FaultKind {
    let fault = run(kernel, blocks, threads).expect_err(kernel.info.name);
    println!("{fault}");
    let place = fault.place.expect("the fault has a place");
    assert_eq!(fault.kernel, kernel.info.name);
    assert!(place.thread < threads && place.block[0] < blocks);
    assert_eq!(place.source.file(), file!());
    let line = include_str!("faults.rs").lines().nth(place.source.line() as usize - 1);
    let marker = format!("// {}", kernel.info.name);
    assert!(line.is_some_and(|line| line.ends_with(&marker)), "{fault}");
    run(&well_behaved, 2, 64).expect("a fault leaves nothing behind");
    fault.kind
}

macro_rules! kernels_of_slices {
    ($($(#[$attribute:meta])* $name:ident($p:ident) $body:block)*) => {
        kernels! { $(
            $(#[$attribute])*
            $name($p: Slices), threads 128, blocks 1, resources RESOURCES, {
                // SAFETY: under the emulator, which stops what is not right.
                unsafe { $body }
            }
        )* }
    };
}

kernels_of_slices! {
    /// Does nothing wrong.
    well_behaved(p) {
        let thread = thread::thread_idx_x();
        let shared = Shared::<u32>::new(0, 64);
        shared.store(thread, p.input.load(u64::from(thread)));
        thread::sync_threads();
        let value = warp::shuffle_xor(shared.load(63 - thread), 1);
        atomic::add(p.output, 0, 1);
        p.output.store(u64::from(1 + thread + 64 * thread::block_idx_x()), value);
    }

    /// Reads behind the end.
    load_out_of_bounds(p) {
        let thread = u64::from(thread::thread_idx_x());
        let value = p.input.load(thread + 193); // load_out_of_bounds
        p.output.store(thread, value);
    }

    /// Writes behind the end.
    store_out_of_bounds(p) {
        let thread = u64::from(thread::thread_idx_x());
        p.output.store(thread * 5, 0); // store_out_of_bounds
    }

    /// Takes 16 bytes from an address that is a multiple of 4.
    load_misaligned(p) {
        let _ = p.wide.load(0); // load_misaligned
    }

    /// Cuts a slice behind its end.
    slice_start(p) {
        let _ = p.input.from(257); // slice_start
    }

    /// Takes more shared memory than the launch gives.
    shared_slice(_p) {
        let _ = Shared::<u32>::new(512, 129); // shared_slice
    }

    /// Writes behind the end of a part of shared memory, into another part.
    shared_out_of_bounds(_p) {
        let part = Shared::<u32>::new(0, 63);
        part.store(thread::thread_idx_x(), 0); // shared_out_of_bounds
    }

    /// Puts a part of shared memory where its elements cannot be.
    shared_misaligned(_p) {
        let _ = Shared::<f64>::new(4, 1); // shared_misaligned
    }

    /// Reads what the other half of the block should have written.
    shared_unwritten(p) {
        let thread = thread::thread_idx_x();
        let shared = Shared::<u32>::new(0, 64);
        if thread < 32 {
            shared.store(thread, 1);
        }
        thread::sync_threads();
        let value = shared.load(thread); // shared_unwritten
        p.output.store(u64::from(thread), value);
    }

    /// Two warps write the same word.
    shared_write_write(_p) {
        let thread = thread::thread_idx_x();
        let shared = Shared::<u32>::new(0, 64);
        shared.store(thread % 32, thread); // shared_write_write
    }

    /// Reads what another warp writes, without a barrier between.
    shared_read_after_write(p) {
        let thread = thread::thread_idx_x();
        let shared = Shared::<u32>::new(0, 64);
        shared.store(thread, 0);
        thread::sync_threads();
        if thread < 32 {
            shared.store(thread, 1); // shared_read_after_write
        } else {
            p.output.store(u64::from(thread), shared.load(thread - 32)); // shared_read_after_write
        }
    }

    /// Writes what lanes of the same warp read, without a barrier of the warp between: a shuffle orders no memory.
    shared_write_after_read(p) {
        let thread = thread::thread_idx_x();
        let shared = Shared::<u32>::new(0, 64);
        shared.store(thread, 0);
        warp::sync_warp();
        let value = shared.load(thread ^ 1);
        let value = warp::shuffle(value, 3);
        shared.store(thread, value); // shared_write_after_read
        p.output.store(u64::from(thread), value);
    }

    /// Neighbouring threads of a block write the same element of global memory.
    global_race_in_a_block(p) {
        p.output.store(u64::from(thread::thread_idx_x() / 2), 0); // global_race_in_a_block
    }

    /// All blocks write the same elements of global memory.
    global_race_of_blocks(p) {
        p.output.store(u64::from(thread::thread_idx_x()), 0); // global_race_of_blocks
    }

    /// A block reads what another one writes.
    global_read_of_another_block(p) {
        let block = thread::block_idx_x();
        let thread = u64::from(thread::thread_idx_x());
        if block == 0 {
            p.output.store(thread, 0); // global_read_of_another_block
        } else {
            let value = p.output.load(thread); // global_read_of_another_block
            p.output.store(thread + 64, value);
        }
    }

    /// Reads through a read-only slice what the kernel writes, though after a barrier.
    read_only_written(p) {
        let thread = u64::from(thread::thread_idx_x());
        p.output.store(thread, 0);
        thread::sync_threads();
        let _ = p.read_only_output.load(63 - thread); // read_only_written
    }

    /// An atomic operation and a plain store at the same word.
    atomic_and_store(p) {
        if thread::thread_idx_x().is_multiple_of(2) {
            atomic::add(p.output, 0, 1); // atomic_and_store
        } else {
            p.output.store(0, 1); // atomic_and_store
        }
    }

    /// One block clears what all blocks count: they are not ordered, whatever its own barrier says.
    atomics_on_what_a_block_clears(p) {
        if thread::block_idx_x() == 0 && thread::thread_idx_x() == 0 {
            p.output.store(0, 0);
        }
        thread::sync_threads();
        atomic::add(p.output, 0, 1); // atomics_on_what_a_block_clears
    }

    /// Half of the block is at another barrier.
    #[allow(clippy::if_same_then_else, reason = "that is the fault")]
    barriers_of_two_lines(_p) {
        if thread::thread_idx_x() < 32 {
            thread::sync_threads(); // barriers_of_two_lines
        } else {
            thread::sync_threads(); // barriers_of_two_lines
        }
    }

    /// A thread returns before the barrier.
    barrier_without_all(_p) {
        if thread::thread_idx_x() == 40 {
            return;
        }
        thread::sync_threads(); // barrier_without_all
    }

    /// A lane does not shuffle.
    shuffle_without_all(p) {
        let thread = thread::thread_idx_x();
        if thread != 37 {
            let value = warp::shuffle(thread, 0); // shuffle_without_all
            p.output.store(u64::from(thread), value);
        }
    }

    /// Lanes of a warp are at different collectives.
    shuffle_and_vote(_p) {
        let thread = thread::thread_idx_x();
        if thread % 32 < 16 {
            let _ = warp::shuffle(thread, 0); // shuffle_and_vote
        } else {
            let _ = warp::ballot(thread > 3); // shuffle_and_vote
        }
    }

    /// A lane waits for the block while the others of its warp wait for it.
    shuffle_and_barrier(_p) {
        let thread = thread::thread_idx_x();
        if thread == 5 {
            thread::sync_threads();
        }
        let _ = warp::shuffle(thread, 0); // shuffle_and_barrier
    }

    /// Shuffles in any warp.
    shuffle_in_part(_p) {
        let _ = warp::shuffle(0, 0); // shuffle_in_part
    }

    /// Waits for what no other thread will do.
    never_finishes(p) {
        while p.output.load(0) == 0 {} // never_finishes
    }

    /// Indexes an array of its own out of bounds.
    panics(p) {
        let own = [1_u32, 2, 3];
        let index = p.input.load(u64::from(thread::thread_idx_x())) as usize; // panics
        p.output.store(0, own[index]);
    }

    /// Reads bytes that are on their way.
    copy_read_early(p) {
        let thread = thread::thread_idx_x();
        let shared = Shared::<u32>::new(0, 64);
        copy::start::<u32, 4>(shared, thread, p.input, u64::from(thread));
        copy::commit();
        let value = shared.load(thread); // copy_read_early
        p.output.store(u64::from(thread), value);
    }

    /// Waits for all groups but the last, and reads the last.
    copy_waits_for_too_few(p) {
        let thread = thread::thread_idx_x();
        let shared = Shared::<u32>::new(0, 128);
        copy::start::<u32, 4>(shared, thread, p.input, u64::from(thread));
        copy::commit();
        copy::start::<u32, 4>(shared, 64 + thread, p.input, u64::from(64 + thread));
        copy::commit();
        copy::wait::<1>();
        thread::sync_threads();
        let value = shared.load(127 - thread); // copy_waits_for_too_few
        p.output.store(u64::from(thread), value);
    }

    /// Reads what another thread's copy brought, without a barrier after the wait: a shuffle orders no memory.
    copy_without_barrier(p) {
        let thread = thread::thread_idx_x();
        let shared = Shared::<u32>::new(0, 64);
        copy::start::<u32, 4>(shared, thread, p.input, u64::from(thread));
        copy::commit();
        copy::wait::<0>();
        let _ = warp::shuffle(0, 0);
        let value = shared.load(thread ^ 1); // copy_without_barrier
        p.output.store(u64::from(thread), value);
    }

    /// Starts a copy over what other threads may still be reading.
    copy_over_readers(p) {
        let thread = thread::thread_idx_x();
        let shared = Shared::<u32>::new(0, 64);
        shared.store(thread, 0);
        thread::sync_threads();
        let value = shared.load(63 - thread); // copy_over_readers
        copy::start::<u32, 4>(shared, thread, p.input, u64::from(thread)); // copy_over_readers
        copy::commit();
        copy::wait::<0>();
        p.output.store(u64::from(thread), value);
    }

    /// Writes over the operand of a product that is under way.
    group_operand_overwritten(p) {
        let thread = thread::thread_idx_x();
        let shared = Shared::<[u32; 4]>::new(0, 64);
        if thread < 64 {
            shared.store(thread, [0; 4]);
        }
        warpgroup::publish();
        thread::sync_threads();
        let mut sums = [[0.0; 4]; 8];
        warpgroup::begin();
        warpgroup::multiply([0; 4], shared, warpgroup::Rows::new(0, 0, 0), &mut sums);
        warpgroup::commit();
        thread::sync_threads();
        if thread == 5 {
            shared.store(5, [1; 4]); // group_operand_overwritten
        }
        warpgroup::wait::<0>(); // group_operand_overwritten
        p.output.store(u64::from(thread), sums[0][0].to_bits());
    }

    /// Reads what a run brings without waiting for it.
    bulk_read_early(p) {
        let thread = thread::thread_idx_x();
        let (shared, barriers) = (Shared::<u32>::new(16, 64), Shared::<bulk::Barrier>::new(0, 1));
        if thread == 0 {
            bulk::begin(barriers, 0, 1);
            bulk::expect(barriers, 0, 256);
            bulk::start((shared, 0), (p.input, 0), 64, (barriers, 0));
        }
        thread::sync_threads();
        let value = shared.load(thread); // bulk_read_early
        bulk::wait(barriers, 0, 0);
        p.output.store(u64::from(thread), value);
    }

    /// Waits for more than anybody copies.
    bulk_waits_for_more(p) {
        let thread = thread::thread_idx_x();
        let (shared, barriers) = (Shared::<u32>::new(16, 64), Shared::<bulk::Barrier>::new(0, 1));
        if thread == 0 {
            bulk::begin(barriers, 0, 1);
            bulk::expect(barriers, 0, 256);
            bulk::start((shared, 0), (p.input, 0), 60, (barriers, 0));
        }
        thread::sync_threads();
        bulk::wait(barriers, 0, 0); // bulk_waits_for_more
        p.output.store(u64::from(thread), shared.load(0));
    }

    /// Waits for a use that is not the barrier's last.
    bulk_waits_for_another_use(p) {
        let (thread, barriers) = (thread::thread_idx_x(), Shared::<bulk::Barrier>::new(0, 1));
        if thread == 0 {
            bulk::begin(barriers, 0, 1);
            bulk::expect(barriers, 0, 0);
        }
        thread::sync_threads();
        bulk::wait(barriers, 0, 1); // bulk_waits_for_another_use
        p.output.store(u64::from(thread), 0);
    }

    /// Uses a barrier again for which some have not waited.
    bulk_used_again_early(p) {
        let (thread, barriers) = (thread::thread_idx_x(), Shared::<bulk::Barrier>::new(0, 1));
        if thread == 0 {
            bulk::begin(barriers, 0, 1);
            bulk::expect(barriers, 0, 0);
        }
        thread::sync_threads();
        if thread < 40 {
            bulk::wait(barriers, 0, 0);
        }
        thread::sync_threads();
        if thread == 0 {
            bulk::expect(barriers, 0, 0); // bulk_used_again_early
        }
        p.output.store(u64::from(thread), 0);
    }

    /// Copies for a barrier that nobody has made.
    bulk_without_a_barrier(p) {
        let (thread, barriers) = (thread::thread_idx_x(), Shared::<bulk::Barrier>::new(0, 1));
        if thread == 0 {
            bulk::expect(barriers, 0, 0); // bulk_without_a_barrier
        }
        p.output.store(u64::from(thread), 0);
    }

    /// Copies over what another thread has just read.
    bulk_over_readers(p) {
        let thread = thread::thread_idx_x();
        let (shared, barriers) = (Shared::<u32>::new(16, 64), Shared::<bulk::Barrier>::new(0, 1));
        shared.store(thread, thread);
        if thread == 0 {
            bulk::begin(barriers, 0, 1);
            bulk::expect(barriers, 0, 256);
        }
        thread::sync_threads();
        let value = shared.load(63 - thread); // bulk_over_readers
        if thread == 0 {
            bulk::start((shared, 0), (p.input, 0), 64, (barriers, 0)); // bulk_over_readers
        }
        thread::sync_threads();
        bulk::wait(barriers, 0, 0);
        p.output.store(u64::from(thread), value);
    }

    /// Copies a run that is not made of whole vectors.
    bulk_of_odd_bytes(p) {
        let (shared, barriers) = (Shared::<u32>::new(16, 64), Shared::<bulk::Barrier>::new(0, 1));
        if thread::thread_idx_x() == 0 {
            bulk::begin(barriers, 0, 1);
            bulk::start((shared, 0), (p.input, 0), 7, (barriers, 0)); // bulk_of_odd_bytes
        }
    }

    /// Copies a run from an address that is no multiple of 16.
    bulk_misaligned(p) {
        let (shared, barriers) = (Shared::<u32>::new(16, 64), Shared::<bulk::Barrier>::new(0, 1));
        if thread::thread_idx_x() == 0 {
            bulk::begin(barriers, 0, 1);
            bulk::start((shared, 1), (p.input, 0), 8, (barriers, 0)); // bulk_misaligned
        }
    }

    /// Copies to an address that is no multiple of the copy's bytes.
    copy_misaligned(p) {
        let shared = Shared::<u32>::new(0, 128);
        copy::start::<u32, 16>(shared, 2, p.input, 0); // copy_misaligned
    }

    /// Gives a row that does not start at a multiple of 16 bytes.
    matrix_row_misaligned(_p) {
        let shared = Shared::<F16>::new(0, 512);
        let _: [u32; 1] = matrix::ldmatrix(shared, thread::lane() * 4); // matrix_row_misaligned
    }

    /// Loads a matrix that other lanes have just written.
    matrix_without_warp_barrier(_p) {
        let lane = thread::lane();
        let shared = Shared::<[u32; 4]>::new(thread::thread_idx_x() / 32 * 512, 8);
        if lane < 8 {
            shared.store(lane, [lane; 4]);
        }
        let _: [u32; 1] = matrix::ldmatrix(shared, lane); // matrix_without_warp_barrier
    }

    /// Every lane names a tile of its own.
    tile_not_uniform(_p) {
        let shared = Shared::<F16>::new(0, 512);
        let _ = wmma::Left::<wmma::Rows>::load(shared, thread::lane() / 16 * 16, 16); // tile_not_uniform
    }

    /// Rows that overlap.
    tile_stride(_p) {
        let shared = Shared::<F16>::new(0, 512);
        let _ = wmma::Left::<wmma::Rows>::load(shared, 0, 8); // tile_stride
    }
}

macro_rules! faults {
    ($($name:ident($blocks:literal, $threads:literal): $pattern:pat,)*) => { $(
        #[test]
        fn $name() {
            let kind = fault(&super::$name, $blocks, $threads);
            assert!(matches!(kind, $pattern), "{kind:?}");
        }
    )* };
}

/// One test a kernel: blocks, threads, and what the fault must be.
mod kinds {
    use super::FaultKind::*;
    use super::Instruction as I;
    use super::fault;
    use cuda_std::emulator::Party;

    faults! {
        load_out_of_bounds(1, 64): OutOfBounds { instruction: I::GlobalLoad, index: 256, length: 256 },
        store_out_of_bounds(1, 64): OutOfBounds { instruction: I::GlobalStore, index: 260..=315, length: 256 },
        load_misaligned(1, 64): Misaligned { instruction: I::GlobalLoad, alignment: 16, .. },
        slice_start(1, 64): SliceStart { start: 257, length: 256 },
        shared_slice(1, 64): SharedSlice { offset: 512, end: 1028, available: 1024 },
        shared_out_of_bounds(1, 64): OutOfBounds { instruction: I::SharedStore, index: 63, length: 63 },
        shared_misaligned(1, 64): Misaligned { instruction: I::Slice, address: 4, alignment: 8 },
        shared_unwritten(1, 64): Unwritten { instruction: I::SharedLoad, offset: 128..=255 },
        shared_write_write(1, 64): Race {
            instruction: I::SharedStore, memory: "shared", other: Party { instruction: I::SharedStore, .. }, ..
        },
        shared_read_after_write(1, 64): Race { memory: "shared", .. },
        shared_write_after_read(1, 64): Race {
            instruction: I::SharedStore, memory: "shared", other: Party { instruction: I::SharedLoad, .. }, ..
        },
        global_race_in_a_block(1, 64): Race { instruction: I::GlobalStore, memory: "global", .. },
        global_race_of_blocks(2, 64): Race { instruction: I::GlobalStore, memory: "global", .. },
        global_read_of_another_block(2, 64): Race { memory: "global", .. },
        read_only_written(1, 64): ReadOnly {
            instruction: I::GlobalLoad, other: Party { instruction: I::GlobalStore, .. }, ..
        },
        atomic_and_store(1, 64): Race { memory: "global", .. },
        atomics_on_what_a_block_clears(2, 64): Race { instruction: I::GlobalAtomic, memory: "global", .. },
        barriers_of_two_lines(1, 64): Divergent { instruction: I::Barrier, other_instruction: I::Barrier, .. },
        barrier_without_all(1, 64): Exited { instruction: I::Barrier, other_thread: 40 },
        shuffle_without_all(1, 64): Exited { instruction: I::Shuffle, other_thread: 37 },
        shuffle_and_vote(1, 64): Divergent { instruction: I::Shuffle, other_instruction: I::Vote, .. },
        shuffle_and_barrier(1, 64): Divergent {
            instruction: I::Shuffle, other_thread: 5, other_instruction: I::Barrier, ..
        },
        shuffle_in_part(1, 40): PartialWarp { instruction: I::Shuffle, lanes: 8 },
        never_finishes(1, 64): NeverFinishes { operations: 100_000 },
        panics(1, 64): Panic { .. },
        copy_read_early(1, 64): Pending {
            instruction: I::SharedLoad, other: Party { instruction: I::Copy, .. }, ..
        },
        copy_waits_for_too_few(1, 64): Pending { instruction: I::SharedLoad, offset: 256..=511, .. },
        copy_without_barrier(1, 64): Race {
            instruction: I::SharedLoad, memory: "shared", other: Party { instruction: I::Copy, .. }, ..
        },
        copy_over_readers(1, 64): Pending { .. } | Race { memory: "shared", .. },
        group_operand_overwritten(1, 128): Race { memory: "shared", .. },
        bulk_read_early(1, 64): Pending {
            instruction: I::SharedLoad, other: Party { instruction: I::BulkCopy, thread: 0, .. }, ..
        },
        bulk_waits_for_more(1, 64): Operand { instruction: I::BulkWait, what: "bytes started", value: 240, .. },
        bulk_waits_for_another_use(1, 64): Operand { instruction: I::BulkWait, what: "parity", value: 1, .. },
        bulk_used_again_early(1, 64): Operand { what: "threads that waited", value: 40, .. },
        bulk_without_a_barrier(1, 64): Unwritten { instruction: I::BulkBarrier, offset: 0 },
        bulk_over_readers(1, 64): Pending { .. } | Race { memory: "shared", .. },
        bulk_of_odd_bytes(1, 64): Operand { instruction: I::BulkCopy, what: "bytes", value: 28, .. },
        bulk_misaligned(1, 64): Misaligned { instruction: I::BulkCopy, address: 20, alignment: 16 },
        copy_misaligned(1, 64): Misaligned { instruction: I::Copy, address: 8, alignment: 16 },
        matrix_row_misaligned(1, 64): Misaligned { instruction: I::MatrixLoad, alignment: 16, .. },
        matrix_without_warp_barrier(1, 64): Race {
            instruction: I::MatrixLoad, memory: "shared", other: Party { instruction: I::SharedStore, .. }, ..
        },
        tile_not_uniform(1, 64): NotUniform { instruction: I::MatrixLoad, what: "offset", .. },
        tile_stride(1, 64): Operand { instruction: I::MatrixLoad, what: "stride", value: 8, .. },
    }
}

#[test]
fn a_fault_says_where_and_what_and_with_which_seed() {
    let fault = run(&load_out_of_bounds, 1, 64).unwrap_err();
    let place = fault.place.unwrap();
    let expected = format!(
        "kernel load_out_of_bounds, block [0, 0, 0], thread 63, at {}: a load from global memory at element 256 of a \
         slice of 256 (seed 0)",
        place.source
    );
    assert_eq!(fault.to_string(), expected);
}

#[test]
fn a_panic_keeps_its_message_and_line() {
    let FaultKind::Panic { message } = run(&panics, 1, 64).unwrap_err().kind else {
        panic!("another fault");
    };
    assert!(message.contains("the len is 3 but the index is"), "{message}");
    assert!(message.contains(file!()), "{message}");
}

#[test]
fn of_several_faults_the_first_blocks_is_reported_each_time() {
    for _ in 0..20 {
        let place = run(&load_out_of_bounds, 50, 64).unwrap_err().place.unwrap();
        assert_eq!(place.block, [0, 0, 0]);
    }
}

#[test]
fn the_seed_decides_which_lane_is_caught() {
    let thread = |seed| {
        let output = Buffer::filled(0_u32, 1);
        let slices = Slices {
            input: Global::empty(),
            output: output.global_mut(),
            read_only_output: Global::empty(),
            wide: Global::empty(),
        };
        let shape = Launch {
            grid: [1, 1, 1],
            threads: 64,
            shared_bytes: 0,
        };
        let options = Options {
            seed,
            ..Options::default()
        };
        let fault = launch_with(&load_out_of_bounds, shape, slices, options).unwrap_err();
        assert!(fault.to_string().ends_with(&format!("(seed {seed})")));
        fault.place.unwrap().thread
    };
    let first: Vec<u32> = (0..20).map(thread).collect();
    assert_eq!(first, (0..20).map(thread).collect::<Vec<_>>());
    assert!(first.iter().any(|&thread| thread != first[0]), "{first:?}");
}

#[test]
fn launches_that_no_device_takes() {
    let input = Buffer::filled(0_u32, LENGTH);
    let slices = Slices {
        input: input.global(),
        output: input.global_mut(),
        read_only_output: input.global(),
        wide: Global::empty(),
    };
    let shape = |grid, threads, shared_bytes| {
        let shape = Launch {
            grid,
            threads,
            shared_bytes,
        };
        let fault = launch(&well_behaved, shape, slices).unwrap_err();
        println!("{fault}");
        assert_eq!(fault.place, None);
        fault.kind
    };
    let grid = |kind| matches!(kind, FaultKind::Grid { .. });
    assert!(grid(shape([0, 1, 1], 64, 0)));
    assert!(grid(shape([1, 65_536, 1], 64, 0)));
    assert!(grid(shape([1, 1, u32::MAX], 64, 0)));
    assert!(grid(shape([0x7fff_ffff, 65_535, 65_535], 64, 0)));
    let most = 128;
    assert_eq!(shape([1; 3], 0, 0), FaultKind::Threads { threads: 0, most });
    assert_eq!(shape([1; 3], 129, 0), FaultKind::Threads { threads: 129, most });
    let most = 232_448;
    assert_eq!(
        shape([1; 3], 64, 232_449),
        FaultKind::SharedMemory { bytes: 232_449, most }
    );
}
