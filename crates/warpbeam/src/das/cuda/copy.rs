//! The copy of the channel data with the batch innermost: room for it, kept from run to run, and the launches that make it.

use super::{Call, CudaDas, budget};
use crate::das::{Precision, Sample};
use crate::device::{Event, Tensor};
use crate::{Error, Result};
use cuda_std::{Global, GlobalMut, Kernel, Launch};
use kernels::das::batch::{Rows, SLACK_VECTORS};
use kernels::das::permute::{self, Permute};
use kernels::das::recorded::Recorded;
use kernels::das::sample::Sample as DeviceSample;
use kernels::das::scale::{self, Clear, Peak, Plane, Scaling, Source};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Batch items of a pass at most, so that tiles are few enough for a grid.
const MOST_ITEMS: usize = 1 << 20;

/// Bytes behind the copy that kernels may read.
const SLACK_BYTES: u64 = 16 * SLACK_VECTORS as u64;

/// Blocks that look for the peak of a batch item at most.
const MOST_PEAK_BLOCKS: u64 = 256;

/// Bytes that most kernels read at once.
pub(super) const VECTOR_BYTES: usize = 16;

/// How the copy is laid out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Rows of zeros.
    pub(super) rows: Rows,
    /// Samples that share a row: rows hold a sample of every batch item, or several.
    pub(super) samples_per_row: usize,
    /// Bytes of a plane's row of the batch items that go together: a vector.
    pub(super) vector_bytes: usize,
    /// How many items these are: the batch is padded to a multiple.
    pub(super) vector_items: usize,
    /// Planes of a row, each of the whole batch.
    pub(super) planes: usize,
    /// Batch items that tiles of the sum take: passes are of whole ones.
    pub(super) tile_items: usize,
    /// Whether the values are scaled.
    pub(super) is_scaled: bool,
    /// Whether batch items with values that are not finite are marked.
    pub(super) is_marking: bool,
    /// Bytes of a batch item's sums over ranges of channels.
    pub(super) range_bytes: u64,
}

impl Layout {
    /// Whether something is kept of each batch item besides its samples.
    pub(super) fn needs_items(self) -> bool {
        self.is_scaled || self.is_marking
    }

    /// Rows of a transmit, and how many vectors each batch's worth of them takes.
    fn rows_of_transmit(self, n_channels: usize, n_samples: usize) -> u64 {
        let rows = self
            .rows
            .of_transmit(n_channels as u32, n_samples.div_ceil(self.samples_per_row) as u32);
        rows.saturating_mul(self.planes as u64)
    }
}

/// Room for the copy.
#[derive(Default)]
pub(super) struct Workspace {
    state: Mutex<Room>,
}

/// What is there of it.
#[derive(Default)]
pub(super) struct Room {
    samples: Option<Tensor<u32>>,
    sums_of_ranges: Option<Tensor<u32>>,
    peaks: Option<Tensor<u32>>,
    marks: Option<Tensor<u32>>,
    inverses: Option<Tensor<f32>>,
    /// After the last launch that reads the samples.
    pub(super) last_use: Option<Event>,
}

impl Workspace {
    pub(super) fn lock(&self) -> MutexGuard<'_, Room> {
        // Whoever panicked left room, or none: either is good.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that are held.
    pub(super) fn bytes(&self) -> u64 {
        self.lock().bytes()
    }
}

fn bytes(words: Option<&Tensor<u32>>) -> u64 {
    words.map_or(0, |words| 4 * words.len() as u64)
}

impl Room {
    fn bytes(&self) -> u64 {
        bytes(self.samples.as_ref()) + bytes(self.sums_of_ranges.as_ref())
    }

    /// Vectors that there is room for, of so many bytes of samples and of sums.
    fn vectors(&self, [of_samples, of_sums]: [u64; 2]) -> u64 {
        let sums = bytes(self.sums_of_ranges.as_ref())
            .checked_div(of_sums)
            .unwrap_or(u64::MAX);
        let samples = bytes(self.samples.as_ref()).saturating_sub(SLACK_BYTES);
        sums.min(samples.checked_div(of_samples).unwrap_or(0))
    }

    /// The sums over ranges of channels, for a kernel that reads them.
    pub(super) fn sums_of_ranges<D: cuda_std::Element>(&self) -> Result<Global<D>> {
        self.sums_of_ranges
            .as_ref()
            .map_or(Ok(Global::empty()), |sums| sums.global_as("the sums of ranges"))
    }

    /// The sums over ranges of channels, for a kernel that writes them.
    pub(super) fn sums_of_ranges_mut<D: cuda_std::Element>(&mut self) -> Result<GlobalMut<D>> {
        self.sums_of_ranges
            .as_mut()
            .map_or(Ok(GlobalMut::empty()), |sums| sums.global_mut_as("the sums of ranges"))
    }

    /// The copy, for a kernel that reads it.
    pub(super) fn samples<D: cuda_std::Element>(&self) -> Result<Global<D>> {
        let Some(samples) = &self.samples else {
            return Ok(Global::empty());
        };
        samples.global_as("the copy of the channel data")
    }

