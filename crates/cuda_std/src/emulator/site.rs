//! Call sites: the lines of a kernel that do something, numbered.

use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

/// What a line of a kernel does, as far as the emulator is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Instruction {
    /// A load from global memory.
    GlobalLoad,
    /// A store to global memory.
    GlobalStore,
    /// An atomic operation on global memory.
    GlobalAtomic,
    /// A load from shared memory.
    SharedLoad,
    /// A store to shared memory.
    SharedStore,
    /// An atomic operation on shared memory.
    SharedAtomic,
    /// The start of an asynchronous copy from global to shared memory.
    Copy,
    /// The end of a group of asynchronous copies.
    CopyCommit,
    /// The wait for groups of asynchronous copies.
    CopyWait,
    /// The copy of a run from global to shared memory.
    BulkCopy,
    /// What a thread does to the barrier of such copies.
    BulkBarrier,
    /// The wait for such copies.
    BulkWait,
    /// The making of a slice.
    Slice,
    /// The block's barrier.
    Barrier,
    /// The warp's barrier.
    WarpBarrier,
    /// A warp shuffle.
    Shuffle,
    /// A warp vote.
    Vote,
    /// A warp match.
    Match,
    /// A warp reduction.
    Reduction,
    /// A load of a matrix fragment from shared memory.
    MatrixLoad,
    /// A store of a matrix fragment to shared memory.
    MatrixStore,
    /// A matrix product.
    MatrixMultiply,
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GlobalLoad => "a load from global memory",
            Self::GlobalStore => "a store to global memory",
            Self::GlobalAtomic => "an atomic operation on global memory",
            Self::SharedLoad => "a load from shared memory",
            Self::SharedStore => "a store to shared memory",
            Self::SharedAtomic => "an atomic operation on shared memory",
            Self::Copy => "an asynchronous copy",
            Self::CopyCommit => "the end of a group of copies",
            Self::CopyWait => "a wait for copies",
            Self::BulkCopy => "the copy of a run",
            Self::BulkBarrier => "a barrier of runs",
            Self::BulkWait => "a wait for runs",
            Self::Slice => "a slice",
            Self::Barrier => "a barrier",
            Self::WarpBarrier => "a warp barrier",
            Self::Shuffle => "a shuffle",
            Self::Vote => "a vote",
            Self::Match => "a match",
            Self::Reduction => "a reduction",
            Self::MatrixLoad => "a matrix load",
            Self::MatrixStore => "a matrix store",
            Self::MatrixMultiply => "a matrix product",
        })
    }
}

/// One instruction of a kernel: a line, what it does, and with how many bytes a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Site {
    pub(super) source: &'static Location<'static>,
    pub(super) instruction: Instruction,
    pub(super) bytes: u32,
}

/// The sites of a launch, by number.
#[derive(Default)]
pub(super) struct Sites(Mutex<(HashMap<Site, u16>, Vec<Site>)>);

impl Sites {
    /// The site's number; the same line has one, wherever the compiler has put its `Location`.
    fn number(&self, site: Site) -> u16 {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (numbers, sites) = &mut *guard;
        *numbers.entry(site).or_insert_with(|| {
            sites.push(site);
            // A kernel of 65 536 instructions does not exist; its last lines would share a number.
            u16::try_from(sites.len() - 1).unwrap_or(u16::MAX)
        })
    }

    pub(super) fn site(&self, number: u16) -> Site {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1[usize::from(number)]
    }

    pub(super) fn all(&self) -> Vec<Site> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}

const CACHED: usize = 256;

/// What one worker remembers of [`Sites`], by address: a look-up costs a few instructions.
pub(super) struct SiteCache(Box<[Option<(Site, u16)>; CACHED]>);

impl SiteCache {
    pub(super) fn new() -> Self {
        Self(Box::new([None; CACHED]))
    }

    /// Forgets all, for another launch.
    pub(super) fn clear(&mut self) {
        self.0.fill(None);
    }

    #[inline]
    pub(super) fn number(&mut self, sites: &Sites, site: Site) -> u16 {
        // A `Location` takes 24 bytes.
        let address = std::ptr::from_ref(site.source).addr() / 8;
        let slot = &mut self.0[(address / 3 + address / CACHED + site.instruction as usize) % CACHED];
        match slot {
            Some((cached, number))
                if std::ptr::eq(cached.source, site.source)
                    && cached.instruction == site.instruction
                    && cached.bytes == site.bytes =>
            {
                *number
            }
            _ => {
                let number = sites.number(site);
                *slot = Some((site, number));
                number
            }
        }
    }
}
