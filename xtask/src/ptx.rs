//! `cargo xtask ptx`: the kernels as PTX, and what that PTX may use.
//!
//! Writes `crates/warpbeam/ptx` and `benches/results/kernel-resources.json`; with `--check` it writes nothing.

use crate::{resources, workspace};
use anyhow::{Context, bail, ensure};
use cuda_builder::{
    Arch, CudaBuilder, CudaTools, KernelInstructions, KernelResources, LaunchBounds, instruction_counts,
};
use cuda_std::KernelInfo;
use kernels::{FAMILIES, FAMILIES_FROM_SM_80, FAMILIES_OF_SM_90A};
use std::fs;
use std::path::PathBuf;

/// The architectures that the library carries PTX for.
const ARCHITECTURES: [Arch; 3] = [Arch::Sm70, Arch::Sm80, Arch::Sm90a];

/// Compiles, checks or prints.
pub(crate) fn run(check: bool, sass: Option<&str>) -> anyhow::Result<()> {
    if let Some(kernel) = sass {
        return print_sass(kernel);
    }
    for arch in ARCHITECTURES {
        let path = path(arch);
        if check {
            let freshness = builder(arch).check(&path)?;
            println!("{}: {freshness}", path.display());
            ensure!(
                freshness.is_accepted(),
                "{} is stale; run `cargo xtask ptx`",
                path.display()
            );
        } else {
            let ptx = builder(arch).copy_to(&path).build()?;
            print!("{}", ptx.diagnostics());
            println!("wrote {} ({} bytes)", path.display(), ptx.text().len());
        }
        check_resources(arch)?;
    }
    match CudaTools::find(workspace::target()) {
        Ok(tools) => {
            let ptx = |arch| fs::read_to_string(path(arch)).with_context(|| path(arch).display().to_string());
            let kernels: Vec<_> = ARCHITECTURES.into_iter().flat_map(kernels_of).copied().collect();
            if check {
                resources::check(&tools, ptx, &kernels)
            } else {
                resources::write(&tools, ptx, &kernels)
            }
        }
        Err(missing) => {
            println!("benches/results/kernel-resources.json was left as it is: {missing}");
            Ok(())
        }
    }
}

fn path(arch: Arch) -> PathBuf {
    workspace::root()
        .join("crates/warpbeam/ptx")
        .join(format!("{arch}.ptx"))
}

/// The kernels that PTX for this architecture has.
fn kernels_of(arch: Arch) -> impl Iterator<Item = &'static KernelInfo> {
    let families: [&'static [&[KernelInfo]]; 2] = match arch {
        Arch::Sm70 => [FAMILIES, &[]],
        Arch::Sm90a => [FAMILIES_OF_SM_90A, &[]],
        _ => [FAMILIES, FAMILIES_FROM_SM_80],
    };
    families.into_iter().flatten().copied().flatten()
}

fn builder(arch: Arch) -> CudaBuilder {
    let bounds = kernels_of(arch)
        .map(|kernel| LaunchBounds::new(kernel.name, kernel.threads_per_block, kernel.blocks_per_multiprocessor));
    CudaBuilder::new(workspace::root().join("crates/kernels"))
        .arch(arch)
        .launch_bounds(bounds)
}

/// Holds every kernel against the numbers written beside it.
fn check_resources(arch: Arch) -> anyhow::Result<()> {
    let path = path(arch);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let instructions = instruction_counts(&text)?;
    let resources = match CudaTools::find(workspace::target()) {
        Ok(tools) => tools.resources(&text, arch)?,
        Err(missing) => {
            println!("registers, spills and stack were not checked: {missing}");
            Vec::new()
        }
    };
    let mut faults = Vec::new();
    for kernel in kernels_of(arch) {
        let Some(counted) = instructions.iter().find(|counted| counted.name == kernel.name) else {
            faults.push(format!("{} is not in {}", kernel.name, path.display()));
            continue;
        };
        let used = resources.iter().find(|used| used.name == kernel.name);
        faults.extend(
            exceeded(kernel, counted, used)
                .into_iter()
                .map(|fault| format!("{}: {fault}", kernel.name)),
        );
    }
    if !faults.is_empty() {
        bail!(
            "{} kernels' numbers differ from those beside them ({arch:?}):\n{}",
            faults.len(),
            faults.join("\n")
        );
    }
    println!("{} kernels are within their resources ({arch:?})", instructions.len());
    Ok(())
}

/// What is wrong with a kernel's numbers.
fn exceeded(kernel: &KernelInfo, counted: &KernelInstructions, used: Option<&KernelResources>) -> Vec<String> {
    let mut faults = Vec::new();
    let allowed = kernel.resources;
    let warp_operations = counted.shuffles + counted.votes + counted.matches + counted.reductions;
    for (what, found, stated) in [
        ("barriers", counted.block_barriers, allowed.barriers),
        ("warp operations", warp_operations, allowed.warp_operations),
        (
            "matrix operations",
            counted.matrix_multiplies,
            allowed.matrix_operations,
        ),
    ] {
        if found != stated as usize {
            faults.push(format!("{found} {what} in the PTX, {stated} stated"));
        }
    }
    if let Some(used) = used {
        if used.registers > allowed.registers {
            faults.push(format!("{} registers, {} stated", used.registers, allowed.registers));
        }
        let memory = used.spill_store_bytes + used.spill_load_bytes + used.stack_bytes;
        if memory > 0 {
            faults.push(format!("{memory} bytes of spills and stack"));
        }
    }
    faults
}

fn print_sass(kernel: &str) -> anyhow::Result<()> {
    let is_of = |arch: &Arch| kernels_of(*arch).any(|info| info.name == kernel);
    let arch = ARCHITECTURES.into_iter().rev().find(is_of);
    let arch = arch.with_context(|| format!("there is no kernel {kernel}"))?;
    let text = fs::read_to_string(path(arch))?;
    let sass = CudaTools::find(workspace::target())?.sass(&text, arch)?;
    let header = format!(".text.{kernel}:");
    let start = sass
        .find(&header)
        .with_context(|| format!("there is no kernel {kernel}"))?;
    let body = &sass[start..];
    let end = body.find("\n.L_x_").map_or(body.len(), |_| {
        body[1..].find("\t.section").map_or(body.len(), |at| at + 1)
    });
    println!("{}", &body[..end]);
    Ok(())
}
