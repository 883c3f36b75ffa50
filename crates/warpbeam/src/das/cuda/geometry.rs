//! A plan's geometry on the device, and the blocks of parameters that kernels get of it.

use super::piece::{self, Voxels};
use crate::Result;
use crate::das::Sample;
use crate::das::parts::Parts;
use crate::das::prepared::Prepared;
use crate::device::{Backend, Element, Stream, Tensor};
use crate::ops::{Indices, gather};
use cuda_std::Global;
use kernels::das::geometry::Geometry;
use kernels::das::output::Output;
use ndarray::{Array1, ArrayView1, ArrayView2, Axis, Slice};
use std::ops::Range;
use std::sync::Arc;
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

/// Elements, transmits and some of the voxels, on the device.
pub(super) struct DeviceGeometry<T: Sample> {
    elements: Arc<Tensor<T::Real>>,
    normals: Arc<Tensor<T::Real>>,
    phases: Arc<Tensor<T::Real>>,
    voxels: Tensor<T::Real>,
    offsets: Tensor<T::Real>,
    weights: Tensor<T::Real>,
    transmits: Tensor<i32>,
    order: Tensor<u32>,
    n_voxels: usize,
}

impl<T: Sample> DeviceGeometry<T> {
    /// Some of the voxels, and in which order they are taken: as they come, where there is none.
    pub(super) fn new(
        backend: &Backend,
        prepared: &Prepared<T::Real>,
        voxels: &Voxels<'_>,
        order: &[u32],
    ) -> Result<Self> {
        let pairs =
            |values: &[[T::Real; 2]]| Tensor::from_array(backend, &Array1::from_iter(values.iter().flatten().copied()));
        Ok(Self {
            elements: Arc::new(pairs(&prepared.elements)?),
            normals: Arc::new(pairs(&prepared.normals)?),
            phases: Arc::new(Tensor::from_array(backend, &ArrayView1::from(&prepared.phases))?),
            voxels: planes(backend, &prepared.voxels, prepared.n_voxels, voxels)?,
            offsets: planes(backend, &prepared.offsets, prepared.n_voxels, voxels)?,
            weights: planes(backend, &prepared.weights, prepared.n_voxels, voxels)?,
            transmits: planes(backend, &prepared.transmits, prepared.n_voxels, voxels)?,
            order: Tensor::from_array(backend, &ArrayView1::from(order))?,
            n_voxels: voxels.len(),
        })
    }

    /// A copy of the voxels of a list, which are taken as they come there.
    pub(super) fn of(&self, list: &[u32], stream: &Stream) -> Result<Self> {
        let backend = stream.backend();
        let indices = Array1::from_iter(list.iter().map(|voxel| voxel.cast_signed()));
        let indices = Indices::new(backend, &indices, self.n_voxels)?;
        Ok(Self {
            elements: Arc::clone(&self.elements),
            normals: Arc::clone(&self.normals),
            phases: Arc::clone(&self.phases),
            voxels: gather(&self.voxels, 1, &indices, stream)?,
            offsets: gather(&self.offsets, 1, &indices, stream)?,
            weights: gather(&self.weights, 1, &indices, stream)?,
            transmits: gather(&self.transmits, 1, &indices, stream)?,
            order: Tensor::zeros(backend, &[0])?,
            n_voxels: list.len(),
        })
    }

    /// The order in which voxels are taken; empty where they are taken as they come, or [`of`](Self::of) does not count them.
    pub(super) fn order(&self) -> Result<Vec<u32>> {
        if i32::try_from(self.n_voxels).is_err() {
            return Ok(Vec::new());
        }
        Ok(self.order.to_array()?.into_raw_vec_and_offset().0)
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

/// Columns of planes of `n_voxels` numbers.
fn planes<E: Element>(backend: &Backend, values: &[E], n_voxels: usize, voxels: &Voxels<'_>) -> Result<Tensor<E>> {
    let planes = values.len().checked_div(n_voxels).unwrap_or(0);
    // The arrays were made with these lengths.
    let Ok(view) = ArrayView2::from_shape((planes, n_voxels), values) else {
        return Tensor::zeros(backend, &[0, 0]);
    };
    match voxels {
        Voxels::Range(range) => Tensor::from_array(backend, &view.slice_axis(Axis(1), Slice::from(range.clone()))),
        Voxels::List(list) => Tensor::from_array(backend, &piece::columns(&view, list)),
    }
}
