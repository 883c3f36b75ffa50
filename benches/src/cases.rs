//! The standard cases of delay-and-sum: probes, grids and data of fixed sizes.

use anyhow::Context;
use ndarray::{Array2, Array3, ArrayD, Axis};
use std::f64::consts::TAU;
use warpbeam::{DasGeometry, DasOptions};

const SOUND_SPEED_M_S: f64 = 1540.0;

/// A case: a probe, a grid and the size of the data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Elements along x and y.
    elements: [usize; 2],
    pitch_m: f64,
    /// Voxels along x, y and z.
    grid: [usize; 3],
    /// Distances between voxels along x, y and z.
    spacing_m: [f64; 3],
    first_depth_m: f64,
    pub(crate) n_batch: usize,
    pub(crate) n_transmits: usize,
    pub(crate) n_samples: usize,
    largest_angle_rad: f64,
    sampling_frequency_hz: f64,
    /// Frequency that IQ data were demodulated with; `None` for RF.
    demodulation_frequency_hz: Option<f64>,
}

const MATRIX: Case = Case {
    name: "vol",
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

const CASES: [Case; 8] = [
    Case {
        name: "ex64",
        pitch_m: 0.5e-3,
        spacing_m: [0.25e-3; 3],
        first_depth_m: 10e-3,
        n_batch: 128,
        n_transmits: 1,
        n_samples: 512,
        sampling_frequency_hz: 3.08e6,
        demodulation_frequency_hz: Some(3.08e6),
        ..MATRIX
    },
    MATRIX,
    Case {
        name: "deep",
        first_depth_m: 30e-3,
        n_batch: 128,
        n_transmits: 1,
        n_samples: 512,
        ..MATRIX
    },
    Case {
        name: "big",
        grid: [128, 128, 64],
        n_batch: 128,
        n_transmits: 4,
        ..MATRIX
    },
    Case {
        name: "rf-vol",
        n_transmits: 2,
        n_samples: 1024,
        sampling_frequency_hz: 31.2e6,
        demodulation_frequency_hz: None,
        ..MATRIX
    },
    Case {
        name: "frame",
        n_batch: 1,
        ..MATRIX
    },
    Case {
        name: "picmus",
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
        name: "disk",
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

/// The cases named in a list with commas, or all.
pub(crate) fn named(names: Option<&str>) -> anyhow::Result<Vec<&'static Case>> {
    let Some(names) = names else {
        return Ok(CASES.iter().collect());
    };
    let find = |name: &str| {
        let all: Vec<_> = CASES.iter().map(|case| case.name).collect();
        CASES
            .iter()
            .find(|case| case.name == name)
            .with_context(|| format!("there is no case {name:?}; the cases are {}", all.join(", ")))
    };
    names.split(',').map(find).collect()
}

impl Case {
    pub(crate) fn is_iq(&self) -> bool {
        self.demodulation_frequency_hz.is_some()
    }

    pub(crate) fn n_channels(&self) -> usize {
        self.elements.iter().product()
    }

    pub(crate) fn options(&self) -> DasOptions {
        let demodulation = self.demodulation_frequency_hz.unwrap_or(0.0);
        DasOptions {
            phase_per_sample: TAU * demodulation / self.sampling_frequency_hz,
            ..DasOptions::default()
        }
    }

    /// The geometry, in samples and rounded to single precision, as the peers get it.
    pub(crate) fn geometry(&self) -> DasGeometry {
        let per_metre = self.sampling_frequency_hz / SOUND_SPEED_M_S;
        let centred = |index: usize, count: usize, step: f64| (index as f64 - (count as f64 - 1.0) / 2.0) * step;
        let round = |metres: f64| f64::from((metres * per_metre) as f32);
        let [nx, ny, nz] = self.grid;
        let [ex, ey] = self.elements;
        let element_positions = Array2::from_shape_fn((ex * ey, 3), |(element, axis)| match axis {
            0 => round(centred(element / ey, ex, self.pitch_m)),
            1 => round(centred(element % ey, ey, self.pitch_m)),
            _ => 0.0,
        });
        let metres = |z: usize, y: usize, x: usize| {
            [
                centred(x, nx, self.spacing_m[0]),
                centred(y, ny, self.spacing_m[1]),
                self.first_depth_m + z as f64 * self.spacing_m[2],
            ]
        };
        let voxel_positions = ArrayD::from_shape_fn(vec![nz, ny, nx, 3], |index| {
            round(metres(index[0], index[1], index[2])[index[3]])
        });
        let mut transmit_offsets = ArrayD::zeros(vec![self.n_transmits, nz, ny, nx]);
        for (transmit, mut offsets) in transmit_offsets.axis_iter_mut(Axis(0)).enumerate() {
            let angle = if self.n_transmits > 1 {
                self.largest_angle_rad * (2.0 * transmit as f64 / (self.n_transmits - 1) as f64 - 1.0)
            } else {
                0.0
            };
            let plane = Array3::from_shape_fn((nz, ny, nx), |(z, y, x)| {
                let [x, _, z] = metres(z, y, x);
                round(z * angle.cos() + x * angle.sin())
            });
            offsets.assign(&plane);
        }
        DasGeometry {
            element_positions,
            voxel_positions,
            transmit_weights: ArrayD::ones(transmit_offsets.raw_dim()),
            transmit_offsets,
            ..DasGeometry::default()
        }
    }
}
