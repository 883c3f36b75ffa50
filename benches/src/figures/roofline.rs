//! Figure 2D–E: operations a second against operations a byte, for device memory and for the second-level cache.

use super::counters::sums;
use super::model::{Ceiling, Content, Figure, Panel, Series};
use crate::profile::{KernelProfile, Profile};

/// The rooflines of a case.
pub(super) fn figure(profile: &Profile, case: &str) -> Figure {
    let kernels = sums(profile, case);
    let ceilings = &profile.ceilings;
    let tera = |value: Option<f64>| value.map(|value| value / 1e12);
    let panel = |title: &str, bytes: fn(&KernelProfile) -> Option<f64>, bandwidths: &[(&str, Option<f64>)]| {
        let point = |kernel: &KernelProfile| {
            let flop_per_second = kernel.flop_per_second()?;
            let intensity = flop_per_second * kernel.milliseconds / 1e3 / bytes(kernel)?;
            Some([intensity, flop_per_second / 1e12])
        };
        let series: Vec<_> = kernels
            .iter()
            .enumerate()
            .filter_map(|(colour, kernel)| {
                Some(Series {
                    colour,
                    points: vec![point(kernel)?],
                })
            })
            .collect();
        let flat = [
            (
                "multiply-adds of single precision, peak",
                tera(ceilings.scalar_flop_per_second),
            ),
            ("tensor cores, 16 bits, peak", tera(ceilings.tensor_flop_per_second)),
            (
                "matrix products that read nothing",
                tera(ceilings.matrix_flop_per_second),
            ),
        ];
        let flat = flat
            .into_iter()
            .filter(|(_, height)| height.is_some())
            .map(|(name, height)| Ceiling {
                name: name.to_owned(),
                height,
                slope: None,
            });
        let sloped = bandwidths.iter().filter_map(|(name, bandwidth)| {
            let slope = tera(*bandwidth)?;
            Some(Ceiling {
                name: format!("{name}, {slope:.1} TB/s"),
                height: None,
                slope: Some(slope),
            })
        });
        (!series.is_empty()).then(|| Panel {
            title: title.to_owned(),
            y_label: "10¹² operations a second".to_owned(),
            content: Content::Lines {
                x_label: "operations a byte".to_owned(),
                series,
                ceilings: flat.chain(sloped).collect(),
            },
        })
    };
    let memory = [
        ("device memory, peak", ceilings.dram_bytes_per_second),
        ("moved by a copy", ceilings.copied_bytes_per_second),
    ];
    let panels = [
        panel("Device memory", |kernel| kernel.dram_bytes, &memory),
        panel(
            "Second-level cache",
            |kernel| kernel.l2_bytes,
            &[("second-level cache, peak", ceilings.l2_bytes_per_second)],
        ),
    ];
    Figure {
        title: format!("Rooflines, {case} on {}", profile.machine.device),
        panels: panels.into_iter().flatten().collect(),
        legend: kernels.iter().map(|kernel| kernel.variant.clone()).collect(),
    }
}
