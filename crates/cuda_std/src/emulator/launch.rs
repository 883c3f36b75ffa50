//! A launch: its shape checked, its blocks spread over the host's threads.

use super::fault::{Fault, FaultKind};
use super::report::{Report, log};
use super::schedule;
use super::tables::{Setting, Tables};
use crate::{Kernel, Launch, Parameters};
use rayon::prelude::*;
use std::panic::Location;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Most blocks of a grid, on any architecture.
const MOST_BLOCKS: [u32; 3] = [0x7fff_ffff, 65_535, 65_535];
/// Most threads of a block.
const MOST_THREADS: u32 = 1024;
/// Most shared memory that a block can have, on `sm_90`: 227 KiB.
const MOST_SHARED_BYTES: u32 = 232_448;

/// What a launch in the emulator may be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Draws the order in which warps and lanes advance; a right kernel's results do not depend on it.
    pub seed: u64,
    /// Operations of this crate that a block may do before it counts as one that never finishes.
    pub operations_per_block: u64,
}

impl Default for Options {
    /// Seed 0 and 2²⁸ operations, several seconds of emulation.
    fn default() -> Self {
        Self {
            seed: 0,
            operations_per_block: 1 << 28,
        }
    }
}

/// Runs a kernel to its end.
///
/// # Errors
///
/// What the launch or the kernel did wrong; of several blocks with a fault, the first one's. Memory that the kernel
/// has written keeps what was written.
#[track_caller]
pub fn launch<P: Parameters>(kernel: &Kernel<P>, launch: Launch, parameters: P) -> Result<Report, Fault> {
    launch_with(kernel, launch, parameters, Options::default())
}

/// As [`launch`], with options.
///
/// # Errors
///
/// As [`launch`].
#[track_caller]
pub fn launch_with<P: Parameters>(
    kernel: &Kernel<P>,
    launch: Launch,
    parameters: P,
    options: Options,
) -> Result<Report, Fault> {
    let started = Instant::now();
    let source = Location::caller();
    let Launch {
        grid,
        threads,
        shared_bytes,
    } = launch;
    let refuse = |kind| Fault {
        kernel: kernel.info.name,
        seed: options.seed,
        place: None,
        kind,
    };
    let blocks = check(kernel.info.threads_per_block, launch).map_err(refuse)?;
    let setting = Setting {
        kernel: kernel.info.name,
        grid,
        threads,
        shared_bytes,
        seed: options.seed,
        operations_per_block: options.operations_per_block,
    };
    let tables = Arc::new(Tables::new());
    // Every block before the first that fails is run, so that the same launch fails in the same way each time.
    let first_failed = AtomicU32::new(u32::MAX);
    let fault: Mutex<Option<(u32, Box<Fault>)>> = Mutex::new(None);
    let entry = kernel.entry();
    (0..blocks).into_par_iter().for_each(|number| {
        if number > first_failed.load(Relaxed) {
            return;
        }
        // SAFETY: the entry is called as a thread of a launch, and what it may touch are the slices of its
        // parameters, which whoever made them answers for.
        let thread = move || unsafe { entry(parameters) };
        if let Err(found) = schedule::run(setting, &tables, number, source, thread) {
            first_failed.fetch_min(number, Relaxed);
            let mut first = fault.lock().unwrap_or_else(PoisonError::into_inner);
            if first.as_ref().is_none_or(|(earlier, _)| number < *earlier) {
                *first = Some((number, found));
            }
        }
    });
    tables.forget_memory();
    if let Some((_, fault)) = fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(*fault);
    }
    let seconds = started.elapsed().as_secs_f64();
    let report = Report::new(
        setting.kernel,
        blocks,
        threads,
        seconds,
        &tables.sites.all(),
        &tables.sums(),
    );
    log(&report).map_err(|message| refuse(FaultKind::System { message }))?;
    Ok(report)
}

/// The number of blocks of a launch that a device would take.
fn check(threads_per_block: u32, launch: Launch) -> Result<u32, FaultKind> {
    let Launch {
        grid,
        threads,
        shared_bytes,
    } = launch;
    let most = MOST_BLOCKS;
    let fits = std::iter::zip(grid, most).all(|(blocks, most)| (1..=most).contains(&blocks));
    let blocks = grid.iter().map(|&blocks| u128::from(blocks)).product::<u128>();
    let blocks = u32::try_from(blocks).ok().filter(|&blocks| fits && blocks < u32::MAX);
    let blocks = blocks.ok_or(FaultKind::Grid { grid, most })?;
    let most = threads_per_block.min(MOST_THREADS);
    if !(1..=most).contains(&threads) {
        return Err(FaultKind::Threads { threads, most });
    }
    if shared_bytes > MOST_SHARED_BYTES {
        return Err(FaultKind::SharedMemory {
            bytes: shared_bytes,
            most: MOST_SHARED_BYTES,
        });
    }
    Ok(blocks)
}
