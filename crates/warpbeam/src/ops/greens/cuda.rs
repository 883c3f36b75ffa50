//! Propagation on a CUDA device: what stays there, the launches, and pieces of what does not fit.

use super::halves::Stored;
use super::halving::Halving;
use super::plan::Amplitude;
use super::prepared::Prepared;
use crate::device::{Backend, Cuda, Event, Stream, Tensor, Workspace};
use crate::{Error, Result};
use cuda_std::Launch;
use kernels::das::scale::{das_clear, das_peak};
use kernels::greens::halves::{ITEMS, greens_store_halves};
use kernels::greens::{CHUNK, Greens, GreensAdd, RUN, Spacing, TARGETS_PER_BLOCK, THREADS, Tile, greens_add};
use ndarray::{Array1, Array2, ArrayView3, ArrayViewMut3, Axis, Slice};
use num_complex::Complex;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use wavefield::phase::TurnsPerSample;

/// Share of the free device memory that a run may take: allocations have gaps.
const USABLE: f64 = 0.9;

/// Blocks along y at most.
pub(super) const MOST_LAYERS: usize = 65_535;

/// Blocks of four batch items that should be there, so that every multiprocessor has work.
const ENOUGH_BLOCKS: usize = 264;

/// Parts of the sum at most, and sources that pay for a part.
const MOST_PARTS: usize = 64;
const LEAST_SOURCES_PER_PART: usize = 256;

/// Bytes of parts that are kept at a time.
const PARTS_BYTES: usize = 1 << 28;

/// How far from evenly spaced wavenumbers may lie, as a part of the largest.
const TOLERANCE: f64 = 1.0 / 16_777_216.0;

/// A plan's part on the device.
pub(super) struct CudaGreens {
    backend: Backend,
    pub(super) cuda: Arc<Cuda>,
    sources: Tensor<f32>,
    targets: Tensor<f32>,
    wavenumbers: Tensor<f32>,
    pub(super) spacing: Spacing,
    step: TurnsPerSample<f32>,
    pub(super) n_sources: usize,
    n_targets: usize,
    pub(super) n_frequencies: usize,
    /// How amplitudes and waves are rounded to halves, if they are.
    halving: Option<Halving>,
    /// Room for amplitudes as halves.
    workspace: Workspace,
    parts: Mutex<Parts>,
    stream: Stream,
}

/// Room for parts of the sum.
#[derive(Default)]
struct Parts {
    values: Option<Tensor<Complex<f32>>>,
    /// After the last launch that reads them.
    last_use: Option<Event>,
}

/// The distance between evenly spaced wavenumbers, in radians per unit length.
fn even_step(wavenumbers: &[f64]) -> Option<f64> {
    let [first, .., last] = *wavenumbers else {
        return None;
    };
    if wavenumbers.len() < RUN as usize {
        return None;
    }
    let step = (last - first) / (wavenumbers.len() - 1) as f64;
    let largest = wavenumbers.iter().fold(0.0_f64, |most, k| most.max(k.abs()));
    let is_even = |(index, k): (usize, &f64)| (k - (first + index as f64 * step)).abs() <= TOLERANCE * largest;
    wavenumbers.iter().enumerate().all(is_even).then_some(step)
}

/// Batch items and targets of the largest pieces, halved until the amplitudes of the items and their result, `of_point`
/// bytes a source or target and item, are within the budget.
fn pieces([n_batch, n_sources, n_targets]: [usize; 3], of_point: u64, budget: Option<u64>) -> Result<(usize, usize)> {
    let bytes = |items: usize, targets: usize| {
        let points = ((n_sources + targets) as u64).saturating_mul(items as u64);
        points.saturating_mul(of_point)
    };
    let (mut items, mut targets) = (n_batch, n_targets);
    while budget.is_some_and(|budget| bytes(items, targets) > budget) {
        if items > 1 {
            items = items.div_ceil(2);
        } else if targets > 1 {
            targets = targets.div_ceil(2);
        } else {
            return Err(Error::OutOfMemory {
                what: "one batch item and one target",
                needed_bytes: bytes(1, 1),
                available_bytes: budget,
            });
        }
    }
    Ok((items, targets))
}

