//! `cargo xtask demo`: channel data, simulated or from a file, to a picture.

mod disk;
mod phantom;
mod picture;
mod reconstruct;
mod simulate;
mod stages;
mod summary;
mod volume;

use anyhow::Context;
use std::path::PathBuf;
use warpbeam::Backend;

/// What the demo works on and where its results go.
#[derive(Clone, Debug)]
pub(crate) struct Flags {
    /// A plane-wave acquisition of a linear probe in a MATLAB 5 file; without it a matrix probe is simulated.
    pub(crate) input: Option<PathBuf>,
    /// The folder for the results; it is made if it is not there.
    pub(crate) output: PathBuf,
}

/// Runs the demo on the best backend and says what came out.
pub(crate) fn run(flags: &Flags) -> anyhow::Result<()> {
    std::fs::create_dir_all(&flags.output)
        .with_context(|| format!("cannot make the folder `{}`", flags.output.display()))?;
    let backend = Backend::best();
    println!("on {}", backend.name());
    match &flags.input {
        None => volume::run(&backend, &flags.output),
        Some(file) => disk::run(&backend, file, &flags.output),
    }
}
