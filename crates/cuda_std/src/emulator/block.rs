//! A block: its memory, its clock, its lanes' places, and what they have done; `schedule` runs it.

use super::bulk::Barriers;
use super::collective::Operation;
use super::copy::Copies;
use super::counters::Counters;
use super::fault::{Fault, FaultKind, Party, Place};
use super::lane::Source;
use super::marks::Marks;
use super::race::{Mark, Who};
use super::random::Random;
use super::site::{Site, SiteCache};
use super::tables::{Setting, Tables};
use super::warpgroup::Products;
use super::{Instruction, race};
use corosensei::Yielder;
use corosensei::stack::DefaultStack;
use std::ptr;
use std::sync::Arc;

/// Lanes of a warp.
pub(super) const WARP: usize = 32;
/// Registers that a lane brings to a collective.
pub(super) const REGISTERS: usize = 24;

/// Where a lane is while it does not run.
#[derive(Clone, Copy)]
pub(super) enum State {
    /// Before its first instruction, or behind a collective.
    Ready,
    /// Waiting for the warp to catch up, anywhere.
    InBetween,
    /// At a collective.
    At(Operation, Source),
    /// Returned.
    Done,
}

/// A thread of the block.
pub(super) struct Lane {
    pub(super) state: State,
    pub(super) yielder: *const Yielder<(), ()>,
    pub(super) copies: Copies,
    pub(super) products: Products,
}

/// The events that order accesses.
#[derive(Default)]
pub(super) struct Clock {
    now: u32,
    pub(super) block_start: u32,
    block_barrier: u32,
    warp_barriers: Vec<u32>,
}

/// What a worker needs to run blocks, one after the other.
pub(super) struct Block {
    pub(super) setting: Setting,
    pub(super) tables: Arc<Tables>,
    pub(super) number: u32,
    pub(super) index: [u32; 3],
    /// The lane that runs.
    pub(super) thread: u32,
    /// The line it is at.
    pub(super) source: Source,
    operations: u64,
    pause: bool,
    pub(super) fault: Option<Box<Fault>>,
    pub(super) lanes: Vec<Lane>,
    pub(super) registers: Vec<[u32; REGISTERS]>,
    pub(super) clock: Clock,
    pub(super) barriers: Barriers,
    /// The block's shared memory, in words of its widest access.
    pub(super) shared: Vec<u128>,
    pub(super) shared_marks: Marks,
    pub(super) global_marks: Marks,
    sites: SiteCache,
    pub(super) counters: Counters,
    pub(super) random: Random,
    pub(super) stacks: Vec<DefaultStack>,
}

impl Block {
    pub(super) fn new(setting: Setting, tables: &Arc<Tables>, source: Source) -> Box<Self> {
        Box::new(Self {
            setting,
            tables: Arc::clone(tables),
            number: 0,
            index: [0; 3],
            thread: 0,
            source,
            operations: 0,
            pause: false,
            fault: None,
            lanes: Vec::new(),
            registers: Vec::new(),
            clock: Clock::default(),
            barriers: Barriers::default(),
            shared: Vec::new(),
            shared_marks: Marks::new(),
            global_marks: Marks::new(),
            sites: SiteCache::new(),
            counters: Counters::default(),
            random: Random::new(0, 0),
            stacks: Vec::new(),
        })
    }

    pub(super) fn start(&mut self, setting: Setting, tables: &Arc<Tables>, number: u32, source: Source) {
        if !Arc::ptr_eq(&self.tables, tables) {
            self.tables = Arc::clone(tables);
            self.sites.clear();
        }
        self.setting = setting;
        self.number = number;
        self.index = setting.block(number);
        self.source = source;
        self.operations = 0;
        self.pause = false;
        self.fault = None;
        let threads = setting.threads as usize;
        self.lanes.clear();
        self.lanes.resize_with(threads, || Lane {
            state: State::Ready,
            yielder: ptr::null(),
            copies: Copies::default(),
            products: Products::default(),
        });
        self.barriers = Barriers::default();
        self.registers.resize(threads, [0; REGISTERS]);
        self.shared.resize(setting.shared_bytes.div_ceil(16) as usize, 0);
        // A block adds less than a quarter of what the clock can count.
        let time_starts_again = self.clock.now > u32::MAX / 2;
        self.shared_marks.start_block(time_starts_again);
        self.global_marks.start_block(time_starts_again);
        let now = if time_starts_again { 1 } else { self.clock.now + 1 };
        self.clock.now = now;
        self.clock.block_start = now;
        self.clock.block_barrier = now;
        self.clock.warp_barriers.clear();
        self.clock.warp_barriers.resize(threads.div_ceil(WARP), now);
        self.random = Random::new(setting.seed, number);
    }

