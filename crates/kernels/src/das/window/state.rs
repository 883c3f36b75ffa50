//! What a warp has to do and what it is at, in shared memory, because registers are scarce.

use super::memory::Memory;

/// What a warp has to do, for the whole launch.
#[derive(Clone, Copy)]
pub(super) struct Task {
    /// The first voxel of the warp, counted from the launch's first.
    pub(super) first_voxel: u64,
    /// The tile of batch items.
    pub(super) tile: u32,
    /// The part's number.
    pub(super) part: u32,
    /// The part's first transmit and the one behind its last.
    pub(super) transmits: [u32; 2],
    /// The same of channels.
    pub(super) channels: [u32; 2],
}

impl Task {
    /// Writes it down for a warp.
    ///
    /// # Safety
    ///
    /// One lane of the warp makes this call, before all of the warp's barriers.
    #[inline(always)]
    pub(super) unsafe fn store(self, memory: &Memory) {
        let Self {
            first_voxel,
            tile,
            part,
            ..
        } = self;
        let ([first_transmit, last_transmit], [first_channel, last_channel]) = (self.transmits, self.channels);
        // SAFETY: the caller's promise.
        unsafe {
            let high = (first_voxel >> 32) as u32;
            memory.task.store(0, [first_voxel as u32, high, tile, part]);
            memory
                .task
                .store(1, [first_transmit, last_transmit, first_channel, last_channel]);
        }
    }

    /// A warp's.
    ///
    /// # Safety
    ///
    /// It was written before the warp's last barrier.
    #[inline(always)]
    pub(super) unsafe fn of(memory: &Memory) -> Self {
        // SAFETY: the caller's promise.
        let ([low, high, tile, part], [first_transmit, last_transmit, first_channel, last_channel]) =
            unsafe { (memory.task.load(0), memory.task.load(1)) };
        Self {
            first_voxel: u64::from(low) | u64::from(high) << 32,
            tile,
            part,
            transmits: [first_transmit, last_transmit],
            channels: [first_channel, last_channel],
        }
    }
}

/// Entry and transmit.
pub(super) type Round = [u32; 2];

/// First channel and chunk of the next step, then of the one that is multiplied.
pub(super) type Steps = [u32; 4];

/// Bytes of task, round and steps.
pub(super) const STATE_BYTES: u32 = 64;
