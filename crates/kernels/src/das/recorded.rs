//! Channel data as they were recorded: any order of axes, any strides; and how a block reads a tile of them.
//!
//! A tile is a number of samples of one channel and transmit × batch items. Each warp reads 32 neighbouring samples of an
//! item, or 32 pairs of them, then the next ones, then those of another item. A thread asks for all of its samples before
//! it looks at the first: there is little else to do while they come.

use super::sample::Sample;
use cuda_std::{Element, Global, thread};

/// Lanes of a warp.
pub const WARP: u32 = 32;

/// Channel data in memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Recorded<S> {
    /// The memory.
    pub input: Global<S>,
    /// Where in it the first sample of all is.
    pub origin: i64,
    /// Elements between two batch items.
    pub batch_stride: i64,
    /// Elements between two channels.
    pub channel_stride: i64,
    /// Elements between two transmits.
    pub transmit_stride: i64,
    /// Elements between two samples.
    pub sample_stride: i64,
    /// Batch items.
    pub n_batch: u32,
    /// Receive channels.
    pub n_channels: u32,
    /// Samples a channel.
    pub n_samples: u32,
    /// 1 if samples can be read in pairs: [`Recorded::has_pairs`].
    pub is_paired: u32,
}

impl<S: Element> Recorded<S> {
    /// Whether samples come in pairs of one word each: those of 16 bits, one after the other, every row of them and the
    /// memory, which is at `address`, beginning with a whole word.
    pub fn has_pairs(&self, address: usize) -> bool {
        let strides = [
            self.batch_stride,
            self.channel_stride,
            self.transmit_stride,
            self.origin,
        ];
        size_of::<S>() == 2
            && self.sample_stride == 1
            && self.n_samples.is_multiple_of(2)
            && strides.iter().all(|stride| stride % 2 == 0)
            && address.is_multiple_of(4)
    }
}

/// A tile of channel data, as a thread of a block of `THREADS` threads sees it, which reads `GROUPS` times `READS` samples.
#[derive(Clone, Copy)]
pub struct Tile<'a, S, const THREADS: u32> {
    data: &'a Recorded<S>,
    /// Where the channel's samples begin.
    channel: i64,
    first_sample: u32,
    first_item: u32,
    /// Reads an item.
    parts: u32,
    lane: u32,
    warp: u32,
}

impl<'a, S: Sample, const THREADS: u32> Tile<'a, S, THREADS> {
    /// The tile of `n_samples` samples from `first_sample` on, and items from `first_item` on.
    #[inline(always)]
    pub fn new(
        data: &'a Recorded<S>,
        [transmit, channel]: [u32; 2],
        first_sample: u32,
        first_item: u32,
        n_samples: u32,
    ) -> Self {
        Self {
            data,
            channel: data.origin
                + i64::from(transmit) * data.transmit_stride
                + i64::from(channel) * data.channel_stride,
            first_sample,
            first_item,
            parts: n_samples / WARP,
            lane: thread::lane(),
            warp: thread::thread_idx_x() / WARP,
        }
    }

    /// The sample and the item of the thread's read, counted from the tile's first.
    #[inline(always)]
    pub fn place(&self, read: usize) -> [u32; 2] {
        let (item, part) = (read as u32 / self.parts, read as u32 % self.parts);
        let sample = if self.has_pairs() {
            part / 2 * (2 * WARP) + 2 * self.lane + part % 2
        } else {
            part * WARP + self.lane
        };
        [sample, item * (THREADS / WARP) + self.warp]
    }

    #[inline(always)]
    fn has_pairs(&self) -> bool {
        size_of::<S>() == 2 && self.data.is_paired != 0
    }

    /// Whether a read is an item's first one.
    #[inline(always)]
    pub fn begins_item(&self, read: usize) -> bool {
        (read as u32).is_multiple_of(self.parts)
    }

    /// Whether the data have an item of the tile.
    #[inline(always)]
    pub fn has_item(&self, item: u32) -> bool {
        self.first_item + item < self.data.n_batch
    }

    /// Reads the thread's samples; 0 where the data have none.
    ///
    /// # Safety
    ///
    /// The memory holds what strides and counts say; `is_paired` says what [`Recorded::has_pairs`] does.
    #[inline(always)]
    pub unsafe fn read<const GROUPS: usize, const READS: usize>(&self) -> [[S; READS]; GROUPS] {
        let mut values = [[S::ZERO; READS]; GROUPS];
        if self.has_pairs() {
            // All words first: what is done with one in the branch that loads it waits for it.
            let mut words = [[0_u32; READS]; GROUPS];
            cuda_std::unroll!(GROUP in [0, 1] { if GROUP < GROUPS { cuda_std::unroll!(READ in 0..READS {
                let read = GROUP * READS + READ;
                if read.is_multiple_of(2) && self.has(read) {
                    // SAFETY: both samples are there, and begin with a whole word, by the caller's promise.
                    words[GROUP][READ] = unsafe { self.data.input.cast::<u32>().load(self.at(read) / 2) };
                }
            }); } });
            cuda_std::unroll!(GROUP in [0, 1] { if GROUP < GROUPS { cuda_std::unroll!(READ in 0..READS {
                let word = words[GROUP][READ / 2 * 2];
                let half = if READ.is_multiple_of(2) { word as u16 } else { (word >> 16) as u16 };
                // SAFETY: the samples have 16 bits here, and any 16 bits are one.
                values[GROUP][READ] = unsafe { core::mem::transmute_copy(&half) };
            }); } });
        } else {
            cuda_std::unroll!(GROUP in [0, 1] { if GROUP < GROUPS { cuda_std::unroll!(READ in 0..READS {
                let read = GROUP * READS + READ;
                if self.has(read) {
                    // SAFETY: all four indices are in range.
                    values[GROUP][READ] = unsafe { self.data.input.load(self.at(read)) };
                }
            }); } });
        }
        values
    }

    #[inline(always)]
    fn has(&self, read: usize) -> bool {
        let [sample, item] = self.place(read);
        self.first_sample + sample < self.data.n_samples && self.has_item(item)
    }

    #[inline(always)]
    fn at(&self, read: usize) -> u64 {
        let [sample, item] = self.place(read);
        let of_sample = i64::from(self.first_sample + sample) * self.data.sample_stride;
        let of_item = i64::from(self.first_item + item) * self.data.batch_stride;
        (self.channel + of_sample + of_item) as u64
    }
}

/// Where a sample of a tile is in shared memory, in words: rows an odd number of words apart, and 32 rows one more, so that
/// neighbouring samples, and neighbouring pairs, meet different banks.
#[inline(always)]
pub const fn row_in_words(sample: u32, words_per_row: u32) -> u32 {
    sample * words_per_row + sample / WARP
}
