//! A block: its lanes are coroutines that advance warp by warp until they meet.

use super::collective::Operation;
use super::copy::Copies;
use super::counters::Counters;
use super::fault::{Fault, FaultKind, Party, Place};
use super::lane::{Source, install_panic_hook, take_panic, while_current, with};
use super::race::{Mark, Marks, Who};
use super::site::{Site, SiteCache};
use super::tables::{Setting, Tables};
use super::{Instruction, race};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

/// Lanes of a warp.
pub(super) const WARP: usize = 32;
/// Registers that a lane brings to a collective.
pub(super) const REGISTERS: usize = 24;
/// Bytes of a lane's stack; only what is touched takes memory.
const STACK_BYTES: usize = 256 * 1024;

type LaneCoroutine = Coroutine<(), (), (), DefaultStack>;

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
}

/// The events that order accesses.
#[derive(Default)]
struct Clock {
    now: u32,
    block_start: u32,
    block_barrier: u32,
    warp_barriers: Vec<u32>,
}

/// What a worker needs to run blocks, one after the other.
pub(super) struct Block {
    pub(super) setting: Setting,
    pub(super) tables: Arc<Tables>,
    number: u32,
    pub(super) index: [u32; 3],
    /// The lane that runs.
    pub(super) thread: u32,
    /// The line it is at.
    source: Source,
    operations: u64,
    pause: bool,
    fault: Option<Box<Fault>>,
    lanes: Vec<Lane>,
    pub(super) registers: Vec<[u32; REGISTERS]>,
    clock: Clock,
    /// The block's shared memory, in words of its widest access.
    pub(super) shared: Vec<u128>,
    pub(super) shared_marks: Marks,
    pub(super) global_marks: Marks,
    sites: SiteCache,
    counters: Counters,
    random: Random,
    stacks: Vec<DefaultStack>,
}

thread_local! {
    /// Stacks, marks and tables that the next block on this thread of the host takes over.
    static IDLE: RefCell<Option<Box<Block>>> = const { RefCell::new(None) };
}

/// Runs one block of a launch.
pub(super) fn run(
    setting: Setting,
    tables: &Arc<Tables>,
    number: u32,
    source: Source,
    entry: impl Fn() + Copy + 'static,
) -> Result<(), Box<Fault>> {
    install_panic_hook();
    let mut block = IDLE.take().unwrap_or_else(|| Block::new(setting, tables, source));
    block.start(setting, tables, number, source);
    let result = block.run(entry);
    block.counters.gather(0);
    if result.is_ok() {
        tables.add(&block.counters.sums);
    }
    block.counters.clear();
    IDLE.set(Some(block));
    result
}

