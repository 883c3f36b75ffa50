//! Velocities of simulated and recorded motion, and what is refused.

use std::path::Path;

use ndarray::{Array1, Array2, Array3, Array4, arr1};
use ndarray_npy::NpzReader;

use super::*;
use crate::signal::{Demodulation, demodulate};

const DOPPLER: ColorDoppler = ColorDoppler {
    center_frequency_hz: 5e6,
    pulse_repetition_frequency_hz: 10e3,
    sound_speed_m_s: 1480.0,
};

#[test]
fn the_nyquist_velocity() {
    assert!((DOPPLER.nyquist_velocity_m_s() - 0.74).abs() < 1e-15);
}

/// An echo that comes nearer, from the RF pulse on: velocity and sign by physics, not by formula.
#[test]
fn an_approaching_target_has_a_positive_velocity() {
    let (fs, c) = (40e6, DOPPLER.sound_speed_m_s);
    for velocity_m_s in [0.3, -0.5, 0.02, 0.0] {
        let rf = Array2::from_shape_fn((16, 800), |(frame, k)| {
            let depth_m = 10e-3 - velocity_m_s * frame as f64 / DOPPLER.pulse_repetition_frequency_hz;
            let t = 5e-6 + k as f64 / fs - 2.0 * depth_m / c;
            (-(t / 0.5e-6).powi(2)).exp() * (2.0 * PI * DOPPLER.center_frequency_hz * t).cos()
        });
        let recording = Demodulation {
            sampling_frequency_hz: fs,
            center_frequency_hz: DOPPLER.center_frequency_hz,
            start_time_s: 5e-6,
            bandwidth_hz: 6e6,
        };
        let velocity = color_doppler(&demodulate(&rf, &recording).unwrap(), &DOPPLER).unwrap();
        // The sample on the pulse.
        let k = ((2.0 * 10e-3 / c - 5e-6) * fs).round() as usize;
        let error = (velocity[k] - velocity_m_s).abs();
        println!("{velocity_m_s} m/s: off by {error:.2e} m/s of 5e-4 allowed");
        assert!(error < 5e-4);
    }
}

#[test]
fn phase_steps_become_velocities_that_wrap() {
    let steps = arr1(&[-3.0, -1.0, 0.0, 0.5, 3.1, 4.0]);
    let iq = Array3::from_shape_fn((7, 6, 2), |(frame, i, j)| {
        // Frames of different strength: the sum weights them, each with the same phase step.
        Complex::from_polar(
            (1 + frame % 3) as f64 * (j + 1) as f64,
            steps[i] * frame as f64 + 0.3 * j as f64,
        )
    });
    let velocity = color_doppler(&iq, &DOPPLER).unwrap();
    assert_eq!(velocity.dim(), (6, 2));
    for ((i, j), velocity) in velocity.indexed_iter() {
        let wrapped = if steps[i] > PI { steps[i] - 2.0 * PI } else { steps[i] };
        assert!((velocity - wrapped / PI * 0.74).abs() < 1e-14, "{i} {j} {velocity}");
    }
    let narrow = iq.mapv(|iq| Complex::new(iq.re as f32, iq.im as f32));
    let velocity_f32 = color_doppler(&narrow, &DOPPLER).unwrap();
    for (narrow, wide) in velocity_f32.iter().zip(&velocity) {
        assert!((f64::from(*narrow) - wide).abs() < 1e-6);
    }
    // A volume, and its axes in another memory order.
    let volume = iq.into_shape_with_order((7, 3, 2, 2)).unwrap();
    let fortran = Array4::from_shape_fn((2, 2, 3, 7), |(l, k, j, i)| volume[[i, j, k, l]]).reversed_axes();
    assert_eq!(
        color_doppler(&fortran, &DOPPLER).unwrap(),
        color_doppler(&volume, &DOPPLER).unwrap()
    );
}

#[test]
fn silence_is_still_and_nan_stays_where_it_is() {
    let mut iq = Array2::<Complex<f32>>::zeros((4, 3));
    iq[[2, 1]].re = f32::NAN;
    let velocity = color_doppler(&iq, &DOPPLER).unwrap();
    assert_eq!((velocity[0].to_bits(), velocity[2].to_bits()), (0, 0));
    assert!(velocity[1].is_nan());
}

#[test]
fn what_is_refused() {
    let one = Array3::<Complex<f32>>::zeros((1, 4, 5));
    assert_eq!(
        color_doppler(&one, &DOPPLER).unwrap_err().to_string(),
        "colour Doppler needs at least 2 frames along the first axis; the array has shape [1, 4, 5]"
    );
    let none = Array1::<Complex<f64>>::zeros(0);
    assert_eq!(
        color_doppler(&none, &DOPPLER).unwrap_err(),
        SignalError::TooFewFrames { got: vec![0] }
    );
    let two = Array2::<Complex<f32>>::zeros((2, 4));
    let message = |doppler| color_doppler(&two, &doppler).unwrap_err().to_string();
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let end = format!("is {bad}; it must be positive and finite");
        assert_eq!(
            message(ColorDoppler {
                center_frequency_hz: bad,
                ..DOPPLER
            }),
            format!("the centre frequency in Hz {end}")
        );
        assert_eq!(
            message(ColorDoppler {
                sound_speed_m_s: bad,
                ..DOPPLER
            }),
            format!("the sound speed in m/s {end}")
        );
        assert_eq!(
            message(ColorDoppler {
                pulse_repetition_frequency_hz: bad,
                ..DOPPLER
            }),
            format!("the pulse repetition frequency in Hz {end}")
        );
    }
}

/// `PyMUST`'s own images of the first four frames against its velocities from all 32: the motion is the same, the
/// estimate noisier.
#[test]
fn the_rotating_disk_turns_the_way_pymust_says() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/pwi_disk_pymust.npz");
    if !data.exists() {
        println!("skipped: {} is not there", data.display());
        return;
    }
    let mut data = NpzReader::new(std::fs::File::open(data).unwrap()).unwrap();
    let images: Array3<Complex<f32>> = data.by_name("das_frames0_3").unwrap();
    let expected: Array2<f32> = data.by_name("doppler_m_s").unwrap();
    let (x, z): (Array1<f32>, Array1<f32>) = (data.by_name("x").unwrap(), data.by_name("z").unwrap());

    // Frames are its last axis.
    let velocity = color_doppler(&images.permuted_axes([2, 0, 1]), &DOPPLER).unwrap();
    let inside: Vec<(f64, f64)> = velocity
        .indexed_iter()
        .filter(|((row, column), _)| x[*column].hypot(z[*row] - 22.5e-3) < 8e-3)
        .map(|((row, column), &velocity)| (f64::from(velocity), f64::from(expected[[row, column]])))
        .collect();
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| inside.iter().map(of).sum::<f64>() / inside.len() as f64;
    let (a, b) = (mean(&|v| v.0), mean(&|v| v.1));
    let covariance = mean(&|v| (v.0 - a) * (v.1 - b));
    let correlation = covariance / (mean(&|v| (v.0 - a).powi(2)) * mean(&|v| (v.1 - b).powi(2))).sqrt();
    println!("correlation {correlation:.4}, more than 0.93 wanted");
    assert!(correlation > 0.93);
}
