//! The scaling sweeps: one quantity of a reference configuration grows, all else stays.

use crate::cases::{Case, EX16, EX64};

/// A quantity that grows.
pub(crate) struct Sweep {
    pub(crate) name: &'static str,
    /// What the axis of a plot says.
    pub(crate) label: &'static str,
    /// What counts: the axis's value for a point of the sweep.
    pub(crate) value: fn(usize) -> usize,
    apply: fn(&Case, usize) -> Case,
    /// Points for `ex64` and for `ex16`.
    points: [&'static [usize]; 2],
}

/// All sweeps.
pub(crate) const SWEEPS: [Sweep; 5] = [
    Sweep {
        name: "batch",
        label: "frames in a batch",
        value: |count| count,
        apply: |case, count| Case {
            n_batch: count,
            ..case.clone()
        },
        points: [&[1, 8, 16, 32, 64, 128, 256], &[1, 4, 16, 64]],
    },
    Sweep {
        name: "voxels",
        label: "voxels (extent grows, spacing stays)",
        value: |side| side * side * side,
        apply: |case, side| Case {
            grid: [side; 3],
            ..case.clone()
        },
        points: [&[16, 32, 48, 64, 96, 128], &[8, 16, 32]],
    },
    Sweep {
        name: "channels",
        label: "channels (pitch stays)",
        value: |side| side * side,
        apply: |case, side| Case {
            elements: [side; 2],
            ..case.clone()
        },
        points: [&[8, 16, 24, 32, 48], &[8, 16, 32]],
    },
    Sweep {
        name: "transmits",
        label: "transmits",
        value: |count| count,
        apply: |case, count| Case {
            n_transmits: count,
            ..case.clone()
        },
        points: [&[1, 2, 4, 8, 16], &[1, 2, 4, 8]],
    },
    // The record's length stays, so that finer sampling spreads a tile's delays over more samples.
    Sweep {
        name: "samples",
        label: "samples a channel (same duration)",
        value: |count| count,
        apply: |case, count| Case {
            n_samples: count,
            sampling_frequency_hz: case.sampling_frequency_hz * count as f64 / case.n_samples as f64,
            ..case.clone()
        },
        points: [&[256, 512, 1024, 2048], &[128, 256, 512, 1024]],
    },
];

/// The reference configurations.
pub(crate) const BASES: [Case; 2] = [EX64, EX16];

/// The cases of a sweep from a reference configuration.
fn cases(base: usize, sweep: &Sweep) -> Vec<Case> {
    let case = |point: &usize| {
        let mut case = (sweep.apply)(&BASES[base], *point);
        case.name = format!("{}/{}={point}", BASES[base].name, sweep.name).into();
        case
    };
    sweep.points[base].iter().map(case).collect()
}

/// The points of all sweeps for a GPU.
pub(crate) fn for_gpu() -> Vec<Case> {
    SWEEPS.iter().flat_map(|sweep| cases(0, sweep)).collect()
}

/// The points of all sweeps for a CPU.
pub(crate) fn for_cpu() -> Vec<Case> {
    SWEEPS.iter().flat_map(|sweep| cases(1, sweep)).collect()
}

/// Every point of every sweep.
pub(crate) fn all() -> Vec<Case> {
    for_gpu().into_iter().chain(for_cpu()).collect()
}

/// `ex64/batch` of a point named `ex64/batch=16`.
pub(crate) fn sweep_of(case: &str) -> Option<&str> {
    case.split_once('=').map(|(sweep, _)| sweep)
}

/// Reference configuration, sweep and value of a point named `ex64/batch=16`.
pub(crate) fn point(case: &str) -> Option<(&str, &'static Sweep, usize)> {
    let (sweep, value) = case.split_once('=')?;
    let (base, name) = sweep.split_once('/')?;
    let sweep = SWEEPS.iter().find(|sweep| sweep.name == name)?;
    Some((base, sweep, value.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_point_is_read_from_its_name() {
        let (base, sweep, value) = point("ex64/voxels=32").unwrap();
        assert_eq!((base, sweep.name, value), ("ex64", "voxels", 32));
        assert_eq!((sweep.value)(value), 32768);
        assert!(point("ex64").is_none() && point("ex64/colour=3").is_none());
    }

    #[test]
    fn names_are_unique_and_each_sweep_passes_through_its_reference() {
        let all = all();
        let names: BTreeSet<_> = all.iter().map(|case| case.name.clone()).collect();
        assert_eq!(names.len(), all.len());
        for (index, base) in BASES.iter().enumerate() {
            for sweep in &SWEEPS {
                let is_base = |case: &Case| {
                    Case {
                        name: base.name.clone(),
                        ..case.clone()
                    } == *base
                };
                assert!(cases(index, sweep).iter().any(is_base), "{} {}", base.name, sweep.name);
            }
        }
    }

    #[test]
    fn finer_sampling_keeps_the_duration() {
        for case in for_gpu().iter().filter(|case| case.name.contains("samples")) {
            let duration = case.n_samples as f64 / case.sampling_frequency_hz;
            assert!((duration / (512.0 / 3.08e6) - 1.0).abs() < 1e-12, "{}", case.name);
        }
    }
}
