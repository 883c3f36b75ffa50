//! Storage of samples as halves: a power of two for each batch item brings its largest sample near the top of the range.
//!
//! | launch of [`das_peak`] | |
//! |---|---|
//! | block | [`THREADS`] threads |
//! | grid | x: batch items, y: any number of blocks for each |
//! | shared memory, barriers | none |
//! | warp operations | one reduction, all 32 lanes |
//! | result | the largest finite magnitude of each batch item, as bits, by an atomic maximum over what was there |

use super::sample::Sample;
use cuda_std::half::F16;
use cuda_std::math::Real;
use cuda_std::{Global, GlobalMut, Parameters, Resources, atomic, thread, warp};
use num_complex::Complex;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// The exponent of the power of two below or at which the largest scaled sample of a batch item lies: half of what a half
/// holds.
const TOP_EXPONENT: i32 = 14;

/// The largest exponent of a scale, so that it and its inverse are normal numbers.
pub const LARGEST_EXPONENT: i32 = 126;

/// How values are scaled before they are stored, and where the batch items are marked that then hold something that is
/// not finite.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Scaling {
    /// The peaks of the batch items, `(batch,)`, as [`das_peak`] leaves them; not read where `exponent` is given.
    pub peaks: Global<u32>,
    /// What sums of a batch item have to be multiplied by, `(batch,)`; written where values are scaled.
    pub inverses: GlobalMut<f32>,
    /// Set to 1 for a batch item with a value that is not finite, `(batch,)`.
    pub marks: GlobalMut<u32>,
    /// The batch item of the arrays that is the first of the launch's samples.
    pub first_item: u32,
    /// The exponent of 2 to scale by, where it is given.
    pub exponent: i32,
    /// Where the scale comes from.
    pub source: Source,
    /// 1 if there are marks.
    pub is_marking: u32,
}

/// Which part of a number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Plane {
    /// The nearest number that the storage has.
    High,
    /// The nearest to what that leaves.
    Low,
}

/// Where the power of two comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Source {
    /// Values are stored as they are.
    Unscaled,
    /// From each batch item's peak.
    Peak,
    /// It is given.
    Given,
}

impl Scaling {
    /// Values as they are, nothing marked.
    pub const fn none() -> Self {
        Self {
            peaks: Global::empty(),
            inverses: GlobalMut::empty(),
            marks: GlobalMut::empty(),
            first_item: 0,
            exponent: 0,
            source: Source::Unscaled,
            is_marking: 0,
        }
    }

    /// The place of a batch item, counted from the launch's first, in the arrays.
    #[inline(always)]
    fn of_all(&self, item: u32) -> u64 {
        u64::from(self.first_item + item)
    }

    /// The exponent of a batch item's scale.
    ///
    /// # Safety
    ///
    /// The peaks hold the item, where they are read.
    #[inline(always)]
    unsafe fn exponent(&self, item: u32) -> i32 {
        if self.source == Source::Given {
            return self.exponent;
        }
        // SAFETY: the caller's promise.
        half_exponent(f32::from_bits(unsafe { self.peaks.load(self.of_all(item)) }))
    }

    /// What the values of a batch item are multiplied by.
    ///
    /// # Safety
    ///
    /// The arrays hold the item, where they are used.
    #[inline(always)]
    pub unsafe fn factor(&self, item: u32) -> f32 {
        if self.source == Source::Unscaled {
            1.0
        } else {
            // SAFETY: the caller's promise.
            power_of_two(unsafe { self.exponent(item) })
        }
    }

    /// Marks a batch item with a value that is not finite as it is stored.
    ///
    /// # Safety
    ///
    /// The marks hold the item.
    #[inline(always)]
    pub unsafe fn mark(&self, item: u32) {
        // SAFETY: the caller's promise.
        unsafe { atomic::max(self.marks, self.of_all(item), 1_u32) };
    }

    /// Writes what sums of a batch item have to be multiplied by.
    ///
    /// # Safety
    ///
    /// The arrays hold the item, where values are scaled, and no other thread writes it.
    #[inline(always)]
    pub unsafe fn write_inverse(&self, item: u32) {
        if self.source != Source::Unscaled {
            // SAFETY: the caller's promise.
            unsafe {
                self.inverses
                    .store(self.of_all(item), power_of_two(-self.exponent(item)));
            };
        }
    }
}

/// The exponent of the power of two that brings a peak near the top of a half's range.
#[inline(always)]
pub fn half_exponent(peak: f32) -> i32 {
    let bits = peak.to_bits();
    if bits == 0 {
        return 0;
    }
    (TOP_EXPONENT - ((bits >> 23) as i32 - 127)).clamp(-LARGEST_EXPONENT, LARGEST_EXPONENT)
}

/// 2 to a power that a normal number has.
#[inline(always)]
pub fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

