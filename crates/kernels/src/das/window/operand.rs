//! What the matrix products take: a voxel's weights, the left operand that is made of them, and what the sums mean.
//!
//! | | complex | real |
//! |---|---|---|
//! | an instruction | 8 voxels × 8 samples | 16 voxels × 16 samples |
//! | rows of the left operand | 8 real parts, then 8 imaginary parts | 16 voxels |
//! | reduced dimension | 8 real parts, then 8 imaginary parts | 16 samples, a lane's four of them as its places 2 t, 2 t + 1, 2 t + 8, 2 t + 9 |
//! | a row of samples, 8 bytes a batch item | {re k, re k+1, im k, im k+1} | {k, k+1, k+2, k+3} |
//!
//! The left operand is interpolation weights, which are a `Reading`'s, times each voxel's weight. A window is four rows of samples, and
//! lane t of each group of four has row t.
//!
//! Here are halves; [`split`](super::split) has numbers that are two halves.

use super::super::geometry::Geometry;
use super::super::permute_rows::InRows;
use super::super::sample::{Sample, Value};
use super::memory::Memory;
use super::reading::Reading;
use super::shape::Shape;
use cuda_std::half::{F16, F16Pair};
use cuda_std::matrix::mma_m16n8k16_f16;
use num_complex::Complex;
use wavefield::phase::TurnsPerSample;

/// Rows of samples in a window: one for each lane of a group of four.
pub const WINDOW_ROWS: u32 = 4;

/// Two words of what a lane keeps of a voxel and a channel.
pub(super) type Weighted = [u32; 2];

/// Pairs of words at most.
pub(super) const MOST_WEIGHT_PLANES: usize = 3;

/// All that is kept of a voxel and a channel: what says where its samples are, then its weights; 0 behind [`Windowed::WEIGHT_PLANES`].
/// Where all weights are 0, no sample counts.
pub(super) type Words = [u32; 2 * MOST_WEIGHT_PLANES];

/// What there is to know of a voxel and a channel.
#[derive(Clone, Copy)]
pub(super) struct Contribution {
    pub(super) delay: f32,
    /// Whether the recording has the samples.
    pub(super) is_in_range: bool,
    pub(super) amplitude: f32,
    /// In turns.
    pub(super) phase: f32,
}

/// A sample type that the windowed kernels take.
pub trait Windowed: Sample<Value: Value<Real = f32>> {
    /// What the rows hold.
    type Rows: InRows;

    /// Samples of a row.
    const SAMPLES_PER_ROW: u32 = <Self::Rows as InRows>::SAMPLES_PER_ROW;

    /// Planes of a row, each of the whole batch: one, or another of what the first lost by rounding.
    const PLANES: u32;

    /// Voxels of a matrix product's left operand.
    const GROUP_VOXELS: u32;

    /// Pairs of words that are kept of a voxel and channel.
    const WEIGHT_PLANES: u32;

    /// Channels whose weights a lane finds at once.
    const WEIGHED_AT_ONCE: usize;

    /// Whether a step has sums of its own, which are added to the others in single precision: the hardware truncates at every
    /// product.
    const HAS_STEP_SUMS: bool;

    /// A sample that is far from every delay, as [`Windowed::mark`].
    const NOWHERE: u32;

    /// A sample's number as the operand wants it.
    fn mark(sample: i32) -> u32;

    /// The mark so many samples later.
    fn later(mark: u32, samples: u32) -> u32;

    /// The sum of voxel `group + 8 · part` of the group, of the lane's lower or upper (`column` 0 or 1) batch item.
    fn sum(sums: [f32; 4], part: usize, column: usize) -> Self::Value;
}

/// A sample type's products where it is interpolated in one way.
pub(super) trait Operand<R: Reading>: Windowed {
    /// A lane's registers of a left operand.
    type Left: Copy + Default;

    /// What is kept of a voxel and channel, beside what is written to the voxel's `place` of the reading's words.
    ///
    /// # Safety
    ///
    /// The place is this lane's.
    unsafe fn weigh(
        geometry: &Geometry<f32>,
        contribution: Contribution,
        memory: (&Memory, Shape),
        place: u32,
    ) -> Words;

    /// The left operand for a lane whose voxels of the group have these weights, the second 8 after the first where the group has
    /// them, and these places; the lane's row begins with the sample that `mark` stands for.
    ///
    /// # Safety
    ///
    /// The places were written before the warp's last barrier.
    unsafe fn left(voxels: [Words; 2], places: [u32; 2], mark: u32, memory: (&Memory, Shape)) -> Self::Left;

    /// Adds the product with a right operand's planes.
    ///
    /// # Safety
    ///
    /// All 32 lanes of the warp make this call.
    unsafe fn multiply_add(left: &Self::Left, right: [[u32; 2]; 2], sums: [f32; 4]) -> [f32; 4];
}

