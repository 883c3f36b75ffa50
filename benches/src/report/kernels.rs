//! What kernels take of a multiprocessor, and how many warps that leaves room for.

use super::table::{self, cells};
use anyhow::Context;
use serde::Deserialize;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The file that `cargo xtask ptx` writes.
#[derive(Deserialize)]
pub(super) struct Kernels {
    ptxas: String,
    architectures: Vec<Architecture>,
}

#[derive(Deserialize)]
struct Architecture {
    /// The PTX's target and what `ptxas` compiled it for.
    ptx: String,
    compiled_for: String,
    kernels: Vec<Kernel>,
}

#[derive(Deserialize)]
struct Kernel {
    name: String,
    threads_per_block: u32,
    registers: u32,
    spill_bytes: u32,
    stack_bytes: u32,
    static_shared_bytes: u32,
    barriers: u32,
}

/// What a multiprocessor has.
struct Multiprocessor {
    device: &'static str,
    warps: u32,
    blocks: u32,
    registers: u32,
    shared_bytes: u32,
}

/// The first device of each architecture. `ptxas` knows nothing older than `sm_75`, which stands for `sm_70`.
fn multiprocessor(compiled_for: &str) -> Option<Multiprocessor> {
    let of = |device, shared_kib: u32| Multiprocessor {
        device,
        warps: 64,
        blocks: 32,
        registers: 65_536,
        shared_bytes: shared_kib * 1024,
    };
    match compiled_for {
        "sm_75" => Some(of("V100", 96)),
        "sm_80" => Some(of("A100", 164)),
        "sm_90a" => Some(of("H200", 228)),
        _ => None,
    }
}

impl Multiprocessor {
    /// Warps that fit at once, in per cent of the most.
    fn occupancy_percent(&self, kernel: &Kernel) -> u32 {
        let warps = kernel.threads_per_block.div_ceil(32);
        // Registers are handed out to warps, 256 at a time.
        let registers = warps * (32 * kernel.registers).next_multiple_of(256);
        let by_registers = self.registers.checked_div(registers).unwrap_or(self.blocks);
        let by_shared = self
            .shared_bytes
            .checked_div(kernel.static_shared_bytes)
            .unwrap_or(self.blocks);
        let blocks = (self.warps / warps).min(by_registers).min(by_shared).min(self.blocks);
        100 * blocks * warps / self.warps
    }
}

impl Kernels {
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        serde_json::from_str(&text).with_context(|| path.display().to_string())
    }

    /// Adds the section: a row a kernel, registers and occupancy for each architecture.
    pub(super) fn write(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "\n## Kernels\n")?;
        writeln!(
            text,
            "What `ptxas` ({}) makes of the committed PTX: registers of a thread, and the warps that fit onto a \
             multiprocessor in per cent of the most. Shared memory is what the code fixes; what a launch adds does not \
             count here. Spills and stack are 0 where they are not named.",
            self.ptxas
        )?;
        let mut head = cells(["kernel", "threads", "barriers", "shared bytes"]);
        for architecture in &self.architectures {
            let device = multiprocessor(&architecture.compiled_for).map_or("", |known| known.device);
            head.push(format!(
                "{} ({} PTX, {device})",
                architecture.compiled_for, architecture.ptx
            ));
        }
        let mut names: Vec<&str> = self
            .architectures
            .iter()
            .flat_map(|known| known.kernels.iter().map(|kernel| kernel.name.as_str()))
            .collect();
        names.sort_unstable();
        names.dedup();
        let row = |name: &&str| {
            let find = |architecture: &'_ Architecture| -> Option<usize> {
                architecture.kernels.iter().position(|kernel| kernel.name == **name)
            };
            let known: Vec<_> = self
                .architectures
                .iter()
                .map(|architecture| find(architecture).map(|index| (architecture, &architecture.kernels[index])))
                .collect();
            let (_, any) = known.iter().flatten().next_back()?;
            let mut row = vec![
                format!("`{name}`"),
                any.threads_per_block.to_string(),
                any.barriers.to_string(),
                any.static_shared_bytes.to_string(),
            ];
            row.extend(
                known
                    .iter()
                    .map(|known| known.map_or_else(|| "–".to_owned(), |(of, kernel)| cell(of, kernel))),
            );
            Some(row)
        };
        let rows: Vec<_> = names.iter().filter_map(row).collect();
        table::write(text, &head, &rows)
    }
}

fn cell(architecture: &Architecture, kernel: &Kernel) -> String {
    let occupancy = multiprocessor(&architecture.compiled_for).map(|known| known.occupancy_percent(kernel));
    let memory = [(kernel.spill_bytes, "spills"), (kernel.stack_bytes, "stack")];
    let memory = memory.into_iter().filter(|(bytes, _)| *bytes > 0);
    let parts = [format!("{} registers", kernel.registers)]
        .into_iter()
        .chain(occupancy.map(|percent| format!("{percent} %")))
        .chain(memory.map(|(bytes, what)| format!("{bytes} bytes of {what}")));
    parts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(threads_per_block: u32, registers: u32, static_shared_bytes: u32) -> Kernel {
        Kernel {
            name: "k".into(),
            threads_per_block,
            registers,
            spill_bytes: 0,
            stack_bytes: 0,
            static_shared_bytes,
            barriers: 0,
        }
    }

    #[test]
    fn occupancy_is_what_the_scarcest_resource_allows() {
        let h200 = multiprocessor("sm_90a").unwrap();
        for (kernel, percent) in [
            (kernel(256, 32, 0), 100),
            (kernel(256, 96, 0), 25),
            (kernel(256, 80, 0), 37),
            (kernel(128, 255, 0), 12),
            (kernel(64, 32, 0), 100),
            (kernel(32, 32, 0), 50),
            (kernel(256, 32, 100 * 1024), 25),
        ] {
            assert_eq!(
                h200.occupancy_percent(&kernel),
                percent,
                "{} registers",
                kernel.registers
            );
        }
    }
}
