//! The demo on a recording: a rotating disk under a linear probe, as B-mode and as colour Doppler.

use super::picture::colour::{Colour, QUIET, TEXT, flow, grey};
use super::picture::{Bar, Canvas, Panel, Place, Slice};
use super::reconstruct::{Reconstruction, reconstruct};
use super::stages::Stages;
use super::summary;
use anyhow::ensure;
use ndarray::{Array2, Array3, Axis, Ix3};
use num_complex::Complex;
use std::path::Path;
use warpbeam::io::must::{MustAcquisition, read_plane_wave};
use warpbeam::physical::axis;
use warpbeam::signal::{ColorDoppler, Demodulation, color_doppler, demodulate, envelope, log_compress};
use warpbeam::{Acquisition, Backend, Grid, Medium, Probe, Reception, Transmit, Wave};

/// First and last column of the image in millimetres, and how many there are.
const X_MM: [f64; 2] = [-12.5, 12.5];
/// First and last row.
const Z_MM: [f64; 2] = [10.0, 35.0];
/// Rows and columns, a tenth of a millimetre apart.
const PIXELS: usize = 251;
/// What is further below the brightest pixel is black.
const DYNAMIC_RANGE_DB: f64 = 40.0;
/// Velocities are shown where the mean power is not further below the greatest.
const FLOW_RANGE_DB: f64 = 22.0;

const ACCENT: Colour = [45, 212, 191];

/// Reads, reconstructs, draws.
pub(super) fn run(backend: &Backend, file: &Path, folder: &Path) -> anyhow::Result<()> {
    let mut stages = Stages::default();
    let recording = stages.run("read", 1, |_| Ok(read_plane_wave(file)?))?;
    let acquisition = acquisition(&recording)?;
    let demodulation = Demodulation {
        sampling_frequency_hz: recording.sampling_frequency_hz,
        center_frequency_hz: recording.center_frequency_hz,
        start_time_s: recording.start_time_s,
        // Without a word on the pulse, all that fits below half the carrier and half the sampling.
        bandwidth_hz: recording
            .bandwidth_hz
            .unwrap_or_else(|| recording.center_frequency_hz.min(0.5 * recording.sampling_frequency_hz)),
    };
    let iq = stages.run("demodulate", 1, |_| {
        Ok(demodulate(&recording.channel_data, &demodulation)?)
    })?;

    let x_m = axis(1e-3 * X_MM[0], 1e-3 * X_MM[1], PIXELS)?;
    let z_m = axis(1e-3 * Z_MM[0], 1e-3 * Z_MM[1], PIXELS)?;
    let reception = Reception {
        f_number: 1.0,
        ..Reception::default()
    };
    let grid = Grid::plane(&x_m, &z_m)?;
    let reconstruction = reconstruct(backend, &acquisition, &grid, &reception, &iq, &mut stages)?;

    let doppler = ColorDoppler {
        center_frequency_hz: recording.center_frequency_hz,
        pulse_repetition_frequency_hz: recording.pulse_repetition_frequency_hz,
        sound_speed_m_s: recording.sound_speed_m_s,
    };
    let frames: Array3<Complex<f32>> = reconstruction.images.clone().into_dimensionality::<Ix3>()?;
    let image = stages.run("detect", 1, |_| {
        let first = frames.index_axis(Axis(0), 0);
        let power = frames
            .map(Complex::norm_sqr)
            .mean_axis(Axis(0))
            .unwrap_or_else(|| first.map(Complex::norm_sqr));
        Ok(Image {
            decibels: log_compress(&envelope(&first), DYNAMIC_RANGE_DB)?,
            mean_decibels: log_compress(&power.sqrt(), DYNAMIC_RANGE_DB)?,
            velocity_m_s: color_doppler(&frames, &doppler)?,
            nyquist_m_s: doppler.nyquist_velocity_m_s(),
        })
    })?;
    let picture = stages.run("draw", 1, |_| picture(&image, &recording, backend, &reconstruction))?;
    summary::write(
        folder,
        backend,
        "frames",
        &reconstruction,
        &image.velocity_m_s,
        &picture,
        &mut stages,
    )
}

/// What is shown.
struct Image {
    /// The first frame.
    decibels: Array2<f32>,
    /// The mean power of all frames.
    mean_decibels: Array2<f32>,
    velocity_m_s: Array2<f32>,
    nyquist_m_s: f64,
}