/// A sample that can be stored as `D`.
pub trait Stored<D>: Sample {
    /// A plane of `self · factor`; the same type takes no factor but 1 and has one plane.
    fn stored(self, factor: f32, plane: Plane) -> D;

    /// Whether all of it is finite.
    fn is_finite(stored: D) -> bool;
}

macro_rules! stored {
    ($($from:ty => $to:ty: $convert:expr, $is_finite:expr;)*) => { $(
        impl Stored<$to> for $from {
            #[inline(always)]
            fn stored(self, factor: f32, plane: Plane) -> $to {
                let convert: fn($from, f32, Plane) -> $to = $convert;
                convert(self, factor, plane)
            }

            #[inline(always)]
            fn is_finite(stored: $to) -> bool {
                let is_finite: fn($to) -> bool = $is_finite;
                is_finite(stored)
            }
        }

        impl Stored<Complex<$to>> for Complex<$from> {
            #[inline(always)]
            fn stored(self, factor: f32, plane: Plane) -> Complex<$to> {
                Complex::new(self.re.stored(factor, plane), self.im.stored(factor, plane))
            }

            #[inline(always)]
            fn is_finite(stored: Complex<$to>) -> bool {
                <$from as Stored<$to>>::is_finite(stored.re) && <$from as Stored<$to>>::is_finite(stored.im)
            }
        }
    )* };
}

/// Whether a half is a number, by its exponent.
#[inline(always)]
fn is_finite_half(half: F16) -> bool {
    half.0 & 0x7c00 != 0x7c00
}

/// A plane of a number in halves.
#[inline(always)]
fn half(value: f32, plane: Plane) -> F16 {
    let high = F16::from_f32(value);
    match plane {
        Plane::High => high,
        Plane::Low => F16::from_f32(value - high.to_f32()),
    }
}

stored! {
    i16 => i16: |value, _, _| value, |_| true;
    F16 => F16: |value, _, _| value, is_finite_half;
    f32 => f32: |value, _, _| value, |value| Real::abs(value) <= f32::MAX;
    f32 => F16: |value, factor, plane| half(value * factor, plane), is_finite_half;
    i16 => F16: |value, _, plane| half(f32::from(value), plane), is_finite_half;
}

/// The parameters of [`das_peak`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Peak {
    /// Samples of all batch items, complex ones as two numbers.
    pub samples: Global<f32>,
    /// The peaks' bits, `(batch,)`.
    pub peaks: GlobalMut<u32>,
    /// Numbers of a batch item.
    pub n_numbers: u64,
    /// Blocks of a batch item.
    pub n_blocks: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl Parameters for Peak {}

/// The parameters of [`das_clear`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Clear {
    /// The peaks, `(batch,)`.
    pub peaks: GlobalMut<u32>,
    /// The marks, `(batch,)`.
    pub marks: GlobalMut<u32>,
    /// Batch items.
    pub n_batch: u32,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl Parameters for Clear {}

cuda_std::kernels! {
    /// No peaks and no marks yet; a thread a batch item.
    das_clear(p: Clear),
    threads THREADS, blocks 1,
    resources Resources { registers: 8, barriers: 0, warp_operations: 0, matrix_operations: 0 },
    {
        let item = thread::block_idx_x() * THREADS + thread::thread_idx_x();
        if item < p.n_batch {
            // SAFETY: the item is in range, and this thread's own.
            unsafe {
                p.peaks.store(u64::from(item), 0);
                p.marks.store(u64::from(item), 0);
            }
        }
    }
    /// The largest finite magnitude of each batch item.
    das_peak(p: Peak),
    threads THREADS, blocks 1,
    resources Resources { registers: 16, barriers: 0, warp_operations: 5, matrix_operations: 0 },
    {
        let item = u64::from(thread::block_idx_x());
        let step = u64::from(p.n_blocks) * u64::from(THREADS);
        let mut at = u64::from(thread::block_idx_y()) * u64::from(THREADS) + u64::from(thread::thread_idx_x());
        let mut largest = 0_u32;
        while at < p.n_numbers {
            // SAFETY: the item and the number are in range.
            let bits = unsafe { p.samples.load(item * p.n_numbers + at) }.to_bits() & 0x7fff_ffff;
            // Bits of numbers from 0 on are in the numbers' order; infinity and NaN are above all finite ones.
            if bits < f32::INFINITY.to_bits() && bits > largest {
                largest = bits;
            }
            at += step;
        }
        // SAFETY: all lanes come here; the peaks hold the item.
        unsafe {
            for shift in 0..5 {
                largest = largest.max(warp::shuffle_xor(largest, 1 << shift));
            }
            if thread::lane() == 0 {
                atomic::max(p.peaks, item, largest);
            }
        }
    }
}
