//! What a demo leaves in its folder.

use super::picture::Canvas;
use super::reconstruct::Reconstruction;
use super::stages::Stages;
use ndarray::ArrayRef;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::Path;
use warpbeam::Backend;
use warpbeam::io::{atomic_write, npy};

/// Says how fast it went and writes `picture.png`, `das.npy`, `doppler.npy` and `summary.json`; `images` names what a
/// frame is.
pub(super) fn write(
    folder: &Path,
    backend: &Backend,
    images: &str,
    reconstruction: &Reconstruction,
    doppler_m_s: &ArrayRef<f32, impl ndarray::Dimension>,
    picture: &Canvas,
    stages: &mut Stages,
) -> anyhow::Result<()> {
    stages.run("write", 1, |_| {
        picture.write(&folder.join("picture.png"))?;
        npy::write(folder.join("das.npy"), &reconstruction.images)?;
        npy::write(folder.join("doppler.npy"), doppler_m_s)?;
        Ok(())
    })?;
    println!("{}", reconstruction.speed(backend, images));
    println!("results are in `{}`", folder.display());
    let milliseconds: Map<String, Value> = stages
        .milliseconds()
        .iter()
        .map(|(name, milliseconds)| ((*name).to_owned(), json!(milliseconds)))
        .collect();
    let summary = json!({
        "backend": if backend.is_cuda() { "cuda" } else { "cpu" },
        "device": backend.name(),
        "shape": reconstruction.images.shape(),
        "points": reconstruction.points,
        "points_per_second": reconstruction.points_per_second,
        "frames_per_second": reconstruction.frames_per_second,
        "milliseconds": milliseconds,
    });
    atomic_write(folder.join("summary.json"), |out| {
        serde_json::to_writer_pretty(&mut *out, &summary)?;
        writeln!(out)
    })?;
    Ok(())
}
