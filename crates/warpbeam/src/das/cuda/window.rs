//! The launches of windows: which kernel suits a plan, the ranges of channels that few voxels are split into, copy and sum.

use super::copy::{Layout, Room, VECTOR_BYTES};
use super::matrix::{Form, Halves, Split};
use super::{Call, CudaDas, MOST_LAYERS};
use crate::Result;
use crate::das::sample::Kernels;
use crate::das::{Algorithm, Sample};
use cuda_std::{Global, Kernel, Launch};
use kernels::das::batch::Rows;
use kernels::das::distinct::NEAR_TOP;
use kernels::das::output::Output;
use kernels::das::permute_columns::{self, PermuteColumns};
use kernels::das::permute_rows::{self, InRows, PermuteRows};
use kernels::das::sample::Sample as DeviceSample;
use kernels::das::scale::Plane;
use kernels::das::window::add::{self, AddRanges, Ranges as _};
use kernels::das::window::{DasWindow, Instance, Instances, Shape};
use std::ops::Range;

/// Most voxels of a block: their spread of delays decides how many samples it should hold at once, and they stay together.
pub(super) const MOST_VOXELS: usize = 256;

/// A block copes with this many times the samples that it holds at once.
const SPREAD_PER_CHUNK: f64 = 1.5;

/// What a tile of batch items takes, of one of 64 whose warps multiply alone: one of 32, and one of 128 for groups of warps.
const NARROW_COST: f64 = 0.7;
const GROUP_COST: f64 = 1.6;

/// Warps that ranges of channels are to fill: those of an H200, so that the bits are the same on every device.
const WARPS: usize = 132 * 16;

/// Ranges of channels at most.
const MOST_RANGES: usize = 32;

/// Steps that a block's start takes as long as.
const START_STEPS: usize = 2;

/// Sums that are written and added in the time of a step.
const SUMS_PER_STEP: usize = 30_000;

/// A kernel over windows.
pub(super) struct Window {
    pub(super) number: usize,
    pub(super) name: &'static str,
    pub(super) block: Shape,
    /// Samples that a block holds of a channel.
    pub(super) chunk_samples: u32,
}

/// Samples of a channel that a block holds at once.
pub(super) fn chunk_samples<S: Instances>(block: Shape) -> u32 {
    let samples_per_row = if block.is_grouped() { 1 } else { S::SAMPLES_PER_ROW };
    block.rows * samples_per_row
}

impl Window {
    /// What its tiles of batch items take.
    fn cost(&self, n_batch: usize) -> f64 {
        let tiles = n_batch.div_ceil(self.block.items as usize) as f64;
        tiles
            * match (self.block.is_grouped(), self.block.items) {
                (true, _) => GROUP_COST,
                (false, ..64) => NARROW_COST,
                (false, _) => 1.0,
            }
    }
}

/// Of the kernels whose blocks hold the samples that the plan's voxels need, the one that wastes least of a batch.
///
/// Those whose warps multiply alone all work in the same order, so that the bits do not depend on the batch. Those whose groups do
/// have another one: they are for [`Algorithm::Auto`], which promises no bits.
pub(super) fn suitable(windows: &[Window], spread_samples: f64, n_batch: usize, algorithm: Algorithm) -> Option<usize> {
    let holds = |window: &&Window| f64::from(window.chunk_samples) * SPREAD_PER_CHUNK >= spread_samples;
    let alone = || windows.iter().filter(|window| !window.block.is_grouped());
    let samples = alone().filter(holds).map(|window| window.chunk_samples).min();
    let samples = samples.or_else(|| alone().map(|window| window.chunk_samples).max());
    let alone = alone().filter(|window| Some(window.chunk_samples) == samples);
    let may_group = algorithm == Algorithm::Auto;
    let grouped = windows
        .iter()
        .filter(|window| may_group && window.block.is_grouped())
        .filter(holds);
    let best = alone
        .chain(grouped)
        .min_by(|one, other| one.cost(n_batch).total_cmp(&other.cost(n_batch)));
    best.map(|window| window.number)
}

