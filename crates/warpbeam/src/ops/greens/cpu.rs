//! Propagation on the CPU: threads share the targets, vector units the frequencies.
//!
//! Amplitudes are first laid out as `(source, batch, part, frequency)`, so that a source's waves, made once for all batch
//! items, meet numbers that follow each other.

use super::plan::Amplitude;
use super::prepared::Prepared;
use cuda_std::math::Real;
use kernels::greens::SEGMENT;
use ndarray::{ArrayView3, ArrayViewMut2, ArrayViewMut3, Axis};
use rayon::prelude::*;
use wavefield::geometry::{Vector, difference, dot};

/// Propagates `amplitudes` (batch, source, frequency) to `output` (batch, target, frequency).
pub(super) fn run<T: Amplitude>(
    prepared: &Prepared<T::Real>,
    amplitudes: &ArrayView3<'_, T>,
    mut output: ArrayViewMut3<'_, T>,
) {
    if output.is_empty() {
        return;
    }
    let (n_batch, n_sources, n_frequencies) = amplitudes.dim();
    let of_source = 2 * n_batch * n_frequencies;
    let mut packed = vec![T::Real::ZERO; n_sources * of_source];
    packed
        .par_chunks_exact_mut(of_source)
        .enumerate()
        .for_each(|(source, packed)| {
            for (item, packed) in packed.chunks_exact_mut(2 * n_frequencies).enumerate() {
                let (real, imaginary) = packed.split_at_mut(n_frequencies);
                for frequency in 0..n_frequencies {
                    [real[frequency], imaginary[frequency]] = amplitudes[[item, source, frequency]].parts();
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
                    packed: &packed,
                    position: *target,
                    output,
                    sums,
                    waves,
                });
            },
        );
}

struct Target<'a, T: Amplitude> {
    prepared: &'a Prepared<T::Real>,
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
        let (distance, inverse) = dot(way, way).root_and_inverse();
        let (real, imaginary) = self.waves.split_at_mut(turns.len());
        for ((real, imaginary), turns) in real.iter_mut().zip(imaginary.iter_mut()).zip(turns) {
            let (cosine, sine) = turns.fraction(distance).cos_sin_turn();
            (*real, *imaginary) = (inverse * cosine, inverse * sine);
        }
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
        for (mut output, sums) in self.output.outer_iter_mut().zip(sums) {
            for (frequency, output) in output.iter_mut().enumerate() {
                let (mut re, mut im) = (sums[frequency], sums[n_frequencies + frequency]);
                if is_added {
                    let [former_re, former_im] = output.parts();
                    (re, im) = (former_re + re, former_im + im);
                }
                *output = T::from_parts(re, im);
            }
        }
    }
}