    pub(super) fn count_meeting(&mut self, operation: Operation, source: Source, executions: u64, requests: u64) {
        let site = self.site(source, operation.instruction(), 0);
        self.counters.execute(site, executions, requests);
    }

    /// The number of a line.
    #[inline]
    pub(super) fn site(&mut self, source: Source, instruction: Instruction, bytes: u32) -> u16 {
        self.sites.number(
            &self.tables.sites,
            Site {
                source,
                instruction,
                bytes,
            },
        )
    }

    /// Counts an access of the running lane.
    #[inline]
    pub(super) fn count_access(&mut self, site: u16, instruction: Instruction, bytes: u32, address: u64) {
        let site_of = Site {
            source: self.source,
            instruction,
            bytes,
        };
        let lane = self.thread as usize % WARP;
        self.pause |= self.counters.access(site, &site_of, lane, address);
    }

    /// The counters' sum of a line, for what is put together by the collective itself.
    pub(super) fn sum_mut(&mut self, site: u16) -> &mut super::Traffic {
        self.counters.execute(site, 0, 0)
    }

    /// Counts an operation that neither moves data nor meets others.
    pub(super) fn count_plain(&mut self, site: u16) {
        self.counters.execute(site, 1, 0);
    }

    #[inline]
    pub(super) fn count_operation(&mut self, source: Source) -> Result<(), Box<FaultKind>> {
        self.source = source;
        self.operations += 1;
        if self.operations > self.setting.operations_per_block {
            return Err(Box::new(FaultKind::NeverFinishes {
                operations: self.setting.operations_per_block,
            }));
        }
        Ok(())
    }

    #[inline]
    pub(super) fn lane_should_pause(&mut self) -> bool {
        std::mem::take(&mut self.pause)
    }

    pub(super) fn lane_mut(&mut self) -> &mut Lane {
        &mut self.lanes[self.thread as usize]
    }

    pub(super) fn registers_mut(&mut self) -> &mut [u32; REGISTERS] {
        &mut self.registers[self.thread as usize]
    }

    /// A thread's access at this time.
    #[inline]
    pub(super) fn who(&self, thread: u32, site: u16) -> Who {
        Who {
            thread: thread as u16,
            site,
            now: self.clock.now,
            block_start: self.clock.block_start,
            block_barrier: self.clock.block_barrier,
            warp_barrier: self.clock.warp_barriers[thread as usize / WARP],
        }
    }

    /// The block's barrier: accesses before it are ordered before those behind it.
    pub(super) fn block_barrier(&mut self) {
        self.clock.now += 1;
        self.clock.block_barrier = self.clock.now;
        self.clock.warp_barriers.fill(self.clock.now);
    }

    /// A warp's barrier: accesses before it are ordered before those behind it.
    pub(super) fn warp_barrier(&mut self, warp: usize) {
        self.clock.now += 1;
        self.clock.warp_barriers[warp] = self.clock.now;
    }

    /// What a conflict of marks means to whoever made the kernel.
    #[cold]
    pub(super) fn conflict(
        &self,
        instruction: Instruction,
        memory: &'static str,
        address: u64,
        (conflict, mark): (race::Conflict, Mark),
    ) -> FaultKind {
        let offset = address as u32;
        if conflict == race::Conflict::Unwritten {
            return FaultKind::Unwritten { instruction, offset };
        }
        let site = self.tables.sites.site(mark.site);
        let other = Party {
            block: self.index,
            thread: u32::from(mark.owner()),
            instruction: site.instruction,
            source: site.source,
        };
        match conflict {
            race::Conflict::Pending => FaultKind::Pending {
                instruction,
                offset,
                other,
            },
            race::Conflict::ReadOnly => FaultKind::ReadOnly {
                instruction,
                address,
                other,
            },
            _ => FaultKind::Race {
                instruction,
                memory,
                address,
                other,
            },
        }
    }

    /// Notes the running lane's fault.
    pub(super) fn fail(&mut self, kind: FaultKind) {
        self.fault = Some(Box::new(self.fault(self.thread, self.source, kind)));
    }

    pub(super) fn fault(&self, thread: u32, source: Source, kind: FaultKind) -> Fault {
        let place = Place {
            block: self.index,
            thread,
            source,
        };
        Fault {
            place: Some(place),
            ..self.fault_without_place(kind)
        }
    }

    pub(super) fn fault_without_place(&self, kind: FaultKind) -> Fault {
        Fault {
            kernel: self.setting.kernel,
            seed: self.setting.seed,
            place: None,
            kind,
        }
    }
}
