//! The simulated demo: a matrix probe looks at three words, and its channel data become volumes.

mod drawing;

use super::phantom::{Scatterer, Word};
use super::reconstruct::reconstruct;
use super::simulate::Scanner;
use super::stages::Stages;
use super::summary;
use ndarray::{Array3, Axis, Ix3};
use num_complex::Complex;
use std::path::Path;
use warpbeam::physical::axis;
use warpbeam::signal::{ColorDoppler, color_doppler, envelope, log_compress};
use warpbeam::{Acquisition, Backend, Grid, Medium, Probe, Reception, Transmit, Wave, Window};

/// Elements of the probe along x and along y.
const ELEMENTS: usize = 32;
/// Voxels along x and along y; odd, so that the planes through the middle hold voxels.
const LATERAL_VOXELS: usize = 49;
/// Voxels along z.
const DEPTH_VOXELS: usize = 65;
/// First and last voxel along x and y, in millimetres.
const LATERAL_MM: [f64; 2] = [-9.0, 9.0];
/// First and last voxel along z.
const DEPTH_MM: [f64; 2] = [13.0, 29.0];
/// The voxel plane across z that holds a word; those across x and y are in the middle.
const FLAT: usize = 55;
/// What is further below the brightest voxel is black.
const DYNAMIC_RANGE_DB: f64 = 30.0;

/// Simulates, reconstructs, draws.
pub(super) fn run(backend: &Backend, folder: &Path) -> anyhow::Result<()> {
    let mut stages = Stages::default();
    let scanner = scanner()?;
    let n_events = (scanner.n_frames * scanner.sources_m.len()) as u64;
    let scatterers = scatterers();
    let data = stages.run("simulate", n_events, |bar| {
        scanner.record(backend, &scatterers, || bar.inc(1))
    })?;

    let lateral_m = axis(1e-3 * LATERAL_MM[0], 1e-3 * LATERAL_MM[1], LATERAL_VOXELS)?;
    let depth_m = axis(1e-3 * DEPTH_MM[0], 1e-3 * DEPTH_MM[1], DEPTH_VOXELS)?;
    let grid = Grid::cartesian(&lateral_m, &lateral_m, &depth_m)?;
    // An f-number below what the volume needs keeps the whole aperture and lets the window follow each voxel.
    let reception = Reception {
        f_number: 0.6,
        window: Window::Hann,
        ..Reception::default()
    };
    let reconstruction = reconstruct(backend, &acquisition(&scanner), &grid, &reception, &data, &mut stages)?;

    let first: Array3<Complex<f32>> = reconstruction
        .images
        .index_axis(Axis(0), 0)
        .to_owned()
        .into_dimensionality::<Ix3>()?;
    let (decibels, doppler_m_s) = stages.run("detect", 1, |_| {
        let doppler = ColorDoppler {
            center_frequency_hz: scanner.center_frequency_hz,
            pulse_repetition_frequency_hz: 1.0 / scanner.frame_interval_s(),
            sound_speed_m_s: scanner.sound_speed_m_s,
        };
        Ok((
            log_compress(&envelope(&first), DYNAMIC_RANGE_DB)?,
            color_doppler(&reconstruction.images, &doppler)?,
        ))
    })?;
    let picture = stages.run("draw", 1, |_| {
        drawing::draw(&decibels, &scanner, backend, &reconstruction)
    })?;
    summary::write(
        folder,
        backend,
        "volumes",
        &reconstruction,
        &doppler_m_s,
        &picture,
        &mut stages,
    )
}

/// A 4 MHz probe with elements a wavelength apart; four diverging waves a frame, 8000 a second.
fn scanner() -> anyhow::Result<Scanner> {
    let pitch_m = 0.4e-3;
    Ok(Scanner {
        probe: Probe::matrix(ELEMENTS, ELEMENTS, pitch_m, pitch_m)?,
        sources_m: vec![
            [-4e-3, -4e-3, -9e-3],
            [4e-3, -4e-3, -9e-3],
            [-4e-3, 4e-3, -9e-3],
            [4e-3, 4e-3, -9e-3],
        ],
        sound_speed_m_s: 1540.0,
        center_frequency_hz: 4e6,
        fractional_bandwidth: 0.5,
        pulse_centre_s: 0.6e-6,
        sampling_frequency_hz: 16e6,
        start_time_s: 15e-6,
        n_samples: 496,
        transmit_interval_s: 1.0 / 8000.0,
        n_frames: 4,
        noise: 0.1,
        seed: 1,
    })
}