/// What the library needs to know of the recording.
fn acquisition(recording: &MustAcquisition) -> anyhow::Result<Acquisition> {
    if let Some(delays) = &recording.transmit_delays_s {
        ensure!(
            delays.iter().all(|delay_s| (delay_s - delays[0]).abs() < 1e-9),
            "the elements transmit at different times; the demo reconstructs plane waves that go straight ahead"
        );
    }
    let straight_ahead = Wave::Plane {
        azimuth_rad: 0.0,
        elevation_rad: 0.0,
    };
    Ok(Acquisition {
        probe: Probe::linear(recording.n_elements, recording.pitch_m)?,
        transmits: vec![Transmit {
            start_time_s: recording.start_time_s,
            ..Transmit::new(straight_ahead)
        }],
        medium: Medium {
            sound_speed_m_s: recording.sound_speed_m_s,
        },
        sampling_frequency_hz: recording.sampling_frequency_hz,
        demodulation_frequency_hz: Some(recording.center_frequency_hz),
        pulse_centre_s: 0.0,
    })
}

/// B-mode and colour Doppler side by side, each with its colour bar, and how they came about.
fn picture(
    image: &Image,
    recording: &MustAcquisition,
    backend: &Backend,
    reconstruction: &Reconstruction,
) -> anyhow::Result<Canvas> {
    const PIXELS_PER_MM: f64 = 22.0;
    const LEFT: [i32; 2] = [96, 850];
    const TOP: i32 = 172;
    let mut canvas = Canvas::new(1570, 860)?;
    canvas.text("Rotating disk", [LEFT[0], 58], Place::RightOf, 40.0, TEXT);
    let n_frames = reconstruction.images.shape()[0];
    let subtitle = format!(
        "linear probe of {} elements at z = 0, {} MHz, {n_frames} plane waves at {} kHz, {PIXELS} \u{d7} {PIXELS} pixels",
        recording.n_elements,
        recording.center_frequency_hz / 1e6,
        recording.pulse_repetition_frequency_hz / 1e3,
    );
    canvas.text(&subtitle, [LEFT[0], 98], Place::RightOf, 22.0, QUIET);

    let panel = |title, left| Panel {
        title,
        accent: ACCENT,
        horizontal_name: "x (mm)",
        horizontal_mm: X_MM,
        vertical_name: "depth z (mm)",
        vertical_mm: Z_MM,
        corner: [left, TOP],
        pixels_per_mm: PIXELS_PER_MM,
    };
    let brightness = |decibels: &Array2<f32>| {
        let values = decibels.mapv(|value| 1.0 + f64::from(value) / DYNAMIC_RANGE_DB);
        Slice::new(&values, X_MM, Z_MM)
    };
    let (first, mean) = (brightness(&image.decibels), brightness(&image.mean_decibels));
    let b_mode = panel("B-mode, first frame", LEFT[0]);
    b_mode.draw(&mut canvas, |x, z| grey(first.smooth(x, z)), &[]);
    let [width, height] = b_mode.size();
    let bar = |name, values, left| Bar {
        name,
        values,
        corner: [left + width + 22, TOP],
        height,
    };
    bar("dB below the maximum", [-DYNAMIC_RANGE_DB, 0.0], LEFT[0])
        .draw(&mut canvas, |value| grey(1.0 + value / DYNAMIC_RANGE_DB));

    let velocity = Slice::new(&image.velocity_m_s.mapv(f64::from), X_MM, Z_MM);
    let of_nyquist = |velocity_m_s: f64| flow(velocity_m_s / image.nyquist_m_s);
    let threshold = 1.0 - FLOW_RANGE_DB / DYNAMIC_RANGE_DB;
    panel("Colour Doppler, all frames", LEFT[1]).draw(
        &mut canvas,
        |x, z| match mean.smooth(x, z) {
            power if power >= threshold => of_nyquist(velocity.nearest(x, z)),
            power => grey(power),
        },
        &[],
    );
    bar(
        "velocity towards the probe (m/s)",
        [-image.nyquist_m_s, image.nyquist_m_s],
        LEFT[1],
    )
    .draw(&mut canvas, of_nyquist);
    canvas.text(
        &reconstruction.speed(backend, "frames"),
        [LEFT[0], TOP + height + 92],
        Place::RightOf,
        19.0,
        QUIET,
    );
    Ok(canvas)
}
