//! The launches of sums with halves on a CUDA device.

use super::cuda::{CudaGreens, MOST_LAYERS};
use super::halving::Halving;
use super::plan::Amplitude;
use crate::Result;
use crate::device::{Scratch, Stream, Tensor};
use cuda_std::{Global, Launch};
use kernels::das::scale::{self, Clear, Peak, das_clear, das_peak};
use kernels::greens::Greens;
use kernels::greens::halves::{Halves, ITEMS, Store, greens_store_halves};

/// Blocks that look for an item's largest amplitude at most.
const MOST_PEAK_BLOCKS: u64 = 64;

/// Amplitudes as halves, where the sums find them.
pub(super) struct Stored {
    pairs: Tensor<u32>,
    inverses: Tensor<f32>,
    wave_scale: [f32; 2],
}

impl Stored {
    /// Queues what stores them.
    pub(super) fn new<T: Amplitude>(
        greens: &CudaGreens,
        halving: &Halving,
        amplitudes: &Tensor<T>,
        n_batch: usize,
        scratch: &Scratch<'_>,
    ) -> Result<Self> {
        const WHAT: &str = "the sources' amplitudes";
        let stream = scratch.stream();
        let mut peaks = scratch.tensor::<u32>(&[n_batch])?;
        let mut inverses = scratch.tensor::<f32>(&[n_batch])?;
        let mut marks = scratch.tensor::<u32>(&[n_batch])?;
        let one_each = |blocks: u32, layers: u32| Launch {
            grid: [blocks, layers, 1],
            threads: scale::THREADS,
            shared_bytes: 0,
        };
        let clear = Clear {
            peaks: peaks.global_mut("the peaks")?,
            marks: marks.global_mut("the marks")?,
            n_batch: n_batch as u32,
        };
        let shape = one_each((n_batch as u32).div_ceil(scale::THREADS), 1);
        greens.cuda.launch(&das_clear, shape, clear, stream)?;
        if halving.exponent.is_none() {
            let n_numbers = 2 * (amplitudes.len() / n_batch) as u64;
            let n_blocks = n_numbers
                .div_ceil(u64::from(scale::THREADS) * 16)
                .clamp(1, MOST_PEAK_BLOCKS) as u32;
            let peak = Peak {
                samples: amplitudes.global_as(WHAT)?,
                peaks: peaks.global_mut("the peaks")?,
                n_numbers,
                n_blocks,
            };
            let shape = one_each(n_batch as u32, n_blocks);
            greens.cuda.launch(&das_peak, shape, peak, stream)?;
        }
        let mut store = Store {
            amplitudes: amplitudes.global_as(WHAT)?,
            peaks: peaks.global("the peaks")?,
            halves: cuda_std::GlobalMut::empty(),
            inverses: inverses.global_mut("the inverse scales")?,
            exponent: halving.exponent.unwrap_or(0),
            has_exponent: u32::from(halving.exponent.is_some()),
            n_batch: n_batch as u32,
            n_sources: greens.n_sources as u32,
            n_frequencies: greens.n_frequencies as u32,
        };
        let mut pairs = scratch.tensor::<u32>(&[store.n_pairs(), 2])?;
        store.halves = pairs.global_mut_as("the amplitudes as halves")?;
        greens
            .cuda
            .launch(&greens_store_halves, store.launch(), store, stream)?;
        Ok(Self {
            pairs,
            inverses,
            wave_scale: halving.wave_scale(),
        })
    }

    /// Queues the sums of the items from `first_item`, a multiple of [`ITEMS`], to below `n_batch`.
    pub(super) fn queue(&self, greens: &CudaGreens, whole: Greens, n_parts: usize, stream: &Stream) -> Result<()> {
        for first_item in (whole.first_item..whole.n_batch).step_by(MOST_LAYERS * ITEMS as usize) {
            let end = whole.n_batch.min(first_item + MOST_LAYERS as u32 * ITEMS);
            let parameters = Halves {
                greens: Greens {
                    weights: Global::empty(),
                    first_item,
                    n_batch: end,
                    ..whole
                },
                amplitudes: self.pairs.global_as("the amplitudes as halves")?,
                inverses: self.inverses.global("the inverse scales")?,
                wave_scale: self.wave_scale[0],
                inverse_wave_scale: self.wave_scale[1],
            };
            let launch = parameters.launch(n_parts as u32);
            greens
                .cuda
                .launch(&greens.spacing.halves_kernel(), launch, parameters, stream)?;
        }
        Ok(())
    }
}