/// Ranges of channels that a sum is split into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ranges {
    count: usize,
    /// Channels of a range.
    channels: usize,
}

/// The ranges that end soonest, of `n_channels` channels for `n_outputs` voxels and parts; whole steps, so that there are no more
/// of them, and one where channels are apart.
fn ranges(block: Shape, n_channels: usize, n_entries: usize, n_outputs: usize) -> Ranges {
    let steps = n_channels.div_ceil(block.channels as usize);
    let blocks = n_outputs.div_ceil(block.voxels() as usize);
    let at_once = WARPS / block.warps as usize;
    let time = |count: &usize| {
        let waves = (blocks * count).div_ceil(at_once);
        let adding = if *count > 1 {
            n_outputs * count / SUMS_PER_STEP
        } else {
            0
        };
        waves * (steps.div_ceil(*count) + START_STEPS) * n_entries + adding
    };
    let best = (1..=MOST_RANGES.min(steps)).min_by_key(time).unwrap_or(1);
    // A batch of several tiles fills a device better than this thinks.
    let count = if 4 * time(&best) <= 3 * time(&1) { best } else { 1 };
    let channels = steps.div_ceil(count).max(1) * block.channels as usize;
    Ranges {
        count: n_channels.div_ceil(channels).max(1),
        channels,
    }
}

impl<T: Sample> CudaDas<T> {
    /// The copy's layout for windows.
    pub(super) fn window_layout(&self, number: usize) -> Layout {
        let ranges = self.ranges(number);
        let sums = self.parameters.parts.count() * self.n_voxels;
        let of_form = Self::layout_of(self.window_form());
        let is_grouped = self.is_grouped(number);
        let (samples_per_row, vector_items, vector_bytes) = if is_grouped {
            let bytes = permute_columns::WHOLE_SAMPLES * permute_columns::PARTS * permute_columns::ROW_VECTORS * 16;
            (
                permute_columns::WHOLE_SAMPLES,
                permute_columns::COLUMN_ITEMS,
                bytes as usize,
            )
        } else {
            (<Halves<T> as InRows>::SAMPLES_PER_ROW, 2, VECTOR_BYTES)
        };
        Layout {
            rows: Rows { margin: 0, silence: 0 },
            samples_per_row: samples_per_row as usize,
            vector_bytes,
            vector_items: vector_items as usize,
            range_bytes: if ranges.count > 1 {
                (ranges.count * sums * size_of::<T::Sum>()) as u64
            } else {
                0
            },
            ..of_form
        }
    }

    /// Whether a kernel's warps multiply in groups.
    pub(super) fn is_grouped(&self, number: usize) -> bool {
        self.window(number).is_some_and(|window| window.block.is_grouped())
    }

    fn window(&self, number: usize) -> Option<&Window> {
        self.matrix.windows.iter().find(|window| window.number == number)
    }

    /// The ranges of channels for a kernel.
    ///
    /// They depend on the plan alone: the bits must not depend on how a run is cut.
    fn ranges(&self, number: usize) -> Ranges {
        let parts = self.parameters.parts;
        let whole = Ranges {
            count: 1,
            channels: parts.channels_per_part(),
        };
        match self.window(number) {
            Some(window) if parts.channels_per_part() == parts.n_channels => ranges(
                window.block,
                parts.n_channels,
                self.parameters.n_entries.div_ceil(parts.of_channels().max(1)),
                self.n_voxels * parts.count(),
            ),
            _ => whole,
        }
    }

    /// Queues copy and sum over windows; false where there is no room.
    pub(super) fn launch_window(&self, number: usize, call: &Call<'_, T>, output: Output<T::Sum>) -> Result<bool> {
        if self.window_form() == Form::Split {
            // What is lost of the smallest weights that count must not sink below the halves' normal numbers.
            self.launch_windows::<Split<T>>(number, self.parameters.gain * NEAR_TOP, call, output)
        } else {
            self.launch_windows::<Halves<T>>(number, self.parameters.gain, call, output)
        }
    }

