//! Traffic, held against what the hardware's rules give for access patterns that can be counted by hand.

use cuda_std::emulator::{Buffer, Instruction, Report, Traffic, launch};
use cuda_std::{Element, Global, Kernel, Launch, Parameters, Resources, Shared, copy, kernels, matrix, thread, warp};

const RESOURCES: Resources = Resources {
    registers: 255,
    barriers: 0,
    warp_operations: 0,
    matrix_operations: 0,
};

#[repr(C)]
#[derive(Clone, Copy)]
struct Pattern<T> {
    input: Global<T>,
    /// Elements from lane to lane.
    stride: u32,
    /// The first lane's element.
    start: u32,
    /// How often.
    repeats: u32,
}

// SAFETY: `repr(C)`, an address and numbers.
unsafe impl<T: Element> Parameters for Pattern<T> {}

unsafe fn load<T: Element>(p: Pattern<T>) {
    for _ in 0..p.repeats {
        // SAFETY: under the emulator.
        unsafe { p.input.load(u64::from(p.start + thread::lane() * p.stride)) };
    }
}

unsafe fn store_and_load_shared<T: Element>(p: Pattern<T>) {
    // SAFETY: under the emulator.
    unsafe {
        let part = Shared::<T>::new(0, 32 * p.stride);
        part.store(thread::lane() * p.stride, p.input.load(0));
        part.load(thread::lane() * p.stride);
    }
}

kernels! {
    /// Loads 4 bytes a lane.
    load_4(p: Pattern<u32>), threads 32, blocks 1, resources RESOURCES, {
        // SAFETY: under the emulator.
        unsafe { load(p) }
    }

    /// Loads 16 bytes a lane.
    load_16(p: Pattern<[u32; 4]>), threads 32, blocks 1, resources RESOURCES, {
        // SAFETY: under the emulator.
        unsafe { load(p) }
    }

    /// Stores and loads 2 bytes a lane.
    shared_2(p: Pattern<u16>), threads 32, blocks 1, resources RESOURCES, {
        // SAFETY: under the emulator.
        unsafe { store_and_load_shared(p) }
    }

    /// Stores and loads 4 bytes a lane.
    shared_4(p: Pattern<u32>), threads 32, blocks 1, resources RESOURCES, {
        // SAFETY: under the emulator.
        unsafe { store_and_load_shared(p) }
    }

    /// Stores and loads 8 bytes a lane.
    shared_8(p: Pattern<u64>), threads 32, blocks 1, resources RESOURCES, {
        // SAFETY: under the emulator.
        unsafe { store_and_load_shared(p) }
    }

    /// Stores and loads 16 bytes a lane.
    shared_16(p: Pattern<[u32; 4]>), threads 32, blocks 1, resources RESOURCES, {
        // SAFETY: under the emulator.
        unsafe { store_and_load_shared(p) }
    }

    /// Every second lane loads once, all lanes load in rounds with a vote between.
    load_in_branches(p: Pattern<u32>), threads 32, blocks 1, resources RESOURCES, {
        let lane = thread::lane();
        // SAFETY: under the emulator.
        unsafe {
            if lane.is_multiple_of(2) {
                p.input.load(u64::from(lane));
            }
            for round in 0..2 {
                // The lanes' numbers of loads differ before the vote, and are together again behind it.
                for _ in 0..=lane % 2 {
                    p.input.load(u64::from(32 * round + lane));
                }
                warp::any(round == 0);
            }
        }
    }

    /// Loads four matrices whose rows are `stride` pieces of 16 bytes apart.
    rows(p: Pattern<[u32; 4]>), threads 32, blocks 1, resources RESOURCES, {
        let lane = thread::lane();
        // SAFETY: under the emulator.
        unsafe {
            let part = Shared::<[u32; 4]>::new(0, 32 * p.stride);
            part.store(lane * p.stride, p.input.load(0));
            warp::sync_warp();
            let _: [u32; 4] = matrix::ldmatrix(part, lane * p.stride);
        }
    }

    /// Copies 16 bytes a lane, to rows of 128 bytes with `start` pieces of 16 bytes between them.
    copies(p: Pattern<[u32; 4]>), threads 32, blocks 1, resources RESOURCES, {
        let lane = thread::lane();
        // SAFETY: under the emulator.
        unsafe {
            let part = Shared::<[u32; 4]>::new(0, 64);
            copy::start::<[u32; 4], 16>(part, lane + lane / 8 * p.start, p.input, u64::from(lane * p.stride));
            copy::commit();
            copy::wait::<0>();
        }
    }

    /// Copies 16 bytes a lane, to rows of 128 bytes in which another two pieces change places each.
    copies_exchanged(p: Pattern<[u32; 4]>), threads 32, blocks 1, resources RESOURCES, {
        let lane = thread::lane();
        // SAFETY: under the emulator.
        unsafe {
            let part = Shared::<[u32; 4]>::new(0, 32);
            copy::start::<[u32; 4], 16>(part, lane ^ (lane / 8), p.input, u64::from(lane * p.stride));
            copy::commit();
            copy::wait::<0>();
        }
    }
}