impl Block {
    fn new(setting: Setting, tables: &Arc<Tables>, source: Source) -> Box<Self> {
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
            shared: Vec::new(),
            shared_marks: Marks::new(),
            global_marks: Marks::new(),
            sites: SiteCache::new(),
            counters: Counters::default(),
            random: Random(0),
            stacks: Vec::new(),
        })
    }

    fn start(&mut self, setting: Setting, tables: &Arc<Tables>, number: u32, source: Source) {
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
        });
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

    fn run(&mut self, entry: impl Fn() + Copy + 'static) -> Result<(), Box<Fault>> {
        let mut coroutines = Vec::with_capacity(self.lanes.len());
        for _ in 0..self.lanes.len() {
            let stack = match self.stacks.pop() {
                Some(stack) => stack,
                None => DefaultStack::new(STACK_BYTES).map_err(|error| {
                    self.fault_without_place(FaultKind::System {
                        message: format!("no stack for a thread: {error}"),
                    })
                })?,
            };
            coroutines.push(LaneCoroutine::with_stack(stack, move |yielder, ()| {
                with(|block| block.lane_mut().yielder = ptr::from_ref(yielder));
                entry();
            }));
        }
        let result = self.advance(&mut coroutines);
        for mut coroutine in coroutines {
            coroutine.force_unwind();
            self.stacks.push(coroutine.into_stack());
        }
        result?;
        let Self { tables, clock, .. } = self;
        tables
            .merge(self.number, clock.block_start, &self.global_marks)
            .map_err(|conflict| {
                let other = Party {
                    block: self.setting.block(conflict.other.block()),
                    thread: conflict.other.thread(),
                    instruction: self.tables.instruction(conflict.other.site),
                    source: self.tables.sites.site(conflict.other.site).source,
                };
                let mine = self.tables.sites.site(conflict.mine.site);
                let kind = FaultKind::Race {
                    instruction: mine.instruction,
                    memory: "global",
                    address: conflict.address,
                    other,
                };
                self.fault(u32::from(conflict.mine.owner()), mine.source, kind)
            })
    }

    /// Runs all lanes to their end.
    fn advance(&mut self, coroutines: &mut [LaneCoroutine]) -> Result<(), Box<Fault>> {
        let mut warps: Vec<usize> = (0..coroutines.len().div_ceil(WARP)).collect();
        loop {
            self.random.shuffle(&mut warps);
            for &warp in &warps {
                self.advance_warp(warp, coroutines)?;
            }
            let Some((operation, source)) = self.meeting(0, 0..self.lanes.len())? else {
                return Ok(());
            };
            self.count_meeting(operation, source, self.lanes.len() as u64, warps.len() as u64);
            self.clock.now += 1;
            self.clock.block_barrier = self.clock.now;
            self.clock.warp_barriers.fill(self.clock.now);
            self.release(0..self.lanes.len());
        }
    }

    /// Runs a warp until all its lanes are at the block's barrier or at their end.
    fn advance_warp(&mut self, warp: usize, coroutines: &mut [LaneCoroutine]) -> Result<(), Box<Fault>> {
        let first = warp * WARP;
        let end = self.lanes.len().min(first + WARP);
        let mut order = [0_usize; WARP];
        for (lane, slot) in order.iter_mut().enumerate() {
            *slot = first + lane;
        }
        let order = &mut order[..end - first];
        loop {
            self.random.shuffle(order);
            let mut in_between = 0_u32;
            for &thread in &*order {
                if matches!(self.lanes[thread].state, State::Ready | State::InBetween) {
                    self.resume(thread, &mut coroutines[thread])?;
                }
                if matches!(self.lanes[thread].state, State::InBetween) {
                    in_between |= 1 << (thread - first);
                }
            }
            self.counters.gather(in_between);
            if in_between != 0 {
                continue;
            }
            let waits = |lane: &Lane| matches!(lane.state, State::At(operation, _) if operation != Operation::Barrier);
            let Some(waiting) = self.lanes[first..end].iter().position(waits) else {
                return Ok(());
            };
            let Some((operation, source)) = self.meeting(first + waiting, first..end)? else {
                return Ok(());
            };
            if end - first < WARP {
                let kind = FaultKind::PartialWarp {
                    instruction: operation.instruction(),
                    lanes: (end - first) as u32,
                };
                return Err(self.fault((first + waiting) as u32, source, kind));
            }
            self.count_meeting(operation, source, WARP as u64, 1);
            self.perform(first, operation, source)?;
            self.release(first..end);
        }
    }

    fn resume(&mut self, thread: usize, coroutine: &mut LaneCoroutine) -> Result<(), Box<Fault>> {
        self.thread = thread as u32;
        if let State::At(_, source) = self.lanes[thread].state {
            self.source = source;
        }
        let result = while_current(self, || catch_unwind(AssertUnwindSafe(|| coroutine.resume(()))));
        match result {
            Ok(CoroutineResult::Yield(())) => {}
            Ok(CoroutineResult::Return(())) => self.lanes[thread].state = State::Done,
            Err(_) => self.fail(FaultKind::Panic { message: take_panic() }),
        }
        self.fault.take().map_or(Ok(()), Err)
    }

    /// The collective at which all of these lanes wait, nothing if all have returned.
    fn meeting(
        &self,
        mut reference: usize,
        lanes: std::ops::Range<usize>,
    ) -> Result<Option<(Operation, Source)>, Box<Fault>> {
        let waits = |lane: &usize| matches!(self.lanes[*lane].state, State::At(..));
        if !waits(&reference) {
            match lanes.clone().find(waits) {
                Some(lane) => reference = lane,
                None => return Ok(None),
            }
        }
        let State::At(operation, source) = self.lanes[reference].state else {
            return Ok(None);
        };
        for other in lanes {
            let instruction = operation.instruction();
            let other_thread = other as u32;
            let kind = match self.lanes[other].state {
                State::At(there, line) if there == operation && (ptr::eq(line, source) || line == source) => continue,
                State::At(there, line) => FaultKind::Divergent {
                    instruction,
                    other_thread,
                    other_instruction: there.instruction(),
                    other_source: line,
                },
                _ => FaultKind::Exited {
                    instruction,
                    other_thread,
                },
            };
            return Err(self.fault(reference as u32, source, kind));
        }
        Ok(Some((operation, source)))
    }

    fn release(&mut self, lanes: std::ops::Range<usize>) {
        for lane in &mut self.lanes[lanes] {
            lane.state = State::Ready;
        }
    }

    fn count_meeting(&mut self, operation: Operation, source: Source, executions: u64, requests: u64) {
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
    ) -> Box<FaultKind> {
        let offset = address as u32;
        if conflict == race::Conflict::Unwritten {
            return Box::new(FaultKind::Unwritten { instruction, offset });
        }
        let site = self.tables.sites.site(mark.site);
        let other = Party {
            block: self.index,
            thread: u32::from(mark.owner()),
            instruction: site.instruction,
            source: site.source,
        };
        Box::new(match conflict {
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
        })
    }

    /// Notes the running lane's fault.
    pub(super) fn fail(&mut self, kind: FaultKind) {
        self.fault = Some(self.fault(self.thread, self.source, kind));
    }

    pub(super) fn fault(&self, thread: u32, source: Source, kind: FaultKind) -> Box<Fault> {
        let place = Place {
            block: self.index,
            thread,
            source,
        };
        Box::new(Fault {
            place: Some(place),
            ..*self.fault_without_place(kind)
        })
    }

    fn fault_without_place(&self, kind: FaultKind) -> Box<Fault> {
        Box::new(Fault {
            kernel: self.setting.kernel,
            seed: self.setting.seed,
            place: None,
            kind,
        })
    }
}

/// A small generator of lane orders.
struct Random(u64);

impl Random {
    fn new(seed: u64, number: u32) -> Self {
        let mut random = Self(seed ^ (u64::from(number) << 32));
        random.next();
        random
    }

    /// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn shuffle(&mut self, items: &mut [usize]) {
        for end in (1..items.len()).rev() {
            let at = ((self.next() >> 32) * (end as u64 + 1)) >> 32;
            items.swap(end, at as usize);
        }
    }
}
