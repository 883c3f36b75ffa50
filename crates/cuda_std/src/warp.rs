//! Operations among the 32 lanes of a warp.
//!
//! Every function takes part in a collective of the whole warp: all 32 lanes must make the same call, so tails are
//! masked by data and never by a branch.

use crate::backend;

/// The value that lane `source` (modulo 32) holds.
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
#[track_caller]
pub unsafe fn shuffle(value: u32, source: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { backend::shuffle(value, source) }
}

/// The value that the lane whose index differs by `mask` (exclusive or) holds.
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
#[track_caller]
pub unsafe fn shuffle_xor(value: u32, mask: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { backend::shuffle_xor(value, mask) }
}

/// The value that the lane `distance` (modulo 32) below holds; the lanes without one keep their own.
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
#[track_caller]
pub unsafe fn shuffle_up(value: u32, distance: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { backend::shuffle_up(value, distance) }
}

/// The value that the lane `distance` (modulo 32) above holds; the lanes without one keep their own.
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
#[track_caller]
pub unsafe fn shuffle_down(value: u32, distance: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { backend::shuffle_down(value, distance) }
}

/// The value that lane `source` (modulo 32) holds, in single precision.
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
#[track_caller]
pub unsafe fn shuffle_f32(value: f32, source: u32) -> f32 {
    // SAFETY: the caller's promise.
    f32::from_bits(unsafe { backend::shuffle(value.to_bits(), source) })
}

/// One bit a lane: whether its predicate holds.
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
#[track_caller]
pub unsafe fn ballot(predicate: bool) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { backend::ballot(predicate) }
}

/// Whether the predicate holds in any lane.
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
#[track_caller]
pub unsafe fn any(predicate: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { backend::ballot(predicate) != 0 }
}

/// Whether the predicate holds in all lanes.
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
#[track_caller]
pub unsafe fn all(predicate: bool) -> bool {
    // SAFETY: the caller's promise.
    unsafe { backend::ballot(predicate) == u32::MAX }
}

/// One bit a lane: whether it holds this lane's value.
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
#[track_caller]
pub unsafe fn match_any(value: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { backend::match_any(value) }
}

/// Waits until every lane of the warp has arrived; the warp's shared and global writes before it are visible to the
/// warp after it.
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
#[track_caller]
pub unsafe fn sync_warp() {
    // SAFETY: the caller's promise.
    unsafe { backend::sync_warp() }
}

/// The smallest value of all lanes.
///
/// One instruction from `sm_80` on, five shuffles before.
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
#[track_caller]
pub unsafe fn reduce_min(value: i32) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { backend::reduce_min(value) }
}

/// The largest value of all lanes.
///
/// One instruction from `sm_80` on, five shuffles before.
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
#[track_caller]
pub unsafe fn reduce_max(value: i32) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { backend::reduce_max(value) }
}

/// The bits that any lane has set.
///
/// One instruction from `sm_80` on, five shuffles before.
///
/// # Safety
///
/// All 32 lanes of the warp make this call.
#[inline(always)]
#[track_caller]
pub unsafe fn reduce_or(value: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { backend::reduce_or(value) }
}
