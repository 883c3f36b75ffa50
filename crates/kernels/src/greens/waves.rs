//! A thread's waves: from a source's distance to complex amplitudes, one frequency after the other.
//!
//! A half of a run goes away from the run's middle: the lower half (0) from frequency 7 down to 0, the upper half (1) from 8
//! up to 15.

use super::{Greens, HALF_RUN};
use cuda_std::Global;
use cuda_std::math::Real;
use num_complex::Complex;
use wavefield::phase::TurnsPerSample;

/// Where a run of frequencies is.
#[derive(Clone, Copy)]
pub(super) struct Run {
    /// Its number.
    pub(super) number: u32,
    /// Its first frequency.
    pub(super) first: u32,
}

impl Run {
    /// Frequency `step` of a half.
    #[inline(always)]
    pub(super) fn frequency(self, half: u32, step: u32) -> u32 {
        if half == 0 {
            self.first + (HALF_RUN - 1 - step)
        } else {
            self.first + (HALF_RUN + step)
        }
    }
}

/// How waves of a run's frequencies are made.
pub(super) trait Waves: Copy {
    /// A source's waves at a target, before the first one is made.
    type Source: Copy;
    /// What the next waves of a half are made from.
    type Chain: Copy;

    /// The first frequency of run `number`.
    fn first_frequency(p: &Greens, number: u32) -> u32;

    /// For a run, or for its half `half`.
    ///
    /// # Safety
    ///
    /// The slice of wavenumbers holds what its documentation says.
    unsafe fn new(p: &Greens, run: Run, half: u32) -> Self;

    /// The waves over a distance whose inverse is given, too.
    fn source(&self, distance: f32, inverse: f32) -> Self::Source;

    /// The beginning of half `half`.
    fn begin(source: Self::Source, half: u32) -> Self::Chain;

    /// The waves of the next two frequencies, `PAIR` pairs from the half's beginning on.
    fn two<const PAIR: usize>(&self, chain: &mut Self::Chain) -> [Complex<f32>; 2];
}

/// `a · b`.
#[inline(always)]
fn multiply(a: Complex<f32>, b: Complex<f32>) -> Complex<f32> {
    Complex::new(
        Real::mul_add(a.re, b.re, -(a.im * b.im)),
        Real::mul_add(a.re, b.im, a.im * b.re),
    )
}

/// `sum + a · b`.
#[inline(always)]
pub(super) fn multiply_add(sum: Complex<f32>, a: Complex<f32>, b: Complex<f32>) -> Complex<f32> {
    Complex::new(
        Real::mul_add(-a.im, b.im, Real::mul_add(a.re, b.re, sum.re)),
        Real::mul_add(a.im, b.re, Real::mul_add(a.re, b.im, sum.im)),
    )
}

/// A pair of numbers as turns per unit length.
///
/// # Safety
///
/// The slice holds it.
#[inline(always)]
unsafe fn turns(from: Global<[f32; 2]>, index: u32) -> TurnsPerSample<f32> {
    // SAFETY: the caller's promise.
    let [high, low] = unsafe { from.load(u64::from(index)) };
    TurnsPerSample { high, low }
}

/// The wave over a distance.
#[inline(always)]
fn wave(turns: TurnsPerSample<f32>, distance: f32, amplitude: f32) -> Complex<f32> {
    let (cosine, sine) = turns.fraction(distance).cos_sin_turn();
    Complex::new(amplitude * cosine, amplitude * sine)
}

/// Evenly spaced wavenumbers: from a wave in the middle on by rotation.
#[derive(Clone, Copy)]
pub(super) struct Rotated {
    middle: TurnsPerSample<f32>,
    step: TurnsPerSample<f32>,
}

/// A wave and what makes the next one of it.
#[derive(Clone, Copy)]
pub(super) struct Rotation {
    wave: Complex<f32>,
    step: Complex<f32>,
}

impl Waves for Rotated {
    type Source = Rotation;
    type Chain = Rotation;

    /// The last run is whole: it begins among the frequencies of the one before.
    #[inline(always)]
    fn first_frequency(p: &Greens, number: u32) -> u32 {
        (number * 2 * HALF_RUN).min(p.n_frequencies - 2 * HALF_RUN)
    }

    #[inline(always)]
    unsafe fn new(p: &Greens, run: Run, _half: u32) -> Self {
        Self {
            // SAFETY: the caller's promise.
            middle: unsafe { turns(p.wavenumbers, run.number) },
            step: p.step,
        }
    }

    #[inline(always)]
    fn source(&self, distance: f32, inverse: f32) -> Rotation {
        Rotation {
            wave: wave(self.middle, distance, inverse),
            step: wave(self.step, distance, 1.0),
        }
    }

    #[inline(always)]
    fn begin(source: Rotation, half: u32) -> Rotation {
        let back = source.step.conj();
        if half == 0 {
            Rotation {
                wave: multiply(source.wave, back),
                step: back,
            }
        } else {
            source
        }
    }

    #[inline(always)]
    fn two<const PAIR: usize>(&self, chain: &mut Rotation) -> [Complex<f32>; 2] {
        let first = chain.wave;
        let second = multiply(first, chain.step);
        chain.wave = multiply(second, chain.step);
        [first, second]
    }
}

/// Any wavenumbers: a sine and a cosine a wave.
#[derive(Clone, Copy)]
pub(super) struct Computed {
    wavenumbers: [TurnsPerSample<f32>; HALF_RUN as usize],
}

/// The way from a source, and its inverse.
#[derive(Clone, Copy)]
pub(super) struct Way {
    distance: f32,
    inverse: f32,
}

impl Waves for Computed {
    type Source = Way;
    type Chain = Way;

    #[inline(always)]
    fn first_frequency(_: &Greens, number: u32) -> u32 {
        number * 2 * HALF_RUN
    }

    #[inline(always)]
    unsafe fn new(p: &Greens, run: Run, half: u32) -> Self {
        let mut wavenumbers = [TurnsPerSample { high: 0.0, low: 0.0 }; HALF_RUN as usize];
        cuda_std::unroll!(STEP in [0, 1, 2, 3, 4, 5, 6, 7] {
            // The last one stands for those behind it.
            let frequency = run.frequency(half, STEP as u32).min(p.n_frequencies - 1);
            // SAFETY: the caller's promise.
            wavenumbers[STEP] = unsafe { turns(p.wavenumbers, frequency) };
        });
        Self { wavenumbers }
    }

    #[inline(always)]
    fn source(&self, distance: f32, inverse: f32) -> Way {
        Way { distance, inverse }
    }

    #[inline(always)]
    fn begin(source: Way, _half: u32) -> Way {
        source
    }

    #[inline(always)]
    fn two<const PAIR: usize>(&self, chain: &mut Way) -> [Complex<f32>; 2] {
        [
            wave(self.wavenumbers[2 * PAIR], chain.distance, chain.inverse),
            wave(self.wavenumbers[2 * PAIR + 1], chain.distance, chain.inverse),
        ]
    }
}
