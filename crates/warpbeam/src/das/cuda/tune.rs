//! Measuring instead of choosing by rule: every way to sum that the plan has is timed once, and the answer kept, in the plan
//! and on disk for the device, driver and class of shape.

use super::{Call, CudaDas};
use crate::Result;
use crate::das::choice::Choice;
use crate::das::{Algorithm, DasTiming, Sample};
use crate::device::{Tensor, answers};
use cuda_std::math::Real;
use kernels::das::{distinct, voxel};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Timed runs of a candidate after one that does not count; the shortest counts.
const RUNS: usize = 2;

/// Answers by batch items and samples a channel.
#[derive(Default)]
pub(super) struct Answers {
    by_size: Mutex<HashMap<(usize, usize), Choice>>,
}

impl<T: Sample> CudaDas<T> {
    /// Every way to sum that the plan has for a batch, with its name.
    fn candidates(&self) -> Vec<(String, Choice)> {
        let mut candidates = Vec::new();
        if !self.is_converted() {
            candidates.extend([
                ("voxel-items".to_owned(), Choice::Voxel(voxel::Tile::Items)),
                ("voxel-item".to_owned(), Choice::Voxel(voxel::Tile::Item)),
                ("frame".to_owned(), Choice::Voxel(voxel::Tile::Transmits)),
            ]);
        }
        if kernels::das::batch::has_kernels::<T::Device>() {
            candidates.push(("batch".to_owned(), Choice::Batch));
        }
        let of_tile = |tile| match tile {
            distinct::Tile::Wide => "distinct-wide",
            distinct::Tile::Narrow => "distinct-narrow",
        };
        let tiles = self.matrix.distinct.iter().map(|(tile, _)| *tile);
        candidates.extend(tiles.map(|tile| (of_tile(tile).to_owned(), Choice::Distinct(tile))));
        let windows = self.matrix.windows.iter();
        candidates.extend(windows.map(|window| (window.name.to_owned(), Choice::Window(window.number))));
        candidates
    }

    /// Times every way that the plan's algorithm leaves open on a call's data, the fastest first; the fastest is what runs of
    /// that size take from now on.
    pub(super) fn tune(&self, call: &Call<'_, T>) -> Result<Vec<DasTiming>> {
        let is_open = |choice: &Choice| match self.algorithm {
            Algorithm::Auto => true,
            Algorithm::Voxel => matches!(choice, Choice::Voxel(voxel::Tile::Items | voxel::Tile::Item)),
            Algorithm::Frame => *choice == Choice::Voxel(voxel::Tile::Transmits),
            Algorithm::Batch => *choice == Choice::Batch,
            Algorithm::Distinct => matches!(choice, Choice::Distinct(_)),
            Algorithm::Window => matches!(choice, Choice::Window(number) if !self.is_grouped(*number)),
        };
        let shape = [call.n_batch, self.parameters.parts.count(), call.range.len()];
        let mut scratch = Tensor::<T::Sum>::zeros(&self.backend, &shape)?;
        let mut timed = Vec::new();
        for (name, choice) in self.candidates().into_iter().filter(|(_, choice)| is_open(choice)) {
            let mut shortest = Duration::MAX;
            for run in 0..=RUNS {
                let start = call.stream.record()?;
                self.launch(choice, call, &mut scratch, T::Real::ZERO)?;
                let end = call.stream.record()?;
                end.synchronize()?;
                if run > 0 {
                    shortest = shortest.min(end.elapsed_since(&start)?);
                }
            }
            timed.push((shortest, name, choice));
        }
        timed.sort_by_key(|(time, ..)| *time);
        if let Some((_, name, choice)) = timed.first() {
            self.remember(call.n_batch, call.strides.n_samples, *choice);
            // Without a place on disk the plan still knows.
            let _ = answers::keep(&self.key(call.n_batch, call.strides.n_samples), name);
        }
        Ok(timed
            .into_iter()
            .map(|(time, name, _)| DasTiming { name, time })
            .collect())
    }

    /// What was measured for a size before, by this plan or another one.
    pub(super) fn known(&self, n_batch: usize, n_samples: usize) -> Option<Choice> {
        let size = (n_batch, n_samples);
        let answers = self.answers.by_size.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(choice) = answers.get(&size) {
            return Some(*choice);
        }
        drop(answers);
        let name = answers::find(&self.key(n_batch, n_samples))?;
        let (_, choice) = self
            .candidates()
            .into_iter()
            .find(|(candidate, _)| *candidate == name)?;
        self.remember(n_batch, n_samples, choice);
        Some(choice)
    }

    fn remember(&self, n_batch: usize, n_samples: usize, choice: Choice) {
        let mut answers = self.answers.by_size.lock().unwrap_or_else(PoisonError::into_inner);
        answers.insert((n_batch, n_samples), choice);
    }

    /// Device, driver and library, what is computed, and each count to the next power of two.
    fn key(&self, n_batch: usize, n_samples: usize) -> String {
        let parts = self.parameters.parts;
        let class = [
            n_batch,
            parts.n_channels,
            self.parameters.n_entries,
            n_samples,
            self.n_voxels,
            parts.count(),
        ]
        .map(|count| count.next_power_of_two().to_string());
        format!(
            "das {} {} driver {} warpbeam {} {} {:?} {:?} {:?}",
            class.join("x"),
            self.backend.name(),
            self.cuda.driver_version(),
            env!("CARGO_PKG_VERSION"),
            std::any::type_name::<T>(),
            self.algorithm,
            self.precision,
            self.parameters.interpolation,
        )
    }
}
