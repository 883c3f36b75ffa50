//! Delays and weights of a tile of voxels for one transmit and one channel.

use super::super::prepared::Prepared;
use super::TILE;
use cuda_std::math::Real;
use std::ops::Range;
use wavefield::aperture::receive_weight;
use wavefield::geometry::length;
use wavefield::sampling::{in_range, linear, nearest};

/// Marks a voxel that a transmit and channel add nothing to.
pub(super) const UNUSED: i32 = -1;

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

    /// Offsets and weights of a transmit in the tile; voxels beyond the last one weigh nothing.
    pub(super) fn transmit(&self, prepared: &Prepared<R>, transmit: usize) -> ([R; TILE], [R; TILE]) {
        let from = |values: &[R]| {
            let start = transmit * prepared.n_voxels;
            let mut tile = [R::ZERO; TILE];
            tile[..self.range.len()].copy_from_slice(&values[start + self.range.start..start + self.range.end]);
            tile
        };
        (from(&prepared.offsets), from(&prepared.weights))
    }
}

impl<R: Real> Taps<R> {
    pub(super) fn new() -> Self {
        Self {
            first: [UNUSED; TILE],
            fraction: [R::ZERO; TILE],
            real: [R::ZERO; TILE],
            imaginary: [R::ZERO; TILE],
        }
    }

    /// Fills in one transmit (its offsets, weights and phase) and one channel.
    #[inline(always)]
    pub(super) fn fill<const COMPLEX: bool, const LINEAR: bool>(
        &mut self,
        prepared: &Prepared<R>,
        voxels: &Voxels<R>,
        (offsets, weights): &([R; TILE], [R; TILE]),
        transmit: usize,
        channel: usize,
        n_samples: i32,
    ) {
        let [x, y] = prepared.elements[2 * channel];
        let [z, _] = prepared.elements[2 * channel + 1];
        let mut delays = [R::ZERO; TILE];
        let mut amplitudes = *weights;
        for v in 0..TILE {
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
            let (first, fraction) = if LINEAR {
                linear(delay)
            } else {
                (nearest(delay), R::ZERO)
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
