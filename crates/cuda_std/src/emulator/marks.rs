//! The marks of a memory, by address.
//!
//! A granule is as wide as the narrowest access of its page so far: most pages have one granule an element.

use super::race::{Conflict, Granule, Mark, Touch, Who};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Bytes of a page of marks.
const PAGE: u64 = 1024;

/// Pages that are found without a search.
const RECENT: usize = 64;

/// The marks of consecutive bytes.
pub(super) struct Page<G> {
    /// The first byte's address over [`PAGE`].
    pub(super) number: u64,
    shift: u32,
    pub(super) granules: Vec<G>,
}

impl<G: Copy + Default> Page<G> {
    pub(super) fn new(number: u64, shift: u32) -> Self {
        Self {
            number,
            shift,
            granules: vec![G::default(); (PAGE >> shift) as usize],
        }
    }

    /// Makes the page another one; what its granules hold is old.
    fn reuse(&mut self, number: u64, shift: u32) {
        self.number = number;
        self.shift = shift;
        self.granules.resize((PAGE >> shift) as usize, G::default());
    }

    pub(super) fn shift(&self) -> u32 {
        self.shift
    }

    /// The address of a granule.
    pub(super) fn address(&self, granule: usize) -> u64 {
        self.number * PAGE + ((granule as u64) << self.shift)
    }

    /// Makes the granules narrower, if they are wider than that.
    #[inline]
    pub(super) fn refine(&mut self, shift: u32) {
        if shift < self.shift {
            let copies = 1 << (self.shift - shift);
            self.granules = self
                .granules
                .iter()
                .flat_map(|&granule| std::iter::repeat_n(granule, copies))
                .collect();
            self.shift = shift;
        }
    }
}

/// The marks of one block in one memory.
pub(super) struct Marks {
    pages: Vec<Page<Granule>>,
    used: usize,
    by_number: PageMap<u32>,
    recent: [Option<(u64, u32)>; RECENT],
}

impl Marks {
    pub(super) fn new() -> Self {
        Self {
            pages: Vec::new(),
            used: 0,
            by_number: PageMap::default(),
            recent: [None; RECENT],
        }
    }

    /// Forgets the pages, and what they held if `time` starts again.
    pub(super) fn start_block(&mut self, time_starts_again: bool) {
        self.used = 0;
        self.by_number.clear();
        self.recent = [None; RECENT];
        if time_starts_again {
            self.pages.clear();
        }
    }

    /// The pages that the block has touched.
    pub(super) fn pages(&self) -> &[Page<Granule>] {
        &self.pages[..self.used]
    }

    /// Notes an access of a power of two of bytes, aligned to its size, or says what is wrong with it.
    #[inline]
    pub(super) fn touch(&mut self, address: u64, bytes: u32, touch: Touch, who: &Who) -> Result<(), (Conflict, Mark)> {
        let page = self.page(address / PAGE, bytes.trailing_zeros());
        let first = (address % PAGE) >> page.shift;
        let last = (address % PAGE + u64::from(bytes) - 1) >> page.shift;
        for granule in &mut page.granules[first as usize..=last as usize] {
            granule.touch(touch, who)?;
        }
        Ok(())
    }

    #[inline]
    fn page(&mut self, number: u64, shift: u32) -> &mut Page<Granule> {
        let slot = (number % RECENT as u64) as usize;
        let at = match self.recent[slot] {
            Some((recent, at)) if recent == number => at,
            _ => {
                let at = self.find(number, shift);
                self.recent[slot] = Some((number, at));
                at
            }
        };
        let page = &mut self.pages[at as usize];
        page.refine(shift);
        page
    }

    fn find(&mut self, number: u64, shift: u32) -> u32 {
        let Self {
            pages, used, by_number, ..
        } = self;
        *by_number.entry(number).or_insert_with(|| {
            match pages.get_mut(*used) {
                Some(page) => page.reuse(number, shift),
                None => pages.push(Page::new(number, shift)),
            }
            *used += 1;
            (*used - 1) as u32
        })
    }
}

/// A map from page numbers.
pub(super) type PageMap<V> = HashMap<u64, V, BuildHasherDefault<PageHasher>>;

/// Spreads page numbers, which are mostly consecutive.
#[derive(Default)]
pub(super) struct PageHasher(u64);

impl Hasher for PageHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte) ^ self.0);
        }
    }
    fn write_u64(&mut self, number: u64) {
        let product = u128::from(number) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}
