//! Runs a block: its lanes are coroutines that advance warp by warp until they meet.

use super::block::{Block, Lane, State, WARP};
use super::collective::Operation;
use super::fault::{Fault, FaultKind, Party};
use super::lane::{Source, install_panic_hook, take_panic, while_current, with};
use super::tables::{Setting, Tables};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use std::cell::RefCell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

type LaneCoroutine = Coroutine<(), (), (), DefaultStack>;

/// Bytes of a lane's stack; only what is touched takes memory.
const STACK_BYTES: usize = 256 * 1024;

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
        self.tables
            .merge(self.number, self.clock.block_start, &self.global_marks)
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
                self.fault(u32::from(conflict.mine.owner()), mine.source, kind).into()
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
            self.block_barrier();
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
                return Err(self.fault((first + waiting) as u32, source, kind).into());
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
    fn meeting(&self, mut reference: usize, lanes: Range<usize>) -> Result<Option<(Operation, Source)>, Box<Fault>> {
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
            return Err(self.fault(reference as u32, source, kind).into());
        }
        Ok(Some((operation, source)))
    }

    fn release(&mut self, lanes: Range<usize>) {
        for lane in &mut self.lanes[lanes] {
            lane.state = State::Ready;
        }
    }
}
