//! What kernels take, as a file for the documents: `benches/results/kernel-resources.json`.

use crate::workspace;
use anyhow::{Context, ensure};
use cuda_builder::{Arch, CudaTools, KernelResources};
use cuda_std::KernelInfo;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// PTX, and what it is compiled for.
const COMPILED: [[Arch; 2]; 4] = [
    [Arch::Sm70, Arch::Sm70],
    [Arch::Sm80, Arch::Sm80],
    [Arch::Sm80, Arch::Sm90a],
    [Arch::Sm90a, Arch::Sm90a],
];

/// What kernels take where PTX is compiled for an architecture.
pub(crate) struct Assembled {
    ptx: Arch,
    pub(crate) compiled_for: Arch,
    pub(crate) kernels: Vec<KernelResources>,
}

/// Compiles PTX for everything that it is used on.
pub(crate) fn assemble(tools: &CudaTools, ptx: Arch, text: &str) -> anyhow::Result<Vec<Assembled>> {
    let used_on = COMPILED.into_iter().filter(|[of, _]| *of == ptx);
    used_on
        .map(|[_, compiled_for]| {
            Ok(Assembled {
                ptx,
                compiled_for,
                kernels: tools.resources(text, compiled_for)?,
            })
        })
        .collect()
}

fn path() -> PathBuf {
    workspace::root().join("benches/results/kernel-resources.json")
}

/// Writes the file.
pub(crate) fn write(text: &str) -> anyhow::Result<()> {
    fs::write(path(), text)?;
    println!(
        "wrote {}; `cargo xtask report` puts it into BENCHMARKS.md",
        path().display()
    );
    Ok(())
}

/// Refuses a file that does not belong to the PTX; another `ptxas` than the file's may give other numbers.
pub(crate) fn check(tools: &CudaTools, text: &str) -> anyhow::Result<()> {
    let found = fs::read_to_string(path()).with_context(|| path().display().to_string())?;
    let stated: Value = serde_json::from_str(&found).with_context(|| path().display().to_string())?;
    if stated["ptxas"] != tools.version() {
        println!(
            "{} was not compared: it belongs to {}, here is {}",
            path().display(),
            stated["ptxas"],
            tools.version()
        );
        return Ok(());
    }
    ensure!(
        found == text,
        "{} does not belong to the PTX; run `cargo xtask ptx`, then `cargo xtask report`",
        path().display()
    );
    println!("{} belongs to the PTX", path().display());
    Ok(())
}

/// The file's text.
pub(crate) fn text<'a>(
    tools: &CudaTools,
    assembled: impl IntoIterator<Item = &'a Assembled>,
    kernels: &[KernelInfo],
) -> anyhow::Result<String> {
    let mut architectures = Vec::new();
    for Assembled {
        ptx,
        compiled_for,
        kernels: resources,
    } in assembled
    {
        let kernel = |used: &KernelResources| {
            let info = kernels.iter().find(|info| info.name == used.name);
            let info = info.with_context(|| format!("{} is no kernel of this project", used.name))?;
            Ok(json!({
                "name": used.name,
                "threads_per_block": info.threads_per_block,
                "registers": used.registers,
                "spill_bytes": used.spill_store_bytes + used.spill_load_bytes,
                "stack_bytes": used.stack_bytes,
                "static_shared_bytes": used.static_shared_bytes,
                "barriers": used.barriers,
            }))
        };
        let of_project = resources.iter().map(kernel).collect::<anyhow::Result<Vec<_>>>()?;
        architectures.push(json!({
            "ptx": ptx.name(),
            "compiled_for": compiled_for.ptxas_name(),
            "kernels": of_project,
        }));
    }
    let content = json!({ "ptxas": tools.version(), "architectures": architectures });
    Ok(serde_json::to_string_pretty(&content)? + "\n")
}
