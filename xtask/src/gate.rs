//! `cargo xtask test`: everything that must hold before a change lands.
//!
//! Installs what is missing: the device compiler by the system's package manager where that may be used, `ptxas` into
//! `target/cuda-tools`. Where that fails it says what to install and goes on; what could not be checked is said.

use crate::{dependency, ptx, workspace};
use anyhow::{Context, bail, ensure};
use cuda_builder::{CudaTools, DeviceCompiler, tools};
use cuda_std::emulator::LAUNCH_LOG;
use kernels::{FAMILIES, FAMILIES_FROM_SM_80};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use warpbeam::Backend;
use xshell::{Shell, cmd};

type Part = (&'static str, fn(&Shell) -> anyhow::Result<()>);

/// The parts of the whole gate.
const PARTS: [Part; 6] = [
    ("format", format),
    ("lints", lints),
    ("docs", docs),
    ("ptx", ptx_is_fresh),
    ("tests", tests),
    ("dependency", |_| dependency::run()),
];

/// What the whole does within `tests`.
const ALONE: [Part; 1] = [("emulator", emulator)];

/// Runs all parts, or one.
pub(crate) fn run(only: Option<&str>) -> anyhow::Result<()> {
    let shell = Shell::new()?;
    shell.change_dir(workspace::root());
    let mut times = Vec::new();
    for (name, part) in chosen(only)? {
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

/// All parts, or the one of that name.
fn chosen(only: Option<&str>) -> anyhow::Result<Vec<Part>> {
    let Some(only) = only else {
        return Ok(PARTS.to_vec());
    };
    let mut parts = PARTS.iter().chain(&ALONE);
    let names = || PARTS.map(|(name, _)| name).join(", ") + ", " + ALONE[0].0;
    let part = parts.find(|(name, _)| *name == only);
    let part = part.with_context(|| format!("there is no part {only:?}; the parts are {}", names()))?;
    Ok(vec![*part])
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
    let log = new_log()?;
    cmd!(shell, "cargo test --workspace --quiet")
        .env(LAUNCH_LOG, &log)
        .run()?;
    every_kernel_was_launched(&log)?;
    match Backend::cuda(0) {
        Ok(gpu) => {
            println!("tests on {}", gpu.name());
            // The same packages: another choice has other features, and everything is compiled again.
            cmd!(shell, "cargo test --workspace --quiet -- --ignored").run()?;
        }
        Err(reason) => println!("the tests that need a GPU were ignored: {reason}"),
    }
    Ok(())
}

fn emulator(shell: &Shell) -> anyhow::Result<()> {
    let log = new_log()?;
    cmd!(shell, "cargo test --quiet --package integration-tests --test emulator")
        .env(LAUNCH_LOG, &log)
        .run()?;
    every_kernel_was_launched(&log)
}

/// Where tests log the launches under the emulator; nothing is there.
fn new_log() -> anyhow::Result<PathBuf> {
    let log = workspace::target().join("emulated-launches.log");
    if log.exists() {
        fs::remove_file(&log)?;
    }
    Ok(log)
}

/// Every kernel runs under the emulator: the tests' own log says which ones did.
fn every_kernel_was_launched(log: &Path) -> anyhow::Result<()> {
    let text = fs::read_to_string(log).context("the emulator's log of launches")?;
    let launches = launches(&text)?;
    let kernels = FAMILIES.iter().chain(FAMILIES_FROM_SM_80).copied().flatten();
    let (launched, missing): (Vec<_>, Vec<_>) = kernels
        .map(|kernel| kernel.name)
        .partition(|name| launches.contains_key(name));
    ensure!(
        missing.is_empty(),
        "kernels without an emulator test: {}",
        missing.join(", ")
    );
    let of_kernels = launched.iter().filter_map(|name| launches.get(name)).flatten();
    println!(
        "emulator: {} kernels, {} launches, {:.1} s",
        launched.len(),
        of_kernels.clone().count(),
        of_kernels.sum::<f64>()
    );
    Ok(())
}

/// The seconds that each launch of a kernel took.
fn launches(log: &str) -> anyhow::Result<BTreeMap<&str, Vec<f64>>> {
    let mut launches: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for line in log.lines() {
        let fields: Vec<_> = line.split('\t').collect();
        let [kernel, _blocks, _threads, seconds] = fields[..] else {
            bail!("the emulator's log has a line that is not kernel, blocks, threads, seconds: {line:?}");
        };
        let seconds = seconds.parse().with_context(|| format!("seconds in {line:?}"))?;
        launches.entry(kernel).or_default().push(seconds);
    }
    Ok(launches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_a_name() {
        let names = |only| chosen(only).map(|parts| parts.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        assert_eq!(names(Some("emulator")).unwrap(), ["emulator"]);
        assert_eq!(names(Some("ptx")).unwrap(), ["ptx"]);
        // The tests of the emulator are among all tests, and are not run again.
        let all = names(None).unwrap();
        assert!(all.contains(&"tests") && !all.contains(&"emulator"), "{all:?}");
        let error = names(Some("nothing")).unwrap_err().to_string();
        assert!(
            error.starts_with("there is no part \"nothing\"; the parts are format, "),
            "{error}"
        );
        assert!(error.ends_with(", dependency, emulator"), "{error}");
    }

    #[test]
    fn launches_are_read() {
        let launches_of = launches("a\t1\t32\t0.5\nb\t2\t64\t1\na\t1\t32\t0.25\n").unwrap();
        assert_eq!(launches_of["a"], [0.5, 0.25]);
        assert_eq!(launches_of["b"], [1.0]);
        assert!(launches("a\t1\t32\n").unwrap_err().to_string().contains("a\\t1\\t32"));
    }
}
