//! `bench profile`: hardware counters of our kernels, reduced to what the figures show.
//!
//! Runs Nsight Compute on `bench once`, a variant at a time, and keeps the counters in `<device>-profile.json`. Where
//! there is no profiler it says so; `cargo xtask profile` then runs the emulator's own counters.

mod csv;
mod metrics;
mod ncu;
mod reduce;

pub(crate) use reduce::{Ceilings, KernelProfile};

use crate::machine::{COMMIT, Machine};
use crate::measure::{Job, Limits, Outcome};
use crate::{cases, flags, results, results_folder, storage};
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use warpbeam::{Backend, DeviceRates};

/// The exit code that says that there is no profiler.
pub(crate) const NO_PROFILER: i32 = 3;

/// The cases that are profiled unless others are named.
const CASES: &str = "ex64";

/// The counters of one device.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Profile {
    #[serde(flatten)]
    pub(crate) machine: Machine,
    pub(crate) ceilings: Ceilings,
    /// Counters that this device or this profiler does not have.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) unavailable: Vec<String>,
    pub(crate) kernels: Vec<KernelProfile>,
}

/// Profiles what the flags ask for.
pub(crate) fn run(flags: &flags::Profile) -> anyhow::Result<()> {
    let Some(ncu) = ncu::find() else {
        println!("there is no Nsight Compute here (`ncu` on PATH or in /usr/local/cuda/bin): no hardware counters");
        std::process::exit(NO_PROFILER);
    };
    let backend = Backend::cuda(0)?;
    let machine = Machine::of(&backend);
    let path = path(&results_folder(flags.output.as_ref()), &machine);
    let mut profile = open(&path, machine)?;
    if let Some(rates) = DeviceRates::measure(&backend)? {
        profile.ceilings.copied_bytes_per_second = Some(rates.copied_bytes_per_second);
        profile.ceilings.matrix_flop_per_second = rates.matrix_operations_per_second;
        profile.ceilings.group_matrix_flop_per_second = rates.group_matrix_operations_per_second;
    }
    let chosen = cases::named(flags.case.as_deref().unwrap_or(CASES))?;
    let algorithms = storage::algorithms(flags.algorithm.as_deref(), true)?;
    let mut storages = storage::storages(flags.storage.as_deref())?;
    storages.retain(|storage| storage.is_swept || flags.storage.is_some());
    let mut metrics = metrics::all();
    for case in &chosen {
        for storage in &storages {
            for choice in &algorithms {
                let variant = format!("{}-{}", choice.name, storage.name);
                let arguments = [
                    "once",
                    "--case",
                    &case.name,
                    "--algorithm",
                    choice.name,
                    "--storage",
                    storage.name,
                ];
                let text = ncu::counters(&ncu, &arguments, &mut metrics, &mut profile.unavailable)?;
                let launches = csv::launches(&text).with_context(|| format!("{} {variant}", case.name))?;
                if launches.is_empty() {
                    println!("{} {variant}: no kernel ran", case.name);
                    continue;
                }
                profile.ceilings.raise(&launches);
                let kernels = reduce::kernels(&case.name, &variant, &launches);
                kernels.iter().for_each(print);
                let is_old = |old: &KernelProfile| old.case == case.name && old.variant == variant;
                profile.kernels.retain(|old| !is_old(old));
                profile.kernels.extend(kernels);
                results::write_json(&path, &profile)?;
            }
        }
    }
    println!("{}", path.display());
    Ok(())
}

/// One run of a variant and nothing else: what the profiler watches.
pub(crate) fn once(flags: &flags::Once) -> anyhow::Result<()> {
    let backend = crate::time::backend(flags.backend.as_deref())?;
    let stream = backend.stream()?;
    let algorithms = storage::algorithms(Some(&flags.algorithm), backend.is_cuda())?;
    for case in &cases::named(&flags.case)? {
        let job = Job::new(&backend, &stream, Limits::ONCE, case)?;
        for storage in storage::storages(Some(&flags.storage))? {
            let mut failure = None;
            storage.time(&job, &algorithms, &mut |choice, outcome| match outcome {
                Outcome::Measured(_) => println!("{} {}-{} ran once", case.name, choice.name, storage.name),
                Outcome::DoesNotApply(why) => println!("does not apply: {why}"),
                Outcome::Failed(why) => failure = Some(why),
            })?;
            if let Some(why) = failure {
                bail!(why);
            }
        }
    }
    Ok(())
}

fn path(folder: &Path, machine: &Machine) -> PathBuf {
    folder.join(machine.file_name().replace(".json", "-profile.json"))
}

/// What the file holds already, if it is this machine's.
fn open(path: &Path, machine: Machine) -> anyhow::Result<Profile> {
    if !path.exists() {
        let (ceilings, kernels) = (Ceilings::default(), Vec::new());
        return Ok(Profile {
            machine,
            ceilings,
            unavailable: Vec::new(),
            kernels,
        });
    }
    let profile = read(path)?;
    if !profile.machine.is_same(&machine) {
        bail!(
            "{} holds counters of {}; this is {machine}",
            path.display(),
            profile.machine
        );
    }
    // What another profiler lacked is asked for again.
    Ok(Profile {
        unavailable: Vec::new(),
        ..profile
    })
}

/// Reads a file of counters.
pub(crate) fn read(path: &Path) -> anyhow::Result<Profile> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}

fn print(kernel: &KernelProfile) {
    let number = |value: Option<f64>| value.map_or_else(|| "?".to_owned(), |value| format!("{value:.1}"));
    println!(
        "{} {} {}: {:.3} ms, {} bytes a sector used, {} sectors a request, copied {} and {}, hits L1 {} % L2 {} %, tensor pipe {} % ({COMMIT})",
        kernel.case,
        kernel.variant,
        kernel.kernel,
        kernel.milliseconds,
        number(kernel.bytes_used_per_sector),
        number(kernel.sectors_per_request),
        number(kernel.copied_bytes_used_per_sector),
        number(kernel.copied_sectors_per_request),
        number(kernel.l1_hit_percent),
        number(kernel.l2_hit_percent),
        number(kernel.tensor_pipe_percent),
    );
}
