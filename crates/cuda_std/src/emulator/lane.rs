//! The lane that runs: how kernel code reaches its block, stops, and meets others.

use super::block::{Block, State};
use super::collective::Operation;
use super::fault::FaultKind;
use std::cell::{Cell, RefCell};
use std::panic::{Location, PanicHookInfo};
use std::ptr;
use std::sync::Once;

thread_local! {
    /// The block of the lane that runs on this thread of the host.
    static CURRENT: Cell<*mut Block> = const { Cell::new(ptr::null_mut()) };
    /// What the lane's panic said, from the hook to whoever catches it.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A line of the kernel.
pub(super) type Source = &'static Location<'static>;

/// Lets kernel code find the block while `run` runs a lane.
pub(super) fn while_current<R>(block: &mut Block, run: impl FnOnce() -> R) -> R {
    CURRENT.set(ptr::from_mut(block));
    let result = run();
    CURRENT.set(ptr::null_mut());
    result
}

/// Calls `action` with the block of the running lane; `action` must not suspend the lane.
#[inline]
#[track_caller]
pub(super) fn with<R>(action: impl FnOnce(&mut Block) -> R) -> R {
    let block = CURRENT.get();
    assert!(
        !block.is_null(),
        "a device function was called outside a kernel that the emulator runs"
    );
    // SAFETY: `while_current` made the pointer from a unique reference that its caller does not use before the lane
    // suspends; the lane does not suspend within `action`, and `action` does not call back into this function.
    action(unsafe { &mut *block })
}

/// Does one operation of the running lane, or stops the block with its fault.
#[inline]
pub(super) fn operate<R>(source: Source, action: impl FnOnce(&mut Block) -> Result<R, Box<FaultKind>>) -> R {
    let (result, pause) = with(|block| {
        let result = block.count_operation(source).and_then(|()| action(block));
        (result, block.lane_should_pause())
    });
    if pause {
        suspend(State::InBetween);
    }
    match result {
        Ok(value) => value,
        Err(kind) => stop(*kind),
    }
}

/// Waits for the others of the warp or the block, with up to 24 registers in and out.
pub(super) fn meet(source: Source, operation: Operation, registers: &mut [u32]) {
    operate(source, |block| {
        block.registers_mut()[..registers.len()].copy_from_slice(registers);
        Ok(())
    });
    suspend(State::At(operation, source));
    with(|block| registers.copy_from_slice(&block.registers_mut()[..registers.len()]));
}

fn suspend(state: State) {
    let yielder = with(|block| {
        let lane = block.lane_mut();
        lane.state = state;
        lane.yielder
    });
    // SAFETY: the lane's coroutine stored its own yielder when it began, and it lives while the coroutine does.
    unsafe { (*yielder).suspend(()) }
}

/// Ends the block; the coroutine is unwound from here when it is dropped.
#[cold]
fn stop(kind: FaultKind) -> ! {
    with(|block| block.fail(kind));
    loop {
        suspend(State::Done);
    }
}

/// Takes what the last panic of a lane on this thread said.
pub(super) fn take_panic() -> String {
    PANIC
        .take()
        .unwrap_or_else(|| "a panic hook kept its message".to_string())
}

/// Keeps panics of kernels from being printed: they become faults.
pub(super) fn install_panic_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            if CURRENT.get().is_null() {
                previous(info);
            } else {
                let message = info.payload_as_str().unwrap_or("no message");
                let message = match info.location() {
                    Some(location) => format!("{message} at {location}"),
                    None => message.to_string(),
                };
                PANIC.set(Some(message));
            }
        }));
    });
}

#[inline]
#[track_caller]
pub(crate) fn thread_idx_x() -> u32 {
    with(|block| block.thread)
}

#[inline]
#[track_caller]
pub(crate) fn block_idx_x() -> u32 {
    with(|block| block.index[0])
}

#[inline]
#[track_caller]
pub(crate) fn block_idx_y() -> u32 {
    with(|block| block.index[1])
}

#[inline]
#[track_caller]
pub(crate) fn block_idx_z() -> u32 {
    with(|block| block.index[2])
}

#[inline]
#[track_caller]
pub(crate) fn block_dim_x() -> u32 {
    with(|block| block.setting.threads)
}

#[inline]
#[track_caller]
pub(crate) fn grid_dim_x() -> u32 {
    with(|block| block.setting.grid[0])
}

#[track_caller]
pub(crate) unsafe fn sync_threads() {
    meet(Location::caller(), Operation::Barrier, &mut []);
}
