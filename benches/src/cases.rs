//! The cases of delay-and-sum: probes, grids and data of fixed sizes.

use crate::sweeps;
use anyhow::Context;
use std::borrow::Cow;
use std::f64::consts::TAU;
use warpbeam::DasOptions;

/// Speed of sound in all cases.
pub(crate) const SOUND_SPEED_M_S: f64 = 1540.0;

/// Points up to which a case is run on a CPU by default.
const MOST_POINTS_ON_CPU: u64 = 3_000_000_000;

/// A case: a probe, a grid and the size of the data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Case {
    pub(crate) name: Cow<'static, str>,
    /// Elements along x and y.
    pub(crate) elements: [usize; 2],
    pub(crate) pitch_m: f64,
    /// Voxels along x, y and z.
    pub(crate) grid: [usize; 3],
    /// Distances between voxels along x, y and z.
    pub(crate) spacing_m: [f64; 3],
    pub(crate) first_depth_m: f64,
    pub(crate) n_batch: usize,
    pub(crate) n_transmits: usize,
    pub(crate) n_samples: usize,
    pub(crate) largest_angle_rad: f64,
    pub(crate) sampling_frequency_hz: f64,
    /// Frequency that IQ data were demodulated with; `None` for RF.
    pub(crate) demodulation_frequency_hz: Option<f64>,
}

const MATRIX: Case = Case {
    name: Cow::Borrowed("vol"),
    elements: [32, 32],
    pitch_m: 0.3e-3,
    grid: [64, 64, 64],
    spacing_m: [0.1e-3; 3],
    first_depth_m: 5e-3,
    n_batch: 64,
    n_transmits: 8,
    n_samples: 256,
    largest_angle_rad: 0.2,
    sampling_frequency_hz: 7.8e6,
    demodulation_frequency_hz: Some(7.8e6),
};

/// The reference configuration of the scaling sweeps on a GPU.
pub(crate) const EX64: Case = Case {
    name: Cow::Borrowed("ex64"),
    pitch_m: 0.5e-3,
    spacing_m: [0.25e-3; 3],
    first_depth_m: 10e-3,
    n_batch: 128,
    n_transmits: 1,
    n_samples: 512,
    sampling_frequency_hz: 3.08e6,
    demodulation_frequency_hz: Some(3.08e6),
    ..MATRIX
};

/// The same, small enough for a CPU.
pub(crate) const EX16: Case = Case {
    name: Cow::Borrowed("ex16"),
    elements: [16, 16],
    grid: [16, 16, 16],
    n_batch: 16,
    n_samples: 256,
    ..EX64
};

const CASES: [Case; 8] = [
    EX64,
    MATRIX,
    Case {
        name: Cow::Borrowed("deep"),
        first_depth_m: 30e-3,
        n_batch: 128,
        n_transmits: 1,
        n_samples: 512,
        ..MATRIX
    },
    Case {
        name: Cow::Borrowed("big"),
        grid: [128, 128, 64],
        n_batch: 128,
        n_transmits: 4,
        ..MATRIX
    },
    Case {
        name: Cow::Borrowed("rf-vol"),
        n_transmits: 2,
        n_samples: 1024,
        sampling_frequency_hz: 31.2e6,
        demodulation_frequency_hz: None,
        ..MATRIX
    },
    Case {
        name: Cow::Borrowed("frame"),
        n_batch: 1,
        ..MATRIX
    },
    Case {
        name: Cow::Borrowed("picmus"),
        elements: [128, 1],
        grid: [387, 1, 609],
        spacing_m: [38e-3 / 386.0, 0.0, 45e-3 / 608.0],
        n_batch: 1,
        n_transmits: 75,
        n_samples: 3328,
        largest_angle_rad: 0.28,
        sampling_frequency_hz: 20.832e6,
        demodulation_frequency_hz: None,
        ..MATRIX
    },
    Case {
        name: Cow::Borrowed("disk"),
        elements: [128, 1],
        grid: [251, 1, 251],
        spacing_m: [25e-3 / 250.0, 0.0, 25e-3 / 250.0],
        first_depth_m: 10e-3,
        n_batch: 32,
        n_transmits: 1,
        n_samples: 1024,
        sampling_frequency_hz: 20e6,
        demodulation_frequency_hz: Some(5e6),
        ..MATRIX
    },
];