    /// The copy, for a kernel that writes it.
    pub(super) fn samples_mut<D: cuda_std::Element>(&mut self) -> Result<GlobalMut<D>> {
        self.samples.as_mut().map_or(Ok(GlobalMut::empty()), |samples| {
            samples.global_mut_as("the copy of the channel data")
        })
    }

    /// The marks of batch items.
    pub(super) fn marks(&self) -> Result<Global<u32>> {
        self.marks
            .as_ref()
            .map_or(Ok(Global::empty()), |marks| marks.global("the marks"))
    }

    /// What sums of each batch item have to be multiplied by, where values are scaled.
    pub(super) fn inverses<R: cuda_std::Element>(&self) -> Result<Global<R>> {
        self.inverses
            .as_ref()
            .map_or(Ok(Global::empty()), |inverses| inverses.global_as("the scales"))
    }
}

impl<T: Sample> CudaDas<T> {
    /// Rows of one batch item in the copy.
    fn copy_rows(&self, layout: Layout, n_samples: usize) -> u64 {
        let parts = self.parameters.parts;
        layout
            .rows_of_transmit(parts.n_channels, n_samples)
            .saturating_mul(parts.n_transmits as u64)
    }

    /// Bytes of the copy of one batch item, and of a whole vector of them; sums over ranges included.
    pub(super) fn copy_bytes(&self, layout: Layout, n_samples: usize) -> (u64, u64) {
        let rows = self.copy_rows(layout, n_samples);
        let item = rows.saturating_mul(layout.vector_bytes as u64 / layout.vector_items as u64);
        let [samples, sums] = self.vector_bytes(layout, n_samples);
        (item.saturating_add(layout.range_bytes), samples.saturating_add(sums))
    }

    /// Bytes of the samples of a vector of batch items, and of their sums over ranges.
    fn vector_bytes(&self, layout: Layout, n_samples: usize) -> [u64; 2] {
        let samples = self
            .copy_rows(layout, n_samples)
            .saturating_mul(layout.vector_bytes as u64);
        [samples, layout.range_bytes.saturating_mul(layout.vector_items as u64)]
    }

    /// Makes room for as many of `n_batch` items as there can be; how many, or 0.
    pub(super) fn make_room(&self, room: &mut Room, layout: Layout, n_batch: usize, n_samples: usize) -> Result<usize> {
        let per_vector = layout.vector_items as u64;
        let (_, vector_bytes) = self.copy_bytes(layout, n_samples);
        if vector_bytes == 0 {
            return Ok(0);
        }
        // The kernels count the vectors of a transmit in 32 bits.
        let of_transmit = layout.rows_of_transmit(self.parameters.parts.n_channels, n_samples);
        let wanted = (n_batch.min(MOST_ITEMS) as u64)
            .div_ceil(per_vector)
            .min(u64::from(u32::MAX) / of_transmit);
        let of_vector = self.vector_bytes(layout, n_samples);
        let held = room.vectors(of_vector);
        let vectors = if held >= wanted {
            wanted
        } else {
            let bytes = budget(&self.backend, self.memory_limit_bytes, room.bytes());
            let possible = bytes.map_or(wanted, |bytes| {
                wanted.min(bytes.saturating_sub(SLACK_BYTES) / vector_bytes)
            });
            if possible > held {
                // The old room first: both may not fit. Its drop waits for those who use it.
                *room = Room::default();
                let [samples, sums] = of_vector.map(|bytes| possible * bytes);
                let words = |bytes: u64| [(bytes / 4) as usize];
                room.samples = Some(Tensor::zeros(&self.backend, &words(samples + SLACK_BYTES))?);
                if sums > 0 {
                    room.sums_of_ranges = Some(Tensor::zeros(&self.backend, &words(sums))?);
                }
            }
            possible.max(held)
        };
        if layout.needs_items() && room.peaks.as_ref().is_none_or(|peaks| peaks.len() < n_batch) {
            room.peaks = Some(Tensor::zeros(&self.backend, &[n_batch])?);
            room.marks = Some(Tensor::zeros(&self.backend, &[n_batch])?);
            room.inverses = Some(Tensor::zeros(&self.backend, &[n_batch])?);
        }
        let items = (vectors * per_vector) as usize;
        // Whole tiles, unless that leaves none.
        Ok(match items {
            items if items >= n_batch => n_batch,
            items if items >= layout.tile_items => items - items % layout.tile_items,
            items => items,
        })
    }

    /// The error where there is no room for even a few items.
    pub(super) fn no_room(&self, layout: Layout, n_samples: usize) -> Error {
        Error::OutOfMemory {
            what: "the copy of the channel data with the batch innermost",
            needed_bytes: self.copy_bytes(layout, n_samples).1,
            available_bytes: budget(&self.backend, self.memory_limit_bytes, 0),
        }
    }

