//! The launches of kernels with matrix instructions: which form of samples they take, the copy, the sum, and the batch
//! items that are summed again because a sample is not finite.

use super::copy::{Layout, Room};
use super::{Call, CudaDas, MOST_LAYERS, voxel};
use crate::Result;
use crate::das::sample::Kernels;
use crate::das::{Precision, Sample};
use crate::device::Stream;
use cuda_std::{Kernel, Launch};
use kernels::das::batch::Rows;
use kernels::das::distinct::{self, DasDistinct, Instructions, NEAR_TOP, Tile, Variant};
use kernels::das::geometry::Geometry;
use kernels::das::output::{Items, Output};
use kernels::das::permute::{self, Permute};
use kernels::das::permute_rows::{self, InRows, PermuteRows};
use kernels::das::sample::Sample as DeviceSample;
use kernels::das::voxel::Taps;
use kernels::das::window::{self, DasWindow, Windowed};
use std::ops::Range;

/// The kernels with matrix instructions that a device has for a plan.
#[derive(Default)]
pub(super) struct MatrixKernels {
    /// Tiles of distinct samples, and their batch items.
    pub(super) distinct: Vec<(Tile, u32)>,
    pub(super) windows: Vec<Window>,
}

/// A kernel over windows.
pub(super) struct Window {
    pub(super) number: usize,
    pub(super) name: &'static str,
    items: u32,
}

impl MatrixKernels {
    /// The tile of distinct samples that wastes least of a batch, the wider of two.
    pub(super) fn tile(&self, n_batch: usize) -> Option<Tile> {
        let padded = |(_, items): &&(Tile, u32)| n_batch.next_multiple_of(*items as usize);
        self.distinct.iter().min_by_key(padded).map(|(tile, _)| *tile)
    }

    /// The window kernel that wastes least of a batch, the first of several.
    pub(super) fn window(&self, n_batch: usize) -> Option<usize> {
        let padded = |window: &&Window| n_batch.next_multiple_of(window.items as usize);
        self.windows.iter().min_by_key(padded).map(|window| window.number)
    }
}

/// How the distinct samples are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// As halves.
    Halves,
    /// As sums of two halves.
    Split,
    /// In TF32.
    Tf32,
}

type Halves<T> = <<T as crate::device::Element>::Device as Kernels>::Halves;
type Split<T> = <<T as crate::device::Element>::Device as Kernels>::Split;