/// The standard cases, in the order of the documents.
pub(crate) fn standard() -> Vec<Case> {
    CASES.to_vec()
}

/// The standard cases and the small one for CPUs, which the documents have first.
pub(crate) fn small_and_standard() -> Vec<Case> {
    [EX16].into_iter().chain(CASES).collect()
}

/// The cases that a CPU does in seconds.
pub(crate) fn small() -> Vec<Case> {
    let fits = |case: &&Case| case.points() <= MOST_POINTS_ON_CPU;
    small_and_standard().iter().filter(fits).cloned().collect()
}

/// The cases named in a list with commas: standard ones, points of the sweeps, or a sweep as a whole.
pub(crate) fn named(names: &str) -> anyhow::Result<Vec<Case>> {
    let all: Vec<Case> = small_and_standard().into_iter().chain(sweeps::all()).collect();
    let mut chosen = Vec::new();
    for name in names.split(',') {
        let before = chosen.len();
        let belongs = |case: &&Case| case.name == name || sweeps::sweep_of(&case.name) == Some(name);
        chosen.extend(all.iter().filter(belongs).cloned());
        if chosen.len() == before {
            let names: Vec<_> = all.iter().map(|case| case.name.as_ref()).collect();
            return None.with_context(|| format!("there is no case {name:?}; the cases are {}", names.join(", ")));
        }
    }
    Ok(chosen)
}

impl Case {
    pub(crate) fn is_iq(&self) -> bool {
        self.demodulation_frequency_hz.is_some()
    }

    pub(crate) fn n_channels(&self) -> usize {
        self.elements.iter().product()
    }

    pub(crate) fn n_voxels(&self) -> usize {
        self.grid.iter().product()
    }

    /// Voxels × channels × transmits × batch.
    pub(crate) fn points(&self) -> u64 {
        [self.n_voxels(), self.n_channels(), self.n_transmits, self.n_batch]
            .iter()
            .map(|count| *count as u64)
            .product()
    }

    /// The plane waves' angles to z, evenly spread.
    pub(crate) fn angles_rad(&self) -> Vec<f64> {
        let last = self.n_transmits - 1;
        let angle = |transmit: usize| match last {
            0 => 0.0,
            _ => self.largest_angle_rad * (2.0 * transmit as f64 / last as f64 - 1.0),
        };
        (0..=last).map(angle).collect()
    }

    /// Phase that the carrier turns in a sample.
    pub(crate) fn phase_per_sample(&self) -> f64 {
        TAU * self.demodulation_frequency_hz.unwrap_or(0.0) / self.sampling_frequency_hz
    }

    pub(crate) fn options(&self) -> DasOptions {
        DasOptions {
            phase_per_sample: self.phase_per_sample(),
            ..DasOptions::default()
        }
    }

    /// Most relative error that single precision explains: delays of up to the last sample, rounded, turn into
    /// interpolation weights and into phase.
    pub(crate) fn single_precision_bound(&self) -> f64 {
        let rounding = f64::from(f32::EPSILON) / 2.0;
        1e-5 + rounding * self.n_samples as f64 * (self.phase_per_sample() + 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_found_by_name() {
        let found = named("disk,vol").unwrap();
        assert_eq!(found.iter().map(|case| &case.name).collect::<Vec<_>>(), ["disk", "vol"]);
        let error = named("disk,cube").unwrap_err().to_string();
        assert!(error.contains("\"cube\"") && error.contains("picmus"), "{error}");
        let sweep = named("ex64/batch").unwrap();
        assert!(sweep.len() > 4 && sweep.iter().all(|case| case.name.starts_with("ex64/batch=")));
    }

    #[test]
    fn a_cpu_gets_what_it_can_do() {
        let names: Vec<_> = small().into_iter().map(|case| case.name).collect();
        assert_eq!(names, ["ex16", "frame", "picmus", "disk"]);
    }
}