    /// Queues what finds the scale of each batch item of a call.
    pub(super) fn queue_peaks(&self, layout: Layout, room: &mut Room, call: &Call<'_, T>) -> Result<()> {
        let (Some(peaks), Some(marks)) = (&mut room.peaks, &mut room.marks) else {
            return Ok(());
        };
        let n_batch = call.n_batch as u32;
        let clear = Clear {
            peaks: peaks.global_mut("the peaks")?,
            marks: marks.global_mut("the marks")?,
            n_batch,
        };
        let one_each = |blocks: u32, layers: u32, threads: u32| Launch {
            grid: [blocks, layers, 1],
            threads,
            shared_bytes: 0,
        };
        let shape = one_each(n_batch.div_ceil(scale::THREADS), 1, scale::THREADS);
        self.cuda.launch(&scale::das_clear, shape, clear, call.stream)?;
        if self.source(layout) != Source::Peak {
            return Ok(());
        }
        let n_numbers = call.strides.batch * T::PARTS as u64;
        let n_blocks = n_numbers
            .div_ceil(u64::from(scale::THREADS) * 16)
            .clamp(1, MOST_PEAK_BLOCKS) as u32;
        let parameters = Peak {
            samples: call.data.global_as("the channel data")?,
            peaks: peaks.global_mut("the peaks")?,
            n_numbers,
            n_blocks,
        };
        let shape = one_each(n_batch, n_blocks, scale::THREADS);
        self.cuda.launch(&scale::das_peak, shape, parameters, call.stream)
    }

    /// Queues the copy of the batch items `pass` of a call.
    pub(super) fn queue_permutation<D: DeviceSample>(
        &self,
        kernel: &Kernel<Permute<T::Device, D>>,
        layout: Layout,
        room: &mut Room,
        call: &Call<'_, T>,
        pass: &Range<usize>,
    ) -> Result<()> {
        let pitch = pass.len().next_multiple_of(layout.vector_items);
        let parts = self.parameters.parts;
        let (n_channels, n_samples) = (parts.n_channels as u32, call.strides.n_samples as u32);
        let tiles =
            permute::sample_tiles::<D>(layout.rows, n_channels, n_samples).saturating_mul(parts.n_transmits as u32);
        let scaling = self.scaling(room, layout, pass)?;
        let parameters = Permute::<T::Device, D> {
            data: self.recorded(call, pass)?,
            output: room.samples_mut()?,
            scaling,
            rows: layout.rows,
            batch_pitch: pitch as u32,
            n_planes: layout.planes as u32,
            plane: Plane::High,
        };
        let shape = Launch {
            grid: [tiles, (pitch as u32).div_ceil(permute::tile_items::<D>()), 1],
            threads: permute::THREADS,
            shared_bytes: permute::shared_bytes::<D>(),
        };
        for plane in [Plane::High, Plane::Low].into_iter().take(layout.planes) {
            let parameters = Permute { plane, ..parameters };
            self.cuda.launch(kernel, shape, parameters, call.stream)?;
        }
        Ok(())
    }

    /// The batch items `pass` of a call, for a kernel that reads them.
    pub(super) fn recorded(&self, call: &Call<'_, T>, pass: &Range<usize>) -> Result<Recorded<T::Device>> {
        let recorded = Recorded {
            input: call.data.global("the channel data")?,
            origin: pass.start as i64 * call.strides.batch as i64,
            batch_stride: call.strides.batch as i64,
            channel_stride: call.strides.channel as i64,
            transmit_stride: call.strides.transmit as i64,
            sample_stride: 1,
            n_batch: pass.len() as u32,
            n_channels: self.parameters.parts.n_channels as u32,
            n_samples: call.strides.n_samples as u32,
            is_paired: 0,
        };
        let is_paired = u32::from(recorded.has_pairs(call.data.address()));
        Ok(Recorded { is_paired, ..recorded })
    }

    /// Where the scale of values comes from.
    fn source(&self, layout: Layout) -> Source {
        match self.precision {
            _ if !layout.is_scaled => Source::Unscaled,
            Precision::F16 { exponent: Some(_) } => Source::Given,
            _ => Source::Peak,
        }
    }

    pub(super) fn scaling(&self, room: &mut Room, layout: Layout, pass: &Range<usize>) -> Result<Scaling> {
        let (Some(peaks), Some(marks), Some(inverses)) = (&room.peaks, &mut room.marks, &mut room.inverses) else {
            return Ok(Scaling::none());
        };
        if !layout.needs_items() {
            return Ok(Scaling::none());
        }
        Ok(Scaling {
            peaks: peaks.global("the peaks")?,
            inverses: inverses.global_mut("the scales")?,
            marks: marks.global_mut("the marks")?,
            first_item: pass.start as u32,
            exponent: match self.precision {
                Precision::F16 { exponent } => exponent.unwrap_or(0),
                _ => 0,
            },
            source: self.source(layout),
            is_marking: u32::from(layout.is_marking),
        })
    }
}