    /// The same for a form of samples.
    fn launch_windows<S>(&self, number: usize, gain: f32, call: &Call<'_, T>, output: Output<T::Sum>) -> Result<bool>
    where
        S: Instances + DeviceSample<Value = <Halves<T> as DeviceSample>::Value>,
    {
        let layout = self.window_layout(number);
        let Some(Instance {
            kernel, shape: block, ..
        }) = S::instances().into_iter().nth(number)
        else {
            return Ok(false);
        };
        let (to_rows, to_columns) = (
            <T::Device as Kernels>::permutation_to_rows().filter(|_| !block.is_grouped()),
            <T::Device as Kernels>::permutation_to_columns().filter(|_| block.is_grouped()),
        );
        let ranges = self.ranges(number);
        let copy = |room: &mut Room, pass: &Range<usize>| match (&to_rows, &to_columns) {
            (Some(kernel), _) => self.queue_rows(kernel, layout, room, call, pass),
            (_, Some(kernel)) => self.queue_columns(kernel, layout, room, call, pass),
            _ => Ok(()),
        };
        if to_rows.is_none() && to_columns.is_none() {
            return Ok(false);
        }
        self.in_passes(layout, call, output, copy, |room, pass, output| {
            let geometry = call
                .geometry
                .block(&self.parameters, &call.range, call.strides.n_samples)?;
            let Some((geometry, output)) = <T::Device as Kernels>::matrix_blocks(geometry, output) else {
                return Ok(());
            };
            let first = if ranges.count == 1 {
                output
            } else {
                Output {
                    n_parts: (ranges.count * self.parameters.parts.count()) as u32,
                    n_transmit_parts: output.n_transmit_parts,
                    transmits_per_part: output.transmits_per_part,
                    channels_per_part: ranges.channels as u32,
                    ..Output::whole(room.sums_of_ranges_mut()?, output.n_voxels, 0, 0)
                }
            };
            let parameters = DasWindow::<S> {
                samples: room.samples()?,
                geometry,
                output: first,
                gain,
                n_batch: pass.len() as u32,
                n_vectors: pass.len().div_ceil(layout.vector_items) as u32,
            };
            let n_tiles = (pass.len() as u32).div_ceil(block.items);
            let mut shape = self.shape(call, block.voxels(), n_tiles, block.threads(), block.shared_bytes());
            shape.grid[2] = first.n_parts;
            Self::in_layers(shape, |first_part, shape| {
                let mut parameters = parameters;
                parameters.output.first_part = first_part;
                self.cuda.launch(&kernel, shape, parameters, call.stream)
            })?;
            if ranges.count == 1 {
                return Ok(());
            }
            self.add_ranges(room.sums_of_ranges()?, output, ranges, call, pass.len())
        })
    }

    /// Queues the sum over ranges.
    fn add_ranges(
        &self,
        sums: Global<<Halves<T> as DeviceSample>::Value>,
        output: Output<<Halves<T> as DeviceSample>::Value>,
        ranges: Ranges,
        call: &Call<'_, T>,
        n_batch: usize,
    ) -> Result<()> {
        let n_layers = n_batch.min(MOST_LAYERS) as u32;
        let kernel = <Halves<T> as DeviceSample>::Value::adding();
        let shape = self.shape(call, add::THREADS, n_layers, add::THREADS, 0);
        Self::in_layers(shape, |first_part, shape| {
            let mut output = output;
            output.first_part = first_part;
            let parameters = AddRanges {
                sums,
                output,
                n_ranges: ranges.count as u32,
                n_batch: n_batch as u32,
                n_layers,
            };
            self.cuda.launch(&kernel, shape, parameters, call.stream)
        })
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
        let pitch = pass.len().next_multiple_of(layout.vector_items) as u32;
        let n_samples = call.strides.n_samples as u32;
        let signals = (parts.n_channels * parts.n_transmits) as u32;
        let parameters = PermuteRows::<T::Device> {
            data: self.recorded(call, pass)?,
            scaling: self.scaling(room, layout, pass)?,
            output: room.samples_mut()?,
            batch_pitch: pitch,
            n_planes: layout.planes as u32,
            plane: Plane::High,
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
        for plane in [Plane::High, Plane::Low].into_iter().take(layout.planes) {
            let parameters = PermuteRows { plane, ..parameters };
            self.cuda.launch(kernel, shape, parameters, call.stream)?;
        }
        Ok(())
    }

    fn queue_columns(
        &self,
        kernel: &Kernel<PermuteColumns<T::Device>>,
        layout: Layout,
        room: &mut Room,
        call: &Call<'_, T>,
        pass: &Range<usize>,
    ) -> Result<()> {
        let parts = self.parameters.parts;
        let n_samples = call.strides.n_samples as u32;
        let signals = (parts.n_channels * parts.n_transmits) as u32;
        let parameters = PermuteColumns::<T::Device> {
            data: self.recorded(call, pass)?,
            scaling: self.scaling(room, layout, pass)?,
            output: room.samples_mut()?,
            n_columns: pass.len().div_ceil(layout.vector_items) as u32,
        };
        let shape = Launch {
            grid: [
                permute_columns::sample_tiles(n_samples).saturating_mul(signals),
                parameters.n_columns * permute_columns::COLUMN_ITEMS / permute_columns::ITEMS,
                1,
            ],
            threads: permute_columns::THREADS,
            shared_bytes: permute_columns::shared_bytes(),
        };
        self.cuda.launch(kernel, shape, parameters, call.stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_std::half::F16;
    use kernels::das::distinct::Split;
    use kernels::das::voxel::Taps;
    use num_complex::Complex;

    fn windows<S: Instances>(taps: Taps) -> Vec<Window> {
        let instances = S::instances().into_iter().enumerate();
        let of_taps = instances.filter(|(_, instance)| instance.taps == taps);
        let window = |(number, Instance { kernel, shape, .. }): (usize, Instance<_>)| Window {
            number,
            name: kernel.info.name,
            block: shape,
            chunk_samples: chunk_samples::<S>(shape),
        };
        of_taps.map(window).collect()
    }

    #[test]
    fn the_kernel_follows_spread_and_batch() {
        let windows = windows::<Complex<F16>>(Taps::Two);
        let name_by = |algorithm, spread, n_batch| {
            let number = suitable(&windows, spread, n_batch, algorithm)?;
            let window = windows.iter().find(|window| window.number == number);
            window.map(|window| window.name)
        };
        let name = |spread, n_batch| name_by(Algorithm::Auto, spread, n_batch);
        assert_eq!(name(7.0, 128), Some("das_window_cf16_linear_8x128_16_8_group"));
        assert_eq!(name(7.0, 65), Some("das_window_cf16_linear_8x128_16_8_group"));
        assert_eq!(name(7.0, 64), Some("das_window_cf16_linear_16x64_16_16_half"));
        assert_eq!(name(7.0, 192), Some("das_window_cf16_linear_16x64_16_16_half"));
        assert_eq!(name(7.0, 32), Some("das_window_cf16_linear_16x32_16_16_half"));
        assert_eq!(name(50.0, 128), Some("das_window_cf16_linear_16x32_8_8_half"));
        let name = |spread, n_batch| name_by(Algorithm::Window, spread, n_batch);
        assert_eq!(name(7.0, 128), Some("das_window_cf16_linear_16x64_16_16_half"));
        assert_eq!(name(7.0, 96), Some("das_window_cf16_linear_16x64_16_16_half"));
        assert_eq!(name(7.0, 32), Some("das_window_cf16_linear_16x32_16_16_half"));
        assert_eq!(name(50.0, 32), Some("das_window_cf16_linear_16x32_8_8_half"));
        assert_eq!(name(500.0, 128), Some("das_window_cf16_linear_16x32_8_8_half"));
        assert_eq!(suitable(&[], 1.0, 1, Algorithm::Auto), None);
    }

    #[test]
    fn the_kernel_of_two_halves_follows_them_too() {
        let windows = windows::<Split<Complex<F16>>>(Taps::Two);
        let name =
            |spread, n_batch| suitable(&windows, spread, n_batch, Algorithm::Auto).map(|number| windows[number].name);
        assert_eq!(name(7.0, 128), Some("das_window_csplit_linear_16x64_16_8_half"));
        assert_eq!(name(7.0, 32), Some("das_window_csplit_linear_16x32_16_8_half"));
        assert_eq!(name(40.0, 128), Some("das_window_csplit_linear_16x32_16_8_half_wide"));
    }

    #[test]
    fn few_real_items_take_no_more_than_they_fill() {
        fn name<S: Instances>(n_batch: usize) -> Option<&'static str> {
            let windows = windows::<S>(Taps::Two);
            suitable(&windows, 9.0, n_batch, Algorithm::Auto).map(|number| windows[number].name)
        }
        assert_eq!(name::<F16>(32), Some("das_window_f16_linear_32x32_8_8"));
        assert_eq!(name::<F16>(64), Some("das_window_f16_linear_32x64_8_8"));
        assert_eq!(name::<Split<F16>>(3), Some("das_window_split_linear_16x32_16_8"));
        assert_eq!(name::<Split<F16>>(40), Some("das_window_split_linear_16x64_16_8"));
    }

    /// Kernels between which the batch decides give the same bits: they pair the same half-windows.
    #[test]
    fn kernels_for_one_spread_differ_in_the_batch_alone() {
        fn check<S: Instances>() {
            for taps in [Taps::One, Taps::Two, Taps::Any] {
                for one in windows::<S>(taps) {
                    for other in windows::<S>(taps) {
                        let alike = Shape {
                            items: other.block.items,
                            ..one.block
                        };
                        let are_apart = one.chunk_samples != other.chunk_samples
                            || one.block.is_grouped() != other.block.is_grouped();
                        assert!(are_apart || alike == other.block);
                    }
                }
            }
        }
        check::<Complex<F16>>();
        check::<F16>();
        check::<Split<Complex<F16>>>();
        check::<Split<F16>>();
    }

    /// An H200 has 228 KiB of shared memory a multiprocessor, of which a block leaves one.
    #[test]
    fn blocks_have_room_in_shared_memory() {
        fn check<S: Instances>() {
            for Instance { kernel, shape, .. } in S::instances() {
                let name = kernel.info.name;
                let (bytes, blocks) = (shape.shared_bytes(), 16 / shape.warps);
                println!("{name}: {bytes} bytes, {blocks} blocks");
                assert!((bytes + 1024) * blocks <= 228 << 10, "{name}: {bytes} bytes");
            }
        }
        check::<Complex<F16>>();
        check::<F16>();
        check::<Split<Complex<F16>>>();
        check::<Split<F16>>();
    }

    #[test]
    fn few_voxels_are_split() {
        let block = Shape {
            voxels_per_warp: 16,
            items: 64,
            warps: 16,
            channels: 16,
            rows: 8,
            window_rows: 2,
            group_warps: 1,
            planes: 1,
            weight_planes: 1,
            tap_words: 0,
        };
        let whole = |channels: usize| Ranges {
            count: 1,
            channels: channels.next_multiple_of(16),
        };
        assert_eq!(ranges(block, 1024, 1, 64 * 64 * 64), whole(1024));
        assert_eq!(ranges(block, 128, 1, 63_001), whole(128));
        assert_eq!(ranges(block, 1024, 1, 48 * 48 * 48), whole(1024));
        assert_eq!(ranges(block, 7, 1, 100), whole(7));
        assert_eq!(
            ranges(block, 1024, 1, 4096),
            Ranges {
                count: 8,
                channels: 128
            }
        );
        for (n_channels, n_outputs) in [(1, 1), (33, 1), (1000, 5000), (64, 0), (0, 5)] {
            let Ranges { count, channels } = ranges(block, n_channels, 2, n_outputs);
            assert!(count >= 1 && count * channels >= n_channels);
            assert!(
                count == 1 || (count - 1) * channels < n_channels,
                "a range without channels"
            );
        }
    }
}
