//! The rotating disk: what a peer computes from a real acquisition.

use integration_tests::compare::assert_within;
use integration_tests::rotating_disk::Disk;
use ndarray::Axis;
use warpbeam::Backend;
use warpbeam::signal::{ColorDoppler, color_doppler};

/// `PyMUST`'s IQ through our sum is `PyMUST`'s image.
fn delay_and_sum(backend: &Backend) {
    let Some(disk) = Disk::find() else { return };
    let image = disk.plan(backend).run(disk.peer_iq()).unwrap().insert_axis(Axis(0));
    let error = disk.distance_from_peer(&image, 0..1);
    assert_within("delay-and-sum of PyMUST's IQ", error, 1e-3);
}

/// From the int16 samples of the file to velocities.
fn whole_chain(backend: &Backend) {
    let Some(disk) = Disk::find() else { return };
    let frames = disk.plan(backend).run(disk.demodulate().view()).unwrap();
    assert_eq!(frames.shape(), [32, 251, 251]);
    assert_within(
        "delay-and-sum of the file's RF, four frames",
        disk.distance_from_peer(&frames, 0..4),
        1e-3,
    );

    let doppler = ColorDoppler {
        center_frequency_hz: disk.recording.center_frequency_hz,
        pulse_repetition_frequency_hz: disk.recording.pulse_repetition_frequency_hz,
        sound_speed_m_s: disk.recording.sound_speed_m_s,
    };
    assert!((doppler.nyquist_velocity_m_s() - 0.74).abs() < 1e-12);
    let velocities = color_doppler(&frames, &doppler).unwrap();
    // The disk has 10 mm radius around (0, 22.9 mm); at its rim the map is half noise.
    let inside: Vec<(f64, f64)> = velocities
        .indexed_iter()
        .filter(|(index, _)| disk.x_m[index[1]].hypot(disk.z_m[index[0]] - 22.9e-3) < 9.5e-3)
        .map(|(index, velocity)| (f64::from(*velocity), f64::from(disk.doppler_m_s[[index[0], index[1]]])))
        .collect();
    assert!(inside.len() > 25_000);
    let correlation = correlation(&inside);
    println!(
        "Doppler map against PyMUST's: correlation {correlation:.5} over {} voxels, 0.98 needed",
        inside.len()
    );
    assert!(correlation > 0.98);
}

fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let n = pairs.len() as f64;
    let mean = pairs
        .iter()
        .fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0 / n, sum.1 + pair.1 / n));
    let (mut aa, mut ab, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in pairs {
        let (a, b) = (a - mean.0, b - mean.1);
        aa += a * a;
        ab += a * b;
        bb += b * b;
    }
    ab / (aa * bb).sqrt()
}

integration_tests::on_every_backend! {
    delay_and_sum: super::delay_and_sum;
    whole_chain: super::whole_chain;
}
