//! `cargo xtask bench`: builds the benchmark in release mode and runs it here.

use crate::workspace;
use xshell::{Shell, cmd};

/// Runs the benchmark with its own arguments.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    let shell = Shell::new()?;
    shell.change_dir(workspace::root());
    cmd!(
        shell,
        "cargo run --quiet --release --package warpbeam-bench -- {arguments...}"
    )
    .run()?;
    Ok(())
}
