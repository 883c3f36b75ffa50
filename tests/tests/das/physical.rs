//! From metres, seconds and hertz to the voxel where the echo came from.

mod apertures;
mod invariance;
mod point_targets;

use integration_tests::sample::TestSample;
use integration_tests::simulate::{Mixing, Recording};
use ndarray::{Array4, ArrayD, Axis};
use num_complex::{Complex32, Complex64};
use warpbeam::{Acquisition, Backend, DasPlan, Grid, Medium, Probe, Reception, Transmit, Wave};

const SOUND_SPEED: f64 = 1540.0;
const CARRIER: f64 = 5e6;

/// 128 elements at 0.3 mm, 1540 m/s, 40 MHz, a pulse of 2.5 cycles at 5 MHz.
fn linear_array() -> (Acquisition, Recording) {
    let probe = Probe::linear(128, 0.3e-3).unwrap();
    let recording = Recording {
        elements_m: (0..128).map(|m| [(f64::from(m) - 63.5) * 0.3e-3, 0.0, 0.0]).collect(),
        sound_speed_m_s: SOUND_SPEED,
        sampling_frequency_hz: 40e6,
        carrier_hz: CARRIER,
        pulse_centre_s: 0.0,
        pulse_width_s: 0.2e-6,
        samples: 2048,
    };
    (
        acquisition(probe, &recording, Vec::new(), Mixing::Demodulated),
        recording,
    )
}

fn acquisition(probe: Probe, recording: &Recording, transmits: Vec<Transmit>, mixing: Mixing) -> Acquisition {
    Acquisition {
        probe,
        transmits,
        medium: Medium {
            sound_speed_m_s: recording.sound_speed_m_s,
        },
        sampling_frequency_hz: recording.sampling_frequency_hz,
        demodulation_frequency_hz: (mixing == Mixing::Demodulated).then_some(recording.carrier_hz),
        pulse_centre_s: recording.pulse_centre_s,
    }
}

/// The image of one frame.
fn reconstruct(
    backend: &Backend,
    acquisition: &Acquisition,
    grid: &Grid,
    reception: &Reception,
    data: &Array4<Complex64>,
) -> ArrayD<Complex32> {
    let data = data.mapv(<Complex32 as TestSample>::nearest);
    let plan = DasPlan::<Complex32>::for_acquisition(backend, acquisition, grid, reception).unwrap();
    plan.run(data.index_axis(Axis(0), 0)).unwrap()
}

/// Index of the brightest voxel.
fn peak(image: &ArrayD<Complex32>) -> Vec<usize> {
    let brightest = image
        .indexed_iter()
        .max_by(|(_, a), (_, b)| a.norm().total_cmp(&b.norm()));
    ndarray::Dimension::slice(&brightest.unwrap().0).to_vec()
}

fn straight_down() -> Wave {
    Wave::Plane {
        azimuth_rad: 0.0,
        elevation_rad: 0.0,
    }
}
