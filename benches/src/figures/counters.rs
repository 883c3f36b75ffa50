//! Figures 3 and 4: what the memory system did, and what warps waited for.

use super::model::{Bars, Content, Figure, Panel, Scale};
use crate::profile::{KernelProfile, Profile};
use std::collections::BTreeMap;

/// Reasons that are shown by name; the rest is one.
const REASONS: usize = 9;

/// A place in the legend, and the quantity that belongs to it.
type Quantity = (usize, fn(&KernelProfile) -> Option<f64>);

/// The cases that were profiled, in the file's order.
pub(super) fn cases(profile: &Profile) -> Vec<&str> {
    let mut cases = Vec::new();
    for kernel in &profile.kernels {
        if !cases.contains(&kernel.case.as_str()) {
            cases.push(&kernel.case);
        }
    }
    cases
}

/// Each variant's kernel that takes longest: the sum itself.
pub(super) fn sums<'a>(profile: &'a Profile, case: &str) -> Vec<&'a KernelProfile> {
    let mut longest: Vec<&KernelProfile> = Vec::new();
    for kernel in profile.kernels.iter().filter(|kernel| kernel.case == case) {
        match longest.iter_mut().find(|known| known.variant == kernel.variant) {
            Some(known) if known.milliseconds < kernel.milliseconds => *known = kernel,
            Some(_) => {}
            None => longest.push(kernel),
        }
    }
    longest
}

/// Figure 3: payload, sectors and hit rates.
pub(super) fn memory(profile: &Profile, case: &str) -> Figure {
    let kernels = sums(profile, case);
    let categories: Vec<String> = kernels.iter().map(|kernel| kernel.variant.clone()).collect();
    let panel = |title: &str, y_label: &str, values: &[Quantity]| {
        let series: Vec<Bars> = values
            .iter()
            .map(|(colour, value)| Bars {
                colour: *colour,
                values: kernels.iter().map(|kernel| value(kernel)).collect(),
            })
            .collect();
        Panel {
            title: title.to_owned(),
            y_label: y_label.to_owned(),
            content: Content::Bars {
                categories: categories.clone(),
                series,
                scale: Scale::Linear,
            },
        }
    };
    Figure {
        title: format!("Memory accesses, {case} on {}", profile.machine.device),
        panels: vec![
            panel(
                "Payload (a sector has 32 bytes)",
                "bytes used of a sector",
                &[
                    (0, |k| k.bytes_used_per_sector),
                    (1, |k| k.copied_bytes_used_per_sector),
                ],
            ),
            panel(
                "Width of requests",
                "sectors a request of a warp",
                &[(0, |k| k.sectors_per_request), (1, |k| k.copied_sectors_per_request)],
            ),
            panel(
                "Hit rates",
                "hits / %",
                &[(2, |k| k.l1_hit_percent), (3, |k| k.l2_hit_percent)],
            ),
        ],
        legend: [
            "loads to registers",
            "copies to shared memory",
            "first-level cache",
            "second-level cache",
        ]
        .map(str::to_owned)
        .to_vec(),
    }
}

/// Figure 4: shares of the reasons for which warps did not issue.
pub(super) fn stalls(profile: &Profile, case: &str) -> Figure {
    let kernels = sums(profile, case);
    let mut totals: BTreeMap<&str, f64> = BTreeMap::new();
    for (reason, share) in kernels.iter().flat_map(|kernel| &kernel.stalls) {
        *totals.entry(reason).or_default() += share;
    }
    let mut reasons: Vec<&str> = totals.keys().copied().collect();
    reasons.sort_by(|a, b| totals[b].total_cmp(&totals[a]));
    reasons.truncate(REASONS);
    let share = |kernel: &KernelProfile, reason: &str| kernel.stalls.get(reason).copied();
    let mut series: Vec<Bars> = reasons
        .iter()
        .enumerate()
        .map(|(colour, reason)| Bars {
            colour,
            values: kernels.iter().map(|kernel| share(kernel, reason)).collect(),
        })
        .collect();
    let rest = |kernel: &&KernelProfile| {
        let named: f64 = reasons.iter().filter_map(|reason| share(kernel, reason)).sum();
        Some((1.0 - named).max(0.0))
    };
    series.push(Bars {
        colour: reasons.len(),
        values: kernels.iter().map(rest).collect(),
    });
    let legend = reasons
        .iter()
        .map(|reason| reason.replace('_', " "))
        .chain(["other".to_owned()])
        .collect();
    let panel = Panel {
        title: "What a warp does or waits for".to_owned(),
        y_label: "share of a warp's time".to_owned(),
        content: Content::Shares {
            categories: kernels.iter().map(|kernel| kernel.variant.clone()).collect(),
            series,
        },
    };
    Figure {
        title: format!("Stall reasons, {case} on {}", profile.machine.device),
        panels: vec![panel],
        legend,
    }
}