/// What halves have in common.
macro_rules! halves {
    ($voxels:literal voxels) => {
        type Rows = Self;
        const PLANES: u32 = 1;
        const GROUP_VOXELS: u32 = $voxels;
        const WEIGHT_PLANES: u32 = 1;
        const WEIGHED_AT_ONCE: usize = 4;
        const HAS_STEP_SUMS: bool = false;
        const NOWHERE: u32 = 1e30_f32.to_bits();

        #[inline(always)]
        fn mark(sample: i32) -> u32 {
            (sample as f32).to_bits()
        }

        #[inline(always)]
        fn later(mark: u32, samples: u32) -> u32 {
            (f32::from_bits(mark) + samples as f32).to_bits()
        }
    };
}

/// Where the delay is, as the reading keeps it, and the weight as halves.
///
/// # Safety
///
/// As [`Operand::weigh`].
#[inline(always)]
unsafe fn weigh<R: Reading>(
    geometry: &Geometry<f32>,
    contribution: Contribution,
    weight: F16Pair,
    (memory, shape): (&Memory, Shape),
    place: u32,
) -> Words {
    let Contribution { delay, is_in_range, .. } = contribution;
    // Delays that are out of range are read as if they were 0.
    let kept = if R::WORDS > 0 && !is_in_range { 0.0 } else { delay };
    // SAFETY: the caller's promise.
    let kept = unsafe { R::keep(geometry, kept, memory, shape, place) };
    [kept, if is_in_range { weight.0 } else { 0 }, 0, 0, 0, 0]
}

impl Windowed for Complex<F16> {
    halves!(8 voxels);

    #[inline(always)]
    fn sum(sums: [f32; 4], _part: usize, column: usize) -> Complex<f32> {
        Complex::new(sums[column], sums[2 + column])
    }
}

impl<R: Reading> Operand<R> for Complex<F16> {
    type Left = [u32; 4];

    #[inline(always)]
    unsafe fn weigh(
        geometry: &Geometry<f32>,
        contribution: Contribution,
        memory: (&Memory, Shape),
        place: u32,
    ) -> Words {
        let weight: Complex<f32> = contribution.weight(geometry.turns);
        let weight = F16Pair::from_f32([weight.re, weight.im]);
        // SAFETY: the caller's promise.
        unsafe { weigh::<R>(geometry, contribution, weight, memory, place) }
    }

    #[inline(always)]
    unsafe fn left(
        [voxel, _]: [Words; 2],
        [place, _]: [u32; 2],
        mark: u32,
        (memory, shape): (&Memory, Shape),
    ) -> [u32; 4] {
        let weight = F16Pair(voxel[1]);
        // SAFETY: the caller's promise.
        let pair = unsafe { R::pair(memory, shape, place, voxel[0], f32::from_bits(mark), 0) };
        let cosine = pair.multiply(weight.low_twice());
        let sine = pair.multiply(weight.high_twice());
        // The same number once more: one register in two places of an operand would be copied for every product.
        let again = pair.multiply_add(weight.low_twice(), F16Pair::MINUS_ZERO);
        [cosine.0, sine.0, sine.negate().0, again.0]
    }

    #[inline(always)]
    unsafe fn multiply_add(left: &[u32; 4], [right, _]: [[u32; 2]; 2], sums: [f32; 4]) -> [f32; 4] {
        // SAFETY: the caller's promise.
        unsafe { mma_m16n8k16_f16(*left, right, sums) }
    }
}

impl Windowed for F16 {
    halves!(16 voxels);

    #[inline(always)]
    fn sum(sums: [f32; 4], part: usize, column: usize) -> f32 {
        sums[2 * part + column]
    }
}

impl<R: Reading> Operand<R> for F16 {
    type Left = [u32; 4];

    #[inline(always)]
    unsafe fn weigh(
        geometry: &Geometry<f32>,
        contribution: Contribution,
        memory: (&Memory, Shape),
        place: u32,
    ) -> Words {
        let weight = F16Pair::from_f32([contribution.amplitude; 2]);
        // SAFETY: the caller's promise.
        unsafe { weigh::<R>(geometry, contribution, weight, memory, place) }
    }

    #[inline(always)]
    unsafe fn left(
        [lower, upper]: [Words; 2],
        places: [u32; 2],
        mark: u32,
        (memory, shape): (&Memory, Shape),
    ) -> [u32; 4] {
        let product = |voxel: Words, place: u32, later: u32| {
            // SAFETY: the caller's promise.
            let pair = unsafe { R::pair(memory, shape, place, voxel[0], f32::from_bits(mark), later) };
            pair.multiply(F16Pair(voxel[1])).0
        };
        [
            product(lower, places[0], 0),
            product(upper, places[1], 0),
            product(lower, places[0], 2),
            product(upper, places[1], 2),
        ]
    }

    #[inline(always)]
    unsafe fn multiply_add(left: &[u32; 4], [right, _]: [[u32; 2]; 2], sums: [f32; 4]) -> [f32; 4] {
        // SAFETY: the caller's promise.
        unsafe { mma_m16n8k16_f16(*left, right, sums) }
    }
}

impl Contribution {
    /// The weight of the samples: the amplitude, turned by the carrier's phase where samples are complex.
    #[inline(always)]
    pub(super) fn weight<V: Value<Real = f32>>(&self, turns: TurnsPerSample<f32>) -> V {
        V::weight(self.amplitude, self.delay, turns, self.phase)
    }
}
