//! A plan's geometry on the device, and the blocks of parameters that kernels get of it.

use crate::Result;
use crate::das::Sample;
use crate::das::parts::Parts;
use crate::das::prepared::Prepared;
use crate::device::{Backend, Element, Tensor};
use cuda_std::Global;
use kernels::das::geometry::Geometry;
use kernels::das::output::Output;
use ndarray::{Array1, ArrayView1, ArrayView2, Axis, Slice};
use std::ops::Range;
use wavefield::aperture::Aperture;
use wavefield::phase::TurnsPerSample;
use wavefield::sampling::Interpolation;

/// What does not depend on the voxels.
pub(super) struct Parameters<T: Sample> {
    aperture: Aperture<T::Real>,
    turns: TurnsPerSample<T::Real>,
    pub(super) interpolation: Interpolation,
    pub(super) parts: Parts,
    pub(super) n_entries: usize,
    /// A power of two that brings the largest weight to between 1/2 and 1.
    pub(super) gain: f32,
    is_directive: bool,
    is_sparse: bool,
}

/// The largest exponent of a gain, which leaves room for another 2¹² and for its inverse.
const LARGEST_GAIN_EXPONENT: f64 = 100.0;

impl<T: Sample> Parameters<T> {
    pub(super) fn new(prepared: &Prepared<T::Real>) -> Self {
        Self {
            aperture: prepared.aperture,
            turns: prepared.turns,
            interpolation: prepared.interpolation,
            parts: prepared.parts,
            n_entries: prepared.n_entries,
            gain: {
                let exponent = prepared.largest_weight.max(f64::MIN_POSITIVE).log2().floor() + 1.0;
                (-exponent.clamp(-LARGEST_GAIN_EXPONENT, LARGEST_GAIN_EXPONENT)).exp2() as f32
            },
            is_directive: !prepared.normals.is_empty(),
            is_sparse: !prepared.transmits.is_empty(),
        }
    }

    /// Bytes of a voxel's geometry.
    pub(super) fn voxel_bytes(&self) -> u64 {
        let entry = 2 * size_of::<T::Real>() + if self.is_sparse { size_of::<i32>() } else { 0 };
        (3 * size_of::<T::Real>() + self.n_entries * entry + size_of::<u32>()) as u64
    }
}

/// Elements, transmits and a range of voxels, on the device.
pub(super) struct DeviceGeometry<T: Sample> {
    elements: Tensor<T::Real>,
    normals: Tensor<T::Real>,
    phases: Tensor<T::Real>,
    voxels: Tensor<T::Real>,
    offsets: Tensor<T::Real>,
    weights: Tensor<T::Real>,
    transmits: Tensor<i32>,
    order: Tensor<u32>,
    n_voxels: usize,
}

impl<T: Sample> DeviceGeometry<T> {
    /// The voxels `range`, and in which order they are taken: as they are, where there is none.
    pub(super) fn new(
        backend: &Backend,
        prepared: &Prepared<T::Real>,
        range: Range<usize>,
        order: Option<Vec<u32>>,
    ) -> Result<Self> {
        let pairs =
            |values: &[[T::Real; 2]]| Tensor::from_array(backend, &Array1::from_iter(values.iter().flatten().copied()));
        Ok(Self {
            elements: pairs(&prepared.elements)?,
            normals: pairs(&prepared.normals)?,
            phases: Tensor::from_array(backend, &ArrayView1::from(&prepared.phases))?,
            voxels: planes(backend, &prepared.voxels, prepared.n_voxels, &range)?,
            offsets: planes(backend, &prepared.offsets, prepared.n_voxels, &range)?,
            weights: planes(backend, &prepared.weights, prepared.n_voxels, &range)?,
            transmits: planes(backend, &prepared.transmits, prepared.n_voxels, &range)?,
            order: Tensor::from_array(backend, &Array1::from(order.unwrap_or_default()))?,
            n_voxels: range.len(),
        })
    }

    /// The geometry of the voxels `range`, for recordings of `n_samples` samples.
    pub(super) fn block(
        &self,
        parameters: &Parameters<T>,
        range: &Range<usize>,
        n_samples: usize,
    ) -> Result<Geometry<T::Real>> {
        let is_ordered = !self.order.is_empty() && range.len() == self.n_voxels;
        Ok(Geometry {
            elements: self.elements.global_pairs("the elements")?,
            normals: self.normals.global_pairs("the normals")?,
            voxels: self.voxels.global("the voxels")?,
            offsets: self.offsets.global("the offsets")?,
            weights: self.weights.global("the weights")?,
            transmits: self.transmits.global("the lists of transmits")?,
            phases: self.phases.global("the phases")?,
            order: if is_ordered {
                self.order.global("the order of the voxels")?
            } else {
                Global::empty()
            },
            voxel_pitch: self.n_voxels as u64,
            first_voxel: range.start as u64,
            n_voxels: range.len() as u64,
            aperture: parameters.aperture,
            turns: parameters.turns,
            interpolation: parameters.interpolation,
            n_samples: n_samples as i32,
            n_channels: parameters.parts.n_channels as u32,
            n_transmits: parameters.parts.n_transmits as u32,
            n_entries: parameters.n_entries as u32,
            is_directive: u32::from(parameters.is_directive),
            is_sparse: u32::from(parameters.is_sparse),
            is_ordered: u32::from(is_ordered),
        })
    }

    /// The result `(batch, part, voxel)` of the voxels `range`.
    pub(super) fn output(
        parameters: &Parameters<T>,
        range: &Range<usize>,
        values: &mut Tensor<T::Sum>,
        beta: T::Real,
    ) -> Result<Output<T::Sum>> {
        let parts = parameters.parts;
        let (n_transmits, n_channels) = (parts.n_transmits as u32, parts.n_channels as u32);
        let whole = Output::whole(
            values.global_mut("the output")?,
            range.len() as u64,
            n_transmits,
            n_channels,
        );
        Ok(Output {
            beta,
            n_parts: parts.count() as u32,
            n_transmit_parts: parts.of_channels() as u32,
            transmits_per_part: parts.transmits_per_part() as u32,
            channels_per_part: parts.channels_per_part() as u32,
            ..whole
        })
    }
}

/// The columns `range` of planes of `n_voxels` numbers.
fn planes<E: Element>(backend: &Backend, values: &[E], n_voxels: usize, range: &Range<usize>) -> Result<Tensor<E>> {
    let planes = values.len().checked_div(n_voxels).unwrap_or(0);
    let view = ArrayView2::from_shape((planes, n_voxels), values);
    // The arrays were made with these lengths.
    view.map_or_else(
        |_| Tensor::zeros(backend, &[0, 0]),
        |view| Tensor::from_array(backend, &view.slice_axis(Axis(1), Slice::from(range.clone()))),
    )
}
