//! `cargo xtask ptx`: the kernels as PTX, and what that PTX may use.
//!
//! Writes `crates/warpbeam/ptx` and `benches/results/kernel-resources.json`; with `--check` it writes nothing.

use crate::resources::{self, Assembled};
use crate::workspace;
use anyhow::{Context, bail, ensure};
use cuda_builder::{
    Arch, CudaBuilder, CudaTools, KernelInstructions, KernelResources, LaunchBounds, instruction_counts,
};
use cuda_std::KernelInfo;
use kernels::{FAMILIES, FAMILIES_FROM_SM_80, FAMILIES_OF_SM_90A};
use std::fmt::Write;
use std::fs;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread;

/// The architectures that the library carries PTX for.
const ARCHITECTURES: [Arch; 3] = [Arch::Sm70, Arch::Sm80, Arch::Sm90a];

/// Compiles, checks or prints.
pub(crate) fn run(check: bool, sass: Option<&str>) -> anyhow::Result<()> {
    if let Some(kernel) = sass {
        return print_sass(kernel);
    }
    let tools = CudaTools::find(workspace::target());
    if let Err(missing) = &tools {
        println!("registers, spills and stack are not checked: {missing}");
    }
    let tools = tools.ok();
    let assembled = of_all(ARCHITECTURES, |arch| {
        let mut report = String::new();
        let assembled = architecture(arch, check, tools.as_ref(), &mut report);
        // In one piece: others write, too.
        print!("{report}");
        assembled.with_context(|| arch.to_string())
    })?;
    let Some(tools) = tools else {
        println!("benches/results/kernel-resources.json was left as it is");
        return Ok(());
    };
    let kernels: Vec<_> = ARCHITECTURES.into_iter().flat_map(kernels_of).copied().collect();
    let text = resources::text(&tools, assembled.iter().flatten(), &kernels)?;
    if check {
        resources::check(&tools, &text)
    } else {
        resources::write(&text)
    }
}

/// Works on every item side by side, all of them at once: two processors are done with three compilations sooner than with two
/// and then one. The results in the order of the items, or everything that failed.
fn of_all<I: Copy + Send, T: Send, const N: usize>(
    items: [I; N],
    work: impl Fn(I) -> anyhow::Result<T> + Sync,
) -> anyhow::Result<Vec<T>> {
    let work = &work;
    let results = thread::scope(|scope| {
        let threads = items.map(|item| scope.spawn(move || work(item)));
        threads.map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    let mut done = Vec::new();
    let mut errors = Vec::new();
    for result in results {
        match result {
            Ok(value) => done.push(value),
            Err(error) => errors.push(format!("{error:#}")),
        }
    }
    ensure!(errors.is_empty(), "{}", errors.join("\n"));
    Ok(done)
}

/// Compiles or checks one architecture; what is to be told goes to `report`, also where there is an error.
fn architecture(
    arch: Arch,
    check: bool,
    tools: Option<&CudaTools>,
    report: &mut String,
) -> anyhow::Result<Vec<Assembled>> {
    let path = path(arch);
    if check {
        let freshness = builder(arch).check(&path)?;
        writeln!(report, "{}: {freshness}", path.display())?;
        ensure!(
            freshness.is_accepted(),
            "{} is stale; run `cargo xtask ptx`",
            path.display()
        );
    } else {
        let ptx = builder(arch).copy_to(&path).build()?;
        report.push_str(ptx.diagnostics());
        writeln!(report, "wrote {} ({} bytes)", path.display(), ptx.text().len())?;
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let assembled = match tools {
        Some(tools) => resources::assemble(tools, arch, &text)?,
        None => Vec::new(),
    };
    let count = check_resources(arch, &text, &assembled)?;
    writeln!(report, "{count} kernels are within their resources ({arch:?})")?;
    Ok(assembled)
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

/// Holds every kernel of PTX against the numbers written beside it; how many there are.
fn check_resources(arch: Arch, text: &str, assembled: &[Assembled]) -> anyhow::Result<usize> {
    let instructions = instruction_counts(text)?;
    let resources = assembled.iter().find(|assembled| assembled.compiled_for == arch);
    let resources = resources.map_or(&[][..], |assembled| &assembled.kernels);
    let mut faults = Vec::new();
    for kernel in kernels_of(arch) {
        let Some(counted) = instructions.iter().find(|counted| counted.name == kernel.name) else {
            faults.push(format!("{} is not in the PTX", kernel.name));
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
            "{} numbers of kernels differ from those beside them:\n{}",
            faults.len(),
            faults.join("\n")
        );
    }
    Ok(instructions.len())
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    /// Each waits for the others, so that it never ends if they come one after the other.
    #[test]
    fn all_are_worked_on_at_once_and_answer_in_order() {
        let all_are_here = Barrier::new(3);
        let doubled = of_all([1, 2, 3], |item| {
            all_are_here.wait();
            Ok(2 * item)
        });
        assert_eq!(doubled.unwrap(), [2, 4, 6]);
    }

    #[test]
    fn every_error_is_told() {
        let error = of_all(["sm_70", "sm_80", "sm_90a"], |arch| match arch {
            "sm_80" => Ok(()),
            arch => Err(anyhow::anyhow!("41 registers, 40 stated").context(arch)),
        });
        assert_eq!(
            error.unwrap_err().to_string(),
            "sm_70: 41 registers, 40 stated\nsm_90a: 41 registers, 40 stated"
        );
    }
}
