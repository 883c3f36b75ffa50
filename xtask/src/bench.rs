//! `cargo xtask bench`, `report`: builds the benchmark in release mode and runs it here, with its own arguments.

use crate::workspace;
use anyhow::{Context, ensure};
use std::process::{Command, ExitStatus};

/// Times: what the benchmark does without a command.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    let status = status(None, arguments)?;
    ensure!(status.success(), "the benchmark ended with {status}");
    Ok(())
}

/// Makes the document and the pictures.
pub(crate) fn report(arguments: &[String]) -> anyhow::Result<()> {
    let status = status(Some("report"), arguments)?;
    ensure!(status.success(), "the report ended with {status}");
    Ok(())
}

/// How the benchmark's command ends.
pub(crate) fn status(command: Option<&str>, arguments: &[String]) -> anyhow::Result<ExitStatus> {
    Command::new("cargo")
        .args(["run", "--quiet", "--release", "--package", "warpbeam-bench", "--"])
        .args(command)
        .args(arguments.strip_prefix(&["--".to_owned()]).unwrap_or(arguments))
        .current_dir(workspace::root())
        .status()
        .context("cargo")
}
