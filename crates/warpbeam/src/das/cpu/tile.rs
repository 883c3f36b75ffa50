//! Delays and weights of a tile of voxels for one transmit and one channel.

use super::super::prepared::Prepared;
use super::TILE;
use cuda_std::math::Real;
use std::ops::Range;
use wavefield::aperture::receive_weight;
use wavefield::geometry::length;
use wavefield::sampling::{MOST_TAPS, in_range, linear, nearest, taps};

/// Marks a voxel that a transmit and channel add nothing to.
pub(super) const UNUSED: i32 = i32::MIN;

/// Taps of code that takes the interpolation as it comes.
pub(super) const ANY: usize = 0;

/// Offsets and weights of a tile's voxels for a transmit.
pub(super) type Entry<R> = ([R; TILE], [R; TILE]);

/// The voxels of a tile, their coordinates side by side.
pub(super) struct Voxels<R> {
    range: Range<usize>,
    x: [R; TILE],
    y: [R; TILE],
    z: [R; TILE],
}

/// Where a tile's voxels find their samples, and what those weigh.
pub(super) struct Taps<R> {
    /// The first sample, or [`UNUSED`].
    pub(super) first: [i32; TILE],
    /// The second sample's share.
    pub(super) fraction: [R; TILE],
    /// The samples' shares, where their number is open.
    pub(super) shares: [[R; MOST_TAPS]; TILE],
    /// Real part of the weight.
    pub(super) real: [R; TILE],
    /// Imaginary part of the weight.
    pub(super) imaginary: [R; TILE],
}

impl<R: Real> Voxels<R> {
    /// Voxels `range` of the geometry, at most a tile of them.
    pub(super) fn new(prepared: &Prepared<R>, range: Range<usize>) -> Self {
        let n = prepared.n_voxels;
        let axis = |axis: usize| {
            let mut values = [R::ZERO; TILE];
            values[..range.len()].copy_from_slice(&prepared.voxels[axis * n + range.start..axis * n + range.end]);
            values
        };
        Self {
            x: axis(0),
            y: axis(1),
            z: axis(2),
            range,
        }
    }

    /// Voxels `range` of the geometry as tiles, the last one perhaps not full.
    pub(super) fn tiles(prepared: &Prepared<R>, range: Range<usize>) -> Vec<Self> {
        let starts = range.clone().step_by(TILE);
        starts
            .map(|start| Self::new(prepared, start..range.end.min(start + TILE)))
            .collect()
    }

    /// The tile's entries of a transmit: one for all voxels, or as often as it is in their lists; voxels beyond the last
    /// one, and those that do not list it, weigh nothing.
    pub(super) fn entries(&self, prepared: &Prepared<R>, transmit: usize) -> Vec<Entry<R>> {
        let row =
            |entry: usize| entry * prepared.n_voxels + self.range.start..entry * prepared.n_voxels + self.range.end;
        let of_entry = |entry: usize| {
            let from = |values: &[R]| {
                let mut tile = [R::ZERO; TILE];
                tile[..self.range.len()].copy_from_slice(&values[row(entry)]);
                tile
            };
            (from(&prepared.offsets), from(&prepared.weights))
        };
        if prepared.transmits.is_empty() {
            return vec![of_entry(transmit)];
        }
        let listed = |entry: usize| {
            prepared.transmits[row(entry)]
                .iter()
                .map(|listed| *listed as usize == transmit)
        };
        (0..prepared.n_entries)
            .filter(|entry| listed(*entry).any(|is_listed| is_listed))
            .map(|entry| {
                let (offsets, mut weights) = of_entry(entry);
                for (weight, is_listed) in weights.iter_mut().zip(listed(entry)) {
                    *weight = if is_listed { *weight } else { R::ZERO };
                }
                (offsets, weights)
            })
            .collect()
    }
}

impl<R: Real> Taps<R> {
    pub(super) fn new() -> Self {
        Self {
            first: [UNUSED; TILE],
            fraction: [R::ZERO; TILE],
            shares: [[R::ZERO; MOST_TAPS]; TILE],
            real: [R::ZERO; TILE],
            imaginary: [R::ZERO; TILE],
        }
    }

    /// Fills in one transmit (its offsets, weights and phase) and one channel.
    #[inline(always)]
    pub(super) fn fill<const COMPLEX: bool, const N_TAPS: usize>(
        &mut self,
        prepared: &Prepared<R>,
        voxels: &Voxels<R>,
        (offsets, weights): &Entry<R>,
        transmit: usize,
        channel: usize,
        n_samples: i32,
    ) {
        let [x, y] = prepared.elements[2 * channel];
        let [z, channel_weight] = prepared.elements[2 * channel + 1];
        let mut delays = [R::ZERO; TILE];
        let mut amplitudes = *weights;
        for v in 0..TILE {
            amplitudes[v] = amplitudes[v] * channel_weight;
            delays[v] = length([voxels.x[v] - x, voxels.y[v] - y, voxels.z[v] - z]) + offsets[v];
        }
        if !prepared.normals.is_empty() {
            let [normal_x, normal_y] = prepared.normals[2 * channel];
            let [normal_z, bound] = prepared.normals[2 * channel + 1];
            for (v, amplitude) in amplitudes.iter_mut().enumerate() {
                let offset = [voxels.x[v] - x, voxels.y[v] - y, voxels.z[v] - z];
                let normal = [normal_x, normal_y, normal_z];
                let weight = receive_weight(offset, length(offset), normal, bound, &prepared.aperture);
                *amplitude = *amplitude * weight;
            }
        }
        for v in 0..TILE {
            let used = in_range(delays[v], n_samples) && amplitudes[v] != R::ZERO;
            let delay = if used { delays[v] } else { R::ZERO };
            let (first, fraction) = match N_TAPS {
                1 => (nearest(delay), R::ZERO),
                2 => linear(delay),
                _ => {
                    let first;
                    (first, self.shares[v]) = taps(prepared.interpolation, delay);
                    (first, R::ZERO)
                }
            };
            self.first[v] = if used { first } else { UNUSED };
            self.fraction[v] = fraction;
            if COMPLEX {
                let (cosine, sine) = prepared.turns.cos_sin(delay, prepared.phases[transmit]);
                self.real[v] = amplitudes[v] * cosine;
                self.imaginary[v] = amplitudes[v] * sine;
            } else {
                self.real[v] = amplitudes[v];
            }
        }
    }
}
