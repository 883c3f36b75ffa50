//! The launches of kernels with matrix instructions: which form of samples they take, the copy, the sum, and the batch
//! items that are summed again because a sample is not finite.

use super::copy::{Layout, Room, VECTOR_BYTES};
use super::window::{self, Window};
use super::{Call, CudaDas, MOST_LAYERS, voxel};
use crate::Result;
use crate::das::sample::Kernels;
use crate::das::{Algorithm, Precision, Sample};
use cuda_std::{Kernel, Launch};
use kernels::das::batch::Rows;
use kernels::das::distinct::{self, DasDistinct, Instructions, NEAR_TOP, Tile, Variant};
use kernels::das::geometry::Geometry;
use kernels::das::output::{Items, Output};
use kernels::das::permute::{self, Permute};
use kernels::das::sample::Sample as DeviceSample;
use kernels::das::voxel::Taps;
use kernels::das::window::{Instance, Instances};
use std::ops::Range;

/// The kernels with matrix instructions that a device has for a plan.
#[derive(Default)]
pub(super) struct MatrixKernels {
    /// Tiles of distinct samples, and their batch items.
    pub(super) distinct: Vec<(Tile, u32)>,
    pub(super) windows: Vec<Window>,
    /// How far apart the delays of neighbouring voxels are.
    pub(super) spread_samples: f64,
}

impl MatrixKernels {
    /// The tile of distinct samples that wastes least of a batch, the wider of two.
    pub(super) fn tile(&self, n_batch: usize) -> Option<Tile> {
        let padded = |(_, items): &&(Tile, u32)| n_batch.next_multiple_of(*items as usize);
        self.distinct.iter().min_by_key(padded).map(|(tile, _)| *tile)
    }

    /// The window kernel that suits the plan and a batch.
    pub(super) fn window(&self, n_batch: usize, algorithm: Algorithm) -> Option<usize> {
        window::suitable(&self.windows, self.spread_samples, n_batch, algorithm)
    }
}

/// How samples are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As halves.
    Halves,
    /// As sums of two halves.
    Split,
    /// In TF32.
    Tf32,
}

pub(super) type Halves<T> = <<T as crate::device::Element>::Device as Kernels>::Halves;
pub(super) type Split<T> = <<T as crate::device::Element>::Device as Kernels>::Split;

impl<T: Sample> CudaDas<T> {
    pub(super) fn form(&self) -> Form {
        if size_of::<T>() == 2 * T::PARTS && T::IS_FLOATING {
            return Form::Halves;
        }
        match self.precision {
            Precision::F16 { .. } => Form::Halves,
            Precision::Tf32 if T::IS_FLOATING => Form::Tf32,
            _ => Form::Split,
        }
    }

    /// How windows are multiplied: TF32 is for distinct samples alone.
    pub(super) fn window_form(&self) -> Form {
        match self.form() {
            Form::Tf32 => Form::Split,
            form => form,
        }
    }

    /// The kernel of a form and tile that the device has.
    fn variant<S: distinct::Instances>(&self, tile: Tile) -> Option<Variant<S>> {
        let taps = voxel::taps(self.parameters.interpolation);
        if taps == Taps::Any {
            return None;
        }
        [Instructions::Mma, Instructions::Wmma]
            .into_iter()
            .filter_map(|instructions| S::variant(instructions, taps, tile))
            .find(|variant| self.cuda.has_kernel(&variant.kernel))
    }

