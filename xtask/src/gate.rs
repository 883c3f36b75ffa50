//! `cargo xtask test`: everything that must hold before a change lands.
//!
//! Installs what is missing: the device compiler by the system's package manager where that may be used, `ptxas` into
//! `target/cuda-tools`. Where that fails it says what to install and goes on; what could not be checked is said.

use crate::{dependency, ptx, workspace};
use anyhow::{Context, bail, ensure};
use cuda_builder::{CudaTools, DeviceCompiler, tools};
use kernels::{FAMILIES, FAMILIES_FROM_SM_80};
use std::collections::BTreeSet;
use std::fs;
use std::time::Instant;
use warpbeam::Backend;
use xshell::{Shell, cmd};

type Part = (&'static str, fn(&Shell) -> anyhow::Result<()>);

const PARTS: [Part; 7] = [
    ("format", format),
    ("lints", lints),
    ("docs", docs),
    ("ptx", ptx_is_fresh),
    ("tests", tests),
    ("emulator", emulator),
    ("dependency", |_| dependency::run()),
];

/// Runs all parts, or one.
pub(crate) fn run(only: Option<&str>) -> anyhow::Result<()> {
    let shell = Shell::new()?;
    shell.change_dir(workspace::root());
    let chosen: Vec<_> = PARTS
        .iter()
        .filter(|(name, _)| only.is_none_or(|only| only == *name))
        .collect();
    if chosen.is_empty() {
        let names: Vec<_> = PARTS.iter().map(|(name, _)| *name).collect();
        bail!(
            "there is no part {:?}; the parts are {}",
            only.unwrap_or_default(),
            names.join(", ")
        );
    }
    let mut times = Vec::new();
    for (name, part) in chosen {
        println!("== {name}");
        let start = Instant::now();
        part(&shell)?;
        times.push(format!("{name} {:.0} s", start.elapsed().as_secs_f64()));
    }
    if only.is_none() {
        println!("all parts passed: {}", times.join(", "));
    }
    Ok(())
}

fn format(shell: &Shell) -> anyhow::Result<()> {
    Ok(cmd!(shell, "cargo fmt --all --check").run()?)
}

fn lints(shell: &Shell) -> anyhow::Result<()> {
    cmd!(
        shell,
        "cargo clippy --quiet --workspace --all-targets -- --deny warnings"
    )
    .run()?;
    Ok(cmd!(
        shell,
        "cargo clippy --quiet --package warpbeam --no-default-features -- --deny warnings"
    )
    .run()?)
}

fn docs(shell: &Shell) -> anyhow::Result<()> {
    let _deny = shell.push_env("RUSTDOCFLAGS", "--deny warnings");
    Ok(cmd!(shell, "cargo doc --quiet --workspace --no-deps").run()?)
}

fn ptx_is_fresh(shell: &Shell) -> anyhow::Result<()> {
    if let Err(missing) = DeviceCompiler::find() {
        println!("{missing}");
        install_device_compiler(shell);
    }
    if CudaTools::find(workspace::target()).is_err()
        && let Err(error) = tools::install(workspace::target())
    {
        println!("ptxas could not be installed: {error}");
    }
    ptx::run(true, None)
}

/// Through Debian's or Ubuntu's package manager, where this process may use it.
fn install_device_compiler(shell: &Shell) {
    let may = cmd!(shell, "id -u").quiet().read().is_ok_and(|id| id == "0")
        && cmd!(shell, "apt-get --version").quiet().ignore_stdout().run().is_ok();
    if !may {
        return;
    }
    let install = cmd!(shell, "apt-get update --quiet=2").run().and_then(|()| {
        cmd!(
            shell,
            "apt-get install --yes --quiet=2 --no-install-recommends rustc-web cargo-web rust-web-src"
        )
        .env("DEBIAN_FRONTEND", "noninteractive")
        .run()
    });
    if let Err(error) = install {
        println!("the device compiler could not be installed: {error}");
    }
}

fn tests(shell: &Shell) -> anyhow::Result<()> {
    cmd!(shell, "cargo test --workspace --quiet").run()?;
    match Backend::cuda(0) {
        Ok(gpu) => {
            println!("tests on {}", gpu.name());
            cmd!(
                shell,
                "cargo test --quiet --package integration-tests --package warpbeam -- --ignored"
            )
            .run()?;
        }
        Err(reason) => println!("the tests that need a GPU were ignored: {reason}"),
    }
    Ok(())
}

/// Every kernel runs under the emulator: the suite's own log says which ones did.
fn emulator(shell: &Shell) -> anyhow::Result<()> {
    let log = workspace::target().join("emulated-launches.log");
    if log.exists() {
        fs::remove_file(&log)?;
    }
    cmd!(shell, "cargo test --quiet --package integration-tests --test emulator")
        .env("CUDA_STD_LAUNCH_LOG", &log)
        .run()?;
    let text = fs::read_to_string(&log).context("the emulator's log of launches")?;
    let mut launched = BTreeSet::new();
    let mut seconds = 0.0;
    for line in text.lines() {
        let fields: Vec<_> = line.split('\t').collect();
        let [kernel, _blocks, _threads, time] = fields[..] else {
            bail!("the emulator's log has a line that is not kernel, blocks, threads, seconds: {line:?}");
        };
        launched.insert(kernel);
        seconds += time.parse::<f64>().with_context(|| format!("seconds in {line:?}"))?;
    }
    let missing: Vec<_> = FAMILIES
        .iter()
        .chain(FAMILIES_FROM_SM_80)
        .copied()
        .flatten()
        .map(|kernel| kernel.name)
        .filter(|name| !launched.contains(name))
        .collect();
    ensure!(
        missing.is_empty(),
        "kernels without an emulator test: {}",
        missing.join(", ")
    );
    println!(
        "emulator: {} kernels, {} launches, {seconds:.1} s",
        launched.len(),
        text.lines().count()
    );
    Ok(())
}
