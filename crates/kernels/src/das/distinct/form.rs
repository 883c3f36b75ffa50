//! What the forms of the product have in common.

use super::super::sample::{Sample, Value};
use super::DasDistinct;
use cuda_std::{Global, warp};

/// The memory of a form, a ring of weights and rows of samples, does what it has to do with columns.
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
macro_rules! ring {
    ($value:ty: |$form:ident, $column:ident, $weight:ident| $place:expr) => {
        #[inline(always)]
        unsafe fn clear(&self, half: u32) {
            // SAFETY: the caller's promise.
            unsafe { self.weights.clear(half) };
        }

        #[inline(always)]
        unsafe fn place(&self, $column: u32, $weight: $value) {
            let $form = self;
            // SAFETY: the caller's promise.
            unsafe { $place };
        }

        #[inline(always)]
        unsafe fn assign(&self, column: u32, vector: u32) {
            // SAFETY: the caller's promise.
            unsafe { self.rows.assign(column, vector) };
        }
    };
    (copies) => {
        #[inline(always)]
        unsafe fn request(&self, half: u32, transmit: Global<[u32; 4]>) {
            // SAFETY: the caller's promise.
            unsafe { self.rows.request(half, transmit) };
        }
    };
}
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_80"))]
pub(super) use ring;

/// How a warp multiplies.
pub(super) trait Form: Copy {
    /// A sample.
    type Stored: Sample<Value: Value<Real = f32>>;
    /// A lane's share of the tile's sums.
    type Sums;
    /// Batch items of a tile.
    const ITEMS: u32;
    /// Bytes of a warp's shared memory, a multiple of 32.
    #[cfg_attr(target_arch = "nvptx64", allow(dead_code, reason = "asked by the launching side"))]
    const BYTES: u32;
    /// Planes of a sample, each of the whole batch.
    const PLANES: u32 = 1;

    /// The form of this warp, for a tile of batch items.
    ///
    /// # Safety
    ///
    /// The block has [`Form::BYTES`] of shared memory for each warp.
    unsafe fn new(p: &DasDistinct<Self::Stored>, tile: u32) -> Self;

    /// No sums.
    fn zero() -> Self::Sums;

    /// Sets all weights of half a ring to 0.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call, between two meetings.
    unsafe fn clear(&self, half: u32);

    /// Sets the weight of this lane's voxel in a column.
    ///
    /// # Safety
    ///
    /// The column was cleared before the last meeting.
    unsafe fn place(&self, column: u32, weight: ValueOf<Self>);

    /// Says which vector of a transmit a column's samples start at.
    ///
    /// # Safety
    ///
    /// No other lane says it too.
    unsafe fn assign(&self, column: u32, vector: u32);

    /// The smallest number of the warp.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call.
    #[inline(always)]
    unsafe fn least(number: i32) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { warp::reduce_min(number) }
    }

    /// The union of the warp's sets.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call.
    #[inline(always)]
    unsafe fn union(set: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { warp::reduce_or(set) }
    }

    /// Requests the samples of half a ring.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call, after a meeting that follows the assignments and the last product.
    unsafe fn request(&self, half: u32, transmit: Global<[u32; 4]>);

    /// Adds the product of half a ring's weights and the samples that were requested for it. Ends with a meeting.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call.
    unsafe fn multiply(&self, half: u32, sums: &mut Self::Sums);

    /// Writes the sums.
    ///
    /// # Safety
    ///
    /// All lanes of the warp make this call; the parameters' promises hold.
    unsafe fn write(&self, p: &DasDistinct<Self::Stored>, part: u32, first_voxel: u64, sums: Self::Sums);
}

pub(super) type ValueOf<F> = <<F as Form>::Stored as Sample>::Value;
