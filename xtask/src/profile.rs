//! `cargo xtask profile`: hardware counters by the benchmark, or the emulator's where there is no profiler.

use crate::{bench, workspace};
use anyhow::bail;
use xshell::{Shell, cmd};

/// What the benchmark exits with where there is no Nsight Compute.
const NO_PROFILER: i32 = 3;

/// Profiles, with the benchmark's own arguments.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    let status = bench::status(Some("profile"), arguments)?;
    match status.code() {
        Some(0) => Ok(()),
        Some(NO_PROFILER) => emulated(),
        _ => bail!("the benchmark's profile ended with {status}"),
    }
}

/// Bytes used of a sector and sectors a request, of the kernels under the emulator.
fn emulated() -> anyhow::Result<()> {
    println!(
        "The emulator counts sectors and requests instead, on a part of the case (`cargo xtask test --only emulator` \
         runs all of its tests):"
    );
    let shell = Shell::new()?;
    shell.change_dir(workspace::root());
    cmd!(
        shell,
        "cargo test --quiet --package integration-tests --test emulator -- payload --nocapture"
    )
    .run()?;
    Ok(())
}
