//! What the blocks of a launch share: lines, sums, and who touched which byte of global memory.

use super::Instruction;
use super::marks::{Marks, Page, PageMap};
use super::race::Mark;
use super::report::Traffic;
use super::site::Sites;
use std::sync::{Mutex, MutexGuard, PoisonError};

const SHARDS: u64 = 64;

/// A launch, as its blocks see it.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    pub(super) kernel: &'static str,
    pub(super) grid: [u32; 3],
    pub(super) threads: u32,
    pub(super) shared_bytes: u32,
    pub(super) seed: u64,
    pub(super) operations_per_block: u64,
}

impl Setting {
    /// The index of the block with that number, x first.
    pub(super) fn block(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.grid;
        [number % x, number / x % y, number / x / y]
    }
}

/// An access of a block that has ended.
#[derive(Clone, Copy, Default)]
pub(super) struct Owner {
    /// The block's number and one; 0 for nobody.
    block: u32,
    thread: u16,
    pub(super) site: u16,
    is_all_atomic: bool,
}

#[derive(Clone, Copy, Default)]
struct Owners {
    write: Owner,
    read: Owner,
}

/// Two blocks at one byte, one of them writing.
pub(super) struct Conflict {
    pub(super) address: u64,
    pub(super) mine: Mark,
    pub(super) other: Owner,
}

impl Owner {
    fn new(block: u32, mark: Mark) -> Self {
        Self {
            block: block + 1,
            thread: mark.owner(),
            site: mark.site,
            is_all_atomic: mark.is_all_atomic(),
        }
    }

    fn is_somebody(self) -> bool {
        self.block != 0
    }

    pub(super) fn block(self) -> u32 {
        self.block - 1
    }

    pub(super) fn thread(self) -> u32 {
        u32::from(self.thread)
    }
}

/// Everything that blocks share.
pub(super) struct Tables {
    pub(super) sites: Sites,
    sums: Mutex<Vec<Traffic>>,
    pages: Vec<Mutex<PageMap<Page<Owners>>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tables {
    pub(super) fn new() -> Self {
        Self {
            sites: Sites::default(),
            sums: Mutex::default(),
            pages: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }

    pub(super) fn add(&self, sums: &[Traffic]) {
        let mut total = locked(&self.sums);
        if total.len() < sums.len() {
            total.resize(sums.len(), Traffic::default());
        }
        for (total, &sum) in std::iter::zip(&mut *total, sums) {
            *total += sum;
        }
    }

    /// Frees what was kept to order accesses.
    pub(super) fn forget_memory(&self) {
        for shard in &self.pages {
            *locked(shard) = PageMap::default();
        }
    }

    pub(super) fn sums(&self) -> Vec<Traffic> {
        locked(&self.sums).clone()
    }

    /// Adds what a block has touched, or says where it met another block. Blocks are never ordered.
    pub(super) fn merge(&self, block: u32, block_start: u32, marks: &Marks) -> Result<(), Conflict> {
        for page in marks.pages() {
            let mut shard = locked(&self.pages[(page.number % SHARDS) as usize]);
            let owners = shard
                .entry(page.number)
                .or_insert_with(|| Page::new(page.number, page.shift()));
            owners.refine(page.shift());
            let coarser = page.shift() - owners.shift();
            for granule in 0..owners.granules.len() {
                let mine = page.granules[granule >> coarser];
                if let Some((mine, other)) = owners.granules[granule].meet(block, block_start, mine.write, mine.read) {
                    return Err(Conflict {
                        address: owners.address(granule),
                        mine,
                        other,
                    });
                }
            }
        }
        Ok(())
    }

    /// The instruction of a numbered line.
    pub(super) fn instruction(&self, site: u16) -> Instruction {
        self.sites.site(site).instruction
    }
}

impl Owners {
    #[inline]
    fn meet(&mut self, block: u32, block_start: u32, write: Mark, read: Mark) -> Option<(Mark, Owner)> {
        if write.is_since(block_start) {
            let both_atomic = write.is_all_atomic() && self.write.is_all_atomic;
            if self.write.is_somebody() && !both_atomic {
                return Some((write, self.write));
            }
            if self.read.is_somebody() {
                return Some((write, self.read));
            }
        }
        if read.is_since(block_start) {
            if self.write.is_somebody() {
                return Some((read, self.write));
            }
            self.read = Owner::new(block, read);
        }
        if write.is_since(block_start) {
            self.write = Owner::new(block, write);
        }
        None
    }
}
