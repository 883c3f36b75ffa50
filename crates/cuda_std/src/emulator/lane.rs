//! What one emulated thread does; a call outside an emulated launch panics.

use crate::Element;

/// The lane that runs on this thread.
#[cold]
#[track_caller]
fn current() -> ! {
    panic!("a device function was called outside a kernel that the emulator runs")
}

#[track_caller]
pub(crate) fn thread_idx_x() -> u32 {
    current()
}
#[track_caller]
pub(crate) fn block_idx_x() -> u32 {
    current()
}
#[track_caller]
pub(crate) fn block_idx_y() -> u32 {
    current()
}
#[track_caller]
pub(crate) fn block_idx_z() -> u32 {
    current()
}
#[track_caller]
pub(crate) fn block_dim_x() -> u32 {
    current()
}
#[track_caller]
pub(crate) fn grid_dim_x() -> u32 {
    current()
}
#[track_caller]
pub(crate) unsafe fn sync_threads() {
    current()
}
#[track_caller]
pub(crate) unsafe fn shuffle(_value: u32, _source: u32) -> u32 {
    current()
}
#[track_caller]
pub(crate) unsafe fn shuffle_xor(_value: u32, _mask: u32) -> u32 {
    current()
}
#[track_caller]
pub(crate) unsafe fn ballot(_predicate: bool) -> u32 {
    current()
}
#[track_caller]
pub(crate) unsafe fn reduce_min(_value: i32) -> i32 {
    current()
}
#[track_caller]
pub(crate) unsafe fn reduce_max(_value: i32) -> i32 {
    current()
}
#[track_caller]
pub(crate) fn check_start(_start: u64, _length: u64) {
    current()
}
#[track_caller]
pub(crate) unsafe fn load_global<T: Element>(_pointer: *const T, _index: u64, _length: u64) -> T {
    current()
}
#[track_caller]
pub(crate) unsafe fn store_global<T: Element>(_pointer: *mut T, _index: u64, _length: u64, _value: T) {
    current()
}
#[track_caller]
pub(crate) unsafe fn shared_address(_offset: u32, _bytes: u32) -> u32 {
    current()
}
#[track_caller]
pub(crate) unsafe fn load_shared<T: Element>(_address: u32, _index: u32, _length: u32) -> T {
    current()
}
#[track_caller]
pub(crate) unsafe fn store_shared<T: Element>(_address: u32, _index: u32, _length: u32, _value: T) {
    current()
}
#[track_caller]
pub(crate) unsafe fn load_constant<T: Element>(_pointer: *const T, _index: u64, _length: u64) -> T {
    current()
}