/// Wavenumbers as the kernels take them.
fn pairs(turns: impl Iterator<Item = TurnsPerSample<f32>>) -> Array1<f32> {
    turns.flat_map(|turns| [turns.high, turns.low]).collect()
}

impl CudaGreens {
    pub(super) fn new(
        backend: &Backend,
        cuda: &Arc<Cuda>,
        prepared: &Prepared<f32>,
        halving: Option<Halving>,
    ) -> Result<Self> {
        let (n_sources, n_targets) = (prepared.sources.len(), prepared.targets.len());
        let n_frequencies = prepared.turns.len();
        let sources = Array2::from_shape_fn((n_sources, 4), |(source, axis)| {
            prepared.sources[source].get(axis).copied().unwrap_or(0.0)
        });
        let targets = Array2::from_shape_fn((3, n_targets), |(axis, target)| prepared.targets[target][axis]);
        let step = even_step(&prepared.wavenumbers);
        let wavenumbers = match step {
            None => pairs(prepared.turns.iter().copied()),
            Some(step) => {
                let first = prepared.wavenumbers[0];
                let middle = |run: usize| {
                    let start = (run * RUN as usize).min(n_frequencies - RUN as usize);
                    TurnsPerSample::from_radians(first + step * (start + RUN as usize / 2) as f64)
                };
                pairs((0..n_frequencies.div_ceil(RUN as usize)).map(middle))
            }
        };
        let spacing = if step.is_some() { Spacing::Even } else { Spacing::Any };
        if halving.is_some() {
            if !cuda.has_kernel(&spacing.halves_kernel()) {
                return Err(Error::Unsupported {
                    what: "GreensPlan with Precision::F16 on this GPU",
                    alternatives: "Precision::Full; Precision::F16 needs matrix instructions of compute capability 8.0",
                });
            }
            cuda.prepare(&spacing.halves_kernel())?;
            cuda.prepare(&das_clear)?;
            cuda.prepare(&das_peak)?;
            cuda.prepare(&greens_store_halves)?;
        } else {
            for tile in [Tile::One, Tile::Four] {
                cuda.prepare(&tile.kernel(spacing))?;
            }
        }
        cuda.prepare(&greens_add)?;
        Ok(Self {
            backend: backend.clone(),
            cuda: Arc::clone(cuda),
            sources: Tensor::from_array(backend, &sources)?,
            targets: Tensor::from_array(backend, &targets)?,
            wavenumbers: Tensor::from_array(backend, &wavenumbers)?,
            spacing,
            step: TurnsPerSample::from_radians(step.unwrap_or(0.0)),
            n_sources,
            n_targets,
            n_frequencies,
            halving,
            workspace: Workspace::default(),
            parts: Mutex::default(),
            stream: backend.stream()?,
        })
    }

    /// Sources of a part of the sum over all of a plan's sources: a rule that leaves batch and split alone, so that results
    /// do not depend on them.
    fn sources_per_part(&self) -> usize {
        let runs = Tile::Four.runs(self.spacing, self.n_frequencies as u32) as usize;
        let blocks = self.n_targets.div_ceil(TARGETS_PER_BLOCK as usize).saturating_mul(runs);
        let parts = ENOUGH_BLOCKS
            .div_ceil(blocks)
            .min(self.n_sources / LEAST_SOURCES_PER_PART)
            .clamp(1, MOST_PARTS);
        self.n_sources.div_ceil(parts).next_multiple_of(CHUNK as usize)
    }

