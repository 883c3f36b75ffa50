//! Who touched which bytes, and whether two accesses are ordered.
//!
//! Two accesses of different threads to the same byte, one of them writing, need something between them: the block's
//! barrier, or in one warp its barrier. Time counts those events in a block; a mark keeps the time of an access, its
//! thread and its line. Time goes on from block to block, so nothing is cleared between them: marks from before a
//! block's start mean nothing.

/// Low bits of [`Mark::thread`] that hold the thread.
const THREAD: u16 = 0x3ff;
/// Several threads of the named thread's warp.
const SAME_WARP: u16 = 1 << 10;
/// Several threads of several warps.
const SEVERAL: u16 = 1 << 11;
/// Atomic operations, which do not conflict with each other.
const ATOMIC: u16 = 1 << 12;
/// Some read of the launch so far came through a read-only slice.
const READ_ONLY: u16 = 1 << 13;
/// An asynchronous copy that has not been waited for.
const PENDING: u16 = 1 << 14;
/// Some write of the block so far was no atomic operation: what other blocks do atomically conflicts with it.
const PLAIN: u16 = 1 << 15;

/// An access, or several unordered accesses of the same kind.
#[derive(Clone, Copy, Default)]
pub(super) struct Mark {
    time: u32,
    /// The thread, and flags.
    pub(super) thread: u16,
    /// The number of the line.
    pub(super) site: u16,
}

/// The latest write and the latest reads of a granule.
#[derive(Clone, Copy, Default)]
pub(super) struct Granule {
    pub(super) write: Mark,
    pub(super) read: Mark,
}

/// What an access does to its bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Touch {
    /// Reads bytes that the launch may write.
    Read,
    /// Reads shared bytes, which must have been written.
    ReadWritten,
    /// Reads bytes that the launch must not write.
    ReadOnly,
    Write,
    Atomic,
    /// An atomic operation on shared bytes, which must have been written.
    AtomicWritten,
    /// Starts an asynchronous copy into the bytes.
    Begin,
    /// Ends one.
    End,
}

/// The thread that does an access, and the events that order it.
#[derive(Clone, Copy)]
pub(super) struct Who {
    pub(super) thread: u16,
    pub(super) site: u16,
    /// The time now.
    pub(super) now: u32,
    /// When the block started.
    pub(super) block_start: u32,
    /// When the block's last barrier was.
    pub(super) block_barrier: u32,
    /// When the last barrier of this thread's warp was, the block's included.
    pub(super) warp_barrier: u32,
}

impl Who {
    /// The access of some lane of the warp, one does not know which: it is ordered with none of them.
    pub(super) fn some_lane(self) -> Self {
        Self {
            thread: self.thread | SAME_WARP,
            ..self
        }
    }

    #[inline]
    fn warp(&self) -> u16 {
        (self.thread & THREAD) >> 5
    }
}

/// What is wrong with an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conflict {
    Race,
    ReadOnly,
    Pending,
    Unwritten,
}

impl Mark {
    #[inline]
    pub(super) fn owner(self) -> u16 {
        self.thread & THREAD
    }

    /// Whether all writes of the block to these bytes were atomic operations.
    #[inline]
    pub(super) fn is_all_atomic(self) -> bool {
        self.thread & (ATOMIC | PLAIN) == ATOMIC
    }

    /// Whether the mark was made in the block that started then.
    #[inline]
    pub(super) fn is_since(self, block_start: u32) -> bool {
        self.time >= block_start
    }

    #[inline]
    fn is_before(self, who: &Who) -> bool {
        if self.time < who.block_barrier {
            return true;
        }
        if self.thread & SEVERAL != 0 {
            return false;
        }
        let same_thread = self.thread & SAME_WARP == 0 && self.owner() == who.thread;
        same_thread || (self.owner() >> 5 == who.warp() && self.time < who.warp_barrier)
    }

    /// The mark after an access more; accesses that are ordered before it need not be remembered, because whatever is
    /// unordered with them is unordered with it too.
    #[inline]
    fn with(self, who: &Who) -> Self {
        let several = if self.is_before(who) {
            0
        } else if self.thread & SEVERAL == 0 && self.owner() >> 5 == who.warp() {
            SAME_WARP
        } else {
            SEVERAL
        };
        Self {
            time: who.now,
            thread: who.thread | several,
            site: who.site,
        }
    }
}

impl Granule {
    #[inline]
    pub(super) fn touch(&mut self, touch: Touch, who: &Who) -> Result<(), (Conflict, Mark)> {
        let Self { write, read } = *self;
        let written = write.is_since(who.block_start);
        let atomic = matches!(touch, Touch::Atomic | Touch::AtomicWritten);
        if touch == Touch::End {
            self.write = Mark {
                time: who.now,
                thread: who.thread,
                site: write.site,
            };
            return Ok(());
        }
        if written {
            if write.thread & PENDING != 0 {
                return Err((Conflict::Pending, write));
            }
            if touch == Touch::ReadOnly {
                return Err((Conflict::ReadOnly, write));
            }
            let both_atomic = atomic && write.thread & ATOMIC != 0;
            if !both_atomic && !write.is_before(who) {
                return Err((Conflict::Race, write));
            }
        }
        if !written && matches!(touch, Touch::ReadWritten | Touch::AtomicWritten) {
            return Err((Conflict::Unwritten, write));
        }
        match touch {
            Touch::Read | Touch::ReadWritten | Touch::ReadOnly => {
                let mut flags = if touch == Touch::ReadOnly { READ_ONLY } else { 0 };
                if read.is_since(who.block_start) {
                    flags |= read.thread & READ_ONLY;
                }
                self.read = read.with(who);
                self.read.thread |= flags;
            }
            _ => {
                if read.is_since(who.block_start) {
                    if read.thread & READ_ONLY != 0 {
                        return Err((Conflict::ReadOnly, read));
                    }
                    if !read.is_before(who) {
                        return Err((Conflict::Race, read));
                    }
                }
                self.write = if atomic && write.thread & ATOMIC != 0 {
                    write.with(who)
                } else {
                    Mark {
                        time: who.now,
                        thread: who.thread,
                        site: who.site,
                    }
                };
                self.write.thread |= match touch {
                    Touch::Atomic | Touch::AtomicWritten if written => ATOMIC | write.thread & PLAIN,
                    Touch::Atomic | Touch::AtomicWritten => ATOMIC,
                    Touch::Begin => PLAIN | PENDING,
                    _ => PLAIN,
                };
            }
        }
        Ok(())
    }
}