/// WB lies flat and comes nearer, WARP stands along x and goes away, BEAM stands along y and rests.
fn scatterers() -> Vec<Scatterer> {
    const X: [f64; 3] = [1.0, 0.0, 0.0];
    const Y: [f64; 3] = [0.0, 1.0, 0.0];
    const Z: [f64; 3] = [0.0, 0.0, 1.0];
    let spacing_mm = (DEPTH_MM[1] - DEPTH_MM[0]) / (DEPTH_VOXELS - 1) as f64;
    let flat_z_m = 1e-3 * (DEPTH_MM[0] + FLAT as f64 * spacing_mm);
    let word = |text, z_m, along, down, pitch_m, towards_m_s: f64| Word {
        text,
        centre_m: [0.0, 0.0, z_m],
        along,
        down,
        pitch_m,
        velocity_m_s: [0.0, 0.0, -towards_m_s],
    };
    [
        word("WB", flat_z_m, X, Y, 1.2e-3, 0.08),
        word("WARP", 16.4e-3, X, Z, 0.68e-3, -0.05),
        word("BEAM", 22.2e-3, Y, Z, 0.68e-3, 0.0),
    ]
    .iter()
    .flat_map(Word::scatterers)
    .collect()
}

/// What the library needs to know of the scanner.
fn acquisition(scanner: &Scanner) -> Acquisition {
    let transmit = |source_m: &[f64; 3]| Transmit {
        start_time_s: scanner.start_time_s,
        ..Transmit::new(Wave::Diverging { source_m: *source_m })
    };
    Acquisition {
        probe: scanner.probe.clone(),
        transmits: scanner.sources_m.iter().map(transmit).collect(),
        medium: Medium {
            sound_speed_m_s: scanner.sound_speed_m_s,
        },
        sampling_frequency_hz: scanner.sampling_frequency_hz,
        demodulation_frequency_hz: Some(scanner.center_frequency_hz),
        pulse_centre_s: scanner.pulse_centre_s,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpbeam::DasPlan;

    #[test]
    fn a_simulated_point_is_found_where_it_is_and_moves_as_it_moves() {
        let scanner = Scanner {
            probe: Probe::matrix(16, 16, 0.4e-3, 0.4e-3).unwrap(),
            n_frames: 2,
            ..scanner().unwrap()
        };
        let x_m = axis(-1.5e-3, 3e-3, 13).unwrap();
        let y_m = axis(-3e-3, 1.5e-3, 13).unwrap();
        let z_m = axis(18e-3, 22e-3, 17).unwrap();
        let (ix, iy, iz) = (9, 4, 10);
        let point = Scatterer {
            position_m: [x_m[ix], y_m[iy], z_m[iz]],
            velocity_m_s: [0.0, 0.0, -0.05],
            amplitude: 1.0,
        };
        let data = scanner.record(&Backend::cpu(), &[point], || ()).unwrap();
        let grid = Grid::cartesian(&x_m, &y_m, &z_m).unwrap();
        let plan = DasPlan::for_acquisition(&Backend::cpu(), &acquisition(&scanner), &grid, &Reception::default());
        let volumes = plan.unwrap().run(data.view()).unwrap();

        let power = volumes
            .index_axis(Axis(0), 0)
            .mapv(|value: Complex<f32>| value.norm_sqr());
        let (peak, _) = power
            .indexed_iter()
            .max_by(|a, b| a.1.total_cmp(b.1))
            .expect("the volume has voxels");
        assert_eq!((peak[0], peak[1], peak[2]), (iz, iy, ix));
        let doppler = ColorDoppler {
            center_frequency_hz: 4e6,
            pulse_repetition_frequency_hz: 2000.0,
            sound_speed_m_s: 1540.0,
        };
        let velocity_m_s = color_doppler(&volumes, &doppler).unwrap()[[iz, iy, ix]];
        // The waves come and go at angles to the axis, so that a little less than the axial velocity is measured.
        println!("{velocity_m_s} m/s of 0.05 m/s");
        assert!((0.9..1.0).contains(&(velocity_m_s / 0.05)));
    }
}