    /// Propagates amplitudes on the host (batch, source, frequency) into `output` (batch, target, frequency) on the host.
    pub(super) fn run<T: Amplitude>(
        &self,
        amplitudes: &ArrayView3<'_, T>,
        mut output: ArrayViewMut3<'_, T>,
    ) -> Result<()> {
        let n_batch = amplitudes.len_of(Axis(0));
        if n_batch == 0 {
            return Ok(());
        }
        let (items, targets) = self.pieces::<T>(n_batch)?;
        for first_item in (0..n_batch).step_by(items) {
            let batch = Slice::from(first_item..n_batch.min(first_item + items));
            let amplitudes = Tensor::from_array(&self.backend, &amplitudes.slice_axis(Axis(0), batch))?;
            let n_items = amplitudes.shape()[0];
            for first_target in (0..self.n_targets).step_by(targets) {
                let range = first_target..self.n_targets.min(first_target + targets);
                let mut piece = Tensor::zeros(&self.backend, &[n_items, range.len(), self.n_frequencies])?;
                self.launch(&amplitudes, n_items, range.clone(), &mut piece, &self.stream)?;
                let mut output = output.slice_axis_mut(Axis(0), batch);
                piece.copy_to_array(&mut output.slice_axis_mut(Axis(1), Slice::from(range)))?;
            }
        }
        Ok(())
    }

    /// Batch items and targets of the pieces in which a run is done.
    fn pieces<T: Amplitude>(&self, n_batch: usize) -> Result<(usize, usize)> {
        let budget = self
            .backend
            .available_memory_bytes()
            .map(|bytes| ((bytes as f64 * USABLE) as u64).saturating_sub(PARTS_BYTES as u64));
        // Halves of the amplitudes beside them.
        let of_number = size_of::<T>() as u64 * if self.halving.is_some() { 2 } else { 1 };
        let of_point = (self.n_frequencies as u64).saturating_mul(of_number);
        pieces([n_batch, self.n_sources, self.n_targets], of_point, budget)
    }

    /// Queues the sums of `n_batch` items at the targets `range`, which are the output's; shapes were checked.
    pub(super) fn launch<T: Amplitude>(
        &self,
        amplitudes: &Tensor<T>,
        n_batch: usize,
        range: Range<usize>,
        output: &mut Tensor<T>,
        stream: &Stream,
    ) -> Result<()> {
        if output.is_empty() {
            return Ok(());
        }
        let sources_per_part = self.sources_per_part();
        let n_parts = self.n_sources.div_ceil(sources_per_part);
        let whole = Greens {
            sources: self.sources.global_as("the sources")?,
            targets: self.targets.global("the targets")?,
            wavenumbers: self.wavenumbers.global_pairs("the wavenumbers")?,
            weights: amplitudes.global_as("the sources' amplitudes")?,
            output: output.global_mut_as("the output")?,
            step: self.step,
            target_pitch: self.n_targets as u64,
            first_target: range.start as u64,
            n_targets: range.len() as u32,
            n_sources: self.n_sources as u32,
            sources_per_part: sources_per_part as u32,
            n_frequencies: self.n_frequencies as u32,
            n_batch: n_batch as u32,
            first_item: 0,
            first_output_item: 0,
            n_output_items: n_batch as u32,
        };
        let scratch = self
            .halving
            .as_ref()
            .map(|_| self.workspace.enter(stream))
            .transpose()?;
        let stored = match (&self.halving, &scratch) {
            (Some(halving), Some(scratch)) => Some(Stored::new(self, halving, amplitudes, n_batch, scratch)?),
            _ => None,
        };
        let queue = |sums: Greens, n_parts: usize| match &stored {
            Some(stored) => stored.queue(self, sums, n_parts, stream),
            None => self.queue(sums, n_parts, stream),
        };
        if n_parts == 1 {
            return queue(whole, 1);
        }
        let of_item = range.len() * self.n_frequencies;
        let mut items = (PARTS_BYTES / (n_parts * of_item * size_of::<Complex<f32>>())).clamp(1, n_batch);
        if stored.is_some() {
            // Halves are stored by tiles of items, which a launch takes whole.
            items = items.next_multiple_of(ITEMS as usize).min(n_batch);
        }
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(event) = parts.last_use.take() {
            stream.wait_for(event)?;
        }
        let n_values = n_parts * items * of_item;
        if parts.values.as_ref().is_none_or(|values| values.len() < n_values) {
            // The old room first: both may not fit. Its drop waits for those who use it.
            parts.values = None;
            parts.values = Some(Tensor::zeros(&self.backend, &[n_values])?);
        }
        let Some(values) = &mut parts.values else {
            return Ok(());
        };
        for first_item in (0..n_batch).step_by(items) {
            let n_items = items.min(n_batch - first_item);
            let sums = Greens {
                output: values.global_mut("the parts of the sum")?,
                n_batch: (first_item + n_items) as u32,
                first_item: first_item as u32,
                first_output_item: first_item as u32,
                n_output_items: n_items as u32,
                ..whole
            };
            queue(sums, n_parts)?;
            let n_numbers = n_items * of_item;
            let parameters = GreensAdd {
                parts: values.global("the parts of the sum")?,
                output: whole.output,
                first: (first_item * of_item) as u64,
                n_numbers: n_numbers as u64,
                n_parts: n_parts as u32,
            };
            let shape = Launch {
                grid: [n_numbers.div_ceil(THREADS as usize) as u32, 1, 1],
                threads: THREADS,
                shared_bytes: 0,
            };
            self.cuda.launch(&greens_add, shape, parameters, stream)?;
        }
        parts.last_use = Some(stream.record()?);
        Ok(())
    }

