//! Where a delay-and-sum kernel writes, and which parts of the sum it keeps apart.

use super::sample::Value;
use cuda_std::math::Real;
use cuda_std::{Global, GlobalMut};

/// Which batch items a launch writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Items {
    /// All.
    All,
    /// Those that are marked.
    Marked,
    /// Those that are not.
    Unmarked,
}

/// The result: `(batch, part, voxel)`, a part for each range of channels and, within it, of transmits that are summed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Output<V: Value> {
    /// The memory of the result.
    pub values: GlobalMut<V>,
    /// What each batch item's sums are multiplied by, `(batch,)`; empty if by 1.
    pub scales: Global<V::Real>,
    /// Not 0 for a batch item that is marked, `(batch,)`; empty if all are written.
    pub marks: Global<u32>,
    /// What the former contents count; at 0 they are not read.
    pub beta: V::Real,
    /// Voxels of a part.
    pub n_voxels: u64,
    /// Parts of a batch item.
    pub n_parts: u32,
    /// Parts of a range of channels.
    pub n_transmit_parts: u32,
    /// Transmits of a part.
    pub transmits_per_part: u32,
    /// Channels of a part.
    pub channels_per_part: u32,
    /// The part of the launch's first layer of blocks.
    pub first_part: u32,
    /// The result's batch item that is the first of the launch's samples.
    pub first_item: u32,
    /// Which batch items are written.
    pub items: Items,
    /// 1 if `scales` holds something.
    pub is_scaled: u32,
}

/// One part of the sum.
#[derive(Clone, Copy)]
pub struct Part {
    /// Its number.
    pub number: u32,
    /// Its first transmit and the one after the last.
    pub transmits: [u32; 2],
    /// Its first channel and the one after the last.
    pub channels: [u32; 2],
}

impl<V: Value> Output<V> {
    /// All transmits and channels in one sum, every batch item written as it is.
    pub fn whole(values: GlobalMut<V>, n_voxels: u64, n_transmits: u32, n_channels: u32) -> Self {
        Self {
            values,
            scales: Global::empty(),
            marks: Global::empty(),
            beta: V::Real::ZERO,
            n_voxels,
            n_parts: 1,
            n_transmit_parts: 1,
            transmits_per_part: n_transmits,
            channels_per_part: n_channels,
            first_part: 0,
            first_item: 0,
            items: Items::All,
            is_scaled: 0,
        }
    }

    /// The part of a layer of blocks, of `n_transmits` and `n_channels` in all.
    #[inline(always)]
    pub fn part(&self, layer: u32, n_transmits: u32, n_channels: u32) -> Part {
        let number = self.first_part + layer;
        // There are no parts where this is 0; the division need not know.
        let of_channels = self.n_transmit_parts.max(1);
        let range = |part: u32, size: u32, count: u32| {
            let first = part * size;
            [first, count.min(first + size)]
        };
        Part {
            number,
            transmits: range(number % of_channels, self.transmits_per_part, n_transmits),
            channels: range(number / of_channels, self.channels_per_part, n_channels),
        }
    }

    /// Whether a batch item, counted from the launch's first, is written.
    ///
    /// # Safety
    ///
    /// The marks hold the item.
    #[inline(always)]
    pub unsafe fn is_wanted(&self, item: u32) -> bool {
        // SAFETY: the caller's promise.
        self.items == Items::All
            || unsafe { self.marks.load(u64::from(self.first_item + item)) != 0 } == (self.items == Items::Marked)
    }

    /// Writes the sum of a batch item, counted from the launch's first, and a voxel, if the item is wanted.
    ///
    /// # Safety
    ///
    /// The result, the marks and the scales hold the item, the result the part and the voxel, and no other thread writes
    /// there.
    #[inline(always)]
    pub unsafe fn write(&self, item: u32, part: u32, voxel: u64, sum: V) {
        let item_of_all = u64::from(self.first_item + item);
        // SAFETY: the caller's promise.
        unsafe {
            if !self.is_wanted(item) {
                return;
            }
            let at = (item_of_all * u64::from(self.n_parts) + u64::from(part)) * self.n_voxels + voxel;
            let mut sum = sum;
            if self.is_scaled != 0 {
                sum = sum.scale(self.scales.load(item_of_all));
            }
            if self.beta != V::Real::ZERO {
                sum = self.values.load(at).scale_add(self.beta, sum);
            }
            self.values.store(at, sum);
        }
    }
}