fn run<T: Element + Default>(kernel: &Kernel<Pattern<T>>, stride: u32, start: u32, repeats: u32) -> Report {
    let input = Buffer::filled(T::default(), 2048);
    let pattern = Pattern {
        input: input.global(),
        stride,
        start,
        repeats,
    };
    let shape = Launch {
        grid: [1, 1, 1],
        threads: 32,
        shared_bytes: 65_536,
    };
    launch(kernel, shape, pattern).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Sectors and bytes of one load by a warp.
fn global<T: Element + Default>(kernel: &Kernel<Pattern<T>>, stride: u32, start: u32) -> (u64, u64) {
    let Traffic {
        executions,
        requests,
        sectors,
        bytes,
        bank_conflicts,
    } = run(kernel, stride, start, 1).traffic(Instruction::GlobalLoad);
    assert_eq!((executions, requests, bank_conflicts), (32, 1, 0));
    (sectors, bytes)
}

/// Bank conflicts and bytes of one store, and of one load, by a warp.
fn shared<T: Element + Default>(kernel: &Kernel<Pattern<T>>, stride: u32) -> (u64, u64) {
    let report = run(kernel, stride, 0, 1);
    let (store, load) = (
        report.traffic(Instruction::SharedStore),
        report.traffic(Instruction::SharedLoad),
    );
    assert_eq!(store, load);
    assert_eq!((load.executions, load.requests, load.sectors), (32, 1, 0));
    (load.bank_conflicts, load.bytes)
}

#[test]
fn sectors_of_32_bytes() {
    assert_eq!(global(&load_4, 1, 0), (4, 128));
    assert_eq!(global(&load_4, 1, 3), (5, 128));
    assert_eq!(global(&load_4, 2, 0), (8, 128));
    assert_eq!(global(&load_4, 8, 0), (32, 128));
    assert_eq!(global(&load_4, 0, 5), (1, 4));
    assert_eq!(global(&load_16, 1, 0), (16, 512));
    assert_eq!(global(&load_16, 1, 1), (17, 512));
    assert_eq!(global(&load_16, 2, 1), (32, 512));
}

#[test]
fn payload_efficiency() {
    let traffic = run(&load_4, 2, 0, 3).traffic(Instruction::GlobalLoad);
    assert!((traffic.bytes_per_sector() - 16.0).abs() < 1e-12);
    assert!((traffic.sectors_per_request() - 8.0).abs() < 1e-12);
}

#[test]
fn banks_of_4_bytes() {
    // Two halves of a word are one word.
    assert_eq!(shared(&shared_2, 1), (0, 64));
    assert_eq!(shared(&shared_4, 1), (0, 128));
    assert_eq!(shared(&shared_4, 2), (1, 128));
    assert_eq!(shared(&shared_4, 32), (31, 128));
    assert_eq!(shared(&shared_4, 33), (0, 128));
    // A half of the warp at a time.
    assert_eq!(shared(&shared_8, 1), (0, 256));
    assert_eq!(shared(&shared_8, 2), (2, 256));
    // A quarter at a time; rows of 128 bytes put all of them into the same banks.
    assert_eq!(shared(&shared_16, 1), (0, 512));
    assert_eq!(shared(&shared_16, 8), (4 * 7, 512));
    assert_eq!(shared(&shared_16, 9), (0, 512));
}

#[test]
fn matrix_rows_and_copies() {
    let conflicts = |stride| {
        let traffic = run(&rows, stride, 0, 1).traffic(Instruction::MatrixLoad);
        assert_eq!((traffic.requests, traffic.bytes), (1, 512));
        traffic.bank_conflicts
    };
    assert_eq!([conflicts(1), conflicts(8), conflicts(9)], [0, 4 * 7, 0]);
}

/// As an H200 counts them.
#[test]
fn sectors_of_copies_end_where_those_of_shared_memory_do() {
    let sectors = |kernel, stride, gap| {
        let traffic = run(kernel, stride, gap, 1).traffic(Instruction::Copy);
        assert_eq!((traffic.requests, traffic.bytes), (1, 512));
        traffic.sectors
    };
    assert_eq!([sectors(&copies, 1, 0), sectors(&copies, 2, 0)], [16, 32]);
    assert_eq!([sectors(&copies, 1, 1), sectors(&copies, 1, 2)], [24, 16]);
    assert_eq!(sectors(&copies_exchanged, 1, 0), 16);
}

#[test]
fn requests_are_put_together_by_line_and_occurrence() {
    let report = run(&load_in_branches, 0, 0, 1);
    let loads: Vec<Traffic> = report
        .sites
        .iter()
        .filter(|site| site.instruction == Instruction::GlobalLoad)
        .map(|site| site.traffic)
        .collect();
    // 16 lanes in one request; then in each round one request of all lanes, and one of the odd lanes.
    assert_eq!((loads[0].executions, loads[0].requests, loads[0].sectors), (16, 1, 4));
    assert_eq!((loads[1].executions, loads[1].requests, loads[1].sectors), (96, 4, 16));
    assert_eq!(loads.len(), 2);
}

#[test]
fn long_loops_between_meetings() {
    // Longer than what is remembered of a lane: it pauses, and the others catch up.
    let traffic = run(&load_4, 1, 0, 10_000).traffic(Instruction::GlobalLoad);
    assert_eq!((traffic.executions, traffic.requests), (320_000, 10_000));
    assert_eq!((traffic.sectors, traffic.bytes), (40_000, 1_280_000));
}
