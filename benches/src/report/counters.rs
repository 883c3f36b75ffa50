//! A device's hardware counters.

use super::table::{self, cells, number};
use crate::profile::{KernelProfile, Profile};
use std::fmt::Write;

/// Adds the section.
pub(super) fn write(text: &mut String, profile: &Profile) -> std::fmt::Result {
    writeln!(text, "\n### Hardware counters (Nsight Compute, clocks not locked)")?;
    let head = cells([
        "case, variant, kernel",
        "ms",
        "bytes used of a 32-byte sector",
        "sectors a request",
        "the same of copies to shared memory",
        "device memory GB",
        "L2 GB",
        "L1 hits %",
        "L2 hits %",
        "issue slots %",
        "warps %",
        "tensor pipe %",
        "10¹² operations/s",
        "longest stalls",
        "commit",
    ]);
    let giga = |value: Option<f64>| number(value.map(|value| value / 1e9));
    let row = |kernel: &KernelProfile| {
        vec![
            format!("{} {} `{}`", kernel.case, kernel.variant, kernel.kernel),
            number(Some(kernel.milliseconds)),
            number(kernel.bytes_used_per_sector),
            number(kernel.sectors_per_request),
            copies(kernel),
            giga(kernel.dram_bytes),
            giga(kernel.l2_bytes),
            number(kernel.l1_hit_percent),
            number(kernel.l2_hit_percent),
            number(kernel.issue_slots_percent),
            number(kernel.warps_percent),
            number(kernel.tensor_pipe_percent),
            number(kernel.flop_per_second().map(|rate| rate / 1e12)),
            longest_stalls(kernel),
            kernel.commit.clone(),
        ]
    };
    let rows: Vec<_> = profile.kernels.iter().map(row).collect();
    table::write(text, &head, &rows)?;
    let ceilings = &profile.ceilings;
    let tera =
        |value: Option<f64>| value.map_or_else(|| "not known".to_owned(), |value| format!("{:.2}·10¹²", value / 1e12));
    writeln!(
        text,
        "\nCeilings, from the profiler's peak of each unit and the clock during the runs: device memory {} bytes/s, \
         second-level cache {} bytes/s, multiply-adds of single precision {} operations/s, tensor cores with 16-bit \
         operands {} operations/s. Measured: a copy moves {} bytes/s of device memory, the permutation to \
         batch-inner order {} bytes/s; a kernel of nothing but `mma.sync` does {} operations/s, one of nothing but `wgmma` {}.",
        tera(ceilings.dram_bytes_per_second),
        tera(ceilings.l2_bytes_per_second),
        tera(ceilings.scalar_flop_per_second),
        tera(ceilings.tensor_flop_per_second),
        tera(ceilings.copied_bytes_per_second),
        tera(ceilings.permutation_bytes_per_second),
        tera(ceilings.matrix_flop_per_second),
        tera(ceilings.group_matrix_flop_per_second),
    )?;
    if !profile.unavailable.is_empty() {
        writeln!(
            text,
            "\nCounters that this device or profiler does not have: `{}`.",
            profile.unavailable.join("`, `")
        )?;
    }
    Ok(())
}

/// Bytes used of a sector and sectors a request of asynchronous copies; nothing where there are none.
fn copies(kernel: &KernelProfile) -> String {
    match (kernel.copied_bytes_used_per_sector, kernel.copied_sectors_per_request) {
        (Some(bytes), Some(sectors)) => format!("{}, {}", number(Some(bytes)), number(Some(sectors))),
        _ => String::new(),
    }
}

/// The three reasons with the largest shares, `selected` (issuing) aside.
fn longest_stalls(kernel: &KernelProfile) -> String {
    let mut stalls: Vec<_> = kernel
        .stalls
        .iter()
        .filter(|(reason, _)| *reason != "selected")
        .collect();
    stalls.sort_by(|a, b| b.1.total_cmp(a.1));
    let named = stalls
        .iter()
        .take(3)
        .map(|(reason, share)| format!("{} {:.0} %", reason.replace('_', " "), 100.0 * **share));
    named.collect::<Vec<_>>().join(", ")
}
