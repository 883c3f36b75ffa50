//! A plan's geometry on the device, and the blocks of parameters that kernels get of it.

use crate::Result;
use crate::das::Sample;
use crate::das::parts::Parts;
use crate::das::prepared::Prepared;
use crate::device::{Backend, Tensor};
use cuda_std::Global;
use kernels::das::geometry::Geometry;
use kernels::das::output::Output;
use ndarray::{Array1, Array2, ArrayView1};
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
    is_directive: bool,
    is_sparse: bool,
}

impl<T: Sample> Parameters<T> {
    pub(super) fn new(prepared: &Prepared<T::Real>) -> Self {
        Self {
            aperture: prepared.aperture,
            turns: prepared.turns,
            interpolation: prepared.interpolation,
            parts: prepared.parts,
            n_entries: prepared.n_entries,
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

/// Elements, transmits and a range of voxels, on the device; voxels in the order of bricks.
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
    /// The voxels `range` of those that `order` lists; of all in their own order where it is empty.
    pub(super) fn new(
        backend: &Backend,
        prepared: &Prepared<T::Real>,
        order: &[u32],
        range: Range<usize>,
    ) -> Result<Self> {
        let pairs =
            |values: &[[T::Real; 2]]| Tensor::from_array(backend, &Array1::from_iter(values.iter().flatten().copied()));
        let order = order.get(range.clone()).unwrap_or_default();
        let real = |values: &[T::Real]| {
            let planes = gathered(values, prepared.n_voxels, order, range.clone());
            Tensor::from_array(backend, &planes)
        };
        Ok(Self {
            elements: pairs(&prepared.elements)?,
            normals: pairs(&prepared.normals)?,
            phases: Tensor::from_array(backend, &ArrayView1::from(&prepared.phases))?,
            voxels: real(&prepared.voxels)?,
            offsets: real(&prepared.offsets)?,
            weights: real(&prepared.weights)?,
            transmits: Tensor::from_array(
                backend,
                &gathered(&prepared.transmits, prepared.n_voxels, order, range.clone()),
            )?,
            order: Tensor::from_array(backend, &ArrayView1::from(order))?,
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
        Ok(Geometry {
            elements: self.elements.global_pairs("the elements")?,
            normals: self.normals.global_pairs("the normals")?,
            voxels: self.voxels.global("the voxels")?,
            offsets: self.offsets.global("the offsets")?,
            weights: self.weights.global("the weights")?,
            transmits: self.transmits.global("the lists of transmits")?,
            phases: self.phases.global("the phases")?,
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
        })
    }

    /// The result `(batch, part, voxel)` of the voxels `range`: in the grid's order where those are all there are, else in
    /// the order of bricks.
    pub(super) fn output(
        &self,
        parameters: &Parameters<T>,
        range: &Range<usize>,
        values: &mut Tensor<T::Sum>,
        beta: T::Real,
    ) -> Result<Output<T::Sum>> {
        let parts = parameters.parts;
        let is_whole = range.len() == self.n_voxels && !self.order.is_empty();
        let (n_transmits, n_channels) = (parts.n_transmits as u32, parts.n_channels as u32);
        let whole = Output::whole(
            values.global_mut("the output")?,
            range.len() as u64,
            n_transmits,
            n_channels,
        );
        Ok(Output {
            order: if is_whole {
                self.order.global("the order")?
            } else {
                Global::empty()
            },
            is_ordered: u32::from(is_whole),
            beta,
            n_parts: parts.count() as u32,
            n_transmit_parts: parts.of_channels() as u32,
            transmits_per_part: parts.transmits_per_part() as u32,
            channels_per_part: parts.channels_per_part() as u32,
            ..whole
        })
    }
}

/// The columns `range` of planes of `n_voxels` numbers, in the order that `order` gives them, if it does.
fn gathered<N: Copy>(values: &[N], n_voxels: usize, order: &[u32], range: Range<usize>) -> Array2<N> {
    let planes = values.len().checked_div(n_voxels).unwrap_or(0);
    Array2::from_shape_fn((planes, range.len()), |(plane, at)| {
        let voxel = order.get(at).map_or(range.start + at, |voxel| *voxel as usize);
        values[plane * n_voxels + voxel]
    })
}