impl<T: Sample> CudaDas<T> {
    fn form(&self) -> Form {
        if size_of::<T>() == 2 * T::PARTS && T::IS_FLOATING {
            return Form::Halves;
        }
        match self.precision {
            Precision::F16 { .. } => Form::Halves,
            Precision::Tf32 if T::IS_FLOATING => Form::Tf32,
            _ => Form::Split,
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
    pub(super) fn matrix_kernels(&self) -> MatrixKernels {
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
        let takes_windows = voxel::taps(self.parameters.interpolation) == Taps::Two && self.form() == Form::Halves;
        let windows = <Halves<T> as window::Instances>::instances().into_iter().enumerate();
        MatrixKernels {
            distinct: tiles.filter_map(|tile| Some((tile, items(tile)?))).collect(),
            windows: windows
                .filter(|(_, (kernel, _))| takes_windows && self.cuda.has_kernel(kernel))
                .map(|(number, (kernel, shape))| Window {
                    number,
                    name: kernel.info.name,
                    items: shape.items,
                })
                .collect(),
        }
    }

    fn tf32(&self) -> Option<Variant<T::Device>> {
        let taps = voxel::taps(self.parameters.interpolation);
        let variant = <T::Device as Kernels>::tf32(taps).filter(|_| taps != Taps::Any)?;
        self.cuda.has_kernel(&variant.kernel).then_some(variant)
    }

    /// The copy's layout for distinct samples.
    pub(super) fn distinct_layout(&self) -> Layout {
        let form = self.form();
        let is_split = form == Form::Split;
        Layout {
            rows: Rows::INSIDE,
            samples_per_row: 1,
            row_bytes: if form == Form::Tf32 {
                size_of::<T>()
            } else {
                2 * T::PARTS
            },
            planes: if is_split { 2 } else { 1 },
            tile_items: 128,
            is_scaled: T::IS_FLOATING && size_of::<T>() > 2 * T::PARTS && form != Form::Tf32,
            is_marking: T::IS_FLOATING,
        }
    }

    /// The copy's layout for windows.
    pub(super) fn window_layout(&self) -> Layout {
        Layout {
            rows: Rows { margin: 0, silence: 0 },
            samples_per_row: <Halves<T> as InRows>::SAMPLES_PER_ROW as usize,
            row_bytes: 8,
            ..self.distinct_layout()
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
                n_vectors: pass.len().div_ceil(layout.per_vector()) as u32,
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

    /// Queues copy and sum over windows; false where there is no room.
    pub(super) fn launch_window(&self, number: usize, call: &Call<'_, T>, output: Output<T::Sum>) -> Result<bool> {
        let layout = self.window_layout();
        let permutation = <T::Device as Kernels>::permutation_to_rows();
        let instance = <Halves<T> as window::Instances>::instances().into_iter().nth(number);
        let (Some(permutation), Some((kernel, block))) = (permutation, instance) else {
            return Ok(false);
        };
        let copy = |room: &mut Room, pass: &Range<usize>| self.queue_rows(&permutation, layout, room, call, pass);
        self.in_passes(layout, call, output, copy, |room, pass, output| {
            let geometry = call
                .geometry
                .block(&self.parameters, &call.range, call.strides.n_samples)?;
            let Some((geometry, output)) = <T::Device as Kernels>::matrix_blocks(geometry, output) else {
                return Ok(());
            };
            let parameters = DasWindow::<Halves<T>> {
                samples: room.samples()?,
                geometry,
                output,
                gain: self.parameters.gain,
                n_batch: pass.len() as u32,
                n_vectors: pass.len().div_ceil(layout.per_vector()) as u32,
            };
            let n_tiles = (pass.len() as u32).div_ceil(block.items);
            let shape = self.shape(call, block.voxels(), n_tiles, block.threads(), block.shared_bytes());
            self.launch_windows(&kernel, shape, &parameters, call.stream)
        })
    }

    fn launch_windows<S: Windowed>(
        &self,
        kernel: &Kernel<DasWindow<S>>,
        shape: Launch,
        parameters: &DasWindow<S>,
        stream: &Stream,
    ) -> Result<()> {
        Self::in_layers(shape, |first_part, shape| {
            let mut parameters = *parameters;
            parameters.output.first_part = first_part;
            self.cuda.launch(kernel, shape, parameters, stream)
        })
    }

    /// Takes the batch in as many passes as the room needs: copy, sum, and the marked items once more.
    fn in_passes(
        &self,
        layout: Layout,
        call: &Call<'_, T>,
        output: Output<T::Sum>,
        copy: impl Fn(&mut Room, &Range<usize>) -> Result<()>,
        sum: impl Fn(&Room, &Range<usize>, Output<T::Sum>) -> Result<()>,
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
            sum(&room, &pass, output)?;
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

    fn queue_rows(
        &self,
        kernel: &Kernel<PermuteRows<T::Device>>,
        layout: Layout,
        room: &mut Room,
        call: &Call<'_, T>,
        pass: &Range<usize>,
    ) -> Result<()> {
        let parts = self.parameters.parts;
        let pitch = pass.len().next_multiple_of(layout.per_vector()) as u32;
        let n_samples = call.strides.n_samples as u32;
        let signals = (parts.n_channels * parts.n_transmits) as u32;
        let parameters = PermuteRows::<T::Device> {
            data: self.recorded(call, pass)?,
            scaling: self.scaling(room, layout, pass)?,
            output: room.samples_mut()?,
            batch_pitch: pitch,
        };
        let shape = Launch {
            grid: [
                permute_rows::sample_tiles::<Halves<T>>(n_samples).saturating_mul(signals),
                pitch.div_ceil(permute_rows::ITEMS),
                1,
            ],
            threads: permute_rows::THREADS,
            shared_bytes: permute_rows::shared_bytes::<Halves<T>>(),
        };
        self.cuda.launch(kernel, shape, parameters, call.stream)
    }

    fn shape(&self, call: &Call<'_, T>, voxels: u32, n_tiles: u32, threads: u32, shared_bytes: u32) -> Launch {
        let blocks = call.range.len().div_ceil(voxels as usize) as u32;
        Launch {
            grid: [blocks, n_tiles, self.parameters.parts.count() as u32],
            threads,
            shared_bytes,
        }
    }

    /// Launches a shape with a layer for every part, as many parts at a time as a grid has layers.
    fn in_layers(shape: Launch, launch: impl Fn(u32, Launch) -> Result<()>) -> Result<()> {
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