    /// What the device has for the plan.
    pub(super) fn matrix_kernels(&self, spread_samples: f64) -> MatrixKernels {
        if size_of::<T::Real>() != size_of::<f32>() {
            return MatrixKernels::default();
        }
        let items = |tile| match self.form() {
            Form::Halves => self.variant::<Halves<T>>(tile).map(|variant| variant.items),
            Form::Split => self.variant::<Split<T>>(tile).map(|variant| variant.items),
            Form::Tf32 => self
                .tf32()
                .filter(|_| tile == Tile::Narrow)
                .map(|variant| variant.items),
        };
        let tiles = [Tile::Wide, Tile::Narrow].into_iter();
        MatrixKernels {
            distinct: tiles.filter_map(|tile| Some((tile, items(tile)?))).collect(),
            windows: if self.window_form() == Form::Split {
                self.windows::<Split<T>>()
            } else {
                self.windows::<Halves<T>>()
            },
            spread_samples,
        }
    }

    /// The kernels over windows of a form that the device has for the plan.
    fn windows<S: Instances>(&self) -> Vec<Window> {
        let taps = voxel::taps(self.parameters.interpolation);
        S::instances()
            .into_iter()
            .enumerate()
            .filter(|(_, instance)| instance.taps == taps && self.cuda.has_kernel(&instance.kernel))
            .map(|(number, Instance { kernel, shape, .. })| Window {
                number,
                name: kernel.info.name,
                block: shape,
                chunk_samples: window::chunk_samples::<S>(shape),
            })
            .collect()
    }

    fn tf32(&self) -> Option<Variant<T::Device>> {
        let taps = voxel::taps(self.parameters.interpolation);
        let variant = <T::Device as Kernels>::tf32(taps).filter(|_| taps != Taps::Any)?;
        self.cuda.has_kernel(&variant.kernel).then_some(variant)
    }

    /// The copy's layout for distinct samples.
    pub(super) fn distinct_layout(&self) -> Layout {
        Self::layout_of(self.form())
    }

    /// The copy's layout for a form of samples.
    pub(super) fn layout_of(form: Form) -> Layout {
        let is_split = form == Form::Split;
        Layout {
            rows: Rows::INSIDE,
            samples_per_row: 1,
            vector_bytes: VECTOR_BYTES,
            vector_items: VECTOR_BYTES
                / if form == Form::Tf32 {
                    size_of::<T>()
                } else {
                    2 * T::PARTS
                },
            planes: if is_split { 2 } else { 1 },
            tile_items: 128,
            is_scaled: T::IS_FLOATING && size_of::<T>() > 2 * T::PARTS && form != Form::Tf32,
            is_marking: T::IS_FLOATING,
            range_bytes: 0,
        }
    }

    /// Queues copy and sum over distinct samples; false where there is no room.
    pub(super) fn launch_distinct(&self, tile: Tile, call: &Call<'_, T>, output: Output<T::Sum>) -> Result<bool> {
        match self.form() {
            Form::Halves => {
                let permutation = <T::Device as Kernels>::permutation_to_halves();
                let variant = self.variant::<Halves<T>>(tile);
                self.launch_variant(
                    permutation,
                    variant,
                    call,
                    output,
                    <T::Device as Kernels>::matrix_blocks,
                )
            }
            Form::Split => {
                let permutation = <T::Device as Kernels>::permutation_to_halves();
                let variant = self.variant::<Split<T>>(tile);
                self.launch_variant(
                    permutation,
                    variant,
                    call,
                    output,
                    <T::Device as Kernels>::matrix_blocks,
                )
            }
            Form::Tf32 => {
                let permutation = <T::Device as permute::Instances<T::Device>>::kernel();
                self.launch_variant(permutation, self.tf32(), call, output, |geometry, output| {
                    let (geometry, _) = <T::Device as Kernels>::matrix_blocks(geometry, output)?;
                    Some((geometry, output))
                })
            }
        }
    }

