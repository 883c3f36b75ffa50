//! Propagation on the CPU: threads share the targets, vector units the frequencies.
//!
//! Amplitudes are first laid out as `(source, batch, part, frequency)`, so that a source's waves, made once for all batch
//! items, meet numbers that follow each other.

use super::halving::{Halving, bounded, rounded};
use super::plan::Amplitude;
use super::prepared::Prepared;
use cuda_std::math::Real;
use kernels::greens::SEGMENT;
use ndarray::{ArrayView2, ArrayView3, ArrayViewMut2, ArrayViewMut3, Axis};
use rayon::prelude::*;
use wavefield::geometry::{Vector, difference, dot};

/// Propagates `amplitudes` (batch, source, frequency) to `output` (batch, target, frequency).
pub(super) fn run<T: Amplitude>(
    prepared: &Prepared<T::Real>,
    halving: Option<&Halving>,
    amplitudes: &ArrayView3<'_, T>,
    mut output: ArrayViewMut3<'_, T>,
) {
    if output.is_empty() {
        return;
    }
    let (n_batch, n_sources, n_frequencies) = amplitudes.dim();
    let of_source = 2 * n_batch * n_frequencies;
    let scales: Vec<[f32; 2]> = match halving {
        Some(halving) => amplitudes
            .outer_iter()
            .map(|item| halving.amplitude_scale(peak(&item)))
            .collect(),
        None => vec![[1.0; 2]; n_batch],
    };
    let mut packed = vec![T::Real::ZERO; n_sources * of_source];
    packed
        .par_chunks_exact_mut(of_source)
        .enumerate()
        .for_each(|(source, packed)| {
            for (item, packed) in packed.chunks_exact_mut(2 * n_frequencies).enumerate() {
                let (real, imaginary) = packed.split_at_mut(n_frequencies);
                for frequency in 0..n_frequencies {
                    let parts = amplitudes[[item, source, frequency]].parts();
                    [real[frequency], imaginary[frequency]] = match halving {
                        Some(_) => parts.map(|part| rounded(part * T::Real::from_f64(f64::from(scales[item][0])))),
                        None => parts,
                    };
                }
            }
        });
    output
        .axis_iter_mut(Axis(1))
        .into_par_iter()
        .zip(&prepared.targets)
        .for_each_init(
            || (vec![T::Real::ZERO; of_source], vec![T::Real::ZERO; 2 * n_frequencies]),
            |(sums, waves), (output, target)| {
                pulp::Arch::new().dispatch(Target::<T> {
                    prepared,
                    halving,
                    scales: &scales,
                    packed: &packed,
                    position: *target,
                    output,
                    sums,
                    waves,
                });
            },
        );
}

/// The largest finite magnitude of a part.
fn peak<T: Amplitude>(item: &ArrayView2<'_, T>) -> f32 {
    let parts = item.iter().flat_map(|amplitude| amplitude.parts());
    let magnitudes = parts
        .map(|part| part.to_f64().abs())
        .filter(|magnitude| magnitude.is_finite());
    magnitudes.fold(0.0, f64::max) as f32
}

struct Target<'a, T: Amplitude> {
    prepared: &'a Prepared<T::Real>,
    halving: Option<&'a Halving>,
    /// What amplitudes of an item were multiplied by, and the inverse.
    scales: &'a [[f32; 2]],
    /// All sources' amplitudes.
    packed: &'a [T::Real],
    position: Vector<T::Real>,
    output: ArrayViewMut2<'a, T>,
    /// As a source's amplitudes.
    sums: &'a mut [T::Real],
    /// Real and imaginary parts of a source's waves.
    waves: &'a mut [T::Real],
}

impl<T: Amplitude> pulp::NullaryFnOnce for Target<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        let segment = SEGMENT as usize;
        let sources = self.prepared.sources.chunks(segment);
        let packed = self.packed.chunks(segment * self.sums.len());
        for (number, (sources, packed)) in sources.zip(packed).enumerate() {
            self.sums.fill(T::Real::ZERO);
            for (source, amplitudes) in sources.iter().zip(packed.chunks_exact(self.sums.len())) {
                self.add(source, amplitudes);
            }
            self.write(number > 0);
        }
    }
}

impl<T: Amplitude> Target<'_, T> {
    /// Adds a source's waves.
    #[inline(always)]
    fn add(&mut self, source: &Vector<T::Real>, amplitudes: &[T::Real]) {
        let turns = &self.prepared.turns[..];
        let way = difference(self.position, *source);
        let (distance, mut inverse) = dot(way, way).root_and_inverse();
        if let Some(halving) = self.halving {
            inverse = bounded(inverse * T::Real::from_f64(f64::from(halving.wave_scale()[0])));
        }
        let (real, imaginary) = self.waves.split_at_mut(turns.len());
        for ((real, imaginary), turns) in real.iter_mut().zip(imaginary.iter_mut()).zip(turns) {
            let (cosine, sine) = turns.fraction(distance).cos_sin_turn();
            (*real, *imaginary) = (inverse * cosine, inverse * sine);
        }
        if self.halving.is_some() {
            for part in self.waves.iter_mut() {
                *part = rounded(*part);
            }
        }
        let (real, imaginary) = self.waves.split_at(turns.len());
        let of_item = 2 * turns.len();
        for (sums, amplitudes) in self
            .sums
            .chunks_exact_mut(of_item)
            .zip(amplitudes.chunks_exact(of_item))
        {
            let (sums_real, sums_imaginary) = sums.split_at_mut(turns.len());
            let (x_real, x_imaginary) = amplitudes.split_at(turns.len());
            let sums = sums_real.iter_mut().zip(sums_imaginary.iter_mut());
            let waves = real.iter().zip(imaginary.iter());
            for (((sum_real, sum_imaginary), (re, im)), (x_re, x_im)) in
                sums.zip(waves).zip(x_real.iter().zip(x_imaginary))
            {
                *sum_real = (-*im).mul_add(*x_im, re.mul_add(*x_re, *sum_real));
                *sum_imaginary = im.mul_add(*x_re, re.mul_add(*x_im, *sum_imaginary));
            }
        }
    }

    /// Writes the sums, or adds them to what is there.
    #[inline(always)]
    fn write(&mut self, is_added: bool) {
        let n_frequencies = self.prepared.turns.len();
        let sums = self.sums.chunks_exact(2 * n_frequencies);
        for (item, (mut output, sums)) in self.output.outer_iter_mut().zip(sums).enumerate() {
            for (frequency, output) in output.iter_mut().enumerate() {
                let (mut re, mut im) = (sums[frequency], sums[n_frequencies + frequency]);
                if let Some(halving) = self.halving {
                    for inverse in [self.scales[item][1], halving.wave_scale()[1]] {
                        let inverse = T::Real::from_f64(f64::from(inverse));
                        (re, im) = (re * inverse, im * inverse);
                    }
                }
                if is_added {
                    let [former_re, former_im] = output.parts();
                    (re, im) = (former_re + re, former_im + im);
                }
                *output = T::from_parts(re, im);
            }
        }
    }
}
