//! How samples are interpolated: which weight each sample of a window has for a voxel.
//!
//! | | of a voxel and channel | a sample's weight |
//! |---|---|---|
//! | [`Linear`] | the delay | the hat function of the distance between the two |
//! | [`Nearest`] | the nearest sample, as if it were the delay | the same, 1 or 0 |
//! | [`Any`] | [`Any::WORDS`] pairs of weights, from an even sample on, and two of 0 | the pair that lies there, or the last |
//!
//! Weights of many samples cost much to find and little to place: a lane finds those of a voxel and channel once, and the
//! products look them up, a word for two samples.

use super::super::geometry::Geometry;
use super::memory::Memory;
use super::shape::Shape;
use cuda_std::half::F16Pair;
use cuda_std::math::hat;
use wavefield::sampling::{Interpolation, linear, nearest, taps};

/// Twice the pairs of weights of a voxel and channel: where the words of 0 are, counted in samples.
const END: u32 = 2 * Any::WORDS;

/// 1.5 · 2²³: single-precision numbers around it are whole, and their bits count.
const WHOLE: f32 = 12_582_912.0;

/// A way to interpolate.
pub(super) trait Reading {
    /// Words of weights that are kept of each voxel and channel.
    const WORDS: u32;

    /// Samples that a value is made of before and behind a delay's two neighbours.
    fn margin(geometry: &Geometry<f32>) -> i32;

    /// What is kept of a voxel and channel whose delay is in range, and is written to the voxel's `place` of the words.
    ///
    /// # Safety
    ///
    /// The place is this lane's.
    unsafe fn keep(geometry: &Geometry<f32>, delay: f32, memory: &Memory, shape: Shape, place: u32) -> u32;

    /// The weights of the samples `sample + later` and the one after it, which begin a pair.
    ///
    /// # Safety
    ///
    /// The place was written before the warp's last barrier.
    unsafe fn pair(memory: &Memory, shape: Shape, place: u32, kept: u32, sample: f32, later: u32) -> F16Pair;
}

/// A way that takes a sample and the one after it.
pub(super) trait TwoSamples: Reading {
    /// The first of the two, and the weights of both, for a delay in range.
    fn two_samples(delay: f32) -> (i32, [f32; 2]);
}

#[inline(always)]
fn hats(delay: u32, sample: f32, later: u32) -> F16Pair {
    let behind = f32::from_bits(delay) - sample;
    F16Pair::from_f32([hat(behind - later as f32), hat(behind - (later as f32 + 1.0))])
}

/// Between two neighbours.
pub(super) struct Linear;

impl Reading for Linear {
    const WORDS: u32 = 0;

    #[inline(always)]
    fn margin(_: &Geometry<f32>) -> i32 {
        0
    }

    #[inline(always)]
    unsafe fn keep(_: &Geometry<f32>, delay: f32, _: &Memory, _: Shape, _: u32) -> u32 {
        delay.to_bits()
    }

    #[inline(always)]
    unsafe fn pair(_: &Memory, _: Shape, _: u32, kept: u32, sample: f32, later: u32) -> F16Pair {
        hats(kept, sample, later)
    }
}

impl TwoSamples for Linear {
    #[inline(always)]
    fn two_samples(delay: f32) -> (i32, [f32; 2]) {
        let (first, fraction) = linear(delay);
        (first, [1.0 - fraction, fraction])
    }
}

/// The nearest sample.
pub(super) struct Nearest;

impl Reading for Nearest {
    const WORDS: u32 = 0;

    #[inline(always)]
    fn margin(_: &Geometry<f32>) -> i32 {
        0
    }

    #[inline(always)]
    unsafe fn keep(_: &Geometry<f32>, delay: f32, _: &Memory, _: Shape, _: u32) -> u32 {
        (nearest(delay) as f32).to_bits()
    }

    #[inline(always)]
    unsafe fn pair(_: &Memory, _: Shape, _: u32, kept: u32, sample: f32, later: u32) -> F16Pair {
        hats(kept, sample, later)
    }
}

impl TwoSamples for Nearest {
    #[inline(always)]
    fn two_samples(delay: f32) -> (i32, [f32; 2]) {
        (nearest(delay), [1.0, 0.0])
    }
}

/// The geometry's interpolation, whatever its samples.
pub(super) struct Any;

impl Any {
    /// Pairs of weights: those of six samples, of which the first may be odd.
    const WORDS: u32 = 4;
}

impl Reading for Any {
    const WORDS: u32 = Self::WORDS + 1;

    #[inline(always)]
    fn margin(geometry: &Geometry<f32>) -> i32 {
        if geometry.interpolation == Interpolation::Lanczos3 {
            2
        } else {
            1
        }
    }

    #[inline(always)]
    unsafe fn keep(geometry: &Geometry<f32>, delay: f32, memory: &Memory, shape: Shape, place: u32) -> u32 {
        let (first, weights) = taps(geometry.interpolation, delay);
        let is_odd = first & 1 != 0;
        let pair = |index: usize| {
            let weight = |index: usize| if index < weights.len() { weights[index] } else { 0.0 };
            let before = if index == 0 { 0.0 } else { weight(2 * index - 1) };
            F16Pair::from_f32(if is_odd {
                [before, weight(2 * index)]
            } else {
                [weight(2 * index), weight(2 * index + 1)]
            })
        };
        // SAFETY: the caller's promise.
        unsafe {
            cuda_std::unroll!(WORD in [0, 1, 2, 3] {
                memory.words.store(shape.word(WORD as u32, place), pair(WORD).0);
            });
            memory.words.store(shape.word(Self::WORDS, place), 0);
        }
        (WHOLE - (first & !1) as f32).to_bits()
    }

    #[inline(always)]
    unsafe fn pair(memory: &Memory, shape: Shape, place: u32, origin: u32, sample: f32, later: u32) -> F16Pair {
        // Samples before the first pair and far ones are large numbers too.
        let from_first = (f32::from_bits(origin) + sample)
            .to_bits()
            .wrapping_sub(WHOLE.to_bits());
        let at = from_first.wrapping_add(later).min(END);
        // SAFETY: a word of the place's.
        F16Pair(unsafe { memory.words.load(shape.word_of_sample(at, place)) })
    }
}

cuda_std::on_host! {
    use super::super::voxel::Taps;

    /// For which interpolations a reading is.
    pub(super) trait Reads {
        /// The samples that a value is made of.
        const TAPS: Taps;
    }

    impl Reads for Linear {
        const TAPS: Taps = Taps::Two;
    }

    impl Reads for Nearest {
        const TAPS: Taps = Taps::One;
    }

    impl Reads for Any {
        const TAPS: Taps = Taps::Any;
    }
}