    fn launch_variant<D: DeviceSample, S: DeviceSample>(
        &self,
        permutation: Option<Kernel<Permute<T::Device, D>>>,
        variant: Option<Variant<S>>,
        call: &Call<'_, T>,
        output: Output<T::Sum>,
        blocks: impl Fn(Geometry<T::Real>, Output<T::Sum>) -> Option<(Geometry<f32>, Output<S::Value>)>,
    ) -> Result<bool> {
        let layout = self.distinct_layout();
        let (Some(permutation), Some(variant)) = (permutation, variant) else {
            return Ok(false);
        };
        let copy =
            |room: &mut Room, pass: &Range<usize>| self.queue_permutation(&permutation, layout, room, call, pass);
        self.in_passes(layout, call, output, copy, |room, pass, output| {
            let geometry = call
                .geometry
                .block(&self.parameters, &call.range, call.strides.n_samples)?;
            let Some((geometry, output)) = blocks(geometry, output) else {
                return Ok(());
            };
            let parameters = DasDistinct::<S> {
                samples: room.samples()?,
                geometry,
                output,
                gain: self.parameters.gain * NEAR_TOP,
                n_batch: pass.len() as u32,
                n_vectors: pass.len().div_ceil(layout.vector_items) as u32,
            };
            let shape = self.shape(
                call,
                distinct::VOXELS_PER_BLOCK,
                (pass.len() as u32).div_ceil(variant.items),
                distinct::THREADS,
                variant.shared_bytes,
            );
            Self::in_layers(shape, |first_part, shape| {
                let mut parameters = parameters;
                parameters.output.first_part = first_part;
                self.cuda.launch(&variant.kernel, shape, parameters, call.stream)
            })
        })
    }

    /// Takes the batch in as many passes as the room needs: copy, sum, and the marked items once more.
    pub(super) fn in_passes(
        &self,
        layout: Layout,
        call: &Call<'_, T>,
        output: Output<T::Sum>,
        copy: impl Fn(&mut Room, &Range<usize>) -> Result<()>,
        sum: impl Fn(&mut Room, &Range<usize>, Output<T::Sum>) -> Result<()>,
    ) -> Result<bool> {
        let mut room = self.workspace.lock();
        let items = self.make_room(&mut room, layout, call.n_batch, call.strides.n_samples)?;
        if items == 0 {
            return Ok(false);
        }
        if let Some(event) = room.last_use.take() {
            call.stream.wait_for(event)?;
        }
        if layout.needs_items() {
            self.queue_peaks(layout, &mut room, call)?;
        }
        for first_item in (0..call.n_batch).step_by(items) {
            let pass = first_item..call.n_batch.min(first_item + items);
            copy(&mut room, &pass)?;
            let output = Output {
                scales: room.inverses()?,
                is_scaled: u32::from(layout.is_scaled),
                marks: room.marks()?,
                items: if layout.is_marking { Items::Unmarked } else { Items::All },
                first_item: pass.start as u32,
                ..output
            };
            sum(&mut room, &pass, output)?;
        }
        if layout.is_marking {
            let marked = Output {
                marks: room.marks()?,
                items: Items::Marked,
                ..output
            };
            self.launch_voxel(kernels::das::voxel::Tile::Items, call, marked)?;
        }
        room.last_use = Some(call.stream.record()?);
        Ok(true)
    }

    pub(super) fn shape(
        &self,
        call: &Call<'_, T>,
        voxels: u32,
        n_tiles: u32,
        threads: u32,
        shared_bytes: u32,
    ) -> Launch {
        let blocks = call.range.len().div_ceil(voxels as usize) as u32;
        Launch {
            grid: [blocks, n_tiles, self.parameters.parts.count() as u32],
            threads,
            shared_bytes,
        }
    }

    /// Launches a shape with a layer for every part, as many parts at a time as a grid has layers.
    pub(super) fn in_layers(shape: Launch, launch: impl Fn(u32, Launch) -> Result<()>) -> Result<()> {
        let [x, y, n_parts] = shape.grid;
        for first_part in (0..n_parts).step_by(MOST_LAYERS) {
            let layers = (n_parts - first_part).min(MOST_LAYERS as u32);
            let shape = Launch {
                grid: [x, y, layers],
                ..shape
            };
            launch(first_part, shape)?;
        }
        Ok(())
    }
}
