//! Warp collectives, through LLVM's convergent intrinsics.

/// Every lane.
const ALL: u32 = u32::MAX;
/// A warp of 32 that is not divided into segments.
const WHOLE_WARP: u32 = 31;

#[allow(improper_ctypes)]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shuffle_index(mask: u32, value: u32, source: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shuffle_butterfly(mask: u32, value: u32, lane_mask: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    fn shuffle_from_below(mask: u32, value: u32, distance: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    fn shuffle_from_above(mask: u32, value: u32, distance: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i32"]
    fn match_any_lane(mask: u32, value: u32) -> u32;
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn warp_barrier(mask: u32);
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot(mask: u32, predicate: bool) -> u32;
    #[cfg(target_feature = "sm_80")]
    #[link_name = "llvm.nvvm.redux.sync.min"]
    fn redux_min(value: i32, mask: u32) -> i32;
    #[cfg(target_feature = "sm_80")]
    #[link_name = "llvm.nvvm.redux.sync.max"]
    fn redux_max(value: i32, mask: u32) -> i32;
    #[cfg(target_feature = "sm_80")]
    #[link_name = "llvm.nvvm.redux.sync.or"]
    fn redux_or(value: u32, mask: u32) -> u32;
}

#[inline(always)]
pub(crate) unsafe fn shuffle(value: u32, source: u32) -> u32 {
    // SAFETY: all lanes arrive, by the caller's promise.
    unsafe { shuffle_index(ALL, value, source, WHOLE_WARP) }
}

#[inline(always)]
pub(crate) unsafe fn shuffle_xor(value: u32, mask: u32) -> u32 {
    // SAFETY: all lanes arrive, by the caller's promise.
    unsafe { shuffle_butterfly(ALL, value, mask, WHOLE_WARP) }
}

#[inline(always)]
pub(crate) unsafe fn shuffle_up(value: u32, distance: u32) -> u32 {
    // SAFETY: all lanes arrive, by the caller's promise.
    unsafe { shuffle_from_below(ALL, value, distance, 0) }
}

#[inline(always)]
pub(crate) unsafe fn shuffle_down(value: u32, distance: u32) -> u32 {
    // SAFETY: all lanes arrive, by the caller's promise.
    unsafe { shuffle_from_above(ALL, value, distance, WHOLE_WARP) }
}

#[inline(always)]
pub(crate) unsafe fn match_any(value: u32) -> u32 {
    // SAFETY: all lanes arrive, by the caller's promise.
    unsafe { match_any_lane(ALL, value) }
}

#[inline(always)]
pub(crate) unsafe fn sync_warp() {
    // SAFETY: all lanes arrive, by the caller's promise.
    unsafe { warp_barrier(ALL) }
}

#[inline(always)]
pub(crate) unsafe fn ballot(predicate: bool) -> u32 {
    // SAFETY: all lanes arrive, by the caller's promise.
    unsafe { vote_ballot(ALL, predicate) }
}

#[inline(always)]
pub(crate) unsafe fn reduce_min(value: i32) -> i32 {
    #[cfg(target_feature = "sm_80")]
    // SAFETY: all lanes arrive, by the caller's promise.
    return unsafe { redux_min(value, ALL) };
    #[cfg(not(target_feature = "sm_80"))]
    // SAFETY: all lanes arrive, by the caller's promise.
    return unsafe { fold(value, i32::min) };
}

#[inline(always)]
pub(crate) unsafe fn reduce_max(value: i32) -> i32 {
    #[cfg(target_feature = "sm_80")]
    // SAFETY: all lanes arrive, by the caller's promise.
    return unsafe { redux_max(value, ALL) };
    #[cfg(not(target_feature = "sm_80"))]
    // SAFETY: all lanes arrive, by the caller's promise.
    return unsafe { fold(value, i32::max) };
}

#[inline(always)]
pub(crate) unsafe fn reduce_or(value: u32) -> u32 {
    #[cfg(target_feature = "sm_80")]
    // SAFETY: all lanes arrive, by the caller's promise.
    return unsafe { redux_or(value, ALL) };
    #[cfg(not(target_feature = "sm_80"))]
    // SAFETY: all lanes arrive, by the caller's promise.
    return unsafe { fold(value as i32, |a, b| a | b) } as u32;
}

#[cfg(not(target_feature = "sm_80"))]
#[inline(always)]
unsafe fn fold(mut value: i32, combine: fn(i32, i32) -> i32) -> i32 {
    let mut mask = 16;
    while mask > 0 {
        // SAFETY: all lanes arrive, by the caller's promise.
        value = combine(value, unsafe { shuffle_xor(value as u32, mask) } as i32);
        mask /= 2;
    }
    value
}
