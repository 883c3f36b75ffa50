//! Channel data to images, with a clock beside it.

use super::stages::{Stages, progress};
use ndarray::{Array4, ArrayD};
use num_complex::Complex;
use std::time::{Duration, Instant};
use warpbeam::{Acquisition, Backend, DasPlan, Grid, Reception, Tensor};

/// Runs shorter than this are repeated until they add up to it.
const SHORTEST_MEASUREMENT: Duration = Duration::from_millis(300);

/// Images and how fast they came.
pub(super) struct Reconstruction {
    /// `(frame, ..grid)`.
    pub(super) images: ArrayD<Complex<f32>>,
    /// Voxels × channels × transmits × frames.
    pub(super) points: u64,
    /// Frames a second, from data on the device to images on the device.
    pub(super) frames_per_second: f64,
    /// Points a second, in the same run.
    pub(super) points_per_second: f64,
}

impl Reconstruction {
    /// One line for people: where it was computed and how fast; `images` names what a frame is.
    pub(super) fn speed(&self, backend: &Backend, images: &str) -> String {
        format!(
            "{}: {} billion points a second, {} {images} a second",
            backend.name(),
            three_digits(self.points_per_second / 1e9),
            three_digits(self.frames_per_second),
        )
    }
}

/// A positive number with three digits that count.
fn three_digits(value: f64) -> String {
    let decimals = (2.0 - value.log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.decimals$}")
}

/// Reconstructs all frames of `data`, `(frame, channel, transmit, sample)`.
pub(super) fn reconstruct(
    backend: &Backend,
    acquisition: &Acquisition,
    grid: &Grid,
    reception: &Reception,
    data: &Array4<Complex<f32>>,
    stages: &mut Stages,
) -> anyhow::Result<Reconstruction> {
    let n_frames = data.shape()[0];
    let plan = stages.run("plan", 1, |_| {
        Ok(DasPlan::<Complex<f32>>::for_acquisition(
            backend,
            acquisition,
            grid,
            reception,
        )?)
    })?;
    let stream = backend.stream()?;
    let shape = [&[n_frames], grid.shape().as_slice()].concat();
    let (on_device, mut images) = stages.run("upload", 1, |_| {
        let pair = (Tensor::from_array(backend, data)?, Tensor::zeros(backend, &shape)?);
        stream.synchronize()?;
        Ok(pair)
    })?;

    // The first run loads the kernel; what is measured comes after it where it is quick.
    let mut run = || -> anyhow::Result<Duration> {
        let start = Instant::now();
        plan.run_into(&on_device, &mut images, &stream)?;
        stream.synchronize()?;
        Ok(start.elapsed())
    };
    let spinner = progress("reconstruct", 1);
    let mut elapsed = run()?;
    if elapsed < SHORTEST_MEASUREMENT {
        let (mut total, mut runs) = (Duration::ZERO, 0);
        while total < SHORTEST_MEASUREMENT {
            total += run()?;
            runs += 1;
        }
        elapsed = total / runs;
    }
    spinner.finish_and_clear();
    stages.record("reconstruct", elapsed);

    let images = stages.run("download", 1, |_| Ok(images.to_array()?))?;
    let seconds = elapsed.as_secs_f64();
    Ok(Reconstruction {
        images,
        points: plan.points(n_frames),
        frames_per_second: n_frames as f64 / seconds,
        points_per_second: plan.points(n_frames) as f64 / seconds,
    })
}
