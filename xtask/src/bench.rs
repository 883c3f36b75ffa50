//! `cargo xtask bench`: builds the benchmark in release mode and runs it here, with its own arguments.

use crate::workspace;
use xshell::{Shell, cmd};

/// The tasks whose arguments are the benchmark's.
pub(crate) const TASKS: [&str; 1] = ["bench"];

/// Runs the benchmark's command for a task.
pub(crate) fn run(task: &str, arguments: &[String]) -> anyhow::Result<()> {
    // To time is what the benchmark does without a command.
    let command = Some(task).filter(|task| *task != "bench");
    let arguments = arguments.strip_prefix(&["--".to_owned()]).unwrap_or(arguments);
    let shell = Shell::new()?;
    shell.change_dir(workspace::root());
    cmd!(
        shell,
        "cargo run --quiet --release --package warpbeam-bench -- {command...} {arguments...}"
    )
    .run()?;
    Ok(())
}