    /// Queues the sums of the items from `first_item` to below `n_batch`: by fours, and one or two that are left alone.
    fn queue(&self, whole: Greens, n_parts: usize, stream: &Stream) -> Result<()> {
        let n_items = whole.n_batch - whole.first_item;
        let in_fours = if n_items % 4 == 3 { n_items } else { n_items / 4 * 4 };
        let split = whole.first_item + in_fours;
        for (tile, first, end) in [(Tile::Four, whole.first_item, split), (Tile::One, split, whole.n_batch)] {
            let blocks = u64::from(whole.n_targets.div_ceil(TARGETS_PER_BLOCK))
                * u64::from(tile.runs(self.spacing, whole.n_frequencies));
            for first_item in (first..end).step_by(MOST_LAYERS * tile.items() as usize) {
                let parameters = Greens {
                    first_item,
                    n_batch: end,
                    ..whole
                };
                let layers = (end - first_item).div_ceil(tile.items()).min(MOST_LAYERS as u32);
                let shape = Launch {
                    grid: [u32::try_from(blocks).unwrap_or(u32::MAX), layers, n_parts as u32],
                    threads: THREADS,
                    shared_bytes: tile.shared_bytes(self.spacing),
                };
                self.cuda
                    .launch(&tile.kernel(self.spacing), shape, parameters, stream)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_shrink_with_the_budget() {
        let of_budget = |budget| pieces([9, 10, 100], 8, Some(budget)).ok();
        assert_eq!(pieces([9, 10, 100], 8, None).ok(), Some((9, 100)));
        assert_eq!(of_budget(9 * 110 * 8), Some((9, 100)));
        assert_eq!(of_budget(9 * 110 * 8 - 1), Some((5, 100)));
        assert_eq!(of_budget(110 * 8), Some((1, 100)));
        assert_eq!(of_budget(110 * 8 - 1), Some((1, 50)));
        assert_eq!(of_budget(11 * 8), Some((1, 1)));
        let error = pieces([9, 10, 100], 8, Some(87)).unwrap_err().to_string();
        assert_eq!(
            error,
            "one batch item and one target needs 88 bytes; 87 bytes are available"
        );
    }

    #[test]
    fn grids_in_single_precision_are_even_and_others_are_not() {
        let grid: Vec<f64> = (0..100)
            .map(|f| f64::from((3.1 + 0.377 * f64::from(f)) as f32))
            .collect();
        assert!((even_step(&grid).unwrap() - 0.377).abs() < 1e-6);
        let mut moved = grid.clone();
        moved[50] += 1e-5;
        assert_eq!(even_step(&moved), None);
        assert_eq!(even_step(&grid[..15]), None);
        assert_eq!(even_step(&[2.0; 16]), Some(0.0));
        assert_eq!(even_step(&[]), None);
    }
}
